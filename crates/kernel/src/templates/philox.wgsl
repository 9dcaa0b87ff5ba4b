fn wide(at: u32) -> u64 {
    return u64(parameter(at)) | (u64(parameter(at + 1u)) << 32u);
}

// The four words of a block (Philox 4x32-10).
fn block_of(number: u64) -> vec4<u32> {
    var c0 = u32(number & 0xfffffffflu);
    var c1 = u32(number >> 32u);
    var c2 = parameter(3u);
    var c3 = parameter(4u);
    var k0 = parameter(1u);
    var k1 = parameter(2u);
    for (var round = 0u; round < ${rounds}u; round = round + 1u) {
        if (round > 0u) {
            k0 = k0 + ${step0}u;
            k1 = k1 + ${step1}u;
        }
        let high0 = high_product_u32(${multiplier0}u, c0);
        let high1 = high_product_u32(${multiplier1}u, c2);
        let low0 = ${multiplier0}u * c0;
        let low1 = ${multiplier1}u * c2;
        c0 = high1 ^ c1 ^ k0;
        c1 = low1;
        c2 = high0 ^ c3 ^ k1;
        c3 = low0;
    }
    return vec4<u32>(c0, c1, c2, c3);
}

// 0 <= u < 1: of one word 24 bits, of two words 53.
fn uniform_number(number: u64) -> ${real} {
    let place = wide(5u) + number * ${words}lu;
    var words = block_of(place >> 2u);
    let lane = u32(place & 3lu);
    return ${uniform};
}

fn element(i: u32) -> ${type} {
    let x = ${value};
    return ${written};
}
