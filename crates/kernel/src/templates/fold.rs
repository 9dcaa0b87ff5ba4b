//! fold: x seen as (outer, n, inner) through strides -> out (outer, inner) packed, in the order
//! that `rung_math::fold` fixes: chunks of 4096, 64 strided partial results, halving.
//!
//! One group of 64 invocations makes one chunk of one cell, an invocation a partial result. With
//! more than one chunk the chunk results are a packed array of doubles that is folded again, so a
//! plan has one stage for up to 4096 elements, two up to 4096^2. Sums, products and means
//! accumulate in f64 and need a device with doubles; amax and amin do not.

use super::{filled_in, grid_for, is_empty};
use crate::expression;
use crate::kernel::{Binding, Kernel, Launch, signed_word, word};
use rung_base::{ElementType, Result};
use rung_math::fold::{CHUNK, PARTIALS};
use rung_math::{Maximum, Minimum, Width, trace_binary};
use std::sync::Arc;

/// What is folded.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Fold {
    /// In f64 from +0.0.
    Sum,
    /// In f64 from 1.0.
    Product,
    /// The sum divided by n; the caller refuses an empty axis.
    Mean,
    /// NaN wins; the caller refuses an empty axis.
    Maximum,
    /// NaN wins; the caller refuses an empty axis.
    Minimum,
}

impl Fold {
    fn name(self) -> &'static str {
        match self {
            Fold::Sum => "sum",
            Fold::Product => "product",
            Fold::Mean => "mean",
            Fold::Maximum => "maximum",
            Fold::Minimum => "minimum",
        }
    }

    /// The type of the partial results.
    fn accumulator(self, element: ElementType) -> ElementType {
        match self {
            Fold::Maximum | Fold::Minimum => element,
            _ => ElementType::F64,
        }
    }

    /// The combination of two results as a WGSL function of the accumulator's type.
    fn combine(self, accumulator: ElementType) -> String {
        let traced = |graph| expression::function("combine", &graph, 2);
        let width = if accumulator == ElementType::F64 { Width::F64 } else { Width::F32 };
        match self {
            Fold::Sum | Fold::Mean => "fn combine(a: f64, b: f64) -> f64 { return a + b; }".into(),
            Fold::Product => "fn combine(a: f64, b: f64) -> f64 { return a * b; }".into(),
            Fold::Maximum => traced(trace_binary::<Maximum>(width)),
            Fold::Minimum => traced(trace_binary::<Minimum>(width)),
        }
    }

    /// What a partial result starts from.
    fn identity(self, accumulator: ElementType) -> &'static str {
        match (self, accumulator) {
            (Fold::Sum | Fold::Mean, _) => "0.0lf",
            (Fold::Product, _) => "1.0lf",
            (Fold::Maximum, ElementType::F64) => "bitcast<f64>(0xfff0000000000000lu)",
            (Fold::Maximum, _) => "bitcast<f32>(0xff800000u)",
            (Fold::Minimum, ElementType::F64) => "bitcast<f64>(0x7ff0000000000000lu)",
            (Fold::Minimum, _) => "bitcast<f32>(0x7f800000u)",
        }
    }
}

/// An operand as (outer, n, inner): strides in elements, the first element at `offset`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Slices {
    /// The first element.
    pub offset: usize,
    /// Cells before the folded axis.
    pub outer: usize,
    /// Elements of the folded axis.
    pub length: usize,
    /// Cells after the folded axis.
    pub inner: usize,
    /// Elements from one outer cell to the next.
    pub outer_stride: isize,
    /// Elements from one element of the folded axis to the next.
    pub stride: isize,
    /// Elements from one inner cell to the next.
    pub inner_stride: isize,
}

/// The kernels of one fold at one element type; made once, launched over any shape.
#[derive(Clone, Debug)]
pub struct Kernels {
    fold: Fold,
    accumulator: ElementType,
    /// Indexed by: reads chunk results (else the operand), writes the result (else chunk results).
    stages: [[Arc<Kernel>; 2]; 2],
}

/// One launch of a plan and the buffer it writes.
#[derive(Clone, Debug)]
pub struct Stage {
    /// Buffers: the operand or the stage before, this stage's output.
    pub launch: Launch,
    /// Elements of the output.
    pub output: usize,
    /// Its element type: the operand's in the last stage.
    pub element: ElementType,
}

impl Kernels {
    /// `element` is f32 or f64.
    pub fn new(fold: Fold, element: ElementType) -> Kernels {
        let accumulator = fold.accumulator(element);
        let kernel = |reads, writes, last| Arc::new(kernel(fold, reads, writes, last));
        Kernels {
            fold,
            accumulator,
            stages: [
                [kernel(element, accumulator, false), kernel(element, element, true)],
                [kernel(accumulator, accumulator, false), kernel(accumulator, element, true)],
            ],
        }
    }

    /// Which fold it is.
    pub fn fold(&self) -> Fold {
        self.fold
    }

    /// The stages in order; empty when there are no cells. The last one's output is the result.
    pub fn plan(&self, slices: &Slices) -> Result<Vec<Stage>> {
        let count = slices.length;
        let mut stages = Vec::new();
        let mut now = *slices;
        loop {
            let chunks = now.length.div_ceil(CHUNK).max(1);
            let last = chunks == 1;
            let kernel = &self.stages[!stages.is_empty() as usize][last as usize];
            let launch = launch(kernel, &now, chunks, count)?;
            if is_empty(&launch) {
                return Ok(Vec::new());
            }
            let cells = now.outer * now.inner;
            let element = kernel.bindings[1].element;
            stages.push(Stage { launch, output: cells * chunks, element });
            if last {
                return Ok(stages);
            }
            now = chunk_results(cells, chunks);
        }
    }

    /// The type of the buffers between stages.
    pub fn accumulator(&self) -> ElementType {
        self.accumulator
    }
}

/// The results of a stage, (cells, chunks) packed, as the operand of the next.
fn chunk_results(cells: usize, chunks: usize) -> Slices {
    Slices {
        offset: 0,
        outer: cells,
        length: chunks,
        inner: 1,
        outer_stride: chunks as isize,
        stride: 1,
        inner_stride: 0,
    }
}

fn launch(kernel: &Arc<Kernel>, s: &Slices, chunks: usize, count: usize) -> Result<Launch> {
    let cells = s.outer.checked_mul(s.inner).and_then(|cells| cells.checked_mul(chunks));
    let groups = cells.unwrap_or(usize::MAX);
    let parameters = vec![
        word(groups)?,
        word(chunks)?,
        word(s.inner)?,
        word(s.length)?,
        word(s.offset)?,
        signed_word(s.outer_stride)?,
        signed_word(s.stride)?,
        signed_word(s.inner_stride)?,
        word(count)?,
    ];
    Ok(Launch { kernel: kernel.clone(), parameters, groups: grid_for(groups)? })
}

fn kernel(fold: Fold, reads: ElementType, writes: ElementType, last: bool) -> Kernel {
    let accumulator = fold.accumulator(reads);
    let finish = match (fold, last) {
        (Fold::Mean, true) => "divide_f64(partials[0], f64(parameter(8u)))",
        _ => "partials[0]",
    };
    let text = filled_in(
        include_str!("fold.wgsl"),
        &[
            ("accumulator", &accumulator),
            ("writes", &writes),
            ("identity", &fold.identity(accumulator)),
            ("finish", &finish),
            ("chunk", &CHUNK),
            ("partials", &PARTIALS),
            ("half", &(PARTIALS / 2)),
        ],
    );
    let text = format!("{}\n{text}", fold.combine(accumulator));
    Kernel {
        key: format!("fold {} {reads} to {writes}{}", fold.name(), if last { "" } else { " part" }),
        text,
        workgroup: [PARTIALS as u32, 1, 1],
        bindings: vec![Binding::read(reads), Binding::write(writes)],
        parameter_words: 9,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_plan_has_a_stage_per_power_of_4096() {
        let kernels = Kernels::new(Fold::Sum, ElementType::F32);
        let slices = |outer, length, inner| Slices {
            offset: 0,
            outer,
            length,
            inner,
            outer_stride: (length * inner) as isize,
            stride: inner as isize,
            inner_stride: 1,
        };
        let sizes = |s: &Slices| -> Vec<(usize, ElementType)> {
            kernels.plan(s).unwrap().iter().map(|stage| (stage.output, stage.element)).collect()
        };
        assert_eq!(sizes(&slices(2, 4096, 3)), [(6, ElementType::F32)]);
        assert_eq!(sizes(&slices(2, 4097, 3)), [(12, ElementType::F64), (6, ElementType::F32)]);
        assert_eq!(sizes(&slices(1, 0, 5)), [(5, ElementType::F32)]);
        assert_eq!(sizes(&slices(0, 10, 5)), []);
        assert_eq!(sizes(&slices(1, (1 << 24) + 1, 1)).len(), 3);
    }
}
