"""Times NumPy (and SciPy, if it is there) on the calls of `crates/lanes/examples/rows.rs`.

    OMP_NUM_THREADS=1 python3 benches/lab/rows.py

Prints the median of 15 runs in microseconds under the same names.
"""

import time

import numpy as np

try:
    from scipy.special import log_softmax, logsumexp, softmax
except ImportError:  # the same formulas in NumPy's own functions, which is what SciPy calls

    def softmax(x, axis):
        e = np.exp(x - np.amax(x, axis=axis, keepdims=True))
        return e / np.sum(e, axis=axis, keepdims=True)

    def log_softmax(x, axis):
        d = x - np.amax(x, axis=axis, keepdims=True)
        return d - np.log(np.sum(np.exp(d), axis=axis, keepdims=True))

    def logsumexp(x, axis):
        m = np.amax(x, axis=axis, keepdims=True)
        return np.log(np.sum(np.exp(x - m), axis=axis)) + m.squeeze(axis)


def report(name, call):
    times = []
    for _ in range(15):
        start = time.perf_counter()
        call()
        times.append((time.perf_counter() - start) * 1e6)
    print(f"{name:<36} {sorted(times)[7]:>10.1f} us")


def floats(dtype, short):
    x = ((np.arange(1 << 20) * 7919 % 1000) * 0.01 - 5).astype(dtype)
    shapes = [((2048, 512), 1), ((65536, 10), 1), ((512, 2048), 0), ((4096, 64), 1)]
    for shape, axis in shapes + [((64, 16384), 1)]:
        a = x[: shape[0] * shape[1]].reshape(shape)
        report(f"softmax {list(shape)} axis {axis} {short}", lambda: softmax(a, axis))
    a = x.reshape(2048, 512)
    report(f"log-softmax [2048, 512] axis 1 {short}", lambda: log_softmax(a, 1))
    report(f"logsumexp [2048, 512] axis 1 {short}", lambda: logsumexp(a, 1))

    def softmax_gradient():
        return a * (a - np.sum(a * a, axis=1, keepdims=True))

    def layer_norm():
        return (a - a.mean(1, keepdims=True)) / np.sqrt(a.var(1, keepdims=True) + 1e-5)

    report(f"softmax-grad [2048, 512] axis 1 {short}", softmax_gradient)
    report(f"layer-norm [2048, 512] axis 1 {short}", layer_norm)
    b = x.reshape(1024, 1024)
    for axes in [(0, 1), (1,), (0,)]:
        name = lambda of: f"{of} [1024, 1024] axes {list(axes)} {short}"
        report(name("sum"), lambda: b.sum(axes))
        report(name("prod"), lambda: b.prod(axes))
        report(name("squares"), lambda: np.linalg.norm(b, axis=None if len(axes) == 2 else axes[0]))
        report(name("centred"), lambda: b.var(axes))
        report(name("nansum"), lambda: np.nansum(b, axes))
        report(name("count-nonzero"), lambda: np.count_nonzero(b, axes))
    report(f"amax {short}", lambda: x.max())
    report(f"nanmax {short}", lambda: np.nanmax(x))
    report(f"argmax {short}", lambda: x.argmax())
    report(f"array-equal {short}", lambda: np.array_equal(x, x.view()))


def whole_numbers(dtype, short, number):
    x = number(np.arange(1 << 20)).astype(dtype).reshape(1024, 1024)
    folds = {"sum": np.sum, "prod": np.prod, "amax": np.amax, "count-nonzero": np.count_nonzero}
    for name, of in folds.items():
        for axes in [(0, 1), (1,), (0,)]:
            report(f"{name} axes {list(axes)} {short}", lambda: of(x, axis=axes))


floats(np.float32, "f32")
floats(np.float64, "f64")
whole_numbers(np.int64, "i64", lambda i: i % 1000 - 500)
whole_numbers(np.int32, "i32", lambda i: i % 1000 - 500)
whole_numbers(np.uint8, "u8", lambda i: i)
whole_numbers(np.bool_, "bool", lambda i: i % 3 == 0)
