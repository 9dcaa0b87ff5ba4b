//! Discrete Fourier transforms along one axis: fft, ifft, rfft, irfft, fftfreq.
//!
//! A complex array is a real one whose last axis is (re im); axes are counted without it. Every
//! rung of the processor calls the same function of `rung_dense` for each line, in f64 for every
//! width; lanes only spread the lines over the threads. A device has algorithms of its own, which
//! agree with that within the bound of the class.

use crate::arguments::Arguments;
use crate::call::{Call, Context, Detail, Prepared, waiting};
use crate::decline::Answer;
use crate::matrices::{Rung, array, types, zeros_for};
use crate::record::{
    Definition, Entry, Exactness, Family, Kind, Member, Offer, Op, Parameter, Rungs, keyword,
    required,
};
use crate::samples::{self, Sample};
use crate::value::Value;
use rung_array::{Array, SliceSpec};
use rung_base::{ElementType, Error, ErrorKind, Result, Shape, memory};
use rung_dense::fourier::{self, Direction};
use rung_kernel::fourier as kernels;
use rung_lanes::{Lanes, Work};
use smallvec::smallvec;
use std::sync::{Mutex, PoisonError};

mod device;

pub const OPS: &[Op] = &[
    Op {
        names: &["fft"],
        doc: "The discrete Fourier transform along an axis. The array is real, or with :complex t \
              its last axis is (re im). :n cuts the axis or extends it with zeros. :norm :ortho \
              divides by the square root of n, :forward by n.",
        parameters: &[
            required("a", Kind::Array),
            keyword("n", Kind::Integer),
            keyword("axis", Kind::Integer),
            keyword("norm", NORM),
            keyword("complex", Kind::Flag),
        ],
        result: "a complex array of a's width: the last axis is (re im)",
        prepare: |op, mut a, _| {
            let complex = a.flag(4);
            prepare(op, a, if complex { Form::Complex } else { Form::FromReal }, Direction::Forward)
        },
        samples: || also_complex(transform_samples(), real_samples()),
        example: "(la:fft #d(1 0 0 0)) => #d((1.0 0.0) (1.0 0.0) (1.0 0.0) (1.0 0.0))",
        ..TRANSFORM
    },
    Op {
        names: &["ifft"],
        doc: "The inverse of `fft`, of a complex array: its last axis is (re im). :n, :axis and \
              :norm as there.",
        result: "a complex array of a's width: the last axis is (re im)",
        prepare: |op, a, _| prepare(op, a, Form::Complex, Direction::Backward),
        samples: transform_samples,
        example: "(la:ifft #d((4 0) (0 0))) => #d((2.0 0.0) (2.0 0.0))",
        ..TRANSFORM
    },
    Op {
        names: &["rfft"],
        doc: "The bins 0 to n/2 of the transform of a real array; the others mirror them. :n, \
              :axis and :norm as for `fft`.",
        result: "a complex array of a's width: the last axis is (re im)",
        prepare: |op, a, _| prepare(op, a, Form::RealForward, Direction::Forward),
        samples: real_samples,
        example: "(la:rfft #d(3 1)) => #d((4.0 0.0) (2.0 0.0))",
        ..TRANSFORM
    },
    Op {
        names: &["irfft"],
        doc: "The inverse of `rfft`: a real array from a complex one. :n is its extent, by default \
              twice the bins but one; :axis and :norm as for `fft`.",
        result: "a real array of a's width",
        prepare: |op, a, _| prepare(op, a, Form::RealBackward, Direction::Backward),
        samples: transform_samples,
        example: "(la:irfft #d((4 0) (0 0) (0 0))) => #d(1.0 1.0 1.0 1.0)",
        ..TRANSFORM
    },
    Op {
        names: &["fftfreq"],
        doc: "The frequencies of the bins of `fft` for n samples that are :d apart: 0, 1, ... then \
              the negative ones, times 1/(n d).",
        parameters: &[required("n", Kind::Integer), keyword("d", Kind::Number)],
        result: "a double-float vector",
        exact: Exactness::Same,
        prepare: prepare_frequencies,
        rungs: Rungs::none("n small numbers"),
        samples: || vec![vec![samples::integer(5)], vec![samples::integer(0)]],
        example: "(la:fftfreq 4 :d 0.5d0) => #d(0.0 0.5 -1.0 -0.5)",
        ..TRANSFORM
    },
];

const NORM: Kind = Kind::Choice(&["backward", "ortho", "forward"]);

const PARAMETERS: &[Parameter] = &[
    required("a", Kind::Array),
    keyword("n", Kind::Integer),
    keyword("axis", Kind::Integer),
    keyword("norm", NORM),
];

/// Bytes that the kept library takes for the lines at work: a line's numbers, its factors and, where
/// its length has large prime factors, those of a longer one.
fn beside(call: &Call, threads: usize) -> u64 {
    let Detail::Transform(t) = &call.detail else { return 0 };
    let lines = call.shape.size() / t.form.points_out(t.n).max(1);
    memory::bytes_of::<[f64; 20]>(t.n).saturating_mul(lines.min(threads) as u64)
}

/// What the records have in common.
const TRANSFORM: Op = Op {
    parameters: PARAMETERS,
    exact: Exactness::Kept,
    rungs: Rungs {
        portable: Definition::One(|call| transform(call, &Rung::Plain)),
        lanes: Entry::Has(|call, lanes| transform(call, &Rung::Lanes(lanes)).map(Answer::Done)),
        library: Entry::None("no CBLAS routine computes it"),
        device: Entry::Has(Member { offer: Offer::RoundTrip(Family::Map), run: device::run }),
    },
    beside: Some(beside),
    ..Op::BASE
};

/// What goes in and comes out of a line.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Form {
    Complex,
    /// Real numbers in, all bins out.
    FromReal,
    /// Real numbers in, the bins 0 to n / 2 out.
    RealForward,
    /// Those bins in, real numbers out.
    RealBackward,
}

/// A transform of lines that lie along the last axis, before the pairs.
#[derive(Clone, Debug, PartialEq)]
pub struct Transform {
    form: Form,
    direction: Direction,
    /// Points of a line.
    n: usize,
    /// Numbers or pairs of an operand's line: the rest counts as zero.
    have: usize,
    scale: f64,
    /// Where each axis of the result stands in the order of the lines.
    back: Vec<usize>,
}

impl Transform {
    /// Points of a line.
    pub fn points(&self) -> usize {
        self.n
    }

    /// The launches of a device.
    pub fn launches(&self) -> usize {
        // Before them the operand is packed.
        1 + kernels::launches(self.n)
    }

    /// How many times longer the passes of a device are than those of a power of two points.
    pub fn longer(&self) -> f64 {
        match self.n.is_power_of_two() {
            true => 1.0,
            false => 2.0 * kernels::passed(self.n) as f64 / self.n as f64,
        }
    }

    /// For each element of a result the 2-norm of its line: infinite where one of the line's is no
    /// finite number, since what becomes of those is an algorithm's own.
    pub fn norms(&self, result: &Array) -> Result<Array> {
        let mut axes = vec![0; self.back.len()];
        self.back.iter().enumerate().for_each(|(axis, &place)| axes[place] = axis);
        let ordered = result.transpose(&axes)?;
        let mut numbers: Vec<f64> = ordered.numbers().map(|x| x.to_f64()).collect();
        let pairs = if self.form.pairs_out() { 2 } else { 1 };
        for line in numbers.chunks_mut(self.form.points_out(self.n) * pairs) {
            let largest = line.iter().fold(f64::MIN_POSITIVE, |most, x| most.max(x.abs()));
            // Parts of the largest, whose squares neither overflow nor vanish.
            let norm = largest * line.iter().map(|x| (x / largest).powi(2)).sum::<f64>().sqrt();
            line.fill(if norm.is_nan() { f64::INFINITY } else { norm });
        }
        Array::from_slice(&numbers, ordered.shape().clone())?.transpose(&self.back)
    }
}

impl Form {
    fn pairs_in(self) -> bool {
        matches!(self, Form::Complex | Form::RealBackward)
    }

    fn pairs_out(self) -> bool {
        self != Form::RealBackward
    }

    /// Numbers or pairs of a result's line of n points.
    fn points_out(self, n: usize) -> usize {
        if self == Form::RealForward { n / 2 + 1 } else { n }
    }

    /// Numbers or pairs that are read of an operand's line.
    fn points_in(self, n: usize) -> usize {
        if self == Form::RealBackward { n / 2 + 1 } else { n }
    }
}

fn prepare(
    op: &'static Op,
    mut arguments: Arguments,
    form: Form,
    direction: Direction,
) -> Result<Prepared> {
    let a = arguments.array(0)?;
    let (shape, axis) = line_axis(op, &a, form, arguments.optional_integer(2)?)?;
    let extent = shape[axis];
    let n = points(op, arguments.optional_integer(1)?, form, extent)?;
    let scale = scale(arguments.choice(3)?, n, direction);
    let have = extent.min(form.points_in(n));
    let lines = lines_last(&a, &shape, axis, have, form)?;
    let (result, back) = result_of(&shape, axis, form, n);
    let output = array(Shape::new(result)?, types(&[&a]));
    let points = output.shape.size() as u64;
    let call = Call {
        op,
        operands: smallvec![waiting(&lines, ElementType::F64)?],
        given: smallvec![a.shape().clone()],
        shape: output.shape,
        raw: output.raw,
        result: output.result,
        to_number: false,
        wanted: Default::default(),
        more: Vec::new(),
        targets: Default::default(),
        detail: Detail::Transform(Box::new(Transform { form, direction, n, have, scale, back })),
        family: Family::Map,
        units: points,
    };
    Ok(Prepared::Call(Box::new(call.at_types(&[ElementType::F64]))))
}

/// The extents of the result, and where each of its axes stands in the order of the lines.
fn result_of(shape: &Shape, axis: usize, form: Form, n: usize) -> (Vec<usize>, Vec<usize>) {
    let mut result = shape.to_vec();
    result[axis] = form.points_out(n);
    // The line's axis came from the last place, those behind it from one place before.
    let mut back: Vec<usize> = (0..shape.rank()).map(|i| i - usize::from(i > axis)).collect();
    back[axis] = shape.rank() - 1;
    if form.pairs_out() {
        back.push(shape.rank());
        result.push(2);
    }
    (result, back)
}

/// The operand with its lines along the last axis before the pairs, cut to `have` points.
fn lines_last(a: &Array, shape: &Shape, axis: usize, have: usize, form: Form) -> Result<Array> {
    let mut axes: Vec<usize> = (0..shape.rank()).filter(|&i| i != axis).collect();
    axes.push(axis);
    axes.extend(form.pairs_in().then_some(shape.rank()));
    let mut specs = vec![SliceSpec::ALL; a.rank()];
    specs[axis].end = Some(have as i64);
    a.slice(&specs)?.transpose(&axes)
}

/// The shape without the axis of pairs, and the axis of the lines.
fn line_axis(op: &Op, a: &Array, form: Form, axis: Option<i64>) -> Result<(Shape, usize)> {
    let name = op.name();
    let mut extents = a.shape().to_vec();
    if form.pairs_in() && extents.pop() != Some(2) {
        let text = format!("{name} expects a complex array: got shape {}", a.shape());
        return Err(Error::new(ErrorKind::Shape, text).hint("its last axis holds (re im)"));
    }
    if extents.is_empty() {
        let text = format!("{name} expects an axis to transform: got shape {}", a.shape());
        return Err(Error::new(ErrorKind::Shape, text));
    }
    let shape = Shape::new(extents)?;
    let axis = shape.axis(axis.unwrap_or(-1))?;
    Ok((shape, axis))
}

/// The points of a line: `:n`, or what the axis holds.
fn points(op: &Op, given: Option<i64>, form: Form, extent: usize) -> Result<usize> {
    let own = if form == Form::RealBackward { 2 * extent.saturating_sub(1) } else { extent };
    match given.map_or(Ok(own), usize::try_from) {
        Ok(n) if n > 0 => Ok(n),
        _ => {
            let got = given.unwrap_or(own as i64);
            let text = format!("{} needs at least one point: got {got}", op.name());
            Err(Error::new(ErrorKind::Argument, text))
        }
    }
}

/// What each result is multiplied with.
fn scale(norm: Option<&str>, n: usize, direction: Direction) -> f64 {
    match (norm, direction) {
        (Some("ortho"), _) => 1.0 / (n as f64).sqrt(),
        (Some("forward"), Direction::Forward) => 1.0 / n as f64,
        (Some("forward"), Direction::Backward) => 1.0,
        (_, Direction::Forward) => 1.0,
        (_, Direction::Backward) => 1.0 / n as f64,
    }
}

fn transform(call: &Call, rung: &Rung) -> Result<Array> {
    let Detail::Transform(t) = &call.detail else {
        return Err(Error::new(ErrorKind::Internal, "a transform was prepared as something else"));
    };
    let operand = &call.operands[0];
    let packed = rung.packed(operand)?;
    let line_in = t.have * if t.form.pairs_in() { 2 } else { 1 };
    let line_out = t.form.points_out(t.n) * if t.form.pairs_out() { 2 } else { 1 };
    let out = Array::try_build::<f64>(ordered(t, call)?, |out| {
        in_lines(rung.lanes(), line_out, out, &|first, part| {
            let count = part.len() / line_out.max(1);
            some_lines(t, &packed[first * line_in..][..count * line_in], part)
        })
    })?;
    out.transpose(&t.back)?.to_contiguous()
}

/// Runs `body(first, part)` over parts of `out`, each of whole lines of `line` numbers: on several
/// threads where there are lanes and enough numbers.
pub(crate) fn in_lines(
    lanes: Option<&Lanes>,
    line: usize,
    out: &mut [f64],
    body: &(dyn Fn(usize, &mut [f64]) -> Result<()> + Sync),
) -> Result<()> {
    let lines = out.len() / line.max(1);
    let pieces = lanes.map_or(1, |lanes| lanes.pieces(Work::Transform, out.len()));
    let share = lines.div_ceil(pieces.min(lines.max(1))).max(1);
    let parts: Vec<_> = out.chunks_mut((share * line).max(1)).map(Mutex::new).collect();
    let failed = Mutex::new(None);
    let run = |piece: usize| {
        let mut part = parts[piece].lock().unwrap_or_else(PoisonError::into_inner);
        if let Err(e) = body(piece * share, &mut part) {
            *failed.lock().unwrap_or_else(PoisonError::into_inner) = Some(e);
        }
    };
    match lanes {
        Some(lanes) => lanes.workers().run(parts.len(), &run),
        None => (0..parts.len()).for_each(run),
    }
    failed.into_inner().unwrap_or_else(PoisonError::into_inner).map_or(Ok(()), Err)
}

/// The result's shape with the lines last.
fn ordered(t: &Transform, call: &Call) -> Result<Shape> {
    let mut ordered = vec![0; t.back.len()];
    t.back.iter().zip(call.shape.iter()).for_each(|(&place, &extent)| ordered[place] = extent);
    Shape::new(ordered)
}

/// Some lines, packed, each extended with zeros.
fn some_lines(t: &Transform, from: &[f64], out: &mut [f64]) -> Result<()> {
    let (n, pairs) = (t.n, if t.form.pairs_in() { 2 } else { 1 });
    let whole = t.form.points_in(n) * pairs;
    let line_in = t.have * pairs;
    let lines = out.len() / (t.form.points_out(n) * if t.form.pairs_out() { 2 } else { 1 });
    match t.form {
        Form::Complex | Form::FromReal => {
            out.fill(0.0);
            for (line, to) in out.chunks_exact_mut(2 * n).enumerate() {
                let from = &from[line * line_in..][..line_in];
                match t.form {
                    Form::Complex => to[..line_in].copy_from_slice(from),
                    _ => to.iter_mut().step_by(2).zip(from).for_each(|(to, x)| *to = *x),
                }
            }
            fourier::complex(n, t.direction, t.scale, out);
        }
        Form::RealForward | Form::RealBackward => {
            let mut full = zeros_for(lines * whole)?;
            for (line, to) in full.chunks_exact_mut(whole).enumerate() {
                to[..line_in].copy_from_slice(&from[line * line_in..][..line_in]);
            }
            match t.form {
                Form::RealForward => fourier::real_forward(n, t.scale, &full, out),
                _ => fourier::real_backward(n, t.scale, &full, out),
            }
        }
    }
    Ok(())
}

fn prepare_frequencies(_: &'static Op, mut a: Arguments, _: &mut Context) -> Result<Prepared> {
    let given = a.integer(0)?;
    let spacing = if a.is_given(1) { a.number(1)?.to_f64() } else { 1.0 };
    let Some(n) = usize::try_from(given).ok().filter(|&n| n > 0) else {
        let text = format!("fftfreq needs at least one point: got {given}");
        return Err(Error::new(ErrorKind::Argument, text));
    };
    let step = 1.0 / (n as f64 * spacing);
    let shape = Shape::new([n])?;
    let frequencies = Array::build::<f64>(shape, |out| {
        for (k, out) in out.iter_mut().enumerate() {
            let bin = if k < n.div_ceil(2) { k as f64 } else { k as f64 - n as f64 };
            *out = bin * step;
        }
    })?;
    Ok(Prepared::Done(vec![frequencies.into()]))
}

/// Each complex sample of `fft` says that it is one.
fn also_complex(complex: Vec<Sample>, real: Vec<Sample>) -> Vec<Sample> {
    let word = || [samples::word("complex"), Value::True];
    let said = complex.into_iter().map(|s| [s, word().to_vec()].concat());
    said.chain(real).collect()
}

/// Real arrays with every keyword; lines enough for threads in one of them.
fn real_samples() -> Vec<Sample> {
    const SHAPES: [&[usize]; 9] =
        [&[1], &[2], &[5], &[64], &[97], &[3, 8], &[2, 3, 4], &[0, 4], &[70, 260]];
    let mut list: Vec<Sample> = SHAPES.iter().map(|s| vec![samples::spread(s, 9.0)]).collect();
    list.extend(with_keywords(&[4, 6]));
    list.push(vec![samples::hard(&[16], 1.0)]);
    list.push(vec![samples::spread(&[0], 1.0)]);
    list
}

/// The same for complex arrays.
fn transform_samples() -> Vec<Sample> {
    const SHAPES: [&[usize]; 7] =
        [&[1, 2], &[2, 2], &[5, 2], &[63, 2], &[3, 8, 2], &[0, 4, 2], &[70, 130, 2]];
    let mut list: Vec<Sample> = SHAPES.iter().map(|s| vec![samples::spread(s, 9.0)]).collect();
    list.extend(with_keywords(&[4, 6, 2]));
    list.push(vec![samples::spread(&[4, 3], 1.0)]);
    list
}

fn with_keywords(shape: &[usize]) -> Vec<Sample> {
    let a = || samples::spread(shape, 9.0);
    let mut list = Vec::new();
    for n in [1, 3, 9] {
        list.push(vec![a(), samples::word("n"), samples::integer(n)]);
        let axis = [samples::word("axis"), samples::integer(0)];
        list.push([vec![a(), samples::word("n"), samples::integer(n)], axis.to_vec()].concat());
    }
    for norm in ["ortho", "forward", "backward"] {
        list.push(vec![a(), samples::word("norm"), samples::word(norm)]);
    }
    list.push(vec![a(), samples::word("axis"), samples::integer(0)]);
    list
}
