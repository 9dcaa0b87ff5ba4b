//! The elementary functions of f64 arguments as double-double numbers, right to about 2^-95: what
//! the f64 definitions are measured against. Written from textbook series with no text, table or
//! method of crate `math`; golden.txt, from 200-digit arithmetic, holds each to 2^-85. Slow on
//! purpose. Callers settle NaN, infinities and poles first; arguments are finite and in the domain.

use super::angle::quarter_turns;
use super::double::{
    Double, HALF_PI, LN_2, LOG2_E, LOG10_E, ONE, TWO_OVER_ROOT_PI, Value, ZERO, exponent_of,
};

fn whole(x: f64) -> Double {
    Double::from(x)
}

/// e^x - 1 for |x| <= 0.36: Taylor's series at x / 16, then e^2y - 1 = (e^y - 1)(e^y + 1).
fn expm1_near(x: Double) -> Double {
    let small = x.scaled(-4);
    let mut sum = ZERO;
    for k in (2..=16).rev() {
        sum = small / whole(k as f64) * (ONE + sum);
    }
    let mut power = small * (ONE + sum);
    for _ in 0..4 {
        power = power * (power + whole(2.0));
    }
    power
}

/// e^x as a value, for |x| up to some thousands.
fn exp_of(x: Double) -> Value {
    let n = (x.high * LOG2_E.high).round();
    let r = x - LN_2 * whole(n);
    Value { number: ONE + expm1_near(r), exponent: n as i32 }
}

/// Beyond these limits e^x is 0 or infinite at any width, and n fits an i32.
fn limited(x: f64) -> Double {
    whole(x.clamp(-5000.0, 5000.0))
}

pub fn exp(x: f64) -> Value {
    exp_of(limited(x))
}

pub fn exp2(x: f64) -> Value {
    let x = x.clamp(-5000.0, 5000.0);
    let n = x.round();
    Value { number: ONE + expm1_near(LN_2 * whole(x - n)), exponent: n as i32 }
}

fn expm1_of(x: Double) -> Value {
    if x.high.abs() < 0.36 {
        return expm1_near(x).into();
    }
    let power = exp_of(x);
    match power.exponent {
        // The 1 is below the last place, or is all that is left.
        120.. => power,
        ..=-120 => (-ONE).into(),
        n => (power.number.scaled(n) - ONE).into(),
    }
}

pub fn expm1(x: f64) -> Value {
    if x.abs() < 1e-100 {
        return whole(x).into();
    }
    expm1_of(limited(x))
}

/// (e + e / (1 + e)) / 2 with e = e^x - 1, which cancels nowhere for x > 0.
pub fn sinh(x: f64) -> Value {
    if x.abs() < 1e-100 {
        return whole(x).into();
    }
    let magnitude = limited(x.abs());
    let value = if magnitude.high < 40.0 {
        let e = plain(expm1_of(magnitude));
        (e + e / (ONE + e)).scaled(-1).into()
    } else {
        let power = exp_of(magnitude);
        Value { exponent: power.exponent - 1, ..power }
    };
    signed(value, x)
}

pub fn cosh(x: f64) -> Value {
    let magnitude = limited(x.abs());
    let power = exp_of(magnitude);
    if magnitude.high < 40.0 {
        let power = plain(power);
        (power + ONE / power).scaled(-1).into()
    } else {
        Value { exponent: power.exponent - 1, ..power }
    }
}

pub fn tanh(x: f64) -> Value {
    if x.abs() < 1e-100 {
        return whole(x).into();
    }
    let magnitude = whole(x.abs().min(60.0));
    let e = plain(expm1_of(magnitude.scaled(1)));
    signed((e / (e + whole(2.0))).into(), x)
}

pub fn sigmoid(x: f64) -> Value {
    let power = exp_of(limited(x));
    match power.exponent {
        ..=-120 => power,
        120.. => ONE.into(),
        n => {
            let power = power.number.scaled(n);
            (power / (ONE + power)).into()
        }
    }
}

pub fn softplus(x: f64) -> Value {
    let power = exp_of(limited(-x.abs()));
    if power.exponent < -120 {
        return if x > 0.0 { whole(x).into() } else { power };
    }
    let log = log_one_plus(power.number.scaled(power.exponent));
    (log + whole(x.max(0.0))).into()
}

fn plain(value: Value) -> Double {
    value.number.scaled(value.exponent)
}

fn signed(value: Value, x: f64) -> Value {
    let number = if x.is_sign_negative() { -value.number } else { value.number };
    Value { number, ..value }
}

/// log(1 + t) for t > -1. Near 0 twice the series of the inverse hyperbolic tangent in
/// s = t / (2 + t); else one Newton step of e^y = 1 + t from the host's logarithm.
fn log_one_plus(t: Double) -> Double {
    if t.high.abs() < 0.04 {
        let s = t / (t + whole(2.0));
        let z = s.square();
        let mut sum = ZERO;
        for k in (0..=10).rev() {
            sum = ONE / whole((2 * k + 1) as f64) + z * sum;
        }
        return (s * sum).scaled(1);
    }
    log_of((t + ONE).into())
}

/// log of a positive value away from 1.
fn log_of(x: Value) -> Double {
    let x = x.normalised();
    let start = x.number.high.ln() + x.exponent as f64 * LN_2.high;
    let power = exp_of(whole(-start));
    // x e^-start - 1 is about 2^-50; what the series of log(1 + d) leaves out is below 2^-150.
    let d = x.number * power.number.scaled(x.exponent + power.exponent) - ONE;
    whole(start) + (d - d.square().scaled(-1))
}

fn log_double(x: f64) -> Double {
    let beyond = Double::sum(x, -1.0);
    if beyond.high.abs() < 0.04 { log_one_plus(beyond) } else { log_of(whole(x).into()) }
}

pub fn log(x: f64) -> Value {
    log_double(x).into()
}

pub fn log2(x: f64) -> Value {
    (log_double(x) * LOG2_E).into()
}

pub fn log10(x: f64) -> Value {
    (log_double(x) * LOG10_E).into()
}

pub fn log1p(x: f64) -> Value {
    if x.abs() < 1e-290 {
        return whole(x).into();
    }
    log_one_plus(whole(x)).into()
}

/// log(1 + t), t = x + x^2 / (1 + sqrt(1 + x^2)).
pub fn asinh(x: f64) -> Value {
    let magnitude = x.abs();
    let value = if magnitude < 1e-100 {
        whole(magnitude)
    } else if magnitude < 1e30 {
        let square = Double::product(magnitude, magnitude);
        log_one_plus(whole(magnitude) + square / (ONE + (ONE + square).root()))
    } else {
        log_of(whole(magnitude).into()) + LN_2
    };
    signed(value.into(), x)
}

/// log(1 + t), t = d + sqrt(d (d + 2)), d = x - 1.
pub fn acosh(x: f64) -> Value {
    if x > 1e30 {
        return (log_of(whole(x).into()) + LN_2).into();
    }
    let d = Double::sum(x, -1.0);
    log_one_plus(d + (d * (d + whole(2.0))).root()).into()
}

/// log(1 + t) / 2, t = 2x / (1 - x).
pub fn atanh(x: f64) -> Value {
    let magnitude = x.abs();
    let value = if magnitude < 1e-100 {
        whole(magnitude)
    } else {
        log_one_plus(whole(2.0 * magnitude) / Double::sum(1.0, -magnitude)).scaled(-1)
    };
    signed(value.into(), x)
}

/// sin and cos of |r| <= 0.79 by Taylor's series.
fn sine_and_cosine(r: Double) -> (Double, Double) {
    let z = -r.square();
    let (mut sine, mut cosine) = (ZERO, ZERO);
    for k in (1..=15).rev() {
        let k = k as f64;
        sine = z / whole(2.0 * k * (2.0 * k + 1.0)) * (ONE + sine);
        cosine = z / whole((2.0 * k - 1.0) * 2.0 * k) * (ONE + cosine);
    }
    (r + r * sine, ONE + cosine)
}

/// sin and cos of any finite x >= 0.
fn circle(x: f64) -> (Double, Double) {
    let (quadrant, r) = quarter_turns(x);
    let (sine, cosine) = sine_and_cosine(r);
    match quadrant {
        0 => (sine, cosine),
        1 => (cosine, -sine),
        2 => (-sine, -cosine),
        _ => (-cosine, sine),
    }
}

pub fn sin(x: f64) -> Value {
    if x.abs() < 1e-100 {
        return whole(x).into();
    }
    signed(circle(x.abs()).0.into(), x)
}

pub fn cos(x: f64) -> Value {
    circle(x.abs()).1.into()
}

pub fn tan(x: f64) -> Value {
    if x.abs() < 1e-100 {
        return whole(x).into();
    }
    let (sine, cosine) = circle(x.abs());
    signed((sine / cosine).into(), x)
}

/// atan of 0 <= t <= 1 or a little more: one step from the host's, by the tangent of a difference.
fn atan_near(t: Double) -> Double {
    if t.high < 1e-100 {
        return t;
    }
    let start = t.high.atan();
    let (sine, cosine) = sine_and_cosine(whole(start));
    let d = (t * cosine - sine) / (cosine + t * sine);
    whole(start) + d
}

/// The angle of (x, y) in the first quadrant, not both 0.
fn angle(y: Double, x: Double) -> Double {
    if y.high <= x.high { atan_near(y / x) } else { HALF_PI - atan_near(x / y) }
}

pub fn atan(x: f64) -> Value {
    let magnitude = x.abs();
    let value = match magnitude {
        0.0..1.0 => atan_near(whole(magnitude)),
        1.0..1e200 => HALF_PI - atan_near(ONE / whole(magnitude)),
        _ => HALF_PI,
    };
    signed(value.into(), x)
}

/// sqrt(1 - x^2) of |x| <= 1.
fn other_side(x: f64) -> Double {
    (Double::sum(1.0, -x) * Double::sum(1.0, x)).root()
}

pub fn asin(x: f64) -> Value {
    if x.abs() < 1e-100 {
        return whole(x).into();
    }
    signed(angle(whole(x.abs()), other_side(x)).into(), x)
}

pub fn acos(x: f64) -> Value {
    let value = angle(other_side(x), whole(x.abs()));
    if x < 0.0 { (HALF_PI.scaled(1) - value).into() } else { value.into() }
}

/// The angle of the point (x, y), both finite, not both 0; zeros and signs as IEEE 754 has them.
pub fn atan2(y: f64, x: f64) -> Value {
    let (up, along) = (y.abs(), x.abs());
    let value: Value = if up == 0.0 {
        ZERO.into()
    } else {
        let quotient = ratio(up, along);
        let far = |v: &Value| v.exponent;
        match (along == 0.0, quotient) {
            (true, _) => HALF_PI.into(),
            // The angle is the quotient to 2^-120.
            (_, q) if far(&q) < -60 => q,
            (_, q) if far(&q) > 110 => HALF_PI.into(),
            (_, q) if far(&q) < 0 => atan_near(plain(q)).into(),
            (_, q) => (HALF_PI - atan_near(ONE / plain(q))).into(),
        }
    };
    let value = match x.is_sign_negative() {
        true if value.exponent < -200 => HALF_PI.scaled(1).into(),
        true => (HALF_PI.scaled(1) - plain(value)).into(),
        false => value,
    };
    signed(value, y)
}

/// a / b of positive numbers, or 0 / 1 where b is 0.
fn ratio(a: f64, b: f64) -> Value {
    if b == 0.0 {
        return ZERO.into();
    }
    let (a, b) = (Value::from(whole(a)).normalised(), Value::from(whole(b)).normalised());
    Value { number: a.number / b.number, exponent: a.exponent - b.exponent }.normalised()
}

pub fn hypot(a: f64, b: f64) -> Value {
    let (larger, smaller) = (a.abs().max(b.abs()), a.abs().min(b.abs()));
    if larger == 0.0 {
        return ZERO.into();
    }
    let scale = exponent_of(larger);
    let sized = |x: f64| whole(x).scaled(-scale / 2).scaled(scale / 2 - scale);
    let sum = sized(larger).square() + sized(smaller).square();
    Value { number: sum.root(), exponent: scale }
}

/// x^y for x > 0 finite and y finite.
pub fn power(x: f64, y: f64) -> Value {
    // A larger y gives 0, 1 or infinity as these do.
    exp_limited(log_double(x) * whole(y.clamp(-1e25, 1e25)))
}

fn exp_limited(x: Double) -> Value {
    if x.high.abs() > 5000.0 { exp(x.high) } else { exp_of(x) }
}

/// A Newton step from the host's cube root, on a number between 1 and 8.
pub fn cbrt(x: f64) -> Value {
    let value = Value::from(whole(x.abs())).normalised();
    let third = value.exponent.div_euclid(3);
    let number = value.number.scaled(value.exponent - 3 * third);
    let start = whole(number.high.cbrt());
    let square = start.square();
    let step = (square * start - number) / (square * whole(3.0));
    signed(Value { number: start - step, exponent: third }, x)
}

/// erf of 0 < x < 2.5: (2 / sqrt pi) x e^(-x^2) sum (2 x^2)^n / (1 * 3 * ... (2n + 1)).
fn erf_series(x: f64) -> Double {
    let square = Double::product(x, x);
    let doubled = square.scaled(1);
    let (mut term, mut sum, mut n) = (ONE, ONE, 1.0);
    while term.high > 1e-33 * sum.high {
        term = term * doubled / whole(2.0 * n + 1.0);
        sum = sum + term;
        n += 1.0;
    }
    TWO_OVER_ROOT_PI * whole(x) * plain(exp_of(-square)) * sum
}

/// erfc of x >= 2.5: e^(-x^2) / sqrt pi over a continued fraction (Laplace).
fn erfc_fraction(x: f64) -> Value {
    let x = x.min(60.0);
    let terms = 20 + (700.0 / (x * x)) as usize;
    let mut fraction = whole(x);
    for k in (1..=terms).rev() {
        fraction = whole(x) + whole(k as f64 / 2.0) / fraction;
    }
    let power = exp_of(-Double::product(x, x));
    let number = power.number * TWO_OVER_ROOT_PI.scaled(-1) / fraction;
    Value { number, exponent: power.exponent }
}

pub fn erf(x: f64) -> Value {
    let magnitude = x.abs();
    let value = match magnitude {
        0.0..1e-100 => tiny_erf(magnitude),
        1e-100..2.5 => erf_series(magnitude).into(),
        _ => (ONE - plain_or_zero(erfc_fraction(magnitude))).into(),
    };
    signed(value, x)
}

/// 2 x / sqrt pi for an x that may be subnormal.
fn tiny_erf(x: f64) -> Value {
    let x = Value::from(whole(x)).normalised();
    Value { number: x.number * TWO_OVER_ROOT_PI, ..x }
}

fn plain_or_zero(value: Value) -> Double {
    if value.exponent < -300 { ZERO } else { plain(value) }
}

pub fn erfc(x: f64) -> Value {
    let magnitude = x.abs();
    if magnitude < 2.5 {
        let near = if magnitude < 1e-60 { ZERO } else { erf_series(magnitude) };
        return (if x < 0.0 { ONE + near } else { ONE - near }).into();
    }
    let far = erfc_fraction(magnitude);
    if x < 0.0 { (whole(2.0) - plain_or_zero(far)).into() } else { far }
}
