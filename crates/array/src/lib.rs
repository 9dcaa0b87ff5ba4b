//! Arrays: a shape, an element type, and reference-counted storage read through strides.
//!
//! Every array behaves as a fresh value: views share storage, and a write first separates what
//! is shared (copy on write by the reference count). The newest bytes may be on a device, which
//! is known here as a trait alone. This crate stores, views and converts; it does no arithmetic
//! and knows no operation. Read `array`, then `storage`.
#![deny(unsafe_code)]

mod array;
mod bytes;
mod convert;
pub mod quantized;
mod storage;
mod view;
mod views;

pub use array::Array;
pub use bytes::{Bytes, recycled_bytes, taken_bytes};
pub use convert::{Convert, Number, narrow_bf16, narrow_f16};
pub use quantized::Quantized;
pub use storage::{Remote, Sight};
pub use view::{Offsets, View};
pub use views::SliceSpec;
