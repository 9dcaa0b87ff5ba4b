//! Operators on scalars. Integer constants are folded, so that a launch's parameters are read at
//! places that the text knows; floats never are.

use super::layout::{bits, class, suffix};
use super::statement::Frame;
use super::text::{Class, Operand};
use super::{Failed, Outcome, Writer};
use naga::{
    BinaryOperator as Op, Expression, Handle, RelationalFunction, Scalar, ScalarKind, TypeInner,
    UnaryOperator,
};

impl<'m> Writer<'m> {
    pub(super) fn binary_of(
        &mut self,
        frame: &mut Frame<'m>,
        op: Op,
        left: Handle<Expression>,
        right: Handle<Expression>,
    ) -> Outcome<Vec<Operand>> {
        let scalar = self.scalar_type(frame, left)?;
        if let TypeInner::Matrix { .. } = frame.inner(self, right) {
            return Err(Failed("no arithmetic of matrices".into()));
        }
        let a = self.scalars_of(frame, left)?;
        let b = self.scalars_of(frame, right)?;
        // A number beside a vector stands for all its components.
        let one = |values: &[Operand], i: usize| values[i.min(values.len() - 1)];
        let count = a.len().max(b.len());
        (0..count).map(|i| self.binary(op, scalar, one(&a, i), one(&b, i))).collect()
    }

    /// One operation; for shifts `scalar` is the type of what is shifted.
    pub(super) fn binary(
        &mut self,
        op: Op,
        scalar: Scalar,
        a: Operand,
        b: Operand,
    ) -> Outcome<Operand> {
        if scalar.kind != ScalarKind::Float
            && let Some(folded) = folded(op, scalar, a, b)
        {
            return Ok(folded);
        }
        if let Some(relation) = relation(op, scalar.kind) {
            return Ok(self.compared(relation, scalar, a, b));
        }
        match scalar.kind {
            ScalarKind::Float => self.float(op, scalar, a, b),
            ScalarKind::Bool => {
                let opcode = match op {
                    Op::And | Op::LogicalAnd => "and.pred",
                    Op::InclusiveOr | Op::LogicalOr => "or.pred",
                    other => return Err(Failed(format!("no {other:?} of truths"))),
                };
                Ok(self.text.make(Class::Predicate, opcode, &[a, b]))
            }
            _ => self.integer(op, scalar, a, b),
        }
    }

    fn compared(&mut self, relation: &str, scalar: Scalar, a: Operand, b: Operand) -> Operand {
        if scalar.kind == ScalarKind::Bool {
            // Equal truths: PTX compares none.
            let differ = self.text.make(Class::Predicate, "xor.pred", &[a, b]);
            return match relation {
                "ne" => differ,
                _ => self.text.make(Class::Predicate, "not.pred", &[differ]),
            };
        }
        let opcode = format!("setp.{relation}.{}", suffix(scalar));
        self.text.make(Class::Predicate, &opcode, &[a, b])
    }

    fn float(&mut self, op: Op, scalar: Scalar, a: Operand, b: Operand) -> Outcome<Operand> {
        let name = match op {
            Op::Add => "add",
            Op::Subtract => "sub",
            Op::Multiply => "mul",
            Op::Divide => "div",
            other => return Err(Failed(format!("no {other:?} of floats"))),
        };
        if scalar.width == 2 && op == Op::Divide {
            // Rounding a quotient of halves twice is harmless: 24 bits are more than 2 * 11 + 1.
            return Ok(self.by_singles("div.rn.f32", &[a, b]));
        }
        let opcode = format!("{name}.rn.{}", suffix(scalar));
        Ok(self.text.make(class(scalar)?, &opcode, &[a, b]))
    }

    /// An operation on halves that PTX has for singles alone.
    pub(super) fn by_singles(&mut self, opcode: &str, halves: &[Operand]) -> Operand {
        let singles: Vec<Operand> =
            halves.iter().map(|h| self.text.make(Class::F32, "cvt.f32.f16", &[*h])).collect();
        let result = self.text.make(Class::F32, opcode, &singles);
        self.text.make(Class::B16, "cvt.rn.f16.f32", &[result])
    }

    fn integer(&mut self, op: Op, scalar: Scalar, a: Operand, b: Operand) -> Outcome<Operand> {
        let class = class(scalar)?;
        // Signs make no difference but where the type is named.
        let signed = format!("s{}", 8 * scalar.width);
        let opcode = match op {
            Op::Add => format!("add.{signed}"),
            Op::Subtract => format!("sub.{signed}"),
            Op::Multiply => format!("mul.lo.{signed}"),
            Op::And => format!("and.{}", bits(scalar)),
            Op::InclusiveOr => format!("or.{}", bits(scalar)),
            Op::ExclusiveOr => format!("xor.{}", bits(scalar)),
            Op::Divide | Op::Modulo => {
                let divisor = self.divisor(scalar, a, b);
                let name = if op == Op::Divide { "div" } else { "rem" };
                let opcode = format!("{name}.{}", suffix(scalar));
                return Ok(self.text.make(class, &opcode, &[a, divisor]));
            }
            Op::ShiftLeft | Op::ShiftRight => {
                let amount = self.amount(scalar, b);
                let opcode = match op {
                    Op::ShiftLeft => format!("shl.{}", bits(scalar)),
                    _ => format!("shr.{}", suffix(scalar)),
                };
                return Ok(self.text.make(class, &opcode, &[a, amount]));
            }
            other => return Err(Failed(format!("no {other:?} of integers"))),
        };
        Ok(self.text.make(class, &opcode, &[a, b]))
    }

    /// What to divide by: 1 where the quotient is the dividend by WGSL's rules, for a divisor of zero
    /// and for the least integer by -1.
    fn divisor(&mut self, scalar: Scalar, a: Operand, b: Operand) -> Operand {
        let class = b.class();
        let constant = |bits: u64| Operand::Constant(class, bits & mask(scalar));
        if b.constant().is_some_and(|b| b != 0 && b != mask(scalar)) {
            return b;
        }
        if scalar.kind == ScalarKind::Uint {
            let opcode = format!("max.{}", suffix(scalar));
            return self.text.make(class, &opcode, &[b, constant(1)]);
        }
        let equal = format!("setp.eq.{}", suffix(scalar));
        let zero = self.text.make(Class::Predicate, &equal, &[b, constant(0)]);
        let minus = self.text.make(Class::Predicate, &equal, &[b, constant(u64::MAX)]);
        let least = constant(1 << (8 * u32::from(scalar.width) - 1));
        let least = self.text.make(Class::Predicate, &equal, &[a, least]);
        let both = self.text.make(Class::Predicate, "and.pred", &[minus, least]);
        let either = self.text.make(Class::Predicate, "or.pred", &[zero, both]);
        self.select(either, constant(1), b)
    }

    /// A shift's amount, modulo the width: PTX's own shifts take any amount as it is.
    fn amount(&mut self, scalar: Scalar, amount: Operand) -> Operand {
        let most = 8 * u32::from(scalar.width) - 1;
        match amount.constant() {
            Some(amount) => Operand::word(amount as u32 & most),
            None => self.text.make(Class::B32, "and.b32", &[amount, Operand::word(most)]),
        }
    }

    pub(super) fn unary(
        &mut self,
        op: UnaryOperator,
        scalar: Scalar,
        a: Operand,
    ) -> Outcome<Operand> {
        let class = class(scalar)?;
        if let Operand::Constant(class, value) = a
            && scalar.kind != ScalarKind::Float
        {
            let value = match op {
                UnaryOperator::Negate => value.wrapping_neg() & mask(scalar),
                UnaryOperator::BitwiseNot => !value & mask(scalar),
                UnaryOperator::LogicalNot => value ^ 1,
            };
            return Ok(Operand::Constant(class, value));
        }
        Ok(match op {
            UnaryOperator::Negate if scalar == Scalar::F16 => {
                self.text.make(class, "xor.b16", &[a, HALF_SIGN])
            }
            UnaryOperator::Negate => {
                self.text.make(class, &format!("neg.{}", suffix(scalar)), &[a])
            }
            UnaryOperator::LogicalNot => self.text.make(class, "not.pred", &[a]),
            UnaryOperator::BitwiseNot => {
                self.text.make(class, &format!("not.{}", bits(scalar)), &[a])
            }
        })
    }

    /// `accept` where a predicate holds.
    pub(super) fn select(&mut self, holds: Operand, accept: Operand, reject: Operand) -> Operand {
        if let Some(truth) = holds.constant() {
            return if truth != 0 { accept } else { reject };
        }
        let class = accept.class();
        if class == Class::Predicate {
            let [accept, reject] = [accept, reject].map(|operand| self.text.held(operand));
            let yes = self.text.make(class, "and.pred", &[holds, accept]);
            let not = self.text.make(class, "not.pred", &[holds]);
            let no = self.text.make(class, "and.pred", &[not, reject]);
            return self.text.make(class, "or.pred", &[yes, no]);
        }
        let opcode = match class {
            Class::F32 => "selp.f32",
            Class::F64 => "selp.f64",
            class => {
                return self.text.make(
                    class,
                    &format!("selp.{}", class.bits()),
                    &[accept, reject, holds],
                );
            }
        };
        self.text.make(class, opcode, &[accept, reject, holds])
    }

    /// 1 where a predicate holds, else 0.
    pub(super) fn truth_as_word(&mut self, truth: Operand) -> Operand {
        self.select(truth, Operand::word(1), Operand::word(0))
    }

    pub(super) fn relational(
        &mut self,
        fun: RelationalFunction,
        values: &[Operand],
    ) -> Outcome<Operand> {
        let op = match fun {
            RelationalFunction::All => Op::And,
            RelationalFunction::Any => Op::InclusiveOr,
            other => return Err(Failed(format!("no {other:?}"))),
        };
        let mut rest = values.iter();
        let mut all = *rest.next().ok_or_else(|| Failed("an empty value".into()))?;
        for value in rest {
            all = self.binary(op, Scalar::BOOL, all, *value)?;
        }
        Ok(all)
    }
}

/// The sign of a half. A constant of 32 bits: instructions on halves take its low 16.
pub(super) const HALF_SIGN: Operand = Operand::Constant(Class::B32, 0x8000);

/// All bits of a type.
pub(super) fn mask(scalar: Scalar) -> u64 {
    u64::MAX >> (64 - 8 * u32::from(scalar.width))
}

/// PTX's name of a comparison. Only `!=` of floats holds for NaN.
fn relation(op: Op, kind: ScalarKind) -> Option<&'static str> {
    Some(match op {
        Op::Equal => "eq",
        Op::NotEqual if kind == ScalarKind::Float => "neu",
        Op::NotEqual => "ne",
        Op::Less => "lt",
        Op::LessEqual => "le",
        Op::Greater => "gt",
        Op::GreaterEqual => "ge",
        _ => return None,
    })
}

/// The result of an operation on two constant integers without a sign, where it is one that indices
/// are made of.
fn folded(op: Op, scalar: Scalar, a: Operand, b: Operand) -> Option<Operand> {
    let (Operand::Constant(class, x), Operand::Constant(_, y)) = (a, b) else { return None };
    let most = 8 * u64::from(scalar.width) - 1;
    let value = match op {
        Op::Add => x.wrapping_add(y),
        Op::Subtract => x.wrapping_sub(y),
        Op::Multiply => x.wrapping_mul(y),
        Op::And | Op::LogicalAnd => x & y,
        Op::InclusiveOr | Op::LogicalOr => x | y,
        Op::ExclusiveOr => x ^ y,
        Op::ShiftLeft => x << (y & most),
        Op::ShiftRight if scalar.kind == ScalarKind::Uint => x >> (y & most),
        _ => return None,
    };
    let mask = if scalar.kind == ScalarKind::Bool { 1 } else { mask(scalar) };
    Some(Operand::Constant(class, value & mask))
}
