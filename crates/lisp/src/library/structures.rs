//! Structures (chapter 8): what `defstruct` in `lisp/structures.lisp` is built on.

use crate::class::{ClassKind, Definition};
use crate::condition::{Condition, Escape, Outcome};
use crate::lisp::Lisp;
use crate::native::{Native, native};
use crate::object::{Instance, Object};
use crate::symbol::{self, Symbol};
use crate::value::{Value, list};

use super::classes::{define_class, slot_definition};
use super::locks::Way;

fn instance(value: &Value) -> Option<&Instance> {
    if let Some(Object::Instance(instance)) = value.as_object() { Some(instance) } else { None }
}

/// The name of an instance's class.
pub fn class_name(instance: &Instance) -> Symbol {
    instance.class().name.get()
}

/// The table.
pub static STRUCTURES: &[Native] = &[
    native(
        "rung::%define-structure",
        "name parent slots &optional printer",
        "Makes a class.",
        |lisp, a| {
            let Some(name) = a[0].as_symbol() else {
                return Err(Escape::wrong_type("defstruct", symbol::SYMBOL, &a[0]));
            };
            lisp.name_to_define(name, Way::Keep)?;
            let parents = a[1].as_symbol().filter(|parent| *parent != symbol::NIL);
            let own = a[2].elements().map(|slot| slot_definition(&slot)).collect();
            let parents = parents.into_iter().collect::<Vec<_>>();
            if let Some(unknown) = parents.iter().find(|parent| lisp.class(**parent).is_none()) {
                let text = format!("defstruct: there is no structure {}", lisp.shown(*unknown));
                return Err(Escape::program(text));
            }
            let printer = a.get(3).cloned().unwrap_or_default();
            let definition =
                Definition { parents, slots: own, report: printer, ..Definition::default() };
            let old = lisp.class(name).map(|class| class.slot_names());
            define_class(lisp, name, ClassKind::Structure, definition)?;
            let now = lisp.class(name).map(|class| class.slot_names());
            if old.is_some() && old != now {
                warn_of_slots(lisp, name)?;
            }
            Ok(a[0].clone())
        },
    ),
    native("rung::%structure-slots", "name", "The names of the slots.", |lisp, a| {
        let class = a[0].as_symbol().and_then(|name| lisp.class(name));
        let names = class.map(|class| class.slot_names()).unwrap_or_default();
        Ok(list(names.into_iter().map(Value::symbol).collect::<Vec<_>>()))
    }),
    native("rung::%make-structure", "name &rest values", "An instance.", |lisp, a| {
        let class = a[0].as_symbol().and_then(|name| lisp.classes.get(&name).cloned());
        match class {
            Some(class) => {
                let slots = std::cell::RefCell::new(a[1..].to_vec());
                Ok(Value::object(Object::Instance(Instance { class, slots })))
            }
            None => Err(Escape::wrong_type("make-structure", symbol::SYMBOL, &a[0])),
        }
    }),
    native("rung::%structure-ref", "object name index", "A slot.", |lisp, a| {
        let slot = checked(lisp, a)?;
        Ok(slot.0.slots.borrow()[slot.1].clone())
    }),
    native("rung::%set-structure-ref", "object name index value", "Sets a slot.", |lisp, a| {
        let slot = checked(lisp, a)?;
        let old = std::mem::replace(&mut slot.0.slots.borrow_mut()[slot.1], a[3].clone());
        drop(old);
        Ok(a[3].clone())
    }),
    native("copy-structure", "structure", "A copy.", |_, a| match instance(&a[0]) {
        Some(found) => {
            let slots = std::cell::RefCell::new(found.slots.borrow().clone());
            Ok(Value::object(Object::Instance(Instance { class: found.class.clone(), slots })))
        }
        None => Err(Escape::wrong_type("copy-structure", symbol::STRUCTURE_OBJECT, &a[0])),
    }),
];

/// A `style-warning`: instances that live keep the slots they were made with.
fn warn_of_slots(lisp: &mut Lisp, name: Symbol) -> Outcome<()> {
    let text = format!("defstruct: {} is defined again with other slots", lisp.shown(name));
    let warning = Condition::new(symbol::STYLE_WARNING, text).into_value();
    lisp.call(&Value::symbol(symbol::WARN), &[warning])?;
    Ok(())
}

/// The instance and the slot's index, when the object has the class or one below it.
fn checked<'v>(lisp: &Lisp, a: &'v [Value]) -> Outcome<(&'v Instance, usize)> {
    let name = a[1].as_symbol().unwrap_or(symbol::NIL);
    let found = instance(&a[0]).filter(|found| {
        let own = class_name(found);
        own == name || lisp.class_inherits(own, name)
    });
    let index = a[2].as_index().unwrap_or(0);
    match found {
        Some(found) if index < found.slots.borrow().len() => Ok((found, index)),
        _ => {
            let wanted = format!("a {}", lisp.shown(name));
            Err(Escape::unexpected(&lisp.shown(name), &wanted, a[1].clone(), &a[0]))
        }
    }
}
