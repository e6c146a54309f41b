"""`evener plan FILE --memory`: plan for files whose graph may not fit in memory."""

from __future__ import annotations

import argparse
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from evener.cli.graph_options import ReadOptions, read_options_again
from evener.cli.options import options_from
from evener.cli.values import size_in_bytes
from evener.errors import InputError, UsageError
from evener.wording import SIZES

if TYPE_CHECKING:
    from evener.cli.output import Output
    from evener.planning.options import PlanOptions
    from evener.plans.plan import Plan
    from evener.platforms.platform import Platform

WHOLE = "--memory divides a graph slice by slice"

# Bytes that a plan in memory takes at its peak: for each adjacency entry, measured on meshes of 4
# to 33 million vertices; and for each byte of a text of pairs, which is read and sorted.
AN_ENTRY, A_BYTE_OF_PAIRS = 25, 7
PACKED = 4  # bytes of text in a packed byte, or more
OF_MEMORY = 0.8  # share of a computer's memory that one process takes at most
NEVER_LARGE = 1 << 24  # bytes of a file


def add_memory_option(parser: argparse.ArgumentParser) -> None:
    """Add --memory."""
    parser.add_argument(
        "--memory",
        type=size_in_bytes,
        metavar="SIZE",
        help=f"use at most this much memory, such as {SIZES}: the file is read slice by slice, "
        "many times (default: only if the graph does not fit in memory)",
    )


@dataclass(frozen=True)
class SliceWords:
    """Options that decide whether a file is divided in slices: file, reading options, --memory [B].

    whole: an option that was given and needs the whole graph in memory, or None.
    """

    graph: str
    reading: ReadOptions
    memory: int | None
    whole: str | None

    @classmethod
    def again(cls, path: str, recorded: ReadOptions, given: ReadOptions, memory: int) -> SliceWords:
        """Return the options recorded in a plan for its file, whose folder may have changed."""
        return cls(path, read_options_again(path, recorded, given), memory, None)


def recorded_memory(plan: Plan, file: str) -> int | None:
    """Return the memory limit [B] of a plan that was made slice by slice, or None.

    Raises InputError if the record in `file` is invalid.
    """
    record = plan.options.get("sliced", {})
    memory = record.get("memory") if isinstance(record, Mapping) else record
    if memory is None:
        return None
    if not isinstance(memory, int) or memory < 1:
        raise InputError("holds an invalid plan option: sliced", file=file)
    return memory


def slice_words_from(args: argparse.Namespace) -> SliceWords:
    """Return the given options."""
    from evener.files.opening import is_stdin

    reading = options_from(args, ReadOptions)
    given = {
        "--versus": args.versus,
        "--cut": None if args.cut == "vertices" else args.cut,
        "--directed": reading.directed,
        "--together": reading.together,
        "--by points": None if reading.by in (None, "cells") else reading.by,
        "standard input": is_stdin(args.graph) or None,
        "a folder": Path(args.graph).is_dir() or None,
    }
    whole = next((name for name, value in given.items() if value is not None), None)
    return SliceWords(args.graph, reading, args.memory, whole)


def memory_for(words: SliceWords, options: PlanOptions, out: Output) -> int | None:
    """Return the memory limit within which a file is divided in slices [B]; None: not in slices.

    Without --memory, the limit is most of this computer's memory if the graph would not fit and no
    option needs it whole. Raises UsageError for options that do not work with --memory.
    """
    if words.memory is not None:
        if words.whole is not None:
            raise UsageError(f"{WHOLE}, and does not work with {words.whole}")
        return words.memory
    if words.whole is not None or options.tool not in ("auto", "evener") or options.connected:
        return None
    from evener.wording import memory

    path = Path(words.graph)
    if not _is_large(path):
        return None
    room = _memory_to_use()
    needed = too_large_for(path, words.reading.format, room)
    if needed is None:
        return None
    out.note(
        f"note: the graph needs about {memory(needed)}, more than this computer's memory; "
        f"Evener divides it slice by slice, within {memory(room)} (--memory)"
    )
    return room


def _is_large(path: Path) -> bool:
    """Return whether the file is so large that its graph may not fit in memory."""
    return path.is_file() and path.stat().st_size >= NEVER_LARGE


def _memory_to_use() -> int:
    """Return how much of this computer's memory, or of its control group's, a plan may use [B]."""
    from evener.measuring.this_computer import usable_memory

    return int(OF_MEMORY * usable_memory())


def too_large_for(path: Path, format: str | None, room: int) -> int | None:  # noqa: A002
    """Return the approximate memory of the graph in a file [B] if it exceeds `room`.

    None if it fits, or if the format must be read as a whole anyway.
    """
    from evener.io.converting.blocks import TextBlocks
    from evener.io.csr.csr_file import CsrFile
    from evener.io.formats import format_named, format_of
    from evener.io.graphs import metis
    from evener.planning.plan_file import is_binary

    if not _is_large(path):
        return None
    if is_binary(path):
        with CsrFile(path) as file:
            needed = AN_ENTRY * file.arcs
    else:
        blocks = TextBlocks(path)
        source = blocks.head()
        entry = format_of(source) if format is None else format_named(format)
        size = blocks.size * (PACKED if blocks.packed else 1)
        if entry.name == "metis":
            needed = size + 2 * AN_ENTRY * metis.header_of(source).m
        elif entry.name in ("edges", "matrixmarket"):
            needed = A_BYTE_OF_PAIRS * size
        else:
            return None
    return needed if needed > room else None


def planned_in_slices(
    words: SliceWords,
    memory: int,
    output: Path | None,
    options: PlanOptions,
    platform: Platform,
    out: Output,
) -> Plan:
    """Return a plan of the graph in a file.

    A binary copy of a file in another format is written to the folder of `output`, or of the file.
    """
    from evener.files.writing import is_stdout
    from evener.planning.plan_file import FileReading, FileRequest, plan_file

    reading, notes = words.reading, list[str]()
    request = FileRequest(
        Path(words.graph),
        memory,
        None if output is None or is_stdout(output) else output.parent,
        FileReading(
            reading.format,
            reading.coords,
            reading.weights,
            reading.constraint,
            reading.bytes_per_vertex,
            reading.bytes_per_edge,
        ),
        reading.recorded(),
        noted=notes.append,
    )
    with out.progress("Planning") as progress:
        made = plan_file(request, platform, options, progress)
    for note in notes:
        out.note(f"note: {note}")
    return made


def memory_taken(memory: int) -> str:
    """Return the peak memory of this process and its limit as a sentence; "" if unknown."""
    from evener.planning.plan_file import peak_bytes
    from evener.wording import memory as shown

    peak = peak_bytes()
    if peak is None:
        return ""
    allowed = "of" if peak <= memory else "more than the"
    return f"Memory: {shown(peak)} at most, {allowed} {shown(memory)} allowed."
