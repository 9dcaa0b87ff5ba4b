//! Atomic operations on global and shared memory, relaxed as WGSL's are. Of integers alone: no order
//! of atomic float additions is the definition's.

use super::layout::{bits, class, suffix};
use super::memory::{Place, Space, address};
use super::statement::{Frame, Value};
use super::text::{Class, Operand};
use super::{Failed, Outcome, Writer};
use naga::{AtomicFunction as Atomic, Expression, Handle, Scalar, ScalarKind};

impl<'m> Writer<'m> {
    pub(super) fn atomic(
        &mut self,
        frame: &mut Frame<'m>,
        pointer: Handle<Expression>,
        fun: &Atomic,
        value: Handle<Expression>,
        result: Option<Handle<Expression>>,
    ) -> Outcome<()> {
        let scalar = self.scalar_type(frame, value)?;
        let place = self.place_of(frame, pointer)?;
        let value = self.scalar_of(frame, value)?;
        let mut value = self.text.held(value);
        let Place::Memory { space, .. } = &place else {
            return Err(Failed("an atomic variable in registers".into()));
        };
        let scope = if *space == Space::Global { "gpu.global" } else { "cta.shared" };
        if let Atomic::Exchange { compare: Some(compare) } = *fun {
            let result = result.ok_or_else(|| Failed("an exchange without a result".into()))?;
            return self.compare_exchange(frame, scope, &place, [compare, result], value);
        }
        if *fun == Atomic::Subtract {
            let opcode = format!("neg.s{}", 8 * scalar.width);
            value = self.text.make(class(scalar)?, &opcode, &[value]);
        }
        let operation = operation(fun, scalar)?;
        let old = self.text.register(class(scalar)?);
        let at = address(&place, 0);
        self.text.line(format_args!("atom.relaxed.{scope}.{operation} {old}, {at}, {value}"));
        if let Some(result) = result {
            frame.values[result.index()] = Some(Value::Scalars([old].into()));
        }
        Ok(())
    }

    /// The old value, and whether it was the expected one.
    fn compare_exchange(
        &mut self,
        frame: &mut Frame<'m>,
        scope: &str,
        place: &Place,
        [compare, result]: [Handle<Expression>; 2],
        value: Operand,
    ) -> Outcome<()> {
        let scalar = self.scalar_type(frame, compare)?;
        let compare = self.scalar_of(frame, compare)?;
        let compare = self.text.held(compare);
        let old = self.text.register(class(scalar)?);
        let (kind, at) = (bits(scalar), address(place, 0));
        self.text
            .line(format_args!("atom.relaxed.{scope}.cas.{kind} {old}, {at}, {compare}, {value}"));
        let opcode = format!("setp.eq.{}", suffix(scalar));
        let same = self.text.make(Class::Predicate, &opcode, &[old, compare]);
        frame.values[result.index()] = Some(Value::Scalars([old, same].into()));
        Ok(())
    }
}

/// `add.u32`; sums of 64 bits have no signed form, and exchanges and masks no sign at all.
fn operation(fun: &Atomic, scalar: Scalar) -> Outcome<String> {
    if scalar.kind == ScalarKind::Float {
        return Err(Failed("no atomic operations on floats".into()));
    }
    let untyped = bits(scalar);
    Ok(match fun {
        Atomic::Add | Atomic::Subtract => format!("add.u{}", 8 * scalar.width),
        Atomic::And => format!("and.{untyped}"),
        Atomic::InclusiveOr => format!("or.{untyped}"),
        Atomic::ExclusiveOr => format!("xor.{untyped}"),
        Atomic::Min => format!("min.{}", suffix(scalar)),
        Atomic::Max => format!("max.{}", suffix(scalar)),
        Atomic::Exchange { .. } => format!("exch.{untyped}"),
    })
}
