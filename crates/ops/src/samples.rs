//! Sample arguments: written once in the records, used by tests, benchmarks and doctor.
//!
//! A sample's arrays are f64; whoever runs it converts them to each element type that the
//! operation takes and lays them out strided, reversed or broadcast.

use crate::value::Value;
use rung_array::{Array, Number};
use rung_base::Shape;

/// The arguments of one call.
pub type Sample = Vec<Value>;

/// Shapes that hurt: empty, one element, odd, vector width +-1, chunk limits +-1.
pub const SHAPES: [&[usize]; 14] = [
    &[0],
    &[1],
    &[],
    &[7],
    &[15],
    &[17],
    &[65],
    &[4095],
    &[4097],
    &[0, 3],
    &[3, 5],
    &[2, 3, 4],
    &[5, 64],
    &[33, 1],
];

/// Values that hurt, among ordinary ones.
pub const HARD: [f64; 16] = [
    0.0,
    -0.0,
    1.0,
    -1.0,
    f64::INFINITY,
    f64::NEG_INFINITY,
    f64::NAN,
    1e-300,
    -1e-40,
    5e-324,
    1e300,
    -3e38,
    0.1,
    88.7,
    709.7,
    1e22,
];

/// A shape from a list known to be small.
fn shape(extents: &[usize]) -> Shape {
    Shape::new(extents.iter().copied()).unwrap_or_default()
}

pub fn build(extents: &[usize], element: impl Fn(usize) -> f64) -> Value {
    let shape = shape(extents);
    let elements: Vec<f64> = (0..shape.size()).map(element).collect();
    match Array::from_slice(&elements, shape) {
        Ok(array) => Value::Array(array),
        Err(e) => Value::Other(e.to_string()),
    }
}

/// Reproducible values in (-1, 1), with full significands: a Weyl sequence.
pub fn scattered(index: usize) -> f64 {
    let fraction = (index as f64 + 1.0) * 0.618_033_988_749_894_9;
    2.0 * (fraction - fraction.floor()) - 1.0
}

/// An array of values in (-scale, scale).
pub fn spread(extents: &[usize], scale: f64) -> Value {
    build(extents, |i| scale * scattered(i))
}

/// An array that begins with the hard values.
pub fn hard(extents: &[usize], scale: f64) -> Value {
    build(extents, |i| HARD.get(i).copied().unwrap_or_else(|| scale * scattered(i)))
}

/// An array of 0, 1, 2, ... modulo `below`.
pub fn counting(extents: &[usize], below: usize) -> Value {
    build(extents, |i| ((i * 7) % below.max(1)) as f64)
}

/// An array of whole numbers in -scale..=scale.
pub fn whole(extents: &[usize], scale: i64) -> Value {
    let span = 2 * scale + 1;
    build(extents, |i| ((i as i64 * 7919 + 3) % span - scale) as f64)
}

/// An array of 1, 2, ... up to `most`, in an order of its own: divisors.
pub fn positive(extents: &[usize], most: usize) -> Value {
    build(extents, |i| (i * 7 % most.max(1) + 1) as f64)
}

/// Whole numbers at and near the limits of 64 bits.
pub fn extreme() -> Value {
    const EXTREME: [f64; 8] = [
        -9223372036854775808.0,
        -4611686018427387904.0,
        4611686018427387904.0,
        9007199254740992.0,
        -2147483648.0,
        -1.0,
        0.0,
        3.0,
    ];
    build(&[8], |i| EXTREME[i])
}

pub fn number(x: f64) -> Value {
    Value::Number(Number::F64(x))
}

pub fn integer(n: i64) -> Value {
    Value::integer(n)
}

pub fn word(name: &'static str) -> Value {
    Value::Keyword(name.into())
}

pub fn list(items: Vec<Value>) -> Value {
    Value::List(items)
}

/// Samples of a function of one array: every hurting shape, hard values first.
pub fn unary(scale: f64) -> Vec<Sample> {
    let mut samples: Vec<Sample> = SHAPES.iter().map(|s| vec![hard(s, scale)]).collect();
    // Hard values fit no integer type.
    samples.extend([
        vec![whole(&[3, 43], 20)],
        vec![counting(&[5, 7], 9)],
        vec![extreme()],
        vec![integer(-3)],
    ]);
    samples
}

/// Pairs of shapes that broadcast, and an array beside a number.
pub fn pairs() -> Vec<Sample> {
    const PAIRS: [(&[usize], &[usize]); 9] = [
        (&[7], &[7]),
        (&[4097], &[4097]),
        (&[0], &[1]),
        (&[], &[]),
        (&[3, 5], &[5]),
        (&[4, 17], &[4, 1]),
        (&[2, 1, 65], &[3, 1]),
        (&[1], &[2, 3]),
        (&[16, 16], &[16, 16]),
    ];
    let both = |(a, b): &(&[usize], &[usize])| vec![hard(a, 3.0), spread(b, 5.0)];
    let mut samples: Vec<Sample> = PAIRS.iter().map(both).collect();
    samples.push(vec![hard(&[19], 2.0), number(0.1)]);
    samples.push(vec![number(-1.5), hard(&[19], 2.0)]);
    // Every hard value against every other.
    let (left, right) = (HARD.len(), HARD.len());
    samples.push(vec![
        build(&[left, right], |i| HARD[i / right]),
        build(&[left, right], |i| HARD[i % right]),
    ]);
    samples.extend(whole_pairs());
    samples
}

/// Pairs that integer types take; no second operand has a zero.
pub fn whole_pairs() -> Vec<Sample> {
    let column = |v: Value| match v {
        Value::Array(a) => a.reshape(shape(&[8, 1])).map_or(Value::Nil, Value::Array),
        other => other,
    };
    vec![
        vec![whole(&[3, 43], 20), positive(&[43], 5)],
        vec![counting(&[5, 7], 9), positive(&[5, 1], 3)],
        vec![column(extreme()), positive(&[11], 64)],
        vec![column(extreme()), number(-1.0)],
        vec![column(extreme()), integer(-1)],
        vec![whole(&[129], 100), integer(7)],
        vec![integer(-100), positive(&[9], 9)],
        vec![whole(&[0, 3], 1), positive(&[3], 2)],
        vec![integer(-7), integer(3)],
    ]
}

/// Samples of a fold: whole, and along each axis.
pub fn folds(finite: bool) -> Vec<Sample> {
    let mut samples = Vec::new();
    let value = |s: &[usize]| if finite { spread(s, 2.0) } else { hard(s, 2.0) };
    const SHAPES: [&[usize]; 9] =
        [&[1], &[63], &[65], &[4096], &[4097], &[8193], &[3, 5], &[2, 67, 4], &[130, 3]];
    for s in SHAPES {
        samples.push(vec![value(s)]);
        for axis in 0..s.len() as i64 {
            samples.push(vec![value(s), word("axis"), integer(axis)]);
        }
        samples.push(vec![value(s), word("axis"), integer(-1), word("keepdims"), Value::True]);
    }
    for of in [[2, 0], [0, 1]] {
        let of = list(of.into_iter().map(integer).collect());
        samples.push(vec![value(&[2, 67, 4]), word("axis"), of]);
    }
    samples
}

/// Fewer samples of a fold, with several axes: for folds that share their drivers with `sum`.
pub fn few_folds() -> Vec<Sample> {
    let axes = |all: &[i64]| list(all.iter().map(|&axis| integer(axis)).collect());
    let mut samples = vec![
        vec![hard(&[65], 2.0)],
        vec![spread(&[1], 2.0)],
        vec![spread(&[], 2.0)],
        vec![spread(&[8193], 1.1)],
        vec![spread(&[0], 1.0)],
        vec![counting(&[40], 2), word("keepdims"), Value::True],
    ];
    for array in [hard(&[3, 70], 2.0), spread(&[3, 70], 1.5)] {
        for axis in [0, 1] {
            samples.push(vec![array.clone(), word("axis"), integer(axis)]);
        }
    }
    for of in [axes(&[0, 1]), axes(&[2, 0]), axes(&[1, 2, 0]), integer(1)] {
        let array = spread(&[5, 17, 9], 2.0);
        samples.push(vec![array.clone(), word("axis"), of.clone()]);
        samples.push(vec![array, word("axis"), of, word("keepdims"), Value::True]);
    }
    samples
}
