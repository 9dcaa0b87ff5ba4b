//! Quantised matrices beside arrays: packing, unpacking, and a matrix times a vector, each with the
//! bits of `rung_math::quantized` on one thread or several.
//!
//! They are no operations of the table: the operand is no array. Front ends call these functions.

use crate::call::at_type;
use rung_array::quantized::{Format, check_columns};
use rung_array::{Array, Quantized};
use rung_base::{ElementType, Error, ErrorKind, Result, Shape};
use rung_lanes::Lanes;
use rung_lanes::quantized::Blocks;
use rung_math::quantized::{BLOCK, BYTES, decode, encode, quantize as quantize_block, row};

/// The matrix m (rows, columns) of any float type in blocks of 32. Elements wider than f32 are
/// rounded to f32 first.
pub fn quantize(m: &Array, format: Format) -> Result<Quantized> {
    if m.rank() != 2 {
        let text = format!("quantize expects a matrix: got shape {}", m.shape());
        return Err(Error::new(ErrorKind::Shape, text));
    }
    if !ElementType::FLOATS.contains(&m.element_type()) {
        let text = format!("quantize expects floats: got {}", m.element_type().lisp_name());
        return Err(Error::new(ErrorKind::ElementType, text));
    }
    let (rows, columns) = (m.shape()[0], m.shape()[1]);
    check_columns(format, columns)?;
    let cells: Vec<f32> = at_type(m, ElementType::F32)?.view::<f32>().iter().collect();
    let octets: Vec<u8> = cells.as_chunks::<BLOCK>().0.iter().flat_map(encode).collect();
    Quantized::from_octets(format, rows, columns, octets)
}

/// The matrix's numbers (rows, columns) at a float type, each rounded once.
pub fn dequantize(q: &Quantized, element_type: ElementType) -> Result<Array> {
    let blocks = q.octets().as_chunks::<BYTES>().0;
    let wide = Array::build::<f64>(Shape::new(q.shape())?, |out| {
        for (block, out) in blocks.iter().zip(out.chunks_exact_mut(BLOCK)) {
            for (index, out) in out.iter_mut().enumerate() {
                *out = decode(block, index);
            }
        }
    })?;
    at_type(&wide, element_type)
}

/// q (rows, columns) times x (columns) in single floats: with `lanes`, or by the definition.
pub fn matvec(lanes: Option<&Lanes>, q: &Quantized, x: &Array) -> Result<Array> {
    let [rows, columns] = q.shape();
    if x.rank() != 1 {
        let text = format!("matvec expects a matrix and a vector: got rank {}", x.rank());
        return Err(Error::new(ErrorKind::Shape, text));
    }
    if x.element_type() != ElementType::F32 {
        let text = format!(
            "element types differ: (QUANTIZED Q8_0) and {}",
            x.element_type().lisp_name().to_uppercase()
        );
        return Err(Error::new(ErrorKind::ElementType, text)
            .hint("a quantised matrix takes a single-float vector"));
    }
    if x.size() != columns {
        let text = format!("matvec dimensions differ: {columns} columns and {} elements", x.size());
        return Err(Error::new(ErrorKind::Shape, text));
    }
    let x: Vec<f32> = x.view::<f32>().iter().collect();
    let blocks = columns / BLOCK;
    Array::build::<f32>(Shape::new([rows])?, |out| match lanes {
        Some(lanes) => {
            let blocks = Blocks { octets: q.octets(), rows, blocks };
            rung_lanes::quantized::matvec(lanes, blocks, &x, out);
        }
        None => {
            let x: Vec<_> = x.as_chunks::<BLOCK>().0.iter().map(quantize_block).collect();
            for (i, out) in out.iter_mut().enumerate() {
                *out = row(&q.octets()[q.row(i)], &x) as f32;
            }
        }
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ramp(rows: usize, columns: usize) -> Array {
        let cells: Vec<f32> = (0..rows * columns).map(|i| (i % 255) as f32 - 127.0).collect();
        Array::from_slice(&cells, Shape::new([rows, columns]).unwrap()).unwrap()
    }

    #[test]
    fn a_matrix_goes_into_blocks_and_back() {
        let q = quantize(&ramp(3, 64), Format::Q8_0).unwrap();
        assert_eq!((q.shape(), q.get(0, 0)), ([3, 64], Ok(-127.0)));
        let back = dequantize(&q, ElementType::F32).unwrap();
        let numbers: Vec<f32> = back.view::<f32>().iter().collect();
        assert_eq!(numbers[..3], [-127.0, -126.0, -125.0]);
        let again = Quantized::from_octets(Format::Q8_0, 3, 64, q.octets()).unwrap();
        assert_eq!(again.get(2, 63), q.get(2, 63));
    }

    #[test]
    fn lanes_and_rows_give_the_definitions_bits() {
        let q = quantize(&ramp(40, 96), Format::Q8_0).unwrap();
        let x = Array::vector(&(0..96).map(|i| (i as f32).sin()).collect::<Vec<_>>()).unwrap();
        let numbers = |a: Result<Array>| a.unwrap().view::<f32>().iter().collect::<Vec<f32>>();
        let plain = numbers(matvec(None, &q, &x));
        assert_eq!(numbers(matvec(Some(&Lanes::new(2)), &q, &x)), plain);
        let some = q.rows(7, 5).unwrap();
        assert_eq!(numbers(matvec(Some(&Lanes::new(1)), &some, &x)), plain[7..12]);
    }

    #[test]
    fn mistakes_say_what_was_wanted() {
        let text = |e: Error| e.to_string();
        let q = quantize(&ramp(2, 32), Format::Q8_0).unwrap();
        let odd = quantize(&ramp(2, 33), Format::Q8_0).unwrap_err();
        assert!(text(odd).contains("quantize needs columns in multiples of 32"));
        let short = matvec(None, &q, &Array::vector(&[1.0_f32; 4]).unwrap()).unwrap_err();
        assert!(text(short).contains("matvec dimensions differ: 32 columns and 4 elements"));
        let wide = matvec(None, &q, &Array::vector(&[1.0_f64; 32]).unwrap()).unwrap_err();
        assert!(text(wide).contains("element types differ"));
        assert!(text(matvec(None, &q, &ramp(1, 32)).unwrap_err()).contains("expects a matrix"));
    }
}
