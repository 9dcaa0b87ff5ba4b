// The bits of the float16 nearest to x, the even one of two. Without branches: Mesa searches the
// conditions of branches for what is uniform, in a number of steps exponential in the expression.
fn narrowed_f16(x: f32) -> u32 {
    let bits = bitcast<u32>(x);
    let sign = (bits >> 16u) & 0x8000u;
    let magnitude = bits & 0x7fffffffu;
    let rounded = (magnitude + 0xfffu + ((magnitude >> 13u) & 1u) - 0x38000000u) >> 13u;
    // Multiples of 2^-24; half of one and less is nothing.
    let significand = (magnitude & 0x7fffffu) | 0x800000u;
    let shift = 126u - min(magnitude >> 23u, 112u);
    let kept = significand >> min(shift, 31u);
    let half = 1u << min(shift - 1u, 30u);
    let rest = significand & (2u * half - 1u);
    let up = (rest > half) | ((rest == half) & ((kept & 1u) == 1u));
    let small = select(kept + select(0u, 1u, up), 0u, magnitude <= 0x33000000u);
    let finite = select(small, rounded, magnitude >= 0x38800000u);
    // 65520 and above.
    let number = select(finite, 0x7c00u, magnitude >= 0x477ff000u);
    return sign | select(number, 0x7e00u, magnitude > 0x7f800000u);
}
