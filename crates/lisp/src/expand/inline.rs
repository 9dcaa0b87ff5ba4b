//! Calls of standard functions that become the loop or the test that they are, so that what they call
//! runs on the machine of the caller: `mapcar` of a function that is written there, `rplaca`.
//!
//! Only what goes well is written out. What does not is left to the function itself, whose words
//! an error has.

use crate::lisp::Lisp;
use crate::symbol::{self, Symbol};
use crate::value::{NIL, Value, list};

use super::{Expander, form, quoted};

/// With more lists than that the function is called.
const MOST_LISTS: usize = 4;

impl Expander<'_> {
    /// What may stand for a call of a global function.
    pub(super) fn inlined(&mut self, name: Symbol, arguments: &Value) -> Option<Value> {
        let made = match name {
            symbol::MAPCAR | symbol::MAPC => mapping,
            symbol::RPLACA | symbol::RPLACD => replacing,
            _ => return None,
        };
        if self.is_notinline(name) {
            return None;
        }
        made(self.lisp, name, &arguments.elements().collect::<Vec<_>>())
    }
}

/// `(mapcar #'f list...)` as a loop: the results are joined at the end of a list whose first pair
/// is none of them.
fn mapping(lisp: &mut Lisp, name: Symbol, arguments: &[Value]) -> Option<Value> {
    let (function, lists) = arguments.split_first()?;
    let is_written = function.as_cons().is_some_and(|pair| {
        pair.car().is_symbol(symbol::FUNCTION) || pair.car().is_symbol(symbol::LAMBDA)
    });
    if !is_written || lists.is_empty() || lists.len() > MOST_LISTS {
        return None;
    }
    let [called, first, last, again] = ["FUNCTION", "FIRST", "LAST", "AGAIN"].map(|n| lisp.gensym(n));
    let rests = lists.iter().map(|_| lisp.gensym("REST")).collect::<Vec<_>>();
    let start = match name {
        symbol::MAPCAR => form(symbol::LIST, [NIL]),
        _ => rests[0].clone(),
    };
    let mut bindings = vec![list([called.clone(), function.clone()])];
    bindings.extend(rests.iter().zip(lists).map(|(rest, made)| list([rest.clone(), made.clone()])));
    bindings.push(list([first.clone(), start]));
    if name == symbol::MAPCAR {
        bindings.push(list([last.clone(), first.clone()]));
    }
    let cars = rests.iter().map(|rest| form(symbol::CAR, [rest.clone()]));
    let value = form(symbol::FUNCALL, [called].into_iter().chain(cars));
    let turn = match name {
        symbol::MAPCAR => {
            let pair = form(symbol::SETQ, [last.clone(), form(symbol::LIST, [value])]);
            // The last pair as it was before the value is made.
            form(symbol::SET_CDR, [last, pair])
        }
        _ => value,
    };
    let steps = rests.iter().map(|rest| {
        form(symbol::SETQ, [rest.clone(), form(symbol::CDR, [rest.clone()])])
    });
    let mut more = rests.iter().map(|rest| form(symbol::CONSP, [rest.clone()])).collect::<Vec<_>>();
    let more = if more.len() == 1 { more.remove(0) } else { form(symbol::AND, more) };
    let body = [turn].into_iter().chain(steps).chain([form(symbol::GO, [again.clone()])]);
    let turn = form(symbol::WHEN, [more].into_iter().chain(body));
    // The first of them that is at its end decides, as in a call.
    let end = rests.iter().rev().fold(NIL, |others, rest| {
        let checked = form(symbol::NOT_A_LIST, [quoted(Value::symbol(name)), rest.clone()]);
        let checked = form(symbol::IF, [rest.clone(), checked]);
        match &others {
            Value::Nil => checked,
            _ => form(symbol::IF, [form(symbol::CONSP, [rest.clone()]), others, checked]),
        }
    });
    let result = match name {
        symbol::MAPCAR => form(symbol::CDR, [first]),
        _ => first,
    };
    let looped = form(symbol::TAGBODY, [again, turn]);
    Some(form(symbol::LET_STAR, [list(bindings), looped, end, result]))
}

/// `(rplaca pair value)`, where it is a pair.
fn replacing(lisp: &mut Lisp, name: Symbol, arguments: &[Value]) -> Option<Value> {
    let [pair, value] = arguments else { return None };
    let [held, new] = ["PAIR", "VALUE"].map(|name| lisp.gensym(name));
    let set = if name == symbol::RPLACA { symbol::SET_CAR } else { symbol::SET_CDR };
    let done = form(symbol::PROGN, [form(set, [held.clone(), new.clone()]), held.clone()]);
    let function = form(symbol::FUNCTION, [Value::symbol(name)]);
    let other = form(symbol::FUNCALL, [function, held.clone(), new.clone()]);
    let bindings = list([list([held.clone(), pair.clone()]), list([new, value.clone()])]);
    let choice = form(symbol::IF, [form(symbol::CONSP, [held]), done, other]);
    Some(form(symbol::LET_STAR, [bindings, choice]))
}
