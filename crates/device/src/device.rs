//! What a device is to the rest of Rung: buffers, launches and one wait at a read.
//!
//! A device runs kernels and knows no operation and no array; `rung-ops` decides what runs where
//! and keeps residency. Nothing here waits except `download` and `synchronize`. Failures are
//! values with a decline code and a text. Read `wgpu` and `cuda` for the bindings.

use rung_base::{Error, ErrorKind};
use rung_kernel::{Access, Kernel, Launch, Variants};
use std::any::Any;
use std::fmt;
use std::sync::{Arc, LazyLock, Mutex, MutexGuard};

/// A device that passed its self-test.
pub trait Device: Send + Sync {
    /// What it is and what it can do.
    fn info(&self) -> &Info;

    /// A buffer of `bytes` zeros; 0 bytes are allowed.
    fn allocate(&self, bytes: usize) -> Outcome<Buffer>;

    /// A buffer holding a copy of `bytes`; the caller's memory is free on return.
    fn upload(&self, bytes: &[u8]) -> Outcome<Buffer>;

    /// Overwrites the first `bytes.len()` bytes of a buffer, after what is queued; the caller's
    /// memory is free on return. Does not wait.
    fn write(&self, buffer: &Buffer, bytes: &[u8]) -> Outcome<()>;

    /// Bytes of device memory that are free, where the driver tells.
    fn free_memory(&self) -> Option<u64> {
        None
    }

    /// Gives memory that nobody uses back to the driver.
    fn trim(&self) {}

    /// Queues one run of a kernel over its buffers in binding order. Does not wait: a failure on
    /// the device is reported by the next call that does.
    fn launch(&self, launch: &Launch, buffers: &[&Buffer]) -> Outcome<()>;

    /// Waits for everything queued and copies the first `into.len()` bytes of the buffer home.
    fn download(&self, buffer: &Buffer, into: &mut [u8]) -> Outcome<()>;

    /// Waits for everything queued.
    fn synchronize(&self) -> Outcome<()>;
}

/// Parts of a buffer begin at multiples of so many bytes: the most that a device may ask for.
pub const PART: usize = 256;

/// Device memory, freed when the last clone is dropped (after the queue has passed its last use).
#[derive(Clone)]
pub struct Buffer {
    pub(crate) inner: Arc<dyn Any + Send + Sync>,
    /// The byte at which it begins in its memory.
    pub(crate) start: usize,
    bytes: usize,
    capacity: usize,
}

impl Buffer {
    /// So many bytes of a device, which alone knows what `inner` is.
    pub fn new(inner: Arc<dyn Any + Send + Sync>, bytes: usize) -> Buffer {
        Buffer { inner, start: 0, bytes, capacity: bytes }
    }

    /// A buffer of no device, for a place that has given its own away.
    pub(crate) fn none() -> Buffer {
        static NONE: LazyLock<Arc<()>> = LazyLock::new(|| Arc::new(()));
        Buffer::new(NONE.clone(), 0)
    }

    /// A part of it, which a kernel sees as a buffer of its own; it begins at a multiple of `PART`.
    pub fn part(&self, start: usize, bytes: usize) -> Buffer {
        debug_assert!(start.is_multiple_of(PART) && start + bytes <= self.capacity);
        Buffer { inner: self.inner.clone(), start: self.start + start, bytes, capacity: bytes }
    }

    /// The size that was asked for.
    pub fn bytes(&self) -> usize {
        self.bytes
    }

    /// The size it was made with.
    pub(crate) fn capacity(&self) -> usize {
        self.capacity
    }

    /// The same memory, used for so many bytes.
    pub(crate) fn resized(self, bytes: usize) -> Buffer {
        Buffer { bytes, ..self }
    }

    /// Whether there are other clones.
    pub(crate) fn is_shared(&self) -> bool {
        Arc::strong_count(&self.inner) > 1
    }
}

impl fmt::Debug for Buffer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Buffer({} bytes)", self.bytes)
    }
}

/// What a device is and what it can do; only capabilities, never names, decide what runs on it.
#[derive(Clone, Debug)]
pub struct Info {
    /// The library that reaches it: `wgpu`, `cuda`.
    pub binding: &'static str,
    /// The adapter's name.
    pub name: String,
    /// Driver and version.
    pub driver: String,
    /// `vulkan`, or a card's architecture: `sm_86`.
    pub backend: String,
    /// Runs on the CPU.
    pub software: bool,
    /// Shares its memory with the CPU.
    pub integrated: bool,
    /// Kernels may compute with doubles.
    pub f64: bool,
    /// Kernels may compute with 64-bit integers.
    pub i64: bool,
    /// Kernels may hold half-width floats.
    pub f16: bool,
    /// Kernels may use subgroup operations.
    pub subgroups: bool,
    /// Kernels may use tensor cores: `Kernel::needs_tensor_cores`.
    pub tensor_cores: bool,
    /// In which order they add products of doubles.
    pub tensor_doubles: TensorDoubles,
    /// Most bytes of a buffer that one kernel can see.
    pub max_binding: u64,
    /// Most bytes of one buffer.
    pub max_buffer: u64,
    /// Most buffers of one kernel.
    pub max_buffers: u32,
    /// Most groups of a launch along one axis.
    pub max_groups: u32,
    /// Most invocations of one group.
    pub max_invocations: u32,
    /// Parts that run groups side by side, where the driver tells.
    pub multiprocessors: Option<u32>,
    /// Turns of loops after which the driver ends them without a word, all of an invocation together:
    /// 65,535 in Mesa's llvmpipe.
    pub most_turns: Option<u32>,
    /// Memory comes from a pool, in the order of the queue: cheap, and nothing waits for it.
    pub pooled: bool,
    /// Bytes of its largest memory, where the driver tells.
    pub memory: Option<u64>,
    /// The exact replacements that its kernels use.
    pub variants: Variants,
    /// Checks of the self-test: passed, all.
    pub self_test: (usize, usize),
}

/// What the self-test saw of products of doubles on tensor cores.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TensorDoubles {
    /// There are none.
    Absent,
    /// The test could not be made, so they are not used.
    Untested,
    /// Other bits than fused steps in ascending order, so they are not used.
    OtherOrder,
    /// Bit for bit fused steps in ascending order, the definition's: products of doubles use them.
    InOrder,
}

/// Why a device call could not be made: the decline codes of the ladder.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum FailureCode {
    /// No memory for it.
    Memory,
    /// A buffer larger than a kernel can see.
    Binding,
    /// More groups than the device takes.
    Grid,
    /// The device has no doubles.
    NoDouble,
    /// The kernel's text was refused: our own mistake.
    Compile,
    /// The device is gone for this process.
    Lost,
    /// Anything else the driver reported.
    Driver,
}

impl FailureCode {
    /// The code as explain prints it.
    pub fn name(self) -> &'static str {
        match self {
            FailureCode::Memory => "memory",
            FailureCode::Binding => "binding",
            FailureCode::Grid => "grid",
            FailureCode::NoDouble => "no-double",
            FailureCode::Compile => "compile",
            FailureCode::Lost => "lost",
            FailureCode::Driver => "driver",
        }
    }
}

/// A device call that failed: code and text of the decline.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Failure {
    /// What kind of failure.
    pub code: FailureCode,
    /// The decline's text.
    pub text: String,
}

impl Failure {
    pub(crate) fn new(code: FailureCode, text: impl Into<String>) -> Failure {
        Failure { code, text: text.into() }
    }

    /// Of every call from now on: the device was lost to this. The one place with these words, so what
    /// is said further up is this text as it stands.
    pub fn retired(cause: impl fmt::Display) -> Failure {
        Failure::new(FailureCode::Lost, format!("device retired: {cause}"))
    }

    /// The text where no code stands beside it: `out of memory: needs 4 KiB`.
    pub(crate) fn in_words(&self) -> String {
        let out = self.code == FailureCode::Memory && self.text.starts_with("needs ");
        format!("{}{}", if out { "out of memory: " } else { "" }, self.text)
    }

    /// As the error of a reader whose elements cannot be had.
    pub fn into_error(self) -> Error {
        let (kind, hint) = match self.code {
            FailureCode::Memory => return Error::new(ErrorKind::Memory, self.text),
            FailureCode::Lost => (
                ErrorKind::DeviceLost,
                "elements that were only on the device are gone; run without --gpu",
            ),
            _ => (
                ErrorKind::Device,
                "nothing is lost on the device: try again, or run without --gpu",
            ),
        };
        Error::new(kind, self.text).hint(hint)
    }
}

impl fmt::Display for Failure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.text)
    }
}

impl std::error::Error for Failure {}

/// The result of a device call.
pub type Outcome<T> = Result<T, Failure>;

/// Whether a device of these limits can make a launch: counts, sizes, and no buffer that is written and
/// bound twice.
pub(crate) fn check_launch(info: &Info, launch: &Launch, buffers: &[&Buffer]) -> Outcome<()> {
    let kernel = &launch.kernel;
    if buffers.len() != kernel.bindings.len()
        || launch.parameters.len() != kernel.parameter_words
        || launch.parameters.len() > rung_kernel::kernel::PARAMETER_WORDS
    {
        let text = format!("kernel {}: wrong number of buffers or parameters", kernel.key);
        return Err(Failure::new(FailureCode::Compile, text));
    }
    if kernel.needs_tensor_cores() && !info.tensor_cores {
        let text = format!("kernel {}: no tensor cores on {}", kernel.key, info.backend);
        return Err(Failure::new(FailureCode::Compile, text));
    }
    let invocations: u32 = kernel.workgroup.iter().product();
    if invocations > info.max_invocations {
        let most = info.max_invocations;
        let text = format!("a group of {invocations} invocations, {most} there may be");
        return Err(Failure::new(FailureCode::Grid, text));
    }
    if launch.groups.iter().any(|&g| g > info.max_groups) {
        return Err(Failure::new(FailureCode::Grid, "launch exceeds the device's grid"));
    }
    check_buffers(info, kernel, buffers)
}

fn check_buffers(info: &Info, kernel: &Kernel, buffers: &[&Buffer]) -> Outcome<()> {
    let same = |a: &Buffer, b: &Buffer| {
        Arc::as_ptr(&a.inner).cast::<()>() == Arc::as_ptr(&b.inner).cast::<()>()
    };
    let overlaps = |i: usize| {
        let others = buffers.iter().enumerate().filter(|(j, _)| i != *j);
        kernel.bindings[i].access != Access::Read
            && others.into_iter().any(|(_, other)| same(other, buffers[i]))
    };
    if (0..buffers.len()).any(overlaps) {
        let text = format!("kernel {}: a buffer is written and bound twice", kernel.key);
        return Err(Failure::new(FailureCode::Compile, text));
    }
    let largest = buffers.iter().map(|b| b.bytes() as u64).max().unwrap_or(0);
    if largest > info.max_binding {
        let (largest, most) = (sized(largest), sized(info.max_binding));
        let text = format!("buffer of {largest} exceeds the device's {most} binding");
        return Err(Failure::new(FailureCode::Binding, text));
    }
    Ok(())
}

/// A device is of no use to a child of a fork. Asked before any lock is taken: another thread may have held it
/// when the process split, and the child would wait for ever.
pub(crate) fn owned_by(process: u32) -> Outcome<()> {
    match process == std::process::id() {
        true => Ok(()),
        false => Err(Failure::new(FailureCode::Lost, "device belongs to the parent process")),
    }
}

/// What a mutex holds. A panic elsewhere leaves no half-made state that the checks of errors would not
/// find.
pub(crate) fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(|poisoned| poisoned.into_inner())
}

/// Bytes as a decline text says them.
pub(crate) fn sized(bytes: u64) -> String {
    const UNITS: [(u64, &str); 3] = [(1 << 30, "GiB"), (1 << 20, "MiB"), (1 << 10, "KiB")];
    match UNITS.iter().find(|(unit, _)| bytes >= *unit) {
        Some((unit, name)) if bytes.is_multiple_of(*unit) => format!("{} {name}", bytes / unit),
        Some((unit, name)) => format!("{:.1} {name}", bytes as f64 / *unit as f64),
        None => format!("{bytes} bytes"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sizes_read_as_in_the_decline_texts() {
        assert_eq!(sized(256 << 20), "256 MiB");
        assert_eq!(sized((80 << 30) + 1), "80.0 GiB");
        assert_eq!(sized(12), "12 bytes");
    }
}
