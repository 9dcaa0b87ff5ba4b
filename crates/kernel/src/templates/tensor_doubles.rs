//! tensor_doubles: a (batch, m, k) times b (batch, k, n) -> out (batch, m, n) packed, doubles on tensor
//! cores, to the bits of `rung_math::product`: where a device showed that its instruction is four fused
//! steps in ascending order (`rung-device`'s self-test). The reference of PTX says that each step is as
//! precise as a fused one, and nothing of their order.
//!
//! A group of four warps makes 64 x 64 cells, a warp 32 x 32 of them: 4 x 4 results of an instruction, which
//! takes four steps along k. A load of 16 bytes from the group's memory holds a lane's operands of two
//! instructions that follow each other, so eight loads serve 32 instructions, 64 flops each. Sums of a block
//! of 512 steps stand in registers, totals of several blocks in local memory between them, as in `product`.

use super::filled_in;
use super::product::{self, Epilogue, Extents, Tile, Types};
use crate::cells::{self, Computed};
use crate::kernel::{Binding, Kernel, Variants};
use rung_base::{ElementType, Error, ErrorKind, Result};
use rung_math::product::BLOCK;
use std::fmt::Write;

/// Invocations of a group: two warps down, two across.
const LANES: usize = 128;
const WARPS: usize = 2;
/// Rows and columns of a group, and of an instruction's result.
const SIDE: usize = 64;
const RESULT: usize = 8;
/// An instruction's steps along k, and pairs of instructions in a group's memory.
const STEPS: usize = 4;
const PAIRS: usize = 2;
/// An instruction's results that a warp makes down and across, and cells of a row for a pair of them.
const RESULTS: usize = SIDE / WARPS / RESULT;
const CELLS: usize = STEPS;
/// Steps along k in a group's memory: 16 KiB for both operands.
const DEPTH: usize = 2 * PAIRS * STEPS;

/// Whether a product is worth it: one that the strict kernel makes in tiles of the same size.
pub fn takes(size: &Extents, variants: &Variants, processors: Option<u32>) -> bool {
    Tile::of(size, Computed::Double, variants, processors) == Tile::Middle
}

/// Buffers and launches are those of `product` for `Tile::Middle`.
pub fn kernel(types: Types, epilogue: Option<&Epilogue>) -> Result<Kernel> {
    if types.wanted != ElementType::F64 {
        return Err(Error::new(ErrorKind::Declined, "here tensor cores take doubles"));
    }
    let double = Computed::Double;
    let read = |i: usize, at: &str| {
        cells::read(types.stored[i], types.wanted, double, &format!("b{i}"), at)
    };
    let text = filled_in(
        include_str!("tensor_doubles.wgsl"),
        &[
            ("side", &SIDE),
            ("warp_side", &(SIDE / WARPS)),
            ("lanes", &LANES),
            ("depth", &DEPTH),
            ("panel", &(SIDE * CELLS * PAIRS)),
            ("cells", &(2 * RESULTS * RESULTS)),
            ("block", &BLOCK),
            ("from_a", &read(0, product::LEFT_AT)?),
            ("from_b", &read(1, product::RIGHT_AT)?),
            ("sums", &each(|r, c| format!("var sum{r}_{c} = vec2<f64>(0.0lf);"))),
            ("fetched", &fetched("var ", "fourth")),
            ("fetch", &fetched("", "next")),
            ("fill", &fill()),
            ("multiply", &multiplied()),
            ("store", &stored()),
            ("keep", &kept()),
        ],
    );
    Ok(Kernel {
        key: format!("{} on tensor cores", product::key_of(types, Tile::Middle, epilogue)),
        text: product::finished(types, double, epilogue)? + &text,
        workgroup: [LANES as u32, 1, 1],
        bindings: product::bindings(types, epilogue).collect::<Vec<Binding>>(),
        parameter_words: product::words(epilogue, double)?,
    })
}

/// Cells of each operand that an invocation takes to a group's memory, as many apart as there are
/// invocations.
const TAKEN: usize = SIDE * CELLS * PAIRS / LANES;

fn fetched(var: &str, step: &str) -> String {
    let rows = LANES / CELLS;
    let mut text = String::new();
    for i in 0..TAKEN {
        let (row, pair) = (i * rows % SIDE, i * rows / SIDE);
        for (panel, first) in [("left", "first_row"), ("right", "first_column")] {
            let _ = writeln!(
                text,
                "    {var}next_{panel}{i} = {panel}_pair(batch, {first} + filled + {row}u, {step} + {}u);",
                pair * 2 * STEPS
            );
        }
    }
    text
}

fn fill() -> String {
    let line = |i: usize| {
        let at = i * LANES;
        format!("left[own + {at}u] = next_left{i};\nright[own + {at}u] = next_right{i};\n")
    };
    (0..TAKEN).map(line).collect()
}

fn each(line: impl Fn(usize, usize) -> String) -> String {
    let cells = (0..RESULTS).flat_map(|r| (0..RESULTS).map(move |c| (r, c)));
    cells.map(|(r, c)| format!("        {}\n", line(r, c))).collect()
}

/// All steps in a group's memory, in ascending order.
fn multiplied() -> String {
    let mut text = String::new();
    for pair in 0..PAIRS {
        for i in 0..RESULTS {
            let at = pair * SIDE * CELLS + i * RESULT * CELLS;
            let _ = writeln!(text, "let a{pair}_{i} = left[left_at + {at}u];");
            let _ = writeln!(text, "let b{pair}_{i} = right[right_at + {at}u];");
        }
        for part in ["x", "y"] {
            text += &each(|r, c| {
                let (a, b) = (format!("a{pair}_{r}.{part}"), format!("b{pair}_{c}.{part}"));
                format!("sum{r}_{c} = tensor_f64({a}, {b}, sum{r}_{c});")
            });
        }
    }
    text
}

/// The total of the blocks up to this one, of a result's first or second cell.
fn total(r: usize, c: usize, cell: usize) -> String {
    let part = ["x", "y"][cell];
    format!("total({}u, block, sum{r}_{c}.{part})", number(r, c, cell))
}

fn number(r: usize, c: usize, cell: usize) -> usize {
    2 * (r * RESULTS + c) + cell
}

fn kept() -> String {
    each(|r, c| {
        let line =
            |cell: usize| format!("totals[{}u] = {};", number(r, c, cell), total(r, c, cell));
        line(0) + " " + &line(1)
    })
}

fn stored() -> String {
    each(|r, c| {
        let line = |cell: usize| {
            let (down, across) = (r * RESULT, c * RESULT + cell);
            let total = total(r, c, cell);
            format!("finish({total}, batch, row + {down}u, column + {across}u);")
        };
        line(0) + "\n        " + &line(1)
    })
}

#[cfg(test)]
pub(super) mod tests {
    use super::super::broadcast::Read;
    use super::*;
    use crate::compile_ptx;
    use rung_math::{Add, Width, trace_binary};

    /// Operands of other types, and what follows a product.
    pub(crate) fn all() -> Vec<Kernel> {
        use ElementType::*;
        let types = |stored, writes| Types { stored, wanted: F64, writes };
        let mut all = vec![
            kernel(types([F64; 2], F64), None).unwrap(),
            kernel(types([F16, F64], F16), None).unwrap(),
        ];
        let graph = trace_binary::<Add>(Width::F64);
        for read in [Read::Array { stored: F64, wanted: F64 }, Read::Number] {
            let epilogue = Epilogue { name: "add", graph: &graph, reads: &[read] };
            all.push(kernel(types([F64; 2], F64), Some(&epilogue)).unwrap());
        }
        all
    }

    /// Sixteen results of a warp, four instructions along k in a group's memory.
    #[test]
    fn doubles_have_their_instruction() {
        for kernel in all() {
            assert!(kernel.needs_tensor_cores() && kernel.needs_f64());
            let text = compile_ptx(&kernel, &Variants::default()).unwrap();
            assert!(text.contains(".version 7.0\n.target sm_80\n"), "{text}");
            let instruction = "mma.sync.aligned.m8n8k4.row.col.f64.f64.f64.f64 {%g";
            assert_eq!(text.matches(instruction).count(), 64, "{text}");
        }
    }

    #[test]
    fn singles_are_not_taken() {
        let f32s = ElementType::F32;
        let types = Types { stored: [f32s; 2], wanted: f32s, writes: f32s };
        assert!(kernel(types, None).is_err());
    }

    #[test]
    fn products_of_64_rows_and_columns_are_worth_it() {
        let size = |m, n| Extents { batch: 1, m, k: 9, n };
        let takes = |m, n| takes(&size(m, n), &Variants::default(), Some(2));
        assert_eq!([takes(64, 64), takes(63, 64), takes(64, 63)], [true, false, false]);
        let made = Variants { software_fma_f64: true, ..Variants::default() };
        assert!(!super::takes(&size(64, 64), &made, Some(2)));
    }
}
