//! What stands in for `libcuda.so.1` in tests: the functions that Rung's binding calls, over memory of
//! the process and the PTX interpreter. What card it shows, and which call fails, is said by variables of
//! the environment (`settings`); a test puts the library under the driver's name into a folder of
//! `LD_LIBRARY_PATH`, so that a whole program takes the whole way. Work is queued, and done when somebody
//! waits for it (`streams`).
//!
//! The functions check what they are given as far as the driver does; pointers are trusted, as there.
#![allow(clippy::missing_safety_doc, reason = "NVIDIA's reference says it of each function")]

mod machine;
mod settings;
mod streams;

use machine::{
    Code, INVALID_DEVICE, INVALID_VALUE, Machine, NAMES, NO_DEVICE, NOT_FOUND, UNWRITTEN,
};
use settings::Settings;
use std::ffi::{CStr, CString, c_char, c_void};
use std::fmt::Write;
use std::sync::{Mutex, MutexGuard, OnceLock};
use streams::{Goal, Source, Work};

type Handle = *mut c_void;

/// Parameter words of a launch, in bytes.
const WORDS: usize = 64;
/// Threads that a multiprocessor runs at a time: few, so that kernels of small tests walk.
const THREADS: i32 = 1024;
/// The flag of a stream that is not in order with the default one.
const NON_BLOCKING: u32 = 1;
/// Options of the compiler that are heeded.
const ERROR_LOG: i32 = 5;
const ERROR_LOG_BYTES: i32 = 6;

fn machine() -> MutexGuard<'static, Machine> {
    static MACHINE: OnceLock<Mutex<Machine>> = OnceLock::new();
    let machine = MACHINE.get_or_init(|| {
        let settings = Settings::of_environment();
        if let Some(fault) = &settings.fault {
            // A fault that can never show would let every test of it pass.
            let known = FUNCTIONS.contains(&fault.function.as_str());
            assert!(
                known,
                "STAND_IN_FAULT: no function {}; there are {FUNCTIONS:?}",
                fault.function
            );
        }
        Mutex::new(Machine::new(settings))
    });
    machine.lock().unwrap_or_else(|poisoned| poisoned.into_inner())
}

/// Makes a call of an exported name, unless the function is to fail.
fn call(name: &str, function: &str, work: impl FnOnce(&mut Machine) -> Result<(), Code>) -> Code {
    let mut machine = machine();
    let outcome = machine.enter(function).and_then(|()| work(&mut machine));
    if let Some(path) = &machine.settings.record {
        let line = format!("{name}{}\n", machine.detail);
        let file = std::fs::OpenOptions::new().create(true).append(true).open(path);
        file.and_then(|mut file| std::io::Write::write_all(&mut file, line.as_bytes()))
            .unwrap_or_else(|e| panic!("{}: {e}", path.display()));
    }
    outcome.err().unwrap_or(0)
}

/// Stores a result.
///
/// # Safety
/// `at` is null or may be written.
unsafe fn give<T>(at: *mut T, value: T) -> Result<(), Code> {
    if at.is_null() {
        return Err(INVALID_VALUE);
    }
    // SAFETY: the caller's promise.
    unsafe { at.write(value) };
    Ok(())
}

/// Declares exported functions: their name, and what they do to the machine.
macro_rules! exported {
    ($($name:ident as $plain:literal ($($argument:ident: $type:ty),*) |$machine:ident| $body:expr;)*) => {
        /// Those that a fault may name.
        const FUNCTIONS: &[&str] = &[$($plain),*];
        $(
            #[unsafe(no_mangle)]
            #[allow(non_snake_case, unused_unsafe, reason = "the driver's names; not all use pointers")]
            pub unsafe extern "system" fn $name($($argument: $type),*) -> Code {
                // SAFETY: pointers are those of the caller, who keeps to the driver's reference.
                call(stringify!($name), $plain, |$machine| unsafe { $body })
            }
        )*
    };
}

exported! {
    cuInit as "cuInit" (_flags: u32) |machine| match machine.settings.cards[..] {
        [] => Err(NO_DEVICE),
        _ => Ok(()),
    };
    cuDriverGetVersion as "cuDriverGetVersion" (at: *mut i32) |machine|
        give(at, machine.settings.version);
    cuDeviceGetCount as "cuDeviceGetCount" (at: *mut i32) |machine|
        give(at, machine.settings.cards.len() as i32);
    cuDeviceGet as "cuDeviceGet" (at: *mut i32, ordinal: i32) |machine| {
        match usize::try_from(ordinal).ok().and_then(|at| machine.settings.cards.get(at)) {
            Some(card) => give(at, *card),
            None => Err(INVALID_DEVICE),
        }
    };
    cuDeviceGetName as "cuDeviceGetName" (at: *mut c_char, bytes: i32, device: i32) |_machine| {
        let name = format!("Stand-in {device}\0");
        let count = name.len().min(bytes.max(0) as usize);
        std::ptr::copy_nonoverlapping(name.as_ptr().cast(), at, count);
        Ok(())
    };
    cuDeviceTotalMem_v2 as "cuDeviceTotalMem" (at: *mut usize, _device: i32) |machine|
        give(at, machine.settings.memory);
    cuDeviceGetAttribute as "cuDeviceGetAttribute" (at: *mut i32, which: i32, _device: i32) |machine| {
        let card = &machine.settings;
        let value = match which {
            1 => 1024,
            5 => i32::MAX,
            6 | 7 => 65_535,
            16 => card.multiprocessors,
            18 => card.integrated.into(),
            75 => card.capability / 10,
            76 => card.capability % 10,
            115 => card.pools.into(),
            _ => return Err(INVALID_VALUE),
        };
        give(at, value)
    };
    cuDevicePrimaryCtxRetain as "cuDevicePrimaryCtxRetain" (at: *mut Handle, device: i32) |_machine|
        give(at, (0x1000 + device as usize) as Handle);
    cuDevicePrimaryCtxRelease_v2 as "cuDevicePrimaryCtxRelease" (_device: i32) |_machine| Ok(());
    cuDevicePrimaryCtxRelease as "cuDevicePrimaryCtxRelease" (_device: i32) |_machine| Ok(());
    cuCtxSetCurrent as "cuCtxSetCurrent" (_context: Handle) |_machine| Ok(());
    cuMemGetInfo_v2 as "cuMemGetInfo" (free: *mut usize, all: *mut usize) |machine|
        give(free, machine.free_memory()).and_then(|()| give(all, machine.settings.memory));
    cuMemAlloc_v2 as "cuMemAlloc" (at: *mut u64, bytes: usize) |machine|
        machine.allocate(bytes, None).and_then(|address| give(at, address));
    cuMemFree_v2 as "cuMemFree" (address: u64) |machine| machine.free(address, None);
    cuMemAllocAsync as "cuMemAllocAsync" (at: *mut u64, bytes: usize, stream: Handle) |machine|
        machine.allocate(bytes, Some(stream as usize)).and_then(|address| give(at, address));
    cuMemFreeAsync as "cuMemFreeAsync" (address: u64, stream: Handle) |machine|
        machine.free(address, Some(stream as usize));
    cuDeviceGetDefaultMemPool as "cuDeviceGetDefaultMemPool" (at: *mut Handle, _device: i32) |_machine|
        give(at, 0x2000 as Handle);
    cuMemPoolSetAttribute as "cuMemPoolSetAttribute"
        (_pool: Handle, _which: i32, _value: *mut c_void) |_machine| Ok(());
    cuMemPoolTrimTo as "cuMemPoolTrimTo" (_pool: Handle, _keep: usize) |_machine| Ok(());
    cuMemHostAlloc as "cuMemHostAlloc" (at: *mut Handle, bytes: usize, _flags: u32) |_machine| {
        let memory = vec![0u8; bytes].into_boxed_slice();
        host().push((Box::into_raw(memory) as *mut u8 as usize, bytes));
        give(at, host().last().map_or(std::ptr::null_mut(), |(at, _)| *at as Handle))
    };
    cuMemFreeHost as "cuMemFreeHost" (at: Handle) |machine| {
        let done = machine.run(Goal::Everything);
        let mut held = host();
        let place = held.iter().position(|(start, _)| *start == at as usize).ok_or(INVALID_VALUE)?;
        let (start, bytes) = held.swap_remove(place);
        drop(Box::from_raw(std::ptr::slice_from_raw_parts_mut(start as *mut u8, bytes)));
        done
    };
    cuMemcpyHtoDAsync_v2 as "cuMemcpyHtoDAsync"
        (to: u64, from: *const c_void, bytes: usize, stream: Handle) |machine| {
        let pinned = is_pinned(from as usize, bytes);
        let _ = write!(machine.detail, " {bytes} {}", if pinned { "pinned" } else { "pageable" });
        let from = match pinned {
            true => Source::Pinned(from as usize),
            false => Source::Staged(std::slice::from_raw_parts(from.cast(), bytes).to_vec()),
        };
        machine.push(stream as usize, Work::Up { to, from, bytes })
    };
    cuMemcpyDtoHAsync_v2 as "cuMemcpyDtoHAsync"
        (to: *mut c_void, from: u64, bytes: usize, stream: Handle) |machine| {
        let pinned = is_pinned(to as usize, bytes);
        let _ = write!(machine.detail, " {bytes} {}", if pinned { "pinned" } else { "pageable" });
        machine.push(stream as usize, Work::Down { to: to as usize, from, bytes })?;
        std::slice::from_raw_parts_mut(to.cast::<u8>(), bytes).fill(UNWRITTEN);
        Ok(())
    };
    cuMemsetD8Async as "cuMemsetD8Async"
        (to: u64, byte: u8, bytes: usize, stream: Handle) |machine|
        machine.push(stream as usize, Work::Fill { to, byte, bytes });
    cuStreamCreate as "cuStreamCreate" (at: *mut Handle, flags: u32) |machine|
        give(at, machine.streams.create(flags & NON_BLOCKING == 0) as Handle);
    cuStreamSynchronize as "cuStreamSynchronize" (stream: Handle) |machine| {
        machine.streams.known(stream as usize)?;
        machine.run(Goal::Stream(stream as usize))
    };
    cuStreamWaitEvent as "cuStreamWaitEvent"
        (stream: Handle, event: Handle, _flags: u32) |machine| {
        match machine.streams.ticket(event as usize)? {
            Some(ticket) => machine.streams.push(stream as usize, Work::Wait(ticket)),
            None => Ok(()),
        }
    };
    cuStreamDestroy_v2 as "cuStreamDestroy" (_stream: Handle) |_machine| Ok(());
    cuStreamDestroy as "cuStreamDestroy" (_stream: Handle) |_machine| Ok(());
    cuEventCreate as "cuEventCreate" (at: *mut Handle, _flags: u32) |machine|
        give(at, machine.streams.create_event() as Handle);
    cuEventRecord as "cuEventRecord" (event: Handle, stream: Handle) |machine|
        machine.streams.record(event as usize, stream as usize);
    cuEventSynchronize as "cuEventSynchronize" (event: Handle) |machine| {
        match machine.streams.ticket(event as usize)? {
            Some(ticket) => machine.run(Goal::Ticket(ticket)),
            None => Ok(()),
        }
    };
    cuEventDestroy_v2 as "cuEventDestroy" (event: Handle) |machine|
        machine.streams.destroy_event(event as usize);
    cuEventDestroy as "cuEventDestroy" (event: Handle) |machine|
        machine.streams.destroy_event(event as usize);
    cuModuleLoadDataEx as "cuModuleLoadDataEx"
        (at: *mut Handle, image: *const c_void, count: u32, options: *mut i32, values: *mut Handle)
        |machine| {
        let text = CStr::from_ptr(image.cast()).to_string_lossy();
        match machine.load(&text) {
            Ok(module) => give(at, module as Handle),
            Err((code, said)) => {
                log(&said, count as usize, options, values);
                Err(code)
            }
        }
    };
    cuModuleGetFunction as "cuModuleGetFunction"
        (at: *mut Handle, module: Handle, name: *const c_char) |machine| {
        machine.program(module as usize)?;
        match CStr::from_ptr(name) == c"main" {
            true => give(at, module),
            false => Err(NOT_FOUND),
        }
    };
    cuModuleUnload as "cuModuleUnload" (module: Handle) |machine| {
        // As the driver, which frees the kernel's memory with it.
        let done = machine.run(Goal::Everything);
        machine.unload(module as usize).and(done)
    };
    cuOccupancyMaxActiveBlocksPerMultiprocessor as "cuOccupancyMaxActiveBlocksPerMultiprocessor"
        (at: *mut i32, function: Handle, threads: i32, _shared: usize) |machine| {
        machine.program(function as usize)?;
        match threads {
            1..=1024 => give(at, THREADS / threads),
            _ => Err(INVALID_VALUE),
        }
    };
    cuLaunchKernel as "cuLaunchKernel" (
        function: Handle,
        groups_x: u32,
        groups_y: u32,
        groups_z: u32,
        threads_x: u32,
        threads_y: u32,
        threads_z: u32,
        _shared: u32,
        stream: Handle,
        arguments: *mut Handle,
        _extra: *mut Handle
    ) |machine| {
        let program = machine.program(function as usize)?.clone();
        if program.group() != [threads_x, threads_y, threads_z] {
            return Err(INVALID_VALUE);
        }
        let count = program.buffers();
        let argument = |k: usize| *arguments.add(k);
        let number = |k: usize| argument(k).cast::<u64>().read();
        let buffers: Vec<(u64, u64)> = (0..count).map(|k| (number(k), number(count + k))).collect();
        let words = std::slice::from_raw_parts(argument(2 * count).cast::<u32>(), WORDS).to_vec();
        let groups = [groups_x, groups_y, groups_z];
        let outcome =
            machine.push(stream as usize, Work::Launch { program, groups, buffers, words });
        let queued = machine.streams.launches;
        let _ = write!(machine.detail, " groups {groups:?} threads {threads_x} queued {queued}");
        outcome
    };
}

/// Whether these bytes are memory that was given out pinned.
fn is_pinned(at: usize, bytes: usize) -> bool {
    host().iter().any(|(start, count)| *start <= at && at + bytes <= start + count)
}

/// Host memory that was given out: address and bytes.
fn host() -> MutexGuard<'static, Vec<(usize, usize)>> {
    static HELD: Mutex<Vec<(usize, usize)>> = Mutex::new(Vec::new());
    HELD.lock().unwrap_or_else(|poisoned| poisoned.into_inner())
}

/// Puts what the compiler says where its options want it.
///
/// # Safety
/// The options are as the driver's reference says.
unsafe fn log(said: &str, count: usize, options: *mut i32, values: *mut Handle) {
    let (mut at, mut bytes) = (std::ptr::null_mut::<u8>(), 0);
    for k in 0..count {
        // SAFETY: there are so many options and values.
        match unsafe { (*options.add(k), *values.add(k)) } {
            (ERROR_LOG, value) => at = value.cast(),
            (ERROR_LOG_BYTES, value) => bytes = value as usize,
            _ => {}
        }
    }
    if !at.is_null() && bytes > 0 {
        let count = said.len().min(bytes - 1);
        // SAFETY: so many bytes may be written there.
        unsafe { std::ptr::copy_nonoverlapping(said.as_ptr(), at, count) };
    }
}

/// The name of a code, which lives as long as the process.
#[unsafe(no_mangle)]
#[allow(non_snake_case)]
pub unsafe extern "system" fn cuGetErrorName(code: Code, at: *mut *const c_char) -> Code {
    static TEXTS: OnceLock<Vec<CString>> = OnceLock::new();
    let texts = TEXTS.get_or_init(|| {
        NAMES.iter().map(|(_, name)| CString::new(*name).unwrap_or_default()).collect()
    });
    match NAMES.iter().position(|(known, _)| *known == code) {
        // SAFETY: the caller's pointer, as the driver's reference says.
        Some(k) => unsafe { give(at, texts[k].as_ptr()) }.err().unwrap_or(0),
        None => INVALID_VALUE,
    }
}
