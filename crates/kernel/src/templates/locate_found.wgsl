// The bin of an element, or one that there is not.
fn element(i: u32) -> i32 {
    let last = parameter(3u) - 1u;
    let lowest = b1[parameter(2u)];
    let highest = b1[parameter(2u) + last];
    let x = ${x};
    // False of NaN.
    if ((lowest <= x) & (x <= highest)) { return i32(min(place(x, true) - 1u, last - 1u)); }
    return -1i;
}
