// a - n b for the whole number n next to a / b towards zero, exact: long division of the
// significands, eleven bits of the quotient a step.
fn remainder_f64(a: f64, b: f64) -> f64 {
    let ua = bitcast<u64>(a);
    let x = ua & 0x7ffffffffffffffflu;
    let y = bitcast<u64>(b) & 0x7ffffffffffffffflu;
    let infinite = 0x7ff0000000000000lu;
    if (x >= infinite || y > infinite || y == 0lu) { return bitcast<f64>(0x7ff8000000000000lu); }
    if (x < y) { return bitcast<f64>(ua); }
    let hidden = 0x10000000000000lu;
    let last = max(u32(y >> 52u), 1u);
    let mx = (x & 0xffffffffffffflu) | select(hidden, 0lu, x < hidden);
    let my = (y & 0xffffffffffffflu) | select(hidden, 0lu, y < hidden);
    var rest = mx - (mx / my) * my;
    var places = max(u32(x >> 52u), 1u) - last;
    while (places > 0u && rest > 0lu) {
        let step = min(places, 11u);
        rest = rest << step;
        rest = rest - (rest / my) * my;
        places = places - step;
    }
    let sign = ua & 0x8000000000000000lu;
    if (rest == 0lu) { return bitcast<f64>(sign); }
    let free = leading_zeros_u64(rest) - 11u;
    if (free < last) {
        let kept = (rest << free) & 0xffffffffffffflu;
        return bitcast<f64>(sign | kept | (u64(last - free) << 52u));
    }
    return bitcast<f64>(sign | (rest << (last - 1u)));
}
