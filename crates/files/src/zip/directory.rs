//! The records of a zip archive: the header before each member, the directory behind all of them,
//! and the record at the end that says where the directory is. A size or position that needs more
//! than 32 bits is all ones there and stands in an extra field of 64 bits.

use super::earliest_end;
use crate::input::Input;
use rung_base::{Error, Result};
use std::collections::HashSet;

const LOCAL: &[u8] = b"PK\x03\x04";
const ENTRY: &[u8] = b"PK\x01\x02";
const END: &[u8] = b"PK\x05\x06";
const END_64: &[u8] = b"PK\x06\x06";
const LOCATOR_64: &[u8] = b"PK\x06\x07";

pub const LOCAL_BYTES: usize = 30;
const ENTRY_BYTES: usize = 46;
const END_BYTES: usize = 22;
const END_64_BYTES: usize = 56;
const LOCATOR_BYTES: usize = 20;

/// The extra field that holds 64-bit sizes.
const EXTRA_64: u16 = 1;
/// Flags: the member is encrypted; its name is UTF-8.
const ENCRYPTED: u16 = 1;
const UTF_8: u16 = 0x800;
/// 1980-01-01, the first day of the format, so that the same arrays give the same file.
const FIRST_DAY: u16 = 0x21;

/// How a member's bytes are kept.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Method {
    Stored,
    Deflated,
}

/// One file of an archive.
#[derive(Clone, Debug, PartialEq)]
pub struct Member {
    pub name: String,
    pub method: Method,
    /// CRC-32 of its bytes.
    pub checksum: u32,
    /// Bytes in the archive, and unpacked.
    pub packed: u64,
    pub size: u64,
    /// Where its local header begins, and where the next record does.
    pub begin: u64,
    pub limit: u64,
}

/// Little-endian fields of a record, one after another. Beyond the end they are zero: the length
/// of every record has been checked.
struct Fields<'a>(&'a [u8]);

impl Fields<'_> {
    fn take<const N: usize>(&mut self) -> [u8; N] {
        let (field, rest) = self.0.split_first_chunk::<N>().unwrap_or((&[0; N], &[]));
        self.0 = rest;
        *field
    }

    fn u16(&mut self) -> u16 {
        u16::from_le_bytes(self.take())
    }

    fn u32(&mut self) -> u32 {
        u32::from_le_bytes(self.take())
    }

    fn u64(&mut self) -> u64 {
        u64::from_le_bytes(self.take())
    }
}

/// Where the entries of the members are.
pub struct Directory {
    count: u64,
    size: u64,
    begin: u64,
}

impl Directory {
    /// The members of an archive, in the order of its directory.
    pub fn read(input: &mut Input) -> Result<Vec<Member>> {
        let directory = Directory::find(input)?;
        input.seek(directory.begin)?;
        let bytes = input.bytes(directory.size, "the zip directory")?;
        let mut members = Vec::new();
        let mut at = 0;
        for _ in 0..directory.count {
            let offset = directory.begin + at as u64;
            let (member, next) = entry(&bytes, at).map_err(|text| input.wrong(offset, text))?;
            members.push(member);
            at = next;
        }
        separate(input, &mut members, directory.begin)?;
        Ok(members)
    }

    fn find(input: &mut Input) -> Result<Directory> {
        // A comment of up to 65,535 bytes may follow the record.
        let reach = input.length.min(END_BYTES as u64 + u64::from(u16::MAX));
        let from = input.length - reach;
        input.seek(from)?;
        let tail = input.bytes(reach, "the end of the zip file")?;
        let is_end = |&at: &usize| {
            let comment = [tail[at + 20], tail[at + 21]];
            tail[at..].starts_with(END)
                && at + END_BYTES + usize::from(u16::from_le_bytes(comment)) == tail.len()
        };
        let candidates = 0..(tail.len() + 1).saturating_sub(END_BYTES);
        let Some(at) = candidates.rev().find(is_end) else { return Err(no_archive(input)) };
        let end = from + at as u64;
        let mut fields = Fields(&tail[at + 4..]);
        let (disk, first_disk, here) = (fields.u16(), fields.u16(), fields.u16());
        let (count, size, begin) = (fields.u16(), fields.u32(), fields.u32());
        let is_64 = count == u16::MAX || size == u32::MAX || begin == u32::MAX;
        if is_64 && at >= LOCATOR_BYTES && tail[at - LOCATOR_BYTES..].starts_with(LOCATOR_64) {
            let position = Fields(&tail[at - LOCATOR_BYTES + 8..]).u64();
            return Directory::read_64(input, position, end);
        }
        if (disk, first_disk) != (0, 0) || here != count {
            return Err(input.wrong(end, "a zip file in several parts is not read"));
        }
        let count = u64::from(count);
        Directory { count, size: size.into(), begin: begin.into() }.inside(input, end)
    }

    fn read_64(input: &mut Input, position: u64, end: u64) -> Result<Directory> {
        if position > end {
            return Err(input.wrong(end, "the zip file's 64-bit record is beyond its end"));
        }
        input.seek(position)?;
        let record = input.bytes(END_64_BYTES as u64, "the zip file's 64-bit record")?;
        if !record.starts_with(END_64) {
            return Err(input.wrong(position, "expected the zip file's 64-bit record"));
        }
        let mut fields = Fields(&record[32..]);
        let (count, size, begin) = (fields.u64(), fields.u64(), fields.u64());
        Directory { count, size, begin }.inside(input, position)
    }

    /// Checks that the directory ends at or before `end`.
    fn inside(self, input: &Input, end: u64) -> Result<Directory> {
        let behind = self.begin.checked_add(self.size).filter(|&behind| behind <= end);
        // Each entry has its fixed part, so the count is bounded by the size.
        match behind.is_some() && self.count <= self.size / ENTRY_BYTES as u64 {
            true => Ok(self),
            false => Err(input.wrong(end, "the zip directory does not fit into the file")),
        }
    }
}

fn no_archive(input: &mut Input) -> Error {
    let first = input.seek(0).and_then(|()| input.bytes(input.length.min(4), "the file"));
    let first = first.unwrap_or_default();
    if first.starts_with(b"PK") {
        return input.wrong(input.length, "the zip file has no end: it was cut off or is no zip");
    }
    let text = format!("expected a zip file: it begins with \"{}\"", first.escape_ascii());
    let error = input.wrong(0, text);
    match first.starts_with(b"\x93NUM") {
        true => error.hint("it is an npy file: read it as npy"),
        false => error,
    }
}

/// The entry at `at` and where the next one begins.
fn entry(bytes: &[u8], at: usize) -> std::result::Result<(Member, usize), String> {
    let record = &bytes[at..];
    if record.len() < ENTRY_BYTES || !record.starts_with(ENTRY) {
        return Err("expected a member's entry in the zip directory".into());
    }
    let mut fields = Fields(&record[8..]);
    let (flags, method) = (fields.u16(), fields.u16());
    fields.u32();
    let checksum = fields.u32();
    let (packed, size) = (fields.u32(), fields.u32());
    let lengths = [fields.u16(), fields.u16(), fields.u16()].map(usize::from);
    let begin = Fields(&record[42..]).u32();
    let length = ENTRY_BYTES + lengths.iter().sum::<usize>();
    if record.len() < length {
        return Err("a member's entry goes beyond the zip directory".into());
    }
    let (name, extra) = record[ENTRY_BYTES..length].split_at(lengths[0]);
    let name = String::from_utf8(name.to_vec()).map_err(|_| "a member's name is no UTF-8")?;
    let [size, packed, begin] = wide([size, packed, begin], &extra[..lengths[1]])
        .ok_or_else(|| format!("member {name}: its 64-bit sizes are missing"))?;
    if flags & ENCRYPTED != 0 {
        return Err(format!("member {name}: it is encrypted, which is not read"));
    }
    let method = method_of(method, packed, size).map_err(|why| format!("member {name}: {why}"))?;
    let member = Member { name, method, checksum, packed, size, begin, limit: 0 };
    Ok((member, at + length))
}

/// Deflate codes at most 258 bytes in 2 bits, which is 1032 to 1.
const DEFLATE_AT_MOST: u64 = 1032;

fn method_of(number: u16, packed: u64, size: u64) -> std::result::Result<Method, String> {
    match number {
        0 if packed == size => Ok(Method::Stored),
        0 => Err(format!("it is stored in {packed} bytes and has {size}")),
        8 if size <= packed.saturating_mul(DEFLATE_AT_MOST) => Ok(Method::Deflated),
        8 => Err(format!("{packed} bytes of deflate cannot hold its {size} bytes")),
        other => {
            Err(format!("it is packed by method {other}: 0 (stored) and 8 (deflate) are read"))
        }
    }
}

/// The fields, those of all ones taken from the extra field of 64 bits.
fn wide(fields: [u32; 3], mut extra: &[u8]) -> Option<[u64; 3]> {
    let mut wide = Fields(&[]);
    while extra.len() >= 4 {
        let (tag, length) = (Fields(extra).u16(), usize::from(Fields(&extra[2..]).u16()));
        let body = extra.get(4..4 + length)?;
        if tag == EXTRA_64 {
            wide = Fields(body);
        }
        extra = &extra[4 + length..];
    }
    let mut out = [0; 3];
    for (out, field) in out.iter_mut().zip(fields) {
        *out = match field {
            u32::MAX if wide.0.len() < 8 => return None,
            u32::MAX => wide.u64(),
            small => small.into(),
        };
    }
    Some(out)
}

/// Members lie one behind another before the directory, and their names differ.
fn separate(input: &Input, members: &mut [Member], directory: u64) -> Result<()> {
    let mut names = HashSet::new();
    if let Some(twice) = members.iter().find(|member| !names.insert(member.name.as_str())) {
        return Err(input.wrong(twice.begin, format!("member {} stands twice", twice.name)));
    }
    let mut order: Vec<usize> = (0..members.len()).collect();
    order.sort_by_key(|&i| members[i].begin);
    for (place, &i) in order.iter().enumerate() {
        let limit = order.get(place + 1).map_or(directory, |&next| members[next].begin);
        let member = &mut members[i];
        member.limit = limit;
        if earliest_end(member) > limit {
            let text = format!("member {} reaches into what follows it", member.name);
            return Err(input.wrong(member.begin, text));
        }
    }
    Ok(())
}

/// Where the data of a member begins: behind its local header, which must be about it.
pub fn data_of(input: &mut Input, member: &Member) -> Result<u64> {
    input.seek(member.begin)?;
    let record = input.bytes(LOCAL_BYTES as u64, "the header of a member")?;
    let mut lengths = Fields(&record[26..]);
    let (name, extra) = (lengths.u16(), lengths.u16());
    let written = input.bytes(name.into(), "the name of a member")?;
    if !record.starts_with(LOCAL) || written != member.name.as_bytes() {
        let text = format!("expected the header of member {}", member.name);
        return Err(input.wrong(member.begin, text));
    }
    let begin = input.position() + u64::from(extra);
    if begin.saturating_add(member.packed) > member.limit {
        let text = format!("member {} reaches into what follows it", member.name);
        return Err(input.wrong(member.begin, text));
    }
    Ok(begin)
}

fn is_wide(member: &Member) -> bool {
    [member.size, member.packed, member.begin].iter().any(|&n| n >= u64::from(u32::MAX))
}

/// What local header and entry have in common: version, flags, method, date, checksum, sizes.
fn common(member: &Member) -> Vec<u8> {
    let wide = is_wide(member);
    let narrow = |n: u64| if wide { u32::MAX } else { n as u32 };
    let mut out = Vec::new();
    let version: u16 = if wide { 45 } else { 20 };
    let flags = if member.name.is_ascii() { 0 } else { UTF_8 };
    let method: u16 = match member.method {
        Method::Stored => 0,
        Method::Deflated => 8,
    };
    for field in [version, flags, method, 0, FIRST_DAY] {
        out.extend(field.to_le_bytes());
    }
    for field in [member.checksum, narrow(member.packed), narrow(member.size)] {
        out.extend(field.to_le_bytes());
    }
    out.extend((member.name.len() as u16).to_le_bytes());
    out
}

/// The extra field of a member that needs it.
fn extra(member: &Member, fields: &[u64]) -> Vec<u8> {
    let mut out = Vec::new();
    if is_wide(member) {
        out.extend(EXTRA_64.to_le_bytes());
        out.extend((8 * fields.len() as u16).to_le_bytes());
        fields.iter().for_each(|field| out.extend(field.to_le_bytes()));
    }
    out
}

/// The header that stands before a member. Its name is below 64 KiB.
pub fn local(member: &Member) -> Vec<u8> {
    let extra = extra(member, &[member.size, member.packed]);
    let mut out = LOCAL.to_vec();
    out.extend(common(member));
    out.extend((extra.len() as u16).to_le_bytes());
    out.extend(member.name.as_bytes());
    out.extend(extra);
    out
}

/// The directory of the members, which begins at `begin`, and the records that end the file.
pub fn central(members: &[Member], begin: u64) -> Vec<u8> {
    let mut out = Vec::new();
    for member in members {
        let extra = extra(member, &[member.size, member.packed, member.begin]);
        out.extend(ENTRY);
        // Made on Unix, so that the permissions below count.
        out.extend([45, 3]);
        out.extend(common(member));
        out.extend((extra.len() as u16).to_le_bytes());
        // No comment, part 0, no internal attributes; a regular file, rw-r--r--.
        out.extend([0; 6]);
        out.extend((0o100_644u32 << 16).to_le_bytes());
        out.extend(if is_wide(member) { u32::MAX } else { member.begin as u32 }.to_le_bytes());
        out.extend(member.name.as_bytes());
        out.extend(extra);
    }
    let (count, size) = (members.len() as u64, out.len() as u64);
    let is_64 = count >= u64::from(u16::MAX) || begin + size >= u64::from(u32::MAX);
    if is_64 {
        end_64(&mut out, count, size, begin);
    }
    let count = if is_64 { u16::MAX } else { count as u16 };
    out.extend(END);
    out.extend([0; 4]);
    out.extend([count.to_le_bytes(), count.to_le_bytes()].concat());
    out.extend(if is_64 { u32::MAX } else { size as u32 }.to_le_bytes());
    out.extend(if is_64 { u32::MAX } else { begin as u32 }.to_le_bytes());
    out.extend([0; 2]);
    out
}

fn end_64(out: &mut Vec<u8>, count: u64, size: u64, begin: u64) {
    let position = begin + size;
    out.extend(END_64);
    out.extend((END_64_BYTES as u64 - 12).to_le_bytes());
    out.extend([45, 3, 45, 0]);
    out.extend([0; 8]);
    for field in [count, count, size, begin] {
        out.extend(field.to_le_bytes());
    }
    out.extend(LOCATOR_64);
    out.extend([0; 4]);
    out.extend(position.to_le_bytes());
    out.extend(1u32.to_le_bytes());
}

#[cfg(test)]
mod tests {
    use super::*;

    fn member(size: u64, begin: u64) -> Member {
        let name = "größe.npy".to_string();
        let method = Method::Stored;
        Member { name, method, checksum: 7, packed: size, size, begin, limit: 0 }
    }

    /// Files of this size are not written in tests; their records are.
    #[test]
    fn sizes_above_32_bits_survive_their_records() {
        for member in [member(5 << 32, 3), member(3, 5 << 32), member(3, 4)] {
            let bytes = central(std::slice::from_ref(&member), 6 << 32);
            assert_eq!(entry(&bytes, 0).unwrap().0, member);
            let end = bytes.len() - END_BYTES;
            assert!(bytes[end..].starts_with(END));
            let locator = &bytes[end - LOCATOR_BYTES..];
            assert!(locator.starts_with(LOCATOR_64));
            let record = Fields(&locator[8..]).u64() - (6 << 32);
            assert!(bytes[record as usize..].starts_with(END_64));
        }
        assert_eq!(local(&member(5 << 32, 0)).len(), LOCAL_BYTES + "größe.npy".len() + 20);
        assert_eq!(local(&member(5, 0)).len(), LOCAL_BYTES + "größe.npy".len());
    }
}
