//! Conses and lists (chapter 14). The functions on sets, trees and association lists that need
//! no speed are in `lisp/lists.lisp`.

use crate::condition::{Escape, Outcome};
use crate::heap::{Ref, Stop, along, find_eql, find_key_eql};
use crate::lisp::Lisp;
use crate::native::{Native, keywords, native};
use crate::object::Cons;
use crate::symbol;
use crate::value::{NIL, Value, cons, list, list_with_tail};

use super::memory::{PAIR, room};
use super::sequence_parts::{Form, Matcher, list_elements};

fn car(value: &Value) -> Outcome {
    half("car", value, true)
}

fn cdr(value: &Value) -> Outcome {
    half("cdr", value, false)
}

fn half(operator: &str, value: &Value, first: bool) -> Outcome {
    match value {
        Value::Cons(pair) => Ok(if first { pair.car() } else { pair.cdr() }),
        Value::Nil => Ok(NIL),
        _ => Err(Escape::wrong_type(operator, symbol::LIST, value)),
    }
}

/// Takes cars and cdrs as the letters say, the last first: `cadr` is "ad".
fn path(operator: &str, letters: &str, value: &Value) -> Outcome {
    let mut value = value.clone();
    for letter in letters.chars().rev() {
        value = half(operator, &value, letter == 'a')?;
    }
    Ok(value)
}

macro_rules! paths {
    ($($name:literal $letters:literal)*) => {
        /// `caar` to `cddddr`, and `second` to `tenth`.
        pub static PATHS: &[Native] = &[$(
            native($name, "list", "A part of a list, by cars and cdrs.", |_, a| {
                path($name, $letters, &a[0])
            }),
        )*];
    };
}

paths! {
    "caar" "aa" "cadr" "ad" "cdar" "da" "cddr" "dd"
    "caaar" "aaa" "caadr" "aad" "cadar" "ada" "caddr" "add"
    "cdaar" "daa" "cdadr" "dad" "cddar" "dda" "cdddr" "ddd"
    "caaaar" "aaaa" "caaadr" "aaad" "caadar" "aada" "caaddr" "aadd"
    "cadaar" "adaa" "cadadr" "adad" "caddar" "adda" "cadddr" "addd"
    "cdaaar" "daaa" "cdaadr" "daad" "cdadar" "dada" "cdaddr" "dadd"
    "cddaar" "ddaa" "cddadr" "ddad" "cdddar" "ddda" "cddddr" "dddd"
    "second" "ad" "third" "add" "fourth" "addd" "fifth" "adddd" "sixth" "addddd"
    "seventh" "adddddd" "eighth" "addddddd" "ninth" "adddddddd" "tenth" "addddddddd"
}

/// `member`, `assoc`, `rassoc` in three forms.
pub static SEARCHES: &[[Native; 3]] = &[
    [
        native(
            "member",
            "item list &key test test-not key",
            "The list from the element on.",
            |l, a| member(l, a, Form::Item),
        ),
        native("member-if", "predicate list &key key", "The list from the element on.", |l, a| {
            member(l, a, Form::If)
        }),
        native(
            "member-if-not",
            "predicate list &key key",
            "The list from the element on.",
            |l, a| member(l, a, Form::IfNot),
        ),
    ],
    [
        native("assoc", "item alist &key test test-not key", "The pair with that car.", |l, a| {
            associated(l, a, Form::Item, true)
        }),
        native("assoc-if", "predicate alist &key key", "The pair with such a car.", |l, a| {
            associated(l, a, Form::If, true)
        }),
        native("assoc-if-not", "predicate alist &key key", "The pair with such a car.", |l, a| {
            associated(l, a, Form::IfNot, true)
        }),
    ],
    [
        native("rassoc", "item alist &key test test-not key", "The pair with that cdr.", |l, a| {
            associated(l, a, Form::Item, false)
        }),
        native("rassoc-if", "predicate alist &key key", "The pair with such a cdr.", |l, a| {
            associated(l, a, Form::If, false)
        }),
        native("rassoc-if-not", "predicate alist &key key", "The pair with such a cdr.", |l, a| {
            associated(l, a, Form::IfNot, false)
        }),
    ],
];

/// The others.
pub static LISTS: &[Native] = &[
    native("car", "list", "The first element.", |_, a| car(&a[0])),
    native("cdr", "list", "The list without its first element.", |_, a| cdr(&a[0])),
    native("first", "list", "The first element.", |_, a| half("first", &a[0], true)),
    native("rest", "list", "The list without its first element.", |_, a| {
        half("rest", &a[0], false)
    }),
    native("cons", "car cdr", "A new pair.", |_, a| Ok(cons(a[0].clone(), a[1].clone()))),
    native("list", "&rest elements", "A new list.", |_, a| Ok(list(a.to_vec()))),
    native("list*", "first &rest others", "A list that ends in its last argument.", |_, a| {
        let (last, first) = (&a[a.len() - 1], &a[..a.len() - 1]);
        Ok(list_with_tail(first.to_vec(), last.clone()))
    }),
    native("consp", "object", "Whether it is a pair.", |_, a| {
        Ok(Value::boolean(a[0].as_cons().is_some()))
    }),
    native("atom", "object", "Whether it is no pair.", |_, a| {
        Ok(Value::boolean(a[0].as_cons().is_none()))
    }),
    native("listp", "object", "Whether it is a pair or nil.", |_, a| {
        Ok(Value::boolean(a[0].is_list()))
    }),
    native("null", "object", "Whether it is nil.", |_, a| Ok(Value::boolean(a[0].is_nil()))),
    native("endp", "list", "Whether the list is at its end.", |_, a| match &a[0] {
        Value::Nil => Ok(crate::value::T),
        Value::Cons(_) => Ok(NIL),
        other => Err(Escape::wrong_type("endp", symbol::LIST, other)),
    }),
    native("rplaca", "pair value", "Replaces the car.", |_, a| {
        set_half("rplaca", &a[0], a[1].clone(), true)?;
        Ok(a[0].clone())
    }),
    native("rplacd", "pair value", "Replaces the cdr.", |_, a| {
        set_half("rplacd", &a[0], a[1].clone(), false)?;
        Ok(a[0].clone())
    }),
    native(
        "rung::%not-a-list",
        "name end",
        "The error of a list that ends like this.",
        |lisp, a| match &a[1] {
            Value::Nil => Ok(NIL),
            end => Err(Escape::wrong_type(&lisp.brief(&a[0]).to_lowercase(), symbol::LIST, end)),
        },
    ),
    native("rung::%set-car", "pair value", "Replaces the car.", |_, a| {
        set_half("(setf car)", &a[0], a[1].clone(), true)
    }),
    native("rung::%set-cdr", "pair value", "Replaces the cdr.", |_, a| {
        set_half("(setf cdr)", &a[0], a[1].clone(), false)
    }),
    native("(setf sixth)", "new list", "Sets the sixth element.", |_, a| {
        set_nth("(setf sixth)", 5, a)
    }),
    native("(setf seventh)", "new list", "Sets the seventh element.", |_, a| {
        set_nth("(setf seventh)", 6, a)
    }),
    native("(setf eighth)", "new list", "Sets the eighth element.", |_, a| {
        set_nth("(setf eighth)", 7, a)
    }),
    native("(setf ninth)", "new list", "Sets the ninth element.", |_, a| {
        set_nth("(setf ninth)", 8, a)
    }),
    native("(setf tenth)", "new list", "Sets the tenth element.", |_, a| {
        set_nth("(setf tenth)", 9, a)
    }),
    native("nth", "n list", "The element at a position.", |_, a| {
        car(&nthcdr("nth", &a[0], &a[1])?)
    }),
    native("nthcdr", "n list", "The list without its first n elements.", |_, a| {
        nthcdr("nthcdr", &a[0], &a[1])
    }),
    native("last", "list &optional n", "The last n pairs.", |_, a| {
        let n = a.get(1).and_then(Value::as_index).unwrap_or(1);
        let mut count = 0;
        let mut walk = a[0].clone();
        while let Some(pair) = walk.as_cons() {
            let next = pair.cdr();
            walk = next;
            count += 1;
        }
        nthcdr("last", &Value::size(usize::saturating_sub(count, n)), &a[0])
    }),
    native("butlast", "list &optional n", "The list without its last n elements.", butlast),
    native("nbutlast", "list &optional n", "As butlast.", butlast),
    native("append", "&rest lists", "One list after another; the last is shared.", |_, a| {
        let Some((last, first)) = a.split_last() else { return Ok(NIL) };
        let mut result = last.clone();
        for part in first.iter().rev() {
            result = list_with_tail(list_elements("append", part)?, result);
        }
        Ok(result)
    }),
    native("nconc", "&rest lists", "Joins lists in place.", |_, a| {
        let mut result = NIL;
        let mut end: Option<Value> = None;
        for (at, part) in a.iter().enumerate() {
            match &end {
                Some(Value::Cons(pair)) => pair.set_cdr(part.clone()),
                _ => result = part.clone(),
            }
            if at + 1 == a.len() {
                // The end of the last one is nobody's business: it may be circular by now.
                break;
            }
            let mut walk = part.clone();
            while let Value::Cons(pair) = walk.clone() {
                walk = pair.cdr();
                end = Some(Value::Cons(pair));
            }
        }
        Ok(result)
    }),
    native("revappend", "list tail", "The list reversed in front of a tail.", |_, a| {
        let all = list_elements("revappend", &a[0])?;
        Ok(all.into_iter().fold(a[1].clone(), |tail, element| cons(element, tail)))
    }),
    native("nreconc", "list tail", "As revappend.", |_, a| {
        let all = list_elements("nreconc", &a[0])?;
        Ok(all.into_iter().fold(a[1].clone(), |tail, element| cons(element, tail)))
    }),
    native("copy-list", "list", "A copy of the list's pairs.", |_, a| {
        let mut walk = a[0].elements();
        let all = walk.by_ref().collect::<Vec<_>>();
        Ok(list_with_tail(all, walk.rest().clone()))
    }),
    native("list-length", "list", "The length, or nil for a circular list.", |_, a| {
        if a[0].is_circular() {
            return Ok(NIL);
        }
        Ok(Value::size(list_elements("list-length", &a[0])?.len()))
    }),
    native("make-list", "size &key initial-element", "A list of equal elements.", |lisp, a| {
        let [initial] = keywords(lisp, &a[1..], [symbol::KEY_INITIAL_ELEMENT])?;
        let wrong = || Escape::wrong_type("make-list", symbol::UNSIGNED_BYTE, &a[0]);
        let size = a[0].as_index().ok_or_else(wrong)?;
        room("make-list", size, PAIR)?;
        let initial = initial.unwrap_or_default();
        Ok((0..size).fold(NIL, |rest, _| cons(initial.clone(), rest)))
    }),
    native("acons", "key value alist", "A pair in front of a list.", |_, a| {
        Ok(cons(cons(a[0].clone(), a[1].clone()), a[2].clone()))
    }),
    native("getf", "plist indicator &optional default", "A property's value.", |_, a| {
        let mut rest = a[0].clone();
        while let Value::Cons(pair) = &rest
            && let Value::Cons(second) = pair.cdr()
        {
            if pair.car().eql(&a[1]) {
                return Ok(second.car());
            }
            rest = second.cdr();
        }
        match rest {
            Value::Nil | Value::Cons(_) => Ok(a.get(2).cloned().unwrap_or_default()),
            other => Err(Escape::wrong_type("getf", symbol::LIST, &other)),
        }
    }),
    native(
        "rung::%put-property",
        "plist indicator value",
        "A property list with a value.",
        |_, a| put_property(&a[0], &a[1], &a[2]),
    ),
    native(
        "rung::%remove-property",
        "plist indicator",
        "Without a property; whether it was there.",
        |lisp, a| {
            let all = list_elements("remf", &a[0])?;
            let mut kept = Vec::new();
            let mut found = false;
            for pair in all.chunks(2) {
                if !found && pair[0].eql(&a[1]) {
                    found = true;
                } else {
                    kept.extend_from_slice(pair);
                }
            }
            Ok(lisp.values(vec![list(kept), Value::boolean(found)]))
        },
    ),
    native("mapcar", "function &rest lists", "The results for elements.", |lisp, a| {
        let mut results = Vec::new();
        map_lists(lisp, "mapcar", a, false, &mut |value| results.push(value))?;
        Ok(list(results))
    }),
    native("maplist", "function &rest lists", "The results for tails.", |lisp, a| {
        let mut results = Vec::new();
        map_lists(lisp, "maplist", a, true, &mut |value| results.push(value))?;
        Ok(list(results))
    }),
    native("mapc", "function &rest lists", "Calls for elements.", |lisp, a| {
        map_lists(lisp, "mapc", a, false, &mut |_| {})?;
        Ok(a.get(1).cloned().unwrap_or_default())
    }),
    native("mapl", "function &rest lists", "Calls for tails.", |lisp, a| {
        map_lists(lisp, "mapl", a, true, &mut |_| {})?;
        Ok(a.get(1).cloned().unwrap_or_default())
    }),
    native("mapcan", "function &rest lists", "The results joined.", |lisp, a| {
        let mut results = Vec::new();
        map_lists(lisp, "mapcan", a, false, &mut |value| results.extend(value.elements()))?;
        Ok(list(results))
    }),
    native("mapcon", "function &rest lists", "The results joined.", |lisp, a| {
        let mut results = Vec::new();
        map_lists(lisp, "mapcon", a, true, &mut |value| results.extend(value.elements()))?;
        Ok(list(results))
    }),
];

fn set_half(operator: &str, pair: &Value, value: Value, first: bool) -> Outcome {
    let Value::Cons(found) = pair else {
        return Err(Escape::wrong_type(operator, symbol::CONS, pair));
    };
    if first {
        found.set_car(value.clone());
    } else {
        found.set_cdr(value.clone());
    }
    Ok(value)
}

fn set_nth(operator: &str, n: i64, a: &[Value]) -> Outcome {
    set_half(operator, &nthcdr(operator, &Value::Fixnum(n), &a[1])?, a[0].clone(), true)
}

fn nthcdr(operator: &str, n: &Value, list: &Value) -> Outcome {
    let wrong = || Escape::wrong_type(operator, symbol::UNSIGNED_BYTE, n);
    let mut n = n.as_index().ok_or_else(wrong)?;
    let mut rest = list.clone();
    loop {
        match along(&rest, n) {
            Stop::More(there, count) if count == n => return Ok(there),
            Stop::More(there, count) => (rest, n) = (there, n - count),
            Stop::End(Value::Nil, _) => return Ok(NIL),
            Stop::End(other, _) => return Err(Escape::wrong_type(operator, symbol::LIST, &other)),
            Stop::Found(pair, _) => return Ok(Value::Cons(pair)),
        }
    }
}

fn butlast(_: &mut Lisp, a: &[Value]) -> Outcome {
    let n = a.get(1).and_then(Value::as_index).unwrap_or(1);
    let mut all = list_elements("butlast", &a[0])?;
    all.truncate(all.len().saturating_sub(n));
    Ok(list(all))
}

/// A property list with a value: changed in place where the indicator is there already.
pub fn put_property(plist: &Value, indicator: &Value, value: &Value) -> Outcome {
    let mut rest = plist.clone();
    while let Value::Cons(pair) = rest {
        let next = pair.cdr();
        let Value::Cons(second) = &next else { break };
        if pair.car().eql(indicator) {
            second.set_car(value.clone());
            return Ok(plist.clone());
        }
        rest = second.cdr();
    }
    Ok(cons(indicator.clone(), cons(value.clone(), plist.clone())))
}

fn matcher(lisp: &mut Lisp, a: &[Value], form: Form) -> Outcome<Matcher> {
    let names = [symbol::KEY_TEST, symbol::KEY_TEST_NOT, symbol::KEY_KEY];
    let [test, test_not, key] = keywords(lisp, &a[2..], names)?;
    Matcher::new(lisp, form, &a[0], test.as_ref(), test_not.as_ref(), key)
}

/// The first pair of a list that `find` stops at, looking for Ctrl-C on the way.
fn first_pair(
    lisp: &mut Lisp,
    operator: &str,
    list: &Value,
    find: impl Fn(&Value) -> Stop,
) -> Outcome<Option<Ref<Cons>>> {
    let mut rest = list.clone();
    loop {
        match find(&rest) {
            Stop::Found(pair, _) => return Ok(Some(pair)),
            Stop::End(Value::Nil, _) => return Ok(None),
            Stop::End(other, _) => return Err(Escape::wrong_type(operator, symbol::LIST, &other)),
            Stop::More(there, _) => {
                lisp.poll()?;
                rest = there;
            }
        }
    }
}

fn member(lisp: &mut Lisp, a: &[Value], form: Form) -> Outcome {
    let matcher = matcher(lisp, a, form)?;
    if let Some(item) = matcher.plain_item() {
        let pair = first_pair(lisp, "member", &a[1], |list| find_eql(list, item))?;
        return Ok(pair.map_or(NIL, Value::Cons));
    }
    let mut rest = a[1].clone();
    while let Value::Cons(pair) = &rest {
        if matcher.matches(lisp, &pair.car())? {
            return Ok(rest);
        }
        let next = pair.cdr();
        rest = next;
    }
    if rest.is_nil() { Ok(NIL) } else { Err(Escape::wrong_type("member", symbol::LIST, &rest)) }
}

fn associated(lisp: &mut Lisp, a: &[Value], form: Form, by_car: bool) -> Outcome {
    let matcher = matcher(lisp, a, form)?;
    let wrong = |entry: &Value| Escape::wrong_type("assoc", symbol::CONS, entry);
    if let Some(item) = matcher.plain_item().filter(|_| by_car) {
        let pair = first_pair(lisp, "assoc", &a[1], |list| find_key_eql(list, item))?;
        return match pair.map(|pair| pair.car()) {
            None => Ok(NIL),
            Some(entry @ Value::Cons(_)) => Ok(entry),
            Some(other) => Err(wrong(&other)),
        };
    }
    for element in list_elements("assoc", &a[1])? {
        let Value::Cons(pair) = &element else {
            if element.is_nil() {
                continue;
            }
            return Err(wrong(&element));
        };
        let part = if by_car { pair.car() } else { pair.cdr() };
        if matcher.matches(lisp, &part)? {
            return Ok(element);
        }
    }
    Ok(NIL)
}

fn map_lists(
    lisp: &mut Lisp,
    operator: &str,
    a: &[Value],
    tails: bool,
    take: &mut dyn FnMut(Value),
) -> Outcome<()> {
    let function = Value::Function(lisp.function_of(&a[0])?);
    let mut rests = a[1..].to_vec();
    if rests.is_empty() {
        return Err(Escape::program(format!("{operator}: expected at least one list")));
    }
    let mut row = Vec::with_capacity(rests.len());
    loop {
        row.clear();
        for rest in &mut rests {
            let Value::Cons(pair) = &*rest else {
                if rest.is_nil() {
                    return Ok(());
                }
                return Err(Escape::wrong_type(operator, symbol::LIST, rest));
            };
            row.push(if tails { rest.clone() } else { pair.car() });
            let next = pair.cdr();
            *rest = next;
        }
        take(lisp.call(&function, &row)?);
    }
}
