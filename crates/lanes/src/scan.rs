//! Running sums and products along an axis, in the order of `math::scan`.
//!
//! A running value waits for the one before it, so eight segments run side by side: those of one
//! long slice, or one of each of eight short ones. Slices of inner axes run as columns. Integers
//! wrap, and any order gives their bits.

use crate::level::Loop;
use crate::share::Cells;
use crate::sort::Slices;
use crate::{Lanes, Level, Work};
use core::marker::PhantomData;
use rung_math::fold::{Adding, CHUNK, Combine, Multiplying};
use rung_math::scan::SEGMENT;

/// Segments that run side by side: an addition takes 3 to 4 cycles, two start in each.
const ABREAST: usize = 8;

/// Slices up to this length run beside each other.
const SHORT: usize = ABREAST * SEGMENT;

/// Columns that run together: four rows of f64 of this width are 16 KiB.
const COLUMNS: usize = 512;

/// An element, and what it is added up in before it becomes a `U`.
pub trait Scanned<U>: Copy + Send + Sync {
    /// f64, or i64 for integers.
    type Sum: Copy + Send + Sync;
    #[doc(hidden)]
    fn wide(self) -> Self::Sum;
    #[doc(hidden)]
    fn narrowed(sum: Self::Sum) -> U;

    /// out = the running sums of every slice of x.
    ///
    /// # Panics
    /// When `x` or `out` has not the size of the slices.
    fn sums(lanes: &Lanes, x: &[Self], slices: Slices, out: &mut [U]);

    /// out = the running products of every slice of x.
    ///
    /// # Panics
    /// When `x` or `out` has not the size of the slices.
    fn products(lanes: &Lanes, x: &[Self], slices: Slices, out: &mut [U]);
}

macro_rules! scanned {
    ($($from:ty => $sum:ty => $to:ty;)*) => {
        $(impl Scanned<$to> for $from {
            type Sum = $sum;
            #[inline(always)]
            fn wide(self) -> $sum {
                self as $sum
            }
            #[inline(always)]
            fn narrowed(sum: $sum) -> $to {
                sum as $to
            }
            // Methods, so that their code is made here, once, and not in every crate that scans.
            fn sums(lanes: &Lanes, x: &[$from], slices: Slices, out: &mut [$to]) {
                scan::<Adding, $from, $to>(lanes, x, slices, out);
            }
            fn products(lanes: &Lanes, x: &[$from], slices: Slices, out: &mut [$to]) {
                scan::<Multiplying, $from, $to>(lanes, x, slices, out);
            }
        })*
    };
}
scanned! {
    f64 => f64 => f64;
    f32 => f64 => f64;
    f32 => f64 => f32;
    i64 => i64 => i64;
}

/// How running values are joined: `Adding` or `Multiplying`.
trait Join<S>: Copy + Send + Sync + 'static {
    const IDENTITY: S;
    fn join(before: S, x: S) -> S;
}

impl<C: Combine> Join<f64> for C {
    const IDENTITY: f64 = C::IDENTITY;
    #[inline(always)]
    fn join(before: f64, x: f64) -> f64 {
        C::combine(before, x)
    }
}

impl Join<i64> for Adding {
    const IDENTITY: i64 = 0;
    #[inline(always)]
    fn join(before: i64, x: i64) -> i64 {
        before.wrapping_add(x)
    }
}

impl Join<i64> for Multiplying {
    const IDENTITY: i64 = 1;
    #[inline(always)]
    fn join(before: i64, x: i64) -> i64 {
        before.wrapping_mul(x)
    }
}

/// The running values of every slice.
fn scan<J, T, U>(lanes: &Lanes, x: &[T], slices: Slices, out: &mut [U])
where
    T: Scanned<U>,
    J: Join<T::Sum>,
    U: Copy + Send + Sync,
{
    assert_eq!(x.len(), slices.size(), "elements of a scan");
    assert_eq!(out.len(), slices.size(), "cells of a scan");
    if out.is_empty() {
        return;
    }
    let job = Scan::<J, T, U> { level: lanes.level(), marker: PhantomData };
    match slices {
        Slices { inner: 1, length, .. } if length <= SHORT => job.short(lanes, x, length, out),
        Slices { inner: 1, length, .. } => job.long(lanes, x, length, out),
        _ => job.columns(lanes, x, slices, out),
    }
}

struct Scan<J, T, U> {
    level: Level,
    marker: PhantomData<fn(J, T) -> U>,
}

/// The joined totals of what was passed; nothing before the first.
struct Offset<J, S>(Option<S>, PhantomData<J>);

impl<S: Copy, J: Join<S>> Offset<J, S> {
    const START: Self = Offset(None, PhantomData);

    #[inline(always)]
    fn value(&self) -> S {
        self.0.unwrap_or(J::IDENTITY)
    }

    #[inline(always)]
    fn pass(&mut self, total: S) {
        self.0 = Some(self.0.map_or(total, |before| J::join(before, total)));
    }
}

impl<J, T, U> Scan<J, T, U>
where
    T: Scanned<U>,
    J: Join<T::Sum>,
    U: Copy + Send + Sync,
{
    /// Slices of at most `SHORT`, eight side by side.
    fn short(&self, lanes: &Lanes, x: &[T], length: usize, out: &mut [U]) {
        let rows = x.len() / length;
        let pieces = lanes.pieces(Work::Scan, x.len());
        let share = rows.div_ceil(pieces).next_multiple_of(ABREAST);
        let cells = Cells::new(out);
        lanes.workers().run(rows.div_ceil(share), &|piece| {
            let (first, last) = (piece * share, rows.min((piece + 1) * share));
            let x = &x[first * length..last * length];
            // SAFETY: pieces own disjoint rows.
            let out = unsafe { cells.range(first * length, x.len()) };
            self.level.run(Loop(|| {
                let many = ABREAST * length;
                for (x, out) in x.chunks(many).zip(out.chunks_mut(many)) {
                    match x.len() == many {
                        true => Self::eight(x, length, out),
                        false => x
                            .chunks_exact(length)
                            .zip(out.chunks_exact_mut(length))
                            .for_each(|(x, out)| Self::one(x, None, out)),
                    }
                }
            }));
        });
    }

    /// Eight slices.
    #[inline(always)]
    fn eight(x: &[T], length: usize, out: &mut [U]) {
        let mut running = [[J::IDENTITY; SEGMENT]; ABREAST];
        let mut totals = [const { Offset::<J, T::Sum>::START }; ABREAST];
        for start in (0..length).step_by(SEGMENT) {
            let count = SEGMENT.min(length - start);
            let parts = core::array::from_fn(|row| &x[row * length + start..][..count]);
            Self::abreast(parts, &mut running);
            for (row, (running, totals)) in running.iter().zip(&mut totals).enumerate() {
                let out = &mut out[row * length + start..][..count];
                let offset = (start > 0).then(|| J::join(J::IDENTITY, totals.value()));
                Self::write(&running[..count], offset, out);
                totals.pass(running[count - 1]);
            }
        }
    }

    /// Runs eight segments of one length from their first elements.
    #[inline(always)]
    fn abreast(x: [&[T]; ABREAST], running: &mut [[T::Sum; SEGMENT]; ABREAST]) {
        let count = x[0].len().min(SEGMENT);
        let mut last = x.map(|x| x[0].wide());
        (0..ABREAST).for_each(|row| running[row][0] = last[row]);
        for i in 1..count {
            for row in 0..ABREAST {
                last[row] = J::join(last[row], x[row][i].wide());
                running[row][i] = last[row];
            }
        }
    }

    /// out = offset + running, narrowed.
    #[inline(always)]
    fn write(running: &[T::Sum], offset: Option<T::Sum>, out: &mut [U]) {
        match offset {
            Some(offset) => out
                .iter_mut()
                .zip(running)
                .for_each(|(out, running)| *out = T::narrowed(J::join(offset, *running))),
            None => {
                out.iter_mut().zip(running).for_each(|(out, running)| *out = T::narrowed(*running));
            }
        }
    }

    /// At most a chunk, by itself; `before` is the total of the chunks before it.
    #[inline(always)]
    fn one(x: &[T], before: Option<T::Sum>, out: &mut [U]) {
        let mut cells = Some(out);
        Self::chunk(x, before, &mut cells);
    }

    /// Writes a chunk where there are cells for it, and returns its total.
    #[inline(always)]
    fn chunk(x: &[T], before: Option<T::Sum>, out: &mut Option<&mut [U]>) -> T::Sum {
        let mut running = [[J::IDENTITY; SEGMENT]; ABREAST];
        let mut totals = Offset::<J, T::Sum>::START;
        for (group, x) in x.chunks(SHORT).enumerate() {
            if x.len() == SHORT {
                Self::abreast(core::array::from_fn(|i| &x[i * SEGMENT..][..SEGMENT]), &mut running);
            } else {
                for (x, running) in x.chunks(SEGMENT).zip(&mut running) {
                    running[0] = x[0].wide();
                    (1..x.len()).for_each(|i| running[i] = J::join(running[i - 1], x[i].wide()));
                }
            }
            for (place, part) in x.chunks(SEGMENT).enumerate() {
                let (start, running) = (group * SHORT + place * SEGMENT, &running[place]);
                let first = before.is_none() && start == 0;
                let offset = J::join(before.unwrap_or(J::IDENTITY), totals.value());
                if let Some(out) = out {
                    let out = &mut out[start..start + part.len()];
                    Self::write(&running[..part.len()], (!first).then_some(offset), out);
                }
                totals.pass(running[part.len() - 1]);
            }
        }
        totals.value()
    }

    /// Slices of many segments, one after another; the chunks of a slice are shared by threads,
    /// which first find the totals.
    fn long(&self, lanes: &Lanes, x: &[T], length: usize, out: &mut [U]) {
        let rows = x.len() / length;
        let pieces = lanes.pieces(Work::Scan, x.len());
        if pieces == 1 || rows >= pieces {
            let share = rows.div_ceil(pieces);
            let cells = Cells::new(out);
            return lanes.workers().run(rows.div_ceil(share), &|piece| {
                for row in piece * share..rows.min((piece + 1) * share) {
                    // SAFETY: pieces own disjoint rows.
                    let out = unsafe { cells.range(row * length, length) };
                    self.row(&x[row * length..(row + 1) * length], out);
                }
            });
        }
        for (x, out) in x.chunks_exact(length).zip(out.chunks_exact_mut(length)) {
            self.shared(lanes, x, out);
        }
    }

    /// One slice on one thread.
    fn row(&self, x: &[T], out: &mut [U]) {
        let mut totals = Offset::<J, T::Sum>::START;
        for (x, out) in x.chunks(CHUNK).zip(out.chunks_mut(CHUNK)) {
            let before = totals.0;
            totals.pass(self.level.run(Loop(|| Self::chunk(x, before, &mut Some(out)))));
        }
    }

    /// One slice on all threads.
    fn shared(&self, lanes: &Lanes, x: &[T], out: &mut [U]) {
        let chunks = x.len().div_ceil(CHUNK);
        let mut before: Vec<Option<T::Sum>> = vec![None; chunks];
        let share = chunks.div_ceil(lanes.pieces(Work::Scan, x.len()));
        let pieces = chunks.div_ceil(share);
        let own = |piece: usize| piece * share..chunks.min((piece + 1) * share);
        let part = |chunk: usize| &x[chunk * CHUNK..x.len().min((chunk + 1) * CHUNK)];
        let cells = Cells::new(&mut before);
        lanes.workers().run(pieces, &|piece| {
            for chunk in own(piece) {
                let total = self.level.run(Loop(|| Self::chunk(part(chunk), None, &mut None)));
                // SAFETY: pieces own disjoint chunks.
                unsafe { *cells.at(chunk) = Some(total) };
            }
        });
        let mut totals = Offset::<J, T::Sum>::START;
        for total in &mut before {
            let own = core::mem::replace(total, totals.0);
            own.into_iter().for_each(|own| totals.pass(own));
        }
        let cells = Cells::new(out);
        lanes.workers().run(pieces, &|piece| {
            for chunk in own(piece) {
                let x = part(chunk);
                // SAFETY: as above.
                let out = unsafe { cells.range(chunk * CHUNK, x.len()) };
                self.level.run(Loop(|| Self::chunk(x, before[chunk], &mut Some(out))));
            }
        });
    }

    /// Slices of inner axes: rows of columns.
    fn columns(&self, lanes: &Lanes, x: &[T], slices: Slices, out: &mut [U]) {
        let Slices { outer, length, inner } = slices;
        let pieces = lanes.pieces(Work::Scan, x.len());
        let bands = inner.div_ceil(COLUMNS).max(pieces.div_ceil(outer)).min(inner.div_ceil(16));
        let width = inner.div_ceil(bands).next_multiple_of(16);
        let bands = inner.div_ceil(width);
        let share = (outer * bands).div_ceil(pieces);
        let cells = Cells::new(out);
        lanes.workers().run((outer * bands).div_ceil(share), &|piece| {
            for block in piece * share..(outer * bands).min((piece + 1) * share) {
                let (plane, column) = (block / bands, block % bands * width);
                let start = plane * length * inner + column;
                let count = width.min(inner - column);
                self.level.run(Loop(|| {
                    Self::band(&x[start..], count, length, inner, |row| {
                        // SAFETY: blocks own disjoint columns of a plane.
                        unsafe { cells.range(start + row * inner, count) }
                    })
                }));
            }
        });
    }

    /// `count` columns of `length` rows, `step` apart.
    #[inline(always)]
    fn band<'a>(
        x: &[T],
        count: usize,
        length: usize,
        step: usize,
        out: impl Fn(usize) -> &'a mut [U],
    ) where
        U: 'a,
    {
        let mut room = vec![J::IDENTITY; 4 * count];
        let (running, rest) = room.split_at_mut(count);
        let (offset, rest) = rest.split_at_mut(count);
        let (segments, chunks) = rest.split_at_mut(count);
        for row in 0..length {
            let (x, out) = (&x[row * step..][..count], out(row));
            if row.is_multiple_of(SEGMENT) {
                if row > 0 {
                    Self::next_segment(row, running, offset, segments, chunks);
                }
                running.iter_mut().zip(x).for_each(|(running, x)| *running = x.wide());
            } else {
                for (running, x) in running.iter_mut().zip(x) {
                    *running = J::join(*running, x.wide());
                }
            }
            if row < SEGMENT {
                Self::write(running, None, out);
            } else {
                for ((out, running), offset) in out.iter_mut().zip(&*running).zip(&*offset) {
                    *out = T::narrowed(J::join(*offset, *running));
                }
            }
        }
    }

    /// Takes the totals of the segment that ends before `row` into the offsets of the next one.
    #[inline(always)]
    fn next_segment(
        row: usize,
        running: &[T::Sum],
        offset: &mut [T::Sum],
        segments: &mut [T::Sum],
        chunks: &mut [T::Sum],
    ) {
        let first = row % CHUNK == SEGMENT;
        for (segments, running) in segments.iter_mut().zip(running) {
            *segments = if first { *running } else { J::join(*segments, *running) };
        }
        if row.is_multiple_of(CHUNK) {
            for (chunks, segments) in chunks.iter_mut().zip(&mut *segments) {
                *chunks = if row == CHUNK { *segments } else { J::join(*chunks, *segments) };
                *segments = J::IDENTITY;
            }
        }
        for ((offset, segments), chunks) in offset.iter_mut().zip(segments).zip(chunks) {
            *offset = J::join(*chunks, *segments);
        }
    }
}
