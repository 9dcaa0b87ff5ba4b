//! triangular: stacks of matrices (slabs, n, n) in f64, factorised where they stand, and
//! substitution in the place of right-hand sides (sides, n, columns).
//!
//! The bits are those of `rung_math::triangular`: an element takes one fused step for each
//! eliminated index, in the order of the elimination, from the element itself. Columns go in blocks
//! of 32: a group makes the panel of a matrix, then the rows right of it and the rest take the
//! block's steps in their order. Pivots, and those that are not positive, are written as i32.

use super::product::{Layout, Panels, Registers};
use super::{filled_in, grid_for, groups_for};
use crate::cells::{self, Computed};
use crate::kernel::{Binding, Kernel, Launch, per_word, signed_word, word};
use rung_base::{ElementType, Result};
use std::sync::Arc;

/// Columns of a panel.
pub const BLOCK: usize = 32;
/// Invocations of a group that makes a panel.
const LANES: usize = 256;
/// Of a tile. 8 flops for a load from a group's memory, half of what tiles of products make: an update reads
/// and writes 64 x 64 doubles for 32 steps, 4 flops for each of their bytes, which bound it before that.
const TILE: Layout = Layout { group: [16, 16], cells: 4 };
const SIDE: usize = TILE.group[0] * TILE.cells;
/// Steps that a group's memory holds: 8 KiB for both factors.
const STEPS: usize = 8;

/// A stack of triangles beside right-hand sides, in a launch over buffers t, x and for each side
/// the number of its matrix (i32).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Sides {
    /// Rows and columns of a matrix, rows of a side.
    pub n: usize,
    /// Right-hand sides in the stack.
    pub count: usize,
    /// Columns of each.
    pub columns: usize,
}

/// The kernels of factorisation and substitution.
#[derive(Clone, Debug)]
pub struct Kernels {
    panel: Arc<Kernel>,
    across: Arc<Kernel>,
    roots: Arc<Kernel>,
    update: Arc<Kernel>,
    beside: Arc<Kernel>,
    substitute: Arc<Kernel>,
    exchange: Arc<Kernel>,
    identity: Arc<Kernel>,
}

/// Rows and columns of a tile that an update changes, and where its factors lie.
struct Update {
    slabs: usize,
    /// Rows, columns and steps.
    extents: [usize; 3],
    lower: bool,
    /// The first element, elements to the next slab and to the next row.
    target: [isize; 3],
    /// The first element, elements to the next matrix, row and step.
    left: [isize; 4],
    /// The first element, elements to the next slab, step and column.
    right: [isize; 4],
}

impl Default for Kernels {
    fn default() -> Kernels {
        Kernels::new()
    }
}

impl Kernels {
    /// Their texts; nothing is compiled yet.
    pub fn new() -> Kernels {
        let (f64, i32) = (ElementType::F64, ElementType::I32);
        let factor = || vec![Binding::write(f64), Binding::write(i32)];
        let solve = |first| vec![Binding::read(first), Binding::write(f64), Binding::read(i32)];
        let kernel = |name: &str, text: &str, group: usize, bindings, parameter_words| {
            let group: &dyn std::fmt::Display = &group;
            let text =
                filled_in(text, &[("group", group), ("half", &(LANES / 2)), ("block", &BLOCK)]);
            let key = format!("triangular {name}");
            let workgroup = [LANES as u32, 1, 1];
            Arc::new(Kernel { key, text, workgroup, bindings, parameter_words })
        };
        let panel = include_str!("triangular_panel.wgsl");
        let across = include_str!("triangular_across.wgsl");
        let roots = include_str!("triangular_roots.wgsl");
        let substitute = include_str!("triangular_substitute.wgsl");
        let exchange = include_str!("triangular_exchange.wgsl");
        let identity = "fn element(i: u32) -> f64 {\n    let n = parameter(1u);\n    \
                        let cell = i % (n * n);\n    \
                        return select(0.0lf, 1.0lf, cell / n == cell % n);\n}\n";
        let identity = identity.to_string() + &cells::main_over_elements(f64, 0);
        Kernels {
            panel: kernel("panel", panel, LANES, factor(), 4),
            across: kernel("across", across, super::GROUP, factor(), 4),
            roots: kernel("roots", roots, LANES, factor(), 4),
            update: Arc::new(updating("update", "b0", "slab", factor())),
            beside: Arc::new(updating("beside", "b1", "u32(b2[slab])", solve(f64))),
            substitute: kernel("substitute", substitute, super::GROUP, solve(f64), 7),
            exchange: kernel("exchange", exchange, super::GROUP, solve(i32), 4),
            identity: kernel("identity", &identity, super::GROUP, vec![Binding::write(f64)], 2),
        }
    }

    /// LU with partial pivoting of every matrix in its place. Buffers of each launch: the stack,
    /// the rows of the pivots (slabs, n).
    pub fn lu(&self, slabs: usize, n: usize) -> Result<Vec<Launch>> {
        let mut launches = Vec::new();
        for start in (0..n).step_by(BLOCK) {
            let end = (start + BLOCK).min(n);
            launches.push(panel(&self.panel, slabs, n, [start, end])?);
            if n > BLOCK {
                let columns = slabs.saturating_mul(n);
                let parameters = vec![word(columns)?, word(n)?, word(start)?, word(end)?];
                let groups = groups_for(columns);
                launches.push(Launch { kernel: self.across.clone(), parameters, groups });
            }
            if end < n {
                launches.push(self.trailing(slabs, n, [start, end], false)?);
            }
        }
        Ok(launches)
    }

    /// The lower factor of every matrix in the place of its lower triangle; what stands above the
    /// diagonal afterwards means nothing. Buffers of each launch: the stack, for each matrix the
    /// first pivot that is not positive, or -1.
    pub fn cholesky(&self, slabs: usize, n: usize) -> Result<Vec<Launch>> {
        let mut launches = Vec::new();
        for start in (0..n).step_by(BLOCK) {
            let end = (start + BLOCK).min(n);
            launches.push(panel(&self.roots, slabs, n, [start, end])?);
            if end < n {
                launches.push(self.trailing(slabs, n, [start, end], true)?);
            }
        }
        Ok(launches)
    }

    /// What is right of a panel and below it takes the panel's steps; `lower`: the right factor is
    /// the left one turned.
    fn trailing(
        &self,
        slabs: usize,
        n: usize,
        [start, end]: [usize; 2],
        lower: bool,
    ) -> Result<Launch> {
        let (matrix, row) = ((n * n) as isize, n as isize);
        let at = |i: usize, j: usize| (i * n + j) as isize;
        let right = match lower {
            true => [at(end, start), matrix, 1, row],
            false => [at(start, end), matrix, row, 1],
        };
        updated(
            &self.update,
            &Update {
                slabs,
                extents: [n - end, n - end, end - start],
                lower,
                target: [at(end, end), matrix, row],
                left: [at(end, start), matrix, row, 1],
                right,
            },
        )
    }

    /// The exchanges of an LU on the rows of right-hand sides, the first first. `offset`: where the
    /// pivots begin in their buffer. Buffers: pivots, x, the number of each side's matrix.
    pub fn exchange(&self, sides: &Sides, offset: usize) -> Result<Launch> {
        let (count, words) = sides.words()?;
        let parameters = [&words[..], &[word(offset)?]].concat();
        Ok(Launch { kernel: self.exchange.clone(), parameters, groups: groups_for(count) })
    }

    /// Solves with the lower or the upper triangles in the place of right-hand sides. `unit`: the
    /// diagonal counts as ones. Buffers of each launch: t, x, the number of each side's matrix.
    pub fn substitute(&self, sides: &Sides, lower: bool, unit: bool) -> Result<Vec<Launch>> {
        let (count, words) = sides.words()?;
        let n = sides.n;
        let mut blocks: Vec<usize> = (0..n).step_by(BLOCK).collect();
        if !lower {
            blocks.reverse();
        }
        let mut launches = Vec::new();
        for start in blocks {
            let end = (start + BLOCK).min(n);
            let flags = [u32::from(lower), u32::from(unit)];
            let parameters = [&words[..], &[word(start)?, word(end)?], &flags].concat();
            let groups = groups_for(count);
            launches.push(Launch { kernel: self.substitute.clone(), parameters, groups });
            let rows = if lower { n - end } else { start };
            if rows > 0 {
                launches.push(updated(&self.beside, &sides.rest(lower, [start, end]))?);
            }
        }
        Ok(launches)
    }

    /// Ones on the diagonals of a stack. Buffers: the stack.
    pub fn identity(&self, slabs: usize, n: usize) -> Result<Launch> {
        let cells = slabs.saturating_mul(n).saturating_mul(n);
        let parameters = vec![word(cells)?, word(n)?];
        Ok(Launch { kernel: self.identity.clone(), parameters, groups: groups_for(cells) })
    }
}

impl Sides {
    /// Columns of all sides, and the words with which a launch over them begins.
    fn words(&self) -> Result<(usize, [u32; 3])> {
        let count = self.count.saturating_mul(self.columns);
        word(count.saturating_mul(self.n))?;
        Ok((count, [word(count)?, word(self.n)?, word(self.columns)?]))
    }

    /// The rows that are not solved yet take a block's steps: descending ones in upper triangles.
    fn rest(&self, lower: bool, [start, end]: [usize; 2]) -> Update {
        let (n, columns) = (self.n as isize, self.columns as isize);
        let side = n * columns;
        let (first, from, step) = match lower {
            true => (end as isize, start as isize, 1),
            false => (0, end as isize - 1, -1),
        };
        let rows = if lower { self.n - end } else { start };
        Update {
            slabs: self.count,
            extents: [rows, self.columns, end - start],
            lower: false,
            target: [first * columns, side, columns],
            left: [first * n + from, n * n, n, step],
            right: [from * columns, side, step * columns, 1],
        }
    }
}

/// How many launches `Kernels::lu` takes.
pub fn lu_launches(n: usize) -> usize {
    let blocks = n.div_ceil(BLOCK);
    if n > BLOCK { 3 * blocks - 1 } else { blocks }
}

/// How many launches `Kernels::cholesky` takes.
pub fn cholesky_launches(n: usize) -> usize {
    (2 * n.div_ceil(BLOCK)).saturating_sub(1)
}

/// How many launches `Kernels::substitute` takes.
pub fn substitution_launches(n: usize) -> usize {
    cholesky_launches(n)
}

/// The lower factors as they stand, or turned into upper ones, with +0 in the other triangle.
/// Buffers: the stack, out.
pub fn kept(writes: ElementType) -> Result<Kernel> {
    let value = cells::written(writes, Computed::Double, "x");
    let text = filled_in(
        include_str!("triangular_lower.wgsl"),
        &[("type", &cells::written_type(writes)), ("value", &value)],
    );
    Ok(Kernel {
        key: format!("triangular kept {writes}"),
        text: text + &cells::main_over_elements(writes, 1),
        workgroup: [super::GROUP as u32, 1, 1],
        bindings: vec![Binding::read(ElementType::F64), Binding::write(writes)],
        parameter_words: 3,
    })
}

/// Over a stack of matrices.
pub fn kept_launch(kernel: &Arc<Kernel>, slabs: usize, n: usize, upper: bool) -> Result<Launch> {
    let cells = slabs.saturating_mul(n).saturating_mul(n);
    let parameters = vec![word(cells)?, word(n)?, u32::from(upper)];
    let words = cells.div_ceil(per_word(kernel.bindings[1].element));
    Ok(Launch { kernel: kernel.clone(), parameters, groups: groups_for(words) })
}

fn panel(kernel: &Arc<Kernel>, slabs: usize, n: usize, ends: [usize; 2]) -> Result<Launch> {
    word(slabs.saturating_mul(n).saturating_mul(n))?;
    let parameters = vec![word(slabs)?, word(n)?, word(ends[0])?, word(ends[1])?];
    Ok(Launch { kernel: kernel.clone(), parameters, groups: grid_for(slabs)? })
}

/// `target`: the buffer that is changed and holds the right factor; the left one is in buffer 0, in
/// the matrix of this number.
fn updating(name: &str, target: &str, matrix: &str, bindings: Vec<Binding>) -> Kernel {
    let panels = Panels::of([SIDE; 2], STEPS, TILE.cells, Computed::Double);
    let registers = Registers { layout: TILE, panels };
    let [tall, wide] = TILE.group;
    let place = |r: usize, c: usize| {
        let [down, across] = registers.place(r, c);
        let cell = format!("cell + {down}u * parameter(9u) + {across}u");
        format!("{cell}, row + {down}u, column + {across}u")
    };
    let present = |r, c| format!("var sum{r}_{c} = present({});", place(r, c));
    let store = |r, c| format!("changed(sum{r}_{c}, {});", place(r, c));
    let text = filled_in(
        include_str!("triangular_update.wgsl"),
        &[
            ("group", &wide),
            ("lanes", &(tall * wide)),
            ("side", &SIDE),
            ("steps", &STEPS),
            ("panel", &(SIDE * STEPS)),
            ("panels", &panels.declared()),
            ("vector", &panels.vector),
            ("left_at", &panels.left_at("step", "r")),
            ("right_at", &panels.right_at("step", "c")),
            ("target", &target),
            ("matrix", &matrix),
            ("sums", &registers.each(present)),
            ("take", &registers.taken("f64")),
            ("store", &registers.each(store)),
        ],
    );
    Kernel {
        key: format!("triangular {name}"),
        text,
        workgroup: [wide as u32, tall as u32, 1],
        bindings,
        parameter_words: 18,
    }
}

fn updated(kernel: &Arc<Kernel>, u: &Update) -> Result<Launch> {
    let [rows, columns, steps] = u.extents;
    let (across, down) = (columns.div_ceil(SIDE), rows.div_ceil(SIDE));
    let tiles = across.saturating_mul(down).saturating_mul(u.slabs);
    let counts = [tiles, rows, columns, steps, across, down];
    let mut parameters = counts.into_iter().map(word).collect::<Result<Vec<u32>>>()?;
    parameters.push(u32::from(u.lower));
    for part in [&u.target[..], &u.left, &u.right] {
        for &stride in part {
            parameters.push(signed_word(stride)?);
        }
    }
    Ok(Launch { kernel: kernel.clone(), parameters, groups: grid_for(tiles)? })
}

#[cfg(test)]
pub(super) mod tests {
    use super::*;

    pub(crate) fn all() -> Vec<Kernel> {
        let k = Kernels::new();
        let factor = [k.panel, k.across, k.roots, k.update];
        let solve = [k.beside, k.substitute, k.exchange, k.identity];
        let all = factor.into_iter().chain(solve).map(|kernel| (*kernel).clone());
        all.chain(ElementType::FLOATS.map(|writes| kept(writes).unwrap())).collect()
    }

    #[test]
    fn launches_grow_with_the_blocks() {
        let k = Kernels::new();
        let lu = |n| k.lu(2, n).unwrap().len();
        assert_eq!([lu(0), lu(1), lu(32), lu(33), lu(64), lu(65)], [0, 1, 1, 5, 5, 8]);
        let sides = |n| Sides { n, count: 1, columns: 3 };
        let solve = |n| k.substitute(&sides(n), false, true).unwrap().len();
        assert_eq!([solve(0), solve(32), solve(33)], [0, 1, 3]);
        assert!(k.lu(1 << 12, 1 << 10).is_err(), "more elements than a word counts");
        for n in [0, 1, 31, 32, 33, 64, 65, 1000] {
            assert_eq!(lu(n), lu_launches(n), "{n}");
            assert_eq!(k.cholesky(2, n).unwrap().len(), cholesky_launches(n), "{n}");
            assert_eq!(solve(n), substitution_launches(n), "{n}");
        }
    }
}
