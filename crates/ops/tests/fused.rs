//! Chains of element-wise operations in one pass: the bits of the calls one by one, for random
//! chains of every operation that can be linked, over shapes, layouts and values that hurt.

#[path = "common/card.rs"]
mod card;

use rung_array::{Array, Number};
use rung_base::{Element, ElementType, OnDecline, Settings, Shape};
use rung_lanes::{Lanes, Level};
use rung_ops::call::first_difference;
use rung_ops::chain::Step;
use rung_ops::record::Part;
use rung_ops::{Decline, Ladder, NoCaller, Op, Value, table};

const SEED: u64 = 0x5eed;

/// xorshift64*.
struct Draws(u64);

impl Draws {
    fn next(&mut self) -> u64 {
        self.0 ^= self.0 >> 12;
        self.0 ^= self.0 << 25;
        self.0 ^= self.0 >> 27;
        self.0.wrapping_mul(0x2545_f491_4f6c_dd1d)
    }

    fn below(&mut self, n: usize) -> usize {
        (self.next() >> 33) as usize % n
    }
}

fn ladder(lanes: Option<Lanes>) -> Ladder {
    let absent = || Decline::Off("test");
    Ladder::with_rungs(&Settings::default(), lanes, Err(absent()), Err(absent()))
}

fn linked() -> Vec<&'static Op> {
    let elements = |op: &&'static Op| op.chain.is_some_and(|link| !link.is_first());
    table::operations().filter(elements).collect()
}

const SPECIAL: [f64; 12] = [
    0.0,
    -0.0,
    f64::NAN,
    f64::INFINITY,
    f64::NEG_INFINITY,
    5e-324,
    1e-310,
    -1e-40,
    1.7e308,
    3e38,
    -1.0,
    0.5,
];

fn values<T: Element + rung_array::Convert>(draws: &mut Draws, shape: &Shape) -> Array {
    Array::build::<T>(shape.clone(), |out| {
        for x in out {
            let number = match draws.below(8) {
                0 => SPECIAL[draws.below(SPECIAL.len())],
                _ => (draws.next() >> 11) as f64 / (1u64 << 51) as f64 - 2.0,
            };
            *x = T::from_number(Number::F64(number)).unwrap();
        }
    })
    .unwrap()
}

/// An array that shows `shape`: packed, reversed, or transposed in memory.
fn operand<T: Element + rung_array::Convert>(draws: &mut Draws, shape: &Shape) -> Array {
    let backwards: Vec<usize> = (0..shape.rank()).rev().collect();
    match draws.below(3) {
        0 if shape.rank() > 1 => {
            let turned = Shape::new(backwards.iter().map(|&axis| shape[axis])).unwrap();
            values::<T>(draws, &turned).transpose(&backwards).unwrap()
        }
        _ => values::<T>(draws, shape),
    }
}

/// A random chain of `calls` operations and its operands; one operand has the whole shape in each
/// first call, so that no value between is smaller.
fn chain<T: Element + rung_array::Convert>(
    draws: &mut Draws,
    shape: &Shape,
    ops: &[&'static Op],
    calls: usize,
) -> (Vec<Step>, Vec<Value>) {
    let mut steps = vec![Step::Operand];
    let mut operands = vec![Value::Array(operand::<T>(draws, shape))];
    for _ in 0..calls {
        let op = ops[draws.below(ops.len())];
        let link = op.chain.unwrap();
        if link.arity == 2 {
            steps.push(Step::Operand);
            operands.push(match draws.below(4) {
                0 => Value::Number(Number::F64(SPECIAL[draws.below(SPECIAL.len())])),
                1 if shape.rank() > 0 => {
                    let part = Shape::new(shape.iter().skip(1).copied()).unwrap();
                    Value::Array(values::<T>(draws, &part))
                }
                _ => Value::Array(operand::<T>(draws, shape)),
            });
        }
        steps.push(Step::Apply(op, link));
    }
    (steps, operands)
}

fn parts(operands: &[Value]) -> Vec<Part<'_>> {
    let part = |value| match value {
        &Value::Number(n) => Part::Number(n),
        Value::Array(a) => Part::Array(a),
        other => panic!("an operand {other:?}"),
    };
    operands.iter().map(part).collect()
}

/// The calls one after another, by the definitions.
fn one_by_one(steps: &[Step], operands: &[Value]) -> Array {
    let (mut portable, mut stack) = (ladder(None), Vec::new());
    let mut left = operands.iter().cloned();
    for step in steps {
        match step {
            Step::Operand => stack.push(left.next().unwrap()),
            Step::Apply(op, link) => {
                let arguments = stack.split_off(stack.len() - link.arity);
                let mut result = portable.call(op, arguments, &mut NoCaller).unwrap();
                stack.push(result.remove(0));
            }
            Step::Again(_) | Step::Slide { .. } => panic!("no chain has it"),
        }
    }
    match stack.pop() {
        Some(Value::Array(a)) => a,
        other => panic!("the chain gave {other:?}"),
    }
}

fn check<T: Element + rung_array::Convert>(draws: &mut Draws, extents: &[usize]) {
    let shape = Shape::new(extents.iter().copied()).unwrap();
    let calls = 2 + draws.below(5);
    let (steps, operands) = chain::<T>(draws, &shape, &linked(), calls);
    let want = one_by_one(&steps, &operands);
    for level in Level::available() {
        for threads in [1, 3] {
            let mut ladder = ladder(Some(Lanes::with(level, threads)));
            let got = ladder.chain(&steps, &parts(&operands), &|| None);
            let got = got.expect("a chain was not taken").unwrap();
            let names: Vec<&str> = steps
                .iter()
                .filter_map(|s| if let Step::Apply(op, _) = s { Some(op.name()) } else { None })
                .collect();
            assert_eq!(got.shape(), want.shape());
            assert_eq!(first_difference(&got, &want), None, "{names:?} {shape} {level:?}");
        }
    }
}

#[test]
fn a_chain_has_the_bits_of_its_calls() {
    println!("seed {SEED:#x}");
    let mut draws = Draws(SEED);
    for round in 0..12 {
        for extents in [&[4097][..], &[9000], &[5, 1025], &[1025, 5], &[17, 3, 97], &[2, 2, 2049]] {
            match round % 2 {
                0 => check::<f64>(&mut draws, extents),
                _ => check::<f32>(&mut draws, extents),
            }
        }
    }
}

/// A ladder whose device wants every call.
fn eager() -> Ladder {
    let device = card::device();
    let mut settings = Settings::default();
    settings.gpu.value = true;
    settings.explain.value = rung_base::Explain::Table;
    let off = Err(Decline::Off("test"));
    let mut ladder = Ladder::with_rungs(&settings, Some(Lanes::new(1)), off, Ok(device));
    ladder.costs.device.make_free();
    ladder
}

fn check_resident<T: Element + rung_array::Convert>(draws: &mut Draws, extents: &[usize]) {
    let shape = Shape::new(extents.iter().copied()).unwrap();
    let calls = 2 + draws.below(4);
    let (steps, operands) = chain::<T>(draws, &shape, &linked(), calls);
    let want = one_by_one(&steps, &operands);
    let mut ladder = eager();
    let Some(Value::Array(first)) = operands.first() else { panic!("no operand") };
    assert!(ladder.residency().unwrap().keep(first).unwrap());
    let got = ladder.chain(&steps, &parts(&operands), &|| None);
    let got = got.expect("a chain was not taken").unwrap();
    assert!(!got.is_home());
    got.home().unwrap();
    assert_eq!(first_difference(&got, &want), None, "{extents:?}");
    // One row of explain for the whole chain.
    let json = ladder.calls.json(&|_| String::new());
    assert_eq!(json["calls"].as_array().unwrap().len(), 1);
    assert_eq!(json["calls"][0]["rung"], "device");
    let name = json["calls"][0]["operation"].as_str().unwrap();
    assert_eq!(name.split('+').count(), calls, "{name}");
}

#[test]
fn a_chain_over_a_resident_is_one_kernel_with_the_bits_of_its_calls() {
    let mut draws = Draws(SEED ^ 1);
    for extents in [&[1][..], &[700], &[5, 41], &[17, 3, 7], &[4097]] {
        check_resident::<f64>(&mut draws, extents);
        check_resident::<f32>(&mut draws, extents);
    }
}

/// relu(matmul(a, b) + c) * d, and with the product second, in the product's launch.
fn check_product<T: Element + rung_array::Convert>(draws: &mut Draws, stack: &[usize], n: usize) {
    let extents = |last: [usize; 2]| Shape::new(stack.iter().copied().chain(last)).unwrap();
    let shape = extents([n, n + 3]);
    let a = Value::Array(operand::<T>(draws, &extents([n, 19])));
    let b = Value::Array(operand::<T>(draws, &Shape::new([19, n + 3]).unwrap()));
    let row = Value::Array(values::<T>(draws, &Shape::vector(n + 3)));
    let whole = Value::Array(operand::<T>(draws, &shape));
    let number = Value::Number(Number::F64(-0.3));
    let (o, matmul) = (Step::Operand, find("matmul"));
    let chains = [
        (
            vec![o, o, matmul, o, find("add"), find("relu"), o, find("mul")],
            vec![a.clone(), b.clone(), row.clone(), whole.clone()],
        ),
        (
            vec![o, o, o, matmul, find("sub"), o, find("maximum"), find("tanh")],
            vec![whole, a, b, number],
        ),
    ];
    for (steps, operands) in chains {
        let want = one_by_one(&steps, &operands);
        let mut ladder = eager();
        let got = ladder.chain(&steps, &parts(&operands), &|| None);
        if want.size() == 0 {
            assert!(got.is_none(), "{stack:?} {n}: nothing is no work for a device");
            continue;
        }
        let got = got.unwrap_or_else(|| panic!("not taken: {stack:?} {n}")).unwrap();
        assert!(!got.is_home());
        got.home().unwrap();
        assert_eq!(first_difference(&got, &want), None, "{stack:?} {n}");
        let json = ladder.calls.json(&|_| String::new());
        assert_eq!(json["calls"].as_array().unwrap().len(), 1);
        assert!(json["calls"][0]["operation"].as_str().unwrap().contains("matmul+"));
    }
}

#[test]
fn what_follows_a_product_is_made_in_its_launch() {
    let mut draws = Draws(SEED ^ 2);
    for (stack, n) in [(&[][..], 1), (&[], 17), (&[2, 3], 5), (&[0], 4), (&[], 66)] {
        check_product::<f32>(&mut draws, stack, n);
        check_product::<f64>(&mut draws, stack, n);
    }
}

/// The step would see a cell of doubles before it is rounded to the product's singles.
#[test]
fn what_follows_a_product_of_two_widths_sees_its_rounded_elements() {
    let mut draws = Draws(SEED ^ 3);
    let shape = |extents: [usize; 2]| Shape::new(extents).unwrap();
    let (o, matmul) = (Step::Operand, find("matmul"));
    for n in [5, 66] {
        let single = values::<f32>(&mut draws, &shape([n, 19]));
        let double = values::<f64>(&mut draws, &shape([19, n]));
        let half = values::<f32>(&mut draws, &shape([n, 19])).convert(ElementType::F16).unwrap();
        let turned = |a: &Array| a.transpose(&[1, 0]).unwrap();
        // Whether the product has the width of its cells, and is taken.
        for (a, b, taken) in [
            (single.clone(), double.clone(), false),
            (turned(&double), turned(&single), true),
            (half.clone(), double.clone(), false),
            (half.clone(), turned(&half), false),
        ] {
            let steps = vec![o, o, o, matmul, find("add")];
            let operands = vec![Value::Number(Number::F64(1.0)), Value::Array(a), Value::Array(b)];
            let want = one_by_one(&steps, &operands);
            let got = eager().chain(&steps, &parts(&operands), &|| None);
            assert_eq!(got.is_some(), taken, "{n}");
            if let Some(got) = got {
                let got = got.unwrap();
                got.home().unwrap();
                assert_eq!(first_difference(&got, &want), None, "{n}");
            }
        }
    }
}

fn find(name: &str) -> Step {
    let op = table::find(name).unwrap();
    Step::Apply(op, op.chain.unwrap())
}

fn declines(operands: &[Value], steps: &[Step]) -> bool {
    ladder(Some(Lanes::new(1))).chain(steps, &parts(operands), &|| None).is_none()
}

#[test]
fn what_a_chain_does_not_take_is_left_to_its_calls() {
    let zeros = |t, extents: &[usize]| {
        Value::Array(Array::zeros(t, Shape::new(extents.iter().copied()).unwrap()).unwrap())
    };
    let number = Value::Number(Number::F64(2.0));
    let (f64s, f32s) = (ElementType::F64, ElementType::F32);
    use Step::Operand as X;
    let steps = [X, X, find("mul"), X, find("add")];
    let column = zeros(f64s, &[3, 1]);
    let (a, b) = (zeros(f64s, &[3, 4000]), zeros(f32s, &[3, 4000]));
    let small = zeros(f64s, &[8]);
    assert!(declines(&[small.clone(), small.clone(), small], &steps), "small");
    // Two numbers meet: their product is the language's affair.
    assert!(declines(&[number.clone(), number.clone(), a.clone()], &steps));
    assert!(declines(&[a.clone(), b, a.clone()], &steps), "two widths");
    // The product of columns would be computed again in each of the rows.
    assert!(declines(&[column.clone(), number.clone(), a.clone()], &steps));
    assert!(declines(&[a.clone(), zeros(f64s, &[5]), a.clone()], &steps), "shapes");
    assert!(declines(&[zeros(f64s, &[]), zeros(f64s, &[]), number.clone()], &steps), "rank 0");
    assert!(!declines(&[a.clone(), column, number], &steps));
    let mut judged = ladder(Some(Lanes::new(1)));
    judged.on_decline = Some(OnDecline::Verify);
    let operands = [a.clone(), a.clone(), a];
    assert!(judged.chain(&steps, &parts(&operands), &|| None).is_none());
}

/// Every kernel as PTX.
#[test]
#[cfg(target_os = "linux")]
fn the_same_over_the_stand_in_for_nvidia_s_driver() {
    let quick = [
        "a_chain_over_a_resident_is_one_kernel_with_the_bits_of_its_calls",
        "what_follows_a_product_is_made_in_its_launch",
    ];
    card::again_as_ptx(&quick, &[]);
}
