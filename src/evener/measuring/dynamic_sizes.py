"""measure_sizes: finds sizes by measuring devices at relevant loads only, without models (DPA).

This is dyparter of [Cla14]_, A.5: each step measures a kernel on all devices at once, at the
current sizes, refines partial models, and computes new sizes, until the times agree (Dynamic, in
evener.sizing.dynamic, decides). Every outcome is in the journal under its step, so that after an
interruption the same command repeats the steps without measuring them again.

measure_nested finds sizes of a nested matrix product. Each rank is a node. It runs IDPA on its own
devices, which time the product of one step of the program with parts of the shapes being tried; all
ranks together run INPA on the times of the nodes ([Cla14]_, 5.2.1 and 5.2.2).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import numpy as np

from evener.arrays import FloatArray, IntArray
from evener.errors import InfeasibleError, NotFoundError, UsageError
from evener.io.machines.speeds import write_speeds
from evener.measuring.benchmark import is_lack_of_memory
from evener.measuring.campaign import DeviceRecord, outcomes_of
from evener.measuring.outcomes import Gap, Outcome, Point
from evener.measuring.session import Running, Settings, notes_of, running
from evener.measuring.together import RankBench, one_rank, together
from evener.platforms.models.fitting import SLOWER, pooled
from evener.platforms.models.samples import DeviceSpeeds, Sample
from evener.running.apps.matmul_nested import NodeDevices
from evener.running.comm import Comm
from evener.sizing.dynamic import MAX_STEPS, Dynamic, Observed
from evener.sizing.nested import NestedTiling, Slices, SliceSearch, tiling_of_nodes


@dataclass(frozen=True)
class DynamicTerms:
    """The problem of measure_sizes: to divide n units so that the devices' times agree to epsilon.

    method, max_steps: of Dynamic. low, high: limits [units]: None, one for all devices, or (k,).
    samples: earlier measurements by name of the device; a device without samples begins anew.
    """

    n: int
    epsilon: float = 0.05
    method: str = "auto"
    low: Sequence[int] | int | None = None
    high: Sequence[int] | int | None = None
    max_steps: int = MAX_STEPS
    samples: Mapping[str, Sequence[Sample]] = field(default_factory=dict)

    @property
    def lasting(self) -> dict[str, Any]:
        """The terms that must be equal to reuse the steps of an interrupted run."""
        samples = {name: [[s.load, s.seconds] for s in own] for name, own in self.samples.items()}
        return {"n": self.n, "epsilon": self.epsilon, "method": self.method,
                "low": self.low, "high": self.high, "samples": samples}  # fmt: skip


@dataclass(frozen=True, eq=False)
class MeasuredSizes:
    """The result of measure_sizes: device names, and the search with all its steps.

    records: all measurements of each device.
    """

    names: tuple[str, ...]
    search: Dynamic
    records: tuple[DeviceRecord, ...]

    @property
    def best(self) -> Observed:
        """The best sizes (k,) [units], with the times measured for them."""
        return self.search.best


def measure_sizes(
    settings: Settings,
    terms: DynamicTerms,
    output: str | Path | None,
    tell: Callable[[int, Sequence[str], Observed], None] = lambda *_: None,
    comm: Comm | None = None,
) -> MeasuredSizes:
    """Return sizes, n units in all, for the devices of all ranks; measures all devices at once.

    settings: kernel, this rank's devices and the precision; its loads are not used. output: speeds
    file for the samples of all steps, with a journal next to it until the search ends; None: no
    files. tell: called after each step with its number (from 1), the devices' names and the
    observed times. comm: as for session.measure. Raises NotFoundError if no device could compute
    its first load, InfeasibleError, with the reasons, if n units exceed the devices' total
    capacity.
    """
    comm = comm or one_rank()
    with running(settings, output, comm, **terms.lasting) as run, run.bench_of(settings) as bench:
        records = tuple(DeviceRecord(name) for name in bench.names)
        search = _searched(terms, run, bench, records, tell)
        if comm.rank == 0 and output is not None:
            write_speeds(output, _described(settings, bench, records))
    return MeasuredSizes(tuple(bench.names), search, records)


def _searched(
    terms: DynamicTerms,
    run: Running,
    bench: RankBench,
    records: Sequence[DeviceRecord],
    tell: Callable[[int, Sequence[str], Observed], None],
) -> Dynamic:
    k = len(bench.names)
    search = Dynamic(
        terms.n, k, terms.epsilon, terms.method, terms.low, terms.high, terms.max_steps,
        samples=[terms.samples.get(name, ()) for name in bench.names] if terms.samples else None,
    )  # fmt: skip
    sizes: IntArray | None = search.sizes
    while sizes is not None:
        step = len(search.history) + 1
        loads = [size if size else None for size in sizes.tolist()]
        found = outcomes_of(bench, loads, [None] * k, run.journal.aside(f"step {step}"))
        for record, outcome in zip(records, found, strict=True):
            if outcome is not None:
                record.add(outcome)
        sizes = _observed(search, found, records)
        tell(step, bench.names, search.history[-1])
    return search


def _observed(
    search: Dynamic, found: Sequence[Outcome | None], records: Sequence[DeviceRecord]
) -> IntArray | None:
    """Pass the times to the search; if it raises an error, add why devices failed."""
    gaps = [f"{record.name}: {record.gaps[-1].message}" for record in records if record.gaps]
    if not any(record.points for record in records):
        raise NotFoundError(f"no device could compute its first load; {gaps[0]}")
    try:
        return search.observe(seconds_of(found))
    except InfeasibleError as error:
        error.hint = "; ".join(filter(None, [error.hint, *gaps])) or None
        raise


def seconds_of(outcomes: Sequence[Outcome | None]) -> FloatArray:
    """Return the times (k,) [s] of outcomes: infinity for a gap, 0 for an idle device.

    A load that was stopped counts as SLOWER times its time limit, as in models.
    """
    return np.array([_seconds(outcome) for outcome in outcomes])


def _seconds(outcome: Outcome | None) -> float:
    if isinstance(outcome, Point):
        sample = outcome.sample
        return sample.seconds * (SLOWER if sample.status == "slower" else 1.0)
    return np.inf if isinstance(outcome, Gap) else 0.0


def _described(
    settings: Settings, bench: RankBench, records: Sequence[DeviceRecord]
) -> list[DeviceSpeeds]:
    """Return each device with one sample per load, as the file of speeds stores it."""
    described = []
    for record, host in zip(records, bench.groups, strict=True):
        notes = notes_of(settings, host, bench.has_company(record.name))
        speeds = record.speeds(settings.model, notes)
        described.append(replace(speeds, samples=tuple(pooled(speeds.samples))))
    return described


REPETITIONS = 5  # of a product, whose median time counts
NESTED_STEPS = 20  # of INPA, and of IDPA in each of its steps
FACTOR = 1e-3  # entries of the pivots


def measure_nested(
    comm: Comm,
    node: NodeDevices,
    n: int,
    block: int,
    *,
    epsilon: float = 0.1,
    method: str = "gpa",
    max_steps: int = NESTED_STEPS,
    repetitions: int = REPETITIONS,
) -> NestedTiling:
    """Return a tiling of n x n entries over the nodes of all ranks, and the slices of each node.

    The result is the same on every rank. node: this rank's devices. block: side of the blocks, and
    width of a pivot. epsilon: spread of nodes' times that counts as balanced; within a node, half
    of epsilon. method, max_steps: of Dynamic. repetitions: of each measurement of a product, whose
    median counts. Raises the errors of tiling_of_nodes, on all ranks.
    """
    if repetitions < 1:
        raise UsageError(f"a product must be measured at least once, not {repetitions} times")

    def measure(_: IntArray, rows: int, columns: IntArray) -> FloatArray:
        return product_seconds(node, rows, columns, block, repetitions)

    search = SliceSearch(range(len(node.devices)), measure, epsilon / 2, method, max_steps)

    def slice_nodes(sides: IntArray) -> Sequence[Slices]:
        rows, columns = sides[comm.rank].tolist()
        return comm.allgather(together(comm, lambda: search.slices(rows, columns)))

    return tiling_of_nodes(
        comm.size, (n, n), block, slice_nodes,
        epsilon=epsilon, method=method, max_steps=max_steps,
    )  # fmt: skip


def product_seconds(
    node: NodeDevices, rows: int, columns: IntArray, block: int, repetitions: int = REPETITIONS
) -> FloatArray:
    """Return the median times (p,) [s] of a step's product on the devices of a node, run at once.

    Device j computes rows x columns[j] entries of C; its time is infinity if they do not fit in its
    memory. The first product warms up and is not counted.
    """
    errors = node.take(rows, columns, block)
    for error in errors:
        if error is not None and not is_lack_of_memory(error):
            raise error
    failed = np.array([error is not None for error in errors])
    column = np.full((rows, block), FACTOR)
    strips = [np.full((block, own), FACTOR) for own in np.where(failed, 0, columns).tolist()]
    node.add(column, strips)
    seconds = np.median([node.add(column, strips) for _ in range(repetitions)], axis=0)
    node.release()
    return np.where(failed, np.inf, seconds)
