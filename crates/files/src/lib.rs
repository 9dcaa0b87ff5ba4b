//! Arrays in files: `npy` and `npz` as NumPy writes them, `safetensors`, and tables of text
//! (`csv`).
//!
//! What a file says is checked against what it holds before memory is asked for, so a file of any
//! bytes gives arrays or an error, and never takes more memory than a small multiple of its own
//! length (deflated members: of what deflate can hold in it). Files are written whole or not at
//! all. Read `elements` first: the one table of how cells lie in files, and their way in and out.
#![forbid(unsafe_code)]

pub mod csv;
mod elements;
pub mod input;
mod json;
pub mod npy;
pub mod npz;
mod room;
pub mod safetensors;
mod zip;

pub use json::Json;
