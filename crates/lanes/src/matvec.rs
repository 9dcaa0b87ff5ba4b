//! A matrix times a vector, each cell one fold in f64 with fused multiply-add (`math::fold::dot`),
//! for matrices of every float width, read once and where they lie.
//!
//! Rows that lie along memory are folded several at a time (`along`). When the rows of the product
//! are columns in memory (v·M), the matrix is still walked row by row, and the 64 partials of all
//! columns of a block wait in L2 (`beside`). Other strides are gathered chunk by chunk.

mod along;
mod beside;

use crate::operand::Operand;
use crate::product::Matrix;
use crate::scratch::with_left;
use crate::share::Cells;
use crate::vector::{Float, Stored};
use crate::{Lanes, Work};
use along::{Along, STREAMS};
use beside::Beside;
use rung_math::fold::{Adding, CHUNK, PARTIALS, combine_chunks};

/// out (m) = a (m, k) * x (k): each cell a dot in f64, narrowed once. The storage order of `a` is
/// free; x may be strided.
///
/// # Panics
/// When extents do not fit each other or an operand leaves its slice.
pub fn matvec<M: Stored, X: Stored, O: Float>(
    lanes: &Lanes,
    a: Matrix<M>,
    x: Operand<X>,
    out: &mut [O],
) {
    assert!(a.fits(), "a matrix leaves its slice");
    assert_eq!(out.len(), a.rows, "cells of a matrix-vector product");
    let wide = widened(x, a.columns);
    let mut sums = vec![0.0; a.rows];
    if a.rows > 0 && a.columns > 0 {
        M::matvec(lanes, a, &wide, &mut sums);
    }
    for (cell, sum) in out.iter_mut().zip(sums) {
        *cell = O::narrowed(sum);
    }
}

/// Bytes of the rows that every vector meets before the next rows come: a fourth of a small L2.
pub(crate) const KEPT: usize = 64 << 10;

/// out (vectors, m) = a (m, k) * x (k) for each vector x: the bits of as many calls of `matvec`. Rows
/// along memory stay in cache until every vector has met them, so that such a matrix is read
/// once; another is read once a vector.
///
/// # Panics
/// As `matvec`.
pub fn matvecs<M: Stored, X: Stored, O: Float>(
    lanes: &Lanes,
    a: Matrix<M>,
    vectors: &[Operand<X>],
    out: &mut [O],
) {
    let (m, k) = (a.rows, a.columns);
    assert_eq!(out.len(), vectors.len() * m, "cells of products of a matrix with vectors");
    let pieces = lanes.pieces(Work::Fold, (m * k).saturating_mul(vectors.len()));
    if vectors.len() < 2 || k == 0 || m < pieces || (a.column != 1 && k > 1) {
        for (x, out) in vectors.iter().zip(out.chunks_exact_mut(m.max(1))) {
            matvec(lanes, a, *x, out);
        }
        return;
    }
    assert!(a.fits(), "a matrix leaves its slice");
    let wide: Vec<Vec<f64>> = vectors.iter().map(|x| widened(*x, k)).collect();
    let mut sums = vec![0.0; out.len()];
    let cells = Cells::new(&mut sums);
    let job = |vector: usize| Job { a, y: wide[vector].as_ptr(), out: cells.at(vector * m) };
    let jobs: Vec<Job<M>> = (0..vectors.len()).map(job).collect();
    let kept = (KEPT / (k * size_of::<M>())).next_multiple_of(STREAMS).max(STREAMS);
    let share = m.div_ceil(pieces);
    lanes.workers().run(m.div_ceil(share), &|piece| {
        let end = m.min((piece + 1) * share);
        for from in (piece * share..end).step_by(kept) {
            jobs.iter().for_each(|job| job.rows(lanes, from, end.min(from + kept)));
        }
    });
    for (cell, sum) in out.iter_mut().zip(sums) {
        *cell = O::narrowed(sum);
    }
}

/// A vector in f64, padded with -0.0 to whole partials.
fn widened<X: Stored>(x: Operand<X>, length: usize) -> Vec<f64> {
    let mut from = x.start(&[length]);
    let mut wide = Vec::with_capacity(length.next_multiple_of(PARTIALS));
    for _ in 0..length {
        // SAFETY: `start` checked the operand.
        wide.push(unsafe { *from }.to_wide());
        from = from.wrapping_offset(x.strides[0]);
    }
    wide.resize(length.next_multiple_of(PARTIALS), -0.0);
    wide
}

/// out (m) = a (m, k) * y (k), all checked and none empty; y is padded with -0.0 to whole partials.
pub(crate) fn rows_of<M: Stored>(lanes: &Lanes, a: Matrix<M>, y: &[f64], out: &mut [f64]) {
    Job { a, y: y.as_ptr(), out: out.as_mut_ptr() }.run(lanes);
}

/// A product whose extents and bounds are checked, none of them 0.
struct Job<'a, M> {
    a: Matrix<'a, M>,
    y: *const f64,
    out: *mut f64,
}

// SAFETY: the operands are only read, and pieces write disjoint results.
unsafe impl<M: Sync> Sync for Job<'_, M> {}

/// Rows: the first, how many, how far apart.
type Group = (usize, usize, usize);

impl<M: Stored> Job<'_, M> {
    fn run(&self, lanes: &Lanes) {
        let (m, k) = (self.a.rows, self.a.columns);
        let pieces = lanes.pieces(Work::Fold, m * k);
        if self.a.row == 1 && self.a.column != 1 && m >= 4 && k >= 16 {
            self.beside(lanes, pieces);
        } else if m < pieces {
            (0..m).for_each(|row| self.long_row(lanes, pieces, row));
        } else {
            let share = m.div_ceil(pieces).next_multiple_of(4);
            lanes.workers().run(m.div_ceil(share), &|piece| {
                self.rows(lanes, piece * share, m.min((piece + 1) * share));
            });
        }
    }

    /// Rows `from..to` on this thread.
    fn rows(&self, lanes: &Lanes, from: usize, to: usize) {
        let chunks = self.a.columns.div_ceil(CHUNK);
        if chunks == 1 {
            return self.chunk(lanes, (from, to - from, 1), 0, self.out.wrapping_add(from));
        }
        let mut results = vec![0.0; STREAMS * chunks];
        // Rows that are walked at once lie far apart, so that each stream goes on in its row's
        // neighbour.
        let band = (to - from) / STREAMS;
        let groups = (0..band).map(|row| (from + row, STREAMS, band));
        for group in groups.chain((from + band * STREAMS..to).map(|row| (row, 1, 1))) {
            for chunk in 0..chunks {
                self.chunk(lanes, group, chunk, results[chunk..].as_mut_ptr());
            }
            let (row, rows, apart) = group;
            for (r, results) in results.chunks(chunks).enumerate().take(rows) {
                // SAFETY: this piece owns the row's result.
                unsafe { *self.out.add(row + r * apart) = combine_chunks::<Adding>(results) };
            }
        }
    }

    /// One row whose chunks are shared out.
    fn long_row(&self, lanes: &Lanes, pieces: usize, row: usize) {
        let mut results = vec![0.0; self.a.columns.div_ceil(CHUNK)];
        let (chunks, cells) = (results.len(), Cells::new(&mut results));
        let share = chunks.div_ceil(pieces);
        lanes.workers().run(chunks.div_ceil(share), &|piece| {
            for chunk in piece * share..chunks.min((piece + 1) * share) {
                self.chunk(lanes, (row, 1, 1), chunk, cells.at(chunk));
            }
        });
        // SAFETY: no region is running.
        unsafe { *self.out.add(row) = combine_chunks::<Adding>(&results) };
    }

    /// One chunk of rows (the first, how many, how far apart), gathered where they do not lie
    /// along memory; their results go as far apart as there are chunks.
    fn chunk(&self, lanes: &Lanes, group: Group, chunk: usize, out: *mut f64) {
        let (row, rows, apart) = group;
        let from = chunk * CHUNK;
        let (count, out_step) = (CHUNK.min(self.a.columns - from), self.a.columns.div_ceil(CHUNK));
        let (x, y) = (self.a.cell(row, from), self.y.wrapping_add(from));
        if self.a.column == 1 {
            let row = self.a.row * apart as isize;
            return lanes.level().run(Along { x, row, rows, count, y, out, out_step });
        }
        for r in 0..rows {
            with_left(|scratch| {
                let room: *mut f64 = scratch.room(CHUNK);
                for i in 0..count {
                    // SAFETY: `matvec` checked the matrix; the room holds a chunk.
                    unsafe { *room.add(i) = (*self.a.cell(row + r * apart, from + i)).to_wide() };
                }
                let out = out.wrapping_add(r * out_step);
                lanes.level().run(Along { x: room, row: 0, rows: 1, count, y, out, out_step });
            });
        }
    }

    /// Rows of the product that are columns in memory: pieces are blocks of them, chunk by chunk.
    fn beside(&self, lanes: &Lanes, pieces: usize) {
        let (m, k) = (self.a.rows, self.a.columns);
        let chunks = k.div_ceil(CHUNK);
        let mut results = vec![0.0; if chunks > 1 { chunks * m } else { 0 }];
        let cells = Cells::from(if chunks > 1 { results.as_mut_ptr() } else { self.out });
        let share = m.div_ceil(pieces.div_ceil(chunks)).next_multiple_of(16);
        let width = share.min(beside::block(k));
        let blocks = m.div_ceil(width);
        lanes.workers().run(chunks * blocks, &|piece| {
            let (chunk, from) = (piece / blocks, piece % blocks * width);
            let task = Beside {
                x: self.a.cell(from, chunk * CHUNK),
                step: self.a.column,
                rows: CHUNK.min(k - chunk * CHUNK),
                columns: width.min(m - from),
                y: self.y.wrapping_add(chunk * CHUNK),
                out: cells.at(chunk * m + from),
            };
            task.run(lanes.level());
        });
        if chunks > 1 {
            for row in 0..m {
                let own: Vec<f64> = results.iter().skip(row).step_by(m).copied().collect();
                // SAFETY: no region is running.
                unsafe { *self.out.add(row) = combine_chunks::<Adding>(&own) };
            }
        }
    }
}
