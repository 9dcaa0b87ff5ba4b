//! Uploads: two mapped buffers in turn, whose copies are recorded among the launches.
//!
//! A piece is copied into the buffer that is filling, and the copy onward stands in the queue
//! where it was asked for, so nothing is drained and nothing waits. Only when both buffers are on
//! their way does the third piece wait for the first (spec acceleration 5.1.5).

use crate::device::{Failure, FailureCode, Outcome};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

/// Bytes of one staging buffer; larger uploads are cut.
pub(super) const STAGING: usize = 16 << 20;
/// Copies between buffers begin at a multiple of 4 bytes; whole cache lines copy faster.
const ALIGNMENT: u64 = 64;

/// The staging buffers of uploads.
#[derive(Default)]
pub(super) struct Belt {
    chunks: [Option<Chunk>; 2],
    /// Which of them is filling.
    filling: usize,
}

struct Chunk {
    buffer: wgpu::Buffer,
    used: u64,
    /// The machine may write into it.
    mapped: Arc<AtomicBool>,
}

/// A piece that lies in a staging buffer, to be copied on.
pub(super) struct Piece {
    pub buffer: wgpu::Buffer,
    pub start: u64,
    pub size: u64,
}

impl Belt {
    /// Puts up to `STAGING` bytes into the buffer that is filling; `None` when they do not fit and
    /// what is queued must be submitted first.
    pub fn put(&mut self, device: &wgpu::Device, bytes: &[u8]) -> Outcome<Option<Piece>> {
        let chunk = self.chunks[self.filling].get_or_insert_with(|| Chunk::new(device));
        let size = (bytes.len() as u64).next_multiple_of(4);
        if chunk.used + size > STAGING as u64 || !chunk.mapped.load(Ordering::Acquire) {
            return Ok(None);
        }
        let start = chunk.used;
        let mut view = chunk
            .buffer
            .get_mapped_range_mut(start..start + size)
            .map_err(|e| Failure::new(FailureCode::Driver, e.to_string()))?;
        view.slice(..bytes.len()).copy_from_slice(bytes);
        view.slice(bytes.len()..).fill(0);
        drop(view);
        chunk.used = (start + size).next_multiple_of(ALIGNMENT);
        Ok(Some(Piece { buffer: chunk.buffer.clone(), start, size }))
    }

    /// Before a submission: what lies here is about to be read by the device.
    pub fn close(&mut self) -> Closed {
        let used = |chunk: &&mut Chunk| chunk.used > 0;
        let Some(chunk) = self.chunks[self.filling].as_mut().filter(used) else {
            return Closed(None);
        };
        chunk.buffer.unmap();
        chunk.used = 0;
        chunk.mapped = Arc::default();
        let closed = Closed(Some((chunk.buffer.clone(), chunk.mapped.clone())));
        self.filling = 1 - self.filling;
        closed
    }

    /// Whether the buffer that is filling may be written.
    pub fn is_ready(&self) -> bool {
        self.chunks[self.filling].as_ref().is_none_or(|chunk| chunk.mapped.load(Ordering::Acquire))
    }
}

impl Chunk {
    fn new(device: &wgpu::Device) -> Chunk {
        let buffer = device.create_buffer(&wgpu::BufferDescriptor {
            label: None,
            size: STAGING as u64,
            usage: wgpu::BufferUsages::MAP_WRITE | wgpu::BufferUsages::COPY_SRC,
            mapped_at_creation: true,
        });
        Chunk { buffer, used: 0, mapped: Arc::new(AtomicBool::new(true)) }
    }
}

/// A staging buffer that was submitted, to be mapped again once the device has read it.
pub(super) struct Closed(Option<(wgpu::Buffer, Arc<AtomicBool>)>);

impl Closed {
    /// After the submission.
    pub fn reopen(self) {
        if let Some((buffer, mapped)) = self.0 {
            buffer.map_async(wgpu::MapMode::Write, .., move |outcome| {
                // A failure leaves it unmapped, and the next wait says why.
                mapped.store(outcome.is_ok(), Ordering::Release);
            });
        }
    }
}
