// x with its last bit set where that is inexact, so that a second rounding to fewer bits rounds x.
fn odd_f32(x: f64) -> f32 {
    let nearest = f32(x);
    let bits = bitcast<u32>(nearest);
    if ((bits & 0x7fffffffu) >= 0x7f800000u) { return nearest; }
    if (f64(nearest) == x) { return nearest; }
    let above = abs(f64(nearest)) > abs(x);
    return bitcast<f32>(select(bits, bits - 1u, above) | 1u);
}
