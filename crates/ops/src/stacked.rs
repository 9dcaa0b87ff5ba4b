//! Stacked products of transposed operands, members of a training step: `matmul` whose operand is
//! read through its strides, so that the transpose is never copied. The bits are those of `matmul`
//! of the transposed view.

use crate::arguments::{Arguments, Operand};
use crate::call::{Call, Prepared};
use crate::product::{RUNGS, beside, last_two, prepare_product, product_types};
use crate::record::{Exactness, Kind, Op, Parameter, required};
use crate::rowwise::MEMBER;
use crate::samples::{self, Sample};
use rung_array::Array;
use rung_base::{Error, ErrorKind, Result};
use smallvec::smallvec;

pub const OPS: &[Op] = &[
    Op {
        names: &["%la-matmul-nd"],
        doc: "The matrix product of stacks, which broadcast: every a times every b.",
        prepare: |op, arguments, _| prepare(op, arguments, [false, false]),
        samples: || stacks([false, false]),
        example: "(linalg::%la-matmul-nd #d(((1 2))) #d(((3) (4)))) => #d(((11.0)))",
        ..PRODUCT
    },
    Op {
        names: &["%la-matmul-ta"],
        doc: "The same with every a transposed: its rows are what is summed over.",
        prepare: |op, arguments, _| prepare(op, arguments, [true, false]),
        samples: || stacks([true, false]),
        example: "(linalg::%la-matmul-ta #d((1) (2)) #d((3) (4))) => #d((11.0))",
        ..PRODUCT
    },
    Op {
        names: &["%la-matmul-tb"],
        doc: "The same with every b transposed: its columns are what is summed over.",
        prepare: |op, arguments, _| prepare(op, arguments, [false, true]),
        samples: || stacks([false, true]),
        example: "(linalg::%la-matmul-tb #d((1 2)) #d((3 4))) => #d((11.0))",
        ..PRODUCT
    },
];

const PAIR: &[Parameter] = &[required("a", Kind::Array), required("b", Kind::Array)];

const PRODUCT: Op = Op {
    parameters: PAIR,
    result: "an array of the first float array's type (64-bit integers of integers)",
    exact: Exactness::LibraryOrder,
    rungs: RUNGS,
    beside: Some(beside),
    ..MEMBER
};

/// A view with the last two axes exchanged where asked.
fn view(a: &Array, turned: bool) -> Result<Array> {
    let mut order: Vec<usize> = (0..a.rank()).collect();
    if turned {
        order.swap(a.rank() - 1, a.rank() - 2);
    }
    a.transpose(&order)
}

fn prepare(op: &'static Op, mut arguments: Arguments, turned: [bool; 2]) -> Result<Prepared> {
    let (a, b) = (arguments.array(0)?, arguments.array(1)?);
    if a.rank() < 2 || b.rank() < 2 {
        let text = format!(
            "{} expects stacks of matrices: got shapes {} and {}",
            op.name(),
            a.shape(),
            b.shape()
        );
        return Err(Error::new(ErrorKind::Shape, text));
    }
    let (left, right) = (view(&a, turned[0])?, view(&b, turned[1])?);
    if last_two(&left).1 != last_two(&right).0 {
        let axis = |turned: bool, own, other| if turned { own } else { other };
        let text = format!(
            "{} inner dimensions differ: {} and {}, {} and {}",
            op.name(),
            a.shape(),
            b.shape(),
            axis(turned[0], last_two(&a).0, last_two(&a).1),
            axis(turned[1], last_two(&b).1, last_two(&b).0)
        );
        return Err(Error::new(ErrorKind::Shape, text));
    }
    let types = product_types(&[Operand::Array(left.clone()), Operand::Array(right.clone())]);
    let given = smallvec![a.shape().clone(), b.shape().clone()];
    Ok(match prepare_product(op, &left, &right, types)? {
        Prepared::Call(call) => Prepared::Call(Box::new(Call { given, ..*call })),
        other => other,
    })
}

/// Stacks that broadcast, blocks and their edges, and none.
fn stacks(turned: [bool; 2]) -> Vec<Sample> {
    const CASES: [(&[usize], &[usize], [usize; 3]); 10] = [
        (&[], &[], [1, 1, 1]),
        (&[0], &[1], [2, 3, 2]),
        (&[2], &[2], [3, 0, 2]),
        (&[2], &[2], [0, 3, 2]),
        (&[3], &[3], [5, 7, 4]),
        (&[2, 1], &[3], [3, 5, 2]),
        (&[2, 3], &[2, 3], [9, 17, 8]),
        (&[], &[4], [13, 33, 31]),
        (&[2], &[], [13, 513, 17]),
        (&[], &[], [70, 65, 66]),
    ];
    let operand = |stack: &[usize], mut matrix: [usize; 2], turned: bool, scale: f64| {
        if turned {
            matrix.reverse();
        }
        samples::spread(&[stack, &matrix].concat(), scale)
    };
    let sample = |(left, right, [m, k, n]): &(&[usize], &[usize], [usize; 3])| {
        vec![operand(left, [*m, *k], turned[0], 2.0), operand(right, [*k, *n], turned[1], 3.0)]
    };
    CASES.iter().map(sample).collect()
}
