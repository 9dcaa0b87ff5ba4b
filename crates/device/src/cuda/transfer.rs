//! Bytes to the card and home: small ones as they are, which the driver copies into its own staging
//! before it returns, large ones through two pinned buffers in turn, of which the device reads or
//! writes one while the host fills or empties the other.

use super::CudaDevice;
use super::context::{Memory, Pinned, SMALL, STAGING};
use super::driver::{Address, Handle};
use crate::device::Outcome;

/// The pinned buffers, made when they are first needed: an idle device takes none of the host's memory.
#[derive(Default)]
pub(super) struct Staging {
    buffers: Option<[Pinned; 2]>,
    /// The machine has none to give: the driver stages.
    refused: bool,
}

impl CudaDevice {
    /// Memory of so many bytes, all 0.
    pub(super) fn zeros(&self, bytes: usize) -> Outcome<Memory> {
        let work = self.context.work;
        let memory = self.context.allocate(bytes, work)?;
        if bytes > 0 {
            // SAFETY: the memory has so many bytes, and what follows on the stream sees them.
            unsafe { self.context.driver.fill(memory.address, 0, bytes, work) }?;
        }
        Ok(memory)
    }

    /// Fresh memory with these bytes: a large upload overlaps what is queued.
    pub(super) fn fresh(&self, staging: &mut Staging, bytes: &[u8]) -> Outcome<Memory> {
        if bytes.len() < SMALL {
            let memory = self.context.allocate(bytes.len(), self.context.work)?;
            self.up(staging, memory.address, bytes, self.context.work)?;
            return Ok(memory);
        }
        let uploads = self.context.uploads;
        let memory = self.context.allocate(bytes.len(), uploads)?;
        let sent = self.up(staging, memory.address, bytes, uploads);
        // Also after a failure: the memory is given back only after what is under way.
        let there = self.context.settled(self.context.event(uploads))?;
        *crate::device::lock(&memory.ready) = Some(there);
        sent.map(|()| memory)
    }

    /// Copies to the device, in order with this stream; the bytes are free on return.
    pub(super) fn up(
        &self,
        staging: &mut Staging,
        to: Address,
        bytes: &[u8],
        stream: Handle,
    ) -> Outcome<()> {
        let Some(pinned) = self.pinned(staging, bytes.len()) else {
            if !bytes.is_empty() {
                // SAFETY: the caller's memory has so many bytes there. Those of the host are
                // pageable, which the driver copies before it returns.
                unsafe {
                    self.context.driver.copy_up(to, bytes.as_ptr().cast(), bytes.len(), stream)
                }?;
            }
            return Ok(());
        };
        for (k, piece) in bytes.chunks(STAGING).enumerate() {
            let half = &mut pinned[k % 2];
            let from = &mut half.bytes()?[..piece.len()];
            from.copy_from_slice(piece);
            let (to, from) = (to + (k * STAGING) as Address, from.as_ptr().cast());
            // SAFETY: as above; the pinned bytes are not touched before the event.
            unsafe { self.context.driver.copy_up(to, from, piece.len(), stream) }?;
            half.used = Some(self.context.settled(self.context.event(stream))?);
        }
        Ok(())
    }

    /// Copies home after everything queued, and waits.
    pub(super) fn down(
        &self,
        staging: &mut Staging,
        from: Address,
        into: &mut [u8],
    ) -> Outcome<()> {
        let work = self.context.work;
        let Some(pinned) = self.pinned(staging, into.len()) else {
            if !into.is_empty() {
                // SAFETY: the caller's memory has so many bytes there, and the host's are borrowed until
                // the wait below; where that fails the device is lost and nothing of its queue runs.
                unsafe {
                    self.context.driver.copy_down(into.as_mut_ptr().cast(), from, into.len(), work)
                }?;
            }
            return self.context.drained();
        };
        let pieces = into.len().div_ceil(STAGING);
        // One piece is on its way while the one before is emptied.
        for k in 0..=pieces {
            if k < pieces {
                let bytes = (into.len() - k * STAGING).min(STAGING);
                let half = &mut pinned[k % 2];
                let to = half.bytes()?.as_mut_ptr().cast();
                let from = from + (k * STAGING) as Address;
                // SAFETY: as above; the pinned bytes are not touched before the event.
                unsafe { self.context.driver.copy_down(to, from, bytes, work) }?;
                half.used = Some(self.context.settled(self.context.event(work))?);
            }
            if let Some(last) = k.checked_sub(1) {
                let piece = &mut into[last * STAGING..];
                let bytes = piece.len().min(STAGING);
                piece[..bytes].copy_from_slice(&pinned[last % 2].bytes()?[..bytes]);
            }
        }
        Ok(())
    }

    /// The pinned buffers for so many bytes, where they are worth it and there.
    fn pinned<'a>(&self, staging: &'a mut Staging, bytes: usize) -> Option<&'a mut [Pinned; 2]> {
        if bytes < SMALL || staging.refused {
            return None;
        }
        if staging.buffers.is_none() {
            let both = Pinned::new(&self.context)
                .and_then(|first| Ok([first, Pinned::new(&self.context)?]));
            staging.refused = both.is_err();
            staging.buffers = both.ok();
        }
        staging.buffers.as_mut()
    }
}
