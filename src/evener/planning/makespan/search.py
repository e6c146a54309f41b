"""The search for the plan that is fastest; `solve_seconds` is the whole of it.

METIS and the plan of least cut, at sizes optimal without messages -> sizes that hold an estimated
halo -> slabs, plans of a small copy of the graph, blocks from scratch -> places among devices alike
-> sizes that hold their real halos -> ... -> refinement by seconds.
Every candidate is judged by the same predicted seconds, and the best is kept: it is no worse than
either of the first two. Of candidates as fast as predictions can tell, it is the one that sends
and cuts least.
"""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np

from evener.arrays import BoolArray, FloatArray, Part
from evener.errors import EvenerError, NotFoundError
from evener.graphs.graph import Graph
from evener.jit import cpu_seconds
from evener.partitioning.registry import partition_with
from evener.partitioning.requests import Request
from evener.planning.device_sets.equal_finish import Exchanged
from evener.planning.device_sets.estimate import Estimator
from evener.planning.device_sets.halo_law import surface_of
from evener.planning.device_sets.search import first_sets, sets_in_line
from evener.planning.device_sets.sets import signature
from evener.planning.makespan.baselines import (
    METIS_TOOLS,
    Aim,
    kept,
    mapped,
    may_be_mapped_below,
    metis_blocks,
    plain_blocks,
)
from evener.planning.makespan.coarse_search import Sketch
from evener.planning.makespan.device_swaps import Places
from evener.planning.makespan.presets import EFFORTS, Effort
from evener.planning.makespan.record import PLAIN, Progress, Record, Solved
from evener.planning.makespan.refine import Refining
from evener.planning.makespan.size_rounds import SECTION, Rounds, as_known
from evener.planning.makespan.slabs import Slabs
from evener.planning.makespan.task import Candidate, Task
from evener.planning.makespan.vertex_order import Ordered, ordered
from evener.planning.options import PlanOptions
from evener.plans.partition import Partition
from evener.plans.plan import CHOSEN_STAGE, CUT_STAGE, METIS_STAGE, SLABS_STAGE, Stage
from evener.platforms.platform import Platform
from evener.sizing.rounding import limits

# Where rounds of sizes begin: which devices, and loads that hold an estimated halo.


@dataclass(frozen=True, eq=False)
class Start:
    """Sizes to begin with: loads (k,) [units], estimated seconds [s]."""

    loads: FloatArray
    seconds: float

    @property
    def count(self) -> int:
        """How many devices have anything."""
        return int((self.loads > 0).sum())

    @property
    def name(self) -> str:
        """What a step is called that begins here."""
        return "one device" if self.count == 1 else f"{self.count} devices"


def starts_of(
    estimator: Estimator, sets: BoolArray, exchanged: Exchanged, within: float
) -> list[Start]:
    """Return where to begin, the most hopeful first, one of sets of devices alike.

    sets: masks (s, k), of which devices are dropped whose messages alone would last too long.
    within [s]: what is estimated to take longer is left out.
    """
    found = estimator.evening.evened(sets, exchanged, drop=True)
    kinds = estimator.kinds if len(sets) > 1 else np.arange(estimator.k)
    starts: dict[object, Start] = {}
    for i in found.seconds.argsort(kind="stable").tolist():
        if found.seconds[i] <= within:
            own = found.loads[i]
            alike = signature(np.flatnonzero(own > 0), own, kinds)
            starts.setdefault(alike, Start(own, float(found.seconds[i])))
    return list(starts.values())


DEVICES, VERTICES, FEWEST = 512, 1 << 13, 4  # devices, and the graph's vertices for each sketch
# Times the fastest: rivals slower than that are not refined. Not tuned; tried on nine cells of
# benchmarks/seconds.py with another seed, 2026-11.
RIVAL_NEAR = 1.05
OF_SKETCHES, NEAR = 2, 1.02  # that are made whole, of those within so many times the best


def solve_seconds(
    graph: Graph,
    platform: Platform,
    options: PlanOptions,
    *,
    progress: Progress | None = None,
) -> Solved:
    """Divide `graph` over `platform` so that the last device is done as early as possible.

    What binds is memory; a device may get nothing. Raises InfeasibleError where the graph does
    not fit. Same arguments, same result, whatever the threads.
    """
    began = cpu_seconds()
    search = Search.begun(graph, platform, options, progress or _silent)
    record = search.record
    refused = search.rivals()
    search.line_up()
    if not record.found:
        raise refused or NotFoundError("no partition keeps within the devices' memory")
    search.sketch()
    search.make_blocks()
    search.refine()
    search.map_plain()
    best = record.best
    return Solved(
        best,
        search.ordered.given(best.part),
        search.task.room,
        (*record.stages, _chosen(best)),
        record.versions,
        tuple(record.remarks(best)),
        cpu_seconds() - began + record.foreign_seconds,
    )


@dataclass(eq=False)
class Search:
    """A search under way: the steps that fill its record."""

    graph: Graph
    ordered: Ordered
    task: Task
    options: PlanOptions
    effort: Effort
    record: Record
    aim: Aim | None = None

    @classmethod
    def begun(
        cls, graph: Graph, platform: Platform, options: PlanOptions, progress: Progress
    ) -> Search:
        """Weigh the graph, bring its vertices into order, and begin."""
        counted = options.workload.weighted(graph)
        kept = ordered(graph, options.threads)
        task = Task.of(kept.graph, platform, options.workload).checked()
        record = Record(task, options.connected, options.alike, progress)
        return cls(counted, kept, task, options, EFFORTS[options.preset], record)

    @cached_property
    def estimator(self) -> Estimator:
        """What ranks sets of devices, by the halos of the first candidate."""
        known, task = self.record.found[0], self.task
        surface = surface_of(task.graph, known.between, known.sizes)
        return Estimator(surface, task.costs, task.load, task.room)

    @cached_property
    def rounds(self) -> Rounds:
        """Rounds of sizes and blocks."""
        placing = self.effort.placing and self.options.mapping
        places = Places(self.task) if placing else None
        return Rounds(self.task, self.estimator.evening, self.record.add, places)

    @cached_property
    def refining(self) -> Refining:
        """What moves vertices of candidates."""
        options = self.options
        return Refining(self.task, self.record.add, self.effort, options.seed, options.threads)

    @cached_property
    def targets(self) -> FloatArray:
        """(k,) sizes that would be best if nothing were exchanged [units]."""
        if self.aim is not None:
            return self.aim.contract.targets
        speeds = self.task.platform.speeds
        return np.asarray(speeds * (self.task.load / speeds.sum()))

    @property
    def within(self) -> float:
        """Seconds that an estimate must be below to be hopeful [s]."""
        return self.effort.hopeful * self.record.fastest.seconds

    def rivals(self) -> EvenerError | None:
        """Try both methods of METIS, and meanwhile the plan of least cut.

        Returns why there is no plan of least cut: where fewer devices do, others are tried.
        """
        record, task, options = self.record, self.task, self.options
        try:
            self.aim = Aim.of(task.weighted, task.platform, options)
        except EvenerError as error:
            return error
        refused = None
        with ThreadPoolExecutor(1) as aside:
            metis = {
                tool: aside.submit(metis_blocks, self.graph, self.aim, options, tool)
                for tool in METIS_TOOLS
            }
            try:
                plain = record.made(plain_blocks(task.weighted, self.aim, options))
                self.try_rival(PLAIN, plain.part, CUT_STAGE, place=False)
            except EvenerError as error:
                refused = error
            for tool, made in metis.items():
                try:
                    part = self.ordered.ordered(record.made(made.result()).part)
                    self.try_rival(METIS_TOOLS[tool], part, METIS_STAGE, place=options.mapping)
                except EvenerError as error:
                    record.notes.append(f"without {METIS_TOOLS[tool]}: {error.message}")
        return refused

    def try_rival(self, name: str, part: Part, role: str, *, place: bool) -> None:
        """Try somebody's blocks with their contract enforced, on other devices where that helps."""
        graph, aim = self.task.weighted, self.aim
        assert aim is not None
        blocks = kept(graph, part, aim, self.options)
        if place and self.task.platform.has_links:
            self.record.add(name, mapped(graph, blocks, aim, self.options), self.targets, role)
        else:
            self.record.add(name, blocks.part, self.targets, role)

    def line_up(self) -> None:
        """Try slabs, which cost next to nothing, and the fastest device alone."""
        task, slabs, effort = self.task, Slabs(self.task), self.effort
        if task.platform.k == 1:
            return
        alone = np.zeros(task.platform.k)
        alone[int(np.argmin(task.alone))] = task.load
        self.record.add("one device", slabs.blocks(alone), alone)
        known = self.record.add("slabs", slabs.blocks(self.targets), self.targets, SLABS_STAGE)
        if known is None:
            return
        few = not effort.sets and task.platform.k <= task.graph.n
        sets = np.ones((1, task.platform.k), np.bool_) if few else sets_in_line(self.estimator)
        starts = starts_of(self.estimator, sets, slabs.exchanged(known), self.within)
        if effort.sets:
            starts.insert(1, self._of_all(known))
        for start in starts[: effort.slabs]:
            if start.seconds <= self.within:
                self.rounds.run(f"{start.name}, slabs", start.loads, effort.slab_rounds, SECTION,
                                lambda loads, _: slabs.blocks(loads))  # fmt: skip

    def _of_all(self, known: Candidate) -> Start:
        """Where to begin with all devices, by what these slabs of theirs exchange."""
        task, every = self.task, np.ones((1, self.task.platform.k), np.bool_)
        found = self.estimator.evening.evened(every, as_known(known, task, SECTION))
        return Start(found.loads[0], float(found.seconds[0]))

    def sketch(self) -> None:
        """Try many plans on a small copy of the graph, and the best ones on the graph itself."""
        task, most = self.task, self.effort.sketched
        k, n = task.platform.k, task.graph.n
        if not most or k == 1 or n < 2 * k:
            return
        sketch = Sketch(task, self.estimator.evening, self.options.threads)
        sets = [np.ones(k, np.bool_), *(one.loads > 0 for one in self.block_starts())]
        runs = max(min(most, DEVICES // k, n // VERTICES), FEWEST)
        found = sketch.best(sets, runs, self.options.seed)
        for one in [one for one in found if one.seconds <= NEAR * found[0].seconds][:OF_SKETCHES]:
            part = sketch.finished(one, self.options.seed)
            self.record.add(f"{one.used.sum()} devices, sketched", part, task.loads(part))

    def block_starts(self) -> list[Start]:
        """Return where to begin with blocks, the most hopeful first."""
        estimator, known = self.estimator, self.record.found[0]
        exchanged = estimator.corrected(known.loads, known.prediction.communicate)
        return starts_of(estimator, first_sets(estimator), exchanged, self.within)

    def make_blocks(self) -> None:
        """Make blocks from scratch for the most hopeful devices."""
        effort, power = self.effort, self.estimator.surface.exponent
        if not effort.blocks or self.task.platform.k == 1:
            return
        for start in self.block_starts()[: effort.blocks]:
            if 1 < start.count <= self.task.graph.n and start.seconds < self.within:
                self.rounds.run(start.name, start.loads, effort.rounds, power, self.blocks)

    def blocks(self, loads: FloatArray, turn: int) -> Part:
        """Return blocks made from scratch of about these loads (k,) [units]."""
        if (loads > 0).sum() == 1:
            return np.full(self.task.graph.n, int(loads.argmax()), np.int32)
        graph, effort = self.task.weighted, self.effort
        low, high = limits(loads, effort.epsilon, self.task.most, whole=graph.is_unit)
        request = Request(
            loads, effort.epsilon, self.options.seed + turn, self.options.threads,
            effort.objective, effort.preset, self.options.time_limit, low, high,
        )  # fmt: skip
        return self.record.made(partition_with(self.options.tool, graph, request)).part

    def refine(self) -> None:
        """Move vertices of the best candidate of several devices by seconds."""
        several = [one for one in self.record.found if one.used.sum() > 1]
        if not several:
            return
        self.refining.run(min(several, key=lambda one: one.seconds))
        self.refine_rival()

    def refine_rival(self) -> None:
        """Refine METIS's blocks or those of least cut as well, where they are nearly as fast.

        They send less than what was found by seconds, and what becomes of them often still does.
        """
        fastest = self.record.fastest
        rivals = [
            one
            for one in self.record.baselines.values()
            if one.seconds <= RIVAL_NEAR * fastest.seconds and one.sent < fastest.sent
        ]
        if rivals and self.options.alike > 0:
            self.refining.run(min(rivals, key=lambda one: one.seconds))

    def map_plain(self) -> None:
        """Map the plan of least cut, unless no mapping can make it as fast as what was found."""
        linked = self.options.mapping and self.task.platform.has_links
        known = self.record.baselines.get(CUT_STAGE)
        if self.aim is None or known is None or not linked:
            return
        contract, blocks = self.aim.contract, Partition(known.part, self.task.platform.k)
        if may_be_mapped_below(self.record.fastest.seconds, self.task, known, contract):
            part = mapped(self.task.weighted, blocks, self.aim, self.options)
            self.record.add(f"{PLAIN}, mapped", part, self.targets, CUT_STAGE)


def _chosen(best: Candidate) -> Stage:
    """The last step of a plan: what it is."""
    stage = best.stage(best.loads)
    return replace(stage, name=f"chosen: {best.name}", role=CHOSEN_STAGE)


def _silent(step: str, fraction: float) -> None:
    """Show no progress."""
