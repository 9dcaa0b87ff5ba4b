fn element(i: u32) -> ${type} {
    let inner = parameter(2u);
    let row = i / inner;
    let column = i - row * inner;
    let outer = row / parameter(1u);
    let position = row - outer * parameter(1u);
    // Modulo 2^32, so negative strides need no signed arithmetic.
    let at = parameter(3u) + outer * parameter(4u) + position * parameter(5u)
        + u32(b1[position]) * parameter(6u) + column;
    return ${value};
}
