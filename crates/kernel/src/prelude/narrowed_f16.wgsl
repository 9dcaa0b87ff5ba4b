// The bits of the float16 nearest to x, the even one of two.
fn narrowed_f16(x: f32) -> u32 {
    let bits = bitcast<u32>(x);
    let sign = (bits >> 16u) & 0x8000u;
    let magnitude = bits & 0x7fffffffu;
    if (magnitude > 0x7f800000u) { return sign | 0x7e00u; }
    // 65520 and above.
    if (magnitude >= 0x477ff000u) { return sign | 0x7c00u; }
    if (magnitude >= 0x38800000u) {
        let rounded = magnitude + 0xfffu + ((magnitude >> 13u) & 1u);
        return sign | ((rounded - 0x38000000u) >> 13u);
    }
    // Multiples of 2^-24; half of one and less is nothing.
    if (magnitude <= 0x33000000u) { return sign; }
    let significand = (magnitude & 0x7fffffu) | 0x800000u;
    let shift = 126u - (magnitude >> 23u);
    let kept = significand >> shift;
    let rest = significand & ((1u << shift) - 1u);
    let half = 1u << (shift - 1u);
    let up = (rest > half) | ((rest == half) & ((kept & 1u) == 1u));
    return sign | (kept + select(0u, 1u, up));
}
