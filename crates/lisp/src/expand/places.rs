//! Places: `setf` and the macros built on it.
//!
//! An accessor's updater is found in order: what `defsetf` said, the table `UPDATERS`, the
//! function named `(setf ACCESSOR)`. Arguments of a place are evaluated once, left to right.

use crate::condition::{Escape, Outcome};
use crate::lisp::Lisp;
use crate::symbol::{self, Symbol};
use crate::value::{NIL, Value, list, list_with_tail};

use super::macros::progn;
use super::{form, macroexpand_1};

/// What `defsetf` or `define-setf-expander` said of an accessor.
#[derive(Clone)]
pub enum SetfExpander {
    /// Call this function with the place's arguments and the new value.
    Short(Symbol),
    /// A function of the place's arguments and the new value's variable that gives a form.
    Long(Value),
    /// A function of the place that gives the five values of `get-setf-expansion`.
    Full(Value),
}

/// Accessor and the function that takes the same arguments and then the new value.
const UPDATERS: &[(&str, &str)] = &[
    ("CAR", "%SET-CAR"),
    ("CDR", "%SET-CDR"),
    ("FIRST", "%SET-CAR"),
    ("REST", "%SET-CDR"),
    ("AREF", "%SET-AREF"),
    ("SVREF", "%SET-AREF"),
    ("BIT", "%SET-AREF"),
    ("SBIT", "%SET-AREF"),
    ("ROW-MAJOR-AREF", "%SET-ROW-MAJOR-AREF"),
    ("ELT", "%SET-ELT"),
    ("SUBSEQ", "%SET-SUBSEQ"),
    ("GET", "%SET-GET"),
    ("SYMBOL-VALUE", "SET"),
    ("SYMBOL-FUNCTION", "%SET-FUNCTION"),
    ("FDEFINITION", "%SET-FUNCTION"),
    ("MACRO-FUNCTION", "%SET-MACRO-FUNCTION"),
    ("SYMBOL-PLIST", "%SET-SYMBOL-PLIST"),
    ("FILL-POINTER", "%SET-FILL-POINTER"),
    ("DOCUMENTATION", "%SET-DOCUMENTATION"),
    ("SLOT-VALUE", "%SET-SLOT-VALUE"),
];

/// Accessors that are the car or cdr of another accessor's value.
const HALVES: &[(&str, &str, bool)] = &[
    ("SECOND", "CDR", true),
    ("THIRD", "CDDR", true),
    ("FOURTH", "CDDDR", true),
    ("FIFTH", "CDDDDR", true),
    ("CAAR", "CAR", true),
    ("CADR", "CDR", true),
    ("CDAR", "CAR", false),
    ("CDDR", "CDR", false),
    ("CAAAR", "CAAR", true),
    ("CAADR", "CADR", true),
    ("CADAR", "CDAR", true),
    ("CADDR", "CDDR", true),
    ("CDAAR", "CAAR", false),
    ("CDADR", "CADR", false),
    ("CDDAR", "CDAR", false),
    ("CDDDR", "CDDR", false),
    ("CAAAAR", "CAAAR", true),
    ("CAAADR", "CAADR", true),
    ("CAADAR", "CADAR", true),
    ("CAADDR", "CADDR", true),
    ("CADAAR", "CDAAR", true),
    ("CADADR", "CDADR", true),
    ("CADDAR", "CDDAR", true),
    ("CADDDR", "CDDDR", true),
    ("CDAAAR", "CAAAR", false),
    ("CDAADR", "CAADR", false),
    ("CDADAR", "CADAR", false),
    ("CDADDR", "CADDR", false),
    ("CDDAAR", "CDAAR", false),
    ("CDDADR", "CDADR", false),
    ("CDDDAR", "CDDAR", false),
    ("CDDDDR", "CDDDR", false),
];

/// How to read and write a place whose arguments have been evaluated.
pub(crate) struct Expansion {
    /// Variables to bind, in order, with their forms.
    pub bindings: Vec<Value>,
    /// Reads the place.
    pub access: Value,
    store: Store,
}

enum Store {
    Variable(Value),
    Accessor(Value, Vec<Value>),
    /// `(getf PLACE indicator)`: the inner place and the indicator.
    Property(Box<Expansion>, Value),
    Values(Vec<Expansion>),
    /// Applies the function `(setf NAME)` to the new value and the arguments, the last a list.
    Applied(Value, Vec<Value>),
    /// From `get-setf-expansion`: the store variable and the storing form.
    Full(Value, Value),
}

fn is_simple(form: &Value) -> bool {
    match form {
        Value::Cons(pair) => pair.car().is_symbol(symbol::QUOTE),
        Value::Symbol(_) => false,
        _ => true,
    }
}

impl Expansion {
    /// The expansion of a place.
    pub(crate) fn of(lisp: &mut Lisp, place: &Value) -> Outcome<Expansion> {
        crate::stack::check("the place")?;
        let environment = lisp.macro_environment.clone();
        let Some(pair) = place.as_cons() else {
            if let Some(expanded) = macroexpand_1(lisp, place, &environment)? {
                return Expansion::of(lisp, &expanded);
            }
            if place.as_symbol().is_none() {
                return Err(Escape::program(format!("{} is no place", lisp.brief(place))));
            }
            let store = Store::Variable(place.clone());
            return Ok(Expansion { bindings: Vec::new(), access: place.clone(), store });
        };
        let Some(accessor) = pair.car().as_symbol() else {
            return Err(Escape::program(format!("{} is no place", lisp.brief(place))));
        };
        let arguments = pair.cdr().elements().collect::<Vec<_>>();
        match accessor {
            symbol::THE if arguments.len() == 2 => return Expansion::of(lisp, &arguments[1]),
            symbol::VALUES => return Expansion::of_values(lisp, &arguments),
            symbol::LDB | symbol::MASK_FIELD if arguments.len() == 2 => {
                let expander = Value::symbol(symbol::BYTE_EXPANSION);
                return Expansion::of_full(lisp, &expander, place);
            }
            symbol::GETF if arguments.len() >= 2 => return Expansion::of_getf(lisp, &arguments),
            symbol::APPLY if arguments.len() >= 2 => return Expansion::of_apply(lisp, arguments),
            _ => {}
        }
        if let Some(SetfExpander::Full(expander)) = lisp.setf_expanders.get(&accessor).cloned() {
            return Expansion::of_full(lisp, &expander, place);
        }
        if lisp.setf_expanders.contains_key(&accessor) || is_function(lisp, accessor) {
            return Ok(Expansion::of_accessor(lisp, pair.car(), arguments));
        }
        match macroexpand_1(lisp, place, &environment)? {
            Some(expanded) => Expansion::of(lisp, &expanded),
            None => Ok(Expansion::of_accessor(lisp, pair.car(), arguments)),
        }
    }

    fn of_accessor(lisp: &mut Lisp, accessor: Value, arguments: Vec<Value>) -> Expansion {
        let (mut bindings, mut names) = (Vec::new(), Vec::new());
        for argument in arguments {
            if is_simple(&argument) {
                names.push(argument);
            } else {
                let name = lisp.gensym("PLACE");
                bindings.push(list([name.clone(), argument]));
                names.push(name);
            }
        }
        let access = list_with_tail([accessor.clone()], list(names.clone()));
        Expansion { bindings, access, store: Store::Accessor(accessor, names) }
    }

    fn of_getf(lisp: &mut Lisp, arguments: &[Value]) -> Outcome<Expansion> {
        let inner = Expansion::of(lisp, &arguments[0])?;
        let mut bindings = inner.bindings.clone();
        let mut names = Vec::new();
        for argument in &arguments[1..] {
            let name = lisp.gensym("PLACE");
            bindings.push(list([name.clone(), argument.clone()]));
            names.push(name);
        }
        let indicator = names[0].clone();
        let access = form(symbol::GETF, [inner.access.clone()].into_iter().chain(names));
        Ok(Expansion { bindings, access, store: Store::Property(Box::new(inner), indicator) })
    }

    /// `(apply #'accessor argument... list)`.
    fn of_apply(lisp: &mut Lisp, mut arguments: Vec<Value>) -> Outcome<Expansion> {
        let function = arguments.remove(0);
        let name = function.elements().nth(1).filter(|_| {
            function.as_cons().is_some_and(|pair| pair.car().is_symbol(symbol::FUNCTION))
        });
        let Some(name) = name else {
            let text = "setf: the function of a place with apply is written #'name";
            return Err(Escape::program(text));
        };
        let inner = Expansion::of_accessor(lisp, name.clone(), arguments);
        let Store::Accessor(_, names) = inner.store else {
            return Err(Escape::program("setf: apply of what is no accessor"));
        };
        let access = form(symbol::APPLY, [function].into_iter().chain(names.clone()));
        let store = Store::Applied(name, names);
        Ok(Expansion { bindings: inner.bindings, access, store })
    }

    fn of_values(lisp: &mut Lisp, places: &[Value]) -> Outcome<Expansion> {
        let (mut bindings, mut access, mut inner) = (Vec::new(), Vec::new(), Vec::new());
        for place in places {
            let expansion = Expansion::of(lisp, place)?;
            bindings.extend(expansion.bindings.clone());
            access.push(expansion.access.clone());
            inner.push(expansion);
        }
        let access = form(symbol::VALUES, access);
        Ok(Expansion { bindings, access, store: Store::Values(inner) })
    }

    fn of_full(lisp: &mut Lisp, expander: &Value, place: &Value) -> Outcome<Expansion> {
        let values = lisp.call_for_values(expander, &[place.clone(), NIL])?;
        let [names, forms, stores, store, access] = &values[..] else {
            return Err(Escape::program("define-setf-expander: expected five values"));
        };
        let pairs = names.elements().zip(forms.elements());
        let bindings = pairs.map(|(name, form)| list([name, form])).collect();
        let variable = stores.elements().next().unwrap_or_default();
        let store = Store::Full(variable, store.clone());
        Ok(Expansion { bindings, access: access.clone(), store })
    }

    /// A form that stores the value of a form and gives it.
    pub(crate) fn store(&self, lisp: &mut Lisp, value: Value) -> Outcome {
        match &self.store {
            Store::Variable(name) => Ok(form(symbol::SETQ, [name.clone(), value])),
            Store::Accessor(accessor, arguments) => {
                let accessor = accessor.as_symbol().unwrap_or(symbol::NIL);
                store_by_accessor(lisp, accessor, arguments.clone(), value)
            }
            Store::Applied(name, arguments) => {
                let setter = form(symbol::SETF, [name.clone()]);
                let setter = form(symbol::FUNCTION, [setter]);
                let given = [setter, value].into_iter().chain(arguments.clone());
                Ok(form(symbol::APPLY, given))
            }
            Store::Property(inner, indicator) => {
                let name = lisp.gensym("NEW");
                let changed = form(
                    symbol::PUT_PROPERTY,
                    [inner.access.clone(), indicator.clone(), name.clone()],
                );
                let stored = inner.store(lisp, changed)?;
                let bindings = list([list([name.clone(), value])]);
                Ok(form(symbol::LET, [bindings, stored, name]))
            }
            Store::Values(inner) => {
                let names = inner.iter().map(|_| lisp.gensym("NEW")).collect::<Vec<_>>();
                let mut body = Vec::new();
                for (place, name) in inner.iter().zip(&names) {
                    body.push(place.store(lisp, name.clone())?);
                }
                body.push(form(symbol::VALUES, names.clone()));
                let head = [list(names), value];
                Ok(form(symbol::MULTIPLE_VALUE_BIND, head.into_iter().chain(body)))
            }
            Store::Full(name, store) => {
                let bindings = list([list([name.clone(), value])]);
                Ok(form(symbol::LET, [bindings, store.clone()]))
            }
        }
    }

    /// `(let* (the place's bindings) body)`.
    pub(crate) fn around(&self, body: Value) -> Value {
        if self.bindings.is_empty() {
            return body;
        }
        form(symbol::LET_STAR, [list(self.bindings.clone()), body])
    }
}

/// Whether the accessor is a function (and so no macro that expands to a place).
fn is_function(lisp: &Lisp, accessor: Symbol) -> bool {
    !lisp.symbols[accessor].function.is_unbound()
        || lisp.macro_environment.function(accessor, true).is_some()
}

fn store_by_accessor(
    lisp: &mut Lisp,
    accessor: Symbol,
    arguments: Vec<Value>,
    value: Value,
) -> Outcome {
    match lisp.setf_expanders.get(&accessor).cloned() {
        Some(SetfExpander::Short(updater)) => {
            return Ok(form(updater, arguments.into_iter().chain([value])));
        }
        Some(SetfExpander::Long(expander)) => {
            let name = lisp.gensym("NEW");
            let given = arguments.into_iter().chain([name.clone()]).collect::<Vec<_>>();
            let store = lisp.call(&expander, &given)?;
            return Ok(form(symbol::LET, [list([list([name, value])]), store]));
        }
        _ => {}
    }
    let name = lisp.name(accessor);
    let standard = lisp.symbols[accessor].package == Some(crate::package::CL);
    let updater = UPDATERS.iter().find(|(accessor, _)| standard && **accessor == *name);
    if let Some((_, updater)) = updater {
        let updater = lisp.intern(crate::package::RUNG, updater);
        return Ok(form(updater, arguments.into_iter().chain([value])));
    }
    if let Some((_, inner, is_car)) = HALVES.iter().find(|half| standard && *half.0 == *name) {
        let inner = lisp.intern(crate::package::CL, inner);
        let updater = if *is_car { symbol::SET_CAR } else { symbol::SET_CDR };
        return Ok(form(updater, [form(inner, arguments), value]));
    }
    match (accessor, &arguments[..]) {
        (symbol::NTH, [n, list]) => {
            let rest = form(symbol::NTHCDR, [n.clone(), list.clone()]);
            Ok(form(symbol::SET_CAR, [rest, value]))
        }
        (symbol::GETHASH, [key, table, ..]) => {
            Ok(form(symbol::SET_GETHASH, [key.clone(), table.clone(), value]))
        }
        _ => {
            let function = list([Value::symbol(symbol::SETF), Value::symbol(accessor)]);
            let function = form(symbol::FUNCTION, [function]);
            Ok(form(symbol::FUNCALL, [function, value].into_iter().chain(arguments)))
        }
    }
}

/// A function of the new value and the arguments for an accessor of the language that has none of
/// its own: `#'(setf aref)`.
pub(crate) fn standard_setter(lisp: &mut Lisp, accessor: Symbol) -> Outcome<Option<Value>> {
    let name = lisp.name(accessor);
    let standard = lisp.symbols[accessor].package == Some(crate::package::CL);
    let known = UPDATERS.iter().any(|(accessor, _)| **accessor == *name)
        || HALVES.iter().any(|half| *half.0 == *name)
        || matches!(accessor, symbol::NTH | symbol::GETHASH);
    if !standard || !known {
        return Ok(None);
    }
    let (new, given) = (lisp.gensym("NEW"), lisp.gensym("ARGUMENTS"));
    let body = match UPDATERS.iter().find(|(accessor, _)| **accessor == *name) {
        Some((_, updater)) => {
            let updater = Value::symbol(lisp.intern(crate::package::RUNG, updater));
            let all = form(symbol::APPEND, [given.clone(), form(symbol::LIST, [new.clone()])]);
            form(symbol::APPLY, [form(symbol::FUNCTION, [updater]), all])
        }
        None => {
            let parts = [form(symbol::CAR, [given.clone()]), form(symbol::CDR, [given.clone()])];
            let [first, rest] = parts;
            let second = form(symbol::CAR, [rest]);
            let two = matches!(accessor, symbol::NTH | symbol::GETHASH);
            let place = if two { vec![first, second] } else { vec![first] };
            form(symbol::SETF, [form(accessor, place), new.clone()])
        }
    };
    let parameters = list([new, Value::symbol(symbol::AND_REST), given]);
    lisp.eval_form(&form(symbol::LAMBDA, [parameters, body])).map(Some)
}

fn arguments_of(form: &Value) -> Vec<Value> {
    form.elements().skip(1).collect()
}

pub(crate) fn setf(lisp: &mut Lisp, a: &[Value]) -> Outcome {
    let parts = arguments_of(&a[0]);
    if parts.len() % 2 == 1 {
        return Err(Escape::program("setf: expected pairs of a place and a form"));
    }
    let mut forms = Vec::new();
    for pair in parts.chunks_exact(2) {
        forms.push(set_one(lisp, &pair[0], pair[1].clone())?);
    }
    Ok(progn(list(forms)))
}

fn set_one(lisp: &mut Lisp, place: &Value, value: Value) -> Outcome {
    let expansion = Expansion::of(lisp, place)?;
    // Where the updater takes place arguments and value in order, no variables are needed.
    let head = place.as_cons().map(|pair| pair.car()).unwrap_or_default();
    if let Store::Accessor(accessor, _) = &expansion.store
        && accessor.eql(&head)
    {
        let name = accessor.as_symbol().unwrap_or(symbol::NIL);
        let text = lisp.name(name);
        let standard = lisp.symbols[name].package == Some(crate::package::CL);
        let in_order = UPDATERS.iter().any(|(accessor, _)| *accessor == &*text)
            || HALVES.iter().any(|half| half.0 == &*text)
            || matches!(name, symbol::NTH)
            || (name == symbol::GETHASH && arguments_of(place).len() == 2);
        if standard && in_order && !lisp.setf_expanders.contains_key(&name) {
            return store_by_accessor(lisp, name, arguments_of(place), value);
        }
    }
    let store = expansion.store(lisp, value)?;
    Ok(expansion.around(store))
}

pub(crate) fn psetf(lisp: &mut Lisp, a: &[Value]) -> Outcome {
    let parts = arguments_of(&a[0]);
    let (mut bindings, mut stores) = (Vec::new(), Vec::new());
    for pair in parts.chunks_exact(2) {
        let expansion = Expansion::of(lisp, &pair[0])?;
        bindings.extend(expansion.bindings.clone());
        let name = lisp.gensym("NEW");
        bindings.push(list([name.clone(), pair[1].clone()]));
        stores.push(expansion.store(lisp, name)?);
    }
    stores.push(NIL);
    Ok(form(symbol::LET_STAR, [list(bindings)].into_iter().chain(stores)))
}

pub(crate) fn push(lisp: &mut Lisp, a: &[Value]) -> Outcome {
    let parts = arguments_of(&a[0]);
    let [value, place] = &parts[..] else {
        return Err(Escape::program("push: expected 2 arguments"));
    };
    let expansion = Expansion::of(lisp, place)?;
    let simple = expansion.bindings.is_empty() || is_simple(value);
    let name = if simple { value.clone() } else { lisp.gensym("VALUE") };
    let longer = form(symbol::CONS, [name.clone(), expansion.access.clone()]);
    let body = expansion.store(lisp, longer)?;
    let inner = expansion.around(body);
    if simple {
        return Ok(inner);
    }
    Ok(form(symbol::LET, [list([list([name, value.clone()])]), inner]))
}

pub(crate) fn pop(lisp: &mut Lisp, a: &[Value]) -> Outcome {
    let parts = arguments_of(&a[0]);
    let [place] = &parts[..] else { return Err(Escape::program("pop: expected 1 argument")) };
    let expansion = Expansion::of(lisp, place)?;
    let name = lisp.gensym("LIST");
    let shorter = expansion.store(lisp, form(symbol::CDR, [name.clone()]))?;
    let bindings = list([list([name.clone(), expansion.access.clone()])]);
    let first = form(symbol::CAR, [name]);
    let body = form(symbol::LET, [bindings, form(symbol::PROG1, [first, shorter])]);
    Ok(expansion.around(body))
}

pub(crate) fn incf(lisp: &mut Lisp, a: &[Value]) -> Outcome {
    add_to(lisp, &a[0], symbol::PLUS)
}

pub(crate) fn decf(lisp: &mut Lisp, a: &[Value]) -> Outcome {
    add_to(lisp, &a[0], symbol::MINUS)
}

fn add_to(lisp: &mut Lisp, whole: &Value, operator: Symbol) -> Outcome {
    let parts = arguments_of(whole);
    let (place, delta) = match &parts[..] {
        [place] => (place, Value::Fixnum(1)),
        [place, delta] => (place, delta.clone()),
        _ => return Err(Escape::program("incf, decf: expected 1 to 2 arguments")),
    };
    change(lisp, place, Value::symbol(operator), &[], &[delta])
}

/// Stores `(function before... place after...)` in the place.
fn change(
    lisp: &mut Lisp,
    place: &Value,
    function: Value,
    before: &[Value],
    after: &[Value],
) -> Outcome {
    let expansion = Expansion::of(lisp, place)?;
    let arguments = before.iter().chain([&expansion.access]).chain(after).cloned();
    let value = list_with_tail([function], list(arguments.collect::<Vec<_>>()));
    let body = expansion.store(lisp, value)?;
    Ok(expansion.around(body))
}

pub(crate) fn modify(lisp: &mut Lisp, a: &[Value]) -> Outcome {
    let parts = arguments_of(&a[0]);
    let [place, function, before, after] = &parts[..] else {
        return Err(Escape::program("%modify: expected 4 arguments"));
    };
    let before = before.elements().collect::<Vec<_>>();
    let after = after.elements().collect::<Vec<_>>();
    change(lisp, place, function.clone(), &before, &after)
}

pub(crate) fn shiftf(lisp: &mut Lisp, a: &[Value]) -> Outcome {
    let mut parts = arguments_of(&a[0]);
    let Some(last) = parts.pop() else {
        return Err(Escape::program("shiftf: expected at least 2 arguments"));
    };
    rotate(lisp, &parts, last, true)
}

pub(crate) fn rotatef(lisp: &mut Lisp, a: &[Value]) -> Outcome {
    let parts = arguments_of(&a[0]);
    let Some(first) = parts.first().cloned() else { return Ok(NIL) };
    rotate(lisp, &parts, first, false)
}

/// Reads all places, then stores each value one place to the left; the last place gets `last`,
/// or when rotating the first value.
fn rotate(lisp: &mut Lisp, places: &[Value], last: Value, shift: bool) -> Outcome {
    let mut expansions = Vec::new();
    let (mut bindings, mut old) = (Vec::new(), Vec::new());
    for place in places {
        let expansion = Expansion::of(lisp, place)?;
        bindings.extend(expansion.bindings.clone());
        let name = lisp.gensym("OLD");
        bindings.push(list([name.clone(), expansion.access.clone()]));
        old.push(name);
        expansions.push(expansion);
    }
    let result = old.first().cloned().unwrap_or_default();
    let end = if shift {
        let name = lisp.gensym("NEW");
        bindings.push(list([name.clone(), last]));
        name
    } else {
        result.clone()
    };
    let mut body = vec![list(bindings)];
    for (index, expansion) in expansions.iter().enumerate() {
        let value = old.get(index + 1).cloned().unwrap_or_else(|| end.clone());
        body.push(expansion.store(lisp, value)?);
    }
    body.push(if shift { result } else { NIL });
    Ok(form(symbol::LET_STAR, body))
}

pub(crate) fn remf(lisp: &mut Lisp, a: &[Value]) -> Outcome {
    let parts = arguments_of(&a[0]);
    let [place, indicator] = &parts[..] else {
        return Err(Escape::program("remf: expected 2 arguments"));
    };
    let expansion = Expansion::of(lisp, place)?;
    let (list_name, found) = (lisp.gensym("LIST"), lisp.gensym("FOUND"));
    let call = form(symbol::REMOVE_PROPERTY, [expansion.access.clone(), indicator.clone()]);
    let store = expansion.store(lisp, list_name.clone())?;
    let names = list([list_name, found.clone()]);
    let body = form(symbol::MULTIPLE_VALUE_BIND, [names, call, store, found]);
    Ok(expansion.around(body))
}

/// The five values of `get-setf-expansion`.
pub(crate) fn get_setf_expansion(lisp: &mut Lisp, place: &Value) -> Outcome {
    let expansion = Expansion::of(lisp, place)?;
    let store = lisp.gensym("NEW");
    let storing = expansion.store(lisp, store.clone())?;
    let part = |which: usize| {
        let parts = expansion.bindings.iter();
        list(parts.filter_map(|b| b.elements().nth(which)).collect::<Vec<_>>())
    };
    let values = vec![part(0), part(1), list([store]), storing, expansion.access.clone()];
    Ok(lisp.values(values))
}
