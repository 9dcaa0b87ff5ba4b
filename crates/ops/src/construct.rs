//! Arrays made from numbers: constants, identities, sequences, lists, other element types.

use crate::arguments::Arguments;
use crate::call::{Call, Context, Detail, Prepared};
use crate::record::{
    Definition, Entry, Family, Kind, NO_LIBRARY, Op, Parameter, Rungs, keyword, optional, required,
};
use crate::samples;
use crate::shape::nothing_to_compute;
use crate::value::Value;
use rung_array::{Array, Number};
use rung_base::{ElementType, Error, ErrorKind, Result, Shape};

pub const OPS: &[Op] = &[
    Op {
        names: &["zeros"],
        doc: "An array of zeros.",
        parameters: SHAPED,
        prepare: |_, mut a, _| constant(a.shape(0)?, Number::I64(0), a.element_type(1, DOUBLE)?),
        samples: || vec![vec![shape(&[2, 3])], vec![shape(&[0])]],
        example: "(la:zeros 2) => #d(0.0 0.0)",
        ..MADE
    },
    Op {
        names: &["ones"],
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
        ..MADE
    },
    Op {
        names: &["eye"],
        doc: "The identity matrix of n rows.",
        parameters: &[required("n", Kind::Integer), keyword("element-type", Kind::ElementType)],
        prepare: eye,
        samples: || vec![vec![samples::integer(3)], vec![samples::integer(0)]],
        example: "(la:eye 2) => #d((1.0 0.0) (0.0 1.0))",
        ..MADE
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
        rungs: Rungs { portable: Definition::One(sequence_portable), ..NOTHING },
        samples: || {
            vec![
                vec![samples::integer(5)],
                vec![samples::number(0.0), samples::number(1.0), samples::number(0.1)],
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
        samples: || vec![vec![samples::number(-1.0), samples::number(2.0), samples::integer(7)]],
        example: "(la:linspace 0 1 3) => #d(0.0 0.5 1.0)",
        ..MADE
    },
    Op {
        names: &["from-list"],
        doc: "An array of the numbers in nested lists, each level of nesting an axis.",
        parameters: &[required("list", Kind::Nested), keyword("element-type", Kind::ElementType)],
        prepare: from_list,
        samples: || {
            let row = |a: i64| Value::List(vec![samples::integer(a), samples::number(0.5)]);
            vec![vec![Value::List(vec![row(1), row(2)])]]
        },
        example: "(la:from-list '((1 2) (3 4))) => #d((1.0 2.0) (3.0 4.0))",
        ..MADE
    },
    Op {
        names: &["to-list"],
        doc: "The elements as nested lists; of an array of rank 0, the number.",
        parameters: &[required("a", Kind::Array)],
        result: "a list, or a number",
        prepare: |_, mut a, _| Ok(Prepared::Done(vec![to_list(&a.array(0)?)?])),
        samples: || vec![vec![samples::spread(&[2, 3], 1.0)]],
        example: "(la:to-list #d((1 2) (3 4))) => ((1.0 2.0) (3.0 4.0))",
        ..MADE
    },
    Op {
        names: &["copy"],
        doc: "A copy with its elements one after another, sharing nothing.",
        parameters: &[required("a", Kind::Array)],
        prepare: |_, mut a, _| {
            let array = a.array(0)?;
            done(array.to_owned_copy()?)
        },
        samples: || vec![vec![samples::hard(&[2, 13], 1.0)]],
        example: "(la:copy #d(1 2)) => #d(1.0 2.0)",
        ..MADE
    },
    Op {
        names: &["astype"],
        doc: "The elements at another type: floats round to nearest even, floats become integers \
              by truncation and fail when they do not fit.",
        parameters: &[required("a", Kind::Array), required("type", Kind::ElementType)],
        prepare: |_, mut a, _| {
            let array = a.array(0)?;
            if !a.is_given(1) {
                return Err(Error::new(ErrorKind::ElementType, "unknown element type: nil"));
            }
            let to = a.element_type(1, array.element_type())?;
            done(array.convert(to)?)
        },
        samples: || vec![vec![samples::spread(&[2, 13], 100.0), samples::word("float32")]],
        example: "(la:astype #d(1.5 -2.7) '(signed-byte 32)) => #(1 -2)",
        ..MADE
    },
];

const DOUBLE: ElementType = ElementType::F64;
const SHAPED: &[Parameter] =
    &[required("shape", Kind::Shape), keyword("element-type", Kind::ElementType)];
const FILL: &str = "a fill is bound by memory";
const NOTHING: Rungs = Rungs {
    portable: Definition::None,
    lanes: Entry::None(FILL),
    library: Entry::None(NO_LIBRARY),
    device: Entry::None(FILL),
};

/// What the records have in common.
const MADE: Op = Op {
    result: "an array; double-float unless an element type is given",
    rungs: NOTHING,
    ..Op::BASE
};

fn done(array: Array) -> Result<Prepared> {
    Ok(Prepared::Done(vec![array.into()]))
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

fn count(n: i64, what: &str) -> Result<usize> {
    usize::try_from(n).map_err(|_| {
        Error::wanted(ErrorKind::Argument, format!("{what} expects a non-negative count"), n)
    })
}

fn eye(_: &'static Op, mut arguments: Arguments, _: &mut Context) -> Result<Prepared> {
    let n = count(arguments.integer(0)?, "eye")?;
    let mut out = Array::zeros(arguments.element_type(1, DOUBLE)?, Shape::matrix(n, n)?)?;
    for i in 0..n as i64 {
        out.set(&[i, i], Number::I64(1))?;
    }
    done(out)
}

/// A call that writes start + i * step in f64, narrowed once.
fn sequence(op: &'static Op, n: usize, start: f64, step: f64, result: ElementType) -> Prepared {
    Prepared::Call(Box::new(Call {
        op,
        operands: Default::default(),
        given: Default::default(),
        shape: Shape::vector(n),
        raw: ElementType::F64,
        result,
        to_number: false,
        more: Vec::new(),
        detail: Detail::Sequence { start, step },
        family: Family::Copy,
        units: n as u64,
    }))
}

fn sequence_portable(call: &Call) -> Result<Array> {
    let Detail::Sequence { start, step } = call.detail else { return nothing_to_compute(call) };
    Array::build::<f64>(call.shape.clone(), |out| {
        out.iter_mut().enumerate().for_each(|(i, o)| *o = start + i as f64 * step);
    })
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
    Ok(sequence(op, n as usize, start, step, element_type))
}

/// The last element is stop itself, so this is not a sequence.
fn linspace(_: &'static Op, mut arguments: Arguments, _: &mut Context) -> Result<Prepared> {
    let (start, stop) = (arguments.number(0)?.to_f64(), arguments.number(1)?.to_f64());
    let n = count(arguments.integer(2)?, "linspace")?;
    let step = (stop - start) / (n.max(2) - 1) as f64;
    let array = Array::build::<f64>(Shape::vector(n), |out| {
        out.iter_mut().enumerate().for_each(|(i, o)| *o = start + i as f64 * step);
        if n > 1 {
            out[n - 1] = stop;
        }
    })?;
    done(array.convert(arguments.element_type(3, DOUBLE)?)?)
}

fn from_list(_: &'static Op, mut arguments: Arguments, _: &mut Context) -> Result<Prepared> {
    let nested = arguments.nested(0);
    let element_type = arguments.element_type(1, DOUBLE)?;
    let (mut extents, mut numbers) = (Vec::new(), Vec::new());
    measure(&nested, &mut extents);
    collect(&nested, &extents, &mut numbers)?;
    let mut out =
        Array::zeros(element_type, Shape::new(extents)?)?.reshape(Shape::vector(numbers.len()))?;
    for (i, n) in numbers.into_iter().enumerate() {
        out.set(&[i as i64], n)?;
    }
    let mut shape = Vec::new();
    measure(&nested, &mut shape);
    done(out.reshape(Shape::new(shape)?)?)
}

/// The extents by the first item at each level.
fn measure(value: &Value, extents: &mut Vec<usize>) {
    match value {
        Value::List(items) => {
            extents.push(items.len());
            if let Some(first) = items.first() {
                measure(first, extents);
            }
        }
        Value::Nil => extents.push(0),
        _ => {}
    }
}

fn collect(value: &Value, extents: &[usize], out: &mut Vec<Number>) -> Result<()> {
    match (value, extents) {
        (Value::Number(n), []) => out.push(*n),
        (Value::Nil, [0]) => {}
        (Value::List(items), [extent, rest @ ..]) if items.len() == *extent => {
            for item in items {
                collect(item, rest, out)?;
            }
        }
        (Value::Number(_) | Value::List(_), _) => {
            let text = format!("from-list rows differ in length: {value}");
            return Err(Error::new(ErrorKind::Shape, text));
        }
        _ => return Err(Error::wanted(ErrorKind::Type, "from-list expects numbers", value)),
    }
    Ok(())
}

fn to_list(a: &Array) -> Result<Value> {
    if a.rank() == 0 {
        return Ok(a.numbers().next().map_or(Value::Nil, Value::Number));
    }
    let mut items = Vec::new();
    // A broadcast view has any size, and its list has as many numbers.
    items.try_reserve_exact(a.size().max(a.shape()[0])).map_err(|_| {
        let text = format!("no memory for the list of an array of shape {}", a.shape());
        Error::new(ErrorKind::Memory, text)
    })?;
    if a.rank() == 1 {
        items.extend(a.numbers().map(Value::Number));
    } else {
        items.shrink_to(a.shape()[0]);
        for i in 0..a.shape()[0] {
            items.push(to_list(&a.row(i)?)?);
        }
    }
    Ok(Value::List(items))
}
