"""Predicted seconds beside SimGrid's, which shares links by its own rules.

    python benchmarks/simulated.py [--seeds 25]    -> results/simulated.jsonl
    python benchmarks/simulated.py --table         the table of results/simulated.jsonl

Stars, trees and meshes of links, with and without shared links, with and without overlap, at
several shares of communication and latency. The simulation is given hosts, links, routes and bytes;
which messages share what, and for how long, it finds out alone. Needs Debian's python3-simgrid.
"""

import json
import subprocess
from collections import defaultdict
from pathlib import Path
from statistics import median

from records import answer, parser
from simulated_cases import SHAPES, cases

HERE = Path(__file__).parent
RESULTS = HERE / "results" / "simulated.jsonl"
PYTHON = "/usr/bin/python3"
FIRST = 1000  # seeds below have been looked at while the prediction was made
BATCH = 10
TOLERANCES = {False: 0.05, True: 0.15}  # by whether links are shared


def missing():
    """Why there is no SimGrid here, or None."""
    if not Path(PYTHON).exists():
        return f"there is no {PYTHON}"
    tried = subprocess.run([PYTHON, "-c", "import simgrid"], capture_output=True, check=False)
    return None if tried.returncode == 0 else "python3-simgrid is not installed"


def simulated(descriptions):
    """Seconds that SimGrid makes of each, some at a time: it has a thread for every actor."""
    if len(descriptions) > BATCH:
        return simulated(descriptions[:BATCH]) + simulated(descriptions[BATCH:])
    told = json.dumps(descriptions)
    child = [PYTHON, str(HERE / "simulated_child.py")]
    done = subprocess.run(child, input=told, capture_output=True, text=True, check=True)
    return json.loads(done.stdout)


def measured(shapes, seeds):
    """One line a case: predicted and simulated seconds, with ports and without."""
    given = [
        case
        for shape in shapes
        for shared in (False, True)
        for seed in seeds
        for case in cases(shape, seed, shared)
    ]
    seconds = simulated([one for _, _, told in given for one in told])
    return [
        told | {"predicted": found.makespan, "simulated": ported, "links_alone": alone}
        for (told, found, _), ported, alone in zip(given, seconds[::2], seconds[1::2], strict=True)
    ]


def main():
    made = parser(__doc__, RESULTS)
    made.add_argument("--seeds", type=int, default=25)
    made.when_small(seeds=1)
    args = made.parse_args()
    answer(args, lambda args: measured(SHAPES, range(FIRST, FIRST + args.seeds)), table)


def table(lines):
    """Errors of the prediction by shape: how many are small, median, p90 and largest."""
    groups = defaultdict(list)
    for line in lines:
        groups[line["shape"], line["shared"]].append(line)
    rows = ["| platform | links | within | median | p90 | largest | no ports: median | p90 |",
            "| --- | --- | --- | --- | --- | --- | --- | --- |"]  # fmt: skip
    for (shape, shared), own in groups.items():
        errors, alone = (
            [line["predicted"] / line[key] - 1 for line in own]
            for key in ("simulated", "links_alone")
        )
        tolerance = TOLERANCES[shared]
        within = sum(abs(error) <= tolerance for error in errors)
        cells = [
            shape, "shared" if shared else "each pair's own",
            f"{100 * tolerance:.0f} %: {within} of {len(own)}",
            *(f"{100 * x:+.1f} %" for x in (median(errors), _tail(errors), max(errors, key=abs))),
            *(f"{100 * x:+.1f} %" for x in (median(alone), _tail(alone))),
        ]  # fmt: skip
        rows.append("| " + " | ".join(cells) + " |")
    return "\n".join(rows).replace("-0.0 %", "0.0 %").replace("+0.0 %", "0.0 %")


def _tail(errors):
    """The error that nine of ten are not beyond."""
    ranked = sorted(errors, key=abs)
    return ranked[int(0.9 * (len(ranked) - 1))]


if __name__ == "__main__":
    main()
