//! The kept libraries of dense linear algebra behind plain slices of f64: QR, symmetric
//! eigenvalues and SVD by `faer`, Fourier transforms by `rustfft` and `realfft`, with our signs
//! and our rules for NaN.
//!
//! Everything runs on the calling thread, so any number of threads has one's bits, from run to
//! run; another processor may choose other vectors and give others (class O of the numeric
//! contract). Matrices are row-major. One that holds a NaN or an infinity gives NaN everywhere:
//! it never reaches faer, whose iterations need not end on it. Nothing here knows an array or an
//! operation's name.
//!
//! Signs: R has no negative diagonal element; in each eigenvector and each column of U the entry of
//! largest magnitude, the first on ties, is positive.
#![forbid(unsafe_code)]
#![warn(missing_docs)]

mod eigen;
pub mod fourier;
mod least_squares;
mod matrix;
mod orthogonal;
mod room;
mod singular;

pub use eigen::{Eigen, eigen};
pub use least_squares::{LeastSquares, least_squares, pseudo_inverse, rank};
pub use orthogonal::{Orthogonal, orthogonal};
pub use room::{Work, bytes};
pub use singular::{Extent, Singular, singular, singular_values};

/// An iteration that did not end within its steps.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct NotConverged;
