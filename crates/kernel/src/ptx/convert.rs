//! Conversions between scalar types. Floats become integers towards zero and clamped to the nearest
//! value that both types have, NaN as 0; everything else is rounded once to nearest, ties to even.

use super::arithmetic::mask;
use super::layout::{class, suffix};
use super::text::{Class, Operand};
use super::{Outcome, Writer};
use naga::{Scalar, ScalarKind as Kind};

impl Writer<'_> {
    pub(super) fn converted(
        &mut self,
        value: Operand,
        from: Scalar,
        to: Scalar,
    ) -> Outcome<Operand> {
        if from == to {
            return Ok(value);
        }
        match (from.kind, to.kind) {
            (Kind::Bool, _) => self.of_truth(value, to),
            (_, Kind::Bool) => {
                let relation = if from.kind == Kind::Float { "neu" } else { "ne" };
                let zero = Operand::Constant(class(from)?, 0);
                let opcode = format!("setp.{relation}.{}", suffix(from));
                Ok(self.text.make(Class::Predicate, &opcode, &[value, zero]))
            }
            (Kind::Float, Kind::Float) => {
                let round = if to.width < from.width { ".rn" } else { "" };
                self.cvt(round, value, from, to)
            }
            (Kind::Float, _) => self.whole(value, from, to),
            (_, Kind::Float) => self.cvt(".rn", value, from, to),
            _ => self.resized(value, from, to),
        }
    }

    fn cvt(&mut self, round: &str, value: Operand, from: Scalar, to: Scalar) -> Outcome<Operand> {
        let value = self.text.held(value);
        let opcode = format!("cvt{round}.{}.{}", suffix(to), suffix(from));
        Ok(self.text.make(class(to)?, &opcode, &[value]))
    }

    /// 1 and 0 of a truth.
    fn of_truth(&mut self, value: Operand, to: Scalar) -> Outcome<Operand> {
        let class = class(to)?;
        let one = match class {
            Class::F64 => 1f64.to_bits(),
            Class::F32 => 1f32.to_bits().into(),
            Class::B16 => 0x3c00,
            _ => 1,
        };
        Ok(self.select(value, Operand::Constant(class, one), Operand::Constant(class, 0)))
    }

    /// Integers of another width or sign: the bits of the narrower one, extended by the sign that the
    /// operand's type has.
    fn resized(&mut self, value: Operand, from: Scalar, to: Scalar) -> Outcome<Operand> {
        if from.width == to.width {
            return Ok(value);
        }
        if let Operand::Constant(_, bits) = value {
            let wide = match (from.kind, from.width) {
                (Kind::Sint, 4) => bits as u32 as i32 as i64 as u64,
                _ => bits,
            };
            return Ok(Operand::Constant(class(to)?, wide & mask(to)));
        }
        let opcode = match (to.width, from.kind) {
            (8, Kind::Sint) => "cvt.s64.s32",
            (8, _) => "cvt.u64.u32",
            _ => "cvt.u32.u64",
        };
        Ok(self.text.make(class(to)?, opcode, &[value]))
    }

    fn whole(&mut self, value: Operand, from: Scalar, to: Scalar) -> Outcome<Operand> {
        let number = self.cvt(".rzi", value, from, to)?;
        let number = self.not_nan(number, value, from, to)?;
        // The conversion clamps to what the integer type has; where the float has less, so is the
        // result: the largest float below 2^31 is 2^31 - 128.
        let significand = match from.width {
            2 => 11,
            4 => 24,
            _ => 53,
        };
        let magnitude = 8 * u32::from(to.width) - u32::from(to.kind == Kind::Sint);
        if from.width == 2 || magnitude <= significand {
            return Ok(number);
        }
        let largest = (u64::MAX >> (64 - significand)) << (magnitude - significand);
        let largest = Operand::Constant(class(to)?, largest);
        Ok(self.text.make(class(to)?, &format!("min.{}", suffix(to)), &[number, largest]))
    }

    /// PTX gives 0 of NaN between 32 bits, and else the least or greatest integer.
    fn not_nan(
        &mut self,
        number: Operand,
        value: Operand,
        from: Scalar,
        to: Scalar,
    ) -> Outcome<Operand> {
        if from.width < 8 && to.width < 8 {
            return Ok(number);
        }
        let value = self.text.held(value);
        let opcode = format!("setp.num.{}", suffix(from));
        let numeric = self.text.make(Class::Predicate, &opcode, &[value, value]);
        Ok(self.select(numeric, number, Operand::Constant(class(to)?, 0)))
    }
}
