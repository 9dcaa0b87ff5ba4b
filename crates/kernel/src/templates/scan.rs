//! scan: x packed as (outer, n, inner) -> running sums or products along n, in the order that
//! `rung_math::scan` fixes: segments of 64, their totals inside a chunk of 4096, the chunks' totals.
//!
//! Three launches: the total of each chunk, what stands before each chunk, and the results, for which
//! the segments are run again. A group makes one chunk, an invocation one segment.

use super::{filled_in, grid_for, groups_for};
use crate::cells::{self, Computed};
use crate::kernel::{Binding, Kernel, Launch, word};
use rung_base::{ElementType, Result};
use rung_math::fold::{CHUNK, PARTIALS};
use rung_math::scan::SEGMENT;
use std::sync::Arc;

/// What is run.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Scan {
    /// From zero, in f64; integers at 64 bits.
    Sum,
    /// From one, in f64; integers at 64 bits.
    Product,
}

/// The kernels of one scan at its element types.
#[derive(Clone, Debug)]
pub struct Kernels {
    totals: Arc<Kernel>,
    offsets: Arc<Kernel>,
    results: Arc<Kernel>,
    accumulator: Computed,
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

/// The launches of a scan.
#[derive(Clone, Debug)]
pub struct Plan {
    /// Buffers: x, the chunks' totals.
    pub totals: Launch,
    /// Buffers: the totals, which become what stands before each chunk.
    pub offsets: Launch,
    /// Buffers: x, what stands before each chunk, out.
    pub results: Launch,
    /// Bytes of the totals.
    pub bytes: usize,
}

impl Kernels {
    /// Of `reads` into `writes`.
    pub fn new(scan: Scan, reads: ElementType, writes: ElementType) -> Result<Kernels> {
        let accumulator = match Computed::holding(reads) {
            Computed::Whole => Computed::Whole,
            _ => Computed::Double,
        };
        let own = Computed::holding(reads);
        let x = cells::read(reads, reads, own, "b0", "base + i * inner")?;
        let x = cells::converted(&x, own, accumulator);
        let held = accumulator.element();
        let total = |at: &str| cells::read(held, held, accumulator, "b1", at);
        let (operator, identity) = match (scan, accumulator) {
            (Scan::Sum, Computed::Whole) => ("+", "0lu"),
            (Scan::Sum, _) => ("+", "0.0lf"),
            (Scan::Product, Computed::Whole) => ("*", "1lu"),
            (Scan::Product, _) => ("*", "1.0lf"),
        };
        let at = "base + i * inner - parameter(4u)";
        let result = cells::written(writes, accumulator, "result");
        let result = cells::stored_single(writes, "b2", at, &result);
        let before = total("number")?;
        let chunk_total = cells::written(held, accumulator, "total");
        let parts: [(&str, &dyn std::fmt::Display); 11] = [
            ("group", &super::GROUP),
            ("type", &accumulator.name()),
            ("x", &x),
            ("operator", &operator),
            ("identity", &identity),
            ("segment", &SEGMENT),
            ("segments", &PARTIALS),
            ("chunk", &CHUNK),
            ("before", &before),
            ("store", &result),
            ("chunk_total", &chunk_total),
        ];
        let name = format!("scan {scan:?} {reads} to {writes}");
        let kernel = |part: &str, text: &str, bindings, workgroup| {
            let text = filled_in(text, &parts);
            let key = format!("{name} {part}");
            Arc::new(Kernel { key, text, workgroup, bindings, parameter_words: 5 })
        };
        let shared = [PARTIALS as u32, 1, 1];
        let head = include_str!("scan.wgsl");
        Ok(Kernels {
            totals: kernel(
                "totals",
                &(head.to_string() + include_str!("scan_totals.wgsl")),
                vec![Binding::read(reads), Binding::write(held)],
                shared,
            ),
            offsets: kernel(
                "offsets",
                include_str!("scan_offsets.wgsl"),
                vec![Binding::write(held)],
                [super::GROUP as u32, 1, 1],
            ),
            results: kernel(
                "results",
                &(head.to_string() + include_str!("scan_results.wgsl")),
                vec![Binding::read(reads), Binding::read(held), Binding::write_single(writes)],
                shared,
            ),
            accumulator,
        })
    }

    /// Over these slices.
    pub fn plan(&self, s: &Slices) -> Result<Plan> {
        let chunks = s.length.div_ceil(CHUNK);
        let rows = s.outer.saturating_mul(s.inner);
        let groups = rows.saturating_mul(chunks);
        let parameters =
            vec![word(groups)?, word(chunks)?, word(s.length)?, word(s.inner)?, word(s.offset)?];
        let launch = |kernel: &Arc<Kernel>, groups| Launch {
            kernel: kernel.clone(),
            parameters: parameters.clone(),
            groups,
        };
        Ok(Plan {
            totals: launch(&self.totals, grid_for(groups)?),
            offsets: launch(&self.offsets, groups_for(rows)),
            results: launch(&self.results, grid_for(groups)?),
            bytes: groups * self.accumulator.element().size(),
        })
    }
}

#[cfg(test)]
pub(super) mod tests {
    use super::*;

    /// Of every element type.
    pub(crate) fn all() -> Vec<Kernel> {
        let mut all = Vec::new();
        for element in ElementType::ALL {
            let writes = if element.is_float() { element } else { ElementType::I64 };
            for scan in [Scan::Sum, Scan::Product] {
                let k = Kernels::new(scan, element, writes).unwrap();
                all.extend([k.totals, k.offsets, k.results].map(|kernel| (*kernel).clone()));
            }
        }
        all
    }
}
