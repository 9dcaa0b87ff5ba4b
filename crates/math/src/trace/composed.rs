//! Graphs made of graphs: a chain of definitions as one, and a step over arrays with its numbers as
//! arguments.

use super::{TracedReal, all_recorded, input, record, recorded};
use crate::graph::{Graph, Id, Kind, Node};
use crate::real::{Real, Width};
use crate::update::{NUMBERS, Narrow, Update};

/// A step of a composition, in postfix order.
pub enum Composed<'a> {
    /// The argument of this number.
    Input(u32),
    /// A number, rounded once to the width.
    Constant(f64),
    /// A definition of the values before it, as many as it takes.
    Apply(&'a Graph, usize),
    /// The value at this place, counted from the first one.
    Again(usize),
    /// Takes away the second number of values under the upper ones, as many as the first.
    Slide(usize, usize),
}

/// One graph of definitions that take each other's results; masks count as 1 and 0.
pub fn composed<'a>(width: Width, steps: impl IntoIterator<Item = Composed<'a>>) -> Graph {
    recorded(width, || {
        let mut stack: Vec<Id> = Vec::new();
        for step in steps {
            let id = match step {
                Composed::Input(n) => record(Node::Input(n)),
                Composed::Constant(x) => record(Node::RealConstant(match width {
                    Width::F32 => (x as f32).to_bits().into(),
                    Width::F64 => x.to_bits(),
                })),
                Composed::Again(place) => stack.get(place).copied().unwrap_or_default(),
                Composed::Slide(keep, drop) => {
                    let from = stack.len().saturating_sub(keep);
                    stack.drain(from.saturating_sub(drop)..from);
                    continue;
                }
                Composed::Apply(graph, arity) => {
                    let base = stack.len().saturating_sub(arity);
                    let arguments: Vec<Id> = stack.drain(base..).collect();
                    inlined(graph, &arguments)
                }
            };
            stack.push(id);
        }
        stack.pop().unwrap_or_default()
    })
}

/// The result of a graph whose arguments are recorded already.
fn inlined(graph: &Graph, arguments: &[Id]) -> Id {
    let mut ids: Vec<Id> = Vec::with_capacity(graph.nodes.len());
    for node in &graph.nodes {
        ids.push(match node {
            Node::Input(n) | Node::BitsInput(n) => arguments[*n as usize],
            other => record(other.map(|id| ids[id as usize])),
        });
    }
    let result = ids[graph.result() as usize];
    match graph.kind(graph.result()) {
        Kind::Mask => {
            let one = match graph.width {
                Width::F32 => 1f32.to_bits().into(),
                Width::F64 => 1f64.to_bits(),
            };
            let [one, zero] = [one, 0].map(|bits| record(Node::RealConstant(bits)));
            record(Node::RealSelect(result, one, zero))
        }
        _ => result,
    }
}

/// The graph of a step: its arguments are the elements of the `K` arrays, then its numbers; its
/// results the elements of the arrays that it changes.
pub fn trace_update<U: Update<K>, W: Narrow, const K: usize>(width: Width, step: &U) -> Graph {
    match width {
        Width::F32 => traced_update::<U, W, 32, K>(width, step),
        Width::F64 => traced_update::<U, W, 64, K>(width, step),
    }
}

fn traced_update<U: Update<K>, W: Narrow, const WIDTH: u32, const K: usize>(
    width: Width,
    step: &U,
) -> Graph
where
    TracedReal<WIDTH>: Real,
{
    all_recorded(width, || {
        let x = std::array::from_fn(|k| input::<WIDTH>(k as u32));
        let numbers: [TracedReal<WIDTH>; NUMBERS] = std::array::from_fn(|n| input((K + n) as u32));
        let after = step.with::<TracedReal<WIDTH>, W>(&numbers, x);
        let written = after.into_iter().zip(step.writes()).filter(|(_, writes)| *writes);
        written.map(|(x, _)| x.0).collect()
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::function::{Add, Less, Mul};
    use crate::trace::{trace_binary, trace_compare};
    use crate::update::{Axpy, Own};

    #[test]
    fn a_chain_is_one_graph_with_the_bits_of_its_calls() {
        let width = Width::F64;
        let (mul, add, less) =
            (trace_binary::<Mul>(width), trace_binary::<Add>(width), trace_compare::<Less>(width));
        use Composed::{Apply, Input};
        // (a * b + c) < a, then plus c.
        let steps = [
            Input(0),
            Input(1),
            Apply(&mul, 2),
            Input(2),
            Apply(&add, 2),
            Input(0),
            Apply(&less, 2),
            Input(2),
            Apply(&add, 2),
        ];
        let graph = composed(width, steps);
        let value = |a: f64, b: f64, c: f64| {
            f64::from_bits(graph.evaluate(&[a.to_bits(), b.to_bits(), c.to_bits()]))
        };
        assert_eq!(value(3.0, 0.5, 1.0), 2.0);
        assert_eq!(value(3.0, 2.0, 1.0), 1.0);
    }

    #[test]
    fn a_step_is_recorded_once_for_all_numbers() {
        let graph = trace_update::<_, Own, 2>(Width::F64, &Axpy(0.5));
        let bits = [3.0, 1.0, 2.0].map(f64::to_bits);
        assert_eq!(f64::from_bits(graph.evaluate(&bits)), 7.0);
    }
}
