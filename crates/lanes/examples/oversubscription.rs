//! Throughput of threaded work while something else may hold a core: calls a second of a product,
//! a matrix-vector product and an elementary function, one line each. `benches/oversubscription`
//! runs it beside busy loops. Words: `no-guard` keeps all threads, `one` uses one, a number is
//! the seconds for each.

use rung_lanes::elementwise::map;
use rung_lanes::{Cost, Lanes, Matrix, Operand, matvec, product};
use std::time::{Duration, Instant};

const SIDE: usize = 256;
const LONG: usize = 1024;
const ELEMENTS: usize = 100_000;

fn main() {
    let words: Vec<String> = std::env::args().skip(1).collect();
    let seconds = words.iter().find_map(|word| word.parse().ok()).unwrap_or(1.0);
    let one = words.iter().any(|word| word == "one");
    let lanes = if one { Lanes::new(1) } else { Lanes::of_machine() };
    if words.iter().any(|word| word == "no-guard") {
        lanes.workers().without_guard();
    }
    let matrix = |data, n: usize| Matrix {
        data,
        offset: 0,
        rows: n,
        columns: n,
        row: n as isize,
        column: 1,
    };
    let x = vec![0.5f32; LONG * LONG];
    let mut out = vec![0.0f32; LONG * LONG];
    let rate = throughput(seconds, || {
        product(&lanes, matrix(&x, SIDE), matrix(&x, SIDE), &mut out[..SIDE * SIDE]);
    });
    println!("product {rate:.0}");
    let rate = throughput(seconds, || {
        matvec(&lanes, matrix(&x, LONG), Operand::new(&x, 0, &[1]), &mut out[..LONG]);
    });
    println!("matvec {rate:.0}");
    let x = vec![0.5f64; ELEMENTS];
    let mut out = vec![0.0f64; ELEMENTS];
    let rate = throughput(seconds, || {
        let x = Operand::new(&x, 0, &[1]);
        map::<rung_math::Exp, f64>(&lanes, Cost::Elementary, &[ELEMENTS], x, &mut out);
    });
    println!("exp {rate:.0}");
}

/// Calls a second.
fn throughput(seconds: f64, mut call: impl FnMut()) -> f64 {
    let time = Duration::from_secs_f64(seconds);
    (0..10).for_each(|_| call());
    let start = Instant::now();
    let mut calls = 0u32;
    while start.elapsed() < time {
        call();
        calls += 1;
    }
    f64::from(calls) / start.elapsed().as_secs_f64()
}
