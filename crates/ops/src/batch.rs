//! `vec:matvec-batch`: one matrix times each vector of a list, with the bits of as many products, the
//! matrix read once.

use crate::arguments::Arguments;
use crate::call::{Call, Context, Detail, Form, Prepared, Product, Run};
use crate::product;
use crate::record::{Definition, FLOATS, Family, INTERNAL, Kind, Op, Rungs, VEC, required};
use crate::samples::{self, Sample};
use crate::strict::{product_operands, types_differ};
use crate::value::Value;
use rung_array::Array;
use rung_base::{ElementType, Error, ErrorKind, Result, Shape};
use smallvec::smallvec;

pub const OPS: &[Op] = &[
    Op {
        names: &["matvec-batch"],
        package: VEC,
        doc: "The product of a matrix (m n) with each vector of a list, which all have n elements and \
              one width: the bits of a matvec for each, while the matrix is read once.",
        parameters: &[required("w", Kind::Any), required("vectors", Kind::Arrays)],
        result: "a list of vectors of m elements, as wide as the vectors",
        types: FLOATS,
        prepare,
        rungs: Rungs::none("the operation of linalg that computes it is asked"),
        resident: true,
        samples: batches,
        example: "(vec:matvec-batch #d((1 2) (3 4)) (list #d(1 0) #d(0 1))) => \
                  (#d(1.0 3.0) #d(2.0 4.0))",
        ..Op::BASE
    },
    Op {
        names: &[ROWS],
        package: INTERNAL,
        doc: "The product of a matrix with each row of another.",
        parameters: &[required("w", Kind::Array), required("x", Kind::Array)],
        result: "a matrix: a row for each of x",
        types: FLOATS,
        prepare: prepare_rows,
        rungs: Rungs::processor(
            Definition::One(product::portable),
            product::lanes,
            "no kernel reads a matrix once for several folds",
        ),
        beside: Some(product::beside),
        samples: rows,
        example: "(linalg::%la-matvec-rows #d((1 2) (3 4)) #d((1 0) (0 1))) => #d((1.0 3.0) (2.0 4.0))",
        ..Op::BASE
    },
];

const ROWS: &str = "%la-matvec-rows";
const QUANTIZED: &str = "%la-quantized-matvec";

/// Counts of vectors, rows and columns: of none, of one, of rows that exceed what is kept in cache.
fn batches() -> Vec<Sample> {
    const SIZES: [(usize, usize, usize); 7] =
        [(0, 3, 2), (1, 5, 70), (2, 1, 1), (3, 4, 0), (2, 0, 3), (3, 70, 300), (2, 5, 4097)];
    let batch = |&(count, rows, columns): &(usize, usize, usize)| {
        let vector = |i: usize| samples::spread(&[columns], 1.0 + i as f64);
        vec![samples::hard(&[rows, columns], 1.0), Value::List((0..count).map(vector).collect())]
    };
    SIZES.iter().map(batch).collect()
}

/// The same, the vectors as the rows of a matrix.
fn rows() -> Vec<Sample> {
    const SIZES: [(usize, usize, usize); 6] =
        [(1, 5, 70), (2, 1, 1), (3, 4, 0), (2, 0, 3), (3, 70, 300), (2, 5, 4097)];
    let pair = |&(count, rows, columns): &(usize, usize, usize)| {
        vec![samples::hard(&[rows, columns], 1.0), samples::spread(&[count, columns], 2.0)]
    };
    SIZES.iter().map(pair).collect()
}

fn prepare(_: &'static Op, mut arguments: Arguments, _: &mut Context) -> Result<Prepared> {
    let (w, vectors) = (arguments.any(0), arguments.arrays(1)?);
    for x in &vectors {
        if x.rank() != 1 {
            let text = format!("expected vectors: got rank {}", x.rank());
            return Err(
                Error::new(ErrorKind::Shape, text).hint(format!("its shape is {}", x.shape()))
            );
        }
        if x.size() != vectors[0].size() {
            let text = format!("lengths differ: {} and {}", vectors[0].size(), x.size());
            return Err(Error::new(ErrorKind::Shape, text));
        }
        product_operands(vec![w.clone(), x.clone().into()])?;
        if x.element_type() != vectors[0].element_type() {
            return Err(types_differ(&vectors[0], x));
        }
    }
    Ok(Prepared::Steps(Box::new(move |run| {
        if vectors.is_empty() {
            return Ok(vec![Value::Nil]);
        }
        let products = products(run, w, vectors)?;
        Ok(vec![Value::List(products.into_iter().map(Value::Array).collect())])
    })))
}

/// On a device the matrix stays there and meets the vectors one by one.
fn products(run: &mut dyn Run, w: Value, vectors: Vec<Array>) -> Result<Vec<Array>> {
    let (resident, one, all) = match &w {
        Value::Quantized(q) => (q.array()?.resident().is_some(), QUANTIZED, QUANTIZED),
        Value::Array(matrix) => (matrix.resident().is_some(), "dot", ROWS),
        _ => (false, "dot", ROWS),
    };
    if resident {
        let product = |x: Array| run.array(one, vec![w.clone(), x.into()]);
        return vectors.into_iter().map(product).collect();
    }
    let list = Value::List(vectors.into_iter().map(Value::Array).collect());
    let x = run.array("stack", vec![list])?;
    let rows = run.array(all, vec![w, x.into()])?;
    (0..rows.shape()[0]).map(|i| rows.row(i)).collect()
}

/// A fold for each pair of a row of x and a row of w.
fn prepare_rows(op: &'static Op, mut arguments: Arguments, _: &mut Context) -> Result<Prepared> {
    let (w, x) = (arguments.array(0)?, arguments.array(1)?);
    let ([m, n], [count, inner]) = (&w.shape()[..], &x.shape()[..]) else {
        return Err(Error::new(ErrorKind::Shape, format!("{ROWS} expects two matrices")));
    };
    if n != inner {
        return Err(Error::new(ErrorKind::Shape, format!("rows differ: {n} and {inner} elements")));
    }
    let (result, shape) = (x.element_type(), Shape::matrix(*count, *m)?);
    if shape.size() == 0 {
        return Ok(Prepared::Done(vec![Array::zeros(result, shape)?.into()]));
    }
    let units = [*count, *m, *n].into_iter().fold(1, |all, n| u64::saturating_mul(all, n as u64));
    let product = Product { batch: 1, rows: *count, columns: *m, inner: *n, form: Form::Folds };
    let call = Call::like(op, x.clone(), result, Family::Product);
    Ok(Prepared::Call(Box::new(Call {
        given: smallvec![w.shape().clone(), x.shape().clone()],
        operands: [x.clone(), w.transpose(&[1, 0])?].into_iter().collect(),
        shape,
        // Folds are written in f64 and narrowed once.
        raw: ElementType::F64,
        detail: Detail::Product(product),
        units,
        ..call
    })))
}
