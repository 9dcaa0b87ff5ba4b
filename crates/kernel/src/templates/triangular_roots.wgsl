var<workgroup> top: array<f64, ${block}>;

// A group makes the panel of one matrix: a column after another, an invocation whole rows.
@compute @workgroup_size(${group})
fn main(@builtin(workgroup_id) group: vec3<u32>, @builtin(num_workgroups) groups: vec3<u32>,
        @builtin(local_invocation_index) lane: u32) {
    let slab = group.y * groups.x + group.x;
    if (slab >= parameter(0u)) { return; }
    let n = parameter(1u);
    let start = parameter(2u);
    let end = parameter(3u);
    let base = slab * n * n;
    if ((lane == 0u) & (start == 0u)) { b1[slab] = -1i; }
    for (var k = start; k < end; k = k + 1u) {
        let pivot = b0[base + k * n + k];
        let root = root_f64(pivot);
        // Everybody has read the pivot.
        workgroupBarrier();
        if (lane == 0u) {
            b0[base + k * n + k] = root;
            let bits = bitcast<u64>(pivot);
            let zero = (bits << 1u) == 0lu;
            let negative = (bits >= 0x8000000000000000lu) & (bits <= 0xfff0000000000000lu);
            if ((zero | negative) & (b1[slab] < 0i)) { b1[slab] = i32(k); }
        }
        for (var i = k + 1u + lane; i < n; i = i + ${group}u) {
            let l = divide_f64(b0[base + i * n + k], root);
            b0[base + i * n + k] = l;
            if (i < end) { top[i - start] = l; }
        }
        workgroupBarrier();
        for (var i = k + 1u + lane; i < n; i = i + ${group}u) {
            let at = base + i * n;
            let l = b0[at + k];
            for (var j = k + 1u; j < min(i + 1u, end); j = j + 1u) {
                b0[at + j] = fused_f64(-l, top[j - start], b0[at + j]);
            }
        }
        storageBarrier();
        workgroupBarrier();
    }
}
