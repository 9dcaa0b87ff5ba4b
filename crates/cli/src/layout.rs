//! `rung fmt`: programs in one layout. White space changes, tokens never: the tokens of the result
//! are compared with those of the program before anything is written.

mod lines;
mod tokens;

use std::io::{Read, Write};
use std::path::{Path, PathBuf};

use crate::commands::Invocation;
use crate::failure::{Exit, Failure};
use crate::{folders, screen};

/// `rung fmt PATH...`.
pub fn run(invocation: &Invocation) -> Result<i32, Failure> {
    let request = &invocation.request;
    let width = request.width;
    let words = &invocation.line.words;
    if words.is_empty() {
        return Err(Failure::usage("rung fmt needs a file, a directory or -"));
    }
    if words.iter().any(|word| word == "-") {
        return filter(width);
    }
    let (mut differing, mut failed) = (0, None);
    for file in words.iter().flat_map(|word| programs(Path::new(word))) {
        match one(&file, width, request.check, request.to_output) {
            Ok(changed) => differing += usize::from(changed),
            Err(failure) => {
                invocation.screen.failure(&failure);
                failed = Some(failure.exit as i32);
            }
        }
    }
    Ok(failed.unwrap_or(i32::from(request.check && differing > 0)))
}

/// A program, or those in a directory and below.
fn programs(path: &Path) -> Vec<PathBuf> {
    match path.is_dir() {
        true => {
            folders::files_below(path, |name| name.ends_with(".lisp") || name.ends_with(".asd"))
        }
        false => vec![path.to_path_buf()],
    }
}

fn filter(width: usize) -> Result<i32, Failure> {
    let mut text = String::new();
    let read = std::io::stdin().lock().read_to_string(&mut text);
    read.map_err(|error| Failure::unreadable(Path::new("standard input"), &error))?;
    let text = formatted(&text, width).map_err(|problem| problem.in_file("-"))?;
    crate::printed(screen::print(&text))
}

/// Formats a file; whether it was not in the layout.
fn one(path: &Path, width: usize, check: bool, to_output: bool) -> Result<bool, Failure> {
    let name = path.display().to_string();
    let text = std::fs::read_to_string(path).map_err(|error| Failure::unreadable(path, &error))?;
    let result = formatted(&text, width).map_err(|problem| problem.in_file(&name))?;
    if to_output {
        crate::printed(screen::print(&result))?;
        return Ok(false);
    }
    if result == text {
        return Ok(false);
    }
    if check {
        crate::printed(screen::print(&format!("{name}\n")))?;
        return Ok(true);
    }
    let written = rung_base::file::replace(path, |file| file.write_all(result.as_bytes()));
    written.map_err(|error| Failure::new(Exit::File, error.message()))?;
    screen::mutter(&format!("wrote {name}\n"));
    Ok(true)
}

/// Why a text is not formatted.
enum Problem {
    Unclosed(tokens::Unclosed),
    /// Our own mistake.
    Changed,
}

impl Problem {
    fn in_file(self, name: &str) -> Failure {
        match self {
            Problem::Unclosed(at) => {
                let text = format!("{name}:{}:{}: {}", at.line, at.column, at.what);
                Failure::new(Exit::Program, text)
            }
            Problem::Changed => {
                let text = format!("{name}: the layout would change more than white space");
                Failure::new(Exit::Internal, text)
            }
        }
    }
}

fn formatted(text: &str, width: usize) -> Result<String, Problem> {
    let before = tokens::tokens(text).map_err(Problem::Unclosed)?;
    let result = lines::laid_out(&before, width);
    let after = tokens::tokens(&result).map_err(|_| Problem::Changed)?;
    let words = |all: &[tokens::Token]| {
        all.iter().map(|token| token.text.trim_end().to_string()).collect::<Vec<_>>()
    };
    if words(&before) == words(&after) { Ok(result) } else { Err(Problem::Changed) }
}
