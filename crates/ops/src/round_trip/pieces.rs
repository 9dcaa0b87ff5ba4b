//! Element-wise work on buffers that are larger than a kernel can see: in pieces along the first axis,
//! each of which binds parts of the buffers (spec acceleration 5.1.4).

use super::{Bind, Made, Placed, RoundTrip, Work};
use rung_array::Array;
use rung_base::{ElementType, Result, Shape};
use rung_device::PART;
use rung_kernel::Kernel;
use rung_kernel::broadcast::{self, View};
use std::sync::Arc;

/// An operand of the merged shape.
struct Walked {
    offset: isize,
    /// Elements from one index of the first axis to the next.
    step: isize,
    /// The elements before and after the first one that the other axes reach.
    reach: [isize; 2],
    size: usize,
}

impl Walked {
    fn new(placed: &Placed, extents: &[usize], strides: &[isize]) -> Walked {
        let mut reach = [0, 0];
        for (&extent, &stride) in extents.iter().zip(strides).skip(1) {
            let far = stride * (extent as isize - 1);
            reach[usize::from(far > 0)] += far;
        }
        Walked {
            offset: placed.offset() as isize,
            step: strides.first().copied().unwrap_or(0),
            reach,
            size: placed.array.element_type().size(),
        }
    }

    /// The first and the last element of some rows.
    fn elements(&self, first: usize, rows: usize) -> [usize; 2] {
        let ends = [first, first + rows - 1].map(|row| self.offset + row as isize * self.step);
        let (low, high) = (ends[0].min(ends[1]), ends[0].max(ends[1]));
        // A view lies inside its buffer.
        [low + self.reach[0], high + self.reach[1]].map(|n| n.max(0) as usize)
    }

    /// How many rows at most lie in so many bytes.
    fn rows(&self, bytes: usize) -> usize {
        let across = (self.reach[1] - self.reach[0] + 1) as usize;
        let left = (bytes.saturating_sub(PART) / self.size).saturating_sub(across);
        match self.step.unsigned_abs() {
            _ if bytes.saturating_sub(PART) / self.size < across => 0,
            0 => usize::MAX,
            step => left / step + 1,
        }
    }
}

impl RoundTrip<'_> {
    /// Whether the buffer of an array is larger than a kernel can see.
    pub fn exceeds(&self, x: &Array) -> bool {
        let placed = self.place(x);
        self.residency.carried(x, placed.layout) as u64 > self.most()
    }

    fn most(&self) -> u64 {
        self.residency.device().info().max_binding
    }

    /// The launches of a broadcasting kernel over parts of its buffers; `None` where they fit whole,
    /// or where no part of them does.
    pub(super) fn in_pieces(
        &self,
        kernel: &Arc<Kernel>,
        shape: &Shape,
        placed: &[Placed],
        numbers: &[u32],
        writes: ElementType,
    ) -> Result<Option<Work>> {
        let most = usize::try_from(self.most()).unwrap_or(usize::MAX);
        let whole = shape.size().saturating_mul(writes.size());
        if whole <= most && !placed.iter().any(|x| self.exceeds(x.array)) {
            return Ok(None);
        }
        let views: Vec<View> = placed.iter().map(Placed::view).collect();
        let (extents, strides) = broadcast::merged(shape, &views);
        let Some((&length, rest)) = extents.split_first() else { return Ok(None) };
        let row = rest.iter().product::<usize>().saturating_mul(writes.size());
        let walked: Vec<Walked> =
            placed.iter().zip(&strides).map(|(x, s)| Walked::new(x, &extents, s)).collect();
        let rows = walked.iter().map(|x| x.rows(most)).min().unwrap_or(usize::MAX);
        // A part of the result begins at a multiple of `PART` bytes.
        let unit = PART / greatest_divisor(row, PART);
        let rows = rows.min(most / row.max(1)) / unit * unit;
        if rows == 0 {
            return Ok(None);
        }
        let mut work = Work::default();
        work.make(Made::Result(writes, shape.clone()));
        for first in (0..length).step_by(rows) {
            let count = rows.min(length - first);
            let mut extents = extents.clone();
            extents[0] = count;
            let (mut parts, mut binds) = (Vec::new(), Vec::new());
            for (i, (x, strides)) in walked.iter().zip(&strides).enumerate() {
                let [low, high] = x.elements(first, count);
                let start = low * x.size / PART * PART;
                let at = x.offset + first as isize * x.step - (start / x.size) as isize;
                parts.push(View { offset: at.max(0) as usize, strides });
                binds.push(Bind::OperandPart(i, [start, (high + 1) * x.size - start]));
            }
            binds.push(Bind::MadePart(0, [first * row, count * row]));
            work.stage(broadcast::launch_of(kernel, &extents, &parts, numbers)?, binds);
        }
        Ok(Some(work))
    }
}

fn greatest_divisor(a: usize, b: usize) -> usize {
    if a == 0 { b } else { greatest_divisor(b % a, a) }
}
