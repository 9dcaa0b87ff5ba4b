//! The elementary functions under proof: how each is run, and what it is measured against. For f32
//! that is crate `libm` (a translation of musl's, below 2 ulp of f64, which is 2^-28 ulp of f32);
//! for f64 the double-double `reference`. NaN, infinities and poles come from `libm` at both
//! widths.

use super::double::{HALF_PI, Value};
use super::error::Expected;
use super::reference;
use rung_lanes::compiled::{Binary, Unary};
use rung_lanes::{Cost, Float, Lanes, Operand, elementwise};
use rung_math::{self as math, Graph, Width, trace_binary, trace_unary};
use std::f64::consts;
use std::hash::{DefaultHasher, Hash, Hasher};

/// How the reference at -x follows from that at x.
#[derive(Clone, Copy, PartialEq)]
pub enum Symmetry {
    Odd,
    Even,
    None,
}

/// A function of one number.
pub struct One {
    pub name: &'static str,
    pub limit: f64,
    pub symmetry: Symmetry,
    /// Where the text changes its path, or its result leaves the normal numbers.
    pub thresholds: &'static [f64],
    pub host: fn(f64) -> f64,
    pub reference: fn(f64) -> Value,
    pub lanes_single: fn(&Lanes, &[f32], &mut [f32]),
    pub lanes_double: fn(&Lanes, &[f64], &mut [f64]),
    pub single: fn(f32) -> f32,
    pub double: fn(f64) -> f64,
    pub trace: fn(Width) -> Graph,
}

/// A function of two numbers.
pub struct Two {
    pub name: &'static str,
    pub limit: f64,
    pub expected: fn(f64, f64) -> Expected,
    pub lanes_single: fn(&Lanes, [&[f32]; 2], &mut [f32]),
    pub lanes_double: fn(&Lanes, [&[f64]; 2], &mut [f64]),
    pub single: fn(f32, f32) -> f32,
    pub double: fn(f64, f64) -> f64,
    pub trace: fn(Width) -> Graph,
}

fn map<F: Unary, T: Float>(lanes: &Lanes, x: &[T], out: &mut [T]) {
    elementwise::map::<F, T>(lanes, Cost::Elementary, &[x.len()], Operand::new(x, 0, &[1]), out);
}

fn zip<F: Binary, T: Float>(lanes: &Lanes, [a, b]: [&[T]; 2], out: &mut [T]) {
    let (a, b) = (Operand::new(a, 0, &[1]), Operand::new(b, 0, &[1]));
    elementwise::zip::<F, T>(lanes, Cost::Elementary, &[out.len()], a, b, out);
}

macro_rules! one {
    ($f:ident, $name:ident, $host:expr, $symmetry:ident, $limit:literal, $thresholds:expr) => {
        One {
            name: stringify!($name),
            limit: $limit,
            symmetry: Symmetry::$symmetry,
            thresholds: &$thresholds,
            host: $host,
            reference: reference::$name,
            lanes_single: map::<math::$f, f32>,
            lanes_double: map::<math::$f, f64>,
            single: <math::$f as math::Unary>::at::<f32>,
            double: <math::$f as math::Unary>::at::<f64>,
            trace: trace_unary::<math::$f>,
        }
    };
}

macro_rules! two {
    ($f:ident, $name:ident) => {
        Two {
            name: stringify!($name),
            limit: 1.0,
            expected: $name,
            lanes_single: zip::<math::$f, f32>,
            lanes_double: zip::<math::$f, f64>,
            single: <math::$f as math::Binary>::at::<f32>,
            double: <math::$f as math::Binary>::at::<f64>,
            trace: trace_binary::<math::$f>,
        }
    };
}

/// Largest arguments of the exponential functions, and of those that come near +-1 or 0.
const EXP: [f64; 7] = [708.0, 709.782712893384, -708.396, -745.13, 0.34657, 1.0, 2.2e-16];
const CIRCLE: [f64; 6] = [consts::FRAC_PI_4, 2048.0, 262144.0, 1.0, 1e-8, 3.4e38];
const SQUARES: [f64; 5] = [1.0, 0.5, consts::FRAC_1_SQRT_2, 0.3826834323650898, 0.9238795325112867];
const LOG: [f64; 5] = [1.0, consts::FRAC_1_SQRT_2, consts::SQRT_2, 2.2250738585072014e-308, 2.0];
const TURNED: [f64; 5] = [1.0, 0.41421356237309503, 2.414213562373095, 1.8446744073709552e19, 1e-8];

pub static ONES: &[One] = &[
    one!(Exp, exp, libm::exp, None, 1.0, EXP),
    one!(Log, log, libm::log, None, 1.0, LOG),
    one!(Tanh, tanh, libm::tanh, Odd, 1.0, [20.0, 19.07, 0.1733, 10.0, 1e-8, 0.52]),
    one!(Sin, sin, libm::sin, Odd, 1.0, CIRCLE),
    one!(Cos, cos, libm::cos, Even, 1.0, CIRCLE),
    one!(Erf, erf, libm::erf, Odd, 1.0, [0.6884765625, 0.6845703125, 6.0, 5.92, 4.0, 1e-8]),
    one!(Tan, tan, libm::tan, Odd, 1.0, CIRCLE),
    one!(Asin, asin, libm::asin, Odd, 1.0, SQUARES),
    one!(Acos, acos, libm::acos, None, 1.0, SQUARES),
    one!(Atan, atan, libm::atan, Odd, 1.0, TURNED),
    one!(Sinh, sinh, libm::sinh, Odd, 1.0, [1.0, 710.4758600739439, 22.0, 0.3, 1e-8, 40.0]),
    one!(Cosh, cosh, libm::cosh, Even, 1.0, [1.0, 710.4758600739439, 22.0, 0.3, 1e-8, 40.0]),
    one!(Expm1, expm1, libm::expm1, None, 1.0, [709.7827, -37.0, -40.0, 0.3466, 5.55e-17, 1.0]),
    one!(Log1p, log1p, libm::log1p, None, 1.0, [-1.0, 0.4142, -0.2929, 1.15e18, 5.55e-17, 1.0]),
    one!(Exp2, exp2, libm::exp2, None, 1.0, [1024.0, -1022.0, -1074.0, 0.5, 1e-16, 1.5]),
    one!(Log2, log2, libm::log2, None, 1.0, LOG),
    one!(Log10, log10, libm::log10, None, 1.0, LOG),
    one!(Asinh, asinh, libm::asinh, Odd, 1.0, [1.862645149e-9, 536870912.0, 1.0, 1e154, 0.4]),
    one!(Acosh, acosh, host_acosh, None, 1.0, [1.0, 536870912.0, 1.1, 2.0, 1e154]),
    one!(Atanh, atanh, libm::atanh, Odd, 1.0, [1.0, 0.5, 0.17157, 1.862645149e-9, 0.9]),
    one!(Cbrt, cbrt, libm::cbrt, Odd, 1.0, [1.0, 8.0, 2.2250738585072014e-308, 5e-324, 2.0]),
    one!(Erfc, erfc, libm::erfc, None, 1.0, [0.5, -0.5, 26.54, 27.22, 28.0, 3.0087890625]),
    one!(Sigmoid, sigmoid, host_sigmoid, None, 3.0, EXP),
    one!(Softplus, softplus, host_softplus, None, 3.0, EXP),
];

pub static TWOS: &[Two] = &[two!(Power, power), two!(Atan2, atan2), two!(Hypot, hypot)];

/// Below 1 musl's forgets to give NaN for large magnitudes.
fn host_acosh(x: f64) -> f64 {
    if x < 1.0 { f64::NAN } else { libm::acosh(x) }
}

fn host_sigmoid(x: f64) -> f64 {
    let e = libm::exp(-x.abs());
    if x < 0.0 { e / (1.0 + e) } else { 1.0 / (1.0 + e) }
}

fn host_softplus(x: f64) -> f64 {
    x.max(0.0) + libm::log1p(libm::exp(-x.abs())) + if x.is_nan() { x } else { 0.0 }
}

/// A number that says which definition was measured: the hash of its trace.
pub fn fingerprint(trace: fn(Width) -> Graph, width: Width) -> String {
    let graph = trace(width);
    let mut hasher = DefaultHasher::new();
    for node in &graph.nodes {
        node.hash(&mut hasher);
    }
    graph.outputs.hash(&mut hasher);
    format!("{:08x}", hasher.finish() as u32)
}

impl One {
    /// What the result at x should be.
    pub fn expected(&self, x: f64) -> Expected {
        let host = (self.host)(x);
        let limit = x.is_infinite() && host.abs() != HALF_PI.high;
        let pole = host.is_infinite() && x.abs() <= 1.0;
        if host.is_nan() || limit || pole || x == 0.0 && host == 0.0 {
            Expected::Special(host)
        } else {
            Expected::Near((self.reference)(x))
        }
    }
}

/// IEEE 754 pow: the special cases and the sign from `libm`.
fn power(x: f64, y: f64) -> Expected {
    let host = libm::pow(x, y);
    if host.is_nan() || !x.is_finite() || !y.is_finite() || x == 0.0 || y == 0.0 {
        return Expected::Special(host);
    }
    let value = reference::power(x.abs(), y);
    let number = if host.is_sign_negative() { -value.number } else { value.number };
    Expected::Near(Value { number, ..value })
}

/// Infinite sides are those of a square or of an axis.
fn atan2(y: f64, x: f64) -> Expected {
    if y.is_nan() || x.is_nan() {
        return Expected::Special(f64::NAN);
    }
    let far = |v: f64| if v.is_infinite() { v.signum() } else { 0.0_f64.copysign(v) };
    let (y, x) = match y.is_infinite() || x.is_infinite() {
        true => (far(y), far(x)),
        false => (y, x),
    };
    match y == 0.0 && x.is_sign_positive() {
        true => Expected::Special(y),
        false => Expected::Near(reference::atan2(y, x)),
    }
}

fn hypot(a: f64, b: f64) -> Expected {
    if a.is_infinite() || b.is_infinite() {
        return Expected::Special(f64::INFINITY);
    }
    match a.is_nan() || b.is_nan() {
        true => Expected::Special(f64::NAN),
        false if a == 0.0 && b == 0.0 => Expected::Special(0.0),
        false => Expected::Near(reference::hypot(a, b)),
    }
}
