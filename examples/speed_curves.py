"""Two of four servers are short of memory: one speed a device against speed as a function of load.

python examples/speed_curves.py
"""

import evener as ev
from evener.graphs.generating.delaunay import triangle_mesh
from evener.platforms.models.examples import emulated_speeds
from evener.platforms.with_curves import platform_of

graph = triangle_mesh(5_500, seed=7).dual_graph()  # about 11,000 cells
# Samples of each server: 100 loads, seconds each. Yours come from `evener measure`.
speeds = emulated_speeds("cluster2", points=100)
truth = platform_of(speeds)

# The traditional way: an equal share each, timed once; that speed stands for every load.
share = graph.n / truth.k
models = [ev.fit_model(device.samples, device.model) for device in speeds]
names = [device.name for device in speeds]
constant = ev.Platform(
    tuple(ev.Device(name, m.speed(share)) for name, m in zip(names, models, strict=True))
)


def seconds(partition):
    """What an iteration really takes, by the curves."""
    contract, _ = ev.contract_for(graph, truth)
    return ev.evaluate(graph, partition, truth, contract).prediction


options = ev.PlanOptions(tool="rcb")
even = ev.plan(graph, ev.Platform.flat([1.0] * 4), options)
by_one_speed = ev.plan(graph, constant, options)
by_curves = ev.plan(graph, truth, options)

for what, plan in (("equal blocks", even), ("one speed each", by_one_speed), ("curves", by_curves)):
    real = seconds(plan.partition)
    print(f"{what}: {real.makespan:.3f} s, {real.makespan / real.bound:.2f}x the bound")
print(f"one speed each had promised {by_one_speed.prediction.makespan:.3f} s")
print("cells:", by_curves.certificate.vertices)

# It prints:
# equal blocks: 2.0... s, 24...x the bound
# one speed each: 0.6... s, 7...x the bound
# curves: 0.083 s, 1.0...x the bound
# one speed each had promised 0.13... s
# cells: [2292 2261 3211 3211]
