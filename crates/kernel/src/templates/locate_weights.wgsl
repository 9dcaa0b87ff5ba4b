var<workgroup> bins: array<i32, ${group}>;
var<workgroup> weights: array<f64, ${group}>;

// An invocation makes one bin; a group reads the weights together, in their order.
@compute @workgroup_size(${group})
fn main(@builtin(workgroup_id) group: vec3<u32>, @builtin(num_workgroups) groups: vec3<u32>,
        @builtin(local_invocation_index) lane: u32) {
    let number = group.y * groups.x + group.x;
    if (number * ${group}u >= parameter(2u)) { return; }
    let bin = number * ${group}u + lane;
    let count = parameter(0u);
    var sum = 0.0lf;
    for (var start = 0u; start < count; start = start + ${group}u) {
        let here = min(${group}u, count - start);
        if (lane < here) {
            bins[lane] = b0[start + lane];
            weights[lane] = b1[parameter(1u) + start + lane];
        }
        workgroupBarrier();
        for (var i = 0u; i < here; i = i + 1u) {
            if (bins[i] == i32(bin)) { sum = sum + weights[i]; }
        }
        workgroupBarrier();
    }
    if (bin < parameter(2u)) { b2[bin] = sum; }
}
