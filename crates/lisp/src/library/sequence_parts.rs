//! What the functions on sequences and lists share: elements of any sequence, making one of
//! the same kind, bounds, and the test-and-key arguments.

use crate::code::Function;
use crate::condition::{Condition, Escape, Outcome};
use crate::equality;
use crate::heap::{Ref, Stop, along};
use crate::library::arrays;
use crate::lisp::Lisp;
use crate::native::keywords;
use crate::object::{GeneralArray, Object, Text};
use crate::symbol::{self, Symbol};
use crate::value::{Value, list};

/// The elements of a proper list; an error for anything else. Longer than memory allows for a
/// circular list, so those are found by counting.
pub fn list_elements(operator: &str, list: &Value) -> Outcome<Vec<Value>> {
    let mut elements = Vec::new();
    let mut walk = list.elements();
    let mut tortoise = list.clone();
    while let Some(element) = walk.next() {
        elements.push(element);
        if elements.len() % 2 == 0 {
            tortoise = tortoise.as_cons().map(|pair| pair.cdr()).unwrap_or_default();
            let met = match (walk.rest(), &tortoise) {
                (Value::Cons(a), Value::Cons(b)) => Ref::same(a, b),
                _ => false,
            };
            if met {
                return Err(Escape::of(
                    symbol::TYPE_ERROR,
                    format!("{operator}: expected a proper list: got a circular one"),
                ));
            }
        }
    }
    if walk.rest().is_nil() {
        return Ok(elements);
    }
    let whole = elements.is_empty();
    let got = if whole { list.clone() } else { walk.rest().clone() };
    let wanted = if whole { "a list" } else { "a proper list" };
    Err(Escape::unexpected(operator, wanted, Value::symbol(symbol::LIST), &got))
}

/// The elements of any sequence.
pub fn elements(operator: &str, sequence: &Value) -> Outcome<Vec<Value>> {
    match sequence {
        Value::Nil => Ok(Vec::new()),
        Value::Cons(_) => list_elements(operator, sequence),
        Value::String(text) => {
            let length = text.len();
            super::memory::room(operator, length, size_of::<Value>())?;
            Ok(text.read(|all| all.iter().take(length).map(|c| Value::Char(*c)).collect()))
        }
        Value::Object(object) => match &**object {
            Object::Array(array) if array.rank() == 1 => Ok(array.active()),
            Object::Packed(array) if array.rank() == 1 => {
                let array = array.read()?;
                // A packed element may take one byte, a value takes 16.
                super::memory::room(operator, array.size(), size_of::<Value>())?;
                let number = |n| arrays::number_value(n, array.element_type());
                Ok(array.numbers().map(number).collect())
            }
            Object::Foreign(_) => super::foreign_arrays::elements(operator, sequence),
            _ => Err(Escape::wrong_type(operator, symbol::SEQUENCE, sequence)),
        },
        _ => Err(Escape::wrong_type(operator, symbol::SEQUENCE, sequence)),
    }
}

/// The length of any sequence.
pub fn length(operator: &str, sequence: &Value) -> Outcome<usize> {
    match sequence {
        Value::String(text) => Ok(text.len()),
        Value::Object(object) => match &**object {
            Object::Array(array) if array.rank() == 1 => Ok(array.len()),
            Object::Packed(array) if array.rank() == 1 => Ok(array.size()),
            Object::Foreign(_) => super::foreign_arrays::length(operator, sequence),
            _ => Err(Escape::wrong_type(operator, symbol::SEQUENCE, sequence)),
        },
        Value::Nil => Ok(0),
        Value::Cons(_) => match along(sequence, usize::MAX) {
            Stop::End(Value::Nil, count) => Ok(count),
            // Very long, circular or not proper.
            _ => Ok(list_elements(operator, sequence)?.len()),
        },
        _ => Err(Escape::wrong_type(operator, symbol::SEQUENCE, sequence)),
    }
}

/// The elements of a sequence from a position to another, of which no others are copied.
pub fn part(operator: &str, sequence: &Value, start: &Value, end: Option<&Value>) -> Outcome {
    match sequence {
        Value::String(text) => {
            let (start, end) = bounds(operator, Some(start), end, text.len())?;
            let characters = text.read(|all| all[start..end].to_vec());
            Ok(Value::String(Ref::new(Text::from(characters))))
        }
        Value::Object(object) => match &**object {
            Object::Array(array) if array.rank() == 1 => {
                let (start, end) = bounds(operator, Some(start), end, array.len())?;
                Ok(Value::vector(array.read(|all| all[start..end].to_vec())))
            }
            _ => {
                let (start, end) = bounds(operator, Some(start), end, length(operator, sequence)?)?;
                super::memory::room(operator, end - start, size_of::<Value>())?;
                let element = |at| arrays::aref(sequence, &Value::size(at));
                like(sequence, (start..end).map(element).collect::<Outcome<_>>()?)
            }
        },
        _ => {
            let all = elements(operator, sequence)?;
            let (start, end) = bounds(operator, Some(start), end, all.len())?;
            like(sequence, all[start..end].to_vec())
        }
    }
}

/// A new sequence of the kind of `model`.
pub fn like(model: &Value, elements: Vec<Value>) -> Outcome {
    match model {
        Value::String(_) => Ok(string_of(&elements).unwrap_or_else(|| Value::vector(elements))),
        Value::Object(object) => match &**object {
            Object::Packed(array) => {
                let element_type = array.element_type();
                arrays::packed_vector(element_type, &elements)
            }
            Object::Foreign(_) => super::foreign_arrays::like(model, elements),
            _ => Ok(Value::vector(elements)),
        },
        _ => Ok(list(elements)),
    }
}

/// A string, if all elements are characters.
pub fn string_of(elements: &[Value]) -> Option<Value> {
    let characters = elements.iter().map(|element| match element {
        Value::Char(c) => Some(*c),
        _ => None,
    });
    let characters = characters.collect::<Option<Vec<char>>>()?;
    Some(Value::String(Ref::new(Text::from(characters))))
}

/// Puts elements back into a sequence from a position on.
pub fn store(operator: &str, sequence: &Value, start: usize, new: &[Value]) -> Outcome<()> {
    match sequence {
        Value::Nil => Ok(()),
        Value::Cons(_) => {
            let mut rest = sequence.clone();
            for _ in 0..start {
                rest = rest.as_cons().map(|pair| pair.cdr()).unwrap_or_default();
            }
            for element in new {
                let Value::Cons(pair) = &rest else { break };
                pair.set_car(element.clone());
                let next = pair.cdr();
                rest = next;
            }
            Ok(())
        }
        Value::String(text) => {
            let mut characters = Vec::with_capacity(new.len());
            for element in new {
                let Value::Char(c) = element else {
                    return Err(Escape::wrong_type(operator, symbol::CHARACTER, element));
                };
                characters.push(*c);
            }
            text.write(|all| all[start..start + characters.len()].copy_from_slice(&characters));
            Ok(())
        }
        _ => {
            if let Some(array) = sequence.as_array() {
                store_general(array, start, new);
                return Ok(());
            }
            for (index, element) in new.iter().enumerate() {
                arrays::set_aref(sequence, &Value::size(start + index), element.clone())?;
            }
            Ok(())
        }
    }
}

fn store_general(array: &GeneralArray, start: usize, new: &[Value]) {
    for (index, element) in new.iter().enumerate() {
        drop(array.put(start + index, element.clone()));
    }
}

/// `:start` and `:end`, checked against a length.
pub fn bounds(
    operator: &str,
    start: Option<&Value>,
    end: Option<&Value>,
    length: usize,
) -> Outcome<(usize, usize)> {
    let index = |value: Option<&Value>, default: usize| match value {
        None | Some(Value::Nil) => Ok(default),
        Some(value) => {
            let wrong = || Escape::wrong_type(operator, symbol::UNSIGNED_BYTE, value);
            value.as_index().ok_or_else(wrong)
        }
    };
    let (start, end) = (index(start, 0)?, index(end, length)?);
    if start > end || end > length {
        let text = format!(
            "{operator}: the bounds {start} and {end} do not fit a sequence of length {length}"
        );
        return Err(Condition::new(symbol::INDEX_ERROR, text).into());
    }
    Ok((start, end))
}

/// A comparison that needs no call where the function is a well-known one.
#[derive(Clone)]
pub enum Comparer {
    /// `eq`, `eql`.
    Eql,
    /// `equal`
    Equal,
    /// `equalp`
    Equalp,
    /// Any other function of two arguments.
    Call(Value),
}

impl Comparer {
    /// What a function designator compares with.
    pub fn new(lisp: &mut Lisp, designator: &Value) -> Outcome<Comparer> {
        let function = lisp.function_of(designator)?;
        if let Function::Native(native) = &*function {
            match native.name {
                symbol::EQ | symbol::EQL => return Ok(Comparer::Eql),
                symbol::EQUAL => return Ok(Comparer::Equal),
                symbol::EQUALP => return Ok(Comparer::Equalp),
                _ => {}
            }
        }
        Ok(Comparer::Call(Value::Function(function)))
    }

    /// Whether two values are the same.
    pub fn same(&self, lisp: &mut Lisp, a: &Value, b: &Value) -> Outcome<bool> {
        match self {
            Comparer::Eql => Ok(a.eql(b)),
            Comparer::Equal => Ok(equality::equal(a, b)),
            Comparer::Equalp => Ok(equality::equalp(a, b)),
            Comparer::Call(function) => Ok(lisp.call(function, &[a.clone(), b.clone()])?.truth()),
        }
    }
}

/// A `:key` function, or none.
#[derive(Clone)]
pub struct Key(Option<Value>);

impl Key {
    /// From the argument of `:key`.
    pub fn new(argument: Option<&Value>) -> Key {
        Key(argument.filter(|value| value.truth()).cloned())
    }

    /// What counts of an element.
    pub fn of(&self, lisp: &mut Lisp, element: &Value) -> Outcome {
        match &self.0 {
            None => Ok(element.clone()),
            Some(function) => lisp.call(function, std::slice::from_ref(element)),
        }
    }
}

/// Which elements are meant: those that match an item, or a predicate.
pub struct Matcher {
    item: Option<Value>,
    comparer: Comparer,
    negate: bool,
    key: Key,
}

/// Which of the three forms of `find`, `position`, ... is called.
#[derive(Clone, Copy, PartialEq)]
pub enum Form {
    /// An item and `:test`.
    Item,
    /// `-if`
    If,
    /// `-if-not`
    IfNot,
}

/// The arguments that functions like `find` have in common.
pub struct Selection {
    /// Which elements are meant.
    pub matcher: Matcher,
    /// The first position looked at.
    pub start: Option<Value>,
    /// One after the last position looked at.
    pub end: Option<Value>,
    /// `:from-end`
    pub from_end: bool,
    /// `:count`
    pub count: Option<usize>,
}

const SELECTION: [Symbol; 7] = [
    symbol::KEY_TEST,
    symbol::KEY_TEST_NOT,
    symbol::KEY_KEY,
    symbol::KEY_START,
    symbol::KEY_END,
    symbol::KEY_FROM_END,
    symbol::KEY_COUNT,
];

impl Selection {
    /// From the item or predicate and the keyword arguments.
    pub fn new(
        lisp: &mut Lisp,
        form: Form,
        what: &Value,
        arguments: &[Value],
    ) -> Outcome<Selection> {
        let [test, test_not, key, start, end, from_end, count] =
            keywords(lisp, arguments, SELECTION)?;
        let matcher = Matcher::new(lisp, form, what, test.as_ref(), test_not.as_ref(), key)?;
        let count = match count.filter(Value::truth) {
            None => None,
            Some(Value::Fixnum(n)) => Some(usize::try_from(n).unwrap_or(0)),
            Some(other) => return Err(Escape::wrong_type(":count", symbol::INTEGER, &other)),
        };
        let from_end = from_end.is_some_and(|value| value.truth());
        Ok(Selection { matcher, start, end, from_end, count })
    }

    /// The item of a `Matcher::plain_item`, if all elements are looked at from the first on.
    pub fn plain_item(&self) -> Option<&Value> {
        let whole = self.start.is_none() && self.end.is_none() && self.count.is_none();
        self.matcher.plain_item().filter(|_| whole && !self.from_end)
    }

    /// The first element meant and its position; of a vector no more is looked at than is needed.
    pub fn first(
        &self,
        lisp: &mut Lisp,
        operator: &str,
        sequence: &Value,
    ) -> Outcome<Option<(Value, usize)>> {
        if sequence.is_list() {
            let all = elements(operator, sequence)?;
            let found = self.positions(lisp, operator, &all, Some(1))?;
            return Ok(found.first().map(|at| (all[*at].clone(), *at)));
        }
        let length = length(operator, sequence)?;
        let (start, end) = bounds(operator, self.start.as_ref(), self.end.as_ref(), length)?;
        for step in 0..end - start {
            let position = if self.from_end { end - 1 - step } else { start + step };
            let element = arrays::aref(sequence, &Value::size(position))?;
            if self.matcher.matches(lisp, &element)? {
                return Ok(Some((element, position)));
            }
        }
        Ok(None)
    }

    /// The positions of the elements meant, in ascending order, `:count` applied.
    pub fn positions(
        &self,
        lisp: &mut Lisp,
        operator: &str,
        elements: &[Value],
        most: Option<usize>,
    ) -> Outcome<Vec<usize>> {
        let (start, end) =
            bounds(operator, self.start.as_ref(), self.end.as_ref(), elements.len())?;
        let most = most.or(self.count).unwrap_or(usize::MAX);
        let mut found = Vec::new();
        for step in 0..end - start {
            if found.len() >= most {
                break;
            }
            let position = if self.from_end { end - 1 - step } else { start + step };
            if self.matcher.matches(lisp, &elements[position])? {
                found.push(position);
            }
        }
        if self.from_end {
            found.reverse();
        }
        Ok(found)
    }
}

impl Matcher {
    /// A matcher from an item or predicate and `:test`, `:test-not`, `:key`.
    pub fn new(
        lisp: &mut Lisp,
        form: Form,
        what: &Value,
        test: Option<&Value>,
        test_not: Option<&Value>,
        key: Option<Value>,
    ) -> Outcome<Matcher> {
        let key = Key::new(key.as_ref());
        if form != Form::Item {
            let comparer = Comparer::Call(Value::Function(lisp.function_of(what)?));
            return Ok(Matcher { item: None, comparer, negate: form == Form::IfNot, key });
        }
        let given = test.or(test_not).filter(|value| value.truth());
        let comparer = match given {
            None => Comparer::Eql,
            Some(designator) => Comparer::new(lisp, designator)?,
        };
        let negate = test.is_none() && test_not.is_some_and(Value::truth);
        Ok(Matcher { item: Some(what.clone()), comparer, negate, key })
    }

    /// The item, if an element is meant when it is `eql` to that and nothing else counts.
    pub fn plain_item(&self) -> Option<&Value> {
        let plain = matches!(self.comparer, Comparer::Eql) && !self.negate && self.key.0.is_none();
        self.item.as_ref().filter(|_| plain)
    }

    /// Whether an element is meant.
    pub fn matches(&self, lisp: &mut Lisp, element: &Value) -> Outcome<bool> {
        let element = self.key.of(lisp, element)?;
        let found = match (&self.item, &self.comparer) {
            (Some(item), comparer) => comparer.same(lisp, item, &element)?,
            (None, Comparer::Call(function)) => lisp.call(function, &[element])?.truth(),
            (None, _) => false,
        };
        Ok(found != self.negate)
    }
}
