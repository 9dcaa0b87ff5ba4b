//! Integers and choices drawn at random: randint, choice, permutation. Each draw is a uniform
//! number u of `rand`, by the process's generator or one that is given.

use crate::arguments::Arguments;
use crate::call::{Context, Prepared};
use crate::contract::steps;
use crate::generator::{Generator, Source};
use crate::random::{DRAWN, ELEMENT_TYPE, GENERATOR, type_word, uniform_numbers};
use crate::record::{ALL, Kind, Op, Rungs, keyword, required};
use crate::samples;
use crate::value::Value;
use rung_array::Array;
use rung_base::{ElementType, Error, ErrorKind, Result, Shape, memory};

pub const OPS: &[Op] = &[
    Op {
        names: &["randint"],
        doc: "Integers drawn evenly from low up to below high: low + floor(u (high - low)).",
        parameters: &[
            required("low", Kind::Integer),
            required("high", Kind::Integer),
            required("shape", Kind::Shape),
            ELEMENT_TYPE,
            GENERATOR,
        ],
        result: "an array; (signed-byte 64) unless an element type is given",
        types: ALL,
        prepare: randint,
        rungs: Rungs::STEPS,
        samples: || vec![vec![samples::integer(-3), samples::integer(7), samples::integer(65)]],
        example: "(progn (la:seed 42) (la:randint 0 10 3)) => #(4 1 4)",
        ..DRAWN
    },
    Op {
        names: &["choice"],
        doc: "Integers below n drawn at random: floor(u n); with p, in proportion to it: the first \
              index whose running sum exceeds u times the total; without replacement, the first \
              of a permutation, and with p the indices of the least -log(u) / p, of one u for \
              each index (Efraimidis and Spirakis 2006).",
        parameters: &[
            required("n", Kind::Integer),
            required("size", Kind::Shape),
            keyword("replace", Kind::Any),
            keyword("p", Kind::Array),
            ELEMENT_TYPE,
            GENERATOR,
        ],
        result: "an array of indices; double-float unless an element type is given",
        types: ALL,
        prepare: choice,
        rungs: Rungs::STEPS,
        samples: || {
            let weighted = [
                samples::integer(70),
                samples::integer(30),
                samples::word("replace"),
                Value::Nil,
                samples::word("p"),
                samples::counting(&[70], 5),
            ];
            vec![vec![samples::integer(60000), samples::integer(65)], weighted.to_vec()]
        },
        example: "(progn (la:seed 42) (la:choice 60000 4)) => #d(26833.0 11120.0 29256.0 22347.0)",
        ..DRAWN
    },
    Op {
        names: &["permutation"],
        doc: "The integers below n, or the rows of an array, in random order (Fisher and Yates \
              from the end).",
        parameters: &[required("n", Kind::Operand), ELEMENT_TYPE, GENERATOR],
        result: "a double-float vector of indices unless an element type is given, or an array \
                 of the rows",
        types: ALL,
        prepare: permutation,
        rungs: Rungs::STEPS,
        samples: || vec![vec![samples::integer(10)], vec![samples::spread(&[7, 2], 1.0)]],
        example: "(progn (la:seed 9) (la:permutation 10)) => #d(4.0 5.0 6.0 2.0 9.0 7.0 1.0 0.0 8.0 3.0)",
        ..DRAWN
    },
];

fn randint(_: &'static Op, mut arguments: Arguments, _: &mut Context) -> Result<Prepared> {
    let (low, high) = (arguments.integer(0)?, arguments.integer(1)?);
    let span = high.checked_sub(low).filter(|span| *span > 0 && *span <= 1 << 53);
    let Some(span) = span else {
        let text = format!("randint expects low below high, at most 2^53 apart: {low} and {high}");
        return Err(Error::new(ErrorKind::Argument, text));
    };
    let shape = arguments.shape(2)?;
    let t = arguments.element_type(3, ElementType::I64)?;
    let uniform = uniform_numbers(&shape, arguments.generator(4)?);
    steps(move |run| {
        let u = run.array("rand", uniform)?;
        let scaled = run.array("mul", vec![u.into(), samples::number(span as f64)])?;
        let whole = run.array("floor", vec![scaled.into()])?;
        let below = run.array("minimum", vec![whole.into(), samples::number((span - 1) as f64)])?;
        let offsets = run.array("astype", vec![below.into(), type_word(ElementType::I64)])?;
        let values = run.array("add", vec![offsets.into(), Value::integer(low)])?;
        run.call("astype", vec![values.into(), type_word(t)])
    })
}

fn choice(_: &'static Op, mut arguments: Arguments, context: &mut Context) -> Result<Prepared> {
    let n = arguments.integer(0)?;
    let Some(n) = usize::try_from(n).ok().filter(|&n| n > 0) else {
        return Err(Error::wanted(ErrorKind::Argument, "choice expects a positive count", n));
    };
    let size = arguments.shape(1)?;
    let without = arguments.is_written(2) && !arguments.is_given(2);
    let p = if arguments.is_given(3) { Some(weights(&arguments.array(3)?, n)?) } else { None };
    let t = arguments.element_type(4, ElementType::F64)?;
    let generator = arguments.generator(5)?;
    match p {
        Some(p) if without => return weighted_without_replacement(p, size, t, generator),
        None if without => return without_replacement(n, size, t, generator.as_ref(), context),
        _ => {}
    }
    let sums = p.map(running_sums).transpose()?;
    let uniform = uniform_numbers(&size, generator);
    steps(move |run| {
        let u = run.array("rand", uniform)?;
        let place = |u: f64| match &sums {
            None => (u * n as f64).floor().min((n - 1) as f64),
            Some(sums) => {
                let wanted = u * sums[n - 1];
                sums.partition_point(|&sum| sum <= wanted).min(n - 1) as f64
            }
        };
        let indices = Array::build::<f64>(size, |out| {
            out.iter_mut().zip(u.view::<f64>().iter()).for_each(|(o, u)| *o = place(u));
        })?;
        run.call("astype", vec![indices.into(), type_word(t)])
    })
}

/// n weights.
fn weights(weights: &Array, n: usize) -> Result<Vec<f64>> {
    if weights.rank() != 1 || weights.size() != n {
        let text = format!("choice expects a vector of {n} weights: got shape {}", weights.shape());
        return Err(Error::new(ErrorKind::Shape, text));
    }
    let mut all = memory::room(n, || format!("{n} weights"))?;
    for weight in weights.numbers().map(|w| w.to_f64()) {
        if !(weight >= 0.0 && weight.is_finite()) {
            let wanted = "choice p must be non-negative";
            return Err(Error::wanted(ErrorKind::Argument, wanted, weight));
        }
        all.push(weight);
    }
    Ok(all)
}

/// Their running sums.
fn running_sums(mut weights: Vec<f64>) -> Result<Vec<f64>> {
    let mut total = 0.0;
    for weight in &mut weights {
        total += *weight;
        *weight = total;
    }
    match total > 0.0 && total.is_finite() {
        true => Ok(weights),
        false => {
            Err(Error::wanted(ErrorKind::Argument, "choice p must have a positive sum", total))
        }
    }
}

/// The indices of the least -log(u) / p, in this order: each is drawn from those that are left, in
/// proportion to p (Efraimidis and Spirakis, "Weighted random sampling with a reservoir", 2006).
fn weighted_without_replacement(
    p: Vec<f64>,
    size: Shape,
    t: ElementType,
    generator: Option<Generator>,
) -> Result<Prepared> {
    let there = p.iter().filter(|&&weight| weight > 0.0).count();
    if size.size() > there {
        let text = format!(
            "choice without replacement takes at most {there}, as many as have a positive p"
        );
        return Err(Error::wanted(ErrorKind::Argument, text, size.size()));
    }
    let uniform = uniform_numbers(&Shape::vector(p.len()), generator);
    steps(move |run| {
        let u = run.array("rand", uniform)?;
        let logs = run.array("log", vec![u.into()])?;
        let mut keys = memory::room(p.len(), || format!("the keys of {} weights", p.len()))?;
        let each = logs.view::<f64>();
        let positive = each.iter().zip(&p).enumerate().filter(|(_, (_, weight))| **weight > 0.0);
        keys.extend(positive.map(|(i, (log, weight))| (-log / weight, i)));
        keys.sort_unstable_by(|a, b| a.0.total_cmp(&b.0).then(a.1.cmp(&b.1)));
        let indices = Array::build::<f64>(size, |out| {
            out.iter_mut().zip(keys).for_each(|(out, (_, i))| *out = i as f64);
        })?;
        run.call("astype", vec![indices.into(), type_word(t)])
    })
}

fn without_replacement(
    n: usize,
    size: Shape,
    t: ElementType,
    generator: Option<&Generator>,
    context: &mut Context,
) -> Result<Prepared> {
    if size.size() > n {
        let text = format!("choice without replacement takes at most {n}: got {}", size.size());
        return Err(Error::new(ErrorKind::Argument, text));
    }
    let order = shuffled(n, generator, context)?;
    let first = Array::from_slice(&order[..size.size()], size)?;
    Ok(Prepared::Done(vec![first.convert(t)?.into()]))
}

/// 0 ... n - 1, where for i from n - 1 down to 1, i changes places with one below or itself.
fn shuffled(n: usize, generator: Option<&Generator>, context: &mut Context) -> Result<Vec<f64>> {
    let mut order = memory::room(n, || format!("a permutation of {n}"))?;
    order.extend((0..n).map(|i| i as f64));
    let mut source = match generator {
        Some(generator) => Source::Counter(generator),
        None => Source::Seeded(&mut context.generator),
    };
    for i in (1..n).rev() {
        order.swap(i, source.draw_below(i as u64 + 1) as usize);
    }
    Ok(order)
}

fn permutation(
    _: &'static Op,
    mut arguments: Arguments,
    context: &mut Context,
) -> Result<Prepared> {
    let operand = arguments.operand(0)?;
    let t = arguments.element_type(1, ElementType::F64)?;
    let generator = arguments.generator(2)?;
    match operand {
        crate::arguments::Operand::Number(n) => {
            let count = n.to_i64().filter(|&i| i as f64 == n.to_f64());
            let count = count.and_then(|i| usize::try_from(i).ok()).ok_or_else(|| {
                let wanted = "permutation expects a non-negative count or an array";
                Error::wanted(ErrorKind::Argument, wanted, n)
            })?;
            let order = Array::vector(&shuffled(count, generator.as_ref(), context)?)?;
            Ok(Prepared::Done(vec![order.convert(t)?.into()]))
        }
        crate::arguments::Operand::Array(a) => {
            if a.rank() == 0 {
                let wanted = "permutation expects an array with an axis";
                return Err(Error::wanted(ErrorKind::Shape, wanted, a.shape()));
            }
            let order = Array::vector(&shuffled(a.shape()[0], generator.as_ref(), context)?)?;
            steps(move |run| run.call("take-rows", vec![a.into(), order.into()]))
        }
    }
}
