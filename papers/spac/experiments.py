"""All experiments of [SPAC]_ that need no GPU: Figures 4, 7, 13, 16, Tables 1, 5, section 3.4.

Copies are counted, CPU seconds measured on this computer; setup.py says which matrices stand
for the paper's. Transactions are those of a model. Statements about seconds of GPUs are not tried.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path

from papers.command import Reproduction, Tell
from papers.findings import Panel, PaperResult, Plot, Row, against
from papers.spac import findings, gpu
from papers.spac import theorems as spac_theorems
from papers.spac.runs import (
    BY_BLOCKS,
    GREEDY,
    HYPERGRAPH,
    METHODS,
    OWN,
    PATH,
    SPAC,
    WVP_GREEDY,
    degrees_of,
    divided,
    gained,
    starting_seconds,
    usable,
    without_hypergraph,
)
from papers.spac.setup import (
    FEWER,
    FULL,
    FULL_BLOCKS,
    PAPER,
    MatrixSizes,
    PaperMatrix,
    blocks_of,
    matrices,
    web,
)

Rows = Sequence[Row]
SHOWN = (HYPERGRAPH, GREEDY, WVP_GREEDY, SPAC, PATH, f"{OWN}default")
VERTICES = 50_000  # of Figure 7
STRONG = f"{OWN}strong"


@dataclass(frozen=True)
class _Effort:
    """sizes: of the stand-ins; pages: of other sizes of the web. runs: of each method.

    degrees: average ones of Figure 7's graphs, of so many vertices; fixed: numbers of blocks,
    beside that of blocks of 10,240 edges. points: of cfd's mesh.
    """

    sizes: MatrixSizes
    pages: tuple[int, ...]
    methods: tuple[str, ...]
    degrees: tuple[int, ...]
    fixed: tuple[int, ...] = (64,)
    runs: int = 3
    vertices: int = VERTICES
    points: int = 4_000
    threads: tuple[int, ...] = gpu.THREADS
    flux_threads: tuple[int, ...] = gpu.FLUX_THREADS


FAST = _Effort(FEWER, (4_500,), tuple(name for name in METHODS if name != STRONG), (4, 8, 16, 32))
WHOLE = _Effort(FULL, (12_500, 50_000), tuple(METHODS), (4, 8, 16, 32, 64), points=15_000)


def reproduce(
    fast: bool = False, tell: Tell = lambda *_: None, folder: str | Path | None = None
) -> PaperResult:
    """Run all experiments, with smaller matrices and graphs if `fast`.

    tell: called with the name of the next experiment, and the part that is done. folder: of the
    paper's matrices; those that are there are taken in the place of stand-ins.
    """
    effort = FAST if fast else WHOLE
    chosen = matrices(effort.sizes, folder)
    experiments: dict[str, Callable[[], PaperResult]] = {
        "copies": partial(copies, chosen, effort),
        "density": partial(density, effort),
        "transactions": partial(transactions, chosen, effort),
        "theorems": lambda: PaperResult(spac_theorems.all_findings()),
    }
    results = []
    for i, (name, experiment) in enumerate(experiments.items()):
        tell(name, i / len(experiments))
        results.append(experiment())
    return PaperResult(
        [one for result in results for one in result.findings],
        [plot for result in results for plot in result.plots],
        {name: rows for result in results for name, rows in result.tables.items()},
    )


def copies(chosen: Sequence[PaperMatrix], effort: _Effort) -> PaperResult:
    """Figure 4 and Table 1: copies and seconds of all methods; the web at other sizes."""
    names, absent = usable(effort.methods), without_hypergraph()
    starting = starting_seconds(names)
    rows = [row for matrix in chosen for row in divided(matrix, names, effort.runs, starting)]
    sized = []
    for pages in effort.pages if absent is None else ():
        one = PaperMatrix(f"web of {pages:,} pages", "web", partial(web, pages))
        sized += divided(one, (HYPERGRAPH, SPAC), effort.runs, starting)
    own = [row for row in rows if row["kind"] == "web" and not row["is_real"]]
    nets = [] if absent else [
        row for matrix in chosen if matrix.nets for k in (blocks_of(matrix.edges), FULL_BLOCKS)
        for row in divided(matrix, (HYPERGRAPH, SPAC, BY_BLOCKS, OWN + "default"), effort.runs,
                           starting, k)
    ]  # fmt: skip
    found = findings.of_figure_4(rows, absent, nets, [*sized, *own], _no_web(own))
    of = [matrix.name for matrix in chosen]
    panels = [
        Panel(title, "matrix", label, range(len(of)),
              {name: list(_in_order_of(of, rows, name, figure)) for name in usable(SHOWN)},
              log_y=True, x_names=of)
        for title, label, figure in (("Figure 4: copies", "copies / vertices", "relative"),
                                     ("Figure 4: time", "CPU seconds", "cpu_s"))
    ]  # fmt: skip
    tables: dict[str, Rows] = {
        "matrices": [degrees_of(matrix) for matrix in chosen], "copies": rows, "sizes": sized,
        "nets": nets,
    }  # fmt: skip
    return PaperResult(found, [Plot("figure-4", panels)], tables)


def _no_web(own: Rows) -> str | None:
    return None if own else "a stand-in of in-2004: the matrix itself was given"


def _in_order_of(of: Sequence[str], rows: Rows, name: str, figure: str) -> list[float]:
    """Return a method's medians in the order of the matrices; "relative": copies by vertices.

    None is less than what can be told apart: axes are logarithmic.
    """
    key = "copies" if figure == "relative" else figure
    own, vertices = findings.values(rows, name, key), findings.values(rows, name, "vertices")
    shown = {matrix: max(value, findings.LEAST[key]) for matrix, value in own.items()}
    return [shown[one] / (vertices[one] if figure == "relative" else 1.0) for one in of]


def density(effort: _Effort) -> PaperResult:
    """Figure 7: copies of WVP greedy relative to SPAC's, by the average degree."""
    kinds = ("uniform", "power law")
    rows = [
        row for kind in kinds for degree in effort.degrees
        for row in gained(kind, effort.vertices, degree, effort.fixed, effort.runs)
    ]  # fmt: skip
    panels = [
        Panel(title, "average degree", "WVP greedy / SPAC", effort.degrees,
              {kind: [one.value for one in findings.gains(rows, kind, fixed).values()]
               for kind in kinds}, log_x=True)
        for title, fixed in (("Figure 7: blocks of 10,240 edges", 0),
                             *((f"Figure 7: {k} blocks", k) for k in effort.fixed))
    ]  # fmt: skip
    return PaperResult(
        [
            against(
                findings.gains_with_density,
                rows,
                "degrees in reverse order",
                findings.reversed_degrees(rows),
            )
        ],
        [Plot("figure-7", panels)],
        {"density": rows},
    )


def transactions(chosen: Sequence[PaperMatrix], effort: _Effort) -> PaperResult:
    """Figures 13 and 16, Table 5: by the model; what is about seconds is not tried."""
    rows = [row for matrix in chosen for row in gpu.products(matrix, effort.threads)]
    reads = gpu.fluxes(effort.points, effort.flux_threads)
    found = [
        gpu.transactions_follow_time(rows), gpu.shared_or_texture(rows), gpu.block_sizes(rows),
        gpu.flux_reads(reads), gpu.seconds_of_products(), gpu.seconds_of_programs(),
    ]  # fmt: skip
    of = [matrix.name for matrix in chosen]
    largest = [row for row in rows if row["threads"] == gpu.DEFAULT]
    panels = [
        Panel("Figure 13: transactions, 1,024 threads", "matrix", "SPAC / plain", range(len(of)),
              {"SPAC, by the model": [float(row["staged"]) / float(row["plain"])
                                      for row in largest],
               "the paper's seconds": [PAPER[name].time for name in of]},
              log_y=True, x_names=of),
        Panel("Table 5: sectors of x", "threads of a block", "texture / shared memory",
              effort.threads,
              {name: [float(row["texture_x"]) / float(row["staged_x"]) for row in rows
                      if row["matrix"] == name] for name in of}, log_x=True),
        Panel("Table 5: block sizes", "threads of a block", "transactions / least", effort.threads,
              {name: _by_least([float(row["staged"]) for row in rows if row["matrix"] == name])
               for name in of}, log_x=True),
        Panel("Figure 16: reads of a flux", "threads of a block", "SPAC / original",
              effort.flux_threads,
              gpu.relative_reads(reads), log_x=True),
    ]  # fmt: skip
    tables: Mapping[str, Rows] = {"transactions": rows, "flux": reads}
    return PaperResult(found, [Plot("figure-13", panels)], tables)


def _by_least(counts: Sequence[float]) -> list[float]:
    return [count / min(counts) for count in counts]


REPRODUCTION = Reproduction(
    "spac",
    "Split-and-connect",
    "SPAC",
    "this computer, and a model of a GPU's memory",
    lambda fast, tell, data, _: reproduce(fast, tell, data),
    data="with cant.mtx, circuit5M.mtx, in-2004.mtx, mc2depi.mtx or scircuit.mtx, which are taken "
    "in the place of generated matrices",
)
