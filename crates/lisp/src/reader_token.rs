//! Tokens: what the reader makes of a run of constituent characters, a number or a symbol.
//!
//! Case is folded up where nothing is escaped. A token that could be a number and is none by the
//! rules (`1+`, `1e`, `+-`) is a symbol. Where symbols live is the business of `package`.

use num_bigint::BigInt;
use num_traits::Zero;

use crate::lisp::Lisp;
use crate::numbers::decimal::Decimal;
use crate::package::{Access, PackageId};
use crate::reader::{Item, Read, ReadError, Reader};
use crate::readtable::{ReadCase, inverted};
use crate::symbol;
use crate::value::Value;

/// A run of constituent characters.
pub(crate) struct Token {
    /// The text, folded to upper case where not escaped, escapes removed.
    pub(crate) text: String,
    /// Whether anything was escaped, which makes it a symbol.
    pub(crate) escaped: bool,
    /// Byte offsets in `text` of colons that were not escaped.
    colons: Vec<usize>,
}

/// How a number without an exponent marker of its own is read.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum FloatFormat {
    Single,
    Double,
}

impl FloatFormat {
    /// What `*read-default-float-format*` says.
    pub(crate) fn current(lisp: &Lisp) -> FloatFormat {
        let value = lisp.variable(symbol::READ_DEFAULT_FLOAT_FORMAT);
        let single = value.is_symbol(symbol::SINGLE_FLOAT) || value.is_symbol(symbol::SHORT_FLOAT);
        if single { FloatFormat::Single } else { FloatFormat::Double }
    }
}

impl Reader {
    /// The token at the cursor as a form.
    pub(crate) fn token_item(&mut self, lisp: &mut Lisp) -> Read<Item> {
        let start = self.position();
        let token = self.token(lisp, start)?;
        if self.suppress {
            return Ok(if token.text == "." { Item::Dot } else { Item::Form(Value::Nil) });
        }
        if !token.escaped {
            if token.text.bytes().all(|byte| byte == b'.') {
                return match token.text.len() {
                    1 => Ok(Item::Dot),
                    _ => Err(self.wrong(start, "a token of dots alone")),
                };
            }
            if let Some(number) = self.number(lisp, &token.text, start)? {
                return Ok(Item::Form(number));
            }
        }
        self.symbol(lisp, &token, start).map(Item::Form)
    }

    /// Consumes a token; `start` is where its form began.
    pub(crate) fn token(&mut self, lisp: &mut Lisp, start: usize) -> Read<Token> {
        let mut token = Token { text: String::new(), escaped: false, colons: Vec::new() };
        let case = self.table().map_or(ReadCase::Up, |table| table.case.get());
        let mut free = Vec::new();
        while let Some(character) = self.peek(lisp)? {
            if self.ends_token(character) {
                break;
            }
            self.next(lisp)?;
            match self.class(character) {
                '\\' => {
                    token.escaped = true;
                    match self.next(lisp)? {
                        Some(character) => token.text.push(character),
                        None => return Err(self.incomplete_at(lisp, "a symbol", start)),
                    }
                }
                '|' => self.bars(lisp, &mut token, start)?,
                ':' => {
                    token.colons.push(token.text.len());
                    token.text.push(':');
                }
                _ => {
                    if case == ReadCase::Invert {
                        free.push(token.text.chars().count());
                    }
                    token.text.push(case.letter(character));
                }
            }
        }
        if case == ReadCase::Invert {
            token.text = inverted(&token.text, |at| free.binary_search(&at).is_ok());
        }
        Ok(token)
    }

    /// The inside of `|...|`.
    fn bars(&mut self, lisp: &mut Lisp, token: &mut Token, start: usize) -> Read<()> {
        token.escaped = true;
        loop {
            match self.next(lisp)? {
                Some('|') => return Ok(()),
                Some('\\') => match self.next(lisp)? {
                    Some(character) => token.text.push(character),
                    None => return Err(self.incomplete_at(lisp, "a symbol", start)),
                },
                Some(character) => token.text.push(character),
                None => return Err(self.incomplete_at(lisp, "a symbol", start)),
            }
        }
    }

    /// The number that a token is under the current radix and float format.
    fn number(&mut self, lisp: &Lisp, text: &str, start: usize) -> Read<Option<Value>> {
        let radix = lisp.variable(symbol::READ_BASE).as_fixnum().unwrap_or(10);
        let radix = if (2..=36).contains(&radix) { radix as u32 } else { 10 };
        let first = text.chars().next().unwrap_or(' ');
        if radix == 10 && !(first.is_ascii_digit() || matches!(first, '+' | '-' | '.')) {
            return Ok(None);
        }
        if let Some(value) = parse_rational(text, radix) {
            return match value {
                Some(value) => Ok(Some(value)),
                None => Err(self.wrong(start, format!("division by zero in {text}"))),
            };
        }
        match parse_float(text, FloatFormat::current(lisp)) {
            Some(value) if is_infinite(&value) => {
                Err(self.wrong(start, format!("{} is too large for its float type", lower(text))))
            }
            value => Ok(value),
        }
    }

    fn symbol(&mut self, lisp: &mut Lisp, token: &Token, start: usize) -> Read<Value> {
        let text = &token.text;
        let (package, name, internal) = match token.colons[..] {
            [] => {
                let package = lisp.current_package();
                return Ok(Value::symbol(lisp.intern(package, text)));
            }
            [0] => return Ok(lisp.keyword(&text[1..])),
            [at] => (&text[..at], &text[at + 1..], false),
            [at, next] if at > 0 && next == at + 1 => (&text[..at], &text[next + 1..], true),
            [0, 1] => return Ok(lisp.keyword(&text[2..])),
            _ => return Err(self.wrong(start, format!("{} has too many colons", lower(text)))),
        };
        let here = lisp.current_package();
        let Some(id) = lisp.packages.find_from(here, package) else {
            return Err(self.wrong(start, format!("there is no package {}", lower(package))));
        };
        if name.is_empty() && !token.escaped {
            return Err(self.wrong(start, format!("a name is missing after {}", lower(text))));
        }
        if internal {
            return Ok(Value::symbol(lisp.intern(id, name)));
        }
        match lisp.packages.external(id, name) {
            Some(symbol) => Ok(Value::symbol(symbol)),
            None => Err(self.not_external(lisp, id, name, start)),
        }
    }

    fn not_external(&self, lisp: &Lisp, package: PackageId, name: &str, start: usize) -> ReadError {
        let found = &lisp.packages[package];
        let owner = lower(&found.name);
        let prefix = lower(found.nicknames.first().unwrap_or(&found.name));
        let shown = lower(name);
        match lisp.packages.lookup(package, name) {
            Some((_, Access::Internal)) => self
                .wrong(start, format!("package {owner} does not export {shown}"))
                .hint(format!("{owner}::{shown} reads it all the same")),
            _ => {
                let error = self.wrong(start, format!("package {owner} has no symbol {shown}"));
                let advised = crate::suggest::is_advised(lisp, package);
                let elsewhere = || crate::suggest::elsewhere(lisp, name);
                let near = || {
                    let other = closest(lisp, package, name)?;
                    Some(format!("did you mean {prefix}:{}", lower(&other)))
                };
                match advised.then(elsewhere).flatten().or_else(near) {
                    Some(hint) => error.hint(hint),
                    None => error,
                }
            }
        }
    }
}

/// The exported symbol that differs least, by at most a third of its letters.
fn closest(lisp: &Lisp, package: PackageId, name: &str) -> Option<String> {
    let exported = lisp.packages[package].present.iter().filter(|(_, entry)| entry.1);
    let mut best: Option<(usize, &str)> = None;
    for (other, _) in exported {
        let distance = crate::suggest::distance(name, other);
        if distance * 3 <= name.chars().count().max(3)
            && best.is_none_or(|(least, found)| (distance, &**other) < (least, found))
        {
            best = Some((distance, other));
        }
    }
    best.map(|(_, other)| other.to_string())
}

fn is_infinite(value: &Value) -> bool {
    match value {
        Value::Double(x) => x.is_infinite(),
        Value::Single(x) => x.is_infinite(),
        _ => false,
    }
}

fn lower(text: &str) -> String {
    text.to_lowercase()
}

/// `[+-]digits`, `[+-]digits/digits` in the radix, or `[+-]digits.` in decimal. The inner
/// option is none for a denominator of zero.
pub(crate) fn parse_rational(text: &str, radix: u32) -> Option<Option<Value>> {
    if let Some((numerator, denominator)) = text.split_once('/') {
        if denominator.starts_with(['+', '-']) {
            return None;
        }
        let (n, d) = (parse_integer(numerator, radix)?, parse_integer(denominator, radix)?);
        return Some((!d.is_zero()).then(|| crate::numbers::ratio(n, d)));
    }
    let (text, radix) = match text.strip_suffix('.') {
        Some(text) => (text, 10),
        None => (text, radix),
    };
    if radix == 10
        && text.len() < 19
        && let Ok(small) = text.parse::<i64>()
    {
        return Some(Some(Value::Fixnum(small)));
    }
    parse_integer(text, radix).map(|n| Some(Value::integer(n)))
}

fn parse_integer(text: &str, radix: u32) -> Option<BigInt> {
    let digits = text.strip_prefix(['+', '-']).unwrap_or(text);
    if digits.is_empty() || !digits.chars().all(|c| c.is_digit(radix)) {
        return None;
    }
    BigInt::parse_bytes(text.as_bytes(), radix)
}

/// A token with a point followed by a digit, or with an exponent.
pub(crate) fn parse_float(text: &str, format: FloatFormat) -> Option<Value> {
    let (decimal, marker) = Decimal::parse(text)?;
    // `1.` is an integer, `1.e5` a float.
    let point = text.find('.');
    let bare = point.is_some_and(|at| !text[at + 1..].starts_with(|c: char| c.is_ascii_digit()));
    if point.is_none() && marker.is_none() || bare && marker.is_none() {
        return None;
    }
    let format = match marker {
        Some('f' | 's') => FloatFormat::Single,
        Some('d' | 'l') => FloatFormat::Double,
        _ => format,
    };
    Some(match format {
        FloatFormat::Single => Value::Single(decimal.to_f32()),
        FloatFormat::Double => Value::Double(decimal.to_f64()),
    })
}
