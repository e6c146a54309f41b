"""Harwell-Boeing files as SciPy writes them, and what is refused."""

import io

import numpy as np
import pytest
import scipy.io
import scipy.sparse as sp

from evener.errors import InputError
from evener.io import read, read_graph


def text_of(matrix):
    out = io.StringIO()
    scipy.io.hb_write(out, sp.csc_matrix(matrix))
    return out.getvalue()


@pytest.fixture
def text():
    rng = np.random.default_rng(11)
    return text_of(rng.random((40, 40)) * (rng.random((40, 40)) < 0.2))


def test_agrees_with_scipy(put, text):
    reading = read(put(text, "a.rua"))
    assert reading.format == "harwell-boeing"
    dense = scipy.io.hb_read(io.StringIO(text)).toarray() != 0
    dense |= dense.T
    np.fill_diagonal(dense, val=False)
    found = np.zeros_like(dense)
    found[np.repeat(np.arange(40), reading.graph.degrees), reading.graph.adjncy] = True
    assert (found == dense).all()


SMALL = "t\n 3 1 1 1 0\nPSA 3 3 2 0\n(4I2) (2I3) (1E20.12)\n 1 2 3 3\n  2  3\n"


def test_by_hand(put):
    assert read_graph(put(SMALL, "a.psa")).adjncy.tolist() == [1, 0, 2, 1]


@pytest.mark.parametrize(
    ("old", "new", "line", "words"),
    [
        ("PSA", "PSE", 3, "unassembled"),
        ("PSA 3 3", "PRA 3 4", 3, "rectangular"),
        ("PSA", "XYZ", 3, "type"),
        ("(4I2)", "(4F2)", 4, "formats"),
        ("(4I2)", "(4I0)", 4, "widths"),
        ("(4I2)", f"({'9' * 5000}I2)", 4, "formats of pointers"),
        (" 1 2 3 3", " 1 3 2 3", 5, "the column pointers must increase from 1 to"),
        (" 1 2 3 3", " 1 2 3 4", 5, "the column pointers must increase from 1 to 3"),
        (" 1 2 3 3", " 1 2 x 3", 5, "number is needed"),
        ("  2  3", "  2  4", 6, "row index 4 is out of range"),
        ("  2  3", "  2", 6, "number is needed"),
        ("3 3 2 0", "3 3", 3, "counts"),
        ("3 3 2 0", "3 3 999999999999999 0", 3, "too many for its size"),
        ("3 3 2 0", "999999999999999 999999999999999 2 0", 3, "999,999,999,999,999"),
    ],
)
def test_refused(put, old, new, line, words):
    assert old in SMALL
    with pytest.raises(InputError) as caught:
        read_graph(put(SMALL.replace(old, new, 1), "a.psa"), format="harwell-boeing")
    assert words in str(caught.value)
    assert caught.value.line == line


@pytest.mark.parametrize("form", ["0E20.12", "1E0.12", "1000E20.12", f"1E{'9' * 5000}"])
def test_formats_of_values_that_are_refused(put, form):
    path = put(SMALL.replace("PSA", "RSA").replace("1E20.12", form), "a.rsa")
    with pytest.raises(InputError, match="format of the values") as caught:
        read_graph(path, directed=True, format="harwell-boeing")
    assert caught.value.line == 4
