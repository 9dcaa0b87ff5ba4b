//! Atomic operations at both widths, signs and memories.

use super::{gives, little, ran};

/// The operation of 64 invocations with i on one place that begins at a number: what stands there then.
/// In shared memory and in a buffer.
#[track_caller]
fn after(kind: &str, operation: &str, first: i64, want: i64) {
    let bytes = if kind.ends_with("32") { 4 } else { 8 };
    let text = |declared: &str, begin: &str, end: &str| {
        format!(
            "@group(0) @binding(0) var<storage, read_write> b: array<{declared}, 2>;\n\
         var<workgroup> w: atomic<{kind}>;\n\
             @compute @workgroup_size(64) fn main(@builtin(local_invocation_index) i: u32) {{\n\
         let v = {kind}(i);\n\
             {begin} {operation}; {end} }}"
        )
    };
    let held = |value: i64| value.to_le_bytes()[..bytes].to_vec();
    let mut global = [[held(first), held(0)].concat()];
    let direct = text(&format!("atomic<{kind}>"), "let p = &b[0];", "");
    ran(&direct, 1, &mut global);
    assert_eq!(global[0][..bytes], held(want), "{kind} {operation} in a buffer");
    let mut shared = [[held(first), held(0)].concat()];
    let begin = "let p = &w; if i == 0u { atomicStore(p, b[0]); } workgroupBarrier();";
    let end = "workgroupBarrier(); if i == 63u { b[1] = atomicLoad(p); }";
    ran(&text(kind, begin, end), 1, &mut shared);
    assert_eq!(shared[0][bytes..], held(want), "{kind} {operation} in shared memory");
}

#[test]
fn sums_least_and_most_and_bits() {
    for kind in ["u32", "i32", "u64", "i64"] {
        after(kind, "atomicAdd(p, v)", 5, 5 + 2016);
        after(kind, "atomicSub(p, v)", 5000, 5000 - 2016);
        after(kind, "atomicAnd(p, ~(v & 7))", 0xff, 0xf8);
        after(kind, "atomicOr(p, v << 4u)", 1, 0x3f1);
        after(kind, "atomicXor(p, v)", 9, 9);
        after(kind, "atomicMin(p, v + 3)", 50, 3);
        after(kind, "atomicMax(p, v)", 50, 63);
    }
}

#[test]
fn signs_and_high_words_are_kept() {
    after("i32", "atomicMin(p, v - 9)", 0, -9);
    after("i32", "atomicMax(p, v - 70)", -100, -7);
    after("i64", "atomicMin(p, v - 9)", 1 << 40, -9);
    after("i64", "atomicMax(p, v - 70)", -1 << 40, -7);
    after("u32", "atomicMin(p, 0u - v - 1u)", 0xffff_fff0, 0xffff_ffc0);
    after("u64", "atomicMax(p, v << 50u)", 1 << 40, 63 << 50);
    after("u64", "atomicAdd(p, 1lu << 31u)", 1 << 31, 65 << 31);
    after("i64", "atomicSub(p, v << 32u)", 0, -2016 << 32);
    after("i32", "let old = atomicExchange(p, -7)", 3, -7);
    after("u64", "let old = atomicExchange(p, 7lu << 40u)", 3, 7 << 40);
}

/// Each invocation gets the value before its own: of a counter all numbers once.
#[test]
fn the_old_value_is_given() {
    let declared = "var<workgroup> n: atomic<u32>; var<workgroup> l: atomic<i64>;";
    let body = "if i == 0u { atomicStore(&n, 0u); atomicStore(&l, -1li); } workgroupBarrier();\n\
        let mine = atomicAdd(&n, 1u); let low = atomicMin(&l, -2li - i64(i));\n\
         workgroupBarrier();\n\
        out[mine] = mine + 1u; workgroupBarrier(); if i == 7u { out[8] = u32(-atomicLoad(&l)); }\n\
         if mine == 0u { out[9] = u32(-low); }";
    gives(8, declared, body, &[1, 2, 3, 4, 5, 6, 7, 8, 9, 1]);
}

#[test]
fn an_exchange_where_the_value_is_the_expected_one() {
    for (kind, suffix) in [("u32", "u"), ("i32", "i"), ("u64", "lu"), ("i64", "li")] {
        let declared = format!("var<workgroup> n: atomic<{kind}>;");
        let body = format!(
            "if i == 0u {{ atomicStore(&n, 3{suffix}); }} workgroupBarrier();\n\
             let e = atomicCompareExchangeWeak(&n, {kind}(i), 9{suffix}); workgroupBarrier();\n\
             out[i] = u32(e.old_value) + 100u * u32(e.exchanged); out[4] = u32(atomicLoad(&n));"
        );
        let body = body.replace("out[4]", "if i == 0u { out[4]") + " }";
        gives(4, &declared, &body, &[3, 3, 3, 103, 9]);
    }
}

/// A sum over groups in one place of a buffer, whose words are indexed.
#[test]
fn groups_share_a_buffer() {
    let text = "@group(0) @binding(0) var<storage, read_write> b: array<atomic<u32>>;\n\
        @compute @workgroup_size(32) fn main(@builtin(local_invocation_index) i: u32,\n\
         @builtin(workgroup_id) w: vec3<u32>) {\n\
        atomicAdd(&b[i & 3u], w.x); let q = atomicOr(&b[4], 1u << w.x); }";
    let mut buffers = [vec![0; 20]];
    ran(text, 5, &mut buffers);
    let words: Vec<u64> = buffers[0].chunks(4).map(little).collect();
    assert_eq!(words, [80, 80, 80, 80, 31]);
}
