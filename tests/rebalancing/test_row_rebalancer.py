"""A RowRebalancer finds the sizes for what ranks do now, with models or without, and can replay."""

import numpy as np
import pytest

from evener.errors import InputError
from evener.platforms.models.fitting import Constant, Piecewise
from evener.platforms.platform import Link
from evener.rebalancing.decision_log import read_decisions, replay
from evener.rebalancing.row_rebalancer import RowRebalancer
from evener.running.apps import jacobi
from evener.running.comm import run_threads

SPEEDS = np.array([100.0, 100.0, 300.0])


def played(rows, slow, steps):
    for _ in range(steps):
        rows.observe(rows.sizes / SPEEDS * slow)


@pytest.mark.parametrize("models", [(), [Constant(float(s)) for s in SPEEDS]])
def test_sizes_follow_what_ranks_do(models, tmp_path):
    log = tmp_path / "d.jsonl"
    rows = RowRebalancer([100, 100, 100], models, bytes_per_row=8, link=Link(1e-6, 1e-9), log=log)
    played(rows, 1.0, 8)
    assert rows.sizes.tolist() == [60, 60, 180]
    rows.moved(0.01)
    played(rows, np.array([1.0, 1.0, 3.0]), 12)
    assert rows.sizes.tolist() == [100, 100, 100]
    assert 2 <= rows.moves <= 5  # cheap ones, so some while windows fill
    rows.close()
    assert replay(read_decisions(log)) == (20, rows.moves, [])


def test_a_cliff_in_a_model_is_kept_clear_of():
    bent = Piecewise(np.array([1.0, 100, 101, 400]), np.array([200.0, 200, 10, 10]))
    rows = RowRebalancer([50, 250], [bent, Constant(100.0)])
    for _ in range(8):  # the second takes three times as long as its model says
        rows.observe([float(bent.time(float(rows.sizes[0]))), 3 * rows.sizes[1] / 100])
    assert rows.sizes.tolist() == [100, 200]


def test_jacobi_moves_rows_and_tells_what_that_took():
    rows, sizes = jacobi.dominant_rows(61), [21, 20, 20]
    balancers = []

    class Slow(RowRebalancer):
        def observe(self, times):
            return super().observe(np.array([1e-3, 1e-3, 4e-3]) * self.sizes / 20)

    def work(comm):
        own = Slow(sizes, [Constant(2e4)] * 3, rebuild_seconds=1e-3)
        balancers.append(own)
        return jacobi.run(comm, rows, sizes, own)

    result = run_threads(3, work)[0]
    assert jacobi.verify(*rows(0, 61), result)
    assert result.moved > 0
    asked = [own for own in balancers if own.moves]
    assert len(asked) == 1
    assert asked[0].sizes == pytest.approx([27, 27, 7], abs=1)


def test_what_does_not_fit_is_refused():
    for bad in (
        lambda: RowRebalancer([]), lambda: RowRebalancer([1, 0]), lambda: RowRebalancer([-1, 3]),
        lambda: RowRebalancer([3, 3], [Constant(1.0)]),
        lambda: RowRebalancer([3], bytes_per_row=-1),
        lambda: RowRebalancer([3, 3]).observe([1.0, None]), lambda: RowRebalancer([3]).moved(1.0),
        lambda: RowRebalancer([3, 3]).observe([1.0]),
    ):  # fmt: skip
        with pytest.raises(InputError):
            bad()
