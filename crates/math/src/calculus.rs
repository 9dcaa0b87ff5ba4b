//! Slopes and areas of sampled functions: one text for every rung.

use crate::real::Real;

/// Where samples are.
#[derive(Clone, Copy, Debug)]
pub enum Places<'a, T> {
    /// One distance apart.
    Even(T),
    /// At these coordinates.
    At(&'a [T]),
}

/// The slope between two samples that are `gap` apart: at either end.
#[inline(always)]
pub fn one_sided<T: Real>(low: T, high: T, gap: T) -> T {
    (high - low) / gap
}

/// The slope at a sample between neighbours at distance h on either side: (f+ - f-) / 2h.
#[inline(always)]
pub fn central<T: Real>(low: T, high: T, gap: T) -> T {
    (high - low) / (T::constant(2.0) * gap)
}

/// The slope at a sample whose neighbours are `before` and `after` away:
/// (hs² f+ - hd² f- + (hd² - hs²) f) / (hs hd (hs + hd)).
#[inline(always)]
pub fn uneven<T: Real>([low, middle, high]: [T; 3], before: T, after: T) -> T {
    let (hs, hd) = (before, after);
    let slope = hs * hs * high - hd * hd * low + (hd * hd - hs * hs) * middle;
    slope / (hs * hd * (hs + hd))
}

/// The slope at each of two samples or more; out has a cell for each.
pub fn gradient<T: Real>(f: &[T], places: Places<T>, out: &mut [T]) {
    let last = f.len() - 1;
    let gap = |i: usize| match places {
        Places::Even(gap) => gap,
        Places::At(x) => x[i + 1] - x[i],
    };
    for i in 1..last {
        out[i] = match places {
            Places::Even(gap) => central(f[i - 1], f[i + 1], gap),
            Places::At(_) => uneven([f[i - 1], f[i], f[i + 1]], gap(i - 1), gap(i)),
        };
    }
    out[0] = one_sided(f[0], f[1], gap(0));
    out[last] = one_sided(f[last - 1], f[last], gap(last - 1));
}

/// The area under the line between two samples: gap (low + high) / 2.
#[inline(always)]
pub fn trapezoid(gap: f64, low: f64, high: f64) -> f64 {
    gap * (low + high) / 2.0
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn slopes_of_a_parabola_are_exact_inside() {
        let x = [0.0, 1.0, 3.0, 4.0, 8.0];
        let square = x.map(|x| x * x);
        let mut slopes = [0.0; 5];
        gradient(&square, Places::At(&x), &mut slopes);
        assert_eq!(slopes, [1.0, 2.0, 6.0, 8.0, 12.0]);
        gradient(&[1.0_f32, 4.0, 9.0], Places::Even(0.5), &mut [0.0; 3]);
        let mut slopes = [0.0; 4];
        gradient(&[0.0, 1.0, 4.0, 9.0], Places::Even(0.5), &mut slopes);
        assert_eq!(slopes, [2.0, 4.0, 8.0, 10.0]);
        assert_eq!(trapezoid(0.5, 1.0, 4.0), 1.25);
    }
}
