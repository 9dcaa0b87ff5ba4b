//! `open`: what a file is opened for, and what becomes of one that is there. What the options mean is
//! in `file_options`.

use std::fs::{File, OpenOptions};
use std::io::{BufReader, BufWriter, ErrorKind, Seek, SeekFrom};
use std::path::{Path, PathBuf};

use rung_base::file::Replacement;

use crate::condition::{Escape, Outcome};
use crate::lisp::Lisp;
use crate::object::Object;
use crate::offer::Offer;
use crate::package::{CL, RUNG};
use crate::stream::{Opened, Stream, StreamKind, Unfinished};
use crate::stream_both::BothWays;
use crate::value::{NIL, Value};

use super::file_options::{Direction, IfExists, IfMissing, Request};
use super::loading::cannot_open;
use super::streams::path_of;

const RETRY: Offer = Offer { package: RUNG, name: "RETRY", report: "Try to open it again." };
const USE_PATH: Offer = Offer { package: CL, name: "USE-VALUE", report: "Open another file." };

pub(super) fn open(lisp: &mut Lisp, a: &[Value]) -> Outcome {
    let mut path = path_of(lisp, "open", &a[0])?;
    let request = Request::of(lisp, &a[1..])?;
    loop {
        let escape = match request.open(&path) {
            Ok(stream) => return Ok(stream),
            Err(escape) => escape,
        };
        let chosen = lisp.offer(escape, &[RETRY, USE_PATH])?;
        if let (1, Some(other)) = (chosen.number, chosen.arguments.first()) {
            path = path_of(lisp, "open", other)?;
        }
    }
}

impl Request {
    fn open(&self, path: &str) -> Outcome {
        let failed = |error: std::io::Error| cannot_open(path, &error);
        match self.direction {
            Direction::Probe => self.probe(path),
            Direction::Input => {
                let file = match File::open(path) {
                    Err(error) if error.kind() == ErrorKind::NotFound => match self.if_missing {
                        IfMissing::Nil => return Ok(NIL),
                        IfMissing::Error => return Err(failed(error)),
                        IfMissing::Create => created(path).map_err(failed)?,
                    },
                    file => file.map_err(failed)?,
                };
                if file.metadata().is_ok_and(|facts| facts.is_dir()) {
                    return Err(failed(ErrorKind::IsADirectory.into()));
                }
                let source = Box::new(BufReader::new(file));
                Ok(self.stream(path, StreamKind::Input { source, ahead: Box::default() }, None))
            }
            Direction::Output | Direction::Io => {
                let Some((file, unfinished)) = self.output(path)? else { return Ok(NIL) };
                let kind = match self.direction {
                    Direction::Io => StreamKind::Both(Box::new(BothWays::new(file))),
                    _ => StreamKind::Output(Box::new(BufWriter::new(file))),
                };
                Ok(self.stream(path, kind, unfinished))
            }
        }
    }

    fn stream(&self, path: &str, kind: StreamKind, unfinished: Option<Unfinished>) -> Value {
        Value::object(Object::Stream(Stream {
            name: path.into(),
            file: Box::new(Opened {
                coding: self.coding,
                elements: self.elements,
                unfinished: unfinished.into(),
            }),
            ..Stream::new(kind)
        }))
    }

    /// A closed stream for a file that is there.
    fn probe(&self, path: &str) -> Outcome {
        let failed = |error: std::io::Error| cannot_open(path, &error);
        match std::fs::metadata(path) {
            Err(error) if error.kind() == ErrorKind::NotFound => match self.if_missing {
                IfMissing::Nil => return Ok(NIL),
                IfMissing::Error => return Err(failed(error)),
                IfMissing::Create => drop(created(path).map_err(failed)?),
            },
            found => {
                found.map_err(failed)?;
            }
        }
        Ok(self.stream(path, StreamKind::Closed, None))
    }

    /// The file that takes output; none where the program says that nil will do.
    fn output(&self, path: &str) -> Outcome<Option<(File, Option<Unfinished>)>> {
        let failed = |error: std::io::Error| cannot_open(path, &error);
        let facts = std::fs::metadata(path);
        if facts.as_ref().is_ok_and(|facts| facts.is_dir()) {
            return Err(failed(ErrorKind::IsADirectory.into()));
        }
        let mut options = OpenOptions::new();
        options.write(true).read(self.direction == Direction::Io);
        if facts.is_err() {
            return match self.if_missing {
                IfMissing::Nil => Ok(None),
                IfMissing::Error => Err(failed(ErrorKind::NotFound.into())),
                IfMissing::Create => {
                    let file = options.create(true).truncate(true).open(path).map_err(failed)?;
                    let keeps = matches!(self.if_exists, IfExists::Append | IfExists::Overwrite);
                    Ok(Some((file, (!keeps).then(|| Unfinished::New(path.into())))))
                }
            };
        }
        // Writing to a device or a pipe replaces nothing.
        let is_file = facts.is_ok_and(|facts| facts.is_file());
        match self.if_exists {
            IfExists::Nil if is_file => Ok(None),
            IfExists::Error if is_file => Err(self.exists(path)),
            IfExists::Supersede | IfExists::Rename if is_file => self.replacing(path),
            IfExists::Append => {
                let mut file = match self.direction {
                    Direction::Io => options.open(path),
                    _ => options.append(true).open(path),
                }
                .map_err(failed)?;
                if is_file {
                    file.seek(SeekFrom::End(0)).map_err(failed)?;
                }
                Ok(Some((file, None)))
            }
            _ => Ok(Some((options.open(path).map_err(failed)?, None))),
        }
    }

    fn exists(&self, path: &str) -> Escape {
        let exists = cannot_open(path, &ErrorKind::AlreadyExists.into());
        exists.hint(match self.direction {
            Direction::Io => ":if-exists :overwrite changes it where the stream writes",
            _ => ":if-exists :supersede replaces it, :append adds to it",
        })
    }

    /// A new file beside the old one, which is as it was until the new one is closed.
    fn replacing(&self, path: &str) -> Outcome<Option<(File, Option<Unfinished>)>> {
        let failed = |error: std::io::Error| cannot_open(path, &error);
        // Whoever may not write the old file may not replace it.
        drop(OpenOptions::new().write(true).open(path).map_err(failed)?);
        let Some(replacement) = Replacement::of(Path::new(path)).map_err(failed)? else {
            let file = OpenOptions::new().append(true).open(path).map_err(failed)?;
            return Ok(Some((file, None)));
        };
        let file = replacement.file().try_clone().map_err(failed)?;
        let kept = match self.if_exists {
            IfExists::Rename => Some(PathBuf::from(format!("{path}.bak"))),
            _ => None,
        };
        Ok(Some((file, Some(Unfinished::Beside { replacement, kept }))))
    }
}

/// An empty file.
fn created(path: &str) -> std::io::Result<File> {
    OpenOptions::new().read(true).write(true).create(true).truncate(false).open(path)
}
