//! What the timing programs share: a clock that can leave out other work on the machine, medians,
//! numbers, and the peak of this processor's multiply-adds.

#![allow(dead_code)] // each program uses its part

use rung_lanes::{Float, Lanes};
use std::hint::black_box;
use std::time::Instant;

/// What a second is.
#[derive(Clone, Copy, PartialEq)]
pub enum Clock {
    /// Time that passes.
    Wall,
    /// Time this thread had a processor; only right for work on one thread.
    Thread,
}

impl Clock {
    pub fn now(self) -> f64 {
        thread_local!(static START: Instant = Instant::now());
        match self {
            Clock::Thread => thread_seconds(),
            Clock::Wall => START.with(|start| start.elapsed().as_secs_f64()),
        }
    }

    /// Seconds of one call: the least of `repeats` batches.
    pub fn least(self, repeats: usize, batch: usize, call: &mut impl FnMut()) -> f64 {
        let mut least = f64::MAX;
        for _ in 0..repeats {
            let start = self.now();
            (0..batch).for_each(|_| call());
            least = least.min((self.now() - start) / batch as f64);
        }
        least
    }
}

#[cfg(target_os = "linux")]
fn thread_seconds() -> f64 {
    unsafe extern "C" {
        fn clock_gettime(clock: i32, to: *mut [i64; 2]) -> i32;
    }
    const CLOCK_THREAD_CPUTIME_ID: i32 = 3;
    let mut time = [0; 2];
    // SAFETY: on 64-bit Linux a timespec is two i64.
    unsafe { clock_gettime(CLOCK_THREAD_CPUTIME_ID, &mut time) };
    time[0] as f64 + time[1] as f64 * 1e-9
}

#[cfg(not(target_os = "linux"))]
fn thread_seconds() -> f64 {
    Clock::Wall.now()
}

pub fn median(values: &mut [f64]) -> f64 {
    values.sort_by(f64::total_cmp);
    values.get(values.len() / 2).copied().unwrap_or(f64::NAN)
}

/// Numbers in [-1, 1), the same in every run.
pub fn uniform() -> impl FnMut() -> f32 {
    let mut state = 1u32;
    move || {
        state = state.wrapping_mul(1664525).wrapping_add(1013904223);
        (state >> 8) as f32 / (1 << 23) as f32 - 1.0
    }
}

/// GFLOP/s of independent fused multiply-adds on one thread; 0 where that is not known.
pub fn peak<T: Float>() -> f64 {
    let rounds = 2_000_000;
    let lanes = (64 / size_of::<T>()) as f64;
    let mut best = f64::MAX;
    for _ in 0..5 {
        let start = Clock::Thread.now();
        if !multiply_adds(rounds, size_of::<T>() == 8) {
            return 0.0;
        }
        best = best.min(Clock::Thread.now() - start);
    }
    rounds as f64 * 12.0 * lanes * 2.0 / best * 1e-9
}

/// `rounds` times 12 independent multiply-adds of 64 bytes.
#[cfg(target_arch = "x86_64")]
fn multiply_adds(rounds: usize, double: bool) -> bool {
    use std::arch::x86_64::*;
    #[target_feature(enable = "avx512f")]
    fn wide(rounds: usize, double: bool) {
        let (mut s, mut d) = ([_mm512_set1_ps(0.5); 12], [_mm512_set1_pd(0.5); 12]);
        let (x, y) = (_mm512_set1_ps(black_box(0.5)), _mm512_set1_pd(black_box(0.5)));
        for _ in 0..rounds {
            if double {
                d.iter_mut().for_each(|d| *d = _mm512_fmadd_pd(*d, y, y));
            } else {
                s.iter_mut().for_each(|s| *s = _mm512_fmadd_ps(*s, x, x));
            }
        }
        black_box((s, d));
    }
    #[target_feature(enable = "avx2,fma")]
    fn narrow(rounds: usize, double: bool) {
        let (mut s, mut d) = ([_mm256_set1_ps(0.5); 12], [_mm256_set1_pd(0.5); 12]);
        let (x, y) = (_mm256_set1_ps(black_box(0.5)), _mm256_set1_pd(black_box(0.5)));
        for _ in 0..2 * rounds {
            if double {
                d.iter_mut().for_each(|d| *d = _mm256_fmadd_pd(*d, y, y));
            } else {
                s.iter_mut().for_each(|s| *s = _mm256_fmadd_ps(*s, x, x));
            }
        }
        black_box((s, d));
    }
    // SAFETY: the features were just seen.
    unsafe {
        if is_x86_feature_detected!("avx512f") {
            wide(rounds, double);
        } else if is_x86_feature_detected!("avx2") && is_x86_feature_detected!("fma") {
            narrow(rounds, double);
        } else {
            return false;
        }
    }
    true
}

#[cfg(not(target_arch = "x86_64"))]
fn multiply_adds(_: usize, _: bool) -> bool {
    false
}

/// A sum of all bytes as words, in eight chains and from four places at once: one place alone got
/// 14 GB/s on an AMD Zen 3, four 20.
pub fn sum<M>(lanes: &Lanes, cells: &[M]) -> u64 {
    let lines = size_of_val(cells) / 64;
    let start = cells.as_ptr() as usize;
    let pieces = lanes.workers().threads() * 4;
    let share = lines.div_ceil(pieces);
    let total = std::sync::atomic::AtomicU64::new(0);
    lanes.workers().run(lines.div_ceil(share), &|piece| {
        let (from, to) = (piece * share, lines.min((piece + 1) * share));
        let stream = (to - from) / 4;
        let mut sums = [0u64; 8];
        let mut add = |line: usize| {
            // SAFETY: whole lines inside the slice.
            let line = unsafe { ((start + line * 64) as *const [u64; 8]).read_unaligned() };
            for (sum, word) in sums.iter_mut().zip(line) {
                *sum = sum.wrapping_add(word);
            }
        };
        for line in from..from + stream {
            (0..4).for_each(|s| add(line + s * stream));
        }
        (from + 4 * stream..to).for_each(&mut add);
        let sum = sums.iter().fold(0u64, |a, b| a.wrapping_add(*b));
        total.fetch_add(sum, std::sync::atomic::Ordering::Relaxed);
    });
    total.into_inner()
}
