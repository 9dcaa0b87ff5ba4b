//! Fused members against the chain of named functions that they replace, bit for bit, on every
//! rung and float type; and what folds say to mistakes.

mod common;

use common::{array, assert_same, call, error, ladders, number, values, word};
use rung_array::Array;
use rung_base::{ElementType, Shape};
use rung_ops::{Ladder, Value};

/// The axis and keepdims of the chain's folds.
fn kept(axis: Option<i64>) -> [Value; 4] {
    let axis = axis.map_or(Value::Nil, Value::integer);
    [word("axis"), axis, word("keepdims"), Value::True]
}

fn fold(ladder: &mut Ladder, name: &str, x: &Array, axis: Option<i64>) -> Array {
    let mut given = vec![x.clone().into()];
    given.extend(kept(axis));
    array(ladder, name, given)
}

fn pair(ladder: &mut Ladder, name: &str, a: impl Into<Value>, b: impl Into<Value>) -> Array {
    array(ladder, name, vec![a.into(), b.into()])
}

fn one(ladder: &mut Ladder, name: &str, a: &Array) -> Array {
    array(ladder, name, vec![a.clone().into()])
}

/// m, x - m, e, sum e.
fn exponentials(l: &mut Ladder, x: &Array, axis: Option<i64>) -> [Array; 4] {
    let m = fold(l, "amax", x, axis);
    let d = pair(l, "sub", x.clone(), m.clone());
    let e = one(l, "exp", &d);
    let s = fold(l, "sum", &e, axis);
    [m, d, e, s]
}

fn each_case(body: impl Fn(&mut Ladder, &[usize], Option<i64>, ElementType)) {
    let shapes: [(&[usize], Option<i64>); 7] = [
        (&[7], None),
        (&[5, 64], None),
        (&[3, 33], Some(-1)),
        (&[2, 4097], Some(1)),
        (&[70, 5], Some(0)),
        (&[2, 19, 3], Some(1)),
        (&[4, 1], Some(-1)),
    ];
    for mut ladder in ladders() {
        for (shape, axis) in shapes {
            for t in ElementType::FLOATS {
                body(&mut ladder, shape, axis, t);
            }
        }
    }
}

#[test]
fn softmax_and_its_kin_are_their_chains() {
    each_case(|l, shape, axis, t| {
        let x = values(shape, 9.0, t, 0);
        let note = format!("{shape:?} {axis:?} {t}");
        let given = |x: &Array| vec![x.clone().into(), word("axis"), kept(axis)[1].clone()];
        let [m, d, e, s] = exponentials(l, &x, axis);
        let want = pair(l, "div", e, s.clone());
        let y = array(l, "softmax", given(&x));
        assert_same(&y, &want, &format!("softmax {note}"));
        let log = one(l, "log", &s);
        let want = pair(l, "sub", d, log.clone());
        let logs = array(l, "log-softmax", given(&x));
        assert_same(&logs, &want, &format!("log-softmax {note}"));
        let want = pair(l, "add", m, log);
        let mut with = given(&x);
        with.extend([word("keepdims"), Value::True]);
        assert_same(&array(l, "logsumexp", with), &want, &format!("logsumexp {note}"));

        let dy = values(shape, 3.0, t, 5);
        let with = |y: &Array| vec![y.clone().into(), dy.clone().into(), kept(axis)[1].clone()];
        let product = pair(l, "mul", dy.clone(), y.clone());
        let s = fold(l, "sum", &product, axis);
        let difference = pair(l, "sub", dy.clone(), s);
        let want = pair(l, "mul", y.clone(), difference);
        assert_same(&array(l, "%la-softmax-grad", with(&y)), &want, &note);
        let s = fold(l, "sum", &dy, axis);
        let e = one(l, "exp", &logs);
        let product = pair(l, "mul", e, s);
        let want = pair(l, "sub", dy.clone(), product);
        assert_same(&array(l, "%la-log-softmax-grad", with(&logs)), &want, &note);
    });
}

#[test]
fn masked_softmax_is_its_chain() {
    each_case(|l, shape, axis, t| {
        let (x, dy) = (values(shape, 30.0, t, 0), values(shape, 3.0, t, 5));
        let mask = values(&shape[shape.len() - 1..], 1.0, ElementType::F64, 3);
        let mask = pair(l, "greater", mask, number(0.5));
        let at = kept(axis)[1].clone();
        let scaled = pair(l, "div", x.clone(), number(2.5));
        let masked = array(l, "where", vec![mask.clone().into(), number(-1e4), scaled.into()]);
        let [_, _, e, s] = exponentials(l, &masked, axis);
        let want = pair(l, "div", e, s);
        let given = vec![x.into(), mask.clone().into(), number(2.5), number(-1e4), at.clone()];
        let y = array(l, "%la-masked-softmax", given);
        let note = format!("{shape:?} {axis:?} {t}");
        assert_same(&y, &want, &note);
        let g = array(l, "%la-softmax-grad", vec![y.clone().into(), dy.clone().into(), at.clone()]);
        let kept = array(l, "where", vec![mask.clone().into(), number(0.0), g.into()]);
        let want = pair(l, "div", kept, number(2.5));
        let given = vec![y.into(), dy.into(), mask.into(), number(2.5), at];
        assert_same(&array(l, "%la-masked-softmax-grad", given), &want, &note);
    });
}

#[test]
fn layer_norm_and_its_gradients_are_their_chains() {
    each_case(|l, shape, _, t| {
        let (x, dy) = (values(shape, 4.0, t, 0), values(shape, 3.0, t, 5));
        let last = &shape[shape.len() - 1..];
        let (g, b) = (values(last, 2.0, t, 7), values(last, 1.0, t, 9));
        let (eps, note) = (|| number(1e-3), format!("{shape:?} {t}"));
        let mu = fold(l, "mean", &x, Some(-1));
        let v = fold(l, "var", &x, Some(-1));
        let sum = pair(l, "add", v, eps());
        let s = one(l, "sqrt", &sum);
        let centred = pair(l, "sub", x.clone(), mu);
        let xh = pair(l, "div", centred, s.clone());
        let got = array(l, "%la-layer-norm", vec![x.clone().into(), eps()]);
        assert_same(&got, &xh, &note);
        let scaled = pair(l, "mul", xh.clone(), g.clone());
        let want = pair(l, "add", scaled, b.clone());
        let given = vec![x.clone().into(), g.clone().into(), b.into(), eps()];
        assert_same(&array(l, "%la-layer-norm-affine", given), &want, &note);

        let dh = pair(l, "mul", dy.clone(), g.clone());
        let first = fold(l, "mean", &dh, Some(-1));
        let product = pair(l, "mul", dh.clone(), xh.clone());
        let second = fold(l, "mean", &product, Some(-1));
        let along = pair(l, "mul", xh.clone(), second);
        let centred = pair(l, "sub", dh.clone(), first);
        let rest = pair(l, "sub", centred, along);
        let dx = pair(l, "div", rest, s);
        let given = vec![x.clone().into(), dh.into(), eps()];
        assert_same(&array(l, "%la-layer-norm-grad", given), &dx, &note);
        let given = vec![x.into(), g.into(), dy.clone().into(), eps()];
        let all = call(l, "%la-layer-norm-affine-grad", given);
        let [Value::Array(got), Value::Array(dg), Value::Array(db)] = &all[..] else {
            panic!("three arrays")
        };
        assert_same(got, &dx, &note);
        let weighed = pair(l, "mul", dy.clone(), xh);
        for (got, of) in [(dg, weighed), (db, dy)] {
            let axes = (0..shape.len() as i64 - 1).map(Value::integer).collect::<Vec<_>>();
            let want = match axes.is_empty() {
                true => of,
                false => array(l, "sum", vec![of.into(), word("axis"), Value::List(axes)]),
            };
            assert_same(got, &want, &note);
        }
    });
}

#[test]
fn gelu_is_its_chain() {
    each_case(|l, shape, _, t| {
        let (x, dy) = (values(shape, 4.0, t, 0), values(shape, 3.0, t, 5));
        let of = |l: &mut Ladder, name: &str, c: f64, a: Array| pair(l, name, number(c), a);
        let note = format!("{shape:?} {t}");
        let scaled = pair(l, "div", x.clone(), number(std::f64::consts::SQRT_2));
        let erf = one(l, "erf", &scaled);
        let below = of(l, "add", 1.0, erf);
        let product = pair(l, "mul", x.clone(), below.clone());
        let want = of(l, "mul", 0.5, product);
        let given = vec![x.clone().into(), word("none")];
        assert_same(&array(l, "%la-gelu", given), &want, &note);

        let share = of(l, "mul", 0.5, below);
        let square = pair(l, "mul", x.clone(), x.clone());
        let exponent = of(l, "mul", -0.5, square.clone());
        let e = one(l, "exp", &exponent);
        let density = pair(l, "div", e, number((2.0 * std::f64::consts::PI).sqrt()));
        let slope = pair(l, "mul", x.clone(), density);
        let sum = pair(l, "add", share, slope);
        let want = pair(l, "mul", dy.clone(), sum);
        let given = vec![x.clone().into(), dy.clone().into(), word("none")];
        assert_same(&array(l, "%la-gelu-grad", given), &want, &note);

        let k = (2.0 / std::f64::consts::PI).sqrt();
        let cube = pair(l, "mul", x.clone(), square.clone());
        let bent = of(l, "mul", 0.044715, cube);
        let sum = pair(l, "add", x.clone(), bent);
        let inner = of(l, "mul", k, sum);
        let tanh = one(l, "tanh", &inner);
        let plus = of(l, "add", 1.0, tanh.clone());
        let product = pair(l, "mul", x.clone(), plus.clone());
        let want = of(l, "mul", 0.5, product);
        let given = vec![x.clone().into(), word("tanh")];
        assert_same(&array(l, "%la-gelu", given), &want, &note);

        let first = of(l, "mul", 0.5, plus);
        let squared = pair(l, "mul", tanh.clone(), tanh);
        let rest = of(l, "sub", 1.0, squared);
        let product = pair(l, "mul", x.clone(), rest);
        let half = of(l, "mul", 0.5, product);
        let bent = of(l, "mul", 0.134145, square);
        let sum = of(l, "add", 1.0, bent);
        let slope = of(l, "mul", k, sum);
        let second = pair(l, "mul", half, slope);
        let sum = pair(l, "add", first, second);
        let want = pair(l, "mul", dy.clone(), sum);
        let given = vec![x.into(), dy.into(), word("tanh")];
        assert_same(&array(l, "%la-gelu-grad", given), &want, &note);
    });
}

#[test]
fn cross_entropy_is_log_softmax_gathered_and_folded() {
    for mut ladder in ladders() {
        let l = &mut ladder;
        let logits = values(&[4, 10], 5.0, ElementType::F32, 0);
        let classes = || Value::List([3, 9, -1, 0].map(Value::integer).to_vec());
        let given = || vec![logits.clone().into(), classes(), Value::integer(-1)];
        let logs =
            array(l, "log-softmax", vec![logits.clone().into(), word("axis"), Value::integer(1)]);
        let picked: Vec<f32> = [(0, 3), (1, 9), (3, 0)]
            .iter()
            .map(|(r, c)| logs.view::<f32>().at(r * 10 + c))
            .collect();
        let sum = call(l, "sum", vec![Array::vector(&picked).unwrap().into()]);
        let all = call(l, "%la-cross-entropy", given());
        let [Value::Number(got), Value::Number(count)] = &all[..] else { panic!("two numbers") };
        let Value::Number(sum) = sum[0] else { panic!("a number") };
        assert_eq!(got.to_f64(), -sum.to_f64());
        assert_eq!(count.to_i64(), Some(3));
        let y = array(l, "softmax", vec![logits.clone().into(), word("axis"), Value::integer(1)]);
        let mut with = given();
        with.push(number(0.5));
        let gradient = array(l, "%la-cross-entropy-grad", with);
        for (row, class) in [3, 9, 10, 0].into_iter().enumerate() {
            for column in 0..10 {
                let at = row * 10 + column;
                let y = y.view::<f32>().at(at);
                let less = if column == class { y - 1.0 } else { y };
                let want = if class == 10 { 0.0 } else { less * 0.5 };
                assert_eq!(gradient.view::<f32>().at(at).to_bits(), want.to_bits(), "{at}");
            }
        }
    }
}

#[test]
fn folds_say_what_is_wrong() {
    let empty =
        || Value::from(Array::zeros(ElementType::F64, Shape::new([0, 3]).unwrap()).unwrap());
    let full = || Value::from(values(&[2, 3], 1.0, ElementType::F64, 0));
    let nan = || Value::from(Array::vector(&[f64::NAN; 2]).unwrap());
    let axes = |a: i64, b: i64| Value::List(vec![Value::integer(a), Value::integer(b)]);
    let cases = [
        ("amax", vec![empty()], "linalg: amax of an empty array"),
        ("mean", vec![empty()], "linalg: mean of an empty array"),
        ("nanmin", vec![empty()], "linalg: nanmin of an empty array"),
        ("argmin", vec![empty()], "linalg: argmin of an empty array"),
        ("softmax", vec![empty()], "linalg: softmax of an empty array"),
        (
            "amin",
            vec![empty(), word("axis"), Value::integer(0)],
            "linalg: reduction of an empty axis",
        ),
        ("sum", vec![full(), word("axis"), axes(1, -1)], "linalg: repeated axis"),
        ("sum", vec![full(), word("axis"), axes(0, 2)], "linalg: axis out of range"),
        ("var", vec![empty()], "linalg: var needs more elements than ddof"),
        (
            "std",
            vec![full(), word("ddof"), Value::integer(6)],
            "linalg: std needs more elements than ddof",
        ),
        ("nanmean", vec![nan()], "linalg: all values are NaN"),
        ("nanmax", vec![nan()], "linalg: all values are NaN"),
        ("nanvar", vec![nan()], "linalg: all values are NaN"),
        ("trace", vec![nan()], "linalg: trace expects a matrix"),
        ("norm", vec![full(), word("ord"), number(3.0)], "linalg: norm :ord must be 1, 2, :inf"),
        ("cov", vec![Value::from(values(&[2, 1], 1.0, ElementType::F64, 0))], "linalg: cov needs"),
        ("allclose", vec![full(), nan()], "linalg: shape mismatch"),
    ];
    for (name, given, wanted) in cases {
        let text = error(name, given);
        assert!(text.starts_with(wanted), "{text}, not {wanted}");
    }
}
