//! Numbers placed among ascending ones: the edges and bins of a histogram, and straight lines
//! between samples. All in f64.

use crate::order::place;

/// The edges of bins of one width over low..=high, one more than there are bins: the last is
/// exactly `high`.
pub fn edges(low: f64, high: f64, edges: &mut [f64]) {
    let Some(bins) = edges.len().checked_sub(1) else { return };
    let step = (high - low) / bins as f64;
    edges.iter_mut().enumerate().for_each(|(i, edge)| *edge = low + i as f64 * step);
    edges[bins] = high;
}

/// The bin of x: the last edge not above it. A bin holds its left edge; the last one holds its
/// right edge too. Nothing outside the edges, nor NaN, has a bin.
pub fn bin(edges: &[f64], x: f64) -> Option<usize> {
    let bins = edges.len().checked_sub(1).filter(|bins| *bins > 0)?;
    if !(edges[0] <= x && x <= edges[bins]) {
        return None;
    }
    Some((place(edges, x, true) - 1).min(bins - 1))
}

/// The line through samples (`xp` increasing, `fp`) at x:
/// y_lo + (x - x_lo) * ((y_hi - y_lo) / (x_hi - x_lo)), where x_lo is the last sample not above x.
/// At the last sample its own value; outside `left` and `right`; NaN at NaN.
pub fn interpolate(xp: &[f64], fp: &[f64], x: f64, left: f64, right: f64) -> f64 {
    let last = xp.len() - 1;
    if x.is_nan() {
        return f64::NAN;
    }
    if x < xp[0] {
        return left;
    }
    if x > xp[last] {
        return right;
    }
    let low = place(xp, x, true) - 1;
    if low == last {
        return fp[last];
    }
    line([xp[low], xp[low + 1]], [fp[low], fp[low + 1]], x)
}

/// The line through two samples at x.
#[inline(always)]
pub fn line(xp: [f64; 2], fp: [f64; 2], x: f64) -> f64 {
    fp[0] + (x - xp[0]) * ((fp[1] - fp[0]) / (xp[1] - xp[0]))
}

/// A number at `position` between ascending samples: a + (b - a) * (position - floor), where a and
/// b are the samples around it.
pub fn between(a: f64, b: f64, fraction: f64) -> f64 {
    a + (b - a) * fraction
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_bin_holds_its_left_edge_and_the_last_both() {
        let mut even = [0.0; 5];
        edges(0.0, 1.0, &mut even);
        let edges = even;
        assert_eq!(edges, [0.0, 0.25, 0.5, 0.75, 1.0]);
        let cases = [(-0.1, None), (0.0, Some(0)), (-0.0, Some(0)), (0.25, Some(1))];
        for (x, wanted) in cases {
            assert_eq!(bin(&edges, x), wanted, "{x}");
        }
        let cases = [(0.9, Some(3)), (1.0, Some(3)), (1.1, None), (f64::NAN, None)];
        for (x, wanted) in cases {
            assert_eq!(bin(&edges, x), wanted, "{x}");
        }
        // Bins without width hold nothing but the last.
        assert_eq!(bin(&[0.0, 1.0, 1.0, 2.0], 1.0), Some(2));
        assert_eq!(bin(&[1.0], 1.0), None);
    }

    #[test]
    fn lines_between_samples_and_values_outside() {
        let at = |x| interpolate(&[1.0, 2.0, 4.0], &[10.0, 20.0, 0.0], x, -1.0, -2.0);
        assert_eq!(
            [0.5, 1.0, 1.5, 2.0, 3.0, 4.0, 5.0].map(at),
            [-1.0, 10.0, 15.0, 20.0, 10.0, 0.0, -2.0]
        );
        assert!(at(f64::NAN).is_nan());
        assert_eq!(interpolate(&[3.0], &[7.0], 3.0, 0.0, 0.0), 7.0);
    }
}
