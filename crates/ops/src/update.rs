//! Members of a training step that change arrays where they stand: scale, a * x + y, rows added by
//! index, and the steps of Adam and of gradient descent with momentum. The steps' formulas are
//! `rung_math::update`; one pass reads every array once.
//!
//! Arrays of one call have one shape and type, and the numbers of a step are rounded once to it.

use crate::arguments::Arguments;
use crate::call::{Call, Context, Detail, Prepared, at_float_type, elements};
use crate::decline::Answer;
use crate::explain::packed;
use crate::record::{Entry, FLOATS, INTERNAL, Kind, Member, Offer, Op, Rungs, required};
use crate::samples::{self, Sample};
use crate::select::positions;
use crate::windows::{floats, shaped};
use rung_array::{Array, Convert, Number};
use rung_base::{Element, ElementType, Error, ErrorKind, Result, Shape, bf16, f16, with_element};
use rung_lanes::update::{Slot, Updated, update};
use rung_lanes::{Lanes, scatter as scatters};
use rung_math::Real;
use rung_math::accumulate::{Accumulate, scatter};
use rung_math::update::{Adam, Axpy, Decay, Narrow, Own, Scale, Sgd, ToBf16, ToF16, Update};
use smallvec::SmallVec;

mod device;

use device::{rows_device, step_device};

pub const OPS: &[Op] = &[
    Op {
        names: &["%la-scale"],
        doc: "Multiplies an array by a number, in place.",
        parameters: &[required("a", Kind::Array), required("s", Kind::Number)],
        writes: &[0],
        prepare: prepare_scale,
        samples: || {
            let of = |shape: &[usize], s| vec![samples::hard(shape, 3.0), samples::number(s)];
            SHAPES.iter().map(|shape| of(shape, 0.1)).chain([of(&[19], -0.0)]).collect()
        },
        example: "(linalg::%la-scale #d(1 2) 0.5) => #d(0.5 1.0)",
        ..STEP
    },
    Op {
        names: &["%la-axpy"],
        doc: "Adds a number times x to y, in place and with two roundings.",
        parameters: &[
            required("a", Kind::Number),
            required("x", Kind::Array),
            required("y", Kind::Array),
        ],
        result: "y",
        writes: &[2],
        prepare: prepare_axpy,
        samples: || {
            let of = |shape: &&[usize]| {
                vec![samples::number(0.1), samples::hard(shape, 3.0), samples::spread(shape, 2.0)]
            };
            SHAPES.iter().map(of).collect()
        },
        example: "(linalg::%la-axpy 2 #d(1 2) #d(10 20)) => #d(12.0 24.0)",
        ..STEP
    },
    Op {
        names: &["%la-scatter-rows"],
        doc: "Adds row i of the source to the row of dst that the i-th index names, in place, in \
              ascending i and with one rounding a step.",
        parameters: &[
            required("dst", Kind::Array),
            required("idx", Kind::Index),
            required("src", Kind::Array),
        ],
        result: "dst",
        types: crate::record::ALL,
        writes: &[0],
        prepare: prepare_rows,
        rungs: Rungs::in_place(
            rows_portable,
            rows_lanes,
            crate::record::NO_LIBRARY,
            Entry::Has(Member { offer: Offer::ResidentOnly, run: rows_device }),
        ),
        samples: rows_samples,
        example: "(linalg::%la-scatter-rows #d(0 0 5) '(2 0 2) #d(1 2 3)) => #d(2.0 0.0 9.0)",
        ..STEP
    },
    Op {
        names: &["%la-adam-step"],
        doc: "A step of Adam from the gradient g, in place on the weights x and the moments m and \
              v. ps: lr, lr*wd, wd, b1, 1-b1, b2, 1-b2, eps, 1-b1^t, 1-b2^t, and where the decay \
              wd goes: 0 nowhere, 1 into the gradient, 2 off the weights.",
        parameters: &[
            required("x", Kind::Array),
            required("g", Kind::Array),
            required("m", Kind::Array),
            required("v", Kind::Array),
            required("ps", Kind::Array),
        ],
        result: "x",
        writes: &[0, 2, 3],
        prepare: prepare_adam,
        samples: adam_samples,
        example: "(linalg::%la-adam-step #d(8) #d(4) #d(0) #d(0) \
                  #d(0.5 0 0 0.5 0.5 0.75 0.25 0 0.5 0.25 0)) => #d(7.5)",
        ..STEP
    },
    Op {
        names: &["%la-sgd-step"],
        doc: "A step of gradient descent from g, in place on the weights x and the momentum buf: \
              g + wd*x goes into buf = momentum*buf + (1-dampening)*g, and x - lr*buf is left; \
              with a true nesterov x - lr*(g + momentum*buf). Without momentum buf stays as it \
              is, and may have no elements. ps: lr, wd, momentum, dampening, nesterov.",
        parameters: &[
            required("x", Kind::Array),
            required("g", Kind::Array),
            required("buf", Kind::Array),
            required("ps", Kind::Array),
        ],
        result: "x",
        writes: &[0, 2],
        prepare: prepare_sgd,
        samples: sgd_samples,
        example: "(linalg::%la-sgd-step #d(10) #d(2) #d(4) #d(0.5 0 0.5 0 1)) => #d(8.0)",
        ..STEP
    },
];

/// What the members of this file have in common.
const STEP: Op = Op {
    package: INTERNAL,
    result: "the array",
    types: FLOATS,
    rungs: Rungs::in_place(
        step_portable,
        step_lanes,
        "a call of CBLAS's axpy or scal passes over memory as often, and may fuse its roundings",
        Entry::Has(Member { offer: Offer::ResidentOnly, run: step_device }),
    ),
    ..Op::BASE
};

const SHAPES: [&[usize]; 10] =
    [&[0], &[1], &[], &[7], &[17], &[65], &[511], &[513], &[4097], &[3, 43]];

/// A step with its numbers, each rounded to the arrays' type.
#[derive(Clone, Copy)]
pub enum Step {
    Scale(Scale),
    Axpy(Axpy),
    Adam(Adam),
    Sgd(Sgd),
}

/// A number rounded once to an element type.
fn rounded(t: ElementType, x: f64) -> f64 {
    with_element!(t, T => T::from_number(Number::F64(x)).map_or(x, |x| x.number().to_f64()))
}

/// The arrays of a step, those that are only read last, checked against the first.
fn together(op: &'static Op, arrays: &[(&str, &Array)]) -> Result<()> {
    let (first, others) = (&arrays[0], &arrays[1..]);
    floats(op, first.0, first.1)?;
    others.iter().try_for_each(|(name, a)| alike(op, (name, a), *first))
}

/// Fails unless `a` has the shape and type of `of`.
fn alike(op: &'static Op, (name, a): (&str, &Array), (of, x): (&str, &Array)) -> Result<()> {
    if a.element_type() != x.element_type() {
        let t = x.element_type().lisp_name();
        let wanted = format!("{} expects {name} of {of}'s element type {t}", op.name());
        return Err(Error::wanted(ErrorKind::ElementType, wanted, a.element_type().lisp_name()));
    }
    shaped(op, name, a.shape(), x.shape())
}

fn stepping(op: &'static Op, target: &Array, read: &[Array], step: Step) -> Prepared {
    Prepared::Call(Box::new(Call::changing(op, target, read, Detail::Update(step))))
}

fn prepare_scale(op: &'static Op, mut arguments: Arguments, _: &mut Context) -> Result<Prepared> {
    let (a, s) = (arguments.array(0)?, arguments.number(1)?.to_f64());
    together(op, &[("a", &a)])?;
    let scale = Scale(rounded(a.element_type(), s));
    Ok(stepping(op, &a, &[], Step::Scale(scale)))
}

fn prepare_axpy(op: &'static Op, mut arguments: Arguments, _: &mut Context) -> Result<Prepared> {
    let (a, x, y) = (arguments.number(0)?.to_f64(), arguments.array(1)?, arguments.array(2)?);
    together(op, &[("y", &y), ("x", &x)])?;
    let axpy = Axpy(rounded(y.element_type(), a));
    Ok(stepping(op, &y, &[x], Step::Axpy(axpy)))
}

/// The numbers of a step at the type of its arrays.
fn numbers<const N: usize>(
    op: &'static Op,
    arguments: &mut Arguments,
    at: usize,
    words: &str,
    t: ElementType,
) -> Result<[f64; N]> {
    let ps = arguments.array(at)?;
    ps.home()?;
    let given: Vec<f64> = ps.numbers().take(N + 1).map(|n| rounded(t, n.to_f64())).collect();
    given.try_into().map_err(|_| {
        let wanted = format!("{} expects the {N} numbers {words}", op.name());
        Error::wanted(ErrorKind::Argument, wanted, format!("shape {}", ps.shape()))
    })
}

fn prepare_adam(op: &'static Op, mut arguments: Arguments, _: &mut Context) -> Result<Prepared> {
    let (x, g) = (arguments.array(0)?, arguments.array(1)?);
    let (m, v) = (arguments.array(2)?, arguments.array(3)?);
    together(op, &[("x", &x), ("g", &g), ("m", &m), ("v", &v)])?;
    let words = "lr lr*wd wd b1 1-b1 b2 1-b2 eps 1-b1^t 1-b2^t mode";
    let ps: [f64; 11] = numbers(op, &mut arguments, 4, words, x.element_type())?;
    let [rate, rate_decay, decay, first, first_rest, second, second_rest, eps, ..] = ps;
    let mode = match ps[10] {
        0.0 => Decay::None,
        1.0 => Decay::Coupled,
        2.0 => Decay::Decoupled,
        other => {
            let wanted = format!("{} expects the mode 0, 1 or 2", op.name());
            return Err(Error::wanted(ErrorKind::Argument, wanted, other));
        }
    };
    let (first_bias, second_bias) = (ps[8], ps[9]);
    let adam = Adam {
        rate,
        rate_decay,
        decay,
        first,
        first_rest,
        second,
        second_rest,
        eps,
        first_bias,
        second_bias,
        mode,
    };
    Ok(stepping(op, &x, &[g], Step::Adam(adam)))
}

fn prepare_sgd(op: &'static Op, mut arguments: Arguments, _: &mut Context) -> Result<Prepared> {
    let (x, g, buf) = (arguments.array(0)?, arguments.array(1)?, arguments.array(2)?);
    together(op, &[("x", &x), ("g", &g)])?;
    let t = x.element_type();
    let words = "lr wd momentum dampening nesterov";
    let [rate, decay, momentum, dampening, nesterov] = numbers(op, &mut arguments, 3, words, t)?;
    if momentum != 0.0 || buf.size() > 0 {
        alike(op, ("buf", &buf), ("x", &x))?;
    }
    let share = rounded(t, 1.0 - dampening);
    let sgd = Sgd { rate, decay, momentum, share, nesterov: nesterov != 0.0 };
    Ok(stepping(op, &x, &[g], Step::Sgd(sgd)))
}

/// What runs a step over arrays: those that it changes, and those that it reads.
trait Runs {
    type Output;

    fn over<U: Update<K>, const K: usize>(&self, call: &Call, step: U) -> Result<Self::Output>;

    fn run(&self, call: &Call) -> Result<Self::Output> {
        let Detail::Update(step) = &call.detail else {
            return Err(Error::new(ErrorKind::Internal, "a step without its numbers"));
        };
        match *step {
            Step::Scale(scale) => self.over::<_, 1>(call, scale),
            Step::Axpy(axpy) => self.over::<_, 2>(call, axpy),
            Step::Adam(adam) => self.over::<_, 4>(call, adam),
            Step::Sgd(sgd) if sgd.momentum == 0.0 => self.over::<_, 2>(call, sgd),
            Step::Sgd(sgd) => self.over::<_, 3>(call, sgd),
        }
    }
}

fn step_portable(call: &Call) -> Result<()> {
    Plain.run(call)
}

fn step_lanes(call: &Call, lanes: &Lanes) -> Result<Answer> {
    lanes.run(call).map(|()| Answer::Written)
}

/// The elements that a step changes, array by array.
fn changed<T: Element, U: Update<K>, const K: usize>(
    arrays: &mut [Array],
    step: U,
) -> Result<SmallVec<[&mut [T]; 3]>> {
    let count = step.writes().iter().filter(|writes| **writes).count();
    arrays.iter_mut().take(count).map(Array::make_mut::<T>).collect()
}

/// The definition: one element of every array after another.
struct Plain;

impl Runs for Plain {
    type Output = ();

    fn over<U: Update<K>, const K: usize>(&self, call: &Call, step: U) -> Result<()> {
        call.change(|arrays| at_float_type!(call.raw, T => plain::<T, U, K>(call, arrays, step)))
    }
}

/// An element and the number in which it is computed.
trait Cell: Element {
    type Wide: Real + Default;
    type Width: Narrow;
    fn widened(self) -> Self::Wide;
    fn narrowed(x: Self::Wide) -> Self;
}

macro_rules! cells {
    ($($t:ty: $wide:ty, $width:ty, |$x:ident| $widened:expr, $narrowed:expr;)*) => {
        $(impl Cell for $t {
            type Wide = $wide;
            type Width = $width;
            fn widened(self) -> $wide {
                let $x = self;
                $widened
            }
            fn narrowed($x: $wide) -> $t {
                $narrowed
            }
        })*
    };
}
cells! {
    f64: f64, Own, |x| x, x;
    f32: f32, Own, |x| x, x;
    bf16: f32, ToBf16, |x| x.to_f32(), bf16::from_f32(x);
    f16: f32, ToF16, |x| x.to_f32(), f16::from_f32(x);
}

fn plain<T: Cell, U: Update<K>, const K: usize>(
    call: &Call,
    arrays: &mut [Array],
    step: U,
) -> Result<()> {
    let read: Vec<Vec<T>> = call.operands.iter().map(elements::<T>).collect::<Result<_>>()?;
    let mut cells = changed::<T, U, K>(arrays, step)?;
    for i in 0..call.shape.size() {
        let mut x = [T::Wide::default(); K];
        let (mut own, mut others) = (cells.iter(), read.iter());
        for (x, writes) in x.iter_mut().zip(step.writes()) {
            let element = match writes {
                true => own.next().map(|cells| cells[i]),
                false => others.next().map(|elements| elements[i]),
            };
            *x = element.map_or(*x, T::widened);
        }
        let after = step.at::<T::Wide, T::Width>(x).into_iter().zip(step.writes());
        let after = after.filter(|(_, writes)| *writes).map(|(x, _)| T::narrowed(x));
        cells.iter_mut().zip(after).for_each(|(cells, x)| cells[i] = x);
    }
    Ok(())
}

impl Runs for Lanes {
    type Output = ();

    fn over<U: Update<K>, const K: usize>(&self, call: &Call, step: U) -> Result<()> {
        let read: Vec<Array> = call.operands.iter().map(packed).collect::<Result<_>>()?;
        call.change(
            |arrays| at_float_type!(call.raw, T => in_lanes::<T, U, K>(self, &read, arrays, step)),
        )
    }
}

fn in_lanes<T: Element + Updated, U: Update<K>, const K: usize>(
    lanes: &Lanes,
    read: &[Array],
    arrays: &mut [Array],
    step: U,
) -> Result<()> {
    let mut own = changed::<T, U, K>(arrays, step)?.into_iter();
    let mut others = read.iter().map(|a| a.as_slice::<T>().unwrap_or(&[]));
    let slots = step.writes().map(|writes| match writes {
        true => own.next().map_or(Slot::Read(&[][..]), Slot::Write),
        false => Slot::Read(others.next().unwrap_or(&[])),
    });
    update(lanes, step, slots);
    Ok(())
}

fn prepare_rows(op: &'static Op, mut arguments: Arguments, _: &mut Context) -> Result<Prepared> {
    let (dst, (indices, form)) = (arguments.array(0)?, arguments.index(1)?);
    let src = arguments.array(2)?;
    if dst.rank() == 0 {
        let text = format!("{} expects dst to have an axis", op.name());
        return Err(Error::new(ErrorKind::Shape, text));
    }
    let to = positions(&indices, dst.shape()[0], op.name())?;
    if src.element_type() != dst.element_type() {
        let t = dst.element_type().lisp_name();
        let wanted = format!("{} expects src of dst's element type {t}", op.name());
        return Err(Error::wanted(ErrorKind::ElementType, wanted, src.element_type().lisp_name()));
    }
    let wanted = Shape::new(form.iter().chain(&dst.shape()[1..]).copied())?;
    shaped(op, "src", src.shape(), &wanted)?;
    let call = Call::changing(op, &dst, &[src], Detail::Rows(to));
    Ok(Prepared::Call(Box::new(call)))
}

/// dst (rows, ...), src (positions, ...).
fn add_rows<T: Element + Accumulate>(
    call: &Call,
    add: impl FnOnce(&mut [T], usize, &[usize], &[T]),
) -> Result<()> {
    let Detail::Rows(to) = &call.detail else {
        return Err(Error::new(ErrorKind::Internal, "rows without positions"));
    };
    let source = packed(&call.operands[0])?;
    let width = call.shape[1..].iter().product();
    call.change(|arrays| {
        if let Some(dst) = arrays.first_mut().filter(|_| width > 0) {
            let source = source.as_slice::<T>().unwrap_or(&[]);
            add(dst.make_mut::<T>()?, width, to, source);
        }
        Ok(())
    })
}

fn rows_portable(call: &Call) -> Result<()> {
    with_element!(call.raw, T => add_rows::<T>(call, scatter))
}

fn rows_lanes(call: &Call, lanes: &Lanes) -> Result<Answer> {
    with_element!(call.raw, T => add_rows::<T>(call, |dst, width, to, source| {
        scatters::scatter(lanes, dst, width, to, source);
    }))
    .map(|()| Answer::Written)
}

fn rows_samples() -> Vec<Sample> {
    let of = |dst: &[usize], idx, src: &[usize]| {
        vec![samples::hard(dst, 1.0), idx, samples::spread(src, 2.0)]
    };
    let list = |n: &[i64]| samples::list(n.iter().map(|&i| samples::integer(i)).collect());
    vec![
        of(&[9], list(&[8, 0, 0, -1]), &[4]),
        of(&[1], list(&[0]), &[1]),
        of(&[5, 3], list(&[]), &[0, 3]),
        of(&[5, 0], list(&[1, 1]), &[2, 0]),
        of(&[5, 20], samples::counting(&[2, 30], 5), &[2, 30, 20]),
        of(&[50, 64], samples::counting(&[2000], 50), &[2000, 64]),
        vec![
            samples::counting(&[7, 3], 5),
            samples::counting(&[40], 7),
            samples::counting(&[40, 3], 9),
        ],
    ]
}

fn adam_samples() -> Vec<Sample> {
    let ps = |mode: f64| {
        let ps = [1e-3, 1e-5, 0.01, 0.9, 0.1, 0.999, 1e-3, 1e-8, 0.271, 2.997e-3, mode];
        samples::build(&[11], |i| ps[i])
    };
    let arrays = |shape: &[usize]| {
        let moments = [samples::hard(shape, 0.5), samples::positive(shape, 9)];
        [vec![samples::hard(shape, 1.0), samples::spread(shape, 2.0)], moments.into()].concat()
    };
    let all = [0.0, 1.0, 2.0]
        .into_iter()
        .flat_map(|mode| SHAPES.iter().map(move |shape| [arrays(shape), vec![ps(mode)]].concat()));
    all.collect()
}

fn sgd_samples() -> Vec<Sample> {
    const PS: [[f64; 5]; 5] = [
        [0.01, 0.0, 0.0, 0.0, 0.0],
        [0.01, 0.1, 0.0, 0.0, 0.0],
        [0.01, 0.0, 0.9, 0.0, 0.0],
        [0.01, 0.1, 0.9, 0.3, 0.0],
        [0.01, 0.1, 0.9, 0.0, 1.0],
    ];
    let sample = |shape: &[usize], ps: &[f64; 5]| {
        let arrays = [samples::hard(shape, 1.0), samples::spread(shape, 2.0)];
        let buf = match ps[1] == 0.0 && ps[2] == 0.0 {
            true => samples::spread(&[0], 1.0),
            false => samples::spread(shape, 0.5),
        };
        [arrays.to_vec(), vec![buf, samples::build(&[5], |i| ps[i])]].concat()
    };
    PS.iter().flat_map(|ps| SHAPES.iter().map(move |shape| sample(shape, ps))).collect()
}
