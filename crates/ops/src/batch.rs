//! `vec:matvec-batch`: one matrix times each vector of a list, with the bits of as many products, the
//! matrix read once.

use crate::arguments::Arguments;
use crate::call::{Context, Prepared, Run};
use crate::record::{Exactness, FLOATS, Kind, Op, Rungs, VEC, required};
use crate::samples::{self, Sample};
use crate::strict::{product_operands, types_differ};
use crate::value::Value;
use rung_array::{Array, Quantized};
use rung_base::{Result, Shape};

pub const OPS: &[Op] = &[Op {
    names: &["matvec-batch"],
    package: VEC,
    doc: "The product of a matrix (m n) with each vector of a list, which all have n elements and one \
          width: the bits of a matvec for each, while the matrix is read once.",
    parameters: &[required("w", Kind::Any), required("vectors", Kind::Arrays)],
    result: "a list of vectors of m elements, as wide as the vectors",
    types: FLOATS,
    exact: Exactness::LibraryOrder,
    prepare,
    rungs: Rungs::none("the operation of linalg that computes it is asked"),
    resident: true,
    samples: batches,
    example: "(vec:matvec-batch #d((1 2) (3 4)) (list #d(1 0) #d(0 1))) => (#d(1.0 3.0) #d(2.0 4.0))",
    ..Op::BASE
}];

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

fn prepare(_: &'static Op, mut arguments: Arguments, _: &mut Context) -> Result<Prepared> {
    let (w, vectors) = (arguments.any(0), arguments.arrays(1)?);
    for x in &vectors {
        product_operands(vec![w.clone(), x.clone().into()])?;
        if x.element_type() != vectors[0].element_type() {
            return Err(types_differ(&vectors[0], x));
        }
    }
    Ok(Prepared::Steps(Box::new(move |run| {
        let products = match w {
            _ if vectors.is_empty() => return Ok(vec![Value::Nil]),
            Value::Quantized(q) => quantized(run, q, vectors)?,
            w => plain(run, w, vectors)?,
        };
        Ok(vec![Value::List(products.into_iter().map(Value::Array).collect())])
    })))
}

/// A stack of columns, each a product of the one matrix.
fn plain(run: &mut dyn Run, w: Value, vectors: Vec<Array>) -> Result<Vec<Array>> {
    let (count, n) = (vectors.len(), vectors[0].size());
    let columns = stacked(run, vectors)?.reshape(Shape::new([count, n, 1])?)?;
    let products = run.array("matmul", vec![w, columns.into()])?;
    let rows = products.shape()[1];
    rows_of(&products.reshape(Shape::new([count, rows])?)?)
}

/// On a device the matrix stays there and meets the vectors one by one.
fn quantized(run: &mut dyn Run, q: Quantized, vectors: Vec<Array>) -> Result<Vec<Array>> {
    const PRODUCT: &str = "%la-quantized-matvec";
    if q.array()?.resident().is_some() {
        let q = Value::Quantized(q);
        return vectors
            .into_iter()
            .map(|x| run.array(PRODUCT, vec![q.clone(), x.into()]))
            .collect();
    }
    let x = stacked(run, vectors)?;
    rows_of(&run.array(PRODUCT, vec![Value::Quantized(q), x.into()])?)
}

fn stacked(run: &mut dyn Run, vectors: Vec<Array>) -> Result<Array> {
    run.array("stack", vec![Value::List(vectors.into_iter().map(Value::Array).collect())])
}

fn rows_of(a: &Array) -> Result<Vec<Array>> {
    (0..a.shape()[0]).map(|i| a.row(i)).collect()
}
