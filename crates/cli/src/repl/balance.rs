//! Whether a text ends inside a form, so that the prompt goes on to the next line. Only the
//! brackets and what can hide them are looked at: strings, comments, `|names|` and characters.
//! Everything else is the reader's.

/// True when more is needed before the reader can finish.
pub fn ends_inside(text: &str) -> bool {
    let mut rest = text.chars().peekable();
    let mut depth = 0i64;
    // A quote, backquote or the like that still waits for its form.
    let mut waiting = false;
    while let Some(c) = rest.next() {
        match c {
            ';' => while rest.next_if(|c| *c != '\n').is_some() {},
            '"' | '|' => {
                if !closed(&mut rest, c) {
                    return true;
                }
                waiting = false;
            }
            '\\' => {
                rest.next();
                waiting = false;
            }
            '#' => match rest.peek() {
                Some('|') => {
                    rest.next();
                    if !comment_closed(&mut rest) {
                        return true;
                    }
                }
                Some('\\') => {
                    rest.next();
                    rest.next();
                    waiting = false;
                }
                _ => {}
            },
            '(' => {
                depth += 1;
                waiting = false;
            }
            ')' => depth -= 1,
            '\'' | '`' | ',' => waiting = true,
            // ,@ is one prefix.
            '@' if waiting => {}
            c if c.is_whitespace() => {}
            _ => waiting = false,
        }
    }
    depth > 0 || waiting
}

/// Skips to the end of a string or of a name between bars.
fn closed(rest: &mut impl Iterator<Item = char>, end: char) -> bool {
    while let Some(c) = rest.next() {
        match c {
            '\\' => {
                rest.next();
            }
            c if c == end => return true,
            _ => {}
        }
    }
    false
}

/// Skips to the end of a comment between `#|` and `|#`; they nest.
fn comment_closed(rest: &mut std::iter::Peekable<std::str::Chars>) -> bool {
    let mut depth = 1;
    while let Some(c) = rest.next() {
        match (c, rest.peek()) {
            ('|', Some('#')) => depth -= 1,
            ('#', Some('|')) => depth += 1,
            _ => continue,
        }
        rest.next();
        if depth == 0 {
            return true;
        }
    }
    false
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn open_forms_go_on() {
        for text in [
            "(",
            "(+ 1",
            "(a (b)",
            "\"abc",
            "(print \"a)\"",
            "'",
            "`",
            "(a) ,@",
            "#| comment",
            "#| a #| b |# ",
            "|a b",
            "(a ; )",
            "#'",
            "(a #\\)",
        ] {
            assert!(ends_inside(text), "{text}");
        }
    }

    #[test]
    fn closed_forms_and_atoms_end() {
        for text in [
            "",
            "1",
            "(+ 1 2)",
            "a b",
            "\"a(\"",
            "'a",
            "#\\(",
            "(a #\\))",
            "; (",
            "#| ( |# 1",
            ")",
            "|a(|",
            "(a)\n(b)",
            "\"a\\\"\"",
            "#'car",
            ",@a",
            "a\\(",
        ] {
            assert!(!ends_inside(text), "{text}");
        }
    }
}
