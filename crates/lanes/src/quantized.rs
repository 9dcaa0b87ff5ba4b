//! Matrices of Q8_0 blocks times a vector, with the bits of `math::quantized`.
//!
//! The vector is quantised once a call and laid out as the kernels read it: sixteen blocks at a
//! time. Integer sums are exact, so the kernels (`vnni`, `avx2`, and the definition's own loop)
//! may add in any order; the fold over blocks keeps the definition's 64 partials. Several rows
//! far apart are walked in turn: one stream through memory got half of the bandwidth.

#[cfg(target_arch = "x86_64")]
mod avx2;
#[cfg(target_arch = "x86_64")]
mod vnni;

use crate::matvec::KEPT;
use crate::share::Cells;
use crate::{Lanes, Level, Work};
use rung_math::fold::{Adding, CHUNK, PARTIALS, combine_chunks, halve};
use rung_math::quantized::{BLOCK, BYTES, integer_dot, quantize, scale, term};
use std::ops::Range;

/// Blocks that a kernel takes at once.
const GROUP: usize = 16;

/// Rows walked in turn.
const STREAMS: usize = 4;

/// Rows of blocks in their file's bytes: `rows * blocks * 34` of them, row-major.
#[derive(Clone, Copy, Debug)]
pub struct Blocks<'a> {
    /// The bytes.
    pub octets: &'a [u8],
    /// How many rows.
    pub rows: usize,
    /// Blocks in a row: a 32nd of the columns.
    pub blocks: usize,
}

/// Sixteen blocks of the vector, as kernels read them.
#[derive(Clone, Copy)]
#[repr(C, align(64))]
struct Group {
    /// Pairs of blocks (0 4) (1 5) (2 6) (3 7) (8 12) ... (11 15), which `vnni` adds up into the
    /// order of the blocks.
    quants: [[i8; BLOCK]; GROUP],
    /// 128 times the sum of each block's bytes, which `vnni` takes off.
    offsets: [i32; GROUP],
    scales: [f32; GROUP],
    /// All ones for a block that is there: what a kernel reads after a row's end, a scale of NaN
    /// perhaps, is masked away.
    present: [u32; GROUP],
}

/// Where block `index` of a group stands among its `quants`.
const fn place(index: usize) -> usize {
    index / 8 * 8 + index % 4 * 2 + index % 8 / 4
}

/// The partials of a row's chunk.
type Partials = [f64; PARTIALS];

/// A kernel: takes groups of blocks of some rows, which begin at the pointers, into their partials.
/// The bytes of whole groups are readable.
type Kernel<const R: usize> = unsafe fn([*const u8; R], &[Group], &mut [Partials; R]);

/// The kernel of this level and processor.
fn kernel<const R: usize>(level: Level) -> Kernel<R> {
    #[cfg(target_arch = "x86_64")]
    {
        if level == Level::Avx512 && is_x86_feature_detected!("avx512vnni") {
            return vnni::walk;
        }
        if level >= Level::Avx2 {
            return avx2::walk;
        }
    }
    let _ = level;
    portable
}

/// The groups of several rows in turn, each through `group`.
macro_rules! walk {
    ($rows:expr, $x:expr, $partials:expr, $group:path) => {
        for (turn, x) in $x.iter().enumerate() {
            for (row, partials) in $rows.iter().zip($partials.iter_mut()) {
                let octets = row.wrapping_add(turn * GROUP * BYTES);
                let partials = partials[turn * GROUP % PARTIALS..].as_mut_ptr();
                // SAFETY: the caller says that whole groups are readable; partials are 64.
                unsafe { $group(octets, x, partials) };
            }
        }
    };
}
#[cfg(target_arch = "x86_64")]
use walk;

/// The definition's own loop.
unsafe fn portable<const R: usize>(
    rows: [*const u8; R],
    x: &[Group],
    partials: &mut [Partials; R],
) {
    walk!(rows, x, partials, portable_group);
}

unsafe fn portable_group(octets: *const u8, x: &Group, partials: *mut f64) {
    for index in 0..GROUP {
        if x.present[index] == 0 {
            continue;
        }
        // SAFETY: the caller says that sixteen blocks are readable, and as many partials.
        unsafe {
            let block = std::slice::from_raw_parts(octets.add(index * BYTES), BYTES);
            let sum = integer_dot(block, &x.quants[place(index)]);
            *partials.add(index) += term(scale(block), x.scales[index], sum);
        }
    }
}

/// out (rows) = a (rows, columns) * x (columns): each row the fold of its blocks, narrowed once.
///
/// # Panics
/// When the bytes, the vector and the result do not fit each other.
pub fn matvec(lanes: &Lanes, a: Blocks, x: &[f32], out: &mut [f32]) {
    assert_eq!(out.len(), a.rows, "cells of a matrix-vector product");
    matvecs(lanes, a, x, 1, out);
}

/// out (count, rows) = a (rows, columns) * x (columns) for each of `count` vectors one after another in x:
/// the bits of as many calls of `matvec`. Rows stay in cache until every vector has met them.
///
/// # Panics
/// When the bytes, the vectors and the result do not fit each other.
pub fn matvecs(lanes: &Lanes, a: Blocks, x: &[f32], count: usize, out: &mut [f32]) {
    let columns = a.blocks * BLOCK;
    assert_eq!(a.octets.len(), a.rows * a.blocks * BYTES, "bytes of a quantised matrix");
    assert_eq!(x.len(), count * columns, "elements of vectors beside a quantised matrix");
    assert_eq!(out.len(), count * a.rows, "cells of products of a matrix with vectors");
    let vector = |number: usize| groups(&x[number * columns..(number + 1) * columns]);
    let vectors: Vec<Vec<Group>> = (0..count).map(vector).collect();
    let kernels = (kernel::<STREAMS>(lanes.level()), kernel::<1>(lanes.level()));
    let pieces = lanes.pieces(Work::Fold, a.octets.len().saturating_mul(count));
    let share = a.rows.div_ceil(pieces).max(1);
    let kept = match count {
        1 => share,
        _ => (KEPT / (a.blocks * BYTES).max(1)).next_multiple_of(STREAMS).max(STREAMS),
    };
    let cells = Cells::new(out);
    lanes.workers().run(a.rows.div_ceil(share), &|piece| {
        let end = a.rows.min((piece + 1) * share);
        for from in (piece * share..end).step_by(kept) {
            for (number, x) in vectors.iter().enumerate() {
                let cells = Cells::from(cells.at(number * a.rows));
                some_rows(kernels, &a, x, from..end.min(from + kept), &cells);
            }
        }
    });
}

/// A range of rows: streams that lie far apart, and what is left one by one.
fn some_rows(
    kernels: (Kernel<STREAMS>, Kernel<1>),
    a: &Blocks,
    x: &[Group],
    of: Range<usize>,
    out: &Cells<f32>,
) {
    let band = of.len() / STREAMS;
    for row in of.start..of.start + band {
        rows(kernels.0, a, x, row, band, out);
    }
    for row in of.start + band * STREAMS..of.end {
        rows(kernels.1, a, x, row, 0, out);
    }
}

/// The vector, quantised; what is missing in the last group is 0 with the scale 0.
fn groups(x: &[f32]) -> Vec<Group> {
    let empty = Group {
        quants: [[0; BLOCK]; GROUP],
        offsets: [0; GROUP],
        scales: [0.0; GROUP],
        present: [0; GROUP],
    };
    let blocks = x.as_chunks::<BLOCK>().0;
    blocks
        .chunks(GROUP)
        .map(|blocks| {
            let mut group = empty;
            for (index, block) in blocks.iter().enumerate() {
                let (scale, quants) = quantize(block);
                group.scales[index] = scale;
                group.present[index] = u32::MAX;
                group.offsets[index] = 128 * quants.iter().map(|q| *q as i32).sum::<i32>();
                group.quants[place(index)] = quants;
            }
            group
        })
        .collect()
}

/// `R` rows, `band` apart, from `row` on.
fn rows<const R: usize>(
    kernel: Kernel<R>,
    a: &Blocks,
    x: &[Group],
    row: usize,
    band: usize,
    out: &Cells<f32>,
) {
    let bytes = a.blocks * BYTES;
    let mut results = [const { Vec::new() }; R];
    for (chunk, x) in x.chunks(CHUNK / GROUP).enumerate() {
        let mut partials = [[0.0; PARTIALS]; R];
        let from = |r: usize| (row + r * band) * bytes + chunk * CHUNK * BYTES;
        let wanted = x.len() * GROUP * BYTES;
        // The last row is the last to end; what lies after a row's end is masked.
        let inside = from(R - 1) + wanted <= a.octets.len();
        let whole = if inside { x.len() } else { x.len() - 1 };
        let starts: [*const u8; R] =
            std::array::from_fn(|r| a.octets.as_ptr().wrapping_add(from(r)));
        // SAFETY: whole groups are inside the matrix.
        unsafe { kernel(starts, &x[..whole], &mut partials) };
        if !inside {
            let mut last = [[0; GROUP * BYTES]; R];
            for (r, last) in last.iter_mut().enumerate() {
                let rest = &a.octets[from(r) + whole * GROUP * BYTES..];
                let count = rest.len().min(GROUP * BYTES);
                last[..count].copy_from_slice(&rest[..count]);
            }
            let starts: [*const u8; R] = std::array::from_fn(|r| last[r].as_ptr());
            // A kernel begins at the first partial: these are turned there and back.
            let turn = whole * GROUP % PARTIALS;
            partials.iter_mut().for_each(|partials| partials.rotate_left(turn));
            // SAFETY: the copies are a whole group each.
            unsafe { kernel(starts, &x[whole..], &mut partials) };
            partials.iter_mut().for_each(|partials| partials.rotate_right(turn));
        }
        for (results, partials) in results.iter_mut().zip(partials) {
            results.push(halve::<Adding>(partials));
        }
    }
    for (r, results) in results.iter().enumerate() {
        // SAFETY: this piece owns the results of its rows.
        unsafe { *out.at(row + r * band) = combine_chunks::<Adding>(results) as f32 };
    }
}
