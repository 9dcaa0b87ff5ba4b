"""Times array operations in Lisp beside NumPy, SciPy and Debian's OpenBLAS: see benches/arrays.

One table of cases (arrays_cases.py): a name, the operands by shape and type, a Lisp form and a
Python expression. Ours and the peer run in turn, each in a process of its own that times every
case by the median of repeats; the passes alternate, and a ratio is peer over ours.
"""

import argparse
import datetime
import json
import os
import platform
import statistics
import subprocess
import sys
import tempfile

import page
from arrays_cases import CASES, GROUPS

REPEATS = 5
# Each repeat runs a case until this many nanoseconds have passed.
SPAN = 10_000_000

LISP_BENCH = """
(defun bench (name thunk)
  (funcall thunk)
  (let ((count 1) (times nil))
    (loop
      (let ((start (rung:nanoseconds)))
        (dotimes (i count) (funcall thunk))
        (when (> (- (rung:nanoseconds) start) %(span)d) (return))
        (setf count (* count 2))))
    (dotimes (r %(repeats)d)
      (let ((start (rung:nanoseconds)))
        (dotimes (i count) (funcall thunk))
        (push (/ (- (rung:nanoseconds) start) count) times)))
    (setf times (sort times #'<))
    (format t "~a ~,1f~%%" name (float (nth (floor %(repeats)d 2) times) 1d0))))
"""


def lisp_program(cases):
    """The Lisp text that prints a line of name and nanoseconds for each case."""
    parts = [LISP_BENCH % {"span": SPAN, "repeats": REPEATS}]
    for case in cases:
        bindings = " ".join(f"({name} {operand.lisp()})" for name, operand in case.operands)
        form = case.lisp
        parts.append(
            f"(handler-case (let* ({bindings}) (declare (ignorable {' '.join(n for n, _ in case.operands)}))"
            f' (bench "{case.name}" (lambda () {form})))\n'
            f'  (error (e) (format *error-output* "~a: ~a~%" "{case.name}" e)))'
        )
    return "\n".join(parts)


def ours(cases, threads):
    with tempfile.NamedTemporaryFile("w", suffix=".lisp") as program:
        program.write(lisp_program(cases))
        program.flush()
        environment = dict(os.environ, RUNG_THREADS=str(threads))
        command = [os.environ["RUNG"], program.name]
        run = subprocess.run(command, env=environment, capture_output=True, text=True)
    if run.stderr:
        print(run.stderr, file=sys.stderr)
    lines = [line.rsplit(" ", 1) for line in run.stdout.splitlines()]
    return {name: float(time) for name, time in lines}


def theirs(cases, threads):
    names = ",".join(case.name for case in cases)
    environment = dict(os.environ)
    for variable in ("OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS", "MKL_NUM_THREADS"):
        environment[variable] = str(threads)
    command = [sys.executable, __file__, "--peer", names]
    run = subprocess.run(command, env=environment, capture_output=True, text=True, check=True)
    return json.loads(run.stdout)


def peer(names):
    """Times the Python expressions of these cases and prints them as JSON."""
    import time

    from arrays_cases import python_names

    times = {}
    for case in (case for case in CASES if case.name in names):
        scope = dict(python_names())
        for name, operand in case.operands:
            scope[name] = operand.numpy()
        code = compile(case.python, case.name, "eval")
        run = eval(f"lambda: ({case.python})", scope)
        run()
        count = 1
        while True:
            start = time.perf_counter_ns()
            for _ in range(count):
                run()
            if time.perf_counter_ns() - start > SPAN:
                break
            count *= 2
        samples = []
        for _ in range(REPEATS):
            start = time.perf_counter_ns()
            for _ in range(count):
                run()
            samples.append((time.perf_counter_ns() - start) / count)
        times[case.name] = statistics.median(samples)
        del code
    print(json.dumps(times))


def shown(nanoseconds):
    for unit, size in (("ms", 1e6), ("us", 1e3)):
        if nanoseconds >= size:
            return f"{nanoseconds / size:.1f} {unit}" if nanoseconds < 100 * size else f"{nanoseconds / size:.0f} {unit}"
    return f"{nanoseconds:.0f} ns"


def tables(cases, threads, count):
    passes = [(ours(cases, threads), theirs(cases, threads)) for _ in range(count)]
    out = []
    for group, words in GROUPS.items():
        rows = []
        for case in (case for case in cases if case.group == group):
            mine = [p[0][case.name] for p in passes if case.name in p[0]]
            other = [p[1][case.name] for p in passes]
            if not mine:
                rows.append((case.name, "failed", shown(statistics.median(other)), "", ""))
                continue
            one, two = statistics.median(mine), statistics.median(other)
            note = case.rate(one)
            rows.append((case.name, shown(one), shown(two), f"{two / one:.2f}", note))
        if rows:
            out.append(f"\n### {words}, {threads} thread{'s' if threads > 1 else ''}\n")
            out.append("| case | Rung | NumPy, SciPy | ratio | |\n| ---: | ---: | ---: | ---: | ---: |")
            out.extend("| " + " | ".join(row) + " |" for row in rows)
            ratios = [float(row[3]) for row in rows if row[3]]
            if ratios:
                out.append(f"\nMedian ratio {statistics.median(ratios):.2f}, least {min(ratios):.2f}.")
    return "\n".join(out)


def heading(passes):
    import numpy
    import scipy

    commit = subprocess.run(["git", "rev-parse", "--short", "HEAD"], capture_output=True, text=True)
    model = next(
        (line.split(":")[1].strip() for line in open("/proc/cpuinfo") if line.startswith("model name")),
        platform.processor(),
    )
    return (
        f"Machine: {model}, {os.cpu_count()} cores, Linux {platform.machine()}. "
        f"Date: {datetime.date.today()}. Commit: {commit.stdout.strip()}.\n"
        f"Command: `{' '.join(['benches/arrays', *sys.argv[1:]])}`. Rung called from Lisp, NumPy {numpy.__version__} and SciPy "
        f"{scipy.__version__} from Python; whole calls, median of {passes} passes in turn, each the "
        f"median of {REPEATS} repeats. A ratio above 1 is in our favour."
    )


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--only", help="words, separated by commas, of which a case's name has one")
    parser.add_argument("--threads", default="1,2", help="thread counts, separated by commas")
    parser.add_argument("--passes", type=int, default=3, help="how often ours and the peer take turns")
    parser.add_argument("--write", action="store_true", help="put the tables into docs/benchmarks.md")
    parser.add_argument("--peer", help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.peer:
        return peer(set(options.peer.split(",")))
    words = options.only.split(",") if options.only else [""]
    cases = [case for case in CASES if any(word in case.name for word in words)]
    text = heading(options.passes)
    for threads in map(int, options.threads.split(",")):
        text += "\n" + tables(cases, threads, options.passes)
    print(text)
    if options.write:
        page.write("arrays", text + "\n")


if __name__ == "__main__":
    main()
