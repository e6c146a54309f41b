"""Every partitioner by name, with what it can do."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from importlib.util import find_spec

from evener.errors import one_of
from evener.graphs.graph import Graph
from evener.partitioning import calls
from evener.partitioning.external.children import Outcome
from evener.partitioning.requests import OBJECTIVES, Request

ALL_THREADS = 4096


@dataclass(frozen=True)
class Several:
    """What a tool does where vertices have several weights: its objectives, what is missing for
    it (None where nothing is), and the call.
    """

    objectives: tuple[str, ...]
    missing: Callable[[], str | None]
    run: Callable[[Graph, Request], Outcome]


@dataclass(frozen=True)
class Tool:
    """A partitioner and what it can do.

    family: "multilevel", "geometric" or "external"; `targets`: blocks of unequal targets;
    `lower_bounds`: keeps blocks from being too light; `threads` at most; `seeds`: whether the
    seed matters; `edge_weights`: whether the cut counts them (geometric tools look at no edge at
    all, and their notes say so); `same_at_any_threads`: whether their number changes nothing but
    the time; `real_weights`: whether real weights are used as they are (others get whole numbers,
    scaled by us). `missing()`: None where the tool can be called, else how to get it. `run`
    divides the graph, unchecked. `several`: the same for several weights per vertex, None where
    the tool takes one only.
    """

    name: str
    family: str
    targets: bool
    lower_bounds: bool
    objectives: tuple[str, ...]
    needs_coordinates: bool
    threads: int
    seeds: bool
    edge_weights: bool
    real_weights: bool
    same_at_any_threads: bool
    missing: Callable[[], str | None]
    run: Callable[[Graph, Request], Outcome]
    several: Several | None = None

    def available(self) -> str | None:
        """Return None where the tool can be called, else the reason and how to get it."""
        how = self.missing()
        return None if how is None else f"{self.name} is not installed: {how}"


def find_tool(name: str) -> Tool:
    """Return the tool of this name; raises UsageError where there is none."""
    return TOOLS[one_of("partitioner", name, TOOLS)]


def _package(module: str, how: str) -> Callable[[], str | None]:
    # Looking through all of sys.path takes longer than some partitions do.
    found: list[bool] = []

    def missing() -> str | None:
        if not found and find_spec(module):
            found.append(True)
        return None if found else how

    return missing


def _scotch_library() -> str | None:
    from evener.partitioning.external.scotch import library

    return None if library() is not None else "apt install libscotch-7.0 (or brew install scotch)"


def _libmetis() -> str | None:
    from evener.partitioning.external.metis_library import missing

    return missing()


def _external(
    name: str,
    module: str,
    missing: Callable[[], str | None],
    *,
    objectives: tuple[str, ...] = ("cut",),
    threads: int = 1,
    several: Several | None = None,
) -> Tool:
    return Tool(
        name,
        family="external",
        targets=True,
        lower_bounds=False,
        objectives=objectives,
        needs_coordinates=False,
        threads=threads,
        seeds=True,
        edge_weights=True,
        real_weights=False,
        same_at_any_threads=threads == 1,
        missing=missing,
        run=partial(calls.foreign, tool=name, module=module, threads=threads),
        several=several,
    )


def _own(
    name: str,
    run: Callable[[Graph, Request], Outcome],
    *,
    objectives: tuple[str, ...] = OBJECTIVES,
    needs_coordinates: bool = False,
    several: Several | None = None,
) -> Tool:
    return Tool(
        name,
        family="multilevel",
        targets=True,
        lower_bounds=True,
        objectives=objectives,
        needs_coordinates=needs_coordinates,
        threads=ALL_THREADS,
        seeds=True,
        edge_weights=True,
        real_weights=True,
        same_at_any_threads=True,
        missing=lambda: None,
        run=run,
        several=several,
    )


def _geometric(
    name: str, run: Callable[[Graph, Request], Outcome] | None = None, *, threads: int = 1
) -> Tool:
    return Tool(
        name,
        family="geometric",
        targets=True,
        lower_bounds=True,
        objectives=("cut",),
        needs_coordinates=True,
        threads=threads,
        seeds=False,
        edge_weights=False,
        real_weights=True,
        same_at_any_threads=True,
        missing=lambda: None,
        run=run or partial(calls.coordinates_alone, function=f"{name}_blocks"),
    )


_pymetis = _package("pymetis", "pip install pymetis")
_kaminpar = _package("kaminpar", "pip install kaminpar")
_metis_library = partial(calls.foreign, module="metis_library")
_mtkahypar = _package("mtkahypar", "pip install mtkahypar")

# Family by family: `evener compare` lists them so.
TOOLS: dict[str, Tool] = {
    "evener": _own(
        "evener", calls.multilevel, several=Several(("cut",), lambda: None, calls.several)
    ),
    "hierarchical": _own("hierarchical", calls.hierarchical),
    "georef": _own("georef", calls.georef, objectives=OBJECTIVES[:1], needs_coordinates=True),
    "kmeans": _geometric("kmeans", calls.kmeans, threads=ALL_THREADS),
    "rcb": _geometric("rcb"),
    "rib": _geometric("rib"),
    "hilbert": _geometric("hilbert"),
    "metis": _external(
        "metis",
        "metis",
        _pymetis,
        objectives=OBJECTIVES[:2],
        several=Several(OBJECTIVES[:2], _libmetis, partial(_metis_library, tool="metis")),
    ),
    "metis-recursive": _external(
        "metis-recursive",
        "metis",
        _pymetis,
        several=Several(("cut",), _libmetis, partial(_metis_library, tool="metis-recursive")),
    ),
    "scotch": _external("scotch", "scotch", _scotch_library),
    "kaminpar": _external("kaminpar", "kaminpar", _kaminpar, threads=ALL_THREADS),
    "mtkahypar": _external(
        "mtkahypar", "mtkahypar", _mtkahypar, objectives=OBJECTIVES[:2], threads=ALL_THREADS
    ),
}
