//! Passing arguments: from the registers of a call to the parameters of the callee.

use crate::code::{Closure, Code, Function, Op};
use crate::condition::{Escape, Outcome};
use crate::heap::Ref;
use crate::lisp::Lisp;
use crate::machine_code::STRIDE;
use crate::native::{Body, NativeFunction};
use crate::symbol::{self, Symbol};
use crate::value::{NIL, Value, list};

use super::{Frame, Machine, VersionRef};

/// Calls a native function with arguments that lie anywhere.
pub(super) fn call_native(
    lisp: &mut Lisp,
    native: &NativeFunction,
    arguments: &[Value],
) -> Outcome {
    let count = arguments.len() as u32;
    if count < native.minimum || count > native.maximum {
        return Err(wrong_count(lisp, native, count));
    }
    // The outcome is made where the caller wants it: a value taken out and put into another outcome
    // is copied in pieces, which the processor has to wait for. That was half of the time of a call.
    let mut outcome = match &native.body {
        Body::Plain(body) => body(lisp, arguments),
        Body::Shared(body) => body.clone()(lisp, arguments),
    };
    if outcome.is_err() {
        super::lost::instead(lisp, &mut outcome);
    }
    // A native that took long saw no Ctrl-C itself; nothing after it may run.
    if lisp.interrupted()
        && outcome.is_ok()
        && let Err(escape) = lisp.interrupt()
    {
        outcome = Err(escape);
    }
    outcome
}

#[cold]
fn wrong_count(lisp: &Lisp, native: &NativeFunction, count: u32) -> Escape {
    let name = lisp.name(native.name).to_lowercase();
    let error = count_error(&name, native.minimum, native.maximum, count);
    error.hint(arguments_are(&format!("({})", native.lambda_list)))
}

/// `its arguments are (a &key axis)`, for hints.
pub(crate) fn arguments_are(lambda_list: &str) -> String {
    match lambda_list {
        "()" | "nil" | "NIL" => "it takes no arguments".to_string(),
        list => format!("its arguments are {}", list.to_lowercase()),
    }
}

/// `f: expected 2 arguments: got 3`.
pub(crate) fn count_error(name: &str, minimum: u32, maximum: u32, count: u32) -> Escape {
    let plural = |n: u32| if n == 1 { "argument" } else { "arguments" };
    let wanted = match (minimum, maximum) {
        (least, u32::MAX) => format!("at least {least} {}", plural(least)),
        (least, most) if least == most => format!("{least} {}", plural(least)),
        (least, most) => format!("{least} to {most} arguments"),
    };
    Escape::program(format!("{name}: expected {wanted}: got {count}"))
}

pub(super) fn closure_of(function: &Function) -> &Closure {
    match function {
        Function::Closure(closure) => closure,
        _ => unreachable!("the machine runs closures only"),
    }
}

impl Machine {
    pub(super) fn code(&self) -> &Code {
        &closure_of(&self.function).code
    }

    /// Prepares the first frame, whose arguments are the values on the stack.
    pub(super) fn start(&mut self, lisp: &mut Lisp, count: usize) -> Outcome<()> {
        let function = self.function.clone();
        self.enter(lisp, function, 0, count)
    }

    /// Makes a closure the running function, its window beginning at `base` with `count`
    /// arguments in it.
    pub(super) fn enter(
        &mut self,
        lisp: &mut Lisp,
        function: Ref<Function>,
        base: usize,
        count: usize,
    ) -> Outcome<()> {
        let closure = closure_of(&function);
        let registers = closure.code.registers as usize;
        let needed = base + registers.max(count);
        if self.stacks.values.len() < needed {
            self.stacks.values.resize(needed + needed / 2 + 64, NIL);
        }
        let mut arranged = count;
        if closure.code.simple.map(usize::from) != Some(count) {
            self.arrange(lisp, &closure.code, base, count)?;
            arranged = closure.code.parameters.count();
        }
        self.version = lisp.tick(&closure.code);
        if self.version.is_some() {
            self.stacks.clear(base + arranged, needed);
        }
        self.ops = closure.code.ops.clone();
        self.registers = registers;
        self.base = base;
        self.pc = 0;
        self.function = function;
        Ok(())
    }

    /// Calls the function in a register or a symbol's cell: a closure gets a frame, a native
    /// runs at once and leaves its value in `result`. Indices are absolute.
    pub(super) fn call(
        &mut self,
        lisp: &mut Lisp,
        function: Ref<Function>,
        first: usize,
        count: usize,
        result: usize,
    ) -> Outcome<()> {
        if let Function::Native(native) = &*function {
            let value = self.native(lisp, native, first, count)?;
            self.stacks.values[result] = value;
            return Ok(());
        }
        if let Function::Generic(_) = &*function {
            return self.call_generic(lisp, &function, first, count, result);
        }
        if self.stacks.frames.len() >= self.frame_limit {
            return Err(too_many_frames(lisp));
        }
        let waiting = Frame {
            function: self.function.clone(),
            ops: self.version.is_none().then(|| self.ops.clone()),
            version: self.version,
            pc: self.pc as u32,
            base: self.base as u32,
            registers: self.registers as u32,
            result: result as u32,
        };
        // After the callee's arguments are known to fit, so that an error stands in the caller.
        self.enter(lisp, function, first, count)?;
        self.stacks.frames.push(waiting);
        Ok(())
    }

    /// Runs a native on arguments in registers, which are empty afterwards.
    #[inline]
    pub(super) fn native(
        &mut self,
        lisp: &mut Lisp,
        native: &NativeFunction,
        first: usize,
        count: usize,
    ) -> Outcome {
        self.note_site(lisp);
        lisp.multiple = false;
        lisp.frames_left = self.frame_limit - self.stacks.frames.len().min(self.frame_limit);
        let arguments = &self.stacks.values[first..first + count];
        let outcome = call_native(lisp, native, arguments);
        self.note_fetches(lisp);
        if outcome.is_ok() {
            for argument in &mut self.stacks.values[first..first + count] {
                argument.release();
            }
        }
        outcome
    }

    /// Notes which form is running, for whoever asks `Lisp::call_span`. The library's own code
    /// has no places: then the nearest frame that has one stands for it.
    #[inline]
    pub(super) fn note_site(&mut self, lisp: &mut Lisp) {
        let (mut running, mut at) = (&self.function, self.pc);
        if self.code().lines.is_empty() {
            let placed = |frame: &&Frame| !closure_of(&frame.function).code.lines.is_empty();
            if let Some(frame) = self.stacks.frames.iter().rev().find(placed) {
                (running, at) = (&frame.function, frame.pc as usize);
            }
        }
        match &mut lisp.site {
            Some((function, pc)) => {
                if !Ref::same(function, running) {
                    *function = running.clone();
                }
                *pc = at;
            }
            none => *none = Some((running.clone(), at)),
        }
    }

    /// Charges the running form with the arrays that it brought home.
    #[inline]
    pub(super) fn note_fetches(&mut self, lisp: &mut Lisp) {
        if let Some(fetches) = crate::packed::fetched() {
            self.note_site(lisp);
            lisp.charge(fetches);
        }
    }

    /// A tail call: the callee takes over this frame. Gives the value when the callee was a
    /// native and has run.
    pub(super) fn tail_call(
        &mut self,
        lisp: &mut Lisp,
        function: Ref<Function>,
        first: usize,
        count: usize,
    ) -> Outcome<Option<Value>> {
        let callee = match &*function {
            Function::Native(native) => return self.native(lisp, native, first, count).map(Some),
            Function::Generic(_) => return self.tail_call_generic(lisp, &function, first, count),
            Function::Closure(closure) => closure,
        };
        if callee.code.lines.is_empty() && !self.code().lines.is_empty() {
            // The library has no places: keep the frame, so that an error stands in the program.
            self.call(lisp, function, first, count, first)?;
            return Ok(None);
        }
        lisp.poll()?;
        let (base, end) = (self.base, (self.base + self.registers).max(first + count));
        for index in 0..count {
            self.stacks.values.swap(base + index, first + index);
        }
        for value in &mut self.stacks.values[base + count..end] {
            value.release();
        }
        self.enter(lisp, function, base, count)?;
        Ok(None)
    }

    /// What native code leaves to the machine of a call: whether it has run, its value being where
    /// the instruction wants it. Otherwise another function runs.
    pub(super) fn call_from_native(&mut self, lisp: &mut Lisp, op: Op) -> Outcome<bool> {
        if lisp.interrupted() {
            self.interrupt(lisp)?;
        }
        let depth = self.stacks.frames.len();
        let at = |register: u16| self.base + register as usize;
        match op {
            Op::Call { base, count, symbol } => {
                let (first, function) = (at(base), self.callee(lisp, symbol)?);
                self.call(lisp, function, first, count as usize, first)?;
            }
            Op::CallValue { base, count } => {
                let first = at(base);
                let designator = std::mem::take(&mut self.stacks.values[first]);
                let function = self.designated(lisp, &designator)?;
                self.call(lisp, function, first + 1, count as usize, first)?;
            }
            Op::CallSaved { base, count } => self.call_saved(lisp, at(base), count as usize)?,
            Op::TailCall { base, count, symbol } => {
                let (first, function) = (at(base), self.callee(lisp, symbol)?);
                let value = self.tail_call(lisp, function, first, count as usize)?;
                return Ok(self.kept(first, value));
            }
            Op::TailCallValue { base, count } => {
                let first = at(base);
                let designator = std::mem::take(&mut self.stacks.values[first]);
                let function = self.designated(lisp, &designator)?;
                let value = self.tail_call(lisp, function, first + 1, count as usize)?;
                return Ok(self.kept(first + 1, value));
            }
            other => unreachable!("{other:?} is no call"),
        }
        Ok(self.stacks.frames.len() == depth)
    }

    /// Puts the value of a tail call that has run where the instruction after it returns it.
    fn kept(&mut self, at: usize, value: Option<Value>) -> bool {
        let ran = value.is_some();
        if let Some(value) = value {
            self.stacks.values[at].put(value);
        }
        ran
    }

    /// Spreads arguments over the parameters of a lambda list that is not simple.
    fn arrange(&mut self, lisp: &mut Lisp, code: &Code, base: usize, count: usize) -> Outcome<()> {
        let shape = &code.parameters;
        let (required, optional) = (shape.required as usize, shape.optional as usize);
        let open = shape.rest || shape.keyed;
        if count < required || (count > required + optional && !open) {
            let name = function_name(lisp, &code.name);
            let maximum = if open { u32::MAX } else { (required + optional) as u32 };
            let error = count_error(&name, required as u32, maximum, count as u32);
            return Err(error.hint(arguments_are(&lisp.brief(&code.lambda_list))));
        }
        let positional = required + optional;
        let values = &mut self.stacks.values;
        let others = if count > positional {
            let others = values[base + positional..base + count].to_vec();
            for value in &mut values[base + positional..base + count] {
                *value = NIL;
            }
            others
        } else {
            for value in &mut values[base + count..base + positional] {
                *value = Value::Unbound;
            }
            Vec::new()
        };
        let mut next = base + positional;
        if shape.keyed {
            let found = keyword_values(lisp, code, &others)?;
            let first = next + usize::from(shape.rest);
            for (index, value) in found.into_iter().enumerate() {
                self.stacks.values[first + index] = value;
            }
        }
        if shape.rest {
            self.stacks.values[next] = list(others);
            next += 1;
        }
        debug_assert!(next <= self.stacks.values.len());
        Ok(())
    }
}

fn keyword_values(lisp: &Lisp, code: &Code, arguments: &[Value]) -> Outcome<Vec<Value>> {
    let shape = &code.parameters;
    if arguments.len() % 2 == 1 {
        let error = Escape::program("Odd number of keyword arguments");
        return Err(error.hint(arguments_are(&lisp.brief(&code.lambda_list))));
    }
    let mut found = vec![Value::Unbound; shape.keys.len()];
    let mut unknown = None;
    let mut allowed = shape.allow_other_keys;
    for pair in arguments.chunks_exact(2) {
        let name = pair[0].as_symbol();
        match shape.keys.iter().position(|key| Some(*key) == name) {
            Some(position) if found[position].is_unbound() => found[position] = pair[1].clone(),
            Some(_) => {}
            None if name == Some(symbol::KEY_ALLOW_OTHER_KEYS) => allowed |= pair[1].truth(),
            None => unknown = unknown.or(Some(&pair[0])),
        }
    }
    match unknown {
        // What is no keyword came where one was due: the whole list says which.
        Some(other) if !allowed && other.as_symbol().is_none() => {
            let error = unknown_keyword(lisp, other, &shape.keys);
            Err(error.hint(arguments_are(&lisp.brief(&code.lambda_list))))
        }
        Some(name) if !allowed => Err(unknown_keyword(lisp, name, &shape.keys)),
        _ => Ok(found),
    }
}

/// A keyword that a function does not take, with those that it does.
#[cold]
pub(crate) fn unknown_keyword(lisp: &Lisp, name: &Value, known: &[Symbol]) -> Escape {
    let name = lisp.brief(name);
    let name = name.trim_start_matches(':');
    let known = known.iter().map(|key| format!(":{}", lisp.name(*key).to_lowercase()));
    let known = known.collect::<Vec<_>>();
    let hint = match known.is_empty() {
        true => "it takes no keywords".to_string(),
        false => format!("its keywords are {}", known.join(" ")),
    };
    Escape::program(format!("Unknown keyword argument: {name}")).hint(hint)
}

/// A function's name in a message.
pub(crate) fn function_name(lisp: &Lisp, name: &Value) -> String {
    match name {
        Value::Nil => "lambda".to_string(),
        Value::Symbol(symbol::TOP_LEVEL) => "top level".to_string(),
        name => lisp.brief(name).to_lowercase(),
    }
}

#[cold]
pub(super) fn too_many_frames(lisp: &Lisp) -> Escape {
    let text = format!("recursion is deeper than {} frames", lisp.frame_limit);
    Escape::of(symbol::STORAGE_CONDITION, text).hint("--stack=N allows N frames")
}

impl Lisp {
    /// Counts a call or a backward jump; the native code of the function.
    #[inline(always)]
    pub(super) fn tick(&mut self, code: &Code) -> Option<VersionRef> {
        self.native.tick = self.native.tick.wrapping_sub(1);
        if self.native.tick > STRIDE {
            self.native.tick = self.stride();
            return self.sample(code);
        }
        code.native.version.get()
    }

    /// Whether Ctrl-C was pressed since the last time; clears the mark.
    #[inline(always)]
    pub(crate) fn interrupted(&self) -> bool {
        use std::sync::atomic::Ordering::Relaxed;
        self.interrupt.load(Relaxed) && self.interrupt.swap(false, Relaxed)
    }

    /// An escape if Ctrl-C was pressed.
    #[inline(always)]
    pub fn poll(&mut self) -> Outcome<()> {
        if self.interrupted() { self.interrupt() } else { Ok(()) }
    }

    /// The function that a function designator means.
    pub fn function_of(&mut self, designator: &Value) -> Outcome<Ref<Function>> {
        match designator {
            Value::Function(function) => Ok(function.clone()),
            Value::Symbol(symbol) => self.global_function(*symbol),
            other => Err(Escape::wrong_type("funcall", symbol::FUNCTION, other)),
        }
    }

    /// The global function of a symbol, loaded from the library if need be.
    pub fn global_function(&mut self, symbol: Symbol) -> Outcome<Ref<Function>> {
        self.find_function(symbol)?.ok_or_else(|| self.undefined_function(symbol))
    }

    /// The same, if there is one.
    pub(crate) fn find_function(&mut self, symbol: Symbol) -> Outcome<Option<Ref<Function>>> {
        if let Value::Function(function) = &self.symbols[symbol].function {
            return Ok(Some(function.clone()));
        }
        if self.load_from_library(symbol)?
            && let Value::Function(function) = &self.symbols[symbol].function
        {
            return Ok(Some(function.clone()));
        }
        Ok(None)
    }
}

/// An instruction that no jump leads to; what the running function has before it starts.
pub(crate) const NO_OPS: [Op; 1] = [Op::Single];
