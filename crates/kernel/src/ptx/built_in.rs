//! WGSL's built-in functions that have one exact result: of floats absolute value, square root and
//! fused multiply-add; of integers all.

use super::arithmetic::mask;
use super::layout::{bits, class, suffix};
use super::text::{Class, Operand};
use super::{Failed, Outcome, Writer};
use naga::{BinaryOperator as Op, MathFunction as Math, Scalar, ScalarKind};
use std::rc::Rc;

impl Writer<'_> {
    pub(super) fn math(
        &mut self,
        fun: Math,
        scalar: Scalar,
        arguments: &[Rc<[Operand]>],
    ) -> Outcome<Vec<Operand>> {
        match fun {
            Math::Dot => return Ok(vec![self.dot(scalar, &arguments[0], &arguments[1])?]),
            Math::Dot4I8Packed | Math::Dot4U8Packed => {
                let kind = if fun == Math::Dot4I8Packed { "s32" } else { "u32" };
                let sources = [arguments[0][0], arguments[1][0], Operand::word(0)];
                let opcode = format!("dp4a.{kind}.{kind}");
                return Ok(vec![self.text.make(Class::B32, &opcode, &sources)]);
            }
            _ => {}
        }
        let count = arguments.first().map_or(0, |a| a.len());
        let mut results = Vec::new();
        for i in 0..count {
            // Places and counts of bits are numbers beside vectors.
            let one = |a: &Rc<[Operand]>| a[i.min(a.len() - 1)];
            let operands: Vec<Operand> = arguments.iter().map(one).collect();
            results.push(match scalar.kind {
                ScalarKind::Float => self.exact(fun, scalar, &operands)?,
                _ => self.of_integers(fun, scalar, &operands)?,
            });
        }
        Ok(results)
    }

    fn exact(&mut self, fun: Math, scalar: Scalar, x: &[Operand]) -> Outcome<Operand> {
        let class = class(scalar)?;
        let kind = suffix(scalar);
        Ok(match (fun, scalar.width) {
            (Math::Abs, 2) => self.text.make(class, "and.b16", &[x[0], Operand::word(0x7fff)]),
            (Math::Sqrt, 2) => self.by_singles("sqrt.rn.f32", x),
            (Math::Abs, _) => self.text.make(class, &format!("abs.{kind}"), x),
            (Math::Sqrt, _) => self.text.make(class, &format!("sqrt.rn.{kind}"), x),
            (Math::Fma, _) => self.text.make(class, &format!("fma.rn.{kind}"), x),
            _ => return Err(Failed(format!("no exact {fun:?} of floats"))),
        })
    }

    fn of_integers(&mut self, fun: Math, scalar: Scalar, x: &[Operand]) -> Outcome<Operand> {
        let class = class(scalar)?;
        let typed = |name: &str| format!("{name}.{}", suffix(scalar));
        Ok(match fun {
            Math::Abs if scalar.kind == ScalarKind::Uint => x[0],
            Math::Abs => self.text.make(class, &typed("abs"), x),
            Math::Min => self.text.make(class, &typed("min"), x),
            Math::Max => self.text.make(class, &typed("max"), x),
            Math::Clamp => {
                let low = self.text.make(class, &typed("max"), &[x[0], x[1]]);
                self.text.make(class, &typed("min"), &[low, x[2]])
            }
            Math::Sign => {
                let one = Operand::Constant(class, 1);
                let minus = Operand::Constant(class, mask(scalar));
                let low = self.text.make(class, &typed("max"), &[x[0], minus]);
                self.text.make(class, &typed("min"), &[low, one])
            }
            _ => return self.of_bits(fun, scalar, x),
        })
    }

    /// Counts, places and fields of bits.
    fn of_bits(&mut self, fun: Math, scalar: Scalar, x: &[Operand]) -> Outcome<Operand> {
        let class = class(scalar)?;
        Ok(match fun {
            Math::CountOneBits => self.counted("popc", scalar, x[0]),
            Math::CountLeadingZeros => self.counted("clz", scalar, x[0]),
            Math::CountTrailingZeros => {
                let reversed = self.text.make(class, &format!("brev.{}", bits(scalar)), x);
                self.counted("clz", scalar, reversed)
            }
            Math::ReverseBits => self.text.make(class, &format!("brev.{}", bits(scalar)), x),
            Math::FirstLeadingBit => self.first("bfind", suffix(scalar), scalar, x[0]),
            Math::FirstTrailingBit => {
                // Of the lowest set bit alone.
                let minus = self.text.make(class, &format!("neg.s{}", 8 * scalar.width), x);
                let lowest = self.binary(Op::And, scalar, x[0], minus)?;
                self.first("bfind", format!("u{}", 8 * scalar.width), scalar, lowest)
            }
            Math::ExtractBits => {
                let [at, count] = self.range(scalar, x[1], x[2]);
                self.text.make(class, &format!("bfe.{}", suffix(scalar)), &[x[0], at, count])
            }
            Math::InsertBits => {
                let [at, count] = self.range(scalar, x[2], x[3]);
                let opcode = format!("bfi.{}", bits(scalar));
                self.text.make(class, &opcode, &[x[1], x[0], at, count])
            }
            _ => return Err(Failed(format!("no built-in {fun:?} of integers"))),
        })
    }

    /// PTX counts bits of either width in 32 bits.
    fn counted(&mut self, name: &str, scalar: Scalar, x: Operand) -> Operand {
        let x = self.text.held(x);
        let count = self.text.make(Class::B32, &format!("{name}.{}", bits(scalar)), &[x]);
        self.as_wide(count, scalar, "cvt.u64.u32")
    }

    /// The place of a bit; all ones where there is none.
    fn first(&mut self, name: &str, kind: String, scalar: Scalar, x: Operand) -> Operand {
        let x = self.text.held(x);
        let place = self.text.make(Class::B32, &format!("{name}.{kind}"), &[x]);
        self.as_wide(place, scalar, "cvt.s64.s32")
    }

    fn as_wide(&mut self, x: Operand, scalar: Scalar, opcode: &str) -> Operand {
        match scalar.width {
            8 => self.text.make(Class::B64, opcode, &[x]),
            _ => x,
        }
    }

    /// First bit and count of bits, cut to the width.
    fn range(&mut self, scalar: Scalar, at: Operand, count: Operand) -> [Operand; 2] {
        let width = Operand::word(8 * u32::from(scalar.width));
        let at = self.text.make(Class::B32, "min.u32", &[at, width]);
        let rest = self.text.make(Class::B32, "sub.s32", &[width, at]);
        [at, self.text.make(Class::B32, "min.u32", &[count, rest])]
    }

    /// The sum of products, from the left.
    fn dot(&mut self, scalar: Scalar, a: &[Operand], b: &[Operand]) -> Outcome<Operand> {
        if scalar.kind == ScalarKind::Float {
            return Err(Failed("no exact Dot of floats".into()));
        }
        let mut sum = self.binary(Op::Multiply, scalar, a[0], b[0])?;
        for (x, y) in a.iter().zip(b).skip(1) {
            let product = self.binary(Op::Multiply, scalar, *x, *y)?;
            sum = self.binary(Op::Add, scalar, sum, product)?;
        }
        Ok(sum)
    }
}
