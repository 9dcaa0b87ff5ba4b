//! Packed literals: `#d((1 2) (3 4))`, `#u8(1 2)`, `#0d5.0`, `#d[0 3]`. The numbers go from
//! their text straight to the array's width, rounded once; nothing is boxed on the way.
//!
//! The nesting gives the shape: a loop with a stack of counts, no recursion.

use rung_array::Array;
use rung_base::{Bool, Element, ElementType, MOST_AXES, Shape, bf16, f16, with_element};

use crate::condition::Escape;
use crate::lisp::Lisp;
use crate::numbers::decimal::Decimal;
use crate::numbers::{exact, to_double};
use crate::reader::{Read, Reader, is_blank, is_terminating};
use crate::reader_token::parse_rational;
use crate::value::Value;

/// The prefixes; a longer one comes before a shorter one that it begins with.
const PREFIXES: &[(&str, ElementType)] = &[
    ("bf16", ElementType::BF16),
    ("bool", ElementType::Bool),
    ("f16", ElementType::F16),
    ("i64", ElementType::I64),
    ("i32", ElementType::I32),
    ("u8", ElementType::U8),
    ("d", ElementType::F64),
    ("f", ElementType::F32),
];

/// The element type that a word after `#` begins with, and the rest of the word.
pub(crate) fn prefix(word: &str) -> Option<(ElementType, &str)> {
    PREFIXES.iter().find_map(|(name, element)| Some((*element, word.strip_prefix(name)?)))
}

/// The prefix of an element type, for the printer.
pub(crate) fn prefix_of(element: ElementType) -> &'static str {
    PREFIXES.iter().find(|(_, other)| *other == element).map_or("d", |(name, _)| name)
}

impl Reader {
    /// The packed literal whose prefix has been consumed; `rest` followed it in the same word.
    pub(crate) fn packed(
        &mut self,
        lisp: &mut Lisp,
        element: ElementType,
        rank: Option<u64>,
        rest: &str,
        start: usize,
    ) -> Read<Value> {
        with_element!(element, T => self.packed_of::<T>(lisp, rank, rest, start))
    }

    fn packed_of<T: FromText>(
        &mut self,
        lisp: &mut Lisp,
        rank: Option<u64>,
        rest: &str,
        start: usize,
    ) -> Read<Value> {
        if !rest.is_empty() || rank == Some(0) {
            if rank != Some(0) {
                let text = format!("a packed literal wants `(` before {rest}");
                return Err(self.wrong(start, text));
            }
            // Blanks may stand before the number: `#0f 16.0` is a single, `#0f16.0` a float16.
            let mut word = rest.to_string();
            if rest.is_empty() {
                while self.peek(lisp)?.is_some_and(is_blank) {
                    self.next(lisp)?;
                }
                self.packed_word(lisp, &mut word)?;
            }
            let number = self.packed_number::<T>(&word, start)?;
            return self.finish(&[number], &[], start);
        }
        match self.peek(lisp)? {
            Some('(') => {
                self.next(lisp)?;
                let (numbers, extents) = self.packed_body::<T>(lisp, start)?;
                if rank.is_some_and(|rank| rank != extents.len() as u64) {
                    let text = format!(
                        "packed literal has {} axes, not as its prefix says",
                        extents.len()
                    );
                    return Err(self.wrong(start, text));
                }
                self.finish(&numbers, &extents, start)
            }
            Some('[') => {
                self.next(lisp)?;
                self.packed_shape::<T>(lisp, start)
            }
            Some(_) => Err(self.wrong(start, "a packed literal wants `(` or `[`")),
            None => Err(self.incomplete(lisp, "a packed literal", start)),
        }
    }

    fn finish<T: Element>(&self, numbers: &[T], extents: &[usize], start: usize) -> Read<Value> {
        let shape = Shape::new(extents.iter().copied()).map_err(Escape::from)?;
        if shape.size() != numbers.len() {
            return Err(self.wrong(start, "packed literal is ragged"));
        }
        Ok(Value::packed(Array::from_slice(numbers, shape).map_err(Escape::from)?))
    }

    /// The numbers and the extents, after the outermost parenthesis.
    fn packed_body<T: FromText>(
        &mut self,
        lisp: &mut Lisp,
        start: usize,
    ) -> Read<(Vec<T>, Vec<usize>)> {
        let mut nesting = Nesting { counts: vec![0], extents: vec![None], leaves: None };
        let (mut numbers, mut word) = (Vec::new(), String::new());
        loop {
            self.skip_packed_blanks(lisp, start)?;
            let at = self.position();
            let consistent = match self.peek(lisp)? {
                None => return Err(self.incomplete_at(lisp, "a packed literal", start)),
                Some('(') => {
                    self.next(lisp)?;
                    nesting.open()
                }
                Some(')') => {
                    self.next(lisp)?;
                    nesting.close()
                }
                Some(_) => {
                    self.packed_word(lisp, &mut word)?;
                    numbers.push(self.packed_number::<T>(&word, at)?);
                    nesting.leaf()
                }
            };
            if !consistent {
                return Err(self.wrong(start, "packed literal is ragged"));
            }
            if nesting.counts.len() > MOST_AXES {
                return Err(self.wrong(start, format!("an array has at most {MOST_AXES} axes")));
            }
            if nesting.counts.is_empty() {
                let extents = nesting.extents.iter().map(|extent| extent.unwrap_or(0));
                return Ok((numbers, extents.collect()));
            }
        }
    }

    /// `[2 0 3]`: an array of that shape, all zeros.
    fn packed_shape<T: Element>(&mut self, lisp: &mut Lisp, start: usize) -> Read<Value> {
        let (mut extents, mut word) = (Vec::new(), String::new());
        loop {
            self.skip_packed_blanks(lisp, start)?;
            match self.peek(lisp)? {
                None => return Err(self.incomplete_at(lisp, "a packed literal", start)),
                Some(']') => break,
                Some(_) => {
                    self.packed_word(lisp, &mut word)?;
                    match word.parse::<usize>() {
                        Ok(extent) => extents.push(extent),
                        Err(_) => return Err(self.wrong(start, format!("{word} is no extent"))),
                    }
                }
            }
        }
        self.next(lisp)?;
        if extents.len() > MOST_AXES {
            return Err(self.wrong(start, format!("an array has at most {MOST_AXES} axes")));
        }
        if !extents.contains(&0) {
            return Err(self.wrong(start, "an array literal of a shape must have no elements"));
        }
        self.finish::<T>(&[], &extents, start)
    }

    /// Blanks and comments.
    fn skip_packed_blanks(&mut self, lisp: &mut Lisp, start: usize) -> Read<()> {
        loop {
            self.skip_blanks(lisp)?;
            match self.peek(lisp)? {
                Some(';') => self.skip_line(lisp)?,
                Some('#') => {
                    self.next(lisp)?;
                    match self.next(lisp)? {
                        Some('|') => self.block_comment(lisp, start)?,
                        _ => return Err(self.wrong(start, "a packed literal holds only numbers")),
                    }
                }
                _ => return Ok(()),
            }
        }
    }

    /// The run of characters up to a blank or parenthesis.
    fn packed_word(&mut self, lisp: &mut Lisp, word: &mut String) -> Read<()> {
        word.clear();
        while let Some(c) = self.peek(lisp)? {
            let ends = is_blank(c) || is_terminating(c) || matches!(c, ']' | '[');
            if ends && !word.is_empty() {
                break;
            }
            self.next(lisp)?;
            word.push(c);
            if ends {
                break;
            }
        }
        Ok(())
    }

    fn packed_number<T: FromText>(&self, word: &str, start: usize) -> Read<T> {
        T::from_text(word).ok_or_else(|| {
            let wanted = T::TYPE.lisp_name();
            self.wrong(start, format!("packed literal: expected a {wanted}: got {word}"))
        })
    }
}

/// What is known of the shape while the numbers come in.
struct Nesting {
    /// How many parts each open parenthesis has so far.
    counts: Vec<usize>,
    /// The extent of each axis, once a parenthesis at that depth has closed.
    extents: Vec<Option<usize>>,
    /// The depth at which numbers stand.
    leaves: Option<usize>,
}

impl Nesting {
    fn part(&mut self) {
        if let Some(count) = self.counts.last_mut() {
            *count += 1;
        }
    }

    fn open(&mut self) -> bool {
        self.part();
        self.counts.push(0);
        let depth = self.counts.len();
        if self.extents.len() < depth {
            self.extents.push(None);
        }
        self.leaves.is_none_or(|leaves| depth <= leaves)
    }

    fn close(&mut self) -> bool {
        let depth = self.counts.len();
        let Some(count) = self.counts.pop() else { return false };
        // An empty group above the depth where numbers stand has no extents below it.
        let known = &mut self.extents[depth - 1];
        *known.get_or_insert(count) == count
    }

    fn leaf(&mut self) -> bool {
        self.part();
        let depth = self.counts.len();
        *self.leaves.get_or_insert(depth) == depth && self.extents.len() == depth
    }
}

/// An element type that reads its own numbers.
trait FromText: Element {
    fn from_text(text: &str) -> Option<Self>;
}

macro_rules! float_from_text {
    ($($float:ty, $method:ident, $from_double:expr);*) => {
        $(impl FromText for $float {
            fn from_text(text: &str) -> Option<$float> {
                if let Some(special) = special(text) {
                    return Some($from_double(special));
                }
                if let Some((decimal, _)) = Decimal::parse(text) {
                    return Some(decimal.$method());
                }
                ratio(text, <$float>::TYPE).map($from_double)
            }
        })*
    };
}

impl FromText for f64 {
    fn from_text(text: &str) -> Option<f64> {
        // Plain digits need none of the care below.
        if text.bytes().all(|b| b.is_ascii_digit() || b == b'.' || b == b'-')
            && let Ok(number) = text.parse()
        {
            return Some(number);
        }
        let decimal = || Decimal::parse(text).map(|(decimal, _)| decimal.to_f64());
        special(text).or_else(decimal).or_else(|| ratio(text, ElementType::F64))
    }
}

float_from_text! {
    f32, to_f32, |x: f64| x as f32;
    bf16, to_bf16, rung_array::narrow_bf16;
    f16, to_f16, rung_array::narrow_f16
}

fn special(text: &str) -> Option<f64> {
    match text.to_ascii_lowercase().as_str() {
        "nan" => Some(f64::NAN),
        "inf" | "+inf" => Some(f64::INFINITY),
        "-inf" => Some(f64::NEG_INFINITY),
        _ => None,
    }
}

/// `1/3`, rounded once to the element type.
fn ratio(text: &str, element: ElementType) -> Option<f64> {
    let value = parse_rational(text, 10)??;
    let format = match element {
        ElementType::F64 => exact::DOUBLE,
        ElementType::F32 => exact::SINGLE,
        ElementType::BF16 => exact::Format { precision: 8, lowest: -133, highest: 128 },
        _ => exact::Format { precision: 11, lowest: -24, highest: 16 },
    };
    match value.as_ratio() {
        Some(ratio) => Some(exact::round(&ratio.numerator, &ratio.denominator, format)),
        None => to_double(&value),
    }
}

macro_rules! integer_from_text {
    ($($integer:ty)*) => {
        $(impl FromText for $integer {
            fn from_text(text: &str) -> Option<$integer> {
                text.strip_suffix('.').unwrap_or(text).parse().ok()
            }
        })*
    };
}

integer_from_text!(i64 i32 u8);

impl FromText for Bool {
    fn from_text(text: &str) -> Option<Bool> {
        match text {
            "0" => Some(Bool::FALSE),
            "1" => Some(Bool::TRUE),
            _ => None,
        }
    }
}
