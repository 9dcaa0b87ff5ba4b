//! Why a rung did not take a call: a value with a code, a text and the numbers that decided.
//!
//! The codes and texts are those of the reference (spec acceleration 6). A decline allocates
//! nothing until somebody prints it.

use crate::record::Family;
use rung_array::Array;
use rung_base::ElementType;

/// One way to compute an operation.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Rung {
    Device,
    Library,
    Lanes,
    Portable,
}

impl Rung {
    /// The order of asking.
    pub const ALL: [Rung; 4] = [Rung::Device, Rung::Library, Rung::Lanes, Rung::Portable];

    pub fn name(self) -> &'static str {
        match self {
            Rung::Device => "device",
            Rung::Library => "library",
            Rung::Lanes => "lanes",
            Rung::Portable => "portable",
        }
    }
}

/// What a rung says to a call.
pub enum Answer {
    Done(Array),
    /// An operation of several results.
    Several(Vec<Array>),
    /// The call's targets were changed.
    Written,
    Declined(Decline),
}

/// A text that clones without an allocation.
pub type Text = std::sync::Arc<str>;

/// Why a rung did not take a call.
#[derive(Clone, Debug, PartialEq)]
pub enum Decline {
    /// The rung is not part of this run; the flag that adds it.
    Off(&'static str),
    /// The rung was taken away; the flag or form that did it.
    Without(&'static str),
    /// The probe found no device; its reason.
    NoDevice(Text),
    /// The discovery found no library; its reason.
    NoLibrary(Text),
    /// The record has no kernel; its reason.
    NoKernel(&'static str),
    Small {
        have: u64,
        need: u64,
        unit: &'static str,
    },
    Slower {
        here: f64,
        there: f64,
    },
    NotResident {
        bytes: u64,
    },
    /// A matrix for a product with a vector goes to the device when it is seen again.
    FirstSight,
    /// It was seen before, but written since.
    WrittenSince,
    Type(ElementType),
    NoDouble,
    Memory {
        needs: u64,
        free: u64,
    },
    Binding {
        bytes: u64,
        most: u64,
    },
    TooLong,
    /// What a kernel of a program's own would have as instructions, and the most of them.
    LongKernel {
        have: usize,
        most: usize,
    },
    Grid,
    LibrarySmall {
        have: u64,
        need: u64,
    },
    /// The device was lost for the process; its whole text.
    Lost(Text),
    /// The device refused the call; its text.
    Device(Text),
    /// The device failed the call; its code and text.
    Failed(&'static str, Text),
    /// An operand that would have to go up is larger than those that are there.
    LargerHost,
    /// The library's interface cannot express the call; its text.
    Library(Text),
}

impl Decline {
    /// The code that explain, JSON and programs show.
    pub fn code(&self) -> &'static str {
        match self {
            Decline::Off(_) | Decline::Without(_) => "off",
            Decline::NoDevice(_) => "no-device",
            Decline::NoLibrary(_) => "no-library",
            Decline::NoKernel(_) => "no-kernel",
            Decline::Small { .. } => "small",
            Decline::Slower { .. } => "slower",
            Decline::NotResident { .. } => "not-resident",
            Decline::FirstSight => "first-sight",
            Decline::WrittenSince => "written",
            Decline::Type(_) => "type",
            Decline::NoDouble => "no-double",
            Decline::Memory { .. } => "memory",
            Decline::Binding { .. } => "binding",
            Decline::TooLong => "too-long",
            Decline::LongKernel { .. } => "long-kernel",
            Decline::Grid => "grid",
            Decline::LibrarySmall { .. } => "library-small",
            Decline::Lost(_) => "lost",
            Decline::Device(_) => "device",
            Decline::Failed(code, _) => code,
            Decline::LargerHost => "larger-host",
            Decline::Library(_) => "library",
        }
    }

    pub fn text(&self, rung: Rung) -> String {
        match self {
            Decline::Off(flag) => format!("not asked for: {flag}"),
            Decline::Without(by) => format!("taken away by {by}"),
            Decline::NoDevice(reason) | Decline::NoLibrary(reason) => reason.to_string(),
            Decline::NoKernel(reason) => format!("no {} kernel: {reason}", rung.name()),
            Decline::Small { have, need, unit } => {
                format!("too small: {} < {} {unit}", grouped(*have), grouped(*need))
            }
            Decline::Slower { here, there } => {
                format!("slower here: {} against {}", microseconds(*here), microseconds(*there))
            }
            Decline::NotResident { bytes } => {
                format!("not resident: moving {} costs more", size(*bytes))
            }
            Decline::FirstSight => "matrix seen once".into(),
            Decline::WrittenSince => "matrix was written since".into(),
            Decline::Type(t) => format!("no kernel for {t}"),
            Decline::NoDouble => "no f64 on this adapter".into(),
            Decline::Memory { needs, free } => {
                format!("needs {}, {} free", size(*needs), size(*free))
            }
            Decline::Binding { bytes, most } => {
                let (bytes, most) = (size(*bytes), size(*most));
                format!("buffer of {bytes} exceeds the device's {most} binding")
            }
            Decline::TooLong => "more than 2^31 elements".into(),
            Decline::LongKernel { have, most } => {
                let (have, most) = (grouped(*have as u64), grouped(*most as u64));
                format!("too long to compile: {have} instructions, {most} at most")
            }
            Decline::Grid => "launch exceeds the device's grid".into(),
            Decline::LibrarySmall { have, need } => {
                format!("too small: {} < {} multiply-adds", grouped(*have), grouped(*need))
            }
            Decline::Device(text)
            | Decline::Failed(_, text)
            | Decline::Library(text)
            | Decline::Lost(text) => text.to_string(),
            Decline::LargerHost => "operand on the host is larger than the resident one".into(),
        }
    }
}

impl Family {
    /// The unit in words, for `too small`.
    pub fn unit(self) -> &'static str {
        match self {
            Family::Product => "multiply-adds",
            _ => "elements",
        }
    }
}

/// 131072 as `131,072`.
pub fn grouped(n: u64) -> String {
    let digits = n.to_string();
    let mut out = String::new();
    for (i, c) in digits.chars().enumerate() {
        if i > 0 && (digits.len() - i).is_multiple_of(3) {
            out.push(',');
        }
        out.push(c);
    }
    out
}

/// A time in the unit that leaves one to four digits.
pub fn microseconds(us: f64) -> String {
    match us {
        _ if us < 9.95 => format!("{us:.1} us"),
        _ if us < 9999.5 => format!("{us:.0} us"),
        _ if us < 9_999_500.0 => format!("{:.0} ms", us / 1e3),
        _ => format!("{:.0} s", us / 1e6),
    }
}

/// Bytes in the unit that leaves one to four digits.
pub fn size(bytes: u64) -> String {
    let b = bytes as f64;
    match bytes {
        0..1024 => format!("{bytes} B"),
        1024..1_048_576 => format!("{:.1} KiB", b / 1024.0),
        1_048_576..1_073_741_824 => format!("{:.1} MiB", b / 1_048_576.0),
        _ => format!("{:.1} GiB", b / 1_073_741_824.0),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn texts_name_the_numbers_that_decided() {
        let text = |d: Decline| d.text(Rung::Device);
        assert_eq!(
            text(Decline::Small { have: 4096, need: 131_072, unit: "multiply-adds" }),
            "too small: 4,096 < 131,072 multiply-adds"
        );
        assert_eq!(
            text(Decline::Slower { here: 93.2, there: 20.9 }),
            "slower here: 93 us against 21 us"
        );
        assert_eq!(
            text(Decline::NotResident { bytes: 9_542_041 }),
            "not resident: moving 9.1 MiB costs more"
        );
        assert_eq!(
            Decline::NoKernel("a Lisp call per element").text(Rung::Lanes),
            "no lanes kernel: a Lisp call per element"
        );
        assert_eq!(grouped(0), "0");
        assert_eq!(grouped(1_234_567), "1,234,567");
        assert_eq!(microseconds(12_345_678.0), "12 s");
    }
}
