"""CPU seconds of the generators: a Delaunay graph of 2^20 points under 12 s, the airfoil under 8.

Writes one JSON line an instance to benchmarks/results/generating.jsonl and prints it. `cpu_s` is
the median of three; ends with 1 where it is above `limit_s`.
"""

import sys
import time
from pathlib import Path

import numpy as np
from records import bare_parser, markdown, write

from evener.graphs.generating.airfoil import FEWEST
from evener.graphs.generating.families import GENERATORS
from evener.graphs.mesh import Mesh

RESULTS = Path(__file__).parent / "results" / "generating.jsonl"
REPEATS = 3
# family, its parameters, CPU seconds promised (None: nothing is)
INSTANCES = [
    ("delaunay", {"n": 1 << 20}, 12.0),
    ("airfoil", {}, 8.0),
    ("graded-delaunay", {"n": 1 << 19}, None),
    ("refined-delaunay", {"n": 1 << 19}, None),
    ("rgg", {"n": 1 << 20}, None),
    ("rgg", {"n": 1 << 20, "dim": 3}, None),
    ("trace-dual", {"n": 500_000}, None),
    ("bubbles-dual", {"n": 500_000}, None),
    ("airways", {"n": 1 << 20}, None),
    ("delaunay", {"n": 1 << 17, "dim": 3}, None),
    ("triangle-dual", {"n": 500_000}, None),
    ("tetrahedron-dual", {"n": 1 << 17}, None),
    ("triangles", {"n": 500_000}, None),
    ("tetrahedra", {"n": 1 << 17}, None),
    ("grid", {"shape": (2048, 2048)}, None),
    ("grid", {"shape": (160, 160, 160)}, None),
    ("rmat", {"scale": 16}, None),
    ("rmat", {"scale": 18}, None),
    ("rmat", {"scale": 20}, None),
    ("barabasi-albert", {"n": 1 << 20}, None),
]


def measure(name, given):
    """Make it REPEATS times; returns what was made last and the median of the CPU seconds."""
    family = GENERATORS[name]
    given = given | ({"seed": 20_260} if family.seeded else {})
    taken = []
    for _ in range(REPEATS):
        start = time.process_time()
        made = family.make(**given)
        taken.append(time.process_time() - start)
    return made, float(np.median(taken))


def counts(made):
    if isinstance(made, Mesh):
        return {"cells": made.n_cells, "points": made.n_points}
    return {"vertices": made.n, "edges": made.m}


SMALL = [
    ("delaunay", {"n": 1 << 12}, None),
    ("airfoil", {"n_triangles": FEWEST}, None),
    ("graded-delaunay", {"n": 1 << 12}, None),
    ("refined-delaunay", {"n": 1 << 12}, None),
    ("rgg", {"n": 1 << 12, "dim": 3}, None),
    ("tetrahedra", {"n": 1 << 10}, None),
    ("trace-dual", {"n": 1 << 12}, None),
    ("bubbles-dual", {"n": 1 << 12}, None),
    ("airways", {"n": 1 << 12}, None),
    ("grid", {"shape": (16, 16, 16)}, None),
    ("rmat", {"scale": 10}, None),
    ("barabasi-albert", {"n": 1 << 10}, None),
]


def main():
    args = bare_parser(__doc__, RESULTS).parse_args()
    GENERATORS["airfoil"].make(n_triangles=FEWEST)  # loads compiled code
    lines, late = [], False
    for name, given, limit in SMALL if args.small else INSTANCES:
        made, seconds = measure(name, given)
        line = {"family": name, **given, **counts(made), "cpu_s": round(seconds, 3)}
        if limit is not None:
            line["limit_s"] = limit
            late |= seconds > limit
        lines.append(line)
        print(line, flush=True)
    write(args.output, lines)
    sys.exit(int(late))


def table(lines):
    """A row an instance."""
    rows = [("family", "vertices or cells", "edges", "CPU s")]
    for line in lines:
        name = line["family"] + (f", {line['dim']}-D" if "dim" in line else "")
        size, edges = line.get("vertices", line.get("cells")), line.get("edges")
        rows.append((name, f"{size:,}", f"{edges:,}" if edges else "", f"{line['cpu_s']:.2f}"))
    return markdown(rows)


if __name__ == "__main__":
    main()
