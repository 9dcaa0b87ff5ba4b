
fn squared_distance(i: u32, c: u32, d: u32, first_element: u32) -> ${type} {
    let first = b0[first_element + i * d] - b0[first_element + c * d];
    var sum = first * first;
    for (var axis = 1u; axis < d; axis = axis + 1u) {
        let x = b0[first_element + i * d + axis] - b0[first_element + c * d + axis];
        sum = sum + x * x;
    }
    return sum;
}

