var<workgroup> keys: array<u64, ${group}>;
var<workgroup> rows: array<u32, ${group}>;
var<workgroup> top: array<f64, ${block}>;

// A magnitude's bits grow with it; every NaN is one that is above infinity.
fn key_of(x: f64) -> u64 {
    let bits = bitcast<u64>(x) & 0x7ffffffffffffffflu;
    return select(bits, 0x7ff0000000000001lu, bits > 0x7ff0000000000000lu);
}

// A group makes the panel of one matrix: a column after another, an invocation whole rows.
@compute @workgroup_size(${group})
fn main(@builtin(workgroup_id) group: vec3<u32>, @builtin(num_workgroups) groups: vec3<u32>,
        @builtin(local_invocation_index) lane: u32) {
    let slab = group.y * groups.x + group.x;
    if (slab >= parameter(0u)) { return; }
    let n = parameter(1u);
    let start = parameter(2u);
    let end = parameter(3u);
    let base = slab * n * n;
    for (var k = start; k < end; k = k + 1u) {
        var key = 0lu;
        var row = 0xffffffffu;
        for (var i = k + lane; i < n; i = i + ${group}u) {
            let here = key_of(b0[base + i * n + k]);
            // Rows ascend, so that the first of equal ones stays.
            if ((row == 0xffffffffu) | (here > key)) {
                key = here;
                row = i;
            }
        }
        keys[lane] = key;
        rows[lane] = row;
        workgroupBarrier();
        for (var half = ${half}u; half > 0u; half = half >> 1u) {
            if (lane < half) {
                let other = keys[lane + half];
                let first = rows[lane + half] < rows[lane];
                if ((other > keys[lane]) | ((other == keys[lane]) & first)) {
                    keys[lane] = other;
                    rows[lane] = rows[lane + half];
                }
            }
            workgroupBarrier();
        }
        let found = rows[0];
        if (lane == 0u) { b1[slab * n + k] = i32(found); }
        for (var j = start + lane; j < end; j = j + ${group}u) {
            let x = b0[base + found * n + j];
            b0[base + found * n + j] = b0[base + k * n + j];
            b0[base + k * n + j] = x;
            top[j - start] = x;
        }
        storageBarrier();
        workgroupBarrier();
        let pivot = top[k - start];
        let divides = (bitcast<u64>(pivot) << 1u) != 0lu;
        for (var i = k + 1u + lane; i < n; i = i + ${group}u) {
            let at = base + i * n;
            var l = b0[at + k];
            if (divides) {
                l = divide_f64(l, pivot);
                b0[at + k] = l;
            }
            for (var j = k + 1u; j < end; j = j + 1u) {
                b0[at + j] = fused_f64(-l, top[j - start], b0[at + j]);
            }
        }
        storageBarrier();
        workgroupBarrier();
    }
}
