${variables}// A group makes one slice: the folds in their order, then what is written.
@compute @workgroup_size(${partials})
fn main(@builtin(workgroup_id) group: vec3<u32>, @builtin(num_workgroups) groups: vec3<u32>,
        @builtin(local_invocation_index) lane: u32) {
    let row = group.y * groups.x + group.x;
    if (row >= parameter(0u)) { return; }
    let n = parameter(1u);
    // An empty slice has one chunk of nothing, which folds to the identity.
    let chunks = max((n + ${last}u) / ${chunk}u, 1u);
    var rest = row;
${start}    for (var axis = parameter(2u); axis > 0u;) {
        axis = axis - 1u;
        let extent = parameter(3u + axis);
        let quotient = rest / extent;
        let along = rest - quotient * extent;
        rest = quotient;
${walk}    }
${folds}${write}}
