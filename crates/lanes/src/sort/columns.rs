//! Slices of inner axes: some neighbouring columns at a time are turned into rows, and their
//! results back.

use super::{Rows, Slices};
use crate::copy::Square;
use crate::level::Task;
use crate::share::Cells;
use crate::vector::{Simd, ask_for};
use crate::{Lanes, Work};

/// Bytes of turned columns and their results that short ones may fill, so that they stay near.
const NEAR: usize = 1 << 16;

/// Bytes of a cache line.
const LINE: usize = 64;

/// Elements of a column turned at a time: their lines stay in the first cache even where a power
/// of two lies between them.
const STEP: usize = 8;

/// Rows of the matrix that are asked for before they are wanted: no prefetcher follows long steps.
const AHEAD: usize = 16;

/// How many of `inner` columns are turned at a time: whole cache lines, and enough of them that
/// short columns are worth a call, but some for each of the `pieces`.
fn width<T, U>(length: usize, inner: usize, pieces: usize) -> usize {
    let line = (LINE / size_of::<T>().min(size_of::<U>())).max(1);
    let lines = NEAR / (line * length * (size_of::<T>() + size_of::<U>()));
    let share = inner.div_ceil(pieces).div_ceil(line);
    line * lines.clamp(1, 16).min(share)
}

/// Runs `rows` over the columns of slices whose inner axes have more than one index.
pub(super) fn each_band<T: Copy + Default + Send + Sync, U: Copy + Default + Send + Sync>(
    lanes: &Lanes,
    x: &[T],
    slices: Slices,
    out: &mut [U],
    rows: Rows<T, U>,
) {
    let Slices { outer, length, inner } = slices;
    assert!(x.len() == slices.size() && out.len() == slices.size(), "cells of sorted columns");
    let pieces = lanes.pieces(Work::Sort, out.len());
    let cells = Cells::new(out);
    let most = width::<T, U>(length, inner, pieces.div_ceil(outer));
    let bands = inner.div_ceil(most);
    let share = (outer * bands).div_ceil(pieces);
    lanes.workers().run((outer * bands).div_ceil(share), &|piece| {
        let (mut turned, mut results) = (Vec::new(), Vec::new());
        for block in piece * share..(outer * bands).min((piece + 1) * share) {
            let (plane, column) = (block / bands, block % bands * most);
            let start = plane * length * inner + column;
            let width = most.min(inner - column);
            turned.resize(width * length, T::default());
            results.resize(width * length, U::default());
            let band = Band { row: inner, length, width };
            let (from, to) = (x[start..].as_ptr(), turned.as_mut_ptr());
            lanes.level().run(Turn { band, from, to });
            rows(&turned, length, &mut results);
            lanes.level().run(Back { band, from: results.as_ptr(), to: cells.at(start) });
        }
    });
}

/// Neighbouring columns of a matrix.
#[derive(Clone, Copy)]
struct Band {
    /// Elements from a row of the matrix to the next.
    row: usize,
    length: usize,
    width: usize,
}

impl Band {
    /// Asks for the lines of some rows `AHEAD` of `first` in the matrix that begins at `start`.
    #[inline(always)]
    fn ask<T>(&self, start: *const T, first: usize) {
        for row in first + AHEAD..self.length.min(first + AHEAD + STEP) {
            for element in (0..self.width).step_by((LINE / size_of::<T>()).max(1)) {
                ask_for(start.wrapping_add(row * self.row + element));
            }
        }
    }
}

/// to[c * length + r] = from[r * row + c].
struct Turn<T> {
    band: Band,
    from: *const T,
    to: *mut T,
}

impl<T: Copy> Task for Turn<T> {
    type Output = ();

    #[inline(always)]
    fn run<S: Simd>(self) {
        let Band { row, length, width } = self.band;
        for first in (0..length).step_by(STEP) {
            self.band.ask(self.from, first);
            let (from, to) = (self.from.wrapping_add(first * row), self.to.wrapping_add(first));
            let (rows, columns) = (width, STEP.min(length - first));
            Square { from, step: row as isize, to, row_out: length, rows, columns }.run::<S>();
        }
    }
}

/// to[r * row + c] = from[c * length + r].
struct Back<T> {
    band: Band,
    from: *const T,
    to: *mut T,
}

impl<T: Copy> Task for Back<T> {
    type Output = ();

    #[inline(always)]
    fn run<S: Simd>(self) {
        let Band { row, length, width } = self.band;
        for first in (0..length).step_by(STEP) {
            self.band.ask(self.to.cast_const(), first);
            let (from, to) = (self.from.wrapping_add(first), self.to.wrapping_add(first * row));
            let (rows, columns) = (STEP.min(length - first), width);
            Square { from, step: length as isize, to, row_out: row, rows, columns }.run::<S>();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bands_are_whole_lines_and_leave_some_for_every_piece() {
        assert_eq!(width::<f32, f32>(1000, 1500, 1), 16);
        assert_eq!(width::<f64, f64>(100_000, 1500, 1), 8);
        assert_eq!(width::<f64, i64>(16, 93_750, 1), 128);
        assert_eq!(width::<f64, f64>(16, 20, 2), 16);
        assert_eq!(width::<f32, i64>(1, 3, 8), 16);
    }
}
