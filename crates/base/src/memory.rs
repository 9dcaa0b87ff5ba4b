//! Room whose amount a program decides: asked for before it is taken, because an allocation that
//! fails without having been asked for ends the process. An error of kind `Memory` says how much
//! was wanted, for what, and what to try. What is small whatever the program does needs none of it.

use crate::{Error, ErrorKind, Result};

/// Bytes from which `ask` asks: below, the question costs more than it is worth.
const LEAST: u64 = 4 << 20;

/// Bytes of an allocation that glibc serves from the arena of a thread: beyond its caches, which end at 1 KiB,
/// and below 128 KiB, from where each is mapped by itself.
const ARENA_S: u64 = 8 << 10;

/// What to try where memory is short.
const TRY: &str = "work on parts, take a narrower :element-type, or drop arrays that are not \
                   needed any more";

/// An empty vector with room for `count` elements; `wanted` says of what.
pub fn room<T>(count: usize, wanted: impl FnOnce() -> String) -> Result<Vec<T>> {
    let mut room = Vec::new();
    room.try_reserve_exact(count).map_err(|_| lack(bytes_of::<T>(count), wanted()))?;
    Ok(room)
}

/// `count` times `value`.
pub fn filled<T: Clone>(count: usize, value: T, wanted: impl FnOnce() -> String) -> Result<Vec<T>> {
    let mut all = room(count, wanted)?;
    all.resize(count, value);
    Ok(all)
}

/// All `items`, whose count is known.
pub fn collected<T>(
    items: impl ExactSizeIterator<Item = T>,
    wanted: impl FnOnce() -> String,
) -> Result<Vec<T>> {
    let mut all = room(items.len(), wanted)?;
    all.extend(items);
    Ok(all)
}

/// Whether so many bytes could be had at once: for code of others, and of ours, that allocates
/// without asking. They are given back, so they are sure only until the next allocation.
pub fn ask(bytes: u64, wanted: impl FnOnce() -> String) -> Result<()> {
    if bytes < LEAST {
        return Ok(());
    }
    let could_be_had = |bytes: u64| {
        let mut space = Vec::<u8>::new();
        let had = usize::try_from(bytes).is_ok_and(|bytes| space.try_reserve_exact(bytes).is_ok());
        // Without this the compiler may leave out an allocation that nobody uses.
        std::hint::black_box(&space);
        had
    };
    // A thread for which glibc found no room of its own so far (an arena: 64 MiB of addresses, 128 while it is
    // made) takes it at the next allocation after which there is some: now, rather than from what was asked for.
    if could_be_had(bytes) && could_be_had(ARENA_S) && could_be_had(bytes) {
        return Ok(());
    }
    Err(lack(bytes, wanted()))
}

/// The bytes of `count` elements.
pub fn bytes_of<T>(count: usize) -> u64 {
    (count as u64).saturating_mul(size_of::<T>() as u64)
}

/// `no memory for the sums of 9 weights: 72 bytes`.
#[cold]
pub fn lack(bytes: u64, wanted: impl std::fmt::Display) -> Error {
    short(format!("no memory for {wanted}: {}", size(bytes)))
}

/// The same of one thing that is called by its size: `no memory for an array of 1.0 GiB`.
#[cold]
pub fn lack_of_one(what: &str, bytes: u64) -> Error {
    short(format!("no memory for {what} of {}", size(bytes)))
}

fn short(text: String) -> Error {
    Error::new(ErrorKind::Memory, text).hint(TRY)
}

/// `17 bytes`, `114.4 MiB`, `7450.6 GiB`.
pub fn size(bytes: u64) -> String {
    let mib = bytes as f64 / (1u64 << 20) as f64;
    match bytes {
        0..1024 => format!("{bytes} bytes"),
        _ if mib < 1024.0 => format!("{mib:.1} MiB"),
        _ => format!("{:.1} GiB", mib / 1024.0),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_no_memory_holds_is_an_error_that_says_how_much_for_what_and_what_to_try() {
        let e = room::<f64>(1 << 58, || "the sums of all".to_string()).unwrap_err();
        assert_eq!(e.kind(), ErrorKind::Memory);
        assert_eq!(e.message(), "no memory for the sums of all: 2147483648.0 GiB");
        assert!(e.hint_text().is_some_and(|hint| hint.contains(":element-type")));
        let e = ask(1 << 62, || "a question".to_string()).unwrap_err();
        assert!(e.message().starts_with("no memory for a question"), "{e}");
        assert!(ask(u64::MAX, || "a question".to_string()).is_err());
        assert!(ask(8 << 20, || "a question".to_string()).is_ok());
    }

    #[test]
    fn what_there_is_memory_for_is_there() {
        assert_eq!(filled(3, 7, String::new).unwrap(), [7, 7, 7]);
        assert_eq!(collected([1, 2].iter().map(|x| x * 2), String::new).unwrap(), [2, 4]);
    }

    #[test]
    fn sizes_are_written_in_the_unit_that_fits() {
        assert_eq!([size(17), size(120_000_000)], ["17 bytes", "114.4 MiB"]);
        assert_eq!(size(8_000_000_000_000), "7450.6 GiB");
    }
}
