//! rows: functions of whole slices along an axis (softmax, layer norm and their kin) in one launch:
//! the folds of a `RowProgram`, in the order that `rung_math::fold` fixes, then what it writes.
//!
//! One group of 64 invocations makes one slice and reads it once for each fold and once more for
//! the result, so nothing but the result is stored. Operands are read through strides, as in
//! `broadcast`; the other axes of the array are walked by the number of the slice. Sums and means
//! accumulate in f64 and need a device with doubles.

use super::broadcast::{MAX_RANK, View, merged};
use super::map::element_of;
use super::{double_words, filled_in, grid_for};
use crate::cells::{self, Computed};
use crate::expression::{self, real_name};
use crate::kernel::{Binding, Kernel, Launch, signed_word, word};
use rung_base::{ElementType, Error, ErrorKind, Result};
use rung_math::fold::{CHUNK, PARTIALS};
use rung_math::rows::Fold;
use rung_math::trace::RowProgram;
use rung_math::{Maximum, Width, trace_binary};
use std::fmt::Write;
use std::sync::Arc;

/// The longest slice: one result of a chunk for each invocation of a group.
pub const LONGEST: usize = PARTIALS * CHUNK;
/// Words of the number of slices, their length, the rank and the extents.
const SHAPE_WORDS: usize = 3 + MAX_RANK;
/// Words of a buffer: offset, the step along the slice, the other strides.
const BUFFER_WORDS: usize = 2 + MAX_RANK;

/// Buffers: the operands, out. `name` is unique among definitions.
pub fn kernel(name: &str, program: &RowProgram) -> Kernel {
    let element = element_of(program.result.width);
    let stored = vec![element; program.slices];
    // Nothing is converted.
    kernel_of(name, program, &stored, element).unwrap_or_else(|e| unreachable!("{e}"))
}

/// The same for operands of other float types, which are widened, and a result that is rounded to its
/// type once.
pub fn kernel_of(
    name: &str,
    program: &RowProgram,
    stored: &[ElementType],
    writes: ElementType,
) -> Result<Kernel> {
    let width = program.result.width;
    let (element, computed) = (element_of(width), Computed::of(width));
    let read = |(k, &t): (usize, &ElementType)| {
        cells::read(t, element, computed, &format!("b{k}"), &format!("at{k} + i * step{k}"))
    };
    let reads = stored.iter().enumerate().map(read).collect::<Result<Vec<String>>>()?;
    let text = Text { program, width, reads, writes };
    let mut bindings: Vec<Binding> = stored.iter().map(|&t| Binding::read(t)).collect();
    bindings.push(Binding::write_single(writes));
    let mut key = format!("rows {name} {element}");
    if stored.iter().chain([&writes]).any(|t| *t != element) {
        let names: Vec<&str> = stored.iter().chain([&writes]).map(|t| t.name()).collect();
        let _ = write!(key, " of {}", names.join(" "));
    }
    Ok(Kernel {
        key,
        text: text.whole(),
        workgroup: [PARTIALS as u32, 1, 1],
        bindings,
        parameter_words: text.numbers_at() + program.numbers * words_of_number(width),
    })
}

fn words_of_number(width: Width) -> usize {
    match width {
        Width::F32 => 1,
        Width::F64 => 2,
    }
}

/// The slices of a launch: where they lie in each buffer.
#[derive(Clone, Copy, Debug)]
pub struct Slices<'a> {
    /// The operands' shape.
    pub shape: &'a [usize],
    /// The axis along which a slice lies.
    pub axis: usize,
    /// The operands, with strides over `shape`.
    pub operands: &'a [View<'a>],
    /// Whether each gives one number.
    pub one: bool,
}

/// The result is packed: of the operands' shape, or without the axis for one number a slice.
pub fn launch(kernel: &Arc<Kernel>, slices: &Slices, numbers: &[f64]) -> Result<Launch> {
    let (length, axis) = (slices.shape[slices.axis], slices.axis);
    if length > LONGEST {
        let text = format!("slices of more than {LONGEST} elements");
        return Err(Error::new(ErrorKind::Declined, text));
    }
    let others = without(slices.shape, axis);
    let out = packed_strides(slices.shape, slices.one.then_some(axis));
    let all: Vec<(usize, &[isize])> =
        slices.operands.iter().map(|o| (o.offset, o.strides)).chain([(0, &out[..])]).collect();
    let kept: Vec<Vec<isize>> = all.iter().map(|(_, strides)| without(strides, axis)).collect();
    let views: Vec<View> = kept.iter().map(|strides| View { offset: 0, strides }).collect();
    let (extents, steps) = merged(&others, &views);
    if extents.len() > MAX_RANK {
        return Err(Error::new(ErrorKind::Declined, format!("more than {MAX_RANK} axes")));
    }
    let rows = others.iter().try_fold(1usize, |n, &d| n.checked_mul(d)).unwrap_or(usize::MAX);
    let mut parameters = vec![word(rows)?, word(length)?, extents.len() as u32];
    for at in 0..MAX_RANK {
        parameters.push(word(extents.get(at).copied().unwrap_or(1))?);
    }
    for ((offset, strides), steps) in all.iter().zip(&steps) {
        parameters.extend([word(*offset)?, signed_word(strides[axis])?]);
        for at in 0..MAX_RANK {
            parameters.push(signed_word(steps.get(at).copied().unwrap_or(0))?);
        }
    }
    let element = kernel.bindings[0].element;
    parameters.extend(numbers.iter().flat_map(|&n| number_words(n, element)));
    Ok(Launch { kernel: kernel.clone(), parameters, groups: grid_for(rows)? })
}

fn number_words(number: f64, element: ElementType) -> Vec<u32> {
    match element {
        ElementType::F32 => vec![(number as f32).to_bits()],
        _ => double_words(number).to_vec(),
    }
}

fn without<T: Copy>(of: &[T], axis: usize) -> Vec<T> {
    [&of[..axis], &of[axis + 1..]].concat()
}

/// The strides of a packed array of this shape; the axis that it lacks, if any, has a step of 0.
fn packed_strides(shape: &[usize], lacking: Option<usize>) -> Vec<isize> {
    let mut strides = vec![0; shape.len()];
    let mut step = 1;
    for axis in (0..shape.len()).rev().filter(|axis| Some(*axis) != lacking) {
        strides[axis] = step;
        step *= shape[axis].max(1) as isize;
    }
    strides
}

/// The parts of a kernel's text.
struct Text<'a> {
    program: &'a RowProgram,
    width: Width,
    /// What reads element `i` of each operand's slice.
    reads: Vec<String>,
    /// What the result's buffer holds.
    writes: ElementType,
}

impl Text<'_> {
    fn whole(&self) -> String {
        let mut functions = String::new();
        for (j, (_, graph)) in self.program.folds.iter().enumerate() {
            functions += &expression::function(&format!("term{j}"), graph, self.inputs(j));
        }
        let last = self.inputs(self.program.folds.len());
        functions += &expression::function("written", &self.program.result, last);
        let (start, walk) = self.walk();
        let text = filled_in(
            include_str!("rows.wgsl"),
            &[
                ("variables", &self.variables()),
                ("partials", &PARTIALS),
                ("chunk", &CHUNK),
                ("last", &(CHUNK - 1)),
                ("start", &start),
                ("walk", &walk),
                ("folds", &self.folds()),
                ("write", &self.write()),
            ],
        );
        functions + &text
    }

    /// How many inputs the expression after `folds` folds has.
    fn inputs(&self, folds: usize) -> usize {
        self.program.slices + self.program.numbers + folds
    }

    fn numbers_at(&self) -> usize {
        SHAPE_WORDS + (self.program.slices + 1) * BUFFER_WORDS
    }

    /// What the invocations of a group share, and what works on it.
    fn variables(&self) -> String {
        let mut text = String::new();
        let folds = || self.program.folds.iter().map(|(fold, _)| *fold);
        if folds().any(|fold| fold != Fold::Largest) {
            text += &filled_in(
                include_str!("rows_halve.wgsl"),
                &[("partials", &PARTIALS), ("half", &(PARTIALS / 2))],
            );
        }
        if folds().any(|fold| fold == Fold::Largest) {
            text += &expression::function("larger", &trace_binary::<Maximum>(self.width), 2);
            let real = real_name(self.width);
            let _ = writeln!(text, "var<workgroup> narrow: array<{real}, {PARTIALS}>;");
        }
        text
    }

    /// Where the slice begins in every buffer, and the numbers.
    fn walk(&self) -> (String, String) {
        let (mut start, mut walk) = (String::new(), String::new());
        for k in 0..=self.program.slices {
            let base = SHAPE_WORDS + k * BUFFER_WORDS;
            let _ = writeln!(start, "    var at{k} = parameter({base}u);");
            let _ = writeln!(start, "    let step{k} = parameter({}u);", base + 1);
            let first = base + 2;
            let _ = writeln!(walk, "        at{k} = at{k} + along * parameter({first}u + axis);");
        }
        for number in 0..self.program.numbers {
            let at = self.numbers_at() + number * words_of_number(self.width);
            let value = match self.width {
                Width::F32 => format!("bitcast<f32>(parameter({at}u))"),
                Width::F64 => {
                    let (low, high) = (at, at + 1);
                    format!(
                        "bitcast<f64>((u64(parameter({high}u)) << 32u) | u64(parameter({low}u)))"
                    )
                }
            };
            let _ = writeln!(start, "    let number{number} = {value};");
        }
        (start, walk)
    }

    /// A call of an expression at index `i`, after `folds` folds.
    fn call(&self, function: &str, folds: usize) -> String {
        self.call_with(function, folds, |k| self.reads[k].clone())
    }

    fn call_with(&self, function: &str, folds: usize, element: impl Fn(usize) -> String) -> String {
        let elements = (0..self.program.slices).map(element);
        let numbers = (0..self.program.numbers).map(|n| format!("number{n}"));
        let before = (0..folds).map(|j| format!("fold{j}"));
        let all: Vec<String> = elements.chain(numbers).chain(before).collect();
        format!("{function}({})", all.join(", "))
    }

    fn folds(&self) -> String {
        let each = self.program.folds.iter().enumerate();
        each.map(|(j, (fold, _))| self.fold(j, *fold)).collect()
    }

    fn fold(&self, j: usize, fold: Fold) -> String {
        let (real, name) = (real_name(self.width), format!("fold{j}"));
        let mean = "divide_f64(wide[0], f64(n))";
        let sum = "partial + x";
        match fold {
            Fold::Largest => self.largest(j, &name),
            Fold::Total => self.wide(j, &name, sum, &format!("{real}(wide[0])")),
            Fold::Mean => self.wide(j, &name, sum, &format!("{real}({mean})")),
            Fold::Dot => {
                let step = format!("fused_f64(x, f64({}), partial)", self.reads[1]);
                self.wide(j, &name, &step, &format!("{real}(wide[0])"))
            }
            Fold::Variance => {
                let centre = format!("centre{j}");
                let square = format!("fused_f64(x - {centre}, x - {centre}, partial)");
                self.wide(j, &centre, sum, mean)
                    + &self.wide(j, &name, &square, &format!("{real}({mean})"))
            }
        }
    }

    fn wide(&self, j: usize, name: &str, step: &str, finish: &str) -> String {
        filled_in(
            include_str!("rows_wide.wgsl"),
            &[
                ("chunk", &CHUNK),
                ("partials", &PARTIALS),
                ("expression", &self.call(&format!("term{j}"), j)),
                ("step", &step),
                ("name", &name),
                ("finish", &finish),
            ],
        )
    }

    fn largest(&self, j: usize, name: &str) -> String {
        let identity = match self.width {
            Width::F32 => "bitcast<f32>(0xff800000u)",
            Width::F64 => "bitcast<f64>(0xfff0000000000000lu)",
        };
        filled_in(
            include_str!("rows_largest.wgsl"),
            &[
                ("at", &j),
                ("identity", &identity),
                ("partials", &PARTIALS),
                ("half", &(PARTIALS / 2)),
                ("expression", &self.call(&format!("term{j}"), j)),
                ("name", &name),
            ],
        )
    }

    fn write(&self) -> String {
        let (out, folds) = (self.program.slices, self.program.folds.len());
        if self.program.one {
            // One number depends on no element, and an empty slice has none to read.
            let zero = |_| format!("{}(0)", real_name(self.width));
            let store = self.store(&format!("at{out}"), &self.call_with("written", folds, zero));
            return format!("    if (lane == 0u) {{ {store} }}\n");
        }
        let at = format!("at{out} + i * step{out}");
        let store = self.store(&at, &self.call("written", folds));
        format!("    for (var i = lane; i < n; i = i + {PARTIALS}u) {{\n        {store}\n    }}\n")
    }

    /// Writes an element of the result, rounded to its type.
    fn store(&self, at: &str, value: &str) -> String {
        let value = cells::written(self.writes, Computed::of(self.width), value);
        cells::stored_single(self.writes, &format!("b{}", self.program.slices), at, &value)
    }
}

#[cfg(test)]
pub(super) mod tests {
    use super::*;
    use rung_math::rows::{
        Cell, LayerNorm, LayerNormAffine, LayerNormGradient, LogSoftmax, LogSoftmaxGradient,
        LogSumExp, MaskedSoftmax, Softmax, SoftmaxGradient,
    };
    use rung_math::trace::trace_rows;

    /// Of both widths, and of operands and results of half widths.
    pub(crate) fn all() -> Vec<Kernel> {
        let mut all = Vec::new();
        for width in [Width::F32, Width::F64] {
            let programs = [
                ("softmax", trace_rows::<Softmax, 1>(width, 0)),
                ("softmax-gradient", trace_rows::<SoftmaxGradient, 2>(width, 0)),
                ("log-softmax", trace_rows::<LogSoftmax, 1>(width, 0)),
                ("log-softmax-gradient", trace_rows::<LogSoftmaxGradient, 2>(width, 0)),
                ("masked-softmax", trace_rows::<MaskedSoftmax, 2>(width, 2)),
                ("layer-norm", trace_rows::<LayerNorm, 1>(width, 1)),
                ("layer-norm-affine", trace_rows::<LayerNormAffine, 3>(width, 1)),
                ("layer-norm-gradient", trace_rows::<LayerNormGradient, 2>(width, 1)),
                ("log-sum-exp", trace_rows::<LogSumExp, 1>(width, 0)),
                ("cell", trace_rows::<Cell, 2>(width, 0)),
            ];
            all.extend(programs.iter().map(|(name, program)| kernel(name, program)));
        }
        let program = trace_rows::<Cell, 2>(Width::F64, 0);
        for stored in [ElementType::BF16, ElementType::F16, ElementType::F32] {
            all.push(kernel_of("cell", &program, &[stored, ElementType::F32], stored).unwrap());
        }
        all
    }

    #[test]
    fn a_result_without_the_axis_steps_over_the_others() {
        assert_eq!(packed_strides(&[2, 3, 4], None), [12, 4, 1]);
        assert_eq!(packed_strides(&[2, 3, 4], Some(1)), [4, 0, 1]);
    }

    #[test]
    fn a_slice_longer_than_a_group_can_fold_declines() {
        let program = trace_rows::<LogSumExp, 1>(Width::F32, 0);
        let kernel = Arc::new(kernel("x", &program));
        let strides = [LONGEST as isize + 1, 1];
        let operands = [View { offset: 0, strides: &strides }];
        for (n, fits) in [(LONGEST, true), (LONGEST + 1, false)] {
            let shape = [1, n];
            let slices = Slices { shape: &shape, axis: 1, operands: &operands, one: true };
            assert_eq!(launch(&kernel, &slices, &[]).is_ok(), fits);
        }
    }
}
