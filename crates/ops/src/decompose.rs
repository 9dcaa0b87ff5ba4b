//! Decompositions by the kept library: qr, eigh, svd, and what stands on the singular values:
//! lstsq, pinv, matrix-rank, cond.
//!
//! Every rung of the processor calls the same function of `rung_dense` for each matrix of a
//! stack, in f64 for every width; lanes only spread the matrices of a stack over the threads.

use crate::arguments::Arguments;
use crate::call::{Call, Context, Detail, Prepared, Types, bytes_of_call};
use crate::decline::Answer;
use crate::matrices::{
    self, Choice, Matrices, Rung, array, each, extended, float, integers, matrices_of, slabs_of,
    square, stack_of, types, without_elements,
};
use crate::record::{Definition, Entry, Exactness, Kind, Op, Rungs, keyword, required};
use crate::samples::{self, Sample};
use crate::value::Value;
use rung_array::Array;
use rung_base::{ElementType, Error, ErrorKind, Result, Shape, memory};
use rung_dense::{Extent, NotConverged, Work};

pub const OPS: &[Op] = &[
    Op {
        names: &["qr"],
        doc: "q r with orthonormal columns in q and an upper triangular r whose diagonal is not \
              negative. :mode :reduced gives min(m, n) columns, :complete all m, :r only r.",
        parameters: &[
            required("m", Kind::Array),
            keyword("mode", Kind::Choice(&["reduced", "complete", "r"])),
        ],
        result: "two values, q and r, arrays of m's width; one with :mode :r",
        prepare: prepare_qr,
        rungs: rungs!(qr),
        samples: qr_samples,
        example: "(la:qr #d((0 2) (5 3)) :mode :r) => #d((5.0 3.0) (0.0 2.0))",
        ..KEPT
    },
    Op {
        names: &["eigh"],
        doc: "The eigenvalues of a symmetric ascending, and its eigenvectors as columns, \
              read from the lower triangle. In each vector the entry of largest magnitude, the \
              first on ties, is positive.",
        parameters: &[required("m", Kind::Array)],
        result: "two values: values and vectors, arrays of m's width",
        prepare: prepare_eigh,
        rungs: rungs!(eigh),
        samples: symmetric_samples,
        example: "(la:eigh #d((2 0) (0 1))) => #d(1.0 2.0)",
        ..KEPT
    },
    Op {
        names: &["svd"],
        doc: "The singular value decomposition u diag(s) vt, s descending; :full gives square u \
              and vt. In each column of u the entry of largest magnitude, the first on ties, is \
              positive.",
        parameters: &[required("m", Kind::Array), keyword("full", Kind::Flag)],
        result: "three values: u, s and vt, arrays of m's width",
        prepare: prepare_svd,
        rungs: rungs!(svd),
        samples: svd_samples,
        example: "(multiple-value-list (la:svd #d((0 2) (1 0)))) => \
                  (#d((1.0 0.0) (0.0 1.0)) #d(2.0 1.0) #d((0.0 1.0) (1.0 0.0)))",
        ..KEPT
    },
    Op {
        names: &["lstsq"],
        doc: "x of least norm among those that make b - a x least, by the singular values; those \
              not larger than :rcond times the largest count as zero (by default the width's \
              epsilon times the larger extent).",
        parameters: &[
            required("a", Kind::Array),
            required("b", Kind::Array),
            keyword("rcond", Kind::Number),
        ],
        result: "four values: x, the sums of squares of b - a x (empty where the rank is below \
                 the columns or there are no more rows than columns), the rank, the singular \
                 values",
        prepare: prepare_lstsq,
        rungs: rungs!(lstsq),
        samples: lstsq_samples,
        example: "(la:lstsq #d((1 0) (0 2) (0 0)) #d(3 4 5)) => #d(3.0 2.0)",
        ..KEPT
    },
    Op {
        names: &["pinv"],
        doc: "The pseudo-inverse by the singular values, :rcond as for `lstsq`.",
        parameters: &[required("m", Kind::Array), keyword("rcond", Kind::Number)],
        result: "an array of m's width with its last two axes exchanged",
        prepare: prepare_pinv,
        rungs: rungs!(pinv),
        samples: any_samples,
        example: "(la:pinv #d((2 0) (0 0) (0 0))) => #d((0.5 0.0 0.0) (0.0 0.0 0.0))",
        ..KEPT
    },
    Op {
        names: &["matrix-rank"],
        doc: "How many singular values are larger than :tol (by default the largest one times \
              the width's epsilon times the larger extent).",
        parameters: &[required("m", Kind::Array), keyword("tol", Kind::Number)],
        result: "an integer, or a (signed-byte 64) array for a stack",
        prepare: prepare_rank,
        rungs: rungs!(rank),
        samples: any_samples,
        example: "(la:matrix-rank #d((1 2) (2 4))) => 1",
        ..KEPT
    },
    Op {
        names: &["cond"],
        doc: "The condition number: the largest singular value divided by the smallest; infinite \
              where that is 0, and beyond 1e15 of a double-float matrix that is singular but for \
              rounding.",
        parameters: &[required("m", Kind::Array)],
        result: "a float of m's width, or an array of them for a stack",
        prepare: prepare_cond,
        rungs: rungs!(cond),
        samples: any_samples,
        example: "(la:cond #d((4 0) (0 2))) => 2.0",
        ..KEPT
    },
];

/// What the records have in common.
const KEPT: Op = Op { exact: Exactness::Kept, beside: Some(beside), ..Op::BASE };

/// The rungs of an operation whose text takes the threads or does without.
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
            library: Entry::None("LAPACK is not asked: it would be a second algorithm"),
            device: Entry::None("sequential panels"),
        }
    };
}
use rungs;

/// Bytes beside operands and results: the kept library's for each thread, and the parts of each
/// matrix until they are joined.
fn beside(call: &Call, threads: usize) -> u64 {
    let Detail::Matrices(m) = &call.detail else { return 0 };
    let (rows, columns) = (m.rows, m.columns);
    let work = match m.choice {
        Choice::Orthogonal { complete, with_q } => Work::Orthogonal { complete, with_q },
        Choice::Full(true) => Work::Singular(Extent::Full),
        Choice::Full(false) | Choice::Fraction(_) if call.raw == ElementType::F64 => {
            Work::Singular(Extent::Reduced)
        }
        Choice::None if call.more.len() == 1 => Work::Eigen,
        // Ranks and condition numbers.
        _ => Work::SingularValues,
    };
    let slabs = m.slabs.max(m.of.len());
    let at_once = rung_dense::bytes(work, rows, columns).saturating_mul(slabs.min(threads) as u64);
    let parts = memory::bytes_of::<[usize; PARTS]>(slabs).saturating_add(bytes_of_call(call));
    at_once.saturating_add(parts.saturating_mul(2))
}

/// Words of what is known of one matrix of a stack until all are joined.
const PARTS: usize = 14;

/// Multiply-adds of a decomposition, some `factor` times those of a product of its extents.
fn steps(rows: usize, columns: usize, factor: u64) -> u64 {
    let (m, n) = (rows as u64, columns as u64);
    factor * m * n * m.min(n) + 1
}

/// The only operand as a stack.
fn one(arguments: &mut Arguments) -> Result<(Array, Shape, Matrices, Types)> {
    let m = arguments.array(0)?;
    let (lead, rows, columns) = stack_of(&m)?;
    let slabs = lead.size();
    let matrices = Matrices { slabs, rows, columns, ..Matrices::default() };
    let types = types(&[&m]);
    Ok((m, lead, matrices, types))
}

/// What `body` gives for the matrices of the first operand, in order.
fn each_matrix<T: Send>(
    call: &Call,
    rung: &Rung,
    body: impl Fn(usize, &[f64]) -> Result<T> + Sync,
) -> Result<Vec<T>> {
    let m = matrices_of(call)?;
    let (stack, cells) = (rung.packed(&call.operands[0])?, m.rows * m.columns);
    each(rung.lanes(), (m.slabs, call.units), |slab| body(slab, &stack[slab * cells..][..cells]))
}

/// The parts of all slabs one after another.
fn joined<'a>(parts: impl Iterator<Item = &'a Vec<f64>>, shape: &Shape) -> Result<Array> {
    Array::build::<f64>(shape.clone(), |out| {
        let mut rest = out;
        for part in parts {
            let (own, after) = std::mem::take(&mut rest).split_at_mut(part.len());
            own.copy_from_slice(part);
            rest = after;
        }
    })
}

fn not_converged(call: &Call) -> impl Fn(NotConverged) -> Error {
    let name = call.op.name();
    move |NotConverged| Error::new(ErrorKind::NotConverged, format!("{name} did not converge"))
}

fn prepare_qr(op: &'static Op, mut a: Arguments, _: &mut Context) -> Result<Prepared> {
    let (m, lead, mut matrices, types) = one(&mut a)?;
    let mode = a.choice(1)?;
    let (complete, with_q) = (mode == Some("complete"), mode != Some("r"));
    matrices.choice = Choice::Orthogonal { complete, with_q };
    let (rows, columns) = (matrices.rows, matrices.columns);
    let k = if complete { rows } else { rows.min(columns) };
    let mut outputs = vec![array(extended(&lead, &[k, columns])?, types)];
    if with_q {
        outputs.insert(0, array(extended(&lead, &[rows, k])?, types));
    }
    matrices::prepared(op, &[&m], outputs, matrices, steps(rows, columns, 2))
}

fn qr(call: &Call, rung: &Rung) -> Result<Vec<Array>> {
    let m = matrices_of(call)?;
    let Choice::Orthogonal { complete, with_q } = m.choice else { return Ok(Vec::new()) };
    let found = each_matrix(call, rung, |_, a| {
        Ok(rung_dense::orthogonal(m.rows, m.columns, a, complete, with_q))
    })?;
    if !with_q {
        return Ok(vec![joined(found.iter().map(|f| &f.r), &call.shape)?]);
    }
    Ok(vec![
        joined(found.iter().map(|f| &f.q), &call.shape)?,
        joined(found.iter().map(|f| &f.r), &call.more[0].shape)?,
    ])
}

fn prepare_eigh(op: &'static Op, mut a: Arguments, _: &mut Context) -> Result<Prepared> {
    let m = a.array(0)?;
    let ((lead, n), types) = (square(&m)?, types(&[&m]));
    let matrices = Matrices { slabs: lead.size(), rows: n, columns: n, ..Matrices::default() };
    let outputs = vec![array(extended(&lead, &[n])?, types), array(m.shape().clone(), types)];
    matrices::prepared(op, &[&m], outputs, matrices, steps(n, n, 5))
}

fn eigh(call: &Call, rung: &Rung) -> Result<Vec<Array>> {
    let n = matrices_of(call)?.rows;
    let found =
        each_matrix(call, rung, |_, a| rung_dense::eigen(n, a).map_err(not_converged(call)))?;
    Ok(vec![
        joined(found.iter().map(|f| &f.values), &call.shape)?,
        joined(found.iter().map(|f| &f.vectors), &call.more[0].shape)?,
    ])
}

fn prepare_svd(op: &'static Op, mut a: Arguments, _: &mut Context) -> Result<Prepared> {
    let (m, lead, mut matrices, types) = one(&mut a)?;
    let full = a.flag(1);
    matrices.choice = Choice::Full(full);
    let (rows, columns) = (matrices.rows, matrices.columns);
    let k = rows.min(columns);
    let (left, right) = if full { (rows, columns) } else { (k, k) };
    let outputs = vec![
        array(extended(&lead, &[rows, left])?, types),
        array(extended(&lead, &[k])?, types),
        array(extended(&lead, &[right, columns])?, types),
    ];
    matrices::prepared(op, &[&m], outputs, matrices, steps(rows, columns, 12))
}

fn svd(call: &Call, rung: &Rung) -> Result<Vec<Array>> {
    let m = matrices_of(call)?;
    let extent = if m.choice == Choice::Full(true) { Extent::Full } else { Extent::Reduced };
    let found = each_matrix(call, rung, |_, a| {
        rung_dense::singular(m.rows, m.columns, a, extent).map_err(not_converged(call))
    })?;
    Ok(vec![
        joined(found.iter().map(|f| &f.u), &call.shape)?,
        joined(found.iter().map(|f| &f.s), &call.more[0].shape)?,
        joined(found.iter().map(|f| &f.vt), &call.more[1].shape)?,
    ])
}

/// The part of the largest singular value up to which others count as zero, unless it is given:
/// the width's epsilon times the larger extent.
fn fraction(a: &mut Arguments, at: usize, types: Types, m: &Matrices) -> Result<f64> {
    if a.is_given(at) {
        return Ok(a.number(at)?.to_f64());
    }
    let epsilon = match types.result {
        ElementType::F32 => f64::from(f32::EPSILON),
        ElementType::BF16 => 2f64.powi(-7),
        ElementType::F16 => 2f64.powi(-10),
        _ => f64::EPSILON,
    };
    Ok(epsilon * m.rows.max(m.columns) as f64)
}

fn prepare_lstsq(op: &'static Op, mut arguments: Arguments, _: &mut Context) -> Result<Prepared> {
    let (a, own, mut m, _) = one(&mut arguments)?;
    let b = arguments.array(1)?;
    let types = types(&[&a, &b]);
    let differ = || {
        let text = format!("lstsq shapes differ: {} and {}", a.shape(), b.shape());
        Error::new(ErrorKind::Shape, text).hint("b has as many rows as a")
    };
    let split = b.rank().checked_sub(if b.rank() == 1 { 1 } else { 2 }).ok_or_else(differ)?;
    let (leading, cells) = b.shape().split_at(split);
    if cells[0] != m.rows {
        return Err(differ());
    }
    let lead = own.broadcast(&Shape::new(leading.iter().copied())?).map_err(|_| differ())?;
    let right = b.broadcast_to(&extended(&lead, cells)?)?;
    m.choice = Choice::Fraction(fraction(&mut arguments, 2, types, &m)?);
    (m.of, m.right) = (slabs_of(&own, &lead)?, cells.get(1).copied().unwrap_or(1));
    let (columns, k) = (m.columns, m.rows.min(m.columns));
    let mut x = vec![columns];
    x.extend(cells.get(1));
    let outputs = vec![
        array(extended(&lead, &x)?, types),
        // Its length is known when the ranks are.
        array(extended(&lead, &[m.right])?, types),
        integers(lead.clone()),
        array(extended(&lead, &[k])?, types),
    ];
    let steps = steps(m.rows, columns, 12) + (m.rows * m.right) as u64;
    matrices::prepared(op, &[&a, &right], outputs, m, steps)
}

fn lstsq(call: &Call, rung: &Rung) -> Result<Vec<Array>> {
    let m = matrices_of(call)?;
    let Choice::Fraction(fraction) = m.choice else { return Ok(Vec::new()) };
    let (a, b) = (rung.packed(&call.operands[0])?, rung.packed(&call.operands[1])?);
    let (cells, sides) = (m.rows * m.columns, m.rows * m.right);
    let found = each(rung.lanes(), (m.of.len(), call.units), |slab| {
        let a = &a[m.of[slab] * cells..][..cells];
        let b = &b[slab * sides..][..sides];
        rung_dense::least_squares((m.rows, m.columns), a, m.right, b, fraction)
            .map_err(not_converged(call))
    })?;
    let lead = &call.more[1].shape;
    // numpy's rule: nothing unless every matrix has full rank and more rows than columns.
    let whole = found.iter().all(|f| f.residuals.len() == m.right);
    let count = if whole { m.right } else { 0 };
    let kept: Vec<Vec<f64>> = found.iter().map(|f| f.residuals[..count].to_vec()).collect();
    let ranks: Vec<i64> = found.iter().map(|f| f.rank as i64).collect();
    Ok(vec![
        joined(found.iter().map(|f| &f.x), &call.shape)?,
        joined(kept.iter(), &extended(lead, &[count])?)?,
        Array::from_slice(&ranks, lead.clone())?,
        joined(found.iter().map(|f| &f.singular_values), &call.more[2].shape)?,
    ])
}

fn prepare_pinv(op: &'static Op, mut a: Arguments, _: &mut Context) -> Result<Prepared> {
    let (m, lead, mut matrices, types) = one(&mut a)?;
    matrices.choice = Choice::Fraction(fraction(&mut a, 1, types, &matrices)?);
    let (rows, columns) = (matrices.rows, matrices.columns);
    let outputs = vec![array(extended(&lead, &[columns, rows])?, types)];
    matrices::prepared(op, &[&m], outputs, matrices, steps(rows, columns, 13))
}

fn pinv(call: &Call, rung: &Rung) -> Result<Vec<Array>> {
    let m = matrices_of(call)?;
    let Choice::Fraction(fraction) = m.choice else { return Ok(Vec::new()) };
    let found = each_matrix(call, rung, |_, a| {
        rung_dense::pseudo_inverse(m.rows, m.columns, a, fraction).map_err(not_converged(call))
    })?;
    Ok(vec![joined(found.iter(), &call.shape)?])
}

fn prepare_rank(op: &'static Op, mut a: Arguments, _: &mut Context) -> Result<Prepared> {
    let (m, lead, mut matrices, types) = one(&mut a)?;
    matrices.choice = match a.is_given(1) {
        true => Choice::Bound(a.number(1)?.to_f64()),
        false => Choice::Fraction(fraction(&mut a, 1, types, &matrices)?),
    };
    let (rows, columns) = (matrices.rows, matrices.columns);
    matrices::prepared(op, &[&m], vec![integers(lead)], matrices, steps(rows, columns, 3))
}

fn rank(call: &Call, rung: &Rung) -> Result<Vec<Array>> {
    let m = matrices_of(call)?;
    let ranks = singular_values(call, rung, |s| {
        let bound = match m.choice {
            Choice::Bound(bound) => bound,
            Choice::Fraction(part) => part * s.first().copied().unwrap_or(0.0),
            _ => 0.0,
        };
        rung_dense::rank(s, bound) as i64
    })?;
    Ok(vec![Array::from_slice(&ranks, call.shape.clone())?])
}

fn prepare_cond(op: &'static Op, mut a: Arguments, _: &mut Context) -> Result<Prepared> {
    let (m, lead, matrices, types) = one(&mut a)?;
    let (rows, columns) = (matrices.rows, matrices.columns);
    if rows.min(columns) == 0 {
        return Err(Error::wanted(ErrorKind::Empty, "cond of an empty array", m.shape()));
    }
    matrices::prepared(op, &[&m], vec![float(lead, types)], matrices, steps(rows, columns, 3))
}

fn cond(call: &Call, rung: &Rung) -> Result<Vec<Array>> {
    let numbers = singular_values(call, rung, |s| match (s.first(), s.last()) {
        (Some(&largest), Some(&least)) if least != 0.0 => largest / least,
        _ => f64::INFINITY,
    })?;
    Ok(vec![Array::from_slice(&numbers, call.shape.clone())?])
}

/// A number from the singular values of each matrix.
fn singular_values<T: Send>(
    call: &Call,
    rung: &Rung,
    number: impl Fn(&[f64]) -> T + Sync,
) -> Result<Vec<T>> {
    let m = matrices_of(call)?;
    each_matrix(call, rung, |_, a| {
        let s = rung_dense::singular_values(m.rows, m.columns, a).map_err(not_converged(call))?;
        Ok(number(&s))
    })
}

/// Matrices of every kind of extents.
fn any_samples() -> Vec<Sample> {
    const SHAPES: [&[usize]; 12] = [
        &[0, 0],
        &[0, 3],
        &[3, 0],
        &[1, 1],
        &[2, 3],
        &[3, 2],
        &[17, 33],
        &[33, 16],
        &[3, 4, 5],
        &[0, 2, 2],
        &[2, 0, 3],
        &[5],
    ];
    let mut list: Vec<Sample> = SHAPES.iter().map(|s| vec![samples::spread(s, 9.0)]).collect();
    list.push(vec![samples::hard(&[5, 5], 2.0)]);
    list.push(vec![samples::counting(&[4, 4], 1)]);
    list
}

/// Each sample, and each with these words.
fn also_with(list: Vec<Sample>, words: &[&[Value]]) -> Vec<Sample> {
    let with = |words: &[Value]| -> Vec<Sample> {
        list.iter().map(|s| [s.as_slice(), words].concat()).collect()
    };
    let more: Vec<Sample> = words.iter().flat_map(|words| with(words)).collect();
    [list.clone(), more].concat()
}

fn qr_samples() -> Vec<Sample> {
    let mode = |name| [samples::word("mode"), samples::word(name)];
    also_with(any_samples(), &[&mode("complete"), &mode("r")])
}

fn svd_samples() -> Vec<Sample> {
    also_with(any_samples(), &[&[samples::word("full"), Value::True]])
}

fn symmetric_samples() -> Vec<Sample> {
    let mut list = matrices::square_samples();
    list.push(vec![samples::spread(&[20, 20], 5.0)]);
    list.push(vec![samples::hard(&[5, 5], 2.0)]);
    list
}

fn lstsq_samples() -> Vec<Sample> {
    const PAIRS: [(&[usize], &[usize]); 8] = [
        (&[4, 2], &[4]),
        (&[2, 4], &[2, 3]),
        (&[17, 17], &[17]),
        (&[0, 2], &[0]),
        (&[3, 5, 2], &[5]),
        (&[5, 2], &[3, 5, 2]),
        (&[3, 0], &[3]),
        (&[4, 2], &[3]),
    ];
    let both =
        |(a, b): &(&[usize], &[usize])| vec![samples::spread(a, 9.0), samples::spread(b, 9.0)];
    let mut list: Vec<Sample> = PAIRS.iter().map(both).collect();
    list.push(vec![samples::counting(&[4, 2], 1), samples::counting(&[4], 3)]);
    list
}
