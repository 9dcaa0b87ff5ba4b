var<private> s0: u32;
var<private> s1: u32;
var<private> s2: u32;

// base^exponent modulo modulus; all products stay below 2^30.
fn power(base: u32, exponent: u32, modulus: u32) -> u32 {
    var result = 1u;
    var square = base;
    for (var rest = exponent; rest > 0u; rest = rest >> 1u) {
        if ((rest & 1u) == 1u) { result = result * square % modulus; }
        square = square * square % modulus;
    }
    return result;
}

fn draw() -> f64 {
    s0 = s0 * ${a0}u % ${m0}u;
    s1 = s1 * ${a1}u % ${m1}u;
    s2 = s2 * ${a2}u % ${m2}u;
    let first = divide_f64(f64(s0), ${m0}.0lf) + divide_f64(f64(s1), ${m1}.0lf);
    let u = first + divide_f64(f64(s2), ${m2}.0lf);
    if (u >= 2.0lf) { return u - 2.0lf; }
    if (u >= 1.0lf) { return u - 1.0lf; }
    return u;
}

fn normal() -> f64 {
    var total = draw();
    for (var i = 1u; i < ${normal}u; i = i + 1u) { total = total + draw(); }
    return total - 6.0lf;
}

fn double(at: u32) -> f64 {
    return bitcast<f64>(u64(parameter(at)) | (u64(parameter(at + 1u)) << 32u));
}

// The state of one generator before element i: multipliers repeat after modulus - 1 draws.
fn jumped(state: u32, multiplier: u32, modulus: u32, i: u32) -> u32 {
    let draws = (i % (modulus - 1u)) * ${draws}u % (modulus - 1u);
    return state * power(multiplier, draws, modulus) % modulus;
}

@compute @workgroup_size(${group})
fn main(@builtin(global_invocation_id) id: vec3<u32>, @builtin(num_workgroups) groups: vec3<u32>) {
    let count = parameter(0u);
    let first = double(4u);
    let second = double(6u);
    let step = groups.x * ${group}u;
    for (var i = id.x; i < count; i = i + step) {
        s0 = jumped(parameter(1u), ${a0}u, ${m0}u, i);
        s1 = jumped(parameter(2u), ${a1}u, ${m1}u, i);
        s2 = jumped(parameter(3u), ${a2}u, ${m2}u, i);
        b0[i] = ${real}(${value});
    }
}
