"""Plans in programs of DOLFINx 0.11, on three ranks of MPICH: the wheel of PyPI."""

from pathlib import Path

import numpy as np
import pytest

import evener as ev
from tests.integrations.meshes import write_planned
from tests.integrations.ranks import WHEELS, needs, results_of
from tests.integrations.told import assert_cells, assert_refused

SOLVERS = Path(__file__).parent / "solvers"
pytestmark = [pytest.mark.integrations, pytest.mark.slow]


@pytest.fixture(scope="module")
def made(tmp_path_factory):
    """What the ranks saved, the mesh's graph, and the plan."""
    needs(WHEELS, "dolfinx")
    folder = tmp_path_factory.mktemp("newest")
    plan, file = write_planned(folder, ".msh"), str(folder / "mesh.msh")
    ev.write_plan(folder / "two.plan", ev.plan(file, [1, 2]))
    mesh = ev.read(file).mesh
    np.savez(folder / "mesh.npz", cells=mesh.corners.reshape(-1, 3).astype(np.int64),
             x=np.ascontiguousarray(mesh.points[:, :2]))  # fmt: skip
    found = results_of(WHEELS, 3, SOLVERS / "dolfinx_newest.py", cwd=folder)
    return found, ev.read_graph(file), plan


@pytest.mark.parametrize("mode", ["none", "shared_facet"])
@pytest.mark.parametrize("way", ["0.11", "0.12"])
def test_ranks_own_their_blocks_and_see_beyond_facets(made, way, mode):
    found, graph, plan = made
    assert_cells(found, way, mode, graph, plan.partition.part)


REFUSED = {
    "ranks": ("UsageError", "the plan is for 2 devices, but the program runs on 3 ranks"),
    "cells": ("InputError", "the plan divides"),
    "shuffled": ("InputError", "cells are in another order"),
    "shuffled, 0.12": ("InputError", "cells are in another order"),
    "not ours": ("InputError", "cells are on a rank other than the plan's"),
}


def test_what_does_not_fit_is_refused_on_all_ranks(made):
    assert_refused(made[0], REFUSED)
