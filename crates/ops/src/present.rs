//! Folds in which a NaN counts as absent: nansum, nanprod, nanmean, nanvar, nanstd, nanmax,
//! nanmin. Its value is replaced by the identity and it does not count in n
//! (`rung_math::fold`); a slice of nothing else gives 0, 1, or the error of `refuse_absent`.

use crate::call::{Call, at_compute_type, integers_not_taken};
use crate::decline::Answer;
use crate::fold::{
    self, FOLD, Total, device, each_run, prepare, resident, rungs, total_lanes, totals, totals_vec,
    wide,
};
use crate::gradient;
use crate::record::{Entry, Member, Op};
use crate::samples::{self, Sample};
use crate::statistics::{VARIANCE, parameter_of, prepare_variance, too_few};
use rung_array::Array;
use rung_base::{Error, ErrorKind, Result};
use rung_kernel::fold::Fold;
use rung_lanes::Lanes;
use rung_lanes::fold::{
    CentredPresent, Choice, IntegerStep, LargestPresent, Present, Product, ProductPresent, Second,
    SmallestPresent, Sum, SumPresent,
};
use rung_math::fold::{mean_present, present, product_present, sum_present, variance_present};
use rung_math::{Binary, IntegerBinary, LargerNumber, SmallerNumber};

pub const OPS: &[Op] = &[
    Op {
        names: &["nansum"],
        doc: "The sum of the elements that are not NaN; 0 of none.",
        result: "as sum",
        prepare: |op, a, _| prepare(op, a, Total::Sum),
        rungs: rungs(
            sum_portable,
            sum_lanes,
            resident(|c, trip| device(c, trip, Fold::SumPresent)),
        ),
        gradient: gradient::PRESENT_SUM,
        example: "(la:nansum #d(1 nan 2)) => 3.0",
        ..PRESENT
    },
    Op {
        names: &["nanprod"],
        doc: "The product of the elements that are not NaN; 1 of none.",
        result: "as prod",
        prepare: |op, a, _| prepare(op, a, Total::Sum),
        rungs: rungs(
            product_portable,
            product_lanes,
            resident(|c, trip| device(c, trip, Fold::ProductPresent)),
        ),
        gradient: gradient::PRESENT_PRODUCT,
        example: "(la:nanprod #d((2 nan) (nan nan)) :axis 1) => #d(2.0 1.0)",
        ..PRESENT
    },
    Op {
        names: &["nanmean"],
        doc: "The mean of the elements that are not NaN.",
        result: "as mean",
        prepare: |op, a, _| prepare(op, a, Total::Mean),
        rungs: rungs(mean_portable, mean_lanes, ABSENT),
        gradient: gradient::PRESENT_MEAN,
        example: "(la:nanmean #d(1 nan 2)) => 1.5",
        ..PRESENT
    },
    Op {
        names: &["nanvar"],
        doc: "The variance of the elements that are not NaN.",
        result: "as var",
        parameters: VARIANCE,
        prepare: prepare_variance,
        rungs: rungs(variance_portable, variance_lanes, ABSENT),
        gradient: gradient::PRESENT_VARIANCE,
        example: "(la:nanvar #d(1 nan 2 3 4)) => 1.25",
        ..PRESENT
    },
    Op {
        names: &["nanstd"],
        doc: "The standard deviation of the elements that are not NaN.",
        result: "as std",
        parameters: VARIANCE,
        prepare: prepare_variance,
        rungs: rungs(deviation_portable, deviation_lanes, ABSENT),
        gradient: gradient::PRESENT_DEVIATION,
        example: "(la:nanstd #d(1 nan 3)) => 1.0",
        ..PRESENT
    },
    Op {
        names: &["nanmax"],
        doc: "The largest element that is not NaN.",
        result: "as amax",
        prepare: |op, a, _| prepare(op, a, Total::Select),
        rungs: rungs(select_portable::<LargerNumber>, select_lanes::<LargestPresent>, ABSENT),
        gradient: gradient::EXTREME,
        example: "(la:nanmax #d((1 nan) (2 5)) :axis 0) => #d(2.0 5.0)",
        ..PRESENT
    },
    Op {
        names: &["nanmin"],
        doc: "The smallest element that is not NaN.",
        result: "as amin",
        prepare: |op, a, _| prepare(op, a, Total::Select),
        rungs: rungs(select_portable::<SmallerNumber>, select_lanes::<SmallestPresent>, ABSENT),
        gradient: gradient::EXTREME,
        example: "(la:nanmin #d(4 nan 2)) => 2.0",
        ..PRESENT
    },
];

/// Why the others have no device kernel.
const ABSENT: Entry<Member> =
    Entry::None("whether a slice has a number at all is read before there is a result");

const PRESENT: Op = Op { samples: present_samples, ..FOLD };

fn present_samples() -> Vec<Sample> {
    let axis = |a, axis| vec![a, samples::word("axis"), samples::integer(axis)];
    let mut all = samples::few_folds();
    // One NaN in each row or column at most, so that no slice is without numbers.
    all.push(axis(samples::hard(&[20, 20], 3.0), 0));
    all.push(axis(samples::hard(&[40, 17], 3.0), 0));
    all.push(axis(samples::hard(&[3, 33, 5], 3.0), 1));
    all
}

fn sum_portable(call: &Call) -> Result<Array> {
    at_compute_type!(call,
        T => each_run::<T, f64>(call, |run| sum_present(run.len(), wide(run))),
        fold::sum_portable(call))
}

fn product_portable(call: &Call) -> Result<Array> {
    at_compute_type!(call,
        T => each_run::<T, f64>(call, |run| product_present(run.len(), wide(run))),
        fold::product_portable(call))
}

/// How many numbers each slice has.
fn counts_portable(call: &Call) -> Result<Vec<f64>> {
    let counts = at_compute_type!(call,
        T => each_run::<T, f64>(call, |run| present(run.len(), wide(run)) as f64)?,
        integers_not_taken(call)?);
    Ok(counts.view::<f64>().iter().collect())
}

fn refuse_absent(call: &Call, counts: &[f64]) -> Result<()> {
    if counts.contains(&0.0) {
        let text = format!("all values are NaN: {} of {}", call.op.name(), call.shapes());
        return Err(Error::new(ErrorKind::Empty, text));
    }
    Ok(())
}

fn mean_portable(call: &Call) -> Result<Array> {
    refuse_absent(call, &counts_portable(call)?)?;
    at_compute_type!(call,
        T => each_run::<T, f64>(call, |run| mean_present(run.len(), wide(run))),
        integers_not_taken(call))
}

fn refuse_few(call: &Call, counts: &[f64]) -> Result<()> {
    refuse_absent(call, counts)?;
    let ddof = parameter_of(call)?;
    match counts.iter().find(|&&count| count as i64 <= ddof) {
        Some(&count) => Err(too_few(call.op, count as usize, ddof)),
        None => Ok(()),
    }
}

fn variance_portable(call: &Call) -> Result<Array> {
    refuse_few(call, &counts_portable(call)?)?;
    let ddof = parameter_of(call)?;
    at_compute_type!(call,
        T => each_run::<T, f64>(call, |run| variance_present(run.len(), ddof, wide(run))),
        integers_not_taken(call))
}

fn deviation_portable(call: &Call) -> Result<Array> {
    refuse_few(call, &counts_portable(call)?)?;
    let ddof = parameter_of(call)?;
    at_compute_type!(call,
        T => each_run::<T, f64>(call, |run| variance_present(run.len(), ddof, wide(run)).sqrt()),
        integers_not_taken(call))
}

fn select_portable<F: Binary + IntegerBinary>(call: &Call) -> Result<Array> {
    if call.operands[0].element_type().is_float() {
        refuse_absent(call, &counts_portable(call)?)?;
    }
    fold::select_portable::<F>(call)
}

fn sum_lanes(call: &Call, lanes: &Lanes) -> Result<Answer> {
    total_lanes::<SumPresent, Sum>(call, lanes)
}

fn product_lanes(call: &Call, lanes: &Lanes) -> Result<Answer> {
    total_lanes::<ProductPresent, Product>(call, lanes)
}

fn mean_lanes(call: &Call, lanes: &Lanes) -> Result<Answer> {
    at_compute_type!(call, T => Array::try_build::<f64>(call.shape.clone(), |out| {
        let counts = totals_vec::<Present, T>(call, lanes, Second::None)?;
        refuse_absent(call, &counts)?;
        totals::<SumPresent, T>(call, lanes, Second::None, out)?;
        out.iter_mut().zip(counts).for_each(|(o, count)| *o /= count);
        Ok(())
    }), integers_not_taken(call))
    .map(Answer::Done)
}

fn variances(call: &Call, lanes: &Lanes, last: fn(f64) -> f64) -> Result<Answer> {
    let ddof = parameter_of(call)?;
    at_compute_type!(call, T => Array::try_build::<f64>(call.shape.clone(), |out| {
        let counts = totals_vec::<Present, T>(call, lanes, Second::None)?;
        refuse_few(call, &counts)?;
        let mut means = totals_vec::<SumPresent, T>(call, lanes, Second::None)?;
        means.iter_mut().zip(&counts).for_each(|(mean, count)| *mean /= count);
        totals::<CentredPresent, T>(call, lanes, Second::PerSlice(&means), out)?;
        let divided = |(o, count): (&mut f64, f64)| *o = last(*o / (count as i64 - ddof) as f64);
        out.iter_mut().zip(counts).for_each(divided);
        Ok(())
    }), integers_not_taken(call))
    .map(Answer::Done)
}

fn variance_lanes(call: &Call, lanes: &Lanes) -> Result<Answer> {
    variances(call, lanes, |variance| variance)
}

fn deviation_lanes(call: &Call, lanes: &Lanes) -> Result<Answer> {
    variances(call, lanes, f64::sqrt)
}

/// A slice without a number gives the infinity that every number is picked before; only then are
/// the numbers counted.
fn select_lanes<C: Choice + IntegerStep>(call: &Call, lanes: &Lanes) -> Result<Answer> {
    let answer = fold::select_lanes::<C>(call, lanes)?;
    if let Answer::Done(found) = &answer
        && call.operands[0].element_type().is_float()
        && found.numbers().any(|x| x.to_f64() == <C as Choice>::IDENTITY)
    {
        let counts = at_compute_type!(call,
            T => totals_vec::<Present, T>(call, lanes, Second::None)?,
            Vec::new());
        refuse_absent(call, &counts)?;
    }
    Ok(answer)
}
