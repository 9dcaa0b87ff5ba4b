//! Small calls that skip the description of a call give what the definition gives, and leave to it
//! what they do not take.

#[allow(dead_code, reason = "every test file takes what it needs of it")]
mod common;
use common::{ladders, values};
use rung_array::{Array, Number};
use rung_base::{ElementType, Precision, Settings, Shape};
use rung_lanes::{Lanes, Level};
use rung_ops::record::{Part, Quick};
use rung_ops::trial::assert_same;
use rung_ops::{Decline, Ladder, NoCaller, Op, Value, table};

const LENGTHS: [usize; 17] = [0, 1, 2, 3, 4, 7, 8, 9, 15, 17, 63, 64, 65, 511, 513, 4095, 4096];
const ODD: [f64; 7] = [f64::NAN, -0.0, 0.0, f64::INFINITY, f64::NEG_INFINITY, 5e-324, 1e300];

/// Vectors of every length, with odd values among the others, and a few matrices.
fn operands(t: ElementType, seed: usize) -> Vec<Array> {
    let plain = LENGTHS.map(|n| values(&[n], 3.0, t, seed));
    let odd = LENGTHS.map(|n| {
        let all = (0..n).map(|i| if i % 9 == seed { ODD[i % 7] } else { i as f64 - 4.5 });
        Array::vector(&all.collect::<Vec<f64>>()).unwrap().convert(t).unwrap()
    });
    let shapes: [&[usize]; 6] = [&[], &[1, 1], &[4, 4], &[5, 3], &[3, 5], &[33, 33]];
    let matrices = shapes.map(|shape| values(shape, 3.0, t, seed + 5));
    plain.into_iter().chain(odd).chain(matrices).collect()
}

fn part(value: &Value) -> Part<'_> {
    match value {
        Value::Array(a) => Part::Array(a),
        Value::Number(n) => Part::Number(*n),
        other => panic!("no operand: {other}"),
    }
}

/// Compares one call; whether it went the quick way.
fn agrees(op: &'static Op, quick: &[Ladder], definition: &mut Ladder, given: &[Value]) -> bool {
    let parts: Vec<Part> = given.iter().map(part).collect();
    let mut taken = false;
    for ladder in quick {
        let Some(got) = ladder.quick(op, &parts) else { continue };
        taken = true;
        let note = format!("{} of {given:?}", op.name());
        let want = definition.call(op, given.to_vec(), &mut NoCaller);
        let want = want.unwrap_or_else(|e| panic!("{note}: taken, but the definition: {e}"));
        assert_same(&want, &[got], &note);
    }
    taken
}

#[test]
fn small_calls_give_what_the_definition_gives() {
    let mut all = ladders();
    let mut definition = all.remove(0);
    for op in table::operations() {
        let mut taken = 0;
        for t in [ElementType::F64, ElementType::F32] {
            let (left, right) = (operands(t, 1), operands(t, 2));
            let numbers = [Number::I64(3), Number::F64(0.1), Number::F32(-0.0), Number::I64(-1)];
            let numbers: Vec<Value> = numbers.into_iter().map(Value::Number).collect();
            let mut check =
                |given: &[Value]| taken += agrees(op, &all, &mut definition, given) as usize;
            match op.quick {
                Quick::None => continue,
                Quick::One(_) => {
                    left.iter().for_each(|a| check(&[a.clone().into()]));
                    numbers.iter().for_each(|n| check(std::slice::from_ref(n)));
                }
                Quick::Two(_) => {
                    for (a, b) in left.iter().flat_map(|a| right.iter().map(move |b| (a, b))) {
                        check(&[a.clone().into(), b.clone().into()]);
                    }
                    for (a, n) in left.iter().flat_map(|a| numbers.iter().map(move |n| (a, n))) {
                        check(&[a.clone().into(), n.clone()]);
                        check(&[n.clone(), a.clone().into()]);
                    }
                }
            }
        }
        assert!(matches!(op.quick, Quick::None) || taken > 0, "{} was never quick", op.name());
    }
}

#[test]
fn what_is_large_strided_or_of_two_types_goes_the_whole_way() {
    let ladder = ladders().pop().unwrap();
    let quick = |name: &str, parts: &[&Array]| {
        let parts: Vec<Part> = parts.iter().map(|a| Part::Array(a)).collect();
        ladder.quick(table::find(name).unwrap(), &parts).is_some()
    };
    let (a, b) =
        (values(&[4, 4], 1.0, ElementType::F64, 1), values(&[4, 4], 1.0, ElementType::F32, 1));
    let turned = a.transpose(&[1, 0]).unwrap();
    let large = values(&[4097], 1.0, ElementType::F64, 1);
    for (name, parts) in [
        ("sum", vec![&turned]),
        ("sum", vec![&large]),
        ("amax", vec![&large]),
        ("matmul", vec![&a, &b]),
        ("matmul", vec![&turned, &a]),
        ("dot", vec![&large, &large]),
        ("add", vec![&a, &b]),
    ] {
        assert!(!quick(name, &parts), "{name}");
    }
    assert!(quick("sum", &[&a]) && quick("matmul", &[&a, &a]));
}

#[test]
fn a_product_with_a_choice_of_rung_or_precision_goes_the_whole_way() {
    let absent = || Decline::Off("test");
    let mut settings = Settings::default();
    settings.precision.value = Precision::Bf16;
    let lanes = || Some(Lanes::with(Level::detect(), 1));
    let ladder = Ladder::with_rungs(&settings, lanes(), Err(absent()), Err(absent()));
    let a = Array::zeros(ElementType::F32, Shape::new([4, 4]).unwrap()).unwrap();
    let parts = [Part::Array(&a), Part::Array(&a)];
    assert!(ladder.quick(table::find("matmul").unwrap(), &parts).is_none());
    assert!(ladder.quick(table::find("add").unwrap(), &parts).is_some());
}
