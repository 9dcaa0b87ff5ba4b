//! Every operation of every vector against the scalar instances of `math`, on words that hurt.

use super::*;
use crate::level::{Level, Task};
use rung_math::{Bits, Mask, Real};
use std::num::Wrapping;

fn words() -> Vec<u64> {
    let mut words = vec![0, 1, 0x7FFF_FFFF, 0x8000_0000, 0xFFFF_FFFF, 0x3F80_0000, 0x7F80_0000];
    words.extend([0x7FC0_0000, 0xFF80_0000, 0x8000_0000_0000_0000, u64::MAX, 0x7FF0 << 48]);
    words.extend([0x3FF0 << 48, 0xBFF0 << 48, 0x7FF8 << 48, 0x000F << 48, 5 << 30]);
    let mut state = 42u64;
    for _ in 0..64 {
        state = state.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
        words.push(state ^ (state >> 31));
    }
    words
}

static TABLE: [u64; 8] = [1, 0xFFFF_FFFF_0000_0002, 3, 4, 5 << 40, 6, 7, u64::MAX];
/// The size that registers hold.
static SIXTEEN: [u64; 16] =
    [9, 8 << 33 | 1, 7, 6, 5, 4 << 60 | 2, 3, 2, 1, 0, 11, 12, u64::MAX, 14, 15, 1 << 63 | 16];

/// All results of one pair, as bits; masks show as 1 and 0.
fn results<R: Real>(a: R, b: R) -> Vec<R::Bits> {
    let one = |mask| R::Bits::select(mask, R::Bits::constant(1), R::Bits::constant(0));
    let (p, q) = (a.bits(), b.bits());
    let small = q & R::Bits::constant(R::WIDTH.bits() as u64 - 1);
    let none = R::Mask::constant(false);
    // NaNs of arithmetic are equal whatever their payload.
    let canonical = |x: R| R::select(x.is_nan(), R::canonical_nan(), x).bits();
    vec![
        canonical(a + b),
        canonical(a - b),
        canonical(a * b),
        canonical(a / b),
        canonical(a.sqrt()),
        (-a).bits(),
        a.abs().bits(),
        one(a.less(b)),
        one(a.less_equal(b)),
        one(a.equal(b).or(a.is_nan())),
        one(a.less(b).not().and(b.less(a).not())),
        R::select(a.less(b), a, b).bits(),
        R::rare(a.less(b), a, || b).bits(),
        R::rare(none, a, || b).bits(),
        R::Bits::constant(R::any(none) as u64 + R::any(none.not()) as u64),
        p + q,
        p - q,
        p * q,
        p & q,
        p | q,
        p ^ q,
        !p,
        p.shift_left(7),
        p.shift_right(9),
        p.shift_right_signed(11),
        p.shift_left_by(small),
        p.shift_right_by(small),
        one(p.less(q)),
        one(p.equal(q)),
        p.high_product(q),
        p.lookup(&TABLE),
        p.lookup(&SIXTEEN),
    ]
}

struct Check<T>(Vec<T>);

impl<T: Float> Task for Check<T> {
    type Output = ();
    #[inline(always)]
    fn run<S: Simd>(self) {
        let lanes = T::Vector::<S>::LANES;
        let mut store = vec![T::default(); lanes];
        for a in self.0.windows(lanes) {
            for b in self.0.windows(lanes).step_by(3) {
                // SAFETY: the windows hold as many elements as the vector.
                let (x, y) =
                    unsafe { (T::Vector::<S>::load(a.as_ptr()), Vector::load(b.as_ptr())) };
                let got = results(x, y);
                let want: Vec<Vec<_>> = (0..lanes).map(|i| results(a[i], b[i])).collect();
                for (operation, got) in got.into_iter().enumerate() {
                    // SAFETY: `store` holds as many elements as the vector.
                    unsafe { T::Vector::<S>::from_bits(got).store(store.as_mut_ptr()) };
                    for i in 0..lanes {
                        let want = T::from_bits(want[i][operation]);
                        let same = one_bit_pattern(store[i]) == one_bit_pattern(want);
                        assert!(same, "operation {operation} of {:?} and {:?}", a[i], b[i]);
                    }
                }
            }
        }
    }
}

fn one_bit_pattern<T: Float>(x: T) -> [u8; 8] {
    let mut bytes = [0; 8];
    bytes[..size_of::<T>()].copy_from_slice(bytemuck::bytes_of(&x));
    bytes
}

#[test]
fn every_vector_operation_equals_the_scalar_one() {
    let words = words();
    for level in Level::available() {
        level.run(Check(words.iter().map(|&w| <f64 as Real>::from_bits(Wrapping(w))).collect()));
        level.run(Check(
            words.iter().map(|&w| <f32 as Real>::from_bits(Wrapping(w as u32))).collect(),
        ));
    }
}

struct Parts<T>(std::marker::PhantomData<T>);

impl<T: Float> Task for Parts<T> {
    type Output = ();
    #[inline(always)]
    fn run<S: Simd>(self) {
        let lanes = T::Vector::<S>::LANES;
        for count in 0..=lanes {
            let from: Vec<T> = (0..count).map(|i| T::narrowed(i as f64 + 1.0)).collect();
            let mut to = vec![T::narrowed(-1.0); lanes];
            // SAFETY: exactly `count` elements are read and written.
            unsafe { T::Vector::<S>::load_part(from.as_ptr(), count).store(to.as_mut_ptr()) };
            assert!(to[..count] == from[..] && to[count..].iter().all(|x| *x == T::default()));
            to.fill(T::narrowed(-1.0));
            let nine = T::Vector::<S>::splat(T::narrowed(9.0));
            // SAFETY: as above.
            unsafe { nine.store_part(to.as_mut_ptr(), count) };
            let untouched = to.iter().filter(|x| **x == T::narrowed(-1.0)).count();
            assert_eq!(untouched, lanes - count);
        }
        let (a, b, c) = (T::narrowed(1.0 + 2f64.powi(-12)), T::narrowed(-1.0), T::narrowed(1.5));
        let v = T::Vector::<S>::splat(a).fused(T::Vector::<S>::splat(a), T::Vector::splat(b));
        let mut to = vec![c; lanes];
        // SAFETY: `to` holds as many elements as the vector.
        unsafe { v.store(to.as_mut_ptr()) };
        assert!(to.iter().all(|x| *x == rung_math::product::Fused::fused(a, a, b)));
    }
}

#[test]
fn parts_touch_only_their_lanes_and_fused_rounds_once() {
    for level in Level::available() {
        level.run(Parts::<f32>(std::marker::PhantomData));
        level.run(Parts::<f64>(std::marker::PhantomData));
    }
}

struct Picks<T>(Vec<T>);

impl<T: Float> Task for Picks<T> {
    type Output = ();
    #[inline(always)]
    fn run<S: Simd>(self) {
        let lanes = T::Vector::<S>::LANES;
        let (zero, one) = (T::Vector::<S>::constant(0.0), T::Vector::<S>::constant(1.0));
        for a in self.0.windows(lanes) {
            for b in self.0.windows(lanes).step_by(5) {
                // SAFETY: the windows hold as many elements as the vector.
                let (x, y) =
                    unsafe { (T::Vector::<S>::load(a.as_ptr()), Vector::load(b.as_ptr())) };
                let ordered = T::Vector::<S>::select(x.ordered(y), one, zero);
                let mut got = [[T::default(); 16]; 3];
                for (got, v) in got.iter_mut().zip([x.larger(y), x.smaller(y), ordered]) {
                    // SAFETY: the widest vector has 16 lanes.
                    unsafe { v.store(got.as_mut_ptr()) };
                }
                for i in 0..lanes {
                    let (a, b) = (a[i], b[i]);
                    let want = [
                        if a > b { a } else { b },
                        if a < b { a } else { b },
                        T::narrowed(a.partial_cmp(&b).is_some() as u8 as f64),
                    ];
                    for (got, want) in got.iter().zip(want) {
                        assert_eq!(one_bit_pattern(got[i]), one_bit_pattern(want), "{a:?} {b:?}");
                    }
                }
                // Unsigned words: the smaller, then the larger.
                let (p, q) = (x.bits().smaller(y.bits()), x.bits().larger(y.bits()));
                for (v, less) in [(p, true), (q, false)] {
                    // SAFETY: the widest vector has 16 lanes.
                    unsafe { T::Vector::<S>::from_bits(v).store(got[0].as_mut_ptr()) };
                    for i in 0..lanes {
                        let (a, b) = (one_bit_pattern(a[i]), one_bit_pattern(b[i]));
                        let smaller = u64::from_le_bytes(a) < u64::from_le_bytes(b);
                        let want = if smaller == less { a } else { b };
                        assert_eq!(one_bit_pattern(got[0][i]), want);
                    }
                }
                let first = a.iter().zip(b).position(|(a, b)| a < b).unwrap_or(lanes);
                assert_eq!(T::Vector::<S>::first(x.less(y)), first);
            }
        }
    }
}

#[test]
fn extremes_take_the_second_where_neither_wins_and_first_finds_a_lane() {
    let words = words();
    for level in Level::available() {
        level.run(Picks(words.iter().map(|&w| f64::from_bits(w)).collect()));
        level.run(Picks(words.iter().map(|&w| f32::from_bits(w as u32)).collect()));
    }
}
