// a / b rounded once, one bit of the quotient a step.
fn divide_f64(a: f64, b: f64) -> f64 {
    let ua = bitcast<u64>(a); let ub = bitcast<u64>(b);
    let sign = (ua ^ ub) & 0x8000000000000000lu;
    let ma = ua & 0x7ffffffffffffffflu; let mb = ub & 0x7ffffffffffffffflu;
    let infinite = 0x7ff0000000000000lu;
    if (ma > infinite || mb > infinite || (ma == infinite && mb == infinite)
        || (ma == 0lu && mb == 0lu)) { return bitcast<f64>(0x7ff8000000000000lu); }
    if (ma == infinite || mb == 0lu) { return bitcast<f64>(sign | infinite); }
    if (ma == 0lu || mb == infinite) { return bitcast<f64>(sign); }
    let pa = parts_f64(ma); let pb = parts_f64(mb);
    var exponent = pa.exponent - pb.exponent;
    var rest = pa.mantissa;
    if (rest < pb.mantissa) { rest = rest << 1u; exponent = exponent - 1; }
    var quotient = 0lu;
    for (var i = 0u; i < 56u; i = i + 1u) {
        quotient = quotient << 1u;
        if (rest >= pb.mantissa) { rest = rest - pb.mantissa; quotient = quotient | 1lu; }
        rest = rest << 1u;
    }
    return pack_f64(sign, exponent, (quotient << 8u) | select(0lu, 1lu, rest != 0lu));
}
