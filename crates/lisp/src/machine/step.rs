//! The instructions that are done one at a time: those that the loop of `execute` leaves here,
//! and, for native code, the general case of those that both do fast.

use smallvec::SmallVec;

use crate::code::{Capture, Captures, Closure, Function, Op, RUNNING, Template};
use crate::condition::{Escape, EscapeKind, Outcome};
use crate::heap::{Ref, Slot};
use crate::lisp::Lisp;
use crate::numbers;
use crate::value::{NIL, Value, cons};

use super::calls::closure_of;
use super::{Lot, Machine, Pending, arithmetic};

impl Machine {
    /// Does an instruction that is no call, jump or test. Longer than the house rule allows, as
    /// `execute` is, into which it is compiled.
    #[inline(always)]
    #[allow(clippy::too_many_lines)]
    pub(super) fn step(&mut self, lisp: &mut Lisp, op: Op, base: usize) -> Outcome<()> {
        macro_rules! at {
            ($register:expr) => {
                self.stacks.values[base + $register as usize]
            };
        }
        // The value is made before the register is looked at.
        macro_rules! set {
            ($register:expr, $value:expr) => {{
                let value = $value;
                at!($register).put(value);
            }};
        }
        match op {
            Op::Captured { to, index } => set!(to, self.captured(index).clone()),
            Op::MakeCell { at } => {
                let value = std::mem::take(&mut at!(at));
                set!(at, Value::Cell(Ref::new(Slot::new(value))));
            }
            Op::ReadCell { to, cell } => {
                if let Value::Cell(cell) = &at!(cell) {
                    set!(to, cell.get());
                }
            }
            Op::WriteCell { cell, from } => {
                if let Value::Cell(cell) = &at!(cell) {
                    cell.set(at!(from).clone());
                }
            }
            Op::ReadCapturedCell { to, index } => {
                if let Value::Cell(cell) = self.captured(index) {
                    set!(to, cell.get());
                }
            }
            Op::WriteCapturedCell { index, from } => {
                if let Value::Cell(cell) = self.captured(index) {
                    cell.set(at!(from).clone());
                }
            }
            Op::Global { to, symbol } => {
                let value = lisp.symbols[symbol].value.clone();
                let value = if value.is_unbound() { self.unbound(lisp, symbol)? } else { value };
                set!(to, value);
            }
            Op::SetGlobal { from, symbol } => {
                lisp.symbols[symbol].value = at!(from).clone();
            }
            Op::FunctionOf { to, symbol } => {
                let function = self.callee(lisp, symbol)?;
                set!(to, Value::Function(function));
            }
            Op::SetfFunctionOf { to, symbol } => {
                set!(to, lisp.setf_function(symbol)?);
            }
            Op::Myself { to } => set!(to, Value::Function(self.function.clone())),
            Op::Sibling { to, of, index } => {
                let sibling = if of == RUNNING {
                    sibling(&self.function, index)
                } else if let Value::Function(function) = &at!(of) {
                    sibling(function, index)
                } else {
                    NIL
                };
                set!(to, sibling);
            }
            Op::Closure { to, index } => {
                set!(to, self.make_closure(&self.code().templates[index as usize], base));
            }
            Op::Single => lisp.multiple = false,
            Op::OpenExit { at, index } => {
                set!(at, Value::Fixnum(self.open_exit(lisp, index) as i64));
            }
            Op::OpenCatch { at, target } => {
                let tag = at!(at).clone();
                self.open_catch(lisp, tag, target, at);
            }
            Op::OpenCleanup { target } => self.open_cleanup(lisp, target),
            Op::Close => {
                lisp.controls.pop();
            }
            Op::BeginCleanup { from } => {
                let lot = Lot::take(lisp, std::mem::take(&mut at!(from)));
                self.stacks.pending.push(Pending::Values(lot));
            }
            Op::EndCleanup { to } => match self.stacks.pending.pop() {
                Some(Pending::Values(lot)) => set!(to, lot.restore(lisp)),
                Some(Pending::Escape(escape)) => return Err(escape),
                None => {}
            },
            Op::Leave { exit, from, label } => {
                let id = at!(exit).as_fixnum().unwrap_or(0) as u64;
                let first = std::mem::take(&mut at!(from));
                return Err(leave(lisp, id, u32::from(label), first));
            }
            Op::Throw { tag, from } => {
                let first = std::mem::take(&mut at!(from));
                let tag = at!(tag).clone();
                return Err(lisp.throw(tag, first));
            }
            Op::Bind { from, symbol } => {
                let value = at!(from).clone();
                lisp.bind(symbol, value);
            }
            Op::Unbind { count } => {
                let left = lisp.bindings.len() - count as usize;
                lisp.unbind_to(left);
            }
            Op::SaveValues { from } => {
                let lot = Lot::take(lisp, std::mem::take(&mut at!(from)));
                self.stacks.lots.push(lot);
            }
            Op::RestoreValues { to } => {
                if let Some(lot) = self.stacks.lots.pop() {
                    set!(to, lot.restore(lisp));
                }
            }
            Op::Spread { from, to, count } => {
                let first = std::mem::take(&mut at!(from));
                if std::mem::take(&mut lisp.multiple) {
                    let mut values = std::mem::take(&mut lisp.extra).into_iter();
                    for index in 0..count {
                        set!(to + index, values.next().unwrap_or_default());
                    }
                } else {
                    set!(to, first);
                    for index in 1..count {
                        set!(to + index, NIL);
                    }
                }
            }
            Op::Constant { to, index } => {
                set!(to, self.code().constants[index as usize].clone());
            }
            Op::Add { to, a, b } => set!(to, numbers::add(&at!(a), &at!(b))?),
            Op::Subtract { to, a, b } => set!(to, numbers::subtract(&at!(a), &at!(b))?),
            Op::Multiply { to, a, b } => set!(to, numbers::multiply(&at!(a), &at!(b))?),
            Op::Divide { to, a, b } => set!(to, arithmetic::divide(&at!(a), &at!(b))?),
            Op::AddSmall { to, a, value } => set!(to, arithmetic::add_small(&at!(a), value)?),
            Op::Car { to, a } => set!(to, arithmetic::car(&at!(a))?),
            Op::Cdr { to, a } => set!(to, arithmetic::cdr(&at!(a))?),
            Op::Cons { to, a, b } => set!(to, cons(at!(a).clone(), at!(b).clone())),
            Op::SetCar { pair, from } => {
                arithmetic::set_car(&at!(pair), at!(from).clone())?;
            }
            Op::SetCdr { pair, from } => {
                arithmetic::set_cdr(&at!(pair), at!(from).clone())?;
            }
            Op::Aref { to, array, index } => {
                let element = crate::library::arrays::aref(&at!(array), &at!(index));
                set!(to, element.or_else(|escape| self.instead_of_element(lisp, escape))?);
                self.note_fetches(lisp);
            }
            Op::ArefPlane { to, array, first } => {
                let at = base + first as usize;
                let indices = &self.stacks.values[at..at + 2];
                let element = crate::library::arrays::aref_any(&at!(array), indices);
                set!(to, element.or_else(|escape| self.instead_of_element(lisp, escape))?);
                self.note_fetches(lisp);
            }
            Op::SetAref { array, index, from } => {
                let value = at!(from).clone();
                crate::library::arrays::set_aref(&at!(array), &at!(index), value)?;
                self.note_fetches(lisp);
            }
            other => unreachable!("{other:?} is not done alone"),
        }
        Ok(())
    }

    #[inline(always)]
    fn captured(&self, index: u16) -> &Value {
        &closure_of(&self.function).captures.values[index as usize]
    }

    fn make_closure(&self, template: &Template, base: usize) -> Value {
        let mut values = SmallVec::with_capacity(template.captures.len());
        for capture in &template.captures {
            values.push(match capture {
                Capture::Register(at) => self.stacks.values[base + *at as usize].clone(),
                Capture::Captured(index) => self.captured(*index).clone(),
                Capture::Myself => Value::Function(self.function.clone()),
                Capture::Sibling(index) => sibling(&self.function, *index),
            });
        }
        let captures = Ref::new(Captures { values, siblings: template.siblings.clone() });
        let closure = Closure { code: template.code.clone(), captures };
        Value::Function(Ref::new(Function::Closure(closure)))
    }
}

/// The function at `index` of the `labels` that made `function`.
fn sibling(function: &Ref<Function>, index: u16) -> Value {
    let captures = &closure_of(function).captures;
    match captures.siblings.as_ref().and_then(|siblings| siblings.get(index as usize)) {
        Some(code) => {
            let closure = Closure { code: code.clone(), captures: captures.clone() };
            Value::Function(Ref::new(Function::Closure(closure)))
        }
        None => NIL,
    }
}

/// The escape that leaves to an exit, or the error that it has been left already.
fn leave(lisp: &mut Lisp, id: u64, label: u32, first: Value) -> Escape {
    let values = Lot::take(lisp, first);
    if !lisp.is_open(id) {
        let text = "return-from: the block has been left already";
        return Escape::of(crate::symbol::CONTROL_ERROR, text);
    }
    EscapeKind::Exit { id, label, values }.into()
}
