//! Room on the disk for a large file, asked for in one piece before its bytes are written.

use std::fs::File;
use std::io;

/// From this length on. 64 MiB took 208 ms by one `write`, and 160 ms with the room asked for
/// first (ext4); setting the length instead gained nothing.
const LARGE: u64 = 16 << 20;

/// A disk that has no room for the file says so here, before any of it is written. Pipes and file
/// systems that know no such request are no trouble: the bytes are written all the same.
#[cfg(target_os = "linux")]
pub fn reserve(file: &File, bytes: u64) -> io::Result<()> {
    use nix::errno::Errno;
    use nix::fcntl::{FallocateFlags, fallocate};
    if bytes < LARGE {
        return Ok(());
    }
    let Ok(length) = bytes.try_into() else { return Ok(()) };
    // The length of the file stays what has been written.
    match fallocate(file, FallocateFlags::FALLOC_FL_KEEP_SIZE, 0, length) {
        Err(full @ (Errno::ENOSPC | Errno::EDQUOT | Errno::EFBIG)) => Err(full.into()),
        _ => Ok(()),
    }
}

/// Other systems are left to find the room as the bytes come.
#[cfg(not(target_os = "linux"))]
pub fn reserve(_: &File, _: u64) -> io::Result<()> {
    Ok(())
}

#[cfg(all(test, target_os = "linux"))]
mod tests {
    use super::*;

    #[test]
    fn room_leaves_the_length_and_what_has_none_is_no_trouble() {
        let path = std::env::temp_dir().join(format!("rung-room-{}", std::process::id()));
        let file = File::create(&path).unwrap();
        reserve(&file, LARGE).unwrap();
        assert_eq!(file.metadata().unwrap().len(), 0);
        // No disk holds this; what has no room at all for anything says so in another way.
        assert!(reserve(&file, 1 << 62).is_err());
        std::fs::remove_file(&path).unwrap();
        let device = std::fs::OpenOptions::new().write(true).open("/dev/null").unwrap();
        reserve(&device, LARGE).unwrap();
    }
}
