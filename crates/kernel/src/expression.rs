//! A traced definition as a WGSL function: one statement per node of the graph, nothing folded,
//! nothing reassociated, so the device computes what the scalar text computes.
//!
//! No shader built-in is used but square root (through the prelude); constants travel as
//! bits, because a literal would be rounded by a parser. Templates call the function written here.

use rung_math::{Graph, Id, Kind, Node, Width};
use std::fmt::Write;

/// The WGSL names that depend on a width.
#[derive(Clone, Copy)]
struct Words {
    real: &'static str,
    bits: &'static str,
    signed: &'static str,
    suffix: &'static str,
}

fn words(width: Width) -> Words {
    match width {
        Width::F32 => Words { real: "f32", bits: "u32", signed: "i32", suffix: "u" },
        Width::F64 => Words { real: "f64", bits: "u64", signed: "i64", suffix: "lu" },
    }
}

/// The WGSL name of the width's real type.
pub fn real_name(width: Width) -> &'static str {
    words(width).real
}

/// `fn name(x0: T, x1: T, ...) -> T` (or `-> bool` for a relation, an array of several results) and
/// the tables it reads. T is the width's real type, or its bits for a definition of integers.
pub fn function(name: &str, graph: &Graph, arguments: usize) -> String {
    let w = words(graph.width);
    let mut text = String::new();
    let tables = tables(graph);
    for (i, table) in tables.iter().enumerate() {
        let entries: Vec<String> =
            table.iter().map(|&entry| constant(entry, graph.width)).collect();
        // A private variable, not a constant: indexing a constant copies it at every use.
        let _ = writeln!(
            text,
            "var<private> {name}_table{i}: array<{bits}, {n}> = array<{bits}, {n}>({entries});",
            bits = w.bits,
            n = table.len(),
            entries = entries.join(", ")
        );
    }
    let argument = if graph.is_whole() { w.bits } else { w.real };
    let parameters: Vec<String> = (0..arguments).map(|i| format!("x{i}: {argument}")).collect();
    let one = match graph.kind(graph.result()) {
        Kind::Real => w.real,
        Kind::Bits => w.bits,
        Kind::Mask => "bool",
    };
    let (result, value) = match &graph.outputs[..] {
        [output] => (one.to_string(), format!("v{output}")),
        outputs => {
            let all: Vec<String> = outputs.iter().map(|output| format!("v{output}")).collect();
            let result = format!("array<{one}, {}>", outputs.len());
            let value = format!("{result}({})", all.join(", "));
            (result, value)
        }
    };
    let _ = writeln!(text, "fn {name}({}) -> {result} {{", parameters.join(", "));
    for (id, node) in graph.nodes.iter().enumerate() {
        let _ = writeln!(text, "    let v{id} = {};", node_value(node, graph.width, name, &tables));
    }
    let _ = writeln!(text, "    return {value};\n}}");
    text
}

/// The different tables of the graph, in order of first use.
fn tables(graph: &Graph) -> Vec<&'static [u64]> {
    let mut tables: Vec<&'static [u64]> = Vec::new();
    for node in &graph.nodes {
        if let Node::Lookup(_, table) = node
            && !tables.contains(table)
        {
            tables.push(table);
        }
    }
    tables
}

fn constant(bits: u64, width: Width) -> String {
    match width {
        Width::F32 => format!("{:#x}u", bits as u32),
        Width::F64 => format!("{bits:#x}lu"),
    }
}

fn infix(a: Id, operator: &str, b: Id) -> String {
    format!("v{a} {operator} v{b}")
}

fn sign_bit(width: Width) -> u64 {
    1 << (width.bits() - 1)
}

fn sign_masked(a: Id, operator: &str, bits: u64, w: Words, width: Width) -> String {
    let mask = constant(bits, width);
    format!("bitcast<{}>(bitcast<{}>(v{a}) {operator} {mask})", w.real, w.bits)
}

fn node_value(node: &Node, width: Width, name: &str, tables: &[&'static [u64]]) -> String {
    let w = words(width);
    match *node {
        Node::Input(n) | Node::BitsInput(n) => format!("x{n}"),
        Node::RealConstant(bits) => format!("bitcast<{}>({})", w.real, constant(bits, width)),
        Node::BitsConstant(bits) => constant(bits, width),
        Node::MaskConstant(truth) => truth.to_string(),
        Node::Add(a, b) | Node::BitsAdd(a, b) => infix(a, "+", b),
        Node::Sub(a, b) | Node::BitsSub(a, b) => infix(a, "-", b),
        Node::Mul(a, b) | Node::BitsMul(a, b) => infix(a, "*", b),
        Node::Div(a, b) => format!("divide_{}(v{a}, v{b})", w.real),
        Node::Remainder(a, b) => format!("remainder_{}(v{a}, v{b})", w.real),
        // On the bits, so that NaNs keep theirs: some devices give a canonical NaN for -NaN.
        Node::Negate(a) => sign_masked(a, "^", sign_bit(width), w, width),
        Node::Sqrt(a) => format!("root_{}(v{a})", w.real),
        Node::Abs(a) => sign_masked(a, "&", sign_bit(width) - 1, w, width),
        Node::ToBits(a) => format!("bitcast<{}>(v{a})", w.bits),
        Node::FromBits(a) => format!("bitcast<{}>(v{a})", w.real),
        Node::RealLess(a, b) | Node::BitsLess(a, b) => infix(a, "<", b),
        Node::RealLessEqual(a, b) => infix(a, "<=", b),
        Node::RealEqual(a, b) | Node::BitsEqual(a, b) => infix(a, "==", b),
        Node::RealSelect(mask, yes, no) | Node::BitsSelect(mask, yes, no) => {
            format!("select(v{no}, v{yes}, v{mask})")
        }
        Node::BitsQuotient(a, b) => {
            format!("select(v{a} / max(v{b}, 1{0}), 0{0}, v{b} == 0{0})", w.suffix)
        }
        Node::BitsAnd(a, b) => infix(a, "&", b),
        Node::BitsOr(a, b) => infix(a, "|", b),
        Node::BitsXor(a, b) => infix(a, "^", b),
        Node::BitsNot(a) => format!("~v{a}"),
        Node::ShiftLeft(a, n) => format!("v{a} << {n}u"),
        Node::ShiftRight(a, n) => format!("v{a} >> {n}u"),
        Node::ShiftRightSigned(a, n) => {
            format!("bitcast<{}>(bitcast<{}>(v{a}) >> {n}u)", w.bits, w.signed)
        }
        // Shift amounts are 32-bit in WGSL at every width.
        Node::ShiftLeftBy(a, n) => format!("v{a} << u32(v{n})"),
        Node::ShiftRightBy(a, n) => format!("v{a} >> u32(v{n})"),
        Node::HighProduct(a, b) => format!("high_product_{}(v{a}, v{b})", w.bits),
        Node::Lookup(a, table) => {
            let at = tables.iter().position(|t| *t == table).unwrap_or(0);
            format!("{name}_table{at}[u32(v{a} & {}{})]", table.len() - 1, w.suffix)
        }
        // Not && and ||, which would branch though both sides are there already.
        Node::MaskAnd(a, b) => infix(a, "&", b),
        Node::MaskOr(a, b) => infix(a, "|", b),
        Node::MaskNot(a) => format!("!v{a}"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use rung_math::{LessEqual, Maximum, trace_binary, trace_compare};

    #[test]
    fn maximum_reads_like_its_definition() {
        let text = function("maximum", &trace_binary::<Maximum>(Width::F32), 2);
        assert!(text.starts_with("fn maximum(x0: f32, x1: f32) -> f32 {\n    let v0 = x0;\n"));
        assert!(text.contains(" = 0x7fc00000u;\n"), "{text}");
        let relation = function("less_equal", &trace_compare::<LessEqual>(Width::F64), 2);
        assert!(relation.contains("-> bool"));
        assert!(relation.contains("v0 <= v1"));
    }
}
