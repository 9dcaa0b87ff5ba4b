// An invocation makes a block of the vector: its scale and 32 signed bytes, four in a word.
@compute @workgroup_size(${group})
fn main(@builtin(global_invocation_id) id: vec3<u32>, @builtin(num_workgroups) groups: vec3<u32>) {
    let step = groups.x * ${group}u;
    for (var i = id.x; i < parameter(0u); i = i + step) {
        let start = parameter(1u) + i * 32u;
        var largest = 0u;
        for (var k = 0u; k < 32u; k = k + 1u) {
            largest = max(largest, bitcast<u32>(b0[start + k]) & 0x7fffffffu);
        }
        // NaN and the infinities make the whole block NaN.
        var scale = bitcast<f32>(0x7fc00000u);
        if (largest < 0x7f800000u) { scale = divide_f32(bitcast<f32>(largest), 127.0f); }
        let bits = bitcast<u32>(scale);
        let some = (bits != 0u) & (bits < 0x7f800000u);
        b1[i] = scale;
        for (var w = 0u; w < 8u; w = w + 1u) {
            var word = 0u;
            for (var k = 0u; k < 4u; k = k + 1u) {
                if (some) {
                    let x = divide_f32(b0[start + 4u * w + k], scale);
                    // Beside 3 * 2^22 the last bits are the nearest integer, the even one of two.
                    let above = select(x, -127.0f, x < -127.0f);
                    let near = select(above, 127.0f, above > 127.0f) + 12582912.0f;
                    word = word | ((bitcast<u32>(near) & 0xffu) << (8u * k));
                }
            }
            b2[8u * i + w] = bitcast<i32>(word);
        }
    }
}
