//! Operations of two or three operands that broadcast: arithmetic, the elementary functions
//! of two numbers, comparisons, `where`.

use crate::arguments::{Arguments, Operand};
use crate::call::{
    Call, Context, Detail, Prepared, Types, at_compute_type, integers_not_taken, lanes_operand,
    lay_out, types_of, width_of,
};
use crate::decline::{Answer, Decline};
use crate::record::{
    Arithmetic, Definition, Entry, Exactness, FLOATS, Family, Kind, Member, NO_LIBRARY, Offer, Op,
    Parameter, Part, Prepare, Quick, Rungs, required,
};
use crate::round_trip::RoundTrip;
use crate::samples;
use rung_array::{Array, Convert, Number};
use rung_base::{Element, ElementType, Result};
use rung_kernel::broadcast;
use rung_lanes::Lanes;
use rung_lanes::elementwise::{self as drivers, Cost};
use rung_math::{
    self as math, Binary, Compare, Graph, IntegerBinary, IntegerCompare, Ternary, Width,
    trace_binary, trace_compare,
};
use smallvec::{SmallVec, smallvec};
use std::cmp::Ordering;

pub const OPS: &[Op] = &[
    Op {
        names: &["add"],
        numbers: Some(Arithmetic::Add),
        doc: "The sum of two operands, element by element.",
        example: "(la:add #d((1 2) (3 4)) #d(10 20)) => #d((11.0 22.0) (13.0 24.0))",
        ..arithmetic::<math::Add>()
    },
    Op {
        names: &["sub"],
        numbers: Some(Arithmetic::Subtract),
        doc: "The first operand less the second, element by element.",
        example: "(la:sub #d(1 2) 1) => #d(0.0 1.0)",
        ..arithmetic::<math::Sub>()
    },
    Op {
        names: &["mul"],
        numbers: Some(Arithmetic::Multiply),
        doc: "The product of two operands, element by element (`matmul` is the matrix product).",
        example: "(la:mul #d(1 2) #d(3 4)) => #d(3.0 8.0)",
        ..arithmetic::<math::Mul>()
    },
    Op {
        names: &["div"],
        numbers: Some(Arithmetic::Divide),
        doc: "The quotient of two operands; always a float, never an error: 1/0 is inf.",
        example: "(la:div #d(1 0) #d(4 0)) => #d(0.25 nan)",
        ..floating::<math::Div>()
    },
    Op {
        names: &["maximum"],
        numbers: Some(Arithmetic::Larger),
        doc: "The larger of two operands; NaN if either is; -0.0 counts as below +0.0.",
        example: "(la:maximum #d(1 5) #d(3 nan)) => #d(3.0 nan)",
        ..arithmetic::<math::Maximum>()
    },
    Op {
        names: &["minimum"],
        numbers: Some(Arithmetic::Smaller),
        doc: "The smaller of two operands; NaN if either is; -0.0 counts as below +0.0.",
        example: "(la:minimum #d(1 5) 3) => #d(1.0 3.0)",
        ..arithmetic::<math::Minimum>()
    },
    Op {
        names: &["power"],
        doc: "The first operand raised to the second; x^0 and 1^y are 1 even for NaN.",
        example: "(la:power #d(2 9 -8) #d(10 0.5 3)) => #d(1024.0 3.0 -512.0)",
        ..elementary::<math::Power>()
    },
    Op {
        names: &["atan2"],
        doc: "The angle of the point (b, a), in (-pi, pi], by the signs of both operands.",
        example: "(la:atan2 #d(1 -1) #d(1 -1)) => #d(0.7853981633974483 -2.356194490192345)",
        ..elementary::<math::Atan2>()
    },
    Op {
        names: &["hypot"],
        doc: "The square root of the sum of both operands' squares, without overflow on the way.",
        example: "(la:hypot #d(3 3e300) #d(4 4e300)) => #d(5.0 5.0e300)",
        ..elementary::<math::Hypot>()
    },
    Op {
        names: &["copysign"],
        doc: "The magnitude of the first operand with the sign of the second.",
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
        names: &["where"],
        doc: "Elements of x where the mask is not zero (NaN is not), elements of y elsewhere.",
        parameters: &[
            required("mask", Kind::Operand),
            required("x", Kind::Operand),
            required("y", Kind::Operand),
        ],
        result: "an array of the common shape, of the width of x if that is an array, else of y",
        types: FLOATS,
        prepare: prepare_where,
        rungs: ternary::<math::Where>(),
        samples: where_samples,
        example: "(la:where (la:greater #d(1 5 3) 2) #d(1 5 3) 0) => #d(0.0 5.0 3.0)",
        ..Op::BASE
    },
    Op {
        names: &["clip"],
        doc: "Each element raised to a lower and then lowered to an upper bound; nil is no bound.",
        parameters: &[
            required("a", Kind::Operand),
            required("low", Kind::Operand),
            required("high", Kind::Operand),
        ],
        result: "an array of the common shape, of the width of the first float array",
        types: FLOATS,
        prepare: prepare_clip,
        rungs: ternary::<math::Clip>(),
        samples: || {
            let bounds = [samples::number(-0.5), samples::number(1.5)];
            let all = samples::unary(3.0).into_iter();
            all.map(|a| [a, bounds.to_vec()].concat()).collect()
        },
        example: "(la:clip #d(-1 0.5 7) 0 nil) => #d(0.0 0.5 7.0)",
        ..Op::BASE
    },
];

const PAIR: &[Parameter] = &[required("a", Kind::Operand), required("b", Kind::Operand)];

const fn operation(prepare: Prepare, rungs: Rungs) -> Op {
    Op {
        parameters: PAIR,
        result: "an array of the common shape; its float type is that of the first float array",
        prepare,
        rungs,
        samples: samples::pairs,
        ..Op::BASE
    }
}

const fn rungs<F: Binary>(portable: fn(&Call) -> Result<Array>) -> Rungs {
    Rungs {
        portable: Definition::One(portable),
        lanes: Entry::Has(lanes::<F>),
        library: Entry::None(NO_LIBRARY),
        device: Entry::Has(Member { offer: Offer::RoundTrip(Family::Wide), run: device::<F> }),
    }
}

const fn ternary<F: Ternary>() -> Rungs {
    Rungs {
        portable: Definition::One(ternary_portable::<F>),
        lanes: Entry::Has(ternary_lanes::<F>),
        library: Entry::None(NO_LIBRARY),
        device: Entry::None("three operands move more bytes than they save time"),
    }
}

const fn arithmetic<F: Binary + IntegerBinary>() -> Op {
    let quick = Quick::Two(quick::<F>);
    Op { quick, ..operation(prepare_arithmetic, rungs::<F>(portable::<F>)) }
}

const fn floating<F: Binary>() -> Op {
    let quick = Quick::Two(quick::<F>);
    Op { types: FLOATS, quick, ..operation(prepare_floating, rungs::<F>(floating_portable::<F>)) }
}

/// A function that is worth a trip to the device by itself.
const fn elementary<F: Binary>() -> Op {
    let rungs = rungs::<F>(floating_portable::<F>);
    Op {
        types: FLOATS,
        quick: Quick::Two(quick::<F>),
        exact: Exactness::Ulp(1),
        ..operation(
            prepare_elementary,
            Rungs {
                device: Entry::Has(Member {
                    offer: Offer::RoundTrip(Family::Map),
                    run: device::<F>,
                }),
                ..rungs
            },
        )
    }
}

const fn comparison<F: Compare + IntegerCompare>() -> Op {
    let rungs = Rungs {
        portable: Definition::One(mask_portable::<F>),
        lanes: Entry::Has(mask_lanes::<F>),
        library: Entry::None(NO_LIBRARY),
        device: Entry::Has(Member { offer: Offer::RoundTrip(Family::Wide), run: mask_device::<F> }),
    };
    let result = "1 and 0 in the width of the first array, double-float when that is not a float";
    Op { result, quick: Quick::Two(quick_mask::<F>), ..operation(prepare_mask, rungs) }
}

fn prepare_arithmetic(op: &'static Op, a: Arguments, _: &mut Context) -> Result<Prepared> {
    prepare(op, a, |types, _| types)
}

fn prepare_floating(op: &'static Op, a: Arguments, _: &mut Context) -> Result<Prepared> {
    prepare(op, a, |types, _| types.floating())
}

fn prepare_elementary(op: &'static Op, a: Arguments, _: &mut Context) -> Result<Prepared> {
    Ok(match prepare(op, a, |types, _| types.floating())? {
        Prepared::Call(call) => Prepared::Call(Box::new(Call { family: Family::Map, ..*call })),
        other => other,
    })
}

fn prepare_mask(op: &'static Op, a: Arguments, _: &mut Context) -> Result<Prepared> {
    prepare(op, a, Types::mask)
}

fn prepare(
    op: &'static Op,
    mut arguments: Arguments,
    adjust: fn(Types, &[Operand]) -> Types,
) -> Result<Prepared> {
    let operands = [arguments.operand(0)?, arguments.operand(1)?];
    let to_number = operands.iter().all(|o| matches!(o, Operand::Number(_)));
    let types = adjust(types_of(&operands), &operands);
    let [a, b] = operands;
    at_common_shape(op, smallvec![lay_out(a, types)?, lay_out(b, types)?], types, to_number)
}

/// All operands as views at their common shape.
fn at_common_shape(
    op: &'static Op,
    mut operands: SmallVec<[Array; 3]>,
    types: Types,
    to_number: bool,
) -> Result<Prepared> {
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
    Ok(Prepared::Call(Box::new(Call {
        op,
        operands,
        given,
        units: shape.size() as u64,
        shape,
        raw,
        result: types.result,
        to_number,
        more: Vec::new(),
        detail: Detail::None,
        family: Family::Wide,
    })))
}

/// a, b and out at the common shape.
fn pairwise<T: Element, O: Element>(call: &Call, f: impl Fn(T, T) -> O) -> Result<Array> {
    let (a, b) = (call.operands[0].view::<T>(), call.operands[1].view::<T>());
    Array::build::<O>(call.shape.clone(), |out| {
        out.iter_mut().zip(a.iter().zip(b.iter())).for_each(|(o, (a, b))| *o = f(a, b));
    })
}

fn portable<F: Binary + IntegerBinary>(call: &Call) -> Result<Array> {
    at_compute_type!(call, T => pairwise::<T, T>(call, |a, b| <F as Binary>::at(a, b)),
        pairwise::<i64, i64>(call, |a, b| <F as IntegerBinary>::at(a, b)))
}

fn floating_portable<F: Binary>(call: &Call) -> Result<Array> {
    at_compute_type!(call, T => pairwise::<T, T>(call, |a, b| F::at(a, b)),
        integers_not_taken(call))
}

fn mask_portable<F: Compare + IntegerCompare>(call: &Call) -> Result<Array> {
    at_compute_type!(call,
        T => pairwise::<T, T>(call, |a, b| <F as Compare>::at(a, b) as u8 as T),
        pairwise::<i64, f64>(call, |a, b| <F as IntegerCompare>::at(a, b) as u8 as f64))
}

fn prepare_where(op: &'static Op, mut arguments: Arguments, _: &mut Context) -> Result<Prepared> {
    let mask = arguments.operand(0)?;
    let choices = [arguments.operand(1)?, arguments.operand(2)?];
    let types = types_of(&choices).floating();
    let is_number = |o: &Operand| matches!(o, Operand::Number(_));
    let to_number = is_number(&mask) && choices.iter().all(is_number);
    // The mask only says true or false: at the choices' width it still does, except for a
    // number too small for it.
    let mask = truth(mask)?;
    let [x, y] = choices;
    let operands = smallvec![lay_out(mask, types)?, lay_out(x, types)?, lay_out(y, types)?];
    at_common_shape(op, operands, types, to_number)
}

/// 1 where an operand is not zero, so that it can be narrowed without becoming zero.
fn truth(mask: Operand) -> Result<Operand> {
    match mask {
        Operand::Array(a) => Ok(Operand::Array(a.convert(ElementType::Bool)?)),
        Operand::Number(n) => Ok(Operand::Number(Number::Bool(n.to_f64() != 0.0))),
    }
}

fn prepare_clip(op: &'static Op, mut arguments: Arguments, _: &mut Context) -> Result<Prepared> {
    let a = arguments.operand(0)?;
    let mut given = vec![a.clone()];
    let mut bounds = [f64::NEG_INFINITY, f64::INFINITY].map(|x| Operand::Number(Number::F64(x)));
    for (at, bound) in bounds.iter_mut().enumerate() {
        if arguments.is_given(at + 1) {
            *bound = arguments.operand(at + 1)?;
            given.push(bound.clone());
        }
    }
    let to_number = given.iter().all(|o| matches!(o, Operand::Number(_)));
    let types = types_of(&given).floating();
    let [low, high] = bounds;
    let operands = smallvec![lay_out(a, types)?, lay_out(low, types)?, lay_out(high, types)?];
    at_common_shape(op, operands, types, to_number)
}

/// Three operands and out at the common shape.
fn ternary_portable<F: Ternary>(call: &Call) -> Result<Array> {
    let [a, b, c] = &call.operands[..] else { return integers_not_taken(call) };
    at_compute_type!(call, T => Array::build::<T>(call.shape.clone(), |out| {
        let others = b.view::<T>().iter().zip(c.view::<T>().iter());
        let each = out.iter_mut().zip(a.view::<T>().iter().zip(others));
        each.for_each(|(o, (a, (b, c)))| *o = F::at(a, b, c));
    }), integers_not_taken(call))
}

fn where_samples() -> Vec<samples::Sample> {
    let mut all: Vec<samples::Sample> = samples::pairs()
        .into_iter()
        .map(|pair| vec![samples::counting(&[1], 2), pair[0].clone(), pair[1].clone()])
        .collect();
    all.push(vec![samples::hard(&[3, 17], 1.0), samples::spread(&[17], 2.0), samples::number(7.0)]);
    all
}

fn no_integers() -> Result<Answer> {
    Ok(Answer::Declined(Decline::Type(ElementType::I64)))
}

fn quick<F: Binary>(lanes: &Lanes, a: Part, b: Part) -> Option<Result<Array>> {
    match small_pair(a, b)?.element_type() {
        ElementType::F64 => quick_at::<f64>(a, b, |shape, x, y, out| {
            drivers::zip::<F, f64>(lanes, Cost::Light, shape, x, y, out);
        }),
        ElementType::F32 => quick_at::<f32>(a, b, |shape, x, y, out| {
            drivers::zip::<F, f32>(lanes, Cost::Light, shape, x, y, out);
        }),
        _ => None,
    }
}

fn quick_mask<F: Compare>(lanes: &Lanes, a: Part, b: Part) -> Option<Result<Array>> {
    match small_pair(a, b)?.element_type() {
        ElementType::F64 => quick_at::<f64>(a, b, |shape, x, y, out| {
            drivers::compare::<F, f64>(lanes, shape, x, y, out);
        }),
        ElementType::F32 => quick_at::<f32>(a, b, |shape, x, y, out| {
            drivers::compare::<F, f32>(lanes, shape, x, y, out);
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

type Run<'a, T> = rung_lanes::Operand<'a, T>;

fn quick_at<T: Element + Convert>(
    a: Part,
    b: Part,
    f: impl FnOnce(&[usize], Run<T>, Run<T>, &mut [T]),
) -> Option<Result<Array>> {
    let (mut one, mut other) = ([T::default()], [T::default()]);
    let (x, x_step) = a.elements::<T>(&mut one)?;
    let (y, y_step) = b.elements::<T>(&mut other)?;
    let (x_step, y_step) = ([x_step], [y_step]);
    let shape = small_pair(a, b)?.shape().clone();
    Some(Array::build::<T>(shape, |out| {
        let (x, y) = (Run::new(x, 0, &x_step), Run::new(y, 0, &y_step));
        f(&[out.len()], x, y, out);
    }))
}

/// a, b and out at the common shape.
fn lanes<F: Binary>(call: &Call, lanes: &Lanes) -> Result<Answer> {
    let cost = if call.family == Family::Map { Cost::Elementary } else { Cost::Light };
    let (a, b) = (&call.operands[0], &call.operands[1]);
    at_compute_type!(call, T => Array::build::<T>(call.shape.clone(), |out| {
        let (a, b) = (lanes_operand(a), lanes_operand(b));
        drivers::zip::<F, T>(lanes, cost, &call.shape, a, b, out);
    })
    .map(Answer::Done), no_integers())
}

/// a, b and out at the common shape.
fn mask_lanes<F: Compare>(call: &Call, lanes: &Lanes) -> Result<Answer> {
    let (a, b) = (&call.operands[0], &call.operands[1]);
    at_compute_type!(call, T => Array::build::<T>(call.shape.clone(), |out| {
        drivers::compare::<F, T>(lanes, &call.shape, lanes_operand(a), lanes_operand(b), out);
    })
    .map(Answer::Done), no_integers())
}

/// Three operands and out at the common shape.
fn ternary_lanes<F: Ternary>(call: &Call, lanes: &Lanes) -> Result<Answer> {
    let [a, b, c] = &call.operands[..] else { return no_integers() };
    at_compute_type!(call, T => Array::build::<T>(call.shape.clone(), |out| {
        let operands = [lanes_operand(a), lanes_operand(b), lanes_operand(c)];
        drivers::zip3::<F, T>(lanes, Cost::Light, &call.shape, operands, out);
    })
    .map(Answer::Done), no_integers())
}

/// a, b and out at the common shape; only the elements that a broadcast operand has go up.
fn device<F: Binary>(call: &Call, trip: &RoundTrip) -> Result<Answer> {
    on_device(call, trip, trace_binary::<F>)
}

/// a, b and out at the common shape.
fn mask_device<F: Compare>(call: &Call, trip: &RoundTrip) -> Result<Answer> {
    on_device(call, trip, trace_compare::<F>)
}

fn on_device(call: &Call, trip: &RoundTrip, trace: fn(Width) -> Graph) -> Result<Answer> {
    if call.operands[0].element_type() == ElementType::I64 {
        return no_integers();
    }
    if call.shape.rank() > broadcast::MAX_RANK {
        return Ok(Answer::Declined(Decline::NoKernel("more than eight axes")));
    }
    let graph = || trace(width_of(call));
    let kernel = trip.kernel(call, || Ok(broadcast::kernel(call.op.name(), &graph(), 2)))?;
    at_compute_type!(call, T => {
        let spans = [call.operands[0].span::<T>(), call.operands[1].span::<T>()];
        let view = |i: usize| broadcast::View {
            offset: spans[i].1,
            strides: call.operands[i].strides(),
        };
        let launch = broadcast::launch(&kernel, &call.shape, &[view(0), view(1)]);
        trip.run::<T, T>(launch, &[spans[0].0, spans[1].0], call.shape.clone())
    }, no_integers())
}
