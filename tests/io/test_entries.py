"""Entries of files: matrices of any shape as SciPy reads them, values as weights or refused."""

import numpy as np
import pytest

from evener.errors import InputError
from evener.io.entries import Entries
from evener.io.formats import format_of
from evener.io.sources import open_source

io = pytest.importorskip("scipy.io")
sparse = pytest.importorskip("scipy.sparse")
MATRIX = sparse.coo_array(([1.0, 2.0, 3.0, 4.0], ([2, 0, 1, 1], [0, 3, 1, 4])), shape=(3, 5))
# Rows 3, columns 5, by columns as in the file.
BOEING = """title                                                                   key
             4             1             1             1
RUA                        3             5             4
(6I3)           (4I3)           (4E8.1)
  1  2  3  3  4  5
  3  2  1  2
 1.0E+00 3.0E+00 2.0E+00 4.0E+00
"""


def entries_in(path):
    source = open_source(path)
    return format_of(source).entries(source, with_values=True)


@pytest.fixture(params=["npz-csr", "npz-csc", "npz-coo", "mtx", "mtx-array", "rua", "ijv"])
def stored(request, tmp_path):
    name, _, form = request.param.partition("-")
    path = tmp_path / f"a.{name}"
    if name == "npz":
        sparse.save_npz(path, MATRIX.asformat(form))
    elif form == "array":
        io.mmwrite(path, MATRIX.toarray())
    elif name == "mtx":
        io.mmwrite(path, MATRIX)
    elif name == "rua":
        path.write_text(BOEING)
    else:
        rows = zip(MATRIX.row, MATRIX.col, MATRIX.data, strict=True)
        path.write_text("".join(f"{i} {j} {x}\n" for i, j, x in rows))
    return path


def test_entries_of_a_rectangular_matrix(stored):
    found = entries_in(stored)
    assert (found.n_rows, found.n_columns, found.m) == (3, 5, 4)
    triples = sorted(zip(found.rows, found.columns, found.values, strict=True))
    assert triples == [(0, 3, 2), (1, 1, 3), (1, 4, 4), (2, 0, 1)]
    assert found.weights().dtype == np.int64


def test_a_triangle_is_as_stored(tmp_path):
    path = tmp_path / "a.mtx"
    path.write_text("%%MatrixMarket matrix coordinate real symmetric\n3 3 3\n1 1 2\n3 1 5\n3 3 1\n")
    found = entries_in(path)
    assert (found.m, found.triangle, found.rows.tolist()) == (3, True, [0, 2, 2])


@pytest.mark.parametrize(
    ("values", "reason"),
    [(None, "no edge weights"), (np.array([-1.0]), "negative"), (np.array([np.inf]), "not finite"),
     (np.array([1j]), "complex")],
)  # fmt: skip
def test_values_that_are_no_weights_are_refused(values, reason):
    with pytest.raises(InputError, match=reason):
        Entries(1, 1, np.zeros(1, int), np.zeros(1, int), values).weights()


def test_archives_of_graphs_hold_no_entries(tmp_path):
    from evener.graphs.generating.grid import grid
    from evener.io.write import write_graph

    write_graph(tmp_path / "g.npz", grid((3, 3)))
    assert entries_in(tmp_path / "g.npz") is None
