//! The flags of an operation, made from its record: one for each parameter that a shell can give, one
//! for each option of its reader, and those that say where results go.

use super::Offering;
use rung_ops::record::{Kind, Parameter, Place};

/// One flag.
#[derive(Clone)]
pub struct Offered {
    /// `--ratio`.
    pub name: String,
    /// Further names, without dashes.
    pub also: &'static [&'static str],
    pub letter: Option<char>,
    /// What follows it, by name; "" for nothing.
    pub value: String,
    /// What it is for, without a full stop.
    pub text: String,
    pub role: Role,
}

/// What a flag gives or asks for.
#[derive(Clone, Copy)]
pub enum Role {
    Parameter(&'static Parameter),
    /// How the file is read.
    Option(&'static Parameter),
    /// Where the main result goes.
    Output,
    Picture,
    /// That files are taken in pieces.
    Stream,
    /// Where the result of this number goes.
    Result(usize),
}

impl Offered {
    /// Whether it is meant by `--name` or `-n`.
    pub fn is_spelled(&self, spelling: &str) -> bool {
        let letter = spelling.strip_prefix('-').and_then(|rest| {
            let mut letters = rest.chars();
            letters.next().filter(|_| letters.next().is_none())
        });
        let also = spelling.strip_prefix("--").is_some_and(|name| self.also.contains(&name));
        self.name == spelling || also || letter.is_some_and(|letter| self.letter == Some(letter))
    }

    /// How messages call it: `-k`, `--ratio`.
    pub fn spelling(&self) -> String {
        match self.letter {
            Some(only) if self.name == format!("--{only}") => format!("-{only}"),
            _ => self.name.clone(),
        }
    }

    /// As the help writes it: `-o, --output FILE`.
    pub fn usage(&self) -> String {
        // A parameter of one letter is typed as one.
        let name = match (self.letter, self.spelling()) {
            (Some(letter), name) if name == self.name => format!("-{letter}, {name}"),
            (_, name) => name,
        };
        format!("{name} {}", self.value).trim_end().to_string()
    }
}

/// Every flag of an operation, in the order of its help.
pub fn flags_of(offering: Offering) -> Vec<Offered> {
    let command = offering.command;
    let options = command.input.map_or(&[][..], |reader| reader.options);
    // What the file gives, and what is said about reading instead.
    let is_read = |p: &Parameter| {
        command.input.is_some_and(|reader| reader.parameter == p.name)
            || options.iter().any(|option| option.name == p.name)
    };
    let parameters = offering.op.parameters.iter().filter(|p| !is_read(p));
    let mut flags: Vec<Offered> =
        parameters.filter_map(|p| of_parameter(p, Role::Parameter(p))).collect();
    flags.extend(options.iter().filter_map(|p| of_parameter(p, Role::Option(p))));
    let to_file = |name: &str, letter, text: String, role| Offered {
        name: format!("--{name}"),
        also: &[],
        letter,
        value: "FILE".into(),
        text,
        role,
    };
    let written = format!("{}: {}", command.output.what, command.output.endings.join(" "));
    flags.push(to_file("output", Some('o'), written, Role::Output));
    if let Some(picture) = &command.picture {
        flags.push(to_file("png", None, format!("a picture of {}", picture.what), Role::Picture));
    }
    if let Some(streamed) = &command.stream {
        flags.push(Offered {
            name: "--stream".into(),
            also: &[],
            letter: None,
            value: String::new(),
            text: format!("in pieces: memory does not grow with the file; {}", streamed.text),
            role: Role::Stream,
        });
    }
    for (at, result) in offering.op.results.iter().enumerate().filter(|(_, r)| r.is_array) {
        let text = format!("{}: {}", result.text, super::outputs::ARRAYS.join(" "));
        flags.push(to_file(result.name, None, text, Role::Result(at)));
    }
    flags
}

/// The flag of a parameter; none for what no shell can write down.
fn of_parameter(parameter: &'static Parameter, role: Role) -> Option<Offered> {
    let value = match parameter.kind {
        Kind::Flag => String::new(),
        Kind::Truth => "true|false".into(),
        Kind::Integer => "N".into(),
        Kind::Each => "N|N,N,...".into(),
        Kind::Number => "X".into(),
        Kind::Text => "TEXT".into(),
        Kind::Pair | Kind::Shape | Kind::Integers | Kind::Index => "N,N,...".into(),
        Kind::IndexOr(words) => format!("N,N,...|{}", words.join("|")),
        Kind::Choice(words) => words.join("|"),
        Kind::Array | Kind::Operand | Kind::Vector => "FILE|X,X,...".into(),
        _ => return None,
    };
    let mut letters = parameter.name.chars();
    let mut text = parameter.about();
    if parameter.place == Place::Required {
        text += "; has to be given";
    }
    Some(Offered {
        name: format!("--{}", parameter.name),
        also: parameter.also,
        letter: letters.next().filter(|_| letters.next().is_none()),
        value,
        text,
        role,
    })
}
