"""GPU code on a GPU: its tests, products, vertex programs, cores and GPU together, staged edges.

    PYTHONPATH=src python3 benchmarks/gpu.py [-o FILE] [--simulate] [SECTION ...]

Runs from a checkout alone, with Python 3.12, NumPy, SciPy, Numba, numba-cuda and CuPy (`staged`
calls pymetis too); Evener need not be installed, and no network is needed, since all inputs are
generated. Each section runs in a process of its own: one that fails is named and the others go on.
One JSON line a figure, with device and versions. Exit code 1 where a test or a section fails.
--simulate: on little input in Numba's simulator, without CuPy, to see that the script runs; its
seconds mean nothing.

tests      modules that compare kernels with slow twins
copy       GB/s of a copy within the device's memory, read and written; of one to it, from it
spmv       y = A x in float64 against cuSPARSE (through CuPy): ratio of seconds, share of the copy's
           bandwidth (12 bytes an entry, 20 a row)
programs   PageRank, BFS, connected components, shortest paths: arcs a second, against all cores;
           share of the copy's bandwidth (PageRank alone: 8 bytes an arc)
together   PageRank on cores and GPU, sized by their measured speeds, against the GPU alone:
           predicted and measured seconds
staged     blocks of edges in shared memory ([SPAC]_, Figures 11 to 13) against products by rows and
           cuSPARSE
"""

import argparse
import json
import os
import platform
import statistics
import subprocess
import sys
import tempfile
import threading
import time
from concurrent.futures import ThreadPoolExecutor, as_completed
from pathlib import Path

HERE = Path(__file__).parent
RESULTS = HERE / "results" / "gpu.jsonl"
SECTIONS = "tests", "copy", "spmv", "programs", "together", "staged"
PATIENCE = 120  # s for a section
TESTS = (
    *(f"tests.running.engine.cuda_cases {group}" for group in ("alone", "small", "both", "more")),
    "tests.running.locality.cuda_staged",
    "tests.running.streams.cuda_filters",
    "tests.measuring.cuda_cases",
)
SEED = 7
BATCHES, LAUNCHES = 7, 20  # medians of so many batches of so many launches each


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("-o", "--output", type=Path, default=RESULTS, help="result file")
    parser.add_argument("--simulate", action="store_true", help="little input, in the simulator")
    parser.add_argument("--child", help=argparse.SUPPRESS)
    parser.add_argument("sections", nargs="*", metavar="SECTION", help=", ".join(SECTIONS))
    args = parser.parse_args()
    if args.child:
        for line in globals()[f"of_{args.child}"](args.simulate):
            print(json.dumps(line), flush=True)
        return
    if unknown := set(args.sections) - set(SECTIONS):
        parser.error(f"there is no section {', '.join(sorted(unknown))}")
    if args.simulate:
        os.environ["NUMBA_ENABLE_CUDASIM"] = "1"
    with tempfile.TemporaryDirectory() as folder:
        as_installed(Path(folder))
        sys.exit(int(written(args)))


def as_installed(folder):
    """Let processes find a distribution named evener in a folder: plans record its version."""
    made = folder / "evener-0.dist-info"
    made.mkdir()
    (made / "METADATA").write_text("Metadata-Version: 2.1\nName: evener\nVersion: 0\n")
    paths = str(HERE.parent / "src"), str(HERE.parent), os.environ.get("PYTHONPATH", "")
    os.environ["PYTHONPATH"] = os.pathsep.join([*paths, str(folder)])


def written(args):
    """Write the lines of all sections; whether anything failed."""
    about, failed = about_device(args.simulate), False
    with args.output.open("w") as file:
        for section in args.sections or SECTIONS:
            for line in lines_of(section, args.simulate):
                failed |= line.get("passed") is False
                whole = {"section": section, **line, **about}
                print(json.dumps({"section": section, **line}), flush=True)
                file.write(json.dumps(whole) + "\n")
                file.flush()
    return failed


def about_device(simulate):
    """What every line says of where it was measured."""
    import numba
    import numpy as np

    said = {"date": time.strftime("%Y-%m-%d"), "python": platform.python_version(),
            "numpy": np.__version__, "numba": numba.__version__}  # fmt: skip
    if simulate:
        return said | {"device": "simulator"}
    asked = "nvidia-smi --query-gpu=name,driver_version,memory.total --format=csv,noheader"
    device = subprocess.run(asked.split(), capture_output=True, text=True, check=False).stdout
    versions = {name: version_of(name) for name in ("numba_cuda", "cupy")}
    return said | versions | {"device": device.strip(), "cores": len(os.sched_getaffinity(0))}


def version_of(module):
    """A module's version, or that it is missing."""
    asked = [sys.executable, "-c", f"import {module}; print({module}.__version__)"]
    done = subprocess.run(asked, capture_output=True, text=True, check=False)
    return done.stdout.strip() or "none"


def lines_of(section, simulate):
    """The lines of a section's process, as they come; one more where it fails."""
    began = time.monotonic()
    command = [sys.executable, __file__, "--child", section, *(["--simulate"] * simulate)]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
        giving_up = threading.Timer(PATIENCE, process.kill)
        giving_up.start()
        for line in process.stdout:
            yield json.loads(line)
        process.wait()
        giving_up.cancel()
    seconds = round(time.monotonic() - began, 1)
    yield {"figure": "section", "passed": process.returncode == 0, "seconds": seconds}


def of_tests(_):
    """Play the tests' modules, all at once; lines come as modules end."""
    with ThreadPoolExecutor(len(TESTS)) as pool:
        for ended in as_completed([pool.submit(tested, name) for name in TESTS]):
            yield ended.result()


def tested(name):
    """Run a module of the tests, with arguments."""
    began = time.monotonic()
    done = subprocess.run(
        [sys.executable, "-m", *name.split()], cwd=HERE.parent, text=True, check=False,
        stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
    )  # fmt: skip
    line = {"figure": "test", "name": name, "passed": done.returncode == 0,
            "seconds": round(time.monotonic() - began, 1)}  # fmt: skip
    return (
        line
        if line["passed"]
        else line | {"said": done.stdout.replace(f"{HERE.parent}/", "")[-1500:]}
    )


def seconds_of(launch, simulate):
    """Median seconds of a launch: batches of them, the device waited for after each batch."""
    from numba import cuda

    launch()
    cuda.synchronize()
    found = []
    for _ in range(1 if simulate else BATCHES):
        count = 1 if simulate else LAUNCHES
        began = time.perf_counter()
        for _ in range(count):
            launch()
        cuda.synchronize()
        found.append((time.perf_counter() - began) / count)
    return statistics.median(found)


def copy_bandwidth(simulate):
    """Bytes a second, read and written, of a copy within the device's memory."""
    import numpy as np
    from numba import cuda

    n = 1 << (8 if simulate else 27)
    one = cuda.to_device(np.arange(n, dtype=np.float64))
    other = cuda.device_array(n, np.float64)
    return 16 * n / seconds_of(lambda: other.copy_to_device(one), simulate)


def of_copy(simulate):
    """Copies within the device's memory, to it and from it."""
    import numpy as np
    from numba import cuda

    yield {"figure": "copy", "GB_s": copy_bandwidth(simulate) / 1e9}
    n = 1 << (8 if simulate else 26)
    here, there = cuda.pinned_array(n, np.float64), cuda.device_array(n, np.float64)
    here[:] = 1.0
    ways = {"to device": lambda: there.copy_to_device(here),
            "from device": lambda: there.copy_to_host(here)}  # fmt: skip
    for name, launch in ways.items():
        yield {"figure": name, "GB_s": 8 * n / seconds_of(launch, simulate) / 1e9}


def matrices(simulate):
    """Names and SciPy matrices: a Delaunay mesh along the Hilbert curve, a box, R-MAT."""
    import numpy as np

    from evener.graphs.generating.delaunay import delaunay_graph, sorted_points
    from evener.graphs.generating.grid import grid
    from evener.graphs.generating.random_graphs import rmat

    d, side, scale = (6, 4, 5) if simulate else (21, 200, 22)
    points = np.random.default_rng(SEED).random((1 << d, 2))
    yield f"Delaunay 2^{d}", matrix_of(delaunay_graph(sorted_points(points)))
    yield f"box {side}^3", matrix_of(grid((side, side, side)))
    yield f"R-MAT {scale}", matrix_of(rmat(scale, SEED))


def matrix_of(graph):
    """Its adjacency matrix with random entries."""
    import numpy as np
    from scipy.sparse import csr_array

    entries = np.random.default_rng(SEED).random(graph.adjncy.size)
    return csr_array((entries, graph.adjncy.astype(np.int32), graph.xadj), (graph.n, graph.n))


def cusparse(matrix, x):
    """What launches cuSPARSE's product, and its result. CuPy cannot record it as a CUDA graph."""
    import cupy
    from cupyx import cusparse as library
    from cupyx.scipy.sparse import csr_matrix

    parts = (cupy.asarray(one) for one in (matrix.data, matrix.indices, matrix.indptr))
    a = csr_matrix(tuple(parts), shape=matrix.shape)
    given, found = cupy.asarray(x), cupy.zeros(matrix.shape[0])
    return (lambda: library.spmv(a, given, found)), found


def products(matrix):
    """Our products by rows on the device, by name."""
    from evener.running.locality.gpu import ROWS, RowsKernel

    return {way: RowsKernel(matrix, way) for way in ROWS}


def of_spmv(simulate):
    """Products by each kernel against cuSPARSE."""
    copied = copy_bandwidth(simulate)
    for name, matrix in matrices(simulate):
        yield from compared(name, matrix, products(matrix), copied, simulate)


def compared(name, matrix, ours, copied, simulate):
    """A line for each product of a matrix, cuSPARSE's first; our launches are recorded as graphs.

    CuPy launches cuSPARSE in some 20 us, which counts where a product takes less.
    """
    import numpy as np

    from evener.running.engine.device_cuda_kernels import CudaDevice
    from evener.running.locality.gpu import RowsKernel

    x, usual = np.random.default_rng(SEED + 1).random(matrix.shape[1]), RowsKernel(matrix).way
    expected, device = matrix @ x, CudaDevice(0)
    there, y, theirs = device.put(x), device.empty(matrix.shape[0], np.float64), None
    asked = ours if simulate else {"cuSPARSE": None} | ours
    for way, product in asked.items():
        if product is None:
            repeat, found = cusparse(matrix, x)
        else:

            def launch(product=product):
                product.launch(there, y, device.stream)

            launch()
            repeat = device.recorded(launch)
        seconds = seconds_of(repeat, simulate)
        result = y.copy_to_host() if product else found.get()
        agrees = np.allclose(result, expected, rtol=1e-9)
        theirs = theirs if product else seconds
        n_bytes = 12 * matrix.nnz + 20 * matrix.shape[0]
        line = {"figure": "spmv", "matrix": name, "way": way, "passed": bool(agrees),
                "is_usual": way == usual,
                "us": seconds * 1e6, "share_of_copy": n_bytes / seconds / copied}  # fmt: skip
        yield line if theirs is None else line | {"of_cusparse": theirs / seconds}


def graphs(simulate, scale):
    """Names and graphs, weights from 1 to 255."""
    import numpy as np

    from evener.graphs.generating.delaunay import delaunay_graph, sorted_points
    from evener.graphs.generating.random_graphs import rmat

    d, scale = (5, 4) if simulate else (20, scale)
    points = np.random.default_rng(SEED).random((1 << d, 2))
    for name, graph in (
        (f"R-MAT {scale}", rmat(scale, SEED)),
        (f"Delaunay 2^{d}", delaunay_graph(sorted_points(points))),
    ):
        yield name, weighed(graph)


def weighed(graph):
    """The graph with weights by the numbers of an edge's ends, the same both ways."""
    import numpy as np

    from evener.graphs.graph import Graph

    tails = np.repeat(np.arange(graph.n, dtype=np.int64), np.diff(graph.xadj))
    low, high = np.minimum(tails, graph.adjncy), np.maximum(tails, graph.adjncy)
    weights = (low * 40503 + high * 30011) % 255 + 1
    return Graph(graph.xadj, graph.adjncy, adjwgt=weights)


def of_programs(simulate):
    """Vertex programs on the device alone, and their values against those of cores."""
    copied = copy_bandwidth(simulate)
    for name, graph in graphs(simulate, 22):
        for app, steps in (("pagerank", 20), ("bfs", None), ("wcc", None), ("sssp", None)):
            yield {
                "figure": "program",
                "graph": name,
                **one_program(app, graph, steps, copied, simulate),
            }


def one_program(app, graph, steps, copied, simulate):
    """Run an app on the device, three times, and on all cores."""
    import numpy as np

    from evener.plans.partition import Partition
    from evener.running.apps.registry import find_app
    from evener.running.devices import Cuda
    from evener.running.distributing import distribute
    from evener.running.engine.engine import MOST
    from evener.running.executing import run_on_parts
    from evener.running.on_device import wanted_arcs

    asked = find_app(app)
    program = asked.program if asked.program_for is None else asked.program_for(graph)
    whole = Partition(np.zeros(graph.n, np.int32), 1)
    parts = distribute(graph, whole, want=wanted_arcs(program))
    steps = (3 if simulate else steps) if steps else MOST
    runs = [run_on_parts(program, parts, most=steps, devices=[Cuda(0)])
            for _ in range(1 if simulate else 3)]  # fmt: skip
    here = run_on_parts(program, parts, most=steps, devices=[sorted(os.sched_getaffinity(0))])
    rtol = 1e-4 if app == "pagerank" else 0
    seconds, arcs = statistics.median(run.seconds for run in runs), runs[0].edges
    agrees = np.allclose(runs[0].values, here.values, rtol=rtol, atol=0)
    line = {"app": app, "passed": bool(agrees), "ms": seconds * 1e3,
            "supersteps": runs[0].supersteps, "arcs_s": arcs / seconds,
            "cores_ms": here.seconds * 1e3, "of_cores": here.seconds / seconds}  # fmt: skip
    return line | {"share_of_copy": 8 * arcs / seconds / copied} if app == "pagerank" else line


def of_together(simulate):
    """PageRank on cores and GPU, arcs by measured speeds, against either alone."""
    import numpy as np

    import evener as ev
    from evener.running.devices import Cuda

    cores = sorted(os.sched_getaffinity(0))
    cores = cores[1:] or cores  # one drives the GPU
    steps, repeats = (3, 1) if simulate else (20, 3)
    for name, graph in graphs(simulate, 20):

        def run(part, *devices, graph=graph):
            partition = ev.Partition(part.astype(np.int32), len(devices))
            return min(
                (ev.run_program("pagerank", graph, partition, most=steps, devices=devices)
                 for _ in range(repeats)), key=lambda run: run.seconds,
            )  # fmt: skip

        arcs, none = np.diff(graph.xadj), np.zeros(graph.n)
        for count in sorted({1, 2, 4, 8, len(cores)} & set(range(len(cores) + 1))):
            yield {"figure": "cores", "graph": name, "threads": count,
                   "ms": run(none, cores[:count]).seconds * 1e3}  # fmt: skip
        on_cores, on_gpu = run(none, cores), run(none, Cuda(0))
        machine = ev.Platform.flat([1 / on_cores.seconds, 1 / on_gpu.seconds])
        units = ev.Graph(graph.xadj, graph.adjncy, vwgt=arcs)
        share = ev.contract_for(units, machine, 0.02)[0].targets[0] / arcs.sum()
        both = run(np.cumsum(arcs) > share * arcs.sum(), cores, Cuda(0))
        yield {
            "figure": "together", "graph": name, "cores_ms": on_cores.seconds * 1e3,
            "gpu_ms": on_gpu.seconds * 1e3, "both_ms": both.seconds * 1e3,
            "predicted_ms": share * on_cores.seconds * 1e3, "share_of_cores": float(share),
            "gpu_over_both": on_gpu.seconds / both.seconds,
            "computing_ms": (both.of_devices("computing").sum(0) * 1e3).tolist(),
            "waiting_ms": (both.of_devices("waiting").sum(0) * 1e3).tolist(),
        }  # fmt: skip


def of_staged(simulate):
    """Products with blocks of edges staged in shared memory, and products by rows."""
    import evener as ev
    from evener.planning.split import edge_contract
    from evener.running.locality.gpu import STAGED, StagedKernel
    from evener.running.locality.staging import StagedBlocks
    from evener.splitting.spac import spac

    copied = copy_bandwidth(simulate)
    k_of, threads = (24, 8) if simulate else (4096, 256)
    for name, matrix in staged_matrices(simulate):
        edges = ev.EdgeList.of_matrix(matrix)
        k = -(-edges.m // k_of)
        began = time.perf_counter()
        contract = edge_contract(edges, ev.Platform.flat([1.0] * k))
        partition = spac(edges, contract, "fast", SEED).partition
        seconds = time.perf_counter() - began
        blocks = StagedBlocks.of_matrix(edges, partition, matrix.shape[0])
        yield {"figure": "split", "matrix": name, "k": k, "entries": edges.m, "seconds": seconds,
               "staged": blocks.loads}  # fmt: skip
        ours = products(matrix)
        ours |= {way: StagedKernel(blocks, matrix.data, threads=threads, way=way) for way in STAGED}
        yield from compared(name, matrix, ours, copied, simulate)


def staged_matrices(simulate):
    """A Delaunay mesh in random order, and R-MAT: what caches do badly."""
    import numpy as np

    from evener.graphs.generating.delaunay import delaunay_graph
    from evener.graphs.generating.random_graphs import rmat

    d, scale = (6, 5) if simulate else (18, 16)
    points = np.random.default_rng(SEED).random((1 << d, 2))
    yield f"Delaunay 2^{d}, random order", matrix_of(delaunay_graph(points))
    yield f"R-MAT {scale}", matrix_of(rmat(scale, SEED))


def table(lines):
    """The tables of what was recorded on a device."""
    from records import markdown

    about = next(line for line in lines if "device" in line)
    programs = [["graph", "app", "ms", "10^9 arcs/s", "faster than all cores", "share of copy"]]
    alone = "GPU alone, ms", "cores alone, ms"
    together = [["graph", *alone, "both, ms", "predicted, ms", "arcs on cores"]]
    copies, tests = [], []
    for line in lines:
        if line["figure"] == "program":
            share = f"{line['share_of_copy']:.2f}" if "share_of_copy" in line else ""
            speeds = f"{line['arcs_s'] / 1e9:.2f}", f"{line['of_cores']:.1f}"
            programs.append([line["graph"], line["app"], f"{line['ms']:.1f}", *speeds, share])
        elif line["figure"] == "together":
            ms = (line[key] for key in ("gpu_ms", "cores_ms", "both_ms", "predicted_ms"))
            share = f"{line['share_of_cores']:.3f}"
            together.append([line["graph"], *(f"{one:.1f}" for one in ms), share])
        elif "GB_s" in line:
            copies.append(f"{line['figure']} {line['GB_s']:,.0f} GB/s")
        elif line["figure"] == "test":
            tests.append(line["passed"])
    versions = ", ".join(
        f"{key} {about[key]}" for key in ("python", "numpy", "numba", "numba_cuda")
    )
    said = (
        f"{about['date']}: {about['device']}; {about['cores']} cores; {versions}. "
        f"{', '.join(copies)}. Modules of tests that passed: {sum(tests)} of {len(tests)}."
    )
    return "\n\n".join([said, markdown(programs), markdown(together)])


if __name__ == "__main__":
    main()
