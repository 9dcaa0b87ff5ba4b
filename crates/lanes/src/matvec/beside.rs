//! One chunk of a vector times a matrix whose rows lie along memory: every result is a column.
//!
//! Row i belongs to partial i mod 64. Eight rows of one partial (64 apart, so eight streams through
//! memory) are taken into it at a time: it is then loaded and stored once for eight rows.
//!
//! Narrow matrices are walked in the order of their rows, and the 64 partials of up to 512 columns
//! (256 KiB) wait in L2. In a wide one that order jumps every 2 KiB, which cost half of the
//! bandwidth: there one partial after another is finished, over 2048 columns, in the order in
//! which they are halved, so that at most seven wait.

use crate::level::{Level, Task};
use crate::scratch::with_left;
use crate::vector::{LINE, Simd, Stored, Vector, ask_for};
use rung_math::fold::PARTIALS;

/// Columns of a block of a narrow matrix and of a wide one.
const NARROW: usize = 512;
const WIDE: usize = 2048;

/// Rows of one partial that are taken together.
const TOGETHER: usize = 8;

/// Partials that wait while the others are finished: one for each halving, and the newest.
const WAITING: usize = 7;

/// How far ahead lines of f32 are asked for, as in `along`: 10.3 GB/s against 8.9.
const AHEAD: usize = 512;

/// Columns of a block when there are this many rows.
pub(super) fn block(rows: usize) -> usize {
    if rows >= PARTIALS * TOGETHER { WIDE } else { NARROW }
}

/// out (columns) = y (rows) * x (rows, columns), rows `step` apart: one chunk, one block.
#[derive(Clone, Copy)]
pub(super) struct Beside<T> {
    pub x: *const T,
    pub step: isize,
    pub rows: usize,
    pub columns: usize,
    pub y: *const f64,
    pub out: *mut f64,
}

/// The same with room for partials, each `width` wide.
struct WithRoom<T> {
    task: Beside<T>,
    room: *mut f64,
    width: usize,
    wide: bool,
}

impl<T: Stored> Beside<T> {
    pub(super) fn run(self, level: Level) {
        let width = self.columns.next_multiple_of(8);
        let wide = self.columns > NARROW;
        with_left(|scratch| {
            let room = scratch.room(if wide { WAITING } else { PARTIALS } * width);
            level.run(WithRoom { task: self, room, width, wide });
        });
    }
}

impl<T: Stored> Task for WithRoom<T> {
    type Output = ();

    #[inline(always)]
    fn run<S: Simd>(self) {
        // SAFETY: whoever made the task vouches for rows, vector and results.
        unsafe { if self.wide { self.one_by_one::<S>() } else { self.row_by_row::<S>() } }
    }
}

impl<T: Stored> WithRoom<T> {
    fn at(&self, place: usize) -> *mut f64 {
        self.room.wrapping_add(place * self.width)
    }

    /// All partials at once, rows in memory order.
    #[inline(always)]
    unsafe fn row_by_row<S: Simd>(&self) {
        let rows = self.task.rows;
        // SAFETY: the caller's promise; the room has all partials.
        unsafe {
            for partial in 0..PARTIALS {
                self.zero::<S>(partial);
            }
            for from in (0..rows).step_by(PARTIALS * TOGETHER) {
                for partial in 0..PARTIALS.min(rows - from) {
                    self.take::<S>(from + partial, self.at(partial));
                }
            }
            let mut half = PARTIALS / 2;
            while half > 0 {
                for low in 0..half {
                    self.join::<S>(low, low + half);
                }
                half /= 2;
            }
            self.finish();
        }
    }

    /// One partial after another: 0, 32, 16, 48, 8 ..., each joined as soon as its half is there.
    #[inline(always)]
    unsafe fn one_by_one<S: Simd>(&self) {
        let mut waiting = 0;
        for turn in 0..PARTIALS {
            let partial = turn.reverse_bits() >> (usize::BITS - PARTIALS.trailing_zeros());
            // SAFETY: the caller's promise; no more than `WAITING` places are in use.
            unsafe {
                self.zero::<S>(waiting);
                for row in (partial..self.task.rows).step_by(PARTIALS * TOGETHER) {
                    self.take::<S>(row, self.at(waiting));
                }
                waiting += 1;
                for _ in 0..(turn + 1).trailing_zeros() {
                    waiting -= 1;
                    self.join::<S>(waiting - 1, waiting);
                }
            }
        }
        // SAFETY: as above; place 0 has the result.
        unsafe { self.finish() };
    }

    #[inline(always)]
    unsafe fn zero<S: Simd>(&self, place: usize) {
        for column in (0..self.width).step_by(S::F64::LANES) {
            // SAFETY: whole vectors divide the width.
            unsafe { S::F64::splat(0.0).store(self.at(place).add(column)) };
        }
    }

    /// low <- low + high.
    #[inline(always)]
    unsafe fn join<S: Simd>(&self, low: usize, high: usize) {
        for column in (0..self.width).step_by(S::F64::LANES) {
            // SAFETY: whole vectors divide the width.
            unsafe {
                let (low, high) = (self.at(low).add(column), self.at(high).add(column));
                (S::F64::load(low) + S::F64::load(high)).store(low);
            }
        }
    }

    #[inline(always)]
    unsafe fn finish(&self) {
        // SAFETY: place 0 is full, and there are as many results.
        unsafe { std::ptr::copy_nonoverlapping(self.room, self.task.out, self.task.columns) };
    }

    /// Takes up to `TOGETHER` rows, 64 apart, into a partial.
    #[inline(always)]
    unsafe fn take<S: Simd>(&self, row: usize, to: *mut f64) {
        let count = (self.task.rows - row).div_ceil(PARTIALS).min(TOGETHER);
        let whole = self.task.columns / S::F64::LANES * S::F64::LANES;
        // SAFETY: rows and columns lie inside the operand; there is a factor for each row.
        unsafe {
            let mut rows = [(self.task.x, S::F64::splat(0.0)); TOGETHER];
            for (i, other) in rows.iter_mut().enumerate().take(count) {
                let row = row + i * PARTIALS;
                let x = self.task.x.wrapping_offset(row as isize * self.task.step);
                *other = (x, S::F64::splat(*self.task.y.add(row)));
            }
            if count == TOGETHER {
                vectors::<S, T>(&rows, whole, to);
            } else {
                for row in &rows[..count] {
                    vectors::<S, T>(&[*row], whole, to);
                }
            }
            if whole < self.task.columns {
                for (x, y) in &rows[..count] {
                    let mut block = [T::default(); 8];
                    let rest = self.task.columns - whole;
                    std::ptr::copy_nonoverlapping(x.add(whole), block.as_mut_ptr(), rest);
                    let to = to.add(whole);
                    T::load_wide::<S>(block.as_ptr()).fused(*y, S::F64::load(to)).store(to);
                }
            }
        }
    }
}

/// The first `whole` columns of some rows, in the order of the rows.
#[inline(always)]
unsafe fn vectors<S: Simd, T: Stored>(rows: &[(*const T, S::F64)], whole: usize, to: *mut f64) {
    for column in (0..whole).step_by(S::F64::LANES) {
        let new_line = (column * size_of::<T>()).is_multiple_of(LINE);
        if size_of::<T>() == size_of::<f32>() && new_line {
            rows.iter().for_each(|(x, _)| ask_for(x.wrapping_add(column).wrapping_byte_add(AHEAD)));
        }
        // SAFETY: the caller says that the columns are there.
        unsafe {
            let to = to.add(column);
            let mut sum = S::F64::load(to);
            for (x, y) in rows {
                sum = T::load_wide::<S>(x.add(column)).fused(*y, sum);
            }
            sum.store(to);
        }
    }
}
