// Each slice's totals become what stands before its chunks.
@compute @workgroup_size(${group})
fn main(@builtin(global_invocation_id) id: vec3<u32>, @builtin(num_workgroups) groups: vec3<u32>) {
    let chunks = parameter(1u);
    let step = groups.x * ${group}u;
    for (var i = id.x; i * chunks < parameter(0u); i = i + step) {
        let start = i * chunks;
        var passed = b0[start];
        for (var k = start + 1u; k < start + chunks; k = k + 1u) {
            let total = b0[k];
            b0[k] = passed;
            passed = passed ${operator} total;
        }
    }
}
