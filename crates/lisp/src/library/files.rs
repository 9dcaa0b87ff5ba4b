//! `open`: what a file is opened for, and what becomes of one that is there.

use std::io::{BufReader, BufWriter, Seek, SeekFrom};

use crate::condition::Outcome;
use crate::lisp::Lisp;
use crate::native::keywords;
use crate::object::Object;
use crate::stream::{Stream, StreamKind};
use crate::stream_both::BothWays;
use crate::symbol;
use crate::value::{NIL, Value};

use super::loading::cannot_open;
use super::streams::path_of;

/// Whether `:element-type` asks for bytes: `(unsigned-byte 8)`, `unsigned-byte`, `integer`...
fn is_bytes(kind: &Value) -> bool {
    let head = kind.as_cons().map_or_else(|| kind.clone(), |pair| pair.car());
    [symbol::UNSIGNED_BYTE, symbol::SIGNED_BYTE, symbol::INTEGER, symbol::BIT, symbol::MOD]
        .iter()
        .any(|name| head.is_symbol(*name))
}

pub(super) fn open(lisp: &mut Lisp, a: &[Value]) -> Outcome {
    let path = path_of(lisp, "open", &a[0])?;
    let external = lisp.intern(crate::package::KEYWORD, "EXTERNAL-FORMAT");
    let names = [
        symbol::KEY_DIRECTION,
        symbol::KEY_IF_EXISTS,
        symbol::KEY_IF_DOES_NOT_EXIST,
        symbol::KEY_ELEMENT_TYPE,
        external,
    ];
    let [direction, if_exists, if_missing, element_type, _] = keywords(lisp, &a[1..], names)?;
    let binary = element_type.is_some_and(|kind| is_bytes(&kind));
    let direction = direction.and_then(|value| value.as_symbol());
    let failed = |error: std::io::Error| cannot_open(&path, &error);
    let missing = if_missing.as_ref();
    let named = |kind| {
        let stream = Stream { name: path.as_str().into(), ..Stream::new(kind) };
        stream.binary.set(binary);
        Value::object(Object::Stream(stream))
    };
    match direction.unwrap_or(symbol::KEY_INPUT) {
        symbol::KEY_IO => open_both(&path, if_exists, missing).map(|file| match file {
            Some(file) => named(StreamKind::Both(Box::new(BothWays::new(file)))),
            None => NIL,
        }),
        symbol::KEY_INPUT | symbol::KEY_PROBE => {
            let file = match std::fs::File::open(&path) {
                Ok(file) => file,
                Err(error) => {
                    let quiet = missing.is_some_and(Value::is_nil)
                        && error.kind() == std::io::ErrorKind::NotFound;
                    return if quiet { Ok(NIL) } else { Err(failed(error)) };
                }
            };
            if file.metadata().is_ok_and(|facts| facts.is_dir()) {
                return Err(failed(std::io::ErrorKind::IsADirectory.into()));
            }
            let source = Box::new(BufReader::new(file));
            Ok(named(StreamKind::Input { source, characters: Vec::new(), position: 0 }))
        }
        _ => {
            // Writing to a device or a pipe replaces nothing.
            let exists = std::fs::metadata(&path).is_ok_and(|facts| facts.is_file());
            let how = if_exists.unwrap_or(Value::symbol(symbol::KEY_ERROR));
            let mut options = std::fs::OpenOptions::new();
            options.write(true).create(!missing.is_some_and(|m| m.is_symbol(symbol::KEY_ERROR)));
            match how.as_symbol() {
                Some(symbol::KEY_APPEND) => options.append(true),
                Some(symbol::NIL) if exists => return Ok(NIL),
                Some(symbol::KEY_ERROR) if exists => {
                    let exists = failed(std::io::ErrorKind::AlreadyExists.into());
                    return Err(
                        exists.hint(":if-exists :supersede replaces it, :append adds to it")
                    );
                }
                Some(symbol::KEY_OVERWRITE) => &mut options,
                _ => options.truncate(true),
            };
            let file = options.open(&path).map_err(failed)?;
            Ok(named(StreamKind::Output(Box::new(BufWriter::new(file)))))
        }
    }
}

/// The file of a stream that reads and writes; none where the program says that nil will do.
fn open_both(
    path: &str,
    if_exists: Option<Value>,
    missing: Option<&Value>,
) -> Outcome<Option<std::fs::File>> {
    let failed = |error: std::io::Error| cannot_open(path, &error);
    let exists = std::fs::metadata(path).is_ok_and(|facts| facts.is_file());
    let how = if_exists.unwrap_or(Value::symbol(symbol::KEY_ERROR));
    let create = missing.is_none_or(|missing| missing.is_symbol(symbol::KEY_CREATE));
    let keep = [symbol::KEY_OVERWRITE, symbol::KEY_APPEND].iter().any(|name| how.is_symbol(*name));
    match how.as_symbol() {
        Some(symbol::NIL) if exists => return Ok(None),
        Some(symbol::KEY_ERROR) if exists => {
            let exists = failed(std::io::ErrorKind::AlreadyExists.into());
            return Err(exists.hint(":if-exists :overwrite changes it where the stream writes"));
        }
        _ if !exists && missing.is_some_and(Value::is_nil) => return Ok(None),
        _ => {}
    }
    let mut options = std::fs::OpenOptions::new();
    options.read(true).write(true).create(create).truncate(!keep);
    let mut file = options.open(path).map_err(failed)?;
    if how.is_symbol(symbol::KEY_APPEND) {
        file.seek(SeekFrom::End(0)).map_err(failed)?;
    }
    Ok(Some(file))
}
