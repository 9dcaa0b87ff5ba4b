//! Classes (chapters 4 and 7): the built-in ones, the order of precedence, definitions, and the
//! layouts that instances follow.
//!
//! A definition keeps the class and makes its layout, and those of all classes below, obsolete;
//! new ones are made when they are first needed. So a superclass may be defined after its
//! subclasses, and instances are brought up to date when they are met.

use std::rc::Rc;

use crate::class::{Class, ClassKind, Definition, Layout, Place, SlotDefinition, class_in};
use crate::condition::{Condition, Escape, Outcome};
use crate::heap::{Ref, Slot};
use crate::lisp::Lisp;
use crate::native::{Native, native};
use crate::object::Object;
use crate::stream::StreamKind;
use crate::symbol::{self, Symbol};
use crate::value::{NIL, Value, list};

/// Class and direct superclasses, each after its superclasses.
type BuiltInClass = (Symbol, &'static [Symbol]);

/// The classes of the language itself.
const BUILT_IN: &[BuiltInClass] = &[
    (symbol::T, &[]),
    (symbol::STANDARD_OBJECT, &[symbol::T]),
    (symbol::STRUCTURE_OBJECT, &[symbol::T]),
    (symbol::CHARACTER, &[symbol::T]),
    (symbol::NUMBER, &[symbol::T]),
    (symbol::COMPLEX, &[symbol::NUMBER]),
    (symbol::REAL, &[symbol::NUMBER]),
    (symbol::FLOAT, &[symbol::REAL]),
    (symbol::SINGLE_FLOAT, &[symbol::FLOAT]),
    (symbol::DOUBLE_FLOAT, &[symbol::FLOAT]),
    (symbol::RATIONAL, &[symbol::REAL]),
    (symbol::RATIO, &[symbol::RATIONAL]),
    (symbol::INTEGER, &[symbol::RATIONAL]),
    (symbol::FIXNUM, &[symbol::INTEGER]),
    (symbol::BIGNUM, &[symbol::INTEGER]),
    (symbol::SYMBOL, &[symbol::T]),
    (symbol::SEQUENCE, &[symbol::T]),
    (symbol::LIST, &[symbol::SEQUENCE]),
    (symbol::CONS, &[symbol::LIST]),
    (symbol::NULL, &[symbol::SYMBOL, symbol::LIST]),
    (symbol::ARRAY, &[symbol::T]),
    (symbol::VECTOR, &[symbol::ARRAY, symbol::SEQUENCE]),
    (symbol::STRING, &[symbol::VECTOR]),
    (symbol::BIT_VECTOR, &[symbol::VECTOR]),
    (symbol::FUNCTION, &[symbol::T]),
    (symbol::GENERIC_FUNCTION, &[symbol::FUNCTION]),
    (symbol::STANDARD_GENERIC_FUNCTION, &[symbol::GENERIC_FUNCTION]),
    (symbol::METHOD, &[symbol::T]),
    (symbol::STANDARD_METHOD, &[symbol::METHOD]),
    (symbol::CLASS, &[symbol::T]),
    (symbol::STANDARD_CLASS, &[symbol::CLASS]),
    (symbol::BUILT_IN_CLASS, &[symbol::CLASS]),
    (symbol::STRUCTURE_CLASS, &[symbol::CLASS]),
    (symbol::CONDITION_CLASS, &[symbol::CLASS]),
    (symbol::HASH_TABLE, &[symbol::T]),
    (symbol::PACKAGE, &[symbol::T]),
    (symbol::PATHNAME, &[symbol::T]),
    (symbol::RANDOM_STATE_TYPE, &[symbol::T]),
    (symbol::STREAM, &[symbol::T]),
    (symbol::FILE_STREAM, &[symbol::STREAM]),
    (symbol::STRING_STREAM, &[symbol::STREAM]),
    (symbol::SYNONYM_STREAM, &[symbol::STREAM]),
    (symbol::TWO_WAY_STREAM, &[symbol::STREAM]),
    (symbol::ECHO_STREAM, &[symbol::STREAM]),
    (symbol::READTABLE_TYPE, &[symbol::T]),
    (symbol::BROADCAST_STREAM, &[symbol::STREAM]),
    (symbol::CONCATENATED_STREAM, &[symbol::STREAM]),
];

/// Makes the built-in classes.
pub(crate) fn define_built_in_classes(lisp: &mut Lisp) {
    for (name, parents) in BUILT_IN {
        let definition = Definition { parents: parents.to_vec(), ..Definition::default() };
        insert(lisp, Class::new(*name, ClassKind::BuiltIn, definition));
        if let Some(home) = lisp.symbols[*name].package {
            lisp.packages.export(&lisp.symbols, home, *name);
        }
    }
}

fn insert(lisp: &mut Lisp, class: Class) -> Ref<Object> {
    let name = class.name.get();
    let class = Ref::new(Object::Class(Box::new(class)));
    lisp.classes.insert(name, class.clone());
    class
}

/// The name of the class of a value that is no instance, structure, condition or library thing.
pub(crate) fn built_in_class(value: &Value) -> Symbol {
    match value {
        Value::Nil | Value::Unbound => symbol::NULL,
        Value::Fixnum(_) => symbol::FIXNUM,
        Value::Double(_) => symbol::DOUBLE_FLOAT,
        Value::Single(_) => symbol::SINGLE_FLOAT,
        Value::Char(_) => symbol::CHARACTER,
        Value::Symbol(_) => symbol::SYMBOL,
        Value::Cons(_) => symbol::CONS,
        Value::Function(function) => match &**function {
            crate::code::Function::Generic(_) => symbol::STANDARD_GENERIC_FUNCTION,
            _ => symbol::FUNCTION,
        },
        Value::Cell(_) => symbol::T,
        Value::String(_) => symbol::STRING,
        Value::Object(object) => class_of_object(object),
    }
}

fn class_of_object(object: &Object) -> Symbol {
    match object {
        Object::Bignum(_) => symbol::BIGNUM,
        Object::Ratio(_) => symbol::RATIO,
        Object::Complex(_) => symbol::COMPLEX,
        Object::Array(array) if array.rank() == 1 => symbol::VECTOR,
        Object::Array(_) => symbol::ARRAY,
        Object::Packed(array) => match (array.rank(), array.element_type()) {
            (1, rung_base::ElementType::Bool) => symbol::BIT_VECTOR,
            (1, _) => symbol::VECTOR,
            _ => symbol::ARRAY,
        },
        Object::HashTable(_) => symbol::HASH_TABLE,
        Object::Package(_) => symbol::PACKAGE,
        Object::Pathname(_) => symbol::PATHNAME,
        Object::RandomState(_) => symbol::RANDOM_STATE_TYPE,
        Object::Method(_) => symbol::STANDARD_METHOD,
        Object::Readtable(_) => symbol::READTABLE_TYPE,
        Object::Class(class) => match class.kind {
            ClassKind::Standard => symbol::STANDARD_CLASS,
            ClassKind::Structure => symbol::STRUCTURE_CLASS,
            ClassKind::Condition => symbol::CONDITION_CLASS,
            ClassKind::BuiltIn => symbol::BUILT_IN_CLASS,
        },
        Object::Stream(stream) => match &*stream.kind.borrow() {
            StreamKind::StringInput { .. } | StreamKind::StringOutput(_) => symbol::STRING_STREAM,
            StreamKind::Synonym(_) => symbol::SYNONYM_STREAM,
            StreamKind::TwoWay { .. } => symbol::TWO_WAY_STREAM,
            StreamKind::Echo { .. } => symbol::ECHO_STREAM,
            StreamKind::Broadcast(_) => symbol::BROADCAST_STREAM,
            StreamKind::Concatenated(_) => symbol::CONCATENATED_STREAM,
            _ if !stream.name.is_empty() => symbol::FILE_STREAM,
            _ => symbol::STREAM,
        },
        _ => symbol::T,
    }
}

impl Lisp {
    /// The class of that name.
    pub fn class(&self, name: Symbol) -> Option<&Class> {
        self.classes.get(&name).map(|class| class_in(class))
    }

    /// Whether a class is another or inherits from it.
    pub fn class_inherits(&self, name: Symbol, ancestor: Symbol) -> bool {
        let layout = self.class(name).and_then(|class| layout(self, class).ok());
        layout.is_some_and(|layout| layout.precedence.contains(&ancestor))
    }

    /// The class of a value and its superclasses, in order of precedence.
    pub(crate) fn classes_of(&mut self, value: &Value) -> Vec<Symbol> {
        let name = match value.as_object() {
            Some(Object::Standard(it)) => return it.layout.borrow().precedence.clone(),
            Some(Object::Instance(it)) => {
                let made = it.class().made_layout();
                return made.map(|layout| layout.precedence.clone()).unwrap_or_default();
            }
            Some(Object::Condition(it)) => it.class,
            Some(Object::Foreign(it)) => {
                let array = it.as_array().map(|_| symbol::ARRAY);
                if let Some(shown) = it.as_array().filter(|array| array.displacement().is_some()) {
                    return match shown.dimensions().len() {
                        1 => vec![symbol::VECTOR, symbol::ARRAY, symbol::SEQUENCE, symbol::T],
                        _ => vec![symbol::ARRAY, symbol::T],
                    };
                }
                let name = it.type_name().map(|name| self.intern(crate::package::RUNG, name));
                return name.into_iter().chain(array).chain([symbol::T]).collect();
            }
            _ => built_in_class(value),
        };
        let made = self.class(name).and_then(|class| layout(self, class).ok());
        made.map_or_else(|| vec![symbol::T], |layout| layout.precedence.clone())
    }

    /// Loads the library's definition of a class that is not there yet.
    pub(crate) fn load_class(&mut self, name: Symbol) -> Outcome<()> {
        if !self.classes.contains_key(&name) {
            self.load_from_library(name)?;
        }
        Ok(())
    }

    /// Ends what the caches of generic functions know of classes.
    pub(crate) fn begin_class_epoch(&mut self) {
        self.class_epoch += 1;
    }
}

/// A class's layout, made if need be.
pub(crate) fn layout(lisp: &Lisp, class: &Class) -> Outcome<Rc<Layout>> {
    if let Some(made) = class.made_layout() {
        return Ok(made);
    }
    let precedence = precedence(lisp, class)?;
    let mut slots = Vec::<SlotDefinition>::new();
    let (mut defaults, mut report) = (Vec::<(Symbol, Value)>::new(), NIL);
    for name in precedence.iter().rev() {
        let other = if *name == class.name.get() { Some(class) } else { lisp.class(*name) };
        let Some(other) = other else { continue };
        let definition = other.definition.borrow();
        definition.slots.iter().for_each(|slot| merge_slot(&mut slots, slot));
        for (keyword, value) in definition.defaults.iter().rev() {
            defaults.retain(|(known, _)| known != keyword);
            defaults.insert(0, (*keyword, value.clone()));
        }
        if definition.report.truth() {
            report = definition.report.clone();
        }
    }
    let mut size = 0;
    for slot in &mut slots {
        if let Place::At(at) = &mut slot.place {
            *at = size;
            size += 1;
        }
    }
    let id = lisp.layouts.get() + 1;
    lisp.layouts.set(id);
    let obsolete = std::cell::Cell::new(false);
    let made = Rc::new(Layout { id, precedence, slots, size, defaults, report, obsolete });
    *class.layout.borrow_mut() = Some(made.clone());
    Ok(made)
}

/// Adds a slot of a more specific class: its initform and place win, initargs add up.
fn merge_slot(slots: &mut Vec<SlotDefinition>, slot: &SlotDefinition) {
    let Some(known) = slots.iter_mut().find(|known| known.name == slot.name) else {
        return slots.push(slot.clone());
    };
    let mut merged = slot.clone();
    for initarg in &known.initargs {
        if !merged.initargs.contains(initarg) {
            merged.initargs.push(*initarg);
        }
    }
    if merged.initform.is_unbound() {
        merged.initform = known.initform.clone();
    }
    if merged.documentation.is_nil() {
        merged.documentation = known.documentation.clone();
    }
    *known = merged;
}

/// The order of precedence (the standard, 4.3.5): each class before its superclasses, direct
/// superclasses in the order of the definition; of several that could be next, the one with a
/// direct subclass rightmost in the list so far.
fn precedence(lisp: &Lisp, class: &Class) -> Outcome<Vec<Symbol>> {
    let name = class.name.get();
    let mut all = vec![(name, class.definition.borrow().parents.clone())];
    let mut next = 0;
    while next < all.len() {
        for parent in all[next].1.clone() {
            if all.iter().any(|(known, _)| *known == parent) {
                continue;
            }
            let Some(other) = lisp.class(parent) else {
                let text = format!(
                    "the class {} is incomplete: its superclass {} is not defined",
                    lisp.shown(name),
                    lisp.shown(parent)
                );
                return Err(Escape::error(text));
            };
            all.push((parent, other.definition.borrow().parents.clone()));
        }
        next += 1;
    }
    let mut order = Vec::with_capacity(all.len());
    while order.len() < all.len() {
        match next_in_order(&all, &order) {
            Some(found) => order.push(found),
            None => return Err(no_order(lisp, name, &all, &order)),
        }
    }
    Ok(order)
}

fn next_in_order(all: &[(Symbol, Vec<Symbol>)], order: &[Symbol]) -> Option<Symbol> {
    let placed = |name: &Symbol| order.contains(name);
    // Nothing unplaced may be a subclass, or stand before it among direct superclasses.
    let free = |name: &Symbol| {
        all.iter().all(|(other, parents)| {
            let at = parents.iter().position(|parent| parent == name);
            at.is_none_or(|at| placed(other) && parents[..at].iter().all(placed))
        })
    };
    let mut candidates = all.iter().map(|entry| entry.0).filter(|name| !placed(name) && free(name));
    let parents_of = |name: &Symbol| all.iter().find(|entry| entry.0 == *name).map(|e| &e.1);
    let first = candidates.next()?;
    let candidates = std::iter::once(first).chain(candidates).collect::<Vec<_>>();
    let rightmost = order.iter().rev().find_map(|below| {
        let parents = parents_of(below)?;
        parents.iter().find(|parent| candidates.contains(parent)).copied()
    });
    Some(rightmost.unwrap_or(first))
}

fn no_order(lisp: &Lisp, name: Symbol, all: &[(Symbol, Vec<Symbol>)], order: &[Symbol]) -> Escape {
    let names = all.iter().map(|entry| entry.0);
    let mut left = names.filter(|class| !order.contains(class)).collect::<Vec<_>>();
    // Those that nothing else must follow are just behind the ones that contradict each other.
    let comes_before = |a: &Symbol, b: &Symbol| {
        all.iter().any(|(class, parents)| {
            let place = |name: &Symbol| parents.iter().position(|parent| parent == name);
            let listed = place(a).zip(place(b)).is_some_and(|(a, b)| a < b);
            (class == a && place(b).is_some()) || listed
        })
    };
    let mut count = usize::MAX;
    while left.len() < count {
        count = left.len();
        let others = left.clone();
        left.retain(|class| others.iter().any(|other| comes_before(class, other)));
    }
    let left = left.into_iter().map(|class| lisp.shown(class)).collect::<Vec<_>>().join(" ");
    let text = format!(
        "the superclasses of {} have no order of precedence: ({left}) contradict each other",
        lisp.shown(name)
    );
    Escape::error(text)
}

/// Makes or changes a class and gives it; its layout is made at once where that is possible.
pub(crate) fn define_class(
    lisp: &mut Lisp,
    name: Symbol,
    kind: ClassKind,
    mut definition: Definition,
) -> Outcome<Ref<Object>> {
    if definition.parents.is_empty() {
        definition.parents.push(match kind {
            ClassKind::Standard => symbol::STANDARD_OBJECT,
            ClassKind::Structure => symbol::STRUCTURE_OBJECT,
            ClassKind::Condition | ClassKind::BuiltIn => symbol::T,
        });
    }
    let redefined = lisp.classes.contains_key(&name);
    // Old structures and conditions keep their class; standard instances follow theirs.
    let known = lisp.classes.get(&name).filter(|_| kind == ClassKind::Standard).cloned();
    let known = known.filter(|known| class_in(known).kind == ClassKind::Standard);
    let class = match known {
        Some(known) => {
            keep_shared(&class_in(&known).definition.borrow(), &mut definition);
            let outer = class_in(&known).definition.replace(definition);
            let checked = precedence_if_known(lisp, class_in(&known));
            if checked.is_err() {
                *class_in(&known).definition.borrow_mut() = outer;
            }
            checked?;
            known
        }
        None => {
            let class = Class::new(name, kind, definition);
            precedence_if_known(lisp, &class)?;
            insert(lisp, class)
        }
    };
    if redefined {
        make_obsolete(lisp, name);
    }
    let _incomplete = layout(lisp, class_in(&class));
    Ok(class)
}

/// Checks the order of precedence, unless a superclass is still to come.
fn precedence_if_known(lisp: &Lisp, class: &Class) -> Outcome<()> {
    let mut waiting = class.definition.borrow().parents.clone();
    let mut seen = vec![class.name.get()];
    while let Some(name) = waiting.pop() {
        if seen.contains(&name) {
            continue;
        }
        seen.push(name);
        let Some(other) = lisp.class(name) else { return Ok(()) };
        waiting.extend(other.definition.borrow().parents.iter().copied());
    }
    precedence(lisp, class).map(|_| ())
}

/// A slot that is shared before and after a new definition keeps its value.
fn keep_shared(old: &Definition, new: &mut Definition) {
    for slot in &mut new.slots {
        let known = old.slots.iter().find(|known| known.name == slot.name);
        if let (Place::Shared(now), Some(Place::Shared(before))) =
            (&mut slot.place, known.map(|known| &known.place))
        {
            *now = before.clone();
        }
    }
}

/// Takes the layouts of a standard class and of all below it away.
pub(crate) fn make_obsolete(lisp: &mut Lisp, name: Symbol) {
    for class in lisp.classes.values().map(|class| class_in(class)) {
        let below = class.made_layout().is_some_and(|layout| layout.precedence.contains(&name));
        if class.kind == ClassKind::Standard
            && below
            && let Some(layout) = class.layout.take()
        {
            layout.obsolete.set(true);
        }
    }
    lisp.begin_class_epoch();
}

/// From `(name initargs function-or-nil class-allocated documentation)`.
pub(crate) fn slot_definition(parts: &Value) -> SlotDefinition {
    let mut parts = parts.elements();
    let name = parts.next().and_then(|name| name.as_symbol()).unwrap_or(symbol::NIL);
    let initargs = parts.next().unwrap_or_default();
    let initform = match parts.next() {
        Some(function) if function.truth() => function,
        _ => Value::Unbound,
    };
    let initargs = initargs.elements().filter_map(|name| name.as_symbol()).collect();
    let mut slot = SlotDefinition::new(name, initargs, initform);
    if parts.next().is_some_and(|shared| shared.truth()) {
        slot.place = Place::Shared(Ref::new(Slot::new(Value::Unbound)));
    }
    slot.documentation = parts.next().unwrap_or_default();
    slot
}

/// A class from a class or its name.
pub(crate) fn class_designated(
    lisp: &mut Lisp,
    operator: &str,
    value: &Value,
) -> Outcome<Ref<Object>> {
    if let Value::Object(object) = value
        && let Object::Class(_) = **object
    {
        return Ok(object.clone());
    }
    let Some(name) = value.as_symbol() else {
        return Err(Escape::wrong_type(operator, symbol::CLASS, value));
    };
    lisp.load_class(name)?;
    lisp.classes.get(&name).cloned().ok_or_else(|| no_class(lisp, operator, name))
}

pub(crate) fn no_class(lisp: &Lisp, operator: &str, name: Symbol) -> Escape {
    let text = format!("{operator}: there is no class {}", lisp.shown(name));
    Condition::new(symbol::SIMPLE_ERROR, text).into()
}

/// The class of a value.
pub(crate) fn class_of(lisp: &mut Lisp, value: &Value) -> Value {
    match value.as_object() {
        Some(Object::Standard(it)) => return Value::Object(it.class.borrow().clone()),
        Some(Object::Instance(it)) => return Value::Object(it.class.clone()),
        _ => {}
    }
    let names = lisp.classes_of(value);
    let known = names.iter().find_map(|name| lisp.classes.get(name));
    known.map(|class| Value::Object(class.clone())).unwrap_or_default()
}

fn define_standard(lisp: &mut Lisp, a: &[Value]) -> Outcome {
    let Some(name) = a[0].as_symbol().filter(|name| *name != symbol::NIL) else {
        return Err(Escape::wrong_type("defclass", symbol::SYMBOL, &a[0]));
    };
    lisp.name_to_define(name, super::locks::Way::Keep)?;
    if lisp.class(name).is_some_and(|class| class.kind == ClassKind::BuiltIn) {
        let text = format!("defclass: {} is a class of the language", lisp.shown(name));
        return Err(Escape::program(text));
    }
    let parents = a[1].elements().filter_map(|parent| parent.as_symbol()).collect::<Vec<_>>();
    for parent in &parents {
        lisp.load_class(*parent)?;
        // The language's own class of streams that a program defines is a stream.
        let open = *parent == symbol::STANDARD_OBJECT
            || (*parent == symbol::STREAM && lisp.library.loading);
        let may = |class: &Class| class.kind == ClassKind::Standard || open;
        if lisp.class(*parent).is_some_and(|class| !may(class)) {
            let (name, parent) = (lisp.shown(name), lisp.shown(*parent));
            let text = format!("defclass: {name} cannot inherit from {parent}, no standard class");
            return Err(Escape::program(text));
        }
    }
    let pair = |default: Value| {
        let mut parts = default.elements();
        Some((parts.next()?.as_symbol()?, parts.next()?))
    };
    let definition = Definition {
        parents,
        slots: a[2].elements().map(|slot| slot_definition(&slot)).collect(),
        defaults: a[3].elements().filter_map(pair).collect(),
        report: NIL,
    };
    fill_shared(lisp, name, &definition)?;
    let class = Value::Object(define_class(lisp, name, ClassKind::Standard, definition)?);
    match &a[4] {
        Value::Nil => lisp.documentation.remove(&(name, symbol::TYPE)),
        text => lisp.documentation.insert((name, symbol::TYPE), text.clone()),
    };
    Ok(class)
}

/// Gives new shared slots their first value.
fn fill_shared(lisp: &mut Lisp, name: Symbol, definition: &Definition) -> Outcome<()> {
    let old = lisp.class(name).map(|class| class.definition.borrow().slots.clone());
    for slot in &definition.slots {
        let was = old.iter().flatten().find(|known| known.name == slot.name);
        let was_shared = was.is_some_and(|known| matches!(known.place, Place::Shared(_)));
        if let Place::Shared(value) = &slot.place
            && !slot.initform.is_unbound()
            && !was_shared
        {
            value.set(lisp.call(&slot.initform, &[])?);
        }
    }
    Ok(())
}

fn find_class(lisp: &mut Lisp, a: &[Value]) -> Outcome {
    let Some(name) = a[0].as_symbol() else {
        return Err(Escape::wrong_type("find-class", symbol::SYMBOL, &a[0]));
    };
    lisp.load_class(name)?;
    match lisp.classes.get(&name) {
        Some(class) => Ok(Value::Object(class.clone())),
        None if a.get(1).is_some_and(Value::is_nil) => Ok(NIL),
        None => Err(no_class(lisp, "find-class", name)),
    }
}

fn set_find_class(lisp: &mut Lisp, a: &[Value]) -> Outcome {
    let Some(name) = a[1].as_symbol() else {
        return Err(Escape::wrong_type("(setf find-class)", symbol::SYMBOL, &a[1]));
    };
    let locked = |class: &Class| class.kind == ClassKind::BuiltIn;
    if lisp.class(name).is_some_and(locked) {
        let text = format!("(setf find-class): {} is a class of the language", lisp.shown(name));
        return Err(Escape::program(text));
    }
    match &a[0] {
        Value::Nil => lisp.classes.remove(&name),
        value => {
            let class = class_designated(lisp, "(setf find-class)", value)?;
            lisp.classes.insert(name, class)
        }
    };
    lisp.begin_class_epoch();
    Ok(a[0].clone())
}

/// The table.
pub static CLASSES: &[Native] = &[
    native(
        "rung::%define-class",
        "name parents slots defaults documentation",
        "What defclass does.",
        define_standard,
    ),
    native("find-class", "name &optional error environment", "The class of a name.", find_class),
    native(
        "(setf find-class)",
        "class name &optional error environment",
        "Names a class, or with nil takes the name away.",
        set_find_class,
    ),
    native("class-of", "object", "The class of an object.", |lisp, a| Ok(class_of(lisp, &a[0]))),
    native("class-name", "class", "The name of a class.", |_, a| match a[0].as_class() {
        Some(class) => Ok(Value::symbol(class.name.get())),
        None => Err(Escape::wrong_type("class-name", symbol::CLASS, &a[0])),
    }),
    native("(setf class-name)", "name class", "Renames a class.", |_, a| {
        match (a[1].as_class(), a[0].as_symbol()) {
            (Some(class), Some(name)) if class.kind != ClassKind::BuiltIn => class.name.set(name),
            _ => return Err(Escape::wrong_type("(setf class-name)", symbol::CLASS, &a[1])),
        }
        Ok(a[0].clone())
    }),
    native("rung:class-slots", "class", "The names of a class's slots.", |lisp, a| {
        let class = class_designated(lisp, "class-slots", &a[0])?;
        let layout = layout(lisp, class_in(&class))?;
        Ok(list(layout.slots.iter().map(|slot| Value::symbol(slot.name)).collect::<Vec<_>>()))
    }),
    native("make-instances-obsolete", "class", "Brings its instances up to date.", |lisp, a| {
        let class = class_designated(lisp, "make-instances-obsolete", &a[0])?;
        make_obsolete(lisp, class_in(&class).name.get());
        Ok(a[0].clone())
    }),
];
