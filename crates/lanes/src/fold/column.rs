//! One chunk of slices that lie side by side: the axis steps, the columns are contiguous.
//!
//! Rows are read in memory order. The 64 partials of each column stand in L1 (16 KiB for 32
//! columns), and the halving joins rows of partials. With fewer than 64 rows only the partials in
//! use are made; see `halve` for why that gives the same bits.

use super::chunk::widen_part;
use super::{Step, WIDTH};
use crate::level::Task;
use crate::vector::{Float, Simd, Vector};
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
        let (y, y_row, y_column) = second;
        Columns { x, row_step, rows, columns, y, y_row, y_column, out, step: PhantomData }
    }

    /// The second number of a row for `count` columns from `column` on.
    #[inline(always)]
    unsafe fn second<S: Simd>(&self, row: usize, column: usize, count: usize) -> S::F64 {
        if self.y.is_null() {
            return S::F64::splat(0.0);
        }
        let at = self.y.wrapping_add(row * self.y_row + column * self.y_column);
        // SAFETY: the second operand covers every row or every column.
        unsafe {
            if self.y_column == 0 { S::F64::splat(*at) } else { S::F64::load_part(at, count) }
        }
    }

    /// Takes one row into its partials.
    #[inline(always)]
    unsafe fn row<S: Simd>(&self, row: usize, partials: *mut f64) {
        let lanes = S::F64::LANES;
        let x = self.x.wrapping_offset(row as isize * self.row_step);
        let mut column = 0;
        while column + lanes <= self.columns {
            // SAFETY: whole vectors below `columns`, and the partials are WIDTH wide.
            unsafe {
                let y = self.second::<S>(row, column, lanes);
                let to = partials.add(column);
                F::take(S::F64::load(to), T::widen::<S>(x.add(column)), y).store(to);
            }
            column += lanes;
        }
        if column < self.columns {
            let rest = self.columns - column;
            // SAFETY: `rest` elements are left; lanes beyond them are never read again.
            unsafe {
                let y = self.second::<S>(row, column, rest);
                let to = partials.add(column);
                F::take(S::F64::load(to), widen_part::<S, T>(x.add(column), rest), y).store(to);
            }
        }
    }

    /// Joins `used` rows of partials. A partial that got no element is the identity and takes
    /// part: with at most 32 rows every partial meets the identity once or more, which is the
    /// same as once (it only turns -0.0 into +0.0), and then meets the others as below.
    #[inline(always)]
    unsafe fn halve<S: Simd>(&self, partials: *mut f64, used: usize) {
        let lanes = S::F64::LANES;
        let identity = S::F64::splat(F::Combine::IDENTITY);
        let top = used.next_power_of_two();
        let mut column = 0;
        while column < self.columns {
            let at = |row: usize| partials.wrapping_add(row * WIDTH + column);
            // SAFETY: rows below 64 and columns below WIDTH, which whole vectors divide.
            unsafe {
                for row in used..top {
                    identity.store(at(row));
                }
                if used <= PARTIALS / 2 {
                    for row in 0..used {
                        F::join(S::F64::load(at(row)), identity).store(at(row));
                    }
                }
                let mut half = top / 2;
                while half > 0 {
                    for low in 0..half {
                        let high = S::F64::load(at(low + half));
                        F::join(S::F64::load(at(low)), high).store(at(low));
                    }
                    half /= 2;
                }
                let count = lanes.min(self.columns - column);
                S::F64::load(at(0)).store_part(self.out.add(column), count);
            }
            column += lanes;
        }
    }
}

/// Rows up to which a column's partials stay in registers.
const FEW: usize = 8;

impl<F: Step, T: Float> Columns<F, T> {
    /// At most `FEW` rows: one vector of columns at a time, without a block of partials.
    #[inline(always)]
    unsafe fn few_rows<S: Simd>(&self) {
        let lanes = S::F64::LANES;
        let identity = S::F64::splat(F::Combine::IDENTITY);
        for column in (0..self.columns).step_by(lanes) {
            let count = lanes.min(self.columns - column);
            let mut partials = [identity; FEW];
            // SAFETY: rows and columns lie inside the operand, and the results are as many.
            unsafe {
                for (row, partial) in partials.iter_mut().enumerate().take(self.rows) {
                    let x = self.x.wrapping_offset(row as isize * self.row_step).add(column);
                    let y = self.second::<S>(row, column, count);
                    let x = if count == lanes {
                        T::widen::<S>(x)
                    } else {
                        widen_part::<S, T>(x, count)
                    };
                    // The identity joins once; see `halve`.
                    *partial = F::join(F::take(identity, x, y), identity);
                }
                let [a, b, c, d, e, f, g, h] = partials;
                let quarter = [F::join(a, e), F::join(b, f), F::join(c, g), F::join(d, h)];
                let pair = [F::join(quarter[0], quarter[2]), F::join(quarter[1], quarter[3])];
                F::join(pair[0], pair[1]).store_part(self.out.add(column), count);
            }
        }
    }

    /// More rows, up to `WIDTH` columns.
    #[inline(always)]
    unsafe fn many_rows<S: Simd>(&self) {
        let mut partials = [const { std::mem::MaybeUninit::<f64>::uninit() }; PARTIALS * WIDTH];
        let partials: *mut f64 = partials.as_mut_ptr().cast();
        let used = self.rows.min(PARTIALS);
        // SAFETY: the partials of `used` rows are made before they are read; rows and columns lie
        // inside the operand.
        unsafe {
            let identity = S::F64::splat(F::Combine::IDENTITY);
            for at in (0..used * WIDTH).step_by(S::F64::LANES) {
                identity.store(partials.add(at));
            }
            for row in 0..self.rows {
                self.row::<S>(row, partials.add(row % PARTIALS * WIDTH));
            }
            self.halve::<S>(partials, used);
        }
    }
}

impl<F: Step, T: Float> Task for Columns<F, T> {
    type Output = ();

    #[inline(always)]
    fn run<S: Simd>(mut self) {
        // SAFETY: rows and columns lie inside the operand, and the results are as many.
        unsafe {
            if self.rows <= FEW {
                return self.few_rows::<S>();
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
