//! Functions on two or more sequences: `replace`, `search`, `mismatch`, `map-into`.

use crate::condition::Outcome;
use crate::lisp::Lisp;
use crate::native::keywords;
use crate::symbol;
use crate::value::{NIL, Value};

use super::sequence_parts::{Comparer, Key, bounds, elements, length, store};
use super::sequences::each;
use super::{arrays, fill_pointers};

const TWO_RANGES: [symbol::Symbol; 7] = [
    symbol::KEY_START1,
    symbol::KEY_END1,
    symbol::KEY_START2,
    symbol::KEY_END2,
    symbol::KEY_TEST,
    symbol::KEY_KEY,
    symbol::KEY_FROM_END,
];

/// `replace`.
pub(super) fn replace(lisp: &mut Lisp, a: &[Value]) -> Outcome {
    let [start1, end1, start2, end2, ..] = keywords(lisp, &a[2..], TWO_RANGES)?;
    let count = length("replace", &a[0])?;
    let source = elements("replace", &a[1])?;
    let (start1, end1) = bounds("replace", start1.as_ref(), end1.as_ref(), count)?;
    let (start2, end2) = bounds("replace", start2.as_ref(), end2.as_ref(), source.len())?;
    let take = (end1 - start1).min(end2 - start2);
    store("replace", &a[0], start1, &source[start2..start2 + take])?;
    Ok(a[0].clone())
}

/// Two ranges and how to compare their elements.
struct Pair {
    a: Vec<Value>,
    b: Vec<Value>,
    starts: (usize, usize),
    comparer: Comparer,
    from_end: bool,
}

impl Pair {
    fn new(lisp: &mut Lisp, operator: &str, a: &[Value]) -> Outcome<Pair> {
        let [start1, end1, start2, end2, test, key, from_end] =
            keywords(lisp, &a[2..], TWO_RANGES)?;
        let key = Key::new(key.as_ref());
        let mut ranges = Vec::new();
        for (sequence, start, end) in [(&a[0], start1, end1), (&a[1], start2, end2)] {
            let all = elements(operator, sequence)?;
            let (start, end) = bounds(operator, start.as_ref(), end.as_ref(), all.len())?;
            let mut keyed = Vec::new();
            for element in &all[start..end] {
                keyed.push(key.of(lisp, element)?);
            }
            ranges.push((keyed, start));
        }
        let comparer = match test.filter(Value::truth) {
            None => Comparer::Eql,
            Some(test) => Comparer::new(lisp, &test)?,
        };
        let (b, start2) = ranges.pop().unwrap_or_default();
        let (a, start1) = ranges.pop().unwrap_or_default();
        let from_end = from_end.is_some_and(|value| value.truth());
        Ok(Pair { a, b, starts: (start1, start2), comparer, from_end })
    }
}

/// `search`.
pub(super) fn search(lisp: &mut Lisp, a: &[Value]) -> Outcome {
    let pair = Pair::new(lisp, "search", a)?;
    let Some(last) = pair.b.len().checked_sub(pair.a.len()) else { return Ok(NIL) };
    for step in 0..=last {
        lisp.poll()?;
        let at = if pair.from_end { last - step } else { step };
        let mut all = true;
        for (index, element) in pair.a.iter().enumerate() {
            if !pair.comparer.same(lisp, element, &pair.b[at + index])? {
                all = false;
                break;
            }
        }
        if all {
            return Ok(Value::size(at + pair.starts.1));
        }
    }
    Ok(NIL)
}

/// `mismatch`.
pub(super) fn mismatch(lisp: &mut Lisp, a: &[Value]) -> Outcome {
    let mut pair = Pair::new(lisp, "mismatch", a)?;
    let count = pair.a.len();
    if pair.from_end {
        pair.a.reverse();
        pair.b.reverse();
    }
    let least = count.min(pair.b.len());
    for index in 0..=least {
        let differs = if index < least {
            !pair.comparer.same(lisp, &pair.a[index], &pair.b[index])?
        } else {
            count != pair.b.len()
        };
        if differs {
            let at = if pair.from_end { count - index } else { index };
            return Ok(Value::size(at + pair.starts.0));
        }
    }
    Ok(NIL)
}

/// `(map-into result function sequence...)`.
pub(super) fn map_into(lisp: &mut Lisp, a: &[Value]) -> Outcome {
    // A fill pointer is set to how many results there are, and does not bound them.
    let pointer = fill_pointers::fill_pointer_of(&a[0]);
    if pointer.is_some() {
        let room = arrays::dimensions("map-into", &a[0])?.iter().product();
        fill_pointers::set_fill_pointer("map-into", &a[0], room)?;
    }
    let count = length("map-into", &a[0])?;
    let mut results = Vec::new();
    if a.len() == 2 {
        for _ in 0..count {
            results.push(lisp.call(&a[1], &[])?);
        }
    } else {
        each(lisp, "map-into", &a[1..], &mut |value| {
            results.push(value.clone());
            (results.len() >= count).then_some(NIL)
        })?;
    }
    results.truncate(count);
    store("map-into", &a[0], 0, &results)?;
    if pointer.is_some() {
        fill_pointers::set_fill_pointer("map-into", &a[0], results.len())?;
    }
    Ok(a[0].clone())
}
