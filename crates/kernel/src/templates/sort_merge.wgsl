
@compute @workgroup_size(${half})
fn main(@builtin(workgroup_id) group: vec3<u32>, @builtin(num_workgroups) groups: vec3<u32>,
        @builtin(local_invocation_index) lane: u32) {
    let number = group.y * groups.x + group.x;
    if (number >= parameter(0u)) { return; }
    let n = parameter(2u);
    let slice = number / parameter(1u);
    let start = (number - slice * parameter(1u)) * ${block}u;
    for (var i = lane; i < ${block}u; i = i + ${half}u) {
        places[seat(i)] = NONE;
        if (start + i < n) {
            let place = u32(b1[slice * n + start + i]);
            places[seat(i)] = place;
            values[seat(i)] = value_at(slice, place);
        }
    }
    workgroupBarrier();
    narrowed(${block}u, lane);
    for (var i = lane; i < ${block}u; i = i + ${half}u) {
        if (start + i < n) { b1[slice * n + start + i] = i32(places[seat(i)]); }
    }
}
