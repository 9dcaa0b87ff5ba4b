//! windows: planes x (batch, channels, height, width) -> the elements that each window reads, what
//! lies outside as zero; the adjoint; and the largest element of each window with its position.
//!
//! Orders are those of `rung_math::windows`. Operands are read through strides.

use super::{filled_in, groups_for};
use crate::cells::{self, Computed};
use crate::expression;
use crate::kernel::{Binding, Kernel, Launch, per_word, signed_word, word};
use rung_base::{ElementType, Result};
use rung_math::windows::Windows;
use rung_math::{Maximum, Width, trace_binary};
use std::fmt::Write;
use std::sync::Arc;

/// The order in which the elements of windows are written.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Order {
    /// (batch, oy, ox, channels, ky, kx): the rows of a matrix.
    Rows,
    /// (batch, channels, oy, ox, ky, kx): those of a plane together.
    Planes,
}

/// Words before an operand's strides: count, extents and windows, offset.
const HEAD: usize = 15;

/// A name and the word of its extent, innermost first.
type Axes = [(&'static str, usize)];

/// The places of a packed array whose axes after the first are these; `rest` is left of the first.
fn decoded(axes: &Axes) -> String {
    let mut text = String::from("    var rest = i;\n");
    for (name, extent) in axes {
        let _ = writeln!(text, "    let {name} = rest % parameter({extent}u);");
        let _ = writeln!(text, "    rest = rest / parameter({extent}u);");
    }
    text
}

fn offset_of(places: &[&str]) -> String {
    let mut text = String::from("parameter(14u)");
    for (i, place) in places.iter().enumerate() {
        let _ = write!(text, " + {place} * parameter({}u)", HEAD + i);
    }
    text
}

fn element_wise(key: String, text: &str, reads: ElementType, strides: usize) -> Kernel {
    Kernel {
        key,
        text: include_str!("windows.wgsl").to_string()
            + text
            + &cells::main_over_elements(reads, 1),
        workgroup: [super::GROUP as u32, 1, 1],
        bindings: vec![Binding::read(reads), Binding::write(reads)],
        parameter_words: HEAD + strides,
    }
}

/// Buffers: x, out.
pub fn columns(element: ElementType, order: Order) -> Result<Kernel> {
    let computed = Computed::holding(element);
    let axes: &Axes = match order {
        Order::Rows => &[("kx", 7), ("ky", 6), ("c", 1), ("ox", 5), ("oy", 4)],
        Order::Planes => &[("kx", 7), ("ky", 6), ("ox", 5), ("oy", 4), ("c", 1)],
    };
    let at = offset_of(&["rest", "c", "row", "column"]);
    let value = cells::read(element, element, computed, "b0", &at)?;
    let text = filled_in(
        include_str!("windows_columns.wgsl"),
        &[
            ("type", &cells::written_type(element)),
            ("decoded", &decoded(axes)),
            ("value", &cells::written(element, computed, &value)),
        ],
    );
    Ok(element_wise(format!("windows {order:?} {element}"), &text, element, 4))
}

/// Buffers: column, out. Each element takes in those of the windows that read it, (oy, ox) ascending,
/// or their shares of a window's elements.
pub fn planes(element: ElementType, shares: bool) -> Result<Kernel> {
    let computed = Computed::holding(element);
    let stored = |x: &str| match element {
        ElementType::BF16 => format!("bitcast<f32>(narrowed_bf16({x}) << 16u)"),
        ElementType::F16 => format!("widened_f16(narrowed_f16({x}))"),
        _ => x.to_string(),
    };
    let at = offset_of(&["rest", "oy", "ox", "c", "ky", "kx"]);
    let read = cells::read(element, element, computed, "b0", &at)?;
    let real = computed.name();
    let term = match shares {
        true => stored(&format!("divide_{real}({read}, {real}(parameter(6u) * parameter(7u)))")),
        false => read,
    };
    let text = filled_in(
        include_str!("windows_planes.wgsl"),
        &[
            ("type", &cells::written_type(element)),
            ("real", &real),
            ("decoded", &decoded(&[("column", 3), ("row", 2), ("c", 1)])),
            ("term", &term),
            ("sum", &stored("sum + term")),
            ("value", &cells::written(element, computed, "sum")),
        ],
    );
    let name = if shares { "shares" } else { "planes" };
    Ok(element_wise(format!("windows {name} {element}"), &text, element, 6))
}

/// Buffers: x, values, positions.
pub fn largest(element: ElementType) -> Result<Kernel> {
    let computed = Computed::holding(element);
    let at = offset_of(&["rest", "c", "row", "column"]);
    let width = if computed == Computed::Double { Width::F64 } else { Width::F32 };
    let nan = |x: &str| match computed {
        Computed::Single => format!("((bitcast<u32>({x}) & 0x7fffffffu) > 0x7f800000u)"),
        _ => format!("((bitcast<u64>({x}) & 0x7ffffffffffffffflu) > 0x7ff0000000000000lu)"),
    };
    let value = cells::written(element, computed, "best");
    let text = filled_in(
        include_str!("windows_largest.wgsl"),
        &[
            ("group", &super::GROUP),
            ("real", &computed.name()),
            ("decoded", &decoded(&[("ox", 5), ("oy", 4), ("c", 1)])),
            ("x", &cells::read(element, element, computed, "b0", &at)?),
            ("nan_x", &nan("x")),
            ("nan_best", &nan("best")),
            ("store", &cells::stored_single(element, "b1", "i", &value)),
        ],
    );
    let definition = expression::function("larger", &trace_binary::<Maximum>(width), 2);
    Ok(Kernel {
        key: format!("windows largest {element}"),
        text: definition + include_str!("windows.wgsl") + &text,
        workgroup: [super::GROUP as u32, 1, 1],
        bindings: vec![
            Binding::read(element),
            Binding::write_single(element),
            Binding::write(ElementType::I64),
        ],
        parameter_words: HEAD + 4,
    })
}

/// Over `count` elements of the result; an operand that begins at `offset` is read through strides.
pub fn launch(
    kernel: &Arc<Kernel>,
    windows: &Windows,
    count: usize,
    offset: usize,
    strides: &[isize],
) -> Result<Launch> {
    let (down, across) = (windows.down, windows.across);
    let mut parameters = Vec::with_capacity(HEAD + strides.len());
    let pairs = [
        [count, windows.channels],
        [down.extent, across.extent],
        [down.count, across.count],
        [down.taps, across.taps],
        [down.stride, across.stride],
        [down.pad, across.pad],
        [down.dilation, across.dilation],
    ];
    for number in pairs.into_iter().flatten().chain([offset]) {
        parameters.push(word(number)?);
    }
    for &stride in strides {
        parameters.push(signed_word(stride)?);
    }
    // The largest are written one by one.
    let each = match kernel.bindings.len() {
        2 => per_word(kernel.bindings[1].element),
        _ => 1,
    };
    Ok(Launch { kernel: kernel.clone(), parameters, groups: groups_for(count.div_ceil(each)) })
}

#[cfg(test)]
pub(super) mod tests {
    use super::*;

    /// Of every float type.
    pub(crate) fn all() -> Vec<Kernel> {
        let of = |element| {
            [
                columns(element, Order::Rows),
                columns(element, Order::Planes),
                planes(element, false),
                planes(element, true),
                largest(element),
            ]
        };
        ElementType::FLOATS.into_iter().flat_map(of).map(|kernel| kernel.unwrap()).collect()
    }
}
