//! The control string of `format` as a tree: text and directives, the bodies of the enclosing
//! ones inside them. What a directive does is in `format` and its neighbours.
//!
//! A malformed control gives the position of the directive at fault, counted in characters.

/// A part of a control string.
pub(crate) enum Piece {
    /// Printed as it is.
    Text(String),
    /// A directive.
    Directive(Directive),
}

/// What stands between a tilde and its character.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Parameter {
    /// Left out.
    Missing,
    /// A number.
    Integer(i64),
    /// `'c`.
    Character(char),
    /// `V`: the next argument.
    Argument,
    /// `#`: how many arguments are left.
    Count,
}

/// Tilde, parameters, flags and character.
pub(crate) struct Directive {
    /// Where its tilde stands.
    pub(crate) position: usize,
    /// Its character, in upper case.
    pub(crate) character: char,
    /// Its parameters.
    pub(crate) parameters: Vec<Parameter>,
    /// `:`.
    pub(crate) colon: bool,
    /// `@`.
    pub(crate) at: bool,
    /// What it encloses, divided by `~;`.
    pub(crate) clauses: Vec<Vec<Piece>>,
    /// The `~;` between the clauses.
    pub(crate) separators: Vec<Directive>,
    /// The colon of the closing directive.
    pub(crate) close_colon: bool,
    /// The name in `~/name/`.
    pub(crate) name: String,
}

/// What is wrong, and where.
pub(crate) struct Malformed {
    pub(crate) position: usize,
    pub(crate) text: String,
}

/// The parts of a control string.
pub(crate) fn parse(control: &str) -> Result<Vec<Piece>, Malformed> {
    let characters = control.chars().collect::<Vec<_>>();
    let mut parser = Parser { characters: &characters, position: 0, depth: 0 };
    let (pieces, end) = parser.pieces()?;
    match end {
        None => Ok(pieces),
        Some(end) => Err(end.malformed(format!("~{} has no beginning", end.character))),
    }
}

const KNOWN: &str = "ASWDBOXRCFEGTP*?^$%&|~([{</\n";
/// Nesting of enclosing directives; a control beyond this is no honest one.
const DEPTH: usize = 100;

struct Parser<'a> {
    characters: &'a [char],
    position: usize,
    depth: usize,
}

impl Directive {
    pub(crate) fn malformed(&self, text: impl Into<String>) -> Malformed {
        Malformed { position: self.position, text: text.into() }
    }
}

impl Parser<'_> {
    fn peek(&self) -> Option<char> {
        self.characters.get(self.position).copied()
    }

    /// Pieces up to the end, or up to a directive that divides or closes, which is given too.
    fn pieces(&mut self) -> Result<(Vec<Piece>, Option<Directive>), Malformed> {
        let mut pieces = Vec::new();
        let mut text = String::new();
        while let Some(character) = self.peek() {
            if character != '~' {
                text.push(character);
                self.position += 1;
                continue;
            }
            if !text.is_empty() {
                pieces.push(Piece::Text(std::mem::take(&mut text)));
            }
            let mut directive = self.directive()?;
            match directive.character {
                ';' | ')' | ']' | '}' | '>' => return Ok((pieces, Some(directive))),
                '\n' => self.newline(&directive, &mut text),
                '(' | '[' | '{' | '<' => {
                    self.enclosed(&mut directive)?;
                    pieces.push(Piece::Directive(directive));
                }
                _ => pieces.push(Piece::Directive(directive)),
            }
        }
        if !text.is_empty() {
            pieces.push(Piece::Text(text));
        }
        Ok((pieces, None))
    }

    /// `~newline`: the line end and the blanks after it go; `@` keeps the one, `:` the others.
    fn newline(&mut self, directive: &Directive, text: &mut String) {
        if directive.at {
            text.push('\n');
        }
        if !directive.colon {
            while self.peek().is_some_and(|c| c.is_whitespace() && c != '\n') {
                self.position += 1;
            }
        }
    }

    fn enclosed(&mut self, opening: &mut Directive) -> Result<(), Malformed> {
        self.depth += 1;
        if self.depth > DEPTH {
            return Err(opening.malformed("directives are nested too deep"));
        }
        let closing = match opening.character {
            '(' => ')',
            '[' => ']',
            '{' => '}',
            _ => '>',
        };
        loop {
            let (pieces, end) = self.pieces()?;
            opening.clauses.push(pieces);
            let Some(end) = end else {
                let text = format!("~{} is not closed by ~{closing}", opening.character);
                return Err(opening.malformed(text));
            };
            if end.character == closing {
                opening.close_colon = end.colon;
                self.depth -= 1;
                return self.finish(opening, &end);
            }
            if end.character != ';' || matches!(opening.character, '(' | '{') {
                let text = format!("~{} inside ~{}", end.character, opening.character);
                return Err(end.malformed(text));
            }
            opening.separators.push(end);
        }
    }

    fn finish(&self, opening: &Directive, end: &Directive) -> Result<(), Malformed> {
        match opening.character {
            '<' if end.colon => Err(end.malformed("logical blocks are not in this version")),
            '[' if opening.colon && opening.clauses.len() != 2 => {
                Err(opening.malformed("~:[ wants two clauses"))
            }
            '[' if opening.at && opening.clauses.len() != 1 => {
                Err(opening.malformed("~@[ wants one clause"))
            }
            _ => Ok(()),
        }
    }

    fn directive(&mut self) -> Result<Directive, Malformed> {
        let position = self.position;
        self.position += 1;
        let wrong = |text: String| Malformed { position, text };
        let parameters = self.parameters().map_err(wrong)?;
        let (mut colon, mut at) = (false, false);
        loop {
            match self.peek() {
                Some(':') if !colon => colon = true,
                Some('@') if !at => at = true,
                Some(':' | '@') => return Err(wrong("a flag is there twice".to_string())),
                _ => break,
            }
            self.position += 1;
        }
        let Some(character) = self.peek() else {
            return Err(wrong("the control string ends inside a directive".to_string()));
        };
        self.position += 1;
        let character = character.to_ascii_uppercase();
        if !KNOWN.contains(character) && !";)]}>".contains(character) {
            return Err(wrong(match character {
                '_' | 'I' => format!("~{character} is not in this version"),
                _ => format!("there is no directive ~{character}"),
            }));
        }
        let name = if character == '/' { self.name().map_err(wrong)? } else { String::new() };
        Ok(Directive {
            position,
            character,
            parameters,
            colon,
            at,
            clauses: Vec::new(),
            separators: Vec::new(),
            close_colon: false,
            name,
        })
    }

    fn name(&mut self) -> Result<String, String> {
        let rest = &self.characters[self.position..];
        let Some(length) = rest.iter().position(|character| *character == '/') else {
            return Err("~/ wants a second slash".to_string());
        };
        self.position += length + 1;
        Ok(rest[..length].iter().collect())
    }

    fn parameters(&mut self) -> Result<Vec<Parameter>, String> {
        let mut parameters = Vec::new();
        loop {
            let parameter = self.parameter()?;
            let more = self.peek() == Some(',');
            if more || parameter != Parameter::Missing {
                parameters.push(parameter);
            }
            if !more {
                return Ok(parameters);
            }
            self.position += 1;
        }
    }

    fn parameter(&mut self) -> Result<Parameter, String> {
        match self.peek() {
            Some('\'') => {
                let Some(character) = self.characters.get(self.position + 1) else {
                    return Err("a character is missing after '".to_string());
                };
                self.position += 2;
                Ok(Parameter::Character(*character))
            }
            Some('v' | 'V') => {
                self.position += 1;
                Ok(Parameter::Argument)
            }
            Some('#') => {
                self.position += 1;
                Ok(Parameter::Count)
            }
            Some(c) if c.is_ascii_digit() || c == '+' || c == '-' => self.number(),
            _ => Ok(Parameter::Missing),
        }
    }

    fn number(&mut self) -> Result<Parameter, String> {
        let rest = &self.characters[self.position..];
        let signed = usize::from(!rest[0].is_ascii_digit());
        let digits = rest[signed..].iter().take_while(|c| c.is_ascii_digit()).count();
        let text = rest[..signed + digits].iter().collect::<String>();
        self.position += signed + digits;
        text.parse().map(Parameter::Integer).map_err(|_| format!("{text} is no parameter"))
    }
}
