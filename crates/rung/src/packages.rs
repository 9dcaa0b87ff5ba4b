//! What the language's library packages offer, bound to Rust. A package is a file here; its
//! functions come from a table (`linalg`: the operations'), none is registered twice.

mod arguments;
mod chain;
mod csv;
mod described;
mod device;
mod devices;
mod emap;
mod explain;
mod kernels;
mod linalg;
mod npy;
mod png;
mod quantized;
mod rational;
mod safetensors;
mod timing;

pub(crate) use explain::count_reads;
pub(crate) use linalg::place_of;
pub use png::save_picture;
use rung_lisp::Lisp;
use rung_lisp::native::Native;
use rung_ops::Ladder;
use std::cell::RefCell;
use std::rc::Rc;

/// The packages beside `linalg`, in the order of the manual.
const TABLES: &[&[Native]] = &[
    emap::FUNCTIONS,
    csv::FUNCTIONS,
    npy::FUNCTIONS,
    safetensors::FUNCTIONS,
    png::FUNCTIONS,
    quantized::FUNCTIONS,
];

/// The functions of the packages beside `linalg`, named `package:name`.
pub fn functions() -> impl Iterator<Item = &'static Native> {
    TABLES.iter().copied().flatten()
}

/// Registers every package.
pub fn bind(lisp: &mut Lisp, ladder: &Rc<RefCell<Ladder>>) {
    let asked = explain::bind(lisp, ladder);
    timing::bind(lisp, ladder);
    device::bind(lisp, ladder);
    devices::bind(lisp, ladder);
    let operations = linalg::bind(lisp, ladder, asked);
    chain::bind(lisp, ladder, asked, &operations);
    kernels::bind(lisp, ladder, asked);
    quantized::bind(lisp);
    for function in functions() {
        // The tables qualify every name.
        let (package, name) = function.name.split_once(':').unwrap_or(("rung", function.name));
        let body = Rc::new(function.body);
        lisp.define_native(package, name, function.lambda_list, function.documentation, body);
    }
}
