//! Members of a training step that draw: an array filled in place from a state of its own, and the
//! mask of dropout. What they draw is what `rand`, `randn` and `uniform` draw.

use crate::Generator;
use crate::arguments::Arguments;
use crate::call::{Call, Context, Detail, Prepared, at_float_type};
use crate::decline::{Answer, Decline};
use crate::random::{DRAWN, ELEMENT_TYPE, GENERATOR, drawn, fill, list_of, shapes, type_word};
use crate::record::{
    Entry, FLOATS, Family, INTERNAL, Kind, Member, NO_LIBRARY, Offer, Op, Rungs, required,
};
use crate::round_trip::{RoundTrip, Work};
use crate::samples::{self, Sample};
use crate::value::Value;
use crate::windows::floats;
use rung_array::{Array, Convert, Number};
use rung_base::{Element, ElementType, Error, ErrorKind, Result, bf16, f16};
use rung_kernel::fill as kernel;
use rung_lanes::{Lanes, copy, random as drivers};
use rung_math::random::{Fill, State};

pub const OPS: &[Op] = &[
    Op {
        names: &["%la-rng-fill"],
        package: INTERNAL,
        doc: "Fills an array in place from a state of a generator, as `rand`, `randn` or `uniform` \
              would: three integers, or a generator as `philox` makes, which it advances. uniform \
              draws from lo on, lo + span*u; the other modes take no notice of lo and span.",
        parameters: &[
            required("out", Kind::Array),
            required("state", Kind::Any),
            required("mode", Kind::Choice(MODES)),
            required("lo", Kind::Number),
            required("span", Kind::Number),
        ],
        result: "the state after the last draw",
        types: FLOATS,
        writes: &[0],
        prepare: prepare_fill,
        rungs: Rungs::in_place(
            fill_portable,
            fill_lanes,
            NO_LIBRARY,
            Entry::Has(Member { offer: Offer::ResidentOnly, run: fill_device }),
        ),
        samples: fill_samples,
        example: "(linalg::%la-rng-fill (la:zeros 2) '(27595 3371 8102) :rand 0 1) => \
                  (24662 17634 23917)",
        ..Op::BASE
    },
    Op {
        names: &["%la-dropout-mask"],
        package: INTERNAL,
        doc: "The mask of dropout: a number u drawn as by `rand` in double-float gives 0 where \
              u < p, and 1/(1-p) elsewhere.",
        parameters: &[
            required("shape", Kind::Shape),
            required("p", Kind::Number),
            ELEMENT_TYPE,
            GENERATOR,
        ],
        prepare: prepare_mask,
        samples: || {
            let with = |p: f64| {
                shapes(&[]).into_iter().map(move |s| [s, vec![samples::number(p)]].concat())
            };
            with(0.3).chain(with(0.0)).collect()
        },
        example: "(progn (la:seed 42) (linalg::%la-dropout-mask 3 0.4)) => \
                  #d(1.6666666666666667 0.0 1.6666666666666667)",
        ..DRAWN
    },
];

const MODES: &[&str] = &["rand", "randn", "uniform"];

/// Doubles drawn at a time for a half width.
const BLOCK: usize = 1 << 15;

fn prepare_fill(op: &'static Op, mut arguments: Arguments, _: &mut Context) -> Result<Prepared> {
    let (out, state) = (arguments.array(0)?, arguments.any(1));
    floats(op, "out", &out)?;
    let mode = arguments.choice(2)?.unwrap_or(MODES[0]);
    let (low, span) = (arguments.number(3)?.to_f64(), arguments.number(4)?.to_f64());
    let fill = match mode {
        "rand" => Fill::Rand,
        "randn" => Fill::Randn,
        _ => Fill::Uniform { low, span },
    };
    let state = match state {
        Value::Generator(generator) => return by_generator(op, &out, fill, generator),
        other => state_of(op, &other)?,
    };
    let call = Call::changing(op, &out, &[], Detail::Fill { state, fill });
    Ok(Prepared::Call(Box::new(Call { family: Family::Fill, ..call })))
}

fn state_of(op: &'static Op, value: &Value) -> Result<State> {
    let parts = match value {
        Value::List(items) => items
            .iter()
            .map(|item| match item {
                Value::Number(Number::I64(n)) => Some(i128::from(*n)),
                _ => None,
            })
            .collect::<Option<Vec<i128>>>(),
        _ => None,
    };
    let parts: Option<[i128; 3]> = parts.and_then(|parts| parts.try_into().ok());
    parts.and_then(State::from_integers).ok_or_else(|| {
        let wanted = format!(
            "{} expects a generator or three integers, none a multiple of its modulus",
            op.name()
        );
        Error::wanted(ErrorKind::Argument, wanted, value)
    })
}

/// The numbers that the exported functions draw from a generator, which is the state after.
fn by_generator(
    op: &'static Op,
    out: &Array,
    fill: Fill,
    generator: Generator,
) -> Result<Prepared> {
    let (shape, t) = (out.shape().clone(), out.element_type());
    if fill == Fill::Rand {
        let extents = shape.iter().map(|&n| Value::integer(n as i64)).collect();
        let words = [samples::word("element-type"), type_word(t), samples::word("generator")];
        let all = [vec![Value::List(extents)], words.into()].concat();
        return Ok(Prepared::Steps(Box::new(move |run| {
            let state = Value::Generator(generator);
            let filled = run.array("rand", [all, vec![state.clone()]].concat())?;
            Ok(vec![filled.into(), state])
        })));
    }
    Ok(match drawn(op, shape, t, fill, &generator)? {
        Prepared::Steps(steps) => Prepared::Steps(Box::new(move |run| {
            let mut values = steps(run)?;
            values.push(Value::Generator(generator));
            Ok(values)
        })),
        other => other,
    })
}

fn filling(call: &Call) -> Result<(State, Fill)> {
    match call.detail {
        Detail::Fill { state, fill } => Ok((state, fill)),
        _ => Err(Error::new(ErrorKind::Internal, "a fill without a state")),
    }
}

/// The elements of the array that is filled.
fn cells<T: Element>(arrays: &mut [Array]) -> Result<&mut [T]> {
    arrays.first_mut().map_or(Ok(&mut []), Array::make_mut::<T>)
}

fn fill_portable(call: &Call) -> Result<()> {
    let (mut state, fill) = filling(call)?;
    call.change(|arrays| {
        at_float_type!(call.raw, T => {
            for cell in cells::<T>(arrays)? {
                let number = Number::F64(fill.next(&mut state));
                *cell = T::from_number(number).unwrap_or_default();
            }
        });
        Ok(())
    })
}

fn fill_lanes(call: &Call, lanes: &Lanes) -> Result<Answer> {
    let (state, fill) = filling(call)?;
    call.change(|arrays| {
        match call.raw {
            ElementType::F64 => drop(drivers::fill(lanes, fill, state, cells::<f64>(arrays)?)),
            ElementType::F32 => drop(drivers::fill(lanes, fill, state, cells::<f32>(arrays)?)),
            ElementType::BF16 => halves(lanes, fill, state, cells::<bf16>(arrays)?),
            _ => halves(lanes, fill, state, cells::<f16>(arrays)?),
        }
        Ok(Answer::Written)
    })
}

fn fill_device(call: &Call, trip: &RoundTrip) -> Result<Answer> {
    let ((state, fill), t) = (filling(call)?, call.raw);
    if t.compute_type() != t {
        return Ok(Answer::Declined(Decline::Type(t)));
    }
    let kind = match fill {
        Fill::Rand => "(rand)",
        Fill::Randn => "(randn)",
        Fill::Uniform { .. } => "(uniform)",
        Fill::Dropout { .. } => "(dropout)",
    };
    let kernel = trip.kernel_for((kind, t, "fill"), || kernel::kernel(fill, t))?;
    let launch = kernel::launch(&kernel, fill, state, call.shape.size());
    let work = launch.map(|launch| Work::one(launch, 0, t, call.shape.clone()));
    Ok(match trip.results(work, &[])? {
        Ok(after) => call.replace(after),
        Err(reason) => Answer::Declined(reason),
    })
}

/// Doubles by the block, each rounded once.
fn halves<T: Element + Convert>(lanes: &Lanes, fill: Fill, mut state: State, out: &mut [T]) {
    let mut room = vec![0.0_f64; BLOCK.min(out.len())];
    for cells in out.chunks_mut(BLOCK) {
        let room = &mut room[..cells.len()];
        state = drivers::fill(lanes, fill, state, room);
        let narrowed = |x| T::from_number(Number::F64(x)).unwrap_or_default();
        copy::convert(lanes, room, cells, narrowed);
    }
}

fn fill_samples() -> Vec<Sample> {
    let state = || list_of(&[27595, 3371, 8102]);
    let sample = |shape: &[usize], mode| {
        let numbers = [samples::number(-1.0), samples::number(0.3)];
        [vec![samples::spread(shape, 1.0), state(), samples::word(mode)], numbers.into()].concat()
    };
    const SHAPES: [&[usize]; 6] = [&[0], &[1], &[], &[7], &[3, 65], &[40_001]];
    MODES.iter().flat_map(|&mode| SHAPES.iter().map(move |shape| sample(shape, mode))).collect()
}

fn prepare_mask(op: &'static Op, mut a: Arguments, context: &mut Context) -> Result<Prepared> {
    let (shape, rate) = (a.shape(0)?, a.number(1)?.to_f64());
    let t = a.element_type(2, ElementType::F64)?;
    if !(0.0..1.0).contains(&rate) {
        let wanted = format!("{} expects 0 <= p < 1", op.name());
        return Err(Error::wanted(ErrorKind::Argument, wanted, rate));
    }
    let mask = Fill::Dropout { rate, kept: 1.0 / (1.0 - rate) };
    match a.generator(3)? {
        Some(generator) => drawn(op, shape, t, mask, &generator),
        None => fill(op, shape, t, mask, context),
    }
}
