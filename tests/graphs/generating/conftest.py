"""What tests of meshes and graphs share."""

import hashlib

import numpy as np
import pytest
from scipy.sparse import csr_array
from scipy.sparse.csgraph import connected_components

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


@pytest.fixture
def in_one_piece():
    """Whether a path leads from every vertex of a graph to every other."""

    def of(graph):
        entries = (np.ones(graph.adjncy.size), graph.adjncy, graph.xadj)
        return connected_components(csr_array(entries, shape=(graph.n, graph.n)))[0] == 1

    return of
