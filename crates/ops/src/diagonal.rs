//! Matrices by their diagonals: identities, diagonals taken and given, triangles.

use crate::arguments::Arguments;
use crate::call::{Call, Context, Detail, Prepared, lanes_operand};
use crate::construct::{DOUBLE, MADE, count};
use crate::decline::Answer;
use crate::record::{Definition, Family, Kind, Offer, Op, Parameter, Rungs, keyword, required};
use crate::round_trip::RoundTrip;
use crate::samples;
use crate::shape::{done, nothing_to_compute};
use rung_array::{Array, Number};
use rung_base::{Bool, Element, Error, ErrorKind, Result, Shape, with_element};
use rung_lanes::{Lanes, copy, each};

pub const OPS: &[Op] = &[
    Op {
        names: &["eye"],
        doc: "The identity matrix of n rows; with :columns and :k, ones on the k-th diagonal of \
              a matrix of so many columns.",
        parameters: &[
            required("n", Kind::Integer),
            keyword("columns", Kind::Integer),
            keyword("k", Kind::Integer),
            keyword("element-type", Kind::ElementType),
        ],
        prepare: eye,
        samples: || {
            let words = [("columns", 5), ("k", -1)];
            let words = words.map(|(name, n)| [samples::word(name), samples::integer(n)]).concat();
            vec![
                vec![samples::integer(3)],
                vec![samples::integer(0)],
                [vec![samples::integer(3)], words].concat(),
            ]
        },
        example: "(la:eye 2 :columns 3 :k 1) => #d((0.0 1.0 0.0) (0.0 0.0 1.0))",
        ..MADE
    },
    Op {
        names: &["diag"],
        doc: "Of a vector, the matrix with it on the k-th diagonal and zeros elsewhere; of a \
              matrix, its k-th diagonal.",
        parameters: WITH_OFFSET,
        result: "a matrix of a's type, or a vector that shares a's storage until either is \
                 written",
        prepare: diag,
        rungs: Rungs::none("a view, or one store a row into fresh zeros"),
        samples: || {
            let k = |n| [samples::word("k"), samples::integer(n)];
            vec![
                vec![samples::hard(&[17], 1.0)],
                [vec![samples::spread(&[3], 1.0)], k(-2).into()].concat(),
                [vec![samples::spread(&[3, 5], 1.0)], k(2).into()].concat(),
                vec![samples::spread(&[0], 1.0)],
            ]
        },
        example: "(la:diag #d(1 2)) => #d((1.0 0.0) (0.0 2.0))",
        ..Op::BASE
    },
    Op {
        names: &["triu"],
        doc: "The elements on and above the k-th diagonal of the last two axes, zeros below.",
        prepare: |op, a, _| triangle(op, a, true),
        example: "(la:triu #d((1 2) (3 4))) => #d((1.0 2.0) (0.0 4.0))",
        ..TRIANGLE
    },
    Op {
        names: &["tril"],
        doc: "The elements on and below the k-th diagonal of the last two axes, zeros above.",
        prepare: |op, a, _| triangle(op, a, false),
        example: "(la:tril #d((1 2) (3 4)) :k -1) => #d((0.0 0.0) (3.0 0.0))",
        ..TRIANGLE
    },
];

const WITH_OFFSET: &[Parameter] = &[required("a", Kind::Array), keyword("k", Kind::Integer)];

const TRIANGLE: Op = Op {
    parameters: WITH_OFFSET,
    result: "an array of a's shape and type",
    rungs: Rungs::with_device(
        Definition::One(triangle_portable),
        triangle_lanes,
        Offer::ResidentOnly,
        triangle_device,
    ),
    samples: || {
        let k = |n| [samples::word("k"), samples::integer(n)];
        let of = |extents: &[usize], n| [vec![samples::hard(extents, 1.0)], k(n).into()].concat();
        let whole = |n| [vec![samples::whole(&[2, 6, 5], 9)], k(n).into()].concat();
        vec![
            vec![samples::hard(&[5, 5], 1.0)],
            of(&[3, 7], 2),
            of(&[7, 3], -2),
            whole(-1),
            whole(i64::MAX),
            whole(i64::MIN),
            of(&[0, 3], 0),
            of(&[300, 250], 1),
        ]
    },
    ..Op::BASE
};

/// A matrix of zeros with numbers on its k-th diagonal.
fn with_diagonal<T: Element>(
    [rows, columns]: [usize; 2],
    k: i64,
    numbers: impl Iterator<Item = T>,
) -> Result<Array> {
    let mut out = Array::zeros(T::TYPE, Shape::matrix(rows, columns)?)?;
    let places: Vec<usize> = {
        let diagonal = out.diagonal_at(k)?;
        let step = diagonal.strides()[0] as usize;
        (0..diagonal.size()).map(|i| diagonal.offset() + i * step).collect()
    };
    let elements = out.make_mut::<T>()?;
    places.into_iter().zip(numbers).for_each(|(at, x)| elements[at] = x);
    Ok(out)
}

fn eye(_: &'static Op, mut arguments: Arguments, _: &mut Context) -> Result<Prepared> {
    let rows = count(arguments.integer(0)?, "eye")?;
    let columns = match arguments.optional_integer(1)? {
        Some(n) => count(n, "eye")?,
        None => rows,
    };
    let k = arguments.optional_integer(2)?.unwrap_or(0);
    let element_type = arguments.element_type(3, DOUBLE)?;
    let one = Array::full(element_type, Shape::scalar(), Number::I64(1))?;
    let out = with_element!(element_type, T => {
        with_diagonal::<T>([rows, columns], k, std::iter::repeat(one.view::<T>().at(0)))
    })?;
    done(out.into())
}

fn diag(_: &'static Op, mut arguments: Arguments, _: &mut Context) -> Result<Prepared> {
    let a = arguments.array(0)?;
    let k = arguments.optional_integer(1)?.unwrap_or(0);
    match a.rank() {
        1 => {
            let past = usize::try_from(k.unsigned_abs()).unwrap_or(usize::MAX);
            let n = a.size().saturating_add(past);
            let out = with_element!(a.element_type(), T => {
                with_diagonal::<T>([n, n], k, a.view::<T>().iter())
            })?;
            done(out.into())
        }
        2 => done(a.diagonal_at(k)?.into()),
        _ => {
            let text = format!("diag expects a vector or a matrix: got shape {}", a.shape());
            Err(Error::new(ErrorKind::Shape, text))
        }
    }
}

fn triangle(op: &'static Op, mut arguments: Arguments, upper: bool) -> Result<Prepared> {
    let a = arguments.array(0)?;
    let k = arguments.optional_integer(1)?.unwrap_or(0);
    if a.rank() < 2 {
        let text = format!("triu and tril expect rank >= 2: got shape {}", a.shape());
        return Err(Error::new(ErrorKind::Shape, text));
    }
    let element_type = a.element_type();
    let call = Call::like(op, a, element_type, Family::Copy);
    Ok(Prepared::Call(Box::new(Call { detail: Detail::Triangle { upper, k }, ..call })))
}

/// a (..., rows, columns), out (the same shape).
fn triangle_portable(call: &Call) -> Result<Array> {
    with_element!(call.raw, T => kept::<T>(call))
}

fn kept<T: Element>(call: &Call) -> Result<Array> {
    let Detail::Triangle { upper, k } = call.detail else { return nothing_to_compute(call) };
    let [.., rows, columns] = call.shape[..] else { return nothing_to_compute(call) };
    Array::build::<T>(call.shape.clone(), |out| {
        let elements = call.operands[0].view::<T>().iter();
        for (at, (o, x)) in out.iter_mut().zip(elements).enumerate() {
            let (row, column) = (at / columns % rows, at % columns);
            let diagonal = column as i64 - row as i64;
            let kept = if upper { diagonal >= k } else { diagonal <= k };
            *o = if kept { x } else { T::default() };
        }
    })
}

/// As `where` with a mask of the last two axes.
fn triangle_device(call: &Call, trip: &RoundTrip) -> Result<Answer> {
    let (Detail::Triangle { upper, k }, [.., rows, columns]) = (&call.detail, &call.shape[..])
    else {
        return nothing_to_compute(call).map(Answer::Done);
    };
    let mask = Array::build::<Bool>(Shape::matrix(*rows, *columns)?, |out| {
        for (at, o) in out.iter_mut().enumerate() {
            let diagonal = (at % columns) as i64 - (at / columns) as i64;
            *o = Bool::from(if *upper { diagonal >= *k } else { diagonal <= *k });
        }
    })?;
    let zero = Array::zeros(call.result, Shape::scalar())?;
    let operands = [mask, call.operands[0].clone(), zero];
    let operands = operands.map(|x| x.broadcast_to(&call.shape));
    let [mask, x, zero] = operands;
    trip.chosen(call, &[mask?, x?, zero?])
}

fn triangle_lanes(call: &Call, lanes: &Lanes) -> Result<Answer> {
    let (Detail::Triangle { upper, k }, [.., rows, columns]) = (&call.detail, &call.shape[..])
    else {
        return nothing_to_compute(call).map(Answer::Done);
    };
    let (x, rows, columns) = (&call.operands[0], *rows, *columns);
    // The first column of the k-th diagonal in a row, or the first beyond it.
    let past = i64::from(!upper);
    let bound = |row: usize| {
        let column = k.saturating_add(past).saturating_add((row % rows) as i64);
        column.clamp(0, columns as i64) as usize
    };
    with_element!(call.raw, T => Array::build::<T>(call.shape.clone(), |out| {
        copy::pack(lanes, &call.shape, lanes_operand::<T>(x), out);
        each::rows(lanes, columns, out, |row, cells| {
            let bound = bound(row);
            let dropped = if *upper { &mut cells[..bound] } else { &mut cells[bound..] };
            dropped.fill(T::default());
        });
    }))
    .map(Answer::Done)
}
