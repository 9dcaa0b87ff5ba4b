//! The recording instance of `Whole`: integers of 64 bits as bits, compared with their sign turned.

use super::{TracedMask, record, recorded};
use crate::function::{IntegerCompare, IntegerTernary, IntegerUnary, WholeBinary};
use crate::graph::{Graph, Id, Node};
use crate::real::Width;
use crate::whole::Whole;

/// The sign of an integer.
const SIGN: u64 = 1 << 63;

/// An integer under recording.
#[derive(Clone, Copy, Debug)]
struct TracedWhole(Id);

/// The graph of a function of one integer.
pub fn trace_whole_unary<F: IntegerUnary>() -> Graph {
    recorded(Width::F64, || F::at(input(0)).0)
}

/// The graph of a function of two integers.
pub fn trace_whole_binary<F: WholeBinary>() -> Graph {
    recorded(Width::F64, || F::at(input(0), input(1)).0)
}

/// The graph of a function of three integers.
pub fn trace_whole_ternary<F: IntegerTernary>() -> Graph {
    recorded(Width::F64, || F::at(input(0), input(1), input(2)).0)
}

/// The graph of a relation between two integers; its result is a mask.
pub fn trace_whole_compare<F: IntegerCompare>() -> Graph {
    recorded(Width::F64, || F::at(input(0), input(1)).0)
}

fn input(n: u32) -> TracedWhole {
    TracedWhole(record(Node::BitsInput(n)))
}

/// With the sign turned, so that unsigned order is signed order.
fn ordered(x: TracedWhole) -> Id {
    let sign = record(Node::BitsConstant(SIGN));
    record(Node::BitsXor(x.0, sign))
}

impl Whole for TracedWhole {
    type Mask = TracedMask;

    fn constant(value: i64) -> Self {
        TracedWhole(record(Node::BitsConstant(value as u64)))
    }
    fn wrapping_add(self, other: Self) -> Self {
        TracedWhole(record(Node::BitsAdd(self.0, other.0)))
    }
    fn wrapping_sub(self, other: Self) -> Self {
        TracedWhole(record(Node::BitsSub(self.0, other.0)))
    }
    fn wrapping_mul(self, other: Self) -> Self {
        TracedWhole(record(Node::BitsMul(self.0, other.0)))
    }
    fn and(self, other: Self) -> Self {
        TracedWhole(record(Node::BitsAnd(self.0, other.0)))
    }
    fn or(self, other: Self) -> Self {
        TracedWhole(record(Node::BitsOr(self.0, other.0)))
    }
    fn xor(self, other: Self) -> Self {
        TracedWhole(record(Node::BitsXor(self.0, other.0)))
    }
    fn shift_left(self, n: Self) -> Self {
        TracedWhole(record(Node::ShiftLeftBy(self.0, n.0)))
    }
    fn shift_right(self, n: Self) -> Self {
        TracedWhole(record(Node::ShiftRightBy(self.0, n.0)))
    }
    fn quotient(self, other: Self) -> Self {
        TracedWhole(record(Node::BitsQuotient(self.0, other.0)))
    }
    fn less(self, other: Self) -> TracedMask {
        TracedMask(record(Node::BitsLess(ordered(self), ordered(other))))
    }
    fn equal(self, other: Self) -> TracedMask {
        TracedMask(record(Node::BitsEqual(self.0, other.0)))
    }
    fn select(mask: TracedMask, yes: Self, no: Self) -> Self {
        TracedWhole(record(Node::BitsSelect(mask.0, yes.0, no.0)))
    }
    fn is_surely_zero(self) -> bool {
        false
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::function::{
        Abs, Add, Choose, Clip, IntegerBinary, Less, Maximum, Minimum, Mul, Relu, Sign, Sub,
    };
    use crate::remainder::{FloorDivide, IntegerPower, Mod, Shift};

    const NUMBERS: [i64; 8] = [i64::MIN, i64::MIN + 1, -7, -1, 0, 1, 8, i64::MAX];

    #[test]
    fn graphs_of_integers_evaluate_to_the_scalar_bits() {
        let one = |graph: &Graph, x: i64| graph.evaluate(&[x as u64]) as i64;
        let two = |graph: &Graph, a: i64, b: i64| graph.evaluate(&[a as u64, b as u64]) as i64;
        macro_rules! unaries {
            ($($f:ident),*) => {
                for a in NUMBERS {
                    $(assert_eq!(one(&trace_whole_unary::<$f>(), a), <$f as IntegerUnary>::at(a));)*
                }
            };
        }
        macro_rules! binaries {
            ($($f:ident),*) => {
                for (a, b) in NUMBERS.iter().flat_map(|&a| NUMBERS.map(|b| (a, b))) {
                    $(assert_eq!(
                        two(&trace_whole_binary::<$f>(), a, b),
                        <$f as IntegerBinary>::at(a, b)
                    );)*
                }
            };
        }
        unaries!(Abs, Sign, Relu);
        binaries!(Add, Sub, Mul, Maximum, Minimum, Shift, Mod, FloorDivide, IntegerPower);
        for (a, b) in NUMBERS.iter().flat_map(|&a| NUMBERS.map(|b| (a, b))) {
            assert_eq!(two(&trace_whole_compare::<Less>(), a, b) != 0, a < b);
            let arguments = [a, b, 3].map(|x| x as u64);
            let clip = trace_whole_ternary::<Clip>().evaluate(&arguments) as i64;
            assert_eq!(clip, <Clip as IntegerTernary>::at(a, b, 3));
            let chosen = trace_whole_ternary::<Choose>().evaluate(&arguments) as i64;
            assert_eq!(chosen, if a != 0 { b } else { 3 });
        }
    }
}
