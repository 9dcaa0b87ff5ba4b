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

/// `(mapcar #'f list...)` as a loop.
fn mapping(lisp: &mut Lisp, name: Symbol, arguments: &[Value]) -> Option<Value> {
    let (function, lists) = arguments.split_first()?;
    let is_written = function.as_cons().is_some_and(|pair| {
        pair.car().is_symbol(symbol::FUNCTION) || pair.car().is_symbol(symbol::LAMBDA)
    });
    if !is_written || lists.is_empty() || lists.len() > MOST_LISTS {
        return None;
    }
    let called = lisp.gensym("FUNCTION");
    let rests = lists.iter().map(|_| lisp.gensym("REST")).collect::<Vec<_>>();
    let mut bindings = vec![list([called.clone(), function.clone()])];
    bindings.extend(rests.iter().zip(lists).map(|(rest, made)| list([rest.clone(), made.clone()])));
    let cars = rests.iter().map(|rest| form(symbol::CAR, [rest.clone()]));
    let value = form(symbol::FUNCALL, [called].into_iter().chain(cars));
    let first = lisp.gensym("FIRST");
    let (turn, result) = if name == symbol::MAPCAR {
        // The results are joined to the end of a list whose first pair is none of them.
        let last = lisp.gensym("LAST");
        bindings.push(list([first.clone(), form(symbol::LIST, [NIL])]));
        bindings.push(list([last.clone(), first.clone()]));
        // The last pair is that from before the value is made.
        let pair = form(symbol::SETQ, [last.clone(), form(symbol::LIST, [value])]);
        (form(symbol::SET_CDR, [last, pair]), form(symbol::CDR, [first]))
    } else {
        bindings.push(list([first.clone(), rests[0].clone()]));
        (value, first)
    };
    let looped = turns(lisp, &rests, turn);
    let end = checked_end(name, &rests);
    Some(form(symbol::LET_STAR, [list(bindings), looped, end, result]))
}

/// A form again and again, as long as all lists have elements.
fn turns(lisp: &mut Lisp, rests: &[Value], turn: Value) -> Value {
    let again = lisp.gensym("AGAIN");
    let steps = rests
        .iter()
        .map(|rest| form(symbol::SETQ, [rest.clone(), form(symbol::CDR, [rest.clone()])]));
    let pairs = rests.iter().map(|rest| form(symbol::CONSP, [rest.clone()]));
    let more = form(symbol::AND, pairs);
    let body = [turn].into_iter().chain(steps).chain([form(symbol::GO, [again.clone()])]);
    let turn = form(symbol::WHEN, [more].into_iter().chain(body));
    form(symbol::TAGBODY, [again, turn])
}

/// Of the lists, the first that is at its end decides whether it ends well, as in a call.
fn checked_end(name: Symbol, rests: &[Value]) -> Value {
    rests.iter().rev().fold(NIL, |others, rest| {
        let checked = form(symbol::NOT_A_LIST, [quoted(Value::symbol(name)), rest.clone()]);
        let checked = form(symbol::IF, [rest.clone(), checked]);
        match &others {
            Value::Nil => checked,
            _ => form(symbol::IF, [form(symbol::CONSP, [rest.clone()]), others, checked]),
        }
    })
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
