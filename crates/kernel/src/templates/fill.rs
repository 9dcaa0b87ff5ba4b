//! fill: the seeded generator of `rung_math::random` -> out (n) packed; nothing goes up.
//!
//! Every invocation jumps to its first element in closed form (exponents modulo m - 1, products
//! below 2^30), so all rungs draw one stream. The quotients need a device with doubles.

use super::{GROUP, double_words, groups_for};
use crate::kernel::{Binding, Kernel, Launch, wgsl_type, word};
use rung_base::{ElementType, Result};
use rung_math::random::{DRAWS_OF_NORMAL, Fill, GENERATORS, State};
use std::fmt::Write;
use std::sync::Arc;

/// Buffers: out. `element` is f32 or f64; the values in `fill` do not matter, only its kind.
pub fn kernel(fill: Fill, element: ElementType) -> Result<Kernel> {
    let t = wgsl_type(element)?;
    let (name, value) = match fill {
        Fill::Rand => ("rand", "draw()"),
        Fill::Randn => ("randn", "normal()"),
        Fill::Uniform { .. } => ("uniform", "low + (high - low) * draw()"),
    };
    let (mut jump, mut step) = (String::new(), String::new());
    for (i, (multiplier, modulus)) in GENERATORS.into_iter().enumerate() {
        let _ = writeln!(
            jump,
            "        s{i} = parameter({}u) * power({multiplier}u, \
             (i % {order}u * {draws}u) % {order}u, {modulus}u) % {modulus}u;",
            i + 1,
            order = modulus - 1,
            draws = fill.draws(),
        );
        let _ = writeln!(step, "    s{i} = s{i} * {multiplier}u % {modulus}u;");
    }
    let [(_, m0), (_, m1), (_, m2)] = GENERATORS;
    let text = format!(
        "var<private> s0: u32;
var<private> s1: u32;
var<private> s2: u32;
fn power(base: u32, exponent: u32, modulus: u32) -> u32 {{
    var result = 1u;
    var square = base;
    for (var rest = exponent; rest > 0u; rest = rest >> 1u) {{
        if ((rest & 1u) == 1u) {{ result = result * square % modulus; }}
        square = square * square % modulus;
    }}
    return result;
}}
fn draw() -> f64 {{
{step}    let u = (divide_f64(f64(s0), {m0}.0lf) + divide_f64(f64(s1), {m1}.0lf))
        + divide_f64(f64(s2), {m2}.0lf);
    if (u >= 2.0lf) {{ return u - 2.0lf; }}
    if (u >= 1.0lf) {{ return u - 1.0lf; }}
    return u;
}}
fn normal() -> f64 {{
    var total = draw();
    for (var i = 1u; i < {DRAWS_OF_NORMAL}u; i = i + 1u) {{ total = total + draw(); }}
    return total - 6.0lf;
}}
fn double(at: u32) -> f64 {{
    return bitcast<f64>(u64(parameter(at)) | (u64(parameter(at + 1u)) << 32u));
}}
@compute @workgroup_size({GROUP})
fn main(@builtin(global_invocation_id) id: vec3<u32>, @builtin(num_workgroups) groups: vec3<u32>) {{
    let count = parameter(0u);
    let low = double(4u);
    let high = double(6u);
    let step = groups.x * {GROUP}u;
    for (var i = id.x; i < count; i = i + step) {{
{jump}        b0[i] = {t}({value});
    }}
}}
"
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
    let (low, high) = match fill {
        Fill::Uniform { low, high } => (low, high),
        Fill::Rand | Fill::Randn => (0.0, 1.0),
    };
    let mut parameters = vec![word(count)?];
    parameters.extend(state.0);
    parameters.extend(double_words(low));
    parameters.extend(double_words(high));
    Ok(Launch { kernel: kernel.clone(), parameters, groups: groups_for(count) })
}
