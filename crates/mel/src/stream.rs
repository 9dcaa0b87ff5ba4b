//! Frames as sound arrives: any cutting of the samples gives the bits of one call over all of them.
//!
//! Held are the samples that the next frame begins with, so that memory does not grow: at most
//! n_fft + hop of them beside what was fed last. A frame comes when its last sample is there; the delay
//! is the part of the window behind its middle (`delay`). Frames that see the right edge come in `finish`.
//! What needs the largest value of all (Whisper's clamp, decibels with a floor) comes before that step, and
//! `finish` gives what the step needs. Where the clamp looks at windows, frames are held until theirs is
//! whole, and come as they are to be.

use crate::energy::Plan;
use crate::engine::Engine;
use crate::frames::{self, Frames};
use crate::preset::{Count, Padding};
use crate::spectrogram::largest;
use rung_base::{Error, ErrorKind, Result};
use rung_lanes::Lanes;
use std::sync::Arc;

/// Numbers of a state before its samples.
const PLACES: usize = 3;

/// Up to here every whole number is a double.
const FARTHEST: f64 = 9_007_199_254_740_992.0;

const OTHER: &str = "state is not what a stream of these rules gave";
const SAME: &str = "it is the second value of the call before, with the same preset and fields";

/// A signal whose end is not known.
#[derive(Clone, Debug)]
pub struct Stream {
    plan: Arc<Plan>,
    held: Vec<f32>,
    /// The place of the first sample that is held.
    origin: usize,
    /// Frames that were computed; all of them were given but those of the open window.
    given: usize,
    largest: f32,
    /// (frames, bands) of the window that is not whole, before its clamp; none where it has none.
    open: Vec<f32>,
}

/// What a stream ends with.
#[derive(Clone, Debug, PartialEq)]
pub struct End {
    /// (frames, bands): the frames that saw the right edge.
    pub rows: Vec<f32>,
    /// The largest value of the whole signal before the last step: for `Value::last` over all rows, where
    /// the preset `needs_the_largest`.
    pub largest: f32,
}

impl Stream {
    pub fn new(plan: Arc<Plan>) -> Stream {
        let largest = f32::NEG_INFINITY;
        Stream { plan, held: Vec::new(), origin: 0, given: 0, largest, open: Vec::new() }
    }

    /// Samples behind a frame's middle that have to be there before it comes, at most: half a window, and
    /// the later frames of a window that the clamp looks at.
    pub fn delay(plan: &Plan) -> usize {
        let preset = &plan.preset;
        let half = preset.window_length - preset.window_length / 2;
        let mirrored = match preset.padding {
            Padding::Reflect => frames::reach(preset) + 1,
            _ => 0,
        };
        let counted = if preset.count == Count::ButLast { preset.hop } else { 0 };
        let window = preset.clamped().map_or(0, |frames| (frames - 1).saturating_mul(preset.hop));
        window.saturating_add(half.max(counted)).max(mirrored)
    }

    /// A stream that goes on from what `state` gave.
    ///
    /// # Errors
    /// Numbers that no stream of this plan gives: too few of them, places and samples that are none, or
    /// samples missing that the next frame begins with.
    pub fn resumed(plan: Arc<Plan>, state: &[f64]) -> Result<Stream> {
        let wanted = || Error::new(ErrorKind::Argument, OTHER).hint(SAME);
        let place =
            |x: f64| (x.fract() == 0.0 && (0.0..=FARTHEST).contains(&x)).then_some(x as usize);
        let [origin, given, largest, held @ ..] = state else { return Err(wanted()) };
        let (Some(origin), Some(given)) = (place(*origin), place(*given)) else {
            return Err(wanted());
        };
        let open = plan.preset.clamped().map_or(0, |frames| given % frames);
        let open = open.saturating_mul(plan.filters.len());
        let numbers: Vec<f32> = held.iter().map(|&x| x as f32).collect();
        if largest.is_nan() || open > numbers.len() || numbers.iter().any(|x| !x.is_finite()) {
            return Err(wanted());
        }
        let (open, held) = (numbers[..open].to_vec(), numbers[open..].to_vec());
        let stream = Stream { plan, held, origin, given, largest: *largest as f32, open };
        let n = stream.length();
        if given > stream.whole(n) || origin > stream.first_needed(given, n) {
            return Err(wanted());
        }
        Ok(stream)
    }

    /// What `resumed` takes: the place of the first sample that is held, how many frames were computed,
    /// the largest value so far, the bands of the open window, and the samples.
    pub fn state(&self) -> Vec<f64> {
        let places = [self.origin as f64, self.given as f64, self.largest.into()];
        let numbers = self.open.iter().chain(&self.held).map(|&x| x.into());
        places.into_iter().chain(numbers).collect()
    }

    /// The largest value so far, negative infinity without a frame.
    pub fn largest(&self) -> f32 {
        self.largest
    }

    /// How many frames `n` samples more complete, with those of `finish` where the signal `ends`; and the
    /// length of the state then.
    ///
    /// # Errors
    /// Fewer samples in all than mirroring takes.
    pub fn after(&self, n: usize, ends: bool) -> Result<(usize, usize)> {
        let n = self.length() + n;
        if ends {
            frames::check_length(&self.plan.preset, n)?;
            let count = frames::count(&self.plan.preset, n).max(self.given);
            return Ok((count - self.closed(self.given), PLACES));
        }
        let given = self.whole(n).max(self.given);
        let open = (given - self.closed(given)) * self.plan.filters.len();
        let held = n - self.first_needed(given, n).max(self.origin);
        Ok((self.closed(given) - self.closed(self.given), PLACES + open + held))
    }

    /// Of so many frames those whose window is whole.
    fn closed(&self, frames: usize) -> usize {
        self.plan.preset.clamped().map_or(frames, |window| frames / window * window)
    }

    /// Samples so far.
    fn length(&self) -> usize {
        self.origin + self.held.len()
    }

    /// (frames, bands) of the frames that these samples made whole.
    ///
    /// # Errors
    /// NaN or infinity in the samples, none of which is taken then.
    pub fn feed(&mut self, lanes: Option<&Lanes>, samples: &[f32]) -> Result<Vec<f32>> {
        self.feed_by(lanes.into(), samples)
    }

    /// The same by any engine.
    ///
    /// # Errors
    /// As `feed`.
    pub fn feed_by(&mut self, engine: Engine, samples: &[f32]) -> Result<Vec<f32>> {
        frames::check(samples)?;
        self.held.extend_from_slice(samples);
        let rows = self.rows(engine, self.whole(self.length()))?;
        self.forget();
        Ok(rows)
    }

    /// The rest; the stream begins anew.
    ///
    /// # Errors
    /// Fewer samples than mirroring takes.
    pub fn finish(&mut self, lanes: Option<&Lanes>) -> Result<End> {
        self.finish_by(lanes.into())
    }

    /// The same by any engine.
    ///
    /// # Errors
    /// As `finish`.
    pub fn finish_by(&mut self, engine: Engine) -> Result<End> {
        let n = self.length();
        frames::check_length(&self.plan.preset, n)?;
        let mut rows = self.rows(engine, frames::count(&self.plan.preset, n))?;
        rows.extend(self.clamped(self.open.len()));
        let largest = self.largest;
        *self = Stream::new(self.plan.clone());
        Ok(End { rows, largest })
    }

    /// How many frames lie before the right edge of `n` samples.
    fn whole(&self, n: usize) -> usize {
        let preset = &self.plan.preset;
        if preset.padding == Padding::Reflect && n <= frames::reach(preset) {
            return 0;
        }
        // The last sample of frame t is t hop - left + length - 1.
        let behind = preset.window_length as isize - frames::left(preset);
        let inside = n as isize - behind;
        let whole = if inside < 0 { 0 } else { inside as usize / preset.hop + 1 };
        // A mirrored left edge waits for the samples that it shows.
        let mirrored = preset.padding == Padding::Mirror && (n as isize) < frames::left(preset);
        if mirrored { 0 } else { whole.min(frames::count(preset, n)) }
    }

    /// The values of the frames up to `end`, as far as they need no others.
    fn rows(&mut self, engine: Engine, end: usize) -> Result<Vec<f32>> {
        let plan = self.plan.clone();
        let frames = Frames::held(&plan.preset, &self.held, self.origin);
        let mut energies = plan.of_frames(engine, &frames, self.given..end.max(self.given))?;
        plan.preset.value.first(engine.lanes(), &mut energies.bands);
        self.largest = self.largest.max(largest(&energies.bands));
        let before = self.given;
        self.given = end.max(self.given);
        if self.plan.preset.clamped().is_none() {
            return Ok(energies.bands);
        }
        self.open.extend_from_slice(&energies.bands);
        let count = self.closed(self.given) - self.closed(before);
        Ok(self.clamped(count * self.plan.filters.len()))
    }

    /// So many numbers of the open window and of those behind it, which are whole now.
    fn clamped(&mut self, count: usize) -> Vec<f32> {
        let mut rows: Vec<f32> = self.open.drain(..count).collect();
        if let Some(frames) = self.plan.preset.clamped() {
            self.plan.clamp_windows(&mut rows, frames);
        }
        rows
    }

    /// Lets go of the samples before the next frame.
    fn forget(&mut self) {
        let next = self.first_needed(self.given, self.length()).max(self.origin);
        self.held.drain(..next - self.origin);
        self.origin = next;
    }

    /// The first of `n` samples that is still needed when so many frames were given: the next frame's, or
    /// the first that a mirrored right edge shows.
    fn first_needed(&self, given: usize, n: usize) -> usize {
        let preset = &self.plan.preset;
        let next = (given * preset.hop) as isize - frames::left(preset);
        let next = next.min(n as isize - preset.window_length as isize);
        usize::try_from(next).unwrap_or(0).min(n)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Method;
    use crate::noise::noise;
    use crate::preset::{Clamp, PRESETS, Preset};

    /// (frames, bands) of one call.
    fn whole(plan: &Plan, samples: &[f32]) -> Vec<u32> {
        let table = plan.spectrogram(None, samples, None).unwrap();
        let [rows, columns] = table.shape;
        let at = |frame: usize, band: usize| match plan.preset.frames_first {
            true => table.numbers[frame * columns + band],
            false => table.numbers[band * columns + frame],
        };
        let (frames, bands) =
            if plan.preset.frames_first { (rows, columns) } else { (columns, rows) };
        let cells = (0..frames).flat_map(|frame| (0..bands).map(move |band| (frame, band)));
        cells.map(|(frame, band)| at(frame, band).to_bits()).collect()
    }

    fn streamed(plan: &Arc<Plan>, samples: &[f32], cuts: &[usize]) -> (Vec<u32>, usize) {
        let mut stream = Stream::new(plan.clone());
        let (mut rows, mut rest, mut held) = (Vec::new(), samples, 0);
        for &cut in cuts.iter().cycle() {
            if rest.is_empty() {
                break;
            }
            let (piece, behind) = rest.split_at(cut.min(rest.len()));
            stream = Stream::resumed(plan.clone(), &stream.state()).unwrap();
            let (count, length) = stream.after(piece.len(), false).unwrap();
            let came = stream.feed(None, piece).unwrap();
            assert_eq!((came.len(), stream.state().len()), (count * plan.preset.mels, length));
            rows.extend(came);
            held = held.max(stream.held.len());
            rest = behind;
        }
        let (count, _) = stream.after(0, true).unwrap();
        let end = stream.finish(None).unwrap();
        assert_eq!(end.rows.len(), count * plan.preset.mels);
        rows.extend(end.rows);
        if plan.preset.needs_the_largest() {
            plan.preset.value.last(&mut rows, end.largest);
        }
        (rows.iter().map(|x| x.to_bits()).collect(), held)
    }

    #[test]
    fn any_cutting_has_the_bits_of_one_call() {
        let samples = noise(3001);
        let small =
            |preset: &Preset| Preset { mels: 5, n_fft: 64, window_length: 50, hop: 20, ..*preset };
        for preset in PRESETS.iter().map(small) {
            for padding in [Padding::Zero, Padding::Reflect, Padding::None, Padding::Mirror] {
                let preset = Preset { padding, ..preset };
                // Frames that end where the signal does.
                let halves = Preset { hop: 25, ..preset };
                for (preset, method) in [(halves, Method::Fft)].into_iter().chain(
                    [Method::Fft, Method::Product, Method::Melt { points: 2 }]
                        .map(|method| (preset, method)),
                ) {
                    let plan = Arc::new(Plan::new(preset, Some(method)).unwrap());
                    for n in [33, 49, 50, 64, 65, 400, 1001] {
                        let wanted = whole(&plan, &samples[..n]);
                        for cuts in [&[1][..], &[7, 0, 160], &[n], &[31, 33]] {
                            let (got, _) = streamed(&plan, &samples[..n], cuts);
                            assert_eq!(
                                got, wanted,
                                "{} {padding:?} {method:?} {n} {cuts:?}",
                                preset.name
                            );
                        }
                    }
                }
            }
        }
    }

    /// Windows of 7 frames: a rate at which 30 s have so many samples.
    fn windows() -> Preset {
        let whisper = Preset::named("whisper-80").unwrap();
        let small = Preset { mels: 5, n_fft: 64, window_length: 50, hop: 20, ..whisper };
        Preset { rate: 140.0 / 30.0, range: (0.0, 0.0), clamp: Clamp::Window, ..small }
    }

    #[test]
    fn windows_are_clamped_each_for_itself_whatever_the_cutting() {
        // The second half is 10^-5 of the first in amplitude, 10^-10 in power.
        let loud = noise(1001);
        let samples: Vec<f32> =
            loud.iter().enumerate().map(|(i, x)| if i < 500 { *x } else { x * 1e-5 }).collect();
        let preset = windows();
        let plan = Arc::new(Plan::new(preset, Some(Method::Product)).unwrap());
        assert_eq!(preset.clamped(), Some(7));
        for n in [33, 140, 141, 400, 1001] {
            let wanted = whole(&plan, &samples[..n]);
            for cuts in [&[1][..], &[7, 0, 160], &[n], &[31, 33]] {
                assert_eq!(streamed(&plan, &samples[..n], cuts).0, wanted, "{n} {cuts:?}");
            }
        }
        // Each window has the values that its own largest gives.
        let unclamped = Preset { clamp: Clamp::End, ..preset };
        let other = Plan::new(unclamped, Some(Method::Product)).unwrap();
        let mut rows = other.energies(None, &samples).unwrap().bands;
        preset.value.first(None, &mut rows);
        for window in rows.chunks_mut(7 * 5) {
            preset.value.last(window, largest(window));
        }
        let bits: Vec<u32> = rows.iter().map(|x| x.to_bits()).collect();
        assert_eq!(bits, whole(&plan, &samples));
        assert_ne!(bits, whole(&other, &samples));
    }

    #[test]
    fn no_frame_comes_later_than_the_delay_and_one_comes_as_late() {
        let samples = noise(3001);
        let with = |preset: &Preset| Preset { mels: 5, hop: 20, ..*preset };
        let small = |preset: &Preset| Preset { n_fft: 64, window_length: 50, ..with(preset) };
        let whole = |preset: &Preset| Preset { n_fft: 50, window_length: 50, ..with(preset) };
        let presets = PRESETS.iter().map(small).chain(PRESETS.iter().map(whole));
        for preset in presets.chain([windows()]) {
            let plan = Arc::new(Plan::new(preset, Some(Method::Product)).unwrap());
            let (mut stream, mut frame, mut latest) = (Stream::new(plan.clone()), 0, 0.0f64);
            for (at, x) in samples.iter().enumerate() {
                let count = stream.feed(None, &[*x]).unwrap().len() / 5;
                for t in frame..frame + count {
                    let middle = frames::time(&preset, t) * preset.rate;
                    latest = latest.max((at + 1) as f64 - middle);
                }
                frame += count;
            }
            let delay = Stream::delay(&plan) as f64;
            assert!((latest - delay).abs() < 1e-6, "{}: {latest}, not {delay}", preset.name);
        }
    }

    #[test]
    fn memory_does_not_grow_with_the_signal() {
        let samples = noise(20_000);
        for preset in PRESETS {
            let plan = Arc::new(Plan::new(*preset, Some(Method::Fft)).unwrap());
            let (_, held) = streamed(&plan, &samples, &[160]);
            assert!(held <= preset.n_fft + preset.hop + 160, "{}: {held}", preset.name);
        }
    }

    #[test]
    fn a_stream_refuses_what_one_call_refuses_and_goes_on() {
        let plan =
            Arc::new(Plan::new(Preset::named("whisper-80").unwrap(), Some(Method::Fft)).unwrap());
        let mut stream = Stream::new(plan);
        assert!(stream.feed(None, &[0.0, f32::NAN]).is_err());
        assert!(stream.feed(None, &[0.0; 100]).unwrap().is_empty());
        let error = stream.finish(None).unwrap_err().to_string();
        assert!(error.ends_with("got 100"), "{error}");
    }

    #[test]
    fn a_state_of_other_rules_or_of_nobody_is_refused() {
        let plan = |name| {
            let preset = Preset { rate: 16_000.0, ..Preset::named(name).unwrap() };
            Arc::new(Plan::new(preset, Some(Method::Fft)).unwrap())
        };
        let (whisper, librosa) = (plan("whisper-80"), plan("librosa"));
        let mut stream = Stream::new(whisper.clone());
        stream.feed(None, &noise(2000)).unwrap();
        let good = stream.state();
        assert!(Stream::resumed(whisper.clone(), &good).is_ok());
        assert!(Stream::resumed(librosa, &good).is_err());
        let with = |at: usize, x: f64| {
            let mut state = good.clone();
            state[at] = x;
            Stream::resumed(whisper.clone(), &state).is_err()
        };
        for x in [-1.0, 0.5, f64::NAN, f64::INFINITY, 1e300, good[0] + 1e15] {
            assert!(with(0, x) && with(1, x), "{x}");
        }
        assert!(with(2, f64::NAN) && with(3, f64::NAN) && with(3, 1e300));
        assert!(Stream::resumed(whisper.clone(), &good[..2]).is_err());
        assert!(Stream::resumed(whisper, &[]).is_err());
    }
}
