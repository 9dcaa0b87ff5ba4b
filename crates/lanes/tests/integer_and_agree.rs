//! Folds of integers, positions in long slices, and agreement of operands, against plain loops.

use rung_base::Bool;
use rung_lanes::agree::{Same, all_agree, all_equal};
use rung_lanes::fold::{
    Integer, IntegerStep, Largest, LargestPresent, Nonzero, Product, Smallest, SmallestPresent,
    Sum, extreme, integer_position, integers, position,
};
use rung_lanes::{Lanes, Level, Operand};
use rung_math::{Binary, Close, LargerNumber, SmallerNumber};

fn each_configuration(body: impl Fn(&Lanes)) {
    for level in Level::available() {
        for threads in [1, 2, 3] {
            body(&Lanes::with(level, threads));
        }
    }
}

/// Scrambled 64-bit words (SplitMix64).
fn word(i: usize) -> u64 {
    let z = (i as u64).wrapping_mul(0x9E37_79B9_7F4A_7C15);
    let z = (z ^ (z >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
    z ^ (z >> 27)
}

fn check<F: IntegerStep, T: Integer>(lanes: &Lanes, data: &[T], plain: fn(i64, i64) -> i64) {
    let n = data.len();
    let wide = |i: usize| data[i].wide();
    let mut whole = [0];
    integers::<F, T>(lanes, &[n], Operand::new(data, 0, &[1]), &[0], &mut whole);
    assert_eq!(whole[0], (0..n).map(wide).fold(F::IDENTITY, plain), "whole {n}");
    if n == 0 {
        return;
    }
    // Rows read backwards, then columns.
    let (rows, columns) = (n.div_ceil(7).min(n / 3 + 1), 3.min(n));
    let rows = rows.min(n / columns);
    let strides = [columns as isize, 1];
    for axis in [0, 1] {
        let mut out = vec![0; if axis == 0 { columns } else { rows }];
        let x = Operand::new(data, 0, &strides);
        integers::<F, T>(lanes, &[rows, columns], x, &[axis], &mut out);
        for (cell, got) in out.iter().enumerate() {
            let place = |i| if axis == 0 { i * columns + cell } else { cell * columns + i };
            let length = if axis == 0 { rows } else { columns };
            let want = (0..length).map(|i| wide(place(i))).fold(F::IDENTITY, plain);
            assert_eq!(*got, want, "axis {axis} of ({rows} {columns})");
        }
    }
}

fn all_steps<T: Integer>(lanes: &Lanes, data: &[T]) {
    check::<Sum, T>(lanes, data, |a, b| a.wrapping_add(b));
    check::<Product, T>(lanes, data, |a, b| a.wrapping_mul(b));
    check::<Largest, T>(lanes, data, |a, b| a.max(b));
    check::<Smallest, T>(lanes, data, |a, b| a.min(b));
    check::<Nonzero, T>(lanes, data, |a, b| a + (b != 0) as i64);
}

#[test]
fn integer_folds_wrap_and_count() {
    each_configuration(|lanes| {
        for n in [0, 1, 2, 7, 63, 65, 4095, 4097, 70_001] {
            all_steps(lanes, &(0..n).map(|i| word(i) as i64).collect::<Vec<_>>());
            all_steps(lanes, &(0..n).map(|i| word(i) as i32).collect::<Vec<_>>());
            all_steps(lanes, &(0..n).map(|i| word(i) as u8).collect::<Vec<_>>());
            all_steps(
                lanes,
                &(0..n).map(|i| Bool::from(word(i).is_multiple_of(3))).collect::<Vec<_>>(),
            );
        }
    });
}

#[test]
fn positions_are_the_first_in_long_and_short_slices() {
    each_configuration(|lanes| {
        let mut data: Vec<i32> = (0..100_000).map(|i| word(i) as i32 % 1000).collect();
        let first = |data: &[i32], best: i32| data.iter().position(|x| *x == best).unwrap();
        let mut at = [0];
        let operand = |data| Operand::new(data, 0, &[1]);
        integer_position::<Largest, i32>(lanes, &[100_000], operand(&data), &[0], &mut at);
        assert_eq!(at[0], first(&data, *data.iter().max().unwrap()));
        integer_position::<Smallest, i32>(lanes, &[100_000], operand(&data), &[0], &mut at);
        assert_eq!(at[0], first(&data, *data.iter().min().unwrap()));
        data[70_000] = 5000;
        data[90_000] = 5000;
        let mut floats: Vec<f64> = data.iter().map(|&x| x as f64).collect();
        let find = |floats: &[f64]| {
            let (mut at, mut value) = ([0], [0.0]);
            position::<Largest, f64>(
                lanes,
                &[100_000],
                Operand::new(floats, 0, &[1]),
                &[0],
                &mut at,
            );
            extreme::<Largest, f64>(
                lanes,
                &[100_000],
                Operand::new(floats, 0, &[1]),
                &[0],
                &mut value,
            );
            (at[0], value[0])
        };
        assert_eq!(find(&floats), (70_000, 5000.0));
        floats[99_000] = f64::NAN;
        floats[80_000] = f64::NAN;
        assert_eq!(find(&floats).0, 80_000);
        assert!(find(&floats).1.is_nan());
        let mut value = [0.0];
        extreme::<LargestPresent, f64>(
            lanes,
            &[100_000],
            Operand::new(&floats, 0, &[1]),
            &[0],
            &mut value,
        );
        assert_eq!(value[0], 5000.0);
    });
}

#[test]
fn extremes_skip_nan_in_every_layout() {
    each_configuration(|lanes| {
        let data: Vec<f32> = (0..67 * 40)
            .map(|i| if word(i).is_multiple_of(5) { f32::NAN } else { word(i) as i32 as f32 })
            .collect();
        for n in [1, 3, 15, 16, 17, 31, 33, 64, 67] {
            for axis in [0, 1] {
                let shape = if axis == 0 { [n, 40] } else { [40, n] };
                let strides = [shape[1] as isize, 1];
                let (mut high, mut low) = (vec![0.0; 40], vec![0.0; 40]);
                let x = Operand::new(&data[..], 0, &strides);
                extreme::<LargestPresent, f32>(lanes, &shape, x, &[axis], &mut high);
                extreme::<SmallestPresent, f32>(lanes, &shape, x, &[axis], &mut low);
                for cell in 0..40 {
                    let place = |i| if axis == 0 { i * 40 + cell } else { cell * n + i };
                    let all = || (0..n).map(|i| data[place(i)]);
                    let want = all().fold(f32::NEG_INFINITY, LargerNumber::at);
                    assert_eq!(high[cell], want, "{shape:?} {axis}");
                    assert_eq!(low[cell], all().fold(f32::INFINITY, SmallerNumber::at));
                }
            }
        }
    });
}

#[test]
fn one_differing_element_is_found_anywhere() {
    each_configuration(|lanes| {
        for n in [1, 2, 16, 17, 4096, 4097, 100_003] {
            let a: Vec<f32> = (0..n).map(|i| word(i) as i32 as f32).collect();
            let same = |a: &[f32], b: &[f32], stride: isize| {
                let strides = [stride];
                let shape = [a.len().div_ceil(stride as usize)];
                let operand = |x| Operand::new(x, 0, &strides);
                all_agree(lanes, &shape, operand(a), operand(b), Same)
            };
            assert!(same(&a, &a, 1) && same(&a, &a, 3));
            for at in [0, n / 2, n - 1] {
                let mut b = a.clone();
                b[at] = f32::NAN;
                assert!(!same(&a, &b, 1), "{at} of {n}");
                assert!(!same(&b, &b, 1), "{at} of {n}");
                let close = Close { relative: 1e-5, absolute: 1e-8, equal_nan: true };
                let x = Operand::new(&b[..], 0, &[1]);
                assert!(all_agree(lanes, &[n], x, x, close));
                let whole: Vec<i64> = a.iter().map(|&x| x as i64).collect();
                let mut other = whole.clone();
                other[at] ^= 1 << 40;
                let operand = |x| Operand::new(x, 0, &[1]);
                assert!(all_equal(lanes, &[n], operand(&whole), operand(&whole)));
                assert!(!all_equal(lanes, &[n], operand(&whole), operand(&other)));
            }
        }
        assert!(all_agree::<_, f32>(
            lanes,
            &[0],
            Operand::new(&[], 0, &[1]),
            Operand::new(&[], 0, &[1]),
            Same
        ));
    });
}
