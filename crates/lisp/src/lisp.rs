//! `Lisp`: one running Lisp. It owns the symbols, the packages, the source texts and the
//! machine's stacks; everything that works on values gets it as its first argument.
//!
//! Creation and the small questions that every module asks are here; evaluating text and
//! reporting are in `embed`, running code in `machine`.

use std::cell::RefCell;
use std::collections::HashMap;
use std::io::{BufReader, BufWriter, IsTerminal, Write};
use std::rc::Rc;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use crate::code::{Function, Op};
use crate::condition::{Condition, Escape, Outcome};
use crate::expand::chain::Chaining;
use crate::expand::environment::Environment;
use crate::expand::places::SetfExpander;
use crate::generic::Combining;
use crate::heap::Ref;
use crate::library::Library;
use crate::machine::{Control, NO_OPS, Stacks};
use crate::object::Object;
use crate::package::{Access, PackageId, Packages};
use crate::packed::Fetches;
use crate::source::{Sources, Span};
use crate::source_of_input::Source;
use crate::symbol::{self, Symbol, SymbolTable};
use crate::value::Value;

/// A function and the instruction after the one it stands at.
pub(crate) type Site = (Ref<Function>, usize);

/// The name of the function at a site, and where in it.
pub(crate) fn site_frame(site: &Site) -> Option<(Value, Option<Span>)> {
    match &*site.0 {
        Function::Closure(closure) => Some((closure.code.name.clone(), site_span(site))),
        _ => None,
    }
}

fn site_span((function, pc): &Site) -> Option<Span> {
    match &**function {
        Function::Closure(closure) => closure.code.span(pc.saturating_sub(1)),
        _ => None,
    }
}

/// A package whose functions a program may look for by the names of other systems, as the
/// embedder knows them.
#[derive(Clone, Copy)]
pub struct Advice {
    /// The package, and those beside it in which names are looked for alike.
    pub packages: &'static [&'static str],
    /// What is written for such a name, in lower case.
    pub here: fn(&str) -> Option<String>,
}

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
    /// Expansions that `positions` names: alive, so that no other pair gets their address.
    pub(crate) kept: RefCell<Vec<Value>>,
    /// Where the form that `read_form` gave last stands.
    pub(crate) form_span: Option<Span>,
    /// Set from outside (Ctrl-C); the machine looks at calls and backward jumps.
    pub interrupt: Arc<AtomicBool>,
    /// The embedder's `Options::arguments`.
    pub arguments: Vec<String>,
    pub(crate) frame_limit: usize,
    pub(crate) native_stack: usize,
    /// When it was made.
    pub(crate) started: std::time::Instant,
    /// How many frames the next run of the machine may have.
    pub(crate) frames_left: usize,
    /// Whether the last call gave other than one value; they are in `extra`.
    pub(crate) multiple: bool,
    pub(crate) extra: Vec<Value>,
    /// Dynamic bindings: the symbols, and the values that they hide.
    pub(crate) bindings: Vec<Symbol>,
    pub(crate) hidden: Vec<Value>,
    pub(crate) controls: Vec<Control>,
    pub(crate) next_exit: u64,
    pub(crate) stacks: Vec<Stacks>,
    pub(crate) no_ops: Rc<[Op]>,
    /// The function that called a native last, and where it stood.
    pub(crate) site: Option<Site>,
    /// The form that stands for the running native, where a native calls for a form of its own.
    pub(crate) step: Option<Span>,
    /// The same of the runs of the machine that wait for a native.
    pub(crate) outer_sites: Vec<Site>,
    /// The forms that brought arrays home, since the embedder asked last.
    pub(crate) fetches: RefCell<HashMap<Option<Span>, Fetches>>,
    /// The frames at the last unhandled condition, innermost first: the name of the function and
    /// where in it.
    pub(crate) backtrace: Vec<(Value, Option<Span>)>,
    /// The variables of these frames and their values, where somebody is there to ask.
    pub(crate) frame_locals: Vec<Vec<(Symbol, Value)>>,
    /// Who is asked when no handler takes a condition.
    pub(crate) console: Option<crate::debugger::SharedConsole>,
    /// What returns to each open level of the debugger, the innermost last.
    pub(crate) levels: Vec<Value>,
    /// The environment of the macro call being expanded.
    pub(crate) macro_environment: Environment,
    /// What a macro character's function reads as a part of, while it runs.
    pub(crate) reading: Option<crate::reader::Context>,
    /// Global symbol macros.
    pub(crate) symbol_macros: HashMap<Symbol, Value>,
    /// `define-compiler-macro`: expanders by the name of the function.
    pub(crate) compiler_macros: HashMap<Symbol, Value>,
    /// Classes by name.
    pub(crate) classes: HashMap<Symbol, Ref<Object>>,
    /// A number that grows when a class is defined again: see `generic`.
    pub(crate) class_epoch: u64,
    /// How many layouts of classes there are.
    pub(crate) layouts: std::cell::Cell<u32>,
    /// How many instances have a number to be printed with.
    pub(crate) instances_shown: std::cell::Cell<u32>,
    /// Method combinations beside the standard one.
    pub(crate) combinations: HashMap<Symbol, Combining>,
    /// `deftype`: expanders by name.
    pub(crate) types: HashMap<Symbol, Value>,
    /// `defsetf` and `define-setf-expander`: see `expand::places`.
    pub(crate) setf_expanders: HashMap<Symbol, SetfExpander>,
    /// Documentation strings of variables and other things that keep none themselves.
    pub(crate) documentation: HashMap<(Symbol, Symbol), Value>,
    /// Definitions of the library in Lisp that have not been needed yet.
    pub(crate) library: Library,
    /// Functions whose calls in each other are done together.
    pub chaining: Option<Chaining>,
    /// What the functions of a package are called that other systems call otherwise.
    pub advice: Option<Advice>,
    /// What was compiled and may fail when it runs.
    pub(crate) doubts: Vec<crate::expand::warnings::Doubt>,
    /// Functions for whose calls no compiler macro may stand.
    /// The level of safety that is proclaimed.
    pub(crate) safety: i64,
    pub(crate) notinline: std::collections::HashSet<Symbol>,
    /// How many texts are being loaded.
    pub(crate) loading: usize,
    /// What makes native code of hot functions, and what it has made.
    pub(crate) native: crate::machine_code::Forge,
    /// Warnings already given: text and place.
    pub(crate) warned: std::collections::HashSet<(String, Option<Span>)>,
}

/// What an embedder chooses.
pub struct Options {
    /// How many Lisp frames may be open (`--stack=N`).
    pub frame_limit: usize,
    /// How many bytes Lisp's own objects may take, packed arrays not counted (`--heap=SIZE`); `None`: as many as
    /// the system gives.
    pub heap_limit: Option<usize>,
    /// How many bytes of native stack Lisp may use below the embedder's call.
    pub native_stack: usize,
    /// What the program gets as its arguments.
    pub arguments: Vec<String>,
    /// Standard output; buffering is the writer's business.
    pub output: Box<dyn Write>,
    /// Standard error.
    pub error_output: Box<dyn Write>,
    /// Standard input.
    pub input: Box<dyn Source>,
    /// Which of input, output and error output are terminals: what `interactive-stream-p` says,
    /// and so whether programs show their progress.
    pub terminals: [bool; 3],
}

impl Default for Options {
    /// The process's own streams, 100,000 frames, the stack of a Rust thread.
    fn default() -> Options {
        Options {
            frame_limit: 100_000,
            heap_limit: None,
            native_stack: crate::stack::DEFAULT_BYTES,
            arguments: Vec::new(),
            output: Box::new(BufWriter::new(std::io::stdout())),
            error_output: Box::new(std::io::stderr()),
            input: Box::new(BufReader::new(std::io::stdin())),
            terminals: [
                std::io::stdin().is_terminal(),
                std::io::stdout().is_terminal(),
                std::io::stderr().is_terminal(),
            ],
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
            kept: RefCell::default(),
            form_span: None,
            interrupt: Arc::default(),
            arguments: options.arguments,
            frame_limit: options.frame_limit,
            frames_left: options.frame_limit,
            native_stack: options.native_stack,
            started: std::time::Instant::now(),
            multiple: false,
            extra: Vec::new(),
            bindings: Vec::new(),
            hidden: Vec::new(),
            controls: Vec::new(),
            next_exit: 0,
            stacks: Vec::new(),
            no_ops: Rc::from(NO_OPS),
            site: None,
            step: None,
            outer_sites: Vec::new(),
            fetches: RefCell::default(),
            backtrace: Vec::new(),
            frame_locals: Vec::new(),
            console: None,
            levels: Vec::new(),
            macro_environment: Environment::default(),
            reading: None,
            symbol_macros: HashMap::new(),
            compiler_macros: HashMap::new(),
            classes: HashMap::new(),
            class_epoch: 1,
            layouts: Default::default(),
            instances_shown: Default::default(),
            combinations: HashMap::new(),
            types: HashMap::new(),
            setf_expanders: HashMap::new(),
            documentation: HashMap::new(),
            library: Library::default(),
            chaining: None,
            advice: None,
            doubts: Vec::new(),
            safety: 1,
            notinline: Default::default(),
            loading: 0,
            native: Default::default(),
            warned: Default::default(),
        };
        crate::heap::limit::set(options.heap_limit, &lisp.interrupt);
        let streams = (options.input, options.output, options.error_output, options.terminals);
        crate::library::start(&mut lisp, streams);
        lisp
    }

    /// A new uninterned symbol whose name begins with `prefix`.
    pub fn gensym(&mut self, prefix: &str) -> Value {
        let counter = self.variable(symbol::GENSYM_COUNTER).as_fixnum().unwrap_or(0);
        self.set_variable(symbol::GENSYM_COUNTER, Value::Fixnum(counter.wrapping_add(1)));
        Value::symbol(self.make_symbol(&format!("{prefix}{counter}")))
    }

    /// The global macro expander of a symbol, loaded from the library if need be.
    pub fn macro_function(&mut self, name: Symbol) -> Outcome<Option<Value>> {
        // Not for functions: one that is being compiled may call another that uses its macro.
        if self.library.defines_macro(name) {
            self.load_from_library(name)?;
        }
        let function = &self.symbols[name].macro_function;
        Ok((!function.is_unbound()).then(|| function.clone()))
    }

    /// The function of `(setf NAME)`.
    pub fn setf_function(&mut self, name: Symbol) -> Outcome {
        let function = self.symbols[name].setf_function.clone();
        if function.is_unbound() {
            if let Some(setter) = crate::expand::places::standard_setter(self, name)? {
                self.symbols[name].setf_function = setter.clone();
                return Ok(setter);
            }
            let text = format!("there is no function (setf {})", self.shown(name));
            return Err(Escape::of(symbol::UNDEFINED_FUNCTION, text));
        }
        Ok(function)
    }

    /// Where a form stands is where its macro call stood.
    pub(crate) fn inherit_position(&self, form: &Value, expansion: &Value) {
        if let (Value::Cons(from), Value::Cons(to)) = (form, expansion) {
            let mut positions = self.positions.borrow_mut();
            if let Some(span) = positions.get(&from.address()).copied() {
                positions.entry(to.address()).or_insert(span);
                self.kept.borrow_mut().push(expansion.clone());
            }
        }
    }

    /// Forgets the positions of a form that has been evaluated.
    pub(crate) fn forget_positions(&self) {
        self.positions.borrow_mut().clear();
        drop(self.kept.take());
    }

    /// Evaluates a form in no lexical environment; its first value.
    pub fn eval_form(&mut self, form: &Value) -> Outcome {
        let value = self.eval_keeping_values(form);
        self.multiple = false;
        value
    }

    /// Evaluates a form where macros hold; its first value.
    pub(crate) fn eval_with_macros(&mut self, form: &Value, macros: Environment) -> Outcome {
        let function = crate::compile::compile_form_in(self, form, macros)?;
        self.call(&Value::Function(function), &[])
    }

    /// Evaluates a form; the further values stay where a native's caller looks for them.
    pub fn eval_keeping_values(&mut self, form: &Value) -> Outcome {
        crate::stack::check("the form")?;
        let function = crate::compile::compile_form(self, form)?;
        self.call_keeping_values(&Value::Function(function), &[])
    }

    /// The form that called the running native.
    pub fn call_span(&self) -> Option<Span> {
        self.step.or_else(|| self.site.as_ref().and_then(site_span))
    }

    /// The forms that brought arrays home since the last time this was asked, in the order of the
    /// text.
    pub fn take_fetches(&self) -> Vec<(Option<Span>, Fetches)> {
        let mut all: Vec<_> = self.fetches.take().into_iter().collect();
        all.sort_by_key(|(span, _)| span.map(|span| (span.source, span.start)));
        all
    }

    /// Charges the running form with arrays that came home.
    #[cold]
    pub(crate) fn charge(&self, more: Fetches) {
        let mut fetches = self.fetches.borrow_mut();
        let known = fetches.entry(self.caller_span()).or_default();
        *known = Fetches { count: known.count + more.count, bytes: known.bytes + more.bytes };
    }

    /// The innermost form with a place, from the running native outwards.
    pub(crate) fn caller_span(&self) -> Option<Span> {
        self.call_span().or_else(|| self.outer_sites.iter().rev().find_map(site_span))
    }

    /// A symbol as a message shows it: lower case, with its package where that matters.
    pub fn shown(&self, symbol: Symbol) -> String {
        let cell = &self.symbols[symbol];
        let name = cell.name.to_lowercase();
        let here = self.current_package();
        match cell.package {
            None => name,
            Some(home) if home == here || self.access(here, symbol).is_some() => name,
            Some(home) => {
                let package = &self.packages[home];
                let prefix = package.nicknames.first().unwrap_or(&package.name).to_lowercase();
                let colons = match self.packages.external(home, &cell.name) {
                    Some(_) => ":",
                    None => "::",
                };
                if home == crate::package::KEYWORD {
                    format!(":{name}")
                } else {
                    format!("{prefix}{colons}{name}")
                }
            }
        }
    }

    #[cold]
    pub(crate) fn unbound_variable(&self, symbol: Symbol) -> Escape {
        let text = format!("the variable {} is unbound", self.shown(symbol));
        let mut condition = Condition::new(symbol::UNBOUND_VARIABLE, text)
            .with(symbol::KEY_NAME, Value::symbol(symbol));
        condition.hint = crate::suggest::variable(self, symbol);
        condition.into()
    }

    /// Whether a name of the standard has no definition in this version.
    pub(crate) fn is_missing(&self, name: Symbol) -> bool {
        let cell = &self.symbols[name];
        // A definition of the library that is being compiled may call itself.
        cell.package == Some(crate::package::CL)
            && cell.function.is_unbound()
            && !self.library.loading
            && !self.library.defines(name)
            && self.packages.external(crate::package::CL, &cell.name).is_some()
    }

    #[cold]
    pub(crate) fn undefined_function(&self, symbol: Symbol) -> Escape {
        let cell = &self.symbols[symbol];
        let name = self.shown(symbol);
        let text = if !cell.macro_function.is_unbound() {
            format!("{name} is a macro, not a function")
        } else if crate::expand::special::special_operator(symbol).is_some() {
            format!("{name} is a special operator, not a function")
        } else if cell.package == Some(crate::package::CL) {
            format!("cl:{name} is not in version 1")
        } else {
            format!("the function {name} is undefined")
        };
        let mut condition = Condition::new(symbol::UNDEFINED_FUNCTION, text)
            .with(symbol::KEY_NAME, Value::symbol(symbol));
        if !self.is_missing(symbol) {
            condition.hint = crate::suggest::function(self, symbol);
        }
        condition.into()
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

    /// An error about a form of the text that is being evaluated, with the form's own place.
    pub fn placed_at(&self, escape: Escape, form: &Value) -> Escape {
        let Value::Cons(pair) = form else { return escape };
        escape.placed(self.positions.borrow().get(&pair.address()).copied())
    }

    /// Remembers where a pair was read.
    pub fn note_position(&self, pair: &Value, span: Span) {
        if let Value::Cons(pair) = pair {
            self.positions.borrow_mut().insert(pair.address(), span);
        }
    }
}
