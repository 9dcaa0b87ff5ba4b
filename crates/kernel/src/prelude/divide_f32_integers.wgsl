// a / b rounded once, one bit of the quotient a step.
fn divide_f32(a: f32, b: f32) -> f32 {
    let ua = bitcast<u32>(a); let ub = bitcast<u32>(b);
    let sign = (ua ^ ub) & 0x80000000u;
    let ma = ua & 0x7fffffffu; let mb = ub & 0x7fffffffu;
    let infinite = 0x7f800000u;
    if (ma > infinite || mb > infinite || (ma == infinite && mb == infinite)
        || (ma == 0u && mb == 0u)) { return bitcast<f32>(0x7fc00000u); }
    if (ma == infinite || mb == 0u) { return bitcast<f32>(sign | infinite); }
    if (ma == 0u || mb == infinite) { return bitcast<f32>(sign); }
    let pa = parts_f32(ma); let pb = parts_f32(mb);
    var exponent = pa.exponent - pb.exponent;
    var rest = pa.mantissa;
    if (rest < pb.mantissa) { rest = rest << 1u; exponent = exponent - 1; }
    var quotient = 0u;
    for (var i = 0u; i < 26u; i = i + 1u) {
        quotient = quotient << 1u;
        if (rest >= pb.mantissa) { rest = rest - pb.mantissa; quotient = quotient | 1u; }
        rest = rest << 1u;
    }
    return pack_f32(sign, exponent, (quotient << 6u) | select(0u, 1u, rest != 0u));
}
