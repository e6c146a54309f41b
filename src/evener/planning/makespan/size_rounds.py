"""Rounds of sizes: make blocks, measure their halos, adapt the sizes, and repeat."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from evener.arrays import BoolArray, FloatArray, Part
from evener.planning.device_sets.set_loads import EqualFinish, ExchangeLaw
from evener.planning.makespan.candidates import Candidate, CandidateMaker, fastest
from evener.planning.makespan.improvements import DeviceSwaps
from evener.planning.makespan.problem import MakespanProblem

SLAB_POWER = 0.0  # of the load, with which a slab's border grows: it does not
# Share of the way from the present sizes to those computed that a round goes: halos of a new
# partition differ from the law's, and full steps overshoot. Plans with other values, of MIN_GAIN
# too, 2026-11: docs/results/README.md, Seconds.
STEP = 0.7
MIN_GAIN = 0.002  # relative, in seconds: a round that gains less is the last
MIN_VERTICES = 2.0  # minimum load of a device in a round, in mean vertices

MakeBlocks = Callable[[FloatArray, int], Part]  # (loads (k,) [units], number of the round) -> part


@dataclass(frozen=True, eq=False)
class SizeRounds:
    """Makes blocks in rounds.

    swaps: swaps of blocks among identical devices; None: no swaps.
    """

    maker: CandidateMaker
    equal_finish: EqualFinish
    swaps: DeviceSwaps | None

    def run(
        self, name: str, loads: FloatArray, turns: int, power: float, make: MakeBlocks
    ) -> list[Candidate]:
        """Return the candidates of up to `turns` rounds that begin with loads (k,) [units].

        power: halos are assumed to grow as load**power. Each device with a load keeps at least the
        load of two average vertices. Rounds end early if a round gains next to nothing, or if its
        blocks cannot be kept within limits.
        """
        problem, tried = self.maker.problem, list[Candidate]()
        chosen, least = loads > 0, np.inf
        for turn in range(turns):
            aim = self._some(loads, chosen)
            now = self._candidates(f"{name}, sizes {turn + 1}", make(aim, turn), aim)
            tried += now
            last = turn + 1 == turns or chosen.sum() == 1
            if not now or last or fastest(now).seconds > least * (1 - MIN_GAIN):
                break
            one = fastest(now)
            least = one.seconds
            law = law_through(one, problem, power)
            asked = self.equal_finish.loads_of(chosen[None], law).loads[0]
            loads = loads + STEP * (asked - loads)
        return tried

    def _candidates(self, name: str, part: Part, aim: FloatArray) -> list[Candidate]:
        """Return the blocks as a candidate, and a second one if swapping devices helps."""
        one = self.maker.make(name, part, aim)
        swapped = None if one is None or self.swaps is None else self.swaps.swapped(one)
        other = None if swapped is None else self.maker.make(f"{name}, placed", swapped, aim)
        return [found for found in (one, other) if found is not None]

    def _some(self, loads: FloatArray, chosen: BoolArray) -> FloatArray:
        """Return loads of at least two average vertices per chosen device, within its capacity."""
        problem = self.maker.problem
        least = MIN_VERTICES * problem.load / problem.graph.n
        kept = np.minimum(np.maximum(loads, least), problem.room)
        return np.where(chosen, kept, 0.0)


def law_through(one: Candidate, problem: MakespanProblem, power: float) -> ExchangeLaw:
    """Return the exchange law that gives the candidate's exchange at the candidate's loads.

    For other loads, the number of messages is unchanged; their bytes, and the vertices at the
    border, grow as load**power.
    """
    quotient, k = one.quotient, problem.platform.k
    spent = one.prediction.communicate
    messages = np.bincount(
        quotient.block, problem.costs.alpha[quotient.block, quotient.other], minlength=k
    )
    messages = np.minimum(messages, spent)
    at_border = quotient.boundary / np.maximum(one.sizes, 1)
    some = one.loads > 0

    def exchange(loads: FloatArray, masks: BoolArray) -> tuple[FloatArray, FloatArray]:
        times = np.where(some, loads / np.where(some, one.loads, 1.0), 0.0)
        grown = np.where(times > 0, times, 1.0) ** power
        seconds = np.where(masks & some, messages + (spent - messages) * grown, 0.0)
        border = at_border * grown / np.where(times > 0, times, 1.0)
        return seconds, np.where(masks & some, np.minimum(border, 1.0), 0.0)

    return exchange
