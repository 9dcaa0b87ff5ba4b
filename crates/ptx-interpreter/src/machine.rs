//! Groups, warps and lanes. Each lane has its own place in the program; a warp runs those of its lanes
//! that stand earliest, so that lanes which left a loop wait for the others where the paths meet again.
//! Groups run one after another: none may wait for another one, and races between them are found by
//! the shadow, whatever the order.

use crate::counts::{Counts, waits};
use crate::memory::{Region, Who};
use crate::opcodes::{Lanes, Pure};
use crate::program::{
    Address, BUFFER_BITS, FIRST_TABLE, Instruction, Operation, Program, SHARED_BITS, Source, Space,
    Special,
};
use crate::{Fault, LANES, Outcome};

/// Most sources of an instruction, and parts of a vector.
const MOST: usize = 4;
/// Words of a launch's parameters.
const WORDS: usize = 64;

/// Runs a kernel over its buffers, in the order of its parameters, with these parameter words.
/// What it wrote until then is in the buffers after a fault, too.
pub fn launch(
    program: &Program,
    groups: [u32; 3],
    buffers: &mut [Vec<u8>],
    words: &[u32],
) -> Result<(), Fault> {
    run(program, groups, buffers, words, None).map(|_| ())
}

/// The same, and what it did.
pub fn launch_counted(
    program: &Program,
    groups: [u32; 3],
    buffers: &mut [Vec<u8>],
    words: &[u32],
) -> Result<Counts, Fault> {
    run(program, groups, buffers, words, Some(Counts::default())).map(Option::unwrap_or_default)
}

fn run(
    program: &Program,
    groups: [u32; 3],
    buffers: &mut [Vec<u8>],
    words: &[u32],
    counts: Option<Counts>,
) -> Result<Option<Counts>, Fault> {
    if program.arguments != 2 * buffers.len() {
        let (wanted, got) = (program.arguments / 2, buffers.len());
        return Err(Fault(format!("{wanted} buffers are wanted, {got} came")));
    }
    if words.len() > WORDS {
        return Err(Fault(format!(
            "{WORDS} words of parameters are the most, {} came",
            words.len()
        )));
    }
    let parameters = parameters(buffers, words);
    let global = buffers.iter_mut().map(|b| Region::of(std::mem::take(b))).collect();
    let tables = program.tables.iter().map(|t| Region::of(t.clone())).collect();
    let shared = Vec::new();
    let mut memories = Memories { global, tables, shared, parameters, counts };
    let result = every_group(program, groups, &mut memories);
    for (buffer, region) in buffers.iter_mut().zip(memories.global) {
        *buffer = region.bytes;
    }
    result.map(|()| memories.counts)
}

/// Addresses, sizes, and 256 bytes of words.
fn parameters(buffers: &[Vec<u8>], words: &[u32]) -> Region {
    let mut bytes: Vec<u8> = Vec::new();
    for i in 0..buffers.len() as u64 {
        bytes.extend(((i + 1) << BUFFER_BITS).to_le_bytes());
    }
    for buffer in buffers {
        bytes.extend((buffer.len() as u64).to_le_bytes());
    }
    bytes.resize(bytes.len().next_multiple_of(16), 0);
    let end = bytes.len() + 4 * WORDS;
    bytes.extend(words.iter().flat_map(|word| word.to_le_bytes()));
    bytes.resize(end, 0);
    Region::of(bytes)
}

struct Memories {
    global: Vec<Region>,
    tables: Vec<Region>,
    shared: Vec<Region>,
    parameters: Region,
    counts: Option<Counts>,
}

fn every_group(program: &Program, groups: [u32; 3], memories: &mut Memories) -> Outcome<()> {
    let threads = program.group.iter().product::<u32>() as usize;
    let mut warps: Vec<Warp> = (0..threads.div_ceil(LANES))
        .map(|w| Warp::new(program, w * LANES, (threads - w * LANES).min(LANES)))
        .collect();
    let mut number = 0;
    for z in 0..groups[2] {
        for y in 0..groups[1] {
            for x in 0..groups[0] {
                memories.shared =
                    program.shared.iter().map(|bytes| Region::unwritten(*bytes)).collect();
                let place = Place { id: [x, y, z], groups, number, epoch: 0 };
                one_group(program, place, &mut warps, memories)?;
                number += 1;
            }
        }
    }
    Ok(())
}

/// A group among the others.
#[derive(Clone, Copy)]
struct Place {
    id: [u32; 3],
    groups: [u32; 3],
    number: u32,
    /// Barriers that it passed.
    epoch: u32,
}

fn one_group(
    program: &Program,
    mut place: Place,
    warps: &mut [Warp],
    memories: &mut Memories,
) -> Outcome<()> {
    warps.iter_mut().for_each(|warp| warp.start(program));
    loop {
        for warp in warps.iter_mut() {
            warp.run(program, place, memories)?;
        }
        if warps.iter().all(|warp| warp.alive == 0) {
            return Ok(());
        }
        // Nothing runs, so every invocation that is left waits, and those that ended never come.
        if let Some(warp) = warps.iter().find(|warp| warp.alive != warp.all) {
            return Err(Fault(format!(
                "group {}: a barrier that invocation {} and others do not reach",
                place.number,
                warp.first + (warp.all & !warp.alive).trailing_zeros() as usize
            )));
        }
        warps.iter_mut().for_each(|warp| warp.waiting = 0);
        place.epoch += 1;
    }
}

pub(crate) struct Warp {
    /// The number of its first invocation in the group.
    first: usize,
    /// The lanes that there are, that have not ended, and that wait at a barrier.
    all: u32,
    alive: u32,
    waiting: u32,
    places: [usize; LANES],
    registers: Vec<Lanes>,
    /// The lanes that have written each register.
    written: Vec<u32>,
    local: Vec<Region>,
}

impl Warp {
    fn new(program: &Program, first: usize, lanes: usize) -> Warp {
        Warp {
            first,
            all: u32::MAX >> (LANES - lanes),
            alive: 0,
            waiting: 0,
            places: [0; LANES],
            registers: vec![[0; LANES]; program.registers],
            written: vec![0; program.registers],
            local: Vec::new(),
        }
    }

    fn start(&mut self, program: &Program) {
        self.alive = self.all;
        self.waiting = 0;
        self.places = [0; LANES];
        self.written.fill(0);
        if program.local > 0 {
            self.local = (0..LANES).map(|_| Region::private(program.local)).collect();
        }
    }

    /// Runs until every lane has ended or waits.
    fn run(&mut self, program: &Program, place: Place, memories: &mut Memories) -> Outcome<()> {
        loop {
            let ready = self.alive & !self.waiting;
            let Some(at) = lanes(ready).map(|lane| self.places[lane]).min() else { return Ok(()) };
            let mask = lanes(ready).filter(|lane| self.places[*lane] == at);
            let mask = mask.fold(0, |mask, lane| mask | 1 << lane);
            // Where other lanes of the warp wait for these.
            let meeting = lanes(ready & !mask).map(|lane| self.places[lane]).min();
            self.together(program, place, memories, (at, mask, meeting.unwrap_or(usize::MAX)))?;
        }
    }

    /// Runs lanes that stand at one place until they part, wait, end or meet others.
    fn together(
        &mut self,
        program: &Program,
        place: Place,
        memories: &mut Memories,
        (mut at, mask, meeting): (usize, u32, usize),
    ) -> Outcome<()> {
        loop {
            let instruction = program.code.get(at);
            let instruction = instruction.ok_or_else(|| Fault("the text ends".into()))?;
            let active = self.guarded(instruction, mask);
            let active = active.map_err(|e| self.told(program, instruction, place, e))?;
            if let Some(counts) = &mut memories.counts {
                self.count(program, instruction, active, counts);
            }
            match instruction.operation {
                Operation::Branch(to) if active == mask => at = to,
                Operation::Branch(_) if active == 0 => at += 1,
                _ if self.parts(&instruction.operation, at, mask, active) => return Ok(()),
                // A barrier is here where part of a warp reaches it.
                _ => {
                    self.execute(instruction, active, place, memories, program.group)
                        .map_err(|e| self.told(program, instruction, place, e))?;
                    at += 1;
                }
            }
            if at >= meeting {
                self.stand(mask, at);
                return Ok(());
            }
        }
    }

    /// Whether lanes that stood at one place part, end or wait here; where they stand then.
    fn parts(&mut self, operation: &Operation, at: usize, mask: u32, active: u32) -> bool {
        match *operation {
            Operation::Branch(to) => {
                self.stand(active, to);
                self.stand(mask & !active, at + 1);
            }
            Operation::Return => {
                self.alive &= !active;
                self.stand(mask & !active, at + 1);
            }
            Operation::Barrier if mask == self.alive && active == mask => {
                self.waiting |= mask;
                self.stand(mask, at + 1);
            }
            _ => return false,
        }
        true
    }

    fn stand(&mut self, mask: u32, at: usize) {
        lanes(mask).for_each(|lane| self.places[lane] = at);
    }

    /// A fault with the instruction and the group.
    fn told(&self, program: &Program, at: &Instruction, place: Place, e: Fault) -> Fault {
        let line = &program.lines[at.line];
        Fault(format!("{} (line {}: `{line}`, group {})", e.0, at.line + 1, place.number))
    }

    fn guarded(&self, instruction: &Instruction, mask: u32) -> Outcome<u32> {
        let Some((predicate, holds)) = instruction.guard else { return Ok(mask) };
        self.defined(Source::Register(predicate), mask)?;
        let truths = &self.registers[predicate];
        Ok(lanes(mask).filter(|l| (truths[*l] != 0) == holds).fold(0, |m, lane| m | 1 << lane))
    }

    /// That every lane has written what it reads.
    pub(crate) fn defined(&self, source: Source, mask: u32) -> Outcome<()> {
        match source {
            Source::Register(r) if mask & !self.written[r] != 0 => {
                let lane = (mask & !self.written[r]).trailing_zeros() as usize;
                let thread = self.first + lane;
                Err(Fault(format!("invocation {thread} reads a register that nothing wrote")))
            }
            _ => Ok(()),
        }
    }

    pub(crate) fn value(&self, source: Source, lane: usize) -> u64 {
        match source {
            Source::Register(r) => self.registers[r][lane],
            Source::Constant(bits) => bits,
        }
    }

    pub(crate) fn set(&mut self, register: usize, lane: usize, value: u64) {
        self.registers[register][lane] = value;
        self.written[register] |= 1 << lane;
    }

    fn execute(
        &mut self,
        instruction: &Instruction,
        mask: u32,
        place: Place,
        memories: &mut Memories,
        group: [u32; 3],
    ) -> Outcome<()> {
        match &instruction.operation {
            Operation::Pure { compute, to, from } => {
                self.all_defined(from, mask)?;
                let result = self.computed(*compute, from);
                self.keep(*to, mask, &result);
                Ok(())
            }
            Operation::Special { which, to } => {
                for lane in lanes(mask) {
                    let value = self.special(*which, lane, place, group);
                    self.set(*to, lane, value.into());
                }
                Ok(())
            }
            Operation::Load { at, bytes, to, atomic } => {
                self.load(memories, place, mask, (*at, *bytes, *atomic), to)
            }
            Operation::Store { at, bytes, from, atomic } => {
                self.store(memories, place, mask, (*at, *bytes, *atomic), from)
            }
            Operation::Atomic { at, bytes, compute, to, from } => {
                self.exchange(memories, place, mask, (*at, *bytes, *compute), (*to, from))
            }
            Operation::Barrier => Err(Fault("a barrier that part of a warp reaches".into())),
            other => self.exchanged(other, mask),
        }
    }

    /// Operations that touch registers alone and are no function of a lane's: halves of a register, and
    /// what goes across a warp.
    fn exchanged(&mut self, operation: &Operation, mask: u32) -> Outcome<()> {
        match operation {
            Operation::Split { to, from } => {
                self.defined(*from, mask)?;
                for lane in lanes(mask) {
                    let value = self.value(*from, lane);
                    self.set(to[0], lane, value as u32 as u64);
                    self.set(to[1], lane, value >> 32);
                }
                Ok(())
            }
            Operation::Join { to, from } => {
                self.all_defined(from, mask)?;
                for lane in lanes(mask) {
                    let [low, high] = from.map(|source| self.value(source, lane) as u32 as u64);
                    self.set(*to, lane, low | high << 32);
                }
                Ok(())
            }
            other => self.across(other, mask),
        }
    }

    fn load(
        &mut self,
        memories: &mut Memories,
        place: Place,
        mask: u32,
        (at, bytes, atomic): (Address, usize, bool),
        to: &[usize],
    ) -> Outcome<()> {
        self.defined(at.base, mask)?;
        for lane in lanes(mask) {
            let who = who(self.first, lane, place);
            let (region, first) = self.located(memories, at, lane, bytes, to.len())?;
            let mut values = [0; MOST];
            for (i, value) in values.iter_mut().enumerate().take(to.len()) {
                *value = region.read(first + i * bytes, bytes, who, atomic)?;
            }
            for (register, value) in to.iter().zip(values) {
                self.set(*register, lane, value);
            }
        }
        Ok(())
    }

    fn store(
        &mut self,
        memories: &mut Memories,
        place: Place,
        mask: u32,
        (at, bytes, atomic): (Address, usize, bool),
        from: &[Source],
    ) -> Outcome<()> {
        self.defined(at.base, mask)?;
        self.all_defined(from, mask)?;
        for lane in lanes(mask) {
            let mut values = [0; MOST];
            for (value, source) in values.iter_mut().zip(from) {
                *value = self.value(*source, lane);
            }
            let who = who(self.first, lane, place);
            let (region, first) = self.located(memories, at, lane, bytes, from.len())?;
            for (i, value) in values.into_iter().enumerate().take(from.len()) {
                region.write(first + i * bytes, bytes, value, who, atomic)?;
            }
        }
        Ok(())
    }

    /// An atomic operation, in one lane after the other.
    fn exchange(
        &mut self,
        memories: &mut Memories,
        place: Place,
        mask: u32,
        (at, bytes, compute): (Address, usize, Pure),
        (to, from): (usize, &[Source]),
    ) -> Outcome<()> {
        self.defined(at.base, mask)?;
        self.all_defined(from, mask)?;
        for lane in lanes(mask) {
            let mut x = [[0; LANES]; MOST];
            for (x, source) in x[1..].iter_mut().zip(from) {
                x[0] = self.value(*source, lane);
            }
            let who = who(self.first, lane, place);
            let (region, first) = self.located(memories, at, lane, bytes, 1)?;
            x[0][0] = region.read(first, bytes, who, true)?;
            let mut new = [0; LANES];
            compute(&mut new, x.each_ref());
            region.write(first, bytes, new[0], who, true)?;
            self.set(to, lane, x[0][0]);
        }
        Ok(())
    }

    /// What all lanes compute, those among them that take no part.
    fn computed(&self, compute: Pure, from: &[Source]) -> Lanes {
        let constants: [Lanes; MOST] = std::array::from_fn(|i| match from.get(i) {
            Some(Source::Constant(bits)) => [*bits; LANES],
            _ => [0; LANES],
        });
        let sources = std::array::from_fn(|i| match from.get(i) {
            Some(Source::Register(r)) => &self.registers[*r],
            _ => &constants[i],
        });
        let mut result = [0; LANES];
        compute(&mut result, sources);
        result
    }

    /// A result in the lanes of a mask.
    pub(crate) fn keep(&mut self, to: usize, mask: u32, result: &Lanes) {
        let register = &mut self.registers[to];
        if mask == u32::MAX {
            *register = *result;
        } else {
            lanes(mask).for_each(|lane| register[lane] = result[lane]);
        }
        self.written[to] |= mask;
    }

    pub(crate) fn all_defined(&self, sources: &[Source], mask: u32) -> Outcome<()> {
        sources.iter().try_for_each(|source| self.defined(*source, mask))
    }

    fn special(&self, which: Special, lane: usize, place: Place, group: [u32; 3]) -> u32 {
        let thread = (self.first + lane) as u32;
        match which {
            Special::Thread(0) => thread % group[0],
            Special::Thread(1) => thread / group[0] % group[1],
            Special::Thread(_) => thread / (group[0] * group[1]),
            Special::Group(axis) => place.id[axis],
            Special::Groups(axis) => place.groups[axis],
            Special::Lane => lane as u32,
        }
    }

    /// Adds what an instruction does in these lanes.
    fn count(&self, program: &Program, instruction: &Instruction, mask: u32, counts: &mut Counts) {
        let active = u64::from(mask.count_ones());
        counts.flops += instruction.flops * active;
        let (at, bytes, stores) = match &instruction.operation {
            Operation::Load { at, bytes, to, .. } => (at, bytes * to.len(), false),
            Operation::Store { at, bytes, from, .. } => (at, bytes * from.len(), true),
            Operation::Atomic { at, bytes, .. } => (at, *bytes, true),
            _ => return,
        };
        match (at.space, stores) {
            (Space::Global, false) => counts.read += active * bytes as u64,
            (Space::Global, true) => counts.written += active * bytes as u64,
            (Space::Shared, false) => counts.shared_loads += active,
            (Space::Shared, true) => counts.shared_stores += active,
            _ => return,
        }
        if at.space == Space::Shared {
            let address = |lane: usize| {
                let base = self.value(at.base, lane) as u32;
                (mask >> lane & 1 == 1).then_some(base.wrapping_add(at.distance as u32))
            };
            let waited = waits(&std::array::from_fn(address), bytes);
            counts.conflicts += waited;
            if waited > 0 && counts.first_conflict.is_none() {
                let line = &program.lines[instruction.line];
                counts.first_conflict = Some(format!("line {}: {line}", instruction.line + 1));
            }
        }
    }

    /// The variable or buffer of an access, and the byte in it.
    fn located<'a>(
        &'a mut self,
        memories: &'a mut Memories,
        at: Address,
        lane: usize,
        bytes: usize,
        count: usize,
    ) -> Outcome<(&'a mut Region, usize)> {
        let base = self.value(at.base, lane);
        let thread = self.first + lane;
        let told = |e: Fault| Fault(format!("invocation {thread}: {}", e.0));
        let (region, place) = match at.space {
            Space::Parameter => {
                (Some(&mut memories.parameters), base.wrapping_add(at.distance as u64) as i64)
            }
            Space::Local => (self.local.get_mut(lane), base as u32 as i32 as i64 + at.distance),
            Space::Shared => {
                // Addresses of 32 bits wrap around.
                let at = (base as u32).wrapping_add(at.distance as u32);
                let variable = (at >> SHARED_BITS) as usize;
                let place = at & ((1 << SHARED_BITS) - 1);
                (memories.shared.get_mut(variable), place.into())
            }
            Space::Global => {
                let at = base.wrapping_add(at.distance as u64);
                let (number, place) = (at >> BUFFER_BITS, at & ((1 << BUFFER_BITS) - 1));
                let region = match number.checked_sub(FIRST_TABLE) {
                    Some(table) => memories.tables.get_mut(table as usize),
                    None => memories.global.get_mut((number as usize).wrapping_sub(1)),
                };
                (region, place as i64)
            }
        };
        let region =
            region.ok_or_else(|| told(Fault("out of bounds: an address of no variable".into())))?;
        let first = region.check(place, bytes, bytes * count).map_err(told)?;
        Ok((region, first))
    }
}

fn who(first: usize, lane: usize, place: Place) -> Who {
    Who { group: place.number, thread: (first + lane) as u32, epoch: place.epoch }
}

/// The lanes of a mask.
pub(crate) fn lanes(mask: u32) -> impl Iterator<Item = usize> {
    std::iter::successors(Some(mask), |mask| Some(mask & mask.wrapping_sub(1)))
        .take_while(|mask| *mask != 0)
        .map(|mask| mask.trailing_zeros() as usize)
}
