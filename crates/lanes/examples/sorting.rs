//! Times sorting at every level of this processor beside the standard library.
//!
//! `cargo run --release -p rung-lanes --example sorting -- [REPEATS]`: one thread, 1.5 million
//! random elements in several shapes, the least time of the repeats; `benches/lab/order.py` times
//! NumPy on the same work.

#[path = "support/timing.rs"]
mod timing;

use rung_lanes::sort::{Slices, Sortable};
use rung_lanes::{Lanes, Level};
use timing::Clock;

/// Elements that are sorted, however they are cut.
const COUNT: usize = 1_500_000;

/// Lengths of the rows and of the columns.
const LENGTHS: [usize; 5] = [COUNT, 10_000, 1000, 100, 16];

fn main() {
    let repeats = std::env::args().nth(1).and_then(|text| text.parse().ok()).unwrap_or(5);
    let mut state = 1_u64;
    let mut random = || {
        state = state.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
        (state ^ state >> 31).wrapping_mul(0x9E37_79B9_7F4A_7C15)
    };
    let words: Vec<u64> = (0..COUNT).map(|_| random()).collect();
    let doubles: Vec<f64> = words.iter().map(|w| *w as f64 / 2f64.powi(64) - 0.5).collect();
    table(&doubles.iter().map(|x| *x as f32).collect::<Vec<f32>>(), repeats);
    table(&doubles, repeats);
    table(&words.iter().map(|w| (*w >> 32) as i32).collect::<Vec<i32>>(), repeats);
    table(&words.iter().map(|w| *w as i64).collect::<Vec<i64>>(), repeats);
}

/// One line a shape: milliseconds of the standard library, then of each level; at the end of a
/// level those of the positions.
fn table<T: Sortable>(x: &[T], repeats: usize) {
    let levels = Level::available();
    println!("{:16} {:>9}  {levels:?}, then positions, ms", T::TYPE.name(), "unstable");
    let shapes = LENGTHS.iter().flat_map(|&length| {
        let rows = COUNT / length;
        [Slices { outer: rows, length, inner: 1 }, Slices { outer: 1, length, inner: rows }]
    });
    for slices in shapes.filter(|slices| slices.length < COUNT || slices.outer == 1).skip(1) {
        let (mut out, mut positions) = (x.to_vec(), vec![0; x.len()]);
        let kind = if slices.inner > 1 { "columns" } else { "rows" };
        print!("{kind:8} {:7}", slices.length);
        let least = |call: &mut dyn FnMut()| {
            print!(" {:9.2}", Clock::Thread.least(repeats, 1, &mut || call()) * 1e3);
        };
        least(&mut || {
            out.copy_from_slice(x);
            let rows = out.chunks_mut(slices.length);
            rows.for_each(|row| row.sort_unstable_by(|a, b| a.order(*b)));
        });
        let all = levels.iter().map(|&level| Lanes::with(level, 1));
        all.clone().for_each(|lanes| least(&mut || T::sort(&lanes, x, slices, false, &mut out)));
        all.for_each(|lanes| {
            least(&mut || T::argsort(&lanes, x, slices, false, &mut positions));
        });
        println!();
    }
}
