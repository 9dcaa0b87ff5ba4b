//! Output files that are whole or absent: written beside their place, then renamed.

use crate::error::{Error, ErrorKind, Result};
use std::fs::{self, File, OpenOptions};
use std::io::{self, BufWriter, Write};
use std::path::{Path, PathBuf};

/// Writes a file by way of `write`; when that fails, `path` is as it was before.
pub fn replace(
    path: &Path,
    write: impl FnOnce(&mut BufWriter<&mut File>) -> io::Result<()>,
) -> Result<()> {
    let failed =
        |e: io::Error| Error::new(ErrorKind::File, format!("cannot write {}: {e}", path.display()));
    let part = part_of(path).map_err(failed)?;
    let outcome = fill(&part, write).and_then(|()| fs::rename(&part, path));
    outcome.map_err(|e| {
        // What cannot be removed either is named by the error that follows.
        let _ = fs::remove_file(&part);
        failed(e)
    })
}

fn part_of(path: &Path) -> io::Result<PathBuf> {
    let name = path
        .file_name()
        .ok_or_else(|| io::Error::new(io::ErrorKind::InvalidInput, "the path names no file"))?;
    let mut part = std::ffi::OsString::from(".");
    part.push(name);
    part.push(format!(".{}.part", std::process::id()));
    Ok(path.with_file_name(part))
}

fn fill(
    part: &Path,
    write: impl FnOnce(&mut BufWriter<&mut File>) -> io::Result<()>,
) -> io::Result<()> {
    let mut file = OpenOptions::new().write(true).create(true).truncate(true).open(part)?;
    let mut buffered = BufWriter::new(&mut file);
    write(&mut buffered)?;
    buffered.flush()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_failure_leaves_the_old_file_and_no_part() {
        let folder = std::env::temp_dir().join(format!("rung-replace-{}", std::process::id()));
        fs::create_dir_all(&folder).unwrap();
        let path = folder.join("out.txt");
        replace(&path, |f| f.write_all(b"old")).unwrap();
        let e = replace(&path, |f| {
            f.write_all(b"half")?;
            Err(io::Error::other("disk full"))
        });
        assert!(e.unwrap_err().message().ends_with("out.txt: disk full"));
        assert_eq!(fs::read(&path).unwrap(), b"old");
        assert_eq!(fs::read_dir(&folder).unwrap().count(), 1);
        assert_eq!(replace(&folder.join("no/x"), |_| Ok(())).unwrap_err().kind(), ErrorKind::File);
        fs::remove_dir_all(&folder).unwrap();
    }
}
