//! Rows of a matrix that lie along memory, times a vector in f64: one chunk of them.
//!
//! Three rows go side by side, so that three streams run through memory at once (one alone got half
//! of the bandwidth). The 64 partials of a row are eight 512-bit registers, and a vector of y is
//! loaded once for three products. Of narrower registers they are too many: there the next 256
//! elements of the three rows are taken in four passes, between which the partials wait in L1.

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

/// Elements of a row that several passes take before the next row's turn: a whole chunk for each
/// pass leaves every other 128 bytes to the next one.
const TURN: usize = 256;

/// How far ahead lines of f32 are asked for. They are widened by instructions of their
/// own, so that the processor looks less far ahead by itself: 8192 x 4096 f32 on an Intel with
/// AVX-512 came at 12.5 GB/s so and at 10.5 without, where plain reading got 13.6.
const AHEAD: usize = 1 << 10;

/// Registers held at a time for each row: all partials of three rows in 24 of AVX-512's 32, a
/// quarter of them in 12 of AVX2's 16. Half of one row's partials in eight read y three times as
/// often, from L2 where it has 4096 elements: 30 GB/s of f32 in cache on an AMD Zen 3, now 42, and
/// beyond cache half and two thirds of what plain reading got, now all.
const WIDE: usize = 8;
const NARROW: usize = 4;

/// The partials of a row.
type Partials = [f64; PARTIALS];

impl<T: Stored> Task for Along<T> {
    type Output = ();

    #[inline(always)]
    fn run<S: Simd>(self) {
        // Stream s has the rows from s * band on, which are neighbours in memory, one after another.
        let band = self.rows / STREAMS;
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
        let apart = band as isize * self.row;
        let mut partials = [[0.0; PARTIALS]; R];
        let whole = self.count / PARTIALS * PARTIALS;
        // SAFETY: the caller's promise; the rows' results are in reach.
        unsafe {
            if S::F64::LANES * WIDE == PARTIALS {
                pass::<S, T, R, WIDE>(&mut partials, 0, (x, apart), self.y, whole);
            } else {
                for from in (0..whole).step_by(TURN) {
                    let (x, y) = (x.wrapping_add(from), self.y.add(from));
                    for first in (0..PARTIALS).step_by(S::F64::LANES * NARROW) {
                        let count = TURN.min(whole - from);
                        pass::<S, T, R, NARROW>(&mut partials, first, (x, apart), y, count);
                    }
                }
            }
            if whole < self.count {
                self.ragged::<S, R>(&mut partials, (x, apart), whole);
            }
            for (r, partials) in partials.iter_mut().enumerate() {
                *self.out.add((row + r * band) * self.out_step) = halve::<S>(partials);
            }
        }
    }

    /// The last elements of each row, fewer than 64: whole vectors where they lie, the last one
    /// beside zeros.
    #[inline(always)]
    unsafe fn ragged<S: Simd, const R: usize>(
        &self,
        partials: &mut [Partials; R],
        (x, apart): (*const T, isize),
        whole: usize,
    ) {
        let lanes = S::F64::LANES;
        let end = whole + (self.count - whole) / lanes * lanes;
        for (r, partials) in partials.iter_mut().enumerate() {
            let x = x.wrapping_offset(r as isize * apart);
            // SAFETY: the row has `count` elements; y goes on with padding.
            unsafe {
                for at in (whole..end).step_by(lanes) {
                    let to = partials.as_mut_ptr().add(at - whole);
                    add::<S, T>(x.add(at), self.y.add(at), to);
                }
                if end < self.count {
                    // A padded lane adds 0.0 * -0.0 = -0.0, which changes nothing, not even -0.0.
                    let mut block = [T::default(); 8];
                    let rest = self.count - end;
                    std::ptr::copy_nonoverlapping(x.add(end), block.as_mut_ptr(), rest);
                    let to = partials.as_mut_ptr().add(end - whole);
                    add::<S, T>(block.as_ptr(), self.y.add(end), to);
                }
            }
        }
    }
}

/// One vector of products into its partials.
#[inline(always)]
unsafe fn add<S: Simd, T: Stored>(x: *const T, y: *const f64, to: *mut f64) {
    // SAFETY: the caller says that a vector is at each.
    unsafe { T::load_wide::<S>(x).fused(S::F64::load(y), S::F64::load(to)).store(to) };
}

/// Takes `count` elements, whole 64s, of rows `apart` into the partials that `HELD` registers of
/// each row hold, from `first` on.
#[inline(always)]
unsafe fn pass<S: Simd, T: Stored, const R: usize, const HELD: usize>(
    partials: &mut [Partials; R],
    first: usize,
    (x, apart): (*const T, isize),
    y: *const f64,
    count: usize,
) {
    let mut sums = [[S::F64::splat(0.0); HELD]; R];
    // SAFETY: `count` elements of each row and of y are readable; a row has 64 partials.
    unsafe {
        for (partials, sums) in partials.iter().zip(&mut sums) {
            for (j, sum) in sums.iter_mut().enumerate() {
                *sum = S::F64::load(partials.as_ptr().add(first + j * S::F64::LANES));
            }
        }
        for at in (first..count).step_by(PARTIALS) {
            take::<S, T, R, HELD>(&mut sums, x.add(at), apart, y.add(at));
        }
        for (partials, sums) in partials.iter_mut().zip(sums) {
            for (j, sum) in sums.into_iter().enumerate() {
                sum.store(partials.as_mut_ptr().add(first + j * S::F64::LANES));
            }
        }
    }
}

/// Takes `HELD` vectors of each row into as many partials.
#[inline(always)]
unsafe fn take<S: Simd, T: Stored, const R: usize, const HELD: usize>(
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
