//! Rung's language: a Common Lisp with packed arrays.
//!
//! Text is read (`reader`), expanded into core forms (`expand`, `core`), compiled to bytecode
//! (`compile`, `code`) and run (`machine`). Values are in `value`, their bodies in `object`,
//! the one counted pointer in `heap`. This crate knows no array operation and no device: those
//! come through native functions that the embedder registers. Start at `lisp::Lisp`.
#![deny(unsafe_code)]

pub mod code;
pub mod condition;
pub mod equality;
pub mod hash_table;
pub mod heap;
pub mod lisp;
pub mod native;
pub mod numbers;
pub mod object;
pub mod package;
pub mod printer;
pub mod source;
pub mod stack;
pub mod stream;
pub mod symbol;
pub mod value;

pub use condition::{Condition, Escape, EscapeKind, Outcome};
pub use lisp::Lisp;
pub use value::Value;
