//! Finding a card, step by step: the library, the driver's start, the number of cards, what the card can
//! do, its context and a first allocation. Each step that fails is a reason; nothing here panics.

use super::context::Context;
use super::driver::{Attribute, Driver, NO_DEVICE, Refused};
use super::{CudaDevice, State};
use crate::device::{Failure, Info, TensorDoubles};
use crate::probe::Cards;
use rung_kernel::{Demands, Variants};
use std::sync::{Arc, Mutex};

/// The least compute capability: Turing's.
const LEAST: (i32, i32) = (7, 5);
/// The least with `mma.sync` of tf32, bf16 and doubles: Ampere's.
const TENSOR_CORES: (i32, i32) = (8, 0);
/// Bytes of the first allocation.
const TRIAL: usize = 4096;

/// How the reason ends where there is no driver of NVIDIA's at all.
pub(crate) const ABSENT: &str = "not found (no NVIDIA driver)";

/// What the reason says where there is one that the system cannot load.
pub(crate) const BROKEN: &str = "cannot be loaded";

/// Where the driver shows no card.
const NO_CARD: &str = "no CUDA device";

/// Whether there is no card to show, somebody hides them, or the driver is at fault.
pub(crate) fn why_none(reason: String) -> Cards {
    match &reason[..] {
        HIDDEN => Cards::Hidden(reason),
        NO_CARD => Cards::Absent(reason),
        absent if absent.ends_with(ABSENT) => Cards::Absent(reason),
        _ => Cards::Fault(reason),
    }
}

/// Whether the driver's library is there and cannot be loaded.
pub(crate) fn is_broken(reason: &str) -> bool {
    reason.split(": ").next().is_some_and(|first| first.ends_with(BROKEN))
}

/// One card, as `rung doctor` lists it.
pub(crate) struct Card {
    pub name: String,
    pub driver: String,
    pub unusable: Option<String>,
}

/// Why a card is not asked for, also by Vulkan.
pub(crate) const HIDDEN: &str = "hidden by CUDA_VISIBLE_DEVICES";

/// Whether the environment hides every card: its list is there and names none.
pub(crate) fn hidden() -> bool {
    std::env::var("CUDA_VISIBLE_DEVICES").is_ok_and(|list| list.trim().is_empty())
}

/// The driver, started, and how many cards it shows.
fn started() -> Result<(Driver, i32), String> {
    if hidden() {
        return Err(HIDDEN.to_string());
    }
    let driver = Driver::load()?;
    let mut count = 0;
    // SAFETY: the first call; the driver writes one number.
    let outcome = unsafe { driver.init(0).and_then(|()| driver.device_count(&mut count)) };
    match outcome {
        Err(Refused { code: Some(NO_DEVICE), .. }) => Err(NO_CARD.to_string()),
        Err(refused) => Err(said(refused.into())),
        Ok(()) if count < 1 => Err(NO_CARD.to_string()),
        Ok(()) => Ok((driver, count)),
    }
}

fn said(failure: Failure) -> String {
    format!("CUDA driver: {}", failure.in_words())
}

/// Every card that the driver shows, or why there is none.
pub(crate) fn cards() -> Result<Vec<Card>, String> {
    let (driver, count) = started()?;
    let card = |ordinal: i32| {
        let about = About::of(&driver, ordinal).map_err(said)?;
        Ok(Card { unusable: about.too_old(), name: about.name, driver: about.driver })
    };
    (0..count).map(card).collect()
}

/// What a card says of itself.
struct About {
    device: i32,
    name: String,
    driver: String,
    capability: (i32, i32),
    memory: u64,
    integrated: bool,
    multiprocessors: Option<u32>,
    pools: bool,
    max_invocations: i32,
    max_groups: i32,
}

impl About {
    fn of(driver: &Driver, ordinal: i32) -> Result<About, Failure> {
        let (mut device, mut memory, mut name) = (0, 0, [0u8; 128]);
        // SAFETY: the driver is started; it writes one handle, a text that ends in a zero within the
        // bytes that it is given, and one number.
        unsafe {
            driver.device_get(&mut device, ordinal)?;
            driver.device_name(name.as_mut_ptr().cast(), name.len() as i32 - 1, device)?;
            driver.device_memory(&mut memory, device)?;
        }
        let attribute = |which: Attribute| {
            let mut value = 0;
            // SAFETY: the driver writes one number.
            unsafe { driver.device_attribute(&mut value, which as i32, device) }?;
            Ok::<i32, Refused>(value)
        };
        let length = name.iter().position(|byte| *byte == 0).unwrap_or(0);
        let capability =
            (attribute(Attribute::CapabilityMajor)?, attribute(Attribute::CapabilityMinor)?);
        let version = driver.version().unwrap_or_else(|| "of unknown version".into());
        Ok(About {
            device,
            name: String::from_utf8_lossy(&name[..length]).into_owned(),
            driver: format!("CUDA {version}"),
            capability,
            memory: memory as u64,
            integrated: attribute(Attribute::Integrated).is_ok_and(|value| value != 0),
            multiprocessors: attribute(Attribute::Multiprocessors)
                .ok()
                .and_then(|count| u32::try_from(count).ok().filter(|&count| count > 0)),
            // An old driver does not know the question.
            pools: attribute(Attribute::MemoryPools).is_ok_and(|value| value != 0),
            max_invocations: attribute(Attribute::MaxThreadsPerBlock)?,
            max_groups: attribute(Attribute::MaxGridY)?,
        })
    }

    fn too_old(&self) -> Option<String> {
        let (major, minor) = self.capability;
        let (least, least_minor) = LEAST;
        let text = format!("compute capability {major}.{minor} is below {least}.{least_minor}");
        (self.capability < LEAST).then_some(text)
    }

    /// The arithmetic of a card is exact in all that PTX says with a rounding; the self-test looks.
    fn info(&self, variants: Variants, pooled: bool) -> Info {
        let exact = Demands { keep_subnormals: true, keep_specials: true, nearest_even: true };
        Info {
            binding: "cuda",
            name: self.name.clone(),
            driver: self.driver.clone(),
            backend: format!("sm_{}{}", self.capability.0, self.capability.1),
            software: false,
            integrated: self.integrated,
            f64: !variants.without_f64,
            i64: !variants.without_i64,
            f16: true,
            subgroups: true,
            tensor_cores: self.capability >= TENSOR_CORES,
            tensor_doubles: TensorDoubles::Absent,
            multiprocessors: self.multiprocessors,
            most_turns: None,
            max_binding: self.memory,
            max_buffer: self.memory,
            max_buffers: 32,
            max_groups: self.max_groups as u32,
            max_invocations: self.max_invocations as u32,
            pooled,
            memory: Some(self.memory),
            variants: Variants { demands_f32: exact, demands_f64: exact, ..variants },
            self_test: (0, 0),
        }
    }
}

/// Why there is no card of a name that no card can have.
pub(crate) fn no_such(name: &str) -> String {
    started().map_or_else(|reason| reason, |(driver, count)| unknown(&driver, count, name))
}

fn unknown(driver: &Driver, count: i32, name: &str) -> String {
    let card = |k| Some(format!("cuda:{k} ({})", About::of(driver, k).ok()?.name));
    let names: Vec<String> = (0..count).filter_map(card).collect();
    format!("no adapter named {name}; found: {}", names.join(", "))
}

/// The card of this number, ready but for its self-test; the error is a reason.
pub(crate) fn open(ordinal: u32, variants: Variants) -> Result<CudaDevice, String> {
    let (driver, count) = started()?;
    let Some(ordinal) = i32::try_from(ordinal).ok().filter(|ordinal| *ordinal < count) else {
        return Err(unknown(&driver, count, &format!("cuda:{ordinal}")));
    };
    let about = About::of(&driver, ordinal).map_err(said)?;
    if let Some(reason) = about.too_old() {
        return Err(reason);
    }
    let context = Context::open(driver, about.device, about.pools).map_err(said)?;
    let info = about.info(variants, context.has_pool());
    let device = CudaDevice { info, context: Arc::new(context), state: Mutex::<State>::default() };
    // All that brings a result home is tried before anything has its only bytes there.
    let mut staging = super::Staging::default();
    let mut bytes = [1; TRIAL];
    let trial = device.zeros(TRIAL).map_err(said)?;
    device.down(&mut staging, trial.address, &mut bytes).map_err(said)?;
    drop(trial);
    Ok(device)
}
