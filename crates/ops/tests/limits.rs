//! Devices that lack something: buffers beyond the binding limit are cut into pieces, and what needs
//! doubles or long integers that are not there declines. No bit changes.

#[path = "common/card.rs"]
mod card;
#[path = "../../device/tests/lavapipe/faulty.rs"]
#[allow(dead_code)]
mod faulty;

use faulty::Faulty;
use rung_array::{Array, SliceSpec};
use rung_base::{ElementType, ErrorKind, Explain, Settings, Shape};
use rung_device::{Device, Info, Mask};
use rung_kernel::Variants;
use rung_lanes::Lanes;
use rung_ops::call::first_difference;
use rung_ops::trial::{assert_same, run};
use rung_ops::{Decline, Exactness, Ladder, NoCaller, Op, Value, table};
use std::sync::Arc;

fn faulty(change: impl FnOnce(Faulty) -> Faulty) -> Arc<Faulty> {
    Arc::new(change(Faulty::new(card::device(), None)))
}

fn portable() -> Ladder {
    let off = || Decline::Off("test");
    Ladder::with_rungs(&Settings::default(), None, Err(off()), Err(off()))
}

/// A ladder whose device wants every call.
fn eager(device: Arc<dyn Device>) -> Ladder {
    let mut settings = Settings::default();
    settings.gpu.value = true;
    settings.explain.value = Explain::Table;
    let off = Err(Decline::Off("test"));
    let mut ladder = Ladder::with_rungs(&settings, Some(Lanes::new(2)), off, Ok(device));
    ladder.costs.device.make_free();
    ladder
}

fn numbers(extents: &[usize]) -> Array {
    let shape = Shape::new(extents.iter().copied()).unwrap();
    Array::build::<f32>(shape, |out| {
        for (i, x) in out.iter_mut().enumerate() {
            *x = ((i * 7919) % 1013) as f32 * 0.013 - 6.0;
        }
    })
    .unwrap()
}

fn array(ladder: &mut Ladder, name: &str, of: &[&Array], rest: Vec<Value>) -> Array {
    let values = of.iter().map(|a| Value::Array((*a).clone())).chain(rest).collect();
    match ladder.call(table::find(name).unwrap(), values, &mut NoCaller).unwrap().pop() {
        Some(Value::Array(a)) => a,
        other => panic!("{name}: {other:?}"),
    }
}

fn same(got: &Array, wanted: &Array, context: &str) {
    got.home().unwrap();
    assert_eq!(first_difference(got, wanted), None, "{context}");
}

/// 3 MiB where a kernel sees 1 MiB: element-wise work goes in pieces, what cannot is declined with both
/// numbers.
#[test]
fn buffers_beyond_the_binding_limit_are_cut_or_declined() {
    let device = faulty(|device| device.with_info(|info: &mut Info| info.max_binding = 1 << 20));
    let (mut there, mut here) = (eager(device), portable());
    let (x, y) = (numbers(&[768, 1024]), numbers(&[1024, 768]));
    let turned = y.transpose(&[1, 0]).unwrap();
    let (row, back) = (numbers(&[1024]), x.slice(&[SliceSpec { step: -1, ..ALL }]).unwrap());
    let halves = |a: &Array| a.convert(ElementType::BF16).unwrap();
    let number = || vec![Value::Number(rung_array::Number::F64(0.3))];
    let cases: [(&str, Vec<Array>, Vec<Value>); 7] = [
        ("exp", vec![x.clone()], vec![]),
        ("add", vec![x.clone(), back], vec![]),
        ("mul", vec![x.clone(), row], vec![]),
        ("maximum", vec![x.clone()], number()),
        ("div", vec![x.clone(), x.slice(&[SliceSpec { end: Some(1), ..ALL }]).unwrap()], vec![]),
        ("less", vec![halves(&x), numbers(&[768, 1])], vec![]),
        ("tanh", vec![numbers(&[786_433])], vec![]),
    ];
    for (name, of, rest) in cases {
        there.count_anew();
        let of: Vec<&Array> = of.iter().collect();
        let got = array(&mut there, name, &of, rest.clone());
        same(&got, &array(&mut here, name, &of, rest), name);
        let json = there.calls.json(&|_| String::new());
        assert_eq!(json["calls"][0]["rung"], "device", "{name}: {json}");
    }
    // Its columns lie a whole row apart, so no part of it is small enough.
    for (name, of) in [("softmax", &x), ("cumsum", &x), ("exp", &turned)] {
        there.count_anew();
        let axis = || match name {
            "exp" => vec![],
            _ => vec![Value::Keyword("axis".into()), Value::integer(1)],
        };
        let got = array(&mut there, name, &[of], axis());
        same(&got, &array(&mut here, name, &[of], axis()), name);
        let json = there.calls.json(&|_| String::new());
        if json["calls"][0]["rung"] == "lanes" {
            assert_eq!(json["declines"][0]["code"], "binding", "{name}: {json}");
            let text = "buffer of 3.0 MiB exceeds the device's 1.0 MiB binding";
            assert_eq!(json["declines"][0]["text"], text, "{name}");
        }
    }
}

const ALL: SliceSpec = SliceSpec { start: None, end: None, step: 1 };

/// What a device lacks makes members decline, and changes no bit.
#[test]
fn devices_without_doubles_or_long_integers_decline_or_agree() {
    let masks = [
        Variants { without_f64: true, ..Variants::default() },
        Variants { without_f64: true, without_i64: true, ..Variants::default() },
    ]
    .map(Mask::from);
    for mask in masks {
        let device = match rung_device::probe_with("llvmpipe", mask) {
            Ok(device) => device,
            // Without either there is no exact fused multiply-add in software.
            Err(reason) => {
                assert!(
                    mask.variants.without_i64 && reason.to_string().contains("fused multiply-add")
                );
                continue;
            }
        };
        assert!(!device.info().f64);
        let mut there = eager(device);
        for op in members() {
            check(&mut there, op);
        }
    }
}

fn members() -> impl Iterator<Item = &'static Op> {
    table::operations().filter(|op| op.rungs.device.kernel().is_some())
}

/// The samples of an operation on a device, with singles: the bits of the definition or a decline.
fn check(there: &mut Ladder, op: &'static Op) {
    let mut here = portable();
    for sample in (op.samples)() {
        let of = |keep| sample.iter().map(|v| single(v, keep)).collect::<Vec<Value>>();
        let context = format!("{} {sample:?}", op.name());
        let wanted = run(&mut here, op, of(None));
        let values = of(Some(there));
        let loose = op.exact == Exactness::Kept;
        there.verify(loose);
        match (wanted, run(there, op, values)) {
            // An algorithm of its own was compared within its bound.
            (Ok(_), Ok(_)) if loose => {}
            (Ok(wanted), Ok(got)) => assert_same(&wanted, &got, &context),
            (Err(wanted), Err(got)) => {
                assert_eq!(wanted.to_string(), got.to_string(), "{context}");
            }
            (_, Err(e)) => assert_eq!(e.kind(), ErrorKind::Declined, "{context}: {e}"),
            (Err(e), Ok(_)) => panic!("{context}: {e}"),
        }
    }
}

/// No kernel needs subgroup operations, whatever their size, or more than 256 invocations a group: the
/// smallest device takes all of them.
#[test]
fn the_smallest_device_takes_every_member() {
    let mask = Mask { without_subgroups: true, smallest_groups: true, ..Mask::default() };
    let device = rung_device::probe_with("llvmpipe", mask).unwrap();
    let info = device.info();
    assert_eq!((info.subgroups, info.max_invocations), (false, 256));
    let mut there = eager(device);
    for op in members() {
        check(&mut there, op);
    }
    let json = there.calls.json(&|_| String::new());
    let declines = json["declines"].as_array().unwrap().iter();
    let grids: Vec<_> = declines.filter(|d| d["code"] == "grid").collect();
    assert_eq!(grids, [&serde_json::Value::Null; 0]);
}

/// The value with every array of its own as single-floats where it has floats, on the ladder's device
/// if one is given.
fn single(value: &Value, keep: Option<&Ladder>) -> Value {
    match value {
        Value::Array(a) => {
            let floats = a.element_type() == ElementType::F64;
            let a = if floats { a.convert(ElementType::F32) } else { a.to_owned_copy() }.unwrap();
            if let Some(residency) = keep.and_then(Ladder::residency) {
                residency.keep(&a).unwrap();
            }
            Value::Array(a)
        }
        Value::List(items) => Value::List(items.iter().map(|v| single(v, keep)).collect()),
        other => other.clone(),
    }
}

/// Floor and rates of a card with memory of its own, of one that shares the processor's, and thresholds of
/// one whose driver has no pool.
#[test]
fn a_card_has_the_costs_of_its_memory() {
    let of = |integrated, pooled| {
        let mut info = card::device().info().clone();
        (info.binding, info.integrated, info.pooled) = ("cuda", integrated, pooled);
        let costs = rung_ops::costs::device_costs(&info);
        (costs.floor, costs.up, costs.product, costs.thresholds.map, costs.thresholds.product)
    };
    let (own, shared) = ([0.1e-6, 0.5e-6], [0.34e-6, 4e-6]);
    assert_eq!(of(false, true), (20.0, 12e3, own, Some(1 << 14), Some(1 << 17)));
    assert_eq!(of(true, true), (16.0, 30e3, shared, Some(1 << 14), Some(1 << 17)));
    assert_eq!(of(false, false), (20.0, 12e3, own, Some(1 << 16), Some(1 << 21)));
    assert_eq!(of(true, false), (16.0, 30e3, shared, Some(1 << 16), Some(1 << 21)));
}
