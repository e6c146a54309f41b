"""Measures all devices of one command, and writes the file of speeds: `measure`."""

from __future__ import annotations

import platform as this_python
import socket
from collections.abc import Callable, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from evener.errors import NotFoundError, OutputError
from evener.files.temporary import private_folder
from evener.files.writing import atomic_write
from evener.io.machines.speeds import write_speeds
from evener.measuring.adaptive import TOLERANCE, AdaptivePlan, ProvisionalSizes
from evener.measuring.campaign import DeviceRecord, Progress, run_campaign
from evener.measuring.devices import MeasuredDevice
from evener.measuring.journal import Journal
from evener.measuring.kernels import unit_of
from evener.measuring.loads import GridPlan, LoadPlan
from evener.measuring.outcomes import Point, Precision
from evener.measuring.together import Bench, RankBench, give_up, one_rank, together
from evener.measuring.workers import KernelJob, Worker
from evener.platforms.models.samples import DeviceSpeeds
from evener.running.comm import Comm

if TYPE_CHECKING:
    from collections.abc import Iterator

    from evener.graphs.graph import Graph

MANY_POINTS = 5  # a device with this many points is measured again at the end, to find drift
JOURNAL = ".journal"  # appended to the name of the output file


@dataclass(frozen=True)
class Settings:
    """Settings of a measurement: kernel, devices, loads, precision.

    loads [units]: a grid. adaptive: 0 for the grid; otherwise the number of loads to choose between
    its lowest and highest load. total [units]: a load whose division matters most, or None;
    tolerance: relative change of the sizes below which adaptive measuring ends.
    memory [B]: limit of each device's kernel. options: of the kernel. graph: its matrix, instead of
    a generated one; source: where the matrix comes from.
    """

    kernel: str
    devices: tuple[MeasuredDevice, ...]
    loads: tuple[int, ...]
    precision: Precision
    memory: float
    options: Mapping[str, Any] = field(default_factory=dict)
    together: bool = True
    graph: Graph | None = None
    source: str = ""
    model: str = "piecewise"
    adaptive: int = 0
    total: int | None = None
    tolerance: float = TOLERANCE

    @property
    def lasting(self) -> dict[str, Any]:
        """The settings that must be equal to reuse a journal's outcomes; memory may differ.

        Loads must be equal, too: outcomes outside a new grid would be lost when the journal is
        removed.
        """
        return {
            "kernel": self.kernel,
            "loads": _abridged(self.loads),
            "precision": asdict(self.precision),
            "options": dict(self.options),
            "together": self.together,
            "source": self.source,
            "adaptive": self.adaptive,
            "total": self.total,
            "tolerance": self.tolerance,
        }


def _abridged(loads: Sequence[int]) -> str:
    """Return an abridged grid, such as "1000, 1080, to 1000000 (91)"."""
    return f"{', '.join(map(str, loads[:2]))}, to {max(loads)} ({len(loads)})"


def measure(
    settings: Settings, output: str | Path, progress: Progress, comm: Comm | None = None
) -> list[DeviceRecord]:
    """Measure all devices, write the file of speeds, return the records.

    Outcomes that an interrupted run left in the journal are not measured again. comm: the ranks
    that measure together, each with settings for its devices; rank 0 writes, every rank returns
    all records. Raises NotFoundError if no load of any device could be measured.
    """
    comm = comm or one_rank()
    with running(settings, output, comm) as run, run.bench_of(settings) as bench:
        records = _campaigns(settings, bench, run.journal, progress)
        refuse_nothing(records)
        if comm.rank == 0:
            write_speeds(output, described(settings, bench, records))
    return records


class Running:
    """A measurement in progress: its journal, its ranks, and the devices being measured."""

    def __init__(self, journal: Journal, comm: Comm) -> None:
        self.journal, self.comm = journal, comm
        self.bench: RankBench | None = None

    @contextmanager
    def bench_of(self, settings: Settings) -> Iterator[RankBench]:
        """Yield the devices of all ranks; this rank's processes end afterwards."""
        with bench_of(settings, self.comm) as self.bench:
            yield self.bench


@contextmanager
def running(
    settings: Settings, output: str | Path | None, comm: Comm, **more: Any
) -> Iterator[Running]:
    """Context manager: open the journal of a measurement, and remove it if no error is raised.

    output: the file next to which the journal is; None: the journal is only in memory. more: other
    values that must be equal to reuse its outcomes. If only this rank has an error, the other ranks
    are ended, too.
    """
    names = [name for own in comm.allgather(_devices_of(settings)) for name in own]
    lasting = settings.lasting | more | {"devices": names}
    file = f"{output}{JOURNAL}" if comm.rank == 0 and output is not None else None
    journal = together(comm, lambda: Journal(file, lasting))
    journal.share(comm)
    run = Running(journal, comm)
    try:
        yield run
    except BaseException as error:
        if isinstance(error, OutputError) and (journal.kept or "") not in (error.hint or ""):
            error.hint = " ".join(filter(None, [journal.kept, error.hint]))
        # If a kernel never worked, there is nothing to continue from.
        journal.close(discard=isinstance(error, NotFoundError) and not journal.has_points)
        if run.bench is not None and not run.bench.agreed and not isinstance(error, NotFoundError):
            give_up(comm, error)
        raise
    journal.close(discard=True)


def _campaigns(
    settings: Settings, bench: RankBench, journal: Journal, progress: Progress
) -> list[DeviceRecord]:
    """Measure all loads; then one load of each device again, and once while others are idle."""
    plans, learn = plans_of(settings, len(bench.names))
    records = run_campaign(
        bench,
        plans,
        journal,
        checks=journal.aside("checked"),
        together=settings.together,
        groups=bench.groups,
        progress=progress,
        learn=learn,
    )
    loads = [_middle(record) for record in records]

    def once_more(name: str, chosen: Sequence[bool], together: bool) -> list[list[Point]]:
        found = run_campaign(
            bench,
            [GridPlan(own if yes else []) for own, yes in zip(loads, chosen, strict=True)],
            journal.aside(name),
            together=together,
            groups=bench.groups,
            progress=lambda step, fraction: progress(f"{step}, {name}", fraction),
        )
        return [record.points for record in found]

    long = [len(record.points) >= MANY_POINTS for record in records]
    beside = [settings.together and bench.has_company(name) for name in bench.names]
    again, alone = once_more("again", long, settings.together), once_more("alone", beside, False)
    return [
        replace(record, again=later, alone=single)
        for record, later, single in zip(records, again, alone, strict=True)
    ]


def _middle(record: DeviceRecord) -> list[int]:
    """Return a list with a device's middle load; empty if nothing was measured."""
    loads = [round(s.load) for s in record.samples if s.status == "ok"]
    return [loads[len(loads) // 2]] if loads else []


def _devices_of(settings: Settings) -> list[dict[str, Any]]:
    host = socket.gethostname()
    return [asdict(device) | {"host": host} for device in settings.devices]


def plans_of(
    settings: Settings, k: int
) -> tuple[Sequence[LoadPlan], Callable[[Sequence[DeviceRecord]], None]]:
    """Return a plan for each of k devices, and a function to call with the records so far."""
    if not settings.adaptive:
        return [GridPlan(settings.loads) for _ in range(k)], lambda records: None  # noqa: ARG005
    low, high = min(settings.loads), max(settings.loads)
    plans = [AdaptivePlan(low, high, settings.adaptive, settings.tolerance) for _ in range(k)]
    answer = ProvisionalSizes(plans, low, high, settings.total, settings.tolerance)

    def learn(records: Sequence[DeviceRecord]) -> None:
        answer.update([r.samples for r in records], [r.capacity for r in records])

    return plans, learn


@contextmanager
def bench_of(settings: Settings, comm: Comm) -> Iterator[RankBench]:
    """Yield the devices of all ranks; this rank's processes end afterwards.

    If a matrix is given, the processes read it from a temporary file.
    """
    with private_folder() as folder:
        options = dict(settings.options)
        if settings.graph is not None:
            options["matrix"] = str(folder / "matrix.npz")
            with atomic_write(options["matrix"]) as file:
                np.savez(file, indptr=settings.graph.xadj, indices=settings.graph.adjncy)
        workers = [
            Worker(
                device.name,
                KernelJob(
                    settings.kernel,
                    device.kind,
                    device.cpus,
                    settings.memory if device.memory is None else device.memory,
                    options
                    | dict(device.options)
                    | ({"index": device.index} if device.kind == "cuda" else {}),
                ),
            )
            for device in settings.devices
        ]
        with RankBench(Bench(workers, settings.precision, comm.rest), comm) as bench:
            yield bench


def described(
    settings: Settings, bench: RankBench, records: Sequence[DeviceRecord]
) -> list[DeviceSpeeds]:
    """Return each device as the file of speeds stores it."""
    return [
        record.speeds(
            settings.model, notes_of(settings, host, settings.together and bench.has_company(name))
        )
        for record, name, host in zip(records, bench.names, bench.groups, strict=True)
    ]


def notes_of(settings: Settings, host: str, together: bool) -> dict[str, Any]:
    """Return the notes of a file of speeds on how a device was measured."""
    return {
        "kernel": settings.kernel,
        "unit": unit_of(settings.kernel),
        "host": host,
        "processor": this_python.machine(),
        "measured": "together" if together else "alone",
        "precision": settings.precision.precision,
        "confidence": settings.precision.confidence,
        **({"matrix": settings.source} if settings.source else {}),
        **{key: value for key, value in settings.options.items() if key != "matrix"},
    }


def refuse_nothing(records: Sequence[DeviceRecord]) -> None:
    """Raise NotFoundError, with the first reason, if nothing was measured."""
    if any(record.points for record in records):
        return
    gap = next((gap for record in records for gap in record.gaps), None)
    reason = f"at {gap.load:,.0f} units: {gap.message}" if gap else "no load was tried"
    raise NotFoundError(f"no load of any device could be measured; {reason}")
