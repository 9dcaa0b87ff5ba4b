//! One card's primary context: its two streams, its memory and its pinned staging buffers. What was
//! opened is given back when the last buffer is dropped; in the child of a fork nothing is touched.

use super::driver::{Address, Driver, Handle, NON_BLOCKING, WITHOUT_TIMING};
use crate::device::{Failure, FailureCode, Outcome};
use std::cell::Cell;
use std::ffi::c_void;
use std::ptr::null_mut;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};

/// Bytes below which an upload goes through the driver's own staging, which copies at once.
pub(super) const SMALL: usize = 64 << 10;
/// Bytes of each of the two pinned buffers.
pub(super) const STAGING: usize = 16 << 20;

/// A retained primary context.
pub(super) struct Context {
    pub driver: Driver,
    pub device: i32,
    context: Handle,
    /// Launches, fills, downloads and what overwrites buffers.
    pub work: Handle,
    /// Uploads into fresh buffers.
    pub uploads: Handle,
    /// Memory comes from the device's pool, in the order of the streams.
    pool: Option<Handle>,
    process: u32,
    /// The driver does not recover, or cannot say what is under way.
    lost: AtomicBool,
}

// SAFETY: handles of the driver may be used from every thread once its context is current there, which
// `enter` sees to; none of them points into memory of this process that is written without a lock.
unsafe impl Send for Context {}
// SAFETY: as above.
unsafe impl Sync for Context {}

thread_local! {
    /// The context that is current on this thread.
    static CURRENT: Cell<Handle> = const { Cell::new(null_mut()) };
}

impl Context {
    pub fn open(driver: Driver, device: i32, pools: bool) -> Outcome<Context> {
        let mut context = null_mut();
        // SAFETY: the device's number came from the driver, which writes one handle.
        unsafe { driver.retain_primary(&mut context, device) }?;
        let process = std::process::id();
        let (work, uploads) = (null_mut(), null_mut());
        let lost = AtomicBool::new(false);
        let mut opened =
            Context { driver, device, context, work, uploads, pool: None, process, lost };
        opened.enter()?;
        // SAFETY: the context is current; the driver writes one handle into each.
        unsafe {
            opened.driver.stream_create(&mut opened.work, NON_BLOCKING)?;
            opened.driver.stream_create(&mut opened.uploads, NON_BLOCKING)?;
        }
        opened.pool = opened.find_pool().filter(|_| pools);
        Ok(opened)
    }

    /// The pool, told to keep what is freed; `None` where the driver is too old for it, or has a part of
    /// its functions only.
    fn find_pool(&self) -> Option<Handle> {
        let mut pool = null_mut();
        let mut keep = u64::MAX;
        let keep: *mut c_void = (&raw mut keep).cast();
        // SAFETY: the context is current; the driver writes one handle, then reads 8 bytes.
        unsafe {
            self.driver.default_pool(&mut pool, self.device).ok()?;
            self.driver.pool_attribute(pool, super::driver::RELEASE_THRESHOLD, keep).ok()?;
        }
        self.driver.has_pooled_memory().then_some(pool)
    }

    pub fn has_pool(&self) -> bool {
        self.pool.is_some()
    }

    /// Refuses a child of a fork.
    pub fn is_ours(&self) -> Outcome<()> {
        crate::device::owned_by(self.process)
    }

    /// Makes the context current on this thread; a child of a fork is refused, and everybody once the card is
    /// lost.
    pub fn enter(&self) -> Outcome<()> {
        self.is_ours()?;
        if self.lost.load(Ordering::Relaxed) {
            return Err(Failure::new(FailureCode::Lost, "the card was given up"));
        }
        if CURRENT.get() != self.context {
            // SAFETY: the context is retained as long as this value lives.
            unsafe { self.driver.set_current(self.context) }?;
            CURRENT.set(self.context);
        }
        Ok(())
    }

    /// Bytes that are free.
    pub fn free_memory(&self) -> Option<u64> {
        let (mut free, mut all) = (0, 0);
        self.enter().ok()?;
        // SAFETY: the context is current; the driver writes two numbers.
        unsafe { self.driver.memory_info(&mut free, &mut all) }.ok()?;
        Some(free as u64)
    }

    /// Gives freed memory back to the system.
    pub fn trim(&self) {
        if let (Some(pool), Ok(())) = (self.pool, self.enter()) {
            // SAFETY: the context is current and the pool its device's own. What is in use stays; a
            // failure leaves everything as it was.
            let _ = unsafe { self.driver.pool_trim(pool, 0) };
        }
    }

    /// Memory that is there for what follows on this stream.
    pub fn allocate(self: &Arc<Context>, bytes: usize, stream: Handle) -> Outcome<Memory> {
        // Vectors of 16 bytes are read whole; nothing is asked for an empty buffer by the driver.
        let bytes = bytes.next_multiple_of(16).max(16);
        let mut address = 0;
        // SAFETY: the context is current; the driver writes one address.
        let outcome = unsafe {
            match self.pool {
                Some(_) => self.driver.allocate_async(&mut address, bytes, stream),
                None => self.driver.allocate(&mut address, bytes),
            }
        };
        match outcome.map_err(Failure::from) {
            Ok(()) => Ok(Memory { context: self.clone(), address, ready: Mutex::default() }),
            Err(f) if f.code == FailureCode::Memory => {
                let text = format!("needs {}", crate::sized(bytes as u64));
                Err(Failure::new(FailureCode::Memory, text))
            }
            Err(other) => Err(other),
        }
    }

    /// Waits for everything queued. Where that fails the card is given up, whatever the driver calls it: what
    /// is under way may reach memory of the host that somebody else has by then.
    pub fn drained(&self) -> Outcome<()> {
        for stream in [self.uploads, self.work] {
            // SAFETY: the context is current and the stream its own.
            let passed = unsafe { self.driver.stream_synchronize(stream) }.map_err(Failure::from);
            passed.map_err(|failure| Failure::new(FailureCode::Lost, failure.text))?;
        }
        Ok(())
    }

    /// After a failure nothing is under way: of a copy nobody could tell later that it is done.
    pub fn settled<T>(&self, outcome: Outcome<T>) -> Outcome<T> {
        outcome.or_else(|failure| self.drained().and(Err(failure)))
    }

    /// From now on nothing is asked of the driver, and what it was lent stays lent.
    pub fn give_up(&self) {
        self.lost.store(true, Ordering::Relaxed);
    }

    /// An event after what is on the stream now.
    pub fn event(self: &Arc<Context>, stream: Handle) -> Outcome<Event> {
        let mut event = null_mut();
        // SAFETY: the context is current; the driver writes one handle.
        unsafe { self.driver.event_create(&mut event, WITHOUT_TIMING) }?;
        let event = Event { context: self.clone(), event };
        // SAFETY: event and stream are of this context.
        unsafe { self.driver.event_record(event.event, stream) }?;
        Ok(event)
    }
}

impl Drop for Context {
    fn drop(&mut self) {
        if self.enter().is_err() {
            return;
        }
        // SAFETY: all handles are this context's own and nothing uses them any more. At the end of a
        // process failures are of no use to anybody.
        unsafe {
            for stream in [self.work, self.uploads].into_iter().filter(|s| !s.is_null()) {
                let _ = self.driver.stream_destroy(stream);
            }
            let _ = self.driver.release_primary(self.device);
        }
        CURRENT.set(null_mut());
    }
}

/// A place in a stream.
pub(super) struct Event {
    context: Arc<Context>,
    event: Handle,
}

// SAFETY: as `Context`.
unsafe impl Send for Event {}
// SAFETY: as `Context`.
unsafe impl Sync for Event {}

impl Event {
    /// What follows on this stream waits for it; the host does not.
    pub fn before(&self, stream: Handle) -> Outcome<()> {
        // SAFETY: event and stream are of one context, which is current.
        Ok(unsafe { self.context.driver.stream_wait_event(stream, self.event, 0) }?)
    }

    /// The host waits for it.
    pub fn wait(&self) -> Outcome<()> {
        // SAFETY: the context is current.
        let passed = unsafe { self.context.driver.event_synchronize(self.event) };
        self.context.settled(passed.map_err(Failure::from))
    }
}

impl Drop for Event {
    fn drop(&mut self) {
        if self.context.enter().is_ok() {
            // SAFETY: the event is this value's own; the driver keeps it until nothing waits for it.
            let _ = unsafe { self.context.driver.event_destroy(self.event) };
        }
    }
}

/// Memory of the device; given back once the queue has passed its last use.
pub(super) struct Memory {
    context: Arc<Context>,
    pub address: Address,
    /// When its first bytes are there, where they come by the stream of uploads.
    pub ready: Mutex<Option<Event>>,
}

impl Memory {
    /// Whether it is memory of this context.
    pub fn is_of(&self, context: &Arc<Context>) -> bool {
        Arc::ptr_eq(&self.context, context)
    }

    /// What follows on the stream of work sees its first bytes.
    pub fn settle(&self) -> Outcome<()> {
        match crate::device::lock(&self.ready).take() {
            Some(event) => event.before(self.context.work),
            None => Ok(()),
        }
    }
}

impl Drop for Memory {
    fn drop(&mut self) {
        let context = &self.context;
        if context.enter().is_err() || self.settle().is_err() {
            return;
        }
        // SAFETY: the address came from this context, by the same of the two ways, and nothing that is
        // queued after this uses it. Where the device failed the memory went with it.
        let _ = unsafe {
            match context.pool {
                Some(_) => context.driver.free_async(self.address, context.work),
                None => context.driver.free(self.address),
            }
        };
    }
}

/// Host memory that the device reads and writes by itself.
pub(super) struct Pinned {
    context: Arc<Context>,
    at: *mut u8,
    /// When the device is done with it.
    pub used: Option<Event>,
}

// SAFETY: the memory is this value's own, and it is reached only through `&mut`.
unsafe impl Send for Pinned {}

impl Pinned {
    pub fn new(context: &Arc<Context>) -> Outcome<Pinned> {
        let mut at = null_mut();
        // SAFETY: the context is current; the driver writes one address of so many bytes.
        unsafe { context.driver.host_allocate(&mut at, STAGING, 0) }?;
        Ok(Pinned { context: context.clone(), at: at.cast(), used: None })
    }

    /// Its bytes, once the device is done with them.
    pub fn bytes(&mut self) -> Outcome<&mut [u8]> {
        if let Some(event) = self.used.take() {
            event.wait()?;
        }
        // SAFETY: `STAGING` bytes that the driver allocated and that nothing else reaches now; pages that
        // are fresh from the system hold zeros.
        Ok(unsafe { std::slice::from_raw_parts_mut(self.at, STAGING) })
    }
}

impl Drop for Pinned {
    fn drop(&mut self) {
        if self.context.enter().is_ok() {
            // SAFETY: the address came from `host_allocate`; the driver waits for what still uses it.
            let _ = unsafe { self.context.driver.host_free(self.at.cast()) };
        }
    }
}
