//! Folds over a whole array or along one axis: sum, mean, amax, amin, argmax, argmin.
//!
//! Every fold runs over the axes in `Detail::Fold` of its only operand, the other axes are the
//! result's; a whole fold runs over all of them. The order of additions is `rung_math::fold`'s,
//! so it depends on the number of elements folded alone.

use crate::arguments::Arguments;
use crate::call::{Call, Detail, Prepared, at_compute_type, at_type, elements, lanes_operand};
use crate::decline::{Answer, Decline};
use crate::explain;
use crate::record::{
    Definition, Entry, Family, Kind, Member, Offer, Op, Parameter, Rungs, keyword, required,
};
use crate::round_trip::{RoundTrip, Stage};
use crate::samples;
use rung_array::Array;
use rung_base::element::ElementClass;
use rung_base::{Element, ElementType, Error, ErrorKind, Result, Shape};
use rung_kernel::fold::{Fold, Slices};
use rung_lanes::Lanes;
use rung_lanes::fold::{self as drivers, Choice, Largest, Second, Smallest};
use rung_math::fold::{mean, sum};
use rung_math::{Binary, IntegerBinary, Maximum, Minimum};
use smallvec::{SmallVec, smallvec};

pub const OPS: &[Op] = &[
    Op {
        names: &["sum"],
        doc: "The sum of all elements, or along an axis, accumulated in double-float.",
        result: "a double-float (an integer for integers), or an array of a's type",
        prepare: |op, a, _| prepare(op, a, Total::Sum),
        rungs: rungs(sum_portable, sum_lanes, round_trip(sum_device)),
        example: "(la:sum #d((1 2 3) (4 5 6)) :axis -1 :keepdims t) => #d((6.0) (15.0))",
        ..FOLD
    },
    Op {
        names: &["mean"],
        doc: "The sum divided by the number of elements, both in double-float.",
        result: "a double-float, or an array of a's float type",
        prepare: |op, a, _| prepare(op, a, Total::Mean),
        rungs: rungs(mean_portable, mean_lanes, round_trip(mean_device)),
        example: "(la:mean #d(1 2 6)) => 3.0",
        ..FOLD
    },
    Op {
        names: &["amax"],
        doc: "The largest element; NaN if there is one.",
        result: "an element of a's type, or an array of them",
        prepare: |op, a, _| prepare(op, a, Total::Select),
        rungs: rungs(select_portable::<Maximum>, select_lanes::<Largest>, NO_SELECT_DEVICE),
        example: "(la:amax #d((1 9) (7 5)) :axis 0) => #d(7.0 9.0)",
        ..FOLD
    },
    Op {
        names: &["amin"],
        doc: "The smallest element; NaN if there is one.",
        result: "an element of a's type, or an array of them",
        prepare: |op, a, _| prepare(op, a, Total::Select),
        rungs: rungs(select_portable::<Minimum>, select_lanes::<Smallest>, NO_SELECT_DEVICE),
        example: "(la:amin #d((1 9) (7 5)) :axis 0) => #d(1.0 5.0)",
        ..FOLD
    },
    Op {
        names: &["argmax"],
        doc: "The index of the largest element, the lowest on ties; the first NaN wins.",
        result: "an integer (row-major), or a double-float array of indices along the axis",
        prepare: |op, a, _| prepare(op, a, Total::Index),
        rungs: rungs(argument_portable::<Maximum>, argument_lanes::<Largest>, NO_SELECT_DEVICE),
        example: "(la:argmax #d((1 9 3) (7 5 6)) :axis 1) => #d(1.0 0.0)",
        ..FOLD
    },
    Op {
        names: &["argmin"],
        doc: "The index of the smallest element, the lowest on ties; the first NaN wins.",
        result: "an integer (row-major), or a double-float array of indices along the axis",
        prepare: |op, a, _| prepare(op, a, Total::Index),
        rungs: rungs(argument_portable::<Minimum>, argument_lanes::<Smallest>, NO_SELECT_DEVICE),
        example: "(la:argmin #d(4 1 1)) => 1",
        ..FOLD
    },
];

const PARAMETERS: &[Parameter] =
    &[required("a", Kind::Array), keyword("axis", Kind::Integer), keyword("keepdims", Kind::Flag)];
const fn round_trip(run: fn(&Call, &RoundTrip) -> Result<Answer>) -> Entry<Member> {
    Entry::Has(Member { offer: Offer::RoundTrip(Family::Fold), run })
}

const NO_SELECT_DEVICE: Entry<Member> = Entry::None("one comparison an element is bound by memory");

/// What the records have in common.
const FOLD: Op = Op {
    parameters: PARAMETERS,
    prepare: |op, a, _| prepare(op, a, Total::Sum),
    rungs: rungs(sum_portable, sum_lanes, Entry::None("")),
    samples: || [samples::folds(true), samples::folds(false)].concat(),
    ..Op::BASE
};

type Portable = fn(&Call) -> Result<Array>;
type LanesKernel = fn(&Call, &Lanes) -> Result<Answer>;

const fn rungs(portable: Portable, lanes: LanesKernel, device: Entry<Member>) -> Rungs {
    let library = Entry::None("its order of additions is not ours");
    let portable = Definition::One(portable);
    Rungs { portable, lanes: Entry::Has(lanes), library, device }
}

/// What a fold gives, which decides its types and what it says to nothing.
#[derive(Clone, Copy, PartialEq)]
enum Total {
    Sum,
    Mean,
    Select,
    Index,
}

/// The type computed in, the type the rungs write, the result's type whole and along an axis.
fn types(total: Total, t: ElementType) -> [ElementType; 4] {
    use ElementType::{F64, I64};
    let float = t.is_float();
    let compute = if float { t.compute_type() } else { I64 };
    match total {
        Total::Sum if float => [compute, F64, F64, t],
        Total::Sum => [I64, I64, I64, I64],
        Total::Mean if float => [compute, F64, F64, t],
        Total::Mean => [F64, F64, F64, F64],
        Total::Index => [compute, I64, I64, F64],
        Total::Select if t.class() == ElementClass::Bool => [I64, I64, t, t],
        Total::Select => [compute, compute, t, t],
    }
}

fn prepare(op: &'static Op, mut arguments: Arguments, total: Total) -> Result<Prepared> {
    let a = arguments.array(0)?;
    let axis = arguments.optional_integer(1)?;
    let keep = arguments.flag(2);
    let [compute, raw, whole_type, axis_type] = types(total, a.element_type());
    let (rank, units) = (a.rank(), a.size() as u64);
    let whole = axis.is_none();
    let (axes, shape): (SmallVec<[usize; 4]>, Shape) = match axis {
        Some(axis) => {
            let axis = a.shape().axis(axis)?;
            (smallvec![axis], a.shape().without(axis, keep))
        }
        // The elements of a number are folded too, along no axis at all.
        None if keep => ((0..rank).collect(), Shape::new(vec![1; rank])?),
        None => ((0..rank).collect(), Shape::scalar()),
    };
    let folded: usize = axes.iter().map(|&axis| a.shape()[axis]).product();
    if folded == 0 && total != Total::Sum {
        return Err(Error::new(
            ErrorKind::Empty,
            match whole {
                true => format!("{} of an empty array", op.name()),
                false => format!("reduction of an empty axis: {} along an axis of 0", op.name()),
            },
        ));
    }
    Ok(Prepared::Call(Box::new(Call {
        op,
        given: smallvec![a.shape().clone()],
        operands: [at_type(&a, compute)?].into_iter().collect(),
        shape,
        raw,
        result: if whole && !keep { whole_type } else { axis_type },
        to_number: whole && !keep,
        more: Vec::new(),
        detail: Detail::Fold { axes },
        family: Family::Fold,
        units,
    })))
}

/// The operand with the folded axes last, so that its elements are runs of one fold each.
fn runs<T: Element>(call: &Call) -> Result<(Vec<T>, usize)> {
    let (x, folded) = (&call.operands[0], axes_of(call)?);
    let mut order: Vec<usize> = (0..x.rank()).filter(|axis| !folded.contains(axis)).collect();
    order.extend(folded);
    Ok((elements::<T>(&x.transpose(&order)?)?, folded_count(call)?))
}

fn axes_of(call: &Call) -> Result<&[usize]> {
    match &call.detail {
        Detail::Fold { axes } => Ok(axes),
        _ => Err(Error::new(ErrorKind::Internal, "a fold without its axes")),
    }
}

/// How many elements go into each result.
fn folded_count(call: &Call) -> Result<usize> {
    Ok(axes_of(call)?.iter().map(|&axis| call.operands[0].shape()[axis]).product())
}

/// One result for each run of `n` elements.
fn each_run<T: Element, O: Element>(call: &Call, f: impl Fn(&[T]) -> O) -> Result<Array> {
    let (elements, n) = runs::<T>(call)?;
    Array::build::<O>(call.shape.clone(), |out| {
        out.iter_mut().enumerate().for_each(|(i, o)| *o = f(&elements[i * n..(i + 1) * n]));
    })
}

/// The elements of a run in f64.
fn wide<T: Copy + Into<f64>>(run: &[T]) -> impl Fn(usize) -> f64 {
    |i| run[i].into()
}

fn sum_portable(call: &Call) -> Result<Array> {
    at_compute_type!(call,
        T => each_run::<T, f64>(call, |run| sum(run.len(), wide(run))),
        each_run::<i64, i64>(call, |run| run.iter().fold(0, |s, &x| s.wrapping_add(x))))
}

fn mean_portable(call: &Call) -> Result<Array> {
    at_compute_type!(call,
        T => each_run::<T, f64>(call, |run| mean(run.len(), wide(run))),
        crate::call::integers_not_taken(call))
}

fn select_portable<F: Binary + IntegerBinary>(call: &Call) -> Result<Array> {
    at_compute_type!(call,
    T => each_run::<T, T>(call, |run| {
        run[1..].iter().fold(run[0], |best, &x| <F as Binary>::at(best, x))
    }),
    each_run::<i64, i64>(call, |run| {
        run[1..].iter().fold(run[0], |best, &x| <F as IntegerBinary>::at(best, x))
    }))
}

/// The first element that is NaN, else the first that equals the selected one.
fn argument_portable<F: Binary + IntegerBinary>(call: &Call) -> Result<Array> {
    at_compute_type!(call,
    T => each_run::<T, i64>(call, |run| {
        let best = run[1..].iter().fold(run[0], |best, &x| <F as Binary>::at(best, x));
        run.iter().position(|&x| x == best || x.is_nan()).unwrap_or(0) as i64
    }),
    each_run::<i64, i64>(call, |run| {
        let best = run[1..].iter().fold(run[0], |b, &x| <F as IntegerBinary>::at(b, x));
        run.iter().position(|&x| x == best).unwrap_or(0) as i64
    }))
}

fn no_integers() -> Result<Answer> {
    Ok(Answer::Declined(Decline::Type(ElementType::I64)))
}

/// x folded over the call's axes, out in f64.
fn sum_lanes(call: &Call, lanes: &Lanes) -> Result<Answer> {
    total_lanes(call, lanes, 1.0)
}

fn mean_lanes(call: &Call, lanes: &Lanes) -> Result<Answer> {
    total_lanes(call, lanes, folded_count(call)? as f64)
}

fn total_lanes(call: &Call, lanes: &Lanes, divisor: f64) -> Result<Answer> {
    let (x, axes) = (&call.operands[0], axes_of(call)?);
    at_compute_type!(call, T => Array::build::<f64>(call.shape.clone(), |out| {
        let operand = lanes_operand::<T>(x);
        drivers::axes_of::<drivers::Sum, T>(lanes, x.shape(), operand, axes, Second::None, out);
        // A division by one keeps every bit, but a sum need not pay for it.
        if divisor != 1.0 {
            out.iter_mut().for_each(|o| *o /= divisor);
        }
    })
    .map(Answer::Done), no_integers())
}

fn select_lanes<C: Choice>(call: &Call, lanes: &Lanes) -> Result<Answer> {
    let (x, axes) = (&call.operands[0], axes_of(call)?);
    at_compute_type!(call, T => Array::build::<T>(call.shape.clone(), |out| {
        drivers::extreme::<C, T>(lanes, x.shape(), lanes_operand(x), axes, out);
    })
    .map(Answer::Done), no_integers())
}

fn argument_lanes<C: Choice>(call: &Call, lanes: &Lanes) -> Result<Answer> {
    let (x, axes) = (&call.operands[0], axes_of(call)?);
    let mut positions = vec![0; call.shape.size()];
    at_compute_type!(call, T => {
        drivers::position::<C, T>(lanes, x.shape(), lanes_operand(x), axes, &mut positions);
    }, return no_integers());
    Array::build::<i64>(call.shape.clone(), |out| {
        out.iter_mut().zip(positions).for_each(|(o, p)| *o = p as i64);
    })
    .map(Answer::Done)
}

fn sum_device(call: &Call, trip: &RoundTrip) -> Result<Answer> {
    device(call, trip, Fold::Sum)
}

fn mean_device(call: &Call, trip: &RoundTrip) -> Result<Answer> {
    device(call, trip, Fold::Mean)
}

/// x (outer, n, inner), out (outer, inner). The kernel narrows to the operand's type, so a
/// result of another type would be rounded twice: those decline.
fn device(call: &Call, trip: &RoundTrip, fold: Fold) -> Result<Answer> {
    let element = call.operands[0].element_type();
    if element != call.result {
        return Ok(Answer::Declined(Decline::Type(call.result)));
    }
    let (axes, length) = (axes_of(call)?, folded_count(call)?);
    let x = explain::packed(&call.operands[0])?;
    // One axis, or all of them: between the axes before and after, the folded ones are one run.
    let (first, after) = (axes[0], axes[axes.len() - 1] + 1);
    let outer = x.shape()[..first].iter().product();
    let inner: usize = x.shape()[after..].iter().product();
    let slices = Slices {
        offset: 0,
        outer,
        length,
        inner,
        outer_stride: (length * inner) as isize,
        stride: inner as isize,
        inner_stride: 1,
    };
    let plan = trip.fold_kernels(fold, element).plan(&slices);
    let stages = plan.map(|stages| {
        let bytes = |s: &rung_kernel::fold::Stage| s.output * s.element.size();
        stages.into_iter().map(|s| Stage { output_bytes: bytes(&s), launch: s.launch }).collect()
    });
    at_compute_type!(call, T => {
        let elements = x.as_slice::<T>().unwrap_or(&[]);
        trip.run_stages::<T, T>(stages, &[elements], call.shape.clone())
    }, Ok(Answer::Declined(Decline::Type(ElementType::I64))))
}
