//! The entry points of a CBLAS and the one probe that a library has to survive before any of the
//! user's numbers reach it.

use libloading::Library as Handle;
use std::ffi::{CStr, c_int};
use std::path::Path;

/// CBLAS's numbers for row-major storage and for operands as they are or transposed.
pub(crate) const ROW_MAJOR: c_int = 101;
pub(crate) const AS_IS: c_int = 111;
pub(crate) const TRANSPOSED: c_int = 112;

pub(crate) type Gemm<T> = unsafe extern "C" fn(
    order: c_int,
    transpose_a: c_int,
    transpose_b: c_int,
    m: c_int,
    n: c_int,
    k: c_int,
    alpha: T,
    a: *const T,
    lda: c_int,
    b: *const T,
    ldb: c_int,
    beta: T,
    c: *mut T,
    ldc: c_int,
);

pub(crate) type Gemv<T> = unsafe extern "C" fn(
    order: c_int,
    transpose: c_int,
    m: c_int,
    n: c_int,
    alpha: T,
    a: *const T,
    lda: c_int,
    x: *const T,
    step_x: c_int,
    beta: T,
    y: *mut T,
    step_y: c_int,
);

/// A loaded library and its four routines. The handle is last, so the pointers never outlive it.
pub(crate) struct Symbols {
    pub sgemm: Gemm<f32>,
    pub dgemm: Gemm<f64>,
    pub sgemv: Gemv<f32>,
    pub dgemv: Gemv<f64>,
    handle: Handle,
}

impl Symbols {
    /// Loads the file and looks the four routines up.
    pub(crate) fn load(path: &Path) -> Result<Symbols, String> {
        // SAFETY: loading runs the file's constructors. It is a system library by a fixed name or
        // the file that the user named, and either is trusted as much as a linked library.
        let handle = unsafe { Handle::new(path) }.map_err(|e| crate::plain(&e))?;
        // SAFETY: the types are CBLAS's with 32-bit integers; `check_interface` tests that.
        unsafe {
            Ok(Symbols {
                sgemm: routine(&handle, c"cblas_sgemm")?,
                dgemm: routine(&handle, c"cblas_dgemm")?,
                sgemv: routine(&handle, c"cblas_sgemv")?,
                dgemv: routine(&handle, c"cblas_dgemv")?,
                handle,
            })
        }
    }

    /// Whether a symbol of any kind is exported under this name.
    pub(crate) fn has(&self, name: &CStr) -> bool {
        // SAFETY: only the presence of the name is used, never the pointer.
        unsafe { self.find::<*const ()>(name) }.is_some()
    }

    /// # Safety
    /// `T` is the pointer type of what the library exports under this name.
    pub(crate) unsafe fn find<T: Copy>(&self, name: &CStr) -> Option<T> {
        // SAFETY: the caller's promise.
        unsafe { self.handle.get::<T>(name) }.ok().map(|symbol| *symbol)
    }

    /// A 3 x 3 product inside a larger buffer whose margins must stay untouched, then the same
    /// through every routine. With 64-bit integers a library reads garbage above our 32-bit
    /// arguments where they go by the stack, and writes elsewhere or nothing.
    pub(crate) fn check_interface(&self) -> Result<(), String> {
        let wide = || crate::discover::WIDE_INTERFACE.to_string();
        if self.exports_wide_marks() {
            return Err(wide());
        }
        if probe(self.dgemm, self.dgemv) && probe(self.sgemm, self.sgemv) {
            Ok(())
        } else {
            Err(wide())
        }
    }

    /// What is known of the interface without a call.
    fn exports_wide_marks(&self) -> bool {
        // SAFETY: OpenBLAS documents this as taking nothing and returning a static string.
        let config = unsafe {
            self.find::<unsafe extern "C" fn() -> *const std::ffi::c_char>(c"openblas_get_config")
                .map(|get| CStr::from_ptr(get()).to_string_lossy().into_owned())
        };
        config.is_some_and(|config| config.split_whitespace().any(|word| word == "USE64BITINT"))
    }
}

unsafe fn routine<T: Copy>(handle: &Handle, name: &CStr) -> Result<T, String> {
    // SAFETY: the caller's promise about the type.
    match unsafe { handle.get::<T>(name) } {
        Ok(symbol) => Ok(*symbol),
        Err(_) => Err(format!("exports no {}", name.to_string_lossy())),
    }
}

/// Leading dimensions differ from the extents and the arguments differ from each other, so a
/// library that takes them apart wrongly cannot give this result.
fn probe<T: Copy + PartialEq + From<u8>>(gemm: Gemm<T>, gemv: Gemv<T>) -> bool {
    let number = |x: u8| T::from(x);
    let a = [1, 2, 3, 0, 4, 5, 6, 0, 7, 8, 9, 0].map(number);
    let b = [1, 0, 2, 0, 0, 0, 1, 1, 0, 0, 1, 0, 3, 0, 0].map(number);
    let mut c = [99; 24].map(number);
    let wanted = [
        [99; 6].as_slice(),
        &[4, 2, 13, 99, 99, 99],
        &[10, 5, 31, 99, 99, 99],
        &[16, 8, 49, 99, 99, 99],
    ]
    .concat();
    // SAFETY: a is 3 x 3 in rows of 4, b 3 x 3 in rows of 5, c 3 x 3 in rows of 6 from cell 6.
    unsafe {
        let cells = c.as_mut_ptr().add(6);
        let (one, zero) = (number(1), number(0));
        gemm(ROW_MAJOR, AS_IS, AS_IS, 3, 3, 3, one, a.as_ptr(), 4, b.as_ptr(), 5, zero, cells, 6);
    }
    if c.iter().zip(&wanted).any(|(got, want)| *got != number(*want)) {
        return false;
    }
    let x = [1, 9, 2, 9, 3].map(number);
    let mut y = [99; 5].map(number);
    // SAFETY: x holds 3 elements at step 2, y 3 elements at step 1 from cell 1.
    unsafe {
        let (one, zero) = (number(1), number(0));
        let cells = y.as_mut_ptr().add(1);
        gemv(ROW_MAJOR, AS_IS, 3, 3, one, a.as_ptr(), 4, x.as_ptr(), 2, zero, cells, 1);
    }
    y == [99, 14, 32, 50, 99].map(number)
}
