//! Memories with a shadow of who touched what: bounds, alignment, bytes that nothing has written, and
//! races. A race is two accesses of one word by different invocations, one of them a write and not
//! both atomic, that no barrier orders: inside a group since its last barrier, between groups ever.
//!
//! The shadow is kept for words of four bytes; accesses of less are not looked at for races.

use crate::Fault;
use crate::Outcome;

/// Who accesses: the group's number, the invocation's in it, and how many barriers the group passed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Who {
    pub(crate) group: u32,
    pub(crate) thread: u32,
    pub(crate) epoch: u32,
}

/// Several invocations of a group, or several groups.
const SEVERAL: u32 = u32::MAX;

#[derive(Clone, Copy)]
struct Touch {
    who: Who,
    atomic: bool,
}

/// A variable's or a buffer's bytes with their shadow.
pub(crate) struct Region {
    pub(crate) bytes: Vec<u8>,
    /// Of shared and local memory, which bytes were written.
    written: Option<Vec<bool>>,
    writers: Vec<Option<Touch>>,
    readers: Vec<Option<Who>>,
}

impl Region {
    /// Bytes that are there from the start, of which races are looked for.
    pub(crate) fn of(bytes: Vec<u8>) -> Region {
        let words = bytes.len().div_ceil(4);
        Region { bytes, written: None, writers: vec![None; words], readers: vec![None; words] }
    }

    /// Bytes that are read only after they were written.
    pub(crate) fn unwritten(bytes: usize) -> Region {
        Region { written: Some(vec![false; bytes]), ..Region::of(vec![0; bytes]) }
    }

    /// Bytes of one invocation, where nothing races.
    pub(crate) fn private(bytes: usize) -> Region {
        Region {
            bytes: vec![0; bytes],
            written: Some(vec![false; bytes]),
            writers: Vec::new(),
            readers: Vec::new(),
        }
    }

    /// The first byte of an access that lies inside and is aligned to its whole size.
    pub(crate) fn check(&self, at: i64, bytes: usize, all: usize) -> Outcome<usize> {
        let inside = at >= 0 && (at as u64).saturating_add(all as u64) <= self.bytes.len() as u64;
        if !inside {
            let (size, end) = (self.bytes.len(), at.saturating_add(all as i64));
            return Err(Fault(format!("out of bounds: bytes {at} to {end} of {size}")));
        }
        // Vectors of 16 bytes are aligned as a whole.
        if !(at as u64).is_multiple_of(all as u64) {
            return Err(Fault(format!("misaligned: {all} bytes ({bytes} each) at byte {at}")));
        }
        Ok(at as usize)
    }

    pub(crate) fn read(&mut self, at: usize, bytes: usize, who: Who, atomic: bool) -> Outcome<u64> {
        if let Some(written) = &self.written
            && written[at..at + bytes].contains(&false)
        {
            return Err(Fault(format!("nothing was written at byte {at}")));
        }
        if bytes >= 4 {
            for word in at / 4..(at + bytes) / 4 {
                self.note_read(word, who, atomic)?;
            }
        }
        let mut value = [0; 8];
        value[..bytes].copy_from_slice(&self.bytes[at..at + bytes]);
        Ok(u64::from_le_bytes(value))
    }

    pub(crate) fn write(
        &mut self,
        at: usize,
        bytes: usize,
        value: u64,
        who: Who,
        atomic: bool,
    ) -> Outcome<()> {
        if let Some(written) = &mut self.written {
            written[at..at + bytes].fill(true);
        }
        if bytes >= 4 {
            for word in at / 4..(at + bytes) / 4 {
                self.note_write(word, who, atomic)?;
            }
        }
        self.bytes[at..at + bytes].copy_from_slice(&value.to_le_bytes()[..bytes]);
        Ok(())
    }

    fn note_read(&mut self, word: usize, who: Who, atomic: bool) -> Outcome<()> {
        let Some(reader) = self.readers.get_mut(word) else { return Ok(()) };
        if let Some(writer) = &self.writers[word]
            && unordered(writer.who, who)
            && !(writer.atomic && atomic)
        {
            return Err(race("reads", who, "wrote", writer.who, word));
        }
        // What an atomic operation reads, its own write stands for.
        if atomic {
            return Ok(());
        }
        *reader = Some(match *reader {
            Some(old) if old.group != who.group => Who { group: SEVERAL, ..who },
            Some(old) if old.epoch == who.epoch && old.thread != who.thread => {
                Who { thread: SEVERAL, ..who }
            }
            _ => who,
        });
        Ok(())
    }

    fn note_write(&mut self, word: usize, who: Who, atomic: bool) -> Outcome<()> {
        let Some(writer) = self.writers.get_mut(word) else { return Ok(()) };
        if let Some(old) = writer
            && unordered(old.who, who)
            && !(old.atomic && atomic)
        {
            return Err(race("writes", who, "wrote", old.who, word));
        }
        if let Some(old) = self.readers[word]
            && unordered(old, who)
        {
            return Err(race("writes", who, "read", old, word));
        }
        *writer = Some(Touch { who, atomic });
        Ok(())
    }
}

/// Whether no barrier stands between an earlier access and one now.
fn unordered(old: Who, now: Who) -> bool {
    old.group != now.group || (old.epoch == now.epoch && old.thread != now.thread)
}

fn race(what: &str, who: Who, before: &str, old: Who, word: usize) -> Fault {
    let name = |n: u32| if n == SEVERAL { "several".into() } else { n.to_string() };
    Fault(format!(
        "race: invocation {} of group {} {what} word {word}, which invocation {} of group {} {before} \
         with no barrier between",
        who.thread,
        who.group,
        name(old.thread),
        name(old.group)
    ))
}
