//! Lisp text as tokens with the space around them, for `rung fmt`. Nothing is interned or
//! evaluated, and nothing is lost but spaces and line ends: the texts of the tokens, in order, are
//! the program.

/// What a token is.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Kind {
    /// `(` with what belongs to it: `#(`, `#2A(`, `#d(`.
    Open,
    Close,
    /// What stands before a form without a space: `'`, `,@`, `#'`, `#+`.
    Prefix,
    /// A symbol, number, string or character.
    Atom,
    /// `; ...` to the end of the line.
    Comment,
    /// `#| ... |#`.
    Block,
}

/// A token and what stood before it.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Token<'t> {
    pub kind: Kind,
    pub text: &'t str,
    /// Line ends before it.
    pub breaks: usize,
    /// Where it began in its line, from 0, in characters.
    pub column: usize,
    /// The line it began on, from 1.
    pub line: usize,
}

struct Lexer<'t> {
    text: &'t str,
    at: usize,
    line: usize,
    /// Where the line begins.
    start: usize,
}

/// Why a text has no tokens: what is not closed, and where it began.
#[derive(Debug, PartialEq, Eq)]
pub struct Unclosed {
    pub what: &'static str,
    pub line: usize,
    pub column: usize,
}

/// The tokens of a text.
pub fn tokens(text: &str) -> Result<Vec<Token<'_>>, Unclosed> {
    let mut lexer = Lexer { text, at: 0, line: 1, start: 0 };
    let mut all = Vec::new();
    let mut open = Vec::new();
    while let Some(token) = lexer.next()? {
        match token.kind {
            Kind::Open => open.push((token.line, token.column + 1)),
            Kind::Close if open.pop().is_none() => {
                let (line, column) = (token.line, token.column + 1);
                return Err(Unclosed { what: "a parenthesis closes nothing", line, column });
            }
            _ => {}
        }
        all.push(token);
    }
    match open.last() {
        Some((line, column)) => {
            Err(Unclosed { what: "a list is not closed", line: *line, column: *column })
        }
        None => Ok(all),
    }
}

impl<'t> Lexer<'t> {
    fn rest(&self) -> &'t str {
        &self.text[self.at..]
    }

    fn next(&mut self) -> Result<Option<Token<'t>>, Unclosed> {
        let mut breaks = 0;
        while let Some(c) = self.rest().chars().next().filter(|c| c.is_whitespace()) {
            self.at += c.len_utf8();
            if c == '\n' {
                breaks += 1;
                self.line += 1;
                self.start = self.at;
            }
        }
        let Some(first) = self.rest().chars().next() else { return Ok(None) };
        let (begin, line) = (self.at, self.line);
        let column = self.text[self.start..begin].chars().count();
        let kind = self.kind(first).ok_or_else(|| {
            let what = match first {
                '"' => "a string is not closed",
                '|' => "a name in bars is not closed",
                _ => "a comment is not closed",
            };
            Unclosed { what, line, column: column + 1 }
        })?;
        let text = &self.text[begin..self.at];
        if let Some(end) = text.rfind('\n') {
            self.line += text.matches('\n').count();
            self.start = begin + end + 1;
        }
        Ok(Some(Token { kind, text, breaks, column, line }))
    }

    /// Takes one token; `None` when the text ends inside it.
    fn kind(&mut self, first: char) -> Option<Kind> {
        match first {
            '(' => self.take(1, Kind::Open),
            ')' => self.take(1, Kind::Close),
            '\'' | '`' => self.take(1, Kind::Prefix),
            ',' => {
                self.take(1 + usize::from(self.rest()[1..].starts_with(['@', '.'])), Kind::Prefix)
            }
            ';' => {
                self.at += self.rest().find('\n').unwrap_or(self.rest().len());
                Some(Kind::Comment)
            }
            '#' => self.dispatch(),
            _ => self.atom(),
        }
    }

    fn take(&mut self, bytes: usize, kind: Kind) -> Option<Kind> {
        self.at += bytes;
        Some(kind)
    }

    /// What begins with `#`.
    fn dispatch(&mut self) -> Option<Kind> {
        let rest = self.rest();
        let digits = rest[1..].bytes().take_while(u8::is_ascii_digit).count();
        let mut after = rest[1 + digits..].chars();
        match after.next() {
            Some('|') => self.block(),
            Some('\\') => {
                // The character itself may be a delimiter.
                let character = after.next().map_or(0, char::len_utf8);
                self.at += 2 + digits + character;
                self.word()
            }
            Some('\'' | '.' | '+' | '-' | '=') => self.take(2 + digits, Kind::Prefix),
            Some(c) if c.is_alphabetic() || c == '(' || c == '[' => {
                let name = rest[1 + digits..].bytes().take_while(u8::is_ascii_alphanumeric).count();
                let shape = &rest[1 + digits + name..];
                let shape = match (shape.starts_with('['), shape.find(']')) {
                    (true, Some(end)) => end + 1,
                    _ => 0,
                };
                match rest[1 + digits + name + shape..].chars().next() {
                    Some('(') => self.take(2 + digits + name + shape, Kind::Open),
                    Some('"') => {
                        self.at += 1 + digits + name;
                        self.atom()
                    }
                    _ => self.atom(),
                }
            }
            _ => self.atom(),
        }
    }

    fn block(&mut self) -> Option<Kind> {
        let rest = self.rest();
        let (mut depth, mut at) = (0usize, 0);
        loop {
            let tail = &rest[at..];
            if tail.starts_with("#|") {
                depth += 1;
                at += 2;
            } else if tail.starts_with("|#") {
                depth -= 1;
                at += 2;
                if depth == 0 {
                    return self.take(at, Kind::Block);
                }
            } else {
                at += tail.chars().next()?.len_utf8();
            }
        }
    }

    /// A string, or a word.
    fn atom(&mut self) -> Option<Kind> {
        if self.rest().starts_with('"') {
            self.quoted('"')?;
            return Some(Kind::Atom);
        }
        self.at += self.rest().chars().next().filter(|c| *c == '#').map_or(0, char::len_utf8);
        self.word()
    }

    /// Up to the closing quote, which is taken.
    fn quoted(&mut self, quote: char) -> Option<()> {
        let mut characters = self.rest().char_indices().skip(1);
        while let Some((at, c)) = characters.next() {
            match c {
                '\\' => {
                    characters.next()?;
                }
                c if c == quote => {
                    self.at += at + 1;
                    return Some(());
                }
                _ => {}
            }
        }
        None
    }

    /// Up to white space, a parenthesis, a quote or a semicolon.
    fn word(&mut self) -> Option<Kind> {
        while let Some(c) = self.rest().chars().next() {
            match c {
                '|' => self.quoted('|')?,
                '\\' => {
                    let next = self.rest()[1..].chars().next().map_or(0, char::len_utf8);
                    self.at += 1 + next;
                }
                '(' | ')' | '"' | ';' | '\'' | '`' | ',' => break,
                c if c.is_whitespace() => break,
                c => self.at += c.len_utf8(),
            }
        }
        Some(Kind::Atom)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn texts(text: &str) -> Vec<&str> {
        tokens(text).unwrap().iter().map(|token| token.text).collect()
    }

    #[test]
    fn tokens_are_the_readers() {
        assert_eq!(texts("(a 'b #'c ,@d)"), ["(", "a", "'", "b", "#'", "c", ",@", "d", ")"]);
        assert_eq!(texts("#\\( #\\) #\\Space"), ["#\\(", "#\\)", "#\\Space"]);
        assert_eq!(texts("\"a ; \\\" b\" ; c"), ["\"a ; \\\" b\"", "; c"]);
        assert_eq!(
            texts("#d((1 2)) #2A((1)) #d[0 3]()"),
            ["#d(", "(", "1", "2", ")", ")", "#2A(", "(", "1", ")", ")", "#d[0 3](", ")"]
        );
        assert_eq!(texts("#| a #| b |# |# |x ;y|z"), ["#| a #| b |# |#", "|x ;y|z"]);
        assert_eq!(
            texts("#+rung (x) #p\"a b\" #*01"),
            ["#+", "rung", "(", "x", ")", "#p\"a b\"", "#*01"]
        );
    }

    #[test]
    fn what_is_not_closed_is_told_with_its_place() {
        let unclosed = tokens("(a)\n  (b").unwrap_err();
        assert_eq!(unclosed, Unclosed { what: "a list is not closed", line: 2, column: 3 });
        assert_eq!(tokens(" )").unwrap_err().column, 2);
        assert_eq!(tokens("\"").unwrap_err().what, "a string is not closed");
    }
}
