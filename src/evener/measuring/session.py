"""One measurement from settings to a file of speeds: processes, journal, notes."""

from __future__ import annotations

import platform as this_python
import socket
import tempfile
from collections.abc import Callable, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from evener.errors import NotFoundError
from evener.filing.speeds import write_speeds
from evener.measuring.adaptive import AdaptivePlan, Answer
from evener.measuring.benchmark import Precision
from evener.measuring.campaign import Progress, Record, run_campaign
from evener.measuring.devices import Measured
from evener.measuring.journal import Journal
from evener.measuring.kernels import unit_of
from evener.measuring.plans import GridPlan, LoadPlan
from evener.measuring.together import Bench
from evener.measuring.workers import Task, Worker

if TYPE_CHECKING:
    from collections.abc import Iterator

    from evener.graphs import Graph

JOURNAL = ".journal"  # added to the name of the file that is to be written


@dataclass(frozen=True)
class Settings:
    """What is measured, where, at which loads, how well.

    loads: all of a grid; with `adaptive`, the least and the largest, and no more than so many are
    measured between them. total [units]: the work whose division is to be known best, if any.
    memory [B]: what each device's kernel may take. options: of the kernel. graph: its matrix, in
    place of a generated one; source says where that is from.
    """

    kernel: str
    devices: tuple[Measured, ...]
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

    @property
    def lasting(self) -> dict[str, Any]:
        """What must be equal for a journal's outcomes to be reused; memory may differ."""
        return {
            "kernel": self.kernel,
            "devices": [asdict(device) for device in self.devices],
            "precision": asdict(self.precision),
            "options": dict(self.options),
            "together": self.together,
            "source": self.source,
            "adaptive": self.adaptive,
            "total": self.total,
            "host": socket.gethostname(),
        }


def measure(settings: Settings, output: str | Path, progress: Progress) -> list[Record]:
    """Measure all, write the file of speeds, return the records.

    What an interrupted run left in the journal is not measured again. Raises NotFoundError where
    not a single load of any device could be measured.
    """
    journal = Journal(f"{output}{JOURNAL}", settings.lasting)
    plans, learn = plans_of(settings)
    try:
        with bench_of(settings) as bench:
            records = run_campaign(
                bench, plans, journal, together=settings.together, progress=progress, learn=learn
            )
        refuse_nothing(records)
        notes = notes_of(settings)
        write_speeds(output, [record.speeds(settings.model, notes) for record in records])
    except BaseException:
        journal.close()
        raise
    journal.close(discard=True)
    return records


def plans_of(
    settings: Settings,
) -> tuple[Sequence[LoadPlan], Callable[[Sequence[Record]], None]]:
    """Return a plan for each device, and what tells them of the answer so far."""
    if not settings.adaptive:
        return [GridPlan(settings.loads) for _ in settings.devices], lambda records: None  # noqa: ARG005
    low, high = min(settings.loads), max(settings.loads)
    plans = [AdaptivePlan(low, high, settings.adaptive) for _ in settings.devices]
    answer = Answer(plans, low, high, settings.total)

    def learn(records: Sequence[Record]) -> None:
        answer.update([r.samples for r in records], [r.capacity for r in records])

    return plans, learn


@contextmanager
def bench_of(settings: Settings) -> Iterator[Bench]:
    """Yield the devices' processes, ended afterwards; their matrix is in a file meanwhile."""
    with tempfile.TemporaryDirectory(prefix="evener-") as folder:
        options = dict(settings.options)
        if settings.graph is not None:
            options["matrix"] = str(Path(folder) / "matrix.npz")
            np.savez(options["matrix"], indptr=settings.graph.xadj, indices=settings.graph.adjncy)
        workers = [
            Worker(
                device.name,
                Task(
                    settings.kernel,
                    device.kind,
                    device.cpus,
                    settings.memory,
                    options | ({"index": device.index} if device.kind == "cuda" else {}),
                ),
            )
            for device in settings.devices
        ]
        with Bench(workers, settings.precision) as bench:
            yield bench


def notes_of(settings: Settings) -> dict[str, Any]:
    """Return what a file of speeds says of each of its devices."""
    several = len(settings.devices) > 1
    return {
        "kernel": settings.kernel,
        "unit": unit_of(settings.kernel),
        "host": socket.gethostname(),
        "processor": this_python.machine(),
        "measured": "together" if several and settings.together else "alone",
        "precision": settings.precision.precision,
        "confidence": settings.precision.confidence,
        **({"matrix": settings.source} if settings.source else {}),
        **{key: value for key, value in settings.options.items() if key != "matrix"},
    }


def refuse_nothing(records: Sequence[Record]) -> None:
    """Raise NotFoundError where nothing was measured, with the first reason."""
    if any(record.points for record in records):
        return
    gap = next((gap for record in records for gap in record.gaps), None)
    reason = f"at {gap.load:,.0f} units: {gap.message}" if gap else "no load was tried"
    raise NotFoundError(f"no load of any device could be measured; {reason}")
