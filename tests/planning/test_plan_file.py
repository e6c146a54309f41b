"""Plans of files whose graph need not fit in memory."""

import hashlib
import re
import sys
from pathlib import Path

import numpy as np
import pytest

import evener as ev
from evener.cli import plan_in_slices
from evener.cli.plan_in_slices import too_large_for
from evener.errors import InputError, MemoryShortError, UsageError
from evener.graphs.generating.delaunay import delaunay
from evener.graphs.generating.grid import grid
from evener.graphs.graph import Graph
from evener.io import write_graph
from evener.io.csr.csr_writer import csr_written
from evener.io.csr.layout import WHOLE, CsrLayout
from evener.planning.evaluate import misstated
from evener.planning.options import PlanOptions
from evener.planning.plan_file import FileReading, FileRequest, plan_file
from evener.platforms.platform import Platform
from tests.assertions import printed_by, run_evener
from tests.sliced.test_memory import random_edges

UNEQUAL = Platform.flat([4.0, 2.0, 1.0, 1.0])
ROOM = 2**32  # B: these tests run in a process that may have taken much before


@pytest.fixture
def graph():
    whole = delaunay(2000, 4)
    return whole.with_(vwgt=np.random.default_rng(1).integers(1, 4, whole.n))


def planned(path, **changes):
    return plan_file(FileRequest(Path(path), **{"memory": ROOM, **changes}), UNEQUAL, PlanOptions())


def test_the_same_plan_of_every_format(tmp_path, graph):
    plans = {}
    for name in ("a.ecsr", "b.graph", "c.mtx", "d.graph.zst"):
        write_graph(tmp_path / name, graph)
        weights = None
        if name == "c.mtx":
            weights = str(tmp_path / "w.txt")
            Path(weights).write_text("\n".join(map(str, graph.vwgt)) + "\n")
        plan = planned(tmp_path / name, reading=FileReading(weights=weights))
        plans[name] = plan
        assert misstated(plan, graph) == []
        assert plan.inputs[name] == hashlib.sha256((tmp_path / name).read_bytes()).hexdigest()
        assert plan.options["sliced"]["memory"] == ROOM
    parts = [one.partition.part for one in plans.values()]
    assert all((part == parts[0]).all() for part in parts)
    assert sorted(plans["b.graph"].inputs) == ["b.graph", "b.graph.xyz"]
    assert sorted(plans["a.ecsr"].inputs) == ["a.ecsr"]
    assert "w.txt" in plans["c.mtx"].inputs
    assert not list(tmp_path.glob("evener-private-*"))


def test_bytes_of_vertices_and_edges(tmp_path, graph):
    write_graph(tmp_path / "a.ecsr", graph.with_(bytes_per_vertex=100.0))
    plan = planned(tmp_path / "a.ecsr", reading=FileReading(bytes_per_edge=1.0))
    assert plan.certificate.bytes.sum() == graph.n * 100 + 2 * graph.m


def test_too_little_memory_is_refused_with_the_least_that_would_do(tmp_path, graph):
    write_graph(tmp_path / "a.ecsr", graph)
    with pytest.raises(UsageError, match="at least") as caught:
        planned(tmp_path / "a.ecsr", memory=2**20)
    least = int(caught.value.hint.split("MiB")[0].split()[-1])
    assert planned(tmp_path / "a.ecsr", memory=least << 20).certificate.all_hold
    write_graph(tmp_path / "b.graph", graph)
    with pytest.raises(UsageError, match="reading text needs"):
        planned(tmp_path / "b.graph", memory=2**20)
    assert not list(tmp_path.glob("evener-private-*"))


def least_for(path):
    """The least memory [B] that is told, and suffices: after two refusals at most."""
    memory = 2**20
    for _ in range(2):
        try:
            planned(path, memory=memory)
        except (UsageError, MemoryShortError) as error:
            memory = int(re.search(r"--memory to at least (\d+)MiB", error.hint).group(1)) << 20
    return memory


PEAK = """
import sys
from pathlib import Path
from evener.cli import main
code = main()
lines = Path("/proc/self/status").read_text().splitlines()
print("peak", *(line.split()[1] for line in lines if line.startswith("VmHWM")))
sys.exit(code)
"""


def peak_of(*command):
    """The most memory [B] that the command ever had, as a process of its own."""
    return 1024 * int(printed_by(PEAK, *command).split()[-1])


def keeps_within(bound, *command):
    """Whether the command never has more than `bound` B.

    It is tried again where it has: compiling kernels takes memory, once for those of every command
    and once for those of borders in groups.
    """
    return any(peak_of(*command, "--memory", str(bound)) <= bound for _ in range(3))


@pytest.mark.slow
@pytest.mark.skipif(sys.platform != "linux", reason="/proc tells the most memory on Linux")
@pytest.mark.parametrize("degree", [24, 6])
def test_random_graphs_keep_within_their_bound(tmp_path, degree):
    # In a mesh of as many vertices clusters have a tenth of the entries: what they take was counted
    # as if these were of one, and the bound was exceeded by a third.
    path = tmp_path / "a.ecsr"
    write_graph(path, random_edges(15_000, degree))
    least = least_for(path)
    command = ["plan", str(path), "--speeds", "4,2,1,1", "-o", str(tmp_path / "a.plan")]
    assert keeps_within(least, *command)
    assert keeps_within(int(1.2 * least), *command)


@pytest.mark.slow
@pytest.mark.skipif(sys.platform != "linux", reason="/proc tells the most memory on Linux")
@pytest.mark.parametrize("suffix", ["graph", "mtx", "snap"])
def test_weighted_text_keeps_within_its_bound(tmp_path, suffix):
    """At the least that the command itself names: text of 8 MB and more, with what is parsed."""
    drawn, path = random_edges(50_000, 24), tmp_path / f"a.{suffix}"
    u, v = np.repeat(np.arange(drawn.n), np.diff(drawn.xadj)), drawn.adjncy
    u, v = u[u > v], v[u > v]
    weights = np.random.default_rng(5).integers(1, 99, u.size)
    if suffix == "graph":
        write_graph(path, Graph.from_edges(drawn.n, u, v, weights=weights))
    else:
        head = "%%MatrixMarket matrix coordinate integer symmetric\n"
        head += f"{drawn.n} {drawn.n} {u.size}"
        rows = np.stack([u + 1, v + 1, weights], axis=1)
        np.savetxt(path, rows, "%d", header=head if suffix == "mtx" else "", comments="")
    command = ["plan", path, "--objective", "cut", "-o", tmp_path / "a.plan", "--k", "4"]
    told = run_evener(*command, "--memory", "1MiB").stderr
    least = int(re.search(r"--memory to at least (\d+)MiB", told)[1]) << 20
    assert keeps_within(least, *command)


def test_why_limits_without_room_need_so_much_memory_is_told(tmp_path):
    write_graph(tmp_path / "a.ecsr", grid([300, 300]))
    with pytest.raises(UsageError, match="one by one") as told:
        request = FileRequest(tmp_path / "a.ecsr", memory=2**20)
        plan_file(request, UNEQUAL, PlanOptions(epsilon=0.0))
    assert "--epsilon" in told.value.hint


def test_what_must_be_read_whole_is_refused(tmp_path, graph):
    write_graph(tmp_path / "a.npz", graph)
    with pytest.raises(UsageError, match="cannot be divided slice by slice"):
        planned(tmp_path / "a.npz")
    two = graph.with_(vwgt=np.ones((graph.n, 2), np.int64))
    write_graph(tmp_path / "two.graph", two)
    with pytest.raises(InputError, match="2 weights per vertex") as caught:
        planned(tmp_path / "two.graph")
    assert caught.value.file == str(tmp_path / "two.graph")
    plan = planned(tmp_path / "two.graph", reading=FileReading(constraint=1))
    assert misstated(plan, graph.with_(vwgt=two.weights(1))) == []


def test_damaged_files_are_refused_and_nothing_is_left(tmp_path, graph):
    write_graph(tmp_path / "a.ecsr", graph)
    whole = (tmp_path / "a.ecsr").read_bytes()
    (tmp_path / "cut.ecsr").write_bytes(whole[:-100])
    with pytest.raises(InputError, match="cut"):
        planned(tmp_path / "cut.ecsr")
    write_graph(tmp_path / "b.graph", graph)
    text = (tmp_path / "b.graph").read_text().splitlines()
    text[5] += " 999999"
    (tmp_path / "b.graph").write_text("\n".join(text))
    with pytest.raises(InputError) as caught:
        planned(tmp_path / "b.graph")
    assert "b.graph" in str(caught.value.file)
    assert not list(tmp_path.glob("evener-private-*"))


def test_an_edge_seen_from_one_side_only_is_refused(tmp_path):
    graph = delaunay(500, 1)
    write_graph(tmp_path / "a.ecsr", graph)
    data = bytearray((tmp_path / "a.ecsr").read_bytes())
    from evener.io.csr.csr_file import CsrFile

    with CsrFile(tmp_path / "a.ecsr") as file:
        section = file.layout.sections["adjncy"]
    last = np.frombuffer(data, np.int32, section.length, section.offset)
    at = int(graph.xadj[250]) - 1  # the last neighbour of vertex 249
    assert last[at] < 499
    last = last.copy()
    last[at] = 499
    data[section.offset : section.offset + last.nbytes] = last.tobytes()
    (tmp_path / "a.ecsr").write_bytes(data)
    with pytest.raises(
        InputError,
        match="an edge is listed at only one of its ends, or has different weights at its ends",
    ) as caught:
        planned(tmp_path / "a.ecsr")
    named = re.search(r"vertex (\d+) lists neighbour (\d+), but vertex", str(caught.value))
    edge = tuple(map(int, named.groups()))
    removed = int(graph.adjncy[at])
    assert edge in ((249, 499), (removed, 249))


def test_graphs_too_large_for_memory_are_known_by_their_files(tmp_path, graph, monkeypatch):
    monkeypatch.setattr(plan_in_slices, "NEVER_LARGE", 0)
    for name in ("a.ecsr", "b.graph", "c.mtx", "d.graph.gz"):
        write_graph(tmp_path / name, graph)
        needed = too_large_for(tmp_path / name, None, 1000)
        assert needed >= 2 * graph.m * 12
        assert too_large_for(tmp_path / name, None, needed) is None
    write_graph(tmp_path / "e.npz", graph)
    assert too_large_for(tmp_path / "e.npz", None, 1000) is None
    assert too_large_for(tmp_path, None, 0) is None


def test_a_graph_without_edges(tmp_path):
    write_graph(tmp_path / "a.ecsr", Graph.from_edges(300, [], []))
    plan = planned(tmp_path / "a.ecsr")
    assert plan.evaluation.edge_cut == 0
    assert misstated(plan, ev.read_graph(tmp_path / "a.ecsr")) == []


def test_as_ev_plan(tmp_path, graph):
    write_graph(tmp_path / "a.ecsr", graph)
    plan = ev.plan(tmp_path / "a.ecsr", UNEQUAL, memory=ROOM, seed=3)
    assert misstated(plan, graph) == []
    assert plan.options["seed"] == 3
    with pytest.raises(UsageError, match="memory limits apply only"):
        ev.plan(graph, UNEQUAL, memory=ROOM)
    with pytest.raises(InputError, match="cannot be read"):
        ev.plan(tmp_path / "none.ecsr", UNEQUAL, memory=ROOM)


def test_a_text_that_changes_after_it_was_converted(tmp_path, graph):
    path = tmp_path / "a.graph"
    write_graph(path, graph)
    steps = []

    def tell(step, _):
        if step.startswith("SHA-256") and step not in steps:
            steps.append(step)
            path.write_text(path.read_text() + "% one more comment\n")

    with pytest.raises(InputError, match="was changed while it was read"):
        plan_file(FileRequest(path, ROOM), UNEQUAL, PlanOptions(), tell)
    assert steps


def test_weights_that_add_up_to_too_much(tmp_path):
    ring = Graph.from_edges(8, np.arange(8), (np.arange(8) + 1) % 8)
    heavy = CsrLayout(8, 16, vwgt=WHOLE, constraints=1)
    with csr_written(tmp_path / "a.ecsr", heavy) as file:
        file.put("xadj", 0, ring.xadj)
        file.put("adjncy", 0, ring.adjncy)
        file.put("vwgt", 0, np.full(8, 2**61 + 1))
    with pytest.raises(InputError, match=r"a\.ecsr.*add up to 2\^62 or more"):
        planned(tmp_path / "a.ecsr")


@pytest.mark.parametrize("memory", ["2GiB", -5, 0, float("nan"), float("inf"), True, b"2"])
def test_memory_that_is_no_number_of_bytes(tmp_path, memory):
    with pytest.raises(UsageError, match="memory must be a number of bytes above zero, not"):
        ev.plan(tmp_path / "none.ecsr", UNEQUAL, memory=memory)


def test_memory_is_recorded_as_a_whole_number():
    assert type(FileRequest(Path("a"), np.float64(5e8)).memory) is int


PROGRAM = """
import numpy as np, psutil
from evener.planning.plan_file import give_back_freed

give_back_freed()
big = np.ones(1 << 21)  # a first large array that is freed raises glibc's limit
del big
kept, freed = [], []
for _ in range(256):
    freed.append(np.ones(1 << 17))
    kept.append(np.ones(1 << 10))
before = psutil.Process().memory_info().rss
freed.clear()
print(before - psutil.Process().memory_info().rss)
"""


@pytest.mark.skipif(sys.platform != "linux", reason="other C libraries are left as they are")
def test_freed_arrays_between_kept_ones_are_given_back():
    assert int(printed_by(PROGRAM)) > 240 << 20  # of 256 MiB, 16 of which may be kept
