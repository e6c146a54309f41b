"""Recorder: a Decider whose every decision becomes a line of a file; both Rebalancers have one."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from evener.arrays import FloatArray
from evener.rebalancing.decider import Decider, Decision, Propose, decision_line
from evener.rebalancing.decision_log import Diary
from evener.rebalancing.state import Line, LoadState


class Recorder:
    """Decides, and keeps what was told and decided. Raises InputError where it cannot be written.

    log: the file, or None. names: of the devices; more: what else its first line is to hold.
    Read: `decider`; `last`, the latest Decision; `moves`, how many there were.
    """

    def __init__(
        self, decider: Decider, log: str | Path | None, names: Sequence[str], more: Line
    ) -> None:
        self.decider, self.moves = decider, 0
        self.last: Decision | None = None
        self._line: Line = {}
        head = {"names": list(names), "state": decider.state.as_line(), "rebuild": decider.rebuild,
                "noise_floor": decider.noise_floor, **more}  # fmt: skip
        self._diary = Diary(log, head)

    def decide(
        self,
        times: FloatArray,
        propose: Propose,
        changed: LoadState | None = None,
        refused: Sequence[str] = (),
    ) -> Decision:
        """Decide (Decider.decide); where data is to move, `carry_out` follows.

        changed: what holds from this iteration on. refused: why some proposals were not made, read
        when all were asked for.
        """
        if changed is not None:
            self.decider.change(changed)
        decision = self.last = self.decider.decide(times, propose)
        told = None if changed is None else changed.as_line()
        self._line = decision_line(self.decider.count, times, decision, told)
        if refused:
            self._line["refused"] = list(refused)
        if decision.move is None:
            self._diary.add(self._line)
        return decision

    def carry_out(self, state: LoadState) -> None:
        """Data has moved as decided; `state` is what holds now."""
        assert self.last is not None
        assert self.last.move is not None
        self.decider.moved(self.last.proposals[self.last.move], state)
        self.moves += 1
        self._diary.add(self._line | {"after": state.as_line()})

    def moved(self, seconds: float) -> None:
        """Take in how long the last move took as a whole [s]."""
        self.decider.measured(float(seconds))
        self._diary.add({"took": float(seconds)})

    def close(self) -> None:
        """Close the file."""
        self._diary.close()
