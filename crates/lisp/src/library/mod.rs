//! The language's functions that are written in Rust, one table per chapter of the standard,
//! and their registration. The part of the library in Lisp is found through `loading`.

mod array_making;
pub mod arrays;
mod byte_streams;
pub mod characters;
pub(crate) mod classes;
pub mod conditions;
pub(crate) mod dispatch;
mod displaced;
pub mod evaluation;
mod file_options;
mod files;
mod fill_pointers;
mod foreign_arrays;
pub(crate) mod generics;
mod gray;
pub(crate) mod instances;
pub mod lists;
pub mod loading;
pub(crate) mod locks;
mod memory;
pub mod numbers;
pub mod numbers_elementary;
pub mod numbers_float;
pub mod numbers_integer;
pub mod numbers_random;
pub mod packages;
pub mod pathnames;
pub(crate) mod protocols;
mod readtables;
mod sequence_pairs;
pub mod sequence_parts;
pub mod sequences;
mod stream_parts;
pub mod streams;
pub mod strings;
pub mod structures;
pub mod system;
pub mod tables;
pub mod types;
mod types_complex;

use std::io::Write;
use std::rc::Rc;

use crate::code::Function;
use crate::heap::Ref;
use crate::lisp::Lisp;
use crate::native::{Body, Native, NativeFunction, SharedBody, arity};
use crate::object::Object;
use crate::package::{self, PackageId};
use crate::source_of_input::Source;
use crate::stream::{Stream, StreamKind};
use crate::symbol::{self, Symbol, VariableKind};
use crate::value::{NIL, T, Value, list};

pub use loading::Library;

/// The symbols that package COMMON-LISP exports, by chapter, each with what it names; the file says
/// how to read it.
pub const STANDARD: &str = include_str!("../../lisp/standard.txt");

/// Their names.
fn standard_names() -> impl Iterator<Item = &'static str> {
    let entries = STANDARD.lines().filter(|line| line.starts_with("  "));
    let words = entries.flat_map(str::split_whitespace);
    words.filter_map(|word| word.rsplit_once(':').map(|(name, _)| name))
}

/// Every table of native functions.
fn tables() -> Vec<&'static [Native]> {
    let mut tables: Vec<&'static [Native]> = vec![
        evaluation::EVALUATION,
        lists::LISTS,
        lists::PATHS,
        sequences::SEQUENCES,
        tables::TABLES,
        arrays::ARRAYS,
        fill_pointers::FILL_POINTERS,
        streams::STREAMS,
        byte_streams::STREAMS,
        stream_parts::STREAMS,
        pathnames::PATHNAMES,
        conditions::CONDITIONS,
        packages::PACKAGES,
        packages::SYMBOLS,
        structures::STRUCTURES,
        classes::CLASSES,
        instances::INSTANCES,
        generics::GENERICS,
        system::SYSTEM,
        types::TYPES,
        numbers::NUMBERS,
        numbers_elementary::NUMBERS,
        numbers_float::NUMBERS,
        numbers_integer::NUMBERS,
        numbers_random::NUMBERS,
        strings::STRINGS,
        characters::CHARACTERS,
        crate::reader::READER,
        readtables::READTABLES,
        crate::printer::PRINTER,
        crate::format::FORMAT,
    ];
    tables.extend(lists::SEARCHES.iter().map(|three| &three[..]));
    tables.extend(sequences::SELECTING.iter().map(|three| &three[..]));
    tables
}

/// Package, name and whether it is exported, of a name in a table.
pub(crate) fn split_name(name: &str) -> (PackageId, &str, bool) {
    let packages = [
        ("rung", package::RUNG),
        ("uiop", package::UIOP),
        ("asdf", package::ASDF),
        ("test", package::TEST),
        ("ql", package::QL),
        ("trivial-gray-streams", package::GRAY),
        ("linalg", package::LINALG),
        ("cl", package::CL),
    ];
    match name.split_once(':') {
        None => (package::CL, name, !name.starts_with('%')),
        Some((prefix, rest)) => {
            let known = packages.iter().find(|(name, _)| *name == prefix);
            let id = known.map_or(package::CL, |entry| entry.1);
            match rest.strip_prefix(':') {
                Some(internal) => (id, internal, false),
                None => (id, rest, true),
            }
        }
    }
}

pub(crate) fn intern_named(lisp: &mut Lisp, name: &str) -> Symbol {
    let (package, name, exported) = split_name(name);
    let symbol = lisp.intern(package, &name.to_uppercase());
    if exported {
        lisp.packages.export(&lisp.symbols, package, symbol);
    }
    symbol
}

pub(crate) fn native_value(
    name: Symbol,
    lambda_list: &str,
    documentation: &str,
    body: Body,
) -> Value {
    let (minimum, maximum) = arity(lambda_list);
    Value::Function(Ref::new(Function::Native(NativeFunction {
        name,
        lambda_list: Rc::from(lambda_list),
        documentation: Rc::from(documentation),
        minimum,
        maximum,
        body,
    })))
}

fn register(lisp: &mut Lisp, native: &Native) {
    let setf = native.name.strip_prefix("(setf ").and_then(|name| name.strip_suffix(')'));
    let symbol = intern_named(lisp, setf.unwrap_or(native.name));
    let body = Body::Plain(native.body);
    let value = native_value(symbol, native.lambda_list, native.documentation, body);
    let cell = &mut lisp.symbols[symbol];
    match setf {
        Some(_) => cell.setf_function = value,
        None => cell.function = value,
    }
}

/// What the standard streams are connected to: input, output, error output.
pub(crate) type StandardStreams = (Box<dyn Source>, Box<dyn Write>, Box<dyn Write>, [bool; 3]);

/// Fills a new Lisp.
pub(crate) fn start(lisp: &mut Lisp, streams: StandardStreams) {
    for (name, ..) in symbol::WELL_KNOWN.iter().filter(|entry| entry.1 == package::KEYWORD) {
        let symbol = lisp.intern(package::KEYWORD, name);
        lisp.symbols[symbol].value = Value::symbol(symbol);
        lisp.symbols[symbol].kind = VariableKind::Constant;
    }
    for table in tables() {
        for native in table {
            register(lisp, native);
        }
    }
    for native in crate::expand::macros::MACROS {
        let symbol = intern_named(lisp, native.name);
        let body = Body::Plain(native.body);
        // A macro's function takes the form and the environment, whatever its lambda list.
        let mut value = native_value(symbol, "form environment", native.documentation, body);
        if let Value::Function(function) = &value
            && let Function::Native(found) = &**function
        {
            let shown = NativeFunction {
                name: symbol,
                lambda_list: Rc::from(native.lambda_list),
                documentation: found.documentation.clone(),
                minimum: found.minimum,
                maximum: found.maximum,
                body: found.body.clone(),
            };
            value = Value::Function(Ref::new(Function::Native(shown)));
        }
        lisp.symbols[symbol].macro_function = value;
    }
    // Names that version 1 knows but may not have: they read, and calling them says so.
    for name in standard_names() {
        intern_named(lisp, name);
    }
    classes::define_built_in_classes(lisp);
    conditions::define_standard_classes(lisp);
    define_variables(lisp, streams);
    loading::index_library(lisp);
    generics::define_combinations(lisp);
    lisp.library.loading = true;
    let defined = protocols::define_protocols(lisp);
    lisp.library.loading = false;
    debug_assert!(defined.is_ok(), "the language's own generic functions fit their methods");
    for name in locks::IN_CL_USER {
        let symbol = intern_named(lisp, &format!("rung:{name}"));
        let name = lisp.name(symbol);
        lisp.packages[package::CL_USER].present.insert(name, (symbol, false));
    }
}

/// The operations of `boole`, in the order of their numbers.
const BOOLE: [&str; 16] = [
    "CLR", "SET", "1", "2", "C1", "C2", "AND", "IOR", "XOR", "EQV", "NAND", "NOR", "ANDC1",
    "ANDC2", "ORC1", "ORC2",
];

/// Variables that nothing but the program reads.
const OTHER_VARIABLES: [&str; 23] = [
    "**",
    "***",
    "++",
    "+++",
    "//",
    "///",
    "*",
    "+",
    "/",
    "-",
    "*LOAD-PRINT*",
    "*LOAD-VERBOSE*",
    "*COMPILE-PRINT*",
    "*COMPILE-VERBOSE*",
    "*COMPILE-FILE-PATHNAME*",
    "*COMPILE-FILE-TRUENAME*",
    "asdf:*CENTRAL-REGISTRY*",
    "rung::*COMBINED-CALL*",
    "test::%TESTS",
    "test::%FAILURES",
    "test::%PLACE",
    "asdf::*SYSTEMS*",
    "asdf::%SYSTEM-PATH",
];

fn define_other_variables(lisp: &mut Lisp) {
    for (number, name) in BOOLE.iter().enumerate() {
        let symbol = intern_named(lisp, &format!("boole-{name}"));
        lisp.symbols[symbol].value = Value::size(number);
        lisp.symbols[symbol].kind = VariableKind::Constant;
    }
    for name in OTHER_VARIABLES {
        let symbol = intern_named(lisp, name);
        lisp.symbols[symbol].value = NIL;
        lisp.symbols[symbol].kind = VariableKind::Special;
    }
}

fn define_variables(lisp: &mut Lisp, (input, output, error_output, terminals): StandardStreams) {
    define_other_variables(lisp);
    let constants = [(symbol::T, T), (symbol::NIL, NIL)];
    for (name, value) in constants {
        lisp.symbols[name].value = value;
        lisp.symbols[name].kind = VariableKind::Constant;
    }
    let stream = |kind, terminal| {
        let stream = Stream::new(kind);
        stream.terminal.set(terminal);
        Value::object(Object::Stream(stream))
    };
    let input = StreamKind::Input { source: input, ahead: Box::default() };
    let input = stream(input, terminals[0]);
    let output = stream(StreamKind::Output(output), terminals[1]);
    let error_output = stream(StreamKind::Output(error_output), terminals[2]);
    let both = StreamKind::TwoWay { input: input.clone(), output: output.clone() };
    let both = stream(both, false);
    let format = Value::symbol(symbol::DOUBLE_FLOAT);
    let package = lisp.packages[package::CL_USER].object.clone();
    let features = features(lisp);
    let readtable = Value::object(Object::Readtable(Box::default()));
    let specials = [
        (symbol::STANDARD_INPUT, input),
        (symbol::STANDARD_OUTPUT, output),
        (symbol::ERROR_OUTPUT, error_output.clone()),
        (symbol::TRACE_OUTPUT, error_output),
        (symbol::TERMINAL_IO, both.clone()),
        (symbol::QUERY_IO, both.clone()),
        (symbol::DEBUG_IO, both),
        (symbol::CURRENT_PACKAGE, package),
        (symbol::READ_DEFAULT_FLOAT_FORMAT, format),
        (symbol::READ_BASE, Value::Fixnum(10)),
        (symbol::READ_EVAL, T),
        (symbol::READ_SUPPRESS, NIL),
        (symbol::READTABLE, readtable),
        (symbol::PRINT_BASE, Value::Fixnum(10)),
        (symbol::PRINT_RADIX, NIL),
        (symbol::PRINT_CASE, Value::symbol(symbol::KEY_UPCASE)),
        (symbol::PRINT_ESCAPE, T),
        (symbol::PRINT_READABLY, NIL),
        (symbol::PRINT_CIRCLE, NIL),
        (symbol::PRINT_LENGTH, NIL),
        (symbol::PRINT_LEVEL, NIL),
        (symbol::PRINT_LINES, NIL),
        (symbol::PRINT_PRETTY, NIL),
        (symbol::PRINT_GENSYM, T),
        (symbol::PRINT_ARRAY, T),
        (symbol::PRINT_RIGHT_MARGIN, NIL),
        (symbol::PRINT_MISER_WIDTH, NIL),
        (symbol::PRINT_PPRINT_DISPATCH, NIL),
        (symbol::PRINT_ELEMENT_TYPE, NIL),
        (symbol::FEATURES, features),
        (symbol::MODULES, NIL),
        (symbol::GENSYM_COUNTER, Value::Fixnum(1)),
        (symbol::LOAD_TRUENAME, NIL),
        (symbol::LOAD_PATHNAME, NIL),
        (symbol::MACROEXPAND_HOOK, Value::symbol(symbol::FUNCALL)),
        (symbol::BREAK_ON_SIGNALS, NIL),
        (symbol::DEBUGGER_HOOK, NIL),
        (symbol::RANDOM_STATE, numbers_random::state_value(Default::default())),
        (symbol::HANDLERS, NIL),
        (symbol::RESTARTS, NIL),
        (symbol::CONDITION_RESTARTS, NIL),
        (symbol::TRACED, NIL),
        (symbol::MUFFLE_WARNINGS, NIL),
        (symbol::DEFAULT_PATHNAME_DEFAULTS, Value::object(Object::Pathname(String::new()))),
    ];
    for (name, value) in specials {
        lisp.symbols[name].value = value;
        lisp.symbols[name].kind = VariableKind::Special;
        let (home, text) = (lisp.symbols[name].package, lisp.name(name));
        if let Some(home) = home {
            lisp.packages[home].present.insert(text, (name, true));
        }
    }
    let arguments = lisp.arguments.iter().map(|text| Value::string(text)).collect::<Vec<_>>();
    lisp.symbols[symbol::COMMAND_ARGUMENTS].value = list(arguments);
    lisp.symbols[symbol::COMMAND_ARGUMENTS].kind = VariableKind::Special;
    let sections = [
        symbol::AND_OPTIONAL,
        symbol::AND_REST,
        symbol::AND_BODY,
        symbol::AND_KEY,
        symbol::AND_ALLOW_OTHER_KEYS,
        symbol::AND_AUX,
        symbol::AND_WHOLE,
        symbol::AND_ENVIRONMENT,
    ];
    let numbers = [
        ("lambda-list-keywords", list(sections.map(Value::symbol))),
        ("most-positive-fixnum", Value::Fixnum(i64::MAX)),
        ("most-negative-fixnum", Value::Fixnum(i64::MIN)),
        ("internal-time-units-per-second", Value::Fixnum(1_000_000)),
        ("array-rank-limit", Value::Fixnum(64)),
        ("array-dimension-limit", Value::Fixnum(1 << 62)),
        ("array-total-size-limit", Value::Fixnum(1 << 62)),
        ("call-arguments-limit", Value::Fixnum(65_000)),
        ("lambda-parameters-limit", Value::Fixnum(1 << 16)),
        ("multiple-values-limit", Value::Fixnum(1 << 16)),
        ("char-code-limit", Value::Fixnum(1_114_112)),
    ];
    let numbers = numbers.map(|(name, value)| (name.to_string(), value)).into_iter();
    for (name, value) in numbers.chain(numbers_float::constants()) {
        let symbol = intern_named(lisp, &name);
        lisp.symbols[symbol].value = value;
        lisp.symbols[symbol].kind = VariableKind::Constant;
    }
}

fn features(lisp: &mut Lisp) -> Value {
    let system = match std::env::consts::OS {
        "linux" => "LINUX",
        "macos" => "DARWIN",
        "windows" => "WINDOWS",
        _ => "UNKNOWN-SYSTEM",
    };
    let processor = match std::env::consts::ARCH {
        "x86_64" => "X86-64",
        "aarch64" => "ARM64",
        _ => "UNKNOWN-PROCESSOR",
    };
    let mut names =
        vec!["RUNG", "COMMON-LISP", "ANSI-CL", "IEEE-FLOATING-POINT", system, processor];
    if cfg!(unix) {
        names.push("UNIX");
    }
    names.push("RUNG-RUN");
    list(names.into_iter().map(|name| lisp.keyword(name)).collect::<Vec<_>>())
}

impl Lisp {
    /// Defines a native function that carries data. The package is made if need be, and exports
    /// the name unless it begins with `%`; the lambda list gives the argument count that is
    /// checked.
    pub fn define_native(
        &mut self,
        package: &str,
        name: &str,
        lambda_list: &str,
        documentation: &str,
        body: SharedBody,
    ) -> Symbol {
        let symbol = self.home_symbol(package, name);
        self.define_native_function(symbol, lambda_list, documentation, body);
        symbol
    }

    /// The same for a symbol that a program already has.
    pub fn define_native_function(
        &mut self,
        symbol: Symbol,
        lambda_list: &str,
        documentation: &str,
        body: SharedBody,
    ) {
        let value = native_value(symbol, lambda_list, documentation, Body::Shared(body));
        self.symbols[symbol].function = value;
    }

    /// Defines the function `(setf NAME)` in the same way: its first argument is the new value.
    pub fn define_native_setf(
        &mut self,
        package: &str,
        name: &str,
        lambda_list: &str,
        documentation: &str,
        body: SharedBody,
    ) -> Symbol {
        let symbol = self.home_symbol(package, name);
        let value = native_value(symbol, lambda_list, documentation, Body::Shared(body));
        self.symbols[symbol].setf_function = value;
        symbol
    }

    /// Defines a dynamic variable with its global value.
    pub fn define_special(&mut self, package: &str, name: &str, value: Value) -> Symbol {
        let symbol = self.home_symbol(package, name);
        self.symbols[symbol].value = value;
        self.symbols[symbol].kind = VariableKind::Special;
        symbol
    }

    /// The symbol of a name in its package, exported unless it begins with `%`.
    fn home_symbol(&mut self, package: &str, name: &str) -> Symbol {
        let package = package.to_uppercase();
        let id =
            self.packages.find(&package).unwrap_or_else(|| self.packages.make_locked(&package));
        let symbol = self.intern(id, &name.to_uppercase());
        if !name.starts_with('%') {
            self.packages.export(&self.symbols, id, symbol);
        }
        symbol
    }

    /// Adds definitions in the language to the library: each is compiled when its name is first
    /// used. A definition begins in the first column and names its package: `rung:name`.
    pub fn add_library(&mut self, text: &'static str) {
        loading::index(self, text);
    }
}
