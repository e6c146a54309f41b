"""The partition files of ADCIRC and SCHISM: partmesh.txt and partition.prop."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from evener.arrays import Part
from evener.errors import UsageError
from evener.integrations.requests import ExportFiles, ExportRequest, one_file

_LINES = 2**16  # lines converted to text at a time


def adcirc(request: ExportRequest) -> ExportFiles:
    """Return partmesh.txt for `adcprep --prepall`: one line per point, its subdomain, from 1.

    Raises UsageError for a plan of cells.
    """
    if request.by != "points":
        raise UsageError(
            "ADCIRC divides points, but this plan divides cells",
            hint="Use `evener plan --by points`.",
        )
    return one_file(request.path, (b"%d\n" * part.size % tuple((part + 1).tolist())
                                   for part in _slices(request.part)))  # fmt: skip


def schism(request: ExportRequest) -> ExportFiles:
    """Return partition.prop: one line per cell, its number, from 1, and its rank, from 0.

    Raises UsageError for a plan of points.
    """
    if request.by != "cells":
        raise UsageError("SCHISM divides elements (cells), but this plan divides points")
    return one_file(request.path, _numbered(request.part))


def _numbered(part: Part) -> Iterator[bytes]:
    first = 1
    for some in _slices(part):
        rows = np.column_stack([np.arange(first, first + some.size), some])
        yield b"%d %d\n" * some.size % tuple(rows.ravel().tolist())
        first += some.size


def _slices(part: Part) -> Iterator[Part]:
    for first in range(0, part.size, _LINES):
        yield part[first : first + _LINES]
