"""MFEM's own meshes: elements, attributes and coordinates, of curved ones too; what is refused."""

import numpy as np
import pytest

from evener.errors import InputError
from evener.io.read import read
from tests.io.mesh_samples import MFEM

CURVED = """
nodes
FiniteElementSpace
FiniteElementCollection: {}
VDim: 2
Ordering: {}

{}
"""
# The vertices' nodes, and one more, of which there would be some in a mesh of second order.
NODES = [[0, 0], [3, 0], [3, 3], [0, 3], [6, 0], [7, 7]]


def test_elements_and_attributes(put):
    reading = read(put(MFEM, "a.mesh"))
    mesh = reading.mesh
    assert mesh.kinds.tolist() == [9, 5]
    assert mesh.corners.tolist() == [0, 1, 2, 3, 1, 4, 2]
    assert mesh.cell_data["attribute"].tolist() == [5, 6]
    assert mesh.points.tolist() == [[0, 0], [1, 0], [1, 1], [0, 1], [2, 0]]
    assert reading.notes == ("1 cell of lower dimension, such as boundaries, left out.",)


def curved(collection, ordering, numbers):
    text = "\n".join(" ".join(map(str, row)) for row in numbers)
    head = MFEM[: MFEM.index("2\n0 0")]
    return head + CURVED.format(collection, ordering, text)


@pytest.mark.parametrize("ordering", [0, 1])
def test_a_curved_mesh(put, ordering):
    numbers = NODES if ordering else np.transpose(NODES).tolist()
    mesh = read(put(curved("H1_2D_P2", ordering, numbers), "a.mesh")).mesh
    assert mesh.points.tolist() == NODES[:5]


def test_nodes_of_another_space(put):
    reading = read(put(curved("L2_T1_2D_P1", 1, NODES), "a.mesh"))
    assert not reading.mesh.has_coordinates
    assert reading.notes[0] == "Nodes in the space L2_T1_2D_P1 are not read."


def test_lines(put):
    text = "MFEM mesh v1.0\ndimension\n1\nelements\n2\n1 1 0 1\n1 1 1 2\nvertices\n3\n1\n0\n1\n3\n"
    mesh = read(put(text, "a.mesh")).mesh
    assert mesh.points.tolist() == [[0, 0], [1, 0], [3, 0]]
    assert mesh.dual_graph().m == 1


def test_the_part_of_a_rank(put):
    parts = "mfem_serial_mesh_end\n\ncommunication_groups\nnumber_of_groups 1\nmfem_mesh_end\n"
    reading = read(put(MFEM.replace("v1.0", "v1.2") + parts, "a.mesh"))
    assert "This is the part of one rank" in reading.notes[0]


@pytest.mark.parametrize(
    ("old", "new", "words"),
    [
        (
            "MFEM mesh v1.0",
            "MFEM NC mesh v1.0",
            "is an MFEM NC mesh v1.0, which Evener does not read",
        ),
        ("MFEM mesh v1.0", "MFEM mesh v1.1", "is an MFEM mesh v1.1, which Evener does not read"),
        ("MFEM mesh", "MFEM NURBS mesh", "is an MFEM NURBS mesh v1.0"),
        ("vertices\n5\n2\n", "", "has no section vertices"),
        ("dimension\n2", "dimension\n4", "dimension must be 1, 2 or 3"),
        ("elements\n2\n", "elements\n3\n", "2 of the declared 3 elements"),
        ("6 2 1 4 2", "6 4 1 4 2 0", "geometry 4 is not 2-D"),
        ("6 2 1 4 2", "6 9 1 4 2", "geometry 9 is not 2-D"),
        ("6 2 1 4 2", "6 2 1 4", "geometry 2 has 3 vertices"),
        ("6 2 1 4 2", "6 2 1 5 2", "vertex 5 does not exist: vertices are numbered 0 to 4"),
        (
            "5\n2\n0 0",
            "5\n4\n0 0",
            "the number of vertices must be followed by the number of coordinates: 1, 2 or 3",
        ),
        ("1 1 0 1\n\nvertices", "1 1 0 1\n\nboundary\n0\nvertices", "boundary appears twice"),
        ("2 0\n", "2\n", "the line has 1 numbers"),
    ],
)
def test_what_is_refused(put, old, new, words):
    assert old in MFEM
    with pytest.raises(InputError, match=words):
        read(put(MFEM.replace(old, new), "a.mesh"))


def test_the_line_is_named(put):
    with pytest.raises(InputError) as raised:
        read(put(MFEM.replace("6 2 1 4 2", "6 2 1 5 2"), "a.mesh"))
    assert raised.value.line == 10


@pytest.mark.parametrize(
    ("text", "words"),
    [
        (curved("H1_2D_P2", 1, NODES[:4]), "5 vertices have 2 coordinates each; nodes hold 8"),
        (
            curved("H1_2D_P2", 2, NODES),
            "nodes must begin with FiniteElementSpace, VDim and Ordering",
        ),
    ],
)
def test_nodes_that_do_not_fit(put, text, words):
    with pytest.raises(InputError, match=words):
        read(put(text, "a.mesh"))
