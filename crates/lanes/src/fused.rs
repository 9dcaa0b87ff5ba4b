//! A chain of element-wise functions in one pass: a program in postfix order is run chunk by chunk, and
//! what lies between two functions stays in L1. Every step is rounded and stored at the element's
//! width, so the bits are those of the chain with whole arrays between. Nothing is simplified or
//! reordered here; which chains are worth it is the caller's knowledge.

use crate::compiled::{Compiled, Lanewise, Runner};
use crate::elementwise::{self, MOST_LANES, Run, gather, is_far};
use crate::operand::{Operand, Walk};
use crate::vector::{Float, fence};
use crate::{Cost, Lanes, Level};
use plan::{Place, Plan};
use smallvec::SmallVec;
use std::ptr::null_mut;

mod plan;

/// Bytes of a chunk of an operand: four rooms fill L1.
const CHUNK_BYTES: usize = 8 << 10;

/// The same where the operands come from memory: its prefetchers follow an operand only while the
/// others advance beside it. A loop of (a b + c) / d over 1.5 M f64 took 2.2 ms in one pass or with
/// chunks of 512 bytes, 4.4 ms with 2 KiB.
const FAR_CHUNK_BYTES: usize = 512;

/// One step of a program: an operand or a value that is there already is put on the stack, a function
/// takes its arguments from there, the last one on top, and leaves its result, or values are taken
/// away from under others.
#[derive(Clone, Copy)]
pub struct Step(Kind);

#[derive(Clone, Copy)]
enum Kind {
    Operand(usize),
    One(&'static Compiled<1>),
    Two(&'static Compiled<2>),
    Three(&'static Compiled<3>),
    Again(usize),
    Slide { keep: usize, drop: usize },
}

impl Step {
    /// Operand number `k`.
    pub const fn operand(k: usize) -> Step {
        Step(Kind::Operand(k))
    }

    /// A function of one number.
    pub const fn one<F: Lanewise<1>>() -> Step {
        Step(Kind::One(F::COMPILED))
    }

    /// A function of two numbers; of a relation, 1 where it holds, else 0.
    pub const fn two<F: Lanewise<2>>() -> Step {
        Step(Kind::Two(F::COMPILED))
    }

    /// A function of three numbers.
    pub const fn three<F: Lanewise<3>>() -> Step {
        Step(Kind::Three(F::COMPILED))
    }

    /// The value at this place of the stack, counted from its bottom.
    pub const fn again(place: usize) -> Step {
        Step(Kind::Again(place))
    }

    /// Takes away the `drop` values under the upper `keep` ones.
    pub const fn slide(keep: usize, drop: usize) -> Step {
        Step(Kind::Slide { keep, drop })
    }

    /// How many values a function takes from the stack.
    const fn arity(self) -> usize {
        match self.0 {
            Kind::Operand(_) | Kind::Again(_) | Kind::Slide { .. } => 0,
            Kind::One(_) => 1,
            Kind::Two(_) => 2,
            Kind::Three(_) => 3,
        }
    }
}

/// An operand and how it is walked.
struct Source<T> {
    start: *const T,
    walk: Walk<1>,
    lies: Lies,
}

/// How an operand gets into a chunk.
#[derive(Clone, Copy, PartialEq)]
enum Lies {
    /// Packed: a chunk is where it lies.
    Packed,
    /// One number throughout.
    Repeated,
    /// Gathered, where a run does not cover a chunk.
    Strided,
}

/// What the pieces share; they write disjoint ranges of `out`.
struct Shared<'a, T> {
    sources: &'a [Source<T>],
    plan: Plan,
    level: Level,
    out: *mut T,
    /// Elements of a chunk.
    chunk: usize,
    /// Whether the result is written past the caches.
    stream: bool,
}

// SAFETY: reads are of shared slices, writes of disjoint ranges.
unsafe impl<T: Send + Sync> Sync for Shared<'_, T> {}

/// out = the program's value over the operands, in row-major order of `shape`.
///
/// # Panics
/// When `out` has not as many elements as `shape`, an operand leaves its slice, or the program does
/// not leave one value.
pub fn fused<T: Float>(
    lanes: &Lanes,
    cost: Cost,
    shape: &[usize],
    program: &[Step],
    operands: &[Operand<T>],
    out: &mut [T],
) {
    assert_eq!(shape.iter().product::<usize>(), out.len(), "cells of a fused result");
    let plan = Plan::of(program, operands.len());
    if out.is_empty() {
        return;
    }
    let sources: SmallVec<[Source<T>; 8]> =
        operands.iter().map(|x| Source::new(x, shape)).collect();
    let size = out.len();
    let far = is_far::<T>(size, operands.len());
    let chunk = if far { FAR_CHUNK_BYTES } else { CHUNK_BYTES } / size_of::<T>();
    let (level, out, stream) = (lanes.level(), out.as_mut_ptr(), far && cost == Cost::Light);
    let shared = Shared { sources: &sources, plan, level, out, chunk, stream };
    let share = size.div_ceil(lanes.pieces(cost.work(), size)).next_multiple_of(chunk);
    lanes.workers().run(size.div_ceil(share), &|piece| {
        // SAFETY: the ranges of the pieces are disjoint and lie inside the result.
        unsafe { shared.piece(piece * share, size.min((piece + 1) * share)) };
    });
}

/// What a thread runs a chunk with.
struct Chunk<T> {
    /// The operands, the rooms of the plan and the result, where they lie for this chunk.
    places: SmallVec<[elementwise::Source<T>; 12]>,
    calls: SmallVec<[Ready<T>; 8]>,
    /// Where each operand is gathered, in `space`.
    gathered: SmallVec<[*mut T; 8]>,
    /// What the places of rooms and gathered operands point to.
    _space: Vec<T>,
}

/// A call of the plan with its code: the numbers of the places it reads and writes.
struct Ready<T> {
    code: Code<T>,
    from: [usize; 3],
    to: usize,
}

#[derive(Clone, Copy)]
enum Code<T> {
    One(Runner<T, 1>),
    Two(Runner<T, 2>),
    Three(Runner<T, 3>),
}

impl<T: Float> Shared<'_, T> {
    /// The program over the elements `from..end`.
    ///
    /// # Safety
    /// They lie inside `out` and are this thread's own.
    unsafe fn piece(&self, from: usize, end: usize) {
        let mut chunk = self.chunk();
        for at in (from..end).step_by(self.chunk) {
            let count = self.chunk.min(end - at);
            // SAFETY: the caller's promise.
            unsafe {
                self.read(at, count, &mut chunk);
                self.run(at, count, &chunk);
            }
        }
        if self.stream {
            fence();
        }
    }

    /// Every place, those of packed operands and of the result open; repeated numbers are spread over
    /// a vector.
    fn chunk(&self) -> Chunk<T> {
        let apart = self.sources.iter().filter(|source| source.lies != Lies::Packed).count();
        let mut space = vec![T::default(); (apart + self.plan.rooms) * self.chunk];
        let mut rooms = space.chunks_exact_mut(self.chunk).map(|room| room.as_mut_ptr());
        let (mut places, mut gathered) = (SmallVec::new(), SmallVec::new());
        for source in self.sources {
            let room = if source.lies == Lies::Packed { None } else { rooms.next() };
            let (room, advance) = (room.unwrap_or(null_mut()), source.lies != Lies::Repeated);
            if !advance {
                // SAFETY: the number is readable, as every element of an operand, and its room has
                // as many elements as a vector.
                unsafe { gather(source.start, 0, MOST_LANES, room) };
            }
            gathered.push(room);
            places.push(elementwise::Source { from: room.cast_const(), advance });
        }
        let place = |from: *mut T| elementwise::Source { from: from.cast_const(), advance: true };
        places.extend(rooms.chain([self.out]).map(place));
        let calls = self.plan.calls.iter().filter_map(|call| self.ready(call)).collect();
        Chunk { places, calls, gathered, _space: space }
    }

    fn ready(&self, call: &plan::Call) -> Option<Ready<T>> {
        let code = match call.step.0 {
            Kind::One(f) => Code::One(f.runner(self.level)),
            Kind::Two(f) => Code::Two(f.runner(self.level)),
            Kind::Three(f) => Code::Three(f.runner(self.level)),
            Kind::Operand(_) | Kind::Again(_) | Kind::Slide { .. } => return None,
        };
        let number = |place: Place| place.number(self.sources.len(), self.plan.rooms);
        Some(Ready { code, from: call.from.map(number), to: number(call.to) })
    }

    /// Points the places of operands and result to `count` elements from row-major position `at`.
    ///
    /// # Safety
    /// They lie inside the result, and are at most a chunk.
    #[inline]
    unsafe fn read(&self, at: usize, count: usize, chunk: &mut Chunk<T>) {
        let rooms = self.sources.iter().zip(&chunk.gathered);
        for ((source, room), place) in rooms.zip(&mut chunk.places) {
            match source.lies {
                Lies::Packed => place.from = source.start.wrapping_add(at),
                Lies::Repeated => {}
                Lies::Strided => {
                    // SAFETY: the caller's promise; every operand that is not packed has a room.
                    place.from = unsafe { source.read(at, count, *room) };
                }
            }
        }
        if let Some(out) = chunk.places.last_mut() {
            out.from = self.out.wrapping_add(at);
        }
    }

    /// The program over `count` elements from `at` on.
    ///
    /// # Safety
    /// They lie inside `out`, and the places of the chunk are theirs.
    #[inline]
    unsafe fn run(&self, at: usize, count: usize, chunk: &Chunk<T>) {
        for (i, call) in chunk.calls.iter().enumerate() {
            let [a, b, c] = call.from.map(|place| chunk.places[place]);
            let out = chunk.places[call.to].from.cast_mut();
            let (length, stream) = (count, self.stream && i + 1 == chunk.calls.len());
            // SAFETY: every argument and the result hold `count` elements; a result may take the
            // room of an argument, which is read before it is written.
            unsafe {
                match call.code {
                    Code::One(f) => f(&Run { sources: [a], out, length, stream }),
                    Code::Two(f) => f(&Run { sources: [a, b], out, length, stream }),
                    Code::Three(f) => f(&Run { sources: [a, b, c], out, length, stream }),
                }
            }
        }
        if let Some(k) = self.plan.copied {
            let source = chunk.places[k];
            // SAFETY: the operand holds `count` elements, or a repeated one.
            unsafe { gather(source.from, source.advance as isize, count, self.out.add(at)) };
        }
    }
}

impl<T: Float> Source<T> {
    fn new(operand: &Operand<T>, shape: &[usize]) -> Source<T> {
        let walk = Walk::new(shape, [operand.strides]);
        let lies = match walk.axes() {
            [(_, [1])] => Lies::Packed,
            [(_, [0])] => Lies::Repeated,
            _ => Lies::Strided,
        };
        Source { start: operand.start(shape), walk, lies }
    }

    /// `count` elements from row-major position `at`: where they lie, or gathered into `room`.
    ///
    /// # Safety
    /// They lie inside the operand, and `room` has space for them.
    unsafe fn read(&self, at: usize, count: usize, room: *mut T) -> *const T {
        let mut cursor = self.walk.at(at);
        let step = self.walk.steps()[0];
        if step == 1 && cursor.left() >= count {
            return self.start.wrapping_offset(cursor.offsets[0]);
        }
        let mut done = 0;
        while done < count {
            let length = cursor.left().min(count - done);
            let from = self.start.wrapping_offset(cursor.offsets[0]);
            // SAFETY: the caller's promise.
            unsafe { gather(from, step, length, room.add(done)) };
            cursor.advance(length);
            done += length;
        }
        room
    }
}
