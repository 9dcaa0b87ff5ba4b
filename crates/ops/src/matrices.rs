//! Stacks of matrices: what the factorisations share. Their operands are laid out as (slabs, rows,
//! columns) in row-major order, at f64 whatever came, and results are narrowed once at the end.
//!
//! `Rung` is the choice between the plain loops of `rung_math::triangular` and the lanes; one text
//! of each operation runs over either, so the two differ in nothing else.

use crate::arguments::Operand;
use crate::call::{Call, Detail, Output, Prepared, Types, types_of, waiting};
use crate::costs::InTurn;
use crate::record::{Family, Op};
use crate::samples::{self, Sample};
use crate::value::Value;
use rung_array::Array;
use rung_base::{ElementType, Error, ErrorKind, Result, Shape, memory};
use rung_lanes::triangular::{self as lanes_of, Triangle};
use rung_lanes::{Lanes, Work};
use rung_math::triangular as plain;
use std::sync::{Mutex, PoisonError};

/// What a call on stacks of matrices needs beside its operands.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Matrices {
    /// Matrices of the first operand, and their extents.
    pub slabs: usize,
    pub rows: usize,
    pub columns: usize,
    /// Columns of a right-hand side.
    pub right: usize,
    /// For each right-hand side, which matrix belongs to it.
    pub of: Vec<usize>,
    /// For each right-hand side, which of those of `solve` belongs to it where both broadcast.
    pub pivots: Vec<usize>,
    pub choice: Choice,
    /// What a device does one after another.
    pub in_turn: InTurn,
}

/// What a keyword chose.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub enum Choice {
    #[default]
    None,
    Triangle(Triangle),
    /// A factor above the diagonal, all singular vectors, or nothing but the values.
    Upper(bool),
    Full(bool),
    Orthogonal {
        complete: bool,
        with_q: bool,
    },
    /// A part of the largest singular value, or a bound itself.
    Fraction(f64),
    Bound(f64),
}

/// The leading axes and the extents of the matrices of `a`.
pub fn stack_of(a: &Array) -> Result<(Shape, usize, usize)> {
    let Some(lead) = a.rank().checked_sub(2) else {
        let e = Error::wanted(ErrorKind::Shape, "expects a matrix", format!("shape {}", a.shape()));
        return Err(e.hint("(la:reshape a '(1 -1)) makes one row of it"));
    };
    let shape = a.shape();
    Ok((Shape::new(shape[..lead].iter().copied())?, shape[lead], shape[lead + 1]))
}

/// The same for square matrices: leading axes and n.
pub fn square(a: &Array) -> Result<(Shape, usize)> {
    let refused = || {
        Error::wanted(ErrorKind::Shape, "expects a square matrix", format!("shape {}", a.shape()))
    };
    let (lead, rows, columns) = stack_of(a).map_err(|_| refused())?;
    if rows != columns {
        return Err(refused().hint("la:lstsq and la:pinv take any matrix"));
    }
    Ok((lead, rows))
}

/// The types of an operation on these arrays: computed at f64, narrowed to the first float width.
pub fn types(arrays: &[&Array]) -> Types {
    let operands: Vec<Operand> = arrays.iter().map(|a| Operand::Array((*a).clone())).collect();
    Types { compute: ElementType::F64, ..types_of(&operands).floating() }
}

/// lead with further extents.
pub fn extended(lead: &Shape, tail: &[usize]) -> Result<Shape> {
    Shape::new(lead.iter().chain(tail).copied())
}

/// A float result of this shape; a number where it has no axes.
pub fn float(shape: Shape, types: Types) -> Output {
    let to_number = shape.rank() == 0;
    Output { shape, raw: ElementType::F64, result: types.result, to_number }
}

/// The same for integers.
pub fn integers(shape: Shape) -> Output {
    let to_number = shape.rank() == 0;
    Output { shape, raw: ElementType::I64, result: ElementType::I64, to_number }
}

/// A float result that stays an array without axes.
pub fn array(shape: Shape, types: Types) -> Output {
    Output { to_number: false, ..float(shape, types) }
}

/// A call on `arrays`, each at f64, with these results and some `steps` multiply-adds a matrix.
pub fn prepared(
    op: &'static Op,
    arrays: &[&Array],
    outputs: Vec<Output>,
    matrices: Matrices,
    steps: u64,
) -> Result<Prepared> {
    let mut outputs = outputs.into_iter();
    let Some(first) = outputs.next() else {
        return Err(Error::new(ErrorKind::Internal, format!("{} has no result", op.name())));
    };
    let slabs = matrices.slabs.max(matrices.of.len()) as u64;
    let wide = arrays.iter().map(|a| waiting(a, ElementType::F64));
    let call = Call {
        op,
        operands: wide.collect::<Result<_>>()?,
        given: arrays.iter().map(|a| a.shape().clone()).collect(),
        shape: first.shape,
        raw: first.raw,
        result: first.result,
        to_number: first.to_number,
        wanted: Default::default(),
        more: outputs.collect(),
        targets: Default::default(),
        detail: Detail::Matrices(Box::new(matrices)),
        family: Family::Product,
        units: slabs.saturating_mul(steps),
    };
    Ok(Prepared::Call(Box::new(call.at_types(&[ElementType::F64; 2]))))
}

/// The detail that `prepared` put there.
pub fn matrices_of(call: &Call) -> Result<&Matrices> {
    match &call.detail {
        Detail::Matrices(matrices) => Ok(matrices),
        _ => {
            let text = format!("{} was prepared for something else", call.op.name());
            Err(Error::new(ErrorKind::Internal, text))
        }
    }
}

/// For each slab of `lead`, the slab of `own` that broadcasts there.
pub fn slabs_of(own: &Shape, lead: &Shape) -> Result<Vec<usize>> {
    let numbers = Array::build::<i64>(own.clone(), |out| {
        out.iter_mut().zip(0..).for_each(|(out, slab)| *out = slab);
    })?;
    let spread = numbers.broadcast_to(lead)?;
    let mut of = memory::room(lead.size(), || format!("the order of a stack of shape {lead}"))?;
    of.extend(spread.view::<i64>().iter().map(|slab| slab as usize));
    Ok(of)
}

/// Each matrix of a stack by itself.
pub fn each_its_own(lead: &Shape) -> Result<Vec<usize>> {
    memory::collected(0..lead.size(), || format!("the order of a stack of shape {lead}"))
}

/// Bytes that triangular work takes beside operands and results: the matrices and their pivots,
/// and some words for each of a stack.
pub fn beside(call: &Call, _: usize) -> u64 {
    let Detail::Matrices(m) = &call.detail else { return 0 };
    let (slabs, sides) = (m.slabs as u64, m.of.len() as u64);
    let pivots = slabs.saturating_mul(m.rows as u64 + 4).saturating_add(2 * sides);
    crate::call::bytes_of(&call.operands[..1]).saturating_add(pivots.saturating_mul(8))
}

/// The results where none has an element: they are right whatever the matrices hold, and however
/// many of them there are.
pub fn without_elements(call: &Call) -> Option<Result<Vec<Array>>> {
    let more = call.more.iter().map(|output| (&output.shape, output.raw));
    let mut outputs = std::iter::once((&call.shape, call.raw)).chain(more);
    let empty = outputs.clone().all(|(shape, _)| shape.size() == 0);
    empty.then(|| {
        outputs.try_fold(Vec::new(), |mut all, (shape, t)| {
            all.push(Array::zeros(t, shape.clone())?);
            Ok(all)
        })
    })
}

/// Where triangular work is done.
pub enum Rung<'a> {
    /// The definition.
    Plain,
    Lanes(&'a Lanes),
}

impl<'a> Rung<'a> {
    pub fn lanes(&self) -> Option<&'a Lanes> {
        match self {
            Rung::Plain => None,
            Rung::Lanes(lanes) => Some(lanes),
        }
    }

    /// The elements of `a` in row-major order.
    pub fn pack(&self, a: &Array, out: &mut [f64]) {
        match self {
            Rung::Plain => out.iter_mut().zip(a.view::<f64>().iter()).for_each(|(o, x)| *o = x),
            Rung::Lanes(lanes) => {
                if !a.is_contiguous() {
                    crate::explain::note_packing();
                }
                rung_lanes::copy::pack(lanes, a.shape(), crate::call::lanes_operand(a), out);
            }
        }
    }

    /// The same in memory of its own.
    pub fn packed(&self, a: &Array) -> Result<Vec<f64>> {
        let mut out = zeros_for(a.size())?;
        self.pack(a, &mut out);
        Ok(out)
    }

    /// LU of each matrix of a stack (slabs, n, n) in its place; pivots (slabs, n).
    pub fn lu(&self, n: usize, stack: &mut [f64], pivots: &mut [usize]) {
        match self {
            Rung::Lanes(lanes) => lanes_of::lu(lanes, n, stack, pivots),
            Rung::Plain if n == 0 => {}
            Rung::Plain => {
                for (a, pivots) in stack.chunks_mut(n * n).zip(pivots.chunks_mut(n)) {
                    plain::lu(n, a, pivots);
                }
            }
        }
    }

    /// Cholesky of each matrix of a stack (slabs, n, n) in its place, +0 in the other triangle;
    /// the first pivot of each that is not positive.
    pub fn cholesky(
        &self,
        n: usize,
        upper: bool,
        stack: &mut [f64],
        slabs: usize,
    ) -> Vec<Option<usize>> {
        let mut failed = vec![None; slabs];
        match self {
            Rung::Lanes(lanes) => lanes_of::cholesky(lanes, n, !upper, stack, &mut failed),
            Rung::Plain if n == 0 => {}
            Rung::Plain => {
                for (a, failed) in stack.chunks_mut(n * n).zip(&mut failed) {
                    let turn = |a: &mut [f64]| {
                        (0..n).for_each(|i| (0..i).for_each(|j| a.swap(i * n + j, j * n + i)));
                    };
                    if upper {
                        turn(a);
                    }
                    *failed = plain::cholesky(n, a);
                    (0..n).for_each(|i| a[i * n + i + 1..(i + 1) * n].fill(0.0));
                    if upper {
                        turn(a);
                    }
                }
            }
        }
        failed
    }

    /// Solves in the place of `right` (slabs, n, columns), whose slab s belongs to the triangle of
    /// the matrix `of[s]` of `stack`.
    pub fn solve(
        &self,
        which: Triangle,
        (n, stack): (usize, &[f64]),
        of: &[usize],
        columns: usize,
        right: &mut [f64],
    ) {
        if n * columns == 0 || of.is_empty() {
            return;
        }
        if let Rung::Lanes(lanes) = self {
            let offsets: Vec<usize> = of.iter().map(|slab| slab * n * n).collect();
            let matrix = rung_lanes::Matrix { rows: n, columns: n, ..square_in(stack, n) };
            return lanes_of::solve(lanes, which, matrix, &offsets, columns, right);
        }
        for (x, &slab) in right.chunks_mut(n * columns).zip(of) {
            let t = &stack[slab * n * n..][..n * n];
            for j in 0..columns {
                let mut column: Vec<f64> = (0..n).map(|i| x[i * columns + j]).collect();
                match which.lower {
                    true => plain::forward(|i, k| t[i * n + k], which.unit, &mut column),
                    false => plain::backward(|i, k| t[i * n + k], which.unit, &mut column),
                }
                (0..n).for_each(|i| x[i * columns + j] = column[i]);
            }
        }
    }
}

fn square_in(stack: &[f64], n: usize) -> rung_lanes::Matrix<'_, f64> {
    rung_lanes::Matrix { data: stack, offset: 0, rows: n, columns: n, row: n as isize, column: 1 }
}

/// Room for `count` numbers, zero.
pub fn zeros_for(count: usize) -> Result<Vec<f64>> {
    let mut out = memory::room(count, || format!("{count} numbers of a factorisation"))?;
    out.resize(count, 0.0);
    Ok(out)
}

/// What `body` gives for each slab, on several threads where `units` of work are worth it: a kept
/// library runs on the thread that calls it.
pub fn each<T: Send>(
    lanes: Option<&Lanes>,
    (slabs, units): (usize, u64),
    body: impl Fn(usize) -> Result<T> + Sync,
) -> Result<Vec<T>> {
    let Some(lanes) = lanes.filter(|_| slabs > 1) else { return (0..slabs).map(body).collect() };
    let results: Vec<Mutex<Option<Result<T>>>> = (0..slabs).map(|_| Mutex::new(None)).collect();
    let units = usize::try_from(units).unwrap_or(usize::MAX);
    let share = slabs.div_ceil(lanes.pieces(Work::Triangular, units));
    lanes.workers().run(slabs.div_ceil(share), &|piece| {
        for (slab, result) in results.iter().enumerate().skip(piece * share).take(share) {
            *result.lock().unwrap_or_else(PoisonError::into_inner) = Some(body(slab));
        }
    });
    let taken = results.into_iter().map(|r| r.into_inner().unwrap_or_else(PoisonError::into_inner));
    // Every piece of a region runs before the region ends.
    taken.flatten().collect()
}

/// Samples of an operation on square matrices: diagonally dominant, so that none is singular.
pub fn square_samples() -> Vec<Sample> {
    const SHAPES: [&[usize]; 12] = [
        &[0, 0],
        &[1, 1],
        &[2, 2],
        &[3, 3],
        &[13, 13],
        &[33, 33],
        &[65, 65],
        &[2, 5, 5],
        &[0, 3, 3],
        &[3, 0, 0],
        &[2, 1, 4, 4],
        &[4],
    ];
    SHAPES.iter().map(|s| vec![dominant(s)]).collect()
}

/// Whole numbers, so that integers see the same; n + 4 is added to the diagonal.
pub fn dominant(extents: &[usize]) -> Value {
    let n = extents.last().copied().unwrap_or(0);
    samples::build(extents, |i| {
        let (row, column) = (i / n.max(1) % n.max(1), i % n.max(1));
        let whole = (samples::scattered(i) * 4.0).round();
        if row == column { (2 * n + 4) as f64 } else { whole }
    })
}
