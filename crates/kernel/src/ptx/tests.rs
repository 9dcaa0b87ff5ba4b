//! Each construct as literal PTX; kernels of the library as golden files; all kernels assembled, where
//! `ptxas` is found (`assembled`).

mod assembled;

use crate::{Kernel, Variants, compile_ptx, templates};
use std::path::Path;

/// A kernel of this text, over f32 in b0.
fn kernel(text: &str) -> Kernel {
    Kernel {
        key: "test".into(),
        text: text.into(),
        workgroup: [32, 1, 1],
        bindings: vec![crate::Binding::write(rung_base::ElementType::F32)],
        parameter_words: 0,
    }
}

fn written(text: &str) -> String {
    compile_ptx(&kernel(text), &Variants::default()).unwrap()
}

/// The instructions of statements over `i` (u32), `x` (f32), `d` (f64), `s` (i32), `l` (u64).
fn statements(text: &str) -> String {
    let text = format!(
        "var<private> u: u32; var<private> x: f32; var<private> d: f64; var<private> s: i32;\n\
         var<private> l: u64; var<workgroup> tile: array<vec4<f32>, 8>;\n\
         @compute @workgroup_size(32) fn main() {{ let i = u; {text} }}"
    );
    written(&text)
}

/// What the statements must hold, without the registers' numbers.
#[track_caller]
fn holds(text: &str, instructions: &[&str]) {
    let ptx = statements(text);
    let plain: Vec<String> = ptx.lines().map(without_numbers).collect();
    let mut rest = plain.iter();
    for wanted in instructions {
        assert!(rest.any(|line| line == wanted), "{wanted} is missing or too late in\n{ptx}");
    }
}

/// `%r12` as `%r`, labels as `$L`.
fn without_numbers(line: &str) -> String {
    let mut plain = String::new();
    let mut skips = false;
    for (i, c) in line.trim().trim_end_matches(';').char_indices() {
        let before = line.trim()[..i].chars().rev().take(2).collect::<String>();
        skips = c.is_ascii_digit() && (skips || before.ends_with(['%', '$']));
        if !skips {
            plain.push(c);
        }
    }
    plain
}

#[test]
fn rounding_is_written_and_nothing_is_contracted() {
    holds("x = x * x + x; d = d - d;", &["mul.rn.f32 %f, %f, %f", "add.rn.f32 %f, %f, %f"]);
    holds("d = d / d; x = sqrt(x);", &["div.rn.f64 %g, %g, %g", "sqrt.rn.f32 %f, %f"]);
    holds("x = fma(x, x, -x);", &["neg.f32 %f, %f", "fma.rn.f32 %f, %f, %f, %f"]);
    assert!(!statements("x = x * x + x;").contains("fma"));
}

#[test]
fn integers_follow_wgsl() {
    holds(
        "u = i << i; s = s >> i;",
        &["and.b32 %r, %r, 31", "shl.b32 %r, %r, %r", "shr.s32 %r, %r, %r"],
    );
    holds("u = i / i;", &["max.u32 %r, %r, 1", "div.u32 %r, %r, %r"]);
    holds("l = l % l;", &["max.u64 %d, %d, 1", "rem.u64 %d, %d, %d"]);
    holds("u = i / 3u;", &["div.u32 %r, %r, 3"]);
    let signed = ["setp.eq.s32 %p, %r, 0", "setp.eq.s32 %p, %r, 0xffffffff"];
    holds("s = s / s;", &signed);
    holds("s = s / s;", &["setp.eq.s32 %p, %r, 0x80000000", "div.s32 %r, %r, %r"]);
    holds("s = i32(x); u = u32(d);", &["cvt.rzi.s32.f32 %r, %f", "min.s32 %r, %r, 0x7fffff80"]);
    holds("u = u32(d);", &["cvt.rzi.u32.f64 %r, %g", "setp.num.f64 %p, %g, %g"]);
    holds("l = u64(s); x = f32(l);", &["cvt.s64.s32 %d, %r", "cvt.rn.f32.u64 %f, %d"]);
    holds(
        "u = countLeadingZeros(i) + firstLeadingBit(i);",
        &["clz.b32 %r, %r", "bfind.u32 %r, %r"],
    );
    holds("u = extractBits(i, i, 5u);", &["bfe.u32 %r, %r, %r, %r"]);
}

#[test]
fn truths_compare_and_select() {
    holds("if (x != x) { u = 1u; }", &["setp.neu.f32 %p, %f, %f", "@!%p bra $L", "mov.b32 %r, 1"]);
    holds(
        "x = select(x, 1.0, x < 2.0);",
        &["setp.lt.f32 %p, %f, 0f40000000", "selp.f32 %f, 0f3F800000, %f, %p"],
    );
    holds("u = u32((i < 3u) & (i > 1u));", &["and.pred %p, %p, %p", "selp.b32 %r, 1, 0, %p"]);
}

#[test]
fn control_flow_is_labels() {
    holds(
        "for (var k = 0u; k < i; k = k + 1u) { if (k == 3u) { continue; } u = u + k; }",
        &[
            "$L:",
            "setp.lt.u32 %p, %r, %r",
            "@!%p bra $L",
            "setp.eq.u32 %p, %r, 3",
            "@%p bra $L",
            "bra $L",
        ],
    );
    holds(
        "switch (i) { case 1u: { u = 5u; } default: { u = 7u; } }",
        &[
            "setp.eq.u32 %p, %r, 1",
            "@%p bra $L",
            "bra $L",
            "$L:",
            "mov.b32 %r, 5",
            "bra $L",
            "mov.b32 %r, 7",
        ],
    );
}

/// A vector of 16 bytes moves in one instruction.
#[test]
fn vectors_move_as_a_whole() {
    holds(
        "let v = tile[i]; workgroupBarrier(); tile[i + 1u] = v + v;",
        &[
            "ld.shared.v4.f32 {%f, %f, %f, %f}, [%r]",
            "bar.sync 0",
            "add.rn.f32 %f, %f, %f",
            "st.shared.v4.f32 [%r], {%f, %f, %f, %f}",
        ],
    );
}

/// An array that is indexed by what only a run knows stands in local memory, a table in global memory.
#[test]
fn arrays_stand_where_they_can_be_indexed() {
    let text = "var<private> t: array<u32, 2> = array<u32, 2>(7u, 9u);\n\
        @compute @workgroup_size(32) fn main(@builtin(local_invocation_index) i: u32) {\n\
        var own: array<f32, 4>; own[i & 3u] = b0[i]; b0[t[i & 1u]] = own[(i + 1u) & 3u]; }";
    let ptx = written(text);
    assert!(ptx.contains(".global .align 16 .b32 table2[2] = {0x7, 0x9};"), "{ptx}");
    assert!(ptx.contains(".local .align 16 .b8 stack[16];"), "{ptx}");
    assert!(
        !written(&text.replace("own[(i + 1u) & 3u]", "own[2]").replace("own[i & 3u]", "own[1]"))
            .contains(".local")
    );
}

#[test]
fn parameters_are_read_where_the_text_says() {
    let ptx = written("@compute @workgroup_size(32) fn main() { b0[parameter(5u)] = 1.0; }");
    assert!(ptx.contains("ld.param.u32 %r0, [parameters+20];"), "{ptx}");
    assert!(ptx.contains(".maxntid 32, 1, 1"), "{ptx}");
}

#[test]
fn lengths_halves_atomics_and_subgroups_are_written() {
    let ptx = written(
        "enable f16;\nvar<workgroup> n: atomic<i32>; var<private> h: f16;\n\
         @compute @workgroup_size(32) fn main(@builtin(subgroup_invocation_id) lane: u32) {\n\
         h = h * h + f16(b0[0]); atomicMax(&n, i32(arrayLength(&b0)));\n\
         let e = atomicCompareExchangeWeak(&n, 1i, 2i); if (e.exchanged) { atomicStore(&n, 0i); }\n\
         b0[lane] = subgroupAdd(f32(h)) + f32(subgroupExclusiveAdd(lane)) + subgroupShuffle(1.0, lane); }",
    );
    for wanted in [
        "mul.rn.f16",
        "atom.relaxed.cta.shared.max.s32",
        "atom.relaxed.cta.shared.cas.b32",
        "st.relaxed.cta.shared.u32",
        "ld.param.u64 %d1, [n0];",
        "shfl.sync.bfly.b32",
        "shfl.sync.up.b32",
        "shfl.sync.idx.b32",
        "mov.u32 %r0, %laneid;",
    ] {
        assert!(ptx.contains(wanted), "{wanted} is missing in\n{ptx}");
    }
}

#[test]
fn what_cannot_be_written_is_named() {
    let part = "@compute @workgroup_size(16) fn main() { b0[0] = subgroupAdd(b0[1]); }";
    let e = compile_ptx(&kernel(part), &Variants::default()).unwrap_err();
    assert_eq!(
        e.message(),
        "kernel test: PTX: subgroup operations in a group of 16, which is no multiple of 32"
    );
    let matrix = "var<private> m: mat2x2<f32>;\n\
        @compute @workgroup_size(16) fn main() { m = m * m; }";
    let e = compile_ptx(&kernel(matrix), &Variants::default()).unwrap_err();
    assert_eq!(e.message(), "kernel test: PTX: no arithmetic of matrices");
}

#[test]
fn a_kernel_may_be_called_anything() {
    let text = "@compute @workgroup_size(16) fn main() { }";
    let named = Kernel { key: "a\nret;\r\n".into(), ..kernel(text) };
    let text = compile_ptx(&named, &Variants::default()).unwrap();
    assert!(text.starts_with("// a ret;  \n.version 6.3\n"), "{text}");
}

/// `RUNG_BLESS=1 cargo nextest run -p rung-kernel golden` rewrites them; read the difference.
#[test]
fn golden_files_hold_what_is_written() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/ptx");
    let bless = std::env::var_os("RUNG_BLESS").is_some();
    let kernels = templates::tests::all();
    for key in [
        "map Exp f32",
        "map Square f64",
        "broadcast add f32 f32 f32 to f32",
        "fold sum f32 as f32 to f32",
        "product f32 f32 as f32 to f32 Small",
        "product f32 f32 as f32 to f32 Middle, tf32 on tensor cores",
        "scan Sum f64 to f64 totals",
        "sort ascending f32 merge",
        "triangular panel",
        "rows softmax f32",
        "windows Rows f32",
        "fourier pass",
        "quantized vector",
        "pick f64",
        "locate f32 before",
        "position Smallest f32 to i64",
        "step scale f32",
        "fill rand f32",
        "philox uniform f32 to f32",
        "product f64 f64 as f64 to f64 Each",
        "product f64 f64 as f64 to f64 Middle on tensor cores",
    ] {
        let kernel = kernels.iter().find(|kernel| kernel.key == key);
        let Some(kernel) = kernel else {
            panic!("no kernel {key} among {:?}", kernels.iter().map(|k| &k.key).collect::<Vec<_>>())
        };
        let text = compile_ptx(kernel, &Variants::default()).unwrap();
        assert_eq!(compile_ptx(kernel, &Variants::default()).unwrap(), text, "{key}: twice");
        let file = folder.join(key.replace(' ', "-") + ".ptx");
        if bless {
            std::fs::create_dir_all(&folder).unwrap();
            std::fs::write(&file, &text).unwrap();
        }
        let golden = std::fs::read_to_string(&file).unwrap_or_default();
        assert!(golden == text, "{key} differs from {}; RUNG_BLESS=1 rewrites it", file.display());
    }
}
