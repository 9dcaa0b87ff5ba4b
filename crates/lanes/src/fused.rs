//! A chain of element-wise functions in one pass: a program in postfix order is run chunk by chunk, and
//! what lies between two functions stays in L1. Every step is rounded and stored at the element's
//! width, so the bits are those of the chain with whole arrays between. Nothing is simplified or
//! reordered here; which chains are worth it is the caller's knowledge.

use crate::compiled::{Compiled, Lanewise};
use crate::elementwise::{self, gather, is_far};
use crate::operand::{Operand, Walk};
use crate::vector::{Float, LINE, ask_for};
use crate::{Cost, Lanes, Level};
use smallvec::SmallVec;

/// Bytes of a chunk of an operand: four rooms fill L1.
const CHUNK_BYTES: usize = 8 << 10;

/// The same where the operands come from memory. Its prefetchers follow each operand only while the
/// others advance beside it: (a * b + c) / d over 1.5 M f64 took 4.3 ms with chunks of 8 KiB, 2.8 ms
/// with these; over 100,000, in L3, chunks of 8 KiB took 85 us, these 120.
const FAR_CHUNK_BYTES: usize = 2 << 10;

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
}

/// What the pieces share; they write disjoint ranges of `out`.
struct Shared<'a, T> {
    sources: &'a [Source<T>],
    program: &'a [Step],
    level: Level,
    out: *mut T,
    /// Elements of a chunk.
    chunk: usize,
    /// Whether the operands come from memory.
    far: bool,
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
    let depth = depth(program, operands.len());
    if out.is_empty() {
        return;
    }
    let source =
        |x: &Operand<T>| Source { start: x.start(shape), walk: Walk::new(shape, [x.strides]) };
    let sources: Vec<Source<T>> = operands.iter().map(source).collect();
    let size = out.len();
    let far = is_far::<T>(size, operands.len());
    let chunk = if far { FAR_CHUNK_BYTES } else { CHUNK_BYTES } / size_of::<T>();
    let (level, out, stream) = (lanes.level(), out.as_mut_ptr(), far && cost == Cost::Light);
    let shared = Shared { sources: &sources, program, level, out, chunk, far, stream };
    let share = size.div_ceil(lanes.pieces(cost.work(), size)).next_multiple_of(chunk);
    lanes.workers().run(size.div_ceil(share), &|piece| {
        let mut rooms = vec![T::default(); depth * chunk];
        let end = size.min((piece + 1) * share);
        for at in (piece * share..end).step_by(chunk) {
            // SAFETY: the range is this piece's own, and there is a room for every stack place.
            unsafe { shared.run(at, chunk.min(end - at), &mut rooms) };
        }
    });
}

/// Asks for the chunk after this one: while an operand is read, those of the others come.
fn ask_for_next<T>(from: *const T, count: usize) {
    for line in (0..count * size_of::<T>()).step_by(LINE) {
        ask_for(from.wrapping_add(count).wrapping_byte_add(line));
    }
}

/// The most places of the stack that the program uses.
fn depth(program: &[Step], operands: usize) -> usize {
    let (mut now, mut most) = (0_usize, 0);
    for step in program {
        now = match step.0 {
            Kind::Operand(k) if k >= operands => None,
            Kind::Again(place) if place >= now => None,
            Kind::Slide { keep, drop } => {
                now.checked_sub(drop).filter(|left| keep > 0 && *left >= keep)
            }
            _ => now.checked_sub(step.arity()).map(|rest| rest + 1),
        }
        .expect("a fused program reads an operand or argument that is not there");
        most = most.max(now);
    }
    assert_eq!(now, 1, "values that a fused program leaves");
    most
}

impl<T: Float> Shared<'_, T> {
    /// The program over `count` elements from `at` on.
    ///
    /// # Safety
    /// They lie inside `out`, `count` is at most a chunk, and `rooms` has a chunk for every
    /// place of the stack.
    unsafe fn run(&self, at: usize, count: usize, rooms: &mut [T]) {
        let rooms = rooms.as_mut_ptr();
        let out = self.out.wrapping_add(at);
        // Behind the last function nothing is computed, so that its value is the result.
        let last = self.program.iter().rposition(|step| step.arity() > 0);
        let mut stack: SmallVec<[*const T; 8]> = SmallVec::new();
        for (i, step) in self.program.iter().enumerate() {
            match step.0 {
                Kind::Operand(k) => {
                    let room = rooms.wrapping_add(stack.len() * self.chunk);
                    // SAFETY: the caller's promise; the operand was checked against the shape.
                    let from = unsafe { self.sources[k].read(at, count, room) };
                    if self.far && from != room.cast_const() {
                        ask_for_next(from, count);
                    }
                    stack.push(from);
                }
                Kind::Again(place) => stack.push(stack[place]),
                Kind::Slide { keep, drop } => {
                    // SAFETY: as above; every value of the stack holds `count` elements.
                    unsafe { self.slide(&mut stack, rooms, [keep, drop], count) };
                }
                _ => {
                    let base = stack.len() - step.arity();
                    let last = last == Some(i) && self.ends(i, base);
                    let to = if last { out } else { rooms.wrapping_add(base * self.chunk) };
                    let from = std::array::from_fn(|k| stack[(base + k).min(stack.len() - 1)]);
                    // SAFETY: every argument and the result hold `count` elements; a result may
                    // take the room of an argument, which is read before it is written.
                    unsafe { self.apply(*step, from, to, count, last && self.stream) };
                    stack.truncate(base);
                    stack.push(to.cast_const());
                }
            }
        }
        if stack[0] != out.cast_const() {
            // SAFETY: a program of one operand; it holds `count` elements.
            unsafe { std::ptr::copy(stack[0], out, count) };
        }
    }
}

impl<T: Float> Shared<'_, T> {
    /// Whether the value that step `i` leaves at a place of the stack is the program's: what lies
    /// below it is all that is taken away after it.
    fn ends(&self, i: usize, place: usize) -> bool {
        let mut below = place;
        for step in &self.program[i + 1..] {
            match step.0 {
                Kind::Slide { keep: 1, drop } => below = below.saturating_sub(drop),
                _ => return false,
            }
        }
        below == 0
    }

    /// Takes away the `drop` values under the upper `keep` ones, each of which ends up in a room of
    /// its own place or lies where no room is.
    ///
    /// # Safety
    /// As `run`; every value of the stack holds `count` elements.
    unsafe fn slide(
        &self,
        stack: &mut SmallVec<[*const T; 8]>,
        rooms: *mut T,
        [keep, drop]: [usize; 2],
        count: usize,
    ) {
        let top = stack.len();
        let (from, to) = (top - keep, top - keep - drop);
        let room = |place: usize| rooms.wrapping_add(place * self.chunk);
        // Rooms that others will be copied into, or that later values will take.
        let (first, end) = (room(to).cast_const(), room(top).cast_const());
        let passes = |x: *const T| x >= first && x < end;
        if keep > 1 {
            // A value may lie in a room that another one of them is copied into.
            for place in from..top {
                let (x, own) = (stack[place], room(place));
                if passes(x) && x != own.cast_const() {
                    // SAFETY: the caller's promise; no value above `from` lies in this room, for
                    // each there lies in its own or below.
                    unsafe { std::ptr::copy(x, own, count) };
                    stack[place] = own;
                }
            }
        }
        for place in 0..keep {
            let x = stack[from + place];
            if passes(x) && x != room(to + place).cast_const() {
                // SAFETY: the caller's promise; lower places are copied first, so that nothing is
                // written before it is read.
                unsafe { std::ptr::copy(x, room(to + place), count) };
                stack[to + place] = room(to + place);
            } else {
                stack[to + place] = x;
            }
        }
        stack.truncate(to + keep);
    }

    /// # Safety
    /// As `chunk`.
    unsafe fn apply(
        &self,
        step: Step,
        from: [*const T; 3],
        to: *mut T,
        count: usize,
        stream: bool,
    ) {
        // SAFETY: the caller's promise.
        unsafe {
            match step.0 {
                Kind::Operand(_) | Kind::Again(_) | Kind::Slide { .. } => {}
                Kind::One(f) => elementwise::chunk(self.level, f.runner(), from, to, count, stream),
                Kind::Two(f) => elementwise::chunk(self.level, f.runner(), from, to, count, stream),
                Kind::Three(f) => {
                    elementwise::chunk(self.level, f.runner(), from, to, count, stream)
                }
            }
        }
    }
}

impl<T: Float> Source<T> {
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
