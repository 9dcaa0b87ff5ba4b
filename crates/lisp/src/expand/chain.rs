//! Chains: calls of an embedder's functions that stand in each other, `(f (g a b) c)`, become one
//! call of the embedder's runner, which may do them together.
//!
//! Nothing is evaluated in another order. The arguments of a chain are evaluated from left to
//! right, as ever, and then its functions are called; so a call is taken in only where each
//! argument after it is a constant or a variable, whose evaluation nobody can see.

use std::any::Any;
use std::cell::OnceCell;
use std::collections::{HashMap, HashSet};

use crate::core::{Call, Core, Target};
use crate::object::{Foreign, Object};
use crate::source::Span;
use crate::symbol::{self, Symbol};
use crate::value::Value;

use super::Expander;

/// The arguments that a chain may have: what a kernel over all of them can bind.
const MOST_ARGUMENTS: usize = 16;

/// One step of a chain; they stand in postfix order.
#[derive(Clone, Copy)]
pub enum Step {
    /// The next argument.
    Argument,
    /// A function of the `count` values before it.
    Call {
        /// Its name.
        function: Symbol,
        /// How many arguments it takes.
        count: usize,
        /// Where its form stands.
        span: Option<Span>,
    },
}

/// A chain: the first argument of the runner.
pub struct Chain {
    /// What is to be done.
    pub steps: Box<[Step]>,
    /// What the runner makes of it, once.
    pub prepared: OnceCell<Box<dyn Any>>,
}

impl Foreign for Chain {
    fn words(&self) -> String {
        format!("CHAIN of {} steps", self.steps.len())
    }
}

/// What an embedder has chained.
pub struct Chaining {
    /// Called with a `Chain` and its arguments; it must do what the calls would.
    pub runner: Symbol,
    /// The functions, and how many arguments a call of each must have to be taken in.
    pub functions: HashMap<Symbol, usize>,
    /// Those of them that take no call in: they stand first in a chain.
    pub first: HashSet<Symbol>,
}

impl Chaining {
    /// Whether a call of `name` may begin or extend a chain: a call among its arguments can be
    /// taken in, and what stands after the first such one has nothing to do but be read.
    fn takes(&self, name: Symbol, arguments: &[Core]) -> bool {
        if self.functions.get(&name) != Some(&arguments.len()) || self.first.contains(&name) {
            return false;
        }
        let Some(first) = arguments.iter().position(|a| self.parts(a).is_some()) else {
            return false;
        };
        let still =
            |a: &Core| self.parts(a).map_or(is_still(a), |parts| parts.iter().all(is_still));
        let count: usize = arguments.iter().map(|a| self.parts(a).map_or(1, <[Core]>::len)).sum();
        count <= MOST_ARGUMENTS && arguments[first + 1..].iter().all(still)
    }

    /// The arguments of a call that can be taken in.
    fn parts<'a>(&self, core: &'a Core) -> Option<&'a [Core]> {
        let Core::Call(call) = core else { return None };
        match call.target {
            Target::Global(name) if name == self.runner => Some(&call.arguments[1..]),
            Target::Global(name) if self.functions.get(&name) == Some(&call.arguments.len()) => {
                Some(&call.arguments)
            }
            _ => None,
        }
    }

    /// Puts an argument, or the call that it is, at the end of a chain.
    fn append(&self, argument: Core, chain: &mut Vec<Step>, arguments: &mut Vec<Core>) {
        if self.parts(&argument).is_none() {
            chain.push(Step::Argument);
            arguments.push(argument);
            return;
        }
        let Core::Call(call) = argument else { return };
        let Call { target, arguments: mut own, span } = *call;
        let inner = own.first().and_then(chain_of);
        match (target, inner.as_ref().and_then(Value::as_foreign::<Chain>)) {
            (_, Some(inner)) => {
                chain.extend_from_slice(&inner.steps);
                own.remove(0);
            }
            (Target::Global(function), None) => {
                let count = own.len();
                chain.extend(std::iter::repeat_n(Step::Argument, count));
                chain.push(Step::Call { function, count, span });
            }
            _ => {}
        }
        arguments.append(&mut own);
    }
}

/// The chain of a runner's first argument.
fn chain_of(core: &Core) -> Option<Value> {
    match core {
        Core::Constant(value) if value.as_foreign::<Chain>().is_some() => Some(value.clone()),
        _ => None,
    }
}

/// Whether evaluating it does nothing that could be seen, and gives the same before and after the
/// functions of a chain.
fn is_still(core: &Core) -> bool {
    match core {
        Core::Constant(_) | Core::Local(_) | Core::Global(_) | Core::GlobalFunction(..) => true,
        // A literal array, which is copied for each evaluation.
        Core::Call(call) => {
            matches!(call.target, Target::Global(symbol::PACKED_COPY))
                && call.arguments.iter().all(is_still)
        }
        _ => false,
    }
}

impl Expander<'_> {
    /// A call of a global function; with the calls among its arguments one of the runner, where
    /// they make a chain.
    pub(super) fn global_call(&self, name: Symbol, arguments: Vec<Core>) -> Core {
        let chaining = match &self.lisp.chaining {
            Some(chaining) if chaining.takes(name, &arguments) => chaining,
            _ => return self.call(Target::Global(name), arguments),
        };
        let (mut steps, mut all) = (Vec::new(), vec![Core::NIL]);
        let count = arguments.len();
        for argument in arguments {
            chaining.append(argument, &mut steps, &mut all);
        }
        steps.push(Step::Call { function: name, count, span: self.span });
        let chain = Chain { steps: steps.into(), prepared: OnceCell::new() };
        all[0] = Core::Constant(Value::object(Object::Foreign(Box::new(chain))));
        self.call(Target::Global(chaining.runner), all)
    }
}
