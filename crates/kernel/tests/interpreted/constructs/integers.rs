//! Operators and functions of integers, each with the operands at which WGSL says something special.

use super::each;

const LEAST: i32 = i32::MIN;
const LEAST_LONG: i64 = i64::MIN;

#[test]
fn words_wrap_around_and_divide_by_the_rules() {
    each::<u32, u32>("x + y", &[(&[3, 4], 7), (&[u32::MAX, 2], 1)]);
    each::<u32, u32>("x - y", &[(&[3, 4], u32::MAX), (&[9, 4], 5)]);
    each::<u32, u32>("x * y", &[(&[0x10001, 0x10000], 0x10000), (&[7, 6], 42)]);
    each::<u32, u32>("x / y", &[(&[7, 2], 3), (&[7, 0], 7), (&[7, u32::MAX], 0)]);
    each::<u32, u32>("x % y", &[(&[7, 4], 3), (&[7, 0], 0), (&[7, u32::MAX], 7)]);
    each::<u32, u32>("x / 3u + x % 3u", &[(&[11], 5)]);
}

#[test]
fn signed_words_wrap_around_and_divide_by_the_rules() {
    each::<i32, i32>("x + y", &[(&[3, -4], -1), (&[i32::MAX, 1], LEAST)]);
    each::<i32, i32>("x - y", &[(&[LEAST, 1], i32::MAX)]);
    each::<i32, i32>("x * y", &[(&[-3, 5], -15), (&[LEAST, -1], LEAST)]);
    each::<i32, i32>(
        "x / y",
        &[
            (&[-7, 2], -3),
            (&[7, -2], -3),
            (&[-7, 0], -7),
            (&[LEAST, -1], LEAST),
            (&[LEAST, 1], LEAST),
            (&[5, -1], -5),
        ],
    );
    each::<i32, i32>(
        "x % y",
        &[(&[-7, 2], -1), (&[7, -2], 1), (&[-7, 0], 0), (&[LEAST, -1], 0), (&[LEAST, 3], -2)],
    );
    each::<i32, i32>("x / -1 + x % 4", &[(&[-7], 4)]);
    each::<i32, i32>("-x", &[(&[5], -5), (&[LEAST], LEAST)]);
}

#[test]
fn bits_of_words_are_taken_together_and_shifted_modulo_the_width() {
    each::<u32, u32>("(x & y) | (z ^ w)", &[(&[0xff0f, 0x0fff, 0xf0, 0x30], 0x0fcf)]);
    each::<u32, u32>("~x", &[(&[0], u32::MAX), (&[0x0f0f_0f0f], 0xf0f0_f0f0)]);
    each::<u32, u32>("x << y", &[(&[1, 31], 1 << 31), (&[5, 32], 5), (&[5, 33], 10)]);
    each::<u32, u32>("x >> y", &[(&[1 << 31, 31], 1), (&[5, 32], 5), (&[6, u32::MAX], 0)]);
    each::<i32, i32>(
        "x >> u32(y)",
        &[(&[-8, 1], -4), (&[-1, 31], -1), (&[-8, 33], -4), (&[8, 35], 1)],
    );
    each::<i32, i32>("x << u32(y)", &[(&[-1, 4], -16), (&[3, 32], 3), (&[1, 31], LEAST)]);
    each::<i32, i32>("~(x | y) ^ (x & y)", &[(&[-4, 6], 5)]);
}

#[test]
fn words_are_compared_by_their_sign() {
    each::<u32, bool>("x < y", &[(&[1, 2], true), (&[u32::MAX, 0], false), (&[2, 2], false)]);
    each::<u32, bool>("x <= y", &[(&[2, 2], true), (&[3, 2], false)]);
    each::<u32, bool>("x > y", &[(&[u32::MAX, 0], true), (&[2, 2], false)]);
    each::<u32, bool>("x >= y", &[(&[2, 2], true), (&[1, u32::MAX], false)]);
    each::<u32, bool>("x == y", &[(&[2, 2], true), (&[1, 2], false)]);
    each::<u32, bool>("x != y", &[(&[2, 2], false), (&[1, 2], true)]);
    each::<i32, bool>("x < y", &[(&[-1, 0], true), (&[LEAST, i32::MAX], true), (&[2, 2], false)]);
    each::<i32, bool>("x <= y", &[(&[-2, -2], true), (&[3, -2], false)]);
    each::<i32, bool>("x > y", &[(&[-1, LEAST], true), (&[0, 1], false)]);
    each::<i32, bool>("x >= y", &[(&[-1, -1], true), (&[-1, 0], false)]);
    each::<i32, bool>("(x == y) == (z != w)", &[(&[1, 1, 2, 3], true), (&[1, 2, 2, 3], false)]);
}

#[test]
fn functions_of_words() {
    each::<u32, u32>(
        "abs(x) + min(x, y) * max(x, y)",
        &[(&[3, 5], 18), (&[u32::MAX, 1], 0xffff_fffe)],
    );
    each::<u32, u32>("clamp(x, y, z)", &[(&[3, 5, 9], 5), (&[7, 5, 9], 7), (&[u32::MAX, 5, 9], 9)]);
    each::<i32, i32>("abs(x)", &[(&[-5], 5), (&[LEAST], LEAST), (&[7], 7)]);
    each::<i32, i32>("sign(x)", &[(&[-5], -1), (&[0], 0), (&[7], 1), (&[LEAST], -1)]);
    each::<i32, i32>("min(x, y)", &[(&[-1, 1], -1), (&[LEAST, i32::MAX], LEAST)]);
    each::<i32, i32>("max(x, y)", &[(&[-1, 1], 1), (&[LEAST, -2], -2)]);
    each::<i32, i32>("clamp(x, y, z)", &[(&[-9, -5, 5], -5), (&[0, -5, 5], 0), (&[9, -5, 5], 5)]);
    each::<i32, i32>("select(x, y, z < 0)", &[(&[1, 2, -1], 2), (&[1, 2, 0], 1)]);
}

#[test]
fn places_and_counts_of_bits_of_words() {
    each::<u32, u32>("countOneBits(x)", &[(&[0], 0), (&[0xf0f0], 8), (&[u32::MAX], 32)]);
    each::<u32, u32>("countLeadingZeros(x)", &[(&[0], 32), (&[1], 31), (&[u32::MAX], 0)]);
    each::<u32, u32>("countTrailingZeros(x)", &[(&[0], 32), (&[8], 3), (&[1 << 31], 31)]);
    each::<u32, u32>(
        "firstLeadingBit(x)",
        &[(&[0], u32::MAX), (&[1], 0), (&[0x90], 7), (&[u32::MAX], 31)],
    );
    each::<u32, u32>("firstTrailingBit(x)", &[(&[0], u32::MAX), (&[0x90], 4), (&[1 << 31], 31)]);
    each::<u32, u32>("reverseBits(x)", &[(&[1], 1 << 31), (&[0x8000_00f0], 0x0f00_0001)]);
    each::<i32, i32>("countOneBits(x)", &[(&[-1], 32), (&[LEAST], 1)]);
    each::<i32, i32>("countLeadingZeros(x)", &[(&[-1], 0), (&[1], 31), (&[0], 32)]);
    each::<i32, i32>("countTrailingZeros(x)", &[(&[LEAST], 31), (&[0], 32), (&[-2], 1)]);
    each::<i32, i32>(
        "firstLeadingBit(x)",
        &[(&[0], -1), (&[-1], -1), (&[-17], 4), (&[16], 4), (&[LEAST], 30)],
    );
    each::<i32, i32>("firstTrailingBit(x)", &[(&[0], -1), (&[LEAST], 31), (&[-2], 1)]);
    each::<i32, i32>("reverseBits(x)", &[(&[1], LEAST), (&[-1], -1)]);
}

#[test]
fn fields_of_bits_end_at_the_width() {
    each::<u32, u32>(
        "extractBits(x, y, z)",
        &[
            (&[0x1234_5678, 8, 8], 0x56),
            (&[0x1234_5678, 28, 9], 1),
            (&[u32::MAX, 0, 0], 0),
            (&[u32::MAX, 0, 32], u32::MAX),
            (&[u32::MAX, 32, 5], 0),
            (&[u32::MAX, 300, 300], 0),
        ],
    );
    each::<i32, i32>(
        "extractBits(x, u32(y), u32(z))",
        &[
            (&[0x80, 4, 4], -8),
            (&[0x70, 4, 4], 7),
            (&[-1, 31, 9], -1),
            (&[-1, 3, 0], 0),
            (&[LEAST, 0, 32], LEAST),
            (&[-1, 40, 3], 0),
        ],
    );
    each::<u32, u32>(
        "insertBits(x, y, z, w)",
        &[
            (&[0, 0xff, 4, 8], 0xff0),
            (&[u32::MAX, 0, 28, 9], 0x0fff_ffff),
            (&[5, 0xff, 0, 0], 5),
            (&[5, 9, 0, 32], 9),
            (&[5, 9, 32, 3], 5),
            (&[5, 9, 400, 300], 5),
        ],
    );
    each::<i32, i32>(
        "insertBits(x, y, u32(z), u32(w))",
        &[(&[0, -1, 30, 5], -0x4000_0000), (&[-1, 0, 0, 31], LEAST)],
    );
}

#[test]
fn bytes_are_multiplied_and_added() {
    each::<u32, u32>(
        "dot4U8Packed(x, y)",
        &[(&[0xff02_0301, 0xff04_0506], 255 * 255 + 8 + 15 + 6)],
    );
    each::<u32, i32>(
        "dot4I8Packed(x, y)",
        &[(&[0xff02_0301, 0x7f04_0506], -127 + 8 + 15 + 6), (&[0x8080_8080, 0x8080_8080], 65_536)],
    );
}

#[test]
fn long_words_wrap_around_and_divide_by_the_rules() {
    const HIGH: u64 = 1 << 63;
    each::<u64, u64>("x + y", &[(&[u64::MAX, 2], 1), (&[0xffff_ffff, 1], 1 << 32)]);
    each::<u64, u64>("x - y", &[(&[0, 1], u64::MAX), (&[1 << 32, 1], 0xffff_ffff)]);
    each::<u64, u64>("x * y", &[(&[1 << 33, 3 << 29], 3 << 62), (&[u64::MAX, u64::MAX], 1)]);
    each::<u64, u64>(
        "x / y",
        &[(&[1 << 40, 3], 366_503_875_925), (&[9, 0], 9), (&[9, u64::MAX], 0)],
    );
    each::<u64, u64>("x % y", &[(&[1 << 40, 3], 1), (&[9, 0], 0), (&[HIGH, u64::MAX], HIGH)]);
    each::<u64, u64>("(x & y) | (z ^ ~w)", &[(&[0xf << 40, 0xc << 40, 1, !2], 0xc << 40 | 3)]);
    each::<u64, u64>(
        "x << u32(y)",
        &[(&[1, 63], HIGH), (&[5, 64], 5), (&[5, 65], 10), (&[5, 32], 5 << 32)],
    );
    each::<u64, u64>("x >> u32(y)", &[(&[HIGH, 63], 1), (&[5, 64], 5), (&[6, 65], 3)]);
    each::<i64, i64>(
        "x / y",
        &[(&[-7, 2], -3), (&[-7, 0], -7), (&[LEAST_LONG, -1], LEAST_LONG), (&[5, -1], -5)],
    );
    each::<i64, i64>(
        "x % y",
        &[(&[-7, 2], -1), (&[-7, 0], 0), (&[LEAST_LONG, -1], 0), (&[7, -4], 3)],
    );
    each::<i64, i64>(
        "x * y - z + -w",
        &[(&[-3, 5, 1, 1], -17), (&[LEAST_LONG, -1, 0, 0], LEAST_LONG)],
    );
    each::<i64, i64>("x >> u32(y)", &[(&[-8, 1], -4), (&[LEAST_LONG, 63], -1), (&[-8, 65], -4)]);
    each::<i64, i64>("x << u32(y)", &[(&[-1, 40], -1 << 40), (&[3, 64], 3)]);
    each::<i64, i64>("~x ^ y", &[(&[0, 5], !5)]);
}

#[test]
fn long_words_are_compared_by_their_sign() {
    each::<u64, bool>("x < y", &[(&[1, 1 << 40], true), (&[u64::MAX, 0], false)]);
    each::<u64, bool>("x >= y", &[(&[1 << 32, 1], true), (&[1, 1 << 32], false)]);
    each::<u64, bool>("(x <= y) & (z > w)", &[(&[5, 5, 1 << 33, 1], true), (&[6, 5, 2, 1], false)]);
    each::<i64, bool>("x < y", &[(&[-1, 0], true), (&[LEAST_LONG, 1], true), (&[1, -1], false)]);
    each::<i64, bool>("x > y", &[(&[1 << 40, 1], true), (&[-1, 1], false)]);
    each::<i64, bool>("(x <= y) & (z >= w)", &[(&[-5, -5, 2, 2], true), (&[1, 0, 2, 2], false)]);
    each::<i64, bool>("(x == y) & (z != w)", &[(&[1 << 40, 1 << 40, 1 << 32, 0], true)]);
}

#[test]
fn functions_of_long_words() {
    each::<i64, i64>("abs(x)", &[(&[-5 << 40], 5 << 40), (&[LEAST_LONG], LEAST_LONG)]);
    each::<i64, i64>("sign(x)", &[(&[-5 << 40], -1), (&[0], 0), (&[1 << 40], 1)]);
    each::<i64, i64>("min(x, y) + max(z, w)", &[(&[-1 << 40, 1, -5, 1 << 40], 0)]);
    each::<i64, i64>("clamp(x, y, z)", &[(&[LEAST_LONG, -5, 5], -5), (&[1 << 40, -5, 5], 5)]);
    each::<u64, u64>("clamp(x, y, z)", &[(&[u64::MAX, 5, 1 << 40], 1 << 40), (&[1, 5, 9], 5)]);
    each::<u64, u64>("min(x, y) + max(z, w)", &[(&[u64::MAX, 1, 1 << 40, 3], (1 << 40) + 1)]);
    each::<i64, i64>(
        "select(x, y, z < w)",
        &[(&[1 << 40, 2, -1, 0], 2), (&[1 << 40, 2, 0, 0], 1 << 40)],
    );
}

/// naga takes functions of bits at 64 bits, too.
#[test]
fn places_and_counts_of_bits_of_long_words() {
    each::<u64, u64>("countOneBits(x)", &[(&[0], 0), (&[u64::MAX], 64), (&[1 << 40], 1)]);
    each::<u64, u64>("countLeadingZeros(x)", &[(&[0], 64), (&[1], 63), (&[1 << 40], 23)]);
    each::<u64, u64>("countTrailingZeros(x)", &[(&[0], 64), (&[1 << 40], 40)]);
    each::<u64, u64>("firstLeadingBit(x)", &[(&[0], u64::MAX), (&[1 << 40], 40)]);
    each::<u64, u64>("firstTrailingBit(x)", &[(&[0], u64::MAX), (&[3 << 40], 40)]);
    each::<u64, u64>("reverseBits(x)", &[(&[1], 1 << 63), (&[3 << 40], 3 << 22)]);
    each::<i64, i64>("firstLeadingBit(x)", &[(&[0], -1), (&[-1], -1), (&[!(1 << 40)], 40)]);
    each::<i64, i64>("countLeadingZeros(x)", &[(&[-1], 0), (&[1], 63)]);
}
