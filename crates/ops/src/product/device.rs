//! Products on a device: tiles for stacks of matrices, a fold for each cell of a product with a
//! vector.

use super::{detail, last_two};
use crate::call::{Call, Form, Product, width_of};
use crate::decline::{Answer, Decline};
use crate::round_trip::RoundTrip;
use rung_array::Array;
use rung_base::{Element, ElementType, Result, Shape};
use rung_kernel::{Kernel, broadcast, product as kernel, rows};
use rung_math::rows::Cell;
use rung_math::trace::trace_rows;
use std::sync::Arc;

/// a (batch, rows, inner), b (batch, inner, columns), out (batch, rows, columns); a broadcast
/// operand goes up once.
pub(super) fn run(call: &Call, trip: &RoundTrip) -> Result<Answer> {
    let p = detail(call)?;
    if p.form == Form::Folds {
        return device_folds(call, trip, p);
    }
    let element = call.operands[0].element_type();
    if element == ElementType::I64 {
        return Ok(Answer::Declined(Decline::Type(element)));
    }
    let kernel = trip.kernel(call, "product", || kernel::kernel(element))?;
    match element {
        ElementType::F32 => device_stack::<f32>(call, trip, p, &kernel),
        _ => device_stack::<f64>(call, trip, p, &kernel),
    }
}

/// a (..., rows, inner), b (..., inner, columns), out (..., rows, columns), of which a vector's axis
/// is dropped: each cell a fold, narrowed by the kernel.
fn device_folds(call: &Call, trip: &RoundTrip, p: Product) -> Result<Answer> {
    let (a, b) = (&call.operands[0], &call.operands[1]);
    let other = [a, b].map(Array::element_type).into_iter().find(|t| *t != call.result);
    if let Some(t) = other {
        return Ok(Answer::Declined(Decline::Type(t)));
    }
    let kernel = trip.kernel(call, "rows", || {
        Ok(rows::kernel(call.op.name(), &trace_rows::<Cell, 2>(width_of(call), 0)))
    })?;
    let placed = [trip.place(a), trip.place(b)];
    let (left, right) = (a.strides(), b.strides());
    let stack = left.len() - 2;
    // Over (..., rows, columns, inner).
    let left = [&left[..stack], &[left[stack], 0, left[stack + 1]]].concat();
    let right = [&right[..stack], &[0, right[stack + 1], right[stack]]].concat();
    let shape = [&a.shape()[..stack], &[p.rows, p.columns, p.inner]].concat();
    let view = |i: usize, strides| broadcast::View { offset: placed[i].offset(), strides };
    let operands = [view(0, &left[..]), view(1, &right[..])];
    let slices = rows::Slices { shape: &shape, axis: stack + 2, operands: &operands, one: true };
    let launch = rows::launch(&kernel, &slices, &[]);
    match call.result {
        ElementType::F32 => trip.run::<f32>(launch, &placed, call.shape.clone()),
        ElementType::F64 => trip.run::<f64>(launch, &placed, call.shape.clone()),
        other => Ok(Answer::Declined(Decline::Type(other))),
    }
}

fn device_stack<T: Element>(
    call: &Call,
    trip: &RoundTrip,
    p: Product,
    kernel: &Arc<Kernel>,
) -> Result<Answer> {
    // A device steps through a stack evenly: one that no single stride reaches is packed for it.
    let even = |x: &Array| {
        let (rows, columns) = last_two(x);
        x.reshape(Shape::new([p.batch, rows, columns])?)
    };
    let operands = [even(&call.operands[0])?, even(&call.operands[1])?];
    let placed = [trip.place(&operands[0]), trip.place(&operands[1])];
    let matrix = |i: usize| {
        let s = operands[i].strides();
        kernel::Matrix { offset: placed[i].offset(), batch: s[0], row: s[1], column: s[2] }
    };
    let extents = kernel::Extents { batch: p.batch, m: p.rows, k: p.inner, n: p.columns };
    let launch = kernel::launch(kernel, &extents, &matrix(0), &matrix(1));
    trip.run::<T>(launch, &placed, call.shape.clone())
}
