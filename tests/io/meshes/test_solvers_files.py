"""Meshes as solvers have them: Kratos, Abaqus, Nastran, SCHISM, Triangle, OFF, Gmsh's groups."""

import numpy as np
import pytest

from evener.errors import InputError
from evener.graphs.mesh import HEXAHEDRON, QUAD, TETRA, TRIANGLE
from evener.io import read

KRATOS = """Begin Properties 0
End Properties
Begin Nodes // five
1 0 0 0
2 1 0 0
3 0 1 0
4 1 1 0
9 2 0 0
End Nodes
Begin Elements Element2D3N// GUI group: body
1 7 1 2 3
2 7 2 4 3
3 8 2 9 4
End Elements
Begin Conditions LineCondition2D2N
1 0 1 2
2 0 2 9
End Conditions
Begin SubModelPart A
  Begin SubModelPartNodes
  1
  End SubModelPartNodes
End SubModelPart
"""
SHELL = """Begin Nodes
1 0 0 0
2 1 0 0
3 1 1 0
4 0 1 0
End Nodes
Begin Elements Element3D4N
1 0 1 2 3 4
End Elements
"""


def part(name, x):
    corners = [(x, 0), (x + 1, 0), (x + 1, 1), (x, 1)]
    nodes = "".join(f"{i}, {a}., {b}., 0.\n" for i, (a, b) in enumerate(corners, 1))
    return f"*Part, name={name}\n*Node\n{nodes}*Element, type=S4R\n1, 1, 2, 3, 4\n*End Part\n"


ABAQUS_LOW = """*heading
two blocks of nodes
** a comment, 1, 2
*node
1,0,0
2,1,0
*node, nset=all
3,1,1
4,0,1
5,2,0
6,2,1
*element,type=cpe4
1,1,2,3,
4
*element, type=CAX4R,
 elset=right
2,2,5,6,3
*element, type=MASS
9, 1
"""
NASTRAN = """SOL 101
CEND
BEGIN BULK
$ comment
GRID    1               0.      0.      0.
GRID,2,,1.,0.,0.
GRID*   3                               1.              1.
*       0.
GRID\t4\t\t0.\t1.\t0.
grid,5,,2.,0.,0.
grid,6,,2.,1.0+0,0.
CQUAD4  1       1       1       2       3       4
CQUAD4\t2\t3\t2\t5\t6\t3
CONM2   9       1
ENDDATA
after the end
"""
TETRAHEDRA = "".join(f"grid,{i},,{x}.,{y}.,{z}.\n" for i, (x, y, z) in enumerate(
    [(0, 0, 0), (1, 0, 0), (0, 1, 0), (0, 0, 1), (1, 1, 1)], 1))  # fmt: skip
GMSH = """$MeshFormat
2.200000 0 8
$EndMeshFormat
$Nodes
4
1 0 0 0
2 1 0 0
3 0 1 0
4 1 1 0
$EndNodes
$Elements
3
1 2 2 1 1 1 2 3
2 2 2 2 1 1 2 3
3 2 2 2 1 2 4 3
$EndElements
"""
OFF = "OFF\n# two squares\n6 2 0\n0 0 0\n1 0 0\n1 1 0\n0 1 0\n2 0 0\n2 1 0\n"
GR3 = "\n2 5\n1 0 0 5\n2 1 0 6\n3 1 1 7\n4 0 1 8\n5 2 0 1\n1 4 1 2 3 4\n2 3 2 5 3\n"


@pytest.mark.parametrize(
    ("name", "text", "format_", "points", "kinds", "m"),
    [
        ("k.mdpa", KRATOS, "kratos", 5, [TRIANGLE] * 3, 2),
        ("parts.inp", part("a", 0) + part("b", 5), "abaqus", 8, [QUAD] * 2, 0),
        ("low.inp", ABAQUS_LOW, "abaqus", 6, [QUAD] * 2, 1),
        ("tabs.bdf", NASTRAN, "nastran", 6, [QUAD] * 2, 1),
        ("bulk.nas", TETRAHEDRA + "ctetra,1,1,1,2,3,4\nCTETRA,2,1,2,3,4,5\n", "nastran", 5,
         [TETRA] * 2, 1),
        ("groups.msh", GMSH, "gmsh", 4, [TRIANGLE] * 2, 1),
        ("a.off", OFF + "4 0 1 2 3 255 0 0\n4 1 4 5 2\n", "off", 6, [QUAD] * 2, 1),
        ("b.off", "OFF 3 1 3\n0 0 0\n1 0 0\n1 1 0\n3 0 1 2\n", "off", 3, [TRIANGLE], 0),
        ("hgrid.gr3", GR3, "fort14", 5, [QUAD, TRIANGLE], 1),
        ("numeric.gr3", "2024" + GR3, "fort14", 5, [QUAD, TRIANGLE], 1),
    ],
)  # fmt: skip
def test_cells_and_their_kinds(put, name, text, format_, points, kinds, m):
    reading = read(put(text, name))
    assert reading.format == format_
    assert reading.mesh.n_points == points
    assert reading.mesh.kinds.tolist() == kinds
    assert reading.graph.m == m


def test_regions_and_what_is_left_out(put):
    kratos = read(put(KRATOS, "k.mdpa"))
    assert kratos.mesh.cell_data["properties"].tolist() == [7, 7, 8]
    assert kratos.notes == ("2 conditions are left out, because conditions are not cells.",)
    abaqus = read(put(ABAQUS_LOW, "low.inp"))
    assert abaqus.mesh.cell_data["block"].tolist() == [0, 1]
    assert "1 mass, spring or connector is" in abaqus.notes[0]
    assert read(put(NASTRAN, "x.bdf")).mesh.cell_data["property"].tolist() == [1, 3]
    gmsh = read(put(GMSH, "g.msh"))
    assert gmsh.mesh.cell_data["physical"].tolist() == [1, 2]
    assert gmsh.notes == (
        "1 cell is listed again for another physical group; each cell counts once.",
    )


def test_instances_of_a_part(put):
    text = part("a", 0) + part("spare", 0) + (
        "*Assembly, name=all\n*Instance, name=i, part=A\n*End Instance\n*Instance, name=j, part=a\n"
        "5., 0., 0.\n5., 0., 0., 5., 0., 1., 90.\n*End Instance\n*End Assembly\n"
    )  # fmt: skip
    reading = read(put(text, "i.inp"))
    assert reading.graph.m == 0
    assert np.allclose(reading.graph.coords, [[0.5, 0.5], [4.5, 0.5]])
    assert reading.notes == ("Parts without an instance are left out: SPARE.",)


def test_order_of_points_amid_edges(put):
    """A hexahedron of 20 points, numbered as Nastran has them: vertical edges before the top."""
    corners = np.array([(0, 0, 0), (2, 0, 0), (2, 2, 0), (0, 2, 0),
                        (0, 0, 2), (2, 0, 2), (2, 2, 2), (0, 2, 2)])  # fmt: skip
    edges = [(0, 1), (1, 2), (2, 3), (3, 0), (0, 4), (1, 5), (2, 6), (3, 7), (4, 5), (5, 6),
             (6, 7), (7, 4)]  # fmt: skip
    points = [*corners, *(corners[[a, b]].mean(axis=0) for a, b in edges)]
    grid = "".join(f"GRID,{i},,{x}.,{y}.,{z}.\n" for i, (x, y, z) in
                   enumerate(np.array(points, int).tolist(), 1))  # fmt: skip
    nodes = [str(i) for i in range(1, 21)]
    card = ",".join(["CHEXA", "1", "1", *nodes[:6], "+\n+", *nodes[6:14], "+\n+", *nodes[14:]])
    reading = read(put(grid + card + "\n", "h.bdf"), by="points")
    assert reading.mesh.kinds.tolist() == [25]
    graph = reading.graph
    u = np.repeat(np.arange(20), graph.degrees)
    assert graph.m == 24
    lengths = np.linalg.norm(graph.coords[u] - graph.coords[graph.adjncy], axis=1)
    assert np.allclose(lengths, 1)
    assert HEXAHEDRON not in reading.mesh.kinds


def test_triangle_and_tetgen(put):
    nodes = put("4 2 0 1\n1 0 0 1\n2 1 0 1\n3 1 1 1\n4 0 1 1\n", "t.node")
    with pytest.raises(InputError, match="is one half of a mesh;"):
        read(nodes)
    cells = put("2 3 1\n1 1 2 3 7\n2 1 3 4 8\n# made by Triangle\n", "t.ele")
    for path in (nodes, cells):
        reading = read(path)
        assert (reading.graph.n, reading.graph.m) == (2, 1)
        assert reading.mesh.cell_data["region"].tolist() == [7, 8]
        assert sorted(reading.inputs) == ["t.ele", "t.node"]
    put("5 3 0 0\n0 0 0 0\n1 1 0 0\n2 0 1 0\n3 0 0 1\n4 1 1 1\n", "s.node")
    assert read(put("2 4 0\n0 0 1 2 3\n1 1 2 3 4\n", "s.ele")).mesh.kinds.tolist() == [TETRA] * 2


@pytest.mark.parametrize(("number", "size"), [(23, 15), (25, 21), (37, 25), (30, 35), (92, 64)])
def test_gmsh_of_high_order(put, number, size):
    """Two cells that share the corners of a side."""
    corners = {23: 3, 25: 3, 37: 4, 30: 4, 92: 8}[number]
    shared = {23: 2, 25: 2, 37: 2, 30: 3, 92: 4}[number]
    order = [*range(shared)] if corners < 8 else [0, 1, 2, 3]
    second = [*order, *range(size + 1, 2 * size + 1 - len(order))]
    second = [one + 1 if one < size else one for one in second]
    n = 2 * size
    points = "".join(f"{i} {i % 7} {i % 5} {i % 3}\n" for i in range(1, n + 1))
    rows = "\n".join(
        f"{i} {number} 2 1 1 {' '.join(map(str, nodes))}"
        for i, nodes in enumerate((range(1, size + 1), second), 1)
    )
    text = f"$MeshFormat\n2.2 0 8\n$EndMeshFormat\n$Nodes\n{n}\n{points}$EndNodes\n"
    reading = read(put(f"{text}$Elements\n2\n{rows}\n$EndElements\n", "h.msh"))
    assert (reading.graph.n, reading.graph.m) == (2, 1)


@pytest.mark.parametrize(
    ("name", "text", "line", "words"),
    [
        ("k.mdpa", KRATOS.replace("Element2D3N", "Element2D5N"), 11, "has 5 points, not 3"),
        ("k.mdpa", KRATOS.replace("Element2D3N", "Unheard"), 11, "an unknown shape"),
        ("k.mdpa", KRATOS.replace("3 8 2 9 4", "3 8 2 9 5"), None, ", which does not exist"),
        ("k.mdpa", KRATOS.replace("End Nodes", ""), None, "has no complete block of nodes"),
        ("k.mdpa", SHELL, 8, "may be tetrahedra or shells; as tetrahedra all would be flat"),
        ("a.inp", "*NODE\n1, 0, 0\n*ELEMENT, TYPE=NONE\n1, 1\n", 3, "'NONE', which Evener does"),
        ("a.inp", "*node\n1,0,0\n*include, input=more.inp\n", 3, "includes the file 'more.inp'"),
        ("a.inp", "*node\n1,0,0\n2,9,0\n*ngen\n1,2\n", 4, r"generates nodes or elements by \*NGEN"),
        ("a.inp", "*node\n1,0,0\n2,1,0\n*element,type=t2d2\n1,1\n", 4, "but each element takes 3"),
        ("a.inp", "*node\n1,,0\n", 2, "a field is empty"),
        ("a.inp", "*node, system=c\n1,1.,90.\n", 1, "in the system C"),
        ("a.inp", "once upon a time\n", None, "no elements"),
        ("a.bdf", "GRID,1,,0.,0.,0.\nCQUADZ,1,1,1,1,1,1\n", 2, "elements CQUADZ, which Evener"),
        ("a.bdf", "GRID,1,,0.,0.,0.\nCTRIA3,1,1,1,1\n", 2, "needs 3 points"),
        ("a.bdf", "GRID,1,,x.,0.,0.\n", 1, "'X.'"),
        ("a.bdf", "INCLUDE 'b.bdf'\n", 1, "includes another file"),
        ("a.bdf", "once upon a time\n", None, "no GRID cards"),
        ("a.off", OFF + "4 0 1 2 3\n4 1 4 5 6\n", 11, "point 6 does not exist"),
        ("a.off", OFF + "4 0 1 2 3\n", 10, "1 of the declared 2 faces"),
        ("a.off", OFF + "4 0 1 2 3\n4 1 4 5\n", 11, "a face of 4 corners"),
        ("a.gr3", GR3.replace("2 3 2 5 3", "2 3 2 5"), 9, "needs 3 corners"),
    ],
)  # fmt: skip
def test_refused_as_a_limit(put, name, text, line, words):
    with pytest.raises(InputError, match=words) as raised:
        read(put(text, name))
    assert raised.value.line == line
    assert "Read as" in raised.value.hint
