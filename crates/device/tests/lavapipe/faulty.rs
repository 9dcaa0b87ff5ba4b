//! A device that fails when it is told to: the n-th call of a kind, or every call from there on. It
//! may also say other things of itself, or have little free memory.
//! The tests of `rung-ops` include this file too.

use rung_device::{Buffer, Device, Failure, FailureCode, Info, Outcome};
use rung_kernel::Launch;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

/// What can fail.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Call {
    Allocate,
    Upload,
    Launch,
    Download,
}

impl Call {
    pub const ALL: [Call; 4] = [Call::Allocate, Call::Upload, Call::Launch, Call::Download];
}

/// Which calls fail, and how.
#[derive(Clone, Copy, Debug)]
pub struct Fault {
    pub call: Call,
    /// The first that fails, from 0.
    pub from: u64,
    /// How many fail; `u64::MAX` for all that follow.
    pub count: u64,
    pub code: FailureCode,
}

pub struct Faulty {
    inner: Arc<dyn Device>,
    info: Info,
    fault: Option<Fault>,
    free: Option<u64>,
    calls: [AtomicU64; 4],
    lost: AtomicU64,
    pub synchronized: AtomicU64,
}

impl Faulty {
    pub fn new(inner: Arc<dyn Device>, fault: Option<Fault>) -> Faulty {
        let info = inner.info().clone();
        let (calls, lost, synchronized) = Default::default();
        Faulty { inner, info, fault, free: None, calls, lost, synchronized }
    }

    /// With another word about itself.
    pub fn with_info(mut self, change: impl FnOnce(&mut Info)) -> Faulty {
        change(&mut self.info);
        self
    }

    /// With so many bytes free, whatever is allocated.
    pub fn with_free(mut self, bytes: u64) -> Faulty {
        self.free = Some(bytes);
        self
    }

    /// Calls of a kind so far.
    pub fn calls(&self, call: Call) -> u64 {
        self.calls[call as usize].load(Ordering::Relaxed)
    }

    fn may(&self, call: Call) -> Outcome<()> {
        let number = self.calls[call as usize].fetch_add(1, Ordering::Relaxed);
        let failure = |code: FailureCode| match code {
            FailureCode::Memory => Failure { code, text: "needs 4.0 GiB".into() },
            FailureCode::Lost => Failure::retired("told to"),
            _ => Failure { code, text: "told to fail".into() },
        };
        if self.lost.load(Ordering::Relaxed) > 0 {
            return Err(failure(FailureCode::Lost));
        }
        match self.fault {
            Some(f) if f.call == call && number >= f.from && number - f.from < f.count => {
                let lost = u64::from(f.code == FailureCode::Lost);
                self.lost.store(lost, Ordering::Relaxed);
                Err(failure(f.code))
            }
            _ => Ok(()),
        }
    }
}

impl Device for Faulty {
    fn info(&self) -> &Info {
        &self.info
    }

    fn allocate(&self, bytes: usize) -> Outcome<Buffer> {
        self.may(Call::Allocate)?;
        self.inner.allocate(bytes)
    }

    fn upload(&self, bytes: &[u8]) -> Outcome<Buffer> {
        self.may(Call::Upload)?;
        self.inner.upload(bytes)
    }

    fn write(&self, buffer: &Buffer, bytes: &[u8]) -> Outcome<()> {
        self.may(Call::Upload)?;
        self.inner.write(buffer, bytes)
    }

    fn launch(&self, launch: &Launch, buffers: &[&Buffer]) -> Outcome<()> {
        self.may(Call::Launch)?;
        self.inner.launch(launch, buffers)
    }

    fn download(&self, buffer: &Buffer, into: &mut [u8]) -> Outcome<()> {
        self.may(Call::Download)?;
        // A failed copy may have written anything.
        self.inner.download(buffer, into)
    }

    fn synchronize(&self) -> Outcome<()> {
        self.synchronized.fetch_add(1, Ordering::Relaxed);
        self.inner.synchronize()
    }

    fn free_memory(&self) -> Option<u64> {
        self.free.or_else(|| self.inner.free_memory())
    }
}
