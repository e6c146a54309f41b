"""Lists the commands: module, purpose, example."""

from __future__ import annotations

from typing import NamedTuple


class Command(NamedTuple):
    """A command, as listed by --help.

    module: defines add_arguments(parser) and run(args, out) -> int. purpose, example: texts for
    --help.
    """

    module: str
    purpose: str
    example: str


COMMANDS = {
    "plan": Command(
        "evener.cli.commands.plan",
        "partition a mesh, matrix or graph for a machine, with a certificate",
        "evener plan wing.su2 --machine cluster.toml -o wing.plan --report wing.html",
    ),
    "evaluate": Command(
        "evener.cli.commands.evaluate",
        "evaluate a partition from any tool",
        "evener evaluate wing.su2 wing.part --machine cluster.toml",
    ),
    "refine": Command(
        "evener.cli.commands.refine",
        "improve a partition from any tool, without increasing the chosen objective",
        "evener refine wing.su2 wing.part --machine cluster.toml -o better.part",
    ),
    "compare": Command(
        "evener.cli.commands.compare",
        "run several partitioners side by side",
        "evener compare wing.su2 --machine cluster.toml --with evener,metis",
    ),
    "advise": Command(
        "evener.cli.commands.advise",
        "find which devices are worth using, and how many",
        "evener advise wing.su2 --machine cluster.toml --kernel spmv",
    ),
    "fits": Command(
        "evener.cli.commands.fits",
        "check whether a graph fits in memory, and how much each device lacks",
        "evener fits wing.su2 --machine cluster.toml",
    ),
    "sizes": Command(
        "evener.cli.commands.sizes",
        "compute how much each device gets, by its speed and memory",
        "evener sizes --machine cluster.toml --n 1e6",
    ),
    "measure": Command(
        "evener.cli.commands.measure",
        "measure the speed of each device at many loads",
        "evener measure spmv --device cpu0,cpu1 --range 1e3:1e6 -o speeds.toml",
    ),
    "models": Command(
        "evener.cli.commands.models",
        "compare and draw the speed models of a speeds file",
        "evener models speeds.toml --plot speeds.png",
    ),
    "split": Command(
        "evener.cli.commands.split",
        "divide the edges of a graph over devices, with few copies of vertices",
        "evener split web.graph --machine cluster.toml -o web.edges.plan",
    ),
    "map": Command(
        "evener.cli.commands.map",
        "place the filters of a stream graph on processors, for the shortest period",
        "evener map radio.toml --machine cluster.toml -o radio.plan",
    ),
    "tile": Command(
        "evener.cli.commands.tile",
        "divide a dense matrix into a rectangle for each device",
        "evener tile --machine cluster.toml --size 4096 --block 64",
    ),
    "machine": Command(
        "evener.cli.commands.machine",
        "describe this computer or a cluster in a machine file, or draw one",
        "evener machine here --measure -o machine.toml",
    ),
    "replay": Command(
        "evener.cli.commands.replay",
        "repeat a plan or a decision log, and compare the results",
        "evener replay wing.plan wing.su2",
    ),
    "export": Command(
        "evener.cli.commands.export",
        "write a plan's partition in a solver's format",
        "evener export wing.plan --to metis -o wing.part",
    ),
    "distribute": Command(
        "evener.cli.commands.distribute",
        "write each device's part of a graph, with ghosts and messages",
        "evener distribute wing.plan wing.su2 -o wing.parts",
    ),
    "run": Command(
        "evener.cli.commands.run",
        "run a graph application on the devices of a plan",
        "evener run web.plan web.graph --app pagerank",
    ),
    "tune": Command(
        "evener.cli.commands.tune",
        "measure an MPI program as it runs, and plan again with the measured speeds",
        "evener tune wing.plan -o next.plan -- mpirun -n 4 ./solver case.in",
    ),
    "launch": Command(
        "evener.cli.commands.launch",
        "start an MPI program, each rank on the device of its block",
        "evener launch wing.plan --run -- ./solver case.in",
    ),
    "report": Command(
        "evener.cli.commands.report",
        "write the HTML report of a plan or a decision log",
        "evener report wing.plan wing.su2 -o wing.html",
    ),
    "info": Command(
        "evener.cli.commands.info",
        "describe what a graph or mesh file holds",
        "evener info wing.su2",
    ),
    "convert": Command(
        "evener.cli.commands.convert",
        "write a graph or mesh in another format",
        "evener convert matrix.mtx graph.npz",
    ),
    "generate": Command(
        "evener.cli.commands.generate",
        "make a mesh, graph or speeds file: Delaunay, R-MAT, ...",
        "evener generate airfoil --n-triangles 20000 -o wing.su2",
    ),
    "warm": Command(
        "evener.cli.commands.warm",
        "compile all kernels in advance",
        "evener warm --processes 4",
    ),
    "completion": Command(
        "evener.cli.commands.completion",
        "print a script for completion in your shell",
        "evener completion bash",
    ),
    "doctor": Command(
        "evener.cli.commands.doctor",
        "print versions and optional tools, run a self-test",
        "evener doctor",
    ),
}
