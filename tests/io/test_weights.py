"""Work per vertex from files and columns; fields of meshes are tested with the meshes."""

import io

import numpy as np
import pytest

from evener.errors import InputError, UsageError
from evener.io import read, read_graph

GRAPH = "3 2\n2\n1 3\n2\n"
TABLE = "cells,work,size\n1,2.5,30\n4,0,60\n7,8,90\n"


@pytest.fixture
def weighed(put):
    """Read a path of three vertices with weights of the given content."""

    def read_with(content, column="", name="w.txt"):
        path = put(content, name)
        return read(put(GRAPH), weights=f"{path}:{column}" if column else path)

    return read_with


@pytest.mark.parametrize(
    ("content", "weights"),
    [
        ("5\n0\n7\n", [5, 0, 7]),
        ("# work\n5\n\n% more\n0.5\n7e1", [5, 0.5, 70]),
        ("work\n5\n6\n7\n", [5, 6, 7]),
        ("1 2\n3 4\n5 6\n", [[1, 2], [3, 4], [5, 6]]),
    ],
)
def test_text(weighed, content, weights):
    graph = weighed(content).graph
    assert graph.vwgt.tolist() == weights
    assert graph.vwgt.dtype == (np.float64 if 0.5 in np.ravel(weights) else np.int64)


@pytest.mark.parametrize(
    ("column", "weights"),
    [("work", [2.5, 0, 8]), ("size", [30, 60, 90]), ("0", [1, 4, 7]), ("2", [30, 60, 90])],
)
def test_columns(weighed, column, weights):
    assert weighed(TABLE, column).graph.vwgt.tolist() == weights


@pytest.mark.parametrize("directed", [False, True])
def test_degree(weighed, directed, tmp_path):
    """A unit for each neighbour, one without any."""
    (tmp_path / "star.graph").write_text("5 3\n2 3 4\n1\n1\n1\n\n")
    reading = read(tmp_path / "star.graph", weights="degree", directed=directed)
    assert reading.graph.vwgt.tolist() == [3, 1, 1, 1, 1]


def test_npy(weighed):
    content = io.BytesIO()
    np.save(content, np.array([[1, 2], [3, 4], [5, 6]], np.uint16))
    assert weighed(content.getvalue(), name="w.npy").graph.vwgt.tolist() == [[1, 2], [3, 4], [5, 6]]
    assert weighed(content.getvalue(), "1", name="w.npy").graph.vwgt.tolist() == [2, 4, 6]


def test_packed_and_of_record(put, pack):
    path = put(pack(b"5\n6\n7\n", "w.txt.gz"), "w.txt.gz")
    reading = read(put(GRAPH), weights=path)
    assert reading.graph.vwgt.tolist() == [5, 6, 7]
    assert list(reading.inputs) == ["g.graph", "w.txt.gz"]


def test_they_take_the_place_of_the_files_own(put):
    path = put("2 1 010\n1 2\n1 1\n")
    assert read_graph(path, weights=put("8\n9\n", "w")).vwgt.tolist() == [8, 9]


def test_one_of_several(put):
    path = put("1 2\n3 4\n5 6\n", "w")
    assert read_graph(put(GRAPH), weights=path, constraint=1).vwgt.tolist() == [2, 4, 6]
    with pytest.raises(UsageError, match="no weight 2"):
        read_graph(put(GRAPH), weights=path, constraint=2)
    with pytest.raises(UsageError, match="no weight -1"):
        read_graph(put(GRAPH), constraint=-1)


@pytest.mark.parametrize(
    ("content", "column", "line", "words"),
    [
        ("5\n6\n", "", None, "2 weights; 3 are needed"),
        ("5\n6\n7\n8\n", "", None, "4 weights; 3 are needed"),
        ("5\n-6\n7\n", "", None, "entry 1"),
        ("5\nnan\n7\n", "", 2, "not finite"),
        ("5\nx\n7\n", "", 2, "'x'"),
        ("5\n6 7\n8\n", "", 2, "2 fields; 1 are needed"),
        ("4e18\n4e18\n4e18\n", "", None, "2^62"),
        ("# nothing\n", "", None, "contains no weights"),
        ("only a heading\n", "", None, "contains no weights"),
        ("a,b,c\n1,2\n3,4\n5,6\n", "c", 2, "the heading has 3 names"),
        (TABLE, "effort", None, "there are cells, work, size"),
        ("1 2\n3 4\n5 6\n", "2", None, "there are 0 to 1"),
    ],
)
def test_refused(weighed, content, column, line, words):
    with pytest.raises(InputError) as caught:
        weighed(content, column)
    assert words in str(caught.value)
    assert caught.value.file.endswith("w.txt")
    assert caught.value.line == line


def test_missing(put):
    with pytest.raises(InputError, match="No such file"):
        read_graph(put(GRAPH), weights="nowhere.txt")


def test_a_cell_field_needs_a_mesh(put):
    with pytest.raises(
        UsageError, match=":NAME needs the cells of a mesh; this file contains a graph"
    ):
        read_graph(put(GRAPH), weights="cell:work")
