//! From frames to the energy of each band, by three methods.
//!
//! - `Fft`: a Fourier transform of each windowed frame, then the triangles (`spectrum`). Frames, window
//!   and triangles are in f64, the transform in f32.
//! - `Product`: the transform as one matrix product in f32, folded about the window's centre: cosines see
//!   only the sums of mirrored samples, sines only their differences, which halves the work.
//! - `Melt` (MelT, arXiv 2606.01009, 2026): no transform: sinusoids at frequencies inside each triangle,
//!   one product. Another feature than the exact one.
//!
//! A frame's numbers do not depend on the frames beside it, so any cutting of a signal gives the same bits.

use crate::device::Tables;
use crate::engine::{Bound, Engine, Side, times};
use crate::filters::Filters;
use crate::frames::Frames;
use crate::preset::Preset;
use crate::spectrum::Spectrum;
use rung_array::Array;
use rung_base::{Error, ErrorKind, Result, Shape, memory};
use rung_lanes::Lanes;
use rung_math::{Cos, Sin, Unary};
use std::f64::consts::{PI, TAU};
use std::ops::Range;
use std::sync::{Mutex, OnceLock};

/// How energies are computed. The bits are those of the method, whatever the machine.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Method {
    /// By a Fourier transform (class Same; class O where half the transform's points have a prime factor
    /// above 5 or the points are odd, which are left to a library).
    Fft,
    /// By one product (class Same).
    Product,
    /// At so many points inside each triangle, weighted by it.
    Melt {
        /// 1 or more.
        points: usize,
    },
}

/// Points of a transform up to which the product is the method unless one is said: it takes
/// 2 N (N + 2) operations a frame.
const PRODUCT_POINTS: usize = 1024;

/// Frames that are computed at a time.
const BLOCK: usize = 256;

/// A preset with its tables.
#[derive(Clone, Debug)]
pub struct Plan {
    /// The rules.
    pub preset: Preset,
    /// The triangles.
    pub filters: Filters,
    /// How.
    pub method: Method,
    pub(crate) window: Vec<f64>,
    way: Way,
}

/// The tables of a method.
#[derive(Clone, Debug)]
enum Way {
    Fft(Spectrum),
    Product(Folded),
}

/// The method that is said, or else the one of the transform's size.
pub fn chosen(preset: &Preset, method: Option<Method>) -> Method {
    let by_size = if preset.n_fft <= PRODUCT_POINTS { Method::Product } else { Method::Fft };
    method.unwrap_or(by_size)
}

/// The energies of a signal.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Energies {
    /// How many frames.
    pub frames: usize,
    /// (frames, bands), not negative.
    pub bands: Vec<f32>,
    /// The log energy of each frame before pre-emphasis and window.
    pub log_energy: Vec<f32>,
}

/// What a frame takes by a method: multiplications and additions, and the bytes of its own numbers that are
/// read and written, tables aside, which frames share.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Work {
    pub flops: u64,
    pub bytes: u64,
}

impl Plan {
    /// `method` `None`: the product for transforms of up to 1,024 points, else the transform.
    ///
    /// # Errors
    /// As `Preset::check`; melt without a point.
    pub fn new(preset: Preset, method: Option<Method>) -> Result<Plan> {
        let filters = Filters::new(&preset)?;
        let method = chosen(&preset, method);
        if method == (Method::Melt { points: 0 }) {
            let wanted = "melt takes 1 point or more in each triangle";
            return Err(Error::wanted(ErrorKind::Argument, wanted, 0));
        }
        Folded::ask(&preset, method)?;
        let window = preset.window.weights(preset.window_length);
        let way = match method {
            Method::Fft => Way::Fft(Spectrum::new(preset.n_fft)),
            Method::Product => Way::Product(Folded::exact(&preset, &filters, &window)),
            Method::Melt { points } => {
                Way::Product(Folded::melt(&preset, &filters, &window, points))
            }
        };
        Ok(Plan { preset, filters, method, window, way })
    }

    /// The energies of all frames: on lanes, or without them by the plain sums, which give the same bits.
    ///
    /// # Errors
    /// As `Frames::new`; no memory.
    pub fn energies(&self, lanes: Option<&Lanes>, samples: &[f32]) -> Result<Energies> {
        self.energies_by(lanes.into(), samples)
    }

    /// The same by any engine.
    ///
    /// # Errors
    /// As `energies`.
    pub fn energies_by(&self, engine: Engine, samples: &[f32]) -> Result<Energies> {
        let frames = Frames::new(&self.preset, samples)?;
        self.of_frames(engine, &frames, 0..frames.count)
    }

    /// What a frame takes.
    pub fn work(&self) -> Work {
        let (length, bands) = (self.preset.window_length as u64, self.filters.len() as u64);
        let samples = self.preset.hop as u64;
        match &self.way {
            // The usual count of a transform of real numbers, the window, the squares, the triangles.
            Way::Fft(_) => {
                let (n, bins) = (self.preset.n_fft as u64, self.filters.bins as u64);
                let transform = (2.5 * n as f64 * (n as f64).log2()) as u64;
                let triangles = 2 * self.filters.nonzero() as u64;
                let numbers = samples + 2 * n + bins + bands;
                Work { flops: transform + length + 3 * bins + triangles, bytes: 4 * numbers }
            }
            Way::Product(folded) => {
                let (depth, columns) = (folded.pairs.len() as u64, folded.columns as u64);
                let flops = 2 * depth + 4 * depth * columns + 3 * columns + 2 * columns * bands;
                Work { flops, bytes: 4 * (samples + 2 * depth + 2 * columns + bands) }
            }
        }
    }

    /// The sinusoids of a method that is a product.
    pub(crate) fn folded(&self) -> Option<&Folded> {
        match &self.way {
            Way::Product(folded) => Some(folded),
            Way::Fft(_) => None,
        }
    }

    /// The energies of some of the frames.
    pub(crate) fn of_frames(
        &self,
        engine: Engine,
        frames: &Frames,
        range: Range<usize>,
    ) -> Result<Energies> {
        let (count, bands) = (range.len(), self.filters.len());
        let what = || format!("{bands} bands of {count} frames");
        let mut result = Energies {
            frames: count,
            bands: memory::filled(count.saturating_mul(bands), 0.0, what)?,
            log_energy: memory::filled(count, 0.0, what)?,
        };
        match &self.way {
            Way::Fft(way) => {
                self.transformed(engine.lanes(), way, frames, range.start, &mut result)
            }
            Way::Product(way) => self.multiplied(engine, way, frames, range.start, &mut result),
        }
        Ok(result)
    }

    /// Blocks of frames, each by one thread.
    fn transformed(
        &self,
        lanes: Option<&Lanes>,
        spectrum: &Spectrum,
        frames: &Frames,
        from: usize,
        to: &mut Energies,
    ) {
        let bands = self.filters.len();
        let threads = lanes.map_or(1, |lanes| lanes.workers().threads());
        let block = to.frames.div_ceil(threads).clamp(1, BLOCK);
        let energies = to.log_energy.chunks_mut(block);
        let blocks: Vec<_> =
            to.bands.chunks_mut(block * bands).zip(energies).map(Mutex::new).collect();
        let run = |at: usize| {
            // No other piece has this block, and one that panicked ends the call.
            if let Ok(mut block_of) = blocks[at].lock() {
                let (bands, energies) = &mut *block_of;
                spectrum.energies(self, lanes, frames, from + at * block, (bands, energies));
            }
        };
        match lanes {
            Some(lanes) => lanes.workers().run(blocks.len(), &run),
            None => (0..blocks.len()).for_each(run),
        }
    }

    /// Block after block, each product by all threads.
    fn multiplied(
        &self,
        engine: Engine,
        folded: &Folded,
        frames: &Frames,
        from: usize,
        to: &mut Energies,
    ) {
        let bands = self.filters.len();
        let mut frame = vec![0.0; self.window.len()];
        let mut at = 0;
        for to_bands in to.bands.chunks_mut(BLOCK * bands) {
            let count = to_bands.len() / bands;
            let depth = folded.pairs.len();
            let (mut sums, mut differences) = (vec![0.0; count * depth], vec![0.0; count * depth]);
            let rows = sums.chunks_exact_mut(depth).zip(differences.chunks_exact_mut(depth));
            for (row, (sums, differences)) in rows.enumerate() {
                to.log_energy[at + row] = frames.read(from + at + row, &mut frame) as f32;
                folded.fold(&frame, sums, differences);
            }
            folded.multiply(engine, [&sums, &differences], to_bands);
            if let Some(bound) = engine.bound() {
                folded.off(bound, &self.window, [&sums, &differences], to_bands);
            }
            at += count;
        }
    }
}

/// Sinusoids under the window, folded about its centre.
#[derive(Clone, Debug)]
pub(crate) struct Folded {
    /// Samples that lie mirrored about the centre; the same twice at the centre, the second beyond the
    /// frame where a window has no partner.
    pairs: Vec<(usize, usize)>,
    /// (pairs, columns): cosines and sines times the window.
    cosines: Vec<f32>,
    sines: Vec<f32>,
    columns: usize,
    /// (columns, bands): from squares to energies.
    weights: Vec<f32>,
    bands: usize,
    /// Whether bands sum magnitudes, else squares.
    magnitude: bool,
    tables: OnceLock<Box<Tables>>,
}

impl Folded {
    /// # Errors
    /// No memory for the tables of a method.
    fn ask(preset: &Preset, method: Method) -> Result<()> {
        let columns = match method {
            Method::Fft => return Ok(()),
            Method::Product => preset.n_fft as u64 / 2 + 1,
            Method::Melt { points } => (preset.mels as u64).saturating_mul(points as u64),
        };
        let rows = preset.window_length as u64 + 1 + preset.mels as u64;
        memory::ask(rows.saturating_mul(columns).saturating_mul(4), || {
            format!("{columns} sinusoids of {} samples", preset.window_length)
        })
    }

    /// A column for each bin.
    fn exact(preset: &Preset, filters: &Filters, window: &[f64]) -> Folded {
        let n = 2 * preset.n_fft;
        // pi k (2 j - 2 c) / N, reduced before it is a number.
        let angle = |k: usize, twice: usize| PI * ((k * twice) % n) as f64 / preset.n_fft as f64;
        let weight = |k: usize, band: usize| filters.weight(band, k);
        Folded::new(preset, window, filters.bins, &angle, &weight)
    }

    /// Columns for some frequencies in each triangle.
    fn melt(preset: &Preset, filters: &Filters, window: &[f64], points: usize) -> Folded {
        let mut frequencies = Vec::new();
        for band in 0..filters.len() {
            let [a, b, c] = [0, 1, 2].map(|corner| filters.corners[band + corner]);
            let places = (1..=points).map(|i| match points {
                1 => b,
                _ => a + (c - a) * i as f64 / (points + 1) as f64,
            });
            let triangle = |f: f64| ((f - a) / (b - a)).min((c - f) / (c - b));
            let whole: f64 = places.clone().map(triangle).sum();
            // White noise has the mean energy of the exact mode.
            let gain = filters.gain(band);
            frequencies.extend(places.map(|f| (f, gain * triangle(f) / whole)));
        }
        let angle = |column: usize, twice: usize| {
            let turns = frequencies[column].0 * twice as f64 / (2.0 * preset.rate);
            TAU * turns.fract()
        };
        let weight = |column: usize, band: usize| {
            if column / points == band { frequencies[column].1 } else { 0.0 }
        };
        Folded::new(preset, window, frequencies.len(), &angle, &weight)
    }

    /// `angle` of a column at twice a distance from the centre, `weight` of a column in a band.
    fn new(
        preset: &Preset,
        window: &[f64],
        columns: usize,
        angle: &dyn Fn(usize, usize) -> f64,
        weight: &dyn Fn(usize, usize) -> f64,
    ) -> Folded {
        let centre = preset.window.twice_centre(window.len());
        let pairs: Vec<(usize, usize)> =
            (centre.div_ceil(2)..=centre).map(|right| (centre - right, right)).collect();
        let (mut cosines, mut sines) = (Vec::new(), Vec::new());
        for &(left, right) in &pairs {
            for column in 0..columns {
                let angle = angle(column, 2 * right - centre);
                cosines.push((window[left] * Cos::at(angle)) as f32);
                sines.push((window[left] * Sin::at(angle)) as f32);
            }
        }
        let bands = preset.mels;
        let row = |column| (0..bands).map(move |band| weight(column, band) as f32);
        let weights = (0..columns).flat_map(row).collect();
        let (magnitude, tables) = (preset.magnitude, OnceLock::new());
        Folded { pairs, cosines, sines, columns, weights, bands, magnitude, tables }
    }

    /// Sums and differences of mirrored samples, in f32.
    fn fold(&self, frame: &[f64], sums: &mut [f32], differences: &mut [f32]) {
        let to = sums.iter_mut().zip(differences);
        for (&(left, right), (sum, difference)) in self.pairs.iter().zip(to) {
            let x = frame[left] as f32;
            let y = frame.get(right).map_or(0.0, |&y| y as f32);
            (*sum, *difference) = if left == right { (x, 0.0) } else { (y + x, y - x) };
        }
    }

    /// The same of all frames, (frames, pairs) each.
    ///
    /// # Errors
    /// No memory.
    pub(crate) fn frames(&self, frames: &Frames, length: usize) -> Result<[Array; 2]> {
        let shape = Shape::new([frames.count, self.pairs.len()])?;
        let (mut frame, depth) = (vec![0.0; length], self.pairs.len().max(1));
        let mut differences = memory::filled(shape.size(), 0.0, || "differences of frames".into())?;
        let sums = Array::build::<f32>(shape.clone(), |sums| {
            let rows = sums.chunks_exact_mut(depth).zip(differences.chunks_exact_mut(depth));
            for (at, (sums, differences)) in rows.enumerate() {
                frames.read(at, &mut frame);
                self.fold(&frame, sums, differences);
            }
        })?;
        Ok([sums, Array::from_slice(&differences, shape)?])
    }

    /// As arrays, which stay where they are, also on a device, as long as the plan.
    ///
    /// # Errors
    /// No memory.
    pub(crate) fn tables(&self) -> Result<&Tables> {
        if let Some(tables) = self.tables.get() {
            return Ok(tables.as_ref());
        }
        let made = Box::new(self.made_tables()?);
        Ok(self.tables.get_or_init(|| made).as_ref())
    }

    fn made_tables(&self) -> Result<Tables> {
        let table = |numbers: &[f32], rows, columns| {
            Array::from_slice(numbers, Shape::new([rows, columns])?)
        };
        let (pairs, columns) = (self.pairs.len(), self.columns);
        Ok(Tables {
            cosines: table(&self.cosines, pairs, columns)?,
            sines: table(&self.sines, pairs, columns)?,
            weights: table(&self.weights, columns, self.bands)?,
        })
    }

    /// Bands of the frames whose sums and differences these are.
    fn multiply(&self, engine: Engine, [sums, differences]: [&[f32]; 2], to: &mut [f32]) {
        let (depth, columns) = (self.pairs.len(), self.columns);
        let rows = sums.len() / depth;
        let mut power = vec![0.0; rows * columns];
        let mut other = vec![0.0; rows * columns];
        engine.times([rows, depth, columns], sums, &self.cosines, &mut power);
        engine.times([rows, depth, columns], differences, &self.sines, &mut other);
        power.iter_mut().zip(&other).for_each(|(c, s)| *c = *c * *c + s * s);
        if self.magnitude {
            power.iter_mut().for_each(|x| *x = x.sqrt());
        }
        times(engine.lanes(), [rows, columns, self.bands], &power, &self.weights, to);
    }

    /// How many products a sum of a sinusoid takes.
    pub(crate) fn depth(&self) -> usize {
        self.pairs.len()
    }

    /// The bands of products that are off as a bound says. A frame's products lie in a plane of cosine and
    /// sine; none moves there by more than the part of sum |x w| over its samples, cosines being at most 1. By the
    /// triangle inequality over a band's weights the root of its energy moves by that times the root of the
    /// weights' sum, and a sum of magnitudes by that times the sum.
    fn off(&self, bound: Bound, window: &[f64], [sums, differences]: [&[f32]; 2], to: &mut [f32]) {
        let (depth, bands) = (self.pairs.len(), self.bands);
        let mut weights = vec![0.0f64; bands];
        for row in self.weights.chunks_exact(bands) {
            weights.iter_mut().zip(row).for_each(|(sum, &w)| *sum += f64::from(w));
        }
        // The roundings of squares and bands on both sides, and of this function.
        let rounded = 4.0 * (self.columns as f64 + 8.0) * 2f64.powi(-24);
        // What subnormal numbers lose where an instruction takes them as zeros.
        let lost = depth as f64 * 2f64.powi(-124);
        let reach = |numbers: &[f32]| -> f64 {
            let each = numbers.iter().zip(&self.pairs);
            each.map(|(&x, &(left, _))| f64::from(x).abs() * window[left].abs()).sum()
        };
        let frames = sums.chunks_exact(depth).zip(differences.chunks_exact(depth));
        for ((sums, differences), to) in frames.zip(to.chunks_exact_mut(bands)) {
            let far = bound.part * reach(sums).hypot(reach(differences)) + lost;
            for (energy, &weight) in to.iter_mut().zip(&weights) {
                let e = f64::from(*energy);
                let moved = match (self.magnitude, bound.side) {
                    (true, Side::Least) => (e - far * weight).max(0.0),
                    (true, Side::Greatest) => e + far * weight,
                    (false, Side::Least) => (e.sqrt() - far * weight.sqrt()).max(0.0).powi(2),
                    (false, Side::Greatest) => (e.sqrt() + far * weight.sqrt()).powi(2),
                };
                *energy = match bound.side {
                    Side::Least => moved * (1.0 - rounded).max(0.0),
                    Side::Greatest => moved * (1.0 + rounded),
                } as f32;
            }
        }
    }
}
