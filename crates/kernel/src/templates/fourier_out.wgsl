fn element(i: u32) -> ${type} {
    let n = parameter(1u);
    let points = parameter(2u);
    let each = parameter(3u);
    let part = i % each;
    let point = i / each;
    let line = point / points;
    let x = b0[2u * (line * n + (point - line * points)) + part] * ${scale};
    return ${value};
}
