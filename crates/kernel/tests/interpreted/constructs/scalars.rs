//! Operators and functions of floats and of truths. Exact results, or the host's, which IEEE 754 fixes.

use super::{Half, each, h};

#[test]
fn singles_are_rounded_once_and_keep_subnormals() {
    each::<f32, f32>(
        "x + y",
        &[
            (&[16_777_216.0, 1.0], 16_777_216.0),
            (&[1e-40, 1e-41], 1e-40 + 1e-41),
            (&[f32::INFINITY, -f32::INFINITY], f32::NAN),
            (&[-0.0, -0.0], -0.0),
        ],
    );
    each::<f32, f32>("x - y", &[(&[1.0, 1e-8], 1.0), (&[0.5, 0.5], 0.0), (&[-0.0, 0.0], -0.0)]);
    each::<f32, f32>(
        "x * y",
        &[
            (&[1e-20, 1e-20], 1e-40),
            (&[1e30, 1e30], f32::INFINITY),
            (&[0.0, -1.0], -0.0),
            (&[0.0, f32::INFINITY], f32::NAN),
        ],
    );
    each::<f32, f32>(
        "x / y",
        &[
            (&[1.0, 3.0], 1.0 / 3.0),
            (&[1.0, -0.0], -f32::INFINITY),
            (&[0.0, 0.0], f32::NAN),
            (&[1e-38, 128.0], 1e-38 / 128.0),
        ],
    );
    each::<f32, f32>("-x", &[(&[0.0], -0.0), (&[-2.5], 2.5), (&[f32::INFINITY], -f32::INFINITY)]);
    each::<f32, f32>("abs(x)", &[(&[-0.0], 0.0), (&[-2.5], 2.5), (&[f32::NAN], f32::NAN)]);
    each::<f32, f32>(
        "sqrt(x)",
        &[(&[2.0], 2f32.sqrt()), (&[-0.0], -0.0), (&[-1.0], f32::NAN), (&[1e-40], 1e-40f32.sqrt())],
    );
    let x = 1.0 + f32::EPSILON;
    each::<f32, f32>(
        "fma(x, y, z)",
        &[(&[x, x, -1.0], x.mul_add(x, -1.0)), (&[0.0, -1.0, -0.0], -0.0)],
    );
    each::<f32, f32>("x * y + z", &[(&[x, x, -1.0], x * x - 1.0)]);
}

#[test]
fn doubles_are_rounded_once_and_keep_subnormals() {
    each::<f64, f64>(
        "x + y",
        &[(&[9_007_199_254_740_992.0, 1.0], 9_007_199_254_740_992.0), (&[5e-324, 5e-324], 1e-323)],
    );
    each::<f64, f64>("x - y * z", &[(&[0.1, 0.2, 0.3], 0.1 - 0.2 * 0.3)]);
    each::<f64, f64>(
        "x / y",
        &[(&[1.0, 3.0], 1.0 / 3.0), (&[-1.0, 0.0], -f64::INFINITY), (&[0.0, 0.0], f64::NAN)],
    );
    each::<f64, f64>("-abs(x)", &[(&[-0.0], -0.0), (&[2.5], -2.5)]);
    each::<f64, f64>("sqrt(x)", &[(&[2.0], 2f64.sqrt()), (&[5e-324], 5e-324f64.sqrt())]);
    let x = 1.0 + f64::EPSILON;
    each::<f64, f64>("fma(x, y, z)", &[(&[x, x, -1.0], x.mul_add(x, -1.0))]);
}

/// 2049 is between two halves, 2^-24 the least of them.
#[test]
fn halves_are_rounded_once() {
    each::<Half, Half>(
        "x + y",
        &[
            (&[h(2048.0), h(1.0)], h(2048.0)),
            (&[h(2048.0), h(3.0)], h(2052.0)),
            (&[h(65504.0), h(32.0)], h(f32::INFINITY)),
        ],
    );
    each::<Half, Half>("x - y", &[(&[h(1.0), h(0.25)], h(0.75)), (&[h(2.0), h(2.0)], h(0.0))]);
    each::<Half, Half>(
        "x * y",
        &[
            (&[Half(1), h(0.5)], h(0.0)),
            (&[Half(3), h(0.5)], Half(2)),
            (&[h(300.0), h(300.0)], h(f32::INFINITY)),
        ],
    );
    each::<Half, Half>(
        "x / y",
        &[(&[h(1.0), h(3.0)], h(1.0 / 3.0)), (&[h(1.0), h(-0.0)], h(-f32::INFINITY))],
    );
    each::<Half, Half>("-abs(x)", &[(&[h(2.0)], h(-2.0)), (&[h(-0.0)], h(-0.0))]);
    each::<Half, Half>("sqrt(x)", &[(&[h(2.0)], h(2f32.sqrt())), (&[h(-1.0)], h(f32::NAN))]);
    // (1 + 2^-10)^2 - (1 + 2^-9) is 2^-20, which a rounded product has lost.
    let x = h(1.0 + 1.0 / 1024.0);
    each::<Half, Half>("fma(x, y, z)", &[(&[x, x, h(-1.0 - 1.0 / 512.0)], Half(16))]);
    each::<Half, Half>("x * y + z", &[(&[x, x, h(-1.0 - 1.0 / 512.0)], Half(0))]);
    each::<Half, Half>(
        "select(x, 2.5h, y < z) + 1.0h",
        &[(&[h(1.0), h(1.0), h(2.0)], h(3.5)), (&[h(1.0), h(2.0), h(2.0)], h(2.0))],
    );
}

/// Only `!=` holds for NaN, and zeros are equal.
#[test]
fn floats_are_compared_with_nan() {
    const N: f32 = f32::NAN;
    each::<f32, bool>("x < y", &[(&[1.0, 2.0], true), (&[2.0, 2.0], false), (&[N, 2.0], false)]);
    each::<f32, bool>("x <= y", &[(&[2.0, 2.0], true), (&[-0.0, 0.0], true), (&[2.0, N], false)]);
    each::<f32, bool>("x > y", &[(&[3.0, 2.0], true), (&[0.0, -0.0], false), (&[N, N], false)]);
    each::<f32, bool>("x >= y", &[(&[2.0, 2.0], true), (&[1.0, 2.0], false), (&[N, 1.0], false)]);
    each::<f32, bool>("x == y", &[(&[-0.0, 0.0], true), (&[N, N], false), (&[1.0, 2.0], false)]);
    each::<f32, bool>("x != y", &[(&[-0.0, 0.0], false), (&[N, N], true), (&[1.0, 2.0], true)]);
    const D: f64 = f64::NAN;
    each::<f64, bool>("x < y", &[(&[1.0, 2.0], true), (&[D, 2.0], false)]);
    each::<f64, bool>("x <= y", &[(&[2.0, 2.0], true), (&[2.0, D], false)]);
    each::<f64, bool>("x > y", &[(&[3.0, 2.0], true), (&[D, D], false)]);
    each::<f64, bool>("x >= y", &[(&[2.0, 2.0], true), (&[D, 1.0], false)]);
    each::<f64, bool>("x == y", &[(&[-0.0, 0.0], true), (&[D, D], false)]);
    each::<f64, bool>("x != y", &[(&[-0.0, 0.0], false), (&[D, D], true)]);
    each::<Half, bool>("x < y", &[(&[h(1.0), h(2.0)], true), (&[h(N), h(2.0)], false)]);
    each::<Half, bool>("x <= y", &[(&[h(2.0), h(2.0)], true), (&[h(2.0), h(N)], false)]);
    each::<Half, bool>("x > y", &[(&[h(3.0), h(2.0)], true), (&[h(N), h(1.0)], false)]);
    each::<Half, bool>("x >= y", &[(&[h(2.0), h(2.0)], true), (&[h(N), h(1.0)], false)]);
    each::<Half, bool>("x == 2.0h", &[(&[h(2.0)], true), (&[h(N)], false)]);
    each::<Half, bool>("x != y", &[(&[h(-0.0), h(0.0)], false), (&[h(N), h(N)], true)]);
}

#[test]
fn truths() {
    let table: [(bool, bool); 4] = [(false, false), (false, true), (true, false), (true, true)];
    let all = |name: &str, f: fn(bool, bool) -> bool| {
        let operands = table.map(|(x, y)| [x, y]);
        let rows: Vec<(&[bool], bool)> = operands.iter().map(|o| (&o[..], f(o[0], o[1]))).collect();
        each(name, &rows);
    };
    all("x & y", |x, y| x & y);
    all("x | y", |x, y| x | y);
    all("x && y", |x, y| x & y);
    all("x || y", |x, y| x | y);
    all("x == y", |x, y| x == y);
    all("x != y", |x, y| x != y);
    all("!x", |x, _| !x);
    all("select(x, y, !x)", |x, y| if x { x } else { y });
    all("select(true, y, x)", |x, y| !x | y);
    all("select(x, false, y)", |x, y| x & !y);
    all("all(vec2<bool>(x, y)) | any(vec3<bool>(x, x & y, false))", |x, _| x);
}

#[test]
fn values_are_selected() {
    each::<f32, f32>(
        "select(x, y, z < 0.0)",
        &[(&[1.0, 2.0, -1.0], 2.0), (&[1.0, 2.0, f32::NAN], 1.0)],
    );
    each::<f64, f64>(
        "select(x, 7.0lf, z < 0.0lf)",
        &[(&[1.0, 2.0, -1.0], 7.0), (&[1.0, 2.0, 0.0], 1.0)],
    );
}
