//! Pictures of spectrograms: time to the right, low bands at the bottom, 80 decibels from the loudest
//! downwards, seconds and kHz at the edges. The same values give the same bytes.

use crate::preset::{Preset, Value};
use rung_array::Array;
use rung_base::{Error, ErrorKind, Result, Shape};
use rung_math::{Binary, Power, Unary};
use std::f64::consts::LN_10;

/// Decibels that are shown.
const RANGE: f64 = 80.0;
/// Pixels of the field that are aimed at; a cell is a whole number of them each way.
const HEIGHT: usize = 240;
const WIDTH: usize = 640;
/// The widest cell: few frames make no wall.
const WIDEST: usize = 8;
/// Pixels left of the field, below it, and around.
const LEFT: usize = 44;
const BELOW: usize = 20;
const MARGIN: usize = 8;
/// The most columns of a picture: 20 minutes at 100 frames a second.
const MOST_FRAMES: usize = 120_000;

const INK: [u8; 3] = [40, 40, 40];

/// Frequencies that are named, Hz.
const NAMED: [f64; 6] = [500.0, 1000.0, 2000.0, 4000.0, 8000.0, 16_000.0];
/// Steps of seconds, of which the first that leaves room is taken.
const STEPS: [f64; 12] = [0.05, 0.1, 0.2, 0.5, 1.0, 2.0, 5.0, 10.0, 20.0, 60.0, 120.0, 300.0];
/// Pixels between named seconds at least.
const APART: f64 = 56.0;

struct Paper {
    width: usize,
    height: usize,
    pixels: Vec<[u8; 3]>,
}

/// Draws the numbers of a table of the preset, or the first of a batch: (height width 3).
///
/// # Errors
/// No frame or too many of them; no memory.
pub fn draw(preset: &Preset, numbers: &[f32], times: &Array, centres: &Array) -> Result<Array> {
    let (frames, bands) = (times.size(), centres.size());
    if frames == 0 || frames > MOST_FRAMES {
        let text = format!("a picture shows from 1 to {MOST_FRAMES} frames");
        return Err(Error::wanted(ErrorKind::Argument, text, frames));
    }
    let at = |frame: usize, band: usize| match preset.frames_first {
        true => numbers[frame * bands + band],
        false => numbers[band * frames + frame],
    };
    let level = |frame, band| decibels(preset.value, f64::from(at(frame, band)));
    let cells = (0..frames).flat_map(|frame| (0..bands).map(move |band| (frame, band)));
    let top = cells.map(|(frame, band)| level(frame, band)).fold(f64::NEG_INFINITY, f64::max);
    let (wide, high) = ((WIDTH / frames).clamp(1, WIDEST), (HEIGHT / bands).max(1));
    let mut paper = Paper::new(LEFT + frames * wide + MARGIN, MARGIN + bands * high + BELOW);
    let colors: Vec<[u8; 3]> = (0..=255).map(|i| color(f64::from(i) / 255.0)).collect();
    for band in 0..bands {
        for frame in 0..frames {
            let share = (1.0 + (level(frame, band) - top) / RANGE).clamp(0.0, 1.0);
            let (x, y) = (LEFT + frame * wide, MARGIN + (bands - 1 - band) * high);
            paper.fill([x, y], [wide, high], colors[(share * 255.0) as usize]);
        }
    }
    paper.name_frequencies(centres, high);
    paper.name_seconds(times, wide);
    let shape = Shape::new([paper.height, paper.width, 3])?;
    Array::from_slice(paper.pixels.as_flattened(), shape)
}

/// What a value is on a scale of decibels.
fn decibels(value: Value, x: f64) -> f64 {
    match value {
        Value::Power => 10.0 * rung_math::Log10::at(x.max(1e-10)),
        Value::Decibels { .. } => x,
        Value::Whisper => 10.0 * (4.0 * x - 4.0),
        Value::NaturalLog => 10.0 * x / LN_10,
    }
}

/// From black over violet and orange to pale yellow, evenly in the lightness of Oklab (Ottosson 2020).
fn color(share: f64) -> [u8; 3] {
    let lightness = 0.08 + 0.9 * share;
    // Along a bow from blue to yellow; both ends have little colour.
    let (a, b) = (0.42 * share * (1.0 - share), -0.16 + 0.33 * share);
    let strength = (6.0 * share).min(1.0);
    let (a, b) = (a * strength, b * strength);
    let cube = |x: f64| x * x * x;
    let l = cube(lightness + 0.396_337_777_4 * a + 0.215_803_757_3 * b);
    let m = cube(lightness - 0.105_561_345_8 * a - 0.063_854_172_8 * b);
    let s = cube(lightness - 0.089_484_177_5 * a - 1.291_485_548_0 * b);
    let linear = [
        4.076_741_662_1 * l - 3.307_711_591_3 * m + 0.230_969_929_2 * s,
        -1.268_438_004_6 * l + 2.609_757_401_1 * m - 0.341_319_396_5 * s,
        -0.004_196_086_3 * l - 0.703_418_614_7 * m + 1.707_614_701_0 * s,
    ];
    linear.map(|x| {
        let x = x.clamp(0.0, 1.0);
        let coded =
            if x <= 0.003_130_8 { 12.92 * x } else { 1.055 * Power::at(x, 1.0 / 2.4) - 0.055 };
        (255.0 * coded).round() as u8
    })
}

/// Figures of 3 by 5 pixels, a row of three bits each.
const FIGURES: [(char, [u8; 5]); 14] = [
    ('0', [7, 5, 5, 5, 7]),
    ('1', [2, 6, 2, 2, 7]),
    ('2', [7, 1, 7, 4, 7]),
    ('3', [7, 1, 7, 1, 7]),
    ('4', [5, 5, 7, 1, 1]),
    ('5', [7, 4, 7, 1, 7]),
    ('6', [7, 4, 7, 5, 7]),
    ('7', [7, 1, 2, 2, 2]),
    ('8', [7, 5, 7, 5, 7]),
    ('9', [7, 5, 7, 1, 7]),
    ('.', [0, 0, 0, 0, 2]),
    ('k', [4, 5, 6, 6, 5]),
    ('s', [3, 4, 2, 1, 6]),
    (' ', [0, 0, 0, 0, 0]),
];
/// Pixels of a figure's pixel, and from one figure to the next.
const DOT: usize = 2;
const STEP: usize = 4 * DOT;

impl Paper {
    fn new(width: usize, height: usize) -> Paper {
        Paper { width, height, pixels: vec![[255; 3]; width * height] }
    }

    fn fill(&mut self, [x, y]: [usize; 2], [width, height]: [usize; 2], color: [u8; 3]) {
        for y in y..(y + height).min(self.height) {
            for x in x..(x + width).min(self.width) {
                self.pixels[y * self.width + x] = color;
            }
        }
    }

    /// A text whose right edge is at `right`, its middle at `middle`.
    fn write(&mut self, text: &str, right: usize, middle: usize) {
        let left = right.saturating_sub(text.len() * STEP);
        for (at, character) in text.chars().enumerate() {
            let Some((_, rows)) = FIGURES.iter().find(|(c, _)| *c == character) else { continue };
            for (row, bits) in rows.iter().enumerate() {
                for column in (0..3).filter(|column| bits >> (2 - column) & 1 == 1) {
                    let x = left + at * STEP + column * DOT;
                    let y = (middle + row * DOT).saturating_sub(5);
                    self.fill([x, y], [DOT, DOT], INK);
                }
            }
        }
    }

    /// Marks at the bands whose middle is nearest to a named frequency.
    fn name_frequencies(&mut self, centres: &Array, high: usize) {
        let centres = centres.as_slice::<f64>().unwrap_or_default();
        let (low, top) = (centres[0], centres[centres.len() - 1]);
        let mut above = usize::MAX;
        for hz in NAMED.iter().filter(|hz| (low..=top).contains(*hz)) {
            let after = centres.partition_point(|c| c < hz).min(centres.len() - 1);
            let before = after.saturating_sub(1);
            let near = if hz - centres[before] < centres[after] - hz { before } else { after };
            let middle = MARGIN + (centres.len() - 1 - near) * high + high / 2;
            // A name that would touch the one below is left out.
            if above.saturating_sub(middle) < 7 * DOT {
                continue;
            }
            above = middle;
            self.fill([LEFT - 5, middle], [5, 1], INK);
            let text = format!("{}k", hz / 1000.0);
            self.write(&text, LEFT - 6, middle);
        }
    }

    fn name_seconds(&mut self, times: &Array, wide: usize) {
        let times = times.as_slice::<f64>().unwrap_or_default();
        let Some((first, second)) = times.first().zip(times.get(1)) else { return };
        let a_second = wide as f64 / (second - first);
        let fits = |step: &&f64| **step * a_second >= APART;
        let step = STEPS.iter().find(fits).copied().unwrap_or(STEPS[STEPS.len() - 1]);
        let bottom = self.height - BELOW;
        let end = first + (times.len() * wide) as f64 / a_second;
        let mut count = 0.0;
        while count * step <= end {
            let seconds = count * step;
            count += 1.0;
            let x = LEFT as f64 + (seconds - first) * a_second;
            if x < LEFT as f64 || x as usize + STEP > self.width {
                continue;
            }
            self.fill([x as usize, bottom], [1, 4], INK);
            let text = format!("{}s", (seconds * 100.0).round() / 100.0);
            let right = (x as usize + text.len() * STEP / 2).min(self.width - 2);
            self.write(&text, right, bottom + 11);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn colours_rise_evenly_from_dark_to_light() {
        let luma = |c: [u8; 3]| {
            0.2126 * f64::from(c[0]) + 0.7152 * f64::from(c[1]) + 0.0722 * f64::from(c[2])
        };
        let all: Vec<f64> = (0..=255).map(|i| luma(color(f64::from(i) / 255.0))).collect();
        assert!(all.windows(2).all(|pair| pair[0] <= pair[1] + 0.5));
        assert!(all[0] < 12.0 && all[255] > 230.0, "{} {}", all[0], all[255]);
    }

    #[test]
    fn the_loudest_cell_is_lightest_and_low_bands_lie_below() {
        let preset = Preset::named("librosa").unwrap();
        let table = [1.0, 1e-9, 0.1, 1.0];
        let (times, centres) =
            (Array::vector(&[0.0, 0.01]).unwrap(), Array::vector(&[500.0, 1000.0]).unwrap());
        let picture = draw(&preset, &table, &times, &centres).unwrap();
        assert_eq!(picture.shape()[..], [MARGIN + HEIGHT + BELOW, LEFT + 2 * WIDEST + MARGIN, 3]);
        let color_at = |x: usize, y: usize| {
            [0, 1, 2].map(|c| picture.get(&[y as i64, x as i64, c]).unwrap().to_f64() as u8)
        };
        let (low, high) = (MARGIN + 3 * HEIGHT / 4, MARGIN + HEIGHT / 4);
        assert_eq!(color_at(LEFT + 1, low), color(1.0));
        assert_eq!(color_at(LEFT + WIDEST + 1, low), color(0.0));
        assert_eq!(color_at(LEFT + WIDEST + 1, high), color(1.0));
        assert!(draw(&preset, &[], &Array::vector::<f64>(&[]).unwrap(), &centres).is_err());
    }
}
