"""Graph files that are opened to be read in pieces, and those that must be read whole."""

import hashlib

import numpy as np
import pytest

import evener as ev
from evener.errors import InputError
from evener.io.csr.csr_file import CsrFile
from evener.io.graphs import streams
from evener.io.graphs.streams import Tally, WholeNeeded
from evener.io.streaming import digest_of, open_stream


def test_pieces_are_cut_at_line_ends_and_hold_all_lines(tmp_path, monkeypatch):
    monkeypatch.setattr(streams, "PIECE", 7)
    path = tmp_path / "g.csv"
    path.write_text("".join(f"{v},{v + 1}\n" for v in range(40)))
    stream = open_stream(path, 41, {"directed": True})
    found = [piece for piece, _ in stream.read(0, stream.n_pieces)]
    assert stream.n_pieces > 10
    assert np.concatenate([piece.tails for piece in found]).tolist() == list(range(40))
    (middle, _), *_ = stream.read(3, 4)
    assert middle.heads.tolist() == found[3].heads.tolist()


def test_an_archive_is_read_from_any_piece_on(tmp_path, monkeypatch):
    monkeypatch.setattr("evener.io.graphs.npz.ENTRIES", 8)
    rng = np.random.default_rng(3)
    graph = ev.Graph.from_edges(20, *rng.integers(0, 20, (2, 60)), weights=rng.random(60))
    ev.write_graph(tmp_path / "g.npz", graph)
    stream = open_stream(tmp_path / "g.npz", 20, {})
    found = [piece for piece, _ in stream.read(2, stream.n_pieces)]
    assert np.concatenate([piece.heads for piece in found]).tolist() == graph.adjncy[16:].tolist()
    tails = np.repeat(np.arange(20), graph.degrees)[16:]
    assert np.concatenate([piece.tails for piece in found]).tolist() == tails.tolist()
    weights = np.concatenate([piece.weights for piece in found])
    assert weights.tolist() == graph.adjwgt[16:].tolist()


@pytest.mark.parametrize("weights", [None, np.arange(60), np.linspace(0, 1, 60)])
def test_binary_csr_is_read_from_any_piece_on(tmp_path, monkeypatch, weights):
    monkeypatch.setattr(CsrFile.ranges, "__defaults__", (8, 0, None))
    rng = np.random.default_rng(3)
    graph = ev.Graph.from_edges(20, *rng.integers(0, 20, (2, 60)), weights=weights)
    ev.write_graph(tmp_path / "g.ecsr", graph)
    stream = open_stream(tmp_path / "g.ecsr", 20, {})
    found = [piece for piece, _ in stream.read(0, stream.n_pieces)]
    assert len(found) > 5
    assert np.concatenate([piece.heads for piece in found]).tolist() == graph.adjncy.tolist()
    tails = np.repeat(np.arange(20), graph.degrees)
    assert np.concatenate([piece.tails for piece in found]).tolist() == tails.tolist()
    if weights is not None:
        given = np.concatenate([piece.weights for piece in found])
        assert given.tolist() == graph.adjwgt.tolist()
        assert given.dtype == graph.adjwgt.dtype
    (last, _), *_ = stream.read(stream.n_pieces - 1, stream.n_pieces)
    assert last.heads.tolist() == found[-1].heads.tolist()


@pytest.mark.parametrize(
    ("name", "content", "said"),
    [
        ("g.csv", b"a b\nb c\n", "names"),
        ("g.gr", b"p edge 3 2\ne 1 2\ne 2 3\n", "format dimacs"),
        ("g.txt", b"3 2\n2\n1 3\n2\n", "its suffix is not a suffix of METIS files"),
        ("g.mtx", b"%%MatrixMarket matrix array real general\n2 2\n1\n2\n3\n4\n", "by columns"),
        ("g.graph.gz", b"\x1f\x8b", "packed"),
        ("g.graph", b"BZh91AY&SY", "packed"),
        ("g.graph", b"  \n", "it begins with white space or is empty"),
    ],
)
def test_what_is_read_whole(tmp_path, name, content, said):
    path = tmp_path / name
    path.write_bytes(content)
    with pytest.raises(WholeNeeded, match=said):
        open_stream(path, 3, {})


def test_archives_that_hold_something_else(tmp_path):
    path = tmp_path / "g.npz"
    np.savez(path, xadj=np.zeros(2, int))
    with pytest.raises(WholeNeeded, match="it is not a graph archive written by Evener"):
        open_stream(path, 3, {})
    ev.write_graph(path, ev.DirectedGraph.from_arcs(3, [0], [1]))
    with pytest.raises(WholeNeeded, match="its arcs are read as edges"):
        open_stream(path, 3, {})
    np.savez(path, evener_graph=1, xadj=[0, 1, 1], adjncy=[0])
    stream = open_stream(path, 2, {})
    with pytest.raises(InputError, match="out of range, or from a vertex to itself"):
        list(stream.read(0, 1))
    np.savez(path, evener_graph=1, xadj=[0, 5, 1], adjncy=[0])
    with pytest.raises(InputError, match="xadj"):
        open_stream(path, 2, {})
    path.write_bytes(path.read_bytes()[:100])
    with pytest.raises(InputError, match="damaged archive"):
        open_stream(path, 2, {})


def test_a_partition_of_another_graph_is_refused(tmp_path):
    path = tmp_path / "g.graph"
    path.write_text("2 1\n2\n1\n")
    with pytest.raises(InputError, match="the partition has 3 entries, but the graph has 2"):
        open_stream(path, 3, {})


def test_tallies_add_up():
    one, other = Tally(3, 1, True, "", 2, 5, 2**64 - 1), Tally(4, 0, False, "odd", 1, 4, 3)
    assert Tally.together([one, other]) == Tally(7, 1, True, "odd", 1, 5, 2)


def test_digests_are_those_of_whole_files(tmp_path):
    path = tmp_path / "g.graph"
    path.write_bytes(bytes(range(256)) * 30_000)
    assert digest_of(path) == hashlib.sha256(path.read_bytes()).hexdigest()
