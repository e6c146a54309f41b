"""OpenFOAM's meshes in binary are those in text; damaged ones are refused."""

import itertools

import numpy as np
import pytest

from evener.errors import InputError
from evener.io import read
from tests.io import mesh_samples as samples

FIELDS = ("points", "face_offsets", "face_corners", "owner", "neighbour")
WHOLE = samples.foam_in_binary()


def put(folder, files):
    folder = folder / "polyMesh"
    folder.mkdir(exist_ok=True)
    for name, content in files.items():
        (folder / name).write_bytes(content)
    return folder


@pytest.fixture
def text(tmp_path):
    (tmp_path / "text").mkdir()
    return {name: content.encode() for name, content in samples.FOAM.items()}


def assert_same(mesh, other):
    for name in FIELDS:
        assert np.array_equal(getattr(mesh, name), getattr(other, name)), name


@pytest.mark.parametrize(
    ("order", "label", "scalar", "arch"),
    [*((*sizes, True) for sizes in itertools.product("<>", (4, 8), (4, 8))), ("<", 4, 8, False)],
)
def test_binary_is_as_text(tmp_path, text, order, label, scalar, arch):
    files = samples.foam_in_binary(order, label, scalar, arch=arch)
    mesh = read(put(tmp_path, files)).mesh
    assert_same(mesh, read(put(tmp_path / "text", text)).mesh)


@pytest.mark.parametrize("name", WHOLE)
def test_files_in_binary_and_in_text_together(tmp_path, text, name):
    mesh = read(put(tmp_path, text | {name: WHOLE[name]})).mesh
    assert_same(mesh, read(put(tmp_path / "text", text)).mesh)


def test_an_empty_list(tmp_path):
    """A cube alone has no neighbours: OpenFOAM then writes the count without parentheses."""
    cube = {name: content.replace(b"11\n(", b"6\n(") for name, content in WHOLE.items()}
    head = cube["faces"][: cube["faces"].index(b"12\n(")]
    sides = np.array([[1, 4, 10, 7], [0, 6, 9, 3], [0, 1, 7, 6], [3, 9, 10, 4], [0, 3, 4, 1],
                      [6, 7, 10, 9]], "<i4")  # fmt: skip
    offsets = np.arange(0, 25, 4, dtype="<i4").tobytes()
    cube["faces"] = head + b"7\n(" + offsets + b")\n24\n(" + sides.tobytes() + b")\n"
    cube["owner"] = cube["owner"].split(b"6\n(")[0] + b"6\n(" + bytes(24) + b")\n"
    for empty in (b"0\n", b"0()", b"0\n()\n// end"):
        cube["neighbour"] = WHOLE["neighbour"].split(b"1\n(")[0] + empty
        mesh = read(put(tmp_path, cube)).mesh
        assert (mesh.n_cells, mesh.owner.size, mesh.neighbour.size) == (1, 6, 0)


@pytest.mark.parametrize(
    ("name", "old", "new", "words"),
    [
        ("points", b"12\n(", b"13\n(", "13 entries does not end where it should"),
        ("points", b"12\n(", b"999999999999\n(", "999,999,999,999 entries does not end"),
        ("points", b"scalar=64", b"scalar=32", "does not end where it should"),
        ("owner", b"label=32", b"label=64", "does not end where it should"),
        ("owner", b"11\n(", b"\n(", "has no list where a list must begin"),
        ("owner", b")\n\n//", b")\n2\n//", "continues after its list"),
        (
            "faces",
            b"faceCompactList",
            b"faceList",
            "is a binary faceList; Evener reads binary faces from a faceCompactList",
        ),
        ("faces", b")\n\n44\n(", b")\n\n(", "has no list where a list must begin"),
        ("faces", b"12\n(\0\0\0\0\4", b"12\n(\0\0\0\0\xff", "must ascend"),
        ("neighbour", b"1\n(\1", b"1\n(\0", "two different cells"),
        ("neighbour", b"1\n(\1\0\0\0", b"1\n(\xff\xff\xff\xff", "two different cells"),
        ("points", b"12\n(" + bytes(8), b"12\n(" + b"\xff" * 8, "must be finite"),
    ],
)
def test_refused(tmp_path, name, old, new, words):
    assert WHOLE[name].count(old) == 1
    with pytest.raises(InputError, match=words):
        read(put(tmp_path, WHOLE | {name: WHOLE[name].replace(old, new)}))


@pytest.mark.parametrize("name", WHOLE)
def test_files_cut_short(tmp_path, name):
    for size in range(150, WHOLE[name].rindex(b")") + 1):
        with pytest.raises(InputError):
            read(put(tmp_path, WHOLE | {name: WHOLE[name][:size]}))
