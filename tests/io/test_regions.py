"""Weights by type of cell and by region, regions balanced each, partitions that meshes carry."""

import json

import numpy as np
import pytest

import evener as ev
from evener.cli import main
from evener.errors import InputError, UsageError
from evener.io.read import read
from tests.io.meshes.test_couplings import case, lines, msh_2
from tests.io.meshes.test_gmsh_binary import ints

TWO = "NDIME= 2\nNELEM= 2\n9 0 1 2 3\n5 1 4 2\nNPOIN= 5\n0 0\n1 0\n1 1\n0 1\n2 0\nNMARK= 0\n"


def zones(folder, rotor=(0, 1, 8), binary=False):
    case(folder)
    shape = "binary" if binary else "ascii"
    listed = ints(*rotor) if binary else " ".join(map(str, rotor)).encode()
    (folder / "constant" / "polyMesh" / "cellZones").write_bytes(
        b'FoamFile { format %s; arch "LSB;label=32;scalar=64"; object cellZones; }\n2\n(\n'
        b"rotor\n{\n    type cellZone;\ncellLabels      List<label>\n%d\n(%s)\n;\n}\n"
        b"empty { type cellZone; cellLabels List<label> 0(); }\n)\n"
        % (shape.encode(), len(rotor), listed)
    )
    return folder


@pytest.fixture
def mixed(tmp_path):
    (tmp_path / "two.su2").write_text(TWO)
    return tmp_path / "two.su2"


@pytest.fixture
def grouped(tmp_path):
    """The ring with 12 quadrilaterals in a group `fluid` and 4 in one without a name."""
    text = msh_2(names='1 4 "left"\n2 9 "solid"').replace(" 3 2 9 1 ", " 3 2 7 1 ", 4)
    (tmp_path / "ring.msh").write_text(text)
    return tmp_path / "ring.msh"


@pytest.mark.parametrize(
    ("spec", "weights"),
    [
        ("type:quad=3", [3, 1]),
        ("type:quadrilateral=3,tri=2", [3, 2]),
        ("type:triangles=0.5", [1, 0.5]),
    ],
)
def test_weights_by_type(mixed, spec, weights):
    graph = read(mixed, weights=spec).graph
    assert graph.vwgt.tolist() == weights
    assert graph.vwgt.dtype == (np.float64 if 0.5 in weights else np.int64)


@pytest.mark.parametrize(
    ("spec", "words"),
    [
        ("type:hex=3", "has no type 'hex'; there are: tri, quad"),
        ("type:quad", "is not NAME=WEIGHT"),
        ("type:quad=-1", "is not NAME=WEIGHT"),
        ("type:quad=nan", "is not NAME=WEIGHT"),
        ("region:rotor=2", "contains no regions"),
    ],
)
def test_weights_refused(mixed, spec, words):
    with pytest.raises((InputError, UsageError), match=words):
        read(mixed, weights=spec)
    with pytest.raises(UsageError, match="divided by its points"):
        read(mixed, by="points", weights=spec)


def test_regions_of_gmsh(grouped):
    weights = read(grouped, weights="region:solid=5,7=2").graph.vwgt
    assert weights.tolist() == [2] * 4 + [5] * 12
    with pytest.raises(InputError, match="there are: 7, solid"):
        read(grouped, weights="region:left=2")


@pytest.mark.parametrize("binary", [False, True])
def test_zones_of_openfoam(tmp_path, binary):
    folder = zones(tmp_path / "ring", binary=binary)
    reading = read(folder, weights="region:rotor=4")
    assert np.flatnonzero(reading.graph.vwgt == 4).tolist() == [0, 1, 8]
    assert reading.mesh.regions["empty"].size == 0


@pytest.mark.parametrize(
    ("rotor", "words"),
    [
        ((0, 99), "has a cell that does not exist: there are 16"),
        ((0, -1), "has a cell that does not exist: there are 16"),
    ],
)
def test_zones_refused(tmp_path, rotor, words):
    with pytest.raises(InputError, match=words):
        read(zones(tmp_path / "ring", rotor))


BULK = (
    "GRID,1,,0.,0.,0.\nGRID,2,,1.,0.,0.\nGRID,3,,1.,1.,0.\nGRID,4,,0.,1.,0.\nGRID,5,,2.,0.,0.\n"
    "CQUAD4,1,7,1,2,3,4\nCTRIA3,2,8,2,5,3\n"
)
KRATOS = (
    "Begin Nodes\n1 0 0 0\n2 1 0 0\n3 1 1 0\n4 0 1 0\n5 2 0 0\nEnd Nodes\n"
    "Begin Elements Element2D3N\n1 7 1 2 3\n2 8 2 5 3\nEnd Elements\n"
)


TETGEN = "2 3 1\n1 1 2 3 7\n2 2 5 3 8\n"


@pytest.mark.parametrize(("name", "text"), [("m.bdf", BULK), ("m.mdpa", KRATOS), ("m.ele", TETGEN)])
def test_properties_are_regions(tmp_path, name, text):
    """The field has another name in each format."""
    (tmp_path / "m.node").write_text("5 2 0 0\n1 0 0\n2 1 0\n3 1 1\n4 0 1\n5 2 0\n")
    (tmp_path / name).write_text(text)
    assert read(tmp_path / name, weights="region:8=5").graph.vwgt.tolist() == [1, 5]


def test_blocks_of_a_field_are_regions(tmp_path):
    zone = TWO.replace("NMARK= 0\n", "")
    (tmp_path / "z.su2").write_text(f"NZONE= 2\nIZONE= 1\n{zone}IZONE= 2\n{zone}")
    assert read(tmp_path / "z.su2", weights="region:1=3").graph.vwgt.tolist() == [1, 1, 3, 3]


def test_each_region_is_balanced(grouped, tmp_path):
    reading = read(grouped, balance_each="region")
    assert reading.graph.vwgt.tolist() == [[1, 1, 0]] * 4 + [[1, 0, 1]] * 12
    assert "Weights: of all cells, then of each region: 7, solid." in reading.notes
    plan = ev.plan(reading, 2, epsilon=0.0)
    groups = reading.mesh.cell_data["physical"]
    counts = [np.bincount(plan.partition.part[groups == group]).tolist() for group in (7, 9)]
    assert counts == [[2, 2], [6, 6]]
    heavy = read(grouped, weights="region:solid=3", balance_each="region").graph.vwgt
    assert heavy[-1].tolist() == [3, 0, 3]
    out = str(tmp_path / "x.plan")
    assert main(["plan", str(grouped), "--k", "2", "--balance-each", "region", "-o", out]) == 0
    assert main(["replay", out, str(grouped)]) == 0
    assert main(["evaluate", str(grouped), out]) == 0


def test_each_type_is_balanced(mixed):
    assert read(mixed, balance_each="type").graph.vwgt.tolist() == [[1, 0, 1], [1, 1, 0]]
    with pytest.raises(UsageError, match="--balance-each takes region or type, not 'colour'"):
        read(mixed, balance_each="colour")


def test_a_mesh_is_judged_by_its_own_partition(tmp_path, capsys):
    rows = [(i + 1, 3, 4, 9, 1, 1, 1 + i % 8 // 4, *(p + 1 for p in quad))
            for i, quad in enumerate(quads())]  # fmt: skip
    text = msh_2()
    start, stop = text.index("$Elements"), text.index("$EndElements")
    path = tmp_path / "ring.msh"
    path.write_text(f"{text[:start]}$Elements\n{len(rows)}\n{lines(*rows)}\n{text[stop:]}")
    assert main(["evaluate", str(path), str(path), "--k", "2", "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["edge_cut"] == 2
    path.write_text(text)
    assert main(["evaluate", str(path), str(path), "--k", "2"]) == 3
    assert "has no partitions" in capsys.readouterr().err


def quads():
    return [(p, p + 1, p + 10, p + 9) for j in range(2) for p in range(9 * j, 9 * j + 8)]
