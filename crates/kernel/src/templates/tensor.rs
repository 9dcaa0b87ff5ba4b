//! tensor: a (batch, m, k) times b (batch, k, n) -> out (batch, m, n) packed, on tensor cores, where
//! `--precision` asks for it: singles rounded to tf32 or bf16, their products added in f32.
//!
//! The order inside an instruction is the hardware's, and it may cut where others round, so this is no
//! definition's order: beside the exact product of the rounded operands a cell is off by at most
//! (min(k, 512) 2^-22 + 2 k 2^-24) sum |a b|, and each operand by 2^-11 (tf32) or 2^-8 (bf16) of itself.
//! The first term holds for any hardware that adds at least two products at once and keeps 24 bits of
//! the largest (M. Fasi, N. Higham, M. Mikaitis, S. Pranesh, Numerical behavior of NVIDIA tensor cores,
//! 2021); blocks of 512 are added apart, so that what is cut does not add up along k.
//!
//! A group of eight warps makes 128 x 128 cells, or 64 x 64. Along k a panel of a group's memory holds
//! 16 words of each row, four chunks of four: a word is one step of tf32, two of bf16. A lane takes a
//! whole chunk of a row, whose first two words serve one instruction and whose last two the next: which
//! steps meet in an instruction is free as long as both operands agree. The strict product is `product`.

use super::filled_in;
use super::product::{self, Epilogue, Extents, Tile, Types};
use crate::cells::{self, Computed};
use crate::kernel::{Binding, Kernel, Variants};
use rung_base::{ElementType, Error, ErrorKind, Result};
use rung_math::product::BLOCK;
use std::fmt::Write;

/// Invocations of a group: two warps down, four across.
const LANES: usize = 256;
const DOWN: usize = 2;
const ACROSS: usize = 4;
/// Rows and columns of an instruction's result.
const ROWS: usize = 16;
const COLUMNS: usize = 8;
/// Words and chunks of a row in a group's memory.
const WORDS: usize = 16;
const CHUNKS: usize = 4;

/// What singles are rounded to before they are multiplied.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Rounding {
    /// 11 bits of significand and the range of f32; to nearest, ties away from zero.
    Tf32,
    /// 8 bits of significand and the range of f32; to nearest, ties to even.
    Bf16,
}

impl Rounding {
    /// How far a rounded number may be off, as a part of itself.
    pub fn unit(self) -> f64 {
        match self {
            Rounding::Tf32 => 2f64.powi(-11),
            Rounding::Bf16 => 2f64.powi(-8),
        }
    }

    /// Steps along k in a word.
    fn steps(self) -> usize {
        match self {
            Rounding::Tf32 => 1,
            Rounding::Bf16 => 2,
        }
    }

    fn name(self) -> &'static str {
        match self {
            Rounding::Tf32 => "tf32",
            Rounding::Bf16 => "bf16",
        }
    }

    /// The word that begins with this step of a row.
    fn word(self, read: &str) -> String {
        match self {
            Rounding::Tf32 => format!("rounded_tf32({read} step))"),
            Rounding::Bf16 => format!("pair_bf16({read} step), {read} step + 1u))"),
        }
    }
}

/// How far a cell with k steps may be off beside the exact product of the rounded operands, as a part of
/// sum |a b|.
pub fn bound(k: usize) -> f64 {
    k.min(BLOCK) as f64 * 2f64.powi(-22) + 2.0 * k as f64 * 2f64.powi(-24)
}

/// The tile of a product: the larger one where it keeps a device of so many multiprocessors busy.
pub fn tile(size: &Extents, processors: Option<u32>) -> Tile {
    match Tile::of(size, Computed::Single, &Variants::default(), processors) {
        Tile::Large => Tile::Large,
        _ => Tile::Middle,
    }
}

/// Buffers and launches are those of `product`; the tile is `Middle` or `Large`.
pub fn kernel(
    types: Types,
    rounding: Rounding,
    tile: Tile,
    epilogue: Option<&Epilogue>,
) -> Result<Kernel> {
    if types.wanted != ElementType::F32 || !matches!(tile, Tile::Middle | Tile::Large) {
        return Err(Error::new(ErrorKind::Declined, "tensor cores take singles in large tiles"));
    }
    let single = Computed::Single;
    let read = |i: usize, at: &str| {
        cells::read(types.stored[i], types.wanted, single, &format!("b{i}"), at)
    };
    let ([side, _], steps) = (tile.sides(single), rounding.steps());
    let warp = Warp { down: side / DOWN / ROWS, across: side / ACROSS / COLUMNS };
    let chunks = side * CHUNKS / LANES;
    let text = filled_in(
        include_str!("tensor.wgsl"),
        &[
            ("panel", &(side * CHUNKS)),
            ("from_a", &read(0, product::LEFT_AT)?),
            ("from_b", &read(1, product::RIGHT_AT)?),
            ("left_word", &rounding.word("from_left(batch, row,")),
            ("right_word", &rounding.word("from_right(batch, column,")),
            ("pair", &steps),
            ("lanes", &LANES),
            ("side", &side),
            ("chunk_steps", &(steps * WORDS / CHUNKS)),
            ("warp_rows", &(side / DOWN)),
            ("warp_columns", &(side / ACROSS)),
            ("block", &BLOCK),
            ("depth", &(steps * WORDS)),
            ("totals", &warp.declared("total")),
            ("sums", &warp.declared("sum")),
            ("fetched", &fetched(chunks, "step", true)),
            ("fetch", &fetched(chunks, "next", false)),
            ("fill", &fill(chunks)),
            ("multiply", &warp.multiplied(rounding)),
            ("add", &warp.each(|r, c| format!("total{r}_{c} = total{r}_{c} + sum{r}_{c};"))),
            ("store", &warp.stored()),
        ],
    );
    Ok(Kernel {
        key: format!(
            "{}, {} on tensor cores",
            product::key_of(types, tile, epilogue),
            rounding.name()
        ),
        text: product::finished(types, single, epilogue)? + &text,
        workgroup: [LANES as u32, 1, 1],
        bindings: product::bindings(types, epilogue).collect::<Vec<Binding>>(),
        parameter_words: product::words(epilogue, single)?,
    })
}

/// The chunks that an invocation takes to a group's memory, 64 rows apart.
fn fetched(chunks: usize, step: &str, first: bool) -> String {
    let mut text = String::new();
    let rows = LANES / CHUNKS;
    let var = if first { "var " } else { "" };
    for i in 0..chunks {
        let down = i * rows;
        let _ = writeln!(
            text,
            "    {var}next_left{i} = left_chunk(batch, first_row + filled + {down}u, {step});\n    \
             {var}next_right{i} = right_chunk(batch, first_column + filled + {down}u, {step});"
        );
    }
    text
}

fn fill(chunks: usize) -> String {
    let at = |i: usize| format!("filled_at + {}u", i * LANES);
    let line =
        |i: usize| format!("left[{}] = next_left{i};\nright[{}] = next_right{i};\n", at(i), at(i));
    (0..chunks).map(line).collect()
}

/// The instructions' results that a warp makes, down and across.
struct Warp {
    down: usize,
    across: usize,
}

impl Warp {
    fn each(&self, line: impl Fn(usize, usize) -> String) -> String {
        let cells = (0..self.down).flat_map(|r| (0..self.across).map(move |c| (r, c)));
        cells.map(|(r, c)| format!("        {}\n", line(r, c))).collect()
    }

    fn declared(&self, name: &str) -> String {
        self.each(|r, c| format!("var {name}{r}_{c} = vec4<f32>(0.0);"))
    }

    /// Two steps of the instruction along k: 12 loads of 16 bytes for 32 instructions in the larger
    /// tile.
    fn multiplied(&self, rounding: Rounding) -> String {
        let mut text = String::new();
        for r in 0..self.down {
            let at = r * ROWS * CHUNKS;
            let _ = writeln!(text, "let above{r} = left[left_at + {at}u];");
            let _ = writeln!(text, "let below{r} = left[left_at + {}u];", at + 8 * CHUNKS);
        }
        for c in 0..self.across {
            let _ = writeln!(text, "let beside{c} = right[right_at + {}u];", c * COLUMNS * CHUNKS);
        }
        for [x, y] in [["x", "y"], ["z", "w"]] {
            text += &self.each(|r, c| {
                format!(
                    "sum{r}_{c} = tensor_{}(vec4<u32>(above{r}.{x}, below{r}.{x}, above{r}.{y}, \
                     below{r}.{y}), vec2<u32>(beside{c}.{x}, beside{c}.{y}), sum{r}_{c});",
                    rounding.name()
                )
            });
        }
        text
    }

    fn stored(&self) -> String {
        self.each(|r, c| {
            let cell = |part: &str, down: usize, across: usize| {
                let (down, across) = (r * ROWS + down, c * COLUMNS + across);
                format!("finish(total{r}_{c}.{part}, batch, row + {down}u, column + {across}u);")
            };
            [cell("x", 0, 0), cell("y", 0, 1), cell("z", 8, 0), cell("w", 8, 1)].join("\n        ")
        })
    }
}

#[cfg(test)]
pub(super) mod tests {
    use super::super::broadcast::Read;
    use super::*;
    use crate::{Variants, compile, compile_ptx};
    use rung_math::{Add, Width, trace_binary};

    /// Both roundings and tiles, operands of every float type, and what follows a product.
    pub(crate) fn all() -> Vec<Kernel> {
        use ElementType::*;
        let mut all = Vec::new();
        for rounding in [Rounding::Tf32, Rounding::Bf16] {
            for (stored, writes) in [([F32, F32], F32), ([BF16, F16], BF16)] {
                for tile in [Tile::Middle, Tile::Large] {
                    let types = Types { stored, wanted: F32, writes };
                    all.push(kernel(types, rounding, tile, None).unwrap());
                }
            }
            let graph = trace_binary::<Add>(Width::F32);
            let reads = [Read::Array { stored: F32, wanted: F32 }];
            let epilogue = Epilogue { name: "add", graph: &graph, reads: &reads };
            let types = Types { stored: [F32; 2], wanted: F32, writes: F32 };
            all.push(kernel(types, rounding, Tile::Large, Some(&epilogue)).unwrap());
        }
        all
    }

    /// Every later target, and no SPIR-V.
    #[test]
    fn tensor_cores_are_a_later_target_s() {
        for kernel in all() {
            assert!(kernel.needs_tensor_cores());
            let text = compile_ptx(&kernel, &Variants::default()).unwrap();
            assert!(text.contains(".version 7.0\n.target sm_80\n"), "{text}");
            let e = compile(&kernel, &Variants::default()).unwrap_err();
            let said = "SPIR-V: tensor cores are written as PTX alone";
            assert!(e.message().ends_with(said), "{}", e.message());
        }
    }

    #[test]
    fn doubles_are_not_taken() {
        let f64s = ElementType::F64;
        let types = Types { stored: [f64s; 2], wanted: f64s, writes: f64s };
        assert!(kernel(types, Rounding::Tf32, Tile::Middle, None).is_err());
    }
}
