//! What a call of a generic function runs (the standard, 7.6.6): which methods apply, in which
//! order, and what the method combination makes of them. The result goes into the function's
//! cache, so that the next call with arguments of these classes finds it there (`generic`).
//!
//! What runs takes the arguments of the call as they are. A method's function is made for what
//! comes after it: its maker is called with the next method's function.

use std::rc::Rc;

use smallvec::SmallVec;

use crate::code::{Function, Parameters};
use crate::condition::{Condition, Escape, Outcome};
use crate::generic::{
    Combination, Combining, EQL, Effective, Entry, GenericFunction, Keywords, Method, MethodBody,
    Specialiser, arity, method_in,
};
use crate::heap::Ref;
use crate::lisp::Lisp;
use crate::native::Body;
use crate::object::Object;
use crate::symbol::{self, Symbol};
use crate::value::{NIL, Value, list};

use super::instances;

type MethodRef = Ref<Object>;

/// What a call of a generic function comes to.
pub(crate) enum Answer {
    /// This takes the arguments.
    Runs(Effective),
    /// No method applies: this is called with the function and the arguments in a list.
    NoMethod,
}

fn generic_in(function: &Function) -> &GenericFunction {
    match function {
        Function::Generic(generic) => generic,
        _ => unreachable!("only generic functions are dispatched"),
    }
}

impl Lisp {
    /// What runs for these arguments.
    #[inline]
    pub(crate) fn dispatch(&mut self, function: &Ref<Function>, a: &[Value]) -> Outcome<Answer> {
        let generic = generic_in(function);
        let entry = match generic.find(self.class_epoch, a) {
            Some(entry) => entry,
            None => match self.dispatch_slowly(function, a)? {
                Some(entry) => entry,
                None => return Ok(Answer::NoMethod),
            },
        };
        if entry.keywords.checked {
            check_keywords(self, &generic.name, &entry.keywords, a)?;
        }
        Ok(Answer::Runs(entry.effective))
    }

    #[cold]
    #[inline(never)]
    fn dispatch_slowly(&mut self, function: &Ref<Function>, a: &[Value]) -> Outcome<Option<Entry>> {
        crate::stack::check("the generic function")?;
        let generic = generic_in(function);
        check_count(self, generic, a.len())?;
        for value in a {
            if let Some(it) = value.as_standard() {
                instances::bring_up_to_date(self, value, it)?;
            }
        }
        let key = generic.key(self.class_epoch, a);
        let methods = applicable(self, generic, a);
        if methods.is_empty() {
            return Ok(None);
        }
        let epoch = self.class_epoch;
        let keywords = Rc::new(keywords_of(generic, &methods));
        let effective = combine(self, function, &methods, a)?;
        let entry = Entry { effective, keywords };
        // Putting it together may have run code that changed what it was made from.
        if self.class_epoch == epoch {
            generic.put(key, entry.clone());
        }
        Ok(Some(entry))
    }

    /// Calls a generic function from a native; the further values stay as after a call.
    pub(crate) fn call_generic(&mut self, function: &Ref<Function>, a: &[Value]) -> Outcome {
        match self.dispatch(function, a)? {
            Answer::Runs(Effective::Function(found)) => {
                self.call_keeping_values(&Value::Function(found), a)
            }
            Answer::Runs(Effective::Read(at)) => self.read_slot(&a[0], at),
            Answer::Runs(Effective::Write(at)) => Ok(write_slot(&a[1], at, &a[0])),
            Answer::NoMethod => self.no_method(function, a),
        }
    }

    /// Calls `no-applicable-method`.
    #[cold]
    pub(crate) fn no_method(&mut self, function: &Ref<Function>, a: &[Value]) -> Outcome {
        let mut arguments = vec![Value::Function(function.clone())];
        arguments.extend_from_slice(a);
        self.call_keeping_values(&Value::symbol(symbol::NO_APPLICABLE_METHOD), &arguments)
    }

    /// The value of a slot by its number, which the cache has found to fit.
    #[inline]
    pub(crate) fn read_slot(&mut self, object: &Value, at: u32) -> Outcome {
        let Some(it) = object.as_standard() else { return Ok(NIL) };
        match it.get(at as usize) {
            Value::Unbound => {
                let layout = it.layout.borrow().clone();
                let mut names = layout.slots.iter().map(|slot| slot.name);
                let name = names.find(|name| layout.position(*name) == Some(at as usize));
                instances::slot_value(self, object, name.unwrap_or(symbol::NIL))
            }
            value => Ok(value),
        }
    }
}

/// Stores in a slot by its number, which the cache has found to fit.
#[inline]
pub(crate) fn write_slot(object: &Value, at: u32, value: &Value) -> Value {
    if let Some(it) = object.as_standard() {
        it.set(at as usize, value.clone());
    }
    value.clone()
}

fn check_count(lisp: &Lisp, generic: &GenericFunction, count: usize) -> Outcome<()> {
    let (minimum, maximum) = arity(&generic.definition.borrow().parameters);
    if (minimum..=maximum).contains(&count) {
        return Ok(());
    }
    let name = crate::machine::function_name(lisp, &generic.name);
    let most = u32::try_from(maximum).unwrap_or(u32::MAX);
    let error = crate::machine::count_error(&name, minimum as u32, most, count as u32);
    let list = lisp.brief(&generic.definition.borrow().lambda_list);
    Err(error.hint(crate::machine::arguments_are(&list)))
}

fn check_keywords(lisp: &Lisp, name: &Value, keywords: &Keywords, a: &[Value]) -> Outcome<()> {
    let Some(names) = &keywords.names else { return Ok(()) };
    let given = a.get(keywords.after..).unwrap_or_default();
    let function = || crate::machine::function_name(lisp, name);
    if given.len() % 2 == 1 {
        let text = format!("{}: Odd number of keyword arguments", function());
        return Err(Escape::program(text));
    }
    let allows = |pair: &[Value]| pair[0].is_symbol(symbol::KEY_ALLOW_OTHER_KEYS);
    if given.chunks_exact(2).any(|pair| allows(pair) && pair[1].truth()) {
        return Ok(());
    }
    let known = |key: &Value| key.as_symbol().is_some_and(|key| names.contains(&key));
    match given.chunks_exact(2).find(|pair| !known(&pair[0]) && !allows(pair)) {
        Some(pair) => {
            let key = lisp.brief(&pair[0]).to_lowercase();
            let names = names.iter().map(|name| lisp.shown(*name)).collect::<Vec<_>>().join(" ");
            let text = format!("{}: {key} is none of its keywords ({names})", function());
            Err(Escape::program(text))
        }
        None => Ok(()),
    }
}

/// The keywords that a call of a generic function with these arguments takes; none when any.
pub(super) fn keywords(
    lisp: &mut Lisp,
    generic: Symbol,
    a: &[Value],
) -> Outcome<Option<Vec<Symbol>>> {
    let function = lisp.global_function(generic)?;
    let Function::Generic(found) = &*function else { return Ok(Some(Vec::new())) };
    let methods = applicable(lisp, found, a);
    Ok(keywords_of(found, &methods).names)
}

fn keywords_of(generic: &GenericFunction, methods: &[MethodRef]) -> Keywords {
    let definition = generic.definition.borrow();
    let own = &definition.parameters;
    let mut names = own.keys.clone();
    let (mut open, mut keyed) = (false, own.keyed);
    for parameters in methods.iter().map(|method| &method_in(method).parameters) {
        names.extend(&parameters.keys);
        open |= parameters.allow_other_keys;
        keyed |= parameters.keyed;
    }
    Keywords {
        after: usize::from(own.required) + usize::from(own.optional),
        names: (!open).then_some(names),
        checked: keyed && !open && !own.allow_other_keys,
    }
}

/// The methods that apply, the most specific first.
pub(super) fn applicable(
    lisp: &mut Lisp,
    generic: &GenericFunction,
    a: &[Value],
) -> Vec<MethodRef> {
    let definition = generic.definition.borrow();
    let required = usize::from(definition.parameters.required);
    let classes = a.iter().take(required).map(|value| lisp.classes_of(value)).collect::<Vec<_>>();
    let methods = generic.methods.borrow();
    let mut buckets = SmallVec::<[u64; 8]>::new();
    match classes.first() {
        None => buckets.push(0),
        Some(first) => {
            let named = methods.values[0].as_ref().and_then(|values| values.get(&a[0]));
            buckets.extend(named.and_then(|n| n.as_fixnum()).map(|number| EQL | number as u64));
            buckets.extend(first.iter().map(|name| u64::from(name.0)));
        }
    }
    let candidates = buckets.iter().filter_map(|bucket| methods.buckets.get(bucket)).flatten();
    let mut found = Vec::<(SmallVec<[usize; 4]>, MethodRef)>::new();
    for method in candidates {
        let ranks = definition.order.iter().map(|at| {
            let specialiser = &method_in(method).specialisers[*at];
            rank(specialiser, &a[*at], &classes[*at])
        });
        if let Some(ranks) = ranks.collect::<Option<SmallVec<[usize; 4]>>>() {
            found.push((ranks, method.clone()));
        }
    }
    found.sort_by(|(a, _), (b, _)| a.cmp(b));
    found.into_iter().map(|(_, method)| method).collect()
}

/// How far a specialiser is from an argument: 0 is the value itself.
fn rank(specialiser: &Specialiser, value: &Value, classes: &[Symbol]) -> Option<usize> {
    match specialiser {
        Specialiser::Eql(wanted) => wanted.eql(value).then_some(0),
        Specialiser::Class(name) => classes.iter().position(|class| class == name).map(|at| at + 1),
    }
}

/// Puts the applicable methods together.
fn combine(
    lisp: &mut Lisp,
    function: &Ref<Function>,
    methods: &[MethodRef],
    a: &[Value],
) -> Outcome<Effective> {
    let generic = generic_in(function);
    let combination = generic.definition.borrow().combination.clone();
    let standard = combination.name == symbol::STANDARD;
    if let Some(Combining::Form(maker)) = lisp.combinations.get(&combination.name).cloned() {
        let [count, open] = shape(&generic.definition.borrow().parameters);
        let all =
            list(methods.iter().map(|method| Value::Object(method.clone())).collect::<Vec<_>>());
        let function = Value::Function(function.clone());
        let arguments = [count, open, maker, function, all, combination.options];
        return combined(lisp, "%LONG-COMBINED", &arguments);
    }
    let Sorted { around, before, mut primary, mut after } =
        sorted(lisp, generic, &combination, methods)?;
    if primary.is_empty() {
        return Err(no_primary(lisp, generic, a));
    }
    if standard && around.is_empty() && before.is_empty() && after.is_empty() {
        if let Some(slot) = slot_access(method_in(&primary[0]), a) {
            return Ok(slot);
        }
        return chain(lisp, &primary, None);
    }
    let parameters = generic.definition.borrow().parameters.clone();
    let main = if standard {
        let main = chain(lisp, &primary, None)?;
        let before = each(lisp, &before)?;
        after.reverse();
        let after = each(lisp, &after)?;
        standard_form(lisp, &parameters, before, main, after)?
    } else {
        if combination.last {
            primary.reverse();
        }
        let functions = each(lisp, &primary)?;
        operator_form(lisp, &parameters, combination.name, functions)?
    };
    chain(lisp, &around, Some(main))
}

/// The applicable methods by their role.
#[derive(Default)]
struct Sorted {
    around: Vec<MethodRef>,
    before: Vec<MethodRef>,
    primary: Vec<MethodRef>,
    after: Vec<MethodRef>,
}

fn sorted(
    lisp: &Lisp,
    generic: &GenericFunction,
    combination: &Combination,
    methods: &[MethodRef],
) -> Outcome<Sorted> {
    let standard = combination.name == symbol::STANDARD;
    let mut all = Sorted::default();
    for method in methods {
        let role = match &method_in(method).qualifiers[..] {
            [] if standard => &mut all.primary,
            [name] if name.is_symbol(symbol::KEY_AROUND) => &mut all.around,
            [name] if standard && name.is_symbol(symbol::KEY_BEFORE) => &mut all.before,
            [name] if standard && name.is_symbol(symbol::KEY_AFTER) => &mut all.after,
            [name] if !standard && name.is_symbol(combination.name) => &mut all.primary,
            _ => return Err(wrong_qualifiers(lisp, generic, combination.name, method)),
        };
        role.push(method.clone());
    }
    Ok(all)
}

/// The number of the slot that a reader or a writer works on, where each instance has it.
fn slot_access(method: &Method, a: &[Value]) -> Option<Effective> {
    let position = |object: &Value, name| {
        let layout = object.as_standard()?.layout.borrow();
        layout.position(name).and_then(|at| u32::try_from(at).ok())
    };
    match method.body {
        MethodBody::Reader(name) => Some(Effective::Read(position(a.first()?, name)?)),
        MethodBody::Writer(name) => Some(Effective::Write(position(a.get(1)?, name)?)),
        _ => None,
    }
}

/// The function of the first method, which can call the others one after another; `last` comes
/// after them all.
fn chain(lisp: &mut Lisp, methods: &[MethodRef], last: Option<Effective>) -> Outcome<Effective> {
    let mut next = last.map_or(NIL, |last| match last {
        Effective::Function(function) => Value::Function(function),
        Effective::Read(_) | Effective::Write(_) => NIL,
    });
    for method in methods.iter().rev() {
        next = function_of(lisp, method, next)?;
    }
    lisp.function_of(&next).map(Effective::Function)
}

fn each(lisp: &mut Lisp, methods: &[MethodRef]) -> Outcome<Vec<Value>> {
    methods.iter().map(|method| function_of(lisp, method, NIL)).collect()
}

/// The function of a method that is followed by another.
pub(super) fn function_of(lisp: &mut Lisp, method: &MethodRef, next: Value) -> Outcome {
    let found = method_in(method);
    let shared = |body| Ok(super::native_value(method_name(found), "&rest arguments", "", body));
    match found.body.clone() {
        MethodBody::Maker(maker) => lisp.call(&maker, &[next, Value::Object(method.clone())]),
        MethodBody::Native(body) => shared(Body::Plain(body)),
        MethodBody::Reader(slot) => {
            shared(Body::Shared(Rc::new(move |lisp, a| instances::slot_value(lisp, &a[0], slot))))
        }
        MethodBody::Writer(slot) => shared(Body::Shared(Rc::new(move |lisp, a| {
            instances::set_slot_value(lisp, &a[1], slot, &a[0])
        }))),
    }
}

fn method_name(method: &Method) -> Symbol {
    crate::expand::special::function_name(&method.generic).map_or(symbol::NIL, |name| name.0)
}

fn shape(parameters: &Parameters) -> [Value; 2] {
    let open = parameters.rest || parameters.keyed || parameters.optional > 0;
    [Value::Fixnum(parameters.required.into()), Value::boolean(open)]
}

/// Calls the library's maker of combined functions.
fn combined(lisp: &mut Lisp, name: &str, arguments: &[Value]) -> Outcome<Effective> {
    let maker = Value::symbol(lisp.intern(crate::package::RUNG, name));
    let function = lisp.call(&maker, arguments)?;
    lisp.function_of(&function).map(Effective::Function)
}

fn standard_form(
    lisp: &mut Lisp,
    parameters: &Parameters,
    before: Vec<Value>,
    main: Effective,
    after: Vec<Value>,
) -> Outcome<Effective> {
    let Effective::Function(main) = main else { return Ok(main) };
    if before.is_empty() && after.is_empty() {
        return Ok(Effective::Function(main));
    }
    let [count, open] = shape(parameters);
    let main = Value::Function(main);
    combined(lisp, "%STANDARD-COMBINED", &[count, open, list(before), main, list(after)])
}

fn operator_form(
    lisp: &mut Lisp,
    parameters: &Parameters,
    combination: Symbol,
    functions: Vec<Value>,
) -> Outcome<Effective> {
    let known = lisp.combinations.get(&combination).cloned();
    let Some(Combining::Operator(operator, identity)) = known else {
        let text = format!("there is no method combination {}", lisp.shown(combination));
        return Err(Escape::error(text));
    };
    if let ([only], true) = (&functions[..], identity) {
        return lisp.function_of(only).map(Effective::Function);
    }
    let [count, open] = shape(parameters);
    let arguments = [count, open, Value::symbol(operator), list(functions)];
    combined(lisp, "%OPERATOR-COMBINED", &arguments)
}

fn wrong_qualifiers(
    lisp: &Lisp,
    generic: &GenericFunction,
    combination: Symbol,
    method: &MethodRef,
) -> Escape {
    let name = crate::machine::function_name(lisp, &generic.name);
    let qualifiers = lisp.brief(&list(method_in(method).qualifiers.clone())).to_lowercase();
    let combination = lisp.shown(combination);
    let text = format!(
        "{name}: a method with the qualifiers {qualifiers} has no place in the method \
         combination {combination}"
    );
    Escape::error(text)
}

fn no_primary(lisp: &mut Lisp, generic: &GenericFunction, a: &[Value]) -> Escape {
    let name = crate::machine::function_name(lisp, &generic.name);
    let came = came(lisp, generic, a);
    Escape::error(format!("{name}: there is no primary method for {came}"))
}

/// The classes of the required arguments.
fn came(lisp: &mut Lisp, generic: &GenericFunction, a: &[Value]) -> String {
    let required = usize::from(generic.definition.borrow().parameters.required);
    let mut names = Vec::new();
    for value in a.iter().take(required) {
        let class = lisp.classes_of(value).first().copied();
        names.push(class.map_or_else(String::new, |class| lisp.shown(class)));
    }
    format!("({})", names.join(" "))
}

/// So many methods are named in a message.
const SHOWN: usize = 6;

/// `no-applicable-method`: the error, with what came and what there is.
pub(super) fn no_applicable_method(lisp: &mut Lisp, a: &[Value]) -> Outcome {
    let Some(generic) = a[0].as_generic() else {
        return Err(Escape::wrong_type("no-applicable-method", symbol::FUNCTION, &a[0]));
    };
    let name = crate::machine::function_name(lisp, &generic.name);
    let came = came(lisp, generic, &a[1..]);
    let all = generic.methods.borrow().all.clone();
    let mut there = Vec::new();
    for method in all.iter().map(|method| method_in(method)) {
        let words =
            list(method.specialisers.iter().map(Specialiser::as_written).collect::<Vec<_>>());
        let words = if words.is_nil() { "()".to_string() } else { lisp.brief(&words) };
        let words = words.to_lowercase();
        if !there.contains(&words) {
            there.push(words);
        }
        if there.len() > SHOWN {
            break;
        }
    }
    let more = if there.len() > SHOWN { " ..." } else { "" };
    there.truncate(SHOWN);
    let text = match there.is_empty() {
        true => format!("{name}: no method applies to {came}: it has none"),
        false => {
            let there = there.join(" ");
            format!("{name}: no method applies to {came}: it has methods for {there}{more}")
        }
    };
    Err(Condition::new(symbol::NO_APPLICABLE_METHOD_ERROR, text)
        .with(symbol::KEY_GENERIC_FUNCTION, a[0].clone())
        .with(symbol::KEY_ARGUMENTS, list(a[1..].to_vec()))
        .into())
}

/// `no-next-method`: the error.
pub(super) fn no_next_method(lisp: &mut Lisp, a: &[Value]) -> Outcome {
    let name = match (a[0].as_generic(), a[1].as_method()) {
        (Some(generic), _) => crate::machine::function_name(lisp, &generic.name),
        (None, Some(method)) => crate::machine::function_name(lisp, &method.generic),
        _ => String::new(),
    };
    let words = a[1].as_method().map(|method| {
        let specialisers = method.specialisers.iter().map(Specialiser::as_written);
        let words = method.qualifiers.iter().cloned();
        let words = words.chain([list(specialisers.collect::<Vec<_>>())]).collect::<Vec<_>>();
        words.iter().map(|word| lisp.brief(word).to_lowercase()).collect::<Vec<_>>().join(" ")
    });
    let words = words.unwrap_or_default();
    let text = format!("{name}: call-next-method: nothing comes after the method {words}");
    Err(Condition::new(symbol::NO_NEXT_METHOD_ERROR, text)
        .with(symbol::KEY_GENERIC_FUNCTION, a[0].clone())
        .with(symbol::KEY_METHOD, a[1].clone())
        .with(symbol::KEY_ARGUMENTS, list(a[2..].to_vec()))
        .into())
}
