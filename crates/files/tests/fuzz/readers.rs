//! Arrays in files broken at random (`common/havoc`).

use super::common::havoc::Havoc;
use super::*;

#[test]
fn no_bytes_make_a_reader_of_arrays_panic() {
    let mut files: Vec<(&str, Vec<u8>)> = vec![
        ("a.csv", b"x,y\n1,2.5\n\"3\",-4e-2\n".to_vec()),
        ("b.csv", b"1;2\n3;4\n".to_vec()),
        (
            "f.npy",
            b"\x93NUMPY\x01\0\x46\0{'descr': '<f4', 'fortran_order': True, 'shape': (2, 3), }"
                .to_vec(),
        ),
    ];
    let pad = 80 - files[2].1.len() - 1;
    files[2].1.extend(std::iter::repeat_n(b' ', pad));
    files[2].1.push(b'\n');
    files[2].1.extend([0; 24]);
    let golden = |name| std::fs::read(golden(name)).unwrap();
    for (name, from) in [
        ("a.npy", "f8.npy"),
        ("b.npy", "version-2.npy"),
        ("c.npy", "u2-big.npy"),
        ("a.npz", "stored.npz"),
        ("b.npz", "deflated.npz"),
        ("a.safetensors", "ours.safetensors"),
    ] {
        files.push((name, golden(from)));
    }
    Havoc::new("arrays").run(
        &files,
        |_| {},
        |path, _| {
            let options = Options::default();
            let result = match path.extension().and_then(|ending| ending.to_str()) {
                Some("csv") => {
                    let _ = csv::read_columns(path, &options);
                    csv::read_matrix(path, &options).map(|array| array.size())
                }
                Some("npy") => npy::read(path).map(|array| array.size()),
                Some("npz") => npz::read(path).map(|arrays| arrays.len()),
                _ => read_tensors(path),
            };
            if let Err(e) = result {
                assert_ne!(e.kind(), ErrorKind::Internal, "{e}");
            }
        },
    );
}
