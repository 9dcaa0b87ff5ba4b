//! Package `safetensors`: files of named tensors, and models spread over several of them.

use super::arguments::{element_type, keywords, named_arrays, table, table_of_arrays, text};
use super::linalg::{output_path, path_argument};
use rung_base::Error;
use rung_files::Json;
use rung_files::safetensors::{self, Entry, Tensors};
use rung_lisp::hash_table::{HashTable, Test};
use rung_lisp::lisp::Lisp;
use rung_lisp::native::{Native, native};
use rung_lisp::object::Object;
use rung_lisp::{Outcome, Value, value};
use std::path::Path;

pub const FUNCTIONS: &[Native] = &[
    native(
        "safetensors:read",
        "path &key only element-type",
        "Reads the tensors of a safetensors file, or of a model by its index \
         (model.safetensors.index.json). ONLY is a function of a name: tensors for which it is \
         false are not read. ELEMENT-TYPE converts each. I8, I16 and U16 become (signed-byte 32), \
         U32 and U64 (signed-byte 64), all exactly; other types are refused by name.\n\
         Result: an equal hash table from name to array, in the file's order.\n\
         Example: (safetensors:read \"model.safetensors\" :element-type 'single-float)",
        read,
    ),
    native(
        "safetensors:header",
        "path",
        "The JSON header of a safetensors file (or the index of a model) as it stands: objects \
         are equal hash tables, arrays vectors, null :null, false :false. The texts that were \
         kept beside the tensors are under \"__metadata__\".\n\
         Result: an equal hash table.\n\
         Example: (gethash \"__metadata__\" (safetensors:header \"model.safetensors\"))",
        header,
    ),
    native(
        "safetensors:entries",
        "path",
        "What is in a safetensors file or model, without reading a tensor: for each its name, its \
         type as the file names it, its shape, and the bytes from the file's start between which \
         it lies; for a model also the file.\n\
         Result: a list of (name type shape (start end)), or (name type shape (start end) file).\n\
         Example: (safetensors:entries \"model.safetensors\")",
        entries,
    ),
    native(
        "safetensors:write",
        "table path &key metadata",
        "Writes the arrays of a hash table from names to arrays as a safetensors file, whole or \
         not at all. METADATA is a hash table from strings to strings.\n\
         Result: the path.\n\
         Example: (safetensors:write table \"model.safetensors\")",
        write,
    ),
];

fn named(error: Error) -> Error {
    error.in_package("safetensors")
}

fn open(operator: &str, path: &Value) -> Outcome<Tensors> {
    let path = path_argument(operator, path)?;
    Ok(Tensors::open(Path::new(&path)).map_err(named)?)
}

fn read(lisp: &mut Lisp, arguments: &[Value]) -> Outcome {
    let [only, to] = keywords(lisp, &arguments[1..], ["ONLY", "ELEMENT-TYPE"])?;
    let to = to.map(|to| element_type(lisp, "safetensors", &to)).transpose()?;
    let tensors = open("safetensors:read", &arguments[0])?;
    let mut chosen: Vec<&Entry> = Vec::with_capacity(tensors.entries.len());
    for entry in &tensors.entries {
        let wanted = match &only {
            Some(only) => lisp.call(only, &[Value::string(&entry.name)])?.truth(),
            None => true,
        };
        if wanted {
            chosen.push(entry);
        }
    }
    let arrays = tensors.read(&chosen, to).map_err(named)?;
    Ok(table_of_arrays(chosen.iter().map(|entry| entry.name.clone()).zip(arrays)))
}

fn header(lisp: &mut Lisp, arguments: &[Value]) -> Outcome {
    let tensors = open("safetensors:header", &arguments[0])?;
    Ok(from_json(lisp, &tensors.header))
}

/// A JSON value as package `json` describes it. The depth is bounded by the reader's.
fn from_json(lisp: &mut Lisp, json: &Json) -> Value {
    match json {
        Json::Null => lisp.keyword("NULL"),
        Json::Truth(true) => value::T,
        Json::Truth(false) => lisp.keyword("FALSE"),
        Json::Whole(n) => Value::Fixnum(*n),
        Json::Real(x) => Value::Double(*x),
        Json::Text(text) => Value::string(text),
        Json::List(items) => {
            let items = items.iter().map(|item| from_json(lisp, item)).collect();
            Value::vector(items)
        }
        Json::Object(entries) => {
            let table = HashTable::new(Test::Equal);
            for (key, item) in entries {
                table.set(Value::string(key), from_json(lisp, item));
            }
            Value::object(Object::HashTable(table))
        }
    }
}

fn entries(_: &mut Lisp, arguments: &[Value]) -> Outcome {
    let tensors = open("safetensors:entries", &arguments[0])?;
    let is_model = tensors.files.len() > 1 || tensors.header.get("weight_map").is_some();
    let described = tensors.entries.iter().map(|entry| {
        let shape = value::list(entry.shape.iter().map(|&n| Value::size(n)));
        let place = [entry.begin, entry.end].map(|n| Value::Fixnum(n as i64));
        let mut parts = vec![
            Value::string(&entry.name),
            Value::string(&entry.type_name),
            shape,
            value::list(place),
        ];
        if is_model {
            let file = tensors.files[entry.file].display().to_string();
            parts.push(Value::object(Object::Pathname(file)));
        }
        value::list(parts)
    });
    Ok(value::list(described.collect::<Vec<_>>()))
}

fn write(lisp: &mut Lisp, arguments: &[Value]) -> Outcome {
    let operator = "safetensors:write";
    let arrays = named_arrays(lisp, operator, &arguments[0])?;
    let path = output_path(lisp, operator, &arguments[1])?;
    let [metadata] = keywords(lisp, &arguments[2..], ["METADATA"])?;
    let mut texts = Vec::new();
    if let Some(metadata) = &metadata {
        for (key, entry) in table(operator, metadata)?.entries() {
            texts.push((text(operator, &key)?, text(operator, &entry)?));
        }
    }
    safetensors::write(&arrays, &texts, Path::new(&path)).map_err(named)?;
    Ok(arguments[1].clone())
}
