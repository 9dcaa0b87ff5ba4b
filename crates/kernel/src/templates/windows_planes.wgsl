// The first window whose last tap does not lie before a place.
fn first_window(place: u32, reach: u32, stride: u32) -> u32 {
    if (place <= reach) { return 0u; }
    return (place - reach + stride - 1u) / stride;
}

fn element(i: u32) -> ${type} {
${decoded}    let y = row + parameter(10u);
    let x = column + parameter(11u);
    let first_down = first_window(y, (parameter(6u) - 1u) * parameter(12u), parameter(8u));
    let first_across = first_window(x, (parameter(7u) - 1u) * parameter(13u), parameter(9u));
    var sum = ${real}(0.0);
    for (var oy = first_down; oy < parameter(4u) && oy * parameter(8u) <= y; oy = oy + 1u) {
        let from_y = y - oy * parameter(8u);
        let ky = from_y / parameter(12u);
        if (ky * parameter(12u) != from_y) { continue; }
        for (var ox = first_across; ox < parameter(5u) && ox * parameter(9u) <= x; ox = ox + 1u) {
            let from_x = x - ox * parameter(9u);
            let kx = from_x / parameter(13u);
            if (kx * parameter(13u) != from_x) { continue; }
            let term = ${term};
            sum = ${sum};
        }
    }
    return ${value};
}
