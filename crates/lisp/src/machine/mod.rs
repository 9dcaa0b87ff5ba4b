//! The machine: runs instructions. A call from Lisp to Lisp pushes a frame here and does not
//! recurse on the native stack; a native that calls back starts a `Machine` of its own.
//!
//! The loop is `execute`; it leaves with an escape, `unwind::recover` finds where to go on.
//! Argument passing is in `calls`. Values of a call: the first is the result, and when
//! `Lisp::multiple` is set all of them are in `Lisp::extra`.

mod arithmetic;
mod bridge;
mod calls;
mod execute;
mod generic;
mod lost;
mod met;
mod missing;
mod step;
mod unwind;

use std::rc::Rc;

use crate::code::{Function, Op};
use crate::condition::{Escape, Outcome};
use crate::heap::Ref;
use crate::lisp::Lisp;
use crate::source::Span;
use crate::symbol::Symbol;
use crate::value::Value;

use bridge::Bridge;
pub use bridge::{ArrayLayout, HELPERS, Helpers, LAYOUT, Layout, VersionRef, array_layout};
pub(crate) use calls::{NO_OPS, arguments_are, count_error, function_name, unknown_keyword};
pub(crate) use unwind::Control;

/// A frame that waits for the one above it.
#[repr(C)]
pub(crate) struct Frame {
    function: Ref<Function>,
    /// What it runs, unless it is native code.
    ops: Option<Rc<[Op]>>,
    version: Option<VersionRef>,
    pc: u32,
    base: u32,
    registers: u32,
    /// Where the value of the frame above goes.
    result: u32,
}

/// Values kept while something else runs, or on their way to somewhere. One is the rule.
pub struct Lot {
    first: Value,
    /// All values, unless there is just the first.
    all: Option<Vec<Value>>,
}

impl Lot {
    fn take(lisp: &mut Lisp, first: Value) -> Lot {
        let all = std::mem::take(&mut lisp.multiple).then(|| std::mem::take(&mut lisp.extra));
        Lot { first, all }
    }

    fn restore(self, lisp: &mut Lisp) -> Value {
        lisp.multiple = self.all.is_some();
        if let Some(all) = self.all {
            lisp.extra = all;
        }
        self.first
    }

    /// These.
    pub(crate) fn of(values: Vec<Value>) -> Lot {
        let first = values.first().cloned().unwrap_or_default();
        Lot { first, all: (values.len() != 1).then_some(values) }
    }

    pub(crate) fn into_values(self) -> Vec<Value> {
        self.all.unwrap_or_else(|| vec![self.first])
    }
}

/// What a clean-up goes on with.
pub(crate) enum Pending {
    Values(Lot),
    Escape(Escape),
}

/// The stacks of one run; reused from run to run.
#[derive(Default)]
pub(crate) struct Stacks {
    values: Vec<Value>,
    frames: Vec<Frame>,
    lots: Vec<Lot>,
    pending: Vec<Pending>,
}

/// One run of the machine.
pub(crate) struct Machine {
    stacks: Stacks,
    function: Ref<Function>,
    ops: Rc<[Op]>,
    pc: usize,
    base: usize,
    registers: usize,
    /// How many entries of the control stack belong to runs outside this one.
    controls: usize,
    /// How many frames this run may have.
    frame_limit: usize,
    /// The native code that runs or runs next; none: the bytecode does.
    version: Option<VersionRef>,
    /// Whether it goes on after a call.
    resumes: bool,
    bridge: Bridge,
}

impl Lisp {
    /// Calls a function (or the function a symbol names) and gives its first value.
    pub fn call(&mut self, function: &Value, arguments: &[Value]) -> Outcome {
        let value = self.call_keeping_values(function, arguments);
        self.multiple = false;
        value
    }

    /// Calls a function and gives all its values.
    pub fn call_for_values(
        &mut self,
        function: &Value,
        arguments: &[Value],
    ) -> Outcome<Vec<Value>> {
        let first = self.call_keeping_values(function, arguments)?;
        Ok(self.take_values(first))
    }

    /// Calls a function; the further values stay where a native's caller looks for them.
    pub fn call_keeping_values(&mut self, function: &Value, arguments: &[Value]) -> Outcome {
        let function = self.function_of(function)?;
        self.multiple = false;
        match &*function {
            Function::Native(native) => calls::call_native(self, native, arguments),
            Function::Generic(_) => self.call_generic(&function, arguments),
            Function::Closure(_) => {
                // A native's loop over a function without calls or loops polls here alone.
                self.poll()?;
                self.run(&function, arguments)
            }
        }
    }

    /// Calls the global function of a symbol in the name of a form that stands there.
    pub fn call_at(&mut self, name: Symbol, arguments: &[Value], place: Option<Span>) -> Outcome {
        let outer = std::mem::replace(&mut self.step, place);
        let value = self.call(&Value::symbol(name), arguments);
        self.step = outer;
        value.map_err(|escape| escape.placed(place))
    }

    /// Runs a closure on a machine of its own.
    fn run(&mut self, function: &Ref<Function>, arguments: &[Value]) -> Outcome {
        crate::stack::check("the recursion of native functions")?;
        let mut stacks = self.stacks.pop().unwrap_or_default();
        if stacks.values.len() < arguments.len() {
            stacks.values.resize(arguments.len() + 64, Value::Nil);
        }
        for (register, argument) in stacks.values.iter_mut().zip(arguments) {
            register.put(argument.clone());
        }
        let (controls, bindings) = (self.controls.len(), self.bindings.len());
        let frame_limit = self.frames_left;
        let mut machine = Machine {
            stacks,
            function: function.clone(),
            ops: self.no_ops.clone(),
            pc: 0,
            base: 0,
            registers: 0,
            controls,
            frame_limit,
            version: None,
            resumes: false,
            bridge: Bridge::default(),
        };
        let (site, step) = (self.site.take(), self.step.take());
        let sites = self.outer_sites.len();
        self.outer_sites.extend(site.clone());
        let started = machine.start(self, arguments.len());
        let result = started.and_then(|()| machine.run(self));
        self.outer_sites.truncate(sites);
        (self.site, self.step) = (site, step);
        self.frames_left = frame_limit;
        self.controls.truncate(controls);
        self.unbind_to(bindings);
        let mut stacks = machine.stacks;
        if result.is_err() {
            // A run that ends well has let go of everything itself; this one stopped with frames
            // open, the innermost of them up to `top`, and perhaps arguments above.
            let top = (machine.base + machine.registers + 64).min(stacks.values.len());
            stacks.values[..top].iter_mut().for_each(Value::release);
            stacks.frames.clear();
            stacks.lots.clear();
            stacks.pending.clear();
        }
        self.stacks.push(stacks);
        result
    }

    /// Binds a dynamic variable until `unbind_to`.
    pub(crate) fn bind(&mut self, symbol: crate::symbol::Symbol, value: Value) {
        self.bindings.push(symbol);
        self.hidden.push(value);
        self.swap_binding(symbol);
    }

    /// Swaps a dynamic variable's value and the last one that is hidden, where they are: a pair of
    /// symbol and value on the way there is copied in pieces, which the processor waits for.
    #[inline]
    fn swap_binding(&mut self, symbol: crate::symbol::Symbol) {
        if let Some(hidden) = self.hidden.last_mut() {
            std::mem::swap(&mut self.symbols[symbol].value, hidden);
        }
    }

    /// Undoes bindings until so many are left.
    pub(crate) fn unbind_to(&mut self, count: usize) {
        while self.bindings.len() > count {
            if let Some(symbol) = self.bindings.pop() {
                self.swap_binding(symbol);
                self.hidden.truncate(self.bindings.len());
            }
        }
    }

    /// Runs something with a dynamic variable bound.
    pub fn with_binding<R>(
        &mut self,
        symbol: crate::symbol::Symbol,
        value: Value,
        run: impl FnOnce(&mut Lisp) -> R,
    ) -> R {
        let depth = self.bindings.len();
        self.bind(symbol, value);
        let result = run(self);
        self.unbind_to(depth);
        result
    }

    /// Returns several values from a native: `return Ok(lisp.values(vec![a, b]))`.
    pub fn values(&mut self, values: Vec<Value>) -> Value {
        let first = values.first().cloned().unwrap_or_default();
        self.multiple = values.len() != 1;
        if self.multiple {
            self.extra = values;
        }
        first
    }

    /// All values of the call that has just given `first`.
    pub(crate) fn take_values(&mut self, first: Value) -> Vec<Value> {
        if std::mem::take(&mut self.multiple) {
            std::mem::take(&mut self.extra)
        } else {
            vec![first]
        }
    }
}

impl Machine {
    /// Runs until the first frame returns or an escape leaves it.
    fn run(&mut self, lisp: &mut Lisp) -> Outcome {
        loop {
            let stopped = match self.version {
                Some(_) => self.run_native(lisp),
                None => self.execute(lisp),
            };
            match stopped {
                Ok(Some(value)) => return Ok(value),
                Ok(None) => {}
                Err(escape) => self.land(lisp, escape)?,
            }
        }
    }

    /// Goes to where an escape leads in this run.
    fn land(&mut self, lisp: &mut Lisp, escape: Escape) -> Outcome<()> {
        lisp.multiple = false;
        if self.version.take().is_some() {
            self.ops = self.code().ops.clone();
        }
        self.recover(lisp, escape)?;
        // Native code goes on where it has an entry there.
        self.version = self.code().native.version.get();
        self.resumes = false;
        Ok(())
    }
}
