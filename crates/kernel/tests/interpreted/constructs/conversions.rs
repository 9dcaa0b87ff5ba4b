//! Conversions between every two scalar types: floats to integers towards zero, clamped to what both
//! have, NaN as 0; anything to floats rounded once; integers by their low bits.

use super::{Half, each, h};

const INFINITY: f32 = f32::INFINITY;

#[test]
fn singles_become_integers() {
    each::<f32, i32>(
        "i32(x)",
        &[
            (&[-1.9], -1),
            (&[f32::NAN], 0),
            (&[3e9], 0x7fff_ff80),
            (&[-3e9], i32::MIN),
            (&[INFINITY], 0x7fff_ff80),
            (&[-INFINITY], i32::MIN),
            (&[-0.0], 0),
        ],
    );
    each::<f32, u32>(
        "u32(x)",
        &[
            (&[1.9], 1),
            (&[-1.9], 0),
            (&[f32::NAN], 0),
            (&[5e9], 0xffff_ff00),
            (&[INFINITY], 0xffff_ff00),
        ],
    );
    each::<f32, i64>(
        "i64(x)",
        &[(&[-1.9], -1), (&[f32::NAN], 0), (&[1e30], 0x7fff_ff80_0000_0000), (&[-1e30], i64::MIN)],
    );
    each::<f32, u64>(
        "u64(x)",
        &[
            (&[1e12], 999_999_995_904),
            (&[-1.0], 0),
            (&[f32::NAN], 0),
            (&[1e30], 0xffff_ff00_0000_0000),
        ],
    );
    each::<f32, bool>(
        "bool(x)",
        &[(&[0.0], false), (&[-0.0], false), (&[1e-40], true), (&[f32::NAN], true)],
    );
}

#[test]
fn doubles_become_integers() {
    each::<f64, i32>(
        "i32(x)",
        &[
            (&[-1.9], -1),
            (&[f64::NAN], 0),
            (&[3e9], i32::MAX),
            (&[-3e9], i32::MIN),
            (&[2_147_483_646.9], i32::MAX - 1),
        ],
    );
    each::<f64, u32>(
        "u32(x)",
        &[(&[4_294_967_294.5], u32::MAX - 1), (&[-1.0], 0), (&[f64::NAN], 0), (&[1e30], u32::MAX)],
    );
    each::<f64, i64>(
        "i64(x)",
        &[
            (&[-1e15], -1_000_000_000_000_000),
            (&[f64::NAN], 0),
            (&[1e30], 0x7fff_ffff_ffff_fc00),
            (&[-1e30], i64::MIN),
        ],
    );
    each::<f64, u64>(
        "u64(x)",
        &[
            (&[1e15], 1_000_000_000_000_000),
            (&[f64::NAN], 0),
            (&[1e30], 0xffff_ffff_ffff_f800),
            (&[-5.0], 0),
        ],
    );
    each::<f64, bool>("bool(x)", &[(&[-0.0], false), (&[5e-324], true), (&[f64::NAN], true)]);
}

#[test]
fn halves_become_integers() {
    each::<Half, i32>("i32(x)", &[(&[h(-65504.0)], -65504), (&[h(1.75)], 1), (&[h(f32::NAN)], 0)]);
    each::<Half, u32>("u32(x)", &[(&[h(65504.0)], 65504), (&[h(-1.0)], 0), (&[h(f32::NAN)], 0)]);
    each::<Half, i64>("i64(x)", &[(&[h(-65504.0)], -65504), (&[h(f32::NAN)], 0)]);
    each::<Half, u64>("u64(x)", &[(&[h(65504.0)], 65504), (&[h(-3.0)], 0), (&[h(f32::NAN)], 0)]);
    each::<Half, bool>(
        "bool(x)",
        &[(&[h(-0.0)], false), (&[Half(1)], true), (&[h(f32::NAN)], true)],
    );
}

#[test]
fn floats_become_floats() {
    each::<f32, f64>(
        "f64(x)",
        &[
            (&[0.1], f64::from(0.1f32)),
            (&[1e-40], f64::from(1e-40f32)),
            (&[-INFINITY], f64::NEG_INFINITY),
        ],
    );
    each::<f64, f32>(
        "f32(x)",
        &[
            (&[0.1], 0.1),
            (&[1e300], INFINITY),
            (&[1e-46], 0.0),
            (&[1e-40], 1e-40),
            (&[f64::NAN], f32::NAN),
        ],
    );
    each::<f32, Half>(
        "f16(x)",
        &[
            (&[2049.0], h(2048.0)),
            (&[65520.0], h(INFINITY)),
            (&[6e-8], Half(1)),
            (&[2.9e-8], Half(0)),
            (&[-0.0], h(-0.0)),
        ],
    );
    // Rounded once: to singles first it were a tie.
    each::<f64, Half>("f16(x)", &[(&[2_049.000_000_01], h(2050.0)), (&[1e9], h(INFINITY))]);
    each::<Half, f32>(
        "f32(x)",
        &[(&[Half(1)], 2f32.powi(-24)), (&[h(-65504.0)], -65504.0), (&[h(INFINITY)], INFINITY)],
    );
    each::<Half, f64>("f64(x)", &[(&[Half(1)], 2f64.powi(-24)), (&[h(0.1)], 0.099_975_585_937_5)]);
}

#[test]
fn integers_become_floats_rounded_once() {
    each::<i32, f32>("f32(x)", &[(&[16_777_217], 16_777_216.0), (&[i32::MIN], -2_147_483_648.0)]);
    each::<u32, f32>("f32(x)", &[(&[u32::MAX], 4_294_967_296.0), (&[16_777_219], 16_777_220.0)]);
    each::<i64, f32>(
        "f32(x)",
        &[(&[i64::MAX], 9.223_372e18), (&[(1 << 40) + 1], 1_099_511_627_776.0)],
    );
    each::<u64, f32>(
        "f32(x)",
        &[(&[u64::MAX], 1.844_674_4e19), (&[(1 << 63) + (1 << 39) + 1], 9.223_373e18)],
    );
    each::<i32, f64>("f64(x)", &[(&[-7], -7.0), (&[i32::MAX], 2_147_483_647.0)]);
    each::<u32, f64>("f64(x)", &[(&[u32::MAX], 4_294_967_295.0)]);
    each::<i64, f64>(
        "f64(x)",
        &[(&[(1 << 53) + 1], 9_007_199_254_740_992.0), (&[i64::MIN], -9_223_372_036_854_775_808.0)],
    );
    each::<u64, f64>("f64(x)", &[(&[u64::MAX], 18_446_744_073_709_551_616.0)]);
    each::<i32, Half>("f16(x)", &[(&[-2049], h(-2048.0)), (&[70_000], h(INFINITY))]);
    each::<u32, Half>("f16(x)", &[(&[2051], h(2052.0)), (&[65_504], h(65504.0))]);
    each::<i64, Half>("f16(x)", &[(&[-3], h(-3.0)), (&[i64::MIN], h(-INFINITY))]);
    each::<u64, Half>("f16(x)", &[(&[2049], h(2048.0)), (&[u64::MAX], h(INFINITY))]);
}

#[test]
fn integers_become_integers_by_their_bits() {
    each::<i32, u32>("u32(x)", &[(&[-1], u32::MAX)]);
    each::<u32, i32>("i32(x)", &[(&[u32::MAX], -1)]);
    each::<i32, i64>("i64(x)", &[(&[-5], -5), (&[i32::MIN], -1 << 31)]);
    each::<i32, u64>("u64(x)", &[(&[-5], u64::MAX - 4)]);
    each::<u32, i64>("i64(x)", &[(&[u32::MAX], 0xffff_ffff)]);
    each::<u32, u64>("u64(x)", &[(&[u32::MAX], 0xffff_ffff)]);
    each::<i64, i32>("i32(x)", &[(&[-5], -5), (&[0x1_8000_0000], i32::MIN)]);
    each::<i64, u32>("u32(x)", &[(&[-1 << 32 | 7], 7)]);
    each::<u64, i32>("i32(x)", &[(&[u64::MAX], -1)]);
    each::<u64, u32>("u32(x)", &[(&[0x1_0000_0007], 7)]);
    each::<i64, u64>("u64(x)", &[(&[-1], u64::MAX)]);
    each::<u64, i64>("i64(x)", &[(&[u64::MAX], -1)]);
}

#[test]
fn truths_become_numbers_and_back() {
    each::<bool, u32>("u32(x) + 1u", &[(&[true], 2), (&[false], 1)]);
    each::<bool, i32>("-i32(x)", &[(&[true], -1), (&[false], 0)]);
    each::<bool, u64>("u64(x)", &[(&[true], 1), (&[false], 0)]);
    each::<bool, i64>("-i64(x)", &[(&[true], -1), (&[false], 0)]);
    each::<bool, f32>("f32(x)", &[(&[true], 1.0), (&[false], 0.0)]);
    each::<bool, f64>("f64(x)", &[(&[true], 1.0), (&[false], 0.0)]);
    each::<bool, Half>("f16(x)", &[(&[true], h(1.0)), (&[false], h(0.0))]);
    each::<u32, bool>("bool(x)", &[(&[0], false), (&[1 << 31], true)]);
    each::<i32, bool>("bool(x)", &[(&[0], false), (&[-1], true)]);
    each::<u64, bool>("bool(x)", &[(&[0], false), (&[1 << 32], true)]);
    each::<i64, bool>("bool(x)", &[(&[0], false), (&[i64::MIN], true)]);
    each::<bool, bool>("bool(x)", &[(&[true], true), (&[false], false)]);
}

#[test]
fn bits_are_kept_by_bitcast() {
    each::<f32, u32>("bitcast<u32>(x)", &[(&[1.0], 0x3f80_0000), (&[-0.0], 1 << 31)]);
    each::<f32, i32>("bitcast<i32>(x)", &[(&[-2.0], -0x4000_0000)]);
    each::<u32, f32>(
        "bitcast<f32>(x)",
        &[(&[0x4049_0fdb], std::f32::consts::PI), (&[1], f32::from_bits(1))],
    );
    each::<i32, u32>("bitcast<u32>(x)", &[(&[-1], u32::MAX)]);
    each::<f64, u64>("bitcast<u64>(x)", &[(&[-0.0], 1 << 63), (&[1.0], 0x3ff << 52)]);
    each::<i64, f64>("bitcast<f64>(x)", &[(&[1], 5e-324), (&[0x4008 << 48], 3.0)]);
}
