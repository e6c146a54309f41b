"""Folders written without the graph in memory against those of the graph that is read whole."""

from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import evener as ev
from evener.errors import InputError, UsageError
from evener.io.csr.csr_file import CsrFile
from evener.io.graphs import npz, streams
from evener.io.graphs.streams import WholeNeeded
from evener.io.streaming import open_stream
from evener.plans.partition import Partition
from evener.running.distributed import read_index
from evener.running.out_of_core import distribute_file
from tests.running.test_slicing import files, lines


@pytest.fixture(autouse=True)
def _small_pieces(monkeypatch):
    monkeypatch.setattr(streams, "PIECE", 40)
    monkeypatch.setattr(npz, "ENTRIES", 7)
    monkeypatch.setattr(CsrFile.ranges, "__defaults__", (7, 0, None))


def check(path, partition, want, threads, **options):
    graph = ev.read(path, **options).graph
    parts = ev.distribute(graph, partition, want=want, threads=1)
    expected = ev.write_distributed(path.parent / "whole", parts, inputs={"g": "1"})
    stream = open_stream(path, partition.n, options)
    more = {"want": want, "inputs": {"g": "1"}, "threads": threads}
    index = distribute_file(path.parent / "pieces", stream, partition, **more)
    assert index == expected == read_index(path.parent / "pieces")
    for file in (path.parent / "whole").iterdir():
        assert (path.parent / "pieces" / file.name).read_bytes() == file.read_bytes()
    assert {one.name for one in path.parent.iterdir()} == {path.name, "whole", "pieces"}


@given(files(), st.booleans(), st.sampled_from([".graph", ".npz", ".ecsr", ".csv", ".mtx"]))
def test_files_are_those_of_the_graph_in_memory(case, directed, suffix):
    (n, u, v, weights), partition, want, threads = case
    if suffix == ".graph" and weights is not None:
        weights = weights.astype(int)
    u, v = np.append(np.arange(n), u), np.append((np.arange(n) + 1) % n, v)
    weights = None if weights is None else np.append(np.arange(n), weights)
    has_arcs = directed and suffix not in (".graph", ".ecsr")
    make = ev.DirectedGraph.from_arcs if has_arcs else ev.Graph.from_edges
    with TemporaryDirectory() as folder:
        path = Path(folder) / f"g{suffix}"
        if suffix == ".csv":
            path.write_text(lines(u, v, weights))
        else:
            ev.write_graph(path, make(n, u, v, weights=weights))
        if suffix == ".csv" and n == 1:
            with pytest.raises(WholeNeeded):
                distribute_file(path.parent / "pieces", open_stream(path, n, {}), partition)
        else:
            check(path, partition, want, threads, directed=directed)


def test_nothing_is_left_where_the_file_is_wrong(tmp_path):
    path = tmp_path / "g.graph"
    path.write_text("3 2\n2\n1 3\n1\n")
    partition = Partition(np.array([0, 1, 0]), 2)
    with pytest.raises(InputError, match="at only one of its ends"):
        distribute_file(tmp_path / "parts", open_stream(path, 3, {}), partition)
    assert [one.name for one in tmp_path.iterdir()] == ["g.graph"]
    path.write_text("3 2\n2\n1 3\n2\n")
    distribute_file(tmp_path / "parts", open_stream(path, 3, {}), partition)
    with pytest.raises(UsageError, match="already exists"):
        distribute_file(tmp_path / "parts", open_stream(path, 3, {}), partition)
