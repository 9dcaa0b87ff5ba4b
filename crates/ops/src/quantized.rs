//! Quantised matrices beside arrays: packing, unpacking, and a matrix times a vector, each with the
//! bits of `rung_math::quantized` on one thread or several.
//!
//! A matrix is made and unmade by functions that front ends call; its product is an operation of the
//! table, which `vec:matvec` hands on to.

use crate::arguments::Arguments;
use crate::call::{Call, Context, Detail, Prepared, at_type, elements};
use crate::decline::{Answer, Decline};
use crate::record::{Definition, Family, INTERNAL, Kind, Offer, Op, Rungs, required};
use crate::round_trip::{Bind, Made, RoundTrip, Work};
use crate::samples::{self, Sample};
use crate::strict::shown;
use crate::value::Value;
use rung_array::quantized::{Format, check_columns};
use rung_array::{Array, Quantized};
use rung_base::{ElementType, Error, ErrorKind, Result, Shape, memory};
use rung_kernel::quantized as kernels;
use rung_lanes::Lanes;
use rung_lanes::quantized::Blocks;
use rung_math::quantized::{BLOCK, BYTES, decode, encode, quantize as quantize_block, row};
use smallvec::smallvec;

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
    let cells = elements::<f32>(&at_type(m, ElementType::F32)?)?;
    let blocks = cells.as_chunks::<BLOCK>().0;
    let wanted = || format!("a quantised matrix ({rows} {columns})");
    let mut octets = memory::room(blocks.len() * BYTES, wanted)?;
    octets.extend(blocks.iter().flat_map(encode));
    Quantized::from_octets(format, rows, columns, &Array::vector::<u8>(&octets)?)
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

pub const OPS: &[Op] = &[Op {
    names: &["%la-quantized-matvec"],
    package: INTERNAL,
    doc: "A quantised matrix times a vector of singles, or each row of a matrix of them, which is \
          quantised likewise: integers in a block, a fold in double-float over the blocks of a row.",
    parameters: &[required("q", Kind::Any), required("x", Kind::Array)],
    result: "a single-float vector, or a matrix whose rows are those of x's rows",
    types: &[ElementType::F32],
    prepare,
    rungs: Rungs::with_device(
        Definition::One(portable),
        lanes,
        Offer::RoundTrip(Family::Product),
        device,
    ),
    samples: || {
        const SHAPES: [(usize, usize); 5] = [(0, 32), (1, 32), (3, 64), (5, 2080), (2, 32 * 65)];
        let finite = SHAPES.iter().filter_map(|&(m, n)| sample(m, samples::spread(&[n], 2.0)));
        // Infinities and NaN make the row NaN.
        let hard = sample(2, samples::hard(&[64], 2.0));
        // Several vectors at once, more rows than are kept for them in cache.
        const BATCHES: [(usize, usize, usize); 4] =
            [(1, 3, 64), (3, 0, 32), (3, 7, 2080), (2, 2000, 64)];
        let batch =
            |&(count, m, n): &(usize, usize, usize)| sample(m, samples::spread(&[count, n], 2.0));
        finite.chain(hard).chain(BATCHES.iter().filter_map(batch)).collect()
    },
    example: "(linalg::%la-quantized-matvec (rung:quantize (la:full '(2 32) 127)) \
              (la:ones 32 :element-type 'single-float)) => #f(4064.0 4064.0)",
    ..Op::BASE
}];

/// A matrix of some rows, and x in singles.
fn sample(rows: usize, x: Value) -> Option<Sample> {
    let Value::Array(x) = x else { return None };
    let columns = x.shape().last().copied()?;
    let Value::Array(m) = samples::spread(&[rows, columns], 3.0) else { return None };
    let q = quantize(&m, Format::Q8_0).ok()?;
    Some(vec![Value::Quantized(q), x.convert(ElementType::F32).ok()?.into()])
}

/// q (rows, columns) times x (columns).
fn prepare(op: &'static Op, mut arguments: Arguments, _: &mut Context) -> Result<Prepared> {
    let q = match arguments.any(0) {
        Value::Quantized(q) => q,
        other => return Err(Error::wanted(ErrorKind::Type, "expected a quantised matrix", other)),
    };
    let x = arguments.array(1)?;
    let [rows, columns] = q.shape();
    if !matches!(x.rank(), 1 | 2) {
        let text = format!("matvec expects a matrix and a vector: got rank {}", x.rank());
        return Err(Error::new(ErrorKind::Shape, text));
    }
    if x.element_type() != ElementType::F32 {
        let text =
            format!("element types differ: (QUANTIZED Q8_0) and {}", shown(x.element_type()));
        return Err(Error::new(ErrorKind::ElementType, text)
            .hint("a quantised matrix takes a single-float vector"));
    }
    if x.shape().last() != Some(&columns) {
        let text = format!("matvec dimensions differ: {columns} columns and {} elements", x.size());
        return Err(Error::new(ErrorKind::Shape, text));
    }
    let given = smallvec![Shape::new([rows, columns])?, x.shape().clone()];
    let count = x.shape()[..x.rank() - 1].iter().copied();
    let shape = Shape::new(count.chain([rows]))?;
    let units = (rows as u64).saturating_mul(x.size() as u64);
    let mut call = Call::like(op, x, ElementType::F32, Family::Product);
    call.operands.push(q.array()?);
    Ok(Prepared::Call(Box::new(Call { given, shape, units, detail: Detail::Quantized(q), ..call })))
}

fn portable(call: &Call) -> Result<Array> {
    let (q, x) = operands(call)?;
    let [rows, columns] = q.shape();
    let x: Vec<_> = x.as_chunks::<BLOCK>().0.iter().map(quantize_block).collect();
    Array::build::<f32>(call.shape.clone(), |out| {
        let vectors = x.chunks(columns.max(BLOCK) / BLOCK);
        for (x, out) in vectors.zip(out.chunks_mut(rows.max(1))) {
            for (i, out) in out.iter_mut().enumerate() {
                *out = row(&q.octets()[q.row(i)], x) as f32;
            }
        }
    })
}

fn lanes(call: &Call, lanes: &Lanes) -> Result<Answer> {
    let (q, x) = operands(call)?;
    let [rows, columns] = q.shape();
    let blocks = Blocks { octets: q.octets(), rows, blocks: columns / BLOCK };
    let count = call.operands[0].shape().iter().rev().skip(1).product();
    let product = Array::build::<f32>(call.shape.clone(), |out| {
        rung_lanes::quantized::matvecs(lanes, blocks, &x, count, out);
    });
    product.map(Answer::Done)
}

/// x (columns) and the matrix's bytes, out (rows).
fn device(call: &Call, trip: &RoundTrip) -> Result<Answer> {
    let [rows, columns] = matrix(call)?.shape();
    if call.operands[0].rank() != 1 {
        let reason = "several vectors at once: each is a product of its own there";
        return Ok(Answer::Declined(Decline::NoKernel(reason)));
    }
    if rows * columns == 0 {
        return Array::zeros(ElementType::F32, call.shape.clone()).map(Answer::Done);
    }
    let x = match trip.packed(&call.operands[0])? {
        Ok(x) => x,
        Err(reason) => return Ok(Answer::Declined(reason)),
    };
    let placed = [trip.place(&x), trip.place(&call.operands[1])];
    let blocks = columns / BLOCK;
    let plan = trip.quantized_kernels().plan(rows, blocks, placed[1].offset(), placed[0].offset());
    let work = plan.map(|plan| {
        let mut work = Work::default();
        let out = work.make(Made::Result(ElementType::F32, call.shape.clone()));
        let scales = work.make(Made::Workspace(blocks * size_of::<f32>()));
        let words = kernels::words_of(blocks) * size_of::<i32>();
        let quants = work.make(Made::Workspace(words));
        work.stage(plan.vector, [Bind::Operand(0), scales, quants]);
        work.stage(plan.rows, [Bind::Operand(1), scales, quants, out]);
        work
    });
    trip.run_work(work, &placed)
}

fn matrix(call: &Call) -> Result<&Quantized> {
    match &call.detail {
        Detail::Quantized(q) => Ok(q),
        _ => Err(Error::new(ErrorKind::Internal, "a quantised product without its matrix")),
    }
}

fn operands(call: &Call) -> Result<(&Quantized, Vec<f32>)> {
    Ok((matrix(call)?, elements::<f32>(&call.operands[0])?))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Ladder, NoCaller, Rung};
    use rung_base::Settings;

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
        let again = Quantized::from_octets(Format::Q8_0, 3, 64, &q.array().unwrap()).unwrap();
        assert_eq!(again.get(2, 63), q.get(2, 63));
    }

    /// Through the ladder's own checks, by one rung alone.
    fn product(rung: Rung, q: &Quantized, x: &Array) -> Result<Vec<f32>> {
        let lanes = (rung == Rung::Lanes).then(|| Lanes::new(2));
        let off = || Decline::Off("test");
        let mut ladder = Ladder::with_rungs(&Settings::default(), lanes, Err(off()), Err(off()));
        ladder.only = Some(rung);
        let values = vec![Value::Quantized(q.clone()), x.clone().into()];
        match &ladder.call(&OPS[0], values, &mut NoCaller)?[..] {
            [Value::Array(a)] => Ok(a.view::<f32>().iter().collect()),
            other => panic!("{other:?}"),
        }
    }

    #[test]
    fn rows_of_a_matrix_give_its_bits() {
        let q = quantize(&ramp(40, 96), Format::Q8_0).unwrap();
        let x = Array::vector(&(0..96).map(|i| (i as f32).sin()).collect::<Vec<_>>()).unwrap();
        let plain = product(Rung::Portable, &q, &x).unwrap();
        assert_eq!(product(Rung::Lanes, &q, &x).unwrap(), plain);
        let some = q.rows(7, 5).unwrap();
        assert_eq!(product(Rung::Lanes, &some, &x).unwrap(), plain[7..12]);
    }

    #[test]
    fn mistakes_say_what_was_wanted() {
        let text = |e: Error| e.to_string();
        let q = quantize(&ramp(2, 32), Format::Q8_0).unwrap();
        let odd = quantize(&ramp(2, 33), Format::Q8_0).unwrap_err();
        assert!(text(odd).contains("quantize needs columns in multiples of 32"));
        let short =
            product(Rung::Portable, &q, &Array::vector(&[1.0_f32; 4]).unwrap()).unwrap_err();
        assert!(text(short).contains("matvec dimensions differ: 32 columns and 4 elements"));
        let wide =
            product(Rung::Portable, &q, &Array::vector(&[1.0_f64; 32]).unwrap()).unwrap_err();
        assert!(text(wide).contains("element types differ"));
        let stack = ramp(1, 32).reshape(Shape::new([1, 1, 32]).unwrap()).unwrap();
        let stacked = product(Rung::Portable, &q, &stack).unwrap_err();
        assert!(text(stacked).contains("expects a matrix"));
    }
}
