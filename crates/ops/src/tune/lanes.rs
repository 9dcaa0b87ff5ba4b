//! The lanes' unit times, the price of a parallel region, and from which sizes threads help.

use super::Timer;
use crate::costs::{LanesCosts, lanes_costs};
use crate::transform::in_lines;
use rung_dense::fourier;
use rung_lanes::elementwise::{map, zip};
use rung_lanes::scan::Scanned;
use rung_lanes::search::Ascending;
use rung_lanes::sort::{Slices, Sortable};
use rung_lanes::{Cost, Float, Grain, Lanes, Level, Matrix, Operand, Work};
use rung_lanes::{copy, fold, integer, random, scatter, triangular};
use rung_math::random::{Fill, State};
use std::time::{Duration, Instant};

/// Steps that `costs` announces.
pub const STEPS: usize = 2 + Work::ALL.len();

/// Threads have to save a tenth before a size counts as theirs.
const WORTH: f64 = 0.9;
/// A piece lasts at least this long, against some 50 ns to claim one.
const PIECE: f64 = 2.0;

/// Works until the clocks are up.
pub fn warm(level: Level, time: Duration) {
    let (lanes, mut room) = (Lanes::with(level, 1), Room::new(1 << 14));
    let start = Instant::now();
    while start.elapsed() < time {
        room.run(Work::ProductSingle, &lanes, 1 << 18);
    }
}

/// `left` hears of the kinds of work whose grains stay as they were, since other work held the cores.
pub fn costs(
    timer: &mut Timer,
    level: Level,
    threads: usize,
    left: &mut Vec<&'static str>,
) -> LanesCosts {
    let one = Lanes::with(level, 1);
    let mut costs = lanes_costs(level);
    timer.step("lanes");
    let mut room = Room::new(1 << 18);
    let mut unit = |work, size: usize| {
        timer.median(&mut || room.run(work, &one, size)) / room.units(work, size)
    };
    costs.product = [unit(Work::ProductSingle, 1 << 24), unit(Work::ProductDouble, 1 << 24)];
    costs.elementary = [
        timer.median(&mut || exponentials(&one, &room.single, &mut room.single_out)) / 4096.0,
        timer.median(&mut || exponentials(&one, &room.double, &mut room.double_out)) / 4096.0,
    ];
    timer.step("memory");
    let mut lanes = Lanes::with(level, threads);
    // Fewer threads for the work of others would be measured as threads that do not help.
    lanes.workers().without_guard();
    costs.memory = memory(timer, &one, &lanes);
    if threads > 1 {
        let workers = lanes.workers();
        costs.region = timer.median(&mut || workers.run(threads, &|_| {}));
    }
    for work in Work::ALL {
        timer.step(work.name());
        if threads > 1 {
            timer.take_disturbed();
            let grain = grain(timer, &one, &mut lanes, work);
            match timer.take_disturbed() {
                true => left.push(work.name()),
                false => costs.grains.set(work, grain),
            }
        }
    }
    costs
}

fn exponentials<T: Float>(lanes: &Lanes, from: &[T], to: &mut [T]) {
    let x = Operand::new(from, 0, &[1]);
    map::<rung_math::Exp, T>(lanes, Cost::Elementary, &[4096], x, &mut to[..4096]);
}

/// Bytes a microsecond of a copy that no cache holds, read and write together.
fn memory(timer: &Timer, one: &Lanes, all: &Lanes) -> [f64; 2] {
    const ELEMENTS: usize = 1 << 21;
    let (from, mut to) = (vec![1.0f64; ELEMENTS], vec![0.0f64; ELEMENTS]);
    let rate = |us: f64| (ELEMENTS * 2 * size_of::<f64>()) as f64 / us;
    let mut copied = |lanes: &Lanes| {
        copy::pack(lanes, &[ELEMENTS], Operand::new(&from, 0, &[1]), &mut to);
    };
    let single = rate(timer.median(&mut || copied(one)));
    // What all cores reach together is never less than what one does.
    [single, rate(timer.median(&mut || copied(all))).max(single)]
}

/// The smallest size from which threads help at every larger one.
fn grain(timer: &Timer, one: &Lanes, shared: &mut Lanes, work: Work) -> Grain {
    let (smallest, largest) = sizes(work);
    let mut room = Room::new(largest.min(LARGEST));
    let mut second = Room::new(largest.min(LARGEST));
    let mut grain = Grain { threshold: usize::MAX, piece: 1 << 13 };
    let mut size = largest;
    while size >= smallest {
        let mut grains = *shared.grains();
        grains.set(work, Grain { threshold: 1, piece: (size / 8).clamp(1, 1 << 13) });
        shared.set_grains(grains);
        let lanes = &*shared;
        let [alone, together] =
            timer.race([&mut || room.run(work, one, size), &mut || second.run(work, lanes, size)]);
        if together > WORTH * alone {
            break;
        }
        let unit = alone / room.units(work, size);
        grain.piece = ((PIECE / unit) as usize).next_power_of_two().clamp(1 << 9, 1 << 18);
        grain.threshold = room.units(work, size) as usize;
        size /= 2;
    }
    grain
}

/// Elements of a room's largest operand.
const LARGEST: usize = 1 << 20;

/// The smallest and the largest size that is measured, in units of the work.
fn sizes(work: Work) -> (usize, usize) {
    match work {
        Work::ProductSingle | Work::ProductDouble | Work::ProductInteger | Work::Triangular => {
            (1 << 12, 1 << 24)
        }
        _ => (1 << 11, LARGEST),
    }
}

/// Operands and results of every kind of work.
struct Room {
    single: Vec<f32>,
    double: Vec<f64>,
    other: Vec<f64>,
    single_out: Vec<f32>,
    double_out: Vec<f64>,
    /// Numbers to search among, and where the others go.
    among: Ascending<f64>,
    places: Vec<i64>,
    integers: Vec<i64>,
    /// Where the rows of the size that was run last are added.
    rows: Vec<usize>,
}

/// Elements of a row that is sorted or added as a whole.
const ROW: usize = 1 << 10;

/// The side of the square product with about that many multiply-adds.
fn side(units: usize) -> usize {
    (units as f64).cbrt().round() as usize
}

impl Room {
    fn new(size: usize) -> Room {
        // Values near 1 keep clear of subnormals and infinities.
        let value = |i: usize| 0.5 + (i % 1000) as f64 / 1000.0;
        let sorted: Vec<f64> = (0..1 << 12).map(|i| 0.5 + i as f64 / 4096.0).collect();
        Room {
            single: (0..size).map(|i| value(i) as f32).collect(),
            double: (0..size).map(value).collect(),
            other: (0..size).map(|i| value(i + 7)).collect(),
            single_out: vec![0.0; size],
            double_out: vec![0.0; size],
            among: Ascending::new(&Lanes::new(1), &sorted),
            places: vec![0; size],
            integers: (0..size as i64).collect(),
            rows: Vec::new(),
        }
    }

    /// How many units `run` does for a size.
    fn units(&self, work: Work, size: usize) -> f64 {
        match work {
            Work::ProductSingle | Work::ProductDouble | Work::ProductInteger => {
                (side(size) as f64).powi(3)
            }
            Work::Triangular => (side(3 * size) as f64).powi(3) / 3.0,
            Work::Transform => (size / LINE * LINE) as f64,
            _ => size as f64,
        }
    }

    fn run(&mut self, work: Work, lanes: &Lanes, size: usize) {
        let (x, y) = (&self.double[..], &self.other[..]);
        let (a, b) = (Operand::new(x, 0, &[1]), Operand::new(y, 0, &[1]));
        let out = &mut self.double_out[..];
        match work {
            Work::Light => {
                zip::<rung_math::Add, f64>(lanes, Cost::Light, &[size], a, b, &mut out[..size]);
            }
            Work::Elementary => {
                map::<rung_math::Exp, f64>(lanes, Cost::Elementary, &[size], a, &mut out[..size]);
            }
            Work::Fold => out[0] = fold::whole::<fold::Sum, f64>(lanes, &[size], a),
            Work::ProductSingle => {
                square(lanes, side(size), &self.single, &self.single, &mut self.single_out);
            }
            Work::ProductDouble => square(lanes, side(size), x, y, out),
            Work::ProductInteger => {
                let n = side(size);
                let matrix = Matrix::new(&self.integers, n, n);
                integer::product(lanes, matrix, matrix, &mut self.places[..n * n]);
            }
            Work::Triangular => factor(lanes, side(3 * size), x, out),
            Work::Transform => transforms(lanes, x, &mut out[..size / LINE * LINE]),
            Work::Copy => {
                // Turned, as a packed transpose is; a straight copy is the memory's affair.
                let rows = 1usize << (size.ilog2() / 2);
                let shape = [rows, size / rows];
                let strides = [1, rows as isize];
                copy::pack(lanes, &shape, Operand::new(x, 0, &strides), &mut out[..size]);
            }
            Work::Fill => {
                random::fill(lanes, Fill::Uniform { low: 0.0, span: 1.0 }, State::default(), {
                    &mut out[..size]
                });
            }
            Work::Sort => {
                // Rows of a thousand: one long slice is shared in another way.
                let rows = Slices { outer: size / ROW, length: ROW, inner: 1 };
                let of = rows.size();
                f64::sort(lanes, &x[..of], rows, false, &mut out[..of]);
            }
            Work::Scan => {
                let whole = Slices::whole(size);
                <f64 as Scanned<f64>>::sums(lanes, &x[..size], whole, &mut out[..size]);
            }
            Work::Search => {
                self.among.places(lanes, &x[..size], false, &mut self.places[..size]);
            }
            Work::Scatter => {
                let rows = size / ROW;
                if self.rows.len() != rows {
                    self.rows = (0..rows).map(|row| row * 7 % rows).collect();
                }
                let (to, from) = (&self.rows[..], &x[..rows * ROW]);
                scatter::scatter(lanes, &mut out[..rows * ROW], ROW, to, from);
            }
        }
    }
}

/// Numbers of a line that is transformed: 256 pairs.
const LINE: usize = 512;

/// LU of a matrix of this side, which is copied from `x` first; its diagonal dominates.
fn factor(lanes: &Lanes, n: usize, x: &[f64], out: &mut [f64]) {
    let matrix = &mut out[..n * n];
    matrix.copy_from_slice(&x[..n * n]);
    (0..n).for_each(|i| matrix[i * n + i] += 2.0 * n as f64);
    triangular::lu(lanes, n, matrix, &mut vec![0; n]);
}

fn transforms(lanes: &Lanes, x: &[f64], out: &mut [f64]) {
    // No line of 256 pairs fails.
    let _ = in_lines(Some(lanes), LINE, out, &|first, part| {
        part.copy_from_slice(&x[first * LINE..][..part.len()]);
        fourier::complex(LINE / 2, fourier::Direction::Forward, 1.0, part);
        Ok(())
    });
}

fn square<T: Float>(lanes: &Lanes, n: usize, a: &[T], b: &[T], out: &mut [T]) {
    let matrix = |data| Matrix { data, offset: 0, rows: n, columns: n, row: n as isize, column: 1 };
    rung_lanes::product(lanes, matrix(a), matrix(b), &mut out[..n * n]);
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Rows were added beyond the part of a size below the largest, which only a machine on which
    /// threads help ever runs: `rung tune` ended with an internal error there.
    #[test]
    fn every_work_runs_at_every_size_that_may_be_measured() {
        let mut room = Room::new(LARGEST);
        let lanes = Lanes::new(2);
        for work in Work::ALL {
            let (smallest, largest) = sizes(work);
            let mut size = largest.min(LARGEST);
            while size >= smallest {
                room.run(work, &lanes, size);
                assert!(room.units(work, size) > 0.0, "{} {size}", work.name());
                size /= 2;
            }
        }
    }
}
