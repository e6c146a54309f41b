"""Matrix Market files beside SciPy's reader, every form and symmetry, and what is refused."""

import io

import numpy as np
import pytest
import scipy.io
import scipy.sparse as sp

from evener.errors import InputError
from evener.io import read, read_graph

HEAD = "%%MatrixMarket matrix coordinate pattern general\n"


def pattern_of(matrix):
    """The slow way: A + A^T, where it is not zero, off the diagonal."""
    dense = np.asarray(abs(sp.coo_array(matrix)).todense() != 0)
    dense |= dense.T
    np.fill_diagonal(dense, val=False)
    return dense


@pytest.mark.parametrize("symmetry", ["general", "symmetric", "skew-symmetric", "hermitian"])
@pytest.mark.parametrize("field", ["pattern", "real", "integer", "complex"])
@pytest.mark.parametrize("dense", [False, True])
def test_agrees_with_scipy(put, symmetry, field, dense):
    if (symmetry == "hermitian" and field != "complex") or (dense and field == "pattern"):
        pytest.skip("no such matrix")
    if symmetry == "skew-symmetric" and field == "pattern":
        pytest.skip("a pattern has no sign")
    rng = np.random.default_rng(88)
    a = rng.integers(1, 9, (9, 9)) * (rng.random((9, 9)) < 0.3)
    a = a * (1 + 2j) if field == "complex" else a.astype(float if field == "real" else int)
    if symmetry != "general":
        other = {"symmetric": a.T, "skew-symmetric": -a.T, "hermitian": a.conj().T}[symmetry]
        a = np.tril(a, -1) + np.tril(other.T, -1).T
        if symmetry != "skew-symmetric":
            a += np.diag([1, 0, 2, 0, 0, 3, 0, 0, 0])
    out = io.BytesIO()
    scipy.io.mmwrite(out, a if dense else sp.coo_array(a), field=field, symmetry=symmetry)
    graph = read_graph(put(out.getvalue(), "a.mtx"))
    expected = pattern_of(scipy.io.mmread(io.BytesIO(out.getvalue())))
    found = np.zeros_like(expected)
    found[np.repeat(np.arange(9), graph.degrees), graph.adjncy] = True
    assert (found == expected).all()


def test_what_was_made_of_it_is_said(put):
    reading = read(put(HEAD + "3 3 4\n1 1\n1 2\n2 1\n2 3\n", "a.mtx"))
    assert reading.graph.adjncy.tolist() == [1, 0, 2, 1]
    assert "4 entries" in reading.notes[0]
    assert "1 on the diagonal" in reading.notes[0]
    assert "not symmetric" in reading.notes[1]
    assert "1 entries added" in reading.notes[1]


def test_comments_blank_lines_and_case(put):
    text = "%%matrixmarket MATRIX Coordinate Real General\n%\n\n% x\n3 3 1\n\n%\n 1  2  1.5D0 \n"
    assert read_graph(put(text, "a.mtx")).m == 1


@pytest.mark.parametrize(
    ("text", "line", "words"),
    [
        ("%%MatrixMarket matrix coordinate\n3 3 1\n1 2\n", 1, "must begin"),
        ("%%MatrixMarket matrix coordinate odd general\n3 3 1\n1 2\n", 1, "odd"),
        ("\x1c\n", 1, "must begin"),
        (
            "%%MatrixMarket matrix \x07 real general\n1 1 0\n",
            1,
            r"there is no matrix of the kind `\x07 real general`",
        ),
        (HEAD, None, "size"),
        (HEAD + "3 3\n", 2, "rows columns entries"),
        (HEAD + "3 4 1\n1 2\n", 2, "rectangular matrix, 3 x 4"),
        (HEAD + "3 3 2\n1 2\n", 3, "ends after 1 of 2 entries"),
        (HEAD + "3 3 1\n1 2\n2 3\n", 4, "the file contains more than the header declares:"),
        (HEAD + "3 3 1\n1 4\n", 3, "index 4 is out of range"),
        (HEAD + "3 3 1\n0 2\n", 3, "index 0 is out of range"),
        (HEAD + "3 3 1\n1 2 7\n", 3, "3 fields; 2"),
        (HEAD + "3 3 1\n1\n", 3, "1 field; 2 are needed"),
        (HEAD + "3 3 1\nx 2\n", 3, "'x'"),
        (HEAD + "1000000000000000 1000000000000000 1\n1 2\n", 2, "1,000,000,000,000,000"),
        (HEAD + "3 3 1000000000000000\n1 2\n", 2, "too many for its size"),
        (HEAD + "0 0 0\n", 2, "no vertex"),
        (HEAD.replace("pattern", "real") + "3 3 1\n1 2\n", 3, "3 are needed"),
        (HEAD.replace("pattern", "real") + "3 3 1\n1 2 zwei\n", 3, "'zwei'"),
        ("%%MatrixMarket matrix array real general\n2 2\n1\n2\n3\n", 2, "3 values but declares 4"),
        ("%%MatrixMarket matrix array real general\n2 2\n1\n2\n3\nx\n", 6, "'x'"),
    ],
)
def test_refused(put, text, line, words):
    path = put(text, "a.mtx")
    with pytest.raises(InputError) as caught:
        read_graph(path, format="matrixmarket")
    assert words in str(caught.value)
    assert caught.value.line == line
