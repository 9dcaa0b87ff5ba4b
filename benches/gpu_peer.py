"""The lines of gpu.lisp by PyTorch on CUDA: name, size, microseconds, the median of nine.

Its products are cuBLAS's, with TF32 off. `cargo xtask gpu-check` runs it where PyTorch with CUDA is
installed, and prints the ratios. An argument divides the sizes.
"""

import statistics
import sys
import time

import torch

PART = int(sys.argv[1]) if len(sys.argv) > 1 else 1


def once(calls, work):
    """Seconds of one of so many calls, until all are done."""
    start = time.perf_counter()
    for _ in range(calls):
        work()
    torch.cuda.synchronize()
    return (time.perf_counter() - start) / calls


def report(name, size, calls, work):
    once(2, work)
    seconds = statistics.median(once(calls, work) for _ in range(9))
    print(f"{name} {size} {1e6 * seconds:.3f}", flush=True)


def there(*shape, dtype=torch.float32):
    return torch.rand(*shape, dtype=dtype, device="cuda")


def main():
    if not torch.cuda.is_available():
        sys.exit("PyTorch sees no CUDA device")
    torch.backends.cuda.matmul.allow_tf32 = False
    for n in (256, 1024, 2048, 4096):
        n //= PART
        a, b = there(n, n), there(n, n)
        report("product-f32", n, 10, lambda: a @ b)
    for n in (1024, 2048):
        n //= PART
        a, b = (there(n, n, dtype=torch.float64) for _ in range(2))
        report("product-f64", n, 5, lambda: a @ b)
    rows = 16384 // PART
    a = there(rows, 1024)
    report("softmax-f32", rows, 20, lambda: torch.softmax(a, -1))
    report("layer-norm-f32", rows, 20, lambda: torch.nn.functional.layer_norm(a, (1024,)))
    report("exp-f32", rows, 20, lambda: torch.exp(a))
    report("copy-f32", rows, 20, lambda: a.clone())
    report("sum-f32", rows, 20, lambda: torch.sum(a, 1))


if __name__ == "__main__":
    main()
