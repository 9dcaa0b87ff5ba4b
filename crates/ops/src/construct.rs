//! Arrays made from numbers: constants, sequences, other element types.

use crate::arguments::Arguments;
use crate::call::{Call, Context, Detail, Prepared};
use crate::decline::Answer;
use crate::record::{
    Definition, Entry, Family, Kind, Member, NO_LIBRARY, Offer, Op, Parameter, Part, Quick, Rungs,
    SMALL, keyword, optional, required,
};
use crate::round_trip::RoundTrip;
use crate::samples;
use crate::shape::nothing_to_compute;
use crate::value::Value;
use rung_array::{Array, Number};
use rung_base::{ElementType, Error, ErrorKind, Result, Shape};
use rung_lanes::{Lanes, each};

pub const OPS: &[Op] = &[
    Op {
        names: &["zeros"],
        quick: Quick::One(|_, n| quick(n, 0.0)),
        doc: "An array of zeros.",
        parameters: SHAPED,
        prepare: |_, mut a, _| constant(a.shape(0)?, Number::I64(0), a.element_type(1, DOUBLE)?),
        samples: || vec![vec![shape(&[2, 3])], vec![shape(&[0])]],
        example: "(la:zeros 2) => #d(0.0 0.0)",
        ..MADE
    },
    Op {
        names: &["ones"],
        quick: Quick::One(|_, n| quick(n, 1.0)),
        doc: "An array of ones.",
        parameters: SHAPED,
        prepare: |_, mut a, _| constant(a.shape(0)?, Number::I64(1), a.element_type(1, DOUBLE)?),
        samples: || vec![vec![shape(&[2, 3])]],
        example: "(la:ones '(1 2) :element-type 'single-float) => #f((1.0 1.0))",
        ..MADE
    },
    Op {
        names: &["full"],
        doc: "An array of one number.",
        parameters: &[
            required("shape", Kind::Shape),
            required("number", Kind::Number),
            keyword("element-type", Kind::ElementType),
        ],
        prepare: |_, mut a, _| constant(a.shape(0)?, a.number(1)?, a.element_type(2, DOUBLE)?),
        samples: || vec![vec![shape(&[2, 3]), samples::number(0.1)]],
        example: "(la:full 2 7) => #d(7.0 7.0)",
        ..MADE
    },
    Op {
        names: &["zeros-like"],
        doc: "An array of zeros of another array's shape and element type.",
        parameters: &[required("a", Kind::Array), keyword("element-type", Kind::ElementType)],
        prepare: |_, mut a, _| {
            let like = a.array(0)?;
            constant(like.shape().clone(), Number::I64(0), a.element_type(1, like.element_type())?)
        },
        samples: || vec![vec![samples::spread(&[2, 3], 1.0)]],
        example: "(la:zeros-like #f(1 2)) => #f(0.0 0.0)",
        ..LIKE
    },
    Op {
        names: &["ones-like"],
        doc: "An array of ones of another array's shape and element type.",
        parameters: &[required("a", Kind::Array), keyword("element-type", Kind::ElementType)],
        prepare: |_, mut a, _| {
            let like = a.array(0)?;
            constant(like.shape().clone(), Number::I64(1), a.element_type(1, like.element_type())?)
        },
        samples: || vec![vec![samples::spread(&[2, 3], 1.0)]],
        example: "(la:ones-like #f(5 6)) => #f(1.0 1.0)",
        ..LIKE
    },
    Op {
        names: &["full-like"],
        doc: "An array of one number of another array's shape and element type.",
        parameters: &[
            required("a", Kind::Array),
            required("number", Kind::Number),
            keyword("element-type", Kind::ElementType),
        ],
        prepare: |_, mut a, _| {
            let like = a.array(0)?;
            let number = a.number(1)?;
            constant(like.shape().clone(), number, a.element_type(2, like.element_type())?)
        },
        samples: || vec![vec![samples::spread(&[2, 3], 1.0), samples::integer(1)]],
        example: "(la:full-like #d(1 2) 7 :element-type 'single-float) => #f(7.0 7.0)",
        ..LIKE
    },
    Op {
        names: &["arange"],
        doc: "start, start + step, ... below stop: (stop), (start stop) or (start stop step).",
        parameters: &[
            required("start", Kind::Number),
            optional("stop", Kind::Number),
            optional("step", Kind::Number),
            keyword("element-type", Kind::ElementType),
        ],
        prepare: arange,
        rungs: SEQUENCE,
        samples: || {
            vec![
                vec![samples::integer(5)],
                vec![samples::number(0.0), samples::number(1.0), samples::number(0.1)],
                vec![samples::integer(10), samples::integer(-1), samples::integer(-3)],
                vec![samples::integer(70_001)],
                vec![samples::integer(3), samples::integer(1)],
            ]
        },
        example: "(la:arange 5) => #d(0.0 1.0 2.0 3.0 4.0)",
        ..MADE
    },
    Op {
        names: &["linspace"],
        doc: "n numbers evenly spaced from start to stop, both included.",
        parameters: &[
            required("start", Kind::Number),
            required("stop", Kind::Number),
            required("n", Kind::Integer),
            keyword("element-type", Kind::ElementType),
        ],
        prepare: linspace,
        rungs: SEQUENCE,
        samples: || {
            let from = |n| vec![samples::number(-1.0), samples::number(0.1), samples::integer(n)];
            [0, 1, 2, 7, 70_001].map(from).into()
        },
        example: "(la:linspace 0 1 3) => #d(0.0 0.5 1.0)",
        ..MADE
    },
    Op {
        names: &["astype"],
        doc: "The elements at another type: floats round to nearest even, floats become integers \
              by truncation and fail when they do not fit.",
        parameters: &[required("a", Kind::Array), required("type", Kind::ElementType)],
        prepare: prepare_type,
        result: "an array of a's shape and that type",
        rungs: Rungs {
            portable: Definition::One(type_portable),
            lanes: Entry::None("a conversion is bound by memory"),
            library: Entry::None(NO_LIBRARY),
            device: Entry::Has(Member { offer: Offer::ResidentOnly, run: type_device }),
        },
        samples: || {
            let to = |name| vec![samples::spread(&[2, 13], 100.0), samples::word(name)];
            ElementType::ALL.map(|t| to(t.name())).into()
        },
        example: "(la:astype #d(1.5 -2.7) '(signed-byte 32)) => #(1 -2)",
        ..MADE
    },
];

pub const DOUBLE: ElementType = ElementType::F64;
const SHAPED: &[Parameter] =
    &[required("shape", Kind::Shape), keyword("element-type", Kind::ElementType)];

/// What the records of constants have in common.
pub const MADE: Op = Op {
    result: "an array; double-float unless an element type is given",
    rungs: Rungs::none("a fill is bound by memory"),
    ..Op::BASE
};

const LIKE: Op = Op { result: "an array of a's shape, and type unless another is given", ..MADE };

const SEQUENCE: Rungs = Rungs::processor(
    Definition::One(sequence_portable),
    sequence_lanes,
    "a fill is bound by memory",
);

fn done(array: Array) -> Result<Prepared> {
    Ok(Prepared::Done(vec![array.into()]))
}

fn prepare_type(op: &'static Op, mut a: Arguments, _: &mut Context) -> Result<Prepared> {
    let array = a.array(0)?;
    if !a.is_given(1) {
        return Err(Error::new(ErrorKind::ElementType, "unknown element type: nil"));
    }
    let to = a.element_type(1, array.element_type())?;
    let from = array.element_type();
    // What may not fit is an error, which is found before a rung is asked.
    let fits = match (from.is_float(), to.is_float()) {
        (_, true) => true,
        (true, false) => to == ElementType::Bool,
        (false, false) => to == ElementType::Bool || from.size() < to.size(),
    };
    if from == to || !fits {
        return done(array.convert(to)?);
    }
    Ok(Prepared::Call(Box::new(Call { raw: to, ..Call::like(op, array, to, Family::Copy) })))
}

/// a and out of the same shape.
fn type_portable(call: &Call) -> Result<Array> {
    call.operands[0].convert(call.result)
}

fn type_device(call: &Call, trip: &RoundTrip) -> Result<Answer> {
    Ok(match trip.copy(&call.operands[0], call.result)? {
        Ok(array) => Answer::Done(array),
        Err(reason) => Answer::Declined(reason),
    })
}

fn shape(extents: &[i64]) -> Value {
    Value::List(extents.iter().map(|&n| Value::integer(n)).collect())
}

fn constant(shape: Shape, n: Number, element_type: ElementType) -> Result<Prepared> {
    match n {
        Number::I64(0) => done(Array::zeros(element_type, shape)?),
        _ => done(Array::full(element_type, shape, n)?),
    }
}

/// A few equal doubles.
fn quick(n: Part, element: f64) -> Option<Value> {
    let Part::Number(Number::I64(n)) = n else { return None };
    let n = usize::try_from(n).ok().filter(|n| *n <= SMALL)?;
    let array = Array::build::<f64>(Shape::vector(n), |out| out.fill(element));
    array.ok().map(Value::Array)
}

pub fn count(n: i64, what: &str) -> Result<usize> {
    usize::try_from(n).map_err(|_| {
        Error::wanted(ErrorKind::Argument, format!("{what} expects a non-negative count"), n)
    })
}

/// A call that writes start + i * step in f64, narrowed once.
fn sequence(op: &'static Op, n: usize, detail: Detail, result: ElementType) -> Prepared {
    Prepared::Call(Box::new(Call {
        op,
        operands: Default::default(),
        given: Default::default(),
        shape: Shape::vector(n),
        raw: ElementType::F64,
        result,
        to_number: false,
        wanted: Default::default(),
        more: Vec::new(),
        targets: Default::default(),
        detail,
        family: Family::Copy,
        units: n as u64,
    }))
}

fn sequence_portable(call: &Call) -> Result<Array> {
    let Detail::Sequence { start, step, last } = call.detail else {
        return nothing_to_compute(call);
    };
    Array::build::<f64>(call.shape.clone(), |out| {
        out.iter_mut().enumerate().for_each(|(i, o)| *o = start + i as f64 * step);
        if let (Some(end), Some(last)) = (out.last_mut(), last) {
            *end = last;
        }
    })
}

fn sequence_lanes(call: &Call, lanes: &Lanes) -> Result<Answer> {
    let Detail::Sequence { start, step, last } = call.detail else {
        return nothing_to_compute(call).map(Answer::Done);
    };
    Array::build::<f64>(call.shape.clone(), |out| {
        each::generate(lanes, out, |i| start + i as f64 * step);
        if let (Some(end), Some(last)) = (out.last_mut(), last) {
            *end = last;
        }
    })
    .map(Answer::Done)
}

fn arange(op: &'static Op, mut arguments: Arguments, _: &mut Context) -> Result<Prepared> {
    let given = [0, 1, 2].map(|at| arguments.is_given(at));
    let mut number = |at| {
        let only = "arange expects numbers (the element type is :element-type 'single-float)";
        let wrong = |e: Error| Error::new(ErrorKind::Type, format!("{only}: {}", e.message()));
        arguments.number(at).map(Number::to_f64).map_err(wrong)
    };
    let first = number(0)?;
    let second = if given[1] { Some(number(1)?) } else { None };
    let step = if given[2] { number(2)? } else { 1.0 };
    let (start, stop) = second.map_or((0.0, first), |stop| (first, stop));
    if step == 0.0 {
        return Err(Error::new(ErrorKind::Argument, "arange step must not be zero"));
    }
    let n = ((stop - start) / step).ceil().max(0.0);
    if !n.is_finite() || n >= (1u64 << 48) as f64 {
        let text = format!("arange from {start:?} to {stop:?} by {step:?} has no finite length");
        return Err(Error::new(ErrorKind::Argument, text));
    }
    let element_type = arguments.element_type(3, DOUBLE)?;
    Ok(sequence(op, n as usize, Detail::Sequence { start, step, last: None }, element_type))
}

/// The last element is stop itself; a single one is start.
fn linspace(op: &'static Op, mut arguments: Arguments, _: &mut Context) -> Result<Prepared> {
    let (start, stop) = (arguments.number(0)?.to_f64(), arguments.number(1)?.to_f64());
    let n = count(arguments.integer(2)?, "linspace")?;
    let step = (stop - start) / (n.max(2) - 1) as f64;
    let last = (n > 1).then_some(stop);
    let element_type = arguments.element_type(3, DOUBLE)?;
    Ok(sequence(op, n, Detail::Sequence { start, step, last }, element_type))
}
