// An invocation makes the rows of a block of one right-hand side.
@compute @workgroup_size(${group})
fn main(@builtin(global_invocation_id) id: vec3<u32>, @builtin(num_workgroups) groups: vec3<u32>) {
    let n = parameter(1u);
    let columns = parameter(2u);
    let start = parameter(3u);
    let end = parameter(4u);
    let lower = parameter(5u) == 1u;
    let step = groups.x * ${group}u;
    for (var c = id.x; c < parameter(0u); c = c + step) {
        let slab = c / columns;
        let t = u32(b2[slab]) * n * n;
        let x = slab * n * columns + (c - slab * columns);
        for (var p = 0u; p < end - start; p = p + 1u) {
            let i = select(end - 1u - p, start + p, lower);
            var value = b1[x + i * columns];
            for (var q = 0u; q < p; q = q + 1u) {
                let k = select(end - 1u - q, start + q, lower);
                value = fused_f64(-b0[t + i * n + k], b1[x + k * columns], value);
            }
            if (parameter(6u) == 0u) { value = divide_f64(value, b0[t + i * n + i]); }
            b1[x + i * columns] = value;
        }
    }
}
