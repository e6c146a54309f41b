"""Stream graphs from files of all formats: a small one of each, and what is refused."""

import collections
import itertools
import json
import math
import os
import re
from pathlib import Path

import numpy as np
import pytest
import zstandard

from evener.errors import InputError
from evener.io.dataflow.reading import read_stream_graph

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
MANY = 999_999_999_999_989


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
CYCLE = """digraph g { node [scalar=1]; a -> b -> c [bytes=1]; c -> a [bytes=3]; }"""


def read(tmp_path, text, name="x.txt"):
    path = tmp_path / name
    path.write_bytes(text.encode())
    return read_stream_graph(path)


@pytest.mark.parametrize(
    ("text", "name", "scalar", "nbytes"),
    [
        (DAX, "dax", [2e9, 0], [100]),
        (WFCOMMONS, "wfcommons", [2e9, 1e9], [100]),
        (OLD_WFCOMMONS, "wfcommons", [2e9, 1e9], [100]),
        (GRAPHML, "graphml", [5, 6], [100]),
        (COSTS, "dot", [10, 20], [64]),
    ],
    ids=["dax", "wfcommons", "old", "graphml", "dot"],
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


def test_a_cycle_with_tokens_is_read(tmp_path):
    graph = read(tmp_path, CYCLE.replace("3]", "3, tokens=2]")).graph
    assert graph.tokens.tolist() == [0, 0, 2]


@pytest.mark.parametrize(
    ("text", "name"), [("\ufeff" + DAX, "x.xml"), ("\ufeff" + WFCOMMONS, "x"), (TOML, "x"),
                       ("\ufeff" + TOML, "x.toml")]
)  # fmt: skip
def test_marks_of_byte_order_and_other_suffixes(tmp_path, text, name):
    assert read(tmp_path, text, name).graph.n == 2


def test_a_packed_file_of_toml(tmp_path):
    path = tmp_path / "x.toml.zst"
    path.write_bytes(zstandard.ZstdCompressor().compress(TOML.encode()))
    assert read_stream_graph(path).graph.names == ("a", "b")


def test_edges_that_no_item_is_dealt_to_carry_nothing(tmp_path):
    text = """digraph streamit { S_pop_0_push_2 -> split; split [label="roundrobin(0, 2)"];
    split -> A_pop_0_push_1; split -> B_pop_2_push_1; A_pop_0_push_1 -> join;
    B_pop_2_push_1 -> join; join [label="WEIGHTED_ROUND_ROBIN(1, 3)"]; }"""
    graph = read(tmp_path, text).graph
    assert sent(graph)["split", "A_pop_0_push_1"] == 0
    assert dict(zip(graph.names, graph.vector, strict=True)) == {
        "S_pop_0_push_2": 3, "split": 3, "A_pop_0_push_1": 1, "B_pop_2_push_1": 3, "join": 1,
    }  # fmt: skip


def test_a_pair_of_tasks_that_both_name_is_one_edge(tmp_path):
    both = WFCOMMONS.replace('"parents": [], ', '"parents": [], "children": ["B", "B"], ')
    assert read(tmp_path, both).graph.nbytes.tolist() == [100]
    child = both.replace('"parents": ["A"], ', "")
    assert read(tmp_path, child).graph.nbytes.tolist() == [100]
    twice = DAX.replace("</adag>", '<child ref="B"><parent ref="A"/></child></adag>')
    assert read(tmp_path, twice).graph.nbytes.tolist() == [100]


def test_files_without_a_size_are_empty_and_a_note_says_so(tmp_path):
    found = read(tmp_path, DAX.replace('link="output" size="100"', 'link="output"'))
    assert found.graph.nbytes.tolist() == [0]
    assert any("no size" in note for note in found.notes)


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


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("hello", "is not a stream graph in a known format"),
        ("[[filter]]\nname='a'\n", r"x\.toml:1: filter 'a' has no scalar"),
        ("[[filter]]\nname='a'\nscalar=1\nscaler=2\n", "did you mean scalar"),
        ("[[filter]]\nname='a'\nscalar=-1\n", r"x\.toml:3: scalar of filter 'a' must be a number"),
        ("[[filter]]\nname='a'\nscalar=inf\n", r"x\.toml:3: scalar of filter 'a' must be a number"),
        ("[[filter]]\nname='a'\nscalar=1\nvector=0.5\n", r"x\.toml:4: .*of one or more, not 0.5"),
        ("[[filter]]\nname='a'\nscalar=1\nneeds={m=-1}\n", r"x\.toml:4: .*not below zero"),
        ("[[filter]]\nname='a'\nscalar=1\n" * 2, r"x\.toml:5: two filters have the name 'a'"),
        ("[[edge]]\nfrom='a'\nto='b'\nbytes=1\n", "a stream graph needs one"),
        (
            "[[filter]]\nname='a'\nscalar=1\n[[edge]]\nfrom='a'\nto='b'\nbytes=1\n",
            "toml:6: `to` of an edge is 'b', which is not a filter",
        ),
        ("[[filter]]\nname='a'\nscalar=1\nstateful=true\nvector=2\n", "is stateful"),
        ("digraph g { a -> b }", "has no rates for node 'a'"),
        ("digraph g { a [scalar=1]; b }", "has no scalar for node 'b'"),
        ("digraph g { a [scalar=1]; b [scalar=1]; a -> b }", "has no bytes for the edge"),
        ("digraph g { a [scalar=x]; }", "has scalar .x. for node .a."),
        ("graph g { a [scalar=1]; b [scalar=1]; a -- b [bytes=1] }", "undirected graph"),
        ("digraph g { a [scalar=1, stateful=maybe]; }", "; true or false is needed"),
        ('digraph g {\na [scalar=1, "needs.ram"=much]; }', "; a number is needed"),
        ("digraph g { a [scalar=-1]; }", "scalar of filter 'a' must be >= 0, not -1"),
        ("digraph g { a [scalar=1, vector=0.5]; }", "vector of filter 'a' must be >= 1"),
        ("digraph g { a [scalar=nan]; }", "has scalar 'nan' for node 'a'"),
        ("digraph g { a [scalar=1]; a -> a [bytes=1]; }", "joins filter 'a' to itself"),
        (CYCLE, "wait for each other: 'a' -> 'b' -> 'c' -> 'a'"),
        (CYCLE.replace("3]", "3, tokens=0.5]"), "tokens of the edge .* must be whole, not 0.5"),
        (STREAMIT.replace("(4, 1)", "(4, 2)"), "never balance: 'join' would run 1/6 or 1/3 times"),
        (STREAMIT.replace("(4, 1)", "(4, 1, 1)"), "has 3 weights for node 'join'"),
        (
            f"digraph {{ A_pop_0_push_{MANY} -> B_pop_{MANY - 10}_push_1 -> C_pop_97_push_0 }}",
            "by which 'C_pop_97_push_0' would run more than 2.53 times",
        ),
        (
            STREAMIT.replace("push_1", "push_0"),
            "items move at only one end of 'Source_pop_0_push_0' -> 'split'",
        ),
        (
            STREAMIT.replace("(2, 1)", f"({'9' * 5000}, 1)"),
            "gives node 'split' a weight of more than",
        ),
        (DAX.replace('runtime="2"', ""), "needs a number as runtime of job 'A'"),
        (DAX.replace('ref="A"', 'ref="C"'), "'C', which is not a filter"),
        (DAX.replace("</adag>", ""), "is not well-formed XML"),
        (DAX.replace('id="B"', 'id="A"'), "has two jobs 'A'"),
        (DAX.replace('runtime="2"', 'runtime="nan"'), "needs a number as runtime"),
        ('<?xml version="1.0" encoding="foo"?><adag/>', "has an unknown encoding:"),
        (
            '<!DOCTYPE a [<!ENTITY b "c">]>' + DAX[21:],
            "declares its own document type, which Evener does not read",
        ),
        (WFCOMMONS.replace('"runtimeInSeconds": 2', '"x": 2'), "is not a WfCommons workflow:"),
        (
            WFCOMMONS.replace('"A", "parents": []', '"B", "parents": []'),
            "has two tasks with the same id",
        ),
        (
            WFCOMMONS.replace('Seconds": 2', 'Seconds": 1e999'),
            "has seconds or bytes that are not finite: inf",
        ),
        (GRAPHML.replace('<data key="d0">6</data>', ""), "has no scalar for node 'B'"),
        (GRAPHML.replace('"directed"', '"undirected"'), "does not give the edge 'A' -> 'B'"),
        (
            GRAPHML.replace("</node>", '</node><node id="A"><data key="d0">5</data></node>', 1),
            "two filters have the name 'A'",
        ),
    ],
)
def test_what_is_refused(tmp_path, text, said):
    name = "x.toml" if text.startswith("[[") else "x.txt"
    with pytest.raises(InputError, match=said) as refused:
        read(tmp_path, text, name)
    assert "x.t" in str(refused.value)


DAGS = Path(os.environ.get("EVENER_DATA", "/nowhere")) / "dags"


have_dags = pytest.mark.skipif(
    not DAGS.is_dir(), reason="real inputs lie in the folder EVENER_DATA names"
)


def unpacked_text(path):
    return zstandard.ZstdDecompressor().decompressobj().decompress(path.read_bytes()).decode()


def sent(graph):
    """Bytes by the names of an edge's ends."""
    ends = zip(graph.tails.tolist(), graph.heads.tolist(), graph.nbytes.tolist(), strict=True)
    return {(graph.names[a], graph.names[b]): nbytes for a, b, nbytes in ends}


@have_dags
@pytest.mark.parametrize(
    "name", ["AutoCor", "FFT2", "JPEGFilt", "Lattice", "MatrixMult", "Serpent"]
)
def test_real_rates_balance(name):
    """By another reading: lines of edges and labels; what a filter pushes and pops in an iteration
    is what flows on its edges, and no smaller iteration would do."""
    text = unpacked_text(DAGS / f"streamit_{name}-rates.dot.zst")
    pairs = re.findall(r"^(\w+) -> (\w+)$", text, re.MULTILINE)
    labels = dict(re.findall(r'^(\w+) \[ label="(.*)" \]$', text, re.MULTILINE))
    found = read_stream_graph(DAGS / f"streamit_{name}-rates.dot.zst").graph
    runs = dict(zip(found.names, found.vector.astype(int).tolist(), strict=True))
    assert set(runs) == set(labels)
    flow = sent(found)
    assert sorted(flow) == sorted(pairs)
    assert math.gcd(*runs.values()) == 1
    for node, label in labels.items():
        into = [flow[pair] // 4 for pair in pairs if pair[1] == node]
        out = [flow[pair] // 4 for pair in pairs if pair[0] == node]
        rates = re.search(r"_pop_(\d+)_push_(\d+)$", label)
        if rates is not None:
            assert into == [int(rates[1]) * runs[node]] * len(into)
            assert out == [int(rates[2]) * runs[node]] * len(out)
        elif label == "duplicate":
            assert {*into, *out} == {runs[node]}
        else:
            shares = [int(word) * runs[node] for word in re.findall(r"\d+", label)]
            assert sorted([into, out], key=len) == [[sum(shares)], shares]


@have_dags
@pytest.mark.parametrize("name", ["Epigenomics_997", "Inspiral_1000", "Montage_100", "Sipht_100"])
def test_real_dax(name):
    """By another reading: lines, not XML."""
    text = unpacked_text(DAGS / f"{name}.dax.xml.zst")
    job, seconds, pairs = "", {}, set()
    files = {"input": {}, "output": {}}
    for line in text.splitlines():
        words = dict(re.findall(r'(\w+)="([^"]*)"', line))
        if "<job" in line:
            job, seconds[words["id"]] = words["id"], max(float(words["runtime"]), 0)
        elif "<uses" in line:
            files[words["link"]].setdefault(job, {})[words["file"]] = max(float(words["size"]), 0)
        elif "<child" in line:
            child = words["ref"]
        elif "<parent" in line:
            pairs.add((words["ref"], child))
    found = read_stream_graph(DAGS / f"{name}.dax.xml.zst").graph
    assert dict(zip(found.names, (found.scalar / 1e9).tolist(), strict=True)) == pytest.approx(
        seconds
    )
    flow = sent(found)
    assert set(flow) == pairs
    for (a, b), nbytes in flow.items():
        written = files["output"].get(a, {})
        assert nbytes == sum(written[f] for f in written.keys() & files["input"].get(b, {}).keys())


@have_dags
@pytest.mark.parametrize("path", sorted(DAGS.glob("*.json.zst")), ids=lambda path: path.name[:8])
def test_real_wfcommons(path):
    """By another reading: children, not parents; each file's writer and readers."""
    workflow = json.loads(unpacked_text(path))["workflow"]
    tasks, sizes = workflow["specification"]["tasks"], {}
    for file in workflow["specification"]["files"]:
        sizes[file["id"]] = file["sizeInBytes"]
    found = read_stream_graph(path).graph
    total = sum(task["runtimeInSeconds"] for task in workflow["execution"]["tasks"])
    assert found.n == len(tasks)
    assert found.scalar.sum() == pytest.approx(1e9 * total)
    flow = sent(found)
    assert sorted(flow) == sorted((t["id"], child) for t in tasks for child in t["children"])
    readers, writers = collections.defaultdict(set), collections.defaultdict(set)
    for task in tasks:
        for file in task["inputFiles"]:
            readers[file].add(task["id"])
        for file in task["outputFiles"]:
            writers[file].add(task["id"])
    carried = collections.Counter()
    for file, some in writers.items():
        for pair in itertools.product(some, readers[file]):
            if pair in flow:
                carried[pair] += sizes[file]
    assert flow == pytest.approx({pair: carried[pair] for pair in flow})


def test_a_removed_format_is_named_with_what_serves_in_its_place(tmp_path):
    (tmp_path / "a.stg").write_text("1\n0 0 0\n1 5 1 0\n2 0 1 1\n")
    with pytest.raises(
        InputError, match=r"a\.stg: has the format stg, which Evener no longer reads"
    ) as bad:
        read_stream_graph(tmp_path / "a.stg")
    assert "TOML" in bad.value.hint


SAMPLES = {
    "toml": TOML, "streamit": STREAMIT, "costs": COSTS, "dax": DAX, "wfcommons": WFCOMMONS,
    "old": OLD_WFCOMMONS, "graphml": GRAPHML,
}  # fmt: skip


@pytest.mark.parametrize("name", SAMPLES)
def test_changed_files_are_read_or_refused(tmp_path, name):
    """Bytes changed, left out or doubled: a graph, or an error that names the file."""
    whole = SAMPLES[name].encode()
    rng = np.random.default_rng(7)
    path = tmp_path / ("x.toml" if name == "toml" else "x.txt")
    for _ in range(40):
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
