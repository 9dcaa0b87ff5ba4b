//! Accuracy of the elementary functions: golden values from high precision arithmetic (written by
//! benches/lab/coefficients/golden.py) at both widths, a strided sweep over all f32, and the
//! proof that the traced graph of each definition gives the scalar's bits. `--nocapture` prints
//! the table of worst errors. The exhaustive f32 sweep is `examples/sweep.rs`.

use rung_math::{Cos, Erf, Exp, Log, Sin, Tanh, Unary, Width, trace_unary};

/// Worst error allowed anywhere, in ulp.
const LIMIT: f64 = 1.0;

struct Point {
    x: u64,
    rounded: u64,
    /// (true - rounded) / ulp.
    rest: f64,
}

fn points(golden: &[u8], width: Width) -> Vec<Point> {
    let size = width.bits() as usize / 8;
    let word = |bytes: &[u8]| bytes.iter().rev().fold(0_u64, |word, &b| word << 8 | b as u64);
    let record = |bytes: &[u8]| Point {
        x: word(&bytes[..size]),
        rounded: word(&bytes[size..2 * size]),
        rest: bytes[2 * size] as i8 as f64 / 254.0,
    };
    golden.chunks_exact(2 * size + 1).map(record).collect()
}

fn value(bits: u64, width: Width) -> f64 {
    match width {
        Width::F32 => f32::from_bits(bits as u32) as f64,
        Width::F64 => f64::from_bits(bits),
    }
}

fn scalar<F: Unary>(x: u64, width: Width) -> u64 {
    match width {
        Width::F32 => F::at(f32::from_bits(x as u32)).to_bits() as u64,
        Width::F64 => F::at(f64::from_bits(x)).to_bits(),
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

fn check<F: Unary>(name: &str, golden32: &[u8], golden64: &[u8]) {
    for (golden, width) in [(golden32, Width::F32), (golden64, Width::F64)] {
        let graph = trace_unary::<F>(width);
        let points = points(golden, width);
        assert!(points.len() > 1000);
        let (mut worst, mut place) = (0.0, 0);
        for point in &points {
            let got = scalar::<F>(point.x, width);
            assert_eq!(graph.evaluate(&[point.x]), got, "{name} {width:?} trace at {:x}", point.x);
            let error = error_in_ulp(got, point, width);
            if error > worst {
                (worst, place) = (error, point.x);
            }
        }
        let (count, nodes, x) = (points.len(), graph.nodes.len(), value(place, width));
        println!("| {name} {width:?} | {worst:.3} | {x:e} ({place:x}) | {count} | {nodes} |");
        assert!(worst <= LIMIT, "{name} {width:?}: {worst} ulp at {x:e} ({place:x})");
    }
}

macro_rules! golden {
    ($($test:ident, $function:ty, $name:literal;)*) => {$(
        #[test]
        fn $test() {
            check::<$function>(
                $name,
                include_bytes!(concat!("golden/", $name, "_32.bin")),
                include_bytes!(concat!("golden/", $name, "_64.bin")),
            );
        }
    )*};
}

golden! {
    exp_is_within_one_ulp, Exp, "exp";
    log_is_within_one_ulp, Log, "log";
    tanh_is_within_one_ulp, Tanh, "tanh";
    sin_is_within_one_ulp, Sin, "sin";
    cos_is_within_one_ulp, Cos, "cos";
    erf_is_within_one_ulp, Erf, "erf";
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
