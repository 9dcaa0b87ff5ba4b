// An invocation makes a column beside the panel: its exchanges, and right of the panel the rows of U.
@compute @workgroup_size(${group})
fn main(@builtin(global_invocation_id) id: vec3<u32>, @builtin(num_workgroups) groups: vec3<u32>) {
    let n = parameter(1u);
    let start = parameter(2u);
    let end = parameter(3u);
    let step = groups.x * ${group}u;
    for (var c = id.x; c < parameter(0u); c = c + step) {
        let slab = c / n;
        let j = c - slab * n;
        let base = slab * n * n;
        if ((j < start) | (j >= end)) {
            for (var k = start; k < end; k = k + 1u) {
                let row = u32(b1[slab * n + k]);
                let x = b0[base + row * n + j];
                b0[base + row * n + j] = b0[base + k * n + j];
                b0[base + k * n + j] = x;
            }
        }
        if (j >= end) {
            for (var i = start + 1u; i < end; i = i + 1u) {
                var x = b0[base + i * n + j];
                for (var k = start; k < i; k = k + 1u) {
                    x = fused_f64(-b0[base + i * n + k], b0[base + k * n + j], x);
                }
                b0[base + i * n + j] = x;
            }
        }
    }
}
