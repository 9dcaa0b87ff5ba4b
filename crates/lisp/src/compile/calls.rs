//! Calls, and the standard functions that have instructions of their own.

use crate::code::{Op, Register};
use crate::condition::{Escape, Outcome};
use crate::core::{Call, Core, Target};
use crate::symbol::{self, Symbol};
use crate::value::Value;

use super::{Compiler, Dest};

/// The arguments of a call lie in registers, whose numbers have 16 bits; some are needed besides.
const MOST_ARGUMENTS: usize = 65_000;

/// A longer `list` is a call.
const MOST_ELEMENTS: usize = 16;

impl Compiler<'_> {
    pub(super) fn compile_call(&mut self, call: &Call, dest: Dest) -> Outcome<()> {
        let outer = self.span;
        self.span = call.span.or(outer);
        let compiled = match &call.target {
            _ if call.arguments.len() > MOST_ARGUMENTS => {
                let count = call.arguments.len();
                let text = format!("a call has at most {MOST_ARGUMENTS} arguments: got {count}");
                Err(Escape::program(text).hint("apply calls a function with a list of any length"))
            }
            Target::Global(name) => match self.compile_inline(*name, &call.arguments, dest)? {
                true => Ok(()),
                false => self.compile_global_call(*name, &call.arguments, dest),
            },
            Target::Setf(name) => {
                let function = Core::GlobalFunction(*name, true);
                self.compile_value_call(&function, &call.arguments, dest)
            }
            Target::Value(function) => self.compile_value_call(function, &call.arguments, dest),
        };
        let here = std::mem::replace(&mut self.span, outer);
        compiled.map_err(|escape| escape.placed(here))
    }

    /// Where a call's window of registers may begin.
    fn base(&mut self, dest: Dest) -> Outcome<Register> {
        let level = self.level();
        match dest {
            Dest::Fresh(to) | Dest::Values(to) if to + 1 == level => Ok(to),
            _ => self.allocate(),
        }
    }

    /// Arguments into consecutive registers, the first of them given.
    fn compile_arguments(&mut self, arguments: &[Core], first: Option<Register>) -> Outcome<()> {
        for (index, argument) in arguments.iter().enumerate() {
            let register = match first {
                Some(first) if index == 0 => first,
                _ => self.allocate()?,
            };
            self.compile(argument, Dest::Fresh(register))?;
        }
        Ok(())
    }

    fn compile_global_call(
        &mut self,
        symbol: Symbol,
        arguments: &[Core],
        dest: Dest,
    ) -> Outcome<()> {
        let Ok(count) = u8::try_from(arguments.len()) else {
            return self.compile_value_call(&Core::GlobalFunction(symbol, false), arguments, dest);
        };
        let level = self.level();
        let base = self.base(dest)?;
        self.compile_arguments(arguments, Some(base))?;
        self.mark(self.span);
        if dest == Dest::Tail {
            self.emit(Op::TailCall { base, count, symbol });
            // Taken only when the machine keeps the frame.
            self.emit(Op::ReturnValues { from: base });
        } else {
            self.emit(Op::Call { base, count, symbol });
            self.deliver_values(base, dest);
        }
        self.free_to(level);
        Ok(())
    }

    fn compile_value_call(
        &mut self,
        function: &Core,
        arguments: &[Core],
        dest: Dest,
    ) -> Outcome<()> {
        let count = u16::try_from(arguments.len()).unwrap_or(u16::MAX);
        let level = self.level();
        let base = self.base(dest)?;
        self.compile(function, Dest::Fresh(base))?;
        self.compile_arguments(arguments, None)?;
        self.mark(self.span);
        if dest == Dest::Tail {
            self.emit(Op::TailCallValue { base, count });
            // Taken only when the machine keeps the frame; the value lies where the first
            // argument lay.
            self.allocate()?;
            self.emit(Op::ReturnValues { from: base + 1 });
        } else {
            self.emit(Op::CallValue { base, count });
            self.deliver_values(base, dest);
        }
        self.free_to(level);
        Ok(())
    }

    /// Compiles a call to instructions of its own where there are some.
    fn compile_inline(&mut self, name: Symbol, arguments: &[Core], dest: Dest) -> Outcome<bool> {
        match arguments {
            [_, ..] if name == symbol::LIST && arguments.len() <= MOST_ELEMENTS => {
                self.compile_list(arguments, dest)?;
                Ok(true)
            }
            [a] => self.compile_inline_1(name, a, dest),
            [a, b] => self.compile_inline_2(name, a, b, dest),
            [a, b, c] => self.compile_inline_3(name, a, b, c, dest),
            [first, others @ ..] if matches!(name, symbol::PLUS | symbol::STAR) => {
                self.compile_chain(name, first, others, dest)?;
                Ok(true)
            }
            _ => Ok(false),
        }
    }

    fn compile_inline_1(&mut self, name: Symbol, a: &Core, dest: Dest) -> Outcome<bool> {
        let op: fn(Register, Register) -> Op = match name {
            symbol::CAR | symbol::FIRST => |to, a| Op::Car { to, a },
            symbol::CDR | symbol::REST => |to, a| Op::Cdr { to, a },
            symbol::ONE_PLUS => |to, a| Op::AddSmall { to, a, value: 1 },
            symbol::ONE_MINUS => |to, a| Op::AddSmall { to, a, value: -1 },
            symbol::VALUES => {
                // One value, even of a call that gives more.
                let level = self.level();
                let from = self.operand(a)?;
                self.deliver(from, dest);
                self.free_to(level);
                return Ok(true);
            }
            symbol::FUNCALL => {
                self.compile_value_call(a, &[], dest)?;
                return Ok(true);
            }
            _ if super::tests::is_test(name, 1) => {
                self.compile_test_value(name, &[a], dest)?;
                return Ok(true);
            }
            _ => return Ok(false),
        };
        let level = self.level();
        let operand = self.operand(a)?;
        self.mark(self.span);
        self.simple(dest, |this, to| {
            this.emit(op(to, operand));
            this.drop_operand(operand, level, to);
        })?;
        self.free_to(level);
        Ok(true)
    }

    /// A temporary that held a list or an array must not keep it alive.
    fn drop_operand(&mut self, operand: Register, level: Register, to: Register) {
        if operand >= level && operand != to {
            self.emit(Op::Clear { at: operand });
        }
    }

    fn compile_inline_2(&mut self, name: Symbol, a: &Core, b: &Core, dest: Dest) -> Outcome<bool> {
        if self.compile_add_small(name, a, b, dest)? {
            return Ok(true);
        }
        let op: fn(Register, Register, Register) -> Op = match name {
            symbol::PLUS => |to, a, b| Op::Add { to, a, b },
            symbol::MINUS => |to, a, b| Op::Subtract { to, a, b },
            symbol::STAR => |to, a, b| Op::Multiply { to, a, b },
            symbol::SLASH => |to, a, b| Op::Divide { to, a, b },
            symbol::CONS => |to, a, b| Op::Cons { to, a, b },
            symbol::AREF | symbol::SVREF => |to, array, index| Op::Aref { to, array, index },
            symbol::FUNCALL => {
                self.compile_value_call(a, std::slice::from_ref(b), dest)?;
                return Ok(true);
            }
            symbol::SET_CAR | symbol::SET_CDR => {
                self.compile_set_half(name, a, b, dest)?;
                return Ok(true);
            }
            _ if super::tests::is_test(name, 2) => {
                self.compile_test_value(name, &[a, b], dest)?;
                return Ok(true);
            }
            _ => return Ok(false),
        };
        let level = self.level();
        let [x, y] = self.operands([a, b])?;
        self.mark(self.span);
        let holds_array = matches!(name, symbol::AREF | symbol::SVREF);
        self.simple(dest, |this, to| {
            this.emit(op(to, x, y));
            if holds_array {
                this.drop_operand(x, level, to);
            }
        })?;
        self.free_to(level);
        Ok(true)
    }

    /// `(+ x 1)`, `(- x 1)`, `(+ 1 x)`.
    fn compile_add_small(&mut self, name: Symbol, a: &Core, b: &Core, dest: Dest) -> Outcome<bool> {
        let small = |core: &Core| match core {
            Core::Constant(Value::Fixnum(n)) => i16::try_from(*n).ok().filter(|n| *n > i16::MIN),
            _ => None,
        };
        let (operand, value) = match (name, small(a), small(b)) {
            (symbol::PLUS, _, Some(n)) => (a, n),
            (symbol::MINUS, _, Some(n)) => (a, -n),
            (symbol::PLUS, Some(n), None) => (b, n),
            _ => return Ok(false),
        };
        let level = self.level();
        let a = self.operand(operand)?;
        self.mark(self.span);
        self.simple(dest, |this, to| {
            this.emit(Op::AddSmall { to, a, value });
        })?;
        self.free_to(level);
        Ok(true)
    }

    fn compile_set_half(
        &mut self,
        name: Symbol,
        pair: &Core,
        value: &Core,
        dest: Dest,
    ) -> Outcome<()> {
        let level = self.level();
        let [pair, from] = self.operands([pair, value])?;
        self.mark(self.span);
        self.emit(match name {
            symbol::SET_CAR => Op::SetCar { pair, from },
            _ => Op::SetCdr { pair, from },
        });
        self.deliver(from, dest);
        if dest != Dest::Tail {
            self.drop_operand(pair, level, from);
        }
        self.free_to(level);
        Ok(())
    }

    fn compile_inline_3(
        &mut self,
        name: Symbol,
        a: &Core,
        b: &Core,
        c: &Core,
        dest: Dest,
    ) -> Outcome<bool> {
        match name {
            symbol::PLUS | symbol::STAR => {
                self.compile_chain(name, a, &[b, c], dest)?;
            }
            symbol::MINUS => {
                let level = self.level();
                let [x, y, z] = self.operands([a, b, c])?;
                let between = self.allocate()?;
                self.mark(self.span);
                self.emit(Op::Subtract { to: between, a: x, b: y });
                self.simple(dest, |this, to| {
                    this.emit(Op::Subtract { to, a: between, b: z });
                })?;
                self.free_to(level);
            }
            symbol::AREF => self.compile_plane(a, b, c, dest)?,
            symbol::SET_AREF => {
                let level = self.level();
                let [array, index, from] = self.operands([a, b, c])?;
                self.mark(self.span);
                self.emit(Op::SetAref { array, index, from });
                self.deliver(from, dest);
                if dest != Dest::Tail {
                    self.drop_operand(array, level, from);
                }
                self.free_to(level);
            }
            symbol::FUNCALL => return Ok(false),
            _ => return Ok(false),
        }
        Ok(true)
    }

    /// `(aref array row column)`.
    fn compile_plane(&mut self, array: &Core, i: &Core, j: &Core, dest: Dest) -> Outcome<()> {
        let level = self.level();
        let [array, i, j] = self.operands([array, i, j])?;
        let mut first = i;
        if j != i + 1 {
            first = self.allocate()?;
            let second = self.allocate()?;
            self.emit(Op::Move { to: first, from: i });
            self.emit(Op::Move { to: second, from: j });
        }
        self.mark(self.span);
        self.simple(dest, |this, to| {
            this.emit(Op::ArefPlane { to, array, first });
            this.drop_operand(array, level, to);
        })?;
        self.free_to(level);
        Ok(())
    }

    /// `(+ a b c ...)`: all operands left to right, then the sum from the left.
    fn compile_chain<C: std::borrow::Borrow<Core>>(
        &mut self,
        name: Symbol,
        first: &Core,
        others: &[C],
        dest: Dest,
    ) -> Outcome<()> {
        let level = self.level();
        let sum = self.allocate()?;
        let mut registers = Vec::new();
        self.compile(first, Dest::Fresh(sum))?;
        for other in others {
            let register = self.allocate()?;
            self.compile(other.borrow(), Dest::Fresh(register))?;
            registers.push(register);
        }
        self.mark(self.span);
        for b in registers {
            self.emit(match name {
                symbol::PLUS => Op::Add { to: sum, a: sum, b },
                _ => Op::Multiply { to: sum, a: sum, b },
            });
        }
        self.deliver(sum, dest);
        self.free_to(level);
        Ok(())
    }

    /// `(list a b ...)`: all elements left to right, then the pairs from the last.
    fn compile_list(&mut self, elements: &[Core], dest: Dest) -> Outcome<()> {
        let level = self.level();
        let made = self.allocate()?;
        let first = self.level();
        self.compile_arguments(elements, None)?;
        self.emit(Op::Nil { to: made });
        for at in (first..self.level()).rev() {
            self.emit(Op::Cons { to: made, a: at, b: made });
        }
        if dest != Dest::Tail {
            for at in first..self.level() {
                self.emit(Op::Clear { at });
            }
        }
        self.deliver_made(made, dest);
        self.free_to(level);
        Ok(())
    }

    /// One value that a temporary has.
    fn deliver_made(&mut self, from: Register, dest: Dest) {
        match dest {
            Dest::Register(to) | Dest::Fresh(to) | Dest::Values(to) if to != from => {
                self.emit(Op::Take { to, from });
                if let Dest::Values(_) = dest {
                    self.emit(Op::Single);
                }
            }
            Dest::Discard => {
                self.emit(Op::Clear { at: from });
            }
            _ => self.deliver(from, dest),
        }
    }

    /// A test whose truth is wanted as a value.
    fn compile_test_value(&mut self, name: Symbol, arguments: &[&Core], dest: Dest) -> Outcome<()> {
        if let Dest::Discard = dest {
            for argument in arguments {
                self.compile(argument, Dest::Discard)?;
            }
            return Ok(());
        }
        let level = self.level();
        let jumps = self.jump_unless_test(name, arguments)?;
        let to = match dest {
            Dest::Register(to) | Dest::Fresh(to) | Dest::Values(to) => to,
            _ => self.allocate()?,
        };
        self.emit(Op::True { to });
        let end = self.emit(Op::Jump { target: 0 });
        self.patch_here(&jumps);
        self.emit(Op::Nil { to });
        self.patch_here(&[end]);
        match dest {
            Dest::Tail => {
                self.emit(Op::Return { from: to });
            }
            Dest::Values(_) => {
                self.emit(Op::Single);
            }
            _ => {}
        }
        self.free_to(level);
        Ok(())
    }
}
