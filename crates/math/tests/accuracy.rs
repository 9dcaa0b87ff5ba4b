//! Accuracy of the elementary functions: golden values from high precision arithmetic (written by
//! benches/lab/coefficients/golden.py) at both widths, a strided sweep over all f32, and the
//! proof that the traced graph of each definition gives the scalar's bits. `--nocapture` prints
//! the table of worst errors. All f32 are swept by `cargo xtask exhaustive`.

use rung_math::*;

/// Worst error allowed anywhere, in ulp.
const LIMIT: f64 = 1.0;

struct Point {
    arguments: Vec<u64>,
    rounded: u64,
    /// (true - rounded) / ulp.
    rest: f64,
}

/// The records of a golden file for a function of `count` numbers.
fn points(golden: &[u8], width: Width, count: usize) -> Vec<Point> {
    let size = width.bits() as usize / 8;
    let word = |bytes: &[u8]| bytes.iter().rev().fold(0_u64, |word, &b| word << 8 | b as u64);
    let record = |bytes: &[u8]| Point {
        arguments: bytes[..count * size].chunks(size).map(word).collect(),
        rounded: word(&bytes[count * size..][..size]),
        rest: bytes[(count + 1) * size] as i8 as f64 / 254.0,
    };
    golden.chunks_exact((count + 1) * size + 1).map(record).collect()
}

fn value(bits: u64, width: Width) -> f64 {
    match width {
        Width::F32 => f32::from_bits(bits as u32) as f64,
        Width::F64 => f64::from_bits(bits),
    }
}

fn unary<F: Unary>(arguments: &[u64], width: Width) -> u64 {
    match width {
        Width::F32 => F::at(f32::from_bits(arguments[0] as u32)).to_bits() as u64,
        Width::F64 => F::at(f64::from_bits(arguments[0])).to_bits(),
    }
}

fn binary<F: Binary>(arguments: &[u64], width: Width) -> u64 {
    let single = |i: usize| f32::from_bits(arguments[i] as u32);
    let double = |i: usize| f64::from_bits(arguments[i]);
    match width {
        Width::F32 => F::at(single(0), single(1)).to_bits() as u64,
        Width::F64 => F::at(double(0), double(1)).to_bits(),
    }
}

/// In units of the last place of the rounded value; infinite when a NaN or a
/// sign is not exact.
fn error_in_ulp(got: u64, point: &Point, width: Width) -> f64 {
    let rounded = value(point.rounded, width);
    let sign = 1_u64 << (width.bits() - 1);
    if rounded.is_nan() || value(got, width).is_nan() || (got ^ point.rounded) & sign != 0 {
        return if got == point.rounded { 0.0 } else { f64::INFINITY };
    }
    // Neighbouring bit patterns are one ulp apart.
    let steps = (got & !sign) as i64 - (point.rounded & !sign) as i64;
    let rest = if rounded < 0.0 { -point.rest } else { point.rest };
    (steps as f64 - rest).abs()
}

fn check(
    name: &str,
    limit: f64,
    points: &[Point],
    graph: &Graph,
    scalar: impl Fn(&[u64], Width) -> u64,
) {
    let width = graph.width;
    assert!(points.len() > 1000);
    let (mut worst, mut place) = (0.0, &points[0].arguments);
    for point in points {
        let got = scalar(&point.arguments, width);
        let x = &point.arguments;
        assert_eq!(graph.evaluate(x), got, "{name} {width:?} trace at {x:x?}");
        let error = error_in_ulp(got, point, width);
        if error > worst {
            (worst, place) = (error, x);
        }
    }
    let x: Vec<f64> = place.iter().map(|&bits| value(bits, width)).collect();
    let (count, nodes) = (points.len(), graph.nodes.len());
    println!("| {name} {width:?} | {worst:.3} | {x:?} ({place:x?}) | {count} | {nodes} |");
    assert!(worst <= limit, "{name} {width:?}: {worst} ulp at {x:?} ({place:x?})");
}

macro_rules! golden {
    ($($test:ident, $trace:ident, $scalar:ident, $count:literal, $function:ty, $name:literal,
        $limit:expr;)*) => {$(
        #[test]
        fn $test() {
            let golden32 = include_bytes!(concat!("golden/", $name, "_32.bin"));
            let golden64 = include_bytes!(concat!("golden/", $name, "_64.bin"));
            for (golden, width) in [(&golden32[..], Width::F32), (&golden64[..], Width::F64)] {
                let points = points(golden, width, $count);
                let graph = $trace::<$function>(width);
                check($name, $limit, &points, &graph, $scalar::<$function>);
            }
        }
    )*};
}

macro_rules! golden_unary {
    ($($test:ident, $function:ty, $name:literal, $limit:expr;)*) => {
        golden! { $($test, trace_unary, unary, 1, $function, $name, $limit;)* }
    };
}

golden_unary! {
    exp_is_within_one_ulp, Exp, "exp", LIMIT;
    log_is_within_one_ulp, Log, "log", LIMIT;
    tanh_is_within_one_ulp, Tanh, "tanh", LIMIT;
    sin_is_within_one_ulp, Sin, "sin", LIMIT;
    cos_is_within_one_ulp, Cos, "cos", LIMIT;
    erf_is_within_one_ulp, Erf, "erf", LIMIT;
    tan_is_within_one_ulp, Tan, "tan", LIMIT;
    sinh_is_within_one_ulp, Sinh, "sinh", LIMIT;
    cosh_is_within_one_ulp, Cosh, "cosh", LIMIT;
    atan_is_within_one_ulp, Atan, "atan", LIMIT;
    asin_is_within_one_ulp, Asin, "asin", LIMIT;
    acos_is_within_one_ulp, Acos, "acos", LIMIT;
    expm1_is_within_one_ulp, Expm1, "expm1", LIMIT;
    log1p_is_within_one_ulp, Log1p, "log1p", LIMIT;
    exp2_is_within_one_ulp, Exp2, "exp2", LIMIT;
    log2_is_within_one_ulp, Log2, "log2", LIMIT;
    log10_is_within_one_ulp, Log10, "log10", LIMIT;
    asinh_is_within_one_ulp, Asinh, "asinh", LIMIT;
    acosh_is_within_one_ulp, Acosh, "acosh", LIMIT;
    atanh_is_within_one_ulp, Atanh, "atanh", LIMIT;
    cbrt_is_within_one_ulp, Cbrt, "cbrt", LIMIT;
    erfc_is_within_one_ulp, Erfc, "erfc", LIMIT;
    sigmoid_is_within_three_ulp, Sigmoid, "sigmoid", 3.0;
    softplus_is_within_three_ulp, Softplus, "softplus", 3.0;
}

golden! {
    power_is_within_one_ulp, trace_binary, binary, 2, Power, "power", LIMIT;
    atan2_is_within_one_ulp, trace_binary, binary, 2, Atan2, "atan2", LIMIT;
    hypot_is_within_one_ulp, trace_binary, binary, 2, Hypot, "hypot", LIMIT;
}

/// About 30,000 f32 over all exponents and both signs, against the f64 functions.
#[test]
fn f32_sweep_against_f64() {
    sweep::<Exp>("exp", f64::exp);
    sweep::<Log>("log", f64::ln);
    sweep::<Tanh>("tanh", f64::tanh);
    sweep::<Sin>("sin", f64::sin);
    sweep::<Cos>("cos", f64::cos);
    sweep::<Erf>("erf", Erf::at);
    sweep::<Tan>("tan", f64::tan);
    sweep::<Sinh>("sinh", f64::sinh);
    sweep::<Cosh>("cosh", f64::cosh);
    sweep::<Atan>("atan", f64::atan);
    sweep::<Asin>("asin", f64::asin);
    sweep::<Acos>("acos", f64::acos);
    sweep::<Expm1>("expm1", f64::exp_m1);
    sweep::<Log1p>("log1p", f64::ln_1p);
    sweep::<Exp2>("exp2", f64::exp2);
    sweep::<Log2>("log2", f64::log2);
    sweep::<Log10>("log10", f64::log10);
    sweep::<Asinh>("asinh", Asinh::at);
    sweep::<Acosh>("acosh", Acosh::at);
    sweep::<Atanh>("atanh", Atanh::at);
    sweep::<Cbrt>("cbrt", f64::cbrt);
    sweep::<Erfc>("erfc", Erfc::at);
}

fn sweep<F: Unary>(name: &str, reference: impl Fn(f64) -> f64) {
    for bits in (0..=u32::MAX as u64).step_by(140_009) {
        let x = f32::from_bits(bits as u32);
        let (got, exact) = (F::at(x), reference(x as f64));
        if exact.is_nan() {
            assert_eq!(got.to_bits(), 0x7FC0_0000, "{name} at {x:e}");
            continue;
        }
        let exponent = ((exact.to_bits() >> 52) & 0x7FF) as i32 - 1023;
        let ulp = 2.0_f64.powi(exponent.max(-126) - 23);
        let close = (got as f64 - exact).abs() <= LIMIT * ulp || got == exact as f32;
        assert!(close, "{name} at {x:e} ({bits:x}): {got:e} for {exact:e}");
    }
}
