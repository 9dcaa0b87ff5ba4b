//! Every construct that the PTX writer takes, run: a text of WGSL goes through `compile_ptx` into the
//! interpreter, and what it writes is compared with numbers that stand here. What the writer refuses
//! stands in `refused`. The library's kernels use only a part of it; a program's own text may use all.

mod atomics;
mod control;
mod conversions;
mod integers;
mod places;
mod refused;
mod scalars;
mod subgroups;

use rung_kernel::{Kernel, Variants, compile_ptx};
use rung_ptx_interpreter::{Program, launch};
use std::fmt::Debug;

/// A scalar type of WGSL, by bits.
pub trait Cell: Copy + Debug {
    /// The type, and the type that a buffer holds instead.
    const NAMES: [&'static str; 2];
    const BYTES: usize;
    fn bits(self) -> u64;
    /// The text of a value, of types whose every value has one.
    fn literal(self) -> Option<String>;
    fn is_nan(_bits: u64) -> bool {
        false
    }
}

/// Half a word, by its bits.
#[derive(Clone, Copy, Debug)]
pub struct Half(u16);

/// The half of a number that is one.
pub fn h(x: f32) -> Half {
    Half(half::f16::from_f32(x).to_bits())
}

macro_rules! cell {
    ($type:ty, $name:literal, $held:literal, $bytes:literal, |$x:ident| $bits:expr, $text:expr) => {
        cell!($type, $name, $held, $bytes, |$x| $bits, $text, |_b| false);
    };
    ($type:ty, $name:literal, $held:literal, $bytes:literal, |$x:ident| $bits:expr, $text:expr,
     |$b:ident| $nan:expr) => {
        impl Cell for $type {
            const NAMES: [&'static str; 2] = [$name, $held];
            const BYTES: usize = $bytes;
            fn bits(self) -> u64 {
                let $x = self;
                $bits
            }
            fn literal(self) -> Option<String> {
                let $x = self;
                let _ = $x;
                $text
            }
            fn is_nan($b: u64) -> bool {
                $nan
            }
        }
    };
}

cell!(bool, "bool", "u32", 4, |x| x.into(), Some(x.to_string()));
cell!(u32, "u32", "u32", 4, |x| x.into(), Some(format!("{x}u")));
cell!(u64, "u64", "u64", 8, |x| x, Some(format!("{x}lu")));
// The least of a type is no literal.
cell!(
    i32,
    "i32",
    "i32",
    4,
    |x| x as u32 as u64,
    match x {
        i32::MIN => Some("(-2147483647i - 1i)".into()),
        x => Some(format!("({x}i)")),
    }
);
cell!(
    i64,
    "i64",
    "i64",
    8,
    |x| x as u64,
    match x {
        i64::MIN => Some("(-9223372036854775807li - 1li)".into()),
        x => Some(format!("({x}li)")),
    }
);
cell!(f32, "f32", "f32", 4, |x| x.to_bits().into(), None, |b| f32::from_bits(b as u32).is_nan());
cell!(f64, "f64", "f64", 8, |x| x.to_bits(), None, |b| f64::from_bits(b).is_nan());
cell!(Half, "f16", "f16", 2, |x| x.0.into(), None, |b| b & 0x7fff > 0x7c00);

/// The program of a text, whose buffers the text declares.
fn program(text: &str) -> Program {
    let kernel = of(text);
    let ptx = compile_ptx(&kernel, &Variants::default()).unwrap_or_else(|e| panic!("{e}\n{text}"));
    Program::parse(&ptx).unwrap_or_else(|e| panic!("{e}\n{text}\n{ptx}"))
}

fn of(text: &str) -> Kernel {
    Kernel {
        key: "test".into(),
        text: format!("enable f16;\n{text}"),
        workgroup: [1, 1, 1],
        bindings: Vec::new(),
        parameter_words: 0,
    }
}

fn ran(text: &str, groups: u32, buffers: &mut [Vec<u8>]) {
    launch(&program(text), [groups, 1, 1], buffers, &[]).unwrap_or_else(|e| panic!("{e}\n{text}"));
}

/// The values that an expression of x, y, z and w has: of operands that a run reads, one row for an
/// invocation, and of the same as literals in the text, which the writer folds where it can.
#[track_caller]
pub fn each<A: Cell, R: Cell>(expression: &str, rows: &[(&[A], R)]) {
    let ([a, stored], [r, written]) = (A::NAMES, R::NAMES);
    let read = |i: usize| {
        if a == stored { format!("a[{i}u + 4u * i]") } else { format!("(a[{i}u + 4u * i] != 0u)") }
    };
    let kept = |value: String| if r == written { value } else { format!("u32({value})") };
    let count = rows.len();
    let mut literal = String::new();
    for (i, (operands, _)) in rows.iter().enumerate() {
        let texts: Option<Vec<String>> = padded(operands).iter().map(|x| x.literal()).collect();
        if let Some(texts) = texts {
            let value = kept(format!("value({})", texts.join(", ")));
            literal += &format!("if i == {i}u {{ r[{}] = {value}; }}\n", count + i);
        }
    }
    let value = kept(format!("value({}, {}, {}, {})", read(0), read(1), read(2), read(3)));
    let text = format!(
        "@group(0) @binding(0) var<storage, read> a: array<{stored}>;\n\
         @group(0) @binding(1) var<storage, read_write> r: array<{written}>;\n\
         fn value(x: {a}, y: {a}, z: {a}, w: {a}) -> {r} {{ return {expression}; }}\n\
         @compute @workgroup_size({count}) fn main(@builtin(local_invocation_index) i: u32) {{\n\
         r[i] = {value};\n{literal}}}"
    );
    let operands = rows.iter().flat_map(|(operands, _)| padded(operands));
    let bytes: Vec<u8> =
        operands.flat_map(|x| x.bits().to_le_bytes()[..A::BYTES].to_vec()).collect();
    let mut buffers = [bytes, vec![0; 2 * count * R::BYTES]];
    ran(&text, 1, &mut buffers);
    let got: Vec<u64> = buffers[1].chunks(R::BYTES).map(little).collect();
    let twice = if literal.is_empty() { 1 } else { 2 };
    for (i, (operands, want)) in rows.iter().cycle().take(twice * count).enumerate() {
        let want = want.bits();
        let same = got[i] == want || (R::is_nan(want) && R::is_nan(got[i]));
        assert!(same, "{expression} of {operands:?} ({i}): {:#x}, not {want:#x}\n{text}", got[i]);
    }
}

/// Four operands: what a row leaves out is its first.
fn padded<A: Cell>(operands: &[A]) -> [A; 4] {
    std::array::from_fn(|i| operands[if i < operands.len() { i } else { 0 }])
}

fn little(bytes: &[u8]) -> u64 {
    bytes.iter().rev().fold(0, |value, byte| value << 8 | u64::from(*byte))
}

/// What one group of so many invocations writes into the words of `out`; i is an invocation's number.
#[track_caller]
pub fn gives(group: u32, declarations: &str, body: &str, want: &[u32]) {
    let text = whole(group, declarations, body);
    let mut buffers = [vec![0; 4 * want.len()]];
    ran(&text, 1, &mut buffers);
    let got: Vec<u32> = buffers[0].chunks(4).map(|b| little(b) as u32).collect();
    assert_eq!(got, want, "{text}");
}

fn whole(group: u32, declarations: &str, body: &str) -> String {
    format!(
        "@group(0) @binding(0) var<storage, read_write> out: array<u32>;\n{declarations}\n\
         @compute @workgroup_size({group})\n\
         fn main(@builtin(local_invocation_index) i: u32) {{\n{body}\n}}"
    )
}
