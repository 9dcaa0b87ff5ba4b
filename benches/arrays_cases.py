"""The cases of benches/arrays: operands, a Lisp form and the Python expression that means the same."""

import ctypes
from dataclasses import dataclass

GROUPS = {
    "product": "Matrix products",
    "narrow": "Products with `--precision=bf16`",
    "vector": "Matrix times vector",
    "elementwise": "Element by element, 1.5 M elements",
    "broadcast": "Broadcasting and views",
    "fold": "Folds and scans",
    "row": "Rows: softmax, layer norm",
    "index": "Sorting and selecting",
    "solve": "Linear systems",
    "small": "Small calls",
    "random": "Random numbers",
}

TYPES = {
    "f32": ("single-float", "float32"),
    "f64": ("double-float", "float64"),
    "i64": ("(signed-byte 64)", "int64"),
}


@dataclass
class Operand:
    """Numbers of a shape and type: spread over (-1, 1), positive, or integers below a bound."""

    shape: tuple
    type: str = "f64"
    kind: str = "spread"
    below: int = 0

    def lisp(self):
        element = TYPES[self.type][0]
        shape = " ".join(map(str, self.shape))
        draw = {
            "spread": f"(la:uniform -1 1 '({shape}))",
            "positive": f"(la:uniform 0.01 2 '({shape}))",
            "below": f"(la:floor (la:uniform 0 {self.below} '({shape})))",
            "spd": None,
        }[self.kind]
        if self.kind == "spd":
            n = self.shape[0]
            draw = f"(la:add (la:mul {n} (la:eye {n})) (la:uniform -1 1 '({n} {n})))"
        return f"(la:copy (la:astype {draw} '{element}))"

    def numpy(self):
        import numpy

        draw = numpy.random.default_rng(7)
        if self.kind == "spd":
            n = self.shape[0]
            a = n * numpy.eye(n) + draw.uniform(-1, 1, (n, n))
        elif self.kind == "below":
            a = draw.integers(0, self.below, self.shape)
        else:
            low, high = (-1, 1) if self.kind == "spread" else (0.01, 2)
            a = draw.uniform(low, high, self.shape)
        return a.astype(TYPES[self.type][1])


@dataclass
class Quantized:
    """Another operand as blocks of Q8_0."""

    name: str

    def lisp(self):
        return f"(rung:quantize {self.name})"

    def numpy(self):
        return None


@dataclass
class Case:
    group: str
    name: str
    operands: list
    lisp: str
    python: str
    flops: float = 0
    bytes: float = 0
    # The operation that only moves as many bytes: "read" or "copy".
    bound: str = ""
    # The same by Debian's OpenBLAS itself, in Python.
    library: str = ""
    # Whether ours is also run by the definition alone, one element after another.
    walk: bool = False
    # Flags of ours.
    flags: tuple = ()

    def rate(self, nanoseconds):
        """How much work a second the time means."""
        if self.flops:
            return f"{self.flops / nanoseconds:.1f} GFLOP/s"
        if self.bytes:
            return f"{self.bytes / nanoseconds:.1f} GB/s"
        return ""

    def peers(self):
        """Every Python expression that is timed beside ours, by what it is."""
        found = {"peer": self.python}
        if self.library:
            found["library"] = self.library
        if self.bound:
            found["bound"] = {"read": f"read({self.bytes:.0f})", "copy": f"move({self.bytes / 2:.0f})"}[self.bound]
        return found


class OpenBlas:
    """Debian's OpenBLAS, called without NumPy: packed operands, a new result for each call."""

    ROW_MAJOR, PLAIN = 101, 111

    def __init__(self):
        self.library = ctypes.CDLL("libopenblas.so.0")

    def scalars(self, array):
        """The letter of a type and its one and zero."""
        letter, number = {"float32": ("s", ctypes.c_float), "float64": ("d", ctypes.c_double)}[array.dtype.name]
        return letter, number(1), number(0)

    def product(self, a, b):
        import numpy

        (m, k), n = a.shape, b.shape[1]
        letter, one, zero = self.scalars(a)
        out = numpy.empty((m, n), a.dtype)
        getattr(self.library, f"cblas_{letter}gemm")(
            self.ROW_MAJOR, self.PLAIN, self.PLAIN, m, n, k, one, ctypes.c_void_p(a.ctypes.data), k,
            ctypes.c_void_p(b.ctypes.data), n, zero, ctypes.c_void_p(out.ctypes.data), n)
        return out

    def stack(self, a, b):
        return [self.product(x, y) for x, y in zip(a, b)]

    def matvec(self, a, x, transposed=False):
        import numpy

        m, n = a.shape
        letter, one, zero = self.scalars(a)
        out = numpy.empty(n if transposed else m, a.dtype)
        getattr(self.library, f"cblas_{letter}gemv")(
            self.ROW_MAJOR, self.PLAIN + transposed, m, n, one, ctypes.c_void_p(a.ctypes.data), n,
            ctypes.c_void_p(x.ctypes.data), 1, zero, ctypes.c_void_p(out.ctypes.data), 1)
        return out


def read(bytes, kept={}):
    """Looks through so many zeros for a one: the C library's search, in vectors, does nothing but read."""
    import numpy

    if bytes not in kept:
        kept[bytes] = numpy.zeros(bytes, numpy.uint8)
        kept[bytes][:] = 0
    ctypes.CDLL(None).memchr(ctypes.c_void_p(kept[bytes].ctypes.data), 1, ctypes.c_size_t(bytes))


def move(bytes, kept={}):
    """Copies so many bytes into an array that was written before."""
    import numpy

    if bytes not in kept:
        kept[bytes] = numpy.ones(bytes, numpy.uint8), numpy.ones(bytes, numpy.uint8)
    numpy.copyto(*kept[bytes])


def python_names():
    import numpy
    import scipy.linalg
    import scipy.special

    return {"np": numpy, "special": scipy.special, "linalg": scipy.linalg,
            "blas": OpenBlas(), "read": read, "move": move}


CASES = []


def case(group, name, operands, lisp, python, **work):
    CASES.append(Case(group, name, operands, lisp, python, **work))


WIDTH = {"f32": 4, "f64": 8, "i64": 8}

# Products.
for t in ("f32", "f64"):
    for n in (16, 24, 32, 64, 96, 128, 192, 256, 512, 1024, 2048):
        ab = [("a", Operand((n, n), t)), ("b", Operand((n, n), t))]
        case("product", f"{n}x{n}-{t}", ab, "(la:matmul a b)", "a @ b",
             flops=2 * n**3, library="blas.product(a, b)" if n >= 64 else "")
    for label, m, k, n in (("tall", 4096, 64, 64), ("wide", 64, 64, 4096), ("thin", 64, 4096, 64)):
        ab = [("a", Operand((m, k), t)), ("b", Operand((k, n), t))]
        case("product", f"{label}-{m}-{k}-{n}-{t}", ab, "(la:matmul a b)", "a @ b",
             flops=2 * m * k * n, library="blas.product(a, b)")
    for batch, n in ((12, 256), (64, 64), (256, 8)):
        ab = [("a", Operand((batch, n, n), t)), ("b", Operand((batch, n, n), t))]
        case("product", f"stack-{batch}x{n}-{t}", ab, "(la:matmul a b)", "a @ b",
             flops=2 * batch * n**3, library="blas.stack(a, b)" if n >= 64 else "")
for n in (256, 512, 1024):
    ab = [("a", Operand((n, n), "f32")), ("b", Operand((n, n), "f32"))]
    case("narrow", f"bf16-{n}x{n}", ab, "(la:matmul a b)", "a @ b", flops=2 * n**3, flags=("--precision=bf16",))

# Matrix times vector, beyond the cache.
for t in ("f32", "f64"):
    m, n = 8192, 4096
    ax = [("a", Operand((m, n), t)), ("x", Operand((n,), t))]
    case("vector", f"matvec-{t}", ax, "(la:dot a x)", "a @ x", bytes=m * n * WIDTH[t],
         bound="read", library="blas.matvec(a, x)")
    xa = [("a", Operand((m, n), t)), ("x", Operand((m,), t))]
    case("vector", f"vecmat-{t}", xa, "(la:dot x a)", "x @ a", bytes=m * n * WIDTH[t],
         bound="read", library="blas.matvec(a, x, True)")
# Quantised: 34 bytes for 32 elements. NumPy has no such product; beside it stands that of singles.
ax = [("a", Operand((8192, 4096), "f32")), ("x", Operand((4096,), "f32")), ("q", Quantized("a"))]
case("vector", "matvec-q8-0", ax, "(vec:matvec q x)", "a @ x", bytes=8192 * 4096 * 34 / 32, bound="read")

# Element by element.
N = 1_500_000
for t in ("f32", "f64"):
    one = [("a", Operand((N,), t))]
    positive = [("a", Operand((N,), t, "positive")), ("b", Operand((N,), t))]
    two = [("a", Operand((N,), t)), ("b", Operand((N,), t))]
    four = [(n, Operand((N,), t, "positive")) for n in "abcd"]
    traffic = {"bytes": 2 * N * WIDTH[t]}
    for name in ("exp", "tanh", "sin", "cos"):
        case("elementwise", f"{name}-{t}", one, f"(la:{name} a)", f"np.{name}(a)", **traffic)
    case("elementwise", f"log-{t}", positive, "(la:log a)", "np.log(a)", **traffic)
    case("elementwise", f"erf-{t}", one, "(la:erf a)", "special.erf(a)", **traffic)
    case("elementwise", f"power-{t}", positive, "(la:power a b)", "np.power(a, b)", bytes=3 * N * WIDTH[t])
    for name, op in (("add", "+"), ("mul", "*"), ("less", "<"), ("equal", "=="), ("greater-equal", ">=")):
        case("elementwise", f"{name}-{t}", two, f"(la:{name} a b)", f"a {op} b", bytes=3 * N * WIDTH[t], bound="copy")
    case("elementwise", f"sqrt-{t}", positive, "(la:sqrt a)", "np.sqrt(a)", bound="copy", **traffic)
    case("elementwise", f"muladd-div-{t}", four, "(la:div (la:add (la:mul a b) c) d)",
         "(a * b + c) / d", bytes=5 * N * WIDTH[t], bound="copy")

# Broadcasting and views.
cube = lambda t: ("a", Operand((4, 256, 384), t))
for t in ("f32", "f64"):
    case("broadcast", f"column-{t}", [cube(t), ("b", Operand((4, 256, 1), t))], "(la:sub a b)", "a - b")
    case("broadcast", f"row-{t}", [cube(t), ("b", Operand((384,), t))], "(la:mul a b)", "a * b")
    case("broadcast", f"transpose-021-{t}", [cube(t)], "(la:copy (la:transpose a '(0 2 1)))",
         "a.transpose(0, 2, 1).copy()")
    case("broadcast", f"transpose-add-{t}", [("a", Operand((1024, 1024), t))],
         "(la:add a (la:transpose a))", "a + a.T")
    case("broadcast", f"concatenate-{t}", [cube(t)], "(la:concatenate (list a a) :axis 1)",
         "np.concatenate([a, a], axis=1)")

# Folds and scans.
for t in ("f32", "f64"):
    for name in ("sum", "mean", "var", "amax"):
        numpy_name = {"amax": "max"}.get(name, name)
        case("fold", f"{name}-{t}", [cube(t)], f"(la:{name} a)", f"a.{numpy_name}()")
        for axis in (0, 1, 2):
            case("fold", f"{name}-axis{axis}-{t}", [cube(t)], f"(la:{name} a :axis {axis})",
                 f"a.{numpy_name}(axis={axis})")
    case("fold", f"argmax-axis2-{t}", [cube(t)], "(la:argmax a :axis 2)", "a.argmax(axis=2)")
    case("fold", f"norm-{t}", [cube(t)], "(la:norm a)", "np.linalg.norm(a)")
    for axis in (0, 1, 2):
        case("fold", f"cumsum-axis{axis}-{t}", [cube(t)], f"(la:cumsum a :axis {axis})",
             f"a.cumsum(axis={axis})")

# Rows.
for t in ("f32", "f64"):
    for axis in (0, 1, 2):
        case("row", f"softmax-axis{axis}-{t}", [cube(t)], f"(la:softmax a :axis {axis})",
             f"special.softmax(a, axis={axis})")
    case("row", f"logsumexp-{t}", [cube(t)], "(la:logsumexp a :axis -1)", "special.logsumexp(a, axis=-1)")
    case("row", f"layer-norm-{t}", [cube(t)], "(linalg::%la-layer-norm a 1d-5)",
         "(a - a.mean(-1, keepdims=True)) / np.sqrt(a.var(-1, keepdims=True) + 1e-5)")

# Sorting and selecting.
for t in ("f32", "f64", "i64"):
    keys = Operand((N,), t, "below", 1 << 30) if t == "i64" else Operand((N,), t)
    case("index", f"sort-{t}", [("a", keys)], "(la:sort a)", "np.sort(a)")
for t in ("f32", "f64"):
    case("index", f"argsort-{t}", [("a", Operand((N,), t))], "(la:argsort a)", "np.argsort(a, kind='stable')")
    for axis in (0, 1):
        case("index", f"sort-rows-axis{axis}-{t}", [("a", Operand((1024, 512), t))],
             f"(la:sort a :axis {axis})", f"np.sort(a, axis={axis})")
    rows = [("a", Operand((4096, 256), t)), ("i", Operand((8192,), "i64", "below", 4096))]
    case("index", f"take-rows-{t}", rows, "(la:take-rows a i)", "a[i]")
    along = [("a", Operand((4096, 256), t)), ("i", Operand((4096,), "i64", "below", 256))]
    case("index", f"gather-{t}", along, "(la:gather a i)", "a[np.arange(4096), i]")
    added = rows + [("s", Operand((8192, 256), t))]
    case("index", f"scatter-add-{t}", added, "(la:scatter-add a i s)",
         "(lambda c: (np.add.at(c, i, s), c)[1])(a.copy())")
    pair = [("v", Operand((4096,), t)), ("x", Operand((100_000,), t))]
    case("index", f"searchsorted-{t}", pair, "(la:searchsorted (la:sort v) x)",
         "np.searchsorted(np.sort(v), x)")
    case("index", f"unique-{t}", [("a", Operand((200_000,), t))], "(la:unique a)",
         "np.unique(a, return_index=True, return_inverse=True, return_counts=True)")

# Linear systems; our bits are the contract's, in f64 whatever the width.
for n in (64, 256, 1024):
    system = [("a", Operand((n, n), "f64", "spd")), ("b", Operand((n, 1)))]
    case("solve", f"solve-{n}", system, "(la:solve a b)", "np.linalg.solve(a, b)", flops=2 / 3 * n**3)
    case("solve", f"inv-{n}", system, "(la:inv a)", "np.linalg.inv(a)", flops=2 * n**3)
    symmetric = [("m", Operand((n, n), "f64", "spd"))]
    case("solve", f"cholesky-{n}", symmetric, "(la:cholesky (la:add m (la:transpose m)))",
         "np.linalg.cholesky(m + m.T)", flops=n**3 / 3)
case("solve", "eigh-256", [("m", Operand((256, 256), "f64", "spd"))],
     "(la:eigh (la:add m (la:transpose m)))", "np.linalg.eigh(m + m.T)")
case("solve", "svd-256", [("m", Operand((256, 256)))], "(la:svd m)", "np.linalg.svd(m)")
case("solve", "fft-65536", [("a", Operand((65536,)))], "(la:rfft a)", "np.fft.rfft(a)")

# Small calls.
for n in (4, 1000):
    for t in ("f32", "f64"):
        case("small", f"add-{n}-{t}", [("a", Operand((n,), t)), ("b", Operand((n,), t))],
             "(la:add a b)", "a + b")
case("small", "exp-4-f64", [("a", Operand((4,)))], "(la:exp a)", "np.exp(a)")
case("small", "sum-4-f64", [("a", Operand((4,)))], "(la:sum a)", "a.sum()")
case("small", "zeros-4-f64", [], "(la:zeros 4)", "np.zeros(4)")
case("small", "matmul-4x4-f64", [("a", Operand((4, 4))), ("b", Operand((4, 4)))], "(la:matmul a b)", "a @ b")

# Random numbers: other generators, the same distributions. The walk is our definition, one number at a time.
case("random", "rand-f64", [], f"(la:rand {N})", f"np.random.random({N})", walk=True)
case("random", "randn-f64", [], f"(la:randn {N})", f"np.random.standard_normal({N})", walk=True)
