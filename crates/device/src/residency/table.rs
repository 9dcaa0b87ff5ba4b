//! The books of residency: what lies on the device, who was used last, what may go. No device is
//! called from here, so everything in this file happens under one lock.

use super::Moved;
use crate::device::Buffer;
use rung_array::Bytes;
use std::collections::{BTreeMap, HashMap};

/// The bytes of one array and where they are.
#[derive(Default)]
pub(super) struct Entry {
    length: usize,
    /// On the device.
    pub buffer: Option<Buffer>,
    /// Brought home to make room, and not yet asked for by the array.
    pub parked: Option<Bytes>,
    /// The array has them itself.
    pub home: bool,
    /// Calls and copies under way that use the buffer.
    pins: usize,
    /// When it was used last; its place in the order while nobody pins it.
    used: u64,
}

impl Entry {
    /// The only bytes are on the device.
    fn is_dirty(&self) -> bool {
        !self.home && self.parked.is_none()
    }
}

/// Who has to go.
pub(super) enum Victim {
    /// Nobody needed to, or those that went had copies elsewhere.
    None,
    /// The only bytes are there: they are brought home first. Pinned until `settle`.
    Dirty(u64, Buffer, usize),
    /// Everything there is in use.
    AllInUse,
}

#[derive(Default)]
pub(super) struct Table {
    entries: HashMap<u64, Entry>,
    /// By last use, those that nobody pins: clean ones, dirty ones.
    order: [BTreeMap<u64, u64>; 2],
    clock: u64,
    /// Bytes of all buffers of entries.
    pub resident: usize,
    pub moved: Moved,
    pub free: FreeList,
}

impl Table {
    /// Takes in a buffer in use, with its bytes also at `home` or nowhere else.
    pub fn add(&mut self, buffer: Buffer, home: bool) -> u64 {
        self.clock += 1;
        let id = self.clock;
        let length = buffer.bytes();
        self.resident += length;
        let entry = Entry { length, buffer: Some(buffer), home, pins: 1, ..Entry::default() };
        self.entries.insert(id, entry);
        id
    }

    pub fn get(&mut self, id: u64) -> Option<&mut Entry> {
        self.entries.get_mut(&id)
    }

    /// Takes an entry out of the order, so that it stays as it is.
    fn unlist(&mut self, id: u64) {
        if let Some(entry) = self.entries.get(&id) {
            for order in &mut self.order {
                order.remove(&entry.used);
            }
        }
    }

    fn list(&mut self, id: u64) {
        let Some(entry) = self.entries.get(&id) else { return };
        if entry.pins == 0 && entry.buffer.is_some() {
            self.order[usize::from(entry.is_dirty())].insert(entry.used, id);
        }
    }

    /// The buffer, kept until `unpin`; `None` when it is not on the device.
    pub fn pin(&mut self, id: u64) -> Option<Buffer> {
        self.unlist(id);
        let entry = self.entries.get_mut(&id)?;
        let buffer = entry.buffer.clone()?;
        entry.pins += 1;
        Some(buffer)
    }

    pub fn unpin(&mut self, id: u64) {
        self.clock += 1;
        if let Some(entry) = self.entries.get_mut(&id) {
            entry.pins = entry.pins.saturating_sub(1);
            entry.used = self.clock;
        }
        self.list(id);
    }

    /// The array has the bytes now.
    pub fn came_home(&mut self, id: u64) {
        self.unlist(id);
        if let Some(entry) = self.entries.get_mut(&id) {
            entry.home = true;
        }
        self.list(id);
    }

    /// The bytes were sent again: the buffer that serves them, in use.
    pub fn sent_again(&mut self, id: u64, buffer: Buffer) -> Option<Buffer> {
        let entry = self.entries.get_mut(&id)?;
        if entry.buffer.is_none() {
            self.moved.again += entry.length as u64;
            self.resident += entry.length;
            entry.buffer = Some(buffer);
        }
        self.pin(id)
    }

    /// Makes room for `bytes` more within the budget, by giving up what was used longest ago, clean
    /// copies first.
    pub fn make_room(&mut self, bytes: usize, budget: usize) -> Victim {
        while self.resident + bytes > budget {
            if let Some((_, id)) = self.order[0].pop_first() {
                self.give_up(id);
                continue;
            }
            let Some((_, id)) = self.order[1].pop_first() else { return Victim::AllInUse };
            let Some(entry) = self.entries.get_mut(&id) else { continue };
            let Some(buffer) = entry.buffer.clone() else { continue };
            entry.pins += 1;
            return Victim::Dirty(id, buffer, entry.length);
        }
        Victim::None
    }

    /// The device's copy goes; the bytes are elsewhere.
    fn give_up(&mut self, id: u64) {
        let Some(entry) = self.entries.get_mut(&id) else { return };
        if let Some(buffer) = entry.buffer.take() {
            self.resident -= entry.length;
            self.moved.evictions += 1;
            self.free.keep(buffer);
        }
    }

    /// A victim was brought home, or could not be.
    pub fn settle(&mut self, id: u64, bytes: Option<Bytes>) {
        let Some(entry) = self.entries.get_mut(&id) else { return };
        if !entry.home && bytes.is_some() {
            entry.parked = bytes;
        }
        // Another call may have begun to use it meanwhile.
        if entry.pins == 1 && !entry.is_dirty() {
            entry.pins = 0;
            self.give_up(id);
        } else {
            self.unpin(id);
        }
    }

    /// The array is gone: so are its bytes, at once.
    pub fn remove(&mut self, id: u64) {
        self.unlist(id);
        if let Some(buffer) = self.entries.remove(&id).and_then(|entry| entry.buffer) {
            self.resident -= buffer.bytes();
            self.free.keep(buffer);
        }
    }
}

/// Buffers that nobody uses, kept for the next ones of about their size: an allocation costs 136 to
/// 336 us where the driver has no pool (spec acceleration 14).
#[derive(Default)]
pub(super) struct FreeList {
    buffers: Vec<Buffer>,
    bytes: usize,
    /// Bytes kept at most.
    pub limit: usize,
}

/// Buffers kept at most, so that the search is short.
const MOST_FREE: usize = 64;

impl FreeList {
    /// A buffer of this size, holding old values.
    pub fn take(&mut self, bytes: usize) -> Option<Buffer> {
        let fits = |b: &Buffer| (bytes..=bytes + bytes / 4 + 1024).contains(&b.capacity());
        let buffer = self.buffers.remove(self.buffers.iter().rposition(fits)?);
        self.bytes -= buffer.capacity();
        Some(buffer.resized(bytes))
    }

    /// Keeps a buffer that nobody else holds.
    pub fn keep(&mut self, buffer: Buffer) {
        if buffer.is_shared() || buffer.capacity() > self.limit {
            return;
        }
        self.bytes += buffer.capacity();
        self.buffers.push(buffer);
        while self.bytes > self.limit || self.buffers.len() > MOST_FREE {
            self.bytes -= self.buffers.remove(0).capacity();
        }
    }

    pub fn clear(&mut self) {
        self.buffers.clear();
        self.bytes = 0;
    }
}
