var<workgroup> partials: array<f64, ${partials}>;
var<workgroup> chunk_results: array<f64, ${partials}>;

fn products(a: u32, b: u32) -> i32 {
    var sum = 0i;
    for (var k = 0u; k < 4u; k = k + 1u) {
        let shift = 24u - 8u * k;
        sum = sum + (bitcast<i32>(a << shift) >> 24u) * (bitcast<i32>(b << shift) >> 24u);
    }
    return sum;
}

// The block at an even byte of the matrix times block i of the vector.
fn term(at: u32, i: u32) -> f64 {
    let word = at >> 2u;
    let second = (at & 2u) != 0u;
    let scale = widened_f16(select(b0[word], b0[word] >> 16u, second) & 0xffffu);
    var sum = 0i;
    for (var j = 0u; j < 8u; j = j + 1u) {
        var quants = 0u;
        if (second) {
            quants = b0[word + 1u + j];
        } else {
            quants = (b0[word + j] >> 16u) | (b0[word + j + 1u] << 16u);
        }
        sum = sum + products(quants, bitcast<u32>(b2[8u * i + j]));
    }
    let scales = scale * b1[i];
    return f64(scales) * f64(sum);
}

// A group makes a row, in the order of a fold over its blocks.
@compute @workgroup_size(${partials})
fn main(@builtin(workgroup_id) group: vec3<u32>, @builtin(num_workgroups) groups: vec3<u32>,
        @builtin(local_invocation_index) lane: u32) {
    let row = group.y * groups.x + group.x;
    if (row >= parameter(0u)) { return; }
    let blocks = parameter(1u);
    let first = parameter(2u) + row * blocks * 34u;
    let chunks = (blocks + ${chunk}u - 1u) / ${chunk}u;
    chunk_results[lane] = 0.0lf;
    for (var chunk = 0u; chunk < chunks; chunk = chunk + 1u) {
        let end = min((chunk + 1u) * ${chunk}u, blocks);
        var partial = 0.0lf;
        for (var i = chunk * ${chunk}u + lane; i < end; i = i + ${partials}u) {
            partial = partial + term(first + i * 34u, i);
        }
        partials[lane] = partial;
        workgroupBarrier();
        for (var half = ${half}u; half > 0u; half = half >> 1u) {
            if (lane < half) { partials[lane] = partials[lane] + partials[lane + half]; }
            workgroupBarrier();
        }
        if (lane == 0u) { chunk_results[chunk] = partials[0]; }
        workgroupBarrier();
    }
    if (chunks > 1u) {
        for (var half = ${half}u; half > 0u; half = half >> 1u) {
            if (lane < half) {
                chunk_results[lane] = chunk_results[lane] + chunk_results[lane + half];
            }
            workgroupBarrier();
        }
    }
    if (lane == 0u) { b3[row] = f32(chunk_results[0]); }
}
