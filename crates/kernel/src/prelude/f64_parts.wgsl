// A finite number that is not zero: mantissa * 2^(exponent - 52), 2^52 <= mantissa < 2^53.
struct Parts64 { mantissa: u64, exponent: i32 }

fn parts_f64(bits: u64) -> Parts64 {
    let fraction = bits & 0xffffffffffffflu;
    let field = i32(u32(bits >> 52u) & 0x7ffu);
    if (field != 0) { return Parts64(fraction | 0x10000000000000lu, field - 1023); }
    let shift = leading_zeros_u64(fraction) - 11u;
    return Parts64(fraction << shift, -1022 - i32(shift));
}
