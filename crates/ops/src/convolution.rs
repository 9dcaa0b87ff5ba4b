//! Convolutions as matrix products over windows of the signal (im2col; Chellapilla, Puri and
//! Simard 2006), which are views: nothing is copied before the product packs it.
//!
//! A result element is a product cell over (channel, tap) in that order.

use crate::arguments::Arguments;
use crate::call::{Context, Prepared, Run};
use crate::contract::{reshaped, steps};
use crate::record::{Exactness, Kind, Op, Rungs, keyword, required};
use crate::samples;
use crate::value::Value;
use rung_array::{Array, SliceSpec};
use rung_base::{Error, ErrorKind, Result, Shape};
use rung_math::windows::Axis;

pub const OPS: &[Op] = &[
    Op {
        names: &["conv1d"],
        doc: "Cross-correlation along the last axis, as neural networks mean convolution: x \
              (batch, channels, length) with w (outputs, channels / groups, taps).",
        parameters: &[
            required("x", Kind::Array),
            required("w", Kind::Array),
            keyword("stride", Kind::Integer),
            keyword("padding", Kind::Integer),
            keyword("dilation", Kind::Integer),
            keyword("groups", Kind::Integer),
        ],
        result: "an array (batch, outputs, (length + 2 padding - dilation (taps - 1) - 1) / stride + 1)",
        exact: Exactness::LibraryOrder,
        prepare: conv1d,
        rungs: Rungs::STEPS,
        samples: || {
            let case = |x: &[usize], w: &[usize], words: &[(&'static str, i64)]| {
                let mut sample = vec![samples::spread(x, 2.0), samples::spread(w, 1.0)];
                for &(name, n) in words {
                    sample.extend([samples::word(name), samples::integer(n)]);
                }
                sample
            };
            vec![
                case(&[2, 3, 11], &[4, 3, 3], &[]),
                case(&[1, 4, 20], &[6, 2, 5], &[("groups", 2), ("stride", 2), ("padding", 3)]),
                case(&[1, 1, 9], &[1, 1, 3], &[("dilation", 3), ("padding", 1)]),
            ]
        },
        example: "(la:conv1d #d(((1 2 3 4))) #d(((1 10)))) => #d(((21.0 32.0 43.0)))",
        ..Op::BASE
    },
    Op {
        names: &["convolve"],
        doc: "The convolution of two vectors: all overlaps, those as many as the longer has, or \
              the complete ones.",
        parameters: &[
            required("a", Kind::Array),
            required("v", Kind::Array),
            keyword("mode", Kind::Choice(&["full", "same", "valid"])),
        ],
        result: "a vector",
        exact: Exactness::LibraryOrder,
        prepare: convolve,
        rungs: Rungs::STEPS,
        samples: || {
            let pair =
                |n: usize, m: usize| vec![samples::spread(&[n], 2.0), samples::spread(&[m], 1.0)];
            let with =
                |mode| [pair(9, 4), vec![samples::word("mode"), samples::word(mode)]].concat();
            vec![pair(1, 1), pair(3, 70), with("same"), with("valid")]
        },
        example: "(la:convolve #d(1 2 3) #d(0 1 0.5)) => #d(0.0 1.0 2.5 4.0 1.5)",
        ..Op::BASE
    },
];

/// The keywords of `conv1d`, all positive but the padding.
struct Layout {
    stride: usize,
    padding: usize,
    dilation: usize,
    groups: usize,
}

impl Layout {
    fn of(arguments: &mut Arguments) -> Result<Layout> {
        let mut number = |at: usize, name: &str, least: i64| {
            let n = arguments.optional_integer(at)?.unwrap_or(least);
            let fits = usize::try_from(n).ok().filter(|_| n >= least);
            fits.ok_or_else(|| {
                let wanted = format!("conv1d expects {name} of {least} or more");
                Error::wanted(ErrorKind::Argument, wanted, n)
            })
        };
        Ok(Layout {
            stride: number(2, "stride", 1)?,
            padding: number(3, "padding", 0)?,
            dilation: number(4, "dilation", 1)?,
            groups: number(5, "groups", 1)?,
        })
    }
}

fn conv1d(_: &'static Op, mut arguments: Arguments, _: &mut Context) -> Result<Prepared> {
    let (x, w) = (arguments.array(0)?, arguments.array(1)?);
    let layout = Layout::of(&mut arguments)?;
    let groups = layout.groups;
    let fits = x.rank() == 3
        && w.rank() == 3
        && x.shape()[1] == w.shape()[1] * groups
        && w.shape()[0].is_multiple_of(groups)
        && w.shape()[2] > 0;
    if !fits {
        let text = format!(
            "conv1d expects x (batch, channels, length) and w (outputs, channels / groups, taps): \
             got {} and {} in {groups} groups",
            x.shape(),
            w.shape()
        );
        return Err(Error::new(ErrorKind::Shape, text));
    }
    let (length, taps) = (x.shape()[2], w.shape()[2]);
    if Axis::new(length, taps, layout.stride, layout.padding, layout.dilation).is_none() {
        let Layout { padding, dilation, .. } = layout;
        let text = format!(
            "conv1d: {taps} taps, dilated by {dilation}, do not fit a length of {length} padded by \
             {padding}"
        );
        return Err(Error::new(ErrorKind::Shape, text));
    }
    steps(move |run| {
        let x = padded(run, x, layout.padding)?;
        Ok(vec![correlate(run, &x, &w, &layout)?.into()])
    })
}

/// Zeros before and after the last axis.
fn padded(run: &mut dyn Run, x: Array, padding: usize) -> Result<Array> {
    if padding == 0 {
        return Ok(x);
    }
    let mut extents = x.shape().to_vec();
    let last = extents.len() - 1;
    extents[last] = padding;
    let zeros = Array::zeros(x.element_type(), Shape::new(extents)?)?;
    let parts = [zeros.clone(), x, zeros].map(Value::Array).to_vec();
    let axis = [samples::word("axis"), Value::integer(-1)];
    run.array("concatenate", [vec![Value::List(parts)], axis.to_vec()].concat())
}

/// x (batch, channels, length), w (outputs, channels / groups, taps).
fn correlate(run: &mut dyn Run, x: &Array, w: &Array, layout: &Layout) -> Result<Array> {
    let (batch, groups, taps) = (x.shape()[0], layout.groups, w.shape()[2]);
    let (outputs, channels) = (w.shape()[0] / groups, w.shape()[1]);
    let windows = x.windows(2, taps, layout.stride, layout.dilation)?;
    let length = windows.shape()[2];
    // (batch, groups, channel and tap, position)
    let columns = windows.transpose(&[0, 1, 3, 2])?;
    let columns = reshaped(&columns, [batch, groups, channels * taps, length])?;
    let rows = reshaped(w, [1, groups, outputs, channels * taps])?;
    let cells = run.array("matmul", vec![rows.into(), columns.into()])?;
    reshaped(&cells, [batch, groups * outputs, length])
}

fn convolve(_: &'static Op, mut arguments: Arguments, _: &mut Context) -> Result<Prepared> {
    let (a, v) = (arguments.array(0)?, arguments.array(1)?);
    let mode = arguments.choice(2)?.unwrap_or("full");
    if a.rank() != 1 || v.rank() != 1 || a.size() == 0 || v.size() == 0 {
        let text = format!(
            "convolve expects two vectors with elements: got shapes {} and {}",
            a.shape(),
            v.shape()
        );
        return Err(Error::new(ErrorKind::Shape, text));
    }
    let (long, short) = if v.size() > a.size() { (v, a) } else { (a, v) };
    let (n, m) = (long.size(), short.size());
    let backwards = short.slice(&[SliceSpec { start: None, end: None, step: -1 }])?;
    let (x, w) = (reshaped(&long, [1, 1, n])?, reshaped(&backwards, [1, 1, m])?);
    steps(move |run| {
        let padding = if mode == "valid" { 0 } else { m - 1 };
        let x = padded(run, x, padding)?;
        let layout = Layout { stride: 1, padding, dilation: 1, groups: 1 };
        let all = correlate(run, &x, &w, &layout)?;
        let all = reshaped(&all, [all.size()])?;
        // Of all n + m - 1 overlaps the middle n.
        let start = ((m - 1) / 2) as i64;
        let middle = SliceSpec { start: Some(start), end: Some(start + n as i64), step: 1 };
        Ok(vec![if mode == "same" { all.slice(&[middle])? } else { all }.into()])
    })
}
