//! Another rate: rational polyphase interpolation by a sinc under Kaiser's window (1974).
//!
//! The filter passes up to 0.9 of the lower of both Nyquist frequencies and is 90 dB down from there on;
//! its delay is taken off, and n samples become ceil(n up / down). Sums are in f64, taps ascending, so a
//! result has the same bits on every machine.

use rung_base::{Error, ErrorKind, Result, memory};
use rung_math::{Sin, Unary};
use std::f64::consts::PI;

/// Where the pass band ends and the stop band begins, of the lower Nyquist frequency.
const PASS: f64 = 0.9;
/// Decibels, some more than are promised: Kaiser's formula is a fit.
const DOWN: f64 = 94.0;

/// The most that a rate may be divided into, which bounds the filter: 2^17 or some 15 million taps.
const MOST: u64 = 1 << 17;

/// A filter for one ratio.
#[derive(Clone, Debug)]
pub struct Resampler {
    up: usize,
    down: usize,
    /// An odd number of them, symmetric, their sum `up`.
    taps: Vec<f64>,
}

impl Resampler {
    /// Rates in Hz.
    ///
    /// # Errors
    /// Rates that are no whole numbers above 0, or whose ratio takes larger ones than the filter has
    /// room for.
    pub fn new(from: f64, to: f64) -> Result<Resampler> {
        let is_whole = |rate: f64| (1.0..=1e9).contains(&rate) && rate.fract() == 0.0;
        if !is_whole(from) || !is_whole(to) {
            let text = "rates to resample between are whole numbers of Hz";
            let e = Error::wanted(ErrorKind::Argument, text, format!("{from} and {to}"));
            return Err(e.hint("rate 16000, say, in samples a second"));
        }
        let (from, to) = (from as u64, to as u64);
        let common = divisor(from, to);
        let (up, down) = (to / common, from / common);
        if up.max(down) > MOST {
            let text = format!("the ratio of two rates takes numbers up to {MOST}");
            let got = format!("{up} to {down}, of {to} and {from} Hz");
            return Err(Error::wanted(ErrorKind::Argument, text, got).hint("another rate near it"));
        }
        let (up, down) = (up as usize, down as usize);
        Ok(Resampler { up, down, taps: taps(up, down) })
    }

    /// How many samples `n` become.
    pub fn length(&self, n: usize) -> usize {
        (n as u64 * self.up as u64).div_ceil(self.down as u64) as usize
    }

    /// The samples at the new rate.
    ///
    /// # Errors
    /// No memory for them.
    pub fn run(&self, samples: &[f32]) -> Result<Vec<f32>> {
        if self.up == self.down {
            return memory::collected(samples.iter().copied(), || "the same samples".into());
        }
        let count = self.length(samples.len());
        let sample = |at| self.sample(samples, 0, at);
        memory::collected((0..count).map(sample), || lack(count))
    }

    /// One of them, of samples of which the first that is held stands at `origin`: samples stand `up`
    /// apart, zeros between them.
    fn sample(&self, held: &[f32], origin: usize, at: usize) -> f32 {
        let place = self.place(at);
        let last = (place / self.up).min((origin + held.len()).saturating_sub(1));
        let mut sum = 0.0;
        for i in (self.first(at)..=last).rev() {
            sum += self.taps[place - i * self.up] * f64::from(held[i - origin]);
        }
        sum as f32
    }

    /// Tap k of the filter meets this place less k.
    fn place(&self, at: usize) -> usize {
        at * self.down + self.taps.len() / 2
    }

    /// The first sample that the filter meets.
    fn first(&self, at: usize) -> usize {
        self.place(at).saturating_sub(self.taps.len() - 1).div_ceil(self.up)
    }
}

fn lack(count: usize) -> String {
    format!("{count} samples at the new rate")
}

/// The samples at the new rate as the old ones come: any cutting has the bits of the whole. Held are as
/// many samples as the filter covers, beside those that came last.
#[derive(Clone, Debug)]
pub struct Resampling {
    resampler: Resampler,
    held: Vec<f32>,
    /// The place of the first sample that is held.
    origin: usize,
    /// Samples that were given.
    given: usize,
}

impl Resampling {
    pub fn new(resampler: Resampler) -> Resampling {
        Resampling { resampler, held: Vec::new(), origin: 0, given: 0 }
    }

    /// What these samples complete.
    ///
    /// # Errors
    /// No memory for them.
    pub fn feed(&mut self, samples: &[f32]) -> Result<Vec<f32>> {
        let Resampler { up, down, ref taps } = self.resampler;
        self.held.extend_from_slice(samples);
        let n = self.origin + self.held.len();
        // The last sample that the filter meets is there: place(at) < n up.
        let end = (n * up).saturating_sub(taps.len() / 2).div_ceil(down);
        self.up_to(end.max(self.given))
    }

    /// The rest: zeros follow the last sample.
    ///
    /// # Errors
    /// No memory for it.
    pub fn finish(&mut self) -> Result<Vec<f32>> {
        self.up_to(self.resampler.length(self.origin + self.held.len()))
    }

    fn up_to(&mut self, end: usize) -> Result<Vec<f32>> {
        let (resampler, held, origin) = (&self.resampler, &self.held, self.origin);
        let new = (self.given..end).map(|at| resampler.sample(held, origin, at));
        let new = memory::collected(new, || lack(end - self.given))?;
        self.given = end;
        let passed = self.resampler.first(end).saturating_sub(self.origin).min(self.held.len());
        self.held.drain(..passed);
        self.origin += passed;
        Ok(new)
    }
}

fn divisor(a: u64, b: u64) -> u64 {
    if b == 0 { a } else { divisor(b, a % b) }
}

fn taps(up: usize, down: usize) -> Vec<f64> {
    let most = up.max(down) as f64;
    if up == down {
        return vec![1.0];
    }
    // Kaiser's length and shape for a transition of (1 - PASS) pi / most.
    let half = ((DOWN - 7.95) / (2.285 * 2.0 * (1.0 - PASS) * PI / most)).ceil() as usize;
    let beta = 0.1102 * (DOWN - 8.7);
    let edge = (PASS + 1.0) / 2.0 / most;
    let tap = |k: usize| {
        let x = k as f64 - half as f64;
        let turn = PI * edge * x;
        let sinc = if x == 0.0 { 1.0 } else { Sin::at(turn) / turn };
        let side = x / half as f64;
        sinc * bessel(beta * (1.0 - side * side).max(0.0).sqrt())
    };
    let mut taps: Vec<f64> = (0..=2 * half).map(tap).collect();
    let scale = up as f64 / taps.iter().sum::<f64>();
    taps.iter_mut().for_each(|tap| *tap *= scale);
    taps
}

/// The modified Bessel function of the first kind of order 0, by its series: terms fall from x / 2 on.
fn bessel(x: f64) -> f64 {
    let (mut sum, mut term, mut k) = (1.0, 1.0, 1.0);
    while term > sum * 1e-17 {
        term *= (x / (2.0 * k)) * (x / (2.0 * k));
        sum += term;
        k += 1.0;
    }
    sum
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::f64::consts::TAU;

    /// scipy 1.17's `resample_poly` with these taps over a sweep of 40 samples.
    #[test]
    fn samples_are_those_of_scipy() {
        let at = |i: usize| (0.02 * (i * i) as f64).sin() as f32;
        let sweep: Vec<f32> = (0..40).map(at).collect();
        for (from, to, known) in KNOWN {
            let got = Resampler::new(*from, *to).unwrap().run(&sweep).unwrap();
            assert_eq!(got.len(), known.0, "{from} {to}");
            for (at, want) in known.1 {
                assert!((got[*at] - want).abs() < 2e-7, "{from} {to} {at}: {} {want}", got[*at]);
            }
        }
    }

    type Known = (f64, f64, (usize, &'static [(usize, f32)]));

    const KNOWN: &[Known] = &[
        (
            48000.0,
            16000.0,
            (
                14,
                &[
                    (0, 0.031475432),
                    (1, 0.12983443),
                    (7, 0.26362354),
                    (12, -0.068811454),
                    (13, -0.15338682),
                ],
            ),
        ),
        (
            44100.0,
            16000.0,
            (
                15,
                &[
                    (0, 0.025432134),
                    (1, 0.13247037),
                    (7, 1.0408603),
                    (13, -0.120930426),
                    (14, -0.056301113),
                ],
            ),
        ),
        (
            16000.0,
            22050.0,
            (
                56,
                &[
                    (0, -4.4408393e-5),
                    (1, 0.010855429),
                    (28, 0.9216405),
                    (54, -0.682175),
                    (55, -0.056605555),
                ],
            ),
        ),
    ];

    #[test]
    fn the_filter_passes_and_stops_as_said() {
        for (from, to) in [(48_000.0, 16_000.0), (44_100.0, 16_000.0), (8000.0, 16_000.0)] {
            let resampler = Resampler::new(from, to).unwrap();
            let Resampler { up, taps, .. } = &resampler;
            let most = (from.max(to) / from.min(to)).max(*up as f64);
            let lower = from.min(to) / 2.0 / (from * *up as f64);
            assert!(most >= 1.0);
            let gain = |turns: f64| {
                let term = |(k, tap): (usize, &f64)| {
                    tap * (TAU * turns * (k as f64 - (taps.len() / 2) as f64)).cos()
                };
                taps.iter().enumerate().map(term).sum::<f64>() / *up as f64
            };
            for i in 0..=20 {
                let pass = gain(0.9 * lower * f64::from(i) / 20.0);
                assert!((pass - 1.0).abs() < 1e-4, "{from} {to}: {pass}");
                let stop = gain(lower + (0.5 - lower) * f64::from(i) / 20.0);
                assert!(stop.abs() < 10f64.powf(-90.0 / 20.0), "{from} {to} {i}: {stop}");
            }
        }
    }

    #[test]
    fn any_cutting_has_the_bits_of_the_whole_and_little_is_held() {
        let samples = crate::noise::noise(3000);
        for (from, to) in [(48_000.0, 16_000.0), (44_100.0, 16_000.0), (8000.0, 22_050.0)] {
            let resampler = Resampler::new(from, to).unwrap();
            for (n, piece) in [(0, 1), (1, 1), (2, 5), (700, 1), (3000, 7), (3000, 999)] {
                let whole = resampler.run(&samples[..n]).unwrap();
                let mut resampling = Resampling::new(resampler.clone());
                let mut got = Vec::new();
                for piece in samples[..n].chunks(piece) {
                    got.extend(resampling.feed(piece).unwrap());
                    let covered = resampler.taps.len() / resampler.up + 2;
                    assert!(resampling.held.len() <= covered + resampler.down, "{from} {to}");
                }
                got.extend(resampling.finish().unwrap());
                let bits = |all: &[f32]| all.iter().map(|x| x.to_bits()).collect::<Vec<u32>>();
                assert_eq!(bits(&got), bits(&whole), "{from} {to} {n} {piece}");
            }
        }
    }

    #[test]
    fn lengths_round_up_and_odd_rates_are_refused() {
        let length =
            |from, to, n| Resampler::new(from, to).unwrap().run(&vec![0.5; n]).unwrap().len();
        assert_eq!(length(48_000.0, 16_000.0, 10), 4);
        assert_eq!(length(16_000.0, 48_000.0, 3), 9);
        assert_eq!(length(44_100.0, 16_000.0, 0), 0);
        assert_eq!(length(16_000.0, 16_000.0, 5), 5);
        let told = |from, to| Resampler::new(from, to).unwrap_err().to_string();
        assert!(told(16_000.0, 0.0).contains("got 16000 and 0"));
        assert!(told(22_050.5, 16_000.0).contains("whole numbers"));
        assert!(told(999_983.0, 16_000.0).contains("16000 to 999983"));
    }
}
