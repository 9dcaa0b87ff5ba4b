//! `npz` files: named arrays in a zip archive, as `numpy.savez` and `numpy.savez_compressed` write
//! them. Stored and deflated members are read, whatever their sizes; the checksum of each is
//! compared. A member that is no `.npy` file is read as its bytes, as NumPy does.

use crate::npy::{self, Plan};
use crate::room::reserve;
use crate::zip::{self, Archive, Content, Method};
use rung_array::Array;
use rung_base::{Error, ErrorKind, Result, Shape};
use std::collections::HashSet;
use std::io::Write;
use std::path::Path;

const SUFFIX: &str = ".npy";

/// Reads every array of a file with its name, in the order of the file.
pub fn read(path: &Path) -> Result<Vec<(String, Array)>> {
    let mut archive = Archive::open(path)?;
    let names: Vec<String> = archive.members.iter().map(|member| member.name.clone()).collect();
    let mut arrays = Vec::with_capacity(names.len());
    for (index, name) in names.into_iter().enumerate() {
        let array = archive.read(index, |source, length, place| {
            if name.ends_with(SUFFIX) {
                return npy::read_from(source, length, place);
            }
            let size = usize::try_from(length).map_err(|_| place.wrong(0, "it is too long"))?;
            Array::try_build(Shape::vector(size), |out: &mut [u8]| {
                source.read_exact(out).map_err(|e| place.failed(0, "the data", e))
            })
        })?;
        let name = name.strip_suffix(SUFFIX).map_or(name.clone(), str::to_string);
        arrays.push((name, array));
    }
    let mut names = HashSet::new();
    // "a" and "a.npy" are two members and one name.
    match arrays.iter().find(|(name, _)| !names.insert(name.as_str())) {
        Some((name, _)) => {
            Err(Error::in_data_file(path, None, format!("two arrays have the name {name}")))
        }
        None => Ok(arrays),
    }
}

/// Writes arrays with their names; deflated when `compress` is true.
pub fn write(arrays: &[(String, Array)], path: &Path, compress: bool) -> Result<()> {
    let mut names = HashSet::new();
    for (name, _) in arrays {
        if name.is_empty() || name.len() + SUFFIX.len() > usize::from(u16::MAX) {
            let text = format!("a name has 1 to 65531 bytes: got {}", name.len());
            return Err(Error::new(ErrorKind::Argument, text));
        }
        if !names.insert(name) {
            return Err(Error::new(
                ErrorKind::Argument,
                format!("two arrays have the name {name}"),
            ));
        }
    }
    let plans = arrays.iter().map(|(_, array)| Plan::new(array)).collect::<Result<Vec<_>>>()?;
    let names: Vec<String> = arrays.iter().map(|(name, _)| format!("{name}{SUFFIX}")).collect();
    let writers: Vec<_> = plans.iter().map(|plan| |out: &mut dyn Write| plan.write(out)).collect();
    let contents: Vec<Content> = names
        .iter()
        .zip(plans.iter().zip(&writers))
        .map(|(name, (plan, write))| Content { name, size: plan.bytes(), write })
        .collect();
    let method = if compress { Method::Deflated } else { Method::Stored };
    let stored = if compress { 0 } else { plans.iter().map(Plan::bytes).sum() };
    rung_base::file::replace(path, |out| {
        reserve(out.get_ref(), stored)?;
        zip::write(out, &contents, method)
    })
}
