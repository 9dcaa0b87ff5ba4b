//! Chains of element-wise operations that the lanes do in one pass: what lies between two of them
//! is rounded to the operands' type and stays in the first cache. Over operands on a device a chain
//! is one kernel, of the recordings of its operations, and what lies between stays in registers; after a
//! matrix product it is made in the product's launch.
//! Which operations can be linked is in their records (`Op::chain`).

use crate::call::Call;
use crate::decline::{Answer, Decline};
use crate::explain::What;
use crate::product::{Following, tiles};
use crate::record::{Family, Link, LinkStep, Op, Part};
use crate::round_trip::{Formula, RoundTrip};
use rung_array::{Array, Convert};
use rung_base::{ElementType, Result, Shape};
use rung_kernel::cells::Computed;
use rung_lanes::fused::{self, Step as LaneStep};
use rung_lanes::{Cost, Float, Lanes, Operand};
use rung_math::{Composed, Graph, Width, composed};
use smallvec::SmallVec;

/// A step of a chain, in postfix order.
#[derive(Clone, Copy)]
pub enum Step {
    /// The next operand.
    Operand,
    /// An operation on the values before it, as many as its link says.
    Apply(&'static Op, Link),
    /// The value at this place, counted from the first one.
    Again(usize),
    /// Takes away the `drop` values under the upper `keep` ones.
    Slide { keep: usize, drop: usize },
}

/// The chain over its operands, or `None` where the lanes do not take it.
pub fn run(lanes: &Lanes, steps: &[Step], operands: &[Part]) -> Option<Result<Array>> {
    // Small arrays go operation by operation: what lies between two of them stays in the first
    // cache anyway, and a small call takes less time than a chain takes to describe.
    if operands.iter().all(|part| part.is_small()) {
        return None;
    }
    let shape = common_shape(steps, operands)?;
    match common_type(operands)? {
        ElementType::F64 => run_at::<f64>(lanes, steps, operands, shape),
        ElementType::F32 => run_at::<f32>(lanes, steps, operands, shape),
        _ => None,
    }
}

/// The most steps of a chain on a device: a kernel's text grows with each.
const MOST_STEPS: usize = 32;

/// The chain as one call of its first operation, whose operands are all at its shape: what the costs
/// look at, and what `on_device` runs. `None` where a device does not take it.
pub(crate) fn call(steps: &[Step], operands: &[Part]) -> Option<Call> {
    let op = steps.iter().find_map(|step| match step {
        Step::Apply(op, _) => Some(*op),
        _ => None,
    })?;
    let (shape, t) = (common_shape(steps, operands)?, common_type(operands)?);
    Width::of(t).filter(|_| t.compute_type() == t && steps.len() <= MOST_STEPS)?;
    let array = |part: &Part| match part {
        Part::Number(n) => Array::full(t, Shape::scalar(), *n)?.broadcast_to(&shape),
        Part::Array(a) => a.broadcast_to(&shape),
    };
    let operands: SmallVec<[Array; 3]> = operands.iter().map(array).collect::<Result<_>>().ok()?;
    let (_, cost) = program(steps)?;
    let family = if cost == Cost::Elementary { Family::Map } else { Family::Wide };
    let first = operands.first()?.clone();
    Some(Call { operands, ..Call::like(op, first, t, family) })
}

/// The call's chain in one kernel.
pub(crate) fn on_device(trip: &RoundTrip, steps: &[Step], call: &Call) -> Result<Answer> {
    let Some(width) = Width::of(call.result) else {
        return Ok(Answer::Declined(Decline::Type(call.result)));
    };
    let words = steps.iter().map(|step| match step {
        Step::Apply(op, _) => op.name(),
        _ => ".",
    });
    let name = words.collect::<Vec<_>>().join(" ");
    let wanted = vec![call.result; call.operands.len()];
    let of = Formula {
        name: name.into(),
        formula: "chain",
        computed: Computed::of(width),
        wanted: &wanted,
        writes: call.result,
    };
    let graph = || Some(graph(steps, width, |n| [Composed::Input(n as u32)]));
    trip.over(of, graph, &call.operands, call.shape.clone())
}

/// The recordings of the steps as one; `input` says what makes an operand.
pub(crate) fn graph<'a, I: IntoIterator<Item = Composed<'a>>>(
    steps: &[Step],
    width: Width,
    input: impl Fn(usize) -> I,
) -> Graph {
    let graphs: Vec<Option<Graph>> = steps
        .iter()
        .map(|step| match step {
            Step::Apply(_, Link { step: LinkStep::Elements(_, trace), .. }) => Some(trace(width)),
            _ => None,
        })
        .collect();
    let mut operand = 0;
    let parts = steps.iter().zip(&graphs).flat_map(|(step, graph)| {
        let one = match (step, graph) {
            (Step::Apply(_, link), Some(graph)) => Composed::Apply(graph, link.arity),
            (Step::Again(place), _) => Composed::Again(*place),
            (Step::Slide { keep, drop }, _) => Composed::Slide(*keep, *drop),
            _ => {
                operand += 1;
                return input(operand - 1).into_iter().map(|part: Composed| part).collect();
            }
        };
        SmallVec::<[Composed; 2]>::from_iter([one])
    });
    composed(width, parts)
}

/// A chain in which one matrix product of two operands stands among element-wise operations.
pub struct AfterProduct {
    /// The product.
    pub op: &'static Op,
    /// Which operands it takes: this one and the next.
    pub at: usize,
    /// The chain with the product's value as the operand of that number.
    pub rest: Vec<Step>,
    /// Where the product stands among the steps.
    pub place: usize,
}

/// The product of a chain and what follows it; `None` of a chain without one, or with more.
pub fn after_product(steps: &[Step]) -> Option<AfterProduct> {
    let product = |step: &Step| match step {
        Step::Apply(op, link) if link.is_first() => Some(*op),
        _ => None,
    };
    let place = steps.iter().position(|step| product(step).is_some())?;
    let own = place.checked_sub(2)?;
    let are_operands = steps[own..place].iter().all(|step| matches!(step, Step::Operand));
    let rest = [&steps[..own], &[Step::Operand], &steps[place + 1..]].concat();
    if !are_operands || rest.len() < 2 || rest.iter().any(|step| product(step).is_some()) {
        return None;
    }
    let at = steps[..own].iter().filter(|step| matches!(step, Step::Operand)).count();
    Some(AfterProduct { op: product(&steps[place])?, at, rest, place })
}

/// A product with what follows it in one kernel; `more` are the chain's other operands, in order.
pub(crate) fn product_on_device(
    trip: &RoundTrip,
    after: &AfterProduct,
    call: &Call,
    more: &[Array],
) -> Result<Answer> {
    let product = after.at;
    // The product's cell is the first argument of what follows.
    let argument = |n: usize| match n {
        n if n == product => 0,
        n if n < product => n + 1,
        n => n,
    };
    let mut operand = 0;
    let words = after.rest.iter().map(|step| match step {
        Step::Apply(op, _) => op.name().to_string(),
        _ => {
            operand += 1;
            format!("{}", argument(operand - 1))
        }
    });
    let name = words.collect::<Vec<_>>().join(" ");
    let input = |n| [Composed::Input(argument(n) as u32)];
    let graph = |width| graph(&after.rest, width, input);
    tiles(call, trip, Some(&Following { name, graph: &graph, operands: more }))
}

/// What explain calls it.
pub(crate) fn what(steps: &[Step], operands: &[Part], result: &Array) -> What {
    let names: Vec<&str> = steps
        .iter()
        .filter_map(|step| match step {
            Step::Apply(op, _) => Some(op.name()),
            _ => None,
        })
        .collect();
    let shape = |part: &Part| match part {
        Part::Array(a) => a.shape().clone(),
        Part::Number(_) => Shape::scalar(),
    };
    What {
        operation: names.join("+").into(),
        shapes: operands.iter().map(shape).collect(),
        element_type: result.element_type(),
    }
}

/// The element type of every array; numbers take it on.
fn common_type(operands: &[Part]) -> Option<ElementType> {
    let mut types = operands.iter().filter_map(|part| match part {
        Part::Array(a) => Some(a.element_type()),
        Part::Number(_) => None,
    });
    let first = types.next()?;
    types.all(|t| t == first).then_some(first)
}

/// The shape of the result, which every value between must have: one that is smaller would be
/// computed again for each place where it broadcasts.
fn common_shape(steps: &[Step], operands: &[Part]) -> Option<Shape> {
    let mut left = operands.iter();
    // A value's shape; none of a number.
    let mut stack: SmallVec<[Option<Shape>; 16]> = SmallVec::new();
    let mut between: Option<Shape> = None;
    for step in steps {
        match step {
            Step::Operand => stack.push(match left.next()? {
                Part::Array(a) => Some(a.shape().clone()),
                Part::Number(_) => None,
            }),
            Step::Apply(_, link) => {
                let base = stack.len().checked_sub(link.arity)?;
                let shape = stack.drain(base..).flatten().try_fold(None, joined).ok()??;
                if between.as_ref().is_some_and(|known| *known != shape) {
                    return None;
                }
                between = Some(shape.clone());
                stack.push(Some(shape));
            }
            Step::Again(_) | Step::Slide { .. } => return None,
        }
    }
    // Operands of rank 0 alone are worth no chain.
    between.filter(|shape| shape.rank() > 0)
}

fn joined(known: Option<Shape>, more: Shape) -> Result<Option<Shape>> {
    match known {
        None => Ok(Some(more)),
        Some(known) => known.broadcast(&more).map(Some),
    }
}

fn run_at<T: Float + Convert>(
    lanes: &Lanes,
    steps: &[Step],
    operands: &[Part],
    shape: Shape,
) -> Option<Result<Array>> {
    let numbers: Option<SmallVec<[T; 16]>> = operands
        .iter()
        .map(|part| match part {
            Part::Number(n) => T::from_number(*n),
            Part::Array(_) => Some(T::default()),
        })
        .collect();
    let numbers = numbers?;
    let views: SmallVec<[Array; 16]> =
        operands.iter().filter_map(|part| array_of(*part, &shape)).collect();
    let zeros: SmallVec<[isize; 8]> = SmallVec::from_elem(0, shape.rank());
    let (mut views, mut sources) = (views.iter(), SmallVec::<[Operand<T>; 16]>::new());
    for (k, part) in operands.iter().enumerate() {
        sources.push(match part {
            Part::Number(_) => Operand::new(&numbers[k..=k], 0, &zeros),
            Part::Array(_) => crate::call::lanes_operand(views.next()?),
        });
    }
    let (program, cost) = program(steps)?;
    Some(Array::build::<T>(shape.clone(), |out| {
        fused::fused(lanes, cost, &shape, &program, &sources, out);
    }))
}

/// An array operand as it broadcasts to the chain's shape.
fn array_of(part: Part, shape: &Shape) -> Option<Array> {
    match part {
        Part::Array(a) if a.shape() == shape => Some(a.clone()),
        Part::Array(a) => a.broadcast_to(shape).ok(),
        Part::Number(_) => None,
    }
}

/// The steps as the lanes take them, and the cost of the dearest; `None` with a product.
pub(crate) fn program(steps: &[Step]) -> Option<(SmallVec<[LaneStep; 32]>, Cost)> {
    let (mut program, mut cost, mut operands) = (SmallVec::new(), Cost::Light, 0);
    for step in steps {
        program.push(match step {
            Step::Operand => {
                operands += 1;
                LaneStep::operand(operands - 1)
            }
            Step::Apply(_, link) => {
                if link.cost == Cost::Elementary {
                    cost = Cost::Elementary;
                }
                match link.step {
                    LinkStep::Elements(step, _) => step,
                    LinkStep::Product => return None,
                }
            }
            Step::Again(place) => LaneStep::again(*place),
            Step::Slide { keep, drop } => LaneStep::slide(*keep, *drop),
        });
    }
    Some((program, cost))
}
