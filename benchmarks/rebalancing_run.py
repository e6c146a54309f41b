"""Vertices change device while a run goes on, when a rival comes to a core: with and without.

    python benchmarks/rebalancing_run.py [--rounds 8] [--side 1000] [--supersteps 4000]
        [-o FILE] [--table]

PageRank on a grid, two devices of a core each, as threads and as ranks of MPI. After a quarter of
the supersteps (--rival-from) another process begins on the second core and stays. In each round, in
random order: no moves, twice, so that it is known how far two equal runs differ; moves by a
RunRebalancer, as `evener run --rebalance` makes them; then without the rival, without and with
moves. A JSON line a run, then ratios of the seconds of the same round, moves and asking included.
"By its own times" is free of how runs differ: the seconds of computing of that very run against
what they would have been, by arc, had both devices half of the arcs. The cores are to be quiet.
Supersteps are to take 10 ms or more: a device that computes for less between two waits gets its
core back at once, and the rival hardly slows it down.
"""

from collections import defaultdict
from pathlib import Path
from statistics import median

from rebalancing_live import rival_in_waiting
from records import answer, markdown, parser
from wall_clock.figures import median_interval
from wall_clock.launching import quiet, run_ranks
from wall_clock.pagerank_moves import measured as on_threads

RESULTS = Path(__file__).parent / "results" / "rebalancing_run.jsonl"
WAYS = ("never", "never again", "moves", "quiet", "quiet moves")
PAIRS = (("moves", "never"), ("never again", "never"), ("quiet moves", "quiet"))
KINDS = ("threads", "ranks")


def main():
    made = parser(__doc__, RESULTS)
    made.add_argument("--rounds", type=int, default=8)
    made.add_argument("--side", type=int, default=2000, help="of the grid, in vertices")
    made.add_argument("--supersteps", type=int, default=1000)
    made.add_argument("--rival-from", type=float, default=0.25, help="share of supersteps")
    made.add_argument("--budget", type=float, default=600.0, help="seconds of each kind, about")
    made.when_small(rounds=1, side=100, supersteps=300)
    answer(made.parse_args(), measured, table)


def measured(args):
    """A line a run."""
    with rival_in_waiting() as rival:
        job = {"case": "pagerank", "side": args.side, "supersteps": args.supersteps,
               "begins": round(args.rival_from * args.supersteps), "rounds": args.rounds,
               "ways": WAYS, "rival": rival, "pause": 0.05, "budget": args.budget}  # fmt: skip
        for kind in KINDS:
            if kind == "threads":
                rounds = on_threads(job)
            else:
                rounds = run_ranks(2, "pagerank_moves", job, timeout=2 * args.budget)["rounds"]
            for number, runs in enumerate(rounds):
                for run in runs:
                    given = {name: job[name] for name in ("side", "supersteps", "begins")}
                    yield {"kind": kind, "round": number, **run, **given, "others": quiet()}


def table(lines):
    """Ratios of each kind, and what moves and asking took."""
    rows = [("devices as", "ratio of seconds", "median", "its interval", "least, most")]
    for kind in KINDS:
        rounds = defaultdict(dict)
        for line in lines:
            if line["kind"] == kind:
                rounds[line["round"]][line["way"]] = line
        for above, below in PAIRS:
            ratios = [own[above]["seconds"] / own[below]["seconds"] for own in rounds.values()]
            rows.append((kind, f"{above} / {below}", *figures(ratios)))
        for way in ("moves", "quiet moves"):
            pairs = [own[way]["own"] for own in rounds.values()]
            ratios = [moved / even for moved, even in pairs]
            rows.append((kind, f"{way} / halves, by its own times", *figures(ratios)))
    return markdown(rows) + "\n\n" + remarks(lines)


def figures(ratios):
    """Median, its interval, least and most, as text."""
    middle, low, high = median_interval(ratios)
    return f"{middle:.3f}", f"{low:.3f} to {high:.3f}", f"{min(ratios):.3f}, {max(ratios):.3f}"


def remarks(lines):
    """When vertices moved, what that took, and how far values were off."""
    moved = [line for line in lines if line["way"] == "moves"]
    begins = moved[0]["begins"]
    late = [next((s - begins for s, *_ in line["moves"] if s >= begins), None) for line in moved]
    known = [one for one in late if one is not None]
    seconds = [took for line in lines for *_, took in line["moves"]] or [0.0]
    asking = median(line["asking_s"] / line["seconds"] for line in lines if "moves" in line["way"])
    gains = [one for line in moved for one in line.get("gains", ())]
    judged = [
        (promised, realized) for _, promised, realized, share, _ in gains if share is not None
    ]
    share = sum(own for _, own in judged) / sum(own for own, _ in judged) if judged else 0.0
    counts = [len(line["moves"]) for line in moved]
    quiet_moves = [len(line["moves"]) for line in lines if line["way"] == "quiet moves"]
    return (
        f"{moved[0]['side']}² vertices, {moved[0]['supersteps']:,} supersteps. The first move "
        f"came {median(known or [0]):.0f} supersteps after the rival in the median and "
        f"{max(known, default=0)} at most, in {len(known)} of {len(moved)} runs; a move took "
        f"{1e3 * median(seconds):.0f} ms in the median. With the rival, vertices moved "
        f"{median(counts):.0f} times in the median run and {max(counts)} at most; {len(judged)} "
        f"moves were judged, and realized {share:.0%} of what was predicted. Asking took "
        f"{asking:.1%} of the time. "
        f"Without a rival, vertices moved {median(quiet_moves):.0f} times in the median run. "
        f"Values differ by {max(line['off'] for line in lines):.1g} at most, relative."
    )


if __name__ == "__main__":
    main()
