//! What tests of operations by their names have in common: ladders of every level, arguments, and the
//! comparison of arrays.

use rung_array::{Array, Number};
use rung_base::{ElementType, Settings, Shape};
use rung_lanes::{Lanes, Level};
use rung_ops::call::first_difference;
use rung_ops::record::VEC;
use rung_ops::{Decline, Ladder, NoCaller, Op, Value, table};

/// A ladder with lanes of each level, and one with the definitions alone.
pub fn ladders() -> Vec<Ladder> {
    let absent = || Decline::Off("test");
    let with =
        |lanes| Ladder::with_rungs(&Settings::default(), lanes, Err(absent()), Err(absent()));
    let mut all = vec![with(None)];
    all.extend(Level::available().into_iter().map(|level| with(Some(Lanes::with(level, 2)))));
    all
}

/// An operation of `linalg`, or of `vec` where that stands before its name: `vec:matvec`.
pub fn operation(name: &str) -> &'static Op {
    let found = match name.strip_prefix(VEC.prefix) {
        Some(name) => table::operations().find(|op| op.package == VEC && op.names.contains(&name)),
        None => table::find(name),
    };
    found.unwrap_or_else(|| panic!("the table has no {name}"))
}

pub fn call(ladder: &mut Ladder, name: &str, values: Vec<Value>) -> Vec<Value> {
    let op = operation(name);
    ladder.call(op, values, &mut NoCaller).unwrap_or_else(|e| panic!("{name}: {e}"))
}

/// The first result, an array.
pub fn array(ladder: &mut Ladder, name: &str, values: Vec<Value>) -> Array {
    match call(ladder, name, values).into_iter().next() {
        Some(Value::Array(a)) => a,
        other => panic!("{name} gave {other:?}"),
    }
}

/// What a call that fails says.
pub fn error(name: &str, values: Vec<Value>) -> String {
    let op = operation(name);
    let ladder = &mut ladders()[0];
    ladder.call(op, values, &mut NoCaller).map(|_| ()).unwrap_err().to_string()
}

pub fn number(x: f64) -> Value {
    Value::Number(Number::F64(x))
}

pub fn word(name: &'static str) -> Value {
    Value::Keyword(name.into())
}

/// Values in (-scale, scale) with full significands.
pub fn values(shape: &[usize], scale: f64, t: ElementType, seed: usize) -> Array {
    let shape = Shape::new(shape.iter().copied()).unwrap();
    let value = |i: usize| {
        let fraction = ((i + seed) as f64 + 1.0) * 0.618_033_988_749_894_9;
        scale * (2.0 * (fraction - fraction.floor()) - 1.0)
    };
    let all: Vec<f64> = (0..shape.size()).map(value).collect();
    Array::from_slice(&all, shape).unwrap().convert(t).unwrap()
}

pub fn assert_same(got: &Array, want: &Array, note: &str) {
    assert_eq!((got.shape(), got.element_type()), (want.shape(), want.element_type()), "{note}");
    if let Some(at) = first_difference(got, want) {
        let show = |a: &Array| a.numbers().nth(at).unwrap().to_string();
        panic!("{note}: element {at} is {}, not {}", show(got), show(want));
    }
}
