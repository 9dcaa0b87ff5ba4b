"""Writes the golden files of crates/files/tests/data with NumPy and the safetensors package.

    python3 benches/lab/files/golden.py crates/files/tests/data

Needs numpy, ml_dtypes and safetensors; the tests need none of them. The values are repeated as
literals in crates/files/tests/golden.rs. Run it again only to add a file, and read the diff.
"""

import json
import pathlib
import sys

import ml_dtypes
import numpy
import safetensors

FLOATS = [[1.5, -0.0, numpy.inf], [2.0**-14, -2.25, 0.1]]
DTYPES = ["f8", "f4", "f2", "i8", "i4", "i2", "i1", "u8", "u4", "u2", "u1", "b1"]


def values(dtype):
    """A (2, 3) array with the extremes of the type."""
    kind = numpy.dtype(dtype).kind
    if kind == "f":
        return numpy.array(FLOATS, dtype)
    if kind == "b":
        return numpy.array([[True, False, False], [True, True, False]])
    about = numpy.iinfo(dtype)
    # The largest uint64 has no place in a signed 64-bit integer; it has a file of its own.
    largest = min(about.max, 2**63 - 1)
    return numpy.array([[about.min, largest, 0], [1, 2, 100]], dtype)


def npy(folder):
    for dtype in DTYPES:
        numpy.save(folder / f"{dtype}.npy", values(dtype))
        if numpy.dtype(dtype).itemsize > 1:
            big = values(dtype).astype(numpy.dtype(dtype).newbyteorder(">"))
            numpy.save(folder / f"{dtype}-big.npy", big)
    six = numpy.arange(6, dtype="f4")
    numpy.save(folder / "fortran.npy", numpy.asfortranarray(six.reshape(2, 3)))
    numpy.save(folder / "rank-0.npy", numpy.float64(2.5))
    numpy.save(folder / "rank-1.npy", six)
    numpy.save(folder / "rank-4.npy", six.reshape(1, 2, 1, 3))
    numpy.save(folder / "empty.npy", numpy.zeros((0, 3)))
    for version in [(2, 0), (3, 0)]:
        with open(folder / f"version-{version[0]}.npy", "wb") as file:
            numpy.lib.format.write_array(file, six, version=version)
    refused = {
        "objects": numpy.array([1, "a"], object),
        "strings": numpy.array(["ab", "c"]),
        "bytes": numpy.array([b"ab", b"c"]),
        "complex": numpy.array([1 + 2j]),
        "fields": numpy.array([(1, 2.0)], dtype=[("a", "i4"), ("b", "f8")]),
        "bfloat16": six.astype(ml_dtypes.bfloat16),
        "dates": numpy.array(["2026-01-02"], "M8[D]"),
        "too-large": numpy.array([1, 2**63], "u8"),
    }
    for name, array in refused.items():
        numpy.save(folder / f"refused-{name}.npy", array)


def npz(folder):
    arrays = {
        "a": numpy.arange(6.0).reshape(2, 3),
        "b": numpy.zeros(0, "i4"),
        "größe": numpy.array(7, "i8"),
        "f": numpy.asfortranarray(numpy.arange(6, dtype="f4").reshape(2, 3)),
    }
    numpy.savez(folder / "stored.npz", **arrays)
    numpy.savez_compressed(folder / "deflated.npz", **arrays)


def tensors(folder):
    ours = {
        "weight": numpy.arange(6, dtype="f4").reshape(2, 3),
        "a \"quoted\" name": numpy.array(FLOATS, "f8"),
        "half": numpy.array([1.5, -2.0], "f2"),
        "brain": numpy.array([1.5, -2.0, 3.140625], ml_dtypes.bfloat16),
        "index": numpy.array([-(2**63), 5], "i8"),
        "count": numpy.array(7, "i4"),
        "bytes": numpy.array([0, 255], "u1"),
        "mask": numpy.array([True, False, True]),
        "none": numpy.zeros((0, 4), "f4"),
    }
    save(folder / "ours.safetensors", ours, {"format": "np"})
    save(folder / "bare.safetensors", {"x": ours["weight"]}, None)
    others = {
        "i16": numpy.array([-(2**15), 2**15 - 1], "i2"),
        "i8": numpy.array([-128, 127], "i1"),
        "u16": numpy.array([0, 2**16 - 1], "u2"),
        "u32": numpy.array([0, 2**32 - 1], "u4"),
        "u64": numpy.array([0, 2**63 - 1], "u8"),
    }
    save(folder / "widened.safetensors", others, None)
    save(folder / "float8.safetensors", {"x": numpy.array([1.0, 2.0], ml_dtypes.float8_e4m3fn),
                                         "y": numpy.array([3.0], "f4")}, None)
    shards = {"model-1.safetensors": ["weight", "index"], "model-2.safetensors": ["half"]}
    for file, names in shards.items():
        save(folder / file, {name: ours[name] for name in names}, {"format": "np"})
    index = {
        "metadata": {"total_size": 44},
        "weight_map": {name: file for file, names in shards.items() for name in names},
    }
    text = json.dumps(index, indent=2) + "\n"
    (folder / "model.safetensors.index.json").write_text(text)


def save(path, arrays, metadata):
    """By the low-level call: safetensors.numpy does not take the types of ml_dtypes."""
    # `ascontiguousarray` makes vectors of arrays of rank 0.
    shapes = [array.shape for array in arrays.values()]
    arrays = {name: numpy.ascontiguousarray(array) for name, array in arrays.items()}
    specs = {
        name: safetensors.TensorSpec(
            dtype=array.dtype.name,
            shape=shape,
            data_ptr=array.ctypes.data,
            data_len=array.nbytes,
        )
        for (name, array), shape in zip(arrays.items(), shapes)
    }
    safetensors.serialize_file(specs, str(path), metadata)


def main():
    folder = pathlib.Path(sys.argv[1])
    folder.mkdir(parents=True, exist_ok=True)
    npy(folder)
    npz(folder)
    tensors(folder)
    for file in sorted(folder.iterdir()):
        assert file.stat().st_size < 4096, file
    print(f"{len(list(folder.iterdir()))} files by numpy {numpy.__version__}, "
          f"safetensors {safetensors.__version__}")


main()
