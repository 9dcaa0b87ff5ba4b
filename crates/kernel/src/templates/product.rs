//! product: a (batch, m, k) times b (batch, k, n) -> out (batch, m, n) packed, each cell in the
//! order of `rung_math::product`: k in blocks of 512, fused steps inside, blocks added in order.
//!
//! Tiles of 16 x 16, an invocation a cell. Both operands are read through three strides, so a
//! transposed or broadcast one is read in place. Larger register tiles come later and give the
//! same bits, because a cell's order does not depend on the tile.

use super::{filled_in, grid_for};
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
    let real = wgsl_type(element)?;
    let text = filled_in(
        include_str!("product.wgsl"),
        &[("real", &real), ("tile", &TILE), ("cells", &(TILE * TILE)), ("block", &BLOCK)],
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
