"""Puts the table that benches/lisp printed into docs/benchmarks.md, with the time of a start."""

import datetime
import pathlib
import platform
import statistics
import subprocess
import sys
import time

import page

STARTS = 21


def start(command):
    """Median milliseconds of a process from nothing to its end."""
    times = []
    for _ in range(STARTS):
        begin = time.perf_counter()
        subprocess.run(command, check=True, stdout=subprocess.DEVNULL)
        times.append(1000 * (time.perf_counter() - begin))
    return statistics.median(times)


def main():
    table, rung = pathlib.Path(sys.argv[1]), sys.argv[2]
    rows = [line.split() for line in table.read_text().splitlines()[1:]]
    rows = [row for row in rows if len(row) == 6]
    to_sbcl = statistics.median(float(row[5]) for row in rows)
    to_clisp = statistics.median(float(row[4]) for row in rows)
    started = [start(command) for command in ([rung, "-e", "1"], ["sbcl", "--non-interactive", "--eval", "1"])]
    text = (
        f"Command: `benches/lisp --write`. Milliseconds of one run, median of five rounds; native code on. "
        f"{platform.machine()}, {page.processor()}, {datetime.date.today()}.\n\n"
        "| program | Rung | CLISP | SBCL | Rung / CLISP | Rung / SBCL |\n| ---: | ---: | ---: | ---: | ---: | ---: |\n"
    )
    text += "".join(f"| {' | '.join(row)} |\n" for row in rows)
    text += (
        f"\nMedian {to_clisp:.2f} times CLISP's bytecode and {to_sbcl:.2f} times SBCL. `rung -e 1` from start to end "
        f"takes {started[0]:.1f} ms, `sbcl --eval 1` {started[1]:.1f} ms (median of {STARTS}).\n"
    )
    page.write("lisp", text)


if __name__ == "__main__":
    main()
