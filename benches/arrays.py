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


def ours(cases, threads, flags=()):
    if not cases:
        return {}
    with tempfile.NamedTemporaryFile("w", suffix=".lisp") as program:
        program.write(lisp_program(cases))
        program.flush()
        environment = dict(os.environ, RUNG_THREADS=str(threads))
        command = [os.environ["RUNG"], *flags, program.name]
        run = subprocess.run(command, env=environment, capture_output=True, text=True)
    if run.stderr:
        print(run.stderr, file=sys.stderr)
    lines = [line.rsplit(" ", 1) for line in run.stdout.splitlines()]
    return {name: float(time) for name, time in lines}


def timed(cases, threads):
    """Nanoseconds of ours by case and by how it is run."""
    walks = [case for case in cases if case.walk]
    times = {"walk": ours(walks, threads, ("--portable",)), "ours": {}}
    for flags in sorted({case.flags for case in cases}):
        times["ours"] |= ours([case for case in cases if case.flags == flags], threads, flags)
    return times


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

    def once(run, count):
        start = time.perf_counter_ns()
        for _ in range(count):
            run()
        return time.perf_counter_ns() - start

    def median(run):
        run()
        count = 1
        while once(run, count) <= SPAN:
            count *= 2
        return statistics.median(once(run, count) / count for _ in range(REPEATS))

    names_of_all = python_names()
    times = {}
    for case in (case for case in CASES if case.name in names):
        scope = names_of_all | {name: operand.numpy() for name, operand in case.operands}
        for what, text in case.peers().items():
            times.setdefault(what, {})[case.name] = median(eval(f"lambda: ({text})", scope))
    print(json.dumps(times))


def shown(nanoseconds):
    for unit, size in (("ms", 1e6), ("us", 1e3)):
        if nanoseconds >= size:
            return f"{nanoseconds / size:.1f} {unit}" if nanoseconds < 100 * size else f"{nanoseconds / size:.0f} {unit}"
    return f"{nanoseconds:.0f} ns"


# What stands beside ours and NumPy's: how a ratio to it is told.
BESIDE = {
    "library": "Debian's OpenBLAS {time} ({ratio:.2f})",
    "bound": "{share:.0f} % of only {verb}",
    "walk": "one at a time {time} ({ratio:.1f})",
}
VERBS = {"read": "reading", "copy": "copying"}


def row_of(case, medians):
    """The cells of a case, and the ratios to NumPy and to OpenBLAS."""
    if "ours" not in medians:
        return [case.name, "failed", shown(medians["peer"]), "", ""], {}
    mine = medians["ours"]
    ratios = {what: time / mine for what, time in medians.items()}
    notes = [case.rate(mine)]
    for what, text in BESIDE.items():
        if what in medians:
            notes.append(text.format(time=shown(medians[what]), ratio=ratios[what],
                                     share=100 * ratios[what], verb=VERBS.get(case.bound)))
    cells = [case.name, shown(mine), shown(medians["peer"]), f"{ratios['peer']:.2f}", "; ".join(filter(None, notes))]
    return cells, ratios


def summary(ratios):
    """Median and least of the ratios to each peer."""
    lines = []
    for what, name in (("peer", "Median ratio"), ("library", "Beside Debian's OpenBLAS: median")):
        found = [r[what] for r in ratios if what in r]
        if found:
            lines.append(f"{name} {statistics.median(found):.2f}, least {min(found):.2f}.")
    return "\n" + " ".join(lines)


def tables(cases, threads, count):
    passes = [timed(cases, threads) | theirs(cases, threads) for _ in range(count)]
    out = []
    for group, words in GROUPS.items():
        rows = []
        for case in (case for case in cases if case.group == group):
            samples = {what: [p[what][case.name] for p in passes if case.name in p[what]] for what in passes[0]}
            rows.append(row_of(case, {what: statistics.median(s) for what, s in samples.items() if s}))
        if rows:
            out.append(f"\n### {words}, {threads} thread{'s' if threads > 1 else ''}\n")
            out.append("| case | Rung | NumPy, SciPy | ratio | |\n| ---: | ---: | ---: | ---: | ---: |")
            out.extend("| " + " | ".join(cells) + " |" for cells, _ in rows)
            out.append(summary([ratios for _, ratios in rows]))
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
