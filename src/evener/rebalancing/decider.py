"""Decider: from the times of an iteration to "stay" or "move", and the line that says why.

What is moved is not its business: it knows each device's load, what its model says that takes, and
what else the device does. Whoever holds the data proposes what could be moved and what that would
bring; the best proposal is taken, or none. Everything it is told is in the line, so that
decisions can be made again from their file alone (replaying.py).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from evener.arrays import FloatArray
from evener.errors import InputError
from evener.rebalancing.regret import ENOUGH, NOISE_FLOOR, Price, Regret
from evener.rebalancing.state import LoadState
from evener.sizing.equal_finish import together

BEYOND = 1e30  # seconds that no iteration takes: as good as none told
LEARNT = 0.5  # of a measured move's excess over what its bytes take: the newest counts so much


@dataclass(frozen=True)
class Proposal:
    """One way to move: what an iteration takes after it, and what the data takes to travel [s].

    kind: how it was found. data: a digest of where everything would be. moved [units].
    """

    kind: str
    seconds: float
    transfer: float
    moved: float
    data: str = ""


@dataclass(frozen=True, eq=False)
class Decision:
    """What was decided after an iteration.

    move: the proposal taken, or None. now [s]: what an iteration takes as things are; saving [s per
    iteration] that a move is thought to bring; regret, cost [s]: see regret.py. slowness (k,).
    silent (k,): for how many iterations each device has told nothing.
    """

    move: int | None
    proposals: tuple[Proposal, ...]
    now: float
    saving: float
    regret: float
    cost: float
    slowness: FloatArray
    silent: npt.NDArray[np.int64]


# slowness (k,), loads aimed at (k,) [units] -> what could be done.
Propose = Callable[[FloatArray, FloatArray], Sequence[Proposal]]


class Decider:
    """See the head of this file. rebuild [s]: what a move takes beside its bytes, until measured.

    Read: `rebuild`, as learnt; `state`; `noise_floor`; `count`, iterations so far.
    """

    def __init__(self, state: LoadState, rebuild: float, noise_floor: float = NOISE_FLOOR) -> None:
        if not (np.isfinite(rebuild) and rebuild >= 0):
            raise InputError(f"rebuild seconds must be finite and not negative, not {rebuild}")
        if not 0 <= noise_floor < 1:
            raise InputError(f"the noise floor must lie in [0, 1), not {noise_floor}")
        self.state, self.rebuild, self.noise_floor = state, float(rebuild), noise_floor
        self._regret = Regret(state.k, noise_floor)
        self._was_measured = False
        self._reach = 1.0  # seconds of what was last proposed, by those of loads cut anywhere
        self._scale = 1.0  # the same of what the data takes to travel
        self._taken: Proposal | None = None

    @property
    def count(self) -> int:
        """Iterations observed."""
        return self._regret.watch.count

    def decide(self, times: FloatArray, propose: Propose) -> Decision:
        """Take in times (k,) [s], NaN where a device tells none, and decide.

        propose: asked only where regret has reached the estimated cost.
        """
        verdict = self._regret.judge(self.state.slowness(times), self._estimate)
        price, proposals, move = verdict.price, tuple[Proposal, ...](), None
        if verdict.moves:
            loads, _ = self._aim(verdict.slowness)
            proposals = tuple(propose(verdict.slowness, loads))
            move = self._best(proposals, price, verdict.regret)
            self._correct(proposals, price, verdict.slowness, move)
        cost = price.cost if move is None else self._cost(proposals[move])
        saving = verdict.saving if move is None else price.now - proposals[move].seconds
        silent = self._regret.watch.missing
        return Decision(
            move, proposals, price.now, saving, verdict.regret, cost, verdict.slowness, silent
        )

    def change(self, state: LoadState) -> None:
        """Other loads, through a move or changed weights."""
        self.state = state

    def moved(self, proposal: Proposal, state: LoadState) -> None:
        """Data is elsewhere now."""
        self.state, self._taken = state, proposal
        self._reach = self._scale = 1.0
        self._regret.moved()

    def measured(self, seconds: float) -> None:
        """Learn what the last move took as a whole [s]. InputError before any, or for no time."""
        if self._taken is None:
            raise InputError("nothing has moved whose seconds could be told")
        if not (np.isfinite(seconds) and seconds >= 0):
            raise InputError(f"a move's seconds must be finite and not negative, not {seconds}")
        excess = max(seconds - self._taken.transfer, 0.0)
        weight = LEARNT if self._was_measured else 1.0
        self.rebuild += weight * (excess - self.rebuild)
        self._was_measured = True

    def _estimate(self, slowness: FloatArray) -> Price:
        state = self.state
        loads, seconds = self._aim(slowness)
        now = float((state.compute * slowness + state.other).max())
        transfer = float((np.abs(loads - state.loads) * state.per_unit).max())
        return Price(now, seconds * self._reach, transfer * self._scale + self.rebuild)

    def _aim(self, slowness: FloatArray) -> tuple[FloatArray, float]:
        state = self.state
        return together(
            float(state.loads.sum()), state.rates(slowness), start=state.other,
            low=np.zeros(state.k), high=state.high,
        )  # fmt: skip

    def _cost(self, proposal: Proposal) -> float:
        return proposal.transfer + self.rebuild

    def _best(self, proposals: Sequence[Proposal], price: Price, regret: float) -> int | None:
        """Index of what brings most if the imbalance lasts as long again as it has, or None."""
        lasted, floor = self._regret.lasted, self.noise_floor
        best, most = None, -np.inf
        for i, one in enumerate(proposals):
            saving, cost = price.now - one.seconds, self._cost(one)
            gain = saving * lasted - cost
            if saving > floor * one.seconds and regret >= ENOUGH * cost and gain > most:
                best, most = i, gain
        return best

    def _correct(
        self,
        proposals: Sequence[Proposal],
        price: Price,
        slowness: FloatArray,
        move: int | None,
    ) -> None:
        """Where nothing was good enough, estimate like what was proposed, until data moves."""
        if move is not None:
            return
        loads, seconds = self._aim(slowness)
        if not proposals:  # there is nothing better than what is
            self._reach = max(price.now / seconds, 1.0)
            return
        one = min(proposals, key=lambda p: p.seconds)
        self._reach = max(one.seconds / seconds, 1.0)
        thought = float((np.abs(loads - self.state.loads) * self.state.per_unit).max())
        if thought > 0:
            self._scale = max(one.transfer / thought, 1.0)


def checked_times(times: Sequence[float | None] | FloatArray, k: int) -> FloatArray:
    """Return (k,) times [s], NaN where a device has told none: None, NaN, infinity, 1e30 and more.

    Raises InputError for another number of them, negative ones, and what is no number.
    """
    try:
        given = np.array([np.nan if x is None else float(x) for x in times])
    except (OverflowError, TypeError, ValueError) as error:
        raise InputError(f"times must be numbers [s], or None: {error}") from error
    if given.shape != (k,):
        raise InputError(f"{given.size} times for {k} devices")
    if (given < 0).any():
        raise InputError(f"the time of device {int(np.argmax(given < 0))} is negative")
    return np.where(given < BEYOND, given, np.nan)
