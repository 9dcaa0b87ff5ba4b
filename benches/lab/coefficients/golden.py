"""Golden values of the elementary functions for crates/math/tests/accuracy.rs.

Run from this folder:  /tmp/v/bin/python golden.py   (mpmath and gmpy2; about a minute)
Writes crates/math/tests/golden/<function>_<width>.bin. A record is, little endian: the bits of
x, the bits of the correctly rounded value y, and a signed byte (true - y) / ulp(y) * 254. Points
are stratified: specials, tiny, uniform, the whole exponent range, and each function's hard places.
"""

import math
import pathlib
import random
import struct

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
    return float(result), float((value - result) / ulp)


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


def special(name, x):
    """The value at NaN and infinities, or None; zero results keep the sign of odd functions."""
    if math.isnan(x):
        return math.nan
    if name == "log" and x <= 0:
        return -math.inf if x == 0 else math.nan
    if name == "exp" and abs(x) > 1e4:
        return math.inf if x > 0 else 0.0
    if x == 0 and name in ("tanh", "sin", "erf"):
        return x
    if math.isinf(x):
        return {"exp": math.inf if x > 0 else 0.0, "log": math.inf, "sin": math.nan,
                "cos": math.nan}.get(name, math.copysign(1, x))
    return None


def write(name, function, width, points):
    with open(FOLDER / f"{name}_{width}.bin", "wb") as file:
        for x in points.list:
            y, rest = special(name, x), 0.0
            if y is None:
                with mp.workdps(400 if name in ("sin", "cos") and abs(x) > 1e4 else 60):
                    y, rest = nearest(function(mp.mpf(x)), width)
            file.write(bits_of(x, width) + bits_of(y, width))
            file.write(struct.pack("b", round(rest * 254)))


if __name__ == "__main__":
    FOLDER.mkdir(exist_ok=True)
    for width in WIDTHS:
        single = width == 32
        fills = {
            "exp": (mp.exp, lambda p: exp_points(p, *((-87, 88.7) if single else (-708, 709.7)))),
            "log": (mp.log, log_points),
            "tanh": (mp.tanh, lambda p: odd_points(p, 9.5 if single else 20, (9.01, 19.06, 10, 20))),
            "sin": (mp.sin, lambda p: turn_points(p, 2048 if single else 262144)),
            "cos": (mp.cos, lambda p: turn_points(p, 2048 if single else 262144)),
            "erf": (mp.erf, lambda p: odd_points(p, 4 if single else 6, (0.68, 0.69, 0.7, 3.92, 5.92, 4, 6))),
        }
        for name, (function, fill) in fills.items():
            points = Points(width, f"{name} {width}")
            fill(points)
            write(name, function, width, points)
            print(name, width, len(points.list), "points", flush=True)
