//! Folds of whether elements are zero: any, all, count-nonzero. NaN is not zero. Over everything
//! any and all stop at the block that decides.

use crate::call::{Call, at_compute_type};
use crate::decline::Answer;
use crate::fold::{
    FOLD, Total, at_integer_type, device, each_integer_run, each_run, folded_count, integer_lanes,
    prepare, round_trip, rungs, totals_vec,
};
use crate::gradient::Gradient;
use crate::record::Op;
use crate::samples;
use rung_array::Array;
use rung_base::{Result, memory};
use rung_kernel::fold::Fold;
use rung_lanes::fold::{self as drivers, Integer, Second};
use rung_lanes::{Lanes, Operand};

pub const OPS: &[Op] = &[
    Op {
        names: &["any"],
        doc: "1 if any element is not zero (NaN is not), else 0; 0 of nothing.",
        result: "1 or 0, or a bit array",
        prepare: |op, a, _| prepare(op, a, Total::Truth),
        rungs: rungs(
            any_portable,
            any_lanes,
            round_trip(|call, trip| device(call, trip, Fold::Any)),
        ),
        samples: samples::few_folds,
        gradient: Gradient::Zero,
        example: "(la:any #d((0 1) (0 0)) :axis 1) => #*10",
        ..FOLD
    },
    Op {
        names: &["all"],
        doc: "1 if no element is zero (NaN is not), else 0; 1 of nothing.",
        result: "1 or 0, or a bit array",
        prepare: |op, a, _| prepare(op, a, Total::Truth),
        rungs: rungs(
            all_portable,
            all_lanes,
            round_trip(|call, trip| device(call, trip, Fold::All)),
        ),
        samples: samples::few_folds,
        gradient: Gradient::Zero,
        example: "(la:all #d(1 nan 2)) => 1",
        ..FOLD
    },
    Op {
        names: &["count-nonzero"],
        doc: "How many elements are not zero (NaN is not).",
        result: "an integer, or an array of (signed-byte 64)",
        prepare: |op, a, _| prepare(op, a, Total::Count),
        rungs: rungs(
            count_portable,
            count_lanes,
            round_trip(|call, trip| device(call, trip, Fold::Count)),
        ),
        samples: samples::few_folds,
        gradient: Gradient::Zero,
        example: "(la:count-nonzero #d(0 3 nan -0.0)) => 2",
        ..FOLD
    },
];

/// `judge` of the number of elements that are not zero and of the length.
fn counted_portable(call: &Call, judge: fn(usize, usize) -> i64) -> Result<Array> {
    at_compute_type!(call,
    T => each_run::<T, i64>(call, |run| {
        judge(run.iter().filter(|&&x| x != 0.0).count(), run.len())
    }),
    each_integer_run(call, |run| {
        judge(run.iter().filter(|&&x| x != 0).count(), run.len())
    }))
}

fn count(found: usize, _: usize) -> i64 {
    found as i64
}

fn any(found: usize, _: usize) -> i64 {
    (found > 0) as i64
}

fn all(found: usize, length: usize) -> i64 {
    (found == length) as i64
}

fn count_portable(call: &Call) -> Result<Array> {
    counted_portable(call, count)
}

fn any_portable(call: &Call) -> Result<Array> {
    counted_portable(call, any)
}

fn all_portable(call: &Call) -> Result<Array> {
    counted_portable(call, all)
}

fn counted_lanes(call: &Call, lanes: &Lanes, judge: fn(usize, usize) -> i64) -> Result<Answer> {
    let n = folded_count(call)?;
    let counts = at_compute_type!(call, T => {
        let counts = totals_vec::<drivers::Nonzero, T>(call, lanes, Second::None)?;
        counts.into_iter().map(|count| count as usize).collect::<Vec<usize>>()
    }, {
        let counts = integer_lanes::<drivers::Nonzero>(call, lanes)?;
        let counts = counts.view::<i64>().iter().map(|count| count as usize);
        let mut all = memory::room(call.shape.size(), || format!("counts of shape {}", call.shape))?;
        all.extend(counts);
        all
    });
    Array::build::<i64>(call.shape.clone(), |out| {
        out.iter_mut().zip(counts).for_each(|(o, found)| *o = judge(found, n));
    })
    .map(Answer::Done)
}

fn count_lanes(call: &Call, lanes: &Lanes) -> Result<Answer> {
    counted_lanes(call, lanes, count)
}

fn any_lanes(call: &Call, lanes: &Lanes) -> Result<Answer> {
    match stops(call, lanes, |found, _| found > 0) {
        Some(stopped) => truth(call, stopped),
        None => counted_lanes(call, lanes, any),
    }
}

fn all_lanes(call: &Call, lanes: &Lanes) -> Result<Answer> {
    match stops(call, lanes, |found, length| found < length) {
        Some(stopped) => truth(call, !stopped),
        None => counted_lanes(call, lanes, all),
    }
}

fn truth(call: &Call, value: bool) -> Result<Answer> {
    Array::build::<i64>(call.shape.clone(), |out| out.fill(value as i64)).map(Answer::Done)
}

/// Elements counted before it is asked whether the rest matters: half of L2 in f64.
const BLOCK: usize = 1 << 16;

/// Whether any block of a contiguous whole array stops the search; `None` for other folds.
fn stops(call: &Call, lanes: &Lanes, stop: fn(usize, usize) -> bool) -> Option<bool> {
    let x = &call.operands[0];
    let whole = call.shape.size() == 1 && x.is_contiguous();
    whole.then(|| {
        at_compute_type!(call, T => {
            x.as_slice::<T>().unwrap_or(&[]).chunks(BLOCK).any(|block| {
                let operand = Operand::new(block, 0, &[1]);
                let found = drivers::whole::<drivers::Nonzero, T>(lanes, &[block.len()], operand);
                stop(found as usize, block.len())
            })
        }, at_integer_type!(call, T => {
            let nonzero = |x: &T| x.wide() != 0;
            x.as_slice::<T>().unwrap_or(&[]).chunks(BLOCK).any(|block| {
                stop(block.iter().filter(|x| nonzero(x)).count(), block.len())
            })
        }))
    })
}
