//! `+ - * /` of any number of operands, from the left: made of the operations of two.

use crate::arguments::{Arguments, Operand};
use crate::call::Prepared;
use crate::record::{Arithmetic, Kind, Op, Parameter, Rungs, required, rest};
use crate::samples::{self, Sample};
use crate::value::Value;
use rung_base::Result;

pub const OPS: &[Op] = &[
    Op {
        names: &["+"],
        numbers: Some(Arithmetic::Add),
        doc: "The sum of the operands, added from the left; of none, 0.",
        parameters: ANY_NUMBER,
        prepare: |_, a, _| any_number(a, "add", 0),
        example: "(la:+ #d(1 2) 10 #d((100) (200))) => #d((111.0 112.0) (211.0 212.0))",
        ..CHAIN
    },
    Op {
        names: &["-"],
        numbers: Some(Arithmetic::Subtract),
        doc: "The first operand less the others, from the left; of one, its negative.",
        parameters: ONE_AT_LEAST,
        prepare: |_, a, _| one_at_least(a, "sub", "negative"),
        example: "(la:- #d(9 8) 1 #d(2 3)) => #d(6.0 4.0)",
        ..CHAIN
    },
    Op {
        names: &["*"],
        numbers: Some(Arithmetic::Multiply),
        doc: "The product of the operands, multiplied from the left, element by element; of \
              none, 1.",
        parameters: ANY_NUMBER,
        prepare: |_, a, _| any_number(a, "mul", 1),
        example: "(la:* #d(1 2) 10 #d(3 4)) => #d(30.0 80.0)",
        ..CHAIN
    },
    Op {
        names: &["/"],
        numbers: Some(Arithmetic::Divide),
        doc: "The first operand divided by the others, from the left; of one, its reciprocal.",
        parameters: ONE_AT_LEAST,
        prepare: |_, a, _| one_at_least(a, "div", "reciprocal"),
        example: "(la:/ #d(24 48) 2 #d(3 4)) => #d(4.0 6.0)",
        ..CHAIN
    },
];

const ANY_NUMBER: &[Parameter] = &[rest("operands", Kind::Operand)];
const ONE_AT_LEAST: &[Parameter] = &[required("a", Kind::Operand), rest("others", Kind::Operand)];

const CHAIN: Op = Op {
    result: "an array of the common shape; its float type is that of the first float array",
    rungs: Rungs::STEPS,
    resident: true,
    samples: chains,
    ..Op::BASE
};

fn chains() -> Vec<Sample> {
    let mut all = samples::pairs();
    all.truncate(3);
    all.extend([
        vec![samples::hard(&[17], 2.0)],
        vec![samples::hard(&[3, 5], 2.0), samples::number(0.1), samples::spread(&[5], 3.0)],
        vec![samples::counting(&[4, 3], 9), samples::positive(&[3], 4), samples::integer(2)],
    ]);
    all
}

fn value(operand: Operand) -> Value {
    match operand {
        Operand::Array(a) => Value::Array(a),
        Operand::Number(n) => Value::Number(n),
    }
}

fn any_number(mut a: Arguments, of_two: &'static str, of_none: i64) -> Result<Prepared> {
    let mut operands = a.rest(0)?.into_iter().map(value);
    Ok(match (operands.next(), operands.len()) {
        (None, _) => Prepared::Done(vec![Value::integer(of_none)]),
        (Some(one), 0) => Prepared::Done(vec![one]),
        (Some(first), _) => from_the_left(first, operands.collect(), of_two),
    })
}

fn one_at_least(mut a: Arguments, of_two: &'static str, of_one: &'static str) -> Result<Prepared> {
    let first = value(a.operand(0)?);
    let others: Vec<Value> = a.rest(1)?.into_iter().map(value).collect();
    Ok(match others.is_empty() {
        true => Prepared::Steps(Box::new(move |run| run.call(of_one, vec![first]))),
        false => from_the_left(first, others, of_two),
    })
}

fn from_the_left(first: Value, others: Vec<Value>, of_two: &'static str) -> Prepared {
    Prepared::Steps(Box::new(move |run| {
        let mut result = vec![first];
        for operand in others {
            result.push(operand);
            result = run.call(of_two, result)?;
        }
        Ok(result)
    }))
}
