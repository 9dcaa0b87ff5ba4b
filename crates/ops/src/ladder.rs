//! The ladder: every rung of a run is asked in turn, and takes the call or declines with a
//! reason. A decline is a value: it can be printed, counted, or forbidden.

mod fused;
mod in_place;
mod judge;
mod remarks;
mod room;
mod stop;

use self::in_place::no_target;
use self::stop::interrupted;
use crate::arguments::Arguments;
use crate::call::{Call, Context, Outputs, Prepared, Run};
use crate::costs::{self, Costs, key::Key};
use crate::decline::{Answer, Decline, Rung};
use crate::discover::{find_device, find_library};
use crate::explain::{Calls, Outcome, What, take_packed};
use crate::product::{self, Mode};
use crate::record::{Entry, Exactness, Op, Part, Quick};
use crate::resident;
use crate::round_trip::KernelCache;
use crate::table;
use crate::value::Value;
use rung_base::{Error, ErrorKind, Explain, OnDecline, Precision, Result, Settings};
use rung_device::{Device, FailureCode, Moved, Residency};
use rung_lanes::{Lanes, deaf, stoppable};
use rung_library::Library;
use rung_math::random::State;
use smallvec::{SmallVec, smallvec};
use std::cell::Cell;
use std::collections::HashSet;
use std::sync::Arc;
use std::time::Instant;

mod device;

/// Small calls into a threaded library before a note says so.
const MOST_SMALL_CALLS: u64 = 64;

type Declines = SmallVec<[(Rung, Decline); 4]>;

/// What was counted before an extent that is counted by itself.
pub struct Extent {
    before: Calls,
    counting: bool,
}

/// Where a call stands in its program, in the caller's own numbering.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Site {
    pub source: u32,
    pub start: u32,
    pub end: u32,
}

/// Where a call stands in the program, and where warnings go.
pub trait Caller {
    /// The call's site; asked for each call that is counted, so it must be cheap.
    fn site(&self) -> Option<Site>;
    /// `file:line:column` of a site.
    fn place(&self, site: Site) -> String;
    fn warn(&mut self, message: &str);
    /// What is worth knowing and no warning; a caller that nobody reads leaves it.
    fn note(&mut self, _message: &str) {}
}

/// A caller without a program: Rust code and tests.
pub struct NoCaller;

impl Caller for NoCaller {
    fn site(&self) -> Option<Site> {
        None
    }
    fn place(&self, _: Site) -> String {
        String::new()
    }
    fn warn(&mut self, _: &str) {}
}

/// Which rungs above the definition a program has taken away for an extent.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Narrowed(u8);

impl Narrowed {
    /// From the number that `bits` gave.
    pub fn of(bits: u8) -> Narrowed {
        Narrowed(bits & 0b111)
    }

    pub fn bits(self) -> u8 {
        self.0
    }

    /// Without this rung as well; the definition stays.
    pub fn without(self, rung: Rung) -> Narrowed {
        Narrowed::of(self.0 | 1 << rung as u8)
    }

    fn asks(self, rung: Rung) -> bool {
        self.0 & 1 << rung as u8 == 0
    }
}

/// The rungs of one run, and what they did.
pub struct Ladder {
    settings: Settings,
    lanes: Option<Lanes>,
    library: std::result::Result<Library, Decline>,
    device: std::result::Result<Arc<dyn Device>, Decline>,
    /// The arrays on the device.
    residency: Option<Residency>,
    /// What had moved when the last call ended.
    counted: Moved,
    pub costs: Costs,
    pub context: Context,
    pub calls: Calls,
    kernels: KernelCache,
    /// Calls too small for the threads of a library that cannot be told to use one.
    small_calls: Cell<u64>,
    /// Warnings given already: operation, code and site.
    warned: HashSet<(&'static str, &'static str, Option<Site>)>,
    /// Notes are not wanted.
    pub quiet: bool,
    /// Calls are counted, as for `--explain`.
    counting: bool,
    /// What a program asks for an extent instead of the settings' `on_decline`.
    pub on_decline: Option<OnDecline>,
    /// The rungs that are asked; a program may take some away for an extent.
    pub rungs: Narrowed,
    /// Ask only this rung, and skip its threshold: for tests and benchmarks.
    pub only: Option<Rung>,
    /// What was said to the last call that no rung took, as may be with `only`.
    pub refused: Declines,
}

impl Ladder {
    /// Looks for the device and the library that the settings ask for. `notices` are the lines
    /// for standard error about what was asked for and is missing.
    pub fn new(settings: &Settings) -> (Ladder, Vec<String>) {
        let mut notices = Vec::new();
        let lanes = (!settings.portable.value && settings.simd.value).then(|| {
            let asked = if settings.parallel.value { settings.threads.value } else { Some(1) };
            asked.map_or_else(Lanes::of_machine, Lanes::new)
        });
        let library = find_library(settings, &mut notices);
        let device = find_device(settings, &mut notices);
        let mut ladder = Ladder::with_rungs(settings, lanes, library, device);
        let run = || ladder.key();
        let (costs, notice) = costs::file::of_run(&settings.costs, run, &ladder.costs);
        notices.extend(notice);
        ladder.use_costs(costs);
        (ladder, notices)
    }

    /// A ladder of rungs that the caller made; an absent one carries its reason.
    pub fn with_rungs(
        settings: &Settings,
        lanes: Option<Lanes>,
        library: std::result::Result<Library, Decline>,
        device: std::result::Result<Arc<dyn Device>, Decline>,
    ) -> Ladder {
        let level = lanes.as_ref().map_or(rung_lanes::Level::Portable, Lanes::level);
        let mut costs = Costs::defaults(level, library.as_ref().map_or(1, Library::threads));
        if let Ok(device) = &device {
            costs.device = costs::device_costs(device.info());
        }
        let generator = settings.seed.value.map_or(State::default(), |n| State::seeded(n.into()));
        let budget = settings.device_memory.value;
        let residency = device.as_ref().ok().map(|device| Residency::new(device.clone(), budget));
        Ladder {
            settings: settings.clone(),
            lanes,
            library,
            device,
            residency,
            counted: Moved::default(),
            costs,
            context: Context { generator, ..Context::default() },
            calls: Calls::default(),
            kernels: KernelCache::default(),
            small_calls: Cell::new(0),
            warned: HashSet::new(),
            quiet: false,
            counting: settings.explain.value != Explain::Off,
            on_decline: None,
            rungs: Narrowed::default(),
            only: None,
            refused: Declines::new(),
        }
    }

    pub fn settings(&self) -> &Settings {
        &self.settings
    }

    /// Turns the comparison with the definition on or off, as `--on-decline=verify` does.
    pub fn verify(&mut self, on: bool) {
        self.settings.on_decline.value = if on { OnDecline::Verify } else { OnDecline::Ok };
    }

    /// Lets these costs decide, and the lanes use their grains.
    pub fn use_costs(&mut self, costs: Costs) {
        if let Some(lanes) = &mut self.lanes {
            lanes.set_grains(costs.lanes.grains);
        }
        self.costs = costs;
    }

    /// What measured costs must have been measured for to hold here.
    pub fn key(&self) -> Key {
        let level = self.lanes.as_ref().map_or(rung_lanes::Level::Portable, Lanes::level);
        let device = self.device.as_ref().ok().map(|device| device.info());
        Key::new(level, self.threads(), self.library.as_ref().ok(), device)
    }

    fn threads(&self) -> usize {
        self.lanes.as_ref().map_or(1, |lanes| lanes.workers().threads())
    }

    pub fn lanes(&self) -> Option<&Lanes> {
        self.lanes.as_ref()
    }

    /// The library, or why there is none.
    pub fn library(&self) -> std::result::Result<&Library, &Decline> {
        self.library.as_ref()
    }

    /// The device, or why there is none.
    pub fn device(&self) -> std::result::Result<&dyn Device, &Decline> {
        self.device.as_deref()
    }

    /// Runs one operation: its values, usually one.
    pub fn call(
        &mut self,
        op: &'static Op,
        values: Vec<Value>,
        caller: &mut dyn Caller,
    ) -> Result<Vec<Value>> {
        let generator = self.context.generator;
        let outcome = stoppable(|| self.call_in(op, values, caller)).unwrap_or_else(|_| {
            // What was not drawn is drawn when the call is made again.
            self.context.generator = generator;
            Err(interrupted())
        });
        outcome.map_err(|e| {
            take_packed();
            e.in_package(op.speaker()).in_operation(op.name())
        })
    }

    /// The same by the definition alone, whatever a decline means.
    pub fn call_portable(
        &mut self,
        op: &'static Op,
        values: Vec<Value>,
        caller: &mut dyn Caller,
    ) -> Result<Vec<Value>> {
        self.by_definition(|ladder| ladder.call(op, values, caller))
    }

    fn by_definition<R>(&mut self, run: impl FnOnce(&mut Ladder) -> R) -> R {
        let before = (self.only, self.on_decline);
        (self.only, self.on_decline) = (Some(Rung::Portable), Some(OnDecline::Ok));
        let results = run(self);
        (self.only, self.on_decline) = before;
        results
    }

    /// Starts counting calls, with none counted so far.
    pub fn count_anew(&mut self) {
        take_packed();
        self.counted = self.moved();
        self.calls.clear();
        self.counting = true;
    }

    /// Counts the calls of an extent by themselves; gives what was counted before, for
    /// `end_extent`.
    pub fn begin_extent(&mut self) -> Extent {
        take_packed();
        self.count_between();
        let before = std::mem::take(&mut self.calls);
        Extent { before, counting: std::mem::replace(&mut self.counting, true) }
    }

    /// Ends an extent: what was counted in it, which also counts outside if calls do there.
    pub fn end_extent(&mut self, extent: Extent, read: impl FnOnce(&Calls)) {
        self.count_between();
        let part = std::mem::replace(&mut self.calls, extent.before);
        self.counting = extent.counting;
        read(&part);
        if self.counting {
            self.calls.merge(part);
        }
    }

    /// The result of a small call of the commonest kind, without a call to describe it: only
    /// where nobody counts, judges or forbids calls, and no device could hold an operand.
    #[inline]
    pub fn quick(&self, op: &'static Op, operands: &[Part]) -> Option<Value> {
        let alone = self.is_left_alone() && operands.iter().all(|x| self.is_quick(x));
        if self.counting || !alone || self.has_choice(op) {
            return None;
        }
        let lanes = self.lanes.as_ref()?;
        match (op.quick, operands) {
            (Quick::One(f), [x]) => f(lanes, *x),
            (Quick::Two(f), [a, b]) => f(lanes, *a, *b),
            _ => None,
        }
    }

    /// Whether a small product may be the library's, or less exact than strict.
    fn has_choice(&self, op: &'static Op) -> bool {
        op.exact == Exactness::LibraryOrder
            && (self.library.is_ok() || self.settings.precision.value != Precision::Strict)
    }

    /// Whether nobody judges or forbids calls: an element-wise call that no device wants then ends
    /// on the lanes.
    fn is_left_alone(&self) -> bool {
        let judged = self.on_decline.unwrap_or(self.settings.on_decline.value) != OnDecline::Ok;
        let narrowed = self.only.is_some() || self.rungs != Narrowed::default();
        !judged && !narrowed
    }

    fn call_in(
        &mut self,
        op: &'static Op,
        values: Vec<Value>,
        caller: &mut dyn Caller,
    ) -> Result<Vec<Value>> {
        if self.counting {
            self.count_between();
        }
        let watched = self.watched(&values);
        if !op.takes_residents() {
            resident::bring_home(&values)?;
        }
        let mut targets = op.targets(&values);
        let arguments = Arguments::bind(op, values)?;
        let prepared = (op.prepare)(op, arguments, &mut self.context);
        self.remark(caller);
        match prepared? {
            Prepared::Done(values) => {
                self.judge_beside(op, watched, &values, caller)?;
                Ok(values)
            }
            Prepared::Call(call) if op.in_place() => {
                let values = deaf(|| self.change(*call, &mut targets, caller))?;
                Ok(targets.into_iter().map(Value::Array).chain(values).collect())
            }
            Prepared::Call(mut call) => {
                let raw = self.run(&mut call, caller)?;
                call.finish(raw)
            }
            Prepared::Steps(steps) => steps(&mut Stepping { op, ladder: self, caller }),
            Prepared::Write(write) => match targets.pop() {
                Some(mut array) => {
                    write(&mut array)?;
                    self.judge_beside(op, watched, &[], caller)?;
                    Ok(vec![array.into()])
                }
                None => Err(no_target()),
            },
        }
    }

    /// Asks the rungs in turn. What a rung writes is not narrowed yet.
    fn run(&mut self, call: &mut Call, caller: &mut dyn Caller) -> Result<Outputs> {
        let start = self.counting.then(Instant::now);
        let mut declines = Declines::new();
        let (rung, raw) = match self.ask(call, &mut declines) {
            Ok(done) => done,
            Err(e) => {
                self.refused = declines;
                return Err(e);
            }
        };
        if let Some(start) = start {
            let now = self.moved();
            let before = std::mem::replace(&mut self.counted, now);
            self.calls.add(Outcome {
                what: What::of(call),
                rung,
                mode: self.mode(call, rung).map(Mode::name),
                declines: &declines,
                time: start.elapsed(),
                up: self.counted.up - before.up,
                down: self.counted.down - before.down,
                site: caller.site(),
                packed: take_packed(),
            });
        }
        self.tell_of_failures(&declines, caller);
        self.note_unreached(call, rung, caller);
        self.note_other_work(caller);
        self.note_small_calls(caller);
        self.judge(call, rung, &raw, &declines, caller)?;
        Ok(raw)
    }

    /// A device that was lost is not asked again in this process. A kernel of ours that was refused is said
    /// once, for nobody would know otherwise.
    fn tell_of_failures(&mut self, declines: &Declines, caller: &mut dyn Caller) {
        for (_, decline) in declines {
            match decline {
                Decline::Lost(text) => {
                    caller.warn(&format!("--gpu: {text}; running without it."));
                    self.device = Err(Decline::NoDevice(text.clone()));
                    // What moved from now on would be nothing less what had moved before.
                    (self.residency, self.counted) = (None, Moved::default());
                }
                Decline::Failed(code, text)
                    if *code == FailureCode::Compile.name()
                        && self.warned.insert(("", FailureCode::Compile.name(), None)) =>
                {
                    caller.warn(&format!(
                        "--gpu: the device's driver refused a kernel of Rung's own, which is a mistake to \
                         report: {text}; the call ran without it."
                    ));
                }
                _ => {}
            }
        }
    }

    fn ask(&self, call: &mut Call, declines: &mut Declines) -> Result<(Rung, Outputs)> {
        for rung in Rung::ALL {
            if self.only.is_some_and(|only| only != rung) {
                continue;
            }
            if !self.rungs.asks(rung) {
                declines.push((rung, Decline::Without("rung:with-rungs")));
                continue;
            }
            match self.offer(rung, call)? {
                Answer::Done(raw) => return Ok((rung, smallvec![raw])),
                Answer::Several(raw) => return Ok((rung, raw.into())),
                Answer::Written => return Ok((rung, call.changed())),
                Answer::Declined(reason) => declines.push((rung, reason)),
            }
        }
        let reasons: Vec<String> = declines.iter().map(|(r, d)| d.text(*r)).collect();
        Err(Error::new(ErrorKind::Declined, reasons.join("; ")))
    }

    fn offer(&self, rung: Rung, call: &mut Call) -> Result<Answer> {
        if rung != Rung::Device {
            call.settle()?;
            self.ask_for_room(call)?;
        }
        match rung {
            Rung::Device => self.offer_device(call),
            Rung::Library => self.offer_library(call),
            Rung::Lanes => match (&self.lanes, &call.op.rungs.lanes) {
                (None, _) => Ok(Answer::Declined(Decline::Without(self.no_lanes()))),
                (_, Entry::None(reason)) => Ok(Answer::Declined(Decline::NoKernel(reason))),
                (Some(lanes), Entry::Has(kernel)) => match self.mode(call, rung) {
                    Some(Mode::Bf16) => product::lanes_bf16(call, lanes),
                    _ => kernel(call, lanes),
                },
            },
            Rung::Portable => {
                call.op.rungs.portable.run(call).map(|raw| Answer::Several(raw.into_vec()))
            }
        }
    }

    /// The flag that took the lanes away.
    fn no_lanes(&self) -> &'static str {
        if self.settings.portable.value { "--portable" } else { "--no-simd" }
    }

    /// How a rung runs this call, where it is a product that may run in several ways.
    fn mode(&self, call: &Call, rung: Rung) -> Option<Mode> {
        let info = self.device.as_ref().ok().map(|device| device.info());
        product::mode(call, rung, self.settings.precision.value, info)
    }

    fn offer_library(&self, call: &Call) -> Result<Answer> {
        let library = match &self.library {
            Ok(library) => library,
            Err(reason) => return Ok(Answer::Declined(reason.clone())),
        };
        match &call.op.rungs.library {
            Entry::None(reason) => Ok(Answer::Declined(Decline::NoKernel(reason))),
            Entry::Has(kernel) => {
                if self.only.is_none() {
                    let lanes = call.op.rungs.lanes.kernel().and(self.lanes.as_ref());
                    let threads = lanes.map(|lanes| lanes.workers().threads());
                    if let Err(reason) = self.costs.library_offer(call, threads) {
                        return Ok(Answer::Declined(reason));
                    }
                }
                self.make_way(library, call);
                kernel(call, library)
            }
        }
    }

    /// A small call runs on one thread of the library; before a threaded one, ours sleep.
    fn make_way(&self, library: &Library, call: &Call) {
        let large = 2 * call.units >= costs::LIBRARY_SINGLE;
        if library.share(large) == 1 {
            return;
        }
        if !large {
            self.small_calls.set(self.small_calls.get() + 1);
        }
        if let Some(lanes) = &self.lanes {
            lanes.workers().rest();
        }
    }

    /// Says once that a threaded library, which has no setter for them, gets small calls.
    fn note_small_calls(&self, caller: &mut dyn Caller) {
        if self.small_calls.get() == MOST_SMALL_CALLS && !self.quiet {
            self.small_calls.set(MOST_SMALL_CALLS + 1);
            let threads = self.costs.library.threads;
            caller.note(&format!(
                "--blas: {MOST_SMALL_CALLS} small calls into a library with {threads} threads; \
                 set its thread count or leave the flag out."
            ));
        }
    }

    /// Says once that other work on the machine took threads away.
    fn note_other_work(&self, caller: &mut dyn Caller) {
        let noted = self.lanes.as_ref().and_then(|lanes| lanes.workers().note());
        if let Some(count) = noted.filter(|_| !self.quiet) {
            let plural = if count == 1 { "" } else { "s" };
            caller.note(&format!("other work on this machine; using {count} thread{plural}."));
        }
    }
}

/// The ladder as an operation made of others sees it.
struct Stepping<'a> {
    op: &'static Op,
    ladder: &'a mut Ladder,
    caller: &'a mut dyn Caller,
}

impl Run for Stepping<'_> {
    fn call(&mut self, name: &str, values: Vec<Value>) -> Result<Vec<Value>> {
        let op = table::find(name)
            .ok_or_else(|| Error::new(ErrorKind::Internal, format!("the table has no {name}")))?;
        self.operate(op, values)
    }

    fn operate(&mut self, op: &'static Op, values: Vec<Value>) -> Result<Vec<Value>> {
        let results = self.ladder.call_in(op, values, self.caller)?;
        if !self.op.takes_residents() {
            resident::bring_home(&results)?;
        }
        Ok(results)
    }
}
