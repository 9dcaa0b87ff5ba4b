//! Lambdas: parameters, closures, and the functions of `labels`.

use std::rc::Rc;

use crate::code::{
    Capture, Captures, Closure, Code, Function, Op, Parameters, RUNNING, Register, Template,
};
use crate::condition::Outcome;
use crate::core::{Core, Lambda, Optional, Variable};
use crate::heap::Ref;
use crate::value::Value;

use super::{Builder, Compiler, Dest, Place};

impl Compiler<'_> {
    pub(super) fn compile_closure(&mut self, lambda: &Lambda, dest: Dest) -> Outcome<()> {
        if dest == Dest::Discard {
            return Ok(());
        }
        let (code, captures) = self.compile_lambda(lambda, Builder::default())?;
        self.make_closure(code, captures, None, dest)
    }

    fn make_closure(
        &mut self,
        code: Code,
        captures: Vec<(Variable, Capture)>,
        siblings: Option<Rc<[Ref<Code>]>>,
        dest: Dest,
    ) -> Outcome<()> {
        let code = Ref::new(code);
        if captures.is_empty() && siblings.is_none() {
            // Nothing differs from one evaluation to the next: one function serves all.
            let captures = Ref::new(Captures::default());
            let function = Function::Closure(Closure { code, captures });
            let value = Value::Function(Ref::new(function));
            return self.simple(dest, |this, to| this.load(&value, to));
        }
        let captures = captures.into_iter().map(|(_, source)| source).collect();
        let templates = &mut self.builder().templates;
        templates.push(Template { code, captures, siblings });
        let index = (templates.len() - 1) as u32;
        self.simple(dest, |this, to| {
            this.emit(Op::Closure { to, index });
        })
    }

    /// Compiles a function with a builder that may know captures already.
    fn compile_lambda(
        &mut self,
        lambda: &Lambda,
        builder: Builder,
    ) -> Outcome<(Code, Vec<(Variable, Capture)>)> {
        self.builders.push(builder);
        let compiled = self.compile_parameters(lambda).and_then(|parameters| {
            self.compile(&lambda.body, Dest::Tail)?;
            Ok(parameters)
        });
        let mut builder = self.builders.pop().unwrap_or_default();
        let parameters = compiled?;
        let captures = std::mem::take(&mut builder.captures);
        let (name, list) = (lambda.name.clone(), lambda.lambda_list.clone());
        Ok((builder.finish(name, parameters, list, lambda.documentation.clone()), captures))
    }

    fn compile_parameters(&mut self, lambda: &Lambda) -> Outcome<Parameters> {
        let parameters = Parameters {
            required: lambda.required.len() as u16,
            optional: lambda.optional.len() as u16,
            rest: lambda.rest.is_some(),
            keyed: lambda.keyed,
            keys: lambda.keys.iter().map(|(keyword, _)| *keyword).collect(),
            allow_other_keys: lambda.allow_other_keys,
        };
        let count = lambda.required.len()
            + lambda.optional.len()
            + usize::from(lambda.rest.is_some())
            + lambda.keys.len();
        for _ in 0..count {
            self.allocate()?;
        }
        let mut register: Register = 0;
        for variable in &lambda.required {
            self.place_parameter(*variable, register);
            register += 1;
        }
        for optional in &lambda.optional {
            self.compile_optional(optional, register)?;
            register += 1;
        }
        if let Some(rest) = lambda.rest {
            self.place_parameter(rest, register);
            register += 1;
        }
        for (_, optional) in &lambda.keys {
            self.compile_optional(optional, register)?;
            register += 1;
        }
        Ok(parameters)
    }

    fn place_parameter(&mut self, variable: Variable, register: Register) {
        let place = self.settle(variable, register);
        self.bind(variable, place);
    }

    fn compile_optional(&mut self, optional: &Optional, register: Register) -> Outcome<()> {
        let given = self.emit(Op::JumpIfBound { at: register, target: 0 });
        self.compile(&optional.default, Dest::Register(register))?;
        let Some(supplied) = optional.supplied else {
            self.patch_here(&[given]);
            self.place_parameter(optional.variable, register);
            return Ok(());
        };
        let flag = self.allocate()?;
        self.emit(Op::Nil { to: flag });
        let end = self.emit(Op::Jump { target: 0 });
        self.patch_here(&[given]);
        self.emit(Op::True { to: flag });
        self.patch_here(&[end]);
        self.place_parameter(optional.variable, register);
        self.place_parameter(supplied, flag);
        Ok(())
    }

    /// Functions that see each other share one set of captures and make each other from it, so
    /// no function refers to itself and recursion makes no cycle on the heap.
    pub(super) fn compile_labels(
        &mut self,
        functions: &[(Variable, Lambda)],
        body: &Core,
        dest: Dest,
    ) -> Outcome<()> {
        let level = self.level();
        let (mut codes, mut captures) = (Vec::new(), Vec::new());
        for (own, (_, lambda)) in functions.iter().enumerate() {
            let mut builder = Builder { captures, ..Builder::default() };
            for (index, (variable, _)) in functions.iter().enumerate() {
                let sibling = Place::Sibling(index as u16);
                let place = if index == own { Place::Myself } else { sibling };
                builder.places.insert(*variable, place);
            }
            let (code, grown) = self.compile_lambda(lambda, builder)?;
            captures = grown;
            codes.push(Ref::new(code));
        }
        let Some(first_code) = codes.first().cloned() else { return self.compile(body, dest) };
        let siblings: Rc<[Ref<Code>]> = Rc::from(codes);
        let sources = captures.into_iter().map(|(_, source)| source).collect();
        let templates = &mut self.builder().templates;
        templates.push(Template { code: first_code, captures: sources, siblings: Some(siblings) });
        let template = (templates.len() - 1) as u32;
        let first = self.allocate()?;
        self.emit(Op::Closure { to: first, index: template });
        for (index, (variable, _)) in functions.iter().enumerate() {
            let register = if index == 0 { first } else { self.allocate()? };
            if index > 0 {
                debug_assert!(first != RUNNING);
                self.emit(Op::Sibling { to: register, of: first, index: index as u16 });
            }
            self.builder().places.insert(*variable, Place::Register(register));
        }
        self.compile_scope(level, body, dest)
    }
}
