//! What a kernel is: a text, its bindings and its parameters; and what a launch of it is.
//!
//! A text never holds a shape, a stride or a number of the program: those ride in the launch's
//! parameter words, so one compiled pipeline serves every shape. A kernel knows no device; see
//! `compile` for how its text becomes SPIR-V, and the files in `templates` for where texts come
//! from.

use rung_base::{ElementType, Error, ErrorKind, Result};
use std::sync::Arc;

/// Words of parameters that a launch may carry.
pub const PARAMETER_WORDS: usize = 64;

/// Groups along one axis that every device takes; longer work loops inside the kernel.
pub const MAX_GROUPS: u32 = 65_535;

/// How a kernel uses a buffer.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Access {
    /// The kernel only reads it.
    Read,
    /// The kernel writes it, and may read it.
    ReadWrite,
    /// Several invocations write parts of one word, which holds several elements.
    Shared,
}

/// One buffer of a kernel; the text calls buffer `i` `b<i>`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Binding {
    /// What one cell holds.
    pub element: ElementType,
    /// Whether the kernel may write it.
    pub access: Access,
}

impl Binding {
    /// A buffer that the kernel reads.
    pub fn read(element: ElementType) -> Binding {
        Binding { element, access: Access::Read }
    }

    /// A buffer that the kernel writes.
    pub fn write(element: ElementType) -> Binding {
        Binding { element, access: Access::ReadWrite }
    }

    /// A buffer of which each invocation writes single elements.
    pub fn write_single(element: ElementType) -> Binding {
        let access = if per_word(element) > 1 { Access::Shared } else { Access::ReadWrite };
        Binding { element, access }
    }
}

/// How many elements one word of a buffer holds; an element of a word or two is one.
pub fn per_word(element: ElementType) -> usize {
    (4 / element.size()).max(1)
}

/// How the text of a kernel that walks its elements begins to say so.
const WALK: &str = "let step = groups.x * ";

/// A compute kernel: its entry point is `main`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Kernel {
    /// Unique for the text: caches and `--explain` use it. `map exp f32`.
    pub key: String,
    /// WGSL without the buffers' declarations and without the prelude; `compile` adds both.
    pub text: String,
    /// Invocations of a group along each axis, as in the text.
    pub workgroup: [u32; 3],
    /// The buffers in the order that a launch passes them.
    pub bindings: Vec<Binding>,
    /// How many parameter words the text reads.
    pub parameter_words: usize,
}

impl Kernel {
    /// Whether the text needs doubles on the device.
    pub fn needs_f64(&self) -> bool {
        self.bindings.iter().any(|b| b.element == ElementType::F64) || mentions(&self.text, "f64")
    }

    /// Whether the text needs 64-bit integers on the device.
    pub fn needs_i64(&self) -> bool {
        self.bindings.iter().any(|b| b.element == ElementType::I64)
            || mentions(&self.text, "u64")
            || mentions(&self.text, "i64")
    }

    /// Whether the text needs a device with tensor cores.
    pub fn needs_tensor_cores(&self) -> bool {
        crate::prelude::TENSOR_CORES.concat().iter().any(|name| mentions(&self.text, name))
    }

    /// Whether its invocations walk their elements with the stride of the launch, so that fewer groups
    /// along the first axis do the same work.
    pub fn walks(&self) -> bool {
        self.text.contains(WALK)
    }
}

/// Whether `word` stands in `text` as a whole word.
pub(crate) fn mentions(text: &str, word: &str) -> bool {
    let is_part = |c: char| c.is_ascii_alphanumeric() || c == '_';
    text.match_indices(word).any(|(at, _)| {
        !text[..at].chars().next_back().is_some_and(is_part)
            && !text[at + word.len()..].chars().next().is_some_and(is_part)
    })
}

/// One run of a kernel: what it is told and over how many groups it runs.
#[derive(Clone, Debug)]
pub struct Launch {
    /// What runs.
    pub kernel: Arc<Kernel>,
    /// The words that its text reads with `parameter(i)`.
    pub parameters: Vec<u32>,
    /// A zero means that there is nothing to do.
    pub groups: [u32; 3],
}

/// Which exact replacements a device needs for its own arithmetic, by what the self-test saw.
/// Part of the key of a compiled kernel.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct Variants {
    /// `fused_f32` by f64 or integer arithmetic.
    pub software_fma_f32: bool,
    /// `fused_f64` by integer arithmetic.
    pub software_fma_f64: bool,
    /// `divide_f32` by f64 or integer arithmetic.
    pub software_divide_f32: bool,
    /// `divide_f64` by integer arithmetic.
    pub software_divide_f64: bool,
    /// `root_f32` by f64 or integer arithmetic.
    pub software_root_f32: bool,
    /// `root_f64` by integer arithmetic.
    pub software_root_f64: bool,
    /// The device has no doubles: the f32 replacements work with integers alone.
    pub without_f64: bool,
    /// The device has no 64-bit integers.
    pub without_i64: bool,
    /// What kernels demand at 32 bits.
    pub demands_f32: Demands,
    /// What kernels demand at 64 bits.
    pub demands_f64: Demands,
}

impl Variants {
    /// Every software replacement there is.
    pub const SOFTWARE: Variants = Variants {
        software_fma_f32: true,
        software_fma_f64: true,
        software_divide_f32: true,
        software_divide_f64: true,
        software_root_f32: true,
        software_root_f64: true,
        without_f64: false,
        without_i64: false,
        demands_f32: Demands { keep_subnormals: false, keep_specials: false, nearest_even: false },
        demands_f64: Demands { keep_subnormals: false, keep_specials: false, nearest_even: false },
    };
}

/// What a kernel may demand of the device's arithmetic at one width; what it may not demand may
/// still hold, and the self-test says whether it does.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct Demands {
    /// Subnormal operands and results are kept.
    pub keep_subnormals: bool,
    /// Signed zeros, infinities and NaNs are what IEEE 754 says.
    pub keep_specials: bool,
    /// Results are rounded to nearest, ties to even.
    pub nearest_even: bool,
}

/// The WGSL name of an element type of which each element has its own place.
pub fn wgsl_type(element: ElementType) -> Result<&'static str> {
    match element {
        ElementType::F64 => Ok("f64"),
        ElementType::F32 => Ok("f32"),
        ElementType::I32 => Ok("i32"),
        ElementType::I64 => Ok("i64"),
        other => Err(Error::new(ErrorKind::Declined, format!("no kernel for {other}"))),
    }
}

/// `size` as a parameter word, or the decline that the device path gives above 2^31.
pub(crate) fn word(size: usize) -> Result<u32> {
    match u32::try_from(size) {
        Ok(word) if word <= 1 << 31 => Ok(word),
        _ => Err(Error::new(ErrorKind::Declined, "more than 2^31 elements")),
    }
}

/// A signed step or offset as a parameter word in two's complement.
pub(crate) fn signed_word(step: isize) -> Result<u32> {
    match i32::try_from(step) {
        Ok(word) => Ok(word as u32),
        Err(_) => Err(Error::new(ErrorKind::Declined, "more than 2^31 elements")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_are_found_whole() {
        assert!(mentions("let a: f64 = x;", "f64"));
        assert!(!mentions("divide_f64x(a)", "f64"));
        assert!(!mentions("my_f64(a)", "f64"));
    }

    #[test]
    fn sizes_above_two_to_31_decline() {
        assert_eq!(word(1 << 31).unwrap(), 1 << 31);
        assert_eq!(word((1 << 31) + 1).unwrap_err().message(), "more than 2^31 elements");
        assert_eq!(signed_word(-1).unwrap(), u32::MAX);
    }
}
