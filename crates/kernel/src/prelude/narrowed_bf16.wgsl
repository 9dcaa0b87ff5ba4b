// The bits of the bfloat16 nearest to x, the even one of two.
fn narrowed_bf16(x: f32) -> u32 {
    let bits = bitcast<u32>(x);
    let rounded = (bits + 0x7fffu + ((bits >> 16u) & 1u)) >> 16u;
    return select(rounded, 0x7fc0u, (bits & 0x7fffffffu) > 0x7f800000u);
}
