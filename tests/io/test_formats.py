"""Formats are found by content, whatever the file is called; what is of none is said to be."""

import io
import tarfile
import zipfile

import numpy as np
import pytest

from evener.errors import InputError, UsageError
from evener.io import read
from evener.io.formats import FORMATS, format_named
from tests.io.graph_samples import GRAPHS, LINES


@pytest.mark.parametrize(
    ("sample", "format_"),
    [
        ("plain.graph", "metis"),
        ("weighted.graph", "metis"),
        ("plain.grf", "scotch"),
        ("labels.grf", "scotch"),
        ("pattern.mtx", "matrixmarket"),
        ("array.mtx", "matrixmarket"),
        ("a.rua", "harwell-boeing"),
        ("own.npz", "npz"),
        ("own.ecsr", "ecsr"),
        ("csr.npz", "npz"),
        ("snap.txt", "edges"),
        ("plain.graphml", "graphml"),
        ("packed.graph.xz", "metis"),
    ],
)
@pytest.mark.parametrize("name", ["nameless", "misleading.dat", "with.dots.in.it"])
def test_by_content(put, sample, format_, name):
    assert read(put(GRAPHS[sample], name)).format == format_


@pytest.mark.parametrize(
    ("sample", "name", "format_"),
    [
        ("plain.grf", "g.graph", "scotch"),
        ("pattern.mtx", "g.graph", "matrixmarket"),
        ("pattern.mtx", "g.csv", "matrixmarket"),
        ("own.npz", "g.graph", "npz"),
        ("a.rua", "g.mtx", "harwell-boeing"),
        ("plain.graph", "g.txt", "metis"),
        ("names.csv", "g.csv", "edges"),
        ("a.triplet", "g.triplet", "triplets"),
    ],
)
def test_content_before_suffix(put, sample, name, format_):
    assert read(put(GRAPHS[sample], name)).format == format_


def test_where_content_leaves_a_choice_the_suffix_decides(put):
    """Two whole numbers a line may be an edge list, a matrix, or a METIS file by chance."""
    assert read(put(LINES, "a.txt")).format == "edges"
    assert read(put(LINES, "a.mtx")).format == "triplets"
    ring = "3 3\n2 3\n1 3\n1 2\n"
    assert read(put(ring, "a.graph")).format == "metis"
    assert read(put(ring, "a.csv")).format == "edges"


K5 = "% K5 with one comment\n5 10\n2 3 4 5\n1 3 4 5\n1 2 4 5\n1 2 3 5\n1 2 3 4\n"
FOUR = "1 2 1 1234567\n2 3 1 1234568\n"


@pytest.mark.parametrize(
    ("name", "text", "format_", "n", "m"),
    [
        ("k5.graph", K5, "metis", 5, 10),
        ("k5.txt", K5, "metis", 5, 10),
        ("two.mesh", "% c\n2 1\n5 1 2 3\n6 2 3 4\n", "metis-mesh", 2, 1),
        ("bare.mtx", "5 5 4\n1 2 1\n2 3 1\n3 4 1\n4 5 -1\n", "triplets", 5, 4),
    ],
)
def test_a_comment_or_a_header_makes_no_other_format(put, name, text, format_, n, m):
    reading = read(put(text, name))
    assert (reading.format, reading.graph.n, reading.graph.m) == (format_, n, m)


@pytest.mark.parametrize(
    ("name", "text", "words", "taken"),
    [
        (
            "four.edges",
            "# src dst w t\n" + FOUR,
            r"each line must be `u v \[weight\]`, but this line has 4 fields",
            "edges because of its suffix",
        ),
        ("out.asym", "% asym\n" + FOUR, "is text", "--format"),
        ("cart.tri", "3 1\n0. 0. 0.\n1. 0. 0.\n0. 1. 0.\n1 2 3\n", "'0.'", "triplets because"),
        ("x.graph", "once upon\n", "must be whole numbers", "metis because of its suffix .graph"),
        ("x.txt", "2 1\n2\n3\n", "out of range", "metis because of its content"),
    ],
)
def test_a_refusal_says_what_the_file_was_taken_for(put, name, text, words, taken):
    with pytest.raises(InputError, match=words) as caught:
        read(put(text, name))
    assert taken in caught.value.hint


def test_named(put):
    ring = put("3 3\n2 3\n1 3\n1 2\n", "a.graph")
    assert read(ring, format="edges").graph.labels.tolist() == [1, 2, 3]
    with pytest.raises(UsageError, match="no format 'metsi'") as caught:
        read(ring, format="metsi")
    assert "metis" in caught.value.hint
    assert [format_named(entry.name) for entry in FORMATS] == list(FORMATS)


def tar():
    out = io.BytesIO()
    with tarfile.open(fileobj=out, mode="w") as archive:
        entry = tarfile.TarInfo("a.mtx")
        entry.size = 4
        archive.addfile(entry, io.BytesIO(b"1 2\n"))
    return out.getvalue()


def zip_():
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w") as archive:
        archive.writestr("a.mtx", "1 2\n")
    return out.getvalue()


@pytest.mark.parametrize(
    ("content", "words", "hint"),
    [
        (tar(), "is a tar archive", "Unpack it"),
        (zip_(), "is a zip archive", "Unpack it"),
        (np.random.default_rng(8).bytes(5000), "is binary", "--format"),
        (b"\x7fELF\x02\x01\x01" + bytes(9), "is binary", "--format"),
        (b"Dear reader,\nthis is no graph.\n", "is text", "--format"),
        (b"0.5 0.25\n0.75 0.125\n", "is text", "--format"),
        (b"42\n", "is text", "--format"),
        (b"% only\n# comments\n", "is text", "--format"),
    ],
)
def test_no_format(put, content, words, hint):
    path = put(content, "thing")
    with pytest.raises(InputError) as caught:
        read(path)
    assert words in caught.value.message
    assert hint in caught.value.hint
    assert caught.value.file == str(path)


UNIVERSAL = "    -1\n   164\n         1  SI: Meter\n    -1\n    -1\n  2411\n"


@pytest.mark.parametrize(
    ("name", "content", "told", "way"),
    [
        (
            "a.hgr",
            "4 7 1\n2 1 2\n3 1 7 5 6\n8 5 6 4\n7 2 3 4\n",
            "is a hypergraph",
            "whose columns",
        ),
        ("a.hgr", "1 2\n1 2\n", "is a hypergraph", "Mt-KaHyPar"),
        ("a.unv", UNIVERSAL, "universal file", "gmsh x.unv -save -o x.msh"),
        ("nameless", UNIVERSAL, "universal file", "gmsh"),
        ("nameless", UNIVERSAL.replace("\n", "\r\n"), "universal file", "gmsh"),
        ("a.unv", "nothing", "universal file", "gmsh"),
    ],
)
def test_what_is_not_read_has_a_way_round(put, name, content, told, way):
    with pytest.raises(InputError, match=told) as caught:
        read(put(content, name))
    assert way in caught.value.hint
