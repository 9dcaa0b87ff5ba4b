//! Folds over a whole array or over some of its axes: sum, prod, mean, amax, amin, argmax, argmin.
//! `truth`, `statistics` and `present` stand on what is shared here.
//!
//! Every fold runs over the axes in its `Detail`, ascending, so that the elements of a slice come
//! in row-major order; the other axes are the result's. The order of additions is
//! `rung_math::fold`'s and depends on the number of elements folded alone. Integers are folded at
//! their own type into i64, where they wrap.

use crate::arguments::Arguments;
use crate::call::{
    Call, Detail, Prepared, at_compute_type, at_type, cells, elements, integers_not_taken,
    lanes_operand, waiting,
};
use crate::decline::Answer;
use crate::gradient::{self, Gradient};
use crate::record::{
    Definition, Entry, Family, Kind, Member, Offer, Op, Parameter, Part, Quick, RationalFold,
    Rungs, keyword, required,
};
use crate::round_trip::RoundTrip;
use crate::samples;
use crate::value::Value;
use rung_array::{Array, Number};
use rung_base::{Element, ElementType, Error, ErrorKind, Result, Shape};
use rung_kernel::fold::Fold;
use rung_kernel::position::Seek;
use rung_lanes::fold::{self as drivers, Choice, IntegerStep, Largest, Second, Smallest};
use rung_lanes::{Lanes, small};
use rung_math::fold::{mean, product, sum};
use rung_math::{Binary, IntegerBinary, Maximum, Minimum};
use smallvec::{SmallVec, smallvec};

mod device;

pub(crate) use device::{device, position_device};

pub const OPS: &[Op] = &[
    Op {
        names: &["sum"],
        quick: Quick::One(quick_total::<drivers::Sum>),
        rational: Some(RationalFold::Sum),
        doc: "The sum of all elements, or along axes, accumulated in double-float.",
        result: "a double-float (an integer for integers), or an array of a's type",
        prepare: |op, a, _| prepare(op, a, Total::Sum),
        rungs: rungs(
            sum_portable,
            sum_lanes,
            round_trip(|call, trip| device(call, trip, Fold::Sum)),
        ),
        gradient: Gradient::Spread,
        example: "(la:sum #d((1 2 3) (4 5 6)) :axis -1 :keepdims t) => #d((6.0) (15.0))",
        ..FOLD
    },
    Op {
        names: &["prod"],
        quick: Quick::One(quick_total::<drivers::Product>),
        rational: Some(RationalFold::Product),
        doc: "The product of all elements, or along axes, accumulated in double-float; 1 of \
              nothing.",
        result: "a double-float (an integer for integers), or an array of a's type",
        prepare: |op, a, _| prepare(op, a, Total::Sum),
        rungs: rungs(
            product_portable,
            product_lanes,
            round_trip(|call, trip| device(call, trip, Fold::Product)),
        ),
        gradient: gradient::PRODUCT,
        samples: samples::few_folds,
        example: "(la:prod #d((1 2 3) (4 5 6)) :axis 0) => #d(4.0 10.0 18.0)",
        ..FOLD
    },
    Op {
        names: &["mean"],
        quick: Quick::One(quick_mean),
        rational: Some(RationalFold::Mean),
        doc: "The sum divided by the number of elements, both in double-float.",
        result: "a double-float, or an array of a's float type",
        prepare: |op, a, _| prepare(op, a, Total::Mean),
        rungs: rungs(
            mean_portable,
            mean_lanes,
            round_trip(|call, trip| device(call, trip, Fold::Mean)),
        ),
        gradient: gradient::MEAN,
        example: "(la:mean #d(1 2 6)) => 3.0",
        ..FOLD
    },
    Op {
        names: &["amax"],
        quick: Quick::One(quick_extreme::<Largest>),
        rational: Some(RationalFold::Largest),
        doc: "The largest element; NaN if there is one.",
        result: "an element of a's type, or an array of them",
        prepare: |op, a, _| prepare(op, a, Total::Select),
        rungs: rungs(
            select_portable::<Maximum>,
            select_lanes::<Largest>,
            round_trip(|call, trip| device(call, trip, Fold::Maximum)),
        ),
        gradient: gradient::EXTREME,
        example: "(la:amax #d((1 9) (7 5)) :axis 0) => #d(7.0 9.0)",
        ..FOLD
    },
    Op {
        names: &["amin"],
        quick: Quick::One(quick_extreme::<Smallest>),
        rational: Some(RationalFold::Smallest),
        doc: "The smallest element; NaN if there is one.",
        result: "an element of a's type, or an array of them",
        prepare: |op, a, _| prepare(op, a, Total::Select),
        rungs: rungs(
            select_portable::<Minimum>,
            select_lanes::<Smallest>,
            round_trip(|call, trip| device(call, trip, Fold::Minimum)),
        ),
        gradient: gradient::EXTREME,
        example: "(la:amin #d((1 9) (7 5)) :axis 0) => #d(1.0 5.0)",
        ..FOLD
    },
    Op {
        names: &["argmax"],
        rational: Some(RationalFold::FirstLargest),
        doc: "The index of the largest element, the lowest on ties; the first NaN wins.",
        rungs: rungs(
            argument_portable::<Maximum>,
            argument_lanes::<Largest>,
            round_trip(|c, trip| position_device(c, trip, Seek::Largest)),
        ),
        example: "(la:argmax #d((1 9 3) (7 5 6)) :axis 1) => #d(1.0 0.0)",
        ..ARGUMENT
    },
    Op {
        names: &["argmin"],
        rational: Some(RationalFold::FirstSmallest),
        doc: "The index of the smallest element, the lowest on ties; the first NaN wins.",
        rungs: rungs(
            argument_portable::<Minimum>,
            argument_lanes::<Smallest>,
            round_trip(|c, trip| position_device(c, trip, Seek::Smallest)),
        ),
        example: "(la:argmin #d(4 1 1)) => 1",
        ..ARGUMENT
    },
];

pub(crate) const PARAMETERS: &[Parameter] =
    &[required("a", Kind::Array), keyword("axis", Kind::Axes), keyword("keepdims", Kind::Flag)];
pub(crate) const fn round_trip(run: fn(&Call, &RoundTrip) -> Result<Answer>) -> Entry<Member> {
    Entry::Has(Member { offer: Offer::RoundTrip(Family::Fold), run })
}

pub(crate) const fn resident(run: fn(&Call, &RoundTrip) -> Result<Answer>) -> Entry<Member> {
    Entry::Has(Member { offer: Offer::ResidentOnly, run })
}

/// What the records have in common.
pub(crate) const FOLD: Op = Op {
    parameters: PARAMETERS,
    rungs: rungs(sum_portable, sum_lanes, Entry::None("")),
    samples: || [samples::folds(true), samples::folds(false)].concat(),
    ..Op::BASE
};

const ARGUMENT: Op = Op {
    parameters: &[
        required("a", Kind::Array),
        keyword("axis", Kind::Integer),
        keyword("keepdims", Kind::Flag),
        keyword("element-type", Kind::ElementType),
    ],
    result: "an integer (row-major), or an array of indices along the axis, double-float unless \
             :element-type says otherwise",
    prepare: prepare_argument,
    gradient: Gradient::Zero,
    ..FOLD
};

type Portable = fn(&Call) -> Result<Array>;
type LanesKernel = fn(&Call, &Lanes) -> Result<Answer>;

pub(crate) const fn rungs(portable: Portable, lanes: LanesKernel, device: Entry<Member>) -> Rungs {
    let library = Entry::None("its order of additions is not ours");
    let portable = Definition::One(portable);
    Rungs { portable, lanes: Entry::Has(lanes), library, device }
}

/// What a fold gives, which decides its types and what it says to nothing.
#[derive(Clone, Copy, PartialEq)]
pub(crate) enum Total {
    /// Accumulated: in f64, or in i64 for integers.
    Sum,
    /// Accumulated in f64 for integers too.
    Mean,
    /// One of the elements.
    Select,
    Count,
    Truth,
}

/// The types of a fold: computed in, written by the rungs, the result's whole and along axes.
#[derive(Clone, Copy)]
pub(crate) struct Types {
    pub compute: ElementType,
    pub raw: ElementType,
    pub whole: ElementType,
    pub array: ElementType,
}

pub(crate) fn types(total: Total, t: ElementType) -> Types {
    use ElementType::{Bool, F64, I64};
    let compute = if t.is_float() { t.compute_type() } else { t };
    let of = |compute, raw, whole, array| Types { compute, raw, whole, array };
    match total {
        Total::Sum | Total::Mean if t.is_float() => of(compute, F64, F64, t),
        Total::Sum => of(compute, I64, I64, I64),
        Total::Mean => of(F64, F64, F64, F64),
        Total::Select if t.is_float() => of(compute, compute, t, t),
        Total::Select => of(compute, I64, t, t),
        Total::Count => of(compute, I64, I64, I64),
        Total::Truth => of(compute, I64, Bool, Bool),
    }
}

/// Which axes are folded, ascending, and the result's shape.
pub(crate) struct Folded {
    pub axes: SmallVec<[usize; 4]>,
    pub shape: Shape,
    /// All axes, and the result is a number.
    pub to_number: bool,
    whole: bool,
    /// Elements of a slice.
    pub count: usize,
}

impl Folded {
    /// `axes` in any order; `None` for all.
    pub fn new(a: &Array, axes: Option<SmallVec<[usize; 4]>>, keep: bool) -> Result<Folded> {
        let whole = axes.is_none();
        let mut axes = axes.unwrap_or_else(|| (0..a.rank()).collect());
        axes.sort_unstable();
        let extent = |axis: usize| match axes.contains(&axis) {
            true => keep.then_some(1),
            false => Some(a.shape()[axis]),
        };
        let shape = Shape::new((0..a.rank()).filter_map(extent))?;
        let count = axes.iter().map(|&axis| a.shape()[axis]).product();
        Ok(Folded { axes, shape, to_number: whole && !keep, whole, count })
    }

    /// The error of a fold that has no value over nothing.
    pub fn refuse_nothing(&self, op: &'static Op) -> Result<()> {
        match (self.count, self.whole) {
            (0, true) => {
                Err(Error::new(ErrorKind::Empty, format!("{} of an empty array", op.name())))
            }
            (0, false) => {
                let text = format!("reduction of an empty axis: {} along an axis of 0", op.name());
                Err(Error::new(ErrorKind::Empty, text))
            }
            _ => Ok(()),
        }
    }

    /// The call of a fold of `a`.
    pub fn call(self, op: &'static Op, a: &Array, types: Types) -> Result<Call> {
        Ok(Call {
            op,
            given: smallvec![a.shape().clone()],
            operands: [waiting(a, types.compute)?].into_iter().collect(),
            shape: self.shape,
            raw: types.raw,
            result: if self.to_number { types.whole } else { types.array },
            to_number: self.to_number,
            wanted: Default::default(),
            more: Vec::new(),
            targets: Default::default(),
            detail: Detail::Fold { axes: self.axes },
            family: Family::Fold,
            units: a.size() as u64,
        }
        .at_types(&[types.compute]))
    }
}

pub(crate) fn prepare(op: &'static Op, mut arguments: Arguments, total: Total) -> Result<Prepared> {
    let a = arguments.array(0)?;
    let axes = arguments.axes(1, a.shape())?;
    let folded = Folded::new(&a, axes, arguments.flag(2))?;
    if matches!(total, Total::Mean | Total::Select) {
        folded.refuse_nothing(op)?;
    }
    let types = types(total, a.element_type());
    Ok(Prepared::Call(Box::new(folded.call(op, &a, types)?)))
}

/// A whole index is an integer; indices along an axis are of the type asked for.
fn prepare_argument(
    op: &'static Op,
    mut arguments: Arguments,
    _: &mut crate::call::Context,
) -> Result<Prepared> {
    let a = arguments.array(0)?;
    let axis = arguments.optional_integer(1)?;
    let axes = axis.map(|axis| a.shape().axis(axis)).transpose()?.map(|axis| smallvec![axis]);
    let folded = Folded::new(&a, axes, arguments.flag(2))?;
    folded.refuse_nothing(op)?;
    let array = arguments.element_type(3, ElementType::F64)?;
    let types = Types { array, ..types(Total::Count, a.element_type()) };
    Ok(Prepared::Call(Box::new(folded.call(op, &a, types)?)))
}

/// The operand with the folded axes last, so that its elements are runs of one fold each.
fn runs<T: Element>(call: &Call, x: &Array) -> Result<(Vec<T>, usize)> {
    let folded = axes_of(call)?;
    let mut order: Vec<usize> = (0..x.rank()).filter(|axis| !folded.contains(axis)).collect();
    order.extend(folded);
    Ok((elements::<T>(&x.transpose(&order)?)?, folded_count(call)?))
}

pub(crate) fn axes_of(call: &Call) -> Result<&[usize]> {
    match &call.detail {
        Detail::Fold { axes } | Detail::Statistic { axes, .. } => Ok(axes),
        _ => Err(Error::new(ErrorKind::Internal, "a fold without its axes")),
    }
}

/// How many elements go into each result.
pub(crate) fn folded_count(call: &Call) -> Result<usize> {
    Ok(axes_of(call)?.iter().map(|&axis| call.operands[0].shape()[axis]).product())
}

/// One result for each run of `n` elements.
pub(crate) fn each_run<T: Element, O: Element>(
    call: &Call,
    f: impl Fn(&[T]) -> O,
) -> Result<Array> {
    let (elements, n) = runs::<T>(call, &call.operands[0])?;
    Array::build::<O>(call.shape.clone(), |out| {
        out.iter_mut().enumerate().for_each(|(i, o)| *o = f(&elements[i * n..(i + 1) * n]));
    })
}

/// The same for integers of any width, widened.
pub(crate) fn each_integer_run(call: &Call, f: impl Fn(&[i64]) -> i64) -> Result<Array> {
    let (elements, n) = runs::<i64>(call, &at_type(&call.operands[0], ElementType::I64)?)?;
    Array::build::<i64>(call.shape.clone(), |out| {
        out.iter_mut().enumerate().for_each(|(i, o)| *o = f(&elements[i * n..(i + 1) * n]));
    })
}

/// The elements of a run in f64.
pub(crate) fn wide<T: Copy + Into<f64>>(run: &[T]) -> impl Fn(usize) -> f64 {
    |i| run[i].into()
}

pub(crate) fn sum_portable(call: &Call) -> Result<Array> {
    at_compute_type!(call,
        T => each_run::<T, f64>(call, |run| sum(run.len(), wide(run))),
        each_integer_run(call, |run| run.iter().fold(0, |s, &x| s.wrapping_add(x))))
}

pub(crate) fn product_portable(call: &Call) -> Result<Array> {
    at_compute_type!(call,
        T => each_run::<T, f64>(call, |run| product(run.len(), wide(run))),
        each_integer_run(call, |run| run.iter().fold(1, |s, &x| s.wrapping_mul(x))))
}

fn mean_portable(call: &Call) -> Result<Array> {
    at_compute_type!(call,
        T => each_run::<T, f64>(call, |run| mean(run.len(), wide(run))),
        integers_not_taken(call))
}

pub(crate) fn select_portable<F: Binary + IntegerBinary>(call: &Call) -> Result<Array> {
    at_compute_type!(call,
    T => each_run::<T, T>(call, |run| {
        run[1..].iter().fold(run[0], |best, &x| <F as Binary>::at(best, x))
    }),
    each_integer_run(call, |run| {
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
    each_integer_run(call, |run| {
        let best = run[1..].iter().fold(run[0], |b, &x| <F as IntegerBinary>::at(b, x));
        run.iter().position(|&x| x == best).unwrap_or(0) as i64
    }))
}

/// Runs `$body` with the storage type of an integer operand.
macro_rules! at_integer_type {
    ($call:expr, $T:ident => $body:expr) => {
        match $call.operands[0].element_type() {
            rung_base::ElementType::I64 => {
                type $T = i64;
                $body
            }
            rung_base::ElementType::I32 => {
                type $T = i32;
                $body
            }
            rung_base::ElementType::U8 => {
                type $T = u8;
                $body
            }
            _ => {
                type $T = rung_base::Bool;
                $body
            }
        }
    };
}

pub(crate) use at_integer_type;

/// x folded over the call's axes, out in f64.
pub(crate) fn totals<F: drivers::Step, T: rung_lanes::Float>(
    call: &Call,
    lanes: &Lanes,
    second: Second,
    out: &mut [f64],
) -> Result<()> {
    let x = &call.operands[0];
    drivers::axes_of::<F, T>(lanes, x.shape(), lanes_operand(x), axes_of(call)?, second, out);
    Ok(())
}

/// The same in a vector of its own.
pub(crate) fn totals_vec<F: drivers::Step, T: rung_lanes::Float>(
    call: &Call,
    lanes: &Lanes,
    second: Second,
) -> Result<Vec<f64>> {
    let mut out = cells(call)?;
    totals::<F, T>(call, lanes, second, &mut out)?;
    Ok(out)
}

/// x folded over the call's axes in f64, or in i64 for integers.
pub(crate) fn total_lanes<F: drivers::Step, I: IntegerStep>(
    call: &Call,
    lanes: &Lanes,
) -> Result<Answer> {
    at_compute_type!(call,
        T => Array::try_build::<f64>(call.shape.clone(), |out| {
            totals::<F, T>(call, lanes, Second::None, out)
        }),
        integer_lanes::<I>(call, lanes))
    .map(Answer::Done)
}

pub(crate) fn integer_lanes<I: IntegerStep>(call: &Call, lanes: &Lanes) -> Result<Array> {
    let (x, axes) = (&call.operands[0], axes_of(call)?);
    Array::build::<i64>(call.shape.clone(), |out| {
        at_integer_type!(call, T => {
            drivers::integers::<I, T>(lanes, x.shape(), lanes_operand(x), axes, out);
        });
    })
}

pub(crate) fn sum_lanes(call: &Call, lanes: &Lanes) -> Result<Answer> {
    total_lanes::<drivers::Sum, drivers::Sum>(call, lanes)
}

pub(crate) fn product_lanes(call: &Call, lanes: &Lanes) -> Result<Answer> {
    total_lanes::<drivers::Product, drivers::Product>(call, lanes)
}

fn mean_lanes(call: &Call, lanes: &Lanes) -> Result<Answer> {
    let n = folded_count(call)? as f64;
    at_compute_type!(call, T => Array::try_build::<f64>(call.shape.clone(), |out| {
        totals::<drivers::Sum, T>(call, lanes, Second::None, out)?;
        out.iter_mut().for_each(|o| *o /= n);
        Ok(())
    }), integers_not_taken(call))
    .map(Answer::Done)
}

pub(crate) fn select_lanes<C: Choice + IntegerStep>(call: &Call, lanes: &Lanes) -> Result<Answer> {
    let (x, axes) = (&call.operands[0], axes_of(call)?);
    at_compute_type!(call, T => Array::build::<T>(call.shape.clone(), |out| {
        drivers::extreme::<C, T>(lanes, x.shape(), lanes_operand(x), axes, out);
    }), integer_lanes::<C>(call, lanes))
    .map(Answer::Done)
}

fn argument_lanes<C: Choice + IntegerStep>(call: &Call, lanes: &Lanes) -> Result<Answer> {
    let (x, axes) = (&call.operands[0], axes_of(call)?);
    let mut positions = cells(call)?;
    at_compute_type!(call, T => {
        drivers::position::<C, T>(lanes, x.shape(), lanes_operand(x), axes, &mut positions);
    }, at_integer_type!(call, T => {
        let operand = lanes_operand::<T>(x);
        drivers::integer_position::<C, T>(lanes, x.shape(), operand, axes, &mut positions);
    }));
    Array::build::<i64>(call.shape.clone(), |out| {
        out.iter_mut().zip(positions).for_each(|(o, p)| *o = p as i64);
    })
    .map(Answer::Done)
}

/// The fold of all of a few elements in f64.
fn quick_total<F: drivers::Step>(lanes: &Lanes, x: Part) -> Option<Value> {
    few_total::<F>(lanes, x).map(double)
}

fn quick_mean(lanes: &Lanes, x: Part) -> Option<Value> {
    let n = x.small().map(Array::size).filter(|n| *n > 0)?;
    Some(double(few_total::<drivers::Sum>(lanes, x)? / n as f64))
}

fn few_total<F: drivers::Step>(lanes: &Lanes, x: Part) -> Option<f64> {
    let f32s = || x.few::<f32>().map(|x| small::fold::<F, f32>(lanes, x));
    x.few::<f64>().map(|x| small::fold::<F, f64>(lanes, x)).or_else(f32s)
}

fn quick_extreme<C: Choice>(lanes: &Lanes, x: Part) -> Option<Value> {
    x.small().filter(|x| x.size() > 0)?;
    let f64s = x.few::<f64>().map(|x| Number::F64(small::extreme::<C, f64>(lanes, x)));
    let f32s = || x.few::<f32>().map(|x| Number::F32(small::extreme::<C, f32>(lanes, x)));
    f64s.or_else(f32s).map(Value::Number)
}

fn double(x: f64) -> Value {
    Value::Number(Number::F64(x))
}
