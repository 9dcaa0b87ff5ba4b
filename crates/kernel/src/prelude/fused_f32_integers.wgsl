// a * b + c rounded once, by integers, for devices without doubles: the 48-bit product and the addend
// are aligned in 64 bits with their leading bits at bit 61.
fn fused_f32(a: f32, b: f32, c: f32) -> f32 {
    let ua = bitcast<u32>(a); let ub = bitcast<u32>(b); let uc = bitcast<u32>(c);
    let product_sign = (ua ^ ub) & 0x80000000u;
    let infinite = 0x7f800000u;
    if ((ua & infinite) == infinite || (ub & infinite) == infinite) { return a * b + c; }
    if ((uc & infinite) == infinite) { return c + c; }
    if ((ua << 1u) == 0u || (ub << 1u) == 0u) { return a * b + c; }
    let pa = parts_f32(ua); let pb = parts_f32(ub);
    var product = (u64(pa.mantissa) * u64(pb.mantissa)) << 14u;
    var product_exponent = pa.exponent + pb.exponent + 1;
    if ((product >> 61u) == 0lu) {
        product = product << 1u;
        product_exponent = product_exponent - 1;
    }
    if ((uc << 1u) == 0u) {
        return pack_f32(product_sign, product_exponent, narrow_sticky_u64(product << 2u));
    }
    let pc = parts_f32(uc);
    let addend_sign = uc & 0x80000000u;
    var addend = u64(pc.mantissa) << 38u;
    let distance = product_exponent - pc.exponent;
    if (distance >= 0) { addend = shift_right_sticky_u64(addend, u32(distance)); }
    else { product = shift_right_sticky_u64(product, u32(-distance)); }
    var sign = product_sign;
    var sum = product + addend;
    if (product_sign != addend_sign) {
        sum = product - addend;
        if (product < addend) { sum = addend - product; sign = addend_sign; }
    }
    if (sum == 0lu) { return 0.0; }
    let zeros = leading_zeros_u64(sum);
    let exponent = max(product_exponent, pc.exponent) + 2 - i32(zeros);
    return pack_f32(sign, exponent, narrow_sticky_u64(sum << zeros));
}

fn narrow_sticky_u64(x: u64) -> u32 {
    return u32(x >> 32u) | select(0u, 1u, u32(x) != 0u);
}
