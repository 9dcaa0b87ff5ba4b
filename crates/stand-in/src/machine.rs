//! The card behind the stand-in: its memory, its kernels, and which calls fail. Everything is done when
//! it is asked for, so that streams and events order nothing.

use crate::settings::Settings;
use rung_ptx_interpreter::{Program, launch};
use std::collections::{BTreeMap, HashMap};

/// What the driver returns.
pub type Code = i32;

pub const INVALID_VALUE: Code = 1;
pub const OUT_OF_MEMORY: Code = 2;
pub const NO_DEVICE: Code = 100;
pub const INVALID_DEVICE: Code = 101;
pub const INVALID_PTX: Code = 218;
pub const INVALID_HANDLE: Code = 400;
pub const NOT_FOUND: Code = 500;
pub const LAUNCH_FAILED: Code = 719;

/// Names of codes that a test may see.
pub const NAMES: [(Code, &str); 12] = [
    (0, "CUDA_SUCCESS"),
    (INVALID_VALUE, "CUDA_ERROR_INVALID_VALUE"),
    (OUT_OF_MEMORY, "CUDA_ERROR_OUT_OF_MEMORY"),
    (NO_DEVICE, "CUDA_ERROR_NO_DEVICE"),
    (INVALID_DEVICE, "CUDA_ERROR_INVALID_DEVICE"),
    (INVALID_PTX, "CUDA_ERROR_INVALID_PTX"),
    (222, "CUDA_ERROR_UNSUPPORTED_PTX_VERSION"),
    (INVALID_HANDLE, "CUDA_ERROR_INVALID_HANDLE"),
    (NOT_FOUND, "CUDA_ERROR_NOT_FOUND"),
    (700, "CUDA_ERROR_ILLEGAL_ADDRESS"),
    (LAUNCH_FAILED, "CUDA_ERROR_LAUNCH_FAILED"),
    (803, "CUDA_ERROR_SYSTEM_DRIVER_MISMATCH"),
];

/// Addresses of memory begin here, each allocation at a multiple of 256.
const FIRST_ADDRESS: u64 = 0x7_0000_0000;
/// What fresh memory holds: nobody may rely on zeros.
const UNWRITTEN: u8 = 0xa5;

pub struct Machine {
    pub settings: Settings,
    memory: BTreeMap<u64, Vec<u8>>,
    used: usize,
    next: u64,
    modules: HashMap<usize, Program>,
    next_module: usize,
    calls: HashMap<String, u64>,
    /// What every call returns since a failure from which there is no way back.
    stuck: Option<Code>,
}

impl Machine {
    pub fn new(settings: Settings) -> Machine {
        Machine {
            settings,
            memory: BTreeMap::new(),
            used: 0,
            next: FIRST_ADDRESS,
            modules: HashMap::new(),
            next_module: 1,
            calls: HashMap::new(),
            stuck: None,
        }
    }

    /// Counts a call; the code with which it fails instead of being made.
    pub fn enter(&mut self, function: &str) -> Result<(), Code> {
        if let Some(code) = self.stuck {
            return Err(code);
        }
        let count = self.calls.entry(function.to_string()).or_default();
        *count += 1;
        match &self.settings.fault {
            Some(fault) if fault.function == function && fault.call == *count => {
                self.stuck = fault.sticky.then_some(fault.code);
                Err(fault.code)
            }
            _ => Ok(()),
        }
    }

    pub fn free_memory(&self) -> usize {
        self.settings.memory - self.used
    }

    pub fn allocate(&mut self, bytes: usize) -> Result<u64, Code> {
        if bytes == 0 {
            return Err(INVALID_VALUE);
        }
        if bytes > self.free_memory() {
            return Err(OUT_OF_MEMORY);
        }
        let address = self.next;
        // A gap, so that what leaves one allocation reaches no other.
        self.next += (bytes as u64).next_multiple_of(256) + 256;
        self.used += bytes;
        self.memory.insert(address, vec![UNWRITTEN; bytes]);
        Ok(address)
    }

    pub fn free(&mut self, address: u64) -> Result<(), Code> {
        let bytes = self.memory.remove(&address).ok_or(INVALID_VALUE)?;
        self.used -= bytes.len();
        Ok(())
    }

    /// The bytes from an address on, within one allocation.
    pub fn bytes(&mut self, address: u64, count: usize) -> Result<&mut [u8], Code> {
        let (start, bytes) = self.memory.range_mut(..=address).next_back().ok_or(INVALID_VALUE)?;
        let from = (address - start) as usize;
        let to = from.checked_add(count).ok_or(INVALID_VALUE)?;
        bytes.get_mut(from..to).ok_or(INVALID_VALUE)
    }

    /// Reads a text; the error has what was wrong with it.
    pub fn load(&mut self, text: &str) -> Result<usize, (Code, String)> {
        let program = Program::parse(text).map_err(|fault| (INVALID_PTX, fault.to_string()))?;
        let program = program.adding(self.settings.doubles);
        let module = self.next_module;
        self.next_module += 1;
        self.modules.insert(module, program);
        Ok(module)
    }

    pub fn unload(&mut self, module: usize) -> Result<(), Code> {
        self.modules.remove(&module).map(drop).ok_or(INVALID_HANDLE)
    }

    pub fn program(&self, module: usize) -> Result<&Program, Code> {
        self.modules.get(&module).ok_or(INVALID_HANDLE)
    }

    /// Runs a kernel over memory: addresses, bytes, and the words.
    pub fn launch(
        &mut self,
        module: usize,
        groups: [u32; 3],
        buffers: &[(u64, u64)],
        words: &[u32],
    ) -> Result<(), Code> {
        let program = self.modules.remove(&module).ok_or(INVALID_HANDLE)?;
        let outcome = self.run(&program, groups, buffers, words);
        self.modules.insert(module, program);
        outcome
    }

    fn run(
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
            self.stuck = Some(LAUNCH_FAILED);
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
        let a = machine.allocate(600).unwrap();
        assert_eq!(machine.allocate(500), Err(OUT_OF_MEMORY));
        let b = machine.allocate(400).unwrap();
        assert!(machine.bytes(a, 601).is_err() && machine.bytes(a + 599, 1).is_ok());
        assert_eq!(machine.bytes(b, 1).unwrap(), [UNWRITTEN]);
        machine.free(a).unwrap();
        assert_eq!(machine.free(a), Err(INVALID_VALUE));
        assert_eq!(machine.free_memory(), 600);
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
    }
}
