//! Memory that is executed: pages are written, then made executable, and never written again.
#![allow(unsafe_code)]

use std::cell::RefCell;

/// So many bytes of machine code one Lisp may have: some ten thousand functions.
pub const MOST: usize = 64 << 20;

/// A mapping is this large, or as large as what it is made for.
#[cfg(unix)]
const CHUNK: usize = 256 << 10;

/// Each function has pages of its own: if the system refuses to make the next one executable, those
/// before it still are. Half a page is lost for each, beside the thousands of bytes that it has.
/// Processors other than this one may have pages of 64 KiB.
#[cfg(unix)]
const PAGE: usize = if cfg!(target_arch = "x86_64") { 4096 } else { 65536 };

/// The mappings of one back end, given back with it.
pub struct Memory {
    mappings: RefCell<Vec<Mapping>>,
    most: usize,
}

struct Mapping {
    start: std::ptr::NonNull<std::ffi::c_void>,
    length: usize,
    used: usize,
}

impl Memory {
    /// Memory for so many bytes at most.
    pub fn of(most: usize) -> Memory {
        Memory { mappings: RefCell::default(), most }
    }

    /// Puts machine code where it can be executed; its address.
    #[cfg(unix)]
    pub fn place(&self, code: &[u8]) -> Result<*const u8, String> {
        use nix::sys::mman::{ProtFlags, mprotect};
        let mut mappings = self.mappings.borrow_mut();
        let needed = code.len().next_multiple_of(PAGE);
        if mappings.last().is_none_or(|last| last.used + needed > last.length) {
            let taken = mappings.iter().map(|mapping| mapping.length).sum::<usize>();
            if taken + needed > self.most {
                return Err(format!("the native code of this program takes {taken} bytes already"));
            }
            mappings.push(Mapping::new(needed.max(CHUNK))?);
        }
        let last = mappings.last_mut().ok_or("no memory for machine code")?;
        // SAFETY: `used + needed` is within the mapping, whose pages from `used` on are writable
        // and nobody's.
        let address = unsafe { last.start.cast::<u8>().add(last.used) };
        // SAFETY: as above; `needed` is not less than the length.
        unsafe { std::ptr::copy_nonoverlapping(code.as_ptr(), address.as_ptr(), code.len()) };
        // SAFETY: whole pages of the mapping, written just now and executed by nobody yet.
        unsafe { mprotect(address.cast(), needed, ProtFlags::PROT_READ | ProtFlags::PROT_EXEC) }
            .map_err(|error| format!("memory cannot be made executable: {error}"))?;
        last.used += needed;
        Ok(address.as_ptr())
    }

    /// Not yet on this system.
    #[cfg(not(unix))]
    pub fn place(&self, _code: &[u8]) -> Result<*const u8, String> {
        Err(format!("memory is made executable on Unix only, {} bytes at most", self.most))
    }
}

#[cfg(unix)]
impl Mapping {
    fn new(length: usize) -> Result<Mapping, String> {
        use nix::sys::mman::{MapFlags, ProtFlags, mmap_anonymous};
        let size = std::num::NonZeroUsize::new(length).ok_or("no machine code")?;
        let writable = ProtFlags::PROT_READ | ProtFlags::PROT_WRITE;
        // SAFETY: a new mapping, at an address that the system chooses.
        let start = unsafe { mmap_anonymous(None, size, writable, MapFlags::MAP_PRIVATE) };
        let start = start.map_err(|error| format!("no memory for machine code: {error}"))?;
        Ok(Mapping { start, length, used: 0 })
    }
}

impl Drop for Mapping {
    fn drop(&mut self) {
        // SAFETY: the mapping is ours, and the code in it has ended with its Lisp. One that
        // cannot be given back stays.
        #[cfg(unix)]
        let _ = unsafe { nix::sys::mman::munmap(self.start, self.length) };
    }
}

#[cfg(all(test, unix, target_arch = "x86_64"))]
mod tests {
    use super::*;

    #[test]
    fn code_that_was_placed_runs_after_more_was_placed_and_refused() {
        // mov eax, NUMBER; ret
        let code = |number: u8| [0xb8, number, 0, 0, 0, 0xc3];
        let memory = Memory::of(CHUNK);
        let mut placed = Vec::new();
        while let Ok(address) = memory.place(&code(placed.len() as u8)) {
            placed.push(address);
        }
        assert_eq!(placed.len(), CHUNK / PAGE);
        for (number, address) in placed.into_iter().enumerate() {
            // SAFETY: the bytes are a function without arguments that changes one register which
            // is its caller's to save.
            let run = unsafe { std::mem::transmute::<*const u8, extern "C" fn() -> u32>(address) };
            assert_eq!(run(), number as u32);
        }
        assert_eq!(
            memory.place(&code(1)).unwrap_err(),
            "the native code of this program takes 262144 bytes already"
        );
    }
}
