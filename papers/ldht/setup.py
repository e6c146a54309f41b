"""The experiments of [LDHT]_, section VI: graphs, machines, partitioners, and which cells are run.

A cell is a graph on a machine, which all partitioners divide by the same targets. To add a
partitioner or a kind of graph, add a line to COMPETITORS or GRAPHS: names are those of
evener.partitioning.tools and of evener.graphs.generating.families; of several tools the first that
is there is taken.

The numbers that the paper prints come first: Table II, Table III and the cuts and volumes of Table
IV. Of Table IV the seconds are left out: in the text of the paper that was read some have lost
their decimal points. The name of the graph in its fifth row could be read
only as "rdg" and, at the end, a 3.
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
from papers.ldht.tools import enter_tools

enter_tools()

# Table III: relative speed and memory of the fast devices; the slow ones have 1 and 2.
SPEEDS = (1.0, 2.0, 4.0, 8.0, 16.0)
# tw(fast) / tw(slow) by speed, for k / 12 and for k / 6 fast devices, as printed.
PRINTED_RATIOS: Mapping[float, tuple[str, str]] = {
    1.0: ("1", "1"), 2.0: ("2", "2"), 4.0: ("3.2", "3.5"), 8.0: ("5.5", "6.1"),
    16.0: ("9.4", "11.5"),
}  # fmt: skip
SATURATED_FROM = 4.0  # section VI-A: at speed 2 memory suffices, in the remaining three it is full
SHARES = (12, 6)  # k / 12 and k / 6 devices are fast

# Table IV, 96 devices, fast ones of speed 16: by graph and tool, the values of these machines.
MACHINES_IV = ("t1_f8", "t1_f16", "t2_f8", "t2_f16")
CUTS: Mapping[str, Mapping[str, tuple[int, int, int, int]]] = {
    "333SP": {
        "geoKM": (43428, 40230, 41978, 40108), "geoRef": (42393, 39294, 40904, 39025),
        "geoPMRef": (41349, 38591, 39967, 38365), "pmGraph": (40291, 38812, 44078, 41311),
        "pmGeom": (40562, 38249, 43109, 41635), "zSFC": (96465, 86767, 99712, 94397),
        "zRCB": (90126, 89530, 80907, 75655), "zRIB": (52620, 50356, 51820, 52117),
    },
    "NLR": {
        "geoKM": (64093, 61001, 66647, 65304), "geoRef": (62438, 59539, 64986, 63680),
        "geoPMRef": (61211, 58267, 63853, 62544), "pmGraph": (68397, 63406, 71938, 68521),
        "pmGeom": (67995, 61760, 71583, 68238), "zSFC": (93975, 89967, 97693, 95187),
        "zRCB": (78400, 79242, 78031, 79429), "zRIB": (77679, 77681, 80737, 79637),
    },
    "hugebubbles": {
        "geoKM": (55607, 53167, 57706, 55905), "geoRef": (46059, 43728, 47666, 46039),
        "geoPMRef": (43796, 41536, 45379, 43754), "pmGraph": (49102, 45169, 51523, 49960),
        "pmGeom": (48998, 44915, 51663, 49568), "zSFC": (68678, 62895, 71609, 68779),
        "zRCB": (72584, 73623, 78029, 74534), "zRIB": (69821, 69446, 71269, 72760),
    },
    "hugetrace": {
        "geoKM": (49064, 46688, 51352, 48714), "geoRef": (40330, 38600, 42378, 39911),
        "geoPMRef": (38063, 36282, 40150, 37823), "pmGraph": (41824, 38749, 44311, 42069),
        "pmGeom": (42079, 39037, 45245, 42701), "zSFC": (56457, 52976, 59297, 56859),
        "zRCB": (61547, 62981, 64210, 62905), "zRIB": (58929, 57615, 61530, 60848),
    },
    "rdg": {
        "geoKM": (169940, 159700, 177770, 170440), "geoRef": (128020, 122760, 132780, 129850),
        "geoPMRef": (102700, 97184, 107750, 104440), "pmGraph": (111690, 100240, 115650, 111950),
        "pmGeom": (110190, 103660, 114760, 112070), "zSFC": (121460, 114430, 134600, 128600),
        "zRCB": (172660, 184170, 183960, 193760), "zRIB": (191780, 181910, 197910, 196270),
    },
    "alya": {
        "geoKM": (2066100, 1949600, 2171400, 2081900),
        "geoRef": (2055800, 1939300, 2162500, 2070500),
        "geoPMRef": (2046800, 1932000, 2155500, 2061100),
        "pmGraph": (2085100, 1956800, 2234200, 2140100),
        "pmGeom": (1955700, 1815200, 2121700, 1949500),
        "zSFC": (2358300, 2213100, 2579300, 2393200),
        "zRCB": (2382200, 2429400, 2185500, 2190800),
        "zRIB": (2262400, 2226600, 2299900, 2391100),
    },
}  # fmt: skip
VOLUMES: Mapping[str, Mapping[str, tuple[int, int, int, int]]] = {
    "333SP": {
        "geoKM": (2692, 1740, 2395, 1422), "geoRef": (2623, 1701, 2241, 1342),
        "geoPMRef": (2561, 1671, 1822, 1321), "pmGraph": (1839, 1537, 1514, 1567),
        "pmGeom": (1897, 1474, 1554, 1477), "zSFC": (2722, 3366, 3486, 3135),
        "zRCB": (6373, 6133, 4814, 3236), "zRIB": (2474, 2168, 1270, 1556),
    },
    "NLR": {
        "geoKM": (2549, 2110, 1943, 2017), "geoRef": (2489, 2066, 1873, 1957),
        "geoPMRef": (2443, 1978, 1832, 1838), "pmGraph": (2513, 2160, 1980, 2002),
        "pmGeom": (2302, 1923, 2094, 1886), "zSFC": (3488, 2686, 2455, 2664),
        "zRCB": (2061, 1970, 1797, 1929), "zRIB": (2252, 2059, 2028, 1875),
    },
    "hugebubbles": {
        "geoKM": (3567, 3241, 2924, 2673), "geoRef": (3459, 3124, 2798, 2609),
        "geoPMRef": (3259, 2910, 2623, 2399), "pmGraph": (3004, 2930, 3165, 2778),
        "pmGeom": (2832, 2758, 3120, 2562), "zSFC": (4085, 3675, 3532, 3467),
        "zRCB": (3287, 3269, 3283, 2890), "zRIB": (3529, 3996, 3026, 3464),
    },
    "hugetrace": {
        "geoKM": (2957, 2605, 2509, 2093), "geoRef": (2864, 2531, 2447, 2029),
        "geoPMRef": (2667, 2359, 2318, 1950), "pmGraph": (2831, 2368, 2096, 2127),
        "pmGeom": (2450, 2310, 2125, 2252), "zSFC": (3574, 3184, 3374, 2711),
        "zRCB": (3331, 2804, 2755, 2524), "zRIB": (2776, 2590, 2500, 2323),
    },
    "rdg": {
        "geoKM": (6540, 5144, 5777, 4590), "geoRef": (5689, 4448, 4899, 4017),
        "geoPMRef": (4289, 3445, 3519, 3151), "pmGraph": (6005, 3988, 3763, 3826),
        "pmGeom": (4331, 4114, 3783, 3453), "zSFC": (3270, 3506, 3987, 3488),
        "zRCB": (5413, 5181, 4020, 4887), "zRIB": (5647, 4810, 4921, 4451),
    },
    "alya": {
        "geoKM": (93325, 74778, 72500, 68538), "geoRef": (92616, 74530, 72225, 68407),
        "geoPMRef": (92653, 74847, 72485, 68530), "pmGraph": (103480, 100010, 98172, 85985),
        "pmGeom": (101460, 84799, 78720, 71147), "zSFC": (82725, 78263, 84616, 72471),
        "zRCB": (89201, 76273, 74508, 66581), "zRIB": (76607, 76252, 74954, 61899),
    },
}  # fmt: skip


SEED = 21_000  # of the graphs
EPSILON = 0.03


@dataclass(frozen=True)
class Competitor:
    """A partitioner by the paper's name: tools that can be it, the best first.

    family: whose it is.
    """

    name: str
    family: str
    tools: tuple[str, ...]
    preset: str = "default"

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
    Competitor("MJ", "zoltan", ("zoltan-mj", "mj")),
    Competitor("Evener", "ours", ("evener",)),
    Competitor("Evener strong", "ours", ("evener",), "strong"),
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
