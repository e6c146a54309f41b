"""NumPy archives: SciPy's matrices, our own graphs, and archives that lie."""

import io
import pickle
import zipfile

import numpy as np
import pytest
import scipy.sparse as sp

from evener.errors import InputError
from evener.graphs.graph import Graph
from evener.io import read, read_graph, write_graph


@pytest.fixture
def matrix():
    return sp.random_array((30, 30), density=0.1, rng=np.random.default_rng(5))


def pattern_of(matrix):
    dense = np.asarray(matrix.todense() != 0)
    dense |= dense.T
    np.fill_diagonal(dense, val=False)
    return dense


def dense_of(graph):
    found = np.zeros((graph.n, graph.n), bool)
    found[np.repeat(np.arange(graph.n), graph.degrees), graph.adjncy] = True
    return found


@pytest.mark.parametrize("form", ["csr", "csc", "coo"])
@pytest.mark.parametrize("kind", ["array", "matrix"])
@pytest.mark.parametrize("compressed", [False, True])
def test_scipy(tmp_path, matrix, form, kind, compressed):
    maker = getattr(sp, f"{form}_{kind}")
    sp.save_npz(tmp_path / "a.npz", maker(matrix), compressed=compressed)
    graph = read_graph(tmp_path / "a.npz")
    assert (dense_of(graph) == pattern_of(matrix)).all()


def test_own_form_keeps_everything(tmp_path):
    graph = Graph(
        [0, 1, 3, 4],
        [1, 0, 2, 1],
        vwgt=np.array([[1.5, 2], [3, 4], [5, 6]]),
        adjwgt=[7, 7, 8, 8],
        coords=np.array([[0.1, 0, 0], [1, 2, 3], [4, 5, 6]]),
        bytes_per_vertex=100.5,
        bytes_per_edge=3,
        labels=np.array(["a", "bb", "c"]),
    )
    assert write_graph(tmp_path / "g.npz", graph) == ()
    again = read_graph(tmp_path / "g.npz")
    for name in ("xadj", "adjncy", "vwgt", "adjwgt", "coords", "labels"):
        assert np.array_equal(getattr(again, name), getattr(graph, name))
    assert (again.bytes_per_vertex, again.bytes_per_edge) == (100.5, 3.0)
    first = (tmp_path / "g.npz").read_bytes()
    write_graph(tmp_path / "g.npz", again)
    assert (tmp_path / "g.npz").read_bytes() == first
    assert read(tmp_path / "g.npz").format == "npz"


def npy(array):
    out = io.BytesIO()
    np.lib.format.write_array(out, np.asarray(array))
    return out.getvalue()


def archive(**members):
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED) as file:
        for name, content in members.items():
            file.writestr(f"{name}.npy", content if isinstance(content, bytes) else npy(content))
    return out.getvalue()


CSR = {
    "format": np.array(b"csr"),
    "shape": np.array([2, 2]),
    "indptr": np.array([0, 1, 2]),
    "indices": np.array([1, 0]),
    "data": np.ones(2),
}
OWN = {"evener_graph": np.array(1), "xadj": np.array([0, 1, 2]), "adjncy": np.array([1, 0])}
HUGE = npy(np.zeros(4)).replace(b"(4,)", b"(4000000000000,)".ljust(4))


def test_the_samples_are_good(put):
    assert read_graph(put(archive(**CSR), "a.npz")).m == 1
    assert read_graph(put(archive(**OWN), "a.npz")).m == 1


@pytest.mark.parametrize(
    ("base", "changes", "words"),
    [
        (CSR, {"shape": np.array([2, 3])}, "rectangular"),
        (CSR, {"shape": np.array([10**15, 10**15])}, "1,000,000,000,000,000"),
        (CSR, {"shape": np.array([-2, -2])}, "negative"),
        (CSR, {"shape": np.array([2.0, 2.0])}, "two dimensions"),
        (CSR, {"format": np.array(b"bsr")}, "'bsr'"),
        (CSR, {"indices": np.array([2, 0])}, "outside"),
        (CSR, {"indices": np.array([-1, 0])}, "outside"),
        (CSR, {"indptr": np.array([0, 3, 2])}, "indptr must increase from 0 to"),
        (CSR, {"indptr": np.array([0, 1])}, "indptr must increase from 0 to"),
        (CSR, {"indptr": np.array([0, 2**62, -(2**62)])}, "indptr must increase from 0 to"),
        (CSR, {"indptr": np.array([0.0, 1.0, 2.0])}, "whole numbers"),
        (CSR, {"indices": np.array([1])}, "indptr must increase from 0 to"),
        (OWN, {"adjncy": np.array([1, 5])}, "5"),
        (OWN, {"adjncy": np.array([1, 1])}, "own neighbour"),
        (OWN, {"xadj": np.array([0, 2, 1])}, "xadj"),
        (OWN, {"evener_graph": np.array(2)}, "version"),
        (OWN, {"vwgt": np.array([1.0, np.nan])}, "finite"),
        (OWN, {"vwgt": np.array([1, -1])}, "negative"),
        (OWN, {"vwgt": np.array([2.0**61, 2.0**61])}, "2^62"),
        (OWN, {"coords": np.array([[1.0, np.inf], [0, 0]])}, "finite"),
        (OWN, {"coords": np.ones((1, 2))}, "coords has 1 entries"),
        (OWN, {"labels": np.ones((2, 2))}, "one-dimensional"),
        (OWN, {"bytes_per_edge": np.array([1.0, 2.0])}, "one number"),
        (OWN, {"xadj": pickle.dumps("no array")}, "damaged"),
        (OWN, {"xadj": npy(np.zeros(4))[:-8]}, "does not contain what its header declares"),
        ({}, {"part": np.zeros(4)}, "a plan or a partition"),
        ({}, {"x": np.zeros(4)}, "neither a graph nor"),
    ],
)
def test_refused(put, base, changes, words):
    path = put(archive(**{**base, **changes}), "a.npz")
    with pytest.raises(InputError) as caught:
        read_graph(path)
    assert words in str(caught.value)
    assert caught.value.file == str(path)


def test_nothing_pickled_is_loaded(put):
    content = io.BytesIO()
    np.savez(content, **OWN | {"labels": np.array([object(), None])})
    with pytest.raises(InputError, match="which is not an array of numbers or text"):
        read_graph(put(content.getvalue(), "a.npz"))


def test_an_archive_that_grows_out_of_proportion(put):
    content = archive(xadj=np.zeros(10_000_000))
    assert len(content) < 100_000
    with pytest.raises(InputError, match="grows beyond"):
        read_graph(put(content, "a.npz"))


def test_a_member_larger_than_it_says(put):
    """The size in the archive's directory is a lie: no more than it is unpacked, or an error."""
    content = bytearray(archive(**OWN | {"coords": np.zeros((2, 500_000))}))
    at = content.rindex(b"PK\x01\x02", 0, content.rindex(b"coords.npy"))
    content[at + 24 : at + 28] = (64).to_bytes(4, "little")
    with pytest.raises(InputError):
        read_graph(put(bytes(content), "a.npz"))
