//! Packing for triangular work: rows of the left operand with their sign turned, strips of the
//! right operand two vectors wide, and the panel that is factored in columns.

use super::Cells;
use crate::level::{Level, Task};
use crate::vector::Simd;

/// -l of `rows` rows over `depth` columns as `to[k * rows + row]`.
///
/// # Safety
/// The cells are readable, and `to` has room for `rows * depth` numbers.
pub(super) unsafe fn left(level: Level, l: Cells, rows: usize, depth: usize, to: *mut f64) {
    level.run(Left { l, rows, depth, to });
}

struct Left {
    l: Cells,
    rows: usize,
    depth: usize,
    to: *mut f64,
}

impl Task for Left {
    type Output = ();

    #[inline(always)]
    fn run<S: Simd>(self) {
        let Left { l, rows, depth, to } = self;
        let (four_rows, four_depth) = (rows / 4 * 4, depth / 4 * 4);
        let mut done = (0, 0);
        // SAFETY: the caller of `left` vouches for the cells and the room.
        unsafe {
            if l.column == 1 {
                for k in (0..four_depth).step_by(4) {
                    for row in (0..four_rows).step_by(4) {
                        let block = block(l.at(row, k).start, l.row);
                        put(turned(block), to.add(k * rows + row), rows);
                    }
                }
                done = (four_rows, four_depth);
            } else if l.row == 1 {
                for k in 0..depth {
                    for row in (0..four_rows).step_by(4) {
                        let x = l.at(row, k).start.cast::<[f64; 4]>().read_unaligned();
                        let negated = x.map(|x| -x);
                        to.add(k * rows + row).cast::<[f64; 4]>().write_unaligned(negated);
                    }
                }
                done = (four_rows, depth);
            }
            for k in 0..depth {
                let from = if k < done.1 { done.0 } else { 0 };
                for row in from..rows {
                    *to.add(k * rows + row) = -*l.at(row, k).start;
                }
            }
        }
    }
}

/// Four rows of four numbers.
#[inline(always)]
unsafe fn block(from: *const f64, row: isize) -> [[f64; 4]; 4] {
    // SAFETY: the caller's promise.
    std::array::from_fn(|i| unsafe {
        from.offset(i as isize * row).cast::<[f64; 4]>().read_unaligned()
    })
}

/// The transpose, negated.
#[inline(always)]
fn turned(b: [[f64; 4]; 4]) -> [[f64; 4]; 4] {
    std::array::from_fn(|k| std::array::from_fn(|i| -b[i][k]))
}

#[inline(always)]
unsafe fn put(block: [[f64; 4]; 4], to: *mut f64, row: usize) {
    for (k, values) in block.into_iter().enumerate() {
        // SAFETY: the caller's promise.
        unsafe { to.add(k * row).cast::<[f64; 4]>().write_unaligned(values) };
    }
}

/// A strip of the right operand: `depth` rows of `columns` cells, padded with +0 to `width`.
///
/// # Safety
/// The cells are readable and lie side by side in a row; `to` has room for `width * depth`.
pub(super) unsafe fn strip(u: Cells, columns: usize, width: usize, depth: usize, to: *mut f64) {
    for k in 0..depth {
        // SAFETY: the caller's promise.
        unsafe {
            let from = u.at(k, 0).start;
            let row = to.add(k * width);
            match columns {
                16 => row
                    .cast::<[f64; 16]>()
                    .write_unaligned(from.cast::<[f64; 16]>().read_unaligned()),
                8 => {
                    row.cast::<[f64; 8]>().write_unaligned(from.cast::<[f64; 8]>().read_unaligned())
                }
                _ => std::ptr::copy_nonoverlapping(from, row, columns),
            }
            for pad in columns..width {
                *row.add(pad) = 0.0;
            }
        }
    }
}

/// Copies a block of rows (m, w) to columns: `to[j * stride + i]`; or back.
///
/// # Safety
/// `a` has m rows of w cells side by side; `columns` has room for w columns of `stride >= m`.
pub(super) unsafe fn columns(
    level: Level,
    a: Cells,
    (m, w): (usize, usize),
    columns: *mut f64,
    stride: usize,
    back: bool,
) {
    level.run(Columns { a, m, w, columns, stride, back });
}

struct Columns {
    a: Cells,
    m: usize,
    w: usize,
    columns: *mut f64,
    stride: usize,
    back: bool,
}

impl Task for Columns {
    type Output = ();

    #[inline(always)]
    fn run<S: Simd>(self) {
        let (four_m, four_w) = (self.m / 4 * 4, self.w / 4 * 4);
        // SAFETY: the caller of `columns` vouches for the cells and the room.
        unsafe {
            for i in (0..four_m).step_by(4) {
                for j in (0..four_w).step_by(4) {
                    let row = self.a.at(i, j).start;
                    let column = self.columns.add(j * self.stride + i);
                    let (from, from_step) =
                        if self.back { (column, self.stride) } else { (row, self.a.row as usize) };
                    let (to, to_step) =
                        if self.back { (row, self.a.row as usize) } else { (column, self.stride) };
                    let block = block(from, from_step as isize);
                    let turned = std::array::from_fn(|k| std::array::from_fn(|i| block[i][k]));
                    put(turned, to, to_step);
                }
            }
            for i in 0..self.m {
                for j in if i < four_m { four_w } else { 0 }..self.w {
                    let (row, column) =
                        (self.a.at(i, j).start, self.columns.add(j * self.stride + i));
                    if self.back { *row = *column } else { *column = *row }
                }
            }
        }
    }
}
