//! step: packed arrays of one type in, packed arrays of it out, a definition of several results at
//! every element. The numbers of the definition ride in the parameters.

use super::{filled_in, groups_for};
use crate::cells::{self, Computed};
use crate::expression;
use crate::kernel::{Binding, Kernel, Launch, per_word, word};
use rung_base::{ElementType, Error, ErrorKind, Result};
use rung_math::Graph;
use std::fmt::Write;
use std::sync::Arc;

/// Buffers: the `arrays` read, then one for each result of the graph, whose arguments after the
/// arrays' elements are `numbers` numbers. `name` is unique among definitions.
pub fn kernel(
    name: &str,
    graph: &Graph,
    element: ElementType,
    arrays: usize,
    numbers: usize,
) -> Result<Kernel> {
    let computed = Computed::of(graph.width);
    let parts = per_word(element);
    let read = |k: usize| {
        let at = format!("parameter({}u) + i", 1 + k);
        cells::read(element, element, computed, &format!("b{k}"), &at)
    };
    let mut arguments = (0..arrays).map(read).collect::<Result<Vec<String>>>()?;
    let at = |n: usize| 1 + arrays + n * computed.words();
    arguments.extend((0..numbers).map(|n| computed.parameter(at(n))));
    let results = graph.outputs.len();
    let (mut words, mut take, mut store) = (String::new(), String::new(), String::new());
    for r in 0..results {
        let value = if results == 1 { "after".into() } else { format!("after[{r}]") };
        let value = cells::written(element, computed, &value);
        let zero = format!("{}(0)", cells::written_type(element));
        let _ = writeln!(words, "        var word{r} = {zero};");
        let _ = match parts {
            1 => writeln!(take, "            word{r} = {value};"),
            _ => writeln!(
                take,
                "            word{r} = word{r} | ({value} << (k * {}u));",
                32 / parts
            ),
        };
        let _ = writeln!(store, "        b{}[w] = word{r};", arrays + r);
    }
    let text = filled_in(
        include_str!("step.wgsl"),
        &[
            ("group", &super::GROUP),
            ("parts", &parts),
            ("words", &words),
            ("arguments", &arguments.join(", ")),
            ("take", &take),
            ("store", &store),
        ],
    );
    let reads = (0..arrays).map(|_| Binding::read(element));
    Ok(Kernel {
        key: format!("step {name} {element}"),
        text: expression::function("definition", graph, arrays + numbers) + &text,
        workgroup: [super::GROUP as u32, 1, 1],
        bindings: reads.chain((0..results).map(|_| Binding::write(element))).collect(),
        parameter_words: at(numbers),
    })
}

/// Over `count` elements of arrays that begin at these places.
pub fn launch(
    kernel: &Arc<Kernel>,
    count: usize,
    offsets: &[usize],
    numbers: &[f64],
) -> Result<Launch> {
    let Some(binding) = kernel.bindings.first() else {
        return Err(Error::new(ErrorKind::Internal, "a step of no arrays"));
    };
    let mut parameters = vec![word(count)?];
    for &offset in offsets {
        parameters.push(word(offset)?);
    }
    let computed = Computed::holding(binding.element);
    for &number in numbers {
        let bits = match computed {
            Computed::Single => (number as f32).to_bits().into(),
            _ => number.to_bits(),
        };
        parameters.extend(cells::number_words(bits, computed));
    }
    let words = count.div_ceil(per_word(binding.element));
    Ok(Launch { kernel: kernel.clone(), parameters, groups: groups_for(words) })
}

#[cfg(test)]
pub(super) mod tests {
    use super::*;
    use rung_math::trace_update;
    use rung_math::update::{Adam, Decay, NUMBERS, Own, Scale, ToBf16, ToF16};

    /// Of every width.
    pub(crate) fn all() -> Vec<Kernel> {
        let scale = |width| trace_update::<_, Own, 1>(width, &Scale(0.5));
        let mut all = Vec::new();
        for element in [ElementType::F64, ElementType::F32] {
            let width = rung_math::Width::of(element).unwrap();
            all.push(kernel("scale", &scale(width), element, 1, NUMBERS).unwrap());
        }
        let adam = Adam {
            rate: 0.1,
            rate_decay: 0.0,
            decay: 0.0,
            first: 0.9,
            first_rest: 0.1,
            second: 0.9,
            second_rest: 0.1,
            eps: 0.1,
            first_bias: 0.1,
            second_bias: 0.1,
            mode: Decay::Coupled,
        };
        let width = rung_math::Width::F32;
        for (element, graph) in [
            (ElementType::BF16, trace_update::<_, ToBf16, 4>(width, &adam)),
            (ElementType::F16, trace_update::<_, ToF16, 4>(width, &adam)),
        ] {
            all.push(kernel("adam", &graph, element, 4, NUMBERS).unwrap());
        }
        all
    }
}
