//! The bytes of arrays, in lines of 64 bytes so that any vector load is aligned.
//!
//! Dropped buffers are kept for the next arrays. Those from 64 KiB up, because fresh pages cost
//! 0.25 us per 4 KiB in page faults, which is more than an addition over them; what is kept of them
//! is bounded (`KEPT`), and `recycled_bytes` tells it. Those up to 8 KiB, because an aligned and
//! cleared allocation and its release take 60 ns, a fifth of a small call; each thread keeps a few
//! of each size (`pool`). Buffers from 4 MiB up ask for huge pages (`advise`).

mod pool;

use bytemuck::{Pod, Zeroable};
use pool::Pool;
use rung_base::{Element, Error, ErrorKind, Result};
use std::cell::RefCell;
use std::sync::Mutex;

#[derive(Clone, Copy, Pod, Zeroable)]
#[repr(C, align(64))]
struct Line([u8; 64]);

/// Smaller buffers go back to the allocator, which keeps them without page faults itself.
const SMALLEST_KEPT: usize = 64 << 10;
/// Bytes kept in all: enough for the temporaries of an expression over 1.5 M doubles.
const KEPT: usize = 64 << 20;

static RECYCLED: Mutex<Vec<Vec<Line>>> = Mutex::new(Vec::new());

thread_local! {
    static SMALL: RefCell<Pool> = const { RefCell::new(Pool::new()) };
}

/// The bytes of one array, of a fixed length, always initialised.
pub(crate) struct Storage {
    lines: Vec<Line>,
}

impl Storage {
    /// Storage for nothing; it allocates nothing.
    pub fn empty() -> Storage {
        Storage { lines: Vec::new() }
    }

    /// Storage for `count` elements of `T`, all zero.
    pub fn zeroed<T: Element>(count: usize) -> Result<Storage> {
        let lines = lines_for::<T>(count)?;
        match take_recycled(lines) {
            Some(mut kept) => {
                kept.fill(Line::zeroed());
                Ok(Storage { lines: kept })
            }
            None => fresh(lines),
        }
    }

    /// Storage for `count` elements of `T` that the caller overwrites; it holds old values.
    pub fn unspecified<T: Element>(count: usize) -> Result<Storage> {
        let lines = lines_for::<T>(count)?;
        match take_recycled(lines) {
            Some(kept) => Ok(Storage { lines: kept }),
            None => fresh(lines),
        }
    }

    pub fn elements<T: Element>(&self) -> &[T] {
        bytemuck::cast_slice(&self.lines)
    }

    pub fn elements_mut<T: Element>(&mut self) -> &mut [T] {
        bytemuck::cast_slice_mut(&mut self.lines)
    }
}

fn lines_for<T: Element>(count: usize) -> Result<usize> {
    let bytes = count.checked_mul(size_of::<T>()).ok_or_else(|| too_large(usize::MAX))?;
    Ok(bytes.div_ceil(64))
}

fn too_large(lines: usize) -> Error {
    let mib = lines as f64 * 64.0 / (1u64 << 20) as f64;
    let size =
        if mib < 1024.0 { format!("{mib:.1} MiB") } else { format!("{:.1} GiB", mib / 1024.0) };
    Error::new(ErrorKind::Memory, format!("no memory for an array of {size}"))
}

fn fresh(lines: usize) -> Result<Storage> {
    let lines = pool::capacity(lines);
    if lines * 64 < HUGE {
        return match bytemuck::allocation::try_zeroed_vec(lines) {
            Ok(lines) => Ok(Storage { lines }),
            Err(()) => Err(too_large(lines)),
        };
    }
    let mut room: Vec<Line> = Vec::new();
    room.try_reserve_exact(lines).map_err(|_| too_large(lines))?;
    advise(&mut room);
    room.resize(lines, Line::zeroed());
    Ok(Storage { lines: room })
}

/// Bytes from which a buffer asks for huge pages: two of them are sure to lie inside.
const HUGE: usize = 4 << 20;

/// Asks the system to back a buffer that was not touched yet with pages of 2 MiB instead of 4 KiB,
/// where it gives them on request only, as most Linux systems do: a read of 128 MiB went from 12.9
/// to 16.4 GB/s when the allocator asked for them (AMD Milan). A refusal changes nothing.
#[cfg(target_os = "linux")]
#[allow(unsafe_code)] // the one system call of this crate
fn advise(room: &mut Vec<Line>) {
    const PAGE: usize = 4096;
    const MADV_HUGEPAGE: core::ffi::c_int = 14;
    unsafe extern "C" {
        fn madvise(
            start: *mut core::ffi::c_void,
            bytes: usize,
            advice: core::ffi::c_int,
        ) -> core::ffi::c_int;
    }
    let start = room.as_mut_ptr().cast::<u8>();
    let skipped = start.align_offset(PAGE);
    let bytes = (room.capacity() * 64).saturating_sub(skipped) / PAGE * PAGE;
    // SAFETY: whole pages inside the buffer, whose contents the advice does not change.
    unsafe { madvise(start.wrapping_add(skipped).cast(), bytes, MADV_HUGEPAGE) };
}

#[cfg(not(target_os = "linux"))]
fn advise(_: &mut Vec<Line>) {}

/// A kept buffer that holds `lines` lines: a small one of their class, or one that wastes less than
/// a quarter.
fn take_recycled(lines: usize) -> Option<Vec<Line>> {
    if lines <= pool::MOST_LINES {
        return SMALL.try_with(|pool| pool.borrow_mut().take(lines)).ok().flatten();
    }
    if lines * 64 < SMALLEST_KEPT {
        return None;
    }
    let mut kept = RECYCLED.lock().ok()?;
    let fits = |b: &Vec<Line>| b.len() >= lines && b.len() - lines <= lines / 4;
    let position = kept.iter().rposition(fits)?;
    Some(kept.swap_remove(position))
}

/// Bytes of dropped arrays that are kept for the next ones.
pub fn recycled_bytes() -> usize {
    RECYCLED.lock().map_or(0, |kept| kept.iter().map(|b| b.len() * 64).sum())
}

impl Drop for Storage {
    fn drop(&mut self) {
        let lines = self.lines.len();
        if (1..=pool::MOST_LINES).contains(&lines) {
            // Once the thread's pool is gone, at its end, the buffer goes back to the allocator.
            let lines = std::mem::take(&mut self.lines);
            let _ = SMALL.try_with(|pool| pool.borrow_mut().keep(lines));
            return;
        }
        let bytes = lines * 64;
        if !(SMALLEST_KEPT..=KEPT).contains(&bytes) {
            return;
        }
        // A poisoned lock only means that this buffer goes back to the allocator.
        if let Ok(mut kept) = RECYCLED.lock() {
            let mut total: usize = kept.iter().map(|b| b.len() * 64).sum();
            while total + bytes > KEPT && !kept.is_empty() {
                total -= kept.remove(0).len() * 64;
            }
            kept.push(std::mem::take(&mut self.lines));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn zeroed_storage_is_zero_after_recycling() {
        for _ in 0..3 {
            let mut s = Storage::zeroed::<f64>(20_000).unwrap();
            assert!(s.elements::<f64>()[..20_000].iter().all(|&x| x == 0.0));
            s.elements_mut::<f64>().fill(7.0);
        }
        assert!(recycled_bytes() <= KEPT);
    }

    #[test]
    fn an_impossible_size_is_an_error_with_its_size() {
        let e = Storage::zeroed::<f64>(1 << 60).err().unwrap();
        assert_eq!(e.kind(), ErrorKind::Memory);
        assert!(Storage::zeroed::<f64>(usize::MAX).is_err());
    }

    #[test]
    fn a_buffer_of_huge_pages_is_zero_and_whole() {
        let count = HUGE / 8 + 9;
        let mut s = Storage::zeroed::<f64>(count).unwrap();
        assert!(s.elements::<f64>()[..count].iter().all(|x| x.to_bits() == 0));
        s.elements_mut::<f64>()[count - 1] = 1.0;
        assert_eq!(s.elements::<f64>()[count - 1], 1.0);
        // A length that no page divides.
        let mut room = Vec::with_capacity(HUGE / 64 + 3);
        advise(&mut room);
        room.resize(room.capacity(), Line([7; 64]));
        assert!(room.iter().all(|line| line.0 == [7; 64]));
    }

    #[test]
    fn every_buffer_starts_on_a_cache_line() {
        for n in [1, 9, 100_000] {
            let s = Storage::unspecified::<f32>(n).unwrap();
            assert_eq!(s.elements::<f32>().as_ptr() as usize % 64, 0);
        }
    }
}
