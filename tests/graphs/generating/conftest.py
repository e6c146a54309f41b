"""What tests of meshes and graphs share."""

import hashlib

import numpy as np
import pytest

from evener.graphs.mesh import Mesh


@pytest.fixture
def digest():
    """SHA-256 over everything that a graph or mesh consists of."""

    def of(made):
        if isinstance(made, Mesh):
            parts = (made.points, made.offsets, made.corners, made.kinds)
        else:
            parts = (made.xadj, made.adjncy, made.coords)
        found = hashlib.sha256()
        for array in parts:
            if array is not None:
                found.update(f"{array.dtype}{array.shape}".encode() + array.tobytes())
        return found.hexdigest()

    return of


@pytest.fixture
def edges():
    """(m, 2) edges of a graph, each once, in ascending order."""

    def of(graph):
        u = np.repeat(np.arange(graph.n), graph.degrees)
        return np.column_stack([u, graph.adjncy])[u < graph.adjncy]

    return of
