@compute @workgroup_size(${group})
fn main(@builtin(global_invocation_id) id: vec3<u32>, @builtin(num_workgroups) groups: vec3<u32>) {
    let count = parameter(0u);
    let words = (count + ${parts}u - 1u) / ${parts}u;
    let step = groups.x * ${group}u;
    for (var w = id.x; w < words; w = w + step) {
${words}        for (var k = 0u; k < ${parts}u; k = k + 1u) {
            let i = w * ${parts}u + k;
            if (i >= count) { break; }
            let after = definition(${arguments});
${take}        }
${store}    }
}
