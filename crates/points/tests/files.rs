//! Clouds in files: each format gives the points that are in it, written and read again they are the
//! same, and a file of any bytes gives a cloud or an error: cut off anywhere, broken at random, or
//! announcing more than it holds.

#[path = "fuzz/readers.rs"]
mod fuzz;
#[path = "files/matrices.rs"]
mod matrices;

use rung_array::Number;
use rung_base::{Error, ErrorKind, Result};
use rung_points::files::{READ, Table, WRITTEN, read, read_kitti};
use std::path::{Path, PathBuf};

/// An empty folder of this test's own, removed at its end.
struct Folder(PathBuf);

impl Folder {
    fn new(name: &str) -> Folder {
        let path = std::env::temp_dir().join(format!("rung-points-{name}-{}", std::process::id()));
        let _ = std::fs::remove_dir_all(&path);
        std::fs::create_dir_all(&path).unwrap();
        Folder(path)
    }

    /// Writes a file anew and reads it as a cloud.
    fn read(&self, name: &str, bytes: &[u8]) -> Result<Table> {
        let path = self.0.join(name);
        let _ = std::fs::remove_file(&path);
        std::fs::write(&path, bytes).unwrap();
        read(&path)
    }

    fn error(&self, name: &str, bytes: &[u8]) -> Error {
        match self.read(name, bytes) {
            Ok(_) => panic!("read: {}", String::from_utf8_lossy(bytes)),
            Err(e) => e,
        }
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.0);
    }
}

fn numbers(table: &Table) -> Vec<f64> {
    table.points().unwrap().numbers().map(Number::to_f64).collect()
}

fn names(table: &Table) -> Vec<&str> {
    table.columns.iter().map(|column| &*column.name).collect()
}

const ASCII: &str = "ply\nformat ascii 1.0\ncomment made by hand\nelement vertex 2\n\
    property float x\nproperty float y\nproperty float z\nproperty uchar red\n\
    element face 1\nproperty list uchar int vertex_indices\nend_header\n\
    0 0.5 -1e3 255\n3 4 5 7\n3 0 1 0\n";

/// A binary file in which another element with a list stands before the vertices.
fn binary(big: bool) -> Vec<u8> {
    let form = if big { "binary_big_endian" } else { "binary_little_endian" };
    let mut bytes = format!(
        "ply\nformat {form} 1.0\nelement strip 2\nproperty list ushort short corners\n\
         element vertex 2\nproperty int8 kind\nproperty double x\nproperty double y\n\
         property double z\nproperty list uint8 float weights\nend_header\n"
    )
    .into_bytes();
    let mut put = |b: &[u8]| bytes.extend(b);
    macro_rules! number {
        ($x:expr) => {
            if big { put(&$x.to_be_bytes()) } else { put(&$x.to_le_bytes()) }
        };
    }
    for corners in [3u16, 0] {
        number!(corners);
        (0..corners).for_each(|_| number!(7i16));
    }
    for vertex in 0..2 {
        number!((-3i8));
        (0..3).for_each(|axis| number!(f64::from(vertex * 3 + axis)));
        number!((vertex as u8));
        (0..vertex).for_each(|_| number!(0.5f32));
    }
    bytes
}

/// A las file of version 1.2, format 0, with so many points at (i, 2i, 3i) / 100 + 1000.
fn las(count: u32) -> Vec<u8> {
    let mut bytes = vec![0; 227];
    bytes[..4].copy_from_slice(b"LASF");
    (bytes[24], bytes[25]) = (1, 2);
    bytes[94..96].copy_from_slice(&227u16.to_le_bytes());
    bytes[96..100].copy_from_slice(&227u32.to_le_bytes());
    bytes[105..107].copy_from_slice(&20u16.to_le_bytes());
    bytes[107..111].copy_from_slice(&count.to_le_bytes());
    for axis in 0..3 {
        bytes[131 + 8 * axis..139 + 8 * axis].copy_from_slice(&0.01f64.to_le_bytes());
        bytes[155 + 8 * axis..163 + 8 * axis].copy_from_slice(&1000f64.to_le_bytes());
    }
    for i in 0..count as i32 {
        for axis in 1..=3 {
            bytes.extend((i * axis).to_le_bytes());
        }
        bytes.extend([5, 1, 0, 2, 0, 0, 0, 0]);
    }
    bytes
}

/// A pcd file of two points with a padding field and one of two numbers; packed field by field.
fn pcd(data: &str) -> Vec<u8> {
    let head = "# .PCD v0.7 - Point Cloud Data file format\nVERSION 0.7\nFIELDS x y z _ id pair\n\
        SIZE 4 4 4 1 2 4\nTYPE F F F U U I\nCOUNT 1 1 1 2 1 2\nWIDTH 2\nHEIGHT 1\n\
        VIEWPOINT 0 0 0 1 0 0 0\nPOINTS 2\n";
    let mut bytes = format!("{head}DATA {data}\n").into_bytes();
    let x = [[0.0f32, 0.5, -1.0], [3.0, 4.0, 5.0]];
    match data {
        "ascii" => bytes.extend(b"0 0.5 -1 0 0 7 1 2\n3 4 5 0 0 258 3 4\n"),
        "binary" => {
            for (x, id) in x.iter().zip([7u16, 258]) {
                x.iter().for_each(|x| bytes.extend(x.to_le_bytes()));
                bytes.extend([0, 0]);
                bytes.extend(id.to_le_bytes());
                bytes.extend([0; 8]);
            }
        }
        _ => {
            let mut plain = Vec::new();
            for axis in 0..3 {
                x.iter().for_each(|x| plain.extend(x[axis].to_le_bytes()));
            }
            plain.extend([0; 4]);
            [7u16, 258].iter().for_each(|id| plain.extend(id.to_le_bytes()));
            // Runs as they are, and the sixteen zeros at the end as a zero and a reference to it.
            let mut packed = Vec::new();
            for run in plain.chunks(32) {
                packed.push(run.len() as u8 - 1);
                packed.extend(run);
            }
            packed.extend([0, 0, 7 << 5, 6, 0]);
            bytes.extend((packed.len() as u32).to_le_bytes());
            bytes.extend(48u32.to_le_bytes());
            bytes.extend(packed);
        }
    }
    bytes
}

#[test]
fn fields_of_a_pcd_file_are_read_in_all_three_forms() {
    let folder = Folder::new("pcd");
    for data in ["ascii", "binary", "binary_compressed"] {
        let table = folder.read("a.pcd", &pcd(data)).unwrap();
        assert_eq!(names(&table), ["x", "y", "z", "id"], "{data}");
        assert_eq!(numbers(&table), [0.0, 0.5, -1.0, 3.0, 4.0, 5.0], "{data}");
        let ids: Vec<f64> = table.columns[3].cells.numbers().map(Number::to_f64).collect();
        assert_eq!(ids, [7.0, 258.0], "{data}");
        assert_eq!(table.left_out, ["the field pair"], "{data}");
    }
    let lie = |from: &str, to: &str, data: &str| {
        let bytes = pcd(data);
        let at = bytes.windows(from.len()).position(|part| part == from.as_bytes()).unwrap();
        let bytes = [&bytes[..at], to.as_bytes(), &bytes[at + from.len()..]].concat();
        folder.error("a.pcd", &bytes).file().unwrap().reason.clone()
    };
    assert_eq!(
        lie("POINTS 2", "POINTS 1000000000000", "binary"),
        "1000000000000 points take 24000000000000 bytes: the file has 48 left"
    );
    assert_eq!(lie("POINTS 2", "POINTS -2", "binary"), "POINTS: not expected: \"-2\"");
    assert_eq!(lie("POINTS 2", "POINTS 3", "ascii"), "3 points are announced: got 2");
    assert_eq!(lie("DATA ascii", "DATA text", "ascii"), "DATA: not expected: \"text\"");
    assert_eq!(lie("SIZE 4", "SIZE 3", "ascii"), "no field is of type F 3");
    assert_eq!(lie("FIELDS x", "FIELDS y", "ascii"), "the points have no fields x, y and z");
    let packed = lie("POINTS 2", "POINTS 2000000", "binary_compressed");
    assert!(packed.contains("the points take 48000000 bytes"), "{packed}");
}

#[test]
fn files_that_gzip_packed_are_unpacked() {
    let folder = Folder::new("gz");
    let packed = gzip(ASCII.as_bytes());
    let table = folder.read("a.ply.gz", &packed).unwrap();
    assert_eq!(numbers(&table), [0.0, 0.5, -1000.0, 3.0, 4.0, 5.0]);
    assert_eq!(numbers(&folder.read("a.pts.gz", &gzip(b"1\n1 2 3\n")).unwrap()), [1.0, 2.0, 3.0]);
    let e = folder.error("a.ply.gz", &packed[..packed.len() - 9]);
    assert!(e.message().contains("the packed bytes are broken"), "{e}");
}

fn gzip(bytes: &[u8]) -> Vec<u8> {
    let mut packed = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
    std::io::Write::write_all(&mut packed, bytes).unwrap();
    packed.finish().unwrap()
}

#[test]
fn a_bin_file_is_read_where_its_format_is_said() {
    let folder = Folder::new("kitti");
    let bytes: Vec<u8> = (0..8u8).flat_map(|i| f32::from(i).to_le_bytes()).collect();
    let e = folder.error("a.bin", &bytes);
    assert!(e.hint_text().unwrap().contains("format kitti"), "{e}");
    let path = folder.0.join("a.bin");
    let table = read_kitti(&path).unwrap();
    assert_eq!(names(&table), ["x", "y", "z", "intensity"]);
    assert_eq!(numbers(&table), [0.0, 1.0, 2.0, 4.0, 5.0, 6.0]);
    std::fs::write(&path, &bytes[1..]).unwrap();
    let e = read_kitti(&path).unwrap_err();
    assert_eq!(e.file().unwrap().reason, "points of 16 bytes: got 31 bytes");
}

#[test]
fn vertices_are_read_by_name_in_all_three_forms() {
    let folder = Folder::new("ply");
    let table = folder.read("a.ply", ASCII.as_bytes()).unwrap();
    assert_eq!(names(&table), ["x", "y", "z", "red"]);
    assert_eq!(numbers(&table), [0.0, 0.5, -1000.0, 3.0, 4.0, 5.0]);
    assert_eq!(table.columns[3].cells.as_slice::<u8>().unwrap(), [255, 7]);
    assert_eq!(table.left_out, ["1 of element face"]);
    let dos = ASCII.replace('\n', "\r\n");
    assert_eq!(numbers(&folder.read("a.PLY", dos.as_bytes()).unwrap()), numbers(&table));
    for big in [false, true] {
        let table = folder.read("b.ply", &binary(big)).unwrap();
        assert_eq!(names(&table), ["x", "y", "z", "kind"]);
        assert_eq!(numbers(&table), [0.0, 1.0, 2.0, 3.0, 4.0, 5.0]);
        assert_eq!(table.columns[3].cells.as_slice::<i32>().unwrap(), [-3, -3]);
        assert_eq!(table.left_out, ["the lists weights of the vertices", "2 of element strip"]);
    }
}

#[test]
fn texts_are_read_with_any_separator_names_and_counts() {
    let folder = Folder::new("text");
    let same = [1.0, 2.0, 3.0, 4.0, 5.0, 6.0];
    for (name, text) in [
        ("a.xyz", "1 2 3\n4 5 6\n"),
        ("a.txt", "# cloud\n\n1\t2\t3 // first\n 4;5;6"),
        ("a.csv", "x,y,z\n1,2,3\n4,5,6\n"),
        ("a.csv", "Z,X,Y\r\n3,1,2\r\n6,4,5\r\n"),
        ("a.pts", "2\n1 2 3\n4 5 6\n"),
    ] {
        assert_eq!(numbers(&folder.read(name, text.as_bytes()).unwrap()), same, "{text:?}");
    }
    let table = folder.read("a.xyz", b"1 2 3 9\n4 5 6 8\n").unwrap();
    assert_eq!(names(&table), ["x", "y", "z", "column-4"]);
    assert_eq!(numbers(&folder.read("a.xyz", b"1 2\n3 4\n").unwrap()), [1.0, 2.0, 3.0, 4.0]);
    assert_eq!(folder.read("a.xyz", b"# nothing\n").unwrap().points().unwrap().shape()[..], [0, 3]);
    let cases: [(&str, &[u8], &str); 6] = [
        ("a.xyz", b"1 2 3\n4 5\n", "2: expected 3 numbers: got 2"),
        ("a.xyz", b"1 2 3\n4 x 6\n", "2: expected a number: got \"x\""),
        ("a.xyz", b"1 2 3\n4 \xff 6\n", "2: not UTF-8"),
        ("a.csv", b"a,b,c\n1,2,3\n", "1: no column is named x"),
        ("a.pts", b"3\n1 2 3\n", "1: 3 points are announced: got 1"),
        ("a.pts", b"-1\n1 2 3\n", "1: expected the count of the points: got \"-1\""),
    ];
    for (name, bytes, wanted) in cases {
        let e = folder.error(name, bytes);
        assert!(e.message().ends_with(&format!("{name}:{wanted}")), "{e}");
        assert_eq!(e.kind(), ErrorKind::Format);
    }
}

#[test]
fn las_points_are_scaled_and_moved_in_f64() {
    let folder = Folder::new("las");
    let table = folder.read("a.las", &las(3)).unwrap();
    assert_eq!(names(&table), ["x", "y", "z", "intensity", "class"]);
    assert_eq!(numbers(&table)[3..6], [1000.01, 1000.02, 1000.03]);
    assert_eq!(table.columns[3].cells.as_slice::<i32>().unwrap(), [261; 3]);
    assert_eq!(table.columns[4].cells.as_slice::<u8>().unwrap(), [2; 3]);
    let with = |at: usize, value: &[u8]| {
        let mut bytes = las(3);
        bytes[at..at + value.len()].copy_from_slice(value);
        folder.error("a.las", &bytes).message().to_string()
    };
    let many = u32::MAX.to_le_bytes();
    assert!(with(107, &many).contains("4294967295 points are announced: the file has room for 3"));
    assert!(with(96, &many).contains("the points begin at byte 4294967295 of 287"));
    assert!(with(104, &[0x80]).contains("packed points are not read"));
    assert!(with(104, &[11]).contains("expected a point format of 0 to 10: got 11"));
    assert!(with(105, &[0, 0]).contains("points of format 0 take 20 bytes: got 0"));
    assert!(with(24, &[2]).contains("expected version 1.0 to 1.4: got 2.2"));
    assert!(with(131, &f64::NAN.to_le_bytes()).contains("a scale or an offset is NaN"));
    assert!(folder.error("a.laz", &las(3)).hint_text().unwrap().contains("unpack it first"));
}

/// What a table is as a file, and that file read.
fn written(folder: &Folder, table: &Table, ending: &str) -> (Vec<u8>, Table) {
    let mut bytes = Vec::new();
    table.write(ending, &mut bytes).unwrap();
    let read = folder.read(&format!("written{ending}"), &bytes).unwrap();
    (bytes, read)
}

/// Chosen points of a las file keep every byte, and the header counts and bounds those that are there.
#[test]
fn las_of_version_4_counts_in_64_bits_and_says_what_other_files_do_not_keep() {
    let folder = Folder::new("las-4");
    let plain = las(2);
    let mut bytes = plain[..227].to_vec();
    bytes.resize(375, 0);
    (bytes[25], bytes[104], bytes[105]) = (4, 6, 30);
    bytes[94..96].copy_from_slice(&375u16.to_le_bytes());
    bytes[96..100].copy_from_slice(&375u32.to_le_bytes());
    bytes[107..111].fill(0);
    bytes[247..255].copy_from_slice(&2u64.to_le_bytes());
    for point in plain[227..].chunks(20) {
        bytes.extend(&point[..14]);
        // Two bytes of returns, then the class.
        bytes.extend([0, 0, 9]);
        bytes.extend([0; 13]);
    }
    let table = folder.read("a.las", &bytes).unwrap();
    assert_eq!(numbers(&table), [1000.0, 1000.0, 1000.0, 1000.01, 1000.02, 1000.03]);
    assert_eq!(table.columns[4].cells.as_slice::<u8>().unwrap(), [9; 2]);
    let note = "10 bytes of each point (time, colours and others), which only .las output keeps";
    assert_eq!(table.left_out, [note]);
    assert!(folder.read("b.las", &plain).unwrap().left_out.is_empty());
    bytes[247..255].copy_from_slice(&u64::MAX.to_le_bytes());
    let text = folder.error("a.las", &bytes).message().to_string();
    assert!(
        text.contains("18446744073709551615 points are announced: the file has room for 2"),
        "{text}"
    );
}

#[test]
fn las_points_are_written_as_they_came() {
    let folder = Folder::new("las-out");
    let mut bytes = las(5);
    // A record of 23 bytes: three that only the writer of the file knows.
    let points = bytes.split_off(227);
    bytes[105] = 23;
    for (i, point) in points.chunks(20).enumerate() {
        bytes.extend(point);
        bytes.extend([i as u8, 7, 9]);
    }
    let table = folder.read("a.las", &bytes).unwrap();
    let (out, read) = written(&folder, &table.chosen(&[3, 0]).unwrap(), ".las");
    assert_eq!(numbers(&read), [1000.03, 1000.06, 1000.09, 1000.0, 1000.0, 1000.0]);
    assert_eq!(out[227..250], bytes[227 + 3 * 23..227 + 4 * 23]);
    assert_eq!(out[250..], bytes[227..250]);
    assert_eq!(out[107..115], [2, 0, 0, 0, 0, 0, 0, 0]);
    let bound = |at: usize| f64::from_le_bytes(out[at..at + 8].try_into().unwrap());
    assert_eq!([179, 187, 195, 203].map(bound), [1000.03, 1000.0, 1000.06, 1000.0]);
    let (whole, _) = written(&folder, &table, ".las");
    assert_eq!(whole[227..], bytes[227..]);
}

#[test]
fn other_points_are_rounded_to_a_power_of_ten_in_las() {
    let folder = Folder::new("las-made");
    let text =
        b"x,y,z,intensity,red,green,blue\n-0.1234567891,5e5,1e-9,65535,1,2,3\n2,4,6,1,7,8,9\n";
    let (_, read) = written(&folder, &folder.read("a.csv", text).unwrap(), ".las");
    let found = numbers(&read);
    let wanted = [-0.1234567891, 5e5, 1e-9, 2.0, 4.0, 6.0];
    // The finest step of which 31 bits reach across 3, 5e5 and 6.
    let near = [1e-8, 1e-3, 1e-8, 1e-8, 1e-3, 1e-8];
    for ((found, wanted), near) in found.iter().zip(wanted).zip(near) {
        assert!((found - wanted).abs() <= near / 2.0 + 1e-15, "{found} {wanted}");
    }
    assert_eq!(read.columns[3].cells.as_slice::<i32>().unwrap(), [65_535, 1]);
    for (column, x, most) in
        [("intensity", "0.25", 65535), ("class", "32", 31), ("intensity", "-1", 65535)]
    {
        let text = format!("x,y,z,{column}\n1,2,3,4\n1,2,3,{x}\n");
        let table = folder.read("d.csv", text.as_bytes()).unwrap();
        let e = table.write(".las", &mut Vec::new()).unwrap_err();
        let wanted =
            format!("a .las file holds {column} as whole numbers from 0 to {most}: got {x}");
        assert_eq!(e.message(), wanted);
    }
    let none = folder.read("b.csv", b"x,y,z,a\n1,2,3,4\n").unwrap();
    let e = none.write(".las", &mut Vec::new()).unwrap_err();
    assert_eq!(e.message(), "a .las file has no place for the column a");
    let flat = folder.read("c.csv", b"1,2\n3,4\n").unwrap();
    let e = flat.write(".las", &mut Vec::new()).unwrap_err();
    assert_eq!(e.message(), "a .las file has x, y and z: a column is missing");
}

#[test]
fn ply_headers_that_lie() {
    let folder = Folder::new("lies");
    let head = |middle: &str| format!("ply\nformat ascii 1.0\n{middle}end_header\n");
    let xyz = "property float x\nproperty float y\nproperty float z\n";
    let cases = [
        ("plx\n".to_string(), "expected a ply file: it does not begin with the line ply"),
        ("ply\n".into(), "the header has no end"),
        ("ply\nend_header\n".into(), "no line says the format"),
        (head("").replace("1.0", "2.0"), "expected version 1.0: got 2.0"),
        (head("").replace("ascii", "text"), "an unknown format: \"text\""),
        (head(""), "there is no element vertex"),
        (head("element vertex -1\n"), "the count of element vertex is no size: -1"),
        (head("property float x\n"), "a property before any element"),
        (head("element vertex 1\nproperty half x\n"), "an unknown type: \"half\""),
        (
            head("element vertex 1\nproperty float x\nproperty int x\n"),
            "the property x stands twice",
        ),
        (head("element vertex 1\nproperty list float int x\n"), "a list whose count is no integer"),
        (
            head("element vertex 1\nproperty float x\n"),
            "the vertices have no properties x, y and z",
        ),
        (head("nonsense\n"), "a line of the header that means nothing: \"nonsense\""),
        (
            head(&format!("element vertex 1000000000000\n{xyz}")),
            "1000000000000 of element vertex take 6000000000000 bytes or more: the file has 1 left",
        ),
        (
            head(&format!("element face 9\nproperty list int int i\nelement vertex 1\n{xyz}")),
            "9 of element face take 18 bytes or more: the file has 1 left",
        ),
        (
            head(&format!("element vertex 1\n{xyz}")) + "1 2 x\n",
            "expected a number of type float: got \"x\"",
        ),
        (
            head(&format!("element face 1\nproperty list int int i\nelement vertex 1\n{xyz}"))
                + "-1 1 2 3\n",
            "a list of -1 items",
        ),
        (
            head(&format!("element face 1\nproperty list int int i\nelement vertex 1\n{xyz}"))
                + "1000000000 1 2 3\n",
            "the file ends too early",
        ),
    ];
    for (text, wanted) in cases {
        let e = folder.error("a.ply", text.as_bytes());
        let place = e.file().unwrap();
        assert_eq!(place.reason, wanted, "{text}");
        assert!(place.offset.is_some(), "{text}");
    }
    // Elements without a property take no time, however many.
    let none = head(&format!("element ghost 18446744073709551615\nelement vertex 0\n{xyz}"));
    assert_eq!(folder.read("a.ply", none.as_bytes()).unwrap().rows(), 0);
    let list = binary(false);
    let cut = &list[..list.len() - 1];
    assert_eq!(folder.error("a.ply", cut).file().unwrap().reason, "the file ends too early");
}

/// A small file of each format.
fn samples(folder: &Folder) -> Vec<(&'static str, Vec<u8>)> {
    let table = folder.read("s.ply", ASCII.as_bytes()).unwrap();
    let mut npy = Vec::new();
    table.write(".npy", &mut npy).unwrap();
    vec![
        ("a.ply", ASCII.into()),
        ("b.ply", binary(false)),
        ("c.ply", binary(true)),
        ("a.las", las(5)),
        ("a.pcd", pcd("ascii")),
        ("b.pcd", pcd("binary")),
        ("c.pcd", pcd("binary_compressed")),
        ("z.ply.gz", gzip(ASCII.as_bytes())),
        ("z.npy.gz", gzip(&npy)),
        ("a.npy", npy),
        ("a.xyz", b"1 2 3\n-4.5e1 5 6\n0.1 0.2 0.3\n".to_vec()),
        ("a.pts", b"2\n1 2 3\n4 5 6\n".to_vec()),
        ("a.csv", b"x,y,z,red\n1,2,3,4\n5,6,7,8\n".to_vec()),
    ]
}

#[test]
fn a_file_cut_off_at_any_byte_gives_an_error_or_fewer_points() {
    let folder = Folder::new("cut");
    for (name, bytes) in samples(&folder) {
        let whole = folder.read(name, &bytes).unwrap().rows();
        for length in 0..bytes.len() {
            match folder.read(name, &bytes[..length]) {
                Ok(table) => assert!(table.rows() <= whole, "{name} cut to {length} bytes"),
                Err(e) => assert_eq!(e.kind(), ErrorKind::Format, "{name} cut to {length}: {e}"),
            }
        }
    }
}

/// xorshift64*.
struct Random(u64);

impl Random {
    fn below(&mut self, limit: usize) -> usize {
        self.0 ^= self.0 >> 12;
        self.0 ^= self.0 << 25;
        self.0 ^= self.0 >> 27;
        (self.0.wrapping_mul(0x2545_F491_4F6C_DD1D) >> 33) as usize % limit.max(1)
    }
}

#[test]
fn a_file_broken_at_random_gives_an_error_or_points() {
    let seed = std::env::var("SEED").ok().and_then(|seed| seed.parse().ok()).unwrap_or(20_261_201);
    println!("SEED={seed}");
    let mut random = Random(seed);
    let folder = Folder::new("broken");
    for (name, bytes) in samples(&folder) {
        let mut refused = 0;
        for _ in 0..1200 {
            let mut broken = bytes.clone();
            for _ in 0..=random.below(4) {
                let at = random.below(broken.len());
                match random.below(3) {
                    0 => broken[at] = random.below(256) as u8,
                    1 => drop(broken.remove(at)),
                    _ => broken.insert(at, b"0123456789-. \n"[random.below(14)]),
                }
            }
            match folder.read(name, &broken) {
                Ok(table) => assert!(table.points().is_ok(), "{name}"),
                Err(e) => {
                    refused += 1;
                    let known = matches!(e.kind(), ErrorKind::Format | ErrorKind::Memory);
                    assert!(known, "{name}: {e}");
                }
            }
        }
        println!("{name}: {refused} of 1200 refused");
        assert!(refused > 100, "{name}: {refused}");
    }
}

#[test]
fn what_is_written_is_read_again() {
    let folder = Folder::new("again");
    for (name, bytes) in samples(&folder) {
        let table = folder.read(name, &bytes).unwrap();
        // A las file has no place for every column, and rounds: its own tests are above.
        for ending in WRITTEN.iter().filter(|ending| **ending != ".las" || name == "a.las") {
            let mut written = Vec::new();
            table.write(ending, &mut written).unwrap();
            // A count line is what only we would have to know.
            let ending = if *ending == ".pts" { ".xyz" } else { ending };
            let again = folder.read(&format!("again{ending}"), &written).unwrap();
            assert_eq!(numbers(&again), numbers(&table), "{name} as {ending}");
            assert_eq!(again.columns.len(), table.columns.len(), "{name} as {ending}");
        }
    }
}

#[test]
fn what_no_reader_takes_is_said() {
    let e = read(Path::new("cloud.obj")).unwrap_err();
    assert!(e.message().contains("a cloud's name ends with one of .ply .xyz"), "{e}");
    for ending in READ.iter().filter(|ending| ![".laz", ".bin", ".bin.gz"].contains(ending)) {
        let path = format!("/no/such/cloud{ending}");
        assert_eq!(read(Path::new(&path)).unwrap_err().kind(), ErrorKind::File, "{ending}");
    }
    let folder = Folder::new("none");
    std::os::unix::fs::symlink("/dev/zero", folder.0.join("zero.ply")).unwrap();
    assert_eq!(read(&folder.0.join("zero.ply")).unwrap_err().kind(), ErrorKind::File);
}
