//! Whether there is room for what a program asks for. A size that a program gives is checked
//! here before anything of that size is made, so that it ends in a `storage-condition` and not
//! in the end of the process. What grows step by step is bounded by `--heap`,
//! where it is given.

use crate::condition::{Escape, Outcome};
use crate::symbol;
use crate::value::Value;

/// What one pair of a list takes: count, mark and two values.
pub const PAIR: usize = 40;

/// Sizes below 1 MiB are not checked: the check itself costs more than they do.
const SMALL: usize = 1 << 20;

/// An error unless memory for `count` things of `bytes` bytes can be had now.
pub fn room(operator: &str, count: usize, bytes: usize) -> Outcome<()> {
    let Some(total) = count.checked_mul(bytes) else {
        return Err(no_room(operator, Some(count)));
    };
    if total < SMALL {
        return Ok(());
    }
    let mut space = Vec::<u8>::new();
    let reserved = space.try_reserve_exact(total);
    // Without this the compiler may leave out an allocation that nobody uses.
    std::hint::black_box(&space);
    reserved.map_err(|_| no_room(operator, Some(count)))
}

/// `count` copies of a value, or an error.
pub fn copies(operator: &str, value: Value, count: usize) -> Outcome<Vec<Value>> {
    room(operator, count, size_of::<Value>())?;
    Ok(vec![value; count])
}

/// `make-array: no memory for 1000000000000 elements`; `None` is a count beyond 64 bits.
#[cold]
pub fn no_room(operator: &str, count: Option<usize>) -> Escape {
    let text = match count {
        Some(count) => format!("{operator}: no memory for {count} elements"),
        None => format!("{operator}: no memory for an array of that size"),
    };
    Escape::of(symbol::STORAGE_CONDITION, text)
}
