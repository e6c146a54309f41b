"""METIS files by hand: every fmt, and every lie, with its line."""

import numpy as np
import pytest

from evener.errors import InputError
from evener.io import read, read_graph

# A triangle 1-2-3 with a tail 3-4.
PLAIN = "4 4\n2 3\n1 3\n1 2 4\n3\n"


def test_plain(put):
    graph = read_graph(put(PLAIN))
    assert (graph.n, graph.m) == (4, 4)
    assert graph.xadj.tolist() == [0, 2, 4, 7, 8]
    assert graph.adjncy.tolist() == [1, 2, 0, 2, 0, 1, 3, 2]
    assert graph.vwgt is None
    assert graph.adjwgt is None


@pytest.mark.parametrize(
    "text",
    [
        "% first\n4 4\n% between\n2 3\n1 3\n%\n1 2 4\n3\n% last\n\n",
        "4 4 0\r\n2 3\r\n1 3\r\n1 2 4\r\n3\r\n",
        "4 4 000 1\n 2\t3 \n1 3\n4 2 1\n3",
        "\n\n4 4\n2 3\n1 3\n1 2 4\n3\n\n\n",
    ],
)
def test_same_graph_in_other_dress(put, text):
    assert read_graph(put(text)).adjncy.tolist() == [1, 2, 0, 2, 0, 1, 3, 2]


@pytest.mark.parametrize(
    ("fmt", "sizes", "vwgt", "adjwgt"),
    [
        ("1", 0, 0, True),
        ("10", 0, 1, False),
        ("011", 0, 1, True),
        ("10 3", 0, 3, False),
        ("11 2", 0, 2, True),
        ("100", 1, 0, False),
        ("111 2", 1, 2, True),
        ("101", 1, 0, True),
    ],
)
def test_every_fmt(put, fmt, sizes, vwgt, adjwgt):
    lists = [[2, 3], [1, 3], [1, 2, 4], [3]]
    rows = [f"4 4 {fmt}"]
    for v, neighbours in enumerate(lists, start=1):
        row = [90 + v] * sizes + [10 * v + i for i in range(vwgt)]
        for u in neighbours:
            row += [u, u + v] if adjwgt else [u]
        rows.append(" ".join(map(str, row)))
    graph = read_graph(put("\n".join(rows)))
    assert graph.adjncy.tolist() == [1, 2, 0, 2, 0, 1, 3, 2]
    assert graph.n_constraints == max(1, vwgt)
    if vwgt:
        assert graph.vwgt.dtype == np.int64
        assert graph.weights(vwgt - 1).tolist() == [10 * v + vwgt - 1 for v in (1, 2, 3, 4)]
    assert (graph.adjwgt is None) == (not adjwgt)
    if adjwgt:
        assert graph.adjwgt.tolist() == [3, 4, 3, 5, 4, 5, 7, 7]


def test_real_weights(put):
    graph = read_graph(put("2 1 11\n0.5 2 1e-3\n2 1 0.001\n"))
    assert graph.vwgt.tolist() == [0.5, 2.0]
    assert graph.adjwgt.tolist() == [0.001, 0.001]


def test_vertices_without_edges(put):
    assert read_graph(put("4 1\n\n3\n2\n\n")).degrees.tolist() == [0, 1, 1, 0]
    assert read_graph(put("1 0\n\n")).n == 1


def test_several_weights_and_the_one_chosen(put):
    path = put("2 1 010 2\n1 5 2\n3 7 1\n")
    assert read_graph(path, constraint=1).vwgt.tolist() == [5, 7]


def test_inputs_and_format(put):
    reading = read(put(PLAIN))
    assert reading.format == "metis"
    assert list(reading.inputs) == ["g.graph"]
    assert len(reading.inputs["g.graph"]) == 64


@pytest.mark.parametrize(
    ("text", "line", "words"),
    [
        ("4 4\n2 3\n1 3\n1 2 5\n3\n", 4, "5 is out of range"),
        ("4 4\n2 3\n1 3\n1 2 0\n3\n", 4, "0 is out of range"),
        ("4 4\n2 3\n1 -3\n1 2 4\n3\n", 3, "-3 is out of range"),
        ("4 4\n2 3\n2 3\n1 2 4\n3\n", 3, "its own neighbour"),
        ("2 2\n2 2\n1 1\n", 2, "more than once"),
        ("4 4\n2 3\n1 3\n2 4\n3 1\n", 2, "vertex 1 lists 3"),
        ("4 4 1\n2 1 3 1\n1 1 3 1\n1 1 2 2 4 1\n3 1\n", 3, "different weights"),
        ("4 4\n2 3\n1 3\n1 2 4\n3\n7\n", 6, "the file contains more than the header declares:"),
        ("4 4\n2 3\n1 3\n1 2 4\n", 1, "but 3 lines follow"),
        ("5 4\n2 3\n1 3\n1 2 4\n3\n", 1, "but 4 lines follow"),
        ("4 4\n1 2\n0 2\n0 1 3\n2\n", 2, "numbered from 0"),
        ("3 1\n\n0\n\n", 3, "This format numbers vertices from 1: add 1 to every vertex number."),
        (
            "4 8\n2 3\n1 3\n1 2 4\n3\n",
            1,
            "The header counts each edge once; the lists contain it at both its ends.",
        ),
        ("% a\n4 5\n2 3\n1 3\n1 2 4\n3 \n", 2, "not 10"),
        ("4 3\n2 3\n1 3\n1 2 4\n3\n", 4, "more neighbours than the header declares"),
        ("4 4\n2 3\n1 x\n1 2 4\n3\n", 3, "'x'"),
        ("4 4\n2 3\n1 3.5\n1 2 4\n3\n", 3, "'3.5'"),
        ("4 4 10\n1 2 3\n-1 1 3\n1 1 2 4\n1 3\n", 3, "must not be negative"),
        ("4 4 10\n1 2 3\n1 1 3\nnan 1 2 4\n1 3\n", 4, "not finite"),
        ("4 4 10\n1 2 3\n1 1 3\n1e999 1 2 4\n1 3\n", 4, "not finite"),
        ("4 4 10\n1 2 3\n1 1 3\n99999999999999999999 1 2 4\n1 3\n", 4, "2^62"),
        ("4 4 10\n1 2 3\n1 1 3\n9007199254740993 1 2 4\n1 3\n", 4, "too large"),
        ("4 4\n2 3\n1 99999999999999999999\n1 2 4\n3\n", 3, "too large"),
        ("4 4 1\n2 1 3 1\n1 1 3\n1 1 2 1 4 1\n3 1\n", 3, "another number"),
        ("4 4 10\n1 2 3\n\n1 1 2 4\n1 3\n", 3, "another number"),
        ("4 4 7\n2 3\n1 3\n1 2 4\n3\n", 1, "fmt"),
        ("4 -4\n2 3\n1 3\n1 2 4\n3\n", 1, "negative"),
        ("4\n2 3\n1 3\n1 2 4\n3\n", 1, "n m"),
        ("9 4\n2 3\n1 3\n1 2 4\n3\n", 1, "but 4 lines follow"),
        ("x y\n2 3\n", 1, "whole numbers"),
        ("0 0\n", 1, "no vertex"),
        ("1000000000000000 3\n2 3\n", 1, "1,000,000,000,000,000"),
        ("3 1000000000000000\n2 3\n\n\n", 1, "too many for its size"),
        ("99999999999999999999999 3\n2 3\n", 1, "is too large"),
        ("3 2\n2\n1 3\n% 2\n", 4, "ends after 2 of 3 vertices"),
        ("2 1 010 1000000000000\n1 2\n1 1\n", 1, "too many for its size"),
        (b"4 4\n2 3\n1 3\n1 2\x004\n3\n", 4, "number"),
    ],
)
def test_refused_with_its_line(put, text, line, words):
    path = put(text)
    with pytest.raises(InputError) as caught:
        read_graph(path, format="metis")
    error = caught.value
    if words != "2^62":
        assert (error.file, error.line) == (str(path), line), str(error)
        assert words in str(error)


def test_truncated_anywhere(put):
    """No prefix of a file that ends within a list is taken for a graph."""
    for stop in range(len(PLAIN) - 1):
        with pytest.raises(InputError):
            read_graph(put(PLAIN[:stop]), format="metis")
