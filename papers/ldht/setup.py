"""The experiments of [LDHT]_, section VI: graphs, machines, partitioners, and which cells are run.

A cell is a graph on a machine, which all partitioners divide by the same targets. To add a
partitioner or a kind of graph, add a line to COMPETITORS or GRAPHS: names are those of
evener.partitioning.tools and of evener.graphs.generating.families; of several tools the first that
is there is taken.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from evener.errors import InputError, UsageError
from evener.graphs.generating.families import GENERATORS
from evener.graphs.graph import Graph
from evener.io.read import read
from evener.partitioning.tools import TOOLS
from evener.platforms.examples import topo1, topo2, topo3
from evener.platforms.platform import Platform
from papers.findings import Row
from papers.ldht.paper import SPEEDS

SEED = 21_000  # of the graphs
EPSILON = 0.03


@dataclass(frozen=True)
class Competitor:
    """A partitioner by the paper's name: tools that can be it, the best first.

    family: whose it is. ours: it is not in the paper's figures.
    """

    name: str
    family: str
    tools: tuple[str, ...]
    preset: str = "default"
    ours: bool = False

    @property
    def tool(self) -> str | None:
        """The tool that is run; None where none is installed."""
        return next(
            (name for name in self.tools if name in TOOLS and TOOLS[name].available() is None), None
        )

    @property
    def absent(self) -> str:
        """Why none is run."""
        if not self.tools:
            return "there is no tool for it here"
        known = [TOOLS[name].available() for name in self.tools if name in TOOLS]
        return "; ".join(filter(None, known)) or f"{' and '.join(self.tools)}: not in this version"


COMPETITORS = (
    Competitor("geoKM", "geographer", ("kmeans",)),
    Competitor("geoRef", "geographer", ("georef",)),
    Competitor("geoPMRef", "geographer", ("georef-metis",)),
    Competitor("geoHier", "geographer", ("geohier", "hierarchical")),
    Competitor("pmGraph", "parmetis", ("parmetis", "metis")),
    Competitor("pmGeom", "parmetis", ("parmetis-geom",)),
    Competitor("zSFC", "zoltan", ("zoltan-hsfc", "hilbert")),
    Competitor("zRCB", "zoltan", ("zoltan-rcb", "rcb")),
    Competitor("zRIB", "zoltan", ("zoltan-rib", "rib")),
    Competitor("MJ", "zoltan", ("zoltan-mj", "mj"), ours=True),
    Competitor("Evener", "ours", ("evener",), ours=True),
    Competitor("Evener strong", "ours", ("evener",), "strong", ours=True),
)
BASE = "geoKM"  # what all figures are relative to
ZOLTAN = ("zSFC", "zRCB", "zRIB")
REFINED = ("geoRef", "geoPMRef")
STRONG = "Evener strong"
# What stands for a tool of the paper: said wherever it is compared.
STANDS_FOR: Mapping[str, str] = {
    "kmeans": "Evener's balanced k-means",
    "georef": "Evener's k-means with pairwise FM",
    "georef-metis": "k-means, then METIS's k-way refinement, not ParMETIS's",
    "hierarchical": "hierarchical k-means with FM after every level, which the paper's has not",
    "metis": "METIS k-way on one core, not ParMETIS",
    "hilbert": "Evener's Hilbert curve, not Zoltan's",
    "rcb": "Evener's RCB, not Zoltan's",
    "rib": "Evener's RIB, not Zoltan's",
}


@dataclass(frozen=True)
class GraphKind:
    """A graph of Table II, and how one like it is generated: name of a family, and its options.

    dimensions: of its coordinates. of_n: vertices for each unit of the family's parameter n.
    """

    name: str
    dimensions: int
    family: str
    of_n: float = 1.0
    options: Mapping[str, Any] = field(default_factory=dict)

    def made(self, n: int) -> Graph:
        """Return one of about n vertices."""
        seed = SEED + list(GRAPHS).index(self.name)
        graph = GENERATORS[self.family].make(n=round(n / self.of_n), seed=seed, **self.options)
        assert isinstance(graph, Graph)
        return graph


# hugetric is of the same programs as hugetrace; what it shows was not found.
GRAPHS: Mapping[str, GraphKind] = {
    kind.name: kind
    for kind in (
        GraphKind("hugetric-00020", 2, "trace-dual", 2),
        GraphKind("hugetrace-00020", 2, "trace-dual", 2),
        GraphKind("hugebubbles-00020", 2, "bubbles-dual", 2),
        GraphKind("alyaTestCaseA", 3, "airways"),
        GraphKind("alyaTestCaseB", 3, "airways"),
        GraphKind("refinetrace", 2, "trace-dual", 2),
        GraphKind("rdg_2d", 2, "delaunay"),
        GraphKind("rgg_2d", 2, "rgg", options={"degree": 6.0}),
        GraphKind("rdg_3d", 3, "delaunay", options={"dim": 3}),
        GraphKind("rgg_3d", 3, "rgg", options={"dim": 3, "degree": 6.0}),
    )
}
HUGE = ("hugetric-00020", "hugetrace-00020", "hugebubbles-00020")
ALYA = ("alyaTestCaseA", "alyaTestCaseB")
SUFFIXES = (".graph", ".mtx", ".txt")  # of files of --data, compressed or not


def real_file(name: str, folder: str | Path | None) -> Path | None:
    """Return the file of a graph of Table II in a folder; None where it has none."""
    if folder is None:
        return None
    if not Path(folder).is_dir():
        raise InputError("is not a folder with graphs", file=folder)
    every = (Path(folder) / f"{name}{end}{packed}" for end in SUFFIXES for packed in
             ("", ".gz", ".zst", ".xz", ".bz2"))  # fmt: skip
    return next((path for path in every if path.is_file()), None)


def graph_of(name: str, n: int, folder: str | Path | None = None) -> tuple[Graph, bool]:
    """Return a graph of Table II, and whether it is the paper's own, from the folder.

    n: vertices of a generated one. Raises InputError where a file is damaged, UsageError where it
    has no coordinates, which geometric partitioners need.
    """
    path = real_file(name, folder)
    if path is None:
        return GRAPHS[name].made(n), False
    graph = read(path).graph
    if not isinstance(graph, Graph) or graph.coords is None:
        raise UsageError(f"{path} has no coordinates, which geometric partitioners need")
    return graph, True


@dataclass(frozen=True)
class Machine:
    """A machine of section VI: `fast` of k devices have a speed, the others less. caps: memory."""

    kind: str
    k: int
    fast: int
    speed: float
    caps: bool = True

    @property
    def label(self) -> str:
        """As in the paper's figures."""
        return f"t{self.kind[-1]}_f{self.fast}_fs{self.speed:g}"

    def platform(self, n: int) -> Platform:
        """Return it with nodes of 24 devices and memory for n units, of which they fill 5/6."""
        make = {"topo1": topo1, "topo2": topo2, "topo3": topo3}[self.kind]
        return make(self.k, self.fast, self.speed, units=n, memory_caps=self.caps, links=True)

    def row(self) -> Row:
        """Return it as the beginning of a row."""
        return {"machine": self.label, "topo": self.kind, "k": self.k, "fast": self.fast,
                "speed": self.speed, "caps": int(self.caps)}  # fmt: skip


def series(kind: str, k: int, speeds: Sequence[float] = SPEEDS) -> list[Machine]:
    """Return the machines with k / 12 and k / 6 fast devices of these speeds."""
    return [Machine(kind, k, k // share, speed) for share in (12, 6) for speed in speeds]


@dataclass(frozen=True)
class PaperCell:
    """A graph of n vertices on a machine, for a figure."""

    figure: str
    graph: str
    n: int
    machine: Machine

    @property
    def key(self) -> str:
        """Names it in the journal."""
        caps = "" if self.machine.caps else ", without memory"
        on = f"{self.machine.label} of {self.machine.k}{caps}"
        return f"{self.figure}: {self.graph} of {self.n} on {on}"


@dataclass(frozen=True)
class PaperEffort:
    """How large and how many: n by figure, numbers of devices, speeds; which are run.

    topo2_beside: speeds on TOPO2 in Figure 2. solved: machines of which iterations are timed.
    large: vertices of the graph for Table IV. without: competitors that are left out but there.
    """

    sizes: Mapping[str, int]
    k_topo1: tuple[int, ...]
    k_topo2: tuple[int, ...]
    speeds: tuple[float, ...]
    topo2_beside: tuple[float, ...]
    solved: tuple[Machine, ...]
    large: int
    without: tuple[str, ...] = ()

    def cells(self) -> list[PaperCell]:
        """Return all cells, figure by figure."""
        found = [
            PaperCell("2", graph, self.sizes["2a" if graph in HUGE else "2b"], machine)
            for graph in (*HUGE, *ALYA)
            for machine in (
                *(m for k in self.k_topo1 for m in series("topo1", k)),
                *series("topo2", self.k_topo1[0], self.topo2_beside),
            )
        ]
        found += [
            PaperCell(figure, graph, self.sizes[figure], machine)
            for figure, graphs in (("3", ("refinetrace",)), ("4", ("rgg_3d", "rdg_3d")))
            for graph in graphs
            for k in self.k_topo2
            for machine in series("topo2", k, self.speeds)
        ]
        found += [PaperCell("5", "rdg_2d", self.sizes["5"], machine) for machine in self.solved]
        return found

    def cells_of_table_iv(self) -> list[PaperCell]:
        """Return the cells of Table IV's rdg row: four machines with and without memory."""
        return [
            PaperCell("table IV", "rdg_2d", self.large, Machine(kind, 96, fast, 16.0, caps))
            for caps in (True, False)
            for kind in ("topo1", "topo2")
            for fast in (8, 16)
        ]

    @property
    def competitors(self) -> list[Competitor]:
        """Those that are run."""
        return [one for one in COMPETITORS if one.name not in self.without and one.tool]


# Machines of one and two nodes, which the paper has not.
SMALLER = (Machine("topo1", 24, 4, 16.0), Machine("topo1", 48, 24, 16.0))


def topo3_series(speeds: Sequence[float], most: int = 192) -> list[Machine]:
    """Return TOPO3's machines of up to `most` devices with fast devices of these speeds."""
    return [Machine("topo3", k, fast, speed)
            for k in (96, 192) if k <= most for fast in (24, 48) for speed in speeds]  # fmt: skip


FAST = PaperEffort(
    sizes={"2a": 40_000, "2b": 20_000, "3": 80_000, "4": 30_000, "5": 60_000, "cores": 200_000},
    k_topo1=(96,), k_topo2=(48, 192, 384), speeds=(2.0, 16.0), topo2_beside=(2.0, 16.0),
    solved=(*SMALLER, *topo3_series((4.0, 16.0), 96), Machine("topo3", 192, 48, 16.0)),
    large=2**18, without=("Evener", STRONG),
)  # fmt: skip
FULL = PaperEffort(
    sizes=dict.fromkeys(("2a", "2b", "3", "4", "5"), 2**24) | {"cores": 2**22},
    k_topo1=(96, 192), k_topo2=tuple(24 * 2**i for i in range(1, 10)), speeds=SPEEDS[1:],
    topo2_beside=SPEEDS[1:], solved=(*SMALLER, *topo3_series(SPEEDS[1:])), large=2**24,
)  # fmt: skip
