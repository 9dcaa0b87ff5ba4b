//! Rust source split into what is code, what is comment and which string literals it holds, so that
//! a lint for a word does not trip over the word in prose. A scanner, not a parser: it knows
//! comments, strings, raw strings, characters and lifetimes, and nothing of the grammar.

/// One source text, line by line.
#[derive(Default)]
pub struct Source {
    /// Each line with comments and the insides of literals blanked out.
    pub code: Vec<String>,
    /// Each line's comment text.
    pub comments: Vec<String>,
    /// Line number (from 0) and text of each string literal, escapes as written.
    pub strings: Vec<(usize, String)>,
}

impl Source {
    pub fn new(text: &str) -> Source {
        let mut scanner = Scanner { rest: text.chars().collect(), at: 0, out: Source::default() };
        scanner.out.line();
        scanner.run();
        scanner.out
    }

    /// The line (from 0) where the file's unit tests begin; the number of lines when there are none.
    pub fn tests_begin(&self) -> usize {
        let is_tests = |line: &String| line.trim() == "#[cfg(test)]";
        self.code.iter().position(is_tests).unwrap_or(self.code.len())
    }

    fn line(&mut self) {
        self.code.push(String::new());
        self.comments.push(String::new());
    }

    fn last(&self) -> usize {
        self.code.len() - 1
    }
}

/// Words of a line of code: identifiers and keywords.
pub fn words(code: &str) -> impl Iterator<Item = &str> {
    code.split(|c: char| !(c.is_alphanumeric() || c == '_')).filter(|word| !word.is_empty())
}

struct Scanner {
    rest: Vec<char>,
    at: usize,
    out: Source,
}

impl Scanner {
    fn peek(&self, ahead: usize) -> Option<char> {
        self.rest.get(self.at + ahead).copied()
    }

    fn code(&mut self, c: char) {
        let last = self.out.last();
        match c {
            '\n' => self.out.line(),
            _ => self.out.code[last].push(c),
        }
    }

    fn comment(&mut self, c: char) {
        let last = self.out.last();
        match c {
            '\n' => self.out.line(),
            _ => self.out.comments[last].push(c),
        }
    }

    fn run(&mut self) {
        while let Some(c) = self.peek(0) {
            match (c, self.peek(1)) {
                ('/', Some('/')) => self.line_comment(),
                ('/', Some('*')) => self.block_comment(),
                ('"', _) => self.string(),
                ('r', Some('"' | '#')) if !self.inside_word() && self.raw_hashes().is_some() => {
                    self.raw_string();
                }
                ('\'', _) => self.character_or_lifetime(),
                _ => {
                    self.code(c);
                    self.at += 1;
                }
            }
        }
    }

    /// Whether the character before continues a word other than the prefix `b` or `c`.
    fn inside_word(&self) -> bool {
        let before = self.at.checked_sub(1).map(|i| self.rest[i]);
        before.is_some_and(|c| (c.is_alphanumeric() && c != 'b' && c != 'c') || c == '_')
    }

    fn line_comment(&mut self) {
        while let Some(c) = self.peek(0).filter(|&c| c != '\n') {
            self.comment(c);
            self.at += 1;
        }
    }

    fn block_comment(&mut self) {
        let mut depth = 0;
        while let Some(c) = self.peek(0) {
            match (c, self.peek(1)) {
                ('/', Some('*')) => depth += 1,
                ('*', Some('/')) => depth -= 1,
                _ => {
                    self.comment(c);
                    self.at += 1;
                    continue;
                }
            }
            self.at += 2;
            if depth == 0 {
                return;
            }
        }
    }

    fn string(&mut self) {
        self.code('"');
        self.at += 1;
        let (line, mut text) = (self.out.last(), String::new());
        while let Some(c) = self.peek(0) {
            self.at += 1;
            match c {
                '"' => break,
                '\\' => {
                    text.push(c);
                    text.extend(self.peek(0));
                    if self.peek(0) == Some('\n') {
                        self.out.line();
                    }
                    self.at += 1;
                }
                _ => {
                    text.push(c);
                    if c == '\n' {
                        self.out.line();
                    }
                }
            }
        }
        self.code('"');
        self.out.strings.push((line, text));
    }

    /// How many `#` stand between an `r` and its quote; none when it is not a raw string.
    fn raw_hashes(&self) -> Option<usize> {
        let hashes = (1..).take_while(|&i| self.peek(i) == Some('#')).count();
        (self.peek(1 + hashes) == Some('"')).then_some(hashes)
    }

    fn raw_string(&mut self) {
        let hashes = self.raw_hashes().unwrap_or(0);
        self.at += 2 + hashes;
        self.code('"');
        let (line, mut text) = (self.out.last(), String::new());
        while let Some(c) = self.peek(0) {
            let closes = c == '"' && (1..=hashes).all(|i| self.peek(i) == Some('#'));
            if closes {
                self.at += 1 + hashes;
                break;
            }
            text.push(c);
            if c == '\n' {
                self.out.line();
            }
            self.at += 1;
        }
        self.code('"');
        self.out.strings.push((line, text));
    }

    fn character_or_lifetime(&mut self) {
        let length = match (self.peek(1), self.peek(2)) {
            // '\n', '\'' and '\u{3042}' end at the next quote after the escaped character.
            (Some('\\'), _) => (3..).find(|&i| matches!(self.peek(i), Some('\'') | None)),
            (_, Some('\'')) => Some(2),
            _ => None,
        };
        self.code('\'');
        self.at += 1 + length.unwrap_or(0);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn comments_and_literals_are_not_code() {
        let source =
            Source::new("let a = \"unsafe // x\"; // unsafe\nlet b = '\"'; /* un\nsafe */ c");
        assert_eq!(source.code, ["let a = \"\"; ", "let b = '; ", " c"]);
        assert_eq!(source.comments[0], "// unsafe");
        assert_eq!(source.comments[1].trim(), "un");
        assert_eq!(source.strings, [(0, "unsafe // x".to_string())]);
    }

    #[test]
    fn raw_and_byte_strings_are_literals() {
        let source =
            Source::new("f(r#\"a \"quoted\" b\"#, br\"c\", b\"d\", \"e\\\"f\", for_r\"g\")");
        let texts: Vec<&str> = source.strings.iter().map(|(_, text)| text.as_str()).collect();
        assert_eq!(texts, ["a \"quoted\" b", "c", "d", "e\\\"f", "g"]);
    }

    #[test]
    fn lifetimes_and_characters_differ() {
        let source =
            Source::new("fn f<'a>(x: &'a str) -> char { '\\'' } // 'b'\n'\\u{41}'; 'c'; d");
        assert_eq!(source.code[0], "fn f<'a>(x: &'a str) -> char { ' } ");
        assert_eq!(source.code[1], "'; '; d");
    }

    #[test]
    fn strings_over_several_lines_keep_the_line_numbers() {
        let source = Source::new("a(\"one\ntwo \\\n three\");\nb");
        assert_eq!(source.code.len(), 4);
        assert_eq!(source.code[3], "b");
        assert_eq!(source.strings[0].0, 0);
    }

    #[test]
    fn unit_tests_begin_at_their_attribute() {
        assert_eq!(Source::new("a\n#[cfg(test)]\nmod tests {}").tests_begin(), 1);
        assert_eq!(Source::new("a\nb").tests_begin(), 2);
    }

    #[test]
    fn words_are_whole() {
        assert_eq!(
            words("unsafe { unsafe_code(x) }").collect::<Vec<_>>(),
            ["unsafe", "unsafe_code", "x"]
        );
    }
}
