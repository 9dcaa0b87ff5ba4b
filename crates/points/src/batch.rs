//! Several clouds in one array: one after the other, with the rows at which they begin, or padded to
//! one length.

use rung_array::Array;
use rung_base::{Error, ErrorKind, Result, Shape, memory};
use std::ops::Range;

/// What a call's array holds.
pub struct Clouds {
    /// One point a row, (n d).
    pub array: Array,
    /// The rows of each cloud; other rows are padding.
    pub parts: Vec<Range<usize>>,
    /// Whether they came as a batch: results then have a row for each cloud.
    pub is_batch: bool,
    /// How masks lie: one number for each point, padding counted.
    pub mask_shape: Shape,
}

/// The clouds of an array: one of shape (n d); with `offsets`, one from each row of them up to the next,
/// with `lengths`, one after the other of so many rows; of shape (b n d), b clouds, of which `lengths`
/// says how many points each has.
///
/// # Errors
/// Offsets that do not begin at 0, fall, or do not end at n; lengths that do not add up to n, or, of
/// padded clouds, are not one for each or are more than n; offsets of padded clouds.
pub fn clouds(
    given: &Array,
    offsets: Option<Vec<i64>>,
    lengths: Option<Vec<i64>>,
) -> Result<Clouds> {
    match (given.shape()[..].len(), offsets, lengths) {
        (_, Some(_), Some(_)) => {
            let text = "offsets and lengths both say where clouds are: give one of them";
            Err(Error::new(ErrorKind::Argument, text))
        }
        (3, Some(_), None) => {
            let text = "offsets go with clouds one after the other, (n d)";
            let e = Error::wanted(ErrorKind::Shape, text, given.shape());
            Err(e.hint("lengths says how many points each of (b n d) has"))
        }
        (3, None, lengths) => padded(given, lengths),
        (_, None, Some(lengths)) => packed(given, Some(ends(&lengths)?)),
        (_, offsets, None) => packed(given, offsets),
    }
}

fn packed(given: &Array, offsets: Option<Vec<i64>>) -> Result<Clouds> {
    // What is no (n d) is refused by who reads the points.
    let rows = given.shape().first().copied().unwrap_or(0);
    let is_batch = offsets.is_some();
    let parts = match offsets {
        None => std::iter::once(0..rows).collect(),
        Some(offsets) => between(&offsets, rows)?,
    };
    Ok(Clouds { array: given.clone(), parts, is_batch, mask_shape: Shape::vector(rows) })
}

/// Offsets of clouds that stand one after the other.
fn ends(lengths: &[i64]) -> Result<Vec<i64>> {
    let mut offsets = memory::room(lengths.len() + 1, || format!("{} clouds", lengths.len()))?;
    offsets.push(0);
    for &length in lengths {
        let end = offsets[offsets.len() - 1];
        offsets.push(i64::checked_add(end, length.max(0)).unwrap_or(i64::MAX));
    }
    Ok(offsets)
}

/// From each offset to the next.
fn between(offsets: &[i64], rows: usize) -> Result<Vec<Range<usize>>> {
    let wrong = |text: String| Err(Error::new(ErrorKind::Argument, text));
    let mut parts = memory::room(offsets.len(), || format!("{} clouds", offsets.len()))?;
    match (offsets.first(), offsets.last()) {
        (Some(0), Some(&last)) if last == rows as i64 => {}
        (Some(0), Some(last)) => {
            return wrong(format!(
                "clouds must end at row {rows}, the number of points: got {last}"
            ));
        }
        (Some(first), _) => return wrong(format!("offsets must begin at 0: got {first}")),
        (None, _) => return wrong("offsets must be 0 and the end of each cloud: got none".into()),
    }
    for pair in offsets.windows(2) {
        if pair[1] < pair[0] {
            return wrong(format!("offsets must not fall: got {} after {}", pair[1], pair[0]));
        }
        // Neither below 0 nor above the rows, since they begin, end and rise so.
        parts.push(pair[0] as usize..pair[1] as usize);
    }
    Ok(parts)
}

fn padded(given: &Array, lengths: Option<Vec<i64>>) -> Result<Clouds> {
    let [clouds, rows, columns] = given.shape()[..] else {
        return Err(Error::wanted(ErrorKind::Shape, "clouds of shape (b n d)", given.shape()));
    };
    let lengths = lengths.unwrap_or_else(|| vec![rows as i64; clouds]);
    if lengths.len() != clouds {
        let text = format!("lengths of {clouds} clouds");
        return Err(Error::wanted(ErrorKind::Shape, text, lengths.len()));
    }
    let part = |(cloud, &length): (usize, &i64)| match usize::try_from(length) {
        Ok(length) if length <= rows => Ok(cloud * rows..cloud * rows + length),
        _ => {
            let text = format!("lengths must be from 0 to {rows}, the rows of a cloud");
            Err(Error::wanted(ErrorKind::Argument, text, length))
        }
    };
    Ok(Clouds {
        array: given.reshape(Shape::new([clouds * rows, columns])?)?,
        parts: lengths.iter().enumerate().map(part).collect::<Result<_>>()?,
        is_batch: true,
        mask_shape: Shape::new([clouds, rows])?,
    })
}
