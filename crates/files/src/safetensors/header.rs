//! The header of a safetensors file: eight bytes with its length, then a JSON object from tensor
//! name to type, shape and place of its bytes behind the header; `__metadata__` has texts.

use super::Entry;
use crate::elements::Stored;
use crate::input::Input;
use crate::json::Json;
use rung_array::Array;
use rung_base::{Result, Shape};
use serde_json::Value;

pub const METADATA: &str = "__metadata__";
/// The format's own library takes no longer header.
const LONGEST: u64 = 100_000_000;
const LENGTH_BYTES: u64 = 8;

/// A header that has been checked against its file.
pub struct Header {
    pub json: Json,
    pub entries: Vec<Entry>,
}

impl Header {
    /// `file` is the number that entries give as theirs.
    pub fn read(input: &mut Input, file: usize) -> Result<Header> {
        let length = input.bytes(LENGTH_BYTES, "the length of the header")?;
        let length = length.try_into().map_or(u64::MAX, u64::from_le_bytes);
        if length > LONGEST.min(input.length - LENGTH_BYTES) {
            let left = input.length - LENGTH_BYTES;
            let text = format!(
                "expected a safetensors file: its first 8 bytes announce a header of {length} \
                 bytes, and {left} follow"
            );
            return Err(input.wrong(0, text));
        }
        let text = input.bytes(length, "the header")?;
        let json = Json::parse(&text);
        let json = json.map_err(|e| input.wrong(LENGTH_BYTES, format!("the header: {e}")))?;
        let Some(object) = json.entries() else {
            return Err(input.wrong(LENGTH_BYTES, "the header is no JSON object"));
        };
        let wrong = |text: String| input.wrong(LENGTH_BYTES, text);
        let begin = LENGTH_BYTES + length;
        let mut entries = Vec::with_capacity(object.len());
        for (name, value) in object {
            if name == METADATA {
                are_texts(value).map_err(wrong)?;
                continue;
            }
            let entry = entry(name, value, begin, input.length, file);
            entries.push(entry.map_err(|text| wrong(format!("tensor {name:?}: {text}")))?);
        }
        cover(&entries, begin, input.length).map_err(wrong)?;
        Ok(Header { entries, json })
    }
}

fn are_texts(metadata: &Json) -> std::result::Result<(), String> {
    let entries = metadata.entries();
    match entries.is_some_and(|entries| entries.iter().all(|(_, v)| v.text().is_some())) {
        true => Ok(()),
        false => Err(format!("{METADATA} is no object of texts")),
    }
}

fn entry(
    name: &str,
    value: &Json,
    data: u64,
    length: u64,
    file: usize,
) -> std::result::Result<Entry, String> {
    let type_name = value.get("dtype").and_then(Json::text).ok_or("it has no \"dtype\"")?;
    let sizes = |key: &str| -> std::result::Result<Vec<u64>, String> {
        let list = value.get(key).and_then(Json::list).ok_or(format!("it has no list {key:?}"))?;
        let sizes: Option<Vec<u64>> = list.iter().map(Json::size).collect();
        sizes.ok_or(format!("{key:?} is no list of sizes"))
    };
    if value.entries().is_some_and(|entries| entries.len() > 3) {
        return Err("it has more than \"dtype\", \"shape\" and \"data_offsets\"".into());
    }
    let extents = sizes("shape")?.into_iter().map(|n| usize::try_from(n).unwrap_or(usize::MAX));
    let shape = Shape::new(extents).map_err(|e| e.message().to_string())?;
    let offsets = sizes("data_offsets")?;
    let &[from, to] = offsets.as_slice() else {
        return Err("\"data_offsets\" is no pair".into());
    };
    if from > to || to > length - data {
        let left = length - data;
        return Err(format!("bytes {from} to {to} are not in the {left} behind the header"));
    }
    if let Some(stored) = Stored::of_safetensors(type_name) {
        let wanted = stored.bytes_of(&shape);
        if wanted != to - from {
            let text = format!("{type_name} cells of shape {shape} take {wanted} bytes: got ");
            return Err(text + &(to - from).to_string());
        }
    }
    let (name, type_name) = (name.to_string(), type_name.to_string());
    Ok(Entry { name, type_name, shape, begin: data + from, end: data + to, file })
}

/// Tensors lie one behind another and fill the file: bytes that belong to two or to none hide
/// something.
fn cover(entries: &[Entry], begin: u64, length: u64) -> std::result::Result<(), String> {
    let mut order: Vec<&Entry> = entries.iter().collect();
    order.sort_by_key(|entry| (entry.begin, entry.end));
    let mut reached = begin;
    for entry in order {
        if entry.begin < reached {
            return Err(format!("tensor {:?} lies over another", entry.name));
        }
        if entry.begin > reached {
            return Err(format!(
                "{} bytes before {:?} are no tensor's",
                entry.begin - reached,
                entry.name
            ));
        }
        reached = entry.end;
    }
    match length - reached {
        0 => Ok(()),
        more => Err(format!("the last {more} bytes are no tensor's")),
    }
}

/// The header of tensors that are going to be written in this order.
pub fn text(tensors: &[&(String, Array)], metadata: &[(String, String)]) -> Vec<u8> {
    let quoted = |text: &str| Value::from(text).to_string();
    let mut entries = Vec::with_capacity(tensors.len() + 1);
    if !metadata.is_empty() {
        let texts = metadata.iter().map(|(key, text)| format!("{}:{}", quoted(key), quoted(text)));
        let texts: Vec<String> = texts.collect();
        entries.push(format!("\"{METADATA}\":{{{}}}", texts.join(",")));
    }
    let mut begin = 0;
    for (name, array) in tensors {
        let stored = Stored::of(array.element_type());
        let end = begin + stored.bytes_of(array.shape());
        let extents: Vec<String> = array.shape().iter().map(ToString::to_string).collect();
        entries.push(format!(
            "{}:{{\"dtype\":\"{}\",\"shape\":[{}],\"data_offsets\":[{begin},{end}]}}",
            quoted(name),
            stored.safetensors(),
            extents.join(",")
        ));
        begin = end;
    }
    let mut text = format!("{{{}}}", entries.join(","));
    // So that the data begins at a multiple of 8.
    text.push_str(&" ".repeat(text.len().next_multiple_of(8) - text.len()));
    let mut bytes = (text.len() as u64).to_le_bytes().to_vec();
    bytes.extend(text.as_bytes());
    bytes
}
