//! Chapter 16 of the standard: what is for strings alone. `length`, `subseq`, `search` and the
//! other sequence functions take strings too and are in `library::sequences`.
//!
//! A string designator is a string, a symbol (its name) or a character.

use std::cmp::Ordering;

use crate::condition::{Escape, Outcome};
use crate::heap::Ref;
use crate::library::characters::{character, downcase, fold, upcase};
use crate::lisp::Lisp;
use crate::native::{Native, keywords, native};
use crate::object::{Object, Text};
use crate::symbol;
use crate::value::Value;

macro_rules! comparison {
    ($name:literal, $documentation:literal, $folded:literal, $holds:expr) => {
        native(
            $name,
            "string1 string2 &key start1 end1 start2 end2",
            $documentation,
            |lisp, arguments| compare(lisp, $name, arguments, $folded, $holds),
        )
    };
}

macro_rules! casing {
    ($name:literal, $documentation:literal, $map:expr) => {
        native($name, "string &key start end", $documentation, |lisp, arguments| {
            let text = designator(lisp, $name, &arguments[0])?;
            let (start, end) = bounds(lisp, $name, &arguments[1..], text.len())?;
            let mut text = text;
            let map: fn(&mut [char]) = $map;
            map(&mut text[start..end]);
            Ok(new_string(text))
        })
    };
}

macro_rules! casing_in_place {
    ($name:literal, $documentation:literal, $map:expr) => {
        native($name, "string &key start end", $documentation, |lisp, arguments| {
            let text = string($name, &arguments[0])?;
            let (start, end) = bounds(lisp, $name, &arguments[1..], text.len())?;
            let map: fn(&mut [char]) = $map;
            text.write(|all| map(&mut all[start..end]));
            Ok(arguments[0].clone())
        })
    };
}

/// Chapter 16 of the standard.
pub static STRINGS: &[Native] = &[
    comparison!("string=", "Whether the strings are the same.", false, Wanted::Equal),
    comparison!("string/=", "Index of the first difference, or nil.", false, Wanted::Different),
    comparison!("string<", "Index of the first difference if less.", false, Wanted::Less),
    comparison!("string>", "Index of the first difference if greater.", false, Wanted::Greater),
    comparison!("string<=", "Index of the first difference if not greater.", false, Wanted::Most),
    comparison!("string>=", "Index of the first difference if not less.", false, Wanted::Least),
    comparison!("string-equal", "As string=, case apart.", true, Wanted::Equal),
    comparison!("string-not-equal", "As string/=, case apart.", true, Wanted::Different),
    comparison!("string-lessp", "As string<, case apart.", true, Wanted::Less),
    comparison!("string-greaterp", "As string>, case apart.", true, Wanted::Greater),
    comparison!("string-not-greaterp", "As string<=, case apart.", true, Wanted::Most),
    comparison!("string-not-lessp", "As string>=, case apart.", true, Wanted::Least),
    casing!("string-upcase", "The string in upper case.", map_upcase),
    casing!("string-downcase", "The string in lower case.", map_downcase),
    casing!("string-capitalize", "The string with each word capitalised.", capitalize),
    casing_in_place!("nstring-upcase", "Puts the string into upper case.", map_upcase),
    casing_in_place!("nstring-downcase", "Puts the string into lower case.", map_downcase),
    casing_in_place!("nstring-capitalize", "Capitalises each word in place.", capitalize),
    native("string", "designator", "The string that a designator names.", |lisp, arguments| {
        match &arguments[0] {
            Value::String(_) => Ok(arguments[0].clone()),
            other => Ok(new_string(designator(lisp, "string", other)?)),
        }
    }),
    native("stringp", "object", "Whether the object is a string.", |_, arguments| {
        Ok(Value::boolean(arguments[0].as_text().is_some()))
    }),
    native("simple-string-p", "object", "Whether it is a simple string.", |_, arguments| {
        Ok(Value::boolean(arguments[0].as_text().is_some_and(|text| text.is_simple())))
    }),
    native("char", "string index", "The character at the index.", |_, arguments| {
        read_character("char", arguments)
    }),
    native("schar", "string index", "The character at the index.", |_, arguments| {
        read_character("schar", arguments)
    }),
    native("(setf char)", "new string index", "Sets the character.", |_, arguments| {
        write_character("char", arguments)
    }),
    native("(setf schar)", "new string index", "Sets the character.", |_, arguments| {
        write_character("schar", arguments)
    }),
    native(
        "make-string",
        "size &key initial-element element-type",
        "A string of that many characters.",
        make_string,
    ),
    native("string-trim", "bag string", "Without the bag's characters at both ends.", |l, a| {
        trim(l, "string-trim", a, true, true)
    }),
    native("string-left-trim", "bag string", "Without the bag's characters in front.", |l, a| {
        trim(l, "string-left-trim", a, true, false)
    }),
    native("string-right-trim", "bag string", "Without the bag's characters behind.", |l, a| {
        trim(l, "string-right-trim", a, false, true)
    }),
];

/// The string that an argument is, or a `type-error`.
pub(crate) fn string<'a>(operator: &str, value: &'a Value) -> Outcome<&'a Ref<Text>> {
    value.as_text().ok_or_else(|| Escape::wrong_type(operator, symbol::STRING, value))
}

/// The characters that a string designator names.
pub(crate) fn designator(lisp: &Lisp, operator: &str, value: &Value) -> Outcome<Vec<char>> {
    match value {
        Value::String(text) => Ok(text.active()),
        Value::Char(character) => Ok(vec![*character]),
        other => match other.as_symbol() {
            Some(symbol) => Ok(lisp.name(symbol).chars().collect()),
            None => Err(Escape::wrong_type(operator, symbol::STRING, value)),
        },
    }
}

fn new_string(characters: Vec<char>) -> Value {
    Value::String(Ref::new(Text::from(characters)))
}

/// A start and an end within a length, nil and nothing meaning the whole.
pub(crate) fn range(
    operator: &str,
    start: Option<Value>,
    end: Option<Value>,
    length: usize,
) -> Outcome<(usize, usize)> {
    let bound = |value: Option<Value>, otherwise: usize, least: usize| match value {
        None | Some(Value::Nil) => Ok(otherwise),
        Some(value) => match value.as_index() {
            Some(index) if (least..=length).contains(&index) => Ok(index),
            _ => Err(Escape::unexpected(
                operator,
                &format!("an index from {least} to {length}"),
                Value::symbol(symbol::UNSIGNED_BYTE),
                &value,
            )),
        },
    };
    let end = bound(end, length, 0)?;
    let start = bound(start, 0, 0)?;
    if start > end {
        let wanted = format!("a start up to the end {end}");
        let wanted_type = Value::symbol(symbol::UNSIGNED_BYTE);
        return Err(Escape::unexpected(operator, &wanted, wanted_type, &Value::size(start)));
    }
    Ok((start, end))
}

fn bounds(
    lisp: &Lisp,
    operator: &str,
    arguments: &[Value],
    length: usize,
) -> Outcome<(usize, usize)> {
    let [start, end] = keywords(lisp, arguments, [symbol::KEY_START, symbol::KEY_END])?;
    range(operator, start, end, length)
}

/// What a comparison asks.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Wanted {
    Equal,
    Different,
    Less,
    Greater,
    Most,
    Least,
}

impl Wanted {
    fn holds(self, order: Ordering) -> bool {
        match self {
            Wanted::Equal => order == Ordering::Equal,
            Wanted::Different => order != Ordering::Equal,
            Wanted::Less => order == Ordering::Less,
            Wanted::Greater => order == Ordering::Greater,
            Wanted::Most => order != Ordering::Greater,
            Wanted::Least => order != Ordering::Less,
        }
    }
}

fn compare(
    lisp: &mut Lisp,
    operator: &str,
    arguments: &[Value],
    folded: bool,
    wanted: Wanted,
) -> Outcome {
    let names = [symbol::KEY_START1, symbol::KEY_END1, symbol::KEY_START2, symbol::KEY_END2];
    let [start1, end1, start2, end2] = keywords(lisp, &arguments[2..], names)?;
    let a = designator(lisp, operator, &arguments[0])?;
    let b = designator(lisp, operator, &arguments[1])?;
    let (start1, end1) = range(operator, start1, end1, a.len())?;
    let (start2, end2) = range(operator, start2, end2, b.len())?;
    let (a, b) = (&a[start1..end1], &b[start2..end2]);
    let map = if folded { fold } else { |character| character };
    let same = a.iter().zip(b).take_while(|(x, y)| map(**x) == map(**y)).count();
    let order = match (a.get(same), b.get(same)) {
        (Some(x), Some(y)) => map(*x).cmp(&map(*y)),
        (x, y) => x.is_some().cmp(&y.is_some()),
    };
    Ok(match (wanted.holds(order), wanted) {
        (false, _) => Value::Nil,
        (true, Wanted::Equal) => Value::boolean(true),
        (true, _) => Value::size(start1 + same),
    })
}

pub(crate) fn map_upcase(text: &mut [char]) {
    text.iter_mut().for_each(|character| *character = upcase(*character));
}

pub(crate) fn map_downcase(text: &mut [char]) {
    text.iter_mut().for_each(|character| *character = downcase(*character));
}

/// A word is a run of letters and digits.
pub(crate) fn capitalize(text: &mut [char]) {
    let mut inside = false;
    for character in text {
        *character = if inside { downcase(*character) } else { upcase(*character) };
        inside = character.is_alphanumeric();
    }
}

fn position(operator: &str, text: &Text, index: &Value) -> Outcome<usize> {
    // `char` reaches beyond a fill pointer, as `aref` does.
    let length = text.room();
    match index.as_index() {
        Some(index) if index < length => Ok(index),
        _ => Err(Escape::unexpected(
            operator,
            &format!("an index below {length}"),
            Value::symbol(symbol::UNSIGNED_BYTE),
            index,
        )),
    }
}

fn read_character(operator: &str, arguments: &[Value]) -> Outcome {
    let text = string(operator, &arguments[0])?;
    let index = position(operator, text, &arguments[1])?;
    Ok(Value::Char(text.read(|all| all[index])))
}

fn write_character(operator: &str, arguments: &[Value]) -> Outcome {
    let new = character(operator, &arguments[0])?;
    let text = string(operator, &arguments[1])?;
    let index = position(operator, text, &arguments[2])?;
    text.write(|all| all[index] = new);
    Ok(arguments[0].clone())
}

fn make_string(lisp: &mut Lisp, arguments: &[Value]) -> Outcome {
    let names = [symbol::KEY_INITIAL_ELEMENT, symbol::KEY_ELEMENT_TYPE];
    let [element, _] = keywords(lisp, &arguments[1..], names)?;
    let fill = match element {
        Some(value) => character("make-string", &value)?,
        None => ' ',
    };
    match arguments[0].as_index() {
        Some(size) => {
            super::memory::room("make-string", size, size_of::<char>())?;
            Ok(new_string(vec![fill; size]))
        }
        _ => Err(Escape::wrong_type("make-string", symbol::UNSIGNED_BYTE, &arguments[0])),
    }
}

fn trim(lisp: &mut Lisp, operator: &str, arguments: &[Value], left: bool, right: bool) -> Outcome {
    let bag = bag(operator, &arguments[0])?;
    let text = designator(lisp, operator, &arguments[1])?;
    let outside = |character: &char| !bag.contains(character);
    let start = if left { text.iter().position(outside).unwrap_or(text.len()) } else { 0 };
    let end =
        if right { text.iter().rposition(outside).map_or(start, |at| at + 1) } else { text.len() };
    Ok(new_string(text[start..end.max(start)].to_vec()))
}

/// The characters of any sequence of characters.
fn bag(operator: &str, value: &Value) -> Outcome<Vec<char>> {
    match value {
        Value::String(text) => Ok(text.to_text().chars().collect()),
        Value::Object(object) => match &**object {
            Object::Array(array) if array.rank() == 1 => {
                let elements = array.active();
                elements.iter().map(|element| character(operator, element)).collect()
            }
            _ => Err(Escape::wrong_type(operator, symbol::SEQUENCE, value)),
        },
        list if list.is_list() => {
            list.elements().map(|element| character(operator, &element)).collect()
        }
        _ => Err(Escape::wrong_type(operator, symbol::SEQUENCE, value)),
    }
}
