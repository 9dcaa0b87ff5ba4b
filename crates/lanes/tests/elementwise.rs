//! Element-wise drivers against the scalar definitions, over layouts and lengths that hurt.

#[path = "common/inlined.rs"]
mod inlined;

use rung_lanes::compiled::{Binary, Compare, Unary};
use rung_lanes::elementwise::{compare, map, map_in_place, zip, zip3};
use rung_lanes::{Cost, Float, Lanes, Level, Operand};
use rung_math::{
    Abs, Add, Clip, Div, Equal, Less, Maximum, Minimum, Mul, Negative, NotEqual, Real, Relu, Sign,
    Sqrt, Sub,
};

fn specials<T: Float>(seed: u64, count: usize) -> Vec<T> {
    let hurting = [
        0.0,
        -0.0,
        1.0,
        -1.5,
        f64::NAN,
        f64::INFINITY,
        f64::NEG_INFINITY,
        1e-310,
        -1e-42,
        3e38,
        1.7e308,
        0.1,
    ];
    let mut state = seed | 1;
    (0..count)
        .map(|_| {
            state = state.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
            let unit = (state >> 11) as f64 / (1u64 << 50) as f64 - 4.0;
            let pick = (state >> 40) as usize % 40;
            T::narrowed(hurting.get(pick).copied().unwrap_or(unit))
        })
        .collect()
}

fn assert_same<T: Float>(got: T, want: T, note: &str) {
    let (a, b) = (got.wide(), want.wide());
    assert!(
        a.to_bits() == b.to_bits() || a.is_nan() && b.is_nan(),
        "{note}: {got:?}, not {want:?}"
    );
}

/// Offsets of a shape in row-major order.
fn offsets(shape: &[usize], strides: &[isize], offset: usize) -> Vec<usize> {
    let mut all = vec![offset as isize];
    for (extent, stride) in shape.iter().zip(strides) {
        all = all
            .iter()
            .flat_map(|base| (0..*extent as isize).map(move |i| base + i * stride))
            .collect();
    }
    all.into_iter().map(|o| o as usize).collect()
}

/// (shape, strides of a, offset of a, strides of b, offset of b, elements needed).
type Layout = (&'static [usize], &'static [isize], usize, &'static [isize], usize, usize);

const LAYOUTS: [Layout; 16] = [
    (&[], &[], 3, &[], 0, 4),
    (&[0], &[1], 0, &[1], 0, 0),
    (&[3, 0], &[0, 1], 0, &[0, 1], 0, 0),
    (&[1], &[1], 0, &[0], 2, 3),
    (&[15], &[1], 0, &[1], 1, 16),
    (&[17], &[-1], 16, &[1], 0, 17),
    (&[4097], &[1], 0, &[0], 5, 4097),
    (&[1000], &[3], 0, &[-2], 1998, 3000),
    (&[5, 7], &[7, 1], 0, &[1, 5], 0, 35),
    (&[40, 3], &[3, 1], 0, &[1, 0], 0, 120),
    (&[40, 3], &[3, 1], 0, &[0, 1], 0, 120),
    (&[6, 100], &[100, 1], 0, &[1, 0], 0, 600),
    (&[6, 100], &[0, 1], 0, &[100, 1], 0, 600),
    (&[3, 4, 5], &[1, 3, 12], 0, &[-20, 5, -1], 44, 60),
    (&[9, 1, 65], &[65, 65, 1], 0, &[0, 0, 1], 0, 585),
    (&[130, 513], &[513, 1], 0, &[1, 130], 0, 130 * 513),
];

fn binary<F: Binary, T: Float>(lanes: &Lanes, layout: Layout) {
    let (shape, sa, oa, sb, ob, need) = layout;
    let (a, b) = (specials::<T>(7, need), specials::<T>(8, need));
    let mut out = vec![T::default(); shape.iter().product()];
    let (x, y) = (Operand::new(&a, oa, sa), Operand::new(&b, ob, sb));
    zip::<F, T>(lanes, Cost::Elementary, shape, x, y, &mut out);
    let pairs = offsets(shape, sa, oa).into_iter().zip(offsets(shape, sb, ob));
    for (got, (i, j)) in out.iter().zip(pairs) {
        assert_same(*got, F::at(a[i], b[j]), &format!("{shape:?} {:?}", lanes.level()));
    }
}

fn relation<F: Compare, T: Float<Mask = bool>>(lanes: &Lanes, layout: Layout) {
    let (shape, sa, oa, sb, ob, need) = layout;
    let (a, b) = (specials::<T>(9, need), specials::<T>(10, need));
    let mut out = vec![T::default(); shape.iter().product()];
    compare::<F, T>(lanes, shape, Operand::new(&a, oa, sa), Operand::new(&b, ob, sb), &mut out);
    let pairs = offsets(shape, sa, oa).into_iter().zip(offsets(shape, sb, ob));
    for (got, (i, j)) in out.iter().zip(pairs) {
        assert_same(*got, T::narrowed(F::at(a[i], b[j]) as u8 as f64), "relation");
    }
}

fn unary<F: Unary, T: Float>(lanes: &Lanes, layout: Layout) {
    let (shape, sa, oa, _, _, need) = layout;
    let a = specials::<T>(11, need);
    let mut out = vec![T::default(); shape.iter().product()];
    map::<F, T>(lanes, Cost::Light, shape, Operand::new(&a, oa, sa), &mut out);
    for (got, i) in out.iter().zip(offsets(shape, sa, oa)) {
        assert_same(*got, F::at(a[i]), "unary");
    }
}

fn all<T: Float<Mask = bool>>(lanes: &Lanes) {
    for layout in LAYOUTS {
        binary::<Add, T>(lanes, layout);
        binary::<Sub, T>(lanes, layout);
        binary::<Mul, T>(lanes, layout);
        binary::<Div, T>(lanes, layout);
        binary::<Maximum, T>(lanes, layout);
        binary::<Minimum, T>(lanes, layout);
        relation::<Less, T>(lanes, layout);
        relation::<Equal, T>(lanes, layout);
        relation::<NotEqual, T>(lanes, layout);
        unary::<Sqrt, T>(lanes, layout);
        unary::<Abs, T>(lanes, layout);
        unary::<Negative, T>(lanes, layout);
        unary::<Sign, T>(lanes, layout);
        unary::<Relu, T>(lanes, layout);
    }
}

#[test]
fn every_layout_gives_the_definition_at_every_level_and_thread_count() {
    for level in Level::available() {
        for threads in [1, 2, 3] {
            let lanes = Lanes::with(level, threads);
            all::<f32>(&lanes);
            all::<f64>(&lanes);
        }
    }
}

#[test]
fn three_operands_and_in_place() {
    let lanes = Lanes::new(2);
    let x = specials::<f32>(1, 100);
    let (low, high) = (specials::<f32>(2, 10_000), [5.0_f32]);
    let shape = [100, 100];
    let mut out = vec![0.0; 10_000];
    let operands = [
        Operand::new(&x, 0, &[1, 0]),
        Operand::new(&low, 0, &[1, 100]),
        Operand::new(&high, 0, &[0, 0]),
    ];
    zip3::<Clip, f32>(&lanes, Cost::Light, &shape, operands, &mut out);
    for (i, got) in out.iter().enumerate() {
        let want = <Clip as rung_math::Ternary>::at(x[i / 100], low[i % 100 * 100 + i / 100], 5.0);
        assert_same(*got, want, "clip");
    }
    let mut data = specials::<f64>(3, 100_003);
    let before = data.clone();
    map_in_place::<Negative, f64>(&lanes, Cost::Light, &mut data);
    data.iter().zip(before).for_each(|(got, x)| assert_same(*got, -x, "in place"));
}

#[test]
fn results_written_past_the_caches_are_complete() {
    // 8 * 3 * 1,100,000 bytes and more are streamed.
    let n = 1_100_003;
    let (a, b) = (specials::<f64>(5, n), specials::<f64>(6, n));
    for level in Level::available() {
        let lanes = Lanes::with(level, 2);
        let mut room = vec![0.0; n + 1];
        let out = &mut room[1..];
        let (x, y) = (Operand::new(&a, 0, &[1]), Operand::new(&b, 0, &[1]));
        zip::<Add, f64>(&lanes, Cost::Light, &[n], x, y, out);
        for i in 0..n {
            assert_same(out[i], a[i] + b[i], "streamed");
        }
    }
}

#[test]
fn the_definitions_nan_is_canonical_in_the_lanes_too() {
    let a = [-f32::NAN; 20];
    let mut out = [0.0; 20];
    let lanes = Lanes::new(1);
    let x = Operand::new(&a, 0, &[1]);
    zip::<Maximum, f32>(&lanes, Cost::Light, &[20], x, x, &mut out);
    assert!(out.iter().all(|x| x.to_bits() == <f32 as Real>::canonical_nan().to_bits()));
}

#[test]
#[should_panic(expected = "leaves its slice")]
fn an_operand_that_leaves_its_slice_is_refused() {
    let x = Operand::new(&[1.0_f32; 4], 0, &[2]);
    map::<Sqrt, f32>(&Lanes::new(1), Cost::Light, &[3], x, &mut [0.0; 3]);
}
