//! What has no exact result, or no form in PTX that gives it, is an error with its name.

use super::{of, whole};
use rung_kernel::{Variants, compile_ptx};

#[track_caller]
fn refused(declarations: &str, body: &str, message: &str) {
    let kernel = of(&whole(32, declarations, body));
    let error = compile_ptx(&kernel, &Variants::default()).expect_err(body);
    assert!(
        error.message().starts_with(&format!("kernel test: {message}")),
        "{body}: {}",
        error.message()
    );
}

/// Definitions of these stand in `rung-math`.
#[test]
fn functions_of_floats_without_an_exact_result() {
    for (name, call) in [
        ("Exp", "exp(x)"),
        ("Exp2", "exp2(x)"),
        ("Log", "log(x)"),
        ("Log2", "log2(x)"),
        ("Sin", "sin(x)"),
        ("Cos", "cos(x)"),
        ("Tan", "tan(x)"),
        ("Asin", "asin(x)"),
        ("Tanh", "tanh(x)"),
        ("Atan2", "atan2(x, x)"),
        ("Pow", "pow(x, x)"),
        ("InverseSqrt", "inverseSqrt(x)"),
        ("Min", "min(x, x)"),
        ("Max", "max(x, x)"),
        ("Clamp", "clamp(x, x, x)"),
        ("Saturate", "saturate(x)"),
        ("Floor", "floor(x)"),
        ("Ceil", "ceil(x)"),
        ("Round", "round(x)"),
        ("Trunc", "trunc(x)"),
        ("Fract", "fract(x)"),
        ("Sign", "sign(x)"),
        ("Mix", "mix(x, x, x)"),
        ("Step", "step(x, x)"),
        ("SmoothStep", "smoothstep(x, x, x)"),
        ("Radians", "radians(x)"),
        ("Degrees", "degrees(x)"),
        ("Length", "length(vec2(x))"),
        ("Distance", "distance(vec2(x), vec2(x))"),
        ("Dot", "dot(vec2(x), vec2(x))"),
        ("Normalize", "normalize(vec2(x)).x"),
        ("Cross", "cross(vec3(x), vec3(x)).x"),
        ("Ldexp", "ldexp(x, 2)"),
        ("Modf", "modf(x).fract"),
        ("Frexp", "frexp(x).fract"),
    ] {
        let message =
            format!("lint: built-in {name} at f32 has no exact result; write its definition");
        refused("", &format!("let x = f32(i); out[i] = u32({call});"), &message);
    }
    let half = "let x = f16(i); out[i] = u32(floor(x));";
    refused("", half, "lint: built-in Floor at f16 has no exact result");
    let double = "let x = f64(i); out[i] = u32(max(x, x));";
    refused("", double, "lint: built-in Max at f64 has no exact result");
}

#[test]
fn remainders_of_floats_and_arithmetic_of_matrices() {
    refused("", "out[i] = u32(f32(i) % 2.0);", "PTX: no Modulo of floats");
    let m = "var<private> m: mat2x2<f32>; var<private> v: vec2<f32>;";
    let matrices = "PTX: no arithmetic of matrices";
    for statement in
        ["m = m + m", "m = m * 2.0", "m = 2.0 * m", "v = m * v", "v = v * m", "m = m * m"]
    {
        refused(m, &format!("{statement};"), matrices);
    }
}

#[test]
fn functions_of_packed_words() {
    for (name, call) in
        [("Pack4xI8", "pack4xI8(vec4<i32>(i32(i)))"), ("Unpack4xU8", "unpack4xU8(i).x")]
    {
        refused(
            "",
            &format!("out[i] = u32({call});"),
            &format!("PTX: no built-in {name} of integers"),
        );
    }
}

/// naga takes no pointers into shared memory and buffers as arguments.
#[test]
fn pointers_into_shared_memory_as_arguments() {
    let f = "var<workgroup> tile: array<u32, 2>; fn first(p: ptr<workgroup, u32>) -> u32 { return *p; }";
    refused(f, "out[i] = first(&tile[0]);", "validate: error: Function [1] 'first' is invalid");
    let f = "fn first(p: ptr<storage, u32, read_write>) -> u32 { return *p; }";
    refused(f, "out[i] = first(&out[1]);", "validate: error: Function [1] 'first' is invalid");
}

/// No order of sums of floats that run at the same time is the definition's.
#[test]
fn atomic_floats() {
    let b = "@group(0) @binding(1) var<storage, read_write> b: array<atomic<f32>>;";
    refused(b, "atomicAdd(&b[0], 1.0);", "validate: error");
}

#[test]
fn least_and_most_of_floats_in_a_subgroup() {
    refused("", "out[i] = u32(subgroupMin(f32(i)));", "PTX: no exact Min of floats");
    refused("", "out[i] = u32(subgroupMax(f64(i)));", "PTX: no exact Max of floats");
}

#[test]
fn memory_and_values_that_no_kernel_has() {
    let texture = "@group(0) @binding(1) var t: texture_2d<f32>;";
    refused(
        texture,
        "out[i] = u32(textureLoad(t, vec2<u32>(0u), 0).x);",
        "PTX: no variables in Handle",
    );
    let huge = "out[i] = array<u32, 70000>()[i];";
    refused("", huge, "PTX: an array of more than 65,536 numbers as a value");
}
