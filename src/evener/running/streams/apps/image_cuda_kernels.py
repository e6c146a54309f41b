"""The filters of image edges on a CUDA device; imported only if a CUDA device is used.

Each kernel has one thread per pixel. Values at the border are repeated outside.
"""

# mypy: ignore-errors
import math

from numba import cuda


@cuda.jit
def grey(colours, weights, out):
    """Set out to weighted sums of red, green and blue."""
    place = cuda.grid(1)
    if place < out.size:
        i, j = place // out.shape[1], place % out.shape[1]
        found = 0.0
        for c in range(3):
            found += colours[i, j, c] * weights[c]
        out[i, j] = found


@cuda.jit
def weigh(image, down, across, out):
    """Set out to weighted sums over neighbours of each pixel, with weights down[p] x across[q]."""
    place = cuda.grid(1)
    if place < out.size:
        rows, columns = out.shape
        i, j = place // columns, place % columns
        found = 0.0
        for p in range(len(down)):
            y = i + p - len(down) // 2
            y = 0 if y < 0 else rows - 1 if y >= rows else y
            row = 0.0
            for q in range(len(across)):
                x = j + q - len(across) // 2
                x = 0 if x < 0 else columns - 1 if x >= columns else x
                row += across[q] * image[y, x]
            found += down[p] * row
        out[i, j] = found


@cuda.jit
def gradient(x, y, out):
    """Set out to the lengths of gradients with components x and y."""
    place = cuda.grid(1)
    if place < out.size:
        i, j = place // out.shape[1], place % out.shape[1]
        out[i, j] = math.hypot(x[i, j], y[i, j])


@cuda.jit
def edges(lengths, threshold, out):
    """Set out to 1 where gradients are above the threshold, else 0."""
    place = cuda.grid(1)
    if place < out.size:
        i, j = place // out.shape[1], place % out.shape[1]
        out[i, j] = 1 if lengths[i, j] > threshold else 0
