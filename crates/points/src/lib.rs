//! Point clouds. Nothing here knows a front end, a flag or a file: points come as slices, results go as
//! vectors, and mistakes are errors that say what was wanted and what came.
//!
//! - [`cloud`]: a cloud, checked once: its shape, and that every coordinate is a number.
//! - [`fps`]: exact farthest point sampling.
#![forbid(unsafe_code)]

pub mod cloud;
pub mod coordinate;
pub mod fps;

pub use cloud::Cloud;
pub use coordinate::Coordinate;
