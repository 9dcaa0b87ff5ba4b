"""Times NumPy on the work of `crates/lanes/examples/order.rs`, for the ratios between the two.

    taskset -c 1 python3 benches/lab/order.py

Median of nine; the time of this thread alone, so other work on the machine counts less. Run it and
the example in turn. Numbers of one run each (NumPy 2.4.6, one core of an AMD EPYC of the Zen 4
generation with other work beside it, microseconds, 1.5 M elements; NumPy, then Rung):

    sort f64                       82366   17993      sort f32                     49985    7456
    argsort f64 (stable)          209898   30867      argsort f32 (stable)        191844   18106
    sort f64 (15000 100) axis 1     4791    5661      sort f32 (15000 100) axis 1   2291    2556
    sort f64 (15000 100) axis 0    47088   25417      sort f32 (15000 100) axis 0  27830   13781
    sort f64 (93750 16) axis 1      3963    2979      sort f32 (93750 16) axis 1    3351    1588
    cumsum f64                      5040    2367      cumsum f32                    4986     792
    searchsorted f64, 1000        134194   12253      interp 1000                  98833   14267
    histogram f64, 100             10444    4779      compress f64                  1744    1314
    take f64, anywhere             12334    7980      add.at rows f64 (20000 64)   11417     733
"""

import time

import numpy as np

COUNT = 1_500_000
SHAPES = [(15000, 100), (93750, 16), (1500, 1000)]


def report(name, call, repeats=9):
    times = []
    for _ in range(repeats):
        start = time.thread_time()
        call()
        times.append(time.thread_time() - start)
    print(f"{name:45s} {sorted(times)[repeats // 2] * 1e6:10.1f} us", flush=True)


def sorting(name, x):
    report(f"sort {name}", lambda: np.sort(x))
    report(f"argsort {name}", lambda: np.argsort(x), 5)
    report(f"argsort {name}, stable", lambda: np.argsort(x, kind="stable"), 5)
    for shape in SHAPES:
        matrix = x.reshape(shape)
        for axis in (1, 0):
            what = f"{shape} axis {axis} {name}"
            report(f"sort {what}", lambda: np.sort(matrix, axis))
            report(f"argsort {what}", lambda: np.argsort(matrix, axis))


def scans(name, x):
    report(f"cumsum {name}", lambda: np.cumsum(x))
    for shape in SHAPES:
        matrix = x.reshape(shape)
        for axis in (1, 0):
            report(f"cumsum {shape} axis {axis} {name}", lambda: np.cumsum(matrix, axis))


def indexed(name, x, random):
    anywhere, rows = random.integers(0, COUNT, COUNT), random.integers(0, 1500, 20000)
    matrix, near = x.reshape(1500, 1000), anywhere % 10000
    even, mask = np.arange(0, 1000, 2), x > 0
    report(f"take {name}", lambda: np.take(x, anywhere))
    report(f"take-rows (20000 1000) {name}", lambda: matrix[rows])
    report(f"take axis 1 (1500 1000) {name}", lambda: np.take(matrix, even, axis=1))
    report(f"compress {name}", lambda: np.compress(mask, x))
    report(f"nonzero {name}", lambda: np.nonzero(mask))
    sums, wide = np.zeros(10000, x.dtype), np.zeros((1500, 64), x.dtype)
    source = x[: 20000 * 64].reshape(20000, 64)
    report(f"scatter-add 10000 cells {name}", lambda: np.add.at(sums, near, x))
    report(f"scatter-add rows (20000 64) {name}", lambda: np.add.at(wide, rows, source))
    for count in (1000, 100_000):
        places = np.sort(x[:count])
        report(f"searchsorted {count} {name}", lambda: np.searchsorted(places, x), 5)
    line = np.linspace(-0.5, 0.5, 1000)
    report(f"interp 1000 {name}", lambda: np.interp(x, line, line), 5)
    report(f"histogram 100 {name}", lambda: np.histogram(x, bins=100))
    report(f"bincount {name}", lambda: np.bincount(near))
    report(f"diff {name}", lambda: np.diff(x))
    report(f"median {name}", lambda: np.median(x))
    report(f"unique {name}", lambda: np.unique(x))


def main():
    print(f"NumPy {np.__version__}")
    random = np.random.default_rng(1)
    doubles = random.random(COUNT) - 0.5
    arrays = {
        "f64": doubles,
        "f32": doubles.astype("f4"),
        "i64": random.integers(-(2**62), 2**62, COUNT),
        "f16": doubles.astype("f2"),
        "u8": random.integers(0, 256, COUNT).astype("u1"),
    }
    for name, x in arrays.items():
        sorting(name, x)
    for name in ("f64", "f32"):
        scans(name, arrays[name])
        indexed(name, arrays[name], random)


if __name__ == "__main__":
    main()
