//! A matrix of quantised blocks in the bytes of its file, an array of bytes that nobody writes, so
//! that a device may have a copy of it. It stores and reads single elements, and what computes with it
//! is elsewhere.
//!
//! Q8_0 (GGUF): row-major blocks of 32 elements, 34 bytes each, a float16 scale d (low byte
//! first) and 32 signed bytes q; an element is d * q.

use crate::{Array, SliceSpec};
use rung_base::{ElementType, Error, ErrorKind, Result, Shape, f16};
use std::fmt;
use std::ops::Range;

/// How numbers are packed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Format {
    /// Blocks of 32 with a float16 scale.
    Q8_0,
}

impl Format {
    /// The format of this name, in any case, with `-` or `_`: `Q8_0`, `q8-0`.
    pub fn parse(name: &str) -> Result<Format> {
        let plain = name.trim_start_matches(':').replace('-', "_").to_uppercase();
        match plain.as_str() {
            "Q8_0" => Ok(Format::Q8_0),
            _ => {
                let text = format!("format {plain} is not supported; supported: Q8_0");
                Err(Error::new(ErrorKind::Argument, text)
                    .hint("convert the file to Q8_0, or to F16 or F32"))
            }
        }
    }

    /// Elements of a block.
    pub fn block(self) -> usize {
        32
    }

    /// Bytes of a block.
    pub fn bytes(self) -> usize {
        34
    }
}

impl fmt::Display for Format {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        f.write_str("Q8_0")
    }
}

/// A matrix (rows, columns) of blocks; columns are a multiple of the block. Cloning shares the
/// bytes.
#[derive(Clone)]
pub struct Quantized {
    format: Format,
    rows: usize,
    columns: usize,
    /// A packed vector.
    octets: Array,
    /// The first byte of this matrix's rows.
    from: usize,
}

impl Quantized {
    /// The matrix whose bytes these are: `rows * columns / 32 * 34` of them, as a file has them.
    pub fn from_octets(
        format: Format,
        rows: usize,
        columns: usize,
        octets: &Array,
    ) -> Result<Quantized> {
        check_columns(format, columns)?;
        if octets.element_type() != ElementType::U8 {
            return Err(Error::wanted(
                ErrorKind::ElementType,
                "expected bytes",
                octets.element_type(),
            ));
        }
        let wanted = rows.checked_mul(columns / format.block() * format.bytes());
        if wanted != Some(octets.size()) {
            let wanted = wanted.map_or("more than memory has".into(), |n| n.to_string());
            let text = format!("expected {wanted} bytes, got {}", octets.size());
            return Err(Error::new(ErrorKind::Shape, text).hint(format!(
                "({rows} {columns}) in {format} is {rows} * {columns} / {} * {} bytes",
                format.block(),
                format.bytes()
            )));
        }
        // A copy, since these may be written, and come home, as any array's.
        let octets = octets.to_owned_copy()?.reshape(Shape::vector(octets.size()))?;
        Ok(Quantized { format, rows, columns, octets, from: 0 })
    }

    /// How numbers are packed.
    pub fn format(&self) -> Format {
        self.format
    }

    /// (rows, columns).
    pub fn shape(&self) -> [usize; 2] {
        [self.rows, self.columns]
    }

    /// Bytes of a row.
    fn row_bytes(&self) -> usize {
        self.columns / self.format.block() * self.format.bytes()
    }

    /// The bytes, row-major.
    pub fn octets(&self) -> &[u8] {
        let all = self.octets.as_slice().unwrap_or(&[]);
        &all[self.from..][..self.rows * self.row_bytes()]
    }

    /// The same as an array of bytes, which shares them.
    pub fn array(&self) -> Result<Array> {
        let end = self.from + self.rows * self.row_bytes();
        let (start, end) = (Some(self.from as i64), Some(end as i64));
        self.octets.slice(&[SliceSpec { start, end, step: 1 }])
    }

    /// Rows first ... first+count-1, sharing the bytes.
    pub fn rows(&self, first: usize, count: usize) -> Result<Quantized> {
        if first.checked_add(count).is_none_or(|end| end > self.rows) {
            let text = format!("rows {first} to {first}+{count} of {} rows", self.rows);
            return Err(Error::new(ErrorKind::Index, text));
        }
        let from = self.from + first * self.row_bytes();
        Ok(Quantized { rows: count, from, ..self.clone() })
    }

    /// Element (row, column): d * q, rounded once to f32 (it is exact).
    pub fn get(&self, row: usize, column: usize) -> Result<f32> {
        for (index, extent, axis) in [(row, self.rows, 0), (column, self.columns, 1)] {
            if index >= extent {
                let text = format!("index {index} out of range for axis {axis} of extent {extent}");
                return Err(Error::new(ErrorKind::Index, text));
            }
        }
        let block = self.row(row).start + column / self.format.block() * self.format.bytes();
        let octets = &self.octets()[block..];
        let scale = f16::from_le_bytes([octets[0], octets[1]]).to_f32();
        Ok(scale * (octets[2 + column % self.format.block()] as i8) as f32)
    }

    /// Where a row's bytes lie among `octets`.
    pub fn row(&self, row: usize) -> Range<usize> {
        row * self.row_bytes()..(row + 1) * self.row_bytes()
    }
}

/// Whether a row is a whole number of blocks.
pub fn check_columns(format: Format, columns: usize) -> Result<()> {
    if columns.is_multiple_of(format.block()) {
        return Ok(());
    }
    let text = format!("quantize needs columns in multiples of {}: got {columns}", format.block());
    let next = columns.next_multiple_of(format.block());
    Err(Error::new(ErrorKind::Shape, text).hint(format!("pad each row with zeros to {next}")))
}

/// As it is shown: `QUANTIZED-MATRIX Q8_0 (32000 288)`.
impl fmt::Display for Quantized {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        write!(f, "QUANTIZED-MATRIX {} ({} {})", self.format, self.rows, self.columns)
    }
}

impl fmt::Debug for Quantized {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        write!(f, "#<QUANTIZED-MATRIX {} ({} {})>", self.format, self.rows, self.columns)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn two_rows() -> Quantized {
        let mut octets = vec![0u8; 2 * 34];
        octets[..4].copy_from_slice(&[0x00, 0x38, 3, 0xFF]);
        octets[34..37].copy_from_slice(&[0x00, 0x40, 5]);
        Quantized::from_octets(Format::Q8_0, 2, 32, &Array::vector(&octets).unwrap()).unwrap()
    }

    #[test]
    fn elements_are_scale_times_byte_and_rows_share_the_bytes() {
        let q = two_rows();
        assert_eq!((q.get(0, 0), q.get(0, 1), q.get(1, 0)), (Ok(1.5), Ok(-0.5), Ok(10.0)));
        let second = q.rows(1, 1).unwrap();
        assert_eq!((second.shape(), second.get(0, 0)), ([1, 32], Ok(10.0)));
        assert_eq!(second.octets().as_ptr(), q.octets()[34..].as_ptr());
        assert_eq!(second.array().unwrap().as_slice::<u8>(), Some(second.octets()));
        assert_eq!(format!("{q:?}"), "#<QUANTIZED-MATRIX Q8_0 (2 32)>");
    }

    #[test]
    fn mistakes_say_what_was_wanted() {
        let text = |e: Error| e.to_string();
        let of = |rows, columns, bytes: usize| {
            let octets = Array::vector(&vec![0u8; bytes]).unwrap();
            Quantized::from_octets(Format::Q8_0, rows, columns, &octets)
        };
        let short = of(2, 64, 100).unwrap_err();
        assert!(text(short).contains("expected 136 bytes, got 100"));
        let odd = of(1, 33, 34).unwrap_err();
        assert!(text(odd).contains("quantize needs columns in multiples of 32"));
        let other = Format::parse("q4-k").unwrap_err();
        assert!(text(other).contains("format Q4_K is not supported; supported: Q8_0"));
        assert_eq!(Format::parse(":q8-0"), Ok(Format::Q8_0));
        let q = two_rows();
        assert!(q.rows(1, 2).is_err() && q.get(2, 0).is_err() && q.get(0, 32).is_err());
        assert!(q.rows(2, 0).is_ok() && q.rows(usize::MAX, 2).is_err());
    }
}
