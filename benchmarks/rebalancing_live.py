"""Rows of Jacobi's method move on two real cores, when a rival comes to one of them.

    python benchmarks/rebalancing_live.py [--rounds 20] [-o FILE]

Two ranks bound to a core each, iterations of some 20 ms; after a third of them a rival begins on
the second core, in a session of its own, and stays. In each round, in random order: not moving,
the best fixed split in hindsight (of the round before), and a RowRebalancer; then without a rival
not moving and the RowRebalancer. A JSON line a run, then the figures asked: the first move comes
within 5 iterations; the total is within 10 % of the best fixed split, and at most 2 % worse than
not moving. Under eight minutes; the cores are to be quiet.
"""

import argparse
import json
import os
import signal
import subprocess
import sys
from contextlib import contextmanager
from pathlib import Path

from wall_clock.figures import median_interval
from wall_clock.launching import core_of, quiet, run_ranks

RESULTS = Path(__file__).parent / "results" / "rebalancing_live.jsonl"
WAYS = ("never", "fixed", "moves", "quiet", "quiet moves")
BEGINS = 40

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
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--rounds", type=int, default=20)
    parser.add_argument("--rows", type=int, default=5000)
    parser.add_argument("--iterations", type=int, default=105)
    parser.add_argument("-o", "--output", type=Path, default=RESULTS)
    args = parser.parse_args()
    with rival_in_waiting() as rival:
        job = {"case": "jacobi", "rows": args.rows, "iterations": args.iterations, "begins": BEGINS,
               "rounds": args.rounds, "ways": WAYS, "rival": rival, "pause": 0.05}  # fmt: skip
        found = run_ranks(2, "jacobi_ranks", job, timeout=580.0)
    with args.output.open("w") as file:
        for number, runs in enumerate(found["rounds"]):
            for run in runs:
                file.write(json.dumps({"round": number, **run, "others": quiet()}) + "\n")
    for line in figures(found["rounds"]):
        print(line)


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


def figures(rounds):
    """What is asked beside what was found, a line each."""
    by_way = [{run["way"]: run for run in runs} for runs in rounds]
    reaction = [reacted(own["moves"]) for own in by_way]
    late = sum(one is None or one > 5 for one in reaction)
    yield f"first move after the rival, asked within 5 iterations: {reaction}, later in {late}"
    for above, below, asked in (
        ("moves", "fixed", 1.10), ("moves", "never", 1.02), ("quiet moves", "quiet", 1.02),
    ):  # fmt: skip
        ratios = [own[above]["seconds"] / own[below]["seconds"] for own in by_way]
        middle, low, high = median_interval(ratios)
        over = sum(ratio > asked for ratio in ratios)
        yield (
            f"{above} / {below}, asked at most {asked}: median {middle:.3f} "
            f"({low:.3f} to {high:.3f}), worst {max(ratios):.3f}, above in {over} of {len(ratios)}"
        )
    took = [seconds for own in by_way for seconds in own["moves"]["took"]]
    if took:
        iteration = by_way[0]["never"]["iteration"]
        yield f"a move took {1e3 * max(took):.0f} ms at most, an iteration {1e3 * iteration:.1f} ms"


def reacted(run):
    """Iterations from the rival's first to the first move, or None."""
    after = [at for at, _ in run["moves"] if at > BEGINS]
    return after[0] - BEGINS if after else None


if __name__ == "__main__":
    main()
