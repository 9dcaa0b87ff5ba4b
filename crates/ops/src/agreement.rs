//! Whether two arrays agree: array-equal, allclose. Each stops at the first pair that does not.

use crate::arguments::{Arguments, Operand};
use crate::call::{
    Call, Context, Detail, Prepared, answer, at_compute_type, at_type, lanes_operand, lay_out,
    types_of,
};
use crate::decline::Answer;
use crate::record::{Definition, Family, Kind, Op, Rungs, keyword, required};
use crate::samples::{self, Sample};
use crate::value::Value;
use rung_array::{Array, Number};
use rung_base::{ElementType, Error, ErrorKind, Result, Shape};
use rung_lanes::Lanes;
use rung_lanes::agree::{Agree, Same, all_agree, all_equal};
use rung_math::Close;
use smallvec::{SmallVec, smallvec};

pub const OPS: &[Op] = &[
    Op {
        names: &["array-equal"],
        doc: "Whether two arrays have the same shape and equal elements; NaN equals nothing.",
        parameters: &[required("a", Kind::Array), required("b", Kind::Array)],
        prepare: prepare_equal,
        rungs: Rungs::processor(Definition::One(equal_portable), equal_lanes, STOPS),
        samples: equal_samples,
        example: "(la:array-equal #d(1 2) #f(1 2)) => T",
        ..AGREEMENT
    },
    Op {
        names: &["allclose"],
        doc: "Whether |a - b| <= atol + rtol |b| for every pair of two arrays that broadcast; \
              infinities must be equal, and NaN is close to NaN only with :equal-nan.",
        parameters: &[
            required("a", Kind::Operand),
            required("b", Kind::Operand),
            keyword("rtol", Kind::Any),
            keyword("atol", Kind::Any),
            keyword("equal-nan", Kind::Flag),
        ],
        prepare: prepare_close,
        rungs: Rungs::processor(Definition::One(close_portable), close_lanes, STOPS),
        samples: close_samples,
        example: "(la:allclose #d(1 2) #d(1.000001 2)) => T",
        ..AGREEMENT
    },
];

const AGREEMENT: Op = Op { result: "t or nil", predicate: true, ..Op::BASE };
const STOPS: &str = "it stops at the first difference";

/// A call that answers with one truth value.
fn question(op: &'static Op, operands: [Array; 2], given: SmallVec<[Shape; 3]>) -> Call {
    let units = operands[0].size() as u64;
    Call {
        op,
        given,
        operands: operands.into_iter().collect(),
        shape: Shape::scalar(),
        raw: ElementType::Bool,
        result: ElementType::Bool,
        to_number: true,
        wanted: Default::default(),
        more: Vec::new(),
        targets: Default::default(),
        detail: Detail::None,
        family: Family::Fold,
        units,
    }
}

/// Equal numbers have equal values, so widths are raised as far as both need.
fn prepare_equal(op: &'static Op, mut arguments: Arguments, _: &mut Context) -> Result<Prepared> {
    let (a, b) = (arguments.array(0)?, arguments.array(1)?);
    if a.shape() != b.shape() {
        return Ok(Prepared::Done(vec![Value::Nil]));
    }
    let common = match (a.element_type(), b.element_type()) {
        (x, y) if x == y => {
            if x.is_float() {
                x.compute_type()
            } else {
                x
            }
        }
        (x, y) if !x.is_float() && !y.is_float() => ElementType::I64,
        (ElementType::F64, _) | (_, ElementType::F64) => ElementType::F64,
        (x, y) if x.is_float() && y.is_float() => ElementType::F32,
        _ => ElementType::F64,
    };
    let given = smallvec![a.shape().clone(), b.shape().clone()];
    let call = question(op, [at_type(&a, common)?, at_type(&b, common)?], given);
    Ok(Prepared::Call(Box::new(call)))
}

/// Runs `$body` with the type of both operands.
macro_rules! pairs {
    ($call:expr, $T:ident => $body:expr) => {
        match $call.operands[0].element_type() {
            ElementType::F32 => {
                type $T = f32;
                $body
            }
            ElementType::F64 => {
                type $T = f64;
                $body
            }
            ElementType::I64 => {
                type $T = i64;
                $body
            }
            ElementType::I32 => {
                type $T = i32;
                $body
            }
            ElementType::U8 => {
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

fn equal_portable(call: &Call) -> Result<Array> {
    let (a, b) = (&call.operands[0], &call.operands[1]);
    answer(pairs!(call, T => a.view::<T>().iter().zip(b.view::<T>().iter()).all(|(a, b)| a == b)))
}

fn equal_lanes(call: &Call, lanes: &Lanes) -> Result<Answer> {
    let shape = call.operands[0].shape();
    let holds = at_compute_type!(call, T => agree_lanes::<Same, T>(call, lanes, Same), {
        macro_rules! integers {
            ($t:ty) => {
                all_equal::<$t>(
                    lanes,
                    shape,
                    lanes_operand(&call.operands[0]),
                    lanes_operand(&call.operands[1]),
                )
            };
        }
        match call.operands[0].element_type() {
            ElementType::I64 => integers!(i64),
            ElementType::I32 => integers!(i32),
            ElementType::U8 => integers!(u8),
            _ => integers!(rung_base::Bool),
        }
    });
    answer(holds).map(Answer::Done)
}

fn agree_lanes<P: Agree, T: rung_lanes::Float>(call: &Call, lanes: &Lanes, agree: P) -> bool {
    let (a, b) = (&call.operands[0], &call.operands[1]);
    all_agree::<P, T>(lanes, a.shape(), lanes_operand(a), lanes_operand(b), agree)
}

fn tolerance(value: Value, default: f64) -> Result<f64> {
    match value {
        Value::Nil => Ok(default),
        Value::Number(number) => Ok(Number::to_f64(number)),
        other => Err(Error::wanted(ErrorKind::Type, "expected a number", &other)),
    }
}

fn prepare_close(op: &'static Op, mut arguments: Arguments, _: &mut Context) -> Result<Prepared> {
    let relative = tolerance(arguments.any(2), 1e-5)?;
    let absolute = tolerance(arguments.any(3), 1e-8)?;
    let equal_nan = arguments.flag(4);
    let operands = [arguments.operand(0)?, arguments.operand(1)?];
    let types = types_of(&operands).floating();
    let shown = |o: &Operand| match o {
        Operand::Array(a) => a.shape().clone(),
        Operand::Number(_) => Shape::scalar(),
    };
    let given: SmallVec<[Shape; 3]> = operands.iter().map(shown).collect();
    let [a, b] = operands;
    let (a, b) = (lay_out(a, types)?, lay_out(b, types)?);
    let shape = a.shape().broadcast(b.shape())?;
    let call = question(op, [a.broadcast_to(&shape)?, b.broadcast_to(&shape)?], given);
    let detail = Detail::Close(Close { relative, absolute, equal_nan });
    Ok(Prepared::Call(Box::new(Call { detail, ..call })))
}

fn closeness(call: &Call) -> Result<Close> {
    match &call.detail {
        Detail::Close(close) => Ok(*close),
        _ => Err(Error::new(ErrorKind::Internal, "closeness without tolerances")),
    }
}

fn close_portable(call: &Call) -> Result<Array> {
    let (a, b, close) = (&call.operands[0], &call.operands[1], closeness(call)?);
    answer(at_compute_type!(call, T => {
        a.view::<T>().iter().zip(b.view::<T>().iter()).all(|(a, b)| close.at(a, b))
    }, return crate::call::integers_not_taken(call)))
}

fn close_lanes(call: &Call, lanes: &Lanes) -> Result<Answer> {
    let close = closeness(call)?;
    let holds = at_compute_type!(call, T => agree_lanes::<Close, T>(call, lanes, close),
        return crate::call::integers_not_taken(call).map(Answer::Done));
    answer(holds).map(Answer::Done)
}

fn equal_samples() -> Vec<Sample> {
    let pair = |a: Value| vec![a.clone(), a];
    vec![
        pair(samples::spread(&[4097], 1.0)),
        pair(samples::counting(&[5, 64], 2)),
        pair(samples::hard(&[20], 1.0)),
        pair(samples::spread(&[0], 1.0)),
        pair(samples::spread(&[], 1.0)),
        vec![samples::counting(&[3, 5], 4), samples::counting(&[3, 5], 3)],
        vec![samples::counting(&[3, 5], 4), samples::counting(&[5, 3], 4)],
    ]
}

fn close_samples() -> Vec<Sample> {
    let nan = || [samples::word("equal-nan"), Value::True];
    let mut same = vec![samples::hard(&[40], 1.0), samples::hard(&[40], 1.0)];
    let mut all = vec![same.clone()];
    same.extend(nan());
    all.push(same);
    let spread = || samples::spread(&[3, 5], 1.0);
    let tolerances =
        [samples::word("rtol"), samples::number(3.0), samples::word("atol"), samples::number(1.0)];
    let mut wide = vec![spread(), samples::spread(&[5], 1.0)];
    wide.extend(tolerances);
    all.push(wide);
    all.push(vec![spread(), samples::number(0.5)]);
    all.push(vec![samples::spread(&[0, 3], 1.0), samples::spread(&[3], 1.0)]);
    all.push(vec![samples::spread(&[4097], 1.0), samples::spread(&[4097], 1.0)]);
    all
}
