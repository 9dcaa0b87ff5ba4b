//! Memory that is executed: pages are written, then made executable, and from then on only read.
#![allow(unsafe_code)]

use std::cell::RefCell;

/// So many bytes of machine code one Lisp may have.
const MOST: usize = 64 << 20;

/// A mapping is this large, or as large as what it is made for.
const CHUNK: usize = 64 << 10;

/// The mappings of one back end, given back with it.
#[derive(Default)]
pub struct Memory(RefCell<Vec<Mapping>>);

struct Mapping {
    start: std::ptr::NonNull<std::ffi::c_void>,
    length: usize,
    used: usize,
}

impl Memory {
    /// Puts machine code where it can be executed; its address.
    #[cfg(unix)]
    pub fn place(&self, code: &[u8]) -> Result<*const u8, String> {
        use nix::sys::mman::{MapFlags, ProtFlags, mmap_anonymous, mprotect};
        let mut mappings = self.0.borrow_mut();
        let needed = code.len().next_multiple_of(64);
        if mappings.last().is_none_or(|last| last.used + needed > last.length) {
            if mappings.iter().map(|mapping| mapping.length).sum::<usize>() + needed > MOST {
                return Err(format!("the native code of this program takes {MOST} bytes already"));
            }
            let length = needed.max(CHUNK).next_multiple_of(4096);
            let size = std::num::NonZeroUsize::new(length).ok_or("no machine code")?;
            let (writable, flags) =
                (ProtFlags::PROT_READ | ProtFlags::PROT_WRITE, MapFlags::MAP_PRIVATE);
            // SAFETY: a new mapping, at an address that the system chooses.
            let start = unsafe { mmap_anonymous(None, size, writable, flags) };
            let start = start.map_err(|error| format!("no memory for machine code: {error}"))?;
            mappings.push(Mapping { start, length, used: 0 });
        }
        let last = mappings.last_mut().ok_or("no memory for machine code")?;
        let protect = |flags| {
            // SAFETY: the mapping is ours. No code in it runs on this thread, the only one that
            // runs code of this Lisp, while it is not executable.
            unsafe { mprotect(last.start, last.length, flags) }
                .map_err(|error| format!("memory cannot be made executable: {error}"))
        };
        protect(ProtFlags::PROT_READ | ProtFlags::PROT_WRITE)?;
        // SAFETY: `used + needed` is within the mapping, and nobody has the bytes from `used` on.
        let address = unsafe {
            let to = last.start.cast::<u8>().as_ptr().add(last.used);
            std::ptr::copy_nonoverlapping(code.as_ptr(), to, code.len());
            to
        };
        protect(ProtFlags::PROT_READ | ProtFlags::PROT_EXEC)?;
        last.used += needed;
        Ok(address)
    }

    /// Not yet on this system.
    #[cfg(not(unix))]
    pub fn place(&self, _code: &[u8]) -> Result<*const u8, String> {
        let _ = (MOST, CHUNK);
        Err("memory is made executable on Unix only".to_string())
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
