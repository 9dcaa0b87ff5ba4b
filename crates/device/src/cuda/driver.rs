//! NVIDIA's driver library, bound by `dlopen`: no toolkit, nothing linked. Each function is looked up
//! when it is first called, under its newest name first, so that an older driver declines what it
//! lacks and serves the rest. Everything here is the driver's own interface; what is done with it
//! stands in the files beside.

use crate::device::{Failure, FailureCode};
use libloading::Library;
use std::ffi::{CStr, c_char, c_void};
use std::sync::OnceLock;

/// The library that every driver installs.
#[cfg(not(windows))]
pub(super) const FILE: &str = "libcuda.so.1";
#[cfg(windows)]
pub(super) const FILE: &str = "nvcuda.dll";

/// What a function returns: 0, or what went wrong.
pub(super) type Code = i32;
/// A call's outcome.
pub(super) type Called = Result<(), Refused>;
/// An address in the device's memory.
pub(super) type Address = u64;
/// A handle of the driver.
pub(super) type Handle = *mut c_void;

const OUT_OF_MEMORY: Code = 2;
/// The driver has no device to show.
pub(super) const NO_DEVICE: Code = 100;
/// The driver's compiler refuses a text: invalid image, no binary, PTX, its version, its features.
const REFUSED: [Code; 7] = [200, 209, 218, 221, 222, 223, 300];
/// After these every call of the context fails: deinitialised, unavailable, ECC, NVLink, illegal
/// address, timeout, destroyed, assert, hardware stack, illegal instruction, misaligned address,
/// address space, program counter, launch failure, contained, unknown.
const STICKY: [Code; 17] =
    [4, 46, 214, 220, 226, 700, 702, 709, 710, 714, 715, 716, 717, 718, 719, 721, 999];

const VERSION: &CStr = c"cuDriverGetVersion";

/// Attributes of a device, by the driver's numbers.
#[derive(Clone, Copy)]
pub(super) enum Attribute {
    MaxThreadsPerBlock = 1,
    MaxGridY = 6,
    Multiprocessors = 16,
    Integrated = 18,
    CapabilityMajor = 75,
    CapabilityMinor = 76,
    MemoryPools = 115,
}

/// An event that records no time.
pub(super) const WITHOUT_TIMING: u32 = 2;
/// A stream that does not wait for the context's default one.
pub(super) const NON_BLOCKING: u32 = 1;
/// Options of the driver's compiler.
pub(super) const ERROR_LOG: i32 = 5;
pub(super) const ERROR_LOG_BYTES: i32 = 6;
/// Freed memory beyond so much goes back to the system.
pub(super) const RELEASE_THRESHOLD: i32 = 4;

/// A call that failed: what the driver returned, unless it has no such function, and what that means.
#[derive(Clone, Debug)]
pub(super) struct Refused {
    pub code: Option<Code>,
    pub failure: Failure,
}

impl From<Refused> for Failure {
    fn from(refused: Refused) -> Failure {
        refused.failure
    }
}

/// The loaded library and what was found in it.
pub(super) struct Driver {
    table: Table,
    error_name: OnceLock<Option<ErrorName>>,
    library: Library,
}

/// Tells the name of a code. Not among the others, whose failures are named by it.
type ErrorName = unsafe extern "system" fn(code: Code, name: *mut *const c_char) -> Code;

macro_rules! functions {
    ($($(#[$doc:meta])* $name:ident($($argument:ident: $type:ty),*) = $($symbol:literal)|+;)*) => {
        #[derive(Default)]
        struct Table {
            $($name: OnceLock<Option<unsafe extern "system" fn($($type),*) -> Code>>,)*
        }

        impl Driver {
            $(
                $(#[$doc])*
                ///
                /// # Safety
                /// As NVIDIA's reference of the driver says of this function.
                #[allow(clippy::too_many_arguments, reason = "the driver's own signatures")]
                pub unsafe fn $name(&self, $($argument: $type),*) -> Called {
                    const NAMES: &[&CStr] = &[$($symbol),+];
                    // SAFETY: the type is that of NVIDIA's header for each of these names.
                    let found = self.table.$name.get_or_init(|| unsafe { self.find(NAMES) });
                    let function = found.ok_or_else(|| self.absent(NAMES[0]))?;
                    // SAFETY: the caller's promise.
                    self.checked(unsafe { function($($argument),*) })
                }
            )*

            /// The first name of every function that is ever looked up.
            #[cfg(test)]
            pub const SYMBOLS: &'static [&'static [&'static CStr]] = &[$(&[$($symbol),+]),*];
        }
    };
}

functions! {
    /// Before everything else.
    init(flags: u32) = c"cuInit";
    /// 12040 is 12.4.
    driver_version(version: *mut i32) = c"cuDriverGetVersion";
    device_count(count: *mut i32) = c"cuDeviceGetCount";
    device_get(device: *mut i32, ordinal: i32) = c"cuDeviceGet";
    device_name(name: *mut c_char, bytes: i32, device: i32) = c"cuDeviceGetName";
    device_memory(bytes: *mut usize, device: i32) = c"cuDeviceTotalMem_v2";
    device_attribute(value: *mut i32, which: i32, device: i32) = c"cuDeviceGetAttribute";
    retain_primary(context: *mut Handle, device: i32) = c"cuDevicePrimaryCtxRetain";
    release_primary(device: i32) = c"cuDevicePrimaryCtxRelease_v2" | c"cuDevicePrimaryCtxRelease";
    set_current(context: Handle) = c"cuCtxSetCurrent";
    memory_info(free: *mut usize, all: *mut usize) = c"cuMemGetInfo_v2";
    allocate(address: *mut Address, bytes: usize) = c"cuMemAlloc_v2";
    free(address: Address) = c"cuMemFree_v2";
    /// Since CUDA 11.2.
    allocate_async(address: *mut Address, bytes: usize, stream: Handle) = c"cuMemAllocAsync";
    free_async(address: Address, stream: Handle) = c"cuMemFreeAsync";
    default_pool(pool: *mut Handle, device: i32) = c"cuDeviceGetDefaultMemPool";
    pool_attribute(pool: Handle, which: i32, value: *mut c_void) = c"cuMemPoolSetAttribute";
    pool_trim(pool: Handle, keep: usize) = c"cuMemPoolTrimTo";
    host_allocate(at: *mut Handle, bytes: usize, flags: u32) = c"cuMemHostAlloc";
    host_free(at: Handle) = c"cuMemFreeHost";
    copy_up(to: Address, from: *const c_void, bytes: usize, stream: Handle) = c"cuMemcpyHtoDAsync_v2";
    copy_down(to: *mut c_void, from: Address, bytes: usize, stream: Handle) = c"cuMemcpyDtoHAsync_v2";
    fill(to: Address, byte: u8, bytes: usize, stream: Handle) = c"cuMemsetD8Async";
    stream_create(stream: *mut Handle, flags: u32) = c"cuStreamCreate";
    stream_synchronize(stream: Handle) = c"cuStreamSynchronize";
    stream_wait_event(stream: Handle, event: Handle, flags: u32) = c"cuStreamWaitEvent";
    stream_destroy(stream: Handle) = c"cuStreamDestroy_v2" | c"cuStreamDestroy";
    event_create(event: *mut Handle, flags: u32) = c"cuEventCreate";
    event_record(event: Handle, stream: Handle) = c"cuEventRecord";
    event_synchronize(event: Handle) = c"cuEventSynchronize";
    event_destroy(event: Handle) = c"cuEventDestroy_v2" | c"cuEventDestroy";
    module_load(
        module: *mut Handle,
        image: *const c_void,
        count: u32,
        options: *mut i32,
        values: *mut *mut c_void
    ) = c"cuModuleLoadDataEx";
    module_function(function: *mut Handle, module: Handle, name: *const c_char) = c"cuModuleGetFunction";
    module_unload(module: Handle) = c"cuModuleUnload";
    /// Groups of so many threads that a multiprocessor runs at a time.
    occupancy(groups: *mut i32, function: Handle, threads: i32, shared_bytes: usize)
        = c"cuOccupancyMaxActiveBlocksPerMultiprocessor";
    launch(
        function: Handle,
        groups_x: u32,
        groups_y: u32,
        groups_z: u32,
        threads_x: u32,
        threads_y: u32,
        threads_z: u32,
        shared_bytes: u32,
        stream: Handle,
        arguments: *mut *mut c_void,
        extra: *mut *mut c_void
    ) = c"cuLaunchKernel";
}

impl Driver {
    /// Loads the driver's library; the error is a reason.
    pub fn load() -> Result<Driver, String> {
        // SAFETY: loading runs the constructors of the driver's own library, under the one name that
        // every driver installs; it is trusted as much as a linked library.
        match unsafe { Library::new(FILE) } {
            Ok(library) => {
                Ok(Driver { table: Table::default(), error_name: OnceLock::new(), library })
            }
            Err(error) => Err(unloaded(&error)),
        }
    }

    /// # Safety
    /// `F` is the type of what is exported under each of these names.
    unsafe fn find<F: Copy>(&self, names: &[&CStr]) -> Option<F> {
        // SAFETY: the caller's promise.
        names.iter().find_map(|name| unsafe { self.library.get::<F>(*name) }.ok().map(|f| *f))
    }

    /// The failure of a call of what this driver does not have.
    fn absent(&self, name: &CStr) -> Refused {
        // What is absent may be the question for the version.
        let known = (name != VERSION).then(|| self.version()).flatten();
        let version = known.map_or("of unknown version".into(), |v| format!("for CUDA {v}"));
        let text = format!("the driver ({version}) has no {}", name.to_string_lossy());
        Refused { code: None, failure: Failure::new(FailureCode::Driver, text) }
    }

    /// Whether memory can be taken from a pool and given back: a library between programs and the driver
    /// may say that there are pools and lack these.
    pub fn has_pooled_memory(&self) -> bool {
        // SAFETY: the functions are looked up and not called.
        let there = |name| unsafe { self.find::<*const c_void>(&[name]) }.is_some();
        [c"cuMemAllocAsync", c"cuMemFreeAsync"].into_iter().all(there)
    }

    /// `12.4`.
    pub fn version(&self) -> Option<String> {
        let mut version = 0;
        // SAFETY: the driver writes one number.
        unsafe { self.driver_version(&mut version) }.ok()?;
        Some(format!("{}.{}", version / 1000, version % 1000 / 10))
    }

    fn checked(&self, code: Code) -> Called {
        match code {
            0 => Ok(()),
            code => {
                let failure = Failure::new(kind(code), self.named(code));
                Err(Refused { code: Some(code), failure })
            }
        }
    }

    /// `CUDA_ERROR_ILLEGAL_ADDRESS (700)`.
    fn named(&self, code: Code) -> String {
        let mut name: *const c_char = std::ptr::null();
        let function = self.error_name.get_or_init(|| {
            // SAFETY: the type is that of NVIDIA's header.
            unsafe { self.find(&[c"cuGetErrorName"]) }
        });
        // SAFETY: the driver stores the address of a text of its own, or none.
        let found = function.is_some_and(|function| unsafe { function(code, &mut name) } == 0);
        if !found || name.is_null() {
            return format!("error {code}");
        }
        // SAFETY: a text of the driver, which lives as long as it does.
        format!("{} ({code})", unsafe { CStr::from_ptr(name) }.to_string_lossy())
    }
}

/// Why the library is not there: that the system finds none, or what its loader has against the one
/// that it finds, or against what that one needs.
fn unloaded(error: &libloading::Error) -> String {
    let reason = match error {
        libloading::Error::DlOpen { source } => source.to_string(),
        libloading::Error::LoadLibraryExW { source } => source.to_string(),
        other => other.to_string(),
    };
    let absent = [
        // glibc and musl name the library that they do not find: ours, or one that ours needs.
        format!("{FILE}: cannot open shared object file: No such file"),
        format!("Error loading shared library {FILE}: No such file"),
    ];
    // Windows gives a number for both.
    match absent.iter().any(|text| reason.starts_with(text)) || reason.contains("(os error 126)") {
        true => format!("{FILE} {}", super::open::ABSENT),
        false => format!("{FILE} {}: {reason}", super::open::BROKEN),
    }
}

/// What a code means to a caller.
fn kind(code: Code) -> FailureCode {
    match code {
        OUT_OF_MEMORY => FailureCode::Memory,
        code if STICKY.contains(&code) => FailureCode::Lost,
        code if REFUSED.contains(&code) => FailureCode::Compile,
        _ => FailureCode::Driver,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn codes_after_which_nothing_works_are_told_from_the_others() {
        assert_eq!(kind(2), FailureCode::Memory);
        assert_eq!(kind(218), FailureCode::Compile);
        assert_eq!(kind(700), FailureCode::Lost);
        assert_eq!(kind(719), FailureCode::Lost);
        assert_eq!(kind(1), FailureCode::Driver);
    }

    #[test]
    fn every_function_has_a_name_and_none_is_bound_twice() {
        let mut names: Vec<&CStr> = Driver::SYMBOLS.iter().copied().flatten().copied().collect();
        assert!(Driver::SYMBOLS.len() >= 35, "{}", Driver::SYMBOLS.len());
        names.sort();
        assert!(names.windows(2).all(|pair| pair[0] != pair[1]));
        assert!(names.iter().all(|name| name.to_bytes().starts_with(b"cu")));
    }
}
