//! fold: x seen as (outer, n, inner) through strides -> out (outer, inner) packed, in the order
//! that `rung_math::fold` fixes: chunks of 4096, 64 strided partial results, halving.
//!
//! One group of 64 invocations makes one chunk of one cell, an invocation a partial result. With
//! more than one chunk the chunk results are a packed array of doubles that is folded again, so a
//! plan has one stage for up to 4096 elements, two up to 4096^2. Sums, products and means
//! of floats accumulate in f64 and need a device with doubles; amax and amin do not.

use super::{filled_in, grid_for, is_empty};
use crate::cells::{self, Computed};
use crate::expression;
use crate::kernel::{Binding, Kernel, Launch, signed_word, word};
use rung_base::{ElementType, Result};
use rung_math::fold::{CHUNK, PARTIALS};
use rung_math::{Graph, Maximum, Minimum, Width, trace_binary, trace_whole_binary};
use std::sync::Arc;

/// What is folded. Floats are added and multiplied in f64, integers at 64 bits, where they wrap.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Fold {
    /// From zero.
    Sum,
    /// From one.
    Product,
    /// The sum divided by n; the caller refuses an empty axis.
    Mean,
    /// NaN wins; the caller refuses an empty axis.
    Maximum,
    /// NaN wins; the caller refuses an empty axis.
    Minimum,
    /// Of the magnitudes.
    Magnitudes,
    /// Of the squares.
    Squares,
    /// The root of the sum of squares.
    Norm,
    /// Of the squared distances from the numbers of a second operand, one a cell, divided.
    Variance,
    /// Its root.
    Deviation,
    /// The sum in which NaN counts as zero.
    SumPresent,
    /// The product in which NaN counts as one.
    ProductPresent,
    /// How many elements are not zero; NaN is not.
    Count,
    /// Whether one is not zero.
    Any,
    /// Whether none is zero.
    All,
}

/// What of an element goes into a partial result.
#[derive(Clone, Copy, PartialEq)]
enum Term {
    Itself,
    Magnitude,
    Square,
    Distance,
    Present,
    Truth,
}

/// How two results are combined.
#[derive(Clone, Copy, PartialEq)]
enum Combine {
    Add,
    Multiply,
    Larger,
    Smaller,
}

/// What is made of the last result.
#[derive(Clone, Copy, PartialEq)]
enum Last {
    Itself,
    Quotient,
    Root,
    RootOfQuotient,
    Some,
    Every,
}

impl Fold {
    /// Name and parts of each.
    fn parts(self) -> (&'static str, Term, Combine, Last) {
        match self {
            Fold::Sum => ("sum", Term::Itself, Combine::Add, Last::Itself),
            Fold::Product => ("product", Term::Itself, Combine::Multiply, Last::Itself),
            Fold::Mean => ("mean", Term::Itself, Combine::Add, Last::Quotient),
            Fold::Maximum => ("maximum", Term::Itself, Combine::Larger, Last::Itself),
            Fold::Minimum => ("minimum", Term::Itself, Combine::Smaller, Last::Itself),
            Fold::Magnitudes => ("magnitudes", Term::Magnitude, Combine::Add, Last::Itself),
            Fold::Squares => ("squares", Term::Square, Combine::Add, Last::Itself),
            Fold::Norm => ("norm", Term::Square, Combine::Add, Last::Root),
            Fold::Variance => ("variance", Term::Distance, Combine::Add, Last::Quotient),
            Fold::Deviation => ("deviation", Term::Distance, Combine::Add, Last::RootOfQuotient),
            Fold::SumPresent => ("sum present", Term::Present, Combine::Add, Last::Itself),
            Fold::ProductPresent => {
                ("product present", Term::Present, Combine::Multiply, Last::Itself)
            }
            Fold::Count => ("count", Term::Truth, Combine::Add, Last::Itself),
            Fold::Any => ("any", Term::Truth, Combine::Add, Last::Some),
            Fold::All => ("all", Term::Truth, Combine::Add, Last::Every),
        }
    }

    /// Whether a second operand gives each cell its centre, in f64.
    pub fn is_centred(self) -> bool {
        self.parts().1 == Term::Distance
    }

    /// The type of the partial results, of operands read as `wanted`.
    fn accumulator(self, wanted: ElementType) -> Computed {
        let own = Computed::holding(wanted);
        match self.parts() {
            (_, Term::Truth, ..) => Computed::Whole,
            (_, _, Combine::Larger | Combine::Smaller, _) => own,
            _ if own == Computed::Whole => own,
            _ => Computed::Double,
        }
    }

    /// What a partial result takes in of `x`, which has the accumulator's type, or the element's
    /// where its truth is asked.
    fn step(self, own: Computed, accumulator: Computed) -> String {
        let (_, term, combine, _) = self.parts();
        match term {
            Term::Itself => "combine(partial, x)".into(),
            Term::Magnitude => "partial + abs(x)".into(),
            Term::Square => "fused_f64(x, x, partial)".into(),
            Term::Distance => "fused_f64(x - b1[cell], x - b1[cell], partial)".into(),
            Term::Present if accumulator == Computed::Whole => "combine(partial, x)".into(),
            Term::Present => {
                let absent = "(bitcast<u64>(x) & 0x7ffffffffffffffflu) > 0x7ff0000000000000lu";
                let identity = combine.identity(accumulator);
                format!("combine(partial, select(x, {identity}, {absent}))")
            }
            Term::Truth => format!("partial + {}", accumulator.truth(&own.is_true("x"))),
        }
    }

    /// The result of a cell.
    fn finish(self, accumulator: Computed) -> String {
        let quotient = "divide_f64(partials[0], f64(parameter(8u)))";
        match self.parts().3 {
            Last::Itself => "partials[0]".into(),
            Last::Quotient => quotient.into(),
            Last::Root => "root_f64(partials[0])".into(),
            Last::RootOfQuotient => format!("root_f64({quotient})"),
            Last::Some => accumulator.truth("partials[0] != 0lu"),
            Last::Every => accumulator.truth("partials[0] == u64(parameter(8u))"),
        }
    }
}

impl Combine {
    /// The combination as a WGSL function of the accumulator's type.
    fn function(self, accumulator: Computed) -> String {
        let traced = |graph: Graph| expression::function("combine", &graph, 2);
        let width = if accumulator == Computed::Single { Width::F32 } else { Width::F64 };
        let plain = |operator: &str| {
            let t = accumulator.name();
            format!("fn combine(a: {t}, b: {t}) -> {t} {{ return a {operator} b; }}\n")
        };
        match (self, accumulator) {
            (Combine::Add, _) => plain("+"),
            (Combine::Multiply, _) => plain("*"),
            (Combine::Larger, Computed::Whole) => traced(trace_whole_binary::<Maximum>()),
            (Combine::Larger, _) => traced(trace_binary::<Maximum>(width)),
            (Combine::Smaller, Computed::Whole) => traced(trace_whole_binary::<Minimum>()),
            (Combine::Smaller, _) => traced(trace_binary::<Minimum>(width)),
        }
    }

    /// What a partial result starts from.
    fn identity(self, accumulator: Computed) -> &'static str {
        match (self, accumulator) {
            (Combine::Add, Computed::Whole) => "0lu",
            (Combine::Add, _) => "0.0lf",
            (Combine::Multiply, Computed::Whole) => "1lu",
            (Combine::Multiply, _) => "1.0lf",
            (Combine::Larger, Computed::Double) => "bitcast<f64>(0xfff0000000000000lu)",
            (Combine::Larger, Computed::Single) => "bitcast<f32>(0xff800000u)",
            (Combine::Larger, Computed::Whole) => "0x8000000000000000lu",
            (Combine::Smaller, Computed::Double) => "bitcast<f64>(0x7ff0000000000000lu)",
            (Combine::Smaller, Computed::Single) => "bitcast<f32>(0x7f800000u)",
            (Combine::Smaller, Computed::Whole) => "0x7ffffffffffffffflu",
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

/// What a fold reads and writes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Types {
    /// What the operand's buffer holds.
    pub stored: ElementType,
    /// As what its elements are folded.
    pub wanted: ElementType,
    /// What the result's buffer holds.
    pub writes: ElementType,
}

/// The kernels of one fold at its element types; made once, launched over any shape.
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
    /// Buffers: the operand (and its centres) or the stage before, this stage's output.
    pub launch: Launch,
    /// Elements of the output.
    pub output: usize,
    /// Its element type: the result's in the last stage.
    pub element: ElementType,
}

impl Kernels {
    /// Of `element`s into such.
    pub fn new(fold: Fold, element: ElementType) -> Result<Kernels> {
        let types = Types { stored: element, wanted: element, writes: element };
        Kernels::of(fold, types)
    }

    /// With conversions on the way.
    pub fn of(fold: Fold, types: Types) -> Result<Kernels> {
        let accumulator = fold.accumulator(types.wanted);
        let kernel = |first, last| kernel(fold, types, first, last).map(Arc::new);
        Ok(Kernels {
            fold,
            accumulator: accumulator.element(),
            stages: [
                [kernel(true, false)?, kernel(true, true)?],
                [kernel(false, false)?, kernel(false, true)?],
            ],
        })
    }

    /// Which fold it is.
    pub fn fold(&self) -> Fold {
        self.fold
    }

    /// The stages in order; empty when there are no cells. The last one's output is the result.
    pub fn plan(&self, slices: &Slices) -> Result<Vec<Stage>> {
        self.plan_over(slices, slices.length)
    }

    /// The same where quotients have another divisor than the number of elements.
    pub fn plan_over(&self, slices: &Slices, divisor: usize) -> Result<Vec<Stage>> {
        let mut stages = Vec::new();
        let mut now = *slices;
        loop {
            let chunks = now.length.div_ceil(CHUNK).max(1);
            let last = chunks == 1;
            let kernel = &self.stages[!stages.is_empty() as usize][last as usize];
            let launch = launch(kernel, &now, chunks, divisor)?;
            if is_empty(&launch) {
                return Ok(Vec::new());
            }
            let cells = now.outer * now.inner;
            let element = kernel.bindings.last().map_or(self.accumulator, |b| b.element);
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

fn launch(kernel: &Arc<Kernel>, s: &Slices, chunks: usize, divisor: usize) -> Result<Launch> {
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
        word(divisor)?,
    ];
    Ok(Launch { kernel: kernel.clone(), parameters, groups: grid_for(groups)? })
}

/// A later stage may have the types of a first one.
fn stage(first: bool, last: bool) -> &'static str {
    match (first, last) {
        (true, true) => "",
        (true, false) => " part",
        (false, true) => " rest",
        (false, false) => " rest, part",
    }
}

/// A stage: the first reads the operand, the last writes the result.
fn kernel(fold: Fold, types: Types, first: bool, last: bool) -> Result<Kernel> {
    let (name, term, combine, _) = fold.parts();
    let (own, accumulator) = (Computed::holding(types.wanted), fold.accumulator(types.wanted));
    let at = "base + i * parameter(6u)";
    let (stored, x, step) = match first {
        true => {
            let x = cells::read(types.stored, types.wanted, own, "b0", at)?;
            let kept = term == Term::Truth;
            let x = if kept { x } else { cells::converted(&x, own, accumulator) };
            (types.stored, x, fold.step(own, accumulator))
        }
        false => {
            let held = accumulator.element();
            let x = cells::read(held, held, accumulator, "b0", at)?;
            (held, x, "combine(partial, x)".into())
        }
    };
    let (writes, finish) = match last {
        true => (types.writes, fold.finish(accumulator)),
        false => (accumulator.element(), "partials[0]".into()),
    };
    let mut bindings = vec![Binding::read(stored)];
    if first && fold.is_centred() {
        bindings.push(Binding::read(ElementType::F64));
    }
    let out = format!("b{}", bindings.len());
    bindings.push(Binding::write_single(writes));
    let written = cells::written(writes, accumulator, &finish);
    let text = filled_in(
        include_str!("fold.wgsl"),
        &[
            ("accumulator", &accumulator.name()),
            ("identity", &combine.identity(accumulator)),
            ("x", &x),
            ("step", &step),
            ("store", &cells::stored_single(writes, &out, "number", &written)),
            ("chunk", &CHUNK),
            ("partials", &PARTIALS),
            ("half", &(PARTIALS / 2)),
        ],
    );
    let stage = stage(first, last);
    Ok(Kernel {
        key: format!("fold {name} {stored} as {} to {writes}{stage}", types.wanted),
        text: combine.function(accumulator) + &text,
        workgroup: [PARTIALS as u32, 1, 1],
        bindings,
        parameter_words: 9,
    })
}

#[cfg(test)]
pub(super) mod tests {
    use super::*;

    /// Every fold over every element type.
    pub(crate) fn all() -> Vec<Kernel> {
        use Fold::*;
        let mut all = Vec::new();
        let mut add = |kernels: Kernels| {
            all.extend(kernels.stages.iter().flatten().map(|kernel| (**kernel).clone()));
        };
        for element in ElementType::ALL {
            for fold in [Sum, Product, Maximum, Count, Any, All, SumPresent] {
                add(Kernels::new(fold, element).unwrap());
            }
            for fold in [Mean, Magnitudes, Squares, Norm, Variance, Deviation, ProductPresent] {
                let writes = if element.is_float() { element } else { ElementType::F64 };
                let types = Types { stored: element, wanted: ElementType::F64, writes };
                add(Kernels::of(fold, types).unwrap());
            }
        }
        all
    }

    #[test]
    fn a_plan_has_a_stage_per_power_of_4096() {
        let kernels = Kernels::new(Fold::Sum, ElementType::F32).unwrap();
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
