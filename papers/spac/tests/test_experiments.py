"""All experiments of [SPAC]_ by one command, with blocks that need no other process."""

import json
from dataclasses import replace

import pytest

from evener.splitting.methods import split_with
from papers.cla14 import experiments as fupermod
from papers.command import main
from papers.spac import experiments as spac
from papers.spac import gpu as spac_gpu
from papers.spac import runs as spac_runs
from papers.spac.runs import HYPERGRAPH, METHODS
from papers.spac.setup import PAPER, MatrixSizes

TINY = replace(
    spac.FAST, sizes=MatrixSizes(3, (9, 15), 300, 200, 200), pages=(100,), runs=1, degrees=(4, 8),
    fixed=(3,), vertices=300, points=40, threads=(256, 1024), flux_threads=(64, 128),
)  # fmt: skip


@pytest.fixture
def _quick(monkeypatch):
    """All experiments on tiny graphs; each method's blocks are by neighbourhoods or by hashes."""

    def made(name):
        return lambda edges, contract, _, seed: split_with(name, edges, contract, seed=seed)

    quick = {name: made("ne" if name.startswith(("SPAC", "Ev")) else "dbh") for name in METHODS}
    monkeypatch.setattr(spac_runs, "METHODS", quick)
    monkeypatch.setattr(spac_gpu, "split_with", lambda _, *to, **more: split_with("ne", *to))
    monkeypatch.setattr(spac, "FAST", TINY)
    monkeypatch.setattr(spac, "FULL_BLOCKS", 3)
    monkeypatch.setattr(spac_runs, "blocks_of", lambda *_, **__: 4)


@pytest.mark.slow
def test_the_command_writes_everything(tmp_path, capsys, _quick):
    folder = tmp_path / "spac"
    assert main(spac.REPRODUCTION, ["--fast", "-o", str(folder), "--json"]) == 0
    found = json.loads(capsys.readouterr().out)
    assert sorted(path.name for path in folder.iterdir()) == sorted(found["written"])
    assert {"figure-4.png", "figure-7.png", "figure-13.png"} < set(found["written"])
    assert sum(found["verdicts"].values()) == len(found["findings"]) == 19
    assert {row["method"] for row in found["tables"]["copies"]} == set(spac.FAST.methods)
    assert {row["matrix"] for row in found["tables"]["copies"]} == set(PAPER)
    assert len(found["tables"]["density"]) == 2 * 2 * 2
    assert {(row["matrix"], row["k"]) for row in found["tables"]["nets"]} == {
        ("circuit5M", 2), ("circuit5M", 3),
    }  # fmt: skip
    page = (folder / "README.md").read_text()
    assert page.startswith("# Split-and-connect, tried on this computer")
    lines = (folder / "numbers.jsonl").read_text().splitlines()
    assert {json.loads(line)["table"] for line in lines} == {"findings", *found["tables"]}


def test_without_mt_kahypar_all_else_is_tried(monkeypatch, _quick):
    for where in (spac_runs, spac):
        monkeypatch.setattr(where, "without_hypergraph", lambda: "Mt-KaHyPar is not installed")
    result = spac.copies(spac.matrices(TINY.sizes), TINY)
    of_hypergraphs = [one for one in result.findings if one.where.startswith("3.3.1")]
    assert [one.lacking for one in of_hypergraphs] == ["Mt-KaHyPar is not installed"] * 3
    assert all(row["method"] != HYPERGRAPH for row in result.tables["copies"])
    panels = result.plots[0].panels
    assert all(HYPERGRAPH not in panel.lines for panel in panels)
    assert min(value for own in panels[1].lines.values() for value in own) >= 0.01


def test_options_of_other_papers_are_refused(capsys):
    assert main(spac.REPRODUCTION, ["--here"]) == 2
    assert "--here" in capsys.readouterr().err
    assert main(fupermod.REPRODUCTION, ["--data", "."]) == 2
    assert "--data" in capsys.readouterr().err


def test_a_folder_without_matrices_is_refused(tmp_path, capsys):
    assert main(spac.REPRODUCTION, ["--fast", "--data", str(tmp_path)]) != 0
    assert "has none of cant.mtx" in capsys.readouterr().err
