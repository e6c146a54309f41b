"""Options for reading a mesh, matrix or graph, or for reading a plan's file again."""

from __future__ import annotations

import argparse
import math
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from evener.cli.options import add_options, option
from evener.cli.values import count
from evener.errors import InputError, UsageError

if TYPE_CHECKING:
    from evener.cli.output import Output
    from evener.graphs.graph import Graph
    from evener.io import Reading
    from evener.plans.edge_plan import EdgePlan
    from evener.plans.plan import Plan
    from evener.plans.stream_plan import StreamPlan


@dataclass(frozen=True)
class ReadOptions:
    """How a mesh, matrix or graph is read: the arguments of `evener.read`; None: not given."""

    by: str | None = option(
        "what is a vertex: the cells of a mesh, or its points (default cells)",
        choices=("cells", "points"),
    )
    format: str | None = option(
        "format of the file (default: by suffix and first bytes)", metavar="NAME"
    )
    constraint: int | None = option(
        "which of several vertex weights to use, counted from 0", type=int, metavar="I"
    )
    directed: bool | None = option(
        "lines of edge lists and entries of matrices are arcs; programs follow their direction",
        action="store_true",
    )
    couplings: bool | None = option(
        "ignore the periodic and cyclic couplings of a mesh file",
        "--no-couplings",
        action="store_false",
    )
    together: str | None = option(
        "vertices that must share a block: a file with the number of each vertex's group (-1: "
        "none), or the cells that periodic and cyclic faces couple (coupled)",
        metavar="FILE|coupled",
    )
    balance_each: str | None = option(
        "also balance the cells of each region, or of each type", choices=("region", "type")
    )
    bytes_per_vertex: float | None = option(
        "bytes of memory per vertex (default 24)", type=float, metavar="B"
    )
    bytes_per_edge: float | None = option(
        "bytes of memory per edge, at each of its ends (default 12)", type=float, metavar="B"
    )
    coords: str | None = option(
        "coordinates of the vertices (default: a file beside the input, if any)", metavar="FILE"
    )
    weights: str | None = option(
        "work per vertex: a file (FILE:COLUMN: one of its columns), the number of neighbours "
        "(degree), a cell field of the mesh file, weights by cell type or region (1 for others), "
        "or the solution points of cells at a polynomial order, with the flux points of faces as "
        "weights of edges if faces differ (default: 1 each)",
        metavar="FILE|degree|cell:NAME|type:NAME=W,...|region:NAME=W,...|order:P",
    )

    def given(self) -> dict[str, Any]:
        """Return the given options, as arguments of `evener.read`."""
        return {key: value for key, value in asdict(self).items() if value is not None}

    def recorded(self) -> dict[str, Any]:
        """Return the given options as a plan records them: names of files without folders."""
        from evener.io.weights import without_folder

        given = self.given()
        if self.coords is not None:
            given["coords"] = Path(self.coords).name
        if self.weights is not None:
            given["weights"] = without_folder(self.weights)
        if self.together is not None:
            given["together"] = without_folder(self.together)
        return given


# Types of the options as a plan records them.
_TYPES: Mapping[str, type | tuple[type, ...]] = {
    "by": str,
    "format": str,
    "constraint": int,
    "directed": bool,
    "couplings": bool,
    "together": str,
    "balance_each": str,
    "bytes_per_vertex": (int, float),
    "bytes_per_edge": (int, float),
    "coords": str,
    "weights": str,
}


def recorded_options(record: Mapping[str, Any], file: str) -> ReadOptions:
    """Return the read options recorded in a plan; `file` is named in errors.

    Raises InputError for an unknown option or a value of a wrong type.
    """
    for key, value in record.items():
        if key not in _TYPES:
            raise InputError(f"contains an unknown read option: {key!r:.60}", file=file)
        if not isinstance(value, _TYPES[key]):
            raise InputError(
                f"contains the invalid value {value!r:.60} for the read option {key!r}", file=file
            )
    return ReadOptions(**record)


def add_reading_options(parser: argparse.ArgumentParser) -> None:
    """Add all options of ReadOptions."""
    add_options(parser.add_argument_group("reading"), ReadOptions)
    parser.set_defaults(by="cells")


def read_workload(path: str, options: ReadOptions, out: Output) -> Reading:
    """Read `path` with these options, with a progress bar; notes on the file go to stderr."""
    from evener.io import read

    with out.progress(f"Reading {path}") as progress:
        given = {
            **asdict(options),
            "by": options.by or "cells",
            "directed": options.directed or False,
            "couplings": options.couplings is not False,
        }
        reading = read(path, progress=progress, **given)
    for note in reading.notes:
        out.note(f"note: {note}")
    return reading


def graph_to_divide(reading: Reading, out: Output) -> Graph:
    """Return the undirected graph to divide; print a note if arcs become edges."""
    from evener.graphs.directed import DirectedGraph, said_of_division

    if isinstance(reading.graph, DirectedGraph):
        out.note(f"note: {said_of_division(reading.graph, reading.undirected)}")
    return reading.undirected


class Load(NamedTuple):
    """A number of units, and the memory of each [B]."""

    n: int
    bytes_per_unit: float


@dataclass(frozen=True)
class LoadOptions:
    """The load to divide: n units with some edges, or a graph file; exactly one is given."""

    n: int | None = option("number of vertices, each of weight 1", type=count, metavar="N")
    edges: int = option(
        "number of edges, which take memory (default 0)", type=count, default=0, metavar="M"
    )
    graph: str | None = option("take vertices, edges and weights from this graph", metavar="FILE")
    reading: ReadOptions = field(default_factory=ReadOptions)

    def __post_init__(self) -> None:
        """Raise UsageError unless exactly one of --n and --graph is given."""
        if (self.n is None) == (self.graph is None):
            raise UsageError("give the load by either --n N or --graph FILE")
        if self.n is not None and self.n < 1:
            raise UsageError(f"--n must be above zero, not {self.n}")
        if self.edges < 0:
            raise UsageError(f"--edges must not be negative, not {self.edges}")
        if self.graph is not None and self.edges:
            raise UsageError("--edges works with --n only; a graph file has its own edges")

    @property
    def says_bytes(self) -> bool:
        """Whether an option is given that states the memory of a unit."""
        reading = self.reading
        given = reading.bytes_per_vertex is not None or reading.bytes_per_edge is not None
        return bool(self.edges) or given

    def of_units(self) -> Load:
        """Return --n units, each with the memory of a vertex and its share of --edges."""
        from evener.graphs.lists import BYTES_PER_EDGE, BYTES_PER_VERTEX

        assert self.n is not None
        per_vertex, per_edge = self.reading.bytes_per_vertex, self.reading.bytes_per_edge
        per_vertex = BYTES_PER_VERTEX if per_vertex is None else per_vertex
        per_edge = BYTES_PER_EDGE if per_edge is None else per_edge
        for name, value in (("--bytes-per-vertex", per_vertex), ("--bytes-per-edge", per_edge)):
            if not 0 <= value < math.inf:
                raise UsageError(f"{name} must be a number, zero or above, not {value}")
        # An edge is stored at both of its ends.
        return Load(self.n, float(per_vertex + per_edge * (2 * self.edges / self.n)))


def load_of(options: LoadOptions, out: Output) -> Load:
    """Return the load as an integer; UsageError if a graph's weights add up to a fraction."""
    if options.graph is None:
        return options.of_units()
    graph = graph_to_divide(read_workload(options.graph, options.reading, out), out)
    load = float(graph.weights(0).sum())
    if load < 1 or load != int(load):
        raise UsageError(
            f"the vertices of {options.graph} have a total weight of {load:g}; sizes by speed "
            "curves are "
            "whole numbers of units",
            hint="`evener plan --speeds` accepts any weights.",
        )
    return Load(int(load), graph.total_bytes / load)


def add_rereading_options(parser: argparse.ArgumentParser) -> None:
    """Add --coords, --weights and --together; all other options for reading are in the plan."""
    parser.add_argument(
        "--coords", metavar="FILE", help="the file of coordinates, if it is in another folder now"
    )
    parser.add_argument(
        "--weights", metavar="FILE", help="the file of weights, if it is in another folder now"
    )
    parser.add_argument(
        "--together", metavar="FILE", help="the file of groups, if it is in another folder now"
    )


def read_again(path: str, plan: Plan, given: ReadOptions, out: Output, file: str) -> Reading:
    """Read `path` with the read options recorded in `plan`, which was read from `file`.

    Options in `given` take precedence. Raises InputError if the plan contains unknown read options.
    """
    return read_as(path, recorded_options(recorded_reading(plan), file), given, out)


def read_options_of(plan: Plan, given: ReadOptions, file: str) -> dict[str, Any]:
    """Return the read options recorded in `plan`, from `file`; those in `given` replace them.

    Raises InputError if the plan contains unknown read options.
    """
    recorded = asdict(recorded_options(recorded_reading(plan), file))
    return recorded | given.given()


def read_as(path: str, recorded: ReadOptions, given: ReadOptions, out: Output) -> Reading:
    """Read `path` with the options of `read_options_again`."""
    return read_workload(path, read_options_again(path, recorded, given), out)


def read_options_again(path: str, recorded: ReadOptions, given: ReadOptions) -> ReadOptions:
    """Return the recorded options for reading `path` again, replaced by those given.

    Records name files without folders: they are searched for in the folder of `path`, then in the
    current folder.
    """
    files = {
        key: _located(path, name)
        for key in ("coords", "weights", "together")
        if (name := getattr(recorded, key)) is not None
    }
    return replace(recorded, **(files | given.given()))


def is_its_input(plan: Plan | EdgePlan | StreamPlan, inputs: Mapping[str, str]) -> bool:
    """Whether the plan was made from files with these digests, or records no digests.

    inputs: file name -> SHA-256, the graph's file first. A graph from other files must not be drawn
    with the plan, nor its figures recounted on it.
    """
    from evener.io.plans.promises import same_inputs

    return same_inputs(plan.inputs, inputs)


def refuse_other_input(
    plan: Plan | EdgePlan | StreamPlan, inputs: Mapping[str, str], path: str
) -> None:
    """Raise InputError if `path`, with these digests, is not the plan's file."""
    if not is_its_input(plan, inputs):
        raise InputError(
            "is not the file the plan was made from (SHA-256)",
            file=path,
            hint=f"The plan was made from {', '.join(plan.inputs)}.",
        )


def recorded_reading(plan: Plan | EdgePlan) -> dict[str, Any]:
    """Return the read options recorded in a plan, unchecked; empty if there are none."""
    record = plan.options.get("reading")
    return dict(record) if isinstance(record, dict) else {}


def _located(path: str, name: str) -> str:
    """Return the file of this name in the folder of `path`; the name itself if it is not there."""
    from evener.io.sources import find_file
    from evener.io.weights import COUPLED, DEGREE, OF_MESH, split_weights

    if name.startswith(OF_MESH) or name in (DEGREE, COUPLED):
        return name
    near = str(Path(path).parent / name)
    return near if find_file(Path(split_weights(near)[0])) is not None else name
