"""All experiments of [Muralidharan13]_: which cells are drawn, bars, verdicts, the command."""

import json
from collections import Counter
from dataclasses import replace
from itertools import product
from types import SimpleNamespace

import numpy as np
import pytest

from evener.cli import main
from evener.errors import InputError, UsageError
from evener.graphs.stream_graph import StreamGraph
from evener.io.dataflow.writing import write_stream_graph
from evener.reproducing import hmap, hmap_bars, hmap_findings, hmap_runs
from evener.reproducing.hmap_setup import (
    CLASSES,
    FAST,
    FULL,
    REAL_MACHINES,
    SETTINGS,
    cells_of,
    real_graphs,
)
from evener.reproducing.keeping import KeptRows
from evener.streams.generating import DEGREES, MACHINES, RATIOS, SHAPES, SHARES, SIZES, SPREADS
from evener.streams.period import seconds_of
from evener.streams.placing import greedy_starts
from evener.streams.search import SearchLimits

TINY = replace(FULL, machines=(16,), cells=2, rounds=1, most=128, fewer=1)


def test_a_round_has_each_level_as_often_as_another():
    cells = cells_of(64, "A", 3, FULL)
    for name, levels in (
        ("degree", DEGREES), ("ratio", RATIOS), ("shape", SHAPES), ("share", SHARES),
        ("spread", SPREADS), ("n", SIZES),
    ):  # fmt: skip
        counts = Counter(getattr(cell.parameters, name) for cell in cells)
        assert set(counts) == set(levels)
        assert max(counts.values()) - min(counts.values()) <= (name == "n")
    assert len({cell.seed for cell in cells}) == len(cells) == FULL.cells


def test_settings_share_cells_and_rounds_do_not():
    one, other, next_round = (cells_of(256, *which, FULL) for which in ("A0", "B0", "A1"))
    assert [cell.parameters for cell in one] == [cell.parameters for cell in other]
    assert [cell.parameters for cell in one] != [cell.parameters for cell in next_round]
    assert not {cell.seed for cell in one} & {cell.seed for cell in next_round}


@pytest.mark.parametrize("sampling", [FAST, FULL])
def test_filters_are_as_many_as_processors_or_apart(sampling):
    for k in sampling.machines:
        assert all(k <= c.parameters.n <= sampling.most for c in cells_of(k, "A", 0, sampling))
        fewer = cells_of(k, "A", 0, sampling, fewer=True)
        assert all(c.parameters.n < k for c in fewer)
        assert bool(fewer) == (k > min(SIZES))
    assert set(FULL.machines) == set(MACHINES)


def row(k, setting, **more):
    """A row of a cell with periods 1 but for those given."""
    given = {"n": k, "degree": 4, "ratio": 0.1, "shape": 1.0, "share": 50, "spread": 5}
    given |= {"round": 0, "seed": 0} | dict.fromkeys(hmap_bars.METHODS, 1.0)
    return {"k": k, "setting": setting, **given, **more}


def test_bars_are_means_of_the_cells_of_a_class():
    rows = [row(64, "A", share=5, metis=1.0), row(64, "A", share=95, metis=4.0),
            row(64, "A", share=50, metis=7.0), row(64, "B", metis=90.0)]  # fmt: skip
    found = {(b.paper_class, b.method): b for b in hmap_bars.bars(rows, "A", 64)}
    assert [found[c, "metis"].mean for c in "abf"] == [4.0, 5.5, 4.0]
    assert found["f", "metis"].geometric == pytest.approx(28 ** (1 / 3))
    assert ("c", "metis") not in found
    # Of 1, 4, 7: sigma 3, Student's quantile with two degrees of freedom 4.303.
    assert found["f", "metis"].width == pytest.approx(2 * 4.303 * 3 / 3**0.5 / 4, rel=1e-3)
    assert found["f", "hmap"].width == 0
    assert not hmap_bars.are_narrow(rows[:3])
    assert hmap_bars.are_narrow([row(64, "A"), row(64, "A")])


def test_cells_are_drawn_until_all_intervals_are_narrow_or_the_cap(tmp_path, monkeypatch):
    """A machine whose periods are alike ends after two rounds, another one at its cap."""
    sampling = replace(FULL, machines=(64, 128), cells=3, rounds=4)
    rng = np.random.default_rng(5)

    def run(cell):
        spread = 1e-3 if cell.k == 64 else 1.0
        classes = {"shape": 0.1, "share": 50, "ratio": 1.0}  # of all but (d), which has no bar
        own = {name: 1 + spread * rng.random() for name in hmap_bars.METHODS}
        return cell.about | classes | own

    monkeypatch.setattr(hmap_runs, "run", run)
    told = []
    kept = KeptRows(tmp_path, {})
    rows = hmap_runs.sampled(sampling, kept, lambda what, done: told.append((what, done)))
    counts = Counter((one["k"], one["setting"]) for one in rows)
    assert counts == {(64, "A"): 6, (64, "B"): 6, (128, "A"): 12, (128, "B"): 12}
    shares = [done for _, done in told]
    assert shares == sorted(shares)
    assert 0 == shares[0] < shares[-1] < 1
    assert told[-1][0] == "128 processors, setting B, round 4 of 4 at most, cell 3 of 3"
    monkeypatch.setattr(hmap_runs, "run", None)
    again = hmap_runs.sampled(sampling, KeptRows(tmp_path, {}), lambda *_: None)
    assert again == rows
    found = [bar for k in (64, 128) for bar in hmap_bars.bars(rows, "A", k)]
    said = hmap_findings.narrow_intervals(found, hmap_bars.WIDTH, sampling)
    assert "12 on a machine at most" in said.tried
    assert "128 processors" in said.seen
    assert said.criteria[0].met is False
    tight = [bar for bar in found if bar.k == 64]
    assert hmap_findings.narrow_intervals(tight, hmap_bars.WIDTH, sampling).criteria[0].met


def test_the_last_bar_is_the_mean_over_machines():
    rows = [row(k, "A", metis=value) for k, value in ((64, 1.0), (64, 3.0), (128, 6.0))]
    found = [bar for k in (64, 128) for bar in hmap_bars.bars(rows, "A", k)]
    last = {(bar.paper_class, bar.method): bar for bar in hmap_bars.over_machines(found)}
    assert (last["f", "metis"].mean, last["f", "metis"].k) == (4.0, 0)
    assert last["f", "metis"].geometric == pytest.approx((6 * 3**0.5) ** 0.5)


def test_gains_are_ratios_of_means_and_geometric():
    rows = [row(64, "A", metis=8.0, hmap=2.0), row(64, "A", metis=1.0, hmap=1.0),
            {"hmap": 5.0}]  # fmt: skip
    found = hmap_bars.gain(rows)
    assert (found.of_means, found.geometric) == (pytest.approx(3.0), pytest.approx(2.0))
    assert found.low < 2 < found.high
    assert np.isnan(hmap_bars.gain([{"hmap": 1.0}]).geometric)


PAPERS = {64: 1 / 1.2, 1024: 2.0, 4096: 3.0}


def as_the_paper(gains, wide=100.0):
    """Rows of a paper that is right: METIS / HMAP by machine, larger where bytes are dear."""
    return [
        row(k, s, metis=gain * (1.5 if ratio >= 0.1 and gain > 1 else 1.0), ratio=ratio,
            shape=shape, share=share, ours=0.5, wide_hmap=wide, narrow_hmap=100 - wide)
        for s, (k, gain), ratio, shape, share in product(
            SETTINGS, gains.items(), (0.001, 1.0), (0.1, 10.0), (5, 95))
    ]  # fmt: skip


SECONDS = [{"k": 64, "n": 64, "m": 9, "metis_s": 1.0, "hmap_s": 2.0, "unequal": 0},
           {"k": 4096, "n": 64, "m": 9, "metis_s": 20.0, "hmap_s": 70.0, "unequal": 0}]  # fmt: skip


def met(finding):
    return [criterion.met for criterion in finding.criteria]


def test_statements_that_hold_are_said_to_be_met_and_others_not():
    right, wrong = as_the_paper(PAPERS), as_the_paper({64: 1.1, 1024: 0.5, 4096: 0.9}, wide=10.0)
    for judge in (
        hmap_findings.faster_on_average, hmap_findings.faster_on_the_largest,
        hmap_findings.slower_on_the_smallest, hmap_findings.ahead_by_class,
        hmap_findings.larger_where_bytes_are_dear, hmap_findings.filters_where_they_run_best,
    ):  # fmt: skip
        assert all(met(judge(right)))
        assert judge(right).verdict == "partly"  # a sample, and our readings
        assert not any(met(judge(wrong)))
    assert all(met(hmap_findings.within_seconds(SECONDS)))
    assert all(met(hmap_findings.beside_ours(right)))
    slower = hmap_findings.beside_ours([*right, row(64, "A", hmap=0.9)])
    assert met(slower)[-1] is False


def test_meshes_twice_as_wide_as_high_are_set_beside_square_ones():
    good = as_the_paper({64: 1.0, 128: 1.2, 256: 2.0})
    assert all(met(hmap_findings.worse_where_halves_are_unequal(good, SECONDS)))
    bad = as_the_paper({64: 1.0, 128: 2.0, 256: 1.2})
    assert not any(met(hmap_findings.worse_where_halves_are_unequal(bad, SECONDS)))


@pytest.fixture
def _quick(monkeypatch):
    """Placements that need no other process and no annealing."""

    def starts(problem, seed):
        parts = greedy_starts(problem, 3)
        order = sorted(range(len(parts)), key=lambda i: -seconds_of(problem, parts[i]))
        names = ("metis", "metis-recursive", "hmap")
        return [(name, parts[i]) for name, i in zip(names, order, strict=False)]

    monkeypatch.setattr(hmap_runs, "starts_of", starts)
    monkeypatch.setattr(hmap_runs, "by_metis", lambda *_: None)
    monkeypatch.setattr(hmap_runs, "SearchLimits", lambda: SearchLimits(0))
    monkeypatch.setattr(hmap_runs, "REAL_MACHINES", (4,))
    monkeypatch.setattr(hmap, "FAST", TINY)
    monkeypatch.setattr(hmap.metis, "missing", lambda: None)
    monkeypatch.setattr(hmap_runs, "hmap", lambda *_, **__: SimpleNamespace(unequal=1))


@pytest.mark.slow
def test_the_command_writes_everything_and_goes_on_from_it(tmp_path, capsys, monkeypatch, _quick):
    (tmp_path / "graphs").mkdir()
    graph = StreamGraph("abc", [9.0, 9.0, 900.0], [1, 900, 1], [0, 1], [1, 2], [4.0, 5.0])
    write_stream_graph(tmp_path / "graphs" / "abc.toml", graph)
    (tmp_path / "graphs" / "more.tar.zst").write_bytes(b"")
    folder = tmp_path / "out"
    words = ["reproduce", "hmap", "--fast", "--data", str(tmp_path / "graphs"), "-o", str(folder)]
    assert main([*words, "--json"]) == 0
    found = json.loads(capsys.readouterr().out)
    assert {path.name for path in folder.iterdir()} == {*found["written"], "runs.jsonl"}
    assert {"figure-3-a.png", "figure-3-b.png", "gains.png"} < set(found["written"])
    tables = found["tables"]
    assert len(tables["cells"]) == 2 * len(TINY.machines) * TINY.cells
    assert {one["k"] for one in tables["bars"]} == {0, *TINY.machines}
    assert {one["paper_class"] for one in tables["bars"]} <= set(CLASSES)
    assert all(one["ours"] <= one["metis"] for one in tables["cells"])
    assert [(one["graph"], one["k"]) for one in tables["real"]] == [("abc.toml", k) for k in (4, 4)]
    assert sum(found["verdicts"].values()) == len(found["findings"]) == 12
    intervals = next(one for one in found["findings"] if one["where"] == "IV-B1: intervals")
    assert "2 on a machine at most in each setting" in intervals["tried"]
    monkeypatch.setattr(hmap_runs, "run", None)  # nothing is run again
    again = hmap.reproduce(fast=True, folder=tmp_path / "graphs", keep=folder)
    assert json.loads(json.dumps(again.tables["cells"])) == tables["cells"]
    assert REAL_MACHINES == (16, 64, 256)


def test_what_cannot_be_tried_is_refused(tmp_path, monkeypatch):
    with pytest.raises(InputError, match="has no stream graphs"):
        real_graphs(tmp_path)
    with pytest.raises(InputError, match="cannot be read"):
        real_graphs(tmp_path / "no")
    monkeypatch.setattr(hmap.metis, "missing", lambda: "it is not installed")
    with pytest.raises(UsageError, match="compared with METIS: it is not installed"):
        hmap.reproduce(fast=True)
