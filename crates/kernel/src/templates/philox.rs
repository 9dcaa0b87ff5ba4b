//! philox: the counter-based generator of `rung_math::philox` -> out (n) packed; nothing goes up.
//!
//! Every element is a function of its place in the stream, so all rungs draw the same ones.

use super::{filled_in, groups_for};
use crate::cells::{self, Computed};
use crate::expression;
use crate::kernel::{Binding, Kernel, Launch, per_word, word};
use rung_base::{ElementType, Result};
use rung_math::philox::{Fill, MULTIPLIERS, ROUNDS, STEPS, State};
use rung_math::{Width, trace_normal};
use std::sync::Arc;

/// Buffers: out. Numbers are drawn at this width and rounded once to what is written.
pub fn kernel(fill: Fill, width: Width, writes: ElementType) -> Kernel {
    let computed = Computed::of(width);
    let (words, uniform) = match width {
        Width::F32 => (1, "f32(words[lane] >> 8u) * bitcast<f32>(0x33800000u)"),
        Width::F64 => (
            2,
            "double_of_whole(((u64(words[lane]) << 32u) | u64(words[lane + 1u])) >> 11u) \
             * bitcast<f64>(0x3ca0000000000000lu)",
        ),
    };
    let (name, value, graph) = match fill {
        Fill::Uniform => ("uniform", "uniform_number(u64(i))", None),
        Fill::Normal => ("normal", "normal_number(u64(i))", Some(trace_normal(width))),
    };
    let pair = graph.map_or(String::new(), |graph| {
        let real = computed.name();
        expression::function("pair", &graph, 2)
            + &format!(
                "fn normal_number(i: u64) -> {real} {{\n    let first = i & ~1lu;\n    \
                 let both = pair(uniform_number(first), uniform_number(first + 1lu));\n    \
                 return select(both[0], both[1], (i & 1lu) == 1lu);\n}}\n"
            )
    });
    let text = filled_in(
        include_str!("philox.wgsl"),
        &[
            ("rounds", &ROUNDS),
            ("step0", &STEPS[0]),
            ("step1", &STEPS[1]),
            ("multiplier0", &MULTIPLIERS[0]),
            ("multiplier1", &MULTIPLIERS[1]),
            ("real", &computed.name()),
            ("words", &words),
            ("uniform", &uniform),
            ("type", &cells::written_type(writes)),
            ("value", &value),
            ("written", &cells::written(writes, computed, "x")),
        ],
    );
    Kernel {
        key: format!("philox {name} {} to {writes}", computed.name()),
        text: pair + &text + &cells::main_over_elements(writes, 0),
        workgroup: [super::GROUP as u32, 1, 1],
        bindings: vec![Binding::write(writes)],
        parameter_words: 7,
    }
}

/// The first `count` elements of a fill that starts in `state` (`Fill::start`).
pub fn launch(kernel: &Arc<Kernel>, state: State, count: usize) -> Result<Launch> {
    let halves = |x: u64| [x as u32, (x >> 32) as u32];
    let mut parameters = vec![word(count)?];
    parameters.extend([state.key, state.stream, state.offset].into_iter().flat_map(halves));
    let words = count.div_ceil(per_word(kernel.bindings[0].element));
    Ok(Launch { kernel: kernel.clone(), parameters, groups: groups_for(words) })
}

#[cfg(test)]
pub(super) mod tests {
    use super::*;

    /// Both fills at both widths.
    pub(crate) fn all() -> Vec<Kernel> {
        let mut all = Vec::new();
        for width in [Width::F32, Width::F64] {
            for fill in [Fill::Uniform, Fill::Normal] {
                all.extend(ElementType::FLOATS.map(|writes| kernel(fill, width, writes)));
            }
        }
        all
    }
}
