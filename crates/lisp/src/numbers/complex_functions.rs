//! The elementary functions of complex numbers, over pairs of doubles.
//!
//! After Kahan, "Branch cuts for complex elementary functions" (1987): the sign of a zero says on
//! which side of a cut an argument lies, and no formula subtracts what it need not. Built from the
//! definitions of `rung_math` alone, so the bits are the same on every machine. Complex singles
//! are computed here too and rounded once.

use std::f64::consts::{FRAC_PI_2, LN_2};

use rung_math::{
    Asinh, Atan, Atan2, Binary, Cos, Cosh, Exp, Hypot, Log, Log1p, Sin, Sinh, Sqrt, Tan, Unary,
};

/// Real and imaginary part.
pub type Pair = (f64, f64);

/// Beyond this the squares in `atanh` overflow.
const HUGE: f64 = 1e150;

/// 2 to a power whose result is a normal number.
const fn two_to(power: i64) -> f64 {
    f64::from_bits(((power + 1023) as u64) << 52)
}

fn times_i((x, y): Pair) -> Pair {
    (-y, x)
}

fn over_i((x, y): Pair) -> Pair {
    (y, -x)
}

/// The absolute value.
pub fn absolute((x, y): Pair) -> f64 {
    Hypot::at(x, y)
}

/// The angle from the positive real axis.
pub fn phase((x, y): Pair) -> f64 {
    Atan2::at(y, x)
}

/// e to the power of z.
pub fn exp((x, y): Pair) -> Pair {
    if y == 0.0 {
        return (Exp::at(x), y);
    }
    // e^x may overflow where e^x cos y does not.
    let (factor, rest) =
        if x > 709.0 { (Exp::at(x / 2.0), Exp::at(x / 2.0)) } else { (1.0, Exp::at(x)) };
    (rest * Cos::at(y) * factor, rest * Sin::at(y) * factor)
}

/// The natural logarithm.
pub fn log(z @ (x, y): Pair) -> Pair {
    let (large, small) = if x.abs() > y.abs() { (x.abs(), y.abs()) } else { (y.abs(), x.abs()) };
    let real = if large > 1e300 {
        Log::at(Hypot::at(large / 2.0, small / 2.0)) + LN_2
    } else if (0.5..2.0).contains(&large) {
        // Near the unit circle the logarithm is small, and comes from what exceeds 1.
        Log1p::at((large - 1.0) * (large + 1.0) + small * small) / 2.0
    } else {
        Log::at(Hypot::at(large, small))
    };
    (real, phase(z))
}

/// The square root in the right half plane.
pub fn sqrt((x, y): Pair) -> Pair {
    if y.is_infinite() {
        return (f64::INFINITY, y);
    }
    if x.is_infinite() {
        let other = if y.is_nan() { f64::NAN } else { 0.0 };
        return if x > 0.0 { (x, other.copysign(y)) } else { (other, (-x).copysign(y)) };
    }
    if x == 0.0 && y == 0.0 {
        return (0.0, y);
    }
    // A power of 4 brings the larger part near 1: its root is a power of 2, so nothing rounds.
    let large = x.abs().max(y.abs());
    let (down, up) = match large {
        1e200.. => (two_to(-400), two_to(200)),
        ..1e-200 => (two_to(1000), two_to(-500)),
        _ => (1.0, 1.0),
    };
    let (x, y) = (x * down, y * down);
    let root = Sqrt::at((x.abs() + Hypot::at(x, y)) / 2.0);
    let other = y.abs() / (2.0 * root);
    let (real, imaginary) = if x >= 0.0 { (root, other) } else { (other, root) };
    (real * up, (imaginary * up).copysign(y))
}

/// The sine.
pub fn sin((x, y): Pair) -> Pair {
    (Sin::at(x) * Cosh::at(y), Cos::at(x) * Sinh::at(y))
}

/// The cosine.
pub fn cos((x, y): Pair) -> Pair {
    (Cos::at(x) * Cosh::at(y), -(Sin::at(x) * Sinh::at(y)))
}

/// The tangent.
pub fn tan(z: Pair) -> Pair {
    over_i(tanh(times_i(z)))
}

/// The hyperbolic sine.
pub fn sinh((x, y): Pair) -> Pair {
    (Sinh::at(x) * Cos::at(y), Cosh::at(x) * Sin::at(y))
}

/// The hyperbolic cosine.
pub fn cosh((x, y): Pair) -> Pair {
    (Cosh::at(x) * Cos::at(y), Sinh::at(x) * Sin::at(y))
}

/// The hyperbolic tangent.
pub fn tanh((x, y): Pair) -> Pair {
    if x.abs() > 22.0 {
        // 1 to the last bit, and an imaginary part that is all but gone.
        let imaginary = 4.0 * Sin::at(y) * Cos::at(y) * Exp::at(-2.0 * x.abs());
        return (1f64.copysign(x), if y == 0.0 { y } else { imaginary });
    }
    let tangent = Tan::at(y);
    let secant = 1.0 + tangent * tangent;
    let sine = Sinh::at(x);
    let cosine = Sqrt::at(1.0 + sine * sine);
    if tangent.is_infinite() {
        return (cosine / sine, 1.0 / tangent);
    }
    let below = 1.0 + secant * sine * sine;
    (secant * cosine * sine / below, tangent / below)
}

/// The roots of `1 - z` and `1 + z`.
fn roots_about_one((x, y): Pair) -> (Pair, Pair) {
    (sqrt((1.0 - x, -y)), sqrt((1.0 + x, y)))
}

/// The arc sine.
pub fn asin(z: Pair) -> Pair {
    let (less, more) = roots_about_one(z);
    let real = Atan::at(z.0 / (less.0 * more.0 - less.1 * more.1));
    (real, Asinh::at(less.0 * more.1 - less.1 * more.0))
}

/// The arc cosine.
pub fn acos(z: Pair) -> Pair {
    let (less, more) = roots_about_one(z);
    let real = 2.0 * Atan::at(less.0 / more.0);
    (real, Asinh::at(more.0 * less.1 - more.1 * less.0))
}

/// The arc tangent.
pub fn atan(z: Pair) -> Pair {
    over_i(atanh(times_i(z)))
}

/// The hyperbolic arc sine.
pub fn asinh(z: Pair) -> Pair {
    over_i(asin(times_i(z)))
}

/// The hyperbolic arc cosine.
pub fn acosh((x, y): Pair) -> Pair {
    let (less, more) = (sqrt((x - 1.0, y)), sqrt((x + 1.0, y)));
    let real = Asinh::at(less.0 * more.0 + less.1 * more.1);
    (real, 2.0 * Atan::at(less.1 / more.0))
}

/// The hyperbolic arc tangent, which is odd: computed in the right half plane.
pub fn atanh((x, y): Pair) -> Pair {
    let side = 1f64.copysign(x);
    let (x, y) = (x.abs(), -side * y);
    let square = y * y;
    let (real, imaginary) = if x > HUGE || y.abs() > HUGE {
        let (large, small) = if x > y.abs() { (x, y) } else { (y, x) };
        // x / (x x + y y) without the squares.
        let quotient = small / large;
        let below = large * (1.0 + quotient * quotient);
        (if x > y.abs() { 1.0 / below } else { quotient / below }, FRAC_PI_2.copysign(y))
    } else if x == 1.0 {
        let real = Log::at(Sqrt::at(Sqrt::at(4.0 + square)) / Sqrt::at(y.abs()));
        (real, (FRAC_PI_2 + Atan::at(y.abs() / 2.0)).copysign(y) / 2.0)
    } else {
        let less = (1.0 - x) * (1.0 - x) + square;
        let real = Log1p::at(4.0 * x / less) / 4.0;
        (real, Atan2::at(2.0 * y, (1.0 - x) * (1.0 + x) - square) / 2.0)
    };
    (side * real, -side * imaginary)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// How far two numbers are apart, in units of the larger one's size.
    fn apart(a: Pair, b: Pair) -> f64 {
        absolute((a.0 - b.0, a.1 - b.1)) / absolute(a).max(1e-300)
    }

    type Function = fn(Pair) -> Pair;

    const POINTS: [Pair; 8] = [
        (0.5, 0.25),
        (-0.5, 0.25),
        (2.0, -3.0),
        (-2.0, 0.125),
        (1.0, 1e-3),
        (1e-3, -1.0),
        (-0.75, -4.0),
        (1.5, 0.0),
    ];

    #[test]
    fn the_inverse_functions_are_inverse() {
        let pairs: [(Function, Function, &str); 7] = [
            (exp, log, "log"),
            (sin, asin, "asin"),
            (cos, acos, "acos"),
            (tan, atan, "atan"),
            (sinh, asinh, "asinh"),
            (cosh, acosh, "acosh"),
            (tanh, atanh, "atanh"),
        ];
        for (function, inverse, name) in pairs {
            for z in POINTS {
                let back = function(inverse(z));
                assert!(apart(back, z) < 1e-13, "{name} {z:?}: {back:?}");
            }
        }
    }

    #[test]
    fn roots_square_to_the_number_at_every_size() {
        for (x, y) in POINTS {
            for scale in [1.0, 1e-300, 1e300, 5e-324] {
                let z = (x * scale, y * scale);
                let (a, b) = sqrt(z);
                assert!(a >= 0.0);
                let large = z.0.abs().max(z.1.abs());
                if large > 1e-290 {
                    let (a, b) = (a / Sqrt::at(large), b / Sqrt::at(large));
                    let square = (a * a - b * b, 2.0 * a * b);
                    assert!(apart((z.0 / large, z.1 / large), square) < 1e-14, "{z:?}");
                }
            }
        }
        assert_eq!(sqrt((-4.0, 0.0)), (0.0, 2.0));
        assert_eq!(sqrt((-4.0, -0.0)), (0.0, -2.0));
        assert_eq!(sqrt((f64::NEG_INFINITY, 1.0)), (0.0, f64::INFINITY));
    }

    #[test]
    fn the_sign_of_a_zero_chooses_the_side_of_a_cut() {
        assert_eq!(asin((2.0, 0.0)).1, -asin((2.0, -0.0)).1);
        assert_eq!(acosh((-2.0, 0.0)).1, -acosh((-2.0, -0.0)).1);
        assert_eq!(atanh((2.0, 0.0)).1, FRAC_PI_2);
        assert_eq!(atanh((2.0, -0.0)).1, -FRAC_PI_2);
        assert_eq!(log((-1.0, -0.0)).1, -std::f64::consts::PI);
    }
}
