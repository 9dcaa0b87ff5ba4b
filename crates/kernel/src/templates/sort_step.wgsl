
// An invocation makes one exchange: over a width from both ends, or between its halves.
@compute @workgroup_size(${group})
fn main(@builtin(global_invocation_id) id: vec3<u32>, @builtin(num_workgroups) groups: vec3<u32>) {
    let pairs = parameter(1u);
    let n = parameter(2u);
    let width = parameter(5u);
    let half = width >> 1u;
    let step = groups.x * ${group}u;
    for (var i = id.x; i < parameter(0u); i = i + step) {
        let slice = i / pairs;
        let pair = i - slice * pairs;
        let inside = pair % half;
        let base = (pair / half) * width;
        var high = base + half + inside;
        if (parameter(6u) == 1u) { high = base + width - 1u - inside; }
        if (high < n) {
            let low = base + inside;
            let a = u32(b1[slice * n + low]);
            let b = u32(b1[slice * n + high]);
            if (!in_order(value_at(slice, a), a, value_at(slice, b), b)) {
                b1[slice * n + low] = i32(b);
                b1[slice * n + high] = i32(a);
            }
        }
    }
}
