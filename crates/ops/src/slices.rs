//! Operations that treat every slice along one axis alike: the plain loop over slices, and how
//! their arguments give the axis.

use crate::arguments::Arguments;
use crate::call::{Call, Detail, elements};
use crate::explain::reshaped;
use rung_array::Array;
use rung_base::{Element, Error, ErrorKind, Result, Shape, memory};
use rung_lanes::sort::Slices;

/// An operand in row-major order and the axis whose slices are meant; without an axis the
/// operand is flattened.
pub(crate) fn along(a: Array, axis: Option<i64>) -> Result<(Array, usize)> {
    match axis {
        Some(axis) => {
            let axis = a.shape().axis(axis)?;
            Ok((a, axis))
        }
        None => {
            let size = a.size();
            Ok((reshaped(&a, Shape::vector(size))?, 0))
        }
    }
}

/// The axis of an argument whose default is the last axis and whose nil means all elements.
pub(crate) fn last_by_default(arguments: &mut Arguments, at: usize) -> Result<Option<i64>> {
    match arguments.is_written(at) {
        true => arguments.optional_integer(at),
        false => Ok(Some(-1)),
    }
}

/// The shape with another extent along an axis.
pub(crate) fn with_extent(shape: &Shape, axis: usize, extent: usize) -> Result<Shape> {
    let extents = shape.iter().enumerate().map(|(i, &n)| if i == axis { extent } else { n });
    Shape::new(extents)
}

/// The axis of a call along slices, and whether the largest come first.
pub(crate) fn axis_of(call: &Call) -> Result<(usize, bool)> {
    match call.detail {
        Detail::Slices { axis, descending } => Ok((axis, descending)),
        _ => Err(Error::new(ErrorKind::Internal, "slices without an axis")),
    }
}

/// The first operand's slices as the lanes see them.
pub(crate) fn lanes_slices(call: &Call) -> Result<Slices> {
    Ok(Slices::along(call.operands[0].shape(), axis_of(call)?.0))
}

/// The definition's loop: `f` reads each slice of x along `axis` and writes one of the result.
pub(crate) fn each_slice<T: Element, U: Element>(
    x: &Array,
    axis: usize,
    shape: &Shape,
    f: impl Fn(&[T], &mut [U]),
) -> Result<Array> {
    if shape.size() == 0 {
        return Array::zeros(U::TYPE, shape.clone());
    }
    let values = elements::<T>(x)?;
    let Slices { outer, length, inner } = Slices::along(x.shape(), axis);
    let cells = shape[axis];
    let wanted = || format!("a slice of {length} elements");
    let mut slice = memory::filled(length, T::default(), wanted)?;
    let mut result = memory::filled(cells, U::default(), wanted)?;
    Array::build::<U>(shape.clone(), |out| {
        for (plane, column) in (0..outer).flat_map(|p| (0..inner).map(move |c| (p, c))) {
            for (i, x) in slice.iter_mut().enumerate() {
                *x = values[(plane * length + i) * inner + column];
            }
            f(&slice, &mut result);
            for (i, x) in result.iter().enumerate() {
                out[(plane * cells + i) * inner + column] = *x;
            }
        }
    })
}
