//! Where the picked element of a slice stands: argmax, argmin. The position is that of the first
//! NaN or, without one, of the first element that compares equal to the extreme one, so that
//! zeros of both signs are a tie.
//!
//! A slice along memory is read twice, a block of L1 at a time: for the extreme, then up to its
//! place. Slices that lie side by side keep the place beside the value in each lane.

use super::Choice;
use super::slices::{BLOCK, Beside, Job, Picked, Run};
use crate::Lanes;
use crate::level::Task;
use crate::operand::Operand;
use crate::vector::{Float, Simd, Vector};
use rung_math::{Mask, Real};
use std::ops::Range;

/// The position, in its slice, of the element that `extreme` would pick.
///
/// # Panics
/// As `extreme`.
pub fn position<C: Choice, T: Float>(
    lanes: &Lanes,
    shape: &[usize],
    x: Operand<T>,
    axes: &[usize],
    out: &mut [usize],
) {
    let job = Job::new(shape, x, axes, out);
    if job.is_long(lanes) {
        for slice in 0..job.slices {
            let parts = job.shared(lanes, None, &|range| job.search::<C>(lanes, slice, range));
            let best = parts
                .into_iter()
                .flatten()
                .reduce(|best, new| if takes_over::<C, T>(Some(best), new.0) { new } else { best });
            // SAFETY: no region is running; the slice has its result.
            unsafe { *job.out.add(slice) = best.map_or(0, |(_, place)| place) };
        }
        return;
    }
    job.run(lanes, &|slices| {
        if job.beside() && job.length <= COUNTED && !C::SKIPS {
            job.columns::<C>(lanes, slices);
        } else if job.along_memory() && job.length <= BLOCK {
            job.rows::<C>(lanes, slices);
        } else {
            for slice in slices {
                let best = job.search::<C>(lanes, slice, 0..job.length);
                // SAFETY: this piece owns the slice's result.
                unsafe { *job.out.add(slice) = best.map_or(0, |(_, place)| place) };
            }
        }
    });
}

/// Rows up to which f32 counts them exactly.
const COUNTED: usize = 1 << f32::MANTISSA_DIGITS;

impl<T: Float> Job<T, usize> {
    /// Finds the block that holds the extreme first, then the place in it.
    fn search<C: Choice>(
        &self,
        lanes: &Lanes,
        slice: usize,
        range: Range<usize>,
    ) -> Option<(T, usize)> {
        let mut best: Option<(T, usize)> = None;
        self.blocks(slice, range, |x, from| {
            let run = Run::<C, T>::of(x);
            let block = lanes.level().run(run);
            if takes_over::<C, T>(best, block) {
                best = Some((block, from + lanes.level().run(Place { run, value: block })));
            }
            !block.wide().is_nan()
        });
        best
    }
}

/// Whether a later block's extreme is picked instead of the best so far; the first NaN stays.
fn takes_over<C: Choice, T: Float>(best: Option<(T, usize)>, new: T) -> bool {
    best.is_none_or(|(old, _)| {
        let (old, new) = (old.wide(), new.wide());
        !old.is_nan() && (new.is_nan() || C::wins(new, old))
    })
}

/// Where the extreme of a run stands first.
struct Place<C, T> {
    run: Run<C, T>,
    value: T,
}

impl<C: Choice, T: Float> Task for Place<C, T> {
    type Output = usize;

    /// The extreme of a run with NaN is NaN, so only then NaN has to be looked for.
    #[inline(always)]
    fn run<S: Simd>(self) -> usize {
        // SAFETY: the run's elements are readable.
        unsafe {
            match self.value.wide().is_nan() && !C::SKIPS {
                true => self.find::<S, true>(),
                false => self.find::<S, false>(),
            }
        }
    }
}

impl<C: Choice, T: Float> Place<C, T> {
    /// The lanes of the vector at `i` that are looked for.
    #[inline(always)]
    unsafe fn found<S: Simd, const NAN: bool>(&self, i: usize) -> <T::Vector<S> as Real>::Mask {
        // SAFETY: the caller says that a whole vector is there.
        let x = unsafe { T::Vector::<S>::load(self.run.x.add(i)) };
        if NAN { x.equal(x).not() } else { x.equal(T::Vector::<S>::splat(self.value)) }
    }

    /// The first element that equals the extreme, or is NaN where `NAN`.
    #[inline(always)]
    unsafe fn find<S: Simd, const NAN: bool>(&self) -> usize {
        let (Run { x, count, .. }, lanes) = (self.run, T::Vector::<S>::LANES);
        let mut i = 0;
        // SAFETY: whole vectors below `count`.
        unsafe {
            // Four vectors a branch: the one that is left is mispredicted either way.
            while i + 4 * lanes <= count {
                let (a, b) = (self.found::<S, NAN>(i), self.found::<S, NAN>(i + lanes));
                let (c, d) =
                    (self.found::<S, NAN>(i + 2 * lanes), self.found::<S, NAN>(i + 3 * lanes));
                if T::Vector::<S>::any(a.or(b).or(c.or(d))) {
                    break;
                }
                i += 4 * lanes;
            }
            while i + lanes <= count {
                let lane = T::Vector::<S>::first(self.found::<S, NAN>(i));
                if lane < lanes {
                    return i + lane;
                }
                i += lanes;
            }
        }
        let here = |e: T| if NAN { e.wide().is_nan() } else { e == self.value };
        // SAFETY: below `count`.
        (i..count).find(|i| here(unsafe { *x.add(*i) })).unwrap_or(0)
    }
}

impl<T: Float> Picked<T> for usize {
    #[inline(always)]
    fn of_run<C: Choice, S: Simd>(run: Run<C, T>) -> usize {
        Place { run, value: run.run::<S>() }.run::<S>()
    }

    /// At most `COUNTED` rows: the places are numbers of the element's own type, so that one mask
    /// selects both.
    #[inline(always)]
    unsafe fn of_columns<C: Choice, S: Simd, const N: usize>(
        slices: &Beside<C, T, usize>,
        column: usize,
        part: usize,
    ) {
        let lanes = T::Vector::<S>::LANES;
        let mut best = [T::Vector::<S>::constant(0.0); N];
        for (j, best) in best.iter_mut().enumerate() {
            // SAFETY: the caller says that the columns are there.
            *best = unsafe { slices.vector::<S>(0, column + j * lanes, part) };
        }
        let mut places = [T::Vector::<S>::constant(0.0); N];
        let one = T::Vector::<S>::constant(1.0);
        let mut place = one;
        for row in 1..slices.rows {
            for j in 0..N {
                // SAFETY: as above.
                let x = unsafe { slices.vector::<S>(row, column + j * lanes, part) };
                let is_nan = x.equal(x).not().and(best[j].equal(best[j]));
                let taken = C::picks(x, best[j]).or(is_nan);
                best[j] = T::Vector::<S>::select(taken, x, best[j]);
                places[j] = T::Vector::<S>::select(taken, place, places[j]);
            }
            place = place + one;
        }
        for (j, places) in places.into_iter().enumerate() {
            let mut own = [T::default(); 16];
            // SAFETY: the widest vector has 16 lanes.
            unsafe { places.store(own.as_mut_ptr()) };
            for (lane, place) in own.iter().enumerate().take(part.min(lanes)) {
                // SAFETY: the columns have their results.
                unsafe { *slices.out.add(column + j * lanes + lane) = place.wide() as usize };
            }
        }
    }
}
