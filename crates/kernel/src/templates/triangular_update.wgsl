${panels}
fn changed(sum: f64, at: u32, row: u32, column: u32) {
    if ((row < parameter(1u)) & (column < parameter(2u))) { ${target}[at] = sum; }
}

fn present(at: u32, row: u32, column: u32) -> f64 {
    if ((row < parameter(1u)) & (column < parameter(2u))) { return ${target}[at]; }
    return 0.0lf;
}

// A group makes one tile of one matrix: each cell starts from itself.
@compute @workgroup_size(${group}, ${group})
fn main(@builtin(workgroup_id) group: vec3<u32>, @builtin(num_workgroups) groups: vec3<u32>,
        @builtin(local_invocation_id) place: vec3<u32>) {
    let number = group.y * groups.x + group.x;
    if (number >= parameter(0u)) { return; }
    let m = parameter(1u);
    let columns = parameter(2u);
    let count = parameter(3u);
    let across = parameter(4u);
    let tiles = across * parameter(5u);
    let slab = number / tiles;
    let tile = number - slab * tiles;
    let down = tile / across;
    let first_row = down * ${side}u;
    let first_column = (tile - down * across) * ${side}u;
    // Nothing above the diagonal is read.
    if ((parameter(6u) == 1u) & (first_column > first_row)) { return; }
    let lane = place.y * ${group}u + place.x;
    let from_target = parameter(7u) + slab * parameter(8u);
    let from_left = parameter(10u) + ${matrix} * parameter(11u);
    let from_right = parameter(14u) + slab * parameter(15u);
    let row = first_row + ${vector}u * place.y;
    let column = first_column + ${vector}u * place.x;
    let cell = from_target + row * parameter(9u) + column;
${sums}
    for (var start = 0u; start < count; start = start + ${steps}u) {
        let steps = min(${steps}u, count - start);
        for (var e = lane; e < ${panel}u; e = e + ${lanes}u) {
            let r = ((e >> 3u) & 3u) + 4u * (e >> 5u);
            let step = e & 7u;
            var x = 0.0lf;
            if ((first_row + r < m) & (step < steps)) {
                x = b0[from_left + (first_row + r) * parameter(12u) + (start + step) * parameter(13u)];
            }
            left${left_at} = -x;
        }
        for (var e = lane; e < ${panel}u; e = e + ${lanes}u) {
            let step = e / ${side}u;
            let c = e - step * ${side}u;
            var x = 0.0lf;
            if ((first_column + c < columns) & (step < steps)) {
                x = ${target}[from_right + (start + step) * parameter(16u)
                              + (first_column + c) * parameter(17u)];
            }
            right${right_at} = x;
        }
        workgroupBarrier();
        for (var i = 0u; i < steps; i = i + 1u) {
${take}
        }
        workgroupBarrier();
    }
${store}
}
