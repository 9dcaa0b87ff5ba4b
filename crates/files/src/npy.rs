//! `npy` files: one array, as `numpy.save` writes it (format versions 1.0 to 3.0).
//!
//! Cells without an element type of ours are widened exactly (int8, int16, uint16 to
//! `(signed-byte 32)`; uint32, uint64 to `(signed-byte 64)`, where its values fit) or refused by
//! name. Both byte orders are read; Fortran order becomes a transposed view, without a copy.
//! Written is what NumPy writes, byte for byte; bfloat16, which NumPy does not have, as float32,
//! which holds its values exactly. `header` has the text between magic and cells.

mod header;
mod parts;

use crate::elements::{self, Cells, Stored};
use crate::input::{Input, Place};
use crate::room::reserve;
use header::Header;
pub use parts::Parts;
use rung_array::Array;
use rung_base::{ElementType, Result, Shape};
use std::io::{self, Read, Write};
use std::path::Path;

/// Reads the array of a file: its cells go straight into the array's storage.
pub fn read(path: &Path) -> Result<Array> {
    let mut input = Input::open(path)?;
    let length = input.length;
    read_from(&mut input, length, &Place { path, member: None })
}

/// Reads the array of a file whose bytes were unpacked; errors name the file.
///
/// # Errors
/// Bytes that are no npy file.
pub fn read_bytes(mut bytes: &[u8], path: &Path) -> Result<Array> {
    let length = bytes.len() as u64;
    read_from(&mut bytes, length, &Place { path, member: None })
}

/// Reads an array from a source of `length` bytes.
pub(crate) fn read_from(source: &mut dyn Read, length: u64, place: &Place) -> Result<Array> {
    let (header, shape) = checked(source, length, place)?;
    // In Fortran order the first axis runs fastest: row-major with the axes reversed.
    let stored_shape = match header.fortran_order {
        true => Shape::new(shape.iter().rev().copied())?,
        false => shape,
    };
    let cells = Cells { stored: header.stored, big_endian: header.big_endian, shape: stored_shape };
    let array = cells.read(source).map_err(|e| e.at(header.bytes, place))?;
    match header.fortran_order {
        true => reversed(&array),
        false => Ok(array),
    }
}

/// What stands before the cells, and the shape, whose cells the source holds.
fn checked(source: &mut dyn Read, length: u64, place: &Place) -> Result<(Header, Shape)> {
    let header = Header::read(source, length, place)?;
    let shape = Shape::new(header.extents.iter().copied());
    let shape = shape.map_err(|e| place.wrong(header.begin, e.message()))?;
    let (wanted, left) = (header.stored.bytes_of(&shape), length - header.bytes);
    if wanted != left {
        let name = header.stored.element_name();
        let text = format!("{name} cells of shape {shape} take {wanted} bytes: got {left}");
        return Err(place.wrong(header.bytes, text));
    }
    Ok((header, shape))
}

fn reversed(array: &Array) -> Result<Array> {
    let axes: Vec<usize> = (0..array.rank()).rev().collect();
    array.transpose(&axes)
}

/// Writes an array to a file.
pub fn write(array: &Array, path: &Path) -> Result<()> {
    let plan = Plan::new(array)?;
    rung_base::file::replace(path, |out| {
        reserve(out.get_ref(), plan.bytes())?;
        plan.write(out)
    })
}

/// Writes what a file of the array would hold.
pub fn write_to(array: &Array, out: &mut dyn Write) -> io::Result<()> {
    Plan::new(array).map_err(io::Error::other)?.write(out)
}

/// Writes what stands before the cells of an array that is written in parts: its cells follow, in
/// row-major order, by `write_cells`.
///
/// # Errors
/// The system's.
pub fn write_header(t: ElementType, shape: &Shape, out: &mut dyn Write) -> io::Result<()> {
    out.write_all(&header::text(stored_as(t), false, shape))
}

/// Writes the cells of a part, of the type that the header says.
///
/// # Errors
/// The system's.
pub fn write_cells(part: &Array, out: &mut dyn Write) -> io::Result<()> {
    elements::write_as_single(part, out)
}

fn stored_as(t: ElementType) -> Stored {
    match t {
        ElementType::BF16 => Stored::F32,
        other => Stored::of(other),
    }
}

/// An array as it is going to be written: header and cells.
pub(crate) struct Plan {
    header: Vec<u8>,
    /// Its row-major cells are the file's.
    cells: Array,
}

impl Plan {
    pub fn new(array: &Array) -> Result<Plan> {
        let turned = reversed(array)?;
        let fortran_order = !array.is_contiguous() && turned.is_contiguous();
        let stored = stored_as(array.element_type());
        let header = header::text(stored, fortran_order, array.shape());
        Ok(Plan { header, cells: if fortran_order { turned } else { array.clone() } })
    }

    /// The length of the file.
    pub fn bytes(&self) -> u64 {
        let cell = match self.cells.element_type() {
            ElementType::BF16 => 4,
            other => other.size(),
        };
        self.header.len() as u64 + cell as u64 * self.cells.size() as u64
    }

    pub fn write(&self, out: &mut dyn Write) -> io::Result<()> {
        out.write_all(&self.header)?;
        elements::write_as_single(&self.cells, out)
    }
}
