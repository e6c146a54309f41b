"""Checks numbers in a .msh file: types of elements, numbers of points."""

from __future__ import annotations

from typing import Any

import numpy as np

from evener.arrays import IntVector
from evener.io.meshes.gmsh_elements import SIZES
from evener.io.meshes.rows import FileRows, renumber
from evener.io.sources import Source


def known_types(rows: FileRows, types: IntVector) -> None:
    """Raise InputError, with the row's line, if an element is of an unknown type."""
    safe = np.clip(types, 0, 255)
    if (bad := np.flatnonzero((SIZES[safe] == 0) | (types != safe))).size:
        rows.refuse(int(bad[0]), f"cells of Gmsh's type {types[bad[0]]} are unknown")


def places(source: Source, ids: IntVector, numbers: IntVector) -> Any:
    """Return the indices of the points with these numbers, which usually ascend from 1."""
    in_order = (ids == np.arange(1, ids.size + 1)).all()
    if in_order and numbers.size and numbers.min() >= 1 and numbers.max() <= ids.size:
        return numbers - 1
    return renumber(source, ids, numbers)
