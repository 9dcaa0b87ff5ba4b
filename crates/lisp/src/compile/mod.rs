//! The compiler: core forms become instructions.
//!
//! Every core form is compiled towards a destination: a register, nowhere, "all values", or the
//! function's return. A variable lives in a register; one that is captured and assigned lives
//! in a cell that its register holds. Calls, inlined operations and tests are in `calls` and
//! `tests`; blocks, clean-ups and dynamic bindings in `control`.

mod calls;
mod control;
mod functions;
mod tests;

use std::collections::HashMap;
use std::rc::Rc;

use crate::code::{Capture, Closure, Code, Exit, Function, Local, Op, Register, Template};
use crate::condition::{Escape, Outcome};
use crate::core::{Core, ExitId, Unit, Variable};
use crate::expand::environment::Environment;
use crate::heap::Ref;
use crate::lisp::Lisp;
use crate::source::Span;
use crate::stack;
use crate::symbol;
use crate::value::{NIL, Value};

/// Where a form's value goes.
#[derive(Clone, Copy, PartialEq, Debug)]
pub(crate) enum Dest {
    /// A register that may be in use while the form runs (a variable).
    Register(Register),
    /// A register that nobody uses yet and that is the topmost one.
    Fresh(Register),
    /// Nowhere.
    Discard,
    /// The first value here, and all of them as after a call.
    Values(Register),
    /// Returned from the function.
    Tail,
}

/// Where a variable is in the function being compiled.
#[derive(Clone, Copy, Debug)]
enum Place {
    Register(Register),
    /// The register holds a cell.
    Cell(Register),
    Captured(Register),
    CapturedCell(Register),
    /// The function itself, inside a function of `labels`.
    Myself,
    /// Another function of the same `labels`.
    Sibling(u16),
}

/// What has to be undone when a jump leads out.
#[derive(Clone, Copy)]
enum Scope {
    Dynamic(u32),
    Open,
}

struct OpenBlock {
    exit: ExitId,
    dest: Dest,
    jumps: Vec<usize>,
    scopes: usize,
}

struct OpenTagbody {
    exit: ExitId,
    labels: Vec<Option<u32>>,
    jumps: Vec<(usize, u32)>,
    scopes: usize,
}

/// One function being compiled.
#[derive(Default)]
struct Builder {
    ops: Vec<Op>,
    lines: Vec<(u32, Span)>,
    constants: Vec<Value>,
    templates: Vec<Template>,
    exits: Vec<Exit>,
    next: Register,
    most: Register,
    places: HashMap<Variable, Place>,
    locals: Vec<Local>,
    captures: Vec<(Variable, Capture)>,
    scopes: Vec<Scope>,
    blocks: Vec<OpenBlock>,
    tagbodies: Vec<OpenTagbody>,
}

pub(crate) struct Compiler<'u> {
    unit: &'u Unit,
    /// The functions being compiled, innermost last.
    builders: Vec<Builder>,
    /// The functions around this one, so that errors know where they stand.
    span: Option<Span>,
}

/// Compiles a form into a function of no arguments.
pub fn compile_form(lisp: &mut Lisp, form: &Value) -> Outcome<Ref<Function>> {
    compile_form_in(lisp, form, Environment::default())
}

/// The same where local macros hold.
pub(crate) fn compile_form_in(
    lisp: &mut Lisp,
    form: &Value,
    macros: Environment,
) -> Outcome<Ref<Function>> {
    let (core, unit) = crate::expand::expand_form(lisp, form, macros)?;
    let mut compiler = Compiler { unit: &unit, builders: vec![Builder::default()], span: None };
    compiler.compile(&core, Dest::Tail)?;
    let builder = compiler.builders.pop().unwrap_or_default();
    let name = Value::symbol(symbol::TOP_LEVEL);
    let code = builder.finish(name, Default::default(), NIL, NIL);
    Ok(Ref::new(Function::Closure(Closure {
        code: Ref::new(code),
        captures: Ref::new(Default::default()),
    })))
}

impl Builder {
    fn finish(
        self,
        name: Value,
        parameters: crate::code::Parameters,
        lambda_list: Value,
        documentation: Value,
    ) -> Code {
        Code {
            name,
            ops: Rc::from(self.ops),
            simple: parameters.is_simple().then_some(parameters.required),
            parameters,
            registers: self.most,
            constants: self.constants,
            templates: self.templates,
            exits: self.exits,
            lines: self.lines,
            locals: self.locals,
            lambda_list,
            documentation,
            native: Default::default(),
        }
    }
}

impl Compiler<'_> {
    fn builder(&mut self) -> &mut Builder {
        self.builders.last_mut().expect("a function is being compiled while this runs")
    }

    fn emit(&mut self, op: Op) -> usize {
        let builder = self.builder();
        builder.ops.push(op);
        builder.ops.len() - 1
    }

    fn here(&mut self) -> u32 {
        self.builder().ops.len() as u32
    }

    /// The next instructions belong to the form at `span`.
    fn mark(&mut self, span: Option<Span>) {
        let Some(span) = span else { return };
        let here = self.here();
        let lines = &mut self.builder().lines;
        if lines.last().is_none_or(|(_, last)| *last != span) {
            lines.push((here, span));
        }
    }

    /// A register above all that are in use.
    fn allocate(&mut self) -> Outcome<Register> {
        let builder = self.builder();
        let register = builder.next;
        // The last number stands for the running function.
        if register >= Register::MAX - 1 {
            return Err(Escape::program("the function needs more than 65,000 registers"));
        }
        builder.next += 1;
        builder.most = builder.most.max(builder.next);
        Ok(register)
    }

    fn level(&mut self) -> Register {
        self.builder().next
    }

    fn free_to(&mut self, level: Register) {
        self.builder().next = level;
    }

    fn constant(&mut self, value: &Value) -> u32 {
        let constants = &mut self.builder().constants;
        if let Some(index) = constants.iter().position(|constant| constant.eql(value)) {
            return index as u32;
        }
        constants.push(value.clone());
        (constants.len() - 1) as u32
    }

    fn patch(&mut self, jump: usize, to: u32) {
        match &mut self.builder().ops[jump] {
            Op::Jump { target }
            | Op::Loop { target }
            | Op::JumpIfNil { target, .. }
            | Op::JumpIfTrue { target, .. }
            | Op::JumpIfBound { target, .. }
            | Op::OpenCatch { target, .. }
            | Op::OpenCleanup { target } => *target = to,
            other => unreachable!("{other:?} is no jump"),
        }
    }

    fn patch_here(&mut self, jumps: &[usize]) {
        let here = self.here();
        for jump in jumps {
            self.patch(*jump, here);
        }
    }

    /// Compiles a form towards a destination.
    pub(crate) fn compile(&mut self, core: &Core, dest: Dest) -> Outcome<()> {
        stack::check("the form")?;
        match core {
            Core::Constant(value) => self.simple(dest, |this, to| this.load(value, to)),
            Core::Local(variable) => self.compile_local(*variable, dest),
            Core::SetLocal(variable, value) => self.compile_set_local(*variable, value, dest),
            Core::Global(symbol) => self.simple(dest, |this, to| {
                this.mark(this.span);
                this.emit(Op::Global { to, symbol: *symbol });
            }),
            Core::SetGlobal(symbol, value) => {
                let level = self.level();
                let from = self.operand(value)?;
                self.emit(Op::SetGlobal { from, symbol: *symbol });
                self.deliver(from, dest);
                self.free_to(level);
                Ok(())
            }
            Core::GlobalFunction(symbol, setf) => self.simple(dest, |this, to| {
                let symbol = *symbol;
                this.emit(match setf {
                    true => Op::SetfFunctionOf { to, symbol },
                    false => Op::FunctionOf { to, symbol },
                });
            }),
            Core::Call(call) => self.compile_call(call, dest),
            Core::If(parts) => self.compile_if(&parts[0], &parts[1], &parts[2], dest),
            Core::Progn(forms) => {
                let Some((last, others)) = forms.split_last() else {
                    return self.compile(&Core::NIL, dest);
                };
                for form in others {
                    self.compile(form, Dest::Discard)?;
                }
                self.compile(last, dest)
            }
            Core::Let(bindings, body) => match self.as_or_of_test(core) {
                Some((test, other)) => {
                    self.compile_if(test, &Core::Constant(crate::value::T), other, dest)
                }
                None => self.compile_let(bindings, body, dest),
            },
            Core::Labels(functions, body) => self.compile_labels(functions, body, dest),
            Core::ValuesLet(variables, parts) => self.compile_values_let(variables, parts, dest),
            Core::Closure(lambda) => self.compile_closure(lambda, dest),
            _ => self.compile_control(core, dest),
        }
    }

    /// A form that gives one value, by instructions that put it into a register.
    fn simple(&mut self, dest: Dest, emit: impl FnOnce(&mut Self, Register)) -> Outcome<()> {
        match dest {
            Dest::Register(to) | Dest::Fresh(to) => emit(self, to),
            Dest::Values(to) => {
                emit(self, to);
                self.emit(Op::Single);
            }
            Dest::Discard | Dest::Tail => {
                let to = self.allocate()?;
                emit(self, to);
                if dest == Dest::Tail {
                    self.emit(Op::Return { from: to });
                }
                self.free_to(to);
            }
        }
        Ok(())
    }

    fn load(&mut self, value: &Value, to: Register) {
        let op = match value {
            Value::Nil => Op::Nil { to },
            Value::Symbol(crate::symbol::T) => Op::True { to },
            Value::Fixnum(n) if i32::try_from(*n).is_ok() => Op::Fixnum { to, value: *n as i32 },
            _ => Op::Constant { to, index: self.constant(value) },
        };
        self.emit(op);
    }

    /// One value that is in a register that stays in use.
    fn deliver(&mut self, from: Register, dest: Dest) {
        match dest {
            Dest::Register(to) | Dest::Fresh(to) if to == from => {}
            Dest::Register(to) | Dest::Fresh(to) => {
                self.emit(Op::Move { to, from });
            }
            Dest::Values(to) => {
                if to != from {
                    self.emit(Op::Move { to, from });
                }
                self.emit(Op::Single);
            }
            Dest::Discard => {}
            Dest::Tail => {
                self.emit(Op::Return { from });
            }
        }
    }

    /// The values of a call, the first in `from`, a temporary.
    fn deliver_values(&mut self, from: Register, dest: Dest) {
        match dest {
            Dest::Register(to) | Dest::Fresh(to) | Dest::Values(to) => {
                if to != from {
                    self.emit(Op::Take { to, from });
                }
            }
            Dest::Discard => {
                self.emit(Op::Clear { at: from });
            }
            Dest::Tail => {
                self.emit(Op::ReturnValues { from });
            }
        }
    }

    fn is_cell(&self, variable: Variable) -> bool {
        let facts = &self.unit.variables[variable.0 as usize];
        facts.captured && facts.assigned
    }

    fn place(&mut self, variable: Variable) -> Place {
        let level = self.builders.len() - 1;
        self.place_at(level, variable)
    }

    /// Where a variable is in the function at a level, capturing it on the way if need be.
    fn place_at(&mut self, level: usize, variable: Variable) -> Place {
        if let Some(place) = self.builders[level].places.get(&variable) {
            return *place;
        }
        let captures = &self.builders[level].captures;
        let index = captures.iter().position(|(captured, _)| *captured == variable);
        let index = index.unwrap_or_else(|| {
            let source = match self.place_at(level - 1, variable) {
                Place::Register(at) | Place::Cell(at) => Capture::Register(at),
                Place::Captured(at) | Place::CapturedCell(at) => Capture::Captured(at),
                Place::Myself => Capture::Myself,
                Place::Sibling(index) => Capture::Sibling(index),
            };
            let captures = &mut self.builders[level].captures;
            captures.push((variable, source));
            captures.len() - 1
        });
        let index = index as Register;
        if self.is_cell(variable) { Place::CapturedCell(index) } else { Place::Captured(index) }
    }

    fn compile_local(&mut self, variable: Variable, dest: Dest) -> Outcome<()> {
        if dest == Dest::Discard {
            return Ok(());
        }
        let place = self.place(variable);
        if let Place::Register(from) = place {
            self.deliver(from, dest);
            return Ok(());
        }
        self.simple(dest, |this, to| {
            this.emit(match place {
                Place::Register(from) => Op::Move { to, from },
                Place::Cell(cell) => Op::ReadCell { to, cell },
                Place::Captured(index) => Op::Captured { to, index },
                Place::CapturedCell(index) => Op::ReadCapturedCell { to, index },
                Place::Myself => Op::Myself { to },
                Place::Sibling(index) => Op::Sibling { to, of: crate::code::RUNNING, index },
            });
        })
    }

    fn compile_set_local(&mut self, variable: Variable, value: &Core, dest: Dest) -> Outcome<()> {
        let place = self.place(variable);
        let level = self.level();
        match place {
            Place::Register(to) => {
                self.compile(value, Dest::Register(to))?;
                self.deliver(to, dest);
            }
            _ => {
                let from = self.operand(value)?;
                match place {
                    Place::Cell(cell) => self.emit(Op::WriteCell { cell, from }),
                    Place::CapturedCell(index) => self.emit(Op::WriteCapturedCell { index, from }),
                    other => unreachable!("an assigned variable is not at {other:?}"),
                };
                self.deliver(from, dest);
            }
        }
        self.free_to(level);
        Ok(())
    }

    /// A register that holds a form's value until the next instruction.
    fn operand(&mut self, core: &Core) -> Outcome<Register> {
        if let Core::Local(variable) = core
            && let Place::Register(register) = self.place(*variable)
        {
            return Ok(register);
        }
        let register = self.allocate()?;
        self.compile(core, Dest::Fresh(register))?;
        Ok(register)
    }

    /// Registers that hold the values of forms, evaluated left to right.
    fn operands<const N: usize>(&mut self, forms: [&Core; N]) -> Outcome<[Register; N]> {
        let mut registers = [0; N];
        for (index, form) in forms.iter().enumerate() {
            let later_assigns = || forms[index + 1..].iter().any(|later| !is_plain(later));
            let must_copy = match form {
                Core::Local(variable) => {
                    self.unit.variables[variable.0 as usize].assigned && later_assigns()
                }
                _ => false,
            };
            registers[index] = if must_copy {
                let register = self.allocate()?;
                self.compile(form, Dest::Fresh(register))?;
                register
            } else {
                self.operand(form)?
            };
        }
        Ok(registers)
    }

    fn compile_let(
        &mut self,
        bindings: &[(Variable, Core)],
        body: &Core,
        dest: Dest,
    ) -> Outcome<()> {
        let level = self.level();
        let mut places = Vec::new();
        for (variable, init) in bindings {
            if let Some(place) = self.alias(*variable, init) {
                places.push((*variable, place));
                continue;
            }
            let register = self.allocate()?;
            self.compile(init, Dest::Fresh(register))?;
            places.push((*variable, self.settle(*variable, register)));
        }
        for (variable, place) in places {
            self.bind(variable, place);
        }
        self.compile_scope(level, body, dest)
    }

    /// A variable that only renames another, when neither is ever assigned.
    fn alias(&mut self, variable: Variable, init: &Core) -> Option<Place> {
        let Core::Local(other) = init else { return None };
        let facts = &self.unit.variables;
        if facts[variable.0 as usize].assigned || facts[other.0 as usize].assigned {
            return None;
        }
        match self.place(*other) {
            place @ Place::Register(_) => Some(place),
            _ => None,
        }
    }

    /// Puts the value of a variable's register into a cell if the variable needs one.
    fn settle(&mut self, variable: Variable, register: Register) -> Place {
        if self.is_cell(variable) {
            self.emit(Op::MakeCell { at: register });
            return Place::Cell(register);
        }
        Place::Register(register)
    }

    /// A variable has its place from here on.
    fn bind(&mut self, variable: Variable, place: Place) {
        let name = self.unit.variables[variable.0 as usize].name;
        let from = self.here();
        let builder = self.builder();
        if let Place::Register(register) | Place::Cell(register) = place {
            builder.locals.push(Local { name, register, from, to: u32::MAX });
        }
        builder.places.insert(variable, place);
    }

    /// The variables from a register on are gone.
    fn unbind_from(&mut self, level: Register) {
        let here = self.here();
        let open = self.builder().locals.iter_mut().filter(|local| local.to == u32::MAX);
        open.filter(|local| local.register >= level).for_each(|local| local.to = here);
    }

    /// A body whose variables have the registers from `level` on.
    fn compile_scope(&mut self, level: Register, body: &Core, dest: Dest) -> Outcome<()> {
        // The topmost register is no longer the destination.
        let inner = if let Dest::Fresh(to) = dest { Dest::Register(to) } else { dest };
        self.compile(body, inner)?;
        self.unbind_from(level);
        if dest != Dest::Tail {
            for at in level..self.level() {
                self.emit(Op::Clear { at });
            }
        }
        self.free_to(level);
        Ok(())
    }

    fn compile_values_let(
        &mut self,
        variables: &[Variable],
        parts: &[Core; 2],
        dest: Dest,
    ) -> Outcome<()> {
        if variables.is_empty() {
            self.compile(&parts[0], Dest::Discard)?;
            return self.compile(&parts[1], dest);
        }
        let level = self.level();
        let first = self.allocate()?;
        self.compile(&parts[0], Dest::Values(first))?;
        for _ in &variables[1..] {
            self.allocate()?;
        }
        self.emit(Op::Spread { from: first, to: first, count: variables.len() as u16 });
        for (index, variable) in variables.iter().enumerate() {
            let place = self.settle(*variable, first + index as Register);
            self.bind(*variable, place);
        }
        self.compile_scope(level, &parts[1], dest)
    }
}

/// Whether evaluating a form surely assigns no local variable.
fn is_plain(core: &Core) -> bool {
    match core {
        Core::Constant(_) | Core::Local(_) | Core::Global(_) | Core::GlobalFunction(..) => true,
        Core::Call(call) => {
            matches!(call.target, crate::core::Target::Global(_))
                && call.arguments.iter().all(is_plain)
        }
        _ => false,
    }
}
