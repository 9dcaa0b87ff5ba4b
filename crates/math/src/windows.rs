//! Windows over planes: what a convolution as a product reads (im2col) and its adjoint, and pooling
//! by the largest element or by the mean. The plainest loops; arrays are read by index, so that any
//! layout will do.
//!
//! x has the axes (batch, channels, height, width), a window the taps (ky, kx); columns are laid out
//! (batch, oy, ox, channels, ky, kx). Padding reads zero, and never wins a maximum.

use crate::accumulate::Accumulate;
use crate::fold;
use crate::function::{Binary, Maximum};
use crate::real::Real;
use core::ops::Range;

/// The windows along one axis of a plane.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Axis {
    /// Elements of the plane.
    pub extent: usize,
    /// Elements that a window reads.
    pub taps: usize,
    /// From one window to the next.
    pub stride: usize,
    /// Zeros before the plane, and as many behind it.
    pub pad: usize,
    /// From one tap to the next.
    pub dilation: usize,
    /// How many windows there are.
    pub count: usize,
}

impl Axis {
    /// As many windows as fit; `None` where not one does, or a number is beyond any array.
    pub fn new(
        extent: usize,
        taps: usize,
        stride: usize,
        pad: usize,
        dilation: usize,
    ) -> Option<Axis> {
        let reach = taps.checked_sub(1)?.checked_mul(dilation)?.checked_add(1)?;
        let padded = pad.checked_mul(2)?.checked_add(extent)?;
        let count = padded.checked_sub(reach)?.checked_div(stride)?.checked_add(1)?;
        (dilation > 0).then_some(Axis { extent, taps, stride, pad, dilation, count })
    }

    /// The element that a tap of a window reads; `None` in the padding.
    #[inline(always)]
    pub fn place(&self, window: usize, tap: usize) -> Option<usize> {
        let place = (window * self.stride + tap * self.dilation).checked_sub(self.pad)?;
        (place < self.extent).then_some(place)
    }

    /// The taps of a window that read no padding.
    #[inline(always)]
    pub fn inside(&self, window: usize) -> Range<usize> {
        let start = window * self.stride;
        let before = self.pad.saturating_sub(start).div_ceil(self.dilation);
        let end = (self.extent + self.pad).saturating_sub(start).div_ceil(self.dilation);
        let end = end.min(self.taps);
        before.min(end)..end
    }

    /// The windows in which a tap reads no padding.
    #[inline(always)]
    pub fn windows(&self, tap: usize) -> Range<usize> {
        let at = tap * self.dilation;
        let before = self.pad.saturating_sub(at).div_ceil(self.stride);
        let end = (self.extent + self.pad).saturating_sub(at).div_ceil(self.stride);
        let end = end.min(self.count);
        before.min(end)..end
    }
}

/// The windows over every plane of an array (batch, channels, height, width).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Windows {
    /// The first axis.
    pub batch: usize,
    /// The second axis.
    pub channels: usize,
    /// Windows along the height.
    pub down: Axis,
    /// Windows along the width.
    pub across: Axis,
}

impl Windows {
    /// Planes of the array.
    pub fn planes(&self) -> usize {
        self.batch * self.channels
    }

    /// Elements of a plane.
    pub fn plane(&self) -> usize {
        self.down.extent * self.across.extent
    }

    /// Windows of a plane.
    pub fn windows(&self) -> usize {
        self.down.count * self.across.count
    }

    /// Elements that a window reads of one plane.
    pub fn taps(&self) -> usize {
        self.down.taps * self.across.taps
    }

    /// The row and column of a plane that tap (ky, kx) of window (oy, ox) reads.
    #[inline(always)]
    pub fn place(&self, [oy, ox]: [usize; 2], [ky, kx]: [usize; 2]) -> Option<[usize; 2]> {
        Some([self.down.place(oy, ky)?, self.across.place(ox, kx)?])
    }

    /// Runs `body(n, c, oy, ox)` for every window, in row-major order.
    fn each(&self, mut body: impl FnMut(usize, usize, [usize; 2])) {
        for n in 0..self.batch {
            for c in 0..self.channels {
                for oy in 0..self.down.count {
                    for ox in 0..self.across.count {
                        body(n, c, [oy, ox]);
                    }
                }
            }
        }
    }

    /// The taps (ky, kx) in row-major order.
    fn each_tap(&self) -> impl Iterator<Item = [usize; 2]> {
        let across = self.across.taps;
        (0..self.taps()).map(move |tap| [tap / across, tap % across])
    }
}

/// x (batch, channels, height, width), out (batch * oy * ox, channels * ky * kx).
pub fn columns<T: Copy + Default>(windows: &Windows, x: impl Fn([usize; 4]) -> T, out: &mut [T]) {
    let mut cells = out.iter_mut();
    for n in 0..windows.batch {
        for window in 0..windows.windows() {
            let at = [window / windows.across.count, window % windows.across.count];
            for c in 0..windows.channels {
                for (tap, cell) in windows.each_tap().zip(cells.by_ref()) {
                    *cell = match windows.place(at, tap) {
                        Some([row, column]) => x([n, c, row, column]),
                        None => T::default(),
                    };
                }
            }
        }
    }
}

/// column (batch, oy, ox, channels, ky, kx), out (batch, channels, height, width): every cell takes
/// in, from zero on, what the windows that read it hold, (oy, ox) ascending.
pub fn planes<T: Accumulate + Default>(
    windows: &Windows,
    column: impl Fn([usize; 6]) -> T,
    out: &mut [T],
) {
    out.fill(T::default());
    let width = windows.across.extent;
    windows.each(|n, c, [oy, ox]| {
        for [ky, kx] in windows.each_tap() {
            if let Some([row, col]) = windows.place([oy, ox], [ky, kx]) {
                let plane = n * windows.channels + c;
                let cell = &mut out[plane * windows.plane() + row * width + col];
                *cell = cell.plus(column([n, oy, ox, c, ky, kx]));
            }
        }
    });
}

/// x (batch, channels, height, width), values and positions (batch, channels, oy, ox): the largest
/// element of each window, as `Maximum` has it, and the row-major position in x of the first one
/// that equals it; the first NaN wins. Every window holds an element.
pub fn largest<T: Real<Mask = bool>>(
    windows: &Windows,
    x: impl Fn([usize; 4]) -> T,
    values: &mut [T],
    positions: &mut [i64],
) {
    let mut at = 0;
    windows.each(|n, c, window| {
        let plane = n * windows.channels + c;
        let mut best: Option<(T, usize)> = None;
        for tap in windows.each_tap() {
            let Some([row, column]) = windows.place(window, tap) else { continue };
            let (here, x) = (row * windows.across.extent + column, x([n, c, row, column]));
            best = Some(match best {
                Some((value, first)) => {
                    let better = value.less(x) || (x.is_nan() && !value.is_nan());
                    (<Maximum as Binary>::at(value, x), if better { here } else { first })
                }
                None => (<Maximum as Binary>::at(x, x), here),
            });
        }
        if let Some((value, here)) = best {
            values[at] = value;
            positions[at] = (plane * windows.plane() + here) as i64;
        }
        at += 1;
    });
}

/// x (batch, channels, height, width) in f64, out (batch, channels, oy, ox): `fold::mean` of each
/// window, the padding's zeros included.
pub fn means(windows: &Windows, x: impl Fn([usize; 4]) -> f64, mut out: impl FnMut(usize, f64)) {
    let mut at = 0;
    windows.each(|n, c, window| {
        let tap = |i: usize| [i / windows.across.taps, i % windows.across.taps];
        let element = |i: usize| match windows.place(window, tap(i)) {
            Some([row, column]) => x([n, c, row, column]),
            None => 0.0,
        };
        out(at, fold::mean(windows.taps(), element));
        at += 1;
    });
}

#[cfg(test)]
mod tests {
    use super::*;

    fn windows(extents: [usize; 4], taps: [usize; 2], stride: usize, pad: usize) -> Windows {
        let axis = |extent, taps| Axis::new(extent, taps, stride, pad, 1).unwrap();
        let [batch, channels, height, width] = extents;
        let (down, across) = (axis(height, taps[0]), axis(width, taps[1]));
        Windows { batch, channels, down, across }
    }

    #[test]
    fn ranges_are_the_places_that_exist() {
        for (extent, taps, stride, pad, dilation) in
            [(5, 3, 1, 1, 1), (7, 2, 3, 0, 1), (4, 3, 2, 5, 2), (1, 1, 1, 0, 1), (6, 3, 1, 4, 3)]
        {
            let axis = Axis::new(extent, taps, stride, pad, dilation).unwrap();
            for window in 0..axis.count {
                let found: Vec<_> =
                    (0..taps).filter(|&tap| axis.place(window, tap).is_some()).collect();
                assert_eq!(axis.inside(window).collect::<Vec<_>>(), found, "{axis:?} {window}");
            }
            for tap in 0..taps {
                let found: Vec<_> =
                    (0..axis.count).filter(|&w| axis.place(w, tap).is_some()).collect();
                assert_eq!(axis.windows(tap).collect::<Vec<_>>(), found, "{axis:?} {tap}");
            }
        }
        assert_eq!(Axis::new(2, 5, 1, 1, 1), None);
        assert_eq!(Axis::new(2, 3, 1, 0, 2), None);
        assert_eq!(Axis::new(usize::MAX, 3, 1, usize::MAX, 2), None);
        assert_eq!(Axis::new(9, 3, 0, 0, 1), None);
    }

    #[test]
    fn columns_hold_the_windows_and_planes_add_them_up_again() {
        let w = windows([1, 1, 2, 3], [2, 2], 1, 0);
        let x = [1.0, 2.0, 3.0, 4.0, 5.0, 6.0];
        let mut columns_of = [0.0; 8];
        columns(&w, |[_, _, row, column]| x[row * 3 + column], &mut columns_of);
        assert_eq!(columns_of, [1.0, 2.0, 4.0, 5.0, 2.0, 3.0, 5.0, 6.0]);
        let mut back = [9.0; 6];
        planes(&w, |[_, _, ox, _, ky, kx]| columns_of[ox * 4 + ky * 2 + kx], &mut back);
        assert_eq!(back, [1.0, 4.0, 3.0, 4.0, 10.0, 6.0]);
    }

    #[test]
    fn the_first_largest_wins_and_the_first_nan_before_all() {
        let w = windows([1, 1, 1, 6], [1, 2], 2, 0);
        let x = [3.0, 3.0, f64::NAN, -f64::NAN, -0.0, 0.0];
        let (mut values, mut positions) = ([0.0; 3], [0; 3]);
        largest(&w, |[_, _, _, column]| x[column], &mut values, &mut positions);
        assert_eq!((values[0], positions), (3.0, [0, 2, 4]));
        assert_eq!(values[1].to_bits(), f64::canonical_nan().to_bits());
        assert_eq!(values[2].to_bits(), 0.0_f64.to_bits());
    }

    #[test]
    fn means_count_the_padding() {
        let w = windows([1, 1, 1, 2], [1, 2], 2, 0);
        let mut got = Vec::new();
        means(&w, |[_, _, _, column]| [1.0, 4.0][column], |_, x| got.push(x));
        assert_eq!(got, [2.5]);
        let w = windows([1, 1, 2, 2], [2, 2], 2, 1);
        got.clear();
        means(&w, |[_, _, row, column]| [1.0, 2.0, 3.0, 4.0][row * 2 + column], |_, x| got.push(x));
        assert_eq!(got, [0.25, 0.5, 0.75, 1.0]);
    }
}
