"""The experiments of [Muralidharan13]_, section IV: its cells, classes, and a stratified sample.

A cell is one of 7,875 sets of parameters of a stream graph on one of seven machines: 55,125. The
paper's trials go on until the 95 % interval of the mean period is narrower than 10 % of it; its
"over 100,000 experiments", of two methods, are two trials of a cell, so that the interval cannot
be that of a cell. Here it is that of a bar of Figure 3, over cells drawn anew.

Cells are drawn in rounds. In a round each level of each parameter occurs as often as every other
one, or once more, by lot, and levels of different parameters meet at random (a Latin sample). Each
cell has its own graph and its own machine.

A processor is either a CPU or a GPU. The paper's nodes are a multi-core CPU, or one with a GPU; the
numbers of cores come from its set C, of which it states neither elements nor range.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from evener.errors import InputError
from evener.graphs.stream_graph import StreamGraph
from evener.io.dataflow.reading import read_stream_graph
from evener.streams.generating import (
    DEGREES,
    MACHINES,
    RATIOS,
    READINGS,
    SHAPES,
    SHARES,
    SIZES,
    SPREADS,
    GraphParameters,
    random_machine,
    random_stream_graph,
)
from evener.streams.period import StreamProblem
from evener.streams.processors import Processors
from evener.streams.readings import CostReading
from papers.findings import Row

SEED = 40_000  # no other experiment draws from it
SETTINGS = {
    "A": "ceil; CPUs with 4 to 32 lanes, GPUs with a tenth of the MIPS (III-A)",
    "B": "equation (1) to the letter; all vector lengths from one set (IV-B)",
}
# What a period counts of messages: by name, the route of the reading.
PAPERS, OWN = "equation (2)", "our reading"
EQUATIONS = {PAPERS: "transit", OWN: "sum"}
DEAR = 0.1  # ratio from which (e) takes graphs to be "communication intensive"
REAL_MACHINES = (16, 64, 256)


class PaperClass(NamedTuple):
    """A part of Figure 3: its title, and which graphs it is of."""

    title: str
    has: Callable[[Row], bool]


# (a) and (b) are the paper's words; what (c) to (e) are of is our reading of them.
CLASSES: Mapping[str, PaperClass] = {
    "a": PaperClass("(a) beta 5 to 50", lambda row: float(row["share"]) <= 50),
    "b": PaperClass("(b) beta 50 to 95", lambda row: float(row["share"]) >= 50),
    "c": PaperClass("(c) alpha 0.1: serial", lambda row: float(row["shape"]) < 1),
    "d": PaperClass("(d) alpha 10: parallel", lambda row: float(row["shape"]) > 1),
    "e": PaperClass(f"(e) CCR {DEAR} and more", lambda row: float(row["ratio"]) >= DEAR),
    "f": PaperClass("(f) all graphs", lambda _: True),
}


@dataclass(frozen=True)
class Sampling:
    """machines: processors of each. cells: of a round. rounds: at most. most: filters.

    large_rounds: on machines of over 1,024 processors. searched: cells of the first round that our
    search maps, too. fewer: cells with fewer filters than processors, which METIS makes no blocks
    of, on each machine that has such.
    """

    machines: tuple[int, ...]
    cells: int
    rounds: int
    large_rounds: int
    most: int = max(SIZES)
    searched: int = 15
    fewer: int = 5

    def rounds_on(self, k: int) -> int:
        """Return how many rounds of cells a machine of k processors gets at most."""
        return self.large_rounds if k > LARGE else self.rounds


LARGE = 1024
FAST = Sampling((64, 128, 256, 1024, 4096), 10, 2, 1, most=4096, searched=2, fewer=1)
FULL = Sampling(MACHINES, 15, 8, 8)


@dataclass(frozen=True)
class Cell:
    """A graph's parameters, processors of its machine, the setting, and the round it is of."""

    parameters: GraphParameters
    k: int
    setting: str
    round: int
    seed: int

    def problems(self) -> dict[str, StreamProblem]:
        """Return the graph and the machine, drawn, by each of EQUATIONS."""
        machine, reading = random_machine(self.k, self.setting, self.seed), READINGS[self.setting]
        graph = random_stream_graph(self.parameters, machine, self.seed, reading)
        return by_equations(graph, Processors(machine), reading)

    @property
    def about(self) -> dict[str, Any]:
        """What it is, as the beginning of a row."""
        of = {"setting": self.setting, "k": self.k, "round": self.round, "seed": self.seed}
        return of | asdict(self.parameters)


def by_equations(
    graph: StreamGraph, processors: Processors, reading: CostReading
) -> dict[str, StreamProblem]:
    """Return the problem by each of EQUATIONS; the routes of the processors are sought once."""
    return {
        name: StreamProblem(graph, processors, replace(reading, route=route))
        for name, route in EQUATIONS.items()
    }


def cells_of(
    k: int, setting: str, number: int, sampling: Sampling, *, fewer: bool = False
) -> list[Cell]:
    """Return the cells of round `number` on machines of k processors; none where none can be.

    fewer: with fewer filters than processors; else with as many or more. Both settings get the
    same parameters and seeds.
    """
    sizes = [n for n in SIZES if (n < k) == fewer and n <= sampling.most]
    if not sizes:
        return []
    rng = np.random.default_rng([SEED, k, number, fewer])
    count = sampling.fewer if fewer else sampling.cells
    columns = [
        _levels(values, count, rng)
        for values in (sizes, DEGREES, RATIOS, SHAPES, SHARES, SPREADS)
    ]  # fmt: skip
    seeds = rng.integers(SEED, 2**31, count).tolist()
    return [
        Cell(GraphParameters(*values), k, setting, number, seed)
        for *values, seed in zip(*columns, seeds, strict=True)
    ]


def _levels(values: Any, count: int, rng: np.random.Generator) -> list[Any]:
    """Return `count` of the values, each as often as any other or once more, in random order."""
    order = rng.permutation(len(values))
    drawn = [values[order[i % len(values)]] for i in range(count)]
    return [drawn[i] for i in rng.permutation(count)]


def real_graphs(folder: str | Path) -> dict[str, StreamGraph]:
    """Return the stream graphs of a folder by their files' names; archives are left out.

    Raises InputError for a folder that cannot be read or has none, and for damaged files.
    """
    try:
        paths = sorted(path for path in Path(folder).iterdir() if ".tar" not in path.name)
    except OSError as error:
        raise InputError(f"cannot be read: {error.strerror}", file=folder) from error
    if not paths:
        raise InputError("has no stream graphs", file=folder)
    return {path.name: read_stream_graph(path).graph for path in paths}
