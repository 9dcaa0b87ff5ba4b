//! The library rung: a CBLAS that is already on the machine, bound by `dlopen`, or a reason.
//!
//! Nothing is linked, bundled or downloaded. Every call checks bounds and 32-bit limits before a
//! pointer leaves Rust, and what the library cannot take is a decline with a text. Results are of
//! class Order: the library's own order of additions. Read `discover` for what is accepted.
#![warn(missing_docs)]

mod discover;
mod symbols;

use discover::{Found, Threads};
use std::ffi::c_int;
use std::path::Path;
use std::sync::atomic::{AtomicUsize, Ordering};
use symbols::{AS_IS, Gemm, Gemv, ROW_MAJOR, Symbols, TRANSPOSED};

/// Why a call was not taken; the text is part of the decline.
pub type Decline = String;

/// Multiply-adds below which a library call is not worth its entry.
pub const LEAST: usize = 64;

/// A matrix in a slice: element (i, j) is `data[offset + i * row + j * column]`.
#[derive(Clone, Copy, Debug)]
pub struct Matrix<'a, T> {
    /// The cells, and whatever else the slice holds.
    pub data: &'a [T],
    /// Where the first cell is.
    pub offset: usize,
    /// How many rows.
    pub rows: usize,
    /// How many columns.
    pub columns: usize,
    /// From one row to the next, in elements.
    pub row: isize,
    /// From one column to the next, in elements.
    pub column: isize,
}

/// A vector in a slice: element i is `data[offset + i * step]`.
#[derive(Clone, Copy, Debug)]
pub struct Vector<'a, T> {
    /// The cells, and whatever else the slice holds.
    pub data: &'a [T],
    /// Where the first cell is.
    pub offset: usize,
    /// How many numbers.
    pub length: usize,
    /// From one number to the next, in elements; may be negative.
    pub step: isize,
}

/// A bound CBLAS.
pub struct Library {
    symbols: Symbols,
    threads: Threads,
    /// Threads of a call that is large enough for all.
    most: AtomicUsize,
    file: String,
    configuration: String,
}

impl Library {
    /// Binds the library at `path`, or the first tuned one of the machine; otherwise the reason.
    pub fn discover(path: Option<&Path>) -> Result<Library, String> {
        discover::find(path).map(Library::of)
    }

    /// Every tuned library of the machine, or the one at `path`; two files that say the same of
    /// themselves are one library under two names.
    pub fn every(path: Option<&Path>) -> Vec<Library> {
        let mut all: Vec<Library> = Vec::new();
        for found in discover::every(path) {
            if all.iter().all(|known| known.configuration != found.configuration) {
                all.push(Library::of(found));
            }
        }
        all
    }

    fn of(found: Found) -> Library {
        let Found { symbols, file, configuration } = found;
        let threads = Threads::of(&symbols);
        let most = AtomicUsize::new(threads.count());
        Library { symbols, threads, most, file, configuration }
    }

    /// The file's name: `libopenblas.so.0`.
    pub fn file(&self) -> &str {
        &self.file
    }

    /// What the library says it is: `OpenBLAS 0.3.21 SkylakeX`.
    pub fn configuration(&self) -> &str {
        &self.configuration
    }

    /// The threads it uses; 1 when it does not say.
    pub fn threads(&self) -> usize {
        self.most.load(Ordering::Relaxed)
    }

    /// Sets the thread count of later calls; false when the library offers no setter.
    pub fn set_threads(&self, count: usize) -> bool {
        let count = count.clamp(1, 1 << 10);
        let done = self.threads.change(count);
        if done {
            self.most.store(count, Ordering::Relaxed);
        }
        done
    }

    /// Lets the next call use one thread, or all when it is `large`: small calls fell from 110 to
    /// 16 a second elsewhere on 64 threads. Gives the number that the call will use.
    pub fn share(&self, large: bool) -> usize {
        let most = self.threads();
        if most == 1 {
            return 1;
        }
        let wanted = if large { most } else { 1 };
        // Asked each time: the count belongs to the process, and others may have changed it.
        if self.threads.count() == wanted || self.threads.change(wanted) { wanted } else { most }
    }

    /// out (m, n) row-major = a (m, k) * b (k, n), f32.
    pub fn sgemm(&self, a: Matrix<f32>, b: Matrix<f32>, out: &mut [f32]) -> Result<(), Decline> {
        multiply(self.symbols.sgemm, 0.0, 1.0, a, b, out)
    }

    /// out (m, n) row-major = a (m, k) * b (k, n), f64.
    pub fn dgemm(&self, a: Matrix<f64>, b: Matrix<f64>, out: &mut [f64]) -> Result<(), Decline> {
        multiply(self.symbols.dgemm, 0.0, 1.0, a, b, out)
    }

    /// out (m) = a (m, n) * x (n), f32.
    pub fn sgemv(&self, a: Matrix<f32>, x: Vector<f32>, out: &mut [f32]) -> Result<(), Decline> {
        apply(self.symbols.sgemv, 0.0, 1.0, a, x, out)
    }

    /// out (m) = a (m, n) * x (n), f64.
    pub fn dgemv(&self, a: Matrix<f64>, x: Vector<f64>, out: &mut [f64]) -> Result<(), Decline> {
        apply(self.symbols.dgemv, 0.0, 1.0, a, x, out)
    }
}

/// `libopenblas.so.0, OpenBLAS 0.3.21 SkylakeX, 20 threads`, as the verbose note prints it.
impl std::fmt::Display for Library {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let threads = self.threads();
        let plural = if threads == 1 { "" } else { "s" };
        write!(f, "{}, {}, {threads} thread{plural}", self.file, self.configuration)
    }
}

impl std::fmt::Debug for Library {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "Library({self})")
    }
}

/// An operand as CBLAS takes it: where it begins, whether it is transposed, its leading dimension.
struct Leading<T> {
    start: *const T,
    transposed: c_int,
    leading: c_int,
}

fn multiply<T: Copy>(
    gemm: Gemm<T>,
    zero: T,
    one: T,
    a: Matrix<T>,
    b: Matrix<T>,
    out: &mut [T],
) -> Result<(), Decline> {
    if a.columns != b.rows || a.rows.checked_mul(b.columns) != Some(out.len()) {
        return Err("extents do not fit each other".into());
    }
    enough(a.rows.saturating_mul(a.columns).saturating_mul(b.columns))?;
    let (m, n, k) = (small(a.rows)?, small(b.columns)?, small(a.columns)?);
    let (a, b) = (leading(&a)?, leading(&b)?);
    // SAFETY: `leading` checked that both operands lie inside their slices, `out` has m * n cells,
    // and every count fits 32 bits.
    unsafe {
        gemm(
            ROW_MAJOR,
            a.transposed,
            b.transposed,
            m,
            n,
            k,
            one,
            a.start,
            a.leading,
            b.start,
            b.leading,
            zero,
            out.as_mut_ptr(),
            n,
        );
    }
    Ok(())
}

fn apply<T: Copy>(
    gemv: Gemv<T>,
    zero: T,
    one: T,
    a: Matrix<T>,
    x: Vector<T>,
    out: &mut [T],
) -> Result<(), Decline> {
    if a.columns != x.length || a.rows != out.len() {
        return Err("extents do not fit each other".into());
    }
    enough(a.rows.saturating_mul(a.columns))?;
    let (start, step) = stepping(&x)?;
    // The routine takes the matrix as stored: a transposed view has its extents exchanged.
    let (m, n) = (small(a.rows)?, small(a.columns)?);
    let a = leading(&a)?;
    let (m, n) = if a.transposed == TRANSPOSED { (n, m) } else { (m, n) };
    // SAFETY: matrix and vector lie inside their slices, `out` has a cell for each row, and every
    // count fits 32 bits.
    unsafe {
        gemv(
            ROW_MAJOR,
            a.transposed,
            m,
            n,
            one,
            a.start,
            a.leading,
            start,
            step,
            zero,
            out.as_mut_ptr(),
            1,
        );
    }
    Ok(())
}

/// A vector as CBLAS takes it: with a negative step it is given the lowest address and walks down
/// from the other end.
fn stepping<T>(x: &Vector<T>) -> Result<(*const T, c_int), Decline> {
    if x.step == 0 && x.length > 1 {
        return Err("vector with stride 0".into());
    }
    if !reaches(x.data.len(), x.offset, [x.length, 1], [x.step, 0]) {
        return Err("vector leaves its storage".into());
    }
    let back = if x.step < 0 { (x.length - 1) as isize * x.step } else { 0 };
    let start = x.data.as_ptr().wrapping_add(x.offset).wrapping_offset(back);
    Ok((start, if x.length == 1 { 1 } else { narrow(x.step)? }))
}

/// Whether every cell of two axes lands inside `len` elements.
fn reaches(len: usize, offset: usize, extents: [usize; 2], strides: [isize; 2]) -> bool {
    let (mut low, mut high) = (offset as i128, offset as i128);
    for (extent, stride) in extents.into_iter().zip(strides) {
        let reach = (extent as i128 - 1) * stride as i128;
        low += reach.min(0);
        high += reach.max(0);
    }
    low >= 0 && high < len as i128
}

/// Reads strides as CBLAS can: one axis contiguous, the other with a leading dimension that is at
/// least the contiguous extent.
fn leading<T>(a: &Matrix<T>) -> Result<Leading<T>, Decline> {
    if !reaches(a.data.len(), a.offset, [a.rows, a.columns], [a.row, a.column]) {
        return Err("matrix leaves its storage".into());
    }
    let start = a.data.as_ptr().wrapping_add(a.offset);
    // The stride of an axis of extent 1 means nothing and is free to choose.
    if a.column == 1 || a.columns == 1 {
        let stride = if a.rows == 1 { a.columns as isize } else { a.row };
        if a.columns == 1 || stride >= a.columns as isize {
            let stride = stride.max(1);
            if a.rows == 1 || a.row == stride {
                return Ok(Leading { start, transposed: AS_IS, leading: narrow(stride)? });
            }
        }
    }
    if a.row == 1 || a.rows == 1 {
        let stride = if a.columns == 1 { a.rows as isize } else { a.column };
        if a.column == stride || a.columns == 1 {
            let least = a.rows.max(1) as isize;
            if stride >= least {
                return Ok(Leading { start, transposed: TRANSPOSED, leading: narrow(stride)? });
            }
        }
    }
    Err("no axis with stride 1".into())
}

fn enough(units: usize) -> Result<(), Decline> {
    if units >= LEAST { Ok(()) } else { Err(format!("too small: {units} < {LEAST} multiply-adds")) }
}

fn small(extent: usize) -> Result<c_int, Decline> {
    c_int::try_from(extent).map_err(|_| format!("extent {extent} exceeds the 32-bit interface"))
}

fn narrow(stride: isize) -> Result<c_int, Decline> {
    c_int::try_from(stride).map_err(|_| format!("stride {stride} exceeds the 32-bit interface"))
}

/// An error's first line without a full stop, as reasons are written.
fn plain(error: &dyn std::fmt::Display) -> String {
    let text = error.to_string();
    text.lines().next().unwrap_or("").trim_end_matches('.').to_string()
}
