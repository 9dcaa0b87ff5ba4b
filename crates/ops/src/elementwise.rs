//! Functions of each element: elementary ones (own definitions, within 1 ulp) and those of a
//! primitive or two.

use crate::arguments::{Arguments, Operand};
use crate::call::{
    Call, Context, Prepared, Types, at_compute_type, integers_not_taken, laid, lanes_operand,
    types_of, width_of,
};
use crate::decline::Answer;
use crate::gradient::Gradient::{Elements, Zero};
use crate::gradient::{choose, one, two};
use crate::record::{
    Definition, Entry, Exactness, Family, Kind, Link, Member, NO_LIBRARY, Offer, Op, Parameter,
    Part, Quick, Rungs, keyword, required,
};
use crate::round_trip::{Placed, RoundTrip, Traces};
use crate::samples;
use crate::user_kernel::Expression;
use crate::value::Value;
use rung_array::Array;
use rung_base::{ElementType, Result};
use rung_kernel::map;
use rung_lanes::compiled::Unary;
use rung_lanes::elementwise::{self as drivers, Cost};
use rung_lanes::{Float, Lanes, each, small};
use rung_math::{self as math, IntegerUnary, trace_unary, trace_whole_unary};
use std::f64::consts::{FRAC_2_SQRT_PI, LN_2, LN_10};

pub const OPS: &[Op] = &[
    Op {
        names: &["exp"],
        doc: "e raised to each element.",
        gradient: Elements(&[|g, _, y| g * y]),
        example: "(la:exp #d(0 1)) => #d(1.0 2.718281828459045)",
        ..elementary::<math::Exp>()
    },
    Op {
        names: &["log"],
        doc: "The natural logarithm of each element; NaN below zero, -inf at zero.",
        gradient: Elements(&[|g, x, _| g / &x[0]]),
        example: "(la:log #d(1 10)) => #d(0.0 2.302585092994046)",
        ..elementary::<math::Log>()
    },
    Op {
        names: &["tanh"],
        doc: "The hyperbolic tangent of each element.",
        gradient: Elements(&[|g, _, y| g * (1.0 - y * y)]),
        example: "(la:tanh #d(0 1)) => #d(0.0 0.7615941559557649)",
        ..elementary::<math::Tanh>()
    },
    Op {
        names: &["sin"],
        doc: "The sine of each element, in radians, with full-range argument reduction.",
        gradient: Elements(&[|g, x, _| g * one("cos", &x[0])]),
        example: "(la:sin #d(0 1 1e22)) => #d(0.0 0.8414709848078965 -0.8522008497671888)",
        ..elementary::<math::Sin>()
    },
    Op {
        names: &["cos"],
        doc: "The cosine of each element, in radians, with full-range argument reduction.",
        gradient: Elements(&[|g, x, _| -(g * one("sin", &x[0]))]),
        example: "(la:cos #d(0 1)) => #d(1.0 0.5403023058681398)",
        ..elementary::<math::Cos>()
    },
    Op {
        names: &["erf"],
        doc: "The Gauss error function of each element.",
        gradient: Elements(&[|g, x, _| g * bell(&x[0])]),
        example: "(la:erf 0.5d0) => 0.5204998778130465",
        ..elementary::<math::Erf>()
    },
    Op {
        names: &["tan"],
        doc: "The tangent of each element, in radians, with full-range argument reduction.",
        gradient: Elements(&[|g, _, y| g * (1.0 + y * y)]),
        example: "(la:tan #d(0 1)) => #d(0.0 1.5574077246549023)",
        ..elementary::<math::Tan>()
    },
    Op {
        names: &["asin"],
        doc: "The angle whose sine is each element; NaN outside [-1, 1].",
        gradient: Elements(&[|g, x, _| g / one("sqrt", (1.0 - &x[0]) * (1.0 + &x[0]))]),
        example: "(la:asin #d(0 1 2)) => #d(0.0 1.5707963267948966 nan)",
        ..elementary::<math::Asin>()
    },
    Op {
        names: &["acos"],
        doc: "The angle whose cosine is each element; NaN outside [-1, 1].",
        gradient: Elements(&[|g, x, _| -(g / one("sqrt", (1.0 - &x[0]) * (1.0 + &x[0])))]),
        example: "(la:acos #d(1 0 2)) => #d(0.0 1.5707963267948966 nan)",
        ..elementary::<math::Acos>()
    },
    Op {
        names: &["atan"],
        doc: "The angle whose tangent is each element.",
        gradient: Elements(&[|g, x, _| g / (1.0 + &x[0] * &x[0])]),
        example: "(la:atan #d(0 1)) => #d(0.0 0.7853981633974483)",
        ..elementary::<math::Atan>()
    },
    Op {
        names: &["sinh"],
        doc: "The hyperbolic sine of each element.",
        gradient: Elements(&[|g, x, _| g * one("cosh", &x[0])]),
        example: "(la:sinh #d(0 1)) => #d(0.0 1.1752011936438014)",
        ..elementary::<math::Sinh>()
    },
    Op {
        names: &["cosh"],
        doc: "The hyperbolic cosine of each element.",
        gradient: Elements(&[|g, x, _| g * one("sinh", &x[0])]),
        example: "(la:cosh #d(0 1)) => #d(1.0 1.5430806348152437)",
        ..elementary::<math::Cosh>()
    },
    Op {
        names: &["expm1"],
        doc: "e raised to each element, less 1, without loss near zero.",
        gradient: Elements(&[|g, _, y| g * (y + 1.0)]),
        example: "(la:expm1 #d(0 1e-10)) => #d(0.0 1.00000000005e-10)",
        ..elementary::<math::Expm1>()
    },
    Op {
        names: &["log1p"],
        doc: "The natural logarithm of 1 plus each element, without loss near zero.",
        gradient: Elements(&[|g, x, _| g / (1.0 + &x[0])]),
        example: "(la:log1p #d(0 1)) => #d(0.0 0.6931471805599453)",
        ..elementary::<math::Log1p>()
    },
    Op {
        names: &["exp2"],
        doc: "2 raised to each element; exact for whole numbers.",
        gradient: Elements(&[|g, _, y| g * (LN_2 * y)]),
        example: "(la:exp2 #d(10 0.5)) => #d(1024.0 1.4142135623730951)",
        ..elementary::<math::Exp2>()
    },
    Op {
        names: &["log2"],
        doc: "The logarithm of each element to base 2; exact for powers of 2.",
        gradient: Elements(&[|g, x, _| g / (LN_2 * &x[0])]),
        example: "(la:log2 #d(8 10)) => #d(3.0 3.321928094887362)",
        ..elementary::<math::Log2>()
    },
    Op {
        names: &["log10"],
        doc: "The logarithm of each element to base 10; exact for powers of 10.",
        gradient: Elements(&[|g, x, _| g / (LN_10 * &x[0])]),
        example: "(la:log10 #d(1000 2)) => #d(3.0 0.3010299956639812)",
        ..elementary::<math::Log10>()
    },
    Op {
        names: &["asinh"],
        doc: "The inverse hyperbolic sine of each element.",
        gradient: Elements(&[|g, x, _| g / two("hypot", &x[0], 1.0)]),
        example: "(la:asinh #d(0 1)) => #d(0.0 0.881373587019543)",
        ..elementary::<math::Asinh>()
    },
    Op {
        names: &["acosh"],
        doc: "The inverse hyperbolic cosine of each element; NaN below 1.",
        gradient: Elements(&[|g, x, _| g / (one("sqrt", &x[0] - 1.0) * one("sqrt", &x[0] + 1.0))]),
        example: "(la:acosh #d(1 1.5)) => #d(0.0 0.9624236501192069)",
        ..elementary::<math::Acosh>()
    },
    Op {
        names: &["atanh"],
        doc: "The inverse hyperbolic tangent of each element; NaN outside [-1, 1].",
        gradient: Elements(&[|g, x, _| g / ((1.0 - &x[0]) * (1.0 + &x[0]))]),
        example: "(la:atanh #d(0.5 1)) => #d(0.5493061443340549 inf)",
        ..elementary::<math::Atanh>()
    },
    Op {
        names: &["cbrt"],
        doc: "The cube root of each element, of negative ones too.",
        gradient: Elements(&[|g, _, y| g / (3.0 * (y * y))]),
        example: "(la:cbrt #d(27 -8)) => #d(3.0 -2.0)",
        ..elementary::<math::Cbrt>()
    },
    Op {
        names: &["erfc"],
        doc: "One less the Gauss error function of each element, without loss for large ones.",
        gradient: Elements(&[|g, x, _| -(g * bell(&x[0]))]),
        example: "(la:erfc #d(0 1)) => #d(1.0 0.15729920705028513)",
        ..elementary::<math::Erfc>()
    },
    Op {
        names: &["sigmoid"],
        doc: "The logistic function of each element: 1 / (1 + exp(-x)).",
        gradient: Elements(&[|g, _, y| g * (y * (1.0 - y))]),
        example: "(la:sigmoid #d(0 1)) => #d(0.5 0.7310585786300049)",
        exact: Exactness::Same,
        ..elementary::<math::Sigmoid>()
    },
    Op {
        names: &["softplus"],
        doc: "The logarithm of 1 + exp(x), as maximum(x, 0) + log1p(exp(-abs x)).",
        gradient: Elements(&[|g, x, _| g * one("sigmoid", &x[0])]),
        example: "(la:softplus #d(0 1000)) => #d(0.6931471805599453 1000.0)",
        exact: Exactness::Same,
        ..elementary::<math::Softplus>()
    },
    Op {
        names: &["sqrt"],
        doc: "The square root of each element; NaN below zero.",
        gradient: Elements(&[|g, _, y| g / (2.0 * y)]),
        example: "(la:sqrt #d(4 2 -1)) => #d(2.0 1.4142135623730951 nan)",
        ..arithmetic::<math::Sqrt>()
    },
    Op {
        names: &["abs"],
        doc: "The magnitude of each element.",
        gradient: Elements(&[|g, x, _| g * one("sign", &x[0])]),
        example: "(la:abs #d(-1 2)) => #d(1.0 2.0)",
        ..whole::<math::Abs>()
    },
    Op {
        names: &["negative"],
        doc: "Each element with its sign turned.",
        gradient: Elements(&[|g, _, _| -g]),
        example: "(la:negative #d(-1 2)) => #d(1.0 -2.0)",
        ..whole::<math::Negative>()
    },
    Op {
        names: &["square"],
        doc: "Each element times itself.",
        gradient: Elements(&[|g, x, _| g * (2.0 * &x[0])]),
        example: "(la:square #d(-3 2)) => #d(9.0 4.0)",
        ..whole::<math::Square>()
    },
    Op {
        names: &["sign"],
        doc: "-1, 0 or 1 by the sign of each element; +0.0 for both zeros, NaN for NaN.",
        gradient: Zero,
        example: "(la:sign #d(-3 0 2)) => #d(-1.0 0.0 1.0)",
        ..whole::<math::Sign>()
    },
    Op {
        names: &["reciprocal"],
        doc: "One over each element.",
        gradient: Elements(&[|g, _, y| -(g * (y * y))]),
        example: "(la:reciprocal #d(4 0)) => #d(0.25 inf)",
        ..arithmetic::<math::Reciprocal>()
    },
    Op {
        names: &["relu"],
        doc: "The larger of each element and zero.",
        gradient: Elements(&[|g, x, _| choose(two("greater", &x[0], 0.0), g, 0.0)]),
        example: "(la:relu #d(-3 2)) => #d(0.0 2.0)",
        ..whole::<math::Relu>()
    },
    Op {
        names: &["floor"],
        doc: "The largest whole number not above each element.",
        gradient: Zero,
        example: "(la:floor #d(1.5 -1.5)) => #d(1.0 -2.0)",
        ..arithmetic::<math::Floor>()
    },
    Op {
        names: &["ceil"],
        doc: "The smallest whole number not below each element.",
        gradient: Zero,
        example: "(la:ceil #d(1.5 -1.5)) => #d(2.0 -1.0)",
        ..arithmetic::<math::Ceil>()
    },
    Op {
        names: &["round"],
        doc: "The whole number nearest to each element, the even one of two.",
        gradient: Zero,
        example: "(la:round #d(0.5 1.5 2.5)) => #d(0.0 2.0 2.0)",
        ..arithmetic::<math::RoundEven>()
    },
    Op {
        names: &["trunc"],
        doc: "Each element without its fraction.",
        gradient: Zero,
        example: "(la:trunc #d(1.5 -1.5)) => #d(1.0 -1.0)",
        ..arithmetic::<math::Trunc>()
    },
    Op {
        names: &["isnan"],
        doc: "1 where an element is not a number, else 0.",
        example: "(la:isnan #d(1 nan inf)) => #d(0.0 1.0 0.0)",
        ..mask::<math::IsNan>()
    },
    Op {
        names: &["isinf"],
        doc: "1 where an element is infinite, of either sign, else 0.",
        example: "(la:isinf #d(1 nan -inf)) => #d(0.0 0.0 1.0)",
        ..mask::<math::IsInfinite>()
    },
    Op {
        names: &["isfinite"],
        doc: "1 where an element is neither infinite nor NaN, else 0.",
        example: "(la:isfinite #d(1 nan -inf)) => #d(1.0 0.0 0.0)",
        ..mask::<math::IsFinite>()
    },
    Op {
        names: &["logical-not"],
        doc: "1 where an element is zero, else 0; NaN is true.",
        example: "(la:logical-not #d(0 2 nan)) => #d(1.0 0.0 0.0)",
        ..mask::<math::LogicalNot>()
    },
];

/// The slope of erf.
fn bell(x: &Expression) -> Expression {
    FRAC_2_SQRT_PI * one("exp", -(x * x))
}

const PARAMETERS: &[Parameter] = &[required("a", Kind::Operand)];
const MASK_PARAMETERS: &[Parameter] =
    &[required("a", Kind::Operand), keyword("element-type", Kind::ElementType)];
const RESULT: &str = "an array of a's shape and float type (double-float for integers)";
/// What masks come back as (spec linalg 1.3.7).
pub const MASK: &str = "1 and 0 in the width of the first array, double-float when that is not a \
                        float, or in the element type that is asked for";

/// A function that is worth a trip to the device by itself.
const fn elementary<F: Unary>() -> Op {
    Op {
        exact: Exactness::Ulp(1),
        rungs: Rungs {
            device: Entry::Has(Member { offer: Offer::RoundTrip(Family::Map), run: device::<F> }),
            ..Kernels::<F>::RUNGS
        },
        ..function::<F>(Family::Map)
    }
}

/// A function of a primitive or two: it rides on operands that are on the device already.
const fn arithmetic<F: Unary>() -> Op {
    function::<F>(Family::Wide)
}

/// A function of a primitive or two that keeps integers as integers.
const fn whole<F: Unary + IntegerUnary>() -> Op {
    Op {
        result: "an array of a's shape and type (bits count as bytes)",
        prepare: prepare_whole,
        rungs: Rungs {
            portable: Definition::One(whole_portable::<F>),
            lanes: Entry::Has(whole_lanes::<F>),
            device: Entry::Has(Member { offer: Offer::ResidentOnly, run: whole_device::<F> }),
            ..Kernels::<F>::RUNGS
        },
        ..function::<F>(Family::Wide)
    }
}

/// A function whose values say true or false.
const fn mask<F: Unary>() -> Op {
    Op {
        parameters: MASK_PARAMETERS,
        result: MASK,
        prepare: prepare_mask,
        gradient: Zero,
        ..function::<F>(Family::Wide)
    }
}

/// The kernels of one definition.
struct Kernels<F>(std::marker::PhantomData<F>);

impl<F: Unary> Kernels<F> {
    const RUNGS: Rungs = Rungs {
        portable: Definition::One(portable::<F>),
        lanes: Entry::Has(lanes::<F>),
        library: Entry::None(NO_LIBRARY),
        device: Entry::Has(Member { offer: Offer::ResidentOnly, run: device::<F> }),
    };
}

const fn function<F: Unary>(family: Family) -> Op {
    Op {
        parameters: PARAMETERS,
        result: RESULT,
        prepare: match family {
            Family::Map => prepare_map,
            _ => prepare_wide,
        },
        rungs: Kernels::<F>::RUNGS,
        samples: || samples::unary(20.0),
        quick: Quick::One(quick::<F>),
        chain: Link::one::<F>(cost_of(family), trace_unary::<F>),
        ..Op::BASE
    }
}

const fn cost_of(family: Family) -> Cost {
    match family {
        Family::Map => Cost::Elementary,
        _ => Cost::Light,
    }
}

fn prepare_map(op: &'static Op, arguments: Arguments, _: &mut Context) -> Result<Prepared> {
    prepare(op, arguments, Family::Map)
}

fn prepare_wide(op: &'static Op, arguments: Arguments, _: &mut Context) -> Result<Prepared> {
    prepare(op, arguments, Family::Wide)
}

fn prepare(op: &'static Op, mut arguments: Arguments, family: Family) -> Result<Prepared> {
    let x = arguments.operand(0)?;
    let types = types_of(std::slice::from_ref(&x)).floating();
    of_one(op, x, types, family)
}

fn prepare_whole(op: &'static Op, mut arguments: Arguments, _: &mut Context) -> Result<Prepared> {
    let x = arguments.operand(0)?;
    let types = types_of(std::slice::from_ref(&x));
    of_one(op, x, types, Family::Wide)
}

fn prepare_mask(op: &'static Op, mut arguments: Arguments, _: &mut Context) -> Result<Prepared> {
    let x = arguments.operand(0)?;
    let types = types_of(std::slice::from_ref(&x)).floating();
    let result = arguments.element_type(1, types.result)?;
    Ok(match of_one(op, x, types, Family::Wide)? {
        Prepared::Call(call) => Prepared::Call(Box::new(Call { result, ..*call })),
        other => other,
    })
}

fn of_one(op: &'static Op, x: Operand, types: Types, family: Family) -> Result<Prepared> {
    let to_number = matches!(x, Operand::Number(_));
    let call = Call::like(op, laid(x, types)?, types.result, family);
    let call = Call { raw: types.compute, ..call }.at_types(&[types.compute]);
    Ok(Prepared::Call(Box::new(Call { to_number, ..call })))
}

/// x (any shape), out (the same shape).
fn portable<F: Unary>(call: &Call) -> Result<Array> {
    let x = &call.operands[0];
    at_compute_type!(call, T => Array::build::<T>(call.shape.clone(), |out| {
        out.iter_mut().zip(x.view::<T>().iter()).for_each(|(o, x)| *o = F::at(x));
    }), integers_not_taken(call))
}

/// x (any shape), out (the same shape).
fn whole_portable<F: Unary + IntegerUnary>(call: &Call) -> Result<Array> {
    match call.operands[0].element_type() {
        ElementType::I64 => Array::build::<i64>(call.shape.clone(), |out| {
            let x = call.operands[0].view::<i64>();
            out.iter_mut().zip(x.iter()).for_each(|(o, x)| *o = <F as IntegerUnary>::at(x));
        }),
        _ => portable::<F>(call),
    }
}

fn whole_lanes<F: Unary + IntegerUnary>(call: &Call, to: &Lanes) -> Result<Answer> {
    match call.operands[0].element_type() {
        ElementType::I64 => Array::build::<i64>(call.shape.clone(), |out| {
            let x = lanes_operand::<i64>(&call.operands[0]);
            each::map(to, &call.shape, x, out, |x| <F as IntegerUnary>::at(x));
        })
        .map(Answer::Done),
        _ => lanes::<F>(call, to),
    }
}

fn lanes<F: Unary>(call: &Call, lanes: &Lanes) -> Result<Answer> {
    let (cost, x) = (cost_of(call.family), &call.operands[0]);
    at_compute_type!(call, T => Array::build::<T>(call.shape.clone(), |out| {
        drivers::map::<F, T>(lanes, cost, &call.shape, lanes_operand(x), out);
    }), integers_not_taken(call))
    .map(Answer::Done)
}

fn quick<F: Unary>(lanes: &Lanes, x: Part) -> Option<Value> {
    let a = x.small()?;
    match a.element_type() {
        ElementType::F64 => quick_at::<F, f64>(lanes, a),
        ElementType::F32 => quick_at::<F, f32>(lanes, a),
        _ => None,
    }
}

fn quick_at<F: Unary, T: Float>(lanes: &Lanes, a: &Array) -> Option<Value> {
    let x = a.as_slice::<T>()?;
    let array = Array::build::<T>(a.shape().clone(), |out| small::map::<F, T>(lanes, x, out));
    array.ok().map(Value::Array)
}

/// Whether the elements lie in order from the beginning of their buffer.
fn is_packed(x: &Array, placed: &Placed) -> bool {
    x.is_contiguous() && placed.offset() == 0
}

/// x (any shape), out (the same shape).
fn device<F: Unary>(call: &Call, trip: &RoundTrip) -> Result<Answer> {
    let (x, t) = (&call.operands[0], call.operands[0].element_type());
    let placed = trip.place(x);
    let plain = matches!(t, ElementType::F64 | ElementType::F32) && call.result == t;
    // What one kernel cannot see at once goes in pieces, as broadcasts do.
    if !plain || call.wanted(0) != t || !is_packed(x, &placed) || trip.exceeds(x) {
        return trip.pointwise(call, "", Traces::floats(trace_unary::<F>));
    }
    let graph = || trace_unary::<F>(width_of(call));
    let kernel = trip.kernel(call, "map", || Ok(map::kernel(call.op.name(), &graph())))?;
    let launch = map::launch(&kernel, x.size());
    at_compute_type!(call, T => trip.run::<T>(launch, &[placed], call.shape.clone()),
        integers_not_taken(call).map(Answer::Done))
}

/// The same for what integers have a meaning of their own in.
fn whole_device<F: Unary + IntegerUnary>(call: &Call, trip: &RoundTrip) -> Result<Answer> {
    match call.wanted(0) {
        ElementType::I64 => trip.pointwise(call, "", Traces::wholes(trace_whole_unary::<F>)),
        _ => device::<F>(call, trip),
    }
}
