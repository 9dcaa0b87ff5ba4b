//! Which samples a frame sees, and what is done to them before the window.

use crate::preset::{Count, Padding, Preset};
use crate::transform::{Eight, LINES};
use rung_base::{Error, ErrorKind, Result};
use rung_math::{Log, Unary};

/// The least energy whose logarithm is taken: 2^-23, as Kaldi has it.
pub const FLOOR: f64 = 1.192_092_9e-7;

/// Samples that are looked at together.
const FINITE: usize = 1024;

/// The frames of a signal, or of the part of it that is still held.
#[derive(Clone, Copy, Debug)]
pub struct Frames<'a> {
    preset: &'a Preset,
    /// The samples from `origin` on.
    samples: &'a [f32],
    origin: usize,
    /// How many.
    pub count: usize,
}

impl<'a> Frames<'a> {
    /// # Errors
    /// NaN or infinity in the samples, with their count and the first one's place; samples that are too
    /// few to be mirrored.
    pub fn new(preset: &'a Preset, samples: &'a [f32]) -> Result<Frames<'a>> {
        check(samples)?;
        check_length(preset, samples.len())?;
        Ok(Frames::held(preset, samples, 0))
    }

    /// The frames of a signal whose samples before `origin` are gone and are not needed any more.
    pub(crate) fn held(preset: &'a Preset, samples: &'a [f32], origin: usize) -> Frames<'a> {
        Frames { preset, samples, origin, count: count(preset, origin + samples.len()) }
    }

    /// The samples of frame `t` in f64, `window_length` of them, before the window; and the log energy
    /// of the frame less its mean.
    pub fn read(&self, t: usize, out: &mut [f64]) -> f64 {
        let preset = self.preset;
        let start = (t * preset.hop) as isize - left(preset);
        match self.inside(start, out.len()) {
            Some(samples) => out.iter_mut().zip(samples).for_each(|(out, &x)| *out = x.into()),
            None => {
                for (j, out) in out.iter_mut().enumerate() {
                    *out = self.sample(start + j as isize);
                }
            }
        }
        if preset.sample_scale != 1.0 {
            out.iter_mut().for_each(|x| *x *= preset.sample_scale);
        }
        if preset.remove_mean {
            let mean = out.iter().fold(0.0, |sum, x| sum + x) / out.len() as f64;
            out.iter_mut().for_each(|x| *x -= mean);
        }
        let energy = self.energy_of(out);
        if preset.preemphasis != 0.0 {
            let mut before = out[0];
            for x in out.iter_mut() {
                (before, *x) = (*x, *x - preset.preemphasis * before);
            }
        }
        energy
    }

    /// The log energy of a frame; 0 where the preset has no use for it.
    fn energy_of(&self, frame: &[f64]) -> f64 {
        if !self.preset.cepstra.energy {
            return 0.0;
        }
        Log::at(frame.iter().fold(0.0, |sum, x| sum + x * x).max(FLOOR))
    }

    /// The samples of eight frames from `from` on, where none lies outside and the preset leaves them as they
    /// are until the window.
    #[inline(always)]
    pub(crate) fn untouched(&self, from: usize, length: usize) -> Option<[&[f32]; LINES]> {
        let (preset, hop) = (self.preset, self.preset.hop);
        let changed = preset.sample_scale != 1.0 || preset.remove_mean || preset.preemphasis != 0.0;
        if changed || preset.cepstra.energy {
            return None;
        }
        let start = (from * hop) as isize - left(preset);
        let samples = self.inside(start, (LINES - 1) * hop + length)?;
        Some(std::array::from_fn(|line| &samples[line * hop..][..length]))
    }

    /// So many samples from a place on, where all of them are there.
    fn inside(&self, start: isize, length: usize) -> Option<&[f32]> {
        let first = usize::try_from(start).ok()?.checked_sub(self.origin)?;
        self.samples.get(first..first + length)
    }

    /// The sample at a place that may lie outside.
    fn sample(&self, at: isize) -> f64 {
        let n = (self.origin + self.samples.len()) as isize;
        let mut at = at;
        while !(0..n).contains(&at) {
            at = match self.preset.padding {
                Padding::Zero | Padding::None => return 0.0,
                Padding::Reflect if at < 0 => -at,
                Padding::Reflect => 2 * (n - 1) - at,
                Padding::Mirror if at < 0 => -1 - at,
                Padding::Mirror => 2 * n - 1 - at,
            };
        }
        self.samples[at as usize - self.origin].into()
    }
}

/// Eight frames side by side, each with the numbers that `Frames::read` gives.
pub(crate) struct Lines {
    /// (window_length, frames).
    pub samples: Vec<[f64; LINES]>,
    pub log_energy: [f64; LINES],
}

impl Lines {
    pub fn new(length: usize) -> Lines {
        Lines { samples: vec![[0.0; LINES]; length], log_energy: [0.0; LINES] }
    }

    /// Frames from `from` on, as many as `count` says and zeros beside them.
    #[inline(always)]
    pub fn read(&mut self, frames: &Frames, from: usize, count: usize) {
        let (preset, length) = (frames.preset, self.samples.len());
        let (hop, start) = (preset.hop, (from * preset.hop) as isize - left(preset));
        match frames.inside(start, (LINES - 1) * hop + length) {
            Some(samples) if count == LINES => {
                let rows: [&[f32]; LINES] =
                    std::array::from_fn(|line| &samples[line * hop..][..length]);
                for (j, to) in self.samples.iter_mut().enumerate() {
                    *to = std::array::from_fn(|line| f64::from(rows[line][j]));
                }
            }
            _ => {
                for (j, to) in self.samples.iter_mut().enumerate() {
                    let at = |line: usize| frames.sample(start + (line * hop + j) as isize);
                    *to = std::array::from_fn(|line| if line < count { at(line) } else { 0.0 });
                }
            }
        }
        self.prepare(preset);
    }

    /// The samples at a place times the window, rounded once; zeros behind it.
    #[inline(always)]
    pub fn windowed(&self, j: usize, window: &[f64]) -> Eight {
        match (self.samples.get(j), window.get(j)) {
            (Some(x), Some(w)) => Eight(std::array::from_fn(|line| (x[line] * w) as f32)),
            _ => Eight::default(),
        }
    }

    /// What comes before the window, step by step as `Frames::read` has it.
    #[inline(always)]
    fn prepare(&mut self, preset: &Preset) {
        let samples = &mut self.samples;
        if preset.sample_scale != 1.0 {
            samples.iter_mut().flatten().for_each(|x| *x *= preset.sample_scale);
        }
        if preset.remove_mean {
            let length = samples.len() as f64;
            let mean = sums(samples, |x| x).map(|sum| sum / length);
            samples.iter_mut().for_each(|x| *x = std::array::from_fn(|i| x[i] - mean[i]));
        }
        if preset.cepstra.energy {
            self.log_energy = sums(samples, |x| x * x).map(|sum| Log::at(sum.max(FLOOR)));
        }
        if preset.preemphasis != 0.0 {
            let mut before = samples[0];
            for x in samples.iter_mut() {
                let now = *x;
                *x = std::array::from_fn(|i| now[i] - preset.preemphasis * before[i]);
                before = now;
            }
        }
    }
}

/// What `Lines::windowed` gives of frames whose samples stay as they are: in one loop, without doubles of
/// all of them between.
#[inline(always)]
pub(crate) fn windowed(rows: [&[f32]; LINES], window: &[f64], to: &mut [Eight]) {
    let rows = rows.map(|row| &row[..window.len()]);
    let (inside, behind) = to.split_at_mut(window.len());
    for (j, (to, w)) in inside.iter_mut().zip(window).enumerate() {
        for (to, row) in to.0.iter_mut().zip(rows) {
            *to = (f64::from(row[j]) * w) as f32;
        }
    }
    behind.fill(Eight::default());
}

/// The sum of each frame, in order.
#[inline(always)]
fn sums(samples: &[[f64; LINES]], term: impl Fn(f64) -> f64) -> [f64; LINES] {
    let add = |sum: [f64; LINES], x: &[f64; LINES]| -> [f64; LINES] {
        std::array::from_fn(|i| sum[i] + term(x[i]))
    };
    samples.iter().fold([0.0; LINES], add)
}

/// How many frames `n` samples have.
pub fn count(preset: &Preset, n: usize) -> usize {
    let (hop, length) = (preset.hop, preset.window_length);
    match preset.padding {
        Padding::Zero | Padding::Reflect => match preset.count {
            Count::All => 1 + n / hop,
            Count::ButLast => n / hop,
        },
        Padding::None if n < length => 0,
        Padding::None => 1 + (n - length) / hop,
        Padding::Mirror if n == 0 => 0,
        Padding::Mirror => (n + hop / 2) / hop,
    }
}

/// From the first sample of a frame to where its hop stands.
pub(crate) fn left(preset: &Preset) -> isize {
    match preset.padding {
        Padding::None => 0,
        Padding::Mirror => preset.window_length as isize / 2 - preset.hop as isize / 2,
        // A short window stands in the middle of the transform's points.
        _ => (preset.n_fft / 2 - (preset.n_fft - preset.window_length) / 2) as isize,
    }
}

/// The middle of a frame in seconds.
pub fn time(preset: &Preset, t: usize) -> f64 {
    let middle = preset.window_length as f64 / 2.0 - left(preset) as f64;
    ((t * preset.hop) as f64 + middle) / preset.rate
}

/// How many samples outside a centred frame may see at each edge.
pub(crate) fn reach(preset: &Preset) -> usize {
    preset.n_fft / 2
}

/// # Errors
/// Samples that are too few to be mirrored.
pub(crate) fn check_length(preset: &Preset, n: usize) -> Result<()> {
    let reach = reach(preset);
    if preset.padding != Padding::Reflect || n > reach {
        return Ok(());
    }
    let wanted = format!("mirroring {reach} samples at each edge needs more than as many");
    let error = Error::wanted(ErrorKind::Argument, wanted, n);
    Err(error.hint("pad zero takes any number; Whisper's 30 s are window30"))
}

/// # Errors
/// NaN or infinity, with how many there are and where the first is.
pub(crate) fn check(samples: &[f32]) -> Result<()> {
    match first_wrong(samples) {
        None => Ok(()),
        Some(first) => {
            let wrong = samples.iter().filter(|x| !x.is_finite()).count();
            let got = format!("{} at {first}, {wrong} in all", samples[first]);
            Err(not_finite(got))
        }
    }
}

/// Where the first is that is NaN or infinite.
pub(crate) fn first_wrong(samples: &[f32]) -> Option<usize> {
    // A whole line of them at a time, as vectors: a search for the first took as long as a transform.
    let are_finite = |line: &[f32]| line.iter().fold(true, |all, x| all & x.is_finite());
    if samples.chunks(FINITE).all(are_finite) {
        return None;
    }
    samples.iter().position(|x| !x.is_finite())
}

pub(crate) fn not_finite(got: String) -> Error {
    Error::wanted(ErrorKind::Argument, "samples must be finite", got)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn preset(name: &str) -> Preset {
        Preset::named(name).unwrap()
    }

    #[test]
    fn as_many_frames_as_the_packages_have() {
        let samples = vec![0.0; 113_600];
        let count = |preset: &Preset, n: usize| Frames::new(preset, &samples[..n]).unwrap().count;
        assert_eq!(count(&preset("whisper-80"), 113_600), 710);
        assert_eq!(count(&preset("kaldi"), 113_600), 708);
        assert_eq!(count(&Preset { padding: Padding::Mirror, ..preset("kaldi") }, 113_600), 710);
        assert_eq!(count(&preset("kaldi"), 399), 0);
        assert_eq!(count(&preset("librosa"), 0), 1);
        assert_eq!(count(&preset("torchaudio"), 401), 3);
    }

    #[test]
    fn edges_are_mirrored_as_the_padding_says() {
        let samples: Vec<f32> = (0..300).map(|i| i as f32).collect();
        let first = |preset: &Preset, t: usize| {
            let mut out = vec![0.0; preset.window_length];
            Frames::new(preset, &samples).unwrap().read(t, &mut out);
            out
        };
        let torch = preset("torchaudio");
        assert_eq!(first(&torch, 0)[..3], [200.0, 199.0, 198.0]);
        assert_eq!(first(&torch, 1)[299..302], [299.0, 298.0, 297.0]);
        let zeros = Preset { padding: Padding::Zero, ..torch };
        assert_eq!(first(&zeros, 0)[198..202], [0.0, 0.0, 0.0, 1.0]);
        let plain =
            Preset { remove_mean: false, preemphasis: 0.0, sample_scale: 1.0, ..preset("kaldi") };
        let mirrored = Preset { padding: Padding::Mirror, ..plain };
        assert_eq!(first(&mirrored, 0)[119..122], [0.0, 0.0, 1.0]);
    }

    #[test]
    fn what_cannot_be_framed_is_refused() {
        let torch = preset("torchaudio");
        let told = |samples: &[f32]| Frames::new(&torch, samples).unwrap_err().to_string();
        assert!(told(&[0.0; 200]).contains("more than as many: got 200"));
        let mut broken = vec![0.0; 500];
        (broken[7], broken[9]) = (f32::NAN, f32::INFINITY);
        assert!(told(&broken).contains("got NaN at 7, 2 in all"));
    }

    #[test]
    fn kaldis_steps_come_before_the_window() {
        let kaldi = preset("kaldi");
        let samples: Vec<f32> = (0..400).map(|i| if i == 0 { 1.0 } else { 0.0 }).collect();
        let mut out = vec![0.0; 400];
        let log_energy = Frames::new(&kaldi, &samples).unwrap().read(0, &mut out);
        let (mean, rest) = (32_768.0 / 400.0, 32_768.0 - 32_768.0 / 400.0);
        assert!((out[0] - 0.03 * rest).abs() < 1e-9);
        assert!((out[1] - (-mean - 0.97 * rest)).abs() < 1e-9);
        let energy: f64 = rest * rest + 399.0 * mean * mean;
        assert!((log_energy - energy.ln()).abs() < 1e-12);
    }
}
