//! What names mean where a form stands: the lexical environment of the expander.
//!
//! A chain of nodes, innermost first; a scope is left by putting the old chain back.

use std::rc::Rc;

use crate::core::{ExitId, Variable};
use crate::symbol::Symbol;
use crate::value::Value;

/// What one name means.
#[derive(Clone)]
pub enum Meaning {
    /// A lexical variable.
    Variable(Symbol, Variable),
    /// A variable that is dynamic here.
    Special(Symbol),
    /// Whether a compiler macro may stand for calls of a function here.
    Inlining(Symbol, bool),
    /// The level of safety that is declared here.
    Safety(i64),
    /// A symbol macro and its expansion.
    SymbolMacro(Symbol, Value),
    /// A local function, held by a variable; with `true`, the function of `(setf NAME)`.
    Function(Symbol, bool, Variable),
    /// A local macro and its expander.
    Macro(Symbol, Value),
    /// A block.
    Block(Symbol, ExitId),
    /// A tag of a tagbody and its number there.
    Tag(Value, ExitId, u32),
}

/// A chain of meanings.
#[derive(Clone, Default)]
pub struct Environment(Option<Rc<Node>>);

struct Node {
    meaning: Meaning,
    outer: Environment,
}

impl Drop for Node {
    /// Long chains are let go one node at a time.
    fn drop(&mut self) {
        let mut next = self.outer.0.take();
        while let Some(node) = next {
            match Rc::try_unwrap(node) {
                Ok(mut node) => next = node.outer.0.take(),
                Err(_) => break,
            }
        }
    }
}

impl Environment {
    /// This environment with one more meaning.
    pub fn with(&self, meaning: Meaning) -> Environment {
        Environment(Some(Rc::new(Node { meaning, outer: self.clone() })))
    }

    fn find<R>(&self, mut wanted: impl FnMut(&Meaning) -> Option<R>) -> Option<R> {
        let mut at = self;
        while let Some(node) = &at.0 {
            if let Some(found) = wanted(&node.meaning) {
                return Some(found);
            }
            at = &node.outer;
        }
        None
    }

    /// What a name means as a variable.
    pub fn variable(&self, name: Symbol) -> Option<Meaning> {
        self.find(|meaning| match meaning {
            Meaning::Variable(n, _) | Meaning::Special(n) | Meaning::SymbolMacro(n, _)
                if *n == name =>
            {
                Some(meaning.clone())
            }
            _ => None,
        })
    }

    /// What a name means as a function; `setf` asks for `(setf NAME)`.
    pub fn function(&self, name: Symbol, setf: bool) -> Option<Meaning> {
        self.find(|meaning| match meaning {
            Meaning::Function(n, s, _) if *n == name && *s == setf => Some(meaning.clone()),
            Meaning::Macro(n, _) if *n == name && !setf => Some(meaning.clone()),
            _ => None,
        })
    }

    /// What is declared here of calls of a function.
    pub fn inlining(&self, name: Symbol) -> Option<bool> {
        self.find(|meaning| match meaning {
            Meaning::Inlining(n, inline) if *n == name => Some(*inline),
            _ => None,
        })
    }

    /// The level of safety that is declared here.
    pub fn safety(&self) -> Option<i64> {
        self.find(|meaning| match meaning {
            Meaning::Safety(level) => Some(*level),
            _ => None,
        })
    }

    /// The macros and symbol macros of this environment alone, for the expanders of local macros.
    pub fn macros(&self) -> Environment {
        let mut found = Vec::new();
        self.find(|meaning| {
            if let Meaning::Macro(..) | Meaning::SymbolMacro(..) = meaning {
                found.push(meaning.clone());
            }
            None::<()>
        });
        found.into_iter().rev().fold(Environment::default(), |all, one| all.with(one))
    }

    /// The innermost block of that name.
    pub fn block(&self, name: Symbol) -> Option<ExitId> {
        self.find(|meaning| match meaning {
            Meaning::Block(n, exit) if *n == name => Some(*exit),
            _ => None,
        })
    }

    /// The innermost tag.
    pub fn tag(&self, tag: &Value) -> Option<(ExitId, u32)> {
        self.find(|meaning| match meaning {
            Meaning::Tag(t, exit, label) if t.eql(tag) => Some((*exit, *label)),
            _ => None,
        })
    }

    /// Names of the variables in scope, for "did you mean".
    pub fn variable_names(&self) -> Vec<Symbol> {
        let mut names = Vec::new();
        self.find(|meaning| {
            if let Meaning::Variable(name, _) | Meaning::SymbolMacro(name, _) = meaning {
                names.push(*name);
            }
            None::<()>
        });
        names
    }
}
