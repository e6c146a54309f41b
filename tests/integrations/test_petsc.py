"""Plans in programs of PETSc on three ranks: 3.18 with Open MPI, and 3.25 with MPICH."""

import re
from pathlib import Path

import numpy as np
import pytest
import scipy.sparse as sp
from scipy.sparse.linalg import spsolve

import evener as ev
from evener.cli import main
from evener.graphs.generating.grid import grid
from tests.integrations.meshes import SPEEDS, write_hexahedra, write_mixed, write_planned
from tests.integrations.ranks import DEBIAN, WHEELS, needs, results_of, run_on_ranks, text_refused
from tests.integrations.told import assert_refused

SOLVERS = Path(__file__).parent / "solvers"
EXAMPLES = Path(__file__).parents[2] / "examples" / "integrations"
pytestmark = [pytest.mark.integrations, pytest.mark.slow]


@pytest.fixture(scope="module", params=[DEBIAN, WHEELS], ids=["debian", "wheels"])
def place(request):
    needs(request.param, "petsc4py", "mpi4py")
    return request.param


@pytest.fixture(scope="module")
def planned(tmp_path_factory):
    """A folder with mesh.msh, plans of it and exports of these; the plan."""
    folder = tmp_path_factory.mktemp("petsc")
    plan = write_planned(folder, ".msh")
    words = ["--to", "rows", "-o", str(folder / "rows.npz"), "--quiet"]
    assert main(["export", str(folder / "mesh.plan"), *words]) == 0
    ev.write_part(folder / "part.npz", plan.partition.part, "npz")  # blocks alone
    return folder, plan


@pytest.fixture(scope="module")
def distributed(place, planned):
    return results_of(place, 3, SOLVERS / "petsc_mesh.py", cwd=planned[0])


@pytest.mark.parametrize("given", ["mesh.plan", "rows.npz", "part.npz", "firedrake"])
def test_cells_of_a_dmplex_are_the_blocks(planned, distributed, given):
    for rank, result in enumerate(distributed):
        sources, cells = result[given].T
        assert set(sources.tolist()) == {0}  # which read the mesh
        block = np.flatnonzero(planned[1].partition.part == rank)
        assert 100 < block.size < 1000
        assert np.array_equal(np.sort(cells), block)


def test_the_check_compares_cells_and_facets(planned, distributed):
    plan = planned[1]
    for rank, result in enumerate(distributed):
        cells = int((plan.partition.part == rank).sum())
        assert result["checked mesh.plan"].tolist() == [cells, plan.evaluation.edge_cut]
        # Neither export says how many edges are cut.
        assert result["checked rows.npz"].tolist() == [cells, -1]


def test_a_mesh_that_lies_on_all_ranks_is_numbered_rank_after_rank(distributed):
    counts, part = distributed[0]["counts"], distributed[0]["part"]
    assert min(counts) > 0
    firsts = np.cumsum(counts) - counts
    for rank, result in enumerate(distributed):
        sources, cells = result["again"].T
        assert np.array_equal(np.sort(firsts[sources] + cells), np.flatnonzero(part == rank))


@pytest.mark.parametrize("block_size", [1, 3])
def test_products_and_solutions_of_reordered_rows_are_scipys(place, tmp_path, block_size):
    graph = grid((17, 19))
    joined = sp.csr_array((np.ones(graph.adjncy.size), graph.adjncy, graph.xadj))
    laplacian = sp.diags_array(np.diff(graph.xadj) + 0.1) - joined
    plan = ev.plan(laplacian, SPEEDS)
    ev.write_plan(tmp_path / "matrix.plan", plan)
    coupled = 2.0 * np.eye(block_size) - 0.3  # of the rows of a vertex
    A = sp.kron(laplacian, coupled).tocsr()
    x, b = np.random.default_rng(4).standard_normal((2, A.shape[0]))
    np.savez(tmp_path / "matrix.npz", indptr=A.indptr, indices=A.indices, data=A.data, x=x, b=b)
    program = SOLVERS / "petsc_rows.py"
    found = results_of(place, 3, program, "matrix.npz", block_size, cwd=tmp_path)
    order, offsets = found[0]["order"], found[0]["offsets"]
    assert np.array_equal(np.sort(order), np.arange(A.shape[0]))
    blocks = plan.partition.part[order // block_size]
    assert np.array_equal(blocks, np.repeat([0, 1, 2], np.diff(offsets)))
    for rank, result in enumerate(found):
        assert result["owned"].tolist() == offsets[rank : rank + 2].tolist()
        assert np.array_equal(result["indices"], order[offsets[rank] : offsets[rank + 1]])
    expected = {"product": A @ x, "none": spsolve(A.tocsc(), b)}
    if place is DEBIAN:  # whose PETSc has hypre
        expected["hypre"] = expected["none"]
        assert found[0]["hypre iterations"] < found[0]["none iterations"] / 2
    for name, values in expected.items():
        values_found = np.concatenate([result[name] for result in found])
        np.testing.assert_allclose(values_found, values[order], rtol=0, atol=1e-9)


def test_faces_of_hexahedra_are_counted_and_one_rank_has_no_sf(place, tmp_path):
    side = np.arange(7)
    write_hexahedra(tmp_path / "mesh.msh", side)
    for n, speeds in ((3, SPEEDS), (1, [1.0])):
        plan = ev.plan(str(tmp_path / "mesh.msh"), speeds)
        ev.write_plan(tmp_path / "mesh.plan", plan)
        found = results_of(place, n, SOLVERS / "petsc_check.py", cwd=tmp_path)
        assert [int(result["cells"]) for result in found] == np.bincount(
            plan.partition.part
        ).tolist()
        assert {int(result["facets"]) for result in found} == {int(plan.evaluation.edge_cut)}
    assert found[0]["facets"] == 0


REFUSED = {
    "ranks": ("UsageError", "the plan is for 2 devices, but the program runs on 3 ranks"),
    "blocks": ("UsageError", "the highest block is 4, but the program runs on 3 ranks"),
    "cells": ("InputError", "the plan divides"),
    "other file": ("InputError", "is not the file that the plan was made from (SHA-256)"),
    "points": ("InputError", "divides points of its mesh"),
    "edges": ("InputError", "is a plan that divides edges"),
    "damaged": ("InputError", "damaged.plan"),
    "missing": ("InputError", "nothing.plan: cannot be read"),
    "none": ("UsageError", "rank 0 got no plan"),
    "shuffled": ("InputError", "cells are in another order"),
    "not ours": ("InputError", "cells are on a rank other than the plan's"),
    "overlapped": ("UsageError", "the mesh has overlap"),
    "rows": ("UsageError", "the plan is for 2 devices"),
    "rows n": ("InputError", "the program has 7 cells or rows"),
    "rows of blocks": ("UsageError", "7 rows cannot be divided into blocks of 2"),
    "rows of no blocks": ("UsageError", "not 0"),
    "mixed": ("InputError", "cells are in another order"),
    "firedrake points": ("InputError", "divides points of its mesh"),
    "firedrake n": ("InputError", "the program has 7 cells or rows"),
}


def test_what_does_not_fit_is_refused_on_all_ranks(place, planned):
    folder, plan = planned
    mesh = str(folder / "mesh.msh")
    ev.write_plan(folder / "two.plan", ev.plan(mesh, [1, 2]))
    five = np.arange(plan.partition.n) % 5
    ev.write_part(folder / "five.npz", five, "npz")
    ev.write_plan(folder / "points.plan", ev.plan(ev.read(mesh, by="points"), SPEEDS))
    ev.write_edge_plan(folder / "edges.plan", ev.split(ev.read_edges(str(_list(folder))), SPEEDS))
    write_mixed(folder / "mixed.msh")
    ev.write_plan(folder / "mixed.plan", ev.plan(str(folder / "mixed.msh"), SPEEDS))
    (folder / "damaged.plan").write_bytes((folder / "mesh.plan").read_bytes()[:-200])
    told = results_of(place, 3, SOLVERS / "petsc_refusals.py", cwd=folder)
    refused = REFUSED | {"text": text_refused(place, "mesh.msh", "mesh.msh: has no partitions")}
    assert_refused(told, refused)
    assert set(told[0]) == set(refused)


@pytest.mark.parametrize("ranks", [1, 3])
def test_ranks_plan_the_rows_that_they_own(tmp_path, ranks):
    needs(WHEELS, "petsc4py", "mpi4py", "evener.planning.plan")  # Debian has an old Numba
    done = run_on_ranks(WHEELS, ranks, EXAMPLES / "petsc_ownership.py", cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    counts, *norms = re.search(r"rank: \[(.*)\]; norms (\S+) and (\S+)", done.stdout).groups()
    rows = np.array([int(count) for count in counts.split(",")])
    assert rows.sum() == 3600
    shares = np.arange(1, ranks + 1) / sum(range(1, ranks + 1))  # rank r is r + 1 times as fast
    np.testing.assert_allclose(rows / 3600, shares, rtol=0.04)
    assert norms[0] == norms[1]  # of the matrix before and after its rows have moved


def _list(folder):
    path = folder / "edges.txt"
    path.write_text("".join(f"{i} {i + 1}\n" for i in range(30)))
    return path
