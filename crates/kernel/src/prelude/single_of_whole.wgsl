// The single nearest to an integer, by way of a double whose last bit is set where it is inexact.
fn single_of_whole(x: u64) -> f32 {
    let high = f64(bitcast<i32>(u32(x >> 32u))) * 4294967296.0lf;
    let low = f64(u32(x & 0xfffffffflu));
    let sum = high + low;
    let lost = low - (sum - high);
    if (lost == 0.0lf) { return f32(sum); }
    let bits = bitcast<u64>(sum);
    let above = (lost < 0.0lf) != (sum < 0.0lf);
    return f32(bitcast<f64>(select(bits, bits - 1lu, above) | 1lu));
}
