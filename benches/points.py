"""Farthest point sampling beside fpsample: `benches/points` runs this."""

import gzip
import os
import pathlib
import platform
import statistics
import subprocess
import sys
import time

import fpsample
import numpy as np
import page

REPEATS = 5
# (scan, its first points or None for all, samples)
CASES = [
    ("dragon_vrip_res2", 50_000, 4_096),
    ("dragon_vrip", None, 4_096),
    ("dragon_vrip", None, 43_764),
]


def scan(folder, name, count):
    """The vertices of an ASCII .ply, as f32."""
    with gzip.open(folder / "package/models" / f"{name}.ply.gz", "rt") as lines:
        for line in lines:
            if line.startswith("element vertex"):
                vertices = int(line.split()[2])
            if line.strip() == "end_header":
                break
        count = count or vertices
        rows = [next(lines).split()[:3] for _ in range(count)]
    return np.array(rows, dtype=np.float32)


def theirs(points, samples):
    """Its samplers by buckets, which skip and are exact: name, and a run that gives indices."""
    for height in (3, 5, 7, 9):
        yield f"kdline h={height}", lambda h=height: fpsample.bucket_fps_kdline_sampling(points, samples, h=h)
    yield "kdtree", lambda: fpsample.bucket_fps_kdtree_sampling(points, samples)


# Runs a sampler by itself: by how many KiB the process's memory rises.
PEAK = """
import sys, resource, numpy as np, fpsample
points = np.fromfile(sys.argv[1], dtype=np.float32).reshape(-1, 3)
fpsample.bucket_fps_kdline_sampling(points[:10], 2, h=1)
peak = lambda: resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
before = peak()
getattr(fpsample, sys.argv[2])(points, int(sys.argv[3]), **({"h": int(sys.argv[4])} if sys.argv[4:] else {}))
print(peak() - before)
"""


def their_peak(path, samples, label):
    """KiB beside the cloud and Python, of the sampler of a label."""
    name, _, height = label.partition(" h=")
    words = [str(path), f"bucket_fps_{name}_sampling", str(samples), *([height] if height else [])]
    command = [sys.executable, "-c", PEAK, *words]
    return int(subprocess.run(command, check=True, capture_output=True, text=True).stdout)


def spread(times):
    """The median, and the least and greatest."""
    return f"{statistics.median(times):.1f} ({min(times):.1f} to {max(times):.1f})"


# What is read: of a point whose distance is computed its coordinates and least distance, of a group that is tested
# its box and greatest distance, four bytes each.
BYTES_OF_POINT, BYTES_OF_GROUP = 16, 28


def seconds(run):
    start = time.perf_counter()
    indices = run()
    return time.perf_counter() - start, indices


def ours(path, samples, threads):
    """Milliseconds and what was left out, by the example."""
    command = [os.environ["FPS"], str(path), str(samples), "0", str(threads), "1"]
    text = subprocess.run(command, check=True, capture_output=True, text=True).stdout
    fields = dict(line.split(" ", 1) for line in text.splitlines())
    return float(fields["ms"]), fields


def case(folder, name, count, samples):
    points = scan(folder, name, count)
    path = folder / "points.f32"
    points.tofile(path)
    runs = list(theirs(points, samples))
    times = {label: [] for label, _ in runs}
    mine = {1: [], 2: []}
    for repeat in range(REPEATS):
        for label, run in runs:
            took, indices = seconds(run)
            times[label].append(took * 1e3)
            first = int(indices[0])
            if repeat == 0 and label == "kdline h=7":
                check(path, samples, first, indices)
        for threads in mine:
            took, fields = ours(path, samples, threads)
            mine[threads].append(took)
    # The plain sampler computes every distance: once is enough to see how long that takes.
    plain, _ = seconds(lambda: fpsample.fps_sampling(points, samples))
    best = min(times, key=lambda label: statistics.median(times[label]))
    best_ms = statistics.median(times[best])
    one, two = (statistics.median(mine[threads]) for threads in mine)
    share = float(fields["distances"]) / (len(points) * samples)
    touched = BYTES_OF_POINT * float(fields["distances"]) + BYTES_OF_GROUP * float(fields["tests"])
    mib = 1 / 1024
    return (
        f"| {len(points):,} | {samples:,} | {spread(mine[1])} | {spread(mine[2])} | {spread(times[best])}, {best} "
        f"| {plain * 1e3:,.0f} | {best_ms / one:.2f} | {best_ms / two:.2f} | {share:.2%} "
        f"| {touched / samples / 1024:.1f} | {float(fields['bytes']) / len(points):.0f} "
        f"| {float(fields['peak']) * mib:.1f} | {their_peak(path, samples, best) * mib:.1f} |"
    )


# Points of the whole scan, evenly left out, at 1,024 samples; samples of the whole scan.
GROWTH_POINTS = (1_000, 4_000, 16_000, 64_000, 437_645)
GROWTH_SAMPLES = (16, 64, 256, 1_024, 4_096, 16_384, 65_536)


def growth(folder):
    """Milliseconds on one thread by points and by samples: ours, and fpsample's kdline with h = 7."""
    whole, path = scan(folder, "dragon_vrip", None), folder / "points.f32"

    def both(points, samples):
        points.tofile(path)
        run = lambda: fpsample.bucket_fps_kdline_sampling(points, samples, h=7)
        pairs = [(ours(path, samples, 1)[0], seconds(run)[0] * 1e3) for _ in range(REPEATS)]
        return [statistics.median(column) for column in zip(*pairs)]

    by_points = [both(whole[:: max(1, len(whole) // n)], min(n, 1_024)) for n in GROWTH_POINTS]
    by_samples = [both(whole, samples) for samples in GROWTH_SAMPLES]
    return (("points, 1,024 samples at most", GROWTH_POINTS, by_points), ("samples of 437,645 points", GROWTH_SAMPLES, by_samples))


def draw(curves, path):
    """Both curves on logarithmic axes, with a line of growth in proportion."""
    import matplotlib

    matplotlib.use("Agg")
    from matplotlib import pyplot

    figure, panels = pyplot.subplots(1, 2, figsize=(9, 3.6), constrained_layout=True)
    for panel, (label, sizes, times) in zip(panels, curves):
        mine, theirs = zip(*times)
        panel.loglog(sizes, theirs, "s-", color="#b0522d", label="fpsample, kdline h = 7")
        panel.loglog(sizes, mine, "o-", color="#20639b", label="rung, one thread")
        panel.loglog(sizes, [mine[0] * n / sizes[0] for n in sizes], ":", color="grey", label="in proportion")
        panel.set_xlabel(label)
        panel.set_ylabel("milliseconds")
        panel.grid(True, which="major", alpha=0.3)
    panels[0].legend()
    figure.savefig(path, dpi=100, metadata={"Software": None})


def check(path, samples, first, indices):
    """Begun where theirs begins, the samples are the same (clouds without ties)."""
    command = [os.environ["FPS"], str(path), str(samples), str(first), "1", "1", "indices"]
    text = subprocess.run(command, check=True, capture_output=True).stdout
    own = np.frombuffer(text, dtype=np.int64)
    same = int(np.argmin(own == indices)) if (own != indices).any() else samples
    print(f"  beginning at point {first}: the first {same:,} of {samples:,} samples agree", file=sys.stderr)


def main():
    folder = pathlib.Path(sys.argv[1])
    rows = [case(folder, *one) for one in CASES]
    head = [
        f"Command: `benches/points --write`. Median of {REPEATS} repeats in turn, making the groups "
        f"included, with the least and greatest; fpsample has one thread. fpsample {fpsample_version()}, the better of its two "
        f"samplers by buckets (kdline, the best h of 3, 5, 7, 9, and kdtree) and, run once, its plain fps_sampling; all on f32. "
        f"Bytes touched: {BYTES_OF_POINT} of each point whose distance is computed, {BYTES_OF_GROUP} of each group that is tested. "
        f"Peak: by how much the memory of a process rises beside the cloud. {platform.machine()}, {page.processor()}, {time.strftime('%Y-%m-%d')}.",
        "",
        "| points | samples | 1 thread, ms | 2 threads, ms | fpsample, ms | plain, ms | ratio, 1 thread | 2 threads "
        "| distances computed | KiB touched a sample | bytes a point | peak, MiB | fpsample's peak, MiB |",
        "|" + " ---: |" * 13,
    ]
    text = "\n".join(head + rows) + "\n"
    print(text)
    if "--write" in sys.argv[2:]:
        page.write("points", text)
        draw(growth(folder), "docs/points-growth.png")


def fpsample_version():
    from importlib.metadata import version

    return version("fpsample")


main()
