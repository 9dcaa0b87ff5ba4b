//! Files of any bytes give arrays or an error: cut off anywhere, broken at random, or claiming more
//! than they hold. Nothing panics, and nothing asks for memory that the file does not back.

mod common;
#[path = "fuzz/readers.rs"]
mod fuzz;

use common::{Folder, Random, array, golden};
use rung_base::{ElementType, Error, ErrorKind, Result};
use rung_files::csv::{self, Options};
use rung_files::safetensors::Tensors;
use rung_files::{npy, npz, safetensors};
use std::path::Path;

fn read_tensors(path: &Path) -> Result<usize> {
    let tensors = Tensors::open(path)?;
    let entries: Vec<_> = tensors.entries.iter().collect();
    Ok(tensors.read(&entries, None)?.len())
}

type Reader = fn(&Path) -> Result<usize>;

/// Writes a file anew. Over an old one some file systems wait for the disk, some 4 ms a file.
fn put(path: &Path, bytes: &[u8]) {
    let _ = std::fs::remove_file(path);
    std::fs::write(path, bytes).unwrap();
}

/// A small file of each format and its reader.
fn samples() -> Vec<(&'static str, Vec<u8>, Reader)> {
    let bytes = |name: &str| std::fs::read(golden(name)).unwrap();
    let npy: Reader = |path| npy::read(path).map(|array| array.size());
    let npz: Reader = |path| npz::read(path).map(|arrays| arrays.len());
    vec![
        ("npy", bytes("f8.npy"), npy),
        ("npy, version 2", bytes("version-2.npy"), npy),
        ("npy, widened", bytes("u2-big.npy"), npy),
        ("npz, stored", bytes("stored.npz"), npz),
        ("npz, deflated", bytes("deflated.npz"), npz),
        ("safetensors", bytes("ours.safetensors"), read_tensors),
    ]
}

#[test]
fn a_file_cut_off_at_any_byte_is_a_format_error() {
    let folder = Folder::new("cut");
    let path = folder.path("file");
    for (name, bytes, read) in samples() {
        put(&path, &bytes);
        assert!(read(&path).is_ok(), "{name}");
        for length in 0..bytes.len() {
            put(&path, &bytes[..length]);
            let e = read(&path).expect_err(&format!("{name} cut to {length} bytes"));
            assert_eq!(e.kind(), ErrorKind::Format, "{name} cut to {length} bytes: {e}");
            assert_eq!(e.file().map(|place| place.path.as_str()), path.to_str());
        }
        let longer = [&bytes[..], b"x"].concat();
        put(&path, &longer);
        assert!(read(&path).is_err(), "{name} with a byte behind it");
    }
}

#[test]
fn a_file_broken_at_random_gives_an_error_or_arrays() {
    let seed = std::env::var("SEED").ok().and_then(|seed| seed.parse().ok()).unwrap_or(20_261_130);
    println!("SEED={seed}");
    let mut random = Random(seed);
    let folder = Folder::new("broken");
    let path = folder.path("file");
    for (name, bytes, read) in samples() {
        let mut refused = 0;
        for _ in 0..1500 {
            let mut broken = bytes.clone();
            for _ in 0..=random.below(4) {
                let at = random.below(broken.len() as u64) as usize;
                broken[at] = random.below(256) as u8;
            }
            put(&path, &broken);
            match read(&path) {
                Ok(_) => {}
                Err(e) => {
                    refused += 1;
                    assert!(
                        matches!(e.kind(), ErrorKind::Format | ErrorKind::Memory),
                        "{name}: {e}"
                    );
                }
            }
        }
        println!("{name}: {refused} of 1500 refused");
        assert!(refused > 300, "{name}: {refused}");
    }
}

/// A file that npy's header describes, with no more cells than `cells` bytes.
fn npy_of(dictionary: &str, cells: &[u8]) -> Vec<u8> {
    let mut bytes = b"\x93NUMPY\x01\x00".to_vec();
    bytes.extend((dictionary.len() as u16).to_le_bytes());
    bytes.extend(dictionary.as_bytes());
    bytes.extend(cells);
    bytes
}

fn of_bytes(folder: &Folder, bytes: &[u8], read: Reader) -> Error {
    let path = folder.path("file");
    put(&path, bytes);
    match read(&path) {
        Ok(_) => panic!("read: {}", String::from_utf8_lossy(bytes)),
        Err(e) => e,
    }
}

fn reason(e: &Error) -> &str {
    assert_eq!(e.kind(), ErrorKind::Format, "{e}");
    e.file().map_or("", |place| place.reason.as_str())
}

#[test]
fn npy_headers_that_lie() {
    let folder = Folder::new("lies");
    let head =
        |shape: &str| format!("{{'descr': '<f8', 'fortran_order': False, 'shape': {shape}}}");
    let cases = [
        (head("(3,)"), "f64 cells of shape (3) take 24 bytes: got 16"),
        (head("(1,)"), "f64 cells of shape (1) take 8 bytes: got 16"),
        (
            head("(1000000000000,)"),
            "f64 cells of shape (1000000000000) take 8000000000000 bytes: got 16",
        ),
        (
            head("(4000000000, 4000000000)"),
            "shape (4000000000 4000000000) has more elements than can be addressed",
        ),
        (
            head("(18446744073709551615, 2)"),
            "shape (18446744073709551615 2) has more elements than can be addressed",
        ),
        (head("(99999999999999999999,)"), "an extent of the shape is no size"),
        (head("(-1,)"), "an extent of the shape is no size"),
        (head("(2"), "expected ')' in the header: got '}'"),
        (head("[2]"), "cells with named fields are not read: save each field as an array"),
        (head("(2,), 'x': 1"), "expected a string, True, False or a shape in the header: got '1'"),
        (head("(2,), 'x': True"), "the header's entry \"x\" is unknown or wrong"),
        (head("(2,), 'shape': (2,)"), "the header's entry \"shape\" is unknown or wrong"),
        (head("'(2,)'"), "the header's entry \"shape\" is unknown or wrong"),
        ("{'descr': '<f8', 'shape': (2,)}".into(), "the header has no entry \"fortran_order\""),
        ("{'descr: 1}".into(), "a string of the header has no end"),
        ("{}x".into(), "expected nothing more in the header: got 'x'"),
        (String::new(), "expected '{' in the header: got its end"),
        (
            "{'descr': '<<f8'}".into(),
            "cells of type '<<f8' are not read: they are of an unknown type",
        ),
    ];
    let read: Reader = |path| npy::read(path).map(|array| array.size());
    for (dictionary, wanted) in cases {
        let e = of_bytes(&folder, &npy_of(&dictionary, &[0; 16]), read);
        assert_eq!(reason(&e), wanted, "{dictionary}");
    }
    let e = of_bytes(&folder, b"\x93NUMPY\x01\x00\xff\xff{", read);
    assert_eq!(reason(&e), "the header has 65535 bytes: the file has 1 left");
    let e = of_bytes(&folder, b"\x93NUMPY\x02\x00\xff\xff\xff\xff{", read);
    assert_eq!(reason(&e), "the header has 4294967295 bytes: the file has 1 left");
    let e = of_bytes(&folder, b"\x93NUMPY\x04\x00abc", read);
    assert_eq!(reason(&e), "expected npy version 1.0, 2.0 or 3.0: got 4.0");
    let e = of_bytes(&folder, b"PK\x03\x04\x00\x00\x00\x00abc", read);
    assert_eq!(e.hint_text(), Some("it is a zip file: read it as npz"));
    // A shape with a zero holds nothing, however large its other extents.
    let none = npy_of(&head("(0, 4611686018427387903)"), &[]);
    std::fs::write(folder.path("file"), none).unwrap();
    assert_eq!(npy::read(&folder.path("file")).unwrap().size(), 0);
}

fn safetensors_of(header: &str, data: usize) -> Vec<u8> {
    let mut bytes = (header.len() as u64).to_le_bytes().to_vec();
    bytes.extend(header.as_bytes());
    bytes.extend(vec![0; data]);
    bytes
}

#[test]
fn safetensors_headers_that_lie() {
    let folder = Folder::new("tensor-lies");
    let tensor = |name: &str, shape: &str, from: u64, to: u64| {
        format!("\"{name}\":{{\"dtype\":\"F32\",\"shape\":{shape},\"data_offsets\":[{from},{to}]}}")
    };
    let one = |shape: &str, from, to| format!("{{{}}}", tensor("a", shape, from, to));
    let two =
        |from, to| format!("{{{},{}}}", tensor("a", "[2]", 0, 8), tensor("b", "[2]", from, to));
    let cases = [
        (one("[2]", 0, 9), "tensor \"a\": F32 cells of shape (2) take 8 bytes: got 9"),
        (one("[2]", 8, 0), "tensor \"a\": bytes 8 to 0 are not in the 16 behind the header"),
        (one("[5]", 0, 20), "tensor \"a\": bytes 0 to 20 are not in the 16 behind the header"),
        (one("[2]", 0, 8), "the last 8 bytes are no tensor's"),
        (one("[2]", 8, 16), "8 bytes before \"a\" are no tensor's"),
        (one("[-2]", 0, 16), "tensor \"a\": \"shape\" is no list of sizes"),
        (one("2", 0, 16), "tensor \"a\": it has no list \"shape\""),
        (
            one("[4294967296,4294967296]", 0, 16),
            "tensor \"a\": shape (4294967296 4294967296) has more elements than can be addressed",
        ),
        (two(4, 12), "tensor \"b\" lies over another"),
        (two(0, 8), "tensor \"b\" lies over another"),
        (
            format!("{{{},{}}}", tensor("a", "[2]", 0, 8), tensor("a", "[2]", 8, 16)),
            "the header: the key \"a\" stands twice",
        ),
        ("[]".into(), "the header is no JSON object"),
        ("{\"a\":1}".into(), "tensor \"a\": it has no \"dtype\""),
        ("{\"__metadata__\":{\"a\":1}}".into(), "__metadata__ is no object of texts"),
        ("{".into(), "the header: EOF while parsing"),
    ];
    for (header, wanted) in cases {
        let e = of_bytes(&folder, &safetensors_of(&header, 16), read_tensors);
        assert!(reason(&e).starts_with(wanted), "{header}: {}", reason(&e));
    }
    for length in [17, 1 << 40, u64::MAX] {
        let mut bytes = length.to_le_bytes().to_vec();
        bytes.extend([b' '; 16]);
        let e = of_bytes(&folder, &bytes, read_tensors);
        assert!(reason(&e).starts_with("expected a safetensors file"), "{length}: {e}");
    }
}

#[test]
fn an_index_stays_in_its_folder_and_names_what_is_missing() {
    let folder = Folder::new("index");
    let path = folder.path("m.json");
    let of = |text: &str| {
        std::fs::write(&path, text).unwrap();
        Tensors::open(&path).unwrap_err()
    };
    for file in ["../a.safetensors", "/etc/passwd", "..", "", "a/b", "a\\\\b"] {
        let e = of(&format!("{{\"weight_map\":{{\"x\":\"{file}\"}}}}"));
        assert!(reason(&e).starts_with("tensor \"x\" is in no file beside the index"), "{e}");
    }
    assert_eq!(reason(&of("{\"weight_map\":[]}")), "the index has no object \"weight_map\"");
    let e = of("{\"weight_map\":{\"x\":\"gone.safetensors\"}}");
    assert_eq!(e.kind(), ErrorKind::File, "{e}");
    let shard = folder.path("s.safetensors");
    safetensors::write(&[("y".into(), array(ElementType::F32, &[2]))], &[], &shard).unwrap();
    let e = of("{\"weight_map\":{\"x\":\"s.safetensors\"}}");
    assert_eq!(reason(&e), "tensor \"x\" is not in s.safetensors");
}

/// Writes `value` over the field of the first record that begins with `magic`.
fn patched(bytes: &[u8], magic: &[u8], field: usize, value: &[u8]) -> Vec<u8> {
    let at = bytes.windows(4).position(|window| window == magic).unwrap() + field;
    let mut out = bytes.to_vec();
    out[at..at + value.len()].copy_from_slice(value);
    out
}

#[test]
fn zip_directories_that_lie() {
    let folder = Folder::new("zip-lies");
    let path = folder.path("a.npz");
    let arrays = [
        ("a".to_string(), array(ElementType::F64, &[4])),
        ("b".to_string(), array(ElementType::F64, &[4])),
    ];
    let read: Reader = |path| npz::read(path).map(|arrays| arrays.len());
    npz::write(&arrays, &path, false).unwrap();
    let stored = std::fs::read(&path).unwrap();
    npz::write(&arrays, &path, true).unwrap();
    let deflated = std::fs::read(&path).unwrap();
    let (entry, end, local): (&[u8], &[u8], &[u8]) = (b"PK\x01\x02", b"PK\x05\x06", b"PK\x03\x04");
    let many = [0xff, 0xff, 0xff, 0x7f];
    let cases = [
        (patched(&stored, entry, 8, &[1, 0]), "it is encrypted, which is not read"),
        (patched(&stored, entry, 10, &[14, 0]), "it is packed by method 14"),
        (patched(&stored, entry, 16, &[9, 9, 9, 9]), "09090909 is written"),
        (patched(&stored, entry, 20, &many), "it is stored in 2147483647 bytes and has 160"),
        (patched(&deflated, entry, 24, &many), "bytes of deflate cannot hold its 2147483647 bytes"),
        (patched(&deflated, entry, 20, &many), "reaches into what follows it"),
        (patched(&stored, entry, 42, &[50, 0, 0, 0]), "reaches into what follows it"),
        (
            patched(&stored, entry, 28, &[200, 200]),
            "a member's entry goes beyond the zip directory",
        ),
        (patched(&stored, local, 26, &[4, 0]), "expected the header of member a.npy"),
        (patched(&stored, end, 10, &[9, 0]), "a zip file in several parts is not read"),
        (patched(&stored, end, 8, &[9, 0, 9, 0]), "the zip directory does not fit into the file"),
        (patched(&stored, end, 16, &many), "the zip directory does not fit into the file"),
        (patched(&stored, b"b.np", 0, b"a.np"), "expected the header of member b.npy"),
    ];
    for (i, (bytes, wanted)) in cases.iter().enumerate() {
        let e = of_bytes(&folder, bytes, read);
        assert!(reason(&e).contains(wanted), "{i}: {e}");
    }
    let mut twice = stored.clone();
    for at in (0..twice.len() - 5).filter(|&at| &stored[at..at + 5] == b"b.npy") {
        twice[at] = b'a';
    }
    assert_eq!(reason(&of_bytes(&folder, &twice, read)), "member a.npy stands twice");
}

#[test]
fn csv_errors_name_the_line() {
    let folder = Folder::new("csv-lies");
    let matrix: Reader =
        |path| csv::read_matrix(path, &Options::default()).map(|array| array.size());
    let path = folder.path("file");
    let shown = path.display();
    let cases: [(&[u8], &str); 7] = [
        (b"1,2\n3\n", "2: expected 2 fields: got 1"),
        (b"1,2\n\n3,4,5\n", "3: expected 2 fields: got 3"),
        (b"x,y\n1,2\n3,a\n", "3: column 1 (y) is no number: \"a\""),
        (b"1,2\n3,a\n", "2: column 1 is no number: \"a\""),
        (b"1,\"2\n3,4\n", "1: a quote is opened and never closed"),
        (b"1,2\n\"3\"4,5\n", "2: text follows the quote that closes a field"),
        (b"1,2\n3,\xff\n", "2: not UTF-8"),
    ];
    for (bytes, wanted) in cases {
        let e = of_bytes(&folder, bytes, matrix);
        assert_eq!(e.message(), format!("{shown}:{wanted}"));
        assert_eq!(e.kind(), ErrorKind::Format);
    }
    let columns: Reader = |path| csv::read_columns(path, &Options::default()).map(|c| c.len());
    let e = of_bytes(&folder, b"x,x\n1,2\n", columns);
    assert_eq!(e.message(), format!("{shown}:1: two columns have the name \"x\""));
    std::fs::write(&path, "").unwrap();
    assert_eq!(columns(&path), Ok(0));
    assert_eq!(matrix(&path), Ok(0));
}

#[test]
fn what_is_no_regular_file_cannot_be_read() {
    for path in ["/dev/zero", "/dev", "/no/such/file"] {
        for (name, _, read) in samples() {
            assert_eq!(read(Path::new(path)).unwrap_err().kind(), ErrorKind::File, "{name} {path}");
        }
    }
}
