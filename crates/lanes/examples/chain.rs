//! Times (a b + c) / d in one pass beside one addition and a copy of the same arrays.
//!
//! `cargo run --release -p rung-lanes --example chain -- [THREADS] [ELEMENTS...]`. Prints
//! microseconds, the least of the repeats, and GB/s of what each reads and writes.

use rung_lanes::compiled::Binary;
use rung_lanes::elementwise::zip;
use rung_lanes::fused::{Step, fused};
use rung_lanes::{Cost, Float, Lanes, Operand};
use rung_math::{Add, Div, Mul};
use std::hint::black_box;

#[path = "support/timing.rs"]
mod timing;
use timing::Clock;

/// Bytes of a cache line.
const LINE: usize = 64;

fn main() {
    let mut texts = std::env::args().skip(1);
    let threads = texts.next().and_then(|text| text.parse().ok()).unwrap_or(1);
    let mut sizes: Vec<usize> = texts.filter_map(|text| text.parse().ok()).collect();
    if sizes.is_empty() {
        sizes = vec![1_000, 10_000, 100_000, 1_500_000];
    }
    let lanes = Lanes::new(threads);
    println!("lanes {}, {threads} thread(s)", lanes.level().describe());
    for size in sizes {
        row::<f32>(&lanes, size);
        row::<f64>(&lanes, size);
    }
}

fn row<T: Float>(lanes: &Lanes, size: usize) {
    let mut draw = timing::uniform();
    let lists: [Vec<T>; 4] = std::array::from_fn(|_| {
        (0..size + LINE).map(|_| T::narrowed(draw() as f64 + 1.5)).collect()
    });
    let operands = lists.each_ref().map(|list| Operand::new(list, aligned(list), &[1]));
    let program = [
        Step::operand(0),
        Step::operand(1),
        Step::two::<Mul>(),
        Step::operand(2),
        Step::two::<Add>(),
        Step::operand(3),
        Step::two::<Div>(),
    ];
    let mut room = vec![T::default(); size + LINE];
    let start = aligned(&room);
    let out = &mut room[start..start + size];
    let batch = (2_000_000 / size).max(1);
    let clock = Clock::Wall;
    let [a, b, ..] = operands;
    let mut times = [f64::MAX; 4];
    for _ in 0..15 {
        let mut least = |k: usize, call: &mut dyn FnMut(&mut [T])| {
            let seconds = clock.least(3, batch, &mut || call(black_box(&mut *out)));
            times[k] = times[k].min(seconds);
        };
        least(0, &mut |out| fused(lanes, Cost::Light, &[size], &program, &operands, out));
        least(1, &mut |out| two::<Add, T>(lanes, [a, b], out));
        least(2, &mut |out| two::<Div, T>(lanes, [a, b], out));
        least(3, &mut |out| out.copy_from_slice(&lists[0][start..start + size]));
    }
    let rate = |k: usize, lists: usize| (size * lists * size_of::<T>()) as f64 / times[k] / 1e9;
    println!(
        "{size:>9} f{}: chain {:.1} us {:.1} GB/s, add {:.1} us {:.1}, div {:.1} us {:.1}, copy {:.1} us {:.1}",
        8 * size_of::<T>(),
        times[0] * 1e6,
        rate(0, 5),
        times[1] * 1e6,
        rate(1, 3),
        times[2] * 1e6,
        rate(2, 3),
        times[3] * 1e6,
        rate(3, 2),
    );
}

/// Elements of a list before its first whole cache line, where arrays begin.
fn aligned<T>(list: &[T]) -> usize {
    list.as_ptr().align_offset(LINE)
}

fn two<F: Binary, T: Float>(lanes: &Lanes, [a, b]: [Operand<T>; 2], out: &mut [T]) {
    zip::<F, T>(lanes, Cost::Light, &[out.len()], a, b, out);
}
