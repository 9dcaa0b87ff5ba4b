var<workgroup> left: array<${real}, ${cells}>;
var<workgroup> right: array<${real}, ${cells}>;

// A group makes one tile of one product of the stack, an invocation one cell.
@compute @workgroup_size(${tile}, ${tile})
fn main(@builtin(workgroup_id) group: vec3<u32>, @builtin(num_workgroups) groups: vec3<u32>,
        @builtin(local_invocation_id) place: vec3<u32>) {
    let number = group.y * groups.x + group.x;
    if (number >= parameter(0u)) { return; }
    let m = parameter(1u);
    let k = parameter(2u);
    let n = parameter(3u);
    let across = parameter(4u);
    let tiles = across * parameter(5u);
    let batch = number / tiles;
    let tile = number - batch * tiles;
    let down = tile / across;
    let row = down * ${tile}u + place.y;
    let column = (tile - down * across) * ${tile}u + place.x;
    let from_left = parameter(6u) + batch * parameter(7u) + row * parameter(8u);
    let from_right = parameter(10u) + batch * parameter(11u) + column * parameter(13u);
    var total = ${real}(0.0);
    for (var block = 0u; block < k; block = block + ${block}u) {
        let block_end = min(block + ${block}u, k);
        var sum = ${real}(0.0);
        for (var start = block; start < block_end; start = start + ${tile}u) {
            let a = start + place.x;
            let b = start + place.y;
            var from_a = ${real}(0.0);
            var from_b = ${real}(0.0);
            if (row < m && a < k) { from_a = b0[from_left + a * parameter(9u)]; }
            if (column < n && b < k) { from_b = b1[from_right + b * parameter(12u)]; }
            left[place.y * ${tile}u + place.x] = from_a;
            right[place.y * ${tile}u + place.x] = from_b;
            workgroupBarrier();
            // Not past the end of k: a step with zeros could turn -0.0 into +0.0.
            let steps = min(${tile}u, block_end - start);
            for (var i = 0u; i < steps; i = i + 1u) {
                let a = left[place.y * ${tile}u + i];
                let b = right[i * ${tile}u + place.x];
                sum = fused_${real}(a, b, sum);
            }
            workgroupBarrier();
        }
        if (block == 0u) { total = sum; } else { total = total + sum; }
    }
    if (row < m && column < n) { b2[(batch * m + row) * n + column] = total; }
}
