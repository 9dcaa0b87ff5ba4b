//! Windows over planes with the bits of `math::windows`: columns for a product, their adjoint, and
//! pooling. Arrays are read through their strides; threads take rows of columns, or whole planes.

use crate::grains::Work;
use crate::level::Loop;
use crate::operand::Operand;
use crate::share::{Cells, each_share};
use crate::{Float, Lanes};
use rung_math::accumulate::Accumulate;
use rung_math::fold::{self, CHUNK, PARTIALS};
use rung_math::windows::Windows;
use rung_math::{Binary, Maximum, Real};

/// Columns of a result row whose means are made at a time: 64 partials of them take 32 KiB.
const BAND: usize = 64;

/// Where an operand's first element is.
struct Start<T>(*const T);

// SAFETY: it is only read, and belongs to a shared slice.
unsafe impl<T: Sync> Sync for Start<T> {}

impl<T: Copy> Start<T> {
    fn at(&self, index: &[usize], strides: &[isize]) -> *const T {
        let steps = index.iter().zip(strides).map(|(&i, step)| i as isize * step);
        self.0.wrapping_offset(steps.sum())
    }
}

/// x (batch, channels, height, width).
fn start_of<T>(x: &Operand<T>, windows: &Windows) -> Start<T> {
    let extents = [windows.batch, windows.channels, windows.down.extent, windows.across.extent];
    Start(x.start(&extents))
}

/// x (batch, channels, height, width), out (batch * oy * ox, channels * ky * kx).
///
/// # Panics
/// When `out` has another size, or the operand leaves its slice.
pub fn columns<T: Copy + Default + Send + Sync>(
    lanes: &Lanes,
    windows: &Windows,
    x: Operand<T>,
    out: &mut [T],
) {
    let width = windows.channels * windows.taps();
    let rows = windows.batch * windows.windows();
    assert_eq!(out.len(), rows * width, "cells of columns");
    let (start, across) = (start_of(&x, windows), windows.across.count);
    if out.is_empty() {
        return;
    }
    let pieces = lanes.pieces(Work::Copy, out.len());
    each_share(lanes, out, rows.div_ceil(pieces) * width, &|first, own| {
        let start = &start;
        lanes.level().run(Loop(|| {
            for (i, row) in own.chunks_exact_mut(width).enumerate() {
                let window = first / width + i;
                let (n, at) = (window / windows.windows(), window % windows.windows());
                // SAFETY: `start` checked the operand against its extents.
                unsafe { column(windows, start, x.strides, [n, at / across, at % across], row) };
            }
        }));
    });
}

/// One window of every channel.
///
/// # Safety
/// Every element of x is readable.
#[inline(always)]
unsafe fn column<T: Copy + Default>(
    windows: &Windows,
    start: &Start<T>,
    strides: &[isize],
    [n, oy, ox]: [usize; 3],
    row: &mut [T],
) {
    let (down, across) = (&windows.down, &windows.across);
    let inside = across.inside(ox);
    let first = (ox * across.stride + inside.start * across.dilation).saturating_sub(across.pad);
    let (step, member) =
        (across.dilation as isize * strides[3], start.at(&[n, 0, 0, first], strides));
    for (c, of_channel) in row.chunks_exact_mut(windows.taps()).enumerate() {
        let plane = member.wrapping_offset(c as isize * strides[1]);
        for (ky, taps) in of_channel.chunks_exact_mut(across.taps).enumerate() {
            let Some(y) = down.place(oy, ky) else {
                taps.fill(T::default());
                continue;
            };
            taps[..inside.start].fill(T::default());
            taps[inside.end..].fill(T::default());
            let from = plane.wrapping_offset(y as isize * strides[2]);
            for (i, tap) in taps[inside.clone()].iter_mut().enumerate() {
                // SAFETY: `inside` are the taps that read the plane.
                *tap = unsafe { *from.wrapping_offset(i as isize * step) };
            }
        }
    }
}

/// column (batch, oy, ox, channels, ky, kx), each element through `term`; out (batch, channels,
/// height, width): every cell takes in what the windows that read it hold, (oy, ox) ascending.
///
/// # Panics
/// When `out` has another size, or the operand leaves its slice.
pub fn planes<T: Accumulate + Default + Send + Sync>(
    lanes: &Lanes,
    windows: &Windows,
    column: Operand<T>,
    term: impl Fn(T) -> T + Copy + Send + Sync,
    out: &mut [T],
) {
    let (down, across) = (windows.down, windows.across);
    let extents =
        [windows.batch, down.count, across.count, windows.channels, down.taps, across.taps];
    let start = Start(column.start(&extents));
    let plane = windows.plane();
    assert_eq!(out.len(), windows.planes() * plane, "cells of planes");
    if out.is_empty() {
        return;
    }
    let pieces = lanes.pieces(Work::Scatter, extents.iter().product());
    each_share(lanes, out, windows.planes().div_ceil(pieces) * plane, &|first, own| {
        let start = &start;
        lanes.level().run(Loop(|| {
            own.fill(T::default());
            let (mut at, mut rest) = (first / plane, own);
            while !rest.is_empty() {
                let (n, c) = (at / windows.channels, at % windows.channels);
                let count = (windows.channels - c).min(rest.len() / plane);
                let (now, after) = rest.split_at_mut(count * plane);
                let part = Part { windows, n, first: c };
                // SAFETY: `start` checked the operand against its extents.
                unsafe { part.add(start, column.strides, term, now) };
                (at, rest) = (at + count, after);
            }
        }));
    });
}

/// Channels from `first` on of one member of the batch.
struct Part<'a> {
    windows: &'a Windows,
    n: usize,
    first: usize,
}

impl Part<'_> {
    /// # Safety
    /// Every element of the columns is readable.
    #[inline(always)]
    unsafe fn add<T: Accumulate>(
        &self,
        start: &Start<T>,
        strides: &[isize],
        term: impl Fn(T) -> T,
        out: &mut [T],
    ) {
        let (down, across) = (&self.windows.down, &self.windows.across);
        let plane = self.windows.plane();
        for oy in 0..down.count {
            for ox in 0..across.count {
                let inside = across.inside(ox);
                let index = [self.n, oy, ox, self.first, 0, inside.start];
                let (window, left) = (start.at(&index, strides), self.left(ox, inside.start));
                for (i, cells) in out.chunks_exact_mut(plane).enumerate() {
                    let channel = window.wrapping_offset(i as isize * strides[3]);
                    for ky in down.inside(oy) {
                        let from = channel.wrapping_offset(ky as isize * strides[4]);
                        let row = oy * down.stride + ky * down.dilation - down.pad;
                        let cells = &mut cells[row * across.extent..][..across.extent];
                        for tap in 0..inside.len() {
                            let cell = &mut cells[left + tap * across.dilation];
                            // SAFETY: `inside` are the taps that reach the plane.
                            let x = unsafe { *from.wrapping_offset(tap as isize * strides[5]) };
                            *cell = cell.plus(term(x));
                        }
                    }
                }
            }
        }
    }

    /// The column of a plane that a tap of window ox reads, where it reads one.
    #[inline(always)]
    fn left(&self, ox: usize, tap: usize) -> usize {
        let across = &self.windows.across;
        (ox * across.stride + tap * across.dilation).saturating_sub(across.pad)
    }
}

/// x (batch, channels, height, width), values and positions (batch, channels, oy, ox): the largest
/// element of each window and the row-major position in x of the first that equals it.
///
/// # Panics
/// When results have another size, the operand leaves its slice, or a window holds no element.
pub fn largest<T: Float + Real<Mask = bool>>(
    lanes: &Lanes,
    windows: &Windows,
    x: Operand<T>,
    values: &mut [T],
    positions: &mut [i64],
) {
    let (start, width) = (start_of(&x, windows), windows.across.count);
    let rows = windows.planes() * windows.down.count;
    assert_eq!((values.len(), positions.len()), (rows * width, rows * width), "cells of a pool");
    if values.is_empty() {
        return;
    }
    let pieces = lanes.pieces(Work::Light, rows * width * windows.taps());
    let positions = Cells::new(positions);
    each_share(lanes, values, rows.div_ceil(pieces) * width, &|first, own| {
        let start = &start;
        // SAFETY: shares are disjoint, and both results have as many cells.
        let places = unsafe { positions.range(first, own.len()) };
        let both = own.chunks_exact_mut(width).zip(places.chunks_exact_mut(width));
        lanes.level().run(Loop(|| {
            for (i, (values, places)) in both.enumerate() {
                let row = first / width + i;
                let (plane, oy) = (row / windows.down.count, row % windows.down.count);
                // SAFETY: `start` checked the operand against its extents.
                unsafe { largest_row(windows, start, x.strides, [plane, oy], values, places) };
            }
        }));
    });
}

/// One row of windows: each tap in turn beside the best of every window so far.
///
/// # Safety
/// Every element of x is readable.
#[inline(always)]
unsafe fn largest_row<T: Float + Real<Mask = bool>>(
    windows: &Windows,
    start: &Start<T>,
    strides: &[isize],
    [plane, oy]: [usize; 2],
    values: &mut [T],
    places: &mut [i64],
) {
    let (down, across) = (&windows.down, &windows.across);
    let (n, c) = (plane / windows.channels, plane % windows.channels);
    let flat =
        |row: usize, column: usize| (plane * windows.plane() + row * across.extent + column) as i64;
    let top = oy * down.stride + down.inside(oy).start * down.dilation - down.pad;
    for ox in 0..across.count {
        let left = ox * across.stride + across.inside(ox).start * across.dilation - across.pad;
        // SAFETY: every window holds an element, and this is its first.
        values[ox] = unsafe { *start.at(&[n, c, top, left], strides) };
        places[ox] = flat(top, left);
    }
    for ky in down.inside(oy) {
        let row = oy * down.stride + ky * down.dilation - down.pad;
        for kx in 0..across.taps {
            let range = across.windows(kx);
            let column = range.start * across.stride + kx * across.dilation;
            let column = column.saturating_sub(across.pad);
            let from = start.at(&[n, c, row, column], strides);
            let step = across.stride as isize * strides[3];
            let cells = values[range.clone()].iter_mut().zip(&mut places[range]);
            for (i, (value, place)) in cells.enumerate() {
                // SAFETY: these windows read the plane by this tap.
                let x = unsafe { *from.wrapping_offset(i as isize * step) };
                let better = value.less(x) | (x.is_nan() & !value.is_nan());
                let here = flat(row, column + i * across.stride);
                *place = if better { here } else { *place };
                *value = <Maximum as Binary>::at(*value, x);
            }
        }
    }
}

/// out[to[i]] takes in source[i], i ascending, from zero on: `planes` planes of out, each of which
/// takes in an equal part of the source.
///
/// # Panics
/// When a position lies in another plane than its source, or extents do not fit.
pub fn unpool<T: Accumulate + Default + Send + Sync>(
    lanes: &Lanes,
    planes: usize,
    to: &[usize],
    source: &[T],
    out: &mut [T],
) {
    assert_eq!(to.len(), source.len(), "a position for each source");
    if out.is_empty() {
        return;
    }
    let (plane, part) = (out.len() / planes, source.len() / planes);
    assert_eq!((plane * planes, part * planes), (out.len(), source.len()), "whole planes");
    let pieces = lanes.pieces(Work::Scatter, source.len());
    each_share(lanes, out, planes.div_ceil(pieces) * plane, &|first, own| {
        own.fill(T::default());
        let from = first / plane * part..(first + own.len()) / plane * part;
        for (&position, &x) in to[from.clone()].iter().zip(&source[from]) {
            let cell = &mut own[position.wrapping_sub(first)];
            *cell = cell.plus(x);
        }
    });
}

/// x (batch, channels, height, width), out (batch, channels, oy, ox): `fold::mean` of each window,
/// the padding's zeros included, rounded once.
///
/// # Panics
/// When `out` has another size, or the operand leaves its slice.
pub fn means<T: Float, U: Float>(lanes: &Lanes, windows: &Windows, x: Operand<T>, out: &mut [U]) {
    let (start, width) = (start_of(&x, windows), windows.across.count);
    let rows = windows.planes() * windows.down.count;
    assert_eq!(out.len(), rows * width, "cells of a pool");
    if out.is_empty() {
        return;
    }
    let pieces = lanes.pieces(Work::Light, rows * width * windows.taps());
    each_share(lanes, out, rows.div_ceil(pieces) * width, &|first, own| {
        let start = &start;
        let mut partials = vec![[0.0; BAND]; PARTIALS.min(windows.taps())];
        lanes.level().run(Loop(|| {
            for (i, out) in own.chunks_exact_mut(width).enumerate() {
                let row = first / width + i;
                let at = [row / windows.down.count, row % windows.down.count];
                let mean = Means { windows, start, strides: x.strides, at };
                for (band, out) in out.chunks_mut(BAND).enumerate() {
                    // SAFETY: `start` checked the operand against its extents.
                    unsafe { mean.band(band * BAND, &mut partials, out) };
                }
            }
        }));
    });
}

/// The means of one row of windows.
struct Means<'a, T> {
    windows: &'a Windows,
    start: &'a Start<T>,
    strides: &'a [isize],
    /// The plane and oy.
    at: [usize; 2],
}

impl<T: Float> Means<'_, T> {
    /// The windows from `first` on: one partial after another takes its elements of all of them, as
    /// `fold_chunk` does of one. Padding would add +0, which changes no partial.
    ///
    /// # Safety
    /// Every element of x is readable.
    #[inline(always)]
    unsafe fn band<U: Float>(&self, first: usize, partials: &mut [[f64; BAND]], out: &mut [U]) {
        let (down, across) = (&self.windows.down, &self.windows.across);
        let taps = self.windows.taps();
        if taps > CHUNK {
            for (i, out) in out.iter_mut().enumerate() {
                let element = |tap| self.element(first + i, tap);
                *out = U::narrowed(fold::mean(taps, element));
            }
            return;
        }
        partials.iter_mut().for_each(|partial| partial[..out.len()].fill(0.0));
        for tap in 0..taps {
            let (ky, kx) = (tap / across.taps, tap % across.taps);
            let Some(row) = down.place(self.at[1], ky) else { continue };
            let range = across.windows(kx);
            let range = range.start.max(first)..range.end.min(first + out.len());
            if range.is_empty() {
                continue;
            }
            let column = range.start * across.stride + kx * across.dilation - across.pad;
            let from = self.address(row, column);
            let step = across.stride as isize * self.strides[3];
            let partial = &mut partials[tap % PARTIALS][range.start - first..range.end - first];
            for (i, partial) in partial.iter_mut().enumerate() {
                // SAFETY: these windows read the plane by this tap.
                *partial += unsafe { *from.wrapping_offset(i as isize * step) }.wide();
            }
        }
        halve(partials, out.len());
        let sums = out.iter_mut().zip(&partials[0]);
        sums.for_each(|(out, sum)| *out = U::narrowed(*sum / taps as f64));
    }

    #[inline(always)]
    fn address(&self, row: usize, column: usize) -> *const T {
        let (n, c) = (self.at[0] / self.windows.channels, self.at[0] % self.windows.channels);
        self.start.at(&[n, c, row, column], self.strides)
    }

    fn element(&self, ox: usize, tap: usize) -> f64 {
        let width = self.windows.across.taps;
        match self.windows.place([self.at[1], ox], [tap / width, tap % width]) {
            // SAFETY: the place lies in the plane, which `start_of` checked.
            Some([row, column]) => unsafe { *self.address(row, column) }.wide(),
            None => 0.0,
        }
    }
}

/// Partial l with l + 32 for l below 32, then 16, and so on to 1; those past the end are +0.
#[inline(always)]
fn halve(partials: &mut [[f64; BAND]], count: usize) {
    let mut half = PARTIALS / 2;
    while half > 0 {
        for low in 0..half.min(partials.len().saturating_sub(half)) {
            let (low, high) = (low, low + half);
            let (head, tail) = partials.split_at_mut(high);
            let pair = head[low][..count].iter_mut().zip(&tail[0][..count]);
            pair.for_each(|(low, high)| *low += high);
        }
        half /= 2;
    }
}
