//! Compiled kernels on disk: what the driver made of them, so that the next process need not wait
//! for its compiler.
//!
//! One file for each adapter and driver, in the user's cache folder; the driver itself keeps the
//! kernels in it apart by their text. A file that is damaged, of another driver or too large is
//! not used and is written anew. Nobody needs it: it may be deleted at any time, and of two
//! processes that write it the last one wins, whole.

use super::WgpuDevice;
use crate::device::Info;
use rung_base::file;
use std::fs;
use std::hash::{DefaultHasher, Hash, Hasher};
use std::io::Write;
use std::path::{Path, PathBuf};
use std::sync::Mutex;
use std::time::{Duration, Instant};

/// The first bytes of a file, with the version of its form.
const MAGIC: &[u8; 16] = b"rung kernels 1\n\0";
/// A larger file is begun anew: a thousand kernels of some 64 KiB.
const MOST_BYTES: u64 = 64 << 20;
/// Files of other adapters and drivers that are kept.
const MOST_FILES: usize = 8;
/// A write may take this part of the time since the last one.
const SHARE: u32 = 20;

/// The driver's cache and the file that it came from.
pub(super) struct Cache {
    pub pipelines: wgpu::PipelineCache,
    path: PathBuf,
    key: String,
    unsaved: Mutex<Unsaved>,
}

/// Whether kernels were made since the last write, when that was, and what it took.
#[derive(Default)]
struct Unsaved {
    any: bool,
    written: Option<Instant>,
    took: Duration,
}

impl Cache {
    /// The cache of a device, from its file where there is a good one. `None`: no cache folder, or
    /// a driver that has no such thing.
    pub fn open(device: &wgpu::Device, info: &Info) -> Option<Cache> {
        Cache::open_in(device, info, &file::cache_folder()?.join("rung").join("kernels"))
    }

    fn open_in(device: &wgpu::Device, info: &Info, folder: &Path) -> Option<Cache> {
        if !device.features().contains(wgpu::Features::PIPELINE_CACHE) {
            return None;
        }
        let key = key_of(info);
        let path = folder.join(format!("{:016x}.bin", checksum(key.as_bytes())));
        let data = read(&path, &key);
        // SAFETY: the bytes were written by `save` from the same adapter and driver, as their key
        // says, and are whole, as their checksum says; `fallback` makes an empty cache of what the
        // driver itself does not recognise.
        let pipelines = unsafe {
            device.create_pipeline_cache(&wgpu::PipelineCacheDescriptor {
                label: None,
                data: data.as_deref(),
                fallback: true,
            })
        };
        Some(Cache { pipelines, path, key, unsaved: Mutex::default() })
    }

    /// A kernel was made that the file may not have.
    pub fn made(&self) {
        super::lock(&self.unsaved).any = true;
    }

    /// Writes the file if there are new kernels and the last write is long enough ago. Called when
    /// the program waits anyway.
    pub fn save_sometimes(&self) {
        let due = {
            let unsaved = super::lock(&self.unsaved);
            unsaved.any && unsaved.written.is_none_or(|at| at.elapsed() >= SHARE * unsaved.took)
        };
        if due {
            self.save();
        }
    }

    /// Writes the file if there are new kernels. What cannot be written is not missed.
    pub fn save(&self) {
        let mut unsaved = super::lock(&self.unsaved);
        if !std::mem::take(&mut unsaved.any) {
            return;
        }
        let start = Instant::now();
        let data = self.pipelines.get_data().filter(|data| data.len() as u64 <= MOST_BYTES);
        if let Some(data) = data {
            let _ = write(&self.path, &self.key, &data);
        }
        (unsaved.written, unsaved.took) = (Some(Instant::now()), start.elapsed());
    }
}

impl Drop for WgpuDevice {
    fn drop(&mut self) {
        if let Some(cache) = &self.cache {
            cache.save();
        }
    }
}

/// What a file's contents hold for.
fn key_of(info: &Info) -> String {
    let version = env!("CARGO_PKG_VERSION");
    format!("{version}\n{}\n{}\n{}\n{}", info.binding, info.backend, info.name, info.driver)
}

/// Good enough to find damage; it guards against no attacker, who could write the program itself.
fn checksum(bytes: &[u8]) -> u64 {
    let mut hasher = DefaultHasher::new();
    bytes.hash(&mut hasher);
    hasher.finish()
}

/// Magic, length of the key, length of the data, checksum of both, key, data.
fn write(path: &Path, key: &str, data: &[u8]) -> rung_base::Result<()> {
    let folder = path.parent().unwrap_or(Path::new(""));
    fs::create_dir_all(folder).map_err(|e| rung_base::Error::cannot("make", folder, e))?;
    make_room(folder, path);
    // A pipe in its place would wait for a reader.
    if fs::metadata(path).is_ok_and(|about| !about.is_file()) {
        return Err(rung_base::Error::cannot("write", path, "it is no regular file"));
    }
    let body = [key.as_bytes(), data].concat();
    file::replace(path, |out| {
        out.write_all(MAGIC)?;
        out.write_all(&(key.len() as u64).to_le_bytes())?;
        out.write_all(&(data.len() as u64).to_le_bytes())?;
        out.write_all(&checksum(&body).to_le_bytes())?;
        out.write_all(&body)
    })
}

/// The data of a good file for this key.
fn read(path: &Path, key: &str) -> Option<Vec<u8>> {
    let about = fs::metadata(path).ok()?;
    if !about.is_file() || about.len() > MOST_BYTES + 4096 {
        return None;
    }
    let bytes = fs::read(path).ok()?;
    let (head, body) = bytes.split_at_checked(MAGIC.len() + 24)?;
    let number = |at: usize| {
        let at = MAGIC.len() + 8 * at;
        head[at..at + 8].try_into().ok().map(u64::from_le_bytes)
    };
    let (key_length, data_length) = (number(0)?, number(1)?);
    let whole = head.starts_with(MAGIC)
        && key_length.checked_add(data_length) == Some(body.len() as u64)
        && number(2) == Some(checksum(body));
    let (found, data) = body.split_at_checked(key_length as usize)?;
    (whole && found == key.as_bytes()).then(|| data.to_vec())
}

/// Removes the oldest files of other drivers and adapters.
fn make_room(folder: &Path, keep: &Path) {
    let Ok(entries) = fs::read_dir(folder) else { return };
    let mut others: Vec<_> = entries
        .filter_map(|entry| {
            let path = entry.ok()?.path();
            let ours = path.extension().is_some_and(|e| e == "bin") && path != keep;
            let changed = fs::metadata(&path).and_then(|about| about.modified()).ok()?;
            ours.then_some((changed, path))
        })
        .collect();
    others.sort();
    for (_, path) in others.iter().rev().skip(MOST_FILES - 1) {
        // Another process may have removed it.
        let _ = fs::remove_file(path);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn folder(name: &str) -> PathBuf {
        std::env::temp_dir().join(format!("rung-kernels-{name}-{}", std::process::id()))
    }

    #[test]
    fn a_file_is_read_only_where_it_is_whole_and_of_this_key() {
        let folder = folder("whole");
        let path = folder.join("a.bin");
        assert_eq!(read(&path, "key"), None);
        write(&path, "key", b"some data").unwrap();
        assert_eq!(read(&path, "key").as_deref(), Some(&b"some data"[..]));
        assert_eq!(read(&path, "other"), None);
        let good = fs::read(&path).unwrap();
        for length in 0..good.len() {
            fs::write(&path, &good[..length]).unwrap();
            assert_eq!(read(&path, "key"), None, "{length} bytes of it");
        }
        for at in 0..good.len() {
            let mut bad = good.clone();
            bad[at] ^= 0x40;
            fs::write(&path, &bad).unwrap();
            assert_eq!(read(&path, "key"), None, "byte {at} changed");
        }
        // What was damaged is replaced.
        write(&path, "key", b"").unwrap();
        assert_eq!(read(&path, "key").as_deref(), Some(&b""[..]));
        fs::remove_dir_all(&folder).unwrap();
    }

    /// It waited for whoever reads the pipe.
    #[cfg(unix)]
    #[test]
    fn a_pipe_in_its_place_is_left_alone() {
        let folder = folder("pipe");
        let path = folder.join("a.bin");
        fs::create_dir_all(&folder).unwrap();
        let made = std::process::Command::new("mkfifo").arg(&path).status().unwrap();
        assert!(made.success());
        assert_eq!(read(&path, "key"), None);
        let refused = write(&path, "key", b"some data").unwrap_err();
        assert!(refused.message().ends_with("a.bin: it is no regular file"), "{refused}");
        fs::remove_dir_all(&folder).unwrap();
    }

    #[test]
    fn the_oldest_files_of_others_go() {
        let folder = folder("oldest");
        for i in 0..12 {
            write(&folder.join(format!("{i:02}.bin")), "key", b"x").unwrap();
            std::thread::sleep(Duration::from_millis(15));
        }
        fs::write(folder.join("not ours.txt"), "x").unwrap();
        let names = fs::read_dir(&folder).unwrap().map(|e| e.unwrap().file_name());
        let mut left: Vec<String> = names.map(|n| n.into_string().unwrap()).collect();
        left.sort();
        let wanted: Vec<String> = (4..12).map(|i| format!("{i:02}.bin")).collect();
        assert_eq!(left[..8], wanted[..]);
        assert_eq!(left.len(), 9);
        fs::remove_dir_all(&folder).unwrap();
    }

    #[test]
    fn two_writers_leave_one_of_two_whole_files() {
        let folder = folder("two");
        let path = folder.join("a.bin");
        let datas = [vec![1u8; 100_000], vec![2u8; 50_000]];
        std::thread::scope(|scope| {
            for data in &datas {
                scope.spawn(|| (0..20).for_each(|_| drop(write(&path, "key", data))));
            }
            for _ in 0..50 {
                if let Some(found) = read(&path, "key") {
                    assert!(datas.contains(&found));
                }
            }
        });
        fs::remove_dir_all(&folder).unwrap();
    }
}
