//! Factorisations and solves on a device: the bits of the definition about the blocks of columns,
//! over operands here and there, stacks that broadcast, matrices that hurt; and the same errors.

#[path = "common/card.rs"]
mod card;
#[path = "../../device/tests/lavapipe/faulty.rs"]
#[allow(dead_code)]
mod faulty;

use rung_array::Array;
use rung_base::{ElementType, Explain, Settings, Shape};
use rung_device::Device;
use rung_lanes::Lanes;
use rung_ops::arguments::Arguments;
use rung_ops::call::{Context, Detail, Prepared};
use rung_ops::trial::{assert_same, run};
use rung_ops::{Decline, Ladder, Rung, Value, table};
use std::sync::Arc;

fn portable() -> Ladder {
    let off = || Decline::Off("test");
    Ladder::with_rungs(&Settings::default(), None, Err(off()), Err(off()))
}

fn with_device() -> Ladder {
    with(card::device())
}

fn with(device: Arc<dyn Device>) -> Ladder {
    let mut settings = Settings::default();
    settings.gpu.value = true;
    settings.explain.value = Explain::Table;
    let off = Err(Decline::Off("test"));
    Ladder::with_rungs(&settings, Some(Lanes::new(2)), off, Ok(device))
}

/// A ladder that asks the device alone.
fn device_alone() -> Ladder {
    let mut ladder = with_device();
    ladder.costs.device.make_free();
    ladder.only = Some(Rung::Device);
    ladder
}

fn array(extents: &[usize], element: impl Fn(usize) -> f64) -> Array {
    let shape = Shape::new(extents.iter().copied()).unwrap();
    let list: Vec<f64> = (0..shape.size()).map(element).collect();
    Array::from_slice(&list, shape).unwrap()
}

/// Numbers in [-1, 1) with full significands.
fn spread(extents: &[usize], seed: usize) -> Array {
    array(extents, |i| {
        let fraction = (i + seed + 1) as f64 * 0.618_033_988_749_894_9;
        2.0 * (fraction - fraction.floor()) - 1.0
    })
}

/// The same with n on the diagonals.
fn definite(extents: &[usize]) -> Array {
    let n = extents[extents.len() - 1];
    let x: Vec<f64> = spread(extents, 3).numbers().map(|x| x.to_f64()).collect();
    array(extents, |i| if i / n % n == i % n { n as f64 + 2.0 } else { x[i] })
}

fn word(name: &'static str) -> Value {
    Value::Keyword(name.into())
}

/// Every factorisation of a, and every solve of a and b.
fn calls(a: &Array, b: &Array) -> Vec<(&'static str, Vec<Value>)> {
    let (a, b) = (|| Value::Array(a.clone()), || Value::Array(b.clone()));
    let flags = |names: &[&'static str]| -> Vec<Value> {
        names.iter().flat_map(|name| [word(name), Value::True]).collect()
    };
    let triangle = |names: &[&'static str]| [vec![a(), b()], flags(names)].concat();
    vec![
        ("det", vec![a()]),
        ("slogdet", vec![a()]),
        ("inv", vec![a()]),
        ("lu", vec![a()]),
        ("solve", vec![a(), b()]),
        ("cholesky", vec![a()]),
        ("cholesky", [vec![a()], flags(&["upper"])].concat()),
        ("solve-triangular", triangle(&[])),
        ("solve-triangular", triangle(&["lower"])),
        ("solve-triangular", triangle(&["lower", "trans", "unit"])),
        ("solve-triangular", triangle(&["trans"])),
    ]
}

/// The results or the text of the error, the device's beside the definition's, with the operands
/// here and on the device.
fn check(ladders: &mut [Ladder; 2], name: &str, values: &[Value]) {
    let op = table::find(name).unwrap();
    let wanted = run(&mut ladders[0], op, values.to_vec());
    for resident in [false, true] {
        // What the first call sent stays, so the calls after it find it there in both rounds.
        let own = |value: &Value| {
            if let (Value::Array(a), true) = (value, resident) {
                ladders[1].residency().unwrap().keep(a).unwrap();
            }
            value.clone()
        };
        let values: Vec<Value> = values.iter().map(own).collect();
        let shapes: Vec<String> = values.iter().map(Value::to_string).collect();
        let context = format!("{name} {}, resident {resident}", shapes.join(" "));
        match (&wanted, run(&mut ladders[1], op, values)) {
            (Ok(wanted), Ok(got)) => assert_same(wanted, &got, &context),
            (Err(wanted), Err(got)) => assert_eq!(wanted.to_string(), got.to_string(), "{context}"),
            (wanted, got) => panic!("{context}: {wanted:?}, then {got:?}"),
        }
    }
}

#[test]
fn extents_about_the_blocks() {
    let mut ladders = [portable(), device_alone()];
    for n in [1, 2, 31, 32, 33, 64, 65] {
        for (a, b) in [
            (spread(&[n, n], n), spread(&[n], 1)),
            (definite(&[n, n]), spread(&[n, 3], 2)),
            (definite(&[n, n]).convert(ElementType::F32).unwrap(), spread(&[n, 1], 5)),
        ] {
            // A matrix that is not definite fails alike.
            for (name, values) in calls(&a, &b) {
                check(&mut ladders, name, &values);
            }
        }
    }
}

#[test]
fn empty_matrices_and_no_right_hand_sides() {
    let mut ladders = [portable(), device_alone()];
    for (a, b) in [
        (definite(&[0, 0]), spread(&[0], 1)),
        (definite(&[0, 0]), spread(&[0, 3], 1)),
        (definite(&[3, 0, 0]), spread(&[3, 0, 2], 1)),
        (definite(&[0, 4, 4]), spread(&[4], 1)),
        (definite(&[4, 4]), spread(&[4, 0], 1)),
    ] {
        for (name, values) in calls(&a, &b) {
            check(&mut ladders, name, &values);
        }
    }
}

#[test]
fn stacks_broadcast_and_strides_are_read_where_they_are() {
    let mut ladders = [portable(), device_alone()];
    let turned = definite(&[2, 35, 35]).transpose(&[0, 2, 1]).unwrap();
    for (a, b) in [
        (definite(&[2, 1, 34, 34]), spread(&[3, 34, 2], 1)),
        (turned, spread(&[35], 4)),
        (definite(&[5, 5]), spread(&[7, 5, 2], 1).transpose(&[0, 1, 2]).unwrap()),
        (definite(&[4, 3, 3]), spread(&[3, 3], 1).transpose(&[1, 0]).unwrap()),
    ] {
        for (name, values) in calls(&a, &b) {
            check(&mut ladders, name, &values);
        }
    }
}

#[test]
fn matrices_that_hurt_give_the_same_bits_or_the_same_error() {
    let mut ladders = [portable(), device_alone()];
    type Hurt = fn(usize, usize, f64) -> f64;
    const HURTS: [Hurt; 10] = [
        |i, n, x| if i == n * n / 2 { f64::NAN } else { x },
        |i, n, x| if i == n * n - 1 { f64::INFINITY } else { x },
        |_, _, x| x * 1e-310,
        |_, _, x| x * 1e300,
        |_, _, _| 1.0,
        |_, _, _| -0.0,
        |i, n, x| if i % n == n / 2 { 0.0 } else { x },
        |i, n, x| if i % n == n / 2 { -0.0 } else { x },
        |i, _, _| [1.0, -1.0, 2.0][i * 7 % 3],
        |i, n, x| if i == n + 1 { 0.0 } else { x },
    ];
    for n in [2, 5, 33] {
        for hurt in HURTS {
            let x: Vec<f64> = definite(&[n, n]).numbers().map(|x| x.to_f64()).collect();
            let one = array(&[n, n], |i| hurt(i, n, x[i]));
            // Beside one that does not hurt, so that the text names the matrix.
            let two =
                array(
                    &[2, n, n],
                    |i| if i < n * n { x[i] } else { hurt(i - n * n, n, x[i - n * n]) },
                );
            for a in [one, two] {
                for (name, values) in calls(&a, &spread(&[n, 2], 1)) {
                    check(&mut ladders, name, &values);
                }
            }
        }
    }
}

#[test]
fn lu_solve_takes_what_lu_gave() {
    let mut ladders = [portable(), device_alone()];
    for (extents, right) in [(&[40, 40][..], &[40, 3][..]), (&[2, 33, 33], &[33]), (&[1, 1], &[1])]
    {
        let lu = run(&mut ladders[0], table::find("lu").unwrap(), vec![spread(extents, 9).into()]);
        let mut lu = lu.unwrap();
        lu.push(spread(right, 1).into());
        check(&mut ladders, "lu-solve", &lu);
    }
    let zero =
        vec![array(&[2, 2], |i| [1.0, 2.0, 0.5, 0.0][i]).into(), array(&[2], |_| 1.0).into()];
    check(&mut ladders, "lu-solve", &[zero, vec![spread(&[2], 1).into()]].concat());
}

/// What is factorised where it lies stays there, of every width; only what decides about an error
/// comes home.
#[test]
fn results_of_residents_stay() {
    let mut ladder = device_alone();
    let residency = ladder.residency().unwrap().clone();
    for t in [ElementType::F64, ElementType::F32, ElementType::BF16] {
        let (a, b) = (definite(&[20, 20]), spread(&[20, 20], 1));
        let [a, b] = [a, b].map(|x| x.convert(t).unwrap());
        assert!(residency.keep(&a).unwrap() && residency.keep(&b).unwrap());
        for (name, values) in calls(&a, &b).into_iter().skip(2) {
            let down = residency.moved().down;
            let got = run(&mut ladder, table::find(name).unwrap(), values).unwrap();
            let Value::Array(got) = &got[0] else { panic!("{name}: {got:?}") };
            assert!(!got.is_home() && residency.holds(got), "{name} of {t}");
            assert_eq!(got.element_type(), t, "{name}");
            assert!(residency.moved().down - down <= 20 * 8, "{name} of {t}");
        }
    }
}

/// Launches were a guess of the costs: a quarter of one a column.
#[test]
fn the_costs_know_how_many_launches_a_plan_has() {
    let device = Arc::new(faulty::Faulty::new(card::device(), None));
    let mut ladder = with(device.clone());
    ladder.costs.device.make_free();
    ladder.only = Some(Rung::Device);
    for n in [1, 32, 33, 100] {
        for (name, values) in calls(&definite(&[n, n]), &spread(&[n, 3], 1)) {
            let op = table::find(name).unwrap();
            let arguments = Arguments::bind(op, values.clone()).unwrap();
            let prepared = (op.prepare)(op, arguments, &mut Context::default()).unwrap();
            let Prepared::Call(call) = prepared else { panic!("{name} is no call") };
            let Detail::Matrices(m) = &call.detail else { panic!("{name} has no matrices") };
            let before = device.calls(faulty::Call::Launch);
            run(&mut ladder, op, values).unwrap();
            let launches = device.calls(faulty::Call::Launch) - before;
            assert_eq!(m.in_turn.launches as u64, launches, "{name} of {n}");
        }
    }
}

#[test]
fn a_round_trip_begins_at_the_threshold_and_says_so() {
    let mut ladder = with_device();
    let a = definite(&[40, 40]);
    run(&mut ladder, table::find("inv").unwrap(), vec![a.clone().into()]).unwrap();
    let json = ladder.calls.json(&|_| String::new());
    assert_eq!(json["calls"][0]["rung"], "lanes");
    let text = "too small: 85,336 < 4,194,304 multiply-adds";
    assert_eq!(json["declines"][0]["text"], text, "{json}");
    ladder.count_anew();
    ladder.costs.device.make_free();
    run(&mut ladder, table::find("inv").unwrap(), vec![a.into()]).unwrap();
    let json = ladder.calls.json(&|_| String::new());
    assert_eq!(json["calls"][0]["rung"], "device", "{json}");
}

/// Every kernel as PTX.
#[test]
#[cfg(target_os = "linux")]
fn the_same_over_the_stand_in_for_nvidia_s_driver() {
    let quick =
        ["lu_solve_takes_what_lu_gave", "stacks_broadcast_and_strides_are_read_where_they_are"];
    // Its threshold is that of other devices.
    card::again_as_ptx(&quick, &["a_round_trip_begins_at_the_threshold_and_says_so"]);
}
