"""One measurement from settings to a file of speeds: processes, journal, notes."""

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
from evener.measuring.adaptive import TOLERANCE, AdaptivePlan
from evener.measuring.campaign import DeviceRecord, Progress, run_campaign
from evener.measuring.devices import MeasuredDevice
from evener.measuring.journal import Journal
from evener.measuring.kernels import unit_of
from evener.measuring.loads import GridPlan, LoadPlan
from evener.measuring.outcomes import Point, Precision
from evener.measuring.provisional_sizes import ProvisionalSizes
from evener.measuring.ranks import RankBench, give_up, one_rank, together
from evener.measuring.together import Bench
from evener.measuring.workers import KernelJob, Worker
from evener.platforms.models.samples import DeviceSpeeds
from evener.running.comm import Comm

if TYPE_CHECKING:
    from collections.abc import Iterator

    from evener.graphs.graph import Graph


# What one measurement is of: kernel, devices, loads, precision.


@dataclass(frozen=True)
class Settings:
    """What is measured, where, at which loads, how well.

    loads: all of a grid; with `adaptive`, the least and the largest, and no more than so many are
    measured between them. total [units]: the work whose division is to be known best, if any;
    tolerance: the relative change of sizes that ends it.
    memory [B]: what each device's kernel may take. options: of the kernel. graph: its matrix, in
    place of a generated one; source says where that is from.
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
        """What must be equal for a journal's outcomes to be reused; memory may differ.

        Loads as well: what another grid does not have would be dropped with the journal.
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
    """Tell grids apart, however long: "1000, 1080, to 1000000 (91)"."""
    return f"{', '.join(map(str, loads[:2]))}, to {max(loads)} ({len(loads)})"


LONG = 5  # points of a device after which one is measured again: the computer may have changed
JOURNAL = ".journal"  # added to the name of the file that is to be written


def measure(
    settings: Settings, output: str | Path, progress: Progress, comm: Comm | None = None
) -> list[DeviceRecord]:
    """Measure all, write the file of speeds, return the records.

    What an interrupted run left in the journal is not measured again. comm: the ranks that measure
    together, each with settings of its own devices; rank 0 writes, all return all records. Raises
    NotFoundError where not a single load of any device could be measured.
    """
    comm = comm or one_rank()
    with running(settings, output, comm) as run, run.bench_of(settings) as bench:
        records = _campaigns(settings, bench, run.journal, progress)
        refuse_nothing(records)
        if comm.rank == 0:
            write_speeds(output, described(settings, bench, records))
    return records


class Running:
    """A measurement on its way: its journal, its ranks, the devices that are measured now."""

    def __init__(self, journal: Journal, comm: Comm) -> None:
        self.journal, self.comm = journal, comm
        self.bench: RankBench | None = None

    @contextmanager
    def bench_of(self, settings: Settings) -> Iterator[RankBench]:
        """Yield the devices of all ranks; this rank's processes end afterwards."""
        with bench_of(settings, self.comm) as self.bench:
            yield self.bench


@contextmanager
def running(settings: Settings, output: str | Path, comm: Comm, **more: Any) -> Iterator[Running]:
    """Keep the journal of a measurement while it runs; all went well: it is not needed any more.

    more: what else must be equal for its outcomes to be reused. An error that only this rank has
    met ends the others.
    """
    names = [name for own in comm.allgather(_devices_of(settings)) for name in own]
    lasting = settings.lasting | more | {"devices": names}
    file = f"{output}{JOURNAL}" if comm.rank == 0 else None
    journal = together(comm, lambda: Journal(file, lasting))
    journal.share(comm)
    run = Running(journal, comm)
    try:
        yield run
    except BaseException as error:
        if isinstance(error, OutputError) and (journal.kept or "") not in (error.hint or ""):
            error.hint = " ".join(filter(None, [journal.kept, error.hint]))
        # Of a kernel that never worked there is nothing to go on with.
        journal.close(discard=isinstance(error, NotFoundError) and not journal.has_points)
        if run.bench is not None and not run.bench.agreed and not isinstance(error, NotFoundError):
            give_up(comm, error)
        raise
    journal.close(discard=True)


def _campaigns(
    settings: Settings, bench: RankBench, journal: Journal, progress: Progress
) -> list[DeviceRecord]:
    """Measure together or alone as asked; then a load of each device again, and alone."""
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

    long = [len(record.points) >= LONG for record in records]
    beside = [settings.together and bench.has_company(name) for name in bench.names]
    again, alone = once_more("again", long, settings.together), once_more("alone", beside, False)
    return [
        replace(record, again=later, alone=single)
        for record, later, single in zip(records, again, alone, strict=True)
    ]


def _middle(record: DeviceRecord) -> list[int]:
    """Return the middle one of a device's loads, if there is any."""
    loads = [round(s.load) for s in record.samples if s.status == "ok"]
    return [loads[len(loads) // 2]] if loads else []


def _devices_of(settings: Settings) -> list[dict[str, Any]]:
    host = socket.gethostname()
    return [asdict(device) | {"host": host} for device in settings.devices]


def plans_of(
    settings: Settings, k: int
) -> tuple[Sequence[LoadPlan], Callable[[Sequence[DeviceRecord]], None]]:
    """Return a plan for each of k devices, and what tells them of the answer so far."""
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

    Their matrix is in a file meanwhile.
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
                    settings.memory,
                    options | ({"index": device.index} if device.kind == "cuda" else {}),
                ),
            )
            for device in settings.devices
        ]
        with RankBench(Bench(workers, settings.precision, comm.rest), comm) as bench:
            yield bench


def described(
    settings: Settings, bench: RankBench, records: Sequence[DeviceRecord]
) -> list[DeviceSpeeds]:
    """Return what the file of speeds holds of each device."""
    return [
        record.speeds(
            settings.model, notes_of(settings, host, settings.together and bench.has_company(name))
        )
        for record, name, host in zip(records, bench.names, bench.groups, strict=True)
    ]


def notes_of(settings: Settings, host: str, together: bool) -> dict[str, Any]:
    """Return what a file of speeds says of how a device was measured."""
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
    """Raise NotFoundError where nothing was measured, with the first reason."""
    if any(record.points for record in records):
        return
    gap = next((gap for record in records for gap in record.gaps), None)
    reason = f"at {gap.load:,.0f} units: {gap.message}" if gap else "no load was tried"
    raise NotFoundError(f"no load of any device could be measured; {reason}")
