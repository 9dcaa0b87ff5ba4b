//! The version, and with `--verbose` the facts of this build.

use std::fmt::Write;

/// `rung 0.1.0`.
pub fn line() -> String {
    format!("rung {}", env!("CARGO_PKG_VERSION"))
}

/// The version with the target, the profile and the parts that are built in.
pub fn facts() -> String {
    let mut text = line();
    let profile = if cfg!(debug_assertions) { "debug" } else { "release" };
    let target = format!("{}-{}", std::env::consts::ARCH, std::env::consts::OS);
    let _ = write!(text, "\ntarget    {target}, {profile}");
    let _ = write!(text, "\nfeatures  CUDA by dlopen, wgpu (Vulkan), CBLAS by dlopen");
    if let Some(commit) = option_env!("RUNG_COMMIT") {
        let _ = write!(text, "\ncommit    {commit}");
    }
    text
}
