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

use rung_math::Real;

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
}

impl Float for f32 {
    type Vector<S: Simd> = S::F32;
    #[inline(always)]
    unsafe fn widen<S: Simd>(from: *const f32) -> S::F64 {
        // SAFETY: the caller's promise.
        unsafe { S::widen(from) }
    }
    #[inline(always)]
    fn wide(self) -> f64 {
        self as f64
    }
    #[inline(always)]
    fn narrowed(x: f64) -> f32 {
        x as f32
    }
}

impl Float for f64 {
    type Vector<S: Simd> = S::F64;
    #[inline(always)]
    unsafe fn widen<S: Simd>(from: *const f64) -> S::F64 {
        // SAFETY: the caller's promise.
        unsafe { S::F64::load(from) }
    }
    #[inline(always)]
    fn wide(self) -> f64 {
        self
    }
    #[inline(always)]
    fn narrowed(x: f64) -> f64 {
        x
    }
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
}

/// One vector register.
#[doc(hidden)]
#[allow(clippy::missing_safety_doc)] // pointers must cover LANES (or `count`) elements
pub trait Vector: Real {
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
    /// Makes streamed stores visible.
    fn fence();
    /// Stores the first `count` lanes; `count <= LANES`.
    unsafe fn store_part(self, to: *mut Self::Element, count: usize);
    /// `self * b + c` with one rounding.
    fn fused(self, b: Self, c: Self) -> Self;
}

#[cfg(test)]
mod tests;
