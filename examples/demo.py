"""What `make demo` runs: an airfoil mesh planned for old nodes, and new ones with GPUs.

    python examples/demo.py [FOLDER]

Each step is a command that you could type; all files go to FOLDER (default: demo).
"""

import sys
import time
from pathlib import Path

from evener.cli import main

# Speeds are memory bandwidth over the bytes that a cell moves (see KERNEL): 283.6, as a cell has
# three faces. Bandwidths are those of the data sheets: Intel Xeon E5-2690 v4, 76.8 GB/s; AMD EPYC
# 7763, 204.8 GB/s; NVIDIA A100 40 GB PCIe, 1,555 GB/s. InfiniBand FDR carries 6.8 GB/s (56 Gb/s
# less its encoding), PCIe 3.0 x16 15.75 GB/s. Latencies, 1.3 us between nodes, 0.5 us within one,
# and 10 us for a kernel's launch and its two copies, are usual figures: measure your own.
MACHINE = """\
# Two old nodes of two Xeons, two new ones of an EPYC and an A100.
[[level]]
name = "cluster"      # InfiniBand FDR
alpha_us = 1.3
GB_per_s = 6.8
[[level]]
name = "node"         # PCIe 3.0 x16
alpha_us = 0.5
GB_per_s = 15.75
"""
NODES = """
[[device]]
name = "xeon{n}."
count = 2
at = "old{n}"
speed = 2.708e8       # cells per second: 76.8 GB/s over 283.6 B
memory_GiB = 64.0
[[device]]
name = "epyc{n}"
at = "new{n}"
speed = 7.221e8       # 204.8 GB/s
memory_GiB = 256.0
[[device]]
name = "a100.{n}"
kind = "cuda"
at = "new{n}"
speed = 5.483e9       # 1,555 GB/s
memory_GiB = 40.0
fixed_seconds = 1.0e-5
"""
KERNEL = """\
# One explicit step of a flow solver: five values a cell, double precision.
name = "flow"
bytes_per_vertex = 128  # five values read, residuals read and written, the cell's volume
bytes_per_edge = 52     # a neighbour's five values, its number, half of the face's normal
bytes_per_value = 40    # five values to each neighbouring block
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
    mesh, machine, kernel = (folder / name for name in ("airfoil.su2", "machine.toml", "flow.toml"))
    made = folder / "mesh.plan"
    machine.write_text(MACHINE + "".join(NODES.format(n=n) for n in range(2)))
    kernel.write_text(KERNEL)
    run("warm", "--first")  # half a minute, once: the next commands compile hardly anything
    run("generate", "airfoil", "--seed", 7, "-o", mesh, "--quiet")
    run("plan", mesh, "--machine", machine, "--kernel", kernel, "-o", made,
        "--report", folder / "plan.html")  # fmt: skip
    run("export", made, mesh, "--to", "vtu", "-o", folder / "plan.vtu")
    print(f"\nDone in {time.perf_counter() - began:.0f} s. Look at {folder / 'plan.html'} in a")
    print(f"browser and at {folder / 'plan.vtu'} in ParaView.")
    print("Other commands compile kernels of their own when first run; `evener warm` does so now.")


if __name__ == "__main__":
    demo(Path(sys.argv[1] if len(sys.argv) > 1 else "demo"))
