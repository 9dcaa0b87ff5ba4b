//! Classes and the instances of standard classes: data and access only. How a class is defined is
//! in `library::classes`, what is done with instances in `library::instances`.
//!
//! A class keeps its identity when it is defined again; what its instances look like is a
//! `Layout`, made when it is first needed. An instance holds the layout it was made by, and is
//! brought up to date when somebody meets it after the layout has become obsolete. Superclasses
//! are named and not held, so that classes make no cycles.

use std::cell::{Cell, RefCell};
use std::rc::Rc;

use crate::heap::{Ref, Slot};
use crate::object::Object;
use crate::symbol::Symbol;
use crate::value::Value;

/// Which family a class belongs to.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum ClassKind {
    /// Made by `define-condition`.
    Condition,
    /// Made by `defstruct`.
    Structure,
    /// Made by `defclass`.
    Standard,
    /// Of the language itself.
    BuiltIn,
}

/// A class.
pub struct Class {
    /// Its name.
    pub name: Cell<Symbol>,
    /// Its family.
    pub kind: ClassKind,
    /// What the last definition said.
    pub definition: RefCell<Definition>,
    /// What its instances look like; none until it is needed, or while a superclass is missing.
    pub(crate) layout: RefCell<Option<Rc<Layout>>>,
}

/// What a definition says of a class.
#[derive(Default)]
pub struct Definition {
    /// The direct superclasses.
    pub parents: Vec<Symbol>,
    /// The slots of its own.
    pub slots: Vec<SlotDefinition>,
    /// `:default-initargs`: the keyword and a function that gives the value.
    pub defaults: Vec<(Symbol, Value)>,
    /// For conditions: a string, or a function of the condition and a stream; for structures
    /// their print function.
    pub report: Value,
}

/// What the instances of a class look like: the definition with all that is inherited.
pub struct Layout {
    /// A number that no other layout has.
    pub id: u32,
    /// The class first, then its superclasses in order of precedence.
    pub precedence: Vec<Symbol>,
    /// All slots, inherited ones first.
    pub slots: Vec<SlotDefinition>,
    /// How many of them each instance has.
    pub size: usize,
    /// As in `Definition`, the most specific first.
    pub defaults: Vec<(Symbol, Value)>,
    /// As in `Definition`, perhaps inherited.
    pub report: Value,
    /// The class has been defined again since.
    pub obsolete: Cell<bool>,
}

/// One slot of a class.
#[derive(Clone)]
pub struct SlotDefinition {
    /// Its name.
    pub name: Symbol,
    /// Keywords that set it when an instance is made.
    pub initargs: Vec<Symbol>,
    /// A function of no arguments that gives its first value, or `Unbound`.
    pub initform: Value,
    /// Where the value is.
    pub place: Place,
    /// Its documentation string, or nil.
    pub documentation: Value,
}

/// Where a slot's value is.
#[derive(Clone)]
pub enum Place {
    /// In each instance, by number (0 until a layout is made).
    At(usize),
    /// One for all: `:allocation :class`.
    Shared(Ref<Slot>),
}

impl SlotDefinition {
    /// A slot that each instance has.
    pub fn new(name: Symbol, initargs: Vec<Symbol>, initform: Value) -> SlotDefinition {
        SlotDefinition { name, initargs, initform, place: Place::At(0), documentation: Value::Nil }
    }
}

impl Layout {
    /// The slot of a name.
    pub fn slot(&self, name: Symbol) -> Option<&SlotDefinition> {
        self.slots.iter().find(|slot| slot.name == name)
    }

    /// The number in each instance of the slot of a name.
    pub fn position(&self, name: Symbol) -> Option<usize> {
        match self.slot(name)?.place {
            Place::At(at) => Some(at),
            Place::Shared(_) => None,
        }
    }
}

impl Class {
    /// A class whose layout is made later.
    pub fn new(name: Symbol, kind: ClassKind, definition: Definition) -> Class {
        Class {
            name: Cell::new(name),
            kind,
            definition: RefCell::new(definition),
            layout: RefCell::new(None),
        }
    }

    /// The layout, if it has been made.
    pub fn made_layout(&self) -> Option<Rc<Layout>> {
        self.layout.borrow().clone()
    }

    /// The names of its slots as far as they are known.
    pub fn slot_names(&self) -> Vec<Symbol> {
        let layout = self.made_layout();
        layout.map(|it| it.slots.iter().map(|slot| slot.name).collect()).unwrap_or_default()
    }
}

/// An instance of a structure class.
pub struct Instance {
    /// Its class.
    pub class: Ref<Object>,
    /// One value per slot of the class.
    pub slots: RefCell<Vec<Value>>,
}

impl Instance {
    /// Its class as a class.
    pub fn class(&self) -> &Class {
        class_in(&self.class)
    }
}

/// An instance of a standard class.
pub struct StandardInstance {
    /// Its class; `change-class` gives it another.
    pub class: RefCell<Ref<Object>>,
    /// The layout that `slots` follow.
    pub layout: RefCell<Rc<Layout>>,
    /// Values, `Unbound` where there is none.
    pub slots: RefCell<Vec<Value>>,
    /// The number it is printed with, given at the first print; 0: none yet.
    pub number: Cell<u32>,
}

impl StandardInstance {
    /// An instance whose slots are unbound.
    pub fn new(class: Ref<Object>, layout: Rc<Layout>) -> StandardInstance {
        StandardInstance {
            slots: RefCell::new(vec![Value::Unbound; layout.size]),
            class: RefCell::new(class),
            layout: RefCell::new(layout),
            number: Cell::new(0),
        }
    }

    /// The name of its class.
    pub fn class_name(&self) -> Symbol {
        class_in(&self.class.borrow()).name.get()
    }

    /// Whether its class has been defined again since it was made or brought up to date.
    pub fn is_obsolete(&self) -> bool {
        self.layout.borrow().obsolete.get()
    }

    /// The value at a number.
    #[inline]
    pub fn get(&self, at: usize) -> Value {
        self.slots.borrow()[at].clone()
    }

    /// Stores a value at a number.
    #[inline]
    pub fn set(&self, at: usize, value: Value) {
        let old = std::mem::replace(&mut self.slots.borrow_mut()[at], value);
        drop(old);
    }
}

/// The class in an object that is one.
pub(crate) fn class_in(object: &Object) -> &Class {
    match object {
        Object::Class(class) => class,
        _ => unreachable!("only classes are put where classes are kept"),
    }
}

impl Value {
    /// The class this is.
    pub fn as_class(&self) -> Option<&Class> {
        if let Some(Object::Class(class)) = self.as_object() { Some(class) } else { None }
    }

    /// The instance of a standard class that this is.
    #[inline]
    pub fn as_standard(&self) -> Option<&StandardInstance> {
        if let Some(Object::Standard(it)) = self.as_object() { Some(it) } else { None }
    }
}
