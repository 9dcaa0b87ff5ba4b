//! Times a Q8_0 matrix times a vector beside a plain sum over the same bytes, in turn.
//!
//! `cargo run --release -p rung-lanes --example quantized -- [THREADS] [MEGABYTES] [COLUMNS...]`.

use rung_lanes::Lanes;
use rung_lanes::quantized::{Blocks, matvec};
use std::hint::black_box;

#[path = "support/timing.rs"]
mod timing;
use timing::{Clock, median};

fn main() {
    let mut numbers = std::env::args().skip(1).filter_map(|text| text.parse::<usize>().ok());
    let (threads, megabytes) = (numbers.next().unwrap_or(1), numbers.next().unwrap_or(128));
    let mut columns: Vec<usize> = numbers.collect();
    if columns.is_empty() {
        columns = vec![256, 4096, 11008];
    }
    let lanes = Lanes::new(threads);
    println!("lanes {}, {threads} thread(s), {megabytes} MB", lanes.level().describe());
    println!("{:>8} {:>8} {:>8} {:>6}", "columns", "GB/s", "read", "share");
    for columns in columns {
        let blocks = columns / 32;
        let rows = (megabytes << 20) / 34 / blocks;
        let octets: Vec<u8> = (0..rows * blocks * 34).map(|i| (i * 37 % 120) as u8).collect();
        let mut uniform = timing::uniform();
        let x: Vec<f32> = (0..columns).map(|_| uniform()).collect();
        let mut out = vec![0.0_f32; rows];
        let a = Blocks { octets: &octets, rows, blocks };
        let mut ours = || matvec(&lanes, a, &x, &mut out);
        let mut read = || {
            black_box(timing::sum(&lanes, &octets));
        };
        let clock = if threads == 1 { Clock::Thread } else { Clock::Wall };
        let (mut mine, mut theirs, mut ratios) = (vec![], vec![], vec![]);
        for _ in 0..9 {
            let (us, other) = (clock.least(2, 1, &mut ours), clock.least(2, 1, &mut read));
            mine.push(us);
            theirs.push(other);
            ratios.push(other / us);
        }
        let rate = |times: &mut Vec<f64>| octets.len() as f64 / median(times) * 1e-9;
        let (mine, theirs) = (rate(&mut mine), rate(&mut theirs));
        println!("{columns:>8} {mine:>8.1} {theirs:>8.1} {:>6.2}", median(&mut ratios));
    }
}
