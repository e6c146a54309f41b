"""`evener sizes --measure KERNEL --dynamic`: sizes by measuring, without models (FuPerMod's
dyparter)."""

from __future__ import annotations

import argparse
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

from evener.cli.commands.measure_options import (
    BLOCK,
    DeviceOptions,
    KernelOptions,
    add_precision,
)
from evener.cli.commands.sizes_by_curves import limit_of
from evener.cli.graph_options import LoadOptions, graph_to_divide, load_of, read_workload
from evener.cli.machines import MAX_ROWS, MachineOptions, is_speeds_file
from evener.cli.options import add_options, option, options_from
from evener.cli.values import count
from evener.errors import UsageError
from evener.measuring.outcomes import Precision
from evener.wording import duration, percent, plural, units

if TYPE_CHECKING:
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
    """Measure until sizes are balanced; print every step when it ends, then the sizes."""
    from evener.cli.output import Output
    from evener.files.writing import is_stdout, refuse_unwritable
    from evener.measuring.dynamic_sizes import measure_sizes
    from evener.measuring.together import one_rank
    from evener.running.launching import n_ranks, world

    if options.output is not None:
        refuse_unwritable(options.output)
        if is_stdout(options.output):
            raise UsageError("-o writes a journal next to its file, so the file cannot be stdout")
    samples = _samples(machine)
    n, graph = _load(options.measure, load, out)
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
    """Return the samples of --speeds FILE by device; none if no file is given."""
    if machine.machine is not None or machine.k is not None:
        raise UsageError(
            "--measure measures this computer, and does not work with --machine or --k"
        )
    if machine.speeds is None:
        return {}
    if not is_speeds_file(machine.speeds):
        raise UsageError("with --measure, --speeds takes a file: samples of earlier measurements")
    from evener.io.machines.speeds import read_speeds

    return {device.name: device.samples for device in read_speeds(machine.speeds)}


def _load(kernel: str, load: LoadOptions, out: Output) -> tuple[int, Graph | None]:
    """Return the number of units to divide, and the graph if it is the kernel's matrix."""
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
    """Return what this rank measures."""
    from evener.measuring.devices import devices_here, memory_here
    from evener.measuring.kernels import blas_of
    from evener.measuring.session import Settings

    devices = devices_here(options.device, comm, options.processes_for(options.measure))
    memory = memory_here(comm, len(devices))
    return Settings(
        options.measure,
        tuple(devices),
        (n,),
        options.precision,
        memory if options.own.memory is None else float(options.own.memory),
        options.own.given_to(options.measure)
        | blas_of(options.measure, [device.kind for device in devices]),
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
    """Return a line on a step: load and time of each device, or of the first and last to finish."""
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
    faster = f"; step {number} took the least time" if number < len(search.history) else ""
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


ALONE = (
    "output",
    "device",
    "processes",
    "max_steps",
    "block",
    "memory",
    "no_transfers",
)  # go with --measure
NEVER = ("matrix", "hierarchical", "fixed_seconds", "shared_seconds", "explain")  # do not


def given_from(args: argparse.Namespace, options: Sequence[str]) -> list[str]:
    """Return those of these options that the user gave, as written: --name."""
    return [f"--{name.replace('_', '-')}" for name in options if getattr(args, name)]


def matrix_block_from(args: argparse.Namespace) -> int:
    """Return the block side of --matrix; UsageError for options that do not work with it."""
    if not args.hierarchical:
        raise UsageError(
            "--matrix works with --hierarchical only: nodes first, then the devices of each",
            hint="`evener tile` divides a matrix over all devices at once.",
        )
    _refuse("does not work with --matrix", *given_from(args, ("n", "graph", "edges")))
    block = BLOCK if args.block is None else int(args.block)
    if args.matrix < 1 or not 1 <= block <= args.matrix:
        raise UsageError(f"a matrix of side {args.matrix} has no blocks of side {block}")
    return block


def _refuse(why: str, *given: str) -> None:
    if given:
        raise UsageError(f"{given[0]} {why}")


@dataclass(frozen=True)
class MeasuringOptions(DeviceOptions):
    """The options of `--measure --dynamic`; None: not given."""

    measure: str = option(
        "kernel: spmv, jacobi, pagerank, axpy, triad, gemm, or your own as module:name",
        metavar="KERNEL",
    )
    dynamic: bool = option(
        "with --measure: measure and resize in turn until times agree to --epsilon (DPA)",
        default=False,
    )
    max_steps: int | None = option(
        "maximum number of measurements (default 40)", type=count, metavar="S"
    )
    output: str | None = option(
        "with --measure: write the samples as a speeds file; FILE.journal is kept until all is "
        "done",
        "-o",
        "--output",
        metavar="FILE",
    )
    epsilon: float = 0.03
    method: str = "auto"
    low: str | None = None
    high: str | None = None
    own: KernelOptions = field(default_factory=KernelOptions)
    precision: Precision = field(default_factory=Precision)


def add_measuring_options(parser: argparse.ArgumentParser) -> None:
    """Add the options: the kernel to measure, the devices, and the precision of a step."""
    group = parser.add_argument_group(
        "sizes by measuring this computer, or the computers of all ranks of mpiexec"
    )
    add_options(group, MeasuringOptions)
    add_precision(parser)
    add_options(parser, KernelOptions)


def measuring_options_from(args: argparse.Namespace) -> MeasuringOptions | None:
    """Return the options; None if --measure is not given.

    Raises UsageError for options that need others, and for numbers out of range.
    """
    if args.measure is None and not args.dynamic:
        alone = [name for name in ALONE if name != "block" or args.matrix is None]
        _refuse("works with --measure KERNEL --dynamic only", *given_from(args, alone))
        return None
    if args.measure is None or not args.dynamic:
        raise UsageError(
            "--measure KERNEL and --dynamic must be given together",
            hint="To size many loads, write a speeds file with `evener measure`.",
        )
    _refuse("does not work with --measure", *given_from(args, NEVER))
    if args.epsilon == 0:
        raise UsageError("--dynamic needs an --epsilon above zero: times must agree within it")
    return options_from(args, MeasuringOptions, method=args.method or "auto")
