//! How elements lie in buffers: what a text says to read one of any type as what it computes with,
//! and to write a result as an element of any type. Elements of 8 and 16 bits lie several in a word.

use crate::kernel::per_word;
use crate::templates::{GROUP, filled_in};
use rung_base::{ElementType, Error, ErrorKind, Result};
use rung_math::Width;

/// What a text computes with: singles, doubles, or integers as bits of 64.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Computed {
    /// f32.
    Single,
    /// f64.
    Double,
    /// u64, in two's complement.
    Whole,
}

impl Computed {
    /// What floats of this width are computed in.
    pub fn of(width: Width) -> Computed {
        match width {
            Width::F32 => Computed::Single,
            Width::F64 => Computed::Double,
        }
    }

    /// What holds every element of this type.
    pub fn holding(element: ElementType) -> Computed {
        match Width::of(element) {
            Some(width) => Computed::of(width),
            None => Computed::Whole,
        }
    }

    /// The WGSL name of the type.
    pub fn name(self) -> &'static str {
        match self {
            Computed::Single => "f32",
            Computed::Double => "f64",
            Computed::Whole => "u64",
        }
    }

    /// The element type that holds it exactly.
    pub fn element(self) -> ElementType {
        match self {
            Computed::Single => ElementType::F32,
            Computed::Double => ElementType::F64,
            Computed::Whole => ElementType::I64,
        }
    }

    /// Words of a number among the parameters.
    pub fn words(self) -> usize {
        if self == Computed::Single { 1 } else { 2 }
    }

    /// A number that the parameters hold from this word on.
    pub fn parameter(self, at: usize) -> String {
        let wide = format!("(u64(parameter({}u)) << 32u) | u64(parameter({at}u))", at + 1);
        match self {
            Computed::Single => format!("bitcast<f32>(parameter({at}u))"),
            Computed::Double => format!("bitcast<f64>({wide})"),
            Computed::Whole => format!("({wide})"),
        }
    }

    /// 1 where the condition holds, else 0.
    pub fn truth(self, condition: &str) -> String {
        match self {
            Computed::Single => format!("select(0.0f, 1.0f, {condition})"),
            Computed::Double => format!("select(0.0lf, 1.0lf, {condition})"),
            Computed::Whole => format!("select(0lu, 1lu, {condition})"),
        }
    }

    /// Whether a value is not zero; NaN is not, and some devices compare it as if it were.
    pub fn is_true(self, x: &str) -> String {
        match self {
            Computed::Single => format!("((bitcast<u32>({x}) & 0x7fffffffu) != 0u)"),
            Computed::Double => format!("((bitcast<u64>({x}) & 0x7ffffffffffffffflu) != 0lu)"),
            Computed::Whole => format!("({x} != 0lu)"),
        }
    }
}

/// Element `at` of a buffer in the text's own type for it: bytes and bits as u32, half widths
/// widened to single.
fn natural(element: ElementType, buffer: &str, at: &str) -> String {
    match element {
        ElementType::F64 | ElementType::F32 | ElementType::I64 | ElementType::I32 => {
            format!("{buffer}[{at}]")
        }
        ElementType::BF16 => format!("bitcast<f32>({} << 16u)", part(2, buffer, at)),
        ElementType::F16 => format!("widened_f16({})", part(2, buffer, at)),
        ElementType::U8 | ElementType::Bool => part(4, buffer, at),
    }
}

/// One of so many parts of a word.
fn part(parts: u32, buffer: &str, at: &str) -> String {
    let (shift, bits) = (parts.ilog2(), 32 / parts);
    let mask = (1u64 << bits) - 1;
    let place = format!("(({at}) & {}u) * {bits}u", parts - 1);
    format!("(({buffer}[({at}) >> {shift}u] >> ({place})) & {mask:#x}u)")
}

/// Element `at` of a buffer of `stored` elements as a definition reads it: converted to `wanted`,
/// which may be bits of truth, in one rounding, and held in `computed`. What a narrower integer may not
/// hold declines.
pub fn read(
    stored: ElementType,
    wanted: ElementType,
    computed: Computed,
    buffer: &str,
    at: &str,
) -> Result<String> {
    if matches!(stored, ElementType::U8 | ElementType::Bool) {
        return Ok(format!("{}({})", computed.name(), natural(stored, buffer, at)));
    }
    let own = Computed::holding(stored);
    let value = held(stored, own, &natural(stored, buffer, at));
    if wanted == ElementType::Bool && stored != ElementType::Bool {
        return Ok(computed.truth(&own.is_true(&value)));
    }
    if widens(stored, wanted) && widens(wanted, computed.element()) {
        return Ok(converted(&value, own, computed));
    }
    if wanted.is_float() && widens(wanted, computed.element()) {
        return Ok(converted(&rounded(wanted, own, &value), Computed::Single, computed));
    }
    let text = format!("no kernel reads {stored} as {wanted}");
    Err(Error::new(ErrorKind::Declined, text))
}

/// A value as a single that a narrower float type has: as it would be stored there.
fn rounded(wanted: ElementType, own: Computed, value: &str) -> String {
    let written = written(wanted, own, value);
    match wanted {
        ElementType::BF16 => format!("bitcast<f32>({written} << 16u)"),
        ElementType::F16 => format!("widened_f16({written})"),
        _ => written,
    }
}

/// Whether a conversion is exact, or the only rounding on its way.
fn widens(from: ElementType, to: ElementType) -> bool {
    match (from.is_float(), to.is_float()) {
        (true, true) => from.size() < to.size() || from == to,
        // Integers are rounded once, where they are held as floats.
        (false, true) => to.size() > 2,
        (false, false) => from.size() <= to.size() || from == ElementType::Bool,
        (true, false) => false,
    }
}

/// A natural value in what holds it.
fn held(element: ElementType, own: Computed, value: &str) -> String {
    match element {
        ElementType::I64 => format!("bitcast<u64>({value})"),
        ElementType::I32 => format!("bitcast<u64>(i64({value}))"),
        _ => format!("{}({value})", own.name()),
    }
}

/// A value in another type that computes.
pub fn converted(value: &str, from: Computed, to: Computed) -> String {
    match (from, to) {
        (Computed::Whole, Computed::Double) => format!("double_of_whole({value})"),
        (Computed::Whole, Computed::Single) => format!("single_of_whole({value})"),
        (a, b) if a == b => value.to_string(),
        (_, to) => format!("{}({value})", to.name()),
    }
}

/// A value as an element of `out`, rounded once or wrapped: what `stored` stores.
pub fn written(out: ElementType, computed: Computed, value: &str) -> String {
    match (out, computed) {
        (ElementType::F64 | ElementType::F32, _) => {
            converted(value, computed, Computed::holding(out))
        }
        (ElementType::BF16, _) => format!("narrowed_bf16({})", narrow(computed, value)),
        (ElementType::F16, _) => format!("narrowed_f16({})", narrow(computed, value)),
        (ElementType::Bool, _) => format!("select(0u, 1u, {})", computed.is_true(value)),
        (ElementType::I64, Computed::Whole) => format!("bitcast<i64>({value})"),
        (ElementType::I32, Computed::Whole) => format!("bitcast<i32>(u32({value} & 0xfffffffflu))"),
        (ElementType::U8, Computed::Whole) => format!("u32({value} & 0xfflu)"),
        // Truths alone are written as integers from floats.
        (ElementType::I64, _) => format!("select(0li, 1li, {})", computed.is_true(value)),
        (ElementType::I32, _) => format!("select(0i, 1i, {})", computed.is_true(value)),
        (ElementType::U8, _) => format!("select(0u, 1u, {})", computed.is_true(value)),
    }
}

/// A value as a single that a second rounding may follow.
fn narrow(computed: Computed, value: &str) -> String {
    match computed {
        Computed::Single => value.to_string(),
        Computed::Double => format!("odd_f32({value})"),
        Computed::Whole => format!("odd_f32(double_of_whole({value}))"),
    }
}

/// The type that `written` gives.
pub fn written_type(out: ElementType) -> &'static str {
    match out {
        ElementType::F64 => "f64",
        ElementType::F32 => "f32",
        ElementType::I64 => "i64",
        ElementType::I32 => "i32",
        _ => "u32",
    }
}

/// A statement that stores a written value as element `at` of a buffer which is bound by
/// `Binding::write_single`.
pub fn stored_single(out: ElementType, buffer: &str, at: &str, value: &str) -> String {
    let parts = per_word(out) as u32;
    if parts == 1 {
        return format!("{buffer}[{at}] = {value};");
    }
    let (shift, bits) = (parts.ilog2(), 32 / parts);
    let mask = (1u64 << bits) - 1;
    // Other parts of the word are other invocations': each changes its own alone.
    format!(
        "{{ let word = ({at}) >> {shift}u; let place = (({at}) & {}u) * {bits}u; \
         atomicAnd(&{buffer}[word], ~({mask:#x}u << place)); \
         atomicOr(&{buffer}[word], ({value}) << place); }}",
        parts - 1
    )
}

/// The entry point of a kernel that writes `parameter(0)` elements of packed results: those that its
/// `fn element(i: u32)` gives, for the buffer of this number. Each invocation writes whole words.
pub fn main_over_elements(out: ElementType, buffer: usize) -> String {
    let parts = per_word(out);
    let text = match parts {
        1 => include_str!("templates/elements.wgsl"),
        _ => include_str!("templates/elements_packed.wgsl"),
    };
    filled_in(
        text,
        &[("group", &GROUP), ("out", &buffer), ("parts", &parts), ("bits", &(32 / parts))],
    )
}

/// The bits of a number among the parameters, low word first.
pub fn number_words(number: u64, computed: Computed) -> Vec<u32> {
    match computed {
        Computed::Single => vec![number as u32],
        _ => vec![number as u32, (number >> 32) as u32],
    }
}
