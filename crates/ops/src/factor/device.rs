//! Factorisations and substitution on a device: launches over stacks in f64, block of columns by
//! block. Whether a matrix is singular is read back, since that is an error on every rung.

use super::{check, has_nan, not_positive, of_pivots};
use crate::call::{Call, at_type};
use crate::decline::{Answer, Decline};
use crate::matrices::{Choice, Matrices, Rung, matrices_of, without_elements};
use crate::round_trip::{Bind, Made, Placed, RoundTrip, Work};
use crate::select::table;
use rung_array::Array;
use rung_base::{ElementType, Result, Shape};
use rung_kernel::broadcast::View;
use rung_kernel::triangular::{self, Kernels, Sides};
use rung_lanes::triangular::Triangle;

/// A call's launches, as they are planned.
struct Schedule<'a, 't> {
    call: &'a Call,
    m: &'a Matrices,
    trip: &'a RoundTrip<'t>,
    placed: &'a [Placed<'a>],
    kernels: &'a Kernels,
    work: Work,
}

/// The matrices of the first operand and their pivots.
struct Factors {
    lu: Bind,
    pivots: Bind,
    /// Where the pivots begin.
    first: usize,
}

impl<'a, 't> Schedule<'a, 't> {
    fn new(
        call: &'a Call,
        trip: &'a RoundTrip<'t>,
        placed: &'a [Placed<'a>],
    ) -> Result<Schedule<'a, 't>> {
        let m = matrices_of(call)?;
        Ok(Schedule {
            call,
            m,
            trip,
            placed,
            kernels: trip.triangular_kernels(),
            work: Work::default(),
        })
    }

    /// The call's first result, and where it is computed in f64: there or beside it.
    fn output(&mut self) -> [Bind; 2] {
        let shape = self.call.shape.clone();
        let bytes = shape.size() * ElementType::F64.size();
        let result = self.work.make(Made::Result(self.call.result, shape));
        match self.call.result {
            ElementType::F64 => [result, result],
            _ => [result, self.work.make(Made::Workspace(bytes))],
        }
    }

    /// Numbers for the call's own time.
    fn workspace(&mut self, count: usize, element: ElementType) -> Bind {
        self.work.make(Made::Workspace(count * element.size()))
    }

    /// An operand in row-major order and f64, its last two axes exchanged if asked.
    fn fill(&mut self, operand: usize, into: Bind, turned: bool) -> Result<()> {
        let (x, mut shape) = (&self.placed[operand], self.call.operands[operand].shape().to_vec());
        let mut strides = x.strides().to_vec();
        if turned {
            let last = shape.len() - 1;
            shape.swap(last - 1, last);
            strides.swap(last - 1, last);
        }
        let from = View { offset: x.offset(), strides: &strides };
        let own = self.call.operands[operand].element_type();
        self.copy((Bind::Operand(operand), own, from), (into, ElementType::F64), &shape)
    }

    /// Elements through a view, packed.
    fn copy(
        &mut self,
        (source, stored, from): (Bind, ElementType, View),
        (into, to): (Bind, ElementType),
        shape: &[usize],
    ) -> Result<()> {
        let shape = Shape::new(shape.iter().copied())?;
        if let Some(launch) = self.trip.gathered(stored, to, &shape, from)? {
            self.work.stage(launch, [source, into]);
        }
        Ok(())
    }

    /// What was computed in f64 as the result.
    fn finish(&mut self, [result, computed]: [Bind; 2]) -> Result<()> {
        let (count, t) = (self.call.shape.size(), self.call.result);
        match t {
            ElementType::F64 => Ok(()),
            _ => {
                let from = View { offset: 0, strides: &[1] };
                self.copy((computed, ElementType::F64, from), (result, t), &[count])
            }
        }
    }

    /// The first operand's matrices, factorised in `lu`.
    fn factors(&mut self, lu: Bind) -> Result<Factors> {
        let (slabs, n) = (self.m.slabs, self.m.rows);
        self.fill(0, lu, false)?;
        let pivots = self.work.make(Made::Result(ElementType::I32, Shape::new([slabs, n])?));
        for launch in self.kernels.lu(slabs, n)? {
            self.work.stage(launch, [lu, pivots]);
        }
        Ok(Factors { lu, pivots, first: 0 })
    }

    /// The diagonals of the matrices, as a result.
    fn diagonals(&mut self, matrices: Bind) -> Result<()> {
        let (slabs, n) = (self.m.slabs, self.m.rows);
        let diagonals = self.work.make(Made::Result(ElementType::F64, Shape::new([slabs, n])?));
        let from = View { offset: 0, strides: &[(n * n) as isize, n as isize + 1] };
        self.copy((matrices, ElementType::F64, from), (diagonals, ElementType::F64), &[slabs, n])
    }

    fn sides(&self) -> Sides {
        Sides { n: self.m.rows, count: self.m.of.len(), columns: self.m.right }
    }

    /// Solves with triangles in the place of `x`; `of`: the number of each side's matrix.
    fn substitute(&mut self, which: Triangle, t: Bind, x: Bind, of: Bind) -> Result<()> {
        for launch in self.kernels.substitute(&self.sides(), which.lower, which.unit)? {
            self.work.stage(launch, [t, x, of]);
        }
        Ok(())
    }

    /// Exchanges and both substitutions in the place of `x`.
    fn solve(&mut self, f: &Factors, x: Bind, of: Bind) -> Result<()> {
        self.work.stage(self.kernels.exchange(&self.sides(), f.first)?, [f.pivots, x, of]);
        self.substitute(Triangle { lower: true, unit: true }, f.lu, x, of)?;
        self.substitute(Triangle { lower: false, unit: false }, f.lu, x, of)
    }
}

/// The results of a call's work, or its answer where there are none.
type Planned = std::result::Result<Vec<Array>, Answer>;

/// Runs what `plan` makes over the call's operands, and after them the number of each side's matrix
/// and the pivots that the call has.
fn run(
    call: &Call,
    trip: &RoundTrip,
    plan: impl FnOnce(&mut Schedule) -> Result<()>,
) -> Result<Planned> {
    if let Some(results) = without_elements(call) {
        return results.map(|results| Err(Answer::Several(results)));
    }
    let m = matrices_of(call)?;
    let (Some(of), Some(pivots)) = (table(&m.of)?, table(&m.pivots)?) else {
        return Ok(Err(Answer::Declined(Decline::TooLong)));
    };
    let all = call.operands.iter().chain([&of, &pivots]);
    let placed: Vec<Placed> = all.map(|x| trip.place(x)).collect();
    let mut schedule = Schedule::new(call, trip, &placed)?;
    let planned = plan(&mut schedule).map(|()| schedule.work);
    Ok(trip.results(planned, &placed)?.map_err(Answer::Declined))
}

/// The elements of a result that decides whether the call fails.
fn read<T: rung_base::Element>(a: &Array) -> std::result::Result<Vec<T>, Answer> {
    match a.home() {
        Ok(()) => Ok(a.view::<T>().iter().collect()),
        Err(e) => Err(Answer::Declined(Decline::Device(e.message().into()))),
    }
}

/// `Ok`'s value, else what ends the call.
macro_rules! or_answer {
    ($outcome:expr) => {
        match $outcome {
            Ok(value) => value,
            Err(answer) => return Ok(answer),
        }
    };
}

/// The pivots of the LU alone go home, where they are multiplied.
pub(super) fn determinant(call: &Call, trip: &RoundTrip) -> Result<Answer> {
    let m = matrices_of(call)?;
    let results = or_answer!(run(call, trip, |s| {
        let lu = s.workspace(m.slabs * m.rows * m.rows, ElementType::F64);
        s.factors(lu)?;
        s.diagonals(lu)
    })?);
    let rows = or_answer!(read::<i32>(&results[0]));
    let rows: Vec<usize> = rows.into_iter().map(|row| row as usize).collect();
    let diagonals = or_answer!(read::<f64>(&results[1]));
    let n = m.rows;
    let slab = |slab: usize| {
        let (diagonal, rows) = (&diagonals[slab * n..][..n], &rows[slab * n..][..n]);
        (diagonal.iter().copied(), rows)
    };
    of_pivots(call, slab).map(Answer::Several)
}

pub(super) fn inverse(call: &Call, trip: &RoundTrip) -> Result<Answer> {
    solved(call, trip, "inv of", |s, x| {
        let launch = s.kernels.identity(s.m.slabs, s.m.rows)?;
        s.work.stage(launch, [x]);
        Ok(())
    })
}

pub(super) fn solve(call: &Call, trip: &RoundTrip) -> Result<Answer> {
    solved(call, trip, "solve with", |s, x| s.fill(1, x, false))
}

/// An LU and the solution for what `right` puts in its place.
fn solved(
    call: &Call,
    trip: &RoundTrip,
    what: &str,
    right: impl FnOnce(&mut Schedule, Bind) -> Result<()>,
) -> Result<Answer> {
    let results = or_answer!(run(call, trip, |s| {
        let out = s.output();
        let lu = s.workspace(s.m.slabs * s.m.rows * s.m.rows, ElementType::F64);
        let factors = s.factors(lu)?;
        s.diagonals(lu)?;
        right(s, out[1])?;
        s.solve(&factors, out[1], Bind::Operand(s.placed.len() - 2))?;
        s.finish(out)
    })?);
    unless_singular(call, what, results)
}

/// The first result, unless the last, the diagonals, says that a matrix is singular.
fn unless_singular(call: &Call, what: &str, mut results: Vec<Array>) -> Result<Answer> {
    let m = matrices_of(call)?;
    if let Some(diagonals) = results.pop() {
        let diagonals = or_answer!(read::<f64>(&diagonals));
        let n = m.rows;
        check(m.slabs, what, |slab| diagonals[slab * n..][..n].iter().copied())?;
    }
    results.truncate(1);
    Ok(Answer::Several(results))
}

pub(super) fn lu(call: &Call, trip: &RoundTrip) -> Result<Answer> {
    let m = matrices_of(call)?;
    let mut results = or_answer!(run(call, trip, |s| {
        let out = s.output();
        let positions = call.more[0].shape.clone();
        let positions = s.work.make(Made::Result(ElementType::I64, positions));
        let factors = s.factors(out[1])?;
        let from = View { offset: 0, strides: &[1] };
        let source = (factors.pivots, ElementType::I32, from);
        s.copy(source, (positions, ElementType::I64), &[m.slabs * m.rows])?;
        s.finish(out)
    })?);
    results.truncate(2);
    Ok(Answer::Several(results))
}

pub(super) fn lu_solve(call: &Call, trip: &RoundTrip) -> Result<Answer> {
    let m = matrices_of(call)?;
    let results = or_answer!(run(call, trip, |s| {
        let out = s.output();
        let lu = s.workspace(m.slabs * m.rows * m.rows, ElementType::F64);
        s.fill(0, lu, false)?;
        s.diagonals(lu)?;
        s.fill(1, out[1], false)?;
        let last = s.placed.len() - 1;
        let first = s.placed[last].offset();
        let factors = Factors { lu, pivots: Bind::Operand(last), first };
        s.solve(&factors, out[1], Bind::Operand(last - 1))?;
        s.finish(out)
    })?);
    unless_singular(call, "lu-solve with", results)
}

pub(super) fn solve_triangular(call: &Call, trip: &RoundTrip) -> Result<Answer> {
    let m = matrices_of(call)?;
    let Choice::Triangle(which) = m.choice else {
        return Ok(Answer::Declined(Decline::NoKernel("it was prepared for something else")));
    };
    let mut results = or_answer!(run(call, trip, |s| {
        let out = s.output();
        let t = s.workspace(m.slabs * m.rows * m.rows, ElementType::F64);
        s.fill(0, t, false)?;
        s.fill(1, out[1], false)?;
        if !which.unit {
            s.diagonals(t)?;
        }
        s.substitute(which, t, out[1], Bind::Operand(s.placed.len() - 2))?;
        s.finish(out)
    })?);
    if which.unit {
        results.truncate(1);
        return Ok(Answer::Several(results));
    }
    unless_singular(call, "solve-triangular with", results)
}

pub(super) fn cholesky(call: &Call, trip: &RoundTrip) -> Result<Answer> {
    let m = matrices_of(call)?;
    let (slabs, n, upper) = (m.slabs, m.rows, m.choice == Choice::Upper(true));
    let t = call.result;
    let kernel = trip.kernel_for(("(triangular)", t, "kept"), || triangular::kept(t))?;
    let mut results = or_answer!(run(call, trip, |s| {
        let out = s.work.make(Made::Result(t, call.shape.clone()));
        let failed = s.work.make(Made::Result(ElementType::I32, Shape::vector(slabs)));
        let a = s.workspace(slabs * n * n, ElementType::F64);
        s.fill(0, a, upper)?;
        for launch in s.kernels.cholesky(slabs, n)? {
            s.work.stage(launch, [a, failed]);
        }
        s.work.stage(triangular::kept_launch(&kernel, slabs, n, upper)?, [a, out]);
        Ok(())
    })?);
    let failed = match results.pop() {
        Some(failed) => or_answer!(read::<i32>(&failed)),
        None => Vec::new(),
    };
    let bad = failed.iter().enumerate().filter(|(_, pivot)| **pivot >= 0);
    for (slab, &pivot) in bad {
        // Only now is the operand wanted here.
        let operand = &call.operands[0];
        operand.home()?;
        let operand = at_type(operand, ElementType::F64)?;
        let matrix = &Rung::Plain.packed(&operand)?[slab * n * n..][..n * n];
        if !has_nan(matrix, n, upper) {
            return Err(not_positive(pivot as usize, slab, slabs));
        }
    }
    Ok(Answer::Several(results))
}
