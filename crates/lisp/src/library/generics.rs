//! Generic functions and methods (chapter 7): their definition, the congruence of lambda lists,
//! and what a program asks about them. What a call runs is in `dispatch`.

use std::cell::Cell;

use crate::code::{Function, Parameters};
use crate::condition::{Escape, Outcome};
use crate::expand::lambda::key_parameter;
use crate::expand::special::function_name;
use crate::generic::{
    Combination, Combining, GenericDefinition, GenericFunction, Method, MethodBody, Methods,
    Specialiser, method_in,
};
use crate::heap::Ref;
use crate::lisp::Lisp;
use crate::machine;
use crate::native::{Body, Native, keywords, native};
use crate::object::Object;
use crate::symbol::{self, Symbol};
use crate::value::{NIL, Value, list};

use super::{dispatch, evaluation, instances};

/// The built-in method combinations with an operator of the same name, and whether a single
/// value is given as it is.
const COMBINATIONS: &[(Symbol, bool)] = &[
    (symbol::PLUS, true),
    (symbol::AND, true),
    (symbol::OR, true),
    (symbol::PROGN, true),
    (symbol::LIST, false),
    (symbol::APPEND, false),
    (symbol::NCONC, true),
    (symbol::MAX, true),
    (symbol::MIN, true),
];

pub(crate) fn define_combinations(lisp: &mut Lisp) {
    for (name, identity) in COMBINATIONS {
        lisp.combinations.insert(*name, Combining::Operator(*name, *identity));
    }
}

/// The shape of a lambda list.
pub(crate) fn parameters(lisp: &mut Lisp, lambda_list: &Value) -> Outcome<Parameters> {
    let mut found = Parameters::default();
    let mut section = symbol::NIL;
    for word in lambda_list.elements() {
        match word.as_symbol() {
            Some(symbol::AND_AUX) => break,
            Some(symbol::AND_ALLOW_OTHER_KEYS) => found.allow_other_keys = true,
            Some(
                name @ (symbol::AND_OPTIONAL
                | symbol::AND_REST
                | symbol::AND_BODY
                | symbol::AND_KEY),
            ) => {
                section = name;
                found.keyed |= name == symbol::AND_KEY;
                found.rest |= matches!(name, symbol::AND_REST | symbol::AND_BODY);
            }
            _ => match section {
                symbol::NIL => found.required += 1,
                symbol::AND_OPTIONAL => found.optional += 1,
                symbol::AND_KEY => found.keys.push(key_parameter(lisp, &word)?.0),
                _ => {}
            },
        }
    }
    Ok(found)
}

/// What a definition of a generic function or of a method means: the name, which is another than
/// `name` where that is locked and is shadowed, and its generic function, if it has one.
fn generic_named(lisp: &mut Lisp, name: &Value) -> Outcome<(Value, Option<Ref<Function>>)> {
    if let Some(function) = found_generic(lisp, name)? {
        return Ok((name.clone(), Some(function)));
    }
    let name = lisp.function_to_define(name)?;
    let found = found_generic(lisp, &name)?;
    if found.is_none() {
        check_free(lisp, &name)?;
    }
    Ok((name, found))
}

/// The generic function of a name, if it has one.
fn found_generic(lisp: &mut Lisp, name: &Value) -> Outcome<Option<Ref<Function>>> {
    let Some((symbol, setf)) = function_name(name) else {
        let text = format!("{} is not the name of a function", lisp.brief(name));
        return Err(Escape::program(text));
    };
    if !setf && lisp.symbols[symbol].function.is_unbound() {
        lisp.load_from_library(symbol)?;
    }
    let cell = &lisp.symbols[symbol];
    let held = if setf { cell.setf_function.clone() } else { cell.function.clone() };
    Ok(held.as_function().filter(|_| held.as_generic().is_some()).cloned())
}

/// An error where a name has a macro or a function that is not generic.
fn check_free(lisp: &Lisp, name: &Value) -> Outcome<()> {
    let Some((symbol, setf)) = function_name(name) else { return Ok(()) };
    let (cell, shown) = (&lisp.symbols[symbol], || machine::function_name(lisp, name));
    let ordinary =
        if setf { !cell.setf_function.is_unbound() } else { !cell.function.is_unbound() };
    if !setf && !cell.macro_function.is_unbound() {
        return Err(Escape::program(format!("{} is a macro, not a generic function", shown())));
    }
    if ordinary {
        let text = format!("{} is an ordinary function, not a generic one", shown());
        return Err(Escape::program(text).hint("(fmakunbound 'name) makes room for a new one"));
    }
    Ok(())
}

fn in_generic(function: &Ref<Function>) -> &GenericFunction {
    match &**function {
        Function::Generic(generic) => generic,
        _ => unreachable!("a generic function was asked for"),
    }
}

fn make_generic(
    lisp: &mut Lisp,
    name: &Value,
    definition: GenericDefinition,
) -> Outcome<Ref<Function>> {
    let generic = GenericFunction::new(name.clone(), definition);
    let function = Ref::new(Function::Generic(Box::new(generic)));
    evaluation::define_unlocked(lisp, name, Value::Function(function.clone()))?;
    Ok(function)
}

/// The lambda list of a generic function that a method alone has defined: names and sections.
fn implied_lambda_list(method: &Method) -> (Value, Parameters) {
    let mut words = Vec::new();
    for word in method.lambda_list.elements() {
        match word.as_symbol() {
            Some(symbol::AND_AUX | symbol::AND_KEY) => break,
            _ => words.push(word.as_cons().map_or(word.clone(), |pair| pair.car())),
        }
    }
    let own = &method.parameters;
    if own.keyed {
        words.push(Value::symbol(symbol::AND_KEY));
    }
    let parameters = Parameters { keys: Vec::new(), allow_other_keys: false, ..own.clone() };
    (list(words), parameters)
}

/// Adds a method to the generic function of its name, which is made if need be.
pub(crate) fn add_method(lisp: &mut Lisp, mut method: Method) -> Outcome {
    let (name, known) = generic_named(lisp, &method.generic)?;
    method.generic = name.clone();
    let function = match known {
        Some(function) => function,
        None => {
            let (lambda_list, parameters) = implied_lambda_list(&method);
            let order = (0..parameters.required.into()).collect();
            let definition =
                GenericDefinition { lambda_list, parameters, order, ..Default::default() };
            make_generic(lisp, &name, definition)?
        }
    };
    let generic = in_generic(&function);
    check_congruent(lisp, generic, &method)?;
    let method = Ref::new(Object::Method(Box::new(method)));
    generic.methods.borrow_mut().add(method.clone());
    generic.forget();
    Ok(Value::Object(method))
}

/// An error unless a method's lambda list fits its generic function (the standard, 7.6.4).
fn check_congruent(lisp: &Lisp, generic: &GenericFunction, method: &Method) -> Outcome<()> {
    let definition = generic.definition.borrow();
    match misfit(lisp, &definition.parameters, &method.parameters) {
        None => Ok(()),
        Some(why) => {
            let name = machine::function_name(lisp, &generic.name);
            Err(Escape::program(format!("{name}: the method does not fit: {why}")))
        }
    }
}

fn misfit(lisp: &Lisp, generic: &Parameters, method: &Parameters) -> Option<String> {
    let counts = [
        ("required", generic.required, method.required),
        ("optional", generic.optional, method.optional),
    ];
    for (kind, wanted, found) in counts {
        if wanted != found {
            let plural = if wanted == 1 { "parameter" } else { "parameters" };
            return Some(format!(
                "the generic function has {wanted} {kind} {plural}, the method has {found}"
            ));
        }
    }
    let (wanted, found) = (generic.rest || generic.keyed, method.rest || method.keyed);
    match (wanted, found) {
        (true, false) => {
            return Some("the generic function has &rest or &key, the method has not".to_string());
        }
        (false, true) => {
            return Some("the method has &rest or &key, the generic function has not".to_string());
        }
        _ => {}
    }
    let takes =
        |key: &Symbol| !method.keyed || method.allow_other_keys || method.keys.contains(key);
    let missing = generic.keys.iter().find(|key| !takes(key))?;
    Some(format!("the generic function has the keyword {}", lisp.shown(*missing)))
}

/// From a class, the name of one, or `(eql value)`.
fn specialiser(lisp: &mut Lisp, operator: &str, value: &Value) -> Outcome<Specialiser> {
    if let Some(class) = value.as_class() {
        return Ok(Specialiser::Class(class.name.get()));
    }
    if let Some(name) = value.as_symbol() {
        lisp.load_class(name)?;
        instances::checked_class(lisp, operator, name)?;
        return Ok(Specialiser::Class(name));
    }
    let parts = value.elements().collect::<Vec<_>>();
    match &parts[..] {
        [head, value] if head.is_symbol(symbol::EQL) => Ok(Specialiser::Eql(value.clone())),
        _ => {
            let shown = lisp.brief(value).to_lowercase();
            let text = format!("{operator}: {shown} is no class and no (eql value)");
            Err(Escape::program(text))
        }
    }
}

/// `rung::%add-method name qualifiers specialisers lambda-list maker documentation`.
fn define_method(lisp: &mut Lisp, a: &[Value]) -> Outcome {
    let specialisers = a[2].elements().collect::<Vec<_>>();
    let specialisers = specialisers.iter().map(|value| specialiser(lisp, "defmethod", value));
    let specialisers = specialisers.collect::<Outcome<Vec<_>>>()?;
    let method = Method {
        generic: a[0].clone(),
        qualifiers: a[1].elements().collect(),
        specialisers,
        parameters: parameters(lisp, &a[3])?,
        lambda_list: a[3].clone(),
        body: MethodBody::Maker(a[4].clone()),
        documentation: a[5].clone(),
        initial: Cell::new(false),
    };
    add_method(lisp, method)
}

/// `rung::%add-accessor function class slot writes documentation`.
fn define_accessor(lisp: &mut Lisp, a: &[Value]) -> Outcome {
    let (Some(class), Some(slot)) = (a[1].as_symbol(), a[2].as_symbol()) else {
        return Err(Escape::wrong_type("defclass", symbol::SYMBOL, &a[2]));
    };
    let writes = a[3].truth();
    let object = (Specialiser::Class(class), lisp.intern(crate::package::CL, "OBJECT"));
    let value = (Specialiser::Class(symbol::T), lisp.intern(crate::package::CL, "VALUE"));
    let both = if writes { vec![value, object] } else { vec![object] };
    let lambda_list = list(both.iter().map(|(_, name)| Value::symbol(*name)).collect::<Vec<_>>());
    let method = Method {
        generic: a[0].clone(),
        qualifiers: Vec::new(),
        parameters: Parameters { required: both.len() as u16, ..Parameters::default() },
        specialisers: both.into_iter().map(|(specialiser, _)| specialiser).collect(),
        lambda_list,
        body: if writes { MethodBody::Writer(slot) } else { MethodBody::Reader(slot) },
        documentation: a[4].clone(),
        initial: Cell::new(false),
    };
    add_method(lisp, method)
}

/// Defines or changes a generic function.
fn ensure(
    lisp: &mut Lisp,
    name: &Value,
    lambda_list: Option<&Value>,
    [combination, order, documentation]: [Value; 3],
) -> Outcome<Ref<Function>> {
    let (mut name, mut known) = generic_named(lisp, name)?;
    if known.is_some() {
        // A method may be added to a locked name's function; another definition is asked about.
        let own = lisp.function_to_define(&name)?;
        known = found_generic(lisp, &own)?;
        name = own;
    }
    let lambda_list = match (lambda_list, &known) {
        (Some(given), _) => given.clone(),
        (None, Some(known)) => in_generic(known).definition.borrow().lambda_list.clone(),
        (None, None) => NIL,
    };
    let parameters = parameters(lisp, &lambda_list)?;
    let definition = GenericDefinition {
        order: precedence_order(lisp, &lambda_list, &parameters, &order)?,
        combination: combination_of(lisp, &combination)?,
        lambda_list,
        parameters,
        documentation,
    };
    let Some(function) = known else { return make_generic(lisp, &name, definition) };
    redefine(lisp, in_generic(&function), definition)?;
    Ok(function)
}

/// Gives a generic function another definition, which its methods must fit.
fn redefine(lisp: &Lisp, generic: &GenericFunction, definition: GenericDefinition) -> Outcome<()> {
    remove_initial(generic);
    let methods = generic.methods.borrow().all.clone();
    for method in &methods {
        let method = method_in(method);
        if let Some(why) = misfit(lisp, &definition.parameters, &method.parameters) {
            let name = machine::function_name(lisp, &generic.name);
            let text = format!("defgeneric: {name}: its methods do not fit: {why}");
            return Err(Escape::program(text));
        }
    }
    if methods.is_empty() {
        let fresh = GenericFunction::new(generic.name.clone(), definition);
        generic.definition.replace(fresh.definition.into_inner());
        generic.methods.replace(fresh.methods.into_inner());
    } else {
        generic.definition.replace(definition);
    }
    generic.forget();
    Ok(())
}

/// Removes the methods that stood in the last `defgeneric`.
fn remove_initial(generic: &GenericFunction) {
    let mut methods: std::cell::RefMut<'_, Methods> = generic.methods.borrow_mut();
    for method in methods.all.clone() {
        if method_in(&method).initial.get() {
            methods.remove(&method);
        }
    }
}

/// `:argument-precedence-order` as numbers of the required parameters.
fn precedence_order(
    lisp: &Lisp,
    lambda_list: &Value,
    parameters: &Parameters,
    order: &Value,
) -> Outcome<Vec<usize>> {
    let required = lambda_list.elements().take(parameters.required.into()).collect::<Vec<_>>();
    if order.is_nil() {
        return Ok((0..required.len()).collect());
    }
    let position = |name: &Value| required.iter().position(|known| known.eql(name));
    let numbers = order.elements().map(|name| position(&name)).collect::<Option<Vec<_>>>();
    let complete = |numbers: &Vec<usize>| {
        numbers.len() == required.len() && (0..required.len()).all(|at| numbers.contains(&at))
    };
    numbers.filter(complete).ok_or_else(|| {
        let (order, wanted) = (lisp.brief(order), lisp.brief(&list(required.clone())));
        let text = format!(
            "defgeneric: :argument-precedence-order names each required parameter once: expected \
             the names of {wanted}: got {order}"
        );
        Escape::program(text.to_lowercase())
    })
}

/// From nil (standard), a name, or a list of the name and `:most-specific-first` or `-last`.
fn combination_of(lisp: &Lisp, given: &Value) -> Outcome<Combination> {
    let parts = match given {
        Value::Cons(_) => given.elements().collect::<Vec<_>>(),
        Value::Nil => vec![Value::symbol(symbol::STANDARD)],
        name => vec![name.clone()],
    };
    let name = parts[0].as_symbol().unwrap_or(symbol::NIL);
    if name != symbol::STANDARD && !lisp.combinations.contains_key(&name) {
        let text = format!("there is no method combination {}", lisp.brief(&parts[0]));
        return Err(Escape::program(text.to_lowercase()));
    }
    let last = parts.get(1).is_some_and(|order| order.is_symbol(symbol::KEY_MOST_SPECIFIC_LAST));
    Ok(Combination { name, last, options: list(parts[1..].to_vec()) })
}

fn generic_argument(operator: &str, value: &Value) -> Outcome<Ref<Function>> {
    match value.as_function() {
        Some(function) if value.as_generic().is_some() => Ok(function.clone()),
        _ => {
            let expected = Value::symbol(symbol::GENERIC_FUNCTION);
            Err(Escape::unexpected(operator, "a generic function", expected, value))
        }
    }
}

fn method_argument(operator: &str, value: &Value) -> Outcome<Ref<Object>> {
    match value {
        Value::Object(object) if value.as_method().is_some() => Ok(object.clone()),
        _ => {
            let expected = Value::symbol(symbol::METHOD);
            Err(Escape::unexpected(operator, "a method", expected, value))
        }
    }
}

fn find_method(lisp: &mut Lisp, a: &[Value]) -> Outcome {
    let function = generic_argument("find-method", &a[0])?;
    let generic = in_generic(&function);
    let given = a[2].elements().collect::<Vec<_>>();
    let specialisers = given.iter().map(|value| specialiser(lisp, "find-method", value));
    let specialisers = specialisers.collect::<Outcome<Vec<_>>>()?;
    let required = usize::from(generic.definition.borrow().parameters.required);
    if specialisers.len() != required {
        let text = format!(
            "find-method: expected {required} specialisers, as {} has required parameters: got {}",
            machine::function_name(lisp, &generic.name),
            specialisers.len()
        );
        return Err(Escape::error(text));
    }
    let like = Method {
        generic: generic.name.clone(),
        qualifiers: a[1].elements().collect(),
        specialisers,
        lambda_list: NIL,
        parameters: Parameters::default(),
        body: MethodBody::Maker(NIL),
        documentation: NIL,
        initial: Cell::new(false),
    };
    match generic.methods.borrow_mut().find(&like) {
        Some(method) => Ok(Value::Object(method)),
        None if a.get(3).is_some_and(Value::is_nil) => Ok(NIL),
        None => {
            let name = machine::function_name(lisp, &generic.name);
            let words = like.qualifiers.iter().cloned().chain([a[2].clone()]);
            let words = words.map(|word| lisp.brief(&word).to_lowercase()).collect::<Vec<_>>();
            Err(Escape::error(format!("find-method: {name} has no method {}", words.join(" "))))
        }
    }
}

fn ensure_generic_function(lisp: &mut Lisp, a: &[Value]) -> Outcome {
    let names = [
        symbol::KEY_LAMBDA_LIST,
        symbol::KEY_METHOD_COMBINATION,
        symbol::KEY_ARGUMENT_PRECEDENCE_ORDER,
        symbol::KEY_DOCUMENTATION,
        symbol::KEY_GENERIC_FUNCTION_CLASS,
        symbol::KEY_METHOD_CLASS,
        symbol::KEY_ENVIRONMENT,
    ];
    let [lambda_list, combination, order, documentation, ..] = keywords(lisp, &a[1..], names)?;
    let options = [combination, order, documentation].map(Option::unwrap_or_default);
    ensure(lisp, &a[0], lambda_list.as_ref(), options).map(Value::Function)
}

/// What the generic function of a method gives the method's `call-next-method`.
fn no_next(lisp: &mut Lisp, a: &[Value]) -> Outcome {
    let method = method_argument("call-next-method", &a[0])?;
    let body = std::rc::Rc::new(move |lisp: &mut Lisp, a: &[Value]| {
        let generic = found_generic(lisp, &method_in(&method).generic)?;
        let generic = generic.map(Value::Function).unwrap_or_default();
        let mut arguments = vec![generic, Value::Object(method.clone())];
        arguments.extend_from_slice(a);
        lisp.call_keeping_values(&Value::symbol(symbol::NO_NEXT_METHOD), &arguments)
    });
    let name = lisp.intern(crate::package::RUNG, "%NO-NEXT");
    Ok(super::native_value(name, "&rest arguments", "", Body::Shared(body)))
}

/// The table.
pub static GENERICS: &[Native] = &[
    native(
        "rung::%define-generic",
        "name lambda-list combination order documentation",
        "What defgeneric does.",
        |lisp, a| {
            let options = [a[2].clone(), a[3].clone(), a[4].clone()];
            ensure(lisp, &a[0], Some(&a[1]), options).map(Value::Function)
        },
    ),
    native(
        "rung::%add-method",
        "name qualifiers specialisers lambda-list maker documentation",
        "What defmethod does.",
        define_method,
    ),
    native(
        "rung::%add-accessor",
        "function class slot writes documentation",
        "Defines a reader or a writer.",
        define_accessor,
    ),
    native("rung::%initial-method", "method", "Marks a method of a defgeneric.", |_, a| {
        if let Some(method) = a[0].as_method() {
            method.initial.set(true);
        }
        Ok(a[0].clone())
    }),
    native(
        "rung::%define-combination",
        "name operator identity",
        "Defines a method combination.",
        |lisp, a| {
            let (Some(name), Some(operator)) = (a[0].as_symbol(), a[1].as_symbol()) else {
                return Err(Escape::wrong_type("define-method-combination", symbol::SYMBOL, &a[0]));
            };
            lisp.combinations.insert(name, Combining::Operator(operator, a[2].truth()));
            lisp.begin_class_epoch();
            Ok(a[0].clone())
        },
    ),
    native(
        "rung::%define-long-combination",
        "name function",
        "Defines a method combination by a function that gives a form.",
        |lisp, a| {
            let Some(name) = a[0].as_symbol() else {
                return Err(Escape::wrong_type("define-method-combination", symbol::SYMBOL, &a[0]));
            };
            lisp.combinations.insert(name, Combining::Form(a[1].clone()));
            lisp.begin_class_epoch();
            Ok(a[0].clone())
        },
    ),
    native(
        "rung::%method-function",
        "method next",
        "The function of a method that is followed by another, or by none.",
        |lisp, a| {
            let method = method_argument("call-method", &a[0])?;
            super::dispatch::function_of(lisp, &method, a[1].clone())
        },
    ),
    native("rung::%no-next", "method", "What is called after the last method.", no_next),
    native(
        "ensure-generic-function",
        "name &key lambda-list method-combination argument-precedence-order documentation \
         generic-function-class method-class environment",
        "Defines or changes a generic function.",
        ensure_generic_function,
    ),
    native(
        "find-method",
        "generic-function qualifiers specialisers &optional error",
        "The method with these qualifiers and specialisers.",
        find_method,
    ),
    native("add-method", "generic-function method", "Adds a method.", |lisp, a| {
        let function = generic_argument("add-method", &a[0])?;
        let method = method_argument("add-method", &a[1])?;
        check_congruent(lisp, in_generic(&function), method_in(&method))?;
        in_generic(&function).methods.borrow_mut().add(method);
        in_generic(&function).forget();
        Ok(a[0].clone())
    }),
    native("remove-method", "generic-function method", "Removes a method.", |_, a| {
        let function = generic_argument("remove-method", &a[0])?;
        let method = method_argument("remove-method", &a[1])?;
        in_generic(&function).methods.borrow_mut().remove(&method);
        in_generic(&function).forget();
        Ok(a[0].clone())
    }),
    native(
        "compute-applicable-methods",
        "generic-function arguments",
        "The methods for these arguments, the most specific first.",
        |lisp, a| {
            let function = generic_argument("compute-applicable-methods", &a[0])?;
            let arguments = a[1].elements().collect::<Vec<_>>();
            let generic = in_generic(&function);
            if arguments.len() < generic.definition.borrow().parameters.required.into() {
                let name = machine::function_name(lisp, &generic.name);
                let text = format!("compute-applicable-methods: too few arguments for {name}");
                return Err(Escape::program(text));
            }
            let found = dispatch::applicable(lisp, generic, &arguments);
            Ok(list(found.into_iter().map(Value::Object).collect::<Vec<_>>()))
        },
    ),
    native("method-qualifiers", "method", "The qualifiers of a method.", |_, a| {
        let method = method_argument("method-qualifiers", &a[0])?;
        Ok(list(method_in(&method).qualifiers.clone()))
    }),
    native(
        "function-keywords",
        "method",
        "Its keywords, and whether it takes others.",
        |lisp, a| {
            let method = method_argument("function-keywords", &a[0])?;
            let parameters = &method_in(&method).parameters;
            let keys = parameters.keys.iter().map(|key| Value::symbol(*key)).collect::<Vec<_>>();
            let open = Value::boolean(parameters.allow_other_keys);
            Ok(lisp.values(vec![list(keys), open]))
        },
    ),
];
