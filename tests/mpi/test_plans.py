"""`mpiexec -n P evener plan`: ranks divide a graph together, and one that fails ends all."""

import json
import re
import time
from pathlib import Path

import numpy as np
import pytest

import evener as ev
from evener.graphs.generating.delaunay import triangle_mesh
from evener.io.accept import as_platform
from evener.io.csr.csr_file import CsrFile
from evener.planning.options import PlanOptions
from evener.planning.plan_slices import plan_slices
from evener.sliced.rows import InMemoryGraph
from tests.mpi.test_programs import pytestmark, run_words  # noqa: F401 - skips without MPI

SPEEDS = [3.0, 1.0, 1.0, 1.0]
WITHIN = 5.0  # seconds after which all ranks have ended, once one has failed
MACHINE = "".join(f'[[device]]\nname = "d{b}"\nspeed = {s}\n' for b, s in enumerate(SPEEDS))


@pytest.fixture
def files(tmp_path):
    ev.write_graph(tmp_path / "x.ecsr", triangle_mesh(2000, 3).nodal_graph())
    (tmp_path / "m.toml").write_text(MACHINE)
    return tmp_path


def words_of(folder, file="x.ecsr"):
    return ["plan", str(folder / file), "--machine", str(folder / "m.toml"),
            "-o", str(folder / "x.plan")]  # fmt: skip


@pytest.mark.parametrize("ranks", [2, pytest.param(3, marks=pytest.mark.slow)])
def test_ranks_make_the_plan_that_one_process_makes_in_slices(files, ranks):
    done = run_words(ranks, "-m", "evener", *words_of(files), "--json")
    assert done.returncode == 0, done.stderr
    told = json.loads(done.stdout)  # once, by rank 0
    assert told["written"] == [str(files / "x.plan")]
    graph = ev.read_graph(files / "x.ecsr")
    expected = plan_slices(InMemoryGraph(graph), as_platform(SPEEDS), PlanOptions())
    found = ev.read_plan(files / "x.plan")
    assert np.array_equal(found.partition.part, expected.blocks)
    assert found.certificate.all_hold
    assert found.inputs.keys() == {"x.ecsr"}


@pytest.mark.parametrize(
    ("change", "code", "words"),
    [
        (lambda data: data[:5000], 3, r"x\.ecsr: is cut short"),
        (lambda data: data.replace(b"\x89ECSR", b"no"), 3, r"x\.ecsr"),
    ],
)
def test_a_bad_file_ends_all_and_nothing_is_written(files, change, code, words):
    (files / "x.ecsr").write_bytes(change((files / "x.ecsr").read_bytes()))
    done = run_words(2, "-m", "evener", *words_of(files))
    assert done.returncode == code
    assert re.search(words, done.stderr)
    assert done.stdout == ""
    assert not (files / "x.plan").exists()


STOPPED = """
import os, signal, sys, time
from pathlib import Path
import evener.cli
from evener.sliced import blocks

divided = blocks.clusters_in_slices

def stops(graph, *given):
    if graph.comm.rank == 1:
        Path({folder!r}, "when").write_text(str(time.monotonic()))
        {action}
    return divided(graph, *given)

blocks.clusters_in_slices = stops
sys.exit(evener.cli.main({words!r}))
"""


@pytest.mark.parametrize(
    ("action", "said"),
    [
        ("os.kill(os.getpid(), signal.SIGKILL)", "rank 1 was killed"),
        ("raise MemoryError('16 GB')", "rank 1 has run out of memory: 16 GB"),
        pytest.param("1 / 0", "rank 1 failed: ZeroDivisionError", marks=pytest.mark.slow),
    ],
)
def test_a_rank_that_is_killed_or_raises_ends_all_and_is_named(files, action, said):
    code = STOPPED.format(folder=str(files), action=action, words=words_of(files))
    done = run_words(3, "-c", code)
    took = time.monotonic() - float((files / "when").read_text())
    assert done.returncode != 0
    assert said in done.stderr
    assert took < WITHIN
    assert not list(files.glob("*.plan*"))


@pytest.mark.slow
def test_an_edge_that_only_one_of_its_ends_has_is_named_with_the_file(files):
    data = bytearray((files / "x.ecsr").read_bytes())
    with CsrFile(files / "x.ecsr") as file:
        section, stop = file.layout.sections["adjncy"], file.offset(51)
    begin = section.offset + 4 * (stop - 1)  # the last neighbour of vertex 50
    data[begin : begin + 4] = np.array([1999], "<i4").tobytes()
    (files / "x.ecsr").write_bytes(data)
    done = run_words(2, "-m", "evener", *words_of(files))
    assert done.returncode == 3
    assert re.search(r"x\.ecsr: rank \d: vertex \d+ ", done.stderr)


def test_what_only_one_process_can_do(files):
    done = run_words(2, "-m", "evener", *words_of(files), "--report", str(files / "x.html"))
    assert done.returncode == 2
    assert "--report does not work on the ranks" in done.stderr


@pytest.mark.slow
def test_the_example_divides_what_its_ranks_hold(tmp_path):
    example = Path(__file__).parents[2] / "examples" / "parmetis_ranks.py"
    done = run_words(3, str(example), cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    said = example.read_text().partition("# It prints:\n# ")[2]
    assert done.stdout == said  # whatever the number of ranks
    assert ev.read_plan(tmp_path / "grid.plan").certificate.all_hold
