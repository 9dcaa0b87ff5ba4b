//! Chains of element-wise operations that the lanes do in one pass: what lies between two of them
//! is rounded to the operands' type and stays in the first cache. Which operations can be linked is
//! in their records (`Op::chain`).

use crate::explain::What;
use crate::record::{Link, Op, Part};
use rung_array::{Array, Convert};
use rung_base::{ElementType, Result, Shape};
use rung_lanes::fused::{self, Step as LaneStep};
use rung_lanes::{Cost, Float, Lanes, Operand};
use smallvec::SmallVec;

/// A step of a chain, in postfix order.
#[derive(Clone, Copy)]
pub enum Step {
    /// The next operand.
    Operand,
    /// An operation on the values before it, as many as its link says.
    Apply(&'static Op, Link),
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

/// What explain calls it.
pub(crate) fn what(steps: &[Step], operands: &[Part], result: &Array) -> What {
    let names: Vec<&str> = steps
        .iter()
        .filter_map(|step| match step {
            Step::Apply(op, _) => Some(op.name()),
            Step::Operand => None,
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
    let (program, cost) = program(steps);
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

/// The steps as the lanes take them, and the cost of the dearest.
fn program(steps: &[Step]) -> (SmallVec<[LaneStep; 32]>, Cost) {
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
                link.step
            }
        });
    }
    (program, cost)
}
