"""Iterations of SpMV and CG on blocks: of the shifted Laplacian, right, and charged as stated."""

import numpy as np
import pytest

from evener.graphs.generating.delaunay import delaunay
from evener.partitioning.initial.geometric import rcb_blocks
from evener.running.apps import laplacian
from papers.ldht import runs
from papers.ldht.setup import SMALLER

GRAPH = delaunay(600, 1)
MACHINE = SMALLER[0]  # 24 devices, 4 of them 16 times as fast


def blocks(targets):
    scaled = np.asarray(targets, np.float64) * (GRAPH.n / np.sum(targets))
    return rcb_blocks(np.asarray(GRAPH.coords), np.ones(GRAPH.n), scaled)


def test_the_matrix_is_the_shifted_laplacian():
    graph = delaunay(60, 1)
    matrix = runs.shifted_laplacian(graph)
    assert np.allclose(matrix @ np.ones(graph.n), laplacian.SHIFT)
    assert np.allclose(matrix.diagonal(), np.diff(graph.xadj) + laplacian.SHIFT)
    assert abs(matrix - matrix.T).max() == 0
    assert np.linalg.eigvalsh(matrix.toarray()).min() > 0.09


def test_cg_on_a_slowed_device_solves_the_system():
    part = blocks(runs.equal_finish_sizes(GRAPH.n, 4))
    seconds, x = runs.cg_seconds(GRAPH, part, 4, 200)
    assert seconds > 0
    assert laplacian.verify(GRAPH, x, laplacian.SHIFT)
    assert not laplacian.verify(GRAPH, np.roll(x, 1), laplacian.SHIFT)


def test_a_slowed_pool_repeats_products_alone():
    called = []

    class Pool:
        threads = 1

        def run(self, kernel, *arguments):
            called.append(kernel)

    pool = runs.SlowedPool(Pool(), 3)
    pool.run(runs.laplacian_kernels.multiply)
    pool.run(runs.laplacian_kernels.turn)
    assert called == [runs.laplacian_kernels.multiply] * 3 + [runs.laplacian_kernels.turn]


def test_the_clock_charges_arcs_and_vertices_of_the_papers_size():
    speeds = [16.0] * 4 + [1.0] * 20
    part = blocks(speeds)
    found = runs.emulated(GRAPH, part, MACHINE)
    arcs = np.bincount(part, np.diff(GRAPH.xadj), MACHINE.k)
    own = np.bincount(part, minlength=MACHINE.k)
    factor = runs.PAPER_N / GRAPH.n
    slowest = ((arcs + 9 * own) / np.array(speeds)).max() * 16 / runs.FAST_ARCS * factor
    assert found["cg_computing_s"] == pytest.approx(slowest)
    assert found["spmv_s"] < found["cg_s"]
    assert found["cg_s"] == pytest.approx(slowest, rel=0.01)
    # As it is the graph is so small that messages count.
    assert found["cg_small_s"] > 1.2 * slowest / factor
    random = np.random.default_rng(1).permutation(part)
    worse = runs.emulated(GRAPH, random.astype(np.int32), MACHINE)
    assert worse["cg_small_s"] > 1.2 * found["cg_small_s"]


def test_both_cores_are_timed_in_turns(monkeypatch):
    monkeypatch.setattr(runs, "TURNS", 1)
    monkeypatch.setattr(runs, "ITERATIONS", 2)
    parts = {"a": blocks((4, 1)), "b": blocks((1, 1))}
    rows = runs.on_two_cores(GRAPH, parts, 4)
    assert [row["tool"] for row in rows] == ["a", "b"]
    assert all(row["spmv_s"] > 0 and row["cg_s"] > 0 for row in rows)
