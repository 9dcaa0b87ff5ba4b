//! The options of `open`: direction, element type, external format, and what becomes of a file that is
//! there or not. What is not supported is an error here, before a file is touched.

use crate::condition::{Escape, Outcome};
use crate::lisp::Lisp;
use crate::native::keywords;
use crate::package::KEYWORD;
use crate::stream_coding::{Charset, Coding, Whole};
use crate::symbol;
use crate::value::{Value, list};

/// What a file is opened for.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Direction {
    Input,
    Output,
    Io,
    Probe,
}

/// What becomes of a file that is there.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum IfExists {
    Error,
    Supersede,
    /// The old file stays under another name.
    Rename,
    Overwrite,
    Append,
    Nil,
}

/// What becomes of a file that is not there.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum IfMissing {
    Error,
    Create,
    Nil,
}

/// What `open` was asked for.
pub(super) struct Request {
    pub direction: Direction,
    pub if_exists: IfExists,
    pub if_missing: IfMissing,
    pub coding: Coding,
    pub elements: Option<Whole>,
}

const DIRECTIONS: &[(&str, Direction)] = &[
    ("INPUT", Direction::Input),
    ("OUTPUT", Direction::Output),
    ("IO", Direction::Io),
    ("PROBE", Direction::Probe),
];

/// There are no versions: a new one takes the place of the old.
const IF_EXISTS: &[(&str, IfExists)] = &[
    ("ERROR", IfExists::Error),
    ("SUPERSEDE", IfExists::Supersede),
    ("NEW-VERSION", IfExists::Supersede),
    ("RENAME-AND-DELETE", IfExists::Supersede),
    ("RENAME", IfExists::Rename),
    ("OVERWRITE", IfExists::Overwrite),
    ("APPEND", IfExists::Append),
    ("NIL", IfExists::Nil),
];

const IF_MISSING: &[(&str, IfMissing)] =
    &[("ERROR", IfMissing::Error), ("CREATE", IfMissing::Create), ("NIL", IfMissing::Nil)];

const CHARSETS: &[(&str, Charset)] = &[
    ("DEFAULT", Charset::Utf8),
    ("UTF-8", Charset::Utf8),
    ("UTF8", Charset::Utf8),
    ("LATIN-1", Charset::Latin1),
    ("LATIN1", Charset::Latin1),
    ("ISO-8859-1", Charset::Latin1),
    ("US-ASCII", Charset::Ascii),
    ("ASCII", Charset::Ascii),
];

const ENDS: &[(&str, bool)] = &[("LF", false), ("CRLF", true)];

const ORDERS: &[(&str, bool)] = &[("LITTLE", false), ("BIG", true)];

impl Request {
    pub(super) fn of(lisp: &mut Lisp, a: &[Value]) -> Outcome<Request> {
        let [external, order, eol] =
            ["EXTERNAL-FORMAT", "BYTE-ORDER", "EOL"].map(|name| lisp.intern(KEYWORD, name));
        let names = [
            symbol::KEY_DIRECTION,
            symbol::KEY_IF_EXISTS,
            symbol::KEY_IF_DOES_NOT_EXIST,
            symbol::KEY_ELEMENT_TYPE,
            external,
            order,
            eol,
        ];
        let [direction, if_exists, if_missing, element_type, external, order, eol] =
            keywords(lisp, a, names)?;
        let direction = choice(lisp, "direction", direction.as_ref(), DIRECTIONS)?;
        let direction = direction.unwrap_or(Direction::Input);
        let if_exists = choice(lisp, "if-exists", if_exists.as_ref(), IF_EXISTS)?;
        let if_exists = if_exists.unwrap_or(IfExists::Error);
        let if_missing = choice(lisp, "if-does-not-exist", if_missing.as_ref(), IF_MISSING)?;
        let if_missing = if_missing.unwrap_or(match direction {
            Direction::Probe => IfMissing::Nil,
            Direction::Input => IfMissing::Error,
            _ if matches!(if_exists, IfExists::Append | IfExists::Overwrite) => IfMissing::Error,
            _ => IfMissing::Create,
        });
        let mut coding = external.map_or(Ok(Coding::default()), |given| coding_of(lisp, &given))?;
        if let Some(crlf) = choice(lisp, "eol", eol.as_ref(), ENDS)? {
            coding.crlf = crlf;
        }
        let big = choice(lisp, "byte-order", order.as_ref(), ORDERS)?.unwrap_or(false);
        let elements = element_type.map_or(Ok(None), |kind| elements_of(lisp, &kind))?;
        let elements = elements.map(|whole| Whole { big, ..whole });
        Ok(Request { direction, if_exists, if_missing, coding, elements })
    }
}

/// The meaning of an option's value.
fn choice<C: Copy>(
    lisp: &Lisp,
    option: &str,
    given: Option<&Value>,
    choices: &[(&str, C)],
) -> Outcome<Option<C>> {
    let Some(given) = given else { return Ok(None) };
    let name = given.as_symbol().map(|name| lisp.name(name));
    let found = choices.iter().find(|(known, _)| name.as_deref() == Some(known));
    match found {
        Some((_, choice)) => Ok(Some(*choice)),
        None => {
            let known = choices.iter().map(|(name, _)| match *name {
                "NIL" => "nil".to_string(),
                name => format!(":{}", name.to_lowercase()),
            });
            let wanted = format!("{} for :{option}", known.collect::<Vec<_>>().join(", "));
            Err(Escape::unexpected("open", &wanted, Value::symbol(symbol::SYMBOL), given))
        }
    }
}

/// `:latin-1`, or `(:latin-1 :eol :crlf :replacement #\?)`.
fn coding_of(lisp: &mut Lisp, given: &Value) -> Outcome<Coding> {
    let (name, options) = match given.as_cons() {
        Some(pair) => (pair.car(), pair.cdr().elements().collect::<Vec<_>>()),
        None => (given.clone(), Vec::new()),
    };
    let charset = choice(lisp, "external-format", Some(&name), CHARSETS)?.unwrap_or_default();
    let names = ["EOL", "EOL-STYLE", "REPLACEMENT"].map(|name| lisp.intern(KEYWORD, name));
    let [eol, style, replacement] = keywords(lisp, &options, names)?;
    let crlf = choice(lisp, "eol", eol.as_ref().or(style.as_ref()), ENDS)?.unwrap_or(false);
    let replacement = match replacement {
        None | Some(Value::Nil) => None,
        Some(Value::Char(c)) => Some(c),
        Some(other) => match other.as_text().map(|text| text.active()) {
            Some(text) if text.len() == 1 => Some(text[0]),
            _ => return Err(Escape::wrong_type("open", symbol::CHARACTER, &other)),
        },
    };
    Ok(Coding { charset, crlf, replacement })
}

/// The integers of an element type; none: it is a type of characters.
fn elements_of(lisp: &mut Lisp, kind: &Value) -> Outcome<Option<Whole>> {
    let refused = || {
        let wanted = "an element type of characters or of integers of 8, 16, 32 or 64 bits";
        let known = list([Value::symbol(symbol::UNSIGNED_BYTE), Value::Fixnum(8)]);
        Escape::unexpected("open", wanted, known, kind)
            .hint("(unsigned-byte 8) gives the bytes, whatever they are")
    };
    let parts = match kind.as_cons() {
        Some(_) => kind.elements().collect::<Vec<_>>(),
        None => vec![kind.clone()],
    };
    let Some((bits, signed)) = bits_of(&parts) else {
        return if is_text(lisp, kind)? { Ok(None) } else { Err(refused()) };
    };
    let width = match bits {
        1..=8 => 1,
        16 => 2,
        32 => 4,
        64 => 8,
        _ => return Err(refused()),
    };
    Ok(Some(Whole { width, signed, big: false }))
}

/// Whether an element type is one of characters.
fn is_text(lisp: &mut Lisp, kind: &Value) -> Outcome<bool> {
    if kind.as_symbol().is_some_and(|name| lisp.keyword("DEFAULT").is_symbol(name)) {
        return Ok(true);
    }
    let subtypep = Value::symbol(lisp.intern(crate::package::CL, "SUBTYPEP"));
    let character = Value::symbol(symbol::CHARACTER);
    Ok(lisp.call(&subtypep, &[kind.clone(), character])?.truth())
}

/// The bits of a type of integers, and whether it has signs; no bits where files have no such integers.
fn bits_of(parts: &[Value]) -> Option<(usize, bool)> {
    let bits = match parts.get(1) {
        Some(bits) if bits.as_symbol().is_none() => bits.as_index().unwrap_or(0),
        // No number, or `*`: a byte.
        _ => 8,
    };
    Some(match (parts[0].as_symbol()?, &parts[1..]) {
        (symbol::UNSIGNED_BYTE, _) => (bits, false),
        (symbol::SIGNED_BYTE, _) => (bits, true),
        (symbol::BIT, _) => (1, false),
        (symbol::INTEGER, []) => (8, false),
        (symbol::INTEGER, [Value::Fixnum(low), Value::Fixnum(high)]) => range_bits(*low, *high),
        (symbol::MOD, [Value::Fixnum(end @ 1..)]) => range_bits(0, end - 1),
        (symbol::INTEGER | symbol::MOD, _) => (0, false),
        _ => return None,
    })
}

/// The bits that a range takes, of those that files have.
fn range_bits(low: i64, high: i64) -> (usize, bool) {
    let known = [8, 16, 32];
    let fits = |bits: &usize| match low < 0 {
        true => low >= -(1 << (bits - 1)) && high < 1 << (bits - 1),
        false => high < 1 << bits,
    };
    (known.into_iter().find(fits).unwrap_or(64), low < 0)
}
