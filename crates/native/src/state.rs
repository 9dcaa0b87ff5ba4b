//! What is known of each register while a function is translated.
//!
//! A register is in its slot of the machine's stack, in a variable of the native code as a bare
//! number, or in both. Where paths meet, the states of a register are joined.

/// What a register holds.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Kind {
    /// Anything.
    Any,
    /// A packed array, as a guard has found since the register was written.
    Packed,
    /// Something without a count.
    Immediate,
    /// A fixnum.
    Fixnum,
    /// A double.
    Double,
}

impl Kind {
    /// Whether it may be a counted reference.
    pub fn counts(self) -> bool {
        matches!(self, Kind::Any | Kind::Packed)
    }
}

/// Where a register's value is.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Place {
    /// In its slot alone.
    Slot(Kind),
    /// A number in a variable; `saved`: in its slot as well. If not, the slot holds something
    /// immediate that nobody reads.
    Number {
        /// Of fixnums or of doubles.
        kind: Kind,
        /// Whether the slot has it too.
        saved: bool,
    },
}

impl Place {
    /// What is known of the value.
    pub fn kind(self) -> Kind {
        match self {
            Place::Slot(kind) | Place::Number { kind, .. } => kind,
        }
    }

    /// Whether the slot may refer to the heap.
    pub fn counts(self) -> bool {
        matches!(self, Place::Slot(kind) if kind.counts())
    }

    /// A number that its slot has not got.
    pub fn is_unsaved(self) -> bool {
        matches!(self, Place::Number { saved: false, .. })
    }

    /// As after everything was saved and the variables were lost.
    pub fn in_slot(self) -> Place {
        Place::Slot(self.kind())
    }

    /// The state of a register whose value nobody asks for any more.
    pub fn dead(self) -> Place {
        Place::Slot(if self.counts() { Kind::Any } else { Kind::Immediate })
    }

    /// What holds on both paths.
    pub fn join(self, other: Place) -> Place {
        let (a, b) = (self.kind(), other.kind());
        if a != b {
            let any = a.counts() || b.counts();
            return Place::Slot(if any { Kind::Any } else { Kind::Immediate });
        }
        match (self, other) {
            (Place::Slot(_), Place::Slot(_)) => self,
            _ => Place::Number { kind: a, saved: !self.is_unsaved() && !other.is_unsaved() },
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const FIXNUM: Place = Place::Number { kind: Kind::Fixnum, saved: false };

    #[test]
    fn numbers_of_one_kind_stay_in_variables_and_others_go_to_their_slots() {
        let double = Place::Number { kind: Kind::Double, saved: true };
        assert_eq!(FIXNUM.join(Place::Slot(Kind::Fixnum)), FIXNUM);
        assert_eq!(FIXNUM.join(double), Place::Slot(Kind::Immediate));
        assert_eq!(FIXNUM.join(Place::Slot(Kind::Any)), Place::Slot(Kind::Any));
        assert_eq!(FIXNUM.dead(), Place::Slot(Kind::Immediate));
        let packed = Place::Slot(Kind::Packed);
        assert_eq!(packed.join(packed), packed);
        assert_eq!(packed.join(Place::Slot(Kind::Immediate)), Place::Slot(Kind::Any));
        assert_eq!(packed.join(FIXNUM), Place::Slot(Kind::Any));
    }
}
