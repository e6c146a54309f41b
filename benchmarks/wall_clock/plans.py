"""The partitions compared: equal blocks, METIS at the same sizes, and the plan for seconds."""

import numpy as np

from evener.partitioning.registry import partition_with
from evener.partitioning.requests import Request
from evener.planning.in_memory import plan
from evener.planning.makespan.baselines import METIS_TOOLS, enforced_and_mapped, metis_blocks
from evener.planning.options import PlanOptions
from evener.planning.steps import terms_of
from evener.plans.metrics import predicted_seconds
from evener.plans.partition import Partition
from wall_clock.machines import platform

SEED = 7


def metis(graph, work, targets):
    """METIS k-way with targets, its tolerance 3 %."""
    request = Request(np.asarray(targets, float), epsilon=0.03, seed=SEED)
    part = partition_with("metis", graph.with_(vwgt=work), request).part
    return Partition(part, request.k)


def metis_at_best_sizes(graph, machine, workload):
    """The better of METIS's two methods at sizes of least time, enforced and mapped.

    graph: as the workload leaves it; machine: with all that the plan is told.
    """
    options = PlanOptions(objective="seconds", seed=SEED, workload=workload)
    counted = workload.weighted(graph)
    terms, found = terms_of(counted, machine, options), []
    for tool in METIS_TOOLS:
        blocks = metis_blocks(counted, terms, options, tool).part
        blocks = enforced_and_mapped(counted, blocks, terms, options)
        found.append(Partition(blocks, machine.k))
    return min(found, key=lambda one: predicted(graph, one, machine, workload).makespan)


def loads(work, partition):
    """(k,) what the blocks weigh [units]."""
    return np.bincount(partition.part, weights=work, minlength=partition.k)


def planned(graph, machine, workload):
    """The plan for seconds per iteration."""
    options = PlanOptions(objective="seconds", seed=SEED, workload=workload)
    return plan(graph, machine, options).partition


def predicted(graph, partition, machine, workload):
    """What an iteration is predicted to take."""
    return predicted_seconds(graph, partition, machine, workload)


def described(graph, partitions, machine, workload):
    """For each partition: predicted makespan [s], the last device's share of exchange, loads."""
    found = {}
    for name, partition in partitions.items():
        guess = predicted(graph, partition, machine, workload)
        last = guess.bottleneck
        shares = loads(workload.work(graph), partition) / graph.total_weight
        found[name] = {
            "predicted": guess.makespan,
            "comm_share": float(guess.communicate[last] / guess.seconds[last]),
            "devices": int((shares > 0).sum()),
            "shares": np.round(shares, 4).tolist(),
        }
    return found


def typical(described):
    """Medians over runs of what `described` says of each."""
    return {
        name: {
            key: np.median([one[name][key] for one in described], axis=0).tolist() for key in own
        }
        for name, own in described[0].items()
    }


def link_of_share(graph, partition, speeds, link, workload, share):
    """The link, slower or faster, at which exchange is this share of the last device's time."""
    low, high = 1e-6, 1e6
    for _ in range(50):
        factor = float(np.sqrt(low * high))
        scaled = link[0] * factor, link[1] * factor
        guess = predicted(graph, partition, platform(speeds, scaled), workload)
        last = guess.bottleneck
        if guess.communicate[last] < share * guess.seconds[last]:
            low = factor
        else:
            high = factor
    return scaled
