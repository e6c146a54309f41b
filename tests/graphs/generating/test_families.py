"""What all families keep: one seed, the same bytes; other seeds, others; limits of memory."""

import importlib.util
import inspect
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest

from evener.errors import UsageError
from evener.graphs.generating.families import GENERATORS
from evener.graphs.graph import Graph
from evener.graphs.mesh import Mesh

spec = importlib.util.spec_from_file_location(
    "instances", Path(__file__).parents[3] / "benchmarks" / "instances.py"
)
instances = importlib.util.module_from_spec(spec)
spec.loader.exec_module(instances)

SMALL = {
    "delaunay": {"n": 300},
    "graded-delaunay": {"n": 300},
    "refined-delaunay": {"n": 300, "time": 0.4},
    "rgg": {"n": 300, "dim": 3},
    "trace-dual": {"n": 200},
    "bubbles-dual": {"n": 200},
    "airways": {"n": 500},
    "triangle-dual": {"n": 200},
    "tetrahedron-dual": {"n": 60},
    "triangles": {"n": 200},
    "tetrahedra": {"n": 60},
    "rmat": {"scale": 7},
    "uniform": {"scale": 7},
    "barabasi-albert": {"n": 100, "degree": 3},
    "airfoil": {"n_triangles": 4000},
    "grid": {"shape": (5, 6)},
}
HUGE = {"n": 2**31 - 1, "scale": 30, "shape": (2**15, 2**15), "n_triangles": 20_000_000}


@pytest.mark.parametrize("name", GENERATORS)
def test_same_seed_same_bytes_whatever_runs_beside(name, digest):
    family = GENERATORS[name]
    seed = {"seed": 50077} if family.seeded else {}

    def make():
        return digest(family.make(**SMALL[name], **seed))

    first = make()
    with ThreadPoolExecutor(3) as pool:
        assert set(pool.map(lambda _: make(), range(6))) == {first}


@pytest.mark.parametrize("name", [name for name, family in GENERATORS.items() if family.seeded])
def test_another_seed_is_another(name, digest):
    make = GENERATORS[name].make
    assert digest(make(**SMALL[name], seed=3)) != digest(make(**SMALL[name], seed=4))


@pytest.mark.parametrize("name", GENERATORS)
def test_the_table_says_what_a_family_takes_and_returns(name):
    family = GENERATORS[name]
    taken = set(inspect.signature(family.make).parameters)
    assert taken == set(family.parameters) | ({"seed"} if family.seeded else set())
    seed = {"seed": 5} if family.seeded else {}
    made = family.make(**SMALL[name], **seed)
    assert isinstance(made, {"graph": Graph, "mesh": Mesh}[family.returns])


@pytest.mark.parametrize("name", GENERATORS)
def test_what_would_not_fit_in_memory_is_refused(name, monkeypatch):
    import psutil

    monkeypatch.setattr(psutil, "virtual_memory", lambda: SimpleNamespace(available=8e9))
    family = GENERATORS[name]
    given = {key: HUGE[key] for key in family.parameters if key in HUGE}
    seed = {"seed": 5} if family.seeded else {}
    with pytest.raises(
        UsageError, match=r"need about [\d,.]+ GB of memory to make, but only 8.0 GB"
    ):
        family.make(**given, **seed)


def test_benchmark_families_are_known_by_name():
    assert list(instances.FAMILIES) == ["delaunay18", "delaunay20", "graded19", "rgg3d18", "dual1m"]
    with pytest.raises(UsageError, match="no benchmark family 'delaunay19'"):
        instances.benchmark_family("delaunay19", 3)


@pytest.mark.slow
def test_a_benchmark_family_is_of_its_size_in_random_order():
    graph = instances.benchmark_family("rgg3d18", 3)
    assert graph.n == 1 << 18
    assert graph.degrees.mean() == pytest.approx(12, rel=0.05)
    steps = np.abs(np.diff(graph.coords, axis=0)).sum(axis=1)
    assert steps.mean() == pytest.approx(1.0, rel=0.01)  # of two random points, in three dimensions
