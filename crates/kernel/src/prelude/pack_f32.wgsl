// The number nearest to top * 2^(exponent - 31), ties to even; bit 31 of top is set, and its bit 0
// also stands for whatever was cut off below it.
fn pack_f32(sign: u32, exponent: i32, top: u32) -> f32 {
    if (exponent > 127) { return bitcast<f32>(sign | 0x7f800000u); }
    var kept = top;
    var field = exponent + 126;
    if (field < 0) {
        let shift = u32(-field);
        if (shift >= 32u) { kept = 1u; } else {
            kept = (top >> shift) | select(0u, 1u, (top << (32u - shift)) != 0u);
        }
        field = 0;
    }
    let rest = kept & 0xffu;
    var bits = (u32(field) << 23u) + (kept >> 8u);
    if (rest > 0x80u || (rest == 0x80u && (bits & 1u) == 1u)) { bits = bits + 1u; }
    return bitcast<f32>(sign | bits);
}
