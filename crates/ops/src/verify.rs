//! `--on-decline=verify`: the definition runs beside the rung that took a call, and the two
//! results are compared under the operation's exactness class.

use crate::call::{Call, Detail, Outputs, at_type, elements, first_difference, narrow};
use crate::decline::Rung;
use crate::record::Exactness;
use rung_array::Array;
use rung_base::{ElementType, Error, ErrorKind, Result};

/// Fails with the first element that differs. `beside`: a foreign order of additions, within
/// 2 k u sum |a b| (spec acceleration 8), and so much of sum |a b| beside it for operands that were
/// rounded, or 0.
pub fn against_portable(call: &Call, rung: Rung, raw: &Outputs, beside: Option<f64>) -> Result<()> {
    for array in call.operands.iter().chain(raw) {
        array.home()?;
    }
    if let (Some(rounded), Some(beside)) = (call.op.rounded, beside) {
        return between(call, rung, raw, &(rounded.bounds)(call, order(call, beside))?);
    }
    let wanted = call.anew(|| call.op.rungs.portable.run(call))?;
    let more = call.more.iter().map(|output| output.result);
    // Arrays that are changed in place have one type.
    let types = std::iter::once(call.result).chain(more).chain(std::iter::repeat(call.result));
    for ((raw, wanted), result) in raw.iter().zip(&wanted).zip(types) {
        // A rung may have narrowed to the result's type already.
        let narrowed = |a: &Array| narrow(a.clone(), result);
        let difference = match beside {
            None if rung == Rung::Device && call.op.exact == Exactness::Kept => {
                first_far(call, &narrowed(raw)?, &narrowed(wanted)?)?
            }
            None => first_difference(&narrowed(raw)?, &narrowed(wanted)?),
            Some(beside) => first_outside_bound(call, raw, wanted, beside)?,
        };
        if let Some(at) = difference {
            return Err(differ(call, rung, raw, wanted, at));
        }
    }
    Ok(())
}

/// What a cell of a solver's products may be off, as a part of sum |a b|: by the operands' rounding, and
/// by the order of additions on both sides.
fn order(call: &Call, beside: f64) -> f64 {
    let inner = call.op.rounded.map_or(0, |rounded| (rounded.inner)(call));
    beside + 2.0 * inner as f64 * 2f64.powi(-24)
}

/// Fails with the first element outside what its bounds allow; steps behind the products may round in
/// other places there: four units of the type.
fn between(
    call: &Call,
    rung: Rung,
    raw: &Outputs,
    [least, greatest]: &[Vec<Array>; 2],
) -> Result<()> {
    for (raw, (least, greatest)) in raw.iter().zip(least.iter().zip(greatest)) {
        let unit = match raw.element_type() {
            ElementType::F64 => 2f64.powi(-52),
            ElementType::F16 => 2f64.powi(-10),
            _ => 2f64.powi(-23),
        };
        let mut triples = raw.numbers().zip(least.numbers().zip(greatest.numbers()));
        let outside = triples.position(|(x, (least, greatest))| {
            let (x, least, greatest) = (x.to_f64(), least.to_f64(), greatest.to_f64());
            let slack = 4.0 * unit * least.abs().max(greatest.abs());
            let is_inside = (least - slack..=greatest + slack).contains(&x);
            !is_inside && x != least && x != greatest
        });
        if let Some(at) = outside {
            let number =
                |a: &Array| a.numbers().nth(at).map_or_else(String::new, |n| n.to_string());
            let text = format!(
                "{} on {}: element {at} is {} on the {} and from {} to {} by the definition's bounds",
                call.op.name(),
                call.shapes(),
                number(raw),
                rung.name(),
                number(least),
                number(greatest)
            );
            return Err(Error::new(ErrorKind::BitsDiffer, text));
        }
    }
    Ok(())
}

fn differ(call: &Call, rung: Rung, raw: &Array, wanted: &Array, at: usize) -> Error {
    let number = |a: &Array| a.numbers().nth(at).map_or_else(String::new, |n| n.to_string());
    let text = format!(
        "{} on {}: element {at} is {} on the {} and {} by the definition",
        call.op.name(),
        call.shapes(),
        number(raw),
        rung.name(),
        number(wanted)
    );
    Error::new(ErrorKind::BitsDiffer, text)
}

/// The first element farther from `wanted` than the bound of a product in another order.
pub fn first_outside_bound(
    call: &Call,
    raw: &Array,
    wanted: &Array,
    beside: f64,
) -> Result<Option<usize>> {
    let Detail::Product(product) = call.detail else { return Ok(first_difference(raw, wanted)) };
    let magnitudes = absolute_product(call)?;
    let unit = if call.shown_type() == ElementType::F64 { 2f64.powi(-53) } else { 2f64.powi(-24) };
    let factor = 2.0 * product.inner as f64 * unit + beside;
    // A device has narrowed to the result's type already.
    let narrowed = match raw.element_type() {
        ElementType::BF16 => 2f64.powi(-8),
        ElementType::F16 => 2f64.powi(-10),
        _ => 0.0,
    };
    let mut triples = raw.numbers().zip(wanted.numbers()).zip(magnitudes.numbers());
    Ok(triples.position(|((x, y), magnitude)| {
        let (x, y) = (x.to_f64(), y.to_f64());
        let magnitude = magnitude.to_f64();
        let close = (x - y).abs() <= factor * magnitude + narrowed * (1.0 + factor) * magnitude;
        // Infinities and NaN come out of any order of the same sums, or of none.
        let both_infinite = !x.is_finite() && !y.is_finite();
        !close && x != y && !both_infinite
    }))
}

/// The first element of a transform that no two algorithms of class O may have so far apart, each
/// within 4 eps log2 n of the true line (spec linalg 8), both narrowed to one type.
fn first_far(call: &Call, raw: &Array, wanted: &Array) -> Result<Option<usize>> {
    let Detail::Transform(transform) = &call.detail else {
        return Ok(first_difference(raw, wanted));
    };
    // What the type rounds to, relative to a number and below its smallest normal one.
    let (epsilon, least) = match call.result {
        ElementType::F32 => (2f64.powi(-23), 2f64.powi(-149)),
        ElementType::BF16 => (2f64.powi(-7), 2f64.powi(-133)),
        ElementType::F16 => (2f64.powi(-10), 2f64.powi(-24)),
        _ => (f64::EPSILON, f64::MIN_POSITIVE),
    };
    let rounds = (transform.points() as f64).log2().max(1.0);
    let part = 8.0 * f64::EPSILON * rounds + epsilon;
    let norms = transform.norms(wanted)?;
    let mut triples = raw.numbers().zip(wanted.numbers()).zip(norms.numbers());
    Ok(triples.position(|((x, y), norm)| {
        let (distance, norm) = ((x.to_f64() - y.to_f64()).abs(), norm.to_f64());
        let near = distance <= norm * part + least;
        !near && norm.is_finite()
    }))
}

/// sum |a b| for each result element, by the definition itself.
fn absolute_product(call: &Call) -> Result<Array> {
    let magnitude = |a: &Array| match a.element_type() {
        ElementType::F64 => {
            let mut x = elements::<f64>(a)?;
            x.iter_mut().for_each(|x| *x = x.abs());
            Array::from_slice(&x, a.shape().clone())
        }
        _ => {
            let a = at_type(a, ElementType::F32)?;
            let mut x = elements::<f32>(&a)?;
            x.iter_mut().for_each(|x| *x = x.abs());
            Array::from_slice(&x, a.shape().clone())
        }
    };
    let operands = call.operands.iter().map(magnitude).collect::<Result<_>>()?;
    let Detail::Product(product) = call.detail else {
        return Err(Error::new(ErrorKind::Internal, "a bound is asked of products only"));
    };
    let absolute = Call {
        op: call.op,
        operands,
        given: call.given.clone(),
        shape: call.shape.clone(),
        raw: call.raw,
        result: call.result,
        to_number: false,
        wanted: Default::default(),
        more: Vec::new(),
        targets: Default::default(),
        detail: Detail::Product(product),
        family: call.family,
        units: call.units,
    };
    absolute
        .op
        .rungs
        .portable
        .run(&absolute)?
        .into_iter()
        .next()
        .ok_or_else(|| Error::new(ErrorKind::Internal, "a product without a result"))
}
