// An invocation makes a point of a line: that of a line of another length times the table's, or zero.
@compute @workgroup_size(${group})
fn main(@builtin(global_invocation_id) id: vec3<u32>, @builtin(num_workgroups) groups: vec3<u32>) {
    let length = parameter(1u);
    let given = parameter(2u);
    let have = parameter(3u);
    let mirrored = parameter(4u) == 1u;
    let mirrors = parameter(5u) == 1u;
    let step = groups.x * ${group}u;
    for (var i = id.x; i < parameter(0u); i = i + step) {
        let line = i / length;
        let p = i - line * length;
        var re = 0.0lf;
        var im = 0.0lf;
        if (p < have) {
            let at = 2u * (line * given + p);
            let a = b0[at];
            let b = select(b0[at + 1u], -b0[at + 1u], mirrored);
            let c = b1[2u * p];
            let d = b1[2u * p + 1u];
            re = a * c - b * d;
            im = a * d + b * c;
        }
        b2[2u * i] = re;
        b2[2u * i + 1u] = select(im, -im, mirrors);
    }
}
