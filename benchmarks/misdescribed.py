"""A machine that was misdescribed: how much faster a run is after doing what the first one says.

    python benchmarks/misdescribed.py [--rounds 9] [-o FILE] [--table]

The machine file says that the second of two equal cores is 20 times as fast. `evener plan`, then
`evener run --samples run.samples --json`; the command that the run prints is executed as it stands,
up to twice, each time with the plan that it wrote. Then the plans are run in turns, each in a
process of its own with a core for each device. Ratios are of seconds of the same round, and of
"undisturbed" seconds of computing: of the slowest device, if all supersteps were as its fastest
tenth, in which other programs hardly interfere.
"""

import json
import shlex
import subprocess
import sys
import tempfile
from collections import defaultdict
from pathlib import Path

from records import answer, markdown, parser, words
from wall_clock.figures import median_interval
from wall_clock.launching import core_of, quiet

RESULTS = Path(__file__).parent / "results" / "misdescribed.jsonl"
MACHINE = '[[device]]\nname = "cpu0"\nspeed = 1\n\n[[device]]\nname = "cpu1"\nspeed = 20\n'
SUPERSTEPS = 100
MOST_ADVICE = 2  # commands that are followed


def main():
    made = parser(__doc__, RESULTS)
    made.add_argument("--rounds", type=int, default=9)
    made.add_argument("--side", type=int, default=1000, help="of the grid, in vertices")
    made.add_argument("--scale", type=int, default=18, help="of the R-MAT graph")
    made.add_argument("--graphs", type=words, default=["grid", "rmat"], help="grid,rmat")
    made.when_small(rounds=1, side=100, graphs=["grid"])
    answer(made.parse_args(), measured, table)


def evener(folder, *arguments):
    """What a command prints; it is to succeed."""
    command = [sys.executable, "-m", "evener", *map(str, arguments)]
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False)
    if done.returncode:
        raise SystemExit(f"{shlex.join(command)}: {done.stderr}")
    return done.stdout


def measured(args):
    """A line a run."""
    graphs = {
        "grid": ("grid", "--shape", f"{args.side}x{args.side}"),
        "rmat": ("rmat", "--scale", args.scale, "--seed", 1),
    }
    for name in args.graphs:
        with tempfile.TemporaryDirectory() as folder:
            (Path(folder) / "machine.toml").write_text(MACHINE)
            evener(folder, "generate", *graphs[name], "-o", "graph.npz")
            plan = ("plan", "graph.npz", "--machine", "machine.toml", "-o", "first.plan", "--quiet")
            evener(folder, *plan)
            plans = followed(folder)
            for number in range(args.rounds):
                for plan in plans[:: 1 if number % 2 else -1]:
                    found = ran(folder, plan)
                    yield {
                        "graph": name,
                        "round": number,
                        "plan": plans.index(plan),
                        "seconds": found["seconds"],
                        "undisturbed": round(found["undisturbed"], 6),
                        "says": found["advice"]["command"],
                        "others": quiet(),
                    }


def ran(folder, plan, *more):
    """What `evener run --json` says of PageRank with a plan."""
    cores = f"cpu:{core_of(0)},cpu:{core_of(1)}"
    given = ("--iterations", SUPERSTEPS, "--devices", cores, "--json", *more)
    given += ("--trace", "run.json")
    found = json.loads(evener(folder, "run", plan, "graph.npz", "--app", "pagerank", *given))
    return found | {"undisturbed": undisturbed(Path(folder) / "run.json")}


def undisturbed(trace):
    """Seconds of computing of the slowest device, had all its supersteps been as its fastest tenth.

    What other programs take of a core is in few of these.
    """
    devices = defaultdict(lambda: defaultdict(float))
    for event in json.loads(trace.read_text())["traceEvents"]:
        if event["name"] == "computing":
            devices[event["tid"]][event["args"]["superstep"]] += 1e-6 * event["dur"]
    each = [sorted(steps.values()) for steps in devices.values()]
    return max(len(steps) * steps[len(steps) // 10] for steps in each)


def followed(folder):
    """The first plan, and those that the printed commands write."""
    plans = ["first.plan"]
    for _ in range(MOST_ADVICE):
        said = ran(folder, plans[-1], "--samples", "run.samples")["advice"]
        printed = shlex.split(said["command"])
        if printed[:2] != ["evener", "plan"]:
            break
        evener(folder, *printed[1:])
        plans.append(printed[printed.index("-o") + 1])
    return plans


def table(lines):
    """Ratios to the first plan, by graph."""
    rows = [("graph", "plan", "seconds / those of the first plan", "its interval",
             "computing, undisturbed", "its interval")]  # fmt: skip
    for name in dict.fromkeys(line["graph"] for line in lines):
        rounds = defaultdict(dict)
        for line in lines:
            if line["graph"] == name:
                rounds[line["round"]][line["plan"]] = line
        for plan in sorted(next(iter(rounds.values())))[1:]:
            found = []
            for what in ("seconds", "undisturbed"):
                ratios = [own[plan][what] / own[0][what] for own in rounds.values() if plan in own]
                middle, low, high = median_interval(ratios)
                found += [f"{middle:.2f}", f"{low:.2f} to {high:.2f}"]
            rows.append((name, f"after command {plan}", *found))
    return markdown(rows)


if __name__ == "__main__":
    main()
