"""Rows of Jacobi's method move on two real cores, when a rival comes to one of them.

    python benchmarks/rebalancing_live.py [--rounds 20] [-o FILE]

Two ranks bound to a core each, iterations of some 20 ms; after 40 of 105 a rival begins on the
second core, in a session of its own, and stays. In each round, in random order: not moving, twice,
so that it is known how far two runs of one thing differ; the best fixed split in hindsight (of the
last run that stayed); and a RowRebalancer; then the same without a rival, but for the fixed split.
A JSON line a run, then the goals: the first move comes within 5 iterations; the total is
within 10 % of the best fixed split, and at most 2 % worse than not moving. "By its own times" is
free of how runs differ: what the times of that very run, by row, would have summed up to with even
sizes, or the best fixed ones. Seven minutes, eight at most (a slow machine does fewer rounds then);
the cores are to be quiet.
"""

import json
import os
import signal
import subprocess
import sys
from collections import defaultdict
from contextlib import contextmanager
from pathlib import Path
from statistics import median

import numpy as np
from records import Arguments
from wall_clock.figures import median_interval
from wall_clock.launching import core_of, quiet, run_ranks

RESULTS = Path(__file__).parent / "results" / "rebalancing_live.jsonl"
WAYS = ("never", "never again", "fixed", "moves", "quiet", "quiet again", "quiet moves")
BEGINS = 40
BUDGET = 440.0  # seconds after which no round begins
IN_TIME = 5  # iterations from the rival's first to the first move
PAIRS = (  # the goal of which ratio; None: two runs of the same, the noise
    ("moves", "fixed", 1.10),
    ("moves", "never", 1.02),
    ("never again", "never", None),
    ("quiet moves", "quiet", 1.02),
    ("quiet again", "quiet", None),
)
OWN = (("moves", "fixed", 1.10), ("moves", "even", 1.02), ("quiet moves", "even", 1.02))

# Busy from one signal to the other; ends when the benchmark has, however that came about.
RIVAL = """
import os, signal, sys, time
os.sched_setaffinity(0, {int(sys.argv[1])})
busy = [False]
signal.signal(signal.SIGUSR1, lambda *_: busy.__setitem__(0, True))
signal.signal(signal.SIGUSR2, lambda *_: busy.__setitem__(0, False))
print("ready", flush=True)
while os.getppid() == int(sys.argv[2]):
    if busy[0]:
        for _ in range(20_000):
            pass
    else:
        time.sleep(0.002)
"""


def main():
    made = Arguments(__doc__, RESULTS)
    made.add_argument("--rounds", type=int, default=20)
    made.add_argument("--rows", type=int, default=8000)
    made.add_argument("--iterations", type=int, default=105)
    made.when_small(rounds=1, rows=2000)
    args = made.parse_args()
    with rival_in_waiting() as rival:
        job = {"case": "jacobi", "rows": args.rows, "iterations": args.iterations, "begins": BEGINS,
               "rounds": args.rounds, "ways": WAYS, "rival": rival, "pause": 0.05,
               "budget": BUDGET}  # fmt: skip
        found = run_ranks(2, "jacobi_ranks", job, timeout=480.0)
    lines = [{"round": number, **shortened(run), "others": quiet()}
             for number, runs in enumerate(found["rounds"]) for run in runs]  # fmt: skip
    args.output.write_text("".join(json.dumps(line) + "\n" for line in lines))
    print(table(lines))


def shortened(run):
    """A run without the times of its iterations but for the later rank's before the rival."""
    kept = {key: value for key, value in run.items() if key != "times_us"}
    return kept | {"quiet_us": np.max(run["times_us"], axis=1)[:BEGINS].tolist()}


@contextmanager
def rival_in_waiting():
    """The number of a process that waits for its signal."""
    command = [sys.executable, "-S", "-c", RIVAL, str(core_of(1)), str(os.getpid())]
    process = subprocess.Popen(command, start_new_session=True, stdout=subprocess.PIPE, text=True)
    try:
        process.stdout.readline()
        yield process.pid
    finally:
        process.send_signal(signal.SIGKILL)
        process.wait()
        process.stdout.close()


def table(lines):
    """The goals beside what was found, a row each."""
    rounds = defaultdict(dict)
    for line in lines:
        rounds[line["round"]][line["way"]] = line
    rows = ["| | goal | median | its interval | worst | missed in |", "| --- " * 6 + "|"]
    reactions = [reacted(own["moves"]["moves"]) for own in rounds.values()]
    known = [one for one in reactions if one is not None]
    late = sum(one is None or one > IN_TIME for one in reactions)
    rows.append(
        f"| first move after the rival, iterations | {IN_TIME} | {median(known or [0]):.0f} | "
        f"| {max(known, default=0)} | {late} of {len(reactions)} |"
    )
    for above, below, asked in PAIRS:
        ratios = [own[above]["seconds"] / own[below]["seconds"] for own in rounds.values()]
        rows.append(compared(f"{above} / {below}", asked, ratios))
    for way, below, asked in OWN:
        ratios = [by_own_times(own[way], below) for own in rounds.values()]
        rows.append(compared(f"{way} / {below}, by its own times", asked, ratios))
    return "\n".join(rows) + "\n\n" + remarks(lines)


def compared(name, asked, ratios):
    """A row: the ratios' median and its interval, the worst, and how often one is above."""
    middle, low, high = median_interval(ratios)
    limit, missed = "the noise", ""
    if asked is not None:
        limit, missed = f"{asked:.2f}", f"{sum(r > asked for r in ratios)} of {len(ratios)}"
    worst = f"{min(ratios):.3f}, {max(ratios):.3f}" if asked is None else f"{max(ratios):.3f}"
    return f"| {name} | {limit} | {middle:.3f} | {low:.3f} to {high:.3f} | {worst} | {missed} |"


def by_own_times(run, below):
    """A run that moves, its moves included, by what its times would have been without."""
    own = run["hindsight"]
    return (own["own"] + sum(run["move_s"])) / own[below]


def remarks(lines):
    """What an iteration and a move took, and what else the cores did."""
    stayed = [line["quiet_us"] for line in lines if "moves" not in line["way"]]
    moves = [1e3 * seconds for line in lines for seconds in line["move_s"]]
    count = median(len(line["moves"]) for line in lines if line["way"] == "quiet moves")
    share = median(line["cpu_share"][0] for line in lines)
    rounds, took = 1 + max(line["round"] for line in lines), 1e-3 * np.median(stayed)
    of_moves = (
        f"a move {median(moves):.2f} ms in the median and {max(moves):.1f} ms at most"
        if moves
        else "and no run moved data"
    )
    return (
        f"{rounds} rounds. An iteration of even sizes takes {took:.1f} ms without a rival, "
        f"{of_moves}; without a rival, data moves {count:.0f} times in the median run. The program "
        f"had its first core to itself for {share:.0%} of the time."
    )


def reacted(moves):
    """Iterations from the rival's first to the first move, or None."""
    after = [at for at, _ in moves if at > BEGINS]
    return after[0] - BEGINS if after else None


if __name__ == "__main__":
    main()
