//! Clouds in files: `.ply`, `.xyz` and its kin, `.npy`, `.las`, `.pcd`, KITTI's `.bin`, each read into a table of named columns
//! and written from one. Every column is kept, so that a chosen point keeps its colour.
//!
//! What a file says is checked against what it holds before memory is asked for: a file of any bytes
//! gives a table or an error that names the byte or the line, and takes a small multiple of its length.

mod las;
mod pcd;
mod ply;
pub(crate) mod text;

use rung_array::Array;
use rung_base::{Element, ElementType, Error, ErrorKind, Result, Shape, memory, with_element};
use rung_files::input::Input;
use rung_files::npy;
use std::io::Write;
use std::path::Path;
use std::sync::Arc;

/// The names of coordinates, in order.
const AXES: [&str; 3] = ["x", "y", "z"];

/// What can be read, by how the name ends.
pub const READ: &[&str] = &[
    ".ply", ".xyz", ".txt", ".csv", ".pts", ".npy", ".las", ".pcd", ".bin", ".laz", ".ply.gz",
    ".xyz.gz", ".txt.gz", ".csv.gz", ".pts.gz", ".las.gz", ".pcd.gz", ".npy.gz", ".bin.gz",
];
/// What can be written; the first goes to standard output.
pub const WRITTEN: &[&str] = &[".xyz", ".ply", ".npy", ".csv", ".txt", ".pts", ".las"];

/// One value of each point, under the name that its file gives it.
#[derive(Clone, Debug)]
pub struct Column {
    pub name: String,
    /// A vector.
    pub cells: Array,
}

/// Points by columns of one length, x, y and z among them.
#[derive(Clone, Debug)]
pub struct Table {
    pub columns: Vec<Column>,
    /// It came from a text, and is written as one where the format leaves the choice.
    pub is_text: bool,
    /// What of the file is not in the columns, each a note.
    pub left_out: Vec<String>,
    /// What is worth a note beside.
    pub notes: Vec<String>,
    /// The las file it came from, as long as its points are only chosen from.
    las: Option<Arc<las::Source>>,
}

/// Reads a cloud of any format that is known by its name's ending.
///
/// # Errors
/// An unknown ending; a file that cannot be read, or whose bytes are not what its format says.
pub fn read(path: &Path) -> Result<Table> {
    let ending = rung_ops::solver::ending(path, READ);
    match ending.map(|ending| ending.trim_end_matches(".gz")) {
        Some(".ply") => ply::read(path),
        Some(".npy") => of_matrix(path),
        Some(".las") => las::read(path),
        Some(".pcd") => pcd::read(path),
        Some(".bin") => Err(Error::in_data_file(path, None, "the name does not say what it holds")
            .hint("format kitti reads four f32 a point")),
        Some(".laz") => Err(Error::in_data_file(path, None, "packed las files are not read")
            .hint("unpack it first: las2las and PDAL write .las")),
        Some(_) => text::read(path),
        None => {
            let text =
                format!("{}: a cloud's name ends with one of {}", path.display(), READ.join(" "));
            Err(Error::new(ErrorKind::Argument, text))
        }
    }
}

impl Table {
    /// Writes the cloud in the format of an ending of `WRITTEN`.
    ///
    /// # Errors
    /// What `out` fails with; for `.las` a column that it has no place for.
    pub fn write(&self, ending: &str, out: &mut dyn Write) -> Result<()> {
        match ending {
            ".ply" => ply::write(self, out),
            ".npy" => npy::write_to(&self.matrix(self.columns.len())?, out),
            ".csv" => text::write(self, ",", out),
            ".las" => return las::write(self, out),
            _ => text::write(self, " ", out),
        }
        .map_err(|e| Error::new(ErrorKind::File, e.to_string()))
    }

    /// Points alone, (n d), whose columns are named as a matrix's are.
    ///
    /// # Errors
    /// No memory for the columns.
    pub fn of_points(points: &Array, is_text: bool) -> Result<Table> {
        let [rows, columns] = points.shape()[..] else {
            let text = "points are an array of shape (n d)";
            return Err(Error::wanted(ErrorKind::Shape, text, points.shape()));
        };
        Ok(Table::new(columns_of(points, rows, columns)?, is_text))
    }

    /// With another column, in place of one of its name.
    pub fn with(mut self, name: &str, cells: &Array) -> Table {
        self.columns.retain(|column| column.name != name);
        self.columns.push(Column { name: name.into(), cells: cells.clone() });
        self.las = None;
        self
    }

    /// How many points.
    pub fn rows(&self) -> usize {
        self.columns.first().map_or(0, |column| column.cells.size())
    }

    /// How many of the first columns are coordinates.
    fn dimension(&self) -> usize {
        let named = self.columns.iter().zip(AXES);
        named.take_while(|(column, axis)| column.name == *axis).count()
    }

    /// The coordinates, (n d): at f32 where all are, else at f64.
    pub fn points(&self) -> Result<Array> {
        self.matrix(self.dimension())
    }

    /// The first columns side by side.
    fn matrix(&self, columns: usize) -> Result<Array> {
        let columns = &self.columns[..columns];
        let narrow = columns.iter().all(|column| column.cells.element_type() == ElementType::F32);
        if narrow { joined::<f32>(columns) } else { joined::<f64>(columns) }
    }

    /// These rows of every column, in this order.
    pub fn chosen(&self, rows: &[i64]) -> Result<Table> {
        let of = |column: &Column| {
            let cells = with_element!(column.cells.element_type(), T => {
                gathered::<T>(&column.cells, rows)
            })?;
            Ok(Column { name: column.name.clone(), cells })
        };
        let columns = self.columns.iter().map(of).collect::<Result<_>>()?;
        let las = self.las.as_ref().map(|source| source.chosen(rows)).transpose()?;
        let las = las.map(Arc::new);
        Ok(Table { columns, is_text: self.is_text, left_out: Vec::new(), notes: Vec::new(), las })
    }

    /// The columns that a reader found, with x, y and z first.
    fn new(mut columns: Vec<Column>, is_text: bool) -> Table {
        let place = |column: &Column| {
            AXES.iter().position(|axis| column.name == *axis).unwrap_or(AXES.len())
        };
        columns.sort_by_key(place);
        Table { columns, is_text, left_out: Vec::new(), notes: Vec::new(), las: None }
    }
}

fn joined<T: Element + rung_array::Convert>(columns: &[Column]) -> Result<Array> {
    let rows = columns.first().map_or(0, |column| column.cells.size());
    let cells = columns.iter().map(|column| column.cells.convert(T::TYPE));
    let cells = cells.collect::<Result<Vec<Array>>>()?;
    let shape = Shape::new([rows, columns.len()])?;
    Array::build::<T>(shape, |out| {
        for (at, column) in cells.iter().enumerate() {
            let values = column.as_slice::<T>().unwrap_or_default();
            out.iter_mut().skip(at).step_by(cells.len()).zip(values).for_each(|(o, x)| *o = *x);
        }
    })
}

fn gathered<T: Element>(cells: &Array, rows: &[i64]) -> Result<Array> {
    let all = cells.as_slice::<T>().unwrap_or_default();
    let cell = |row: &i64| usize::try_from(*row).ok().and_then(|row| all.get(row)).copied();
    let found: Vec<T> = rows.iter().filter_map(cell).collect();
    match found.len() == rows.len() {
        true => Array::vector(&found),
        false => Err(not_there()),
    }
}

fn not_there() -> Error {
    Error::new(ErrorKind::Internal, "a chosen row is not in the file")
}

/// A column of a matrix whose columns have no names.
fn numbered(at: usize) -> String {
    AXES.get(at).map_or_else(|| format!("column-{}", at + 1), |axis| (*axis).to_string())
}

/// A `.npy` file of shape (n d): the first three columns are coordinates, the others are kept.
fn of_matrix(path: &Path) -> Result<Table> {
    let array = match rung_ops::solver::ending(path, &[".gz"]) {
        Some(_) => npy::read_bytes(&whole(path)?, path)?,
        None => npy::read(path)?,
    };
    let [rows, columns] = array.shape()[..] else {
        let text = format!("points are an array of shape (n d): got {}", array.shape());
        let e = Error::in_data_file(path, None, text);
        return Err(match array.rank() {
            1 => e.hint("reshape it: one point a row, (n 3)"),
            3 => e.hint("clouds one after another are (n d); fps takes their lengths"),
            _ => e,
        });
    };
    let notes = turned(path, rows, columns)?;
    if columns == 0 || columns > MOST_COLUMNS {
        let text = format!("a point has 1 to {MOST_COLUMNS} columns: got shape {}", array.shape());
        return Err(Error::in_data_file(path, None, text));
    }
    Ok(Table { notes, ..Table::new(columns_of(&array, rows, columns)?, false) })
}

/// Columns of a matrix of up to three rows: more are points that lie along the other axis. A las file has
/// about 25, of which three points may be chosen.
const MOST_OF_FEW: usize = 64;

/// Up to three rows of very many columns are a cloud with one coordinate a row; of a few columns they may
/// be one, which a note says.
fn turned(path: &Path, rows: usize, columns: usize) -> Result<Vec<String>> {
    if !(1..=AXES.len()).contains(&rows) || columns <= AXES.len() {
        return Ok(Vec::new());
    }
    if columns > MOST_OF_FEW {
        let text = format!("points are an array of shape (n d): got ({rows} {columns})");
        let e = Error::in_data_file(path, None, text);
        return Err(e.hint("one point a row: transpose it, nothing is guessed"));
    }
    // One point alone is nobody's coordinate.
    let note = || {
        format!(
            "shape ({rows} {columns}) is {rows} points of {columns} columns; a cloud with one coordinate \
             a row has to be transposed"
        )
    };
    Ok(if rows == 1 { Vec::new() } else { vec![note()] })
}

/// The columns of a matrix.
fn columns_of(array: &Array, rows: usize, columns: usize) -> Result<Vec<Column>> {
    let column = |at: usize| {
        let cells = with_element!(array.element_type(), T => {
            let mut cells = memory::room::<T>(rows, || format!("a column of {rows} points"))?;
            cells.extend(array.view::<T>().iter().skip(at).step_by(columns));
            Array::vector(&cells)
        })?;
        Ok(Column { name: numbered(at), cells })
    };
    (0..columns).map(column).collect()
}

/// Columns of a file: more is a mistake in its header rather than a cloud.
const MOST_COLUMNS: usize = 1024;

/// A `.bin` file of KITTI: x, y, z and the intensity of each point, in f32.
///
/// # Errors
/// A file that cannot be read, or whose length is not a multiple of 16.
pub fn read_kitti(path: &Path) -> Result<Table> {
    let bytes = whole(path)?;
    let (points, rest) = bytes.as_chunks::<16>();
    if !rest.is_empty() {
        let text = format!("points of 16 bytes: got {} bytes", bytes.len());
        return Err(Error::in_data_file(path, Some((bytes.len() - rest.len()) as u64), text));
    }
    let column = |(at, name): (usize, &&str)| {
        let cell = |point: &[u8; 16]| f32::from_le_bytes(point.as_chunks::<4>().0[at]);
        let wanted = || format!("a column of {} points", points.len());
        let cells = memory::collected(points.iter().map(cell), wanted)?;
        Ok(Column { name: (*name).into(), cells: Array::vector(&cells)? })
    };
    let names = ["x", "y", "z", "intensity"];
    let columns = names.iter().enumerate().map(column).collect::<Result<_>>()?;
    Ok(Table::new(columns, false))
}

/// The bytes of a whole file, unpacked where its name ends with `.gz`.
fn whole(path: &Path) -> Result<Vec<u8>> {
    let mut input = Input::open(path)?;
    let length = input.length;
    let bytes = input.bytes(length, "the file")?;
    match rung_ops::solver::ending(path, &[".gz"]) {
        Some(_) => unpacked(path, &bytes),
        None => Ok(bytes),
    }
}

/// What gzip packed, asked for piece by piece. Some bytes become a thousand times as many, points hardly
/// ten times: of more than a hundred times, beyond 1 GiB, nothing is made of the rest.
fn unpacked(path: &Path, packed: &[u8]) -> Result<Vec<u8>> {
    unpacked_up_to(path, packed, (1 << 30).max(packed.len().saturating_mul(100)))
}

fn unpacked_up_to(path: &Path, packed: &[u8], most: usize) -> Result<Vec<u8>> {
    let mut decoder = flate2::read::MultiGzDecoder::new(packed);
    let (mut all, mut piece) = (Vec::new(), vec![0; 1 << 16]);
    loop {
        let count = std::io::Read::read(&mut decoder, &mut piece).map_err(|e| {
            Error::in_data_file(path, None, format!("the packed bytes are broken: {e}"))
        })?;
        if count == 0 {
            return Ok(all);
        }
        if all.len() + count > most {
            let text = format!(
                "{} packed bytes become more than {}",
                packed.len(),
                memory::size(most as u64)
            );
            return Err(Error::in_data_file(path, None, text).hint("gunzip unpacks any"));
        }
        if all.try_reserve(count).is_err() {
            return Err(memory::lack(all.len() as u64, format!("what {} holds", path.display())));
        }
        all.extend_from_slice(&piece[..count]);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_little_that_gzip_made_of_very_much_does_not_fill_memory() {
        let mut encoder = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::best());
        encoder.write_all(&vec![0; 1 << 20]).unwrap();
        let packed = encoder.finish().unwrap();
        let path = Path::new("zeros.npy.gz");
        assert_eq!(unpacked_up_to(path, &packed, 1 << 20).unwrap().len(), 1 << 20);
        let e = unpacked_up_to(path, &packed, (1 << 20) - 1).unwrap_err();
        let text = format!("{} packed bytes become more than 1.0 MiB", packed.len());
        assert!(e.to_string().contains(&text), "{e}");
    }

    #[test]
    fn chosen_rows_keep_every_column() {
        let column = |name: &str, cells| Column { name: name.into(), cells };
        let columns = vec![
            column("red", Array::vector(&[1u8, 2, 3]).unwrap()),
            column("y", Array::vector(&[4.0f32, 5.0, 6.0]).unwrap()),
            column("x", Array::vector(&[7.0f32, 8.0, 9.0]).unwrap()),
        ];
        let table = Table::new(columns, true);
        let names: Vec<&str> = table.columns.iter().map(|column| &*column.name).collect();
        assert_eq!(names, ["x", "y", "red"]);
        let points = table.points().unwrap();
        assert_eq!(points.as_slice::<f32>().unwrap(), [7.0, 4.0, 8.0, 5.0, 9.0, 6.0]);
        let chosen = table.chosen(&[2, 0]).unwrap();
        assert_eq!(chosen.columns[2].cells.as_slice::<u8>().unwrap(), [3, 1]);
        let mut text = Vec::new();
        chosen.write(".xyz", &mut text).unwrap();
        assert_eq!(String::from_utf8(text).unwrap(), "# x y red\n9 6 3\n7 4 1\n");
        assert!(table.chosen(&[3]).is_err());
    }
}
