//! The gradients of the table's element-wise operations and the derivatives of kernels: each against
//! central differences in f64, at points of every kind, and what the rules say at corners.

use rung_array::Array;
use rung_base::{ElementType, Result, Settings, Shape};
use rung_lanes::{Lanes, Level};
use rung_ops::gradient::Gradient;
use rung_ops::record::LINALG;
use rung_ops::user_kernel::{
    Declaration, Expression, Function, Of, derivative, fold_named, operation,
};
use rung_ops::{Decline, Ladder, NoCaller, Op, Value, table};

/// The definitions alone, or with lanes.
fn ladder(lanes: Option<Lanes>) -> Ladder {
    let absent = || Decline::Off("test");
    Ladder::with_rungs(&Settings::default(), lanes, Err(absent()), Err(absent()))
}

fn call(name: &str, arguments: Vec<Expression>) -> Expression {
    Expression::Call(Function::named(name).unwrap(), arguments)
}

fn variable(n: usize) -> Expression {
    Expression::Variable(n)
}

fn kernel(name: &str, parameters: usize, expression: Expression) -> Result<&'static Op> {
    folded(name, parameters, expression, None)
}

fn folded(
    name: &str,
    parameters: usize,
    expression: Expression,
    fold: Option<&'static str>,
) -> Result<&'static Op> {
    let parameters = (0..parameters).map(|n| (format!("p{n}"), ElementType::F64)).collect();
    let (name, doc) = (name.to_string(), String::new());
    let of = fold.map_or(Of::Elements, Of::Fold);
    operation(Declaration { name, doc, parameters, expression, of })
}

fn derived(op: &'static Op, by: usize) -> &'static Op {
    let name = format!("{} by {by}", op.name());
    operation(derivative(op, &format!("p{by}"), name).unwrap()).unwrap()
}

/// A kernel over columns of arguments.
fn run(op: &'static Op, columns: &[Vec<f64>]) -> Vec<f64> {
    run_by(&mut ladder(None), op, columns)
}

fn run_by(ladder: &mut Ladder, op: &'static Op, columns: &[Vec<f64>]) -> Vec<f64> {
    let array = |column: &Vec<f64>| {
        Value::Array(Array::from_slice(column, Shape::new([column.len()]).unwrap()).unwrap())
    };
    let values = ladder.call(op, columns.iter().map(array).collect(), &mut NoCaller).unwrap();
    match &values[..] {
        [Value::Array(a)] => a.view::<f64>().iter().collect(),
        other => panic!("{}: {other:?}", op.name()),
    }
}

fn at(op: &'static Op, point: &[f64]) -> f64 {
    run(op, &point.iter().map(|x| vec![*x]).collect::<Vec<_>>())[0]
}

/// How many points a kernel's derivative was compared at: those where it is smooth and a number.
/// The difference is over five points, so that its own error is of the fourth order.
fn compared(op: &'static Op, by: usize, columns: &[Vec<f64>], note: &str) -> usize {
    let step = |x: f64| 3e-5 * x.abs().max(0.1);
    let moved = |to: f64| {
        let mut columns = columns.to_vec();
        columns[by].iter_mut().for_each(|x| *x += to * step(*x));
        run(op, &columns)
    };
    let [far_below, below, value, above, far_above] = [-2.0, -1.0, 0.0, 1.0, 2.0].map(moved);
    let slopes = run(derived(op, by), columns);
    let mut count = 0;
    for k in 0..value.len() {
        let h = step(columns[by][k]);
        let (right, left) = ((above[k] - value[k]) / h, (value[k] - below[k]) / h);
        let wanted = (8.0 * (above[k] - below[k]) - (far_above[k] - far_below[k])) / (12.0 * h);
        if !wanted.is_finite() || (right - left).abs() > 0.02 * (1.0 + wanted.abs()) {
            continue;
        }
        let point: Vec<f64> = columns.iter().map(|column| column[k]).collect();
        let scale = 1.0 + wanted.abs() + value[k].abs();
        assert!(
            (slopes[k] - wanted).abs() <= 1e-7 * scale,
            "{note} by operand {by} at {point:?}: {} instead of {wanted}",
            slopes[k]
        );
        count += 1;
    }
    count
}

/// Every combination of these, in columns.
fn points(arity: usize) -> Vec<Vec<f64>> {
    const EACH: [f64; 20] = [
        -7.3, -3.91, -2.37, -1.71, -1.13, -0.93, -0.53, -0.31, -0.07, -0.003, 0.004, 0.08, 0.33,
        0.57, 0.91, 1.17, 1.77, 2.41, 3.83, 7.9,
    ];
    let total = EACH.len().pow(arity as u32);
    // No two operands are ever equal.
    let value =
        |n: usize, k: usize| EACH[n / EACH.len().pow(k as u32) % EACH.len()] + 0.017 * k as f64;
    (0..arity).map(|k| (0..total).map(|n| value(n, k)).collect()).collect()
}

fn linkable() -> Vec<(&'static Op, Function)> {
    let of = |op: &'static Op| Some((op, Function::named(op.name())?));
    table::operations().filter(|op| op.package == LINALG).filter_map(of).collect()
}

#[test]
fn every_operation_of_a_kernel_has_a_gradient_that_is_its_slope() {
    let all = linkable();
    assert!(all.len() >= 55, "{}", all.len());
    for (op, function) in all {
        let arity = function.arity();
        match op.gradient {
            Gradient::None | Gradient::Spread | Gradient::Folded(_) => {
                panic!("{} has no gradient", op.name())
            }
            Gradient::Elements(rules) => assert_eq!(rules.len(), arity, "{}", op.name()),
            Gradient::Zero | Gradient::Chosen => {}
        }
        let expression = Expression::Call(function, (0..arity).map(variable).collect());
        let kernel = kernel(op.name(), arity, expression).unwrap();
        let points = points(arity);
        for by in 0..arity {
            let count = compared(kernel, by, &points, op.name());
            assert!(count * 4 >= points[0].len(), "{}: {count} points", op.name());
        }
    }
}

#[test]
fn operations_that_are_no_part_of_kernels_and_have_gradients_are_folds() {
    for op in table::operations().filter(|op| Function::named(op.name()).is_none()) {
        let none = matches!(op.gradient, Gradient::None);
        assert!(none || fold_named(op.name()).is_some(), "{}", op.name());
    }
}

#[test]
fn rules_at_corners() {
    const INF: f64 = f64::INFINITY;
    let ln2 = std::f64::consts::LN_2;
    let cases: [(&str, &[f64], usize, f64); 30] = [
        ("abs", &[0.0], 0, 0.0),
        ("abs", &[-0.0], 0, 0.0),
        ("abs", &[-2.0], 0, -1.0),
        ("relu", &[0.0], 0, 0.0),
        ("relu", &[f64::NAN], 0, 0.0),
        ("relu", &[3.0], 0, 1.0),
        ("maximum", &[2.0, 2.0], 0, 0.5),
        ("maximum", &[2.0, 2.0], 1, 0.5),
        ("maximum", &[3.0, 2.0], 1, 0.0),
        ("maximum", &[3.0, 2.0], 0, 1.0),
        ("minimum", &[2.0, 2.0], 0, 0.5),
        ("minimum", &[3.0, 2.0], 0, 0.0),
        ("minimum", &[0.0, -0.0], 1, 0.5),
        ("sqrt", &[0.0], 0, INF),
        ("cbrt", &[0.0], 0, INF),
        ("log", &[0.0], 0, INF),
        ("asin", &[1.0], 0, INF),
        ("acos", &[1.0], 0, -INF),
        ("atanh", &[1.0], 0, INF),
        ("power", &[0.0, 2.0], 0, 0.0),
        ("power", &[0.0, 1.0], 0, 1.0),
        ("power", &[0.0, 2.0], 1, 0.0),
        ("power", &[-2.0, 3.0], 0, 12.0),
        ("power", &[-2.0, 3.0], 1, 0.0),
        ("power", &[2.0, 3.0], 1, 8.0 * ln2),
        ("sign", &[0.0], 0, 0.0),
        ("floor", &[1.0], 0, 0.0),
        ("where", &[0.0, 1.0, 2.0], 2, 1.0),
        ("where", &[f64::NAN, 1.0, 2.0], 1, 1.0),
        ("hypot", &[3e200, 4e200], 1, 0.8),
    ];
    for (name, point, by, wanted) in cases {
        let arguments = (0..point.len()).map(variable).collect();
        let op = kernel(name, point.len(), call(name, arguments)).unwrap();
        assert_eq!(at(derived(op, by), point), wanted, "{name} {point:?} by {by}");
    }
    let hypot = kernel("hypot", 2, call("hypot", vec![variable(0), variable(1)])).unwrap();
    assert!(at(derived(hypot, 0), &[0.0, 0.0]).is_nan());
}

#[test]
fn lets_and_repetitions_are_derived() {
    // Newton's square root: the slope is 1 / (2 root).
    let next = 0.5 * (variable(1) + variable(0) / variable(1));
    let root = Expression::Repeat {
        times: 30,
        first: vec![Expression::Number(1.0)],
        each: Vec::new(),
        next: vec![next],
        result: Box::new(variable(1)),
    };
    let root = derived(kernel("root", 1, root).unwrap(), 0);
    assert!((at(root, &[2.0]) - 0.5 / 2f64.sqrt()).abs() < 1e-15);
    // Two variables, one of which gets a slope from the other, within a repetition around it; a
    // third that has none.
    let inner = Expression::Repeat {
        times: 3,
        first: vec![variable(2), 0.25.into(), 0.0.into()],
        each: vec![call("sin", vec![variable(4)])],
        next: vec![
            variable(4) * variable(7) + variable(0),
            variable(5) + variable(4) * variable(3),
            variable(6) + call("less", vec![variable(4), variable(5)]),
        ],
        result: Box::new(variable(4) + variable(5) * variable(6)),
    };
    let outer = Expression::Repeat {
        times: 4,
        first: vec![variable(0), variable(1)],
        each: Vec::new(),
        next: vec![call("tanh", vec![inner]), call("cos", vec![variable(2)])],
        result: Box::new(Expression::Let(
            vec![variable(2) + variable(3)],
            Box::new(variable(4) * variable(4)),
        )),
    };
    let op = kernel("nested", 2, outer).unwrap();
    let columns = [vec![0.3, -1.2, 0.9, 2.2], vec![0.1, 0.7, -0.4, 1.5]];
    for by in 0..2 {
        assert!(compared(op, by, &columns, "nested") >= 3);
    }
}

#[test]
fn a_derivative_of_a_derivative() {
    let x = variable(0);
    let op = kernel("cubic", 2, variable(1) * call("power", vec![x, 3.0.into()])).unwrap();
    let second = derived(derived(op, 0), 0);
    assert_eq!(at(second, &[2.0, 5.0]), 60.0);
    assert_eq!(at(derived(second, 1), &[2.0, 5.0]), 12.0);
    let bell = call("exp", vec![-(variable(0) * variable(0))]);
    let third = derived(derived(derived(kernel("bell", 1, bell).unwrap(), 0), 0), 0);
    let x = 0.7f64;
    let wanted = (12.0 * x - 8.0 * x * x * x) * (-x * x).exp();
    assert!((at(third, &[x]) - wanted).abs() < 1e-14);
}

/// Written out as trees, 250 bindings that are used twice each would be 2^250 values.
#[test]
fn a_derivative_grows_with_the_kernel_and_not_faster() {
    let values = (0..250).map(|k| call("sin", vec![variable(k)]) * variable(k)).collect();
    let op = kernel("long", 1, Expression::Let(values, Box::new(variable(250)))).unwrap();
    assert!(at(derived(op, 0), &[0.5]).is_finite());
    let long = (0..1200).map(|k| call("sin", vec![variable(k)]) * variable(k)).collect();
    let op = kernel("long", 1, Expression::Let(long, Box::new(variable(1200))));
    assert!(op.err().unwrap().to_string().contains("4096 steps"));
}

#[test]
fn what_does_not_change_has_the_derivative_0() {
    let op = kernel("steps", 2, call("floor", vec![variable(0)]) * 3.0).unwrap();
    assert_eq!(at(derived(op, 0), &[1.5, f64::NAN]).to_bits(), 0);
    assert_eq!(at(derived(op, 1), &[1.5, f64::NAN]).to_bits(), 0);
}

#[test]
fn a_sum_is_derived_by_its_elements_and_other_folds_say_why_not() {
    let square = || variable(0) * variable(0);
    let sum = folded("squares", 1, square(), Some("sum")).unwrap();
    assert_eq!(run(derived(sum, 0), &[vec![1.0, 2.0, -3.0]]), [2.0, 4.0, -6.0]);
    let mean = folded("mean-square", 1, square(), Some("mean")).unwrap();
    let slope = derived(mean, 0);
    assert_eq!(run(slope, &[vec![3.0, 6.0, -9.0]]), [2.0, 4.0, -6.0]);
    let error = derivative(slope, "p0", "d".into()).err().unwrap();
    assert!(error.to_string().contains("is the gradient of a fold"), "{error}");
    let median = folded("middle-square", 1, square(), Some("median")).unwrap();
    let error = derivative(median, "p0", "d".into()).err().unwrap();
    assert!(
        error.to_string().contains("middle-square makes the median of its elements"),
        "{error}"
    );
    assert!(error.hint_text().unwrap().contains("product"));
    let any = folded("any-square", 1, square(), Some("any")).unwrap();
    assert_eq!(run(derived(any, 0), &[vec![3.0, 0.0]]), [0.0, 0.0]);
    let error = derivative(sum, "p1", "d".into()).err().unwrap();
    assert!(error.to_string().contains("squares has no parameter p1: it has p0"), "{error}");
    let error = derivative(table::find("exp").unwrap(), "a", "d".into()).err().unwrap();
    assert!(error.to_string().contains("no kernel of a program's own"), "{error}");
}

/// A fold of a matrix (3, 4) along an axis, or whole.
fn fold_at(op: &'static Op, columns: [&[f64]; 2], axis: Option<i64>) -> Vec<f64> {
    let shape = Shape::new([3, 4]).unwrap();
    let matrix = |x: &[f64]| Value::Array(Array::from_slice(x, shape.clone()).unwrap());
    let mut values: Vec<Value> = columns.into_iter().map(matrix).collect();
    if let Some(axis) = axis {
        values.extend([Value::Keyword("axis".into()), Value::integer(axis)]);
    }
    match &ladder(None).call(op, values, &mut NoCaller).unwrap()[..] {
        [Value::Array(a)] => a.numbers().map(|x| x.to_f64()).collect(),
        [Value::Number(x)] => vec![x.to_f64()],
        other => panic!("{other:?}"),
    }
}

/// Each gradient of a fold beside differences, for every element and operand.
#[test]
fn gradients_of_folds_are_their_slopes() {
    let with_gradients = table::operations()
        .filter(|op| matches!(op.gradient, Gradient::Folded(_)) && op.package == LINALG);
    let names: Vec<&'static str> = with_gradients.map(|op| op.name()).collect();
    assert!(names.len() >= 15, "{names:?}");
    let x: Vec<f64> = (0..12).map(|k| ((k * 7 % 12) as f64 - 5.3) * 0.31).collect();
    let y: Vec<f64> = (0..12).map(|k| ((k * 5 % 12) as f64 - 4.1) * 0.17).collect();
    let expression = variable(0) * call("sin", vec![variable(1)]) + variable(0);
    for name in names {
        let op = folded(name, 2, expression.clone(), Some(name)).unwrap();
        for (axis, by) in [None, Some(0), Some(1)].into_iter().flat_map(|a| [(a, 0), (a, 1)]) {
            let slopes = fold_at(derived(op, by), [&x, &y], axis);
            assert_eq!(slopes.len(), 12, "{name}");
            for k in 0..12 {
                // The fold's cells that an element is not part of do not change.
                let value = |h: f64| {
                    let mut both = [x.clone(), y.clone()];
                    both[by][k] += h;
                    fold_at(op, [&both[0], &both[1]], axis).iter().sum::<f64>()
                };
                let h = 1e-5;
                let wanted = (8.0 * (value(h) - value(-h)) - (value(2.0 * h) - value(-2.0 * h)))
                    / (12.0 * h);
                let off = (slopes[k] - wanted).abs();
                assert!(off < 1e-7 * (1.0 + wanted.abs()), "{name} {axis:?} by {by}, {k}: {off:e}");
            }
        }
    }
}

/// A NaN that a fold leaves out has no part in the gradient; the others have theirs as if it were
/// not there.
#[test]
fn absent_elements_have_the_gradient_0() {
    let cases: [(&str, [f64; 4]); 7] = [
        ("nansum", [1.0, 0.0, 1.0, 1.0]),
        ("nanprod", [8.0, 0.0, 4.0, 2.0]),
        ("nanmean", [1.0 / 3.0, 0.0, 1.0 / 3.0, 1.0 / 3.0]),
        ("nanvar", [-8.0 / 9.0, 0.0, -2.0 / 9.0, 10.0 / 9.0]),
        ("nanstd", [-0.3563483225498992, 0.0, -0.0890870806374748, 0.44543540318737396]),
        ("nanmax", [0.0, 0.0, 0.0, 1.0]),
        ("nanmin", [1.0, 0.0, 0.0, 0.0]),
    ];
    for (name, wanted) in cases {
        let op = folded(name, 1, variable(0), Some(name)).unwrap();
        let slopes = run(derived(op, 0), &[vec![1.0, f64::NAN, 2.0, 4.0]]);
        for (slope, wanted) in slopes.iter().zip(wanted) {
            assert!((slope - wanted).abs() < 1e-15, "{name}: {slopes:?}");
        }
    }
    let op = folded("product", 1, variable(0), Some("nanprod")).unwrap();
    assert_eq!(run(derived(op, 0), &[vec![0.0, f64::NAN, 3.0, 5.0]]), [15.0, 0.0, 0.0, 0.0]);
}

/// A generator of numbers below n.
struct Random(u64);

impl Random {
    fn below(&mut self, n: usize) -> usize {
        self.0 =
            self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        ((self.0 >> 33) % n as u64) as usize
    }

    /// A smooth expression over so many variables, bounded enough not to overflow.
    fn expression(&mut self, variables: usize, depth: usize) -> Expression {
        if depth == 0 {
            return match self.below(4) {
                0 => Expression::Number([0.5, -1.0, 1.0, 2.0][self.below(4)]),
                _ => variable(self.below(variables)),
            };
        }
        let (n, d) = (variables, depth - 1);
        match self.below(11) {
            0 => self.expression(n, d) + self.expression(n, d),
            1 => self.expression(n, d) - self.expression(n, d),
            2 => {
                call("tanh", vec![self.expression(n, d)]) * call("sin", vec![self.expression(n, d)])
            }
            3 => self.expression(n, d) / (2.0 + call("cos", vec![self.expression(n, d)])),
            4 => call("sigmoid", vec![self.expression(n, d)]),
            5 => call("erf", vec![self.expression(n, d)]),
            6 | 7 => {
                let count = 1 + self.below(3);
                let values = (0..count).map(|k| self.expression(n + k, d)).collect();
                Expression::Let(values, Box::new(self.expression(n + count, d)))
            }
            8 | 9 => {
                let count = 1 + self.below(2);
                let first = (0..count).map(|_| self.expression(n, d)).collect();
                let next = (0..count).map(|_| self.expression(n + count, d.min(2)));
                let next = next.map(|next| call("tanh", vec![next])).collect();
                let result = Box::new(self.expression(n + count, d));
                let times = self.below(4);
                Expression::Repeat { times, first, each: Vec::new(), next, result }
            }
            _ => {
                let test = call("less", vec![self.expression(n, d), self.expression(n, d)]);
                call("where", vec![test, self.expression(n, d), self.expression(n, d)])
            }
        }
    }
}

/// The same bits by the lanes of every level: over columns that hurt and end within a vector.
fn assert_lanes(ladders: &mut [Ladder], op: &'static Op, note: &str) {
    let hurt = [f64::NAN, -0.0, 0.0, f64::INFINITY, 5e-324, 1e308, 0.7];
    let column = |by: usize| (0..19).map(|k| hurt[k * by % hurt.len()]).collect::<Vec<_>>();
    let columns = [column(1), column(3)];
    let bits = |values: Vec<f64>| {
        let bits = |x: f64| if x.is_nan() { f64::NAN.to_bits() } else { x.to_bits() };
        values.into_iter().map(bits).collect::<Vec<_>>()
    };
    let wanted = bits(run(op, &columns));
    for ladder in ladders {
        assert_eq!(bits(run_by(ladder, op, &columns)), wanted, "{note}");
    }
}

#[test]
fn derivatives_of_random_kernels_are_their_slopes() {
    let columns = [vec![0.31, -0.77, 1.3, 0.05], vec![0.9, 0.4, -1.1, 0.62]];
    let levels = Level::available().into_iter();
    let mut lanes: Vec<Ladder> = levels.map(|l| ladder(Some(Lanes::with(l, 2)))).collect();
    let mut all = 0;
    for seed in 0..300 {
        let expression = Random(seed).expression(2, 4);
        // Those with too many steps.
        let Ok(op) = kernel("random", 2, expression) else { continue };
        for by in 0..2 {
            let declared = derivative(op, &format!("p{by}"), "d".into());
            let declared = declared.unwrap_or_else(|e| panic!("seed {seed}: {e}"));
            if let Ok(derived) = operation(declared) {
                all += compared(op, by, &columns, &format!("seed {seed}"));
                assert_lanes(&mut lanes, derived, &format!("seed {seed} by {by}"));
            }
        }
    }
    assert!(all > 1500, "{all}");
}
