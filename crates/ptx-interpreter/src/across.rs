//! Operations across the lanes of a warp: shuffles, votes, products of matrices.
//!
//! The lanes that an instruction names with its last operand must be those that reach it together, for a
//! card waits for the missing ones or gives anything; and none may read a lane that is not among them.

use crate::machine::{Warp, lanes};
use crate::matrix;
use crate::opcodes::Lanes;
use crate::program::{Operation, Shuffle, Source, Vote};
use crate::{Fault, LANES, Outcome};

impl Warp {
    pub(crate) fn across(&mut self, operation: &Operation, mask: u32) -> Outcome<()> {
        match operation {
            Operation::Shuffle { how, to, there, from } => {
                self.together_as(from[3], mask)?;
                self.shuffle(*how, (*to, *there), from, mask)
            }
            Operation::Vote { how, to, from } => {
                self.together_as(from[1], mask)?;
                self.vote(*how, *to, from[0], mask)
            }
            Operation::Matrix { kind, to, from } => {
                self.together_as(Source::Constant(u32::MAX.into()), mask)?;
                self.all_defined(from, mask)?;
                let held = |source: &Source| std::array::from_fn(|lane| self.value(*source, lane));
                let registers: Vec<Lanes> = from.iter().map(held).collect();
                for (to, result) in to.iter().zip(&matrix::product(*kind, &registers)) {
                    self.keep(*to, mask, result);
                }
                Ok(())
            }
            _ => Ok(()),
        }
    }

    /// That the lanes which an operand names are those of the mask.
    fn together_as(&self, named: Source, mask: u32) -> Outcome<()> {
        if mask == 0 {
            return Ok(());
        }
        self.defined(named, mask)?;
        match lanes(mask).map(|lane| self.value(named, lane) as u32).find(|named| *named != mask) {
            None => Ok(()),
            Some(named) => Err(Fault(format!(
                "a warp's operation of the lanes {named:#x} with the lanes {mask:#x} alone"
            ))),
        }
    }

    /// The manual's rule: of operand c the bits from 8 on say which bits of a lane's number stay, the low
    /// five bound the rest.
    fn shuffle(
        &mut self,
        how: Shuffle,
        (to, there): (usize, Option<usize>),
        from: &[Source; 4],
        mask: u32,
    ) -> Outcome<()> {
        self.all_defined(from, mask)?;
        let values: Lanes = std::array::from_fn(|lane| self.value(from[0], lane));
        for lane in lanes(mask) {
            let [by, bounds] = [from[1], from[2]].map(|source| self.value(source, lane) as i64);
            let (by, clamp, kept) = (by & 31, bounds & 31, bounds >> 8 & 31);
            let own = lane as i64;
            let (first, last) = (own & kept, own & kept | clamp & !kept);
            let (other, inside) = match how {
                Shuffle::Index => (first | by & !kept, (first | by & !kept) <= last),
                Shuffle::Up => (own - by, own - by >= last),
                Shuffle::Down => (own + by, own + by <= last),
                Shuffle::Butterfly => (own ^ by, own ^ by <= last),
            };
            let other = if inside { other as usize % LANES } else { lane };
            if mask >> other & 1 == 0 {
                return Err(Fault(format!("lane {lane} reads lane {other}, which takes no part")));
            }
            self.set(to, lane, values[other]);
            if let Some(there) = there {
                self.set(there, lane, inside.into());
            }
        }
        Ok(())
    }

    fn vote(&mut self, how: Vote, to: usize, from: Source, mask: u32) -> Outcome<()> {
        self.defined(from, mask)?;
        let holds = lanes(mask).filter(|lane| self.value(from, *lane) != 0);
        let ballot = holds.fold(0u32, |ballot, lane| ballot | 1 << lane);
        let value = match how {
            Vote::All => (ballot == mask).into(),
            Vote::Any => (ballot != 0).into(),
            Vote::Ballot => ballot.into(),
        };
        lanes(mask).for_each(|lane| self.set(to, lane, value));
        Ok(())
    }
}
