//! What is written is read back, bit for bit: every element type, every format, shapes that hurt.

mod common;

use common::{Folder, array, same, shape};
use rung_array::{Array, SliceSpec};
use rung_base::ElementType;
use rung_files::csv::{self, Column, ColumnType, Heading, Options, Pick, Types};
use rung_files::safetensors::Tensors;
use rung_files::{npy, npz, safetensors};

/// One piece of `elements` holds 8192 cells; its borders are among the shapes.
const SHAPES: &[&[usize]] = &[
    &[],
    &[0],
    &[1],
    &[0, 3],
    &[3, 0, 2],
    &[7],
    &[2, 3],
    &[1, 2, 1, 3],
    &[8191],
    &[8192],
    &[8193],
    &[2, 2, 2, 2, 2, 2, 2, 2],
];

fn each(mut visit: impl FnMut(Array, &str)) {
    for element_type in ElementType::ALL {
        for extents in SHAPES {
            visit(array(element_type, extents), &format!("{element_type} {extents:?}"));
        }
    }
}

#[test]
fn npy_keeps_every_type_and_shape() {
    let folder = Folder::new("npy");
    each(|array, what| {
        let path = folder.path("a.npy");
        npy::write(&array, &path).unwrap();
        let read = npy::read(&path).unwrap();
        match array.element_type() {
            ElementType::BF16 => same(&read, &array.convert(ElementType::F32).unwrap(), what),
            _ => same(&read, &array, what),
        }
    });
}

#[test]
fn npy_keeps_views_and_fortran_order() {
    let folder = Folder::new("views");
    let path = folder.path("a.npy");
    for element_type in ElementType::ALL {
        let a = array(element_type, &[4, 5, 6]);
        let reversed = SliceSpec { start: None, end: None, step: -2 };
        let views = [
            a.transpose(&[2, 1, 0]).unwrap(),
            a.transpose(&[1, 0, 2]).unwrap(),
            a.slice(&[reversed, SliceSpec::ALL, reversed]).unwrap(),
            array(element_type, &[3, 1]).broadcast_to(&shape(&[2, 3, 4])).unwrap(),
        ];
        for (i, view) in views.iter().enumerate() {
            npy::write(view, &path).unwrap();
            let read = npy::read(&path).unwrap();
            let wanted = match element_type {
                ElementType::BF16 => view.convert(ElementType::F32).unwrap(),
                _ => view.clone(),
            };
            same(&read, &wanted, &format!("{element_type} view {i}"));
            let text = String::from_utf8_lossy(&std::fs::read(&path).unwrap()[..80]).into_owned();
            assert_eq!(text.contains("'fortran_order': True"), i == 0, "{text}");
        }
    }
}

#[test]
fn npz_and_safetensors_keep_every_type_and_shape() {
    let folder = Folder::new("tables");
    let mut arrays = Vec::new();
    each(|array, what| arrays.push((what.to_string(), array)));
    for compress in [false, true] {
        let path = folder.path("a.npz");
        npz::write(&arrays, &path, compress).unwrap();
        let read = npz::read(&path).unwrap();
        assert_eq!(read.len(), arrays.len());
        for ((name, found), (wanted_name, wanted)) in read.iter().zip(&arrays) {
            assert_eq!(name, wanted_name);
            match wanted.element_type() {
                ElementType::BF16 => same(found, &wanted.convert(ElementType::F32).unwrap(), name),
                _ => same(found, wanted, name),
            }
        }
    }
    let path = folder.path("a.safetensors");
    let metadata = [("a \"b\"".to_string(), "ü\n".to_string())];
    safetensors::write(&arrays, &metadata, &path).unwrap();
    let tensors = Tensors::open(&path).unwrap();
    assert_eq!(tensors.metadata(), metadata);
    for (name, wanted) in &arrays {
        let entry = tensors.entries.iter().find(|entry| entry.name == *name).unwrap();
        same(&tensors.read(&[entry], None).unwrap()[0], wanted, name);
        for to in [ElementType::F32, ElementType::F64] {
            let wanted = wanted.convert(to).unwrap();
            same(&tensors.read(&[entry], Some(to)).unwrap()[0], &wanted, name);
        }
    }
}

#[test]
fn an_archive_of_nothing_and_the_same_bytes_twice() {
    let folder = Folder::new("empty");
    let (a, b) = (folder.path("a"), folder.path("b"));
    npz::write(&[], &a, false).unwrap();
    assert!(npz::read(&a).unwrap().is_empty());
    safetensors::write(&[], &[], &a).unwrap();
    assert!(Tensors::open(&a).unwrap().entries.is_empty());
    let arrays = [("x".to_string(), array(ElementType::F64, &[100]))];
    npz::write(&arrays, &a, true).unwrap();
    npz::write(&arrays, &b, true).unwrap();
    assert_eq!(std::fs::read(&a).unwrap(), std::fs::read(&b).unwrap());
}

#[test]
fn names_that_would_be_lost_are_refused() {
    let folder = Folder::new("names");
    let x = array(ElementType::F32, &[2]);
    let twice = [("x".to_string(), x.clone()), ("x".to_string(), x.clone())];
    let path = folder.path("a");
    let text = |e: rung_base::Error| e.message().to_string();
    assert_eq!(text(npz::write(&twice, &path, false).unwrap_err()), "two arrays have the name x");
    let e = safetensors::write(&twice, &[], &path).unwrap_err();
    assert_eq!(text(e), "two tensors have the name \"x\"");
    let reserved = [("__metadata__".to_string(), x.clone())];
    let e = safetensors::write(&reserved, &[], &path).unwrap_err();
    assert_eq!(text(e), "no tensor may have the name __metadata__");
    let unnamed = [(String::new(), x)];
    assert!(npz::write(&unnamed, &path, false).is_err());
    assert!(!path.exists());
}

#[test]
fn csv_keeps_numbers_of_every_type() {
    let folder = Folder::new("csv");
    let path = folder.path("a.csv");
    for element_type in ElementType::ALL {
        let matrix = array(element_type, &[300, 3]);
        csv::write_matrix(&matrix, &Heading::None, b';', &path).unwrap();
        let types = Types::All(ColumnType::Numbers(element_type));
        let options = Options { header: Some(false), separator: b';', types, ..Options::default() };
        same(&csv::read_matrix(&path, &options).unwrap(), &matrix, element_type.name());
        let columns = csv::read_columns(&path, &options).unwrap();
        for (i, (name, column)) in columns.iter().enumerate() {
            let Column::Numbers(column) = column else { panic!("{name:?} holds words") };
            assert_eq!(*name, Pick::Numbered(i));
            let wanted = matrix.transpose(&[1, 0]).unwrap().row(i).unwrap();
            same(column, &wanted, element_type.name());
        }
    }
}

#[test]
fn csv_keeps_words_whatever_is_in_them() {
    let folder = Folder::new("words");
    let path = folder.path("a.csv");
    let words = ["a,b", "say \"so\"", "two\nlines", " blank ", "", "ü", "\r", "1.5", "\"", "x"];
    let words: Vec<String> = words.map(String::from).to_vec();
    let numbers = array(ElementType::F64, &[words.len()]);
    let columns = [Column::Words(words.clone()), Column::Numbers(numbers.clone())];
    let names = ["word, quoted".to_string(), "number".to_string()];
    csv::write_columns(&columns, &Heading::Names(names.to_vec()), b',', &path).unwrap();
    let read = csv::read_columns(&path, &Options::default()).unwrap();
    let [(first, Column::Words(found)), (second, Column::Numbers(found_numbers))] = &read[..]
    else {
        panic!("{read:?}")
    };
    assert_eq!((first, second), (&Pick::Named(names[0].clone()), &Pick::Named("number".into())));
    assert_eq!(found, &words);
    same(found_numbers, &numbers, "numbers");
    // Alone, an empty field is quoted: an empty line would be no record.
    let lone = [Column::Words(words.clone())];
    csv::write_columns(&lone, &Heading::None, b',', &path).unwrap();
    let options = Options { header: Some(false), ..Options::default() };
    let read = csv::read_columns(&path, &options).unwrap();
    let (_, Column::Words(found)) = &read[0] else { panic!("{read:?}") };
    assert_eq!(found, &words);
}
