// The double nearest to an integer: both halves are exact, and their sum is rounded once.
fn double_of_whole(x: u64) -> f64 {
    let high = f64(bitcast<i32>(u32(x >> 32u))) * 4294967296.0lf;
    return high + f64(u32(x & 0xfffffffflu));
}
