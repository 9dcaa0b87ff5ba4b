// The square root rounded once, one bit a step from two bits of the operand.
fn root_f64(a: f64) -> f64 {
    let bits = bitcast<u64>(a);
    if ((bits << 1u) == 0lu || bits == 0x7ff0000000000000lu) { return a; }
    if (bits > 0x7ff0000000000000lu) { return bitcast<f64>(0x7ff8000000000000lu); }
    let parts = parts_f64(bits);
    // An even exponent, and the mantissa as 27 pairs of bits.
    var operand = parts.mantissa << 1u;
    if ((parts.exponent & 1) == 0) { operand = parts.mantissa; }
    var rest = 0lu;
    var root = 0lu;
    for (var i = 0u; i < 56u; i = i + 1u) {
        rest = rest << 2u;
        if (i < 27u) { rest = rest | ((operand >> (52u - 2u * i)) & 3lu); }
        let trial = (root << 2u) | 1lu;
        root = root << 1u;
        if (rest >= trial) { rest = rest - trial; root = root | 1lu; }
    }
    return pack_f64(0lu, parts.exponent >> 1u, (root << 8u) | select(0lu, 1lu, rest != 0lu));
}
