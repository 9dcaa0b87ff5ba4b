//! Times fills from both generators beside the definitions' plain loops, in turn.
//!
//! `cargo run --release -p rung-lanes --example fills -- [THREADS]`; nanoseconds an element.

use rung_lanes::{Float, Lanes, philox, random};
use rung_math::{philox as counter, random as congruential};

#[path = "support/timing.rs"]
mod timing;
use timing::{Clock, median};

fn main() {
    let threads = std::env::args().nth(1).and_then(|text| text.parse().ok()).unwrap_or(1);
    let lanes = Lanes::new(threads);
    println!("lanes {}, {threads} thread(s)", lanes.level().describe());
    println!("{:>20} {:>8} {:>8} {:>6}", "", "lanes ns", "plain ns", "ratio");
    both::<f64>(&lanes, "f64");
    both::<f32>(&lanes, "f32");
}

fn both<T: Float + counter::Drawn>(lanes: &Lanes, width: &str) {
    use congruential::{Fill, State};
    for (name, fill) in [("rand", Fill::Rand), ("randn", Fill::Randn)] {
        let ours = |out: &mut [T]| _ = random::fill(lanes, fill, State::seeded(1), out);
        compare(lanes, &format!("{name} {width}"), ours, |out| {
            let mut state = State::seeded(1);
            out.iter_mut().for_each(|x| *x = T::narrowed(fill.next(&mut state)));
        });
    }
    for (name, fill) in [("uniform", counter::Fill::Uniform), ("normal", counter::Fill::Normal)] {
        let state = counter::State::seeded(1);
        let ours = |out: &mut [T]| _ = philox::fill(lanes, fill, state, out);
        compare(lanes, &format!("philox {name} {width}"), ours, |out| {
            out.iter_mut().enumerate().for_each(|(i, x)| *x = fill.element(state, i as u64));
        });
    }
}

fn compare<T: Float>(lanes: &Lanes, name: &str, ours: impl Fn(&mut [T]), plain: impl Fn(&mut [T])) {
    let mut out = vec![T::default(); 1 << 16];
    let clock = if lanes.workers().threads() == 1 { Clock::Thread } else { Clock::Wall };
    let (mut mine, mut theirs, mut ratios) = (vec![], vec![], vec![]);
    for _ in 0..9 {
        let us = clock.least(5, 2, &mut || ours(&mut out)) * 1e9 / out.len() as f64;
        let other = clock.least(3, 1, &mut || plain(&mut out)) * 1e9 / out.len() as f64;
        mine.push(us);
        theirs.push(other);
        ratios.push(other / us);
    }
    let (mine, theirs) = (median(&mut mine), median(&mut theirs));
    println!("{name:>20} {mine:>8.2} {theirs:>8.2} {:>6.1}", median(&mut ratios));
}
