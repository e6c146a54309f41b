"""The best set of devices beside all of them, where communication is heavy.

    python benchmarks/advise.py [--only TEXT,...] [--preset default] [--seed 2026]
    python benchmarks/advise.py --table      # what the result file says

Meshes, machines and kernels of benchmarks/seconds.py; real meshes come from EVENER_DATA. `all` is
the least predicted makespan of any plan known in which every device has a block: Evener's for that
set, METIS at the same sizes, the plan of least cut and slabs. `ratio` is the best set's to it;
`plan` what `evener plan`, which chooses devices by itself, takes of it. `share`: of communication
in METIS's plan, as there. What is in the result file is not measured again.
"""

import time
from dataclasses import replace
from pathlib import Path

import seconds_cases as cases
from records import answer_more, append, geometric_mean, known, parser, words
from seconds import rival

import evener as ev
from evener.planning.makespan.baselines import METIS_TOOLS
from evener.planning.makespan.search import solve_seconds
from evener.plans import metrics
from evener.plans.partition import Partition
from evener.plans.workload import WEIGHTS

HERE = Path(__file__).parent
RESULTS = HERE / "results" / "advise.jsonl"
MESHES = ("fe_body", "heatexch", "delaunay18", "rgg3d18")
CELLS = (("gpu4", "light"), ("gpu4", "spmv"), ("gpu4", "spmm8"), ("topo1", "light"),
         ("topo1", "spmv"), ("mix22", "spmv"), ("mix22", "spmm8"))  # fmt: skip
HEAVY = 0.45


def main():
    answer_more(arguments(), measure, table)


def arguments():
    made = parser(__doc__, RESULTS)
    made.add_argument("--only", type=words, default=[])
    made.add_argument("--preset", default="default")
    made.add_argument("--seed", type=int, default=2026, help="of the meshes")
    made.when_small(only=["delaunay18", "mix22", "spmv"], preset="fast")
    return made.parse_args()


def measure(args):
    done = {line["cell"] for line in known(args.output)}
    for mesh in MESHES:
        for machine, kernel in CELLS:
            cell = f"{mesh} {machine} {kernel} {args.preset}"
            if cell in done or not all(word in cell for word in args.only):
                continue
            graph = cases.instance(mesh, args.seed, small=args.small)
            if graph is None:
                print(f"left out: {mesh} is not in EVENER_DATA")
                break
            found = one_cell(graph, machine, kernel, args.preset)
            append(args.output, {"cell": cell} | found)


def one_cell(graph, machine, kernel, preset):
    platform = cases.machine(machine, graph, kernel)
    workload = replace(WEIGHTS, name=kernel, bytes_per_value=cases.KERNELS[kernel][2])
    options = ev.PlanOptions(preset=preset, workload=workload, threads=1)
    began = time.process_time()
    advice = ev.advise(graph, platform, options)
    spent = time.process_time() - began
    solved = solve_seconds(graph, platform, options)
    every = min(advice.everyone.seconds, solved.seconds_of_all_devices)
    metis, share = of_metis(graph, platform, options)
    return {
        "share": share,
        "devices": platform.k,
        "used": int(advice.best.devices.size),
        "ratio": advice.best.seconds / every,
        "plan": solved.best.seconds / every,
        "of_metis": advice.best.seconds / metis,
        "verdict": advice.verdict(),
        "planned": sum(one.planned for one in advice.choices),
        "complete": advice.complete,
        "cpu_s": round(spent, 2),
    }


def of_metis(graph, platform, options):
    """Predicted seconds of METIS at the same sizes, and its last device's share of exchange."""
    found = [rival(graph, platform, options, tool) for tool in METIS_TOOLS]
    judged = [
        metrics.predicted_seconds(graph, Partition(part, platform.k), platform, options.workload)
        for part in found
    ]
    base = min(judged, key=lambda one: one.makespan)
    last = base.bottleneck
    return base.makespan, float(base.communicate[last] / base.seconds[last])


def table(lines):
    """Ratios of the best set to all devices, and their geometric mean where heavy."""
    rows = ["| mesh, machine, kernel | share | used | best / all | plan / all | CPU s |",
            "| --- | --- | --- | --- | --- | --- |"]  # fmt: skip
    rows += [
        f"| {line['cell']} | {line['share']:.2f} | {line['used']} of {line['devices']} "
        f"| {line['ratio']:.3f} | {line['plan']:.3f} | {line['cpu_s']:.1f} |"
        for line in lines
    ]
    heavy = [line["ratio"] for line in lines if line["share"] > HEAVY]
    if heavy:
        rows.append(f"| geometric mean of {len(heavy)} heavy ones | | | "
                    f"{geometric_mean(heavy):.3f} | | |")  # fmt: skip
    return "\n".join(rows)


if __name__ == "__main__":
    main()
