"""CPU seconds of the geometric partitioners: 2^22 uniform points, 96 unequal blocks, under 3 s.

Writes one JSON line a run to benchmarks/results/geometric.jsonl and prints their table.
"""

import time
from collections import defaultdict
from pathlib import Path

import numpy as np
from records import bare_parser, markdown, write

from evener.graphs.hilbert import hilbert_order
from evener.partitioning.initial.geometric import GEOMETRIC

N = 1 << 22
TARGETS = np.r_[np.full(8, 16.0), np.full(88, 1.0)]  # 8 fast devices among 96
RESULTS = Path(__file__).parent / "results" / "geometric.jsonl"
REPEATS = 3


def cpu_seconds(call):
    """Median over repeats; the first call, which loads compiled code, is left out."""
    call()
    taken = []
    for _ in range(REPEATS):
        start = time.process_time()
        call()
        taken.append(time.process_time() - start)
    return float(np.median(taken))


def heaviest_error(part, weights):
    """Largest distance of a block from its target, in heaviest vertices."""
    got = np.bincount(part, weights=weights, minlength=TARGETS.size)
    ideal = TARGETS * (got.sum() / TARGETS.sum())
    return float(np.abs(got - ideal).max() / (1 if weights is None else weights.max()))


def main():
    made = bare_parser(__doc__, RESULTS)
    made.add_argument("--n", type=int, default=N, help="points")
    made.when_small(n=1 << 12)
    args = made.parse_args()
    rng = np.random.default_rng(20_260)
    lines = []
    for d in (2, 3):
        points = rng.random((args.n, d))
        seconds = cpu_seconds(lambda points=points: hilbert_order(points))
        lines.append({"what": "hilbert_order", "n": args.n, "d": d, "cpu_s": round(seconds, 3)})
        for kind, weights in (("unit", None), ("whole", rng.integers(1, 20, args.n))):
            for name, method in GEOMETRIC.items():
                part = method(points, weights, TARGETS)
                seconds = cpu_seconds(lambda m=method, p=points, w=weights: m(p, w, TARGETS))
                line = {"what": name, "n": args.n, "d": d, "k": TARGETS.size, "weights": kind}
                error = round(heaviest_error(part, weights), 4)
                lines.append(line | {"cpu_s": round(seconds, 3), "off_by_heaviest": error})
    print(table(write(args.output, lines)))


def table(lines):
    """A row a partitioner, a column a kind of points and weights."""
    cells = {}
    off = defaultdict(float)
    for line in lines:
        if "weights" in line:
            cells[line["what"], line["d"], line["weights"]] = f"{line['cpu_s']:.2f}"
            off[line["what"]] = max(off[line["what"]], line["off_by_heaviest"])
    columns = [(2, "unit"), (2, "whole"), (3, "unit"), (3, "whole")]
    rows = [
        ("partitioner", *(f"{d}-D, {kind} weights" for d, kind in columns), "worst block off by")
    ]
    rows += [
        (name, *(cells[name, *column] for column in columns), f"{worst:.2f}")
        for name, worst in off.items()
    ]
    return markdown(rows)


if __name__ == "__main__":
    main()
