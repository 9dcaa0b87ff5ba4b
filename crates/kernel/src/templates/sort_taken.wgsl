fn element(i: u32) -> ${type} {
    let inner = parameter(2u);
    let row = i / inner;
    let column = i - row * inner;
    let outer = row / parameter(4u);
    let first = parameter(3u) + outer * parameter(1u) * inner + column;
    let place = u32(b1[(outer * inner + column) * parameter(1u) + row - outer * parameter(4u)]);
    return ${value};
}
