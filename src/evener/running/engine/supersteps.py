"""One device's part of a run on many: supersteps of its engine, and exchanges between them.

All devices are in the same superstep (BSP, [Guo16]_ section II). What they exchange depends on what
is divided: GhostExchange (ghosts.py) for blocks of vertices, MirrorExchange (mirrors.py) for blocks
of edges. Devices that share memory exchange inside kernels instead (near.py), if vertices are
divided.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from contextlib import nullcontext
from typing import NamedTuple

from evener.running.comm import Comm
from evener.running.engine import atomics_kernels as places
from evener.running.engine import fronts_kernels as frontier
from evener.running.engine.engine import MOST
from evener.running.engine.ghosts import GhostExchange
from evener.running.engine.mirrors import MirrorExchange
from evener.running.engine.near import NearLinks
from evener.running.engine.recording import DeviceRun, StepRecorder
from evener.running.engine.states import RunState
from evener.running.engine.step_counts import DeviceEngine
from evener.running.local_graphs import LocalGraph

Totals = tuple[int, int, int]  # over all devices: active vertices, arcs leaving these, arcs left
# Called after supersteps with their number, how to get the state, and what was recorded; returns
# after how many more supersteps it must be called again, 0 to stop. It may be called earlier.
Keep = Callable[[int, Callable[[], RunState], StepRecorder], int]


class Stretch(NamedTuple):
    """A part of a longer run.

    start: its initial state; None: the beginning of the run. keep: called after supersteps, may
    save the state and stop the run.
    """

    start: RunState | None = None
    keep: Keep | None = None

    @property
    def first(self) -> int:
        """Number of supersteps before this part."""
        return 0 if self.start is None else self.start.step


WHOLE = Stretch()


class SuperstepLoop:
    """Runs a device's engine in the same supersteps as all other devices; every rank creates one.

    comm: one rank per device. local: this device's part. tell: called with the number of supersteps
    done. start: the state of this device's vertices from which the run is continued. keep: see
    Keep; not called after the superstep that ends the program.
    """

    def __init__(
        self,
        comm: Comm,
        local: LocalGraph,
        engine: DeviceEngine,
        tell: Callable[[int], None] | None = None,
        start: RunState | None = None,
        keep: Keep | None = None,
    ) -> None:
        self.local, self.engine = local, engine
        self._start, self._keep = start, keep
        self.steps = StepRecorder(comm, local, tell, 0 if start is None else start.step)
        kind = MirrorExchange if local.divides_edges else GhostExchange
        self.exchange: GhostExchange | MirrorExchange = kind(self.steps, local, engine)

    def run(self, most: int = MOST) -> DeviceRun:
        """Run until the program ends on all devices, or for `most` supersteps. All ranks call."""
        near, schedule = None, self.engine.program.schedule
        # Kernels that exchange can continue from a state only with the dense schedule.
        is_whole = self._keep is None and self._start is None
        if not self.local.divides_edges and (is_whole or schedule == "dense"):
            near = NearLinks.of(self.steps.comm, self.local, self.engine)
        if near is None:
            self.exchange.prepare()
        self.engine.compile()  # kernels that exchange themselves have other types
        with near or nullcontext():
            if self._start is not None:
                self.exchange.restore(self._start)
            self.steps.begin()
            if near is not None:
                if schedule == "frontier":
                    self.engine.control[places.DIRECTION] = frontier.PUSH
                self._run_near(near, most)
            elif schedule == "dense":
                self._run_dense(most)
            elif schedule == "frontier":
                self._run_frontier(most)
            else:
                self._run_to_fixpoint(most)
            values = self.engine.values[: self.local.n_owned]
            if schedule != "dense":
                self.engine.program.refuse_nan(values)
            return self.steps.result(values)

    def _run_near(self, near: NearLinks, most: int) -> None:
        pause = MOST if self._keep is None else 1
        while pause and (left := most - self.steps.done) > 0:
            pause = self._pause() if near.advance(left, self.steps, pause) else 0

    def _run_dense(self, most: int) -> None:
        program, n = self.engine.program, self.local.n_global
        if self._start is None:
            self.engine.advance(0)  # the first values
        for step in range(self.steps.done, most):
            received = self.exchange.dense_superstep(step)
            change = 0.0 if program.halt is None else self.steps.summed(self.engine.change)
            self.steps.end(received)
            if program.halt is not None and program.halts(
                change, step + 1, n, self.engine.parameters
            ):
                return
            if not self._pause():
                return

    def _run_to_fixpoint(self, most: int) -> None:
        """Run schedules bucket and union: in a superstep, each device until nothing changes."""
        for _ in range(self.steps.done, most):
            self._compute()
            received = self.exchange.deliver()
            ended = all(self.steps.gathered(self.engine.has_ended))
            self.steps.end(received)
            if ended or not self._pause():
                return

    def _run_frontier(self, most: int) -> None:
        engine, exchange, last, before = self.engine, self.exchange, None, 0
        if self._start is None:
            engine.advance(0)  # the first values
        else:
            before, last = (self._start.numbers[name] for name in ("before", "direction"))
        exchange.begin()
        totals, has_settled = self._totals(), engine.program.settled is not None
        while self.steps.done < most and totals[0] > 0:
            last = next_direction(last, totals, before, self.local.n_global, has_settled)
            engine.control[places.DIRECTION] = last
            if last == frontier.PULL:
                exchange.send_frontier()
            self._compute()
            received = exchange.deliver()
            before, totals = totals[0], self._totals()
            self.steps.end(received)
            if not self._pause({"left": totals[2], "before": before, "direction": last}):
                return

    def _totals(self) -> Totals:
        length, scouted, left = (
            sum(column) for column in zip(*self.steps.gathered(self.exchange.counts()), strict=True)
        )
        return length, scouted, left

    def _compute(self) -> None:
        """Compute a superstep."""
        self.steps.compute(self.engine, lambda: self.engine.advance(1))

    def _pause(self, numbers: Mapping[str, int] | None = None) -> int:
        """Call `keep` after a superstep; return its answer. numbers: of RunState."""
        if self._keep is None:
            return MOST
        return self._keep(self.steps.done, lambda: self.exchange.state(numbers or {}), self.steps)


def next_direction(last: int | None, totals: Totals, before: int, n: int, has_settled: bool) -> int:
    """Return whether all devices push or pull next.

    last: direction of the last superstep, None before the first. before: number of active vertices
    in that superstep. n: number of vertices of the graph.
    """
    length, scouted, left = totals
    pulls = frontier.pulls_next(
        last == frontier.PULL, length < before, length, n, scouted, left, scouted + left,
        has_settled,
    )  # fmt: skip
    return frontier.PULL if pulls else frontier.PUSH
