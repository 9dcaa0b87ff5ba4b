//! position: x seen as (outer, n, inner) through strides -> the index along n of the largest or
//! smallest element, the first of equal ones; the first NaN wins. Out (outer, inner) packed.
//!
//! The order in which elements are compared cannot be seen in the result. A group of 64 makes one
//! chunk of one cell; with more chunks their indices are the candidates of the next stage, which
//! reads the operand again at them.

use super::fold::Slices;
use super::{filled_in, grid_for, is_empty};
use crate::cells::{self, Computed};
use crate::kernel::{Binding, Kernel, Launch, signed_word, word};
use rung_base::{ElementType, Result};
use rung_math::fold::{CHUNK, PARTIALS};
use std::sync::Arc;

/// Which element is looked for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Seek {
    /// The largest.
    Largest,
    /// The smallest.
    Smallest,
}

/// The kernels of one search at its element types.
#[derive(Clone, Debug)]
pub struct Kernels {
    /// Indexed by: reads candidates, writes the result (else candidates).
    stages: [[Arc<Kernel>; 2]; 2],
}

/// One launch of a plan and the buffer it writes.
#[derive(Clone, Debug)]
pub struct Stage {
    /// Buffers: the operand, the candidates of the stage before where there is one, this stage's
    /// output.
    pub launch: Launch,
    /// Bytes of the output.
    pub bytes: usize,
}

impl Kernels {
    /// Over `element`s, with indices written as `writes`.
    pub fn new(seek: Seek, element: ElementType, writes: ElementType) -> Result<Kernels> {
        let kernel =
            |candidates, last| kernel(seek, element, writes, candidates, last).map(Arc::new);
        Ok(Kernels {
            stages: [
                [kernel(false, false)?, kernel(false, true)?],
                [kernel(true, false)?, kernel(true, true)?],
            ],
        })
    }

    /// The stages in order; empty when there are no cells.
    pub fn plan(&self, slices: &Slices) -> Result<Vec<Stage>> {
        let (mut stages, mut length) = (Vec::new(), slices.length);
        loop {
            let chunks = length.div_ceil(CHUNK).max(1);
            let kernel = &self.stages[!stages.is_empty() as usize][(chunks == 1) as usize];
            let launch = launch(kernel, slices, length, chunks)?;
            if is_empty(&launch) {
                return Ok(Vec::new());
            }
            let element = kernel.bindings.last().map_or(ElementType::I32, |b| b.element);
            let bytes = slices.outer * slices.inner * chunks * element.size();
            stages.push(Stage { launch, bytes });
            if chunks == 1 {
                return Ok(stages);
            }
            length = chunks;
        }
    }
}

fn launch(kernel: &Arc<Kernel>, s: &Slices, length: usize, chunks: usize) -> Result<Launch> {
    let groups = s.outer.saturating_mul(s.inner).saturating_mul(chunks);
    let parameters = vec![
        word(groups)?,
        word(chunks)?,
        word(s.inner)?,
        word(length)?,
        word(s.offset)?,
        signed_word(s.outer_stride)?,
        signed_word(s.stride)?,
        signed_word(s.inner_stride)?,
    ];
    Ok(Launch { kernel: kernel.clone(), parameters, groups: grid_for(groups)? })
}

/// Whether `a` is looked for before `b`: NaN before all, then the order sought.
fn before(seek: Seek, computed: Computed) -> String {
    let t = computed.name();
    let signed = |x: &str| format!("bitcast<i64>({x})");
    let (low, high) = if seek == Seek::Largest { ("b", "a") } else { ("a", "b") };
    let body = match computed {
        Computed::Whole => format!("return {} < {};", signed(low), signed(high)),
        Computed::Single => format!(
            "let nan_a = (bitcast<u32>(a) & 0x7fffffffu) > 0x7f800000u;\n    \
             let nan_b = (bitcast<u32>(b) & 0x7fffffffu) > 0x7f800000u;\n    \
             return !nan_b & (nan_a | ({low} < {high}));"
        ),
        Computed::Double => format!(
            "let nan_a = (bitcast<u64>(a) & 0x7ffffffffffffffflu) > 0x7ff0000000000000lu;\n    \
             let nan_b = (bitcast<u64>(b) & 0x7ffffffffffffffflu) > 0x7ff0000000000000lu;\n    \
             return !nan_b & (nan_a | ({low} < {high}));"
        ),
    };
    format!("fn before(a: {t}, b: {t}) -> bool {{\n    {body}\n}}\n")
}

fn stage(candidates: bool, last: bool) -> &'static str {
    match (candidates, last) {
        (false, false) => " part",
        (false, true) => "",
        (true, false) => " of parts, part",
        (true, true) => " of parts",
    }
}

fn kernel(
    seek: Seek,
    element: ElementType,
    writes: ElementType,
    candidates: bool,
    last: bool,
) -> Result<Kernel> {
    let computed = Computed::holding(element);
    let writes = if last { writes } else { ElementType::I32 };
    let mut bindings = vec![Binding::read(element)];
    if candidates {
        bindings.push(Binding::read(ElementType::I32));
    }
    let out = format!("b{}", bindings.len());
    bindings.push(Binding::write_single(writes));
    let place = if candidates { "u32(b1[cell * parameter(3u) + i])" } else { "i" };
    let x = cells::read(element, element, computed, "b0", "base + place * parameter(6u)")?;
    let index = cells::written(writes, Computed::Whole, "u64(places[0])");
    let index = if last { index } else { "i32(places[0])".into() };
    let text = filled_in(
        include_str!("position.wgsl"),
        &[
            ("type", &computed.name()),
            ("place", &place),
            ("x", &x),
            ("store", &cells::stored_single(writes, &out, "number", &index)),
            ("chunk", &CHUNK),
            ("partials", &PARTIALS),
            ("half", &(PARTIALS / 2)),
        ],
    );
    let stage = stage(candidates, last);
    Ok(Kernel {
        key: format!("position {seek:?} {element} to {writes}{stage}"),
        text: before(seek, computed) + &text,
        workgroup: [PARTIALS as u32, 1, 1],
        bindings,
        parameter_words: 8,
    })
}

#[cfg(test)]
pub(super) mod tests {
    use super::*;

    /// Of every element type.
    pub(crate) fn all() -> Vec<Kernel> {
        let mut all = Vec::new();
        for element in ElementType::ALL {
            for writes in [ElementType::F64, ElementType::F32, ElementType::I64, ElementType::F16] {
                let kernels = Kernels::new(Seek::Smallest, element, writes).unwrap();
                all.extend(kernels.stages.iter().flatten().map(|kernel| (**kernel).clone()));
            }
        }
        all
    }
}
