//! The words every other crate of Rung uses: element types, shapes and broadcasting, the one
//! error type, and settings that know where each value came from.
//!
//! This crate computes nothing and knows no array, operation, device or language. Read
//! `element` first, then `shape`.
#![forbid(unsafe_code)]

pub mod element;
pub mod error;
pub mod file;
pub mod memory;
pub mod settings;
pub mod shape;

pub use element::{Bool, Element, ElementType, bf16, f16};
pub use error::{Error, ErrorKind, FilePlace, Result};
pub use settings::{
    CostsChoice, DeviceChoice, Explain, OnDecline, Origin, Precision, Setting, Settings,
};
pub use shape::{MOST_AXES, Shape, Strides};
