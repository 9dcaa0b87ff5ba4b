// The number with these bits of float16, exactly.
fn widened_f16(half: u32) -> f32 {
    let sign = (half & 0x8000u) << 16u;
    let exponent = (half >> 10u) & 31u;
    let fraction = half & 0x3ffu;
    if (exponent == 31u) { return bitcast<f32>(sign | 0x7f800000u | (fraction << 13u)); }
    if (exponent > 0u) { return bitcast<f32>(sign | ((exponent + 112u) << 23u) | (fraction << 13u)); }
    // A multiple of 2^-24.
    return bitcast<f32>(bitcast<u32>(f32(fraction) * bitcast<f32>(0x33800000u)) | sign);
}
