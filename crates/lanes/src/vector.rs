//! What kernels need of one vector beyond `math::Real`: loading, storing, splatting and the fused
//! multiply-add of products and folds.
//!
//! `portable` builds vectors from arrays, so that one text serves SSE2, NEON and wasm; `x86` wraps
//! the 256- and 512-bit registers. Every method is `#[inline(always)]` and compiles to one or a
//! few instructions once it stands inside `Level::run`; the tests below tie each to the scalar.

pub(crate) mod portable;
#[cfg(target_arch = "x86_64")]
mod x86;
#[cfg(target_arch = "x86_64")]
pub(crate) mod x86_avx2;
#[cfg(target_arch = "x86_64")]
pub(crate) mod x86_avx512;

use crate::compiled::{Compiled, Runner};
use crate::{Lanes, Matrix};
use rung_base::{bf16, f16};
use rung_math::{Bits, Mask, Real};

/// Asks for a cache line that is soon read; the address need not exist.
#[inline(always)]
pub(crate) fn ask_for<T>(line: *const T) {
    // SAFETY: every x86-64 processor has the instruction, which never faults.
    #[cfg(target_arch = "x86_64")]
    unsafe {
        core::arch::x86_64::_mm_prefetch::<{ core::arch::x86_64::_MM_HINT_T0 }>(line.cast());
    }
    #[cfg(not(target_arch = "x86_64"))]
    let _ = line;
}

/// Makes streamed stores visible to other threads. One for each thread's share of a result: a fence
/// waits until all of them have reached the memory.
pub(crate) fn fence() {
    // SAFETY: every x86-64 processor has the instruction.
    #[cfg(target_arch = "x86_64")]
    unsafe {
        core::arch::x86_64::_mm_sfence();
    }
}

/// Bytes of a cache line.
pub(crate) const LINE: usize = 64;

/// An element that vectors hold: f32 or f64.
pub trait Float:
    Copy + Default + Send + Sync + PartialOrd + rung_base::Element + Real + rung_math::product::Fused
{
    /// The vector of this element at a level.
    #[doc(hidden)]
    type Vector<S: Simd>: Vector<Element = Self>;
    /// As many elements as the level's f64 vector has lanes, widened.
    ///
    /// # Safety
    /// They must be readable at `from`.
    #[doc(hidden)]
    unsafe fn widen<S: Simd>(from: *const Self) -> S::F64;
    /// The number in f64.
    fn wide(self) -> f64;
    /// The number rounded once from f64.
    fn narrowed(x: f64) -> Self;
    /// Stores the lanes, each rounded once.
    ///
    /// # Safety
    /// As many elements as the f64 vector has lanes must be writable at `to`.
    #[doc(hidden)]
    unsafe fn store_narrowed<S: Simd>(x: S::F64, to: *mut Self);
    /// This width's kernels.
    #[doc(hidden)]
    fn runners<const K: usize>(compiled: &Compiled<K>) -> &[Runner<Self, K>; 3];
    /// `product::stack`. A method, so that the kernels are compiled in this crate and not again in
    /// every crate that calls it.
    #[doc(hidden)]
    fn stack(
        lanes: &Lanes,
        a: Matrix<Self>,
        b: Matrix<Self>,
        slabs: &[(usize, usize)],
        out: &mut [Self],
    );
}

impl Float for f32 {
    type Vector<S: Simd> = S::F32;
    #[inline(always)]
    unsafe fn widen<S: Simd>(from: *const f32) -> S::F64 {
        // SAFETY: the caller's promise.
        unsafe { S::widen(from) }
    }
    #[inline]
    fn runners<const K: usize>(compiled: &Compiled<K>) -> &[Runner<f32, K>; 3] {
        compiled.single()
    }
    #[inline(always)]
    fn wide(self) -> f64 {
        self as f64
    }
    #[inline(always)]
    fn narrowed(x: f64) -> f32 {
        x as f32
    }
    #[inline(always)]
    unsafe fn store_narrowed<S: Simd>(x: S::F64, to: *mut f32) {
        // SAFETY: the caller's promise.
        unsafe { S::store_narrowed(x, to) }
    }
    fn stack(
        lanes: &Lanes,
        a: Matrix<f32>,
        b: Matrix<f32>,
        slabs: &[(usize, usize)],
        out: &mut [f32],
    ) {
        crate::product::stack_of(lanes, a, b, slabs, out);
    }
}

impl Float for f64 {
    type Vector<S: Simd> = S::F64;
    #[inline(always)]
    unsafe fn widen<S: Simd>(from: *const f64) -> S::F64 {
        // SAFETY: the caller's promise.
        unsafe { S::F64::load(from) }
    }
    #[inline]
    fn runners<const K: usize>(compiled: &Compiled<K>) -> &[Runner<f64, K>; 3] {
        compiled.double()
    }
    #[inline(always)]
    fn wide(self) -> f64 {
        self
    }
    #[inline(always)]
    fn narrowed(x: f64) -> f64 {
        x
    }
    #[inline(always)]
    unsafe fn store_narrowed<S: Simd>(x: S::F64, to: *mut f64) {
        // SAFETY: the caller's promise.
        unsafe { x.store(to) }
    }
    fn stack(
        lanes: &Lanes,
        a: Matrix<f64>,
        b: Matrix<f64>,
        slabs: &[(usize, usize)],
        out: &mut [f64],
    ) {
        crate::product::stack_of(lanes, a, b, slabs, out);
    }
}

/// An element that folds read and widen exactly to f64: any float width.
pub trait Stored: Copy + Default + Send + Sync + rung_base::Element {
    /// As many elements as the level's f64 vector has lanes, widened.
    ///
    /// # Safety
    /// They must be readable at `from`.
    #[doc(hidden)]
    unsafe fn load_wide<S: Simd>(from: *const Self) -> S::F64;
    /// The number in f64.
    fn to_wide(self) -> f64;
    /// The rows of a checked matrix times a vector that is padded as `matvec` says; a method for
    /// the reason of `Float::stack`.
    #[doc(hidden)]
    fn matvec(lanes: &Lanes, a: Matrix<Self>, y: &[f64], out: &mut [f64]);
}

macro_rules! stored {
    ($($t:ty: |$s:ident, $from:ident| $load:expr, |$x:ident| $wide:expr;)*) => {
        $(impl Stored for $t {
            #[inline(always)]
            unsafe fn load_wide<$s: Simd>($from: *const $t) -> $s::F64 {
                // SAFETY: the caller's promise.
                unsafe { $load }
            }
            #[inline(always)]
            fn to_wide(self) -> f64 {
                let $x = self;
                $wide
            }
            fn matvec(lanes: &Lanes, a: Matrix<Self>, y: &[f64], out: &mut [f64]) {
                crate::matvec::rows_of(lanes, a, y, out);
            }
        })*
    };
}
stored! {
    f64: |S, from| S::F64::load(from), |x| x;
    f32: |S, from| S::widen(from), |x| x as f64;
    bf16: |S, from| S::widen_bf16(from.cast()), |x| widened_bf16(x.to_bits());
    f16: |S, from| S::widen_f16(from.cast()), |x| x.to_f64();
}

/// The number whose bf16 bits these are: those of an f32 without its lower half.
#[inline(always)]
fn widened_bf16(bits: u16) -> f64 {
    f32::from_bits((bits as u32) << 16) as f64
}

/// The vectors of one level.
#[doc(hidden)]
pub trait Simd: Copy + Send + Sync + 'static {
    type F32: Vector<Element = f32>;
    type F64: Vector<Element = f64>;
    /// Rows of the register tile of a product; two vectors wide.
    const TILE_ROWS: usize;

    /// `LANES` of the f64 vector, widened from f32.
    ///
    /// # Safety
    /// `F64::LANES` elements must be readable at `from`.
    unsafe fn widen(from: *const f32) -> Self::F64;
    /// The same from the bits of bf16.
    ///
    /// # Safety
    /// As `widen`.
    unsafe fn widen_bf16(from: *const u16) -> Self::F64;
    /// The same from the bits of f16.
    ///
    /// # Safety
    /// As `widen`.
    unsafe fn widen_f16(from: *const u16) -> Self::F64;
    /// Stores the lanes, each rounded once to f32.
    ///
    /// # Safety
    /// `F64::LANES` elements must be writable at `to`.
    unsafe fn store_narrowed(x: Self::F64, to: *mut f32);
}

/// What sorting needs of the bits beyond `math::Bits`.
#[doc(hidden)]
pub trait Words: Bits {
    /// The smaller, unsigned.
    fn smaller(self, other: Self) -> Self;
    /// The larger, unsigned.
    fn larger(self, other: Self) -> Self;
}

/// One vector register.
#[doc(hidden)]
#[allow(clippy::missing_safety_doc)] // pointers must cover LANES (or `count`) elements
pub trait Vector: Real<Bits: Words> {
    type Element: Copy;
    const LANES: usize;
    fn splat(x: Self::Element) -> Self;
    unsafe fn load(from: *const Self::Element) -> Self;
    /// The first `count` lanes from memory, zero in the others; `count <= LANES`.
    unsafe fn load_part(from: *const Self::Element, count: usize) -> Self;
    unsafe fn store(self, to: *mut Self::Element);
    /// Stores past the caches where the processor can; `to` is aligned to the whole vector.
    /// `fence` has to follow before another thread reads.
    unsafe fn stream(self, to: *mut Self::Element);
    /// Stores the first `count` lanes; `count <= LANES`.
    unsafe fn store_part(self, to: *mut Self::Element, count: usize);
    /// `self * b + c` with one rounding.
    fn fused(self, b: Self, c: Self) -> Self;
    /// `self` where it is larger, else `other`, also where one of them is NaN: x86 has it as one
    /// instruction, and a comparison with a selection takes two.
    #[inline(always)]
    fn larger(self, other: Self) -> Self {
        Self::select(other.less(self), self, other)
    }
    /// `self` where it is smaller, else `other`, also where one of them is NaN.
    #[inline(always)]
    fn smaller(self, other: Self) -> Self {
        Self::select(self.less(other), self, other)
    }
    /// True where neither is NaN.
    #[inline(always)]
    fn ordered(self, other: Self) -> Self::Mask {
        self.equal(self).and(other.equal(other))
    }
    /// The first lane that is true; `LANES` when none is.
    fn first(mask: Self::Mask) -> usize;
    /// `self * b + c` with one rounding or two, whichever is quick: for results that are the same
    /// either way.
    #[inline(always)]
    fn multiply_add(self, b: Self, c: Self) -> Self {
        self * b + c
    }
}

#[cfg(test)]
mod tests;
