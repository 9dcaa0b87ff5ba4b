//! Sweeps the f32 bit patterns of each elementary function and prints the worst error in ulp
//! against the f64 function (std's, or this crate's own where std has none or a worse one). The f64 reference is itself off by
//! about 2^-29 ulp of f32, which does not show. f64 definitions are measured by the golden test.
//!
//! Run: cargo run --release -p rung-math --example sweep [STRIDE]   (1 is exhaustive, a few
//! minutes; default 1009)

use rung_math::*;

fn main() {
    let stride: u64 = std::env::args().nth(1).and_then(|s| s.parse().ok()).unwrap_or(1009);
    println!("| function | worst error (ulp) | at |\n| --- | --- | --- |");
    sweep::<Exp>("exp", f64::exp, stride);
    sweep::<Log>("log", f64::ln, stride);
    sweep::<Tanh>("tanh", f64::tanh, stride);
    sweep::<Sin>("sin", f64::sin, stride);
    sweep::<Cos>("cos", f64::cos, stride);
    sweep::<Erf>("erf", Erf::at, stride);
    sweep::<Tan>("tan", f64::tan, stride);
    sweep::<Sinh>("sinh", f64::sinh, stride);
    sweep::<Cosh>("cosh", f64::cosh, stride);
    sweep::<Atan>("atan", f64::atan, stride);
    sweep::<Asin>("asin", f64::asin, stride);
    sweep::<Acos>("acos", f64::acos, stride);
    sweep::<Expm1>("expm1", f64::exp_m1, stride);
    sweep::<Log1p>("log1p", f64::ln_1p, stride);
    sweep::<Exp2>("exp2", f64::exp2, stride);
    sweep::<Log2>("log2", f64::log2, stride);
    sweep::<Log10>("log10", f64::log10, stride);
    sweep::<Asinh>("asinh", Asinh::at, stride);
    sweep::<Acosh>("acosh", Acosh::at, stride);
    sweep::<Atanh>("atanh", Atanh::at, stride);
    sweep::<Cbrt>("cbrt", f64::cbrt, stride);
    sweep::<Erfc>("erfc", Erfc::at, stride);
}

fn sweep<F: Unary>(name: &str, reference: impl Fn(f64) -> f64, stride: u64) {
    let (mut worst, mut place) = (0.0, 0.0);
    for bits in (0..=u32::MAX as u64).step_by(stride.max(1) as usize) {
        let x = f32::from_bits(bits as u32);
        let error = error_in_ulp(F::at(x), reference(x as f64));
        if error > worst {
            (worst, place) = (error, x);
        }
    }
    println!("| {name} f32 | {worst:.3} | {place:e} ({:08x}) |", place.to_bits());
}

/// |value - exact| in units of the last place of an f32 of the exact value's size; infinite when
/// one is NaN or infinite and the other is not.
fn error_in_ulp(value: f32, exact: f64) -> f64 {
    if value.is_nan() || exact.is_nan() {
        return if value.to_bits() == 0x7FC0_0000 && exact.is_nan() { 0.0 } else { f64::INFINITY };
    }
    if value.is_infinite() || (exact as f32).is_infinite() {
        return if value == exact as f32 { 0.0 } else { f64::INFINITY };
    }
    let exponent = ((exact.to_bits() >> 52) & 0x7FF) as i32 - 1023;
    let ulp = 2.0_f64.powi(exponent.max(-126) - 23);
    (value as f64 - exact).abs() / ulp
}
