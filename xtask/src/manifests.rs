//! Lints of the manifests: a dependency is declared once, in the root manifest, beside the reason
//! for it; members only refer to it.

use crate::tidy::{File, Finding};

/// Every outside dependency of the workspace has a comment on the line above it.
pub fn every_dependency_says_why(file: &File) -> Vec<Finding> {
    if file.path != "Cargo.toml" {
        return Vec::new();
    }
    let mut above = "";
    let mut findings = Vec::new();
    for (number, section, line) in entries(&file.text) {
        let is_ours = line.contains("path = \"crates/");
        let is_entry =
            section == "workspace.dependencies" && line.contains('=') && !line.starts_with('#');
        if is_entry && !is_ours && !above.starts_with('#') {
            findings.push((number, format!("{}: no comment says why", name(line))));
        }
        above = line;
    }
    findings
}

/// A member's dependency is `name.workspace = true`; a solver's is the path of its folder, so that one line
/// adds it (`crates/rung/src/solvers/listed.rs`).
pub fn members_take_versions_from_the_workspace(file: &File) -> Vec<Finding> {
    if file.path == "Cargo.toml" || !file.path.ends_with("Cargo.toml") {
        return Vec::new();
    }
    let is_own = |(_, section, line): &(usize, &str, &str)| {
        let refers = line.contains(".workspace = true") || line.contains("workspace = true");
        let is_solver = file.path == "crates/rung/Cargo.toml" && line.contains("{ path = \"../");
        let is_entry = section.ends_with("dependencies") && line.contains('=');
        is_entry && !line.starts_with('#') && !refers && !is_solver
    };
    let own = entries(&file.text).into_iter().filter(is_own);
    let text = |line| format!("{}: declare it in [workspace.dependencies]", name(line));
    own.map(|(number, _, line)| (number, text(line))).collect()
}

/// Lines with their number (from 1) and the section that they stand in.
fn entries(text: &str) -> Vec<(usize, &str, &str)> {
    let mut section = "";
    let mut out = Vec::new();
    for (i, line) in text.lines().map(str::trim).enumerate() {
        if line.starts_with('[') {
            section = line.trim_matches(['[', ']']);
        } else {
            out.push((i + 1, section, line));
        }
    }
    out
}

fn name(line: &str) -> &str {
    line.split(['=', '.']).next().unwrap_or(line).trim()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tidy::file;

    #[test]
    fn a_dependency_without_a_reason_is_found() {
        let text = "[workspace.dependencies]\nrung-base = { path = \"crates/base\" }\n# Halves: `a=b`.\n\
                    half = \"2\"\nother = \"1\"\n[profile.dev]\nopt-level = 1\n";
        let found = every_dependency_says_why(&file("Cargo.toml", text.into()));
        assert_eq!(found, [(5, "other: no comment says why".to_string())]);
    }

    #[test]
    fn a_member_with_a_version_of_its_own_is_found() {
        let text = "[package]\nname = \"x\"\n[dependencies]\na.workspace = true\nb = \"1\"\n\
                    c = { workspace = true, features = [\"d\"] }\n[dev-dependencies]\ne = \"2\"\n";
        let found =
            members_take_versions_from_the_workspace(&file("crates/x/Cargo.toml", text.into()));
        assert_eq!(found.iter().map(|(line, _)| *line).collect::<Vec<_>>(), [5, 8]);
    }
}
