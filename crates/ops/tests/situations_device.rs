//! What went wrong for users of other array libraries, and must not here: the situations of the
//! reference that concern a device, by their numbers. The device is lavapipe, with the memory, the
//! limits and the features that a test gives it. Those seen from a program are in
//! `crates/rung/tests/situations.rs`, those of the processor in `situations.rs`.

#[path = "common/card.rs"]
mod card;
#[path = "../../device/tests/lavapipe/faulty.rs"]
#[allow(dead_code)]
mod faulty;
#[path = "../../device/tests/lavapipe/idle.rs"]
mod idle;

use faulty::{Call, Fault, Faulty};
use idle::Idle;
use rung_array::{Array, Number};
use rung_base::{ElementType, Explain, Settings, Shape};
use rung_device::{Device, FailureCode};
use rung_lanes::Lanes;
use rung_ops::call::first_difference;
use rung_ops::{Decline, Ladder, NoCaller, Value, table};
use std::sync::Arc;

const MIB: usize = 1 << 20;

/// A ladder whose device wants every call.
fn eager(device: Arc<dyn Device>) -> Ladder {
    let mut settings = Settings::default();
    settings.gpu.value = true;
    settings.explain.value = Explain::Table;
    let off = Err(Decline::Off("--blas"));
    let mut ladder = Ladder::with_rungs(&settings, Some(Lanes::new(2)), off, Ok(device));
    ladder.costs.device.make_free();
    ladder
}

fn without_device() -> Ladder {
    let off = |flag| Err(Decline::Off(flag));
    let library = Err(Decline::Off("--blas"));
    Ladder::with_rungs(&Settings::default(), Some(Lanes::new(2)), library, off("--gpu"))
}

/// Values between -4 and 4, no two neighbours alike.
fn array(t: ElementType, extents: &[usize]) -> Array {
    let shape = Shape::new(extents.iter().copied()).unwrap();
    let value = |i: usize| (i * 2_654_435_761 % 1024) as f64 / 128.0 - 4.0;
    let all: Vec<f64> = (0..shape.size()).map(value).collect();
    Array::from_slice(&all, shape).unwrap().convert(t).unwrap()
}

fn values(arrays: &[&Array]) -> Vec<Value> {
    arrays.iter().map(|&a| Value::Array(a.clone())).collect()
}

fn call(ladder: &mut Ladder, name: &str, values: Vec<Value>) -> Value {
    ladder.call(table::find(name).unwrap(), values, &mut NoCaller).unwrap().remove(0)
}

fn assert_same(got: &Value, wanted: &Value, context: &str) {
    match (got, wanted) {
        (Value::Array(got), Value::Array(wanted)) => {
            got.home().unwrap();
            assert_eq!(first_difference(got, wanted), None, "{context}");
        }
        (got, wanted) => assert_eq!(got.to_string(), wanted.to_string(), "{context}"),
    }
}

/// The declines of the device so far: code and text.
fn declines(ladder: &Ladder) -> Vec<(String, String)> {
    let json = ladder.calls.json(&|_| String::new());
    let declines = json["declines"].as_array().unwrap().iter();
    let word = |d: &serde_json::Value, key: &str| d[key].as_str().unwrap().to_string();
    declines.filter(|d| d["rung"] == "device").map(|d| (word(d, "code"), word(d, "text"))).collect()
}

/// A device with 64 MiB to give (and as much that is left to others) is asked for 65 MiB.
#[test]
fn situations_05_memory_that_is_not_there_is_said_before_anything_goes_up() {
    let device = Arc::new(Faulty::new(card::device(), None).with_free(128 * MIB as u64));
    let mut ladder = eager(device.clone());
    let side = 65 * MIB / 4 / 256;
    let (a, b) = (array(ElementType::F32, &[side, 256]), array(ElementType::F32, &[256, 8]));
    let got = call(&mut ladder, "matmul", values(&[&a, &b]));
    let all = declines(&ladder);
    assert_eq!(all, [("memory".into(), "needs 65 MiB, 64 MiB free".into())]);
    assert_eq!((device.calls(Call::Upload), device.calls(Call::Launch)), (0, 0));
    assert_same(&got, &call(&mut without_device(), "matmul", values(&[&a, &b])), "65 MiB");
}

/// Every call is one launch of a kernel that was made once; what one costs the host is measured by
/// the example `launch`.
#[test]
fn situations_10_a_repeated_call_is_one_launch_of_a_kernel_made_once() {
    let device = Arc::new(Idle::new(|_, _| std::time::Duration::ZERO));
    let mut ladder = eager(device.clone());
    let one = Value::Array(array(ElementType::F32, &[1]));
    let launch = |ladder: &mut Ladder, times: u64| {
        let before = device.launches();
        (0..times).for_each(|_| drop(call(ladder, "exp", vec![one.clone()])));
        device.launches() - before
    };
    assert_eq!(launch(&mut ladder, 1), 1);
    let made = device.kernels();
    assert_eq!((launch(&mut ladder, 2_000), device.kernels()), (2_000, made));
}

/// Kernels that may see 1 MiB of a buffer, and calls on 3 MiB.
#[test]
fn situations_12_what_is_over_the_binding_limit_is_cut_or_declined_with_both_figures() {
    let small = Faulty::new(card::device(), None).with_info(|info| info.max_binding = MIB as u64);
    let mut ladder = eager(Arc::new(small));
    let mut here = without_device();
    let t = ElementType::F32;
    let (long, wide) = (array(t, &[3 * MIB / 4]), array(t, &[256, 3 * MIB / 1024]));
    let column = array(t, &[3 * MIB / 1024, 2]);
    let cases: [(&str, Vec<&Array>); 5] = [
        ("sum", vec![&long]),
        ("exp", vec![&long]),
        ("add", vec![&long, &long]),
        ("matmul", vec![&wide, &column]),
        ("softmax", vec![&wide]),
    ];
    let mut limited = 0;
    for (name, operands) in cases {
        ladder.count_anew();
        let got = call(&mut ladder, name, values(&operands));
        assert_same(&got, &call(&mut here, name, values(&operands)), name);
        for (_, text) in declines(&ladder).into_iter().filter(|(code, _)| code == "binding") {
            assert!(text.contains("3.0 MiB") && text.contains("1.0 MiB"), "{name}: {text}");
            limited += 1;
        }
    }
    assert!(limited > 0, "exp alone is over the limit");
}

/// A device without doubles takes the singles and says why it leaves the doubles.
#[test]
fn situations_18_doubles_stay_doubles_where_a_device_has_none() {
    let single = Faulty::new(card::device(), None).with_info(|info| info.f64 = false);
    let mut ladder = eager(Arc::new(single));
    let a = array(ElementType::F64, &[300, 7]);
    let got = call(&mut ladder, "exp", values(&[&a]));
    let Value::Array(result) = &got else { panic!("{got:?}") };
    assert_eq!(result.element_type(), ElementType::F64);
    assert_same(&got, &call(&mut without_device(), "exp", values(&[&a])), "exp");
    assert_eq!(declines(&ladder)[0].0, "no-double");
    let a = array(ElementType::F32, &[300, 7]);
    let got = call(&mut ladder, "exp", values(&[&a]));
    assert_same(&got, &call(&mut without_device(), "exp", values(&[&a])), "exp");
    assert!(matches!(&got, Value::Array(a) if a.element_type() == ElementType::F32));
    assert_eq!(declines(&ladder).len(), 1, "singles are taken");
}

/// The data lies on the device; the index is wrong.
#[test]
fn situations_19_an_index_out_of_range_is_the_same_error_on_a_device() {
    let mut ladder = eager(card::device());
    let data = array(ElementType::F32, &[5, 3]);
    let resident = call(&mut ladder, "exp", values(&[&data]));
    let message = |ladder: &mut Ladder, a: &Value, index: i64| {
        let op = table::find("take-rows").unwrap();
        let index = Array::from_slice(&[0i64, index], Shape::vector(2)).unwrap();
        let asked = vec![a.clone(), Value::Array(index)];
        ladder.call(op, asked, &mut NoCaller).unwrap_err().to_string()
    };
    for index in [5, -6, 1 << 31] {
        let wanted = message(&mut without_device(), &Value::Array(data.clone()), index);
        assert!(wanted.contains(&index.to_string()) && wanted.contains('5'), "{wanted}");
        assert_eq!(message(&mut ladder, &resident, index), wanted);
    }
}

/// KiB of this process in memory, where the system tells.
fn memory_here() -> Option<u64> {
    let status = std::fs::read_to_string("/proc/self/status").ok()?;
    let line = status.lines().find(|line| line.starts_with("VmRSS:"))?;
    line.split_whitespace().nth(1)?.parse().ok()
}

/// Steps of a training loop: bytes on the device are the same after 100 steps and after 10,000, this
/// process's memory stays, and what a program drops is freed without a collection.
#[test]
fn situations_22_device_memory_stays_flat() {
    let mut ladder = eager(card::device());
    let residency = ladder.residency().unwrap().clone();
    let x = array(ElementType::F32, &[16, 8]);
    let mut weights = Value::Array(array(ElementType::F32, &[8, 4]));
    let (mut held, mut here) = (Vec::new(), Vec::new());
    for step in 0..10_000 {
        let x = Value::Array(x.clone());
        let y = call(&mut ladder, "matmul", vec![x.clone(), weights.clone()]);
        let y = call(&mut ladder, "tanh", vec![y]);
        let Value::Array(turned) = &x else { unreachable!() };
        let turned = Value::Array(turned.transpose(&[1, 0]).unwrap());
        let gradient = call(&mut ladder, "matmul", vec![turned, y]);
        let change = call(&mut ladder, "mul", vec![gradient, Value::Number(Number::F32(-1e-3))]);
        weights = call(&mut ladder, "add", vec![weights, change]);
        if step % 100 == 99 {
            held.push(residency.resident());
            here.extend(memory_here());
        }
    }
    assert!(held[0] > 0 && held.iter().all(|bytes| *bytes == held[0]), "{held:?}");
    // The driver takes what it needs in the first thousand; a step that left 1 KB would show.
    let grown = here.get(10..).and_then(|late| Some(late.last()?.saturating_sub(late[0])));
    assert!(grown.unwrap_or(0) < 8 << 10, "{here:?} KiB");
    let before = residency.resident();
    for _ in 0..1000 {
        call(&mut ladder, "exp", vec![weights.clone()]);
    }
    assert_eq!(residency.resident(), before);
}

/// Nothing is there before something is asked for, and the cap is a part of what is free.
#[test]
fn situations_23_an_idle_device_is_untouched() {
    let device = Arc::new(Faulty::new(card::device(), None).with_free(1 << 30));
    let ladder = eager(device.clone());
    let residency = ladder.residency().unwrap();
    assert_eq!((residency.resident(), residency.budget()), (0, 1 << 28));
    let calls = [Call::Allocate, Call::Upload, Call::Launch, Call::Download];
    assert_eq!(calls.map(|call| device.calls(call)), [0; 4]);
}

/// Two processes on one device at once: both finish, with the bits of one alone.
#[test]
fn situations_23_two_processes_share_a_device() {
    let a = array(ElementType::F32, &[300, 200]);
    let b = array(ElementType::F32, &[200, 100]);
    if std::env::var_os("RUNG_SECOND_PROCESS").is_some() {
        let (mut there, mut here) = (eager(card::device()), without_device());
        for _ in 0..10 {
            let got = call(&mut there, "matmul", values(&[&a, &b]));
            assert_same(&got, &call(&mut here, "matmul", values(&[&a, &b])), "beside another");
        }
        return;
    }
    let start = || {
        let mut command = std::process::Command::new(std::env::current_exe().unwrap());
        command.args(["situations_23_two_processes_share_a_device", "--exact"]);
        command.env("RUNG_SECOND_PROCESS", "1").spawn().unwrap()
    };
    for mut process in [start(), start()] {
        assert!(process.wait().unwrap().success());
    }
}

/// 2,000 shapes of one expression compile no more kernels than two shapes do.
#[test]
fn situations_24_kernels_do_not_depend_on_shapes() {
    let mut ladder = eager(card::device());
    let run = |ladder: &mut Ladder, rows: usize, columns: usize| {
        let a = array(ElementType::F32, &[rows, columns]);
        let x = call(ladder, "exp", values(&[&a]));
        let x = call(ladder, "add", vec![x, Value::Array(a)]);
        call(ladder, "sum", vec![x])
    };
    run(&mut ladder, 3, 5);
    run(&mut ladder, 600, 50);
    let few = ladder.kernel_count();
    for i in 0..2_000 {
        run(&mut ladder, 1 + i % 61, 1 + i / 7);
    }
    assert_eq!(ladder.kernel_count(), few);
}

#[test]
fn situations_28_the_same_bits_every_time_on_a_device() {
    let a = array(ElementType::F32, &[700, 33]);
    let turned = array(ElementType::F32, &[33, 65]);
    let run = || {
        let mut ladder = eager(card::device());
        let x = call(&mut ladder, "matmul", values(&[&a, &turned]));
        let x = call(&mut ladder, "softmax", vec![x]);
        let axis = vec![x, Value::Keyword("axis".into()), Value::integer(0)];
        let sums = call(&mut ladder, "sum", axis);
        let Value::Array(a) = &sums else { panic!("{sums:?}") };
        a.home().unwrap();
        sums
    };
    let first = run();
    for _ in 0..2 {
        assert_same(&run(), &first, "again");
    }
}

/// A driver refuses every kernel, or one of them: what it said is the decline's text, and the processor
/// gives the result. The others are still asked.
#[test]
fn situations_26_a_driver_that_refuses_a_kernel_is_a_decline_with_its_own_text() {
    for count in [1, u64::MAX] {
        let refusal = Fault { call: Call::Launch, from: 0, count, code: FailureCode::Compile };
        let mut ladder = eager(Arc::new(Faulty::new(card::device(), Some(refusal))));
        let a = array(ElementType::F32, &[300, 7]);
        let mut here = without_device();
        for name in ["exp", "tanh", "exp"] {
            let got = call(&mut ladder, name, values(&[&a]));
            assert_same(&got, &call(&mut here, name, values(&[&a])), name);
        }
        let all = declines(&ladder);
        assert!(all.iter().all(|(code, text)| code == "compile" && text.contains("told to fail")));
        assert_eq!(all.len(), if count == 1 { 1 } else { 2 }, "{all:?}");
    }
}

/// What an operation without a kernel reads of an array on the device had no row, and whoever forbade a step
/// down was not told.
#[test]
fn what_comes_home_without_a_kernel_is_counted_and_may_be_forbidden() {
    let mut ladder = eager(card::device());
    let here = array(ElementType::F32, &[64, 64]);
    assert!(ladder.residency().unwrap().keep(&here).unwrap());
    let there = match call(&mut ladder, "abs", values(&[&here])) {
        Value::Array(array) => array,
        other => panic!("{other}"),
    };
    assert!(ladder.residency().unwrap().holds(&there) && !there.is_home());
    let integer = || vec![Value::Array(there.clone()), Value::Keyword("i32".into())];
    ladder.on_decline = Some(rung_base::OnDecline::Error);
    let astype = table::find("astype").unwrap();
    let e = ladder.call(astype, integer(), &mut NoCaller).map(|_| ()).unwrap_err();
    let wanted = "astype on (64 64) brought 16.0 KiB home from the device: no kernel does this";
    assert_eq!(e.message(), wanted);
    // A list of the elements is a read, which no program does without.
    call(&mut ladder, "to-list", values(&[&there]));
    ladder.on_decline = None;
    call(&mut ladder, "nonzero", values(&[&there]));
    let table = ladder.calls.table(&|_| String::new());
    let row = |name: &str| table.lines().find(|line| line.starts_with(name)).map(str::to_string);
    let row = row("astype").unwrap_or_else(|| panic!("{table}"));
    assert!(row.contains("portable") && row.contains("16.0 KiB"), "{table}");
    assert!(table.lines().any(|line| line.starts_with("nonzero")), "{table}");
    // A view computes nothing.
    call(&mut ladder, "transpose", values(&[&here]));
    assert!(!ladder.calls.table(&|_| String::new()).contains("transpose"));
}
