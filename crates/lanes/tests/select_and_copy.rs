//! Picking folds and copies against plain loops.

use rung_lanes::copy::{convert, pack};
use rung_lanes::fold::{Largest, Smallest, extreme, position};
use rung_lanes::{Float, Lanes, Level, Operand};
use rung_math::{Binary, Maximum, Minimum};

fn numbers(seed: u64, count: usize, nan: bool) -> Vec<f64> {
    let mut state = seed.wrapping_mul(0x9E37_79B9_7F4A_7C15) | 1;
    (0..count)
        .map(|_| {
            state = state.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
            match (state >> 33) % 61 {
                0 if nan => -f64::NAN,
                1 => -0.0,
                2 => 0.0,
                3 => f64::NEG_INFINITY,
                n => n as f64 - 30.0,
            }
        })
        .collect()
}

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

fn first<T: Float>(x: &[T], better: impl Fn(f64, f64) -> bool) -> usize {
    let mut best = 0;
    for (i, value) in x.iter().enumerate() {
        let (value, held) = (value.wide(), x[best].wide());
        if !held.is_nan() && (value.is_nan() || better(value, held)) {
            best = i;
        }
    }
    best
}

fn check<T: Float>(lanes: &Lanes, shape: [usize; 2], strides: [isize; 2], axis: usize, nan: bool) {
    let need = offsets(&shape, &strides, 0).into_iter().max().unwrap_or(0) + 1;
    let data: Vec<T> =
        numbers(need as u64, need, nan).into_iter().map(|x| T::narrowed(x)).collect();
    let (kept, folded) = (1 - axis, axis);
    let x = Operand::new(&data, 0, &strides);
    let (mut high, mut low) = (vec![T::default(); shape[kept]], vec![T::default(); shape[kept]]);
    let (mut where_high, mut where_low) = (vec![0; shape[kept]], vec![0; shape[kept]]);
    extreme::<Largest, T>(lanes, &shape, x, &[axis], &mut high);
    extreme::<Smallest, T>(lanes, &shape, x, &[axis], &mut low);
    position::<Largest, T>(lanes, &shape, x, &[axis], &mut where_high);
    position::<Smallest, T>(lanes, &shape, x, &[axis], &mut where_low);
    for slice in 0..shape[kept] {
        let at =
            |i: usize| (slice as isize * strides[kept] + i as isize * strides[folded]) as usize;
        let own: Vec<T> = (0..shape[folded]).map(|i| data[at(i)]).collect();
        let bits = |x: T| x.wide().to_bits();
        let most = own.iter().fold(own[0], |a, b| <Maximum as Binary>::at(a, *b));
        let least = own.iter().fold(own[0], |a, b| <Minimum as Binary>::at(a, *b));
        let most = <Maximum as Binary>::at(most, own[0]);
        let least = <Minimum as Binary>::at(least, own[0]);
        assert_eq!(bits(high[slice]), bits(most), "{shape:?} {strides:?} {:?}", lanes.level());
        assert_eq!(bits(low[slice]), bits(least), "{shape:?} {strides:?} {:?}", lanes.level());
        assert_eq!(where_high[slice], first(&own, |a, b| a > b));
        assert_eq!(where_low[slice], first(&own, |a, b| a < b));
    }
}

#[test]
fn extremes_and_their_positions_over_every_layout() {
    for level in Level::available() {
        for threads in [1, 2, 3] {
            let lanes = Lanes::with(level, threads);
            for nan in [false, true] {
                for (m, n) in [
                    (0, 3),
                    (1, 1),
                    (1, 70),
                    (5, 8),
                    (9, 65),
                    (40, 33),
                    (3, 9000),
                    (9000, 3),
                    (300, 200),
                    (384, 130),
                ] {
                    for axis in if m == 0 { [1, 1] } else { [0, 1] } {
                        check::<f32>(&lanes, [m, n], [n as isize, 1], axis, nan);
                        check::<f64>(&lanes, [m, n], [1, m as isize], axis, nan);
                        check::<f64>(&lanes, [m, n], [2, 2 * m as isize], axis, nan);
                    }
                }
            }
        }
    }
}

#[test]
fn a_slice_of_nan_gives_the_canonical_one_and_its_first_place() {
    let data = [-f32::NAN; 3];
    let (mut value, mut place) = ([0.0], [9]);
    let lanes = Lanes::new(1);
    extreme::<Largest, f32>(&lanes, &[3], Operand::new(&data, 0, &[1]), &[0], &mut value);
    position::<Smallest, f32>(&lanes, &[3], Operand::new(&data, 0, &[1]), &[0], &mut place);
    assert_eq!((value[0].to_bits(), place), (0x7FC0_0000, [0]));
}

fn packed<T: Copy + Send + Sync + PartialEq + std::fmt::Debug>(make: impl Fn(usize) -> T) {
    let views: [(&[usize], &[isize], usize); 9] = [
        (&[], &[], 0),
        (&[0, 4], &[4, 1], 0),
        (&[100, 77], &[1, 100], 0),
        (&[300, 500], &[1, 300], 0),
        (&[4, 50, 60], &[3000, 1, 50], 0),
        (&[50, 4, 60], &[1, 3000, 50], 0),
        (&[7, 9, 5], &[-45, 0, -1], 6 * 45 + 4),
        (&[64, 33], &[1, -64], 32 * 64),
        (&[200, 30], &[90, 3], 0),
    ];
    for threads in [1, 3] {
        let lanes = Lanes::new(threads);
        for (shape, strides, offset) in views {
            let order = offsets(shape, strides, offset);
            let data: Vec<T> = (0..order.iter().max().map_or(1, |m| m + 1)).map(&make).collect();
            let mut out = vec![make(1); order.len()];
            pack(&lanes, shape, Operand::new(&data, offset, strides), &mut out);
            let want: Vec<T> = order.iter().map(|o| data[*o]).collect();
            assert_eq!(out, want, "{shape:?} {strides:?}");
        }
    }
}

#[test]
fn any_view_packs_to_row_major_order_for_any_width() {
    packed(|i| i as f64);
    packed(|i| i as f32);
    packed(|i| i as u16);
    packed(|i| i as u8);
}

#[test]
fn conversions_apply_the_callers_rule_to_every_element() {
    let from: Vec<f64> = (0..100_001).map(|i| i as f64 * 0.1).collect();
    let mut to = vec![0.0_f32; from.len()];
    convert(&Lanes::new(3), &from, &mut to, |x| x as f32);
    assert!(from.iter().zip(&to).all(|(a, b)| *a as f32 == *b));
}
