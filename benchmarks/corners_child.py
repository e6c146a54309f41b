"""Answers benchmarks/corners.py: partitions its cells with the Evener on this process' path.

Each line read asks for a run, each line written says what came of it, every contract enforced.
"""

import json
import sys

from corners_cases import CASES, shares

from evener.partitioning.enforce import enforce
from evener.partitioning.registry import partition_with
from evener.partitioning.requests import Request
from evener.plans import metrics
from evener.plans.partition import Partition

EPSILON = 0.03


def main():
    key, graph = None, None
    for line in sys.stdin:
        asked = json.loads(line)
        if key != (asked["graph"], asked["tuning"]):
            key = asked["graph"], asked["tuning"]
            graph = CASES[asked["graph"]].graph(asked["tuning"])
        print(json.dumps(one_run(graph, asked)), flush=True)


def one_run(graph, asked):
    """Cut as it came and as it is once the contract holds, CPU seconds of the partitioner alone."""
    targets = graph.n * shares(asked["machine"])
    request = Request(targets, EPSILON, asked["seed"], preset=asked["preset"])
    result = partition_with(asked["tool"], graph, request)
    made = Partition(result.part, targets.size)
    kept = enforce(graph, made, request.contract(graph))
    return {
        "cut": cut(graph, kept.partition),
        "raw": cut(graph, made),
        "cpu_s": round(result.cpu_seconds, 4),
    }


def cut(graph, partition):
    return int(metrics.edge_cut(metrics.quotient(graph, partition)))


if __name__ == "__main__":
    main()
