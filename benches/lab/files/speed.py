"""Reading and writing 64 MiB arrays and a table of 2 million numbers, against NumPy, pandas and the
safetensors package.

    cargo build --release -p rung-files --example speed
    python3 benches/lab/files/speed.py target/release/examples/speed FOLDER [WORD]

Both sides take turns, one thread each, files in the page cache; the ratio is the peer's median time
by ours, so above 1 we are faster. WORD chooses lines.
"""

import os
import pathlib
import statistics
import subprocess
import sys
import time

os.environ["OMP_NUM_THREADS"] = "1"
import numpy
import pandas
import safetensors.numpy

REPEATS = 11


def main():
    folder = pathlib.Path(sys.argv[2])
    word = sys.argv[3] if len(sys.argv) > 3 else ""
    ours = subprocess.Popen(
        [sys.argv[1]], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, bufsize=1
    )
    array = ((numpy.arange(16 << 20) % 1000).astype("f4") * numpy.float32(0.37)).reshape(4096, 4096)
    random = numpy.random.default_rng(1)
    floats = random.normal(size=(200_000, 10))
    small = random.integers(0, 17, size=(400_000, 10))
    table = array.reshape(-1)[:2_000_000].reshape(200_000, 10)
    path = {name: folder / name for name in ["a.npy", "a.npz", "d.npz", "a.st", "f.csv", "i.csv"]}
    numpy.save(path["a.npy"], array)
    numpy.savez(path["a.npz"], x=array)
    numpy.savez_compressed(path["d.npz"], x=array)
    safetensors.numpy.save_file({"x": array}, path["a.st"])
    pandas.DataFrame(floats).to_csv(path["f.csv"], index=False, header=False)
    pandas.DataFrame(small).to_csv(path["i.csv"], index=False, header=False)
    out = folder / "out"

    def archive(name):
        with numpy.load(path[name]) as file:
            return file["x"]

    lines = [
        ("npy read", "read-npy", path["a.npy"], "numpy.load", lambda: numpy.load(path["a.npy"])),
        ("npy write", "write-npy", out, "numpy.save", lambda: numpy.save(open(out, "wb"), array)),
        ("npz read", "read-npz", path["a.npz"], "numpy.load", lambda: archive("a.npz")),
        ("npz write", "write-npz", out, "numpy.savez", lambda: numpy.savez(open(out, "wb"), x=array)),
        ("npz read, deflated", "read-npz", path["d.npz"], "numpy.load", lambda: archive("d.npz")),
        ("npz write, deflated", "write-npz-deflated", out, "savez_compressed",
         lambda: numpy.savez_compressed(open(out, "wb"), x=array)),
        ("safetensors read", "read-safetensors", path["a.st"], "load_file",
         lambda: safetensors.numpy.load_file(path["a.st"])),
        ("safetensors read", "read-safetensors", path["a.st"], "numpy.load (npy)",
         lambda: numpy.load(path["a.npy"])),
        ("safetensors write", "write-safetensors", out, "save_file",
         lambda: safetensors.numpy.save_file({"x": array}, out)),
        ("csv read, floats", "read-csv-matrix", path["f.csv"], "numpy.loadtxt",
         lambda: numpy.loadtxt(path["f.csv"], delimiter=",")),
        ("csv read, floats", "read-csv-columns", path["f.csv"], "pandas.read_csv",
         lambda: pandas.read_csv(path["f.csv"], header=None)),
        ("csv read, floats, exact", "read-csv-columns", path["f.csv"], "pandas round_trip",
         lambda: pandas.read_csv(path["f.csv"], header=None, float_precision="round_trip")),
        ("csv read, integers", "read-csv-columns", path["i.csv"], "pandas.read_csv",
         lambda: pandas.read_csv(path["i.csv"], header=None)),
        ("csv write", "write-csv", out, "pandas.to_csv",
         lambda: pandas.DataFrame(table).to_csv(out, index=False, header=False)),
    ]
    print(f"| what | ours ms | peer | peer ms | ratio |\n| --- | --- | --- | --- | --- |")
    for what, command, file, peer, call in lines:
        if word not in what:
            continue
        slow = "loadtxt" in peer or "compressed" in peer or "to_csv" in peer
        mine, theirs = [], []
        for _ in range(9 if slow else REPEATS):
            # A file that exists would be flushed to the disk when it is written over.
            out.unlink(missing_ok=True)
            print(command, file, file=ours.stdin, flush=True)
            mine.append(float(ours.stdout.readline()))
            out.unlink(missing_ok=True)
            start = time.perf_counter()
            kept = call()
            theirs.append((time.perf_counter() - start) * 1e3)
            del kept
        a, b = statistics.median(mine), statistics.median(theirs)
        print(f"| {what} | {a:.1f} | {peer} | {b:.1f} | {b / a:.2f} |", flush=True)


main()
