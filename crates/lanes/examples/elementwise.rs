//! Times element-wise functions beside a peer and says what share of a copy's bandwidth they reach.
//!
//! `cargo run --release -p rung-lanes --example elementwise -- [key=value ...]`
//! Keys: `level` (Portable, Avx2, Avx512), `threads`, `elements`, `only` (names with commas),
//! `python` (an interpreter with NumPy and SciPy, measured in turn in the same run), `rounds`.
//! A time is the median of the rounds, of which each is the best of five calls.

use rung_lanes::compiled::{Binary, Unary};
use rung_lanes::elementwise::{map, zip};
use rung_lanes::{Cost, Float, Lanes, Level, Operand};
use rung_math::*;
use std::io::{BufRead, BufReader, Write};
use std::process::{Child, Command, Stdio};
use std::time::Instant;

/// What NumPy or SciPy calls it, and how it is run at each width.
struct Row {
    name: &'static str,
    peer: &'static str,
    operands: usize,
    span: (f64, f64),
    single: fn(&Lanes, &Data<f32>, &mut [f32]),
    double: fn(&Lanes, &Data<f64>, &mut [f64]),
}

/// The two operands.
struct Data<T> {
    a: Vec<T>,
    b: Vec<T>,
}

fn unary<F: Unary, T: Float>(lanes: &Lanes, data: &Data<T>, out: &mut [T]) {
    let a = Operand::new(&data.a, 0, &[1]);
    map::<F, T>(lanes, Cost::Elementary, &[out.len()], a, out);
}

fn light<F: Unary, T: Float>(lanes: &Lanes, data: &Data<T>, out: &mut [T]) {
    let a = Operand::new(&data.a, 0, &[1]);
    map::<F, T>(lanes, Cost::Light, &[out.len()], a, out);
}

fn binary<F: Binary, T: Float>(lanes: &Lanes, data: &Data<T>, out: &mut [T]) {
    let (a, b) = (Operand::new(&data.a, 0, &[1]), Operand::new(&data.b, 0, &[1]));
    zip::<F, T>(lanes, Cost::Light, &[out.len()], a, b, out);
}

/// A plain copy: the bandwidth that the machine has to give.
fn copy<T: Float>(_: &Lanes, data: &Data<T>, out: &mut [T]) {
    out.copy_from_slice(&data.a);
}

macro_rules! rows {
    ($($operands:literal $run:ident $name:literal $peer:literal $span:expr, $($f:ty)?;)*) => {
        &[$(Row {
            name: $name,
            peer: $peer,
            operands: $operands,
            span: $span,
            single: $run::<$($f,)? f32>,
            double: $run::<$($f,)? f64>,
        }),*]
    };
}

const ROWS: &[Row] = rows! {
    1 copy "copy" "positive" (0.0, 8.0),;
    1 unary "exp" "exp" (-8.0, 8.0), Exp;
    1 unary "log" "log" (0.001, 8.0), Log;
    1 unary "tanh" "tanh" (-4.0, 4.0), Tanh;
    1 unary "erf" "erf" (-4.0, 4.0), Erf;
    1 unary "sin" "sin" (-8.0, 8.0), Sin;
    1 unary "cos" "cos" (-8.0, 8.0), Cos;
    2 binary "power" "power" (0.1, 4.0), Power;
    1 unary "tan" "tan" (-8.0, 8.0), Tan;
    1 unary "asin" "arcsin" (-1.0, 1.0), Asin;
    1 unary "acos" "arccos" (-1.0, 1.0), Acos;
    1 unary "atan" "arctan" (-8.0, 8.0), Atan;
    1 unary "sinh" "sinh" (-8.0, 8.0), Sinh;
    1 unary "cosh" "cosh" (-8.0, 8.0), Cosh;
    1 unary "expm1" "expm1" (-4.0, 4.0), Expm1;
    1 unary "log1p" "log1p" (-0.9, 8.0), Log1p;
    1 unary "exp2" "exp2" (-8.0, 8.0), Exp2;
    1 unary "log2" "log2" (0.001, 8.0), Log2;
    1 unary "log10" "log10" (0.001, 8.0), Log10;
    1 unary "asinh" "arcsinh" (-8.0, 8.0), Asinh;
    1 unary "acosh" "arccosh" (1.0, 8.0), Acosh;
    1 unary "atanh" "arctanh" (-1.0, 1.0), Atanh;
    1 unary "cbrt" "cbrt" (-8.0, 8.0), Cbrt;
    1 unary "erfc" "erfc" (-4.0, 4.0), Erfc;
    1 unary "sigmoid" "expit" (-8.0, 8.0), Sigmoid;
    2 binary "atan2" "arctan2" (-4.0, 4.0), Atan2;
    2 binary "hypot" "hypot" (-4.0, 4.0), Hypot;
    1 light "sqrt" "sqrt" (0.0, 8.0), Sqrt;
    1 light "abs" "absolute" (-8.0, 8.0), Abs;
    1 light "relu" "relu" (-8.0, 8.0), Relu;
    2 binary "add" "add" (-8.0, 8.0), Add;
    2 binary "mul" "multiply" (-8.0, 8.0), Mul;
    2 binary "div" "divide" (0.1, 8.0), Div;
    2 binary "maximum" "maximum" (-8.0, 8.0), Maximum;
};

struct Settings {
    lanes: Lanes,
    elements: usize,
    rounds: usize,
    only: Vec<String>,
}

fn main() {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let get = |key: &str| {
        let prefix = format!("{key}=");
        arguments.iter().find_map(|word| word.strip_prefix(&prefix)).map(str::to_string)
    };
    let number = |key: &str, usual| get(key).and_then(|text| text.parse().ok()).unwrap_or(usual);
    let wanted = get("level").unwrap_or_default();
    let named = |level: &Level| format!("{level:?}").eq_ignore_ascii_case(&wanted);
    let level = Level::available().into_iter().find(named).unwrap_or(Level::detect());
    let settings = Settings {
        lanes: Lanes::with(level, number("threads", 1)),
        elements: number("elements", 1_500_000),
        rounds: number("rounds", 5),
        only: get("only").map(|o| o.split(',').map(str::to_string).collect()).unwrap_or_default(),
    };
    let mut peer = get("python").map(|python| Peer::start(&python, settings.elements));
    let threads = settings.lanes.workers().threads();
    println!("{level:?}, {threads} thread(s), {} elements", settings.elements);
    println!("| function | type | us | ns/element | of copy | peer us | ratio |");
    println!("| --- | --- | ---: | ---: | ---: | ---: | ---: |");
    all::<f32>(&settings, &mut peer, |row| row.single);
    all::<f64>(&settings, &mut peer, |row| row.double);
}

type Run<T> = fn(&Lanes, &Data<T>, &mut [T]);

fn all<T: Float>(settings: &Settings, peer: &mut Option<Peer>, run: fn(&Row) -> Run<T>) {
    let n = settings.elements;
    let mut copied = f64::NAN;
    for row in ROWS {
        if !settings.only.is_empty()
            && row.name != "copy"
            && !settings.only.contains(&row.name.into())
        {
            continue;
        }
        let (low, high) = row.span;
        let at = |i: usize, step: usize| {
            T::narrowed(low + (high - low) * ((i * step % n) as f64 + 0.5) / n as f64)
        };
        let data = Data {
            a: (0..n).map(|i| at(i, 7919)).collect(),
            b: (0..n).map(|i| at(i, 104_729)).collect(),
        };
        let mut out = vec![T::default(); n];
        let (mut ours, mut theirs) = (Vec::new(), Vec::new());
        for _ in 0..settings.rounds {
            ours.push(best(|| run(row)(&settings.lanes, &data, &mut out)));
            if let Some(peer) = peer.as_mut() {
                theirs.push(peer.time(row, T::TYPE.lisp_name()));
            }
        }
        let (ours, theirs) = (median(ours), median(theirs));
        let traffic = ours * 2.0 / (row.operands + 1) as f64;
        if row.name == "copy" {
            copied = ours;
        }
        println!(
            "| {} | {} | {ours:.0} | {:.3} | {:.0} % | {theirs:.0} | {:.2} |",
            row.name,
            T::TYPE.lisp_name(),
            ours * 1e3 / n as f64,
            copied / traffic * 100.0,
            theirs / ours
        );
    }
}

fn median(mut times: Vec<f64>) -> f64 {
    times.sort_by(f64::total_cmp);
    times.get(times.len() / 2).copied().unwrap_or(f64::NAN)
}

/// Microseconds of the best of five calls.
fn best(mut call: impl FnMut()) -> f64 {
    let once = |_| {
        let start = Instant::now();
        call();
        start.elapsed().as_secs_f64() * 1e6
    };
    (0..5).map(once).fold(f64::MAX, f64::min)
}

/// A Python process that times its own function of the same numbers.
struct Peer {
    child: Child,
    answers: BufReader<std::process::ChildStdout>,
}

const SCRIPT: &str = "
import sys, time, numpy, scipy.special
n, known = int(sys.argv[1]), {}
relu = lambda x, out: numpy.maximum(x, 0, out=out)
def data(low, high, kind):
    if (low, high, kind) not in known:
        known.clear()
        i = numpy.arange(n)
        at = lambda step: (low + (high - low) * ((i * step % n) + 0.5) / n).astype(kind)
        known[low, high, kind] = at(7919), at(104729), numpy.empty(n, kind)
    return known[low, high, kind]
for line in sys.stdin:
    name, operands, low, high, kind = line.split()
    a, b, out = data(float(low), float(high), dict(single='f4', double='f8')[kind.split('-')[0]])
    f = getattr(numpy, name, None) or getattr(scipy.special, name, None) or relu
    best = 1e9
    for _ in range(5):
        start = time.perf_counter()
        f(a, out=out) if operands == '1' else f(a, b, out=out)
        best = min(best, time.perf_counter() - start)
    print(best * 1e6, flush=True)
";

impl Peer {
    fn start(python: &str, elements: usize) -> Peer {
        let mut child = Command::new(python)
            .args(["-c", SCRIPT, &elements.to_string()])
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .expect("the interpreter named by python=");
        let answers = BufReader::new(child.stdout.take().expect("a piped output"));
        Peer { child, answers }
    }

    fn time(&mut self, row: &Row, kind: &str) -> f64 {
        let (low, high) = row.span;
        let line = format!("{} {} {low} {high} {kind}\n", row.peer, row.operands);
        let input = self.child.stdin.as_mut().expect("a piped input");
        input.write_all(line.as_bytes()).expect("the peer reads");
        let mut answer = String::new();
        self.answers.read_line(&mut answer).expect("the peer answers");
        answer.trim().parse().unwrap_or(f64::NAN)
    }
}

impl Drop for Peer {
    fn drop(&mut self) {
        self.child.stdin.take();
        let _ = self.child.wait();
    }
}
