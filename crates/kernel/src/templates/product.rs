//! product: a (batch, m, k) times b (batch, k, n) -> out (batch, m, n) packed, each cell in the
//! order of `rung_math::product`: k in blocks of 512, fused steps inside, blocks added in order.
//!
//! A group makes a tile: an invocation 4 x 4 cells of it or 8 x 8, which it keeps in registers, so that a
//! load from the group's memory, 16 bytes of a row or a column, serves 16 flops at least; one cell where
//! fused steps are made of other arithmetic. Both operands are read through three strides and converted
//! on the way, so a transposed, broadcast or narrower one is read in place. A cell's order does not
//! depend on the tile. What follows a product element by element (an epilogue) is made of the cell before
//! it is stored.

use super::broadcast::Read;
use super::{filled_in, grid_for};
use crate::cells::{self, Computed};
use crate::expression;
use crate::kernel::{Binding, Kernel, Launch, PARAMETER_WORDS, Variants, signed_word, word};
use rung_base::{ElementType, Error, ErrorKind, Result};
use rung_math::product::BLOCK;
use rung_math::{Graph, Kind};
use std::fmt::Write;
use std::sync::Arc;

/// Groups from which a larger tile is faster where a device does not say how many multiprocessors it has.
const ENOUGH: usize = 32;
/// Words of the extents and of an operand.
const EXTENTS: usize = 6;
const OPERAND: usize = 4;
/// Where an element of the left matrix is, and of the right one, for a text that has `batch`, `row`, `column`
/// and `step`.
pub(super) const LEFT_AT: &str =
    "parameter(6u) + batch * parameter(7u) + row * parameter(8u) + step * parameter(9u)";
pub(super) const RIGHT_AT: &str =
    "parameter(10u) + batch * parameter(11u) + step * parameter(12u) + column * parameter(13u)";

/// How many cells a group makes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Tile {
    /// 16 x 16, a cell for each invocation.
    Each,
    /// 32 x 32, doubles 32 x 64.
    Small,
    /// 64 x 64.
    Middle,
    /// 128 x 128; singles alone, of which two panels fit a group's memory.
    Large,
}

impl Tile {
    /// The largest that keeps enough of a device busy; `processors`: how many multiprocessors it has. A
    /// group of 32 x 32 is two warps and keeps half of a multiprocessor busy, so from a group for every
    /// second of them on 64 x 64 is no slower; 128 x 128 by the reference. `Each` where a fused step is
    /// made of other arithmetic, a dozen operations and more: beside them loads do not matter, and a driver
    /// took a minute for 64 copies in doubles.
    pub fn of(
        size: &Extents,
        computed: Computed,
        variants: &Variants,
        processors: Option<u32>,
    ) -> Tile {
        let busy = |tile: Tile| {
            let [rows, columns] = tile.sides(computed);
            let groups = size.m.div_ceil(rows).saturating_mul(size.n.div_ceil(columns));
            let enough = processors.map_or(ENOUGH, |n| (n as usize).div_ceil(2));
            size.m >= rows && size.n >= columns && groups.saturating_mul(size.batch) >= enough
        };
        let made = match computed {
            Computed::Single => variants.software_fma_f32,
            _ => variants.software_fma_f64,
        };
        match () {
            () if made => Tile::Each,
            () if computed == Computed::Single && busy(Tile::Large) => Tile::Large,
            () if busy(Tile::Middle) => Tile::Middle,
            () => Tile::Small,
        }
    }

    /// Rows and columns.
    pub fn sides(self, computed: Computed) -> [usize; 2] {
        let Layout { group, cells } = self.layout(computed);
        group.map(|invocations| invocations * cells)
    }

    /// 4 x 4 singles are 16 fused steps for two loads of 16 bytes, 8 x 8 of them 64 for four; a load holds
    /// two doubles only, so that 8 x 8 are 64 for eight and 4 x 4 would be 16 for four.
    fn layout(self, computed: Computed) -> Layout {
        let (group, cells) = match (self, computed) {
            (Tile::Each, _) => ([16, 16], 1),
            (Tile::Small, Computed::Single) => ([8, 8], 4),
            (Tile::Small, _) => ([4, 8], 8),
            (Tile::Middle, Computed::Single) => ([16, 16], 4),
            (Tile::Middle, _) => ([8, 8], 8),
            (Tile::Large, _) => ([16, 16], 8),
        };
        Layout { group, cells }
    }

    /// Steps along k that a group's memory holds: 16 KiB for both operands at most.
    fn steps(self, computed: Computed) -> usize {
        match (self, computed) {
            (Tile::Large, _) | (Tile::Small | Tile::Middle, Computed::Double) => 8,
            _ => 16,
        }
    }
}

/// Invocations of a group down and across, and cells of each of them along both sides.
#[derive(Clone, Copy)]
pub(super) struct Layout {
    pub group: [usize; 2],
    pub cells: usize,
}

/// What a group's memory holds of both operands: for each of some steps a tile's rows and its columns, in
/// vectors that move in one access. A row of the left one is longer by 16 bytes, so that the 32 cells which a warp stores, of
/// eight steps and four rows, stand in as many banks; those of the right one follow each other.
#[derive(Clone, Copy)]
pub(super) struct Panels {
    sides: [usize; 2],
    steps: usize,
    computed: Computed,
    /// Cells of a vector.
    pub vector: usize,
}

impl Panels {
    /// For tiles of so many rows and columns in which an invocation makes `cells` along each side.
    pub fn of(sides: [usize; 2], steps: usize, cells: usize, computed: Computed) -> Panels {
        Panels { sides, steps, computed, vector: cells.min(Panels::sixteen(computed)) }
    }

    /// Cells in 16 bytes.
    fn sixteen(computed: Computed) -> usize {
        16 / computed.element().size()
    }

    /// Cells of a row of the left panel.
    fn row(&self) -> usize {
        self.sides[0] + Panels::sixteen(self.computed)
    }

    pub fn declared(&self) -> String {
        let name = self.computed.name();
        let kind = match self.vector {
            1 => name.to_string(),
            vector => format!("vec{vector}<{name}>"),
        };
        let line = |panel: &str, row: usize| {
            let count = row * self.steps / self.vector;
            format!("var<workgroup> {panel}: array<{kind}, {count}>;\n")
        };
        line("left", self.row()) + &line("right", self.sides[1])
    }

    /// Where the cell of a step and row stands in the left panel.
    pub fn left_at(&self, step: &str, row: &str) -> String {
        self.at(&format!("{step} * {}u + {row}", self.row()), row)
    }

    /// Where the cell of a step and column stands in the right panel.
    pub fn right_at(&self, step: &str, column: &str) -> String {
        self.at(&format!("{step} * {}u + {column}", self.sides[1]), column)
    }

    fn at(&self, cell: &str, part: &str) -> String {
        match self.vector {
            1 => format!("[{cell}]"),
            vector => format!("[({cell}) / {vector}u][{part} % {vector}u]"),
        }
    }
}

/// How one operand is read: its first element and the step along batch, row and column.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Matrix {
    /// The element at row 0, column 0 of the first matrix.
    pub offset: usize,
    /// Elements from one matrix of the stack to the next; 0 shares one matrix.
    pub batch: isize,
    /// Elements from one row to the next.
    pub row: isize,
    /// Elements from one column to the next.
    pub column: isize,
}

/// The extents of a product.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Extents {
    /// Matrices in the stack.
    pub batch: usize,
    /// Rows of the left operand and of the result.
    pub m: usize,
    /// Columns of the left operand, rows of the right one.
    pub k: usize,
    /// Columns of the right operand and of the result.
    pub n: usize,
}

/// What the operands and the result are.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Types {
    /// What the operands' buffers hold.
    pub stored: [ElementType; 2],
    /// As what their elements are multiplied: f32 or f64.
    pub wanted: ElementType,
    /// What the result's buffer holds.
    pub writes: ElementType,
}

/// A definition of each cell, which is its first argument, and of further operands.
pub struct Epilogue<'a> {
    /// Unique among definitions.
    pub name: &'a str,
    /// At the products' width.
    pub graph: &'a Graph,
    /// The arguments after the cell: arrays at the result's shape, and numbers.
    pub reads: &'a [Read],
}

/// Buffers: a, b, the epilogue's arrays, out.
pub fn kernel(types: Types, tile: Tile, epilogue: Option<&Epilogue>) -> Result<Kernel> {
    let computed = Computed::holding(types.wanted);
    let read =
        |stored, buffer: &str, at: &str| cells::read(stored, types.wanted, computed, buffer, at);
    let from_a = "from_left + (first_row + row) * parameter(8u) + (start + step) * parameter(9u)";
    let from_b = "from_right + (start + step) * parameter(12u) \
                  + (first_column + column) * parameter(13u)";
    let cell = finished(types, computed, epilogue)?;
    let (steps, sides, layout) =
        (tile.steps(computed), tile.sides(computed), tile.layout(computed));
    let panels = Panels::of(sides, steps, layout.cells, computed);
    let registers = Registers { layout, panels };
    let [down, across] = layout.group;
    let text = filled_in(
        include_str!("product.wgsl"),
        &[
            ("real", &computed.name()),
            ("down", &down),
            ("across", &across),
            ("lanes", &(down * across)),
            ("rows", &sides[0]),
            ("columns", &sides[1]),
            ("cells", &(layout.cells * layout.cells)),
            ("steps", &steps),
            ("eights", &(steps / 8)),
            ("left_panel", &(sides[0] * steps)),
            ("right_panel", &(sides[1] * steps)),
            ("panels", &panels.declared()),
            ("vector", &panels.vector),
            ("left_at", &panels.left_at("step", "row")),
            ("right_at", &panels.right_at("step", "column")),
            ("block", &BLOCK),
            ("from_a", &read(types.stored[0], "b0", from_a)?),
            ("from_b", &read(types.stored[1], "b1", from_b)?),
            ("sums", &registers.declared(computed.name())),
            ("take", &registers.taken(computed.name())),
            ("keep", &registers.kept()),
            ("store", &registers.stored()),
        ],
    );
    Ok(Kernel {
        key: key_of(types, tile, epilogue),
        text: cell + &text,
        workgroup: [across as u32, down as u32, 1],
        bindings: bindings(types, epilogue).collect(),
        parameter_words: words(epilogue, computed)?,
    })
}

/// Those of a, b, the epilogue's arrays, out.
pub(super) fn bindings<'a>(
    types: Types,
    epilogue: Option<&Epilogue<'a>>,
) -> impl Iterator<Item = Binding> + use<'a> {
    let reads = epilogue.map_or(&[][..], |e| e.reads);
    let arrays = reads.iter().filter_map(|read| match read {
        Read::Array { stored, .. } => Some(Binding::read(*stored)),
        Read::Number => None,
    });
    let operands = types.stored.map(Binding::read).into_iter().chain(arrays);
    operands.chain([Binding::write_single(types.writes)])
}

/// Words of parameters of a launch.
pub(super) fn words(epilogue: Option<&Epilogue>, computed: Computed) -> Result<usize> {
    let reads = epilogue.map_or(&[][..], |e| e.reads);
    let more: usize = reads
        .iter()
        .map(|read| match read {
            Read::Array { .. } => OPERAND,
            Read::Number => computed.words(),
        })
        .sum();
    match EXTENTS + 2 * OPERAND + more {
        words if words <= PARAMETER_WORDS => Ok(words),
        _ => Err(Error::new(ErrorKind::Declined, "more operands than a launch describes")),
    }
}

pub(super) fn key_of(types: Types, tile: Tile, epilogue: Option<&Epilogue>) -> String {
    let [a, b] = types.stored;
    let mut key = format!("product {a} {b} as {} to {} {tile:?}", types.wanted, types.writes);
    if let Some(epilogue) = epilogue {
        let _ = write!(key, ", {}", epilogue.name);
        for read in epilogue.reads {
            let _ = match read {
                Read::Array { stored, wanted } => write!(key, " {stored}-{wanted}"),
                Read::Number => write!(key, " number"),
            };
        }
    }
    key
}

/// `fn finished(total, batch, row, column)` and what it calls: the cell as it is stored.
pub(super) fn finished(
    types: Types,
    computed: Computed,
    epilogue: Option<&Epilogue>,
) -> Result<String> {
    let (mut text, value, out) = match epilogue {
        Some(epilogue) => followed(epilogue, computed)?,
        None => (String::new(), "total".into(), 2),
    };
    let at = "(batch * parameter(1u) + row) * parameter(3u) + column";
    let value = cells::written(types.writes, computed, &value);
    let store = cells::stored_single(types.writes, &format!("b{out}"), "at", "value");
    let _ = write!(
        text,
        "fn finish(total: {}, batch: u32, row: u32, column: u32) {{\n    \
         if ((row >= parameter(1u)) | (column >= parameter(3u))) {{ return; }}\n    \
         let at = {at};\n    let value = {value};\n    {store}\n}}\n",
        computed.name()
    );
    Ok(text)
}

/// The function that follows, a call of it, and the buffer after those that it reads.
fn followed(epilogue: &Epilogue, computed: Computed) -> Result<(String, String, usize)> {
    let mut out = 2;
    let mut arguments = vec!["total".to_string()];
    // Arrays are described first, whatever their order among the numbers.
    let arrays = epilogue.reads.iter().filter(|read| **read != Read::Number).count();
    let mut number = EXTENTS + 2 * OPERAND + arrays * OPERAND;
    for read in epilogue.reads {
        arguments.push(match *read {
            Read::Array { stored, wanted } => {
                let base = EXTENTS + out * OPERAND;
                let at = format!(
                    "parameter({base}u) + batch * parameter({}u) + row * parameter({}u) \
                     + column * parameter({}u)",
                    base + 1,
                    base + 2,
                    base + 3
                );
                out += 1;
                cells::read(stored, wanted, computed, &format!("b{}", out - 1), &at)?
            }
            Read::Number => {
                number += computed.words();
                computed.parameter(number - computed.words())
            }
        });
    }
    let text = expression::function("definition", epilogue.graph, arguments.len());
    let value = format!("definition({})", arguments.join(", "));
    let value = match epilogue.graph.kind(epilogue.graph.result()) {
        Kind::Mask => computed.truth(&value),
        _ => value,
    };
    Ok((text, value, out))
}

/// The cells of an invocation, each a variable of its own.
pub(super) struct Registers {
    pub layout: Layout,
    pub panels: Panels,
}

impl Registers {
    pub(super) fn each(&self, line: impl Fn(usize, usize) -> String) -> String {
        let side = 0..self.layout.cells;
        let cells = side.clone().flat_map(|r| side.clone().map(move |c| (r, c)));
        cells.map(|(r, c)| format!("        {}\n", line(r, c))).collect()
    }

    /// Rows and columns from the first cell of an invocation to this one.
    pub(super) fn place(&self, r: usize, c: usize) -> [usize; 2] {
        let (vector, [down, across]) = (self.panels.vector, self.layout.group);
        [(r, down), (c, across)].map(|(i, group)| i / vector * vector * group + i % vector)
    }

    fn declared(&self, real: &str) -> String {
        self.each(|r, c| format!("var sum{r}_{c} = {real}(0.0);"))
    }

    /// One step along k.
    pub(super) fn taken(&self, real: &str) -> String {
        let (vector, [down, across]) = (self.panels.vector, self.layout.group);
        let rows = [("a", "left", self.panels.row(), "place.y", down)];
        let columns = [("b", "right", self.panels.sides[1], "place.x", across)];
        let mut text = String::new();
        for i in 0..self.layout.cells / vector {
            for (name, panel, row, place, group) in rows.into_iter().chain(columns) {
                let _ = writeln!(
                    text,
                    "                let {name}{i} = {panel}[i * {}u + {place} + {}u];",
                    row / vector,
                    i * group
                );
            }
        }
        let part = |i: usize| match vector {
            1 => i.to_string(),
            _ => format!("{}.{}", i / vector, ["x", "y", "z", "w"][i % vector]),
        };
        text + &self.each(|r, c| {
            let (a, b) = (part(r), part(c));
            format!("sum{r}_{c} = fused_{real}(a{a}, b{b}, sum{r}_{c});")
        })
    }

    /// The total of the blocks up to this one.
    fn total(&self, r: usize, c: usize) -> String {
        format!("total({}u, block, sum{r}_{c})", r * self.layout.cells + c)
    }

    fn kept(&self) -> String {
        self.each(|r, c| format!("totals[{}u] = {};", r * self.layout.cells + c, self.total(r, c)))
    }

    fn stored(&self) -> String {
        self.each(|r, c| {
            let ([down, across], total) = (self.place(r, c), self.total(r, c));
            format!("finish({total}, batch, row + {down}u, column + {across}u);")
        })
    }
}

/// A stack of `batch` products in tiles of so many rows and columns; `operands` are a, b and the
/// epilogue's arrays at the result's shape, `numbers` the words of its numbers.
pub fn launch(
    kernel: &Arc<Kernel>,
    [rows, columns]: [usize; 2],
    size: &Extents,
    operands: &[Matrix],
    numbers: &[u32],
) -> Result<Launch> {
    let (across, down) = (size.n.div_ceil(columns), size.m.div_ceil(rows));
    let tiles = across.checked_mul(down).and_then(|tiles| tiles.checked_mul(size.batch));
    let tiles = tiles.unwrap_or(usize::MAX);
    let cells = size.m.checked_mul(size.n).and_then(|cells| cells.checked_mul(size.batch));
    word(cells.unwrap_or(usize::MAX))?;
    let mut parameters =
        vec![word(tiles)?, word(size.m)?, word(size.k)?, word(size.n)?, word(across)?, word(down)?];
    for matrix in operands {
        parameters.push(word(matrix.offset)?);
        for stride in [matrix.batch, matrix.row, matrix.column] {
            parameters.push(signed_word(stride)?);
        }
    }
    parameters.extend_from_slice(numbers);
    Ok(Launch { kernel: kernel.clone(), parameters, groups: grid_for(tiles)? })
}

#[cfg(test)]
pub(super) mod tests {
    use super::*;
    use rung_math::{Add, Width, trace_binary};

    /// Every tile at every type, and what follows a product.
    pub(crate) fn all() -> Vec<Kernel> {
        use ElementType::*;
        let mut all = Vec::new();
        for (stored, wanted, writes) in [
            ([F32, F32], F32, F32),
            ([F64, F64], F64, F64),
            ([BF16, F16], F32, BF16),
            ([F32, BF16], F32, F32),
            ([F16, F64], F64, F16),
        ] {
            for tile in [Tile::Each, Tile::Small, Tile::Middle, Tile::Large] {
                if tile == Tile::Large && wanted == F64 {
                    continue;
                }
                all.push(kernel(Types { stored, wanted, writes }, tile, None).unwrap());
            }
        }
        all.extend(with_epilogues());
        all
    }

    fn with_epilogues() -> Vec<Kernel> {
        let types = |t| Types { stored: [t; 2], wanted: t, writes: t };
        let mut all = Vec::new();
        for (t, width) in [(ElementType::F32, Width::F32), (ElementType::F64, Width::F64)] {
            let graph = trace_binary::<Add>(width);
            for read in [Read::Array { stored: t, wanted: t }, Read::Number] {
                let epilogue = Epilogue { name: "add", graph: &graph, reads: &[read] };
                all.push(kernel(types(t), Tile::Middle, Some(&epilogue)).unwrap());
            }
        }
        all
    }

    #[test]
    fn a_tile_is_as_large_as_keeps_a_device_busy() {
        let size = |batch, m, n| Extents { batch, m, k: 100, n };
        let any = Variants::default();
        let of = |size| Tile::of(&size, Computed::Single, &any, None);
        assert_eq!(of(size(1, 100, 100)), Tile::Small);
        assert_eq!(of(size(1, 512, 256)), Tile::Middle);
        assert_eq!(of(size(1, 1024, 1024)), Tile::Large);
        assert_eq!(of(size(32, 128, 128)), Tile::Large);
        assert_eq!(Tile::of(&size(1, 1024, 1024), Computed::Double, &any, None), Tile::Middle);
        let of = |n, kind, processors| Tile::of(&size(1, n, n), kind, &any, Some(processors));
        // 36 groups of 64 x 64 and 9 of 128 x 128.
        for (processors, wanted) in
            [(18, Tile::Large), (19, Tile::Middle), (72, Tile::Middle), (73, Tile::Small)]
        {
            assert_eq!(of(384, Computed::Single, processors), wanted, "{processors}");
        }
        assert_eq!(of(384, Computed::Double, 1), Tile::Middle);
        let made = Variants { software_fma_f64: true, ..any };
        let of = |kind| Tile::of(&size(1, 1024, 1024), kind, &made, None);
        assert_eq!([of(Computed::Double), of(Computed::Single)], [Tile::Each, Tile::Large]);
    }
}
