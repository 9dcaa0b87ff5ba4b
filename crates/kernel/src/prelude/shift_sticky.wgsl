// x >> amount, with bit 0 also set when a set bit was cut off.
fn shift_right_sticky_u64(x: u64, amount: u32) -> u64 {
    if (amount == 0u) { return x; }
    if (amount >= 64u) { return select(0lu, 1lu, x != 0lu); }
    return (x >> amount) | select(0lu, 1lu, (x << (64u - amount)) != 0lu);
}
