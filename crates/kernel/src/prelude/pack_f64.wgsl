// The number nearest to top * 2^(exponent - 63), ties to even; bit 63 of top is set, and its bit 0
// also stands for whatever was cut off below it.
fn pack_f64(sign: u64, exponent: i32, top: u64) -> f64 {
    if (exponent > 1023) { return bitcast<f64>(sign | 0x7ff0000000000000lu); }
    var kept = top;
    var field = exponent + 1022;
    if (field < 0) {
        kept = shift_right_sticky_u64(top, u32(-field));
        field = 0;
    }
    let rest = u32(kept) & 0x7ffu;
    // Bit 52 of the mantissa adds one to the field; a carry of the rounding may add another.
    var bits = (u64(u32(field)) << 52u) + (kept >> 11u);
    if (rest > 0x400u || (rest == 0x400u && (u32(bits) & 1u) == 1u)) { bits = bits + 1lu; }
    return bitcast<f64>(sign | bits);
}
