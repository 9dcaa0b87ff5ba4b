@compute @workgroup_size(${group})
fn main(@builtin(global_invocation_id) id: vec3<u32>, @builtin(num_workgroups) groups: vec3<u32>) {
    let step = groups.x * ${group}u;
    let bins = u64(parameter(2u));
    for (var i = id.x; i < parameter(0u); i = i + step) {
        let x = ${x};
        // A negative number is a large one without a sign.
        if (x < bins) { atomicAdd(&b1[u32(x)], 1u); }
    }
}
