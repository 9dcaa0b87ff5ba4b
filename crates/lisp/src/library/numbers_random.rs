//! `random` and its states: Philox 4x32-10. The first state is fixed, so a run repeats; this is
//! not the stream of `la:rand`.

use std::cell::Cell;
use std::hash::{BuildHasher, Hasher};

use num_bigint::{BigInt, Sign};

use crate::condition::{Escape, Outcome};
use crate::lisp::Lisp;
use crate::native::{Native, native};
use crate::object::Object;
use crate::symbol;
use crate::value::Value;
use rung_math::philox::State;

/// Chapter 12 of the standard, what concerns chance.
pub static NUMBERS: &[Native] = &[
    native(
        "random",
        "limit &optional random-state",
        "A number from 0 to below the limit, each equally likely.",
        random,
    ),
    native(
        "make-random-state",
        "&optional state",
        "A copy of the state, or with t one from the system's entropy.",
        make_random_state,
    ),
    native("random-state-p", "object", "Whether it is a random state.", |_, arguments| {
        Ok(Value::boolean(as_state(&arguments[0]).is_some()))
    }),
];

/// A state as a value; the first value of `*random-state*` is that of the default seed.
pub fn state_value(state: State) -> Value {
    Value::object(Object::RandomState(Cell::new(state)))
}

impl Lisp {
    /// Seeds `random`: `*random-state*` becomes the state that begins with this seed.
    pub fn seed_random(&mut self, seed: i64) {
        let state = state_value(State::seeded(seed as u64));
        self.set_variable(symbol::RANDOM_STATE, state);
    }
}

fn as_state(value: &Value) -> Option<&Cell<State>> {
    if let Some(Object::RandomState(state)) = value.as_object() { Some(state) } else { None }
}

/// The given state, or that of `*random-state*`, which is made when it has none.
fn state_argument(lisp: &mut Lisp, operator: &str, argument: Option<&Value>) -> Outcome {
    let value = match argument {
        Some(value) if value.truth() => value.clone(),
        _ => match lisp.variable(symbol::RANDOM_STATE).clone() {
            Value::Unbound => {
                let first = state_value(State::default());
                lisp.set_variable(symbol::RANDOM_STATE, first.clone());
                first
            }
            value => value,
        },
    };
    if as_state(&value).is_some() {
        return Ok(value);
    }
    Err(Escape::unexpected(operator, "a random state", Value::symbol(symbol::RANDOM_STATE), &value))
}

fn random(lisp: &mut Lisp, arguments: &[Value]) -> Outcome {
    let holder = state_argument(lisp, "random", arguments.get(1))?;
    let Some(cell) = as_state(&holder) else { return Ok(Value::Nil) };
    let mut state = cell.get();
    let result = draw(&mut state, &arguments[0]);
    cell.set(state);
    result.ok_or_else(|| {
        let wanted = "a positive integer or float";
        Escape::unexpected("random", wanted, Value::symbol(symbol::REAL), &arguments[0])
    })
}

fn draw(state: &mut State, limit: &Value) -> Option<Value> {
    match limit {
        Value::Fixnum(limit) if *limit > 0 => {
            Some(Value::Fixnum(state.below(*limit as u64) as i64))
        }
        // A product may round up to a small limit; the number below it is as close as any.
        Value::Double(limit) if *limit > 0.0 && limit.is_finite() => {
            let x = state.double() * limit;
            Some(Value::Double(if x < *limit { x } else { limit.next_down() }))
        }
        Value::Single(limit) if *limit > 0.0 && limit.is_finite() => {
            let x = state.single() * limit;
            Some(Value::Single(if x < *limit { x } else { limit.next_down() }))
        }
        _ => {
            let limit = limit.as_bignum().filter(|limit| limit.sign() == Sign::Plus)?;
            let words = limit.bits().div_ceil(32);
            let spare = words * 32 - limit.bits();
            loop {
                // Words of the limit's own bits; at least half of such numbers are below it.
                let words = (0..words).map(|_| state.word()).collect::<Vec<_>>();
                let n = BigInt::from_slice(Sign::Plus, &words) >> spare;
                if n < *limit {
                    return Some(Value::integer(n));
                }
            }
        }
    }
}

fn make_random_state(lisp: &mut Lisp, arguments: &[Value]) -> Outcome {
    if arguments.first().is_some_and(|argument| argument.is_symbol(symbol::T)) {
        // The standard library seeds its hash tables from the system's entropy.
        let seed = std::collections::hash_map::RandomState::new().build_hasher().finish();
        return Ok(state_value(State::seeded(seed)));
    }
    let holder = state_argument(lisp, "make-random-state", arguments.first())?;
    let state = as_state(&holder).map_or(State::default(), Cell::get);
    Ok(state_value(state))
}
