//! Point clouds: a solver. Its operations are plain functions on slices; their records say what a front
//! end needs to offer them, and no front end is known here.
//!
//! - [`batch`]: several clouds in one array.
//! - [`cloud`]: a cloud, checked once: its shape, and that every coordinate is a number.
//! - [`fps`]: exact farthest point sampling; its record is [`fps::record`].
//! - [`near`]: the nearest points and those within a radius; [`voxels`]: a point for each cube of a grid;
//!   [`normals`]: directions across a surface. Each has its record.
//! - [`operand`]: from the arrays of a call to clouds.
//! - [`files`], [`picture`] and [`shell`]: clouds in files, and what a shell does with them.
#![forbid(unsafe_code)]

pub mod batch;
pub mod cloud;
pub mod coordinate;
pub mod files;
pub mod fps;
mod mistakes;
pub mod near;
pub mod normals;
pub mod operand;
pub mod picture;
pub mod shell;
pub mod voxels;

pub use cloud::Cloud;
pub use coordinate::Coordinate;

use rung_ops::record::{Op, Package};
use rung_ops::solver::Solver;

/// Package `points`.
pub const PACKAGE: &Package = &Package::new("points", "points:");

/// What front ends offer.
pub const SOLVER: &Solver = &Solver {
    package: PACKAGE,
    summary: "point clouds: even samples, coverage, voxels, neighbours, normals",
    introduction: "\
A cloud is an array with a point in each row: (n 3), or of any dimension from 1 to 16. What is computed
at f32 (`single-float` clouds, and the half widths, which are widened) or at f64 (all others) is written
down in the order of its operations, and every rung gives those bits. Indices count rows from 0.
",
    operations: OPERATIONS,
};

const OPERATIONS: &[Op] = &[
    fps::record::FPS,
    voxels::record::VOXELS,
    near::record::NEAREST,
    near::record::WITHIN,
    near::coverage::COVERAGE,
    normals::record::NORMALS,
];
