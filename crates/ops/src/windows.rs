//! Windows over planes as the rows of a matrix, for a convolution as a product (im2col; Chellapilla,
//! Puri and Simard, 2006), and the adjoint; the arguments that say where windows lie. Members of a
//! training step; pooling is in `pool`, the definitions in `rung_math::windows`.

use crate::arguments::Arguments;
use crate::call::{Call, Context, Detail, Prepared};
use crate::decline::Answer;
use crate::record::{Definition, Family, Kind, Offer, Op, Parameter, Rungs, keyword, required};
use crate::rowwise::MEMBER;
use crate::samples::{self, Sample};
use crate::value::Value;
use rung_array::{Array, View};
use rung_base::{Element, Error, ErrorKind, Result, Shape, with_element};
use rung_lanes::{Lanes, Operand, windows as drivers};
use rung_math::accumulate::Accumulate;
use rung_math::windows::{self as definitions, Axis, Windows};
use smallvec::smallvec;

mod device;

use device::{columns_device, planes_device};
pub(crate) use device::{largest_device, means_device, shares_device};

pub const OPS: &[Op] = &[
    Op {
        names: &["%la-im2col"],
        doc: "The windows of fh by fw elements of every plane of x (batch, channels, height, \
              width), one a row: columns are (channel, ky, kx), rows (batch, oy, ox). What lies \
              outside reads 0.",
        parameters: &[
            required("x", Kind::Array),
            required("fh", Kind::Integer),
            required("fw", Kind::Integer),
            required("stride", Kind::Pair),
            required("pad", Kind::Pair),
            DILATION,
        ],
        result: "a matrix of x's type",
        prepare: prepare_columns,
        rungs: Rungs::with_device(
            Definition::One(columns_portable),
            columns_lanes,
            Offer::ResidentOnly,
            columns_device,
        ),
        samples: columns_samples,
        example: "(linalg::%la-im2col #d((((1 2 3) (4 5 6)))) 2 2 1 0) => \
                  #d((1.0 2.0 4.0 5.0) (2.0 3.0 5.0 6.0))",
        ..MEMBER
    },
    Op {
        names: &["%la-col2im"],
        doc: "The adjoint of `%la-im2col`: every element of an array (batch, channels, height, \
              width) takes in what the windows that read it hold, (oy, ox) ascending, with one \
              rounding a step.",
        parameters: &[
            required("col", Kind::Array),
            required("shape", Kind::Shape),
            required("fh", Kind::Integer),
            required("fw", Kind::Integer),
            required("stride", Kind::Pair),
            required("pad", Kind::Pair),
            DILATION,
        ],
        result: "an array of col's type",
        prepare: prepare_planes,
        rungs: Rungs::with_device(
            Definition::One(planes_portable),
            planes_lanes,
            Offer::ResidentOnly,
            planes_device,
        ),
        samples: planes_samples,
        example: "(linalg::%la-col2im #d((1 2 4 5) (2 3 5 6)) '(1 1 2 3) 2 2 1 0) => \
                  #d((((1.0 4.0 3.0) (4.0 10.0 6.0))))",
        ..MEMBER
    },
];

const DILATION: Parameter = keyword("dilation", Kind::Pair);

/// What the arguments say of windows.
#[derive(Clone, Copy)]
pub(crate) struct Layout {
    pub taps: [usize; 2],
    stride: [usize; 2],
    pub pad: [usize; 2],
    dilation: [usize; 2],
}

impl Layout {
    /// Height and width of a window, stride and pad, from the parameter `first` on; then, if there
    /// is a parameter left, the dilation.
    pub(crate) fn of(op: &'static Op, arguments: &mut Arguments, first: usize) -> Result<Layout> {
        let height = number(op, "height of a window", arguments.integer(first)?, 1)?;
        let width = number(op, "width of a window", arguments.integer(first + 1)?, 1)?;
        let mut pair = |at: usize, default: i64, least: i64| {
            let [h, w] = arguments.pair(at)?.unwrap_or([default; 2]);
            let name = op.parameters[at].name;
            Ok([number(op, name, h, least)?, number(op, name, w, least)?])
        };
        let (stride, pad) = (pair(first + 2, 1, 1)?, pair(first + 3, 0, 0)?);
        let last = first + 4;
        let dilation = if last < op.parameters.len() { pair(last, 1, 1)? } else { [1; 2] };
        Ok(Layout { taps: [height, width], stride, pad, dilation })
    }

    /// The windows over an array (batch, channels, height, width).
    pub(crate) fn windows(&self, op: &'static Op, shape: &Shape) -> Result<Windows> {
        let [batch, channels, height, width] = shape[..] else {
            let wanted = format!("{} expects axes (batch channels height width)", op.name());
            return Err(Error::wanted(ErrorKind::Shape, wanted, shape));
        };
        let axis = |extent: usize, i: usize| {
            Axis::new(extent, self.taps[i], self.stride[i], self.pad[i], self.dilation[i])
        };
        let (Some(down), Some(across)) = (axis(height, 0), axis(width, 1)) else {
            let [[fh, fw], [ph, pw], [dh, dw]] = [self.taps, self.pad, self.dilation];
            let text = format!(
                "{}: a window of ({fh} {fw}), dilated by ({dh} {dw}), does not fit planes of \
                 ({height} {width}) padded by ({ph} {pw})",
                op.name()
            );
            return Err(Error::new(ErrorKind::Shape, text));
        };
        let windows = Windows { batch, channels, down, across };
        // A size that fits a shape overflows nowhere below.
        Shape::new([batch, down.count, across.count, channels, down.taps, across.taps])?;
        matrix_shape(&windows)?;
        Ok(windows)
    }
}

/// A whole number of at least `least`.
fn number(op: &'static Op, name: &str, n: i64, least: i64) -> Result<usize> {
    let fits = usize::try_from(n).ok().filter(|_| n >= least);
    fits.ok_or_else(|| {
        let wanted = format!("{} expects {name} of {least} or more", op.name());
        Error::wanted(ErrorKind::Argument, wanted, n)
    })
}

/// Fails for arrays that are not of floats.
pub(crate) fn floats(op: &'static Op, name: &str, a: &Array) -> Result<()> {
    match a.element_type().is_float() {
        true => Ok(()),
        false => {
            let wanted = format!("{} expects {name} to be an array of floats", op.name());
            Err(Error::wanted(ErrorKind::ElementType, wanted, format!("{a:?}")))
        }
    }
}

/// Fails where an array has not the shape that belongs to the others.
pub(crate) fn shaped(op: &'static Op, name: &str, a: &Shape, wanted: &Shape) -> Result<()> {
    match a == wanted {
        true => Ok(()),
        false => {
            let text = format!("{} expects {name} of shape {wanted}", op.name());
            Err(Error::wanted(ErrorKind::Shape, text, a))
        }
    }
}

/// The shape of the columns.
fn matrix_shape(windows: &Windows) -> Result<Shape> {
    let product = |n: [usize; 3]| {
        let all = n[0].checked_mul(n[1]).and_then(|two| two.checked_mul(n[2]));
        all.ok_or_else(|| Error::new(ErrorKind::Shape, "more windows than an index counts"))
    };
    let rows = product([windows.batch, windows.down.count, windows.across.count])?;
    let columns = product([windows.channels, windows.down.taps, windows.across.taps])?;
    Shape::matrix(rows, columns)
}

pub(crate) fn windows_of(call: &Call) -> Result<&Windows> {
    match &call.detail {
        Detail::Windows(windows) => Ok(windows),
        _ => Err(Error::new(ErrorKind::Internal, "windows that were not laid out")),
    }
}

/// The element at an index of a view.
pub(crate) fn at<T: Element, const N: usize>(x: &View<T>, index: [usize; N]) -> T {
    at_strides(x, x.strides, index)
}

fn at_strides<T: Element, const N: usize>(x: &View<T>, strides: &[isize], at: [usize; N]) -> T {
    let steps: isize = at.iter().zip(strides).map(|(&i, step)| i as isize * step).sum();
    x.data[(x.offset as isize + steps) as usize]
}

fn prepare_columns(op: &'static Op, mut arguments: Arguments, _: &mut Context) -> Result<Prepared> {
    let x = arguments.array(0)?;
    floats(op, "x", &x)?;
    let windows = Layout::of(op, &mut arguments, 1)?.windows(op, x.shape())?;
    let (shape, t) = (matrix_shape(&windows)?, x.element_type());
    let call = Call::like(op, x, t, Family::Copy);
    let (units, detail) = (shape.size() as u64, Detail::Windows(windows));
    Ok(Prepared::Call(Box::new(Call { shape, units, detail, ..call })))
}

/// x (batch, channels, height, width), out (batch * oy * ox, channels * ky * kx).
fn columns_portable(call: &Call) -> Result<Array> {
    let windows = windows_of(call)?;
    with_element!(call.raw, T => Array::build::<T>(call.shape.clone(), |out| {
        let x = call.operands[0].view::<T>();
        definitions::columns(windows, |index| at(&x, index), out);
    }))
}

fn columns_lanes(call: &Call, lanes: &Lanes) -> Result<Answer> {
    let windows = windows_of(call)?;
    with_element!(call.raw, T => Array::build::<T>(call.shape.clone(), |out| {
        let x = crate::call::lanes_operand::<T>(&call.operands[0]);
        drivers::columns(lanes, windows, x, out);
    }))
    .map(Answer::Done)
}

fn prepare_planes(op: &'static Op, mut arguments: Arguments, _: &mut Context) -> Result<Prepared> {
    let (col, shape) = (arguments.array(0)?, arguments.shape(1)?);
    floats(op, "col", &col)?;
    let windows = Layout::of(op, &mut arguments, 2)?.windows(op, &shape)?;
    shaped(op, "col", col.shape(), &matrix_shape(&windows)?)?;
    Ok(Prepared::Call(Box::new(planes_call(op, col, shape, windows))))
}

/// A call whose operand is taken in by planes of a shape.
pub(crate) fn planes_call(op: &'static Op, x: Array, shape: Shape, windows: Windows) -> Call {
    let t = x.element_type();
    let units = (windows.planes() * windows.windows() * windows.taps()) as u64;
    let given = smallvec![x.shape().clone()];
    let call = Call::like(op, x, t, Family::Copy);
    Call { given, shape, units, detail: Detail::Windows(windows), ..call }
}

/// The steps of an operand along (batch, oy, ox, channels, ky, kx): columns, or one element a window.
fn column_strides(x: &Array, windows: &Windows) -> [isize; 6] {
    let count = |n: usize| n as isize;
    match *x.strides() {
        [row, column] => {
            let (ox, kx) = (count(windows.across.count), count(windows.across.taps));
            let (oy, ky) = (count(windows.down.count), count(windows.down.taps));
            [row * oy * ox, row * ox, row, column * ky * kx, column * kx, column]
        }
        [batch, channel, oy, ox] => [batch, oy, ox, channel, 0, 0],
        _ => [0; 6],
    }
}

/// Columns, or one element a window, each through `term`; out (batch, channels, height, width).
pub(crate) fn take_in<T: Element + Accumulate>(
    call: &Call,
    term: impl Fn(T) -> T,
) -> Result<Array> {
    let windows = windows_of(call)?;
    let strides = column_strides(&call.operands[0], windows);
    Array::build::<T>(call.shape.clone(), |out| {
        let x = call.operands[0].view::<T>();
        definitions::planes(windows, |index| term(at_strides(&x, &strides, index)), out);
    })
}

pub(crate) fn take_in_lanes<T: Element + Accumulate>(
    call: &Call,
    lanes: &Lanes,
    term: impl Fn(T) -> T + Copy + Send + Sync,
) -> Result<Answer> {
    let windows = windows_of(call)?;
    let strides = column_strides(&call.operands[0], windows);
    Array::build::<T>(call.shape.clone(), |out| {
        let x = call.operands[0].view::<T>();
        let column = Operand::new(x.data, x.offset, &strides);
        drivers::planes(lanes, windows, column, term, out);
    })
    .map(Answer::Done)
}

fn planes_portable(call: &Call) -> Result<Array> {
    with_element!(call.raw, T => take_in::<T>(call, |x| x))
}

fn planes_lanes(call: &Call, lanes: &Lanes) -> Result<Answer> {
    with_element!(call.raw, T => take_in_lanes::<T>(call, lanes, |x| x))
}

/// Extents, window, stride, pad and dilation that hurt: none, one, odd, gaps between windows, and
/// windows in the padding alone.
type Case = ([usize; 4], [usize; 2], [i64; 2], [i64; 2], i64);
const CASES: [Case; 11] = [
    ([1, 1, 1, 1], [1, 1], [1, 1], [0, 0], 1),
    ([2, 3, 5, 7], [3, 2], [1, 1], [0, 0], 1),
    ([2, 3, 5, 7], [3, 3], [2, 1], [1, 1], 1),
    ([1, 2, 7, 9], [2, 2], [3, 4], [0, 1], 1),
    ([1, 2, 6, 5], [1, 2], [1, 1], [2, 3], 1),
    ([2, 1, 9, 8], [3, 2], [2, 2], [2, 0], 3),
    ([0, 3, 4, 4], [3, 3], [1, 1], [1, 1], 1),
    ([2, 0, 4, 4], [3, 3], [1, 1], [1, 1], 1),
    ([1, 2, 0, 3], [2, 2], [1, 1], [1, 1], 1),
    ([1, 1, 3, 3], [3, 3], [1, 1], [0, 0], 1),
    ([2, 4, 33, 31], [3, 3], [1, 1], [1, 1], 1),
];

fn pair([h, w]: [i64; 2]) -> Value {
    match h == w {
        true => samples::integer(h),
        false => samples::list(vec![samples::integer(h), samples::integer(w)]),
    }
}

/// A window's parameters as arguments.
fn arguments_of((_, [fh, fw], stride, pad, dilation): &Case) -> Sample {
    let mut all = vec![samples::integer(*fh as i64), samples::integer(*fw as i64)];
    all.extend([pair(*stride), pair(*pad)]);
    if *dilation != 1 {
        all.extend([samples::word("dilation"), samples::integer(*dilation)]);
    }
    all
}

pub(crate) fn list_of(extents: &[usize]) -> Value {
    samples::list(extents.iter().map(|&n| samples::integer(n as i64)).collect())
}

fn columns_samples() -> Vec<Sample> {
    CASES.iter().map(|c| [vec![samples::hard(&c.0, 2.0)], arguments_of(c)].concat()).collect()
}

fn planes_samples() -> Vec<Sample> {
    let sample = |case: &Case| {
        let (extents, taps, stride, pad, dilation) = case;
        let count = |i: usize| {
            let (stride, pad) = (stride[i] as usize, pad[i] as usize);
            let axis = Axis::new(extents[i + 2], taps[i], stride, pad, *dilation as usize);
            axis.map_or(0, |axis| axis.count)
        };
        let matrix = [extents[0] * count(0) * count(1), extents[1] * taps[0] * taps[1]];
        let first = vec![samples::hard(&matrix, 2.0), list_of(extents)];
        [first, arguments_of(case)].concat()
    };
    CASES.iter().map(sample).collect()
}
