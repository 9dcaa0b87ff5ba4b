//! broadcast: one to three operands read at the shape of the result through strides and an offset,
//! out packed. Masks are written as 1 and 0 at the operands' width.
//!
//! A stride of zero is a broadcast axis, a negative one a reversed axis; adjacent axes that every
//! operand walks as one are merged before the launch, so most calls have rank 1 or 2.

use super::map::element_of;
use super::{GROUP, filled_in, groups_for};
use crate::expression::{self, real_name};
use crate::kernel::{Binding, Kernel, Launch, signed_word, word};
use rung_base::{Error, ErrorKind, Result};
use rung_math::{Graph, Kind};
use std::fmt::Write;
use std::sync::Arc;

/// Axes that a kernel can walk, after merging.
pub const MAX_RANK: usize = 8;
/// Words of the count, the rank and the extents.
const SHAPE_WORDS: usize = 2 + MAX_RANK;
/// Words of an operand: offset and strides.
const OPERAND_WORDS: usize = 1 + MAX_RANK;

/// How an operand is read: element `offset` first, then `strides`, one an axis of the result.
#[derive(Clone, Copy, Debug)]
pub struct View<'a> {
    /// The element that index zero reads.
    pub offset: usize,
    /// Elements to step along each axis of the result.
    pub strides: &'a [isize],
}

/// Buffers: the `arity` operands, out. `name` is unique among definitions.
pub fn kernel(name: &str, graph: &Graph, arity: usize) -> Kernel {
    let element = element_of(graph.width);
    let real = real_name(graph.width);
    let (mut start, mut walk, mut values) = (String::new(), String::new(), String::new());
    for i in 0..arity {
        let base = SHAPE_WORDS + i * OPERAND_WORDS;
        let _ = writeln!(start, "        var at{i} = parameter({base}u);");
        // Offsets are added modulo 2^32, so a negative stride needs no signed arithmetic.
        let _ =
            writeln!(walk, "            at{i} = at{i} + along * parameter({}u + axis);", base + 1);
        let _ = write!(values, "{}b{i}[at{i}]", if i > 0 { ", " } else { "" });
    }
    let value = match graph.kind(graph.result()) {
        Kind::Mask => format!("{real}(select(0.0, 1.0, definition({values})))"),
        _ => format!("definition({values})"),
    };
    let out = format!("b{arity}");
    let text = filled_in(
        include_str!("broadcast.wgsl"),
        &[("group", &GROUP), ("start", &start), ("walk", &walk), ("value", &value), ("out", &out)],
    );
    let text = expression::function("definition", graph, arity) + &text;
    let mut bindings = vec![Binding::read(element); arity];
    bindings.push(Binding::write(element));
    Kernel {
        key: format!("broadcast {name} {element}"),
        text,
        workgroup: [GROUP as u32, 1, 1],
        bindings,
        parameter_words: SHAPE_WORDS + arity * OPERAND_WORDS,
    }
}

/// At the result's `shape`, operands in the kernel's order.
pub fn launch(kernel: &Arc<Kernel>, shape: &[usize], operands: &[View]) -> Result<Launch> {
    let count = shape.iter().try_fold(1usize, |n, &d| n.checked_mul(d)).unwrap_or(usize::MAX);
    let (extents, strides) = merged(shape, operands);
    if extents.len() > MAX_RANK {
        return Err(Error::new(ErrorKind::Declined, format!("more than {MAX_RANK} axes")));
    }
    let mut parameters = vec![word(count)?, extents.len() as u32];
    for axis in 0..MAX_RANK {
        parameters.push(word(extents.get(axis).copied().unwrap_or(1))?);
    }
    for (operand, strides) in operands.iter().zip(&strides) {
        parameters.push(word(operand.offset)?);
        for axis in 0..MAX_RANK {
            parameters.push(signed_word(strides.get(axis).copied().unwrap_or(0))?);
        }
    }
    Ok(Launch { kernel: kernel.clone(), parameters, groups: groups_for(count) })
}

/// The shape without axes of extent 1 and with each axis merged into the one before it where every
/// operand walks the two as one; and the operands' strides over what is left.
pub(super) fn merged(shape: &[usize], operands: &[View]) -> (Vec<usize>, Vec<Vec<isize>>) {
    let mut extents: Vec<usize> = Vec::new();
    let mut strides = vec![Vec::new(); operands.len()];
    for (axis, &extent) in shape.iter().enumerate().filter(|(_, extent)| **extent != 1) {
        let inner = |o: &View| o.strides[axis];
        let joins = !extents.is_empty()
            && operands.iter().zip(&strides).all(|(o, outer): (&View, &Vec<isize>)| {
                outer.last().copied() == inner(o).checked_mul(extent as isize)
            });
        if let Some(last) = extents.last_mut().filter(|_| joins) {
            *last *= extent;
            for (o, outer) in operands.iter().zip(&mut strides) {
                outer.pop();
                outer.push(inner(o));
            }
        } else {
            extents.push(extent);
            for (o, outer) in operands.iter().zip(&mut strides) {
                outer.push(inner(o));
            }
        }
    }
    (extents, strides)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn axes_walked_as_one_are_merged() {
        let view = |strides| View { offset: 0, strides };
        let packed = merged(&[2, 1, 3, 4], &[view(&[12, 12, 4, 1]), view(&[12, 0, 4, 1])]);
        assert_eq!(packed, (vec![24], vec![vec![1], vec![1]]));
        let column = merged(&[2, 3, 4], &[view(&[12, 4, 1]), view(&[3, 1, 0])]);
        assert_eq!(column, (vec![6, 4], vec![vec![4, 1], vec![1, 0]]));
        let number = merged(&[2, 3], &[view(&[3, 1]), view(&[0, 0])]);
        assert_eq!(number, (vec![6], vec![vec![1], vec![0]]));
    }
}
