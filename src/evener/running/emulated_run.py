"""Runs a vertex program here for its values; a virtual clock gives the times on another machine.

Threads of this computer execute the program, one for each device of the machine, however many it
has. The arcs visited and the bytes sent between each pair of devices are counted in every
superstep, and the platform model turns these counts into times. No measured time enters the clock,
so the same seed gives the same times. A superstep of the virtual machine consists of computing,
then exchanging, with the waiting times of evener.plans.exchange_costs; the next superstep begins
when all devices are done.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, fields, replace
from typing import Any

import numpy as np
import numpy.typing as npt

from evener.arrays import FloatArray
from evener.errors import InputError, UsageError
from evener.graphs.directed import DirectedGraph
from evener.graphs.graph import Graph
from evener.plans.exchange_costs import ExchangeCosts, Quotient
from evener.plans.partition import Partition
from evener.platforms.platform import Device, Platform
from evener.platforms.with_curves import seconds_at
from evener.running.distributing import distribute
from evener.running.edge_shares import edge_shares
from evener.running.engine.engine import MOST
from evener.running.engine.program import Solver, VertexProgram
from evener.running.engine.recording import Superstep
from evener.running.executing import Blocks, blocks_of, run_on_parts
from evener.running.local_graphs import LocalGraph
from evener.running.on_device import RunWatch, wanted_arcs
from evener.running.program_run import ProgramRun
from evener.wording import brief

EMULATED_ACTIVITIES = ("computing", "communicating", "waiting")  # in this order
ROUNDING = 1e-12  # a smaller share of a superstep's time is rounding error, not waiting


@dataclass(frozen=True)
class SuperstepTerms:
    """Costs of a superstep besides the arcs, whose cost follows from the device's speed.

    A device states them among its capabilities, under these names; without them only arcs count.
    vertex_arcs: number of arcs that take as long as visiting an own vertex. list_share: largest
    part of the device that can work on the arcs of one vertex; this bounds the time of a superstep
    that visits all arcs from below. near_values: number of vertices (own and ghosts) whose values
    fit in its cache; far_factor: how many times as long an arc to any other vertex takes.
    """

    vertex_arcs: float = 0.0
    list_share: float = 1.0
    near_values: float = np.inf
    far_factor: float = 1.0

    def __post_init__(self) -> None:
        if not (self.vertex_arcs >= 0 and self.near_values >= 0 and self.far_factor >= 1):
            raise InputError(
                "vertex_arcs and near_values must not be negative, and far_factor must be "
                f"at least 1: {self}"
            )
        if not 0 < self.list_share <= 1:
            raise InputError(f"list_share must be above 0 and at most 1, not {self.list_share}")

    @classmethod
    def of(cls, device: Device) -> SuperstepTerms:
        """Return the terms in a device's capabilities. Raises InputError for invalid numbers."""
        names = [term.name for term in fields(cls)]
        return cls(**{k: float(v) for k, v in device.capabilities.items() if k in names})


@dataclass
class EmulatedSuperstep(Superstep):
    """What one device of an emulated machine did in a superstep, by the virtual clock.

    communicating [s]: time of sending and receiving; replaces packing and unpacking.
    """

    communicating: float = 0.0


@dataclass(frozen=True, eq=False)
class EmulatedMachineRun:
    """The values of a run, and how long it would have taken on a platform.

    run: the execution on this computer; its own times say nothing about the platform. computing,
    communicating (supersteps, k) [s]: times of each device, communicating without waiting. ends
    (supersteps, k) [s]: when each device is done, from the start of the superstep.
    """

    run: ProgramRun
    computing: FloatArray
    communicating: FloatArray
    ends: FloatArray

    def __repr__(self) -> str:
        return brief(self)

    @property
    def values(self) -> npt.NDArray[Any]:
        """Values by global vertex number (n,)."""
        return self.run.values

    @property
    def step_seconds(self) -> FloatArray:
        """Duration of each superstep (supersteps,): until the last device is done [s]."""
        return np.asarray(self.ends.max(axis=1, initial=0.0))

    @property
    def seconds(self) -> float:
        """Duration of all supersteps [s]."""
        return float(self.step_seconds.sum())

    @property
    def waiting(self) -> FloatArray:
        """Time spent waiting for messages, shared links and other devices (supersteps, k) [s]."""
        whole = self.step_seconds[:, None]
        rest = whole - self.computing - self.communicating
        # Differences of times leave rounding errors, which may be negative.
        return np.where(rest > ROUNDING * whole, rest, 0.0)

    def recorded(self) -> ProgramRun:
        """Return the run with the times of the virtual clock; its steps are EmulatedSuperstep.

        A device's waiting is put at the end of each superstep, because the cost model gives only
        its length.
        """
        begins = np.concatenate([[0.0], np.cumsum(self.step_seconds)])
        spent = np.stack([self.computing, self.communicating, self.waiting], axis=-1)
        steps = tuple(
            tuple(
                _recorded(step, begin, *seconds)
                for step, begin, seconds in zip(device, begins.tolist(), own.tolist(), strict=False)
            )
            for device, own in zip(self.run.steps, spent.swapaxes(0, 1), strict=True)
        )
        return replace(self.run, steps=steps, seconds=self.seconds, is_emulated=True)


def _recorded(
    step: Superstep, began: float, computing: float, communicating: float, waiting: float
) -> EmulatedSuperstep:
    """Return a superstep with these times, which begins at `began` on the virtual clock."""
    found = EmulatedSuperstep(
        sent=step.sent, received=step.received, edges=step.edges, sent_to=step.sent_to
    )
    for name, seconds in zip(EMULATED_ACTIVITIES, (computing, communicating, waiting), strict=True):
        found.add(name, began, seconds)
        began += seconds
    return found


@dataclass(frozen=True, eq=False)
class VirtualMachine:
    """A platform with speeds in arcs per second; SuperstepTerms describes its other costs."""

    platform: Platform

    def run(
        self,
        program: VertexProgram | Solver,
        graph: Graph | DirectedGraph,
        divided: Blocks,
        *,
        most: int = MOST,
        parameters: Mapping[str, float] | None = None,
        tell: Callable[[int], None] | None = None,
    ) -> EmulatedMachineRun:
        """Run a program on this machine, block b on device b, for up to `most` supersteps.

        divided: as for run_program. With blocks of edges, a superstep has two rounds
        of messages, to masters and from masters, so latencies count twice, and all copies of a
        vertex are visited. Raises UsageError if the numbers of devices and blocks differ.
        """
        blocks = blocks_of(divided)
        k = blocks.k if isinstance(blocks, Partition) else blocks.partition.k
        if k != self.platform.k:
            raise UsageError(
                f"the machine has {self.platform.k} devices, but the plan has {k} blocks"
            )
        if isinstance(blocks, Partition):
            parts = distribute(graph, blocks, want=wanted_arcs(program))
        else:
            parts = list(edge_shares(graph, blocks).values())
        return self.run_on(program, parts, most=most, parameters=parameters, tell=tell)

    def run_on(
        self,
        program: VertexProgram | Solver,
        parts: Sequence[LocalGraph],
        *,
        most: int = MOST,
        parameters: Mapping[str, float] | None = None,
        tell: Callable[[int], None] | None = None,
    ) -> EmulatedMachineRun:
        """Run a program on the parts of an already distributed graph."""
        watch = RunWatch(tell, is_apart=True)  # messages are those between separate computers
        found = run_on_parts(program, parts, most=most, parameters=parameters, watch=watch)
        return self.charged(found, parts)

    def charged(self, found: ProgramRun, parts: Sequence[LocalGraph]) -> EmulatedMachineRun:
        """Return what the supersteps of a run on these parts would have taken on this machine."""
        on_edges = parts[0].divides_edges
        longest = [_longest(part) if on_edges else _highest(part) for part in parts]
        computing = self._computing(found, parts, longest)
        fixed = self.platform.fixed_seconds
        communicating, ends = np.zeros_like(computing), np.zeros_like(computing)
        known: dict[bytes, ExchangeCosts] = {}
        for step in range(found.supersteps):
            sent = _sent([device[step] for device in found.steps])
            key = sent.tobytes()
            if key not in known:
                known[key] = ExchangeCosts.of(_between(sent), self.platform, 1.0)
            exchange, ready = known[key], computing[step] + fixed
            late = exchange.lateness(ready) if self.platform.has_links else 0.0
            communicating[step] = exchange.direct + on_edges * exchange.posting
            ends[step] = ready + communicating[step] + late
        return EmulatedMachineRun(found, computing + fixed, communicating, ends)

    def _computing(
        self, found: ProgramRun, parts: Sequence[LocalGraph], longest: Sequence[int]
    ) -> FloatArray:
        """Return the computing times (supersteps, k) [s] without the fixed time per superstep.

        longest: on each device, the largest number of arcs of one vertex.
        """
        terms = [SuperstepTerms.of(device) for device in self.platform.devices]
        edges = found.of_devices("edges")
        own = np.array([part.n_rows for part in parts], np.float64)
        near = np.array(
            [
                min(1.0, t.near_values / max(part.n_local, 1))
                for t, part in zip(terms, parts, strict=True)
            ]
        )
        factor = near + (1 - near) * np.array([t.far_factor for t in terms])
        work = factor * (edges + own * np.array([t.vertex_arcs for t in terms]))
        held = np.array([_arcs(part) for part in parts], np.float64)
        lists = factor * longest / np.array([t.list_share for t in terms])
        work = np.maximum(work, np.minimum(edges / np.maximum(held, 1), 1.0) * lists)
        seconds = [seconds_at(self.platform, row) for row in work]
        return np.array(seconds).reshape(edges.shape)


def _arcs(part: LocalGraph) -> int:
    arcs = part.into if part.into is not None else part.out
    return 0 if arcs is None else int(arcs.ends.size)


def _highest(part: LocalGraph) -> int:
    """Return the highest degree of a device's own vertices."""
    return int(part.degrees[: part.n_owned].max(initial=0))


def _longest(part: LocalGraph) -> int:
    """Return the largest number of arcs that a vertex has on this device."""
    arcs = part.into if part.into is not None else part.out
    return 0 if arcs is None else int(np.diff(arcs.offsets.astype(np.int64)).max(initial=0))


def _sent(devices: Sequence[Superstep]) -> npt.NDArray[np.int64]:
    """Return the bytes (k, k) that each device sends to each other device in a superstep."""
    sent = np.zeros((len(devices), len(devices)), np.int64)
    for p, step in enumerate(devices):
        for q, n_bytes in step.sent_to.items():
            sent[p, q] = n_bytes
    return sent


def _between(sent: npt.NDArray[np.int64]) -> Quotient:
    """Return bytes (k, k) as a quotient graph of the pairs of devices that communicate."""
    talks = (sent > 0) | (sent.T > 0)
    block, other = np.nonzero(talks)
    starts = np.concatenate([[0], np.cumsum(talks.sum(axis=1))]).astype(np.int64)
    nothing = np.zeros(len(sent), np.int64)
    return Quotient(starts, other, sent[block, other], np.zeros(other.size), nothing)
