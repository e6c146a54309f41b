"""Measures speed surfaces s(m, n): the speed of a kernel on rectangles of m x n units.

A kernel's speed may depend on a rectangle's shape as well as its area; FPM-KL (5.1.3 of [Cla14]_)
chooses shapes by such surfaces. All heights are measured at one width before the next width.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np

from evener.errors import NotFoundError
from evener.io.machines.surfaces import write_surfaces
from evener.measuring.campaign import DeviceRecord, Progress, run_campaign
from evener.measuring.loads import GridPlan
from evener.measuring.outcomes import Gap
from evener.measuring.session import Running, Settings, notes_of, refuse_nothing, running
from evener.measuring.together import one_rank
from evener.platforms.models.fitting import SLOWER, SpeedSurface
from evener.platforms.models.samples import Sample
from evener.running.comm import Comm


@dataclass(frozen=True)
class Rectangles:
    """The outcomes of one device: a record for each width, whose loads are heights.

    notes: how the device was measured; they become comments of the file of surfaces.
    """

    name: str
    widths: tuple[int, ...]
    columns: tuple[DeviceRecord, ...]
    notes: tuple[str, ...] = ()

    @property
    def heights(self) -> tuple[int, ...]:
        """The heights that were measured at any width."""
        return tuple(sorted({round(s.load) for column in self.columns for s in column.samples}))

    @property
    def capacity(self) -> float:
        """The largest measured area below all that did not fit in memory; infinity if all fit."""
        ended = [area for area, gap in self._gaps() if gap.kind == "memory"]
        areas = [
            width * sample.load
            for width, column in zip(self.widths, self.columns, strict=True)
            for sample in column.samples
            if sample.status == "ok"
        ]
        fits = [area for area in areas if area < min(ended, default=math.inf)]
        return max(fits) if ended and fits else math.inf

    def surface(self) -> tuple[SpeedSurface, list[str]]:
        """Return the surface, and the rectangles that were not measured, such as "100 x 20".

        These get the speed of the next lower rectangle of their width, otherwise of the next higher
        one. Widths without any measured height are omitted. Raises NotFoundError if nothing was
        measured.
        """
        known = [i for i, column in enumerate(self.columns) if column.points]
        if not known:
            raise NotFoundError(f"no rectangle of {self.name} could be measured")
        heights, speeds, missing = self.heights, [], []
        for i in known:
            by_height = {round(s.load): s for s in self.columns[i].samples}
            missing += [f"{h} x {self.widths[i]}" for h in heights if h not in by_height]
            speeds.append([self.widths[i] * _speed(_nearest(by_height, h)) for h in heights])
        widths = [float(self.widths[i]) for i in known]
        surface = SpeedSurface(
            np.array(heights, np.float64), np.array(widths), np.array(speeds).T, self.capacity
        )
        return surface, missing

    def remarks(self) -> list[str]:
        """Return comments for the file: how it was measured, unmeasured rectangles, and reasons."""
        missing = self.surface()[1]
        stopped = [
            f"{round(sample.load)} x {width}"
            for width, column in zip(self.widths, self.columns, strict=True)
            for sample in column.samples
            if sample.status == "slower"
        ]
        said = [*self.notes]
        if missing:
            said.append(f"not measured; the file repeats the next speed: {', '.join(missing)}")
        if stopped:
            said.append(f"stopped early, seconds multiplied by {SLOWER:g}: {', '.join(stopped)}")
        said += [f"area {area:g} ({gap.kind}): {gap.message}" for area, gap in self._gaps()]
        return said

    def _gaps(self) -> list[tuple[float, Gap]]:
        pairs = zip(self.widths, self.columns, strict=True)
        return [(width * gap.load, gap) for width, column in pairs for gap in column.gaps]


def _nearest(by_height: dict[int, Sample], height: int) -> Sample:
    lower = [h for h in by_height if h <= height]
    return by_height[max(lower) if lower else min(by_height)]


def _speed(sample: Sample) -> float:
    return sample.speed / (1.0 if sample.status == "ok" else SLOWER)


def measure_surfaces(
    settings: Settings,
    widths: Sequence[int],
    output: str | Path,
    progress: Progress,
    comm: Comm | None = None,
) -> list[Rectangles]:
    """Measure each height of settings.loads at each width; write surfaces; return all outcomes.

    An interrupted run is continued and ranks cooperate as in `session.measure`. A device without
    any measured rectangle is omitted from the file. Raises NotFoundError if no device has one.
    """
    comm = comm or one_rank()
    columns: list[list[DeviceRecord]] = []
    notes: list[str] = []
    with running(settings, output, comm, second=list(widths)) as run:
        for i, width in enumerate(widths):

            def step(text: str, done: float, at: int = i, wide: int = width) -> None:
                progress(f"{text} x {wide}", (at + done) / len(widths))

            found, notes = _column(settings, width, run, step)
            columns.append(found)
        refuse_nothing([record for column in columns for record in column])
        names = [record.name for record in columns[0]]
        every = [
            Rectangles(name, tuple(widths), tuple(column[k] for column in columns), (notes[k],))
            for k, name in enumerate(names)
        ]
        known = [one for one in every if one.heights]
        if comm.rank == 0:
            write_surfaces(
                output,
                {one.name: one.surface()[0] for one in known},
                {one.name: one.remarks() for one in known},
            )
    return every


def _column(
    settings: Settings, width: int, run: Running, progress: Progress
) -> tuple[list[DeviceRecord], list[str]]:
    """Return the records of all heights at one width, and a note for each device."""
    settings = replace(settings, options={**settings.options, "width": width})
    with run.bench_of(settings) as bench:
        records = run_campaign(
            bench,
            [GridPlan(settings.loads, search=False) for _ in bench.names],
            run.journal.aside(f"{width} wide"),
            checks=run.journal.aside(f"{width} wide, checked"),
            together=settings.together,
            groups=bench.groups,
            progress=progress,
        )
        beside = [settings.together and bench.has_company(name) for name in bench.names]
        told = [
            notes_of(settings, host, together)
            for host, together in zip(bench.groups, beside, strict=True)
        ]
    return records, [
        ", ".join(f"{key} {value}" for key, value in one.items() if key != "width") for one in told
    ]
