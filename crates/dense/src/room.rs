//! How much memory a decomposition takes, so that a caller can ask for it first: the kept library
//! allocates without asking, and ends the process where there is none.

use crate::Extent;
use faer::get_global_parallelism;
use faer::linalg::qr::no_pivoting::factor::recommended_block_size;
use faer::linalg::{evd, svd};

/// A decomposition of a matrix (m, n).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Work {
    /// `orthogonal`.
    Orthogonal {
        /// Whether q is square.
        complete: bool,
        /// Whether q is computed.
        with_q: bool,
    },
    /// `eigen`.
    Eigen,
    /// `singular`, and what stands on it.
    Singular(Extent),
    /// `singular_values`.
    SingularValues,
}

/// Elements from which no matrix fits into any memory; their bytes are not counted in 64 bits.
const MOST: usize = 1 << 58;

/// Bytes that one decomposition of a matrix (m, n) takes at most beside its operand: the library's
/// copies and work space, and the results before they are handed over.
pub fn bytes(work: Work, m: usize, n: usize) -> u64 {
    let (long, k) = (m.max(n), m.min(n));
    let square =
        matches!(work, Work::Singular(Extent::Full) | Work::Orthogonal { complete: true, .. });
    if long.saturating_mul(if square { long } else { k }) > MOST {
        return u64::MAX;
    }
    let numbers = |count: usize| 8 * count as u64;
    if k == 0 {
        // Identities at most: the library is not asked.
        return if square { numbers(2 * (m * m + n * n)) } else { 0 };
    }
    let par = get_global_parallelism();
    let vectors = |compute: svd::ComputeSvdVectors| {
        svd::svd_scratch::<f64>(m, n, compute, compute, par, Default::default())
            .unaligned_bytes_required() as u64
    };
    // Each result once as the library's matrix, once with its signs, once row by row.
    match work {
        Work::Orthogonal { complete, with_q } => {
            let columns = if complete { m } else { k };
            let q = if with_q { 2 * m * columns } else { 0 };
            numbers(3 * m * n + 2 * recommended_block_size::<f64>(m, n) * n + q + columns * n)
        }
        Work::Eigen => {
            let compute = evd::ComputeEigenvectors::Yes;
            let scratch = evd::self_adjoint_evd_scratch::<f64>(n, compute, par, Default::default());
            numbers(5 * n * n + 3 * n) + scratch.unaligned_bytes_required() as u64
        }
        Work::Singular(extent) => {
            let (left, right, compute) = match extent {
                Extent::Full => (m, n, svd::ComputeSvdVectors::Full),
                Extent::Reduced => (k, k, svd::ComputeSvdVectors::Thin),
            };
            numbers(m * n + 3 * (m * left + n * right + k)) + vectors(compute)
        }
        Work::SingularValues => numbers(m * n + 2 * k) + vectors(svd::ComputeSvdVectors::No),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_decomposition_takes_at_least_its_copy_and_its_results() {
        let all = [
            (Work::Orthogonal { complete: false, with_q: true }, 2),
            (Work::Eigen, 2),
            (Work::Singular(Extent::Reduced), 3),
            (Work::SingularValues, 1),
        ];
        for (work, least) in all {
            let taken = bytes(work, 100, 100);
            assert!((least * 80_000..40 * 80_000).contains(&taken), "{work:?}: {taken}");
            assert!(bytes(work, 0, 5) < 1 << 10, "{work:?}");
            assert_eq!(bytes(work, usize::MAX, 2), u64::MAX);
        }
        let full = bytes(Work::Singular(Extent::Full), 1000, 10);
        assert!(
            full > 3 * 8_000_000 && bytes(Work::Singular(Extent::Reduced), 1000, 10) < full / 10
        );
    }
}
