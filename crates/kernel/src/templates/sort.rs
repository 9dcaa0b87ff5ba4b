//! sort: x packed as (outer, n, inner) -> the positions along n of its elements in order, equal ones by
//! position, and from them values or positions packed as (outer, kept, inner).
//!
//! A bitonic network in which every comparison puts the earlier element first: what lies beyond n
//! counts as last and never moves, so any n will do. Ties go by position, so the result is that of
//! every stable sort. Blocks of 512 are sorted, and later merged, in a group's own memory; wider steps
//! are a launch each.

use super::{filled_in, grid_for, groups_for};
use crate::cells::{self, Computed};
use crate::kernel::{Binding, Kernel, Launch, per_word, word};
use rung_base::{ElementType, Result};
use std::sync::Arc;

/// Elements of a block, two an invocation.
const BLOCK: usize = 512;

/// The kernels that sort elements of one type in one order.
#[derive(Clone, Debug)]
pub struct Kernels {
    blocks: Arc<Kernel>,
    merge: Arc<Kernel>,
    step: Arc<Kernel>,
    values: Arc<Kernel>,
    positions: Arc<Kernel>,
}

/// An operand: packed slices from an element on.
#[derive(Clone, Copy, Debug)]
pub struct Slices {
    /// The first element.
    pub offset: usize,
    /// Cells before the axis.
    pub outer: usize,
    /// Elements of the axis.
    pub length: usize,
    /// Cells after the axis.
    pub inner: usize,
}

impl Kernels {
    /// NaN is the last in ascending order and the first in descending one; zeros are equal.
    pub fn new(element: ElementType, descending: bool) -> Result<Kernels> {
        let computed = Computed::holding(element);
        let order = if descending { "descending" } else { "ascending" };
        let head = head(element, computed, descending)?;
        let kernel = |part: &str, text: &str, group| {
            Arc::new(Kernel {
                key: format!("sort {order} {element} {part}"),
                text: head.clone() + text,
                workgroup: [group as u32, 1, 1],
                bindings: vec![Binding::read(element), Binding::write(ElementType::I32)],
                parameter_words: 7,
            })
        };
        let block = |text: &str| {
            filled_in(
                text,
                &[("block", &BLOCK), ("half", &(BLOCK / 2)), ("type", &computed.name())],
            )
        };
        let shared = block(include_str!("sort_block.wgsl"));
        let step = filled_in(include_str!("sort_step.wgsl"), &[("group", &super::GROUP)]);
        Ok(Kernels {
            blocks: kernel(
                "blocks",
                &(shared.clone() + &block(include_str!("sort_blocks.wgsl"))),
                BLOCK / 2,
            ),
            merge: kernel("merge", &(shared + &block(include_str!("sort_merge.wgsl"))), BLOCK / 2),
            step: kernel("step", &step, super::GROUP),
            values: Arc::new(taken(element, Some(computed))?),
            positions: Arc::new(taken(element, None)?),
        })
    }

    /// The launches that order the positions of all slices. Buffers of each: x, positions (one i32
    /// for every element).
    pub fn plan(&self, s: &Slices) -> Result<Vec<Launch>> {
        let (slices, n) = (s.outer.saturating_mul(s.inner), s.length);
        let padded = n.next_power_of_two();
        let mut launches = Vec::new();
        let mut add =
            |kernel: &Arc<Kernel>, count: usize, each: usize, width: usize, flips: u32| {
                let groups = match Arc::ptr_eq(kernel, &self.step) {
                    true => groups_for(count),
                    false => grid_for(count)?,
                };
                let parameters = vec![
                    word(count)?,
                    word(each)?,
                    word(n)?,
                    word(s.inner)?,
                    word(s.offset)?,
                    word(width)?,
                    flips,
                ];
                launches.push(Launch { kernel: kernel.clone(), parameters, groups });
                Ok::<(), rung_base::Error>(())
            };
        let blocks = n.div_ceil(BLOCK);
        add(&self.blocks, slices.saturating_mul(blocks), blocks, 0, 0)?;
        let (mut width, pairs) = (2 * BLOCK, padded / 2);
        while width <= padded {
            add(&self.step, slices.saturating_mul(pairs), pairs, width, 1)?;
            let mut now = width / 2;
            while now > BLOCK {
                add(&self.step, slices.saturating_mul(pairs), pairs, now, 0)?;
                now /= 2;
            }
            add(&self.merge, slices.saturating_mul(blocks), blocks, 0, 0)?;
            width *= 2;
        }
        Ok(launches)
    }

    /// The first `kept` elements of every sorted slice. Buffers: x, positions, out of x's type.
    pub fn values(&self, s: &Slices, kept: usize) -> Result<Launch> {
        taking(&self.values, s, kept)
    }

    /// Their positions. Buffers: x, positions, out of i64.
    pub fn positions(&self, s: &Slices, kept: usize) -> Result<Launch> {
        taking(&self.positions, s, kept)
    }
}

/// How an element of a slice is read, and which of two comes first.
fn head(element: ElementType, computed: Computed, descending: bool) -> Result<String> {
    let at = "first_of(slice) + place * parameter(3u)";
    let t = computed.name();
    let x = cells::read(element, element, computed, "b0", at)?;
    let (low, high) = if descending { ("b", "a") } else { ("a", "b") };
    let nan = |x: &str| match computed {
        Computed::Single => format!("((bitcast<u32>({x}) & 0x7fffffffu) > 0x7f800000u)"),
        _ => format!("((bitcast<u64>({x}) & 0x7ffffffffffffffflu) > 0x7ff0000000000000lu)"),
    };
    let before = match computed {
        Computed::Whole => format!("bitcast<i64>({low}) < bitcast<i64>({high})"),
        // NaN is above every number.
        _ => format!("!{} & ({} | ({low} < {high}))", nan(low), nan(high)),
    };
    let tie = format!(
        "fn before(a: {t}, b: {t}) -> bool {{ return {before}; }}\n\
         fn in_order(a: {t}, place: u32, b: {t}, other: u32) -> bool {{\n    \
         if (before(a, b)) {{ return true; }}\n    \
         return (place < other) & !before(b, a);\n}}\n"
    );
    let read = filled_in(include_str!("sort.wgsl"), &[("type", &t), ("x", &x)]);
    Ok(tie + &read)
}

/// Out (outer, kept, inner): the elements at ordered positions, or these.
fn taken(element: ElementType, values: Option<Computed>) -> Result<Kernel> {
    let (name, out, value) = match values {
        Some(computed) => {
            let x = cells::read(element, element, computed, "b0", "first + place * inner")?;
            ("values", element, cells::written(element, computed, &x))
        }
        None => ("positions", ElementType::I64, "i64(place)".into()),
    };
    let text = filled_in(
        include_str!("sort_taken.wgsl"),
        &[("type", &cells::written_type(out)), ("value", &value)],
    );
    Ok(Kernel {
        key: format!("sorted {name} {element}"),
        text: text + &cells::main_over_elements(out, 2),
        workgroup: [super::GROUP as u32, 1, 1],
        bindings: vec![
            Binding::read(element),
            Binding::read(ElementType::I32),
            Binding::write(out),
        ],
        parameter_words: 5,
    })
}

fn taking(kernel: &Arc<Kernel>, s: &Slices, kept: usize) -> Result<Launch> {
    let cells = s.outer.saturating_mul(kept).saturating_mul(s.inner);
    let parameters =
        vec![word(cells)?, word(s.length)?, word(s.inner)?, word(s.offset)?, word(kept)?];
    let words = cells.div_ceil(per_word(kernel.bindings[2].element));
    Ok(Launch { kernel: kernel.clone(), parameters, groups: groups_for(words) })
}

#[cfg(test)]
pub(super) mod tests {
    use super::*;

    /// Of every element type.
    pub(crate) fn all() -> Vec<Kernel> {
        let mut all = Vec::new();
        for element in ElementType::ALL {
            for descending in [false, true] {
                let k = Kernels::new(element, descending).unwrap();
                let kernels = [k.blocks, k.merge, k.step, k.values, k.positions];
                all.extend(kernels.map(|kernel| (*kernel).clone()));
            }
        }
        all
    }

    #[test]
    fn wide_steps_are_launches_and_narrow_ones_are_not() {
        let kernels = Kernels::new(ElementType::F32, false).unwrap();
        let count =
            |length| kernels.plan(&Slices { offset: 0, outer: 3, length, inner: 2 }).unwrap().len();
        assert_eq!([count(1), count(512), count(513), count(1024)], [1, 1, 3, 3]);
        assert_eq!(count(2048), 1 + 2 + 3);
    }
}
