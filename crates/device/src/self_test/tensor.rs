//! In which order tensor cores add products of doubles: the reference of PTX says that each step of
//! `mma.sync` with `.f64` is as precise as a fused one, not in which order they come, so the card is asked.
//! 1,024 instructions of 64 cells, most of them such that another order, rounding or flushing of subnormals
//! gives other bits, are compared bit for bit with four fused steps in ascending order. One launch.

use super::operands::{Width, Words, specials};
use crate::device::{Device, Failure, FailureCode, TensorDoubles};
use rung_base::ElementType::F64;
use rung_kernel::{Binding, Kernel, Launch};
use std::sync::Arc;

/// Instructions, each a group's of one warp.
const COUNT: usize = 1024;
/// Lanes of a warp; steps, rows and columns of an instruction.
const LANES: usize = 32;
const STEPS: usize = 4;
const SIDE: usize = 8;

/// A cell of a row of a, a column of b and what there is.
type Cell = fn([f64; STEPS], [f64; STEPS], f64) -> f64;

/// Operands of one instruction: a row by row, b column by column, c row by row.
#[derive(Clone, Copy)]
struct Operands {
    a: [[f64; STEPS]; SIDE],
    b: [[f64; STEPS]; SIDE],
    c: [[f64; SIDE]; SIDE],
}

/// What a device's tensor cores do with doubles; a failure only where the device is gone.
pub(super) fn asked(device: &dyn Device) -> Result<TensorDoubles, Failure> {
    let info = device.info();
    if !(info.tensor_cores && info.f64) {
        return Ok(TensorDoubles::Absent);
    }
    let operands = operands();
    let results = match results(device, &operands) {
        Ok(results) => results,
        Err(failure) if failure.code == FailureCode::Lost => return Err(failure),
        Err(_) => return Ok(TensorDoubles::Untested),
    };
    let wanted = operands.iter().flat_map(|one| cells(one, ascending));
    let same = wanted.zip(results).all(|(wanted, got)| f64::same(wanted, got));
    Ok(if same { TensorDoubles::InOrder } else { TensorDoubles::OtherOrder })
}

/// What a product of the definition does with four steps.
fn ascending(a: [f64; STEPS], b: [f64; STEPS], c: f64) -> f64 {
    a.into_iter().zip(b).fold(c, |sum, (a, b)| a.mul_add(b, sum))
}

/// The cells of an instruction's result, row by row. A lane has two that follow each other, as
/// its place among the lanes says: lane 0 the first two of row 0, lane 31 the last two of row 7.
fn cells(operands: &Operands, cell: Cell) -> impl Iterator<Item = f64> {
    let Operands { a, b, c } = *operands;
    (0..SIDE * SIDE).map(move |i| cell(a[i / SIDE], b[i % SIDE], c[i / SIDE][i % SIDE]))
}

/// A lane's double of a is row lane / 4, column lane % 4; of b row lane % 4, column lane / 4.
fn results(device: &dyn Device, operands: &[Operands]) -> Result<Vec<f64>, Failure> {
    let up = |values: Vec<f64>| device.upload(bytemuck::cast_slice(&values));
    let buffers = [
        up(operands.iter().flat_map(|one| one.a.concat()).collect())?,
        up(operands.iter().flat_map(|one| one.b.concat()).collect())?,
        up(operands.iter().flat_map(|one| one.c.concat()).collect())?,
        device.allocate(operands.len() * SIDE * SIDE * size_of::<f64>())?,
    ];
    let launch = Launch {
        kernel: Arc::new(kernel()),
        parameters: Vec::new(),
        groups: [operands.len() as u32, 1, 1],
    };
    device.launch(&launch, &buffers.iter().collect::<Vec<_>>())?;
    let mut results = vec![0.0; operands.len() * SIDE * SIDE];
    device.download(&buffers[3], bytemuck::cast_slice_mut(&mut results))?;
    Ok(results)
}

fn kernel() -> Kernel {
    let text = format!(
        "@compute @workgroup_size({LANES})\n\
         fn main(@builtin(workgroup_id) group: vec3<u32>,\n        \
         @builtin(local_invocation_index) lane: u32) {{\n    \
         let i = group.x * {LANES}u + lane;\n    \
         let d = tensor_f64(b0[i], b1[i], vec2<f64>(b2[2u * i], b2[2u * i + 1u]));\n    \
         b3[2u * i] = d.x;\n    b3[2u * i + 1u] = d.y;\n}}\n"
    );
    let read = Binding::read(F64);
    Kernel {
        key: "self-test of doubles on tensor cores".into(),
        text,
        workgroup: [LANES as u32, 1, 1],
        bindings: vec![read, read, read, Binding::write(F64)],
        parameter_words: 0,
    }
}

/// Eight kinds in turn; the same on every run.
fn operands() -> Vec<Operands> {
    let mut words = Words(0x2545_f491_4f6c_dd1d);
    let specials = specials::<f64>();
    let special = |words: &mut Words| specials[(words.next() >> 33) as usize % specials.len()];
    (0..COUNT)
        .map(|i| match i % 8 {
            // Sums that round at each step, small ones beside large ones.
            0 => filled(&mut words, |w| w.near_one(2), |w| w.near_one(4)),
            1 => filled(&mut words, |w| w.near_one(30), |w| w.near_one(60)),
            2 => cancelling(filled(&mut words, |w| w.near_one(2), |w| w.near_one(2)), i / 8),
            // Products and sums below the smallest normal.
            3 => filled(&mut words, |w| scaled(w.near_one(20), -530), |w| w.any_subnormal()),
            // Sums that overflow in one order and not in another.
            4 => {
                filled(&mut words, |w| scaled(w.near_one(1), 511), |w| scaled(w.near_one(1), 1022))
            }
            5 => filled(&mut words, special, special),
            6 => filled(&mut words, |w| w.any(), |w| w.any()),
            // The end of k in a kernel: steps of -0.0 times 0.0 change nothing.
            _ => ending(filled(&mut words, |w| w.near_one(3), special), i / 8 % STEPS),
        })
        .collect()
}

fn filled(
    words: &mut Words,
    mut factor: impl FnMut(&mut Words) -> f64,
    mut before: impl FnMut(&mut Words) -> f64,
) -> Operands {
    Operands {
        a: std::array::from_fn(|_| std::array::from_fn(|_| factor(words))),
        b: std::array::from_fn(|_| std::array::from_fn(|_| factor(words))),
        c: std::array::from_fn(|_| std::array::from_fn(|_| before(words))),
    }
}

fn scaled(x: f64, exponent: i32) -> f64 {
    x * 2f64.powi(exponent)
}

/// What there is takes one of the products away, of which its rounding stays.
fn cancelling(mut one: Operands, seed: usize) -> Operands {
    for (row, cells) in one.c.iter_mut().enumerate() {
        for (column, cell) in cells.iter_mut().enumerate() {
            let k = (seed + row + column) % STEPS;
            *cell = -(one.a[row][k] * one.b[column][k]);
        }
    }
    one
}

fn ending(mut one: Operands, steps: usize) -> Operands {
    one.a.iter_mut().for_each(|row| row[steps..].fill(-0.0));
    one.b.iter_mut().for_each(|column| column[steps..].fill(0.0));
    one
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Cells whose bits another way of adding changes.
    fn differing(other: Cell) -> usize {
        let all = operands();
        let wanted = all.iter().flat_map(|one| cells(one, ascending));
        let got = all.iter().flat_map(|one| cells(one, other));
        wanted.zip(got).filter(|(wanted, got)| !f64::same(*wanted, *got)).count()
    }

    #[test]
    fn thousands_of_cells_tell_orders_and_roundings_apart() {
        let all: [(&str, Cell); 6] = [
            ("descending", |a, b, c| (0..STEPS).rev().fold(c, |sum, k| a[k].mul_add(b[k], sum))),
            ("pairwise", |a, b, c| {
                a[1].mul_add(b[1], a[0] * b[0]) + a[3].mul_add(b[3], a[2] * b[2]) + c
            }),
            ("sum first", |a, b, c| ascending(a, b, 0.0) + c),
            ("products rounded", |a, b, c| (0..STEPS).fold(c, |sum, k| a[k] * b[k] + sum)),
            ("two halves", |a, b, c| {
                let step = |k: usize, sum: f64| a[k].mul_add(b[k], sum);
                step(2, step(3, step(0, step(1, c))))
            }),
            ("the middle exchanged", |a, b, c| {
                [0, 2, 1, 3].into_iter().fold(c, |sum, k| a[k].mul_add(b[k], sum))
            }),
        ];
        for (name, other) in all {
            assert!(differing(other) > 2000, "{name}: {}", differing(other));
        }
        let flushed = differing(|a, b, c| {
            let flush = |x: f64| if x.is_subnormal() { 0.0 * x } else { x };
            a.into_iter()
                .zip(b)
                .fold(flush(c), |sum, (a, b)| flush(flush(a).mul_add(flush(b), sum)))
        });
        assert!(flushed > 2000, "{flushed}");
    }

    /// -0.0 times 0.0 keeps every sum, zeros of one sign do not.
    #[test]
    fn steps_beyond_the_end_change_nothing() {
        for c in specials::<f64>() {
            assert!(f64::same(ascending([-0.0; STEPS], [0.0; STEPS], c), c), "{c:e}");
        }
        assert_eq!(ascending([0.0; STEPS], [0.0; STEPS], -0.0).to_bits(), 0);
    }
}
