//! A matrix with a list of vectors: the bits of as many products of the matrix with a vector.

#[allow(dead_code, reason = "every test file takes what it needs of it")]
mod common;

use common::{assert_same, call, error, ladders, values};
use rung_array::quantized::Format;
use rung_array::{Array, Quantized};
use rung_base::ElementType;
use rung_ops::{Ladder, Value, quantized};

fn batch(ladder: &mut Ladder, w: &Value, vectors: &[Array]) -> Vec<Array> {
    let list = Value::List(vectors.iter().map(|x| x.clone().into()).collect());
    match call(ladder, "vec:matvec-batch", vec![w.clone(), list]).remove(0) {
        Value::List(items) => items.into_iter().map(only_array).collect(),
        Value::Nil => Vec::new(),
        other => panic!("no list: {other}"),
    }
}

fn only_array(value: Value) -> Array {
    match value {
        Value::Array(a) => a,
        other => panic!("no array: {other}"),
    }
}

fn agrees(ladder: &mut Ladder, w: &Value, vectors: &[Array], note: &str) {
    let got = batch(ladder, w, vectors);
    assert_eq!(got.len(), vectors.len(), "{note}");
    for (x, got) in vectors.iter().zip(&got) {
        let one = call(ladder, "vec:matvec", vec![w.clone(), x.clone().into()]).remove(0);
        assert_same(got, &only_array(one), note);
    }
}

/// Rows that lie along memory and columns that do; more rows than are kept in cache.
#[test]
fn a_batch_has_the_bits_of_its_products() {
    use ElementType::{BF16, F16, F32, F64};
    for mut ladder in ladders() {
        for (matrix, vector) in [(F64, F64), (F32, F32), (BF16, F32), (F16, F32), (F16, F16)] {
            for (count, m, n) in
                [(1, 5, 70), (2, 9, 1), (3, 257, 300), (2, 3, 4097), (4, 0, 3), (2, 3, 0)]
            {
                let note = format!("{count} vectors, {m} by {n}, {matrix} and {vector}");
                let x: Vec<Array> = (0..count).map(|i| values(&[n], 2.0, vector, i)).collect();
                let w = values(&[m, n], 1.0, matrix, 7);
                agrees(&mut ladder, &w.into(), &x, &note);
                let turned = values(&[n, m], 1.0, matrix, 7).transpose(&[1, 0]).unwrap();
                agrees(&mut ladder, &turned.into(), &x, &note);
            }
        }
    }
}

#[test]
fn a_batch_beside_quantised_rows_has_the_bits_of_its_products() {
    for mut ladder in ladders() {
        for (count, m, n) in [(1, 5, 64), (3, 7, 2080), (2, 2000, 64), (2, 0, 32)] {
            let q: Quantized =
                quantized::quantize(&values(&[m, n], 1.0, ElementType::F32, 3), Format::Q8_0)
                    .unwrap();
            let x: Vec<Array> =
                (0..count).map(|i| values(&[n], 2.0, ElementType::F32, i)).collect();
            agrees(&mut ladder, &Value::Quantized(q), &x, &format!("{count} vectors, {m} by {n}"));
        }
    }
}

#[test]
fn a_batch_says_what_does_not_fit() {
    let w = || Value::from(values(&[2, 3], 1.0, ElementType::F64, 1));
    let list = |of: &[(usize, ElementType)]| {
        Value::List(of.iter().map(|(n, t)| values(&[*n], 1.0, *t, 1).into()).collect())
    };
    let (f64, f32) = (ElementType::F64, ElementType::F32);
    for (values, text) in [
        (
            vec![w(), list(&[(4, f64), (4, f64)])],
            "matvec dimensions differ: 3 columns and 4 elements",
        ),
        (vec![w(), list(&[(3, f64), (4, f64)])], "lengths differ: 3 and 4"),
        (vec![w(), list(&[(3, f32)])], "element types differ: DOUBLE-FLOAT and SINGLE-FLOAT"),
        (vec![w(), Value::integer(3)], "expected a list of arrays"),
        (vec![Value::integer(3), list(&[(3, f64)])], "matvec expects a matrix and a vector: got 3"),
    ] {
        let said = error("vec:matvec-batch", values);
        assert!(said.contains(text), "{said}");
    }
}
