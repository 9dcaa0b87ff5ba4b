//! The licences of everything that is linked: each crate in cargo's metadata must offer one that is
//! on the list. A licence not on the list is a question for a person, so there is no way around it.

use serde_json::Value;
use std::path::Path;
use std::process::Command;

/// Permissive licences, and MPL-2.0, which asks for changes to its own files only.
const ALLOWED: &[&str] = &[
    "0BSD",
    "Apache-2.0",
    "Apache-2.0 WITH LLVM-exception",
    "BSD-2-Clause",
    "BSD-3-Clause",
    "BSL-1.0",
    "CC0-1.0",
    "ISC",
    "MIT",
    "MIT-0",
    "MPL-2.0",
    "Unicode-3.0",
    "Unlicense",
    "Zlib",
];

pub fn findings(root: &Path) -> Result<Vec<String>, String> {
    let output = Command::new(std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into()))
        .args(["metadata", "--format-version=1", "--locked"])
        .current_dir(root)
        .output()
        .map_err(|e| format!("tidy: cargo metadata: {e}"))?;
    if !output.status.success() {
        return Err(format!("tidy: cargo metadata: {}", String::from_utf8_lossy(&output.stderr)));
    }
    let metadata: Value =
        serde_json::from_slice(&output.stdout).map_err(|e| format!("tidy: cargo metadata: {e}"))?;
    let packages = metadata["packages"].as_array().ok_or("tidy: metadata without packages")?;
    Ok(packages.iter().filter_map(finding).collect())
}

fn finding(package: &Value) -> Option<String> {
    let text = |key: &str| package[key].as_str().unwrap_or("");
    let licence = text("license");
    let said = if licence.is_empty() { "none" } else { licence };
    (!is_allowed(licence))
        .then(|| format!("{} {}: licence not allowed: {said}", text("name"), text("version")))
}

/// Whether an SPDX expression can be met with the list: any alternative of which every part is on it.
/// Older manifests write `/` for OR.
fn is_allowed(expression: &str) -> bool {
    let spaced = expression.replace('/', " OR ").replace('(', " ( ").replace(')', " ) ");
    let tokens: Vec<&str> = spaced.split_whitespace().collect();
    let mut rest = tokens.as_slice();
    either(&mut rest) && rest.is_empty()
}

fn either(rest: &mut &[&str]) -> bool {
    let mut met = both(rest);
    while rest.first() == Some(&"OR") {
        *rest = &rest[1..];
        met |= both(rest);
    }
    met
}

fn both(rest: &mut &[&str]) -> bool {
    let mut met = one(rest);
    while rest.first() == Some(&"AND") {
        *rest = &rest[1..];
        met &= one(rest);
    }
    met
}

fn one(rest: &mut &[&str]) -> bool {
    match **rest {
        ["(", ..] => {
            *rest = &rest[1..];
            let met = either(rest);
            let closed = rest.first() == Some(&")");
            *rest = rest.get(1..).unwrap_or_default();
            met && closed
        }
        [name, "WITH", exception, ..] => {
            *rest = &rest[3..];
            ALLOWED.contains(&format!("{name} WITH {exception}").as_str())
        }
        [name, ..] => {
            *rest = &rest[1..];
            ALLOWED.contains(&name)
        }
        [] => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn expressions_are_read_as_alternatives() {
        for licence in [
            "MIT",
            "MIT/Apache-2.0",
            "MIT OR Apache-2.0 OR LGPL-2.1-or-later",
            "(MIT OR Apache-2.0) AND Unicode-3.0",
            "Apache-2.0 WITH LLVM-exception OR GPL-3.0",
        ] {
            assert!(is_allowed(licence), "{licence}");
        }
    }

    #[test]
    fn what_is_not_on_the_list_is_found() {
        for licence in
            ["", "GPL-3.0", "LGPL-2.1 AND MIT", "(GPL-2.0 OR AGPL-3.0)", "(MIT", "MIT MIT"]
        {
            assert!(!is_allowed(licence), "{licence}");
        }
    }
}
