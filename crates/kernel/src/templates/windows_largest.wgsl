@compute @workgroup_size(${group})
fn main(@builtin(global_invocation_id) id: vec3<u32>, @builtin(num_workgroups) groups: vec3<u32>) {
    let step = groups.x * ${group}u;
    for (var i = id.x; i < parameter(0u); i = i + step) { window(i); }
}

fn window(i: u32) {
${decoded}    var best = ${real}(0.0);
    var place = 0u;
    var found = false;
    for (var ky = 0u; ky < parameter(6u); ky = ky + 1u) {
        for (var kx = 0u; kx < parameter(7u); kx = kx + 1u) {
            let row = row_of(oy, ky);
            let column = column_of(ox, kx);
            if ((row >= parameter(2u)) | (column >= parameter(3u))) { continue; }
            let x = ${x};
            let better = (best < x) | (${nan_x} & !${nan_best});
            if (better | !found) { place = row * parameter(3u) + column; }
            if (found) { best = larger(best, x); } else { best = larger(x, x); }
            found = true;
        }
    }
    let plane = rest * parameter(1u) + c;
    ${store}
    b2[i] = i64(plane * parameter(2u) * parameter(3u) + place);
}
