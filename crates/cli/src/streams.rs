//! The three streams of a running program. Standard output is collected, and all of it arrives: before
//! input is waited for, before messages, within half a second of being printed, and before the process
//! ends, also where a signal ends it.

use crate::interrupt::Waiting;
use rung_lisp::source_of_input::Source;
use std::io::{self, BufRead, BufReader, BufWriter, IsTerminal, Read, Write};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

/// Bytes of output that are collected before they are written to a file or a pipe.
const BUFFER: usize = 64 << 10;
/// How long what was printed may lie here: whoever watches a long program through a pipe waits no longer,
/// and a program that prints without end writes twice a second more often.
const LIES: Duration = Duration::from_millis(500);
/// The stack of a thread that does no more than that.
const STACK: usize = 256 << 10;
/// How long the end of the process waits for a reader that does not read.
const LAST: Duration = Duration::from_secs(1);

/// Standard output as the program sees it: buffered unless it is a terminal, and still ours to
/// flush when the program has ended.
#[derive(Clone)]
pub struct Output(Arc<Shared>);

struct Shared {
    collected: Mutex<Collected>,
    /// What the thread that moves output is asked for; held for moments, unlike `collected`, which is
    /// held while a reader that does not read is written to.
    asked: Mutex<Asked>,
    /// Something is asked for, or was done.
    changed: Condvar,
}

struct Collected {
    writer: BufWriter<io::Stdout>,
    /// Whether something was printed since the last flush.
    lies: bool,
}

#[derive(Default)]
struct Asked {
    /// Something was printed where nothing lay.
    printed: bool,
    /// All of it is wanted now, for the process ends.
    now: bool,
    /// That was done, or there is no thread to do it.
    delivered: bool,
}

/// The output of this process's program, for its end by a signal.
static OUTPUT: Mutex<Option<Output>> = Mutex::new(None);

impl Output {
    pub fn new(buffered: bool) -> Output {
        // Rust's own handle writes whole lines, which is what a terminal wants.
        let size = if io::stdout().is_terminal() && !buffered { 0 } else { BUFFER };
        let writer = BufWriter::with_capacity(size, io::stdout());
        let collected = Mutex::new(Collected { writer, lies: false });
        let asked = Mutex::new(Asked::default());
        let output = Output(Arc::new(Shared { collected, asked, changed: Condvar::new() }));
        let (shared, thread) = (output.0.clone(), std::thread::Builder::new());
        let moves =
            thread.name("output".into()).stack_size(STACK).spawn(move || shared.keep_moving());
        // Without this thread output is written when there is enough of it, and at the end.
        locked(&output.0.asked).delivered = moves.is_err();
        *locked(&OUTPUT) = Some(output.clone());
        output
    }
}

impl Shared {
    /// Writes what has lain long enough, as long as the process lives; at once where it ends.
    fn keep_moving(&self) {
        loop {
            let asked =
                self.changed.wait_while(locked(&self.asked), |asked| !asked.printed && !asked.now);
            let asked = asked.unwrap_or_else(PoisonError::into_inner);
            let waited = self.changed.wait_timeout_while(asked, LIES, |asked| !asked.now);
            let (mut asked, _) = waited.unwrap_or_else(PoisonError::into_inner);
            let now = std::mem::take(&mut asked.now);
            asked.printed = false;
            drop(asked);
            // What cannot be written stays, and is reported where the program writes.
            let _ = locked(&self.collected).flush();
            if now {
                self.change(|asked| asked.delivered = true);
            }
        }
    }

    fn change(&self, change: impl FnOnce(&mut Asked)) {
        change(&mut locked(&self.asked));
        self.changed.notify_all();
    }
}

impl Collected {
    fn flush(&mut self) -> io::Result<()> {
        self.lies = false;
        self.writer.flush()
    }
}

fn locked<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

impl Write for Output {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let mut collected = locked(&self.0.collected);
        if !std::mem::replace(&mut collected.lies, true) {
            self.0.change(|asked| asked.printed = true);
        }
        collected.writer.write(bytes)
    }

    fn flush(&mut self) -> io::Result<()> {
        locked(&self.0.collected).flush()
    }
}

/// What was printed arrives before a signal ends the process, unless its reader takes nothing. The thread
/// that writes it runs already: one could not be started while the loader of libraries waits for a
/// file (a pipe or a dead mount where a driver was looked for).
pub fn deliver() {
    let Some(Output(shared)) = locked(&OUTPUT).clone() else { return };
    shared.change(|asked| asked.now = true);
    let asked = locked(&shared.asked);
    let _ = shared.changed.wait_timeout_while(asked, LAST, |asked| !asked.delivered);
}

/// Standard error as the program sees it: what it printed before is shown before, so that one pipe
/// of both streams keeps their order.
pub struct Messages(Output);

impl Messages {
    pub fn after(output: Output) -> Messages {
        Messages(output)
    }
}

impl Write for Messages {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        // Output that cannot be written is reported where the program writes it.
        let _ = self.0.flush();
        io::stderr().write(bytes)
    }

    fn flush(&mut self) -> io::Result<()> {
        io::stderr().flush()
    }
}

/// Standard input as the program sees it: what was printed before is shown before it waits.
pub struct Input {
    source: BufReader<io::Stdin>,
    output: Output,
    waiting: Waiting,
}

impl Input {
    pub fn new(output: Output, waiting: Waiting) -> Input {
        Input { source: BufReader::new(io::stdin()), output, waiting }
    }
}

impl Read for Input {
    fn read(&mut self, bytes: &mut [u8]) -> io::Result<usize> {
        let count = self.fill_buf()?.read(bytes)?;
        self.consume(count);
        Ok(count)
    }
}

impl BufRead for Input {
    fn fill_buf(&mut self) -> io::Result<&[u8]> {
        if self.source.buffer().is_empty() {
            self.waiting.begin();
            let flushed = self.output.flush();
            let count = flushed.and_then(|()| self.source.fill_buf().map(<[u8]>::len));
            self.waiting.end();
            // Asking again at the end of the input would wait again on a terminal.
            if count? == 0 {
                return Ok(&[]);
            }
        }
        self.source.fill_buf()
    }

    fn consume(&mut self, count: usize) {
        self.source.consume(count);
    }
}

impl Source for Input {
    fn is_ready(&self) -> bool {
        self.source.is_ready()
    }
}

/// Whether what is written to standard output and what is written to standard error follow each other:
/// on a terminal, or in one file or pipe.
pub fn are_one() -> bool {
    if io::stdout().is_terminal() || io::stderr().is_terminal() {
        return io::stdout().is_terminal() && io::stderr().is_terminal();
    }
    same_file()
}

#[cfg(unix)]
fn same_file() -> bool {
    use nix::sys::stat::fstat;
    let (Ok(out), Ok(err)) = (fstat(io::stdout()), fstat(io::stderr())) else { return false };
    (out.st_dev, out.st_ino) == (err.st_dev, err.st_ino)
}

#[cfg(not(unix))]
fn same_file() -> bool {
    false
}
