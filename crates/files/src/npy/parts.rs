//! An array in an npy file that is read in parts, so that no more of it is held than one of them.

use super::{Header, checked, reversed};
use crate::elements::Cells;
use crate::input::Input;
use rung_array::Array;
use rung_base::{ElementType, Error, ErrorKind, Result, Shape};
use std::io::{self, Read};
use std::path::Path;

/// An open file, whose header was checked against its length.
pub struct Parts {
    input: Input,
    header: Header,
    shape: Shape,
}

impl Parts {
    /// # Errors
    /// No npy file, or one that does not hold what its header says.
    pub fn open(path: &Path) -> Result<Parts> {
        let mut input = Input::open(path)?;
        let length = input.length;
        let place = crate::input::Place { path, member: None };
        let (header, shape) = checked(&mut input, length, &place)?;
        Ok(Parts { input, header, shape })
    }

    pub fn shape(&self) -> &Shape {
        &self.shape
    }

    /// The type that the parts have.
    pub fn element_type(&self) -> ElementType {
        self.header.stored.element_type()
    }

    /// Of an array (n) the elements from one on, (count); of one (rows n) those of each row,
    /// (rows count).
    ///
    /// # Errors
    /// More axes; the system's.
    pub fn columns(&mut self, from: usize, count: usize) -> Result<Array> {
        let (rows, n) = match self.shape[..] {
            [n] => (1, n),
            [rows, n] => (rows, n),
            _ => {
                let text = "an array that is read in parts has one axis or two";
                return Err(Error::wanted(ErrorKind::Shape, text, &self.shape));
            }
        };
        let turned = self.header.fortran_order && self.shape.rank() == 2;
        let (shape, segments) = match (turned, self.shape.rank()) {
            // Columns lie one after another.
            (true, _) => ([count, rows], (from * rows, count * rows, 0)),
            (_, 1) => ([1, count], (from, count, 0)),
            _ => ([rows, count], (from, count, n)),
        };
        let part = self.cells(Shape::new(shape)?, segments)?;
        match (turned, self.shape.rank()) {
            (true, _) => reversed(&part),
            (_, 1) => part.reshape(Shape::vector(count)),
            _ => Ok(part),
        }
    }

    /// Cells in segments of `length`, the first from `first` on, each `step` behind the one before.
    fn cells(
        &mut self,
        shape: Shape,
        (first, length, step): (usize, usize, usize),
    ) -> Result<Array> {
        let bytes = self.header.stored.bytes() as u64;
        let begin = self.header.bytes + first as u64 * bytes;
        let mut source = Segments {
            input: &mut self.input,
            next: begin,
            step: step as u64 * bytes,
            length: length as u64 * bytes,
            left: 0,
        };
        let Header { stored, big_endian, .. } = self.header;
        let cells = Cells { stored, big_endian, shape }.read(&mut source);
        cells.map_err(|e| e.at(begin, &self.input.place()))
    }
}

/// Bytes that lie apart, as a source.
struct Segments<'a> {
    input: &'a mut Input,
    /// Where the next segment begins.
    next: u64,
    /// From one to the next.
    step: u64,
    length: u64,
    /// Bytes of this one.
    left: u64,
}

impl Read for Segments<'_> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        if self.left == 0 {
            self.input.seek(self.next).map_err(io::Error::other)?;
            self.next += self.step;
            self.left = self.length;
        }
        let most = usize::try_from(self.left).map_or(buffer.len(), |left| left.min(buffer.len()));
        let count = self.input.read(&mut buffer[..most])?;
        self.left -= count as u64;
        Ok(count)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::npy;

    #[test]
    fn parts_are_those_of_the_whole_in_either_order() {
        let folder = std::env::temp_dir().join(format!("rung-parts-{}", std::process::id()));
        std::fs::create_dir_all(&folder).unwrap();
        let path = folder.join("a.npy");
        let numbers: Vec<f64> = (0..21).map(f64::from).collect();
        let rows = Array::from_slice(&numbers, Shape::new([3, 7]).unwrap()).unwrap();
        let columns = Array::from_slice(&numbers, Shape::new([7, 3]).unwrap()).unwrap();
        let whole = [rows, columns.transpose(&[1, 0]).unwrap()];
        for array in &whole {
            npy::write(array, &path).unwrap();
            let all: Vec<f64> = array.numbers().map(|x| x.to_f64()).collect();
            let mut parts = Parts::open(&path).unwrap();
            assert_eq!((&parts.shape()[..], parts.element_type()), (&[3, 7][..], ElementType::F64));
            for (from, count) in [(0, 7), (2, 3), (6, 1), (0, 1), (3, 0)] {
                let part = parts.columns(from, count).unwrap();
                assert_eq!(part.shape()[..], [3, count]);
                let got: Vec<f64> = part.numbers().map(|x| x.to_f64()).collect();
                let wanted: Vec<f64> =
                    (0..3).flat_map(|row| all[row * 7 + from..][..count].to_vec()).collect();
                assert_eq!(got, wanted, "{from} {count}");
            }
        }
        npy::write(&Array::vector(&numbers).unwrap(), &path).unwrap();
        let part = Parts::open(&path).unwrap().columns(19, 2).unwrap();
        assert_eq!(part.as_slice::<f64>().unwrap(), [19.0, 20.0]);
        std::fs::remove_dir_all(&folder).unwrap();
    }
}
