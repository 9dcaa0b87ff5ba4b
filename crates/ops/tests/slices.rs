//! Functions of slices: however the slices lie, and whether they are worked on one by one or as
//! whole arrays, the bits are the same.

#[allow(dead_code, reason = "every test file takes what it needs of it")]
mod common;

use common::{array, assert_same, ladders, values, word};
use rung_array::Array;
use rung_base::ElementType;
use rung_ops::Value;

const ODD: [f64; 8] =
    [f64::NAN, -0.0, 0.0, f64::INFINITY, f64::NEG_INFINITY, 5e-324, 1e300, -745.0];

/// Slices down the columns, some columns with odd values among the others.
fn columns(n: usize, slices: usize, t: ElementType) -> Array {
    let plain = values(&[n, slices], 9.0, ElementType::F64, n);
    let odd = |(i, x): (usize, rung_array::Number)| match i % slices % 5 {
        0 => ODD[(i / 7) % ODD.len()],
        _ => x.to_f64(),
    };
    let all: Vec<f64> = plain.numbers().enumerate().map(odd).collect();
    let all = Array::vector(&all).unwrap().reshape(plain.shape().clone()).unwrap();
    all.convert(t).unwrap()
}

/// 64 elements are the most that go as whole arrays, from 256 slices and 16 neighbours on.
#[test]
fn short_slices_down_an_axis_have_the_bits_of_the_same_slices_in_rows() {
    for mut ladder in ladders() {
        for t in [ElementType::F64, ElementType::F32, ElementType::F16] {
            for (n, slices) in
                [(1, 256), (2, 300), (5, 257), (63, 256), (64, 256), (65, 256), (3, 255)]
            {
                let x = columns(n, slices, t);
                let rows = x.transpose(&[1, 0]).unwrap().to_contiguous().unwrap();
                for name in ["softmax", "log-softmax", "logsumexp"] {
                    let mut of = |x: &Array, axis: i64| {
                        array(
                            &mut ladder,
                            name,
                            vec![x.clone().into(), word("axis"), Value::integer(axis)],
                        )
                    };
                    let (down, along) = (of(&x, 0), of(&rows, 1));
                    let turned =
                        if along.rank() == 1 { along } else { along.transpose(&[1, 0]).unwrap() };
                    assert_same(&down, &turned, &format!("{name} of {slices} slices of {n} {t}"));
                }
            }
        }
    }
}
