// An invocation makes points of the lines: numbers, pairs, or the bins that mirror each other.
@compute @workgroup_size(${group})
fn main(@builtin(global_invocation_id) id: vec3<u32>, @builtin(num_workgroups) groups: vec3<u32>) {
    let n = parameter(1u);
    let have = parameter(2u);
    let pairs = parameter(3u) != 0u;
    let mirrors = parameter(3u) == 2u;
    let step = groups.x * ${group}u;
    for (var i = id.x; i < parameter(0u); i = i + step) {
        let line = i / n;
        let p = i - line * n;
        let mirrored = mirrors & (p > n / 2u);
        let bin = select(p, n - p, mirrored);
        var re = 0.0lf;
        var im = 0.0lf;
        if (bin < have) {
            if (pairs) {
                let at = 2u * (line * have + bin);
                re = b0[at];
                im = b0[at + 1u];
            } else {
                re = b0[line * have + bin];
            }
        }
        if (mirrors & ((bin == 0u) | (bin * 2u == n))) { im = 0.0lf; }
        if (mirrored) { im = -im; }
        b1[2u * i] = re;
        b1[2u * i + 1u] = im;
    }
}
