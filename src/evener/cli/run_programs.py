"""The programs of `evener run`, built-in apps or users' programs, and their parameters."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

from evener.cli.run_options import RunOptions
from evener.errors import UsageError

if TYPE_CHECKING:
    from evener.graphs.directed import DirectedGraph
    from evener.graphs.graph import Graph
    from evener.running.apps.registry import App
    from evener.running.engine.program import Solver, VertexProgram
    from evener.running.program_run import ProgramRun


@dataclass(frozen=True)
class Asked:
    """What to run: a program, its app (or None), its parameters, and the number of supersteps."""

    program: VertexProgram | Solver
    app: App | None
    parameters: dict[str, float]
    most: int


def asked_of(options: RunOptions) -> Asked:
    """Return the program and its parameters. Raises UsageError for unknown parameters."""
    from evener.running.apps.registry import find_app
    from evener.running.engine.engine import MOST
    from evener.running.engine.program import VertexProgram

    app = None if options.app is None else find_app(options.app)
    program: VertexProgram | Solver = (
        VertexProgram.from_file(str(options.program)) if app is None else app.program
    )
    parameters = parameters_asked(options)
    if options.source is not None:
        parameters["source"] = options.source
    program.given(parameters)
    if options.iterations == 0:
        raise UsageError("--iterations must be at least 1, not 0")
    most = options.iterations or (None if app is None else app.iterations)
    if most is None and not program.ends_by_itself:
        raise UsageError(
            f"{program.name} does not end by itself",
            hint="Give the number of supersteps by --iterations N.",
        )
    return Asked(program, app, parameters, most or MOST)


def parameters_asked(options: RunOptions) -> dict[str, float]:
    """Return the parameters of --set. Raises UsageError for words other than NAME=VALUE."""
    return dict(_parameter(word) for word in options.set)


def _parameter(word: str) -> tuple[str, float]:
    name, _, text = word.partition("=")
    try:
        value = float(text)
    except ValueError:
        value = math.nan
    if math.isnan(value):
        raise UsageError(f"--set {word} is not NAME=VALUE with a number as VALUE")
    return name, int(value) if value.is_integer() else value


def verified(asked: Asked, graph: Graph | DirectedGraph, found: ProgramRun) -> bool:
    """Return whether another algorithm computes the same values. UsageError without an app."""
    if asked.app is None:
        raise UsageError("--verify works with --app only, not with --program")
    given: Mapping[str, float] = {**asked.program.parameters, **asked.parameters}
    return asked.app.verify(graph, found.values, found.supersteps, given)
