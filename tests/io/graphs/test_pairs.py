"""Files read as arcs, against dictionaries; formats of edges; arcs written and read again."""

import io
from itertools import permutations

import numpy as np
import pytest
import scipy.io
import scipy.sparse as sp
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from evener.errors import InputError, UsageError
from evener.graphs.directed import DirectedGraph
from evener.graphs.graph import Graph
from evener.io import read, read_graph, write_graph

BANNER = "%%MatrixMarket matrix coordinate "
WRITTEN = ["x.csv", "x.mtx", "x.npz", "x.csv.gz"]


def listed(graph):
    """{(tail, head): weight} by the vertices' names."""
    names = range(graph.n) if graph.labels is None else graph.labels.tolist()
    tails = np.repeat(np.arange(graph.n), graph.degrees).tolist()
    arcs = zip(tails, graph.adjncy.tolist(), graph.edge_weights().tolist(), strict=True)
    return {(names[a], names[b]): weight for a, b, weight in arcs}


def arcs_read(path, **options):
    graph = read_graph(path, directed=True, **options)
    assert isinstance(graph, DirectedGraph)
    return listed(graph)


@st.composite
def lines(draw):
    """Lines (tail, head, weight) among up to eight vertices, loops and repetitions included."""
    vertex = st.integers(0, draw(st.integers(1, 7)))
    weight = draw(st.sampled_from([st.integers(0, 99), st.floats(0, 9, width=32)]))
    return draw(st.lists(st.tuples(vertex, vertex, weight), min_size=1, max_size=25))


any_files = settings(suppress_health_check=[HealthCheck.function_scoped_fixture], deadline=None)


@any_files
@given(lines())
def test_lines_are_arcs_of_which_the_first_counts(put, rows):
    expected = {}
    for a, b, weight in rows:
        if a != b:
            expected.setdefault((a, b), weight)
    text = "".join(f"{a} {b} {weight!r}\n" for a, b, weight in rows)
    assert arcs_read(put(text, "a.edges")) == expected
    named = "".join(f"v{a},v{b},{weight!r}\n" for a, b, weight in rows)
    assert arcs_read(put(named, "a.csv")) == {
        (f"v{a}", f"v{b}"): w for (a, b), w in expected.items()
    }
    key = '<key id="w" for="edge" attr.name="weight" attr.type="double"/>'
    nodes = "".join(f'<node id="{i}"/>' for i in range(8))
    body = "".join(
        f'<edge source="{a}" target="{b}"><data key="w">{w!r}</data></edge>' for a, b, w in rows
    )
    graphml = f'<graphml>{key}<graph edgedefault="directed">{nodes}{body}</graph></graphml>'
    assert arcs_read(put(graphml, "a.graphml")) == expected


@any_files
@given(lines())
def test_entries_are_arcs_and_repeated_ones_add_up(put, rows):
    n = 1 + max(max(a, b) for a, b, _ in rows)
    expected = {}
    for a, b, weight in rows:
        if a != b:
            expected[a, b] = expected.get((a, b), 0) + weight
    expected = {pair: pytest.approx(weight) for pair, weight in expected.items()}
    field = "integer" if all(isinstance(weight, int) for *_, weight in rows) else "real"
    body = "".join(f"{a + 1} {b + 1} {weight!r}\n" for a, b, weight in rows)
    head = f"{BANNER}{field} general\n{n} {n} {len(rows)}\n"
    assert arcs_read(put(head + body, "a.mtx")) == expected
    tails, heads, weights = zip(*rows, strict=True)
    matrix = sp.coo_array((weights, (tails, heads)), shape=(n, n))
    for kind in ("coo", "csr", "csc"):
        out = io.BytesIO()
        sp.save_npz(out, matrix.asformat(kind))
        assert arcs_read(put(out.getvalue(), f"{kind}.npz")) == expected


@any_files
@given(st.integers(1, 7).flatmap(lambda n: st.tuples(
    st.just(n), st.lists(st.sampled_from([*permutations(range(n + 1), 2)]), unique=True),
    st.sampled_from(WRITTEN), st.sampled_from([None, np.int64, np.float64]))))  # fmt: skip
def test_arcs_come_back(tmp_path, case):
    n, pairs, name, kind = case
    weights = None if kind is None else (np.arange(len(pairs)) * 0.7).astype(kind)
    tails, heads = [a for a, _ in pairs], [b for _, b in pairs]
    graph = DirectedGraph.from_arcs(n + 1, tails, heads, weights=weights)
    write_graph(tmp_path / name, graph)
    if pairs or "csv" not in name:
        assert arcs_read(tmp_path / name) == listed(graph)
    if name.endswith("npz"):
        edges = read_graph(tmp_path / name)
        assert isinstance(edges, Graph)
        assert listed(edges) == listed(graph.undirected())


def test_all_that_a_graph_has_comes_back(tmp_path):
    graph = DirectedGraph.from_arcs(
        3, [0, 2], [1, 1], weights=[0.1, 1e-300], vwgt=[3, 0, 2],
        coords=np.array([[0.5, -1], [1e30, 0], [2, 3]]), labels=np.array(["a b", 'c"d', "ü\\x"]),
    )  # fmt: skip
    for one in (graph, graph.undirected()):
        write_graph(tmp_path / "g.npz", one)
        again = read_graph(tmp_path / "g.npz", directed=not one.symmetric)
        assert type(again) is type(one)
        assert listed(again) == listed(one)
        assert again.vwgt.tolist() == [3, 0, 2]
        assert np.array_equal(again.coords, graph.coords)


@pytest.mark.parametrize("name", ["x.graph", "x.grf"])
def test_formats_of_edges_take_no_arcs(tmp_path, name):
    with pytest.raises(UsageError, match="stores edges without direction"):
        write_graph(tmp_path / name, DirectedGraph.from_arcs(2, [0], [1]))
    assert not (tmp_path / name).exists()


def test_matrices_of_harwell_boeing(put):
    rng = np.random.default_rng(4)
    matrix = sp.random_array((9, 9), density=0.3, rng=rng, format="csc")
    out = io.StringIO()
    scipy.io.hb_write(out, sp.csc_matrix(matrix))
    found = arcs_read(put(out.getvalue(), "a.rua"))
    expected = {(i, j): v for (i, j), v in sp.dok_array(matrix).items() if i != j}
    assert found == {pair: pytest.approx(v, rel=1e-6) for pair, v in expected.items()}
    damaged = out.getvalue().rstrip()[:-30]
    with pytest.raises(InputError, match="a number is needed"):
        read(put(damaged, "b.rua"), directed=True)


@pytest.mark.parametrize(
    ("text", "arcs", "said"),
    [
        ("pattern general\n3 3 2\n2 1\n1 1\n", {(1, 0): 1}, "the 1 on the diagonal"),
        ("real symmetric\n3 3 2\n2 1 0.5\n3 3 4\n", {(1, 0): 0.5, (0, 1): 0.5}, "3 entries"),
        ("real general\n2 2 2\n1 2 -1\n2 1 4\n", {(0, 1): 1, (1, 0): 1}, "some are negative"),
        ("real skew-symmetric\n2 2 1\n2 1 3\n", {(0, 1): 1, (1, 0): 1}, "some are negative"),
        ("complex general\n2 2 1\n2 1 3 1\n", {(1, 0): 1}, "they are complex"),
        ("real general\n2 2 1\n2 1 0\n", {(1, 0): 0}, "whose weight is its value"),
    ],
)
def test_values_that_weigh_and_those_that_do_not(put, text, arcs, said):
    path = put(BANNER + text, "a.mtx")
    reading = read(path, directed=True)
    assert listed(reading.graph) == arcs
    assert said in reading.notes[0]
    assert reading.asked == {"by": "cells", "directed": True}


@pytest.mark.parametrize("value", ["x", "nan", "1.5,", "--1"])
def test_values_that_are_none_are_refused_where_they_count(put, value):
    path = put(f"{BANNER}real general\n2 2 2\n1 2 1\n2 1 {value}\n", "a.mtx")
    with pytest.raises(InputError) as caught:
        read(path, directed=True)
    assert caught.value.line == 4


def test_dense_matrices_and_triplets(put):
    dense = "%%MatrixMarket matrix array real general\n2 2\n9\n2.5\n0\n1\n"
    assert arcs_read(put(dense, "d.mtx")) == {(1, 0): 2.5}
    assert arcs_read(put("1 2 0.5\n3 1 2\n2 2 7\n", "a.ijv")) == {(0, 1): 0.5, (2, 0): 2}
    assert arcs_read(put("1 2 0.5 1\n", "c.ijv")) == {(0, 1): 1}


def test_edges_without_direction_are_two_arcs(put):
    reading = read(put("3 2\n2\n1 3\n2\n", "g.graph"), directed=True)
    assert listed(reading.graph) == dict.fromkeys([(0, 1), (1, 0), (1, 2), (2, 1)], 1)
    assert reading.notes == ("Its 2 edges have no direction; each becomes two arcs.",)


def test_coordinates_weights_and_memory_go_with_arcs(put):
    put("0 0\n1 0\n0 1\n", "a.edges.xyz")
    weights = put("1\n2\n3\n", "w.txt")
    graph = read_graph(
        put("0 1\n2 1\n", "a.edges"), directed=True, weights=weights, bytes_per_edge=5
    )
    assert graph.vwgt.tolist() == [1, 2, 3]
    assert graph.coords.shape == (3, 2)
    assert graph.bytes_per_edge == 5
