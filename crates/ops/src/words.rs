//! What a record's fields mean in a sentence: for `describe` and for the manual, which say the same.

use crate::record::{Exactness, Kind, Op};
use std::borrow::Cow;

impl Kind {
    /// What an argument of this kind is; choices stand between `quotes`, as in `:inf` of the manual.
    pub fn in_words(self, quotes: &str) -> Cow<'static, str> {
        let words = |choices: &[&str]| {
            let all: Vec<String> =
                choices.iter().map(|word| format!("{quotes}:{word}{quotes}")).collect();
            all.join(" or ")
        };
        Cow::Borrowed(match self {
            Kind::Choice(choices) => return words(choices).into(),
            Kind::IndexOr(choices) => {
                return format!("integers, as an array or a list, or {}", words(choices)).into();
            }
            Kind::Operand => "an array or a number",
            Kind::Array => "an array",
            Kind::Arrays => "a list of arrays",
            Kind::Number => "a number",
            Kind::Integer => "an integer",
            Kind::Pair => "an integer, or a list of two for the height and the width",
            Kind::Shape => "a non-negative integer or a list of them",
            Kind::Integers => "a list of integers",
            Kind::Each => "an integer, or integers as an array or a list",
            Kind::Index => "integers, as an array or a list",
            Kind::ElementType => "an element type",
            Kind::Flag | Kind::Truth => "true or nil",
            Kind::Slices => "a list of nil or (start end [step]), one an axis",
            Kind::Nested => "numbers in nested lists",
            Kind::Axes => "nil for all axes, an axis, or a list of them",
            Kind::Text => "a string",
            Kind::Vector => "a packed vector",
            Kind::Generator => "a generator",
            Kind::Any => "see the text",
        })
    }
}

impl Op {
    /// What holds for its bits.
    pub fn exactness(&self) -> Cow<'static, str> {
        Cow::Borrowed(match self.exact {
            Exactness::Same => "the definition's bits on every rung",
            Exactness::Ulp(n) => {
                let text = "the definition's bits on every rung, within";
                return format!("{text} {n} ulp of the true value").into();
            }
            Exactness::LibraryOrder => {
                "the definition's bits on lanes and device; the library adds in its own order, within \
                 2 k u sum |a b| of them"
            }
            Exactness::Kept => {
                let text = "a kept library's algorithm: the same bits from run to run and for any \
                            number of threads on one machine; another may give others";
                return match self.rungs.device.kernel() {
                    Some(_) => format!(
                        "{text}; a device has an algorithm of its own within the same bound"
                    )
                    .into(),
                    None => text.into(),
                };
            }
        })
    }
}
