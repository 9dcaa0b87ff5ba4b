// An invocation makes two points of two that lie half a line apart (Stockham's order).
@compute @workgroup_size(${group})
fn main(@builtin(global_invocation_id) id: vec3<u32>, @builtin(num_workgroups) groups: vec3<u32>) {
    let half = parameter(1u);
    let apart = parameter(2u);
    let backward = parameter(3u) == 1u;
    let step = groups.x * ${group}u;
    for (var i = id.x; i < parameter(0u); i = i + step) {
        let line = i / half;
        let p = i - line * half;
        let turn = p & ~(apart - 1u);
        let one = 2u * (line * half * 2u + p);
        let other = one + 2u * half;
        let to = 2u * (line * half * 2u + 2u * p - (p - turn));
        let dr = b0[one] - b0[other];
        let di = b0[one + 1u] - b0[other + 1u];
        b2[to] = b0[one] + b0[other];
        b2[to + 1u] = b0[one + 1u] + b0[other + 1u];
        // No turn and a quarter of one are exact, and a number that is none stays in its part.
        var re = dr;
        var im = di;
        if (2u * turn == half) {
            re = select(di, -di, backward);
            im = select(-dr, dr, backward);
        } else if (turn != 0u) {
            let cosine = b1[2u * turn];
            let sine = b1[2u * turn + 1u];
            let wi = select(-sine, sine, backward);
            re = dr * cosine - di * wi;
            im = dr * wi + di * cosine;
        }
        b2[to + 2u * apart] = re;
        b2[to + 2u * apart + 1u] = im;
    }
}
