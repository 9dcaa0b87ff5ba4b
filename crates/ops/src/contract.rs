//! Products over chosen axes, made of views and of the operations they stand on: outer, cross
//! and Kronecker products, tensordot, inner, matrix powers. `einsum` has a file of its own.
//!
//! A contraction lays its operands out as matrices, (free, contracted) by (contracted, free),
//! so its cells are the matrix product's (DESIGN 3.4) and every rung of `matmul` serves it.

use crate::arguments::Arguments;
use crate::call::{Context, Prepared, Run, Steps};
use crate::explain;
use crate::record::{Exactness, Kind, Op, Parameter, Rungs, keyword, required};
use crate::samples::{self, Sample};
use crate::value::Value;
use rung_array::{Array, SliceSpec};
use rung_base::{Error, ErrorKind, Result, Shape};

pub const OPS: &[Op] = &[
    Op {
        names: &["outer"],
        doc: "The product of each element of the first with each of the second, both flattened.",
        parameters: PAIR,
        result: "a matrix: a row for each element of the first",
        prepare: outer,
        rungs: Rungs::STEPS,
        samples: || pairs(&[(&[3], &[4]), (&[1], &[0]), (&[2, 3], &[65])]),
        example: "(la:outer #d(1 2) #d(3 4)) => #d((3.0 4.0) (6.0 8.0))",
        ..Op::BASE
    },
    Op {
        names: &["cross"],
        doc: "The cross product along the last axis: of 3-vectors a vector, of 2-vectors a \
              number; leading axes broadcast.",
        parameters: PAIR,
        result: "a vector or a number, or a stack of them",
        prepare: cross,
        rungs: Rungs::STEPS,
        samples: || pairs(&[(&[3], &[3]), (&[2], &[2]), (&[5, 3], &[3]), (&[4, 2], &[4, 2])]),
        example: "(la:cross #d(1 0 0) #d(0 1 0)) => #d(0.0 0.0 1.0)",
        ..Op::BASE
    },
    Op {
        names: &["kron"],
        doc: "The Kronecker product: each element of the first times the whole second.",
        parameters: PAIR,
        result: "an array whose extents are the products of the operands' extents",
        prepare: kron,
        rungs: Rungs::STEPS,
        samples: || pairs(&[(&[2, 3], &[3, 2]), (&[4], &[2, 2]), (&[1], &[5])]),
        example: "(la:kron #d(1 2) #d(1 10)) => #d(1.0 10.0 2.0 20.0)",
        ..Op::BASE
    },
    Op {
        names: &["tensordot"],
        doc: "The sum of products over pairs of axes: the last n of the first with the first n \
              of the second, or the axes of two lists.",
        parameters: &[
            required("a", Kind::Array),
            required("b", Kind::Array),
            keyword("axes", Kind::Any),
        ],
        result: "an array: the free axes of the first, then those of the second; or a number",
        prepare: tensordot,
        ..PRODUCT
    },
    Op {
        names: &["inner"],
        doc: "The sum of products over the last axes of both operands.",
        parameters: PAIR,
        result: "a number for two vectors, else an array of the other axes",
        prepare: inner,
        samples: || pairs(&[(&[65], &[65]), (&[2, 7], &[3, 7]), (&[2, 3, 4], &[4])]),
        example: "(la:inner #d((1 2) (3 4)) #d(10 100)) => #d(210.0 430.0)",
        ..PRODUCT
    },
    Op {
        names: &["vdot"],
        doc: "The sum of products of all elements, both operands flattened.",
        parameters: PAIR,
        result: "a double-float, accumulated in double-float",
        prepare: vdot,
        samples: || pairs(&[(&[4097], &[4097]), (&[2, 3], &[6])]),
        example: "(la:vdot #d((1 2) (3 4)) #d((1 1) (1 1))) => 10.0",
        ..PRODUCT
    },
    Op {
        names: &["matrix-power"],
        doc: "A square matrix multiplied by itself n times, by squares from the highest bit; a \
              negative power is that of the inverse.",
        parameters: &[required("m", Kind::Array), required("n", Kind::Integer)],
        result: "a matrix, or a stack of them",
        prepare: matrix_power,
        samples: || {
            let of =
                |extents: &[usize], n| vec![samples::spread(extents, 1.0), samples::integer(n)];
            vec![of(&[3, 3], 0), of(&[3, 3], 1), of(&[4, 4], 11), of(&[2, 5, 5], 6)]
        },
        example: "(la:matrix-power #d((1 1) (1 0)) 10) => #d((89.0 55.0) (55.0 34.0))",
        ..PRODUCT
    },
];

const PAIR: &[Parameter] = &[required("a", Kind::Array), required("b", Kind::Array)];

const PRODUCT: Op = Op {
    exact: Exactness::LibraryOrder,
    rungs: Rungs::STEPS,
    samples: || pairs(&[(&[3, 4, 5], &[4, 5, 2]), (&[2, 3], &[2, 3])]),
    example: "(la:tensordot #d((1 2) (3 4)) #d((5 6) (7 8)) :axes 1) => #d((19.0 22.0) (43.0 50.0))",
    ..Op::BASE
};

fn pairs(shapes: &[(&[usize], &[usize])]) -> Vec<Sample> {
    shapes.iter().map(|(a, b)| vec![samples::spread(a, 2.0), samples::spread(b, 3.0)]).collect()
}

pub(crate) fn steps(
    f: impl FnOnce(&mut dyn Run) -> Result<Vec<Value>> + 'static,
) -> Result<Prepared> {
    Ok(Prepared::Steps(Box::new(f) as Steps))
}

/// `a` under other extents; copies only where its strides leave no other way, and explain says so.
pub(crate) fn reshaped(a: &Array, extents: impl IntoIterator<Item = usize>) -> Result<Array> {
    explain::reshaped(a, Shape::new(extents)?)
}

/// An array, or its element where it has no axes.
pub(crate) fn number_or_array(a: Array) -> Value {
    match a.rank() {
        0 => a.numbers().next().map_or(Value::Nil, Value::Number),
        _ => Value::Array(a),
    }
}

fn outer(_: &'static Op, mut arguments: Arguments, _: &mut Context) -> Result<Prepared> {
    let (a, b) = (arguments.array(0)?, arguments.array(1)?);
    let (column, row) = (reshaped(&a, [a.size(), 1])?, reshaped(&b, [1, b.size()])?);
    steps(move |run| run.call("mul", vec![column.into(), row.into()]))
}

fn cross(_: &'static Op, mut arguments: Arguments, _: &mut Context) -> Result<Prepared> {
    let (a, b) = (arguments.array(0)?, arguments.array(1)?);
    let extent = |x: &Array| x.shape().last().copied().unwrap_or(0);
    if extent(&a) != extent(&b) || !matches!(extent(&a), 2 | 3) {
        let text = format!(
            "cross expects vectors of length 2 or 3: got shapes {} and {}",
            a.shape(),
            b.shape()
        );
        return Err(Error::new(ErrorKind::Shape, text));
    }
    let leading = |x: &Array| Shape::new(x.shape()[..x.rank() - 1].iter().copied());
    leading(&a)?.broadcast(&leading(&b)?)?;
    steps(move |run| match extent(&a) {
        2 => {
            let product = minor(run, &a, &b, 0, 1)?;
            Ok(vec![number_or_array(reshaped(
                &product,
                product.shape()[..product.rank() - 1].to_vec(),
            )?)])
        }
        _ => {
            let parts =
                [(1, 2), (2, 0), (0, 1)].map(|(i, j)| minor(run, &a, &b, i, j).map(Value::Array));
            let parts = parts.into_iter().collect::<Result<Vec<_>>>()?;
            let axis = [samples::word("axis"), Value::integer(-1)];
            run.call("concatenate", [vec![Value::List(parts)], axis.to_vec()].concat())
        }
    })
}

/// a_i b_j - a_j b_i along the last axis, which keeps extent 1.
fn minor(run: &mut dyn Run, a: &Array, b: &Array, i: usize, j: usize) -> Result<Array> {
    let plus = run.array("mul", vec![component(a, i)?.into(), component(b, j)?.into()])?;
    let minus = run.array("mul", vec![component(a, j)?.into(), component(b, i)?.into()])?;
    run.array("sub", vec![plus.into(), minus.into()])
}

fn component(x: &Array, i: usize) -> Result<Array> {
    let mut specs = vec![SliceSpec::ALL; x.rank()];
    specs[x.rank() - 1] = SliceSpec { start: Some(i as i64), end: Some(i as i64 + 1), step: 1 };
    x.slice(&specs)
}

fn kron(_: &'static Op, mut arguments: Arguments, _: &mut Context) -> Result<Prepared> {
    let (a, b) = (arguments.array(0)?, arguments.array(1)?);
    let rank = a.rank().max(b.rank());
    let extents = |x: &Array| {
        let mut all = vec![1; rank - x.rank()];
        all.extend_from_slice(x.shape());
        all
    };
    let (outer, inner) = (extents(&a), extents(&b));
    let spread = |outer: &[usize], inner: &[usize]| -> Vec<usize> {
        outer.iter().zip(inner).flat_map(|(&m, &n)| [m, n]).collect()
    };
    let ones = vec![1; rank];
    let a = reshaped(&a, spread(&outer, &ones))?;
    let b = reshaped(&b, spread(&ones, &inner))?;
    let shape = Shape::new(outer.iter().zip(&inner).map(|(m, n)| m * n))?;
    steps(move |run| {
        let product = run.array("mul", vec![a.into(), b.into()])?;
        Ok(vec![product.reshape(shape)?.into()])
    })
}

fn tensordot(_: &'static Op, mut arguments: Arguments, _: &mut Context) -> Result<Prepared> {
    let (a, b) = (arguments.array(0)?, arguments.array(1)?);
    let (left, right) = contracted_axes(&arguments.any(2), &a, &b)?;
    contract(&a, &b, &left, &right)
}

fn inner(_: &'static Op, mut arguments: Arguments, _: &mut Context) -> Result<Prepared> {
    let (a, b) = (arguments.array(0)?, arguments.array(1)?);
    if a.rank() == 0 || b.rank() == 0 || (a.rank() == 1 && b.rank() == 1) {
        return steps(move |run| run.call("dot", vec![a.into(), b.into()]));
    }
    contract(&a, &b, &[a.rank() - 1], &[b.rank() - 1])
}

fn vdot(_: &'static Op, mut arguments: Arguments, _: &mut Context) -> Result<Prepared> {
    let (a, b) = (arguments.array(0)?, arguments.array(1)?);
    let (a, b) = (reshaped(&a, [a.size()])?, reshaped(&b, [b.size()])?);
    steps(move |run| run.call("dot", vec![a.into(), b.into()]))
}

/// The axes that `:axes` names: a count, or a list of two axes or of two lists of them.
fn contracted_axes(axes: &Value, a: &Array, b: &Array) -> Result<(Vec<usize>, Vec<usize>)> {
    let bad = || {
        let wanted = "tensordot expects :axes to be a count or a list of two lists of axes";
        Error::wanted(ErrorKind::Argument, wanted, axes)
    };
    let axis_list = |value: &Value, x: &Array| -> Result<Vec<usize>> {
        let one = |v: &Value| match v {
            Value::Number(n) => x.shape().axis(n.to_i64().ok_or_else(bad)?),
            _ => Err(bad()),
        };
        match value {
            Value::List(items) => items.iter().map(one).collect(),
            Value::Nil => Ok(Vec::new()),
            other => Ok(vec![one(other)?]),
        }
    };
    let count = match axes {
        Value::Nil => 2,
        Value::Number(n) => n.to_i64().and_then(|n| usize::try_from(n).ok()).ok_or_else(bad)?,
        Value::List(both) if both.len() == 2 => {
            return Ok((axis_list(&both[0], a)?, axis_list(&both[1], b)?));
        }
        _ => return Err(bad()),
    };
    if count > a.rank() || count > b.rank() {
        let text = format!("axis out of range: {count} axes of {} and {}", a.shape(), b.shape());
        return Err(Error::new(ErrorKind::Axis, text));
    }
    Ok(((a.rank() - count..a.rank()).collect(), (0..count).collect()))
}

/// The sum over paired axes: (free of a, contracted) times (contracted, free of b).
fn contract(a: &Array, b: &Array, left: &[usize], right: &[usize]) -> Result<Prepared> {
    let extents =
        |x: &Array, axes: &[usize]| axes.iter().map(|&i| x.shape()[i]).collect::<Vec<_>>();
    if extents(a, left) != extents(b, right) {
        let text = format!(
            "tensordot axes differ in extent: {:?} of {} and {:?} of {}",
            left,
            a.shape(),
            right,
            b.shape()
        );
        return Err(Error::new(ErrorKind::Shape, text));
    }
    let free = |x: &Array, axes: &[usize]| (0..x.rank()).filter(|i| !axes.contains(i)).collect();
    let (free_left, free_right): (Vec<usize>, Vec<usize>) = (free(a, left), free(b, right));
    let shape = [extents(a, &free_left), extents(b, &free_right)].concat();
    let count = |x: &Array, axes: &[usize]| extents(x, axes).iter().product::<usize>();
    let (m, k, n) = (count(a, &free_left), count(a, left), count(b, &free_right));
    let rows = reshaped(&a.transpose(&[&free_left[..], left].concat())?, [m, k])?;
    let columns = reshaped(&b.transpose(&[right, &free_right[..]].concat())?, [k, n])?;
    steps(move |run| {
        let product = run.array("matmul", vec![rows.into(), columns.into()])?;
        Ok(vec![number_or_array(reshaped(&product, shape)?)])
    })
}

fn matrix_power(_: &'static Op, mut arguments: Arguments, _: &mut Context) -> Result<Prepared> {
    let (m, n) = (arguments.array(0)?, arguments.integer(1)?);
    let rank = m.rank();
    if rank < 2 || m.shape()[rank - 1] != m.shape()[rank - 2] {
        let text = format!("expects a square matrix: got shape {}", m.shape());
        return Err(Error::new(ErrorKind::Shape, text));
    }
    steps(move |run| {
        let base = if n < 0 { run.array("inv", vec![m.into()])? } else { m };
        power(run, base, n.unsigned_abs()).map(|power| vec![power.into()])
    })
}

fn power(run: &mut dyn Run, m: Array, n: u64) -> Result<Array> {
    if n == 0 {
        let element_type = Value::Symbol(m.element_type().numpy_name().into());
        let size = Value::integer(m.shape()[m.rank() - 1] as i64);
        let eye = run.array("eye", vec![size, samples::word("element-type"), element_type])?;
        return eye.broadcast_to(m.shape());
    }
    let mut result = m.clone();
    for bit in (0..n.ilog2()).rev() {
        result = run.array("matmul", vec![result.clone().into(), result.into()])?;
        if n >> bit & 1 == 1 {
            result = run.array("matmul", vec![result.into(), m.clone().into()])?;
        }
    }
    Ok(result)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn axes_are_a_count_or_two_lists() {
        let a = Array::zeros(rung_base::ElementType::F64, Shape::new([2, 3, 4]).unwrap()).unwrap();
        let axes = |v: Value| contracted_axes(&v, &a, &a).map_err(|e| e.message().to_string());
        assert_eq!(axes(Value::Nil), Ok((vec![1, 2], vec![0, 1])));
        assert_eq!(axes(Value::integer(0)), Ok((vec![], vec![])));
        let pair = |n| Value::List(vec![Value::integer(n), Value::integer(0)]);
        let lists = Value::List(vec![pair(-1), pair(1)]);
        assert_eq!(axes(lists), Ok((vec![2, 0], vec![1, 0])));
        assert!(axes(Value::integer(4)).unwrap_err().starts_with("axis out of range"));
        assert!(axes(Value::integer(-1)).unwrap_err().starts_with("tensordot expects"));
    }
}
