//! The files of a folder and of those in it, for commands that are given one. Names that begin with a
//! dot are left out, and a link to a folder is not followed: it may lead back.

use std::path::{Path, PathBuf};

/// The files below a folder whose names are wanted, in order of their paths.
pub fn files_below(folder: &Path, wanted: impl Fn(&str) -> bool) -> Vec<PathBuf> {
    let (mut folders, mut found) = (vec![folder.to_path_buf()], Vec::new());
    while let Some(folder) = folders.pop() {
        for entry in std::fs::read_dir(&folder).into_iter().flatten().flatten() {
            let name = entry.file_name().to_string_lossy().into_owned();
            let is_folder = entry.file_type().is_ok_and(|kind| kind.is_dir());
            match is_folder {
                _ if name.starts_with('.') => {}
                true => folders.push(entry.path()),
                false if wanted(&name) && entry.path().is_file() => found.push(entry.path()),
                false => {}
            }
        }
    }
    found.sort();
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    #[cfg(unix)]
    #[test]
    fn a_folder_that_links_to_itself_has_its_files_once() {
        let root = std::env::temp_dir().join(format!("rung-folders-{}", std::process::id()));
        std::fs::create_dir_all(root.join("inner/.hidden")).unwrap();
        std::os::unix::fs::symlink(&root, root.join("inner/round")).unwrap();
        for name in ["b.lisp", "inner/a.lisp", "inner/a.txt", "inner/.hidden/c.lisp"] {
            std::fs::write(root.join(name), "").unwrap();
        }
        let found = files_below(&root, |name| name.ends_with(".lisp"));
        assert_eq!(found, [root.join("b.lisp"), root.join("inner/a.lisp")]);
        std::fs::remove_dir_all(&root).unwrap();
    }
}
