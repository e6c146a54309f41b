"""Binary .msh files: what the same file in text says, and what is refused."""

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from evener.errors import EvenerError, InputError
from evener.io.meshes.gmsh import read_elements
from evener.io.read import read
from evener.io.sources import open_source
from tests.io.meshes.test_gmsh_writing import BAR, DIVIDED, told


def ints(*numbers):
    return np.array(numbers, np.int32).tobytes()


def sizes(*numbers):
    return np.array(numbers, np.int64).tobytes()


def reals(*numbers):
    return np.array(numbers, np.float64).tobytes()


def section(name, content):
    return f"${name}\n".encode() + content + f"\n$End{name}\n".encode()


def head(version):
    return section("MeshFormat", f"{version} 1 8\n".encode() + ints(1))


POINTS = [(0, 0, 0), (1, 0, 0), (1, 1, 0), (0, 1, 0), (2, 0, 0), (2, 1, 0)]
# BAR in binary: elements of one type after the other.
BAR_2 = (
    head("2.2")
    + section("PhysicalNames", b'2\n1 7 "below it"\n2 9 "body"')
    + section("Nodes", b"8\n" + b"".join(
        ints(10 * i + 10) + reals(*place) for i, place in enumerate(
            [*POINTS, (5, 5, 0), (6, 5, 1)])))
    + section("Elements", b"7\n"
        + ints(15, 2, 2) + ints(1, 0, 3, 10) + ints(2, 0, 4, 20)
        + ints(1, 3, 2) + ints(3, 7, 1, 10, 20) + ints(4, 7, 1, 20, 50) + ints(5, 0, 2, 70, 80)
        + ints(3, 2, 2) + ints(16, 9, 1, 20, 50, 60, 30) + ints(15, 9, 1, 10, 20, 30, 40))
)  # fmt: skip

DIVIDED_4 = (
    head("4.1")
    + section("Entities", sizes(0, 1, 1, 0)
        + ints(1) + reals(0, 0, 0, 2, 0, 0) + sizes(1) + ints(7) + sizes(0)
        + ints(1) + reals(0, 0, 0, 2, 1, 0) + sizes(1) + ints(9) + sizes(0))
    + section("PartitionedEntities", sizes(2, 1) + ints(3, 2) + sizes(0, 2, 2, 0)
        + ints(2, 1, 1) + sizes(1) + ints(1) + reals(0, 0, 0, 1, 0, 0) + sizes(1) + ints(7)
        + sizes(0)
        + ints(3, 2, 1) + sizes(2) + ints(1, 2) + reals(1, 0, 0, 1, 1, 0) + sizes(0) + sizes(0)
        + ints(2, 2, 1) + sizes(1) + ints(1) + reals(0, 0, 0, 1, 1, 0) + sizes(1) + ints(9)
        + sizes(1) + ints(3)
        + ints(3, 2, 1) + sizes(1) + ints(2) + reals(1, 0, 0, 2, 1, 0) + sizes(0)
        + sizes(1) + ints(-3))
    + section("Nodes", sizes(2, 6, 1, 6)
        + ints(2, 2, 0) + sizes(4) + sizes(1, 2, 3, 4) + reals(*POINTS[:4])
        + ints(2, 3, 1) + sizes(2) + sizes(5, 6) + reals(*[(*p, .5, .5) for p in POINTS[4:]]))
    + section("Elements", sizes(4, 4, 1, 4)
        + ints(1, 2, 1) + sizes(1) + sizes(1, 1, 2)
        + ints(1, 3, 1) + sizes(1) + sizes(2, 2, 3)
        + ints(2, 2, 3) + sizes(1) + sizes(3, 1, 2, 3, 4)
        + ints(2, 3, 3) + sizes(1) + sizes(4, 2, 5, 6, 3))
)  # fmt: skip


@pytest.mark.parametrize(("binary", "text"), [(BAR_2, BAR), (DIVIDED_4, DIVIDED)])
def test_as_in_text(put, binary, text):
    found, wanted = (read_elements(open_source(put(one, "a.msh"))) for one in (binary, text))
    assert told(found) == told(wanted)
    assert np.array_equal(found.points, wanted.points)
    assert found.names == wanted.names
    assert found.physical == wanted.physical
    meshes = [read(put(one, "a.msh")).mesh for one in (binary, text)]
    assert np.array_equal(meshes[0].corners, meshes[1].corners)
    for name, values in meshes[1].cell_data.items():
        assert np.array_equal(meshes[0].cell_data[name], values)


@pytest.mark.parametrize(
    ("content", "words"),
    [
        (BAR_2.replace(b" 1 8\n" + ints(1), b" 1 8\n" + ints(2**24)), "another byte order"),
        (
            BAR_2.replace(b" 1 8\n", b" 1\n8\n"),
            "is binary with another byte order, or has a data size other than 8 bytes",
        ),
        (
            BAR_2.replace(reals(2, 1, 0), reals(2, np.nan, 0)),
            "has a point with a coordinate that is not finite",
        ),
        (
            DIVIDED_4.replace(reals(0, 1, 0), reals(0, np.inf, 0)),
            "has a point with a coordinate that is not finite",
        ),
        (
            BAR_2.replace(b" 1 8\n", b" 1 4\n"),
            "is binary with another byte order, or has a data size other than 8 bytes",
        ),
        (BAR_2.replace(b"$Nodes\n8\n", b"$Nodes\n9\n"), "more numbers than it contains"),
        (BAR_2.replace(b"$Nodes\n8\n", b"$Nodes\n0\n"), "has no points"),
        (BAR_2.replace(b"$Nodes\n8\n", b"$Nodes\nx\n"), "does not begin with a number"),
        (BAR_2.replace(b"$Elements\n7\n", b"$Elements\n8\n"), "more numbers than it contains"),
        (BAR_2.replace(b"$Elements\n7\n", b"$Elements\n0\n"), "has no cells"),
        (
            BAR_2.replace(ints(3, 2, 2), ints(99, 2, 2)),
            "has cells of Gmsh's type 99, which Evener does not know",
        ),
        (BAR_2.replace(ints(3, 2, 2), ints(3, 9, 2)), "a block of 9 cells with 2 tags"),
        (
            DIVIDED_4.replace(ints(2, 3, 3), ints(2, 3, 300)),
            "has cells of Gmsh's type 300, which Evener does not know",
        ),
        (
            DIVIDED_4.replace(sizes(4, 4, 1, 4), sizes(99, 4, 1, 4)),
            "declares 99 blocks, but ends early",
        ),
        (DIVIDED_4.replace(sizes(4, 2, 5, 6, 3), sizes(4, 2, 5, 7, 3)), "a cell has point 7"),
        (
            DIVIDED_4.replace(sizes(2, 1) + ints(3, 2), sizes(2, -1) + ints(3, 2)),
            "-2 more numbers than it contains",
        ),
        (DIVIDED_4.replace(sizes(0, 1, 1, 0), sizes(0, 1, 2**60, 0)), r"\$Entities declares"),
    ],
)
def test_what_is_refused(put, content, words):
    assert content not in (BAR_2, DIVIDED_4)
    with pytest.raises(InputError, match=words):
        read(put(content, "a.msh"))


@given(
    st.sampled_from([BAR_2, DIVIDED_4]), st.floats(0, 1, exclude_max=True), st.binary(max_size=9)
)
@example(DIVIDED_4, 0.999, b"")
def test_damaged_files(tmp_path_factory, content, place, put_in):
    """Bytes replaced, or the file cut short: read or refused."""
    at = int(place * len(content))
    changed = content[:at] + put_in + (content[at + len(put_in) :] if put_in else b"")
    path = tmp_path_factory.mktemp("msh") / "a.msh"
    path.write_bytes(changed)
    try:
        assert read(path, format="gmsh").graph.n > 0
    except EvenerError as error:
        assert len(str(error)) < 1000
