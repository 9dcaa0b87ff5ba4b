// The square root rounded once, one bit a step from two bits of the operand.
fn root_f32(a: f32) -> f32 {
    let bits = bitcast<u32>(a);
    if ((bits << 1u) == 0u || bits == 0x7f800000u) { return a; }
    if (bits > 0x7f800000u) { return bitcast<f32>(0x7fc00000u); }
    let parts = parts_f32(bits);
    // An even exponent, and the mantissa as 13 pairs of bits.
    var operand = parts.mantissa << 2u;
    if ((parts.exponent & 1) == 0) { operand = parts.mantissa << 1u; }
    var rest = 0u;
    var root = 0u;
    for (var i = 0u; i < 28u; i = i + 1u) {
        rest = rest << 2u;
        if (i < 13u) { rest = rest | ((operand >> (24u - 2u * i)) & 3u); }
        let trial = (root << 2u) | 1u;
        root = root << 1u;
        if (rest >= trial) { rest = rest - trial; root = root | 1u; }
    }
    // The first pair is never zero, so the root has 28 bits.
    return pack_f32(0u, parts.exponent >> 1u, (root << 4u) | select(0u, 1u, rest != 0u));
}
