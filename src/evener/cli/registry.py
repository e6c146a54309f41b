"""Every command: the module that has it, what it does, and a line that shows how."""

from __future__ import annotations

from typing import NamedTuple


class Command(NamedTuple):
    """module: where add_arguments(parser) and run(args, out) -> int are. purpose, example: help."""

    module: str
    purpose: str
    example: str


COMMANDS = {
    "plan": Command(
        "evener.cli.commands.plan",
        "partition a mesh, matrix or graph for a machine, certified",
        "evener plan wing.su2 --machine cluster.toml -o wing.plan --report wing.html",
    ),
    "evaluate": Command(
        "evener.cli.commands.evaluate",
        "judge a partition from any tool",
        "evener evaluate wing.su2 wing.part --machine cluster.toml",
    ),
    "refine": Command(
        "evener.cli.commands.refine",
        "improve a partition from any tool, never worsen it",
        "evener refine wing.su2 wing.part --machine cluster.toml -o better.part",
    ),
    "compare": Command(
        "evener.cli.commands.compare",
        "run several partitioners side by side",
        "evener compare wing.su2 --machine cluster.toml --with evener,metis",
    ),
    "advise": Command(
        "evener.cli.commands.advise",
        "which devices are worth using, and how many",
        "evener advise wing.su2 --machine cluster.toml --kernel spmv",
    ),
    "fits": Command(
        "evener.cli.commands.fits",
        "will it fit, on which devices not, by how much",
        "evener fits wing.su2 --machine cluster.toml",
    ),
    "sizes": Command(
        "evener.cli.commands.sizes",
        "how much each device gets: optimal under speed and memory",
        "evener sizes --machine cluster.toml --n 1e6",
    ),
    "measure": Command(
        "evener.cli.commands.measure",
        "measure how fast each device is at each load",
        "evener measure spmv --device cpu0,cpu1 --range 1e3:1e6 -o speeds.toml",
    ),
    "models": Command(
        "evener.cli.commands.models",
        "speed models of a speeds file, compared and drawn",
        "evener models speeds.toml --plot speeds.png",
    ),
    "tile": Command(
        "evener.cli.commands.tile",
        "divide a dense matrix into a rectangle for each device",
        "evener tile --machine cluster.toml --size 4096 --block 64",
    ),
    "machine": Command(
        "evener.cli.commands.machine",
        "describe a machine: the papers', this one, your own",
        "evener machine topo1 --k 24 --fast 4 -o cluster.toml",
    ),
    "replay": Command(
        "evener.cli.commands.replay",
        "make a plan or decisions again: are they identical",
        "evener replay wing.plan wing.su2",
    ),
    "export": Command(
        "evener.cli.commands.export",
        "write a plan's partition in a solver's format",
        "evener export wing.plan --to metis -o wing.part",
    ),
    "report": Command(
        "evener.cli.commands.report",
        "write the HTML report of a plan or of decisions",
        "evener report wing.plan wing.su2 -o wing.html",
    ),
    "info": Command(
        "evener.cli.commands.info",
        "what a graph or mesh file holds",
        "evener info wing.su2",
    ),
    "convert": Command(
        "evener.cli.commands.convert",
        "rewrite a graph or mesh as another format",
        "evener convert matrix.mtx graph.npz",
    ),
    "generate": Command(
        "evener.cli.commands.generate",
        "make a mesh, graph or speeds file: Delaunay, R-MAT, ...",
        "evener generate airfoil --n-triangles 20000 -o wing.su2",
    ),
    "warm": Command(
        "evener.cli.commands.warm",
        "compile all kernels ahead, for containers and shared folders",
        "evener warm --processes 4",
    ),
    "reproduce": Command(
        "evener.cli.commands.reproduce",
        "a paper's tables and figures, beside what we see",
        "evener reproduce fupermod -o reproduced",
    ),
    "completion": Command(
        "evener.cli.commands.completion",
        "a script by which your shell completes commands and options",
        "evener completion bash",
    ),
    "doctor": Command(
        "evener.cli.commands.doctor",
        "versions, threads, optional tools, a self-test",
        "evener doctor",
    ),
}
