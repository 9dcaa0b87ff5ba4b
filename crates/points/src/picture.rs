//! Pictures of clouds: what is looked at from one side, with some of its points marked. Nearer points
//! are darker; marks go from blue, the first, to orange, the last.

use rung_array::Array;
use rung_base::{Result, Shape};

/// Pixels of the longer side, and of the margin around.
const SIDE: f64 = 860.0;
const MARGIN: f64 = 20.0;
/// Pixels from the middle of a mark to its edge.
const RADIUS: i64 = 4;

/// The first and the last mark's red, green and blue.
const FIRST: [f64; 3] = [31.0, 84.0, 199.0];
const LAST: [f64; 3] = [240.0, 120.0, 20.0];

/// Where a point is on the paper, and how near.
#[derive(Clone, Copy)]
struct Seen {
    across: f64,
    up: f64,
    near: f64,
}

/// A side view: turned by 30 degrees about the second axis, which points up, then 20 degrees down, as
/// scanned figures stand. Of fewer axes the first goes across and the second up.
fn seen(point: &[f64]) -> Seen {
    let axis = |i: usize| point.get(i).copied().unwrap_or(0.0);
    if point.len() < 3 {
        return Seen { across: axis(0), up: axis(1), near: 0.0 };
    }
    let (turn, tilt) = (30f64.to_radians(), 20f64.to_radians());
    let across = axis(0) * turn.cos() + axis(2) * turn.sin();
    let deep = axis(2) * turn.cos() - axis(0) * turn.sin();
    let up = axis(1) * tilt.cos() - deep * tilt.sin();
    Seen { across, up, near: axis(1) * tilt.sin() + deep * tilt.cos() }
}

struct Paper {
    width: usize,
    height: usize,
    pixels: Vec<[u8; 3]>,
}

/// Draws the points (n d) and those of them that are marked, in order: (height width 3).
///
/// # Errors
/// No memory for the picture.
pub fn draw(points: &Array, marked: &[i64]) -> Result<Array> {
    let columns = points.shape().get(1).copied().unwrap_or(1).max(1);
    let numbers: Vec<f64> = points.numbers().map(|n| n.to_f64()).collect();
    let all: Vec<Seen> = numbers.chunks_exact(columns).map(seen).collect();
    let finite = |s: &&Seen| s.across.is_finite() && s.up.is_finite() && s.near.is_finite();
    let span = |part: fn(&Seen) -> f64| {
        let parts = all.iter().filter(finite).map(part);
        parts.fold([f64::INFINITY, f64::NEG_INFINITY], |[low, high], x| [low.min(x), high.max(x)])
    };
    let (across, up, near) = (span(|s| s.across), span(|s| s.up), span(|s| s.near));
    let side = |[low, high]: [f64; 2]| if high > low { high - low } else { 0.0 };
    let longest = side(across).max(side(up));
    let scale = if longest > 0.0 { SIDE / longest } else { 0.0 };
    let extent = |span| (side(span) * scale + 2.0 * MARGIN).round().max(1.0) as usize;
    let (width, height) = (extent(across), extent(up));
    let mut paper = Paper { width, height, pixels: vec![[255; 3]; width * height] };
    let place = |s: &Seen| {
        let x = (s.across - across[0]) * scale + MARGIN;
        let y = (up[1] - s.up) * scale + MARGIN;
        (x as i64, y as i64)
    };
    for s in all.iter().filter(finite) {
        let depth = if side(near) > 0.0 { (s.near - near[0]) / side(near) } else { 1.0 };
        let (x, y) = place(s);
        paper.darken(x, y, (235.0 - 110.0 * depth) as u8);
    }
    let last = marked.len().saturating_sub(1).max(1) as f64;
    // The first marks lie on top.
    for (order, index) in marked.iter().enumerate().rev() {
        let found = usize::try_from(*index).ok().and_then(|i| all.get(i));
        if let Some(s) = found.filter(finite) {
            let share = order as f64 / last;
            let (x, y) = place(s);
            let color = std::array::from_fn(|i| (FIRST[i] + (LAST[i] - FIRST[i]) * share) as u8);
            paper.disc(x, y, radius(marked.len()), color);
        }
    }
    let shape = Shape::new([height, width, 3])?;
    Array::from_slice(paper.pixels.as_flattened(), shape)
}

/// Many marks are smaller.
fn radius(marks: usize) -> i64 {
    match marks {
        0..=300 => RADIUS,
        301..=1500 => RADIUS - 1,
        1501..=6000 => RADIUS - 2,
        _ => 1,
    }
}

impl Paper {
    fn at(&mut self, x: i64, y: i64) -> Option<&mut [u8; 3]> {
        let (x, y) = (usize::try_from(x).ok()?, usize::try_from(y).ok()?);
        let inside = x < self.width && y < self.height;
        inside.then(|| &mut self.pixels[y * self.width + x])
    }

    fn darken(&mut self, x: i64, y: i64, grey: u8) {
        for (x, y) in [(x, y), (x + 1, y), (x, y + 1), (x + 1, y + 1)] {
            if let Some(pixel) = self.at(x, y).filter(|pixel| pixel[0] > grey) {
                *pixel = [grey; 3];
            }
        }
    }

    /// A disc with a white edge.
    fn disc(&mut self, x: i64, y: i64, radius: i64, color: [u8; 3]) {
        for dy in -radius - 1..=radius + 1 {
            for dx in -radius - 1..=radius + 1 {
                let distance = dx * dx + dy * dy;
                let painted = match distance {
                    _ if distance <= radius * radius => color,
                    _ if distance <= (radius + 1) * (radius + 1) => [255; 3],
                    _ => continue,
                };
                if let Some(pixel) = self.at(x + dx, y + dy) {
                    *pixel = painted;
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_of_points_lies_across_with_its_ends_marked() {
        let cloud = [0.0, 0.0, 1.0, 0.0, 4.0, 0.0];
        let cloud = Array::from_slice(&cloud, Shape::new([3, 2]).unwrap()).unwrap();
        let picture = draw(&cloud, &[0, 2]).unwrap();
        assert_eq!(picture.shape()[..], [40, 900, 3]);
        let color = |x: i64| [0, 1, 2].map(|c| picture.get(&[20, x, c]).unwrap().to_f64());
        assert_eq!((color(20), color(880)), (FIRST, LAST));
        assert_eq!((color(235), color(450)), ([125.0; 3], [255.0; 3]));
    }

    #[test]
    fn clouds_without_an_extent_and_points_that_are_no_numbers_are_drawn() {
        let same = Array::from_slice(&[1.0f32; 6], Shape::new([2, 3]).unwrap()).unwrap();
        assert_eq!(draw(&same, &[1]).unwrap().shape()[..], [40, 40, 3]);
        let none = Array::from_slice::<f64>(&[], Shape::new([0, 3]).unwrap()).unwrap();
        assert_eq!(draw(&none, &[]).unwrap().shape()[2], 3);
        let nan =
            Array::from_slice(&[f64::NAN, 0.0, 1.0, 1.0], Shape::new([2, 2]).unwrap()).unwrap();
        assert!(draw(&nan, &[0, 1, 7, -1]).is_ok());
    }
}
