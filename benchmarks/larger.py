"""Graphs read from a file slice by slice: cuts, CPU seconds and memory beside the whole in memory.

    python benchmarks/larger.py [--parts delaunay,grid,rmat] [--heistream PYTHON]
    python benchmarks/larger.py --table     # what the result file says

delaunay: graphs of 2^20 and 2^22 points, vertices along a Hilbert curve (as they are generated), by
their first coordinate and at random; with coordinates and bare; 96 blocks, 12 of them 16 times as
large (topo), or 64 equal ones; limits 3 % both ways. Beside: the package's default in memory, METIS
k-way and recursive bisection, and HeiStream, which knows equal blocks and no lower limit, with
several settings. grid: a triangulated grid of 100 million edges. rmat: R-MAT graphs of 2^18 and
2^20 vertices.

memory, metis and heistream have the graph in memory, and their CPU seconds leave reading out;
those of slices have it. Each measurement is made in a process of its own. Lines that the result
file has are not measured again. PYTHON: one that has chszlablib 0.5.27 of PyPI; without it
HeiStream is left out.
"""

from functools import partial
from pathlib import Path

import larger_files as files
import larger_methods as methods
import larger_tables as tables
from records import alone, answer_more, append, known, parser, words

HERE = Path(__file__).parent
RESULTS = HERE / "results" / "larger.jsonl"
DATA = HERE / "data" / "larger"
KEYS = ("graph", "order", "coords", "targets", "method", "run")
KINDS = [f"{order}-{coords}" for order in files.ORDERS for coords in files.COORDS]
GROUPS = (1, 8)  # beside the default
ONE_PASS = (("ldg", 1), ("ldg", 5), ("fennel", 1), ("fennel", 5))  # and passes
# batch, buffer, passes. Batch 1 is Fennel; with a buffer, vertices are held back by priority.
HEISTREAM = (
    (1, 0, 1), (1, 0, 5), (1 << 15, 0, 1), (1 << 18, 0, 1), (1 << 20, 0, 1), (1 << 18, 0, 4),
    (1 << 18, 0, 10), (1 << 20, 0, 4), (1 << 15, 1 << 18, 1),
)  # fmt: skip


def main():
    answer_more(arguments(), measure, table)


def arguments():
    made = parser(__doc__, RESULTS)
    made.add_argument("--parts", type=words, default=list(PARTS))
    made.add_argument("--methods", type=words, default=[""], help="what their names begin with")
    made.add_argument("--kinds", type=words, default=KINDS, help="of Delaunay graphs")
    made.add_argument("--delaunay", type=words, default=["20-41", "22-31"],
                      help="powers and seeds")  # fmt: skip
    made.add_argument("--orders", type=words, default=["rows", "random"], help="of grids")
    made.add_argument("--width", type=int, default=5774, help="of the grid")
    made.add_argument("--rmat", type=words, default=["18-51", "18-52", "20-51", "20-52"])
    made.add_argument("--runs", type=int, default=3, help="of grids and R-MAT graphs")
    made.add_argument("--heistream", type=Path, help="Python that has chszlablib")
    made.add_argument("--data", type=Path, default=DATA, help="where graphs are kept")
    made.when_small(
        kinds=list(KINDS)[:1],
        delaunay=["15-1"],
        width=200,
        rmat=["12-1"],
        runs=1,
        data=DATA / "small",
    )
    return made.parse_args()


def measure(args, parts=None):
    """Add a line for each measurement that the file does not have; parts: their makers."""
    args.data.mkdir(parents=True, exist_ok=True)
    have = {tuple(line[key] for key in KEYS) for line in known(args.output)}
    for part in args.parts:
        for cell, make in (parts or PARTS)[part](args):
            chosen = cell["method"].startswith(tuple(args.methods))
            if chosen and tuple(cell[key] for key in KEYS) not in have:
                print(append(args.output, cell | make()), flush=True)


def about(part, graph, order, coords, targets, method, run=0):
    return {"part": part, "graph": graph, "order": order, "coords": coords,
            "targets": targets, "method": method, "run": run}  # fmt: skip


def delaunay_cells(args):
    for name in args.delaunay:
        power, seed = map(int, name.split("-"))
        kinds = [tuple(kind.split("-")) for kind in args.kinds]
        paths = files.delaunay_files(args.data, power, seed, kinds)
        for (order, coords), path in paths.items():
            for targets in ("topo", "equal"):
                cell = partial(about, "delaunay", f"delaunay{name}", order, coords, targets)
                yield from delaunay_cell(args, cell, path)


def delaunay_cell(args, cell, path):
    """All methods on one file; METIS and HeiStream where coordinates are not there to be used."""
    first = cell("slices")
    targets, order, coords = (first[key] for key in ("targets", "order", "coords"))
    yield cell("memory"), partial(alone, methods.in_memory, path, targets, coords == "coords")
    yield first, in_slices(path, targets)
    if coords == "bare":
        for tool in ("metis", "metis-recursive"):
            yield cell(tool), partial(alone, methods.in_memory, path, targets, False, tool)
    elif targets == "topo":
        for groups in GROUPS:
            yield cell(f"groups={groups}"), in_slices(path, targets, "clusters", groups=groups)
        yield cell("curve"), in_slices(path, targets, "curve")
    if coords == "bare" and order in ("hilbert", "random"):
        for rule, passes in ONE_PASS:
            options = {"rule": rule, "passes": passes}
            yield cell(f"{rule} {passes}"), in_slices(path, targets, "one pass", **options)
    if (targets, order, coords) == ("equal", "hilbert", "bare"):
        yield from heistreams(args, cell, path)


def in_slices(path, targets, way="clusters", **options):
    return partial(alone, methods.in_slices, path, targets, way, options)


def heistreams(args, cell, path):
    for setting in HEISTREAM if args.heistream else ():
        method = "heistream batch={} buffer={} passes={}".format(*setting)
        yield cell(method), partial(methods.heistream, path, "equal", args.heistream, setting)


def grid_cells(args):
    for order in args.orders:
        path = files.grid_file(args.data, args.width, order)
        cell = partial(about, "grid", f"grid{args.width}", order, "coords", "topo")
        for run in range(args.runs):
            yield cell("slices", run), in_slices(path, "topo")
        yield cell("memory"), partial(alone, methods.in_memory, path, "topo")


def rmat_cells(args):
    for name in args.rmat:
        path = files.rmat_file(args.data, *map(int, name.split("-")))
        for targets in ("topo", "equal"):
            cell = partial(about, "rmat", f"rmat{name}", "generated", "bare", targets)
            for run in range(args.runs):
                yield cell("memory", run), partial(alone, methods.in_memory, path, targets, False)
                yield cell("slices", run), in_slices(path, targets, "uneven")
            for rule, passes in ONE_PASS:
                options = {"rule": rule, "passes": passes}
                yield cell(f"{rule} {passes}"), in_slices(path, targets, "one pass", **options)
            if targets == "equal" and name.startswith(("18-", "12-")):
                yield from heistreams(args, cell, path)


PARTS = {"delaunay": delaunay_cells, "grid": grid_cells, "rmat": rmat_cells}


def table(lines):
    return tables.of_files(lines)


if __name__ == "__main__":
    main()
