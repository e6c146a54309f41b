"""Partitions as they come, mapped, and made along the machine's tree: bytes x hops and seconds.

    python benchmarks/mapping.py [--families ...] [--machines ...] [--seeds 3]

The machines are trees of nodes, sockets and devices with speeds as TOPO1's: one device in 12 is 16
times as fast (1.6e9 against 1e8 units/s). "tree": 4 x 2 x 12 in the tree's order. "shuffled": the
same, in any order. "wide": 16 x 2 x 12. "slow": as "tree", of speeds 16 and 1, so that time is
computing alone and only hops are left to win. For each instance, machine and seed the partitioners
run in turn; every result has its contract enforced, then `evener.map_blocks` maps it. Each run is
one JSON line: `hop_bytes` and `seconds` (predicted) before and after mapping, `cut`, `holds`;
`cpu_s` of the partitioning call, `map_cpu_s` of the mapping.
"""

import argparse
import importlib.util
import json
import time
from dataclasses import replace
from pathlib import Path

import numpy as np

import evener as ev
from evener.generating.platforms import tree

HERE = Path(__file__).parent
RESULTS = HERE / "results" / "mapping.jsonl"
FAMILIES = ("delaunay18", "graded19", "rgg3d18")
TOOLS = ("metis", "evener", "hierarchical")
SPEEDS = {"fast": 1, "speed": 16e8, "slow_speed": 1e8}
SHUFFLE_SEED = 41


def machines():
    small = tree([4, 2, 12], **SPEEDS)
    order = np.random.default_rng(SHUFFLE_SEED).permutation(small.k)
    return {
        "tree": small,
        "shuffled": replace(small, devices=[small.devices[i] for i in order]),
        "wide": tree([16, 2, 12], **SPEEDS),
        "slow": tree([4, 2, 12], fast=1),
    }


def main():
    args = arguments()
    load_kernels()
    with args.output.open("w") as file:
        for family in args.families:
            graph = partitioners().instance(family)
            for name in args.machines:
                for seed in range(1, args.seeds + 1):
                    for tool in TOOLS:
                        line = {"family": family, "machine": name, "tool": tool, "seed": seed}
                        line |= one_run(graph, machines()[name], tool, seed)
                        file.write(json.dumps(line) + "\n")
                        file.flush()


def arguments():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--families", type=words, default=list(FAMILIES))
    parser.add_argument("--machines", type=words, default=list(machines()))
    parser.add_argument("--seeds", type=int, default=3)
    parser.add_argument("-o", "--output", type=Path, default=RESULTS)
    return parser.parse_args()


def words(text):
    return text.split(",")


def partitioners():
    """The benchmark of partitioners, whose instances these are."""
    spec = importlib.util.spec_from_file_location("partitioners", HERE / "partitioners.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def load_kernels():
    """Compile, or load, before anything is timed."""
    from evener.generating.delaunay import delaunay

    for tool in TOOLS:
        one_run(delaunay(3000, seed=5), machines()["tree"], tool, 1)


def one_run(graph, platform, tool, seed):
    contract, _ = ev.contract_for(graph, platform)
    request = ev.PlanOptions(seed=seed, threads=1).request(contract, platform)
    result = ev.partition_with(tool, graph, request)
    partition = ev.enforce(graph, ev.Partition(result.part, contract.k), contract).partition
    began = time.process_time()
    mapping = ev.map_blocks(graph, partition, platform, contract)
    spent = time.process_time() - began
    judged = ev.evaluate(graph, mapping.applied(partition), platform, contract)
    return {
        "cut": int(judged.edge_cut),
        "holds": judged.certificate.all_hold,
        "moved": mapping.moved,
        "hop_bytes": mapping.before.hop_bytes,
        "hop_bytes_mapped": mapping.after.hop_bytes,
        "seconds": mapping.before.seconds,
        "seconds_mapped": mapping.after.seconds,
        "cpu_s": round(result.cpu_seconds, 4),
        "map_cpu_s": round(spent, 4),
    }


if __name__ == "__main__":
    main()
