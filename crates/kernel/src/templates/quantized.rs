//! quantized: a matrix (rows, columns) of Q8_0 blocks, 34 bytes each as files have them, times a
//! vector x (columns) of singles -> out (rows) of singles, with the bits of `rung_math::quantized`.
//!
//! The vector is quantised once, a block an invocation; then a group makes a row: integers inside a
//! block, and over the blocks the fold that `rung_math::fold` fixes, in doubles.

use super::{GROUP, filled_in, grid_for, groups_for};
use crate::kernel::{Binding, Kernel, Launch, word};
use rung_base::{ElementType, Error, ErrorKind, Result};
use rung_math::fold::{CHUNK, PARTIALS};
use std::sync::Arc;

/// Numbers of a block, and its bytes.
const BLOCK: usize = 32;
const BYTES: usize = 34;

/// The kernels of a product.
#[derive(Clone, Debug)]
pub struct Kernels {
    vector: Arc<Kernel>,
    rows: Arc<Kernel>,
}

/// The launches of a product.
#[derive(Clone, Debug)]
pub struct Plan {
    /// Buffers: x, its blocks' scales (f32), their bytes (`words_of` i32).
    pub vector: Launch,
    /// Buffers: the matrix's bytes, the scales, the bytes, out.
    pub rows: Launch,
}

/// Words of the bytes of so many blocks of the vector.
pub fn words_of(blocks: usize) -> usize {
    blocks * BLOCK / 4
}

impl Default for Kernels {
    fn default() -> Kernels {
        Kernels::new()
    }
}

impl Kernels {
    /// Their texts; nothing is compiled yet.
    pub fn new() -> Kernels {
        let (f32, i32) = (ElementType::F32, ElementType::I32);
        let vector = filled_in(include_str!("quantized_vector.wgsl"), &[("group", &GROUP)]);
        let rows = filled_in(
            include_str!("quantized_rows.wgsl"),
            &[("partials", &PARTIALS), ("half", &(PARTIALS / 2)), ("chunk", &CHUNK)],
        );
        let kernel = |name: &str, text, group: usize, bindings, parameter_words| {
            let workgroup = [group as u32, 1, 1];
            let key = format!("quantized {name}");
            Arc::new(Kernel { key, text, workgroup, bindings, parameter_words })
        };
        let quantises = vec![Binding::read(f32), Binding::write(f32), Binding::write(i32)];
        let matrix = Binding::read(ElementType::U8);
        let multiplies = vec![matrix, Binding::read(f32), Binding::read(i32), Binding::write(f32)];
        Kernels {
            vector: kernel("vector", vector, GROUP, quantises, 2),
            rows: kernel("rows", rows, PARTIALS, multiplies, 3),
        }
    }

    /// Over rows of `blocks` blocks that begin at an even byte, and a packed x at an element.
    pub fn plan(&self, rows: usize, blocks: usize, byte: usize, x: usize) -> Result<Plan> {
        if blocks > CHUNK * PARTIALS || !byte.is_multiple_of(2) {
            let text = "rows of 262,144 blocks at most, from an even byte";
            return Err(Error::new(ErrorKind::Declined, text));
        }
        word(rows.saturating_mul(blocks).saturating_mul(BYTES).saturating_add(byte))?;
        Ok(Plan {
            vector: Launch {
                kernel: self.vector.clone(),
                parameters: vec![word(blocks)?, word(x)?],
                groups: groups_for(blocks),
            },
            rows: Launch {
                kernel: self.rows.clone(),
                parameters: vec![word(rows)?, word(blocks)?, word(byte)?],
                groups: grid_for(rows)?,
            },
        })
    }
}

#[cfg(test)]
pub(super) mod tests {
    use super::*;

    pub(crate) fn all() -> Vec<Kernel> {
        let Kernels { vector, rows } = Kernels::new();
        vec![(*vector).clone(), (*rows).clone()]
    }

    #[test]
    fn rows_too_long_and_odd_bytes_decline() {
        let kernels = Kernels::new();
        assert!(kernels.plan(1, CHUNK * PARTIALS + 1, 0, 0).is_err());
        assert!(kernels.plan(1, 1, 33, 0).is_err());
    }
}
