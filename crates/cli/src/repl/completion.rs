//! Completion at the prompt: the names that a word may become, seen from the current package.
//! The names are copied before each line, so the line editor never touches the running Lisp.

use rung_lisp::Lisp;

/// Every name that can be typed, in lower case, sorted: plain ones that are visible here, and
/// `package:name` for the exported ones of every package.
#[derive(Default)]
pub struct Names(Vec<String>);

impl Names {
    /// The names as they are now.
    pub fn of(lisp: &Lisp) -> Names {
        let mut names = lisp.completions("");
        names.extend(lisp.completions(":"));
        for id in lisp.packages.all() {
            let package = &lisp.packages[id];
            for called in package.nicknames.iter().chain([&package.name]) {
                names.extend(lisp.completions(&format!("{}:", called.to_lowercase())));
            }
        }
        names.sort();
        names.dedup();
        Names(names)
    }

    /// Where the word before `end` begins, and what it may become.
    pub fn complete(&self, line: &str, end: usize) -> (usize, Vec<String>) {
        let before = &line[..end];
        let boundary = before.char_indices().rev().find(|(_, c)| is_boundary(*c));
        let start = boundary.map_or(0, |(at, c)| at + c.len_utf8());
        let word = before[start..].to_lowercase();
        if word.is_empty() {
            return (start, Vec::new());
        }
        let from = self.0.partition_point(|name| *name < word);
        let fits = self.0[from..].iter().take_while(|name| name.starts_with(&word));
        (start, fits.cloned().collect())
    }
}

fn is_boundary(c: char) -> bool {
    c.is_whitespace() || "()'`,\"#;@".contains(c)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_word_before_the_cursor_is_completed() {
        let names = Names(["la:matmul", "la:mean", "list", "list*"].map(String::from).to_vec());
        let (start, fits) = names.complete("(la:m a)", 5);
        assert_eq!((start, fits), (1, vec!["la:matmul".to_string(), "la:mean".into()]));
        assert_eq!(names.complete("#'LIS", 5), (2, vec!["list".to_string(), "list*".into()]));
        assert_eq!(names.complete("(", 1), (1, vec![]));
    }
}
