//! Finding a device: which adapters there are, which of them may be used and why not, and the
//! first that passes its self-test.
//!
//! Never panics and never throws: a machine without a loader, an adapter or a feature gives a
//! reason in the words of the specification. How often it runs is the caller's affair.

use crate::cuda;
use crate::device::Device;
use crate::self_test::{self, Unsettled};
use crate::wgpu::{block_on, first_line, instance, open};
use rung_base::DeviceChoice;
use rung_kernel::Variants;
use std::fmt;
use std::sync::Arc;

/// Why there is no device, in the words that the user reads.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Reason(pub String);

impl fmt::Display for Reason {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

/// One adapter of the machine, as `rung doctor` lists it.
#[derive(Clone, Debug)]
pub struct Adapter {
    /// As the driver names it.
    pub name: String,
    /// Driver and version.
    pub driver: String,
    /// `vulkan`, `cuda`.
    pub backend: String,
    /// Runs on the CPU.
    pub software: bool,
    /// Why `auto` would not take it; `None` when it would be tried.
    pub unusable: Option<String>,
}

/// Whether NVIDIA's driver shows cards, or why not.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum Cards {
    /// It shows some.
    #[default]
    Shown,
    /// There is no driver, or no card.
    Absent(String),
    /// `CUDA_VISIBLE_DEVICES` names none.
    Hidden(String),
    /// There is a driver, and something is wrong with it.
    Fault(String),
}

impl Cards {
    /// Whether the environment hides them all.
    pub fn are_hidden(&self) -> bool {
        matches!(self, Cards::Hidden(_))
    }
}

/// What was found, and whether there is a Vulkan loader to ask at all.
#[derive(Clone, Debug, Default)]
pub struct Survey {
    /// Whether the Vulkan loader is installed.
    pub loader: bool,
    /// What NVIDIA's driver says.
    pub cards: Cards,
    /// In the order in which they would be tried.
    pub adapters: Vec<Adapter>,
}

/// All adapters with the reason each is or is not usable. Opens none of them.
pub fn adapters() -> Survey {
    let (list, cards) = match cuda::cards() {
        Ok(list) => (list, Cards::Shown),
        Err(reason) => (Vec::new(), cuda::why_none(reason)),
    };
    let card = |card: cuda::Card| Adapter {
        name: card.name,
        driver: card.driver,
        backend: "cuda".to_string(),
        software: false,
        unusable: card.unusable,
    };
    let adapters = found().into_iter().map(|a| summary(&a.get_info()));
    let adapters = list.into_iter().map(card).chain(adapters).collect();
    Survey { loader: instance().is_some(), cards, adapters }
}

impl Survey {
    /// The adapter that a name means: a card by its number, any other by a part of its name.
    pub fn named(&self, name: &str) -> Option<&Adapter> {
        let wanted = name.to_lowercase();
        match number_of_card(&wanted) {
            Some(number) => {
                let mut cards = self.adapters.iter().filter(|one| one.backend == "cuda");
                number.parse().ok().and_then(|number| cards.nth(number))
            }
            None => self.adapters.iter().find(|one| one.name.to_lowercase().contains(&wanted)),
        }
    }
}

/// The device of this choice, tested and ready, or why there is none.
pub fn probe(choice: &DeviceChoice) -> Result<Arc<dyn Device>, Reason> {
    match choice {
        DeviceChoice::None(word) => Err(Reason(format!("hidden by the device {word}"))),
        DeviceChoice::Auto => automatic(),
        DeviceChoice::Named(name) => named(name, Mask::default()),
    }
}

/// A card by NVIDIA's own driver, then what Vulkan has of others, then a card by Vulkan.
fn automatic() -> Result<Arc<dyn Device>, Reason> {
    let mut reasons = Vec::new();
    match card(0, Variants::default()) {
        Ok(device) => return Ok(device),
        Err(reason) => reasons.push(reason),
    }
    for adapter in &found() {
        let tried = match summary(&adapter.get_info()).unusable {
            Some(reason) => Err(Reason(reason)),
            None => start(adapter, Mask::default()),
        };
        match tried {
            Ok(device) => return Ok(device),
            Err(reason) => reasons.push(reason),
        }
    }
    Err(summed(reasons))
}

/// What a user reads of the reasons: where there is no driver of NVIDIA's, that of the first adapter;
/// where that driver cannot be loaded, both.
fn summed(mut reasons: Vec<Reason>) -> Reason {
    let none = reasons.len() == 1;
    let broken = cuda::is_broken(&reasons[0].0);
    if !broken && !reasons[0].0.ends_with(cuda::ABSENT) {
        return reasons.swap_remove(0);
    }
    match none {
        true => Reason(format!("{}; {}", reasons[0], no_adapter())),
        false if broken => Reason(format!("{}; {}", reasons[0], reasons[1])),
        false => reasons.swap_remove(1),
    }
}

fn card(ordinal: u32, variants: Variants) -> Result<Arc<dyn Device>, Reason> {
    tested(cuda::open(ordinal, variants))
}

/// The device, once it has shown how it rounds.
fn tested<D: Unsettled + 'static>(opened: Result<D, String>) -> Result<Arc<dyn Device>, Reason> {
    let mut device = opened.map_err(Reason)?;
    self_test::run(&mut device).map_err(Reason)?;
    Ok(Arc::new(device))
}

/// Which step found nothing.
fn no_adapter() -> &'static str {
    match instance() {
        Some(_) => "no GPU adapter",
        None => "no GPU adapter: no Vulkan loader, or no driver for it",
    }
}

/// What a test takes away from an adapter.
#[derive(Clone, Copy, Debug, Default)]
pub struct Mask {
    /// The replacements in use from the start, and the types that are not there.
    pub variants: Variants,
    /// No subgroup operations.
    pub without_subgroups: bool,
    /// Groups of 256 invocations at most, the least that is needed.
    pub smallest_groups: bool,
}

impl From<Variants> for Mask {
    fn from(variants: Variants) -> Mask {
        Mask { variants, ..Mask::default() }
    }
}

/// As `probe` for a name, with something taken away. For tests, which run the software variants on a
/// device that does not need them.
pub fn probe_with(name: &str, mask: impl Into<Mask>) -> Result<Arc<dyn Device>, Reason> {
    named(name, mask.into())
}

fn named(name: &str, mask: Mask) -> Result<Arc<dyn Device>, Reason> {
    let wanted = name.to_lowercase();
    if let Some(number) = number_of_card(&wanted) {
        let absent = |_| Reason(cuda::no_such(name));
        return card(number.parse().map_err(absent)?, mask.variants);
    }
    let (cards, broken) = match cuda::cards() {
        Ok(cards) => (cards, None),
        Err(reason) => (Vec::new(), Some(reason).filter(|reason| cuda::is_broken(reason))),
    };
    if let Some(k) = cards.iter().position(|card| card.name.to_lowercase().contains(&wanted)) {
        return card(k as u32, mask.variants);
    }
    let adapters = found();
    let fits = |a: &&wgpu::Adapter| a.get_info().name.to_lowercase().contains(&wanted);
    let Some(adapter) = adapters.iter().find(fits) else {
        let names = cards.into_iter().map(|card| card.name);
        let names: Vec<String> = names.chain(adapters.iter().map(|a| a.get_info().name)).collect();
        let names = if names.is_empty() { nothing_found() } else { names.join(", ") };
        let broken = broken.map_or_else(String::new, |reason| format!("; {reason}"));
        return Err(Reason(format!("no adapter named {name}; found: {names}{broken}")));
    };
    match summary(&adapter.get_info()) {
        Adapter { software: false, unusable: Some(reason), .. } => Err(Reason(reason)),
        _ => start(adapter, mask),
    }
}

/// The text after `cuda:`; of `cuda` alone the first card's number.
fn number_of_card(wanted: &str) -> Option<&str> {
    wanted.strip_prefix("cuda:").or((wanted == "cuda").then_some("0"))
}

/// Whether this may name a device, on this machine or another: `cuda:` wants a number.
pub fn may_name(name: &str) -> bool {
    let digits =
        |number: &str| !number.is_empty() && number.chars().all(|letter| letter.is_ascii_digit());
    number_of_card(&name.to_lowercase()).is_none_or(digits)
}

/// A driver that finds no memory to start shows no adapter either, and nothing that says so.
fn nothing_found() -> String {
    match instance() {
        Some(_) => "none (no driver for Vulkan, or none that could start)".to_string(),
        None => "none (no Vulkan loader, or no driver for it)".to_string(),
    }
}

fn start(adapter: &wgpu::Adapter, mask: Mask) -> Result<Arc<dyn Device>, Reason> {
    tested(open(adapter, mask))
}

/// Discrete before integrated before the rest, software last; NVIDIA's own after the others, since its
/// driver was asked before.
fn found() -> Vec<wgpu::Adapter> {
    let Some(instance) = instance() else { return Vec::new() };
    let mut adapters = block_on(instance.enumerate_adapters(wgpu::Backends::VULKAN));
    adapters.sort_by_key(|a| match a.get_info() {
        info if info.device_type == wgpu::DeviceType::Cpu => 4,
        info if info.vendor == NVIDIA => 3,
        info if info.device_type == wgpu::DeviceType::DiscreteGpu => 0,
        info if info.device_type == wgpu::DeviceType::IntegratedGpu => 1,
        _ => 2,
    });
    adapters
}

const NVIDIA: u32 = 0x10de;

fn summary(info: &wgpu::AdapterInfo) -> Adapter {
    let software = info.device_type == wgpu::DeviceType::Cpu;
    let unusable = if software {
        let short = info.name.split(" (").next().unwrap_or_default();
        Some(format!("only a software adapter ({short}); name it with --device"))
    } else if info.vendor == NVIDIA && cuda::hidden() {
        Some(cuda::HIDDEN.to_string())
    } else {
        None
    };
    Adapter {
        name: info.name.clone(),
        driver: first_line(&format!("{} {}", info.driver, info.driver_info)),
        backend: info.backend.to_string(),
        software,
        unusable,
    }
}
