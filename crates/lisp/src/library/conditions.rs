//! Conditions (chapter 9): the standard classes, signalling, and what `lisp/conditions.lisp`
//! is built on.
//!
//! Handlers are in the dynamic variable `rung::*handlers*`: a list of clusters, innermost
//! first, each a list of (type . function). A handler runs with the clusters outside its own.

use crate::class::{ClassKind, Definition, SlotDefinition};
use crate::condition::{Condition, Escape, EscapeKind, Message, Outcome};
use crate::lisp::Lisp;
use crate::native::{Native, native};
use crate::symbol::{self, Symbol};
use crate::value::{NIL, Value, list};

use super::classes::{define_class, layout, slot_definition};
use super::types;

/// Class, direct superclasses, slots (named by the keywords that set them).
type StandardClass = (Symbol, &'static [Symbol], &'static [Symbol]);

const FORMAT: &[Symbol] = &[symbol::KEY_FORMAT_CONTROL, symbol::KEY_FORMAT_ARGUMENTS];
const TYPE: &[Symbol] = &[symbol::KEY_DATUM, symbol::KEY_EXPECTED_TYPE];
const ARITHMETIC: &[Symbol] = &[symbol::KEY_OPERATION, symbol::KEY_OPERANDS];
const DATA_FILE: &[Symbol] = &[symbol::KEY_PATHNAME, symbol::KEY_OFFSET, symbol::KEY_REASON];

const CALL: &[Symbol] = &[symbol::KEY_GENERIC_FUNCTION, symbol::KEY_ARGUMENTS];

/// The classes, each after its superclasses.
const CLASSES: &[StandardClass] = &[
    (symbol::CONDITION, &[], &[]),
    (symbol::SIMPLE_CONDITION, &[symbol::CONDITION], FORMAT),
    (symbol::SERIOUS_CONDITION, &[symbol::CONDITION], &[]),
    (symbol::WARNING, &[symbol::CONDITION], &[]),
    (symbol::STYLE_WARNING, &[symbol::WARNING], &[]),
    (symbol::SIMPLE_WARNING, &[symbol::SIMPLE_CONDITION, symbol::WARNING], &[]),
    (symbol::STORAGE_CONDITION, &[symbol::SERIOUS_CONDITION], &[]),
    (symbol::ERROR, &[symbol::SERIOUS_CONDITION], &[]),
    (symbol::SIMPLE_ERROR, &[symbol::SIMPLE_CONDITION, symbol::ERROR], &[]),
    (symbol::TYPE_ERROR, &[symbol::ERROR], TYPE),
    (symbol::SIMPLE_TYPE_ERROR, &[symbol::SIMPLE_CONDITION, symbol::TYPE_ERROR], &[]),
    (symbol::PROGRAM_ERROR, &[symbol::ERROR], &[]),
    (symbol::CONTROL_ERROR, &[symbol::ERROR], &[]),
    (symbol::CELL_ERROR, &[symbol::ERROR], &[symbol::KEY_NAME]),
    (symbol::UNBOUND_VARIABLE, &[symbol::CELL_ERROR], &[]),
    (symbol::UNDEFINED_FUNCTION, &[symbol::CELL_ERROR], &[]),
    (symbol::UNBOUND_SLOT, &[symbol::CELL_ERROR], &[symbol::KEY_INSTANCE]),
    (symbol::ARITHMETIC_ERROR, &[symbol::ERROR], ARITHMETIC),
    (symbol::DIVISION_BY_ZERO, &[symbol::ARITHMETIC_ERROR], &[]),
    (symbol::FLOATING_POINT_OVERFLOW, &[symbol::ARITHMETIC_ERROR], &[]),
    (symbol::FLOATING_POINT_UNDERFLOW, &[symbol::ARITHMETIC_ERROR], &[]),
    (symbol::FLOATING_POINT_INEXACT, &[symbol::ARITHMETIC_ERROR], &[]),
    (symbol::FLOATING_POINT_INVALID_OPERATION, &[symbol::ARITHMETIC_ERROR], &[]),
    (symbol::PARSE_ERROR, &[symbol::ERROR], &[]),
    (symbol::STREAM_ERROR, &[symbol::ERROR], &[symbol::KEY_STREAM]),
    (symbol::END_OF_FILE, &[symbol::STREAM_ERROR], &[]),
    (symbol::READER_ERROR, &[symbol::PARSE_ERROR, symbol::STREAM_ERROR], &[]),
    (symbol::FILE_ERROR, &[symbol::ERROR], &[symbol::KEY_PATHNAME]),
    (symbol::PACKAGE_ERROR, &[symbol::ERROR], &[symbol::KEY_PACKAGE]),
    (symbol::PACKAGE_LOCK, &[symbol::PACKAGE_ERROR], &[]),
    (symbol::PRINT_NOT_READABLE, &[symbol::ERROR], &[symbol::KEY_OBJECT]),
    (symbol::ARRAY_ERROR, &[symbol::ERROR], &[symbol::KEY_OPERATION, symbol::KEY_ARGUMENTS]),
    (symbol::SHAPE_ERROR, &[symbol::ARRAY_ERROR], &[]),
    (symbol::AXIS_ERROR, &[symbol::ARRAY_ERROR], &[]),
    (symbol::ELEMENT_TYPE_ERROR, &[symbol::ARRAY_ERROR], &[]),
    (symbol::INDEX_ERROR, &[symbol::ARRAY_ERROR], &[]),
    (symbol::SINGULAR_MATRIX, &[symbol::ARRAY_ERROR], &[]),
    (symbol::EMPTY_ARRAY, &[symbol::ARRAY_ERROR], &[]),
    (symbol::DECLINED, &[symbol::ERROR], &[]),
    (symbol::BITS_DIFFER, &[symbol::ERROR], &[]),
    (symbol::DEVICE_ERROR, &[symbol::ERROR], &[]),
    (symbol::DEVICE_LOST, &[symbol::DEVICE_ERROR], &[]),
    (symbol::FORMAT_ERROR, &[symbol::ERROR], DATA_FILE),
    (symbol::DECODING_ERROR, &[symbol::STREAM_ERROR], &[]),
    (symbol::SLOT_MISSING_ERROR, &[symbol::CELL_ERROR], &[symbol::KEY_INSTANCE]),
    (symbol::NO_APPLICABLE_METHOD_ERROR, &[symbol::ERROR], CALL),
    (symbol::NO_NEXT_METHOD_ERROR, &[symbol::ERROR], CALL),
];

/// Makes the standard classes.
pub(crate) fn define_standard_classes(lisp: &mut Lisp) {
    for (name, parents, slots) in CLASSES {
        let own = slots.iter().map(|slot| SlotDefinition::new(*slot, vec![*slot], Value::Unbound));
        let definition =
            Definition { parents: parents.to_vec(), slots: own.collect(), ..Definition::default() };
        let made = define_class(lisp, *name, ClassKind::Condition, definition);
        debug_assert!(made.is_ok(), "each class stands after its superclasses");
        let home = lisp.symbols[*name].package;
        if let Some(home) = home {
            lisp.packages.export(&lisp.symbols, home, *name);
        }
    }
    // What a program calls the restarts of `open` and `load`.
    for name in ["RETRY", "SKIP"] {
        let restart = lisp.intern(crate::package::RUNG, name);
        lisp.packages.export(&lisp.symbols, crate::package::RUNG, restart);
    }
    // Made by `%make-restart` in the library, which says what the slots are.
    let made = define_class(lisp, symbol::RESTART, ClassKind::Structure, Definition::default());
    debug_assert!(made.is_ok(), "a class without superclasses");
}

impl Lisp {
    /// The `:report` of a condition class, or nil.
    pub(crate) fn class_report(&self, name: Symbol) -> Value {
        let made = self.class(name).and_then(|class| layout(self, class).ok());
        made.map(|layout| layout.report.clone()).unwrap_or_default()
    }

    /// Runs the handlers for a condition, innermost first. Comes back when all have declined.
    pub fn run_handlers(&mut self, condition: &Value) -> Outcome<()> {
        crate::stack::check("the handlers")?;
        let depth = self.bindings.len();
        let stops = self.variable(symbol::BREAK_ON_SIGNALS).clone();
        if stops.truth() && types::is_of_type(self, condition, &stops)? {
            let stop = Value::symbol(symbol::BREAK_ON_SIGNAL);
            self.call(&stop, std::slice::from_ref(condition))?;
        }
        let mut clusters = self.variable(symbol::HANDLERS).clone();
        while let Value::Cons(pair) = clusters {
            let (cluster, outer) = (pair.car(), pair.cdr());
            for handler in cluster.elements() {
                let Value::Cons(handler) = handler else { continue };
                if types::is_of_type(self, condition, &handler.car())? {
                    self.bind(symbol::HANDLERS, outer.clone());
                    let called = self.call(&handler.cdr(), std::slice::from_ref(condition));
                    self.unbind_to(depth);
                    called?;
                }
            }
            clusters = outer;
        }
        Ok(())
    }
}

/// A condition from a designator: a condition, a class name and initargs, or a format control
/// and its arguments for a condition of the default class.
fn designated(lisp: &mut Lisp, a: &[Value], default: Symbol) -> Outcome {
    match &a[0] {
        Value::String(_) => {
            let condition = Condition::of_class(default)
                .with(symbol::KEY_FORMAT_CONTROL, a[0].clone())
                .with(symbol::KEY_FORMAT_ARGUMENTS, list(a[1..].to_vec()));
            Ok(condition.into_value())
        }
        Value::Symbol(name) => make_condition(lisp, *name, &a[1..]),
        other if other.as_condition().is_some() => Ok(other.clone()),
        other => Err(Escape::wrong_type("error", symbol::CONDITION, other)),
    }
}

/// `make-condition`.
pub(super) fn make_condition(lisp: &mut Lisp, name: Symbol, initargs: &[Value]) -> Outcome {
    lisp.load_class(name)?;
    let slots = match lisp.class(name) {
        Some(class) if class.kind == ClassKind::Condition => layout(lisp, class)?.slots.clone(),
        _ => {
            let text = format!("{} is not the name of a condition class", lisp.shown(name));
            return Err(Escape::of(symbol::TYPE_ERROR, text));
        }
    };
    let condition = Condition { message: Message::Report, ..Condition::of_class(name) };
    for slot in slots {
        let given = initargs
            .chunks(2)
            .find(|pair| pair[0].as_symbol().is_some_and(|name| slot.initargs.contains(&name)));
        let value = match given {
            Some([_, value]) => value.clone(),
            _ if slot.initform.is_unbound() => continue,
            _ => lisp.call(&slot.initform, &[])?,
        };
        condition.set_slot(slot.name, value);
    }
    Ok(condition.into_value())
}

/// The table.
pub static CONDITIONS: &[Native] = &[
    native("error", "datum &rest arguments", "Signals an error.", |lisp, a| {
        Err(EscapeKind::Signal(designated(lisp, a, symbol::SIMPLE_ERROR)?).into())
    }),
    native("signal", "datum &rest arguments", "Runs the handlers of a condition.", |lisp, a| {
        let condition = designated(lisp, a, symbol::SIMPLE_CONDITION)?;
        lisp.run_handlers(&condition)?;
        Ok(NIL)
    }),
    native("rung::%make-warning", "datum &rest arguments", "A warning.", |lisp, a| {
        designated(lisp, a, symbol::SIMPLE_WARNING)
    }),
    native("rung::%show-warning", "condition", "Prints a warning once per place.", |lisp, a| {
        let text = crate::report::sentence(lisp, &a[0])?;
        let span = lisp.caller_span();
        lisp.tell(&text, span, None)?;
        Ok(NIL)
    }),
    native("invoke-debugger", "condition", "Asks nobody any more: the debugger.", |_, a| {
        match a[0].as_condition() {
            Some(condition) => condition.asked.set(true),
            None => return Err(Escape::wrong_type("invoke-debugger", symbol::CONDITION, &a[0])),
        }
        Err(EscapeKind::Signal(a[0].clone()).into())
    }),
    native("make-condition", "class &rest initargs", "A new condition.", |lisp, a| {
        match a[0].as_symbol() {
            Some(name) => make_condition(lisp, name, &a[1..]),
            None => Err(Escape::wrong_type("make-condition", symbol::SYMBOL, &a[0])),
        }
    }),
    native(
        "rung::%define-condition",
        "name parents slots report",
        "Defines a class.",
        |lisp, a| {
            let Some(name) = a[0].as_symbol() else {
                return Err(Escape::wrong_type("define-condition", symbol::SYMBOL, &a[0]));
            };
            lisp.name_to_define(name, super::locks::Way::Keep)?;
            let mut parents = a[1].elements().filter_map(|p| p.as_symbol()).collect::<Vec<_>>();
            for parent in &parents {
                lisp.load_class(*parent)?;
            }
            if let Some(unknown) = parents.iter().find(|parent| lisp.class(**parent).is_none()) {
                let text = format!("{} is not the name of a condition class", lisp.shown(*unknown));
                return Err(Escape::program(text));
            }
            if parents.is_empty() {
                parents.push(symbol::CONDITION);
            }
            let own = a[2].elements().map(|slot| slot_definition(&slot)).collect();
            let report = a[3].clone();
            let definition = Definition { parents, slots: own, report, ..Definition::default() };
            define_class(lisp, name, ClassKind::Condition, definition)?;
            Ok(a[0].clone())
        },
    ),
    native("rung:condition-report", "condition", "The text of a condition.", |lisp, a| {
        Ok(Value::string(&crate::report::sentence(lisp, &a[0])?))
    }),
    native("rung:condition-hint", "condition", "What could be tried, or nil.", |lisp, a| {
        let hint = a[0].as_condition().and_then(|found| crate::suggest::hint(lisp, found));
        Ok(hint.map(|hint| Value::string(&hint)).unwrap_or_default())
    }),
    native("rung::%call-position", "", "File, line and column of the call.", |lisp, _| {
        let place = lisp.caller_span().and_then(|span| lisp.sources.place(span));
        let Some(place) = place else { return Ok(NIL) };
        Ok(lisp.values(vec![
            Value::string(&place.name),
            Value::size(place.line),
            Value::size(place.column),
        ]))
    }),
    native("rung:condition-position", "condition", "File, line and column.", |lisp, a| {
        let span = a[0].as_condition().and_then(|condition| condition.span.get());
        let Some(place) = span.and_then(|span| lisp.sources.place(span)) else { return Ok(NIL) };
        Ok(lisp.values(vec![
            Value::string(&place.name),
            Value::size(place.line),
            Value::size(place.column),
        ]))
    }),
    native("simple-condition-format-control", "condition", "Its text.", |_, a| {
        standard_slot(a, symbol::KEY_FORMAT_CONTROL)
    }),
    native("simple-condition-format-arguments", "condition", "Its arguments.", |_, a| {
        standard_slot(a, symbol::KEY_FORMAT_ARGUMENTS)
    }),
    native("type-error-datum", "condition", "The value of the wrong type.", |_, a| {
        standard_slot(a, symbol::KEY_DATUM)
    }),
    native("type-error-expected-type", "condition", "The type wanted.", |_, a| {
        standard_slot(a, symbol::KEY_EXPECTED_TYPE)
    }),
    native("cell-error-name", "condition", "The name without a value.", |_, a| {
        standard_slot(a, symbol::KEY_NAME)
    }),
    native("arithmetic-error-operands", "condition", "The operands.", |_, a| {
        standard_slot(a, symbol::KEY_OPERANDS)
    }),
    native("arithmetic-error-operation", "condition", "The operation.", |_, a| {
        standard_slot(a, symbol::KEY_OPERATION)
    }),
    native("file-error-pathname", "condition", "The file.", |_, a| {
        standard_slot(a, symbol::KEY_PATHNAME)
    }),
    native("rung:format-error-pathname", "condition", "The data file.", |_, a| {
        standard_slot(a, symbol::KEY_PATHNAME)
    }),
    native("rung:format-error-offset", "condition", "Bytes from its start, or nil.", |_, a| {
        standard_slot(a, symbol::KEY_OFFSET)
    }),
    native("rung:format-error-reason", "condition", "What is wrong there.", |_, a| {
        standard_slot(a, symbol::KEY_REASON)
    }),
    native("stream-error-stream", "condition", "The stream.", |_, a| {
        standard_slot(a, symbol::KEY_STREAM)
    }),
    native("package-error-package", "condition", "The package.", |_, a| {
        standard_slot(a, symbol::KEY_PACKAGE)
    }),
    native("print-not-readable-object", "condition", "What cannot be read back.", |_, a| {
        standard_slot(a, symbol::KEY_OBJECT)
    }),
    native("rung:array-error-operation", "condition", "The operation.", |_, a| {
        standard_slot(a, symbol::KEY_OPERATION)
    }),
    native("rung:array-error-arguments", "condition", "Its arguments.", |_, a| {
        standard_slot(a, symbol::KEY_ARGUMENTS)
    }),
    native("rung::%frames", "forget", "The functions that ran at the last error.", |lisp, a| {
        let names = lisp.backtrace.iter().map(|frame| frame.0.clone()).collect::<Vec<_>>();
        if a[0].truth() {
            lisp.backtrace.clear();
        }
        Ok(list(names))
    }),
];

fn standard_slot(a: &[Value], slot: Symbol) -> Outcome {
    match a[0].as_condition() {
        Some(condition) => Ok(condition.slot(slot).unwrap_or_default()),
        None => Err(Escape::wrong_type("condition reader", symbol::CONDITION, &a[0])),
    }
}
