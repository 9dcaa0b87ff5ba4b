//! Output files that are whole or absent: written beside their place, then renamed. A link is
//! followed; a device or a pipe is written to, since there is nothing to replace. And where files go
//! that can be made again.

use crate::error::{Error, Result};
use std::fs::{self, File, OpenOptions};
use std::io::{self, BufWriter, Write};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};

/// Writes a file by way of `write`; when that fails, `path` is as it was before. One that is replaced
/// keeps its permissions.
pub fn replace(
    path: &Path,
    write: impl FnOnce(&mut BufWriter<&mut File>) -> io::Result<()>,
) -> Result<()> {
    let failed = |e: io::Error| Error::cannot("write", path, e);
    let target = behind_links(path).map_err(failed)?;
    if fs::metadata(&target).is_ok_and(|m| !m.is_file() && !m.is_dir()) {
        let mut file = OpenOptions::new().write(true).open(&target).map_err(failed)?;
        return finish(&mut file, write).map_err(failed);
    }
    let part = part_of(&target).map_err(failed)?;
    let outcome = fill(&part, write).and_then(|()| {
        if let Ok(old) = fs::metadata(&target) {
            fs::set_permissions(&part, old.permissions())?;
        }
        fs::rename(&part, &target)
    });
    outcome.map_err(|e| {
        // What cannot be removed either is named by the error that follows.
        let _ = fs::remove_file(&part);
        failed(e)
    })
}

/// The user's folder for what can be made again: `XDG_CACHE_HOME`, or the system's own place.
pub fn cache_folder() -> Option<PathBuf> {
    let variable = |name: &str| {
        let path = PathBuf::from(std::env::var_os(name)?);
        path.is_absolute().then_some(path)
    };
    variable("XDG_CACHE_HOME").or_else(|| {
        if cfg!(windows) {
            variable("LOCALAPPDATA")
        } else if cfg!(target_vendor = "apple") {
            Some(variable("HOME")?.join("Library").join("Caches"))
        } else {
            Some(variable("HOME")?.join(".cache"))
        }
    })
}

/// What a chain of links leads to, whether or not it exists. Forty steps are what Linux takes.
fn behind_links(path: &Path) -> io::Result<PathBuf> {
    let mut target = path.to_path_buf();
    for _ in 0..40 {
        match fs::read_link(&target) {
            Ok(next) => target = target.parent().unwrap_or(Path::new("")).join(next),
            Err(_) => return Ok(target),
        }
    }
    Err(io::Error::other("too many links"))
}

fn part_of(path: &Path) -> io::Result<PathBuf> {
    let name = path
        .file_name()
        .ok_or_else(|| io::Error::new(io::ErrorKind::InvalidInput, "the path names no file"))?;
    let mut part = std::ffi::OsString::from(".");
    part.push(name);
    // Threads of one process write their own parts.
    static PARTS: AtomicU64 = AtomicU64::new(0);
    let number = PARTS.fetch_add(1, Ordering::Relaxed);
    part.push(format!(".{}-{number}.part", std::process::id()));
    Ok(path.with_file_name(part))
}

fn fill(
    part: &Path,
    write: impl FnOnce(&mut BufWriter<&mut File>) -> io::Result<()>,
) -> io::Result<()> {
    let mut file = OpenOptions::new().write(true).create(true).truncate(true).open(part)?;
    finish(&mut file, write)
}

fn finish(
    file: &mut File,
    write: impl FnOnce(&mut BufWriter<&mut File>) -> io::Result<()>,
) -> io::Result<()> {
    let mut buffered = BufWriter::new(file);
    write(&mut buffered)?;
    buffered.flush()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::error::ErrorKind;

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
        #[cfg(unix)]
        {
            use std::os::unix::fs::PermissionsExt;
            fs::set_permissions(&path, fs::Permissions::from_mode(0o750)).unwrap();
            replace(&path, |f| f.write_all(b"new")).unwrap();
            assert_eq!(fs::metadata(&path).unwrap().permissions().mode() & 0o777, 0o750);
        }
        assert_eq!(fs::read_dir(&folder).unwrap().count(), 1);
        assert_eq!(replace(&folder.join("no/x"), |_| Ok(())).unwrap_err().kind(), ErrorKind::File);
        fs::remove_dir_all(&folder).unwrap();
    }

    /// A device was once replaced by a regular file, and a link by its target's new content.
    #[cfg(unix)]
    #[test]
    fn links_are_followed_and_devices_are_written_to() {
        let folder = std::env::temp_dir().join(format!("rung-links-{}", std::process::id()));
        fs::create_dir_all(&folder).unwrap();
        let (real, link) = (folder.join("real"), folder.join("link"));
        fs::write(&real, b"old").unwrap();
        std::os::unix::fs::symlink("real", &link).unwrap();
        replace(&link, |f| f.write_all(b"new")).unwrap();
        assert_eq!(fs::read(&real).unwrap(), b"new");
        assert!(fs::symlink_metadata(&link).unwrap().is_symlink());
        replace(Path::new("/dev/null"), |f| f.write_all(b"lost")).unwrap();
        assert!(!fs::metadata("/dev/null").unwrap().is_file());
        let full = replace(Path::new("/dev/full"), |f| f.write_all(b"no room")).unwrap_err();
        assert!(full.message().starts_with("cannot write /dev/full"));
        fs::remove_dir_all(&folder).unwrap();
    }
}
