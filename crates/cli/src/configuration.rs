//! Settings from files and from the environment, read through the flag table.
//!
//! From the weakest source to the strongest: variables of other programs that serve as defaults,
//! the user's `config.toml`, the project's `rung.toml` (in the working directory or the nearest
//! one above it), our own variables; flags come after all of them (`arguments`). What is unknown
//! or malformed gives one warning and is ignored.

use crate::flags::{self, Flag};
use crate::request::Request;
use crate::suggest;
use rung_base::settings::{CostsChoice, DeviceChoice, Origin, Setting};
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use toml::Spanned;
use toml::de::{DeTable, DeValue};

/// Something that was ignored. The value used instead is known only after the flags are read.
pub struct Problem {
    /// `RUNG_THREADS` or `rung.toml:3`.
    place: String,
    text: String,
    /// The flag whose value is used instead.
    flag: Option<&'static Flag>,
}

impl Problem {
    /// `rung: warning: RUNG_THREADS: expected a count, got "many"; using 16.`
    pub fn warning(&self, request: &Request) -> String {
        let instead = self.flag.and_then(|flag| flag.show).map(|show| show(request).0);
        let instead = instead.map_or("ignored".to_string(), |value| format!("using {value}"));
        format!("{}: {}; {instead}.", self.place, self.text)
    }
}

/// The variables of the process, or of a test.
pub type Variables = BTreeMap<String, String>;

/// The variables of the process; one that is not UTF-8 is replaced where it is not.
pub fn environment() -> Variables {
    std::env::vars_os()
        .map(|(name, value)| {
            (name.to_string_lossy().into_owned(), value.to_string_lossy().into_owned())
        })
        .collect()
}

/// Fills the request from all sources but the flags.
pub fn read(variables: &Variables, folder: Option<&Path>, request: &mut Request) -> Vec<Problem> {
    let mut problems = Vec::new();
    if let Some(file) = costs_file(variables) {
        request.settings.costs = Setting::built_in(CostsChoice::File(file));
    }
    defaults_of_others(variables, request);
    let files = [user_file(variables), folder.and_then(project_file)];
    for file in files.into_iter().flatten() {
        match std::fs::read_to_string(&file) {
            Ok(text) => {
                let shown = folder.and_then(|folder| file.strip_prefix(folder).ok());
                let shown = shown.unwrap_or(&file).display().to_string();
                settings_file(&file, &shown, &text, request, &mut problems);
            }
            Err(_) if !file.exists() => {}
            Err(error) => {
                let text = match error.kind() {
                    std::io::ErrorKind::InvalidData => "not UTF-8".to_string(),
                    _ => format!("cannot be read: {}", crate::failure::plain(&error)),
                };
                problems.push(Problem { place: file.display().to_string(), text, flag: None });
            }
        }
    }
    own_variables(variables, request, &mut problems);
    problems
}

/// `$XDG_CONFIG_HOME/rung`, or none without a home.
pub fn folder_of(variables: &Variables, variable: &str, below_home: &str) -> Option<PathBuf> {
    let set = |name: &str| variables.get(name).filter(|value| !value.is_empty());
    let base = match set(variable) {
        Some(folder) => PathBuf::from(folder),
        None => Path::new(set("HOME").or_else(|| set("USERPROFILE"))?).join(below_home),
    };
    Some(base.join("rung"))
}

fn user_file(variables: &Variables) -> Option<PathBuf> {
    Some(folder_of(variables, "XDG_CONFIG_HOME", ".config")?.join("config.toml"))
}

/// Where `rung tune` writes.
pub fn costs_file(variables: &Variables) -> Option<PathBuf> {
    Some(folder_of(variables, "XDG_CONFIG_HOME", ".config")?.join("costs.toml"))
}

fn project_file(folder: &Path) -> Option<PathBuf> {
    folder.ancestors().map(|above| above.join("rung.toml")).find(|file| file.is_file())
}

/// What to say where a flag names a device and a variable hides all of them: which of the two counts.
pub fn unhidden(variables: &Variables, request: &Request) -> Option<String> {
    let Origin::Flag(name) = request.settings.device.origin else { return None };
    let flag = flags::all().find(|flag| flag.name == name)?;
    let variable = flag.variable?;
    let value = variables.get(variable)?;
    let mut hidden = Request::default();
    set(flag, value, &mut hidden, Origin::Environment(variable)).ok()?;
    let none = |request: &Request| matches!(request.settings.device.value, DeviceChoice::None(_));
    if !none(&hidden) || none(request) || !request.settings.gpu.value {
        return None;
    }
    let chosen = flag.show.map(|show| show(request).0)?;
    Some(format!(
        "{name}={chosen} counts and {variable}={value} does not: a flag comes before the environment."
    ))
}

/// `OMP_NUM_THREADS` and the like. Theirs may hold forms of their own, such as `4,2`: the first
/// number counts, and what is none is no affair of ours.
fn defaults_of_others(variables: &Variables, request: &mut Request) {
    for flag in flags::all() {
        for name in flag.also {
            let first = variables.get(*name).and_then(|value| value.split(',').next());
            if let Some(Ok(given)) = first.map(|value| flag.read(value.trim())) {
                let _ = (flag.apply)(request, given, Origin::Environment(name));
            }
        }
    }
}

fn own_variables(variables: &Variables, request: &mut Request, problems: &mut Vec<Problem>) {
    let known: Vec<&str> = flags::all().filter_map(|flag| flag.variable).collect();
    for (name, value) in variables.iter().filter(|(name, _)| name.starts_with("RUNG_")) {
        let flag = flags::all().find(|flag| flag.variable == Some(name.as_str()));
        match flag {
            Some(flag) if !value.is_empty() => {
                let origin = Origin::Environment(flag.variable.unwrap_or_default());
                if let Err(text) = set(flag, value, request, origin) {
                    problems.push(Problem { place: name.clone(), text, flag: Some(flag) });
                }
            }
            Some(_) => {}
            None => {
                let text = unknown("variable", suggest::nearest(name, known.iter().copied()));
                problems.push(Problem { place: name.clone(), text, flag: None });
            }
        }
    }
}

fn unknown(what: &str, near: Option<&str>) -> String {
    match near {
        Some(near) => format!("unknown {what}; did you mean {near}?"),
        None => format!("unknown {what}"),
    }
}

fn set(
    flag: &'static Flag,
    value: &str,
    request: &mut Request,
    origin: Origin,
) -> Result<(), String> {
    flag.read(value).and_then(|given| (flag.apply)(request, given, origin))
}

/// `shown` is the file's name in messages: its path, from the working directory where it lies there.
fn settings_file(
    file: &Path,
    shown: &str,
    text: &str,
    request: &mut Request,
    problems: &mut Vec<Problem>,
) {
    let line_of = |offset: usize| 1 + text[..offset.min(text.len())].matches('\n').count();
    let place = |line: usize| format!("{shown}:{line}");
    let table = match DeTable::parse(text) {
        Ok(table) => table,
        Err(error) => {
            let line = line_of(error.span().map_or(0, |span| span.start));
            let text = error.message().lines().next().unwrap_or("not TOML");
            let text = format!("not TOML, so that nothing of the file counts: {text} ({FORM})");
            problems.push(Problem { place: place(line), text, flag: None });
            return;
        }
    };
    for (key, value) in table.get_ref() {
        let line = line_of(key.span().start);
        let name = key.get_ref().as_ref();
        let flag = flags::all().find(|flag| flag.key == Some(name));
        let outcome = match flag {
            None => {
                let keys = flags::all().filter_map(|flag| flag.key);
                Err(unknown("key", suggest::nearest(name, keys)))
            }
            Some(flag) => text_of(value).and_then(|value| {
                set(flag, &value, request, Origin::File(file.to_path_buf(), line))
            }),
        };
        if let Err(text) = outcome {
            let text = format!("{name}: {text}");
            problems.push(Problem { place: place(line), text, flag });
        }
    }
}

/// What the parser's words do not say, who takes `no` for the beginning of `nan`.
const FORM: &str = "device = \"H200\", threads = 2, gpu = true";

fn text_of(value: &Spanned<DeValue>) -> Result<String, String> {
    match value.get_ref() {
        DeValue::String(text) => Ok(text.to_string()),
        DeValue::Integer(number) => Ok(number.to_string()),
        DeValue::Boolean(on) => Ok(on.to_string()),
        _ => Err("expected a string, a number, true or false".to_string()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn variables(pairs: &[(&str, &str)]) -> Variables {
        pairs.iter().map(|(name, value)| (name.to_string(), value.to_string())).collect()
    }

    fn warnings(pairs: &[(&str, &str)]) -> Vec<String> {
        let mut request = Request::default();
        let problems = read(&variables(pairs), None, &mut request);
        problems.iter().map(|problem| problem.warning(&request)).collect()
    }

    #[test]
    fn a_malformed_variable_warns_once_and_says_what_is_used() {
        assert_eq!(
            warnings(&[("RUNG_THREADS", "many"), ("OMP_NUM_THREADS", "16")]),
            ["RUNG_THREADS: expected a count, got \"many\"; using 16."]
        );
        assert_eq!(
            warnings(&[("RUNG_PRECISION", "fast")]),
            ["RUNG_PRECISION: expected strict, tf32 or bf16, got \"fast\"; using strict."]
        );
    }

    #[test]
    fn an_unknown_variable_of_ours_warns_with_the_nearest() {
        assert_eq!(
            warnings(&[("RUNG_TREADS", "2"), ("OTHER_TREADS", "2")]),
            ["RUNG_TREADS: unknown variable; did you mean RUNG_THREADS?; ignored."]
        );
    }

    #[test]
    fn every_variable_of_the_table_is_known() {
        for flag in flags::all() {
            if let Some(name) = flag.variable {
                let value = match flag.takes {
                    flags::Takes::Choice(words) | flags::Takes::OptionalChoice(words) => words[0],
                    _ => "1",
                };
                assert_eq!(warnings(&[(name, value)]), [""; 0], "{name}");
            }
        }
    }

    #[test]
    fn our_variable_beats_a_file_and_a_file_beats_other_programs() {
        let mut request = Request::default();
        let others = variables(&[("OMP_NUM_THREADS", "4,2"), ("RUNG_DEVICE", "none")]);
        defaults_of_others(&others, &mut request);
        assert_eq!(request.settings.threads.value, Some(4));
        assert_eq!(request.settings.threads.origin.to_string(), "OMP_NUM_THREADS");
        let mut problems = Vec::new();
        let text = "# ours\nthreads = 3\ndevice = \"llvmpipe\"\n";
        settings_file(Path::new("/p/rung.toml"), "rung.toml", text, &mut request, &mut problems);
        own_variables(&others, &mut request, &mut problems);
        assert!(problems.is_empty());
        assert_eq!(request.settings.threads.value, Some(3));
        assert_eq!(request.settings.threads.origin.to_string(), "/p/rung.toml:2");
        assert_eq!(request.settings.device.value, DeviceChoice::None("none"));
    }

    #[test]
    fn mistakes_in_a_file_name_its_line() {
        let mut request = Request::default();
        let mut problems = Vec::new();
        let text = "gpu = true\non-declien = \"ok\"\nthreads = 0\nsimd = [1]\n";
        let mut read = |name: &str, text: &str| {
            settings_file(Path::new(name), name, text, &mut request, &mut problems);
        };
        read("rung.toml", text);
        read("/c/config.toml", "a = 1\nb = = 2\n");
        let mut said: Vec<_> = problems.iter().map(|p| p.warning(&request)).collect();
        let broken = said.pop().unwrap();
        said.sort();
        assert_eq!(
            said[0],
            "rung.toml:2: on-declien: unknown key; did you mean on-decline?; ignored."
        );
        assert!(
            said[1].starts_with(
                "rung.toml:3: threads: expected a count from 1 to 1024, got 0; using "
            )
        );
        assert_eq!(
            said[2],
            "rung.toml:4: simd: expected a string, a number, true or false; using on."
        );
        assert!(
            broken.starts_with("/c/config.toml:2: not TOML, so that nothing of the"),
            "{broken}"
        );
        assert!(request.settings.gpu.value);
    }
}
