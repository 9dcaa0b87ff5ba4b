//! A driver of NVIDIA's that stands in for the real one, and a program to run over it.

use super::{Folder, Ran, ran, rung};

/// Element-wise work, a chain, a product and folds on what lies on the card.
const PROGRAM: &str = r#"
(let* ((a (la:reshape (la:linspace -2 2 8192) '(128 64)))
       (x (rung:send (la:astype a 'single-float)))
       (y (rung:send a))
       (square (rung:send (la:add (la:mul 4 (la:eye 5)) (la:slice a '((0 5) (0 5)))))))
  (print (la:sum (la:exp x)))
  (print (la:sum (la:div (la:add (la:mul x x) 1) 3) :axis 1))
  (print (la:slice (la:matmul (la:transpose y) y) '((0 2) (0 3))))
  (print (la:norm (la:softmax y)))
  (print (la:slice (la:sin y) '((0 2) (0 2))))
  (print (la:solve square (la:ones 5)))
  (print (la:argmax x :axis 1)))
"#;

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

/// A folder with the program, and what it prints on the processor.
pub fn prepared() -> (Folder, String) {
    let folder = Folder::new();
    let path = folder.file("work.lisp", PROGRAM);
    let here = ran(rung(&folder).arg(&path).output().unwrap());
    assert_eq!((here.code, here.err.as_str()), (Some(0), ""), "{}", here.err);
    (folder, here.out)
}
