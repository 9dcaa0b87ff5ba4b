//! From the arrays of a call to clouds: shapes, element types, what is no number, masks. Everything
//! here is checked before a rung is asked.

use crate::Cloud;
use crate::cloud::MOST_DIMENSIONS;
use rung_array::Array;
use rung_base::{ElementType, Error, ErrorKind, Result, Shape, memory};
use rung_lanes::Lanes;
use rung_ops::Answer;
use rung_ops::call::{Call, at_type};
use std::ops::Range;

/// Points of a call: one a row, packed, at the type in which they are computed with.
pub struct Points {
    pub array: Array,
    /// Rows that hold NaN or infinity, where those are left out.
    pub dropped: Option<Vec<bool>>,
}

/// The points of an array.
///
/// # Errors
/// A shape that is not (n d), d from 1 to 16; unless `drops`, a coordinate that is NaN or infinite;
/// an extent whose squared diagonal is beyond the type.
pub fn points(array: &Array, drops: bool) -> Result<Points> {
    let rows = array.shape().first().copied().unwrap_or(0);
    points_of(array, std::slice::from_ref(&(0..rows)), drops)
}

/// The points of a batch: of an array of shape (n d), of which each part is a cloud.
///
/// # Errors
/// Those of [`points`], of each cloud.
pub fn points_of(array: &Array, parts: &[Range<usize>], drops: bool) -> Result<Points> {
    let [rows, columns] = array.shape()[..] else {
        let text = "points are an array of shape (n d), one a row";
        return Err(Error::wanted(ErrorKind::Shape, text, array.shape()));
    };
    if columns == 0 || columns > MOST_DIMENSIONS {
        let text = format!("a point has 1 to {MOST_DIMENSIONS} coordinates, in shape (n d)");
        let e = Error::wanted(ErrorKind::Shape, text, array.shape());
        let turned = (1..=MOST_DIMENSIONS).contains(&rows);
        return Err(if turned { e.hint("one point a row: transpose it") } else { e });
    }
    // Whether they are numbers is seen here, wherever they are.
    array.home()?;
    let packed = at_type(array, computed_at(array.element_type()))?.to_contiguous()?;
    match packed.element_type() {
        ElementType::F32 => checked::<f32>(packed, columns, parts, drops),
        _ => checked::<f64>(packed, columns, parts, drops),
    }
}

/// Floats of 32 bits at most are computed with at f32, everything else at f64.
fn computed_at(t: ElementType) -> ElementType {
    match t {
        ElementType::F32 | ElementType::BF16 | ElementType::F16 => ElementType::F32,
        _ => ElementType::F64,
    }
}

fn checked<T: crate::Coordinate>(
    array: Array,
    columns: usize,
    parts: &[Range<usize>],
    drops: bool,
) -> Result<Points> {
    let coordinates = array.as_slice::<T>().unwrap_or_default();
    let whole = |row: &[T]| row.iter().all(|x| x.is_finite());
    if !drops || whole(coordinates) {
        are_clouds(coordinates, columns, parts)?;
        return Ok(Points { array, dropped: None });
    }
    let rows = coordinates.chunks_exact(columns).map(|row| !whole(row));
    let dropped = memory::collected(rows, || "the rows left out".into())?;
    let kept = Array::build::<T>(array.shape().clone(), |out| {
        out.copy_from_slice(coordinates);
        parts.iter().for_each(|part| {
            cover(&mut out[part.start * columns..part.end * columns], columns, whole);
        });
    })?;
    are_clouds(kept.as_slice::<T>().unwrap_or_default(), columns, parts)?;
    Ok(Points { array: kept, dropped: Some(dropped) })
}

/// Lays the rows that are left out on one that is not, so that the box stays that of the others.
fn cover<T: crate::Coordinate>(cloud: &mut [T], columns: usize, whole: impl Fn(&[T]) -> bool) {
    let mut stand_in = [T::ZERO; MOST_DIMENSIONS];
    if let Some(row) = cloud.chunks_exact(columns).find(|row| whole(row)) {
        stand_in[..columns].copy_from_slice(row);
    }
    for row in cloud.chunks_exact_mut(columns).filter(|row| !whole(row)) {
        row.copy_from_slice(&stand_in[..columns]);
    }
}

fn are_clouds<T: crate::Coordinate>(
    coordinates: &[T],
    columns: usize,
    parts: &[Range<usize>],
) -> Result<()> {
    for (number, part) in parts.iter().enumerate() {
        let cloud = Cloud::new(&coordinates[part.start * columns..part.end * columns], columns);
        cloud.map_err(|e| in_cloud(e, number, parts.len()))?;
    }
    Ok(())
}

/// Names the cloud, where there are several.
pub fn in_cloud(e: Error, number: usize, of: usize) -> Error {
    if of == 1 { e } else { e.in_part(format_args!("cloud {number}")) }
}

/// Which points take part: those that are not 0 in the mask, of this shape, and not dropped.
pub fn taking_part(
    mask: Option<&Array>,
    dropped: Option<Vec<bool>>,
    shape: &Shape,
) -> Result<Option<Vec<bool>>> {
    let Some(mask) = mask else {
        return Ok(dropped.map(|dropped| dropped.into_iter().map(|gone| !gone).collect()));
    };
    let rows = shape.size();
    if mask.shape() != shape {
        let text = format!("mask has shape {shape}, one for each point");
        return Err(Error::wanted(ErrorKind::Shape, text, mask.shape()));
    }
    mask.home()?;
    let mut kept = memory::room(rows, || format!("a mask of {rows} points"))?;
    kept.extend(mask.numbers().map(|x| x.to_f64() != 0.0));
    for (kept, gone) in kept.iter_mut().zip(dropped.unwrap_or_default()) {
        *kept &= !gone;
    }
    Ok(Some(kept))
}

/// The first operand of a call that was prepared from `points`.
pub fn cloud<T: crate::Coordinate>(call: &Call) -> Cloud<'_, T> {
    let array = &call.operands[0];
    Cloud::checked(array.as_slice::<T>().unwrap_or_default(), array.shape()[1])
}

/// What a call's `prepare` left for its rungs.
pub fn asked<T: 'static>(call: &Call) -> Result<&T> {
    let asked = match &call.detail {
        rung_ops::call::Detail::Solver(asked) => asked.downcast_ref(),
        _ => None,
    };
    asked.ok_or_else(|| Error::new(ErrorKind::Internal, "a call without what is asked"))
}

/// A function of points: by the definition, or on lanes. `portable` and `lanes` are its rungs.
pub trait OfPoints {
    /// The results, in order, computed with the points' type.
    ///
    /// # Errors
    /// Those of the function.
    fn run<T: crate::Coordinate>(call: &Call, lanes: Option<&Lanes>) -> Result<Vec<Array>>;
}

/// The definition's rung.
pub fn portable<F: OfPoints>(call: &Call) -> Result<Vec<Array>> {
    at_width::<F>(call, None)
}

/// The lanes' rung.
pub fn lanes<F: OfPoints>(call: &Call, lanes: &Lanes) -> Result<Answer> {
    at_width::<F>(call, Some(lanes)).map(Answer::Several)
}

fn at_width<F: OfPoints>(call: &Call, lanes: Option<&Lanes>) -> Result<Vec<Array>> {
    match call.operands[0].element_type() {
        ElementType::F32 => F::run::<f32>(call, lanes),
        _ => F::run::<f64>(call, lanes),
    }
}
