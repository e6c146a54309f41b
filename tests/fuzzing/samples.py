"""The good files that are changed: small ones of every kind that is read, and real ones."""

import io
import json
import os
from pathlib import Path

import numpy as np

import evener as ev
from evener.graphs.generating.grid import grid
from evener.io.machines.speeds import write_speeds
from evener.io.plans.edge_plan import write_edge_plan
from evener.io.plans.partitions import write_part
from evener.io.plans.plan import write_plan
from evener.io.sources import unpacked
from evener.measuring.journal import Journal
from evener.measuring.outcomes import Gap, Point
from evener.planning.split_file import split_file
from evener.platforms.models.fitting import Constant
from evener.platforms.models.samples import DeviceSpeeds, Sample
from evener.platforms.platform import Link
from evener.rebalancing.row_rebalancer import RowRebalancer
from tests.io import graph_samples, mesh_samples
from tests.io.dataflow.test_reading import SAMPLES as STREAMS
from tests.io.machines import descriptions
from tests.io.machines.test_networks import HOSTED

LARGEST = 400_000  # bytes of a real file, unpacked
SHAPE = (9, 10)
MACHINE = """\
name = "two kinds"
[[device]]
name = "new"
count = 2
at = "node0"
kind = "cpu"
speed = 4.0
memory_units = 60
cost_per_hour = 0.5
watts = 90.0
idle_watts = 10
[[device]]
name = "old"
at = "node1"
speed = 1.5
memory_GiB = 0.001
fixed_seconds = 1e-5
[device.capabilities]
flops = 1e9
[[link]]
between = ["node0", "node1"]
alpha_us = 9
GB_per_s = 1.0
shared = true
"""
PLAIN = '[[device]]\nname = "a"\nspeed = 3\n\n[[device]]\nname = "b"\nspeed = 1.25\ncount = 3\n'
DEEP = """\
[[level]]
name = "site"
alpha_us = 100
GB_per_s = 0.1
[[level]]
name = "node"
[[device]]
name = "g"
at = "s0/n0"
speed = 1
count = 2
[[device]]
name = "h"
at = "s1/n0"
speed = 2
"""
KERNEL = """\
name = "my stencil"
bytes_per_vertex = 40
bytes_per_edge = 12
flops_per_vertex = 2
flops_per_edge = 2
bytes_per_value = 8
fixed_seconds = 5e-6
overlap = true
"""
SURFACE = """\
[[surface]]
name = "new0"
heights = [16, 64, 256]
widths = [32, 128]
seconds = [[0.0021, 0.0054], [0.0060, 0.019], [0.022, 0.071]]
capacity = 40000

[[surface]]
name = "old"
heights = [16, 64]
widths = [32, 128]
speeds = [[1e5, 2e5], [1.5e5, 2.5e5]]
"""
TRACE = (
    "load,device,seconds\n100,rank0,0.001\n100,rank0,0.0012\n200,rank1,0.0021\n50,rank1,0.0005\n"
)
PRV = """\
#Paraver (01/01/26 at 00:00):1000_ns:1(2):1:2(1:1,1:1)
2:1:1:1:1:0:7:1
1:1:1:1:1:0:300:1
1:2:1:2:1:0:250:1
2:2:1:2:1:0:7:1
1:1:1:1:1:300:400:6
2:1:1:1:1:400:7:1
2:2:1:2:1:400:7:1
1:1:1:1:1:400:800:1
1:2:1:2:1:400:810:1
2:1:1:1:1:900:7:1
2:2:1:2:1:900:7:1
"""


def make(folder):
    """Write the samples to `folder`, one folder a kind, and beside them what they go with."""
    machine, graph = _beside(folder)
    plain = ev.Platform.flat([1.0, 2.0, 4.0])
    plans = {
        "seconds.plan": ev.plan(graph, machine, ev.PlanOptions(threads=1)),
        "cut.plan": ev.plan(graph, plain, ev.PlanOptions(objective="cut", threads=1)),
        "kernel.plan": ev.plan(
            graph, machine, ev.PlanOptions(workload=ev.find_workload("spmv"), threads=1)
        ),
    }
    _put_all(folder, "graph", graph_samples.GRAPHS | graph_samples.DIRECTED)
    _put_all(folder, "coords", graph_samples.COORDINATES)
    _put_all(folder, "weights", graph_samples.WEIGHTS)
    _put_all(folder, "mesh", {name: text[0].encode() for name, text in mesh_samples.TEXTS.items()})
    _put_all(folder, "meshio", {name: two[0] for name, two in mesh_samples.by_meshio().items()})
    _put_all(folder, "foam", {name: text.encode() for name, text in mesh_samples.FOAM.items()})
    _put_all(folder, "foam-binary", mesh_samples.foam_in_binary())
    for name, plan in plans.items():
        write_plan(_in(folder, "plan", name), plan)
    write_edge_plan(_in(folder, "edge-plan", "edge.plan"), ev.split(graph, machine, preset="fast"))
    lines = split_file(folder / "lines.edges", machine)
    write_edge_plan(_in(folder, "edge-plan", "lines.plan"), lines)
    part = plans["seconds.plan"].partition.part
    for form in ("metis", "scotch", "npy", "csv", "json", "binary"):
        write_part(_in(folder, "part", f"a.{form}"), part, form, devices=machine.names)
    np.savez_compressed(_in(folder, "part", "a.npz"), part=part)
    texts = {"machine": {"full.toml": MACHINE, "plain.toml": PLAIN, "deep.toml": DEEP,
                         "hosted.toml": "gpu_behind_host = true\n" + HOSTED},
             "kernel": {"mine.toml": KERNEL}, "surface": {"s.toml": SURFACE},
             "trace": {"t.csv": TRACE, "t.prv": PRV, "t.jsonl": _trace_lines()}}  # fmt: skip
    for kind, files in texts.items():
        _put_all(folder, kind, {name: text.encode() for name, text in files.items()})
    _put_all(folder, "stream", {f"{n}.toml": t.encode() for n, t in STREAMS.items()})
    write_speeds(_in(folder, "speeds", "v.toml"), _speeds())
    _decisions(folder, graph, plans["seconds.plan"], machine)
    _journal(_in(folder, "journal", "x.journal"))
    names = (*descriptions.HWLOC, *descriptions.NVIDIA, *descriptions.SLURM)
    described = {descriptions.file_of(n).name: descriptions.content_of(n) for n in names}
    _put_all(folder, "description", described)
    _put_all(folder, "real", _real())


def _beside(folder):
    """What samples are used with: a graph with its coordinates, a machine, a partition of it."""
    _put_all(folder, ".", {"machine.toml": MACHINE.encode(), "hosted.toml": HOSTED.encode()})
    graph = grid(SHAPE)
    ev.write_graph(folder / "grid.graph", graph)
    _put_all(folder, ".", {"three.graph": b"3 2\n2\n1 3\n2\n"})
    lines = "".join(f"{i % 7} {i * i % 11}\n" for i in range(60))
    _put_all(folder, ".", {"lines.edges": lines.encode()})
    _put_all(folder, ".", {"square.su2": mesh_samples.SQUARE.encode()})
    machine = ev.read_platform(folder / "machine.toml")
    write_part(folder / "grid.part", np.arange(graph.n) * machine.k // graph.n, "metis")
    return machine, ev.read_graph(folder / "grid.graph")


def _speeds():
    for name, slope in (("new0", 1.0), ("new1", 1.5), ("old", 4.0)):
        loads = (10.0, 20.0, 40.0, 80.0)
        yield DeviceSpeeds(
            name,
            tuple(Sample(x, slope * 1e-6 * x**1.1, 1e-8, 5) for x in loads),
            model="akima" if name == "new0" else "piecewise",
            notes={"kernel": "spmv", "runs": 3},
            fixed_seconds=1e-6,
        )


def _trace_lines():
    rows = [{"device": f"r{i % 2}", "load": 10 * (1 + i % 3), "seconds": 0.01 + i / 1000}
            for i in range(8)]  # fmt: skip
    return "\n".join(map(json.dumps, rows)) + "\n"


def _decisions(folder, graph, plan, machine):
    path = _in(folder, "decisions", "graph.jsonl")
    with ev.Rebalancer(plan, graph, log=path) as balancer:
        for i in range(14):
            slow = np.array([1.0, 3.0 if i > 3 else 1.0, 1.0])
            times = np.bincount(balancer.partition.part, minlength=machine.k) / machine.speeds
            if balancer.observe(times * slow * 1e-3) is not None:
                balancer.moved(1e-3)
    rows = RowRebalancer(
        [60, 60], [Constant(5.0), Constant(5.0)], bytes_per_row=8, link=Link(1e-6, 1e-9),
        log=_in(folder, "decisions", "rows.jsonl"),
    )  # fmt: skip
    for i in range(8):
        rows.observe(rows.sizes / 10.0 * np.array([1.0, 2.0 if i > 2 else 1.0]))
    rows.close()


def _journal(path):
    journal = Journal(path, {"kernel": "spmv", "range": [1, 2]})
    journal.add("cpu0", Point(Sample(10.0, 0.5, 0.01, 7)))
    journal.add("cpu0", Gap(20, "memory", "no room"))
    journal.add("cpu1", Point(Sample(10.0, 0.25)))
    journal.close()


def _real():
    """Small real files from EVENER_DATA, where there are any, unpacked."""
    data = Path(os.environ.get("EVENER_DATA", ""))
    found = {}
    for kind in ("graphs", "matrices", "meshes") if data.is_absolute() else ():
        for path in sorted((data / kind).glob("*.zst")):
            if path.stat().st_size < LARGEST / 3:
                content = unpacked(path.read_bytes(), path)
                if len(content) <= LARGEST:
                    found[path.name.removesuffix(".zst")] = content
    return found


def _in(folder, kind, name):
    (folder / kind).mkdir(parents=True, exist_ok=True)
    return folder / kind / name


def _put_all(folder, kind, files):
    for name, content in files.items():
        _in(folder, kind, name).write_bytes(content)


def read(folder):
    """Return the samples: by kind, the files' names and contents in order."""
    return {
        kind.name: [(file.name, file.read_bytes()) for file in sorted(kind.iterdir())]
        for kind in sorted(folder.iterdir())
        if kind.is_dir() and kind.name[0] != "." and any(kind.iterdir())
    }


def packed(content, random):
    """Return the name's suffix and the content, packed in one of the ways that are read."""
    import bz2
    import gzip
    import lzma

    import zstandard

    suffix, pack = random.choice((
        (".gz", lambda c: gzip.compress(c, 1, mtime=0)), (".xz", lzma.compress),
        (".bz2", bz2.compress), (".zst", zstandard.ZstdCompressor().compress),
    ))  # fmt: skip
    out = io.BytesIO()
    out.write(pack(content))
    return suffix, out.getvalue()
