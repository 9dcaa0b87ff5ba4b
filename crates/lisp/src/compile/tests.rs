//! Tests: `if`, and the predicates that jump without making a truth value.

use crate::code::{Comparison, Op, Question};
use crate::condition::Outcome;
use crate::core::{Core, Target};
use crate::source::Span;
use crate::symbol::{self, Symbol};
use crate::value::Value;

use super::{Compiler, Dest};

/// Whether a call of that name with that many arguments is compiled to a test.
pub(super) fn is_test(name: Symbol, count: usize) -> bool {
    match count {
        1 => matches!(
            name,
            symbol::NOT
                | symbol::NULL
                | symbol::CONSP
                | symbol::ATOM
                | symbol::ZEROP
                | symbol::ENDP
        ),
        2 => comparison(name).is_some() || matches!(name, symbol::EQ | symbol::EQL),
        _ => false,
    }
}

fn comparison(name: Symbol) -> Option<Comparison> {
    Some(match name {
        symbol::LESS => Comparison::Less,
        symbol::GREATER => Comparison::Greater,
        symbol::LESS_EQUAL => Comparison::LessEqual,
        symbol::GREATER_EQUAL => Comparison::GreaterEqual,
        symbol::EQUALS => Comparison::Equal,
        symbol::NOT_EQUALS => Comparison::NotEqual,
        _ => return None,
    })
}

impl Compiler<'_> {
    pub(super) fn compile_if(
        &mut self,
        test: &Core,
        then: &Core,
        otherwise: &Core,
        dest: Dest,
    ) -> Outcome<()> {
        let to_else = self.jump_unless(test)?;
        self.compile(then, dest)?;
        if dest == Dest::Tail {
            self.patch_here(&to_else);
            return self.compile(otherwise, dest);
        }
        if dest == Dest::Discard && matches!(otherwise, Core::Constant(_)) {
            self.patch_here(&to_else);
            return Ok(());
        }
        let end = self.emit(Op::Jump { target: 0 });
        self.patch_here(&to_else);
        self.compile(otherwise, dest)?;
        self.patch_here(&[end]);
        Ok(())
    }

    /// Goes on when the form is true; the jumps given are taken when it is nil.
    pub(super) fn jump_unless(&mut self, test: &Core) -> Outcome<Vec<usize>> {
        crate::stack::check("the form")?;
        match test {
            Core::Constant(Value::Nil) => Ok(vec![self.emit(Op::Jump { target: 0 })]),
            Core::Constant(_) => Ok(Vec::new()),
            Core::If(parts) if parts[2].is_nil() => {
                let mut jumps = self.jump_unless(&parts[0])?;
                jumps.extend(self.jump_unless(&parts[1])?);
                Ok(jumps)
            }
            Core::If(parts) if is_constant_true(&parts[1]) => {
                let yes = self.jump_if(&parts[0])?;
                let jumps = self.jump_unless(&parts[2])?;
                self.patch_here(&yes);
                Ok(jumps)
            }
            _ => {
                if let Some((first, rest)) = as_or(test) {
                    let yes = self.jump_if(first)?;
                    let jumps = self.jump_unless(rest)?;
                    self.patch_here(&yes);
                    return Ok(jumps);
                }
                if let Some((name, arguments)) = self.as_test(test) {
                    let outer = self.span;
                    self.span = span_of(test).or(outer);
                    let jumps = self.jump_unless_test(name, &arguments);
                    self.span = outer;
                    return jumps;
                }
                let level = self.level();
                let at = self.operand(test)?;
                self.free_to(level);
                Ok(vec![self.emit(Op::JumpIfNil { at, target: 0 })])
            }
        }
    }

    /// Goes on when the form is nil; the jumps given are taken when it is true.
    fn jump_if(&mut self, test: &Core) -> Outcome<Vec<usize>> {
        if let Some((name, arguments)) = self.as_test(test) {
            if matches!(name, symbol::NOT | symbol::NULL) {
                return self.jump_unless(arguments[0]);
            }
            let no = self.jump_unless(test)?;
            let yes = self.emit(Op::Jump { target: 0 });
            self.patch_here(&no);
            return Ok(vec![yes]);
        }
        match test {
            Core::If(_) | Core::Let(..) | Core::Constant(_) => {
                let no = self.jump_unless(test)?;
                let yes = self.emit(Op::Jump { target: 0 });
                self.patch_here(&no);
                Ok(vec![yes])
            }
            _ => {
                let level = self.level();
                let at = self.operand(test)?;
                self.free_to(level);
                Ok(vec![self.emit(Op::JumpIfTrue { at, target: 0 })])
            }
        }
    }

    /// `(or test other)`, where the test makes no value of its own: `t` stands for it.
    pub(super) fn as_or_of_test<'c>(&self, core: &'c Core) -> Option<(&'c Core, &'c Core)> {
        as_or(core).filter(|(test, _)| self.as_test(test).is_some())
    }

    fn as_test<'c>(&self, core: &'c Core) -> Option<(Symbol, Vec<&'c Core>)> {
        let Core::Call(call) = core else { return None };
        let Target::Global(name) = call.target else { return None };
        is_test(name, call.arguments.len()).then(|| (name, call.arguments.iter().collect()))
    }

    pub(super) fn jump_unless_test(
        &mut self,
        name: Symbol,
        arguments: &[&Core],
    ) -> Outcome<Vec<usize>> {
        if matches!(name, symbol::NOT | symbol::NULL | symbol::ENDP) {
            return self.jump_if(arguments[0]);
        }
        let level = self.level();
        let op = match arguments {
            [a] => {
                let a = self.operand(a)?;
                let question = match name {
                    symbol::CONSP => Question::Cons,
                    symbol::ATOM => Question::Atom,
                    _ => Question::Zero,
                };
                Op::TestValue { question, a }
            }
            [a, b] => self.compare(name, a, b)?,
            _ => unreachable!("tests have one or two arguments"),
        };
        self.mark(self.span);
        self.emit(op);
        self.free_to(level);
        Ok(vec![self.emit(Op::Jump { target: 0 })])
    }

    fn compare(&mut self, name: Symbol, a: &Core, b: &Core) -> Outcome<Op> {
        let Some(comparison) = comparison(name) else {
            let [a, b] = self.operands([a, b])?;
            let is_eq = name == symbol::EQ;
            return Ok(if is_eq { Op::TestEq { a, b } } else { Op::TestEql { a, b } });
        };
        if let Core::Constant(Value::Fixnum(n)) = b
            && let Ok(value) = i16::try_from(*n)
        {
            let a = self.operand(a)?;
            return Ok(Op::TestSmall { comparison, a, value });
        }
        let [a, b] = self.operands([a, b])?;
        Ok(Op::Test { comparison, a, b })
    }
}

fn span_of(core: &Core) -> Option<Span> {
    if let Core::Call(call) = core { call.span } else { None }
}

fn is_constant_true(core: &Core) -> bool {
    matches!(core, Core::Constant(value) if value.truth())
}

/// `(or a b)` as the macro leaves it: `(let ((v a)) (if v v b))`.
fn as_or(core: &Core) -> Option<(&Core, &Core)> {
    let Core::Let(bindings, body) = core else { return None };
    let ([(variable, first)], Core::If(parts)) = (&bindings[..], &**body) else { return None };
    let is_variable = |core: &Core| matches!(core, Core::Local(v) if v == variable);
    (is_variable(&parts[0]) && is_variable(&parts[1])).then_some((first, &parts[2]))
}
