//! Rung's language: a Common Lisp with packed arrays.
//!
//! Text is read (`reader`), expanded into core forms (`expand`, `core`), compiled to bytecode
//! (`compile`, `code`) and run (`machine`). Values are in `value`, their bodies in `object`,
//! the one counted pointer in `heap`. This crate knows no array operation and no device: those
//! come through native functions that the embedder registers. Start at `lisp::Lisp`.
//!
//! ```
//! use std::rc::Rc;
//! use rung_lisp::{Lisp, Options, Value};
//!
//! let mut lisp = Lisp::new(Options { arguments: vec!["a".into()], ..Options::default() });
//! lisp.define_native("demo", "answer", "", "The answer.", Rc::new(|_, _| Ok(Value::Fixnum(42))));
//! let values = lisp.eval_text("prog.lisp", "(list (demo:answer) (+ 1/3 2))").unwrap();
//! assert_eq!(lisp.print(&values[0]), "(42 7/3)");
//! let error = lisp.eval_text("prog.lisp", "(car 5)").unwrap_err();
//! assert_eq!(error.short(), "prog.lisp:1:1: error: car: expected a list: got 5");
//! ```
//!
//! Run Lisp on a thread with a large stack and tell it the size (`Options::native_stack`, less
//! some 100 KB): natives that call back into Lisp, the reader, the printer and the compiler
//! recurse on it, and signal `storage-condition` when it is spent.
#![deny(unsafe_code)]

pub mod class;
pub mod code;
mod compile;
pub mod condition;
pub mod core;
pub mod debugger;
mod embed;
pub mod equality;
pub mod expand;
pub mod format;
mod format_blocks;
mod format_control;
mod format_float;
mod format_integer;
mod format_natives;
pub mod generic;
pub mod hash_table;
pub mod heap;
pub mod library;
pub mod lisp;
mod machine;
pub mod machine_code;
pub mod native;
pub mod numbers;
pub mod object;
pub mod offer;
pub mod package;
pub mod packed;
pub mod printer;
pub mod printer_float;
mod printer_names;
mod printer_natives;
mod printer_objects;
pub mod reader;
mod reader_dispatch;
mod reader_natives;
mod reader_packed;
mod reader_token;
pub mod readtable;
pub mod report;
pub mod source;
pub mod source_of_input;
pub mod stack;
pub mod stream;
pub mod stream_both;
pub mod stream_coding;
pub mod suggest;
pub mod symbol;
pub mod value;

pub use condition::{Condition, Escape, EscapeKind, Outcome};
pub use embed::Next;
pub use lisp::{Lisp, Options};
pub use report::{Unhandled, UnhandledKind};
pub use value::Value;
