//! Bands that are not held: they stand in a file, in blocks of frames, until the last frame is there.
//! Only then are the shape and the largest value known; both orders of the axes are written from the
//! blocks, and so the result is the one of a whole call, byte for byte, at the price of as much room on
//! the disk again while it is made.

use super::{Lines, SPECTROGRAM, parameters_of, singles};
use crate::asked::Rules;
use rung_array::Array;
use rung_base::file::Scratch;
use rung_base::{ElementType, Error, ErrorKind, Result, Shape};
use rung_files::npy;
use rung_ops::call::narrow;
use rung_ops::solver::Stored;
use std::io::Write;

/// Numbers that are read at a time.
const READ: usize = 1 << 16;

/// The bands of all frames so far.
pub struct Bands {
    scratch: Scratch,
    rules: Rules,
    /// What is written.
    element_type: ElementType,
    /// Numbers of a block at most.
    block: usize,
    frames: usize,
    /// Frames beyond these are not taken.
    most: usize,
    /// (frames, bands): what is no block yet.
    rest: Vec<f32>,
    /// The largest value before the last step.
    pub largest: f32,
}

impl Bands {
    /// In blocks of so many numbers.
    pub fn new(scratch: Scratch, rules: Rules, element_type: ElementType, block: usize) -> Bands {
        let (rest, largest, most) = (Vec::new(), f32::NEG_INFINITY, usize::MAX);
        Bands { scratch, rules, element_type, block, frames: 0, most, rest, largest }
    }

    /// So many frames are all that are wanted: not those of the zeros behind a file.
    pub fn end_at(&mut self, most: usize) {
        self.most = most;
    }

    /// Rows of the next frames, (frames, bands).
    pub fn push(&mut self, rows: &[f32]) -> Result<()> {
        let mels = self.mels();
        let count = (rows.len() / mels).min(self.most - self.frames);
        self.rest.extend_from_slice(&rows[..count * mels]);
        self.frames += count;
        let block = self.frames_of_block() * mels;
        self.store(self.rest.len() / block * block)
    }

    /// The last frames are there.
    pub fn end(&mut self) -> Result<()> {
        self.store(self.rest.len())
    }

    /// Numbers that are held.
    #[cfg(test)]
    pub fn held(&self) -> usize {
        self.rest.capacity()
    }

    fn mels(&self) -> usize {
        self.rules.preset.mels.max(1)
    }

    fn frames_of_block(&self) -> usize {
        (self.block / self.mels()).max(1)
    }

    /// So many numbers of the rest, in blocks whose rows are those of the table.
    fn store(&mut self, count: usize) -> Result<()> {
        let mels = self.mels();
        for block in self.rest[..count].chunks(self.frames_of_block() * mels) {
            let bytes: Vec<u8> = match self.rules.preset.frames_first {
                true => block.iter().flat_map(|x| x.to_le_bytes()).collect(),
                false => {
                    let row = |band| block.iter().skip(band).step_by(mels);
                    (0..mels).flat_map(row).flat_map(|x| x.to_le_bytes()).collect()
                }
            };
            self.scratch.append(&bytes)?;
        }
        self.rest.drain(..count);
        Ok(())
    }

    /// The rows of the table in their order, each in as many segments as there are blocks: the place of
    /// the first number, and how many follow.
    fn segments(&self) -> impl Iterator<Item = (usize, usize)> + use<> {
        let (mels, most, all) = (self.mels(), self.frames_of_block(), self.frames);
        let is_turned = !self.rules.preset.frames_first;
        (0..if is_turned { mels } else { 1 }).flat_map(move |row| {
            (0..all).step_by(most).map(move |at| {
                let frames = most.min(all - at);
                let count = if is_turned { frames } else { frames * mels };
                (at * mels + row * frames, count)
            })
        })
    }

    /// The finished numbers, row by row, in parts.
    fn each(&mut self, mut take: impl FnMut(Array) -> Result<()>) -> Result<()> {
        let (preset, largest) = (self.rules.preset, self.largest);
        let mut bytes = Vec::new();
        for (at, count) in self.segments() {
            for from in (0..count).step_by(READ) {
                bytes.resize(READ.min(count - from) * 4, 0);
                self.scratch.read_at((at + from) as u64 * 4, &mut bytes)?;
                let numbers = bytes.chunks_exact(4);
                let mut numbers: Vec<f32> =
                    numbers.map(|b| f32::from_le_bytes([b[0], b[1], b[2], b[3]])).collect();
                // Clamped in windows they come as they are to be.
                if preset.needs_the_largest() {
                    preset.value.last(&mut numbers, largest);
                }
                take(narrow(Array::vector(&numbers)?, self.element_type)?)?;
            }
        }
        Ok(())
    }
}

impl Stored for Bands {
    fn shape(&self) -> Shape {
        let (frames, mels) = (self.frames, self.rules.preset.mels);
        let extents = if self.rules.preset.frames_first { [frames, mels] } else { [mels, frames] };
        // So many numbers stand in a file: their count is a number.
        Shape::new(extents).unwrap_or_else(|_| Shape::vector(0))
    }

    fn write(
        &mut self,
        ending: &str,
        out: &mut dyn Write,
        progress: &mut dyn FnMut(f64),
    ) -> Result<()> {
        let failed = |e: std::io::Error| Error::new(ErrorKind::File, e.to_string());
        let (shape, mut written) = (self.shape(), 0);
        let mut lines = Lines::new(shape[1]);
        let is_text = ending != ".npy";
        if !is_text {
            npy::write_header(self.element_type, &shape, out).map_err(failed)?;
        }
        self.each(|part| {
            match is_text {
                true => lines.write(&singles(&part), out),
                false => npy::write_cells(&part, out),
            }
            .map_err(failed)?;
            written += part.size();
            progress(written as f64 / shape.size() as f64);
            Ok(())
        })?;
        lines.end(out).map_err(failed)
    }

    fn parameters(&self) -> Result<String> {
        Ok(parameters_of(&SPECTROGRAM, &self.rules, &self.shape()).to_string())
    }
}
