"""The pair for Firedrake's distribution_parameters; test_petsc.py gives it to PETSc's partitioner.

Firedrake documents `"partition": (sizes, points)`, and hands both to setShellPartition.
"""

import sys
from types import SimpleNamespace

import numpy as np
import pytest

from evener.errors import UsageError
from evener.integrations import firedrake
from evener.integrations.blocks import RankBlocks
from tests.integrations.one_rank import OneRank

PART = np.array([2, 0, 2, 1, 0])


class Other(OneRank):
    """A rank that reads nothing: it is told what rank 0 found."""

    rank = 1

    def bcast(self, _):
        return RankBlocks(np.empty(0, np.int32)), PART.size


@pytest.fixture(autouse=True)
def _petsc(monkeypatch):
    known = SimpleNamespace(IntType=np.int32)
    monkeypatch.setitem(sys.modules, "petsc4py", SimpleNamespace(PETSc=known))
    monkeypatch.setitem(sys.modules, "petsc4py.PETSc", known)


def test_sizes_and_points_on_the_rank_that_reads():
    comm = OneRank()
    comm.size = 4  # of which one gets nothing
    sizes, points = firedrake.partition(PART, comm, n=5)
    assert sizes.dtype == points.dtype == np.int32
    assert sizes.tolist() == [2, 1, 2, 0]
    assert points.tolist() == [1, 4, 3, 0, 2]


def test_nothing_on_the_others():
    assert firedrake.partition(None, Other()) == (None, None)


def test_refusals():
    with pytest.raises(UsageError, match="the highest block is 2"):
        firedrake.partition(PART, OneRank())
