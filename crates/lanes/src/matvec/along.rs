//! Rows of a matrix that lie along memory, times a vector in f64: one chunk of them.
//!
//! The 64 partials of a row are eight 512-bit registers, or narrower ones in several passes over
//! the chunk. With 512-bit registers three rows go side by side, so that three streams run through
//! memory at once (one alone got half of the bandwidth) and a vector of y is loaded once for
//! three products. A row's last elements, fewer than 64, are copied beside zeros.

use crate::level::Task;
use crate::vector::{LINE, Simd, Stored, Vector, ask_for};
use rung_math::fold::PARTIALS;

/// out (rows) = x (rows, count) * y (count); rows are `row` apart, their results `out_step`.
/// After the last whole 64 elements, y goes on with -0.0 up to the next 64.
#[derive(Clone, Copy)]
pub(super) struct Along<T> {
    pub x: *const T,
    pub row: isize,
    pub rows: usize,
    pub count: usize,
    pub y: *const f64,
    pub out: *mut f64,
    pub out_step: usize,
}

/// Rows side by side where registers allow it.
pub(super) const STREAMS: usize = 3;

/// How far ahead lines of f32 are asked for. They are widened by instructions of their
/// own, so that the processor looks less far ahead by itself: 8192 x 4096 f32 on an Intel with
/// AVX-512 came at 12.5 GB/s so and at 10.5 without, where plain reading got 13.6.
const AHEAD: usize = 1 << 10;

/// Registers held at a time for each row.
const HELD: usize = 8;

/// The partials of a row.
type Partials = [f64; PARTIALS];

impl<T: Stored> Task for Along<T> {
    type Output = ();

    #[inline(always)]
    fn run<S: Simd>(self) {
        // Wide registers: 24 of the 32 are partials. Stream s has the rows from s * band on, which
        // are neighbours in memory, one after another.
        let side_by_side = S::F64::LANES * HELD == PARTIALS;
        let band = if side_by_side { self.rows / STREAMS } else { 0 };
        // SAFETY: whoever made the task vouches for rows, vector and results.
        unsafe {
            for row in 0..band {
                self.group::<S, STREAMS>(row, band);
            }
            for row in band * STREAMS..self.rows {
                self.group::<S, 1>(row, 0);
            }
        }
    }
}

impl<T: Stored> Along<T> {
    /// `R` rows, `band` apart, from `row` on.
    #[inline(always)]
    unsafe fn group<S: Simd, const R: usize>(&self, row: usize, band: usize) {
        let x = self.x.wrapping_offset(row as isize * self.row);
        let mut partials = [[0.0; PARTIALS]; R];
        // SAFETY: the caller's promise; the rows' results are in reach.
        unsafe {
            for first in (0..PARTIALS).step_by(S::F64::LANES * HELD) {
                self.pass::<S, R>(x, band as isize * self.row, first, &mut partials);
            }
            for (r, partials) in partials.iter_mut().enumerate() {
                *self.out.add((row + r * band) * self.out_step) = halve::<S>(partials);
            }
        }
    }

    /// The partials that `HELD` registers hold, from `first` on, of rows `apart`.
    #[inline(always)]
    unsafe fn pass<S: Simd, const R: usize>(
        &self,
        x: *const T,
        apart: isize,
        first: usize,
        partials: &mut [Partials; R],
    ) {
        let mut sums = [[S::F64::splat(0.0); HELD]; R];
        let whole = self.count / PARTIALS * PARTIALS;
        // SAFETY: `whole` elements of each row are readable; the block holds 64.
        unsafe {
            for at in (first..whole).step_by(PARTIALS) {
                take::<S, T, R>(&mut sums, x.add(at), apart, self.y.add(at));
            }
            if whole < self.count {
                let mut block = [[T::default(); PARTIALS]; R];
                for (r, block) in block.iter_mut().enumerate() {
                    let x = x.wrapping_offset(r as isize * apart).add(whole);
                    std::ptr::copy_nonoverlapping(x, block.as_mut_ptr(), self.count - whole);
                }
                // A padded lane adds 0.0 * -0.0 = -0.0, which changes nothing, not even -0.0.
                let x = block.as_ptr().cast::<T>().add(first);
                take::<S, T, R>(&mut sums, x, PARTIALS as isize, self.y.add(whole + first));
            }
            for (partials, sums) in partials.iter_mut().zip(sums) {
                for (j, sum) in sums.into_iter().enumerate() {
                    sum.store(partials.as_mut_ptr().add(first + j * S::F64::LANES));
                }
            }
        }
    }
}

/// Takes `HELD` vectors of each row into as many partials.
#[inline(always)]
unsafe fn take<S: Simd, T: Stored, const R: usize>(
    sums: &mut [[S::F64; HELD]; R],
    x: *const T,
    apart: isize,
    y: *const f64,
) {
    if size_of::<T>() == size_of::<f32>() {
        for r in 0..R {
            let x = x.wrapping_offset(r as isize * apart).wrapping_byte_add(AHEAD);
            for line in (0..HELD * S::F64::LANES * size_of::<T>()).step_by(LINE) {
                ask_for(x.wrapping_byte_add(line));
            }
        }
    }
    for j in 0..HELD {
        let at = j * S::F64::LANES;
        // SAFETY: the caller says that `HELD` vectors are readable in each row and in y.
        unsafe {
            let y = S::F64::load(y.add(at));
            for (r, sums) in sums.iter_mut().enumerate() {
                let x = x.wrapping_offset(r as isize * apart).add(at);
                sums[j] = T::load_wide::<S>(x).fused(y, sums[j]);
            }
        }
    }
}

/// The halving of a row's partials, whole vectors first.
#[inline(always)]
fn halve<S: Simd>(partials: &mut Partials) -> f64 {
    let mut half = PARTIALS / 2;
    while half >= S::F64::LANES {
        for low in (0..half).step_by(S::F64::LANES) {
            let at = partials.as_mut_ptr().wrapping_add(low);
            // SAFETY: `low + half` and the lanes after it are below 64.
            unsafe { (S::F64::load(at) + S::F64::load(at.add(half))).store(at) };
        }
        half /= 2;
    }
    while half > 0 {
        for low in 0..half {
            partials[low] += partials[low + half];
        }
        half /= 2;
    }
    partials[0]
}
