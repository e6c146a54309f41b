"""`evener sizes --measure KERNEL --dynamic`: sizes by measuring, without models (dyparter)."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from evener.cli.commands.measure_options import processes_in
from evener.cli.commands.sizes_by_curves import limit_of
from evener.cli.graph_options import LoadOptions, graph_to_divide, load_of, read_workload
from evener.cli.machines import MAX_ROWS, MachineOptions, is_speeds_file
from evener.errors import UsageError
from evener.wording import duration, percent, plural, units

if TYPE_CHECKING:
    from evener.cli.commands.sizes_measuring_options import MeasuringOptions
    from evener.cli.output import Output
    from evener.graphs.graph import Graph
    from evener.measuring.dynamic_sizes import DynamicTerms, MeasuredSizes
    from evener.measuring.session import Settings
    from evener.platforms.models.samples import Sample
    from evener.running.comm import Comm
    from evener.sizing.dynamic import Observed

SHOWN = 4  # devices whose loads and times a line of a step shows


def run_measuring(
    options: MeasuringOptions, machine: MachineOptions, load: LoadOptions, out: Output
) -> int:
    """Measure until sizes are balanced; print every step as it ends, then the sizes."""
    from evener.cli.output import Output
    from evener.files.writing import is_stdout, refuse_unwritable
    from evener.measuring.dynamic_sizes import measure_sizes
    from evener.measuring.together import one_rank
    from evener.running.launching import n_ranks, world

    if options.output is not None:
        refuse_unwritable(options.output)
        if is_stdout(options.output):
            raise UsageError("-o keeps a journal beside its file: stdout has no place for one")
    samples = _samples(machine)
    n, graph = _load(options.kernel, load, out)
    comm: Comm = world() if n_ranks() > 1 else one_rank()
    if comm.rank > 0:
        out = Output(quiet=True)  # rank 0 prints for all ranks
    settings = _settings(options, n, graph, load.graph, comm)
    k = sum(comm.allgather(len(settings.devices)))
    terms = _terms(options, n, k, samples)

    def tell(step: int, names: Sequence[str], seen: Observed) -> None:
        out.say(_step_text(step, names, seen))

    found = measure_sizes(settings, terms, options.output, tell, comm)
    _show(found, options, n, out)
    out.result(_result(found, options))
    return 0


def _samples(machine: MachineOptions) -> dict[str, Sequence[Sample]]:
    """Return the samples of --speeds FILE by device; none where there is no file."""
    if machine.machine is not None or machine.k is not None:
        raise UsageError(
            "--measure measures the devices that are here: --machine and --k do not go along"
        )
    if machine.speeds is None:
        return {}
    if not is_speeds_file(machine.speeds):
        raise UsageError("with --measure, --speeds takes a file: samples of earlier measurements")
    from evener.io.machines.speeds import read_speeds

    return {device.name: device.samples for device in read_speeds(machine.speeds)}


def _load(kernel: str, load: LoadOptions, out: Output) -> tuple[int, Graph | None]:
    """Return the units to divide, and the graph that is the kernel's matrix, if there is one."""
    from evener.measuring.kernels import KERNELS

    if load.graph is None:
        return load_of(load, out).n, None
    if "matrix" not in getattr(KERNELS.get(kernel), "takes", ()):
        raise UsageError(f"--graph: kernel {kernel} has no matrix; --n gives the load")
    graph = graph_to_divide(read_workload(load.graph, load.reading, out), out)
    if graph.n == 0:
        raise UsageError(f"--graph: {load.graph} has no vertices")
    return graph.n, graph


def _settings(
    options: MeasuringOptions, n: int, graph: Graph | None, source: str | None, comm: Comm
) -> Settings:
    """Return what is to be measured on this rank."""
    from evener.measuring.devices import devices_here, memory_here
    from evener.measuring.kernels import blas_of
    from evener.measuring.session import Settings

    devices = devices_here(
        options.device, comm, processes_in(options.processes, options.device, options.kernel)
    )
    memory = memory_here(comm, len(devices))
    return Settings(
        options.kernel,
        tuple(devices),
        (n,),
        options.precision,
        memory if options.memory is None else options.memory,
        options.options | blas_of(options.kernel, [device.kind for device in devices]),
        graph=graph,
        source="" if source is None else Path(source).name,
        total=n,
    )


def _terms(
    options: MeasuringOptions, n: int, k: int, samples: Mapping[str, Sequence[Sample]]
) -> DynamicTerms:
    from evener.measuring.dynamic_sizes import DynamicTerms

    steps = {} if options.max_steps is None else {"max_steps": options.max_steps}
    return DynamicTerms(
        n,
        options.epsilon,
        options.method,
        limit_of(options.low, "--low", k, 0),
        limit_of(options.high, "--high", k, n),
        samples=samples,
        **steps,
    )


def _step_text(step: int, names: Sequence[str], seen: Observed) -> str:
    """Return a line on a step: load and time of each device, or of the first and last to end."""
    sizes, seconds = seen.sizes.tolist(), seen.seconds.tolist()
    own = [
        f"{name} {units(size)} in {_time(time)}" if size else f"{name} 0"
        for name, size, time in zip(names, sizes, seconds, strict=True)
    ]
    if len(own) > SHOWN:
        order = sorted((i for i, size in enumerate(sizes) if size), key=lambda i: seconds[i])
        own = [f"first {own[order[0]]}", f"last {own[order[-1]]}"]
    return f"step {step}: {', '.join(own)}; imbalance {_spread(seen)}"


def _time(seconds: float) -> str:
    return duration(seconds) if math.isfinite(seconds) else "failed"


def _spread(seen: Observed) -> str:
    return percent(seen.spread) if math.isfinite(seen.spread) else "unknown"


def _show(found: MeasuredSizes, options: MeasuringOptions, n: int, out: Output) -> None:
    best, search = found.best, found.search
    rows = [
        [name, units(size), f"{size / time:.6g}" if size else "", duration(time) if size else ""]
        for name, size, time in zip(
            found.names, best.sizes.tolist(), best.seconds.tolist(), strict=True
        )
    ]
    out.table(["device", "size", "units/s", "time"], rows, most=MAX_ROWS, what="devices")
    balanced = f"balanced to {options.epsilon:g}" if search.converged else search.outcome
    number = next(i for i, seen in enumerate(search.history, 1) if seen is best)
    faster = f"; step {number} took least" if number < len(search.history) else ""
    out.say(
        f"{units(n)} units on {plural(len(found.names), 'device')}: all done after "
        f"{duration(best.makespan)}, imbalance {_spread(best)}; {balanced} after "
        f"{plural(len(search.history), 'step')}{faster}"
    )
    if options.output is not None:
        out.say(f"Written: {options.output}")


def _result(found: MeasuredSizes, options: MeasuringOptions) -> dict[str, Any]:
    best = found.best
    return {
        "devices": list(found.names),
        "sizes": best.sizes,
        "seconds": best.seconds,
        "makespan": best.makespan,
        "imbalance": best.spread,
        "converged": found.search.converged,
        "outcome": found.search.outcome,
        "written": options.output,
        "steps": [_step_dict(seen) for seen in found.search.history],
    }


def _step_dict(seen: Observed) -> dict[str, Any]:
    return {
        "sizes": seen.sizes,
        "seconds": [s if math.isfinite(s) else None for s in seen.seconds.tolist()],
        "imbalance": seen.spread if math.isfinite(seen.spread) else None,
    }
