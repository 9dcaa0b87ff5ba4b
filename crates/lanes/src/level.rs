//! Which vectors the processor has, chosen at run time, and the one door through which every
//! kernel enters code compiled for them.
//!
//! A kernel is a `Task`: plain generic code over `Simd`. `Level::run` calls it inside a function
//! that has the processor features switched on, and everything below is inlined into it. The bits
//! do not depend on the level. Read `vector` for the operations of one vector.

use crate::vector::{Simd, portable::Portable};
#[cfg(target_arch = "x86_64")]
use crate::vector::{x86_avx2::Avx2, x86_avx512::Avx512};

/// The widest vectors that kernels use, narrowest first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Level {
    /// 128 bits from the baseline of the target: SSE2, NEON or wasm simd128.
    Portable,
    /// 256 bits with fused multiply-add, and f16 conversions as all that have it.
    Avx2,
    /// 512 bits.
    Avx512,
}

/// One piece of work written once for all levels. `run` must be `#[inline(always)]`, and so must
/// everything it calls that touches vectors.
pub(crate) trait Task {
    type Output;
    fn run<S: Simd>(self) -> Self::Output;
}

/// A loop without vectors of its own, compiled with a level's instructions: what it calls must be
/// `#[inline(always)]`.
pub(crate) struct Loop<F>(pub(crate) F);

impl<R, F: FnOnce() -> R> Task for Loop<F> {
    type Output = R;

    #[inline(always)]
    fn run<S: Simd>(self) -> R {
        (self.0)()
    }
}

impl Level {
    /// Runs a loop without vectors of its own, compiled with this level's instructions: the closure
    /// and what it calls must be `#[inline(always)]`. For the crates above, whose loops the compiler
    /// turns into vectors by itself.
    pub fn compiled<R>(self, body: impl FnOnce() -> R) -> R {
        self.run(Loop(body))
    }

    /// The best level of this processor.
    pub fn detect() -> Level {
        #[cfg(target_arch = "x86_64")]
        {
            let wide = is_x86_feature_detected!("avx512f")
                && is_x86_feature_detected!("avx512bw")
                && is_x86_feature_detected!("avx512dq")
                && is_x86_feature_detected!("avx512vl")
                && is_x86_feature_detected!("popcnt");
            let fused = is_x86_feature_detected!("avx2")
                && is_x86_feature_detected!("fma")
                && is_x86_feature_detected!("f16c");
            if wide && fused {
                return Level::Avx512;
            }
            if fused {
                return Level::Avx2;
            }
        }
        Level::Portable
    }

    /// Every level that this processor can run, narrowest first; tests go through them.
    pub fn available() -> Vec<Level> {
        [Level::Portable, Level::Avx2, Level::Avx512]
            .into_iter()
            .filter(|level| *level <= Level::detect())
            .collect()
    }

    /// Width of a vector register.
    pub fn bits(self) -> usize {
        match self {
            Level::Portable => 128,
            Level::Avx2 => 256,
            Level::Avx512 => 512,
        }
    }

    /// Lanes of each float width: `f64x8 f32x16`.
    pub fn describe(self) -> &'static str {
        match self {
            Level::Portable => "f64x2 f32x4",
            Level::Avx2 => "f64x4 f32x8",
            Level::Avx512 => "f64x8 f32x16",
        }
    }

    /// Runs `task` with this level's vectors. A level above the processor's runs as `Portable`
    /// would be wrong to hide, so `Lanes` never holds one: see `Lanes::with`.
    #[inline]
    pub(crate) fn run<T: Task>(self, task: T) -> T::Output {
        match self {
            Level::Portable => run_portable(task),
            // SAFETY: `Lanes` holds only levels for which `detect` saw the features.
            #[cfg(target_arch = "x86_64")]
            Level::Avx2 => unsafe { run_avx2(task) },
            // SAFETY: as above.
            #[cfg(target_arch = "x86_64")]
            Level::Avx512 => unsafe { run_avx512(task) },
            #[cfg(not(target_arch = "x86_64"))]
            _ => run_portable(task),
        }
    }
}

/// Code that is entered over and over with other arguments, through a pointer to the level's own:
/// 10 ns of a chain's functions on 512 bytes went into looking up the level each time.
pub(crate) trait Entry<A> {
    /// `#[inline(always)]`, as a task's.
    ///
    /// # Safety
    /// What the arguments need.
    unsafe fn run<S: Simd>(arguments: &A);
}

/// An entry at each level; the processor has to have it.
pub(crate) type Entries<A> = [unsafe fn(&A); 3];

/// They, in the order of `Level`.
pub(crate) const fn entries<E: Entry<A>, A>() -> Entries<A> {
    #[cfg(target_arch = "x86_64")]
    return [entry_portable::<E, A>, entry_avx2::<E, A>, entry_avx512::<E, A>];
    #[cfg(not(target_arch = "x86_64"))]
    return [entry_portable::<E, A>; 3];
}

unsafe fn entry_portable<E: Entry<A>, A>(arguments: &A) {
    // SAFETY: the caller's promise.
    unsafe { E::run::<Portable>(arguments) }
}

#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx2,fma,f16c")]
unsafe fn entry_avx2<E: Entry<A>, A>(arguments: &A) {
    // SAFETY: the caller's promise.
    unsafe { E::run::<Avx2>(arguments) }
}

#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx512f,avx512bw,avx512dq,avx512vl,avx2,fma,f16c")]
unsafe fn entry_avx512<E: Entry<A>, A>(arguments: &A) {
    // SAFETY: the caller's promise.
    unsafe { E::run::<Avx512>(arguments) }
}

/// Out of line as the other levels are: a kernel may be thousands of instructions, and several
/// drivers enter it.
#[inline(never)]
fn run_portable<T: Task>(task: T) -> T::Output {
    task.run::<Portable>()
}

#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx2,fma,f16c")]
unsafe fn run_avx2<T: Task>(task: T) -> T::Output {
    task.run::<Avx2>()
}

#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx512f,avx512bw,avx512dq,avx512vl,avx2,fma,f16c")]
unsafe fn run_avx512<T: Task>(task: T) -> T::Output {
    task.run::<Avx512>()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_level_up_to_the_detected_one_is_available() {
        let levels = Level::available();
        assert_eq!(levels[0], Level::Portable);
        assert_eq!(*levels.last().unwrap(), Level::detect());
        assert_eq!(Level::Avx512.describe(), "f64x8 f32x16");
    }
}
