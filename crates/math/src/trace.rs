//! The recording instance of `Real`: running a definition with it computes nothing and writes
//! down each operation as a `Node`. The types are indices into a graph under construction that
//! belongs to the thread. `rare` records both sides and a select, because a shader gains nothing
//! from a branch that neighbours may disagree about. The result type is in `graph`.

use crate::function::{Binary, Compare, Ternary, Unary};
use crate::graph::{Graph, Id, Node};
use crate::philox::normal;
use crate::real::{Bits, Mask, Real, Width};
use crate::remainder::{Division, Remainder};
use crate::rows::{Fold, Rowwise, Slices};
use core::ops;
use std::cell::RefCell;
use std::collections::HashMap;

mod composed;
mod whole;

pub use composed::{Composed, composed, trace_update};
pub use whole::{trace_whole_binary, trace_whole_compare, trace_whole_ternary, trace_whole_unary};

#[derive(Default)]
struct Recording {
    nodes: Vec<Node>,
    known: HashMap<Node, Id>,
}

thread_local! {
    static RECORDING: RefCell<Recording> = RefCell::default();
}

fn record(node: Node) -> Id {
    RECORDING.with_borrow_mut(|recording| {
        let Recording { nodes, known } = recording;
        *known.entry(node).or_insert_with(|| {
            nodes.push(node);
            (nodes.len() - 1) as Id
        })
    })
}

/// Runs `body` on an empty recording and puts back the one that was under way, if any.
fn recorded(width: Width, body: impl FnOnce() -> Id) -> Graph {
    all_recorded(width, || vec![body()])
}

/// The same with several results.
fn all_recorded(width: Width, body: impl FnOnce() -> Vec<Id>) -> Graph {
    let outer = RECORDING.take();
    let outputs = body();
    let nodes = RECORDING.replace(outer).nodes;
    Graph { width, nodes, outputs }.pruned()
}

/// The graph of a function of one number.
pub fn trace_unary<F: Unary>(width: Width) -> Graph {
    recorded(width, || match width {
        Width::F32 => F::at(input::<32>(0)).0,
        Width::F64 => F::at(input::<64>(0)).0,
    })
}

/// The graph of a function of two numbers.
pub fn trace_binary<F: Binary>(width: Width) -> Graph {
    recorded(width, || match width {
        Width::F32 => F::at(input::<32>(0), input(1)).0,
        Width::F64 => F::at(input::<64>(0), input(1)).0,
    })
}

/// The graph of a division with a remainder.
pub fn trace_division<F: Division>(width: Width) -> Graph {
    recorded(width, || match width {
        Width::F32 => F::float(input::<32>(0), input(1)).0,
        Width::F64 => F::float(input::<64>(0), input(1)).0,
    })
}

/// The graph of two normal numbers from two uniform ones (`philox::normal`): two results.
pub fn trace_normal(width: Width) -> Graph {
    all_recorded(width, || match width {
        Width::F32 => normal(input::<32>(0), input(1)).map(|x| x.0).to_vec(),
        Width::F64 => normal(input::<64>(0), input(1)).map(|x| x.0).to_vec(),
    })
}

/// The graph of a function of three numbers.
pub fn trace_ternary<F: Ternary>(width: Width) -> Graph {
    recorded(width, || match width {
        Width::F32 => F::at(input::<32>(0), input(1), input(2)).0,
        Width::F64 => F::at(input::<64>(0), input(1), input(2)).0,
    })
}

/// The graph of a relation between two numbers; its result is a mask.
pub fn trace_compare<F: Compare>(width: Width) -> Graph {
    recorded(width, || match width {
        Width::F32 => F::at(input::<32>(0), input(1)).0,
        Width::F64 => F::at(input::<64>(0), input(1)).0,
    })
}

/// A function of slices as its folds, in order, and what it writes. The inputs of each graph are the
/// `K` elements, then the numbers, then the folds before it.
#[derive(Clone, Debug)]
pub struct RowProgram {
    /// How many slices there are.
    pub slices: usize,
    /// How many numbers there are.
    pub numbers: usize,
    /// Each fold with its expression.
    pub folds: Vec<(Fold, Graph)>,
    /// What is written.
    pub result: Graph,
    /// Whether it is written once.
    pub one: bool,
}

/// The program of a function of slices that takes `numbers` numbers.
pub fn trace_rows<F: Rowwise<K>, const K: usize>(width: Width, numbers: usize) -> RowProgram {
    match width {
        Width::F32 => traced_rows::<F, 32, K>(width, numbers),
        Width::F64 => traced_rows::<F, 64, K>(width, numbers),
    }
}

fn traced_rows<F: Rowwise<K>, const WIDTH: u32, const K: usize>(
    width: Width,
    numbers: usize,
) -> RowProgram
where
    TracedReal<WIDTH>: Real,
{
    let outer = RECORDING.take();
    let mut traced = TracedRows::<K> { numbers, folds: Vec::new(), result: None };
    F::row::<TracedReal<WIDTH>, _>(&mut traced);
    let nodes = RECORDING.replace(outer).nodes;
    let graph = |output| Graph { width, nodes: nodes.clone(), outputs: vec![output] }.pruned();
    RowProgram {
        slices: K,
        numbers,
        folds: traced.folds.into_iter().map(|(fold, id)| (fold, graph(id))).collect(),
        result: graph(traced.result.unwrap_or_default()),
        one: F::ONE,
    }
}

/// The slices under recording.
struct TracedRows<const K: usize> {
    numbers: usize,
    folds: Vec<(Fold, Id)>,
    result: Option<Id>,
}

fn elements<const WIDTH: u32, const K: usize>() -> [TracedReal<WIDTH>; K] {
    std::array::from_fn(|k| input(k as u32))
}

impl<const WIDTH: u32, const K: usize> Slices<TracedReal<WIDTH>, K> for TracedRows<K>
where
    TracedReal<WIDTH>: Real,
{
    fn number(&mut self, at: usize) -> TracedReal<WIDTH> {
        input((K + at) as u32)
    }

    fn fold(
        &mut self,
        fold: Fold,
        f: impl Fn([TracedReal<WIDTH>; K]) -> TracedReal<WIDTH>,
    ) -> TracedReal<WIDTH> {
        self.folds.push((fold, f(elements()).0));
        input((K + self.numbers + self.folds.len() - 1) as u32)
    }

    fn write(&mut self, f: impl Fn([TracedReal<WIDTH>; K]) -> TracedReal<WIDTH>) {
        self.result = Some(f(elements()).0);
    }
}

fn input<const WIDTH: u32>(n: u32) -> TracedReal<WIDTH> {
    TracedReal(record(Node::Input(n)))
}

/// A float under recording; the parameter is 32 or 64.
#[derive(Clone, Copy, Debug)]
pub struct TracedReal<const WIDTH: u32>(Id);

/// An unsigned integer under recording; the parameter is 32 or 64.
#[derive(Clone, Copy, Debug)]
pub struct TracedBits<const WIDTH: u32>(Id);

/// A truth value under recording.
#[derive(Clone, Copy, Debug)]
pub struct TracedMask(Id);

macro_rules! operator {
    ($type:ident, $trait:ident, $method:ident, $node:ident) => {
        impl<const WIDTH: u32> ops::$trait for $type<WIDTH> {
            type Output = Self;
            fn $method(self, other: Self) -> Self {
                $type(record(Node::$node(self.0, other.0)))
            }
        }
    };
}

operator!(TracedReal, Add, add, Add);
operator!(TracedReal, Sub, sub, Sub);
operator!(TracedReal, Mul, mul, Mul);
operator!(TracedReal, Div, div, Div);
operator!(TracedBits, Add, add, BitsAdd);
operator!(TracedBits, Sub, sub, BitsSub);
operator!(TracedBits, Mul, mul, BitsMul);
operator!(TracedBits, BitAnd, bitand, BitsAnd);
operator!(TracedBits, BitOr, bitor, BitsOr);
operator!(TracedBits, BitXor, bitxor, BitsXor);

impl<const WIDTH: u32> ops::Neg for TracedReal<WIDTH> {
    type Output = Self;
    fn neg(self) -> Self {
        TracedReal(record(Node::Negate(self.0)))
    }
}

impl<const WIDTH: u32> ops::Not for TracedBits<WIDTH> {
    type Output = Self;
    fn not(self) -> Self {
        TracedBits(record(Node::BitsNot(self.0)))
    }
}

impl Mask for TracedMask {
    fn constant(value: bool) -> Self {
        TracedMask(record(Node::MaskConstant(value)))
    }
    fn and(self, other: Self) -> Self {
        TracedMask(record(Node::MaskAnd(self.0, other.0)))
    }
    fn or(self, other: Self) -> Self {
        TracedMask(record(Node::MaskOr(self.0, other.0)))
    }
    fn not(self) -> Self {
        TracedMask(record(Node::MaskNot(self.0)))
    }
}

impl<const WIDTH: u32> Bits for TracedBits<WIDTH> {
    type Real = TracedReal<WIDTH>;
    type Mask = TracedMask;

    fn constant(value: u64) -> Self {
        TracedBits(record(Node::BitsConstant(value & width_of(WIDTH).mask())))
    }
    fn shift_left(self, amount: u32) -> Self {
        TracedBits(record(Node::ShiftLeft(self.0, amount)))
    }
    fn shift_right(self, amount: u32) -> Self {
        TracedBits(record(Node::ShiftRight(self.0, amount)))
    }
    fn shift_right_signed(self, amount: u32) -> Self {
        TracedBits(record(Node::ShiftRightSigned(self.0, amount)))
    }
    fn shift_left_by(self, amount: Self) -> Self {
        TracedBits(record(Node::ShiftLeftBy(self.0, amount.0)))
    }
    fn shift_right_by(self, amount: Self) -> Self {
        TracedBits(record(Node::ShiftRightBy(self.0, amount.0)))
    }
    fn less(self, other: Self) -> TracedMask {
        TracedMask(record(Node::BitsLess(self.0, other.0)))
    }
    fn equal(self, other: Self) -> TracedMask {
        TracedMask(record(Node::BitsEqual(self.0, other.0)))
    }
    fn select(mask: TracedMask, yes: Self, no: Self) -> Self {
        TracedBits(record(Node::BitsSelect(mask.0, yes.0, no.0)))
    }
    fn high_product(self, other: Self) -> Self {
        TracedBits(record(Node::HighProduct(self.0, other.0)))
    }
    fn lookup(self, table: &'static [u64]) -> Self {
        TracedBits(record(Node::Lookup(self.0, table)))
    }
}

impl<const WIDTH: u32> Real for TracedReal<WIDTH> {
    type Bits = TracedBits<WIDTH>;
    type Mask = TracedMask;
    const WIDTH: Width = width_of(WIDTH);

    fn constant(value: f64) -> Self {
        let bits = match Self::WIDTH {
            Width::F32 => (value as f32).to_bits() as u64,
            Width::F64 => value.to_bits(),
        };
        TracedReal(record(Node::RealConstant(bits)))
    }
    fn sqrt(self) -> Self {
        TracedReal(record(Node::Sqrt(self.0)))
    }
    fn abs(self) -> Self {
        TracedReal(record(Node::Abs(self.0)))
    }
    fn bits(self) -> Self::Bits {
        TracedBits(record(Node::ToBits(self.0)))
    }
    fn from_bits(bits: Self::Bits) -> Self {
        TracedReal(record(Node::FromBits(bits.0)))
    }
    fn less(self, other: Self) -> TracedMask {
        TracedMask(record(Node::RealLess(self.0, other.0)))
    }
    fn less_equal(self, other: Self) -> TracedMask {
        TracedMask(record(Node::RealLessEqual(self.0, other.0)))
    }
    fn equal(self, other: Self) -> TracedMask {
        TracedMask(record(Node::RealEqual(self.0, other.0)))
    }
    fn select(mask: TracedMask, yes: Self, no: Self) -> Self {
        TracedReal(record(Node::RealSelect(mask.0, yes.0, no.0)))
    }
    fn rare(mask: TracedMask, usual: Self, slow: impl FnOnce() -> Self) -> Self {
        Self::select(mask, slow(), usual)
    }
}

impl<const WIDTH: u32> Remainder for TracedReal<WIDTH> {
    fn remainder(self, b: Self) -> Self {
        TracedReal(record(Node::Remainder(self.0, b.0)))
    }
}

const fn width_of(bits: u32) -> Width {
    match bits {
        32 => Width::F32,
        64 => Width::F64,
        _ => panic!("a traced number is 32 or 64 bits wide"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::function::{Equal, Maximum, Square};
    use crate::graph::Kind;

    #[test]
    fn a_repeated_expression_is_recorded_once() {
        #[derive(Clone, Copy, Default)]
        struct Twice;
        impl Unary for Twice {
            fn at<R: Real>(x: R) -> R {
                let _unused = x / x;
                (x * x) + (x * x)
            }
        }
        let graph = trace_unary::<Twice>(Width::F64);
        assert_eq!(graph.nodes, [Node::Input(0), Node::Mul(0, 0), Node::Add(1, 1)]);
        assert_eq!(graph.outputs, [2]);
    }

    #[test]
    fn graphs_evaluate_to_the_scalar_bits() {
        let square = trace_unary::<Square>(Width::F32);
        assert_eq!(square.evaluate(&[1.1_f32.to_bits() as u64]), (1.1_f32 * 1.1).to_bits() as u64);
        let maximum = trace_binary::<Maximum>(Width::F64);
        let bits = |a: f64, b: f64| maximum.evaluate(&[a.to_bits(), b.to_bits()]);
        assert_eq!(bits(-0.0, 0.0), 0.0_f64.to_bits());
        assert_eq!(bits(f64::NAN, 0.0), 0x7FF8_0000_0000_0000);
        let equal = trace_compare::<Equal>(Width::F64);
        assert_eq!(equal.kind(equal.result()), Kind::Mask);
        assert_eq!(equal.evaluate(&[0.0_f64.to_bits(), (-0.0_f64).to_bits()]), 1);
    }
}
