//! The seeded generator: three multiplicative congruential generators with a closed-form jump,
//! so that every rung draws the same stream (spec acceleration 7).
//!
//! The state is the process's; `prepare` advances it past what a call will draw, and the rungs
//! start from a copy.

use crate::arguments::Arguments;
use crate::call::{Call, Context, Detail, Prepared};
use crate::decline::Answer;
use crate::record::{
    Definition, Entry, FLOATS, Family, Kind, Member, Offer, Op, Parameter, Rungs, keyword, required,
};
use crate::round_trip::RoundTrip;
use crate::samples;
use crate::shape::nothing_to_compute;
use crate::value::Value;
use rung_array::Array;
use rung_base::{ElementType, Error, ErrorKind, Result, Shape};
use rung_kernel::fill as kernel;
use rung_lanes::Lanes;
use rung_math::random::{Fill, State};

pub const OPS: &[Op] = &[
    Op {
        names: &["seed"],
        doc: "Starts the generator from an integer, then discards ten draws.",
        parameters: &[required("n", Kind::Integer)],
        result: "the integer",
        prepare: |_, mut a, context| {
            let n = a.integer(0)?;
            context.generator = State::seeded(n.into());
            Ok(Prepared::Done(vec![Value::integer(n)]))
        },
        rungs: Rungs {
            portable: Definition::None,
            lanes: Entry::None(STATE),
            device: Entry::None(STATE),
            ..FILLING
        },
        samples: || vec![vec![samples::integer(42)]],
        example: "(la:seed 42) => 42",
        ..DRAWN
    },
    Op {
        names: &["rand"],
        doc: "Numbers drawn evenly from [0, 1).",
        parameters: SHAPED,
        prepare: |op, mut a, context| {
            let (shape, t) = (a.shape(0)?, a.element_type(1, ElementType::F64)?);
            fill(op, shape, t, Fill::Rand, context)
        },
        samples: || shapes(&[]),
        example: "(progn (la:seed 42) (la:rand 2)) => #d(0.4472300870545973 0.1853479743160764)",
        ..DRAWN
    },
    Op {
        names: &["randn"],
        doc: "Numbers of mean 0 and variance 1: the sum of twelve draws less 6.",
        parameters: SHAPED,
        prepare: |op, mut a, context| {
            let (shape, t) = (a.shape(0)?, a.element_type(1, ElementType::F64)?);
            fill(op, shape, t, Fill::Randn, context)
        },
        samples: || shapes(&[]),
        example: "(progn (la:seed 42) (la:randn 2)) => #d(0.16067638516438176 -0.4586437813254802)",
        ..DRAWN
    },
    Op {
        names: &["uniform"],
        doc: "Numbers drawn evenly from [low, high).",
        parameters: &[
            required("low", Kind::Number),
            required("high", Kind::Number),
            required("shape", Kind::Shape),
            keyword("element-type", Kind::ElementType),
        ],
        prepare: |op, mut a, context| {
            let (low, high) = (a.number(0)?.to_f64(), a.number(1)?.to_f64());
            let (shape, t) = (a.shape(2)?, a.element_type(3, ElementType::F64)?);
            fill(op, shape, t, Fill::Uniform { low, high }, context)
        },
        samples: || shapes(&[samples::number(-1.0), samples::number(3.0)]),
        example: "(progn (la:seed 42) (la:uniform -1 1 1)) => #d(-0.10553982589080535)",
        ..DRAWN
    },
    Op {
        names: &["permutation"],
        doc: "The integers below n in random order.",
        parameters: &[required("n", Kind::Integer)],
        result: "a double-float vector of indices",
        prepare: permutation,
        rungs: Rungs {
            portable: Definition::None,
            lanes: Entry::None(SWAPS),
            device: Entry::None(SWAPS),
            ..FILLING
        },
        samples: || vec![vec![samples::integer(10)]],
        example: "(progn (la:seed 9) (la:permutation 10)) => #d(4.0 5.0 6.0 2.0 9.0 7.0 1.0 0.0 8.0 3.0)",
        ..DRAWN
    },
];

const STATE: &str = "it only sets the state";
const SWAPS: &str = "each swap depends on the one before";
const SHAPED: &[Parameter] =
    &[required("shape", Kind::Shape), keyword("element-type", Kind::ElementType)];

const FILLING: Rungs = Rungs {
    portable: Definition::One(portable),
    lanes: Entry::Has(lanes),
    library: Entry::None("no CBLAS routine draws numbers"),
    device: Entry::Has(Member { offer: Offer::RoundTrip(Family::Fill), run: device }),
};

/// What the records have in common.
const DRAWN: Op = Op {
    result: "an array; double-float unless an element type is given",
    types: FLOATS,
    rungs: FILLING,
    ..Op::BASE
};

fn shapes(before: &[Value]) -> Vec<samples::Sample> {
    let shape = |extents: &[i64]| {
        let list = Value::List(extents.iter().map(|&n| Value::integer(n)).collect());
        before.iter().cloned().chain([list]).collect()
    };
    [&[0][..], &[1], &[7], &[3, 65], &[4097]].iter().map(|e| shape(e)).collect()
}

fn fill(
    op: &'static Op,
    shape: Shape,
    result: ElementType,
    fill: Fill,
    context: &mut Context,
) -> Result<Prepared> {
    if !result.is_float() {
        let text = format!("{} makes floats: got {}", op.name(), result.lisp_name());
        return Err(Error::new(ErrorKind::ElementType, text));
    }
    let (state, units) = (context.generator, shape.size() as u64);
    context.generator = fill.after(state, units);
    Ok(Prepared::Call(Box::new(Call {
        op,
        operands: Default::default(),
        given: Default::default(),
        shape,
        raw: ElementType::F64,
        result,
        to_number: false,
        more: Vec::new(),
        detail: Detail::Fill { state, fill },
        family: Family::Fill,
        units,
    })))
}

fn portable(call: &Call) -> Result<Array> {
    let Detail::Fill { mut state, fill } = call.detail else { return nothing_to_compute(call) };
    Array::build::<f64>(call.shape.clone(), |out| {
        out.iter_mut().for_each(|o| *o = fill.next(&mut state));
    })
}

/// Fisher and Yates from the end: for i from n-1 down to 1, i changes places with one below.
fn permutation(
    _: &'static Op,
    mut arguments: Arguments,
    context: &mut Context,
) -> Result<Prepared> {
    let n = arguments.integer(0)?;
    let n = usize::try_from(n).map_err(|_| {
        Error::wanted(ErrorKind::Argument, "permutation expects a non-negative count", n)
    })?;
    let mut order = Array::build::<f64>(Shape::vector(n), |out| {
        out.iter_mut().enumerate().for_each(|(i, o)| *o = i as f64);
    })?;
    let elements = order.make_mut::<f64>()?;
    for i in (1..n).rev() {
        elements.swap(i, context.generator.draw_below(i as u64 + 1) as usize);
    }
    Ok(Prepared::Done(vec![order.into()]))
}

fn device(call: &Call, trip: &RoundTrip) -> Result<Answer> {
    let Detail::Fill { state, fill } = call.detail else { return wrong_detail() };
    let kernel = trip.kernel(call, || kernel::kernel(fill, ElementType::F64))?;
    let launch = kernel::launch(&kernel, fill, state, call.shape.size());
    trip.run::<f64, f64>(launch, &[], call.shape.clone())
}

fn wrong_detail<T>() -> Result<T> {
    Err(Error::new(ErrorKind::Internal, "a fill without a state"))
}

fn lanes(call: &Call, lanes: &Lanes) -> Result<Answer> {
    let Detail::Fill { state, fill } = call.detail else { return wrong_detail() };
    Array::build::<f64>(call.shape.clone(), |out| {
        rung_lanes::random::fill(lanes, fill, state, out);
    })
    .map(Answer::Done)
}
