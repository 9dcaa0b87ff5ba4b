var<workgroup> totals: array<${type}, ${segments}>;

// What the segments before this one of the chunk come to.
fn before_segment(lane: u32) -> ${type} {
    if (lane == 0u) { return ${identity}; }
    var sum = totals[0];
    for (var k = 1u; k < lane; k = k + 1u) { sum = sum ${operator} totals[k]; }
    return sum;
}
