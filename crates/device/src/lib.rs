//! Devices: finding one, testing its rounding, and running kernels on it.
//!
//! A device never names an operation; it knows buffers and launches. Read `device` for the trait,
//! `probe` for how one is found, `self_test` for what it must compute exactly, `residency` for
//! arrays that stay on it.
#![warn(missing_docs)]

mod cuda;
mod device;
mod probe;
mod residency;
mod self_test;
mod wgpu;

pub(crate) use crate::device::sized;
pub use crate::device::{Buffer, Device, Failure, FailureCode, Info, Outcome, PART, TensorDoubles};
pub use crate::probe::{
    Adapter, Cards, Mask, Reason, Survey, adapters, may_name, probe, probe_with,
};
pub use crate::residency::{Handle, Held, Layout, Moved, Residency};
pub use rung_kernel::ptx_not_kept;
