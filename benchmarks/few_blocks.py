"""Edge cut of plans for two to eight devices, beside the best of four others at the same sizes.

    [EVENER_DATA=FOLDER] python benchmarks/few_blocks.py [--only TEXT,...] [--machines 2:1,...]
    python benchmarks/few_blocks.py --chosen       # the graphs on which constants were chosen
    python benchmarks/few_blocks.py --table        # what the result file says

Grids (plane, space, triangulated, periodic), meshes and matrices, with ten machines each. The
others are coordinate bisection (rcb), METIS k-way, METIS recursive and Scotch; each gets the same
sizes and its blocks are repaired to the same contract (3 %). `ev.plan(..., objective="cut")` is
timed as a whole in this process, kernels loaded: CPU seconds of all threads. One JSON line a
cell. Graphs are in two sets: constants were chosen on one, the table reports the other.
"""

import os
from pathlib import Path

import numpy as np
from records import answer, geometric_mean, markdown, parser, words

import evener as ev
from evener import io
from evener.errors import EvenerError
from evener.graphs.generating.delaunay import delaunay, tetrahedron_dual
from evener.graphs.generating.grid import grid
from evener.graphs.graph import Graph
from evener.machine_code.clock import cpu_seconds

RESULTS = Path(__file__).parent / "results" / "few_blocks.jsonl"
MACHINES = {
    "1:1": [1, 1],
    "2:1": [2, 1],
    "1:4": [1, 4],
    "1:1:4": [1, 1, 4],
    "1:2:4": [1, 2, 4],
    "1:1:1:1": [1] * 4,
    "8:1:1:1": [8, 1, 1, 1],
    "3:1:1:2:5": [3, 1, 1, 2, 5],
    "1:1:2:2:4:4": [1, 1, 2, 2, 4, 4],
    "1:1:2:2:3:4:4:8": [1, 1, 2, 2, 3, 4, 4, 8],
}
OTHERS = ("rcb", "metis", "metis-recursive", "scotch")
PRESETS = ("default", "strong")
ALIKE = 1.01  # times the best of the others: no more than this is as good


def periodic(*shape):
    """A grid whose opposite sides are neighbours."""
    index = np.arange(np.prod(shape)).reshape(shape)
    ends = [(index.ravel(), np.roll(index, -1, axis).ravel()) for axis in range(len(shape))]
    coords = np.stack(np.unravel_index(index.ravel(), shape), 1).astype(float)
    both = (np.concatenate([pair[side] for pair in ends]) for side in (0, 1))
    return Graph.from_edges(index.size, *both, coords=coords)


CHOSEN = {
    "grid 700 x 700": lambda: grid([700, 700]),
    "grid 60 x 50 x 40": lambda: grid([60, 50, 40]),
    "triangulated 500 x 400": lambda: grid([500, 400], triangulated=True),
    "periodic 32 x 32 x 32": lambda: periodic(32, 32, 32),
    "delaunay 100,000": lambda: delaunay(100_000, seed=1),
    "cells in 3-D, 807,104": lambda: tetrahedron_dual(120_000, seed=1),
    "graphs/cti.graph": None,
    "graphs/wing.graph": None,
    "graphs/airfoil1.graph": None,
    "graphs/fe_body.graph": None,
    "matrices/nasa4704.mtx": None,
    "meshes/adcirc_katrina.fort.14": None,
    "meshes/brick_tets3d.su2": None,
}
REPORTED = {
    "grid 300 x 80": lambda: grid([300, 80]),
    "grid 200 x 150": lambda: grid([200, 150]),
    "grid 24 x 24 x 24": lambda: grid([24, 24, 24]),
    "triangulated 120 x 300": lambda: grid([120, 300], triangulated=True),
    "periodic 120 x 90": lambda: periodic(120, 90),
    "periodic 20 x 30 x 16": lambda: periodic(20, 30, 16),
    "cells in 3-D, large": lambda: tetrahedron_dual(80_000, seed=5),
    "graphs/crack.graph": None,
    "graphs/3elt.graph": None,
    "graphs/fe_sphere.graph": None,
    "graphs/fe_pwt.graph": None,
    "graphs/data.graph": None,
    "graphs/bcsstk33.graph": None,
    "graphs/wing_nodal.graph": None,
    "graphs/cvrc_wedge16k.graph": None,
    "graphs/whitaker3.graph": None,
    "graphs/uk.graph": None,
    "graphs/luxembourg.osm.graph": None,
    "matrices/cryg2500.mtx": None,
    "matrices/commanche_dual.mtx": None,
    "meshes/naca4412_turb.su2": None,
    "meshes/pinarray3d.su2": None,
    "meshes/stlaurent_35k.msh": None,
    "meshes/bunny.mesh": None,
    "meshes/naca0015_ogrid.su2": None,
    "meshes/mfem_anu.msh": None,
}


def main():
    answer(arguments(), measured, table)


def arguments():
    made = parser(__doc__, RESULTS)
    made.add_argument("--only", default="", help="graphs whose names have one of these in them")
    made.add_argument("--machines", default=",".join(MACHINES))
    made.add_argument("--chosen", action="store_true", help="graphs that constants were chosen on")
    made.when_small(only="24 x 24 x 24", machines="2:1,1:1:4")
    return made.parse_args()


def measured(args):
    ev.plan(delaunay(3_000, seed=1), 4, objective="cut")  # imports and kernels
    ev.plan(delaunay(3_000, seed=1).with_(coords=None), 4, objective="cut")
    for name, make in (CHOSEN if args.chosen else REPORTED).items():
        graph = None
        if not any(text in name for text in args.only.split(",")):
            continue
        graph = make() if make else file_of(name)
        for machine in words(args.machines) if graph is not None else ():
            yield {
                "graph": name, "n": graph.n, "m": graph.m, "machine": machine,
                "set": "chosen" if args.chosen else "reported",
                **cell(graph, MACHINES[machine]),
            }  # fmt: skip


def file_of(name):
    folder = os.environ.get("EVENER_DATA")
    return io.read(Path(folder) / f"{name}.zst").graph if folder else None


def cell(graph, speeds):
    """Cut of every tool, CPU seconds of ours, and what could not be divided."""
    found, failed = {}, {}
    for tool in OTHERS:
        if tool == "rcb" and graph.coords is None:
            continue
        try:
            found[tool] = cut_by(graph, speeds, tool=tool)
        except EvenerError as error:
            failed[tool] = str(error)
    seconds = {}
    for preset in PRESETS:
        began = cpu_seconds()
        found[preset] = cut_by(graph, speeds, preset=preset)
        seconds[preset] = round(cpu_seconds() - began, 4)
    return {"cut": found, "cpu_s": seconds, "failed": failed}


def cut_by(graph, speeds, **options):
    return float(ev.plan(graph, speeds, objective="cut", **options).evaluation.edge_cut)


def table(lines):
    """A row for each set of graphs and kind."""
    head = ["graphs", "cells", "cut / best of the others", "above by 1 %", "worst",
            "strong above default"]  # fmt: skip
    rows = [
        [label, *figures(some)]
        for label, among in KINDS.items()
        if (some := [line for line in lines if among(line["graph"])])
    ]
    return markdown([head, *rows, ["all", *figures(lines)]])


def figures(lines):
    cuts = [line["cut"] for line in lines]
    best = np.array([min(cut[tool] for tool in OTHERS if tool in cut) for cut in cuts])
    own, strong = (np.array([cut[preset] for cut in cuts]) for preset in PRESETS)
    ratio = (own + 1) / (best + 1)  # where the graph falls apart, nothing need be cut
    return [
        len(lines), f"{geometric_mean(ratio):.3f}", int((ratio > ALIKE).sum()),
        f"{ratio.max():.3f}", int((strong > own).sum()),
    ]  # fmt: skip


KINDS = {
    "grids": lambda name: name.startswith(("grid", "triangulated")),
    "periodic grids": lambda name: name.startswith("periodic"),
    "meshes, matrices, graphs": lambda name: "/" in name or name.startswith(("delaunay", "cells")),
}

if __name__ == "__main__":
    main()
