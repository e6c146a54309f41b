"""The statements of Jacobi's loops, on whole arrays."""

# mypy: ignore-errors
from evener.jit import njit


@njit(cache=True, nogil=True, counted=False)
def fill(offset, out):
    """Statements 1 and 2: out[i][j] = i j + offset."""
    for i in range(out.shape[0]):
        for j in range(out.shape[1]):
            out[i, j] = i * j + offset


@njit(cache=True, nogil=True, counted=False)
def sweep(a, b, part, sweeps, out):
    """Statement 3: out is b; inner entries are part x (a there + a left + a right + a above)."""
    n, m = a.shape
    for i in range(n):
        for j in range(m):
            out[i, j] = b[i, j]
    for _ in range(sweeps):
        for i in range(1, n - 1):
            for j in range(1, m - 1):
                out[i, j] = part * (a[i, j] + a[i, j - 1] + a[i, j + 1] + a[i - 1, j])
