//! What went wrong for users of other array libraries, and must not here: the situations of the
//! reference that concern the processor, by their numbers. Those seen from a program are in
//! `crates/rung/tests/situations.rs`.

use rung_array::{Array, Number};
use rung_base::{ElementType, ErrorKind, OnDecline, Settings, Shape};
use rung_lanes::{Grains, Lanes, Level};
use rung_library::Library;
use rung_ops::costs::Costs;
use rung_ops::record::Rungs;
use rung_ops::samples::Sample;
use rung_ops::{Answer, Decline, Entry, Ladder, NoCaller, Op, Rung, Value, table};

/// Sample arrays larger than this only repeat what smaller ones show.
const MOST_ELEMENTS: usize = 5000;

fn small(sample: &Sample) -> bool {
    sample.iter().all(|value| !matches!(value, Value::Array(a) if a.size() > MOST_ELEMENTS))
}

/// A ladder that asks one rung of the processor.
fn only(rung: Rung, threads: usize) -> Ladder {
    let lanes = (rung == Rung::Lanes).then(|| Lanes::new(threads));
    let library = match rung {
        Rung::Library => Ok(Library::discover(None).expect("install libopenblas0")),
        _ => Err(Decline::Off("--blas")),
    };
    let off = Err(Decline::Off("--gpu"));
    let mut ladder = Ladder::with_rungs(&Settings::default(), lanes, library, off);
    ladder.only = Some(rung);
    ladder
}

fn call(ladder: &mut Ladder, name: &str, values: Vec<Value>) -> rung_base::Result<Vec<Value>> {
    ladder.call(table::find(name).unwrap(), values, &mut NoCaller)
}

fn array<T: rung_base::Element>(elements: &[T], extents: &[usize]) -> Value {
    let shape = Shape::new(extents.iter().copied()).unwrap();
    Value::Array(Array::from_slice(elements, shape).unwrap())
}

fn numbers(values: &[Value]) -> Vec<f64> {
    match &values[0] {
        Value::Array(a) => a.numbers().map(Number::to_f64).collect(),
        Value::Number(n) => vec![n.to_f64()],
        other => panic!("{other}"),
    }
}

/// Every bit of a result; any NaN counts as any other.
fn bits(value: &Value) -> String {
    let number = |n: Number| match n {
        Number::F64(x) if x.is_nan() => "nan".to_string(),
        Number::F32(x) if x.is_nan() => "nan".to_string(),
        Number::F64(x) => format!("{:016x}", x.to_bits()),
        Number::F32(x) => format!("{:08x}", x.to_bits()),
        other => format!("{other:?}"),
    };
    match value {
        Value::Array(a) => {
            let elements: Vec<String> = a.numbers().map(number).collect();
            format!("{} {} {}", a.element_type(), a.shape(), elements.join(" "))
        }
        Value::Number(n) => number(*n),
        Value::List(items) => items.iter().map(bits).collect::<Vec<_>>().join("; "),
        other => other.to_string(),
    }
}

/// What a call gives, an error by its text.
fn outcome(ladder: &mut Ladder, op: &'static Op, sample: &Sample) -> String {
    match ladder.call(op, sample.clone(), &mut NoCaller) {
        Ok(values) => values.iter().map(bits).collect::<Vec<_>>().join(" | "),
        Err(e) => format!("{:?}: {e}", e.kind()),
    }
}

/// A kernel that is wrong in the last bit of the last element, planted in every record in turn:
/// `verify` names the operation, the element, both values and the rung.
#[test]
fn situations_02_a_planted_wrong_kernel_is_found_in_every_operation() {
    fn wrong(call: &rung_ops::call::Call, _: &Lanes) -> rung_base::Result<Answer> {
        let mut outputs = call.op.rungs.portable.run(call)?.into_vec();
        if let Some(last) = outputs.last_mut().filter(|last| last.size() > 0) {
            let index: Vec<i64> = last.shape().iter().map(|extent| *extent as i64 - 1).collect();
            let other = match last.get(&index)? {
                Number::F64(x) => Number::F64(f64::from_bits(x.to_bits() ^ 1)),
                Number::F32(x) => Number::F32(f32::from_bits(x.to_bits() ^ 1)),
                Number::I64(n) => Number::I64(n ^ 1),
                Number::Bool(b) => Number::Bool(!b),
            };
            *last = last.to_owned_copy()?;
            last.set(&index, other)?;
        }
        Ok(Answer::Several(outputs))
    }
    let mut settings = Settings::default();
    settings.on_decline.value = OnDecline::Verify;
    let mut found = 0;
    for op in table::operations().filter(|op| op.rungs.lanes.kernel().is_some()) {
        let planted: &'static Op = Box::leak(Box::new(Op {
            rungs: Rungs { lanes: Entry::Has(wrong), ..op.rungs },
            ..*op
        }));
        let off = Err(Decline::Off("--blas"));
        let lanes = Some(Lanes::new(1));
        let mut ladder = Ladder::with_rungs(&settings, lanes, off, Err(Decline::Off("--gpu")));
        let errors = (op.samples)()
            .into_iter()
            .filter(small)
            .filter_map(|sample| ladder.call(planted, sample, &mut NoCaller).err());
        let differ = errors.filter(|e| e.kind() == ErrorKind::BitsDiffer).last();
        // A bit of a NaN, or one that the narrowing rounds away, is no difference; an operation
        // whose every sample is so would never be checked.
        let Some(e) = differ else {
            panic!("{}: the planted kernel was not found", op.name());
        };
        let text = e.message();
        assert!(text.starts_with(&format!("{} on ", op.name())), "{text}");
        assert!(text.contains(": element ") && text.contains(" on the lanes and "), "{text}");
        assert!(text.ends_with(" by the definition"), "{text}");
        found += 1;
    }
    assert!(found > 40, "{found}");
}

#[test]
fn situations_03_every_empty_place_has_a_reason_and_every_decline_its_numbers() {
    for op in table::operations() {
        let reasons = [
            if let Entry::None(reason) = op.rungs.lanes { Some(reason) } else { None },
            if let Entry::None(reason) = op.rungs.library { Some(reason) } else { None },
            if let Entry::None(reason) = op.rungs.device { Some(reason) } else { None },
        ];
        for reason in reasons.into_iter().flatten() {
            assert!(reason.split_whitespace().count() >= 2, "{}: {reason:?}", op.name());
        }
    }
    let small = Decline::Small { have: 4096, need: 131_072, unit: "elements" };
    let memory = Decline::Memory { needs: 80 << 30, free: 68 << 30 };
    let binding = Decline::Binding { bytes: 256 << 20, most: 128 << 20 };
    for (decline, code, first, second) in [
        (small, "small", "4,096", "131,072"),
        (Decline::LibrarySmall { have: 27, need: 64 }, "library-small", "27", "64"),
        (Decline::Slower { here: 93.0, there: 21.0 }, "slower", "93 us", "21 us"),
        (memory, "memory", "80.0 GiB", "68.0"),
        (binding, "binding", "256.0 MiB", "128.0 MiB"),
    ] {
        let text = decline.text(Rung::Device);
        assert_eq!(decline.code(), code);
        assert!(text.contains(first) && text.contains(second), "{text}");
    }
}

#[test]
fn situations_06_the_result_s_type_and_shape_do_not_depend_on_the_rung() {
    let describe = |value: &Value| match value {
        Value::Array(a) => format!("array {} {}", a.element_type(), a.shape()),
        Value::Number(n) => format!("number {:?}", std::mem::discriminant(n)),
        other => format!("{:?}", std::mem::discriminant(other)),
    };
    let mut portable = only(Rung::Portable, 1);
    let mut others = [only(Rung::Lanes, 1), only(Rung::Lanes, 3), only(Rung::Library, 1)];
    for op in table::operations() {
        for sample in (op.samples)().iter().filter(|sample| small(sample)) {
            let wanted = portable.call(op, sample.clone(), &mut NoCaller);
            for ladder in &mut others {
                let got = ladder.call(op, sample.clone(), &mut NoCaller);
                match (&wanted, got) {
                    (Ok(wanted), Ok(got)) => {
                        let describe = |all: &[Value]| all.iter().map(describe).collect::<Vec<_>>();
                        assert_eq!(describe(&got), describe(wanted), "{}", op.name());
                    }
                    // A rung that has no kernel says nothing of types.
                    (_, Err(e)) if e.kind() == ErrorKind::Declined => {}
                    (Err(wanted), Err(got)) => assert_eq!(wanted.kind(), got.kind()),
                    (Err(e), Ok(_)) => panic!("{}: only the definition fails: {e}", op.name()),
                    (Ok(_), Err(e)) => panic!("{}: {e}", op.name()),
                }
            }
        }
    }
}

/// Large terms that nearly cancel: each rung within the stated bound of the product in f64.
#[test]
fn situations_16_cancellation_stays_within_the_bound_of_the_record() {
    let (m, k, n) = (9, 700, 11);
    let value = |i: usize| {
        ((i * 7919 % 1009) as f32 - 504.0) * if i.is_multiple_of(2) { 1e6 } else { 1e-3 }
    };
    let a: Vec<f32> = (0..m * k).map(value).collect();
    // Each row of b is nearly the opposite of the one before.
    let b: Vec<f32> = (0..k * n)
        .map(|i| {
            let (row, column) = (i / n, i % n);
            let sign = if row % 2 == 0 { 1.0 } else { -1.0 };
            sign * (1.0 + column as f32 / 16.0 + (row / 2) as f32 * 1e-6)
        })
        .collect();
    let exact = |row: usize, column: usize| {
        let terms = (0..k).map(|i| f64::from(a[row * k + i]) * f64::from(b[i * n + column]));
        terms.fold((0.0, 0.0), |(sum, size), term: f64| (sum + term, size + term.abs()))
    };
    let ladders = Level::available().into_iter().map(|level| {
        let lanes = Some(Lanes::with(level, 2));
        let off = Err(Decline::Off("--blas"));
        let gpu = Err(Decline::Off("--gpu"));
        let mut ladder = Ladder::with_rungs(&Settings::default(), lanes, off, gpu);
        ladder.only = Some(Rung::Lanes);
        ladder
    });
    let others = [only(Rung::Portable, 1), only(Rung::Library, 1)];
    for mut ladder in ladders.chain(others) {
        let operands = vec![array(&a, &[m, k]), array(&b, &[k, n])];
        let got = numbers(&call(&mut ladder, "matmul", operands).unwrap());
        for (at, got) in got.into_iter().enumerate() {
            let (wanted, size) = exact(at / n, at % n);
            let bound = 2.0 * k as f64 * 2f64.powi(-24) * size;
            assert!((got - wanted).abs() <= bound, "{got} for {wanted}, bound {bound}");
            // A planted kernel that drops the largest term is outside.
            let terms = (0..k).map(|i| f64::from(a[at / n * k + i]) * f64::from(b[i * n + at % n]));
            let largest = terms.max_by(|x, y| x.abs().total_cmp(&y.abs())).unwrap();
            assert!((got - largest - wanted).abs() > bound, "{largest} is within {bound}");
        }
    }
}

#[test]
fn situations_17_long_sums_of_narrow_numbers_do_not_drift() {
    let tenths = array(&vec![0.1f32; 10_000_000], &[10_000_000]);
    let wanted = 1e7 * f64::from(0.1f32);
    let ones = array(&vec![1.0f32; 4096], &[4096]);
    let halves = match &ones {
        Value::Array(a) => Value::Array(a.convert(ElementType::F16).unwrap()),
        _ => unreachable!(),
    };
    for (rung, threads) in [(Rung::Portable, 1), (Rung::Lanes, 1), (Rung::Lanes, 3)] {
        let mut ladder = only(rung, threads);
        let sum = numbers(&call(&mut ladder, "sum", vec![tenths.clone()]).unwrap())[0];
        // Summed in f64 and narrowed once, so half an ulp of f32 at most.
        assert!((sum - wanted).abs() <= 0.0625, "{rung:?}: {sum} for {wanted}");
        let sum = numbers(&call(&mut ladder, "sum", vec![halves.clone()]).unwrap())[0];
        assert_eq!(sum, 4096.0, "{rung:?}");
    }
}

#[test]
fn situations_18_doubles_stay_doubles() {
    let mut ladder = only(Rung::Lanes, 1);
    for op in table::operations() {
        for sample in (op.samples)().iter().filter(|sample| small(sample)) {
            let doubles = sample
                .iter()
                .any(|v| matches!(v, Value::Array(a) if a.element_type() == ElementType::F64));
            let names_a_type = sample.iter().any(|v| match v {
                Value::Keyword(word) | Value::Symbol(word) => {
                    word.contains("type") || ElementType::parse(word).is_some()
                }
                _ => false,
            });
            let Ok(values) = ladder.call(op, sample.clone(), &mut NoCaller) else { continue };
            for value in values {
                if let (true, false, Value::Array(a)) = (doubles, names_a_type, &value) {
                    let narrow = [ElementType::F32, ElementType::F16, ElementType::BF16];
                    assert!(!narrow.contains(&a.element_type()), "{}: {value}", op.name());
                }
            }
        }
    }
    // Below the range and the precision of a single.
    let fine = array(&[1e-300, 1.0 + f64::EPSILON], &[2]);
    let sum = call(&mut ladder, "add", vec![fine, array(&[0.0, 0.0], &[2])]).unwrap();
    assert_eq!(numbers(&sum), [1e-300, 1.0 + f64::EPSILON]);
}

#[test]
fn situations_19_an_index_out_of_range_is_the_same_error_on_every_rung() {
    let a = || array(&[1.0, 2.0, 3.0, 4.0, 5.0, 6.0], &[3, 2]);
    let index = |n: i64| array(&[0i64, n, 1], &[3]);
    for name in ["take-rows", "gather", "take", "scatter-add", "row", "one-hot"] {
        let Some(op) = table::find(name) else { continue };
        for n in [3i64, -4, 1 << 31, i64::MAX, i64::MIN] {
            let values = match name {
                "row" => vec![a(), Value::integer(n)],
                "one-hot" => vec![index(n), Value::integer(3)],
                "scatter-add" => vec![a(), index(n), a()],
                "take" => vec![a(), index(n), Value::Keyword("axis".into()), Value::integer(0)],
                _ => vec![a(), index(n)],
            };
            let mut errors: Vec<(ErrorKind, String)> = Vec::new();
            for (rung, threads) in [(Rung::Portable, 1), (Rung::Lanes, 1), (Rung::Lanes, 3)] {
                let mut ladder = only(rung, threads);
                let e = ladder.call(op, values.clone(), &mut NoCaller).unwrap_err();
                errors.push((e.kind(), e.to_string()));
            }
            assert_eq!(errors[0].0, ErrorKind::Index, "{name} {n}: {}", errors[0].1);
            assert!(errors[0].1.contains("out of range"), "{}", errors[0].1);
            assert!(errors.iter().all(|e| *e == errors[0]), "{errors:?}");
        }
    }
}

#[test]
fn situations_20_nan_obeys_one_rule_on_every_rung() {
    let negative = f64::from_bits(f64::NAN.to_bits() | 1 << 63);
    let mut rows: Vec<Vec<f64>> = Vec::new();
    for length in [1usize, 2, 7, 16, 33, 600] {
        let plain: Vec<f64> = (0..length).map(|i| ((i * 37) % 11) as f64 - 5.0).collect();
        for nan in [f64::NAN, negative] {
            for at in [0, length / 2, length - 1] {
                let mut row = plain.clone();
                row[at] = nan;
                rows.push(row);
            }
            rows.push(vec![nan; length]);
        }
    }
    let one = ["sort", "argsort", "amin", "amax", "argmin", "argmax", "sum", "prod", "unique"];
    let two = ["maximum", "minimum", "less", "greater", "equal", "not-equal", "less-equal"];
    let mut tried = 0;
    let mut portable = only(Rung::Portable, 1);
    let mut others = [only(Rung::Lanes, 1), only(Rung::Lanes, 3)];
    for name in one.into_iter().chain(two).chain(["clip"]) {
        let Some(op) = table::find(name) else { continue };
        tried += 1;
        for row in &rows {
            for t in [ElementType::F64, ElementType::F32] {
                let x = match array(row, &[row.len()]) {
                    Value::Array(a) => Value::Array(a.convert(t).unwrap()),
                    other => other,
                };
                let values = match name {
                    "clip" => {
                        vec![x, Value::Number(Number::F64(-1.0)), Value::Number(Number::F64(1.0))]
                    }
                    _ if two.contains(&name) => vec![x, Value::Number(Number::F64(0.0))],
                    _ => vec![x],
                };
                let wanted = outcome(&mut portable, op, &values);
                for ladder in &mut others {
                    let got = outcome(ladder, op, &values);
                    assert_eq!(got, wanted, "{name} of {row:?}");
                }
            }
        }
    }
    assert!(tried >= 6, "{tried}");
}

/// Strides and shapes beyond 2^31 on little storage: a broadcast view has any size.
#[test]
fn situations_21_indices_beyond_two_to_the_31_are_exact() {
    let long = 1usize << 33;
    let row: Vec<f64> = (0..4).map(f64::from).collect();
    let Value::Array(base) = array(&row, &[1, 4]) else { unreachable!() };
    let tall = base.broadcast_to(&Shape::new([long, 4]).unwrap()).unwrap();
    assert_eq!(tall.size(), 1 << 35);
    assert_eq!(tall.get(&[long as i64 - 1, 3]).unwrap(), Number::F64(3.0));
    assert!(tall.get(&[long as i64, 0]).is_err());
    let mut ladder = only(Rung::Lanes, 3);
    let last = Value::List(vec![Value::List(vec![Value::integer(-2), Value::Nil])]);
    let end = call(&mut ladder, "slice", vec![Value::Array(tall.clone()), last]).unwrap();
    let sum = call(&mut ladder, "sum", vec![end[0].clone()]).unwrap();
    assert_eq!(numbers(&sum), [12.0]);
    // What would need 256 GiB is refused with a sentence, before anything is touched.
    let e = call(&mut ladder, "exp", vec![Value::Array(tall)]).unwrap_err();
    assert_eq!(e.kind(), ErrorKind::Memory, "{e}");
}

fn available_gibibytes() -> u64 {
    let text = std::fs::read_to_string("/proc/meminfo").unwrap_or_default();
    let line = text.lines().find_map(|line| line.strip_prefix("MemAvailable:"));
    let kib = line.and_then(|line| line.split_whitespace().next()?.parse::<u64>().ok());
    kib.unwrap_or(0) >> 20
}

/// Where memory allows: bytes, their copy and the joined array are 6 GiB.
#[test]
fn situations_21_two_gigabytes_of_bytes_are_joined_and_summed() {
    if available_gibibytes() < 10 {
        return;
    }
    let most = (1usize << 31) + 65_536;
    let mut bytes = vec![0u8; most - 8];
    bytes[most - 9] = 7;
    let long = Array::from_slice(&bytes, Shape::vector(most - 8)).unwrap();
    drop(bytes);
    let tail = Array::from_slice(&[1u8, 2, 3, 4, 5, 6, 7, 250], Shape::vector(8)).unwrap();
    let parts = Value::List(vec![Value::Array(long), Value::Array(tail)]);
    let mut ladder = only(Rung::Lanes, 2);
    let joined = call(&mut ladder, "concatenate", vec![parts]).unwrap();
    let Value::Array(joined) = &joined[0] else { panic!("an array") };
    assert_eq!(joined.size(), most);
    assert_eq!(joined.get(&[most as i64 - 1]).unwrap().to_f64(), 250.0);
    assert_eq!(joined.get(&[most as i64 - 9]).unwrap().to_f64(), 7.0);
    let sum = call(&mut ladder, "sum", vec![Value::Array(joined.clone())]).unwrap();
    assert_eq!(numbers(&sum), [285.0]);
}

/// Runs, thread counts and measured thresholds change no bit.
#[test]
fn situations_28_the_same_bits_every_time_with_any_threads_and_any_costs() {
    let mut ladders: Vec<Ladder> = [1, 2, 7].map(|threads| only(Rung::Lanes, threads)).into();
    // As a tuned machine might have it: threads from the first element, in the least pieces.
    let mut tuned = only(Rung::Lanes, 3);
    let mut costs = Costs::defaults(Level::detect(), 1);
    costs.lanes.grains = Grains::FINEST;
    tuned.use_costs(costs);
    ladders.push(tuned);
    for op in table::operations().filter(|op| op.rungs.lanes.kernel().is_some()) {
        for sample in (op.samples)() {
            // Each ladder has a generator of its own, which every run begins from the start.
            let run = |ladder: &mut Ladder| {
                ladder.context = rung_ops::call::Context::default();
                outcome(ladder, op, &sample)
            };
            let wanted = run(&mut ladders[0]);
            for ladder in &mut ladders {
                for _ in 0..3 {
                    assert_eq!(run(ladder), wanted, "{}", op.name());
                }
            }
        }
    }
}
