//! A thread's small buffers that are ready for the next arrays: one list for each power of two of
//! lines. A list holds at most `MOST_KEPT`, so a thread keeps at most 510 KiB.

use super::Line;

/// The largest buffer kept here: 8 KiB, a thousand doubles.
pub(super) const MOST_LINES: usize = 128;

const CLASSES: usize = MOST_LINES.trailing_zeros() as usize + 1;

/// Buffers kept of a class: more than the temporaries of an expression.
const MOST_KEPT: usize = 32;

/// Lines to ask for, so that the buffer is all of its class.
pub(super) fn capacity(lines: usize) -> usize {
    if (1..=MOST_LINES).contains(&lines) { lines.next_power_of_two() } else { lines }
}

fn class(lines: usize) -> usize {
    lines.next_power_of_two().trailing_zeros() as usize
}

pub(super) struct Pool {
    lists: [Vec<Box<[Line]>>; CLASSES],
}

impl Pool {
    pub(super) const fn new() -> Pool {
        Pool { lists: [const { Vec::new() }; CLASSES] }
    }

    /// A buffer of at least `lines` lines, at most `MOST_LINES`, with old values.
    #[inline]
    pub(super) fn take(&mut self, lines: usize) -> Option<Box<[Line]>> {
        if lines == 0 { None } else { self.lists[class(lines)].pop() }
    }

    /// Keeps a buffer of `capacity` of its lines, or drops it where there are enough.
    #[inline]
    pub(super) fn keep(&mut self, buffer: Box<[Line]>) {
        let list = &mut self.lists[class(buffer.len())];
        if list.len() < MOST_KEPT {
            list.push(buffer);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use bytemuck::Zeroable;

    #[test]
    fn a_taken_buffer_holds_what_was_asked() {
        let mut pool = Pool::new();
        for lines in [1, 2, 3, 64, 65, 127, 128] {
            assert!(pool.take(lines).is_none());
            pool.keep(vec![Line::zeroed(); capacity(lines)].into_boxed_slice());
            assert!(pool.take(lines).is_some_and(|b| b.len() >= lines));
        }
        assert!(pool.take(0).is_none());
    }

    #[test]
    fn a_list_stays_short() {
        let mut pool = Pool::new();
        for _ in 0..3 * MOST_KEPT {
            pool.keep(vec![Line::zeroed(); 4].into_boxed_slice());
        }
        assert_eq!(std::iter::from_fn(|| pool.take(4)).count(), MOST_KEPT);
    }
}
