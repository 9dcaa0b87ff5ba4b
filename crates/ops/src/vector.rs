//! Package `vec`: strict vectors. Packed arrays of rank 1 and of one width, nothing converted,
//! and a form of every vector-valued function that writes into a given vector.
//!
//! A record here checks its arguments and hands them to the operation of `linalg` that computes
//! them, so the bits and the rungs are that operation's. The records are made by macros from one
//! line a function; what differs is in `prepare`.

use crate::arguments::Arguments;
use crate::call::{Call, Context, Prepared};
use crate::record::{Exactness, FLOATS, Kind, Op, Parameter, Prepare, Rungs, VEC, required};
use crate::resident::bring_home;
use crate::samples::{self, Sample};
use crate::strict::{array_of, check_out, may_meet, result_of, strict, types_differ};
use crate::table;
use crate::value::Value;
use rung_array::{Array, Number};
use rung_base::{ElementType, Error, ErrorKind, Result, Shape};

/// A record of this package and the one that writes into a vector given first.
macro_rules! functions {
    ($($name:literal, $doc:literal, $kind:ident, $arguments:literal => $result:literal;)*) => {
        pub const PLAIN: &[Op] = &[$(Op {
            names: &[$name],
            doc: $doc,
            example: concat!("(vec:", $name, " ", $arguments, ") => ", $result),
            ..$kind.plain
        }),*];
        pub const INTO: &[Op] = &[$(Op {
            names: &[concat!($name, "-into")],
            doc: concat!("As vec:", $name, ", written into the first argument."),
            example: concat!("(vec:", $name, "-into (vec:zeros 2) ", $arguments, ") => ", $result),
            ..$kind.into
        }),*];
    };
}

functions! {
    "add", "The sum of two vectors.", INTEGER_PAIR, "#d(1 2) #d(10 20)" => "#d(11.0 22.0)";
    "sub", "The first vector less the second.", INTEGER_PAIR, "#d(1 2) #d(10 20)" => "#d(-9.0 -18.0)";
    "mul", "The product of two vectors, element by element.", INTEGER_PAIR, "#d(1 2) #d(10 20)" => "#d(10.0 40.0)";
    "div", "The quotient of two vectors; 1/0 is inf.", INTEGER_PAIR, "#d(1 2) #d(10 0)" => "#d(0.1 inf)";
    "+", "The sum of exactly two vectors.", INTEGER_PAIR, "#d(1 2) #d(10 20)" => "#d(11.0 22.0)";
    "-", "The difference of exactly two vectors.", INTEGER_PAIR, "#d(1 2) #d(10 20)" => "#d(-9.0 -18.0)";
    "*", "The product of exactly two vectors, element by element.", INTEGER_PAIR, "#d(1 2) #d(10 20)" => "#d(10.0 40.0)";
    "/", "The quotient of exactly two vectors.", INTEGER_PAIR, "#d(1 2) #d(10 20)" => "#d(0.1 0.1)";
    "maximum", "The larger of each pair; NaN if either is.", INTEGER_PAIR, "#d(1 5) #d(3 nan)" => "#d(3.0 nan)";
    "minimum", "The smaller of each pair; NaN if either is.", INTEGER_PAIR, "#d(1 5) #d(3 nan)" => "#d(1.0 nan)";
    "scale", "Each element times a number, which is rounded once to the vector's width.", SCALED, "#d(1 2) 0.5" => "#d(0.5 1.0)";
    "clip", "Each element raised to a lower and then lowered to an upper bound.", CLIPPED, "#d(-1 7) 0 5" => "#d(0.0 5.0)";
    "axpy", "A number times the first vector, plus the second; two roundings.", SCALED_SUM, "2 #d(1 2) #d(10 20)" => "#d(12.0 24.0)";
    "exp", "e raised to each element.", ELEMENTARY, "#d(0 1)" => "#d(1.0 2.718281828459045)";
    "log", "The natural logarithm of each element.", ELEMENTARY, "#d(1 10)" => "#d(0.0 2.302585092994046)";
    "tanh", "The hyperbolic tangent of each element.", ELEMENTARY, "#d(0 1)" => "#d(0.0 0.7615941559557649)";
    "sin", "The sine of each element, in radians.", ELEMENTARY, "#d(0 1)" => "#d(0.0 0.8414709848078965)";
    "cos", "The cosine of each element, in radians.", ELEMENTARY, "#d(0 1)" => "#d(1.0 0.5403023058681398)";
    "tan", "The tangent of each element, in radians.", ELEMENTARY, "#d(0 1)" => "#d(0.0 1.5574077246549023)";
    "asin", "The angle whose sine is each element.", ELEMENTARY, "#d(0 1)" => "#d(0.0 1.5707963267948966)";
    "acos", "The angle whose cosine is each element.", ELEMENTARY, "#d(1 0)" => "#d(0.0 1.5707963267948966)";
    "atan", "The angle whose tangent is each element.", ELEMENTARY, "#d(0 1)" => "#d(0.0 0.7853981633974483)";
    "sinh", "The hyperbolic sine of each element.", ELEMENTARY, "#d(0 1)" => "#d(0.0 1.1752011936438014)";
    "cosh", "The hyperbolic cosine of each element.", ELEMENTARY, "#d(0 1)" => "#d(1.0 1.5430806348152437)";
    "erf", "The Gauss error function of each element.", ELEMENTARY, "#d(0 0.5)" => "#d(0.0 0.5204998778130465)";
    "sigmoid", "The logistic function of each element.", ONE, "#d(0 1)" => "#d(0.5 0.7310585786300049)";
    "sqrt", "The square root of each element; NaN below zero.", ONE, "#d(4 2)" => "#d(2.0 1.4142135623730951)";
    "abs", "The magnitude of each element.", ONE, "#d(-1 2)" => "#d(1.0 2.0)";
    "square", "Each element times itself.", ONE, "#d(-3 2)" => "#d(9.0 4.0)";
    "negative", "Each element with its sign turned.", ONE, "#d(-1 2)" => "#d(1.0 -2.0)";
    "sign", "-1, 0 or 1 by the sign of each element.", ONE, "#d(-3 2)" => "#d(-1.0 1.0)";
    "reciprocal", "One over each element.", ONE, "#d(4 0)" => "#d(0.25 inf)";
    "relu", "The larger of each element and zero.", ONE, "#d(-3 2)" => "#d(0.0 2.0)";
    "matvec", "A matrix times a vector: each cell the fold of a row in double-float.", PRODUCT, "#d((1 2) (3 4)) #d(1 10)" => "#d(21.0 43.0)";
}

pub const OTHERS: &[Op] = &[
    Op {
        names: &["zeros"],
        doc: "A vector of n zeros.",
        prepare: |_, a, context| made("zeros", a, context),
        example: "(vec:zeros 2) => #d(0.0 0.0)",
        ..MADE
    },
    Op {
        names: &["ones"],
        doc: "A vector of n ones.",
        prepare: |_, a, context| made("ones", a, context),
        example: "(vec:ones 2 :element-type 'single-float) => #f(1.0 1.0)",
        ..MADE
    },
    Op {
        names: &["arange"],
        doc: "The numbers 0, 1, ... n - 1.",
        prepare: |_, a, context| made("arange", a, context),
        example: "(vec:arange 3) => #d(0.0 1.0 2.0)",
        ..MADE
    },
    Op {
        names: &["zeros-into"],
        doc: "Zeros, written into a vector.",
        prepare: |_, a, _| fill_into(a, 0),
        example: "(vec:zeros-into (vec:ones 2)) => #d(0.0 0.0)",
        ..FILLED
    },
    Op {
        names: &["ones-into"],
        doc: "Ones, written into a vector.",
        prepare: |_, a, _| fill_into(a, 1),
        example: "(vec:ones-into (vec:zeros 2)) => #d(1.0 1.0)",
        ..FILLED
    },
    Op {
        names: &["arange-into"],
        doc: "The numbers 0, 1, ... written into a vector.",
        prepare: arange_into,
        example: "(vec:arange-into (vec:zeros 3)) => #d(0.0 1.0 2.0)",
        ..FILLED
    },
    Op {
        names: &["from-list"],
        doc: "A vector of the numbers of a flat list.",
        parameters: &[
            required("list", Kind::Nested),
            crate::record::keyword("element-type", Kind::ElementType),
        ],
        prepare: from_list,
        samples: || vec![vec![Value::List(vec![samples::integer(1), samples::number(0.5)])]],
        example: "(vec:from-list '(1 1/2)) => #d(1.0 0.5)",
        ..MADE
    },
    Op {
        names: &["to-list"],
        doc: "The elements as a list.",
        result: "a list",
        prepare: |_, a, context| unary_of("to-list", a, context),
        example: "(vec:to-list #d(1 2)) => (1.0 2.0)",
        ..READ
    },
    Op {
        names: &["length"],
        doc: "The number of elements.",
        result: "an integer",
        prepare: |_, a, context| unary_of("size", a, context),
        example: "(vec:length #d(1 2)) => 2",
        ..READ
    },
    Op {
        names: &["aref"],
        doc: "The element at an index, from 0.",
        parameters: &[required("v", Kind::Vector), required("i", Kind::Integer)],
        result: "a number",
        prepare: aref,
        samples: || vec![vec![samples::spread(&[3], 1.0), samples::integer(2)]],
        example: "(vec:aref #d(1 2) 1) => 2.0",
        ..READ
    },
    Op {
        names: &["aset"],
        doc: "Writes an element, rounded once to the vector's width.",
        parameters: &[V, required("i", Kind::Integer), required("x", Kind::Number)],
        result: "the number",
        prepare: aset,
        samples: || {
            vec![vec![samples::spread(&[3], 1.0), samples::integer(2), samples::number(0.1)]]
        },
        example: "(vec:aset (vec:zeros 2) 1 7) => 7",
        writes: &[0],
        assigned: Some(2),
        ..READ
    },
    Op {
        names: &["sum"],
        doc: "The sum of the elements, accumulated in double-float.",
        prepare: |_, a, context| unary_of("sum", a, context),
        example: "(vec:sum #d(1 2 3)) => 6.0",
        ..FOLD
    },
    Op {
        names: &["mean"],
        doc: "The sum divided by the length.",
        prepare: |_, a, context| unary_of("mean", a, context),
        example: "(vec:mean #d(1 2 6)) => 3.0",
        ..FOLD
    },
    Op {
        names: &["norm"],
        doc: "The square root of the sum of squares.",
        prepare: |_, a, context| unary_of("norm", a, context),
        example: "(vec:norm #d(3 4)) => 5.0",
        ..FOLD
    },
    Op {
        names: &["argmax"],
        doc: "The index of the largest element, the lowest on ties; the first NaN wins.",
        result: "an integer",
        prepare: |_, a, context| unary_of("argmax", a, context),
        example: "(vec:argmax #d(1 9 3)) => 1",
        ..FOLD
    },
    Op {
        names: &["amax"],
        doc: "The largest element; NaN if there is one.",
        result: "an element",
        prepare: |_, a, context| unary_of("amax", a, context),
        example: "(vec:amax #f(1 9 3)) => 9.0f0",
        ..FOLD
    },
    Op {
        names: &["amin"],
        doc: "The smallest element; NaN if there is one.",
        result: "an element",
        prepare: |_, a, context| unary_of("amin", a, context),
        example: "(vec:amin #d(1 9 3)) => 1.0",
        ..FOLD
    },
    Op {
        names: &["dot"],
        doc: "The sum of products, accumulated in double-float by fused multiply-add.",
        parameters: &[required("a", Kind::Vector), required("b", Kind::Vector)],
        prepare: dot,
        samples: || pairs(&[0, 1, 7, 65, 4097]),
        example: "(vec:dot #d(1 2 3) #d(4 5 6)) => 32.0",
        ..FOLD
    },
];

const HANDED_ON: Rungs = Rungs::none("the operation of linalg that computes it is asked");

/// A function's two records.
struct Forms {
    plain: Op,
    into: Op,
}

type Samples = fn() -> Vec<Sample>;

const fn forms(
    plain: &'static [Parameter],
    into: &'static [Parameter],
    types: &'static [ElementType],
    exact: Exactness,
    samples: (Samples, Samples),
) -> Forms {
    let common = Op {
        package: VEC,
        types,
        exact,
        rungs: HANDED_ON,
        resident: true,
        result: "a vector of the operands' width",
        ..Op::BASE
    };
    Forms {
        plain: Op {
            parameters: plain,
            prepare: plain_form as Prepare,
            samples: samples.0,
            ..common
        },
        into: Op {
            parameters: into,
            prepare: into_form as Prepare,
            samples: samples.1,
            result: "the first argument",
            writes: &[0],
            ..common
        },
    }
}

const INTEGERS_TOO: &[ElementType] = &[
    ElementType::F64,
    ElementType::F32,
    ElementType::BF16,
    ElementType::F16,
    ElementType::I64,
    ElementType::I32,
    ElementType::U8,
];
const OUT: Parameter = required("out", Kind::Vector);
const A: Parameter = required("a", Kind::Vector);
const B: Parameter = required("b", Kind::Vector);
const V: Parameter = required("v", Kind::Vector);
const LOW: Parameter = required("low", Kind::Number);
const HIGH: Parameter = required("high", Kind::Number);
const MATRIX: Parameter = required("w", Kind::Any);
const S: Parameter = required("s", Kind::Number);

const SAME: Exactness = Exactness::Same;
const INTEGER_PAIR: Forms =
    forms(&[A, B], &[OUT, A, B], INTEGERS_TOO, SAME, (pair_samples, || into(pair_samples())));
const ELEMENTARY: Forms =
    forms(&[V], &[OUT, V], FLOATS, Exactness::Ulp(1), (one_samples, || into(one_samples())));
const ONE: Forms = forms(&[V], &[OUT, V], FLOATS, SAME, (one_samples, || into(one_samples())));
const SCALED: Forms =
    forms(&[V, S], &[OUT, V, S], FLOATS, SAME, (scale_samples, || into(scale_samples())));
const CLIPPED: Forms = forms(
    &[V, LOW, HIGH],
    &[OUT, V, LOW, HIGH],
    FLOATS,
    SAME,
    (clip_samples, || into(clip_samples())),
);
const SCALED_SUM: Forms = forms(
    &[S, A, B],
    &[OUT, S, A, B],
    FLOATS,
    SAME,
    (axpy_samples, || axpy_samples().into_iter().map(|s| with_out(s, 1)).collect()),
);
const PRODUCT: Forms = forms(
    &[MATRIX, V],
    &[OUT, MATRIX, V],
    FLOATS,
    Exactness::LibraryOrder,
    (product_samples, || {
        vec![vec![
            samples::spread(&[5], 1.0),
            samples::spread(&[5, 70], 1.0),
            samples::spread(&[70], 2.0),
        ]]
    }),
);

const MADE: Op = Op {
    package: VEC,
    parameters: &[
        required("n", Kind::Integer),
        crate::record::keyword("element-type", Kind::ElementType),
    ],
    result: "a vector; double-float unless an element type is given",
    rungs: HANDED_ON,
    samples: || vec![vec![samples::integer(7)], vec![samples::integer(0)]],
    ..Op::BASE
};
const FILLED: Op = Op {
    package: VEC,
    parameters: &[OUT],
    result: "the vector",
    types: FLOATS,
    rungs: HANDED_ON,
    resident: true,
    samples: one_samples,
    writes: &[0],
    ..Op::BASE
};
const READ: Op = Op {
    package: VEC,
    parameters: &[V],
    types: FLOATS,
    rungs: HANDED_ON,
    resident: true,
    samples: one_samples,
    ..Op::BASE
};
const FOLD: Op = Op { result: "a double-float", ..READ };

fn one_samples() -> Vec<Sample> {
    [0usize, 1, 7, 17, 65, 4097].iter().map(|&n| vec![samples::hard(&[n], 2.0)]).collect()
}

fn pairs(lengths: &[usize]) -> Vec<Sample> {
    let pair = |&n: &usize| vec![samples::hard(&[n], 2.0), samples::spread(&[n], 3.0)];
    lengths.iter().map(pair).collect()
}

fn pair_samples() -> Vec<Sample> {
    let whole = vec![samples::counting(&[65], 9), samples::counting(&[65], 7)];
    [pairs(&[0, 1, 7, 65, 4097]), vec![whole]].concat()
}

fn scale_samples() -> Vec<Sample> {
    one_samples().into_iter().map(|v| [v, vec![samples::number(0.1)]].concat()).collect()
}

fn clip_samples() -> Vec<Sample> {
    let bounds = vec![samples::number(-0.5), samples::number(1.5)];
    one_samples().into_iter().map(|v| [v, bounds.clone()].concat()).collect()
}

fn axpy_samples() -> Vec<Sample> {
    pairs(&[0, 1, 65, 4097]).into_iter().map(|p| [vec![samples::number(0.1)], p].concat()).collect()
}

fn product_samples() -> Vec<Sample> {
    let case = |rows: usize, columns: usize| {
        vec![samples::spread(&[rows, columns], 1.0), samples::spread(&[columns], 2.0)]
    };
    vec![case(3, 0), case(1, 1), case(5, 70), case(3, 4097)]
}

/// The samples with a vector of the right length to write before them.
fn into(plain: Vec<Sample>) -> Vec<Sample> {
    plain.into_iter().map(|sample| with_out(sample, 0)).collect()
}

fn with_out(sample: Sample, like: usize) -> Sample {
    let n = if let Value::Array(a) = &sample[like] { a.size() } else { 0 };
    [vec![samples::spread(&[n], 1.0)], sample].concat()
}

/// The operation of `linalg` by which a function of this package is computed.
fn computed_by(name: &str) -> Result<&'static Op> {
    const OTHER_NAMES: [(&str, &str); 6] = [
        ("+", "add"),
        ("-", "sub"),
        ("*", "mul"),
        ("/", "div"),
        ("scale", "mul"),
        ("matvec", "dot"),
    ];
    let other = OTHER_NAMES.iter().find(|(strict, _)| *strict == name);
    let name = other.map_or(name, |(_, name)| name);
    table::find(name)
        .ok_or_else(|| Error::new(ErrorKind::Internal, format!("the table has no {name}")))
}

fn hand_on(name: &str, values: Vec<Value>, context: &mut Context) -> Result<Prepared> {
    let op = computed_by(name)?;
    if !op.takes_residents() {
        bring_home(&values)?;
    }
    (op.prepare)(op, Arguments::bind(op, values)?, context)
}

fn plain_form(op: &'static Op, arguments: Arguments, context: &mut Context) -> Result<Prepared> {
    let values = strict(op, arguments, 0)?;
    compute(op.name(), values, context)
}

fn into_form(op: &'static Op, mut arguments: Arguments, context: &mut Context) -> Result<Prepared> {
    let out = arguments.vector(0)?;
    let values = strict(op, arguments, 1)?;
    let name = op.name().strip_suffix("-into").unwrap_or(op.name());
    let product = name == "matvec";
    let operands: Vec<&Array> = values.iter().filter_map(array_of).collect();
    for operand in &operands {
        let same = out.offset() == operand.offset() && out.strides() == operand.strides();
        if out.shares_storage(operand) && out.size() > 0 && (product || !same) {
            let text = match product {
                true => "matvec-into: out must not be an operand".to_string(),
                false => format!("out overlaps an operand: two views of one array, {out:?}"),
            };
            return Err(Error::new(ErrorKind::Argument, text));
        }
    }
    let (wanted_type, wanted_length) = result_of(&values, product);
    check_out(&out, wanted_type, wanted_length)?;
    compute(name, values, context)
}

fn compute(name: &str, values: Vec<Value>, context: &mut Context) -> Result<Prepared> {
    match name {
        "axpy" => scaled_sum(values),
        "matvec" if matches!(values[0], Value::Quantized(_)) => {
            hand_on("%la-quantized-matvec", values, context)
        }
        "matvec" => {
            let vector = values.get(1).and_then(array_of).map(Array::element_type);
            let prepared = hand_on(name, values, context)?;
            Ok(match (prepared, vector) {
                (Prepared::Call(call), Some(result)) => {
                    Prepared::Call(Box::new(Call { result, ..*call }))
                }
                // A product without elements is done before a rung is asked.
                (Prepared::Done(_), Some(result)) => {
                    Prepared::Done(vec![Array::zeros(result, Shape::vector(0))?.into()])
                }
                (other, _) => other,
            })
        }
        _ => hand_on(name, values, context),
    }
}

/// a * x + y.
fn scaled_sum(values: Vec<Value>) -> Result<Prepared> {
    let [a, x, y]: [Value; 3] = values
        .try_into()
        .map_err(|_| Error::new(ErrorKind::Internal, "axpy without its three operands"))?;
    Ok(Prepared::Steps(Box::new(move |run| {
        let scaled = run.array("mul", vec![x, a])?;
        run.call("add", vec![scaled.into(), y])
    })))
}

fn unary_of(name: &str, mut arguments: Arguments, context: &mut Context) -> Result<Prepared> {
    let v = arguments.vector(0)?;
    if !v.element_type().is_float() {
        let text = format!("expected a packed vector of floats: got {v:?}");
        return Err(Error::new(ErrorKind::Type, text));
    }
    let handed = hand_on(name, vec![v.into()], context);
    handed.map_err(|e| match e.kind() {
        ErrorKind::Empty => Error::new(ErrorKind::Empty, format!("{name} of an empty vector")),
        _ => e,
    })
}

fn dot(_: &'static Op, mut arguments: Arguments, context: &mut Context) -> Result<Prepared> {
    let (a, b) = (arguments.vector(0)?, arguments.vector(1)?);
    if !a.element_type().is_float() || !b.element_type().is_float() {
        let text = format!("expected a packed vector of floats: got {a:?} and {b:?}");
        return Err(Error::new(ErrorKind::Type, text));
    }
    if !may_meet(a.element_type(), b.element_type()) {
        return Err(types_differ(&a, &b));
    }
    if a.size() != b.size() {
        let text = format!("lengths differ: {} and {}", a.size(), b.size());
        return Err(Error::new(ErrorKind::Shape, text));
    }
    hand_on("dot", vec![a.into(), b.into()], context)
}

fn made(name: &str, mut arguments: Arguments, context: &mut Context) -> Result<Prepared> {
    let n = arguments.integer(0)?;
    if n < 0 {
        return Err(Error::wanted(ErrorKind::Argument, "expected a non-negative length", n));
    }
    let t = arguments.element_type(1, ElementType::F64)?;
    let element_type = Value::Symbol(t.numpy_name().into());
    hand_on(name, vec![Value::integer(n), samples::word("element-type"), element_type], context)
}

fn fill_into(mut arguments: Arguments, n: i64) -> Result<Prepared> {
    let out = arguments.vector(0)?;
    let filled = Array::full(out.element_type(), out.shape().clone(), Number::I64(n))?;
    Ok(Prepared::Done(vec![filled.into()]))
}

fn arange_into(
    _: &'static Op,
    mut arguments: Arguments,
    context: &mut Context,
) -> Result<Prepared> {
    let out = arguments.vector(0)?;
    let element_type = Value::Symbol(out.element_type().numpy_name().into());
    let n = Value::integer(out.size() as i64);
    hand_on("arange", vec![n, samples::word("element-type"), element_type], context)
}

fn from_list(_: &'static Op, mut arguments: Arguments, context: &mut Context) -> Result<Prepared> {
    let list = arguments.nested(0);
    let t = arguments.element_type(1, ElementType::F64)?;
    let items = match &list {
        Value::List(items) => &items[..],
        Value::Nil => &[],
        other => return Err(Error::wanted(ErrorKind::Type, "expected a list", other)),
    };
    if let Some(other) = items.iter().find(|item| !matches!(item, Value::Number(_))) {
        let wanted = "list element is not a real number";
        return Err(Error::wanted(ErrorKind::Type, wanted, other));
    }
    let element_type = Value::Symbol(t.numpy_name().into());
    hand_on("from-list", vec![list, samples::word("element-type"), element_type], context)
}

fn checked_index(i: i64, length: usize) -> Result<i64> {
    if i < 0 || i as u64 >= length as u64 {
        let text = format!("index {i} out of range for length {length}");
        return Err(Error::new(ErrorKind::Index, text));
    }
    Ok(i)
}

fn aref(_: &'static Op, mut arguments: Arguments, _: &mut Context) -> Result<Prepared> {
    let (v, i) = (arguments.vector(0)?, arguments.integer(1)?);
    let i = checked_index(i, v.size())?;
    Ok(Prepared::Done(vec![Value::Number(v.get(&[i])?)]))
}

fn aset(_: &'static Op, mut arguments: Arguments, _: &mut Context) -> Result<Prepared> {
    let (v, i, x) = (arguments.vector(0)?, arguments.integer(1)?, arguments.number(2)?);
    let i = checked_index(i, v.size())?;
    Ok(Prepared::Write(Box::new(move |v| v.set(&[i], x))))
}
