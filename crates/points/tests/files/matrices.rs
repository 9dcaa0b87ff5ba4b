//! `.npy` files of every shape: one point a row, and what lies otherwise is refused or noted, never guessed.

use super::*;
use rung_array::Array;
use rung_base::Shape;
use rung_files::npy;

/// A file of version 1 with this shape, in words, and its cells.
fn stored(fortran: bool, shape: &str, cells: &[f32]) -> Vec<u8> {
    let order = if fortran { "True" } else { "False" };
    let mut header = format!("{{'descr': '<f4', 'fortran_order': {order}, 'shape': {shape}, }}");
    header.extend(std::iter::repeat_n(' ', 117 - header.len()));
    header.push('\n');
    let mut bytes = b"\x93NUMPY\x01\0\x76\0".to_vec();
    bytes.extend(header.as_bytes());
    bytes.extend(cells.iter().flat_map(|x| x.to_le_bytes()));
    bytes
}

fn counted(extents: &[usize]) -> Vec<u8> {
    let shape = Shape::new(extents.iter().copied()).unwrap();
    let cells: Vec<f32> = (0..shape.size()).map(|i| i as f32).collect();
    let mut bytes = Vec::new();
    npy::write_to(&Array::from_slice(&cells, shape).unwrap(), &mut bytes).unwrap();
    bytes
}

#[test]
fn a_matrix_with_a_coordinate_a_row_is_not_taken_for_points() {
    let folder = Folder::new("turned");
    for extents in [[3, 65], [3, 1000], [3, 40_000], [2, 500], [1, 65]] {
        let e = folder.error("a.npy", &counted(&extents));
        let text =
            format!("points are an array of shape (n d): got ({} {})", extents[0], extents[1]);
        assert!(e.message().ends_with(&text), "{e}");
        assert_eq!(e.hint_text(), Some("one point a row: transpose it, nothing is guessed"));
        assert_eq!(e.kind(), ErrorKind::Format);
    }
    // Three points with colours, or a cloud of ten points that is turned: a note.
    let table = folder.read("a.npy", &counted(&[3, 10])).unwrap();
    let note = "shape (3 10) is 3 points of 10 columns; a cloud with one coordinate a row has to be transposed";
    assert_eq!((table.rows(), &table.notes[..]), (3, &[note.to_string()][..]));
    for extents in [[3, 3], [1, 3], [1, 10], [4, 10], [4, 65], [0, 3], [2, 2], [3, 1]] {
        let table = folder.read("a.npy", &counted(&extents)).unwrap();
        assert_eq!((table.rows(), table.notes.len()), (extents[0], 0), "{extents:?}");
    }
}

#[test]
fn points_of_one_and_two_coordinates_are_points() {
    let folder = Folder::new("low");
    for columns in [1, 2] {
        let table = folder.read("a.npy", &counted(&[5, columns])).unwrap();
        assert_eq!(table.points().unwrap().shape()[..], [5, columns]);
    }
}

#[test]
fn arrays_of_one_and_three_axes_are_refused_with_what_to_do() {
    let folder = Folder::new("axes");
    let hint = |extents: &[usize]| {
        let e = folder.error("a.npy", &counted(extents));
        assert!(e.message().contains("points are an array of shape (n d): got ("), "{e}");
        e.hint_text().map(str::to_string)
    };
    assert_eq!(hint(&[9]).as_deref(), Some("reshape it: one point a row, (n 3)"));
    let several = "clouds one after another are (n d); fps takes their lengths";
    assert_eq!(hint(&[2, 5, 3]).as_deref(), Some(several));
    assert_eq!(hint(&[]), None);
    assert!(folder.error("a.npy", &counted(&[5, 0])).message().contains("1 to 1024 columns"));
}

#[test]
fn fortran_order_is_the_files_affair() {
    let folder = Folder::new("fortran");
    // (2, 3) by columns.
    let cells = [0.0, 3.0, 1.0, 4.0, 2.0, 5.0];
    let table = folder.read("a.npy", &stored(true, "(2, 3)", &cells)).unwrap();
    assert_eq!(numbers(&table), [0.0, 1.0, 2.0, 3.0, 4.0, 5.0]);
    // The transpose of an array of (100, 3), as numpy saves it.
    let cells: Vec<f32> = (0..300).map(|i| i as f32).collect();
    let e = folder.error("a.npy", &stored(true, "(3, 100)", &cells));
    assert!(e.message().ends_with("got (3 100)"), "{e}");
}
