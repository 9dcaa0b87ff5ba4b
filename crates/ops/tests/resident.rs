//! Operands and results that are on a device: the same bits, nothing moved twice, and no reader
//! that forgets to ask for the elements.

#[path = "common/card.rs"]
mod card;

use rung_array::{Array, Bytes, Remote};
use rung_base::{ElementType, Explain, Result, Settings, Shape};
use rung_lanes::Lanes;
use rung_ops::call::first_difference;
use rung_ops::trial::{assert_same, run};
use rung_ops::{Decline, Ladder, NoCaller, Rung, Value, table};
use std::sync::Arc;

/// Bytes that are here only when somebody asks.
struct Elsewhere(Vec<u8>);

impl Remote for Elsewhere {
    fn length(&self) -> usize {
        self.0.len()
    }

    fn fetch(&self) -> Result<Bytes> {
        let mut bytes = Bytes::unspecified(self.0.len())?;
        bytes.elements_mut::<u8>()[..self.0.len()].copy_from_slice(&self.0);
        Ok(bytes)
    }
}

/// The same array with its elements elsewhere, as the transpose of its transpose if `turned`.
fn away(a: &Array, turned: bool) -> Array {
    let back: Vec<usize> = (0..a.rank()).rev().collect();
    let stored = if turned { a.transpose(&back).unwrap() } else { a.clone() };
    let stored = stored.to_owned_copy().unwrap();
    let remote = Arc::new(Elsewhere(stored.storage_bytes().to_vec()));
    let there = Array::remote(a.element_type(), stored.shape().clone(), remote).unwrap();
    if turned { there.transpose(&back).unwrap() } else { there }
}

/// The value with every array at `t`, and elsewhere if asked.
fn prepared(value: &Value, t: ElementType, elsewhere: Option<bool>) -> Option<Value> {
    match value {
        Value::Array(a) => {
            let a = a.convert(t).ok()?;
            Some(Value::Array(elsewhere.map_or_else(|| a.clone(), |turned| away(&a, turned))))
        }
        Value::List(items) => {
            let items = items.iter().map(|v| prepared(v, t, elsewhere));
            items.collect::<Option<Vec<_>>>().map(Value::List)
        }
        other => Some(other.clone()),
    }
}

fn without_device(lanes: Option<Lanes>) -> Ladder {
    let off = || Decline::Off("test");
    Ladder::with_rungs(&Settings::default(), lanes, Err(off()), Err(off()))
}

/// A build with debug assertions stops at the first reader that forgets `home`.
#[test]
fn every_operation_takes_operands_that_are_elsewhere() {
    let mut ladders = [without_device(Some(Lanes::new(2))), without_device(None)];
    for op in table::operations() {
        for sample in (op.samples)() {
            for &t in op.types {
                let values = |elsewhere| -> Option<Vec<Value>> {
                    sample.iter().map(|v| prepared(v, t, elsewhere)).collect()
                };
                let Some(here) = values(None) else { continue };
                for ladder in &mut ladders {
                    let wanted = run(ladder, op, here.clone());
                    for turned in [false, true] {
                        let got = run(ladder, op, values(Some(turned)).unwrap());
                        let context = format!("{} of {t} {sample:?}, turned {turned}", op.name());
                        match (&wanted, got) {
                            (Ok(wanted), Ok(got)) => assert_same(wanted, &got, &context),
                            (Err(wanted), Err(got)) => {
                                assert_eq!(wanted.to_string(), got.to_string(), "{context}");
                            }
                            (wanted, got) => panic!("{context}: {wanted:?}, then {got:?}"),
                        }
                    }
                }
            }
        }
    }
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

fn call(ladder: &mut Ladder, name: &str, values: &[&Array]) -> Array {
    let values = values.iter().map(|&a| Value::Array(a.clone())).collect();
    match ladder.call(table::find(name).unwrap(), values, &mut NoCaller).unwrap().pop() {
        Some(Value::Array(a)) => a,
        other => panic!("{other:?}"),
    }
}

fn numbers(extents: &[usize]) -> Array {
    let shape = Shape::new(extents.iter().copied()).unwrap();
    let list: Vec<f64> = (0..shape.size()).map(|i| (i % 97) as f64 / 8.0 - 5.0).collect();
    Array::from_slice(&list, shape).unwrap()
}

#[test]
fn a_chain_stays_on_the_device_until_something_reads_it() {
    let (a, b) = (numbers(&[40, 30]), numbers(&[30]));
    let chain = |ladder: &mut Ladder| {
        let x = call(ladder, "exp", &[&a]);
        let x = call(ladder, "add", &[&x, &b]);
        let x = call(ladder, "sqrt", &[&x.transpose(&[1, 0]).unwrap()]);
        let x = call(ladder, "matmul", &[&x, &a]);
        let row = x.row(3).unwrap();
        call(ladder, "mul", &[&row, &row])
    };
    let mut here = without_device(Some(Lanes::new(1)));
    let mut there = eager();
    let (wanted, got) = (chain(&mut here), chain(&mut there));
    assert!(!got.is_home());
    let table = there.calls.table(&|_| String::new());
    assert!(table.contains("device: 5 calls"), "{table}");
    // a and b went up; nothing came down.
    let moved = there.residency().unwrap().moved();
    assert_eq!((moved.up, moved.down), ((40 * 30 + 30) * 8, 0), "{table}");
    got.home().unwrap();
    assert_eq!(first_difference(&wanted, &got), None);
    there.count_between();
    let table = there.calls.table(&|_| String::new());
    assert!(table.contains("up 9.6 KiB, down 240 B"), "{table}");
}

#[test]
fn what_the_processor_computes_comes_home_and_is_counted() {
    let mut there = eager();
    let x = call(&mut there, "exp", &[&numbers(&[1000])]);
    // No device kernel: the operand is fetched for the lanes, in this call's row.
    let slopes = call(&mut there, "gradient", &[&x]);
    assert!(x.is_home() && slopes.is_home());
    let json = there.calls.json(&|_| String::new());
    assert_eq!((&json["calls"][0]["down"], &json["calls"][1]["down"]), (&0.into(), &8000.into()));
    assert_eq!(json["transfers"]["down"], 8000);
}

/// Why the device declined last, if it did.
fn code(ladder: &Ladder) -> Option<String> {
    let json = ladder.calls.json(&|_| String::new());
    let declines = json["declines"].as_array().unwrap().clone();
    let device = declines.iter().filter(|d| d["rung"] == "device");
    device.map(|d| d["code"].as_str().unwrap().to_string()).next_back()
}

#[test]
fn arithmetic_rides_only_on_operands_that_are_there() {
    let mut ladder = eager();
    ladder.costs = rung_ops::costs::Costs::defaults(rung_lanes::Level::Portable, 1);
    let (large, small) = (numbers(&[1 << 17]), numbers(&[1 << 8]));
    call(&mut ladder, "sqrt", &[&large]);
    assert_eq!(code(&ladder).as_deref(), Some("not-resident"));
    ladder.count_anew();
    let wide = numbers(&[1 << 18]);
    call(&mut ladder, "add", &[&wide, &wide]);
    assert_eq!(code(&ladder).as_deref(), Some("not-resident"));
    // Once an operand is there, arithmetic is taken from 2^14 elements on.
    let residency = ladder.residency().unwrap().clone();
    assert!(residency.keep(&large).unwrap() && residency.keep(&small).unwrap());
    ladder.count_anew();
    let x = call(&mut ladder, "sqrt", &[&large]);
    let y = call(&mut ladder, "add", &[&x, &large]);
    assert!(residency.holds(&x) && residency.holds(&y) && code(&ladder).is_none());
    ladder.count_anew();
    call(&mut ladder, "sqrt", &[&small]);
    assert_eq!(code(&ladder).as_deref(), Some("small"));
    ladder.count_anew();
    let rows = numbers(&[1 << 8, 1 << 8]);
    call(&mut ladder, "add", &[&small, &rows]);
    assert_eq!(code(&ladder).as_deref(), Some("larger-host"));
}

/// With offers below 16,384 in a cost file an operand that was here was carried, and one that was there
/// was too small.
#[test]
fn what_is_carried_is_taken_where_it_is_already() {
    let mut ladder = eager();
    ladder.costs = rung_ops::costs::Costs::defaults(rung_lanes::Level::Portable, 1);
    let thresholds = &mut ladder.costs.device.thresholds;
    (thresholds.map, thresholds.wide) = (Some(1 << 10), Some(1 << 10));
    ladder.costs.device.floor = 1.0;
    ladder.costs.device.launch = 0.5;
    let residency = ladder.residency().unwrap().clone();
    let (x, rows, column) = (numbers(&[1 << 12]), numbers(&[128, 32]), numbers(&[128, 1]));
    let double = |a: &Array| a.convert(ElementType::F64).unwrap();
    for (name, of) in [
        ("exp", vec![double(&x)]),
        ("power", vec![double(&rows), double(&column)]),
        ("sub", vec![rows.clone(), column.clone()]),
    ] {
        for there in [false, true] {
            let of: Vec<Array> = of.iter().map(|a| a.to_owned_copy().unwrap()).collect();
            if there {
                // The smaller one, beside which the other is larger.
                assert!(residency.keep(of.last().unwrap()).unwrap());
            }
            ladder.count_anew();
            // The processor is slow enough that the device is worth it.
            ladder.costs.lanes.memory = [1.0; 2];
            call(&mut ladder, name, &of.iter().collect::<Vec<_>>());
            assert_eq!(code(&ladder), None, "{name}, there {there}");
        }
    }
    // What is never carried begins where residents do.
    assert!(residency.keep(&x).unwrap());
    ladder.count_anew();
    call(&mut ladder, "sqrt", &[&x]);
    assert_eq!(code(&ladder).as_deref(), Some("small"));
}

/// A vector times a vector was offered as a matrix product is: from 4,194,304 elements on.
#[test]
fn vectors_that_are_there_are_multiplied_there() {
    let mut ladder = eager();
    ladder.costs = rung_ops::costs::Costs::defaults(rung_lanes::Level::Portable, 1);
    let x = numbers(&[1 << 16]);
    assert!(ladder.residency().unwrap().keep(&x).unwrap());
    let x = call(&mut ladder, "sqrt", &[&x]);
    ladder.count_anew();
    let op = table::find("dot").unwrap();
    run(&mut ladder, op, vec![x.clone().into(), x.into()]).unwrap();
    assert_eq!(code(&ladder), None);
}

#[test]
fn a_small_call_beside_a_device_takes_the_quick_way() {
    use rung_ops::record::Part;
    let mut settings = Settings::default();
    settings.gpu.value = true;
    let off = Err(Decline::Off("test"));
    let ladder = Ladder::with_rungs(&settings, Some(Lanes::new(1)), off, Ok(card::device()));
    let (op, a) = (table::find("add").unwrap(), numbers(&[4]));
    let quick = |a: &Array| ladder.quick(op, &[Part::Array(a), Part::Array(a)]).is_some();
    assert!(quick(&a));
    // An operand that is there belongs to the device.
    assert!(ladder.residency().unwrap().keep(&a).unwrap());
    assert!(!quick(&a) && !quick(&away(&numbers(&[4]), false)));
}

#[test]
fn a_product_of_half_widths_is_narrowed_where_it_is_made() {
    let mut ladder = eager();
    ladder.only = Some(Rung::Device);
    let half = numbers(&[8, 8]).convert(ElementType::BF16).unwrap();
    let x = call(&mut ladder, "matmul", &[&half, &half]);
    assert!(!x.is_home() && x.element_type() == ElementType::BF16);
    let json = ladder.calls.json(&|_| String::new());
    assert_eq!(json["calls"][0]["down"], 0);
}

#[test]
fn a_matrix_goes_up_when_it_comes_a_second_time_unchanged() {
    let mut ladder = eager();
    let (mut m, v, row) = (numbers(&[70, 50]), numbers(&[50]), numbers(&[70]));
    let product = |ladder: &mut Ladder, m: &Array, names: [&Array; 2]| {
        ladder.count_anew();
        let got = call(ladder, "matmul", &names);
        let wanted = call(&mut without_device(None), "matmul", &names);
        got.home().unwrap();
        assert_eq!(first_difference(&got, &wanted), None);
        (code(ladder), ladder.residency().unwrap().holds(m))
    };
    let first = product(&mut ladder, &m, [&m, &v]);
    assert_eq!(first, (Some("first-sight".to_string()), false));
    assert_eq!(product(&mut ladder, &m, [&m, &v]), (None, true));
    assert_eq!(product(&mut ladder, &m, [&row, &m]), (None, true));
    m.set(&[1, 2], rung_array::Number::F64(0.5)).unwrap();
    let written = product(&mut ladder, &m, [&m, &v]);
    assert_eq!(written, (Some("written".to_string()), false));
    assert_eq!(product(&mut ladder, &m, [&m, &v]), (None, true));
}

/// A vector of singles, every block of which has its own kind of number.
fn blocks(count: usize) -> Array {
    const KINDS: [f32; 6] = [1.0, 1e-38, 3e38, 0.0, 1e-43, 7e-12];
    let number = |i: usize| {
        let x = ((i * 7919) % 1013) as f32 / 506.5 - 1.0;
        x * KINDS[i / 32 % KINDS.len()]
    };
    Array::vector(&(0..32 * count).map(number).collect::<Vec<f32>>()).unwrap()
}

/// No kernel read the packed form.
#[test]
fn a_quantised_matrix_is_multiplied_where_its_bytes_are() {
    use rung_array::quantized::Format;
    let (mut here, mut there) = (without_device(None), eager());
    there.only = Some(Rung::Device);
    let op = table::find("%la-quantized-matvec").unwrap();
    for (rows, count) in [(0, 1), (1, 1), (3, 2), (65, 65), (2, 4097), (70_000, 1)] {
        let m = numbers(&[rows, 32 * count]).convert(ElementType::F32).unwrap();
        let q = rung_ops::quantized::quantize(&m, Format::Q8_0).unwrap();
        let mut x = blocks(count);
        for hurt in [None, Some(f32::NAN), Some(f32::NEG_INFINITY)] {
            if let Some(hurt) = hurt {
                x.make_mut::<f32>().unwrap()[32 * count - 1] = hurt;
            }
            let some = if rows > 1 { q.rows(1, rows - 1).unwrap() } else { q.clone() };
            for q in [&q, &some] {
                let values = || vec![Value::Quantized(q.clone()), x.clone().into()];
                let wanted = run(&mut here, op, values()).unwrap();
                let got = run(&mut there, op, values()).unwrap();
                assert_same(&wanted, &got, &format!("{rows} rows of {count} blocks, {hurt:?}"));
            }
        }
    }
    // It goes up when it comes a second time, and stays.
    there.only = None;
    let m = numbers(&[64, 64]).convert(ElementType::F32).unwrap();
    let q = rung_ops::quantized::quantize(&m, Format::Q8_0).unwrap();
    let codes: Vec<Option<String>> = (0..3)
        .map(|_| {
            there.count_anew();
            run(&mut there, op, vec![Value::Quantized(q.clone()), blocks(2).into()]).unwrap();
            code(&there)
        })
        .collect();
    assert_eq!(codes, [Some("first-sight".to_string()), None, None]);
}

#[test]
fn a_layer_of_a_network_stays_on_the_device() {
    let mut ladder = eager();
    let x = numbers(&[64, 300]).convert(ElementType::F32).unwrap();
    assert!(ladder.residency().unwrap().keep(&x).unwrap());
    let of = |name: &str| table::find(name).unwrap();
    let axis =
        |x: &Array| vec![Value::Array(x.clone()), Value::Keyword("axis".into()), Value::integer(1)];
    let steps = [
        ("softmax", axis(&x)),
        ("logsumexp", axis(&x)),
        ("amax", axis(&x)),
        ("sum", axis(&x)),
        ("%la-layer-norm", vec![x.clone().into(), Value::Number(rung_array::Number::F64(1e-5))]),
        ("%la-gelu", vec![x.clone().into(), Value::Keyword("tanh".into())]),
    ];
    for (name, values) in steps {
        let got = ladder.call(of(name), values.clone(), &mut NoCaller).unwrap();
        let Some(Value::Array(there)) = got.first() else { panic!("{name}: no array") };
        assert!(!there.is_home() && ladder.residency().unwrap().holds(there), "{name}");
        let wanted = without_device(None).call(of(name), values, &mut NoCaller).unwrap();
        assert_same(&wanted, &got, name);
    }
}

/// Every kernel as PTX.
#[test]
#[cfg(target_os = "linux")]
fn the_same_over_the_stand_in_for_nvidia_s_driver() {
    let quick = [
        "a_layer_of_a_network_stays_on_the_device",
        "a_product_of_half_widths_is_narrowed_where_it_is_made",
        "arithmetic_rides_only_on_operands_that_are_there",
        "vectors_that_are_there_are_multiplied_there",
    ];
    card::again_as_ptx(&quick, &[]);
}
