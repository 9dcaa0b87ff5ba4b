fn element(i: u32) -> ${type} {
    let n = parameter(1u);
    let cell = i % (n * n);
    let r = cell / n;
    let c = cell - r * n;
    let upper = parameter(2u) == 1u;
    var x = 0.0lf;
    if (select(c <= r, r <= c, upper)) { x = b0[i - cell + select(cell, c * n + r, upper)]; }
    return ${value};
}
