"""The edge that makes a file's lists asymmetric is named, wherever it is."""

import re

import numpy as np
import pytest

from evener.errors import InputError
from evener.graphs.graph import Graph
from evener.io import write_graph
from evener.io.csr import csr_file
from evener.io.csr.csr_file import CsrFile, SomeArcs, asymmetric_edge


@pytest.fixture
def damaged(tmp_path, monkeypatch):
    """Write a random graph with weights as a file, of which one number is another one then."""
    monkeypatch.setattr(csr_file, "FEW", 100)  # several pieces
    rng = np.random.default_rng(3)
    u, v = rng.integers(0, 80, (2, 400))
    graph = Graph.from_edges(80, u, v, weights=rng.integers(1, 9, 400).astype(float) + 0.5)

    def write(name, at, value):
        path = tmp_path / "g.ecsr"
        write_graph(path, graph)
        with CsrFile(path) as file:
            section = file.layout.sections[name]
        data = bytearray(path.read_bytes())
        begin = section.offset + at * section.dtype.itemsize
        changed = np.array([value], section.dtype).tobytes()
        data[begin : begin + len(changed)] = changed
        path.write_bytes(data)
        return path

    return graph, write


def test_of_symmetric_lists_there_is_none(damaged):
    graph, _ = damaged
    tail = np.repeat(np.arange(graph.n), np.diff(graph.xadj))
    whole = SomeArcs(tail, graph.adjncy.astype(np.int64), np.asarray(graph.adjwgt, np.float64))
    assert asymmetric_edge(lambda: [whole]) == ""
    assert "lists neighbour" in asymmetric_edge(lambda: [whole.taken(tail != 5)])


@pytest.mark.parametrize("v", [0, 33, 70])
def test_an_arc_that_leads_elsewhere(damaged, v):
    graph, write = damaged
    at = int(graph.xadj[v + 1]) - 1  # the last neighbour, so that lists stay in order
    was, now = int(graph.adjncy[at]), 79
    assert was < now
    with CsrFile(write("adjncy", at, now)) as file, pytest.raises(InputError) as raised:
        file.check()
    found = re.search(
        r"vertex (\d+) lists neighbour (\d+), but vertex \2 does not list \1 \(", str(raised)
    )
    assert tuple(map(int, found.groups())) in ((v, now), (was, v))


def test_a_weight_that_differs_and_again_when_it_is_asked_again(damaged):
    graph, write = damaged
    at = int(graph.xadj[20])
    edge = sorted((20, int(graph.adjncy[at])))
    with CsrFile(write("adjwgt", at, 77.25)) as file:
        for _ in range(2):
            with pytest.raises(InputError, match=r"77\.25") as raised:
                file.check()
            assert f"the edge between {edge[0]} and {edge[1]} has weight" in str(raised.value)
