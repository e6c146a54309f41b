"""PETSc's binary file of a plan: two index sets, for programs in C, C++ and Fortran.

`evener.integrations.petsc` has the same for programs in Python, and checks what it is given.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from evener.arrays import IntVector, Part
from evener.integrations.requests import ExportFiles, ExportRequest, one_file
from evener.plans.contiguous import contiguous

INDEX_SET = 1211218  # IS_FILE_CLASSID of petscis.h, by which ISLoad knows its files


def files(request: ExportRequest) -> ExportFiles:
    """Return the file: how many cells or rows each device gets; then these, block after block."""
    return one_file(request.path, _pieces(request.part, request.k))


def _pieces(part: Part, k: int) -> Iterator[bytes]:
    order, offsets = contiguous(part, k)
    yield _index_set(np.diff(offsets))
    yield _index_set(order)


def _index_set(indices: IntVector) -> bytes:
    """Return an IS as PETSc with integers of 32 bits writes it: all big-endian."""
    head = np.array([INDEX_SET, indices.size])
    return np.concatenate([head, indices]).astype(">i4").tobytes()
