// a * b + c rounded once. The product of two f32 is exact in f64. The sum is rounded to odd there
// (its last bit set when the two-sum error is not zero), and 53 bits rounded to odd round to 24 as
// the exact sum would.
fn fused_f32(a: f32, b: f32, c: f32) -> f32 {
    let product = f64(a) * f64(b);
    let addend = f64(c);
    let sum = product + addend;
    let part = sum - product;
    let error = (product - (sum - part)) + (addend - part);
    var bits = bitcast<u64>(sum);
    // For infinite and NaN sums the error is NaN and neither comparison holds.
    if ((error < 0.0lf || error > 0.0lf) && (bits & 1lu) == 0lu) {
        if ((error > 0.0lf) == (sum > 0.0lf)) { bits = bits + 1lu; } else { bits = bits - 1lu; }
    }
    return f32(bitcast<f64>(bits));
}
