"""The statements of Jacobi's loops on a CUDA device; imported only if a CUDA device is used."""

# mypy: ignore-errors
from numba import cuda


@cuda.jit
def count(iteration, out):
    """Set out (1,) to the iteration's number."""
    if cuda.grid(1) == 0:
        out[0] = iteration


@cuda.jit
def fill(offset, step, out):
    """Statements 1 and 2: out[i][j] = i j + offset + step; one thread per entry."""
    place = cuda.grid(1)
    if place < out.size:
        i, j = place // out.shape[1], place % out.shape[1]
        out[i, j] = i * j + (offset + step[0])


@cuda.jit
def copy(b, out):
    """Set out to b; one thread per entry."""
    place = cuda.grid(1)
    if place < out.size:
        i, j = place // out.shape[1], place % out.shape[1]
        out[i, j] = b[i, j]


@cuda.jit
def sweep(a, part, out):
    """One sweep of statement 3 over inner entries; one thread per entry."""
    place = cuda.grid(1)
    if place < out.size:
        i, j = place // out.shape[1], place % out.shape[1]
        if 0 < i < out.shape[0] - 1 and 0 < j < out.shape[1] - 1:
            out[i, j] = part * (a[i, j] + a[i, j - 1] + a[i, j + 1] + a[i - 1, j])


@cuda.jit
def sum_rows(b, sums):
    """Set sums (n,) to the sums of rows of b, without its first row and column."""
    i = cuda.grid(1)
    if i < sums.size:
        found = 0.0
        if i > 0:
            for j in range(1, b.shape[1]):
                found += b[i, j]
        sums[i] = found
