//! The generated files: their paths, and writing or comparing them. What stands in a page is
//! written by the module that knows its table (`linalg`, `command`, `standard`).

use crate::{command, linalg, packages, standard};
use rung::solvers::SOLVERS;
use std::fs;
use std::path::Path;

/// A file that is checked in and generated, whole or in a marked part.
pub struct Page {
    pub path: String,
    pub text: String,
}

fn pages(root: &Path) -> Result<Vec<Page>, String> {
    let page = |path: &str, text| Page { path: path.into(), text };
    let mut pages = vec![
        page("docs/reference/linalg.md", linalg::reference()),
        page("docs/reference/vec.md", linalg::vectors()),
        page("docs/reference/what-runs-where.md", linalg::matrix()),
        page("docs/reference/numpy.md", linalg::names()),
        page("docs/reference/packages.md", packages::reference()),
        page("docs/reference/command.md", command::reference(root)?),
        page("docs/language.md", standard::page(root)?),
    ];
    for solver in SOLVERS {
        let path = format!("docs/reference/{}.md", solver.package.name);
        pages.push(Page { path, text: linalg::solver(solver) });
    }
    Ok(pages)
}

/// Writes each page that differs; says which.
pub fn write(root: &Path) -> Result<String, String> {
    let pages = pages(root)?;
    let stale = stale(root, &pages);
    for page in pages.iter().filter(|page| stale.contains(&&*page.path)) {
        let path = root.join(&page.path);
        let folder = path.parent().unwrap_or(root);
        fs::create_dir_all(folder)
            .and_then(|()| fs::write(&path, &page.text))
            .map_err(|e| format!("{}: {e}", page.path))?;
    }
    let standard = standard::table().1;
    Ok(match stale.is_empty() {
        true => format!("gen: {} files, all fresh; standard: {standard}", pages.len()),
        false => format!("gen: wrote {}; standard: {standard}", stale.join(", ")),
    })
}

/// An error that names each page whose checked-in text differs.
pub fn check(root: &Path) -> Result<String, String> {
    let pages = pages(root)?;
    match stale(root, &pages).as_slice() {
        [] => {
            let standard = standard::table().1;
            Ok(format!("gen: {} files, all fresh; standard: {standard}", pages.len()))
        }
        stale => Err(format!("gen: not fresh: {}; run `cargo xtask gen`", stale.join(", "))),
    }
}

fn stale<'a>(root: &Path, pages: &'a [Page]) -> Vec<&'a str> {
    let differs = |page: &&Page| {
        fs::read_to_string(root.join(&page.path)).map_or(true, |text| text != page.text)
    };
    pages.iter().filter(differs).map(|page| &*page.path).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_missing_or_changed_page_is_stale() {
        let root = std::env::temp_dir().join(format!("rung-xtask-{}", std::process::id()));
        fs::create_dir_all(&root).unwrap();
        fs::write(root.join("same.md"), "a\n").unwrap();
        fs::write(root.join("changed.md"), "a\n").unwrap();
        let page = |path: &str, text: &str| Page { path: path.into(), text: text.into() };
        let pages = [page("same.md", "a\n"), page("changed.md", "b\n"), page("none.md", "")];
        assert_eq!(stale(&root, &pages), ["changed.md", "none.md"]);
        fs::remove_dir_all(&root).unwrap();
    }

    #[test]
    fn pages_end_with_one_newline_and_have_no_trailing_blanks() {
        let page = |path: &str, text| Page { path: path.into(), text };
        for page in [page("linalg", linalg::reference()), page("matrix", linalg::matrix())] {
            assert!(page.text.ends_with('\n') && !page.text.ends_with("\n\n"), "{}", page.path);
            assert!(page.text.lines().all(|line| line.trim_end() == line), "{}", page.path);
        }
    }
}
