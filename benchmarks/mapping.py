"""Partitions as they come, mapped, and made along the machine's tree: bytes x hops and seconds.

    python benchmarks/mapping.py [--families ...] [--machines ...] [--seeds 3] [--table]

The machines are trees of nodes, sockets and devices with speeds as TOPO1's: one device in 12 is 16
times as fast (1.6e9 against 1e8 units/s). "tree": 4 x 2 x 12 in the tree's order. "shuffled": the
same, in any order. "wide": 16 x 2 x 12. "slow": as "tree", of speeds 16 and 1, so that time is
computing alone and only hops are left to win. For each instance, machine and seed the partitioners
run in turn; every result has its contract enforced, then `evener.map_blocks` maps it. Each run is
one JSON line: `hop_bytes` and `seconds` (predicted) before and after mapping, `cut`, `holds`;
`cpu_s` of the partitioning call, `map_cpu_s` of the mapping.
"""

import time
from collections import defaultdict
from dataclasses import replace
from pathlib import Path
from statistics import median

import numpy as np
import partitioners
from records import answer, markdown, parser, words

import evener as ev
from evener.platforms.examples import tree

RESULTS = Path(__file__).parent / "results" / "mapping.jsonl"
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
    answer(arguments(), measured, table)


def measured(args):
    load_kernels()
    for family in args.families:
        graph = partitioners.instance(family, args.small)
        for name in args.machines:
            for seed in range(1, args.seeds + 1):
                for tool in TOOLS:
                    line = {"family": family, "machine": name, "tool": tool, "seed": seed}
                    yield line | one_run(graph, machines()[name], tool, seed)


def arguments():
    made = parser(__doc__, RESULTS)
    made.add_argument("--families", type=words, default=list(FAMILIES))
    made.add_argument("--machines", type=words, default=list(machines()))
    made.add_argument("--seeds", type=int, default=3)
    made.when_small(families=["delaunay18"], seeds=1)
    return made.parse_args()


def load_kernels():
    """Compile, or load, before anything is timed."""
    from evener.graphs.generating.delaunay import delaunay

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


def table(lines):
    """Ratios to METIS as it comes: geometric means over families of the medians over seeds."""
    cells = defaultdict(list)
    for line in lines:
        cells[line["machine"], line["family"], line["tool"]].append(line)
    families = list(dict.fromkeys(line["family"] for line in lines))
    machines = list(dict.fromkeys(line["machine"] for line in lines))
    tools = list(dict.fromkeys(line["tool"] for line in lines))

    def ratio(machine, tool, *keys):
        product = 1.0
        for family in families:
            base = median(line[keys[0]] for line in cells[machine, family, "metis"])
            own = cells[machine, family, tool]
            product *= median(sum(line[key] for key in keys[1:]) for line in own) / base
        return f"{product ** (1 / len(families)):.2f}"

    rows = [("machine", "blocks", "cut", "predicted time", "bytes x hops", "CPU")]
    for machine in machines:
        for tool in tools:
            name, cut = tool.replace("metis", "METIS"), ratio(machine, tool, "cut", "cut")
            for state, suffix, cpu in (
                ("as it comes", "", ()),
                ("mapped", "_mapped", ("map_cpu_s",)),
            ):
                seconds, hops = (
                    ratio(machine, tool, key, key + suffix) for key in ("seconds", "hop_bytes")
                )
                spent = ratio(machine, tool, "cpu_s", "cpu_s", *cpu)
                rows.append((machine, f"{name}, {state}", cut, seconds, hops, spent))
    return markdown(rows)


if __name__ == "__main__":
    main()
