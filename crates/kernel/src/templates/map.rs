//! map: x (n) packed -> out (n) packed, a function of one number at every element.
//!
//! Groups walk the array with a stride of the whole grid, so that no length needs more than 65,535
//! groups. Views with strides go through `broadcast`, which takes one operand as well.

use super::{GROUP, filled_in, groups_for};
use crate::expression;
use crate::kernel::{Binding, Kernel, Launch, word};
use rung_base::{ElementType, Result};
use rung_math::{Graph, Width};
use std::sync::Arc;

/// Buffers: x, out. `name` is unique among definitions.
pub fn kernel(name: &str, graph: &Graph) -> Kernel {
    let element = element_of(graph.width);
    let definition = expression::function("definition", graph, 1);
    let text = filled_in(include_str!("map.wgsl"), &[("group", &GROUP)]);
    let text = definition + &text;
    Kernel {
        key: format!("map {name} {element}"),
        text,
        workgroup: [GROUP as u32, 1, 1],
        bindings: vec![Binding::read(element), Binding::write(element)],
        parameter_words: 1,
    }
}

/// Over `count` elements.
pub fn launch(kernel: &Arc<Kernel>, count: usize) -> Result<Launch> {
    let parameters = vec![word(count)?];
    Ok(Launch { kernel: kernel.clone(), parameters, groups: groups_for(count) })
}

/// The element type computed at this width.
pub(crate) fn element_of(width: Width) -> ElementType {
    match width {
        Width::F32 => ElementType::F32,
        Width::F64 => ElementType::F64,
    }
}

#[cfg(test)]
pub(super) mod tests {
    use super::*;
    use rung_math::*;

    macro_rules! both {
        ($($definition:ident)*) => {
            vec![$(
                kernel(stringify!($definition), &trace_unary::<$definition>(Width::F32)),
                kernel(stringify!($definition), &trace_unary::<$definition>(Width::F64)),
            )*]
        };
    }

    /// The longest definitions and the shortest, at both widths.
    pub(crate) fn all() -> Vec<Kernel> {
        both!(Abs Negative Sign Relu Square Reciprocal Sqrt Exp Log Tanh Sin Cos Tan Erf Asin Acos
              Atan Sinh Cosh Expm1 Exp2 Log1p Asinh Cbrt Erfc Softplus RoundEven Trunc)
    }
}
