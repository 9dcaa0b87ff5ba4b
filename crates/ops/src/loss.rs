//! Members of a training step that give numbers: the sum of squares, the scale that clips a
//! gradient's norm, and cross-entropy with its gradient, each made of named functions.

use crate::arguments::Arguments;
use crate::call::{Call, Context, Prepared, Run, at_compute_type, integers_not_taken};
use crate::decline::Answer;
use crate::explain::reshaped;
use crate::fold::{self, Folded, Total, device, each_run, resident, rungs, totals, wide};
use crate::record::{ALL, Kind, Op, Parameter, Rungs, required};
use crate::rowwise::{MEMBER, number};
use crate::samples::{self, Sample};
use crate::value::Value;
use rung_array::{Array, Number};
use rung_base::{ElementType, Error, ErrorKind, Result, Shape, bf16, f16, with_element};
use rung_kernel::fold::Fold;
use rung_lanes::Lanes;
use rung_lanes::fold::{Second, Squares};
use rung_math::fold::dot;

pub const OPS: &[Op] = &[
    Op {
        names: &["%la-sum-squares"],
        doc: "The sum of the squares of all elements: the fold of fma(x, x, .).",
        parameters: &[required("a", Kind::Array)],
        result: "a double-float",
        types: ALL,
        prepare: prepare_squares,
        rungs: rungs(
            squares_portable,
            squares_lanes,
            resident(|c, trip| device(c, trip, Fold::Squares)),
        ),
        samples: || samples::unary(2.0),
        example: "(linalg::%la-sum-squares #f(3 4)) => 25.0",
        ..MEMBER
    },
    Op {
        names: &["%la-clip-scale"],
        doc: "The norm of a list of arrays (the sum of squares of each, added left to right), and \
              the number by which they are to be scaled: max/(norm + 1e-6) when norm > max, \
              else 1.",
        parameters: &[required("list", Kind::Arrays), required("max", Kind::Number)],
        result: "two double-floats",
        prepare: prepare_clip,
        rungs: Rungs::STEPS,
        samples: || {
            let list =
                || samples::list(vec![samples::spread(&[70], 1.0), samples::hard(&[3], 1.0)]);
            vec![vec![list(), samples::number(1.0)], vec![list(), samples::number(1e3)]]
        },
        example: "(linalg::%la-clip-scale (list #d(3) #d(4)) 10) => 5.0",
        ..MEMBER
    },
    Op {
        names: &["%la-cross-entropy"],
        doc: "The sum of -log-softmax(logits) at each row's class, and how many rows count: all \
              but those whose class is `ignore`. Leading axes are rows.",
        parameters: ENTROPY,
        result: "a double-float and an integer",
        prepare: prepare_entropy,
        rungs: Rungs::STEPS,
        samples: || entropy_samples(false),
        example: "(linalg::%la-cross-entropy #d((1 1) (2 2)) '(0 9) 9) => 0.6931471805599453",
        ..MEMBER
    },
    Op {
        names: &["%la-cross-entropy-grad"],
        doc: "The gradient of the summed cross-entropy times `scale`: (softmax - one-hot)*scale, \
              zero in the rows that do not count.",
        parameters: &[
            required("logits", Kind::Array),
            required("idx", Kind::Index),
            required("ignore", Kind::Any),
            required("scale", Kind::Number),
        ],
        prepare: prepare_entropy_gradient,
        rungs: Rungs::STEPS,
        samples: || entropy_samples(true),
        example: "(linalg::%la-cross-entropy-grad #d((1 1) (2 2)) '(0 9) 9 2) => \
                  #d((-1.0 1.0) (0.0 0.0))",
        ..MEMBER
    },
];

const ENTROPY: &[Parameter] =
    &[required("logits", Kind::Array), required("idx", Kind::Index), required("ignore", Kind::Any)];

fn prepare_squares(op: &'static Op, mut arguments: Arguments, _: &mut Context) -> Result<Prepared> {
    let a = arguments.array(0)?;
    let types = fold::types(Total::Mean, a.element_type());
    let call = Folded::new(&a, None, false)?.call(op, &a, types)?;
    Ok(Prepared::Call(Box::new(call)))
}

fn squares_portable(call: &Call) -> Result<Array> {
    at_compute_type!(call,
        T => each_run::<T, f64>(call, |run| {
            let x = wide(run);
            dot(run.len(), |i| (x(i), x(i)))
        }),
        integers_not_taken(call))
}

fn squares_lanes(call: &Call, lanes: &Lanes) -> Result<Answer> {
    at_compute_type!(call, T => Array::try_build::<f64>(call.shape.clone(), |out| {
        totals::<Squares, T>(call, lanes, Second::None, out)
    }), integers_not_taken(call))
    .map(Answer::Done)
}

fn number_of(run: &mut dyn Run, name: &str, a: Array) -> Result<f64> {
    match run.call(name, vec![a.into()])?.first() {
        Some(Value::Number(n)) => Ok(n.to_f64()),
        _ => Err(Error::new(ErrorKind::Internal, format!("{name} gave no number"))),
    }
}

fn prepare_clip(_: &'static Op, mut arguments: Arguments, _: &mut Context) -> Result<Prepared> {
    let (list, max) = (arguments.arrays(0)?, arguments.number(1)?.to_f64());
    Ok(Prepared::Steps(Box::new(move |run| {
        let mut total = 0.0;
        for array in list {
            total += number_of(run, "%la-sum-squares", array)?;
        }
        let norm = f64::sqrt(total);
        let scale = if norm > max { max / (norm + 1e-6) } else { 1.0 };
        Ok(vec![number(norm), number(scale)])
    })))
}

/// Logits as a matrix with a class for each row; `None` for the rows that do not count.
struct Rows {
    logits: Array,
    classes: Vec<Option<usize>>,
    /// The shape in which the logits came.
    shape: Shape,
}

fn rows(arguments: &mut Arguments) -> Result<Rows> {
    let logits = arguments.array(0)?;
    let (indices, shape) = arguments.index(1)?;
    let ignore = match arguments.any(2) {
        Value::Nil => None,
        Value::Number(Number::I64(n)) => Some(n),
        other => return Err(Error::wanted(ErrorKind::Type, "expected an integer or nil", &other)),
    };
    let Some((&classes, leading)) = logits.shape().split_last() else {
        return Err(Error::new(ErrorKind::Shape, "cross-entropy expects logits with an axis"));
    };
    let count: usize = leading.iter().product();
    if indices.len() != count || classes == 0 {
        let text = format!(
            "cross-entropy target does not match the logits: {shape} and {}",
            logits.shape()
        );
        return Err(Error::new(ErrorKind::Shape, text));
    }
    let class = |&index: &i64| match usize::try_from(index) {
        _ if Some(index) == ignore => Ok(None),
        Ok(class) if class < classes => Ok(Some(class)),
        _ => {
            let text = format!("class index out of range: {index} of {classes} classes");
            Err(Error::new(ErrorKind::Index, text))
        }
    };
    let classes_of = indices.iter().map(class).collect::<Result<_>>()?;
    let given = logits.shape().clone();
    let logits = reshaped(&logits, Shape::matrix(count, classes)?)?;
    Ok(Rows { logits, classes: classes_of, shape: given })
}

fn along_classes(logits: Array) -> Vec<Value> {
    vec![logits.into(), Value::Keyword("axis".into()), Value::integer(1)]
}

fn prepare_entropy(_: &'static Op, mut arguments: Arguments, _: &mut Context) -> Result<Prepared> {
    let Rows { logits, classes, .. } = rows(&mut arguments)?;
    Ok(Prepared::Steps(Box::new(move |run| {
        let width = logits.shape()[1];
        let kept: Vec<usize> = classes
            .iter()
            .enumerate()
            .filter_map(|(row, class)| class.map(|class| row * width + class))
            .collect();
        let count = Value::integer(kept.len() as i64);
        if classes.is_empty() {
            return Ok(vec![number(0.0), count]);
        }
        let logarithms = run.array("log-softmax", along_classes(logits))?;
        let picked = with_element!(logarithms.element_type(), T => {
            let all = logarithms.view::<T>();
            Array::build::<T>(Shape::vector(kept.len()), |out| {
                out.iter_mut().zip(&kept).for_each(|(o, &at)| *o = all.at(at));
            })?
        });
        Ok(vec![number(0.0 - number_of(run, "sum", picked)?), count])
    })))
}

fn prepare_entropy_gradient(
    _: &'static Op,
    mut arguments: Arguments,
    _: &mut Context,
) -> Result<Prepared> {
    let scale = arguments.number(3)?;
    let Rows { logits, classes, shape } = rows(&mut arguments)?;
    Ok(Prepared::Steps(Box::new(move |run| {
        if classes.is_empty() {
            return Ok(vec![logits.reshape(shape)?.into()]);
        }
        let width = logits.shape()[1];
        let mut gradient = run.array("softmax", along_classes(logits))?;
        less_one_hot(&mut gradient, width, &classes)?;
        let mut scaled = run.array("mul", vec![gradient.into(), Value::Number(scale)])?;
        with_element!(scaled.element_type(), T => {
            let all = scaled.make_mut::<T>()?;
            for (row, _) in classes.iter().enumerate().filter(|(_, class)| class.is_none()) {
                all[row * width..(row + 1) * width].fill(T::default());
            }
        });
        Ok(vec![scaled.reshape(shape)?.into()])
    })))
}

/// Takes 1 from each row's class, at the width of the array.
fn less_one_hot(a: &mut Array, width: usize, classes: &[Option<usize>]) -> Result<()> {
    macro_rules! less {
        ($t:ty, |$x:ident| $less:expr) => {{
            let all = a.make_mut::<$t>()?;
            for (row, class) in classes.iter().enumerate() {
                if let Some(class) = class {
                    let $x = all[row * width + class];
                    all[row * width + class] = $less;
                }
            }
        }};
    }
    match a.element_type() {
        ElementType::F32 => less!(f32, |x| x - 1.0),
        ElementType::BF16 => less!(bf16, |x| bf16::from_f32(x.to_f32() - 1.0)),
        ElementType::F16 => less!(f16, |x| f16::from_f32(x.to_f32() - 1.0)),
        _ => less!(f64, |x| x - 1.0),
    }
    Ok(())
}

fn entropy_samples(gradient: bool) -> Vec<Sample> {
    let sample = |shape: &[usize], classes: &[i64], ignore: Value| {
        let classes = samples::list(classes.iter().map(|&c| samples::integer(c)).collect());
        let mut sample = vec![samples::spread(shape, 5.0), classes, ignore];
        sample.extend(gradient.then(|| samples::number(0.25)));
        sample
    };
    vec![
        sample(&[3, 10], &[9, 0, 4], Value::Nil),
        sample(&[2, 2, 67], &[66, 1, -100, 3], samples::integer(-100)),
        sample(&[1, 3], &[-1], samples::integer(-1)),
    ]
}
