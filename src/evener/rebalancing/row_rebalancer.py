"""RowRebalancer: a Rebalancer for rows of equal cost, of which each rank has a contiguous range.

    balancer = RowRebalancer(sizes, bytes_per_row=8 * n)
    new = balancer.observe(times)       # after each iteration: new sizes, or None
    balancer.moved(seconds)             # report how long the move took

evener.running.apps.jacobi accepts a RowRebalancer instead of a Balancer. A Balancer evens out the
times regardless of the cost of moving; a RowRebalancer moves rows only if that pays, by the rule of
regret.py.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import numpy as np
import numpy.typing as npt

from evener.arrays import FloatArray, as_integers
from evener.errors import InputError
from evener.platforms.models.fitting import Constant, SpeedModel
from evener.platforms.models.piecewise import Piecewise
from evener.platforms.platform import Link
from evener.rebalancing.decider import Decider, Decision, LoadState, Proposal, checked_times
from evener.rebalancing.decision_log import Recorder
from evener.rebalancing.learning import knots
from evener.rebalancing.regret import NOISE_FLOOR
from evener.running.spreading import starts_of
from evener.sizing.solving import solve_sizes

Whole = npt.NDArray[np.int64]


class RowRebalancer:
    """Returns new sizes after an iteration if moving rows pays.

    sizes (k,): number of rows of each rank. models: k speed models [rows/s]; if empty, speeds are
    computed from the first times. bytes_per_row [B] and link: used to predict the time of moving
    rows. rebuild_seconds: assumed time of a move in addition to the transfer, until `moved` reports
    the real time; None: the time of the first iteration. noise_floor: savings up to this fraction
    of an iteration are noise. log: path of the decision log. New sizes have at least one row per
    rank.

    Attributes: `sizes`; `last`, the latest Decision; `moves`, the number of moves. Raises
    InputError for sizes and models that do not match.
    """

    def __init__(
        self,
        sizes: npt.ArrayLike,
        models: Sequence[SpeedModel] = (),
        *,
        bytes_per_row: float = 0.0,
        link: Link | None = None,
        rebuild_seconds: float | None = None,
        noise_floor: float = NOISE_FLOOR,
        log: str | Path | None = None,
    ) -> None:
        self.sizes: Whole = as_integers(sizes, "sizes").copy()
        k = self.sizes.size
        if k == 0 or self.sizes.min() < 0 or self.sizes.sum() < k:
            raise InputError(
                "sizes must not be negative, and there must be at least one row per rank"
            )
        if models and len(models) != k:
            raise InputError(f"there are {len(models)} models for {k} sizes")
        if not (np.isfinite(bytes_per_row) and bytes_per_row >= 0):
            raise InputError(
                f"bytes_per_row must be finite and not negative, but is {bytes_per_row}"
            )
        self._models, self._link = list(models), link or Link()
        self._bytes, self._rebuild, self._floor = float(bytes_per_row), rebuild_seconds, noise_floor
        self._log, self._found = log, self.sizes
        self._recorder: Recorder | None = None
        if models:
            self._begun()

    @property
    def moves(self) -> int:
        """Number of moves so far."""
        return self._recorder.moves if self._recorder else 0

    @property
    def last(self) -> Decision | None:
        """The latest decision, or None if there is none yet."""
        return self._recorder.last if self._recorder else None

    def observe(self, times: Sequence[float | None] | FloatArray) -> Whole | None:
        """Record the times (k,) [s] of an iteration; return new sizes if moving pays, else None.

        A time of None, NaN or infinity means that the rank has no time. Raises InputError for a
        wrong number of times and for negative ones, and if there are no models and the first times
        are incomplete.
        """
        given = checked_times(times, self.sizes.size)
        if not self._models:
            self._learn_first(given)
        recorder = self._recorder or self._begun()
        if recorder.decide(given, self._propose).move is None:
            return None
        self.sizes = self._found
        recorder.carry_out(self._state())
        return self.sizes.copy()

    def moved(self, seconds: float) -> None:
        """Report the total seconds of the last move, from which the price of later moves is learnt.

        Raises InputError if there was no move, and for an invalid time.
        """
        if self._recorder is None:
            raise InputError("moved() was called without a move")
        self._recorder.moved(seconds)

    def close(self) -> None:
        """Close the decision log."""
        if self._recorder is not None:
            self._recorder.close()

    def _learn_first(self, times: FloatArray) -> None:
        known = (self.sizes == 0) | (times > 0)
        if not known.all():
            rank = int(np.argmin(known))
            raise InputError(
                f"rank {rank} has no time in the first iteration, and no model",
                hint="Give models, or begin with an iteration in which every rank has a time.",
            )
        rates = np.where(self.sizes > 0, self.sizes / np.where(self.sizes > 0, times, 1.0), np.nan)
        rates = np.where(np.isnan(rates), np.nanmean(rates), rates)
        self._models = [Constant(float(rate)) for rate in rates]

    def _begun(self) -> Recorder:
        state = self._state()
        rebuild = float(state.compute.max()) if self._rebuild is None else self._rebuild
        names = [f"rank{i}" for i in range(self.sizes.size)]
        more = {"rows": int(self.sizes.sum())}
        self._recorder = Recorder(Decider(state, rebuild, self._floor), self._log, names, more)
        return self._recorder

    def _state(self) -> LoadState:
        loads, k = self.sizes.astype(np.float64), self.sizes.size
        pairs = list(zip(self._models, loads.tolist(), strict=True))
        even = float(loads.sum()) / k
        return LoadState(
            loads=loads,
            compute=np.array([float(model.time(load)) if load else 0.0 for model, load in pairs]),
            other=np.zeros(k),
            idle_rates=np.array([float(model.speed(even)) for model, _ in pairs]),
            high=np.array([model.capacity for model, _ in pairs]),
            per_unit=np.full(k, self._link.beta * self._bytes),
        )

    def _propose(self, slowness: FloatArray, loads: FloatArray) -> list[Proposal]:
        del loads  # they assume constant speeds, but models may be curves
        pairs = zip(self._models, slowness.tolist(), strict=True)
        models = [_slowed(model, times, float(self.sizes.sum())) for model, times in pairs]
        found = solve_sizes(models, int(self.sizes.sum()), low=1)
        self._found = np.asarray(found.sizes, np.int64)
        rows, seconds = _transfer(self.sizes, self._found, self._bytes, self._link)
        return [Proposal("sizes", found.makespan, seconds, rows, str(self._found.tolist()))]


def _slowed(model: SpeedModel, times: float, most: float) -> SpeedModel:
    """Return the model with its time multiplied by `times` at any load up to `most` [units]."""
    if isinstance(model, Constant):
        return Constant(model.rate / times, model.capacity)
    loads, speeds = knots(model, min(most, model.capacity))
    return Piecewise(np.array(loads), np.array(speeds) / times, model.capacity)


def _transfer(old: Whole, new: Whole, row: float, link: Link) -> tuple[float, float]:
    """Return the rows that change rank, and the seconds until the busiest rank is done."""
    before, after = starts_of(old), starts_of(new)
    low = np.maximum(before[:-1, None], after[None, :-1])
    both = np.maximum(np.minimum(before[1:, None], after[None, 1:]) - low, 0)
    np.fill_diagonal(both, 0)
    each = np.where(both > 0, link.alpha + link.beta * row * both, 0.0)
    return float(both.sum()), float((each.sum(axis=0) + each.sum(axis=1)).max())
