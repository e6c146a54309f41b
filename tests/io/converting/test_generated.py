"""Graphs written as they are generated are those generated in memory, byte for byte."""

import numpy as np
import pytest

from evener.cli import main
from evener.errors import UsageError
from evener.graphs.generating import random_graphs
from evener.graphs.generating.grid import grid
from evener.graphs.generating.random_graphs import rgg, rmat
from evener.io import write_graph
from evener.io.converting import buckets, generated, geometric
from evener.io.converting.generated import Working, grid_to_csr, rgg_to_csr, rmat_to_csr


@pytest.fixture(autouse=True)
def small_pieces(monkeypatch):
    monkeypatch.setattr(generated, "ROWS", 7)
    monkeypatch.setattr(generated, "EDGES", 96)
    monkeypatch.setattr(geometric, "DRAWN", 64)
    monkeypatch.setattr(random_graphs, "CHUNK", 32)
    monkeypatch.setattr(buckets, "PIECE", 50)


def same(tmp_path, graph, counts):
    write_graph(tmp_path / "whole.ecsr", graph)
    assert (tmp_path / "g.ecsr").read_bytes() == (tmp_path / "whole.ecsr").read_bytes()
    assert counts == (graph.n, graph.m)
    assert sorted(p.name for p in tmp_path.iterdir()) == ["g.ecsr", "whole.ecsr"]


SHAPES = [(5, 9), (1, 1), (1, 12), (12, 1), (4, 5, 6), (1, 1, 5), (3, 1, 4), (2, 2, 2)]


@pytest.mark.parametrize("shape", SHAPES)
def test_grids(tmp_path, shape):
    same(tmp_path, grid(shape), grid_to_csr(tmp_path / "g.ecsr", shape))


@pytest.mark.parametrize("shape", SHAPES[:4])
def test_triangulated_grids(tmp_path, shape):
    counts = grid_to_csr(tmp_path / "g.ecsr", shape, triangulated=True)
    same(tmp_path, grid(shape, triangulated=True), counts)


def test_diagonals_are_of_the_plane(tmp_path):
    for make in (grid, lambda *a, **k: grid_to_csr(tmp_path / "g.ecsr", *a, **k)):
        with pytest.raises(UsageError, match="works with 2-D grids only"):
            make((2, 3, 4), triangulated=True)


@pytest.mark.parametrize("memory", [2**20, 9000, 500])
@pytest.mark.parametrize(("scale", "factor"), [(0, 3), (1, 1), (3, 3), (7, 16), (9, 5)])
def test_rmat(tmp_path, scale, factor, memory):
    counts = rmat_to_csr(tmp_path / "g.ecsr", scale, 4, factor, work=Working(memory))
    same(tmp_path, rmat(scale, 4, factor), counts)


def test_rmat_with_shares(tmp_path):
    shares = (0.4, 0.3, 0.2)
    same(
        tmp_path,
        rmat(6, 1, 16, *shares),
        rmat_to_csr(tmp_path / "g.ecsr", 6, 1, 16, *shares, work=Working(4000)),
    )


@pytest.mark.parametrize("memory", [2**30, 2**16, 2000])
@pytest.mark.parametrize("dim", [2, 3])
@pytest.mark.parametrize(("n", "degree"), [(1, 12.0), (2, 3.0), (60, 0.0), (900, 6.0), (700, 40.0)])
def test_rgg(tmp_path, n, degree, dim, memory):
    counts = rgg_to_csr(tmp_path / "g.ecsr", n, 3, dim, degree, work=Working(memory))
    same(tmp_path, rgg(n, 3, dim, degree), counts)


@pytest.mark.parametrize("draws", [0, 1, 7, 64])
def test_numbers_after_any_count_of_draws(draws):
    rng = np.random.default_rng(5)
    rng.random(draws * 3, dtype=np.float32)
    assert np.array_equal(random_graphs.rmat_labels(3, draws, 5), rng.permutation(8))


def test_the_command(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    assert main(["generate", "rmat", "--scale", "6", "-o", "g.ecsr", "--memory", "64MiB"]) == 0
    assert main(["generate", "rmat", "--scale", "6", "-o", "g.npz"]) == 0
    assert main(["convert", "g.npz", "h.ecsr"]) == 0
    assert (tmp_path / "g.ecsr").read_bytes() == (tmp_path / "h.ecsr").read_bytes()
    assert main(["generate", "grid", "--shape", "4x5", "--triangulated", "-o", "g.ecsr"]) == 0
    assert main(["generate", "uniform", "--scale", "4", "-o", "u.ecsr"]) == 0
    assert main(["generate", "uniform", "--scale", "4", "-o", "u.ecsr", "--memory", "1GiB"]) == 2
    assert main(["generate", "rmat", "--scale", "4", "--directed", "-o", "d.ecsr"]) == 2
    assert not (tmp_path / "d.ecsr").exists()
