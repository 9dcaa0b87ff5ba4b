//! Composites, and pointers into registers, local, private, workgroup and storage memory.

use super::{gives, ran};

#[test]
fn vectors_are_computed_by_component() {
    let body = "let a = vec4<i32>(1, -2, 3, i32(i)); let b = a.wzyx * 2 - vec4<i32>(a.xy, a.yx);\n\
         let c = abs(b) % 5;\n\
        let less = b < c; let d = select(b, c, less); out[4u * i] = u32(d.x);\n\
         out[4u * i + 1u] = u32(d.y + d.z); out[4u * i + 2u] = bitcast<u32>(dot(b, a));\n\
         out[4u * i + 3u] = u32(all(less)) + 2u * u32(any(less.xy));";
    // i = 0: b = (-1, 8, -2, 1), c = (1, 3, 2, 1); i = 1: b = (1, 8, -2, 1), c = (1, 3, 2, 1).
    gives(2, "", body, &[1, 10, (-23i32) as u32, 2, 1, 10, (-20i32) as u32, 0]);
}

#[test]
fn vectors_of_each_size_and_type() {
    let body = "let h = vec2<f16>(vec2<f32>(1.5, 2.0)) * 2.0h;\n\
         let t = vec3<f32>(f32(i), 2.0, 3.0) + f32(h.x); let d = vec3<f64>(t) / 2.0lf;\n\
        let u = vec4<u32>(d.zyx.xyzz); let l = vec2<i64>(d.xy) - 7li;\n\
         let w = vec3<u64>(u.xyz) << vec3<u32>(33u, 1u, 0u);\n\
        out[5u * i] = u.x + 10u * u.y + 100u * u.w; out[5u * i + 1u] = u32(l.x + 20li);\n\
         out[5u * i + 2u] = u32(w.x >> 32u); out[5u * i + 3u] = u32(t.x * 4.0);\n\
         out[5u * i + 4u] = u32(h.y);";
    // t = (i + 3, 5, 6), d = ((i + 3) / 2, 2.5, 3).
    gives(2, "", body, &[123, 14, 6, 12, 4, 223, 15, 6, 16, 4]);
}

#[test]
fn components_are_chosen_by_what_only_a_run_knows() {
    let body = "let v = vec4<u32>(5u, 6u, 7u, 8u); var w = vec3<f32>(1.0, 2.0, 3.0);\n\
         w[i % 3u] = 9.0; let t = vec2<bool>(false, true);\n\
        out[i] = v[i] * 1000u + u32(w.x * 100.0 + w.y * 10.0 + w.z) + 100000u * u32(t[i & 1u]);";
    gives(4, "", body, &[5923, 106_193, 7129, 108_923]);
    // Places of 64 bits.
    let wide = "let v = vec4<u32>(5u, 6u, 7u, 8u); var t = array<u32, 4>(1u, 2u, 3u, 4u);\n\
         let k = u64(3u - i); out[i] = v[k] * 10u + t[k];";
    gives(4, "", wide, &[84, 73, 62, 51]);
}

#[test]
fn structs_and_arrays_are_values_and_variables() {
    let types = "struct In { a: vec3<f32>, b: u32 } struct Out {\n\
         x: array<In, 2>, y: bool, z: f64 }\n\
        fn made(i: u32) -> Out { return Out(array<In, 2>(In(vec3<f32>(f32(i), 1.0, 2.0), 7u),\n\
         In(vec3<f32>(3.0), 8u + i)), i > 1u, f64(i) * 0.5lf); }";
    let body = "let o = made(i); var p = o; p.x[1].a.y += 10.0; p.x[i & 1u].b *= 2u;\n\
         let q = p.x; let r = q[1u - (i & 1u)].b;\n\
        out[i] = u32(p.x[1].a.y) + 100u * p.x[0].b + 10000u * p.x[1].b + 1000000u * r +\n\
         100000000u * u32(p.y) + 1000000000u * u32(p.z);";
    gives(4, types, body, &[8_081_413, 7_180_713, 1_110_101_413, 1_107_220_713]);
}

#[test]
fn private_variables_and_tables() {
    let private = "var<private> n: u32 = 3u; var<private> own: array<u32, 4>;\n\
         var<private> table: array<i32, 4> = array<i32, 4>(5, -6, 7, 8);\n\
        const fixed = array<f32, 3>(1.5, 2.5, 3.5);\n\
        fn bump(by: u32) -> u32 { n += by; own[n & 3u] += n; return n; }";
    let body = "let a = bump(i); let b = bump(1u);\n\
         out[i] = a + 10u * b + 100u * own[0] + 1000u * own[(i + 3u) & 3u] +\n\
         10000u * u32(fixed[i % 3u] * 2.0) + 1000000u * u32(table[i] + 6);";
    gives(4, private, body, &[11_033_443, 54_454, 13_075_065, 14_036_076]);
}

#[test]
fn functions_take_pointers() {
    let f = "struct S { a: u32, v: vec2<f32>, t: array<u32, 3> }\n\
         var<private> held: array<u32, 4>; var<workgroup> tile: array<vec2<u32>, 8>;\n\
        fn up(p: ptr<function, u32>, by: u32) { *p = *p + by; }\n\
        fn at(p: ptr<function, array<u32, 3>>, k: u32) -> u32 { (*p)[k] += 1u; return (*p)[k]; }\n\
        fn whole(p: ptr<function, S>) { (*p).a += 100u; (*p).v.y = 4.0; }\n\
        fn kept(p: ptr<private, array<u32, 4>>, k: u32) { (*p)[k] = k + 1u; }\n\
        fn total(v: vec2<u32>) -> u32 { return v.x + v.y; }";
    let body = "var s = S(i, vec2<f32>(1.0, 2.0), array<u32, 3>(5u, 6u, 7u)); up(&s.a, 2u);\n\
         let e = at(&s.t, i % 3u); whole(&s); kept(&held, i & 3u);\n\
        tile[i] = vec2<u32>(i, 10u); workgroupBarrier(); let cell = &tile[7u - i];\n\
         let sum = total(*cell); let q = &out[i];\n\
         *q = s.a + 1000u * e + 10000u * u32(s.v.x + s.v.y) + 100000u * held[i & 3u] +\n\
         1000000u * sum;";
    let want: Vec<u32> = (0..8)
        .map(|i| {
            i + 102 + 1000 * (6 + i % 3) + 50_000 + 100_000 * ((i & 3) + 1) + 1_000_000 * (17 - i)
        })
        .collect();
    gives(8, f, body, &want);
}

/// A pointer keeps the place that it was made with.
#[test]
fn pointers_do_not_follow_their_index() {
    let body = "var t = array<u32, 4>(1u, 2u, 3u, 4u); var k = i; let p = &t[k];\n\
         k = (k + 1u) & 3u; *p = 10u * *p + t[k]; out[i] = *p;";
    gives(4, "", body, &[12, 23, 34, 41]);
}

/// Every type that a buffer may hold, and their places in a struct.
#[test]
fn buffers_hold_every_type() {
    let text = "struct All { h: f16, i: i32, l: i64, t: vec3<f32>, u: u32, w: vec2<f64>,\n\
         k: vec3<f16>, m: mat2x3<f32>, z: array<vec2<u32>, 2> }\n\
        @group(0) @binding(0) var<storage, read> a: array<All>;\n\
        @group(0) @binding(1) var<storage, read_write> r: array<All>;\n\
        @group(0) @binding(2) var<storage, read_write> n: array<u32>;\n\
        @compute @workgroup_size(2) fn main(@builtin(local_invocation_index) i: u32) {\n\
        r[i] = a[1u - i]; r[i].t.y = 5.0; r[i].m[1].z = 6.0; r[i].m[i] += a[i].t;\n\
         r[i].z[i].x = 77u; n[i] = arrayLength(&a) * 10u + arrayLength(&n); }";
    // Offsets: h 0, i 4, l 8, t 16, u 28, w 32, k 48, m 64 (columns 16 apart), z 96; 112 bytes in all.
    let of = |k: u8| {
        let mut bytes = vec![0u8; 112];
        let mut put = |at: usize, value: &[u8]| bytes[at..at + value.len()].copy_from_slice(value);
        put(0, &[k, 0x3c]);
        put(4, &(-i32::from(k)).to_le_bytes());
        put(8, &(i64::from(k) << 40).to_le_bytes());
        for (at, x) in [
            (16, 1.0f32),
            (20, 2.0),
            (24, 3.0),
            (64, 4.0),
            (68, 5.0),
            (72, 6.0),
            (80, 7.0),
            (84, 8.0),
            (88, 9.0),
        ] {
            put(at, &(x + f32::from(k)).to_le_bytes());
        }
        put(28, &u32::from(k).to_le_bytes());
        put(32, &f64::from(k).to_le_bytes());
        put(40, &(-f64::from(k)).to_le_bytes());
        put(48, &[k, 1, k, 2, k, 3]);
        put(96, &[k; 16]);
        bytes
    };
    let mut buffers = [[of(1), of(2)].concat(), vec![0; 224], vec![0; 12]];
    ran(text, 1, &mut buffers);
    let float = |bytes: &mut Vec<u8>, at: usize, x: f32| {
        bytes[at..at + 4].copy_from_slice(&x.to_le_bytes())
    };
    let (mut first, mut second) = (of(2), of(1));
    for (record, own, column) in [(&mut first, 1.0, 64), (&mut second, 2.0, 80)] {
        float(record, 20, 5.0);
        float(record, 88, 6.0);
        for c in 0..3 {
            let at = column + 4 * c;
            let old = f32::from_le_bytes(record[at..at + 4].try_into().unwrap());
            float(record, at, old + own + 1.0 + c as f32);
        }
    }
    first[96..100].copy_from_slice(&[77, 0, 0, 0]);
    second[104..108].copy_from_slice(&[77, 0, 0, 0]);
    assert_eq!(buffers[1], [first, second].concat());
    assert_eq!(buffers[2][..8], [23, 0, 0, 0, 23, 0, 0, 0]);
}

/// The length of an array at the end of a buffer, after what stands before it.
#[test]
fn an_array_that_ends_a_buffer_has_the_rest() {
    let text = "struct Tail { n: u32, t: array<vec2<u32>> }\n\
        @group(0) @binding(0) var<storage, read_write> b: Tail;\n\
        @compute @workgroup_size(1) fn main() { b.n = arrayLength(&b.t); b.t[b.n - 1u].y = 9u; }";
    let mut buffers = [vec![0; 8 + 24 + 4]];
    ran(text, 1, &mut buffers);
    assert_eq!((buffers[0][0], buffers[0][28]), (3, 9));
}

/// Truths and halves take a byte and two of shared, private and local memory.
#[test]
fn small_types_stand_in_every_memory() {
    let memory = "var<workgroup> truths: array<bool, 8>;\n\
         var<workgroup> halves: array<vec3<f16>, 8>; var<private> own: array<vec2<bool>, 2>;";
    let body = "truths[i] = i % 3u == 0u; halves[i] = vec3<f16>(f16(i), 0.5h, 1.0h);\n\
         var local: array<f16, 2>; local[i & 1u] = 4.0h; own[i & 1u][1] = true;\n\
         workgroupBarrier();\n\
        let h = halves[7u - i]; out[i] = u32(truths[i ^ 1u]) + 10u * u32(h.x) +\n\
         1000u * u32(h.y * 2.0h + h.z) + 10000u * u32(local[0] + local[1]) +\n\
         100000u * u32(own[i & 1u].y && !own[0].x);";
    let want: Vec<u32> =
        (0..8u32).map(|i| u32::from((i ^ 1).is_multiple_of(3)) + 10 * (7 - i) + 142_000).collect();
    gives(8, memory, body, &want);
}
