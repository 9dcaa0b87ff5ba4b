// An invocation exchanges the rows of one right-hand side.
@compute @workgroup_size(${group})
fn main(@builtin(global_invocation_id) id: vec3<u32>, @builtin(num_workgroups) groups: vec3<u32>) {
    let n = parameter(1u);
    let columns = parameter(2u);
    let step = groups.x * ${group}u;
    for (var c = id.x; c < parameter(0u); c = c + step) {
        let slab = c / columns;
        let pivots = parameter(3u) + u32(b2[slab]) * n;
        let x = slab * n * columns + (c - slab * columns);
        for (var k = 0u; k < n; k = k + 1u) {
            let row = u32(b0[pivots + k]);
            let value = b1[x + row * columns];
            b1[x + row * columns] = b1[x + k * columns];
            b1[x + k * columns] = value;
        }
    }
}
