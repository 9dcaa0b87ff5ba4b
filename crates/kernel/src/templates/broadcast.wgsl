@compute @workgroup_size(${group})
fn main(@builtin(global_invocation_id) id: vec3<u32>, @builtin(num_workgroups) groups: vec3<u32>) {
    let count = parameter(0u);
    let rank = parameter(1u);
    let step = groups.x * ${group}u;
    for (var i = id.x; i < count; i = i + step) {
        var rest = i;
${start}        for (var axis = rank; axis > 0u;) {
            axis = axis - 1u;
            let extent = parameter(2u + axis);
            let quotient = rest / extent;
            let along = rest - quotient * extent;
            rest = quotient;
${walk}        }
        ${out}[i] = ${value};
    }
}
