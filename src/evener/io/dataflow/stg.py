"""Reads Standard Task Graphs: number of tasks, then a line each: number, time, its predecessors.

Tasks 0 and n + 1, which the number n does not count, do nothing: they are left out. The format
says nothing of bytes: edges carry none.
"""

from __future__ import annotations

import re

from evener.graphs.stream_graph import EdgeRow, FilterRow, StreamGraph
from evener.io.dataflow.listed import Listed
from evener.io.sources import Source

# A count, in prototypes of programs also of processors; a first task, which waits for none.
_LINE = re.compile(rb"[ \t]*\d+([ \t]+\d+)?[ \t]*\r?\n[ \t]*[01][ \t]+\d+[ \t]+0[ \t]*\r?\n")


def recognises(source: Source) -> bool:
    """Return whether the file begins with a count and the line of a task that waits for none."""
    return _LINE.match(source.data) is not None


def read(source: Source) -> StreamGraph:
    """Return the graph; a unit of time is an instruction."""
    try:
        rows = [line.split() for line in source.data.decode().split("\n")]
    except UnicodeDecodeError as error:
        raise source.error("is not UTF-8 text") from error
    lines = [(i, row) for i, row in enumerate(rows, 1) if row and not row[0].startswith("#")]
    try:
        count = _whole(lines[0][1][0])
        tasks = [(i, [_whole(word) for word in row]) for i, row in lines[1:]]
    except (ValueError, IndexError) as error:
        raise source.error(
            "holds what is no whole number up to 2^53 in a Standard Task Graph"
        ) from error
    ends = {0, count + 1}
    if sum(row[0] not in ends for _, row in tasks) != count:
        raise source.error(f"says {count:,} tasks, and has {len(tasks):,} lines")
    listed = Listed(source)
    for line, row in tasks:
        if len(row) < 3 or len(row) != 3 + row[2]:
            raise source.error("has a task with other predecessors than it counts", line=line)
        if row[0] not in ends:
            listed.filters.append(FilterRow(str(row[0]), float(row[1])))
    for _, row in tasks:
        for before in row[3:]:
            if row[0] not in ends and before not in ends:
                listed.edges.append(EdgeRow(str(before), str(row[0]), 0.0))
    return listed.graph()


def _whole(word: str) -> int:
    """Return a whole number. Raises ValueError for other words, and for numbers beyond 2^53."""
    value = int(word)
    if abs(value) > 2**53:
        raise ValueError(word)
    return value
