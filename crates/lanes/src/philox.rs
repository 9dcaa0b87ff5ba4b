//! Fills from the counter-based generator, with the bits of `math::philox`: a block in each lane.
//!
//! The words of as many blocks as a vector has 32-bit lanes are made at once and laid out in their
//! order; uniform numbers are conversions of them, normal ones go through the same logarithm,
//! cosine and sine as everything else, a vector at a time.

use crate::level::Task;
use crate::share::Cells;
use crate::vector::{Float, Simd, Vector};
use crate::{Lanes, Work};
use rung_math::philox::{Drawn, Fill, MULTIPLIERS, ROUNDS, STEPS, State, normal};
use rung_math::{Bits, Real};

/// The most words that are made at once: four of sixteen blocks.
const WORDS: usize = 64;

/// The next `out.len()` elements; returns the state after them.
pub fn fill<T: Float + Drawn>(lanes: &Lanes, fill: Fill, state: State, out: &mut [T]) -> State {
    let (size, start) = (out.len(), fill.start::<T>(state));
    let pieces = lanes.pieces(Work::Fill, size);
    let share = size.div_ceil(pieces).max(1).next_multiple_of(WORDS);
    let out = Cells::new(out);
    lanes.workers().run(size.div_ceil(share), &|piece| {
        let from = piece * share;
        let offset = start.offset.wrapping_add(from as u64 * T::WORDS);
        let state = State { offset, ..start };
        lanes.level().run(Range { fill, state, out: out.at(from), count: share.min(size - from) });
    });
    fill.after::<T>(state, size as u64)
}

struct Range<T> {
    fill: Fill,
    state: State,
    out: *mut T,
    count: usize,
}

type Words<S> = <<S as Simd>::F32 as Real>::Bits;

impl<T: Float + Drawn> Task for Range<T> {
    type Output = ();

    #[inline(always)]
    fn run<S: Simd>(self) {
        let (mut block, mut skip) = (self.state.offset / 4, (self.state.offset % 4) as usize);
        let mut done = 0;
        while done < self.count {
            let words = self.words::<S>(block);
            let numbers = (4 * S::F32::LANES - skip) / T::WORDS as usize;
            let mut uniform = [T::default(); WORDS];
            for (i, number) in uniform.iter_mut().enumerate().take(numbers) {
                let mut at = skip + i * T::WORDS as usize;
                *number = T::uniform(|| {
                    at += 1;
                    words[at - 1]
                });
            }
            if self.fill == Fill::Normal {
                normals::<S, T>(&mut uniform, numbers);
            }
            let count = numbers.min(self.count - done);
            // SAFETY: this range owns its cells.
            unsafe { std::ptr::copy_nonoverlapping(uniform.as_ptr(), self.out.add(done), count) };
            done += numbers;
            block = block.wrapping_add(S::F32::LANES as u64);
            skip = 0;
        }
    }
}

impl<T> Range<T> {
    /// The words of as many blocks as there are lanes, in order.
    #[inline(always)]
    fn words<S: Simd>(&self, block: u64) -> [u32; WORDS] {
        let lanes = S::F32::LANES;
        let constant = |word: u32| Words::<S>::constant(u64::from(word));
        // The offset counts words and wraps, so that blocks wrap after a quarter of its range.
        let block = |lane: usize| block.wrapping_add(lane as u64) & (u64::MAX >> 2);
        let counters: [[u32; 16]; 2] = [
            std::array::from_fn(|lane| block(lane) as u32),
            std::array::from_fn(|lane| (block(lane) >> 32) as u32),
        ];
        // SAFETY: the widest vector has sixteen lanes.
        let load = |from: &[u32; 16]| unsafe { S::F32::load(from.as_ptr().cast()).bits() };
        let (mut c0, mut c1) = (load(&counters[0]), load(&counters[1]));
        let mut c2 = constant(self.state.stream as u32);
        let mut c3 = constant((self.state.stream >> 32) as u32);
        let (m0, m1) = (constant(MULTIPLIERS[0]), constant(MULTIPLIERS[1]));
        let mut key = [self.state.key as u32, (self.state.key >> 32) as u32];
        for _ in 0..ROUNDS {
            let (high0, low0) = (c0.high_product(m0), c0 * m0);
            let (high1, low1) = (c2.high_product(m1), c2 * m1);
            (c0, c2) = (high1 ^ c1 ^ constant(key[0]), high0 ^ c3 ^ constant(key[1]));
            (c1, c3) = (low1, low0);
            key = [key[0].wrapping_add(STEPS[0]), key[1].wrapping_add(STEPS[1])];
        }
        let (mut stored, mut words) = ([[0u32; 16]; 4], [0; WORDS]);
        for (to, word) in stored.iter_mut().zip([c0, c1, c2, c3]) {
            // SAFETY: as above.
            unsafe { S::F32::from_bits(word).store(to.as_mut_ptr().cast()) };
        }
        for lane in 0..lanes {
            for (word, stored) in stored.iter().enumerate() {
                words[4 * lane + word] = stored[lane];
            }
        }
        words
    }
}

/// Pairs of uniform numbers become pairs of normal ones.
#[inline(always)]
fn normals<S: Simd, T: Float>(numbers: &mut [T; WORDS], count: usize) {
    let lanes = T::Vector::<S>::LANES;
    for from in (0..count).step_by(2 * lanes) {
        let (mut first, mut second) = ([T::default(); 16], [T::default(); 16]);
        for lane in 0..lanes {
            (first[lane], second[lane]) =
                (numbers[(from + 2 * lane) % WORDS], numbers[(from + 2 * lane + 1) % WORDS]);
        }
        // SAFETY: the widest vector has sixteen lanes.
        unsafe {
            let (u1, u2) =
                (T::Vector::<S>::load(first.as_ptr()), T::Vector::<S>::load(second.as_ptr()));
            let [cosine, sine] = normal(u1, u2);
            cosine.store(first.as_mut_ptr());
            sine.store(second.as_mut_ptr());
        }
        for lane in 0..lanes.min((count - from) / 2) {
            numbers[from + 2 * lane] = first[lane];
            numbers[from + 2 * lane + 1] = second[lane];
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::level::Level;

    fn check<T: Float + Drawn>(lanes: &Lanes, kind: Fill, state: State, size: usize) {
        let mut out = vec![T::default(); size];
        let after = fill(lanes, kind, state, &mut out);
        for (i, got) in out.iter().enumerate() {
            let want = kind.element::<T>(state, i as u64);
            assert!(
                *got == want,
                "{kind:?} {state:?} element {i} of {size}: {got:?}, not {want:?}"
            );
        }
        assert_eq!(after, kind.after::<T>(state, size as u64));
    }

    #[test]
    fn every_fill_has_the_words_of_the_definition() {
        for level in Level::available() {
            for threads in [1, 2, 3] {
                let lanes = Lanes::with(level, threads);
                for size in [0, 1, 2, 3, 31, 32, 33, 64, 129, 20_001] {
                    for offset in [0, 1, 2, 3, 7, (1 << 34) - 5, u64::MAX - 20] {
                        if size > 129 && offset > 7 {
                            continue;
                        }
                        let state = State { key: 1 << 60 | 9, stream: 3 << 33 | 1, offset };
                        for kind in [Fill::Uniform, Fill::Normal] {
                            check::<f32>(&lanes, kind, state, size);
                            check::<f64>(&lanes, kind, state, size);
                        }
                    }
                }
            }
        }
    }
}
