"""Golden values for the double-double reference of `cargo xtask exhaustive`.

Run from this folder:  python3 reference.py   (needs mpmath; about half a minute)
Writes xtask/src/exhaustive/golden.txt: a function, the bits of its one or two f64 arguments (the
second 0 where there is none), and the true value as (high + low) 2^exponent with the bits of high, in
[1, 2], and low. `reference.py constants` prints the constants of double.rs and angle.rs.
"""

import pathlib
import random
import struct
import sys

import mpmath as mp

FILE = pathlib.Path(__file__).resolve().parents[3] / "xtask/src/exhaustive/golden.txt"
mp.mp.dps = 200
R = random.Random(7)

UNARY = {
    "exp": mp.exp, "log": mp.log, "tanh": mp.tanh, "sin": mp.sin, "cos": mp.cos, "erf": mp.erf,
    "tan": mp.tan, "asin": mp.asin, "acos": mp.acos, "atan": mp.atan, "sinh": mp.sinh,
    "cosh": mp.cosh, "expm1": mp.expm1, "log1p": mp.log1p, "exp2": lambda x: mp.power(2, x),
    "log2": lambda x: mp.log(x) / mp.log(2), "log10": lambda x: mp.log(x) / mp.log(10),
    "asinh": mp.asinh, "acosh": mp.acosh, "atanh": mp.atanh, "cbrt": lambda x: mp.sign(x) * mp.cbrt(abs(x)),
    "erfc": mp.erfc, "sigmoid": lambda x: 1 / (1 + mp.exp(-x)), "softplus": lambda x: mp.log1p(mp.exp(x)),
}
BINARY = {"power": mp.power, "atan2": mp.atan2, "hypot": lambda a, b: mp.sqrt(a * a + b * b)}
POSITIVE = {"log", "log2", "log10"}
INSIDE = {"asin", "acos", "atanh"}
EVERYWHERE = {"sin", "cos", "tan", "atan", "asinh", "cbrt"} | POSITIVE
LARGEST = {"erfc": 50.0, "exp": 2000.0, "exp2": 2000.0, "sinh": 2000.0, "cosh": 2000.0, "sigmoid": 500.0,
           "softplus": 500.0, "expm1": 2000.0, "tanh": 15.0, "erf": 5.0}


def bits(x):
    return f"{struct.unpack('<Q', struct.pack('<d', x))[0]:016x}"


def draw(name):
    low, high = (-300, 300) if name in EVERYWHERE else (-30, 12)
    if R.random() < 0.5:
        low, high = -8, 4
    x = R.uniform(1, 2) * 2.0 ** R.randint(low, high) * R.choice([-1, 1])
    if R.random() < 0.15:
        x = R.choice([1.0, -1.0, 0.5, 2.0]) * (1 + R.uniform(-1, 1) * 2.0 ** -R.randint(1, 50))
    if R.random() < 0.1 and name in {"sin", "cos", "tan"}:
        x = float(R.randint(1, 2**40) * mp.pi / 2)
    x = abs(x) if name in POSITIVE else x
    x = x / 2.0 ** (int(mp.log(abs(x), 2)) + 1) if name in INSIDE and abs(x) >= 1 else x
    x = 1 + abs(x) if name == "acosh" else x
    x = (2 + x) / 1.7 if name == "log1p" and x <= -1 and x > -2 else abs(x) if name == "log1p" and x <= -1 else x
    return max(min(x, LARGEST.get(name, x)), -LARGEST.get(name, -x))


def line(name, arguments, value):
    exponent = int(mp.floor(mp.log(abs(value), 2)))
    number = value / mp.mpf(2) ** exponent
    high = float(number)
    low = float(number - mp.mpf(high))
    return f"{name} {bits(arguments[0])} {bits(arguments[1])} {bits(high)} {bits(low)} {exponent}"


def golden():
    lines = ["# Printed by benches/lab/coefficients/reference.py; do not edit."]
    for name, function in UNARY.items():
        while sum(text.startswith(name + " ") for text in lines) < 90:
            x = draw(name)
            value = function(mp.mpf(x))
            if value != 0:
                lines.append(line(name, (x, 0.0), value))
    for name, function in BINARY.items():
        while sum(text.startswith(name + " ") for text in lines) < 90:
            a, b = draw("sin"), draw("sin")
            if name == "power":
                a = abs(a)
                b = float(R.uniform(-709, 709) / mp.log(a)) if R.random() < 0.7 else R.uniform(-9, 9)
            value = function(mp.mpf(a), mp.mpf(b))
            if value != 0 and abs(mp.log(abs(value), 2)) < 1000 and abs(b) < 1e300:
                lines.append(line(name, (a, b), value))
    FILE.write_text("\n".join(lines) + "\n")


def constants():
    for name, value in [("LN_2", mp.log(2)), ("HALF_PI", mp.pi / 2), ("LOG2_E", 1 / mp.log(2)),
                        ("LOG10_E", 1 / mp.log(10)), ("TWO_OVER_ROOT_PI", 2 / mp.sqrt(mp.pi))]:
        high = float(value)
        print(name, repr(high), repr(float(value - mp.mpf(high))))
    mp.mp.prec = 1800
    whole = int(mp.floor(mp.ldexp(2 / mp.pi, 64 * 21)))
    print(*(f"0x{whole >> (64 * i) & (2**64 - 1):016X}," for i in range(20, -1, -1)))


if __name__ == "__main__":
    constants() if sys.argv[1:] == ["constants"] else golden()
