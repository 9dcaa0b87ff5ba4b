//! In which order queued work is done. A stream is a queue; streams know of each other only by events,
//! and the default stream by CUDA's rule for it. Nothing runs before somebody waits, and then as little as
//! is needed, so that a wait that is missing shows in the result. With a seed other than 0 other streams may
//! go on before or in between, as a card that does not wait for anybody.

use crate::machine::{Code, INVALID_HANDLE};
use rung_ptx_interpreter::Program;
use std::collections::{BTreeMap, HashMap, VecDeque};
use std::sync::Arc;

/// The stream that a null handle names.
pub const DEFAULT: usize = 0;
/// Handles of streams and events, so that one is not taken for the other.
const STREAMS: usize = 0x3000;
const EVENTS: usize = 0x10_0000;

/// A place in a stream, once it was recorded.
type Ticket = usize;

/// Where the bytes of a copy to the device come from.
pub enum Source {
    /// Pageable memory, as it was at the call: the driver stages it before it returns.
    Staged(Vec<u8>),
    /// The address of pinned memory, read when the copy is made.
    Pinned(usize),
}

/// What is queued.
pub enum Work {
    Map(u64),
    Unmap(u64),
    Up {
        to: u64,
        from: Source,
        bytes: usize,
    },
    Down {
        to: usize,
        from: u64,
        bytes: usize,
    },
    Fill {
        to: u64,
        byte: u8,
        bytes: usize,
    },
    Launch {
        program: Arc<Program>,
        groups: [u32; 3],
        buffers: Vec<(u64, u64)>,
        words: Vec<u32>,
    },
    /// What fails when its turn comes.
    Fail(Code),
    Wait(Ticket),
    Record(Ticket),
}

/// What is waited for.
#[derive(Clone, Copy)]
pub enum Goal {
    Stream(usize),
    Ticket(Ticket),
    Everything,
}

struct Stream {
    queue: VecDeque<Work>,
    /// It is in order with the default stream.
    blocking: bool,
}

pub struct Streams {
    streams: BTreeMap<usize, Stream>,
    /// The place that an event has, if it was recorded.
    events: HashMap<usize, Option<Ticket>>,
    /// Of each ticket, whether it was passed.
    passed: Vec<bool>,
    /// The last place in the default stream.
    default: Option<Ticket>,
    /// How many launches are queued.
    pub launches: usize,
    /// Of the generator; 0 for the least that is needed.
    random: u64,
    turns: Turns,
}

/// Which streams go on while somebody waits.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Turns {
    Needed,
    /// All others first, as far as they can.
    OthersFirst,
    Mixed,
}

impl Streams {
    pub fn new(seed: u64) -> Streams {
        let stream = Stream { queue: VecDeque::new(), blocking: false };
        Streams {
            streams: [(DEFAULT, stream)].into(),
            events: HashMap::new(),
            passed: Vec::new(),
            default: None,
            launches: 0,
            random: seed.wrapping_mul(0x9e37_79b9_7f4a_7c15),
            turns: Turns::Needed,
        }
    }

    pub fn create(&mut self, blocking: bool) -> usize {
        let handle = STREAMS + self.streams.len();
        self.streams.insert(handle, Stream { queue: VecDeque::new(), blocking });
        handle
    }

    pub fn create_event(&mut self) -> usize {
        // Never the handle of one that was destroyed.
        let handle = EVENTS + self.passed.len();
        self.passed.push(true);
        self.events.insert(handle, None);
        handle
    }

    pub fn destroy_event(&mut self, event: usize) -> Result<(), Code> {
        self.events.remove(&event).map(drop).ok_or(INVALID_HANDLE)
    }

    /// Whether there is such a stream.
    pub fn known(&self, stream: usize) -> Result<(), Code> {
        self.streams.contains_key(&stream).then_some(()).ok_or(INVALID_HANDLE)
    }

    /// Puts work at the end of a stream.
    pub fn push(&mut self, stream: usize, work: Work) -> Result<(), Code> {
        self.known(stream)?;
        if stream == DEFAULT {
            let others = self.streams.iter().filter(|(_, s)| s.blocking);
            for other in others.map(|(handle, _)| *handle).collect::<Vec<_>>() {
                let ticket = self.mark(other);
                self.append(DEFAULT, Work::Wait(ticket));
            }
        } else if let (Some(ticket), true) = (self.default, self.streams[&stream].blocking) {
            self.append(stream, Work::Wait(ticket));
        }
        self.append(stream, work);
        if stream == DEFAULT {
            self.default = Some(self.mark(DEFAULT));
        }
        Ok(())
    }

    fn append(&mut self, stream: usize, work: Work) {
        self.launches += usize::from(matches!(work, Work::Launch { .. }));
        if let Some(stream) = self.streams.get_mut(&stream) {
            stream.queue.push_back(work);
        }
    }

    fn mark(&mut self, stream: usize) -> Ticket {
        let ticket = self.passed.len();
        self.passed.push(false);
        self.append(stream, Work::Record(ticket));
        ticket
    }

    pub fn record(&mut self, event: usize, stream: usize) -> Result<(), Code> {
        self.known(stream)?;
        if !self.events.contains_key(&event) {
            return Err(INVALID_HANDLE);
        }
        let ticket = self.mark(stream);
        self.events.insert(event, Some(ticket));
        Ok(())
    }

    /// The place that an event has now, as a wait for it sees it; none where it was never recorded.
    pub fn ticket(&self, event: usize) -> Result<Option<Ticket>, Code> {
        self.events.get(&event).copied().ok_or(INVALID_HANDLE)
    }

    fn reached(&self, goal: Goal) -> bool {
        match goal {
            Goal::Stream(stream) => self.streams[&stream].queue.is_empty(),
            Goal::Ticket(ticket) => self.passed[ticket],
            Goal::Everything => self.streams.values().all(|s| s.queue.is_empty()),
        }
    }

    /// The next thing that is done for a goal; `None` when it is reached.
    pub fn next(&mut self, goal: Goal) -> Option<Work> {
        while !self.reached(goal) {
            let stream = self.choose(goal)?;
            match self.streams.get_mut(&stream)?.queue.pop_front()? {
                Work::Record(ticket) => self.passed[ticket] = true,
                Work::Wait(_) => {}
                work => {
                    self.launches -= usize::from(matches!(work, Work::Launch { .. }));
                    return Some(work);
                }
            }
        }
        None
    }

    /// Somebody begins to wait.
    pub fn begin(&mut self) {
        self.turns = match (self.random, self.draw() % 3) {
            (0, _) | (_, 0) => Turns::Needed,
            (_, 1) => Turns::OthersFirst,
            _ => Turns::Mixed,
        };
    }

    fn draw(&mut self) -> usize {
        self.random ^= self.random << 13;
        self.random ^= self.random >> 7;
        self.random ^= self.random << 17;
        (self.random >> 32) as usize
    }

    /// A stream whose next work may be done.
    fn choose(&mut self, goal: Goal) -> Option<usize> {
        let needed = self.needed(goal)?;
        let ready = |handle: &usize| self.is_ready(*handle);
        let ready: Vec<usize> = self.streams.keys().copied().filter(ready).collect();
        match self.turns {
            Turns::Needed => Some(needed),
            Turns::OthersFirst => ready.into_iter().find(|s| *s != needed).or(Some(needed)),
            Turns::Mixed => Some(ready[self.draw() % ready.len()]),
        }
    }

    fn is_ready(&self, stream: usize) -> bool {
        match self.streams[&stream].queue.front() {
            Some(Work::Wait(ticket)) => self.passed[*ticket],
            front => front.is_some(),
        }
    }

    /// The stream that has to go on, through all that waits for another.
    fn needed(&self, goal: Goal) -> Option<usize> {
        let mut stream = match goal {
            Goal::Stream(stream) => stream,
            Goal::Ticket(ticket) => self.recorder(ticket)?,
            Goal::Everything => *self.streams.iter().find(|(_, s)| !s.queue.is_empty())?.0,
        };
        while let Some(Work::Wait(ticket)) = self.streams[&stream].queue.front() {
            if self.passed[*ticket] {
                break;
            }
            stream = self.recorder(*ticket)?;
        }
        Some(stream)
    }

    fn recorder(&self, ticket: Ticket) -> Option<usize> {
        let has = |s: &Stream| s.queue.iter().any(|w| matches!(w, Work::Record(t) if *t == ticket));
        self.streams.iter().find(|(_, s)| has(s)).map(|(handle, _)| *handle)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Fills, told apart by their byte, in the order in which a goal has them done.
    fn done(streams: &mut Streams, goal: Goal) -> Vec<u8> {
        let mut bytes = Vec::new();
        streams.begin();
        while let Some(work) = streams.next(goal) {
            match work {
                Work::Fill { byte, .. } => bytes.push(byte),
                _ => panic!("only fills were queued"),
            }
        }
        bytes
    }

    fn fill(streams: &mut Streams, stream: usize, byte: u8) {
        streams.push(stream, Work::Fill { to: 0, byte, bytes: 1 }).unwrap();
    }

    #[test]
    fn a_wait_runs_what_it_needs_and_no_more() {
        let mut streams = Streams::new(0);
        let (a, b) = (streams.create(false), streams.create(false));
        let event = streams.create_event();
        fill(&mut streams, a, 1);
        fill(&mut streams, a, 2);
        streams.record(event, a).unwrap();
        fill(&mut streams, a, 3);
        fill(&mut streams, b, 4);
        let ticket = streams.ticket(event).unwrap().unwrap();
        streams.push(b, Work::Wait(ticket)).unwrap();
        fill(&mut streams, b, 5);
        assert_eq!(done(&mut streams, Goal::Stream(b)), [4, 1, 2, 5]);
        assert_eq!(done(&mut streams, Goal::Ticket(ticket)), []);
        assert_eq!(done(&mut streams, Goal::Everything), [3]);
        assert_eq!(streams.push(7, Work::Map(0)), Err(INVALID_HANDLE));
        streams.destroy_event(event).unwrap();
        assert_eq!(streams.ticket(event), Err(INVALID_HANDLE));
    }

    /// Streams that were not made non-blocking are in order with the default one, both ways.
    #[test]
    fn the_default_stream_is_in_order_with_blocking_ones() {
        let mut streams = Streams::new(0);
        let (with, without) = (streams.create(true), streams.create(false));
        fill(&mut streams, with, 1);
        fill(&mut streams, without, 2);
        fill(&mut streams, DEFAULT, 3);
        fill(&mut streams, with, 4);
        fill(&mut streams, without, 5);
        assert_eq!(done(&mut streams, Goal::Stream(with)), [1, 3, 4]);
        assert_eq!(done(&mut streams, Goal::Stream(without)), [2, 5]);
    }

    #[test]
    fn seeds_interleave_streams_and_keep_each_in_order() {
        let mut orders = Vec::new();
        for seed in 0..40 {
            let mut streams = Streams::new(seed);
            let (a, b) = (streams.create(false), streams.create(false));
            (1..=4).for_each(|byte| fill(&mut streams, a, byte));
            (11..=14).for_each(|byte| fill(&mut streams, b, byte));
            let order = done(&mut streams, Goal::Everything);
            let of = |list: fn(&u8) -> bool| order.iter().copied().filter(list).collect::<Vec<_>>();
            assert_eq!(of(|x| *x < 10), [1, 2, 3, 4], "seed {seed}");
            assert_eq!(of(|x| *x > 10), [11, 12, 13, 14], "seed {seed}");
            orders.push(order);
        }
        orders.sort();
        orders.dedup();
        assert!(orders.len() > 5, "{orders:?}");
    }
}
