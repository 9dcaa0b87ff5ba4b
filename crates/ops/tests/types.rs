//! Result types and roundings where element types meet (spec linalg 1.3), for every pair of them.

use rung_array::{Array, Convert, Number};
use rung_base::{ElementType, Settings, Shape, bf16, f16};
use rung_ops::{Decline, Ladder, NoCaller, Value, table};

fn ladder() -> Ladder {
    let absent = || Decline::Off("test");
    Ladder::with_rungs(&Settings::default(), None, Err(absent()), Err(absent()))
}

fn call(name: &str, given: Vec<Value>) -> Array {
    let op = table::find(name).unwrap();
    match ladder().call(op, given, &mut NoCaller).unwrap().into_iter().next() {
        Some(Value::Array(a)) => a,
        other => panic!("{name} gave {other:?}"),
    }
}

/// Numbers that a sum of two widths has to round: every type holds the first ones, floats the others nearly.
fn operand(t: ElementType, odd: bool) -> Array {
    let floats = [1.0, 3.0, 0.1, 257.0 / 3.0, 1e-3, 2049.0];
    let wholes = [1.0, 0.0, 1.0, 200.0, 100.0, 77.0];
    let numbers: Vec<f64> = match (t.is_float(), t) {
        (true, _) => floats.iter().map(|x| if odd { x * 1.7 } else { *x }).collect(),
        (_, ElementType::Bool) => wholes.iter().map(|x| f64::from(*x > 0.0)).collect(),
        _ => wholes.to_vec(),
    };
    let doubles = Array::from_slice(&numbers, Shape::vector(numbers.len())).unwrap();
    doubles.convert(t).unwrap()
}

/// Rules 1, 2, 4 and 5, written apart from the ladder's own text.
fn result_of(a: ElementType, b: ElementType) -> ElementType {
    use ElementType::{Bool, I32, I64, U8};
    match (a.is_float(), b.is_float()) {
        (true, _) => a,
        (_, true) => b,
        _ if a == I64 || b == I64 => I64,
        _ if a == I32 || b == I32 => I32,
        (_, _) if [U8, Bool].contains(&a) && [U8, Bool].contains(&b) => U8,
        _ => unreachable!("{a} {b}"),
    }
}

/// The sum at the wider width, narrowed once.
fn sum_of(a: Number, b: Number, [ta, tb]: [ElementType; 2]) -> f64 {
    let result = result_of(ta, tb);
    let double = [ta, tb].contains(&ElementType::F64);
    let narrowed = |x: f64| match result {
        ElementType::F64 => x,
        ElementType::F32 => f64::from(x as f32),
        ElementType::BF16 => bf16::from_number(Number::F64(x)).unwrap().to_f64(),
        ElementType::F16 => f16::from_number(Number::F64(x)).unwrap().to_f64(),
        ElementType::I64 => x,
        ElementType::I32 => f64::from(x as i64 as i32),
        _ => f64::from(x as i64 as u8),
    };
    match result.is_float() && !double {
        true => narrowed(f64::from(a.to_f64() as f32 + b.to_f64() as f32)),
        false => narrowed(a.to_f64() + b.to_f64()),
    }
}

#[test]
fn two_arrays_of_any_types_meet_by_the_rules() {
    for ta in ElementType::ALL {
        for tb in ElementType::ALL {
            let (a, b) = (operand(ta, false), operand(tb, true));
            let sum = call("add", vec![a.clone().into(), b.clone().into()]);
            assert_eq!(sum.element_type(), result_of(ta, tb), "{ta} + {tb}");
            for ((got, x), y) in sum.numbers().zip(a.numbers()).zip(b.numbers()) {
                let want = sum_of(x, y, [ta, tb]);
                assert_eq!(got.to_f64(), want, "{x} {ta} + {y} {tb}");
            }
            // A quotient is a float whatever comes in, a comparison of the first operand's width.
            let quotient = call("div", vec![a.clone().into(), b.clone().into()]);
            let float =
                if ta.is_float() || tb.is_float() { result_of(ta, tb) } else { ElementType::F64 };
            assert_eq!(quotient.element_type(), float, "{ta} / {tb}");
            let mask = call("less", vec![a.into(), b.into()]);
            let width = if ta.is_float() { ta } else { ElementType::F64 };
            assert_eq!(mask.element_type(), width, "{ta} < {tb}");
        }
    }
}

/// Rule 3: a number is rounded to the array's width and widens nothing, on either side.
#[test]
fn a_number_beside_an_array_is_weak() {
    for t in ElementType::ALL {
        let a = operand(t, false);
        for (number, whole) in
            [(Number::F64(0.1), false), (Number::F32(0.1), false), (Number::I64(1), true)]
        {
            let want = if t.is_float() || (whole && t != ElementType::Bool) {
                t
            } else if whole {
                ElementType::U8
            } else {
                ElementType::F64
            };
            let number = || Value::Number(number);
            let right = call("add", vec![a.clone().into(), number()]);
            let left = call("add", vec![number(), a.clone().into()]);
            assert_eq!([right.element_type(), left.element_type()], [want; 2], "{t} {}", number());
        }
    }
    let single = operand(ElementType::F32, false);
    let sum = call("add", vec![single.clone().into(), Value::Number(Number::F64(0.1))]);
    for (got, x) in sum.numbers().zip(single.numbers()) {
        assert_eq!(got.to_f64(), f64::from(x.to_f64() as f32 + 0.1f32));
    }
}
