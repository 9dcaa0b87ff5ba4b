
@compute @workgroup_size(${segments})
fn main(@builtin(workgroup_id) group: vec3<u32>, @builtin(num_workgroups) groups: vec3<u32>,
        @builtin(local_invocation_index) lane: u32) {
    let number = group.y * groups.x + group.x;
    if (number >= parameter(0u)) { return; }
    let chunks = parameter(1u);
    let n = parameter(2u);
    let inner = parameter(3u);
    let row = number / chunks;
    let outer = row / inner;
    let base = parameter(4u) + outer * n * inner + (row - outer * inner);
    let first = (number - row * chunks) * ${chunk}u;
    let start = first + lane * ${segment}u;
    let end = min(start + ${segment}u, n);
    var running = ${identity};
    for (var i = start; i < end; i = i + 1u) {
        let x = ${x};
        if (i == start) { running = x; } else { running = running ${operator} x; }
    }
    totals[lane] = running;
    workgroupBarrier();
    if (lane == 0u) {
        let segments = (min(first + ${chunk}u, n) - first + ${segment}u - 1u) / ${segment}u;
        let total = before_segment(segments);
        b1[number] = ${chunk_total};
    }
}
