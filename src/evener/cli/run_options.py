"""RunOptions: what `evener run` is asked for, as its modules take it."""

from __future__ import annotations

import argparse
from dataclasses import dataclass, fields

from evener.cli.graph_options import ReadOptions, read_options_from
from evener.cli.machines import MachineOptions, machine_options_from


@dataclass(frozen=True)
class RunOptions:
    """The options of `evener run`, by the names of the command line; None where not given.

    set: parameters as NAME=VALUE. every: supersteps and seconds between checkpoints, of which one
    is given. machines: the machine that takes the place of a plan. reading: how the graph is
    read.
    """

    plan: str | None
    graph: str
    app: str | None
    program: str | None
    iterations: int | None
    source: int | None
    set: list[str]
    devices: str | None
    output: str | None
    verify: bool
    emulate: bool
    timeout: float
    report: str | None
    samples: str | None
    trace: str | None
    checkpoint: str | None
    every: tuple[int | None, float | None]
    resume: str | None
    coords: str | None
    weights: str | None
    machine: str | None
    k: int | None
    speeds: str | None
    family: str | None
    policies: str | None
    policy: str | None
    ratio: str | None
    cpu_share: float | None
    no_own: bool
    machines: MachineOptions
    reading: ReadOptions


def run_options_from(args: argparse.Namespace) -> RunOptions:
    """Return the options given."""
    made = ("machines", "reading")
    own = {key.name: getattr(args, key.name) for key in fields(RunOptions) if key.name not in made}
    return RunOptions(**own, machines=machine_options_from(args), reading=read_options_from(args))
