var<workgroup> partials: array<${accumulator}, ${partials}>;

// A group makes one chunk of one cell, an invocation one partial result.
@compute @workgroup_size(${partials})
fn main(@builtin(workgroup_id) group: vec3<u32>, @builtin(num_workgroups) groups: vec3<u32>,
        @builtin(local_invocation_index) lane: u32) {
    let number = group.y * groups.x + group.x;
    if (number >= parameter(0u)) { return; }
    let chunks = parameter(1u);
    let cell = number / chunks;
    let start = (number - cell * chunks) * ${chunk}u;
    let end = min(start + ${chunk}u, parameter(3u));
    let outer = cell / parameter(2u);
    let inner = cell - outer * parameter(2u);
    let base = parameter(4u) + outer * parameter(5u) + inner * parameter(7u);
    var partial = ${identity};
    for (var i = start + lane; i < end; i = i + ${partials}u) {
        let x = ${x};
        partial = ${step};
    }
    partials[lane] = partial;
    workgroupBarrier();
    for (var half = ${half}u; half > 0u; half = half >> 1u) {
        if (lane < half) { partials[lane] = combine(partials[lane], partials[lane + half]); }
        workgroupBarrier();
    }
    if (lane == 0u) { ${store} }
}
