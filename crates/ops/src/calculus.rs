//! Sampled functions: diff, gradient, trapz.

use crate::arguments::{Arguments, Operand};
use crate::call::{
    Call, Context, Detail, Prepared, Run, at_compute_type, at_type, elements, types_of,
};
use crate::decline::Answer;
use crate::explain::packed;
use crate::record::{Definition, Family, Kind, Op, Rungs, keyword, optional, required};
use crate::samples;
use crate::value::Value;
use rung_array::{Array, Number, SliceSpec};
use rung_base::{Element, ElementType, Error, ErrorKind, Result, Shape};
use rung_lanes::fold::{Second, Sum, axes_of};
use rung_lanes::{Float, Lanes, Operand as View, calculus as drivers};
use rung_math::calculus::{Places, gradient as definition, trapezoid};
use rung_math::fold::sum;

pub const OPS: &[Op] = &[
    Op {
        names: &["diff"],
        doc: "The differences of neighbours along an axis, the last by default, n times over.",
        parameters: &[
            required("a", Kind::Array),
            keyword("n", Kind::Integer),
            keyword("axis", Kind::Integer),
        ],
        result: "an array of a's type (bits count as bytes) with n elements fewer along the axis",
        prepare: diff,
        rungs: Rungs::STEPS,
        samples: || {
            let word = |name, n| [samples::word(name), samples::integer(n)].to_vec();
            let x = |shape: &[usize]| vec![samples::hard(shape, 1.0)];
            vec![
                x(&[30]),
                [x(&[30]), word("n", 2)].concat(),
                [x(&[3, 7]), word("axis", 0)].concat(),
                [x(&[3, 7]), word("n", 0)].concat(),
                [x(&[3, 7]), word("n", 5), word("axis", 0)].concat(),
            ]
        },
        example: "(la:diff #d(1 4 9 16)) => #d(3.0 5.0 7.0)",
        ..Op::BASE
    },
    Op {
        names: &["gradient"],
        doc: "The slope at each sample of a function: central differences, one-sided at the ends. \
              The spacing is a number (1 by default) or the samples' coordinates.",
        parameters: &[required("f", Kind::Array), optional("spacing", Kind::Operand)],
        result: "a vector of f's float type",
        prepare: gradient,
        rungs: Rungs::processor(Definition::One(gradient_portable), gradient_lanes, NO_TRIP),
        samples: || {
            let of = |n: usize| vec![samples::hard(&[n], 2.0)];
            let uneven = |n: usize| {
                let place = |i: usize| samples::number(i as f64 * 0.5 + (i % 3) as f64 * 0.125);
                (n, (0..n).map(place).collect::<Vec<Value>>())
            };
            let at = |(n, places): (usize, Vec<Value>)| {
                let numbers = places.iter().filter_map(|place| match place {
                    Value::Number(number) => Some(number.to_f64()),
                    _ => None,
                });
                let places = Array::vector(&numbers.collect::<Vec<f64>>());
                let places = places.map_or_else(|e| Value::Other(e.to_string()), Value::Array);
                [of(n), vec![places]].concat()
            };
            vec![
                of(2),
                of(3),
                [of(40), vec![samples::number(0.1)]].concat(),
                vec![samples::spread(&[70_000], 3.0)],
                at(uneven(2)),
                at(uneven(50)),
                at(uneven(70_001)),
            ]
        },
        example: "(la:gradient #d(1 2 4 7)) => #d(1.0 1.5 2.5 3.0)",
        ..Op::BASE
    },
    Op {
        names: &["trapz"],
        doc: "The area under the lines through samples along the last axis: a fold in \
              double-float. The samples are one number (1 by default) apart, or at coordinates.",
        parameters: &[required("y", Kind::Array), optional("x", Kind::Operand)],
        result: "a double-float, or an array of y's float type without the last axis",
        prepare: trapz,
        rungs: Rungs::processor(Definition::One(trapz_portable), trapz_lanes, NO_TRIP),
        samples: || {
            vec![
                vec![samples::spread(&[1], 1.0)],
                vec![samples::hard(&[40], 1.0)],
                vec![samples::spread(&[70_001], 1.0), samples::number(0.25)],
                vec![samples::spread(&[4, 70], 1.0), samples::spread(&[70], 3.0)],
                vec![samples::spread(&[3, 0], 1.0)],
            ]
        },
        example: "(la:trapz #d(1 2 3) 0.5) => 2.0",
        ..Op::BASE
    },
];

const NO_TRIP: &str = "a few operations an element are bound by memory";

fn diff(_: &'static Op, mut arguments: Arguments, _: &mut Context) -> Result<Prepared> {
    let (a, n) = (arguments.array(0)?, arguments.optional_integer(1)?.unwrap_or(1));
    let axis = a.shape().axis(arguments.optional_integer(2)?.unwrap_or(-1))?;
    if n < 0 {
        let what = "diff order must be non-negative";
        return Err(Error::wanted(ErrorKind::Argument, what, n));
    }
    Ok(Prepared::Steps(Box::new(move |run: &mut dyn Run| {
        let mut a = a;
        // Once nothing is left, nothing stays.
        for _ in 0..n.min(a.shape()[axis] as i64 + 1) {
            let part = |start, end| {
                let mut specs = vec![SliceSpec::ALL; a.rank()];
                specs[axis] = SliceSpec { start, end, step: 1 };
                a.slice(&specs).map(Value::Array)
            };
            a = run.array("sub", vec![part(Some(1), None)?, part(None, Some(-1))?])?;
        }
        Ok(vec![a.into()])
    })))
}

fn gradient(op: &'static Op, mut arguments: Arguments, _: &mut Context) -> Result<Prepared> {
    let f = arguments.array(0)?;
    let spacing = arguments.is_given(1).then(|| arguments.operand(1)).transpose()?;
    if f.rank() != 1 {
        return Err(Error::wanted(ErrorKind::Shape, "gradient expects a vector", f.shape()));
    }
    if f.size() < 2 {
        let what = "gradient needs at least two samples";
        return Err(Error::wanted(ErrorKind::Shape, what, f.size()));
    }
    let mut operands = vec![Operand::Array(f.clone())];
    operands.extend(spacing.clone());
    let types = types_of(&operands).floating();
    let mut call = Call::like(op, at_type(&f, types.compute)?, types.result, Family::Wide);
    call.detail = Detail::Spacing(1.0);
    match spacing {
        Some(Operand::Array(x)) if x.rank() > 0 => {
            if x.shape() != f.shape() {
                let text = "gradient coordinates must match the samples";
                let shapes = format!("{text}: {} and {}", x.shape(), f.shape());
                return Err(Error::new(ErrorKind::Shape, shapes));
            }
            call.given.push(x.shape().clone());
            call.operands.push(packed(&at_type(&x, types.compute)?)?);
        }
        Some(number) => {
            let gap = crate::call::lay_out(number, types)?;
            let gap = gap.numbers().next().map_or(1.0, Number::to_f64);
            call.detail = Detail::Spacing(gap);
        }
        None => {}
    }
    Ok(Prepared::Call(Box::new(call)))
}

/// The coordinates of a call, or the distance between its samples.
fn places<T: Element + Float>(call: &Call) -> Places<'_, T> {
    match (call.operands.get(1), &call.detail) {
        (Some(x), _) => Places::At(x.as_slice::<T>().unwrap_or(&[])),
        (None, Detail::Spacing(gap)) => Places::Even(T::narrowed(*gap)),
        _ => Places::Even(T::narrowed(1.0)),
    }
}

fn gradient_portable(call: &Call) -> Result<Array> {
    at_compute_type!(call, T => {
        let f = elements::<T>(&call.operands[0])?;
        Array::build::<T>(call.shape.clone(), |out| definition(&f, places::<T>(call), out))
    }, crate::call::integers_not_taken(call))
}

fn gradient_lanes(call: &Call, lanes: &Lanes) -> Result<Answer> {
    let f = packed(&call.operands[0])?;
    at_compute_type!(call, T => Array::build::<T>(call.shape.clone(), |out| {
        drivers::gradient(lanes, f.as_slice::<T>().unwrap_or(&[]), places::<T>(call), out);
    }), crate::call::integers_not_taken(call))
    .map(Answer::Done)
}

fn trapz(op: &'static Op, mut arguments: Arguments, _: &mut Context) -> Result<Prepared> {
    let y = arguments.array(0)?;
    let axis = y.shape().axis(-1)?;
    let (length, t) = (y.shape()[axis], y.element_type());
    let compute = if t.is_float() { t.compute_type() } else { ElementType::F64 };
    let shape = y.shape().without(axis, false);
    let to_number = shape.rank() == 0;
    let result = if to_number || !t.is_float() { ElementType::F64 } else { t };
    let mut call = Call::like(op, at_type(&y, compute)?, result, Family::Fold);
    call.detail = Detail::Spacing(1.0);
    if arguments.is_given(1) {
        match arguments.operand(1)? {
            Operand::Number(gap) => call.detail = Detail::Spacing(gap.to_f64()),
            Operand::Array(x) if x.shape()[..] == [length] => {
                call.given.push(x.shape().clone());
                call.operands.push(x.convert(ElementType::F64)?);
            }
            Operand::Array(x) => {
                let text = "trapz coordinates must match the samples";
                let shapes = format!("{text}: {} and {}", x.shape(), y.shape());
                return Err(Error::new(ErrorKind::Shape, shapes));
            }
        }
    }
    Ok(Prepared::Call(Box::new(Call { shape, raw: ElementType::F64, to_number, ..call })))
}

fn trapz_portable(call: &Call) -> Result<Array> {
    let y = elements::<f64>(&call.operands[0].convert(ElementType::F64)?)?;
    let n = call.operands[0].shape()[call.shape.rank()];
    let gap = |i: usize| match places::<f64>(call) {
        Places::Even(gap) => gap,
        Places::At(x) => x[i + 1] - x[i],
    };
    Array::build::<f64>(call.shape.clone(), |out| {
        for (row, out) in out.iter_mut().enumerate() {
            let y = &y[row * n..(row + 1) * n];
            *out = sum(n.saturating_sub(1), |i| trapezoid(gap(i), y[i], y[i + 1]));
        }
    })
}

fn trapz_lanes(call: &Call, lanes: &Lanes) -> Result<Answer> {
    let (y, rows) = (packed(&call.operands[0])?, call.shape.size());
    let n = y.shape()[call.shape.rank()];
    let cells = Shape::matrix(rows, n.saturating_sub(1))?;
    let areas = Array::build::<f64>(cells.clone(), |out| {
        at_compute_type!(call, T => {
            let y = y.as_slice::<T>().unwrap_or(&[]);
            drivers::trapezoids(lanes, y, n, places::<f64>(call), out);
        }, out.fill(f64::NAN));
    })?;
    Array::build::<f64>(call.shape.clone(), |out| {
        let areas = View::new(areas.as_slice().unwrap_or(&[]), 0, areas.strides());
        axes_of::<Sum, f64>(lanes, &cells, areas, &[1], Second::None, out);
    })
    .map(Answer::Done)
}
