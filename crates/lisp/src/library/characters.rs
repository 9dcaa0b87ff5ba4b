//! Characters: Unicode scalar values. Case is the simple mapping (one character to one), so
//! `ß` has no upper case; names are the standard's and `U+3042`.

use crate::condition::{Escape, Outcome};
use crate::lisp::Lisp;
use crate::native::{Native, native};
use crate::symbol;
use crate::value::Value;

const NAMES: &[(char, &str)] = &[
    ('\n', "Newline"),
    (' ', "Space"),
    ('\t', "Tab"),
    ('\u{c}', "Page"),
    ('\r', "Return"),
    ('\n', "Linefeed"),
    ('\u{8}', "Backspace"),
    ('\u{7f}', "Rubout"),
    ('\0', "Null"),
    ('\u{1b}', "Escape"),
];

/// Other names, which are only read: those of ASCII's controls, in order.
const CONTROLS: [&str; 32] = [
    "Nul", "Soh", "Stx", "Etx", "Eot", "Enq", "Ack", "Bel", "Bs", "Ht", "Nl", "Vt", "Ff", "Cr",
    "So", "Si", "Dle", "Dc1", "Dc2", "Dc3", "Dc4", "Nak", "Syn", "Etb", "Can", "Em", "Sub", "Esc",
    "Fs", "Gs", "Rs", "Us",
];

/// The character of a name, in any case; `U+3042` and `u3042` name by code.
pub fn named(name: &str) -> Option<char> {
    let known = NAMES.iter().find(|(_, known)| known.eq_ignore_ascii_case(name));
    if let Some((character, _)) = known {
        return Some(*character);
    }
    if let Some(at) = CONTROLS.iter().position(|known| known.eq_ignore_ascii_case(name)) {
        return char::from_u32(at as u32);
    }
    if name.eq_ignore_ascii_case("Del") {
        return Some('\u{7f}');
    }
    let code = name.strip_prefix(['u', 'U'])?;
    let code = code.strip_prefix('+').unwrap_or(code);
    if code.is_empty() || code.len() > 8 || !code.bytes().all(|b| b.is_ascii_hexdigit()) {
        return None;
    }
    char::from_u32(u32::from_str_radix(code, 16).ok()?)
}

/// The name of a character that is not written as itself.
pub fn name_of(character: char) -> Option<String> {
    let known = NAMES.iter().find(|(known, _)| *known == character);
    match known {
        Some((_, name)) => Some(name.to_string()),
        None if is_graphic(character) => None,
        None => Some(format!("U+{:04X}", character as u32)),
    }
}

/// Whether the character shows when printed.
pub fn is_graphic(character: char) -> bool {
    // Controls, the separators of lines and paragraphs, and the invisible format characters.
    !(character.is_control()
        || matches!(character as u32,
            0x2028..=0x202E | 0x200B..=0x200F | 0x2060..=0x206F | 0xFEFF | 0xFFF9..=0xFFFB
            | 0xE000..=0xF8FF | 0xF0000..))
}

/// The upper case of a character by simple mapping.
pub fn upcase(character: char) -> char {
    single(character.to_uppercase(), character)
}

/// The lower case of a character by simple mapping.
pub fn downcase(character: char) -> char {
    single(character.to_lowercase(), character)
}

fn single(mut mapped: impl Iterator<Item = char>, otherwise: char) -> char {
    match (mapped.next(), mapped.next()) {
        (Some(character), None) => character,
        _ => otherwise,
    }
}

/// Whether the character has a lower case of its own.
pub fn is_upper(character: char) -> bool {
    downcase(character) != character && upcase(character) == character
}

/// Whether the character has an upper case of its own.
pub fn is_lower(character: char) -> bool {
    upcase(character) != character && downcase(character) == character
}

/// The character that an argument is, or a `type-error`.
pub(crate) fn character(operator: &str, value: &Value) -> Outcome<char> {
    match value {
        Value::Char(character) => Ok(*character),
        _ => Err(Escape::wrong_type(operator, symbol::CHARACTER, value)),
    }
}

/// Case does not matter.
pub(crate) fn fold(character: char) -> char {
    downcase(upcase(character))
}

macro_rules! predicate {
    ($name:literal, $documentation:literal, $test:expr) => {
        native($name, "character", $documentation, |_, arguments| {
            let test: fn(char) -> bool = $test;
            Ok(Value::boolean(test(character($name, &arguments[0])?)))
        })
    };
}

const RELATION: &str = "Whether the characters are in this relation, each with the next.";

macro_rules! comparison {
    ($name:literal, $map:ident, $holds:expr) => {
        native($name, "character &rest characters", RELATION, |_, arguments| {
            let holds: fn(&char, &char) -> bool = $holds;
            let codes = arguments.iter().map(|value| Ok($map(character($name, value)?)));
            let codes = codes.collect::<Outcome<Vec<char>>>()?;
            Ok(Value::boolean(codes.windows(2).all(|pair| holds(&pair[0], &pair[1]))))
        })
    };
}

fn same(character: char) -> char {
    character
}

/// Chapter 13 of the standard.
pub static CHARACTERS: &[Native] = &[
    predicate!("alpha-char-p", "Whether the character is a letter.", |c| c.is_alphabetic()),
    predicate!("alphanumericp", "Whether it is a letter or a digit.", |c| c.is_alphanumeric()),
    predicate!("graphic-char-p", "Whether the character shows when printed.", is_graphic),
    predicate!("standard-char-p", "Whether it is one of the 96 standard ones.", |c| {
        matches!(c, ' '..='~' | '\n')
    }),
    predicate!("upper-case-p", "Whether it is a letter with a lower case.", is_upper),
    predicate!("lower-case-p", "Whether it is a letter with an upper case.", is_lower),
    predicate!("both-case-p", "Whether the character has another case.", |c| {
        is_upper(c) || is_lower(c)
    }),
    comparison!("char=", same, |a, b| a == b),
    comparison!("char<", same, |a, b| a < b),
    comparison!("char>", same, |a, b| a > b),
    comparison!("char<=", same, |a, b| a <= b),
    comparison!("char>=", same, |a, b| a >= b),
    comparison!("char-equal", fold, |a, b| a == b),
    comparison!("char-lessp", fold, |a, b| a < b),
    comparison!("char-greaterp", fold, |a, b| a > b),
    comparison!("char-not-greaterp", fold, |a, b| a <= b),
    comparison!("char-not-lessp", fold, |a, b| a >= b),
    native(
        "char/=",
        "character &rest characters",
        "Whether no two of the characters are the same.",
        |_, arguments| all_different("char/=", arguments, same),
    ),
    native(
        "char-not-equal",
        "character &rest characters",
        "Whether no two of the characters are the same, case apart.",
        |_, arguments| all_different("char-not-equal", arguments, fold),
    ),
    native("characterp", "object", "Whether the object is a character.", |_, arguments| {
        Ok(Value::boolean(matches!(arguments[0], Value::Char(_))))
    }),
    native("character", "designator", "The character that a designator names.", designated),
    native("char-upcase", "character", "The character in upper case.", |_, arguments| {
        Ok(Value::Char(upcase(character("char-upcase", &arguments[0])?)))
    }),
    native("char-downcase", "character", "The character in lower case.", |_, arguments| {
        Ok(Value::Char(downcase(character("char-downcase", &arguments[0])?)))
    }),
    native("char-code", "character", "The Unicode code of the character.", |_, arguments| {
        Ok(Value::Fixnum(i64::from(u32::from(character("char-code", &arguments[0])?))))
    }),
    native("char-int", "character", "The Unicode code of the character.", |_, arguments| {
        Ok(Value::Fixnum(i64::from(u32::from(character("char-int", &arguments[0])?))))
    }),
    native("code-char", "code", "The character of a Unicode code, or nil.", code_char),
    native("char-name", "character", "The name of the character, or nil.", |_, arguments| {
        let name = name_of(character("char-name", &arguments[0])?);
        Ok(name.map_or(Value::Nil, |name| Value::string(&name)))
    }),
    native("name-char", "name", "The character of that name, or nil.", name_char),
    native("digit-char", "weight &optional radix", "The digit of that weight, or nil.", digit_char),
    native(
        "digit-char-p",
        "character &optional radix",
        "The weight of the digit, or nil.",
        digit_char_p,
    ),
];

fn all_different(operator: &str, arguments: &[Value], map: fn(char) -> char) -> Outcome {
    let mut codes = arguments
        .iter()
        .map(|value| Ok(map(character(operator, value)?)))
        .collect::<Outcome<Vec<char>>>()?;
    codes.sort_unstable();
    Ok(Value::boolean(codes.windows(2).all(|pair| pair[0] != pair[1])))
}

fn designated(lisp: &mut Lisp, arguments: &[Value]) -> Outcome {
    let text = match &arguments[0] {
        Value::Char(_) => return Ok(arguments[0].clone()),
        Value::String(text) => text.to_text(),
        other => match other.as_symbol() {
            Some(symbol) => lisp.name(symbol).to_string(),
            None => return Err(Escape::wrong_type("character", symbol::CHARACTER, other)),
        },
    };
    let mut characters = text.chars();
    match (characters.next(), characters.next()) {
        (Some(character), None) => Ok(Value::Char(character)),
        _ => Err(Escape::unexpected(
            "character",
            "a string of one character",
            Value::symbol(symbol::CHARACTER),
            &arguments[0],
        )),
    }
}

fn code_char(_: &mut Lisp, arguments: &[Value]) -> Outcome {
    let Some(code) = arguments[0].as_fixnum().filter(|code| (0..0x11_0000).contains(code)) else {
        return Err(Escape::unexpected(
            "code-char",
            "a character code below 1114112",
            Value::symbol(symbol::UNSIGNED_BYTE),
            &arguments[0],
        ));
    };
    Ok(char::from_u32(code as u32).map_or(Value::Nil, Value::Char))
}

fn name_char(lisp: &mut Lisp, arguments: &[Value]) -> Outcome {
    let name = super::strings::designator(lisp, "name-char", &arguments[0])?;
    let name = name.iter().collect::<String>();
    Ok(named(&name).map_or(Value::Nil, Value::Char))
}

fn radix(operator: &str, argument: Option<&Value>) -> Outcome<u32> {
    let Some(argument) = argument else { return Ok(10) };
    match argument.as_fixnum() {
        Some(radix @ 2..=36) => Ok(radix as u32),
        _ => Err(Escape::unexpected(
            operator,
            "a radix from 2 to 36",
            Value::symbol(symbol::INTEGER),
            argument,
        )),
    }
}

fn digit_char(_: &mut Lisp, arguments: &[Value]) -> Outcome {
    let radix = radix("digit-char", arguments.get(1))?;
    let Some(weight) = arguments[0].as_index() else {
        if crate::numbers::integer("digit-char", &arguments[0])?.sign() == num_bigint::Sign::Plus {
            return Ok(Value::Nil);
        }
        return Err(Escape::wrong_type("digit-char", symbol::UNSIGNED_BYTE, &arguments[0]));
    };
    let digit = u32::try_from(weight)
        .ok()
        .and_then(|weight| if weight < radix { char::from_digit(weight, radix) } else { None });
    Ok(digit.map_or(Value::Nil, |digit| Value::Char(digit.to_ascii_uppercase())))
}

fn digit_char_p(_: &mut Lisp, arguments: &[Value]) -> Outcome {
    let radix = radix("digit-char-p", arguments.get(1))?;
    let weight = character("digit-char-p", &arguments[0])?.to_digit(radix);
    Ok(weight.map_or(Value::Nil, |weight| Value::Fixnum(i64::from(weight))))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_go_both_ways() {
        assert_eq!(named("space"), Some(' '));
        assert_eq!(named("LINEFEED"), Some('\n'));
        assert_eq!(named("U+3042"), Some('あ'));
        assert_eq!(named("u+d800"), None);
        assert_eq!(named("u"), None);
        assert_eq!(named("hiragana"), None);
        assert_eq!(name_of('\n').as_deref(), Some("Newline"));
        assert_eq!(name_of('\u{1}').as_deref(), Some("U+0001"));
        assert_eq!(name_of('a'), None);
    }

    #[test]
    fn case_is_one_to_one() {
        assert_eq!((upcase('é'), downcase('É'), upcase('ß')), ('É', 'é', 'ß'));
        assert!(is_upper('A') && !is_upper('a') && !is_upper('1') && is_lower('z'));
    }
}
