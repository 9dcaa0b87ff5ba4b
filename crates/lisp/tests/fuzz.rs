//! Random text for the reader and random calls for the machine: nothing may panic, take memory
//! without end, or hang. Each run prints its seed; RUNG_FUZZ_SEED repeats one, RUNG_FUZZ_SECONDS
//! makes it longer than the second that a test run has.

mod common;

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, mpsc};
use std::time::{Duration, Instant};

use common::{lisp_reading, lisp_within};
use rung_lisp::package::CL;
use rung_lisp::{Lisp, Next, UnhandledKind};

/// A generator of 64 bits (xorshift): the tests need no better.
struct Random(u64);

impl Random {
    fn new(what: &str) -> Random {
        let given = std::env::var("RUNG_FUZZ_SEED").ok().and_then(|text| text.parse().ok());
        let seed = given.unwrap_or_else(|| {
            let now = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH);
            now.unwrap_or_default().as_nanos() as u64
        });
        eprintln!("{what}: RUNG_FUZZ_SEED={seed}");
        Random(seed | 1)
    }

    fn below(&mut self, n: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        (self.0 >> 11) as usize % n
    }

    fn one<'a, T>(&mut self, of: &'a [T]) -> &'a T {
        &of[self.below(of.len())]
    }
}

fn time() -> Duration {
    let given = std::env::var("RUNG_FUZZ_SECONDS").ok().and_then(|text| text.parse().ok());
    Duration::from_secs(given.unwrap_or(1))
}

const PIECES: &[&str] = &[
    "(",
    ")",
    " ",
    "\n",
    "'",
    "`",
    ",",
    ",@",
    "#'",
    "#(",
    "#",
    "\"",
    "\\",
    "|",
    ";",
    "#|",
    "|#",
    "a",
    "nil",
    "t",
    "1",
    "-1",
    "1/2",
    "1.5",
    "1e400",
    ".",
    "..",
    ":k",
    "cl:car",
    "cl::",
    "#\\a",
    "#\\",
    "#:g",
    "#.",
    "#+",
    "#-",
    "#x1f",
    "#b2",
    "#36rz",
    "#2A((1 2)(3 4))",
    "#*01",
    "#d(1 2)",
    "#f((1) (2 3))",
    "#d[0 3]()",
    "#1=",
    "#1#",
    "#s(a b)",
    "#p\"x\"",
    "#c(1 2)",
    "é",
    "\u{3042}",
    "\0",
    "99999999999999999999",
    "#u8(300)",
    "(a . b)",
    "(a . b c)",
    "#1=(a . #1#)",
    "#99999999999=",
    "#i64(1)",
    "&rest",
];

#[test]
fn no_text_makes_the_reader_panic() {
    let mut random = Random::new("reader");
    let (mut lisp, ..) = lisp_reading("");
    let end = Instant::now() + time();
    while Instant::now() < end {
        let count = random.below(24);
        let text = (0..count).map(|_| *random.one(PIECES)).collect::<String>();
        if std::env::var_os("RUNG_FUZZ_SHOW").is_some() {
            eprintln!("{text:?}");
        }
        let mut rest = text.clone();
        for _ in 0..8 {
            match lisp.read_form("fuzz", &rest) {
                // What was read can be printed, unless it refers to itself.
                Ok(Next::Form(form, used)) => {
                    if !text.contains('=') {
                        lisp.print(&form);
                    }
                    rest = rest.chars().skip(used).collect();
                }
                Ok(Next::End) | Err(_) => break,
            }
        }
    }
}

/// What waits, ends the process, or touches files.
const LEFT_OUT: &[&str] = &[
    "SLEEP",
    "QUIT",
    "OPEN",
    "LOAD",
    "REQUIRE",
    "DELETE-FILE",
    "RENAME-FILE",
    "ENSURE-DIRECTORIES-EXIST",
    "WITH-OPEN-FILE",
    "COMPILE-FILE",
    "DRIBBLE",
    "ED",
    "DELETE-PACKAGE",
    "RENAME-PACKAGE",
    "UNINTERN",
    "IN-PACKAGE",
    "ROOM",
    "BREAK",
    "INVOKE-DEBUGGER",
    "STEP",
    "TRACE",
    "DIRECTORY",
];

const ATOMS: &[&str] = &[
    "0",
    "1",
    "-1",
    "2",
    "7",
    "1/2",
    "1.5",
    "-0.0",
    "1f0",
    "#c(1 2)",
    "100000000000000000000",
    "nil",
    "t",
    ":test",
    ":start",
    ":end",
    ":key",
    ":initial-element",
    ":displaced-to",
    ":element-type",
    "'eql",
    "#'car",
    "#'list",
    "#'<",
    "\"abc\"",
    "\"\"",
    "#\\a",
    "'a",
    "'(1 2 3)",
    "'((a . 1) (b . 2))",
    "'(1 . 2)",
    "#(1 2 3)",
    "#*0110",
    "#d(1 2 3)",
    "#2A((1 2) (3 4))",
    "'list",
    "'vector",
    "'string",
    "'integer",
    "*standard-output*",
    "(make-hash-table)",
    "(make-array 3 :fill-pointer 2 :adjustable t)",
    "(make-string-input-stream \"a b\")",
    "(find-class 'standard-object)",
    "'double-float",
    "4611686018427387904",
    "\"~A~%~D\"",
    "(lambda (x) x)",
];

fn form(random: &mut Random, names: &[String], depth: usize) -> String {
    if depth == 0 || random.below(3) == 0 {
        return random.one(ATOMS).to_string();
    }
    let name = random.one(names).clone();
    let count = random.below(5);
    let parts = (0..count).map(|_| form(random, names, depth - 1)).collect::<Vec<_>>();
    format!("({name} {})", parts.join(" "))
}

/// Interrupts what runs longer than a moment, until it is dropped.
fn watch(lisp: &Lisp) -> (Arc<AtomicBool>, mpsc::Sender<()>) {
    let (interrupt, begun) = (lisp.interrupt_handle(), Arc::new(AtomicBool::new(false)));
    let (sender, receiver) = mpsc::channel::<()>();
    let running = begun.clone();
    std::thread::spawn(move || {
        loop {
            match receiver.recv_timeout(Duration::from_millis(100)) {
                Err(mpsc::RecvTimeoutError::Timeout) => {
                    if running.swap(true, Ordering::Relaxed) {
                        interrupt.store(true, Ordering::Relaxed);
                    }
                }
                _ => return,
            }
        }
    });
    (begun, sender)
}

/// What a program's objects may take, and what the whole process may with the reader's and the compiler's.
const HEAP: usize = 128 << 20;
const MOST_MEMORY: u64 = 1 << 30;

/// Bytes that this process had in memory at most, where the system says it.
fn most_memory() -> Option<u64> {
    let status = std::fs::read_to_string("/proc/self/status").ok()?;
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:"))?;
    Some(line.trim().trim_end_matches(" kB").parse::<u64>().ok()? << 10)
}

#[test]
fn no_call_makes_the_machine_panic() {
    let mut random = Random::new("machine");
    let end = Instant::now() + time();
    while Instant::now() < end {
        // A program may spoil the language for those after it, so there are many.
        let (mut lisp, ..) = lisp_within(Some(HEAP), "x y z");
        let mut names = lisp.packages[CL]
            .present
            .iter()
            .filter(|(name, entry)| entry.1 && !LEFT_OUT.contains(&&***name))
            .map(|(name, _)| name.to_lowercase())
            .collect::<Vec<_>>();
        names.sort();
        let (begun, _sender) = watch(&lisp);
        for _ in 0..200 {
            let text = form(&mut random, &names, 3);
            if std::env::var_os("RUNG_FUZZ_SHOW").is_some() {
                eprintln!("{text}");
            }
            begun.store(false, Ordering::Relaxed);
            match lisp.eval_text("fuzz", &text) {
                Ok(values) => {
                    for value in values {
                        lisp.brief(&value);
                    }
                }
                Err(ended) => assert_ne!(ended.kind, UnhandledKind::Quit(70), "{text}"),
            }
        }
    }
    if let Some(most) = most_memory() {
        assert!(most < MOST_MEMORY, "{most} bytes of memory");
    }
}
