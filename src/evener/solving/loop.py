"""The search for the plan that is fastest; `solve_seconds` is the whole of it.

METIS and the plain plan, at the speeds -> sizes that hold an estimated halo -> slabs, plans of a
small copy of the graph, blocks from scratch -> places among devices alike -> sizes that hold their
real halos -> ... -> refinement by seconds.
Every candidate is judged by the same predicted seconds, and the best is kept: it is no worse than
either of the first two.
"""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np

from evener.arrays import FloatArray
from evener.cpu_clock import cpu_seconds
from evener.errors import EvenerError, NotFoundError
from evener.graphs import Graph
from evener.partitioning.registry import partition_with
from evener.partitioning.requests import Request
from evener.planning_options import PlanOptions
from evener.platforms import Platform
from evener.sizing.rounding import limits
from evener.solving.efforts import EFFORTS, Effort
from evener.solving.estimates import Estimator
from evener.solving.judging import Candidate, Part, Task
from evener.solving.ordering import Ordered, ordered
from evener.solving.placing import Places
from evener.solving.record import METIS, PLAIN, Progress, Record, Solved
from evener.solving.refining import Refining
from evener.solving.rivals import Plain, mapped, may_be_mapped_below, metis_blocks, plain_blocks
from evener.solving.rounds import SECTION, Rounds, as_known
from evener.solving.searching import first_sets, sets_in_line
from evener.solving.sketching import Sketch
from evener.solving.slabs import Slabs
from evener.solving.starts import Start, starts_of
from evener.solving.surfaces import surface_of

DEVICES, VERTICES, FEWEST = 512, 1 << 13, 4  # devices, and the graph's vertices for each sketch
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
        search.task.contract(best.loads),
        search.task.room,
        (*record.stages, replace(best.stage(best.loads), name=f"chosen: {best.name}")),
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
    plain: Plain | None = None

    @classmethod
    def begun(
        cls, graph: Graph, platform: Platform, options: PlanOptions, progress: Progress
    ) -> Search:
        """Weigh the graph, bring its vertices into order, and begin."""
        counted = options.workload.weighted(graph)
        kept = ordered(graph, options.threads)
        task = Task.of(kept.graph, platform, options.workload).checked()
        record = Record(task, options.connected, progress)
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
    def speeds(self) -> FloatArray:
        """(k,) loads in proportion to speed [units]."""
        speeds = self.task.platform.speeds
        return np.asarray(speeds * (self.task.load / speeds.sum()))

    @property
    def within(self) -> float:
        """Seconds that an estimate must be below to be hopeful [s]."""
        return self.effort.hopeful * self.record.fastest.seconds

    def rivals(self) -> EvenerError | None:
        """Try METIS with speeds, and meanwhile the plain plan.

        Returns why there is no plain plan: where fewer devices do, blocks of others are tried.
        """
        record, platform, options = self.record, self.task.platform, self.options
        refused = None
        with ThreadPoolExecutor(1) as aside:
            metis = aside.submit(metis_blocks, self.graph, platform, options)
            try:
                self.plain = plain_blocks(self.task.weighted, platform, options)
                record.made(self.plain.raw)
                record.add(PLAIN, self.plain.partition.part, self.speeds)
            except EvenerError as error:
                refused = error
            try:
                part = self.ordered.ordered(record.made(metis.result()).part)
                record.add(METIS, part, self.speeds)
            except EvenerError as error:
                record.notes.append(f"without METIS: {error.message}")
        return refused

    def line_up(self) -> None:
        """Try slabs, which cost next to nothing, and the fastest device alone."""
        task, slabs, effort = self.task, Slabs(self.task), self.effort
        if task.platform.k == 1:
            return
        alone = np.zeros(task.platform.k)
        alone[int(np.argmin(task.alone))] = task.load
        self.record.add("one device", slabs.blocks(alone), alone)
        known = self.record.add("slabs", slabs.blocks(self.speeds), self.speeds)
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
        if several:
            self.refining.run(min(several, key=lambda one: one.seconds))

    def map_plain(self) -> None:
        """Map the plain plan, unless no mapping can make it as fast as what was found."""
        plain, linked = self.plain, self.options.mapping and self.task.platform.has_links
        known = next((one for one in self.record.found if one.name == PLAIN), None)
        if plain is None or known is None or not linked:
            return
        if may_be_mapped_below(self.record.fastest.seconds, self.task, known, plain.contract):
            part = mapped(self.task.weighted, plain, self.options)
            self.record.add("plain plan, mapped", part, self.speeds)


def _silent(step: str, fraction: float) -> None:
    """Show no progress."""
