"""Coefficients of the elementary functions of crates/math, by Remez exchange in high precision.

Run:   python3 fit.py   (needs mpmath and gmpy2)
       python3 fit.py > ../../../crates/math/src/coefficients.rs && cargo fmt -p rung-math
Prints that file: the constants and, for Payne-Hanek, the bits of 2/pi, with the error of each
fit in bits. With names (exp log sin erf pair atan sinh tanh erfc) it prints those families alone.
On an interval that starts at 0 the lowest coefficients are rounded one by one and the rest is
fitted again, so that a rounding error is made good by the powers above it; the best try is kept.
"""

import struct
import sys

import mpmath as mp

mp.mp.dps = 70


def remez(target, weight, low, high, count, first=0):
    """c with max |weight * (sum c_i u^(first + i) - target)| least on [low, high]."""
    middle, half = (low + high) / 2, (high - low) / 2
    spread = lambda n: [nonzero(middle - half * mp.cos(mp.pi * i / n)) for i in range(n + 1)]
    nodes, grid = spread(count), spread(24 * count)
    values = [(u, target(u), weight(u)) for u in grid]
    value = lambda c, u: u**first * mp.polyval(c[::-1], u)
    for _ in range(12):
        powers = [[u ** (first + i) for i in range(count)] for u in nodes]
        rows = [p + [(-1) ** j / weight(nodes[j])] for j, p in enumerate(powers)]
        solved = mp.lu_solve(mp.matrix(rows), mp.matrix([target(u) for u in nodes]))
        c, level = list(solved)[:count], abs(solved[count])
        errors = [w * (value(c, u) - t) for u, t, w in values]
        best = [0]
        for i in range(1, len(grid)):  # the largest error of each run of one sign
            if (errors[i] > 0) == (errors[best[-1]] > 0):
                if abs(errors[i]) > abs(errors[best[-1]]):
                    best[-1] = i
            else:
                best.append(i)
        while len(best) > count + 1:
            best.pop(0 if abs(errors[best[0]]) < abs(errors[best[-1]]) else -1)
        if len(best) < count + 1 or max(abs(e) for e in errors) < level * 1.01:
            break
        nodes = [grid[i] for i in best]
    return c, max(abs(e) for e in errors)


def rounded(value, bits):
    """Round to nearest with this many significant bits."""
    mantissa, exponent = mp.frexp(value)
    return mp.ldexp(mp.nint(mp.ldexp(mantissa, bits)), int(exponent) - bits)


def fit(name, target, weight, low, high, count, bits, apart=False):
    """Prints a polynomial in one variable whose coefficients have `bits` significant bits."""
    low, high = mp.mpf(low), mp.mpf(high)
    c, unrounded = remez(target, weight, low, high, count)
    plain = [rounded(v, bits) for v in c]
    span = [nonzero(low + (high - low) * mp.mpf(i) / 2000) for i in range(2001)]
    exact = [(u, target(u), weight(u)) for u in span]
    worst = lambda c: max(abs(w * (mp.polyval(c[::-1], u) - t)) for u, t, w in exact)
    candidates = [plain]
    for refits in (1, 2, 4, count - 1) if low == 0 else ():
        fixed = list(plain)
        for done in range(1, min(refits, count - 1) + 1):
            rest = lambda u: target(u) - mp.polyval(fixed[done - 1 :: -1], u)
            c, _ = remez(rest, weight, high / 50, high, count - done, done)
            fixed[done:] = [rounded(v, bits) for v in c]
        candidates.append(fixed)
    fixed = min(candidates, key=worst)
    error = worst(fixed)
    print(f"// {name}: error 2^{float(mp.log(error, 2)):.1f} (unrounded 2^{float(mp.log(unrounded, 2)):.1f})")
    if apart:
        print(f"pub(crate) const {name}_FIRST: f64 = {float(fixed.pop(0))!r};")
    print(f"pub(crate) const {name}: [f64; {len(fixed)}] = [")
    for c in fixed:
        print(f"    {float(c)!r},")
    print("];", flush=True)


def parts(name, value, widths, grids=()):
    """Cuts a constant into parts of the given numbers of bits, each truncated; the last rounds.
    grids, where given, are the exponents of the parts' lowest bits instead."""
    print(f"pub(crate) const {name}: [f64; {len(widths)}] = [")
    for i, bits in enumerate(widths):
        lowest = grids[i] if i < len(grids) else int(mp.frexp(value)[1]) - bits
        cut = mp.floor if i + 1 < len(widths) else mp.nint
        part = mp.ldexp(cut(mp.ldexp(value, -lowest)), lowest)
        print(f"    {float(part)!r},")
        value -= part
    print("];")


def words(name, size, count):
    """One zero word, then the bits of 2/pi in words of this many bits, filled up to count."""
    with mp.workprec(size * count + 64):
        bits = int(mp.floor(mp.ldexp(2 / mp.pi, size * (count - 1))))
    print(f"pub(crate) static {name}: [u64; {count}] = [\n    0,")
    for i in range(count - 2, -1, -1):
        print(f"    0x{(bits >> (size * i)) & ((1 << size) - 1):0{size // 4}X},")
    print("];")


def float_bits(value, bits):
    code = ("<f", "<I") if bits == 24 else ("<d", "<Q")
    return struct.unpack(code[1], struct.pack(code[0], float(value)))[0]


def table(name, values, bits):
    """A table for `Bits::lookup`: the bits of floats."""
    print(f"pub(crate) static {name}: [u64; {len(values)}] = [")
    for value in values:
        print(f"    {float_bits(value, bits):#x},")
    print("];", flush=True)


def root_table(name, bits):
    """2^(j / 16) as a sum of two floats."""
    exact = [mp.mpf(2) ** (mp.mpf(j) / 16) for j in range(16)]
    high = [rounded(v, bits) for v in exact]
    table(f"{name}_HIGH", high, bits)
    table(f"{name}_LOW", [rounded(v - h, bits) if v != h else mp.mpf(0) for v, h in zip(exact, high)], bits)


def log_table(name, bits, short, lowest, count):
    """Sixteen intervals of mantissas from about 0.698 to 1.396, equal in the bits of floats, the one
    around 1 even on both sides. For each a short inverse of its middle, c, and -log c as a multiple
    of 2^lowest and a rest; then the polynomial for (log(1 + r) - r + r^2/2) / r^3."""
    mantissa = bits - 1
    unit = 1 << (mantissa - 4)
    start = float_bits(1.0, bits) - (9 * unit + (2 * unit + 1) // 3)
    code = ("<I", "<f") if bits == 24 else ("<Q", "<d")
    number = lambda b: mp.mpf(struct.unpack(code[1], struct.pack(code[0], b))[0])
    inverses, widest = [], mp.mpf(0)
    for j in range(16):
        low, high = number(start + j * unit), number(start + (j + 1) * unit)
        inverse = mp.mpf(1) if low < 1 < high else rounded(2 / (low + high), short)
        # Next above 1 the logarithm is small beside r^3 at the lower end, so c is nearer to that.
        inverse = rounded(mp.mpf("0.9755") / low, short) if j == 10 else inverse
        widest = max(widest, abs(low * inverse - 1), abs(high * inverse - 1))
        inverses.append(inverse)
    logs = [-mp.log(v) for v in inverses]
    high = [mp.ldexp(mp.nint(mp.ldexp(v, -lowest)), lowest) for v in logs]
    print(f"// LOG_TABLE_{name}: |r| <= {float(widest):.5f}")
    print(f"pub(crate) const LOG_TABLE_{name}_START: u64 = {start:#x};")
    table(f"LOG_TABLE_{name}_INVERSE", inverses, bits)
    table(f"LOG_TABLE_{name}_HIGH", high, bits)
    table(f"LOG_TABLE_{name}_LOW", [rounded(v - h, bits) if v != h else mp.mpf(0) for v, h in zip(logs, high)], bits)
    fit(f"LOG_TABLE_{name}", log_rest, lambda u: abs(u**3 / mp.log1p(nonzero(u))), -widest, widest, count, bits)


def nonzero(u, small=mp.mpf(10) ** -12):
    """Removable singularities are stepped over."""
    return u if abs(u) > small else small


def exp_rest(u):
    u = nonzero(u)
    return (mp.expm1(u) - u) / u**2


def log_rest(u):
    u = nonzero(u)
    return (mp.log1p(u) - u + u * u / 2) / u**3


def log_quotient(z):
    s = mp.sqrt(nonzero(z))
    return (2 * mp.atanh(s) - 2 * s) / s / s**2


def sin_rest(z):
    x = mp.sqrt(nonzero(z))
    return (mp.sin(x) - x) / x**3


def cos_rest(z):
    z = nonzero(z)
    return (mp.cos(mp.sqrt(z)) - 1 + z / 2) / z**2


def erf_rest(z):
    x = mp.sqrt(nonzero(z))
    return mp.erf(x) / x - 1


def atan_rest(z):
    x = mp.sqrt(nonzero(z))
    return (mp.atan(x) - x) / x**3


def tanh_rest(z):
    x = mp.sqrt(nonzero(z))
    return (mp.tanh(x) - x) / x**3


def sinh_rest(z):
    x = mp.sqrt(nonzero(z))
    return (mp.sinh(x) - x) / x**3


EXP = (-0.3467, 0.3467)
EXP_16TH = (-mp.mpf("0.02169"), mp.mpf("0.02169"))
LOG = (mp.sqrt(0.5) - 1, mp.sqrt(2) - 1)
QUARTER = (0, (mp.pi / 4) ** 2 * mp.mpf("1.0001"))


def erf_tail(name, start, end, count, bits, floor):
    """-log(erfc(x)) in u = x - start; the error counts by how much it moves 1 - exp(-g).

    start is taken from a short list so that the first coefficient happens to need no rounding.
    """
    g = lambda x: -mp.log(mp.erfc(x))
    starts = [mp.ldexp(mp.nint(mp.mpf(start) * 1024) + i, -10) for i in range(24)]
    start = min(starts, key=lambda x: abs(g(x) - rounded(g(x), bits)))
    print(f"pub(crate) const {name}_START: f64 = {float(start)!r};")
    weight = lambda u: mp.erfc(u + start) + mp.mpf(2) ** floor
    fit(name, lambda u: g(u + start), weight, 0, mp.mpf(end) - start, count, bits, apart=True)


def erfc_ratio(name, centre, start, end, count, bits):
    """(1 + 2x) e^(x^2) erfc(x) less its value at the centre c, over t = (x - c)/(x + c).

    c is taken from a short list so that the value there happens to need no rounding.
    """
    ratio = lambda x: (1 + 2 * x) * mp.exp(x * x) * mp.erfc(x)
    centres = [mp.mpf(centre) + mp.ldexp(i, -10) for i in range(128)]
    c = min(centres, key=lambda x: abs(ratio(x) - rounded(ratio(x), bits)))
    first = rounded(ratio(c), bits)
    x = lambda t: c * (1 + t) / (1 - t)
    t = lambda x: (x - c) / (x + c)
    print(f"pub(crate) const {name}_CENTRE: f64 = {float(c)!r};")
    print(f"pub(crate) const {name}_FIRST: f64 = {float(first)!r};")
    small = mp.mpf(10) ** -6
    target = lambda u: (ratio(x(nonzero(u, small))) - first) / nonzero(u, small)
    weight = lambda u: abs(nonzero(u, small)) / ratio(x(u))
    fit(name, target, weight, t(mp.mpf(start)), t(mp.mpf(end)), count, bits)


def pair(name, value):
    """A constant as the sum of two numbers of each width."""
    for bits, width in ((24, 32), (53, 64)):
        high = rounded(value, bits)
        low = rounded(value - high, bits)
        print(f"pub(crate) const {name}_PAIR_{width}: [f64; 2] = [{float(high)!r}, {float(low)!r}];")


HEADER = """\
//! Coefficients and constants of the elementary functions, printed by
//! benches/lab/coefficients/fit.py; do not edit by hand. Suffixes name the width whose bits each
//! number exactly has. "error" is the fit's own, relative to the function's result, before any
//! rounding of the evaluation. Which polynomial each belongs to is said where it is used.
#![allow(clippy::approx_constant)] // Leading parts of ln 2 and pi/2 are meant to differ from them.
"""

FITS = {
    "exp": lambda: (
        fit("EXP_32", exp_rest, lambda u: nonzero(u) ** 2 / mp.exp(u), *EXP_16TH, 2, 24),
        fit("EXP_64", exp_rest, lambda u: nonzero(u) ** 2 / mp.exp(u), *EXP_16TH, 5, 53),
        fit("EXPM1_32", exp_rest, lambda u: abs(nonzero(u)), *EXP, 6, 24),
        fit("EXPM1_64", exp_rest, lambda u: abs(nonzero(u)), *EXP, 11, 53),
        parts("LN2_32", mp.log(2), [15, 24]),
        parts("LN2_64", mp.log(2), [42, 53]),
        parts("LN2_16TH_32", mp.log(2) / 16, [12, 24]),
        parts("LN2_16TH_64", mp.log(2) / 16, [38, 53]),
        root_table("ROOT_32", 24),
        root_table("ROOT_64", 53),
    ),
    "log": lambda: (
        log_table("32", 24, 12, -15, 4),
        log_table("64", 53, 26, -42, 9),
        fit("LOG_32", log_rest, lambda u: abs(u**3 / mp.log1p(nonzero(u))), *LOG, 9, 24),
        fit("LOG_64", log_quotient, lambda z: nonzero(z) / 2, 0, "0.02944", 7, 53),
    ),
    "sin": lambda: (
        fit("SIN_32", sin_rest, nonzero, *QUARTER, 3, 24),
        fit("SIN_64", sin_rest, nonzero, *QUARTER, 6, 53),
        fit("COS_32", cos_rest, lambda z: nonzero(z) ** 2, *QUARTER, 3, 24),
        fit("COS_64", cos_rest, lambda z: nonzero(z) ** 2, *QUARTER, 6, 53),
        parts("HALF_PI_32", mp.pi / 2, [12, 12, 12, 24], (-11, -23, -35)),
        parts("HALF_PI_64", mp.pi / 2, [27, 27, 27, 53], (-26, -53, -80)),
        parts("HALF_PI_SPLIT_32", mp.pi / 2, [12, 12, 24]),
        parts("HALF_PI_SPLIT_64", mp.pi / 2, [26, 26, 53]),
        words("TWO_OVER_PI_32", 32, 16),
        words("TWO_OVER_PI_64", 64, 32),
    ),
    "erf": lambda: (
        fit("ERF_32", erf_rest, lambda z: 1, 0, mp.mpf("0.71") ** 2, 6, 24, apart=True),
        fit("ERF_64", erf_rest, lambda z: 1, 0, mp.mpf("0.71") ** 2, 11, 53, apart=True),
        erf_tail("ERF_TAIL_32", "0.68", 4, 8, 24, -30),
        erf_tail("ERF_TAIL_64", "0.68", 6, 20, 53, -60),
    ),
    "pair": lambda: (
        pair("LOG2_E", 1 / mp.log(2)),
        pair("LOG10_E", 1 / mp.log(10)),
        pair("PI", mp.pi),
    ),
    "atan": lambda: (
        fit("ATAN_32", atan_rest, nonzero, 0, "0.1717", 6, 24),
        fit("ATAN_64", atan_rest, nonzero, 0, "0.1717", 12, 53),
    ),
    "sinh": lambda: (
        fit("SINH_32", sinh_rest, nonzero, 0, "1.0001", 4, 24),
        fit("SINH_64", sinh_rest, nonzero, 0, "1.0001", 7, 53),
    ),
    "tanh": lambda: (
        fit("TANH_32", tanh_rest, nonzero, 0, mp.mpf("0.55") ** 2, 5, 24),
        fit("TANH_64", tanh_rest, nonzero, 0, mp.mpf("0.55") ** 2, 11, 53),
    ),
    "erfc": lambda: (
        erfc_ratio("ERFC_32", 2, "0.49", "10.2", 11, 24),
        erfc_ratio("ERFC_64", 3, "0.49", "27.3", 23, 53),
    ),
}

if __name__ == "__main__":
    if not sys.argv[1:]:
        print(HEADER)
    for name in sys.argv[1:] or FITS:
        FITS[name]()
