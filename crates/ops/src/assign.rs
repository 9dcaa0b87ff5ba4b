//! Assignments through a selection: `(setf (la:slice a specs) b)` and its kin.
//!
//! The record's first argument is the new value, an array that broadcasts to the selection or a
//! number; its value is that. Everything is checked and converted first, then written in one go
//! (`Prepared::Write`), so an error changes nothing. Storage that another array shares is
//! separated before the write; so is that of b where b reads the array it is written into.

use crate::arguments::{Arguments, Operand};
use crate::call::{Context, Prepared};
use crate::record::{Kind, Op, Rungs, keyword, required};
use crate::samples;
use crate::select::positions;
use crate::shape::{list_of, row_index};
use crate::value::Value;
use rung_array::{Array, Offsets, SliceSpec};
use rung_base::{
    Element, ElementType, Error, ErrorKind, Result, Shape, Strides, memory, with_element,
};

pub const OPS: &[Op] = &[
    Op {
        names: &["slice"],
        doc: "Writes into part of each axis: nil for all of it, or (start end [step]).",
        parameters: &[
            required("b", Kind::Operand),
            required("a", Kind::Array),
            required("specs", Kind::Slices),
        ],
        prepare: slice,
        samples: || {
            let specs = || samples::list(vec![list_of(&[4, 0, -2]), Value::Nil]);
            vec![
                vec![samples::whole(&[3], 9), samples::whole(&[5, 3], 20), specs()],
                vec![samples::integer(7), samples::counting(&[5, 3], 9), specs()],
                vec![samples::whole(&[2, 1], 9), samples::hard(&[5, 3], 2.0), specs()],
                vec![samples::integer(1), samples::spread(&[3], 2.0), list_of(&[])],
            ]
        },
        example: "(let ((a (la:zeros 4))) (setf (la:slice a '((1 3))) #d(7 8)) a) => \
                  #d(0.0 7.0 8.0 0.0)",
        ..ASSIGNED
    },
    Op {
        names: &["row"],
        doc: "Writes into the sub-array at an index of the first axis.",
        parameters: &[
            required("b", Kind::Operand),
            required("a", Kind::Array),
            required("index", Kind::Integer),
        ],
        prepare: row,
        samples: || {
            vec![
                vec![samples::whole(&[3], 9), samples::whole(&[5, 3], 20), samples::integer(-1)],
                vec![samples::number(0.0), samples::hard(&[5, 3], 2.0), samples::integer(2)],
            ]
        },
        example: "(let ((a (la:zeros '(2 2)))) (setf (la:row a 1) #d(7 8)) a) => \
                  #d((0.0 0.0) (7.0 8.0))",
        ..ASSIGNED
    },
    Op {
        names: &["take-rows"],
        doc: "Writes into the rows at the given indices of the first axis; of repeated ones the \
              last value stays.",
        parameters: &[
            required("b", Kind::Operand),
            required("a", Kind::Array),
            required("indices", Kind::Index),
        ],
        prepare: take_rows,
        samples: || {
            let a = || samples::whole(&[5, 3], 20);
            vec![
                vec![samples::whole(&[2, 3], 9), a(), list_of(&[4, -5])],
                vec![samples::whole(&[3, 1], 9), a(), list_of(&[1, 1, 1])],
                vec![
                    samples::integer(1),
                    samples::counting(&[7], 5),
                    samples::counting(&[2, 2], 7),
                ],
                vec![samples::integer(1), a(), list_of(&[])],
            ]
        },
        example: "(let ((a (la:zeros 3))) (setf (la:take-rows a '(2 0)) #d(7 8)) a) => \
                  #d(8.0 0.0 7.0)",
        ..ASSIGNED
    },
    Op {
        names: &["compress"],
        doc: "Writes where a mask of as many elements is not zero: into the flattened array, or \
              into the slices along an axis.",
        parameters: &[
            required("b", Kind::Operand),
            required("mask", Kind::Array),
            required("a", Kind::Array),
            keyword("axis", Kind::Integer),
        ],
        writes: &[2],
        prepare: compress,
        samples: || {
            let axis = [samples::word("axis"), samples::integer(1)];
            let a = || samples::whole(&[5, 3], 20);
            vec![
                vec![samples::integer(1), samples::counting(&[5, 3], 2), a()],
                vec![samples::whole(&[7], 9), samples::counting(&[15], 2), a()],
                [vec![samples::whole(&[5, 1], 9), samples::counting(&[3], 2), a()], axis.into()]
                    .concat(),
            ]
        },
        example: "(let ((a (la:arange 4))) (setf (la:compress (la:greater a 1) a) 9) a) => \
                  #d(0.0 1.0 9.0 9.0)",
        ..ASSIGNED
    },
];

const ASSIGNED: Op = Op {
    result: "b; the array a is changed",
    rungs: Rungs::none("one copy of the elements that are given, in place"),
    writes: &[1],
    setf: true,
    assigned: Some(0),
    ..Op::BASE
};

/// The new elements at the type of the array and the shape of the selection.
fn elements_for(b: Operand, element_type: ElementType, selection: &Shape) -> Result<Array> {
    let b = match b {
        Operand::Array(b) if b.element_type() == element_type => b,
        Operand::Array(b) => b.convert(element_type)?,
        Operand::Number(n) => Array::full(element_type, Shape::scalar(), n)?,
    };
    b.broadcast_to(selection)
}

/// A write of `b` into the view of the array that `select` gives.
fn into_view(
    b: Operand,
    a: &Array,
    select: impl Fn(&Array) -> Result<Array> + 'static,
) -> Result<Prepared> {
    let source = elements_for(b, a.element_type(), select(a)?.shape())?;
    Ok(Prepared::Write(Box::new(move |a| {
        if source.size() == 0 {
            return Ok(());
        }
        if !a.is_contiguous() {
            *a = a.to_owned_copy()?;
        }
        let (offset, strides) = {
            let view = select(a)?;
            (view.offset() - a.offset(), Strides::from_slice(view.strides()))
        };
        with_element!(a.element_type(), T => {
            scatter::<T>(a.make_mut::<T>()?, offset, &strides, &source)
        })
    })))
}

/// out[offset + i . strides] = x[i], run by run along the last axis.
fn scatter<T: Element>(
    out: &mut [T],
    offset: usize,
    strides: &[isize],
    source: &Array,
) -> Result<()> {
    let x = source.view::<T>();
    let Some((&stride, outer)) = strides.split_last() else {
        out[offset] = x.at(0);
        return Ok(());
    };
    let last = outer.len();
    let (count, step) = (x.shape[last], x.strides[last]);
    let rows = Shape::new(x.shape[..last].iter().copied())?;
    let places = Offsets::new(&rows, outer, offset);
    for (from, to) in Offsets::new(&rows, &x.strides[..last], x.offset).zip(places) {
        if (step, stride) == (1, 1) {
            out[to..to + count].copy_from_slice(&x.data[from..from + count]);
            continue;
        }
        for i in 0..count as isize {
            let (to, from) = (to as isize + i * stride, from as isize + i * step);
            out[to as usize] = x.data[from as usize];
        }
    }
    Ok(())
}

fn slice(_: &'static Op, mut arguments: Arguments, _: &mut Context) -> Result<Prepared> {
    let (b, a) = (arguments.operand(0)?, arguments.array(1)?);
    let specs: Vec<SliceSpec> = arguments.slices(2)?;
    into_view(b, &a, move |a| a.slice(&specs))
}

fn row(_: &'static Op, mut arguments: Arguments, _: &mut Context) -> Result<Prepared> {
    let (b, a) = (arguments.operand(0)?, arguments.array(1)?);
    let index = row_index(&a, arguments.integer(2)?)?;
    into_view(b, &a, move |a| a.row(index))
}

/// A write into the slices (outer, positions, inner) of an array (outer, length, inner).
struct Slices {
    outer: usize,
    length: usize,
    inner: usize,
    positions: Vec<usize>,
}

impl Slices {
    fn write(self, source: Array) -> Prepared {
        Prepared::Write(Box::new(move |a| {
            with_element!(a.element_type(), T => {
                let mut elements = source.view::<T>().iter();
                let out = a.make_mut::<T>()?;
                for plane in 0..self.outer {
                    for position in &self.positions {
                        let at = (plane * self.length + position) * self.inner;
                        let cells = out[at..at + self.inner].iter_mut();
                        cells.zip(elements.by_ref()).for_each(|(cell, x)| *cell = x);
                    }
                }
            });
            Ok(())
        }))
    }
}

fn take_rows(_: &'static Op, mut arguments: Arguments, _: &mut Context) -> Result<Prepared> {
    let (b, a) = (arguments.operand(0)?, arguments.array(1)?);
    let (indices, form) = arguments.index(2)?;
    if a.rank() == 0 {
        return Err(Error::new(ErrorKind::Shape, "take-rows expects an array with an axis"));
    }
    let positions = positions(&indices, a.shape()[0], "take-rows")?;
    let selection = Shape::new(form.iter().chain(&a.shape()[1..]).copied())?;
    let source = elements_for(b, a.element_type(), &selection)?;
    let inner = a.shape()[1..].iter().product();
    Ok(Slices { outer: 1, length: a.shape()[0], inner, positions }.write(source))
}

fn compress(_: &'static Op, mut arguments: Arguments, _: &mut Context) -> Result<Prepared> {
    let (b, mask, a) = (arguments.operand(0)?, arguments.array(1)?, arguments.array(2)?);
    let axis = arguments.optional_integer(3)?.map(|axis| a.shape().axis(axis)).transpose()?;
    let length = axis.map_or(a.size(), |axis| a.shape()[axis]);
    if mask.size() != length {
        let (mask, a) = (mask.shape(), a.shape());
        let text = format!("compress mask must have {length} elements: {mask} for {a}");
        return Err(Error::new(ErrorKind::Shape, text));
    }
    let truth = mask.convert(ElementType::Bool)?;
    let places = truth.view::<rung_base::Bool>().iter().enumerate();
    let mut positions = memory::room(length, || format!("the positions of {length} elements"))?;
    positions.extend(places.filter(|(_, m)| m.get()).map(|(i, _)| i));
    let (outer, inner, selection) = match axis {
        None => (1, 1, Shape::vector(positions.len())),
        Some(axis) => {
            let mut extents = a.shape().to_vec();
            extents[axis] = positions.len();
            let (before, after) = (&a.shape()[..axis], &a.shape()[axis + 1..]);
            (before.iter().product(), after.iter().product(), Shape::new(extents)?)
        }
    };
    let source = elements_for(b, a.element_type(), &selection)?;
    Ok(Slices { outer, length, inner, positions }.write(source))
}
