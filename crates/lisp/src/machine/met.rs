//! What the instructions of a function have met where native code had guessed otherwise: the next
//! translation is made for it.

use crate::code::{Code, Op};
use crate::machine_code::{Guess, window_kind};
use crate::packed::Packed;
use crate::value::Value;

use super::Machine;

fn kind_of(value: &Value) -> Guess {
    match value {
        Value::Fixnum(_) => Guess::Fixnum,
        Value::Double(_) => Guess::Double,
        _ => Guess::Any,
    }
}

impl Machine {
    /// What holds a packed array now will do so wherever the function asks it for elements: noted
    /// at once, since a translation learns of one instruction at a time otherwise.
    pub(super) fn note_arrays(&self, code: &Code) {
        let mut met = code.native.met.borrow_mut();
        for (pc, op) in code.ops.iter().enumerate() {
            let (Op::Aref { array, .. } | Op::SetAref { array, .. }) = *op else { continue };
            let is_it = |local: &crate::code::Local| {
                let there = local.from as usize..=local.to as usize;
                local.register == array && there.contains(&pc) && there.contains(&self.pc)
            };
            if code.locals.iter().any(is_it) && !met.contains_key(&(pc as u32)) {
                match self.met_array(array) {
                    Guess::Any => {}
                    guess => drop(met.insert(pc as u32, guess)),
                }
            }
        }
    }

    /// The kind of numbers in a packed array whose window opens.
    fn met_array(&self, register: u16) -> Guess {
        let array = &self.stacks.values[self.base + register as usize];
        match array.as_packed().and_then(Packed::open) {
            Some(window_kind::DOUBLES) => Guess::Double,
            Some(_) => Guess::Fixnum,
            None => Guess::Any,
        }
    }

    /// What kinds of numbers an instruction meets now; none where it computes nothing.
    pub(super) fn met(&self, op: Op) -> Option<Guess> {
        let value = |register: u16| &self.stacks.values[self.base + register as usize];
        let kind = |register: u16| kind_of(value(register));
        let both = |a: u16, b: u16| match (kind(a), kind(b)) {
            (Guess::Any, _) | (_, Guess::Any) => Guess::Any,
            (Guess::Fixnum, Guess::Fixnum) => Guess::Fixnum,
            _ => Guess::Double,
        };
        let fits = |result: Option<i64>| if result.is_some() { Guess::Fixnum } else { Guess::Any };
        let fixnum = |register: u16| value(register).as_fixnum();
        // Two fixnums that stopped native code are too large, or their guess was another one.
        let exact = |a: u16, b: u16, apply: fn(i64, i64) -> Option<i64>| match both(a, b) {
            Guess::Fixnum => fits(fixnum(a).zip(fixnum(b)).and_then(|(x, y)| apply(x, y))),
            other => other,
        };
        Some(match op {
            Op::Add { a, b, .. } => exact(a, b, i64::checked_add),
            Op::Subtract { a, b, .. } => exact(a, b, i64::checked_sub),
            Op::Multiply { a, b, .. } => exact(a, b, i64::checked_mul),
            Op::Divide { a, b, .. } => match both(a, b) {
                Guess::Double if kind(a) == kind(b) => Guess::Double,
                _ => Guess::Any,
            },
            Op::Test { a, b, .. } if kind(a) == kind(b) => kind(a),
            Op::AddSmall { a, value, .. } => match fixnum(a) {
                Some(x) => fits(x.checked_add(i64::from(value))),
                None => kind(a),
            },
            Op::TestSmall { a, .. } | Op::TestValue { a, .. } => kind(a),
            Op::Aref { array, .. } => self.met_array(array),
            Op::SetAref { array, from, .. } => match self.met_array(array) {
                met if met == kind(from) => met,
                _ => Guess::Any,
            },
            // Ctrl-C.
            Op::Loop { .. } | Op::Call { .. } | Op::TailCall { .. } => return None,
            _ => Guess::Any,
        })
    }
}
