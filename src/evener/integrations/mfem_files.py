"""MFEM's partitioning file: the block of each element, in the form that mesh-explorer writes.

`evener.integrations.mfem` has the same as an array, and writes the meshes of all ranks.
"""

from __future__ import annotations

from collections.abc import Iterator

from evener.arrays import Part
from evener.errors import UsageError
from evener.integrations.requests import ExportFiles, ExportRequest, one_file

_LINES = 2**16  # lines that become text at a time


def files(request: ExportRequest) -> ExportFiles:
    """Return the file: two lines of counts, then the block of each element, from 0 on.

    Raises UsageError for a plan of points.
    """
    if request.by != "cells":
        raise UsageError("MFEM divides elements, which are cells; this plan is of points")
    return one_file(request.path, _pieces(request.part, request.k))


def _pieces(part: Part, k: int) -> Iterator[bytes]:
    yield b"number_of_elements %d\nnumber_of_processors %d\n" % (part.size, k)
    for first in range(0, part.size, _LINES):
        some = part[first : first + _LINES]
        yield (b"%d\n" * some.size) % tuple(some.tolist())
