//! Rows added into rows by position, ascending for every destination: `math::accumulate`.

use crate::level::Loop;
use crate::share::each_share;
use crate::{Lanes, Work};
use rung_math::accumulate::Accumulate;

/// Rows from this width on are shared by threads: each reads all positions for its own rows.
const SHARED: usize = 16;

/// out (rows, width): row `to[i]` takes row i of source in, i ascending.
///
/// # Panics
/// When a position is not below the rows, or extents do not fit.
pub fn scatter<T: Accumulate + Send + Sync>(
    lanes: &Lanes,
    out: &mut [T],
    width: usize,
    to: &[usize],
    source: &[T],
) {
    assert_eq!(source.len(), to.len() * width, "a source row for each position");
    if source.is_empty() {
        return;
    }
    let rows = out.len() / width;
    assert!(to.iter().all(|row| *row < rows), "a position beyond the rows");
    let pieces = match width < SHARED {
        true => 1,
        false => lanes.pieces(Work::Scatter, source.len()),
    };
    each_share(lanes, out, rows.div_ceil(pieces) * width, &|start, own| {
        let first = start / width;
        let rows = own.len() / width;
        lanes.level().run(Loop(|| {
            if width == 1 {
                for (&row, &x) in to.iter().zip(source) {
                    // SAFETY: checked above; rows of width 1 are one share.
                    let cell = unsafe { own.get_unchecked_mut(row) };
                    *cell = cell.plus(x);
                }
                return;
            }
            for (&row, from) in to.iter().zip(source.chunks_exact(width)) {
                if row >= first && row < first + rows {
                    let cells = &mut own[(row - first) * width..][..width];
                    cells.iter_mut().zip(from).for_each(|(cell, &x)| *cell = cell.plus(x));
                }
            }
        }));
    });
}
