//! Hash tables (chapter 18). Iteration is in the order of insertion.

use crate::condition::{Escape, Outcome};
use crate::equality;
use crate::lisp::Lisp;
use crate::native::{Native, keywords, native};
use crate::object::{HashTable, Object, Test};
use crate::symbol;
use crate::value::{NIL, Value, cons, list};

fn table<'v>(operator: &str, value: &'v Value) -> Outcome<&'v HashTable> {
    value.as_hash_table().ok_or_else(|| Escape::wrong_type(operator, symbol::HASH_TABLE, value))
}

/// The table.
pub static TABLES: &[Native] = &[
    native(
        "make-hash-table",
        "&key test size rehash-size rehash-threshold",
        "An empty hash table; the test is eql unless given.",
        make,
    ),
    native(
        "gethash",
        "key table &optional default",
        "The value of a key, and whether there is one.",
        |lisp, a| {
            let found = table("gethash", &a[1])?.get(&a[0]);
            let there = Value::boolean(found.is_some());
            let value = found.unwrap_or_else(|| a.get(2).cloned().unwrap_or_default());
            Ok(lisp.values(vec![value, there]))
        },
    ),
    native("rung::%set-gethash", "key table value", "Sets the value of a key.", |_, a| {
        table("gethash", &a[1])?.set(a[0].clone(), a[2].clone());
        Ok(a[2].clone())
    }),
    native("remhash", "key table", "Removes a key; whether it was there.", |_, a| {
        Ok(Value::boolean(table("remhash", &a[1])?.remove(&a[0])))
    }),
    native("clrhash", "table", "Removes everything.", |_, a| {
        table("clrhash", &a[0])?.clear();
        Ok(a[0].clone())
    }),
    native("maphash", "function table", "Calls a function with each key and value.", |lisp, a| {
        for (key, value) in table("maphash", &a[1])?.entries() {
            lisp.call(&a[0], &[key, value])?;
        }
        Ok(NIL)
    }),
    native("rung::%table-entries", "table", "A list of (key . value).", |_, a| {
        let entries = table("loop", &a[0])?.entries();
        Ok(list(entries.into_iter().map(|(key, value)| cons(key, value)).collect::<Vec<_>>()))
    }),
    native("hash-table-count", "table", "How many keys there are.", |_, a| {
        Ok(Value::size(table("hash-table-count", &a[0])?.count()))
    }),
    native("hash-table-size", "table", "How many keys fit before it grows.", |_, a| {
        Ok(Value::size(table("hash-table-size", &a[0])?.count().max(16).next_power_of_two()))
    }),
    native("hash-table-test", "table", "The name of the test.", |_, a| {
        Ok(Value::symbol(match table("hash-table-test", &a[0])?.test {
            Test::Eq => symbol::EQ,
            Test::Eql => symbol::EQL,
            Test::Equal => symbol::EQUAL,
            Test::Equalp => symbol::EQUALP,
        }))
    }),
    native("hash-table-p", "object", "Whether it is a hash table.", |_, a| {
        Ok(Value::boolean(a[0].as_hash_table().is_some()))
    }),
    native("sxhash", "object", "A hash that agrees with equal.", |_, a| {
        Ok(Value::Fixnum((equality::hash_equal(&a[0]) >> 2) as i64))
    }),
];

fn make(lisp: &mut Lisp, a: &[Value]) -> Outcome {
    let [test_name, size] = {
        let size = lisp.intern(crate::package::KEYWORD, "REHASH-SIZE");
        let threshold = lisp.intern(crate::package::KEYWORD, "REHASH-THRESHOLD");
        let names = [symbol::KEY_TEST, symbol::KEY_SIZE, size, threshold];
        let [test, size, ..] = keywords(lisp, a, names)?;
        [test, size]
    };
    if let Some(size) = size
        && size.as_index().is_none()
    {
        return Err(Escape::wrong_type("make-hash-table", symbol::UNSIGNED_BYTE, &size));
    }
    let name = match &test_name {
        None => Some(symbol::EQL),
        Some(Value::Function(function)) => match &**function {
            crate::code::Function::Native(native) => Some(native.name),
            _ => None,
        },
        Some(other) => other.as_symbol(),
    };
    let test = match name {
        Some(symbol::EQ) => Test::Eq,
        Some(symbol::EQL) => Test::Eql,
        Some(symbol::EQUAL) => Test::Equal,
        Some(symbol::EQUALP) => Test::Equalp,
        _ => {
            let got = lisp.brief(&test_name.unwrap_or_default());
            let text =
                format!("make-hash-table: expected the test eq, eql, equal or equalp: got {got}");
            return Err(Escape::of(symbol::TYPE_ERROR, text));
        }
    };
    Ok(Value::object(Object::HashTable(HashTable::new(test))))
}
