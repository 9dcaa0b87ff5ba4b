//! Operations of a subgroup, which is a warp: votes, shuffles, reductions and scans. WGSL has them
//! in uniform control flow alone, so all 32 invocations take part; a group that is no whole number of
//! warps is refused.

use super::layout::{bits, class};
use super::statement::Frame;
use super::text::{Class, Operand};
use super::{Failed, Outcome, SUBGROUP, Writer};
use naga::{
    BinaryOperator as Op, BuiltIn, CollectiveOperation as Collective, Direction, Expression,
    GatherMode, Handle, MathFunction, Scalar, ScalarKind, Statement,
    SubgroupOperation as Operation,
};
use std::rc::Rc;

/// All invocations of a warp.
const ALL: u32 = u32::MAX;

impl<'m> Writer<'m> {
    /// The expression that a statement gives its result to, and that result.
    pub(super) fn subgroup(
        &mut self,
        frame: &mut Frame<'m>,
        statement: &Statement,
    ) -> Outcome<(Handle<Expression>, Vec<Operand>)> {
        self.whole_subgroups(self.module.entry_points[0].workgroup_size)?;
        match *statement {
            Statement::SubgroupBallot { result, predicate } => {
                let truth = match predicate {
                    Some(predicate) => self.scalar_of(frame, predicate)?,
                    None => Operand::Constant(Class::Predicate, 1),
                };
                let truth = self.text.held(truth);
                let sources = [truth, Operand::word(ALL)];
                let ballot = self.text.make(Class::B32, "vote.sync.ballot.b32", &sources);
                let zero = Operand::word(0);
                Ok((result, vec![ballot, zero, zero, zero]))
            }
            Statement::SubgroupGather { mode, argument, result } => {
                let scalar = self.scalar_type(frame, argument)?;
                let values = self.scalars_of(frame, argument)?;
                let (how, lane) = self.gathered(frame, mode)?;
                let each = values.iter().map(|v| self.shuffled(how, *v, lane, scalar, None));
                Ok((result, each.collect::<Outcome<_>>()?))
            }
            Statement::SubgroupCollectiveOperation { op, collective_op, argument, result } => {
                let scalar = self.scalar_type(frame, argument)?;
                let values = self.scalars_of(frame, argument)?;
                let each = values.iter().map(|v| self.collective(op, collective_op, *v, scalar));
                Ok((result, each.collect::<Outcome<_>>()?))
            }
            ref other => Err(Failed(format!("no statement {other:?}"))),
        }
    }

    fn whole_subgroups(&self, group: [u32; 3]) -> Outcome<()> {
        let count = group.iter().product::<u32>();
        match count % SUBGROUP {
            0 => Ok(()),
            _ => Err(Failed(format!(
                "subgroup operations in a group of {count}, which is no multiple of {SUBGROUP}"
            ))),
        }
    }

    /// The built-in values of an invocation that depend on its subgroup.
    pub(super) fn subgroup_built_in(
        &mut self,
        built_in: BuiltIn,
        group: [u32; 3],
    ) -> Outcome<Operand> {
        match built_in {
            BuiltIn::SubgroupSize => Ok(Operand::word(SUBGROUP)),
            BuiltIn::NumSubgroups => {
                let count = group.iter().product::<u32>();
                Ok(Operand::word(count.div_ceil(SUBGROUP)))
            }
            BuiltIn::SubgroupInvocationId => {
                let register = self.text.register(Class::B32);
                self.text.line(format_args!("mov.u32 {register}, %laneid"));
                Ok(register)
            }
            BuiltIn::SubgroupId => {
                let index = self.local_index(group);
                let five = Operand::word(SUBGROUP.ilog2());
                Ok(self.text.make(Class::B32, "shr.u32", &[index, five]))
            }
            other => Err(Failed(format!("no built-in value {other:?}"))),
        }
    }

    /// The kind of shuffle of a gather, and the lane or distance.
    fn gathered(
        &mut self,
        frame: &mut Frame<'m>,
        mode: GatherMode,
    ) -> Outcome<(&'static str, Operand)> {
        let (how, lane) = match mode {
            GatherMode::BroadcastFirst => return Ok(("idx", Operand::word(0))),
            GatherMode::QuadSwap(direction) => {
                let across = match direction {
                    Direction::X => 1,
                    Direction::Y => 2,
                    Direction::Diagonal => 3,
                };
                return Ok(("bfly", Operand::word(across)));
            }
            GatherMode::QuadBroadcast(place) => {
                let place = self.scalar_of(frame, place)?;
                let own =
                    self.subgroup_built_in(BuiltIn::SubgroupInvocationId, [SUBGROUP, 1, 1])?;
                let first = self.text.make(Class::B32, "and.b32", &[own, Operand::word(!3)]);
                return Ok(("idx", self.text.make(Class::B32, "or.b32", &[first, place])));
            }
            GatherMode::Broadcast(lane) | GatherMode::Shuffle(lane) => ("idx", lane),
            GatherMode::ShuffleDown(lane) => ("down", lane),
            GatherMode::ShuffleUp(lane) => ("up", lane),
            GatherMode::ShuffleXor(lane) => ("bfly", lane),
        };
        Ok((how, self.scalar_of(frame, lane)?))
    }

    /// A value of another lane; `there` becomes whether there is that lane.
    fn shuffled(
        &mut self,
        how: &str,
        value: Operand,
        lane: Operand,
        scalar: Scalar,
        there: Option<Operand>,
    ) -> Outcome<Operand> {
        let class = class(scalar)?;
        let value = self.text.held(value);
        let mut words = self.words(value, class);
        for word in &mut words {
            let moved = self.text.register(Class::B32);
            let predicate = there.map_or(String::new(), |p| format!("|{p}"));
            let last = if how == "up" { 0 } else { SUBGROUP - 1 };
            self.text.line(format_args!(
                "shfl.sync.{how}.b32 {moved}{predicate}, {word}, {lane}, {last}, {ALL:#x}"
            ));
            *word = moved;
        }
        Ok(self.of_words(&words, class))
    }

    /// The 32-bit words of a value, low first.
    fn words(&mut self, value: Operand, class: Class) -> Vec<Operand> {
        match class {
            Class::Predicate => vec![self.truth_as_word(value)],
            Class::B16 => vec![self.text.make(Class::B32, "cvt.u32.u16", &[value])],
            Class::B32 | Class::F32 => vec![self.text.reinterpreted(value, Class::B32)],
            Class::B64 | Class::F64 => {
                let [low, high] = [(); 2].map(|()| self.text.register(Class::B32));
                self.text.line(format_args!("mov.b64 {{{low}, {high}}}, {value}"));
                vec![low, high]
            }
        }
    }

    fn of_words(&mut self, words: &[Operand], class: Class) -> Operand {
        match class {
            Class::Predicate => self.text.make(class, "setp.ne.u32", &[words[0], Operand::word(0)]),
            Class::B16 => self.text.make(class, "cvt.u16.u32", words),
            Class::B32 | Class::F32 => self.text.reinterpreted(words[0], class),
            Class::B64 | Class::F64 => {
                let value = self.text.register(class);
                let (low, high) = (words[0], words[1]);
                self.text.line(format_args!("mov.b64 {value}, {{{low}, {high}}}"));
                value
            }
        }
    }

    fn collective(
        &mut self,
        op: Operation,
        collective: Collective,
        value: Operand,
        scalar: Scalar,
    ) -> Outcome<Operand> {
        if matches!(op, Operation::All | Operation::Any) {
            let name = if op == Operation::All { "all" } else { "any" };
            let sources = [self.text.held(value), Operand::word(ALL)];
            return Ok(self.text.make(
                Class::Predicate,
                &format!("vote.sync.{name}.pred"),
                &sources,
            ));
        }
        match collective {
            Collective::Reduce => {
                let mut all = value;
                for distance in [16, 8, 4, 2, 1] {
                    let other =
                        self.shuffled("bfly", all, Operand::word(distance), scalar, None)?;
                    all = self.combined(op, scalar, all, other)?;
                }
                Ok(all)
            }
            Collective::InclusiveScan => self.scanned(op, value, scalar),
            Collective::ExclusiveScan => {
                let scanned = self.scanned(op, value, scalar)?;
                let there = self.text.register(Class::Predicate);
                let one = Operand::word(1);
                let before = self.shuffled("up", scanned, one, scalar, Some(there))?;
                let identity = identity(op, scalar)?;
                Ok(self.select(there, before, identity))
            }
        }
    }

    fn scanned(&mut self, op: Operation, value: Operand, scalar: Scalar) -> Outcome<Operand> {
        let mut sum = value;
        for distance in [1, 2, 4, 8, 16] {
            let there = self.text.register(Class::Predicate);
            let lane = Operand::word(distance);
            let before = self.shuffled("up", sum, lane, scalar, Some(there))?;
            let more = self.combined(op, scalar, before, sum)?;
            sum = self.select(there, more, sum);
        }
        Ok(sum)
    }

    fn combined(
        &mut self,
        op: Operation,
        scalar: Scalar,
        a: Operand,
        b: Operand,
    ) -> Outcome<Operand> {
        let operator = match op {
            Operation::Add => Op::Add,
            Operation::Mul => Op::Multiply,
            Operation::And => Op::And,
            Operation::Or => Op::InclusiveOr,
            Operation::Xor => Op::ExclusiveOr,
            Operation::Min | Operation::Max => {
                let fun = if op == Operation::Min { MathFunction::Min } else { MathFunction::Max };
                let operands: [Rc<[Operand]>; 2] = [[a].into(), [b].into()];
                return Ok(self.math(fun, scalar, &operands)?[0]);
            }
            other => return Err(Failed(format!("no subgroup operation {other:?}"))),
        };
        self.binary(operator, scalar, a, b)
    }
}

/// What changes nothing; WGSL scans sums and products alone.
fn identity(op: Operation, scalar: Scalar) -> Outcome<Operand> {
    let one = match (scalar.kind, scalar.width) {
        (ScalarKind::Float, 8) => 1f64.to_bits(),
        (ScalarKind::Float, 4) => 1f32.to_bits().into(),
        (ScalarKind::Float, _) => 0x3c00,
        _ => 1,
    };
    match op {
        Operation::Add => Ok(Operand::Constant(class(scalar)?, 0)),
        Operation::Mul => Ok(Operand::Constant(class(scalar)?, one)),
        other => Err(Failed(format!("no scan of {other:?} over {}", bits(scalar)))),
    }
}
