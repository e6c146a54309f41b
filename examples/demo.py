"""What `make demo` runs: an airfoil mesh planned for old nodes, new nodes and small GPUs.

    python examples/demo.py [FOLDER]

Each step is a command that you could type; all files go to FOLDER (default: demo).
"""

import sys
import time
from pathlib import Path

from evener.cli import main

MACHINE = """\
# Two old nodes, two new ones with two GPUs each. Speeds in cells per second.
[[level]]
name = "cluster"
alpha_us = 2.0
GB_per_s = 10.0
[[level]]
name = "node"
alpha_us = 0.5
GB_per_s = 25.0

[[device]]
name = "old"
count = 2
speed = 1.0e7
memory_GiB = 16.0
[[device]]
name = "new0"
at = "node0"
speed = 4.0e7
memory_GiB = 64.0
[[device]]
name = "new1"
at = "node1"
speed = 4.0e7
memory_GiB = 64.0
"""
GPU = """\
[[device]]
name = "gpu{}"
kind = "cuda"
at = "node{}"
speed = 1.2e8
memory_GiB = 0.15 # what other arrays leave: too little for its speed
"""


def run(*words: object) -> None:
    """Show a command, then do what `evener` does with it."""
    line = [str(word) for word in words]
    print("$ evener", *line)
    code = main(line)
    if code:
        sys.exit(code)


def demo(folder: Path) -> None:
    """Compile what all commands need; make the mesh and the machine, plan, export."""
    began = time.perf_counter()
    folder.mkdir(parents=True, exist_ok=True)
    mesh, machine, made = folder / "airfoil.su2", folder / "machine.toml", folder / "mesh.plan"
    machine.write_text(MACHINE + "".join(GPU.format(i, i // 2) for i in range(4)))
    run("warm")  # a minute or two, once: no command compiles anything afterwards
    run("generate", "airfoil", "--seed", 7, "-o", mesh, "--quiet")
    run("plan", mesh, "--machine", machine, "--bytes-per-vertex", 4096, "-o", made,
        "--report", folder / "plan.html")  # fmt: skip
    run("export", made, mesh, "--to", "vtu", "-o", folder / "plan.vtu")
    print(f"\nDone in {time.perf_counter() - began:.0f} s. Look at {folder / 'plan.html'} in a")
    print(f"browser and at {folder / 'plan.vtu'} in ParaView.")


if __name__ == "__main__":
    demo(Path(sys.argv[1] if len(sys.argv) > 1 else "demo"))
