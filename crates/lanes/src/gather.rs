//! Elements picked by position or by a mask. Nothing is computed, so any element type will do.

use crate::level::Loop;
use crate::share::{Cells, each_share, in_shares};
use crate::sort::Slices;
use crate::{Lanes, Work};

/// Runs shorter than this are copied cell by cell: a call of the system's copy costs about 5 ns.
const SHORT: usize = 8;

/// out (outer, positions, inner) = x (outer, length, inner) at `positions` of the middle axis.
///
/// # Panics
/// When a position is not below the length, or extents do not fit.
pub fn take<T: Copy + Send + Sync>(
    lanes: &Lanes,
    x: &[T],
    slices: Slices,
    positions: &[usize],
    out: &mut [T],
) {
    let Slices { outer, length, inner } = slices;
    assert_eq!(x.len(), slices.size(), "elements to take from");
    assert_eq!(out.len(), outer * positions.len() * inner, "cells of taken elements");
    assert!(positions.iter().all(|position| *position < length), "a position beyond the axis");
    if out.is_empty() {
        return;
    }
    let runs = outer * positions.len();
    let share = runs.div_ceil(lanes.pieces(Work::Copy, out.len())) * inner;
    each_share(lanes, out, share, &|start, own| {
        let (mut plane, mut place) =
            (start / inner / positions.len(), start / inner % positions.len());
        let mut own = own;
        while !own.is_empty() {
            let count = (positions.len() - place).min(own.len() / inner);
            let (now, rest) = own.split_at_mut(count * inner);
            let plane_of_x = &x[plane * length * inner..][..length * inner];
            runs_at(plane_of_x, &positions[place..place + count], inner, now);
            (own, place, plane) = (rest, 0, plane + 1);
        }
    });
}

/// The runs of `width` at positions that were checked.
fn runs_at<T: Copy>(x: &[T], positions: &[usize], width: usize, out: &mut [T]) {
    // SAFETY: `take` checked that every position lies inside the plane.
    let at = |i: usize| unsafe { *x.get_unchecked(i) };
    if width == 1 {
        return out.iter_mut().zip(positions).for_each(|(out, &position)| *out = at(position));
    }
    for (&position, out) in positions.iter().zip(out.chunks_exact_mut(width)) {
        let from = position * width;
        if width < SHORT {
            out.iter_mut().enumerate().for_each(|(i, out)| *out = at(from + i));
        } else {
            out.copy_from_slice(&x[from..from + width]);
        }
    }
}

/// out[i] = x[i, columns[i]] for x (rows, width).
///
/// # Panics
/// When a column is not below the width, or extents do not fit.
pub fn one_each<T: Copy + Send + Sync>(
    lanes: &Lanes,
    x: &[T],
    width: usize,
    columns: &[usize],
    out: &mut [T],
) {
    assert_eq!(x.len(), columns.len() * width, "a column for each row");
    assert_eq!(out.len(), columns.len(), "cells of picked elements");
    in_shares(lanes, out, Work::Copy, &|start, own| {
        for (row, (cell, column)) in own.iter_mut().zip(&columns[start..]).enumerate() {
            assert!(*column < width, "a column beyond the matrix");
            *cell = x[(start + row) * width + column];
        }
    });
}

/// out (outer, kept, inner) = x (outer, length, inner) where `mask` (length) is true.
///
/// # Panics
/// When extents do not fit.
pub fn compress<T: Copy + Send + Sync>(
    lanes: &Lanes,
    x: &[T],
    slices: Slices,
    mask: &[bool],
    out: &mut [T],
) {
    let Slices { outer, length, inner } = slices;
    assert_eq!((x.len(), mask.len()), (slices.size(), length), "elements to compress");
    if outer * inner != 1 {
        let kept: Vec<usize> = (0..length).filter(|&i| mask[i]).collect();
        return take(lanes, x, slices, &kept, out);
    }
    let share = length.div_ceil(lanes.pieces(Work::Copy, length)).max(1);
    let pieces = length.div_ceil(share);
    let part = |piece: usize| piece * share..length.min((piece + 1) * share);
    let mut starts = vec![0; pieces + 1];
    for piece in 0..pieces {
        starts[piece + 1] = starts[piece] + count(lanes, &mask[part(piece)]);
    }
    assert_eq!(out.len(), starts[pieces], "cells of kept elements");
    let cells = Cells::new(out);
    lanes.workers().run(pieces, &|piece| {
        // SAFETY: a piece owns the cells of the elements it keeps.
        let own = unsafe { cells.range(starts[piece], starts[piece + 1] - starts[piece]) };
        keep(&x[part(piece)], &mask[part(piece)], own);
    });
}

/// How many are true.
pub fn count(lanes: &Lanes, mask: &[bool]) -> usize {
    lanes.level().run(Loop(|| {
        // Bytes add up to 255 at most before they are widened.
        let block = |part: &[bool]| part.iter().fold(0_u8, |n, &kept| n + kept as u8) as usize;
        mask.chunks(128).map(block).sum()
    }))
}

/// out = x where the mask is true: no branch depends on the mask.
fn keep<T: Copy>(x: &[T], mask: &[bool], out: &mut [T]) {
    let mut kept = 0;
    for (&x, &mask) in x.iter().zip(mask) {
        let Some(cell) = out.get_mut(kept) else { return };
        *cell = x;
        kept += mask as usize;
    }
}
