"""A node with CPUs and two unlike GPUs, built in Python: will the mesh fit, and who is full?

python examples/unequal_gpus.py
"""

import numpy as np

import evener as ev
from evener.graphs.generating.grid import grid

GB = 1e9
network, inside = (
    ev.Link(2e-6, 1 / (10 * GB)),
    ev.Link(5e-7, 1 / (40 * GB)),
)  # alpha [s], beta [s/B]
devices = [ev.Device(f"cpu{i}", speed=4e7, memory=8 * GB, at="node0") for i in range(2)]
devices += [
    ev.Device("old_gpu", speed=2e8, kind="cuda", memory=1 * GB, at="node0"),
    ev.Device("new_gpu", speed=8e8, kind="cuda", memory=2 * GB, at="node1"),
]
levels = (ev.Level("cluster", network), ev.Level("node", inside))
platform = ev.Platform(tuple(devices), levels, name="two nodes")
ev.write_platform("two_nodes.toml", platform)  # the same as a file, for the command line

# 100,000 cells whose state takes 40 kB each: 4 GB.
graph = grid([400, 250]).with_(bytes_per_vertex=40_000.0)

# Will it fit? No partition is needed to know.
contract, sizes = ev.contract_for(graph, platform)
for device, size, full in zip(devices, sizes.sizes, sizes.saturated, strict=True):
    print(f"{device.name:8} {size:6,} cells", "filled to its memory" if full else "")

# Where does it end?
try:
    ev.contract_for(graph.with_(bytes_per_vertex=400_000.0), platform)
except ev.InfeasibleError as error:
    print(error.message)

plan = ev.plan(graph, platform)
certificate, prediction = plan.certificate, plan.prediction
print("every block keeps its contract:", certificate.all_hold)
print("no device holds more than its memory:", bool((certificate.bytes <= platform.memories).all()))
print("finished last:", platform.devices[prediction.bottleneck].kind)
assert np.array_equal(plan.saturated, sizes.saturated)

# It prints:
# cpu0     12,5... cells
# cpu1     12,5... cells
# old_gpu  2... cells filled to its memory
# new_gpu  4... cells filled to its memory
# ... GiB short: all devices together hold ... units, but the load is 100,000
# every block keeps its contract: True
# no device holds more than its memory: True
# finished last: cpu
