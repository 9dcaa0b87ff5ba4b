//! Operations of two operands that broadcast: arithmetic, the elementary functions of two
//! numbers, comparisons and what is true of both.

use crate::arguments::{Arguments, Operand};
use crate::call::{
    Call, Context, Detail, Prepared, Types, at_compute_type, integers_not_taken, laid,
    lanes_operand, types_of,
};
use crate::decline::{Answer, Decline};
use crate::elementwise::MASK;
use crate::gradient::Gradient::{Elements, Zero};
use crate::gradient::{ITSELF, NOTHING, one, shared, two};
use crate::record::{
    Arithmetic, Definition, Entry, Exactness, Family, Kind, Link, Member, NO_LIBRARY, Offer, Op,
    Parameter, Part, Prepare, Quick, Rungs, keyword, required,
};
use crate::round_trip::{RoundTrip, Traces};
use crate::samples;
use crate::user_kernel::Expression;
use crate::value::Value;
use rung_array::{Array, Convert, Number};
use rung_base::{Element, ElementType, Result};
use rung_lanes::compiled::{Binary, Compare};
use rung_lanes::elementwise::{self as drivers, Cost};
use rung_lanes::{Lanes, each, small};
use rung_math::{
    self as math, IntegerBinary, IntegerCompare, WholeBinary, trace_binary, trace_compare,
    trace_whole_binary, trace_whole_compare,
};
use smallvec::{SmallVec, smallvec};
use std::cmp::Ordering;

pub const OPS: &[Op] = &[
    Op {
        names: &["add"],
        numbers: Some(Arithmetic::Add),
        doc: "The sum of two operands, element by element.",
        gradient: Elements(&[ITSELF, ITSELF]),
        example: "(la:add #d((1 2) (3 4)) #d(10 20)) => #d((11.0 22.0) (13.0 24.0))",
        ..arithmetic::<math::Add>()
    },
    Op {
        names: &["sub"],
        numbers: Some(Arithmetic::Subtract),
        doc: "The first operand less the second, element by element.",
        gradient: Elements(&[ITSELF, |g, _, _| -g]),
        example: "(la:sub #d(1 2) 1) => #d(0.0 1.0)",
        ..arithmetic::<math::Sub>()
    },
    Op {
        names: &["mul"],
        numbers: Some(Arithmetic::Multiply),
        doc: "The product of two operands, element by element (`matmul` is the matrix product).",
        gradient: Elements(&[|g, x, _| g * &x[1], |g, x, _| g * &x[0]]),
        example: "(la:mul #d(1 2) #d(3 4)) => #d(3.0 8.0)",
        ..arithmetic::<math::Mul>()
    },
    Op {
        names: &["div"],
        numbers: Some(Arithmetic::Divide),
        doc: "The quotient of two operands; always a float, never an error: 1/0 is inf.",
        gradient: Elements(&[|g, x, _| g / &x[1], |g, x, y| -(g * y / &x[1])]),
        example: "(la:div #d(1 0) #d(4 0)) => #d(0.25 nan)",
        ..floating::<math::Div>()
    },
    Op {
        names: &["maximum"],
        numbers: Some(Arithmetic::Larger),
        doc: "The larger of two operands; NaN if either is; -0.0 counts as below +0.0.",
        gradient: Elements(&[
            |g, x, _| shared(g, x, two("less", &x[0], &x[1])),
            |g, x, _| shared(g, x, two("less", &x[1], &x[0])),
        ]),
        example: "(la:maximum #d(1 5) #d(3 nan)) => #d(3.0 nan)",
        ..arithmetic::<math::Maximum>()
    },
    Op {
        names: &["minimum"],
        numbers: Some(Arithmetic::Smaller),
        doc: "The smaller of two operands; NaN if either is; -0.0 counts as below +0.0.",
        gradient: Elements(&[
            |g, x, _| shared(g, x, two("less", &x[1], &x[0])),
            |g, x, _| shared(g, x, two("less", &x[0], &x[1])),
        ]),
        example: "(la:minimum #d(1 5) 3) => #d(1.0 3.0)",
        ..arithmetic::<math::Minimum>()
    },
    Op {
        names: &["atan2"],
        doc: "The angle of the point (b, a), in (-pi, pi], by the signs of both operands.",
        gradient: Elements(&[|g, x, _| g * turn(&x[1], x), |g, x, _| -(g * turn(&x[0], x))]),
        example: "(la:atan2 #d(1 -1) #d(1 -1)) => #d(0.7853981633974483 -2.356194490192345)",
        ..elementary::<math::Atan2>()
    },
    Op {
        names: &["hypot"],
        doc: "The square root of the sum of both operands' squares, without overflow on the way.",
        gradient: Elements(&[|g, x, y| g * (&x[0] / y), |g, x, y| g * (&x[1] / y)]),
        example: "(la:hypot #d(3 3e300) #d(4 4e300)) => #d(5.0 5.0e300)",
        ..elementary::<math::Hypot>()
    },
    Op {
        names: &["copysign"],
        doc: "The magnitude of the first operand with the sign of the second.",
        gradient: Elements(&[
            |g, x, _| g * (one("sign", &x[0]) * two("copysign", 1.0, &x[1])),
            NOTHING,
        ]),
        example: "(la:copysign #d(1 -2) #d(-0.5 3)) => #d(-1.0 2.0)",
        ..floating::<math::CopySign>()
    },
    Op {
        names: &["equal"],
        numbers: Some(Arithmetic::Compare(|o| o == Some(Ordering::Equal))),
        doc: "1 where the operands are equal, else 0; NaN equals nothing.",
        example: "(la:equal #d(1 nan) #d(1 nan)) => #d(1.0 0.0)",
        ..comparison::<math::Equal>()
    },
    Op {
        names: &["not-equal"],
        numbers: Some(Arithmetic::Compare(|o| o != Some(Ordering::Equal))),
        doc: "1 where the operands differ, else 0; NaN differs from everything.",
        example: "(la:not-equal #d(1 nan) #d(1 nan)) => #d(0.0 1.0)",
        ..comparison::<math::NotEqual>()
    },
    Op {
        names: &["greater"],
        numbers: Some(Arithmetic::Compare(|o| o == Some(Ordering::Greater))),
        doc: "1 where the first operand is greater, else 0.",
        example: "(la:greater #d(1 5 3) 2) => #d(0.0 1.0 1.0)",
        ..comparison::<math::Greater>()
    },
    Op {
        names: &["greater-equal"],
        numbers: Some(Arithmetic::Compare(|o| o.is_some_and(Ordering::is_ge))),
        doc: "1 where the first operand is greater or equal, else 0.",
        example: "(la:greater-equal #d(1 2 3) 2) => #d(0.0 1.0 1.0)",
        ..comparison::<math::GreaterEqual>()
    },
    Op {
        names: &["less"],
        numbers: Some(Arithmetic::Compare(|o| o == Some(Ordering::Less))),
        doc: "1 where the first operand is less, else 0.",
        example: "(la:less #d(1 5 3) 2) => #d(1.0 0.0 0.0)",
        ..comparison::<math::Less>()
    },
    Op {
        names: &["less-equal"],
        numbers: Some(Arithmetic::Compare(|o| o.is_some_and(Ordering::is_le))),
        doc: "1 where the first operand is less or equal, else 0.",
        example: "(la:less-equal #d(1 2 3) 2) => #d(1.0 1.0 0.0)",
        ..comparison::<math::LessEqual>()
    },
    Op {
        names: &["logical-and"],
        doc: "1 where both operands are true, else 0; zero is false, NaN is true.",
        example: "(la:logical-and #d(0 1 2) #d(1 1 0)) => #d(0.0 1.0 0.0)",
        ..connective::<math::LogicalAnd>()
    },
    Op {
        names: &["logical-or"],
        doc: "1 where an operand is true, else 0; zero is false, NaN is true.",
        example: "(la:logical-or #d(0 1 0) #d(1 1 0)) => #d(1.0 1.0 0.0)",
        ..connective::<math::LogicalOr>()
    },
    Op {
        names: &["logical-xor"],
        doc: "1 where exactly one operand is true, else 0; zero is false, NaN is true.",
        example: "(la:logical-xor #d(0 1 2) #d(1 1 0)) => #d(1.0 0.0 1.0)",
        ..connective::<math::LogicalXor>()
    },
];

/// What the angle of a point changes by: part / r / r, which does not overflow as r r does.
fn turn(part: &Expression, point: &[Expression]) -> Expression {
    let r = two("hypot", &point[0], &point[1]);
    part / &r / &r
}

pub const PAIR: &[Parameter] = &[required("a", Kind::Operand), required("b", Kind::Operand)];
const MASK_PAIR: &[Parameter] = &[
    required("a", Kind::Operand),
    required("b", Kind::Operand),
    keyword("element-type", Kind::ElementType),
];

pub const fn operation(prepare: Prepare, rungs: Rungs) -> Op {
    Op {
        parameters: PAIR,
        result: "an array of the common shape; its float type is that of the first float array",
        prepare,
        rungs,
        samples: samples::pairs,
        ..Op::BASE
    }
}

const fn rungs<F: Binary>(
    portable: fn(&Call) -> Result<Array>,
    lanes: fn(&Call, &Lanes) -> Result<Answer>,
) -> Rungs {
    Rungs {
        portable: Definition::One(portable),
        lanes: Entry::Has(lanes),
        library: Entry::None(NO_LIBRARY),
        device: round_trip(Family::Wide, device::<F>),
    }
}

pub const fn round_trip(
    family: Family,
    run: fn(&Call, &RoundTrip) -> Result<Answer>,
) -> Entry<Member> {
    Entry::Has(Member { offer: Offer::RoundTrip(family), run })
}

/// A function of two numbers as a step of a chain.
pub const fn binary_link<F: Binary>(cost: Cost) -> Option<Link> {
    Link::two::<F>(cost, trace_binary::<F>)
}

const fn arithmetic<F: Binary + WholeBinary>() -> Op {
    let quick = Quick::Two(quick::<F>);
    let rungs = Rungs {
        device: round_trip(Family::Wide, whole_device::<F>),
        ..rungs::<F>(portable::<F>, arithmetic_lanes::<F>)
    };
    Op { quick, chain: binary_link::<F>(Cost::Light), ..operation(prepare_arithmetic, rungs) }
}

const fn floating<F: Binary>() -> Op {
    let rungs = rungs::<F>(floating_portable::<F>, lanes::<F>);
    Op {
        quick: Quick::Two(quick::<F>),
        chain: binary_link::<F>(Cost::Light),
        ..operation(prepare_floating, rungs)
    }
}

/// A function that is worth a trip to the device by itself.
const fn elementary<F: Binary>() -> Op {
    Op {
        quick: Quick::Two(quick::<F>),
        chain: binary_link::<F>(Cost::Elementary),
        exact: Exactness::Ulp(1),
        ..operation(prepare_elementary, elementary_rungs::<F>(floating_portable::<F>, lanes::<F>))
    }
}

pub const fn elementary_rungs<F: Binary>(
    portable: fn(&Call) -> Result<Array>,
    lanes: fn(&Call, &Lanes) -> Result<Answer>,
) -> Rungs {
    Rungs { device: round_trip(Family::Map, device::<F>), ..rungs::<F>(portable, lanes) }
}

const fn comparison<F: Compare + IntegerCompare>() -> Op {
    let rungs = Rungs {
        portable: Definition::One(mask_portable::<F>),
        lanes: Entry::Has(mask_lanes::<F>),
        library: Entry::None(NO_LIBRARY),
        device: round_trip(Family::Wide, mask_device::<F>),
    };
    let chain = Link::two::<F>(Cost::Light, trace_compare::<F>);
    let quick = Quick::Two(quick_mask::<F>);
    Op {
        parameters: MASK_PAIR,
        result: MASK,
        quick,
        chain,
        gradient: Zero,
        ..operation(prepare_mask, rungs)
    }
}

/// A relation between what is true of two numbers.
const fn connective<F: Compare + IntegerCompare>() -> Op {
    // The quick way and chains round a number to the array's width first, where it may become zero.
    let link = Link::two::<F>(Cost::Light, trace_compare::<F>);
    let (quick, chain) = (Quick::None, None);
    Op { prepare: prepare_connective, quick, chain, link, ..comparison::<F>() }
}

fn prepare_arithmetic(op: &'static Op, mut a: Arguments, _: &mut Context) -> Result<Prepared> {
    let operands = [a.operand(0)?, a.operand(1)?];
    let types = types_of(&operands);
    of_two(op, operands, types, Family::Wide)
}

fn prepare_floating(op: &'static Op, mut a: Arguments, _: &mut Context) -> Result<Prepared> {
    let operands = [a.operand(0)?, a.operand(1)?];
    let types = types_of(&operands).floating();
    of_two(op, operands, types, Family::Wide)
}

fn prepare_elementary(op: &'static Op, mut a: Arguments, _: &mut Context) -> Result<Prepared> {
    let operands = [a.operand(0)?, a.operand(1)?];
    let types = types_of(&operands).floating();
    of_two(op, operands, types, Family::Map)
}

fn prepare_mask(op: &'static Op, mut a: Arguments, _: &mut Context) -> Result<Prepared> {
    let operands = [a.operand(0)?, a.operand(1)?];
    mask(op, operands, &mut a)
}

fn prepare_connective(op: &'static Op, mut a: Arguments, _: &mut Context) -> Result<Prepared> {
    // A number may be too small for the arrays' width and yet is not zero.
    let truth = |operand| match operand {
        Operand::Number(n) => Operand::Number(Number::I64((n.to_f64() != 0.0).into())),
        array => array,
    };
    let operands = [truth(a.operand(0)?), truth(a.operand(1)?)];
    mask(op, operands, &mut a)
}

fn mask(op: &'static Op, operands: [Operand; 2], arguments: &mut Arguments) -> Result<Prepared> {
    let types = types_of(&operands).mask(&operands);
    let result = arguments.element_type(2, types.result)?;
    Ok(match of_two(op, operands, types, Family::Wide)? {
        Prepared::Call(call) => Prepared::Call(Box::new(Call { result, ..*call })),
        other => other,
    })
}

pub fn of_two(
    op: &'static Op,
    operands: [Operand; 2],
    types: Types,
    family: Family,
) -> Result<Prepared> {
    let to_number = operands.iter().all(|o| matches!(o, Operand::Number(_)));
    let [a, b] = operands;
    let operands = smallvec![laid(a, types)?, laid(b, types)?];
    let call = at_common_shape(op, operands, types, to_number)?.at_types(&[types.compute; 2]);
    Ok(Prepared::Call(Box::new(Call { family, ..call })))
}

/// All operands as views at their common shape.
pub fn at_common_shape(
    op: &'static Op,
    mut operands: SmallVec<[Array; 3]>,
    types: Types,
    to_number: bool,
) -> Result<Call> {
    let given = operands.iter().map(|x| x.shape().clone()).collect();
    let mut shape = operands[0].shape().clone();
    for x in &operands[1..] {
        shape = shape.broadcast(x.shape())?;
    }
    for x in &mut operands {
        if *x.shape() != shape {
            *x = x.broadcast_to(&shape)?;
        }
    }
    // A mask of integers is written as doubles; everything else at the type it runs in.
    let raw = match (types.compute, types.result.is_float()) {
        (ElementType::I64, true) => ElementType::F64,
        _ => types.compute,
    };
    Ok(Call {
        op,
        operands,
        given,
        units: shape.size() as u64,
        shape,
        raw,
        result: types.result,
        to_number,
        wanted: Default::default(),
        more: Vec::new(),
        targets: Default::default(),
        detail: Detail::None,
        family: Family::Wide,
    })
}

/// a, b and out at the common shape.
pub fn pairwise<T: Element, O: Element>(call: &Call, f: impl Fn(T, T) -> O) -> Result<Array> {
    let (a, b) = (call.operands[0].view::<T>(), call.operands[1].view::<T>());
    Array::build::<O>(call.shape.clone(), |out| {
        out.iter_mut().zip(a.iter().zip(b.iter())).for_each(|(o, (a, b))| *o = f(a, b));
    })
}

fn portable<F: Binary + IntegerBinary>(call: &Call) -> Result<Array> {
    at_compute_type!(call, T => pairwise::<T, T>(call, |a, b| <F as math::Binary>::at(a, b)),
        pairwise::<i64, i64>(call, |a, b| <F as IntegerBinary>::at(a, b)))
}

pub fn floating_portable<F: Binary>(call: &Call) -> Result<Array> {
    at_compute_type!(call, T => pairwise::<T, T>(call, |a, b| F::at(a, b)),
        integers_not_taken(call))
}

fn mask_portable<F: Compare + IntegerCompare>(call: &Call) -> Result<Array> {
    at_compute_type!(call,
        T => pairwise::<T, T>(call, |a, b| <F as math::Compare>::at(a, b) as u8 as T),
        pairwise::<i64, f64>(call, |a, b| <F as IntegerCompare>::at(a, b) as u8 as f64))
}

pub fn no_integers() -> Result<Answer> {
    Ok(Answer::Declined(Decline::Type(ElementType::I64)))
}

pub fn quick<F: Binary>(lanes: &Lanes, a: Part, b: Part) -> Option<Value> {
    match small_pair(a, b)?.element_type() {
        ElementType::F64 => quick_at::<f64>(a, b, |x, y, out| {
            small::zip::<F, f64>(lanes, x, y, out);
        }),
        ElementType::F32 => quick_at::<f32>(a, b, |x, y, out| {
            small::zip::<F, f32>(lanes, x, y, out);
        }),
        _ => None,
    }
}

fn quick_mask<F: Compare>(lanes: &Lanes, a: Part, b: Part) -> Option<Value> {
    match small_pair(a, b)?.element_type() {
        ElementType::F64 => quick_at::<f64>(a, b, |x, y, out| {
            small::compare::<F, f64>(lanes, x, y, out);
        }),
        ElementType::F32 => quick_at::<f32>(a, b, |x, y, out| {
            small::compare::<F, f32>(lanes, x, y, out);
        }),
        _ => None,
    }
}

/// The array that decides shape and type: one beside a number, or the first of two alike.
fn small_pair<'a>(a: Part<'a>, b: Part<'a>) -> Option<&'a Array> {
    match (a, b) {
        (Part::Array(_), Part::Number(_)) => a.small(),
        (Part::Number(_), Part::Array(_)) => b.small(),
        (Part::Array(x), Part::Array(y)) if x.shape() == y.shape() => a.small(),
        _ => None,
    }
}

fn quick_at<T: Element + Convert>(
    a: Part,
    b: Part,
    f: impl FnOnce(&[T], &[T], &mut [T]),
) -> Option<Value> {
    let (mut one, mut other) = ([T::default()], [T::default()]);
    let (x, y) = (a.elements::<T>(&mut one)?, b.elements::<T>(&mut other)?);
    let shape = small_pair(a, b)?.shape().clone();
    Array::build::<T>(shape, |out| f(x, y, out)).ok().map(Value::Array)
}

/// a, b and out at the common shape.
pub fn lanes<F: Binary>(call: &Call, lanes: &Lanes) -> Result<Answer> {
    let cost = if call.family == Family::Map { Cost::Elementary } else { Cost::Light };
    let (a, b) = (&call.operands[0], &call.operands[1]);
    at_compute_type!(call, T => Array::build::<T>(call.shape.clone(), |out| {
        let (a, b) = (lanes_operand(a), lanes_operand(b));
        drivers::zip::<F, T>(lanes, cost, &call.shape, a, b, out);
    })
    .map(Answer::Done), no_integers())
}

fn arithmetic_lanes<F: Binary + IntegerBinary>(call: &Call, to: &Lanes) -> Result<Answer> {
    match call.operands[0].element_type() {
        ElementType::I64 => integer_lanes::<F>(call, to),
        _ => lanes::<F>(call, to),
    }
}

/// a, b and out at the common shape, all integers.
pub fn integer_lanes<F: IntegerBinary>(call: &Call, lanes: &Lanes) -> Result<Answer> {
    zipped::<i64, i64>(call, lanes, |a, b| <F as IntegerBinary>::at(a, b))
}

/// `pairwise` by the lanes.
pub fn zipped<T: Element, O: Element>(
    call: &Call,
    lanes: &Lanes,
    f: impl Fn(T, T) -> O + Copy + Send + Sync,
) -> Result<Answer> {
    let operands = (lanes_operand(&call.operands[0]), lanes_operand(&call.operands[1]));
    Array::build::<O>(call.shape.clone(), |out| each::zip(lanes, &call.shape, operands, out, f))
        .map(Answer::Done)
}

/// a, b and out at the common shape.
fn mask_lanes<F: Compare + IntegerCompare>(call: &Call, lanes: &Lanes) -> Result<Answer> {
    let (a, b) = (&call.operands[0], &call.operands[1]);
    at_compute_type!(call, T => Array::build::<T>(call.shape.clone(), |out| {
        drivers::compare::<F, T>(lanes, &call.shape, lanes_operand(a), lanes_operand(b), out);
    })
    .map(Answer::Done),
    zipped::<i64, f64>(call, lanes, |a, b| <F as IntegerCompare>::at(a, b) as u8 as f64))
}

/// a, b and out at the common shape.
fn device<F: Binary>(call: &Call, trip: &RoundTrip) -> Result<Answer> {
    trip.pointwise(call, "", Traces::floats(trace_binary::<F>))
}

/// The same for what integers have a meaning of their own in.
fn whole_device<F: Binary + WholeBinary>(call: &Call, trip: &RoundTrip) -> Result<Answer> {
    trip.pointwise(call, "", Traces::both(trace_binary::<F>, trace_whole_binary::<F>))
}

/// The same for integers alone.
pub fn integer_device<F: WholeBinary>(call: &Call, trip: &RoundTrip) -> Result<Answer> {
    trip.pointwise(call, "", Traces::wholes(trace_whole_binary::<F>))
}

/// The same for a relation.
fn mask_device<F: Compare + IntegerCompare>(call: &Call, trip: &RoundTrip) -> Result<Answer> {
    trip.pointwise(call, "", Traces::both(trace_compare::<F>, trace_whole_compare::<F>))
}
