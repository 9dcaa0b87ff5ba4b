// a * b + c rounded once, by integers. The 106-bit product and the addend are aligned in 128 bits
// with their leading bits at bit 125, so neither loses a bit before the other is more than 20
// places away; what is cut off then goes into bit 0 (rounding to odd), far below the last bit that
// the result keeps.
struct Wide { high: u64, low: u64 }

fn shift_right_sticky_wide(x: Wide, amount: u32) -> Wide {
    if (amount == 0u) { return x; }
    if (amount >= 64u) {
        let cut = select(0lu, 1lu, x.low != 0lu);
        return Wide(0lu, shift_right_sticky_u64(x.high, amount - 64u) | cut);
    }
    let cut = select(0lu, 1lu, (x.low << (64u - amount)) != 0lu);
    return Wide(x.high >> amount, (x.low >> amount) | (x.high << (64u - amount)) | cut);
}

fn shift_left_wide(x: Wide, amount: u32) -> Wide {
    if (amount == 0u) { return x; }
    if (amount >= 64u) { return Wide(x.low << (amount - 64u), 0lu); }
    return Wide((x.high << amount) | (x.low >> (64u - amount)), x.low << amount);
}

fn minus_wide(a: Wide, b: Wide) -> Wide {
    return Wide(a.high - b.high - select(0lu, 1lu, a.low < b.low), a.low - b.low);
}

fn fused_f64(a: f64, b: f64, c: f64) -> f64 {
    let ua = bitcast<u64>(a); let ub = bitcast<u64>(b); let uc = bitcast<u64>(c);
    let infinite = 0x7ff0000000000000lu;
    if ((ua & infinite) == infinite || (ub & infinite) == infinite) { return a * b + c; }
    if ((uc & infinite) == infinite) { return c + c; }
    if ((ua << 1u) == 0lu || (ub << 1u) == 0lu) { return a * b + c; }
    if ((uc << 1u) == 0lu) { return a * b; }
    let pa = parts_f64(ua); let pb = parts_f64(ub); let pc = parts_f64(uc);
    let product_sign = (ua ^ ub) & 0x8000000000000000lu;
    let addend_sign = uc & 0x8000000000000000lu;
    var product = Wide(high_product_u64(pa.mantissa, pb.mantissa), pa.mantissa * pb.mantissa);
    var product_exponent = pa.exponent + pb.exponent + 1;
    // The leading bit is bit 105, or 104 when the product of the mantissas is below 2.
    var up = 20u;
    if ((product.high >> 41u) == 0lu) { up = 21u; product_exponent = product_exponent - 1; }
    product = shift_left_wide(product, up);
    var addend = Wide(pc.mantissa << 9u, 0lu);
    let distance = product_exponent - pc.exponent;
    if (distance >= 0) { addend = shift_right_sticky_wide(addend, u32(distance)); }
    else { product = shift_right_sticky_wide(product, u32(-distance)); }
    var sign = product_sign;
    var sum = Wide(0lu, 0lu);
    if (product_sign == addend_sign) {
        let low = product.low + addend.low;
        sum = Wide(product.high + addend.high + select(0lu, 1lu, low < product.low), low);
    } else if (product.high < addend.high
        || (product.high == addend.high && product.low < addend.low)) {
        sum = minus_wide(addend, product);
        sign = addend_sign;
    } else {
        sum = minus_wide(product, addend);
    }
    if (sum.high == 0lu && sum.low == 0lu) { return 0.0lf; }
    var zeros = leading_zeros_u64(sum.high);
    if (zeros == 64u) { zeros = 64u + leading_zeros_u64(sum.low); }
    let top = shift_left_wide(sum, zeros);
    let exponent = max(product_exponent, pc.exponent) + 2 - i32(zeros);
    return pack_f64(sign, exponent, top.high | select(0lu, 1lu, top.low != 0lu));
}
