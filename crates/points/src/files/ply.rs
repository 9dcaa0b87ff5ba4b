//! Polygon files (`.ply` 1.0: ascii, binary little and big endian), of which the vertices are read:
//! every property that is one number, by its name, at its own type. Lists and other elements are skipped
//! on the way to the vertices, and what stands after them is not looked at.

use super::{AXES, Column, MOST_COLUMNS, Table, whole};
use rung_array::{Array, Number};
use rung_base::{ElementType, Error, Result, memory};
use std::io::{self, Write};
use std::path::Path;

/// A type of the format: its names, its bytes, and the element type that holds it exactly.
struct Scalar {
    names: [&'static str; 2],
    bytes: usize,
    element_type: ElementType,
}

const fn scalar(names: [&'static str; 2], bytes: usize, element_type: ElementType) -> Scalar {
    Scalar { names, bytes, element_type }
}

static SCALARS: [Scalar; 8] = [
    scalar(["char", "int8"], 1, ElementType::I32),
    scalar(["uchar", "uint8"], 1, ElementType::U8),
    scalar(["short", "int16"], 2, ElementType::I32),
    scalar(["ushort", "uint16"], 2, ElementType::I32),
    scalar(["int", "int32"], 4, ElementType::I32),
    scalar(["uint", "uint32"], 4, ElementType::I64),
    scalar(["float", "float32"], 4, ElementType::F32),
    scalar(["double", "float64"], 8, ElementType::F64),
];

impl Scalar {
    fn named(name: &str) -> Option<&'static Scalar> {
        SCALARS.iter().find(|scalar| scalar.names.contains(&name))
    }

    /// The number of these bytes, in little-endian order; signs are the names'.
    fn number(&self, b: [u8; 8]) -> Number {
        match self.names[0] {
            "char" => Number::I64(i64::from(b[0] as i8)),
            "uchar" => Number::I64(i64::from(b[0])),
            "short" => Number::I64(i64::from(i16::from_le_bytes([b[0], b[1]]))),
            "ushort" => Number::I64(i64::from(u16::from_le_bytes([b[0], b[1]]))),
            "int" => Number::I64(i64::from(i32::from_le_bytes([b[0], b[1], b[2], b[3]]))),
            "uint" => Number::I64(i64::from(u32::from_le_bytes([b[0], b[1], b[2], b[3]]))),
            "float" => Number::F32(f32::from_le_bytes([b[0], b[1], b[2], b[3]])),
            _ => Number::F64(f64::from_le_bytes(b)),
        }
    }

    /// The number that a word of an ascii file means, if it is in the type's range.
    fn parsed(&self, word: &str) -> Option<Number> {
        match self.element_type {
            ElementType::F32 => word.parse().ok().map(Number::F32),
            ElementType::F64 => word.parse().ok().map(Number::F64),
            _ => {
                let n: i64 = word.parse().ok()?;
                let bits = 8 * self.bytes as u32;
                let (low, high) = match self.names[0].starts_with('u') {
                    true => (0, (1 << bits) - 1),
                    false => (-(1 << (bits - 1)), (1 << (bits - 1)) - 1),
                };
                (low..=high).contains(&n).then_some(Number::I64(n))
            }
        }
    }
}

struct Property {
    name: String,
    scalar: &'static Scalar,
    /// The type of a list's count, where it is one.
    count: Option<&'static Scalar>,
}

struct ElementHead {
    name: String,
    count: usize,
    properties: Vec<Property>,
}

impl ElementHead {
    /// The least bytes of one, in either form.
    fn least(&self, ascii: bool) -> usize {
        let of = |property: &Property| match ascii {
            // A digit and what separates it.
            true => 2,
            false => property.count.unwrap_or(property.scalar).bytes,
        };
        self.properties.iter().map(of).sum()
    }
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Form {
    Ascii,
    Little,
    Big,
}

/// Where reading stands.
struct Reading<'a> {
    path: &'a Path,
    bytes: &'a [u8],
    at: usize,
    form: Form,
}

pub fn read(path: &Path) -> Result<Table> {
    let bytes = whole(path)?;
    let mut reading = Reading { path, bytes: &bytes, at: 0, form: Form::Ascii };
    let elements = reading.header()?;
    let mut table = None;
    let mut left_out = Vec::new();
    for element in &elements {
        match (&table, &*element.name) {
            (None, "vertex") => table = Some(reading.vertices(element)?),
            (None, _) => {
                reading.elements(element, |_, _| Ok(()))?;
                left_out.push(format!("{} of element {}", element.count, element.name));
            }
            _ if element.count > 0 => {
                left_out.push(format!("{} of element {}", element.count, element.name));
            }
            _ => {}
        }
    }
    let mut table = table.ok_or_else(|| reading.wrong("there is no element vertex"))?;
    table.left_out.append(&mut left_out);
    Ok(table)
}

impl<'a> Reading<'a> {
    fn wrong(&self, reason: impl Into<String>) -> Error {
        Error::in_data_file(self.path, Some(self.at as u64), reason)
    }

    /// The next line of the header, without its end.
    fn line(&mut self) -> Result<&'a str> {
        const LONGEST: usize = 4096;
        let rest = &self.bytes[self.at..];
        let end = rest.iter().take(LONGEST).position(|byte| *byte == b'\n');
        let end = end.ok_or_else(|| self.wrong("the header has no end"))?;
        let line =
            str::from_utf8(&rest[..end]).map_err(|_| self.wrong("a line that is no text"))?;
        self.at += end + 1;
        Ok(line.trim_end())
    }

    fn header(&mut self) -> Result<Vec<ElementHead>> {
        if !matches!(self.bytes, [b'p', b'l', b'y', b'\n' | b'\r', ..]) {
            return Err(self.wrong("expected a ply file: it does not begin with the line ply"));
        }
        self.line()?;
        let mut elements: Vec<ElementHead> = Vec::new();
        let mut is_formed = false;
        loop {
            let begin = self.at;
            let line = self.line()?;
            let words: Vec<&str> = line.split_ascii_whitespace().collect();
            let outcome = match words[..] {
                ["end_header"] if is_formed => return Ok(elements),
                ["end_header"] => Err("no line says the format".to_string()),
                ["comment" | "obj_info", ..] | [] => Ok(()),
                ["format", form, version] => {
                    is_formed = true;
                    self.format(form, version)
                }
                ["element", name, count] => element(name, count).map(|one| elements.push(one)),
                ["property", ref rest @ ..] => match elements.last_mut() {
                    Some(element) => property(element, rest),
                    None => Err("a property before any element".into()),
                },
                _ => Err(format!("a line of the header that means nothing: {line:?}")),
            };
            outcome.map_err(|reason| Error::in_data_file(self.path, Some(begin as u64), reason))?;
        }
    }

    fn format(&mut self, form: &str, version: &str) -> std::result::Result<(), String> {
        self.form = match form {
            "ascii" => Form::Ascii,
            "binary_little_endian" => Form::Little,
            "binary_big_endian" => Form::Big,
            _ => return Err(format!("an unknown format: {form:?}")),
        };
        match version {
            "1.0" => Ok(()),
            _ => Err(format!("expected version 1.0: got {version}")),
        }
    }

    /// The vertices as columns.
    fn vertices(&mut self, element: &ElementHead) -> Result<Table> {
        let numbers = || element.properties.iter().filter(|property| property.count.is_none());
        if !AXES.iter().all(|axis| numbers().any(|property| property.name == *axis)) {
            return Err(self.wrong("the vertices have no properties x, y and z"));
        }
        self.fits(element)?;
        let column = |p: &Property| Filling::new(p.scalar.element_type, element.count);
        let mut fillings = numbers().map(column).collect::<Result<Vec<Filling>>>()?;
        self.elements(element, |at, number| {
            fillings[at].push(number);
            Ok(())
        })?;
        let columns = numbers().zip(fillings).map(|(property, filling)| {
            Ok(Column { name: property.name.clone(), cells: filling.array()? })
        });
        let mut table = Table::new(columns.collect::<Result<_>>()?, self.form == Form::Ascii);
        let lists = element.properties.iter().filter(|property| property.count.is_some());
        table.left_out.extend(lists.map(|list| format!("the lists {} of the vertices", list.name)));
        Ok(table)
    }

    /// An error unless the rest of the file has room for all elements of a kind.
    fn fits(&self, element: &ElementHead) -> Result<()> {
        let ascii = self.form == Form::Ascii;
        let left = (self.bytes.len() - self.at + usize::from(ascii)) as u128;
        let wanted = element.least(ascii) as u128 * element.count as u128;
        if wanted <= left {
            return Ok(());
        }
        let text = format!(
            "{} of element {} take {wanted} bytes or more: the file has {left} left",
            element.count, element.name
        );
        Err(self.wrong(text))
    }

    /// Goes through the elements of a kind; `take` gets every property that is one number, by its
    /// place among these.
    fn elements(
        &mut self,
        element: &ElementHead,
        mut take: impl FnMut(usize, Number) -> Result<()>,
    ) -> Result<()> {
        self.fits(element)?;
        // Elements without properties have no bytes, whatever their count.
        let count = if element.properties.is_empty() { 0 } else { element.count };
        for _ in 0..count {
            let mut at = 0;
            for property in &element.properties {
                match property.count {
                    None => {
                        take(at, self.number(property.scalar)?)?;
                        at += 1;
                    }
                    Some(count) => self.skip_list(count, property.scalar)?,
                }
            }
        }
        Ok(())
    }

    fn skip_list(&mut self, count: &Scalar, item: &'static Scalar) -> Result<()> {
        let begin = self.at;
        let given = self.number(count)?;
        let length = given.to_i64().and_then(|n| usize::try_from(n).ok());
        let length = length.ok_or_else(|| {
            let text = format!("a list of {given} items");
            Error::in_data_file(self.path, Some(begin as u64), text)
        })?;
        if self.form == Form::Ascii {
            return (0..length).try_for_each(|_| self.number(item).map(|_| ()));
        }
        let bytes = length.saturating_mul(item.bytes);
        self.take_bytes(bytes).map(|_| ())
    }

    fn take_bytes(&mut self, count: usize) -> Result<&'a [u8]> {
        match self.bytes[self.at..].get(..count) {
            Some(bytes) => {
                self.at += count;
                Ok(bytes)
            }
            None => Err(self.wrong("the file ends too early")),
        }
    }

    fn number(&mut self, scalar: &Scalar) -> Result<Number> {
        if self.form == Form::Ascii {
            let word = self.word()?;
            return scalar.parsed(word).ok_or_else(|| {
                let text = format!("expected a number of type {}: got {word:?}", scalar.names[0]);
                Error::in_data_file(self.path, Some((self.at - word.len()) as u64), text)
            });
        }
        let bytes = self.take_bytes(scalar.bytes)?;
        let mut ordered = [0; 8];
        ordered[..bytes.len()].copy_from_slice(bytes);
        if self.form == Form::Big {
            ordered[..bytes.len()].reverse();
        }
        Ok(scalar.number(ordered))
    }

    /// The next word of an ascii file.
    fn word(&mut self) -> Result<&'a str> {
        let rest = &self.bytes[self.at..];
        let begin = rest.iter().position(|byte| !byte.is_ascii_whitespace());
        let begin = begin.ok_or_else(|| self.wrong("the file ends too early"))?;
        let length = rest[begin..].iter().position(u8::is_ascii_whitespace);
        let end = length.map_or(rest.len(), |length| begin + length);
        self.at += end;
        str::from_utf8(&rest[begin..end]).map_err(|_| self.wrong("a word that is no text"))
    }
}

fn element(name: &str, count: &str) -> std::result::Result<ElementHead, String> {
    let count =
        count.parse().map_err(|_| format!("the count of element {name} is no size: {count}"))?;
    Ok(ElementHead { name: name.into(), count, properties: Vec::new() })
}

fn property(element: &mut ElementHead, words: &[&str]) -> std::result::Result<(), String> {
    let of = |name: &str| Scalar::named(name).ok_or_else(|| format!("an unknown type: {name:?}"));
    let property = match *words {
        ["list", count, item, name] => {
            let count = Some(of(count)?)
                .filter(|count| !matches!(count.element_type, ElementType::F32 | ElementType::F64));
            let count = Some(count.ok_or("a list whose count is no integer")?);
            Property { name: name.into(), scalar: of(item)?, count }
        }
        [kind, name] => Property { name: name.into(), scalar: of(kind)?, count: None },
        _ => return Err("a property is a type and a name, or list and three of them".into()),
    };
    if element.properties.iter().any(|known| known.name == property.name) {
        return Err(format!("the property {} stands twice", property.name));
    }
    if element.properties.len() == MOST_COLUMNS {
        return Err(format!("more than {MOST_COLUMNS} properties"));
    }
    element.properties.push(property);
    Ok(())
}

/// A column on its way.
enum Filling {
    U8(Vec<u8>),
    I32(Vec<i32>),
    I64(Vec<i64>),
    F32(Vec<f32>),
    F64(Vec<f64>),
}

impl Filling {
    fn new(element_type: ElementType, count: usize) -> Result<Filling> {
        fn room<T>(count: usize) -> Result<Vec<T>> {
            memory::room(count, || format!("{count} vertices"))
        }
        Ok(match element_type {
            ElementType::U8 => Filling::U8(room(count)?),
            ElementType::I32 => Filling::I32(room(count)?),
            ElementType::I64 => Filling::I64(room(count)?),
            ElementType::F32 => Filling::F32(room(count)?),
            _ => Filling::F64(room(count)?),
        })
    }

    fn push(&mut self, number: Number) {
        // The number is of the column's own type, whose range the reader has checked.
        let whole = || number.to_i64().unwrap_or_default();
        match self {
            Filling::U8(all) => all.push(whole() as u8),
            Filling::I32(all) => all.push(whole() as i32),
            Filling::I64(all) => all.push(whole()),
            Filling::F32(all) => all.push(match number {
                Number::F32(x) => x,
                other => other.to_f64() as f32,
            }),
            Filling::F64(all) => all.push(number.to_f64()),
        }
    }

    fn array(self) -> Result<Array> {
        match self {
            Filling::U8(all) => Array::vector(&all),
            Filling::I32(all) => Array::vector(&all),
            Filling::I64(all) => Array::vector(&all),
            Filling::F32(all) => Array::vector(&all),
            Filling::F64(all) => Array::vector(&all),
        }
    }
}

/// Writes the points as vertices: as text where they came as one, else binary and little-endian.
pub fn write(table: &Table, out: &mut dyn Write) -> io::Result<()> {
    let form = if table.is_text { "ascii" } else { "binary_little_endian" };
    writeln!(out, "ply\nformat {form} 1.0\nelement vertex {}", table.rows())?;
    let scalars: Vec<&Scalar> = table.columns.iter().map(|c| written_as(&c.cells)).collect();
    for (column, scalar) in table.columns.iter().zip(&scalars) {
        writeln!(out, "property {} {}", scalar.names[0], column.name.replace(' ', "_"))?;
    }
    writeln!(out, "end_header")?;
    if table.is_text {
        return super::text::write_rows(table, " ", out);
    }
    let mut cells: Vec<_> = table.columns.iter().map(|column| column.cells.numbers()).collect();
    for _ in 0..table.rows() {
        for (cell, scalar) in cells.iter_mut().zip(&scalars) {
            let number = cell.next().unwrap_or(Number::I64(0));
            out.write_all(&scalar.bytes_of(number)[..scalar.bytes])?;
        }
    }
    Ok(())
}

impl Scalar {
    fn bytes_of(&self, number: Number) -> [u8; 8] {
        let mut bytes = [0; 8];
        match self.element_type {
            ElementType::F32 => bytes[..4].copy_from_slice(&(number.to_f64() as f32).to_le_bytes()),
            ElementType::F64 => bytes = number.to_f64().to_le_bytes(),
            // Two's complement: the low bytes are those of the narrower type.
            _ => bytes = number.to_i64().unwrap_or_default().to_le_bytes(),
        }
        bytes
    }
}

/// The type that holds a column: 64-bit integers have none, and become what holds their values.
fn written_as(cells: &Array) -> &'static Scalar {
    let of = |name| Scalar::named(name).unwrap_or(&SCALARS[SCALARS.len() - 1]);
    match cells.element_type() {
        ElementType::F32 | ElementType::BF16 | ElementType::F16 => of("float"),
        ElementType::U8 | ElementType::Bool => of("uchar"),
        ElementType::I32 => of("int"),
        ElementType::I64 => {
            let all = cells.as_slice::<i64>().unwrap_or_default();
            let in_type = |low: i64, high: i64| all.iter().all(|n| (low..=high).contains(n));
            match (in_type(0, u32::MAX.into()), in_type(i32::MIN.into(), i32::MAX.into())) {
                (true, _) => of("uint"),
                (_, true) => of("int"),
                _ => of("double"),
            }
        }
        ElementType::F64 => of("double"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_type_reads_what_it_writes() {
        for scalar in &SCALARS {
            let number = scalar.parsed("100").unwrap();
            assert_eq!(scalar.number(scalar.bytes_of(number)).to_f64(), 100.0);
        }
        let of = |name: &str, word: &str| Scalar::named(name).unwrap().parsed(word).is_some();
        assert!(of("char", "-128") && !of("char", "128") && !of("uchar", "-1"));
        assert!(of("uint", "4294967295") && !of("int", "2147483648") && !of("int", "1.5"));
    }
}
