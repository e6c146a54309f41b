"""Cells that periodic faces couple are neighbours, in every format whose files state it."""

from itertools import pairwise

import numpy as np
import pytest

from evener.errors import InputError, UsageError
from evener.graphs.mesh import Mesh
from evener.graphs.polymesh import PolyMesh
from evener.io.read import read
from tests.io.meshes.test_gmsh_binary import head, ints, reals, section, sizes

NX, NY = 8, 2  # the ring: quadrilaterals or hexahedra whose first and last columns are coupled
POINTS = [(i, j) for j in range(NY + 1) for i in range(NX + 1)]
LEFT = [j * (NX + 1) for j in range(NY + 1)]
RIGHT = [j * (NX + 1) + NX for j in range(NY + 1)]
QUADS = [(p, p + 1, p + NX + 2, p + NX + 1) for j in range(NY) for p in range(LEFT[j], RIGHT[j])]
LINES = [(LEFT, 1, 4), (RIGHT, 2, 5)]  # points, entity, physical group
ROUND = {(x, x + NX - 1) for x in (0, NX)}  # pairs of cells that are coupled


def lines(*rows):
    return "\n".join(" ".join(map(str, row)) for row in rows)


def msh_2(names="", periodic=""):
    elements = [
        (1, 2, group, entity, a + 1, b + 1)
        for side, entity, group in LINES
        for a, b in pairwise(side)
    ]
    elements += [(3, 2, 9, 1, *(p + 1 for p in quad)) for quad in QUADS]
    nodes = [(i, x, y, 0) for i, (x, y) in enumerate(POINTS, 1)]
    numbered = [(i, *one) for i, one in enumerate(elements, 1)]
    return (
        "$MeshFormat\n2.2 0 8\n$EndMeshFormat\n"
        + (f"$PhysicalNames\n3\n{names}\n$EndPhysicalNames\n" if names else "")
        + f"$Nodes\n{len(nodes)}\n{lines(*nodes)}\n$EndNodes\n"
        + f"$Elements\n{len(numbered)}\n{lines(*numbered)}\n$EndElements\n"
        + (f"$Periodic\n{periodic}\n$EndPeriodic\n" if periodic else "")
    )


LINKED = [(a + 1, b + 1) for a, b in zip(RIGHT, LEFT, strict=True)]
AFFINE = "1 0 0 8 0 1 0 0 0 0 1 0 0 0 0 1"
CORNER = lines((0, 2, 1), (1,), LINKED[0])
PERIODIC_2 = f"2\n{CORNER}\n1 2 1\nAffine {AFFINE}\n3\n{lines(*LINKED)}"
PERIODIC_4 = (
    f"2\n{lines((0, 2, 1), (0,), (1,), LINKED[0])}\n1 2 1\n16 {AFFINE}\n3\n{lines(*LINKED)}"
)
PYFR = '1 4 "periodic_0_l"\n1 5 "periodic_0_r"\n2 9 "fluid"'


def msh_4(periodic=PERIODIC_4):
    blocks = [(1, entity, 1, NY) for _, entity, _ in LINES]
    segments = [list(pairwise(side)) for side, _, _ in LINES]
    body, tag = [], 1
    for block, rows in [*zip(blocks, segments, strict=True), ((2, 1, 3, len(QUADS)), QUADS)]:
        body.append(block)
        for row in rows:
            body.append((tag, *(p + 1 for p in row)))
            tag += 1
    n = len(POINTS)
    return (
        "$MeshFormat\n4.1 0 8\n$EndMeshFormat\n"
        f"$Nodes\n1 {n} 1 {n}\n2 1 0 {n}\n{lines(*((i + 1,) for i in range(n)))}\n"
        f"{lines(*((x, y, 0) for x, y in POINTS))}\n$EndNodes\n"
        f"$Elements\n3 {tag - 1} 1 {tag - 1}\n{lines(*body)}\n$EndElements\n"
        f"$Periodic\n{periodic}\n$EndPeriodic\n"
    )


def msh_4_binary():
    n, cells = len(POINTS), sizes(*(p for i, q in enumerate(QUADS) for p in (i + 1, *np.add(q, 1))))
    return (
        head("4.1")
        + section("Nodes", sizes(1, n, 1, n) + ints(2, 1, 0) + sizes(n, *range(1, n + 1))
            + reals(*(value for x, y in POINTS for value in (x, y, 0))))
        + section("Elements", sizes(1, 16, 1, 16) + ints(2, 1, 3) + sizes(16) + cells)
        + section("Periodic", sizes(2)
            + ints(0, 2, 1) + sizes(0, 1, *LINKED[0])
            + ints(1, 2, 1) + sizes(16) + reals(*map(float, AFFINE.split()))
            + sizes(3, *np.ravel(LINKED)))
    )  # fmt: skip


def su2(first="periodic_1", second="periodic_2", more=""):
    markers = "".join(
        f"MARKER_TAG= {name}\nMARKER_ELEMS= {NY}\n{lines(*((3, *p) for p in pairwise(side)))}\n"
        for name, side in ((first, LEFT), (second, RIGHT))
    )
    return (
        f"NDIME= 2\nNELEM= {len(QUADS)}\n{lines(*((9, *q) for q in QUADS))}\n"
        f"NPOIN= {len(POINTS)}\n{lines(*POINTS)}\nNMARK= 2\n{markers}{more}"
    )


@pytest.mark.parametrize(
    ("name", "content"),
    [
        ("two.msh", msh_2(periodic=PERIODIC_2)),
        ("without_affine.msh", msh_2(periodic=f"1\n1 2 1\n3\n{lines(*LINKED)}")),
        ("pyfr.msh", msh_2(names=PYFR)),
        ("both.msh", msh_2(names=PYFR, periodic=PERIODIC_2)),
        ("four.msh", msh_4()),
        ("binary.msh", msh_4_binary()),
        ("ring.su2", su2()),
    ],
)
def test_rings_are_closed(tmp_path, name, content):
    path = tmp_path / name
    path.write_bytes(content if isinstance(content, bytes) else content.encode())
    reading = read(path)
    assert {tuple(sorted(pair)) for pair in reading.mesh.coupled.tolist()} == ROUND
    assert (reading.graph.n, reading.graph.m) == (16, 24)
    assert [note for note in reading.notes if "couple cells" in note] == [
        (
            "2 pairs of periodic or cyclic faces couple cells like inner faces "
            "(--no-couplings leaves them out)."
        )
    ]
    without = read(path, couplings=False)
    assert without.graph.m == 22
    assert without.asked["couplings"] is False
    assert "2 pairs of periodic or cyclic faces are left out (--no-couplings)." in without.notes
    points = read(path, by="points")
    assert points.graph.m == read(path, by="points", couplings=False).graph.m
    assert any("the graph of points does not contain them" in note for note in points.notes)


@pytest.mark.parametrize(
    ("name", "content", "words"),
    [
        ("x.msh", msh_2(periodic="1\n1 2 1\n1\n9 1"), "links points, but no whole face"),
        ("x.msh", msh_2(names=PYFR.replace("_r", "_s")), "do not match are left out: periodic_0_l"),
        ("x.su2", su2(second="wall"), "do not match are left out: periodic_1"),
        ("x.su2", su2("left", "right", more="NPERIODIC= 2\n"), "NPERIODIC"),
    ],
)
def test_couplings_not_found_are_said(tmp_path, name, content, words):
    (tmp_path / name).write_text(content)
    reading = read(tmp_path / name)
    assert reading.graph.m == 22
    assert any(words in note for note in reading.notes)


@pytest.mark.parametrize("damaged", ["3\n1 2 1", "x", "1\n1 2 1\n3\n9 1", "1\n1 2 1\n1\n9 x", ""])
def test_a_damaged_section_is_refused(tmp_path, damaged):
    path = tmp_path / "x.msh"
    path.write_text(msh_2().replace("$Nodes", f"$Periodic\n{damaged}\n$EndPeriodic\n$Nodes", 1))
    with pytest.raises(InputError, match=r"\$Periodic that ends early"):
        read(path)


def hexahedra(nx=NX, ny=NY):
    """Return points, faces as lists of corners, owner and neighbour: a bar of nx by ny cells."""

    def at(i, j, k):
        return (k * (ny + 1) + j) * (nx + 1) + i

    def cell(i, j):
        return j * nx + i

    inside, left, right, walls = [], [], [], []
    for j in range(ny):
        for i in range(nx):
            if i + 1 < nx:
                inside.append((cell(i, j), cell(i + 1, j), *_x(at, i + 1, j)))
            if j + 1 < ny:
                inside.append((cell(i, j), cell(i, j + 1), *_y(at, i, j + 1)))
        left.append((cell(0, j), *_x(at, 0, j)[::-1]))
        right.append((cell(nx - 1, j), *_x(at, nx, j)))
    for i in range(nx):
        walls.append((cell(i, 0), *_y(at, i, 0)[::-1]))
        walls.append((cell(i, ny - 1), *_y(at, i, ny)))
    for j in range(ny):
        for i in range(nx):
            low = [at(i, j, 0), at(i, j + 1, 0), at(i + 1, j + 1, 0), at(i + 1, j, 0)]
            walls.append((cell(i, j), *low))
            walls.append((cell(i, j), *(p + at(0, 0, 1) for p in low[::-1])))
    points = [(i, j, k) for k in (0, 1) for j in range(ny + 1) for i in range(nx + 1)]
    return points, inside, left, right, walls


def _x(at, i, j):
    return [at(i, j, 0), at(i, j + 1, 0), at(i, j + 1, 1), at(i, j, 1)]


def _y(at, i, j):
    return [at(i, j, 0), at(i, j, 1), at(i + 1, j, 1), at(i + 1, j, 0)]


def case(folder, kind="cyclic", entries="neighbourPatch right;", swapped=False, right=None):
    points, inside, left, others, walls = hexahedra()
    others = others[::-1] if swapped else others
    faces = [one[2:] for one in inside] + [one[1:] for one in (*left, *others, *walls)]
    owner = [one[0] for one in (*inside, *left, *others, *walls)]
    start, n = len(inside), len(left)
    second = f"type {kind}; neighbourPatch left; nFaces {n}; startFace {start + n};"
    lists = {
        "points": [f"({x} {y} {z})" for x, y, z in points],
        "faces": [f"4({' '.join(map(str, face))})" for face in faces],
        "owner": owner,
        "neighbour": [one[1] for one in inside],
        "boundary": [
            f"left {{ type {kind}; nFaces {n}; startFace {start}; inner {{ a b; }} {entries} }}",
            f"right {{ {second if right is None else right} }}",
            f'"walls" {{ type wall; nFaces {len(walls)}; startFace {start + 2 * n}; }}',
        ],
    }
    mesh = folder / "constant" / "polyMesh"
    mesh.mkdir(parents=True)
    for name, rows in lists.items():
        head = f"FoamFile {{ format ascii; object {name}; }}\n// a note {{\n"
        text = f"{head}{len(rows)}\n(\n{lines(*((row,) for row in rows))}\n)\n"
        (mesh / name).write_text(text)
    return folder


@pytest.mark.parametrize(
    "how",
    [
        {},
        {"kind": "cyclicAMI", "swapped": True},
        {"kind": "nonConformalCyclic", "swapped": True},
        {"entries": "", "right": "type wall; nFaces 2; startFace 24;"},
    ],
)
def test_cyclic_patches_of_openfoam(tmp_path, how):
    reading = read(case(tmp_path / "ring", **how))
    pairs = {tuple(sorted(pair)) for pair in reading.mesh.coupled.tolist()}
    if "entries" in how:  # of one patch the first half with the second: two cells of one column
        assert pairs == {(0, 8)}
        assert reading.graph.adjwgt.tolist().count(2) == 2  # they share two faces
    else:
        assert pairs == ROUND
        assert (reading.graph.m, reading.graph.adjwgt) == (24, None)
    assert "couple cells" in reading.notes[-1]
    assert read(tmp_path / "ring", couplings=False).graph.m == 22


def test_faces_that_do_not_meet_are_said(tmp_path):
    apart = "type cyclicAMI; neighbourPatch left; nFaces 4; startFace 24;"
    reading = read(case(tmp_path / "ring", kind="cyclicAMI", right=apart))
    assert reading.graph.m == 22
    words = "Coupled patches whose faces do not match one by one are left out: left, right."
    assert words in reading.notes


@pytest.mark.parametrize(
    ("how", "words"),
    [
        ({"entries": "neighbourPatch up;"}, "names neighbourPatch up, which does not exist"),
        ({"right": "type cyclic; nFaces 3; startFace 24;"}, "left and right have 2 and 3 faces"),
        (
            {"right": "type wall; nFaces 2; startFace 20;"},
            "some of which are inner faces or do not exist",
        ),
        (
            {"right": "type wall; nFaces 99; startFace 24;"},
            "some of which are inner faces or do not exist",
        ),
        ({"right": "nFaces 2; startFace 24;"}, "right has no type, nFaces or startFace"),
    ],
)
def test_boundaries_refused(tmp_path, how, words):
    with pytest.raises(InputError, match=words) as raised:
        read(case(tmp_path / "ring", **how))
    assert "boundary" in raised.value.where


def test_a_ring_of_two_cells_has_two_faces_between_them():
    points, inside, left, right, walls = hexahedra(2, 1)
    boundary = (*left, *right, *walls)
    faces = [one[2:] for one in inside] + [one[1:] for one in boundary]
    owner = [one[0] for one in (*inside, *boundary)]
    neighbour = [one[1] for one in inside]
    offsets = 4 * np.arange(len(faces) + 1)
    mesh = PolyMesh(np.array(points, float), offsets, np.ravel(faces), owner, neighbour)
    assert mesh.dual_graph().adjwgt is None
    mesh = PolyMesh(
        np.array(points, float), offsets, np.ravel(faces), owner, neighbour, coupled=[(0, 1)]
    )
    graph = mesh.dual_graph()
    assert (graph.m, graph.adjwgt.tolist()) == (1, [2, 2])


@pytest.mark.parametrize("coupled", [[(0, 1)], [(0, -1)], [0, 0]])
def test_coupled_names_cells(coupled):
    with pytest.raises(InputError, match="coupled"):
        Mesh(np.eye(3, 2), [0, 3], [0, 1, 2], [5], coupled=coupled)


@pytest.mark.parametrize("couplings", [True, False])
def test_coupled_cells_share_a_block(tmp_path, couplings):
    path = tmp_path / "ring.msh"
    path.write_text(msh_2(PYFR, PERIODIC_2))
    reading = read(path, together="coupled", couplings=couplings)
    together = reading.undirected.together
    groups = {
        tuple(np.flatnonzero(together == number).tolist())
        for number in set(together.tolist()) - {-1}
    }
    assert groups == ROUND
    assert reading.asked["together"] == "coupled"
    assert read(path).undirected.together is None
    with pytest.raises(UsageError, match="divided by cells"):
        read(path, together="coupled", by="points")
