"""When to move data: Evener's rule and others on drifting devices, beside the best in hindsight.

    python benchmarks/rebalancing.py [--seeds 3] [-o FILE]

32 devices, four of them 16 times as fast, for 10,000 iterations that take 1 s where balanced;
measured times scatter by 5 %. Seven kinds of drift, so many seeds, three costs of moving; a JSON
line each: `best`, the seconds of an offline dynamic programme that knows all, and for each rule
its `ratio` to it and its `moves`. The rule was tuned on seeds 11 to 17. About ten minutes.
"""

import json
import statistics
from pathlib import Path

from rebalancing_drifts import KINDS, drift
from rebalancing_rules import RULES, MoveCost, offline_optimum, simulate
from records import Arguments

RESULTS = Path(__file__).parent / "results" / "rebalancing.jsonl"
INSTANCE_SEED = 2026
COSTS = {"cheap": MoveCost(5, 20), "middling": MoveCost(50, 100), "dear": MoveCost(500, 500)}


def main():
    made = Arguments(__doc__, RESULTS)
    made.add_argument("--seeds", type=int, default=3)
    made.add_argument("--kinds", nargs="*", default=list(KINDS), choices=list(KINDS))
    made.add_argument("--iterations", type=int, default=10_000)
    made.when_small(seeds=1, kinds=list(KINDS)[:2], iterations=300)
    args = made.parse_args()
    lines = []
    with args.output.open("w") as file:
        for kind in args.kinds:
            for seed in range(INSTANCE_SEED, INSTANCE_SEED + args.seeds):
                for price in COSTS:
                    lines.append(one(kind, seed, price, args.iterations))
                    file.write(json.dumps(lines[-1]) + "\n")
                    file.flush()
    print(table(lines))


def table(lines):
    """A row a rule: mean and worst ratio of all lines, and means by kind of drift."""
    kinds = list(dict.fromkeys(line["kind"] for line in lines))
    rows = [f"| rule | mean | worst | {' | '.join(kinds)} |", "| --- " * (3 + len(kinds)) + "|"]
    for rule in lines[0]["rules"]:
        own = [(line["kind"], line["rules"][rule]["ratio"]) for line in lines]
        ratios = [ratio for _, ratio in own]
        means = [statistics.mean(ratio for at, ratio in own if at == kind) for kind in kinds]
        cells = [f"{value:.2f}" for value in means]
        name = "**regret (Evener)**" if rule == "regret" else rule
        mean, worst = statistics.mean(ratios), max(ratios)
        rows.append(f"| {name} | {mean:.3f} | {worst:.3f} | {' | '.join(cells)} |")
    return "\n".join(rows)


def one(kind, seed, price, iterations):
    trace, cost = drift(kind, seed, n=iterations), COSTS[price]
    best = offline_optimum(trace, cost)
    rules = {}
    for rule in RULES:
        found = simulate(trace, cost, rule)
        rules[rule] = {"ratio": round(found.seconds / best, 4), "moves": len(found.moves)}
    return {"kind": kind, "seed": seed, "cost": price, "best": round(best, 1), "rules": rules}


if __name__ == "__main__":
    main()
