//! Rows of 32-bit words sorted side by side: every lane of a register belongs to another row, so a
//! sorting network (bitonic, Batcher 1968) takes one minimum and one maximum a comparison, without
//! a shuffle and without a branch on data.
//!
//! The rows are turned into columns first and back afterwards. Passes hold eight registers and do
//! three stages of the network with them. Every comparison puts the smaller word in front,
//! so what stands behind the last word of a row may be thought of as the largest word and is never
//! stored: a length need not be a power of two.

use crate::copy::Square;
use crate::level::Task;
use crate::vector::{Simd, Vector, Words};
use rung_math::{Bits, Real};
use std::marker::PhantomData;

/// Registers of a pass.
const HELD: usize = 8;

/// The longest rows that are sorted so: 16 of them fill 64 KiB, and the stages grow with the square
/// of the digits of a length. 1024 rows of 512 took 1.8 ms so on one thread of an AMD Milan (256-bit
/// registers), by their bytes 11.2; rows of 24 0.4 ms against 1.2.
pub(super) const LONGEST: usize = 1024;

/// The most rows that stand side by side.
pub(super) const MOST_ROWS: usize = 16;

/// Words of the room that `Together` needs.
pub(super) const ROOM: usize = LONGEST * MOST_ROWS;

/// Sorts rows of `length` words, one after another in memory, where they fill the lanes of a
/// register at least once. Gives the number of rows sorted: all or none.
pub(super) struct Together<'a> {
    pub words: &'a mut [u32],
    pub length: usize,
    pub room: &'a mut [u32],
}

impl Task for Together<'_> {
    type Output = usize;

    #[inline(always)]
    fn run<S: Simd>(self) -> usize {
        let (lanes, length) = (S::F32::LANES, self.length);
        assert!((2..=LONGEST).contains(&length) && self.room.len() >= ROOM, "short rows");
        let padded = length.next_multiple_of(HELD);
        let (total, room) = (self.words.len() / length, self.room.as_mut_ptr());
        if total < lanes {
            return 0;
        }
        self.room[length * lanes..padded * lanes].fill(u32::MAX);
        for first in (0..total).step_by(lanes) {
            // The last rows are sorted among some that are sorted already.
            let first = first.min(total - lanes);
            let at = self.words[first * length..(first + lanes) * length].as_mut_ptr();
            let (rows, columns) = (length, lanes);
            let step = length as isize;
            Square { from: at, step, to: room, row_out: lanes, rows, columns }.run::<S>();
            // SAFETY: the room holds `padded` registers.
            unsafe { Columns::<S> { at: room.cast(), count: padded, level: PhantomData }.sort() };
            let (rows, columns) = (lanes, length);
            let step = lanes as isize;
            Square { from: room, step, to: at, row_out: length, rows, columns }.run::<S>();
        }
        total
    }
}

/// `count` registers of words in memory, a multiple of `HELD`.
struct Columns<S> {
    at: *mut f32,
    count: usize,
    level: PhantomData<S>,
}

/// The words of a register.
type Register<S> = <<S as Simd>::F32 as Real>::Bits;

impl<S: Simd> Columns<S> {
    /// Sorts the registers, lane by lane.
    #[inline(always)]
    unsafe fn sort(&self) {
        // SAFETY: whole blocks lie below `count`, and nothing behind it is read or written.
        unsafe {
            for block in (0..self.count).step_by(HELD) {
                let mut v = self.block(block);
                sort_eight(&mut v);
                self.put(block, 1, v);
            }
            let mut half = HELD;
            while half < self.count {
                for start in (0..self.count).step_by(2 * half) {
                    self.merge(start, half);
                }
                half *= 2;
            }
        }
    }

    /// Merges two sorted runs of `half` registers, the second of which may be cut short.
    #[inline(always)]
    unsafe fn merge(&self, start: usize, half: usize) {
        let end = self.count.min(start + 2 * half);
        // SAFETY: nothing behind `count` is read or written.
        unsafe {
            for i in 0..half / 4 {
                self.mirrored(start + i, start + half + half / 4 - 1 - i, half / 4);
            }
            // What is left are the distances from half / 8 down to 1; the last three of them, of
            // which the longer do nothing to short runs, stay in a block.
            match half / HELD {
                8 => self.stages::<2>(start, end, HELD),
                16 => self.stages::<4>(start, end, HELD),
                32 => self.stages::<8>(start, end, HELD),
                64 => {
                    self.stages::<2>(start, end, 8 * HELD);
                    self.stages::<8>(start, end, HELD);
                }
                _ => {}
            }
            for block in (start..end).step_by(HELD) {
                let mut v = self.block(block);
                halves(&mut v);
                self.put(block, 1, v);
            }
        }
    }

    /// The first stage of a merge, in which a register meets its mirror image, and the two after
    /// it: four registers from `front` on, `step` apart, and their images from `back` on.
    #[inline(always)]
    unsafe fn mirrored(&self, front: usize, back: usize, step: usize) {
        // SAFETY: nothing behind `count` is read or written.
        unsafe {
            let (mut low, mut high) = (self.take::<4>(front, step), self.take::<4>(back, step));
            for k in 0..4 {
                order(&mut low[k], &mut high[3 - k]);
            }
            halves(&mut low);
            halves(&mut high);
            self.put(front, step, low);
            self.put(back, step, high);
        }
    }

    /// The stages of distances N / 2 times `step`, ... `step`.
    #[inline(always)]
    unsafe fn stages<const N: usize>(&self, start: usize, end: usize, step: usize) {
        for block in (start..end).step_by(step * N) {
            for first in block..block + step {
                // SAFETY: nothing behind `count` is read or written.
                unsafe {
                    let mut v = self.take::<N>(first, step);
                    halves(&mut v);
                    self.put(first, step, v);
                }
            }
        }
    }

    /// A whole block.
    #[inline(always)]
    unsafe fn block(&self, first: usize) -> [Register<S>; HELD] {
        let mut block = [Register::<S>::constant(0); HELD];
        for (k, register) in block.iter_mut().enumerate() {
            // SAFETY: the caller says that it lies below `count`.
            let x = unsafe { S::F32::load(self.at.add((first + k) * S::F32::LANES)) };
            *register = x.bits();
        }
        block
    }

    /// `N` registers, `step` apart; the largest words behind the end.
    #[inline(always)]
    unsafe fn take<const N: usize>(&self, first: usize, step: usize) -> [Register<S>; N] {
        let mut taken = [Register::<S>::constant(u64::MAX); N];
        for (k, register) in taken.iter_mut().enumerate() {
            if first + k * step < self.count {
                // SAFETY: below `count`.
                let x = unsafe { S::F32::load(self.at.add((first + k * step) * S::F32::LANES)) };
                *register = x.bits();
            }
        }
        taken
    }

    /// Stores what `take` took.
    #[inline(always)]
    unsafe fn put<const N: usize>(&self, first: usize, step: usize, v: [Register<S>; N]) {
        for (k, v) in v.into_iter().enumerate() {
            if first + k * step < self.count {
                let to = self.at.wrapping_add((first + k * step) * S::F32::LANES);
                // SAFETY: below `count`.
                unsafe { S::F32::from_bits(v).store(to) };
            }
        }
    }
}

/// The smaller words to the first.
#[inline(always)]
fn order<W: Words>(a: &mut W, b: &mut W) {
    (*a, *b) = (a.smaller(*b), a.larger(*b));
}

/// Sorts a bitonic sequence: distances N / 2, ... 1.
#[inline(always)]
fn halves<W: Words, const N: usize>(v: &mut [W; N]) {
    let mut distance = N / 2;
    while distance > 0 {
        for i in 0..N {
            if i & distance == 0 {
                let (a, b) = (v[i], v[i + distance]);
                (v[i], v[i + distance]) = (a.smaller(b), a.larger(b));
            }
        }
        distance /= 2;
    }
}

/// Sorts eight with the fewest comparisons, 19.
#[inline(always)]
fn sort_eight<W: Words>([a, b, c, d, e, f, g, h]: &mut [W; HELD]) {
    order(a, c);
    order(b, d);
    order(e, g);
    order(f, h);
    order(a, e);
    order(b, f);
    order(c, g);
    order(d, h);
    order(a, b);
    order(c, d);
    order(e, f);
    order(g, h);
    order(c, e);
    order(d, f);
    order(b, e);
    order(d, g);
    order(b, c);
    order(d, e);
    order(f, g);
}
