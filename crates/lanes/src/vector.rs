//! What kernels need of one vector: loading, storing, splatting and the exact arithmetic of the
//! products and folds. Element-wise definitions use the wider `math::Real` instead.
//!
//! `portable` builds vectors from arrays, so that one text serves SSE2, NEON and wasm; `x86` wraps
//! the 256- and 512-bit registers. Every method is `#[inline(always)]` and compiles to one or a
//! few instructions once it stands inside `Level::run`.

pub(crate) mod portable;
#[cfg(target_arch = "x86_64")]
pub(crate) mod x86;

/// An element that vectors hold.
pub trait Float:
    Copy + Default + Send + Sync + PartialOrd + std::fmt::Debug + rung_base::Element + 'static
{
    /// The vector of this element at a level.
    #[doc(hidden)]
    type Vector<S: Simd>: Vector<Element = Self>;
    /// One addition with one rounding.
    #[doc(hidden)]
    fn plus(self, other: Self) -> Self;
}

impl Float for f32 {
    type Vector<S: Simd> = S::F32;
    fn plus(self, other: f32) -> f32 {
        self + other
    }
}

impl Float for f64 {
    type Vector<S: Simd> = S::F64;
    fn plus(self, other: f64) -> f64 {
        self + other
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
pub trait Vector: Copy {
    type Element: Copy;
    const LANES: usize;
    fn splat(x: Self::Element) -> Self;
    unsafe fn load(from: *const Self::Element) -> Self;
    /// The first `count` lanes from memory, zero in the others; `count <= LANES`.
    unsafe fn load_part(from: *const Self::Element, count: usize) -> Self;
    unsafe fn store(self, to: *mut Self::Element);
    /// Stores the first `count` lanes; `count <= LANES`.
    unsafe fn store_part(self, to: *mut Self::Element, count: usize);
    fn plus(self, other: Self) -> Self;
    fn minus(self, other: Self) -> Self;
    fn times(self, other: Self) -> Self;
    /// `self * b + c` with one rounding.
    fn fused(self, b: Self, c: Self) -> Self;
}
