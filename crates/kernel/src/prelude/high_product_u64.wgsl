// The high 64 bits of the 128-bit product, from four products of 32-bit halves.
fn high_product_u64(a: u64, b: u64) -> u64 {
    let a0 = a & 0xfffffffflu; let a1 = a >> 32u;
    let b0 = b & 0xfffffffflu; let b1 = b >> 32u;
    let low = a0 * b0;
    let middle = a1 * b0 + (low >> 32u);
    let other = a0 * b1 + (middle & 0xfffffffflu);
    return a1 * b1 + (middle >> 32u) + (other >> 32u);
}
