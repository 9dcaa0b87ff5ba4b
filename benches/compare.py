"""Measures Rung beside its peers and writes the tables of docs/benchmarks.md.

Started by `benches/compare`, which builds the programs and installs the peers. Every comparison is
repeated REPEATS times, ours and the peer's in turn, and each cell is the median of the repeats; a
repeat itself is the best of a batch of calls, so that a pause of the machine does not count.
Nothing here judges: a ratio is only printed.
"""

import ctypes
import datetime
import glob
import os
import pathlib
import platform
import statistics
import subprocess
import sys
import time

import numpy
import page

REPEATS = 5
SIZES = [64, 128, 256, 512, 1024]
ELEMENTS = 1_500_000
TARGET = pathlib.Path(os.environ["RUNG_TARGET"])


def output(*command):
    done = subprocess.run(command, check=True, capture_output=True, text=True)
    return done.stdout.splitlines()


def median(rows):
    """The median of each column of equally long rows."""
    return [statistics.median(column) for column in zip(*rows)]


def best(call, repeats=15):
    """Seconds of the fastest of some calls."""
    seconds = []
    for _ in range(repeats):
        start = time.perf_counter()
        call()
        seconds.append(time.perf_counter() - start)
    return min(seconds)


def table(head, rows):
    lines = ["| " + " | ".join(head) + " |", "| " + " | ".join(["---:"] * len(head)) + " |"]
    return lines + ["| " + " | ".join(row) + " |" for row in rows]


def numpy_product(size, kind):
    """GFLOP/s of NumPy's own OpenBLAS, from batches of about 10 ms."""
    generator = numpy.random.default_rng(1)
    a, b = (generator.uniform(-1, 1, (size, size)).astype(kind) for _ in range(2))
    out = numpy.empty_like(a)
    batch = max(1, 50_000_000 // size**3)

    def calls():
        for _ in range(batch):
            numpy.matmul(a, b, out=out)

    return 2 * size**3 * batch / best(calls, 36) * 1e-9


def products():
    """Ours and Debian's OpenBLAS alternate in one process; NumPy's follows in each repeat."""
    ours, theirs = {}, {}
    for _ in range(REPEATS):
        lines = output(TARGET / "examples/product", "1", *map(str, SIZES))
        # Below a head of three lines: size, then GFLOP/s, the peer's, ratio and share of the peak
        # for each type; the last line is the median.
        for line in lines[3:-1]:
            size, *numbers = line.replace("%", "").split()
            ours.setdefault(int(size), []).append([float(number) for number in numbers])
        for size in SIZES:
            row = [numpy_product(size, kind) for kind in ("f4", "f8")]
            theirs.setdefault(size, []).append(row)
    rows = []
    for size in SIZES:
        f32, blas32, _, _, f64, blas64, _, _ = median(ours[size])
        numpy32, numpy64 = median(theirs[size])
        for kind, us, blas, other in (("f32", f32, blas32, numpy32), ("f64", f64, blas64, numpy64)):
            cells = [f"{us:.1f}", f"{blas:.1f}", f"{us / blas:.2f}"]
            rows.append([str(size), kind, *cells, f"{other:.1f}", f"{us / other:.2f}"])
    head = ["n", "type", "lanes", "OpenBLAS (Debian)", "ratio", "OpenBLAS (NumPy)", "ratio"]
    rows.sort(key=lambda row: (row[1], int(row[0])))
    title = ["## Matrix product, n x n, GFLOP/s", "", f"{lines[0]}; NumPy {numpy.__version__} with {numpy_blas()}."]
    return [*title, "", *table(head, rows)]


def numpy_blas():
    """Which kernels the OpenBLAS inside NumPy's package picked."""
    folder = pathlib.Path(numpy.__file__).parent.parent / "numpy.libs"
    for file in glob.glob(str(folder / "libscipy_openblas*")):
        library = ctypes.CDLL(file)
        name = getattr(library, "scipy_openblas_get_corename64_", None)
        config = getattr(library, "scipy_openblas_get_config64_", None)
        if name and config:
            name.restype = config.restype = ctypes.c_char_p
            return f"{' '.join(config().decode().split()[:2])}, kernels {name().decode()}"
    return "a BLAS that does not say its name"


def numpy_elementwise():
    """Microseconds by (operation, type), the result's memory reused as ours is."""
    out = {}
    for kind, name in (("f4", "f32"), ("f8", "f64")):
        x = (numpy.arange(ELEMENTS) * 7919 % ELEMENTS / ELEMENTS * 8).astype(kind)
        y, result = x.copy(), numpy.empty_like(x)
        out["exp", name] = best(lambda: numpy.exp(x, out=result)) * 1e6
        out["add", name] = best(lambda: numpy.add(x, y, out=result)) * 1e6
    return out


def elementwise():
    ours, theirs = {}, {}
    for _ in range(REPEATS):
        lines = output(TARGET / "examples/elementwise", "1", str(ELEMENTS))
        for line in lines[2:]:
            *numbers, operation, kind = line.split()
            ours.setdefault((operation, kind), []).append([float(number) for number in numbers])
        for key, microseconds in numpy_elementwise().items():
            theirs.setdefault(key, []).append(microseconds)
    levels = lines[1].split()
    rows = []
    for key, measured in theirs.items():
        columns = median(ours[key])
        peer = statistics.median(measured)
        cells = [f"{microseconds:.0f}" for microseconds in columns]
        rows.append([*key, *cells, f"{peer:.0f}", f"{peer / columns[-1]:.2f}"])
    head = ["operation", "type", *levels, "NumPy", f"NumPy / {levels[-1]}"]
    title = f"## Element by element, {ELEMENTS:,} elements, microseconds"
    note = "Operands and result stay in the same memory from call to call, on both sides."
    return [title, "", note, "", *table(head, rows)]


def fib():
    ours, theirs = [], []
    for _ in range(REPEATS):
        ours.append(int(output(TARGET / "rung", "benches/fib.lisp")[-1]))
        theirs.append(int(output("clisp", "-q", "-norc", "-C", "benches/fib.lisp")[-1]))
    us, peer = statistics.median(ours), statistics.median(theirs)
    version = output("clisp", "--version")[0].split("(")[0].strip()
    head = ["program", "rung", version, "rung / CLISP"]
    row = ["(fib 30)", f"{us:.0f}", f"{peer:.0f}", f"{us / peer:.2f}"]
    return ["## The language, milliseconds", "", "Both compile to bytecode.", "", *table(head, [row])]


def main():
    commit = output("git", "rev-parse", "--short", "HEAD")[0]
    host = f"{page.processor()}, {os.cpu_count()} cores, {platform.system()} {platform.machine()}"
    lines = [
        f"Machine: {host}. Date: {datetime.date.today()}. Commit: {commit}.",
        "Command: `benches/compare --write`. One thread on both sides; median of "
        f"{REPEATS} repeats, ours and the peer's in turn.",
    ]
    for part in (products, elementwise, fib):
        print(f"compare: {part.__name__} ...", file=sys.stderr)
        lines += ["", *part()]
    text = "\n".join(lines) + "\n"
    print(text)
    if "--write" in sys.argv[1:]:
        page.write("compare", text)
        print("wrote docs/benchmarks.md", file=sys.stderr)


main()
