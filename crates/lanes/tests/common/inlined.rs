//! Part of each test program whose kernels are worth it.
//!
//! A closure that is not inlined is compiled without the instructions of the level, and every vector
//! instruction in it becomes a call: log1p took 67 ns an element so with AVX2, not 5.

#![cfg(all(target_os = "linux", target_arch = "x86_64"))]

use object::{Object, ObjectSymbol};

#[test]
fn no_vector_instruction_stands_in_a_function_of_its_own() {
    let program = std::fs::read(std::env::current_exe().unwrap()).unwrap();
    let program = object::File::parse(&*program).unwrap();
    let names: Vec<&str> = program.symbols().filter_map(|s| s.name().ok()).collect();
    let kernel = |name: &&str| name.contains("run_avx2") || name.contains("entry_avx2");
    assert!(names.iter().any(kernel), "the symbols were stripped");
    let apart: Vec<&&str> = names
        .iter()
        .filter(|name| name.contains("core_arch"))
        .filter(|name| name.contains("_mm256_") || name.contains("_mm512_"))
        // Plain moves, which the compiler may leave apart in kernels that are compiled for a test.
        .filter(|name| !name.contains("loadu") && !name.contains("storeu"))
        .collect();
    assert_eq!(apart, [&""; 0], "a closure or a function in a kernel is not inlined");
}
