"""Edges of images: grey values, a blur along rows and along columns, two gradients, a threshold."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np
import numpy.typing as npt

from evener.errors import InputError
from evener.running.streams.program import Outputs, StreamChannel, StreamFilter, StreamProgram

GREY = (0.299, 0.587, 0.114)  # of red, green and blue, ITU-R BT.601
BLUR = (1 / 16, 4 / 16, 6 / 16, 4 / 16, 1 / 16)  # binomial
SMOOTH, SLOPE = (1.0, 2.0, 1.0), (-1.0, 0.0, 1.0)  # Sobel's
THRESHOLD = 40.0  # of the gradient, of grey values up to 255
SEED, NOISE = 11, 6  # noise: grey values
Array = npt.NDArray[Any]


def program(rows: int = 480, columns: int = 640) -> StreamProgram:
    """Return the program for images of this size; its output marks edges: uint8, 0 and 1.

    Raises InputError for fewer than 3 rows or columns.
    """
    if rows < 3 or columns < 3:
        raise InputError(f"images need at least 3 rows and columns, not {rows} and {columns}")
    size = rows, columns
    filters: dict[str, Callable[..., Any]] = {
        "camera": lambda iteration: picture(iteration, rows, columns),
        "grey": lambda colours: colours @ np.array(GREY),
        "blur rows": partial(_along, 1, BLUR),
        "blur columns": partial(_along, 0, BLUR),
        "slope x": lambda grey: _along(0, SMOOTH, _along(1, SLOPE, grey)),
        "slope y": lambda grey: _along(1, SMOOTH, _along(0, SLOPE, grey)),
        "gradient": np.hypot,
        "edges": lambda gradient: (gradient > THRESHOLD).astype(np.uint8),
    }
    there: dict[str, Callable[..., Any]] = {  # on a CUDA device; the camera is beside the cores
        "grey": partial(_launch, "grey", 1, (GREY,)),
        "blur rows": partial(_launch, "weigh", 1, ((1.0,), BLUR)),
        "blur columns": partial(_launch, "weigh", 1, (BLUR, (1.0,))),
        "slope x": partial(_launch, "weigh", 1, (SMOOTH, SLOPE)),
        "slope y": partial(_launch, "weigh", 1, (SLOPE, SMOOTH)),
        "gradient": partial(_launch, "gradient", 2, ()),
        "edges": _edges_there,
    }
    ends = (("grey", "blur rows"), ("blur rows", "blur columns"), ("blur columns", "slope x"),
            ("blur columns", "slope y"), ("slope x", "gradient"), ("slope y", "gradient"),
            ("gradient", "edges"))  # fmt: skip
    return StreamProgram(
        tuple(
            StreamFilter(name, work, vector=rows, cuda=there.get(name))
            for name, work in filters.items()
        ),
        (
            StreamChannel("camera", "grey", (*size, 3), "uint8"),
            *(StreamChannel(*pair, size) for pair in ends),
        ),
        "image",
        lambda outputs: verify(outputs, rows, columns),
    )


def picture(iteration: int, rows: int, columns: int) -> Array:
    """Return a moving disc and bar on a colour gradient, with noise: (rows, columns, 3) uint8."""
    y, x = np.mgrid[:rows, :columns]
    colours = np.empty((rows, columns, 3))
    colours[:] = np.stack([x * 90 / columns, y * 90 / rows, 60 + 0 * x], axis=2)
    across = columns * (0.3 + 0.4 * np.sin(iteration / 7) ** 2)
    disc = (y - rows / 2) ** 2 + (x - across) ** 2 < (min(rows, columns) / 4) ** 2
    colours[disc] = 200, 150, 60
    colours[:, (x[0] + 3 * iteration) % columns < columns // 8] = 40, 160, 220
    rng = np.random.default_rng([SEED, iteration])
    noisy = colours + rng.integers(-NOISE, NOISE + 1, colours.shape)
    return noisy.clip(0, 255).astype(np.uint8)


def _along(axis: int, weights: tuple[float, ...], image: Array) -> Array:
    """Return weighted sums along an axis; values at the border are repeated outside."""
    reach = len(weights) // 2
    ends = [(reach, reach) if one == axis else (0, 0) for one in range(2)]
    wide = np.pad(image, ends, mode="edge")
    found = np.zeros_like(image)
    for i, weight in enumerate(weights):
        if weight:
            found += weight * np.take(wide, range(i, i + image.shape[axis]), axis)
    return found


def _launch(kernel: str, inputs: int, settings: tuple[Any, ...], device: Any, *arrays: Any) -> None:
    """Launch a kernel of image_cuda_kernels on these inputs for each of the outgoing arrays."""
    from evener.running.streams.apps import image_cuda_kernels as kernels

    for out in arrays[inputs:]:
        device.launch(getattr(kernels, kernel), out.size, *arrays[:inputs], *settings, out)


def _edges_there(device: Any, gradient: Any) -> Any:
    """Return an array of the device that marks the edges."""
    found = device.empty(gradient.size, np.uint8).reshape(gradient.shape)
    _launch("edges", 1, (THRESHOLD,), device, gradient, found)
    return found


def verify(outputs: Outputs, rows: int, columns: int) -> bool:
    """Return whether SciPy finds the same edges, except at gradients near the threshold (1e-9)."""
    from scipy import ndimage

    for t, own in enumerate(outputs["edges"]):
        grey = np.average(picture(t, rows, columns), axis=2, weights=GREY)
        for axis in (0, 1):
            grey = ndimage.correlate1d(grey, BLUR, axis, mode="nearest")
        slopes = [ndimage.sobel(grey, axis, mode="nearest") for axis in (0, 1)]
        gradient = np.sqrt(slopes[0] ** 2 + slopes[1] ** 2)
        is_clear = np.abs(gradient - THRESHOLD) > 1e-9
        if not np.array_equal(own[is_clear], gradient[is_clear] > THRESHOLD):
            return False
    return True
