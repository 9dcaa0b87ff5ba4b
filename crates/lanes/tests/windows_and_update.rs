//! Windows over planes and steps in place against their definitions, at every level, over sizes that
//! threads share.

use rung_base::{Element, bf16, f16};
use rung_lanes::update::{Slot, Updated, update};
use rung_lanes::windows as drivers;
use rung_lanes::{Float, Lanes, Level, Operand};
use rung_math::Real;
use rung_math::accumulate::Accumulate;
use rung_math::update::{Adam, Axpy, Decay, Narrow, Own, Scale, Sgd, ToBf16, ToF16, Update};
use rung_math::windows::{self, Axis, Windows};

fn numbers(seed: usize, count: usize) -> Vec<f64> {
    let hurting = [0.0, -0.0, f64::NAN, f64::INFINITY, 1e-310, -1e300, 1e-42, 6e-8, -3e-5];
    let at = |i: usize| {
        let pick = (i * 2654435761 + seed * 977) % 1009;
        hurting.get(pick).copied().unwrap_or(pick as f64 * 0.01 - 5.0)
    };
    (0..count).map(at).collect()
}

fn each_way(mut check: impl FnMut(&Lanes, &str)) {
    for level in Level::available() {
        for threads in [1, 2, 3] {
            check(&Lanes::with(level, threads), &format!("{level:?}, {threads} threads"));
        }
    }
}

fn bits<T: Float>(list: &[T]) -> Vec<Option<u64>> {
    list.iter().map(|x| (!x.wide().is_nan()).then(|| x.wide().to_bits())).collect()
}

/// Extents, window, stride, pad and dilation.
type Case = ([usize; 4], [usize; 2], [usize; 2], [usize; 2], usize);
const CASES: [Case; 8] = [
    ([1, 1, 1, 1], [1, 1], [1, 1], [0, 0], 1),
    ([2, 3, 5, 7], [3, 2], [2, 1], [1, 1], 1),
    ([1, 2, 7, 9], [2, 2], [3, 4], [1, 0], 1),
    ([2, 1, 9, 8], [3, 2], [2, 2], [1, 0], 3),
    ([3, 0, 4, 4], [2, 2], [1, 1], [1, 1], 1),
    ([3, 5, 41, 67], [3, 3], [1, 1], [1, 1], 1),
    ([1, 7, 60, 131], [2, 3], [2, 2], [1, 0], 1),
    ([2, 2, 70, 69], [9, 8], [3, 1], [4, 4], 1),
];

fn windows_of(([batch, channels, height, width], taps, stride, pad, dilation): Case) -> Windows {
    let axis = |extent, i: usize| Axis::new(extent, taps[i], stride[i], pad[i], dilation).unwrap();
    Windows { batch, channels, down: axis(height, 0), across: axis(width, 1) }
}

/// The elements at an index, for planes that lie transposed and backwards.
fn turned(w: &Windows) -> (usize, [isize; 4]) {
    let [c, h, width] = [w.channels, w.down.extent, w.across.extent].map(|n| n as isize);
    let offset = if h > 0 { h - 1 } else { 0 };
    (offset as usize, [c * h * width, h * width, -1, h])
}

fn at<T: Copy>(x: &[T], (offset, strides): (usize, [isize; 4])) -> impl Fn([usize; 4]) -> T {
    move |index| {
        let steps: isize = index.iter().zip(strides).map(|(&i, s)| i as isize * s).sum();
        x[(offset as isize + steps) as usize]
    }
}

#[test]
fn columns_and_their_adjoint_are_those_of_the_definition() {
    each_way(|lanes, name| {
        for case in CASES {
            let w = windows_of(case);
            let x = numbers(1, case.0.iter().product());
            let place = turned(&w);
            let size = w.batch * w.windows() * w.channels * w.taps();
            let (mut got, mut want) = (vec![9.0; size], vec![0.0; size]);
            windows::columns(&w, at(&x, place), &mut want);
            drivers::columns(lanes, &w, Operand::new(&x, place.0, &place.1), &mut got);
            assert_eq!(bits(&got), bits(&want), "columns of {case:?}, {name}");
            let halves: Vec<bf16> = numbers(2, size).into_iter().map(bf16::from_f64).collect();
            adjoint(lanes, &w, &numbers(3, size), |x| x / 3.0);
            adjoint(lanes, &w, &halves, |x| x);
        }
    });
}

fn adjoint<T: Element + Accumulate>(lanes: &Lanes, w: &Windows, columns: &[T], term: fn(T) -> T) {
    let extents = [w.down.count, w.across.count, w.channels, w.down.taps, w.across.taps];
    let strides: [isize; 6] = std::array::from_fn(|k| extents[k..].iter().product::<usize>() as _);
    let column = |index: [usize; 6]| {
        let steps: isize = index.iter().zip(strides).map(|(&i, s)| i as isize * s).sum();
        term(columns[steps as usize])
    };
    let size = w.planes() * w.plane();
    let (mut got, mut want) = (vec![T::default(); size], vec![T::default(); size]);
    windows::planes(w, column, &mut want);
    drivers::planes(lanes, w, Operand::new(columns, 0, &strides), term, &mut got);
    let bytes = |list: &[T]| format!("{list:?}");
    assert_eq!(bytes(&got), bytes(&want), "{w:?}");
}

#[test]
fn pools_are_those_of_the_definition() {
    each_way(|lanes, name| {
        for case in CASES {
            let note = format!("{case:?}, {name}");
            pools::<f32>(lanes, &windows_of(case), &note);
            pools::<f64>(lanes, &windows_of(case), &note);
        }
    });
    // More elements than a chunk of a fold has.
    let w = windows_of(([1, 1, 66, 70], [65, 66], [1, 2], [2, 0], 1));
    pools::<f32>(&Lanes::new(1), &w, "a large window");
}

fn pools<T: Float + Real<Mask = bool>>(lanes: &Lanes, w: &Windows, note: &str) {
    let x = numbers(4, w.planes() * w.plane());
    let x: Vec<T> = x.into_iter().map(T::narrowed).collect();
    let (place, size) = (turned(w), w.planes() * w.windows());
    let (mut got, mut want) = (vec![T::default(); size], vec![T::default(); size]);
    let (mut places, mut positions) = (vec![-1; size], vec![-1; size]);
    windows::largest(w, at(&x, place), &mut want, &mut positions);
    drivers::largest(lanes, w, Operand::new(&x, place.0, &place.1), &mut got, &mut places);
    assert_eq!((bits(&got), &places), (bits(&want), &positions), "largest, {note}");
    let element = at(&x, place);
    windows::means(w, |i| element(i).wide(), |i, mean| want[i] = T::narrowed(mean));
    drivers::means(lanes, w, Operand::new(&x, place.0, &place.1), &mut got);
    assert_eq!(bits(&got), bits(&want), "means, {note}");

    let to: Vec<usize> = positions.iter().map(|&place| place as usize).collect();
    let dy: Vec<f64> = numbers(5, size);
    let (mut back, mut wanted) = (vec![7.0; x.len()], vec![0.0; x.len()]);
    rung_math::accumulate::scatter(&mut wanted, 1, &to, &dy);
    drivers::unpool(lanes, w.planes(), &to, &dy, &mut back);
    assert_eq!(bits(&back), bits(&wanted), "back, {note}");
}

const ADAM: Adam = Adam {
    rate: 1e-3,
    rate_decay: 1e-5,
    decay: 0.01,
    first: 0.9,
    first_rest: 0.1,
    second: 0.999,
    second_rest: 1e-3,
    eps: 1e-8,
    first_bias: 0.271,
    second_bias: 2.997e-3,
    mode: Decay::None,
};
const SGD: Sgd = Sgd { rate: 0.01, decay: 0.1, momentum: 0.9, share: 0.7, nesterov: true };
const SIZES: [usize; 9] = [0, 1, 7, 17, 511, 512, 513, 4097, 70_001];

fn step<T, R, W, U, const K: usize>(lanes: &Lanes, u: U, size: usize, name: &str)
where
    T: Updated + Into<f64> + Copy,
    R: Real + Copy,
    W: Narrow,
    U: Update<K>,
    f64: As<T> + As<R>,
    R: Into<f64>,
{
    let mut arrays: [Vec<T>; K] =
        std::array::from_fn(|k| numbers(k, size).into_iter().map(As::<T>::rounded).collect());
    let before = arrays.clone();
    let mut writes = u.writes().into_iter();
    let slots = arrays.each_mut().map(|array| match writes.next() {
        Some(true) => Slot::Write(array.as_mut_slice()),
        _ => Slot::Read(array.as_slice()),
    });
    update(lanes, u, slots);
    for i in 0..size {
        let x = std::array::from_fn(|k| As::<R>::rounded(before[k][i].into()));
        let want = u.at::<R, W>(x);
        for k in 0..K {
            let (got, want): (f64, f64) = (arrays[k][i].into(), want[k].into());
            let same = got.to_bits() == want.to_bits() || (got.is_nan() && want.is_nan());
            assert!(same, "element {i} of array {k} of {size}: {got:e}, not {want:e}, {name}");
        }
    }
}

/// Rounding once to a type.
trait As<T> {
    fn rounded(self) -> T;
}
macro_rules! as_types {
    ($($t:ty: |$x:ident| $rounded:expr;)*) => {
        $(impl As<$t> for f64 {
            fn rounded(self) -> $t {
                let $x = self;
                $rounded
            }
        })*
    };
}
as_types! {
    f64: |x| x;
    f32: |x| x as f32;
    bf16: |x| bf16::from_f64(x);
    f16: |x| f16::from_f64(x);
}

fn steps<T, R, W>(lanes: &Lanes, name: &str)
where
    T: Updated + Into<f64>,
    R: Real + Into<f64>,
    W: Narrow,
    f64: As<T> + As<R>,
{
    for size in SIZES {
        step::<T, R, W, _, 1>(lanes, Scale(0.3), size, name);
        step::<T, R, W, _, 2>(lanes, Axpy(-0.3), size, name);
        for mode in [Decay::None, Decay::Coupled, Decay::Decoupled] {
            step::<T, R, W, _, 4>(lanes, Adam { mode, ..ADAM }, size, name);
        }
        step::<T, R, W, _, 3>(lanes, SGD, size, name);
        step::<T, R, W, _, 3>(lanes, Sgd { nesterov: false, decay: 0.0, ..SGD }, size, name);
        step::<T, R, W, _, 2>(lanes, SGD, size, name);
    }
}

#[test]
fn steps_in_place_are_those_of_the_definition() {
    each_way(|lanes, name| {
        steps::<f64, f64, Own>(lanes, name);
        steps::<f32, f32, Own>(lanes, name);
        steps::<bf16, f32, ToBf16>(lanes, name);
        steps::<f16, f32, ToF16>(lanes, name);
    });
}

#[test]
#[should_panic(expected = "the arrays that a step changes")]
fn a_step_never_writes_what_it_only_reads() {
    let mut x = [1.0_f32];
    update(&Lanes::new(1), Axpy(1.0), [Slot::Write(&mut x), Slot::Read(&[2.0])]);
}
