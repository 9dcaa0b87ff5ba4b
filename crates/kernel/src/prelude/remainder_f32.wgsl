// a - n b for the whole number n next to a / b towards zero, exact: long division of the
// significands, eight bits of the quotient a step.
fn remainder_f32(a: f32, b: f32) -> f32 {
    let ua = bitcast<u32>(a);
    let x = ua & 0x7fffffffu;
    let y = bitcast<u32>(b) & 0x7fffffffu;
    if (x >= 0x7f800000u || y > 0x7f800000u || y == 0u) { return bitcast<f32>(0x7fc00000u); }
    if (x < y) { return bitcast<f32>(ua); }
    let last = max(y >> 23u, 1u);
    let mx = (x & 0x7fffffu) | select(0x800000u, 0u, x < 0x800000u);
    let my = (y & 0x7fffffu) | select(0x800000u, 0u, y < 0x800000u);
    var rest = mx - (mx / my) * my;
    var places = max(x >> 23u, 1u) - last;
    while (places > 0u && rest > 0u) {
        let step = min(places, 8u);
        rest = rest << step;
        rest = rest - (rest / my) * my;
        places = places - step;
    }
    let sign = ua & 0x80000000u;
    if (rest == 0u) { return bitcast<f32>(sign); }
    let free = countLeadingZeros(rest) - 8u;
    if (free < last) {
        return bitcast<f32>(sign | (((rest << free) & 0x7fffffu) | ((last - free) << 23u)));
    }
    return bitcast<f32>(sign | (rest << (last - 1u)));
}
