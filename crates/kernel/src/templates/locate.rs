//! locate: x packed and an ascending vector -> where each x goes in it, how many go between two of
//! its elements, or the line through samples at each x. NaN is after every number, zeros are equal.

use super::double_words;
use super::{filled_in, grid_for, groups_for};
use crate::cells::{self, Computed};
use crate::kernel::{Access, Binding, Kernel, Launch, word};
use rung_base::{ElementType, Result};
use std::sync::Arc;

/// `fn place(key, right)` over an ascending vector of `length` elements from `from` on, in buffer 1.
fn place(element: ElementType, computed: Computed, from: usize, length: usize) -> Result<String> {
    let read =
        cells::read(element, element, computed, "b1", &format!("parameter({from}u) + middle"))?;
    let nan = |x: &str| match computed {
        Computed::Single => format!("((bitcast<u32>({x}) & 0x7fffffffu) > 0x7f800000u)"),
        _ => format!("((bitcast<u64>({x}) & 0x7ffffffffffffffflu) > 0x7ff0000000000000lu)"),
    };
    let below = |a: &str, b: &str| match computed {
        Computed::Whole => format!("(bitcast<i64>({a}) < bitcast<i64>({b}))"),
        _ => format!("(!{} & ({} | ({a} < {b})))", nan(a), nan(b)),
    };
    Ok(filled_in(
        include_str!("locate.wgsl"),
        &[
            ("type", &computed.name()),
            ("length", &length),
            ("x", &read),
            ("below", &below("x", "key")),
            ("above", &below("key", "x")),
        ],
    ))
}

fn kernel(key: String, text: String, bindings: Vec<Binding>, parameter_words: usize) -> Kernel {
    Kernel { key, text, workgroup: [super::GROUP as u32, 1, 1], bindings, parameter_words }
}

fn launched(kernel: &Arc<Kernel>, count: usize, parameters: Vec<u32>) -> Launch {
    Launch { kernel: kernel.clone(), parameters, groups: groups_for(count) }
}

/// Buffers: x, v, out of i64: before the elements equal to x, or after them.
pub fn places(element: ElementType, right: bool) -> Result<Kernel> {
    let computed = Computed::holding(element);
    let x = cells::read(element, element, computed, "b0", "parameter(1u) + i")?;
    let text = place(element, computed, 2, 3)?
        + &format!("fn element(i: u32) -> i64 {{ return i64(place({x}, {right})); }}\n");
    Ok(kernel(
        format!("locate {element} {}", if right { "after" } else { "before" }),
        text + &cells::main_over_elements(ElementType::I64, 2),
        vec![Binding::read(element), Binding::read(element), Binding::write(ElementType::I64)],
        4,
    ))
}

/// Over `count` elements of x from `offsets[0]` on, in a vector of `length` from `offsets[1]` on.
pub fn places_launch(
    kernel: &Arc<Kernel>,
    count: usize,
    offsets: [usize; 2],
    length: usize,
) -> Result<Launch> {
    let [x, v] = offsets;
    Ok(launched(kernel, count, vec![word(count)?, word(x)?, word(v)?, word(length)?]))
}

/// The kernels of a histogram over elements of one type.
#[derive(Clone, Debug)]
pub struct Bins {
    zeros: Arc<Kernel>,
    counts: Arc<Kernel>,
    results: Arc<Kernel>,
}

/// The kernels of a histogram whose elements have weights.
#[derive(Clone, Debug)]
pub struct Weights {
    found: Arc<Kernel>,
    sums: Arc<Kernel>,
}

/// The launches of a histogram.
#[derive(Clone, Debug)]
pub struct BinsPlan {
    /// Buffers: the counts (one i32 a bin).
    pub zeros: Launch,
    /// Buffers: x, edges where there are some, the counts.
    pub counts: Launch,
    /// Buffers: the counts, out of i64.
    pub results: Launch,
}

/// The launches of a histogram whose elements have weights.
#[derive(Clone, Debug)]
pub struct WeightsPlan {
    /// Buffers: x, edges, the elements' bins (i32).
    pub found: Launch,
    /// Buffers: the elements' bins, weights (f64), out of f64.
    pub sums: Launch,
}

/// A text over elements, each read as the double `${x}`, and edges of doubles.
fn over_edges(element: ElementType, text: &str) -> Result<String> {
    let (x, double) = (Computed::holding(element), Computed::Double);
    let read = cells::read(element, element, x, "b0", "parameter(1u) + i")?;
    let read = cells::converted(&read, x, double);
    let text = filled_in(text, &[("group", &super::GROUP), ("x", &read)]);
    Ok(place(ElementType::F64, double, 2, 3)? + &text)
}

impl Weights {
    /// Elements are placed by all invocations; each bin is added up by one, in their order.
    pub fn new(element: ElementType) -> Result<Weights> {
        let (count, double) = (ElementType::I32, ElementType::F64);
        let found = over_edges(element, include_str!("locate_found.wgsl"))?
            + &cells::main_over_elements(count, 2);
        let sums = filled_in(include_str!("locate_weights.wgsl"), &[("group", &super::GROUP)]);
        let placing = vec![Binding::read(element), Binding::read(double), Binding::write(count)];
        let adding = vec![Binding::read(count), Binding::read(double), Binding::write(double)];
        Ok(Weights {
            found: Arc::new(kernel(format!("bins {element} found"), found, placing, 4)),
            sums: Arc::new(kernel("bins weights".into(), sums, adding, 3)),
        })
    }

    /// Over `count` elements and `edges` edges; the weights begin at the last offset.
    pub fn plan(&self, count: usize, offsets: [usize; 3], edges: usize) -> Result<WeightsPlan> {
        let ([x, first, weights], bins) = (offsets, edges.saturating_sub(1));
        let all = vec![word(count)?, word(x)?, word(first)?, word(edges)?];
        let parameters = vec![word(count)?, word(weights)?, word(bins)?];
        let groups = grid_for(bins.div_ceil(super::GROUP))?;
        Ok(WeightsPlan {
            found: launched(&self.found, count, all),
            sums: Launch { kernel: self.sums.clone(), parameters, groups },
        })
    }
}

impl Bins {
    /// Edges are doubles; integers are added, so their order is nobody's concern.
    pub fn new(element: ElementType) -> Result<Bins> {
        let counts = over_edges(element, include_str!("locate_bins.wgsl"))?;
        let reads = vec![Binding::read(element), Binding::read(ElementType::F64)];
        Ok(Bins::counting(format!("bins {element}"), counts, reads, 4))
    }

    /// Of integers, which are the bins' numbers.
    pub fn of_wholes(element: ElementType) -> Result<Bins> {
        let whole = Computed::Whole;
        let x = cells::read(element, ElementType::I64, whole, "b0", "parameter(1u) + i")?;
        let counts =
            filled_in(include_str!("locate_wholes.wgsl"), &[("group", &super::GROUP), ("x", &x)]);
        Ok(Bins::counting(format!("wholes {element}"), counts, vec![Binding::read(element)], 3))
    }

    fn counting(key: String, counts: String, mut reads: Vec<Binding>, words: usize) -> Bins {
        let count = ElementType::I32;
        let zeros = "fn element(i: u32) -> i32 { return 0i; }\n";
        let results = "fn element(i: u32) -> i64 { return i64(b0[i]); }\n";
        let simple = |name: &str, text: &str, bindings: Vec<Binding>, out: ElementType| {
            let main = cells::main_over_elements(out, bindings.len() - 1);
            Arc::new(kernel(format!("bins {name}"), text.to_string() + &main, bindings, 1))
        };
        reads.push(Binding { element: count, access: Access::Shared });
        let long = ElementType::I64;
        let out = vec![Binding::read(count), Binding::write(long)];
        Bins {
            zeros: simple("zeros", zeros, vec![Binding::write(count)], count),
            counts: Arc::new(kernel(key, counts, reads, words)),
            results: simple("results", results, out, long),
        }
    }

    /// Over `count` elements and `edges` edges.
    pub fn plan(&self, count: usize, offsets: [usize; 2], edges: usize) -> Result<BinsPlan> {
        let all = vec![word(count)?, word(offsets[0])?, word(offsets[1])?, word(edges)?];
        self.planned(count, edges.saturating_sub(1), all)
    }

    /// Over `count` integers; what is no number of a bin counts nowhere.
    pub fn plan_of_wholes(&self, count: usize, offset: usize, bins: usize) -> Result<BinsPlan> {
        self.planned(count, bins, vec![word(count)?, word(offset)?, word(bins)?])
    }

    fn planned(&self, count: usize, bins: usize, parameters: Vec<u32>) -> Result<BinsPlan> {
        Ok(BinsPlan {
            zeros: launched(&self.zeros, bins, vec![word(bins)?]),
            counts: launched(&self.counts, count, parameters),
            results: launched(&self.results, bins, vec![word(bins)?]),
        })
    }
}

/// Buffers: x, xp, fp (doubles), out of `writes`: the line through samples at each x.
pub fn lines(element: ElementType, writes: ElementType) -> Result<Kernel> {
    let (x, double) = (Computed::holding(element), Computed::Double);
    let read = cells::read(element, element, x, "b0", "parameter(1u) + i")?;
    let text = place(ElementType::F64, double, 2, 4)?
        + &filled_in(
            include_str!("locate_lines.wgsl"),
            &[
                ("type", &cells::written_type(writes)),
                ("x", &cells::converted(&read, x, double)),
                ("left", &double.parameter(5)),
                ("right", &double.parameter(7)),
                ("value", &cells::written(writes, double, "y")),
            ],
        );
    let samples = Binding::read(ElementType::F64);
    Ok(kernel(
        format!("lines {element} to {writes}"),
        text + &cells::main_over_elements(writes, 3),
        vec![Binding::read(element), samples, samples, Binding::write(writes)],
        9,
    ))
}

/// Over `count` elements of x; offsets of x, xp and fp; the values before and after the samples.
pub fn lines_launch(
    kernel: &Arc<Kernel>,
    count: usize,
    offsets: [usize; 3],
    samples: usize,
    outside: [f64; 2],
) -> Result<Launch> {
    let mut parameters = vec![word(count)?];
    for number in offsets.into_iter().chain([samples]) {
        parameters.push(word(number)?);
    }
    parameters.extend(outside.into_iter().flat_map(double_words));
    let each = crate::kernel::per_word(kernel.bindings[3].element);
    Ok(launched(kernel, count.div_ceil(each), parameters))
}

#[cfg(test)]
pub(super) mod tests {
    use super::*;

    /// Of every element type.
    pub(crate) fn all() -> Vec<Kernel> {
        let mut all = Vec::new();
        for element in ElementType::ALL {
            all.extend([false, true].map(|right| places(element, right).unwrap()));
            all.extend(ElementType::FLOATS.map(|writes| lines(element, writes).unwrap()));
            let (bins, weights) = (Bins::new(element).unwrap(), Weights::new(element).unwrap());
            let mut shared =
                vec![bins.zeros, bins.counts, bins.results, weights.found, weights.sums];
            if !element.is_float() {
                shared.push(Bins::of_wholes(element).unwrap().counts);
            }
            all.extend(shared.into_iter().map(|kernel| (*kernel).clone()));
        }
        all
    }
}
