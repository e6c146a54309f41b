"""Steps of networks on rows of numbers: butterflies of an FFT, comparisons of a bitonic sort."""

# mypy: ignore-errors
from evener.jit import njit


@njit(cache=True, nogil=True, counted=False)
def butterflies(x, twiddles, out):
    """Combine each pair of neighbouring transforms in a row of x into one of twice the length."""
    half = twiddles.size
    for row in range(x.shape[0]):
        for first in range(0, x.shape[1], 2 * half):
            for i in range(half):
                a = x[row, first + i]
                b = x[row, first + half + i] * twiddles[i]
                out[row, first + i] = a + b
                out[row, first + half + i] = a - b


@njit(cache=True, nogil=True, counted=False)
def exchange(x, size, apart, out):
    """Compare pairs of numbers at the distance `apart` in a row; put the smaller one first.

    If bit `size` of the index is set, the smaller one is put last.
    """
    for row in range(x.shape[0]):
        for i in range(x.shape[1]):
            j = i ^ apart
            if i < j:
                a, b = x[row, i], x[row, j]
                falls = i & size != 0
                if (a > b) != falls:
                    a, b = b, a
                out[row, i] = a
                out[row, j] = b
