"""Every real graph and matrix is read with the counts its index gives, or refused with reason."""

import csv
import io
import re
import tarfile

import numpy as np
import pytest
import scipy.io

from evener.errors import InputError
from evener.io import read, read_graph
from evener.io.coordinates import read_coordinates
from evener.io.sources import open_source
from tests.conftest import _data_folder

# What is not read, and a word of the reason given.
REFUSED = {
    "matrices/Franz6_id1959_aug.mtx.zst": "rectangular",
    "matrices/ak2010.mtx.zst": "plain triplets",
    "matrices/cavity14.tar.zst": "tar archive",
}


def rows_where(wanted):
    """The rows of the index that are wanted; one to be skipped where there is no index."""
    data = _data_folder()
    if data is None:
        return [pytest.param(None, id="no-data")]
    with (data / "INDEX.tsv").open() as file:
        rows = list(csv.DictReader(file, delimiter="\t"))
    return [pytest.param(row, id=row["file"]) for row in rows if wanted(row)]


def is_coordinates(row):
    return "coords" in row["kind"] and row["file"].startswith(("graphs", "matrices"))


def is_matrix(row):
    return row["file"].startswith("matrices") and not is_coordinates(row)


def has_banner(row):
    return is_matrix(row) and row["check"].startswith("coordinate") and row["file"] not in REFUSED


@pytest.mark.parametrize("row", rows_where(lambda row: row["kind"].startswith("graph")))
def test_graph(data_dir, row):
    graph = read_graph(data_dir / row["file"])
    assert (graph.n, graph.m) == (int(row["n"]), int(row["m_or_nnz"]))
    if row["coordinates"] != "-":
        assert graph.coords is not None


@pytest.mark.parametrize("row", rows_where(is_coordinates))
def test_coordinates(data_dir, row):
    source = open_source(data_dir / row["file"])
    n = int(row["n"])
    if source.data.startswith(b"%%MatrixMarket"):
        n = (n - 1) // 2  # a number a line, after the sizes
    elif source.data.startswith(b"2\n"):
        n -= 2  # Scotch's header
    coords = read_coordinates(source, n)
    assert coords.shape[1] in (2, 3)
    with pytest.raises(InputError):
        read(source.path)


@pytest.mark.parametrize(
    "row", rows_where(lambda row: is_matrix(row) and row["file"] not in REFUSED)
)
def test_matrix(data_dir, row):
    reading = read(data_dir / row["file"])
    assert reading.graph.n == int(row["n"])
    # The index counts edges, or entries stored, or those of both triangles.
    counts = {reading.graph.m}
    for note in reading.notes:
        if match := re.match(r"A matrix of ([\d,]+) entries(?:.*, the ([\d,]+) on)?", note):
            stored, diagonal = (int((group or "0").replace(",", "")) for group in match.groups())
            counts |= {stored, 2 * reading.graph.m + diagonal}
    assert int(row["m_or_nnz"].split()[0]) in counts


@pytest.mark.parametrize("row", rows_where(has_banner))
def test_matrix_beside_scipy(data_dir, row):
    source = open_source(data_dir / row["file"])
    matrix = scipy.io.mmread(io.BytesIO(source.data)).tocsr()
    matrix = matrix.astype(bool).astype(int)
    matrix.data[:] = 1  # a zero that is stored is an entry too
    pattern = matrix + matrix.T
    pattern.setdiag(0)
    pattern.eliminate_zeros()
    pattern.sort_indices()
    graph = read_graph(source.path)
    assert np.array_equal(graph.xadj, pattern.indptr)
    assert np.array_equal(graph.adjncy, pattern.indices)


@pytest.mark.parametrize(("file", "reason"), REFUSED.items())
def test_refused(data_dir, file, reason):
    with pytest.raises(InputError, match=reason):
        read(data_dir / file)


def test_the_matrix_within_an_archive(data_dir, tmp_path):
    archive = tmp_path / "cavity14.tar"
    archive.write_bytes(open_source(data_dir / "matrices/cavity14.tar.zst").data)
    with tarfile.open(archive) as tar:
        member = next(m for m in tar.getmembers() if m.name.endswith("cavity14.mtx"))
        (tmp_path / "cavity14.mtx").write_bytes(tar.extractfile(member).read())
    reading = read(tmp_path / "cavity14.mtx")
    assert reading.graph.n == 2597
    assert "76,367 entries" in reading.notes[0]


@pytest.mark.parametrize("row", rows_where(lambda row: "/ibm0" in row["file"]))
def test_hypergraphs_are_no_graphs(data_dir, row):
    with pytest.raises(InputError, match="is a hypergraph"):
        read(data_dir / row["file"])
