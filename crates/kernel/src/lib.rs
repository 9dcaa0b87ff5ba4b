//! Kernel texts for devices: templates and traced expressions in WGSL, checked by naga and
//! written as SPIR-V in which no driver may contract or reorder float arithmetic.
//!
//! This crate runs nothing and knows no device; `rung-device` runs what it makes. Read `kernel`
//! first, then `compile`.
#![forbid(unsafe_code)]

pub mod compile;
pub mod kernel;
pub mod prelude;
mod spirv;

pub use compile::{ENTRY_POINT, compile};
pub use kernel::{Access, Binding, Kernel, Launch, Variants};
