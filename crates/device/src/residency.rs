//! Residency: arrays whose bytes stay on the device between calls, within a budget.
//!
//! A `Handle` is one array's bytes there; the array's storage holds it as its `Remote`, and
//! dropping the storage frees the buffer at once. When the budget is full, what was used longest
//! ago goes: copies of bytes that are elsewhere are dropped, others are brought home first and
//! parked in the handle until the array asks. What a call uses is held, and cannot go before it is
//! queued. Read `table` for the books; `Device` does the work.

use crate::device::{Buffer, Device, Failure, FailureCode, Outcome};
use crate::sized;
use books::Books;
use rung_array::{Array, Bytes, Remote};
use rung_base::{ElementType, Error, ErrorKind, Shape};
use std::any::Any;
use std::sync::{Arc, MutexGuard};
use table::{Table, Victim};

mod books;
mod table;

/// The budget where the device does not tell its memory.
const UNTOLD: u64 = 512 << 20;
/// Left to others when free memory is known.
const SPARE: u64 = 64 << 20;
/// Allocations between two questions for free memory.
const ASK_EVERY: u32 = 64;

/// Bytes that went between the machine and the device.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Moved {
    /// Sent to the device.
    pub up: u64,
    /// Brought home.
    pub down: u64,
    /// Copies on the device that made room for others.
    pub evictions: u64,
    /// Of those sent, the bytes that had been there before and had to go.
    pub again: u64,
}

/// The arrays on one device. Clones share it.
#[derive(Clone)]
pub struct Residency {
    shared: Arc<Shared>,
}

struct Shared {
    device: Arc<dyn Device>,
    budget: usize,
    table: Books<Table>,
    room: Books<Room>,
}

/// What is known of the device's free memory.
#[derive(Default)]
struct Room {
    asked: u32,
    free: Option<u64>,
}

/// The bytes of one array on the device; an array's `Remote`.
pub struct Handle {
    id: u64,
    length: usize,
    shared: Arc<Shared>,
}

/// Where an operand is read: the whole storage goes up and stays, or a part of it goes up for one
/// call.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Layout {
    whole: bool,
    /// The position in the buffer of the array's first element.
    pub offset: usize,
}

/// A buffer in use by a call; released when dropped, which the launch may precede.
pub struct Held {
    buffer: Buffer,
    handle: Option<Arc<Handle>>,
    shared: Arc<Shared>,
}

impl Residency {
    /// With a budget in bytes, or a quarter of the device's memory.
    pub fn new(device: Arc<dyn Device>, budget: Option<u64>) -> Residency {
        let quarter = || device.free_memory().or(device.info().memory).map(|memory| memory / 4);
        let budget = budget.or_else(quarter).unwrap_or(UNTOLD).min(usize::MAX as u64) as usize;
        let mut table = Table::default();
        table.free.limit = budget / 4;
        let (table, room) = (Books::new(table), Books::new(Room::default()));
        Residency { shared: Arc::new(Shared { device, budget, table, room }) }
    }

    /// The device.
    pub fn device(&self) -> &Arc<dyn Device> {
        &self.shared.device
    }

    /// Bytes of arrays that may be on the device.
    pub fn budget(&self) -> u64 {
        self.shared.budget as u64
    }

    /// Bytes of arrays that are.
    pub fn resident(&self) -> u64 {
        self.shared.table().resident as u64
    }

    /// What was moved so far.
    pub fn moved(&self) -> Moved {
        self.shared.table().moved
    }

    /// Whether this array's bytes are on this device now.
    pub fn holds(&self, array: &Array) -> bool {
        let Some(remote) = array.resident() else { return false };
        let Some(handle) = self.own(&remote) else { return false };
        self.shared.table().get(handle.id).is_some_and(|entry| entry.buffer.is_some())
    }

    /// The handle behind a remote, where it is of this device.
    fn own<'a>(&self, remote: &'a Arc<dyn Remote>) -> Option<&'a Handle> {
        let any: &dyn Any = &**remote;
        let handle: &Handle = any.downcast_ref()?;
        Arc::ptr_eq(&handle.shared, &self.shared).then_some(handle)
    }

    /// How `carry` will lay out this operand; moves nothing. A storage goes up whole where the
    /// array reads half of it or more, and then serves its other views as well.
    pub fn layout(&self, array: &Array) -> Layout {
        let reach = array.reach();
        let whole = match array.resident() {
            Some(remote) => self.own(&remote).is_some(),
            None => {
                let bytes = (reach.end - reach.start) * array.element_type().size();
                array.storage_length() <= self.shared.budget && 2 * bytes >= array.storage_length()
            }
        };
        let first = if whole { 0 } else { reach.start };
        Layout { whole, offset: array.offset().saturating_sub(first) }
    }

    /// The bytes of the buffer that an operand is read from.
    pub fn carried(&self, array: &Array, layout: Layout) -> usize {
        match layout.whole {
            true => array.storage_length(),
            false => array.reach().len() * array.element_type().size(),
        }
    }

    /// The operand on the device, sent where it is not there.
    pub fn carry(&self, array: &Array, layout: Layout) -> Outcome<Held> {
        if !layout.whole {
            array.home().map_err(|e| failure_of(&e))?;
            let (size, reach) = (array.element_type().size(), array.reach());
            let part = &array.storage_bytes()[reach.start * size..reach.end * size];
            return self.send_part(part);
        }
        match array.resident() {
            Some(remote) => self.again(array, remote),
            None => self.send(array),
        }
    }

    /// Sends an array's whole storage, to stay while there is room; whether it is there now.
    pub fn keep(&self, array: &Array) -> Outcome<bool> {
        match array.resident() {
            Some(remote) if self.own(&remote).is_some() => drop(self.again(array, remote)?),
            // Another device's copy cannot be replaced.
            Some(_) => {}
            None => drop(self.send(array)?),
        }
        Ok(self.holds(array))
    }

    /// Sends a storage that was never there; it stays if there is room.
    fn send(&self, array: &Array) -> Outcome<Held> {
        array.home().map_err(|e| failure_of(&e))?;
        let bytes = array.storage_bytes();
        if !self.shared.make_room(bytes.len())? {
            return self.send_part(bytes);
        }
        let held = self.shared.hold(self.shared.upload(bytes)?, true);
        if let Some(handle) = &held.handle {
            array.attach(handle.clone());
        }
        Ok(held)
    }

    fn send_part(&self, bytes: &[u8]) -> Outcome<Held> {
        let buffer = self.shared.upload(bytes)?;
        Ok(Held { buffer, handle: None, shared: self.shared.clone() })
    }

    /// A storage that is there, or was.
    fn again(&self, array: &Array, remote: Arc<dyn Remote>) -> Outcome<Held> {
        let any: Arc<dyn Any + Send + Sync> = remote;
        let handle: Arc<Handle> = any.downcast().map_err(|_| not_ours())?;
        let id = handle.id;
        let mut buffer = self.shared.table().pin(id);
        if buffer.is_none() {
            // What was parked moves into the array without a copy.
            array.home().map_err(|e| failure_of(&e))?;
            let room = self.shared.make_room(handle.length)?;
            let sent = self.shared.upload(array.storage_bytes())?;
            if !room {
                return Ok(Held { buffer: sent, handle: None, shared: self.shared.clone() });
            }
            buffer = self.shared.table().sent_again(id, sent);
        }
        let buffer = buffer.ok_or_else(not_ours)?;
        Ok(Held { buffer, handle: Some(handle), shared: self.shared.clone() })
    }

    /// A buffer for a result of `length` bytes, holding old values. It becomes an array with
    /// `Held::into_array`.
    pub fn result(&self, length: usize) -> Outcome<Held> {
        if !self.shared.make_room(length)? {
            return self.workspace(length);
        }
        Ok(self.shared.hold(self.shared.allocate(length)?, false))
    }

    /// A buffer of `length` bytes for the time of a call, holding old values.
    pub fn workspace(&self, length: usize) -> Outcome<Held> {
        let buffer = self.shared.allocate(length)?;
        Ok(Held { buffer, handle: None, shared: self.shared.clone() })
    }

    /// Gives memory that no array uses back to the device.
    pub fn trim(&self) {
        self.shared.table().free.clear();
        self.shared.device.trim();
    }
}

impl Shared {
    fn table(&self) -> MutexGuard<'_, Table> {
        self.table.lock()
    }

    /// Books a buffer in use.
    fn hold(self: &Arc<Shared>, buffer: Buffer, home: bool) -> Held {
        let length = buffer.bytes();
        let id = self.table().add(buffer.clone(), home);
        let handle = Handle { id, length, shared: self.clone() };
        Held { buffer, handle: Some(Arc::new(handle)), shared: self.clone() }
    }

    /// Makes room in the budget; false when what is in use fills it.
    fn make_room(&self, bytes: usize) -> Outcome<bool> {
        if bytes > self.budget {
            return Ok(false);
        }
        loop {
            let victim = self.table().make_room(bytes, self.budget);
            match victim {
                Victim::None => return Ok(true),
                Victim::AllInUse => return Ok(false),
                Victim::Dirty(id, buffer, length) => {
                    let brought = self.bring(&buffer, length);
                    drop(buffer);
                    let (bytes, outcome) = match brought {
                        Ok(bytes) => (Some(bytes), Ok(())),
                        Err(failure) => (None, Err(failure)),
                    };
                    self.table().settle(id, bytes);
                    outcome?;
                }
            }
        }
    }

    /// A copy of a buffer's bytes in this machine's memory. A copy that the driver refuses is asked for once
    /// more after the queue and with what is free given back: nothing is lost as long as the device is not.
    fn bring(&self, buffer: &Buffer, length: usize) -> Outcome<Bytes> {
        let mut bytes = Bytes::unspecified(length).map_err(|e| failure_of(&e))?;
        let into = &mut bytes.elements_mut::<u8>()[..length];
        let copied = self.device.download(buffer, into).or_else(|failure| match failure.code {
            FailureCode::Lost => Err(failure),
            _ => {
                self.give_back()?;
                self.device.download(buffer, into)
            }
        });
        copied.map_err(|failure| unread(length, failure))?;
        self.table().moved.down += length as u64;
        Ok(bytes)
    }

    /// Gives memory that no array uses back to the device once the queue has passed it.
    fn give_back(&self) -> Outcome<()> {
        self.table().free.clear();
        self.device.synchronize()?;
        self.device.trim();
        self.room().asked = 0;
        Ok(())
    }

    fn upload(&self, bytes: &[u8]) -> Outcome<Buffer> {
        let used = self.table().free.take(bytes.len());
        let buffer = match used {
            Some(buffer) => self.device.write(&buffer, bytes).map(|()| buffer),
            None => self.with_room(bytes.len(), || self.device.upload(bytes)),
        }?;
        self.table().moved.up += bytes.len() as u64;
        Ok(buffer)
    }

    fn allocate(&self, length: usize) -> Outcome<Buffer> {
        let used = self.table().free.take(length);
        match used {
            Some(buffer) => Ok(buffer),
            None => self.with_room(length, || self.device.allocate(length)),
        }
    }

    /// Tries an allocation; after a failed one gives back what is free, waits, and tries once more
    /// (spec acceleration 9.4).
    fn with_room(&self, bytes: usize, make: impl Fn() -> Outcome<Buffer>) -> Outcome<Buffer> {
        let first = self.expect_room(bytes).and_then(|()| make());
        match first {
            Err(failure) if failure.code == FailureCode::Memory => {
                self.give_back()?;
                self.expect_room(bytes).and_then(|()| make())
            }
            other => other,
        }
    }

    fn room(&self) -> MutexGuard<'_, Room> {
        self.room.lock()
    }

    /// Declines what free memory cannot hold, before anything goes up.
    fn expect_room(&self, bytes: usize) -> Outcome<()> {
        let mut room = self.room();
        if room.asked == 0 {
            room.free = self.device.free_memory();
        }
        room.asked = (room.asked + 1) % ASK_EVERY;
        let Some(free) = room.free.map(|free| free.saturating_sub(SPARE)) else { return Ok(()) };
        if bytes as u64 <= free {
            room.free = room.free.map(|free| free - bytes as u64);
            return Ok(());
        }
        let text = format!("needs {}, {} free", sized(bytes as u64), sized(free));
        Err(Failure::new(FailureCode::Memory, text))
    }
}

impl Held {
    /// The buffer, for a launch.
    pub fn buffer(&self) -> &Buffer {
        &self.buffer
    }

    /// The result that is computed here as an array: resident, or brought home where it found no
    /// room among the residents.
    pub fn into_array(self, element_type: ElementType, shape: Shape) -> rung_base::Result<Array> {
        match &self.handle {
            Some(handle) => Array::remote(element_type, shape, handle.clone()),
            None => {
                let length = self.buffer.bytes();
                let bytes = self.shared.bring(&self.buffer, length).map_err(Failure::into_error)?;
                Array::from_bytes(element_type, shape, bytes)
            }
        }
    }
}

impl Drop for Held {
    fn drop(&mut self) {
        match &self.handle {
            Some(handle) => {
                // The table's own buffer is the only one left where it has to go.
                self.buffer = Buffer::none();
                self.shared.table().unpin(handle.id);
            }
            None => {
                let buffer = std::mem::replace(&mut self.buffer, Buffer::none());
                self.shared.table().free.keep(buffer);
            }
        }
    }
}

impl Remote for Handle {
    fn length(&self) -> usize {
        self.length
    }

    fn fetch(&self) -> rung_base::Result<Bytes> {
        let buffer = {
            let mut table = self.shared.table();
            if let Some(bytes) = table.get(self.id).and_then(|entry| entry.parked.take()) {
                table.came_home(self.id);
                return Ok(bytes);
            }
            table.pin(self.id).ok_or_else(|| not_ours().into_error())?
        };
        let brought = self.shared.bring(&buffer, self.length);
        drop(buffer);
        let mut table = self.shared.table();
        if brought.is_ok() {
            table.came_home(self.id);
        }
        table.unpin(self.id);
        brought.map_err(Failure::into_error)
    }
}

impl Drop for Handle {
    fn drop(&mut self) {
        self.shared.table().remove(self.id);
    }
}

/// Of a copy home that the driver refused twice. Whatever it lacked, it is not this machine's memory.
fn unread(length: usize, failure: Failure) -> Failure {
    match failure.code {
        FailureCode::Lost => failure,
        _ => {
            let text = format!(
                "reading {} from the device failed: {}",
                sized(length as u64),
                failure.text
            );
            Failure::new(FailureCode::Driver, text)
        }
    }
}

fn not_ours() -> Failure {
    Failure::new(FailureCode::Driver, "an array's copy on the device is gone")
}

fn failure_of(error: &Error) -> Failure {
    let code = match error.kind() {
        ErrorKind::Memory => FailureCode::Memory,
        _ => FailureCode::Driver,
    };
    Failure::new(code, error.message())
}
