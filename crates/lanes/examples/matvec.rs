//! Times a matrix times a vector, and a vector times a matrix, beside a plain sum over the same
//! bytes, the two in turn: how much of the bandwidth of reads the product gets.
//!
//! `cargo run --release -p rung-lanes --example matvec -- [THREADS] [MEGABYTES] [COLUMNS...]`.
//! One thread is timed by its processor time, several by the clock; GB/s count the matrix once.

use rung_base::{bf16, f16};
use rung_lanes::{Lanes, Matrix, Operand, Stored, matvec};
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
    println!(
        "{:>6} {:>7} {:>8} {:>8} {:>6}  {:>8} {:>8} {:>6}",
        "type", "columns", "M.v GB/s", "read", "share", "v.M GB/s", "read", "share"
    );
    for columns in columns {
        compare::<f64>(&lanes, columns, megabytes, |x| x);
        compare::<f32>(&lanes, columns, megabytes, |x| x as f32);
        compare::<bf16>(&lanes, columns, megabytes, bf16::from_f64);
        compare::<f16>(&lanes, columns, megabytes, f16::from_f64);
    }
}

fn compare<M: Stored>(lanes: &Lanes, columns: usize, megabytes: usize, make: impl Fn(f64) -> M) {
    let rows = (megabytes << 20) / size_of::<M>() / columns;
    let mut uniform = timing::uniform();
    let cells: Vec<M> = (0..rows * columns).map(|_| make(uniform() as f64)).collect();
    let a = Matrix::new(&cells, rows, columns);
    print!("{:>6} {columns:>7}", M::TYPE.to_string());
    for a in [a, a.transposed()] {
        let x: Vec<f32> = (0..a.columns).map(|_| uniform()).collect();
        let mut out = vec![0.0_f32; a.rows];
        let mut ours = || matvec(lanes, a, Operand::new(&x, 0, &[1]), &mut out);
        let mut read = || {
            black_box(timing::sum(lanes, &cells));
        };
        let clock = if lanes.workers().threads() == 1 { Clock::Thread } else { Clock::Wall };
        let (mut mine, mut theirs, mut ratios) = (vec![], vec![], vec![]);
        for _ in 0..9 {
            let (us, other) = (clock.least(2, 1, &mut ours), clock.least(2, 1, &mut read));
            mine.push(us);
            theirs.push(other);
            ratios.push(other / us);
        }
        let rate = |times: &mut Vec<f64>| size_of_val(&cells[..]) as f64 / median(times) * 1e-9;
        print!(
            "  {:>8.1} {:>8.1} {:>6.2}",
            rate(&mut mine),
            rate(&mut theirs),
            median(&mut ratios)
        );
    }
    println!();
}
