"""Regret moves when what was lost has reached the price; noise and short spikes move nothing."""

import numpy as np
import pytest

from benchmarks.rebalancing_drifts import KINDS, DriftingSpeeds, drift
from benchmarks.rebalancing_rules import RULES, MoveCost, balanced, offline_optimum, simulate
from evener.errors import UsageError
from evener.rebalancing.regret import AHEAD, ENOUGH, LAST, LONG, Price, Regret, Watch
from tests.choosing import slow_but


def pricing_of(shares, cost):
    def pricing(slowness):
        new = balanced(slowness)
        now, then = (float((own * slowness).max()) for own in (shares, new))
        return Price(now, then, cost, (shares, new))

    return pricing


@pytest.mark.parametrize("cost", [2.0, 10.0, 40.0])
def test_moves_when_the_loss_has_reached_the_price(cost):
    # Two halves; one device takes twice as long: 1 s against 2/3, so 1/3 s is lost each time.
    regret, pricing = Regret(2), pricing_of(np.array([0.5, 0.5]), cost)
    for _ in range(60):
        assert not regret.judge(np.ones(2), pricing).moves
    waited = 1
    while not regret.judge(np.array([2.0, 1.0]), pricing).moves:
        waited += 1
    assert waited == pytest.approx(ENOUGH * cost * 3, abs=4)
    assert regret.lasted <= waited
    regret.moved(1.0, (np.ones(2), np.ones(2)))
    assert regret.regret == 0


def test_noise_and_spikes_that_cost_less_than_a_move_move_nothing():
    rng = np.random.default_rng(4)
    regret, pricing = Regret(8), pricing_of(np.full(8, 1 / 8), 2.0)
    for t in range(600):
        slowness = np.exp(rng.normal(0, 0.05, 8))
        slowness[3] *= 3 if t % 100 < 4 else 1
        assert not regret.judge(slowness, pricing).moves


def test_a_mean_begins_anew_where_a_device_changes_and_only_there():
    rng = np.random.default_rng(5)
    watch = Watch(2)
    times = np.exp(rng.normal(0, 0.05, (200, 2)))
    times[150:, 1] *= 1.7
    for row in times[: 150 + LAST]:
        watch.see(row)
    recent = watch.recent(LONG)
    assert recent[0] == pytest.approx(times[120 + LAST : 150 + LAST, 0].mean())
    assert recent[1] == pytest.approx(times[150 : 150 + LAST, 1].mean())
    assert watch.scatter == pytest.approx(0.05, rel=0.5)


def test_what_begins_slowly_is_left_out_as_soon_as_there_is_more():
    watch = Watch(2)
    seen = np.array([[9.0, 1.0], [3.0, 1.0], [1.0, 1.0], [1.2, 1.0]])
    means = []
    for row in seen:
        watch.see(row)
        means.append(watch.recent(LONG)[0])
    assert means == pytest.approx([9.0, 3.0, 1.0, 1.1])


def test_a_trend_goes_on_and_a_step_does_not():
    watch = Watch(3)
    for t in range(200):
        watch.see(np.array([1.0, 1.004**t, 1.5 if t > 120 else 1.0]))
    now, ahead = watch.recent(LONG), watch.ahead(40)
    assert ahead[[0, 2]] == pytest.approx(now[[0, 2]])
    assert np.log(ahead[1] / now[1]) == pytest.approx(20 * np.log(1.004), rel=0.01)
    assert np.log(watch.ahead(1e6)[1] / now[1]) == pytest.approx(AHEAD)


def test_a_silent_device_is_as_it_was():
    watch = Watch(2)
    for seen in (2.0, np.nan, np.inf, -1.0, 0.0):
        watch.see(np.array([1.0, seen]))
    assert watch.recent(LONG).tolist() == [1.0, 2.0]
    assert watch.missing.tolist() == [0, 4]


def slow_best(seconds, cost, windows, step):
    """All sequences of moves, one by one."""
    n = len(seconds)

    def rest(t, shares):
        if t == n:
            return 0.0
        options = [(shares, 0.0)]
        if t:
            ends = [t + max(w // step, 1) * step for w in windows]
            news = [balanced(seconds[t : min(end, n)].mean(axis=0)) for end in ends]
            options += [(new, float(cost.of(shares, new))) for new in news]
        run = seconds[t : t + step]
        return min(c + (run * x).max(axis=1).sum() + rest(t + step, x) for x, c in options)

    return rest(0, balanced(seconds[0]))


@pytest.mark.parametrize("seed", range(6))
def test_hindsight_is_the_best_of_all_sequences(seed):
    rng = np.random.default_rng(seed)
    seconds = np.exp(rng.normal(0, 0.7, (14, 3)))
    cost = MoveCost(*rng.uniform(0, 1, 2))
    found = offline_optimum(DriftingSpeeds("", seconds, seconds), cost, windows=(2, 6), step=2)
    assert found == pytest.approx(slow_best(seconds, cost, (2, 6), 2))


@pytest.mark.parametrize("kind", slow_but(KINDS))
def test_no_rule_beats_hindsight_by_much_and_ours_never_loses_its_head(kind):
    trace, cost = drift(kind, 99, k=6, n=600), MoveCost(10, 20)
    best = offline_optimum(trace, cost)
    seconds = {rule: simulate(trace, cost, rule).seconds for rule in RULES}
    assert min(seconds.values()) > 0.97 * best  # it moves every ten iterations only
    assert seconds["regret"] < 1.4 * best
    assert seconds["regret"] == simulate(trace, cost, "regret").seconds


def test_unknown_names_are_refused():
    with pytest.raises(UsageError, match="no drift"):
        drift("tides", 1)
    with pytest.raises(UsageError, match="no rule"):
        simulate(drift("steps", 1, k=2, n=10), MoveCost(1, 1), "luck")
    with pytest.raises(UsageError, match="multiple"):
        offline_optimum(drift("steps", 1, k=2, n=11), MoveCost(1, 1))
