//! Operations that choose between values: `where`, `clip`, and what takes the place of NaN.

use crate::arguments::{Arguments, Operand};
use crate::broadcast::{at_common_shape, no_integers};
use crate::call::{
    Call, Context, Prepared, Types, at_compute_type, integers_not_taken, laid, lanes_operand,
    lay_out, types_of, waiting,
};
use crate::decline::Answer;
use crate::gradient::Gradient;
use crate::record::{Definition, Kind, Link, Offer, Op, Rungs, keyword, optional, required};
use crate::round_trip::{RoundTrip, Traces};
use crate::samples::{self, Sample};
use crate::value::Value;
use rung_array::{Array, Number};
use rung_base::{Bool, Element, ElementType, Error, ErrorKind, Result, Shape, with_element};
use rung_lanes::compiled::Ternary;
use rung_lanes::elementwise::{self as drivers, Cost};
use rung_lanes::{Lanes, each};
use rung_math::{self as math, IntegerTernary, Real, trace_ternary, trace_whole_ternary};
use smallvec::smallvec;

pub const OPS: &[Op] = &[
    Op {
        names: &["where"],
        doc: "Elements of x where the mask is not zero (NaN is not), elements of y elsewhere; of \
              a mask alone, the indices at which it is not zero, as `nonzero` gives them.",
        parameters: &[
            required("mask", Kind::Operand),
            optional("x", Kind::Operand),
            optional("y", Kind::Operand),
        ],
        result: "an array of the common shape, of the width of x if that is a float array, else \
                 of y; of two integer arrays the wider type; of two numbers double-float",
        prepare: prepare_where,
        rungs: Rungs::with_device(
            Definition::One(where_portable),
            where_lanes,
            Offer::ResidentOnly,
            where_device,
        ),
        link: Link::three::<math::Choose>(Cost::Light, trace_ternary::<math::Choose>),
        gradient: Gradient::Chosen,
        samples: where_samples,
        example: "(la:where (la:greater #d(1 5 3) 2) #d(1 5 3) 0) => #d(0.0 5.0 3.0)",
        ..Op::BASE
    },
    Op {
        names: &["clip"],
        doc: "Each element raised to a lower and then lowered to an upper bound; nil is no bound. \
              Bounds may be arrays.",
        parameters: &[
            required("a", Kind::Operand),
            required("low", Kind::Operand),
            required("high", Kind::Operand),
        ],
        result: "an array of the common shape, of the width of the first float array; of \
                 integers alone their widest type",
        prepare: prepare_clip,
        rungs: Rungs::with_device(
            Definition::One(ternary_portable::<math::Clip>),
            ternary_lanes::<math::Clip>,
            Offer::ResidentOnly,
            ternary_device::<math::Clip>,
        ),
        samples: clip_samples,
        example: "(la:clip #d(-1 0.5 7) 0 nil) => #d(0.0 0.5 7.0)",
        ..Op::BASE
    },
    Op {
        names: &["nan-to-num"],
        doc: "Numbers in the place of NaN and the infinities: zero, and the largest and smallest \
              finite numbers of the width, where none are given.",
        parameters: &[
            required("a", Kind::Operand),
            keyword("nan", Kind::Operand),
            keyword("posinf", Kind::Operand),
            keyword("neginf", Kind::Operand),
        ],
        result: "an array of a's shape and type",
        prepare: prepare_finite,
        rungs: Rungs::processor(
            Definition::One(finite_portable),
            finite_lanes,
            "it moves more bytes than it saves time",
        ),
        samples: || {
            let mut all = samples::unary(3.0);
            let to = |name| [samples::word(name), samples::number(0.1)];
            let given = [vec![samples::hard(&[19], 2.0)], to("nan").into(), to("neginf").into()];
            all.push(given.concat());
            all
        },
        example: "(la:nan-to-num #d(1 nan inf) :posinf 9) => #d(1.0 0.0 9.0)",
        ..Op::BASE
    },
];

fn is_number(operand: &Operand) -> bool {
    matches!(operand, Operand::Number(_))
}

/// What a selection comes back as: nothing is computed, so bits among themselves stay bits.
fn type_of_choices(choices: &[Operand]) -> ElementType {
    let bits =
        |o: &Operand| matches!(o, Operand::Array(a) if a.element_type() == ElementType::Bool);
    if choices.iter().all(bits) {
        return ElementType::Bool;
    }
    match choices.iter().all(is_number) {
        true => ElementType::F64,
        false => types_of(choices).result,
    }
}

fn prepare_where(op: &'static Op, mut arguments: Arguments, _: &mut Context) -> Result<Prepared> {
    let mask = arguments.operand(0)?;
    match (arguments.is_given(1), arguments.is_given(2)) {
        (true, true) => {}
        (false, false) => return Ok(indices(mask)),
        _ => {
            let text = "where takes 1 or 3 arguments: got 2";
            return Err(Error::new(ErrorKind::Argument, text)
                .hint("the elements where the mask is false are the third argument"));
        }
    }
    let choices = [arguments.operand(1)?, arguments.operand(2)?];
    let to_number = is_number(&mask) && choices.iter().all(is_number);
    let result = type_of_choices(&choices);
    let chosen = |operand| match operand {
        Operand::Array(a) => waiting(&a, result),
        Operand::Number(n) => Array::full(result, Shape::scalar(), n),
    };
    let mask = match mask {
        Operand::Array(a) => waiting(&a, ElementType::Bool)?,
        Operand::Number(n) => Array::full(ElementType::Bool, Shape::scalar(), n)?,
    };
    let [x, y] = choices;
    let types = Types { compute: result, result };
    let call = at_common_shape(op, smallvec![mask, chosen(x)?, chosen(y)?], types, to_number)?;
    let call = call.at_types(&[ElementType::Bool, result, result]);
    Ok(Prepared::Call(Box::new(Call { raw: result, ..call })))
}

/// The indices of what is true.
fn indices(mask: Operand) -> Prepared {
    let mask = match mask {
        Operand::Array(a) => Value::Array(a),
        Operand::Number(n) => Value::Number(n),
    };
    Prepared::Steps(Box::new(move |run| run.call("nonzero", vec![mask])))
}

/// mask (bits), x, y and out at the common shape.
fn where_portable(call: &Call) -> Result<Array> {
    with_element!(call.raw, T => chosen::<T>(call))
}

fn chosen<T: Element>(call: &Call) -> Result<Array> {
    let [mask, x, y] = &call.operands[..] else { return integers_not_taken(call) };
    let others = x.view::<T>().iter().zip(y.view::<T>().iter());
    let each = mask.view::<Bool>().iter().zip(others);
    Array::build::<T>(call.shape.clone(), |out| {
        out.iter_mut().zip(each).for_each(|(o, (m, (x, y)))| *o = if m.get() { x } else { y });
    })
}

fn where_lanes(call: &Call, lanes: &Lanes) -> Result<Answer> {
    let [mask, x, y] = &call.operands[..] else { return no_integers() };
    with_element!(call.raw, T => Array::build::<T>(call.shape.clone(), |out| {
        let operands = (lanes_operand::<Bool>(mask), lanes_operand::<T>(x), lanes_operand::<T>(y));
        each::zip3(lanes, &call.shape, operands, out, |m, x, y| if m.get() { x } else { y });
    }))
    .map(Answer::Done)
}

fn where_device(call: &Call, trip: &RoundTrip) -> Result<Answer> {
    let [mask, x, y] = &call.operands[..] else { return no_integers() };
    trip.chosen(call, &[mask.clone(), x.clone(), y.clone()])
}

fn where_samples() -> Vec<Sample> {
    let pairs = samples::pairs().into_iter();
    let mask = |at: usize| {
        if at.is_multiple_of(2) { samples::counting(&[1], 2) } else { samples::integer(1) }
    };
    let mut all: Vec<Sample> = pairs
        .enumerate()
        .map(|(at, pair)| vec![mask(at), pair[0].clone(), pair[1].clone()])
        .collect();
    all.push(vec![samples::hard(&[3, 17], 1.0), samples::spread(&[17], 2.0), samples::number(7.0)]);
    all.push(vec![
        samples::counting(&[130, 17], 2),
        samples::whole(&[17], 50),
        samples::integer(7),
    ]);
    all.push(vec![
        samples::counting(&[4097], 2),
        samples::counting(&[4097], 5),
        samples::extreme(),
    ]);
    let long = [samples::counting(&[4097], 2), samples::counting(&[4097], 5)];
    all.push([&long[..], &[samples::positive(&[4097], 3)]].concat());
    all
}

fn prepare_clip(op: &'static Op, mut arguments: Arguments, _: &mut Context) -> Result<Prepared> {
    let a = arguments.operand(0)?;
    let mut given = vec![a.clone()];
    let mut bounds = [None, None];
    for (at, bound) in bounds.iter_mut().enumerate() {
        if arguments.is_given(at + 1) {
            let operand = arguments.operand(at + 1)?;
            given.push(operand.clone());
            *bound = Some(operand);
        }
    }
    let types = types_of(&given);
    let integers = types.compute == ElementType::I64;
    let none = match integers {
        true => [Number::I64(i64::MIN), Number::I64(i64::MAX)],
        false => [Number::F64(f64::NEG_INFINITY), Number::F64(f64::INFINITY)],
    };
    let [low, high] = bounds;
    let bound = |operand: Option<Operand>, none| match operand {
        Some(operand) => laid(operand, types),
        None => Array::full(types.compute, Shape::scalar(), none),
    };
    let operands = smallvec![laid(a, types)?, bound(low, none[0])?, bound(high, none[1])?];
    let call = at_common_shape(op, operands, types, given.iter().all(is_number))?;
    let call = call.at_types(&[types.compute; 3]);
    Ok(Prepared::Call(Box::new(call)))
}

/// Three operands and out at the common shape.
fn ternary_portable<F: Ternary + IntegerTernary>(call: &Call) -> Result<Array> {
    at_compute_type!(call, T => triples::<T>(call, |a, b, c| <F as math::Ternary>::at(a, b, c)),
        triples::<i64>(call, |a, b, c| <F as IntegerTernary>::at(a, b, c)))
}

fn triples<T: Element>(call: &Call, f: impl Fn(T, T, T) -> T) -> Result<Array> {
    let [a, b, c] = &call.operands[..] else { return integers_not_taken(call) };
    Array::build::<T>(call.shape.clone(), |out| {
        let others = b.view::<T>().iter().zip(c.view::<T>().iter());
        let each = out.iter_mut().zip(a.view::<T>().iter().zip(others));
        each.for_each(|(o, (a, (b, c)))| *o = f(a, b, c));
    })
}

/// Three operands and out at the common shape.
fn ternary_lanes<F: Ternary + IntegerTernary>(call: &Call, lanes: &Lanes) -> Result<Answer> {
    let [a, b, c] = &call.operands[..] else { return no_integers() };
    at_compute_type!(call, T => Array::build::<T>(call.shape.clone(), |out| {
        let operands = [lanes_operand(a), lanes_operand(b), lanes_operand(c)];
        drivers::zip3::<F, T>(lanes, Cost::Light, &call.shape, operands, out);
    }), Array::build::<i64>(call.shape.clone(), |out| {
        let operands = (lanes_operand(a), lanes_operand(b), lanes_operand(c));
        each::zip3(lanes, &call.shape, operands, out, |a, b, c| <F as IntegerTernary>::at(a, b, c));
    }))
    .map(Answer::Done)
}

/// Three operands and out at the common shape.
fn ternary_device<F: Ternary + IntegerTernary>(call: &Call, trip: &RoundTrip) -> Result<Answer> {
    trip.pointwise(call, "", Traces::both(trace_ternary::<F>, trace_whole_ternary::<F>))
}

fn clip_samples() -> Vec<Sample> {
    let bounds = [samples::number(-0.5), samples::number(1.5)];
    let mut all: Vec<Sample> =
        samples::unary(3.0).into_iter().map(|a| [a, bounds.to_vec()].concat()).collect();
    all.push(vec![samples::whole(&[3, 43], 20), samples::integer(2), Value::Nil]);
    all.push(vec![samples::whole(&[3, 43], 20), Value::Nil, samples::positive(&[43], 9)]);
    all.push(vec![samples::counting(&[5, 7], 9), samples::integer(1), samples::positive(&[7], 3)]);
    all.push(vec![samples::extreme(), samples::integer(-2), samples::integer(2)]);
    all.push(vec![samples::hard(&[33], 3.0), samples::hard(&[33], 1.0), samples::hard(&[33], 2.0)]);
    all
}

/// The largest finite number of a float type.
fn largest(t: ElementType) -> f64 {
    match t {
        ElementType::F16 => rung_base::f16::MAX.to_f64(),
        ElementType::BF16 => rung_base::bf16::MAX.to_f64(),
        ElementType::F32 => f32::MAX.into(),
        _ => f64::MAX,
    }
}

fn prepare_finite(op: &'static Op, mut arguments: Arguments, _: &mut Context) -> Result<Prepared> {
    let a = arguments.operand(0)?;
    let types = types_of(std::slice::from_ref(&a));
    if types.compute == ElementType::I64 {
        // Every integer is finite.
        return Ok(Prepared::Done(vec![match a {
            Operand::Array(a) => Value::Array(a),
            Operand::Number(n) => Value::Number(n),
        }]));
    }
    let most = largest(types.result);
    let mut places = [0.0, most, -most].map(|x| Operand::Number(Number::F64(x)));
    for (at, place) in places.iter_mut().enumerate() {
        if arguments.is_given(at + 1) {
            *place = arguments.operand(at + 1)?;
        }
    }
    let to_number = is_number(&a);
    let x = lay_out(a, types)?;
    let call = Call::like(op, x, types.result, crate::record::Family::Wide);
    let mut operands = call.operands;
    for place in places {
        let place = lay_out(place, types)?;
        if place.rank() > 0 {
            let text = format!("nan-to-num expects numbers: got shape {}", place.shape());
            return Err(Error::new(ErrorKind::Shape, text));
        }
        operands.push(place);
    }
    Ok(Prepared::Call(Box::new(Call { operands, to_number, ..call })))
}

/// The numbers that stand for NaN and for the two infinities.
fn places<T: Element>(call: &Call) -> [T; 3] {
    [1, 2, 3].map(|k| call.operands.get(k).map_or(T::default(), |place| place.view::<T>().at(0)))
}

#[inline(always)]
fn finite<R: Real<Mask = bool>>(x: R, [nan, above, below]: [R; 3]) -> R {
    if x.is_nan() {
        nan
    } else if x.equal(R::infinity()) {
        above
    } else if x.equal(-R::infinity()) {
        below
    } else {
        x
    }
}

/// x (any shape), three numbers, out (the shape of x).
fn finite_portable(call: &Call) -> Result<Array> {
    at_compute_type!(call, T => Array::build::<T>(call.shape.clone(), |out| {
        let (x, places) = (call.operands[0].view::<T>(), places::<T>(call));
        out.iter_mut().zip(x.iter()).for_each(|(o, x)| *o = finite(x, places));
    }), integers_not_taken(call))
}

fn finite_lanes(call: &Call, lanes: &Lanes) -> Result<Answer> {
    at_compute_type!(call, T => Array::build::<T>(call.shape.clone(), |out| {
        let (x, places) = (lanes_operand::<T>(&call.operands[0]), places::<T>(call));
        each::map(lanes, &call.shape, x, out, |x| finite(x, places));
    }), integers_not_taken(call))
    .map(Answer::Done)
}
