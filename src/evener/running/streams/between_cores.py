"""The times of filters on this computer's cores, and the cost of a byte sent between cores.

A channel within a core has one slot, which stays in its caches; a channel between cores has
several, and one core fetches what the other one writes. So a filter takes longer if its channels
lead to another core. This is measured in the program itself: once with each filter on the core of
its neighbours, and once with as many neighbours as possible on the other core.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from itertools import pairwise
from typing import NamedTuple

import numpy as np

from evener.arrays import FloatArray, Part
from evener.errors import UsageError
from evener.graphs.stream_graph import StreamGraph
from evener.plans.stream_plan import StreamPlan
from evener.platforms.platform import Device, Level, Link, Platform
from evener.running.streams.executing import StreamWatch, run_stream
from evener.running.streams.in_turn import REPEATS, BesideOthers
from evener.running.streams.program import INSTRUCTIONS, StreamProgram
from evener.running.streams.stages import PipelineStages

MIPS = 1000.0  # of a core: instructions of measured filters are nanoseconds
LINK = "cores"  # name of the level that all cores share
ROUNDS = 4  # in which both placements take turns, so that a drift of the clock rate meets both
PAIR = 2  # cores that bytes pass between


class StreamCalibration(NamedTuple):
    """Measured costs of a program on the cores of this computer.

    graph: with the CPU seconds of its filters, for devices of 1000 mips. per_byte [s/B]: by how
    much longer each of two cores takes for a byte sent between them; 0 if no difference was found,
    None if it was not measured. platform: the cores, joined by a link with this cost.
    """

    graph: StreamGraph
    per_byte: float | None
    platform: Platform

    @property
    def seconds(self) -> FloatArray:
        """CPU seconds of each filter in an iteration (n,)."""
        return self.graph.scalar * self.graph.vector / INSTRUCTIONS


def calibrate_stream(
    program: StreamProgram,
    repeats: int = REPEATS,
    busy: int = PAIR,
    *,
    devices: Sequence[Sequence[int]] | None = None,
    tell: Callable[[int], None] = lambda _: None,
) -> StreamCalibration:
    """Measure a program's filters, and the cost of bytes between two cores.

    repeats: number of iterations of which each figure is the median. busy: number of cores of the
    platform; as many threads work during the measurement, as in `filter_seconds`, but not more than
    there are filters. The link is measured if there are at least two cores and the program has
    channels. devices: cores of each device, to which threads are bound. tell: called with the
    number of iterations done on one core.

    Raises UsageError if repeats or busy is below 1, and the errors of `run_stream` for filters.
    """
    if repeats < 1:
        raise UsageError(f"the number of iterations must be at least 1, not {repeats}")
    bound = None if devices is None else [list(own) for own in devices]
    part = parted(program.graph)
    is_apart = busy >= PAIR and bool(part.any())
    rounds = min(ROUNDS, repeats) if is_apart else 1
    ends = [repeats * (i + 1) // rounds for i in range(rounds)]
    apart: list[FloatArray] = []
    beside = BesideOthers(program, min(busy, len(program.filters)))
    for begin, end in pairwise([0, *ends]):
        beside.run(end - begin, partial(_tell_from, tell, begin))
        if is_apart:
            apart.append(seconds_apart(program, part, end - begin, bound))
    seconds = beside.seconds
    per_byte = None
    if is_apart:
        longer = np.median(np.concatenate(apart), axis=0) - seconds
        per_byte = fitted(longer, bytes_between(program.graph, part))
    return StreamCalibration(program.costing(seconds), per_byte, cores_joined(busy, per_byte))


def _tell_from(tell: Callable[[int], None], begin: int, done: int) -> None:
    tell(begin + done)


def parted(graph: StreamGraph) -> Part:
    """Return one of two cores for each filter, such that most bytes are sent between the cores.

    Filters are assigned in their order, each to the core from which fewer of its bytes come so far.
    """
    part = np.zeros(graph.n, np.int32)
    weight = np.zeros((graph.n, PAIR))
    ends = np.concatenate([graph.tails, graph.heads]), np.concatenate([graph.heads, graph.tails])
    nbytes = np.concatenate([graph.nbytes, graph.nbytes])
    for v in range(graph.n):
        part[v] = int(weight[v, 0] > weight[v, 1])
        own = ends[0] == v
        np.add.at(weight[:, part[v]], ends[1][own], nbytes[own])
    return part


def bytes_between(graph: StreamGraph, part: Part) -> FloatArray:
    """Return the bytes per iteration that each filter exchanges with other processors (n,)."""
    cut = np.where(part[graph.tails] != part[graph.heads], graph.nbytes, 0.0)
    both = np.bincount(graph.tails, cut, graph.n) + np.bincount(graph.heads, cut, graph.n)
    return both.astype(np.float64)


def seconds_apart(
    program: StreamProgram, part: Part, repeats: int, devices: list[list[int]] | None = None
) -> FloatArray:
    """Return the filters' CPU seconds (repeats, n) per iteration; part: core of each, 0 or 1.

    Only the last iterations of a run count, in which all slots of channels have been used before.
    """
    stages = PipelineStages(program, part)
    unsteady = max(stages.depth, int(stages.of_channels.max(initial=0)))
    pair = None if devices is None else devices[:PAIR]
    watch = StreamWatch(devices=pair, trace=True, keep=1)
    nothing = np.zeros(PAIR)
    plan = StreamPlan(part, program.graph, cores_joined(PAIR, None), 1.0, 1.0, nothing, nothing,
                      {}, {})  # fmt: skip
    run = run_stream(program, plan, unsteady + repeats, watch=watch)
    return np.array([one.cpus[-repeats:] for one in run.filters]).T


def fitted(longer: FloatArray, nbytes: FloatArray) -> float:
    """Return the seconds per byte that best explain the longer times, by least squares.

    longer, nbytes (n,): of each filter. Never negative: noise must not make bytes a gain.
    """
    return max(float(longer @ nbytes / (nbytes @ nbytes)), 0.0)


def cores_joined(count: int, per_byte: float | None) -> Platform:
    """Return cores of 1000 mips, which share a link if bytes between them cost time."""
    cores = tuple(Device(f"core{i}", MIPS * 1e6, capabilities={"mips": MIPS}) for i in range(count))
    levels = (Level(LINK, Link(0.0, per_byte)),) if per_byte else ()
    return Platform(cores, levels)
