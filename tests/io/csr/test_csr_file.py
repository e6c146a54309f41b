"""Rows are those of the graph; a damaged file, or one that changes, is refused."""

import os
import struct
import zlib

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from evener.errors import InputError
from evener.graphs.graph import Graph
from evener.io import read_graph, write_graph
from evener.io.csr.csr_file import CsrFile
from evener.io.csr.layout import HEADER, CsrLayout
from tests.assertions import grid
from tests.examples import with_examples


@pytest.fixture
def graph():
    """Random edges between 60 vertices, the last few without any; all that the format holds."""
    rng = np.random.default_rng(5)
    u, v = rng.integers(0, 55, (2, 300))
    made = Graph.from_edges(60, u, v, weights=rng.random(300))
    return made.with_(
        vwgt=rng.integers(0, 9, (60, 2)),
        coords=rng.standard_normal((60, 3)),
        labels=np.arange(100, 160),
    )


@pytest.fixture
def path(tmp_path, graph):
    write_graph(tmp_path / "g.ecsr", graph)
    return tmp_path / "g.ecsr"


@given(a=st.integers(0, 60), b=st.integers(0, 60))
@with_examples(30)
def test_rows_are_the_graphs(tmp_path_factory, a, b):
    first, last = sorted((a, b))
    graph = grid(60, 1)
    path = tmp_path_factory.mktemp("rows") / "g.ecsr"
    write_graph(path, graph)
    with CsrFile(path) as file:
        rows = file.rows(first, last)
        start, stop = graph.xadj[[first, last]]
        assert np.array_equal(rows.xadj, graph.xadj[first : last + 1] - start)
        assert np.array_equal(rows.adjncy, graph.adjncy[start:stop])


def test_everything_of_rows(path, graph):
    with CsrFile(path) as file:
        rows = file.rows(20, 50)
        start, stop = graph.xadj[[20, 50]]
        assert np.array_equal(rows.adjwgt, graph.adjwgt[start:stop])
        assert np.array_equal(rows.vwgt, graph.vwgt[20:50])
        assert np.array_equal(file.weights(3, 9), graph.vwgt[3:9])
        assert np.array_equal(file.points(20, 50), graph.coords[20:50])
        assert np.array_equal(file.degrees(0, 60), graph.degrees)
        assert np.array_equal(file.labels(1, 4), [101, 102, 103])
        assert (file.n, file.arcs, file.dimension) == (60, graph.adjncy.size, 3)
        assert file.edges_weigh
        assert file.vertices_weigh
        file.check()
    again = read_graph(path)
    for name in ("xadj", "adjncy", "adjwgt", "vwgt", "coords", "labels"):
        assert np.array_equal(getattr(again, name), getattr(graph, name)), name


@pytest.mark.parametrize("arcs", [1, 7, 10**6])
def test_ranges(path, graph, arcs):
    with CsrFile(path) as file:
        bounds = list(file.ranges(arcs))
        rows = [file.rows(*one) for one in file.ranges(arcs)]  # asked for between two ranges
    assert [a for a, _ in bounds] == [0, *(b for _, b in bounds[:-1])]
    assert bounds[-1][1] == graph.n
    for (a, b), one in zip(bounds, rows, strict=True):
        assert b == a + 1 or graph.xadj[b] - graph.xadj[a] <= arcs
        assert one.first == a


def test_cut_short_anywhere(path):
    """Also within the arrays, at their borders, and in the header."""
    content = path.read_bytes()
    layout = CsrLayout.unpacked(content, len(content))
    sections = layout.sections.values()
    ends = [0, 5, HEADER - 1, HEADER, *(s.end - 1 for s in sections), *(s.offset for s in sections)]
    for end in ends:
        path.write_bytes(content[:end])
        for read in (read_graph, CsrFile):
            with pytest.raises(InputError, match=r"cut short|empty|format"):
                read(path)


def test_any_byte_of_the_header(path):
    content = path.read_bytes()
    for at in range(HEADER):
        changed = bytearray(content)
        changed[at] ^= 0x10
        path.write_bytes(changed)
        with pytest.raises(InputError, match=r"g\.ecsr"):
            CsrFile(path)


@pytest.mark.parametrize(
    "wrong",
    [
        CsrLayout(2**40, 4),
        CsrLayout(0, 0),
        CsrLayout(60, -2),
        CsrLayout(60, 3),
        CsrLayout(60, 60 * 60),
        CsrLayout(60, 2, adjwgt=7),
        CsrLayout(60, 2, vwgt=1),
        CsrLayout(60, 2, vwgt=1, constraints=2**30),
        CsrLayout(60, 2, dimension=4),
        CsrLayout(60, 2, bytes_per_vertex=float("nan")),
    ],
)
def test_headers_that_no_graph_has(path, wrong):
    """Their checksum is right."""
    path.write_bytes(wrong.packed() + path.read_bytes()[HEADER:])
    with pytest.raises(InputError, match=r"g\.ecsr"):
        CsrFile(path)


def test_offsets_of_the_header_that_lie(path):
    header = bytearray(path.read_bytes())
    struct.pack_into("<q", header, 80, 64)
    struct.pack_into("<I", header, HEADER - 4, zlib.crc32(header[: HEADER - 4]))
    path.write_bytes(header)
    with pytest.raises(InputError, match="inconsistent entries"):
        CsrFile(path)


def _put(path, name, index, value):
    with CsrFile(path) as file:
        section = file.layout.sections[name]
    content = bytearray(path.read_bytes())
    at = section.offset + index * section.dtype.itemsize
    content[at : at + section.dtype.itemsize] = np.array([value], section.dtype).tobytes()
    path.write_bytes(content)


@pytest.mark.parametrize("bit", range(0, 64, 7))
@pytest.mark.parametrize("row", [0, 1, 30, 60])
def test_flipped_bits_of_offsets(path, graph, row, bit):
    """Found when the rows are read, or, where they could be such, as an edge with one end."""
    flipped = graph.xadj[row : row + 1].copy().view(np.uint64) ^ np.uint64(1 << bit)
    _put(path, "xadj", row, flipped.view(np.int64)[0])
    with CsrFile(path) as file, pytest.raises(InputError):
        file.check()
    with pytest.raises(InputError):
        read_graph(path)


@pytest.mark.parametrize(
    ("name", "index", "value", "said"),
    [
        ("adjncy", 100, 60, "but there are 60"),
        ("adjncy", 100, -1, "but there are 60"),
        ("adjncy", 0, 0, "its own neighbour"),
        ("adjncy", 1, 0, "do not ascend|its own"),
        ("adjwgt", 9, -1.0, "negative"),
        ("adjwgt", 9, np.nan, "has negative or non-numeric weights"),
        ("vwgt", 9, -4, "negative"),
    ],
)
def test_entries_that_no_graph_has(path, name, index, value, said):
    _put(path, name, index, value)
    with CsrFile(path) as file, pytest.raises(InputError, match=said):
        file.rows(0, 60)


def test_coordinates_that_are_none(path):
    _put(path, "coords", 4, np.inf)
    with CsrFile(path) as file:
        file.points(2, 60)
        with pytest.raises(InputError, match="coordinates"):
            file.points(0, 2)


def test_lists_that_are_not_symmetric(tmp_path):
    graph = grid(6, 6)
    path = tmp_path / "g.ecsr"
    write_graph(path, graph)
    _put(path, "adjncy", 1, 20)
    with CsrFile(path) as file:
        file.rows(0, 5)
        file.rows(20, 36)
        file.rows(0, 20)
        file.rows(0, 20)
        with pytest.raises(
            InputError,
            match="an edge is listed at only one of its ends, or has different weights at its ends",
        ):
            file.rows(20, 36)
    with (
        CsrFile(path) as file,
        pytest.raises(
            InputError,
            match="an edge is listed at only one of its ends, or has different weights at its ends",
        ),
    ):
        file.check()


def test_weights_that_differ_at_two_ends(path, graph):
    _put(path, "adjwgt", 3, graph.adjwgt[3] * 2)
    with CsrFile(path) as file, pytest.raises(InputError, match="different weights"):
        file.check()


def test_changed_while_it_is_read(path):
    with CsrFile(path) as file:
        file.rows(0, 10)
        content = path.read_bytes()
        with path.open("r+b") as other:
            other.write(content)
        os.utime(path, ns=(1, 1))
        with pytest.raises(InputError, match="was changed while it was read"):
            file.rows(0, 10)
    with CsrFile(path) as file:
        os.truncate(path, HEADER + 8)
        with pytest.raises(InputError, match="was cut short while it was read"):
            file.rows(0, 10)


def test_sorts_of_labels(tmp_path):
    graph = Graph([0, 1, 2], [1, 0], labels=np.array(["a", "b"]))
    (said,) = write_graph(tmp_path / "g.ecsr", graph)
    assert "This format does not store vertex labels that are not whole numbers." in said
    assert read_graph(tmp_path / "g.ecsr").labels is None


def test_no_edges(tmp_path):
    write_graph(tmp_path / "g.ecsr", Graph([0, 0, 0], np.empty(0, np.int32)))
    assert read_graph(tmp_path / "g.ecsr").m == 0
    with CsrFile(tmp_path / "g.ecsr") as file:
        file.check()
        assert file.rows(0, 2).adjncy.size == 0
