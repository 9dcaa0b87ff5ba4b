//! Element types: what one cell of an array holds, with its names in each front end.
//!
//! One record per type; every name, size and class is read from it. Arithmetic on elements is
//! not here (see `rung-math`); this file only says how cells are stored.

use bytemuck::{Pod, Zeroable};
pub use half::{bf16, f16};

/// What one cell of an array holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum ElementType {
    F64,
    F32,
    BF16,
    F16,
    I64,
    I32,
    U8,
    Bool,
}

/// What kind of number an element type holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ElementClass {
    Float,
    Integer,
    Bool,
}

struct Record {
    short: &'static str,
    lisp: &'static str,
    numpy: &'static str,
    bytes: usize,
    class: ElementClass,
}

const fn record(
    short: &'static str,
    lisp: &'static str,
    numpy: &'static str,
    bytes: usize,
    class: ElementClass,
) -> Record {
    Record { short, lisp, numpy, bytes, class }
}

/// In the order of `ElementType`.
const RECORDS: [Record; 8] = [
    record("f64", "double-float", "float64", 8, ElementClass::Float),
    record("f32", "single-float", "float32", 4, ElementClass::Float),
    record("bf16", "bfloat16", "bfloat16", 2, ElementClass::Float),
    record("f16", "float16", "float16", 2, ElementClass::Float),
    record("i64", "(signed-byte 64)", "int64", 8, ElementClass::Integer),
    record("i32", "(signed-byte 32)", "int32", 4, ElementClass::Integer),
    record("u8", "(unsigned-byte 8)", "uint8", 1, ElementClass::Integer),
    record("bool", "bit", "bool", 1, ElementClass::Bool),
];

impl ElementType {
    pub const ALL: [ElementType; 8] = [
        ElementType::F64,
        ElementType::F32,
        ElementType::BF16,
        ElementType::F16,
        ElementType::I64,
        ElementType::I32,
        ElementType::U8,
        ElementType::Bool,
    ];
    pub const FLOATS: [ElementType; 4] =
        [ElementType::F64, ElementType::F32, ElementType::BF16, ElementType::F16];

    fn record(self) -> &'static Record {
        &RECORDS[self as usize]
    }

    /// The short name used in tables and messages: `f32`.
    pub fn name(self) -> &'static str {
        self.record().short
    }

    /// The Common Lisp type specifier, in lower case: `single-float`.
    pub fn lisp_name(self) -> &'static str {
        self.record().lisp
    }

    /// numpy's name: `float32`.
    pub fn numpy_name(self) -> &'static str {
        self.record().numpy
    }

    /// Bytes of one element in memory.
    pub fn size(self) -> usize {
        self.record().bytes
    }

    pub fn class(self) -> ElementClass {
        self.record().class
    }

    pub fn is_float(self) -> bool {
        self.class() == ElementClass::Float
    }

    /// The type at which arithmetic on this type runs: f32 for the half widths, else itself.
    pub fn compute_type(self) -> ElementType {
        match self {
            ElementType::BF16 | ElementType::F16 => ElementType::F32,
            other => other,
        }
    }

    /// Looks a type up by any of its names (`f32`, `single-float`, `float32`), ignoring case.
    pub fn parse(text: &str) -> Option<ElementType> {
        let same = |name: &str| name.eq_ignore_ascii_case(text);
        ElementType::ALL
            .into_iter()
            .find(|t| same(t.name()) || same(t.lisp_name()) || same(t.numpy_name()))
    }
}

impl std::fmt::Display for ElementType {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(self.name())
    }
}

/// One stored truth value: 0 or 1 in a byte.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Pod, Zeroable)]
#[repr(transparent)]
pub struct Bool(u8);

impl Bool {
    pub const TRUE: Bool = Bool(1);
    pub const FALSE: Bool = Bool(0);

    /// Any non-zero byte counts as true, so bytes from a file are safe to read.
    pub fn get(self) -> bool {
        self.0 != 0
    }
}

impl From<bool> for Bool {
    fn from(value: bool) -> Bool {
        Bool(value as u8)
    }
}

/// A Rust type that is the storage of one element type.
pub trait Element: Pod + Send + Sync + PartialEq + std::fmt::Debug + Default + 'static {
    const TYPE: ElementType;
}

macro_rules! elements {
    ($($rust:ty => $variant:ident),*) => {
        $(impl Element for $rust {
            const TYPE: ElementType = ElementType::$variant;
        })*
    };
}
elements!(f64 => F64, f32 => F32, bf16 => BF16, f16 => F16, i64 => I64, i32 => I32, u8 => U8,
          Bool => Bool);

/// Runs `$body` with `$T` bound to the storage type of the element type `$t`.
#[macro_export]
macro_rules! with_element {
    ($t:expr, $T:ident => $body:expr) => {
        match $t {
            $crate::ElementType::F64 => {
                type $T = f64;
                $body
            }
            $crate::ElementType::F32 => {
                type $T = f32;
                $body
            }
            $crate::ElementType::BF16 => {
                type $T = $crate::bf16;
                $body
            }
            $crate::ElementType::F16 => {
                type $T = $crate::f16;
                $body
            }
            $crate::ElementType::I64 => {
                type $T = i64;
                $body
            }
            $crate::ElementType::I32 => {
                type $T = i32;
                $body
            }
            $crate::ElementType::U8 => {
                type $T = u8;
                $body
            }
            $crate::ElementType::Bool => {
                type $T = $crate::Bool;
                $body
            }
        }
    };
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn records_stand_in_the_order_of_the_enum_and_names_are_unique() {
        for t in ElementType::ALL {
            for name in [t.name(), t.lisp_name(), t.numpy_name()] {
                assert_eq!(ElementType::parse(name), Some(t), "{name}");
                assert_eq!(ElementType::parse(&name.to_uppercase()), Some(t));
            }
            with_element!(t, T => {
                assert_eq!(T::TYPE, t);
                assert_eq!(size_of::<T>(), t.size());
            });
        }
        assert_eq!(ElementType::parse("complex"), None);
    }

    #[test]
    fn a_stray_byte_reads_as_true() {
        assert!(bytemuck::cast::<u8, Bool>(7).get());
        assert_eq!(Bool::from(true), Bool::TRUE);
        assert!(!Bool::FALSE.get());
    }
}
