//! The bytes of one array and of its views: here, on a device, or in both places.
//!
//! Host memory exists only once something reads it. What lies on a device is known as a `Remote`,
//! which names none. Every reader of elements is preceded by `home`, which can fail; a reader that
//! comes without it is a mistake that a build with debug assertions stops at (`unprepared`).
//!
//! | state | `own` | `copy` | `fetched` |
//! | made here | bytes | - | - |
//! | and sent to a device | bytes | remote | - |
//! | made on a device | - | remote | - |
//! | and read here | - | remote | bytes |

use crate::bytes::{Bytes, too_large};
use rung_base::{Element, Error, ErrorKind, Result};
use std::any::Any;
use std::sync::atomic::{AtomicU8, Ordering};
use std::sync::{Arc, Mutex, OnceLock};

/// The bytes of an array on a device. Dropping it frees them there.
pub trait Remote: Any + Send + Sync {
    /// How many there are.
    fn length(&self) -> usize;

    /// Those bytes here, after waiting for what computes them. The copy on the device stays, and
    /// from now on it need not be brought home before it is given up.
    fn fetch(&self) -> Result<Bytes>;
}

/// What is known of a matrix that might be worth keeping on a device.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Sight {
    /// Nobody asked before.
    First,
    /// Somebody did, and nothing was written since.
    Again,
    /// Somebody did, and it was written since.
    Written,
}

const UNSEEN: u8 = 0;
const SEEN: u8 = 1;
const WRITTEN: u8 = 2;

pub(crate) struct Storage {
    /// The bytes of an array that was made or written here; none of one that was made elsewhere.
    own: Bytes,
    /// What only arrays have that a device knows, in a box so that the others stay small: adding
    /// 4 elements into a new array takes 68 ns, and 91 with these fields here.
    more: OnceLock<Box<More>>,
}

#[derive(Default)]
struct More {
    copy: OnceLock<Arc<dyn Remote>>,
    /// The bytes of an array that was made elsewhere, once they came home.
    fetched: OnceLock<Bytes>,
    sight: AtomicU8,
}

/// Two threads that read one absent array fetch it once. One lock for all storages: the device
/// has one queue, so the second of two different arrays would wait anyway.
static FETCHING: Mutex<()> = Mutex::new(());

impl Storage {
    /// Storage for nothing; it allocates nothing.
    pub fn empty() -> Storage {
        Storage::here(Bytes::default())
    }

    /// Storage of these bytes.
    #[inline]
    pub fn here(own: Bytes) -> Storage {
        Storage { own, more: OnceLock::new() }
    }

    /// Storage for `count` elements of `T`, all zero.
    pub fn zeroed<T: Element>(count: usize) -> Result<Storage> {
        Ok(Storage::here(Bytes::zeroed(length_of::<T>(count)?)?))
    }

    /// Storage for `count` elements of `T` that the caller overwrites; it holds old values.
    #[inline]
    pub fn unspecified<T: Element>(count: usize) -> Result<Storage> {
        Ok(Storage::here(Bytes::unspecified(length_of::<T>(count)?)?))
    }

    /// Storage whose bytes are on a device alone.
    pub fn remote(remote: Arc<dyn Remote>) -> Storage {
        let storage = Storage::empty();
        if remote.length() > 0 {
            let _ = storage.more().copy.set(remote);
        }
        storage
    }

    fn more(&self) -> &More {
        self.more.get_or_init(Box::default)
    }

    /// The bytes that arrays show, in number.
    pub fn length(&self) -> usize {
        match self.bytes() {
            Some(bytes) => bytes.length(),
            None => self.copy().map_or(0, |remote| remote.length()),
        }
    }

    /// The bytes, where they are home.
    #[inline]
    fn bytes(&self) -> Option<&Bytes> {
        if self.own.length() > 0 { Some(&self.own) } else { self.others() }
    }

    /// The bytes of an array that was made elsewhere, or that has none.
    fn others(&self) -> Option<&Bytes> {
        match self.more.get() {
            Some(more) if more.copy.get().is_some() => more.fetched.get(),
            _ => Some(&self.own),
        }
    }

    #[inline]
    pub fn is_home(&self) -> bool {
        self.bytes().is_some()
    }

    /// The copy on a device, if there is one.
    #[inline]
    pub fn copy(&self) -> Option<&Arc<dyn Remote>> {
        self.more.get()?.copy.get()
    }

    /// Lets a device have a copy of these bytes; false where another copy is known already.
    pub fn attach(&self, remote: Arc<dyn Remote>) -> bool {
        let fits = remote.length() > 0 && remote.length() == self.length();
        fits && self.more().copy.set(remote).is_ok()
    }

    /// Brings the bytes here where they are not.
    #[inline]
    pub fn home(&self) -> Result<()> {
        if self.is_home() { Ok(()) } else { self.fetch() }
    }

    #[cold]
    fn fetch(&self) -> Result<()> {
        let _one = FETCHING.lock().unwrap_or_else(|poisoned| poisoned.into_inner());
        let (None, Some(remote)) = (self.bytes(), self.copy()) else { return Ok(()) };
        let bytes = remote.fetch()?;
        if bytes.length() != remote.length() {
            return Err(Error::new(ErrorKind::Internal, "a device gave other bytes than it has"));
        }
        let _ = self.more().fetched.set(bytes);
        Ok(())
    }

    /// The elements, which must be home.
    #[inline]
    pub fn elements<T: Element>(&self) -> &[T] {
        match self.bytes() {
            Some(bytes) => bytes.elements(),
            None => self.unprepared().elements(),
        }
    }

    /// A reader that did not ask `home` first. Tests stop here; a program gets the right numbers
    /// all the same, and ends only where the device is lost as well: there are no numbers then.
    #[cold]
    fn unprepared(&self) -> &Bytes {
        debug_assert!(false, "elements read of an array that is on a device: `home` comes first");
        let failure = match self.home() {
            Ok(()) => String::new(),
            Err(e) => e.message().to_string(),
        };
        match self.bytes() {
            Some(bytes) => bytes,
            None => panic!("an array was read that no longer exists: {failure}"),
        }
    }

    /// The elements for writing a part of them. They must be home, so call `home` first; a copy
    /// on a device is given up.
    #[inline]
    pub fn elements_mut<T: Element>(&mut self) -> &mut [T] {
        if self.more.get().is_some() {
            self.own_alone();
        }
        self.own.elements_mut()
    }

    /// The bytes are about to be written: nobody else has them from now on.
    #[cold]
    fn own_alone(&mut self) {
        let Some(more) = self.more.get_mut() else { return };
        if let Some(fetched) = more.fetched.take() {
            self.own = fetched;
        }
        more.copy.take();
        let sight = more.sight.get_mut();
        if *sight == SEEN {
            *sight = WRITTEN;
        }
    }

    /// Whether this matrix was seen before and is still the same; it is seen now.
    pub fn look(&self) -> Sight {
        match self.more().sight.swap(SEEN, Ordering::Relaxed) {
            UNSEEN => Sight::First,
            WRITTEN => Sight::Written,
            _ => Sight::Again,
        }
    }
}

fn length_of<T: Element>(count: usize) -> Result<usize> {
    count.checked_mul(size_of::<T>()).ok_or_else(|| too_large(usize::MAX))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn impossible_sizes_are_errors() {
        assert!(Storage::zeroed::<f64>(1 << 60).is_err());
        assert!(Storage::zeroed::<f64>(usize::MAX).is_err());
    }
}
