//! Makes the list of solvers from the manifest, so that a solver is named there and nowhere else.

use std::path::Path;

#[path = "src/solvers/listed.rs"]
mod listed;

fn main() {
    println!("cargo::rerun-if-changed=Cargo.toml");
    println!("cargo::rerun-if-changed=src/solvers/listed.rs");
    let folder = std::env::var("OUT_DIR").expect("cargo says where");
    let manifest = std::fs::read_to_string("Cargo.toml").expect("the manifest is there");
    let to = Path::new(&folder).join("solvers.rs");
    std::fs::write(to, listed::as_rust(&manifest)).expect("cargo's folder can be written");
}
