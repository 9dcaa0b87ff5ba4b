//! gelu and its gradient, fused: members that a training step needs. By `mode` the exact form
//! with erf, or the usual approximation with tanh (`rung_math`).

use crate::arguments::{Arguments, Operand};
use crate::call::{
    Call, Detail, Prepared, Run, at_compute_type, integers_not_taken, lanes_operand, lay_out,
    types_of,
};
use crate::decline::Answer;
use crate::record::{Definition, Family, Kind, Op, Rungs, required};
use crate::round_trip::{RoundTrip, Traces};
use crate::rowwise::{ELEMENTARY, MEMBER, is_half, number};
use crate::samples::{self, Sample};
use crate::value::Value;
use rung_array::Array;
use rung_base::{Error, ErrorKind, Result};
use rung_lanes::Lanes;
use rung_lanes::compiled::{Binary, Unary};
use rung_lanes::elementwise::{Cost, map, zip};
use rung_math::{Gelu, GeluGradient, GeluTanh, GeluTanhGradient, trace_binary, trace_unary};

pub const OPS: &[Op] = &[
    Op {
        names: &["%la-gelu"],
        doc: "Each element times the normal distribution's share below it: none, \
              0.5*(x*(1 + erf(x/sqrt 2))); tanh, its approximation.",
        parameters: &[required("x", Kind::Array), required("mode", MODE)],
        prepare: |op, arguments, _| prepare(op, arguments, 1),
        rungs: Rungs::with_device(Definition::One(portable), lanes, ELEMENTARY, device),
        samples: || gelu_samples(false),
        example: "(linalg::%la-gelu #d(0 1) :none) => #d(0.0 0.8413447460685429)",
        ..MEMBER
    },
    Op {
        names: &["%la-gelu-grad"],
        doc: "From x and the gradient of its gelu, the gradient of x.",
        parameters: &[
            required("x", Kind::Array),
            required("dy", Kind::Array),
            required("mode", MODE),
        ],
        prepare: |op, arguments, _| prepare(op, arguments, 2),
        rungs: Rungs::with_device(
            Definition::One(gradient_portable),
            gradient_lanes,
            ELEMENTARY,
            gradient_device,
        ),
        samples: || gelu_samples(true),
        example: "(linalg::%la-gelu-grad #d(0) #d(3) :tanh) => #d(1.5)",
        ..MEMBER
    },
];

const WORDS: &[&str] = &["none", "tanh"];
const MODE: Kind = Kind::Choice(WORDS);

fn gelu_samples(gradient: bool) -> Vec<Sample> {
    let mut all = Vec::new();
    for mode in WORDS {
        for shape in [&[40][..], &[0], &[], &[3, 17], &[4097]] {
            let mut sample = vec![samples::hard(shape, 4.0)];
            sample.extend(gradient.then(|| samples::spread(shape, 2.0)));
            sample.push(samples::word(mode));
            all.push(sample);
        }
    }
    all
}

/// `count` arrays that broadcast, then the mode.
fn prepare(op: &'static Op, mut arguments: Arguments, count: usize) -> Result<Prepared> {
    let mode = arguments.choice(count)?.unwrap_or(WORDS[0]);
    let arrays: Vec<Array> = (0..count).map(|at| arguments.array(at)).collect::<Result<_>>()?;
    let operands: Vec<Operand> = arrays.iter().cloned().map(Operand::Array).collect();
    let types = types_of(&operands).floating();
    let mut shape = arrays[0].shape().clone();
    for array in &arrays[1..] {
        shape = shape.broadcast(array.shape())?;
    }
    if is_half(types.result) {
        return Ok(Prepared::Steps(Box::new(move |run| {
            let chain = Chain { run, tanh: mode == WORDS[1] };
            Ok(vec![chain.run(arrays)?.into()])
        })));
    }
    let laid = operands.into_iter().map(|o| lay_out(o, types)?.broadcast_to(&shape));
    let laid: smallvec::SmallVec<[Array; 3]> = laid.collect::<Result<_>>()?;
    let call = Call::like(op, laid[0].clone(), types.result, Family::Map);
    let given = arrays.iter().map(|a| a.shape().clone()).collect();
    let detail = Detail::Choice(mode);
    Ok(Prepared::Call(Box::new(Call { given, operands: laid, detail, ..call })))
}

fn is_tanh(call: &Call) -> Result<bool> {
    match call.detail {
        Detail::Choice(mode) => Ok(mode == WORDS[1]),
        _ => Err(Error::new(ErrorKind::Internal, "a choice of formulas that was not made")),
    }
}

fn portable(call: &Call) -> Result<Array> {
    if is_tanh(call)? { each::<GeluTanh>(call) } else { each::<Gelu>(call) }
}

/// x (any shape), out (the same shape).
fn each<F: Unary>(call: &Call) -> Result<Array> {
    let x = &call.operands[0];
    at_compute_type!(call, T => Array::build::<T>(call.shape.clone(), |out| {
        out.iter_mut().zip(x.view::<T>().iter()).for_each(|(o, x)| *o = F::at(x));
    }), integers_not_taken(call))
}

fn gradient_portable(call: &Call) -> Result<Array> {
    if is_tanh(call)? {
        each_pair::<GeluTanhGradient>(call)
    } else {
        each_pair::<GeluGradient>(call)
    }
}

fn each_pair<F: Binary>(call: &Call) -> Result<Array> {
    let (x, dy) = (&call.operands[0], &call.operands[1]);
    at_compute_type!(call, T => Array::build::<T>(call.shape.clone(), |out| {
        let pairs = x.view::<T>().iter().zip(dy.view::<T>().iter());
        out.iter_mut().zip(pairs).for_each(|(o, (x, dy))| *o = F::at(x, dy));
    }), integers_not_taken(call))
}

fn lanes(call: &Call, lanes: &Lanes) -> Result<Answer> {
    let tanh = is_tanh(call)?;
    let x = &call.operands[0];
    at_compute_type!(call, T => Array::build::<T>(call.shape.clone(), |out| {
        let (shape, x) = (&call.shape, lanes_operand(x));
        match tanh {
            true => map::<GeluTanh, T>(lanes, Cost::Elementary, shape, x, out),
            false => map::<Gelu, T>(lanes, Cost::Elementary, shape, x, out),
        }
    }), integers_not_taken(call))
    .map(Answer::Done)
}

fn gradient_lanes(call: &Call, lanes: &Lanes) -> Result<Answer> {
    let tanh = is_tanh(call)?;
    let (x, dy) = (&call.operands[0], &call.operands[1]);
    at_compute_type!(call, T => Array::build::<T>(call.shape.clone(), |out| {
        let (shape, x, dy) = (&call.shape, lanes_operand(x), lanes_operand(dy));
        match tanh {
            true => zip::<GeluTanhGradient, T>(lanes, Cost::Elementary, shape, x, dy, out),
            false => zip::<GeluGradient, T>(lanes, Cost::Elementary, shape, x, dy, out),
        }
    }), integers_not_taken(call))
    .map(Answer::Done)
}

/// x (any shape), out (the same shape).
fn device(call: &Call, trip: &RoundTrip) -> Result<Answer> {
    match is_tanh(call)? {
        true => trip.pointwise(call, "tanh", Traces::floats(trace_unary::<GeluTanh>)),
        false => trip.pointwise(call, "none", Traces::floats(trace_unary::<Gelu>)),
    }
}

/// x and dy (any shape), out (the same shape).
fn gradient_device(call: &Call, trip: &RoundTrip) -> Result<Answer> {
    match is_tanh(call)? {
        true => trip.pointwise(call, "tanh", Traces::floats(trace_binary::<GeluTanhGradient>)),
        false => trip.pointwise(call, "none", Traces::floats(trace_binary::<GeluGradient>)),
    }
}

/// The chain of named functions, which rounds each step to a half width.
struct Chain<'a> {
    run: &'a mut dyn Run,
    tanh: bool,
}

impl Chain<'_> {
    fn run(mut self, arrays: Vec<Array>) -> Result<Array> {
        let x = arrays[0].clone();
        match arrays.into_iter().nth(1) {
            None if self.tanh => {
                let t = self.inner(&x)?;
                let sum = self.of("add", 1.0, t)?;
                let product = self.pair("mul", x, sum)?;
                self.of("mul", 0.5, product)
            }
            None => {
                let sum = self.twice_below(&x)?;
                let product = self.pair("mul", x, sum)?;
                self.of("mul", 0.5, product)
            }
            Some(dy) if self.tanh => self.tanh_gradient(x, dy),
            Some(dy) => self.gradient(x, dy),
        }
    }

    fn pair(&mut self, name: &str, a: Array, b: Array) -> Result<Array> {
        self.run.array(name, vec![a.into(), b.into()])
    }

    /// A number as the first operand.
    fn of(&mut self, name: &str, a: f64, b: Array) -> Result<Array> {
        self.run.array(name, vec![number(a), b.into()])
    }

    fn square(&mut self, x: &Array) -> Result<Array> {
        self.pair("mul", x.clone(), x.clone())
    }

    fn twice_below(&mut self, x: &Array) -> Result<Array> {
        let root = number(std::f64::consts::SQRT_2);
        let scaled = self.run.array("div", vec![x.clone().into(), root])?;
        let erf = self.run.array("erf", vec![scaled.into()])?;
        self.of("add", 1.0, erf)
    }

    fn inner(&mut self, x: &Array) -> Result<Array> {
        let square = self.square(x)?;
        let cube = self.pair("mul", x.clone(), square)?;
        let bent = self.of("mul", 0.044715, cube)?;
        let sum = self.pair("add", x.clone(), bent)?;
        let scaled = self.of("mul", ROOT_TWO_OVER_PI, sum)?;
        self.run.array("tanh", vec![scaled.into()])
    }

    fn gradient(&mut self, x: Array, dy: Array) -> Result<Array> {
        let below = self.twice_below(&x)?;
        let share = self.of("mul", 0.5, below)?;
        let square = self.square(&x)?;
        let exponent = self.of("mul", -0.5, square)?;
        let e = self.run.array("exp", vec![exponent.into()])?;
        let density: Vec<Value> = vec![e.into(), number(ROOT_TWO_PI)];
        let density = self.run.array("div", density)?;
        let slope = self.pair("mul", x, density)?;
        let sum = self.pair("add", share, slope)?;
        self.pair("mul", dy, sum)
    }

    fn tanh_gradient(&mut self, x: Array, dy: Array) -> Result<Array> {
        let t = self.inner(&x)?;
        let square = self.square(&x)?;
        let bent = self.of("mul", 0.134145, square)?;
        let sum = self.of("add", 1.0, bent)?;
        let slope = self.of("mul", ROOT_TWO_OVER_PI, sum)?;
        let square = self.square(&t)?;
        let rest = self.of("sub", 1.0, square)?;
        let product = self.pair("mul", x, rest)?;
        let half = self.of("mul", 0.5, product)?;
        let second = self.pair("mul", half, slope)?;
        let sum = self.of("add", 1.0, t)?;
        let first = self.of("mul", 0.5, sum)?;
        let sum = self.pair("add", first, second)?;
        self.pair("mul", dy, sum)
    }
}

/// sqrt(2/pi) and sqrt(2 pi).
const ROOT_TWO_OVER_PI: f64 = 0.797_884_560_802_865_4;
const ROOT_TWO_PI: f64 = 2.506_628_274_631_000_2;
