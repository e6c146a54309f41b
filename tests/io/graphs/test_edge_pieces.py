"""Edges of a file in pieces: as they stand there, or the reason why not."""

import numpy as np
import pytest

from evener.errors import InputError
from evener.io.graphs.edge_pieces import EdgePieces


def whole(source):
    pieces = list(source.read())
    assert [piece.first for piece in pieces] == np.cumsum(
        [0, *(piece.tails.size for piece in pieces)]
    )[:-1].tolist()
    assert all(piece.tails.dtype == np.int32 for piece in pieces)
    return np.concatenate([np.stack(piece[1:], axis=1) for piece in pieces])


@pytest.mark.parametrize("name", ["some.npy", "some.edges", "some.csv", "some.txt"])
def test_lines_come_in_their_order(monkeypatch, tmp_path, name):
    ends = np.random.default_rng(1).integers(0, 30, (100, 2))
    ends[3] = 7  # a loop
    monkeypatch.setattr("evener.io.graphs.edge_pieces.ROWS", 13)
    monkeypatch.setattr("evener.io.graphs.streams.PIECE", 50)
    path = tmp_path / name
    if name.endswith("npy"):
        np.save(path, ends)
    else:
        mark = "," if name.endswith("csv") else " "
        np.savetxt(path, ends, fmt="%d", delimiter=mark, header="source,target", comments="# ")
    source = EdgePieces(path)
    for _ in range(2):
        assert whole(source).tolist() == ends.tolist()
    found = source.survey()
    assert (found.m, found.n) == (100, ends.max() + 1)
    assert found.degrees.tolist() == np.bincount(ends.ravel()).tolist()
    assert not source.weighted


def test_a_third_column_is_seen(tmp_path):
    (tmp_path / "w.csv").write_text("0,1,2.5\n1,2,1\n")
    assert EdgePieces(tmp_path / "w.csv").weighted


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("a b\nb c\n", "not `u v`"),
        ("0 1 2 3\n", "not `u v`"),
        ("", "it begins with white space or is empty"),
        ("0 1\n-3 2\n", "vertex -3"),
        ("0 1\n5 4000000000\n", "vertex 4000000000"),
        ("0 1\n5 1000000000\n", "wide gaps"),
    ],
)
def test_other_lines_are_refused(tmp_path, text, reason):
    (tmp_path / "x.edges").write_text(text)
    with pytest.raises(InputError, match=reason):
        EdgePieces(tmp_path / "x.edges").survey()


@pytest.mark.parametrize("array", [np.zeros((3, 3), int), np.zeros((2, 2)), np.zeros((0, 2), int)])
def test_other_arrays_are_refused(tmp_path, array):
    np.save(tmp_path / "x.npy", array)
    with pytest.raises(InputError, match="contains"):
        EdgePieces(tmp_path / "x.npy").survey()


@pytest.mark.parametrize("content", [b"", b"no array", b"PK\5\6" + bytes(18)])
def test_a_file_that_is_no_array_is_refused(tmp_path, content):
    (tmp_path / "x.npy").write_bytes(content)  # the last is an empty .npz file
    with pytest.raises(InputError, match="can be mapped"):
        EdgePieces(tmp_path / "x.npy")
