//! Bytes of arrays in this machine's memory, in lines of 64 so that any vector load is aligned.
//!
//! Dropped buffers are kept for the next arrays. Those from 64 KiB up, because fresh pages cost
//! 0.25 us per 4 KiB in page faults, which is more than an addition over them; what is kept of them
//! is bounded (`KEPT`), and `recycled_bytes` tells it. Those up to 8 KiB, because an aligned and
//! cleared allocation and its release take 60 ns, a fifth of a small call; each thread keeps a few
//! of each size (`pool`). Buffers from 4 MiB up ask for huge pages (`advise`).

mod pool;

use bytemuck::{Pod, Zeroable};
use pool::Pool;
use rung_base::{Error, Result, memory};
use std::cell::{Cell, RefCell};
use std::sync::Mutex;

#[derive(Clone, Copy, Pod, Zeroable)]
#[repr(C, align(64))]
struct Line([u8; 64]);

/// Smaller buffers go back to the allocator, which keeps them without page faults itself.
const SMALLEST_KEPT: usize = 64 << 10;
/// Bytes kept in all: enough for the temporaries of an expression over 1.5 M doubles.
const KEPT: usize = 64 << 20;

static RECYCLED: Mutex<Vec<Box<[Line]>>> = Mutex::new(Vec::new());

thread_local! {
    static SMALL: RefCell<Pool> = const { RefCell::new(Pool::new()) };
    static TAKEN: Cell<u64> = const { Cell::new(0) };
}

/// Bytes of a fixed length, always initialised. Memory for more of them may lie behind.
#[derive(Default)]
pub struct Bytes {
    lines: Box<[Line]>,
    length: usize,
}

impl Bytes {
    /// `length` zeros.
    pub fn zeroed(length: usize) -> Result<Bytes> {
        let (mut bytes, kept) = Bytes::any(length)?;
        if kept {
            bytes.lines.fill(Line::zeroed());
        }
        Ok(bytes)
    }

    /// `length` bytes that the caller overwrites; they hold old values.
    #[inline]
    pub fn unspecified(length: usize) -> Result<Bytes> {
        Bytes::any(length).map(|(bytes, _)| bytes)
    }

    /// `length` bytes, and whether they were kept from another array; others are zeros.
    #[inline]
    fn any(length: usize) -> Result<(Bytes, bool)> {
        let lines = length.div_ceil(64);
        // The language's one thread makes all results, so its own count is the run's.
        TAKEN.set(TAKEN.get().wrapping_add(length as u64));
        match take_recycled(lines) {
            Some(lines) => Ok((Bytes { lines, length }, true)),
            None => fresh(lines).map(|lines| (Bytes { lines, length }, false)),
        }
    }

    /// How many there are.
    #[inline]
    pub fn length(&self) -> usize {
        self.length
    }

    /// All of them, as elements.
    #[inline]
    pub fn elements<T: Pod>(&self) -> &[T] {
        bytemuck::cast_slice(&self.lines)
    }

    #[inline]
    pub fn elements_mut<T: Pod>(&mut self) -> &mut [T] {
        bytemuck::cast_slice_mut(&mut self.lines)
    }
}

/// The error of an array that memory does not hold.
pub(crate) fn too_large(length: usize) -> Error {
    memory::lack_of_one("an array", length as u64)
}

fn fresh(lines: usize) -> Result<Box<[Line]>> {
    let lines = pool::capacity(lines);
    let no_memory = || too_large(lines.saturating_mul(64));
    if lines < HUGE / 64 {
        let lines = bytemuck::allocation::try_zeroed_vec(lines).map_err(|()| no_memory())?;
        return Ok(lines.into_boxed_slice());
    }
    let mut room: Vec<Line> = Vec::new();
    room.try_reserve_exact(lines).map_err(|_| no_memory())?;
    advise(&mut room);
    room.resize(lines, Line::zeroed());
    Ok(room.into_boxed_slice())
}

/// Bytes from which a buffer asks for huge pages: two of them are sure to lie inside.
const HUGE: usize = 4 << 20;

/// Asks the system to back a buffer that was not touched yet with pages of 2 MiB instead of 4 KiB,
/// where it gives them on request only, as most Linux systems do: a read of 128 MiB went from 12.9
/// to 16.4 GB/s when the allocator asked for them (AMD Milan). A refusal changes nothing.
#[cfg(target_os = "linux")]
#[allow(unsafe_code)] // the one system call of this crate
fn advise(room: &mut Vec<Line>) {
    use nix::sys::mman::{MmapAdvise, madvise};
    const PAGE: usize = 4096;
    let start = room.as_mut_ptr().cast::<u8>();
    let skipped = start.align_offset(PAGE);
    let bytes = (room.capacity() * 64).saturating_sub(skipped) / PAGE * PAGE;
    if let Some(first) = std::ptr::NonNull::new(start.wrapping_add(skipped).cast()) {
        // SAFETY: whole pages inside the buffer, whose contents the advice does not change.
        let _ = unsafe { madvise(first, bytes, MmapAdvise::MADV_HUGEPAGE) };
    }
}

#[cfg(not(target_os = "linux"))]
fn advise(_: &mut Vec<Line>) {}

/// A kept buffer that holds `lines` lines: a small one of their class, or one that wastes less than
/// a quarter.
fn take_recycled(lines: usize) -> Option<Box<[Line]>> {
    if lines <= pool::MOST_LINES {
        return SMALL.try_with(|pool| pool.borrow_mut().take(lines)).ok().flatten();
    }
    if lines < SMALLEST_KEPT / 64 {
        return None;
    }
    let mut kept = RECYCLED.lock().ok()?;
    let fits = |b: &[Line]| b.len() >= lines && b.len() - lines <= lines / 4;
    let position = kept.iter().rposition(|b| fits(b))?;
    Some(kept.swap_remove(position))
}

/// Bytes that arrays made on this thread have taken so far, kept buffers used again included; what
/// is on a device alone takes none here.
pub fn taken_bytes() -> u64 {
    TAKEN.get()
}

/// Bytes of dropped arrays that are kept for the next ones.
pub fn recycled_bytes() -> usize {
    RECYCLED.lock().map_or(0, |kept| kept.iter().map(|b| b.len() * 64).sum())
}

impl Drop for Bytes {
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
    fn zeroed_bytes_are_zero_after_recycling() {
        for _ in 0..3 {
            let mut b = Bytes::zeroed(160_000).unwrap();
            assert!(b.elements::<f64>()[..20_000].iter().all(|&x| x == 0.0));
            b.elements_mut::<f64>().fill(7.0);
        }
        assert!(recycled_bytes() <= KEPT);
    }

    #[test]
    fn an_impossible_size_is_an_error_with_its_size() {
        let e = Bytes::zeroed(1 << 62).err().unwrap();
        assert_eq!(e.kind(), rung_base::ErrorKind::Memory);
        assert!(Bytes::zeroed(usize::MAX).is_err());
    }

    #[test]
    fn a_buffer_of_huge_pages_is_zero_and_whole() {
        let count = HUGE / 8 + 9;
        let mut b = Bytes::zeroed(count * 8).unwrap();
        assert!(b.elements::<f64>()[..count].iter().all(|x| x.to_bits() == 0));
        b.elements_mut::<f64>()[count - 1] = 1.0;
        assert_eq!(b.elements::<f64>()[count - 1], 1.0);
        // A length that no page divides.
        let mut room = Vec::with_capacity(HUGE / 64 + 3);
        advise(&mut room);
        room.resize(room.capacity(), Line([7; 64]));
        assert!(room.iter().all(|line| line.0 == [7; 64]));
    }

    #[test]
    fn every_buffer_starts_on_a_cache_line() {
        for n in [1, 9, 100_000] {
            let b = Bytes::unspecified(n * 4).unwrap();
            assert_eq!(b.elements::<f32>().as_ptr() as usize % 64, 0);
        }
    }
}
