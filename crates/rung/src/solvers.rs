//! The solvers that come with Rung, and every operation there is. To add a solver, add its line to this
//! crate's manifest, of which the build script makes the list.

use rung_ops::solver::Solver;
use rung_ops::{Op, table};

#[cfg(test)]
mod listed;

/// In the order of the manual.
pub const SOLVERS: &[&Solver] = include!(concat!(env!("OUT_DIR"), "/solvers.rs"));

/// The operations of the table, then those of the solvers.
pub fn operations() -> impl Iterator<Item = &'static Op> {
    table::operations().chain(SOLVERS.iter().flat_map(|solver| solver.operations))
}

#[cfg(test)]
mod tests {
    use super::*;

    const MANIFEST: &str = include_str!("../Cargo.toml");

    #[test]
    fn a_line_of_the_manifest_is_a_solver() {
        let names = |manifest| -> Vec<String> {
            listed::listed(manifest).into_iter().map(str::to_string).collect()
        };
        assert_eq!(names(MANIFEST), ["rung-points", "rung-mel"]);
        assert_eq!(SOLVERS.len(), 2);
        let line = "rung-mel = { path = \"../mel\" }\n";
        let third = MANIFEST.replace(line, &format!("{line}rung-third-one.workspace = true\n"));
        assert_eq!(names(&third), ["rung-points", "rung-mel", "rung-third-one"]);
        let rust = "&[rung_points::SOLVER, rung_mel::SOLVER, rung_third_one::SOLVER, ]";
        assert_eq!(listed::as_rust(&third), rust);
        assert_eq!(listed::as_rust("[dependencies]\na = \"1\"\n"), "&[]");
    }

    /// Every file of the project but the solvers' own, and what measures them.
    #[test]
    fn a_solver_s_crate_is_named_in_one_line_of_code() {
        let root = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
        let (mut folders, mut found) = (vec![root.join("crates"), root.join("xtask")], Vec::new());
        let names: Vec<&str> = listed::listed(MANIFEST);
        while let Some(folder) = folders.pop() {
            for entry in std::fs::read_dir(folder).unwrap() {
                let path = entry.unwrap().path();
                let own = names
                    .iter()
                    .any(|name| path == root.join("crates").join(name.trim_start_matches("rung-")));
                if path.is_dir() && !own {
                    folders.push(path);
                } else if path.extension().is_some_and(|ending| ending == "rs" || ending == "toml")
                {
                    let text = std::fs::read_to_string(&path).unwrap();
                    let crates =
                        names.iter().flat_map(|name| [name.to_string(), name.replace('-', "_")]);
                    let named: Vec<String> = crates.filter(|name| text.contains(name)).collect();
                    if !named.is_empty() && !path.ends_with("rung/src/solvers.rs") {
                        found.push((path.strip_prefix(&root).unwrap().to_path_buf(), named));
                    }
                }
            }
        }
        let line = std::path::PathBuf::from("crates/rung/Cargo.toml");
        let all = names.iter().map(|name| name.to_string()).collect();
        assert_eq!(found, [(line, all)]);
    }

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
