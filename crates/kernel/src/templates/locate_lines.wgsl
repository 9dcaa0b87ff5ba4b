fn element(i: u32) -> ${type} {
    let x = ${x};
    let y = line_at(x);
    return ${value};
}

fn line_at(x: f64) -> f64 {
    let last = parameter(4u) - 1u;
    let bits = bitcast<u64>(x) & 0x7ffffffffffffffflu;
    if (bits > 0x7ff0000000000000lu) { return bitcast<f64>(0x7ff8000000000000lu); }
    if (x < b1[parameter(2u)]) { return ${left}; }
    if (x > b1[parameter(2u) + last]) { return ${right}; }
    let low = place(x, true) - 1u;
    let at = parameter(3u) + low;
    if (low == last) { return b2[at]; }
    let start = b1[parameter(2u) + low];
    let rise = b2[at + 1u] - b2[at];
    return b2[at] + (x - start) * divide_f64(rise, b1[parameter(2u) + low + 1u] - start);
}
