//! Operations with a meaning of their own for integers: powers, division with a remainder, bits.

use crate::arguments::{Arguments, Operand};
use crate::broadcast::{
    PAIR, binary_link, elementary_rungs, floating_portable, integer_device, integer_lanes, lanes,
    of_two, operation, pairwise, quick, round_trip, zipped,
};
use crate::call::{Call, Context, Prepared, Types, at_compute_type, at_type, types_of};
use crate::decline::Answer;
use crate::gradient::Gradient::Elements;
use crate::gradient::{choose, one, two};
use crate::record::{
    Arithmetic, Definition, Exactness, Family, Kind, Offer, Op, Quick, Rungs, required,
};
use crate::round_trip::{RoundTrip, Traces};
use crate::samples::{self, Sample};
use rung_array::{Array, Number};
use rung_base::{ElementType, Error, ErrorKind, Result};
use rung_lanes::{Cost, Lanes};
use rung_math::{
    self as math, Division, IntegerBinary, WholeBinary, trace_binary, trace_division,
    trace_whole_binary,
};

pub const OPS: &[Op] = &[
    Op {
        names: &["power"],
        doc: "The first operand raised to the second; x^0 and 1^y are 1 even for NaN. Integer \
              arrays with integers stay integers and wrap.",
        example: "(la:power #d(2 9 -8) #d(10 0.5 3)) => #d(1024.0 3.0 -512.0)",
        exact: Exactness::Ulp(1),
        gradient: Elements(&[
            |g, x, _| g * (&x[1] * two("power", &x[0], &x[1] - 1.0)),
            |g, x, y| choose(two("greater", &x[0], 0.0), g * (y * one("log", &x[0])), 0.0),
        ]),
        quick: Quick::Two(quick::<math::Power>),
        chain: binary_link::<math::Power>(Cost::Elementary),
        ..operation(prepare_power, POWER)
    },
    Op {
        names: &["mod"],
        numbers: Some(Arithmetic::Modulo),
        doc: "The remainder of the quotient rounded down, with the sign of the divisor; exact \
              for floats but for one addition where the signs differ.",
        example: "(la:mod #d(7 -7 5.5) 3) => #d(1.0 2.0 2.5)",
        ..division::<math::Mod>()
    },
    Op {
        names: &["floor-divide"],
        numbers: Some(Arithmetic::FloorDivide),
        doc: "The quotient rounded down to a whole number.",
        example: "(la:floor-divide #d(7 -7 5.5) 3) => #d(2.0 -3.0 1.0)",
        ..division::<math::FloorDivide>()
    },
    Op {
        names: &["bit-and"],
        doc: "The bits that both integers have.",
        example: "(la:bit-and #u8(6 12) 10) => #(2 8)",
        ..bits::<math::BitAnd>(prepare_bits)
    },
    Op {
        names: &["bit-or"],
        doc: "The bits that one of the integers has at least.",
        example: "(la:bit-or #u8(6 12) 9) => #(15 13)",
        ..bits::<math::BitOr>(prepare_bits)
    },
    Op {
        names: &["bit-xor"],
        doc: "The bits in which two integers differ.",
        example: "(la:bit-xor #u8(6 12) 10) => #(12 6)",
        ..bits::<math::BitXor>(prepare_bits)
    },
    Op {
        names: &["bit-not"],
        parameters: &[required("a", Kind::Operand)],
        doc: "Every bit of an integer turned.",
        result: "an array of a's shape and type",
        example: "(la:bit-not #u8(0 254)) => #(255 1)",
        samples: || {
            samples::whole_pairs().into_iter().map(|mut s| vec![s.swap_remove(0)]).collect()
        },
        ..bits::<math::BitXor>(prepare_not)
    },
    Op {
        names: &["shift"],
        parameters: &[required("a", Kind::Operand), required("n", Kind::Operand)],
        doc: "The bits of an integer moved n places to the left; to the right for negative n, \
              repeating the sign.",
        example: "(la:shift #u8(1 3) 2) => #(4 12)",
        ..bits::<math::Shift>(prepare_shift)
    },
];

const POWER: Rungs = Rungs {
    device: round_trip(Family::Map, power_device),
    ..elementary_rungs::<math::Power>(power_portable, power_lanes)
};

const fn division<F: Division + WholeBinary>() -> Op {
    let rungs = Rungs::with_device(
        Definition::One(division_portable::<F>),
        division_lanes::<F>,
        Offer::ResidentOnly,
        division_device::<F>,
    );
    Op { samples: division_samples, ..operation(prepare_division, rungs) }
}

const fn bits<F: WholeBinary>(prepare: crate::record::Prepare) -> Op {
    let rungs = Rungs::with_device(
        Definition::One(integer_portable::<F>),
        integer_lanes::<F>,
        Offer::ResidentOnly,
        integer_device::<F>,
    );
    Op {
        parameters: PAIR,
        result: "an array of the common shape and the widest type; bits stay bits",
        types: INTEGERS,
        samples: samples::whole_pairs,
        ..operation(prepare, rungs)
    }
}

const INTEGERS: &[ElementType] =
    &[ElementType::I64, ElementType::I32, ElementType::U8, ElementType::Bool];

fn is_number(operand: &Operand) -> bool {
    matches!(operand, Operand::Number(_))
}

/// Two numbers have a float power; integer arrays an integer one.
fn prepare_power(op: &'static Op, mut a: Arguments, _: &mut Context) -> Result<Prepared> {
    let operands = [a.operand(0)?, a.operand(1)?];
    let types = types_of(&operands);
    if types.compute != ElementType::I64 || operands.iter().all(is_number) {
        return of_two(op, operands, types.floating(), Family::Map);
    }
    let prepared = of_two(op, operands, types, Family::Map)?;
    refuse(
        &prepared,
        |exponent| exponent < 0,
        || {
            Error::new(ErrorKind::Argument, "power of an integer to a negative exponent")
                .hint("a float base has such powers: (la:astype a 'double-float)")
        },
    )?;
    Ok(prepared)
}

/// Fails where the second operand of integers has such an element and there is a result.
fn refuse(prepared: &Prepared, bad: fn(i64) -> bool, error: fn() -> Error) -> Result<()> {
    let Prepared::Call(call) = prepared else { return Ok(()) };
    let b = &call.operands[1];
    let b = at_type(b, ElementType::I64)?;
    b.home()?;
    let found = match b.as_slice::<i64>() {
        Some(elements) => elements.iter().any(|&n| bad(n)),
        None => b.view::<i64>().iter().any(bad),
    };
    if found { Err(error()) } else { Ok(()) }
}

fn power_portable(call: &Call) -> Result<Array> {
    match call.operands[0].element_type() {
        ElementType::I64 => integer_portable::<math::IntegerPower>(call),
        _ => floating_portable::<math::Power>(call),
    }
}

fn power_lanes(call: &Call, to: &Lanes) -> Result<Answer> {
    match call.operands[0].element_type() {
        ElementType::I64 => integer_lanes::<math::IntegerPower>(call, to),
        _ => lanes::<math::Power>(call, to),
    }
}

fn power_device(call: &Call, trip: &RoundTrip) -> Result<Answer> {
    let wholes = trace_whole_binary::<math::IntegerPower>;
    trip.pointwise(call, "", Traces::both(trace_binary::<math::Power>, wholes))
}

fn integer_portable<F: IntegerBinary>(call: &Call) -> Result<Array> {
    pairwise::<i64, i64>(call, |a, b| F::at(a, b))
}

fn prepare_division(op: &'static Op, mut a: Arguments, _: &mut Context) -> Result<Prepared> {
    let operands = [a.operand(0)?, a.operand(1)?];
    let types = types_of(&operands);
    let prepared = of_two(op, operands, types, Family::Wide)?;
    if types.compute == ElementType::I64 {
        refuse(
            &prepared,
            |divisor| divisor == 0,
            || Error::new(ErrorKind::DivisionByZero, "integer division by zero"),
        )?;
    }
    Ok(prepared)
}

/// a, b and out at the common shape.
fn division_portable<F: Division>(call: &Call) -> Result<Array> {
    at_compute_type!(call, T => pairwise::<T, T>(call, |a, b| F::float(a, b)),
        integer_portable::<F>(call))
}

fn division_lanes<F: Division>(call: &Call, lanes: &Lanes) -> Result<Answer> {
    at_compute_type!(call, T => zipped::<T, T>(call, lanes, |a, b| F::float(a, b)),
        integer_lanes::<F>(call, lanes))
}

fn division_device<F: Division + WholeBinary>(call: &Call, trip: &RoundTrip) -> Result<Answer> {
    trip.pointwise(call, "", Traces::both(trace_division::<F>, trace_whole_binary::<F>))
}

fn division_samples() -> Vec<Sample> {
    let mut all = samples::pairs();
    all.push(vec![samples::spread(&[65], 1e6), samples::spread(&[65], 1e-6)]);
    all.push(vec![samples::spread(&[65], 1e6), samples::number(-0.3)]);
    all
}

/// The types of an operation on bits; floats have none.
fn bit_types(operands: &[Operand]) -> Result<Types> {
    let types = types_of(operands);
    let float = |o: &&Operand| match o {
        Operand::Array(a) => a.element_type().is_float(),
        Operand::Number(n) => matches!(n, Number::F64(_) | Number::F32(_)),
    };
    if let Some(found) = operands.iter().find(float) {
        let got = match found {
            Operand::Array(a) => format!("{a:?}"),
            Operand::Number(n) => n.to_string(),
        };
        return Err(Error::wanted(ErrorKind::ElementType, "expects integer arrays", got)
            .hint("(la:astype a '(signed-byte 64)) makes integers of whole numbers"));
    }
    let bits = |o: &Operand| match o {
        Operand::Array(a) => a.element_type() == ElementType::Bool,
        Operand::Number(n) => matches!(n.to_i64(), Some(0 | 1)),
    };
    let among_bits = !operands.iter().all(is_number) && operands.iter().all(bits);
    Ok(if among_bits { Types { result: ElementType::Bool, ..types } } else { types })
}

fn prepare_bits(op: &'static Op, mut a: Arguments, _: &mut Context) -> Result<Prepared> {
    let operands = [a.operand(0)?, a.operand(1)?];
    let types = bit_types(&operands)?;
    of_two(op, operands, types, Family::Wide)
}

/// Every bit that the type has differs from a's; a bit has one.
fn prepare_not(op: &'static Op, mut a: Arguments, _: &mut Context) -> Result<Prepared> {
    let x = a.operand(0)?;
    let types = bit_types(std::slice::from_ref(&x))?;
    let all = if types.result == ElementType::Bool { 1 } else { -1 };
    let all = Array::full(ElementType::I64, rung_base::Shape::scalar(), Number::I64(all))?;
    let to_number = is_number(&x);
    let Prepared::Call(call) = of_two(op, [x, Operand::Array(all)], types, Family::Wide)? else {
        return integers_not_prepared();
    };
    let given = call.given[..1].into();
    Ok(Prepared::Call(Box::new(Call { to_number, given, ..*call })))
}

fn integers_not_prepared() -> Result<Prepared> {
    Err(Error::new(ErrorKind::Internal, "two operands are no call"))
}

/// A moved bit counts as a byte.
fn prepare_shift(op: &'static Op, mut a: Arguments, _: &mut Context) -> Result<Prepared> {
    let operands = [a.operand(0)?, a.operand(1)?];
    bit_types(&operands)?;
    // How far is not part of the result: -8 is no unsigned byte, and yet a distance.
    let types = match is_number(&operands[0]) {
        true => types_of(&operands),
        false => types_of(&operands[..1]),
    };
    let [x, n] = operands;
    let n = match n {
        Operand::Number(n) => {
            Operand::Array(Array::full(ElementType::I64, rung_base::Shape::scalar(), n)?)
        }
        array => array,
    };
    let to_number = is_number(&x) && matches!(&n, Operand::Array(n) if n.rank() == 0);
    match of_two(op, [x, n], types, Family::Wide)? {
        Prepared::Call(call) => Ok(Prepared::Call(Box::new(Call { to_number, ..*call }))),
        other => Ok(other),
    }
}
