//! Matrix products: `matmul` over matrices and stacks, `dot` with its folds for vectors.
//!
//! A result cell of a matrix product runs in blocks of 512 at the operand width
//! (`rung_math::product`); a matrix times a vector, a vector times a matrix and two vectors are
//! folds in f64 with fused multiply-add (`rung_math::fold::dot`). Both are laid out as one stack
//! of products, (batch, rows, inner) by (batch, inner, columns).

mod device;
mod library;
mod mode;

pub(crate) use device::{Following, tiles};
pub use mode::{Mode, mode};

use crate::arguments::{Arguments, Operand, number_type};
use crate::call::{
    Call, Context, Detail, Form, Prepared, Product, Types, at_type, types_of, waiting,
};
use crate::decline::Answer;
use crate::record::{
    Definition, Entry, Exactness, Family, Kind, Link, Member, Offer, Op, Parameter, Part, Quick,
    RationalFold, Rungs, SMALL, required,
};
use crate::samples::{self, Sample};
use crate::value::Value;
use rung_array::{Array, Number, Offsets, View};
use rung_base::{Element, ElementType, Error, ErrorKind, Result, Shape, memory};
use rung_lanes::{Float, Lanes, Stored, matvec, matvecs, small};
use rung_math::fold::dot;
use rung_math::product::{Fused, cell};
use smallvec::{SmallVec, smallvec};

pub const OPS: &[Op] = &[
    Op {
        names: &["matmul"],
        doc: "The matrix product; leading axes of higher ranks are a stack, and broadcast.",
        parameters: PAIR,
        result: "an array of the first float array's width (64-bit integers, which wrap, of integers); a \
                 vector's added axis is dropped",
        exact: Exactness::LibraryOrder,
        prepare: prepare_matmul,
        chain: Link::PRODUCT,
        quick: Quick::Two(quick_pair),
        rungs: RUNGS,
        beside: Some(beside),
        samples: matmul_samples,
        example: "(la:matmul #d((1 2) (3 4)) #d((5 6) (7 8))) => #d((19.0 22.0) (43.0 50.0))",
        ..Op::BASE
    },
    Op {
        names: &["dot"],
        rational: Some(RationalFold::Dot),
        doc: "Vectors: the sum of products. Matrices: the matrix product. A number: `mul`.",
        parameters: PAIR,
        result: "a double-float (an integer for integers) for two vectors, else an array as of `matmul`",
        exact: Exactness::LibraryOrder,
        prepare: prepare_dot,
        chain: Link::PRODUCT,
        quick: Quick::Two(quick_pair),
        rungs: RUNGS,
        beside: Some(beside),
        samples: dot_samples,
        example: "(la:dot #d(1 2 3) #d(4 5 6)) => 32.0",
        ..Op::BASE
    },
];

const PAIR: &[Parameter] = &[required("a", Kind::Operand), required("b", Kind::Operand)];

pub(crate) const RUNGS: Rungs = Rungs {
    portable: Definition::One(portable),
    lanes: Entry::Has(lanes),
    library: Entry::Has(library::run),
    device: Entry::Has(Member { offer: Offer::RoundTrip(Family::Product), run: device::run }),
};

fn prepare_matmul(op: &'static Op, mut arguments: Arguments, _: &mut Context) -> Result<Prepared> {
    let operands = [arguments.operand(0)?, arguments.operand(1)?];
    let [Operand::Array(a), Operand::Array(b)] = &operands else {
        let text = format!(
            "matmul expects arrays: got {} and {}",
            shown(&operands[0]),
            shown(&operands[1])
        );
        return Err(Error::new(ErrorKind::Shape, text).hint("(la:mul a b) scales by a number"));
    };
    if a.rank() == 0 || b.rank() == 0 {
        let text = format!("matmul expects arrays: got shapes {} and {}", a.shape(), b.shape());
        return Err(Error::new(ErrorKind::Shape, text));
    }
    let types = product_types(&operands);
    if a.rank() == 1 && b.rank() == 1 {
        return prepare_vectors(op, a, b, types.compute);
    }
    prepare_product(op, a, b, types)
}

fn prepare_dot(
    op: &'static Op,
    mut arguments: Arguments,
    context: &mut Context,
) -> Result<Prepared> {
    let operands = [arguments.operand(0)?, arguments.operand(1)?];
    let rank = |o: &Operand| if let Operand::Array(a) = o { a.rank() } else { 0 };
    let ranks = (rank(&operands[0]), rank(&operands[1]));
    let types = product_types(&operands);
    if ranks.0 == 0 || ranks.1 == 0 {
        return multiply(&operands, context);
    }
    let [Operand::Array(a), Operand::Array(b)] = &operands else {
        return multiply(&operands, context);
    };
    match ranks {
        (1, 1) => prepare_vectors(op, a, b, types.compute),
        (1..=2, 1..=2) => prepare_product(op, a, b, types),
        _ => Err(Error::new(
            ErrorKind::Shape,
            format!(
                "dot expects rank <= 2 (linalg:matmul stacks rank >= 3): got {} and {}",
                a.shape(),
                b.shape()
            ),
        )),
    }
}

/// Integers among themselves run and stay in 64 bits.
pub(crate) fn product_types(operands: &[Operand; 2]) -> Types {
    let types = types_of(operands);
    match types.compute {
        ElementType::I64 => Types { compute: ElementType::I64, result: ElementType::I64 },
        _ => types,
    }
}

/// The type in which folds of products are written.
fn fold_type(compute: ElementType) -> ElementType {
    if compute == ElementType::I64 { ElementType::I64 } else { ElementType::F64 }
}

/// Two small packed matrices, or two vectors, of one float type.
fn quick_pair(lanes: &Lanes, a: Part, b: Part) -> Option<Value> {
    quick::<f64>(lanes, a, b).or_else(|| quick::<f32>(lanes, a, b))
}

fn quick<T: Float>(lanes: &Lanes, a: Part, b: Part) -> Option<Value> {
    let (x, y) = (a.few::<T>()?, b.few::<T>()?);
    match (&a.small()?.shape()[..], &b.small()?.shape()[..]) {
        ([k], [inner]) if k == inner => {
            let sum = small::dot(lanes, x, y);
            Some(Value::Number(Number::F64(sum)))
        }
        (&[m, k], &[inner, n]) if k == inner && m.checked_mul(n)? <= SMALL => {
            let (a, b) = (rung_lanes::Matrix::new(x, m, k), rung_lanes::Matrix::new(y, k, n));
            let fill = |out: &mut [T]| rung_lanes::product::product(lanes, a, b, out);
            let shape = Shape::new([m, n]).ok()?;
            Array::build::<T>(shape, fill).ok().map(Value::Array)
        }
        _ => None,
    }
}

/// A number beside an array: the record of `mul` checks and lays out.
fn multiply(operands: &[Operand; 2], context: &mut Context) -> Result<Prepared> {
    let values = operands.iter().map(|o| match o {
        Operand::Array(a) => a.clone().into(),
        Operand::Number(n) => crate::value::Value::Number(*n),
    });
    let mul = crate::table::find("mul")
        .ok_or_else(|| Error::new(ErrorKind::Internal, "the table has no mul"))?;
    (mul.prepare)(mul, Arguments::bind(mul, values.collect())?, context)
}

fn shown(operand: &Operand) -> String {
    match operand {
        Operand::Array(a) => a.shape().to_string(),
        Operand::Number(n) => format!("the {} {n}", number_type(*n).lisp_name()),
    }
}

/// a (k), b (k), out one number in f64, whatever the operands' width.
fn prepare_vectors(
    op: &'static Op,
    a: &Array,
    b: &Array,
    compute: ElementType,
) -> Result<Prepared> {
    let k = a.size();
    if k != b.size() {
        let text = format!("dot expects equal-length vectors: {} and {}", a.shape(), b.shape());
        return Err(Error::new(ErrorKind::Shape, text));
    }
    let operands = [
        at_type(a, compute)?.reshape(Shape::new([1, 1, k])?)?,
        at_type(b, compute)?.reshape(Shape::new([1, k, 1])?)?,
    ];
    Ok(Prepared::Call(Box::new(Call {
        op,
        given: smallvec![a.shape().clone(), b.shape().clone()],
        operands: operands.into_iter().collect(),
        shape: Shape::scalar(),
        raw: fold_type(compute),
        result: fold_type(compute),
        to_number: true,
        wanted: Default::default(),
        more: Vec::new(),
        targets: Default::default(),
        detail: Detail::Product(Product {
            batch: 1,
            rows: 1,
            columns: 1,
            inner: k,
            form: Form::Folds,
        }),
        family: Family::Product,
        units: k as u64,
    })))
}

pub(crate) fn prepare_product(
    op: &'static Op,
    a: &Array,
    b: &Array,
    types: Types,
) -> Result<Prepared> {
    let vectors = (a.rank() == 1, b.rank() == 1);
    let (left, right) = (as_matrices(a, vectors.0, 0)?, as_matrices(b, vectors.1, 1)?);
    let (m, k) = last_two(&left);
    let (inner, n) = last_two(&right);
    if k != inner {
        return Err(inner_mismatch(a, b, k, inner, vectors));
    }
    let stack = stack_shape(&left, &right)?;
    let batch = stack.size();
    let form = if vectors.0 || vectors.1 { Form::Folds } else { Form::Cells };
    let operand = |x: &Array| match form {
        // A fold widens every float type exactly, so a matrix is read as it is.
        Form::Folds if ElementType::FLOATS.contains(&x.element_type()) => as_stack(x, &stack),
        Form::Folds => as_stack(&at_type(x, types.compute)?, &stack),
        Form::Cells => as_stack(&waiting(x, types.compute)?, &stack),
    };
    let operands = [operand(&left)?, operand(&right)?];
    let mut extents = stack.to_vec();
    extents.extend((!vectors.0).then_some(m));
    extents.extend((!vectors.1).then_some(n));
    let shape = Shape::new(extents)?;
    if shape.size() == 0 {
        // There may be 10^12 slabs without a cell.
        return Ok(Prepared::Done(vec![Value::Array(Array::zeros(types.result, shape)?)]));
    }
    // Folds are written in f64 and narrowed once, to the result's own width.
    let raw = if form == Form::Folds { fold_type(types.compute) } else { types.compute };
    let call = Call {
        op,
        given: smallvec![a.shape().clone(), b.shape().clone()],
        operands: operands.into_iter().collect(),
        shape,
        raw,
        result: types.result,
        to_number: false,
        wanted: Default::default(),
        more: Vec::new(),
        targets: Default::default(),
        detail: Detail::Product(Product { batch, rows: m, columns: n, inner: k, form }),
        family: Family::Product,
        units: (batch as u64)
            .saturating_mul(m as u64)
            .saturating_mul(n as u64)
            .saturating_mul(k as u64),
    };
    Ok(Prepared::Call(Box::new(match form {
        Form::Cells => call.at_types(&[types.compute; 2]),
        Form::Folds => call,
    })))
}

/// A vector as a matrix of one row (position 0) or one column (position 1).
fn as_matrices(a: &Array, vector: bool, position: usize) -> Result<Array> {
    match vector {
        false => Ok(a.clone()),
        true if position == 0 => a.reshape(Shape::new([1, a.size()])?),
        true => a.reshape(Shape::new([a.size(), 1])?),
    }
}

pub(crate) fn last_two(a: &Array) -> (usize, usize) {
    let extents = &a.shape()[a.rank() - 2..];
    (extents[0], extents[1])
}

fn last_strides(a: &Array) -> [isize; 2] {
    let strides = &a.strides()[a.rank() - 2..];
    [strides[0], strides[1]]
}

fn stack_shape(a: &Array, b: &Array) -> Result<Shape> {
    let leading = |x: &Array| Shape::new(x.shape()[..x.rank() - 2].iter().copied());
    leading(a)?.broadcast(&leading(b)?).map_err(|_| {
        let text =
            format!("matmul batch dimensions do not broadcast: {} and {}", a.shape(), b.shape());
        Error::new(ErrorKind::Shape, text).hint("all axes but the last two must be equal or 1")
    })
}

/// The axes of the stack, then (rows, columns): a view, whatever the strides of the stack are.
fn as_stack(a: &Array, stack: &Shape) -> Result<Array> {
    let (rows, columns) = last_two(a);
    a.broadcast_to(&Shape::new(stack.iter().copied().chain([rows, columns]))?)
}

fn inner_mismatch(a: &Array, b: &Array, k: usize, inner: usize, vectors: (bool, bool)) -> Error {
    let stacked = a.rank() > 2 || b.rank() > 2;
    let words = match (vectors.0 || vectors.1) && !stacked {
        true => "dot dimension mismatch",
        false => "matmul inner dimensions differ",
    };
    let e = Error::new(ErrorKind::Shape, format!("{words}: {} and {}", a.shape(), b.shape()));
    let swapped = |x: &Array| {
        let mut extents = x.shape().to_vec();
        let last = extents.len() - 1;
        extents.swap(last, last - 1);
        Shape::new(extents).unwrap_or_default()
    };
    if b.rank() == 2 && b.shape()[1] == k {
        return e.hint(format!("(la:transpose b) has shape {}, which fits", swapped(b)));
    }
    if a.rank() == 2 && a.shape()[0] == inner {
        return e.hint(format!("(la:transpose a) has shape {}, which fits", swapped(a)));
    }
    e.hint(format!("the first has {k} columns, the second {inner} rows"))
}

fn detail(call: &Call) -> Result<Product> {
    match call.detail {
        Detail::Product(product) => Ok(product),
        _ => Err(Error::new(ErrorKind::Internal, "a product without its sizes")),
    }
}

/// Runs the body with two names bound to the float types of a call's operands.
macro_rules! with_floats {
    ($call:expr, $A:ident, $B:ident => $body:expr) => {
        with_floats!(@ $call, 0, $A => with_floats!(@ $call, 1, $B => $body))
    };
    (@ $call:expr, $operand:literal, $T:ident => $body:expr) => {
        match $call.operands[$operand].element_type() {
            ElementType::F32 => {
                type $T = f32;
                $body
            }
            ElementType::BF16 => {
                type $T = rung_base::bf16;
                $body
            }
            ElementType::F16 => {
                type $T = rung_base::f16;
                $body
            }
            _ => {
                type $T = f64;
                $body
            }
        }
    };
}

/// a (batch, rows, inner), b (batch, inner, columns), out (batch, rows, columns).
pub(crate) fn portable(call: &Call) -> Result<Array> {
    let p = detail(call)?;
    let width = call.operands[0].element_type();
    match (p.form, width) {
        (_, ElementType::I64) => integer_cells(call, p),
        (Form::Cells, ElementType::F32) => cells::<f32>(call, p),
        (Form::Cells, _) => cells::<f64>(call, p),
        (Form::Folds, _) => with_floats!(call, A, B => folds::<A, B>(call, p)),
    }
}

/// The element at row i and column j of the slab that begins at `slab`.
fn at<T: Element>(x: &View<T>, slab: usize, i: usize, j: usize) -> T {
    let [.., down, across] = x.strides else { return x.data[slab] };
    x.data[(slab as isize + i as isize * down + j as isize * across) as usize]
}

fn each_cell<A: Element, B: Element, O: Element>(
    call: &Call,
    p: Product,
    f: impl Fn(&View<A>, &View<B>, [usize; 4]) -> O,
) -> Result<Array> {
    let (a, b) = (call.operands[0].view::<A>(), call.operands[1].view::<B>());
    let (left, right) = (slabs(&call.operands[0]), slabs(&call.operands[1]));
    Array::build::<O>(call.shape.clone(), |out| {
        for (at, o) in out.iter_mut().enumerate() {
            let (row, j) = (at / p.columns, at % p.columns);
            let slab = row / p.rows;
            *o = f(&a, &b, [left[slab], right[slab], row % p.rows, j]);
        }
    })
}

fn cells<T: Element + Fused>(call: &Call, p: Product) -> Result<Array> {
    each_cell::<T, T, T>(call, p, |a, b, [l, r, i, j]| {
        cell(p.inner, |k| at(a, l, i, k), |k| at(b, r, k, j))
    })
}

/// Sums of products modulo 2^64.
fn integer_cells(call: &Call, p: Product) -> Result<Array> {
    each_cell::<i64, i64, i64>(call, p, |a, b, [l, r, i, j]| {
        let term = |k| at(a, l, i, k).wrapping_mul(at(b, r, k, j));
        (0..p.inner).fold(0, |sum: i64, k| sum.wrapping_add(term(k)))
    })
}

fn folds<A, B>(call: &Call, p: Product) -> Result<Array>
where
    A: Element + Into<f64>,
    B: Element + Into<f64>,
{
    each_cell::<A, B, f64>(call, p, |a, b, [l, r, i, j]| {
        dot(p.inner, |k| (at(a, l, i, k).into(), at(b, r, k, j).into()))
    })
}

/// Bytes of where the slabs of both operands begin, apart and in pairs, and of the packed parts of
/// both.
pub(crate) fn beside(call: &Call, threads: usize) -> u64 {
    match call.detail {
        Detail::Product(Product { batch, .. }) => {
            memory::bytes_of::<[usize; 6]>(batch) + rung_lanes::product::room(threads) as u64
        }
        _ => 0,
    }
}

/// Where the slabs of an operand begin, in the order of the stack.
fn slabs(x: &Array) -> SmallVec<[usize; 4]> {
    let axes = x.rank() - 2;
    match axes {
        0 => smallvec![x.offset()],
        _ => {
            let stack = Shape::new(x.shape()[..axes].iter().copied()).unwrap_or_default();
            Offsets::new(&stack, &x.strides()[..axes], x.offset()).collect()
        }
    }
}

pub(crate) fn lanes(call: &Call, lanes: &Lanes) -> Result<Answer> {
    let p = detail(call)?;
    match (p.form, call.operands[0].element_type()) {
        (_, ElementType::I64) => lanes_integers(call, p, lanes),
        (Form::Cells, ElementType::F32) => lanes_cells::<f32>(call, lanes),
        (Form::Cells, _) => lanes_cells::<f64>(call, lanes),
        (Form::Folds, _) => with_floats!(call, A, B => lanes_folds::<A, B>(call, p, lanes)),
    }
}

/// The lanes' products with operands rounded to bf16: a solver's own way, or one product.
pub fn lanes_bf16(call: &Call, lanes: &Lanes) -> Result<Answer> {
    if let Some(rounded) = call.op.rounded {
        return (rounded.lanes)(call, lanes);
    }
    lanes_stack(call, |a, b, pairs, out: &mut [f32]| {
        rung_lanes::product::bf16::stack(lanes, a, b, pairs, out);
    })
}

/// One slab of an operand as the lanes' matrix.
fn lanes_matrix<T: Element>(x: &Array) -> rung_lanes::Matrix<'_, T> {
    let (view, (rows, columns)) = (x.view::<T>(), last_two(x));
    let [row, column] = last_strides(x);
    rung_lanes::Matrix { data: view.data, offset: view.offset, rows, columns, row, column }
}

fn lanes_cells<T: Float>(call: &Call, lanes: &Lanes) -> Result<Answer> {
    lanes_stack(call, |a, b, pairs, out: &mut [T]| rung_lanes::stack(lanes, a, b, pairs, out))
}

/// Hands `multiply` the operands' first slabs, where the slabs of each begin, and the result.
fn lanes_stack<T: Float>(
    call: &Call,
    multiply: impl FnOnce(rung_lanes::Matrix<T>, rung_lanes::Matrix<T>, &[(usize, usize)], &mut [T]),
) -> Result<Answer> {
    let (a, b) = (lanes_matrix::<T>(&call.operands[0]), lanes_matrix::<T>(&call.operands[1]));
    let (left, right) = (slabs(&call.operands[0]), slabs(&call.operands[1]));
    let pairs: SmallVec<[(usize, usize); 4]> = left.into_iter().zip(right).collect();
    Array::build::<T>(call.shape.clone(), |out| multiply(a, b, &pairs, out)).map(Answer::Done)
}

fn lanes_integers(call: &Call, p: Product, lanes: &Lanes) -> Result<Answer> {
    let (a, b) = (lanes_matrix::<i64>(&call.operands[0]), lanes_matrix::<i64>(&call.operands[1]));
    let (left, right) = (slabs(&call.operands[0]), slabs(&call.operands[1]));
    Array::build::<i64>(call.shape.clone(), |out| {
        for (slab, out) in out.chunks_exact_mut((p.rows * p.columns).max(1)).enumerate() {
            rung_lanes::integer::product(lanes, a.at(left[slab]), b.at(right[slab]), out);
        }
    })
    .map(Answer::Done)
}

fn matmul_samples() -> Vec<Sample> {
    const PAIRS: [(&[usize], &[usize]); 16] = [
        (&[1, 1], &[1, 1]),
        (&[0, 3], &[3, 2]),
        (&[2, 0], &[0, 3]),
        (&[3, 5], &[5, 2]),
        (&[13, 33], &[33, 31]),
        (&[16, 16], &[16, 16]),
        (&[12, 511], &[511, 32]),
        (&[13, 512], &[512, 33]),
        (&[11, 513], &[513, 31]),
        (&[5, 1030], &[1030, 3]),
        (&[70, 65], &[65, 66]),
        (&[4, 3, 5], &[4, 5, 2]),
        (&[2, 1, 3, 5], &[4, 5, 2]),
        (&[3, 5], &[2, 5, 4]),
        (&[4, 7], &[7]),
        (&[7], &[7, 4]),
    ];
    let mut all: Vec<Sample> =
        PAIRS.iter().map(|(a, b)| vec![samples::spread(a, 2.0), samples::spread(b, 3.0)]).collect();
    all.push(vec![samples::hard(&[5, 20], 1.0), samples::spread(&[20, 3], 1.0)]);
    all
}

fn dot_samples() -> Vec<Sample> {
    let mut all: Vec<Sample> = [0, 1, 7, 63, 65, 4095, 4097, 9000]
        .iter()
        .map(|&n| vec![samples::spread(&[n], 2.0), samples::spread(&[n], 3.0)])
        .collect();
    all.push(vec![samples::spread(&[20, 300], 1.0), samples::spread(&[300], 1.0)]);
    all.push(vec![samples::spread(&[300], 1.0), samples::spread(&[300, 20], 1.0)]);
    all.push(vec![samples::spread(&[3, 4], 1.0), samples::number(0.5)]);
    all
}

/// Vectors, the rows of a, each with the matrix whose rows are b's columns.
fn lanes_batch<A: Stored, B: Stored>(call: &Call, lanes: &Lanes) -> Result<Answer> {
    let (a, b) = (lanes_matrix::<A>(&call.operands[0]), lanes_matrix::<B>(&call.operands[1]));
    let along = [a.column];
    let first = |i: usize| a.offset.wrapping_add_signed(i as isize * a.row);
    let vector = |i| rung_lanes::Operand::new(a.data, first(i), &along);
    let vectors: Vec<_> = (0..a.rows).map(vector).collect();
    Array::build::<f64>(call.shape.clone(), |out| matvecs(lanes, b.transposed(), &vectors, out))
        .map(Answer::Done)
}

/// The side that is no vector is a matrix of rows: a's rows, or b's columns.
fn lanes_folds<A: Stored, B: Stored>(call: &Call, p: Product, lanes: &Lanes) -> Result<Answer> {
    if p.rows > 1 && p.columns > 1 {
        return lanes_batch::<A, B>(call, lanes);
    }
    let (a, b) = (lanes_matrix::<A>(&call.operands[0]), lanes_matrix::<B>(&call.operands[1]));
    let (left, right) = (slabs(&call.operands[0]), slabs(&call.operands[1]));
    let cells = p.rows * p.columns;
    Array::build::<f64>(call.shape.clone(), |out| {
        for (slab, out) in out.chunks_exact_mut(cells.max(1)).enumerate() {
            let (a, b) = (a.at(left[slab]), b.at(right[slab]));
            let (down, across) = ([b.row], [a.column]);
            if p.columns == 1 {
                matvec(lanes, a, rung_lanes::Operand::new(b.data, b.offset, &down), out);
            } else {
                let x = rung_lanes::Operand::new(a.data, a.offset, &across);
                matvec(lanes, b.transposed(), x, out);
            }
        }
    })
    .map(Answer::Done)
}
