${panels}
// Of the blocks before, where k has more than one. In memory, for they are touched once in ${block} steps
// and 64 doubles beside 64 sums would take every register.
var<private> totals: array<${real}, ${cells}>;

fn total(cell: u32, block: u32, sum: ${real}) -> ${real} {
    if (block == 0u) { return sum; }
    return totals[cell] + sum;
}

// A group makes one tile of one product of the stack.
@compute @workgroup_size(${across}, ${down})
fn main(@builtin(workgroup_id) group: vec3<u32>, @builtin(num_workgroups) groups: vec3<u32>,
        @builtin(local_invocation_id) place: vec3<u32>) {
    let number = group.y * groups.x + group.x;
    if (number >= parameter(0u)) { return; }
    let m = parameter(1u);
    let k = parameter(2u);
    let n = parameter(3u);
    let across = parameter(4u);
    let tiles = across * parameter(5u);
    let batch = number / tiles;
    let tile = number - batch * tiles;
    let down = tile / across;
    let first_row = down * ${rows}u;
    let first_column = (tile - down * across) * ${columns}u;
    let lane = place.y * ${across}u + place.x;
    let from_left = parameter(6u) + batch * parameter(7u);
    let from_right = parameter(10u) + batch * parameter(11u);
    let row = first_row + ${vector}u * place.y;
    let column = first_column + ${vector}u * place.x;
    var block = 0u;
    loop {
        let block_end = block + min(k - block, ${block}u);
${sums}
        for (var start = block; start < block_end; start = start + ${steps}u) {
            // Not past the end of k: a step with zeros could turn -0.0 into +0.0.
            let steps = min(${steps}u, block_end - start);
            for (var e = lane; e < ${left_panel}u; e = e + ${lanes}u) {
                // Eight steps by four rows for a warp, which no two share a bank.
                let row = ((e >> 3u) & 3u) + 4u * ((e >> 5u) / ${eights}u);
                let step = (e & 7u) + 8u * ((e >> 5u) % ${eights}u);
                var x = ${real}(0.0);
                if ((first_row + row < m) & (step < steps)) { x = ${from_a}; }
                left${left_at} = x;
            }
            for (var e = lane; e < ${right_panel}u; e = e + ${lanes}u) {
                let step = e / ${columns}u;
                let column = e - step * ${columns}u;
                var x = ${real}(0.0);
                if ((first_column + column < n) & (step < steps)) { x = ${from_b}; }
                right${right_at} = x;
            }
            workgroupBarrier();
            for (var i = 0u; i < steps; i = i + 1u) {
${take}
            }
            workgroupBarrier();
        }
        if (block_end == k) {
${store}
            break;
        }
${keep}
        block = block_end;
    }
}
