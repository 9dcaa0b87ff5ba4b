//! `rung tune`: measures this machine's costs (spec acceleration 4.3): unit times of the lanes,
//! what a parallel region costs and from which sizes threads help, products on a library beside
//! the lanes, and a device's floor, link and unit times.
//!
//! Every number is the median of nine samples after the clocks were warmed; what is compared is
//! measured in turn. Nothing here is asked during a run. How a measurement is kept is in
//! `costs::file`.

mod device;
mod lanes;
mod library;

use crate::costs::key::Key;
use crate::costs::{Costs, LibraryCosts};
use rung_device::Device;
use rung_lanes::{Lanes, Level};
use rung_library::Library;
use std::sync::Arc;
use std::time::{Duration, Instant};

/// Samples of which the median counts.
const SAMPLES: usize = 9;
/// How long the clocks are warmed.
const WARM: Duration = Duration::from_millis(200);

/// What is to be measured.
pub struct Plan<'a> {
    pub threads: usize,
    /// Each is measured beside the lanes and has an entry of its own.
    pub libraries: &'a [Library],
    pub device: Option<&'a Arc<dyn Device>>,
    /// A quarter of the time.
    pub quick: bool,
}

/// Called with what is measured now and how much is done, 0 to 1.
pub type Progress<'a> = &'a mut dyn FnMut(&str, f64);

/// Measures everything in the plan: one entry without a library, and one for each library.
pub fn measure(plan: &Plan, progress: Progress) -> Vec<(Key, Costs)> {
    let level = Level::detect();
    let mut timer = Timer::new(plan, progress);
    timer.step("clocks");
    lanes::warm(level, WARM);
    let mut costs = Costs::defaults(level, 1);
    costs.lanes = lanes::costs(&mut timer, level, plan.threads);
    let mut shared = Lanes::new(plan.threads);
    shared.set_grains(costs.lanes.grains);
    let info = plan.device.map(|device| device.info().clone());
    if let Some(device) = plan.device {
        timer.step("device");
        costs.device = device::costs(&timer, device, &costs.lanes);
    }
    let key = |library| Key::new(level, plan.threads, library, info.as_ref());
    let mut all = vec![(key(None), costs.clone())];
    for library in plan.libraries {
        let curves = library::curves(&mut timer, &shared, library);
        let library_costs = LibraryCosts { threads: library.threads(), curves };
        all.push((key(Some(library)), Costs { library: library_costs, ..costs.clone() }));
    }
    timer.step("done");
    all
}

/// Takes times, and tells how far the whole has come.
struct Timer<'a> {
    /// A sample takes at least this long.
    sample: Duration,
    /// From here on a median is of three samples, and from `end` on it is the one there is: a
    /// machine far slower than ours is measured less well, and within the limit all the same.
    deadline: Instant,
    end: Instant,
    steps: usize,
    done: usize,
    progress: Progress<'a>,
}

impl<'a> Timer<'a> {
    fn new(plan: &Plan, progress: Progress<'a>) -> Timer<'a> {
        // The limits are 15 s and 60 s; what is left pays for one run of each large product.
        let (sample, [seconds, most]) = if plan.quick { (80, [10, 12]) } else { (400, [45, 50]) };
        let start = Instant::now();
        let device = usize::from(plan.device.is_some());
        Timer {
            sample: Duration::from_micros(sample),
            deadline: start + Duration::from_secs(seconds),
            end: start + Duration::from_secs(most),
            steps: 2 + lanes::STEPS + device + plan.libraries.len() * library::STEPS,
            done: 0,
            progress,
        }
    }

    /// The next part begins.
    fn step(&mut self, what: &str) {
        (self.progress)(what, (self.done as f64 / self.steps as f64).min(1.0));
        self.done += 1;
    }

    /// Median microseconds of each body; they are run in turn, so that a machine that slows down
    /// slows all of them.
    fn race<const N: usize>(&self, mut bodies: [&mut dyn FnMut(); N]) -> [f64; N] {
        let repeats: [u32; N] = std::array::from_fn(|i| self.repeats(bodies[i]));
        let mut samples: [Vec<f64>; N] = std::array::from_fn(|_| Vec::with_capacity(SAMPLES));
        loop {
            for (i, body) in bodies.iter_mut().enumerate() {
                let start = Instant::now();
                (0..repeats[i]).for_each(|_| body());
                samples[i].push(start.elapsed().as_secs_f64() * 1e6 / f64::from(repeats[i]));
            }
            if samples[0].len() >= self.wanted() {
                break;
            }
        }
        samples.map(|mut times| {
            times.sort_by(f64::total_cmp);
            times[times.len() / 2].max(1e-4)
        })
    }

    /// Of how many samples the median is, at this time.
    fn wanted(&self) -> usize {
        match Instant::now() {
            now if now < self.deadline => SAMPLES,
            now if now < self.end => 3,
            _ => 1,
        }
    }

    fn median(&self, body: &mut dyn FnMut()) -> f64 {
        self.race([body])[0]
    }

    /// How often a body is run for one sample; running it here warms its caches.
    fn repeats(&self, body: &mut dyn FnMut()) -> u32 {
        let mut repeats = 1u32;
        loop {
            let start = Instant::now();
            (0..repeats).for_each(|_| body());
            let taken = start.elapsed();
            let late = Instant::now() >= self.end;
            if taken >= self.sample / 2 || repeats >= 1 << 20 || late {
                let each = taken.as_secs_f64() / f64::from(repeats);
                return ((self.sample.as_secs_f64() / each.max(1e-9)) as u32).clamp(1, 1 << 20);
            }
            repeats *= 2;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_quick_tune_measures_every_number_and_ends_its_progress() {
        let plan = Plan { threads: 2, libraries: &[], device: None, quick: true };
        let mut last = 0.0;
        let mut all = Vec::new();
        let measured = measure(&plan, &mut |what, done| {
            assert!((last..=1.0).contains(&done), "{what}: {done} after {last}");
            last = done;
            all.push(what.to_string());
        });
        assert!(last > 0.9 && all.contains(&"fold".to_string()), "{last} {all:?}");
        let [(key, costs)] = &measured[..] else { panic!("one entry") };
        assert_eq!((key.threads, &key.library, &key.device), (2, &None, &None));
        let lanes = &costs.lanes;
        for x in [lanes.product, lanes.elementary, lanes.memory].as_flattened() {
            assert!(x.is_finite() && *x > 0.0, "{lanes:?}");
        }
        assert!(lanes.region > 0.0 && lanes.region < 1e5);
        assert_eq!(costs.device, crate::costs::WGPU);
    }

    /// Three samples of everything, whatever they took, had no limit.
    #[test]
    fn what_is_late_is_measured_once() {
        let plan = Plan { threads: 1, libraries: &[], device: None, quick: true };
        let mut nothing = |_: &str, _: f64| {};
        let mut timer = Timer::new(&plan, &mut nothing);
        (timer.deadline, timer.end) = (Instant::now(), Instant::now());
        let mut calls = 0u64;
        let each = timer.median(&mut || {
            calls += 1;
            std::thread::sleep(Duration::from_millis(2));
        });
        // Once to see how long it takes, and once to measure.
        assert_eq!(calls, 2);
        assert!(each >= 2000.0, "{each}");
    }

    #[test]
    fn medians_are_per_call() {
        let plan = Plan { threads: 1, libraries: &[], device: None, quick: true };
        let mut nothing = |_: &str, _: f64| {};
        let timer = Timer::new(&plan, &mut nothing);
        let mut calls = 0u64;
        let [short, long] = timer.race([&mut || calls += 1, &mut || {
            std::thread::sleep(Duration::from_millis(1));
        }]);
        assert!(calls > 9 && short < long && long >= 1000.0, "{calls} {short} {long}");
    }
}
