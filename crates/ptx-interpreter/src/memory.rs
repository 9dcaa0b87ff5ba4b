//! Memories with a shadow of who touched what: bounds, alignment, bytes that nothing has written, and
//! races. A race is two accesses of one place by different invocations, one of them a write and not
//! both atomic, that no barrier orders: inside a group since its last barrier, between groups ever.
//!
//! The shadow is kept for words of four bytes, and for the bytes of those that accesses of less touched.

use crate::Fault;
use crate::Outcome;
use std::collections::HashMap;

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

/// The last writer and the last readers of a word or a byte.
#[derive(Clone, Copy, Default)]
struct Shadow {
    writer: Option<Touch>,
    reader: Option<Who>,
}

/// What an access was, and whose.
type Earlier = (&'static str, Who);

impl Shadow {
    /// What an access now would race with.
    fn against(&self, who: Who, atomic: bool, writes: bool) -> Option<Earlier> {
        let races = |old: &Touch| unordered(old.who, who) && !(old.atomic && atomic);
        let wrote = self.writer.filter(races).map(|old| ("wrote", old.who));
        let read = || self.reader.filter(|old| unordered(*old, who)).map(|old| ("read", old));
        wrote.or_else(|| if writes { read() } else { None })
    }

    fn note(&mut self, who: Who, atomic: bool, writes: bool) {
        match writes {
            true => self.writer = Some(Touch { who, atomic }),
            // What an atomic operation reads, its own write stands for.
            false if atomic => {}
            false => {
                self.reader = Some(match self.reader {
                    Some(old) if old.group != who.group => Who { group: SEVERAL, ..who },
                    Some(old) if old.epoch == who.epoch && old.thread != who.thread => {
                        Who { thread: SEVERAL, ..who }
                    }
                    _ => who,
                });
            }
        }
    }
}

/// A variable's or a buffer's bytes with their shadow.
pub(crate) struct Region {
    pub(crate) bytes: Vec<u8>,
    /// Of shared and local memory, which bytes were written.
    written: Option<Vec<bool>>,
    /// Of accesses of whole words; empty where nothing can race.
    words: Vec<Shadow>,
    /// Of accesses of less, by byte.
    parts: HashMap<usize, Shadow>,
}

impl Region {
    /// Bytes that are there from the start, of which races are looked for.
    pub(crate) fn of(bytes: Vec<u8>) -> Region {
        let words = bytes.len().div_ceil(4);
        let words = vec![Shadow::default(); words];
        Region { bytes, written: None, words, parts: HashMap::new() }
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
            words: Vec::new(),
            parts: HashMap::new(),
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
        self.note(at, bytes, who, atomic, false)?;
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
        self.note(at, bytes, who, atomic, true)?;
        self.bytes[at..at + bytes].copy_from_slice(&value.to_le_bytes()[..bytes]);
        Ok(())
    }

    /// Keeps who accesses so many bytes, unless it races.
    fn note(
        &mut self,
        at: usize,
        bytes: usize,
        who: Who,
        atomic: bool,
        writes: bool,
    ) -> Outcome<()> {
        if self.words.is_empty() {
            return Ok(());
        }
        for word in at / 4..(at + bytes).div_ceil(4) {
            let shadow = &mut self.words[word];
            if let Some(old) = shadow.against(who, atomic, writes) {
                return Err(race(writes, who, old, "word", word));
            }
            if bytes >= 4 {
                shadow.note(who, atomic, writes);
            }
        }
        if bytes >= 4 && self.parts.is_empty() {
            return Ok(());
        }
        for byte in at..at + bytes {
            if let Some(old) = self.parts.get(&byte).and_then(|s| s.against(who, atomic, writes)) {
                return Err(race(writes, who, old, "byte", byte));
            }
            if bytes < 4 {
                self.parts.entry(byte).or_default().note(who, atomic, writes);
            }
        }
        Ok(())
    }
}

/// Whether no barrier stands between an earlier access and one now.
fn unordered(old: Who, now: Who) -> bool {
    old.group != now.group || (old.epoch == now.epoch && old.thread != now.thread)
}

fn race(writes: bool, who: Who, (before, old): Earlier, unit: &str, at: usize) -> Fault {
    let name = |n: u32| if n == SEVERAL { "several".into() } else { n.to_string() };
    let what = if writes { "writes" } else { "reads" };
    Fault(format!(
        "race: invocation {} of group {} {what} {unit} {at}, which invocation {} of group {} {before} \
         with no barrier between",
        who.thread,
        who.group,
        name(old.thread),
        name(old.group)
    ))
}
