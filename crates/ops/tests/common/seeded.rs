//! Calls whose results are compared whatever they are.

use rung_array::Array;
use rung_base::Result;
use rung_ops::call::first_difference;
use rung_ops::{Ladder, NoCaller, Op, Value};

/// What a call gives, with the generators at a fixed state.
pub fn run(ladder: &mut Ladder, op: &'static Op, values: Vec<Value>) -> Result<Vec<Value>> {
    ladder.context.generator = rung_math::random::State::seeded(7);
    ladder.context.counter = rung_ops::Generator::new(7, 0);
    ladder.call(op, values, &mut NoCaller)
}

pub fn assert_same(wanted: &[Value], got: &[Value], context: &str) {
    assert_eq!(wanted.len(), got.len(), "{context}");
    for (w, g) in wanted.iter().zip(got) {
        match (w, g) {
            (Value::Array(w), Value::Array(g)) => {
                w.home().and(g.home()).unwrap();
                assert_eq!(w.shape(), g.shape(), "{context}");
                assert_eq!(w.element_type(), g.element_type(), "{context}");
                if let Some(at) = first_difference(w, g) {
                    let number = |a: &Array| a.numbers().nth(at).unwrap();
                    panic!("{context}: element {at} is {}, not {}", number(g), number(w));
                }
            }
            (Value::List(w), Value::List(g)) => assert_same(w, g, context),
            (w, g) => assert_eq!(w.to_string(), g.to_string(), "{context}"),
        }
    }
}
