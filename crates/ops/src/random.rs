//! The seeded generator: three multiplicative congruential generators with a closed-form jump,
//! so that every rung draws the same stream (spec acceleration 7).
//!
//! The state is the process's; `prepare` advances it past what a call will draw, and the rungs
//! start from a copy.

use crate::arguments::Arguments;
use crate::call::{Call, Context, Detail, Prepared};
use crate::contract::steps;
use crate::decline::Answer;
use crate::generator::Generator;
use crate::record::{
    Definition, Entry, FLOATS, Family, INTERNAL, Kind, Member, Offer, Op, Parameter, Rungs,
    keyword, required,
};
use crate::round_trip::{RoundTrip, Work};
use crate::samples;
use crate::shape::nothing_to_compute;
use crate::value::Value;
use rung_array::{Array, SliceSpec};
use rung_base::{Element, ElementType, Error, ErrorKind, Result, Shape};
use rung_kernel::fill as kernel;
use rung_kernel::philox as drawn_kernel;
use rung_lanes::{Float, Lanes};
use rung_math::Width;
use rung_math::philox::{self, Drawn, Fill as CounterFill};
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
            context.counter = Generator::new(n as u64, 0);
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
            match a.generator(2)? {
                Some(generator) => counter(op, shape, t, CounterFill::Uniform, &generator),
                None => fill(op, shape, t, Fill::Rand, context),
            }
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
            match a.generator(2)? {
                Some(generator) => drawn(op, shape, t, Fill::Randn, &generator),
                None => fill(op, shape, t, Fill::Randn, context),
            }
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
            ELEMENT_TYPE,
            GENERATOR,
        ],
        prepare: |op, mut a, context| {
            let (low, high) = (a.number(0)?.to_f64(), a.number(1)?.to_f64());
            let span = high - low;
            let (shape, t) = (a.shape(2)?, a.element_type(3, ElementType::F64)?);
            match a.generator(4)? {
                Some(generator) => drawn(op, shape, t, Fill::Uniform { low, span }, &generator),
                None => fill(op, shape, t, Fill::Uniform { low, span }, context),
            }
        },
        samples: || shapes(&[samples::number(-1.0), samples::number(3.0)]),
        example: "(progn (la:seed 42) (la:uniform -1 1 1)) => #d(-0.10553982589080535)",
        ..DRAWN
    },
    Op {
        names: &["normal"],
        doc: "Numbers of a mean and a standard deviation by the counter-based generator: two from \
              two uniform ones (Box and Muller, 1958).",
        parameters: &[
            required("mean", Kind::Number),
            required("deviation", Kind::Number),
            required("shape", Kind::Shape),
            ELEMENT_TYPE,
            GENERATOR,
        ],
        prepare: normal,
        rungs: Rungs::STEPS,
        samples: || shapes(&[samples::number(1.0), samples::number(2.0)]),
        example: "(progn (la:seed 1) (la:shape (la:normal 0 1 '(2 3)))) => (2 3)",
        ..DRAWN
    },
    Op {
        names: &["%la-normal-fill"],
        package: INTERNAL,
        doc: "Numbers of mean 0 and variance 1 by the counter-based generator.",
        parameters: SHAPED,
        prepare: |op, mut a, context| {
            let (shape, t) = (a.shape(0)?, a.element_type(1, ElementType::F64)?);
            let generator = a.generator(2)?.unwrap_or_else(|| context.counter.clone());
            counter(op, shape, t, CounterFill::Normal, &generator)
        },
        rungs: FILLING,
        samples: || shapes(&[]),
        example: "(la:shape (linalg::%la-normal-fill 3)) => (3)",
        ..DRAWN
    },
    Op {
        names: &["philox"],
        doc: "A generator of its own: Philox 4x32-10 (Salmon and others, 2011), whose numbers \
              depend on seed, stream and place alone.",
        parameters: &[required("seed", Kind::Integer), keyword("stream", Kind::Integer)],
        result: "a generator, for `:generator` of the functions that draw",
        prepare: |_, mut a, _| {
            let (seed, stream) = (a.integer(0)?, a.optional_integer(1)?.unwrap_or(0));
            let generator = Generator::new(seed as u64, stream as u64);
            Ok(Prepared::Done(vec![Value::Generator(generator)]))
        },
        rungs: Rungs::none(STATE),
        samples: || vec![vec![samples::integer(42)]],
        example: "(la:rand 2 :generator (la:philox 0)) => #d(0.3990464708489645 0.7357127844834425)",
        ..DRAWN
    },
    Op {
        names: &["rng-state"],
        doc: "The state of the process's generator.",
        result: "a list of three integers",
        prepare: |_, _, context| {
            let parts = context.generator.0.iter().map(|&part| Value::integer(part.into()));
            Ok(Prepared::Done(vec![Value::List(parts.collect())]))
        },
        rungs: Rungs::none(STATE),
        samples: || vec![vec![]],
        example: "(progn (la:seed 42) (la:rng-state)) => (27595 3371 8102)",
        ..DRAWN
    },
    Op {
        names: &["rng-state"],
        doc: "Sets the state of the process's generator to three integers.",
        parameters: &[required("state", Kind::Integers)],
        result: "the list",
        prepare: set_state,
        rungs: Rungs::none(STATE),
        samples: || vec![vec![list_of(&[1, 2, 3])]],
        example: "(setf (la:rng-state) '(27595 3371 8102)) => (27595 3371 8102)",
        setf: true,
        ..DRAWN
    },
];

const STATE: &str = "it only sets the state";
pub(crate) const ELEMENT_TYPE: Parameter = keyword("element-type", Kind::ElementType);
pub(crate) const GENERATOR: Parameter = keyword("generator", Kind::Generator);
const SHAPED: &[Parameter] = &[required("shape", Kind::Shape), ELEMENT_TYPE, GENERATOR];

const FILLING: Rungs = Rungs {
    portable: Definition::One(portable),
    lanes: Entry::Has(lanes),
    library: Entry::None("no CBLAS routine draws numbers"),
    device: Entry::Has(Member { offer: Offer::RoundTrip(Family::Fill), run: device }),
};

/// What the records have in common.
pub(crate) const DRAWN: Op = Op {
    result: "an array; double-float unless an element type is given",
    types: FLOATS,
    rungs: FILLING,
    ..Op::BASE
};

pub(crate) fn shapes(before: &[Value]) -> Vec<samples::Sample> {
    let shape = |extents: &[i64]| {
        let list = Value::List(extents.iter().map(|&n| Value::integer(n)).collect());
        before.iter().cloned().chain([list]).collect()
    };
    [&[0][..], &[1], &[7], &[3, 65], &[4097]].iter().map(|e| shape(e)).collect()
}

pub(crate) fn fill(
    op: &'static Op,
    shape: Shape,
    result: ElementType,
    fill: Fill,
    context: &mut Context,
) -> Result<Prepared> {
    float_type(op, result)?;
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
        wanted: Default::default(),
        more: Vec::new(),
        targets: Default::default(),
        detail: Detail::Fill { state, fill },
        family: Family::Fill,
        units,
    })))
}

fn portable(call: &Call) -> Result<Array> {
    if let Detail::Counter { state, fill } = call.detail {
        return match call.raw {
            ElementType::F32 => counter_portable::<f32>(call, state, fill),
            _ => counter_portable::<f64>(call, state, fill),
        };
    }
    let Detail::Fill { mut state, fill } = call.detail else { return nothing_to_compute(call) };
    Array::build::<f64>(call.shape.clone(), |out| {
        out.iter_mut().for_each(|o| *o = fill.next(&mut state));
    })
}

fn counter_portable<T: Element + Drawn>(
    call: &Call,
    state: philox::State,
    fill: CounterFill,
) -> Result<Array> {
    Array::build::<T>(call.shape.clone(), |out| {
        out.iter_mut().zip(0..).for_each(|(o, i)| *o = fill.element::<T>(state, i));
    })
}

/// A fill by the counter-based generator, at the result's own width.
fn counter(
    op: &'static Op,
    shape: Shape,
    result: ElementType,
    fill: CounterFill,
    generator: &Generator,
) -> Result<Prepared> {
    let raw = float_type(op, result)?.compute_type();
    let (state, units) = (generator.state(), shape.size() as u64);
    generator.set(match raw {
        ElementType::F32 => fill.after::<f32>(state, units),
        _ => fill.after::<f64>(state, units),
    });
    Ok(Prepared::Call(Box::new(Call {
        op,
        operands: Default::default(),
        given: Default::default(),
        shape,
        raw,
        result,
        to_number: false,
        wanted: Default::default(),
        more: Vec::new(),
        targets: Default::default(),
        detail: Detail::Counter { state, fill },
        family: Family::Fill,
        units,
    })))
}

pub(crate) fn float_type(op: &'static Op, t: ElementType) -> Result<ElementType> {
    if t.is_float() {
        return Ok(t);
    }
    let text = format!("{} makes floats: got {}", op.name(), t.lisp_name());
    Err(Error::new(ErrorKind::ElementType, text))
}

/// The seeded generator's formulas over uniform numbers of another one, in double-float.
pub(crate) fn drawn(
    op: &'static Op,
    shape: Shape,
    result: ElementType,
    fill: Fill,
    generator: &Generator,
) -> Result<Prepared> {
    float_type(op, result)?;
    let draws = fill.draws() as usize;
    let extents = Shape::new(shape.iter().copied().chain([draws]))?;
    let uniform = uniform_numbers(&extents, Some(generator.clone()));
    steps(move |run| {
        let u = run.array("rand", uniform)?;
        let of = |i: usize| -> Result<Value> {
            let last = extents.rank() - 1;
            let mut specs = vec![SliceSpec::ALL; last + 1];
            specs[last] = SliceSpec { start: Some(i as i64), end: Some(i as i64 + 1), step: 1 };
            Ok(u.slice(&specs)?.reshape(shape.clone())?.into())
        };
        let value = match fill {
            Fill::Rand => of(0)?,
            Fill::Uniform { low, span } => {
                let spread = run.array("mul", vec![of(0)?, samples::number(span)])?;
                run.array("add", vec![spread.into(), samples::number(low)])?.into()
            }
            Fill::Dropout { rate, kept } => {
                let dropped = run.array("less", vec![of(0)?, samples::number(rate)])?;
                let values = [samples::number(0.0), samples::number(kept)].to_vec();
                run.array("where", [vec![dropped.into()], values].concat())?.into()
            }
            Fill::Randn => {
                let mut total = of(0)?;
                for i in 1..draws {
                    total = run.array("add", vec![total, of(i)?])?.into();
                }
                run.array("sub", vec![total, samples::number(6.0)])?.into()
            }
        };
        run.call("astype", vec![value, type_word(result)])
    })
}

/// Arguments of `rand` for double-float numbers of a shape.
pub(crate) fn uniform_numbers(shape: &Shape, generator: Option<Generator>) -> Vec<Value> {
    let extents = shape.iter().map(|&n| Value::integer(n as i64)).collect();
    let mut arguments = vec![Value::List(extents)];
    if let Some(generator) = generator {
        arguments.extend([samples::word("generator"), Value::Generator(generator)]);
    }
    arguments
}

pub(crate) fn type_word(t: ElementType) -> Value {
    Value::Symbol(t.numpy_name().into())
}

pub(crate) fn list_of(numbers: &[i64]) -> Value {
    Value::List(numbers.iter().map(|&n| Value::integer(n)).collect())
}

fn normal(op: &'static Op, mut arguments: Arguments, context: &mut Context) -> Result<Prepared> {
    let (mean, deviation) = (arguments.number(0)?, arguments.number(1)?);
    if deviation.to_f64() < 0.0 {
        let wanted = "normal expects a deviation of 0 or more";
        return Err(Error::wanted(ErrorKind::Argument, wanted, deviation));
    }
    let (shape, t) = (arguments.shape(2)?, arguments.element_type(3, ElementType::F64)?);
    float_type(op, t)?;
    let generator = arguments.generator(4)?.unwrap_or_else(|| context.counter.clone());
    let mut fill = uniform_numbers(&shape, Some(generator));
    fill.extend([samples::word("element-type"), type_word(t)]);
    steps(move |run| {
        let z = run.array("%la-normal-fill", fill)?;
        let spread = run.array("mul", vec![z.into(), Value::Number(deviation)])?;
        run.call("add", vec![spread.into(), Value::Number(mean)])
    })
}

fn set_state(_: &'static Op, mut arguments: Arguments, context: &mut Context) -> Result<Prepared> {
    let given = arguments.integers(0)?.unwrap_or_default();
    let parts: Option<[i64; 3]> = given.clone().try_into().ok();
    let state = parts.and_then(|parts| State::from_integers(parts.map(i128::from)));
    let Some(state) = state else {
        let wanted = "rng-state expects three integers, none a multiple of its modulus";
        return Err(Error::wanted(ErrorKind::Argument, wanted, list_of(&given)));
    };
    context.generator = state;
    Ok(Prepared::Done(vec![list_of(&given)]))
}

fn device(call: &Call, trip: &RoundTrip) -> Result<Answer> {
    if let Detail::Counter { state, fill } = call.detail {
        return counter_device(call, trip, state, fill);
    }
    let Detail::Fill { state, fill } = call.detail else { return wrong_detail() };
    // Rounded once, from the double that is drawn.
    let single = call.result == ElementType::F32;
    let t = if single { ElementType::F32 } else { ElementType::F64 };
    let kernel = trip.kernel(call, "fill", || kernel::kernel(fill, t))?;
    let launch = kernel::launch(&kernel, fill, state, call.shape.size());
    trip.run_work(launch.map(|launch| Work::one(launch, 0, t, call.shape.clone())), &[])
}

fn counter_device(
    call: &Call,
    trip: &RoundTrip,
    state: philox::State,
    fill: CounterFill,
) -> Result<Answer> {
    let single = call.raw == ElementType::F32;
    let (width, state) = match single {
        true => (Width::F32, fill.start::<f32>(state)),
        false => (Width::F64, fill.start::<f64>(state)),
    };
    let name = match (fill, single) {
        (CounterFill::Uniform, true) => "uniform of singles",
        (CounterFill::Uniform, false) => "uniform of doubles",
        (CounterFill::Normal, true) => "normal of singles",
        (CounterFill::Normal, false) => "normal of doubles",
    };
    let make = || Ok(drawn_kernel::kernel(fill, width, call.result));
    let kernel = trip.kernel_for(("(philox)", call.result, name), make)?;
    let launch = drawn_kernel::launch(&kernel, state, call.shape.size());
    let work = launch.map(|launch| Work::one(launch, 0, call.result, call.shape.clone()));
    trip.run_work(work, &[])
}

fn wrong_detail<T>() -> Result<T> {
    Err(Error::new(ErrorKind::Internal, "a fill without a state"))
}

fn lanes(call: &Call, lanes: &Lanes) -> Result<Answer> {
    if let Detail::Counter { state, fill } = call.detail {
        return match call.raw {
            ElementType::F32 => counter_lanes::<f32>(call, lanes, state, fill),
            _ => counter_lanes::<f64>(call, lanes, state, fill),
        };
    }
    let Detail::Fill { state, fill } = call.detail else { return wrong_detail() };
    Array::build::<f64>(call.shape.clone(), |out| {
        rung_lanes::random::fill(lanes, fill, state, out);
    })
    .map(Answer::Done)
}

fn counter_lanes<T: Float + Drawn>(
    call: &Call,
    lanes: &Lanes,
    state: philox::State,
    fill: CounterFill,
) -> Result<Answer> {
    Array::build::<T>(call.shape.clone(), |out| {
        rung_lanes::philox::fill(lanes, fill, state, out);
    })
    .map(Answer::Done)
}
