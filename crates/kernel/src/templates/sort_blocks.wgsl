
@compute @workgroup_size(${half})
fn main(@builtin(workgroup_id) group: vec3<u32>, @builtin(num_workgroups) groups: vec3<u32>,
        @builtin(local_invocation_index) lane: u32) {
    let number = group.y * groups.x + group.x;
    if (number >= parameter(0u)) { return; }
    let n = parameter(2u);
    let slice = number / parameter(1u);
    let start = (number - slice * parameter(1u)) * ${block}u;
    for (var i = lane; i < ${block}u; i = i + ${half}u) {
        let place = start + i;
        places[seat(i)] = NONE;
        if (place < n) {
            places[seat(i)] = place;
            values[seat(i)] = value_at(slice, place);
        }
    }
    workgroupBarrier();
    for (var width = 2u; width <= ${block}u; width = width << 1u) {
        let half = width >> 1u;
        let base = (lane / half) * width;
        exchange(base + (lane % half), base + width - 1u - (lane % half));
        workgroupBarrier();
        narrowed(half, lane);
    }
    for (var i = lane; i < ${block}u; i = i + ${half}u) {
        if (start + i < n) { b1[slice * n + start + i] = i32(places[seat(i)]); }
    }
}
