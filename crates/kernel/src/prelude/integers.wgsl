fn leading_zeros_u64(x: u64) -> u32 {
    let high = u32(x >> 32u);
    if (high != 0u) { return countLeadingZeros(high); }
    return 32u + countLeadingZeros(u32(x));
}
