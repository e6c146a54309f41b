"""Parts read from a file in pieces against those of the graph that is read whole."""

from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import evener as ev
from evener.errors import InputError
from evener.io.graphs import npz, streams
from evener.io.graphs.streams import WholeNeeded
from evener.io.streaming import open_stream
from evener.plans.partition import Partition
from evener.running.comm import run_threads
from evener.running.distributing import distribute, part_sizes
from evener.running.slicing import read_parts, share_of
from tests.running.test_distributing import WANTS, same

SUFFIXES = (".graph", ".mtx", ".csv", ".npz")


@pytest.fixture(autouse=True)
def _small_pieces(monkeypatch):
    monkeypatch.setattr(streams, "PIECE", 40)
    monkeypatch.setattr(npz, "ENTRIES", 7)


def parts_of(path, partition, size, want, **options):
    """All parts, of ranks that are threads, and what the first of these knows."""
    found = run_threads(
        size,
        lambda comm: read_parts(
            open_stream(path, partition.n, options), partition, comm, want=want
        ),
    )
    parts = {rank: part for own in found for rank, part in own.parts.items()}
    assert sorted(parts) == list(range(partition.k))
    assert len({one.facts for one in found}) == 1
    return [parts[rank] for rank in sorted(parts)], found[0]


def check(path, partition, size, want, **options):
    reading = ev.read(path, **options)
    expected = distribute(reading.graph, partition, want=want, threads=1)
    found, known = parts_of(path, partition, size, want, **options)
    for one, other in zip(found, expected, strict=True):
        assert same(one, other)
    graph = reading.graph
    assert known.facts[:4] == (
        graph.n,
        graph.adjncy.size,
        not graph.symmetric,
        graph.adjwgt is not None,
    )
    assert (known.n, known.n_arcs, known.symmetric) == (graph.n, graph.adjncy.size, graph.symmetric)
    assert known.notes == reading.notes
    assert known.facts.vertices_weigh == (graph.vwgt is not None)
    assert known.sizes == part_sizes(graph, partition, want=want, threads=1)
    arcs = np.bincount(partition.part, np.diff(graph.xadj), partition.k)
    assert known.out_arcs.tolist() == arcs.tolist()


@st.composite
def files(draw):
    """Text of a graph file, a suffix, a partition, which arcs, and how many ranks read it."""
    n, k = draw(st.integers(1, 14)), draw(st.sampled_from([1, 2, 3, 9]))
    rng = np.random.default_rng(draw(st.integers(0, 2**31)))
    m = draw(st.integers(0, 4 * n))
    u, v = rng.integers(0, n, (2, m))
    weights = [None, rng.integers(0, 9, m), rng.integers(0, 9, m) / 2][draw(st.integers(0, 2))]
    partition = Partition(rng.choice(rng.permutation(k)[: rng.integers(1, k + 1)], n), k)
    return (n, u, v, weights), partition, draw(st.sampled_from(WANTS)), draw(st.integers(1, k))


def lines(u, v, weights):
    """Pairs a line, with weights where there are some."""
    columns = [u, v] if weights is None else [u, v, weights]
    return "".join(" ".join(str(x) for x in row) + "\n" for row in zip(*columns, strict=True))


@given(files(), st.booleans(), st.sampled_from([".graph", ".npz"]))
def test_lists_of_edges(case, directed, suffix):
    (n, u, v, weights), partition, want, size = case
    graph = ev.Graph.from_edges(n, u, v, weights=weights)
    if suffix == ".graph" and weights is not None:
        graph = ev.Graph.from_edges(n, u, v, weights=weights.astype(int))
    with TemporaryDirectory() as folder:
        path = Path(folder) / f"g{suffix}"
        ev.write_graph(path, graph)
        check(path, partition, size, want, directed=directed)


@given(files())
def test_archives_of_arcs(case):
    (n, u, v, weights), partition, want, size = case
    with TemporaryDirectory() as folder:
        path = Path(folder) / "g.npz"
        ev.write_graph(path, ev.DirectedGraph.from_arcs(n, u, v, weights=weights))
        check(path, partition, size, want, directed=True)


@given(files(), st.booleans(), st.sampled_from(["general", "symmetric", "skew-symmetric"]))
def test_matrices(case, directed, symmetry):
    """Entries on the diagonal, twice and in both triangles, negative values among them."""
    (n, u, v, weights), partition, want, size = case
    if symmetry != "general":
        u, v = np.maximum(u, v), np.minimum(u, v)
    if weights is not None and weights.size and weights[0] == 2:
        weights = weights - 4.0
    with TemporaryDirectory() as folder:
        path = Path(folder) / "g.mtx"
        field = "pattern" if weights is None else "real"
        head = f"%%MatrixMarket matrix coordinate {field} {symmetry}\n% said\n{n} {n} {u.size}\n"
        path.write_text(head + lines(u + 1, v + 1, weights))
        check(path, partition, size, want, directed=directed)


@given(files(), st.booleans(), st.integers(0, 2))
def test_edge_lists(case, directed, base):
    """Lines that repeat an edge with another weight, loops; every number on a line."""
    (n, u, v, weights), partition, want, size = case
    u, v = np.append(np.arange(n), u), np.append((np.arange(n) + 1) % n, v)
    weights = None if weights is None else np.append(np.arange(n), weights)
    with TemporaryDirectory() as folder:
        path = Path(folder) / "g.csv"
        path.write_text("# said\n" + lines(u + base, v + base, weights))
        if n == 1:
            with pytest.raises(WholeNeeded, match=r"gaps|may be a header of counts"):
                parts_of(path, partition, size, want, directed=directed)
        else:
            check(path, partition, size, want, directed=directed)


def test_a_metis_file_with_comments_blank_lines_and_weights(tmp_path):
    path = tmp_path / "g.graph"
    text = "% a\n5 3 111 2\n% b\n1 9 9 2 7.5\n1 2 3 1 7.5 3 1\n1 1 1 2 1\n% c\n1 1 1\n"
    path.write_text(text + "1 1 1\n\n  \n")
    with pytest.raises(InputError, match="declares 3 edges, but the lists contain 4"):
        parts_of(path, Partition(np.array([0, 1, 0, 1, 2]), 3), 2, "out")
    path.write_text(text.replace("5 3 111", "5 2 111") + "1 1 1\n\n  \n")
    check(path, Partition(np.array([0, 1, 0, 1, 2]), 3), 2, "out")


@pytest.mark.parametrize(
    ("name", "text", "error", "said"),
    [
        ("g.graph", "3 2\n2\n1 3\n1\n", InputError, "at only one of its ends"),
        ("g.graph", "3 2 1\n2 1\n1 1 3 2\n2 3\n", InputError, "different weights"),
        ("g.graph", "3 2\n2\n1 1\n2\n", InputError, "more than once"),
        ("g.graph", "3 2\n2\n1 x\n2\n", InputError, "a number is needed, not 'x'"),
        ("g.graph", "3 2\n2\n1 3", InputError, "but 2 lines follow"),
        ("g.csv", "0 1\n1 2\n3 0\n", WholeNeeded, "gaps"),
        ("g.csv", "5 6\n6 7\n7 5\n0 1\n", WholeNeeded, "gaps"),
        ("g.csv", "0 2\n2 0\n1 1\n", WholeNeeded, "gaps"),
        ("g.mtx", "%%MatrixMarket matrix coordinate pattern general\n3 3 2\n1 2\n", InputError,
         "contains 1 entries but declares 2"),
        ("g.mtx", "%%MatrixMarket matrix coordinate pattern general\n3 3 1\n1 4\n", InputError,
         "index 4 is out of range"),
    ],
)  # fmt: skip
def test_what_is_refused(tmp_path, name, text, error, said):
    path = tmp_path / name
    path.write_text(text)
    with pytest.raises(error, match=said):
        parts_of(path, Partition(np.array([0, 1, 0]), 2), 2, "out")


def test_an_error_has_the_line_of_the_file(tmp_path):
    path = tmp_path / "g.graph"
    path.write_text("60 59\n2\n" + "".join(f"{v - 1} {v + 1}\n" for v in range(2, 60)) + "1x\n")
    with pytest.raises(InputError) as caught:
        parts_of(path, Partition(np.zeros(60, np.int32), 1), 1, "out")
    assert caught.value.line == 61


def test_shares_of_pieces_follow_each_other():
    found = [share_of(10, rank, 4) for rank in range(4)]
    assert [list(one) for one in found] == [[0, 1], [2, 3, 4], [5, 6], [7, 8, 9]]
