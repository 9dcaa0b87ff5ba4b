//! The costs that decide who takes a call: the file, whether it holds for this run, and the
//! thresholds in force.

use super::{Finding, Mark};
use crate::request::Request;
use rung_base::settings::{CostsChoice, Origin};
use rung_lanes::{Grains, Work};
use rung_ops::Ladder;
use rung_ops::costs::file::{self, Refused};
use rung_ops::costs::{Costs, Thresholds};
use rung_ops::decline::grouped;

pub fn findings(request: &Request) -> Vec<Finding> {
    let settings = &request.settings;
    // The run's own ladder: the same library, device and file as a program would get.
    let (ladder, _) = Ladder::new(settings);
    let mut findings = vec![file_of(request, &ladder).part("file")];
    if let Some(lanes) = ladder.lanes() {
        let text = format!("from {}", sizes(lanes.grains()));
        findings.push(Finding::new("costs", Mark::Ok, text).part("threads"));
    }
    if ladder.device().is_ok() {
        let text = format!("from {}", offered(&ladder.costs.device.thresholds));
        findings.push(Finding::new("costs", Mark::Ok, text).part("device"));
    }
    findings
}

fn file_of(request: &Request, ladder: &Ladder) -> Finding {
    let setting = &request.settings.costs;
    let homeless = setting.value == CostsChoice::Default && setting.origin == Origin::BuiltIn;
    if homeless {
        let text =
            "the defaults; there is no home (HOME, XDG_CONFIG_HOME) whose costs could be read";
        return Finding::new("costs", Mark::NotApplicable, text).fix("name a file: --costs=FILE");
    }
    let CostsChoice::File(path) = &setting.value else {
        return Finding::new("costs", Mark::Ok, format!("the defaults ({})", setting.origin));
    };
    let place = path.display();
    match file::costs(path, &ladder.key(), &ladder.costs) {
        Ok(costs) => Finding::new("costs", Mark::Ok, format!("{place}: {}", held(&costs, ladder))),
        Err(Refused::Absent) if setting.origin == Origin::BuiltIn => {
            Finding::new("costs", Mark::NotApplicable, "the defaults; rung tune measures")
        }
        Err(Refused::Absent) => {
            Finding::new("costs", Mark::Warn, format!("{place} is not there; the defaults hold"))
                .fix("rung tune writes it")
        }
        Err(Refused::Malformed(fault)) => {
            Finding::new("costs", Mark::Warn, format!("{}; the defaults hold", fault.at(path)))
                .fix("rung tune writes it anew")
        }
        Err(Refused::Other(what)) => {
            let text = format!("{place} is for another {what}; the defaults hold");
            Finding::new("costs", Mark::Warn, text).fix("rung tune with the same flags")
        }
    }
}

/// What of this run the file's figures were measured for.
fn held(costs: &Costs, ladder: &Ladder) -> String {
    let mut parts = vec!["measured for this machine and thread count"];
    if ladder.library().is_ok() {
        parts.push(if costs.library.curves.is_empty() {
            "not for this library"
        } else {
            "for this library"
        });
    }
    if ladder.device().is_ok() {
        let measured = costs.device != Costs::defaults(rung_lanes::Level::Portable, 1).device;
        parts.push(if measured { "for this device" } else { "not for this device" });
    }
    parts.join(", ")
}

fn sizes(grains: &Grains) -> String {
    let size = |work: Work| match grains.get(work).threshold {
        usize::MAX => format!("{} never", work.name()),
        threshold => format!("{} {}", work.name(), grouped(threshold as u64)),
    };
    Work::ALL.map(size).join(", ")
}

fn offered(thresholds: &Thresholds) -> String {
    let size = |(name, threshold): (&str, Option<u64>)| match threshold {
        Some(threshold) => format!("{name} {}", grouped(threshold)),
        None => format!("{name} never"),
    };
    crate::tune::offers(thresholds).map(size).join(", ")
}

#[cfg(test)]
mod tests {
    use super::*;
    use rung_lanes::Level;

    #[test]
    fn thresholds_in_force_are_listed() {
        let mut grains = Grains::of(Level::Portable);
        grains.set(Work::Fold, rung_lanes::Grain { threshold: usize::MAX, piece: 1 });
        let text = sizes(&grains);
        assert!(text.starts_with("light 65,536, elementary 8,192, fold never, "), "{text}");
        let costs = Costs::defaults(Level::Avx2, 1);
        assert_eq!(
            offered(&costs.device.thresholds),
            "product 4,194,304, map 131,072, wide 262,144, fold never, fill 32,768"
        );
    }
}
