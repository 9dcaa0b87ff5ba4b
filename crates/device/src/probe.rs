//! Finding a device: which adapters there are, which of them may be used and why not, and the
//! first that passes its self-test.
//!
//! Never panics and never throws: a machine without a loader, an adapter or a feature gives a
//! reason in the words of the specification. How often it runs is the caller's affair.

use crate::device::Device;
use crate::self_test;
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
    /// `vulkan`.
    pub backend: String,
    /// Runs on the CPU.
    pub software: bool,
    /// Why `auto` would not take it; `None` when it would be tried.
    pub unusable: Option<String>,
}

/// What was found, and whether there is a Vulkan loader to ask at all.
#[derive(Clone, Debug, Default)]
pub struct Survey {
    /// Whether the Vulkan loader is installed.
    pub loader: bool,
    /// In the order in which they would be tried.
    pub adapters: Vec<Adapter>,
}

/// All adapters with the reason each is or is not usable. Opens none of them.
pub fn adapters() -> Survey {
    let adapters = found().iter().map(|a| summary(&a.get_info())).collect();
    Survey { loader: instance().is_some(), adapters }
}

/// The device of this choice, tested and ready, or why there is none.
pub fn probe(choice: &DeviceChoice) -> Result<Arc<dyn Device>, Reason> {
    match choice {
        DeviceChoice::None => Err(Reason("hidden by RUNG_DEVICE=none".to_string())),
        DeviceChoice::Auto => automatic(),
        DeviceChoice::Named(name) => named(name, Mask::default()),
    }
}

fn automatic() -> Result<Arc<dyn Device>, Reason> {
    let adapters = found();
    let mut first_reason = None;
    for adapter in &adapters {
        let tried = match summary(&adapter.get_info()).unusable {
            Some(reason) => Err(Reason(reason)),
            None => start(adapter, Mask::default()),
        };
        match tried {
            Ok(device) => return Ok(device),
            Err(reason) => first_reason = first_reason.or(Some(reason)),
        }
    }
    Err(first_reason.unwrap_or_else(|| Reason(no_adapter().to_string())))
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
    if name.to_ascii_lowercase().starts_with("cuda:") {
        return Err(Reason("CUDA is not built into this version".to_string()));
    }
    let adapters = found();
    let wanted = name.to_lowercase();
    let fits = |a: &&wgpu::Adapter| a.get_info().name.to_lowercase().contains(&wanted);
    let Some(adapter) = adapters.iter().find(fits) else {
        let names: Vec<String> = adapters.iter().map(|a| a.get_info().name).collect();
        let names = if names.is_empty() { "none".to_string() } else { names.join(", ") };
        return Err(Reason(format!("no adapter named {name}; found: {names}")));
    };
    match summary(&adapter.get_info()) {
        Adapter { software: false, unusable: Some(reason), .. } => Err(Reason(reason)),
        _ => start(adapter, mask),
    }
}

fn start(adapter: &wgpu::Adapter, mask: Mask) -> Result<Arc<dyn Device>, Reason> {
    let mut device = open(adapter, mask).map_err(Reason)?;
    self_test::run(&mut device).map_err(Reason)?;
    Ok(Arc::new(device))
}

/// Discrete before integrated before the rest, software last.
fn found() -> Vec<wgpu::Adapter> {
    let Some(instance) = instance() else { return Vec::new() };
    let mut adapters = block_on(instance.enumerate_adapters(wgpu::Backends::VULKAN));
    adapters.sort_by_key(|a| match a.get_info().device_type {
        wgpu::DeviceType::DiscreteGpu => 0,
        wgpu::DeviceType::IntegratedGpu => 1,
        wgpu::DeviceType::VirtualGpu | wgpu::DeviceType::Other => 2,
        wgpu::DeviceType::Cpu => 3,
    });
    adapters
}

const NVIDIA: u32 = 0x10de;

fn summary(info: &wgpu::AdapterInfo) -> Adapter {
    let software = info.device_type == wgpu::DeviceType::Cpu;
    let cards_hidden = std::env::var("CUDA_VISIBLE_DEVICES").is_ok_and(|list| list.is_empty());
    let unusable = if software {
        let short = info.name.split(" (").next().unwrap_or_default();
        Some(format!("only a software adapter ({short}); name it with --device"))
    } else if info.vendor == NVIDIA && cards_hidden {
        Some("hidden by CUDA_VISIBLE_DEVICES".to_string())
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
