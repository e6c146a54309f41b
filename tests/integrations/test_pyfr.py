"""PyFR: what the export writes, speeds from wait times, and runs of the unmodified program."""

import shutil
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

import evener as ev
from evener.cli import main
from evener.integrations.pyfr import speeds
from tests.integrations.programs import python_beside
from tests.integrations.pyfr_cases import VORTEX, gmsh_square, pyfr_environment
from tests.io.meshes.pyfr_files import BOX, BOX_POINTS, ring, write_pyfrm

h5py = pytest.importorskip("h5py")


@pytest.fixture
def planned(tmp_path, monkeypatch):
    """m.pyfrm, a ring of 40 periodic cells, and m.plan, for two devices."""
    monkeypatch.chdir(tmp_path)
    write_pyfrm(tmp_path / "m.pyfrm", *ring(20), curved=True)
    assert main(["plan", "m.pyfrm", "--speeds", "3,1", "-o", "m.plan", "--quiet"]) == 0
    return tmp_path


def stored(path, name="evener"):
    with h5py.File(path) as file:
        group = file[f"partitionings/{name}"]
        return (
            group["eles"][()], group["eles"].attrs["regions"],
            group["neighbours"][()], group["neighbours"].attrs["regions"],
        )  # fmt: skip


def slow_partitioning(mesh, part, k, curved):
    """Return PyFR's arrays of these blocks, cell by cell; curved: flags by type in order."""
    graph = mesh.dual_graph()
    near = [graph.adjncy[graph.xadj[v] : graph.xadj[v + 1]].tolist() for v in range(graph.n)]
    types = [(t, i, flag) for t, flags in enumerate(curved) for i, flag in enumerate(flags)]
    eles, regions, met = [], [], []
    for rank in range(k):
        row = [len(eles)]
        for kind in range(len(curved)):
            own = [v for v in range(graph.n) if part[v] == rank and types[v][0] == kind]
            inside = {v: all(part[u] == rank for u in near[v]) for v in own}
            own.sort(key=lambda v: (inside[v], types[v][2], v))
            eles += [types[v][1] for v in own]
            row.append(len(eles))
        regions.append(row)
        met.append(sorted({int(part[u]) for v in range(graph.n) if part[v] == rank
                           for u in near[v]} - {rank}))  # fmt: skip
    starts = np.cumsum([0, *map(len, met)]).tolist()
    return eles, regions, [rank for row in met for rank in row], starts


@pytest.mark.parametrize("name", ["ring", "box"])
def test_partitionings_are_the_slow_ones(tmp_path, monkeypatch, name):
    monkeypatch.chdir(tmp_path)
    if name == "ring":
        write_pyfrm(tmp_path / "m.pyfrm", *ring(20), curved=True)
    else:
        write_pyfrm(tmp_path / "m.pyfrm", BOX_POINTS, BOX, curved=True)
    assert main(["plan", "m.pyfrm", "--speeds", "2,1,1", "-o", "m.plan", "--quiet"]) == 0
    assert main(["export", "m.plan", "m.pyfrm", "--to", "pyfr", "-o", "copy.pyfrm"]) == 0
    part = ev.read_plan("m.plan").partition.part
    mesh = ev.read("m.pyfrm").mesh
    with h5py.File("m.pyfrm") as file:
        assert "partitionings" not in file
        curved = [file[f"eles/{one}"]["curved"].tolist() for one in sorted(file["eles"])]
    for found, expected in zip(
        stored("copy.pyfrm"), slow_partitioning(mesh, part, 3, curved), strict=True
    ):
        assert found.dtype == np.int64
        assert found.tolist() == expected
    np.testing.assert_array_equal(ev.read_part("copy.pyfrm#evener", part.size), part)


def test_a_partitioning_is_replaced_with_force_alone(planned, capsys):
    export = ["export", "m.plan", "m.pyfrm", "--to", "pyfr"]
    assert main(export) == 0
    assert "mpiexec -n 2 pyfr run -b BACKEND -P evener m.pyfrm" in capsys.readouterr().err
    before = (planned / "m.pyfrm").read_bytes()
    assert main(export) == 2
    assert "already has a partitioning" in capsys.readouterr().err
    assert (planned / "m.pyfrm").read_bytes() == before
    assert main([*export, "--force"]) == 0
    assert main(["evaluate", "m.pyfrm", "m.pyfrm#evener", "--speeds", "3,1"]) == 0
    assert "Both blocks hold" in capsys.readouterr().out
    assert sorted(one.name for one in planned.iterdir()) == ["m.plan", "m.pyfrm"]


@pytest.mark.parametrize(
    ("plan", "said"),
    [
        (["--speeds", "3,1", "--by", "points"], "PyFR divides cells"),
        (["--speeds", "3,1", "--no-couplings"], "ignores periodic faces"),
        (["--speeds", "1e6,1", "--epsilon", "0.5"], "no ranks without elements"),
    ],
)
def test_what_pyfr_cannot_run_is_refused(planned, capsys, plan, said):
    path = planned / "m.pyfrm"
    if "1e6,1" in plan:  # a plan that leaves a device unused
        machine = '[[device]]\nname = "a"\nspeed = 1e9\n[[device]]\nname = "b"\nspeed = 1.0\n'
        link = '[[level]]\nname = "net"\nalpha_us = 1e6\nGB_per_s = 1e-6\n'
        (planned / "m.toml").write_text(link + machine)
        plan = ["--machine", "m.toml"]
    assert main(["plan", "m.pyfrm", *plan, "-o", "other.plan", "--quiet"]) == 0
    before = path.read_bytes()
    assert main(["export", "other.plan", "m.pyfrm", "--to", "pyfr"]) == 2
    assert said in capsys.readouterr().err
    assert path.read_bytes() == before


def solution(path, wall, waits, calls, plugins=0.0, more=""):
    """Write the statistics of a solution file; waits: of each rank, a mean for each graph."""
    lines = ["[solver-time-integrator]", f"wall-time = {wall}", f"nfevals = {calls}",
             f"plugin-wall-time-1 = {plugins}", "[backend-wait-times]"]  # fmt: skip
    lines += [f"g{i}-mean = {','.join(map(str, one))}" for i, one in enumerate(waits)]
    lines += [f"g{i}-stdev = {','.join('9' for _ in one)}" for i, one in enumerate(waits)]
    with h5py.File(path, "w") as file:
        file["stats"] = np.bytes_("\n".join([*lines, more]))
    return path


def test_wait_times_become_speeds(planned):
    plan = ev.read_plan("m.plan")
    early = solution("early.pyfrs", 10.0, [[0.01, 0.0]], 100, plugins=1.0)
    late = solution("late.pyfrs", 16.0, [[0.015, 0.0], [0.005, 0.01]], 200, plugins=2.0)
    found = speeds(plan, late, early)
    # 5 s without plugins for 100 evaluations; rank 0 waits 4 - 1 s, rank 1 2 s.
    assert [one.samples[0].seconds for one in found] == pytest.approx([0.02, 0.03])
    assert [one.samples[0].load for one in found] == plan.certificate.weights.tolist()
    assert [one.name for one in found] == list(plan.platform.names)
    alone = speeds(plan, late)
    assert [one.samples[0].seconds for one in alone] == pytest.approx([0.05, 0.06])
    again = ev.tuned(plan, found, ev.read("m.pyfrm"))
    assert again.certificate.all_hold


@pytest.mark.parametrize(
    ("late", "early", "said"),
    [
        (lambda: solution("a", 1.0, [[0.0] * 3], 9), None, "is of 3 ranks"),
        (lambda: solution("a", 1.0, [[0.5, 0.0]], 9), None, "longer waits"),
        (lambda: solution("a", 1.0, [], 9), None, "no wait times"),
        (lambda: solution("a", 1.0, [[0.0, 0.0]], 0), None, "no wait times"),
        (lambda: solution("a", 1.0, [[0.0, 0.0], [0.0]], 9), None, "no wait times"),
        (lambda: solution("a", "x", [[0.0, 0.0]], 9), None, "no wait times"),
        (lambda: solution("a", 1.0, [[0.0, 0.0]], 9, more="[g"), None, "no wait times"),
        (lambda: "m.pyfrm", None, "not a solution"),
        (lambda: "m.plan", None, "not a solution"),
        (lambda: "none.pyfrs", None, "not a solution"),
        (lambda: solution("a", 1.0, [[0.0, 0.0]], 9),
         lambda: solution("b", 2.0, [[0.0, 0.0]], 9), "not a later output"),
    ],
)  # fmt: skip
def test_files_without_usable_times_are_refused(planned, late, early, said):
    with pytest.raises(ev.InputError, match=said):
        speeds(ev.read_plan("m.plan"), late(), None if early is None else early())


# PyFR's own arrays for the blocks of a stored partitioning, equal to the stored ones.
SAME = """
import sys, h5py, numpy as np
from pyfr.partitioners import BasePartitioner
with h5py.File(sys.argv[1]) as f:
    con, curved, disps, _ = BasePartitioner.construct_global_con(f)
    g = f["partitionings/evener"]
    e, r, nb = g["eles"][()], g["eles"].attrs["regions"], g["neighbours"]
    part, types = np.empty(len(curved), int), sorted(f["eles"])
    for p in range(len(r)):
        for i, t in enumerate(types):
            part[disps[t] + e[r[p, i]:r[p, i + 1]]] = p
    (pe, pr), (pn, ps) = BasePartitioner.construct_partitioning(f, curved, disps, con, part)
    both = ((pe, e), (pr, r), (pn, nb[()]), (ps, nb.attrs["regions"]))
    assert all(np.array_equal(a, b) and a.dtype == b.dtype for a, b in both)
"""


@pytest.mark.integrations
@pytest.mark.slow
def test_unmodified_pyfr_computes_the_same_on_our_blocks(tmp_path, monkeypatch):
    python = python_beside("pyfr", "pyfr")
    library = next(Path("/usr/lib").rglob("libOpenCL.so.1"), None)
    if library is None:
        pytest.skip("no libOpenCL.so.1: make test-integrations installs ocl-icd-libopencl1")
    monkeypatch.chdir(tmp_path)
    environment = pyfr_environment(python, library, tmp_path)

    def ran(*command):
        done = subprocess.run(
            command, env=environment, capture_output=True, text=True, timeout=300, check=False
        )
        assert done.returncode == 0, done.stdout + done.stderr

    gmsh_square(tmp_path / "m.msh", 16)
    (tmp_path / "c.ini").write_text(VORTEX)
    ran("pyfr", "import", "m.msh", "m.pyfrm")
    solutions = []
    for ranks, given in ((1, None), (2, "3,1"), (3, "1,2,1")):
        mesh = f"m{ranks}.pyfrm"
        shutil.copyfile("m.pyfrm", mesh)
        name = "1"
        if given is not None:
            name = "evener"
            assert main(["plan", mesh, "--speeds", given, "-o", "m.plan", "--quiet"]) == 0
            assert main(["export", "m.plan", mesh, "--to", "pyfr"]) == 0
            ran(str(python), "-c", SAME, mesh)
        ran("mpiexec", "-n", str(ranks), "pyfr", "run", "-b", "opencl", "-P", name, mesh, "c.ini")
        with h5py.File("out-0.10.pyfrs") as file:
            solutions.append(file["soln/p3-quad"][()])
        if given is not None:
            found = speeds(ev.read_plan("m.plan"), "out-0.10.pyfrs")
            assert len(found) == ranks
    for other in solutions[1:]:
        np.testing.assert_allclose(other, solutions[0], rtol=0, atol=1e-12)
    assert np.ptp(solutions[0]) > 0.1
    assert sys.prefix != str(python.parents[1])
