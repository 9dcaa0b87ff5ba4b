//! Zip archives, as much of them as npz files need: members stored or deflated, of any size (the
//! 64-bit records too). No encryption, no other method, no archive in several parts.
//!
//! A reader trusts the directory at the end of the file and checks it: members lie inside the file
//! and apart from each other, names stand once, sizes are ones that the method can reach, and the
//! checksum of every member that is read is compared. `directory` has the records of the format.

mod directory;

use crate::input::{Input, Place};
use directory::{Directory, LOCAL_BYTES};
pub use directory::{Member, Method};
use flate2::read::DeflateDecoder;
use flate2::write::DeflateEncoder;
use flate2::{Compression, Crc};
use rung_base::Result;
use std::io::{self, Read, Write};
use std::path::Path;

/// An archive that is being read.
pub struct Archive {
    input: Input,
    pub members: Vec<Member>,
}

impl Archive {
    pub fn open(path: &Path) -> Result<Archive> {
        let mut input = Input::open(path)?;
        let members = Directory::read(&mut input)?;
        Ok(Archive { input, members })
    }

    /// Hands the bytes of a member to `take`, which reads all of them, and checks them.
    pub fn read<R>(
        &mut self,
        index: usize,
        take: impl FnOnce(&mut dyn Read, u64, &Place) -> Result<R>,
    ) -> Result<R> {
        let member = &self.members[index];
        let begin = directory::data_of(&mut self.input, member)?;
        self.input.seek(begin)?;
        let path = self.input.path.clone();
        let place = Place { path: &path, member: Some(&member.name) };
        let packed = (&mut self.input).take(member.packed);
        let mut source: Box<dyn Read + '_> = match member.method {
            Method::Stored => Box::new(packed),
            Method::Deflated => Box::new(DeflateDecoder::new(packed)),
        };
        let mut checked = Checked { source: &mut *source, crc: Crc::new() };
        let taken = take(&mut checked, member.size, &place)?;
        let more = checked.read(&mut [0]).map_err(|e| place.failed(0, "the data", e))?;
        if more > 0 {
            return Err(place.wrong(0, format!("there are more than its {} bytes", member.size)));
        }
        let (sum, wanted) = (checked.crc.sum(), member.checksum);
        if sum != wanted {
            let text = format!("its bytes have the checksum {sum:08x}: {wanted:08x} is written");
            return Err(place.wrong(0, text));
        }
        Ok(taken)
    }
}

/// A source or sink that sums up what passes.
struct Checked<'a, T: ?Sized> {
    source: &'a mut T,
    crc: Crc,
}

impl<T: Read + ?Sized> Read for Checked<'_, T> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let count = self.source.read(buffer)?;
        self.crc.update(&buffer[..count]);
        Ok(count)
    }
}

impl<T: Write + ?Sized> Write for Checked<'_, T> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let count = self.source.write(bytes)?;
        self.crc.update(&bytes[..count]);
        Ok(count)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.source.flush()
    }
}

/// A member to write: its name, its length, and what writes its bytes. It may be asked twice.
pub struct Content<'a> {
    pub name: &'a str,
    pub size: u64,
    pub write: &'a dyn Fn(&mut dyn Write) -> io::Result<()>,
}

/// Writes an archive of the contents, front to back: nothing is written over, so `out` may be a
/// pipe. A stored member is read once for its checksum and once to be written; a deflated one is
/// deflated in memory first, since its length stands before it.
pub fn write(out: &mut dyn Write, contents: &[Content], method: Method) -> io::Result<()> {
    let mut members = Vec::with_capacity(contents.len());
    let mut position = 0;
    for content in contents {
        let (checksum, packed) = match method {
            Method::Stored => (checksum(content)?, None),
            Method::Deflated => {
                let (checksum, bytes) = deflated(content)?;
                (checksum, Some(bytes))
            }
        };
        let member = Member {
            name: content.name.to_string(),
            method,
            checksum,
            packed: packed.as_ref().map_or(content.size, |bytes| bytes.len() as u64),
            size: content.size,
            begin: position,
            limit: u64::MAX,
        };
        let local = directory::local(&member);
        out.write_all(&local)?;
        match packed {
            Some(bytes) => out.write_all(&bytes)?,
            None => (content.write)(out)?,
        }
        position += local.len() as u64 + member.packed;
        members.push(member);
    }
    out.write_all(&directory::central(&members, position))
}

fn checksum(content: &Content) -> io::Result<u32> {
    let mut nowhere = io::sink();
    let mut sink = Checked { source: &mut nowhere, crc: Crc::new() };
    (content.write)(&mut sink)?;
    Ok(sink.crc.sum())
}

fn deflated(content: &Content) -> io::Result<(u32, Vec<u8>)> {
    let mut encoder = DeflateEncoder::new(Vec::new(), Compression::default());
    let mut sink = Checked { source: &mut encoder, crc: Crc::new() };
    (content.write)(&mut sink)?;
    let checksum = sink.crc.sum();
    Ok((checksum, encoder.finish()?))
}

/// Where the data of a member that begins at `begin` can end at the earliest.
const fn earliest_end(member: &Member) -> u64 {
    member.begin.saturating_add(LOCAL_BYTES as u64).saturating_add(member.packed)
}
