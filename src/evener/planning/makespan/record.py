"""The record of a search: the candidates found, the steps that made them, and who made them."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from itertools import count

import numpy as np

from evener.arrays import BoolArray, FloatArray, Part
from evener.errors import InfeasibleError, NotFoundError
from evener.partitioning.registry import Result
from evener.planning.makespan.task import Candidate, Task
from evener.plans import metrics
from evener.plans.partition import Partition
from evener.plans.plan import CUT_STAGE, METIS_STAGE, Stage
from evener.platforms.platform import Platform
from evener.wording import duration

Progress = Callable[[str, float], None]
NAMED = 8  # devices that a remark lists
PLAIN = "minimum-cut plan"
BASELINES = (METIS_STAGE, CUT_STAGE)  # roles of candidates that no plan is slower than


@dataclass(eq=False)
class Record:
    """What was found so far.

    connected: whether blocks are to be in one piece each. alike: by how much, relative, predicted
    times may differ that are taken for equal.
    """

    task: Task
    connected: bool
    alike: float
    progress: Progress
    found: list[Candidate] = field(default_factory=list)
    aims: list[FloatArray] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)
    versions: dict[str, str] = field(default_factory=dict)
    foreign_seconds: float = 0.0

    @property
    def fastest(self) -> Candidate:
        """The candidate of least predicted seconds, the first of several."""
        return min(self.found, key=lambda one: one.seconds)

    @property
    def best(self) -> Candidate:
        """The one that sends least, of those alike to the fastest that send and cut no more.

        Alike is what takes `alike` longer at most, and no longer than METIS and the plan of least
        cut: no prediction is known better, and where it errs, values sent are what costs.
        """
        fastest = self.fastest
        limit = min(
            [(1 + self.alike) * fastest.seconds, *(b.seconds for b in self.baselines.values())]
        )
        alike = [
            one for one in self.found
            if one.seconds <= limit and one.sent <= fastest.sent and one.cut <= fastest.cut
        ]  # fmt: skip
        return min(alike, key=lambda one: (one.sent, one.seconds), default=fastest)

    @property
    def baselines(self) -> dict[str, Candidate]:
        """The fastest candidate of each of BASELINES that was found."""
        own = {role: [one for one in self.found if one.role == role] for role in BASELINES}
        return {role: min(some, key=lambda one: one.seconds) for role, some in own.items() if some}

    @property
    def stages(self) -> tuple[Stage, ...]:
        """Every candidate as a step of a plan; of each role, the fastest alone has it."""
        chosen = self.baselines
        return tuple(
            replace(one.stage(aim), role=_role(one, chosen))
            for one, aim in zip(self.found, self.aims, strict=True)
        )

    def add(self, name: str, part: Part, aim: FloatArray, role: str = "") -> Candidate | None:
        """Judge blocks, their limits enforced, if they can be; aim (k,) [units]: their targets.

        role: of a Stage, or none. Where a candidate has that name already, the new one's is
        numbered.
        """
        known = {one.name for one in self.found}
        if name in known:
            name = next(new for i in count(2) if (new := f"{name} ({i})") not in known)
        try:
            candidate = self.task.judged(name, self.task.kept(part, self.connected), role)
        except (InfeasibleError, NotFoundError):
            return None
        self.found.append(candidate)
        self.aims.append(aim)
        above = candidate.seconds / candidate.prediction.bound
        done = 0.97 * (1 - 0.9 ** len(self.found))
        self.progress(f"{name}: {duration(candidate.seconds)}, {above:.2f}x the lower bound", done)
        return candidate

    def made(self, result: Result) -> Result:
        """Take note of who made blocks, and at what price."""
        self.versions[result.tool] = result.version
        if result.tool.startswith("metis"):
            self.foreign_seconds += result.cpu_seconds
        return result

    def remarks(self, best: Candidate) -> list[str]:
        """Say which devices are left out, and which blocks are in pieces that were not to be."""
        task, remarks = self.task, list(self.notes)
        if not best.used.all():
            unused = _named(task.platform, ~best.used)
            remarks.append(f"Unused (slower with them): {unused}")
        if self.connected:
            partition = Partition(best.part, task.platform.k)
            pieces = metrics.block_components(task.weighted, partition) > 1
            if pieces.any():
                names = _named(task.platform, pieces)
                remarks.append(
                    f"not in one piece, although connected blocks were asked for: {names}"
                )
        return remarks


@dataclass(frozen=True, eq=False)
class Solved:
    """The best blocks found, the steps that led there, and what a person should know.

    part (n,): the block of every vertex. room (k,) [units]: the most that each device holds.
    versions: of the tools that made candidates, by name. cpu_seconds [s]: of the whole search.
    """

    best: Candidate
    part: Part
    room: FloatArray
    stages: tuple[Stage, ...]
    versions: dict[str, str]
    notes: tuple[str, ...]
    cpu_seconds: float

    @property
    def tools(self) -> list[str]:
        """The partitioners that made candidates."""
        return list(self.versions)


def _role(one: Candidate, chosen: dict[str, Candidate]) -> str:
    return one.role if one.role not in BASELINES or chosen[one.role] is one else ""


def _named(platform: Platform, which: BoolArray) -> str:
    names = [platform.names[b] for b in np.flatnonzero(which)]
    return ", ".join(names[:NAMED]) + (f" and {len(names) - NAMED} more" if names[NAMED:] else "")
