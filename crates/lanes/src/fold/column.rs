//! One chunk of slices that lie side by side: the axis steps, the columns are contiguous.
//!
//! One partial after another is finished over up to 512 columns, in the order in which partials
//! are halved (0, 32, 16, 48, 8 ...): its rows are taken into registers, joined there with the
//! partials that wait for it, and stored once. At most six wait, 24 KiB of L1, and each row is read
//! along memory. Walking the rows in order with all 64 partials of 32 columns in L1 took twice as
//! long (256 x 384 f32: three loads and stores of a partial for each addition). Few rows keep
//! everything in registers. With fewer than 64 rows only the partials in use are made; see `joined`
//! for why that gives the same bits.

use super::Step;
use super::chunk::widen_part;
use crate::level::Task;
use crate::vector::{Float, LINE, Simd, Vector, ask_for};
use rung_math::fold::{Combine, PARTIALS};
use std::marker::PhantomData;

pub(super) struct Columns<F, T> {
    x: *const T,
    row_step: isize,
    rows: usize,
    columns: usize,
    y: *const f64,
    y_row: usize,
    y_column: usize,
    out: *mut f64,
    step: PhantomData<F>,
}

/// Columns of a block.
const WIDTH: usize = 512;

/// Partials that wait for the ones they are joined with: one for each halving but the first.
const WAITING: usize = PARTIALS.trailing_zeros() as usize;

/// Vectors of columns that are folded together.
const GROUP: usize = 8;

/// Rows up to which a column's partials stay in registers.
const FEW: usize = 8;

/// The second number of steps that have none.
static NOTHING: f64 = 0.0;

impl<F: Step, T: Float> Columns<F, T> {
    /// `second` is an address (null for none) with its steps from row to row and column to column.
    pub(super) fn new(
        x: *const T,
        row_step: isize,
        rows: usize,
        columns: usize,
        second: (*const f64, usize, usize),
        out: *mut f64,
    ) -> Columns<F, T> {
        let (y, y_row, y_column) =
            if second.0.is_null() { (&raw const NOTHING, 0, 0) } else { second };
        Columns { x, row_step, rows, columns, y, y_row, y_column, out, step: PhantomData }
    }

    /// `partial` with `part` columns of a row taken into its first lanes.
    #[inline(always)]
    unsafe fn take<S: Simd>(
        &self,
        partial: S::F64,
        row: usize,
        column: usize,
        part: usize,
    ) -> S::F64 {
        let whole = part >= S::F64::LANES;
        let x = self.x.wrapping_offset(row as isize * self.row_step).wrapping_add(column);
        let y = self.y.wrapping_add(row * self.y_row + column * self.y_column);
        // SAFETY: the caller says that the row and the columns are there; the second operand
        // covers every row or every column, or is one number.
        unsafe {
            let x = if whole { T::widen::<S>(x) } else { widen_part::<S, T>(x, part) };
            let y = match (self.y_column, whole) {
                (0, _) => S::F64::splat(*y),
                (_, true) => S::F64::load(y),
                (_, false) => S::F64::load_part(y, part),
            };
            F::take(partial, x, y)
        }
    }

    /// A partial that meets `PARTIALS - used` others without an element. With at most 32 rows every
    /// partial meets the identity once or more, which is the same as once: it only turns -0.0 into
    /// +0.0.
    #[inline(always)]
    fn joined<S: Simd>(partial: S::F64, used: usize) -> S::F64 {
        match used <= PARTIALS / 2 {
            true => F::join(partial, S::F64::splat(F::Combine::IDENTITY)),
            false => partial,
        }
    }

    /// At most `TOP` rows, a power of two, of one vector of columns.
    #[inline(always)]
    unsafe fn few<S: Simd, const TOP: usize>(&self, column: usize, part: usize) {
        let identity = S::F64::splat(F::Combine::IDENTITY);
        let mut partials = [identity; TOP];
        // SAFETY: the caller says that the columns are there, and the results are as many.
        unsafe {
            for (row, partial) in partials.iter_mut().enumerate().take(self.rows) {
                *partial = Self::joined::<S>(self.take::<S>(identity, row, column, part), TOP);
            }
            let mut half = TOP / 2;
            while half > 0 {
                for low in 0..half {
                    partials[low] = F::join(partials[low], partials[low + half]);
                }
                half /= 2;
            }
            partials[0].store_part(self.out.add(column), part);
        }
    }

    /// At most `TOP` rows.
    #[inline(always)]
    unsafe fn few_rows<S: Simd, const TOP: usize>(&self) {
        let lanes = S::F64::LANES;
        let whole = self.columns / lanes * lanes;
        // SAFETY: rows and columns lie inside the operand, and the results are as many.
        unsafe {
            for column in (0..whole).step_by(lanes) {
                self.few::<S, TOP>(column, lanes);
            }
            if whole < self.columns {
                self.few::<S, TOP>(whole, self.columns - whole);
            }
        }
    }

    /// Asks for what the next group of columns reads of a row: the rows of a partial are 64 apart,
    /// and the processor does not look so far ahead by itself.
    #[inline(always)]
    fn ask_for_next<S: Simd>(&self, row: usize, column: usize) {
        let group = GROUP * S::F64::LANES;
        let x = self.x.wrapping_offset(row as isize * self.row_step).wrapping_add(column + group);
        for line in (0..group * size_of::<T>()).step_by(LINE) {
            ask_for(x.wrapping_byte_add(line));
        }
    }

    /// Finishes a partial in `N` vectors of columns (or one that has `part`): joins it with those
    /// that wait from `base` to `waiting`, the last first, and puts it in the place of the first.
    #[inline(always)]
    unsafe fn finish<S: Simd, const N: usize>(&self, turn: &Turn, column: usize, part: usize) {
        let lanes = S::F64::LANES;
        let mut partials = [S::F64::splat(F::Combine::IDENTITY); N];
        // SAFETY: the caller says that the columns are there; the room holds what waits.
        unsafe {
            for row in (turn.partial..self.rows).step_by(PARTIALS) {
                if N == GROUP {
                    self.ask_for_next::<S>(row, column);
                }
                for (j, partial) in partials.iter_mut().enumerate() {
                    *partial = self.take::<S>(*partial, row, column + j * lanes, part);
                }
            }
            for (j, partial) in partials.into_iter().enumerate() {
                let column = column + j * lanes;
                let at = |place: usize| turn.room.wrapping_add(place * WIDTH + column);
                let mut partial = Self::joined::<S>(partial, self.rows);
                for place in (turn.base..turn.waiting).rev() {
                    partial = F::join(S::F64::load(at(place)), partial);
                }
                match turn.last {
                    true => partial.store_part(self.out.add(column), part),
                    false => partial.store(at(turn.base)),
                }
            }
        }
    }

    /// Any number of rows, up to `WIDTH` columns.
    #[inline(always)]
    unsafe fn many_rows<S: Simd>(&self) {
        let mut room = [const { std::mem::MaybeUninit::<f64>::uninit() }; WAITING * WIDTH];
        let lanes = S::F64::LANES;
        let top = self.rows.min(PARTIALS).next_power_of_two();
        let mut turn =
            Turn { partial: 0, base: 0, waiting: 0, last: false, room: room.as_mut_ptr().cast() };
        for number in 0..top {
            turn.partial = number.reverse_bits() >> (usize::BITS - top.trailing_zeros());
            turn.base = turn.waiting - (number + 1).trailing_zeros() as usize;
            turn.last = number + 1 == top;
            let mut column = 0;
            // SAFETY: rows and columns lie inside the operand; what is read of the room was
            // written by the turn that finished that partial.
            unsafe {
                while column + GROUP * lanes <= self.columns {
                    self.finish::<S, GROUP>(&turn, column, lanes);
                    column += GROUP * lanes;
                }
                while column < self.columns {
                    self.finish::<S, 1>(&turn, column, lanes.min(self.columns - column));
                    column += lanes;
                }
            }
            turn.waiting = turn.base + 1;
        }
    }
}

/// A partial to be finished, and the places of those that it is joined with.
struct Turn {
    partial: usize,
    base: usize,
    waiting: usize,
    last: bool,
    room: *mut f64,
}

impl<F: Step, T: Float> Task for Columns<F, T> {
    type Output = ();

    #[inline(always)]
    fn run<S: Simd>(mut self) {
        // SAFETY: rows and columns lie inside the operand, and the results are as many.
        unsafe {
            match self.rows {
                0..=2 => return self.few_rows::<S, 2>(),
                3..=4 => return self.few_rows::<S, 4>(),
                5..=FEW => return self.few_rows::<S, FEW>(),
                _ => {}
            }
            let total = self.columns;
            for column in (0..total).step_by(WIDTH) {
                self.columns = WIDTH.min(total - column);
                self.many_rows::<S>();
                self.x = self.x.wrapping_add(WIDTH);
                self.y = self.y.wrapping_add(WIDTH * self.y_column);
                self.out = self.out.wrapping_add(WIDTH);
            }
        }
    }
}
