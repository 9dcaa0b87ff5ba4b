//! Sorting along an axis, and the positions that would sort it: the bits of `math::order`.
//!
//! Elements become unsigned words (`words`), words are sorted in registers of 256 or 512 bits
//! (`quick`) or by their bytes (`radix`), and words become elements again; zeros and NaN, whose words do not tell
//! all their bits, are put back in order of appearance. Positions are sorted beside their keys in
//! one word of 64 bits (`positions`). Threads take slices; a slice of its own is sorted in shares
//! that are merged (`merge`).

mod columns;
#[cfg(target_arch = "x86_64")]
mod lane;
mod merge;
mod network;
mod positions;
#[cfg(target_arch = "x86_64")]
mod quick;
mod radix;
#[cfg(target_arch = "x86_64")]
mod registers;
mod words;

use crate::level::Loop;
use crate::share::each_share;
use crate::{Lanes, Level, Work};
use core::sync::atomic::Ordering::Relaxed;
#[cfg(target_arch = "x86_64")]
use lane::{Bits256, Bits512, Lane, Steps};
use radix::Digits;
pub(crate) use words::directed;
pub use words::{Sortable, Word};

/// An array (outer, length, inner) in row-major order, seen as outer * inner slices of `length`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Slices {
    /// Indices of the axes before the sorted one.
    pub outer: usize,
    /// The extent of the sorted axis.
    pub length: usize,
    /// Indices of the axes after it: the step along a slice.
    pub inner: usize,
}

impl Slices {
    /// One slice of everything.
    pub fn whole(length: usize) -> Slices {
        Slices { outer: 1, length, inner: 1 }
    }

    /// The slices of `shape` along `axis`.
    ///
    /// # Panics
    /// When the axis is not below the rank.
    pub fn along(shape: &[usize], axis: usize) -> Slices {
        Slices {
            outer: shape[..axis].iter().product(),
            length: shape[axis],
            inner: shape[axis + 1..].iter().product(),
        }
    }

    /// Elements of all slices.
    pub fn size(&self) -> usize {
        self.outer * self.length * self.inner
    }
}

/// Elements of the slices that are sorted together: 16 KiB of f32.
const BLOCK: usize = 1 << 12;

/// Elements of one slice from which it is shared among threads.
const SHARED: usize = 1 << 16;

/// Elements of one slice from which words are made by the first partition: more than L2 would hold
/// twice of 64 bits.
const LONG: usize = 1 << 15;

/// `Sortable::sort`.
fn sort<T: Sortable>(lanes: &Lanes, x: &[T], slices: Slices, descending: bool, out: &mut [T]) {
    assert_eq!(x.len(), slices.size(), "elements to sort");
    let flip = T::Word::flip(lanes.level());
    let job = Sort::<T> { level: lanes.level(), descending, flip };
    if slices.outer * slices.inner == 1 && slices.length >= SHARED && lanes.workers().threads() > 1
    {
        return Sort { flip: T::Word::default(), ..job }.shared(lanes, x, out);
    }
    each_block(lanes, x, slices, out, &|x, length, out| job.rows(x, length, out));
}

/// `rows(x, length, out)` over rows of one length that lie one after another.
type Rows<'a, T, U> = &'a (dyn Fn(&[T], usize, &mut [U]) + Sync);

/// Runs `rows` over blocks of slices that lie one after another; slices of inner axes are turned
/// into rows first and their results turned back.
fn each_block<T: Copy + Default + Send + Sync, U: Copy + Default + Send + Sync>(
    lanes: &Lanes,
    x: &[T],
    slices: Slices,
    out: &mut [U],
    rows: Rows<T, U>,
) {
    assert_eq!(out.len(), slices.size(), "cells of sorted slices");
    let Slices { length, inner, .. } = slices;
    if out.is_empty() {
        return;
    }
    if inner > 1 {
        return columns::each_band(lanes, x, slices, out, rows);
    }
    let mut rows_of_block = (BLOCK / length).max(1);
    if length <= network::LONGEST {
        rows_of_block = rows_of_block.next_multiple_of(network::MOST_ROWS);
    }
    let block = rows_of_block * length;
    let pieces = lanes.pieces(Work::Sort, out.len());
    let share = out.len().div_ceil(block).div_ceil(pieces) * block;
    each_share(lanes, out, share, &|start, own| {
        let x = &x[start..start + own.len()];
        x.chunks(block).zip(own.chunks_mut(block)).for_each(|(x, own)| rows(x, length, own));
    });
}

struct Sort<T: Sortable> {
    level: Level,
    descending: bool,
    /// What exclusive or does to every word.
    flip: T::Word,
}

impl<T: Sortable> Sort<T> {
    /// Sorts rows of `length`.
    fn rows(&self, x: &[T], length: usize, out: &mut [T]) {
        if x.len() == length && length >= LONG && self.long(x, out) {
            return;
        }
        let words = as_words(out);
        let special = self.to_words(x, words);
        let mut spare = Vec::new();
        let together = T::Word::sort_together(self.level, words, length, &mut spare);
        words[together * length..]
            .chunks_exact_mut(length)
            .for_each(|row| T::Word::sort_flipped(self.level, row, &mut spare));
        self.to_elements(words);
        if special {
            for (x, row) in x.chunks_exact(length).zip(out.chunks_exact_mut(length)) {
                repair(x, row, self.descending);
            }
        }
    }

    /// Sorts one row whose words are made by the first partition and turned back piece by piece;
    /// false where there is no such way.
    fn long(&self, x: &[T], out: &mut [T]) -> bool {
        let mut special = false;
        let words = as_words(out);
        let fill = |start: usize, words: &mut [T::Word]| {
            self.to_words(&x[start..start + words.len()], words);
        };
        let sorted = T::Word::sort_filled(self.level, words, &fill, &mut |words| {
            special |= self.to_elements(words);
        });
        if special {
            repair(x, out, self.descending);
        }
        sorted
    }

    /// Sorts one slice with all threads.
    fn shared(&self, lanes: &Lanes, x: &[T], out: &mut [T]) {
        let special = core::sync::atomic::AtomicBool::new(false);
        let words = as_words(out);
        each_share(lanes, words, PIECE, &|start, own| {
            if self.to_words(&x[start..start + own.len()], own) {
                special.store(true, Relaxed);
            }
        });
        merge::sort(lanes, words);
        each_share(lanes, words, PIECE, &|_, own| {
            self.to_elements(own);
        });
        if special.into_inner() {
            repair(x, out, self.descending);
        }
    }

    /// Writes the words of x; true when some element's word does not tell all its bits.
    fn to_words(&self, x: &[T], words: &mut [T::Word]) -> bool {
        let (descending, flip) = (self.descending, self.flip);
        self.level.run(Loop(|| {
            let mut special = false;
            for (word, &x) in words.iter_mut().zip(x) {
                *word = directed(x.word(), descending) ^ flip;
                special |= x.is_special();
            }
            special
        }))
    }

    /// Turns words into elements in place; true as `to_words`.
    fn to_elements(&self, words: &mut [T::Word]) -> bool {
        let (descending, flip) = (self.descending, self.flip);
        self.level.run(Loop(|| {
            let mut special = false;
            for word in words.iter_mut() {
                let element = T::element(directed(*word ^ flip, descending));
                special |= element.is_special();
                // SAFETY: `as_words` in the other direction: one size, no invalid bits.
                *word = unsafe { core::mem::transmute_copy(&element) };
            }
            special
        }))
    }
}

/// Words in one piece of work on a shared slice.
const PIECE: usize = 1 << 15;

/// The cells of elements as words of the same size.
fn as_words<T: Sortable>(out: &mut [T]) -> &mut [T::Word] {
    const { assert!(size_of::<T>() == size_of::<T::Word>()) };
    const { assert!(align_of::<T>() == align_of::<T::Word>()) };
    // SAFETY: both are plain data of one size and alignment, so any bits are valid as either;
    // `to_elements` leaves elements.
    unsafe { core::slice::from_raw_parts_mut(out.as_mut_ptr().cast(), out.len()) }
}

/// Writes zeros and NaN into their places in order of appearance.
fn repair<T: Sortable>(x: &[T], out: &mut [T], descending: bool) {
    use core::cmp::Ordering::Less;
    let zero = T::default();
    let nan_key = T::Word::TOP;
    let before = |a: T, b: T| if descending { b.order(a) == Less } else { a.order(b) == Less };
    let mut next_zero = out.partition_point(|a| before(*a, zero));
    let is_nan = |a: T| a.is_special() && a.word() == nan_key;
    let mut next_nan = if descending { 0 } else { out.partition_point(|a| !is_nan(*a)) };
    for &x in x {
        if is_nan(x) {
            out[next_nan] = x;
            next_nan += 1;
        } else if x == zero {
            out[next_zero] = x;
            next_zero += 1;
        }
    }
}

impl Word for u64 {
    #[inline(always)]
    fn turned(self) -> u64 {
        !self
    }
    #[inline(always)]
    fn wide(self) -> u64 {
        self
    }
    #[cfg(target_arch = "x86_64")]
    fn flip(level: Level) -> u64 {
        flip_of_lanes(level)
    }
    fn sort(level: Level, x: &mut [u64], spare: &mut Vec<u64>) {
        sort_lanes::<_, false>(level, x, spare);
    }
    #[cfg(target_arch = "x86_64")]
    fn sort_flipped(level: Level, x: &mut [u64], spare: &mut Vec<u64>) {
        sort_lanes::<_, true>(level, x, spare);
    }
    #[cfg(target_arch = "x86_64")]
    fn sort_filled(
        level: Level,
        x: &mut [u64],
        fill: words::Fill<u64>,
        done: words::Done<u64>,
    ) -> bool {
        sort_filled_lanes(level, x, fill, done)
    }
}

impl Word for u32 {
    #[inline(always)]
    fn turned(self) -> u32 {
        !self
    }
    #[inline(always)]
    fn wide(self) -> u64 {
        self.into()
    }
    #[cfg(target_arch = "x86_64")]
    fn flip(level: Level) -> u32 {
        flip_of_lanes(level)
    }
    fn sort(level: Level, x: &mut [u32], spare: &mut Vec<u32>) {
        sort_lanes::<_, false>(level, x, spare);
    }
    #[cfg(target_arch = "x86_64")]
    fn sort_flipped(level: Level, x: &mut [u32], spare: &mut Vec<u32>) {
        sort_lanes::<_, true>(level, x, spare);
    }
    #[cfg(target_arch = "x86_64")]
    fn sort_filled(
        level: Level,
        x: &mut [u32],
        fill: words::Fill<u32>,
        done: words::Done<u32>,
    ) -> bool {
        sort_filled_lanes(level, x, fill, done)
    }
    fn sort_together(level: Level, x: &mut [u32], length: usize, spare: &mut Vec<u32>) -> usize {
        // A row that fills a register of words is sorted faster by itself.
        let longest = match level {
            Level::Avx512 => 15,
            Level::Avx2 => 7,
            Level::Portable => network::LONGEST,
        };
        if !(2..=longest).contains(&length) {
            return 0;
        }
        spare.resize(network::ROOM, 0);
        level.run(network::Together { words: x, length, room: spare })
    }
}

/// Words of 16 bits from which counting 65536 values is faster than two passes over bytes.
const COUNTED: usize = 1 << 14;

impl Word for u16 {
    #[inline(always)]
    fn turned(self) -> u16 {
        !self
    }
    #[inline(always)]
    fn wide(self) -> u64 {
        self.into()
    }
    fn sort(_: Level, x: &mut [u16], spare: &mut Vec<u16>) {
        if x.len() >= COUNTED { radix::count(x) } else { radix::sort(x, spare) }
    }
}

impl Word for u8 {
    #[inline(always)]
    fn turned(self) -> u8 {
        !self
    }
    #[inline(always)]
    fn wide(self) -> u64 {
        self.into()
    }
    fn sort(_: Level, x: &mut [u8], _: &mut Vec<u8>) {
        // A short run is not worth 256 counters.
        if x.len() < 64 { x.sort_unstable() } else { radix::count(x) }
    }
}

/// `Word::flip` of words that fill lanes.
#[cfg(target_arch = "x86_64")]
fn flip_of_lanes<W: Default>(level: Level) -> W
where
    Bits256<W>: Steps<Word = W>,
    Bits512<W>: Steps<Word = W>,
{
    match level {
        Level::Portable => W::default(),
        Level::Avx2 => Bits256::<W>::FLIP,
        Level::Avx512 => Bits512::<W>::FLIP,
    }
}

/// Sorts words that fill lanes; they are in the order of registers already where `FLIPPED`.
#[cfg(target_arch = "x86_64")]
fn sort_lanes<W: radix::Digits, const FLIPPED: bool>(level: Level, x: &mut [W], spare: &mut Vec<W>)
where
    Bits256<W>: Steps<Word = W>,
    Bits512<W>: Steps<Word = W>,
{
    // SAFETY: `Lanes` holds only levels for which `detect` saw the features.
    unsafe {
        match level {
            Level::Portable => radix::sort(x, spare),
            Level::Avx2 => quick::sort::<Bits256<W>, FLIPPED>(x, &mut |_| ()),
            Level::Avx512 => quick::sort::<Bits512<W>, FLIPPED>(x, &mut |_| ()),
        }
    }
}

#[cfg(not(target_arch = "x86_64"))]
fn sort_lanes<W: radix::Digits, const FLIPPED: bool>(_: Level, x: &mut [W], spare: &mut Vec<W>) {
    radix::sort(x, spare);
}

/// `Word::sort_filled` of words that fill lanes.
#[cfg(target_arch = "x86_64")]
fn sort_filled_lanes<W>(
    level: Level,
    x: &mut [W],
    fill: words::Fill<W>,
    done: words::Done<W>,
) -> bool
where
    Bits256<W>: Steps<Word = W>,
    Bits512<W>: Steps<Word = W>,
{
    // SAFETY: `Lanes` holds only levels for which `detect` saw the features.
    unsafe {
        match level {
            Level::Portable => return false,
            Level::Avx2 => quick::sort_filled::<Bits256<W>>(x, fill, done),
            Level::Avx512 => quick::sort_filled::<Bits512<W>>(x, fill, done),
        }
    }
    true
}
