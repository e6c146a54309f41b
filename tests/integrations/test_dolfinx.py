"""Plans in programs of DOLFINx 0.5.2, on three ranks of Open MPI, with Debian's Python."""

from pathlib import Path

import numpy as np
import pytest

import evener as ev
from evener.cli import main
from tests.integrations.meshes import SPEEDS, write_planned
from tests.integrations.programs import package
from tests.integrations.ranks import DEBIAN, needs, results_of, text_refused
from tests.integrations.told import assert_cells, assert_refused

SOLVERS = Path(__file__).parent / "solvers"
pytestmark = [pytest.mark.integrations, pytest.mark.slow]


@pytest.fixture(scope="module", autouse=True)
def _programs():
    needs(DEBIAN, "dolfinx", "mpi4py")
    package("h5py")  # by which meshio writes .xdmf


@pytest.fixture(scope="module")
def planned(tmp_path_factory):
    """A folder with mesh.xdmf, its plan and an export; the plan."""
    folder = tmp_path_factory.mktemp("dolfinx")
    plan = write_planned(folder, ".xdmf")
    words = ["--to", "rows", "-o", str(folder / "rows.npz"), "--quiet"]
    assert main(["export", str(folder / "mesh.plan"), *words]) == 0
    return folder, plan


@pytest.fixture(scope="module")
def made(planned):
    return results_of(DEBIAN, 3, SOLVERS / "dolfinx_mesh.py", cwd=planned[0])


@pytest.mark.parametrize("mode", ["none", "shared_facet"])
@pytest.mark.parametrize("way", ["0.5", "0.6", "0.12", "rows"])
def test_ranks_own_their_blocks_and_see_beyond_facets(planned, made, way, mode):
    graph = ev.read_graph(str(planned[0] / "mesh.xdmf"))
    assert_cells(made, way, mode, graph, planned[1].partition.part)


def test_poissons_equation_on_three_unequal_ranks_has_one_ranks_solution(planned):
    folder, plan = planned
    alone = results_of(DEBIAN, 1, SOLVERS / "dolfinx_poisson.py", cwd=folder)[0]
    expected = np.full(600, np.nan)
    expected[alone["nodes"]] = alone["values"]
    assert expected.max() > 0.05
    ranks = results_of(DEBIAN, 3, SOLVERS / "dolfinx_poisson.py", cwd=folder)
    sizes = np.bincount(plan.partition.part)
    assert [int(result["cells"]) for result in ranks] == sizes.tolist()
    assert sizes[2] > 3 * sizes[0]
    found = np.full(600, np.nan)
    for result in ranks:
        found[result["nodes"]] = result["values"]
    np.testing.assert_allclose(found, expected, rtol=0, atol=1e-12)


REFUSED = {
    "ranks": ("UsageError", "the plan is for 2 devices, but the program runs on 3 ranks"),
    "cells": ("InputError", "the plan divides"),
    "shuffled": ("InputError", "cells are in another order"),
    "shuffled, 0.12": ("InputError", "cells are in another order"),
    "other file": ("InputError", "is not the file that the plan was made from (SHA-256)"),
    "points": ("InputError", "divides points of its mesh"),
    "missing": ("InputError", "nothing.plan: cannot be read"),
    "ghosts": ("UsageError", "none for the partitioner and shared_facet for create_mesh"),
    "not ours": ("InputError", "cells are on a rank other than the plan's"),
}


def test_what_does_not_fit_is_refused_on_all_ranks(planned):
    folder = planned[0]
    mesh = str(folder / "mesh.xdmf")
    ev.write_plan(folder / "two.plan", ev.plan(mesh, [1, 2]))
    ev.write_plan(folder / "points.plan", ev.plan(ev.read(mesh, by="points"), SPEEDS))
    told = results_of(DEBIAN, 3, SOLVERS / "dolfinx_refusals.py", cwd=folder)
    refused = REFUSED | {"text": text_refused(DEBIAN, "mesh.xdmf", "a number is needed")}
    assert_refused(told, refused)
    assert set(told[0]) == set(refused)
