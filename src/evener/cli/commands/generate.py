"""`evener generate`: make a mesh, graph, machine or speeds file of a family, from a random seed."""

from __future__ import annotations

import argparse
import inspect
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any

from evener.cli.values import refuse_outputs, seed, size_in_bytes
from evener.errors import UsageError
from evener.files.writing import is_stdout
from evener.wording import meant

if TYPE_CHECKING:
    from evener.cli.output import Output, Progress
    from evener.graphs.directed import DirectedGraph
    from evener.graphs.generating.families import Family
    from evener.graphs.graph import Graph
    from evener.graphs.mesh import Mesh
    from evener.graphs.stream_graph import StreamGraph
    from evener.platforms.models.samples import DeviceSpeeds
    from evener.platforms.platform import Platform

    Made = Graph | DirectedGraph | Mesh | StreamGraph | Platform | tuple[DeviceSpeeds, ...]

DEFAULT_SEED = 7
IN_TOML = ("speeds", "stream graph", "machine")
ONES_OF_ANY_SIZE = "grid, rgg, rmat"
N_FILTERS = "number of filters"


def families() -> dict[str, Family]:
    """Return all families that can be generated, by name: graphs, meshes, machines, speeds."""
    from evener.graphs.generating.families import GENERATORS, Family
    from evener.platforms.models.examples import CURVE_SETS, emulated_speeds

    speeds = Family(
        emulated_speeds,
        "speeds",
        "samples of emulated devices, for a speeds file",
        {
            "curves": f"devices: {', '.join(CURVE_SETS)}",
            "points": "samples of each device (default 20)",
            "noise": "relative standard deviation of a time (default 0)",
            "repetitions": "number of times that a sample averages (default 5)",
        },
    )
    return GENERATORS | {"speeds": speeds} | _of_streams()


def _of_streams() -> dict[str, Family]:
    from evener.graphs.generating.families import Family

    machine = Family(
        _stream_machine,
        "machine",
        "mesh of CPUs and GPUs, for stream graphs",
        {
            "k": "number of processors, such as 64, 128, ... 4096",
            "setting": "A (default): CPUs with vectors of 4 to 32 values, GPUs with fewer MIPS; B: "
            "all vector lengths from one set",
        },
    )
    graph = Family(
        _stream_graph,
        "stream graph",
        "stream graph of layers of filters, for a machine",
        {
            "n": N_FILTERS,
            "machine": "machine file; CCR refers to its speeds and links",
            "degree": "edges from a filter, on average (default 4)",
            "ccr": "ratio of an edge's mean seconds to a filter's (default 0.1)",
            "alpha": "sqrt(n) / alpha layers (default 1)",
            "beta": "per cent of filters that suit GPUs (default 50)",
            "gamma": "spread of requirements, 50 times sigma of a lognormal (default 25)",
            "reading": "how filters' seconds are read, as for `evener map` (default ceil)",
        },
    )
    return {"stream-machine": machine, "stream-graph": graph}


def _stream_machine(k: int, seed: int, setting: str = "A") -> Platform:
    """Return a random machine with the parameters of [Muralidharan13]_."""
    from evener.streams.generating import random_machine

    return random_machine(k, setting, seed)


def _stream_graph(  # noqa: PLR0913 - one for each parameter of the paper
    n: int,
    machine: str,
    seed: int,
    *,
    degree: int = 4,
    ccr: float = 0.1,
    alpha: float = 1.0,
    beta: float = 50.0,
    gamma: float = 25.0,
    reading: str = "",
) -> StreamGraph:
    """Return a random stream graph for a machine file, with parameters of [Muralidharan13]_."""
    from evener.io.machines.platforms import read_platform
    from evener.streams.generating import GraphParameters, random_stream_graph
    from evener.streams.readings import reading_of

    parameters, read_as = GraphParameters(n, degree, ccr, alpha, beta, gamma), reading_of(reading)
    return random_stream_graph(parameters, read_platform(machine), seed, read_as)


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the command's arguments."""
    known = families()
    width = max(map(len, known))
    parser.epilog = "families:\n" + "\n".join(
        f"  {name:<{width}}  {family.purpose}: {' '.join(map(_option, family.parameters))}"
        for name, family in known.items()
    )
    parser.add_argument("family", metavar="FAMILY", help="one of the families below")
    parser.add_argument(
        "-o",
        "--output",
        required=True,
        metavar="FILE",
        help=".graph, .npz, .mtx, ...; meshes also .su2, .vtu (otherwise the graph of their "
        "cells is written); "
        "speeds, machines and stream graphs .toml",
    )
    parser.add_argument(
        "--to",
        metavar="SUFFIX",
        help="format of FILE, such as `graph` or `su2` (default: its suffix; needed for `-o -`)",
    )
    parser.add_argument(
        "--seed",
        type=seed,
        default=DEFAULT_SEED,
        help="random seed; the same seed gives the same result (default 7)",
    )
    parser.add_argument(
        "--memory",
        type=size_in_bytes,
        metavar="SIZE",
        help=f"for {ONES_OF_ANY_SIZE} in .ecsr, written during generation: memory to "
        "use, such as 4GiB (default 1GiB)",
    )
    texts: dict[str, dict[str, list[str]]] = {}
    for name, family in known.items():
        for parameter, text in family.parameters.items():
            texts.setdefault(parameter, {}).setdefault(text, []).append(name)
    for parameter, meanings in texts.items():
        about = "; ".join(f"{', '.join(names)}: {text}" for text, names in meanings.items())
        if any(_kind_of(family, parameter) == "bool" for family in known.values()):
            parser.add_argument(_option(parameter), action="store_const", const="yes", help=about)
        else:
            parser.add_argument(_option(parameter), metavar="X", help=about)


def run(args: argparse.Namespace, out: Output) -> int:
    """Make and write a mesh, a graph or a speeds file; print its contents."""
    from evener.io.write import writer_for

    known = families()
    if args.family not in known:
        near = meant(args.family, known)
        hint = f"Families: {', '.join(known)}."
        raise UsageError(f"there is no family {args.family!r}{near}", hint=hint)
    family = known[args.family]
    options = {name: getattr(args, name) for one in known.values() for name in one.parameters}
    given = _given(args.family, options, args.seed)
    refuse_outputs([args.output], [args.machine])
    suffix = _suffix(args.output, args.to)
    as_mesh = _checked_suffix(suffix, Path(args.output), family)
    if given.get("directed"):
        writer_for(Path(f"graph{suffix}"), None, directed=True)
    with out.progress("generate") as progress:
        progress(args.family, 0.02)  # show the bar at once: how long it takes is unknown
        if suffix == ".ecsr" and _is_written_at_once(args.family, args.output):
            counts = _written_at_once(args.family, args.output, given, args.memory, progress)
            notes: tuple[str, ...] = ()
        else:
            if args.memory is not None:
                raise UsageError(f"--memory is for {ONES_OF_ANY_SIZE} in .ecsr, not compressed")
            made = family.make(**given)
            progress("write", 0.7)
            notes, counts = _write(args.output, made, suffix, as_mesh=as_mesh)
    for note in notes:
        out.note(f"note: {note}")
    out.say(f"Written: {args.output}: " + ", ".join(f"{n:,} {what}" for what, n in counts.items()))
    out.result(
        {"written": args.output, "family": args.family, **given, **counts, "notes": list(notes)}
    )
    return 0


def _is_written_at_once(family: str, output: str) -> bool:
    """Whether a binary CSR file of any size is written while the graph is generated."""
    from evener.io.converting.generated import GENERATED
    from evener.io.csr.csr_writer import can_be_filled
    from evener.io.sources import PACKINGS

    is_plain = Path(output).suffix not in PACKINGS and can_be_filled(output)
    return family in GENERATED and is_plain


def _written_at_once(
    family: str, output: str, given: dict[str, Any], memory: int | None, progress: Progress
) -> dict[str, int]:
    """Write a graph while it is generated; return its counts."""
    from evener.io.converting.convert import MEMORY
    from evener.io.converting.generated import GENERATED, Working

    # Arcs were refused before: the format has none.
    given = {name: value for name, value in given.items() if name != "directed"}
    n, m = GENERATED[family](output, **given, work=Working(memory or MEMORY, progress))
    return {"vertices": n, "edges": m}


def _given(family_name: str, options: dict[str, str | None], seed: int) -> dict[str, Any]:
    """Return the family's parameters. Raises UsageError for unknown and for missing ones."""
    family = families()[family_name]
    for name, text in options.items():
        if name not in family.parameters and text is not None:
            belongs = ", ".join(map(_option, family.parameters))
            raise UsageError(f"{family_name} has no {_option(name)}", hint=f"It has {belongs}.")
    given: dict[str, Any] = {"seed": seed} if family.seeded else {}
    signature = inspect.signature(family.make).parameters
    for name in family.parameters:
        text = options[name]
        if text is not None:
            given[name] = _value(text, _kind_of(family, name), _option(name))
        elif signature[name].default is inspect.Parameter.empty:
            about = family.parameters[name]
            raise UsageError(
                f"{family_name} needs {_option(name)}", hint=f"{_option(name)}: {about}."
            )
    return given


def _kind_of(family: Family, parameter: str) -> str:
    """Return the annotated type of a parameter; empty if the family lacks the parameter."""
    if parameter not in family.parameters:
        return ""
    return str(inspect.signature(family.make).parameters[parameter].annotation)


def _value(text: str, annotation: str, option: str) -> Any:
    kinds: dict[str, tuple[Callable[[str], Any], str]] = {
        "str": (str, "text"),
        "int": (int, "a whole number"),
        "float": (float, "a number"),
        "bool": (bool, "a flag without a value"),
        "Sequence[int]": (
            lambda sides: [int(side) for side in sides.split("x")],
            "a shape such as 100x200",
        ),
    }
    convert, wanted = kinds[annotation]
    try:
        return convert(text)
    except ValueError as error:
        raise UsageError(f"{option} must be {wanted}, not {text!r}") from error


def _suffix(output: str, to: str | None) -> str:
    """Return the suffix that selects the format: `to` if given, else the file's suffix."""
    if to is not None:
        return "." + to.lower().removeprefix(".")
    if is_stdout(output):
        raise UsageError("stdout has no suffix to choose the format by", hint="Give --to.")
    from evener.io.sources import without_packing

    return without_packing(output).suffix.lower()


def _checked_suffix(suffix: str, path: Path, family: Family) -> bool:
    """Return whether to write a mesh; raise UsageError for unknown formats before any work."""
    from evener.io.formats import FORMATS
    from evener.io.sources import PACKINGS
    from evener.io.write import MESH_WRITERS

    if family.returns in IN_TOML:
        if suffix != ".toml" or path.suffix in PACKINGS:
            raise UsageError(f"a {family.returns} file ends in .toml, unlike {path.name}")
        return False
    if suffix in MESH_WRITERS and path.suffix not in PACKINGS:
        if family.returns == "mesh":
            return True
        raise UsageError(
            f"{path} would be a mesh file, but this family generates a graph",
            hint="Use .graph, or another graph format.",
        )
    graphs = [entry.suffixes for entry in FORMATS if entry.writes]
    if suffix not in {own for suffixes in graphs for own in suffixes}:
        known = [suffixes[0] for suffixes in graphs]
        known += MESH_WRITERS if family.returns == "mesh" else []
        raise UsageError(
            f"no output format has the suffix of {path.name}",
            hint=f"Use one of {', '.join(known)}.",
        )
    return False


def _option(parameter: str) -> str:
    return "--" + parameter.replace("_", "-")


def _write(
    path: str,
    made: Made,
    suffix: str,
    *,
    as_mesh: bool,
) -> tuple[tuple[str, ...], dict[str, int]]:
    """Write a mesh as such or as the graph of its cells; returns remarks and counts."""
    from evener.graphs.stream_graph import StreamGraph
    from evener.platforms.platform import Platform

    if isinstance(made, StreamGraph):
        from evener.io.dataflow.reading import write_stream_graph

        write_stream_graph(path, made, "toml")
        return (), {"filters": made.n, "edges": made.m}
    if isinstance(made, Platform):
        from evener.io.machines.platforms import write_platform

        write_platform(path, made)
        return (), {"devices": made.k, "links": len(made.connections)}
    if isinstance(made, tuple):
        from evener.io.machines.speeds import write_speeds

        write_speeds(path, made)
        return (), {"devices": len(made), "samples": sum(len(d.samples) for d in made)}
    from evener.graphs.mesh import Mesh
    from evener.io.write import write_graph, write_mesh, writer_for

    if isinstance(made, Mesh):
        if as_mesh:
            write_mesh(path, made, suffix)
            return (), {"cells": made.n_cells, "points": made.n_points}
        made = made.dual_graph()
    entry = writer_for(Path(f"graph{suffix}"), None, directed=not made.symmetric)
    counts = {"vertices": made.n, "edges" if made.symmetric else "arcs": made.m}
    return write_graph(path, made, entry.name), counts
