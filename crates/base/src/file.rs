//! Output files that are whole or absent: written beside their place, then renamed. A link is
//! followed; a device, a pipe or what is open already (`/dev/stdout`) is written to, since there is
//! nothing to replace. And where files go that can be made again.

use crate::error::{Error, Result};
use std::fs::{self, File, OpenOptions};
use std::io::{self, BufWriter, Read, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};

/// Writes a file by way of `write`; when that fails, `path` is as it was before. One that is replaced
/// keeps its permissions. What is unfinished has no name where the system knows files without one, so
/// that a process that is killed leaves none; elsewhere it is `.NAME.PID-N.part` beside its place.
pub fn replace(
    path: &Path,
    write: impl FnOnce(&mut BufWriter<&mut File>) -> io::Result<()>,
) -> Result<()> {
    let failed = |e: io::Error| Error::cannot("write", path, e);
    let target = match target_of(path).map_err(failed)? {
        Target::Open(target) => {
            let mut file = OpenOptions::new().append(true).open(&target).map_err(failed)?;
            return finish(&mut file, write).map_err(failed);
        }
        Target::File(target) => target,
    };
    let mut new = Replacement::beside(target).map_err(failed)?;
    finish(&mut new.file, write).and_then(|()| new.finish(None)).map_err(failed)
}

/// A file that is written beside its place, which it takes at the end; dropped before, it is gone.
pub struct Replacement {
    file: File,
    part: Part,
    target: PathBuf,
    is_named: bool,
}

impl Replacement {
    /// One for a path; none where there is nothing to replace: a device or a pipe, which is written to.
    ///
    /// # Errors
    /// The system's: no such folder, for example.
    pub fn of(path: &Path) -> io::Result<Option<Replacement>> {
        match target_of(path)? {
            Target::File(target) => Replacement::beside(target).map(Some),
            Target::Open(_) => Ok(None),
        }
    }

    fn beside(target: PathBuf) -> io::Result<Replacement> {
        let part = Part::beside(&target)?;
        let nameless = nameless::open(part.path.parent().unwrap_or(Path::new("")));
        let is_named = nameless.is_none();
        let file = match nameless {
            Some(file) => file,
            None => part.open()?,
        };
        Ok(Replacement { file, part, target, is_named })
    }

    /// The file, to read and to write.
    pub fn file(&self) -> &File {
        &self.file
    }

    /// Puts it in its place, with the permissions of the old file, which stays as `kept` where that is
    /// a name.
    ///
    /// # Errors
    /// The system's; the old file is as it was.
    pub fn finish(self, kept: Option<&Path>) -> io::Result<()> {
        if let Ok(old) = fs::metadata(&self.target) {
            self.file.set_permissions(old.permissions())?;
        }
        let _held = unfinished();
        if !self.is_named {
            nameless::name(&self.file, &self.part.path)?;
        }
        if let Some(kept) = kept {
            fs::rename(&self.target, kept)?;
        }
        fs::rename(&self.part.path, &self.target).inspect_err(|_| {
            if let Some(kept) = kept {
                let _ = fs::rename(kept, &self.target);
            }
        })
    }
}

/// A file for what is too large to be held: nobody else's, and gone when it is dropped.
pub struct Scratch {
    file: File,
    length: u64,
    /// The file that messages name.
    path: PathBuf,
    /// The name that it has where the system knows no files without one.
    _part: Part,
}

impl Scratch {
    /// One beside the file that a path names, where there is room for the result as well; of a device or
    /// a pipe among the system's temporary files.
    ///
    /// # Errors
    /// None can be made there.
    pub fn beside(path: &Path) -> Result<Scratch> {
        let make = || {
            let target = match target_of(path)? {
                Target::File(target) => target,
                Target::Open(_) => std::env::temp_dir().join("rung"),
            };
            let part = Part::beside(&target)?;
            let file = match nameless::open(target.parent().unwrap_or(Path::new(""))) {
                Some(file) => file,
                None => part.open()?,
            };
            Ok(Scratch { file, length: 0, path: path.to_path_buf(), _part: part })
        };
        make().map_err(|e: io::Error| Error::cannot("write", path, e))
    }

    /// Writes behind what is there.
    ///
    /// # Errors
    /// The system's: no room, for example.
    pub fn append(&mut self, bytes: &[u8]) -> Result<()> {
        let mut write = || {
            self.file.seek(SeekFrom::Start(self.length))?;
            self.file.write_all(bytes)
        };
        write().map_err(|e| Error::cannot("write", &self.path, e))?;
        self.length += bytes.len() as u64;
        Ok(())
    }

    /// Reads what was written at an offset.
    ///
    /// # Errors
    /// The system's, and fewer bytes there.
    pub fn read_at(&mut self, offset: u64, bytes: &mut [u8]) -> Result<()> {
        let mut read = || {
            self.file.seek(SeekFrom::Start(offset))?;
            self.file.read_exact(bytes)
        };
        read().map_err(|e| Error::cannot("write", &self.path, e))
    }
}

/// Removes what is unfinished, before the process ends without its threads ending. While the result is
/// held, no other file is begun or gets a name.
#[must_use]
pub fn abandon() -> impl Drop {
    let parts = unfinished();
    // What cannot be removed stays.
    parts.iter().for_each(|part| drop(fs::remove_file(part)));
    parts
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

/// Where the bytes for a path go.
enum Target {
    /// To a file of this name, which need not exist.
    File(PathBuf),
    /// To what is there: a device, a pipe, or what a process has open.
    Open(PathBuf),
}

/// What a chain of links leads to. Forty steps are what Linux takes.
fn target_of(path: &Path) -> io::Result<Target> {
    let mut target = path.to_path_buf();
    for _ in 0..40 {
        let special = fs::metadata(&target).is_ok_and(|m| !m.is_file() && !m.is_dir());
        if special || is_descriptor(&target) {
            return Ok(Target::Open(target));
        }
        match fs::read_link(&target) {
            Ok(next) => target = target.parent().unwrap_or(Path::new("")).join(next),
            Err(_) => return Ok(Target::File(target)),
        }
    }
    Err(io::Error::other("too many links"))
}

/// `/proc/self/fd/1`, which `/dev/stdout` leads to: its link says what is open, not where it is.
fn is_descriptor(path: &Path) -> bool {
    let folder = path.parent().and_then(|folder| fs::canonicalize(folder).ok());
    folder.is_some_and(|folder| folder.starts_with("/proc") && folder.ends_with("fd"))
}

/// The named files that are being written.
static UNFINISHED: Mutex<Vec<PathBuf>> = Mutex::new(Vec::new());

fn unfinished() -> MutexGuard<'static, Vec<PathBuf>> {
    UNFINISHED.lock().unwrap_or_else(PoisonError::into_inner)
}

/// A file on its way to its place; dropped, it is gone, whether or not it came there.
struct Part {
    path: PathBuf,
}

impl Part {
    fn beside(path: &Path) -> io::Result<Part> {
        let name = path
            .file_name()
            .ok_or_else(|| io::Error::new(io::ErrorKind::InvalidInput, "the path names no file"))?;
        let mut part = std::ffi::OsString::from(".");
        part.push(name);
        // Threads of one process write their own parts.
        static PARTS: AtomicU64 = AtomicU64::new(0);
        let number = PARTS.fetch_add(1, Ordering::Relaxed);
        part.push(format!(".{}-{number}.part", std::process::id()));
        let path = path.with_file_name(part);
        unfinished().push(path.clone());
        Ok(Part { path })
    }

    fn open(&self) -> io::Result<File> {
        let mut options = OpenOptions::new();
        options.read(true).write(true).create(true).truncate(true).open(&self.path)
    }
}

impl Drop for Part {
    fn drop(&mut self) {
        // It is there only if something failed; what cannot be removed is named by that error.
        let _ = fs::remove_file(&self.path);
        unfinished().retain(|path| *path != self.path);
    }
}

/// Files without a name, which are gone when nobody has them open.
#[cfg(target_os = "linux")]
mod nameless {
    use nix::fcntl::{AT_FDCWD, AtFlags, OFlag};
    use std::fs::{self, File, OpenOptions};
    use std::io;
    use std::os::fd::AsRawFd;
    use std::os::unix::fs::OpenOptionsExt;
    use std::path::Path;

    /// Where a process finds what it has open: a name is given through it.
    const OPEN: &str = "/proc/self/fd";

    /// One in this folder, where its file system knows them.
    pub fn open(folder: &Path) -> Option<File> {
        let folder = if folder.as_os_str().is_empty() { Path::new(".") } else { folder };
        let mut options = OpenOptions::new();
        options.read(true).write(true).custom_flags(OFlag::O_TMPFILE.bits());
        Path::new(OPEN).exists().then(|| options.open(folder).ok()).flatten()
    }

    pub fn name(file: &File, path: &Path) -> io::Result<()> {
        // From a process that was killed and had this one's number.
        let _ = fs::remove_file(path);
        let open = format!("{OPEN}/{}", file.as_raw_fd());
        let flags = AtFlags::AT_SYMLINK_FOLLOW;
        Ok(nix::unistd::linkat(AT_FDCWD, open.as_str(), AT_FDCWD, path, flags)?)
    }
}

#[cfg(not(target_os = "linux"))]
mod nameless {
    use std::fs::File;
    use std::io;
    use std::path::Path;

    pub fn open(_: &Path) -> Option<File> {
        None
    }

    pub fn name(_: &File, _: &Path) -> io::Result<()> {
        Ok(())
    }
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

    #[test]
    fn what_is_not_held_is_read_again_and_leaves_nothing() {
        let folder = std::env::temp_dir().join(format!("rung-scratch-{}", std::process::id()));
        fs::create_dir_all(&folder).unwrap();
        let mut scratch = Scratch::beside(&folder.join("out.npy")).unwrap();
        scratch.append(b"one ").unwrap();
        scratch.append(b"two").unwrap();
        let mut bytes = [0; 5];
        scratch.read_at(2, &mut bytes).unwrap();
        assert_eq!(&bytes, b"e two");
        scratch.append(b"!").unwrap();
        assert!(scratch.read_at(4, &mut bytes).is_err());
        drop(scratch);
        assert_eq!(fs::read_dir(&folder).unwrap().count(), 0);
        let missing = Scratch::beside(&folder.join("no/out.npy")).map(|_| ()).unwrap_err();
        assert!(missing.message().starts_with("cannot write "), "{missing}");
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

    /// A killed process left `.NAME.PID-N.part` behind.
    #[cfg(target_os = "linux")]
    #[test]
    fn what_is_unfinished_has_no_name_that_a_kill_could_leave() {
        let folder = std::env::temp_dir().join(format!("rung-killed-{}", std::process::id()));
        fs::create_dir_all(&folder).unwrap();
        let path = folder.join("out.txt");
        let mut seen = Vec::new();
        replace(&path, |f| {
            f.write_all(b"half")?;
            f.flush()?;
            seen.extend(fs::read_dir(&folder)?.flatten().map(|found| found.file_name()));
            Ok(())
        })
        .unwrap();
        // Some file systems know no files without a name.
        if nameless::open(&folder).is_some() {
            assert!(seen.is_empty(), "{seen:?}");
        }
        assert_eq!(fs::read(&path).unwrap(), b"half");
        assert_eq!(fs::read_dir(&folder).unwrap().count(), 1);
        let part = Part::beside(&path).unwrap();
        fs::write(&part.path, "half").unwrap();
        // Others' files in tests that run beside this one are named too.
        assert!(unfinished().contains(&part.path));
        drop(part);
        assert_eq!(fs::read_dir(&folder).unwrap().count(), 1);
        fs::remove_dir_all(&folder).unwrap();
    }

    /// Writing to `/dev/stdout` tried to make a file beside what `/proc` calls it.
    #[cfg(target_os = "linux")]
    #[test]
    fn what_is_open_already_is_written_to() {
        use std::io::Read;
        use std::os::fd::AsRawFd;
        let (mut from, to) = std::io::pipe().unwrap();
        let link = std::env::temp_dir().join(format!("rung-open-{}", std::process::id()));
        let open = format!("/proc/self/fd/{}", to.as_raw_fd());
        std::os::unix::fs::symlink(&open, &link).unwrap();
        replace(&link, |f| f.write_all(b"one ")).unwrap();
        replace(Path::new(&open), |f| f.write_all(b"two")).unwrap();
        drop(to);
        let mut text = String::new();
        from.read_to_string(&mut text).unwrap();
        assert_eq!(text, "one two");
        fs::remove_file(&link).unwrap();
    }
}
