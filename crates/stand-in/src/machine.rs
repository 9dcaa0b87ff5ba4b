//! The card behind the stand-in: its memory, its kernels, what is queued for it, and which calls fail.

use crate::settings::{Fault, Settings, When};
use crate::streams::{Goal, Source, Streams, Work};
use rung_ptx_interpreter::{Program, launch};
use std::collections::{BTreeMap, HashMap};
use std::fmt::Write;
use std::sync::Arc;

/// What the driver returns.
pub type Code = i32;

pub const INVALID_VALUE: Code = 1;
pub const OUT_OF_MEMORY: Code = 2;
pub const NO_DEVICE: Code = 100;
pub const INVALID_DEVICE: Code = 101;
pub const INVALID_PTX: Code = 218;
pub const INVALID_HANDLE: Code = 400;
pub const NOT_FOUND: Code = 500;
pub const ILLEGAL_ADDRESS: Code = 700;
pub const LAUNCH_FAILED: Code = 719;

/// Names of codes that a test may see.
pub const NAMES: &[(Code, &str)] = &[
    (0, "CUDA_SUCCESS"),
    (INVALID_VALUE, "CUDA_ERROR_INVALID_VALUE"),
    (OUT_OF_MEMORY, "CUDA_ERROR_OUT_OF_MEMORY"),
    (NO_DEVICE, "CUDA_ERROR_NO_DEVICE"),
    (INVALID_DEVICE, "CUDA_ERROR_INVALID_DEVICE"),
    (INVALID_PTX, "CUDA_ERROR_INVALID_PTX"),
    (201, "CUDA_ERROR_INVALID_CONTEXT"),
    (214, "CUDA_ERROR_ECC_UNCORRECTABLE"),
    (222, "CUDA_ERROR_UNSUPPORTED_PTX_VERSION"),
    (INVALID_HANDLE, "CUDA_ERROR_INVALID_HANDLE"),
    (NOT_FOUND, "CUDA_ERROR_NOT_FOUND"),
    (ILLEGAL_ADDRESS, "CUDA_ERROR_ILLEGAL_ADDRESS"),
    (701, "CUDA_ERROR_LAUNCH_OUT_OF_RESOURCES"),
    (702, "CUDA_ERROR_LAUNCH_TIMEOUT"),
    (LAUNCH_FAILED, "CUDA_ERROR_LAUNCH_FAILED"),
    (803, "CUDA_ERROR_SYSTEM_DRIVER_MISMATCH"),
    (999, "CUDA_ERROR_UNKNOWN"),
];

/// Addresses of memory begin here, each allocation at a multiple of 256.
const FIRST_ADDRESS: u64 = 0x7_0000_0000;
/// What fresh memory holds, and that into which a copy is on its way: nobody may rely on zeros, or on what
/// was there.
pub const UNWRITTEN: u8 = 0xa5;

struct Block {
    bytes: Vec<u8>,
    /// In the order of the streams it is there.
    mapped: bool,
    /// The program gave it back: what is queued from then on has no right to it.
    freed: bool,
}

pub struct Machine {
    pub settings: Settings,
    pub streams: Streams,
    memory: BTreeMap<u64, Block>,
    used: usize,
    next: u64,
    modules: HashMap<usize, Arc<Program>>,
    next_module: usize,
    calls: HashMap<String, u64>,
    /// What every call returns since a failure from which there is no way back.
    stuck: Option<Code>,
    /// The work of the call that is being made fails when its turn comes.
    late: Option<Code>,
    /// What the record of this call has beside its name.
    pub detail: String,
}

impl Machine {
    pub fn new(settings: Settings) -> Machine {
        Machine {
            streams: Streams::new(settings.seed),
            settings,
            memory: BTreeMap::new(),
            used: 0,
            next: FIRST_ADDRESS,
            modules: HashMap::new(),
            next_module: 1,
            calls: HashMap::new(),
            stuck: None,
            late: None,
            detail: String::new(),
        }
    }

    /// Counts a call; the code with which it fails instead of being made.
    pub fn enter(&mut self, function: &str) -> Result<(), Code> {
        self.detail.clear();
        if let Some(code) = self.stuck {
            return Err(code);
        }
        let count = self.calls.entry(function.to_string()).or_default();
        *count += 1;
        let at = |fault: &Fault| match fault.when {
            When::Twice => fault.call == *count || fault.call + 1 == *count,
            _ => fault.call == *count,
        };
        match &self.settings.fault {
            Some(fault) if fault.function == function && at(fault) => match fault.when {
                When::Late => {
                    self.late = Some(fault.code);
                    Ok(())
                }
                when => {
                    self.stuck = (when == When::Sticky).then_some(fault.code);
                    Err(fault.code)
                }
            },
            _ => Ok(()),
        }
    }

    pub fn free_memory(&self) -> usize {
        self.settings.memory - self.used
    }

    /// Memory that is there at once or, of a stream, when its turn comes.
    pub fn allocate(&mut self, bytes: usize, stream: Option<usize>) -> Result<u64, Code> {
        let _ = write!(self.detail, " {bytes}");
        if bytes == 0 {
            return Err(INVALID_VALUE);
        }
        if bytes > self.free_memory() {
            return Err(OUT_OF_MEMORY);
        }
        let address = self.next;
        let block = Block { bytes: vec![UNWRITTEN; bytes], mapped: stream.is_none(), freed: false };
        if let Some(stream) = stream {
            self.streams.push(stream, Work::Map(address))?;
        }
        // A gap, so that what leaves one allocation reaches no other.
        self.next += (bytes as u64).next_multiple_of(256) + 256;
        self.used += bytes;
        self.memory.insert(address, block);
        Ok(address)
    }

    /// Gives memory back: after everything that is queued, or in the order of a stream. A pool lends
    /// it again in that order, so it counts as free from now on.
    pub fn free(&mut self, address: u64, stream: Option<usize>) -> Result<(), Code> {
        let block = self.memory.get_mut(&address).filter(|block| !block.freed);
        let block = block.ok_or(INVALID_VALUE)?;
        block.freed = true;
        self.used -= block.bytes.len();
        match stream {
            Some(stream) => self.streams.push(stream, Work::Unmap(address)),
            None => {
                let outcome = self.run(Goal::Everything);
                self.memory.remove(&address);
                outcome
            }
        }
    }

    /// Whether a call may speak of so many bytes from an address on.
    fn check(&self, address: u64, count: usize) -> Result<(), Code> {
        let (start, block) = self.memory.range(..=address).next_back().ok_or(INVALID_VALUE)?;
        let end = ((address - start) as usize).checked_add(count).ok_or(INVALID_VALUE)?;
        (!block.freed && end <= block.bytes.len()).then_some(()).ok_or(INVALID_VALUE)
    }

    /// The bytes from an address on, within one allocation, for what is done now.
    fn bytes(&mut self, address: u64, count: usize) -> Result<&mut [u8], Code> {
        let (start, block) =
            self.memory.range_mut(..=address).next_back().ok_or(ILLEGAL_ADDRESS)?;
        let from = (address - start) as usize;
        let to = from.checked_add(count).ok_or(ILLEGAL_ADDRESS)?;
        block.bytes.get_mut(from..to).filter(|_| block.mapped).ok_or(ILLEGAL_ADDRESS)
    }

    /// Queues work, or what fails in its place.
    pub fn push(&mut self, stream: usize, work: Work) -> Result<(), Code> {
        match &work {
            Work::Up { to, bytes, .. } | Work::Fill { to, bytes, .. } => self.check(*to, *bytes)?,
            Work::Down { from, bytes, .. } => self.check(*from, *bytes)?,
            Work::Launch { buffers, .. } => {
                let used = buffers.iter().filter(|(_, bytes)| *bytes > 0);
                used.into_iter().try_for_each(|(at, bytes)| self.check(*at, *bytes as usize))?;
            }
            _ => {}
        }
        let work = self.late.take().map_or(work, Work::Fail);
        self.streams.push(stream, work)
    }

    /// Does what is queued until a goal is reached. What fails then leaves nothing that works.
    pub fn run(&mut self, goal: Goal) -> Result<(), Code> {
        self.streams.begin();
        while let Some(work) = self.streams.next(goal) {
            if let Err(code) = self.perform(work) {
                eprintln!(
                    "stand-in: error {code} in the queue (STAND_IN_SEED={})",
                    self.settings.seed
                );
                self.stuck = Some(code);
                return Err(code);
            }
        }
        Ok(())
    }

    fn perform(&mut self, work: Work) -> Result<(), Code> {
        match work {
            Work::Map(address) => {
                let block = self.memory.get_mut(&address).ok_or(ILLEGAL_ADDRESS)?;
                block.mapped = true;
            }
            Work::Unmap(address) => drop(self.memory.remove(&address)),
            Work::Fill { to, byte, bytes } => self.bytes(to, bytes)?.fill(byte),
            Work::Up { to, from, bytes } => match from {
                Source::Staged(held) => self.bytes(to, bytes)?.copy_from_slice(&held),
                // SAFETY: pinned memory, which is not given back before everything queued is done.
                Source::Pinned(from) => unsafe {
                    let from = std::slice::from_raw_parts(from as *const u8, bytes);
                    self.bytes(to, bytes)?.copy_from_slice(from);
                },
            },
            Work::Down { to, from, bytes } => {
                let from = self.bytes(from, bytes)?;
                // SAFETY: the caller of the copy lends so many bytes until it is done.
                unsafe { std::slice::from_raw_parts_mut(to as *mut u8, bytes) }
                    .copy_from_slice(from);
            }
            Work::Launch { program, groups, buffers, words } => {
                self.launch(&program, groups, &buffers, &words)?;
            }
            Work::Fail(code) => return Err(code),
            Work::Wait(_) | Work::Record(_) => {}
        }
        Ok(())
    }

    /// Reads a text; the error has what was wrong with it.
    pub fn load(&mut self, text: &str) -> Result<usize, (Code, String)> {
        let program = Program::parse(text).map_err(|fault| (INVALID_PTX, fault.to_string()))?;
        let program = program.adding(self.settings.doubles);
        let module = self.next_module;
        self.next_module += 1;
        self.modules.insert(module, Arc::new(program));
        Ok(module)
    }

    pub fn unload(&mut self, module: usize) -> Result<(), Code> {
        self.modules.remove(&module).map(drop).ok_or(INVALID_HANDLE)
    }

    pub fn program(&self, module: usize) -> Result<&Arc<Program>, Code> {
        self.modules.get(&module).ok_or(INVALID_HANDLE)
    }

    /// Runs a kernel over memory: addresses, bytes, and the words.
    fn launch(
        &mut self,
        program: &Program,
        groups: [u32; 3],
        buffers: &[(u64, u64)],
        words: &[u32],
    ) -> Result<(), Code> {
        let mut held = Vec::new();
        for (address, bytes) in buffers {
            held.push(match bytes {
                0 => Vec::new(),
                bytes => self.bytes(*address, *bytes as usize)?.to_vec(),
            });
        }
        let outcome = launch(program, groups, &mut held, words);
        for ((address, bytes), held) in buffers.iter().zip(held) {
            if *bytes > 0 {
                self.bytes(*address, held.len())?.copy_from_slice(&held);
            }
        }
        outcome.map_err(|fault| {
            eprintln!("stand-in: {fault}");
            LAUNCH_FAILED
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn machine(fault: Option<&str>) -> Machine {
        let mut settings = Settings::of_environment();
        settings.memory = 1000;
        settings.fault = fault.map(|text| text.parse().unwrap());
        Machine::new(settings)
    }

    #[test]
    fn memory_is_bounded_and_kept_apart() {
        let mut machine = machine(None);
        let a = machine.allocate(600, None).unwrap();
        assert_eq!(machine.allocate(500, None), Err(OUT_OF_MEMORY));
        let b = machine.allocate(400, None).unwrap();
        assert!(machine.bytes(a, 601).is_err() && machine.bytes(a + 599, 1).is_ok());
        assert_eq!(machine.bytes(b, 1).unwrap(), [UNWRITTEN]);
        machine.free(a, None).unwrap();
        assert_eq!(machine.free(a, None), Err(INVALID_VALUE));
        assert_eq!(machine.free_memory(), 600);
    }

    fn fill(to: u64, byte: u8) -> Work {
        Work::Fill { to, byte, bytes: 8 }
    }

    /// Memory of one stream that another uses without a wait: too early, or too late.
    #[test]
    fn memory_is_there_in_the_order_of_its_stream() {
        let mut machine = machine(None);
        let (a, b) = (machine.streams.create(false), machine.streams.create(false));
        let early = machine.allocate(8, Some(a)).unwrap();
        machine.push(b, fill(early, 1)).unwrap();
        assert_eq!(machine.run(Goal::Stream(b)), Err(ILLEGAL_ADDRESS));
        assert_eq!(machine.enter("cuStreamSynchronize"), Err(ILLEGAL_ADDRESS));
        let mut machine = self::machine(None);
        let (a, b) = (machine.streams.create(false), machine.streams.create(false));
        let late = machine.allocate(8, Some(a)).unwrap();
        machine.run(Goal::Stream(a)).unwrap();
        machine.push(b, fill(late, 1)).unwrap();
        machine.free(late, Some(a)).unwrap();
        assert_eq!(machine.push(b, fill(late, 1)), Err(INVALID_VALUE));
        assert_eq!(machine.allocate(1000, Some(a)).map(|_| ()), Ok(()));
        machine.run(Goal::Stream(a)).unwrap();
        assert_eq!(machine.run(Goal::Stream(b)), Err(ILLEGAL_ADDRESS));
    }

    #[test]
    fn a_call_fails_when_it_is_told_to() {
        let mut machine = machine(Some("cuMemAlloc:2:2"));
        assert_eq!(machine.enter("cuMemAlloc"), Ok(()));
        assert_eq!(machine.enter("cuMemFree"), Ok(()));
        assert_eq!(machine.enter("cuMemAlloc"), Err(2));
        assert_eq!(machine.enter("cuMemAlloc"), Ok(()));
        let mut stuck = self::machine(Some("cuLaunchKernel:1:700:sticky"));
        assert_eq!(stuck.enter("cuLaunchKernel"), Err(700));
        assert_eq!(stuck.enter("cuMemAlloc"), Err(700));
        let mut late = self::machine(Some("cuMemsetD8Async:1:719:late"));
        let (stream, memory) = (late.streams.create(false), late.allocate(8, None).unwrap());
        assert_eq!(late.enter("cuMemsetD8Async"), Ok(()));
        assert_eq!(late.push(stream, fill(memory, 0)), Ok(()));
        assert_eq!(late.enter("cuMemAlloc"), Ok(()));
        assert_eq!(late.run(Goal::Stream(stream)), Err(719));
        assert_eq!(late.enter("cuMemAlloc"), Err(719));
    }
}
