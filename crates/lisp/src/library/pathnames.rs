//! Pathnames: the parts of a path by name, and merging with a default. A pathname is its native
//! text; directories end in `/`. Opening and removing files are in `streams`.

use std::path::{MAIN_SEPARATOR, Path};

use super::loading::cannot_open;
use super::streams::path_of;
use crate::condition::Outcome;
use crate::lisp::Lisp;
use crate::native::{Native, native};
use crate::object::Object;
use crate::symbol;
use crate::value::{NIL, Value, list};

fn pathname(path: impl Into<String>) -> Value {
    Value::object(Object::Pathname(path.into()))
}

/// The text up to and including the last separator, and the text after it.
fn split(path: &str) -> (&str, &str) {
    path.split_at(path.rfind(std::path::is_separator).map_or(0, |at| at + 1))
}

/// The name before the last dot of a file's name, and the type after it. A leading dot belongs
/// to the name.
fn name_and_type(file: &str) -> (&str, Option<&str>) {
    match file.rfind('.') {
        Some(dot) if dot > 0 => (&file[..dot], Some(&file[dot + 1..])),
        _ => (file, None),
    }
}

fn text_or_nil(text: &str) -> Value {
    if text.is_empty() { NIL } else { Value::string(text) }
}

/// A path with what it lacks taken from a default: the directory of a relative path, the name
/// and the type when it has none.
fn merge(path: &str, default: &str) -> String {
    let ((directory, file), (default_directory, default_file)) = (split(path), split(default));
    let directory = match Path::new(directory).is_absolute() {
        true => directory.to_string(),
        false => format!("{default_directory}{directory}"),
    };
    let (name, kind) = name_and_type(file);
    let (default_name, default_kind) = name_and_type(default_file);
    let name = if name.is_empty() { default_name } else { name };
    match kind.or(default_kind) {
        Some(kind) if !name.is_empty() => format!("{directory}{name}.{kind}"),
        _ => format!("{directory}{name}"),
    }
}

fn wild(lisp: &mut Lisp) -> Value {
    lisp.keyword("WILD")
}

/// The folders of a directory as the standard lists them.
fn directory(lisp: &mut Lisp, text: &str) -> Value {
    if text.is_empty() {
        return NIL;
    }
    let kind = if Path::new(text).is_absolute() { "ABSOLUTE" } else { "RELATIVE" };
    let mut parts = vec![lisp.keyword(kind)];
    for part in text.split(std::path::is_separator).filter(|part| !part.is_empty()) {
        parts.push(match part {
            "*" => wild(lisp),
            "**" => lisp.keyword("WILD-INFERIORS"),
            ".." => lisp.keyword("UP"),
            "." => continue,
            part => Value::string(part),
        });
    }
    list(parts)
}

/// What a folder holds, or the folders in it; nothing when it cannot be read.
fn entries(lisp: &mut Lisp, a: &[Value]) -> Outcome {
    let folder = path_of(lisp, "directory", &a[0])?;
    let folder = if folder.is_empty() { "." } else { &folder };
    let found = std::fs::read_dir(folder).into_iter().flatten().flatten();
    let wanted = found.filter(|entry| !a[1].truth() || entry.path().is_dir());
    let names = wanted.filter_map(|entry| entry.file_name().into_string().ok());
    let mut names: Vec<String> = names.collect();
    names.sort();
    Ok(list(names.iter().map(|name| Value::string(name)).collect::<Vec<_>>()))
}

/// Functions on pathnames.
pub static PATHNAMES: &[Native] = &[
    native(
        "merge-pathnames",
        "path &optional default default-version",
        "A pathname with the parts that it lacks taken from a default: \
         (merge-pathnames \"data/a.csv\" *load-truename*).",
        |lisp, a| {
            let path = path_of(lisp, "merge-pathnames", &a[0])?;
            let default = match a.get(1).filter(|value| value.truth()) {
                Some(default) => default.clone(),
                None => lisp.variable(symbol::DEFAULT_PATHNAME_DEFAULTS).clone(),
            };
            if default.is_nil() || default.is_unbound() {
                return Ok(pathname(path));
            }
            let default = path_of(lisp, "merge-pathnames", &default)?;
            Ok(pathname(merge(&path, &default)))
        },
    ),
    native("directory-namestring", "path", "The directory of a path as a string.", |lisp, a| {
        let path = path_of(lisp, "directory-namestring", &a[0])?;
        Ok(Value::string(split(&path).0))
    }),
    native("file-namestring", "path", "The name and type of a path as a string.", |lisp, a| {
        let path = path_of(lisp, "file-namestring", &a[0])?;
        Ok(Value::string(split(&path).1))
    }),
    native(
        "pathname-directory",
        "path &key case",
        "The directory of a path: (:absolute \"a\" \"b\") or (:relative \"a\"), or nil.",
        |lisp, a| {
            let path = path_of(lisp, "pathname-directory", &a[0])?;
            Ok(directory(lisp, split(&path).0))
        },
    ),
    native("rung::%directory-p", "path", "Whether a path leads to a directory.", |lisp, a| {
        let path = path_of(lisp, "probe-file", &a[0])?;
        Ok(Value::boolean(Path::new(&path).is_dir()))
    }),
    native("uiop:getcwd", "", "The directory in which the program runs.", |_, _| {
        let folder = std::env::current_dir().map_err(|error| cannot_open(".", &error))?;
        Ok(pathname(folder.to_string_lossy().into_owned() + "/"))
    }),
    native("uiop:chdir", "path", "Makes a directory the one in which the program runs.", |l, a| {
        let path = path_of(l, "chdir", &a[0])?;
        std::env::set_current_dir(&path).map_err(|error| cannot_open(&path, &error))?;
        Ok(NIL)
    }),
    native("rung::%entries", "folder folders", "The names in a folder, in order.", entries),
    native(
        "pathname-name",
        "path &key case",
        "The name of a path without its type, or nil.",
        |lisp, a| {
            let path = path_of(lisp, "pathname-name", &a[0])?;
            Ok(match name_and_type(split(&path).1).0 {
                "*" => wild(lisp),
                name => text_or_nil(name),
            })
        },
    ),
    native(
        "pathname-type",
        "path &key case",
        "The type of a path, what follows its last dot, or nil.",
        {
            |lisp, a| {
                let path = path_of(lisp, "pathname-type", &a[0])?;
                Ok(match name_and_type(split(&path).1).1 {
                    Some("*") => wild(lisp),
                    kind => kind.map_or(NIL, Value::string),
                })
            }
        },
    ),
    native("truename", "path", "The absolute pathname of a file that exists.", |lisp, a| {
        let path = path_of(lisp, "truename", &a[0])?;
        let found = std::fs::canonicalize(&path).map_err(|error| cannot_open(&path, &error))?;
        let mut text = found.to_string_lossy().into_owned();
        if found.is_dir() && !text.ends_with(MAIN_SEPARATOR) {
            text.push(MAIN_SEPARATOR);
        }
        Ok(pathname(text))
    }),
    native("rename-file", "path new", "Renames a file; its new pathname.", |lisp, a| {
        let path = path_of(lisp, "rename-file", &a[0])?;
        let new = merge(&path_of(lisp, "rename-file", &a[1])?, &path);
        std::fs::rename(&path, &new).map_err(|error| cannot_open(&path, &error))?;
        Ok(pathname(new))
    }),
    native(
        "ensure-directories-exist",
        "path &key verbose",
        "Makes the directories that lead to a file; the path.",
        |lisp, a| -> Outcome {
            let path = path_of(lisp, "ensure-directories-exist", &a[0])?;
            let folder = split(&path).0;
            if !folder.is_empty() {
                std::fs::create_dir_all(folder).map_err(|error| cannot_open(folder, &error))?;
            }
            Ok(a[0].clone())
        },
    ),
];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn merging_takes_only_what_is_lacking() {
        assert_eq!(merge("data/d.csv", "/home/x/prog.lisp"), "/home/x/data/d.csv");
        assert_eq!(merge("/etc/hosts", "/home/x/prog.lisp"), "/etc/hosts.lisp");
        assert_eq!(merge("d", "prog.lisp"), "d.lisp");
        assert_eq!(merge("lib/", "/a/prog.lisp"), "/a/lib/prog.lisp");
        assert_eq!(merge(".rc", "/a/"), "/a/.rc");
        assert_eq!(merge("", ""), "");
    }
}
