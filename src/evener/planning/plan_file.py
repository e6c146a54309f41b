"""Makes a certified plan of a graph in a file that does not fit in memory, within a memory limit.

    file -> binary CSR, if it has another format -> slices, read several times -> plan

The limit applies to the process's resident memory, imports included. Most of the memory is
proportional to the number of vertices. Another part depends on the number of groups of blocks that
are refined one after another; the fewest groups that fit are used.
"""

from __future__ import annotations

import ctypes
import math
import re
import sys
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import numpy as np

from evener.errors import InputError, OutputError, UsageError
from evener.files.abandoned import remove_abandoned_once
from evener.files.opening import ANY_SIZE, FileState, open_input, state_of
from evener.files.steps import LoggedSteps
from evener.files.temporary import private_folder
from evener.io.converting.blocks import TextBlocks
from evener.io.converting.convert import MEMORY as CONVERT_IN
from evener.io.converting.convert import convert_to_csr
from evener.io.converting.lists import layout_of
from evener.io.converting.vertices import VertexFiles
from evener.io.csr.layout import MAGIC
from evener.io.formats import format_named, format_of
from evener.io.graphs import metis
from evener.io.graphs.streams import WholeNeeded
from evener.io.read import names_beside
from evener.io.sources import find_file
from evener.io.streaming import digest_of
from evener.io.weights import split_weights
from evener.planning.options import PlanOptions
from evener.planning.plan_slices import SlicedOrigin, plan_slices, refuse_whole, sliced_record
from evener.planning.steps import Progress
from evener.plans.plan import Plan
from evener.platforms.platform import Platform
from evener.sliced.blocks import SlicedOptions, least_clusters
from evener.sliced.facts import VertexBytes
from evener.sliced.files import FileGraph
from evener.sliced.memory import SliceSizes, least_bytes, mebibytes
from evener.wording import memory as memory_text

# Bytes of what is loaded while text is converted, kernels above all: 34 MiB were measured. And the
# least to work in, for blocks of text and what is made of them.
LOADED, LEAST_TO_CONVERT = 36 << 20, 28 << 20
WORK_ROW = 24.0  # bytes of a row of the slice that is read, while a workload's work is counted
CONVERTING, HASHING = 0.3, 0.05  # shares of all time


@dataclass(frozen=True)
class FileReading:
    """How the file is read, see `evener.read`; None: not given."""

    format: str | None = None
    coords: str | None = None
    weights: str | None = None
    constraint: int | None = None
    bytes_per_vertex: float | None = None
    bytes_per_edge: float | None = None

    @property
    def vertices(self) -> VertexFiles:
        """The options on coordinates, weights and memory of vertices and edges."""
        return VertexFiles(
            coords=self.coords,
            weights=self.weights,
            constraint=self.constraint,
            bytes_per_vertex=self.bytes_per_vertex,
            bytes_per_edge=self.bytes_per_edge,
        )


@dataclass(frozen=True)
class FileRequest:
    """The file to divide, and the limits.

    memory [B]: limit of the process's memory, imports included; None: no limit. folder: where a
    temporary binary copy of other formats is written, by default the folder of the file. recorded:
    how the file was read, for the plan. notes: the caller's notes. inputs: file name -> SHA-256,
    None if they are to be computed. noted: called with each note on the file; these are also stored
    in the plan.
    """

    path: Path
    memory: int | None = None
    folder: Path | None = None
    reading: FileReading = field(default_factory=FileReading)
    recorded: Mapping[str, Any] = field(default_factory=dict)
    notes: tuple[str, ...] = ()
    inputs: Mapping[str, str] | None = None
    noted: Callable[[str], None] | None = None

    def __post_init__(self) -> None:
        memory: object = self.memory
        if memory is None:
            return
        is_number = isinstance(memory, int | float | np.number) and not isinstance(memory, bool)
        if not is_number or not 1 <= float(memory) < math.inf:  # type: ignore[arg-type]
            raise UsageError(
                f"memory must be a number of bytes above zero, not {memory!r:.60}",
                hint="memory=2 * 2**30 means 2 GiB.",
            )
        object.__setattr__(self, "memory", int(memory))  # type: ignore[call-overload]


def plan_file(
    request: FileRequest,
    platform: Platform,
    options: PlanOptions,
    progress: Progress | None = None,
) -> Plan:
    """Divide the graph in a file over the devices of `platform`, reading it slice by slice.

    Binary CSR files are read as they are. METIS files, edge lists and Matrix Market files are first
    converted to a temporary binary file, as are binary files if other coordinates or weights than
    their own are used. Raises UsageError if the memory limit is too low, with the minimum, and for
    formats that must be read as a whole; the errors of `plan_slices`; InputError for a file that is
    invalid, or changes during reading; OutputError if the disk is full.
    """
    refuse_whole(options)  # before anything is read
    tell = progress or LoggedSteps("planning")
    reading = request.reading
    if request.memory is not None:
        give_back_freed()
    before = _states(request)
    with _as_binary(request, tell) as (path, notes), _opened(path, request) as graph:
        if request.noted is not None:
            for note in notes:
                request.noted(note)
        layout = graph.file.layout
        # Of a binary copy these are in the file.
        size = VertexBytes(
            _given(reading.bytes_per_vertex, layout.bytes_per_vertex),
            _given(reading.bytes_per_edge, layout.bytes_per_edge),
        )
        sliced = SlicedOptions()
        if request.memory is not None:
            sizes = _sizes(graph, options)
            clusters = least_clusters(platform.speeds, options.epsilon)
            _refuse_too_little(request.memory, sizes, platform.k, clusters)
            sliced = replace(sliced, memory=request.memory, sizes=sizes)
        inputs = request.inputs or _inputs(request, tell)
        _refuse_changed(before)  # what the digests are of is what was converted
        origin = SlicedOrigin(
            inputs,
            request.recorded,
            sliced_record(request.memory, sliced),
            (*request.notes, *notes),
        )
        made = plan_slices(
            graph, platform, options, sliced, size=size, origin=origin,
            progress=_later(tell, CONVERTING + HASHING),
        ).plan  # fmt: skip
    assert made is not None
    return made


def _sizes(graph: FileGraph, options: PlanOptions) -> SliceSizes:
    sizes = graph.sizes()
    if any(options.workload.shares):
        return sizes._replace(row_bytes=sizes.row_bytes + WORK_ROW)
    return sizes


def _refuse_too_little(memory: int, sizes: SliceSizes, k: int, clusters: float) -> None:
    """Raise UsageError if this memory does not suffice for any division of the graph."""
    least = least_bytes(sizes, k, clusters)
    if memory < least:
        singly = " (the limits leave so little room that vertices must be placed one by one)"
        other = " or a larger --epsilon, which needs less memory"
        alone = clusters >= sizes.n and least > least_bytes(sizes, k)
        raise UsageError(
            f"a graph of {sizes.n:,} vertices and {sizes.arcs // 2:,} edges needs at least "
            f"{mebibytes(least)} MiB of memory, libraries included{singly if alone else ''}; "
            f"--memory allows {memory / 2**20:,.0f} MiB",
            hint=f"Set --memory to at least {mebibytes(least)}MiB{other if alone else ''}.",
        )


def is_binary(path: Path) -> bool:
    """Return whether a file begins like a binary CSR file.

    Raises InputError if it cannot be read.
    """
    with open_input(path, ANY_SIZE) as file:
        return file.read(len(MAGIC)) == MAGIC


def _lies_ready(path: Path, reading: FileReading) -> bool:
    """Return whether the file can be read as it is: it is binary, and no other data are used.

    Other data are coordinates and weights from other files. Raises InputError if the file cannot be
    read.
    """
    others = reading.coords, reading.weights, reading.constraint
    return is_binary(path) and all(one is None for one in others)


def _to_convert_in(memory: int) -> int:
    """Return how much of the process's memory limit the conversion may use [B]."""
    loaded = resident_bytes() + LOADED
    own = memory - loaded
    if own < LEAST_TO_CONVERT:
        least = loaded + LEAST_TO_CONVERT
        raise UsageError(
            f"reading text needs at least {mebibytes(least)} MiB of memory, libraries included, "
            f"but --memory allows {memory / 2**20:,.0f} MiB",
            hint=f"Set --memory to at least {mebibytes(least)}MiB.",
        )
    return own


def resident_bytes() -> int:
    """Return the resident memory of this process [B]."""
    import psutil

    return int(psutil.Process().memory_info().rss)


def peak_bytes() -> int | None:
    """Return the peak resident memory of this process [B]; None if the system does not report it.

    ru_maxrss is not used, because its initial value is that of the parent process.
    """
    try:
        status = Path("/proc/self/status").read_text(encoding="ascii", errors="replace")
    except OSError:
        return None
    found = re.search(r"^VmHWM:\s*(\d+) kB$", status, re.MULTILINE)
    return None if found is None else int(found[1]) << 10


def _given(value: float | None, otherwise: float) -> float:
    return otherwise if value is None else value


@contextmanager
def _as_binary(request: FileRequest, tell: Progress) -> Iterator[tuple[Path, tuple[str, ...]]]:
    """Yield a binary CSR file of the graph, and notes on data that were omitted."""
    path, reading = request.path, request.reading
    folder = request.folder or path.parent
    remove_abandoned_once(folder)  # now, not when the plan is written: the disk may be full before
    if path.is_file() and _lies_ready(path, reading):
        yield path, ()
        return
    with private_folder(folder) as place:
        copy = place / "graph.ecsr"
        memory = CONVERT_IN if request.memory is None else _to_convert_in(request.memory)
        try:
            made = convert_to_csr(
                path, copy, format=reading.format, vertices=reading.vertices,
                memory=memory, progress=_up_to(tell, CONVERTING),
            )  # fmt: skip
        except OutputError as error:
            raise _no_room(request, folder, error) from error
        except WholeNeeded as reason:
            raise UsageError(
                f"{path} cannot be divided slice by slice: {reason}",
                hint="`evener convert` writes the graph as .ecsr, which can be divided slice by "
                "slice; converting needs memory for the whole graph.",
            ) from reason
        yield copy, made.notes


def _no_room(request: FileRequest, folder: Path, error: OutputError) -> OutputError:
    """Return the error for a full disk: it names the file to be copied, and the folder."""
    path = request.path
    return OutputError(
        f"its binary copy{_size_of_copy(request)} in the folder {folder.resolve()} {error.message}",
        file=path,
        hint=f"Choose -o X.plan in a folder with room for the copy. Or run `evener convert {path} "
        "X.ecsr` where there is room, and plan that file.",
    )


def _size_of_copy(request: FileRequest) -> str:
    """Return the size of a binary copy in words; "" if the file's first lines do not show it."""
    path, reading = request.path, request.reading
    if is_binary(path):
        return f" of about {memory_text(path.stat().st_size)}"
    source = TextBlocks(path).head()
    entry = format_of(source) if reading.format is None else format_named(reading.format)
    if entry.name != "metis":
        return ""
    return f" of about {memory_text(layout_of(metis.header_of(source)).size)}"


@contextmanager
def _opened(path: Path, request: FileRequest) -> Iterator[FileGraph]:
    """Yield the graph; errors name the file given by the user, not its copy."""
    try:
        with FileGraph.at(path) as graph:
            yield graph
    except InputError as error:
        if error.file is None or (error.file == str(path) and path != request.path):
            error.file = str(request.path)
        raise


def _inputs(request: FileRequest, tell: Progress) -> dict[str, str]:
    """Return the SHA-256 of each file read, by its name without folder."""
    tell("SHA-256 of the input", CONVERTING)
    return {file.name: digest_of(file, ANY_SIZE) for file in _files_of(request)}


def _states(request: FileRequest) -> dict[Path, FileState]:
    return {file: state_of(file) for file in _files_of(request) if file.is_file()}


def _refuse_changed(before: Mapping[Path, FileState]) -> None:
    """Raise InputError if a file has changed since `before`."""
    for file, state in before.items():
        if state_of(file) != state:
            raise InputError("was changed while it was read", file=file)


def _files_of(request: FileRequest) -> list[Path]:
    """Return the files that are read. Raises InputError if the graph's file cannot be read."""
    path, reading = request.path, request.reading
    files = [path]
    if reading.coords is not None:
        files.append(Path(reading.coords))
    elif not _lies_ready(path, reading):
        found = (find_file(path.parent / name) for name in names_beside(path.name))
        files += [one for one in found if one is not None][:1]
    if reading.weights is not None:
        files.append(Path(split_weights(reading.weights)[0]))
    return files


def _up_to(tell: Progress, share: float) -> Progress:
    return lambda step, fraction: tell(f"converting: {step}", share * fraction)


def _later(tell: Progress, begin: float) -> Progress:
    return lambda step, fraction: tell(step, begin + (1 - begin) * fraction)


# Parameters of mallopt, from malloc.h, and their values [B]. Arrays from 1 MiB on get their own
# pages. Of what smaller ones leave free, 16 MiB are kept, and more is taken 8 MiB at a time: taking
# the pages of each array anew took a seventh of all CPU time.
TRIM_THRESHOLD, TOP_PAD, MMAP_THRESHOLD = -1, -2, -3
ALLOCATION = {MMAP_THRESHOLD: 1 << 20, TOP_PAD: 8 << 20, TRIM_THRESHOLD: 16 << 20}


def give_back_freed() -> None:
    """Make malloc return large arrays to the system once they are freed.

    glibc raises its limit for these to 32 MiB as arrays are freed, and then retains freed memory:
    up to a quarter more resident memory was measured. Other C libraries are not changed.
    """
    if sys.platform == "linux":
        mallopt = getattr(ctypes.CDLL(None), "mallopt", None)
        if mallopt is not None:
            for parameter, size in ALLOCATION.items():
                mallopt(parameter, size)
