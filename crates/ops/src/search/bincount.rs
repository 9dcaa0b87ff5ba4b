//! bincount: how often each integer occurs, or the weights beside it. Integers that are on a device and
//! have no weights are counted there; their largest and smallest, which decide the result's shape and
//! whether there is one, come home as two numbers.

use crate::arguments::Arguments;
use crate::call::{Call, Context, Detail, Prepared, Run, elements, waiting};
use crate::record::{Family, Op};
use crate::value::Value;
use rung_array::{Array, Number};
use rung_base::{ElementType, Error, ErrorKind, Result, Shape};
use smallvec::smallvec;

pub(super) fn bincount(
    op: &'static Op,
    mut arguments: Arguments,
    _: &mut Context,
) -> Result<Prepared> {
    if let (false, Some(a)) = (arguments.is_given(1), arguments.attached_integers(0)) {
        let least = minlength(&mut arguments)?;
        return Ok(Prepared::Steps(Box::new(move |run| counted_there(run, a, least))));
    }
    let (indices, shape) = arguments.index(0)?;
    let weights = arguments.is_given(1).then(|| arguments.array(1)).transpose()?;
    let least = minlength(&mut arguments)?;
    refuse_negative(&indices)?;
    let length = indices.iter().max().map_or(0, |&most| most as usize + 1).max(least);
    let result = if weights.is_some() { ElementType::F64 } else { ElementType::I64 };
    let mut operands = smallvec::SmallVec::new();
    if let Some(weights) = weights {
        if weights.size() != indices.len() {
            let text = "bincount weights must match the indices";
            let shapes = format!("{text}: {} and {shape}", weights.shape());
            return Err(Error::new(ErrorKind::Shape, shapes));
        }
        operands.push(waiting(&weights, ElementType::F64)?);
    }
    let positions: Vec<usize> = indices.into_iter().map(|i| i as usize).collect();
    let types = [ElementType::F64];
    let call = Call {
        op,
        operands,
        given: smallvec![shape],
        shape: Shape::new([length])?,
        raw: result,
        result,
        to_number: false,
        wanted: Default::default(),
        more: Vec::new(),
        targets: Default::default(),
        family: Family::Fold,
        units: positions.len() as u64,
        detail: Detail::Take { axis: 0, positions },
    };
    let count = call.operands.len();
    Ok(Prepared::Call(Box::new(call.at_types(&types[..count]))))
}

pub(super) fn bincount_portable(call: &Call) -> Result<Array> {
    let Detail::Take { positions, .. } = &call.detail else {
        return Err(Error::new(ErrorKind::Internal, "nothing to count"));
    };
    let mut out = Array::zeros(call.raw, call.shape.clone())?;
    match call.operands.first() {
        Some(weights) => {
            let (sums, weights) = (out.make_mut::<f64>()?, elements::<f64>(weights)?);
            positions.iter().zip(weights).for_each(|(&position, weight)| sums[position] += weight);
        }
        None => {
            let counts = out.make_mut::<i64>()?;
            positions.iter().for_each(|&position| counts[position] += 1);
        }
    }
    Ok(out)
}

fn minlength(arguments: &mut Arguments) -> Result<usize> {
    let least = arguments.optional_integer(2)?.unwrap_or(0);
    usize::try_from(least).map_err(|_| {
        Error::wanted(ErrorKind::Argument, "bincount minlength must not be negative", least)
    })
}

/// Integers on a device; the counts stay there.
fn counted_there(run: &mut dyn Run, a: Array, least: usize) -> Result<Vec<Value>> {
    let mut extreme = |name: &str| match run.call(name, vec![a.clone().into()])?.first() {
        Some(Value::Number(Number::I64(n))) => Ok(*n),
        Some(Value::Number(Number::Bool(n))) => Ok(i64::from(*n)),
        _ => Err(Error::new(ErrorKind::Internal, format!("{name} of integers is none"))),
    };
    let mut length = least;
    if a.size() > 0 {
        if extreme("amin")? < 0 {
            a.home()?;
            refuse_negative(&elements::<i64>(&a.convert(ElementType::I64)?)?)?;
        }
        length = length.max(extreme("amax")? as usize + 1);
    }
    let length = Value::integer(i64::try_from(length).unwrap_or(i64::MAX));
    run.call("%la-tally", vec![a.into(), length])
}

fn refuse_negative(indices: &[i64]) -> Result<()> {
    match indices.iter().find(|&&i| i < 0) {
        Some(bad) => {
            let what = "bincount expects non-negative integers";
            Err(Error::wanted(ErrorKind::Index, what, bad))
        }
        None => Ok(()),
    }
}

pub(super) fn tally(
    op: &'static Op,
    mut arguments: Arguments,
    _: &mut Context,
) -> Result<Prepared> {
    let (a, n) = (arguments.array(0)?, arguments.integer(1)?);
    if a.element_type().is_float() {
        return Err(Error::wanted(
            ErrorKind::ElementType,
            "expects an integer array",
            a.element_type(),
        ));
    }
    let n = usize::try_from(n)
        .map_err(|_| Error::wanted(ErrorKind::Argument, "a count must not be negative", n))?;
    let own = a.element_type();
    let call = Call::like(op, waiting(&a, own)?, ElementType::I64, Family::Fold);
    let shape = Shape::new([n])?;
    Ok(Prepared::Call(Box::new(Call { shape, raw: ElementType::I64, ..call })))
}

/// a (any shape) of integers, out how often each index of it occurs.
pub(super) fn tally_portable(call: &Call) -> Result<Array> {
    let wide = call.operands[0].convert(ElementType::I64)?;
    Array::build::<i64>(call.shape.clone(), |counts| {
        counts.fill(0);
        for x in wide.view::<i64>().iter() {
            if let Some(count) = usize::try_from(x).ok().and_then(|x| counts.get_mut(x)) {
                *count += 1;
            }
        }
    })
}
