"""A converted file is, byte for byte, the one written from the graph read whole; or both refuse."""

import gzip
import lzma
import os
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import pytest
import zstandard
from hypothesis import HealthCheck, given
from hypothesis import strategies as st

from evener.cli import main
from evener.errors import EvenerError, InputError, OutputError, UsageError
from evener.graphs.graph import Graph
from evener.io import read, write_graph
from evener.io.converting import blocks, buckets, convert, lists, pairs
from evener.io.converting.convert import convert_to_csr
from evener.io.converting.vertices import VertexFiles
from evener.io.formats import format_named
from evener.io.graphs.streams import WholeNeeded
from tests.examples import with_examples
from tests.io.graph_samples import GRAPHS
from tests.io.mutations import mutated

WHOLE = ("array.mtx", "skew.mtx", "names.csv", "weights.edgelist")
STREAMED = [
    name
    for name in GRAPHS
    if Path(name).suffix in (".graph", ".mtx", ".csv", ".edgelist") and name not in WHOLE
]


@pytest.fixture
def small_pieces(monkeypatch):
    """Blocks of 16 bytes, rows and pairs a few at a time."""
    monkeypatch.setattr(blocks.TextBlocks.__init__, "__defaults__", (16, None))
    monkeypatch.setattr(lists, "ROWS", 3)
    monkeypatch.setattr(buckets, "PIECE", 5)
    monkeypatch.setattr(pairs, "PIECE", 5)


def same_as_whole(path, memory=2**20, name=None, **options):
    """Convert, and compare with reading whole; returns the notes. name: of the format."""
    target, whole = path.with_name("pieces.ecsr"), path.with_name("whole.ecsr")
    reading = read(path, format=name, **options)
    left_out = write_graph(whole, reading.graph)
    made = convert_to_csr(path, target, format=name, vertices=VertexFiles(**options), memory=memory)
    assert target.read_bytes() == whole.read_bytes()
    assert (made.notes, made.format) == ((*reading.notes, *left_out), reading.format)
    assert (made.n, made.m) == (reading.graph.n, reading.graph.m)
    assert sorted(p.name for p in path.parent.iterdir() if p.name.startswith(".")) == []
    return made.notes


@pytest.mark.parametrize("name", STREAMED)
def test_samples(put, name):
    same_as_whole(put(GRAPHS[name], name))


@pytest.mark.parametrize("name", STREAMED)
def test_samples_in_small_pieces(put, name, small_pieces):
    same_as_whole(put(GRAPHS[name], name))


@pytest.mark.parametrize("name", ["array.mtx", "names.csv", "own.npz", "plain.grf", "snap.txt"])
def test_others_are_read_whole(put, name):
    with pytest.raises(WholeNeeded):
        convert_to_csr(put(GRAPHS[name], name), "g.ecsr")


def test_devices_are_not_filled(put):
    path = put(GRAPHS["weighted.graph"], "w.graph")
    with pytest.raises(WholeNeeded, match="is not a regular file"):
        convert_to_csr(path, "/dev/null")
    assert main(["convert", str(path), "/dev/null", "--to", "ecsr"]) == 0
    assert main(["generate", "grid", "--shape", "3x3", "-o", "/dev/null", "--to", "ecsr"]) == 0


def test_stdout(put, capfdbinary):
    path = put(GRAPHS["weighted.graph"], "w.graph")
    assert main(["convert", str(path), "-", "--to", "ecsr", "--quiet"]) == 0
    assert capfdbinary.readouterr().out == format_named("ecsr").write(read(path).graph)[0]


def numbered_lines(draw):
    """An edge list: numbers with gaps or not, below zero or not, weights of each type."""
    rng = np.random.default_rng(draw(st.integers(0, 2**32)))
    n, count = draw(st.integers(1, 40)), draw(st.integers(1, 200))
    ends = rng.integers(0, n, (count, 2)) * draw(st.sampled_from([1, 1, 3]))
    ends += draw(st.sampled_from([0, 1, -5, 2**40]))
    weights = draw(st.sampled_from([None, "whole", "real"]))
    words = [f"{u} {v}" for u, v in ends.tolist()]
    if weights == "whole":
        words = [f"{word} {w}" for word, w in zip(words, rng.integers(0, 99, count), strict=True)]
    if weights == "real":
        words = [f"{word} {w}" for word, w in zip(words, rng.random(count), strict=True)]
    return "\n".join(words).encode()


def matrix_entries(draw):
    rng = np.random.default_rng(draw(st.integers(0, 2**32)))
    n, count = draw(st.integers(1, 40)), draw(st.integers(0, 200))
    symmetry = draw(st.sampled_from(["general", "symmetric", "skew-symmetric"]))
    field = draw(st.sampled_from(["pattern", "real"]))
    value = "" if field == "pattern" else " -1.5"
    lines = [f"{u} {v}{value}" for u, v in rng.integers(1, n + 1, (count, 2)).tolist()]
    head = f"%%MatrixMarket matrix coordinate {field} {symmetry}\n{n} {n} {count}"
    return "\n".join([head, *lines, ""]).encode()


any_memory = st.sampled_from([2**20, 4000, 400])
fuzz = with_examples(60, database=None, suppress_health_check=[HealthCheck.function_scoped_fixture])


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    return tmp_path_factory.mktemp("converting")


@fuzz
@given(st.data(), any_memory)
def test_edge_lists(folder, data, memory):
    path = folder / "g.csv"
    path.write_bytes(numbered_lines(data.draw))
    try:
        same_as_whole(path, memory)
    except WholeNeeded as reason:
        assert "far apart" in str(reason)


@fuzz
@given(st.data(), any_memory)
def test_matrices(folder, data, memory):
    path = folder / "g.mtx"
    path.write_bytes(matrix_entries(data.draw))
    same_as_whole(path, memory)


@pytest.mark.parametrize("name", ["plain.graph", "weighted.graph"])
@fuzz
@given(st.data())
def test_lists_in_any_order(folder, name, data):
    """METIS lists need not ascend."""
    rng = np.random.default_rng(data.draw(st.integers(0, 2**32)))
    n = data.draw(st.integers(1, 30))
    graph = Graph.from_edges(n, *rng.integers(0, n, (2, 60)), weights=rng.integers(1, 9, 60))
    weighted = name != "plain.graph"
    rows = []
    for v in range(n):
        span = np.arange(graph.xadj[v], graph.xadj[v + 1])
        words = [
            f"{graph.adjncy[e] + 1} {graph.adjwgt[e]}" if weighted else f"{graph.adjncy[e] + 1}"
            for e in rng.permutation(span)
        ]
        rows.append(" ".join(words))
    flag = " 001" if weighted else ""
    path = folder / name
    path.write_text(f"% a\n{n} {graph.m}{flag}\n" + "\n".join(rows) + "\n")
    same_as_whole(path, name="metis")


@pytest.mark.parametrize("name", ["plain.graph", "weighted.graph", "pattern.mtx", "numbers.csv"])
@pytest.mark.parametrize("size", [2**20, 24])
@fuzz
@given(st.data())
def test_damaged_files(folder, name, size, data):
    """Both ways refuse a file, or both make the same of it; nothing is left of what is refused."""
    path, target, whole = folder / name, folder / "new.ecsr", folder / "old.ecsr"
    path.write_bytes(data.draw(mutated(GRAPHS[name])))
    target.unlink(missing_ok=True)
    try:
        write_graph(whole, read(path).graph)
        expected = whole.read_bytes()
    except EvenerError:
        expected = None
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(blocks.TextBlocks.__init__, "__defaults__", (size, None))
        try:
            convert_to_csr(path, target)
        except WholeNeeded:
            return
        except EvenerError:
            assert expected is None
            assert not target.exists()
            return
    assert target.read_bytes() == expected


@pytest.mark.parametrize("pack", [gzip.compress, lzma.compress, zstandard.compress])
@pytest.mark.parametrize("name", ["plain.graph", "pattern.mtx", "numbers.csv"])
def test_packed_inputs(put, pack, name):
    suffix = {gzip.compress: "gz", lzma.compress: "xz", zstandard.compress: "zst"}[pack]
    same_as_whole(put(pack(GRAPHS[name]), f"{name}.{suffix}"))


def test_a_packed_file_cut_short(put):
    packed = gzip.compress(GRAPHS["plain.graph"])
    with pytest.raises(InputError, match="cannot be unpacked"):
        convert_to_csr(put(packed[:-9], "g.graph.gz"), "g.ecsr")


@pytest.mark.parametrize(
    "coords",
    ["0 0\n1 2\n3 4\n5 6\n", "% c\n0,0,1\n1 2 0\n3 4 0\n5 6 0\n", "0 0 0\n1 2 0\n3 4 0\n5 6 0\n"],
)
def test_coordinates_beside_and_named(put, coords, small_pieces):
    path = put(GRAPHS["plain.graph"], "plain.graph")
    beside = put(coords.encode(), "plain.graph.xyz")
    assert "Coordinates are from plain.graph.xyz." in same_as_whole(path)
    named = beside.rename(beside.with_name("places"))
    same_as_whole(path, coords=named)
    np.save(path.with_name("places.npy"), np.arange(12.0).reshape(4, 3))
    same_as_whole(path, coords=path.with_name("places.npy"))


def test_weights_of_vertices_and_bytes(put):
    path = put(GRAPHS["weighted.graph"], "w.graph")
    weights = put(b"1\n2.5\n3\n", "weights.txt")
    same_as_whole(path, weights=str(weights), bytes_per_vertex=5.0, bytes_per_edge=0.5)


@pytest.mark.parametrize("constraint", [0, 1])
@pytest.mark.parametrize("real", [False, True])
def test_one_of_several_weights(put, tmp_path, constraint, real):
    """From lists, and from binary CSR; whether weights are whole is asked of all of them."""
    half = ".5" if real else ""
    path = put(f"2 1 10 2\n1 2{half} 2\n3 4 1\n".encode(), "w.graph")
    same_as_whole(path, constraint=constraint)
    write_graph(tmp_path / "all.ecsr", read(path).graph)
    same_as_whole(tmp_path / "all.ecsr", constraint=constraint)
    for source in (path, tmp_path / "all.ecsr"):
        with pytest.raises(UsageError, match="no weight 2: weights are numbered 0 to 1"):
            convert_to_csr(source, tmp_path / "o.ecsr", vertices=VertexFiles(constraint=2))
    two = put(b"1 2\n3 4\n", "two.txt")
    with pytest.raises(UsageError, match="no weight 1: weights are numbered 0 to 0"):
        options = VertexFiles(weights=f"{two}:0", constraint=1)
        convert_to_csr(path, tmp_path / "o.ecsr", vertices=options)


def test_binary_csr_again(put, tmp_path):
    """With all it holds; with others of coordinates, weights and bytes."""
    path = put(GRAPHS["own.ecsr"], "own.ecsr")
    same_as_whole(path)
    coords, weights = put(b"5 5\n6 6\n7 8\n", "c.xyz"), put(b"1\n2\n3\n", "w.txt")
    same_as_whole(path, coords=coords, weights=str(weights), bytes_per_edge=3.0)
    path.write_bytes(GRAPHS["own.ecsr"][:-1])
    with pytest.raises(InputError, match="cut short"):
        convert_to_csr(path, tmp_path / "o.ecsr")
    assert not (tmp_path / "o.ecsr").exists()


@pytest.mark.parametrize(
    "coords", ["0 0\n1 2\n", "0 0\n1 2\n3 x\n5 6\n", "0 0\n1 1e200\n0 0\n0 0\n"]
)
def test_wrong_coordinates(put, coords, tmp_path):
    path = put(GRAPHS["plain.graph"], "plain.graph")
    named = put(coords.encode(), "places")
    with pytest.raises(InputError, match="places"):
        convert_to_csr(path, tmp_path / "g.ecsr", vertices=VertexFiles(coords=named))
    assert not (tmp_path / "g.ecsr").exists()


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("3 2\n2\n1 3\n\n", "declares 2 edges, but the lists contain 3"),
        ("3 1\n2\n1 3\n2\n", "more neighbours than the header declares"),
        (
            "3 2\n2\n3\n1 2\n",
            "an edge is listed at only one of its ends, or has different weights at its ends",
        ),
        (
            "2 1 1\n2 5\n1 6\n",
            "an edge is listed at only one of its ends, or has different weights at its ends",
        ),
        ("2 2\n2 2\n1 1\n", "g.graph:2: vertex 1 lists its neighbour 2 more than once"),
        ("3 2\n2\n1 3\n", "3 vertices, but 2 lines follow"),
        ("2 1\n2\n1\n1\n", "the file contains more than the header declares:"),
        ("2 1\n2\n3\n", "g.graph:3: 3 is out of range"),
        ("2 1\n2\n2\n", "g.graph:3: vertex 2 is its own neighbour"),
        ("2 1\n2\nx\n", "g.graph:3: a number is needed"),
        ("2 1 1\n2 1e300\n1 1e300\n", "add up to more than"),
    ],
)
def test_wrong_lists(put, tmp_path, text, said):
    with pytest.raises(InputError, match=said):
        convert_to_csr(put(text.encode(), "g.graph"), tmp_path / "g.ecsr")
    assert not (tmp_path / "g.ecsr").exists()


def test_a_file_that_is_there_stays_where_its_successor_is_refused(put, tmp_path):
    target = tmp_path / "g.ecsr"
    target.write_bytes(b"old")
    with pytest.raises(InputError):
        convert_to_csr(put(b"3 2\n2\n3\n1 2\n", "g.graph"), target)
    assert target.read_bytes() == b"old"


def test_changed_while_it_is_read(put, tmp_path, monkeypatch, small_pieces):
    path = put(GRAPHS["plain.graph"], "g.graph")
    original = lists.ListsConverter._put

    def change(self, writer, found):
        os.utime(path, ns=(1, 1))
        original(self, writer, found)

    monkeypatch.setattr(lists.ListsConverter, "_put", change)
    with pytest.raises(InputError, match="was changed while it was read"):
        convert_to_csr(path, tmp_path / "g.ecsr")
    assert not (tmp_path / "g.ecsr").exists()


@pytest.mark.parametrize("place", ["spool", "output"])
def test_a_full_disk(put, tmp_path, monkeypatch, place):
    """Of the spool, or of the file itself: nothing is left."""
    rng = np.random.default_rng(1)
    text = "\n".join(f"{u} {v}" for u, v in rng.integers(0, 50, (400, 2)).tolist())
    path = put(text.encode(), "g.csv")

    def full(*args, **keys):
        raise OSError(28, "No space left on device")

    if place == "spool":
        monkeypatch.setattr(pairs.PairSpool, "append", full)
    else:
        monkeypatch.setattr(convert.Filled, "write", full)
    with pytest.raises(OutputError, match="No space left"):
        convert_to_csr(path, tmp_path / "g.ecsr", memory=1000)
    assert [p.name for p in tmp_path.iterdir()] == ["g.csv"]


@pytest.mark.slow
@pytest.mark.parametrize("name", ["g.graph", "g.csv"])
def test_killed_in_the_midst(tmp_path, name):
    """No file of the name; what else is left goes when the next one is converted."""
    rng = np.random.default_rng(1)
    n = 60_000
    graph = Graph.from_edges(n, *rng.integers(0, n, (2, 600_000)))
    write_graph(tmp_path / name, graph)
    command = [sys.executable, "-m", "evener", "convert", name, "g.ecsr", "--memory", "64MiB"]
    for wait in (0.3, 0.8, 1.2):
        process = subprocess.Popen(command, cwd=tmp_path)
        time.sleep(wait)
        process.kill()
        process.wait()
        if (tmp_path / "g.ecsr").exists():  # it was ready
            assert read(tmp_path / "g.ecsr").graph.m == graph.m
            (tmp_path / "g.ecsr").unlink()
    subprocess.run(command, cwd=tmp_path, check=True)
    assert read(tmp_path / "g.ecsr").graph.m == graph.m
    assert not [p for p in tmp_path.iterdir() if p.name.startswith("evener-private-")]
