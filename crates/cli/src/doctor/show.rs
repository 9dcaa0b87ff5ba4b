//! The judgement as text and as JSON.

use super::{Judgement, Mark, Shown};
use rung_base::settings::Origin;
use serde_json::json;
use std::path::{Path, PathBuf};

/// The column at which the text of a finding begins.
const INDENT: usize = 10;
const WIDTH: usize = 100;

impl Mark {
    fn text(self) -> &'static str {
        match self {
            Mark::Ok => "[ok]",
            Mark::Warn => "[warn]",
            Mark::Fail => "[fail]",
            Mark::NotApplicable => "[--]",
        }
    }

    fn name(self) -> &'static str {
        self.text().trim_matches(['[', ']'])
    }
}

/// The lines of `rung doctor`. `public`: nothing that names a path, a user or a host.
pub fn text(judgement: &Judgement, public: bool) -> String {
    let mut text = String::new();
    if public {
        text += &format!("{}\n", crate::version::facts());
    }
    line(&mut text, "host", &judgement.host.line());
    let mut before = "";
    for finding in &judgement.findings {
        let subject = if finding.subject == before { "" } else { finding.subject };
        before = finding.subject;
        let part = match finding.part.as_str() {
            "" => String::new(),
            part => format!("{part:<6} "),
        };
        // A fix is advice about what is wrong; what is not applicable needs none.
        let fix = finding.fix.as_ref().filter(|_| finding.mark != Mark::NotApplicable);
        let fix = fix.map_or(String::new(), |fix| format!("; fix: {fix}"));
        let words = format!("{part}{} {}{fix}", finding.mark.text(), finding.text);
        line(&mut text, subject, &if public { without_paths(&words) } else { words });
    }
    let settings = judgement.settings.iter().map(|setting| setting_text(setting, public));
    line(&mut text, "settings", &folded(settings));
    text
}

fn line(text: &mut String, subject: &str, words: &str) {
    *text += format!("{subject:<INDENT$}{words}").trim_end();
    text.push('\n');
}

fn setting_text(setting: &Shown, public: bool) -> String {
    let origin = match &setting.origin {
        Origin::File(path, line) => format!("{}:{line}", file_name(path)),
        origin => origin.to_string(),
    };
    let value = if public { without_paths(&setting.value) } else { setting.value.clone() };
    format!("{}={value} ({origin})", setting.name)
}

/// Joined by commas, folded before the last column.
fn folded(parts: impl Iterator<Item = String>) -> String {
    let parts: Vec<String> = parts.collect();
    let mut text = String::new();
    let mut column = INDENT;
    for (at, part) in parts.iter().enumerate() {
        let comma = if at + 1 < parts.len() { "," } else { "" };
        if at > 0 && column + part.len() + 2 > WIDTH {
            text += &format!("\n{}", " ".repeat(INDENT));
            column = INDENT;
        } else if at > 0 {
            text.push(' ');
            column += 1;
        }
        text += part;
        text += comma;
        column += part.len() + comma.len();
    }
    text
}

/// Words that are paths, reduced to the file's name.
fn without_paths(text: &str) -> String {
    let word = |word: &str| match word.contains(['/', '\\']) && Path::new(word).has_root() {
        true => file_name(&PathBuf::from(word)),
        false => word.to_string(),
    };
    text.split(' ').map(word).collect::<Vec<_>>().join(" ")
}

fn file_name(path: &Path) -> String {
    path.file_name().map_or_else(String::new, |name| name.to_string_lossy().into_owned())
}

/// The same facts as one object.
pub fn json(judgement: &Judgement) -> String {
    let host = &judgement.host;
    let findings = judgement.findings.iter().map(|finding| {
        json!({
            "subject": finding.subject, "part": finding.part, "mark": finding.mark.name(),
            "text": finding.text, "fix": finding.fix,
        })
    });
    let settings = judgement.settings.iter().map(|setting| {
        json!({
            "name": setting.name, "value": setting.value, "origin": setting.origin.to_string(),
        })
    });
    let object = json!({
        "schema": 1, "version": env!("CARGO_PKG_VERSION"),
        "host": {
            "cores": host.cores, "features": host.features, "memory": host.memory,
            "system": host.system, "processor": host.processor,
        },
        "findings": findings.collect::<Vec<_>>(), "settings": settings.collect::<Vec<_>>(),
    });
    format!("{object}\n")
}

#[cfg(test)]
mod tests {
    use super::super::{Finding, host::Host};
    use super::*;

    fn example() -> Judgement {
        let fix = Some("install OpenBLAS".to_string());
        let finding = |subject, part: &str, mark, text: &str, fix| Finding {
            subject,
            part: part.into(),
            mark,
            text: text.into(),
            fix,
        };
        Judgement {
            host: Host {
                cores: 16,
                features: vec!["AVX2+FMA".into(), "no AVX-512".into()],
                memory: Some(24 << 30),
                system: "Linux 6.8".into(),
                processor: "x86_64",
            },
            findings: vec![
                finding("device", "wgpu", Mark::NotApplicable, "no GPU adapter", fix.clone()),
                finding("library", "", Mark::Warn, "/home/me/libx.so: not there", fix),
                finding("portable", "", Mark::Ok, "", None),
            ],
            settings: vec![
                Shown { name: "device".into(), value: "auto".into(), origin: Origin::BuiltIn },
                Shown {
                    name: "threads".into(),
                    value: "2".into(),
                    origin: Origin::File("/home/me/.config/rung/config.toml".into(), 3),
                },
            ],
        }
    }

    #[test]
    fn the_text_judges_and_names_origins() {
        let expected = "\
host      16 cores, AVX2+FMA, no AVX-512; 24 GiB; Linux 6.8 x86_64
device    wgpu   [--] no GPU adapter
library   [warn] /home/me/libx.so: not there; fix: install OpenBLAS
portable  [ok]
settings  device=auto (built in), threads=2 (config.toml:3)
";
        assert_eq!(text(&example(), false), expected);
    }

    #[test]
    fn the_public_text_names_no_path() {
        let text = text(&example(), true);
        assert!(text.starts_with("rung "), "{text}");
        assert!(!text.contains("/home") && text.contains("[warn] libx.so: not there"), "{text}");
    }

    #[test]
    fn json_has_the_same_facts() {
        let value: serde_json::Value = serde_json::from_str(&json(&example())).unwrap();
        assert_eq!(value["findings"][1]["mark"], "warn");
        assert_eq!(value["settings"][1]["origin"], "/home/me/.config/rung/config.toml:3");
    }
}
