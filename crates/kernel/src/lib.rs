//! Kernel texts for devices: templates and traced expressions in WGSL, checked by naga and
//! written as SPIR-V in which no driver may contract or reorder float arithmetic, or as PTX for NVIDIA.
//!
//! This crate runs nothing and knows no device; `rung-device` runs what it makes. Read `kernel`
//! first, then `compile` and `cells`, then the templates: `map`, `broadcast`, `step`, `pick`,
//! `fold`, `position`, `scan`, `sort`, `locate`, `windows`, `rows`, `product`, `tensor`,
//! `triangular`, `fourier`, `quantized`, `fill`, `philox`.
#![forbid(unsafe_code)]
#![warn(missing_docs)]

pub mod cells;
pub mod compile;
pub mod expression;
pub mod kernel;
pub mod prelude;
mod ptx;
mod spirv;
mod templates;

pub use compile::{ENTRY_POINT, compile, compile_ptx, ptx_not_kept};
pub use kernel::{Access, Binding, Demands, Kernel, Launch, Variants};
pub use templates::{
    broadcast, fill, fold, fourier, locate, map, philox, pick, position, product, quantized, rows,
    scan, sort, step, tensor, tensor_doubles, triangular, windows,
};
