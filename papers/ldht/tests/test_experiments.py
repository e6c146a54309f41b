"""`python -m papers.ldht` on tiny graphs: all that it writes, going on, real graphs, refusals."""

import json
from dataclasses import replace
from functools import partial

import pytest

from evener.errors import InputError, UsageError
from evener.graphs.generating.delaunay import delaunay
from evener.io.write import write_graph
from evener.partitioning.tools import TOOLS
from papers import command
from papers.command import main
from papers.ldht import experiments as ldht
from papers.ldht.setup import (
    FAST,
    FULL,
    HUGE,
    SMALLER,
    Machine,
    graph_of,
    topo3_series,
)

TINY = replace(
    FAST, sizes=dict.fromkeys(FAST.sizes, 600), k_topo1=(24,), k_topo2=(24,), speeds=(16.0,),
    topo2_beside=(), solved=SMALLER[:1], large=900,
    without=("geoRef", "geoPMRef", "geoHier", "pmGraph", "zRIB", "MJ", "Evener", "Evener strong"),
)  # fmt: skip


def test_the_command_writes_everything_and_goes_on(tmp_path, capsys, monkeypatch):
    # Few cells of few tools: that all are run is seen by the cells themselves.
    monkeypatch.setattr(ldht, "FAST", TINY)
    monkeypatch.setattr(
        ldht.sizes, "seconds_of_sizes", partial(ldht.sizes.seconds_of_sizes, (8, 16))
    )
    monkeypatch.setattr(ldht.runs, "TURNS", 1)
    monkeypatch.setattr(ldht.runs, "ITERATIONS", 2)
    monkeypatch.setattr(
        type(TINY),
        "cells",
        lambda self: [
            cell for cell in CELLS(self) if cell.machine.speed == 16.0 and cell.figure in "45"
        ],
    )
    monkeypatch.setattr(type(TINY), "cells_of_table_iv", lambda self: [])
    monkeypatch.setattr(command, "draw_lines", lambda panels: panels)  # drawing takes seconds
    monkeypatch.setattr(command, "save_figure", lambda path, panels: path.touch())
    folder = tmp_path / "ldht"
    assert main(ldht.REPRODUCTION, ["--fast", "-o", str(folder), "--json"]) == 0
    found = json.loads(capsys.readouterr().out)
    assert {row["figure"] for row in found["tables"]["cells"]} == {"4", "5"}
    assert all(row["source"] == f"LDHT, {row['where']}" for row in found["findings"])
    assert {row["statement"] for row in found["findings"] if row["verdict"] == "held"} >= {
        "no saturated device comes after a non-saturated one by speed for memory",
    }  # fmt: skip
    plots = {name for name in found["written"] if name.endswith(".png")}
    assert plots == {f"figure-{name}.png" for name in ("1", "2a", "2b", "3", "4", "5")}
    assert all((folder / name).is_file() for name in found["written"])
    monkeypatch.setattr(ldht.runs, "run_cell", None)  # nothing is run again
    assert main(ldht.REPRODUCTION, ["--fast", "-o", str(folder)]) == 0
    shown = capsys.readouterr().out
    assert "statement" in shown
    monkeypatch.setattr(ldht, "FAST", replace(TINY, large=901))
    assert main(ldht.REPRODUCTION, ["--fast", "-o", str(folder)]) == 3
    assert "other settings" in capsys.readouterr().err


CELLS = type(TINY).cells


def test_the_papers_machines_are_all_there():
    cells = FULL.cells()
    of_topo1 = [c.machine for c in cells if (c.figure, c.machine.kind) == ("2", "topo1")]
    for graph in HUGE:
        ten = {c.machine for c in cells if c.graph == graph and c.machine.kind == "topo1"
               and c.machine.k == 96}  # fmt: skip
        assert {(m.fast, m.speed) for m in ten} == {(f, s) for f in (8, 16)
                                                    for s in (1, 2, 4, 8, 16)}  # fmt: skip
    assert {m.k for m in of_topo1} == {96, 192}
    assert {c.machine.k for c in cells if c.figure == "3"} == {24 * 2**i for i in range(1, 10)}
    assert {(m.k, m.fast) for m in topo3_series((2.0,))} == {
        (96, 24), (96, 48), (192, 24), (192, 48),
    }  # fmt: skip
    assert all(n >= 2**22 for n in FULL.sizes.values())
    assert len({cell.key for cell in cells}) == len(cells)
    assert Machine("topo1", 96, 8, 16.0).label == "t1_f8_fs16"


def test_graphs_of_the_paper_are_taken_from_a_folder(tmp_path):
    mesh = delaunay(50, 1)
    write_graph(tmp_path / "hugetric-00020.graph", mesh)
    write_graph(tmp_path / "hugetrace-00020.graph", mesh)
    (tmp_path / "hugetrace-00020.graph.xyz").unlink(missing_ok=True)
    graph, is_real = graph_of("hugetric-00020", 600, tmp_path)
    assert (graph.n, is_real) == (50, True)
    assert graph_of("rdg_2d", 60, tmp_path)[1] is False
    with pytest.raises(UsageError, match="no coordinates"):
        graph_of("hugetrace-00020", 600, tmp_path)
    with pytest.raises(InputError, match="not a folder"):
        graph_of("rdg_2d", 60, tmp_path / "absent")


def test_without_metis_it_is_refused(monkeypatch):
    monkeypatch.setitem(TOOLS, "metis", replace(TOOLS["metis"], missing=lambda: "pip install it"))
    with pytest.raises(UsageError, match="pip install it"):
        ldht.reproduce(True)


def test_tools_that_cannot_be_had_are_said():
    said = [finding.row() for finding in ldht.absent([])]
    assert all(row["verdict"] == "not tried" and row["lacking"] for row in said)
    assert any("pmGeom" in row["says"] for row in said)
