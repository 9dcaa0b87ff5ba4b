//! The solvers that a manifest lists, for the build script (`build.rs`), which makes Rust of them.

/// The line of a manifest behind which its solvers stand, up to a line that is empty.
const BEGIN: &str = "# Solvers,";

/// The names of the crates, in order.
pub fn listed(manifest: &str) -> Vec<&str> {
    let behind = manifest.lines().map(str::trim).skip_while(|line| !line.starts_with(BEGIN));
    let lines = behind.take_while(|line| !line.is_empty() && !line.starts_with('['));
    let entries = lines.filter(|line| !line.starts_with('#'));
    entries.filter_map(|line| line.split(['=', '.', ' ']).next()).collect()
}

/// The list as Rust: `&[rung_NAME::SOLVER, ...]`.
pub fn as_rust(manifest: &str) -> String {
    let solvers = listed(manifest).into_iter().map(|name| name.replace('-', "_") + "::SOLVER, ");
    format!("&[{}]", solvers.collect::<String>())
}
