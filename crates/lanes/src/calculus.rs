//! Slopes and areas of sampled functions, by the text of `math::calculus`.

use crate::Lanes;
use crate::grains::Work;
use crate::level::Loop;
use crate::share::in_shares;
use crate::vector::Float;
use rung_math::calculus::{Places, central, gradient as definition, trapezoid, uneven};

/// out = the slope at each of two samples or more.
///
/// # Panics
/// When there are fewer than two samples, or extents do not fit.
pub fn gradient<T: Float>(lanes: &Lanes, f: &[T], places: Places<T>, out: &mut [T]) {
    assert!(f.len() > 1 && f.len() == out.len(), "cells of a gradient");
    let last = f.len() - 1;
    in_shares(lanes, &mut out[1..last], Work::Light, &|start, own| {
        let f = &f[start..start + own.len() + 2];
        lanes.level().run(Loop(|| match places {
            Places::Even(gap) => {
                let around = f.iter().zip(&f[2..]);
                own.iter_mut().zip(around).for_each(|(out, (a, b))| *out = central(*a, *b, gap));
            }
            Places::At(x) => {
                let around = f.windows(3).zip(x[start..].windows(3));
                for (out, (f, x)) in own.iter_mut().zip(around) {
                    *out = uneven([f[0], f[1], f[2]], x[1] - x[0], x[2] - x[1]);
                }
            }
        }));
    });
    for (low, cell) in [(0, 0), (last - 1, last)] {
        let places = match places {
            Places::Even(gap) => Places::Even(gap),
            Places::At(x) => Places::At(&x[low..low + 2]),
        };
        let mut ends = [T::default(); 2];
        definition(&f[low..low + 2], places, &mut ends);
        out[cell] = ends[0];
    }
}

/// out (rows, n - 1) = the area under each line between samples of y (rows, n).
///
/// # Panics
/// When extents do not fit.
pub fn trapezoids<T: Float>(
    lanes: &Lanes,
    y: &[T],
    length: usize,
    places: Places<f64>,
    out: &mut [f64],
) {
    let cells = length.saturating_sub(1);
    if cells == 0 {
        return;
    }
    assert_eq!(y.len() / length * cells, out.len(), "cells of areas");
    for (y, out) in y.chunks_exact(length).zip(out.chunks_exact_mut(cells)) {
        in_shares(lanes, out, Work::Light, &|start, own| {
            let pairs = y[start..].windows(2);
            lanes.level().run(Loop(|| match places {
                Places::Even(gap) => own
                    .iter_mut()
                    .zip(pairs)
                    .for_each(|(out, y)| *out = trapezoid(gap, y[0].wide(), y[1].wide())),
                Places::At(x) => {
                    for ((out, y), x) in own.iter_mut().zip(pairs).zip(x[start..].windows(2)) {
                        *out = trapezoid(x[1] - x[0], y[0].wide(), y[1].wide());
                    }
                }
            }));
        });
    }
}
