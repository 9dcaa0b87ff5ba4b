//! Instances (chapter 7): making them, their slots, initialisation, and what happens to them when
//! their class is defined again or changed for another.
//!
//! The steps that a program may specialise are generic functions; the methods of the language
//! for them are here, and `library::protocols` lists them. Structures and conditions have slots
//! too, as far as reading and writing them goes.

use std::rc::Rc;

use crate::class::{ClassKind, Layout, Place, StandardInstance, class_in};
use crate::condition::{Condition, Escape, Outcome};
use crate::heap::Ref;
use crate::lisp::Lisp;
use crate::native::{Native, native};
use crate::object::Object;
use crate::symbol::{self, Symbol};
use crate::value::{NIL, T, Value, list};

use super::classes::{class_designated, class_of, layout, no_class};
use super::dispatch;

/// What a slot of an object is found to be.
enum Found {
    Value(Value),
    Unbound,
    Missing,
}

/// An instance of a standard class, brought up to date.
fn standard<'v>(
    lisp: &mut Lisp,
    operator: &str,
    object: &'v Value,
) -> Outcome<&'v StandardInstance> {
    match object.as_standard() {
        Some(it) => {
            bring_up_to_date(lisp, object, it)?;
            Ok(it)
        }
        None => Err(Escape::wrong_type(operator, symbol::STANDARD_OBJECT, object)),
    }
}

/// Gives an instance the slots that its class has now.
pub(crate) fn bring_up_to_date(
    lisp: &mut Lisp,
    object: &Value,
    it: &StandardInstance,
) -> Outcome<()> {
    if !it.is_obsolete() {
        return Ok(());
    }
    let class = it.class.borrow().clone();
    let new = layout(lisp, class_in(&class))?;
    let (old, values) = relay(it, new.clone());
    let is_new = |name: Symbol| old.slot(name).is_none();
    let local = |layout: &Layout, name: Symbol| layout.position(name).is_some();
    let added = new.slots.iter().map(|slot| slot.name);
    let added = added.filter(|name| is_new(*name) && local(&new, *name)).map(Value::symbol);
    let added = list(added.collect::<Vec<_>>());
    let (mut discarded, mut properties) = (Vec::new(), Vec::new());
    for slot in &old.slots {
        if let Place::At(at) = slot.place
            && !local(&new, slot.name)
        {
            discarded.push(Value::symbol(slot.name));
            if !values[at].is_unbound() {
                properties.extend([Value::symbol(slot.name), values[at].clone()]);
            }
        }
    }
    if added.is_nil() && discarded.is_empty() {
        return Ok(());
    }
    let arguments = [object.clone(), added, list(discarded), list(properties)];
    let update = Value::symbol(symbol::UPDATE_INSTANCE_FOR_REDEFINED_CLASS);
    lisp.call(&update, &arguments).map(|_| ())
}

/// Changes the layout of an instance; slots of the same name keep their values. Gives the old
/// layout and values.
fn relay(it: &StandardInstance, new: Rc<Layout>) -> (Rc<Layout>, Vec<Value>) {
    let old = it.layout.replace(new.clone());
    let values = it.slots.replace(vec![Value::Unbound; new.size]);
    for slot in &new.slots {
        let Place::At(at) = slot.place else { continue };
        match old.slot(slot.name).map(|slot| &slot.place) {
            Some(Place::At(before)) => it.set(at, values[*before].clone()),
            Some(Place::Shared(value)) => it.set(at, value.get()),
            None => {}
        }
    }
    (old, values)
}

fn find(lisp: &mut Lisp, operator: &str, object: &Value, name: Symbol) -> Outcome<Found> {
    let value = match object.as_object() {
        Some(Object::Instance(it)) => {
            let at = it.class().made_layout().and_then(|layout| layout.position(name));
            at.and_then(|at| it.slots.borrow().get(at).cloned())
        }
        Some(Object::Condition(it)) => match it.slot(name) {
            None if has_slot(lisp, object, name) => return Ok(Found::Unbound),
            value => value,
        },
        _ => {
            let it = standard(lisp, operator, object)?;
            let layout = it.layout.borrow();
            layout.slot(name).map(|slot| match &slot.place {
                Place::At(at) => it.get(*at),
                Place::Shared(value) => value.get(),
            })
        }
    };
    Ok(match value {
        Some(Value::Unbound) => Found::Unbound,
        Some(value) => Found::Value(value),
        None => Found::Missing,
    })
}

/// Whether the class of an object has a slot of that name.
fn has_slot(lisp: &Lisp, object: &Value, name: Symbol) -> bool {
    let layout = match object.as_object() {
        Some(Object::Instance(it)) => it.class().made_layout(),
        Some(Object::Condition(it)) => {
            lisp.class(it.class).and_then(|class| layout(lisp, class).ok())
        }
        Some(Object::Standard(it)) => layout(lisp, class_in(&it.class.borrow())).ok(),
        _ => None,
    };
    layout.is_some_and(|layout| layout.slot(name).is_some())
}

/// The value of a slot, if it has one.
pub(super) fn bound_value(lisp: &mut Lisp, object: &Value, name: Symbol) -> Option<Value> {
    match find(lisp, "slot-value", object, name) {
        Ok(Found::Value(value)) => Some(value),
        _ => None,
    }
}

/// Calls `slot-missing` with the operation's name and what would be stored.
fn missing(
    lisp: &mut Lisp,
    object: &Value,
    name: Symbol,
    operation: Symbol,
    value: Option<&Value>,
) -> Outcome {
    let class = class_of(lisp, object);
    let mut arguments = vec![class, object.clone(), Value::symbol(name), Value::symbol(operation)];
    arguments.extend(value.cloned());
    lisp.call(&Value::symbol(symbol::SLOT_MISSING), &arguments)
}

/// `slot-value`.
pub(crate) fn slot_value(lisp: &mut Lisp, object: &Value, name: Symbol) -> Outcome {
    match find(lisp, "slot-value", object, name)? {
        Found::Value(value) => Ok(value),
        Found::Missing => missing(lisp, object, name, symbol::SLOT_VALUE, None),
        Found::Unbound => {
            let class = class_of(lisp, object);
            let arguments = [class, object.clone(), Value::symbol(name)];
            lisp.call(&Value::symbol(symbol::SLOT_UNBOUND), &arguments)
        }
    }
}

/// Stores in a slot; false when there is none of that name.
fn store(
    lisp: &mut Lisp,
    operator: &str,
    object: &Value,
    name: Symbol,
    value: Value,
) -> Outcome<bool> {
    match object.as_object() {
        Some(Object::Instance(it)) => {
            let at = it.class().made_layout().and_then(|layout| layout.position(name));
            let Some(at) = at.filter(|at| *at < it.slots.borrow().len()) else { return Ok(false) };
            let old = std::mem::replace(&mut it.slots.borrow_mut()[at], value);
            drop(old);
        }
        Some(Object::Condition(it)) if has_slot(lisp, object, name) => it.set_slot(name, value),
        Some(Object::Condition(_)) => return Ok(false),
        _ => {
            let it = standard(lisp, operator, object)?;
            let layout = it.layout.borrow().clone();
            match layout.slot(name).map(|slot| &slot.place) {
                Some(Place::At(at)) => it.set(*at, value),
                Some(Place::Shared(slot)) => slot.set(value),
                None => return Ok(false),
            }
        }
    }
    Ok(true)
}

/// `(setf slot-value)`.
pub(crate) fn set_slot_value(
    lisp: &mut Lisp,
    object: &Value,
    name: Symbol,
    value: &Value,
) -> Outcome {
    if !store(lisp, "(setf slot-value)", object, name, value.clone())? {
        missing(lisp, object, name, symbol::SETF, Some(value))?;
    }
    Ok(value.clone())
}

fn slot_name(operator: &str, value: &Value) -> Outcome<Symbol> {
    value.as_symbol().ok_or_else(|| Escape::wrong_type(operator, symbol::SYMBOL, value))
}

/// The value of an initarg; the leftmost of two wins.
fn given<'a>(initargs: &'a [Value], names: &[Symbol]) -> Option<&'a Value> {
    let is_named = |pair: &&[Value]| pair[0].as_symbol().is_some_and(|n| names.contains(&n));
    initargs.chunks_exact(2).find(is_named).map(|pair| &pair[1])
}

/// `shared-initialize` of standard objects: slots from initargs, then, of the slots named (`t`:
/// all), the unbound ones from their initforms.
pub(super) fn shared_initialize(lisp: &mut Lisp, a: &[Value]) -> Outcome {
    let it = standard(lisp, "shared-initialize", &a[0])?;
    let layout = it.layout.borrow().clone();
    for slot in &layout.slots {
        let value = match given(&a[2..], &slot.initargs) {
            Some(value) => value.clone(),
            None => {
                let bound = match &slot.place {
                    Place::At(at) => !it.get(*at).is_unbound(),
                    Place::Shared(value) => !value.get().is_unbound(),
                };
                let named = a[1].is_symbol(symbol::T)
                    || a[1].elements().any(|name| name.is_symbol(slot.name));
                if bound || !named || slot.initform.is_unbound() {
                    continue;
                }
                lisp.call(&slot.initform, &[])?
            }
        };
        match &slot.place {
            Place::At(at) => it.set(*at, value),
            Place::Shared(place) => place.set(value),
        }
    }
    Ok(a[0].clone())
}

/// `initialize-instance` of standard objects.
pub(super) fn initialize_instance(lisp: &mut Lisp, a: &[Value]) -> Outcome {
    let mut arguments = vec![a[0].clone(), T];
    arguments.extend_from_slice(&a[1..]);
    lisp.call(&Value::symbol(symbol::SHARED_INITIALIZE), &arguments)?;
    Ok(a[0].clone())
}

/// `reinitialize-instance` of standard objects.
pub(super) fn reinitialize_instance(lisp: &mut Lisp, a: &[Value]) -> Outcome {
    let it = standard(lisp, "reinitialize-instance", &a[0])?;
    let layout = it.layout.borrow().clone();
    let steps = [
        (symbol::REINITIALIZE_INSTANCE, vec![a[0].clone()]),
        (symbol::SHARED_INITIALIZE, vec![a[0].clone(), NIL]),
    ];
    check_initargs(lisp, "reinitialize-instance", &layout, &a[1..], &steps)?;
    let mut arguments = vec![a[0].clone(), NIL];
    arguments.extend_from_slice(&a[1..]);
    lisp.call(&Value::symbol(symbol::SHARED_INITIALIZE), &arguments)?;
    Ok(a[0].clone())
}

/// An error for an initarg that neither a slot nor a method of the steps takes.
fn check_initargs(
    lisp: &mut Lisp,
    operator: &str,
    layout: &Layout,
    initargs: &[Value],
    steps: &[(Symbol, Vec<Value>)],
) -> Outcome<()> {
    if initargs.len() % 2 == 1 {
        let text = format!(
            "{operator}: an initarg has no value: {}",
            lisp.brief(&list(initargs.to_vec()))
        );
        return Err(Escape::program(text));
    }
    let fills = |key: &Value| {
        let key = key.as_symbol();
        layout.slots.iter().any(|slot| key.is_some_and(|key| slot.initargs.contains(&key)))
    };
    let unknown = initargs.chunks_exact(2).map(|pair| &pair[0]).filter(|key| !fills(key));
    let unknown = unknown.cloned().collect::<Vec<_>>();
    let open = given(initargs, &[symbol::KEY_ALLOW_OTHER_KEYS]).is_some_and(Value::truth);
    if unknown.is_empty() || open {
        return Ok(());
    }
    let mut known = vec![symbol::KEY_ALLOW_OTHER_KEYS];
    for (generic, arguments) in steps {
        match dispatch::keywords(lisp, *generic, arguments)? {
            Some(names) => known.extend(names),
            None => return Ok(()),
        }
    }
    let wrong = |key: &&Value| key.as_symbol().is_none_or(|key| !known.contains(&key));
    match unknown.iter().find(wrong) {
        Some(key) => Err(no_initarg(lisp, operator, layout, key)),
        None => Ok(()),
    }
}

/// `make-instance: point has no initarg :z: it has :x :y`.
fn no_initarg(lisp: &Lisp, operator: &str, layout: &Layout, key: &Value) -> Escape {
    let initargs = layout.slots.iter().flat_map(|slot| &slot.initargs);
    let initargs = initargs.map(|name| format!(" {}", lisp.shown(*name))).collect::<String>();
    let name = layout.precedence.first().map(|name| lisp.shown(*name)).unwrap_or_default();
    let key = lisp.brief(key).to_lowercase();
    let has = if initargs.is_empty() { " none".to_string() } else { initargs };
    Escape::program(format!("{operator}: {name} has no initarg {key}: it has{has}"))
}

/// The class that `make-instance` is asked for.
fn class_to_make(lisp: &mut Lisp, operator: &str, value: &Value) -> Outcome<Ref<Object>> {
    let class = class_designated(lisp, operator, value)?;
    match class_in(&class).kind {
        ClassKind::Standard => Ok(class),
        _ if class_in(&class).name.get() == symbol::STANDARD_OBJECT => Ok(class),
        _ => {
            let name = lisp.shown(class_in(&class).name.get());
            let text = format!("{operator}: {name} is no standard class");
            Err(Escape::program(text))
        }
    }
}

/// `make-instance`.
pub(super) fn make_instance(lisp: &mut Lisp, a: &[Value]) -> Outcome {
    let name = match (&a[0], a[0].as_class()) {
        (_, Some(class)) => Some(class.name.get()),
        (value, None) => value.as_symbol(),
    };
    if let Some(name) = name {
        lisp.load_class(name)?;
    }
    if let Some(name) = name
        && lisp.class(name).is_some_and(|class| class.kind == ClassKind::Condition)
    {
        return super::conditions::make_condition(lisp, name, &a[1..]);
    }
    let class = class_to_make(lisp, "make-instance", &a[0])?;
    let layout = layout(lisp, class_in(&class))?;
    let mut initargs = a.to_vec();
    for (keyword, value) in &layout.defaults {
        if given(&a[1..], &[*keyword]).is_none() {
            initargs.extend([Value::symbol(*keyword), lisp.call(value, &[])?]);
        }
    }
    initargs[0] = Value::Object(class);
    let instance = lisp.call(&Value::symbol(symbol::ALLOCATE_INSTANCE), &initargs)?;
    let steps = [
        (symbol::ALLOCATE_INSTANCE, vec![initargs[0].clone()]),
        (symbol::INITIALIZE_INSTANCE, vec![instance.clone()]),
        (symbol::SHARED_INITIALIZE, vec![instance.clone(), T]),
    ];
    check_initargs(lisp, "make-instance", &layout, &initargs[1..], &steps)?;
    initargs[0] = instance.clone();
    lisp.call(&Value::symbol(symbol::INITIALIZE_INSTANCE), &initargs)?;
    Ok(instance)
}

/// `allocate-instance` of standard classes, and of structures.
pub(super) fn allocate_instance(lisp: &mut Lisp, a: &[Value]) -> Outcome {
    if let Value::Object(object) = &a[0]
        && let Object::Class(class) = &**object
        && class.kind == ClassKind::Structure
    {
        let slots = std::cell::RefCell::new(vec![NIL; layout(lisp, class)?.size]);
        let class = object.clone();
        return Ok(Value::object(Object::Instance(crate::object::Instance { class, slots })));
    }
    let class = class_to_make(lisp, "allocate-instance", &a[0])?;
    let layout = layout(lisp, class_in(&class))?;
    Ok(Value::object(Object::Standard(StandardInstance::new(class, layout))))
}

/// `change-class` of standard objects.
pub(super) fn change_class(lisp: &mut Lisp, a: &[Value]) -> Outcome {
    let it = standard(lisp, "change-class", &a[0])?;
    let class = class_to_make(lisp, "change-class", &a[1])?;
    let new = layout(lisp, class_in(&class))?;
    let outer = it.class.replace(class);
    let (old, values) = relay(it, new);
    let previous = StandardInstance::new(outer, old);
    previous.slots.replace(values);
    let mut arguments = vec![Value::object(Object::Standard(previous)), a[0].clone()];
    arguments.extend_from_slice(&a[2..]);
    lisp.call(&Value::symbol(symbol::UPDATE_INSTANCE_FOR_DIFFERENT_CLASS), &arguments)?;
    Ok(a[0].clone())
}

/// `update-instance-for-different-class` of standard objects: initialises the slots that the
/// previous class did not have.
pub(super) fn update_for_different(lisp: &mut Lisp, a: &[Value]) -> Outcome {
    let previous = standard(lisp, "update-instance-for-different-class", &a[0])?;
    let it = standard(lisp, "update-instance-for-different-class", &a[1])?;
    let (old, new) = (previous.layout.borrow().clone(), it.layout.borrow().clone());
    let added = new.slots.iter().map(|slot| slot.name);
    let added = added.filter(|name| old.slot(*name).is_none()).map(Value::symbol);
    let added = list(added.collect::<Vec<_>>());
    let steps = [
        (symbol::UPDATE_INSTANCE_FOR_DIFFERENT_CLASS, a[..2].to_vec()),
        (symbol::SHARED_INITIALIZE, vec![a[1].clone(), added.clone()]),
    ];
    check_initargs(lisp, "change-class", &new, &a[2..], &steps)?;
    let mut arguments = vec![a[1].clone(), added];
    arguments.extend_from_slice(&a[2..]);
    lisp.call(&Value::symbol(symbol::SHARED_INITIALIZE), &arguments)
}

/// `update-instance-for-redefined-class` of standard objects: initialises the slots added.
pub(super) fn update_for_redefined(lisp: &mut Lisp, a: &[Value]) -> Outcome {
    let mut arguments = vec![a[0].clone(), a[1].clone()];
    arguments.extend_from_slice(&a[4..]);
    lisp.call(&Value::symbol(symbol::SHARED_INITIALIZE), &arguments)
}

/// `slot-unbound`: the error.
pub(super) fn slot_unbound(lisp: &mut Lisp, a: &[Value]) -> Outcome {
    let name = lisp.brief(&a[2]).to_lowercase();
    let text = format!("the slot {name} of {} is unbound", lisp.brief(&a[1]));
    let condition = Condition::new(symbol::UNBOUND_SLOT, text);
    let condition = condition.with(symbol::KEY_NAME, a[2].clone());
    Err(condition.with(symbol::KEY_INSTANCE, a[1].clone()).into())
}

/// `slot-missing`: the error.
pub(super) fn slot_missing(lisp: &mut Lisp, a: &[Value]) -> Outcome {
    let slots = a[0].as_class().map(|class| class.slot_names()).unwrap_or_default();
    let slots = slots.into_iter().map(|name| lisp.shown(name)).collect::<Vec<_>>().join(" ");
    let operator = match a[3].is_symbol(symbol::SETF) {
        true => "(setf slot-value)".to_string(),
        false => lisp.brief(&a[3]).to_lowercase(),
    };
    let (object, name) = (lisp.brief(&a[1]), lisp.brief(&a[2]).to_lowercase());
    let text = format!("{operator}: {object} has no slot {name}: it has ({slots})");
    let condition = Condition::new(symbol::SLOT_MISSING_ERROR, text);
    let condition = condition.with(symbol::KEY_NAME, a[2].clone());
    Err(condition.with(symbol::KEY_INSTANCE, a[1].clone()).into())
}

/// The table.
pub static INSTANCES: &[Native] = &[
    native("slot-value", "object slot", "The value of a slot.", |lisp, a| {
        let name = slot_name("slot-value", &a[1])?;
        slot_value(lisp, &a[0], name)
    }),
    native("(setf slot-value)", "value object slot", "Sets a slot.", |lisp, a| {
        let name = slot_name("(setf slot-value)", &a[2])?;
        set_slot_value(lisp, &a[1], name, &a[0])
    }),
    native("rung::%set-slot-value", "object slot value", "Sets a slot.", |lisp, a| {
        let name = slot_name("(setf slot-value)", &a[1])?;
        set_slot_value(lisp, &a[0], name, &a[2])
    }),
    native("slot-boundp", "object slot", "Whether a slot has a value.", |lisp, a| {
        let name = slot_name("slot-boundp", &a[1])?;
        match find(lisp, "slot-boundp", &a[0], name)? {
            Found::Value(_) => Ok(T),
            Found::Unbound => Ok(NIL),
            Found::Missing => {
                let answer = missing(lisp, &a[0], name, symbol::SLOT_BOUNDP, None)?;
                Ok(Value::boolean(answer.truth()))
            }
        }
    }),
    native("slot-makunbound", "object slot", "Takes a slot's value away.", |lisp, a| {
        let name = slot_name("slot-makunbound", &a[1])?;
        standard(lisp, "slot-makunbound", &a[0])?;
        if !store(lisp, "slot-makunbound", &a[0], name, Value::Unbound)? {
            missing(lisp, &a[0], name, symbol::SLOT_MAKUNBOUND, None)?;
        }
        Ok(a[0].clone())
    }),
    native("slot-exists-p", "object slot", "Whether there is a slot.", |lisp, a| {
        let name = slot_name("slot-exists-p", &a[1])?;
        Ok(Value::boolean(has_slot(lisp, &a[0], name)))
    }),
    native("unbound-slot-instance", "condition", "The instance.", |_, a| {
        match a[0].as_condition() {
            Some(condition) => Ok(condition.slot(symbol::KEY_INSTANCE).unwrap_or_default()),
            None => Err(Escape::wrong_type("unbound-slot-instance", symbol::CONDITION, &a[0])),
        }
    }),
    native("rung::%instance-number", "object", "The number it is printed with.", |lisp, a| {
        Ok(Value::Fixnum(a[0].as_standard().map_or(0, |it| lisp.instance_number(it)).into()))
    }),
];

impl Lisp {
    /// The number an instance is printed with, given at the first print.
    pub(crate) fn instance_number(&self, it: &StandardInstance) -> u32 {
        if it.number.get() == 0 {
            self.instances_shown.set(self.instances_shown.get() + 1);
            it.number.set(self.instances_shown.get());
        }
        it.number.get()
    }
}

/// An error for a name that is no class, in a specialiser.
pub(super) fn checked_class(lisp: &mut Lisp, operator: &str, name: Symbol) -> Outcome<()> {
    if lisp.classes.contains_key(&name) {
        return Ok(());
    }
    Err(no_class(lisp, operator, name))
}
