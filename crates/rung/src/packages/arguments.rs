//! What the functions of several packages take: keywords, element types, tables of named arrays.

use super::linalg::array_argument;
use rung_array::Array;
use rung_base::{ElementType, Error, ErrorKind};
use rung_lisp::hash_table::{HashTable, Test};
use rung_lisp::lisp::Lisp;
use rung_lisp::object::Object;
use rung_lisp::{Escape, Outcome, Value, native, symbol};

/// The values of the keywords of these names; `None` where one is absent or nil.
pub fn keywords<const N: usize>(
    lisp: &mut Lisp,
    arguments: &[Value],
    names: [&str; N],
) -> Outcome<[Option<Value>; N]> {
    let names = names.map(|name| lisp.keyword(name).as_symbol().unwrap_or(symbol::NIL));
    let values = native::keywords(lisp, arguments, names)?;
    Ok(values.map(|value| value.filter(Value::truth)))
}

/// The element type of that specifier, if it is one. Symbols are compared by name.
pub fn element_type_named(lisp: &Lisp, value: &Value) -> Option<ElementType> {
    fn text(lisp: &Lisp, value: &Value) -> Option<String> {
        match value {
            Value::Symbol(symbol) => Some(lisp.name(*symbol).to_string()),
            Value::Fixnum(n) => Some(n.to_string()),
            _ => None,
        }
    }
    let specifier = match value {
        Value::Cons(_) => {
            // A specifier has two parts; a longer list, circular or not, is none.
            let parts = value.elements().take(3).map(|part| text(lisp, &part));
            format!("({})", parts.collect::<Option<Vec<_>>>()?.join(" "))
        }
        other => text(lisp, other)?,
    };
    ElementType::parse(&specifier)
}

pub fn element_type(lisp: &Lisp, package: &'static str, value: &Value) -> Outcome<ElementType> {
    element_type_named(lisp, value).ok_or_else(|| {
        let known: Vec<&str> = ElementType::ALL.iter().map(|t| t.lisp_name()).collect();
        let text = format!("unknown element type: {}", lisp.brief(value));
        let error = Error::new(ErrorKind::ElementType, text).in_package(package);
        error.hint(format!("known: {}", known.join(", "))).into()
    })
}

pub fn table<'a>(operator: &str, value: &'a Value) -> Outcome<&'a HashTable> {
    value.as_hash_table().ok_or_else(|| Escape::wrong_type(operator, symbol::HASH_TABLE, value))
}

pub fn text(operator: &str, value: &Value) -> Outcome<String> {
    match value.as_text() {
        Some(text) => Ok(text.to_text()),
        None => Err(Escape::wrong_type(operator, symbol::STRING, value)),
    }
}

/// The arrays of a hash table from names to arrays, in its order.
pub fn named_arrays(lisp: &Lisp, operator: &str, value: &Value) -> Outcome<Vec<(String, Array)>> {
    let entries = table(operator, value)?.entries();
    let named = entries
        .iter()
        .map(|(name, array)| Ok((text(operator, name)?, array_argument(lisp, operator, array)?)));
    named.collect()
}

/// An `equal` hash table of names and arrays.
pub fn table_of_arrays(arrays: impl IntoIterator<Item = (String, Array)>) -> Value {
    let table = HashTable::new(Test::Equal);
    for (name, array) in arrays {
        table.set(Value::string(&name), Value::packed(array));
    }
    Value::object(Object::HashTable(table))
}
