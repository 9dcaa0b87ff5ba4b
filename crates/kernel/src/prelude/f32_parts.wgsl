// A finite number that is not zero: mantissa * 2^(exponent - 23), 2^23 <= mantissa < 2^24.
struct Parts32 { mantissa: u32, exponent: i32 }

fn parts_f32(bits: u32) -> Parts32 {
    let fraction = bits & 0x7fffffu;
    let field = i32((bits >> 23u) & 0xffu);
    if (field != 0) { return Parts32(fraction | 0x800000u, field - 127); }
    let shift = countLeadingZeros(fraction) - 8u;
    return Parts32(fraction << shift, -126 - i32(shift));
}
