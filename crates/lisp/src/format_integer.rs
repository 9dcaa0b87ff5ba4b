//! `~D ~B ~O ~X ~R`: integers in any base, with commas, in English and in Roman numerals.

use num_bigint::BigInt;
use num_traits::Signed;

use crate::condition::Outcome;
use crate::format::{Arguments, Parameters, Run};
use crate::format_control::Directive;
use crate::printer::{self, Settings};
use crate::value::Value;

impl Run<'_> {
    /// `~mincol,padchar,commachar,comma-intervalD` and its kin.
    pub(crate) fn integer_directive(
        &mut self,
        directive: &Directive,
        base: u32,
        parameters: &Parameters,
        arguments: &mut Arguments,
    ) -> Outcome<()> {
        let argument = self.next(directive, arguments)?;
        self.in_base(directive, base, parameters, &argument)
    }

    fn in_base(
        &mut self,
        directive: &Directive,
        base: u32,
        parameters: &Parameters,
        argument: &Value,
    ) -> Outcome<()> {
        let width = parameters.count(self, directive, 0, 0)?;
        let padding = parameters.character(self, directive, 1, ' ')?;
        let comma = parameters.character(self, directive, 2, ',')?;
        let interval = parameters.count(self, directive, 3, 3)?.max(1);
        let text = match integer(argument) {
            Some(n) => {
                let sign = match n.is_negative() {
                    true => "-",
                    false if directive.at => "+",
                    false => "",
                };
                let digits = n.magnitude().to_str_radix(base).to_uppercase();
                let digits =
                    if directive.colon { with_commas(&digits, comma, interval) } else { digits };
                format!("{sign}{digits}")
            }
            None => {
                // Anything else prints as ~A does, its numbers in this base.
                let settings = Settings {
                    escape: false,
                    readably: false,
                    base,
                    radix: false,
                    ..Settings::of(self.lisp)
                };
                printer::print_as(self.lisp, argument, settings)?
            }
        };
        self.pad(padding, width.saturating_sub(text.chars().count()));
        self.out.push_str(&text);
        Ok(())
    }

    /// `~radix,mincol,...R`, or words.
    pub(crate) fn radix(
        &mut self,
        directive: &Directive,
        parameters: &Parameters,
        arguments: &mut Arguments,
    ) -> Outcome<()> {
        let argument = self.next(directive, arguments)?;
        if let Some(base) = parameters.integer(self, directive, 0)? {
            if !(2..=36).contains(&base) {
                return Err(self.wrong(directive, "the radix of ~R must be from 2 to 36"));
            }
            let rest = Parameters(parameters.0[1..].to_vec());
            return self.in_base(directive, base as u32, &rest, &argument);
        }
        let Some(n) = integer(&argument) else {
            return self.in_base(directive, 10, &Parameters(Vec::new()), &argument);
        };
        let words = match (directive.at, directive.colon) {
            (false, false) => cardinal(&n),
            (false, true) => ordinal(&n),
            (true, old) => roman(&n, old),
        };
        match words {
            Some(words) => self.out.push_str(&words),
            None => self.out.push_str(&n.to_string()),
        }
        Ok(())
    }
}

fn integer(value: &Value) -> Option<BigInt> {
    match value {
        Value::Fixnum(n) => Some(BigInt::from(*n)),
        other => other.as_bignum().cloned(),
    }
}

fn with_commas(digits: &str, comma: char, interval: usize) -> String {
    let length = digits.len();
    let mut text = String::new();
    for (at, digit) in digits.chars().enumerate() {
        if at > 0 && (length - at).is_multiple_of(interval) {
            text.push(comma);
        }
        text.push(digit);
    }
    text
}

const SMALL: [&str; 20] = [
    "zero",
    "one",
    "two",
    "three",
    "four",
    "five",
    "six",
    "seven",
    "eight",
    "nine",
    "ten",
    "eleven",
    "twelve",
    "thirteen",
    "fourteen",
    "fifteen",
    "sixteen",
    "seventeen",
    "eighteen",
    "nineteen",
];
const TENS: [&str; 10] =
    ["", "", "twenty", "thirty", "forty", "fifty", "sixty", "seventy", "eighty", "ninety"];
const GROUPS: [&str; 22] = [
    "",
    " thousand",
    " million",
    " billion",
    " trillion",
    " quadrillion",
    " quintillion",
    " sextillion",
    " septillion",
    " octillion",
    " nonillion",
    " decillion",
    " undecillion",
    " duodecillion",
    " tredecillion",
    " quattuordecillion",
    " quindecillion",
    " sexdecillion",
    " septendecillion",
    " octodecillion",
    " novemdecillion",
    " vigintillion",
];
/// The words in which an ordinal is not the cardinal with `th`.
const ORDINALS: [(&str, &str); 7] = [
    ("one", "first"),
    ("two", "second"),
    ("three", "third"),
    ("five", "fifth"),
    ("eight", "eighth"),
    ("nine", "ninth"),
    ("twelve", "twelfth"),
];

/// `four hundred two`; none where English has no word for the size.
fn cardinal(n: &BigInt) -> Option<String> {
    let digits = n.magnitude().to_string();
    let count = digits.len().div_ceil(3);
    if count > GROUPS.len() {
        return None;
    }
    let padded = format!("{digits:0>width$}", width = count * 3);
    let mut words = Vec::new();
    for group in 0..count {
        let value = padded[group * 3..group * 3 + 3].parse::<usize>().ok()?;
        if value > 0 {
            words.push(format!("{}{}", below_thousand(value), GROUPS[count - 1 - group]));
        }
    }
    let words = if words.is_empty() { SMALL[0].to_string() } else { words.join(" ") };
    Some(if n.is_negative() { format!("minus {words}") } else { words })
}

fn below_thousand(n: usize) -> String {
    let (hundreds, rest) = (n / 100, n % 100);
    let rest = match rest {
        0 => String::new(),
        1..20 => SMALL[rest].to_string(),
        _ if rest % 10 == 0 => TENS[rest / 10].to_string(),
        _ => format!("{}-{}", TENS[rest / 10], SMALL[rest % 10]),
    };
    match (hundreds, rest.as_str()) {
        (0, _) => rest,
        (_, "") => format!("{} hundred", SMALL[hundreds]),
        _ => format!("{} hundred {rest}", SMALL[hundreds]),
    }
}

fn ordinal(n: &BigInt) -> Option<String> {
    let words = cardinal(n)?;
    let start = words.rfind([' ', '-']).map_or(0, |at| at + 1);
    let (front, last) = words.split_at(start);
    let last = match ORDINALS.iter().find(|(cardinal, _)| *cardinal == last) {
        Some((_, ordinal)) => ordinal.to_string(),
        None => match last.strip_suffix('y') {
            Some(stem) => format!("{stem}ieth"),
            None => format!("{last}th"),
        },
    };
    Some(format!("{front}{last}"))
}

const ROMAN: [(i64, &str); 13] = [
    (1000, "M"),
    (900, "CM"),
    (500, "D"),
    (400, "CD"),
    (100, "C"),
    (90, "XC"),
    (50, "L"),
    (40, "XL"),
    (10, "X"),
    (9, "IX"),
    (5, "V"),
    (4, "IV"),
    (1, "I"),
];

/// 1 to 3999 (`IV`), or to 4999 in the old way (`IIII`).
fn roman(n: &BigInt, old: bool) -> Option<String> {
    let mut left = i64::try_from(n).ok()?;
    if left < 1 || left > if old { 4999 } else { 3999 } {
        return None;
    }
    let mut text = String::new();
    for (value, letters) in ROMAN.iter().filter(|(_, letters)| !old || letters.len() == 1) {
        while left >= *value {
            text.push_str(letters);
            left -= value;
        }
    }
    Some(text)
}
