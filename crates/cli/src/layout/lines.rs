//! Where the lines of a program begin: the layout that `rung fmt` gives.
//!
//! Lines stay where the writer broke them. Each is indented by the form it continues: the body of a
//! form by two columns, other arguments below the first one. Between tokens stands one space, none
//! inside parentheses; a parenthesis does not begin a line; a line that is too long is broken at
//! its outermost list. Comments with three semicolons begin at the edge.

use super::tokens::{Kind, Token};

/// Forms by the number of arguments that stand before their body.
const BODIES: &[(&str, usize)] = &[
    ("block", 1),
    ("case", 1),
    ("catch", 1),
    ("ccase", 1),
    ("ctypecase", 1),
    ("destructuring-bind", 2),
    ("do", 2),
    ("do*", 2),
    ("dolist", 1),
    ("dotimes", 1),
    ("ecase", 1),
    ("etypecase", 1),
    ("eval-when", 1),
    ("flet", 1),
    ("handler-bind", 1),
    ("handler-case", 1),
    ("labels", 1),
    ("lambda", 1),
    ("let", 1),
    ("let*", 1),
    ("locally", 0),
    ("macrolet", 1),
    ("multiple-value-bind", 2),
    ("multiple-value-prog1", 1),
    ("print-unreadable-object", 1),
    ("prog", 1),
    ("prog*", 1),
    ("prog1", 1),
    ("prog2", 2),
    ("progn", 0),
    ("progv", 2),
    ("restart-bind", 1),
    ("restart-case", 1),
    ("symbol-macrolet", 1),
    ("tagbody", 0),
    ("typecase", 1),
    ("unless", 1),
    ("until", 1),
    ("unwind-protect", 1),
    ("when", 1),
    ("while", 1),
    (":method", 1),
];

/// Forms whose first argument is a list of functions.
const FUNCTIONS: &[&str] = &["flet", "labels", "macrolet"];
/// Forms whose later arguments are clauses with a lambda list.
const CLAUSES: &[&str] = &["handler-case", "restart-case"];

/// A list that is open where a line begins.
struct List {
    /// The column of its parenthesis.
    column: usize,
    /// The width of `(`, or of `#2A(`.
    width: usize,
    /// Its first element, if that is a symbol.
    head: Option<String>,
    /// How many elements have begun.
    count: usize,
    /// The column of the second element, if it stands on the line of the first.
    second: Option<usize>,
    /// The line of the first element.
    line: usize,
    /// The body of a local function or of a clause.
    clause: bool,
    /// Data: after a quote.
    quoted: bool,
}

impl List {
    /// How many arguments stand before the body; none when it has no body.
    fn distinguished(&self) -> Option<usize> {
        if self.clause {
            return Some(1);
        }
        if self.quoted {
            return None;
        }
        let name = self.head.as_deref()?;
        let name = name.rsplit(':').next().filter(|_| !name.starts_with(':')).unwrap_or(name);
        if let Ok(at) = BODIES.binary_search_by(|(known, _)| (*known).cmp(name)) {
            return Some(BODIES[at].1);
        }
        if let Some((_, count)) = BODIES.iter().find(|(known, _)| *known == name) {
            return Some(*count);
        }
        let body = name.starts_with("def") && name != "default";
        match body {
            true => Some(if name == "defmethod" || name == "defclass" { 3 } else { 2 }),
            false => ["with-", "do-", "without-"]
                .iter()
                .any(|start| name.starts_with(start))
                .then_some(1),
        }
    }

    /// The column of the element that begins a line.
    fn indentation(&self) -> usize {
        let inside = self.column + self.width;
        match (self.distinguished(), &self.head) {
            (Some(count), Some(_)) if self.count > count => self.column + 2,
            (Some(_), Some(name)) if name.starts_with("def") => self.column + 4,
            (Some(_), Some(_)) => self.column + 4,
            (_, Some(_)) if !self.quoted => self.second.unwrap_or(inside),
            _ => inside,
        }
    }
}

/// The program in its layout.
pub fn laid_out(tokens: &[Token], width: usize) -> String {
    let mut printer = Printer { text: String::new(), column: 0, line: 0, lists: Vec::new(), width };
    for (at, token) in tokens.iter().enumerate() {
        printer.token(tokens, at, token);
    }
    if !printer.text.is_empty() {
        printer.text.push('\n');
    }
    printer.text
}

struct Printer {
    text: String,
    /// The column that has been reached.
    column: usize,
    line: usize,
    lists: Vec<List>,
    width: usize,
}

impl Printer {
    fn token(&mut self, all: &[Token], at: usize, token: &Token) {
        let before = at.checked_sub(1).map(|before| &all[before]);
        if let Some(before) = before {
            self.space(all, at, before, token);
        }
        if !matches!(token.kind, Kind::Close | Kind::Comment | Kind::Block) {
            self.element(before, token);
        }
        let column = self.column;
        self.put(token.text);
        match token.kind {
            Kind::Open => self.open(before, column, token.text),
            Kind::Close => {
                self.lists.pop();
            }
            _ => {}
        }
    }

    fn put(&mut self, text: &str) {
        let text = if text.starts_with(';') { text.trim_end() } else { text };
        self.text.push_str(text);
        match text.rfind('\n') {
            Some(end) => self.column = text[end + 1..].chars().count(),
            None => self.column += text.chars().count(),
        }
    }

    /// What stands between a token and the one before it.
    fn space(&mut self, all: &[Token], at: usize, before: &Token, token: &Token) {
        if before.kind == Kind::Comment {
            return self.new_line(token, token.breaks.max(1));
        }
        match token.kind {
            Kind::Comment if token.breaks == 0 => {
                // Comments in a column stay there.
                let wanted = token.column.max(self.column + 1).min(self.column + 40);
                self.put(&" ".repeat(wanted - self.column));
            }
            Kind::Close => {}
            _ if before.kind == Kind::Prefix && token.kind != Kind::Comment => {}
            _ if self.lists.is_empty() => self.new_line(token, token.breaks.max(1)),
            _ if token.breaks > 0 => self.new_line(token, token.breaks),
            _ if before.kind == Kind::Open => {}
            // The first argument stays beside its operator, and is broken inside.
            _ if self.lists.last().is_some_and(|list| list.count == 1) => self.put(" "),
            _ if self.is_too_long(all, at) => self.new_line(token, 1),
            _ => self.put(" "),
        }
    }

    /// Whether what stands on this line from a token on, up to where the line may be broken next,
    /// reaches beyond the width.
    fn is_too_long(&self, all: &[Token], at: usize) -> bool {
        let (mut column, mut depth) = (self.column + 1, 0usize);
        for (index, token) in all[at..].iter().enumerate() {
            if index > 0 && token.breaks > 0 {
                break;
            }
            column += token.text.lines().next().unwrap_or("").chars().count();
            match token.kind {
                Kind::Open => depth += 1,
                Kind::Close if depth == 0 => {}
                Kind::Close => depth -= 1,
                Kind::Comment => break,
                _ => {}
            }
            let next = all.get(at + index + 1);
            let ends = depth == 0
                && token.kind != Kind::Prefix
                && next.is_none_or(|next| next.kind != Kind::Close);
            if ends {
                break;
            }
            let joined = matches!(token.kind, Kind::Open | Kind::Prefix)
                || next.is_some_and(|next| next.kind == Kind::Close);
            column += usize::from(!joined);
        }
        column > self.width
    }

    fn new_line(&mut self, token: &Token, breaks: usize) {
        let blank = breaks > 1;
        self.text.push_str(if blank { "\n\n" } else { "\n" });
        self.line += 1;
        self.column = 0;
        let edge = token.kind == Kind::Comment && token.text.starts_with(";;;");
        let indentation = match self.lists.last() {
            Some(list) if !edge => list.indentation(),
            _ => 0,
        };
        self.put(&" ".repeat(indentation));
    }

    /// Notes that an element of the innermost list begins here.
    fn element(&mut self, before: Option<&Token>, token: &Token) {
        if before.is_some_and(|before| before.kind == Kind::Prefix) {
            return;
        }
        let (column, line) = (self.column, self.line);
        let Some(list) = self.lists.last_mut() else { return };
        match list.count {
            0 => {
                list.line = line;
                let symbol = token.kind == Kind::Atom && !token.text.starts_with(['"', '#']);
                let number = token.text.starts_with(|c: char| c.is_ascii_digit());
                list.head = (symbol && !number).then(|| token.text.to_lowercase());
            }
            1 if list.line == line => list.second = Some(column),
            _ => {}
        }
        list.count += 1;
    }

    fn open(&mut self, before: Option<&Token>, column: usize, text: &str) {
        let mut outer = self.lists.iter().rev();
        let (parent, above) = (outer.next(), outer.next());
        let named = |list: Option<&List>, names: &[&str]| {
            list.and_then(|list| list.head.as_deref()).is_some_and(|head| names.contains(&head))
        };
        let function = above.is_some_and(|above| above.count == 2)
            && named(above, FUNCTIONS)
            && parent.is_some_and(|parent| parent.head.is_none());
        let clause = named(parent, CLAUSES) && parent.is_some_and(|parent| parent.count > 2);
        let quote = before.is_some_and(|before| before.kind == Kind::Prefix && before.text == "'");
        let quoted = quote || text != "(" || parent.is_some_and(|parent| parent.quoted);
        self.lists.push(List {
            column,
            width: text.chars().count(),
            head: None,
            count: 0,
            second: None,
            line: self.line,
            clause: function || clause,
            quoted,
        });
    }
}

#[cfg(test)]
mod tests {
    use super::super::tokens::tokens;
    use super::*;

    fn formatted(text: &str) -> String {
        laid_out(&tokens(text).unwrap(), 80)
    }

    #[test]
    fn bodies_are_indented_by_two_and_arguments_below_the_first() {
        let text = "(defun f (x)\n(let ((a 1)\n(b 2))\n(list a\nb\n x)))\n";
        let wanted = "(defun f (x)\n  (let ((a 1)\n        (b 2))\n    (list a\n          b\n          \
                      x)))\n";
        assert_eq!(formatted(text), wanted);
    }

    #[test]
    fn closing_parentheses_join_the_line_before() {
        assert_eq!(formatted("(a\n b\n )\n\n\n\n(c )"), "(a\n b)\n\n(c)\n");
        assert_eq!(formatted("(a ; why\n)"), "(a ; why\n )\n");
    }

    #[test]
    fn local_functions_and_clauses_have_bodies() {
        let text = "(labels ((f (x)\nx))\n(handler-case (f 1)\n(error (e)\ne)))";
        let wanted =
            "(labels ((f (x)\n           x))\n  (handler-case (f 1)\n    (error (e)\n      e)))\n";
        assert_eq!(formatted(text), wanted);
    }

    #[test]
    fn what_is_too_long_is_broken_at_its_outermost_list() {
        let text = "(when (foo aaaaaaaa bbbbbbbbbb) (bar cccccccccc dddddddddd) (baz eeeeeeee))";
        let wanted =
            "(when (foo aaaaaaaa bbbbbbbbbb)\n  (bar cccccccccc dddddddddd)\n  (baz eeeeeeee))\n";
        assert_eq!(laid_out(&tokens(text).unwrap(), 34), wanted);
    }

    #[test]
    fn formatting_twice_changes_nothing() {
        for text in ["(a '(b\nc) #'d)", ";;; top\n(x ;; in\n y)", "(loop for x in y\n do (z))"] {
            let once = formatted(text);
            assert_eq!(formatted(&once), once);
        }
    }
}
