//! What a run was asked to do, each value with where it came from.
//!
//! The command's flag table fills this struct once (flag over environment over project file over
//! user file over built in); afterwards nobody reads a flag or a variable again.

use std::fmt;
use std::path::PathBuf;

/// Where a setting's value came from; `rung doctor` prints it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum Origin {
    #[default]
    BuiltIn,
    /// A file and the line in it.
    File(PathBuf, usize),
    /// The environment variable's name.
    Environment(&'static str),
    /// The flag as documented: `--threads`.
    Flag(&'static str),
}

impl Origin {
    /// The setting as it was written there: `--device=H200`, `rung.toml:3: device = H200`.
    pub fn saying(&self, key: &str, value: &str) -> String {
        match self {
            Origin::BuiltIn => format!("{key}={value}"),
            Origin::File(..) => format!("{self}: {key} = {value}"),
            Origin::Environment(name) | Origin::Flag(name) => format!("{name}={value}"),
        }
    }
}

impl fmt::Display for Origin {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Origin::BuiltIn => f.write_str("built in"),
            Origin::File(path, line) => write!(f, "{}:{line}", path.display()),
            Origin::Environment(name) | Origin::Flag(name) => f.write_str(name),
        }
    }
}

/// A value and where it came from.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Setting<T> {
    pub value: T,
    pub origin: Origin,
}

impl<T> Setting<T> {
    pub fn built_in(value: T) -> Setting<T> {
        Setting { value, origin: Origin::BuiltIn }
    }

    pub fn set(&mut self, value: T, origin: Origin) {
        *self = Setting { value, origin };
    }
}

/// Which device a run may use.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum DeviceChoice {
    /// The first one found.
    #[default]
    Auto,
    /// None at all, by the word that said so: `cpu` or `none`.
    None(&'static str),
    /// Part of an adapter's name, or `cuda:N`; absent is an error.
    Named(String),
}

/// What a step down the ladder does.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum OnDecline {
    #[default]
    Ok,
    Warn,
    Error,
    Verify,
}

/// How exact a product must be.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Precision {
    #[default]
    Strict,
    Tf32,
    Bf16,
}

impl fmt::Display for Precision {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Precision::Strict => "strict",
            Precision::Tf32 => "tf32",
            Precision::Bf16 => "bf16",
        })
    }
}

/// Which costs decide who takes a call.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum CostsChoice {
    /// Those of the reference.
    #[default]
    Default,
    /// What `rung tune` wrote there, if it holds for this run.
    File(PathBuf),
}

/// Whether, and how, a run reports where each operation ran.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Explain {
    #[default]
    Off,
    Table,
    Json,
}

/// Everything a run was asked to do with the ladder.
#[derive(Clone, Debug, PartialEq)]
pub struct Settings {
    /// Add the device rung.
    pub gpu: Setting<bool>,
    /// Add the library rung.
    pub blas: Setting<bool>,
    /// The lanes rung, on by default.
    pub simd: Setting<bool>,
    /// Threads inside the lanes rung, on by default.
    pub parallel: Setting<bool>,
    /// The definitions alone.
    pub portable: Setting<bool>,
    pub device: Setting<DeviceChoice>,
    /// Bytes of arrays that may stay on the device; `None` is a quarter of its memory.
    pub device_memory: Setting<Option<u64>>,
    pub precision: Setting<Precision>,
    pub on_decline: Setting<OnDecline>,
    pub explain: Setting<Explain>,
    /// A CBLAS to bind, skipping discovery and the check that it is tuned.
    pub blas_path: Setting<Option<PathBuf>>,
    /// Say which library was bound.
    pub blas_verbose: Setting<bool>,
    /// Threads of every rung; `None` is the machine's own count.
    pub threads: Setting<Option<usize>>,
    pub costs: Setting<CostsChoice>,
    /// Seed of both generators; `None` leaves their fixed starting states.
    pub seed: Setting<Option<i64>>,
}

impl Default for Settings {
    fn default() -> Settings {
        Settings {
            gpu: Setting::default(),
            blas: Setting::default(),
            simd: Setting::built_in(true),
            parallel: Setting::built_in(true),
            portable: Setting::default(),
            device: Setting::default(),
            device_memory: Setting::default(),
            precision: Setting::default(),
            on_decline: Setting::default(),
            explain: Setting::default(),
            blas_path: Setting::default(),
            blas_verbose: Setting::default(),
            threads: Setting::default(),
            costs: Setting::default(),
            seed: Setting::default(),
        }
    }
}
