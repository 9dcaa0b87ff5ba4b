@compute @workgroup_size(${group})
fn main(@builtin(global_invocation_id) id: vec3<u32>, @builtin(num_workgroups) groups: vec3<u32>) {
    let count = parameter(0u);
    let step = groups.x * ${group}u;
    for (var i = id.x; i < count; i = i + step) { element(i); }
}
