//! Packing: a block of a strided matrix becomes panels in the order in which a tile reads them.
//!
//! A panel holds `width` lanes for each k, `to[k * width + lane]`: lanes are columns of the right
//! operand, and for a left operand that is turned into rows they are its k. Lanes past the edge
//! are +0. Transposed operands are packed in place, so no form of product copies a matrix first.

/// Packs one panel of `lanes` lanes, padded to `width`, over `depth` values of k.
///
/// # Safety
/// `from + lane * lane_stride + k * step` is readable for every lane below `lanes` and k below
/// `depth`; `to` has room for `depth * width` elements.
pub(super) unsafe fn panel<T: Copy + Default>(
    from: *const T,
    lane_stride: isize,
    step: isize,
    lanes: usize,
    width: usize,
    depth: usize,
    to: *mut T,
) {
    // SAFETY: the caller's promise, passed on; `lanes <= width`.
    unsafe {
        if lanes < width {
            for k in 0..depth {
                for lane in lanes..width {
                    *to.add(k * width + lane) = T::default();
                }
            }
        }
        if lane_stride == 1 {
            rows(from, step, lanes, width, depth, to);
        } else if step == 1 {
            transposed(from, lane_stride, lanes, width, depth, to);
        } else {
            for lane in 0..lanes {
                let from = from.offset(lane as isize * lane_stride);
                for k in 0..depth {
                    *to.add(k * width + lane) = *from.offset(k as isize * step);
                }
            }
        }
    }
}

/// Lanes lie side by side in memory: one copy for each k.
unsafe fn rows<T: Copy>(
    from: *const T,
    step: isize,
    lanes: usize,
    width: usize,
    depth: usize,
    to: *mut T,
) {
    // SAFETY: see `panel`.
    unsafe {
        match lanes {
            64 => rows_of::<T, 64>(from, step, width, depth, to),
            32 => rows_of::<T, 32>(from, step, width, depth, to),
            24 => rows_of::<T, 24>(from, step, width, depth, to),
            16 => rows_of::<T, 16>(from, step, width, depth, to),
            12 => rows_of::<T, 12>(from, step, width, depth, to),
            8 => rows_of::<T, 8>(from, step, width, depth, to),
            _ => {
                for k in 0..depth {
                    let from = from.offset(k as isize * step);
                    std::ptr::copy_nonoverlapping(from, to.add(k * width), lanes);
                }
            }
        }
    }
}

/// The same with the count as a constant, which makes the copy a few vector moves.
unsafe fn rows_of<T: Copy, const LANES: usize>(
    from: *const T,
    step: isize,
    width: usize,
    depth: usize,
    to: *mut T,
) {
    for k in 0..depth {
        // SAFETY: see `panel`.
        unsafe {
            let row = from.offset(k as isize * step).cast::<[T; LANES]>().read_unaligned();
            to.add(k * width).cast::<[T; LANES]>().write_unaligned(row);
        }
    }
}

/// k runs along memory: 4 x 4 blocks are turned in registers, the rest one by one.
unsafe fn transposed<T: Copy>(
    from: *const T,
    lane_stride: isize,
    lanes: usize,
    width: usize,
    depth: usize,
    to: *mut T,
) {
    let (whole_lanes, whole_depth) = (lanes / 4 * 4, depth / 4 * 4);
    for lane in (0..whole_lanes).step_by(4) {
        // SAFETY: see `panel`.
        let from = unsafe { from.offset(lane as isize * lane_stride) };
        for k in (0..whole_depth).step_by(4) {
            // SAFETY: four lanes and four k are inside.
            unsafe {
                let read = |i: isize| {
                    from.offset(i * lane_stride).add(k).cast::<[T; 4]>().read_unaligned()
                };
                let (a, b, c, d) = (read(0), read(1), read(2), read(3));
                for i in 0..4 {
                    to.add((k + i) * width + lane)
                        .cast::<[T; 4]>()
                        .write_unaligned([a[i], b[i], c[i], d[i]]);
                }
            }
        }
    }
    for lane in 0..lanes {
        let start = if lane < whole_lanes { whole_depth } else { 0 };
        for k in start..depth {
            // SAFETY: see `panel`.
            unsafe { *to.add(k * width + lane) = *from.offset(lane as isize * lane_stride).add(k) };
        }
    }
}
