//! The solvers that come with Rung, and every operation there is. To add a solver, add its line here.

use rung_ops::solver::Solver;
use rung_ops::{Op, table};

/// In the order of the manual.
pub const SOLVERS: &[&Solver] = &[rung_points::SOLVER, rung_mel::SOLVER];

/// The operations of the table, then those of the solvers.
pub fn operations() -> impl Iterator<Item = &'static Op> {
    table::operations().chain(SOLVERS.iter().flat_map(|solver| solver.operations))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_package_is_anothers() {
        let packages = || table::operations().map(|op| op.package.name);
        for (at, solver) in SOLVERS.iter().enumerate() {
            let name = solver.package.name;
            assert!(SOLVERS[..at].iter().all(|other| other.package.name != name), "{name}");
            assert!(packages().all(|other| other != name), "{name}");
            assert!(solver.operations.iter().all(|op| op.package == solver.package), "{name}");
            assert!(solver.summary.len() <= 66 && !solver.summary.ends_with('.'), "{name}");
        }
    }
}
