//! Runs `rung` over a driver of NVIDIA's that stands in for the real one (`crates/stand-in`).

use super::{Folder, Ran, ran, rung};

/// The stand-in's file, without the functions of these names.
pub fn library(folder: &Folder, without: &[&str]) -> String {
    let tests = std::env::current_exe().unwrap();
    let built = tests.parent().unwrap().join("librung_stand_in.so");
    let mut bytes = std::fs::read(&built).unwrap_or_else(|e| panic!("{}: {e}", built.display()));
    for name in without {
        // Another first letter in the table of names: the loader finds it no more.
        let name = [b"\0", name.as_bytes(), b"\0"].concat();
        let places = 0..bytes.len() - name.len();
        let found: Vec<usize> = places.filter(|&at| bytes[at..].starts_with(&name)).collect();
        assert!(!found.is_empty(), "{without:?}");
        found.into_iter().for_each(|at| bytes[at + 1] = b'x');
    }
    let place = folder.0.join("driver");
    std::fs::create_dir_all(&place).unwrap();
    std::fs::write(place.join("libcuda.so.1"), bytes).unwrap();
    place.to_str().unwrap().to_string()
}

/// Runs words over a driver.
pub fn run_on(folder: &Folder, driver: &str, card: &[(&str, &str)], words: &[&str]) -> Ran {
    let mut command = rung(folder);
    command.args(words).env("LD_LIBRARY_PATH", driver).envs(card.iter().copied());
    command.env("VK_DRIVER_FILES", "/nonexistent").env("VK_ICD_FILENAMES", "/nonexistent");
    ran(command.output().unwrap())
}
