//! Types (chapter 4): `typep`, `type-of`, `coerce`, `subtypep`.

use num_bigint::BigInt;

use crate::condition::{Escape, Outcome};
use crate::heap::Ref;
use crate::lisp::Lisp;
use crate::native::{Native, native};
use crate::numbers;
use crate::object::{ClassKind, Object};
use crate::stream::StreamKind;
use crate::symbol::{self, Symbol, VariableKind};
use crate::value::{T, Value, list};

use super::{arrays, types_complex};

fn is_integer(value: &Value) -> bool {
    matches!(value, Value::Fixnum(_)) || value.as_bignum().is_some()
}

fn is_rational(value: &Value) -> bool {
    is_integer(value) || value.as_ratio().is_some()
}

fn is_float(value: &Value) -> bool {
    matches!(value, Value::Double(_) | Value::Single(_))
}

fn is_vector(value: &Value) -> bool {
    arrays::dimensions("", value).is_ok_and(|dimensions| dimensions.len() == 1)
}

/// Whether a value is of a type named by a symbol; `None` when the symbol names no such type.
fn is_of_named(lisp: &Lisp, value: &Value, name: Symbol) -> Option<bool> {
    let object = |test: fn(&Object) -> bool| value.as_object().is_some_and(test);
    Some(match name {
        symbol::T => true,
        symbol::NIL | symbol::EXTENDED_CHAR => false,
        symbol::NULL => value.is_nil(),
        symbol::SYMBOL => value.as_symbol().is_some(),
        symbol::KEYWORD_TYPE => value
            .as_symbol()
            .is_some_and(|s| lisp.symbols[s].package == Some(crate::package::KEYWORD)),
        symbol::BOOLEAN => value.is_nil() || value.is_symbol(symbol::T),
        symbol::CONS => value.as_cons().is_some(),
        symbol::LIST => value.is_list(),
        symbol::ATOM => value.as_cons().is_none(),
        symbol::SEQUENCE => value.is_list() || is_vector(value),
        symbol::NUMBER => value.is_number(),
        symbol::REAL => is_rational(value) || is_float(value),
        symbol::RATIONAL => is_rational(value),
        symbol::INTEGER => is_integer(value),
        symbol::SIGNED_BYTE => is_integer(value),
        symbol::UNSIGNED_BYTE => is_integer(value) && !is_negative(value),
        symbol::FIXNUM => matches!(value, Value::Fixnum(_)),
        symbol::BIGNUM => value.as_bignum().is_some(),
        symbol::BIT => matches!(value, Value::Fixnum(0 | 1)),
        symbol::RATIO => value.as_ratio().is_some(),
        symbol::FLOAT => is_float(value),
        symbol::DOUBLE_FLOAT | symbol::LONG_FLOAT => matches!(value, Value::Double(_)),
        symbol::SINGLE_FLOAT | symbol::SHORT_FLOAT => matches!(value, Value::Single(_)),
        symbol::COMPLEX => value.as_complex().is_some(),
        symbol::CHARACTER | symbol::BASE_CHAR => matches!(value, Value::Char(_)),
        symbol::STANDARD_CHAR => {
            matches!(value, Value::Char(c) if matches!(c, ' '..='~' | '\n'))
        }
        symbol::STRING | symbol::BASE_STRING => value.as_text().is_some(),
        symbol::SIMPLE_STRING | symbol::SIMPLE_BASE_STRING => {
            value.as_text().is_some_and(|text| text.is_simple())
        }
        symbol::VECTOR => is_vector(value),
        symbol::ARRAY => arrays::dimensions("", value).is_ok(),
        symbol::SIMPLE_ARRAY => arrays::is_simple(value),
        symbol::SIMPLE_VECTOR => {
            value.as_array().is_some_and(|array| array.rank() == 1 && array.is_simple())
        }
        symbol::BIT_VECTOR | symbol::SIMPLE_BIT_VECTOR => {
            is_vector(value)
                && value
                    .as_packed()
                    .is_some_and(|packed| packed.element_type() == rung_base::ElementType::Bool)
        }
        symbol::FUNCTION | symbol::COMPILED_FUNCTION => value.as_function().is_some(),
        symbol::HASH_TABLE => value.as_hash_table().is_some(),
        symbol::PACKAGE => object(|o| matches!(o, Object::Package(_))),
        symbol::STREAM => super::gray::is_stream(value),
        symbol::FILE_STREAM => {
            object(|o| matches!(o, Object::Stream(stream) if !stream.name.is_empty()))
        }
        symbol::STRING_STREAM => object(|o| match o {
            Object::Stream(stream) => matches!(
                &*stream.kind.borrow(),
                StreamKind::StringInput { .. } | StreamKind::StringOutput(_)
            ),
            _ => false,
        }),
        symbol::READTABLE_TYPE => value.as_readtable().is_some(),
        symbol::PATHNAME => object(|o| matches!(o, Object::Pathname(_))),
        symbol::CLASS => object(|o| matches!(o, Object::Class(_))),
        symbol::STANDARD_OBJECT => object(|o| matches!(o, Object::Standard(_))),
        symbol::STRUCTURE_OBJECT => object(|o| matches!(o, Object::Instance(_))),
        _ => return is_of_class(lisp, value, name),
    })
}

fn is_of_class(lisp: &Lisp, value: &Value, name: Symbol) -> Option<bool> {
    let class = lisp.class(name)?;
    Some(match (class.kind, value.as_object()) {
        (ClassKind::Standard, Some(Object::Standard(it))) => {
            it.class_name() == name || lisp.class_inherits(it.class_name(), name)
        }
        (ClassKind::BuiltIn, _) => lisp.class_inherits(super::classes::built_in_class(value), name),
        (ClassKind::Condition, Some(Object::Condition(condition))) => {
            condition.class == name || lisp.class_inherits(condition.class, name)
        }
        (ClassKind::Structure, Some(Object::Instance(instance))) => {
            let own = super::structures::class_name(instance);
            own == name || lisp.class_inherits(own, name)
        }
        _ => false,
    })
}

fn is_negative(value: &Value) -> bool {
    match value {
        Value::Fixnum(n) => *n < 0,
        other => other.as_bignum().is_some_and(|n| n.sign() == num_bigint::Sign::Minus),
    }
}

/// Whether a value is of a type.
pub fn is_of_type(lisp: &mut Lisp, value: &Value, specifier: &Value) -> Outcome<bool> {
    crate::stack::check("the type")?;
    if let Some(name) = specifier.as_symbol() {
        if let Some(answer) = is_of_named(lisp, value, name) {
            return Ok(answer);
        }
        if let Some(expander) = expander(lisp, name)? {
            let expansion = lisp.call(&expander, &[])?;
            return is_of_type(lisp, value, &expansion);
        }
        // A class of the library that has been loaded meanwhile.
        if let Some(answer) = is_of_named(lisp, value, name) {
            return Ok(answer);
        }
    }
    if let Some(Object::Class(class)) = specifier.as_object() {
        let own = super::classes::class_of(lisp, value);
        return Ok(own.eql(specifier) || lisp.classes_of(value).contains(&class.name.get()));
    }
    match specifier {
        Value::Cons(pair) => is_of_compound(lisp, value, &pair.car(), specifier),
        other => Err(unknown_type(lisp, other)),
    }
}

/// What `deftype` made of a name, in the program or in the library.
fn expander(lisp: &mut Lisp, name: Symbol) -> Outcome<Option<Value>> {
    if !lisp.types.contains_key(&name) {
        lisp.load_from_library(name)?;
    }
    Ok(lisp.types.get(&name).cloned())
}

fn unknown_type(lisp: &Lisp, specifier: &Value) -> Escape {
    Escape::error(format!("{} is not the name of a type", lisp.brief(specifier)))
}

fn is_of_compound(
    lisp: &mut Lisp,
    value: &Value,
    head: &Value,
    specifier: &Value,
) -> Outcome<bool> {
    let parts = specifier.elements().skip(1).collect::<Vec<_>>();
    let Some(head) = head.as_symbol() else { return Err(unknown_type(lisp, specifier)) };
    match head {
        symbol::AND => {
            for part in &parts {
                if !is_of_type(lisp, value, part)? {
                    return Ok(false);
                }
            }
            Ok(true)
        }
        symbol::OR => {
            for part in &parts {
                if is_of_type(lisp, value, part)? {
                    return Ok(true);
                }
            }
            Ok(false)
        }
        symbol::NOT => Ok(!is_of_type(lisp, value, parts.first().unwrap_or(&T))?),
        symbol::MEMBER => Ok(parts.iter().any(|part| part.eql(value))),
        symbol::EQL => Ok(parts.first().is_some_and(|part| part.eql(value))),
        symbol::SATISFIES => {
            Ok(lisp.call(parts.first().unwrap_or(&T), std::slice::from_ref(value))?.truth())
        }
        symbol::MOD => {
            let zero = Value::Fixnum(0);
            let below = parts.first().cloned().unwrap_or_default();
            Ok(is_integer(value)
                && !is_negative(value)
                && numbers::compare("typep", value, &below)?.is_some_and(|o| o.is_lt())
                && !zero.is_nil())
        }
        symbol::UNSIGNED_BYTE | symbol::SIGNED_BYTE => Ok(is_of_bytes(value, head, &parts)),
        symbol::CONS => {
            let Value::Cons(pair) = value else { return Ok(false) };
            for (part, specifier) in [pair.car(), pair.cdr()].iter().zip(&parts) {
                if !is_star(specifier) && !is_of_type(lisp, part, specifier)? {
                    return Ok(false);
                }
            }
            Ok(true)
        }
        symbol::COMPLEX => types_complex::is_of(lisp, value, parts.first()),
        symbol::FUNCTION => Ok(value.as_function().is_some()),
        symbol::VALUES => is_of_type(lisp, value, parts.first().unwrap_or(&T)),
        symbol::ARRAY | symbol::SIMPLE_ARRAY => is_of_array(lisp, value, &parts, None),
        symbol::VECTOR => is_of_array(lisp, value, &parts, Some(1)),
        symbol::STRING
        | symbol::SIMPLE_STRING
        | symbol::BIT_VECTOR
        | symbol::SIMPLE_VECTOR
        | symbol::SIMPLE_BIT_VECTOR => {
            let size = parts.first().filter(|size| !is_star(size)).and_then(Value::as_index);
            let named = is_of_named(lisp, value, head).unwrap_or(false);
            let length = arrays::dimensions("", value).ok().and_then(|d| d.first().copied());
            Ok(named && (size.is_none() || size == length))
        }
        _ if is_range(head) => {
            let named = is_of_named(lisp, value, head).unwrap_or(false);
            Ok(named && is_inside(value, &parts)?)
        }
        _ => match expander(lisp, head)? {
            Some(expander) => {
                let expansion = lisp.call(&expander, &parts)?;
                is_of_type(lisp, value, &expansion)
            }
            None => Err(unknown_type(lisp, specifier)),
        },
    }
}

fn is_range(head: Symbol) -> bool {
    let ranges = [
        symbol::INTEGER,
        symbol::RATIONAL,
        symbol::REAL,
        symbol::FLOAT,
        symbol::SINGLE_FLOAT,
        symbol::DOUBLE_FLOAT,
        symbol::SHORT_FLOAT,
        symbol::LONG_FLOAT,
        symbol::FIXNUM,
    ];
    ranges.contains(&head)
}

pub(super) fn is_star(specifier: &Value) -> bool {
    specifier.is_symbol(symbol::STAR)
}

/// Bounds as in `(integer 0 (10))`: a list excludes its number.
fn is_inside(value: &Value, parts: &[Value]) -> Outcome<bool> {
    for (index, bound) in parts.iter().enumerate().filter(|(_, bound)| !is_star(bound)) {
        let (limit, open) = match bound {
            Value::Cons(pair) => (pair.car(), true),
            limit => (limit.clone(), false),
        };
        let Some(order) = numbers::compare("typep", value, &limit)? else { return Ok(false) };
        let inside = match index {
            0 => order.is_gt() || (order.is_eq() && !open),
            _ => order.is_lt() || (order.is_eq() && !open),
        };
        if !inside {
            return Ok(false);
        }
    }
    Ok(true)
}

fn is_of_bytes(value: &Value, head: Symbol, parts: &[Value]) -> bool {
    let whole = match value {
        Value::Fixnum(n) => BigInt::from(*n),
        other => match other.as_bignum() {
            Some(n) => n.clone(),
            None => return false,
        },
    };
    let signed = head == symbol::SIGNED_BYTE;
    let Some(bits) = parts.first().and_then(Value::as_index) else {
        return signed || whole.sign() != num_bigint::Sign::Minus;
    };
    let low = whole.sign() == num_bigint::Sign::Minus;
    if signed {
        let magnitude = if low { -whole - 1 } else { whole };
        magnitude.bits() < bits as u64
    } else {
        !low && whole.bits() <= bits as u64
    }
}

fn is_of_array(
    lisp: &mut Lisp,
    value: &Value,
    parts: &[Value],
    rank: Option<usize>,
) -> Outcome<bool> {
    let Ok(dimensions) = arrays::dimensions("", value) else { return Ok(false) };
    if rank.is_some_and(|rank| rank != dimensions.len()) {
        return Ok(false);
    }
    if let Some(element_type) = parts.first().filter(|part| !is_star(part))
        && !has_elements(lisp, value, element_type)?
    {
        return Ok(false);
    }
    Ok(match parts.get(1) {
        None => true,
        Some(star) if is_star(star) => true,
        Some(Value::Fixnum(n)) if rank == Some(1) => dimensions[0] as i64 == *n,
        Some(Value::Fixnum(n)) => dimensions.len() as i64 == *n,
        Some(shape) => {
            let shape = shape.elements().collect::<Vec<_>>();
            shape.len() == dimensions.len()
                && shape
                    .iter()
                    .zip(&dimensions)
                    .all(|(wanted, length)| is_star(wanted) || wanted.as_index() == Some(*length))
        }
    })
}

/// Whether an array's elements are stored as those of a type are.
fn has_elements(lisp: &mut Lisp, array: &Value, element_type: &Value) -> Outcome<bool> {
    if let Some(foreign) = array.as_foreign_array().filter(|a| a.displacement().is_none()) {
        return Ok(crate::equality::equal(&foreign.element_type(lisp), element_type));
    }
    Ok(arrays::stored(lisp, element_type)? == arrays::stored_in(array))
}

/// The name of a value's type.
pub fn type_of(lisp: &mut Lisp, value: &Value) -> Value {
    let name = match value {
        Value::Nil | Value::Unbound => symbol::NULL,
        Value::Fixnum(_) => symbol::FIXNUM,
        Value::Double(_) => symbol::DOUBLE_FLOAT,
        Value::Single(_) => symbol::SINGLE_FLOAT,
        Value::Char(_) => symbol::CHARACTER,
        Value::Symbol(symbol::T) => symbol::BOOLEAN,
        Value::Symbol(name) => match lisp.symbols[*name].package {
            Some(crate::package::KEYWORD) => symbol::KEYWORD_TYPE,
            _ => symbol::SYMBOL,
        },
        Value::Cons(_) => symbol::CONS,
        Value::Function(_) => super::classes::built_in_class(value),
        Value::Cell(_) => symbol::FUNCTION,
        Value::String(text) => {
            return list([Value::symbol(symbol::STRING), Value::size(text.len())]);
        }
        Value::Object(object) => match &**object {
            Object::Bignum(_) => symbol::BIGNUM,
            Object::Ratio(_) => symbol::RATIO,
            Object::Complex(z) => return types_complex::type_of(z),
            Object::HashTable(_) => symbol::HASH_TABLE,
            Object::Package(_) => symbol::PACKAGE,
            Object::Stream(_) => symbol::STREAM,
            Object::Condition(condition) => condition.class,
            Object::Standard(it) => {
                let (name, class) = (it.class_name(), it.class.borrow().clone());
                let proper = lisp.classes.get(&name).is_some_and(|known| Ref::same(known, &class));
                return if proper { Value::symbol(name) } else { Value::Object(class) };
            }
            Object::Class(_) | Object::Method(_) => super::classes::built_in_class(value),
            Object::Instance(instance) => super::structures::class_name(instance),
            Object::Pathname(_) => symbol::PATHNAME,
            Object::Readtable(_) => symbol::READTABLE_TYPE,
            Object::Array(_) | Object::Packed(_) => return array_type(lisp, value),
            Object::Foreign(thing)
                if thing.as_array().is_some_and(|a| a.displacement().is_some()) =>
            {
                return array_type(lisp, value);
            }
            Object::Foreign(thing) => match thing.type_name() {
                Some(name) => lisp.intern(crate::package::RUNG, name),
                None => symbol::T,
            },
            Object::RandomState(_) => symbol::RANDOM_STATE_TYPE,
        },
    };
    Value::symbol(name)
}

fn array_type(lisp: &mut Lisp, value: &Value) -> Value {
    let dimensions = arrays::dimensions("", value).unwrap_or_default();
    let shape = list(dimensions.into_iter().map(Value::size).collect::<Vec<_>>());
    let element_type = arrays::element_type_of(lisp, value);
    let name = if arrays::is_simple(value) { symbol::SIMPLE_ARRAY } else { symbol::ARRAY };
    list([Value::symbol(name), element_type, shape])
}

/// The table.
pub static TYPES: &[Native] = &[
    native("typep", "object type &optional environment", "Whether it is of a type.", |lisp, a| {
        Ok(Value::boolean(is_of_type(lisp, &a[0], &a[1])?))
    }),
    native("type-of", "object", "The name of its type.", |lisp, a| Ok(type_of(lisp, &a[0]))),
    native("coerce", "object type", "The object as another type.", coerce),
    native(
        "subtypep",
        "type other &optional environment",
        "Whether a type is part of another.",
        subtypep,
    ),
    native("rung::%expanded-type", "type", "Without names that deftype made.", |lisp, a| {
        expanded(lisp, &a[0])
    }),
    native("rung::%define-type", "name expander", "What deftype does.", |lisp, a| {
        let Some(name) = a[0].as_symbol() else {
            return Err(Escape::wrong_type("deftype", symbol::SYMBOL, &a[0]));
        };
        let name = lisp.name_to_define(name, super::locks::Way::Shadow)?;
        lisp.types.insert(name, a[1].clone());
        Ok(Value::symbol(name))
    }),
    native("rung::%constant-p", "symbol", "Whether a variable is constant.", |lisp, a| {
        let constant = a[0].as_symbol().map(|name| lisp.symbols[name].kind);
        Ok(Value::boolean(constant == Some(VariableKind::Constant)))
    }),
    native(
        "rung::%check-type",
        "value type place string",
        "An error if not of the type.",
        |lisp, a| {
            if is_of_type(lisp, &a[0], &a[1])? {
                return Ok(Value::Nil);
            }
            let wanted = match a[3].as_text() {
                Some(text) => text.to_text(),
                None => lisp.brief(&a[1]).to_lowercase(),
            };
            let place = lisp.brief(&a[2]).to_lowercase();
            Err(Escape::unexpected(&place, &wanted, a[1].clone(), &a[0]))
        },
    ),
];

fn coerce(lisp: &mut Lisp, a: &[Value]) -> Outcome {
    // The commonest, without a look for another name of the type.
    if let (Value::Fixnum(number), Value::Symbol(symbol::DOUBLE_FLOAT)) = (&a[0], &a[1]) {
        return Ok(Value::Double(*number as f64));
    }
    let (value, specifier) = (&a[0], &expanded(lisp, &a[1])?);
    let head = match specifier {
        Value::Cons(pair) => pair.car(),
        other => other.clone(),
    };
    match head.as_symbol() {
        Some(symbol::T) => return Ok(value.clone()),
        Some(symbol::FUNCTION) => return Ok(Value::Function(lisp.function_of(value)?)),
        Some(symbol::CHARACTER) => {
            let text = super::packages::designated_text(lisp, "coerce", value)?;
            let mut characters = text.chars();
            return match (characters.next(), characters.next()) {
                (Some(c), None) => Ok(Value::Char(c)),
                _ => Err(Escape::wrong_type("coerce", symbol::CHARACTER, value)),
            };
        }
        Some(symbol::DOUBLE_FLOAT | symbol::LONG_FLOAT) => {
            let converted = numbers::to_double(value).map(Value::Double);
            return converted.ok_or_else(|| Escape::wrong_type("coerce", symbol::REAL, value));
        }
        Some(symbol::SINGLE_FLOAT | symbol::SHORT_FLOAT | symbol::FLOAT) => {
            let float = Value::symbol(symbol::FLOAT);
            let is_plain = head.is_symbol(symbol::FLOAT);
            if is_plain && is_float(value) {
                return Ok(value.clone());
            }
            let arguments = [value.clone(), Value::Single(1.0)];
            let count = if is_plain { 1 } else { 2 };
            return lisp.call(&float, &arguments[..count]);
        }
        Some(symbol::COMPLEX) => return types_complex::coerce(lisp, value, specifier),
        _ => {}
    }
    if is_of_type(lisp, value, specifier)? {
        return Ok(value.clone());
    }
    if value.is_number() {
        return Err(Escape::unexpected(
            "coerce",
            &lisp.brief(specifier).to_lowercase(),
            specifier.clone(),
            value,
        ));
    }
    let all = super::sequence_parts::elements("coerce", value)?;
    super::sequences::of_type(lisp, specifier, all)
}

/// Types above a named type, nearest first, for the named types that `subtypep` decides.
const ABOVE: &[(Symbol, &[Symbol])] = &[
    (symbol::BIT, &[symbol::FIXNUM, symbol::UNSIGNED_BYTE]),
    (symbol::FIXNUM, &[symbol::INTEGER]),
    (symbol::BIGNUM, &[symbol::INTEGER]),
    (symbol::UNSIGNED_BYTE, &[symbol::INTEGER]),
    (symbol::SIGNED_BYTE, &[symbol::INTEGER]),
    (symbol::INTEGER, &[symbol::RATIONAL]),
    (symbol::RATIO, &[symbol::RATIONAL]),
    (symbol::RATIONAL, &[symbol::REAL]),
    (symbol::DOUBLE_FLOAT, &[symbol::FLOAT]),
    (symbol::SINGLE_FLOAT, &[symbol::FLOAT]),
    (symbol::FLOAT, &[symbol::REAL]),
    (symbol::REAL, &[symbol::NUMBER]),
    (symbol::COMPLEX, &[symbol::NUMBER]),
    (symbol::NULL, &[symbol::SYMBOL, symbol::LIST, symbol::BOOLEAN]),
    (symbol::KEYWORD_TYPE, &[symbol::SYMBOL]),
    (symbol::BOOLEAN, &[symbol::SYMBOL]),
    (symbol::CONS, &[symbol::LIST]),
    (symbol::LIST, &[symbol::SEQUENCE]),
    (symbol::STANDARD_CHAR, &[symbol::CHARACTER]),
    (symbol::SIMPLE_STRING, &[symbol::STRING]),
    (symbol::STRING, &[symbol::VECTOR]),
    (symbol::SIMPLE_VECTOR, &[symbol::VECTOR]),
    (symbol::BIT_VECTOR, &[symbol::VECTOR]),
    (symbol::VECTOR, &[symbol::ARRAY, symbol::SEQUENCE]),
    (symbol::SIMPLE_ARRAY, &[symbol::ARRAY]),
    (symbol::COMPILED_FUNCTION, &[symbol::FUNCTION]),
];

pub(super) fn is_below(lisp: &Lisp, name: Symbol, other: Symbol) -> bool {
    if name == other || other == symbol::T || name == symbol::NIL {
        return true;
    }
    if other == symbol::ATOM {
        return ![symbol::CONS, symbol::LIST, symbol::SEQUENCE, symbol::T].contains(&name);
    }
    let above = ABOVE.iter().filter(|entry| entry.0 == name).flat_map(|entry| entry.1);
    let mut above = above.copied();
    lisp.class_inherits(name, other) || above.any(|next| is_below(lisp, next, other))
}

/// A type that `deftype` made, as what it stands for; a class by its name.
pub(super) fn expanded(lisp: &mut Lisp, specifier: &Value) -> Outcome {
    crate::stack::check("the type")?;
    if let Some(class) = specifier.as_class() {
        return Ok(Value::symbol(class.name.get()));
    }
    // The same type by another name.
    if specifier.is_symbol(symbol::BASE_CHAR) {
        return Ok(Value::symbol(symbol::CHARACTER));
    }
    let (head, parts) = match specifier {
        Value::Cons(pair) => (pair.car(), specifier.elements().skip(1).collect::<Vec<_>>()),
        name => (name.clone(), Vec::new()),
    };
    let made = head.as_symbol().map(|name| expander(lisp, name)).transpose()?;
    match made.flatten() {
        Some(expander) => {
            let expansion = lisp.call(&expander, &parts)?;
            expanded(lisp, &expansion)
        }
        None => Ok(specifier.clone()),
    }
}

fn subtypep(lisp: &mut Lisp, a: &[Value]) -> Outcome {
    let (type_, other) = (expanded(lisp, &a[0])?, expanded(lisp, &a[1])?);
    let answer = match (type_.as_symbol(), other.as_symbol()) {
        (Some(name), Some(other)) => Some(is_below(lisp, name, other)),
        _ if types_complex::is_complex(&type_) => {
            types_complex::is_below_type(lisp, &type_, &other)
        }
        _ => {
            let compare = Value::symbol(symbol::COMPOUND_SUBTYPEP);
            return lisp.call_keeping_values(&compare, &[type_, other]);
        }
    };
    let (yes, sure) = (answer.unwrap_or(false), answer.is_some());
    Ok(lisp.values(vec![Value::boolean(yes), Value::boolean(sure)]))
}
