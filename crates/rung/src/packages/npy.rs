//! Packages `npy` and `npz`: NumPy's files of one array and of several.

use super::arguments::{keywords, named_arrays, table_of_arrays};
use super::linalg::{array_argument, output_path, path_argument};
use rung_files::{npy, npz};
use rung_lisp::lisp::Lisp;
use rung_lisp::native::{Native, native};
use rung_lisp::{Escape, Outcome, Value};
use std::path::Path;

pub const FUNCTIONS: &[Native] = &[
    native(
        "npy:read",
        "path &key mmap",
        "Reads the array of an npy file (versions 1.0 to 3.0, either byte order, C or Fortran \
         order). int8, int16 and uint16 become (signed-byte 32), uint32 and uint64 (signed-byte \
         64), all exactly; cells that are no real numbers are refused by name. MMAP is accepted: \
         the file is read, once and straight into the array, either way.\n\
         Result: an array.\n\
         Example: (npy:read \"weights.npy\")",
        read,
    ),
    native(
        "npy:write",
        "array path",
        "Writes an array of any rank and element type as an npy file, whole or not at all. \
         bfloat16, which NumPy does not have, is written as float32, which holds its values.\n\
         Result: the path.\n\
         Example: (npy:write #d((1 2) (3 4)) \"matrix.npy\")",
        write,
    ),
    native(
        "npz:read",
        "path",
        "Reads all arrays of an npz file, deflated or not, and checks their checksums. A member \
         that is no npy file is read as its bytes.\n\
         Result: an equal hash table from name to array, in the file's order.\n\
         Example: (gethash \"weights\" (npz:read \"model.npz\"))",
        read_archive,
    ),
    native(
        "npz:write",
        "table path &key compress",
        "Writes the arrays of a hash table from names to arrays as an npz file, whole or not at \
         all; deflated when COMPRESS is true. The same arrays give the same bytes.\n\
         Result: the path.\n\
         Example: (npz:write table \"model.npz\" :compress t)",
        write_archive,
    ),
];

fn read(lisp: &mut Lisp, arguments: &[Value]) -> Outcome {
    let path = path_argument("npy:read", &arguments[0])?;
    let [_mmap] = keywords(lisp, &arguments[1..], ["MMAP"])?;
    let array = npy::read(Path::new(&path)).map_err(|e| e.in_package("npy"))?;
    Ok(Value::packed(array))
}

fn write(lisp: &mut Lisp, arguments: &[Value]) -> Outcome {
    let array = array_argument(lisp, "npy:write", &arguments[0])?;
    let path = output_path(lisp, "npy:write", &arguments[1])?;
    npy::write(&array, Path::new(&path)).map_err(|e| e.in_package("npy"))?;
    Ok(arguments[1].clone())
}

fn read_archive(_: &mut Lisp, arguments: &[Value]) -> Outcome {
    let path = path_argument("npz:read", &arguments[0])?;
    let arrays = npz::read(Path::new(&path)).map_err(|e| e.in_package("npz"))?;
    Ok(table_of_arrays(arrays))
}

fn write_archive(lisp: &mut Lisp, arguments: &[Value]) -> Outcome {
    let arrays = named_arrays(lisp, "npz:write", &arguments[0])?;
    let path = output_path(lisp, "npz:write", &arguments[1])?;
    let [compress] = keywords(lisp, &arguments[2..], ["COMPRESS"])?;
    let written = npz::write(&arrays, Path::new(&path), compress.is_some());
    written.map_err(|e| Escape::from(e.in_package("npz")))?;
    Ok(arguments[1].clone())
}
