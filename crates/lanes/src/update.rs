//! A step of `math::update` over arrays where they stand: one pass reads every array once and writes
//! what the step changes. Half widths go through single a block at a time, in L1.

use crate::level::{Loop, Task};
use crate::vector::{Float, Simd, Vector};
use crate::{Lanes, Level, Work};
use rung_base::{bf16, f16};
use rung_math::update::{Narrow, Own, ToBf16, ToF16, Update};
use std::marker::PhantomData;

/// Elements of a block at a half width: four arrays of single take 8 KiB of L1.
const BLOCK: usize = 512;

/// An array of a step.
pub enum Slot<'a, T> {
    /// One that it only reads.
    Read(&'a [T]),
    /// One that it changes.
    Write(&'a mut [T]),
}

impl<T> Slot<'_, T> {
    fn len(&self) -> usize {
        match self {
            Slot::Read(x) => x.len(),
            Slot::Write(x) => x.len(),
        }
    }
}

/// An element that steps change.
pub trait Updated: Copy + Default + Send + Sync {
    /// The step over `count` elements of each array.
    ///
    /// # Safety
    /// They are readable, and writable where the step writes; nothing else touches them.
    #[doc(hidden)]
    unsafe fn step<U: Update<K>, const K: usize>(
        level: Level,
        step: U,
        arrays: [*mut Self; K],
        count: usize,
    );
}

/// The arrays after a step, element by element.
///
/// # Panics
/// When lengths differ, or the slots are not those that the step reads and writes.
pub fn update<U: Update<K>, T: Updated, const K: usize>(
    lanes: &Lanes,
    step: U,
    arrays: [Slot<T>; K],
) {
    let size = arrays.first().map_or(0, Slot::len);
    assert!(arrays.iter().all(|array| array.len() == size), "lengths of a step's arrays");
    let written = std::array::from_fn(|k| matches!(arrays[k], Slot::Write(_)));
    assert_eq!(step.writes(), written, "the arrays that a step changes");
    let starts = Starts(arrays.map(|array| match array {
        Slot::Read(x) => x.as_ptr().cast_mut(),
        Slot::Write(x) => x.as_mut_ptr(),
    }));
    let pieces = lanes.pieces(Work::Light, size);
    let share = size.div_ceil(pieces).max(1).next_multiple_of(BLOCK);
    lanes.workers().run(size.div_ceil(share), &|piece| {
        let (from, starts) = (piece * share, &starts);
        let count = share.min(size - from);
        // SAFETY: pieces own distinct ranges of arrays that are borrowed for this call.
        unsafe { T::step(lanes.level(), step, starts.0.map(|x| x.wrapping_add(from)), count) };
    });
}

/// Where the arrays begin.
struct Starts<T, const K: usize>([*mut T; K]);

// SAFETY: pieces read and write disjoint ranges.
unsafe impl<T: Send + Sync, const K: usize> Sync for Starts<T, K> {}

macro_rules! wide {
    ($($t:ty),*) => {
        $(impl Updated for $t {
            unsafe fn step<U: Update<K>, const K: usize>(
                level: Level,
                step: U,
                arrays: [*mut $t; K],
                count: usize,
            ) {
                level.run(Range::<U, $t, Own, K> { step, arrays, count, width: PhantomData });
            }
        })*
    };
}
wide!(f32, f64);

macro_rules! half {
    ($($t:ty: $narrow:ty;)*) => {
        $(impl Updated for $t {
            unsafe fn step<U: Update<K>, const K: usize>(
                level: Level,
                step: U,
                arrays: [*mut $t; K],
                count: usize,
            ) {
                let mut rooms = [[0.0_f32; BLOCK]; K];
                for at in (0..count).step_by(BLOCK) {
                    let block = BLOCK.min(count - at);
                    let cells = |k: usize| arrays[k].wrapping_add(at);
                    level.run(Loop(|| {
                        for (k, room) in rooms.iter_mut().enumerate() {
                            // SAFETY: the caller's promise.
                            let from = unsafe { core::slice::from_raw_parts(cells(k), block) };
                            room.iter_mut().zip(from).for_each(|(x, half)| *x = half.to_f32());
                        }
                    }));
                    let arrays = std::array::from_fn(|k| rooms[k].as_mut_ptr());
                    let width = PhantomData::<$narrow>;
                    level.run(Range::<U, f32, $narrow, K> { step, arrays, count: block, width });
                    level.run(Loop(|| {
                        for (k, room) in rooms.iter().enumerate().filter(|(k, _)| step.writes()[*k]) {
                            // SAFETY: the caller's promise.
                            let to = unsafe { core::slice::from_raw_parts_mut(cells(k), block) };
                            to.iter_mut().zip(room).for_each(|(half, x)| *half = <$t>::from_f32(*x));
                        }
                    }));
                }
            }
        })*
    };
}
half! {
    bf16: ToBf16;
    f16: ToF16;
}

struct Range<U, T, W, const K: usize> {
    step: U,
    arrays: [*mut T; K],
    count: usize,
    width: PhantomData<W>,
}

impl<U: Update<K>, T: Float, W: Narrow, const K: usize> Task for Range<U, T, W, K> {
    type Output = ();

    #[inline(always)]
    fn run<S: Simd>(self) {
        let (lanes, writes) = (T::Vector::<S>::LANES, self.step.writes());
        let mut i = 0;
        while i < self.count {
            let count = self.count - i;
            let whole = count >= lanes;
            // SAFETY: `count` elements are left in every array.
            unsafe {
                let x = self.arrays.map(|from| match whole {
                    true => T::Vector::<S>::load(from.add(i)),
                    false => T::Vector::<S>::load_part(from.add(i), count),
                });
                let after = self.step.at::<T::Vector<S>, W>(x);
                for k in 0..K {
                    match (writes[k], whole) {
                        (false, _) => {}
                        (true, true) => after[k].store(self.arrays[k].add(i)),
                        (true, false) => after[k].store_part(self.arrays[k].add(i), count),
                    }
                }
            }
            i += lanes;
        }
    }
}
