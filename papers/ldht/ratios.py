"""Ratios over cells of [LDHT]_'s figures, their means and intervals; rows of counter-examples.

A row is of one partitioner on one cell: see ldht_runs.py. Ratios are to geoKM on the same cell, as
in the paper's figures; rows of tools that failed have none.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

import numpy as np

from papers.findings import Row
from papers.intervals import Interval, geometric_mean, share_of
from papers.ldht.setup import BASE

Rows = Sequence[Row]
CellRows = Mapping[str, Row]  # rows of one cell by partitioner


def by_cell(rows: Rows) -> list[CellRows]:
    """Return the rows of each cell by partitioner, without those of tools that failed."""
    found: dict[tuple[object, ...], dict[str, Row]] = {}
    for row in rows:
        key = tuple(row[name] for name in ("figure", "graph", "n", "machine", "k", "caps"))
        cell = found.setdefault(key, {})
        if "failed" not in row:
            cell[str(row["tool"])] = row
    return [cell for cell in found.values() if cell]


def of(rows: Rows, **wanted: object) -> list[Row]:
    """Return rows with these values; of several where a tuple is given."""
    return [row for row in rows if all(
        row[key] in value if isinstance(value, tuple) else row[key] == value
        for key, value in wanted.items())]  # fmt: skip


def mean(ratios: Sequence[float]) -> float:
    """Return the geometric mean; nan of none."""
    return float(np.exp(np.log(ratios).mean())) if len(ratios) else float("nan")


def ratios(rows: Rows, tool: str, key: str, base: str = BASE) -> list[float]:
    """Return a figure of a tool by that of another, on each cell that has both."""
    return [
        float(cell[tool][key]) / float(cell[base][key])
        for cell in by_cell(rows)
        if tool in cell and base in cell and float(cell[base][key]) > 0
    ]


def relative(rows: Rows, tool: str, key: str, base: str = BASE) -> float:
    """Return the geometric mean of `ratios`."""
    return mean(ratios(rows, tool, key, base))


def estimated(rows: Rows, tool: str, key: str, base: str = BASE) -> Interval:
    """Return the geometric mean of `ratios` with its interval over cells."""
    return geometric_mean(ratios(rows, tool, key, base))


def part_of_cells(rows: Rows, holds: Callable[[CellRows], bool], need: Sequence[str]) -> Interval:
    """Return the part of the cells with the tools `need` for which something holds."""
    cells = [cell for cell in by_cell(rows) if all(name in cell for name in need)]
    return share_of(sum(map(holds, cells)), len(cells))


def change(
    rows: Rows, by: str, figure: Callable[[CellRows], float], need: Sequence[str]
) -> Interval:
    """Return a cell's figure at the largest value of a key by that at the least, all else alike.

    by: "speed" or "k". need: tools without which a cell is left out.
    """
    keys = ("figure", "graph", "n", "topo", "caps", *({"k", "fast", "speed"} - {by}))
    ends = sorted({float(row[by]) for row in rows})
    found: dict[tuple[object, ...], dict[float, float]] = {}
    for cell in by_cell(rows):
        if all(name in cell for name in need):
            row = next(iter(cell.values()))
            # Of k devices a twelfth or a sixth are fast: the same part is the same machine.
            fast = int(row["k"]) // int(row["fast"])
            key = tuple(fast if name == "fast" else row[name] for name in keys)
            found.setdefault(key, {})[float(row[by])] = figure(cell)
    return geometric_mean([own[ends[-1]] / own[ends[0]] for own in found.values()
                      if len(ends) > 1 and {ends[0], ends[-1]} <= set(own)])  # fmt: skip


def least(cell: CellRows, key: str, tools: Sequence[str]) -> float:
    """Return the least figure of these tools, those that are there; infinite of none."""
    return min((float(cell[name][key]) for name in tools if name in cell), default=float("inf"))


def tools_in(rows: Rows, names: Sequence[str]) -> list[str]:
    """Return those of the tools that have rows, in order."""
    present = {row["tool"] for row in rows if "failed" not in row}
    return [name for name in names if name in present]


# Rows of systems for which statements do not hold.


def swapped(rows: Rows, one: str, other: str) -> list[Row]:
    """Return the rows with the blocks of two partitioners exchanged."""
    names = {one: other, other: one}
    return [{**row, "tool": names.get(str(row["tool"]), str(row["tool"]))} for row in rows]


def reversed_speeds(rows: Rows) -> list[Row]:
    """Return the rows with the speeds of fast devices in reverse order."""
    speeds = sorted({float(row["speed"]) for row in rows})
    other = dict(zip(speeds, reversed(speeds), strict=True))
    return [{**row, "speed": other[float(row["speed"])]} for row in rows]


def reversed_devices(rows: Rows) -> list[Row]:
    """Return the rows with the numbers of devices in reverse order."""
    numbers = sorted({int(row["k"]) for row in rows})
    other = dict(zip(numbers, reversed(numbers), strict=True))
    return [{**row, "k": other[int(row["k"])]} for row in rows]


def all_alike(rows: Rows, key: str, tool: str = BASE) -> list[Row]:
    """Return the rows where all partitioners have the figure of one on each cell."""
    return [{**row, key: cell[tool][key]} for cell in by_cell(rows) if tool in cell
            for row in cell.values()]  # fmt: skip


def scaled(rows: Rows, tool: str, keys: Sequence[str], factor: float) -> list[Row]:
    """Return the rows with figures of a tool multiplied."""
    return [
        {**row, **{key: float(row[key]) * factor for key in keys if key in row}}
        if row["tool"] == tool else dict(row)
        for row in rows
    ]  # fmt: skip
