//! product: a (batch, m, k) times b (batch, k, n) -> out (batch, m, n) packed, each cell in the
//! order of `rung_math::product`: k in blocks of 512, fused steps inside, blocks added in order.
//!
//! Tiles of 16 x 16, an invocation a cell. Both operands are read through three strides, so a
//! transposed or broadcast one is read in place. Larger register tiles come later and give the
//! same bits, because a cell's order does not depend on the tile.

use super::grid_for;
use crate::kernel::{Binding, Kernel, Launch, signed_word, wgsl_type, word};
use rung_base::{ElementType, Result};
use rung_math::product::BLOCK;
use std::sync::Arc;

/// Cells along each side of a tile.
pub const TILE: usize = 16;

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

/// Buffers: a, b, out. `element` is f32 or f64.
pub fn kernel(element: ElementType) -> Result<Kernel> {
    let t = wgsl_type(element)?;
    let text = format!(
        "var<workgroup> left: array<{t}, {cells}>;
var<workgroup> right: array<{t}, {cells}>;
@compute @workgroup_size({TILE}, {TILE})
fn main(@builtin(workgroup_id) group: vec3<u32>, @builtin(num_workgroups) groups: vec3<u32>,
        @builtin(local_invocation_id) place: vec3<u32>) {{
    let number = group.y * groups.x + group.x;
    if (number >= parameter(0u)) {{ return; }}
    let m = parameter(1u);
    let k = parameter(2u);
    let n = parameter(3u);
    let across = parameter(4u);
    let tiles = across * parameter(5u);
    let batch = number / tiles;
    let tile = number - batch * tiles;
    let down = tile / across;
    let row = down * {TILE}u + place.y;
    let column = (tile - down * across) * {TILE}u + place.x;
    let from_left = parameter(6u) + batch * parameter(7u) + row * parameter(8u);
    let from_right = parameter(10u) + batch * parameter(11u) + column * parameter(13u);
    var total = {t}(0.0);
    for (var block = 0u; block < k; block = block + {BLOCK}u) {{
        let block_end = min(block + {BLOCK}u, k);
        var sum = {t}(0.0);
        for (var start = block; start < block_end; start = start + {TILE}u) {{
            let a = start + place.x;
            let b = start + place.y;
            var from_a = {t}(0.0);
            var from_b = {t}(0.0);
            if (row < m && a < k) {{ from_a = b0[from_left + a * parameter(9u)]; }}
            if (column < n && b < k) {{ from_b = b1[from_right + b * parameter(12u)]; }}
            left[place.y * {TILE}u + place.x] = from_a;
            right[place.y * {TILE}u + place.x] = from_b;
            workgroupBarrier();
            // Not past the end of k: a step with zeros could turn -0.0 into +0.0.
            let steps = min({TILE}u, block_end - start);
            for (var i = 0u; i < steps; i = i + 1u) {{
                sum = fused_{t}(left[place.y * {TILE}u + i], right[i * {TILE}u + place.x], sum);
            }}
            workgroupBarrier();
        }}
        if (block == 0u) {{ total = sum; }} else {{ total = total + sum; }}
    }}
    if (row < m && column < n) {{ b2[(batch * m + row) * n + column] = total; }}
}}
",
        cells = TILE * TILE
    );
    let read = Binding::read(element);
    Ok(Kernel {
        key: format!("product {element}"),
        text,
        workgroup: [TILE as u32, TILE as u32, 1],
        bindings: vec![read, read, Binding::write(element)],
        parameter_words: 14,
    })
}

/// A stack of `batch` products.
pub fn launch(kernel: &Arc<Kernel>, size: &Extents, a: &Matrix, b: &Matrix) -> Result<Launch> {
    let (across, down) = (size.n.div_ceil(TILE), size.m.div_ceil(TILE));
    let tiles = across.checked_mul(down).and_then(|tiles| tiles.checked_mul(size.batch));
    let tiles = tiles.unwrap_or(usize::MAX);
    let cells = size.m.checked_mul(size.n).and_then(|cells| cells.checked_mul(size.batch));
    word(cells.unwrap_or(usize::MAX))?;
    let mut parameters =
        vec![word(tiles)?, word(size.m)?, word(size.k)?, word(size.n)?, word(across)?, word(down)?];
    for matrix in [a, b] {
        parameters.push(word(matrix.offset)?);
        for stride in [matrix.batch, matrix.row, matrix.column] {
            parameters.push(signed_word(stride)?);
        }
    }
    Ok(Launch { kernel: kernel.clone(), parameters, groups: grid_for(tiles)? })
}
