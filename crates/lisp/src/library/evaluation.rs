//! Evaluation, definitions, functions and values (chapters 3 and 5).

use crate::code::Function;
use crate::condition::{Escape, EscapeKind, Outcome};
use crate::equality;
use crate::expand::environment::Environment;
use crate::expand::environment::Meaning;
use crate::expand::places::{self, SetfExpander};
use crate::expand::special::{function_name, special_operator};
use crate::lisp::Lisp;
use crate::native::{Native, native};
use crate::symbol::{self, Symbol, VariableKind};
use crate::value::{NIL, Value, list};

use super::locks::Way;
use super::sequence_parts::list_elements;

/// The table.
pub static EVALUATION: &[Native] = &[
    native("eval", "form", "Evaluates a form.", |lisp, a| {
        super::loading::eval_toplevel(lisp, &a[0])
    }),
    native(
        "compile",
        "name &optional definition",
        "Compiles, as all functions are: the name or the function, and twice nil.",
        compile,
    ),
    native("apply", "function &rest arguments", "Calls with a list of arguments.", apply),
    native("funcall", "function &rest arguments", "Calls a function.", |lisp, a| {
        lisp.call_keeping_values(&a[0], &a[1..])
    }),
    native("values", "&rest values", "Several values.", |lisp, a| Ok(lisp.values(a.to_vec()))),
    native("values-list", "list", "The elements as values.", |lisp, a| {
        let all = list_elements("values-list", &a[0])?;
        Ok(lisp.values(all))
    }),
    native(
        "rung::%check-values",
        "type &rest values",
        "The values; an error if not of it.",
        check_values,
    ),
    native("identity", "object", "The object.", |_, a| Ok(a[0].clone())),
    native("not", "object", "Whether it is nil.", |_, a| Ok(Value::boolean(a[0].is_nil()))),
    native("eq", "a b", "The same object.", |_, a| Ok(Value::boolean(a[0].eql(&a[1])))),
    native("eql", "a b", "The same object or number.", |_, a| Ok(Value::boolean(a[0].eql(&a[1])))),
    native("equal", "a b", "The same structure.", |_, a| {
        Ok(Value::boolean(equality::equal(&a[0], &a[1])))
    }),
    native("equalp", "a b", "The same but for case and number type.", |_, a| {
        Ok(Value::boolean(equality::equalp(&a[0], &a[1])))
    }),
    native("functionp", "object", "Whether it is a function.", |_, a| {
        Ok(Value::boolean(a[0].as_function().is_some()))
    }),
    native("compiled-function-p", "object", "Whether it is a function.", |_, a| {
        Ok(Value::boolean(a[0].as_function().is_some()))
    }),
    native("rung::%function-name", "object", "The name of a function.", |_, a| {
        Ok(match a[0].as_function().map(|f| &**f) {
            Some(Function::Closure(closure)) => closure.code.name.clone(),
            Some(Function::Native(native)) => Value::symbol(native.name),
            Some(Function::Generic(generic)) => generic.name.clone(),
            None => NIL,
        })
    }),
    native("fdefinition", "name", "The global function of a name.", fdefinition),
    native("symbol-function", "symbol", "The global function of a symbol.", fdefinition),
    native("rung::%set-function", "name function", "Sets a global function.", |lisp, a| {
        let function = Value::Function(lisp.function_of(&a[1])?);
        define(lisp, &a[0], function)?;
        Ok(a[1].clone())
    }),
    native("fboundp", "name", "Whether a name has a function or macro.", |lisp, a| {
        let Some((name, setf)) = function_name(&a[0]) else {
            return Err(Escape::wrong_type("fboundp", symbol::SYMBOL, &a[0]));
        };
        if setf {
            return Ok(Value::boolean(!lisp.symbols[name].setf_function.is_unbound()));
        }
        let known = lisp.macro_function(name)?.is_some()
            || !lisp.symbols[name].function.is_unbound()
            || lisp.library.defines(name)
            || special_operator(name).is_some();
        Ok(Value::boolean(known))
    }),
    native("fmakunbound", "name", "Removes a name's function.", |lisp, a| {
        if let Some((name, _)) = function_name(&a[0]) {
            lisp.name_to_define(name, Way::Keep)?;
        }
        match function_name(&a[0]) {
            Some((name, false)) => {
                lisp.symbols[name].function = Value::Unbound;
                lisp.symbols[name].macro_function = Value::Unbound;
            }
            Some((name, true)) => lisp.symbols[name].setf_function = Value::Unbound,
            None => {}
        }
        Ok(a[0].clone())
    }),
    native("macro-function", "symbol &optional environment", "A macro's expander.", |lisp, a| {
        let Some(name) = a[0].as_symbol() else {
            return Err(Escape::wrong_type("macro-function", symbol::SYMBOL, &a[0]));
        };
        // The environment that a macro is given is the one in which it is called.
        if a.len() > 1 {
            match lisp.macro_environment.function(name, false) {
                Some(Meaning::Macro(_, expander)) => return Ok(expander),
                Some(_) => return Ok(NIL),
                None => {}
            }
        }
        Ok(lisp.macro_function(name)?.unwrap_or_default())
    }),
    native("rung::%set-macro-function", "symbol function", "Sets an expander.", |lisp, a| {
        define_macro(lisp, &a[0], a[1].clone())?;
        Ok(a[1].clone())
    }),
    native(
        "compiler-macro-function",
        "name &optional environment",
        "The expander of a compiler macro, or nil.",
        |lisp, a| {
            let name = compiler_macro_name("compiler-macro-function", &a[0])?;
            Ok(lisp.compiler_macros.get(&name).cloned().unwrap_or_default())
        },
    ),
    native(
        "(setf compiler-macro-function)",
        "function name &optional environment",
        "Sets the expander of a compiler macro; nil removes it.",
        |lisp, a| {
            let name = compiler_macro_name("(setf compiler-macro-function)", &a[1])?;
            match &a[0] {
                Value::Nil => lisp.compiler_macros.remove(&name),
                function => {
                    let function = Value::Function(lisp.function_of(function)?);
                    lisp.compiler_macros.insert(name, function)
                }
            };
            Ok(a[0].clone())
        },
    ),
    native("rung::%define-compiler-macro", "name function", "Defines one.", |lisp, a| {
        let name = compiler_macro_name("define-compiler-macro", &a[0])?;
        lisp.compiler_macros.insert(name, a[1].clone());
        Ok(a[0].clone())
    }),
    native("special-operator-p", "symbol", "Whether it names a special operator.", |_, a| {
        Ok(Value::boolean(a[0].as_symbol().is_some_and(|s| special_operator(s).is_some())))
    }),
    native("macroexpand-1", "form &optional environment", "Expands once.", |lisp, a| {
        let environment = lisp.macro_environment.clone();
        let expanded = crate::expand::macroexpand_1(lisp, &a[0], &environment)?;
        let truth = Value::boolean(expanded.is_some());
        Ok(lisp.values(vec![expanded.unwrap_or_else(|| a[0].clone()), truth]))
    }),
    native("macroexpand", "form &optional environment", "Expands while it can.", |lisp, a| {
        let environment = lisp.macro_environment.clone();
        let (form, expanded) = crate::expand::macroexpand(lisp, &a[0], &environment)?;
        Ok(lisp.values(vec![form, Value::boolean(expanded)]))
    }),
    native("get-setf-expansion", "place &optional environment", "Five values.", |lisp, a| {
        places::get_setf_expansion(lisp, &a[0])
    }),
    native("constantp", "form &optional environment", "Whether it is constant.", |lisp, a| {
        Ok(Value::boolean(match &a[0] {
            Value::Cons(pair) => pair.car().is_symbol(symbol::QUOTE),
            Value::Symbol(name) => lisp.symbols[*name].kind == VariableKind::Constant,
            _ => true,
        }))
    }),
    native("proclaim", "declaration", "A global declaration.", |lisp, a| {
        let mut parts = a[0].elements();
        if parts.next().is_some_and(|kind| kind.is_symbol(symbol::SPECIAL)) {
            for name in parts.filter_map(|name| name.as_symbol()) {
                lisp.symbols[name].kind = VariableKind::Special;
            }
        }
        crate::expand::warnings::proclaim(lisp, &a[0])?;
        Ok(NIL)
    }),
    native("rung::%define-function", "name function", "What defun does.", |lisp, a| {
        define(lisp, &a[0], a[1].clone())
    }),
    native("rung::%define-macro", "name function lambda-list", "What defmacro does.", |lisp, a| {
        let name = define_macro(lisp, &a[0], a[1].clone())?;
        // The expander's own is that of every macro: the form and the environment.
        lisp.documentation.insert((name, symbol::LAMBDA), a[2].clone());
        Ok(Value::symbol(name))
    }),
    native(
        "rung::%define-variable",
        "how name thunk documentation",
        "What defvar does.",
        define_variable,
    ),
    native("rung::%define-symbol-macro", "name expansion", "A global symbol macro.", |lisp, a| {
        let Some(name) = a[0].as_symbol() else {
            return Err(Escape::wrong_type("define-symbol-macro", symbol::SYMBOL, &a[0]));
        };
        let name = lisp.name_to_define(name, Way::Shadow)?;
        lisp.symbol_macros.insert(name, a[1].clone());
        Ok(Value::symbol(name))
    }),
    native("rung::%define-setf", "accessor kind function", "What defsetf does.", |lisp, a| {
        let Some(accessor) = a[0].as_symbol() else {
            return Err(Escape::wrong_type("defsetf", symbol::SYMBOL, &a[0]));
        };
        let expander = match (a[1].as_fixnum(), a[2].as_symbol()) {
            (Some(0), Some(updater)) => SetfExpander::Short(updater),
            (Some(1), _) => SetfExpander::Long(a[2].clone()),
            _ => SetfExpander::Full(a[2].clone()),
        };
        lisp.name_to_define(accessor, Way::Keep)?;
        lisp.setf_expanders.insert(accessor, expander);
        Ok(a[0].clone())
    }),
    native("rung::%destructuring-car", "list operator", "The next element.", |lisp, a| {
        match &a[0] {
            Value::Cons(pair) => Ok(pair.car()),
            _ => Err(miscounted(lisp, &a[1], "too few")),
        }
    }),
    native("rung::%destructuring-end", "list operator", "Checks for the end.", |lisp, a| {
        if a[0].is_nil() {
            return Ok(NIL);
        }
        Err(miscounted(lisp, &a[1], "too many"))
    }),
    native("rung::%destructuring-find", "plist keyword", "The tail at a key's value.", |_, a| {
        let mut rest = a[0].clone();
        while let Value::Cons(pair) = &rest {
            let after = pair.cdr();
            if pair.car().eql(&a[1]) {
                return Ok(after);
            }
            let next = after.as_cons().map(|pair| pair.cdr()).unwrap_or_default();
            rest = next;
        }
        Ok(NIL)
    }),
    native("rung::%destructuring-keys", "plist keywords", "Checks keywords.", |lisp, a| {
        let given = list_elements("destructuring-bind", &a[0])?;
        if given.len() % 2 == 1 {
            return Err(Escape::program("Odd number of keyword arguments"));
        }
        let known = a[1].elements().collect::<Vec<_>>();
        let is_open = |name: &Value| name.is_symbol(symbol::KEY_ALLOW_OTHER_KEYS);
        let open = known.iter().any(is_open)
            || given.chunks(2).any(|pair| is_open(&pair[0]) && pair[1].truth());
        for pair in given.chunks(2) {
            if !open && !known.iter().any(|name| name.eql(&pair[0])) {
                let known = known.iter().filter_map(Value::as_symbol).collect::<Vec<_>>();
                return Err(crate::machine::unknown_keyword(lisp, &pair[0], &known));
            }
        }
        Ok(NIL)
    }),
    native("rung::%progv", "symbols values function", "Calls with dynamic bindings.", |lisp, a| {
        let depth = lisp.bindings.len();
        let mut values = a[1].elements();
        for name in list_elements("progv", &a[0])? {
            let Some(name) = name.as_symbol() else {
                lisp.unbind_to(depth);
                return Err(Escape::wrong_type("progv", symbol::SYMBOL, &name));
            };
            lisp.bind(name, values.next().unwrap_or(Value::Unbound));
        }
        let result = lisp.call_keeping_values(&a[2], &[]);
        lisp.unbind_to(depth);
        result
    }),
    native("gensym", "&optional prefix", "A new uninterned symbol.", |lisp, a| match a.first() {
        None => Ok(lisp.gensym("G")),
        Some(Value::String(prefix)) => Ok(lisp.gensym(&prefix.to_text())),
        Some(Value::Fixnum(n)) => Ok(Value::symbol(lisp.make_symbol(&format!("G{n}")))),
        Some(other) => Err(Escape::wrong_type("gensym", symbol::STRING, other)),
    }),
    native(
        "rung::%replace-function",
        "name function",
        "For trace: also a locked name's.",
        |lisp, a| {
            match a[0].as_symbol() {
                Some(name) => lisp.symbols[name].function = a[1].clone(),
                None => return Err(Escape::wrong_type("trace", symbol::SYMBOL, &a[0])),
            }
            Ok(a[1].clone())
        },
    ),
    native("rung:quit", "&optional code &key abort", "Ends the program.", quit),
    native("uiop:quit", "&optional code finish-output", "Ends the program.", |_, a| {
        let code = a.first().and_then(Value::as_fixnum).unwrap_or(0) as i32;
        // Without finishing the output: without clean-ups.
        let abort = a.get(1).is_some_and(|finish| !finish.truth());
        Err(EscapeKind::Quit { code, abort }.into())
    }),
];

fn compile(lisp: &mut Lisp, a: &[Value]) -> Outcome {
    let function = match a.get(1).filter(|definition| definition.truth()) {
        Some(definition) if definition.as_cons().is_some() => lisp.eval_form(definition)?,
        Some(function) => Value::Function(lisp.function_of(function)?),
        None if a[0].as_function().is_some() => a[0].clone(),
        None => fdefinition(lisp, &a[..1])?,
    };
    let first = match function_name(&a[0]) {
        Some((name, false)) if name == symbol::NIL => function,
        Some((name, false)) if !lisp.symbols[name].macro_function.is_unbound() => {
            define_macro(lisp, &a[0], function)?;
            a[0].clone()
        }
        Some(_) if a.get(1).is_some_and(Value::truth) => {
            define(lisp, &a[0], function)?;
            a[0].clone()
        }
        _ => a[0].clone(),
    };
    Ok(lisp.values(vec![first, NIL, NIL]))
}

/// What the machine runs for a function, one instruction a line.
pub(super) fn disassembled(lisp: &mut Lisp, a: &[Value]) -> Outcome<String> {
    let function = match a[0].as_cons().is_some_and(|pair| pair.car().is_symbol(symbol::LAMBDA)) {
        true => lisp.eval_form(&a[0])?,
        false if a[0].as_function().is_some() => a[0].clone(),
        false => fdefinition(lisp, a)?,
    };
    let shown = crate::printer::prin1(lisp, &function)?;
    Ok(match function.as_function().map(|function| &**function) {
        Some(Function::Closure(closure)) => {
            let code = &closure.code;
            let runs = code.native.words();
            let mut text = format!("{shown}: {} registers, {runs}\n", code.registers);
            for (pc, op) in code.ops.iter().enumerate() {
                text += &format!("{pc:>5}  {op:?}\n");
            }
            text
        }
        Some(Function::Generic(_)) => format!("{shown} is a generic function\n"),
        _ => format!("{shown} is written in Rust\n"),
    })
}

/// What `the` does at `(safety 3)`: a type is that of the first value, `(values type...)` of each.
fn check_values(lisp: &mut Lisp, a: &[Value]) -> Outcome {
    let several = a[0].as_cons().filter(|pair| pair.car().is_symbol(symbol::VALUES));
    let types = match several {
        None => vec![a[0].clone()],
        // Beyond a lambda-list keyword nothing is promised of values that may be missing.
        Some(pair) => {
            pair.cdr().elements().take_while(|t| !t.is_symbol(symbol::AND_OPTIONAL)).collect()
        }
    };
    for (number, specifier) in types.iter().enumerate() {
        let value = a.get(number + 1).cloned().unwrap_or_default();
        if specifier.is_symbol(symbol::AND_REST) {
            break;
        }
        if !super::types::is_of_type(lisp, &value, specifier)? {
            let wanted = lisp.brief(specifier).to_lowercase();
            return Err(Escape::unexpected("the", &wanted, specifier.clone(), &value));
        }
    }
    Ok(lisp.values(a[1..].to_vec()))
}

fn apply(lisp: &mut Lisp, a: &[Value]) -> Outcome {
    let Some((last, first)) = a[1..].split_last() else {
        return lisp.call_keeping_values(&a[0], &[]);
    };
    let mut arguments = first.to_vec();
    arguments.extend(list_elements("apply", last)?);
    lisp.call_keeping_values(&a[0], &arguments)
}

/// `(quit code :abort t)`, where the code may be left out.
fn quit(lisp: &mut Lisp, a: &[Value]) -> Outcome {
    let code = a.first().filter(|first| !first.is_symbol(symbol::KEY_ABORT));
    let rest = &a[usize::from(code.is_some())..];
    let [abort] = crate::native::keywords(lisp, rest, [symbol::KEY_ABORT])?;
    let abort = abort.is_some_and(|abort| abort.truth());
    let code = code.and_then(Value::as_fixnum).unwrap_or(0) as i32;
    Err(EscapeKind::Quit { code, abort }.into())
}

fn fdefinition(lisp: &mut Lisp, a: &[Value]) -> Outcome {
    match function_name(&a[0]) {
        Some((name, false)) => {
            if let Some(expander) = lisp.macro_function(name)? {
                return Ok(expander);
            }
            Ok(Value::Function(lisp.global_function(name)?))
        }
        Some((name, true)) => lisp.setf_function(name),
        None => Err(Escape::wrong_type("fdefinition", symbol::SYMBOL, &a[0])),
    }
}

impl Lisp {
    /// An error where no binding may have the name: constants.
    pub fn check_bindable(&self, name: Symbol) -> Outcome<()> {
        match self.symbols[name].kind {
            VariableKind::Constant => {
                Err(Escape::program(format!("{} is a constant", self.shown(name))))
            }
            _ => Ok(()),
        }
    }
}

/// Makes a function global; the name it has got.
fn define(lisp: &mut Lisp, name: &Value, function: Value) -> Outcome {
    let name = lisp.function_to_define(name)?;
    define_unlocked(lisp, &name, function)?;
    Ok(name)
}

/// As `define`, of a name that has been looked at already.
pub fn define_unlocked(lisp: &mut Lisp, name: &Value, function: Value) -> Outcome<()> {
    match function_name(name) {
        Some((name, false)) => {
            lisp.symbols[name].function = function;
            lisp.symbols[name].macro_function = Value::Unbound;
        }
        Some((name, true)) => {
            lisp.symbols[name].setf_function = function;
            // A definition by `(defun (setf f))` takes the place of an older `defsetf`.
            lisp.setf_expanders.remove(&name);
        }
        None => return Err(Escape::wrong_type("defun", symbol::SYMBOL, name)),
    }
    Ok(())
}

fn define_macro(lisp: &mut Lisp, name: &Value, function: Value) -> Outcome<Symbol> {
    let Some(symbol) = name.as_symbol() else {
        return Err(Escape::wrong_type("defmacro", symbol::SYMBOL, name));
    };
    let symbol = lisp.name_to_define(symbol, Way::Shadow)?;
    lisp.symbols[symbol].macro_function = function;
    Ok(symbol)
}

fn define_variable(lisp: &mut Lisp, a: &[Value]) -> Outcome {
    let (Some(how), Some(name)) = (a[0].as_symbol(), a[1].as_symbol()) else {
        return Err(Escape::wrong_type("defvar", symbol::SYMBOL, &a[1]));
    };
    let has_value = !lisp.symbols[name].value.is_unbound();
    if a[2].truth() && !(how == symbol::DEFVAR && has_value) {
        let value = lisp.call(&a[2], &[])?;
        if how == symbol::DEFCONSTANT && has_value && !lisp.symbols[name].value.eql(&value) {
            let text = format!("defconstant: {} has another value already", lisp.shown(name));
            return Err(Escape::program(text));
        }
        lisp.symbols[name].value = value;
    }
    lisp.symbols[name].kind = match how {
        symbol::DEFCONSTANT => VariableKind::Constant,
        _ => VariableKind::Special,
    };
    if a[3].truth() {
        lisp.documentation.insert((name, symbol::VARIABLE), a[3].clone());
    }
    Ok(a[1].clone())
}

/// A symbol; that calls of `(setf NAME)` have no compiler macros is allowed.
fn compiler_macro_name(operator: &str, name: &Value) -> Outcome<Symbol> {
    match function_name(name) {
        Some((name, false)) => Ok(name),
        _ => Err(Escape::wrong_type(operator, symbol::SYMBOL, name)),
    }
}

/// The lambda list of a function as data, for `describe`.
pub fn lambda_list(lisp: &mut Lisp, function: &Value) -> Value {
    match function.as_function().map(|f| &**f) {
        Some(Function::Closure(closure)) => closure.code.lambda_list.clone(),
        Some(Function::Generic(generic)) => generic.definition.borrow().lambda_list.clone(),
        Some(Function::Native(native)) => {
            let text = native.lambda_list.clone();
            let words = text.split_whitespace().map(str::to_uppercase).collect::<Vec<_>>();
            let package = crate::package::RUNG;
            list(words.iter().map(|w| Value::symbol(lisp.intern(package, w))).collect::<Vec<_>>())
        }
        None => NIL,
    }
}

/// The wrong number of arguments for a macro, or of elements where its list has a list.
fn miscounted(lisp: &Lisp, operator: &Value, how: &str) -> Escape {
    let name = crate::machine::function_name(lisp, operator);
    let error = Escape::program(format!("{name}: {how} arguments"));
    let key = operator.as_symbol().map(|name| (name, symbol::LAMBDA));
    match key.and_then(|key| lisp.documentation.get(&key)) {
        Some(list) => error.hint(crate::machine::arguments_are(&lisp.brief(list))),
        None => error,
    }
}

/// An environment without names.
pub(crate) fn no_environment() -> Environment {
    Environment::default()
}
