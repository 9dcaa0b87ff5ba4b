//! `rung tune`: measures this machine's costs (spec acceleration 4.3): unit times of the lanes,
//! what a parallel region costs and from which sizes threads help, products on a library beside
//! the lanes, and a device's floor, link and unit times.
//!
//! Every number is the median of nine samples after the clocks were warmed; what is compared is
//! measured in turn. Where the threads waited for a core meanwhile, other work held it: then it is
//! measured again, and what threads are worth is left as it was where that does not help (`load`).
//! Nothing here is asked during a run. How a measurement is kept is in `costs::file`.

mod device;
mod lanes;
mod library;
mod load;

use crate::costs::key::Key;
use crate::costs::{Costs, LibraryCosts};
use load::Load;
use rung_device::Device;
use rung_lanes::{Lanes, Level};
use rung_library::Library;
use std::cell::Cell;
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

/// What was measured, and how far to trust it.
pub struct Measured {
    /// One entry without a library, and one for each library.
    pub entries: Vec<(Key, Costs)>,
    /// The part of the time for which the threads waited for a core, 0 to 1.
    pub waited: f64,
    /// The kinds of work whose grains stay at their defaults.
    pub left: Vec<&'static str>,
    /// Why the device was lost meanwhile: its figures are worth nothing then.
    pub lost: Option<String>,
}

impl Measured {
    /// A sentence about other work on the machine, where there was much of it.
    pub fn doubt(&self) -> Option<String> {
        if self.left.is_empty() && self.waited < load::DISTURBED {
            return None;
        }
        let percent = (self.waited * 100.0).round();
        let left = match self.left.is_empty() {
            true => String::new(),
            false => format!(
                " from which sizes threads help is left at its default for {};",
                self.left.join(", ")
            ),
        };
        Some(format!(
            "other work held the cores for {percent} % of the time: measurements are unreliable;{left} \
             run it again when the machine is idle."
        ))
    }
}

/// Measures everything in the plan.
pub fn measure(plan: &Plan, progress: Progress) -> Measured {
    let begun = load::now();
    let level = Level::detect();
    let mut timer = Timer::new(plan, progress);
    timer.step("clocks");
    lanes::warm(level, WARM);
    let mut costs = Costs::defaults(level, 1);
    let mut left = Vec::new();
    costs.lanes = lanes::costs(&mut timer, level, plan.threads, &mut left);
    let mut shared = Lanes::new(plan.threads);
    shared.set_grains(costs.lanes.grains);
    let info = plan.device.map(|device| device.info().clone());
    let mut lost = None;
    if let Some(device) = plan.device {
        timer.step("device");
        costs.device = device::costs(&timer, device, &costs.lanes);
        lost = device.synchronize().err().map(|failure| failure.text);
    }
    if lost.is_some() {
        // Whoever asked for the device has no use for the rest.
        return Measured { entries: Vec::new(), waited: 0.0, left, lost };
    }
    let key = |library| Key::new(level, plan.threads, library, info.as_ref());
    let mut all = vec![(key(None), costs.clone())];
    for library in plan.libraries {
        let curves = library::curves(&mut timer, &shared, library);
        let library_costs = LibraryCosts { threads: library.threads(), curves };
        all.push((key(Some(library)), Costs { library: library_costs, ..costs.clone() }));
    }
    timer.step("done");
    Measured { entries: all, waited: load::waited(begun, load::now()), left, lost }
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
    /// What the threads have done and waited for so far; a test brings its own.
    load: fn() -> Load,
    /// Other work disturbed a race, however often it was run.
    disturbed: Cell<bool>,
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
            load: load::now,
            disturbed: Cell::new(false),
        }
    }

    /// Whether other work has disturbed a race since this was asked last.
    fn take_disturbed(&self) -> bool {
        self.disturbed.take()
    }

    /// The next part begins.
    fn step(&mut self, what: &str) {
        (self.progress)(what, (self.done as f64 / self.steps as f64).min(1.0));
        self.done += 1;
    }

    /// Median microseconds of each body; they are run in turn, so that a machine that slows down
    /// slows all of them. A race that other work disturbed is run again.
    fn race<const N: usize>(&self, mut bodies: [&mut dyn FnMut(); N]) -> [f64; N] {
        let repeats: [u32; N] = std::array::from_fn(|i| self.repeats(bodies[i]));
        for _ in 1..load::TRIES {
            let before = (self.load)();
            let medians = self.medians(&mut bodies, repeats);
            if load::waited(before, (self.load)()) < load::DISTURBED {
                return medians;
            }
            // What is late is not measured again.
            if Instant::now() >= self.deadline {
                self.disturbed.set(true);
                return medians;
            }
        }
        let before = (self.load)();
        let medians = self.medians(&mut bodies, repeats);
        if load::waited(before, (self.load)()) >= load::DISTURBED {
            self.disturbed.set(true);
        }
        medians
    }

    fn medians<const N: usize>(
        &self,
        bodies: &mut [&mut dyn FnMut(); N],
        repeats: [u32; N],
    ) -> [f64; N] {
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
        let [(key, costs)] = &measured.entries[..] else { panic!("one entry") };
        assert!((0.0..=1.0).contains(&measured.waited));
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

    /// On a busy machine threads seemed never to help, and that was written into the file.
    #[test]
    fn what_other_work_disturbs_is_measured_again_and_then_given_up() {
        let plan = Plan { threads: 2, libraries: &[], device: None, quick: true };
        let mut nothing = |_: &str, _: f64| {};
        let mut timer = Timer::new(&plan, &mut nothing);
        thread_local!(static WAITED: Cell<u64> = const { Cell::new(0) });
        // Whenever it is asked, as much was waited for as was done.
        timer.load = || {
            WAITED.set(WAITED.get() + 1000);
            Load { ran: WAITED.get(), waited: WAITED.get() }
        };
        let mut calls = 0;
        timer.median(&mut || {
            calls += 1;
            std::thread::sleep(Duration::from_micros(500));
        });
        assert!(calls >= load::TRIES * SAMPLES, "{calls}");
        assert!(timer.take_disturbed() && !timer.take_disturbed());
        timer.load = Load::default;
        timer.median(&mut || ());
        assert!(!timer.take_disturbed());
        let measured = |waited, left| Measured { entries: Vec::new(), waited, left, lost: None };
        assert_eq!(measured(0.01, Vec::new()).doubt(), None);
        assert_eq!(
            measured(0.314, vec!["light", "fold"]).doubt().unwrap(),
            "other work held the cores for 31 % of the time: measurements are unreliable; from which \
             sizes threads help is left at its default for light, fold; run it again when the machine \
             is idle."
        );
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
