//! Blocks, tagbodies, catches, clean-ups, dynamic bindings and multiple values.
//!
//! A block or tagbody whose exits all stand in its own function, with no clean-up between, is
//! compiled to jumps. The others open an exit: an entry of the machine's control stack with a
//! number that closures capture.

use crate::code::{Exit, Op, Register};
use crate::condition::Outcome;
use crate::core::{Core, ExitFacts, ExitId, Statement};
use crate::source::Span;
use crate::symbol::Symbol;

use super::{Compiler, Dest, OpenBlock, OpenTagbody, Place, Scope};

impl Compiler<'_> {
    pub(super) fn compile_control(&mut self, core: &Core, dest: Dest) -> Outcome<()> {
        match core {
            Core::Block(exit, body) => self.compile_block(*exit, body, dest),
            Core::ReturnFrom(exit, value) => self.compile_return_from(*exit, value),
            Core::Tagbody(exit, statements) => self.compile_tagbody(*exit, statements, dest),
            Core::Go(exit, label) => self.compile_go(*exit, *label),
            Core::DynamicLet(bindings, body) => self.compile_dynamic_let(bindings, body, dest),
            Core::Catch(parts) => self.compile_catch(parts, dest),
            Core::Throw(parts, span) => self.compile_throw(parts, *span),
            Core::UnwindProtect(parts) => self.compile_unwind_protect(parts, dest),
            Core::MultipleValueCall(function, forms) => {
                self.compile_multiple_value_call(function, forms, dest)
            }
            Core::MultipleValueProg1(parts) => self.compile_multiple_value_prog1(parts, dest),
            _ => unreachable!("the other core forms are compiled in mod.rs"),
        }
    }

    fn facts(&self, exit: ExitId) -> &ExitFacts {
        &self.unit.exits[exit.0 as usize]
    }

    fn compile_block(&mut self, exit: ExitId, body: &Core, dest: Dest) -> Outcome<()> {
        if self.facts(exit).escaping {
            return self.compile_open_block(exit, body, dest);
        }
        // Parts of the body use registers above a fresh destination before the value is there.
        let dest = if let Dest::Fresh(to) = dest { Dest::Register(to) } else { dest };
        let scopes = self.builder().scopes.len();
        self.builder().blocks.push(OpenBlock { exit, dest, jumps: Vec::new(), scopes });
        self.compile(body, dest)?;
        if let Some(block) = self.builder().blocks.pop() {
            self.patch_here(&block.jumps);
        }
        Ok(())
    }

    fn compile_open_block(&mut self, exit: ExitId, body: &Core, dest: Dest) -> Outcome<()> {
        let level = self.level();
        let at = self.allocate()?;
        let values = self.allocate()?;
        let index = self.builder().exits.len() as u32;
        self.builder().exits.push(Exit { labels: vec![0], to: values, stays: false });
        self.emit(Op::OpenExit { at, index });
        let variable = self.facts(exit).variable;
        self.builder().places.insert(variable, Place::Register(at));
        self.builder().scopes.push(Scope::Open);
        self.compile(body, Dest::Values(values))?;
        self.builder().scopes.pop();
        self.emit(Op::Close);
        let here = self.here();
        self.builder().exits[index as usize].labels[0] = here;
        self.deliver_values(values, dest);
        self.free_to(level);
        Ok(())
    }

    fn compile_return_from(&mut self, exit: ExitId, value: &Core) -> Outcome<()> {
        let level = self.level();
        let block = self.builder().blocks.iter().rev().find(|block| block.exit == exit);
        let Some((dest, depth)) = block.map(|block| (block.dest, block.scopes)) else {
            let from = self.allocate()?;
            self.compile(value, Dest::Values(from))?;
            return self.leave(exit, from, 0, level);
        };
        let crosses = self.builder().scopes.len() > depth;
        if dest == Dest::Tail && crosses {
            let from = self.allocate()?;
            self.compile(value, Dest::Values(from))?;
            self.undo_scopes(depth);
            self.emit(Op::ReturnValues { from });
        } else {
            self.compile(value, dest)?;
            if dest != Dest::Tail {
                self.undo_scopes(depth);
                let jump = self.emit(Op::Jump { target: 0 });
                let blocks = &mut self.builder().blocks;
                if let Some(block) = blocks.iter_mut().rev().find(|block| block.exit == exit) {
                    block.jumps.push(jump);
                }
            }
        }
        self.free_to(level);
        Ok(())
    }

    /// Leaves through the control stack to an exit that is open somewhere.
    fn leave(&mut self, exit: ExitId, from: Register, label: u32, level: Register) -> Outcome<()> {
        let variable = self.facts(exit).variable;
        let exit = self.operand(&Core::Local(variable))?;
        self.emit(Op::Leave { exit, from, label: label as u16 });
        self.free_to(level);
        Ok(())
    }

    /// Undoes what was opened above `depth` scopes, for a jump out.
    fn undo_scopes(&mut self, depth: usize) {
        let mut left = self.builder().scopes.len();
        while left > depth {
            left -= 1;
            let scope = self.builder().scopes[left];
            self.emit(match scope {
                Scope::Dynamic(count) => Op::Unbind { count },
                Scope::Open => Op::Close,
            });
        }
    }

    fn compile_tagbody(
        &mut self,
        exit: ExitId,
        statements: &[Statement],
        dest: Dest,
    ) -> Outcome<()> {
        let level = self.level();
        let labels = statements.iter().filter(|part| matches!(part, Statement::Label(_))).count();
        let escaping = self.facts(exit).escaping;
        let index = self.builder().exits.len();
        if escaping {
            let at = self.allocate()?;
            self.builder().exits.push(Exit { labels: vec![0; labels], to: at, stays: true });
            self.emit(Op::OpenExit { at, index: index as u32 });
            let variable = self.facts(exit).variable;
            self.builder().places.insert(variable, Place::Register(at));
            self.builder().scopes.push(Scope::Open);
        }
        let scopes = self.builder().scopes.len();
        let open = OpenTagbody { exit, labels: vec![None; labels], jumps: Vec::new(), scopes };
        self.builder().tagbodies.push(open);
        for statement in statements {
            match statement {
                Statement::Form(form) => self.compile(form, Dest::Discard)?,
                Statement::Label(label) => {
                    let here = self.here();
                    if let Some(open) = self.builder().tagbodies.last_mut() {
                        open.labels[*label as usize] = Some(here);
                    }
                }
            }
        }
        self.close_tagbody(index, escaping);
        self.free_to(level);
        self.compile(&Core::NIL, dest)
    }

    fn close_tagbody(&mut self, index: usize, escaping: bool) {
        let Some(open) = self.builder().tagbodies.pop() else { return };
        for (jump, label) in open.jumps {
            self.patch(jump, open.labels[label as usize].unwrap_or(0));
        }
        if escaping {
            self.builder().exits[index].labels =
                open.labels.iter().map(|label| label.unwrap_or(0)).collect();
            self.builder().scopes.pop();
            self.emit(Op::Close);
        }
    }

    fn compile_go(&mut self, exit: ExitId, label: u32) -> Outcome<()> {
        let here = self.builders.len() - 1;
        let find = |open: &&OpenTagbody| open.exit == exit;
        let Some(open) = self.builders[here].tagbodies.iter().rev().find(find) else {
            let level = self.level();
            let from = self.allocate()?;
            self.emit(Op::Nil { to: from });
            return self.leave(exit, from, label, level);
        };
        let (depth, target) = (open.scopes, open.labels[label as usize]);
        let protected = self.facts(exit).escaping && self.builder().scopes.len() > depth;
        if protected {
            let level = self.level();
            let from = self.allocate()?;
            self.emit(Op::Nil { to: from });
            return self.leave(exit, from, label, level);
        }
        self.undo_scopes(depth);
        match target {
            Some(target) => {
                self.emit(Op::Loop { target });
            }
            None => {
                let jump = self.emit(Op::Jump { target: 0 });
                let tagbodies = &mut self.builder().tagbodies;
                if let Some(open) = tagbodies.iter_mut().rev().find(|open| open.exit == exit) {
                    open.jumps.push((jump, label));
                }
            }
        }
        Ok(())
    }

    /// Compiles a body inside a scope: not a tail position, its values kept.
    fn compile_inside(
        &mut self,
        scope: Scope,
        body: &Core,
        dest: Dest,
    ) -> Outcome<(Dest, Register)> {
        let values = self.allocate()?;
        let inner = match dest {
            Dest::Tail | Dest::Values(_) => Dest::Values(values),
            Dest::Discard => Dest::Discard,
            Dest::Register(_) | Dest::Fresh(_) => Dest::Fresh(values),
        };
        self.builder().scopes.push(scope);
        self.compile(body, inner)?;
        self.builder().scopes.pop();
        Ok((inner, values))
    }

    /// After `compile_inside` and the end of its scope.
    fn deliver_inside(&mut self, inner: Dest, values: Register, dest: Dest) {
        match inner {
            Dest::Discard => {}
            _ => self.deliver_values(values, dest),
        }
    }

    fn compile_dynamic_let(
        &mut self,
        bindings: &[(Symbol, Core)],
        body: &Core,
        dest: Dest,
    ) -> Outcome<()> {
        let level = self.level();
        let mut registers = Vec::new();
        for (_, init) in bindings {
            let register = self.allocate()?;
            self.compile(init, Dest::Fresh(register))?;
            registers.push(register);
        }
        for ((symbol, _), from) in bindings.iter().zip(registers) {
            self.emit(Op::Bind { from, symbol: *symbol });
        }
        let count = bindings.len() as u32;
        let (inner, values) = self.compile_inside(Scope::Dynamic(count), body, dest)?;
        self.emit(Op::Unbind { count });
        self.deliver_inside(inner, values, dest);
        self.free_to(level);
        Ok(())
    }

    fn compile_catch(&mut self, parts: &[Core; 2], dest: Dest) -> Outcome<()> {
        let level = self.level();
        let at = self.allocate()?;
        self.compile(&parts[0], Dest::Fresh(at))?;
        let open = self.emit(Op::OpenCatch { at, target: 0 });
        self.builder().scopes.push(Scope::Open);
        self.compile(&parts[1], Dest::Values(at))?;
        self.builder().scopes.pop();
        self.emit(Op::Close);
        self.patch_here(&[open]);
        self.deliver_values(at, dest);
        self.free_to(level);
        Ok(())
    }

    fn compile_throw(&mut self, parts: &[Core; 2], span: Option<Span>) -> Outcome<()> {
        let level = self.level();
        let tag = self.allocate()?;
        self.compile(&parts[0], Dest::Fresh(tag))?;
        let from = self.allocate()?;
        self.compile(&parts[1], Dest::Values(from))?;
        self.mark(span);
        self.emit(Op::Throw { tag, from });
        self.free_to(level);
        Ok(())
    }

    fn compile_unwind_protect(&mut self, parts: &[Core; 2], dest: Dest) -> Outcome<()> {
        let level = self.level();
        let values = self.allocate()?;
        let open = self.emit(Op::OpenCleanup { target: 0 });
        self.builder().scopes.push(Scope::Open);
        self.compile(&parts[0], Dest::Values(values))?;
        self.builder().scopes.pop();
        self.emit(Op::Close);
        self.emit(Op::BeginCleanup { from: values });
        self.patch_here(&[open]);
        self.compile(&parts[1], Dest::Discard)?;
        self.emit(Op::EndCleanup { to: values });
        self.deliver_values(values, dest);
        self.free_to(level);
        Ok(())
    }

    fn compile_multiple_value_call(
        &mut self,
        function: &Core,
        forms: &[Core],
        dest: Dest,
    ) -> Outcome<()> {
        let level = self.level();
        let base = self.allocate()?;
        self.compile(function, Dest::Fresh(base))?;
        let values = self.allocate()?;
        for form in forms {
            self.compile(form, Dest::Values(values))?;
            self.emit(Op::SaveValues { from: values });
        }
        self.emit(Op::CallSaved { base, count: forms.len() as u16 });
        self.deliver_values(base, dest);
        self.free_to(level);
        Ok(())
    }

    fn compile_multiple_value_prog1(&mut self, parts: &[Core; 2], dest: Dest) -> Outcome<()> {
        let level = self.level();
        let values = self.allocate()?;
        match dest {
            Dest::Tail | Dest::Values(_) => {
                self.compile(&parts[0], Dest::Values(values))?;
                self.emit(Op::SaveValues { from: values });
                self.compile(&parts[1], Dest::Discard)?;
                self.emit(Op::RestoreValues { to: values });
            }
            _ => {
                self.compile(&parts[0], Dest::Fresh(values))?;
                self.compile(&parts[1], Dest::Discard)?;
            }
        }
        self.deliver_values(values, dest);
        self.free_to(level);
        Ok(())
    }
}
