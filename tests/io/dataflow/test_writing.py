"""Stream graphs written and read again, in every format."""

import networkx as nx
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from evener.errors import InputError, UsageError
from evener.graphs.stream_graph import EdgeRow, FilterRow, StreamGraph
from evener.io.dataflow.reading import WRITERS, read_stream_graph, write_stream_graph
from tests.examples import with_examples
from tests.graphs.random_streams import stream_graphs

FIELDS = ("scalar", "vector", "tails", "heads", "nbytes", "stateful", "tokens")


def equal(a, b):
    for name in FIELDS:
        assert np.array_equal(getattr(a, name), getattr(b, name)), name
    assert a.names == b.names
    used = {key: value.tolist() for key, value in a.needs.items() if value.any()}
    assert {key: value.tolist() for key, value in b.needs.items() if value.any()} == used


@with_examples(40)
@given(stream_graphs(), st.sampled_from(list(WRITERS)))
def test_a_graph_is_read_back_as_it_was(tmp_path_factory, graph, name):
    path = tmp_path_factory.mktemp("x") / f"x.{name}"
    try:
        write_stream_graph(path, graph)
    except InputError as error:
        assert name != "toml"
        assert "cannot be written" in str(error)
        assert not path.exists()
    else:
        found = read_stream_graph(path)
        assert found.format == name
        equal(found.graph, graph)


def small():
    filters = [FilterRow("a", 1.0), FilterRow("b", 2.0, 4.0, needs={"ram": 3.5})]
    return StreamGraph.of(filters, [EdgeRow("a", "b", 8.0)])


def test_suffixes_formats_and_packing(tmp_path):
    graph = small()
    for name in ("x.gv", "x.dot.gz", "x.graphml.zst", "x.toml.xz"):
        write_stream_graph(tmp_path / name, graph)
        equal(read_stream_graph(tmp_path / name).graph, graph)
    write_stream_graph(tmp_path / "x.txt", graph, "graphml")
    assert read_stream_graph(tmp_path / "x.txt").format == "graphml"
    with pytest.raises(UsageError, match="no format for stream graphs has the suffix"):
        write_stream_graph(tmp_path / "x.csv", graph)
    with pytest.raises(UsageError, match="there is no format 'dax'"):
        write_stream_graph(tmp_path / "x.toml", graph, "dax")


def test_graphml_of_networkx_is_read(tmp_path):
    graph = nx.DiGraph()
    graph.add_node("a", scalar=1)
    graph.add_node("b", **{"scalar": 2.5, "vector": 4, "needs.ram": 3.5})
    graph.add_edge("a", "b", bytes=8)
    nx.write_graphml(graph, tmp_path / "x.graphml")
    found = read_stream_graph(tmp_path / "x.graphml").graph
    assert found.needs["ram"].tolist() == [0, 3.5]
    write_stream_graph(tmp_path / "y.graphml", found)
    assert nx.read_graphml(tmp_path / "y.graphml").nodes["b"]["vector"] == 4.0


def test_defaults_of_graphml_keys(tmp_path):
    text = """<graphml><key id="s" for="node" attr.name="scalar"><default>3</default></key>
    <key id="b" for="edge" attr.name="bytes"><default>5</default></key><graph>
    <node id="a"/><node id="b"><data key="s">4</data></node><edge source="a" target="b"/>
    </graph></graphml>"""
    (tmp_path / "x.graphml").write_text(text)
    found = read_stream_graph(tmp_path / "x.graphml").graph
    assert (found.scalar.tolist(), found.nbytes.tolist()) == ([3, 4], [5])
