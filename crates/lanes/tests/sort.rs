//! Sorting against the definition: every element type, level and number of threads, along rows and
//! columns, for the values and lengths that hurt.

#[path = "common/inlined.rs"]
mod inlined;

use rung_base::{Bool, bf16, f16};
use rung_lanes::sort::{Slices, Sortable};
use rung_lanes::{Lanes, Level};
use rung_math::order;

/// Words from a seed that a failure prints.
struct Words(u64);

impl Words {
    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
        (self.0 >> 32) ^ (self.0 << 13)
    }
}

const HARD: [f64; 12] = [
    0.0,
    -0.0,
    f64::NAN,
    -f64::NAN,
    f64::INFINITY,
    f64::NEG_INFINITY,
    5e-324,
    -5e-324,
    1.0,
    -1.0,
    1e300,
    -1e-310,
];

/// Floats of four kinds: any bits, few values, hard values among others, ascending.
fn floats(seed: u64, kind: usize, count: usize) -> Vec<f64> {
    let mut words = Words(seed);
    let value = |i: usize| match kind {
        0 => f64::from_bits(words.next() ^ words.next() << 32),
        1 => (words.next() % 3) as f64,
        2 if words.next().is_multiple_of(3) => HARD[(words.next() % 12) as usize],
        2 => (words.next() % 1000) as f64 - 500.0,
        _ => i as f64,
    };
    (0..count).map(value).collect()
}

fn bits<T: Sortable>(x: &[T]) -> &[u8] {
    bytemuck::cast_slice(x)
}

fn check<T: Sortable>(lanes: &Lanes, x: &[T], slices: Slices, context: &str) {
    let Slices { outer, length, inner } = slices;
    for descending in [false, true] {
        let (mut values, mut positions) = (x.to_vec(), vec![0_i64; x.len()]);
        for plane in 0..outer {
            for column in 0..inner {
                let at = |i: usize| (plane * length + i) * inner + column;
                let mut slice: Vec<T> = (0..length).map(|i| x[at(i)]).collect();
                for (i, position) in order::argsort(&slice, descending).into_iter().enumerate() {
                    positions[at(i)] = position as i64;
                }
                order::sort(&mut slice, descending);
                (0..length).for_each(|i| values[at(i)] = slice[i]);
            }
        }
        let mut out = vec![T::default(); x.len()];
        T::sort(lanes, x, slices, descending, &mut out);
        assert!(bits(&out) == bits(&values), "sort, descending {descending}: {context}");
        let mut out = vec![0; x.len()];
        T::argsort(lanes, x, slices, descending, &mut out);
        assert!(out == positions, "argsort, descending {descending}: {context}");
    }
}

fn every_type(lanes: &Lanes, slices: Slices, seed: u64, name: &str) {
    for kind in 0..4 {
        let x = floats(seed, kind, slices.size());
        let context = format!("{name}, {slices:?}, kind {kind}, seed {seed}");
        let to = |t: &str| format!("{t}, {context}");
        check(lanes, &x, slices, &to("f64"));
        check(lanes, &x.iter().map(|x| *x as f32).collect::<Vec<_>>(), slices, &to("f32"));
        let halves: Vec<bf16> = x.iter().map(|x| bf16::from_f64(*x)).collect();
        check(lanes, &halves, slices, &to("bf16"));
        let halves: Vec<f16> = x.iter().map(|x| f16::from_f64(*x)).collect();
        check(lanes, &halves, slices, &to("f16"));
        let wide = |x: &f64| if kind == 0 { x.to_bits() as i64 } else { *x as i64 };
        check(lanes, &x.iter().map(wide).collect::<Vec<_>>(), slices, &to("i64"));
        let narrow: Vec<i32> = x.iter().map(|x| wide(x) as i32).collect();
        check(lanes, &narrow, slices, &to("i32"));
        check(lanes, &x.iter().map(|x| wide(x) as u8).collect::<Vec<_>>(), slices, &to("u8"));
        let truths: Vec<Bool> = x.iter().map(|x| Bool::from(*x > 1.0)).collect();
        check(lanes, &truths, slices, &to("bool"));
    }
}

fn all(threads: &[usize]) -> impl Iterator<Item = (String, Lanes)> {
    Level::available().into_iter().flat_map(move |level| {
        let threads = threads.to_vec();
        threads.into_iter().map(move |t| (format!("{level:?}, {t} threads"), Lanes::with(level, t)))
    })
}

#[test]
fn every_length_around_registers_and_networks_sorts_as_the_definition() {
    for (name, lanes) in all(&[1]) {
        for length in (1..40).chain([63, 64, 65, 127, 128, 129, 255, 256, 257, 511, 512, 513]) {
            let slices = Slices { outer: 3, length, inner: 1 };
            every_type(&lanes, slices, length as u64, &name);
        }
    }
}

#[test]
fn rows_that_stand_side_by_side_in_registers_sort_as_the_definition() {
    for (name, lanes) in all(&[1, 2]) {
        for length in [2, 3, 7, 8, 9, 16, 17, 31, 33, 64, 100, 129, 257, 384, 511, 513, 1024, 1025]
        {
            for outer in [8, 21] {
                every_type(&lanes, Slices { outer, length, inner: 1 }, length as u64, &name);
            }
        }
    }
}

#[test]
fn axes_in_every_place_sort_as_the_definition() {
    let shapes =
        [[2, 5, 3], [1, 300, 17], [7, 16, 40], [0, 3, 2], [3, 0, 2], [4, 1, 1], [90, 40, 1]];
    for (name, lanes) in all(&[1, 2, 3]) {
        for shape in shapes {
            every_type(&lanes, Slices::along(&shape, 1), 11, &name);
        }
    }
}

/// Values in patterns that mislead a choice of pivots.
fn pattern(name: &str, count: usize) -> Vec<f64> {
    let mut words = Words(count as u64);
    let value = |i: usize| match name {
        "equal" => 1.0,
        "descending" => -(i as f64),
        "organ pipe" => i.min(count - i) as f64,
        "sawtooth" => (i % 37) as f64,
        "mostly ascending" if words.next().is_multiple_of(50) => words.next() as f64,
        "zeros of both signs" => [0.0, -0.0][(words.next() % 2) as usize],
        "two ends" => [f64::NEG_INFINITY, f64::NAN][(words.next() % 2) as usize],
        _ => i as f64,
    };
    (0..count).map(value).collect()
}

#[test]
fn patterns_sort_as_the_definition_around_the_limits_of_networks_and_partitions() {
    let names = [
        "equal",
        "descending",
        "organ pipe",
        "sawtooth",
        "mostly ascending",
        "zeros of both signs",
        "two ends",
    ];
    for (level, lanes) in all(&[1]) {
        for length in
            [127, 128, 129, 255, 256, 257, 263, 264, 511, 512, 513, 767, 1023, 5000, 40_001]
        {
            for name in names {
                let slices = Slices { outer: 2, length, inner: 1 };
                let x = pattern(name, slices.size());
                let context = format!("{name}, {length}, {level}");
                check(&lanes, &x, slices, &context);
                check(&lanes, &x.iter().map(|x| *x as f32).collect::<Vec<_>>(), slices, &context);
                check(&lanes, &x.iter().map(|x| *x as i64).collect::<Vec<_>>(), slices, &context);
            }
        }
    }
}

/// Words of a family that a choice of pivots or a limit of a network may find hard.
fn integers(family: &str, seed: u64, count: usize) -> Vec<i64> {
    let mut words = Words(seed);
    let ends = [i64::MIN, i64::MAX, -1, 0, i32::MIN as i64, i32::MAX as i64];
    let value = |i: usize| match family {
        "random" => words.next() as i64,
        "equal" => -7,
        "ascending" => i as i64 - 1000,
        "descending" => 1000 - i as i64,
        "organ pipe" => i.min(count - i) as i64,
        "few" => (words.next() % 5) as i64 - 2,
        "largest" => i64::MAX,
        "largest but one" => i64::MAX - (i == count / 2) as i64,
        _ => ends[(words.next() % 6) as usize],
    };
    (0..count).map(value).collect()
}

#[test]
fn integers_sort_as_the_definition_around_the_limits_of_registers_networks_and_partitions() {
    let families = [
        "random",
        "equal",
        "ascending",
        "descending",
        "organ pipe",
        "few",
        "largest",
        "largest but one",
        "ends",
    ];
    // Lanes of 4, 8 and 16, networks of 12, 16 and 32 registers of them.
    let registers = [1, 2, 3, 8, 11, 12, 13, 15, 16, 17, 31, 32, 33];
    let limits = registers.iter().flat_map(|r| [4, 8, 16].map(|lanes| r * lanes));
    let mut lengths: Vec<usize> =
        limits.chain([1, 1000, 4096]).flat_map(|n| [n - 1, n, n + 1]).collect();
    lengths.extend([0, 2047, 2048, 40_001]);
    lengths.sort_unstable();
    lengths.dedup();
    for (level, lanes) in all(&[1]) {
        for &length in &lengths {
            for family in families {
                let seed = length as u64 + 3;
                let x = integers(family, seed, length);
                let context = format!("{family}, {length}, seed {seed}, {level}");
                check(&lanes, &x, Slices::whole(length), &context);
                let narrow: Vec<i32> = x.iter().map(|x| *x as i32).collect();
                check(&lanes, &narrow, Slices::whole(length), &context);
                let top: Vec<i32> = x.iter().map(|x| (*x >> 32) as i32).collect();
                check(&lanes, &top, Slices::whole(length), &context);
            }
        }
    }
}

#[test]
fn columns_of_any_width_and_length_sort_as_the_definition() {
    for (name, lanes) in all(&[1, 2]) {
        for (length, inner) in [(1, 9), (2, 65), (7, 8), (9, 17), (25, 129), (300, 3), (1000, 19)] {
            every_type(&lanes, Slices { outer: 2, length, inner }, inner as u64, &name);
        }
    }
}

#[test]
fn long_slices_sort_as_the_definition_on_any_number_of_threads() {
    for (name, lanes) in all(&[1, 2, 3]) {
        for length in [16_384, 32_768, 65_536, 70_001] {
            every_type(&lanes, Slices::whole(length), 5, &name);
        }
    }
}
