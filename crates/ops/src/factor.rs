//! LU, Cholesky and what stands on them: det, slogdet, inv, solve, substitution.
//!
//! The steps and their order are `rung_math::triangular`'s, in f64 for every width. A matrix is
//! singular when a pivot is exactly zero and it holds no NaN; only then, or when Cholesky meets a
//! pivot that is not positive, does a computation fail, and then on every rung alike.

use crate::arguments::Arguments;
use crate::call::{Call, Prepared};
use crate::costs::InTurn;
use crate::decline::Answer;
use crate::matrices::{
    self, Choice, Matrices, Rung, array, beside, each_its_own, extended, float, integers,
    matrices_of, slabs_of, square, types, without_elements,
};
use crate::record::{Definition, Entry, Family, Kind, Member, Offer, Op, Rungs, keyword, required};
use crate::samples::{self, Sample};
use rung_array::Array;
use rung_base::{Error, ErrorKind, Result, Shape, memory};
use rung_kernel::triangular;
use rung_lanes::triangular::Triangle;
use rung_math::triangular as plain;

mod device;

pub const OPS: &[Op] = &[
    Op {
        names: &["det"],
        doc: "The determinant by LU; of a singular matrix 0.0.",
        parameters: &[required("m", Kind::Array)],
        result: "a float of m's width, or an array of them for a stack",
        prepare: |op, a, _| prepare_determinant(op, a, 1),
        rungs: rungs!(determinant),
        samples: matrices::square_samples,
        example: "(la:det #d((1 2) (3 4))) => -2.0",
        ..FACTOR
    },
    Op {
        names: &["slogdet"],
        doc: "The determinant as its sign and the logarithm of its magnitude, which cannot \
              overflow; of a singular matrix 0.0 and negative infinity.",
        parameters: &[required("m", Kind::Array)],
        result: "two values: the sign and the logarithm, floats of m's width or arrays of them",
        prepare: |op, a, _| prepare_determinant(op, a, 2),
        rungs: rungs!(determinant),
        samples: matrices::square_samples,
        example: "(multiple-value-list (la:slogdet #d((1 0) (0 -1)))) => (-1.0 0.0)",
        ..FACTOR
    },
    Op {
        names: &["inv"],
        doc: "The inverse by LU. To solve equations `solve` is faster and closer.",
        parameters: &[required("m", Kind::Array)],
        result: "an array of m's shape and width",
        prepare: prepare_inverse,
        rungs: rungs!(inverse),
        samples: matrices::square_samples,
        example: "(la:inv #d((2 0) (0 4))) => #d((0.5 0.0) (0.0 0.25))",
        ..FACTOR
    },
    Op {
        names: &["solve"],
        doc: "x with a x = b by LU with partial pivoting and two substitutions; the inverse is \
              never formed. b is a vector, or a matrix whose columns are solved together; leading \
              axes are stacks and broadcast.",
        parameters: &[required("a", Kind::Array), required("b", Kind::Array)],
        result: "an array of b's shape and the first float array's width",
        prepare: prepare_solve,
        rungs: rungs!(solve),
        samples: solve_samples,
        example: "(la:solve #d((2 1) (1 3)) #d(3 5)) => #d(0.8 1.4)",
        ..FACTOR
    },
    Op {
        names: &["lu"],
        doc: "LU with partial pivoting: U on and above the diagonal, L without its ones below, \
              and the rows with which the rows 0, 1, ... were exchanged in turn. A singular \
              matrix has an LU too.",
        parameters: &[required("m", Kind::Array)],
        result: "two values: an array of m's shape and width, and (signed-byte 64) pivots",
        prepare: prepare_lu,
        rungs: rungs!(lu),
        samples: matrices::square_samples,
        example: "(la:lu #d((1 2) (4 4))) => #d((4.0 4.0) (0.25 1.0))",
        ..FACTOR
    },
    Op {
        names: &["lu-solve"],
        doc: "x with a x = b from what `lu` gave for a.",
        parameters: &[
            required("lu", Kind::Array),
            required("piv", Kind::Index),
            required("b", Kind::Array),
        ],
        result: "an array of b's shape and the first float array's width",
        prepare: prepare_lu_solve,
        rungs: rungs!(lu_solve),
        samples: lu_solve_samples,
        example: "(la:lu-solve #d((4 4) (0.25 1)) '(1 1) #d(3 8)) => #d(1.0 1.0)",
        ..FACTOR
    },
    Op {
        names: &["solve-triangular"],
        doc: "x with a x = b for a triangular a: the upper triangle, or with :lower the lower \
              one; nothing else is used. :unit takes the diagonal as ones, :trans solves with the \
              transpose of a.",
        parameters: &[
            required("a", Kind::Array),
            required("b", Kind::Array),
            keyword("lower", Kind::Flag),
            keyword("unit", Kind::Flag),
            keyword("trans", Kind::Flag),
        ],
        result: "an array of b's shape and the first float array's width",
        prepare: prepare_triangular,
        rungs: rungs!(solve_triangular),
        samples: triangular_samples,
        example: "(la:solve-triangular #d((2 0) (1 4)) #d(2 9) :lower t) => #d(1.0 2.0)",
        ..FACTOR
    },
    Op {
        names: &["cholesky"],
        doc: "The lower factor l with m = l l^T of a symmetric positive definite read from \
              its lower triangle; with :upper the upper factor, from the upper one.",
        parameters: &[required("m", Kind::Array), keyword("upper", Kind::Flag)],
        result: "an array of m's shape and width, zero in the other triangle",
        prepare: prepare_cholesky,
        rungs: rungs!(cholesky),
        samples: cholesky_samples,
        example: "(la:cholesky #d((4 2) (2 5))) => #d((2.0 0.0) (1.0 2.0))",
        ..FACTOR
    },
];

/// What the records have in common.
const FACTOR: Op = Op { beside: Some(beside), ..Op::BASE };

/// The rungs of an operation whose text runs over either `Rung`.
macro_rules! rungs {
    ($text:ident) => {
        Rungs {
            portable: Definition::Several(|call| {
                without_elements(call).unwrap_or_else(|| $text(call, &Rung::Plain))
            }),
            lanes: Entry::Has(|call, lanes| {
                let results = without_elements(call);
                let results = results.unwrap_or_else(|| $text(call, &Rung::Lanes(lanes)));
                results.map(Answer::Several)
            }),
            library: Entry::None(NO_LIBRARY_FACTOR),
            device: Entry::Has(Member {
                offer: Offer::RoundTrip(Family::Product),
                run: device::$text,
            }),
        }
    };
}
use rungs;

const NO_LIBRARY_FACTOR: &str = "LAPACK's order of additions is not ours";

/// Multiply-adds of an LU, at least one.
fn lu_steps(n: usize) -> u64 {
    (n as u64).pow(3) / 3 + 1
}

/// det (one result) and slogdet (two).
fn prepare_determinant(op: &'static Op, mut a: Arguments, results: usize) -> Result<Prepared> {
    let m = a.array(0)?;
    let ((lead, n), types) = (square(&m)?, types(&[&m]));
    // Packed, factorised, and the diagonals.
    let in_turn = InTurn { launches: 2 + triangular::lu_launches(n), ..in_panels(n) };
    let slabs = lead.size();
    let matrices = Matrices { slabs, rows: n, columns: n, in_turn, ..Matrices::default() };
    let outputs = (0..results).map(|_| float(lead.clone(), types)).collect();
    matrices::prepared(op, &[&m], outputs, matrices, lu_steps(n))
}

/// The columns of a factorisation, each of which waits for the one before it.
fn in_panels(n: usize) -> InTurn {
    InTurn { columns: n, ..InTurn::default() }
}

/// An LU of a packed operand, its diagonals, the right-hand sides, the exchanges, and both triangles.
fn solving(n: usize) -> InTurn {
    let launches = 4 + triangular::lu_launches(n) + 2 * triangular::substitution_launches(n);
    InTurn { launches, columns: n, rows: 2 * n }
}

/// The LU of every matrix of an operand.
struct Factors {
    n: usize,
    stack: Vec<f64>,
    pivots: Vec<usize>,
}

impl Factors {
    fn of(rung: &Rung, a: &Array, slabs: usize, n: usize) -> Result<Factors> {
        let mut stack = rung.packed(a)?;
        let mut pivots = memory::filled(slabs * n, 0, || format!("{slabs} x {n} pivots"))?;
        rung.lu(n, &mut stack, &mut pivots);
        Ok(Factors { n, stack, pivots })
    }

    fn pivots(&self, slab: usize) -> &[usize] {
        &self.pivots[slab * self.n..][..self.n]
    }

    /// The diagonal of a matrix's LU.
    fn diagonal(&self, slab: usize) -> impl Iterator<Item = f64> + Clone + '_ {
        diagonal(self.n, &self.stack, slab)
    }

    /// Fails with the first singular matrix.
    fn check(&self, slabs: usize, what: &str) -> Result<()> {
        check(slabs, what, |slab| self.diagonal(slab))
    }

    /// Exchanges and both substitutions in the place of `x` (of, n, columns).
    fn solve(&self, rung: &Rung, of: &[usize], columns: usize, x: &mut [f64]) {
        let n = self.n;
        if n * columns == 0 {
            return;
        }
        for (x, &slab) in x.chunks_mut(n * columns).zip(of) {
            plain::permute(self.pivots(slab), columns, x);
        }
        let stack = (n, self.stack.as_slice());
        rung.solve(Triangle { lower: true, unit: true }, stack, of, columns, x);
        rung.solve(Triangle { lower: false, unit: false }, stack, of, columns, x);
    }
}

/// The diagonal of one of a stack (slabs, n, n).
fn diagonal(n: usize, stack: &[f64], slab: usize) -> impl Iterator<Item = f64> + Clone + '_ {
    plain::diagonal(n, &stack[slab * n * n..][..n * n])
}

/// Fails with the first matrix that is singular by the diagonal of its LU, or its own where it is
/// triangular: `solve with a singular matrix: pivot 2 is zero`, and which matrix of a stack.
fn check<D: Iterator<Item = f64> + Clone>(
    slabs: usize,
    what: &str,
    diagonal: impl Fn(usize) -> D,
) -> Result<()> {
    let Some(slab) = (0..slabs).find(|&slab| plain::singular(diagonal(slab))) else {
        return Ok(());
    };
    let pivot = diagonal(slab).position(|pivot| pivot == 0.0).unwrap_or(0);
    let text = format!("{what} a singular matrix: pivot {pivot} is zero{}", place(slab, slabs));
    let e = Error::new(ErrorKind::Singular, text);
    Err(e.hint("la:lstsq and la:pinv also take a singular matrix"))
}

/// Which matrix of a stack.
fn place(slab: usize, slabs: usize) -> String {
    if slabs == 1 { String::new() } else { format!(" in matrix {slab} of {slabs}") }
}

fn determinant(call: &Call, rung: &Rung) -> Result<Vec<Array>> {
    let m = matrices_of(call)?;
    let factors = Factors::of(rung, &call.operands[0], m.slabs, m.rows)?;
    of_pivots(call, |slab| (factors.diagonal(slab), factors.pivots(slab)))
}

/// det, or both results of slogdet, from the diagonal of each matrix's LU and its exchanges.
fn of_pivots<'a, D: Iterator<Item = f64> + Clone>(
    call: &Call,
    slab: impl Fn(usize) -> (D, &'a [usize]),
) -> Result<Vec<Array>> {
    let each = |f: &dyn Fn(D, &[usize]) -> f64| {
        Array::build::<f64>(call.shape.clone(), |out| {
            for (number, out) in out.iter_mut().enumerate() {
                let (diagonal, pivots) = slab(number);
                *out = f(diagonal, pivots);
            }
        })
    };
    if call.more.is_empty() {
        return Ok(vec![each(&|diagonal, pivots| plain::determinant(diagonal, pivots))?]);
    }
    let log = |diagonal: D, pivots: &[usize]| plain::log_determinant(diagonal, pivots);
    Ok(vec![each(&|d, pivots| log(d, pivots).0)?, each(&|d, pivots| log(d, pivots).1)?])
}

fn prepare_inverse(
    op: &'static Op,
    mut a: Arguments,
    _: &mut crate::call::Context,
) -> Result<Prepared> {
    let m = a.array(0)?;
    let ((lead, n), types) = (square(&m)?, types(&[&m]));
    let of = each_its_own(&lead)?;
    let (slabs, in_turn) = (lead.size(), solving(n));
    let matrices =
        Matrices { slabs, rows: n, columns: n, right: n, of, in_turn, ..Matrices::default() };
    let outputs = vec![array(m.shape().clone(), types)];
    matrices::prepared(op, &[&m], outputs, matrices, 4 * lu_steps(n))
}

fn inverse(call: &Call, rung: &Rung) -> Result<Vec<Array>> {
    let m = matrices_of(call)?;
    let n = m.rows;
    let factors = Factors::of(rung, &call.operands[0], m.slabs, n)?;
    factors.check(m.slabs, "inv of")?;
    let out = Array::build::<f64>(call.shape.clone(), |x| {
        let one = |c: usize| if c / n % n == c % n { 1.0 } else { 0.0 };
        x.iter_mut().enumerate().for_each(|(c, x)| *x = one(c));
        factors.solve(rung, &m.of, n, x);
    })?;
    Ok(vec![out])
}

/// Right-hand sides as (lead, n, columns), beside matrices with these leading axes.
struct Sides {
    /// Broadcast to the common leading axes; a vector without its column axis.
    b: Array,
    of: Vec<usize>,
    columns: usize,
}

/// `what` begins the message when the extents do not fit.
fn sides(a: &Array, own: &Shape, n: usize, b: &Array, what: &str) -> Result<Sides> {
    let differ = || {
        let text = format!("{what} shapes differ: {} and {}", a.shape(), b.shape());
        Error::new(ErrorKind::Shape, text).hint("b has as many rows as a; a vector is one column")
    };
    let vector = b.rank() == 1;
    let tail = if vector { 1 } else { 2 };
    let Some(split) = b.rank().checked_sub(tail) else { return Err(differ()) };
    let (leading, cells) = b.shape().split_at(split);
    if cells[0] != n {
        return Err(differ());
    }
    let lead = own.broadcast(&Shape::new(leading.iter().copied())?).map_err(|_| differ())?;
    Ok(Sides {
        b: b.broadcast_to(&extended(&lead, cells)?)?,
        of: slabs_of(own, &lead)?,
        columns: cells.get(1).copied().unwrap_or(1),
    })
}

fn prepare_solve(
    op: &'static Op,
    mut arguments: Arguments,
    _: &mut crate::call::Context,
) -> Result<Prepared> {
    let (a, b) = (arguments.array(0)?, arguments.array(1)?);
    let (own, n) = square(&a)?;
    let Sides { b: right, of, columns } = sides(&a, &own, n, &b, "solve")?;
    let outputs = vec![array(right.shape().clone(), types(&[&a, &b]))];
    let slabs = own.size();
    let in_turn = solving(n);
    let matrices =
        Matrices { slabs, rows: n, columns: n, right: columns, of, in_turn, ..Matrices::default() };
    let steps = lu_steps(n) + (n * n * columns) as u64;
    matrices::prepared(op, &[&a, &right], outputs, matrices, steps)
}

fn solve(call: &Call, rung: &Rung) -> Result<Vec<Array>> {
    let m = matrices_of(call)?;
    let factors = Factors::of(rung, &call.operands[0], m.slabs, m.rows)?;
    factors.check(m.slabs, "solve with")?;
    let out = Array::build::<f64>(call.shape.clone(), |x| {
        rung.pack(&call.operands[1], x);
        factors.solve(rung, &m.of, m.right, x);
    })?;
    Ok(vec![out])
}

fn prepare_lu(op: &'static Op, mut a: Arguments, _: &mut crate::call::Context) -> Result<Prepared> {
    let m = a.array(0)?;
    let ((lead, n), types) = (square(&m)?, types(&[&m]));
    // Packed, factorised, and the pivots widened.
    let in_turn = InTurn { launches: 2 + triangular::lu_launches(n), ..in_panels(n) };
    let slabs = lead.size();
    let matrices = Matrices { slabs, rows: n, columns: n, in_turn, ..Matrices::default() };
    let outputs = vec![array(m.shape().clone(), types), integers(extended(&lead, &[n])?)];
    matrices::prepared(op, &[&m], outputs, matrices, lu_steps(n))
}

fn lu(call: &Call, rung: &Rung) -> Result<Vec<Array>> {
    let m = matrices_of(call)?;
    let (slabs, n) = (m.slabs, m.rows);
    let mut rows = memory::filled(slabs * n, 0, || format!("{slabs} x {n} pivots"))?;
    let factors = Array::build::<f64>(call.shape.clone(), |stack| {
        rung.pack(&call.operands[0], stack);
        rung.lu(m.rows, stack, &mut rows);
    })?;
    let positions = Array::build::<i64>(call.more[0].shape.clone(), |out| {
        out.iter_mut().zip(rows).for_each(|(out, row)| *out = row as i64);
    })?;
    Ok(vec![factors, positions])
}

fn prepare_lu_solve(
    op: &'static Op,
    mut arguments: Arguments,
    _: &mut crate::call::Context,
) -> Result<Prepared> {
    let a = arguments.array(0)?;
    let (rows, shape) = arguments.index(1)?;
    let b = arguments.array(2)?;
    let (own, n) = square(&a)?;
    if shape != extended(&own, &[n])? {
        let text = format!("lu-solve shapes differ: {} and pivots {shape}", a.shape());
        return Err(Error::new(ErrorKind::Shape, text));
    }
    let pivots: Option<Vec<usize>> =
        rows.iter().map(|&row| usize::try_from(row).ok().filter(|&row| row < n)).collect();
    let Some(pivots) = pivots else {
        let text = format!("lu-solve pivot out of range: a pivot is below {n}");
        return Err(Error::new(ErrorKind::Index, text).hint("pass both values of la:lu"));
    };
    let Sides { b: right, of, columns } = sides(&a, &own, n, &b, "lu-solve")?;
    let outputs = vec![array(right.shape().clone(), types(&[&a, &b]))];
    let slabs = own.size();
    let choice = Choice::None;
    // Both operands packed, the diagonals, the exchanges, and both triangles.
    let launches = 4 + 2 * triangular::substitution_launches(n);
    let in_turn = InTurn { launches, rows: 2 * n, columns: 0 };
    let matrices =
        Matrices { slabs, rows: n, columns: n, right: columns, of, pivots, choice, in_turn };
    matrices::prepared(op, &[&a, &right], outputs, matrices, (n * n * columns) as u64 + 1)
}

fn lu_solve(call: &Call, rung: &Rung) -> Result<Vec<Array>> {
    let m = matrices_of(call)?;
    let (stack, pivots) = (rung.packed(&call.operands[0])?, m.pivots.clone());
    let factors = Factors { n: m.rows, stack, pivots };
    factors.check(m.slabs, "lu-solve with")?;
    let out = Array::build::<f64>(call.shape.clone(), |x| {
        rung.pack(&call.operands[1], x);
        factors.solve(rung, &m.of, m.right, x);
    })?;
    Ok(vec![out])
}

fn prepare_triangular(
    op: &'static Op,
    mut arguments: Arguments,
    _: &mut crate::call::Context,
) -> Result<Prepared> {
    let (a, b) = (arguments.array(0)?, arguments.array(1)?);
    let (lower, unit, trans) = (arguments.flag(2), arguments.flag(3), arguments.flag(4));
    let (own, n) = square(&a)?;
    let Sides { b: right, of, columns } = sides(&a, &own, n, &b, "solve-triangular")?;
    let mut axes: Vec<usize> = (0..a.rank()).collect();
    if trans {
        axes.swap(a.rank() - 2, a.rank() - 1);
    }
    let turned = a.transpose(&axes)?;
    let outputs = vec![array(right.shape().clone(), types(&[&a, &b]))];
    let choice = Choice::Triangle(Triangle { lower: lower != trans, unit });
    let (slabs, pivots) = (own.size(), Vec::new());
    // Both operands packed, the diagonals where they are not ones, and the triangle.
    let launches = 2 + usize::from(!unit) + triangular::substitution_launches(n);
    let in_turn = InTurn { launches, rows: n, columns: 0 };
    let matrices =
        Matrices { slabs, rows: n, columns: n, right: columns, of, pivots, choice, in_turn };
    matrices::prepared(op, &[&turned, &right], outputs, matrices, (n * n * columns) as u64 / 2 + 1)
}

fn solve_triangular(call: &Call, rung: &Rung) -> Result<Vec<Array>> {
    let m = matrices_of(call)?;
    let (n, stack) = (m.rows, rung.packed(&call.operands[0])?);
    let Choice::Triangle(which) = m.choice else { return Ok(Vec::new()) };
    if !which.unit {
        check(m.slabs, "solve-triangular with", |slab| diagonal(n, &stack, slab))?;
    }
    let out = Array::build::<f64>(call.shape.clone(), |x| {
        rung.pack(&call.operands[1], x);
        rung.solve(which, (n, &stack), &m.of, m.right, x);
    })?;
    Ok(vec![out])
}

fn prepare_cholesky(
    op: &'static Op,
    mut a: Arguments,
    _: &mut crate::call::Context,
) -> Result<Prepared> {
    let (m, upper) = (a.array(0)?, a.flag(1));
    let ((lead, n), types) = (square(&m)?, types(&[&m]));
    let (slabs, choice) = (lead.size(), Choice::Upper(upper));
    // Packed, factorised, and the lower triangle alone.
    let in_turn = InTurn { launches: 2 + triangular::cholesky_launches(n), ..in_panels(n) };
    let matrices = Matrices { slabs, rows: n, columns: n, choice, in_turn, ..Matrices::default() };
    let outputs = vec![array(m.shape().clone(), types)];
    matrices::prepared(op, &[&m], outputs, matrices, lu_steps(n) / 2 + 1)
}

fn cholesky(call: &Call, rung: &Rung) -> Result<Vec<Array>> {
    let m = matrices_of(call)?;
    let (n, upper) = (m.rows, m.choice == Choice::Upper(true));
    let operand = &call.operands[0];
    let mut failed = Vec::new();
    let factors = Array::build::<f64>(call.shape.clone(), |stack| {
        rung.pack(operand, stack);
        failed = rung.cholesky(n, upper, stack, m.slabs);
    })?;
    let bad = failed.iter().enumerate().filter_map(|(slab, pivot)| Some((slab, (*pivot)?)));
    for (slab, pivot) in bad {
        if !has_nan(&rung.packed(operand)?[slab * n * n..][..n * n], n, upper) {
            return Err(not_positive(pivot, slab, m.slabs));
        }
    }
    Ok(vec![factors])
}

fn not_positive(pivot: usize, slab: usize, slabs: usize) -> Error {
    let (text, place) = ("cholesky needs a positive definite matrix", place(slab, slabs));
    Error::new(ErrorKind::Singular, format!("{text}: pivot {pivot} is not positive{place}"))
}

/// Whether the triangle that is read holds a NaN: then the factor does, and nothing failed.
fn has_nan(a: &[f64], n: usize, upper: bool) -> bool {
    let read = |i: usize, j: usize| if upper { j >= i } else { j <= i };
    (0..n).any(|i| (0..n).any(|j| read(i, j) && a[i * n + j].is_nan()))
}

/// A or a stack, beside right-hand sides that fit.
fn right_sides() -> Vec<Sample> {
    const PAIRS: [(&[usize], &[usize]); 13] = [
        (&[0, 0], &[0]),
        (&[1, 1], &[1]),
        (&[3, 3], &[3]),
        (&[3, 3], &[3, 0]),
        (&[17, 17], &[17, 5]),
        (&[65, 65], &[65]),
        (&[33, 33], &[33, 33]),
        (&[2, 4, 4], &[4]),
        (&[4, 4], &[3, 4, 2]),
        (&[3, 1, 4, 4], &[2, 4, 3]),
        (&[0, 4, 4], &[4]),
        (&[3, 3], &[4]),
        (&[2, 3], &[2]),
    ];
    let both =
        |(a, b): &(&[usize], &[usize])| vec![matrices::dominant(a), samples::counting(b, 11)];
    PAIRS.iter().map(both).collect()
}

fn solve_samples() -> Vec<Sample> {
    let mut list = right_sides();
    // Exchanges, an exact zero in the first pivot's place, and a singular matrix.
    let zero = |i: usize| [0.0, 2.0, 1.0, 4.0, 2.0, 2.0, 2.0, 3.0, 4.0][i];
    list.push(vec![samples::build(&[3, 3], zero), samples::counting(&[3], 5)]);
    list.push(vec![samples::build(&[2, 2], |_| 1.0), samples::counting(&[2], 5)]);
    list.push(vec![samples::spread(&[70, 70], 3.0), samples::spread(&[70, 3], 1.0)]);
    list.push(vec![samples::hard(&[17, 17], 3.0), samples::counting(&[17], 5)]);
    list
}

fn lu_solve_samples() -> Vec<Sample> {
    let pivots = |b: &Sample| match &b[0] {
        crate::value::Value::Array(a) if a.rank() == 2 => {
            let n = a.shape()[0];
            Some(samples::build(&[n], |i| (i + (i * 7) % (n - i)) as f64))
        }
        _ => None,
    };
    let with = |mut sample: Sample| {
        let piv = pivots(&sample)?;
        sample.insert(1, piv);
        Some(sample)
    };
    right_sides().into_iter().filter_map(with).collect()
}

fn triangular_samples() -> Vec<Sample> {
    let mut list = Vec::new();
    for sample in right_sides() {
        for words in [&[][..], &["lower"], &["lower", "trans"], &["trans", "unit"]] {
            let mut one = sample.clone();
            for word in words {
                one.extend([samples::word(word), crate::value::Value::True]);
            }
            list.push(one);
        }
    }
    list
}

fn cholesky_samples() -> Vec<Sample> {
    let mut list = matrices::square_samples();
    let upper = || [samples::word("upper"), crate::value::Value::True];
    list.extend(list.clone().into_iter().map(|s| [s, upper().to_vec()].concat()));
    list.push(vec![samples::build(&[2, 2], |i| [1.0, f64::NAN, 2.0, 1.0][i])]);
    list
}
