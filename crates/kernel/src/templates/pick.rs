//! pick: elements at positions of an axis -> out packed; and rows that take rows of a source in, each
//! in the order in which the source has them, so that no two invocations add to one cell.
//!
//! Positions were checked by the caller and lie in buffers of i32.

use super::groups_for;
use crate::cells::{self, Computed};
use crate::kernel::{Binding, Kernel, Launch, per_word, signed_word, word};
use rung_base::{ElementType, Result};
use std::sync::Arc;

/// An operand of which elements are picked: result cell (o, p, c) is element
/// `offset + o*outer + p*along + positions[p]*step + c`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Picked {
    /// The first element.
    pub offset: usize,
    /// Cells before the positions.
    pub outer: usize,
    /// How many positions there are.
    pub positions: usize,
    /// Cells after the positions.
    pub inner: usize,
    /// Elements from one outer cell to the next.
    pub outer_stride: isize,
    /// Elements from one position's cells to the next one's, whatever they hold.
    pub along: isize,
    /// Elements from one element of the axis to the next.
    pub step: isize,
}

/// Buffers: x, positions, out.
pub fn kernel(element: ElementType) -> Result<Kernel> {
    let computed = Computed::holding(element);
    let value = cells::read(element, element, computed, "b0", "at")?;
    let value = cells::written(element, computed, &value);
    let text = super::filled_in(
        include_str!("pick.wgsl"),
        &[("type", &cells::written_type(element)), ("value", &value)],
    );
    Ok(Kernel {
        key: format!("pick {element}"),
        text: text + &cells::main_over_elements(element, 2),
        workgroup: [super::GROUP as u32, 1, 1],
        bindings: vec![
            Binding::read(element),
            Binding::read(ElementType::I32),
            Binding::write(element),
        ],
        parameter_words: 7,
    })
}

/// Over every cell of the result.
pub fn launch(kernel: &Arc<Kernel>, p: &Picked) -> Result<Launch> {
    let cells = p.outer.saturating_mul(p.positions).saturating_mul(p.inner);
    let parameters = vec![
        word(cells)?,
        word(p.positions)?,
        word(p.inner)?,
        word(p.offset)?,
        signed_word(p.outer_stride)?,
        signed_word(p.along)?,
        signed_word(p.step)?,
    ];
    let words = cells.div_ceil(per_word(kernel.bindings[2].element));
    Ok(Launch { kernel: kernel.clone(), parameters, groups: groups_for(words) })
}

/// Buffers: x (rows, width) where something is added to, source (sources, width), where each row's
/// sources begin among the ordered ones (rows + 1), the sources in order of their rows, out (rows,
/// width). One rounding a step at the element's own width; integers wrap. Without x the sum of a row's
/// sources begins with 0.
pub fn adding_kernel(element: ElementType, onto: bool) -> Result<Kernel> {
    let first = usize::from(onto);
    let computed = Computed::holding(element);
    let part = |buffer, at| cells::read(element, element, computed, buffer, at);
    // As an element and back: the sum as it is stored.
    let sum = match element {
        ElementType::BF16 => "bitcast<f32>(narrowed_bf16(sum + more) << 16u)",
        ElementType::F16 => "widened_f16(narrowed_f16(sum + more))",
        ElementType::Bool => "(sum ^ more)",
        _ => "(sum + more)",
    };
    let own = match onto {
        true => part("b0", "parameter(2u) + i")?,
        false => format!("{}(0)", computed.name()),
    };
    let (starts, order) = (format!("b{}", first + 1), format!("b{}", first + 2));
    let place = format!("parameter(3u) + u32({order}[k]) * width + column");
    let text = super::filled_in(
        include_str!("pick_add.wgsl"),
        &[
            ("type", &cells::written_type(element)),
            ("own", &own),
            ("starts", &starts),
            ("more", &part(&format!("b{first}"), &place)?),
            ("sum", &sum),
            ("value", &cells::written(element, computed, "sum")),
        ],
    );
    let positions = || Binding::read(ElementType::I32);
    let mut bindings = vec![Binding::read(element); 1 + first];
    bindings.extend([positions(), positions(), Binding::write(element)]);
    Ok(Kernel {
        key: format!("pick {} {element}", if onto { "add" } else { "sum" }),
        text: text + &cells::main_over_elements(element, 3 + first),
        workgroup: [super::GROUP as u32, 1, 1],
        bindings,
        parameter_words: 4,
    })
}

/// Over packed arrays that begin at these places.
pub fn adding(
    kernel: &Arc<Kernel>,
    cells: usize,
    width: usize,
    offsets: [usize; 2],
) -> Result<Launch> {
    let [own, source] = offsets;
    let parameters = vec![word(cells)?, word(width)?, word(own)?, word(source)?];
    let out = kernel.bindings[kernel.bindings.len() - 1].element;
    let words = cells.div_ceil(per_word(out));
    Ok(Launch { kernel: kernel.clone(), parameters, groups: groups_for(words) })
}

#[cfg(test)]
pub(super) mod tests {
    use super::*;

    /// Of every element type.
    pub(crate) fn all() -> Vec<Kernel> {
        let of = |element| {
            let adding = |onto| adding_kernel(element, onto).unwrap();
            [kernel(element).unwrap(), adding(true), adding(false)]
        };
        ElementType::ALL.into_iter().flat_map(of).collect()
    }
}
