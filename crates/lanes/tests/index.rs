//! Gathers, scatters, searches and histograms against their definitions or plain loops.

#[path = "common/inlined.rs"]
mod inlined;

use rung_base::{bf16, f16};
use rung_lanes::histogram::Bins;
use rung_lanes::search::{Ascending, Samples};
use rung_lanes::sort::{Slices, Sortable};
use rung_lanes::{Lanes, Level, gather, scatter};
use rung_math::accumulate::{self, Accumulate};
use rung_math::{locate, order};

fn words(seed: u64, count: usize) -> Vec<u64> {
    let mut state = seed.wrapping_mul(0x9E37_79B9_7F4A_7C15) | 1;
    let next = |_| {
        state = state.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
        state >> 20
    };
    (0..count).map(next).collect()
}

fn positions(seed: u64, count: usize, below: usize) -> Vec<usize> {
    words(seed, count).into_iter().map(|word| word as usize % below).collect()
}

fn numbers(seed: u64, count: usize) -> Vec<f64> {
    let value = |word: u64| match word % 53 {
        0 => f64::NAN,
        1 => f64::INFINITY,
        2 => -0.0,
        3 => 0.0,
        4 => f64::NEG_INFINITY,
        n => (word % 1000) as f64 * 0.125 - n as f64,
    };
    words(seed, count).into_iter().map(value).collect()
}

fn each_way(mut check: impl FnMut(&Lanes, &str)) {
    for level in Level::available() {
        for threads in [1, 2, 3] {
            check(&Lanes::with(level, threads), &format!("{level:?}, {threads} threads"));
        }
    }
}

fn even_edges(low: f64, high: f64, bins: usize) -> Vec<f64> {
    let mut edges = vec![0.0; bins + 1];
    locate::edges(low, high, &mut edges);
    edges
}

#[test]
fn taken_elements_are_those_at_the_positions() {
    let shapes = [[1, 1000, 1], [1, 50, 7], [3, 20, 64], [5, 9, 1], [40, 90, 30], [2, 3, 0]];
    each_way(|lanes, name| {
        for shape in shapes {
            let slices = Slices::along(&shape, 1);
            let x: Vec<u64> = words(1, slices.size());
            for count in [0, 1, 33, 3000] {
                let at = positions(2, count, shape[1]);
                let element = |i: usize| {
                    let (plane, rest) = (i / (count * shape[2]), i % (count * shape[2]));
                    x[(plane * shape[1] + at[rest / shape[2]]) * shape[2] + rest % shape[2]]
                };
                let mut out = vec![0; shape[0] * count * shape[2]];
                gather::take(lanes, &x, slices, &at, &mut out);
                let wanted: Vec<u64> = (0..out.len()).map(element).collect();
                assert!(out == wanted, "take {count} of {shape:?}, {name}");
            }
            let mask: Vec<bool> = words(3, shape[1]).iter().map(|w| w % 3 > 0).collect();
            let kept: Vec<usize> = (0..shape[1]).filter(|&i| mask[i]).collect();
            assert_eq!(gather::count(lanes, &mask), kept.len());
            let mut wanted = vec![0; shape[0] * kept.len() * shape[2]];
            gather::take(lanes, &x, slices, &kept, &mut wanted);
            let mut out = vec![0; wanted.len()];
            gather::compress(lanes, &x, slices, &mask, &mut out);
            assert!(out == wanted, "compress {shape:?}, {name}");
        }
        let (x, mask) = (words(4, 200_001), words(5, 200_001));
        let mask: Vec<bool> = mask.iter().map(|w| w % 5 > 1).collect();
        let wanted: Vec<u64> = (0..x.len()).filter(|&i| mask[i]).map(|i| x[i]).collect();
        let mut out = vec![0; wanted.len()];
        gather::compress(lanes, &x, Slices::whole(x.len()), &mask, &mut out);
        assert!(out == wanted, "compress a long vector, {name}");
        let at = positions(6, 2000, 100);
        let mut out = vec![0; 2000];
        gather::one_each(lanes, &x[..200_000], 100, &at, &mut out);
        assert!((0..2000).all(|i| out[i] == x[i * 100 + at[i]]), "one of each row, {name}");
    });
}

fn scattered<T: Accumulate + Sortable>(
    lanes: &Lanes,
    shape: [usize; 3],
    name: &str,
    of: impl Fn(f64) -> T,
) {
    let [rows, width, count] = shape;
    let start: Vec<T> = numbers(7, rows * width).into_iter().map(&of).collect();
    let source: Vec<T> = numbers(8, count * width).into_iter().map(&of).collect();
    let to = positions(9, count, rows);
    let (mut wanted, mut out) = (start.clone(), start);
    accumulate::scatter(&mut wanted, width, &to, &source);
    scatter::scatter(lanes, &mut out, width, &to, &source);
    // Which NaN an addition gives is outside the contract.
    let same = |a: &T, b: &T| {
        a.order(*b).is_eq() && (a.is_special() || bytemuck::bytes_of(a) == bytemuck::bytes_of(b))
    };
    assert!(out.iter().zip(&wanted).all(|(a, b)| same(a, b)), "{} {shape:?}, {name}", T::TYPE);
}

#[test]
fn scattered_rows_add_up_in_the_order_of_their_positions() {
    each_way(|lanes, name| {
        for shape in [[1, 1, 100], [1000, 1, 5000], [10, 3, 100], [97, 64, 3000], [3, 17, 9000]] {
            scattered(lanes, shape, name, |x| x);
            scattered(lanes, shape, name, |x| x as f32);
            scattered(lanes, shape, name, bf16::from_f64);
            scattered(lanes, shape, name, f16::from_f64);
            scattered(lanes, shape, name, |x| x as i64);
        }
    });
}

#[test]
fn keys_are_placed_as_the_definition_places_them() {
    each_way(|lanes, name| {
        for count in [0, 1, 2, 3, 15, 16, 17, 1000] {
            let mut sorted = numbers(count as u64 + 10, count);
            order::sort(&mut sorted, false);
            let keys = numbers(11, 5000);
            for right in [false, true] {
                let mut out = vec![0; keys.len()];
                Ascending::new(lanes, &sorted).places(lanes, &keys, right, &mut out);
                for (key, place) in keys.iter().zip(out) {
                    let wanted = order::place(&sorted, *key, right) as i64;
                    assert_eq!(place, wanted, "{key} among {count}, right {right}, {name}");
                }
            }
        }
    });
}

#[test]
fn lines_have_the_bits_of_the_definition() {
    each_way(|lanes, name| {
        for count in [1, 2, 3, 100] {
            let xp: Vec<f64> = (0..count).map(|i| i as f64 * 0.7 - 20.0).collect();
            let fp = numbers(12, count);
            let x: Vec<f64> = numbers(13, 5000).into_iter().chain(xp.iter().copied()).collect();
            let samples = Samples { xp: &xp, fp: &fp, left: -1.5, right: 2.5 };
            let mut out = vec![0.0; x.len()];
            samples.at(lanes, &x, &mut out);
            for (x, y) in x.iter().zip(out) {
                let wanted = locate::interpolate(&xp, &fp, *x, -1.5, 2.5);
                let same = y.to_bits() == wanted.to_bits() || y.is_nan() && wanted.is_nan();
                assert!(same, "{x}: {y}, not {wanted}; {count} samples, {name}");
            }
        }
    });
}

#[test]
fn elements_are_counted_in_their_bins() {
    each_way(|lanes, name| {
        let x = numbers(14, 150_001);
        let weights: Vec<f64> = words(15, x.len()).iter().map(|w| *w as f64 * 1e-7).collect();
        let tiny = [1.0, 1.0 + f64::EPSILON];
        let uneven = vec![-10.0, -1.0, -1.0, 0.0, 3.0, 100.0];
        let cases = [
            (even_edges(-50.0, 75.0, 10), true),
            (even_edges(-7.25, 33.5, 97), true),
            (even_edges(0.0, 1e300, 3), true),
            (even_edges(tiny[0], tiny[1], 7), true),
            (uneven, false),
        ];
        for (edges, even) in cases {
            let bins = edges.len() - 1;
            let (mut counts, mut sums) = (vec![0; bins], vec![0.0; bins]);
            let (mut own_counts, mut own_sums) = (vec![0; bins], vec![0.0; bins]);
            for (x, weight) in x.iter().zip(&weights) {
                if let Some(bin) = locate::bin(&edges, *x) {
                    counts[bin] += 1;
                    sums[bin] += weight;
                }
            }
            let job = Bins { edges: &edges, even };
            job.tally(lanes, &x, &mut own_counts);
            job.weigh(lanes, &x, &weights, &mut own_sums);
            assert_eq!((own_counts, own_sums), (counts, sums), "{edges:?}, {name}");
        }
    });
}
