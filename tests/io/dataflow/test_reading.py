"""Stream graphs from files of all formats: a small one of each, and what is refused."""

import os
from pathlib import Path

import numpy as np
import pytest

from evener.errors import InputError
from evener.graphs.stream_graph import StreamGraph
from evener.io.dataflow.reading import read_stream_graph
from evener.io.dataflow.toml import write_stream_toml

STREAMIT = """digraph streamit {
subgraph cluster_1 { label = "Main";
Source_pop_0_push_1 -> split
split [ label="roundrobin(2, 1)" ]
join [ label="roundrobin(4, 1)" ]
split -> Up_pop_2_push_4_7
Up_pop_2_push_4_7 [ label="Up_pop_2_push_4" ]
Up_pop_2_push_4_7 -> join
split -> join
join -> Sink_pop_10_push_0
} }
"""
COSTS = """digraph g { node [vector=8]; a [scalar=10]; b [scalar=20, stateful=true, vector=1];
a -> b [bytes=64]; }"""
DAX = """<?xml version="1.0"?><adag xmlns="http://pegasus.isi.edu/schema/DAX">
<job id="A" runtime="2"><uses file="f" link="output" size="100"/></job>
<job id="B" runtime="-1"><uses file="f" link="input" size="100"/>
<uses file="g" link="input" size="7"/></job>
<child ref="B"><parent ref="A"/></child></adag>"""
WFCOMMONS = """{"schemaVersion": "1.5", "workflow": {"specification": {"tasks": [
{"id": "A", "parents": [], "outputFiles": ["f"]},
{"id": "B", "parents": ["A"], "inputFiles": ["f", "g"]}],
"files": [{"id": "f", "sizeInBytes": 100}, {"id": "g", "sizeInBytes": 7}]},
"execution": {"tasks": [{"id": "A", "runtimeInSeconds": 2},
{"id": "B", "runtimeInSeconds": 1}]}}}"""
OLD_WFCOMMONS = """{"schemaVersion": "1.3", "workflow": {"tasks": [
{"name": "A", "runtime": 2, "files": [{"link": "output", "name": "f", "size": 100}]},
{"name": "B", "runtime": 1, "parents": ["A"],
 "files": [{"link": "input", "name": "f", "size": 100}]}
]}}"""
GRAPHML = """<graphml xmlns="http://graphml.graphdrawing.org/xmlns">
<key id="d0" for="node" attr.name="scalar" attr.type="double"/>
<key id="d1" for="edge" attr.name="bytes" attr.type="double"/>
<graph edgedefault="directed"><node id="A"><data key="d0">5</data></node>
<node id="B"><data key="d0">6</data></node>
<edge source="A" target="B"><data key="d1">100</data></edge></graph></graphml>"""
STG = "2\n0 0 0\n1 5 1 0\n2 6 2 0 1\n3 0 1 2\n"


def read(tmp_path, text, name="x.txt"):
    path = tmp_path / name
    path.write_text(text)
    return read_stream_graph(path)


@pytest.mark.parametrize(
    ("text", "name", "scalar", "nbytes"),
    [
        (DAX, "dax", [2e9, 0], [100]),
        (WFCOMMONS, "wfcommons", [2e9, 1e9], [100]),
        (OLD_WFCOMMONS, "wfcommons", [2e9, 1e9], [100]),
        (GRAPHML, "graphml", [5, 6], [100]),
        (STG, "stg", [5, 6], [0]),
        (COSTS, "dot", [10, 20], [64]),
    ],
    ids=["dax", "wfcommons", "old", "graphml", "stg", "dot"],
)
def test_two_filters_in_every_format(tmp_path, text, name, scalar, nbytes):
    found = read(tmp_path, text)
    assert found.format == name
    assert found.graph.scalar.tolist() == scalar
    assert (found.graph.tails.tolist(), found.graph.heads.tolist()) == ([0], [1])
    assert found.graph.nbytes.tolist() == nbytes
    assert bool(found.notes) == (name == "dax")


def test_attributes_of_dot(tmp_path):
    graph = read(tmp_path, COSTS).graph
    assert graph.vector.tolist() == [8, 1]
    assert graph.stateful.tolist() == [False, True]


def test_rates_of_streamit_are_balanced(tmp_path):
    """In an iteration: 6 items of the source, 2 runs of split, of Up and of join, 1 of the sink."""
    graph = read(tmp_path, STREAMIT).graph
    runs = dict(zip(graph.names, graph.vector.tolist(), strict=True))
    assert runs == {
        "Source_pop_0_push_1": 6, "split": 2, "Up_pop_2_push_4_7": 2, "join": 2,
        "Sink_pop_10_push_0": 1,
    }  # fmt: skip
    ends = {
        (graph.names[a], graph.names[b]): nbytes
        for a, b, nbytes in zip(graph.tails, graph.heads, graph.nbytes, strict=True)
    }
    assert ends["Up_pop_2_push_4_7", "join"] == 4 * 4 * 2
    assert ends["split", "join"] == 4 * 1 * 2


def test_toml_is_read_back_as_it_was(tmp_path):
    graph = StreamGraph(
        ("a", 'b "c"'), [1.5, 2e6], [1, 1], [0, 1], [1, 0], [8, 0.25], [True, False], [0, 2],
        {"ram": [0, 3]},
    )  # fmt: skip
    write_stream_toml(tmp_path / "x.toml", graph)
    again = read_stream_graph(tmp_path / "x.toml").graph
    assert again.names == graph.names
    for name in ("scalar", "vector", "tails", "heads", "nbytes", "stateful", "tokens"):
        assert np.array_equal(getattr(again, name), getattr(graph, name)), name
    assert again.needs["ram"].tolist() == [0, 3]


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("hello", "no stream graph of a format"),
        ("[[filter]]\nname='a'\n", r"x\.toml:1: filter 'a' has no scalar"),
        ("[[filter]]\nname='a'\nscalar=1\nscaler=2\n", "did you mean scalar"),
        (
            "[[filter]]\nname='a'\nscalar=1\n[[edge]]\nfrom='a'\nto='b'\nbytes=1\n",
            "toml:6: .*no filter",
        ),
        ("[[filter]]\nname='a'\nscalar=1\nstateful=true\nvector=2\n", "is stateful"),
        ("digraph g { a -> b }", "has no rates of node 'a'"),
        ("digraph g { a [scalar=1]; b }", "has no scalar of node 'b'"),
        ("digraph g { a [scalar=1]; b [scalar=1]; a -> b }", "has no bytes of the edge"),
        ("digraph g { a [scalar=x]; }", "has no number as scalar"),
        (STREAMIT.replace("(4, 1)", "(4, 2)"), "never balance"),
        (DAX.replace('runtime="2"', ""), "has no number as runtime of job 'A'"),
        (DAX.replace('ref="A"', 'ref="C"'), "'C', which is no filter"),
        (DAX.replace("</adag>", ""), "is not XML"),
        ('<!DOCTYPE a [<!ENTITY b "c">]>' + DAX[21:], "declares a document type"),
        (WFCOMMONS.replace('"runtimeInSeconds": 2', '"x": 2'), "is no workflow of WfCommons"),
        (GRAPHML.replace('<data key="d0">6</data>', ""), "has no number as scalar of node 'B'"),
        (STG.replace("2 6 2 0 1", "2 6 2 0"), "other predecessors than it counts"),
        (STG.replace("2\n0 0 0", "5\n0 0 0"), "says 5 tasks"),
    ],
)
def test_what_is_refused(tmp_path, text, said):
    name = "x.toml" if text.startswith("[[") else "x.txt"
    with pytest.raises(InputError, match=said) as refused:
        read(tmp_path, text, name)
    assert "x.t" in str(refused.value)


DAGS = Path(os.environ.get("EVENER_DATA", "/nowhere")) / "dags"


@pytest.mark.skipif(not DAGS.is_dir(), reason="real inputs lie in the folder EVENER_DATA names")
def test_real_files():
    for path in sorted(DAGS.iterdir()):
        if "tar" not in path.name:
            assert read_stream_graph(path).graph.n >= 18


TOML = """[[filter]]
name = "a"
scalar = 1
needs = { ram = 2 }
[[filter]]
name = "b"
scalar = 1
vector = 4
[[edge]]
from = "a"
to = "b"
bytes = 7
tokens = 1
"""
SAMPLES = {
    "toml": TOML, "streamit": STREAMIT, "costs": COSTS, "dax": DAX, "wfcommons": WFCOMMONS,
    "old": OLD_WFCOMMONS, "graphml": GRAPHML, "stg": STG,
}  # fmt: skip


@pytest.mark.parametrize("name", SAMPLES)
def test_changed_files_are_read_or_refused(tmp_path, name):
    """Bytes changed, left out or doubled: a graph, or an error that names the file."""
    whole = SAMPLES[name].encode()
    rng = np.random.default_rng(7)
    path = tmp_path / ("x.toml" if name == "toml" else "x.txt")
    for _ in range(100):
        data = bytearray(whole)
        for _ in range(int(rng.integers(1, 4))):
            first, length = int(rng.integers(len(data))), int(rng.integers(1, 9))
            new = (rng.bytes(length), b"", data[first : first + length] * 2, b"-1", b"1e999")
            data[first : first + length] = new[int(rng.integers(len(new)))]
        path.write_bytes(data)
        try:
            found = read_stream_graph(path).graph
        except InputError as error:
            assert path.name in str(error)
        else:
            assert np.isfinite(found.scalar).all()
            assert (found.nbytes >= 0).all()
