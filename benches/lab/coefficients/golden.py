"""Golden values of the elementary functions for crates/math/tests/accuracy.rs.

Run from this folder:  python3 golden.py   (needs mpmath and gmpy2; about a minute)
With names (tan power ...) it writes those functions alone.
Writes crates/math/tests/golden/<function>_<width>.bin. A record is, little endian: the bits of
x (and, for a function of two numbers, of the second), the bits of the correctly rounded value y,
and a signed byte (true - y) / ulp(y) * 254. Points are stratified: specials, tiny, uniform, the
whole exponent range, and each function's hard places. The functions of two numbers, whose special
values are a table in their own tests, have only finite points here.
"""

import math
import pathlib
import random
import struct
import sys

import mpmath as mp

FOLDER = pathlib.Path(__file__).resolve().parents[3] / "crates/math/tests/golden"
EACH = 220  # points of a stratum
WIDTHS = {32: ("<I", "<f", 24, -126, 127), 64: ("<Q", "<d", 53, -1022, 1023)}


def narrow(x, width):
    """The float of this width next to x, as a Python float."""
    if width == 64 or math.isinf(x) or math.isnan(x):
        return x
    try:
        return struct.unpack("<f", struct.pack("<f", x))[0]
    except OverflowError:
        return math.copysign(math.inf, x)


def bits_of(x, width):
    code = WIDTHS[width]
    return struct.pack(code[1], x) if not math.isnan(x) else struct.pack(
        code[0], 0x7FC00000 if width == 32 else 0x7FF8 << 48)


def nearest(value, width):
    """Correctly rounded float of an mpf, and (value - float) / ulp(float)."""
    _, _, digits, lowest, highest = WIDTHS[width]
    if value == 0:
        return 0.0, 0.0
    exponent = max(int(mp.floor(mp.log(abs(value), 2))), lowest)
    if abs(value) >= mp.mpf(2) ** (exponent + 1):
        exponent += 1
    ulp = mp.mpf(2) ** (exponent - digits + 1)
    steps = mp.nint(value / ulp)
    result = steps * ulp
    if abs(result) >= mp.mpf(2) ** (highest + 1):
        return math.copysign(math.inf, value), 0.0
    return math.copysign(float(abs(result)), value), float((value - result) / ulp)


def neighbours(x, width, count=2):
    x = narrow(x, width)
    step = abs(x) * 2.0 ** -(WIDTHS[width][2] - 1) or 2.0**-149
    return [narrow(x + i * step, width) for i in range(-count, count + 1)]


class Points:
    def __init__(self, width, seed):
        self.width, self.random, self.list = width, random.Random(seed), []
        _, _, digits, lowest, highest = WIDTHS[width]
        smallest = 2.0 ** lowest * 2.0 ** (1 - digits)
        largest = (2.0 - 2.0 ** (1 - digits)) * 2.0**highest
        for x in (0.0, 1.0, 0.5, 2.0, smallest, 3 * smallest, 2.0**lowest, largest, math.inf):
            self.list += [x, -x]
        self.list.append(math.nan)

    def uniform(self, low, high, count=EACH):
        self.list += [narrow(self.random.uniform(low, high), self.width) for _ in range(count)]

    def powers(self, low, high, signs=(1, -1), count=EACH):
        for _ in range(count):
            size = self.random.uniform(1, 2) * 2.0 ** self.random.randint(low, high)
            self.list.append(narrow(self.random.choice(signs) * size, self.width))

    def near(self, x, count=2):
        self.list += neighbours(x, self.width, count)


def exp_points(p, low, high):
    p.uniform(-1, 1)
    p.uniform(low, high, 3 * EACH)
    p.uniform(low * 1.18, low)
    p.powers(-70, -2)
    p.powers(*WIDTHS[p.width][3:])
    for edge in (-103.97208, -87.33655, 88.72284, -745.1332191, -708.3964185, 709.7827129, 87, -87, 708, -708):
        p.near(edge, 4)
    for n in range(-40, 40):
        p.near((n + 0.5) * math.log(2), 1)


def log_points(p):
    low, high = WIDTHS[p.width][3:]
    p.uniform(0.5, 2, 3 * EACH)
    p.uniform(0.7, 0.72)
    p.uniform(1.4, 1.42)
    p.powers(low, high - 1, (1,), 2 * EACH)
    p.powers(low - 20, low, (1,))
    p.powers(low, high - 1, (-1,), 20)
    for k in range(1, WIDTHS[p.width][2]):
        for sign in (1, -1):
            p.near(1 + sign * p.random.uniform(1, 2) * 2.0**-k, 1)


def odd_points(p, high, edges):
    p.uniform(-1, 1, 2 * EACH)
    p.uniform(-high, high, 3 * EACH)
    p.uniform(0.3, 1.3, 2 * EACH)
    p.powers(-60, -2)
    p.powers(WIDTHS[p.width][3] - 20, -60, count=EACH // 2)
    p.powers(3, WIDTHS[p.width][4] - 1, count=20)
    for edge in edges:
        p.near(edge, 4)


def turn_points(p, limit):
    p.uniform(-1, 1, EACH)
    p.uniform(-4, 4, 2 * EACH)
    p.uniform(-limit, limit, 2 * EACH)
    p.powers(-60, -1)
    p.powers(WIDTHS[p.width][3] - 20, -60, count=30)
    p.powers(8, WIDTHS[p.width][4] - 1, count=3 * EACH)
    p.near(limit)
    with mp.workdps(400):
        quarter = mp.pi / 4
        for n in list(range(1, 60)) + [p.random.randint(60, int(limit)) for _ in range(EACH)]:
            p.near(float(n * quarter), 1)
        for _ in range(EACH):  # far multiples of pi/2
            n = p.random.randint(1, 2 ** p.random.randint(20, WIDTHS[p.width][4] - 3))
            p.near(float(n * 2 * quarter), 1)
    # Closest approach of a double to a multiple of pi/2, and of a single.
    p.list.append(narrow(math.ldexp(6381956970095103, 797), p.width))
    p.list.append(math.ldexp(16367173, 72) if p.width == 32 else math.ldexp(16367173, 72))


def plain_points(p, low, high, spans=(), edges=(), signs=(1, -1), top=None):
    """Uniform in [low, high] and in each span, tiny, and of every size up to 2^top."""
    _, _, _, smallest, largest = WIDTHS[p.width]
    p.uniform(low, high, 2 * EACH)
    for span in spans:
        p.uniform(*span)
    p.powers(-60, -1, signs)
    p.powers(smallest - 20, -60, signs, EACH // 4)
    p.powers(0, largest - 1 if top is None else top, signs, EACH)
    for edge in edges:
        p.near(edge, 4)


def near_points(p, place, sign=0):
    """Points that approach a place from both sides, or one."""
    for k in range(1, WIDTHS[p.width][2] + 2):
        for way in (1, -1) if sign == 0 else (sign,):
            p.near(place + way * p.random.uniform(1, 2) * 2.0**-k, 1)


def log1p_points(p):
    plain_points(p, -1, 3, [(-0.3, 0.5), (0, 50)], (0.41421356, -0.29289322), signs=(1,))
    p.powers(-60, -2)
    near_points(p, -1, 1)


def angle_points(p):
    plain_points(p, -1, 1, [(-4, 4), (0.4, 0.43), (2.3, 2.5)], (0.41421356, 1, 2.41421356, 2.0**64))
    near_points(p, 1)


def side_points(p):
    plain_points(p, -1, 1, [(0.3, 0.5), (0.9, 1), (-1, -0.9)], (0.38268343, 0.92387953), top=1)
    near_points(p, 1, -1)
    near_points(p, -1, 1)


def acosh_points(p):
    plain_points(p, 1, 2, [(1, 30), (1, 1.1)], (2.0**14, 2.0**29), signs=(1,))
    near_points(p, 1, 1)


def root_points(p):
    plain_points(p, -8, 8, [(1, 2), (2, 4), (4, 8)])
    p.list += [narrow(float(n**3), p.width) for n in range(-30, 31)]


def power_points(p):
    """Pairs (x, y) whose power is spread over the whole range of results, and near 1."""
    low, high = WIDTHS[p.width][3:]
    digits, draw = WIDTHS[p.width][2], p.random
    pairs = []
    for _ in range(5 * EACH):  # any x, y so that the result is of any size
        x = narrow(draw.uniform(1, 2) * 2.0 ** draw.randint(low - 20, high - 1), p.width)
        size = math.log2(x) if x > 0 else 0
        if size:
            pairs.append((x, narrow(draw.uniform(low - digits, high + 1) / size, p.width)))
    for _ in range(3 * EACH):  # x near 1, large y
        x = narrow(1 + draw.choice((1, -1)) * draw.uniform(1, 2) * 2.0 ** -draw.randint(1, digits - 1), p.width)
        size = math.log2(x)
        if size:
            pairs.append((x, narrow(draw.uniform(low - digits, high + 1) / size, p.width)))
    for _ in range(2 * EACH):
        pairs.append((narrow(draw.uniform(0, 10), p.width), narrow(draw.uniform(-10, 10), p.width)))
    for _ in range(EACH):  # negative x, whole y
        pairs.append((narrow(-draw.uniform(0, 10), p.width), float(draw.randint(-30, 30))))
    for _ in range(EACH // 2):  # results near 1
        pairs.append((narrow(draw.uniform(0, 4), p.width), narrow(draw.uniform(1, 2) * 2.0 ** -draw.randint(3, 60), p.width)))
    p.list = [(x, y) for x, y in pairs if x and math.isfinite(y)]


def plane_points(p):
    low, high = WIDTHS[p.width][3:]
    draw, size = p.random, lambda lo, hi: p.random.choice((1, -1)) * p.random.uniform(1, 2) * 2.0 ** p.random.randint(lo, hi)
    pairs = [(draw.uniform(-2, 2), draw.uniform(-2, 2)) for _ in range(4 * EACH)]
    pairs += [(size(-30, 30), size(-30, 30)) for _ in range(2 * EACH)]
    pairs += [(size(low - 20, high - 1), size(low - 20, high - 1)) for _ in range(2 * EACH)]
    for _ in range(2 * EACH):  # of like, extreme sizes
        e = draw.choice((draw.randint(low - 20, low + 30), draw.randint(high - 30, high - 1)))
        pairs.append((size(e, e), size(e, e)))
    for _ in range(EACH):  # near the diagonals and the edges of the middle
        x = size(-3, 3)
        pairs.append((x * draw.choice((1, -1, 0.41421356, 2.41421356)) * (1 + size(-50, -8)), x))
    p.list = [(a, b) for a, b in ((narrow(a, p.width), narrow(b, p.width)) for a, b in pairs) if a and b]


LIMITS = {  # the values at -inf and +inf; of the functions that are not odd, cos-like or log-like
    "exp": (0, math.inf), "exp2": (0, math.inf), "expm1": (-1, math.inf), "cosh": (math.inf, math.inf),
    "sin": (math.nan, math.nan), "cos": (math.nan, math.nan), "tan": (math.nan, math.nan),
    "tanh": (-1, 1), "erf": (-1, 1), "erfc": (2, 0), "sigmoid": (0, 1), "softplus": (0, math.inf),
    "atan": (-math.pi / 2, math.pi / 2), "sinh": (-math.inf, math.inf),
    "asinh": (-math.inf, math.inf), "cbrt": (-math.inf, math.inf), "acosh": (math.nan, math.inf),
    "log": (math.nan, math.inf), "log2": (math.nan, math.inf), "log10": (math.nan, math.inf),
    "log1p": (math.nan, math.inf), "atanh": (math.nan, math.nan), "asin": (math.nan, math.nan),
    "acos": (math.nan, math.nan),
}
ODD = "tanh sin erf tan sinh atan asin asinh atanh cbrt expm1 log1p".split()


def special(name, x, width):
    """The value outside the domain, at NaN and infinities, and far away, or None; zero results
    keep the sign of odd functions."""
    if math.isnan(x):
        return math.nan
    if x == 0 and name in ODD:
        return x
    if name in ("log", "log2", "log10") and x <= 0:
        return -math.inf if x == 0 else math.nan
    if name == "log1p" and x <= -1:
        return -math.inf if x == -1 else math.nan
    if name == "atanh" and abs(x) >= 1:
        return math.copysign(math.inf, x) if abs(x) == 1 else math.nan
    if (name in ("asin", "acos") and abs(x) > 1) or (name == "acosh" and x < 1):
        return math.nan
    far = name in "exp exp2 expm1 cosh sinh erfc sigmoid".split() and abs(x) > 1e4
    if math.isinf(x) or far or (name == "softplus" and x < -1e4):
        return narrow(float(LIMITS[name][x > 0]), width)
    return None


def cube_root(x):
    return mp.cbrt(x) if x > 0 else -mp.cbrt(-x)


def write(name, function, width, points):
    with open(FOLDER / f"{name}_{width}.bin", "wb") as file:
        for x in points.list:
            arguments = x if isinstance(x, tuple) else (x,)
            y, rest = special(name, x, width) if len(arguments) == 1 else None, 0.0
            if y is None:
                far = name in ("sin", "cos", "tan", "softplus", "expm1") and abs(x) > 1e4
                near = name in ("acosh", "cosh", "log1p", "asinh", "atanh", "atan2", "log")
                with mp.workdps(400 if far else 350 if near else 60):
                    y, rest = nearest(function(*map(mp.mpf, arguments)), width)
            file.write(b"".join(bits_of(a, width) for a in (*arguments, y)))
            file.write(struct.pack("b", round(rest * 254)))


if __name__ == "__main__":
    FOLDER.mkdir(exist_ok=True)
    for width in WIDTHS:
        single = width == 32
        high = 89.4 if single else 710.4
        fills = {
            "exp": (mp.exp, lambda p: exp_points(p, *((-87, 88.7) if single else (-708, 709.7)))),
            "log": (mp.log, log_points),
            "tanh": (mp.tanh, lambda p: odd_points(p, 9.5 if single else 20, (9.01, 19.06, 10, 20))),
            "sin": (mp.sin, lambda p: turn_points(p, 2048 if single else 262144)),
            "cos": (mp.cos, lambda p: turn_points(p, 2048 if single else 262144)),
            "erf": (mp.erf, lambda p: odd_points(p, 4 if single else 6, (0.68, 0.69, 0.7, 3.92, 5.92, 4, 6))),
            "tan": (mp.tan, lambda p: turn_points(p, 2048 if single else 262144)),
            "sinh": (mp.sinh, lambda p: plain_points(p, -2, 2, [(0.9, 1.1), (1, 20), (-high, high), (high - 3, high)], (1,), top=9)),
            "cosh": (mp.cosh, lambda p: plain_points(p, -2, 2, [(1, 20), (-high, high), (high - 3, high)], top=9)),
            "atan": (mp.atan, angle_points),
            "asin": (mp.asin, side_points),
            "acos": (mp.acos, side_points),
            "expm1": (mp.expm1, lambda p: plain_points(p, -1, 1, [(0.3, 0.4), (-0.4, -0.3), (-40, 40), (0, high), (high - 3, high)], (0.34657, -0.34657), top=9)),
            "log1p": (mp.log1p, log1p_points),
            "exp2": (lambda x: mp.power(2, x), lambda p: plain_points(p, -1, 1, [(-130, 130), (-1075, 1024), (-150, -125)], (128, -126, -149.5, 1024, -1022, -1074.5), top=10)),
            "log2": (lambda x: mp.log(x, 2), log_points),
            "log10": (mp.log10, log_points),
            "power": (mp.power, power_points),
            "atan2": (mp.atan2, plane_points),
            "asinh": (mp.asinh, lambda p: plain_points(p, -1, 1, [(-4, 4), (0, 100)], (2.0**14, 2.0**29))),
            "acosh": (mp.acosh, acosh_points),
            "atanh": (mp.atanh, lambda p: (plain_points(p, -1, 1, [(-0.3, 0.3)], top=1), near_points(p, 1, -1))),
            "cbrt": (cube_root, root_points),
            "erfc": (mp.erfc, lambda p: plain_points(p, -1, 1, [(0.6, 4), (-6, 6), (0, 10.5), (5, 27.5), (26, 27.3)], (0.5,), top=5)),
            "hypot": (mp.hypot, plane_points),
            "sigmoid": (lambda x: 1 / (1 + mp.exp(-x)), lambda p: plain_points(p, -1, 1, [(-40, 40), (-high, high)], top=10)),
            "softplus": (lambda x: mp.log1p(mp.exp(x)), lambda p: plain_points(p, -1, 1, [(-40, 40), (-high, high)], top=10)),
        }
        for name, (function, fill) in fills.items():
            if sys.argv[1:] and name not in sys.argv[1:]:
                continue
            points = Points(width, f"{name} {width}")
            fill(points)
            write(name, function, width, points)
            print(name, width, len(points.list), "points", flush=True)
