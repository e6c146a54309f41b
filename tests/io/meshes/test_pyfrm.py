"""PyFR's mesh files: cells, faces, periodic pairs, digests and partitionings."""

import numpy as np
import pytest

from evener.errors import InputError, UsageError
from evener.io.plans.partitions import read_part
from evener.io.read import read
from tests.io.meshes.pyfr_files import BOX, BOX_POINTS, FACES, ring, write_pyfrm

h5py = pytest.importorskip("h5py")


def faces_shared(cells):
    """Return the pairs of cells that share a face, numbered type by type."""
    found, number = {}, 0
    for name in sorted(cells):
        for cell in cells[name]:
            for face in FACES[name]:
                found.setdefault(frozenset(cell[c] for c in face), []).append(number)
            number += 1
    return {tuple(both) for both in found.values() if len(both) == 2}


def edges_of(graph):
    ends = np.repeat(np.arange(graph.n), graph.degrees)
    return {(int(u), int(v)) for u, v in zip(ends, graph.adjncy, strict=True) if u < v}


@pytest.mark.parametrize("version", [1, 2])
@pytest.mark.parametrize("curved", [False, True])
def test_cells_of_all_types_and_their_neighbours(tmp_path, version, curved):
    path = write_pyfrm(tmp_path / "m.pyfrm", BOX_POINTS, BOX, version=version, curved=curved)
    reading = read(path)
    assert edges_of(reading.graph) == faces_shared(BOX)
    corners = [cell for name in sorted(BOX) for cell in BOX[name]]
    found = np.split(reading.mesh.corners, reading.mesh.offsets[1:-1])
    assert [tuple(cell.tolist()) for cell in found] == corners
    assert reading.exchange == "faces"
    points = {"hex": 27, "pri": 18, "pyr": 14, "tet": 10}
    expected = [points[name] for name in sorted(BOX) for _ in BOX[name]]
    weighted = read(path, weights="order:2").graph
    assert weighted.vwgt.tolist() == expected
    ends = np.repeat(np.arange(weighted.n), weighted.degrees), weighted.adjncy
    for u, v, weight in zip(*ends, weighted.adjwgt, strict=True):
        assert weight == {3: 6, 4: 9}[len(set(corners[u]) & set(corners[v]))]


def test_periodic_partners_are_neighbours_and_together(tmp_path):
    points, cells, coupled = ring(5)
    path = write_pyfrm(tmp_path / "m.pyfrm", points, cells, coupled)
    reading = read(path)
    assert {(0, 4), (5, 9)} <= edges_of(reading.graph)
    together = reading.graph.together
    assert together[0] == together[4] >= 0
    assert together[5] == together[9] >= 0
    assert (np.delete(together, [0, 4, 5, 9]) == -1).all()
    alone = read(path, couplings=False).graph
    assert not {(0, 4), (5, 9)} & edges_of(alone)
    assert alone.together is not None  # PyFR keeps partners together in any case


def test_the_digest_is_that_of_the_mesh(tmp_path):
    points, cells, coupled = ring(5)
    path = write_pyfrm(tmp_path / "m.pyfrm", points, cells, coupled)
    before = read(path).inputs
    with h5py.File(path, "r+") as file:
        file["partitionings/two/eles"] = np.arange(10)
        file["partitionings/two/eles"].attrs["regions"] = np.array([[0, 4], [4, 10]])
    assert read(path).inputs == before
    assert read_part(f"{path}#two", 10).tolist() == [0] * 4 + [1] * 6
    with pytest.raises(InputError, match="no partitioning 'three'"):
        read_part(f"{path}#three", 10)
    with pytest.raises(InputError, match="9 are needed"):
        read_part(f"{path}#two", 9)
    other = write_pyfrm(tmp_path / "m2.pyfrm", points, cells, coupled, uuid="u-2")
    assert list(read(other).inputs.values()) != list(before.values())


def without(name):
    return lambda file: file.__delitem__(name)


def changed(name, change):
    def damage(file):
        values = file[name][()]
        change(values)
        places = file[name].attrs["pts"]
        del file[name]
        file[name] = values
        file[name].attrs["pts"] = places

    return damage


def far(values):
    values["faces"]["off"][0, 0] = 99


def of_no_type(values):
    values["faces"]["cidx"][0, 1] = 77


def swapped(values):
    values["faces"][[0, 2]] = values["faces"][[2, 0]]


def outside(values):
    values["nodes"][0, 0] = 1000


def renamed(file):
    file.move("eles/quad", "eles/blob")


def other_ranks(file):
    file["partitionings/p/eles"] = np.full(10, 3)
    file["partitionings/p/eles"].attrs["regions"] = np.array([[0, 4], [4, 10]])


@pytest.mark.parametrize(
    ("damage", "said"),
    [
        (without("mesh-uuid"), "not a mesh of PyFR"),
        (without("codec"), "not a mesh of PyFR"),
        (renamed, "type blob"),
        (changed("eles/quad", far), "do not exist"),
        (changed("eles/quad", of_no_type), "do not exist"),
        (changed("eles/quad", swapped), "do not share the corners"),
        (changed("eles/quad", outside), "1000"),
        (lambda file: file["eles/quad"].attrs.__delitem__("pts"), "which nodes of quad"),
    ],
)
def test_damaged_files_are_refused(tmp_path, damage, said):
    points, cells, coupled = ring(5)
    path = write_pyfrm(tmp_path / "m.pyfrm", points, cells, coupled)
    with h5py.File(path, "r+") as file:
        damage(file)
    with pytest.raises(InputError, match=said):
        read(path)


def test_damaged_partitionings_are_left_out(tmp_path):
    points, cells, coupled = ring(5)
    path = write_pyfrm(tmp_path / "m.pyfrm", points, cells, coupled)
    with h5py.File(path, "r+") as file:
        other_ranks(file)
        file["partitionings/q/neighbours"] = np.arange(3)
    reading = read(path)
    assert reading.graph.n == 10
    for name in "pq":
        assert any(f"partitioning '{name}' is damaged" in note for note in reading.notes)
        with pytest.raises(InputError, match="no partitioning"):
            read_part(f"{path}#{name}", 10)


@pytest.mark.parametrize("seed", range(6))
def test_damaged_bytes_are_refused_or_read(tmp_path, seed):
    points, cells, coupled = ring(5)
    path = write_pyfrm(tmp_path / "m.pyfrm", points, cells, coupled)
    data, rng = bytearray(path.read_bytes()), np.random.default_rng(seed)
    for at in rng.integers(0, len(data), 40).tolist():
        data[at] = int(rng.integers(256))
    path.write_bytes(data)
    try:
        read(path)
    except InputError as error:
        assert "m.pyfrm" in str(error)


@pytest.mark.parametrize("order", ["x", "-1", "", "101", "2.5", "9" * 5000])
def test_orders_are_whole_numbers(tmp_path, order):
    path = write_pyfrm(tmp_path / "m.pyfrm", BOX_POINTS, BOX)
    with pytest.raises(UsageError, match="order:"):
        read(path, weights=f"order:{order}")
