//! `safetensors` files: named tensors behind a JSON header, and models that are spread over several
//! of them by an index (`model.safetensors.index.json`).
//!
//! A header is checked whole before anything is read: tensors lie inside the file, apart from each
//! other and without gaps, and have the length of their type and shape. A type that no element
//! type of ours holds is listed, and refused by name only when its tensor is read. `write` orders
//! and pads as the format's own library does, and gives its bytes.

mod header;

use crate::elements::{self, Cells, Stored};
use crate::input::Input;
use crate::json::Json;
use crate::room::reserve;
use header::Header;
use rung_array::Array;
use rung_base::{ElementType, Error, ErrorKind, Result, Shape};
use std::collections::HashMap;
use std::io::Write;
use std::path::{Path, PathBuf};

/// One tensor of a file or model.
#[derive(Clone, Debug, PartialEq)]
pub struct Entry {
    pub name: String,
    /// The type as the file names it: `BF16`.
    pub type_name: String,
    pub shape: Shape,
    /// Where its bytes begin and end, from the start of the file.
    pub begin: u64,
    pub end: u64,
    /// Which of `Tensors::files` it is in.
    pub file: usize,
}

/// The tensors of a file or of a model; none is read until asked for.
#[derive(Debug)]
pub struct Tensors {
    pub files: Vec<PathBuf>,
    /// In the order of the header, or of the index.
    pub entries: Vec<Entry>,
    /// The header, or the index, as it stands.
    pub header: Json,
}

impl Tensors {
    /// Opens a file, or a model by its index (a path that ends in `.json`).
    pub fn open(path: &Path) -> Result<Tensors> {
        if path.extension().is_some_and(|end| end.eq_ignore_ascii_case("json")) {
            return Tensors::open_index(path);
        }
        let Header { json, entries } = Header::read(&mut Input::open(path)?, 0)?;
        Ok(Tensors { files: vec![path.to_path_buf()], entries, header: json })
    }

    fn open_index(path: &Path) -> Result<Tensors> {
        let mut input = Input::open(path)?;
        let text = input.bytes(input.length, "the index")?;
        let wrong = |text: String| Error::in_data_file(path, None, text);
        let index = Json::parse(&text).map_err(|e| wrong(format!("no JSON: {e}")))?;
        let map = index.get("weight_map").and_then(Json::entries);
        let map = map.ok_or_else(|| wrong("the index has no object \"weight_map\"".into()))?;
        let (mut files, mut known, mut entries) = (Vec::new(), HashMap::new(), Vec::new());
        for (tensor, file) in map {
            let file = file.text().unwrap_or_default();
            if !is_plain(file) {
                let text = format!("tensor {tensor:?} is in no file beside the index: {file:?}");
                return Err(wrong(text));
            }
            if !known.contains_key(file) {
                let shard = path.with_file_name(file);
                let header = Header::read(&mut Input::open(&shard)?, files.len())?;
                let tensors = header.entries.into_iter().map(|e| (e.name.clone(), e));
                known.insert(file, tensors.collect::<HashMap<_, _>>());
                files.push(shard);
            }
            let entry = known.get_mut(file).and_then(|tensors| tensors.remove(tensor));
            let missing = || wrong(format!("tensor {tensor:?} is not in {file}"));
            entries.push(entry.ok_or_else(missing)?);
        }
        Ok(Tensors { files, entries, header: index })
    }

    /// Reads tensors, at `element_type` if one is given; each file is opened once and read
    /// forwards.
    pub fn read(
        &self,
        entries: &[&Entry],
        element_type: Option<ElementType>,
    ) -> Result<Vec<Array>> {
        let mut order: Vec<usize> = (0..entries.len()).collect();
        order.sort_by_key(|&i| (entries[i].file, entries[i].begin));
        let mut arrays: Vec<Option<Array>> = vec![None; entries.len()];
        let mut open: Option<(usize, Input)> = None;
        for i in order {
            let entry = entries[i];
            if open.as_ref().is_none_or(|(file, _)| *file != entry.file) {
                open = Some((entry.file, Input::open(&self.files[entry.file])?));
            }
            if let Some((_, input)) = &mut open {
                arrays[i] = Some(read_one(input, entry, element_type)?);
            }
        }
        Ok(arrays.into_iter().flatten().collect())
    }

    /// The texts that the header keeps beside the tensors.
    pub fn metadata(&self) -> Vec<(String, String)> {
        let entries = self.header.get(header::METADATA).and_then(Json::entries).unwrap_or(&[]);
        let texts = entries.iter().filter_map(|(key, value)| Some((key, value.text()?)));
        texts.map(|(key, value)| (key.clone(), value.to_string())).collect()
    }
}

/// A file name without a folder: an index says nothing about files elsewhere.
fn is_plain(file: &str) -> bool {
    Path::new(file).file_name().is_some_and(|name| name == file) && !file.contains(['/', '\\'])
}

fn read_one(input: &mut Input, entry: &Entry, to: Option<ElementType>) -> Result<Array> {
    let stored = Stored::of_safetensors(&entry.type_name).ok_or_else(|| {
        let text = format!("tensor {:?} has type {}, not read", entry.name, entry.type_name);
        let types = "F64 F32 BF16 F16 I64 I32 I16 I8 U64 U32 U16 U8 BOOL";
        input.wrong(entry.begin, text).hint(format!("types that are read: {types}"))
    })?;
    // The file may have changed since its header was read.
    if entry.end > input.length {
        return Err(input.wrong(entry.begin, format!("tensor {:?} ends too early", entry.name)));
    }
    input.seek(entry.begin)?;
    let cells = Cells { stored, big_endian: false, shape: entry.shape.clone() };
    let single = to == Some(ElementType::F32);
    let array = if single { cells.read_as_single(input) } else { cells.read(input) };
    let array = array.map_err(|e| e.at(entry.begin, &input.place()))?;
    match to {
        Some(to) if to != array.element_type() => array.convert(to),
        _ => Ok(array),
    }
}

/// Writes named tensors, and texts beside them.
pub fn write(
    tensors: &[(String, Array)],
    metadata: &[(String, String)],
    path: &Path,
) -> Result<()> {
    let mut order: Vec<&(String, Array)> = tensors.iter().collect();
    // Wide cells first, so that each tensor begins at a multiple of its cell's size.
    order.sort_by(|(a, x), (b, y)| {
        let place = |array: &Array| WRITTEN.iter().position(|t| *t == array.element_type());
        (place(x), a).cmp(&(place(y), b))
    });
    let mut names: Vec<&str> = order.iter().map(|(name, _)| name.as_str()).collect();
    names.sort_unstable();
    match names.windows(2).find(|pair| pair[0] == pair[1]) {
        Some(pair) => {
            let text = format!("two tensors have the name {:?}", pair[0]);
            return Err(Error::new(ErrorKind::Argument, text));
        }
        None if names.contains(&header::METADATA) => {
            let text = format!("no tensor may have the name {}", header::METADATA);
            return Err(Error::new(ErrorKind::Argument, text));
        }
        None => {}
    }
    let header = header::text(&order, metadata);
    let bytes = |array: &Array| (array.size() * array.element_type().size()) as u64;
    let length = header.len() as u64 + order.iter().map(|(_, array)| bytes(array)).sum::<u64>();
    rung_base::file::replace(path, |out| {
        reserve(out.get_ref(), length)?;
        out.write_all(&header)?;
        order.iter().try_for_each(|(_, array)| elements::write(array, out))
    })
}

/// The order of types in a file that the format's library writes.
const WRITTEN: [ElementType; 8] = {
    use ElementType as E;
    [E::I64, E::F64, E::F32, E::I32, E::BF16, E::F16, E::U8, E::Bool]
};
