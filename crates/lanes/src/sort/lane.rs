//! Words in the lanes of a register: what sorting networks and partitions ask of them, whichever
//! the registers are (`avx2`, `avx512`), and the steps that are compiled for the features of each.

pub(super) mod avx2;
pub(super) mod avx512;

use super::words::{Done, Fill};
use super::{quick, registers};
use core::marker::PhantomData;
use core::ops::BitXor;

/// Registers of the largest network.
pub(super) const REGISTERS: usize = 16;

/// Words that fill the lanes of a 512-bit register.
pub(crate) struct Bits512<W>(PhantomData<W>);

/// Words that fill the lanes of a 256-bit register.
pub(crate) struct Bits256<W>(PhantomData<W>);

/// Words that fill lanes.
#[allow(clippy::missing_safety_doc)] // pointers must cover what is read or written
pub(crate) trait Lane: 'static {
    type Word: Copy + Ord + BitXor<Output = Self::Word> + Send + Sync + 'static;
    type Register: Copy;
    const LANES: usize;
    /// Words of which one is the pivot of a short run: a multiple of eight, at most 64.
    const SAMPLE: usize;
    /// What turns a word by exclusive or into one that registers compare in the order of words.
    const FLIP: Self::Word;
    /// What no other word in a register exceeds.
    const MAX: Self::Word;
    unsafe fn load(from: *const Self::Word) -> Self::Register;
    /// The first `count` lanes, `MAX` in the others.
    unsafe fn load_part(from: *const Self::Word, count: usize) -> Self::Register;
    unsafe fn store(to: *mut Self::Word, v: Self::Register);
    unsafe fn store_part(to: *mut Self::Word, v: Self::Register, count: usize);
    /// The `count` words before `end` in the first lanes, `MAX` in the others; a whole register of
    /// words must lie there.
    #[inline(always)]
    unsafe fn load_last(end: *const Self::Word, count: usize) -> Self::Register {
        // SAFETY: the caller's promise.
        unsafe { Self::load_part(end.wrapping_sub(count), count) }
    }
    /// Writes the first `count` lanes to end at `end`, and anything up to a whole register before
    /// them.
    #[inline(always)]
    unsafe fn store_last(end: *mut Self::Word, v: Self::Register, count: usize) {
        // SAFETY: the caller's promise.
        unsafe { Self::store_part(end.wrapping_sub(count), v, count) }
    }
    unsafe fn splat(x: Self::Word) -> Self::Register;
    /// The smaller words of two registers and the larger ones.
    unsafe fn ordered(a: Self::Register, b: Self::Register) -> (Self::Register, Self::Register);
    /// Lane i of the result is lane i ^ X, where that is a lane: bits of X above are left out.
    unsafe fn exchanged<const X: usize>(v: Self::Register) -> Self::Register;
    /// Compares a with b, lane by lane: larger values in the lanes of `upper(X)`, smaller ones in
    /// the others.
    unsafe fn larger_in<const X: usize>(a: Self::Register, b: Self::Register) -> Self::Register;
    /// Compares lane i of a with lane i ^ X of b; the lanes of `upper(X)` get the larger values.
    #[inline(always)]
    unsafe fn crossed<const X: usize>(
        a: Self::Register,
        b: Self::Register,
    ) -> (Self::Register, Self::Register) {
        // SAFETY: the caller has the processor feature.
        unsafe {
            (
                Self::larger_in::<X>(a, Self::exchanged::<X>(b)),
                Self::larger_in::<X>(b, Self::exchanged::<X>(a)),
            )
        }
    }
    /// One bit a lane: v < pivot, or v <= pivot where `EQUAL`.
    unsafe fn below<const EQUAL: bool>(v: Self::Register, pivot: Self::Register) -> u16;
    /// Writes the lanes of `mask` from `lower` on and the others before `upper`. Up to a whole
    /// register from `lower` on and before `upper` may be overwritten: both are free, and either
    /// they do not overlap or they are the same.
    unsafe fn part(mask: u16, v: Self::Register, lower: *mut Self::Word, upper: *mut Self::Word);
    /// The same of the lanes of `below` and `above` alone; a register is free on either side.
    unsafe fn part_some(
        below: u16,
        above: u16,
        v: Self::Register,
        lower: *mut Self::Word,
        upper: *mut Self::Word,
    );
    /// From columns that are sorted one after another to registers that are.
    unsafe fn turn(v: &mut [Self::Register; REGISTERS]);
}

/// The lanes that get the larger value when lanes i and i ^ x are compared.
pub(super) const fn upper(x: usize) -> u16 {
    let top = 1 << (usize::BITS - 1 - x.leading_zeros());
    let (mut mask, mut i) = (0, 0);
    while i < 16 {
        if i & top != 0 {
            mask |= 1 << i;
        }
        i += 1;
    }
    mask
}

/// A mask of the lowest `count` lanes, at most 16.
#[inline(always)]
pub(super) fn low(count: usize) -> u16 {
    ((1u32 << count) - 1) as u16
}

/// For every mask the lanes that it holds, then the others.
const fn parted<const LANES: usize, const MASKS: usize>() -> [[u8; LANES]; MASKS] {
    let mut table = [[0; LANES]; MASKS];
    let mut mask = 0;
    while mask < MASKS {
        let (mut at, mut pass) = (0, 0);
        while pass < 2 {
            let mut lane = 0;
            while lane < LANES {
                if (mask >> lane) & 1 != pass {
                    table[mask][at] = lane as u8;
                    at += 1;
                }
                lane += 1;
            }
            pass += 1;
        }
        mask += 1;
    }
    table
}

/// The lanes of eight that each mask holds, then the others, a byte each.
static PARTED: [[u8; 8]; 256] = parted();

/// Steps of a sort that stand out of line, each compiled for the features that the lanes need.
///
/// # Safety
/// The processor must have those features; pointers must cover `count` words.
#[allow(clippy::missing_safety_doc)] // as the trait
pub(crate) trait Steps: Lane {
    unsafe fn small(x: *mut Self::Word, count: usize);
    unsafe fn short(x: *mut Self::Word, count: usize);
    unsafe fn partition<const EQUAL: bool>(
        x: *mut Self::Word,
        count: usize,
        pivot: Self::Word,
    ) -> usize;
    unsafe fn range(x: *mut Self::Word, count: usize, depth: u32, done: Done<Self::Word>);
    unsafe fn part_filled(out: &mut [Self::Word], fill: Fill<Self::Word>) -> usize;
    unsafe fn flip(x: &mut [Self::Word]);
}

macro_rules! steps {
    ($bits:ident, $features:literal) => {
        // SAFETY, of all blocks: the caller's promise is that of the step.
        impl<W> Steps for $bits<W>
        where
            $bits<W>: Lane<Word = W>,
        {
            #[target_feature(enable = $features)]
            unsafe fn small(x: *mut W, count: usize) {
                // SAFETY: as above.
                unsafe { registers::small::<Self>(x, count) }
            }
            #[target_feature(enable = $features)]
            unsafe fn short(x: *mut W, count: usize) {
                // SAFETY: as above.
                unsafe { registers::short::<Self>(x, count) }
            }
            #[target_feature(enable = $features)]
            unsafe fn partition<const EQUAL: bool>(x: *mut W, count: usize, pivot: W) -> usize {
                // SAFETY: as above.
                unsafe { quick::partition::<Self, EQUAL>(x, count, pivot) }
            }
            #[target_feature(enable = $features)]
            unsafe fn range(x: *mut W, count: usize, depth: u32, done: Done<W>) {
                // SAFETY: as above.
                unsafe { quick::range::<Self>(x, count, depth, done) }
            }
            #[target_feature(enable = $features)]
            unsafe fn part_filled(out: &mut [W], fill: Fill<W>) -> usize {
                // SAFETY: as above.
                unsafe { quick::part_filled::<Self>(out, fill) }
            }
            #[target_feature(enable = $features)]
            unsafe fn flip(x: &mut [W]) {
                quick::flip::<Self>(x);
            }
        }
    };
}
steps!(Bits512, "avx512f,avx512bw,avx512dq,avx512vl,avx2,fma,popcnt");
steps!(Bits256, "avx2,fma,popcnt");
