"""Scotch files by hand: bases, loads, labels, and what is refused."""

import pytest

from evener.errors import InputError
from evener.io import read, read_graph, write_graph

# A triangle 0-1-2 with a tail 2-3.
PLAIN = "0\n4\t8\n0\t000\n2\t1\t2\n2\t0\t2\n3\t0\t1\t3\n1\t2\n"
NEIGHBOURS = [1, 2, 0, 2, 0, 1, 3, 2]


@pytest.mark.parametrize(
    "text",
    [
        PLAIN,
        "0\n4 8\n1 000\n2 2 3\n2 1 3\n3 1 2 4\n1 3\n",
        "0\n4 8\n0 100\n50 2 40 30\n40 2 50 30\n30 3 50 40 9\n9 1 30\n",
    ],
)
def test_same_graph(put, text):
    assert read_graph(put(text, "g.grf"), format="scotch").adjncy.tolist() == NEIGHBOURS


def test_numbers_from_1_are_kept(put, tmp_path):
    text = "0\n4 8\n1 000\n2 2 4\n2 1 3\n2 2 4\n2 1 3\n"
    reading = read(put(text, "one.grf"))
    assert reading.graph.labels.tolist() == [1, 2, 3, 4]
    assert reading.notes == ("Vertices are numbered from 1; labels store the numbers.",)
    write_graph(tmp_path / "again.grf", reading.graph)
    assert (tmp_path / "again.grf").read_text().split() == text.split()


def test_labels_are_kept(put):
    path = put("0\n2 2\n0 100\n50 1 40\n40 1 50\n", "g.grf")
    assert read_graph(path).labels.tolist() == [50, 40]


def test_loads(put):
    text = "0\n3 4\n0 011\n7 1 5 1\n8 2 5 0 6 2\n9 1 6 1\n"
    graph = read_graph(put(text, "g.grf"))
    assert graph.vwgt.tolist() == [7, 8, 9]
    assert graph.adjwgt.tolist() == [5, 5, 6, 6]


def test_recognised_by_content(put):
    assert read_graph(put(PLAIN, "nameless")).m == 4


@pytest.mark.parametrize(
    ("text", "line", "words"),
    [
        ("1\n4 8\n0 000\n", 1, "version"),
        ("0\n4 8\n2 000\n2 1 2\n", 2, "base"),
        ("0\n4 7\n0 000\n2 1 2\n", 2, "even"),
        ("0\n4 8\n0 002\n2 1 2\n", 2, "each flag must be 0 or 1, not"),
        ("0\n4 8\n", 1, "header"),
        ("0\n1000000000000000 8\n0 000\n", 2, "1,000,000,000,000,000"),
        ("0\n4 1000000000000000\n0 000\n", 2, "too many for its size"),
        ("0\n4 8\n0 000\n2 1 2\n2 0 2\n3 0 1 4\n1 2\n", None, "vertex 2 has the neighbour 4"),
        ("0\n4 8\n0 000\n2 1 2\n2 0 x\n3 0 1 3\n1 2\n", 5, "'x'"),
        ("0\n4 8\n0 000\n2 1 2\n2 0 2\n9 0 1 3\n1 2\n", 6, "more neighbours"),
        ("0\n4 8\n0 000\n2 1 2\n2 0 2\n-3 0 1 3\n1 2\n", 6, "negative"),
        (PLAIN + "5\n", 8, "the file contains more than the header declares:"),
        ("0\n4 8\n0 000\n2 1 2\n2 0 2\n2 0 3\n2 2 0\n", None, "vertex 1 lists 2"),
        ("0\n4 8\n0 000\n2 1 2\n2 1 2\n3 0 1 3\n1 2\n", None, "its own neighbour"),
        ("0\n2 2\n0 100\n50 1 40\n50 1 50\n", None, "two vertices have the label 50"),
        ("0\n2 2\n0 100\n50 1 41\n40 1 50\n", None, "no vertex has the label 41"),
        ("0\n2 2\n0 001\n-1 1 1\n1 1 0\n", 4, "negative"),
    ],
)
def test_refused(put, text, line, words):
    path = put(text, "g.grf")
    with pytest.raises(InputError) as caught:
        read_graph(path)
    assert caught.value.line == line
    assert words in str(caught.value)
    assert caught.value.file == str(path)


def test_ends_early(put):
    for stop in range(len(PLAIN) - 2):
        with pytest.raises(InputError):
            read_graph(put(PLAIN[:stop], "g.grf"), format="scotch")
