//! Each small definition, traced and evaluated, gives the scalar's bits on every pair of a list of
//! inputs that hurt. The elementary functions are traced in tests/accuracy.rs.

use rung_math::*;

const HURTING: [f64; 21] = [
    0.0,
    -0.0,
    1.0,
    -1.0,
    0.1,
    -2.5,
    3.0,
    5e-324,
    -5e-324,
    1e-45,
    2.2250738585072014e-308,
    1.1754943508222875e-38,
    3.4028234663852886e38,
    -3.4028234663852886e38,
    1.7976931348623157e308,
    f64::INFINITY,
    f64::NEG_INFINITY,
    f64::NAN,
    -f64::NAN,
    1e16,
    16777217.0,
];

/// The same bits, or both NaN: the NaN of plain arithmetic is outside the contract.
fn same(left: u64, right: u64, width: Width) -> bool {
    let nan = |bits: u64| match width {
        Width::F32 => f32::from_bits(bits as u32).is_nan(),
        Width::F64 => f64::from_bits(bits).is_nan(),
    };
    left == right || (nan(left) && nan(right))
}

fn narrow(x: f64) -> u64 {
    (x as f32).to_bits() as u64
}

fn unary<F: Unary>() {
    let (single, double) = (trace_unary::<F>(Width::F32), trace_unary::<F>(Width::F64));
    for x in HURTING {
        let expected = F::at(x as f32).to_bits() as u64;
        assert!(same(single.evaluate(&[narrow(x)]), expected, Width::F32), "{x:e}");
        assert!(same(double.evaluate(&[x.to_bits()]), F::at(x).to_bits(), Width::F64), "{x:e}");
    }
}

fn division<F: Division>() {
    let (single, double) = (trace_division::<F>(Width::F32), trace_division::<F>(Width::F64));
    for (a, b) in HURTING.into_iter().flat_map(|a| HURTING.map(|b| (a, b))) {
        let expected = F::float(a as f32, b as f32).to_bits() as u64;
        let bits = single.evaluate(&[narrow(a), narrow(b)]);
        assert!(same(bits, expected, Width::F32), "{a:e} {b:e}");
        let bits = double.evaluate(&[a.to_bits(), b.to_bits()]);
        assert!(same(bits, F::float(a, b).to_bits(), Width::F64), "{a:e} {b:e}");
    }
}

fn binary<F: Binary>() {
    let (single, double) = (trace_binary::<F>(Width::F32), trace_binary::<F>(Width::F64));
    for (a, b) in HURTING.into_iter().flat_map(|a| HURTING.map(|b| (a, b))) {
        let expected = F::at(a as f32, b as f32).to_bits() as u64;
        assert!(
            same(single.evaluate(&[narrow(a), narrow(b)]), expected, Width::F32),
            "{a:e} {b:e}"
        );
        let bits = double.evaluate(&[a.to_bits(), b.to_bits()]);
        assert!(same(bits, F::at(a, b).to_bits(), Width::F64), "{a:e} {b:e}");
    }
}

fn compare<F: Compare>() {
    let (single, double) = (trace_compare::<F>(Width::F32), trace_compare::<F>(Width::F64));
    for (a, b) in HURTING.into_iter().flat_map(|a| HURTING.map(|b| (a, b))) {
        let expected = F::at(a as f32, b as f32) as u64;
        assert_eq!(single.evaluate(&[narrow(a), narrow(b)]), expected, "{a:e} {b:e}");
        let bits = double.evaluate(&[a.to_bits(), b.to_bits()]);
        assert_eq!(bits, F::at(a, b) as u64, "{a:e} {b:e}");
    }
}

#[test]
fn functions_of_one_number() {
    unary::<Sqrt>();
    unary::<Abs>();
    unary::<Negative>();
    unary::<Square>();
    unary::<Reciprocal>();
    unary::<Sign>();
    unary::<Relu>();
    unary::<Floor>();
    unary::<Ceil>();
    unary::<RoundEven>();
    unary::<Trunc>();
    unary::<Asinh>();
    unary::<Cbrt>();
    unary::<Erfc>();
    unary::<Sigmoid>();
    unary::<Softplus>();
}

#[test]
fn functions_of_two_numbers() {
    binary::<Add>();
    binary::<Sub>();
    binary::<Mul>();
    binary::<Div>();
    binary::<Maximum>();
    binary::<Minimum>();
    binary::<Power>();
    binary::<Atan2>();
    binary::<Hypot>();
    binary::<CopySign>();
}

#[test]
fn divisions_with_a_remainder() {
    division::<Mod>();
    division::<FloorDivide>();
}

#[test]
fn relations() {
    compare::<Equal>();
    compare::<NotEqual>();
    compare::<Greater>();
    compare::<GreaterEqual>();
    compare::<Less>();
    compare::<LessEqual>();
}

#[test]
fn functions_of_three_numbers() {
    let clip = trace_ternary::<Clip>(Width::F64);
    let narrow_clip = trace_ternary::<Clip>(Width::F32);
    for (a, b) in HURTING.into_iter().flat_map(|a| HURTING.map(|b| (a, b))) {
        let bits = clip.evaluate(&[a.to_bits(), b.to_bits(), 2.0_f64.to_bits()]);
        assert_eq!(bits, <Clip as Ternary>::at(a, b, 2.0).to_bits(), "{a:e} {b:e}");
        let bits = narrow_clip.evaluate(&[narrow(a), narrow(b), narrow(7.0)]);
        let expected = <Clip as Ternary>::at(a as f32, b as f32, 7.0).to_bits() as u64;
        assert!(same(bits, expected, Width::F32), "{a:e} {b:e}");
    }
}
