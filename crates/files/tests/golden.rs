//! Files written by NumPy 2.4 and the safetensors package 0.8 (`benches/lab/files/golden.py`): read
//! to the values that they hold, refused by name, and written again byte for byte.

mod common;

use common::{golden, same, shape};
use rung_array::{Array, narrow_f16};
use rung_base::{Bool, Element, ElementType, ErrorKind, bf16};
use rung_files::safetensors::Tensors;
use rung_files::{npy, npz, safetensors};

fn matrix<T: Element>(cells: [T; 6]) -> Array {
    Array::from_slice(&cells, shape(&[2, 3])).unwrap()
}

const FLOATS: [f64; 6] = [1.5, -0.0, f64::INFINITY, 0.00006103515625, -2.25, 0.1];

fn narrowed(name: &str) -> Array {
    match name {
        "f8" => matrix(FLOATS),
        "f4" => matrix(FLOATS.map(|x| x as f32)),
        "f2" => matrix(FLOATS.map(narrow_f16)),
        "i8" => matrix([i64::MIN, i64::MAX, 0, 1, 2, 100]),
        "i4" => matrix([i32::MIN, i32::MAX, 0, 1, 2, 100]),
        "i2" => matrix([-32768, 32767, 0, 1, 2, 100i32]),
        "i1" => matrix([-128, 127, 0, 1, 2, 100i32]),
        "u8" => matrix([0, i64::MAX, 0, 1, 2, 100]),
        "u4" => matrix([0, 4_294_967_295, 0, 1, 2, 100i64]),
        "u2" => matrix([0, 65_535, 0, 1, 2, 100i32]),
        "u1" => matrix([0, 255, 0, 1, 2, 100u8]),
        "b1" => matrix([true, false, false, true, true, false].map(Bool::from)),
        other => panic!("no values for {other}"),
    }
}

#[test]
fn every_type_of_numpy_that_is_a_real_number_is_read_exactly() {
    for name in ["f8", "f4", "f2", "i8", "i4", "i2", "i1", "u8", "u4", "u2", "u1", "b1"] {
        let array = npy::read(&golden(&format!("{name}.npy"))).unwrap();
        same(&array, &narrowed(name), name);
        let big = golden(&format!("{name}-big.npy"));
        assert_eq!(big.exists(), !name.ends_with('1'), "{name}");
        if big.exists() {
            same(&npy::read(&big).unwrap(), &narrowed(name), &format!("{name}, big-endian"));
        }
    }
}

#[test]
fn shapes_orders_and_versions() {
    let six: Vec<f32> = (0..6u8).map(f32::from).collect();
    let of = |extents: &[usize]| Array::from_slice(&six, shape(extents)).unwrap();
    let cases = [
        ("fortran", of(&[2, 3])),
        ("rank-0", Array::from_slice(&[2.5], shape(&[])).unwrap()),
        ("rank-1", of(&[6])),
        ("rank-4", of(&[1, 2, 1, 3])),
        ("empty", Array::zeros(ElementType::F64, shape(&[0, 3])).unwrap()),
        ("version-2", of(&[6])),
        ("version-3", of(&[6])),
    ];
    for (name, wanted) in cases {
        same(&npy::read(&golden(&format!("{name}.npy"))).unwrap(), &wanted, name);
    }
    // Not copied into row-major order: a view of what the file holds.
    assert!(!npy::read(&golden("fortran.npy")).unwrap().is_contiguous());
}

#[test]
fn what_is_no_real_number_is_refused_by_name() {
    let cases = [
        ("objects", "cells of type '|O' are not read: they are Python objects (at byte 11)"),
        ("strings", "cells of type '<U2' are not read: they are strings (at byte 11)"),
        ("bytes", "cells of type '|S2' are not read: they are strings (at byte 11)"),
        ("complex", "cells of type '<c16' are not read: they are complex numbers (at byte 11)"),
        (
            "fields",
            "cells with named fields are not read: save each field as an array (at byte 20)",
        ),
        ("bfloat16", "cells of type '<V2' are not read: they are raw bytes (at byte 11)"),
        ("dates", "cells of type '<M8[D]' are not read: they are dates or durations (at byte 11)"),
        (
            "too-large",
            "cell 1 is 9223372036854775808: above what (signed-byte 64) holds (at byte 136)",
        ),
    ];
    for (name, wanted) in cases {
        let path = golden(&format!("refused-{name}.npy"));
        let e = npy::read(&path).unwrap_err();
        assert_eq!(e.kind(), ErrorKind::Format, "{name}");
        let found = e.message().strip_prefix(&format!("{}: ", path.display())).unwrap();
        assert_eq!(found, wanted, "{name}");
    }
}

#[test]
fn npy_files_are_written_as_numpy_writes_them() {
    let folder = common::Folder::new("golden-npy");
    let names = [
        "f8", "f4", "f2", "i8", "i4", "u1", "b1", "fortran", "rank-0", "rank-1", "rank-4", "empty",
    ];
    for name in names {
        let path = golden(&format!("{name}.npy"));
        let out = folder.path(name);
        npy::write(&npy::read(&path).unwrap(), &out).unwrap();
        assert_eq!(std::fs::read(&out).unwrap(), std::fs::read(&path).unwrap(), "{name}");
    }
}

#[test]
fn archives_of_numpy_are_read_stored_and_deflated() {
    for file in ["stored.npz", "deflated.npz"] {
        let arrays = npz::read(&golden(file)).unwrap();
        let names: Vec<&str> = arrays.iter().map(|(name, _)| name.as_str()).collect();
        assert_eq!(names, ["a", "b", "größe", "f"], "{file}");
        same(&arrays[0].1, &matrix([0.0, 1.0, 2.0, 3.0, 4.0, 5.0]), file);
        same(&arrays[1].1, &Array::zeros(ElementType::I32, shape(&[0])).unwrap(), file);
        same(&arrays[2].1, &Array::from_slice(&[7i64], shape(&[])).unwrap(), file);
        same(&arrays[3].1, &matrix([0.0, 1.0, 2.0, 3.0, 4.0, 5.0f32]), file);
    }
}

fn read_all(file: &str) -> Vec<(String, Array)> {
    let tensors = Tensors::open(&golden(file)).unwrap();
    let entries: Vec<_> = tensors.entries.iter().collect();
    let arrays = tensors.read(&entries, None).unwrap();
    tensors.entries.iter().map(|entry| entry.name.clone()).zip(arrays).collect()
}

fn find<'a>(arrays: &'a [(String, Array)], name: &str) -> &'a Array {
    &arrays.iter().find(|(found, _)| found == name).unwrap().1
}

#[test]
fn tensors_of_every_type_are_read() {
    let arrays = read_all("ours.safetensors");
    assert_eq!(arrays.len(), 9);
    let brain = [1.5, -2.0, 3.140625].map(bf16::from_f32);
    let cases = [
        ("weight", matrix([0.0, 1.0, 2.0, 3.0, 4.0, 5.0f32])),
        ("a \"quoted\" name", matrix(FLOATS)),
        ("half", Array::vector(&[1.5, -2.0].map(narrow_f16)).unwrap()),
        ("brain", Array::vector(&brain).unwrap()),
        ("index", Array::vector(&[i64::MIN, 5]).unwrap()),
        ("count", Array::from_slice(&[7i32], shape(&[])).unwrap()),
        ("bytes", Array::vector(&[0u8, 255]).unwrap()),
        ("mask", Array::vector(&[true, false, true].map(Bool::from)).unwrap()),
        ("none", Array::zeros(ElementType::F32, shape(&[0, 4])).unwrap()),
    ];
    for (name, wanted) in cases {
        same(find(&arrays, name), &wanted, name);
    }
    let arrays = read_all("widened.safetensors");
    same(find(&arrays, "i16"), &Array::vector(&[-32768, 32767]).unwrap(), "i16");
    same(find(&arrays, "i8"), &Array::vector(&[-128, 127]).unwrap(), "i8");
    same(find(&arrays, "u16"), &Array::vector(&[0, 65535]).unwrap(), "u16");
    same(find(&arrays, "u32"), &Array::vector(&[0, 4_294_967_295i64]).unwrap(), "u32");
    same(find(&arrays, "u64"), &Array::vector(&[0, i64::MAX]).unwrap(), "u64");
}

#[test]
fn tensors_are_written_as_the_formats_library_writes_them() {
    let folder = common::Folder::new("golden-safetensors");
    for (file, metadata) in [
        ("ours.safetensors", vec![("format".to_string(), "np".to_string())]),
        ("bare.safetensors", vec![]),
        ("model-1.safetensors", vec![("format".to_string(), "np".to_string())]),
    ] {
        let mut arrays = read_all(file);
        arrays.reverse();
        let out = folder.path(file);
        assert_eq!(Tensors::open(&golden(file)).unwrap().metadata(), metadata);
        safetensors::write(&arrays, &metadata, &out).unwrap();
        let wanted = std::fs::read(golden(file)).unwrap();
        assert_eq!(
            String::from_utf8_lossy(&std::fs::read(&out).unwrap()),
            String::from_utf8_lossy(&wanted),
            "{file}"
        );
        assert_eq!(std::fs::read(&out).unwrap(), wanted, "{file}");
    }
}

#[test]
fn a_type_without_a_place_is_listed_and_refused_when_its_tensor_is_read() {
    let tensors = Tensors::open(&golden("float8.safetensors")).unwrap();
    let types: Vec<_> = tensors.entries.iter().map(|e| (e.name.as_str(), &*e.type_name)).collect();
    assert!(types.contains(&("x", "F8_E4M3")) && types.contains(&("y", "F32")), "{types:?}");
    let one = |name| tensors.entries.iter().find(|entry| entry.name == name).unwrap();
    same(&tensors.read(&[one("y")], None).unwrap()[0], &Array::vector(&[3.0f32]).unwrap(), "y");
    let e = tensors.read(&[one("y"), one("x")], None).unwrap_err();
    assert!(e.message().contains("tensor \"x\" has type F8_E4M3, not read"), "{e}");
}

#[test]
fn a_model_is_read_by_its_index() {
    let path = golden("model.safetensors.index.json");
    let tensors = Tensors::open(&path).unwrap();
    let names: Vec<&str> = tensors.entries.iter().map(|entry| entry.name.as_str()).collect();
    assert_eq!(names, ["weight", "index", "half"]);
    assert_eq!(tensors.files, [golden("model-1.safetensors"), golden("model-2.safetensors")]);
    // In the order asked for, whichever file a tensor is in.
    let asked = [&tensors.entries[2], &tensors.entries[0]];
    let arrays = tensors.read(&asked, Some(ElementType::F32)).unwrap();
    same(&arrays[0], &Array::vector(&[1.5f32, -2.0]).unwrap(), "half");
    same(&arrays[1], &matrix([0.0, 1.0, 2.0, 3.0, 4.0, 5.0f32]), "weight");
}
