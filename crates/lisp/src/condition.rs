//! Why a computation stopped (`Escape`) and what an error says (`Condition`).
//!
//! A native returns `Err(Escape)`; the machine then runs the handlers where the call stands, so
//! natives never look for handlers themselves. A condition keeps values, not text: its report is
//! made when somebody reads it (`report`), because making it needs the printer. No control flow
//! is here; see `machine` for unwinding and `library::conditions` for the language's operators.

use std::cell::{Cell, RefCell};

use rung_base::ErrorKind;

use crate::heap::Ref;
use crate::machine::Lot;
use crate::object::Object;
use crate::source::Span;
use crate::symbol::{self, Symbol};
use crate::value::{NIL, Value, list};

/// What a computation gives: a value, or the reason why there is none.
pub type Outcome<T = Value> = Result<T, Escape>;

/// Why a computation stopped before giving its value. One pointer wide.
pub struct Escape(pub(crate) Box<EscapeKind>);

/// The kinds of escape.
pub enum EscapeKind {
    /// An error whose handlers have not been asked yet.
    Error(Condition),
    /// A condition object whose handlers have not been asked yet.
    Signal(Value),
    /// A condition that no handler took; on its way to the embedder.
    Unhandled(Value),
    /// `return-from` or `go` to the exit of that number, at that label.
    Exit { id: u64, label: u32, values: Lot },
    /// `throw`.
    Throw { tag: Value, values: Lot },
    /// `quit`; with `abort`, without clean-ups.
    Quit { code: i32, abort: bool },
    /// Ctrl-C.
    Interrupt,
    /// Back to the prompt, from the debugger.
    Abort,
    /// Nobody reads standard output any more.
    BrokenPipe,
}

/// How a condition's text is made.
#[derive(Clone)]
pub enum Message {
    /// This text.
    Text(String),
    /// `OPERATOR: expected WANTED: got VALUE`.
    Wanted { operator: String, wanted: String, got: Value },
    /// By the class's `:report`, the format control in the slots, or the name of the class.
    Report,
}

/// A condition: its class, its slots, and how to say it.
pub struct Condition {
    /// The name of its class.
    pub class: Symbol,
    /// The package whose function failed, in lower case, or "".
    pub package: String,
    /// How its text is made.
    pub message: Message,
    /// What the user could try.
    pub hint: Option<String>,
    /// Slot name (standard classes: the keyword of the initarg) and value.
    pub slots: RefCell<Vec<(Symbol, Value)>>,
    /// The form that failed; filled in by the machine.
    pub span: Cell<Option<Span>>,
    /// The handlers have been asked already, with restarts that a native offered.
    pub(crate) asked: Cell<bool>,
}

impl Condition {
    /// A condition of the class that says `text`.
    pub fn new(class: Symbol, text: impl Into<String>) -> Condition {
        Condition { message: Message::Text(text.into()), ..Condition::of_class(class) }
    }

    /// A condition of the class that is reported as the class says.
    pub fn of_class(class: Symbol) -> Condition {
        Condition {
            class,
            package: String::new(),
            message: Message::Report,
            hint: None,
            slots: RefCell::new(Vec::new()),
            span: Cell::new(None),
            asked: Cell::new(false),
        }
    }

    /// With a slot.
    pub fn with(self, slot: Symbol, value: Value) -> Condition {
        self.slots.borrow_mut().push((slot, value));
        self
    }

    /// With a hint.
    pub fn hint(mut self, hint: impl Into<String>) -> Condition {
        self.hint = Some(hint.into());
        self
    }

    /// The value of a slot.
    pub fn slot(&self, name: Symbol) -> Option<Value> {
        let slots = self.slots.borrow();
        slots.iter().find(|(slot, _)| *slot == name).map(|(_, value)| value.clone())
    }

    /// Sets a slot.
    pub fn set_slot(&self, name: Symbol, value: Value) {
        let mut slots = self.slots.borrow_mut();
        match slots.iter_mut().find(|(slot, _)| *slot == name) {
            Some(slot) => slot.1 = value,
            None => slots.push((name, value)),
        }
    }

    pub(crate) fn children(&self, visit: &mut dyn FnMut(&Value)) {
        if let Message::Wanted { got, .. } = &self.message {
            visit(got);
        }
        if let Ok(slots) = self.slots.try_borrow() {
            slots.iter().for_each(|(_, value)| visit(value));
        }
    }

    /// This condition as an object of the language.
    pub fn into_value(self) -> Value {
        Value::Object(Ref::new(Object::Condition(Box::new(self))))
    }
}

impl From<Condition> for Escape {
    fn from(condition: Condition) -> Escape {
        Escape(Box::new(EscapeKind::Error(condition)))
    }
}

impl From<EscapeKind> for Escape {
    fn from(kind: EscapeKind) -> Escape {
        Escape(Box::new(kind))
    }
}

impl Escape {
    /// A plain `error` that says `text`.
    pub fn error(text: impl Into<String>) -> Escape {
        Condition::new(symbol::SIMPLE_ERROR, text).into()
    }

    /// An error of the class that says `text`.
    pub fn of(class: Symbol, text: impl Into<String>) -> Escape {
        Condition::new(class, text).into()
    }

    /// A `program-error`.
    pub fn program(text: impl Into<String>) -> Escape {
        Escape::of(symbol::PROGRAM_ERROR, text)
    }

    /// `OPERATOR: expected a list: got 5`, a `type-error`; `expected` names the type.
    pub fn wrong_type(operator: &str, expected: Symbol, datum: &Value) -> Escape {
        Escape::unexpected(operator, type_in_words(expected), Value::symbol(expected), datum)
    }

    /// As `wrong_type`, with words of its own and any type specifier.
    pub fn unexpected(operator: &str, wanted: &str, expected: Value, datum: &Value) -> Escape {
        let condition = Condition {
            message: Message::Wanted {
                operator: operator.to_string(),
                wanted: wanted.to_string(),
                got: datum.clone(),
            },
            ..Condition::of_class(symbol::TYPE_ERROR)
        };
        let condition = condition
            .with(symbol::KEY_DATUM, datum.clone())
            .with(symbol::KEY_EXPECTED_TYPE, expected);
        condition.into()
    }

    /// Division of an integer or ratio by zero.
    pub fn division_by_zero(operator: &str, operands: &[&Value]) -> Escape {
        let operands = operands.iter().map(|value| (*value).clone()).collect::<Vec<_>>();
        Condition::new(symbol::DIVISION_BY_ZERO, format!("{operator}: division by zero"))
            .with(symbol::KEY_OPERANDS, list(operands))
            .into()
    }

    /// Recursion too deep for the limit named in `what`.
    pub fn too_deep(what: &str) -> Escape {
        Escape::of(symbol::STORAGE_CONDITION, format!("{what} is nested too deep"))
    }

    /// Adds a hint to an error; leaves other escapes alone.
    pub fn hint(mut self, hint: impl Into<String>) -> Escape {
        if let EscapeKind::Error(condition) = &mut *self.0 {
            condition.hint = Some(hint.into());
        }
        self
    }

    /// Gives an error that has no place this one.
    pub(crate) fn placed(self, span: Option<Span>) -> Escape {
        if let Some(condition) = self.condition()
            && condition.span.get().is_none()
        {
            condition.span.set(span);
        }
        self
    }

    /// Whether it only leads elsewhere: no handler is asked.
    pub(crate) fn only_leaves(&self) -> bool {
        matches!(*self.0, EscapeKind::Exit { .. } | EscapeKind::Throw { .. })
    }

    /// The condition in an error that no handler has seen yet.
    pub fn condition(&self) -> Option<&Condition> {
        match &*self.0 {
            EscapeKind::Error(condition) => Some(condition),
            EscapeKind::Signal(value) | EscapeKind::Unhandled(value) => value.as_condition(),
            _ => None,
        }
    }
}

impl Value {
    /// The condition this is.
    pub fn as_condition(&self) -> Option<&Condition> {
        if let Some(Object::Condition(condition)) = self.as_object() {
            return Some(condition);
        }
        None
    }
}

/// The words for a type in `expected ...`.
fn type_in_words(expected: Symbol) -> &'static str {
    TYPE_WORDS.iter().find(|(name, _)| *name == expected).map_or("another type", |entry| entry.1)
}

const TYPE_WORDS: &[(Symbol, &str)] = &[
    (symbol::LIST, "a list"),
    (symbol::CONS, "a cons"),
    (symbol::NUMBER, "a number"),
    (symbol::REAL, "a real number"),
    (symbol::RATIONAL, "a rational number"),
    (symbol::INTEGER, "an integer"),
    (symbol::FIXNUM, "a fixnum"),
    (symbol::UNSIGNED_BYTE, "a non-negative integer"),
    (symbol::FLOAT, "a float"),
    (symbol::CHARACTER, "a character"),
    (symbol::STRING, "a string"),
    (symbol::SYMBOL, "a symbol"),
    (symbol::SEQUENCE, "a sequence"),
    (symbol::ARRAY, "an array"),
    (symbol::VECTOR, "a vector"),
    (symbol::HASH_TABLE, "a hash table"),
    (symbol::FUNCTION, "a function"),
    (symbol::STREAM, "a stream"),
    (symbol::PACKAGE, "a package"),
    (symbol::PATHNAME, "a pathname"),
    (symbol::READTABLE_TYPE, "a readtable"),
    (symbol::CONDITION, "a condition"),
    (symbol::STANDARD_OBJECT, "an instance of a standard class"),
    (symbol::CLASS, "a class"),
    (symbol::KEYWORD_TYPE, "a keyword"),
];

impl From<rung_base::Error> for Escape {
    fn from(error: rung_base::Error) -> Escape {
        let mut condition = Condition::new(class_of_kind(error.kind()), error.message());
        if error.kind() == ErrorKind::Interrupt {
            return EscapeKind::Interrupt.into();
        }
        condition.package = error.package().to_string();
        condition.hint = error.hint_text().map(str::to_string);
        if !error.operation().is_empty() {
            condition = condition.with(symbol::KEY_OPERATION, Value::string(error.operation()));
        }
        if let Some(place) = error.file() {
            let offset = place.offset.and_then(|offset| i64::try_from(offset).ok());
            condition = condition
                .with(symbol::KEY_PATHNAME, Value::object(Object::Pathname(place.path.clone())))
                .with(symbol::KEY_OFFSET, offset.map_or(NIL, Value::Fixnum))
                .with(symbol::KEY_REASON, Value::string(&place.reason));
        }
        condition.into()
    }
}

/// The type of an error of this kind, as the manual writes it.
pub fn type_name(kind: ErrorKind) -> String {
    symbol::WELL_KNOWN[class_of_kind(kind).number() as usize].0.to_lowercase()
}

fn class_of_kind(kind: ErrorKind) -> Symbol {
    match kind {
        ErrorKind::Shape => symbol::SHAPE_ERROR,
        ErrorKind::Axis => symbol::AXIS_ERROR,
        ErrorKind::ElementType => symbol::ELEMENT_TYPE_ERROR,
        ErrorKind::Index => symbol::INDEX_ERROR,
        ErrorKind::Empty => symbol::EMPTY_ARRAY,
        ErrorKind::Singular => symbol::SINGULAR_MATRIX,
        ErrorKind::NotConverged => symbol::ARRAY_ERROR,
        ErrorKind::Type => symbol::TYPE_ERROR,
        ErrorKind::Argument | ErrorKind::Usage => symbol::PROGRAM_ERROR,
        ErrorKind::DivisionByZero => symbol::DIVISION_BY_ZERO,
        ErrorKind::Memory => symbol::STORAGE_CONDITION,
        ErrorKind::File => symbol::FILE_ERROR,
        ErrorKind::Format => symbol::FORMAT_ERROR,
        ErrorKind::Declined => symbol::DECLINED,
        ErrorKind::BitsDiffer => symbol::BITS_DIFFER,
        ErrorKind::Device => symbol::DEVICE_ERROR,
        ErrorKind::DeviceLost => symbol::DEVICE_LOST,
        ErrorKind::Interrupt | ErrorKind::Internal => symbol::SIMPLE_ERROR,
    }
}
