"""RankRecorder: decisions that rank 0 takes and logs, and that all ranks carry out.

Ranks may run on processors that round differently. If each rank decided by itself, one rank might
move data while another does not.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from evener.arrays import FloatArray
from evener.rebalancing.decider import (
    ONE_ITERATION,
    Decision,
    IterationSpan,
    LoadState,
    Propose,
)
from evener.rebalancing.decision_log import Recorder
from evener.running.comm import Comm
from evener.sliced.gathering import agreed


class RankRecorder:
    """Gives all ranks access to the Recorder of rank 0; attributes are equal on all ranks.

    make: returns the Recorder; only rank 0 calls it, but its exceptions are raised on all ranks.
    """

    def __init__(self, comm: Comm, make: Callable[[], Recorder]) -> None:
        self._comm = comm
        self._recorder = agreed(comm, lambda: make() if comm.rank == 0 else None)
        self.moves, self.observations = 0, 0
        self.last: Decision | None = None
        self.rebuild_seconds = self._told_rebuild()

    def decide(
        self,
        times: FloatArray,
        propose: Propose,
        changed: LoadState | None = None,
        refused: Sequence[str] = (),
        span: IterationSpan = ONE_ITERATION,
    ) -> Decision:
        """Like Recorder.decide, but rank 0 decides for all ranks; all ranks call `propose`."""
        comm, recorder = self._comm, self._recorder
        message: Any = None
        if recorder is not None:

            def asked(slowness: FloatArray, loads: FloatArray) -> Any:
                comm.bcast((slowness, loads))
                return propose(slowness, loads)

            message = comm.bcast(recorder.decide(times, asked, changed, refused, span))
        else:
            while not isinstance(message := comm.bcast(None), Decision):
                propose(*message)
        decision: Decision = message
        self.last = decision
        self.observations += 1
        return decision

    def carry_out(self, state: LoadState) -> None:
        """Record that the move decided last was carried out; `state` is the state after it."""
        agreed(self._comm, lambda: self._at_root(lambda root: root.carry_out(state)))
        self.moves += 1

    def moved(self, seconds: float) -> None:
        """Record the total seconds that the last move took."""
        agreed(self._comm, lambda: self._at_root(lambda root: root.moved(seconds)))
        self.rebuild_seconds = self._told_rebuild()

    def close(self) -> None:
        """Close the log."""
        self._at_root(Recorder.close)

    def _at_root(self, call: Callable[[Recorder], None]) -> None:
        if self._recorder is not None:
            call(self._recorder)

    def _told_rebuild(self) -> float:
        recorder = self._recorder
        return self._comm.bcast(0.0 if recorder is None else recorder.rebuild_seconds)
