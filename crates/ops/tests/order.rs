//! Sorting, selecting and searching: what programs get from several results, what mistakes say, and
//! random calls against plain loops of the standard library.

use rung_array::{Array, Number};
use rung_base::{ElementType, Settings, Shape};
use rung_ops::{Ladder, NoCaller, Value, table};

fn array(elements: &[f64], shape: &[usize]) -> Value {
    let shape = Shape::new(shape.iter().copied()).unwrap();
    Value::Array(Array::from_slice(elements, shape).unwrap())
}

fn vector(elements: &[f64]) -> Value {
    array(elements, &[elements.len()])
}

fn integers(elements: &[i64]) -> Value {
    Value::List(elements.iter().map(|&i| Value::integer(i)).collect())
}

fn word(name: &'static str) -> Value {
    Value::Keyword(name.into())
}

fn call(name: &str, values: Vec<Value>) -> rung_base::Result<Vec<Value>> {
    let (mut ladder, _) = Ladder::new(&Settings::default());
    ladder.call(table::find(name).unwrap(), values, &mut NoCaller)
}

/// Shape and elements of every result.
fn shown(name: &str, values: Vec<Value>) -> Vec<String> {
    let text = |value: &Value| match value {
        Value::Array(a) => {
            let numbers: Vec<String> = a.numbers().map(|n| n.to_string()).collect();
            format!("{} {}", a.shape(), numbers.join(" "))
        }
        Value::List(items) => {
            let numbers = |v: &Value| match v {
                Value::Array(a) => a.numbers().map(|n| n.to_string()).collect::<Vec<_>>().join(" "),
                other => other.to_string(),
            };
            items.iter().map(numbers).collect::<Vec<_>>().join(", ")
        }
        other => other.to_string(),
    };
    call(name, values).unwrap().iter().map(text).collect()
}

#[test]
fn several_results_belong_together() {
    let nan = f64::NAN;
    let got = shown("topk", vec![vector(&[3.0, nan, 9.0, 9.0]), Value::integer(3)]);
    assert_eq!(got, ["(3) NaN 9.0 9.0", "(3) 1 2 3"]);
    let got = shown("unique", vec![array(&[2.0, nan, -0.0, 2.0, 0.0, nan], &[2, 3])]);
    assert_eq!(got, ["(3) -0.0 2.0 NaN", "(3) 2 0 1", "(2 3) 1 2 0 1 0 2", "(3) 2 2 2"]);
    let got = shown("histogram", vec![vector(&[2.0, 2.0]), word("bins"), Value::integer(2)]);
    assert_eq!(got, ["(2) 0 2", "(3) 1.5 2.0 2.5"]);
    let range = Value::List(vec![Value::integer(0), Value::integer(4)]);
    let weights = vector(&[1.0, 0.5, 2.0]);
    let x = vector(&[1.0, 4.0, nan]);
    let two = [word("bins"), Value::integer(2), word("range"), range];
    let with = |more: &[Value]| [std::slice::from_ref(&x), &two[..], more].concat();
    assert_eq!(shown("histogram", with(&[word("weights"), weights]))[0], "(2) 1.0 0.5");
    assert_eq!(shown("histogram", with(&[word("density"), Value::True]))[0], "(2) 0.25 0.25");
    let got = shown("nonzero", vec![array(&[0.0, 1.0, nan, 0.0, 0.0, -2.0], &[3, 2])]);
    assert_eq!(got, ["0 1 2, 1 0 1"]);
    assert_eq!(shown("argwhere", vec![array(&[0.0, 1.0], &[1, 2])]), ["(1 2) 0 1"]);
}

#[test]
fn quantiles_lie_where_the_method_says() {
    let x = || vector(&[40.0, 10.0, 30.0, 20.0]);
    let at = |q: f64, method| {
        let q = Value::Number(Number::F64(q));
        shown("quantile", vec![x(), q, word("method"), word(method)])[0].clone()
    };
    assert_eq!(at(0.5, "linear"), "25.0");
    assert_eq!(at(0.4, "lower"), "20.0");
    assert_eq!(at(0.4, "higher"), "30.0");
    assert_eq!(at(0.5, "nearest"), "30.0");
    assert_eq!(at(0.1, "nearest"), "10.0");
    assert_eq!(at(0.9, "midpoint"), "35.0");
    assert_eq!(at(1.0, "midpoint"), "40.0");
    let infinite = vector(&[f64::NEG_INFINITY, 1.0, f64::INFINITY]);
    assert_eq!(shown("median", vec![infinite]), ["1.0"]);
    let matrix = array(&[1.0, f64::NAN, 5.0, 2.0, 4.0, 3.0], &[2, 3]);
    let axis = |n| vec![matrix.clone(), word("axis"), Value::integer(n)];
    assert_eq!(shown("median", axis(1)), ["(2) NaN 3.0"]);
    assert_eq!(shown("median", axis(0)), ["(3) 1.5 NaN 4.0"]);
}

#[test]
fn nil_as_axis_flattens_a_sort_and_none_means_the_last() {
    let x = || array(&[3.0, 1.0, 2.0, 0.0], &[2, 2]);
    assert_eq!(shown("sort", vec![x()]), ["(2 2) 1.0 3.0 0.0 2.0"]);
    assert_eq!(shown("sort", vec![x(), word("axis"), Value::Nil]), ["(4) 0.0 1.0 2.0 3.0"]);
    assert_eq!(shown("argsort", vec![x(), word("axis"), Value::integer(0)]), ["(2 2) 1 1 0 0"]);
}

#[test]
fn element_types_follow_the_operands() {
    let of = |t| match vector(&[0.0, 1.0, 1.0]) {
        Value::Array(a) => Value::Array(a.convert(t).unwrap()),
        other => other,
    };
    let result = |name, values| match call(name, values).unwrap().swap_remove(0) {
        Value::Array(a) => a.element_type(),
        other => panic!("{other}"),
    };
    for t in ElementType::ALL {
        assert_eq!(result("sort", vec![of(t)]), t);
        assert_eq!(result("take", vec![of(t), integers(&[0, 1])]), t);
        assert_eq!(result("argsort", vec![of(t)]), ElementType::I64);
        let scan = if t.is_float() { t } else { ElementType::I64 };
        assert_eq!(result("cumsum", vec![of(t)]), scan);
        let bytes = if t == ElementType::Bool { ElementType::U8 } else { t };
        assert_eq!(result("diff", vec![of(t)]), bytes);
        let sum = vec![of(t), integers(&[0, 0]), Value::integer(1)];
        assert_eq!(result("scatter-add", sum), bytes);
        let float = if t.is_float() { t } else { ElementType::F64 };
        assert_eq!(result("gradient", vec![of(t)]), float);
    }
}

/// An operation, its arguments, and how the message begins.
type Mistake = (&'static str, Vec<Value>, &'static str);

fn mistakes() -> Vec<Mistake> {
    let x = || vector(&[1.0, 2.0, 3.0]);
    let m = || array(&[1.0, 2.0, 3.0, 4.0], &[2, 2]);
    let empty = || vector(&[]);
    vec![
        (
            "take-rows",
            vec![x(), integers(&[3])],
            "take-rows index out of range: 3 for an axis of 3",
        ),
        ("take-rows", vec![x(), integers(&[-4])], "take-rows index out of range"),
        ("take", vec![m(), integers(&[4])], "take index out of range: 4 for an axis of 4"),
        ("gather", vec![x(), integers(&[0])], "gather expects a matrix"),
        ("gather", vec![m(), integers(&[0])], "gather index length must match the rows"),
        ("gather", vec![m(), integers(&[0, 2])], "gather out of range: 2"),
        ("row", vec![m(), Value::integer(2)], "row index out of range"),
        ("row", vec![x(), Value::integer(0)], "row expects rank >= 2"),
        ("topk", vec![x(), Value::integer(4)], "topk k out of range: 4 of an axis of 3"),
        ("topk", vec![x(), Value::integer(-1)], "topk k out of range"),
        (
            "interp",
            vec![x(), vector(&[1.0, 1.0]), vector(&[1.0, 2.0])],
            "interp needs increasing xp",
        ),
        ("diff", vec![x(), word("n"), Value::integer(-1)], "diff order must be non-negative"),
        ("gradient", vec![m()], "gradient expects a vector"),
        ("gradient", vec![vector(&[1.0])], "gradient needs at least two samples"),
        ("gradient", vec![x(), vector(&[1.0])], "gradient coordinates must match the samples"),
        ("one-hot", vec![integers(&[3]), Value::integer(3)], "one-hot index out of range"),
        ("median", vec![empty()], "median of an empty array"),
        ("median", vec![empty(), word("axis"), Value::integer(0)], "reduction of an empty axis"),
        ("quantile", vec![x(), Value::integer(2)], "quantile q must be in 0..1"),
        ("sort", vec![x(), word("axis"), Value::integer(1)], "axis out of range"),
        ("scatter-add", vec![x(), integers(&[5]), x()], "scatter-add index out of range"),
        ("scatter-add", vec![x(), integers(&[0, 1]), x()], "shape mismatch"),
        ("compress", vec![vector(&[1.0]), x()], "compress mask must match the axis"),
        ("bincount", vec![integers(&[-1])], "bincount expects non-negative integers"),
        ("histogram", vec![vector(&[f64::NAN])], "histogram range must be finite"),
        ("searchsorted", vec![m(), x()], "searchsorted expects a vector"),
    ]
}

#[test]
fn mistakes_say_what_the_reference_quotes() {
    for (name, values, wanted) in mistakes() {
        let e = call(name, values).unwrap_err().to_string();
        assert!(e.starts_with(&format!("linalg: {wanted}")), "{name}: {e}");
    }
}

struct Random(u64);

impl Random {
    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
        self.0 >> 33
    }

    fn values(&mut self, count: usize) -> Vec<f64> {
        (0..count).map(|_| (self.next() % 50) as f64 - 25.0).collect()
    }
}

#[test]
fn random_calls_agree_with_plain_loops() {
    let seed = std::time::SystemTime::now()
        .duration_since(std::time::UNIX_EPOCH)
        .map_or(1, |t| t.as_nanos() as u64);
    let mut random = Random(seed);
    for round in 0..30 {
        let count = random.next() as usize % 200 + 1;
        let context = format!("seed {seed}, round {round}, {count} elements");
        let x = random.values(count);
        compare_order(&x, &random.values(20), &context);
        let to: Vec<i64> = x.iter().map(|_| (random.next() % 7) as i64).collect();
        compare_picks(&x, &to, &context);
    }
}

fn elements(name: &str, values: Vec<Value>) -> Vec<f64> {
    match call(name, values).unwrap().swap_remove(0) {
        Value::Array(a) => a.numbers().map(Number::to_f64).collect(),
        other => panic!("{other}"),
    }
}

fn compare_order(x: &[f64], keys: &[f64], context: &str) {
    let mut sorted = x.to_vec();
    sorted.sort_by(f64::total_cmp);
    assert_eq!(elements("sort", vec![vector(x)]), sorted, "{context}");
    let mut distinct = sorted.clone();
    distinct.dedup();
    assert_eq!(elements("unique", vec![vector(x)]), distinct, "{context}");
    let places: Vec<f64> =
        keys.iter().map(|key| sorted.partition_point(|x| x < key) as f64).collect();
    let got = elements("searchsorted", vec![vector(&sorted), vector(keys)]);
    assert_eq!(got, places, "{context}");
    let mut running = 0.0;
    let mut sums = Vec::new();
    for x in x {
        running += x;
        sums.push(running);
    }
    assert_eq!(elements("cumsum", vec![vector(x)]), sums, "{context}");
}

fn compare_picks(x: &[f64], to: &[i64], context: &str) {
    let mut scattered = vec![0.0; 7];
    x.iter().zip(to).for_each(|(x, &to)| scattered[to as usize] += x);
    let got = elements("scatter-add", vec![vector(&[0.0; 7]), integers(to), vector(x)]);
    assert_eq!(got, scattered, "{context}");
    let kept: Vec<f64> = x.iter().copied().filter(|x| *x != 0.0).collect();
    assert_eq!(elements("compress", vec![vector(x), vector(x)]), kept, "{context}");
    let at: Vec<i64> = to.iter().map(|&i| i % x.len() as i64).collect();
    let taken: Vec<f64> = at.iter().map(|&i| x[i as usize]).collect();
    assert_eq!(elements("take", vec![vector(x), integers(&at)]), taken, "{context}");
}
