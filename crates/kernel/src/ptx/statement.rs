//! Statements of one function as instructions: blocks, branches, loops, and calls, each of which
//! writes the called function's statements in its place.

use super::memory::Place;
use super::text::{Class, Label, Operand};
use super::{Failed, Outcome, Writer, layout};
use naga::valid::FunctionInfo;
use naga::{
    Barrier, Block, BuiltIn, EntryPoint, Expression, Function, Handle, Statement, SwitchValue,
    TypeInner,
};
use std::rc::Rc;

/// What an expression came to.
#[derive(Clone, Debug)]
pub(super) enum Value {
    /// The scalars of a value, in the order of its type.
    Scalars(Rc<[Operand]>),
    /// What a pointer points to.
    Place(Place),
}

/// A function while its statements are written.
pub(super) struct Frame<'m> {
    pub(super) function: &'m Function,
    pub(super) info: &'m FunctionInfo,
    pub(super) values: Vec<Option<Value>>,
    pub(super) arguments: Vec<Value>,
    pub(super) locals: Vec<Place>,
    /// Where a `return` leaves its value, and where it goes.
    result: Vec<Operand>,
    end: Label,
    end_used: bool,
    /// Where `break` and `continue` go, the innermost last.
    exits: Vec<(Label, Option<Label>)>,
}

impl<'m> Frame<'m> {
    fn new(
        writer: &mut Writer<'m>,
        function: &'m Function,
        info: &'m FunctionInfo,
        handle: Option<Handle<Function>>,
        arguments: Vec<Value>,
    ) -> Outcome<Frame<'m>> {
        let mut frame = Frame {
            function,
            info,
            values: vec![None; function.expressions.len()],
            arguments,
            locals: Vec::new(),
            result: Vec::new(),
            end: writer.text.label(),
            end_used: false,
            exits: Vec::new(),
        };
        for (local, variable) in function.local_variables.iter() {
            let inner = &writer.module.types[variable.ty].inner;
            let first = match variable.init {
                Some(init) => writer.scalars_of(&mut frame, init)?.to_vec(),
                None => layout::zeros(writer.module, inner)?,
            };
            let place = writer.variable(inner, writer.indexed.local(handle, local), &first)?;
            frame.locals.push(place);
        }
        Ok(frame)
    }

    pub(super) fn of_entry(writer: &mut Writer<'m>, entry: &'m EntryPoint) -> Outcome<Frame<'m>> {
        let module = writer.module;
        let mut arguments = Vec::new();
        for argument in &entry.function.arguments {
            let mut scalars = Vec::new();
            match (&argument.binding, &module.types[argument.ty].inner) {
                (Some(naga::Binding::BuiltIn(built_in)), _) => {
                    scalars.extend(writer.built_in(*built_in, entry.workgroup_size)?);
                }
                (None, TypeInner::Struct { members, .. }) => {
                    for member in members {
                        let Some(naga::Binding::BuiltIn(built_in)) = member.binding else {
                            return Err(Failed("an argument that is no built-in".into()));
                        };
                        scalars.extend(writer.built_in(built_in, entry.workgroup_size)?);
                    }
                }
                _ => return Err(Failed("an argument that is no built-in".into())),
            }
            arguments.push(Value::Scalars(scalars.into()));
        }
        Frame::new(writer, &entry.function, writer.info.get_entry_point(0), None, arguments)
    }

    pub(super) fn inner(&self, writer: &Writer<'m>, handle: Handle<Expression>) -> &'m TypeInner {
        self.info[handle].ty.inner_with(&writer.module.types)
    }
}

impl<'m> Writer<'m> {
    /// All statements of the entry point.
    pub(super) fn body(&mut self, mut frame: Frame<'m>) -> Outcome<()> {
        let function = frame.function;
        self.block(&mut frame, &function.body, true)?;
        if frame.end_used {
            self.text.place(frame.end);
        }
        self.text.line("ret");
        Ok(())
    }

    /// The statements of a block. At the end of a function (`last`) a `return` needs no branch.
    fn block(&mut self, frame: &mut Frame<'m>, block: &'m Block, last: bool) -> Outcome<()> {
        let count = block.len();
        for (i, statement) in block.iter().enumerate() {
            self.statement(frame, statement, last && i + 1 == count)?;
        }
        Ok(())
    }

    fn statement(
        &mut self,
        frame: &mut Frame<'m>,
        statement: &'m Statement,
        last: bool,
    ) -> Outcome<()> {
        match statement {
            Statement::Emit(range) => {
                for handle in range.clone() {
                    let value = self.evaluate(frame, handle)?;
                    frame.values[handle.index()] = Some(value);
                }
            }
            Statement::Block(block) => self.block(frame, block, last)?,
            Statement::If { condition, accept, reject } => {
                let condition = self.scalar_of(frame, *condition)?;
                self.either(frame, condition, [accept, reject], last)?;
            }
            Statement::Switch { selector, cases } => self.switch(frame, *selector, cases, last)?,
            Statement::Loop { body, continuing, break_if } => {
                self.repeat(frame, body, continuing, *break_if)?;
            }
            Statement::Break => {
                let (to, _) = frame.exits[frame.exits.len() - 1];
                self.text.branch(to);
            }
            Statement::Continue => {
                let to = next(frame)?;
                self.text.branch(to);
            }
            Statement::Return { value } => self.leave(frame, *value, last)?,
            Statement::ControlBarrier(barrier) => self.barrier(*barrier),
            Statement::MemoryBarrier(_) => self.text.line("fence.acq_rel.cta"),
            other => self.effect(frame, other)?,
        }
        Ok(())
    }

    /// The statements that touch memory, other functions or other invocations.
    fn effect(&mut self, frame: &mut Frame<'m>, statement: &'m Statement) -> Outcome<()> {
        match statement {
            Statement::Store { pointer, value } => {
                let place = self.place_of(frame, *pointer)?;
                let value = self.scalars_of(frame, *value)?;
                let inner = self.pointed(frame, *pointer)?;
                let inner = inner.inner_with(&self.module.types);
                self.store(&place, inner, &value)?;
            }
            Statement::Call { function, arguments, result } => {
                let arguments: Outcome<Vec<Value>> =
                    arguments.iter().map(|a| self.value(frame, *a)).collect();
                let value = self.call(*function, arguments?)?;
                if let Some(result) = result {
                    frame.values[result.index()] = Some(Value::Scalars(value.into()));
                }
            }
            Statement::WorkGroupUniformLoad { pointer, result } => {
                let place = self.place_of(frame, *pointer)?;
                self.text.line("bar.sync 0");
                let value = self.load(&place, frame.inner(self, *result))?;
                self.text.line("bar.sync 0");
                frame.values[result.index()] = Some(Value::Scalars(value.into()));
            }
            Statement::Atomic { pointer, fun, value, result } => {
                self.atomic(frame, *pointer, fun, *value, *result)?;
            }
            Statement::SubgroupBallot { .. }
            | Statement::SubgroupGather { .. }
            | Statement::SubgroupCollectiveOperation { .. } => {
                let (result, value) = self.subgroup(frame, statement)?;
                frame.values[result.index()] = Some(Value::Scalars(value.into()));
            }
            other => return Err(Failed(format!("no statement {other:?}"))),
        }
        Ok(())
    }

    fn either(
        &mut self,
        frame: &mut Frame<'m>,
        condition: Operand,
        [accept, reject]: [&'m Block; 2],
        last: bool,
    ) -> Outcome<()> {
        // A loop's own test, and the like: a branch with a condition.
        for (holds, block, other) in [(true, accept, reject), (false, reject, accept)] {
            if let Some(to) = exit(frame, block)
                && is_nothing(other, last)
            {
                self.text.branch_where(condition, holds, to);
                return Ok(());
            }
        }
        let end = self.text.label();
        if is_nothing(reject, last) {
            self.text.branch_where(condition, false, end);
            self.block(frame, accept, last)?;
        } else if is_nothing(accept, last) {
            self.text.branch_where(condition, true, end);
            self.block(frame, reject, last)?;
        } else {
            let other = self.text.label();
            self.text.branch_where(condition, false, other);
            self.block(frame, accept, last)?;
            if !goes_away(accept, last) {
                self.text.branch(end);
            }
            self.text.place(other);
            self.block(frame, reject, last)?;
        }
        self.text.place(end);
        Ok(())
    }

    fn repeat(
        &mut self,
        frame: &mut Frame<'m>,
        body: &'m Block,
        continuing: &'m Block,
        break_if: Option<Handle<Expression>>,
    ) -> Outcome<()> {
        let [start, next, end] = [(); 3].map(|()| self.text.label());
        frame.exits.push((end, Some(next)));
        self.text.place(start);
        self.block(frame, body, false)?;
        self.text.place(next);
        self.block(frame, continuing, false)?;
        if let Some(condition) = break_if {
            let condition = self.scalar_of(frame, condition)?;
            self.text.branch_where(condition, true, end);
        }
        self.text.branch(start);
        self.text.place(end);
        frame.exits.pop();
        Ok(())
    }

    fn switch(
        &mut self,
        frame: &mut Frame<'m>,
        selector: Handle<Expression>,
        cases: &'m [naga::SwitchCase],
        last: bool,
    ) -> Outcome<()> {
        let selector = self.scalar_of(frame, selector)?;
        let labels: Vec<Label> = cases.iter().map(|_| self.text.label()).collect();
        let end = self.text.label();
        let mut otherwise = end;
        for (case, label) in cases.iter().zip(&labels) {
            let value = match case.value {
                SwitchValue::I32(value) => value as u32,
                SwitchValue::U32(value) => value,
                SwitchValue::Default => {
                    otherwise = *label;
                    continue;
                }
            };
            let sources = [selector, Operand::word(value)];
            let equal = self.text.make(Class::Predicate, "setp.eq.u32", &sources);
            self.text.branch_where(equal, true, *label);
        }
        self.text.branch(otherwise);
        frame.exits.push((end, frame.exits.last().and_then(|(_, next)| *next)));
        for (case, label) in cases.iter().zip(&labels) {
            self.text.place(*label);
            self.block(frame, &case.body, last && !case.fall_through)?;
            if !case.fall_through {
                self.text.branch(end);
            }
        }
        frame.exits.pop();
        self.text.place(end);
        Ok(())
    }

    fn leave(
        &mut self,
        frame: &mut Frame<'m>,
        value: Option<Handle<Expression>>,
        last: bool,
    ) -> Outcome<()> {
        if let Some(value) = value {
            let value = self.scalars_of(frame, value)?;
            for (register, value) in frame.result.iter().zip(value.iter()) {
                self.text.assign(*register, *value);
            }
        }
        if !last {
            frame.end_used = true;
            self.text.branch(frame.end);
        }
        Ok(())
    }

    /// A call in place: what the function gives, in registers.
    fn call(&mut self, handle: Handle<Function>, arguments: Vec<Value>) -> Outcome<Vec<Operand>> {
        let function = &self.module.functions[handle];
        if let Some(results) = self.tensor(function.name.as_deref(), &arguments)? {
            return Ok(results);
        }
        let stack = self.stack;
        let info = &self.info[handle];
        let mut frame = Frame::new(self, function, info, Some(handle), arguments)?;
        // One `return` at the end gives its value without a register in between.
        if let Some((Statement::Return { value: Some(value) }, before)) = function.body.split_last()
            && returns(before) == 0
        {
            for statement in before {
                self.statement(&mut frame, statement, false)?;
            }
            let value = self.scalars_of(&mut frame, *value)?.to_vec();
            self.stack = stack;
            return Ok(value);
        }
        if let Some(result) = &function.result {
            let inner = &self.module.types[result.ty].inner;
            for scalar in layout::scalars(self.module, inner)? {
                let register = self.text.register(layout::class(scalar)?);
                frame.result.push(register);
            }
        }
        self.block(&mut frame, &function.body, true)?;
        if frame.end_used {
            self.text.place(frame.end);
        }
        self.stack = stack;
        Ok(frame.result)
    }

    fn barrier(&mut self, barrier: Barrier) {
        if barrier == Barrier::SUB_GROUP {
            return self.text.line("bar.warp.sync 0xffffffff");
        }
        // It also orders all accesses to memory of the group's invocations.
        self.text.line("bar.sync 0");
    }

    /// The built-in values of an invocation.
    fn built_in(&mut self, built_in: BuiltIn, group: [u32; 3]) -> Outcome<Vec<Operand>> {
        let axes = ["x", "y", "z"];
        let read = |writer: &mut Self, name: &str| {
            let register = writer.text.register(Class::B32);
            writer.text.line(format_args!("mov.u32 {register}, %{name}"));
            register
        };
        Ok(match built_in {
            BuiltIn::LocalInvocationId => axes.map(|a| read(self, &format!("tid.{a}"))).to_vec(),
            BuiltIn::WorkGroupId => axes.map(|a| read(self, &format!("ctaid.{a}"))).to_vec(),
            BuiltIn::NumWorkGroups => axes.map(|a| read(self, &format!("nctaid.{a}"))).to_vec(),
            BuiltIn::WorkGroupSize => group.map(Operand::word).to_vec(),
            BuiltIn::GlobalInvocationId => {
                let mut global = Vec::new();
                for (axis, extent) in axes.into_iter().zip(group) {
                    let own = read(self, &format!("tid.{axis}"));
                    let group = read(self, &format!("ctaid.{axis}"));
                    let sources = [group, Operand::word(extent), own];
                    global.push(self.text.make(Class::B32, "mad.lo.u32", &sources));
                }
                global
            }
            BuiltIn::LocalInvocationIndex => vec![self.local_index(group)],
            other => vec![self.subgroup_built_in(other, group)?],
        })
    }

    /// The number of an invocation in its group, x first.
    pub(super) fn local_index(&mut self, group: [u32; 3]) -> Operand {
        let ids = ["x", "y", "z"].map(|axis| {
            let register = self.text.register(Class::B32);
            self.text.line(format_args!("mov.u32 {register}, %tid.{axis}"));
            register
        });
        let mut index = ids[0];
        if group[1] > 1 {
            let sources = [ids[1], Operand::word(group[0]), index];
            index = self.text.make(Class::B32, "mad.lo.u32", &sources);
        }
        if group[2] > 1 {
            let sources = [ids[2], Operand::word(group[0] * group[1]), index];
            index = self.text.make(Class::B32, "mad.lo.u32", &sources);
        }
        index
    }
}

/// Where a block goes that does nothing else.
fn exit(frame: &Frame, block: &Block) -> Option<Label> {
    match block.first() {
        Some(Statement::Break) => frame.exits.last().map(|(end, _)| *end),
        Some(Statement::Continue) => next(frame).ok(),
        _ => None,
    }
}

fn next(frame: &Frame) -> Outcome<Label> {
    let next = frame.exits.last().and_then(|(_, next)| *next);
    next.ok_or_else(|| Failed("`continue` outside of a loop".into()))
}

/// Whether a block writes no instruction.
fn is_nothing(block: &Block, last: bool) -> bool {
    block.iter().all(|s| matches!(s, Statement::Return { value: None }) && last)
}

/// Whether what follows a block is not reached from it.
fn goes_away(block: &Block, last: bool) -> bool {
    match block.last() {
        Some(Statement::Break | Statement::Continue) => true,
        Some(Statement::Return { .. }) => !last,
        _ => false,
    }
}

fn returns(statements: &[Statement]) -> usize {
    let of = |block: &Block| returns(block);
    let each = |statement: &Statement| match statement {
        Statement::Return { .. } => 1,
        Statement::Block(block) => of(block),
        Statement::If { accept, reject, .. } => of(accept) + of(reject),
        Statement::Switch { cases, .. } => cases.iter().map(|case| of(&case.body)).sum(),
        Statement::Loop { body, continuing, .. } => of(body) + of(continuing),
        _ => 0,
    };
    statements.iter().map(each).sum()
}
