//! The record of one definition at one width: a list of nodes in evaluation order, from which
//! crate `kernel` writes shader text. A node that occurs twice is stored once, and nodes that the
//! outputs do not need are dropped. `evaluate` runs a graph and is the proof that a trace means
//! what the scalar text means. How a graph comes about is in `trace`.

use crate::real::{Bits, Real, Width};
use crate::remainder::Remainder;
use core::num::Wrapping;

/// The index of a node in its graph; operands always have a smaller one than their user.
pub type Id = u32;

/// What a node's value is.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Kind {
    /// A float of the graph's width.
    Real,
    /// An unsigned integer of the graph's width.
    Bits,
    /// A truth value.
    Mask,
}

/// One operation. Operand order is the order of the fields.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
#[allow(missing_docs)] // Each variant is the method of `Real`, `Bits` or `Mask` of that name.
pub enum Node {
    /// The n-th argument of the definition, a real.
    Input(u32),
    /// A real with these bits (low 32 for F32).
    RealConstant(u64),
    BitsConstant(u64),
    MaskConstant(bool),

    Add(Id, Id),
    Sub(Id, Id),
    Mul(Id, Id),
    Div(Id, Id),
    Negate(Id),
    Sqrt(Id),
    Abs(Id),
    /// Real to bits.
    ToBits(Id),
    /// Bits to real.
    FromBits(Id),
    RealLess(Id, Id),
    RealLessEqual(Id, Id),
    RealEqual(Id, Id),
    /// (mask, yes, no).
    RealSelect(Id, Id, Id),

    BitsAdd(Id, Id),
    BitsSub(Id, Id),
    BitsMul(Id, Id),
    BitsAnd(Id, Id),
    BitsOr(Id, Id),
    BitsXor(Id, Id),
    BitsNot(Id),
    ShiftLeft(Id, u32),
    ShiftRight(Id, u32),
    ShiftRightSigned(Id, u32),
    ShiftLeftBy(Id, Id),
    ShiftRightBy(Id, Id),
    BitsLess(Id, Id),
    BitsEqual(Id, Id),
    /// (mask, yes, no).
    BitsSelect(Id, Id, Id),
    HighProduct(Id, Id),
    /// The table's length is a power of two; the index is reduced modulo it.
    Lookup(Id, &'static [u64]),

    MaskAnd(Id, Id),
    MaskOr(Id, Id),
    MaskNot(Id),
    /// The n-th argument of a definition of integers.
    BitsInput(u32),
    /// Without a sign; 0 of a zero divisor.
    BitsQuotient(Id, Id),
    /// Of reals, exact (`Remainder`).
    Remainder(Id, Id),
}

impl Node {
    /// The operands in order: none, one, two or three.
    pub fn operands(&self) -> impl Iterator<Item = Id> + use<> {
        use Node::*;
        let (count, list) = match *self {
            Input(_) | BitsInput(_) | RealConstant(_) | BitsConstant(_) | MaskConstant(_) => {
                (0, [0; 3])
            }
            Negate(a)
            | Sqrt(a)
            | Abs(a)
            | ToBits(a)
            | FromBits(a)
            | BitsNot(a)
            | MaskNot(a)
            | ShiftLeft(a, _)
            | ShiftRight(a, _)
            | ShiftRightSigned(a, _)
            | Lookup(a, _) => (1, [a, 0, 0]),
            Add(a, b)
            | Sub(a, b)
            | Mul(a, b)
            | Div(a, b)
            | Remainder(a, b)
            | RealLess(a, b)
            | RealLessEqual(a, b)
            | RealEqual(a, b)
            | BitsAdd(a, b)
            | BitsSub(a, b)
            | BitsMul(a, b)
            | BitsQuotient(a, b)
            | BitsAnd(a, b)
            | BitsOr(a, b)
            | BitsXor(a, b)
            | ShiftLeftBy(a, b)
            | ShiftRightBy(a, b)
            | BitsLess(a, b)
            | BitsEqual(a, b)
            | HighProduct(a, b)
            | MaskAnd(a, b)
            | MaskOr(a, b) => (2, [a, b, 0]),
            RealSelect(m, a, b) | BitsSelect(m, a, b) => (3, [m, a, b]),
        };
        list.into_iter().take(count)
    }

    /// What the node's value is.
    pub fn kind(&self) -> Kind {
        use Node::*;
        match self {
            Input(_) | RealConstant(_) | Add(..) | Sub(..) | Mul(..) | Div(..) | Remainder(..)
            | Negate(_) | Sqrt(_) | Abs(_) | FromBits(_) | RealSelect(..) => Kind::Real,
            MaskConstant(_) | RealLess(..) | RealLessEqual(..) | RealEqual(..) | BitsLess(..)
            | BitsEqual(..) | MaskAnd(..) | MaskOr(..) | MaskNot(_) => Kind::Mask,
            BitsInput(_) | BitsConstant(_) | ToBits(_) | BitsAdd(..) | BitsSub(..)
            | BitsMul(..) | BitsQuotient(..) | BitsAnd(..) | BitsOr(..) | BitsXor(..)
            | BitsNot(_) | ShiftLeft(..) | ShiftRight(..) | ShiftRightSigned(..)
            | ShiftLeftBy(..) | ShiftRightBy(..) | BitsSelect(..) | HighProduct(..)
            | Lookup(..) => Kind::Bits,
        }
    }

    /// The same node with each operand replaced.
    pub(crate) fn map(self, to: impl Fn(Id) -> Id) -> Node {
        use Node::*;
        match self {
            Input(_) | BitsInput(_) | RealConstant(_) | BitsConstant(_) | MaskConstant(_) => self,
            Negate(a) => Negate(to(a)),
            Sqrt(a) => Sqrt(to(a)),
            Abs(a) => Abs(to(a)),
            ToBits(a) => ToBits(to(a)),
            FromBits(a) => FromBits(to(a)),
            BitsNot(a) => BitsNot(to(a)),
            MaskNot(a) => MaskNot(to(a)),
            ShiftLeft(a, n) => ShiftLeft(to(a), n),
            ShiftRight(a, n) => ShiftRight(to(a), n),
            ShiftRightSigned(a, n) => ShiftRightSigned(to(a), n),
            Lookup(a, table) => Lookup(to(a), table),
            Add(a, b) => Add(to(a), to(b)),
            Sub(a, b) => Sub(to(a), to(b)),
            Mul(a, b) => Mul(to(a), to(b)),
            Div(a, b) => Div(to(a), to(b)),
            Remainder(a, b) => Remainder(to(a), to(b)),
            RealLess(a, b) => RealLess(to(a), to(b)),
            RealLessEqual(a, b) => RealLessEqual(to(a), to(b)),
            RealEqual(a, b) => RealEqual(to(a), to(b)),
            BitsAdd(a, b) => BitsAdd(to(a), to(b)),
            BitsSub(a, b) => BitsSub(to(a), to(b)),
            BitsMul(a, b) => BitsMul(to(a), to(b)),
            BitsQuotient(a, b) => BitsQuotient(to(a), to(b)),
            BitsAnd(a, b) => BitsAnd(to(a), to(b)),
            BitsOr(a, b) => BitsOr(to(a), to(b)),
            BitsXor(a, b) => BitsXor(to(a), to(b)),
            ShiftLeftBy(a, b) => ShiftLeftBy(to(a), to(b)),
            ShiftRightBy(a, b) => ShiftRightBy(to(a), to(b)),
            BitsLess(a, b) => BitsLess(to(a), to(b)),
            BitsEqual(a, b) => BitsEqual(to(a), to(b)),
            HighProduct(a, b) => HighProduct(to(a), to(b)),
            MaskAnd(a, b) => MaskAnd(to(a), to(b)),
            MaskOr(a, b) => MaskOr(to(a), to(b)),
            RealSelect(m, a, b) => RealSelect(to(m), to(a), to(b)),
            BitsSelect(m, a, b) => BitsSelect(to(m), to(a), to(b)),
        }
    }
}

/// A definition as nodes.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Graph {
    /// The width of its reals and bits.
    pub width: Width,
    /// The nodes, operands before users.
    pub nodes: Vec<Node>,
    /// The nodes that are the results, in order; most definitions have one.
    pub outputs: Vec<Id>,
}

impl Graph {
    /// What a node's value is.
    pub fn kind(&self, id: Id) -> Kind {
        self.nodes[id as usize].kind()
    }

    /// The first output.
    pub fn result(&self) -> Id {
        self.outputs[0]
    }

    /// Whether it is a definition of integers: its arguments are bits of 64.
    pub fn is_whole(&self) -> bool {
        self.nodes.iter().any(|node| matches!(node, Node::BitsInput(_)))
    }

    /// Keeps the nodes that the outputs need, in their order.
    pub(crate) fn pruned(self) -> Graph {
        let mut needed = vec![false; self.nodes.len()];
        for &output in &self.outputs {
            needed[output as usize] = true;
        }
        for (index, node) in self.nodes.iter().enumerate().rev() {
            if needed[index] {
                node.operands().for_each(|operand| needed[operand as usize] = true);
            }
        }
        let mut new_id = vec![0; self.nodes.len()];
        let mut nodes = Vec::new();
        for (index, node) in self.nodes.into_iter().enumerate() {
            if needed[index] {
                new_id[index] = nodes.len() as Id;
                nodes.push(node.map(|id| new_id[id as usize]));
            }
        }
        let outputs = self.outputs.iter().map(|&id| new_id[id as usize]).collect();
        Graph { width: self.width, nodes, outputs }
    }

    /// The bits of the first output (0 or 1 for a mask) for arguments given by their bits; a
    /// missing argument counts as +0.0.
    pub fn evaluate(&self, arguments: &[u64]) -> u64 {
        match self.width {
            Width::F32 => {
                self.evaluate_at::<f32>(arguments, |b| Wrapping(b as u32), |b| b.0 as u64)
            }
            Width::F64 => self.evaluate_at::<f64>(arguments, Wrapping, |b| b.0),
        }
    }

    fn evaluate_at<R: Remainder + Real<Mask = bool>>(
        &self,
        arguments: &[u64],
        load: impl Fn(u64) -> R::Bits,
        store: impl Fn(R::Bits) -> u64,
    ) -> u64 {
        let mut values: Vec<u64> = Vec::with_capacity(self.nodes.len());
        for node in &self.nodes {
            let bits = |id: Id| load(values[id as usize]);
            let real = |id: Id| R::from_bits(bits(id));
            let mask = |id: Id| values[id as usize] != 0;
            let value = match *node {
                Node::Input(n) | Node::BitsInput(n) => {
                    arguments.get(n as usize).copied().unwrap_or(0) & self.width.mask()
                }
                Node::BitsQuotient(a, b) => {
                    values[a as usize].checked_div(values[b as usize]).unwrap_or(0)
                }
                _ => match node.kind() {
                    Kind::Real => store(real_value(node, real, bits, mask).bits()),
                    Kind::Bits => store(bits_value(node, real, bits, mask)),
                    Kind::Mask => mask_value(node, real, bits, mask) as u64,
                },
            };
            values.push(value);
        }
        values[self.result() as usize]
    }
}

fn real_value<R: Remainder + Real<Mask = bool>>(
    node: &Node,
    real: impl Fn(Id) -> R,
    bits: impl Fn(Id) -> R::Bits,
    mask: impl Fn(Id) -> bool,
) -> R {
    match *node {
        Node::RealConstant(value) => R::from_bits(R::Bits::constant(value)),
        Node::Add(a, b) => real(a) + real(b),
        Node::Sub(a, b) => real(a) - real(b),
        Node::Mul(a, b) => real(a) * real(b),
        Node::Div(a, b) => real(a) / real(b),
        Node::Remainder(a, b) => real(a).remainder(real(b)),
        Node::Negate(a) => -real(a),
        Node::Sqrt(a) => real(a).sqrt(),
        Node::Abs(a) => real(a).abs(),
        Node::FromBits(a) => R::from_bits(bits(a)),
        Node::RealSelect(m, a, b) => R::select(mask(m), real(a), real(b)),
        _ => unreachable!("{node:?} is not a real"),
    }
}

fn bits_value<R: Real<Mask = bool>>(
    node: &Node,
    real: impl Fn(Id) -> R,
    bits: impl Fn(Id) -> R::Bits,
    mask: impl Fn(Id) -> bool,
) -> R::Bits {
    match *node {
        Node::BitsConstant(value) => R::Bits::constant(value),
        Node::ToBits(a) => real(a).bits(),
        Node::BitsAdd(a, b) => bits(a) + bits(b),
        Node::BitsSub(a, b) => bits(a) - bits(b),
        Node::BitsMul(a, b) => bits(a) * bits(b),
        Node::BitsAnd(a, b) => bits(a) & bits(b),
        Node::BitsOr(a, b) => bits(a) | bits(b),
        Node::BitsXor(a, b) => bits(a) ^ bits(b),
        Node::BitsNot(a) => !bits(a),
        Node::ShiftLeft(a, n) => bits(a).shift_left(n),
        Node::ShiftRight(a, n) => bits(a).shift_right(n),
        Node::ShiftRightSigned(a, n) => bits(a).shift_right_signed(n),
        Node::ShiftLeftBy(a, n) => bits(a).shift_left_by(bits(n)),
        Node::ShiftRightBy(a, n) => bits(a).shift_right_by(bits(n)),
        Node::BitsSelect(m, a, b) => R::Bits::select(mask(m), bits(a), bits(b)),
        Node::HighProduct(a, b) => bits(a).high_product(bits(b)),
        Node::Lookup(a, table) => bits(a).lookup(table),
        _ => unreachable!("{node:?} is not bits"),
    }
}

fn mask_value<R: Real<Mask = bool>>(
    node: &Node,
    real: impl Fn(Id) -> R,
    bits: impl Fn(Id) -> R::Bits,
    mask: impl Fn(Id) -> bool,
) -> bool {
    match *node {
        Node::MaskConstant(value) => value,
        Node::RealLess(a, b) => real(a).less(real(b)),
        Node::RealLessEqual(a, b) => real(a).less_equal(real(b)),
        Node::RealEqual(a, b) => real(a).equal(real(b)),
        Node::BitsLess(a, b) => bits(a).less(bits(b)),
        Node::BitsEqual(a, b) => bits(a).equal(bits(b)),
        Node::MaskAnd(a, b) => mask(a) && mask(b),
        Node::MaskOr(a, b) => mask(a) || mask(b),
        Node::MaskNot(a) => !mask(a),
        _ => unreachable!("{node:?} is not a mask"),
    }
}
