//! `Lisp`: one running Lisp. It owns the symbols, the packages, the source texts and the
//! machine's stacks; everything that works on values gets it as its first argument.
//!
//! Creation and the small questions that every module asks are here; evaluating text and
//! reporting are in `embed`, running code in `machine`.

use std::cell::RefCell;
use std::collections::HashMap;
use std::io::{BufRead, BufReader, BufWriter, Write};
use std::rc::Rc;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use crate::package::{Access, PackageId, Packages};
use crate::source::{Sources, Span};
use crate::symbol::{self, Symbol, SymbolTable};
use crate::value::Value;

/// One running Lisp.
pub struct Lisp {
    /// All symbols and what they hold.
    pub symbols: SymbolTable,
    /// All packages.
    pub packages: Packages,
    /// The texts that forms were read from.
    pub sources: Sources,
    /// Where the pairs of the form being compiled were read: address of the pair and place.
    pub positions: RefCell<HashMap<usize, Span>>,
    /// Set from outside (Ctrl-C); the machine looks at calls and backward jumps.
    pub interrupt: Arc<AtomicBool>,
    pub(crate) frame_limit: usize,
}

/// What an embedder chooses.
pub struct Options {
    /// How many Lisp frames may be open (`--stack=N`).
    pub frame_limit: usize,
    /// How many bytes of native stack Lisp may use below the embedder's call.
    pub native_stack: usize,
    /// What the program gets as its arguments.
    pub arguments: Vec<String>,
    /// Standard output; buffering is the writer's business.
    pub output: Box<dyn Write>,
    /// Standard error.
    pub error_output: Box<dyn Write>,
    /// Standard input.
    pub input: Box<dyn BufRead>,
}

impl Default for Options {
    /// The process's own streams, 100,000 frames, the stack of a Rust thread.
    fn default() -> Options {
        Options {
            frame_limit: 100_000,
            native_stack: crate::stack::DEFAULT_BYTES,
            arguments: Vec::new(),
            output: Box::new(BufWriter::new(std::io::stdout())),
            error_output: Box::new(std::io::stderr()),
            input: Box::new(BufReader::new(std::io::stdin())),
        }
    }
}

impl Lisp {
    /// A Lisp with the standard packages and functions.
    pub fn new(options: Options) -> Lisp {
        crate::stack::enter(options.native_stack);
        let mut lisp = Lisp {
            symbols: SymbolTable::new(),
            packages: Packages::new(),
            sources: Sources::default(),
            positions: RefCell::default(),
            interrupt: Arc::default(),
            frame_limit: options.frame_limit,
        };
        lisp.set_variable(symbol::T, Value::symbol(symbol::T));
        lisp.set_variable(symbol::NIL, Value::Nil);
        lisp
    }

    /// The value of a dynamic variable; `Unbound` when it has none.
    pub fn variable(&self, symbol: Symbol) -> &Value {
        &self.symbols[symbol].value
    }

    /// Whether a dynamic variable's value is true.
    pub fn flag(&self, symbol: Symbol) -> bool {
        let value = self.variable(symbol);
        value.truth() && !value.is_unbound()
    }

    /// Sets the global or innermost dynamic value of a variable.
    pub fn set_variable(&mut self, symbol: Symbol, value: Value) {
        self.symbols[symbol].value = value;
    }

    /// The value of `*package*`.
    pub fn current_package(&self) -> PackageId {
        match self.variable(symbol::CURRENT_PACKAGE).as_object() {
            Some(crate::object::Object::Package(id)) => *id,
            _ => crate::package::CL_USER,
        }
    }

    /// The symbol of that exact name in a package, made if need be.
    pub fn intern(&mut self, package: PackageId, name: &str) -> Symbol {
        self.packages.intern(&mut self.symbols, package, name)
    }

    /// The keyword of that exact name.
    pub fn keyword(&mut self, name: &str) -> Value {
        Value::symbol(self.intern(crate::package::KEYWORD, name))
    }

    /// A symbol's name.
    pub fn name(&self, symbol: Symbol) -> Rc<str> {
        self.symbols[symbol].name.clone()
    }

    /// A new uninterned symbol.
    pub fn make_symbol(&mut self, name: &str) -> Symbol {
        self.symbols.make(name, None)
    }

    /// How a symbol is reached from a package: `None` when it is not.
    pub fn access(&self, package: PackageId, symbol: Symbol) -> Option<Access> {
        let found = self.packages.lookup(package, &self.symbols[symbol].name)?;
        (found.0 == symbol).then_some(found.1)
    }

    /// A value for a message: `prin1`, cut to 60 characters, and never an error.
    pub fn brief(&self, value: &Value) -> String {
        crate::printer::brief(self, value)
    }

    /// Remembers where a pair was read.
    pub fn note_position(&self, pair: &Value, span: Span) {
        if let Value::Cons(pair) = pair {
            self.positions.borrow_mut().insert(pair.address(), span);
        }
    }
}
