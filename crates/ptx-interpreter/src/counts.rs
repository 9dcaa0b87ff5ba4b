//! What a launch did, by count: floating-point operations, bytes of global memory, accesses of shared
//! memory and how many of them had to wait for a bank.
//!
//! Shared memory has 32 banks of 4 bytes. An instruction of a warp is served 128 bytes at a time: all
//! 32 lanes at once for 4 bytes and less, half of them for 8, a quarter for 16. Lanes of one of these
//! parts that want different words of one bank wait for each other; lanes that want the same word do not
//! (CUDA C++ Programming Guide, Shared Memory of compute capability 5.x and later).

/// Banks of shared memory, a word wide.
const BANKS: usize = 32;

/// The counts of a launch, over all its invocations.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Counts {
    /// Floating-point operations: a fused multiply-add is two, a quotient or root one.
    pub flops: u64,
    /// Bytes read from buffers, and written.
    pub read: u64,
    /// Bytes written to buffers, atomic changes among them.
    pub written: u64,
    /// Accesses of shared memory by an invocation, of 16 bytes at most.
    pub shared_loads: u64,
    /// As `shared_loads`, for stores.
    pub shared_stores: u64,
    /// Times that a part of a warp waited for a bank.
    pub conflicts: u64,
    /// The first instruction that waited, with its line.
    pub first_conflict: Option<String>,
}

/// How often lanes of a warp wait for a bank, by the byte addresses of its lanes.
pub(crate) fn waits(addresses: &[Option<u32>; 32], bytes: usize) -> u64 {
    let lanes = match bytes {
        0..=4 => 32,
        5..=8 => 16,
        _ => 8,
    };
    addresses.chunks(lanes).map(|part| passes(part, bytes).saturating_sub(1)).sum()
}

/// The most different words of one bank that a part of a warp wants.
fn passes(part: &[Option<u32>], bytes: usize) -> u64 {
    let mut wanted: [Vec<u32>; BANKS] = Default::default();
    for first in part.iter().flatten() {
        for word in first / 4..(first + bytes as u32).div_ceil(4) {
            let bank = &mut wanted[word as usize % BANKS];
            if !bank.contains(&word) {
                bank.push(word);
            }
        }
    }
    wanted.iter().map(|bank| bank.len() as u64).max().unwrap_or(0)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(bytes: usize, address: impl Fn(u32) -> u32) -> u64 {
        waits(&std::array::from_fn(|lane| Some(address(lane as u32))), bytes)
    }

    #[test]
    fn lanes_wait_for_different_words_of_one_bank() {
        assert_eq!(of(4, |lane| 4 * lane), 0);
        assert_eq!(of(4, |_| 4), 0);
        assert_eq!(of(4, |lane| 8 * lane), 1);
        assert_eq!(of(4, |lane| 128 * lane), 31);
        assert_eq!(of(4, |lane| 132 * lane), 0);
        assert_eq!(of(1, |lane| lane), 0);
        assert_eq!(of(8, |lane| 8 * lane), 0);
        assert_eq!(of(8, |lane| 16 * lane), 2);
        assert_eq!(of(16, |lane| 16 * lane), 0);
        assert_eq!(of(16, |lane| 64 * (lane % 8)), 4 * 3);
    }

    #[test]
    fn lanes_that_take_no_part_wait_for_nothing() {
        let mut addresses = [None; 32];
        (addresses[3], addresses[9]) = (Some(0), Some(128));
        assert_eq!(waits(&addresses, 4), 1);
        assert_eq!(waits(&addresses, 16), 0);
    }
}
