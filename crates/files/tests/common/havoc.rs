//! Files broken at random, for the readers of this crate and of the solvers: nothing may panic, hang or take
//! memory that the file does not back. A test run takes a fixed number of files of one seed;
//! RUNG_FUZZ_SECONDS=600 goes on for longer from a seed of its own, which RUNG_FUZZ_SEED repeats. The last
//! file stays where a reader fails, and its place is printed.
#![allow(dead_code, reason = "each test binary uses its part")]

use std::path::{Path, PathBuf};
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

/// Files of a test run without RUNG_FUZZ_SECONDS.
const FILES: usize = 4000;
/// What a file of a few thousand bytes may take at most, in kB, and how long.
const MOST_KB: u64 = 256 << 10;
const LONGEST: Duration = Duration::from_secs(10);
/// Numbers at which sizes and counts go wrong.
const NUMBERS: [u64; 12] = [
    0,
    1,
    2,
    0x7F,
    0xFF,
    0x7FFF,
    0xFFFF,
    0x7FFF_FFFF,
    0xFFFF_FFFF,
    1 << 32,
    i64::MAX as u64,
    u64::MAX,
];
/// The same in texts.
const WORDS: [&[u8]; 12] = [
    b"0",
    b"-1",
    b"1e999",
    b"nan",
    b"-inf",
    b"4294967296",
    b"18446744073709551615",
    b"1.5",
    b"\n",
    b" ",
    b"99999999999999999999999",
    b"\xFF",
];

pub struct Havoc {
    state: u64,
    end: Option<Instant>,
    count: usize,
    before: u64,
    folder: PathBuf,
}

fn given(name: &str) -> Option<u64> {
    std::env::var(name).ok().and_then(|text| text.parse().ok())
}

/// The most memory that this process had so far, in kB.
fn peak() -> u64 {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let line = status.lines().find(|line| line.starts_with("VmHWM:"));
    line.and_then(|line| line.split_whitespace().nth(1)?.parse().ok()).unwrap_or(0)
}

impl Havoc {
    pub fn new(what: &str) -> Havoc {
        let seconds = given("RUNG_FUZZ_SECONDS");
        let now = || SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default().as_nanos();
        let seed = given("RUNG_FUZZ_SEED").or(seconds.map(|_| now() as u64)).unwrap_or(20_261_203);
        eprintln!("{what}: RUNG_FUZZ_SEED={seed}");
        let folder = std::env::temp_dir().join(format!("rung-havoc-{what}-{}", std::process::id()));
        let _ = std::fs::remove_dir_all(&folder);
        std::fs::create_dir_all(&folder).unwrap();
        let end = seconds.map(|seconds| Instant::now() + Duration::from_secs(seconds));
        Havoc { state: seed | 1, end, count: 0, before: peak(), folder }
    }

    pub fn below(&mut self, n: usize) -> usize {
        self.state ^= self.state << 13;
        self.state ^= self.state >> 7;
        self.state ^= self.state << 17;
        (self.state >> 11) as usize % n.max(1)
    }

    /// Breaks files of these names until the time is over. What a test does with one is its own affair; what
    /// it was must be over soon, in little memory.
    pub fn run(
        mut self,
        files: &[(&str, Vec<u8>)],
        mend: impl Fn(&mut [u8]),
        mut read: impl FnMut(&Path, &mut Havoc),
    ) {
        while self.end.map_or(self.count < FILES, |end| Instant::now() < end) {
            self.count += 1;
            let at = self.below(files.len());
            let mut bytes = self.broken(files, at);
            if self.below(4) > 0 {
                mend(&mut bytes);
            }
            let path = self.folder.join(files[at].0);
            let _ = std::fs::remove_file(&path);
            std::fs::write(&path, &bytes).unwrap();
            let start = Instant::now();
            let kept = Kept(path.clone());
            read(&path, &mut self);
            assert!(start.elapsed() < LONGEST, "{} took {:?}", files[at].0, start.elapsed());
            let grown = peak().saturating_sub(self.before);
            assert!(grown < MOST_KB, "{} took {grown} kB", files[at].0);
            std::mem::forget(kept);
        }
        eprintln!("{} files", self.count);
        let _ = std::fs::remove_dir_all(&self.folder);
    }

    /// One of the files, changed in a few places.
    fn broken(&mut self, files: &[(&str, Vec<u8>)], at: usize) -> Vec<u8> {
        let mut bytes = files[at].1.clone();
        for _ in 0..=self.below(5) {
            let place = self.below(bytes.len() + 1);
            // Headers decide most.
            let place = if self.below(2) == 0 { place.min(self.below(96)) } else { place };
            let length = self.below(32).min(bytes.len() - place);
            match self.below(8) {
                0 if place < bytes.len() => bytes[place] ^= 1 << self.below(8),
                1 if place < bytes.len() => bytes[place] = self.below(256) as u8,
                2 => self.number(&mut bytes, place),
                3 => drop(bytes.drain(place..place + length)),
                4 => {
                    let again = bytes[place..place + length].to_vec();
                    drop(bytes.splice(place..place, again));
                }
                5 => {
                    let word = WORDS[self.below(WORDS.len())];
                    let end = place + self.below(word.len() + 1).min(bytes.len() - place);
                    drop(bytes.splice(place..end, word.iter().copied()));
                }
                6 => {
                    let other = &files[self.below(files.len())].1;
                    let from = self.below(other.len());
                    let part = &other[from..(from + self.below(64)).min(other.len())];
                    drop(bytes.splice(place..place + length, part.iter().copied()));
                }
                _ if self.below(3) == 0 => bytes.truncate(place),
                _ => {}
            }
        }
        bytes
    }

    /// A number of 1 to 8 bytes, of either order.
    fn number(&mut self, bytes: &mut [u8], place: usize) {
        let (x, width) = (NUMBERS[self.below(NUMBERS.len())], 1 << self.below(4));
        let mut digits = x.to_le_bytes()[..width].to_vec();
        if self.below(2) == 0 {
            digits.reverse();
        }
        bytes[place..].iter_mut().zip(digits).for_each(|(byte, digit)| *byte = digit);
    }
}

/// Says where the file is, unless it was read without harm.
struct Kept(PathBuf);

impl Drop for Kept {
    fn drop(&mut self) {
        eprintln!("the file is {}", self.0.display());
    }
}
