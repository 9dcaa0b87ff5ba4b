//! How cells lie in files, and their way into arrays and out of them.
//!
//! `Stored` names what the formats have; a row of its table says which element type of ours holds
//! it exactly. A type of the same layout is read straight into the array's storage, in one pass; a
//! narrower one is widened piece by piece. Nothing is rounded on the way in but for a narrowing
//! that the caller asks for.

use crate::input::Place;
use rung_array::Array;
use rung_base::{Bool, Element, ElementType, Error, Shape, bf16, f16, with_element};
use std::io::{self, Read, Write};

/// What one cell of a file holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Stored {
    F64,
    F32,
    BF16,
    F16,
    I64,
    I32,
    I16,
    I8,
    U64,
    U32,
    U16,
    U8,
    Bool,
}

struct Record {
    stored: Stored,
    /// The element type that holds every value of it (but for U64, where the values decide).
    element_type: ElementType,
    bytes: usize,
    /// The letters of a NumPy type string after the byte order, or "".
    npy: &'static str,
    safetensors: &'static str,
}

#[rustfmt::skip]
const RECORDS: [Record; 13] = {
    use ElementType as E;
    const fn record(
        stored: Stored, element_type: E, bytes: usize, npy: &'static str, safetensors: &'static str,
    ) -> Record {
        Record { stored, element_type, bytes, npy, safetensors }
    }
    [
        record(Stored::F64, E::F64, 8, "f8", "F64"),
        record(Stored::F32, E::F32, 4, "f4", "F32"),
        record(Stored::BF16, E::BF16, 2, "", "BF16"),
        record(Stored::F16, E::F16, 2, "f2", "F16"),
        record(Stored::I64, E::I64, 8, "i8", "I64"),
        record(Stored::I32, E::I32, 4, "i4", "I32"),
        record(Stored::I16, E::I32, 2, "i2", "I16"),
        record(Stored::I8, E::I32, 1, "i1", "I8"),
        record(Stored::U64, E::I64, 8, "u8", "U64"),
        record(Stored::U32, E::I64, 4, "u4", "U32"),
        record(Stored::U16, E::I32, 2, "u2", "U16"),
        record(Stored::U8, E::U8, 1, "u1", "U8"),
        record(Stored::Bool, E::Bool, 1, "b1", "BOOL"),
    ]
};

impl Stored {
    fn record(self) -> &'static Record {
        &RECORDS[self as usize]
    }

    fn find(test: impl Fn(&Record) -> bool) -> Option<Stored> {
        RECORDS.iter().find(|record| test(record)).map(|record| record.stored)
    }

    /// By the letters of a NumPy type string, without the byte order: `f8`.
    pub fn of_npy(letters: &str) -> Option<Stored> {
        Stored::find(|record| record.npy == letters && !letters.is_empty())
    }

    pub fn of_safetensors(name: &str) -> Option<Stored> {
        Stored::find(|record| record.safetensors == name)
    }

    /// The cell that has the layout of an element type.
    pub fn of(element_type: ElementType) -> Stored {
        match element_type {
            ElementType::F64 => Stored::F64,
            ElementType::F32 => Stored::F32,
            ElementType::BF16 => Stored::BF16,
            ElementType::F16 => Stored::F16,
            ElementType::I64 => Stored::I64,
            ElementType::I32 => Stored::I32,
            ElementType::U8 => Stored::U8,
            ElementType::Bool => Stored::Bool,
        }
    }

    pub fn bytes(self) -> usize {
        self.record().bytes
    }

    pub fn element_type(self) -> ElementType {
        self.record().element_type
    }

    /// The letters of a NumPy type string; "" for bfloat16, which NumPy does not have.
    pub fn npy(self) -> &'static str {
        self.record().npy
    }

    pub fn safetensors(self) -> &'static str {
        self.record().safetensors
    }

    /// The name that messages use: `u16`.
    pub fn element_name(self) -> String {
        self.record().safetensors.to_ascii_lowercase()
    }

    /// The bytes of a shape of such cells.
    pub fn bytes_of(self, shape: &Shape) -> u64 {
        // A shape has below 2^62 elements: the product needs 65 bits at most.
        (shape.size() as u64).saturating_mul(self.bytes() as u64)
    }
}

/// Why cells could not be read.
pub enum Trouble {
    Read(io::Error),
    /// There is no memory for the array.
    Memory(Error),
    /// The cell at this position holds a value above the largest `(signed-byte 64)`.
    TooLarge {
        position: usize,
        value: u64,
    },
}

impl Trouble {
    /// The error of cells that begin at `offset`.
    pub fn at(self, offset: u64, place: &Place) -> Error {
        match self {
            Trouble::Memory(error) => error,
            Trouble::Read(error) => place.failed(offset, "the data", error),
            Trouble::TooLarge { position, value } => {
                let widest = ElementType::I64.lisp_name();
                let text = format!("cell {position} is {value}: above what {widest} holds");
                place.wrong(offset + 8 * position as u64, text).hint("store it as a float")
            }
        }
    }
}

impl From<io::Error> for Trouble {
    fn from(error: io::Error) -> Trouble {
        Trouble::Read(error)
    }
}

/// Cells that lie one after another, in row-major order of `shape`.
pub struct Cells {
    pub stored: Stored,
    pub big_endian: bool,
    pub shape: Shape,
}

impl Cells {
    /// Reads them from a source that is known to hold so many bytes.
    pub fn read(self, source: &mut dyn Read) -> Result<Array, Trouble> {
        let swap = self.big_endian != cfg!(target_endian = "big");
        match self.stored {
            Stored::I16 => self.widened(source, swap, |x: i16| Ok(i32::from(x))),
            Stored::I8 => self.widened(source, swap, |x: i8| Ok(i32::from(x))),
            Stored::U16 => self.widened(source, swap, |x: u16| Ok(i32::from(x))),
            Stored::U32 => self.widened(source, swap, |x: u32| Ok(i64::from(x))),
            Stored::U64 => self.widened(source, swap, |x: u64| i64::try_from(x).map_err(|_| x)),
            // Any byte but zero is true; kept, it would make two true cells differ.
            Stored::Bool => self.widened(source, swap, |x: u8| Ok(Bool::from(x != 0))),
            same => with_element!(same.element_type(), T => self.direct::<T>(source, swap)),
        }
    }

    /// Reads cells of a half width as single-floats, which hold them exactly.
    pub fn read_as_single(self, source: &mut dyn Read) -> Result<Array, Trouble> {
        let swap = self.big_endian != cfg!(target_endian = "big");
        match self.stored {
            Stored::BF16 => self.widened(source, swap, |x: bf16| Ok(x.to_f32())),
            Stored::F16 => self.widened(source, swap, |x: f16| Ok(x.to_f32())),
            _ => self.read(source),
        }
    }

    fn direct<T: Element>(self, source: &mut dyn Read, swap: bool) -> Result<Array, Trouble> {
        fill(self.shape, |out: &mut [T]| {
            source.read_exact(bytemuck::cast_slice_mut(out))?;
            if swap {
                swap_bytes(out);
            }
            Ok(())
        })
    }

    fn widened<S: bytemuck::Pod, T: Element>(
        self,
        source: &mut dyn Read,
        swap: bool,
        widen: impl Fn(S) -> Result<T, u64>,
    ) -> Result<Array, Trouble> {
        let mut piece = vec![S::zeroed(); PIECE.min(self.shape.size())];
        fill(self.shape, |out: &mut [T]| {
            for (number, cells) in out.chunks_mut(PIECE).enumerate() {
                let piece = &mut piece[..cells.len()];
                source.read_exact(bytemuck::cast_slice_mut(piece))?;
                if swap {
                    swap_bytes(piece);
                }
                for (i, (cell, &x)) in cells.iter_mut().zip(&*piece).enumerate() {
                    *cell = widen(x).map_err(|value| Trouble::TooLarge {
                        position: number * PIECE + i,
                        value,
                    })?;
                }
            }
            Ok(())
        })
    }
}

/// Cells that are widened or written at once: 64 KiB of doubles, which the second cache holds.
const PIECE: usize = 8192;

fn fill<T: Element>(
    shape: Shape,
    write: impl FnOnce(&mut [T]) -> Result<(), Trouble>,
) -> Result<Array, Trouble> {
    let mut outcome = Ok(());
    let array = Array::build(shape, |out: &mut [T]| outcome = write(out));
    let array = array.map_err(Trouble::Memory)?;
    outcome.map(|()| array)
}

fn swap_bytes<T: bytemuck::Pod>(cells: &mut [T]) {
    match size_of::<T>() {
        2 => bytemuck::cast_slice_mut::<T, u16>(cells).iter_mut().for_each(|x| *x = x.swap_bytes()),
        4 => bytemuck::cast_slice_mut::<T, u32>(cells).iter_mut().for_each(|x| *x = x.swap_bytes()),
        8 => bytemuck::cast_slice_mut::<T, u64>(cells).iter_mut().for_each(|x| *x = x.swap_bytes()),
        _ => {}
    }
}

/// Writes an array's cells in row-major order, little-endian.
pub fn write(array: &Array, out: &mut dyn Write) -> io::Result<()> {
    with_element!(array.element_type(), T => write_mapped(array, out, |x: T| x))
}

/// As `write`, bfloat16 cells as single-floats.
pub fn write_as_single(array: &Array, out: &mut dyn Write) -> io::Result<()> {
    match array.element_type() {
        ElementType::BF16 => write_mapped(array, out, |x: bf16| x.to_f32()),
        _ => write(array, out),
    }
}

fn write_mapped<T: Element, S: Element>(
    array: &Array,
    out: &mut dyn Write,
    map: impl Fn(T) -> S,
) -> io::Result<()> {
    array.home().map_err(io::Error::other)?;
    let little = cfg!(target_endian = "little");
    if let (true, true, Some(cells)) = (T::TYPE == S::TYPE, little, array.as_slice::<T>()) {
        return out.write_all(bytemuck::cast_slice(cells));
    }
    let view = array.view::<T>();
    let mut cells = view.iter();
    let mut piece = Vec::with_capacity(PIECE.min(array.size()));
    loop {
        piece.clear();
        piece.extend(cells.by_ref().take(PIECE).map(&map));
        if piece.is_empty() {
            return Ok(());
        }
        if !little {
            swap_bytes(&mut piece);
        }
        out.write_all(bytemuck::cast_slice(&piece))?;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn records_stand_in_the_order_of_the_enum() {
        for (i, record) in RECORDS.iter().enumerate() {
            assert_eq!(record.stored as usize, i);
            assert_eq!(Stored::of_safetensors(record.safetensors), Some(record.stored));
            assert!(record.npy.is_empty() || Stored::of_npy(record.npy) == Some(record.stored));
            assert!(record.element_type.size() >= record.bytes);
        }
        for t in ElementType::ALL {
            assert_eq!(Stored::of(t).element_type(), t);
            assert_eq!(Stored::of(t).bytes(), t.size());
        }
        assert_eq!(Stored::of_npy(""), None);
    }

    #[test]
    fn views_are_written_in_row_major_order() {
        let a = Array::from_slice(&[1u8, 2, 3, 4, 5, 6], Shape::new([2, 3]).unwrap()).unwrap();
        let mut out = Vec::new();
        write(&a.transpose(&[1, 0]).unwrap(), &mut out).unwrap();
        assert_eq!(out, [1, 4, 2, 5, 3, 6]);
    }
}
