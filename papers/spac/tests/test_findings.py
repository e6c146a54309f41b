"""Verdicts on [SPAC]_'s statements can hold and fail."""

import pytest

from papers.spac import findings
from papers.spac.runs import (
    GREEDY,
    HYPERGRAPH,
    IN_ORDER,
    OWN,
    PATH,
    RANDOM,
    SPAC,
    WVP_GREEDY,
    WVP_RANDOM,
)
from papers.spac.setup import PAPER

ABSENT = "Mt-KaHyPar is not installed"


def rows_of(is_real=False, **methods):
    """A row for each matrix and method: copies, seconds and degrees, the same for all matrices."""
    names = {"spac": SPAC, "path": PATH, "hyper": HYPERGRAPH, "greedy": GREEDY, "order": IN_ORDER,
             "random": RANDOM, "wvp": WVP_GREEDY, "wvp_random": WVP_RANDOM,
             "default": f"{OWN}default", "fast": f"{OWN}fast"}  # fmt: skip
    return [
        {"matrix": matrix, "method": names[key], "run": run, "is_real": is_real, "entries": 10,
         "copies": copies, "cpu_s": seconds, "copied_degree": degree,
         "replication": 1 + copies / 1000}
        for matrix in PAPER for run in range(2)
        for key, (copies, seconds, degree) in methods.items()
    ]  # fmt: skip


def met(finding):
    return [criterion.met for criterion in finding.criteria]


def changed(rows, matrix, method, **figures):
    return [row | figures if (row["matrix"], row["method"]) == (matrix, method) else row
            for row in rows]  # fmt: skip


GOOD = rows_of(
    spac=(100, 1, 9), path=(120, 1, 9), hyper=(101, 30, 9), greedy=(900, 1, 9),
    order=(800, 1, 9), random=(2000, 1, 9), wvp=(150, 1, 8), wvp_random=(160, 1, 8),
    default=(80, 3, 9), fast=(90, 0.5, 9),
)  # fmt: skip
BAD = rows_of(
    spac=(1000, 1, 8), path=(1200, 1, 9), hyper=(600, 3, 9), greedy=(900, 1, 9),
    order=(990, 1, 9), random=(999, 1, 9), wvp=(900, 1, 9), wvp_random=(850, 1, 9),
    default=(1001, 9, 9), fast=(90, 0.5, 9),
)  # fmt: skip


@pytest.mark.parametrize(
    ("make", "good", "bad"),
    [
        (lambda rows: findings.as_good_as_hypergraphs(rows, None), [True] * 3, [False] * 3),
        (lambda rows: findings.faster_than_hypergraphs(rows, None), [True] * 3, [False] * 3),
        (findings.beats_powergraph, [True] * 3, [False] * 3),
        (findings.beats_vertex_blocks, [True] * 3, [False] * 3),
        (lambda rows: findings.own_presets(rows, None), [True] * 4, [False] * 4),
    ],
)
def test_verdicts_can_fail(make, good, bad):
    assert met(make(GOOD)) == good
    assert met(make(BAD)) == bad


def test_one_matrix_is_enough_to_fail():
    one = changed(GOOD, "in-2004", HYPERGRAPH, copies=66, cpu_s=4, replication=1.07)
    found = findings.as_good_as_hypergraphs(one, None)
    assert met(found) == [True, False, False]
    assert "in-2004 1.52" in found.seen
    assert met(findings.faster_than_hypergraphs(one, None)) == [False, True, False]
    assert met(findings.beats_powergraph(changed(GOOD, "cant", IN_ORDER, copies=110))) == [
        True, True, False,
    ]  # fmt: skip
    assert met(findings.beats_vertex_blocks(changed(GOOD, "cant", WVP_GREEDY, copies=99))) == [
        False, True, True,
    ]  # fmt: skip


@pytest.mark.parametrize("absent", [None, ABSENT])
def test_criteria_fail_for_their_counter_examples(absent):
    real = [row | {"is_real": True, "k": 9} for row in GOOD]
    found = findings.of_figure_4(real, absent, real, [], "no web")
    assert len(found) == 7
    for one in found:
        if one.verdict != "not tried":
            assert one.counter.verdict in ("partly", "not held"), one.where
    assert found[-1].verdict == "held"
    assert findings.of_figure_4(BAD, absent, [], [], "no web")[-1].verdict == "not held"
    if absent is None:
        assert "circuit5M in fewer blocks: k = 9 0.99" in found[0].seen


def test_verdicts_on_degrees_can_fail():
    best = changed(GOOD, "circuit5M", SPAC, copied_degree=90)
    assert met(findings.cuts_higher_degrees(changed(best, "circuit5M", SPAC, copies=10))) == [
        True, True,
    ]  # fmt: skip
    lower = changed(changed(GOOD, "scircuit", SPAC, copied_degree=7), "cant", SPAC, copies=10)
    assert met(findings.cuts_higher_degrees(lower))[0] is False
    other = changed(changed(GOOD, "cant", SPAC, copies=10), "in-2004", SPAC, copied_degree=90)
    assert met(findings.cuts_higher_degrees(other)) == [True, False]


def test_verdicts_on_scaling_can_fail():
    def sizes(small, large, noise=1.0):
        return [
            {"matrix": str(entries), "method": name, "run": run, "entries": entries, "cpu_s": cpu}
            for entries, ratio in ((10, small), (90, large)) for run in range(3)
            for name, cpu in ((SPAC, 1.0), (HYPERGRAPH, ratio * noise**run))
        ]  # fmt: skip

    assert met(findings.scales_better(sizes(4, 9), None)) == [True]
    assert met(findings.scales_better(sizes(9, 4), None)) == [False]
    assert findings.scales_better(sizes(4, 9, 1.5), None).verdict == "not tried"


def test_without_mt_kahypar_what_needs_it_is_not_tried_and_the_reason_is_given():
    for make in (
        findings.as_good_as_hypergraphs,
        findings.faster_than_hypergraphs,
        findings.scales_better,
    ):
        found = make(GOOD, ABSENT)
        assert (found.verdict, found.lacking) == ("not tried", ABSENT)
    assert met(findings.own_presets(GOOD, ABSENT)) == [True] * 2


def test_only_the_papers_own_matrices_lack_nothing():
    real = rows_of(is_real=True, greedy=(9, 1, 1), order=(9, 1, 1), random=(9, 1, 1),
                   spac=(1, 1, 1))  # fmt: skip
    assert findings.beats_powergraph(real).lacking == ""
    some = changed(GOOD, "cant", SPAC, is_real=True)
    assert "stand-ins" in findings.beats_powergraph(some).lacking
    assert findings.beats_powergraph(some).tried.startswith("cant, and stand-ins")


def test_verdicts_on_density_can_fail():
    def density(gains, noise=0.0):
        return [
            {"graph": graph, "fixed": 0, "degree": 4 * 2**i, "largest_degree": 9, "run": run,
             "gain": gain + run * noise}
            for graph, own in gains.items() for i, gain in enumerate(own) for run in range(3)
        ]  # fmt: skip

    rising = density({"uniform": [1.0, 1.1, 1.2], "power law": [1.0, 1.3, 1.4]})
    assert met(findings.gains_with_density(rising)) == [True] * 4
    mixed = density({"uniform": [1.0, 1.1, 1.05], "power law": [1.0, 1.3, 1.3]})
    assert met(findings.gains_with_density(mixed)) == [True, False, True, False]
    assert met(findings.gains_with_density(density({"uniform": [1.0, 1.1], "power law": [1.0, 1.1]},
                                                   0.05))) == [None] * 4  # fmt: skip
    falling = density({"uniform": [1.1, 1.0]}) + density({"power law": [1.0, 1.0]})
    assert met(findings.gains_with_density(falling)) == [False] * 4


def test_ratios_are_of_the_same_run_and_of_what_can_be_told_apart():
    rows = [{"matrix": "m", "method": name, "run": run, "cpu_s": seconds}
            for name, own in ((SPAC, (1.0, 2.0, 0.0)), (PATH, (2.0, 8.0, 0.02)))
            for run, seconds in enumerate(own)]  # fmt: skip
    found = findings.ratios(rows, PATH, SPAC, "cpu_s")["m"]
    assert found.value == pytest.approx((2 * 4 * 2) ** (1 / 3))
