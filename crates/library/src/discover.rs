//! Finding a CBLAS: which files are tried, in which order, and what one must show before it is
//! used. Calling it is in `lib.rs`.

use crate::symbols::Symbols;
use std::ffi::{CStr, c_char, c_int};
use std::path::{Path, PathBuf};

/// Files tried in turn; the first that passes the checks is bound.
#[cfg(target_os = "macos")]
const CANDIDATES: [&str; 5] = [
    "/System/Library/Frameworks/Accelerate.framework/Accelerate",
    "libopenblas.0.dylib",
    "libopenblas.dylib",
    "libmkl_rt.2.dylib",
    "libmkl_rt.dylib",
];
#[cfg(windows)]
const CANDIDATES: [&str; 2] = ["libopenblas.dll", "mkl_rt.2.dll"];
#[cfg(not(any(target_os = "macos", windows)))]
const CANDIDATES: [&str; 9] = [
    "libnvpl_blas_lp64_gomp.so.0",
    "libnvpl_blas_lp64_seq.so.0",
    "libopenblas.so.0",
    "libopenblas.so",
    "libmkl_rt.so.2",
    "libmkl_rt.so",
    "libblas.so.3",
    "libcblas.so.3",
    "libblas.so",
];

/// What nobody offers; the warning at start quotes it.
pub(crate) const ABSENT: &str = "no tuned CBLAS found (install one, or name it with RUNG_BLAS)";

/// Symbols of which a tuned library exports at least one; the reference BLAS has none of them.
const MARKS: [&CStr; 7] = [
    c"openblas_get_config",
    c"mkl_get_version",
    c"MKL_Get_Version",
    c"bli_info_get_version_str",
    c"ATL_buildinfo",
    c"nvpl_blas_get_version",
    c"armpl_get_version",
];

/// What was found, before it is wrapped.
pub(crate) struct Found {
    pub symbols: Symbols,
    pub file: String,
    pub configuration: String,
}

/// The named library, or the first candidate that passes; otherwise the reason.
pub(crate) fn find(path: Option<&Path>) -> Result<Found, String> {
    if let Some(path) = path {
        return bind(path, false).map_err(|reason| format!("{}: {reason}", path.display()));
    }
    let mut refused = None;
    for name in CANDIDATES {
        match bind(Path::new(name), true) {
            Ok(found) => return Ok(found),
            // "64-bit interface" says more than that nothing was found.
            Err(reason) if reason == WIDE_INTERFACE => refused = Some(format!("{name}: {reason}")),
            Err(_) => {}
        }
    }
    Err(refused.unwrap_or_else(|| ABSENT.into()))
}

/// Every candidate that passes, or the named one.
pub(crate) fn every(path: Option<&Path>) -> Vec<Found> {
    match path {
        Some(path) => bind(path, false).into_iter().collect(),
        None => CANDIDATES.iter().filter_map(|name| bind(Path::new(name), true).ok()).collect(),
    }
}

pub(crate) const WIDE_INTERFACE: &str = "64-bit interface";

fn bind(path: &Path, must_be_tuned: bool) -> Result<Found, String> {
    if path.components().count() > 1 || path.exists() {
        looks_like_a_library(path)?;
    }
    let symbols = Symbols::load(&with_folder(path))?;
    if must_be_tuned && !is_tuned(&symbols, path) {
        return Err("not a tuned library".into());
    }
    symbols.check_interface()?;
    let configuration = configuration(&symbols).unwrap_or_else(|| "unknown version".into());
    let file = path.file_name().unwrap_or(path.as_os_str()).to_string_lossy().into_owned();
    Ok(Found { symbols, file, configuration })
}

/// A bare name that exists in the working folder was meant as that file; the loader would look
/// only in the system's folders.
fn with_folder(path: &Path) -> PathBuf {
    if path.components().count() == 1 && path.is_file() {
        Path::new(".").join(path)
    } else {
        path.into()
    }
}

/// Refuses what is plainly no library before the loader maps it: a folder, a pipe (opening one
/// waits for ever), an empty file, a text.
#[cfg(not(any(windows, target_os = "macos")))]
fn looks_like_a_library(path: &Path) -> Result<(), String> {
    use std::io::Read;
    let data = std::fs::metadata(path).map_err(|e| crate::plain(&e))?;
    if !data.is_file() {
        return Err("not a file".into());
    }
    let mut magic = [0; 4];
    std::fs::File::open(path)
        .and_then(|mut file| file.read_exact(&mut magic))
        .map_err(|_| "not a shared library".to_string())?;
    if magic == *b"\x7fELF" { Ok(()) } else { Err("not a shared library".into()) }
}

#[cfg(any(windows, target_os = "macos"))]
fn looks_like_a_library(_: &Path) -> Result<(), String> {
    Ok(()) // system frameworks are not files on disk there
}

fn is_tuned(symbols: &Symbols, path: &Path) -> bool {
    path.ends_with("Accelerate") || MARKS.iter().any(|mark| symbols.has(mark))
}

/// `OpenBLAS 0.3.21 SkylakeX`, from whatever the library says about itself.
fn configuration(symbols: &Symbols) -> Option<String> {
    if let Some(config) = text_of(symbols, c"openblas_get_config") {
        return Some(openblas_words(&config, text_of(symbols, c"openblas_get_corename")));
    }
    if let Some(version) = text_of(symbols, c"bli_info_get_version_str") {
        return Some(format!("BLIS {version}"));
    }
    let name = |mark: &CStr, name: &str| symbols.has(mark).then(|| name.to_string());
    name(c"mkl_get_version", "MKL")
        .or_else(|| name(c"MKL_Get_Version", "MKL"))
        .or_else(|| name(c"ATL_buildinfo", "ATLAS"))
        .or_else(|| name(c"nvpl_blas_get_version", "NVPL"))
        .or_else(|| name(c"armpl_get_version", "Arm Performance Libraries"))
}

/// Keeps name, version and processor of `OpenBLAS 0.3.21 NO_LAPACKE DYNAMIC_ARCH ... Zen`.
fn openblas_words(config: &str, core: Option<String>) -> String {
    let mut words = config.split_whitespace();
    let name = words.next().unwrap_or("OpenBLAS");
    let version = words.next().unwrap_or("");
    let core = core.unwrap_or_default();
    [name, version, &core].iter().filter(|w| !w.is_empty()).copied().collect::<Vec<_>>().join(" ")
}

fn text_of(symbols: &Symbols, name: &CStr) -> Option<String> {
    // SAFETY: each of the names asked for takes nothing and returns a static C string.
    unsafe {
        let get = symbols.find::<unsafe extern "C" fn() -> *const c_char>(name)?;
        let text = get();
        (!text.is_null()).then(|| CStr::from_ptr(text).to_string_lossy().into_owned())
    }
}

/// How a library is asked and told about threads, where it offers that.
#[derive(Clone, Copy, Default)]
pub(crate) struct Threads {
    pub get: Option<unsafe extern "C" fn() -> c_int>,
    pub set: Option<unsafe extern "C" fn(c_int)>,
}

impl Threads {
    pub(crate) fn of(symbols: &Symbols) -> Threads {
        let pairs = [
            (c"openblas_get_num_threads", c"openblas_set_num_threads"),
            (c"MKL_Get_Max_Threads", c"MKL_Set_Num_Threads"),
            (c"nvpl_blas_get_max_threads", c"nvpl_blas_set_num_threads"),
        ];
        for (get, set) in pairs {
            // SAFETY: these are the signatures that the libraries document.
            let found = unsafe { Threads { get: symbols.find(get), set: symbols.find(set) } };
            if found.get.is_some() && found.set.is_some() {
                return found;
            }
        }
        Threads::default()
    }

    /// The threads in use; 1 when the library does not say.
    pub(crate) fn count(&self) -> usize {
        // SAFETY: a function of no arguments, found under its documented name.
        self.get.map_or(1, |get| unsafe { get() }.max(1) as usize)
    }

    /// Sets the threads of later calls; false when the library offers no setter.
    pub(crate) fn change(&self, count: usize) -> bool {
        let Some(set) = self.set else { return false };
        // SAFETY: a function of one count, found under its documented name.
        unsafe { set(count as c_int) };
        true
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_configuration_keeps_name_version_and_processor() {
        let config = "OpenBLAS 0.3.21 NO_LAPACKE DYNAMIC_ARCH NO_AFFINITY Zen MAX_THREADS=64";
        assert_eq!(openblas_words(config, Some("Zen".into())), "OpenBLAS 0.3.21 Zen");
        assert_eq!(openblas_words("OpenBLAS", None), "OpenBLAS");
    }
}
