//! fill: the seeded generator of `rung_math::random` -> out (n) packed; nothing goes up.
//!
//! Every invocation jumps to its first element in closed form (exponents modulo m - 1, products
//! below 2^30), so all rungs draw one stream. The quotients need a device with doubles.

use super::{GROUP, double_words, filled_in, groups_for};
use crate::kernel::{Binding, Kernel, Launch, wgsl_type, word};
use rung_base::{ElementType, Result};
use rung_math::random::{DRAWS_OF_NORMAL, Fill, GENERATORS, State};
use std::sync::Arc;

/// Buffers: out. `element` is f32 or f64; the values in `fill` do not matter, only its kind.
pub fn kernel(fill: Fill, element: ElementType) -> Result<Kernel> {
    let real = wgsl_type(element)?;
    let (name, value) = match fill {
        Fill::Rand => ("rand", "draw()"),
        Fill::Randn => ("randn", "normal()"),
        Fill::Uniform { .. } => ("uniform", "first + second * draw()"),
        Fill::Dropout { .. } => ("dropout", "select(second, 0.0lf, draw() < first)"),
    };
    let [(a0, m0), (a1, m1), (a2, m2)] = GENERATORS;
    let text = filled_in(
        include_str!("fill.wgsl"),
        &[
            ("real", &real),
            ("value", &value),
            ("group", &GROUP),
            ("draws", &fill.draws()),
            ("normal", &DRAWS_OF_NORMAL),
            ("a0", &a0),
            ("m0", &m0),
            ("a1", &a1),
            ("m1", &m1),
            ("a2", &a2),
            ("m2", &m2),
        ],
    );
    Ok(Kernel {
        key: format!("fill {name} {element}"),
        text,
        workgroup: [GROUP as u32, 1, 1],
        bindings: vec![Binding::write(element)],
        parameter_words: 8,
    })
}

/// The first `count` elements of a fill that starts from `state`.
pub fn launch(kernel: &Arc<Kernel>, fill: Fill, state: State, count: usize) -> Result<Launch> {
    let (first, second) = match fill {
        Fill::Uniform { low, span } => (low, span),
        Fill::Dropout { rate, kept } => (rate, kept),
        Fill::Rand | Fill::Randn => (0.0, 1.0),
    };
    let mut parameters = vec![word(count)?];
    parameters.extend(state.0);
    parameters.extend(double_words(first));
    parameters.extend(double_words(second));
    Ok(Launch { kernel: kernel.clone(), parameters, groups: groups_for(count) })
}

#[cfg(test)]
pub(super) mod tests {
    use super::*;

    /// Every fill at both widths.
    pub(crate) fn all() -> Vec<Kernel> {
        let fills = [
            Fill::Rand,
            Fill::Randn,
            Fill::Uniform { low: 0.0, span: 1.0 },
            Fill::Dropout { rate: 0.5, kept: 2.0 },
        ];
        let widths = [ElementType::F32, ElementType::F64];
        let of = |fill| widths.map(|element| kernel(fill, element).unwrap());
        fills.into_iter().flat_map(of).collect()
    }
}
