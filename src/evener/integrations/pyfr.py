"""PyFR: partitionings in its mesh files, and speeds from the wait times of its runs.

PyFR takes the blocks of a mesh from a partitioning that is stored in the mesh file: rank r computes
the elements in row r of the partitioning. Its version 3.1 and the development version write the
same arrays. Cells at both sides of a periodic face must share a rank, which Evener's plans of such
meshes keep.
"""

from __future__ import annotations

import configparser
import shutil
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
import numpy.typing as npt

from evener.arrays import Part
from evener.errors import InputError, UsageError
from evener.files.temporary import private_folder
from evener.graphs.graph import Graph
from evener.integrations.requests import ExportFiles, ExportRequest, one_file
from evener.platforms.models.samples import DeviceSpeeds, Sample
from evener.wording import plural, ranges

if TYPE_CHECKING:
    from evener.plans.plan import Plan

NAME = "evener"  # of the partitioning
_PIECE = 1 << 22  # bytes of a copied file that are read at once
_DAMAGED = (OSError, KeyError, RuntimeError, ValueError, TypeError)  # of h5py, for damaged files


class Partitioning(NamedTuple):
    """The arrays of a partitioning in a mesh file, int64.

    eles (n,): numbers of the elements within their types, sorted by rank, then type, then whether
    they have no neighbour on another rank, then whether they are curved. regions (k, types + 1):
    where in eles each type of each rank begins, and the rank's end. neighbours: the neighbouring
    ranks of each rank, ascending; met (k + 1,): where the neighbours of each rank begin.
    """

    eles: npt.NDArray[np.int64]
    regions: npt.NDArray[np.int64]
    neighbours: npt.NDArray[np.int64]
    met: npt.NDArray[np.int64]


def files(request: ExportRequest) -> ExportFiles:
    """Return the mesh file that was read, or a copy of it as the target, with the plan added.

    The plan becomes the partitioning NAME; an existing one is replaced only with `force`. Raises
    UsageError for plans of points and for devices without cells: PyFR has no ranks without
    elements.
    """
    source = request.source
    assert source is not None
    target = request.target or source
    if request.by != "cells":
        raise UsageError("PyFR divides cells, but this plan divides points")
    if source.suffix.lower() != ".pyfrm":
        raise UsageError(
            f"{source} is not a .pyfrm file", hint="Name the mesh file of PyFR, unpacked."
        )
    assert request.reading is not None
    if request.reading.asked.get("couplings") is False:
        raise UsageError("the plan ignores periodic faces", hint="Plan without --no-couplings.")
    empty = np.flatnonzero(np.bincount(request.part, minlength=request.k) == 0).tolist()
    if empty:
        names = ranges([request.plan.platform.names[b] for b in empty])
        raise UsageError(
            f"PyFR has no ranks without elements, but the plan has none for {names}",
            hint="`evener plan --only-used` leaves unused devices out.",
        )
    h5py = _h5py()
    try:
        with h5py.File(source, "r") as file:
            exists = NAME in file.get("partitionings", ())
            curved = {name: file[f"eles/{name}"]["curved"] for name in sorted(file["eles"])}
    except _DAMAGED as error:
        raise InputError("cannot be read as a PyFR mesh", file=source) from error
    if exists and not request.force:
        raise UsageError(
            f"{source} already has a partitioning {NAME!r}", hint="--force replaces it."
        )
    made = partitioning(request.mesh.dual_graph(), request.part, request.k, curved)
    run = f"mpiexec -n {request.k} pyfr run -b BACKEND -P {NAME} {target.name} CASE.ini"
    return one_file(target, _with_partitioning(source, made), f"The command: {run}")


def partitioning(
    graph: Graph, part: Part, k: int, curved: Mapping[str, npt.NDArray[np.bool_]]
) -> Partitioning:
    """Return the blocks `part` (n,) of the elements as PyFR's own partitioners would store them.

    curved: for each type, whether its elements are curved. graph: of the elements, which are
    numbered type by type in the order of `curved`.
    """
    sizes = [flags.size for flags in curved.values()]
    types = len(sizes)
    kind = np.repeat(np.arange(types), sizes)
    number = np.concatenate([np.arange(size) for size in sizes])
    element = np.repeat(np.arange(graph.n), graph.degrees)
    ends = np.stack([part[element], part[graph.adjncy]], axis=1)
    cut = ends[:, 0] != ends[:, 1]
    inside = np.ones(part.size, np.bool_)
    inside[element[cut]] = False
    order = np.lexsort((np.concatenate(list(curved.values())), inside, kind, part))
    counts = np.bincount(part * types + kind, minlength=k * types)
    starts = np.concatenate([[0], np.cumsum(counts)])
    rows = np.arange(k)[:, None] * types + np.arange(types + 1)
    met = np.unique(ends[cut], axis=0)
    return Partitioning(
        number[order].astype(np.int64),
        starts[rows].astype(np.int64),
        met[:, 1].astype(np.int64),
        np.concatenate([[0], np.cumsum(np.bincount(met[:, 0], minlength=k))]).astype(np.int64),
    )


def speeds(plan: Plan, late: str | Path, early: str | Path | None = None) -> list[DeviceSpeeds]:
    """Return a sample of the speed of each device, from the wait times in solution files of a run.

    plan: the plan that PyFR ran with; a sample's load is the plan's load of the device. late,
    early: solution files (.pyfrs), written with `[backend] collect-wait-times = true`; without
    `early`, the time until `late` counts, in which PyFR also compiles its kernels. Seconds are
    those of an evaluation of the right-hand side. `ev.tuned` takes the result. Raises InputError
    for files without wait times, or of another number of ranks.
    """
    wall, waits, calls = _times(Path(late))
    if early is not None:
        wall_0, waits_0, calls_0 = _times(Path(early))
        if calls_0 >= calls or waits_0.shape != waits.shape:
            raise InputError("is not a later output of the same run", file=late)
        wall, waits, calls = wall - wall_0, waits - waits_0, calls - calls_0
    loads = plan.certificate.weights
    if waits.size != loads.size:
        ranks, devices = plural(waits.size, "rank"), plural(loads.size, "device")
        raise InputError(f"is of {ranks}, but the plan has {devices}", file=late)
    busy = (wall - waits) / calls
    if not (busy > 0).all():
        raise InputError("states longer waits than the run took", file=late)
    return [
        DeviceSpeeds(name, (Sample(float(load), float(seconds), repetitions=calls),))
        for name, load, seconds in zip(plan.platform.names, loads, busy, strict=True)
    ]


def _times(path: Path) -> tuple[float, npt.NDArray[np.float64], int]:
    """Return the run's seconds without plugins, each rank's waits [s], and the evaluation count."""
    h5py = _h5py()
    try:
        with h5py.File(path, "r") as file:
            text = file["stats"][()].decode()
    except (*_DAMAGED, AttributeError, UnicodeDecodeError) as error:
        raise InputError("is not a solution of PyFR", file=path) from error
    stats = configparser.ConfigParser(interpolation=None)
    try:
        stats.read_string(text)
        time, waited = stats["solver-time-integrator"], stats["backend-wait-times"]
        # The development version has renamed the evaluations.
        calls = int(time.get("nfevals") or time["nrhsevals"])
        means = np.array(
            [waited[name].split(",") for name in waited if name.endswith("-mean")], np.float64
        )
        plugins = sum(float(time[name]) for name in time if name.startswith("plugin-wall-time"))
        wall = float(time["wall-time"]) - plugins
        usable = means.ndim == 2 and means.size > 0 and calls > 0
    except (configparser.Error, KeyError, ValueError):
        usable = False
    if not usable:
        raise InputError(
            "contains no wait times",
            file=path,
            hint="Set collect-wait-times = true in the section [backend] of PyFR's .ini file.",
        )
    return wall, np.asarray(means.sum(axis=0) * calls), calls


def _with_partitioning(source: Path, made: Partitioning) -> Iterator[bytes]:
    """Yield the mesh file with the partitioning; the file itself is not changed."""
    h5py = _h5py()
    with private_folder(source.parent) as place:
        copy = place / source.name
        shutil.copyfile(source, copy)
        try:
            with h5py.File(copy, "r+") as file:
                group = file.require_group("partitionings")
                if NAME in group:
                    del group[NAME]
                group[f"{NAME}/eles"], group[f"{NAME}/neighbours"] = made.eles, made.neighbours
                group[f"{NAME}/eles"].attrs["regions"] = made.regions
                group[f"{NAME}/neighbours"].attrs["regions"] = made.met
        except _DAMAGED as error:
            raise InputError("does not take another partitioning", file=source) from error
        with copy.open("rb") as file:
            while piece := file.read(_PIECE):
                yield piece


def _h5py() -> Any:
    try:
        import h5py
    except ImportError as error:
        raise UsageError("PyFR's files need h5py", hint="pip install evener[meshes]") from error
    return h5py
