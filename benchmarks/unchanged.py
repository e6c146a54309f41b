"""Records what the program answers on some forty cases, and compares it with an earlier record.

    python benchmarks/unchanged.py record FILE [--only CASE] [--repeats 3]
    python benchmarks/unchanged.py compare BEFORE AFTER

For changes that must change nothing: record, change, record again, compare. Each case is a command
of the terminal on generated input. Kept are all numbers of its answer but times of this computer,
the SHA-256 of the blocks of plans and partitions it wrote, and its CPU seconds: the least of
some runs in one process, after one that loads the kernels. Compared with BEFORE are the numbers
(1e-9 relative), the blocks byte for byte, and CPU seconds as geometric mean and worst case.
"""

import argparse
import contextlib
import hashlib
import io
import json
import math
import os
import sys
import tempfile
import time
from pathlib import Path

import numpy as np

import evener as ev
from evener.cli import main as evener

OF_THIS_COMPUTER = ("cpu_seconds", "enforce_seconds", "cpu", "wall_seconds")
LINKS = '[[level]]\nname = "net"\nalpha_us = 1.0\nGB_per_s = 5.0\n'
NODES = LINKS + '[[level]]\nname = "node"\nalpha_us = 0.3\nGB_per_s = 20.0\n'
SLOW_LINKS = '[[level]]\nname = "net"\nalpha_us = 20.0\nGB_per_s = 1.0\nshared = true\n'


def device(name, speed, count=1, more=""):
    return f'[[device]]\nname = "{name}"\ncount = {count}\nspeed = {speed}\n{more}\n'


def node(i):
    at = f'at = "node{i}"'
    return device(f"cpu{i}.", 2e7, 2, at) + device(f"gpu{i}", 1.2e8, 1, at)


MACHINES = {
    "plain": device("cpu", 2e7, 4) + device("gpu", 1.2e8, 2),
    "memory": device("cpu", 2e7, 4) + device("gpu", 1.2e8, 2, "memory_GiB = 2.5e-4"),
    "links": LINKS + device("cpu", 2e7, 4) + device("gpu", 1.2e8, 2),
    "linked-memory": LINKS
    + device("cpu", 2e7, 4, "low_units = 300")
    + device("gpu", 1.2e8, 2, "memory_GiB = 2.5e-4"),
    "nodes": NODES + "".join(map(node, range(4))),
    "slow": SLOW_LINKS + device("cpu", 2e7, 6) + device("gpu", 1.2e8, 2),
    "equal16": LINKS + device("core", 3e7, 16),
}
SPEEDS = "".join(
    f'[[device]]\nname = "{name}"\nsamples = [[100, {t * 100}], [2000, {t * 1500}],'
    f" [8000, {t * 7600}], [40000, {t * 80000}]]\n"
    for name, t in (("cpu", 5e-8), ("gpu", 8e-9))
)
GRAPHS = {  # file: words of `evener generate`
    "d15.npz": "delaunay --n 32768",
    "d13.npz": "delaunay --n 8192",
    "g12.npz": "graded-delaunay --n 4096",
    "rgg3.npz": "rgg --n 12000 --dim 3",
    "grid.npz": "grid --shape 120x90",
    "brick.npz": "grid --shape 24x24x24",
    "air.npz": "airfoil --n-triangles 12000",
    "wing.su2": "triangles --n 5000",
    "tet.su2": "tetrahedra --n 2000",
    "rmat.npz": "rmat --scale 13",
    "ba.npz": "barabasi-albert --n 6000",
    "lille.toml": "speeds --curves lille",
    "hybrid.toml": "speeds --curves hybrid",
}
CASES = {
    "cut": "plan d15.npz --machine plain.toml",
    "cut, fast": "plan d15.npz --machine plain.toml --preset fast",
    "cut, strong": "plan d13.npz --machine plain.toml --preset strong",
    "cut, 16 equal": "plan rgg3.npz --k 16",
    "cut, no coordinates, power law": "plan rmat.npz --k 8",
    "cut, preferential attachment": "plan ba.npz --speeds 1,1,4,6",
    "cut, memory": "plan air.npz --machine memory.toml",
    "cut, connected": "plan g12.npz --machine plain.toml --connected",
    "cut, points, epsilon": "plan wing.su2 --machine plain.toml --by points --epsilon 0.005",
    "cut, total volume": "plan air.npz --machine plain.toml --objective total_volume",
    "cut, max volume": "plan air.npz --machine plain.toml --objective max_volume",
    "cut, two weights": "plan grid.npz --machine plain.toml --weights two.npy",
    "cut, curves": "plan d13.npz --machine plain.toml --speeds speeds.toml",
    "hierarchical": "plan d15.npz --machine nodes.toml --with hierarchical --objective cut",
    "k-means": "plan d15.npz --machine plain.toml --with kmeans",
    "geographer": "plan d13.npz --machine nodes.toml --with georef --objective cut",
    "Hilbert": "plan d15.npz --machine plain.toml --with hilbert",
    "RCB": "plan brick.npz --machine plain.toml --with rcb",
    "METIS enforced": "plan d15.npz --machine memory.toml --with metis",
    "label propagation": "plan rmat.npz --k 5 --with evener --preset fast",
    "seconds": "plan d15.npz --machine links.toml",
    "seconds, fast": "plan d15.npz --machine nodes.toml --preset fast",
    "seconds, strong": "plan air.npz --machine nodes.toml --preset strong",
    "seconds, memory and limits": "plan d13.npz --machine linked-memory.toml",
    "seconds, slow shared links": "plan brick.npz --machine slow.toml",
    "seconds, few vertices": "plan g12.npz --machine slow.toml",
    "seconds, curves": "plan d13.npz --machine links.toml --speeds speeds.toml",
    "seconds, overlap, kernel": "plan tet.su2 --machine nodes.toml --kernel spmv --overlap",
    "seconds, power law": "plan ba.npz --machine links.toml",
    "seconds, 16 equal": "plan grid.npz --machine equal16.toml",
    "compare": "compare d13.npz --machine plain.toml --with evener,metis,metis-recursive,kmeans",
    "compare, seconds": "compare air.npz --machine nodes.toml --with evener,metis",
    "advise": "advise d13.npz --machine slow.toml",
    "advise, nodes": "advise air.npz --machine nodes.toml --preset fast",
    "sizes": "sizes --machine linked-memory.toml --n 50000",
    "sizes, exact": "sizes --machine plain.toml --speeds speeds.toml --n 60000 --method exact",
    "sizes, GPA": "sizes --speeds lille.toml --n 4000000 --method gpa",
    "sizes, NPA": "sizes --speeds lille.toml --n 4000000 --method npa",
    "sizes, levels": "sizes --machine nodes.toml --n 90000 --hierarchical",
    "tile": "tile --machine plain.toml --size 4096 --block 64",
    "tile, hierarchical": "tile --machine nodes.toml --size 2048 --block 16 --hierarchical",
    "tile, curves": "tile --speeds speeds.toml --size 2048 --block 32 --method fpm-kl",
    "refine": "refine d15.npz first.part --machine plain.toml -o better.part",
    "evaluate": "evaluate d15.npz first.part --machine nodes.toml",
}


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    verbs = parser.add_subparsers(required=True)
    record = verbs.add_parser("record")
    record.add_argument("file", type=Path)
    record.add_argument("--only", action="append")
    record.add_argument("--repeats", type=int, default=5)
    record.set_defaults(run=recorded)
    two = verbs.add_parser("compare")
    two.add_argument("before", type=Path)
    two.add_argument("after", type=Path)
    two.set_defaults(run=compared)
    args = parser.parse_args()
    return args.run(args)


def recorded(args):
    out = args.file.resolve()
    lines = []
    with tempfile.TemporaryDirectory() as folder:
        os.chdir(folder)
        make_inputs()
        for name, words in CASES.items():
            if args.only and name not in args.only:
                continue
            lines.append(answered(name, words.split(), args.repeats))
            print(f"{name}: {lines[-1]['cpu_seconds']:.3f} s", flush=True)
        lines += [] if args.only else [balanced(), rebalanced()]
    out.write_text("".join(json.dumps(line, sort_keys=True) + "\n" for line in lines))
    return 0


def make_inputs():
    for name, text in MACHINES.items():
        Path(f"{name}.toml").write_text(text)
    Path("speeds.toml").write_text(SPEEDS)
    for file, words in GRAPHS.items():
        said(["generate", *words.split(), "-o", file])
    n = ev.read_graph("grid.npz").n
    rng = np.random.default_rng(3)
    np.save("two.npy", np.stack([rng.integers(1, 9, n), rng.integers(0, 4, n)], 1))
    d15 = ev.read_graph("d15.npz")
    blocks = np.minimum(np.arange(d15.n) * 6 // d15.n, 5)
    np.savetxt("first.part", blocks, fmt="%d")


def answered(name, words, repeats):
    """One case: what was answered, and the least CPU seconds of `repeats` runs after the first."""
    takes = []
    kept = ["-o", "x.plan"] if words[0] == "plan" else []
    for _ in range(repeats + 1):
        begun = time.process_time()
        answer = json.loads(said([*words, *kept, "--json"]))
        takes.append(time.process_time() - begun)
    made = [path for path in ("x.plan", "better.part") if Path(path).exists()]
    blocks = {path: digest(path) for path in made}
    for path in made:
        Path(path).unlink()
    numbers = dict(leaves(answer, ""))
    return {"case": name, "blocks": blocks, "numbers": numbers, "cpu_seconds": min(takes[1:])}


def said(words):
    """What a command prints; it must succeed, or find that a contract is broken (exit code 4)."""
    shown = io.StringIO()
    with contextlib.redirect_stdout(shown):
        code = evener(words)
    if code not in (0, 4):
        sys.exit(f"evener {' '.join(words)}: exit code {code}")
    return shown.getvalue()


def digest(path):
    if path.endswith(".plan"):
        return hashlib.sha256(ev.read_plan(path).partition.part.tobytes()).hexdigest()
    return hashlib.sha256(Path(path).read_bytes()).hexdigest()


def leaves(value, at):
    """Every number of an answer with its place; what depends on this computer is left out."""
    if isinstance(value, dict):
        for key, inner in value.items():
            if key not in OF_THIS_COMPUTER:
                yield from leaves(inner, f"{at}.{key}")
    elif isinstance(value, list):
        for i, inner in enumerate(value):
            yield from leaves(inner, f"{at}[{i}]")
    elif isinstance(value, int | float):
        yield at, value


def drifting(step):
    """Speeds of five devices, of which two change while the program runs."""
    return [1.0, 1.0, 2.0 if step < 15 else 0.5, 4.0, 3.0 if step < 25 else 6.0]


def balanced():
    """Sizes that a Balancer, and a RowRebalancer, choose in 40 iterations."""
    found, begun = {}, time.process_time()
    start = [2000] * 5
    for kind, balancer in (
        ("balancer", ev.Balancer(sizes=start)),
        ("rows", ev.RowRebalancer(start, bytes_per_row=800)),
    ):
        for step in range(40):
            each = zip(balancer.sizes, drifting(step), strict=True)
            new = balancer.observe([size / speed * 1e-4 for size, speed in each])
            if new is not None:
                found |= {f"{kind}[{step}][{i}]": int(size) for i, size in enumerate(new)}
                if kind == "rows":
                    balancer.moved(0.01)
    taken = time.process_time() - begun
    return {"case": "balancing rows", "blocks": {}, "numbers": found, "cpu_seconds": taken}


def rebalanced():
    """What a Rebalancer of a plan moves in 60 iterations."""
    graph, platform = ev.read_graph("d13.npz"), ev.read_platform("links.toml")
    plan = ev.plan(graph, platform)
    begun = time.process_time()
    mover = ev.Rebalancer(plan, graph, replan=ev.replan)
    found, blocks = {}, {}
    for step in range(60):
        weights = np.bincount(mover.partition.part, minlength=platform.k)
        slow = np.where(np.arange(platform.k) == 1, 2.5 if step >= 10 else 1.0, 1.0)
        move = mover.observe(weights / platform.speeds * slow)
        if move is not None:
            found |= {f"[{step}].vertices": move.vertices, f"[{step}].saving": move.saving}
            blocks[f"[{step}].{move.kind}"] = hashlib.sha256(move.part.tobytes()).hexdigest()
            mover.moved(1e-3)
    taken = time.process_time() - begun
    return {"case": "rebalancing", "blocks": blocks, "numbers": found, "cpu_seconds": taken}


def compared(args):
    old, new = ({line["case"]: line for line in lines(path)} for path in (args.before, args.after))
    cases = [name for name in old if name in new]
    changed = [name for name in cases if report(name, old[name], new[name])]
    ratios = [new[name]["cpu_seconds"] / old[name]["cpu_seconds"] for name in cases]
    mean = math.exp(sum(map(math.log, ratios)) / len(ratios))
    worst = max(zip(ratios, cases, strict=True))
    print(
        f"{len(cases)} cases, {len(changed)} answer otherwise, {len(old) - len(cases)} missing; "
        f"CPU seconds x {mean:.3f} (geometric mean), worst x {worst[0]:.2f} ({worst[1]})"
    )
    return 1 if changed or len(cases) < len(old) else 0


def report(name, old, new):
    """Print what differs, and whether anything does."""
    numbers = {
        at: (was, new["numbers"].get(at))
        for at, was in old["numbers"].items()
        if not near(was, new["numbers"].get(at))
    }
    blocks = old["blocks"] != new["blocks"]
    if blocks or numbers:
        few = ", ".join(f"{at} {was} -> {now}" for at, (was, now) in list(numbers.items())[:4])
        print(f"{name}: {'other blocks; ' if blocks else ''}{len(numbers)} numbers: {few}")
    return bool(blocks or numbers)


def near(was, now):
    return now is not None and (was == now or abs(was - now) <= 1e-9 * max(abs(was), abs(now)))


def lines(path):
    return [json.loads(line) for line in path.read_text().splitlines()]


if __name__ == "__main__":
    sys.exit(main())
