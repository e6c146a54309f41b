"""Coordinates in every dialect, found beside a graph or given, and what is refused."""

import io

import numpy as np
import pytest

from evener.errors import InputError
from evener.io import read, read_graph
from evener.io.coordinates import read_coordinates
from evener.io.sources import open_source

GRAPH = "3 2\n2\n1 3\n2\n"
POINTS = [[0.5, -1.0], [2.0, 3.25], [1e-3, 4e5]]
PLAIN = "0.5 -1\n2 3.25\n1e-3 4e5\n"
SCOTCH = "2\n3\n0 0.5 -1\n1 2 3.25\n2 1e-3 4e5\n"
NPY = io.BytesIO()
np.save(NPY, np.array(POINTS))


@pytest.mark.parametrize(
    ("content", "name"),
    [
        (PLAIN, "c.xyz"),
        ("# x y\n0.5,-1\n2, 3.25\n\n1e-3;4e5", "c.csv"),
        ("0.5 -1 0\n2 3.25 0\n1D-3 4d5 0.0\n", "c.xyz"),
        (SCOTCH, "c.xyz"),
        ("2\r\n3\r\n2 1e-3 4e5\r\n1\t2 3.25\r\n0 0.5 -1\r\n", "c.xyz"),
        ("3\n3\n1 0.5 -1 0\n2 2 3.25 0\n3 1e-3 4e5 0\n", "c.xyz"),
        ("3\n1 0.5 -1 0\n2 2 3.25 1\n3 1e-3 4e5 0\n", "nod2d.out"),
        ("%%MatrixMarket matrix array real general\n3 2\n.5\n2\n1e-3\n-1\n3.25\n4e5\n", "c.mtx"),
        (NPY.getvalue(), "c.npy"),
    ],
)
def test_dialects(put, content, name):
    coords = read_coordinates(open_source(put(content, name)), 3)
    assert coords.tolist() == POINTS
    assert coords.flags["C_CONTIGUOUS"]


def test_three_dimensions(put):
    text = "0 0 1\n1 2 3\n4 5 6\n"
    assert read_coordinates(open_source(put(text, "c.xyz"))).tolist() == [
        [0, 0, 1],
        [1, 2, 3],
        [4, 5, 6],
    ]


@pytest.mark.parametrize(
    "name", ["g.xyz", "g.graph.xyz", "g.xyz.gz", "g.graph.xyz.xz", "g.graph.xyz.zst"]
)
@pytest.mark.parametrize("content", [PLAIN, SCOTCH])
def test_found_beside(put, pack, name, content):
    put(pack(content.encode(), name), name)
    reading = read(put(GRAPH, "g.graph"))
    assert reading.graph.coords.tolist() == POINTS
    assert reading.notes == (f"Coordinates are from {name}.",)
    assert list(reading.inputs) == ["g.graph", name]


def test_found_beside_a_packed_graph(put, pack):
    put(PLAIN, "g.graph.xyz")
    path = put(pack(GRAPH.encode(), "g.graph.zst"), "g.graph.zst")
    assert read_graph(path).coords.tolist() == POINTS


def test_the_longer_name_is_meant(put):
    put(PLAIN, "g.graph.xyz")
    put("9 9\n9 9\n9 9\n", "g.xyz")
    assert read_graph(put(GRAPH, "g.graph")).coords.tolist() == POINTS


def test_given(put):
    put("9 9\n9 9\n9 9\n", "g.xyz")
    reading = read(put(GRAPH, "g.graph"), coords=put(SCOTCH, "other.dat"))
    assert reading.graph.coords.tolist() == POINTS
    assert list(reading.inputs) == ["g.graph", "other.dat"]


def test_those_of_another_graph_are_refused(put):
    beside = put("0 0\n1 1\n", "g.xyz")
    with pytest.raises(InputError, match="2 vertices, but the graph has 3") as caught:
        read_graph(put(GRAPH, "g.graph"))
    assert caught.value.file == str(beside)


@pytest.mark.parametrize(
    ("content", "line", "words"),
    [
        ("0 0\n1 x\n2 2\n", 2, "'x'"),
        ("0 0\n1 nan\n2 2\n", 2, "not finite"),
        ("0 0\n1 -inf\n2 2\n", 2, "not finite"),
        ("0 0\n1 1e999\n2 2\n", 2, "not finite"),
        ("0 0\n1\n2 2\n", 2, "1 field; 2 are needed"),
        ("0 0\n1 1 1\n2 2\n", 2, "3 fields; 2 are needed"),
        ("0 0 0 0\n1 1 1 1\n", 1, "2 or 3 columns, not 4"),
        ("0\n1\n2\n", 1, "2 or 3 columns, not 1"),
        ("2\n4\n0 0 0\n1 1 1\n2 2 2\n", None, "3 vertices but declares 4"),
        ("2\n999999999999999\n0 0 0\n", None, "declares"),
        ("2\n3\n0 0 0\n1 1 1\n1 2 2\n", None, "consecutive"),
        ("2\n3\n0 0 0\n1 1 1\n5 2 2\n", None, "consecutive"),
        ("2\n3\n0 0 0\n1 1\n2 2 2\n", 4, "2 fields; 3 are needed"),
        ("0003999999999\n3\n0 0 0\n", 1, "2 or 3 columns, not 1"),
        ("0001" + "1" * 5000 + "\n3\n0 0 0\n", 1, "2 or 3 columns, not 1"),
        ("# nothing\n", None, "contains no coordinates"),
        ("%%MatrixMarket matrix array real general\n3 4\n", 2, "values but declares 12"),
        ("%%MatrixMarket matrix coordinate real general\n3 2 1\n1 1 1\n", 1, "array"),
        (NPY.getvalue()[:-3], None, "does not contain what its header declares"),
        (NPY.getvalue()[:20], None, "damaged"),
        (b"0 0\n1 \x00\n2 2\n", 2, "a number is needed"),
    ],
)
def test_refused(put, content, line, words):
    given = put(content, "c.xyz")
    with pytest.raises(InputError) as caught:
        read_graph(put(GRAPH, "g.graph"), coords=given)
    assert words in str(caught.value)
    assert (caught.value.file, caught.value.line) == (str(given), line)


def test_coordinates_alone_are_no_graph(put):
    with pytest.raises(InputError, match="contains coordinates, not a graph or mesh") as caught:
        read_graph(put(PLAIN, "g.xyz"))
    assert "--coords" in caught.value.hint
