@compute @workgroup_size(${group})
fn main(@builtin(global_invocation_id) id: vec3<u32>, @builtin(num_workgroups) groups: vec3<u32>) {
    let step = groups.x * ${group}u;
    let last = parameter(3u) - 1u;
    let lowest = b1[parameter(2u)];
    let highest = b1[parameter(2u) + last];
    for (var i = id.x; i < parameter(0u); i = i + step) {
        let x = ${x};
        // False of NaN.
        if ((lowest <= x) & (x <= highest)) {
            let bin = min(place(x, true) - 1u, last - 1u);
            atomicAdd(&b2[bin], 1u);
        }
    }
}
