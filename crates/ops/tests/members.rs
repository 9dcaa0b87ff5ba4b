//! Every member of the device over operands that are there already: the definition's bits for every
//! element type and layout, element types mixed, and results that stay.

#[path = "common/card.rs"]
mod card;

use rung_array::{Array, Number};
use rung_base::{ElementType, ErrorKind, Explain, Settings, Shape};
use rung_lanes::Lanes;
use rung_ops::call::first_difference;
use rung_ops::trial::device_types;
use rung_ops::trial::{assert_same, run};
use rung_ops::{Decline, Exactness, Ladder, NoCaller, Op, Rung, Value, table};

fn portable() -> Ladder {
    let off = || Decline::Off("test");
    Ladder::with_rungs(&Settings::default(), None, Err(off()), Err(off()))
}

/// A ladder whose device wants every call.
fn eager() -> Ladder {
    let mut settings = Settings::default();
    settings.gpu.value = true;
    settings.explain.value = Explain::Table;
    let off = Err(Decline::Off("test"));
    let mut ladder = Ladder::with_rungs(&settings, Some(Lanes::new(2)), off, Ok(card::device()));
    ladder.costs.device.make_free();
    ladder
}

/// The value with every array at `t` in storage of its own, as the transpose of its transpose or
/// every other element along its last axis if asked, and on the ladder's device if one is given.
fn prepared(value: &Value, t: ElementType, layout: usize, on: Option<&Ladder>) -> Option<Value> {
    match value {
        Value::Array(a) => {
            let a = laid_out(&a.convert(t).ok()?, layout);
            if let Some(ladder) = on {
                assert!(ladder.residency().unwrap().keep(&a).unwrap() || a.size() == 0);
            }
            Some(Value::Array(a))
        }
        Value::List(items) => {
            let items = items.iter().map(|v| prepared(v, t, layout, on));
            items.collect::<Option<Vec<_>>>().map(Value::List)
        }
        other => Some(other.clone()),
    }
}

fn laid_out(a: &Array, layout: usize) -> Array {
    let back: Vec<usize> = (0..a.rank()).rev().collect();
    match layout {
        0 => a.to_owned_copy().unwrap(),
        1 => a.transpose(&back).unwrap().to_owned_copy().unwrap().transpose(&back).unwrap(),
        // With something else before it in its storage.
        _ => {
            let both = Shape::new([&[2], &a.shape()[..]].concat()).unwrap();
            let twice = a.with_axis(0).unwrap().broadcast_to(&both).unwrap();
            let twice = twice.to_owned_copy().unwrap();
            let part = rung_array::SliceSpec { start: Some(1), end: None, step: 1 };
            twice.slice(&[part]).unwrap().reshape(a.shape().clone()).unwrap()
        }
    }
}

fn check(op: &'static Op, sample: &[Value], t: ElementType, ladders: &mut [Ladder; 2]) -> bool {
    let mut ran = false;
    // How an operand lies is not the affair of its type.
    let layouts = if cfg!(debug_assertions) && t != ElementType::F32 { 1 } else { 3 };
    for layout in 0..layouts {
        let values = |on: Option<&Ladder>| -> Option<Vec<Value>> {
            sample.iter().map(|v| prepared(v, t, layout, on)).collect()
        };
        let Some(here) = values(None) else { return ran };
        let [portable, device] = ladders;
        let loose = op.exact == Exactness::Kept;
        device.verify(loose);
        let there = values(Some(device)).unwrap();
        let context = format!("{} of {t} {sample:?}, layout {layout}", op.name());
        match (run(portable, op, here), run(device, op, there)) {
            (Ok(wanted), Ok(got)) => {
                // An algorithm of its own was compared within its bound.
                if !loose {
                    assert_same(&wanted, &got, &context);
                }
                ran = true;
            }
            (_, Err(e)) if e.kind() == ErrorKind::Declined => {}
            (Err(wanted), Err(got)) => assert_eq!(wanted.to_string(), got.to_string(), "{context}"),
            (wanted, got) => panic!("{context}: {wanted:?}, then {got:?}"),
        }
    }
    ran
}

#[test]
fn every_member_gives_the_bits_of_the_definition_over_residents() {
    let mut ladders = [portable(), eager()];
    ladders[1].only = Some(Rung::Device);
    let mut failed = Vec::new();
    let members = table::operations().filter(|op| op.rungs.device.kernel().is_some());
    for (number, op) in members.enumerate() {
        let types = device_types(op, number);
        // One run names every operation that fails.
        let judged = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| {
            let mut ran = false;
            for sample in (op.samples)() {
                for &t in &types {
                    ran |= check(op, &sample, t, &mut ladders);
                }
            }
            ran
        }));
        match judged {
            Ok(true) => {}
            Ok(false) => failed.push(format!("{} never ran on residents", op.name())),
            Err(_) => failed.push(op.name().to_string()),
        }
    }
    assert_eq!(failed, [""; 0]);
}

/// Two numbers ride in a launch's parameters, as floats or as integers: each has a kernel of its own.
#[test]
fn a_kernel_of_floats_is_not_used_for_whole_numbers() {
    let mut ladders = [portable(), eager()];
    let pairs = [[Number::F64(-7.0), Number::F64(3.0)], [Number::I64(-7), Number::I64(3)]];
    for name in ["less", "greater", "maximum"] {
        let op = table::find(name).unwrap();
        for pair in pairs {
            let values = || pair.map(Value::Number).to_vec();
            let [wanted, got] = ladders.each_mut().map(|ladder| run(ladder, op, values()).unwrap());
            assert_same(&wanted, &got, name);
        }
    }
}

/// Numbers that every element type has, and some that only floats have.
fn numbers(t: ElementType, at: usize, extents: &[usize]) -> Array {
    let shape = Shape::new(extents.iter().copied()).unwrap();
    let list: Vec<f64> = (0..shape.size())
        .map(|i| {
            let n = ((i + at) * 7919 % 97) as f64;
            match t {
                ElementType::Bool => n % 2.0,
                ElementType::U8 => n,
                t if t.is_float() && i % 5 == 0 => n * 0.1 - 3.0,
                ElementType::I64 if i % 7 == 0 => n * 94_906_265_624.0 + 1.0,
                _ => n - 48.0,
            }
        })
        .collect();
    Array::from_slice(&list, shape).unwrap().convert(t).unwrap()
}

fn named(ladder: &mut Ladder, name: &str, values: Vec<Value>) -> Vec<Value> {
    run(ladder, table::find(name).unwrap(), values).unwrap()
}

/// The rungs of the calls that were counted.
fn rungs(ladder: &Ladder) -> Vec<String> {
    let json = ladder.calls.json(&|_| String::new());
    let rows = json["calls"].as_array().unwrap().iter();
    rows.map(|row| row["rung"].as_str().unwrap().to_string()).collect()
}

/// Pairs that hurt, as often as it takes, the second one never an integer zero.
fn pairs(t: ElementType, count: usize) -> [Array; 2] {
    const A: [f64; 13] = [
        7.0,
        -7.0,
        5.5,
        -0.0,
        1e300,
        -3e38,
        f64::NAN,
        f64::INFINITY,
        5e-324,
        1e-40,
        2147483647.0,
        -1.5,
        0.0,
    ];
    const B: [f64; 11] =
        [3.0, -3.0, 0.1, f64::INFINITY, -1e-310, 0.0, 65504.0, f64::NAN, 1.0, 2.0, -0.0];
    let whole = |i: usize| ((i * 7919 % 251) as f64, [3.0, 2.0, 7.0, 1.0, 11.0][i % 5]);
    let pair = |i: usize| match t {
        t if t.is_float() => (A[i % A.len()], B[i % B.len()]),
        ElementType::Bool => ((i % 2) as f64, 1.0),
        ElementType::U8 => whole(i),
        _ => (whole(i).0 - 125.0, whole(i).1 * if i.is_multiple_of(3) { -1.0 } else { 1.0 }),
    };
    let array = |of: fn((f64, f64)) -> f64| {
        let list: Vec<f64> = (0..count).map(|i| of(pair(i))).collect();
        Array::from_slice(&list, Shape::vector(count)).unwrap().convert(t).unwrap()
    };
    [array(|(a, _)| a), array(|(_, b)| b)]
}

/// Remainders of floats and powers of integers ran on the processor.
#[test]
fn divisions_and_powers_of_every_type_run_on_the_device() {
    let (mut here, mut there) = (portable(), eager());
    there.only = Some(Rung::Device);
    let residency = there.residency().unwrap().clone();
    for t in ElementType::ALL {
        for count in [0, 1, 143, 4097] {
            let [a, b] = pairs(t, count);
            let columns = [count, 2];
            let column = |a: &Array| a.with_axis(1).unwrap();
            let wide = column(&a).broadcast_to(&Shape::new(columns).unwrap()).unwrap();
            let magnitude = match t.is_float() {
                true => b.clone(),
                false => pairs(ElementType::U8, count)[1].convert(t).unwrap(),
            };
            for (name, x, y) in [
                ("mod", &a, &b),
                ("floor-divide", &a, &b),
                ("mod", &wide, &column(&b)),
                ("power", &a, &magnitude),
            ] {
                let [x, y] = [x, y].map(|x| x.to_owned_copy().unwrap());
                residency.keep(&x).unwrap();
                residency.keep(&y).unwrap();
                let values = || vec![x.clone().into(), y.clone().into()];
                let context = format!("{name} of {count} {t}");
                let wanted = named(&mut here, name, values());
                let got = named(&mut there, name, values());
                assert_same(&wanted, &got, &context);
            }
        }
    }
}

/// Integers that are on the device alone came home to be counted.
#[test]
fn integers_are_counted_where_they_are() {
    let (mut here, mut there) = (portable(), eager());
    let residency = there.residency().unwrap().clone();
    for t in [ElementType::I64, ElementType::I32, ElementType::U8, ElementType::Bool] {
        for count in [0, 1, 255, 4097] {
            let numbers = pairs(ElementType::U8, count)[0].convert(t).unwrap();
            let minlength = || [Value::Keyword("minlength".into()), Value::integer(300)];
            for rest in [vec![], minlength().to_vec()] {
                let values = |a: &Array| [vec![a.clone().into()], rest.clone()].concat();
                let wanted = named(&mut here, "bincount", values(&numbers));
                // As 0 + x it has its only elements there.
                residency.keep(&numbers).unwrap();
                let zero = Value::integer(0);
                there.count_anew();
                let sum = named(&mut there, "bit-or", vec![numbers.clone().into(), zero]);
                let json = there.calls.json(&|_| String::new());
                assert!(count == 0 || rungs(&there) == ["device"], "{t} {count}: {json}");
                let Some(Value::Array(sum)) = sum.into_iter().next() else { panic!("no array") };
                let down = residency.moved().down;
                there.count_anew();
                let got = named(&mut there, "bincount", values(&sum));
                // Nothing is on no device.
                let ran = rungs(&there);
                assert!(count == 0 || ran.iter().all(|r| r == "device"), "{t} {count}: {ran:?}");
                assert!(residency.moved().down - down <= 16, "{t} {count}");
                assert_same(&wanted, &got, &format!("{count} {t}"));
            }
        }
    }
    let bad = Array::vector(&[3i64, -2, 5]).unwrap();
    residency.keep(&bad).unwrap();
    let op = table::find("bincount").unwrap();
    let errors = [&mut here, &mut there]
        .map(|ladder| run(ladder, op, vec![bad.clone().into()]).unwrap_err().to_string());
    assert_eq!(errors[0], errors[1]);
}

/// The counter-based generator had no kernel.
#[test]
fn counter_based_draws_are_those_of_the_definition() {
    use rung_math::philox::State;
    let (mut here, mut there) = (portable(), eager());
    there.only = Some(Rung::Device);
    let states = [
        State { key: 7, stream: 0, offset: 0 },
        State { key: u64::MAX - 2, stream: 1 << 40, offset: 3 },
        State { key: 1 << 35, stream: 9, offset: u64::MAX - 1001 },
    ];
    for (at, state) in states.into_iter().enumerate() {
        for count in [0, 1, 2, 3, 255, 256, 257, 4097] {
            for t in ElementType::FLOATS {
                for name in ["rand", "%la-normal-fill"] {
                    let draw = |ladder: &mut Ladder| {
                        let generator = rung_ops::Generator::new(0, 0);
                        generator.set(state);
                        let values = vec![
                            Value::List(vec![Value::integer(count)]),
                            Value::Keyword("element-type".into()),
                            Value::Keyword(t.name().into()),
                            Value::Keyword("generator".into()),
                            Value::Generator(generator.clone()),
                        ];
                        (named(ladder, name, values), generator.state())
                    };
                    let [wanted, got] = [&mut here, &mut there].map(draw);
                    assert_same(&wanted.0, &got.0, &format!("{name} {count} {t}, state {at}"));
                    assert_eq!(wanted.1, got.1);
                }
            }
        }
    }
}

#[test]
fn element_types_may_be_mixed_without_leaving_the_device() {
    let (mut here, mut there) = (portable(), eager());
    let residency = there.residency().unwrap().clone();
    for (ta, tb) in ElementType::ALL.into_iter().flat_map(|a| ElementType::ALL.map(|b| (a, b))) {
        let (a, b) = (numbers(ta, 0, &[3, 43]), numbers(tb, 5, &[43]));
        let mask = numbers(ta, 9, &[3, 1]);
        let list = |a: &Array, b: &Array| {
            let [a, b] = [(a, b), (b, a)].map(|(a, b)| match a.rank() < b.rank() {
                true => a.broadcast_to(b.shape()).unwrap(),
                false => a.clone(),
            });
            vec![Value::List(vec![a.into(), b.into()])]
        };
        let rows = |at: &[i64]| Value::List(at.iter().map(|&i| Value::integer(i)).collect());
        let calls = |a: &Array, b: &Array, mask: &Array| -> Vec<(&str, Vec<Value>)> {
            let pair = || vec![a.clone().into(), b.clone().into()];
            vec![
                ("add", pair()),
                ("div", pair()),
                ("maximum", pair()),
                ("less", pair()),
                ("logical-xor", pair()),
                ("where", [vec![mask.clone().into()], pair()].concat()),
                ("concatenate", list(a, b)),
                ("stack", list(b, a)),
                ("scatter-add", vec![a.clone().into(), rows(&[2, 0, 2]), a.clone().into()]),
                ("scatter-add", vec![a.clone().into(), rows(&[1]), b.clone().into()]),
            ]
        };
        let wanted = calls(&a, &b, &mask);
        let copies = [&a, &b, &mask].map(|a| a.to_owned_copy().unwrap());
        for copy in &copies {
            assert!(residency.keep(copy).unwrap());
        }
        let down = residency.moved().down;
        let mut results = Vec::new();
        for (name, values) in calls(&copies[0], &copies[1], &copies[2]) {
            there.count_anew();
            results.push((name, named(&mut there, name, values)));
            // The operands are here as well: a decline would move nothing.
            assert_eq!(rungs(&there), ["device"], "{name} of {ta} and {tb}");
        }
        assert_eq!(residency.moved().down, down, "{ta} and {tb}");
        for ((name, values), (_, got)) in wanted.into_iter().zip(results) {
            let context = format!("{name} of {ta} and {tb}");
            let wanted = named(&mut here, name, values);
            assert_same(&wanted, &got, &context);
        }
    }
}

#[test]
fn conversions_are_made_where_the_array_is() {
    let (mut here, mut there) = (portable(), eager());
    let residency = there.residency().unwrap().clone();
    for (from, to) in ElementType::ALL.into_iter().flat_map(|a| ElementType::ALL.map(|b| (a, b))) {
        let a = numbers(from, 3, &[5, 31]);
        let copy = a.to_owned_copy().unwrap();
        assert!(residency.keep(&copy).unwrap());
        let word = || Value::Keyword(to.name().into());
        let op = table::find("astype").unwrap();
        let wanted = run(&mut here, op, vec![a.into(), word()]);
        let got = run(&mut there, op, vec![copy.into(), word()]);
        match (wanted, got) {
            (Ok(wanted), Ok(got)) => assert_same(&wanted, &got, &format!("{from} to {to}")),
            (Err(wanted), Err(got)) => assert_eq!(wanted.to_string(), got.to_string()),
            (wanted, got) => panic!("{from} to {to}: {wanted:?}, then {got:?}"),
        }
    }
}

/// A step over weights on the device changes them and nobody who shared them.
#[test]
fn a_step_over_residents_changes_no_array_that_shared_the_weights() {
    let mut there = eager();
    let residency = there.residency().unwrap().clone();
    let array = |at| numbers(ElementType::F32, at, &[300]);
    let (x, g, m, v) = (array(0), array(1), array(2), numbers(ElementType::U8, 3, &[300]));
    let v = v.convert(ElementType::F32).unwrap();
    let before = x.to_owned_copy().unwrap();
    let shared = x.clone();
    assert!(residency.keep(&x).unwrap());
    let ps = [1e-3, 1e-5, 0.01, 0.9, 0.1, 0.999, 1e-3, 1e-8, 0.271, 2.997e-3, 2.0];
    let ps = Array::vector(&ps).unwrap();
    let values: Vec<Value> =
        [&x, &g, &m, &v, &ps].into_iter().map(|a| Value::Array(a.clone())).collect();
    let op = table::find("%la-adam-step").unwrap();
    let mut targets = vec![x, m, v];
    let wanted = run(&mut portable(), op, values.clone()).unwrap();
    there.assign(op, values, &mut targets, &mut NoCaller).unwrap();
    assert!(targets.iter().all(|a| !a.is_home() && residency.holds(a)));
    for (wanted, got) in wanted.iter().zip(targets) {
        assert_same(std::slice::from_ref(wanted), &[got.into()], "adam");
    }
    assert_eq!(first_difference(&before, &shared), None);
}

#[test]
fn results_of_copies_folds_and_picks_stay() {
    let mut there = eager();
    let residency = there.residency().unwrap().clone();
    let x = numbers(ElementType::BF16, 0, &[40, 30]);
    assert!(residency.keep(&x).unwrap());
    let turned = x.transpose(&[1, 0]).unwrap();
    let word = |name: &'static str| Value::Keyword(name.into());
    let axis = |n| vec![word("axis"), Value::integer(n)];
    let of = |rest: Vec<Value>| [vec![Value::Array(x.clone())], rest].concat();
    let list = |n: &[i64]| Value::List(n.iter().map(|&i| Value::integer(i)).collect());
    let calls = [
        ("copy", vec![turned.clone().into()]),
        ("reshape", vec![turned.clone().into(), list(&[1200])]),
        ("pad", of(vec![Value::integer(1)])),
        ("roll", of(vec![Value::integer(7)])),
        ("triu", of(vec![])),
        ("take-rows", of(vec![list(&[3, 3, -1])])),
        ("isnan", of(vec![])),
        ("sum", of(axis(0))),
        ("std", of(axis(1))),
        ("argmax", of(axis(1))),
        ("any", of(axis(0))),
        ("cumsum", of(axis(1))),
        ("softplus", of(vec![])),
    ];
    for (name, values) in calls {
        let wanted = named(&mut portable(), name, values.clone());
        let got = named(&mut there, name, values);
        let Some(Value::Array(array)) = got.first() else { panic!("{name}: no array") };
        assert!(!array.is_home() && residency.holds(array), "{name}");
        assert_same(&wanted, &got, name);
    }
}

/// The members that spec acceleration 3 names, by tier.
const MEMBERS: [(&str, &[&str]); 11] = [
    ("products", &["dot", "matmul", "einsum", "tensordot", "conv1d", "outer"]),
    ("transforms", &["fft", "ifft", "rfft", "irfft"]),
    (
        "triangular",
        &["det", "slogdet", "inv", "solve", "lu", "lu-solve", "solve-triangular", "cholesky"],
    ),
    (
        "map",
        &[
            "exp", "log", "tanh", "sin", "cos", "tan", "asin", "acos", "atan", "sinh", "cosh",
            "erf", "power", "expm1", "log1p", "sigmoid",
        ],
    ),
    (
        "fused",
        &[
            "softmax",
            "log-softmax",
            "%la-gelu",
            "%la-layer-norm",
            "%la-layer-norm-affine",
            "%la-masked-softmax",
            "%la-softmax-grad",
            "%la-log-softmax-grad",
            "%la-layer-norm-grad",
        ],
    ),
    (
        "wide",
        &[
            "add",
            "sub",
            "mul",
            "div",
            "maximum",
            "minimum",
            "less",
            "greater-equal",
            "equal",
            "logical-and",
            "isnan",
        ],
    ),
    (
        "fold",
        &[
            "sum",
            "mean",
            "var",
            "std",
            "amax",
            "amin",
            "argmax",
            "argmin",
            "prod",
            "any",
            "all",
            "count-nonzero",
            "norm",
            "cumsum",
            "cumprod",
            "trace",
            "%la-sum-squares",
        ],
    ),
    ("fill", &["rand", "randn", "uniform", "%la-rng-fill"]),
    (
        "resident",
        &[
            "sqrt",
            "abs",
            "negative",
            "sign",
            "reciprocal",
            "square",
            "relu",
            "where",
            "clip",
            "%la-adam-step",
            "%la-scale",
        ],
    ),
    ("copies", &["copy", "concatenate", "stack", "pad", "tile", "roll", "triu", "tril", "astype"]),
    (
        "index driven",
        &[
            "take-rows",
            "gather",
            "take",
            "compress",
            "scatter-add",
            "%la-scatter-rows",
            "sort",
            "argsort",
            "topk",
            "searchsorted",
            "histogram",
            "interp",
            "%la-im2col",
            "%la-col2im",
            "%la-max-pool",
            "%la-avg-pool",
            "%la-avg-pool-grad",
        ],
    ),
];

/// Whether explain shows that every call of an operation over residents ran on the device.
fn runs_there(op: &'static Op, sample: &[Value], ladder: &mut Ladder) -> bool {
    let arrays = |v: &Value| prepared(v, ElementType::F32, 0, Some(ladder));
    let Some(values) = sample.iter().map(arrays).collect::<Option<Vec<_>>>() else { return false };
    ladder.count_anew();
    if run(ladder, op, values).is_err() {
        return false;
    }
    let json = ladder.calls.json(&|_| String::new());
    let rows = json["calls"].as_array().unwrap();
    !rows.is_empty() && rows.iter().all(|row| row["rung"] == "device")
}

#[test]
fn the_members_of_the_specification_run_on_the_device_and_explain_says_so() {
    let mut ladder = eager();
    let mut absent = Vec::new();
    for (tier, names) in MEMBERS {
        for name in names {
            let op = table::find(name).unwrap_or_else(|| panic!("{tier}: no {name}"));
            if !(op.samples)().iter().any(|sample| runs_there(op, sample, &mut ladder)) {
                absent.push(format!("{tier}: {name}"));
            }
        }
    }
    assert_eq!(absent, [""; 0]);
}

/// Every kernel as PTX.
#[test]
#[cfg(target_os = "linux")]
fn the_same_over_the_stand_in_for_nvidia_s_driver() {
    let quick = [
        "conversions_are_made_where_the_array_is",
        "counter_based_draws_are_those_of_the_definition",
        "divisions_and_powers_of_every_type_run_on_the_device",
        "element_types_may_be_mixed_without_leaving_the_device",
        "integers_are_counted_where_they_are",
        "results_of_copies_folds_and_picks_stay",
        "the_members_of_the_specification_run_on_the_device_and_explain_says_so",
    ];
    card::again_as_ptx(&quick, &[]);
}
