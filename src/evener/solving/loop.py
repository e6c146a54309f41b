"""The search for the plan that is fastest; `solve_seconds` is the whole of it.

METIS and the plain plan, at the speeds -> sizes that hold an estimated halo -> blocks from scratch
-> places among devices alike -> sizes that hold their real halos -> ... -> refinement by seconds.
Every candidate is judged by the same predicted seconds, and the best is kept: it is no worse than
either of the first two.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field, replace
from functools import cached_property
from itertools import zip_longest

import numpy as np

from evener import metrics
from evener.arrays import BoolArray, FloatArray
from evener.costs import REACH
from evener.durations import duration
from evener.errors import EvenerError, InfeasibleError, InputError, NotFoundError
from evener.graphs import Graph
from evener.partitioning.registry import Result, partition_with
from evener.partitioning.requests import Request
from evener.partitioning.seconds import refine_seconds
from evener.partitions import Contract, Partition
from evener.planning_options import PlanOptions
from evener.plans import Stage
from evener.platforms import Platform
from evener.sizing.rounding import limits
from evener.solving.efforts import ALIKE, CALMER, DAMPING, EFFORTS, SETTLED, Effort
from evener.solving.halos import law_of_blocks, surface_power
from evener.solving.judging import Candidate, Part, Task
from evener.solving.ordering import Ordered, ordered
from evener.solving.placing import Places
from evener.solving.rivals import Plain, least_mapped, mapped, metis_blocks, plain_blocks
from evener.solving.sizes import even_sizes
from evener.solving.slabs import SECTION, Slabs
from evener.solving.starts import (
    Start,
    all_devices,
    block_starts,
    ends_alone,
    sets_of,
    slab_starts,
)

Progress = Callable[[str, float], None]
NAMED = 8  # devices that a remark lists
PLAIN, METIS = "plain plan", "METIS with speeds"  # the candidates that no plan is slower than


@dataclass(frozen=True, eq=False)
class Solved:
    """The best blocks found, the steps that led there, and what a person should know.

    part (n,): the block of every vertex. contract: what binds them, their targets being what they
    are. room (k,) [units]: the most that each device holds. versions: of the tools that made
    candidates, by name. cpu_seconds [s]: of the whole search.
    """

    best: Candidate
    part: Part
    contract: Contract
    room: FloatArray
    stages: tuple[Stage, ...]
    versions: dict[str, str]
    notes: tuple[str, ...]
    cpu_seconds: float

    @property
    def tools(self) -> list[str]:
        """The partitioners that made candidates."""
        return list(self.versions)


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
    began = time.process_time()
    search = Search.begun(graph, platform, options, progress or _silent)
    refused = search.rivals()
    search.line_up()
    if refused is not None and not search.found:
        raise refused
    search.make_blocks()
    search.refine()
    search.map_plain()
    best = search.best
    return Solved(
        best,
        search.ordered.given(best.part),
        search.task.contract(best.loads),
        search.task.room,
        (*search.stages, replace(best.stage(best.loads), name=f"chosen: {best.name}")),
        search.versions,
        (*search.notes, *_remarks(search, best)),
        time.process_time() - began + search.foreign_seconds,
    )


@dataclass(eq=False)
class Search:
    """A search under way: what was found so far, and the steps that found it."""

    graph: Graph
    ordered: Ordered
    task: Task
    options: PlanOptions
    effort: Effort
    progress: Progress
    found: list[Candidate] = field(default_factory=list)
    stages: list[Stage] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)
    versions: dict[str, str] = field(default_factory=dict)
    foreign_seconds: float = 0.0

    plain: Plain | None = None

    @classmethod
    def begun(
        cls, graph: Graph, platform: Platform, options: PlanOptions, progress: Progress
    ) -> Search:
        """Weigh the graph, bring its vertices into order, and begin."""
        counted = options.workload.weighted(graph)
        kept = ordered(graph, options.threads)
        task = Task.of(kept.graph, platform, options.workload)
        if task.load <= 0:
            raise InfeasibleError("all vertices weigh nothing: there is no load to divide")
        if task.load < 1 / REACH:
            raise InputError(f"all vertices weigh {task.load:.3g} together: too little to reckon")
        return cls(counted, kept, task, options, EFFORTS[options.preset], progress)

    @property
    def fastest(self) -> Candidate:
        """The candidate of least predicted seconds, the first of several."""
        return min(self.found, key=_seconds)

    @property
    def best(self) -> Candidate:
        """The fastest, or one as good that sends less than half of what it sends.

        As good is what takes a thousandth longer at most, and no longer than METIS and the plain
        plan: no prediction is known to a thousandth, and where it errs, values sent are what costs.
        """
        fastest = self.fastest
        rivals = [one.seconds for one in self.found if one.name in (PLAIN, METIS)]
        limit = min([ALIKE * fastest.seconds, *rivals])
        alike = [one for one in self.found if one.seconds <= limit and 2 * one.sent < fastest.sent]
        return min(alike, key=lambda one: (one.sent, one.seconds), default=fastest)

    @cached_property
    def places(self) -> Places:
        """Where blocks can go."""
        return Places(self.task)

    def add(self, name: str, part: Part, aim: FloatArray) -> Candidate | None:
        """Judge blocks, their limits enforced, if they can be; aim (k,) [units]: their targets."""
        try:
            candidate = self.task.judged(name, self.task.kept(part, self.options.connected))
        except (InfeasibleError, NotFoundError):
            return None
        self.found.append(candidate)
        self.stages.append(candidate.stage(aim))
        above = candidate.seconds / candidate.prediction.bound
        done = 0.97 * (1 - 0.9 ** len(self.found))
        self.progress(f"{name}: {duration(candidate.seconds)}, {above:.2f}x the bound", done)
        return candidate

    def made(self, result: Result) -> Result:
        """Take note of who made blocks, and at what price."""
        self.versions[result.tool] = result.version
        if result.tool.startswith("metis"):
            self.foreign_seconds += result.cpu_seconds
        return result

    def rivals(self) -> EvenerError | None:
        """Try METIS with speeds, and meanwhile the plain plan.

        Returns why there is no plain plan: where fewer devices do, blocks of others are tried.
        """
        platform, options, refused = self.task.platform, self.options, None
        with ThreadPoolExecutor(1) as aside:
            metis = aside.submit(metis_blocks, self.graph, platform, options)
            try:
                self.plain = plain_blocks(self.task.weighted, platform, options)
                self.made(self.plain.raw)
                self.add(PLAIN, self.plain.partition.part, self.speeds)
            except EvenerError as error:
                refused = error
            try:
                part = self.ordered.ordered(self.made(metis.result()).part)
                self.add(METIS, part, self.speeds)
            except EvenerError as error:
                self.notes.append(f"without METIS: {error.message}")
        return refused

    def map_plain(self) -> None:
        """Map the plain plan, unless no mapping can make it as fast as what was found."""
        plain = self.plain
        known = next((one for one in self.found if one.name == PLAIN), None)
        if (
            plain is None
            or known is None
            or not self.options.mapping
            or not self.task.platform.has_links
        ):
            return
        if least_mapped(self.task, known, plain.contract) < self.fastest.seconds:
            part = mapped(self.task.weighted, plain, self.options)
            self.add("plain plan, mapped", part, self.speeds)

    @cached_property
    def speeds(self) -> FloatArray:
        """(k,) loads in proportion to speed [units]."""
        speeds = self.task.platform.speeds
        return np.asarray(speeds * (self.task.load / speeds.sum()))

    def line_up(self) -> None:
        """Try slabs, which cost next to nothing, and the fastest device alone."""
        task, slabs, effort = self.task, Slabs(self.task), self.effort
        if task.platform.k == 1:
            return
        alone = np.zeros(task.platform.k)
        alone[int(np.argmin(ends_alone(task)))] = task.load
        self.add("one device", slabs.blocks(alone), alone)
        known = self.add("slabs", slabs.blocks(self.speeds), self.speeds)
        if known is None:
            return
        sets = sets_of(task) if effort.sets else all_devices(task)
        within = effort.hopeful * self.fastest.seconds
        for start in slab_starts(task, slabs, known, sets, within)[: effort.slabs]:
            self.rounds(f"{start.name}, slabs", start, effort.slab_rounds, SECTION,
                        lambda loads, _: slabs.blocks(loads))  # fmt: skip

    def make_blocks(self) -> None:
        """Make blocks from scratch for the most hopeful devices."""
        if not self.effort.blocks or self.task.platform.k == 1:
            return
        power = surface_power(self.task.graph)
        within = self.effort.hopeful * self.fastest.seconds
        begin = block_starts(self.task, self.found[0], sets_of(self.task), within)
        for start in begin[: self.effort.blocks]:
            fits = 1 < start.count <= self.task.graph.n
            if fits and start.seconds < self.effort.hopeful * self.fastest.seconds:
                self.rounds(start.name, start, self.effort.rounds, power, self.blocks)

    def rounds(
        self,
        name: str,
        start: Start,
        rounds: int,
        power: float,
        blocks: Callable[[FloatArray, int], Part],
    ) -> None:
        """Make blocks for sizes that hold a halo; take the halo they really have; again."""
        loads, damping, least = start.loads, DAMPING, np.inf
        for turn in range(rounds):
            step = f"{name}, sizes {turn + 1}"
            one = self.add(step, blocks(loads, turn), loads)
            if one is None:
                break
            placing = self.effort.placing and self.options.mapping
            moved = self.places.placed(one) if placing else None
            other = None if moved is None else self.add(f"{step}, placed", moved, loads)
            one = one if other is None or one.seconds <= other.seconds else other
            last = turn + 1 == rounds or (loads > 0).sum() == 1
            if last or one.seconds > least * (1 - SETTLED):
                break
            least = one.seconds
            loads = self.next_sizes(one, loads, damping, power)
            damping *= CALMER

    def next_sizes(
        self, one: Candidate, loads: FloatArray, damping: float, power: float
    ) -> FloatArray:
        """Return sizes that hold the halos of blocks as they are."""
        task = self.task
        law = law_of_blocks(
            one.between, one.loads, one.sizes, one.prediction.communicate, task.costs.alpha, power
        )
        room = np.where(loads > 0, task.room, 0.0)
        aim = even_sizes(
            task.models, task.costs.fixed, law, task.load, room, overlap=task.costs.overlap
        )
        return task.whole(loads + damping * (aim.loads - loads))

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
        return self.made(partition_with(self.options.tool, graph, request)).part

    def refine(self) -> None:
        """Move vertices of the best candidates by seconds.

        Slabs and blocks take turns: which of them are better in the end is hard to tell before.
        """
        several = sorted((one for one in self.found if one.used.sum() > 1), key=_seconds)
        kinds = [[one for one in several if ("slabs" in one.name) == slabs] for slabs in (0, 1)]
        kinds.sort(key=lambda own: own[0].seconds if own else np.inf)
        turns = [one for pair in zip_longest(*kinds) for one in pair if one is not None]
        for one in turns[: self.effort.refined]:
            self.refined(one)

    def refined(self, one: Candidate) -> None:
        """Refine a candidate by seconds."""
        task, contract = self.task, self.task.contract(one.loads)
        part, _ = refine_seconds(
            task.weighted, one.part, task.work, task.costs, low=contract.low, high=contract.high,
            caps=contract.caps, seed=self.options.seed, threads=self.options.threads,
            effort=self.effort.refine_effort,
        )  # fmt: skip
        self.add(f"{one.name}, refined", part, one.loads)


def _seconds(one: Candidate) -> float:
    return one.seconds


def _remarks(search: Search, best: Candidate) -> list[str]:
    """Say which devices are left out, and which blocks are in pieces that were not to be."""
    task, remarks = search.task, []
    if not best.used.all():
        unused = _named(task.platform, ~best.used)
        remarks.append(f"Left out, as the iteration is faster without: {unused}")
    if search.options.connected:
        pieces = metrics.block_components(task.weighted, Partition(best.part, task.platform.k)) > 1
        if pieces.any():
            names = _named(task.platform, pieces)
            remarks.append(f"not in one piece, although connected blocks were asked for: {names}")
    return remarks


def _named(platform: Platform, which: BoolArray) -> str:
    names = [platform.names[b] for b in np.flatnonzero(which)]
    return ", ".join(names[:NAMED]) + (f" and {len(names) - NAMED} more" if names[NAMED:] else "")


def _silent(step: str, fraction: float) -> None:
    """Show no progress."""
