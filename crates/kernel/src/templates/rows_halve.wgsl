var<workgroup> wide: array<f64, ${partials}>;
var<workgroup> results: array<f64, ${partials}>;
fn halve(lane: u32) {
    workgroupBarrier();
    for (var half = ${half}u; half > 0u; half = half >> 1u) {
        if (lane < half) { wide[lane] = wide[lane] + wide[lane + half]; }
        workgroupBarrier();
    }
}
