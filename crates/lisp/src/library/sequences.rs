//! Sequences (chapter 17): finding, counting, removing, replacing, sorting, mapping.

use crate::condition::{Condition, Escape, Outcome};
use crate::heap::{Stop, along, find_eql};
use crate::lisp::Lisp;
use crate::native::{Native, keywords, native};
use crate::symbol;
use crate::value::{NIL, Value, list};

use super::arrays;
use super::memory::{PAIR, copies, room};
use super::sequence_pairs::{map_into, mismatch, replace, search};
use super::sequence_parts::{
    Form, Key, Selection, bounds, elements, length, like, list_elements, part, store, string_of,
};

macro_rules! three_forms {
    ($function:ident, $name:literal, $lambda:literal, $doc:literal) => {
        [
            native($name, $lambda, $doc, |lisp, a| $function(lisp, a, Form::Item)),
            native(concat!($name, "-if"), $lambda, $doc, |lisp, a| $function(lisp, a, Form::If)),
            native(concat!($name, "-if-not"), $lambda, $doc, |lisp, a| {
                $function(lisp, a, Form::IfNot)
            }),
        ]
    };
}

/// The functions that come in three forms.
pub static SELECTING: &[[Native; 3]] = &[
    three_forms!(
        find,
        "find",
        "what sequence &key from-end test test-not start end key",
        "The first element that matches, or nil."
    ),
    three_forms!(
        position,
        "position",
        "what sequence &key from-end test test-not start end key",
        "The position of the first element that matches, or nil."
    ),
    three_forms!(
        count,
        "count",
        "what sequence &key from-end test test-not start end key",
        "How many elements match."
    ),
    three_forms!(
        remove,
        "remove",
        "what sequence &key from-end test test-not start end count key",
        "The sequence without the elements that match."
    ),
    three_forms!(
        delete,
        "delete",
        "what sequence &key from-end test test-not start end count key",
        "As remove; may reuse the sequence."
    ),
    three_forms!(
        substitute,
        "substitute",
        "new what sequence &key from-end test test-not start end count key",
        "The sequence with another element for those that match."
    ),
    three_forms!(
        nsubstitute,
        "nsubstitute",
        "new what sequence &key from-end test test-not start end count key",
        "As substitute, in place."
    ),
];

/// The others.
pub static SEQUENCES: &[Native] = &[
    native("length", "sequence", "The number of elements.", |_, a| {
        Ok(Value::size(length("length", &a[0])?))
    }),
    native("elt", "sequence index", "The element at a position.", |_, a| elt(&a[0], &a[1])),
    native("rung::%set-elt", "sequence index value", "Replaces an element.", |_, a| {
        let count = length("elt", &a[0])?;
        let index = position_in("elt", &a[1], count)?;
        store("elt", &a[0], index, &a[2..])?;
        Ok(a[2].clone())
    }),
    native("subseq", "sequence start &optional end", "A part of a sequence.", |_, a| {
        part("subseq", &a[0], &a[1], a.get(2))
    }),
    native(
        "rung::%set-subseq",
        "sequence start &rest end-and-value",
        "Replaces a part of a sequence.",
        |_, a| {
            let value = &a[a.len() - 1];
            let count = length("subseq", &a[0])?;
            let end = (a.len() > 3).then(|| &a[2]);
            let (start, end) = bounds("subseq", Some(&a[1]), end, count)?;
            let new = elements("subseq", value)?;
            let take = new.len().min(end - start);
            store("subseq", &a[0], start, &new[..take])?;
            Ok(value.clone())
        },
    ),
    native("copy-seq", "sequence", "A copy.", |_, a| like(&a[0], elements("copy-seq", &a[0])?)),
    native("reverse", "sequence", "The elements in reverse order.", |_, a| {
        let mut all = elements("reverse", &a[0])?;
        all.reverse();
        like(&a[0], all)
    }),
    native("nreverse", "sequence", "Reverses in place.", nreverse),
    native("fill", "sequence item &key start end", "Sets elements to one value.", fill),
    native(
        "replace",
        "target source &key start1 end1 start2 end2",
        "Copies elements into a sequence.",
        replace,
    ),
    native(
        "search",
        "part whole &key from-end test key start1 end1 start2 end2",
        "Where a sequence occurs in another.",
        search,
    ),
    native(
        "mismatch",
        "a b &key from-end test key start1 end1 start2 end2",
        "Where two sequences first differ, or nil.",
        mismatch,
    ),
    native("concatenate", "type &rest sequences", "One sequence after another.", |lisp, a| {
        let mut all = Vec::new();
        for sequence in &a[1..] {
            let part = elements("concatenate", sequence)?;
            room("concatenate", all.len() + part.len(), size_of::<Value>())?;
            all.extend(part);
        }
        of_type(lisp, &a[0], all)
    }),
    native("map", "type function &rest sequences", "Applies a function to elements.", map),
    native(
        "map-into",
        "target function &rest sequences",
        "Applies a function and stores the results.",
        map_into,
    ),
    native(
        "reduce",
        "function sequence &key key from-end start end initial-value",
        "Combines the elements.",
        reduce,
    ),
    native("sort", "sequence predicate &key key", "Sorts in place; stable.", sort),
    native("stable-sort", "sequence predicate &key key", "Sorts in place.", sort),
    native("merge", "type a b predicate &key key", "Merges two sorted sequences.", |lisp, a| {
        let mut all = elements("merge", &a[1])?;
        all.extend(elements("merge", &a[2])?);
        let [key] = keywords(lisp, &a[4..], [symbol::KEY_KEY])?;
        let sorted = sorted(lisp, all, &a[3], &Key::new(key.as_ref()))?;
        of_type(lisp, &a[0], sorted)
    }),
    native(
        "remove-duplicates",
        "sequence &key from-end test test-not start end key",
        "The sequence without elements that occur again later.",
        remove_duplicates,
    ),
    native(
        "delete-duplicates",
        "sequence &key from-end test test-not start end key",
        "As remove-duplicates.",
        remove_duplicates,
    ),
    native("some", "predicate &rest sequences", "The first true result, or nil.", |lisp, a| {
        each(lisp, "some", a, &mut |value| value.truth().then_some(value.clone()))
            .map(Option::unwrap_or_default)
    }),
    native("every", "predicate &rest sequences", "Whether all results are true.", |lisp, a| {
        let stopped = each(lisp, "every", a, &mut |value| value.is_nil().then_some(NIL))?;
        Ok(Value::boolean(stopped.is_none()))
    }),
    native("notany", "predicate &rest sequences", "Whether no result is true.", |lisp, a| {
        let stopped = each(lisp, "notany", a, &mut |value| value.truth().then_some(NIL))?;
        Ok(Value::boolean(stopped.is_none()))
    }),
    native("notevery", "predicate &rest sequences", "Whether some result is nil.", |lisp, a| {
        let stopped = each(lisp, "notevery", a, &mut |value| value.is_nil().then_some(NIL))?;
        Ok(Value::boolean(stopped.is_some()))
    }),
    native(
        "make-sequence",
        "type size &key initial-element",
        "A sequence of equal elements.",
        |lisp, a| {
            let [initial] = keywords(lisp, &a[2..], [symbol::KEY_INITIAL_ELEMENT])?;
            let size = a[1].as_index();
            let wrong = || Escape::wrong_type("make-sequence", symbol::UNSIGNED_BYTE, &a[1]);
            let default = match initial {
                Some(_) => NIL,
                None => default_element(lisp, &a[0])?,
            };
            let size = size.ok_or_else(wrong)?;
            // The elements, and the sequence that is made of them.
            room("make-sequence", size, size_of::<Value>() + PAIR)?;
            of_type(lisp, &a[0], vec![initial.unwrap_or(default); size])
        },
    ),
];

/// What the elements of a new sequence of a type are.
fn default_element(lisp: &mut Lisp, specifier: &Value) -> Outcome {
    let specifier = super::types::expanded(lisp, specifier)?;
    let (head, element_type) = match &specifier {
        Value::Cons(pair) => (pair.car(), specifier.elements().nth(1)),
        name => (name.clone(), None),
    };
    let strings =
        [symbol::STRING, symbol::SIMPLE_STRING, symbol::BASE_STRING, symbol::SIMPLE_BASE_STRING];
    if strings.iter().any(|name| head.is_symbol(*name)) {
        return Ok(Value::Char(' '));
    }
    if head.is_symbol(symbol::BIT_VECTOR) || head.is_symbol(symbol::SIMPLE_BIT_VECTOR) {
        return Ok(Value::Fixnum(0));
    }
    Ok(match element_type.map(|kind| arrays::stored(lisp, &kind)).transpose()? {
        Some(arrays::Stored::Characters) => Value::Char(' '),
        Some(arrays::Stored::Packed(_)) => Value::Fixnum(0),
        _ => NIL,
    })
}

fn position_in(operator: &str, index: &Value, count: usize) -> Outcome<usize> {
    match index.as_index() {
        Some(index) if index < count => Ok(index),
        _ if index.as_fixnum().is_some() => {
            let text = format!(
                "{operator}: index {} is outside a sequence of length {count}",
                index.as_fixnum().unwrap_or(0)
            );
            Err(Condition::new(symbol::INDEX_ERROR, text)
                .with(symbol::KEY_DATUM, index.clone())
                .into())
        }
        _ => Err(Escape::wrong_type(operator, symbol::UNSIGNED_BYTE, index)),
    }
}

fn elt(sequence: &Value, index: &Value) -> Outcome {
    match sequence {
        Value::Cons(_) | Value::Nil => {
            if let Some(at) = index.as_index()
                && let Stop::More(Value::Cons(pair), count) = along(sequence, at)
                && count == at
            {
                return Ok(pair.car());
            }
            let all = list_elements("elt", sequence)?;
            let index = position_in("elt", index, all.len())?;
            Ok(all[index].clone())
        }
        _ => {
            position_in("elt", index, length("elt", sequence)?)?;
            arrays::aref(sequence, index)
        }
    }
}

/// A sequence of the type that a specifier names.
pub fn of_type(lisp: &mut Lisp, specifier: &Value, all: Vec<Value>) -> Outcome {
    let head = match specifier {
        Value::Cons(pair) => pair.car(),
        other => other.clone(),
    };
    match head.as_symbol() {
        Some(symbol::LIST | symbol::CONS | symbol::NULL | symbol::NIL) => Ok(list(all)),
        Some(
            symbol::STRING
            | symbol::SIMPLE_STRING
            | symbol::BASE_STRING
            | symbol::SIMPLE_BASE_STRING,
        ) => {
            let wrong = all.iter().find(|element| !matches!(element, Value::Char(_)));
            match (wrong, string_of(&all)) {
                (_, Some(text)) => Ok(text),
                (Some(element), _) => Err(Escape::wrong_type("string", symbol::CHARACTER, element)),
                (None, None) => Ok(Value::string("")),
            }
        }
        Some(symbol::VECTOR | symbol::SIMPLE_VECTOR | symbol::ARRAY | symbol::SIMPLE_ARRAY) => {
            let element_type = match specifier {
                Value::Cons(_) => specifier.elements().nth(1).unwrap_or(crate::value::T),
                _ => crate::value::T,
            };
            arrays::vector_of_type(lisp, &element_type, all)
        }
        Some(symbol::BIT_VECTOR | symbol::SIMPLE_BIT_VECTOR) => {
            arrays::vector_of_type(lisp, &Value::symbol(symbol::BIT), all)
        }
        _ => {
            let expanded = super::types::expanded(lisp, specifier)?;
            if !expanded.eql(specifier) {
                return of_type(lisp, &expanded, all);
            }
            let text = format!("{} is no sequence type", lisp.brief(specifier));
            Err(Escape::of(symbol::TYPE_ERROR, text))
        }
    }
}

/// The first `eql` element of a proper list and its position, without a copy of the list. `None`
/// where that is not what is asked, or the list is not proper.
fn find_in_list(selection: &Selection, list: &Value) -> Option<Option<(Value, usize)>> {
    let item = selection.plain_item()?;
    match find_eql(list, item) {
        Stop::Found(pair, at) => Some(Some((pair.car(), at))),
        Stop::End(Value::Nil, _) if list.is_list() => Some(None),
        _ => None,
    }
}

fn find(lisp: &mut Lisp, a: &[Value], form: Form) -> Outcome {
    let selection = Selection::new(lisp, form, &a[0], &a[2..])?;
    if let Some(found) = find_in_list(&selection, &a[1]) {
        return Ok(found.map(|found| found.0).unwrap_or_default());
    }
    let found = selection.first(lisp, "find", &a[1])?;
    Ok(found.map(|found| found.0).unwrap_or_default())
}

fn position(lisp: &mut Lisp, a: &[Value], form: Form) -> Outcome {
    let selection = Selection::new(lisp, form, &a[0], &a[2..])?;
    if let Some(found) = find_in_list(&selection, &a[1]) {
        return Ok(found.map(|found| Value::size(found.1)).unwrap_or_default());
    }
    let found = selection.first(lisp, "position", &a[1])?;
    Ok(found.map(|found| Value::size(found.1)).unwrap_or_default())
}

fn count(lisp: &mut Lisp, a: &[Value], form: Form) -> Outcome {
    let selection = Selection::new(lisp, form, &a[0], &a[2..])?;
    let all = elements("count", &a[1])?;
    Ok(Value::size(selection.positions(lisp, "count", &all, None)?.len()))
}

/// As `remove`; the pairs of a list that stay are joined in place.
fn delete(lisp: &mut Lisp, a: &[Value], form: Form) -> Outcome {
    if !a[1].is_list() {
        return remove(lisp, a, form);
    }
    let selection = Selection::new(lisp, form, &a[0], &a[2..])?;
    let all = elements("delete", &a[1])?;
    let found = selection.positions(lisp, "delete", &all, None)?;
    let mut gone = found.into_iter().peekable();
    let (mut first, mut last) = (NIL, None::<Value>);
    let mut rest = a[1].clone();
    let mut index = 0;
    while let Value::Cons(pair) = rest.clone() {
        rest = pair.cdr();
        if gone.next_if_eq(&index).is_none() {
            match last.as_ref().and_then(Value::as_cons) {
                Some(last) => last.set_cdr(Value::Cons(pair.clone())),
                None => first = Value::Cons(pair.clone()),
            }
            last = Some(Value::Cons(pair));
        }
        index += 1;
    }
    if let Some(last) = last.as_ref().and_then(Value::as_cons) {
        last.set_cdr(NIL);
    }
    Ok(first)
}

fn remove(lisp: &mut Lisp, a: &[Value], form: Form) -> Outcome {
    let selection = Selection::new(lisp, form, &a[0], &a[2..])?;
    let all = elements("remove", &a[1])?;
    let found = selection.positions(lisp, "remove", &all, None)?;
    if found.is_empty() {
        return Ok(a[1].clone());
    }
    let mut gone = found.into_iter().peekable();
    let mut kept = Vec::new();
    for (index, element) in all.into_iter().enumerate() {
        if gone.next_if_eq(&index).is_none() {
            kept.push(element);
        }
    }
    like(&a[1], kept)
}

fn substituted(lisp: &mut Lisp, a: &[Value], form: Form) -> Outcome<Vec<Value>> {
    let selection = Selection::new(lisp, form, &a[1], &a[3..])?;
    let mut all = elements("substitute", &a[2])?;
    for at in selection.positions(lisp, "substitute", &all, None)? {
        all[at] = a[0].clone();
    }
    Ok(all)
}

fn substitute(lisp: &mut Lisp, a: &[Value], form: Form) -> Outcome {
    let all = substituted(lisp, a, form)?;
    like(&a[2], all)
}

fn nsubstitute(lisp: &mut Lisp, a: &[Value], form: Form) -> Outcome {
    let all = substituted(lisp, a, form)?;
    store("nsubstitute", &a[2], 0, &all)?;
    Ok(a[2].clone())
}

fn nreverse(_: &mut Lisp, a: &[Value]) -> Outcome {
    if let Value::Cons(_) = &a[0] {
        let (mut done, mut rest) = (NIL, a[0].clone());
        while let Value::Cons(pair) = rest.clone() {
            rest = pair.cdr();
            pair.set_cdr(done);
            done = Value::Cons(pair);
        }
        return Ok(done);
    }
    let mut all = elements("nreverse", &a[0])?;
    all.reverse();
    store("nreverse", &a[0], 0, &all)?;
    Ok(a[0].clone())
}

fn fill(lisp: &mut Lisp, a: &[Value]) -> Outcome {
    let [start, end] = keywords(lisp, &a[2..], [symbol::KEY_START, symbol::KEY_END])?;
    let count = length("fill", &a[0])?;
    let (start, end) = bounds("fill", start.as_ref(), end.as_ref(), count)?;
    store("fill", &a[0], start, &copies("fill", a[1].clone(), end - start)?)?;
    Ok(a[0].clone())
}

/// Calls a function on the first elements, the second ones, ... and stops when `stop` says so.
pub(super) fn each(
    lisp: &mut Lisp,
    operator: &str,
    a: &[Value],
    stop: &mut dyn FnMut(&Value) -> Option<Value>,
) -> Outcome<Option<Value>> {
    let mut columns = Vec::new();
    for sequence in &a[1..] {
        columns.push(elements(operator, sequence)?);
    }
    let count = columns.iter().map(Vec::len).min().unwrap_or(0);
    let function = Value::Function(lisp.function_of(&a[0])?);
    for index in 0..count {
        let row = columns.iter().map(|column| column[index].clone()).collect::<Vec<_>>();
        let value = lisp.call(&function, &row)?;
        if let Some(result) = stop(&value) {
            return Ok(Some(result));
        }
    }
    Ok(None)
}

fn map(lisp: &mut Lisp, a: &[Value]) -> Outcome {
    let mut results = Vec::new();
    each(lisp, "map", &a[1..], &mut |value| {
        results.push(value.clone());
        None
    })?;
    if a[0].is_nil() { Ok(NIL) } else { of_type(lisp, &a[0], results) }
}

fn reduce(lisp: &mut Lisp, a: &[Value]) -> Outcome {
    let names = [
        symbol::KEY_KEY,
        symbol::KEY_FROM_END,
        symbol::KEY_START,
        symbol::KEY_END,
        symbol::KEY_INITIAL_VALUE,
    ];
    let [key, from_end, start, end, initial] = keywords(lisp, &a[2..], names)?;
    let all = elements("reduce", &a[1])?;
    let (start, end) = bounds("reduce", start.as_ref(), end.as_ref(), all.len())?;
    let from_end = from_end.is_some_and(|value| value.truth());
    let key = Key::new(key.as_ref());
    let function = Value::Function(lisp.function_of(&a[0])?);
    let mut part = all[start..end].to_vec();
    if from_end {
        part.reverse();
    }
    let mut result = initial;
    for element in part {
        let element = key.of(lisp, &element)?;
        result = Some(match result {
            None => element,
            Some(so_far) if from_end => lisp.call(&function, &[element, so_far])?,
            Some(so_far) => lisp.call(&function, &[so_far, element])?,
        });
    }
    match result {
        Some(result) => Ok(result),
        None => lisp.call(&function, &[]),
    }
}

/// Merge sort: stable, and calls the predicate in an order that does not depend on Rust's.
fn sorted(lisp: &mut Lisp, all: Vec<Value>, predicate: &Value, key: &Key) -> Outcome<Vec<Value>> {
    let mut keyed = Vec::with_capacity(all.len());
    for element in all {
        keyed.push((key.of(lisp, &element)?, element));
    }
    let predicate = Value::Function(lisp.function_of(predicate)?);
    let mut width = 1;
    while width < keyed.len() {
        let mut merged = Vec::with_capacity(keyed.len());
        for block in keyed.chunks(2 * width) {
            let (left, right) = block.split_at(width.min(block.len()));
            let (mut i, mut j) = (0, 0);
            while i < left.len() && j < right.len() {
                let arguments = [right[j].0.clone(), left[i].0.clone()];
                if lisp.call(&predicate, &arguments)?.truth() {
                    merged.push(right[j].clone());
                    j += 1;
                } else {
                    merged.push(left[i].clone());
                    i += 1;
                }
            }
            merged.extend_from_slice(&left[i..]);
            merged.extend_from_slice(&right[j..]);
        }
        keyed = merged;
        width *= 2;
    }
    Ok(keyed.into_iter().map(|(_, element)| element).collect())
}

fn sort(lisp: &mut Lisp, a: &[Value]) -> Outcome {
    let [key] = keywords(lisp, &a[2..], [symbol::KEY_KEY])?;
    let all = elements("sort", &a[0])?;
    let sorted = sorted(lisp, all, &a[1], &Key::new(key.as_ref()))?;
    store("sort", &a[0], 0, &sorted)?;
    Ok(a[0].clone())
}

fn remove_duplicates(lisp: &mut Lisp, a: &[Value]) -> Outcome {
    let names = [
        symbol::KEY_TEST,
        symbol::KEY_TEST_NOT,
        symbol::KEY_KEY,
        symbol::KEY_FROM_END,
        symbol::KEY_START,
        symbol::KEY_END,
    ];
    let [test, test_not, key, from_end, start, end] = keywords(lisp, &a[1..], names)?;
    let all = elements("remove-duplicates", &a[0])?;
    let (start, end) = bounds("remove-duplicates", start.as_ref(), end.as_ref(), all.len())?;
    let from_end = from_end.is_some_and(|value| value.truth());
    let negate = test.is_none() && test_not.is_some();
    let comparer = match test.or(test_not).filter(Value::truth) {
        None => super::sequence_parts::Comparer::Eql,
        Some(test) => super::sequence_parts::Comparer::new(lisp, &test)?,
    };
    let key = Key::new(key.as_ref());
    let mut keys = Vec::new();
    for element in &all {
        keys.push(key.of(lisp, element)?);
    }
    let mut kept = Vec::new();
    for (index, element) in all.iter().enumerate() {
        lisp.poll()?;
        let others = if from_end { start..index } else { index + 1..end };
        let mut again = false;
        if (start..end).contains(&index) {
            for other in others {
                let (first, second) = (other.min(index), other.max(index));
                if comparer.same(lisp, &keys[first], &keys[second])? != negate {
                    again = true;
                    break;
                }
            }
        }
        if !again {
            kept.push(element.clone());
        }
    }
    like(&a[0], kept)
}
