"""All experiments of [Muralidharan13]_: which cells are drawn, bars, verdicts, the command."""

import json
from collections import Counter
from dataclasses import replace
from itertools import product
from types import SimpleNamespace

import numpy as np
import pytest

from evener.errors import InputError, UsageError
from evener.graphs.stream_graph import StreamGraph
from evener.io.dataflow.reading import write_stream_graph
from evener.streams.generating import DEGREES, MACHINES, RATIOS, SHAPES, SHARES, SIZES, SPREADS
from evener.streams.period import seconds_of
from evener.streams.placing import best_of, on_subsets
from evener.streams.search import SearchLimits
from papers.command import main
from papers.hmap import experiments as hmap
from papers.hmap import findings as hmap_findings
from papers.hmap import runs as hmap_runs
from papers.hmap.setup import (
    CLASSES,
    EQUATIONS,
    FAST,
    FULL,
    OWN,
    PAPERS,
    REAL_MACHINES,
    SETTINGS,
    cells_of,
    real_graphs,
)
from papers.keeping import KeptRows

TINY = replace(FULL, machines=(16,), cells=2, rounds=1, most=128, searched=1, fewer=1)


def not_again(*_, **__):
    raise AssertionError("a cell that is kept was run again")


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
    given |= {"round": 0, "seed": 0, "equation": PAPERS} | dict.fromkeys(hmap_runs.METHODS, 1.0)
    return {"k": k, "setting": setting, **given, **more}


def test_bars_are_means_of_the_cells_of_a_class():
    rows = [row(64, "A", share=5, metis=1.0), row(64, "A", share=95, metis=4.0),
            row(64, "A", share=50, metis=7.0), row(64, "B", metis=90.0),
            row(64, "A", share=5, metis=90.0, equation=OWN)]  # fmt: skip
    found = {(b.paper_class, b.method): b for b in hmap_runs.bars(rows, "A", 64)}
    assert [found[c, "metis"].mean for c in "abf"] == [4.0, 5.5, 4.0]
    assert found["f", "metis"].geometric == pytest.approx(28 ** (1 / 3))
    assert ("c", "metis") not in found
    # Of 1, 4, 7: sigma 3, Student's quantile with two degrees of freedom 4.303.
    assert found["f", "metis"].width == pytest.approx(2 * 4.303 * 3 / 3**0.5 / 4, rel=1e-3)
    assert found["f", "hmap"].width == 0
    (own,) = (b for b in hmap_runs.bars(rows, "A", 64, OWN)
              if (b.paper_class, b.method) == ("f", "metis"))  # fmt: skip
    assert (own.mean, own.equation) == (90.0, OWN)
    assert not hmap_runs.are_narrow(rows[:3])
    assert hmap_runs.are_narrow([row(64, "A"), row(64, "A")])


def test_cells_are_drawn_until_all_intervals_are_narrow_or_the_cap(tmp_path, monkeypatch):
    """A machine whose periods are alike ends after two rounds, another one at its cap."""
    sampling = replace(FULL, machines=(64, 128), cells=3, rounds=4)
    rng = np.random.default_rng(5)

    def run(cell, *, is_searched):
        assert is_searched == (cell.round == 0)
        spread = 1e-3 if cell.k == 64 else 1.0
        classes = {"shape": 0.1, "share": 50, "ratio": 1.0}  # of all but (d), which has no bar
        own = {name: 1 + spread * rng.random() for name in hmap_runs.METHODS}
        return [cell.about | classes | own | {"equation": PAPERS}]

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
    monkeypatch.setattr(hmap_runs, "run", not_again)
    again = hmap_runs.sampled(sampling, KeptRows(tmp_path, {}), lambda *_: None)
    assert again == rows
    found = [bar for k in (64, 128) for bar in hmap_runs.bars(rows, "A", k)]
    said = hmap_findings.narrow_intervals(found, hmap_runs.WIDTH, sampling)
    assert "12 on a machine at most" in said.tried
    assert "128 processors" in said.seen
    assert said.verdict == "not tried"  # the cap came before the paper's precision
    assert "the cap came first" in said.lacking
    tight = [bar for bar in found if bar.k == 64]
    assert hmap_findings.narrow_intervals(tight, hmap_runs.WIDTH, sampling).criteria[0].met


def test_the_last_bar_is_the_mean_over_machines():
    rows = [row(k, "A", metis=value) for k, value in ((64, 1.0), (64, 3.0), (128, 6.0))]
    found = [bar for k in (64, 128) for bar in hmap_runs.bars(rows, "A", k)]
    last = {(bar.paper_class, bar.method): bar for bar in hmap_runs.over_machines(found)}
    assert (last["f", "metis"].mean, last["f", "metis"].k) == (4.0, 0)
    assert last["f", "metis"].geometric == pytest.approx((6 * 3**0.5) ** 0.5)


def test_gains_are_ratios_of_means_and_geometric():
    rows = [row(64, "A", metis=8.0, hmap=2.0), row(64, "A", metis=1.0, hmap=1.0),
            {"hmap": 5.0}]  # fmt: skip
    found = hmap_runs.gain(rows)
    assert (found.of_means.value, found.geometric.value) == (pytest.approx(3.0), pytest.approx(2.0))
    assert found.of_means.low < 3 < found.of_means.high
    assert found.geometric.low < 2 < found.geometric.high
    assert np.isnan(hmap_runs.gain([{"hmap": 1.0}]).geometric.value)
    assert hmap_runs.gain(rows, "hmap", "hmap").of_means == (1.0, 1.0, 1.0)


def test_intervals_of_the_ratio_of_means_cover_the_true_one():
    """Of 2,000 samples of 40 pairs whose means are 2 and 1, some 95 % of the intervals have 2."""
    rng = np.random.default_rng(3)
    hits = 0
    for _ in range(2000):
        common = rng.lognormal(0, 0.5, 40)
        pairs = zip(2 * common * rng.uniform(0.5, 1.5, 40), common, strict=True)
        found = hmap_runs.gain([{"metis": a, "hmap": b} for a, b in pairs]).of_means
        hits += found.low < 2 < found.high
    assert 0.92 < hits / 2000 < 0.97


RIGHT = {64: 0.8, 1024: 2.0, 4096: 3.1}


def as_the_paper(gains, wide=100.0):
    """Rows of a paper that is right: METIS / HMAP by machine, larger where bytes are dear."""
    filters = {f"{kind}_{name}": share for name in hmap_runs.BARS
               for kind, share in (("wide", wide), ("narrow", 100 - wide))}  # fmt: skip
    filters |= {"wide_metis": 90.0, "narrow_metis": 90.0}
    return [
        row(k, s, metis=gain * (4.0 if ratio >= 0.1 and gain > 1 else 1.0), ratio=ratio,
            shape=shape, share=share, ours=0.5, equation=equation, **filters)
        | {"metis-recursive": 1.2 if ratio >= 0.1 and gain > 1 else 1.0}
        for s, (k, gain), ratio, shape, share, equation in product(
            SETTINGS, gains.items(), (0.001, 1.0), (0.1, 10.0), (5, 95), EQUATIONS)
    ]  # fmt: skip


SECONDS = [
    {"k": k, "n": 64, "m": 9, "metis_s": metis, "hmap_s": own, "hmap_up_s": own, "unequal": 0}
    for k, metis, own in ((64, 1.0, 2.0), (4096, 20.0, 70.0))
]


def met(finding):
    return [criterion.met for criterion in finding.criteria]


def test_statements_that_hold_are_said_to_be_met_and_others_not():
    right, wrong = as_the_paper(RIGHT), as_the_paper({64: 1.1, 1024: 0.5, 4096: 0.9}, wide=10.0)
    for judge in (
        hmap_findings.faster_on_average, hmap_findings.faster_on_the_largest,
        hmap_findings.slower_on_the_smallest, hmap_findings.ahead_by_class,
        hmap_findings.larger_where_bytes_are_dear, hmap_findings.filters_where_they_run_best,
    ):  # fmt: skip
        assert all(met(judge(right)))
        assert judge(right).verdict == "partly"  # a sample, and our readings
        assert not any(met(judge(wrong)))
        assert judge(hmap_findings.without_clusters(right)).verdict != "held"
        assert not all(met(judge(hmap_findings.without_clusters(right))))
        for equation in EQUATIONS:
            assert f"by {equation}" in judge(right).seen or "in A" in judge(right).seen
    assert all(met(hmap_findings.within_seconds(SECONDS)))
    assert all(met(hmap_findings.beside_ours(right)))
    slower = hmap_findings.beside_ours([*right, row(64, "A", **{"hmap-up": 0.4}, ours=0.4)])
    assert met(slower)[-1] is False
    assert met(hmap_findings.beside_ours(hmap_findings.without_search(right)))[-1] is False


def test_criteria_are_on_periods_by_equation_2():
    """Rows by our reading say the opposite, and change no answer."""
    right = as_the_paper(RIGHT)
    swapped = [
        {**one, "metis": 0.1 if one["k"] > 64 else 9.0} if one["equation"] == OWN else one
        for one in right
    ]
    for judge in (hmap_findings.faster_on_average, hmap_findings.faster_on_the_largest,
                  hmap_findings.slower_on_the_smallest, hmap_findings.ahead_by_class):  # fmt: skip
        assert met(judge(swapped)) == met(judge(right))
        assert judge(swapped).seen != judge(right).seen


def test_without_the_largest_machine_its_statement_is_not_tried():
    found = hmap_findings.faster_on_the_largest(as_the_paper({64: 0.8, 1024: 3.1}))
    assert (found.verdict, found.lacking) == ("not tried", "no cell of such a machine")


def test_what_few_cells_leave_open_is_not_tried():
    rows = [row(k, s, metis=metis, equation=e) for s in SETTINGS for k in (64, 4096)
            for metis in (0.2, 9.0) for e in EQUATIONS]  # fmt: skip
    for judge in (hmap_findings.faster_on_average, hmap_findings.slower_on_the_smallest):
        assert judge(rows).verdict == "not tried"
        assert "open" in judge(rows).row()["criteria"]


def test_clusters_are_set_beside_bisection_without_them():
    right = as_the_paper(RIGHT)
    found = hmap_findings.clusters_or_bisection(right)
    assert all(met(found))
    null = hmap_findings.clusters_or_bisection(hmap_findings.by_bisection(right))
    assert not any(met(null))
    assert found.beside_counter("bisection", null).verdict == "held"


def test_meshes_twice_as_wide_as_high_are_set_beside_square_ones():
    good = as_the_paper({64: 1.0, 128: 1.2, 256: 40.0})
    assert all(met(hmap_findings.worse_where_halves_are_unequal(good, SECONDS)))
    bad = as_the_paper({64: 1.0, 128: 40.0, 256: 1.2})
    assert not any(met(hmap_findings.worse_where_halves_are_unequal(bad, SECONDS)))


@pytest.fixture
def _quick(monkeypatch):
    """Placements that need no other process and no annealing."""

    def starts(problem, seed):
        parts = best_of(problem, list(on_subsets(problem)), 3)
        order = sorted(range(len(parts)), key=lambda i: -seconds_of(problem, parts[i]))
        names = ("metis", "metis-recursive", "hmap")
        return [(name, parts[i]) for name, i in zip(names, order, strict=False)]

    def clusters(problem, **_):
        return SimpleNamespace(unequal=1, part=best_of(problem, list(on_subsets(problem)), 1)[0])

    monkeypatch.setattr(hmap_runs, "starts_of", starts)
    monkeypatch.setattr(hmap_runs, "divided_starts", starts)
    monkeypatch.setattr(hmap_runs, "by_metis", lambda *_: None)
    monkeypatch.setattr(hmap_runs, "SearchLimits", lambda: SearchLimits(0))
    monkeypatch.setattr(hmap_runs, "REAL_MACHINES", (4,))
    monkeypatch.setattr(hmap, "FAST", TINY)
    monkeypatch.setattr(hmap.metis, "missing", lambda: None)
    monkeypatch.setattr(hmap_runs, "hmap", clusters)


@pytest.mark.slow
def test_the_command_writes_everything_and_goes_on_from_it(tmp_path, capsys, monkeypatch, _quick):
    (tmp_path / "graphs").mkdir()
    graph = StreamGraph("abc", [9.0, 9.0, 900.0], [1, 900, 1], [0, 1], [1, 2], [4.0, 5.0])
    write_stream_graph(tmp_path / "graphs" / "abc.toml", graph)
    (tmp_path / "graphs" / "more.tar.zst").write_bytes(b"")
    folder = tmp_path / "out"
    words = ["--fast", "--data", str(tmp_path / "graphs"), "-o", str(folder)]
    assert main(hmap.REPRODUCTION, [*words, "--json"]) == 0
    found = json.loads(capsys.readouterr().out)
    assert {path.name for path in folder.iterdir()} == {*found["written"], "runs.jsonl"}
    assert {"figure-3-a.png", "figure-3-b.png", "gains.png"} < set(found["written"])
    tables = found["tables"]
    assert len(tables["cells"]) == 2 * len(TINY.machines) * TINY.cells * len(EQUATIONS)
    assert sum("ours" in one for one in tables["cells"]) == 2 * TINY.searched * len(EQUATIONS)
    assert {one["k"] for one in tables["bars"]} == {0, *TINY.machines}
    assert {one["paper_class"] for one in tables["bars"]} <= set(CLASSES)
    assert all(one["ours"] <= one["metis"] for one in tables["cells"] if "ours" in one)
    assert [(one["graph"], one["k"]) for one in tables["real"]] == [("abc.toml", 4)] * 4
    assert sum(found["verdicts"].values()) == len(found["findings"]) == 13
    intervals = next(one for one in found["findings"] if one["where"] == "IV-B1: intervals")
    assert "2 on a machine at most in each setting" in intervals["tried"]
    monkeypatch.setattr(hmap_runs, "run", not_again)
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
