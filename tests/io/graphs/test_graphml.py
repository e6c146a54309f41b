"""GraphML and DIMACS: what networkx and others write, arcs, and what is refused."""

import networkx as nx
import pytest

import evener as ev
from evener.errors import InputError
from evener.io import read


def graphml(body, direction="undirected"):
    return (
        '<?xml version="1.0"?>\n<graphml xmlns="http://graphml.graphdrawing.org/xmlns">\n'
        '<key id="d0" for="edge" attr.name="weight" attr.type="int"/>\n'
        f'<key id="d1" for="node" attr.name="color" attr.type="string"/>\n<graph edgedefault='
        f'"{direction}">{body}</graph></graphml>\n'
    )


NODES = '<node id="a"><data key="d1">red</data></node><node id="b"/><node id="c"/>'
EDGE = '<edge source="{}" target="{}"><data key="d0">{}</data></edge>'
PATH = NODES + EDGE.format("a", "b", 3) + EDGE.format("b", "c", 5)


def test_weights_names_and_attributes(put):
    reading = read(put(graphml(PATH), "x.graphml"))
    assert reading.format == "graphml"
    assert reading.graph.adjwgt.tolist() == [3, 3, 5, 5]
    assert reading.graph.labels.tolist() == ["a", "b", "c"]
    assert reading.notes[0] == "Attributes are not read: color."


def test_as_networkx_writes_it(tmp_path):
    graph = nx.gnm_random_graph(30, 60, seed=4)
    nx.write_graphml(graph, tmp_path / "g.graphml")
    found = read(tmp_path / "g.graphml").graph
    own = ev.Graph.from_networkx(graph)
    assert (found.xadj.tolist(), found.adjncy.tolist()) == (own.xadj.tolist(), own.adjncy.tolist())
    arcs = nx.gnm_random_graph(30, 60, seed=4, directed=True)
    nx.write_graphml(arcs, tmp_path / "d.graphml")
    with pytest.raises(InputError, match="is a directed graph"):
        read(tmp_path / "d.graphml")
    assert read(tmp_path / "d.graphml", directed=True).graph.m == 60
    assert read(tmp_path / "g.graphml", directed=True).graph.m == 120


def test_defaults_prefixes_and_nested_graphs(put):
    text = graphml(PATH + '<edge source="c" target="a"/><node id="d"><graph><node id="e"/>'
                   '<edge source="e" target="d"/></graph></node>')  # fmt: skip
    text = text.replace('attr.type="int"/>', 'attr.type="int"><default> 7 </default></key>')
    graph = read(put(text, "x.graphml")).graph
    assert graph.labels.tolist() == list("abcde")
    assert sorted(graph.adjwgt.tolist()) == [3, 3, 5, 5, 7, 7, 7, 7]
    prefixed = text.replace("<", "<g:").replace("<g:/", "</g:").replace("<g:?", "<?")
    prefixed = prefixed.replace("xmlns=", "xmlns:g=")
    assert read(put(prefixed, "y.graphml")).graph.adjwgt.tolist() == graph.adjwgt.tolist()


@pytest.mark.parametrize(
    ("body", "words"),
    [
        (NODES + EDGE.format("a", "x", 1), "node 'x', which does not exist"),
        (NODES + EDGE.format("a", "b", -1), "number >= 0, not '-1'"),
        (NODES + EDGE.format("a", "b", "much"), "not 'much'"),
        (NODES + '<node id="a"/>', "two nodes with the id 'a'"),
        (NODES + '<edge source="a"/>', "edge without target"),
        ("", "has no node"),
        (NODES + "<edge", "not well-formed"),
    ],
)
def test_refused(put, body, words):
    with pytest.raises(InputError, match=words):
        read(put(graphml(body), "x.graphml"))


ROADS = "c roads\np sp 3 4\na 1 2 7\na 2 1 7\nc between\na 2 3 9\na 3 2 9\n"


@pytest.mark.parametrize(
    ("name", "text", "n", "m", "weights"),
    [
        ("usa.gr", ROADS, 3, 2, [7, 7, 9, 9]),
        ("my.col", "p edge 4 3\ne 1 2\ne 2 3\ne 1 3\n", 4, 3, None),
        ("pace.gr", "c PACE\np tw 4 2\n1 2\n2 3\n", 4, 2, None),
        ("nameless", ROADS, 3, 2, [7, 7, 9, 9]),
    ],
)
def test_dimacs(put, name, text, n, m, weights):
    reading = read(put(text, name))
    assert reading.format == "dimacs"
    assert (reading.graph.n, reading.graph.m) == (n, m)
    found = reading.graph.adjwgt
    assert (None if found is None else found.tolist()) == weights


def test_arcs_of_dimacs(put):
    arcs = read(put("p sp 3 2\na 1 2 7\na 2 3 9\n", "x.gr"), directed=True).graph
    assert (arcs.m, arcs.adjwgt.tolist(), arcs.adjncy.tolist()) == (2, [7, 9], [1, 2])


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("p sp 3 4\na 1 2 7\n", "declares 4 edges, but 1 lines follow"),
        ("p sp 3 1\na 1 4 7\n", "edge 1 4, but vertices are numbered 1 to 3"),
        ("p sp 3 1\na 1 2 7 8\n", "the lines must be"),
        ("p sp 3 1\na 1 x 7\n", "'x'"),
        ("p sp 3 1\na 1 2 -7\n", "negative"),
        ("p sp 3 1\na 1 2 inf\n", "finite"),
        ("p sp 99999999999 1\na 1 2 7\n", "99,999,999,999"),
    ],
)
def test_dimacs_refused(put, text, words):
    with pytest.raises(InputError, match=words):
        read(put(text, "x.gr"))
