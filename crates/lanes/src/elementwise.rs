//! Element-wise drivers: a definition of `math` over strided operands into a contiguous result.
//!
//! Operands may broadcast (stride 0), be transposed or run backwards. Long runs are read where
//! they lie; short or strided ones are gathered into a block of L1 first, so the kernel only ever
//! sees contiguous numbers or one repeated number. Tails use a partial vector whose other lanes
//! are zero and are not stored. Threads take ranges of the result.

use crate::compiled::{Binary, Compare, Runner, Ternary, Unary};
use crate::level::Entry;
use crate::operand::{Cursor, Operand, Walk};
use crate::vector::{Float, Simd, Vector, fence};
use crate::{Lanes, Work};
use rung_math::Real;
use std::marker::PhantomData;

/// What an element costs; decides from which size threads help.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Cost {
    /// A few instructions: add, compare, sqrt.
    Light,
    /// An elementary function.
    Elementary,
}

impl Cost {
    pub(crate) fn work(self) -> Work {
        match self {
            Cost::Light => Work::Light,
            Cost::Elementary => Work::Elementary,
        }
    }
}

/// Elements gathered at a time when an operand is not contiguous: three blocks of f64 fit L1.
const BLOCK: usize = 512;

/// Runs shorter than this are gathered: a kernel call of its own costs about 10 ns.
const SHORT: usize = 64;

/// Bytes of operands and result from which a light function writes past the caches: at 36 MB
/// (1.5 M f64) add took 770 us so, against 1150 to 1630 with plain stores; at 18 MB it took 213
/// against 255, but the result would then have to come back from memory for its next reader.
const STREAM_BYTES: usize = 24 << 20;

/// The widest vector has this many lanes.
pub(crate) const MOST_LANES: usize = 16;

/// out = F(x), in row-major order of `shape`.
///
/// # Panics
/// When `out` has not as many elements as `shape`, or the operand leaves its slice.
pub fn map<F: Unary, T: Float>(
    lanes: &Lanes,
    cost: Cost,
    shape: &[usize],
    x: Operand<T>,
    out: &mut [T],
) {
    drive(lanes, F::COMPILED.runner(lanes.level()), cost, shape, [x], out);
}

/// out = F(a, b), in row-major order of `shape`.
///
/// # Panics
/// As `map`.
pub fn zip<F: Binary, T: Float>(
    lanes: &Lanes,
    cost: Cost,
    shape: &[usize],
    a: Operand<T>,
    b: Operand<T>,
    out: &mut [T],
) {
    drive(lanes, F::COMPILED.runner(lanes.level()), cost, shape, [a, b], out);
}

/// out = 1 where F(a, b) holds, else 0, in row-major order of `shape`.
///
/// # Panics
/// As `map`.
pub fn compare<F: Compare, T: Float>(
    lanes: &Lanes,
    shape: &[usize],
    a: Operand<T>,
    b: Operand<T>,
    out: &mut [T],
) {
    drive(lanes, F::COMPILED.runner(lanes.level()), Cost::Light, shape, [a, b], out);
}

/// out = F(a, b, c), in row-major order of `shape`.
///
/// # Panics
/// As `map`.
pub fn zip3<F: Ternary, T: Float>(
    lanes: &Lanes,
    cost: Cost,
    shape: &[usize],
    operands: [Operand<T>; 3],
    out: &mut [T],
) {
    drive(lanes, F::COMPILED.runner(lanes.level()), cost, shape, operands, out);
}

/// data = F(data), in place.
pub fn map_in_place<F: Unary, T: Float>(lanes: &Lanes, cost: Cost, data: &mut [T]) {
    let (start, shape) = (data.as_mut_ptr(), [data.len()]);
    let walk = Walk::new(&shape, [&[1]]);
    // SAFETY: one contiguous operand of exactly these elements; each is read before it is written.
    unsafe {
        drive_raw(
            lanes,
            F::COMPILED.runner(lanes.level()),
            cost,
            &walk,
            [start.cast_const()],
            start,
            shape[0],
        )
    }
}

/// A definition of `K` numbers, whatever its trait.
pub(crate) trait Kernel<const K: usize>: Copy + Send + Sync + 'static {
    fn at<R: Real>(x: [R; K]) -> R;
}

macro_rules! kernel {
    ($name:ident, $trait:ident, $k:literal, |$x:ident, $f:ident| $body:expr) => {
        #[derive(Clone, Copy)]
        pub(crate) struct $name<F>(PhantomData<F>);
        impl<$f: rung_math::$trait> Kernel<$k> for $name<$f> {
            #[inline(always)]
            fn at<R: Real>($x: [R; $k]) -> R {
                $body
            }
        }
    };
}
kernel!(Of1, Unary, 1, |x, F| F::at(x[0]));
kernel!(Of2, Binary, 2, |x, F| F::at(x[0], x[1]));
kernel!(Of3, Ternary, 3, |x, F| F::at(x[0], x[1], x[2]));
kernel!(Holds, Compare, 2, |x, F| {
    R::select(F::at(x[0], x[1]), R::constant(1.0), R::constant(0.0))
});

fn drive<T: Float, const K: usize>(
    lanes: &Lanes,
    runner: Runner<T, K>,
    cost: Cost,
    shape: &[usize],
    operands: [Operand<T>; K],
    out: &mut [T],
) {
    assert_eq!(shape.iter().product::<usize>(), out.len(), "cells of an element-wise result");
    let starts = operands.map(|operand| operand.start(shape));
    let walk = Walk::new(shape, operands.map(|operand| operand.strides));
    // SAFETY: the operands were checked against the shape, and the result has its size.
    unsafe { drive_raw(lanes, runner, cost, &walk, starts, out.as_mut_ptr(), out.len()) }
}

/// Whether so many operands of `size` elements and their result come from memory and go there.
pub(crate) fn is_far<T>(size: usize, operands: usize) -> bool {
    size * size_of::<T>() * (operands + 1) >= STREAM_BYTES
}

/// F over packed operands as long as the result, or of one number, on this thread: the element-wise
/// drivers without layouts to describe, which is most of a small call.
///
/// # Panics
/// When an operand has another length.
pub(crate) fn packed<T: Float, const K: usize>(
    runner: Runner<T, K>,
    operands: [&[T]; K],
    out: &mut [T],
) {
    let length = out.len();
    let mut repeated = [[T::default(); MOST_LANES]; K];
    let sources = std::array::from_fn(|k| match operands[k] {
        [number] if length != 1 => {
            repeated[k] = [*number; MOST_LANES];
            Source { from: repeated[k].as_ptr(), advance: false }
        }
        operand => {
            assert_eq!(operand.len(), length, "elements of a packed operand");
            Source { from: operand.as_ptr(), advance: true }
        }
    });
    // SAFETY: every source is as long as the result, or repeated over a whole vector.
    unsafe { runner(&Run { sources, out: out.as_mut_ptr(), length, stream: false }) };
}

/// Pointers that pieces share; they write disjoint ranges.
#[derive(Clone, Copy)]
struct Shared<T, const K: usize> {
    starts: [*const T; K],
    out: *mut T,
}

// SAFETY: reads are of shared slices, writes of disjoint ranges.
unsafe impl<T: Send + Sync, const K: usize> Sync for Shared<T, K> {}

impl<T, const K: usize> Shared<T, K> {
    fn parts(&self) -> ([*const T; K], *mut T) {
        (self.starts, self.out)
    }
}

/// # Safety
/// Every element of the walk is readable from its start, and `out` has room for `size`.
unsafe fn drive_raw<T: Float, const K: usize>(
    lanes: &Lanes,
    runner: Runner<T, K>,
    cost: Cost,
    walk: &Walk<K>,
    starts: [*const T; K],
    out: *mut T,
    size: usize,
) {
    if size == 0 {
        return;
    }
    let shared = Shared { starts, out };
    let stream = cost == Cost::Light && is_far::<T>(size, K);
    let pieces = lanes.pieces(cost.work(), size);
    let share = size.div_ceil(pieces).next_multiple_of(BLOCK);
    lanes.workers().run(size.div_ceil(share), &|piece| {
        let (starts, out) = shared.parts();
        let from = piece * share;
        let count = share.min(size - from);
        let mut walker = Walker::<T, K> { starts, cursor: walk.at(from), steps: walk.steps() };
        let mut done = 0;
        while done < count {
            let (sources, length) = walker.next(count - done);
            let out = out.wrapping_add(from + done);
            // SAFETY: the sources hold these elements, and this range of the result is ours.
            unsafe { runner(&Run { sources, out, length, stream }) };
            done += length;
        }
        if stream {
            fence();
        }
    });
}

/// A contiguous run, or one number repeated over a vector (`advance` false).
#[derive(Clone, Copy)]
pub struct Source<T> {
    pub(crate) from: *const T,
    pub(crate) advance: bool,
}

/// Turns the operands into sources, block by block.
struct Walker<'a, T, const K: usize> {
    starts: [*const T; K],
    cursor: Cursor<'a, K>,
    steps: [isize; K],
}

thread_local! {
    // Room for three gathered operands and their repeated numbers.
    static BLOCKS: std::cell::UnsafeCell<[[u64; BLOCK + MOST_LANES]; 3]> =
        const { std::cell::UnsafeCell::new([[0; BLOCK + MOST_LANES]; 3]) };
}

impl<T: Float, const K: usize> Walker<'_, T, K> {
    /// Sources for the next elements, at most `most`, and how many they are. They hold until the
    /// next call.
    fn next(&mut self, most: usize) -> ([Source<T>; K], usize) {
        let direct = self.steps.iter().all(|step| *step == 0 || *step == 1);
        let run = self.cursor.left().min(most);
        if direct && (run >= SHORT || run == most) {
            let sources = self.in_place();
            self.cursor.advance(run);
            return (sources, run);
        }
        let length = most.min(BLOCK);
        let rooms: [*mut T; K] = std::array::from_fn(block_room);
        let mut done = 0;
        while done < length {
            let count = self.cursor.left().min(length - done);
            for (k, room) in rooms.iter().enumerate() {
                let from = self.starts[k].wrapping_offset(self.cursor.offsets[k]);
                // SAFETY: the run lies inside the operand, and the room holds BLOCK elements.
                unsafe { gather(from, self.steps[k], count, room.add(done)) };
            }
            self.cursor.advance(count);
            done += count;
        }
        (rooms.map(|room| Source { from: room.cast_const(), advance: true }), length)
    }

    /// The current run where it lies; repeated numbers are spread over a vector.
    fn in_place(&self) -> [Source<T>; K] {
        std::array::from_fn(|k| {
            let from = self.starts[k].wrapping_offset(self.cursor.offsets[k]);
            if self.steps[k] == 1 {
                return Source { from, advance: true };
            }
            let room = block_room::<T>(k).wrapping_add(BLOCK);
            // SAFETY: one element is readable, and MOST_LANES stand behind the block.
            unsafe { gather(from, 0, MOST_LANES, room) };
            Source { from: room.cast_const(), advance: false }
        })
    }
}

/// This thread's block for operand `k`.
fn block_room<T>(k: usize) -> *mut T {
    BLOCKS.with(|blocks| blocks.get().cast::<[u64; BLOCK + MOST_LANES]>().wrapping_add(k).cast())
}

/// Copies `count` elements at stride `step` into `to`.
pub(crate) unsafe fn gather<T: Copy>(from: *const T, step: isize, count: usize, to: *mut T) {
    // SAFETY: the caller's promise about both ends.
    unsafe {
        match step {
            1 => std::ptr::copy_nonoverlapping(from, to, count),
            0 => {
                let number = *from;
                (0..count).for_each(|i| *to.add(i) = number);
            }
            _ => {
                for i in 0..count {
                    *to.add(i) = *from.wrapping_offset(i as isize * step);
                }
            }
        }
    }
}

/// One run of a kernel: `length` elements of each source, or a vector of it repeated, into `out`, which
/// may be one of them. They are readable and writable.
pub struct Run<T, const K: usize> {
    pub(crate) sources: [Source<T>; K],
    pub(crate) out: *mut T,
    pub(crate) length: usize,
    /// Writes past the caches; `fence` has to follow.
    pub(crate) stream: bool,
}

/// The code of kernel `F`; `LIGHT` says that it is a few instructions.
pub(crate) struct Block<F, const LIGHT: bool>(PhantomData<F>);

impl<F: Kernel<K>, T: Float, const K: usize, const LIGHT: bool> Entry<Run<T, K>>
    for Block<F, LIGHT>
{
    /// One text of the kernel for whole vectors and the part at the end, which is read and written
    /// beside its place: a kernel may be thousands of instructions, at three levels and two widths.
    #[inline(always)]
    unsafe fn run<S: Simd>(run: &Run<T, K>) {
        let lanes = T::Vector::<S>::LANES;
        let stream = run.stream && run.out.addr().is_multiple_of(lanes * size_of::<T>());
        let mut rooms = [[T::default(); MOST_LANES]; K];
        // SAFETY: the caller's promise; streamed stores are aligned.
        let mut i = match (LIGHT, stream) {
            (true, true) => unsafe { run.whole::<F, S, true>() },
            (true, false) => unsafe { run.whole::<F, S, false>() },
            (false, _) => 0,
        };
        while i < run.length {
            let count = run.length - i;
            // SAFETY: `count` elements are left in every source and the result; repeated sources
            // and rooms hold a whole vector; streamed stores are whole and aligned.
            unsafe {
                let mut from = run.sources.map(|source| source.at(i));
                if count < lanes {
                    from = aside::<S, T, K>(from, count, &mut rooms);
                }
                let y = F::at(from.map(|from| T::Vector::<S>::load(from)));
                let to = run.out.add(i);
                match (count < lanes, stream) {
                    (true, _) => y.store_part(to, count),
                    (false, true) => y.stream(to),
                    (false, false) => y.store(to),
                }
            }
            i += lanes;
        }
    }
}

impl<T> Source<T> {
    /// Where element `i` lies.
    #[inline(always)]
    fn at(self, i: usize) -> *const T {
        self.from.wrapping_add(if self.advance { i } else { 0 })
    }
}

/// Vectors of a light kernel between two tests for the end: with one, add of 10,000 f32 took 3.4 us.
const UNROLL: usize = 4;

impl<T: Float, const K: usize> Run<T, K> {
    /// As many vectors as stand in whole groups of `UNROLL`; returns how many elements they were.
    ///
    /// # Safety
    /// The sources are readable and the result is writable, streamed stores at its alignment.
    #[inline(always)]
    unsafe fn whole<F: Kernel<K>, S: Simd, const STREAM: bool>(&self) -> usize {
        let lanes = T::Vector::<S>::LANES;
        let group = UNROLL * lanes;
        let steps = self.sources.map(|source| if source.advance { lanes } else { 0 });
        let mut from = self.sources.map(|source| source.from);
        let whole = self.length / group * group;
        for i in (0..whole).step_by(group) {
            for vector in 0..UNROLL {
                // SAFETY: the group lies inside every source and the result; repeated sources hold
                // a whole vector; streamed stores are aligned, as the first one is.
                unsafe {
                    let y = F::at(from.map(|from| T::Vector::<S>::load(from)));
                    let to = self.out.add(i + vector * lanes);
                    if STREAM { y.stream(to) } else { y.store(to) }
                }
                for (from, step) in from.iter_mut().zip(steps) {
                    *from = from.wrapping_add(step);
                }
            }
        }
        whole
    }
}

/// Copies `count` elements of each source into a room that holds a whole vector.
///
/// # Safety
/// They are readable, and `count` is below a vector.
#[inline(always)]
unsafe fn aside<S: Simd, T: Float, const K: usize>(
    from: [*const T; K],
    count: usize,
    rooms: &mut [[T; MOST_LANES]; K],
) -> [*const T; K] {
    for (from, room) in from.iter().zip(rooms.iter_mut()) {
        // SAFETY: the caller's promise; a room has the lanes of any vector.
        unsafe { T::Vector::<S>::load_part(*from, count).store(room.as_mut_ptr()) };
    }
    std::array::from_fn(|k| rooms[k].as_ptr())
}
