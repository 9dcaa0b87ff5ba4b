//! broadcast: operands read at the shape of the result through strides and an offset, out packed, or
//! placed through strides of its own. Masks are written as 1 and 0.
//!
//! A stride of zero is a broadcast axis, a negative one a reversed axis; adjacent axes that every
//! operand walks as one are merged before the launch, so most calls have rank 1 or 2. Operands and
//! result may be of any element type (`cells`); a number that stands for an operand rides in the
//! parameters.

use super::map::element_of;
use super::{filled_in, groups_for};
use crate::cells::{self, Computed};
use crate::expression;
use crate::kernel::{Binding, Kernel, Launch, PARAMETER_WORDS, per_word, signed_word, word};
use rung_base::{ElementType, Error, ErrorKind, Result};
use rung_math::{Graph, Kind};
use smallvec::SmallVec;
use std::fmt::Write;
use std::sync::Arc;

/// Axes that a kernel can walk, after merging; fewer with more than six operands.
pub const MAX_RANK: usize = 8;
/// Words of the count and the rank.
const HEAD_WORDS: usize = 2;

/// How an operand is read: element `offset` first, then `strides`, one an axis of the result.
#[derive(Clone, Copy, Debug)]
pub struct View<'a> {
    /// The element that index zero reads.
    pub offset: usize,
    /// Elements to step along each axis of the result.
    pub strides: &'a [isize],
}

/// What a definition's argument is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Read {
    /// An element of an array of `stored` elements, converted to `wanted` first.
    Array {
        /// What the buffer holds.
        stored: ElementType,
        /// As what the definition takes it.
        wanted: ElementType,
    },
    /// A number of the launch.
    Number,
}

/// The operands of a kernel and its result.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Signature {
    /// The arguments in the definition's order; buffers are those that are arrays.
    pub reads: SmallVec<[Read; 4]>,
    /// What the result's buffer holds.
    pub writes: ElementType,
    /// Whether the result is written through strides, beside what is there.
    pub placed: bool,
}

impl Signature {
    fn buffers(&self) -> usize {
        self.reads.iter().filter(|read| **read != Read::Number).count()
    }

    fn numbers(&self) -> usize {
        self.reads.len() - self.buffers()
    }

    fn views(&self) -> usize {
        self.buffers() + usize::from(self.placed)
    }
}

/// How a launch's words are used: the head, the extents, each view, the numbers.
#[derive(Clone, Copy)]
struct Words {
    rank: usize,
    views: usize,
    number_words: usize,
}

impl Words {
    fn new(views: usize, number_words: usize) -> Result<Words> {
        let left = PARAMETER_WORDS.saturating_sub(HEAD_WORDS + views + number_words);
        let rank = (left / (1 + views)).min(MAX_RANK);
        match rank {
            0 => Err(Error::new(ErrorKind::Declined, "more operands than a launch describes")),
            rank => Ok(Words { rank, views, number_words }),
        }
    }

    fn view(&self, k: usize) -> usize {
        HEAD_WORDS + self.rank + k * (1 + self.rank)
    }

    fn numbers(&self) -> usize {
        self.view(self.views)
    }

    fn count(&self) -> usize {
        self.numbers() + self.number_words
    }
}

/// Buffers: the `arity` operands at the graph's width, out. `name` is unique among definitions.
pub fn kernel(name: &str, graph: &Graph, arity: usize) -> Kernel {
    let element = element_of(graph.width);
    let read = Read::Array { stored: element, wanted: element };
    let reads = SmallVec::from_elem(read, arity);
    let signature = Signature { reads, writes: element, placed: false };
    // Three operands of one type at most: the words suffice and nothing is converted.
    kernel_of(name, graph, &signature).unwrap_or_else(|e| unreachable!("{e}"))
}

/// The arguments of the definition, numbers from this word on, and how many buffers are read.
fn values(
    signature: &Signature,
    computed: Computed,
    mut number: usize,
) -> Result<(Vec<String>, usize)> {
    let (mut values, mut buffer) = (Vec::new(), 0);
    for read in &signature.reads {
        values.push(match *read {
            Read::Array { stored, wanted } => {
                let (b, at) = (format!("b{buffer}"), format!("at{buffer}"));
                buffer += 1;
                cells::read(stored, wanted, computed, &b, &at)?
            }
            Read::Number => {
                number += computed.words();
                computed.parameter(number - computed.words())
            }
        });
    }
    Ok((values, buffer))
}

/// Buffers: the operands that are arrays, out. `name` is unique among definitions.
pub fn kernel_of(name: &str, graph: &Graph, signature: &Signature) -> Result<Kernel> {
    let computed = match graph.is_whole() {
        true => Computed::Whole,
        false => Computed::of(graph.width),
    };
    let numbers = signature.numbers() * computed.words();
    let words = Words::new(signature.views(), numbers)?;
    let (values, buffer) = values(signature, computed, words.numbers())?;
    let (mut start, mut walk) = (String::new(), String::new());
    for k in 0..signature.views() {
        let base = words.view(k);
        let _ = writeln!(start, "    var at{k} = parameter({base}u);");
        // Offsets are added modulo 2^32, so a negative stride needs no signed arithmetic.
        let _ = writeln!(walk, "        at{k} = at{k} + along * parameter({}u + axis);", base + 1);
    }
    let called = format!("definition({})", values.join(", "));
    let value = match graph.kind(graph.result()) {
        Kind::Mask => computed.truth(&called),
        _ => called,
    };
    let value = cells::written(signature.writes, computed, &value);
    let tail = match signature.placed {
        true => placed_tail(signature.writes, buffer, &value),
        false => format!("    return {value};\n"),
    };
    let text = filled_in(
        include_str!("broadcast.wgsl"),
        &[
            ("result", &result_of(signature)),
            ("start", &start),
            ("extents", &HEAD_WORDS),
            ("walk", &walk),
            ("tail", &tail),
        ],
    );
    let main = match signature.placed {
        true => include_str!("each.wgsl").replace("${group}", &super::GROUP.to_string()),
        false => cells::main_over_elements(signature.writes, buffer),
    };
    let text = expression::function("definition", graph, signature.reads.len()) + &text + &main;
    Ok(Kernel {
        key: key_of(name, signature, computed),
        text,
        workgroup: [super::GROUP as u32, 1, 1],
        bindings: bindings_of(signature),
        parameter_words: words.count(),
    })
}

fn result_of(signature: &Signature) -> String {
    match signature.placed {
        true => String::new(),
        false => format!(" -> {}", cells::written_type(signature.writes)),
    }
}

fn placed_tail(out: ElementType, buffer: usize, value: &str) -> String {
    let b = format!("b{buffer}");
    let store = cells::stored_single(out, &b, &format!("at{buffer}"), "value");
    format!("    let value = {value};\n    {store}\n")
}

fn bindings_of(signature: &Signature) -> Vec<Binding> {
    let arrays = signature.reads.iter().filter_map(|read| match read {
        Read::Array { stored, .. } => Some(Binding::read(*stored)),
        Read::Number => None,
    });
    let out = match signature.placed {
        true => Binding::write_single(signature.writes),
        false => Binding::write(signature.writes),
    };
    arrays.chain([out]).collect()
}

fn key_of(name: &str, signature: &Signature, computed: Computed) -> String {
    let mut key = format!("broadcast {name} {}", computed.name());
    for read in &signature.reads {
        let _ = match read {
            Read::Array { stored, wanted } if stored == wanted => write!(key, " {stored}"),
            Read::Array { stored, wanted } => write!(key, " {stored}-{wanted}"),
            Read::Number => write!(key, " number"),
        };
    }
    let place = if signature.placed { " in place" } else { "" };
    let _ = write!(key, " to {}{place}", signature.writes);
    key
}

/// At the result's `shape`, operands in the kernel's order.
pub fn launch(kernel: &Arc<Kernel>, shape: &[usize], operands: &[View]) -> Result<Launch> {
    launch_of(kernel, shape, operands, &[])
}

/// The same with the view through which a placed result is written last, and the words of the
/// numbers.
pub fn launch_of(
    kernel: &Arc<Kernel>,
    shape: &[usize],
    views: &[View],
    numbers: &[u32],
) -> Result<Launch> {
    let count = shape.iter().try_fold(1usize, |n, &d| n.checked_mul(d)).unwrap_or(usize::MAX);
    let (extents, strides) = merged(shape, views);
    let words = Words::new(views.len(), numbers.len())?;
    if extents.len() > words.rank {
        return Err(Error::new(ErrorKind::Declined, format!("more than {} axes", words.rank)));
    }
    let mut parameters = vec![word(count)?, extents.len() as u32];
    for axis in 0..words.rank {
        parameters.push(word(extents.get(axis).copied().unwrap_or(1))?);
    }
    for (view, strides) in views.iter().zip(&strides) {
        parameters.push(word(view.offset)?);
        for axis in 0..words.rank {
            parameters.push(signed_word(strides.get(axis).copied().unwrap_or(0))?);
        }
    }
    parameters.extend_from_slice(numbers);
    // One invocation writes a word: several elements of a narrow type.
    let out = kernel.bindings.last().map_or(ElementType::F64, |b| b.element);
    let placed = views.len() == kernel.bindings.len();
    let each = if placed { 1 } else { per_word(out) };
    Ok(Launch { kernel: kernel.clone(), parameters, groups: groups_for(count.div_ceil(each)) })
}

/// The shape without axes of extent 1 and with each axis merged into the one before it where every
/// operand walks the two as one; and the operands' strides over what is left.
pub fn merged(shape: &[usize], operands: &[View]) -> (Vec<usize>, Vec<Vec<isize>>) {
    let mut extents: Vec<usize> = Vec::new();
    let mut strides = vec![Vec::new(); operands.len()];
    for (axis, &extent) in shape.iter().enumerate().filter(|(_, extent)| **extent != 1) {
        let inner = |o: &View| o.strides[axis];
        let joins = !extents.is_empty()
            && operands.iter().zip(&strides).all(|(o, outer): (&View, &Vec<isize>)| {
                outer.last().copied() == inner(o).checked_mul(extent as isize)
            });
        if let Some(last) = extents.last_mut().filter(|_| joins) {
            *last *= extent;
            for (o, outer) in operands.iter().zip(&mut strides) {
                outer.pop();
                outer.push(inner(o));
            }
        } else {
            extents.push(extent);
            for (o, outer) in operands.iter().zip(&mut strides) {
                outer.push(inner(o));
            }
        }
    }
    (extents, strides)
}

#[cfg(test)]
pub(super) mod tests {
    use super::*;
    use rung_math::{Add, LessEqual, Width, trace_binary, trace_compare};

    /// Two operands at both widths, a relation, and operands that are converted.
    pub(crate) fn all() -> Vec<Kernel> {
        let mut all = Vec::new();
        for width in [Width::F32, Width::F64] {
            let add = trace_binary::<Add>(width);
            all.push(kernel("add", &add, 2));
            for stored in ElementType::FLOATS {
                let wanted = element_of(width);
                let reads = [Read::Array { stored, wanted }, Read::Number].into_iter().collect();
                let signature = Signature { reads, writes: stored, placed: true };
                all.extend(kernel_of("add", &add, &signature));
            }
            let graph = trace_compare::<LessEqual>(width);
            let read = Read::Array { stored: element_of(width), wanted: element_of(width) };
            let reads = SmallVec::from_elem(read, 2);
            let signature = Signature { reads, writes: ElementType::Bool, placed: false };
            all.push(kernel_of("less-equal", &graph, &signature).unwrap());
        }
        all
    }

    #[test]
    fn axes_walked_as_one_are_merged() {
        let view = |strides| View { offset: 0, strides };
        let packed = merged(&[2, 1, 3, 4], &[view(&[12, 12, 4, 1]), view(&[12, 0, 4, 1])]);
        assert_eq!(packed, (vec![24], vec![vec![1], vec![1]]));
        let column = merged(&[2, 3, 4], &[view(&[12, 4, 1]), view(&[3, 1, 0])]);
        assert_eq!(column, (vec![6, 4], vec![vec![4, 1], vec![1, 0]]));
        let number = merged(&[2, 3], &[view(&[3, 1]), view(&[0, 0])]);
        assert_eq!(number, (vec![6], vec![vec![1], vec![0]]));
    }
}
