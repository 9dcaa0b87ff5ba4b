//! The mistakes that calls of the package may make, each with a call that makes it.

use rung_base::ErrorKind;
use rung_ops::Value;
use rung_ops::samples::{Sample, build, integer, list, number, spread, whole, word};
use rung_ops::solver::{Mistake, mistake};

/// A cloud of 40 points in space, and what follows it.
fn cloud(rest: &[Value]) -> Sample {
    [&[spread(&[40, 3], 1.0)], rest].concat()
}

/// The same with a point that is none.
fn broken(rest: &[Value]) -> Sample {
    let cloud = build(&[40, 3], |i| if i == 7 { f64::NAN } else { i as f64 });
    [&[cloud], rest].concat()
}

/// An array of one axis.
fn turned(rest: &[Value]) -> Sample {
    [&[spread(&[40], 1.0)], rest].concat()
}

/// Points farther apart than a double holds squared.
fn far(rest: &[Value]) -> Sample {
    [&[build(&[2, 1], |i| i as f64 * 1e200)], rest].concat()
}

const SHAPE: &str = "points of another shape than (n d), d from 1 to 16";
const NOT_FINITE: &str =
    "NaN or infinity among the coordinates; how many and the first one's point are named";
const LEAVE_OUT: &str = "leave those points out first; fps does it with nonfinite drop";
const TOO_FAR: &str = "a cloud whose squared diagonal the element type does not hold";
const SCALE: &str = "f64, or scale the points";
const OTHER_DIMENSION: &str = "points of another dimension than the cloud's";

fn k(n: i64) -> [Value; 2] {
    [word("k"), integer(n)]
}

pub const FPS: &[Mistake] = &[
    mistake(ErrorKind::Shape, SHAPE, "", || turned(&k(3))),
    mistake(ErrorKind::Argument, NOT_FINITE, LEAVE_OUT, || broken(&k(3))),
    mistake(ErrorKind::Argument, TOO_FAR, SCALE, || far(&k(1))),
    mistake(ErrorKind::Argument, "none of k, ratio and radius", "what each of them says", || {
        cloud(&[])
    }),
    mistake(ErrorKind::Argument, "k and ratio at once", "", || {
        cloud(&[word("k"), integer(3), word("ratio"), number(0.5)])
    }),
    mistake(ErrorKind::Argument, "a number outside the range of its parameter", "", || {
        cloud(&k(-1))
    }),
    mistake(
        ErrorKind::Argument,
        "a start that is no row, stands twice, takes no part, or more starts than samples",
        "",
        || cloud(&[word("k"), integer(3), word("start"), list(vec![integer(40)])]),
    ),
    mistake(ErrorKind::Argument, "no point to choose from", "", || {
        [vec![spread(&[0, 3], 1.0)], k(1).to_vec()].concat()
    }),
    mistake(ErrorKind::Shape, "a mask of another shape than (n) or (b n)", "", || {
        cloud(&[word("k"), integer(3), word("mask"), whole(&[39], 2)])
    }),
    mistake(
        ErrorKind::Argument,
        "offsets that do not begin at 0, fall, or do not end at n; lengths that do not add up to n",
        "",
        || cloud(&[word("k"), integer(3), word("offsets"), list(vec![integer(0), integer(41)])]),
    ),
    mistake(ErrorKind::Argument, "offsets and lengths at once", "", || {
        let ends = list(vec![integer(0), integer(40)]);
        cloud(&[word("k"), integer(3), word("offsets"), ends, word("lengths"), integer(40)])
    }),
];

pub const VOXELS: &[Mistake] = &[
    mistake(ErrorKind::Shape, SHAPE, "", || turned(&[number(0.5)])),
    mistake(ErrorKind::Argument, NOT_FINITE, LEAVE_OUT, || broken(&[number(0.5)])),
    mistake(ErrorKind::Argument, TOO_FAR, SCALE, || far(&[number(0.5)])),
    mistake(ErrorKind::Argument, "an edge that is not above 0", "", || cloud(&[number(0.0)])),
    mistake(ErrorKind::Argument, "an edge of which an axis has more than 2^31", "", || {
        cloud(&[number(1e-12)])
    }),
];

pub const NEAREST: &[Mistake] = &[
    mistake(ErrorKind::Shape, SHAPE, "", || turned(&[])),
    mistake(ErrorKind::Argument, NOT_FINITE, LEAVE_OUT, || broken(&[])),
    mistake(ErrorKind::Argument, TOO_FAR, SCALE, || far(&[])),
    mistake(ErrorKind::Argument, "k of more points than there are", "", || cloud(&k(41))),
    mistake(ErrorKind::Shape, OTHER_DIMENSION, "", || {
        cloud(&[word("queries"), spread(&[2, 2], 1.0)])
    }),
];

pub const WITHIN: &[Mistake] = &[
    mistake(ErrorKind::Shape, SHAPE, "", || turned(&[number(0.5)])),
    mistake(ErrorKind::Argument, NOT_FINITE, LEAVE_OUT, || broken(&[number(0.5)])),
    mistake(ErrorKind::Argument, TOO_FAR, SCALE, || far(&[number(0.5)])),
    mistake(ErrorKind::Argument, "a radius below 0", "", || cloud(&[number(-1.0)])),
    mistake(ErrorKind::Shape, OTHER_DIMENSION, "", || {
        cloud(&[number(0.5), word("queries"), spread(&[2, 2], 1.0)])
    }),
];

pub const COVERAGE: &[Mistake] = &[
    mistake(ErrorKind::Shape, SHAPE, "", || turned(&[spread(&[2, 3], 1.0)])),
    mistake(ErrorKind::Argument, NOT_FINITE, LEAVE_OUT, || broken(&[spread(&[2, 3], 1.0)])),
    mistake(ErrorKind::Argument, TOO_FAR, SCALE, || far(&[spread(&[1, 1], 1.0)])),
    mistake(ErrorKind::Shape, OTHER_DIMENSION, "", || cloud(&[spread(&[2, 2], 1.0)])),
    mistake(ErrorKind::Empty, "no sample, where there are points", "", || {
        cloud(&[spread(&[0, 3], 1.0)])
    }),
];

pub const NORMALS: &[Mistake] = &[
    mistake(ErrorKind::Shape, "points that are not in space, (n 3)", "", || {
        vec![spread(&[40, 2], 1.0)]
    }),
    mistake(ErrorKind::Argument, NOT_FINITE, LEAVE_OUT, || broken(&[])),
    mistake(ErrorKind::Shape, "towards of another shape than (3)", "", || {
        cloud(&[word("towards"), spread(&[2], 1.0)])
    }),
    mistake(ErrorKind::Argument, "k below 3", "", || cloud(&k(2))),
];
