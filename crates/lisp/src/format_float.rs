//! `~F ~E ~G ~$`. Digits asked for by number come from the exact binary value, rounded half to
//! even once; digits that are not asked for by number are the shortest that read back.

use num_bigint::BigInt;
use num_traits::Pow;

use crate::condition::Outcome;
use crate::format::{Arguments, Parameters, Run};
use crate::format_control::{Directive, Parameter};
use crate::library::numbers_float::to_float;
use crate::numbers::division::{Rounding, round_fraction};
use crate::numbers::exact;
use crate::printer;
use crate::printer_float::{Digits, special};
use crate::reader_token::FloatFormat;
use crate::value::Value;

/// A float argument: magnitude, sign and what its type shows.
struct Number {
    magnitude: f64,
    negative: bool,
    shortest: Digits,
    /// The exponent marker: `e` for the default float type.
    marker: char,
}

impl Number {
    fn of(value: &Value, default: FloatFormat) -> Option<Number> {
        let (x, shortest, marker, own) = match value {
            Value::Double(x) => (*x, Digits::of_double(*x), 'd', FloatFormat::Double),
            Value::Single(x) => (f64::from(*x), Digits::of_single(*x), 'f', FloatFormat::Single),
            _ => return None,
        };
        let marker = if own == default { 'e' } else { marker };
        Some(Number { magnitude: x.abs(), negative: x.is_sign_negative(), shortest, marker })
    }
}

impl Run<'_> {
    /// `~F`, `~E`, `~G` and `~$`.
    pub(crate) fn float(
        &mut self,
        directive: &Directive,
        parameters: &Parameters,
        arguments: &mut Arguments,
    ) -> Outcome<()> {
        let argument = self.next(directive, arguments)?;
        if !argument.is_real() {
            return self.not_a_number(directive, parameters, &argument);
        }
        let float = to_float(self.lisp, "format", &argument, None)?;
        let Some(number) = Number::of(&float, FloatFormat::current(self.lisp)) else {
            return Ok(());
        };
        let text = match special(number.magnitude) {
            Some(name) => {
                let width = if directive.character == '$' { 2 } else { 0 };
                let width = parameters.count(self, directive, width, 0)?;
                let sign = sign(&number, directive.at);
                let sign = if name == "nan" { "" } else { sign };
                in_front(&format!("{sign}{name}"), width, ' ')
            }
            None => match directive.character {
                'F' => self.fixed(directive, parameters, &number)?,
                'E' => self.exponential(directive, parameters, &number)?,
                'G' => self.general(directive, parameters, &number)?,
                _ => self.money(directive, parameters, &number)?,
            },
        };
        self.out.push_str(&text);
        Ok(())
    }

    /// What is no number prints as `~wA` would.
    fn not_a_number(
        &mut self,
        directive: &Directive,
        parameters: &Parameters,
        argument: &Value,
    ) -> Outcome<()> {
        let width = if directive.character == '$' { 2 } else { 0 };
        let width = parameters.count(self, directive, width, 0)?;
        let text = printer::princ(self.lisp, argument)?;
        self.pad(' ', width.saturating_sub(text.chars().count()));
        self.out.push_str(&text);
        Ok(())
    }

    /// `~w,d,k,overflowchar,padcharF`.
    fn fixed(
        &self,
        directive: &Directive,
        parameters: &Parameters,
        number: &Number,
    ) -> Outcome<String> {
        let width = parameters.integer(self, directive, 0)?.map(|w| w.max(0) as usize);
        let places = parameters.integer(self, directive, 1)?.map(|d| d.max(0));
        let scale = parameters.integer(self, directive, 2)?.unwrap_or(0);
        let overflow = parameters.optional_character(self, directive, 3)?;
        let padding = parameters.character(self, directive, 4, ' ')?;
        let sign = sign(number, directive.at);
        let text = fixed_text(number, width.map(|w| w.saturating_sub(sign.len())), places, scale);
        Ok(fit(format!("{sign}{text}"), width, overflow, padding))
    }

    /// `~w,d,e,k,overflowchar,padchar,exptcharE`.
    fn exponential(
        &self,
        directive: &Directive,
        parameters: &Parameters,
        number: &Number,
    ) -> Outcome<String> {
        let width = parameters.integer(self, directive, 0)?.map(|w| w.max(0) as usize);
        let places = parameters.integer(self, directive, 1)?.map(|d| d.max(0));
        let exponent_digits = parameters.count(self, directive, 2, 1)?;
        let scale = parameters.integer(self, directive, 3)?.unwrap_or(1);
        let overflow = parameters.optional_character(self, directive, 4)?;
        let padding = parameters.character(self, directive, 5, ' ')?;
        let marker = parameters.character(self, directive, 6, number.marker)?;
        if places.is_some_and(|d| scale > d + 1 || scale < -d) {
            return Err(self.wrong(directive, "the scale factor of ~E does not fit its digits"));
        }
        let sign = sign(number, directive.at);
        let digits = match (places, width) {
            // Before the point stand `scale` digits; a negative scale puts zeros after it.
            (Some(d), _) => significant(number, if scale > 0 { d + 1 } else { d + scale }),
            (None, None) => number.shortest.clone(),
            (None, Some(width)) => {
                let exponent = exponent_text(&number.shortest, scale, marker, exponent_digits);
                as_many_as_fit(number, scale, width as i64 - (sign.len() + exponent.len()) as i64)
            }
        };
        let exponent = exponent_text(&digits, scale, marker, exponent_digits);
        let mantissa = mantissa_text(&digits, scale, places);
        let length = sign.len() + mantissa.len() + exponent.len();
        let mantissa = match mantissa.strip_prefix('0') {
            Some(short) if width.is_some_and(|w| length > w) && short.len() > 1 => short,
            _ => &mantissa,
        };
        let given = parameters.integer(self, directive, 2)?.is_some();
        let wide = given && exponent.len() > exponent_digits + 2;
        let text = format!("{sign}{mantissa}{exponent}");
        match (wide, width, overflow) {
            (true, Some(width), Some(overflow)) => Ok(overflow.to_string().repeat(width)),
            _ => Ok(fit(text, width, overflow, padding)),
        }
    }

    /// `~w,d,e,k,overflowchar,padchar,exptcharG`: as `~F` where that shows all digits.
    fn general(
        &mut self,
        directive: &Directive,
        parameters: &Parameters,
        number: &Number,
    ) -> Outcome<String> {
        let width = parameters.integer(self, directive, 0)?;
        let exponent_digits = parameters.integer(self, directive, 2)?;
        let zero = number.shortest.is_zero();
        let point = if zero { 0 } else { number.shortest.point };
        let count = number.shortest.digits.len() as i64;
        let needed = if point > 0 { count.max(point) } else { count - point };
        let digits = match parameters.integer(self, directive, 1)? {
            Some(d) => d.max(0),
            None => needed.max(point.min(7)),
        };
        let spare = exponent_digits.map_or(4, |e| e.max(0) + 2);
        let places = digits - point;
        let given = |at: usize| parameters.0.get(at).copied().unwrap_or(Parameter::Missing);
        if (0..=digits).contains(&places) {
            let width =
                width.map_or(Parameter::Missing, |w| Parameter::Integer((w - spare).max(0)));
            let inner = [width, Parameter::Integer(places), Parameter::Missing, given(4), given(5)];
            let text = self.fixed(directive, &Parameters(inner.to_vec()), number)?;
            return Ok(format!("{text}{}", " ".repeat(spare as usize)));
        }
        let mut inner = parameters.0.clone();
        inner.resize(inner.len().max(2), Parameter::Missing);
        inner[1] = Parameter::Integer(digits);
        self.exponential(directive, &Parameters(inner), number)
    }

    /// `~d,n,w,padchar$`.
    fn money(
        &self,
        directive: &Directive,
        parameters: &Parameters,
        number: &Number,
    ) -> Outcome<String> {
        let places = parameters.count(self, directive, 0, 2)? as i64;
        let least = parameters.count(self, directive, 1, 1)?;
        let width = parameters.count(self, directive, 2, 0)?;
        let padding = parameters.character(self, directive, 3, ' ')?;
        let text = point_text(&scaled(number.magnitude, places), places, true);
        let (whole, fraction) = text.split_once('.').unwrap_or((&text, ""));
        let sign = sign(number, directive.at);
        let body = format!("{}.{fraction}", in_front(whole, least, '0'));
        let missing = width.saturating_sub(sign.len() + body.len());
        let padding = padding.to_string().repeat(missing);
        Ok(if directive.colon {
            format!("{sign}{padding}{body}")
        } else {
            format!("{padding}{sign}{body}")
        })
    }
}

fn sign(number: &Number, always: bool) -> &'static str {
    match (number.negative, always) {
        (true, _) => "-",
        (false, true) => "+",
        (false, false) => "",
    }
}

/// Padded in front. The widths of `format!` end at 65535.
fn in_front(text: &str, width: usize, padding: char) -> String {
    let missing = width.saturating_sub(text.chars().count());
    std::iter::repeat_n(padding, missing).chain(text.chars()).collect()
}

/// Padded in front to the width, or replaced by the overflow character where too wide.
fn fit(text: String, width: Option<usize>, overflow: Option<char>, padding: char) -> String {
    let Some(width) = width else { return text };
    let length = text.chars().count();
    match overflow {
        Some(overflow) if length > width => overflow.to_string().repeat(width),
        _ => in_front(&text, width, padding),
    }
}

/// `x * 10^places` as the nearest integer, halves to even, in digits.
fn scaled(x: f64, places: i64) -> String {
    let Some((numerator, denominator)) = exact::rational(x) else { return String::new() };
    // No double has more than 1074 places, nor as many as 310 digits before the point.
    if places > 1100 {
        return scaled(x, 1100) + &"0".repeat((places - 1100) as usize);
    }
    if places < -400 {
        return "0".to_string();
    }
    let power = BigInt::from(10).pow(places.unsigned_abs());
    let (numerator, denominator) = if places >= 0 {
        (numerator * power, denominator)
    } else {
        (numerator, denominator * power)
    };
    round_fraction(Rounding::Round, &numerator, &denominator).to_string()
}

/// A digit string with the point before its last `places` digits.
fn point_text(digits: &str, places: i64, leading_zero: bool) -> String {
    let places = places.max(0) as usize;
    let padded = in_front(digits, places + 1, '0');
    let (whole, fraction) = padded.split_at(padded.len() - places);
    if whole == "0" && !leading_zero && places > 0 {
        return format!(".{fraction}");
    }
    format!("{whole}.{fraction}")
}

/// The text of `~F` without its sign.
fn fixed_text(number: &Number, width: Option<usize>, places: Option<i64>, scale: i64) -> String {
    if let Some(places) = places {
        let digits = scaled(number.magnitude, places + scale);
        let leading = width.is_none_or(|width| width as i64 > places + 1);
        return point_text(&digits, places, leading);
    }
    let shortest = if number.shortest.is_zero() {
        number.shortest.clone()
    } else {
        let point = number.shortest.point + scale;
        Digits { digits: number.shortest.digits.clone(), point }
    };
    let text = shortest.fixed();
    let Some(width) = width.filter(|width| text.len() > *width) else { return text };
    // Without a zero in front, then with as many places as fit.
    if let Some(short) = text.strip_prefix('0')
        && short.len() <= width
    {
        return short.to_string();
    }
    // A fraction shows one digit, whatever the width.
    let (whole, least) = if shortest.point > 0 { (shortest.point, 0) } else { (0, 1) };
    let places = (width as i64 - whole - 1).max(least);
    point_text(&scaled(number.magnitude, places + scale), places, false)
}

/// So many significant digits of the exact value.
fn significant(number: &Number, count: i64) -> Digits {
    if number.shortest.is_zero() {
        return Digits { digits: "0".repeat(count.max(1) as usize), point: 1 };
    }
    if count <= 0 {
        return Digits { digits: "0".to_string(), point: number.shortest.point };
    }
    // The shortest digits may round up to the next power of ten, and so may the wanted ones.
    let mut point = number.shortest.point;
    for _ in 0..3 {
        let digits = scaled(number.magnitude, count - point);
        match digits.len() as i64 - count {
            0 => return Digits { digits, point },
            excess => point += excess.signum(),
        }
    }
    number.shortest.clone()
}

/// The shortest digits, or as many of them as a mantissa of that width has.
fn as_many_as_fit(number: &Number, scale: i64, width: i64) -> Digits {
    let zeros = if scale > 0 { 0 } else { -scale };
    let room = (width - 1 - zeros).max(scale).max(1);
    if number.shortest.digits.len() as i64 <= room {
        return number.shortest.clone();
    }
    let mut digits = significant(number, room);
    while digits.digits.len() > 1 && digits.digits.ends_with('0') {
        digits.digits.pop();
    }
    digits
}

/// `e+3`.
fn exponent_text(digits: &Digits, scale: i64, marker: char, least: usize) -> String {
    let zero = digits.digits.bytes().all(|digit| digit == b'0');
    let exponent = if zero { 0 } else { digits.point - scale };
    let sign = if exponent < 0 { '-' } else { '+' };
    let digits = exponent.unsigned_abs().to_string();
    format!("{marker}{sign}{}", in_front(&digits, least, '0'))
}

/// The digits with the point after the first `scale` of them.
fn mantissa_text(digits: &Digits, scale: i64, places: Option<i64>) -> String {
    if scale <= 0 {
        let zeros = "0".repeat((-scale) as usize);
        let text = format!("0.{zeros}{}", digits.digits);
        return match places {
            Some(d) => text.chars().take(d as usize + 2).collect(),
            None => text,
        };
    }
    let scale = scale as usize;
    let missing = scale.saturating_sub(digits.digits.len());
    let padded = digits.digits.clone() + &"0".repeat(missing);
    let (whole, fraction) = padded.split_at(scale);
    match (fraction, places) {
        ("", None) => format!("{whole}.0"),
        (fraction, _) => format!("{whole}.{fraction}"),
    }
}
