//! A fused program as calls between places: the stack is followed once, so that a chunk only runs
//! functions.

use super::{Kind, Step};
use smallvec::SmallVec;

/// Where a value lies while a chunk is run.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Place {
    Operand(usize),
    /// A chunk's space of its own, which a later value may take.
    Room(usize),
    Out,
}

impl Place {
    /// Its number among the operands, the rooms and the result.
    pub(super) fn number(self, operands: usize, rooms: usize) -> usize {
        match self {
            Place::Operand(k) => k,
            Place::Room(room) => operands + room,
            Place::Out => operands + rooms,
        }
    }
}

/// A function, the places of its arguments, of which the step's arity counts, and of its result. The
/// result may take the place of an argument: an element is read before it is written.
pub(super) struct Call {
    pub(super) step: Step,
    pub(super) from: [Place; 3],
    pub(super) to: Place,
}

pub(super) struct Plan {
    pub(super) calls: SmallVec<[Call; 8]>,
    /// How many rooms the calls use.
    pub(super) rooms: usize,
    /// The value of a program whose calls leave none: an operand.
    pub(super) copied: Option<usize>,
}

impl Plan {
    /// # Panics
    /// When the program reads an operand or argument that is not there, or does not leave one value.
    pub(super) fn of(program: &[Step], operands: usize) -> Plan {
        let mut plan = Plan { calls: SmallVec::new(), rooms: 0, copied: None };
        let mut stack: SmallVec<[Place; 8]> = SmallVec::new();
        for step in program {
            plan.follow(*step, operands, &mut stack);
        }
        assert_eq!(stack.len(), 1, "values that a fused program leaves");
        plan.end(stack[0]);
        plan
    }

    fn follow(&mut self, step: Step, operands: usize, stack: &mut SmallVec<[Place; 8]>) {
        let there = match step.0 {
            Kind::Operand(k) => k < operands,
            Kind::Again(place) => place < stack.len(),
            Kind::Slide { keep, drop } => keep > 0 && keep + drop <= stack.len(),
            _ => step.arity() <= stack.len(),
        };
        assert!(there, "a fused program reads an operand or argument that is not there");
        match step.0 {
            Kind::Operand(k) => stack.push(Place::Operand(k)),
            Kind::Again(place) => stack.push(stack[place]),
            Kind::Slide { keep, drop } => {
                let from = stack.len() - keep;
                stack.drain(from - drop..from);
            }
            Kind::One(_) | Kind::Two(_) | Kind::Three(_) => {
                let base = stack.len() - step.arity();
                let arguments = &stack[base..];
                let from = std::array::from_fn(|k| arguments[k.min(arguments.len() - 1)]);
                stack.truncate(base);
                let to = (0..).map(Place::Room).find(|room| !stack.contains(room));
                let to = to.unwrap_or(Place::Out);
                if let Place::Room(room) = to {
                    self.rooms = self.rooms.max(room + 1);
                }
                self.calls.push(Call { step, from, to });
                stack.push(to);
            }
        }
    }

    /// The call that leaves the program's value writes the result; what follows it leaves nothing.
    fn end(&mut self, value: Place) {
        match self.calls.iter().rposition(|call| call.to == value) {
            Some(last) => {
                self.calls.truncate(last + 1);
                self.calls[last].to = Place::Out;
            }
            None => self.calls.clear(),
        }
        if let Place::Operand(k) = value {
            self.copied = Some(k);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use rung_math::{Add, Mul, Tanh};

    #[test]
    fn rooms_are_taken_again_and_the_last_function_writes_the_result() {
        // (a b) + tanh(a): two rooms, of which the result would have taken the first.
        let program = [
            Step::operand(0),
            Step::operand(1),
            Step::two::<Mul>(),
            Step::operand(0),
            Step::one::<Tanh>(),
            Step::two::<Add>(),
        ];
        let plan = Plan::of(&program, 2);
        let places: Vec<Place> = plan.calls.iter().map(|call| call.to).collect();
        assert_eq!(places, [Place::Room(0), Place::Room(1), Place::Out]);
        assert_eq!((plan.rooms, plan.copied), (2, None));
    }

    #[test]
    fn a_value_that_is_read_again_keeps_its_room() {
        // x = a b; tanh(x) + x, x under the result taken away.
        let program = [
            Step::operand(0),
            Step::operand(1),
            Step::two::<Mul>(),
            Step::again(0),
            Step::one::<Tanh>(),
            Step::again(0),
            Step::two::<Add>(),
            Step::slide(1, 1),
        ];
        let plan = Plan::of(&program, 2);
        let sum = &plan.calls[2];
        assert_eq!((sum.from[0], sum.from[1]), (Place::Room(1), Place::Room(0)));
        assert_eq!((sum.to, plan.rooms), (Place::Out, 2));
    }

    #[test]
    fn what_nothing_reads_is_not_computed() {
        let program = [
            Step::operand(0),
            Step::one::<Tanh>(),
            Step::again(0),
            Step::one::<Tanh>(),
            Step::again(0),
            Step::slide(1, 2),
        ];
        let plan = Plan::of(&program, 1);
        assert_eq!(plan.calls.len(), 1);
        let plan = Plan::of(
            &[Step::operand(0), Step::one::<Tanh>(), Step::operand(0), Step::slide(1, 1)],
            1,
        );
        assert_eq!((plan.calls.len(), plan.copied), (0, Some(0)));
    }
}
