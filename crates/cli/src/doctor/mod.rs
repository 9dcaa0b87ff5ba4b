//! `rung doctor`: judges what this machine has. Each finding is ok, a warning, a failure or not
//! applicable, and each of the bad ones says how to mend it.
//!
//! The findings are gathered here; `host` asks the operating system, `selftest` runs the table's
//! own samples on a rung against the definition, `operations` prints which operation runs where.
//! Nothing here may fail on a machine without a loader, a driver or a library.

mod costs;
mod host;
mod operations;
mod selftest;
mod show;

use crate::commands::Invocation;
use crate::failure::Failure;
use crate::request::{DoctorForm, Request};
use crate::{printed, screen};
use rung_base::settings::{DeviceChoice, OnDecline, Origin, Setting, Settings};
use rung_device::{Cards, Survey};
use rung_lanes::Lanes;
use rung_library::Library;
use rung_ops::Rung;
use std::time::Instant;

/// A finding's mark.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Mark {
    Ok,
    Warn,
    Fail,
    NotApplicable,
}

/// One line of the judgement.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Finding {
    /// `device`, `library`, `lanes`, `portable`.
    pub subject: &'static str,
    /// Which of several: `wgpu`; "" where there is one.
    pub part: String,
    pub mark: Mark,
    pub text: String,
    pub fix: Option<String>,
}

/// One setting and where it came from.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Shown {
    pub name: String,
    pub value: String,
    pub origin: Origin,
}

/// Everything that `rung doctor` says.
pub struct Judgement {
    pub host: host::Host,
    pub findings: Vec<Finding>,
    pub settings: Vec<Shown>,
}

impl Finding {
    fn new(subject: &'static str, mark: Mark, text: impl Into<String>) -> Finding {
        Finding { subject, part: String::new(), mark, text: text.into(), fix: None }
    }

    fn part(mut self, part: &str) -> Finding {
        self.part = part.to_string();
        self
    }

    fn fix(mut self, fix: &str) -> Finding {
        self.fix = Some(fix.to_string());
        self
    }
}

/// `rung doctor`.
pub fn run(invocation: &Invocation) -> Result<i32, Failure> {
    let form = invocation.request.doctor;
    let json = invocation.screen.json;
    if form == DoctorForm::Operations {
        let text = if json { operations::json() } else { operations::text() };
        return printed(screen::print(&text));
    }
    let judgement = judge(&invocation.request);
    let text = match json {
        true => show::json(&judgement),
        false => show::text(&judgement, form == DoctorForm::Report),
    };
    let failed = judgement.findings.iter().any(|finding| finding.mark == Mark::Fail);
    printed(screen::print(&text)).map(|code| if failed { 1 } else { code })
}

fn judge(request: &Request) -> Judgement {
    let mut findings = device(request);
    findings.push(library(request));
    findings.push(lanes(request));
    findings.push(Finding::new("portable", Mark::Ok, ""));
    findings.extend(costs::findings(request));
    let shown = crate::flags::all().filter_map(|flag| {
        let (value, origin) = flag.show?(request);
        let name = flag.key.or(flag.variable)?.to_string();
        Some(Shown { name, value, origin })
    });
    Judgement { host: host::Host::ask(), findings, settings: shown.collect() }
}

/// Whether an absent rung ends the run.
fn demanded(request: &Request) -> bool {
    request.settings.on_decline.value == OnDecline::Error
}

const DRIVER_FIX: &str = "install the Vulkan loader and your GPU's driver (VK_DRIVER_FILES and \
                          VK_ICD_FILENAMES hide drivers when they are set)";

const CARD_FIX: &str = "for an NVIDIA card install its driver; nothing else is needed";
const BROKEN_FIX: &str = "install NVIDIA's driver again and restart the machine, or take away what \
                          LD_LIBRARY_PATH leads to";
const SOFTWARE_FIX: &str = "install your GPU's driver; a software adapter serves tests";
const OLD_FIX: &str = "cards from Turing on are served: compute capability 7.5";
const HIDDEN_FIX: &str = "unset CUDA_VISIBLE_DEVICES, or list the card there";

fn device(request: &Request) -> Vec<Finding> {
    let settings = &request.settings;
    if let DeviceChoice::None(word) = settings.device.value {
        let said = settings.device.origin.saying("device", word);
        let mark = if settings.gpu.value { Mark::Warn } else { Mark::NotApplicable };
        let fix = match settings.device.origin {
            Origin::Environment(name) => format!("unset {name}"),
            _ => format!("leave out {said}"),
        };
        return vec![Finding::new("device", mark, format!("hidden by {said}")).fix(&fix)];
    }
    let named = matches!(settings.device.value, DeviceChoice::Named(_));
    let survey = rung_device::adapters();
    let usable = survey.adapters.iter().any(|adapter| adapter.unusable.is_none());
    let bad = match () {
        () if named || settings.gpu.value && demanded(request) => Mark::Fail,
        () if settings.gpu.value => Mark::Warn,
        () => Mark::NotApplicable,
    };
    let mut findings = Vec::new();
    // Whose cards are hidden is helped by no driver for Vulkan.
    let without = if survey.cards.are_hidden() { Mark::NotApplicable } else { bad };
    if usable || named && survey.loader {
        findings.push(probed(&settings.device, &survey, bad));
    } else if !survey.loader {
        findings.push(
            Finding::new("device", without, "no Vulkan loader, or no driver for it")
                .part("wgpu")
                .fix(DRIVER_FIX),
        );
    } else if survey.adapters.is_empty() {
        let finding = Finding::new("device", without, "no GPU adapter").part("wgpu");
        findings.push(finding.fix(DRIVER_FIX));
    }
    findings.extend(no_cards(&survey.cards, &settings.device.value, usable, bad));
    for adapter in &survey.adapters {
        let served = findings.iter().any(|finding| finding.text.starts_with(&adapter.name));
        if let Some(reason) = adapter.unusable.as_ref().filter(|_| !served) {
            // Where another one serves nothing is wrong.
            let mark = if named || usable { Mark::NotApplicable } else { bad };
            let (part, fix) = match adapter.backend.as_str() {
                "cuda" => ("cuda", OLD_FIX),
                _ if adapter.software => ("wgpu", SOFTWARE_FIX),
                _ => ("wgpu", HIDDEN_FIX),
            };
            findings.push(Finding::new("device", mark, reason.clone()).part(part).fix(fix));
        }
    }
    findings
}

/// Why NVIDIA's driver shows no card, where it shows none.
fn no_cards(cards: &Cards, choice: &DeviceChoice, usable: bool, bad: Mark) -> Option<Finding> {
    let card = |name: &String| name.to_ascii_lowercase().starts_with("cuda");
    let wanted = matches!(choice, DeviceChoice::Named(name) if card(name));
    let (reason, mark, fix) = match cards {
        Cards::Shown => return None,
        Cards::Absent(reason) => (reason, Mark::NotApplicable, CARD_FIX),
        Cards::Hidden(reason) if usable => (reason, Mark::NotApplicable, HIDDEN_FIX),
        Cards::Hidden(reason) => (reason, bad, HIDDEN_FIX),
        Cards::Fault(reason) => (reason, Mark::Warn, BROKEN_FIX),
    };
    let mark = if wanted { Mark::Fail } else { mark };
    Some(Finding::new("device", mark, reason.clone()).part("cuda").fix(fix))
}

/// Opens a device, tests it, and measures its round trip.
fn probed(choice: &Setting<DeviceChoice>, survey: &Survey, bad: Mark) -> Finding {
    let device = match rung_device::probe(&choice.value) {
        Ok(device) => device,
        Err(reason) => return unopened(choice, survey, bad, &reason.to_string()),
    };
    let info = device.info().clone();
    // A software adapter serves tests; its speed says nothing, so it is not shown.
    let round_trip = match (info.software, round_trip(device.as_ref())) {
        (_, None) => "; round trip failed".to_string(),
        (true, Some(_)) => String::new(),
        (false, Some(us)) => format!("; round trip {us:.0} us"),
    };
    let tested = selftest::device(device);
    let f64 = if info.f64 { "f64" } else { "no f64" };
    let software = if info.software { ", software" } else { "" };
    let (passed, all) = info.self_test;
    let doubles = match info.tensor_doubles {
        rung_device::TensorDoubles::Absent => "",
        rung_device::TensorDoubles::Untested => "; tensor cores untested for doubles",
        rung_device::TensorDoubles::OtherOrder => {
            "; tensor cores add doubles in another order, not used"
        }
        rung_device::TensorDoubles::InOrder => "; tensor cores for doubles",
    };
    let text = format!(
        "{}{software}; {}, {}; {f64}{round_trip}; rounding {passed}/{all}{doubles}; self-test {tested}",
        info.name, info.driver, info.backend,
    );
    let finding = Finding::new("device", tested.mark(), text).part(info.binding);
    if tested.mark() == Mark::Ok { finding } else { finding.fix("report it: rung doctor --report") }
}

/// The finding about a device that does not open: which one it is, where that is known.
fn unopened(choice: &Setting<DeviceChoice>, survey: &Survey, bad: Mark, reason: &str) -> Finding {
    let (meant, fix) = match &choice.value {
        DeviceChoice::Named(name) => {
            let said = choice.origin.saying("device", name);
            (survey.named(name), format!("rung doctor without {said} lists what there is"))
        }
        _ => (
            survey.adapters.iter().find(|one| one.unusable.is_none()),
            "end what else uses the device, or install its driver again".to_string(),
        ),
    };
    let Some(meant) = meant else {
        return Finding::new("device", bad, reason).fix(&fix);
    };
    let part = if meant.backend == "cuda" { "cuda" } else { "wgpu" };
    Finding::new("device", bad, format!("{}: {reason}", meant.name)).part(part).fix(&fix)
}

/// Microseconds of 4 KiB up and down again, the median of nine.
fn round_trip(device: &dyn rung_device::Device) -> Option<f64> {
    let mut bytes = vec![0u8; 4096];
    let mut times = Vec::new();
    for _ in 0..9 {
        let start = Instant::now();
        let buffer = device.upload(&bytes).ok()?;
        device.download(&buffer, &mut bytes).ok()?;
        times.push(start.elapsed().as_secs_f64() * 1e6);
    }
    times.sort_by(f64::total_cmp);
    times.get(times.len() / 2).copied()
}

fn library(request: &Request) -> Finding {
    let settings = &request.settings;
    let named = settings.blas_path.value.is_some();
    let absent = match () {
        () if named || settings.blas.value && demanded(request) => Mark::Fail,
        () if settings.blas.value => Mark::Warn,
        () => Mark::NotApplicable,
    };
    let library = match Library::discover(settings.blas_path.value.as_deref()) {
        Ok(library) => library,
        Err(reason) if named => {
            return Finding::new("library", absent, reason).fix("correct or unset RUNG_BLAS");
        }
        Err(reason) => {
            let fix = "install OpenBLAS (Debian: libopenblas0-pthread)";
            return Finding::new("library", absent, reason).fix(fix);
        }
    };
    if let Some(threads) = settings.threads.value {
        library.set_threads(threads);
    }
    let threads = counted(library.threads(), "thread");
    let named = format!("{}, {}, {threads}", library.file(), library.configuration());
    let tested = selftest::library(library);
    let finding = Finding::new("library", tested.mark(), format!("{named}, self-test {tested}"));
    if tested.mark() == Mark::Ok {
        finding
    } else {
        finding.fix("use another CBLAS: RUNG_BLAS=PATH")
    }
}

fn lanes(request: &Request) -> Finding {
    let settings = &request.settings;
    if settings.portable.value || !settings.simd.value {
        let setting = if settings.portable.value { &settings.portable } else { &settings.simd };
        let text = format!("taken away by {}", setting.origin);
        return Finding::new("lanes", Mark::NotApplicable, text);
    }
    let (count, why) = threads(settings);
    let lanes = Lanes::new(count);
    let threads = format!("{} ({why})", counted(count, "thread"));
    let level = lanes.level().describe();
    let tested = selftest::run(Rung::Lanes, Some(lanes), None, None);
    let finding =
        Finding::new("lanes", tested.mark(), format!("{level}, {threads}, self-test {tested}"));
    if tested.mark() == Mark::Ok { finding } else { finding.fix("report it: rung doctor --report") }
}

/// How many threads a run uses, and what decided.
fn threads(settings: &Settings) -> (usize, String) {
    match settings.threads.value {
        _ if !settings.parallel.value => (1, settings.parallel.origin.to_string()),
        Some(count) => (count, settings.threads.origin.to_string()),
        None => {
            let (count, limit) = rung_lanes::cores::counted();
            (count, limit.name().to_string())
        }
    }
}

/// `1 thread`, `2 threads`.
fn counted(count: usize, thing: &str) -> String {
    format!("{count} {thing}{}", if count == 1 { "" } else { "s" })
}
