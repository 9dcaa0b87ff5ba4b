// Parameters: the count, channels, height and width of a plane, windows down and across, then down and
// across taps, strides, padding and dilation; an operand's offset and strides.

// What a tap of a window reads; modulo 2^32, so that the padding lies beyond the plane.
fn row_of(window: u32, tap: u32) -> u32 {
    return window * parameter(8u) + tap * parameter(12u) - parameter(10u);
}

fn column_of(window: u32, tap: u32) -> u32 {
    return window * parameter(9u) + tap * parameter(13u) - parameter(11u);
}

