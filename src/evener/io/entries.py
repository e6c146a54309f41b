"""Entries: the pairs of indices that a file stores, before they become a graph."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from evener.arrays import IntArray, NumberArray
from evener.errors import InputError


@dataclass(frozen=True, eq=False)
class Entries:
    """The stored entries of a matrix, or the lines of an edge list, in file order.

    rows, columns (m,) int64, from 0, below n_rows and n_columns; for a line, its first and second
    vertex. values (m,): numbers, possibly complex, or None if the file has none or they were not
    requested. labels (n_rows,): names of the vertices of an edge list, None if they are 0 to n_rows
    - 1. triangle: whether the file omits the other half of a symmetric matrix.
    """

    n_rows: int
    n_columns: int
    rows: IntArray
    columns: IntArray
    values: npt.NDArray[Any] | None = None
    labels: npt.NDArray[np.generic] | None = None
    triangle: bool = False

    @property
    def m(self) -> int:
        """Number of entries."""
        return int(self.rows.size)

    def weights(self) -> NumberArray:
        """Return the values as weights (m,): int64 if all are whole numbers, else float64.

        Raises InputError if there are no values, or if some are negative, complex or not finite.
        """
        if self.values is None:
            raise no_weights()
        unfit = unfit_for_weights(self.values)
        if unfit:
            raise InputError(f"has values that cannot be edge weights: {unfit}")
        return whole_where_all_are(self.values)


def no_weights() -> InputError:
    """Return the error to raise if weights were requested but the edges have none."""
    return InputError(
        "has no edge weights",
        hint="Without --weighted each edge is one unit of work. To use the values of a matrix: "
        "--as matrix.",
    )


def unfit_for_weights(values: npt.NDArray[Any]) -> str:
    """Return why the values cannot be arc weights, in words; "" if they can."""
    if values.dtype.kind == "c":
        return "they are complex"
    if not np.isfinite(values).all():
        return "some are not finite"
    return "some are negative" if (values < 0).any() else ""


def whole_where_all_are(values: npt.NDArray[Any]) -> npt.NDArray[Any]:
    """Return values as int64 if all are whole numbers that a double holds exactly."""
    if values.dtype.kind != "f":
        return values
    whole = bool((values == np.rint(values)).all() and (np.abs(values) < 2.0**53).all())
    return values.astype(np.int64) if whole else values
